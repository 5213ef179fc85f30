/* SPDX-License-Identifier: Apache-2.0 */
/** @file profile.h Measures the operations and regions of a Relay program and keeps their times in a file. */
#ifndef NNV_COMPILED_PROFILE_H
#define NNV_COMPILED_PROFILE_H

#include <jansson.h>

#include "compiler/relay/relay.h"
#include "harness/bench/time_model.h"

struct nnv_profiler {
    struct nnv_relay_module *m; /**< checked */
    struct nnv_timing_options target;
    const struct nnv_timing_options *host; /**< NULL: the host's times are left to the static model */
    json_t *file;                          /**< the profile, written after each measurement */
    const char *path;
    bool regions; /**< whole regions, too */
    /** Told of each time and impossibility; may be NULL. */
    void (*told)(void *context, const char *key, const json_t *record);
    void *context;
    size_t measured, known, impossible;
};

/**
 * Reads the profile at path, if resume is set and there is one, which must be of the same source; or begins one. The
 * caller frees *file. source: which driver, device and version.
 */
NNV_USE_RESULT enum nnv_status nnv_profile_open(const char *path, bool resume, const json_t *source, json_t **file,
                                                struct nnv_err *err);
/**
 * Measures launch and crossing, then each operation once by structure, then each region; what the file has is not
 * measured again. NNV_IO: the driver can't be opened any more; the file has what was measured before.
 */
NNV_USE_RESULT enum nnv_status nnv_profile_run(struct nnv_profiler *p, struct nnv_err *err);

#endif
