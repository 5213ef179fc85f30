/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file loaded.h The library of a compiled program in a process of its own, with NNAPI's runtime and its drivers: what
 * they do to it costs the caller nothing.
 */
#ifndef NNV_COMPILED_LOADED_H
#define NNV_COMPILED_LOADED_H

#include "harness/compiled/built.h"

/** Where regions run. */
struct nnv_loaded_options {
    /**
     * Drivers with commas between them, as NNVTS_DRIVERS takes them: the devices that regions are compiled for, each by
     * its name; the CPU reference stands beside them for a region with IF or WHILE that they don't take. What follows a
     * '#' is the name of the only device, or "auto": NNAPI chooses among the drivers and the CPU reference. NULL: NNAPI
     * chooses among what it finds.
     */
    const char *drivers;
    const char *cache;   /**< folder of NNAPI's compilation cache; NULL: none */
    uint64_t timeout_ns; /**< of one region: to compile it, and to run it */
    bool whole;          /**< the class of the whole program, too, if there is one: region n_regions of the bundle */
};

struct nnv_loaded;

/**
 * Starts the process, loads the library and compiles all regions. *loaded is to be ended by nnv_loaded_end(). The
 * bundle and its arena must outlive it. NNV_INVALID: there is no library, a driver can't be used; NNV_INTERNAL: the
 * driver died or hangs while it was opened.
 */
NNV_USE_RESULT enum nnv_status nnv_loaded_start(const struct nnv_built *b, const struct nnv_loaded_options *options,
                                                struct nnv_arena *arena, struct nnv_loaded **loaded,
                                                struct nnv_err *err);
void nnv_loaded_end(struct nnv_loaded *s);
/** Why region r can't run there ("ANeuralNetworksCompilation_finish: BAD_DATA"), or NULL if it can. */
const char *nnv_loaded_refusal(const struct nnv_loaded *s, size_t r);
/** Whether region r has the CPU reference beside the devices. */
bool nnv_loaded_helped(const struct nnv_loaded *s, size_t r);
/** Names of the devices, with ", " between them. */
const char *nnv_loaded_devices(const struct nnv_loaded *s);
/**
 * Runs region r `repeat` times on inputs, as large as the bundle says, and writes outputs and the nanoseconds of each
 * run. NNV_UNSUPPORTED: NNAPI answered with an error; NNV_TIMEOUT: it did not answer; NNV_INTERNAL: the process died.
 * After the last two the session is over.
 */
NNV_USE_RESULT enum nnv_status nnv_loaded_run(struct nnv_loaded *s, size_t r, const void *const *inputs,
                                              void *const *outputs, bool in_burst, uint64_t repeat, uint64_t *ns,
                                              struct nnv_err *err);

#endif
