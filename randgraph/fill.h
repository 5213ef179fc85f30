/* SPDX-License-Identifier: Apache-2.0 */
/** @file fill.h Drawing the values of tensors for tests: typical, exact, at the edges, exhaustive. */
#ifndef NNV_RANDGRAPH_FILL_H
#define NNV_RANDGRAPH_FILL_H

#include "base/rng.h"
#include "reference/model/model.h"

/** What a generated case is after. */
enum nnv_fill_mode {
    NNV_FILL_NORMAL,  /**< typical values of the operation's active range */
    NNV_FILL_EXACT,   /**< integer values: sums of products and results are exact, no tolerance */
    NNV_FILL_EDGE,    /**< extremes, limits of clamps, zeros of both signs, ties */
    NNV_FILL_SWEEP,   /**< all codes of an 8-bit type, all finite codes of float16 */
    NNV_FILL_ZERO,    /**< zero-sized inputs */
    NNV_FILL_RAMP,    /**< values that rise from element to element: a wrong index shows as a step */
    NNV_FILL_IMPULSE, /**< zeros but for one element in the middle: the result is the operation's response to it */
    NNV_FILL_REFUSED, /**< a model with one mistake, which a driver must refuse */
    NNV_FILL_COUNT
};
/** "", "exact", "edge", "sweep", "zero", "ramp", "impulse", "refused". */
const char *nnv_fill_mode_name(enum nnv_fill_mode m);

struct nnv_fill {
    enum nnv_fill_mode mode;
    double lo, hi;            /**< real values to draw from; both 0: [-8, 8] */
    bool index;               /**< integers that are indices or attributes: uniform in [lo, hi] whatever the mode */
    bool half;                /**< float32 values are such that float16 holds them */
    double magnitude;         /**< EXACT: largest integer; EDGE: largest number of float and int32 tensors */
    double density;           /**< EXACT: probability of a value other than 0 */
    double bias_scale;        /**< TENSOR_INT32: real value of one unit, where values are biases; else 0 */
    const float *bias_scales; /**< the same for each element (per-channel filters), or NULL */
    uint32_t part;            /**< SWEEP: which part of the codes */
};

/** Elements of one part of a float16 sweep, and the number of parts. */
enum { NNV_SWEEP_HALVES = 7936, NNV_SWEEP_PARTS = 8 };

/** Fills n elements of operand o (type, scale, zero point, channel scales; dims known) at dst. */
void nnv_fill(const struct nnv_fill *f, const struct nnv_operand *o, struct nnv_rng *rng, size_t n, void *dst);
/** The real range that the fill draws from. */
void nnv_fill_range(const struct nnv_fill *f, double *lo, double *hi);

#endif
