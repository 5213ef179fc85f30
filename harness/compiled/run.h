/* SPDX-License-Identifier: Apache-2.0 */
/** @file run.h A compiled program runs: regions on NNAPI, the host's operators on the interpreter; and is compared. */
#ifndef NNV_COMPILED_RUN_H
#define NNV_COMPILED_RUN_H

#include "compiler/relay/interp/interp.h"
#include "harness/compiled/loaded.h"
#include "nnvts/result.h"

struct nnv_compiled_run {
    struct nnv_loaded_options session;
    struct nnv_relay_datum **inputs; /**< as many as @main has parameters */
    bool compare;                    /**< judge each region, and the whole program */
    bool in_burst;
    uint64_t repeat; /**< runs of each region; at least 1 */
};

/** How one region did. */
struct nnv_region_outcome {
    const char *function;
    const char *refusal; /**< why it was interpreted on the host, or NULL */
    const char *failure; /**< what went wrong while it ran, or NULL */
    bool helped;         /**< NNAPI's CPU reference stood beside the devices, for an IF or WHILE */
    uint64_t calls, runs;
    double least_us, median_us; /**< of the runs on NNAPI */
    enum nnvts_verdict verdict; /**< of the worst call; NOTRUN: it was not compared */
    size_t compared;            /**< elements */
    const char *reason;         /**< of a verdict that is not PASS */
};

/** One tensor of the result, compared with what the program gives that was compiled. */
struct nnv_output_outcome {
    const struct nnv_relay_type *type;
    const struct nnv_relay_datum *value;
    /**
     * Compared: the largest errors, infinite where one of both is NaN; relative to the element, or to a thousandth of
     * the output's largest where that is more.
     */
    double max_abs, max_rel;
    size_t elems, finite; /**< compared: those of the program before that are neither NaN nor infinite */
    size_t rows,
        same_top; /**< compared, floats: lines along the last dimension, and those of the same largest element */
};

struct nnv_compiled_outcome {
    const char *devices;
    struct nnv_region_outcome *regions; /**< as many as the bundle has */
    struct nnv_region_outcome *whole;   /**< compared: the class of the whole program, if it ran; else NULL */
    struct nnv_output_outcome *outputs;
    size_t n_outputs;
    double host_us; /**< of the whole program, with the interpreter's part */
    bool compared;
};

/**
 * Runs @main of a bundle. All is of arena. Regions that NNAPI can't compile, or fails to run, are interpreted. To
 * compare, the class of the whole program runs, too, if NNAPI takes all its regions: it must give the same values.
 * NNV_INTERNAL, NNV_TIMEOUT: the driver's process died or did not answer.
 */
NNV_USE_RESULT enum nnv_status nnv_compiled_run(const struct nnv_built *b, const struct nnv_compiled_run *how,
                                                struct nnv_arena *arena, struct nnv_compiled_outcome *out,
                                                struct nnv_err *err);
/**
 * Whether the outcome is good: no region failed or was judged wrong, and, if it was compared, something was, and each
 * output holds a finite number.
 */
bool nnv_compiled_passes(const struct nnv_built *b, const struct nnv_compiled_outcome *o);

/** An output was compared that holds nothing but NaN and infinity, which is no evidence. */
bool nnv_compiled_undefined(const struct nnv_compiled_outcome *o);

/** The tensors of a value, tuples opened, in order, appended to list (room for nnv_datum_tensors(d)). */
size_t nnv_datum_tensors(const struct nnv_relay_datum *d);

#endif
