/* SPDX-License-Identifier: Apache-2.0 */
/** @file check.h The checker: every element compared, by a stated rule. See docs/use/tolerances.md. */
#ifndef NNV_HARNESS_CHECK_H
#define NNV_HARNESS_CHECK_H

#include "base/text.h"
#include "harness/judge/graph_rule.h"
#include "reference/eval/eval.h"

enum nnv_precision {
    NNV_PRECISION_NNAPI,      /**< the published rule */
    NNV_PRECISION_AOSP,       /**< the numbers in AOSP's code */
    NNV_PRECISION_BUDGET,     /**< an error budget for each element, from perturbed rows */
    NNV_PRECISION_AOSP_GRAPH, /**< those of its random graph test */
    NNV_PRECISION_COUNT
};
/** "nnapi", "aosp", "budget", "aosp-graph". */
const char *nnv_precision_name(enum nnv_precision p);

/** What one output is compared with. */
struct nnv_expectation {
    int32_t type;
    float scale;
    int32_t zero_point;
    const struct nnv_value *value; /**< expected */
    const double *spread;          /**< budget: of the rows; else NULL */
    const double *exact;           /**< unrounded real results, for the bias statistic; may be NULL */
    double k;                      /**< budget: factor, 2 for float outputs */
    double half_step;   /**< budget, imported specs: half a unit of the last printed digit is added; 0 otherwise */
    bool must_equal;    /**< exact cases: no tolerance at all */
    bool low_precision; /**< float32 judged as float16: relaxed model, or float16 in the model */
    bool mobilenet;     /**< the wider rule for the case names that AOSP and the NNAPI page single out */
    bool ignored;       /**< not compared */
    const struct nnv_graph_rule *graph; /**< aosp-graph: of the model */
    struct nnv_arithmetic arithmetic;   /**< budget: what the driver promises */
};

enum { NNV_ERROR_MAP_MAX = 64, NNV_WINDOW_MAX = 12 };

/** The comparison of one output. Numbers are stored numbers (quantised: units). */
struct nnv_comparison {
    size_t elems;        /**< in all */
    size_t compared;     /**< had a verdict */
    size_t not_compared; /**< budget as large as the value, or ignored */
    size_t undefined;    /**< compared where a NaN or an infinity is expected: by class alone */
    size_t infinite;     /**< of these, infinities */
    size_t wrong;
    size_t worst; /**< flat index of the largest error / bound; meaningful if compared > 0 */
    double worst_expected, worst_actual, worst_error, worst_bound;
    double worst_ratio; /**< error / bound; infinity for a bound of 0 or a wrong class (NaN, infinity) */
    double max_ulp;     /**< largest error in units in the last place of the expected value */
    double bias, mse;   /**< mean and mean square of (actual - reference), over finite compared elements; the reference
                             is `exact` where given and not clamped, else expected */
    double l1, l2, max; /**< norms of (actual - reference) over the same elements */
    char note[160];     /**< what is wrong, where elements are not judged one by one; else "" */
    char rule[96];      /**< the rule in words: "|error| <= 1e-05 + 5.96e-07 |expected|" */
};

/** How many elements are expected. */
size_t nnv_expected_elems(const struct nnv_expectation *e);

/**
 * Compares actual (same shape as expected: the caller has checked) element by element.
 * An element passes iff |actual - expected| <= bound. An infinity passes only where the same infinity is expected, a
 * NaN only where a NaN is. Zeros of either sign are equal.
 */
void nnv_check(const struct nnv_expectation *e, const void *actual, enum nnv_precision precision,
               struct nnv_comparison *out);

/**
 * One element as nnv_check sees it, for all that compare: a finite number within the bound of a finite one; the same
 * infinity; NaN for NaN; zeros of either sign for each other.
 */
bool nnv_check_within(double expected, double actual, double bound);

/** The numbers that nnv_check compares, one an element each: expected, actual, bound (NaN: not compared). */
void nnv_check_numbers(const struct nnv_expectation *e, const void *actual, enum nnv_precision precision,
                       double *expected, double *got, double *bound);

/** A part of an output, seen as a matrix of its last dimension and all others. Rows stand one behind the other. */
struct nnv_check_window {
    uint32_t row, col, rows, cols; /**< place in the matrix, and extents, at most NNV_WINDOW_MAX */
    double expected[NNV_WINDOW_MAX * NNV_WINDOW_MAX], actual[NNV_WINDOW_MAX * NNV_WINDOW_MAX];
    double bound[NNV_WINDOW_MAX * NNV_WINDOW_MAX]; /**< NaN: not compared */
};
/** The part around element `centre` (a flat index below the number of elements), with the bounds that nnv_check used.
 */
void nnv_check_window(const struct nnv_expectation *e, const void *actual, enum nnv_precision precision, size_t centre,
                      struct nnv_check_window *out);

/**
 * Error over bound as a picture: rows x cols cells, the largest of the elements in a cell; 0 no error, 128 at the
 * bound, 255 at 128 times the bound or more. An output of rank 4 is shown as planes of height x width, down x across of
 * them, one a batch and channel (or several channels where they do not all fit), in the order of batches and channels;
 * any other as one plane: its last dimension and all others.
 */
struct nnv_check_error_map {
    uint32_t rows, cols;   /**< in all, at most NNV_ERROR_MAP_MAX; rows / down by cols / across are a plane's */
    uint32_t down, across; /**< planes */
    uint32_t planes;       /**< how many of down x across are meant: the last row may be short */
    uint32_t channels;     /**< batches and channels that a plane shows, at most */
    uint8_t cells[NNV_ERROR_MAP_MAX * NNV_ERROR_MAP_MAX];
};
void nnv_check_error_map(const struct nnv_expectation *e, const void *actual, enum nnv_precision precision, bool nchw,
                         struct nnv_check_error_map *out);

#endif
