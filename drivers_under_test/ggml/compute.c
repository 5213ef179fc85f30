/* SPDX-License-Identifier: Apache-2.0 */
/** @file compute.c Operations on elements, on lines and on axes. */
#include <float.h>
#include <math.h>

#include "convert.h"

/* --------------------------------------------------------------------- elements */

void gg_unary(struct gg_conversion *c) {
    if (gg_type_of(engine_in(&c->op, 0)) == GG_INT) gg_refuse(c, "only float32 and float16 are computed on");
    gg_out(c, 0, gg_one(c, c->name, gg_in(c, 0)), gg_type_of(engine_in(&c->op, 0)));
}

/** ggml limits in place. */
void gg_limit(struct gg_conversion *c) {
    const bool is_relu1 = c->op.node->code == ANEURALNETWORKS_RELU1;
    gg_tensor *copy = gg_one(c, "cont", gg_in(c, 0));
    gg_out(c, 0, gg_activate(c, copy, is_relu1 ? ANEURALNETWORKS_FUSED_RELU1 : ANEURALNETWORKS_FUSED_RELU6),
           gg_type_of(engine_in(&c->op, 0)));
}

void gg_elu(struct gg_conversion *c) {
    const struct engine_tensor *alpha = engine_in(&c->op, 1);
    const uint16_t one = 0x3c00; /* as float16 */
    const bool is_one =
        alpha->value && (alpha->type == ANEURALNETWORKS_FLOAT32 ? engine_float(&c->op, 1, 0) == 1.0f
                                                                : *(const uint16_t *)alpha->value == one);
    if (!is_one) gg_refuse(c, "the alpha of ggml's ELU is 1");
    gg_unary(c);
}

/** Extents with ones in front, as many as ggml has. */
static gg_tensor *widened(struct gg_conversion *c, uint32_t i) {
    const struct engine_tensor *t = engine_in(&c->op, i);
    int64_t dims[GG_EXTENTS] = {1, 1, 1, 1};
    for (uint32_t k = 0; k < t->rank; k++) dims[GG_EXTENTS - t->rank + k] = t->dims[k];
    return gg_shape(c, gg_in(c, i), GG_EXTENTS, dims);
}

/** A value repeated to the extents of output 0, which has no more than four. */
static gg_tensor *repeated(struct gg_conversion *c, gg_tensor *x) {
    const struct engine_tensor *y = engine_out(&c->op, 0);
    int64_t d[GG_EXTENTS] = {1, 1, 1, 1};
    for (uint32_t i = 0; i < y->rank; i++) d[i] = y->dims[y->rank - 1 - i];
    return x ? gg_made(c, c->graph->lib->repeat_4d(c->graph->context, x, d[0], d[1], d[2], d[3])) : NULL;
}

/** ggml broadcasts the second only. */
void gg_binary(struct gg_conversion *c) {
    const struct engine_tensor *a = engine_in(&c->op, 0), *b = engine_in(&c->op, 1), *y = engine_out(&c->op, 0);
    const int32_t act = engine_int(&c->op, 2, ANEURALNETWORKS_FUSED_NONE);
    const bool same = a->count == y->count && b->count == y->count;
    const enum gg_type type = gg_type_of(a);
    if (type == GG_INT) gg_refuse(c, "only float32 and float16 are computed on");
    if (!same && y->rank > GG_EXTENTS) gg_refuse(c, "ggml's tensors have four extents");
    if (c->refused) return;
    gg_tensor *x = same ? gg_in(c, 0) : widened(c, 0), *z = same ? gg_in(c, 1) : widened(c, 1);
    if (same) z = gg_shape(c, z, 1, (const int64_t[]){(int64_t)y->count});
    if (same) x = gg_shape(c, x, 1, (const int64_t[]){(int64_t)y->count});
    if (a->count != y->count) x = repeated(c, x);
    gg_out(c, 0, gg_activate(c, gg_two(c, c->name, x, z), act), type);
}

void gg_cast_type(struct gg_conversion *c) {
    const enum gg_type to = gg_type_of(engine_out(&c->op, 0));
    gg_tensor *x = gg_in(c, 0);
    if (gg_type_of(engine_in(&c->op, 0)) == GG_INT || to == GG_INT)
        gg_refuse(c, "only float32 and float16 are computed on");
    gg_out(c, 0, c->refused ? NULL : gg_cast(c, x, to), to);
}

/* ------------------------------------------------------------------------ lines */

/** A value with one axis last and all others in front of it: to and from [others, axis]. */
static gg_tensor *axis_last(struct gg_conversion *c, gg_tensor *x, uint32_t axis) {
    const struct engine_tensor *t = engine_in(&c->op, 0);
    const int64_t n = t->dims[axis], before = (int64_t)engine_extent(t, 0, axis),
                  behind = (int64_t)engine_extent(t, axis + 1, t->rank);
    if (behind > 1) x = gg_transpose(c, x, 3, (const int64_t[]){before, n, behind}, (const uint32_t[]){0, 2, 1});
    return gg_shape(c, x, 2, (const int64_t[]){before * behind, n});
}

static gg_tensor *axis_back(struct gg_conversion *c, gg_tensor *x, uint32_t axis) {
    const struct engine_tensor *t = engine_in(&c->op, 0);
    const int64_t n = t->dims[axis], before = (int64_t)engine_extent(t, 0, axis),
                  behind = (int64_t)engine_extent(t, axis + 1, t->rank);
    if (behind == 1) return x;
    return gg_transpose(c, x, 3, (const int64_t[]){before, behind, n}, (const uint32_t[]){0, 2, 1});
}

void gg_softmax(struct gg_conversion *c) {
    const struct engine_tensor *beta = engine_in(&c->op, 1);
    const uint32_t axis = engine_axis(engine_int(&c->op, 2, -1), engine_in(&c->op, 0)->rank);
    if (beta->type != ANEURALNETWORKS_FLOAT32) gg_refuse(c, "the beta of SOFTMAX is a float32");
    const float scale = engine_float(&c->op, 1, 1);
    int exponent;
    if (frexpf(scale, &exponent) != 0.5f) gg_refuse(c, "ggml multiplies by beta first, which rounds");
    gg_tensor *x = axis_last(c, gg_real(c, 0), axis);
    if (!x || c->refused) return;
    x = gg_made(c, c->graph->lib->soft_max_ext(c->graph->context, x, NULL, scale, 0));
    gg_out(c, 0, axis_back(c, x, axis), GG_FLOAT);
}

/** The divisor is the root of the sum of squares, however small; ggml asks for a least one. */
void gg_l2_normalization(struct gg_conversion *c) {
    const uint32_t axis = engine_axis(engine_int(&c->op, 1, -1), engine_in(&c->op, 0)->rank);
    gg_tensor *x = axis_last(c, gg_real(c, 0), axis);
    if (!x || c->refused) return;
    x = gg_made(c, c->graph->lib->l2_norm(c->graph->context, x, FLT_MIN));
    gg_out(c, 0, axis_back(c, x, axis), GG_FLOAT);
}

void gg_instance_normalization(struct gg_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const bool is_nchw = engine_int(&c->op, 4, 0) != 0;
    const float gamma = engine_float(&c->op, 1, 1), beta = engine_float(&c->op, 2, 0),
                epsilon = engine_float(&c->op, 3, 0);
    if (c->op.not_constant) gg_refuse(c, "its parameters are constants of float32");
    gg_tensor *t = gg_real(c, 0);
    if (!t || c->refused) return;
    int64_t dims[ENGINE_MAX_RANK];
    gg_dims(x, dims);
    const int64_t n = dims[0], channels = dims[is_nchw ? 1 : 3], pixels = (int64_t)x->count / n / channels;
    if (!is_nchw) t = gg_transpose(c, t, 3, (const int64_t[]){n, pixels, channels}, (const uint32_t[]){0, 2, 1});
    t = gg_shape(c, t, 2, (const int64_t[]){n * channels, pixels});
    if (!t) return;
    t = gg_made(c, c->graph->lib->norm(c->graph->context, t, epsilon));
    t = gg_made(c, c->graph->lib->scale_bias(c->graph->context, t, gamma, beta));
    if (!is_nchw) t = gg_transpose(c, t, 3, (const int64_t[]){n, channels, pixels}, (const uint32_t[]){0, 2, 1});
    gg_out(c, 0, t, GG_FLOAT);
}

/* ------------------------------------------------------------------- reductions */

/** The axes of a reduction behind all others: [others, axes]. */
static gg_tensor *axes_last(struct gg_conversion *c, gg_tensor *x) {
    const struct engine_tensor *t = engine_in(&c->op, 0), *axes = engine_in(&c->op, 1);
    const int32_t *list = gg_list(c, 1);
    int64_t dims[ENGINE_MAX_RANK], last = 1;
    uint32_t order[ENGINE_MAX_RANK], n = 0, gone = 0;
    for (size_t i = 0; list && i < axes->count; i++) gone |= 1u << engine_axis(list[i], t->rank);
    gg_dims(t, dims);
    for (uint32_t i = 0; i < t->rank; i++)
        if (!(gone >> i & 1)) order[n++] = i;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (!(gone >> i & 1)) continue;
        order[n++] = i;
        last *= dims[i];
    }
    x = gg_transpose(c, x, t->rank, dims, order);
    return gg_shape(c, x, 2, (const int64_t[]){(int64_t)t->count / last, last});
}

void gg_reduce(struct gg_conversion *c) { gg_out(c, 0, gg_one(c, c->name, axes_last(c, gg_real(c, 0))), GG_FLOAT); }

/** The largest of lines is that of windows as long as they are; the least one is that of what has the other sign. */
void gg_reduce_extreme(struct gg_conversion *c) {
    enum { LARGEST = 0 };
    const struct engine_tensor *x = engine_in(&c->op, 0), *y = engine_out(&c->op, 0);
    const int n = (int)(x->count / y->count);
    const bool least = c->op.node->code == ANEURALNETWORKS_REDUCE_MIN;
    gg_tensor *t = axes_last(c, gg_real(c, 0));
    if (least) t = gg_one(c, "neg", t);
    if (!t || c->refused) return;
    t = gg_made(c, c->graph->lib->pool_2d(c->graph->context, t, LARGEST, n, 1, n, 1, 0, 0));
    gg_out(c, 0, least ? gg_one(c, "neg", t) : t, GG_FLOAT);
}

void gg_arg(struct gg_conversion *c) {
    const uint32_t axis = engine_axis(engine_int(&c->op, 1, 0), engine_in(&c->op, 0)->rank);
    gg_tensor *x = axis_last(c, gg_real(c, 0), axis);
    if (c->op.node->code == ANEURALNETWORKS_ARGMIN) x = gg_one(c, "neg", x);
    gg_out(c, 0, gg_one(c, c->name, x), GG_INT);
}
