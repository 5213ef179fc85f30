/* SPDX-License-Identifier: Apache-2.0 */
/** @file operand.c Mistakes in operands: type, rank, extents, quantisation, lifetime. */
#include <math.h>
#include <string.h>

#include "harness/suites/validate/validate.h"

/* ---------------------------------------------------------- which operands */

static const struct nnv_type *type_of(const struct nnv_operand *o) { return nnv_type(o->type); }

static bool is_tensor(const struct nnv_operand *o) { return type_of(o)->tensor; }
static bool is_scalar(const struct nnv_operand *o) { return !is_tensor(o) && nnv_is_constant(o); }
static bool is_float(const struct nnv_operand *o) { return is_tensor(o) && nnv_is_float(o->type); }
static bool is_int32(const struct nnv_operand *o) { return o->type == ANEURALNETWORKS_TENSOR_INT32; }
static bool is_channelled(const struct nnv_operand *o) { return o->channel.count > 0; }
static bool is_scaled(const struct nnv_operand *o) { return nnv_is_quant(o->type) && !type_of(o)->per_channel; }
static bool is_asymmetric(const struct nnv_operand *o) {
    return o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ||
           o->type == ANEURALNETWORKS_TENSOR_QUANT16_ASYMM;
}
static bool is_symmetric(const struct nnv_operand *o) { return is_scaled(o) && !is_asymmetric(o); }
static bool is_constant_tensor(const struct nnv_operand *o) { return is_tensor(o) && nnv_is_constant(o); }
static bool is_constant(const struct nnv_operand *o) { return nnv_is_constant(o); }
static bool is_given(const struct nnv_operand *o) { return is_tensor(o) && o->lifetime == NNV_SUBGRAPH_INPUT; }
static bool is_ranked_input(const struct nnv_operand *o) { return is_given(o) && o->rank > 0; }
static bool is_matrix_input(const struct nnv_operand *o) { return is_given(o) && o->rank > 1; }
static bool is_wide_input(const struct nnv_operand *o) { return is_ranked_input(o) && type_of(o)->size > 1; }
static bool is_computed(const struct nnv_operand *o) {
    return o->lifetime == NNV_TEMPORARY_VARIABLE || o->lifetime == NNV_SUBGRAPH_OUTPUT;
}
static bool is_computed_tensor(const struct nnv_operand *o) { return is_computed(o) && o->rank > 0; }
static bool is_computed_quant(const struct nnv_operand *o) { return is_computed(o) && is_scaled(o); }

/* --------------------------------------------------------------------- types */

static void type_code(struct nnv_mutation *m, struct nnv_operand *o) { o->type = m->a; }

/* Another type, with parameters that fit it. */
static void type_other(struct nnv_mutation *m, struct nnv_operand *o) {
    o->type = m->row->type;
    o->scale = is_scaled(o) ? 0.5f : 0;
    o->zero_point = 0;
    o->channel.count = 0;
}

static void type_scalar(struct nnv_mutation *m, struct nnv_operand *o) {
    (void)m;
    o->type = ANEURALNETWORKS_FLOAT32;
    o->scale = 0;
    o->zero_point = 0;
    o->channel.count = 0;
}

/* A scalar becomes a tensor of one element. */
static void type_tensor(struct nnv_mutation *m, struct nnv_operand *o) {
    o->type = o->type == ANEURALNETWORKS_FLOAT32   ? ANEURALNETWORKS_TENSOR_FLOAT32
              : o->type == ANEURALNETWORKS_FLOAT16 ? ANEURALNETWORKS_TENSOR_FLOAT16
              : o->type == ANEURALNETWORKS_BOOL    ? ANEURALNETWORKS_TENSOR_BOOL8
                                                   : ANEURALNETWORKS_TENSOR_INT32;
    static const uint32_t one = 1;
    o->dims = nnv_edit_copy(&m->edit, &one, 1, 0, sizeof one);
    o->rank = 1;
}

/* ------------------------------------------------------------ rank and extents */

/* Dimensions of 1 are added until the rank is a. */
static void rank_raised(struct nnv_mutation *m, struct nnv_operand *o) {
    uint32_t *dims = nnv_edit_copy(&m->edit, o->dims, o->rank, NNV_MAX_RANK, sizeof *dims);
    if (!dims) return;
    for (uint32_t i = o->rank; i < (uint32_t)m->a; i++) dims[i] = 1;
    o->dims = dims;
    if (o->rank < (uint32_t)m->a) o->rank = (uint32_t)m->a;
}

static void rank_dropped(struct nnv_mutation *m, struct nnv_operand *o) {
    (void)m;
    o->rank--;
}

static void extent_raised(struct nnv_mutation *m, struct nnv_operand *o) { o->dims[m->pick % o->rank]++; }

/* Each of two extents is legal; their product has more than 32 bits. */
static void product_32(struct nnv_mutation *m, struct nnv_operand *o) {
    (void)m;
    o->dims[0] = o->dims[1] = 1u << 16;
    if (type_of(o)->size == 1) o->dims[1]++;
}

/* The product of four extents is 2^64: it is 0 where it is not checked. */
static void product_64(struct nnv_mutation *m, struct nnv_operand *o) {
    static const uint32_t dims[] = {1u << 16, 1u << 16, 1u << 16, 1u << 16};
    o->dims = nnv_edit_copy(&m->edit, dims, 4, 0, sizeof *dims);
    o->rank = 4;
}

static void bytes_32(struct nnv_mutation *m, struct nnv_operand *o) {
    (void)m;
    o->dims[0] = (uint32_t)(UINT32_MAX / type_of(o)->size + 1);
}

static void extent_unknown(struct nnv_mutation *m, struct nnv_operand *o) { o->dims[m->pick % o->rank] = 0; }

static void rank_unknown(struct nnv_mutation *m, struct nnv_operand *o) {
    (void)m;
    o->rank = 0;
}

/* --------------------------------------------------------------- quantisation */

static void scale_given(struct nnv_mutation *m, struct nnv_operand *o) { o->scale = (float)m->a; }
static void scale_nan(struct nnv_mutation *m, struct nnv_operand *o) { (void)m, o->scale = NAN; }
static void scale_infinite(struct nnv_mutation *m, struct nnv_operand *o) { (void)m, o->scale = INFINITY; }
static void scale_moved(struct nnv_mutation *m, struct nnv_operand *o) {
    (void)m, o->scale = o->scale > 0 ? 2 * o->scale : 1;
}
static void zero_given(struct nnv_mutation *m, struct nnv_operand *o) { o->zero_point = m->a; }
static void zero_below(struct nnv_mutation *m, struct nnv_operand *o) {
    (void)m, o->zero_point = (int32_t)type_of(o)->min - 1;
}
static void zero_above(struct nnv_mutation *m, struct nnv_operand *o) {
    (void)m, o->zero_point = (int32_t)type_of(o)->max + 1;
}
static void zero_moved(struct nnv_mutation *m, struct nnv_operand *o) {
    (void)m, o->zero_point += o->zero_point > type_of(o)->min ? -1 : 1;
}

static void channel_count(struct nnv_mutation *m, struct nnv_operand *o) {
    o->channel.count += (uint32_t)m->a;
    if (m->a > 0) o->channel.scales[o->channel.count - 1] = 1;
}
static void channels_missing(struct nnv_mutation *m, struct nnv_operand *o) { (void)m, o->channel.count = 0; }
static void channel_dim(struct nnv_mutation *m, struct nnv_operand *o) {
    (void)m, o->channel.dim = m->a ? UINT32_MAX : o->rank;
}
/* Scales along the dimension behind, as many as it takes. */
static void channel_dim_other(struct nnv_mutation *m, struct nnv_operand *o) {
    o->channel.dim = (o->channel.dim + 1) % o->rank;
    o->channel.count = o->dims[o->channel.dim];
    float *scales = nnv_arena_alloc(m->edit.arena, o->channel.count, sizeof *scales);
    for (uint32_t i = 0; scales && i < o->channel.count; i++) scales[i] = 0.5f;
    o->channel.scales = scales;
    m->edit.failed = m->edit.failed || !scales;
}
static float *a_scale(struct nnv_mutation *m, struct nnv_operand *o) {
    return &o->channel.scales[m->pick / 7 % o->channel.count];
}
static void channel_scale(struct nnv_mutation *m, struct nnv_operand *o) { *a_scale(m, o) = (float)m->a; }
static void channel_scale_nan(struct nnv_mutation *m, struct nnv_operand *o) { *a_scale(m, o) = NAN; }
static void channel_scale_infinite(struct nnv_mutation *m, struct nnv_operand *o) { *a_scale(m, o) = INFINITY; }
static void channels_given(struct nnv_mutation *m, struct nnv_operand *o) {
    static const float one = 1;
    o->channel.dim = 0;
    o->channel.count = 1;
    o->channel.scales = nnv_edit_copy(&m->edit, &one, 1, 0, sizeof one);
}

/* ------------------------------------------------------------------- lifetimes */

/* Another lifetime, and the lists of the model are as they were. */
static void lifetime(struct nnv_mutation *m, struct nnv_operand *o) {
    static const uint8_t value[4];
    o->lifetime = (enum nnv_lifetime)m->a;
    o->data = nnv_is_constant(o) ? value : NULL;
    o->bytes = nnv_is_constant(o) ? sizeof value : 0;
}

static uint32_t index_of(const struct nnv_mutation *m, const struct nnv_operand *o) {
    return (uint32_t)(o - m->main->operands);
}

/* Another lifetime, and the lists follow: what is left is that a value has no writer, or one too many. */
static void lifetime_listed(struct nnv_mutation *m, struct nnv_operand *o) {
    struct nnv_subgraph *s = m->main;
    uint32_t i = index_of(m, o);
    lifetime(m, o);
    s->nin = nnv_edit_drop(s->in, s->nin, i);
    s->nout = nnv_edit_drop(s->out, s->nout, i);
    if (o->lifetime == NNV_SUBGRAPH_INPUT) s->in[s->nin++] = i;
    if (o->lifetime == NNV_SUBGRAPH_OUTPUT) s->out[s->nout++] = i;
}

/* ----------------------------------------------------------------------- rows */

#define QUANT NNV_NEEDS_QUANT
#define INPUT NNV_NEEDS_INPUT
#define ASYMM NNV_NEEDS_ASYMM
#define CHANNELS NNV_NEEDS_CHANNELS
#define MATCHED NNV_NEEDS_MATCHED
#define A_TYPE "an operand has one of the types of the API"
#define OTHER_TYPE "the types of an operation's operands are those of its documentation"
#define NO_SCALE "only quantised types and TENSOR_INT32 have a scale"
#define NO_ZERO_POINT "only asymmetric types have a zero point other than 0"
#define A_SCALE "the scale of a quantised operand is above 0 and finite"
#define CHANNEL_SCALES "the scales of the channels are above 0 and finite, one for each extent of the channel dimension"
#define LISTS "the model's inputs and outputs are exactly the operands with these lifetimes"
#define TO(tag, code)                                                                                                  \
    {                                                                                                                  \
        "input_type_" tag, OTHER_TYPE, .needs = INPUT, .type = code, .judged = true, .test = is_given,                 \
                                       .edit = type_other                                                              \
    }
#define OUT_TO(tag, code)                                                                                              \
    {                                                                                                                  \
        "output_type_" tag, OTHER_TYPE, .needs = MATCHED, .type = code, .judged = true, .test = is_computed_tensor,    \
                                        .edit = type_other                                                             \
    }

const struct nnv_model_mutator nnv_operand_mutators[] = {
    {"operand_type_negative", A_TYPE, .a = -1, .edit = type_code},
    {"operand_type_past_last", A_TYPE, .a = ANEURALNETWORKS_MODEL + 1, .edit = type_code},
    {"operand_type_largest", A_TYPE, .a = 0xffff, .edit = type_code},
    {"operand_type_of_no_extension", "extension types are of extensions that the model announces", .a = 1 << 16 | 1,
     .level = 3, .edit = type_code},
    {"tensor_as_scalar", "a scalar has no dimensions", .needs = INPUT, .test = is_ranked_input, .edit = type_scalar},
    {"scalar_as_tensor", OTHER_TYPE, .needs = NNV_NEEDS_SCALAR, .judged = true, .test = is_scalar, .edit = type_tensor},
    TO("float32", ANEURALNETWORKS_TENSOR_FLOAT32),
    TO("float16", ANEURALNETWORKS_TENSOR_FLOAT16),
    TO("int32", ANEURALNETWORKS_TENSOR_INT32),
    TO("bool8", ANEURALNETWORKS_TENSOR_BOOL8),
    TO("quant8_asymm", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM),
    TO("quant8_asymm_signed", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED),
    TO("quant8_symm", ANEURALNETWORKS_TENSOR_QUANT8_SYMM),
    TO("quant16_asymm", ANEURALNETWORKS_TENSOR_QUANT16_ASYMM),
    TO("quant16_symm", ANEURALNETWORKS_TENSOR_QUANT16_SYMM),
    OUT_TO("float32", ANEURALNETWORKS_TENSOR_FLOAT32),
    OUT_TO("float16", ANEURALNETWORKS_TENSOR_FLOAT16),
    OUT_TO("int32", ANEURALNETWORKS_TENSOR_INT32),
    OUT_TO("bool8", ANEURALNETWORKS_TENSOR_BOOL8),
    OUT_TO("quant8_asymm", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM),
    {"scalar_with_dimension", "a scalar has no dimensions", .needs = NNV_NEEDS_SCALAR, .a = 1, .test = is_scalar,
     .edit = rank_raised},
    {"input_rank_5", "the rank is within the operation's limits", .needs = NNV_NEEDS_RANKED | INPUT, .judged = true,
     .a = 5, .test = is_ranked_input, .edit = rank_raised},
    {"input_rank_8", "the rank is within the operation's limits", .needs = NNV_NEEDS_RANKED | INPUT, .judged = true,
     .a = 8, .test = is_ranked_input, .edit = rank_raised},
    {"input_rank_too_low", "ranks fit the operation and each other", .needs = MATCHED | INPUT, .judged = true,
     .test = is_matrix_input, .edit = rank_dropped},
    {"output_rank_too_low", "an output has the rank that the operation gives it", .needs = MATCHED, .judged = true,
     .test = is_computed_tensor, .edit = rank_dropped},
    {"input_extent", "extents fit the operation and each other", .needs = MATCHED | INPUT, .judged = true,
     .test = is_ranked_input, .edit = extent_raised},
    {"output_extent", "an output has the extents that the operation gives it", .needs = MATCHED, .judged = true,
     .test = is_computed_tensor, .edit = extent_raised},
    {"elements_above_32_bits", "a tensor's size fits into 32 bits", .needs = INPUT, .test = is_matrix_input,
     .edit = product_32},
    {"elements_are_2_to_the_64", "a tensor's size fits into 32 bits", .needs = INPUT, .test = is_given,
     .edit = product_64},
    {"bytes_above_32_bits", "a tensor's size fits into 32 bits", .needs = INPUT | NNV_NEEDS_WIDE, .test = is_wide_input,
     .edit = bytes_32},
    {"constant_extent_unknown", "the extents of a constant are known", .needs = NNV_NEEDS_TENSOR_CONSTANT,
     .test = is_constant_tensor, .edit = extent_unknown},
    {"constant_rank_unknown", "the rank of a constant is known", .needs = NNV_NEEDS_TENSOR_CONSTANT,
     .test = is_constant_tensor, .edit = rank_unknown},
    {"scale_zero", A_SCALE, .needs = QUANT, .test = is_scaled, .edit = scale_given},
    {"scale_negative", A_SCALE, .needs = QUANT, .a = -1, .test = is_scaled, .edit = scale_given},
    {"scale_nan", A_SCALE, .needs = QUANT, .test = is_scaled, .edit = scale_nan},
    {"scale_infinite", A_SCALE, .needs = QUANT, .test = is_scaled, .edit = scale_infinite},
    {"scale_of_float", NO_SCALE, .needs = NNV_NEEDS_FLOAT, .a = 1, .test = is_float, .edit = scale_given},
    {"scale_of_float_nan", NO_SCALE, .needs = NNV_NEEDS_FLOAT, .test = is_float, .edit = scale_nan},
    {"scale_of_scalar", NO_SCALE, .needs = NNV_NEEDS_SCALAR, .a = 1, .test = is_scalar, .edit = scale_given},
    {"scale_of_int32_negative", "the scale of a TENSOR_INT32 is 0 or above", .needs = NNV_NEEDS_INT32, .a = -1,
     .test = is_int32, .edit = scale_given},
    {"scale_of_int32_nan", "the scale of a TENSOR_INT32 is finite", .needs = NNV_NEEDS_INT32, .test = is_int32,
     .edit = scale_nan},
    {"scale_of_int32_infinite", "the scale of a TENSOR_INT32 is finite", .needs = NNV_NEEDS_INT32, .test = is_int32,
     .edit = scale_infinite},
    {"scale_per_channel", "an operand with scales for channels has no other scale", .needs = CHANNELS, .a = 1,
     .test = is_channelled, .edit = scale_given},
    {"scale_of_bias", "a bias has the product of the scales of input and filter", .needs = NNV_NEEDS_BIAS,
     .judged = true, .test = is_int32, .edit = scale_moved},
    {"scale_of_output", "the scale of the output is the one that the operation asks for", .needs = NNV_NEEDS_TIED,
     .judged = true, .test = is_computed_quant, .edit = scale_moved},
    {"zero_point_of_output", "the zero point of the output is the one that the operation asks for",
     .needs = ASYMM | NNV_NEEDS_TIED, .judged = true, .test = is_computed_quant, .edit = zero_moved},
    {"zero_point_below", "the zero point is in the range of the type", .needs = ASYMM, .test = is_asymmetric,
     .edit = zero_below},
    {"zero_point_above", "the zero point is in the range of the type", .needs = ASYMM, .test = is_asymmetric,
     .edit = zero_above},
    {"zero_point_least", "the zero point is in the range of the type", .needs = ASYMM, .a = INT32_MIN,
     .test = is_asymmetric, .edit = zero_given},
    {"zero_point_symmetric", NO_ZERO_POINT, .needs = NNV_NEEDS_SYMM, .a = 1, .test = is_symmetric, .edit = zero_given},
    {"zero_point_of_float", NO_ZERO_POINT, .needs = NNV_NEEDS_FLOAT, .a = 1, .test = is_float, .edit = zero_given},
    {"zero_point_of_int32", NO_ZERO_POINT, .needs = NNV_NEEDS_INT32, .a = 1, .test = is_int32, .edit = zero_given},
    {"zero_point_of_scalar", NO_ZERO_POINT, .needs = NNV_NEEDS_SCALAR, .a = -1, .test = is_scalar, .edit = zero_given},
    {"zero_point_per_channel", NO_ZERO_POINT, .needs = CHANNELS, .a = 1, .test = is_channelled, .edit = zero_given},
    {"channel_dimension_is_rank", "the channel dimension is below the rank", .needs = CHANNELS, .test = is_channelled,
     .edit = channel_dim},
    {"channel_dimension_largest", "the channel dimension is below the rank", .needs = CHANNELS, .a = 1,
     .test = is_channelled, .edit = channel_dim},
    {"channel_dimension_other", "the scales run along the dimension that the operation asks for",
     .needs = CHANNELS | MATCHED, .judged = true, .test = is_channelled, .edit = channel_dim_other},
    {"channel_scales_too_few", CHANNEL_SCALES, .needs = CHANNELS, .a = -1, .test = is_channelled,
     .edit = channel_count},
    {"channel_scales_too_many", CHANNEL_SCALES, .needs = CHANNELS, .a = 1, .test = is_channelled,
     .edit = channel_count},
    {"channel_scales_missing", CHANNEL_SCALES, .needs = CHANNELS, .test = is_channelled, .edit = channels_missing},
    {"channel_scale_zero", CHANNEL_SCALES, .needs = CHANNELS, .test = is_channelled, .edit = channel_scale},
    {"channel_scale_negative", CHANNEL_SCALES, .needs = CHANNELS, .a = -1, .test = is_channelled,
     .edit = channel_scale},
    {"channel_scale_nan", CHANNEL_SCALES, .needs = CHANNELS, .test = is_channelled, .edit = channel_scale_nan},
    {"channel_scale_infinite", CHANNEL_SCALES, .needs = CHANNELS, .test = is_channelled,
     .edit = channel_scale_infinite},
    {"channel_scales_of_float", "only TENSOR_QUANT8_SYMM_PER_CHANNEL has scales for channels", .needs = NNV_NEEDS_FLOAT,
     .level = 3, .test = is_float, .edit = channels_given},
    {"lifetime_past_last", "a lifetime is one of the seven", .a = NNV_LIFETIME_COUNT, .edit = lifetime},
    {"lifetime_largest", "a lifetime is one of the seven", .a = -1, .edit = lifetime},
    {"input_lives_as_temporary", LISTS, .needs = INPUT, .a = NNV_TEMPORARY_VARIABLE, .test = is_given,
     .edit = lifetime},
    {"input_lives_as_output", LISTS, .needs = INPUT, .a = NNV_SUBGRAPH_OUTPUT, .test = is_given, .edit = lifetime},
    {"input_lives_as_constant", LISTS, .needs = INPUT, .a = NNV_CONSTANT_COPY, .test = is_given, .edit = lifetime},
    {"input_lives_as_no_value", LISTS, .needs = INPUT, .a = NNV_NO_VALUE, .test = is_given, .edit = lifetime},
    {"output_lives_as_input", LISTS, .a = NNV_SUBGRAPH_INPUT, .test = is_computed, .edit = lifetime},
    {"output_lives_as_constant", LISTS, .a = NNV_CONSTANT_COPY, .test = is_computed, .edit = lifetime},
    {"output_lives_as_no_value", LISTS, .a = NNV_NO_VALUE, .test = is_computed, .edit = lifetime},
    {"constant_lives_as_input", LISTS, .needs = NNV_NEEDS_CONSTANT, .a = NNV_SUBGRAPH_INPUT, .test = is_constant,
     .edit = lifetime},
    {"constant_lives_as_output", LISTS, .needs = NNV_NEEDS_CONSTANT, .a = NNV_SUBGRAPH_OUTPUT, .test = is_constant,
     .edit = lifetime},
    {"constant_lives_as_temporary", "what is read has been written", .needs = NNV_NEEDS_CONSTANT,
     .a = NNV_TEMPORARY_VARIABLE, .test = is_constant, .edit = lifetime},
    {"unwritten_temporary", "what is read has been written", .needs = INPUT, .a = NNV_TEMPORARY_VARIABLE,
     .test = is_given, .edit = lifetime_listed},
    {"unwritten_output", "an output is written", .needs = INPUT, .a = NNV_SUBGRAPH_OUTPUT, .test = is_given,
     .edit = lifetime_listed},
    {"written_input", "an input is not written", .a = NNV_SUBGRAPH_INPUT, .test = is_computed, .edit = lifetime_listed},
    {"written_constant", "a constant is not written", .a = NNV_CONSTANT_COPY, .test = is_computed,
     .edit = lifetime_listed},
    {"written_no_value", "an operand without a value is not written", .a = NNV_NO_VALUE, .test = is_computed,
     .edit = lifetime_listed},
    {"required_input_without_value", "only optional inputs have no value", .needs = INPUT, .judged = true,
     .a = NNV_NO_VALUE, .test = is_given, .edit = lifetime_listed},
    {"tensor_refers_to_subgraph", "only operands of type MODEL refer to subgraphs", .needs = INPUT, .level = 4,
     .a = NNV_SUBGRAPH, .test = is_given, .edit = lifetime_listed},
};
const size_t nnv_operand_mutator_count = sizeof nnv_operand_mutators / sizeof *nnv_operand_mutators;
