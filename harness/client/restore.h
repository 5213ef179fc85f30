/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file restore.h What a driver may change of the process and the thread that call it, though nnvts relies on it: put
 * back before nnvts goes on.
 */
#ifndef NNV_CLIENT_RESTORE_H
#define NNV_CLIENT_RESTORE_H

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/arena.h"

/**
 * For after each call of a driver, and for the first thread of a process in which one will run: floating-point
 * environment (rounding, exceptions, flushing to zero), direction and alignment-check flag are the default ones, and
 * text is written and read in the C locale, whatever setlocale() did. No system call.
 */
void nnv_restore_thread(void);

enum { NNV_SIGNALS_MOST = 64, NNV_LIMITS_KEPT = 7 };

/** What belongs to the process as a whole, as it was before the driver came. */
struct nnv_process_state {
    char folder[PATH_MAX]; /**< working folder; "": not known */
    mode_t umask;
    struct sigaction action[NNV_SIGNALS_MOST + 1]; /**< by signal */
    char **variables;                              /**< of the environment: "NAME=value"; NULL-terminated */
    struct rlimit limit[NNV_LIMITS_KEPT];          /**< of memory, files, processor and processes */
    bool lowered;                                  /**< a limit was found lower when the state was put back last */
};

/** Writes down the state of this process; the environment is copied to the arena. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_process_state_take(struct nnv_process_state *s, struct nnv_arena *arena,
                                                      struct nnv_err *err);
/**
 * Puts back what is different now, of this thread too: working folder, umask, timer slack, signal mask (empty), and
 * variables of the environment that are gone or changed; those that the driver added stay. A signal that had a handler
 * and is ignored or at its default has the handler again; a handler of the driver's own stays. So do limits that it
 * raised; those that it lowered are raised again. False: the system forbids that; this is told once.
 */
bool nnv_process_state_restore(struct nnv_process_state *s);

#endif
