/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file scales.h Quantisations by a pairwise cover: zero points at the ends, scales far apart or a power of two apart,
 * extreme codes. The factors are those of the operands that a signature quantises freely.
 */
#ifndef NNV_RANDGRAPH_SINGLE_SCALES_H
#define NNV_RANDGRAPH_SINGLE_SCALES_H

#include "randgraph/fill.h"
#include "randgraph/single/cover.h"

/** Factors; a row of a case has a value for each, also where its signature has no such operand. */
enum nnv_scale_factor {
    NNV_SCALE_ZERO_A,     /**< enum nnv_zero_point of the first quantised tensor */
    NNV_SCALE_ZERO_B,     /**< of the second */
    NNV_SCALE_ZERO_OUT,   /**< of the output */
    NNV_SCALE_RATIO,      /**< log2 of the second scale over the first */
    NNV_SCALE_BESIDE,     /**< enum nnv_beside: how far the second scale lies beside that */
    NNV_SCALE_OUT,        /**< enum nnv_out_scale */
    NNV_SCALE_CODES,      /**< enum nnv_codes, of first and second */
    NNV_SCALE_CHANNELS,   /**< enum nnv_channel_scales of a filter with scales for channels */
    NNV_SCALE_ACTIVATION, /**< FuseCode */
    NNV_SCALE_BOUND,      /**< enum nnv_bound, of a clamp whose output has the scale of the first */
    NNV_SCALE_FIRST,      /**< enum nnv_first_scale, where there is no second */
    NNV_SCALE_FACTORS
};
enum nnv_zero_point { NNV_ZERO_INSIDE, NNV_ZERO_LOWEST, NNV_ZERO_HIGHEST };
enum nnv_first_scale { NNV_FIRST_RANGE, NNV_FIRST_FINE, NNV_FIRST_COARSE, NNV_FIRST_POWER };
enum nnv_beside { NNV_BESIDE_EXACT, NNV_BESIDE_ABOVE, NNV_BESIDE_BELOW, NNV_BESIDE_BETWEEN };
/** The last three where the output has an activation: how far its bound lies beyond the codes. */
enum nnv_out_scale {
    NNV_OUT_RANGE,
    NNV_OUT_POWER,
    NNV_OUT_ABOVE,
    NNV_OUT_BELOW,
    NNV_OUT_FINE,
    NNV_OUT_COARSE,
    NNV_OUT_FIRST, /* quantised as the first, as the second */
    NNV_OUT_SECOND,
    NNV_OUT_SHIFTED, /* with the scale of the first, and another zero point */
    NNV_OUT_BOUND_LAST,
    NNV_OUT_BOUND_NEXT,
    NNV_OUT_BOUND_FAR
};
/** Where the bound of an activation lies: anywhere, on the last code, on what would be the next, far beyond. */
enum nnv_bound { NNV_BOUND_ANY, NNV_BOUND_LAST, NNV_BOUND_NEXT, NNV_BOUND_FAR };
enum nnv_codes { NNV_CODES_ALL, NNV_CODES_NEAR, NNV_CODES_EXTREME };
enum nnv_channel_scales { NNV_CHANNELS_ALIKE, NNV_CHANNELS_SPREAD, NNV_CHANNELS_IN_TURN };

/** Rows of the cover for this signature; 0 where nothing is quantised freely, and for control flow. */
size_t nnv_scales_rows(const struct nnv_op *op, int sig);
/** Row i, with the usual values where the signature has no such factor. */
void nnv_scales_row(const struct nnv_op *op, int sig, size_t i, int32_t row[NNV_SCALE_FACTORS]);
/** Appends the signature's factors of the row as words. */
void nnv_scales_add_text(const struct nnv_op *op, int sig, const int32_t *row, struct nnv_text *text);
/** Whether the slot is that of the first (0) or second (1) tensor whose quantisation the row chooses; else -1. */
int nnv_scales_role(const struct nnv_form *form, const struct nnv_sig *sig, const struct nnv_slot *slot);

/** The zero point of an input with this role. */
int32_t nnv_scales_zero(const int32_t *row, int role, const struct nnv_type *t, int32_t usual);
/** The scale of an input with this role, whose values would like to reach `most`; first: that of the first. */
float nnv_scales_scale(const int32_t *row, int role, const struct nnv_operand *o, double most, float first);
/** The scale of channel c, where the largest should be `base`. */
float nnv_scales_channel(const int32_t *row, uint32_t c, double base);
/**
 * Changes scale and zero point of an output, chosen by the range [lo, hi] of its results: unit is that of the sums,
 * like the operands of both roles, NULL where there is none.
 */
void nnv_scales_output(const int32_t *row, double lo, double hi, double unit, const struct nnv_operand *const like[2],
                       struct nnv_operand *o);
/** How the codes of an input of a role are drawn. */
void nnv_scales_fill(const int32_t *row, const struct nnv_operand *o, struct nnv_fill *f);

#endif
