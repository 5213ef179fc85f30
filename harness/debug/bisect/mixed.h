/* SPDX-License-Identifier: Apache-2.0 */
/** @file mixed.h Mixed precision: which operations of a network need float32 where the others have float16. */
#ifndef NNV_DEBUG_MIXED_H
#define NNV_DEBUG_MIXED_H

#include "harness/debug/extract.h"

/** How far outputs of a float type are from the golden ones. */
struct nnv_loss {
    double sqnr;      /**< signal-to-quantisation-noise ratio, dB, the least of the outputs; infinity: no error */
    double tolerance; /**< the least t with |error| <= t + t |golden| everywhere; infinity: an output is not finite */
};

/** What was found. An operation in float16 reads and writes numbers of float16, and adds up in float32. */
struct nnv_mixed {
    uint32_t operations;
    struct nnv_loss own;    /**< what float32 arithmetic itself may lose, by the error budget */
    struct nnv_loss all;    /**< with all operations in float16 */
    struct nnv_loss found;  /**< with those in float32 that need it */
    struct nnv_loss *alone; /**< per operation: with it alone in float16 */
    bool *needs;            /**< per operation: it is to stay in float32 */
    uint32_t count;         /**< of those */
    uint32_t evaluations;
};

/** The loss of the spec's outputs of float32 if they are `outputs`. NAN where it has none. */
struct nnv_loss nnv_loss_of(const struct nnv_spec *spec, const struct nnv_value *outputs);
/**
 * Finds a small set of operations such that, with them in float32, the outputs are within the tolerance: the fewest of
 * those that lose most alone, of which then none can be left out. Its memory is arena's. NNV_INVALID: no output is of
 * float32.
 */
NNV_USE_RESULT enum nnv_status nnv_mixed_find(const struct nnv_known *known, double tolerance, struct nnv_arena *arena,
                                              struct nnv_mixed *out, struct nnv_err *err);

#endif
