/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cover.h Pairwise covers: few rows in which each pair of values of every two factors occurs.
 *
 * A row gives each factor a value. The rows are found greedily (as AETG does, Cohen et al. 1997): each starts with a
 * pair that no row has yet, and takes for the other factors, one after the other, the value that adds most new pairs.
 */
#ifndef NNV_RANDGRAPH_SINGLE_COVER_H
#define NNV_RANDGRAPH_SINGLE_COVER_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "reference/model/op.h"

struct nnv_cover {
    size_t nrows;
    const int32_t *values; /**< [nrows, factors] */
    size_t pairs;          /**< of values, all of which occur */
};

/** A cover of n factors, at most NNV_MAX_FACTORS; the same on each machine. Arena's. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_cover_make(const struct nnv_factor *factors, size_t n, struct nnv_arena *arena,
                                              struct nnv_cover *cover, struct nnv_err *err);
/** The cover of an operation's factors, made at the first call and kept. No rows if it has none. Safe from threads. */
const struct nnv_cover *nnv_cover_of(const struct nnv_op *op);

/** The number of pairs, and of those that occur in rows [nrows, n]. */
void nnv_cover_count(const struct nnv_factor *factors, size_t n, const int32_t *values, size_t nrows, size_t *pairs,
                     size_t *covered);

/** Number of cases with an unusual size: of all factors. */
size_t nnv_cover_sizes(const struct nnv_op *op);
/** The row of the i-th of them: the usual values but for factor *which. */
void nnv_cover_size_row(const struct nnv_op *op, size_t i, int32_t row[NNV_MAX_FACTORS], size_t *which);
/**
 * Number of cases of a width beside a value: backends choose kernels by widths of vectors and tiles, so each value of
 * each factor comes with unusual sizes of each factor that is an extent of many.
 */
size_t nnv_cover_widths(const struct nnv_op *op);
/** The row of the i-th of them: the usual values but for these two; turn: which size it is. */
void nnv_cover_width_row(const struct nnv_op *op, size_t i, size_t turn, int32_t row[NNV_MAX_FACTORS]);
/** Why a tensor is large. */
enum nnv_large {
    NNV_LARGE_ELEMENTS, /**< it has more than 2^16 elements */
    NNV_LARGE_ROWS,     /**< it has more than 2^16 rows; an image has planes of so many places, in the other layout */
    NNV_LARGE_PLACES,   /**< the same of images in the usual layout, below windows of a single place */
    NNV_LARGE_KINDS
};
bool nnv_cover_has_large(const struct nnv_op *op, enum nnv_large kind);
/** Number of rows of large tensors: one of each kind that the operation has. */
size_t nnv_cover_large_rows(const struct nnv_op *op);
enum nnv_large nnv_cover_large_kind(const struct nnv_op *op, size_t i);
/** The i-th of them: the usual values but for those that make it large. */
void nnv_cover_large_row(const struct nnv_op *op, size_t i, int32_t row[NNV_MAX_FACTORS]);
/** The row of a huge tensor. False: there is none. */
bool nnv_cover_huge_row(const struct nnv_op *op, int32_t row[NNV_MAX_FACTORS]);

/** Appends the row as "window=3x3 stride=2x2 padding=same ...". */
void nnv_cover_add_text(const struct nnv_factor *factors, size_t n, const int32_t *row, struct nnv_text *out);
/** The row of such a text; what it does not name has the usual value. NNV_INVALID names the word. */
NNV_USE_RESULT enum nnv_status nnv_cover_parse(const struct nnv_factor *factors, size_t n, const char *text,
                                               int32_t row[NNV_MAX_FACTORS], struct nnv_err *err);

#endif
