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
    NNV_FILL_SWEEP,   /**< all codes of an 8-bit type or all pairs of them, all finite codes of float16, numbers of each
                           exponent of float32 */
    NNV_FILL_LIMITS,  /**< the edges of an operation and the limits of its types, each, or all pairs of them */
    NNV_FILL_ZERO,    /**< zero-sized inputs */
    NNV_FILL_RAMP,    /**< values that rise from element to element: a wrong index shows as a step */
    NNV_FILL_IMPULSE, /**< zeros but for one element in the middle: the result is the operation's response to it */
    NNV_FILL_LINES,   /**< lines of one kind each: zeros, one-hot, equal, a large mean with a small deviation ... */
    NNV_FILL_HIGH,    /**< large values of one sign: the sum of many is far beyond each */
    NNV_FILL_REFUSED, /**< a model with one mistake, which a driver must refuse */
    NNV_FILL_COUNT
};
/** "", "exact", "edge", "sweep", "limits", "zero", "ramp", "impulse", "lines", "high", "refused". */
const char *nnv_fill_mode_name(enum nnv_fill_mode m);

/** How elements go through the codes of a sweep or a list of numbers. */
enum nnv_fill_order {
    NNV_ORDER_DRAWN,  /**< at random; a sweep: as NNV_ORDER_EACH */
    NNV_ORDER_EACH,   /**< one after the other */
    NNV_ORDER_FIRST,  /**< first of all pairs: the slow one */
    NNV_ORDER_SECOND, /**< second of all pairs */
};

struct nnv_fill {
    enum nnv_fill_mode mode;
    double lo, hi;            /**< real values to draw from; both 0: [-8, 8] */
    bool index;               /**< integers that are indices or attributes: uniform in [lo, hi] whatever the mode */
    bool half;                /**< float32 values are such that float16 holds them */
    double magnitude;         /**< EXACT: largest integer; EDGE, HIGH: largest number of float and int32 tensors; LINES:
                                 the large mean */
    double density;           /**< EXACT: probability of a value other than 0 */
    double bias_scale;        /**< TENSOR_INT32: real value of one unit, where values are biases; else 0 */
    const float *bias_scales; /**< the same for each element (per-channel filters), or NULL */
    bool plain;               /**< booleans: true is 1 and no other byte */
    uint32_t part; /**< SWEEP: which part of the codes; LIMITS, one after the other: where to begin; LINES: the kind of
                      the first line */
    enum nnv_fill_order order;
    const double *list; /**< LIMITS: so many numbers; none: as NORMAL */
    size_t nlist;
    size_t line;  /**< LINES: elements of one; 0: all are of a large mean and a small deviation */
    size_t inner; /**< NNV_ORDER_FIRST: how many seconds there are for each */
};

/** Elements of one part of a float16 sweep, and the number of parts. */
enum { NNV_SWEEP_HALVES = 7936, NNV_SWEEP_PARTS = 8 };
/** Elements of a float32 sweep: so many numbers of each exponent and sign. */
enum { NNV_SWEEP_MANTISSAS = 8, NNV_SWEEP_FLOATS = 2 * 255 * NNV_SWEEP_MANTISSAS };

/** Fills n elements of operand o (type, scale, zero point, channel scales; dims known) at dst. */
void nnv_fill(const struct nnv_fill *f, const struct nnv_operand *o, struct nnv_rng *rng, size_t n, void *dst);
/** The real range that the fill draws from. */
void nnv_fill_range(const struct nnv_fill *f, double *lo, double *hi);

#endif
