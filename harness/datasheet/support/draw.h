/* SPDX-License-Identifier: Apache-2.0 */
/** @file draw.h Which models of one operation a driver is asked about. */
#ifndef NNV_DATASHEET_DRAW_H
#define NNV_DATASHEET_DRAW_H

#include "randgraph/single/single.h"

/** A model of one operation, before it is made. */
struct nnv_probe {
    struct nnv_single what;
    int32_t row[NNV_MAX_FACTORS]; /**< what.row where has_row */
    bool has_row;                 /**< the row can be changed, and asked again */
    double stretch;               /**< of the scale of output 0; 0: none */
    int32_t zero_point;           /**< of input 0, and of what is quantised like it; where has_zero */
    bool has_zero;
};

/**
 * The models that are asked first: the pairwise cover of the operation's factors, unusual sizes, layers of real
 * networks, its variants, parameters as inputs, and quantisations. At most `room`; returns their number.
 */
size_t nnv_probes_first(const struct nnv_op *op, int sig, uint64_t seed, struct nnv_probe *out, size_t room);
/**
 * A model that was not asked before, the number k of round `round`: many of them are `base`, an earlier one (may be
 * NULL), with one or two factors changed, which is where conditions show.
 */
struct nnv_probe nnv_probe_fresh(const struct nnv_op *op, int sig, uint64_t seed, uint32_t round, uint32_t k,
                                 const struct nnv_probe *base);
/** Makes the model, arena's. NULL: it cannot be made. */
struct nnv_spec *nnv_probe_make(const struct nnv_probe *p, struct nnv_arena *arena);
/** A model between the two values of factor f; false: there is none. Of pairs, part 0 is the height. */
bool nnv_probe_between(const struct nnv_op *op, struct nnv_probe *p, size_t f, int part, double from, double to);

#endif
