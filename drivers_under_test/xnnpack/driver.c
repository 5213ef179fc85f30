/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.c XNNPACK as a driver: which operation is compiled how. */
#include <math.h>
#include <pthread.h>
#include <pthreadpool.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

enum { MORE_STEPS = 4 }; /**< room for operations that take several operators */

struct xp_device {
    pthreadpool_t threads; /**< NULL: the caller's thread */
    bool loose;
};

static const struct {
    int32_t code;
    xp_compile compile;
} table[] = {
    {ANEURALNETWORKS_ABS, xp_unary},
    {ANEURALNETWORKS_ADD, xp_binary},
    {ANEURALNETWORKS_AVERAGE_POOL_2D, xp_average_pool},
    {ANEURALNETWORKS_CHANNEL_SHUFFLE, xp_channel_shuffle},
    {ANEURALNETWORKS_CONCATENATION, xp_concatenation},
    {ANEURALNETWORKS_CONV_2D, xp_convolution},
    {ANEURALNETWORKS_DEPTHWISE_CONV_2D, xp_convolution},
    {ANEURALNETWORKS_DEPTH_TO_SPACE, xp_depth_to_space},
    {ANEURALNETWORKS_DEQUANTIZE, xp_dequantize},
    {ANEURALNETWORKS_DIV, xp_binary},
    {ANEURALNETWORKS_ELU, xp_elu},
    {ANEURALNETWORKS_EXPAND_DIMS, xp_copy},
    {ANEURALNETWORKS_FLOOR, xp_unary},
    {ANEURALNETWORKS_FULLY_CONNECTED, xp_fully_connected},
    {ANEURALNETWORKS_GROUPED_CONV_2D, xp_convolution},
    {ANEURALNETWORKS_HARD_SWISH, xp_unary},
    {ANEURALNETWORKS_LOGISTIC, xp_unary},
    {ANEURALNETWORKS_MAXIMUM, xp_binary},
    {ANEURALNETWORKS_MAX_POOL_2D, xp_max_pool},
    {ANEURALNETWORKS_MEAN, xp_mean},
    {ANEURALNETWORKS_MINIMUM, xp_binary},
    {ANEURALNETWORKS_MUL, xp_binary},
    {ANEURALNETWORKS_NEG, xp_unary},
    {ANEURALNETWORKS_PAD, xp_pad},
    {ANEURALNETWORKS_PAD_V2, xp_pad},
    {ANEURALNETWORKS_PRELU, xp_prelu},
    {ANEURALNETWORKS_QUANTIZE, xp_quantize},
    {ANEURALNETWORKS_RELU, xp_relu},
    {ANEURALNETWORKS_RELU1, xp_relu},
    {ANEURALNETWORKS_RELU6, xp_relu},
    {ANEURALNETWORKS_RESHAPE, xp_copy},
    {ANEURALNETWORKS_RESIZE_BILINEAR, xp_resize_bilinear},
    {ANEURALNETWORKS_SOFTMAX, xp_softmax},
    {ANEURALNETWORKS_SPLIT, xp_split},
    {ANEURALNETWORKS_SQRT, xp_unary},
    {ANEURALNETWORKS_SQUEEZE, xp_copy},
    {ANEURALNETWORKS_SUB, xp_binary},
    {ANEURALNETWORKS_TANH, xp_unary},
    {ANEURALNETWORKS_TRANSPOSE_CONV_2D, xp_transpose_convolution},
};

/* ----------------------------------------------------------------- for the operations */

enum xp_kind xp_kind_of(const struct engine_tensor *t) {
    switch (t->type) {
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        return XP_F32;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        return XP_QU8;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
        return XP_QS8;
    default:
        return XP_OTHER;
    }
}

struct xp_step *xp_add(struct xp_build *b, xp_setup setup) {
    struct xp_step *s = &b->state->steps[b->state->count++];
    *s = (struct xp_step){.setup = setup, .a = b->op.node->in[0], .b = XP_NONE, .y = b->op.node->out[0], .batch = 1};
    return s;
}

bool xp_scratch(struct xp_build *b, size_t bytes) {
    b->state->scratch = calloc(1, bytes + ENGINE_SLACK);
    return b->state->scratch != NULL;
}

static int32_t code_of(float real, const struct engine_tensor *t, int32_t lo, int32_t hi) {
    const double q = round((double)real / (double)t->scale) + t->zero_point;
    return q < lo ? lo : q > hi ? hi : (int32_t)q;
}

struct xp_range xp_activation(int32_t fuse_code, const struct engine_tensor *t) {
    const bool is_signed = xp_kind_of(t) == XP_QS8;
    struct xp_range r = {-INFINITY, INFINITY, is_signed ? INT8_MIN : 0, is_signed ? INT8_MAX : UINT8_MAX};
    if (fuse_code == ANEURALNETWORKS_FUSED_RELU) r.lo = 0;
    if (fuse_code == ANEURALNETWORKS_FUSED_RELU1) r.lo = -1, r.hi = 1;
    if (fuse_code == ANEURALNETWORKS_FUSED_RELU6) r.lo = 0, r.hi = 6;
    if (xp_kind_of(t) == XP_F32) return r;
    const int32_t least = r.qlo, most = r.qhi;
    if (isfinite(r.lo)) r.qlo = code_of(r.lo, t, least, most);
    if (isfinite(r.hi)) r.qhi = code_of(r.hi, t, least, most);
    return r;
}

/* ------------------------------------------------------------------------ the engine */

static void discard(void *state) {
    struct xp_state *s = state;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->steps[i].op) xnn_delete_operator(s->steps[i].op);
    free(s->scratch);
    free(s);
}

static enum xnn_status set_up(struct xp_step *s, const void *a, const void *b, void *y, pthreadpool_t threads) {
    if (s->last_y == y && s->last_a == a && s->last_b == b) return xnn_status_success;
    s->last_y = NULL; /* until it has succeeded */
    const enum xnn_status st = s->setup(s, a, b, y, threads);
    if (st != xnn_status_success) return st;
    s->last_a = a;
    s->last_b = b;
    s->last_y = y;
    return st;
}

/** Some limits are found out only when an operator learns its sizes; addresses are not looked at there. */
static bool sets_up(struct xp_state *state, pthreadpool_t threads) {
    static _Alignas(64) uint8_t somewhere[ENGINE_SLACK];
    for (uint32_t i = 0; i < state->count; i++) {
        struct xp_step *s = &state->steps[i];
        if (set_up(s, somewhere, s->b == XP_NONE ? NULL : somewhere, somewhere, threads) != xnn_status_success)
            return false;
    }
    return true;
}

static void *compile(void *self, const struct engine_graph *graph, bool *taken) {
    (void)taken;
    const struct engine_node *node = graph->nodes;
    const struct xp_device *d = self;
    xp_compile fn = NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == node->code) fn = table[i].compile;
    if (!fn) return NULL;
    const size_t room = (size_t)node->in_count + node->out_count + MORE_STEPS;
    struct xp_build b = {.op = {.node = node, .tensors = graph->tensors},
                         .loose = d->loose,
                         .state = calloc(1, sizeof *b.state + room * sizeof *b.state->steps)};
    if (!b.state) return NULL;
    if (fn(&b) && sets_up(b.state, d->threads)) return b.state;
    discard(b.state);
    return NULL;
}

static bool run(void *self, void *state, void *const *data) {
    const struct xp_device *d = self;
    struct xp_state *st = state;
    for (uint32_t i = 0; i < st->count; i++) {
        struct xp_step *s = &st->steps[i];
        const uint8_t *a = (const uint8_t *)(s->a == XP_SCRATCH ? st->scratch : data[s->a]) + s->a_at;
        uint8_t *y = (uint8_t *)(s->y == XP_SCRATCH ? st->scratch : data[s->y]) + s->y_at;
        if (set_up(s, a, s->b == XP_NONE ? NULL : data[s->b], y, d->threads) != xnn_status_success) return false;
        if (xnn_run_operator(s->op, d->threads) != xnn_status_success) return false;
    }
    return true;
}

static const char *open_engine(void *self, const struct engine_options *options) {
    struct xp_device *d = self;
    if (xnn_initialize(NULL) != xnn_status_success) return "XNNPACK can't run on this machine";
    d->loose = options->loose;
    if (options->threads > 1) d->threads = pthreadpool_create(options->threads);
    return options->threads > 1 && !d->threads ? "XNNPACK can't start its threads" : NULL;
}

static void close_engine(void *self) {
    struct xp_device *d = self;
    if (d->threads) pthreadpool_destroy(d->threads);
}

const struct engine this_engine = {
    .name = "xnnpack",
    .device = "nnvts-xnnpack",
    .version = "1.0.0-xnnpack-2022-02",
    .bytes = sizeof(struct xp_device),
    .open = open_engine,
    .close = close_engine,
    .compile = compile,
    .run = run,
    .discard = discard,
};
