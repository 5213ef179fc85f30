/* SPDX-License-Identifier: Apache-2.0 */
/** @file process.h Processes for code that may do anything: starting, sandboxing, waiting and killing. */
#ifndef NNV_BASE_PROCESS_H
#define NNV_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

/** How a process ended. */
struct nnv_end {
    int code;            /**< CLD_EXITED, CLD_KILLED or CLD_DUMPED, of waitid(2) */
    int status;          /**< exit code or signal */
    bool timed_out;      /**< it was killed at its deadline */
    uint64_t timeout_ns; /**< that it had */
    size_t left;         /**< processes that were left behind, and were ended with it */
};

/**
 * Forks a process in a group of its own, with flushed streams. In the child (0 is returned) signals have their
 * default actions; it dies with its parent. Other processes of the user may trace it, also if they may not trace the
 * parent. -1 with errno if that is not possible.
 * As long as such children live, what they leave behind, in whatever group or session, becomes a child of this process,
 * and nnv_process_ended() ends it; then this is as it was before. Children that were there before are let be; others
 * are not to be made meanwhile unless they are waited for at once. Where this process is itself made so, all that is
 * left to its parent. One thread at a time may make and end such processes.
 */
pid_t nnv_process_fork(void);
/**
 * Refuses this process, and all that it will start, signals to the process that forked it and to its group, also those
 * that the kernel would send for it, tracing it, writing to its memory, and changing when it runs, where the kernel has
 * seccomp. What goes through /proc stays open to root. The other process has one thread.
 */
void nnv_process_protect_parent(void);
/**
 * Makes this forked process one in which a driver may run: no core file, first victim when memory runs out, stdin
 * /dev/null, stdout and stderr to log (-1: /dev/null), no other descriptors but those of kept folders (folder.h); the
 * parent is protected from it.
 */
void nnv_process_sandbox(int log);
/**
 * True if the process has ended: then it is reaped, what it and others that live have left behind is killed and reaped
 * too, and *end is set. Does not wait for the process.
 */
bool nnv_process_ended(pid_t pid, struct nnv_end *end);
/** From now on (or no more) what processes leave behind outside of their group stays: for a command of the user. */
void nnv_process_let_stay(bool stay);
/** Kills the process and its group; stopped ones too. It is still to be reaped. */
void nnv_process_kill(pid_t pid);
/**
 * Waits until the process has ended; kills it after timeout_ns. One that can't even be killed (it hangs in the
 * kernel) is given up after some seconds.
 */
void nnv_process_wait(pid_t pid, uint64_t timeout_ns, struct nnv_end *end);
/** Waiting for the end of a process, or for something that it tells before. */
struct nnv_pause {
    int end;     /**< descriptor that tells of its end; -1: this kernel has none, and pauses are only slept through */
    uint64_t ns; /**< of the next pause */
};
/** The first pause is short; each is twice as long as the one before, up to some milliseconds. */
struct nnv_pause nnv_process_pause_begin(pid_t pid);
/** Pauses, less long where the process ends. */
void nnv_process_pause(struct nnv_pause *p);
void nnv_process_pause_end(struct nnv_pause *p);
/**
 * "died with SIGSEGV", "called exit(3)", "was killed by SIGKILL (out of memory?)", "did not end within 10 s", into buf
 * (room 64).
 */
const char *nnv_end_text(const struct nnv_end *end, char *buf);
/** "SIGSEGV"; "signal 77" for one without a name. buf holds 32. */
const char *nnv_signal_name(int signal, char *buf);
/** For after code of others, in its thread: strings go forwards, and memory may be read at any address. */
void nnv_restore_flags(void);

#endif
