/* SPDX-License-Identifier: Apache-2.0 */
/** @file convert.c The table of operations, and the steps that many conversions take. */
#include "convert.h"

#include <stdio.h>
#include <string.h>

#include "common/library.h"
#include "common/text.h"

static const struct {
    int32_t code;
    void (*convert)(struct gg_conversion *c);
    const char *name; /* of ggml's operation, where it is one */
} rows[] = {
    {ANEURALNETWORKS_ABS, gg_unary, "abs"},
    {ANEURALNETWORKS_ADD, gg_binary, "add"},
    {ANEURALNETWORKS_ARGMAX, gg_arg, "argmax"},
    {ANEURALNETWORKS_ARGMIN, gg_arg, "argmax"},
    {ANEURALNETWORKS_AVERAGE_POOL_2D, gg_pool, NULL},
    {ANEURALNETWORKS_BATCH_MATMUL, gg_batch_matmul, "mul_mat"},
    {ANEURALNETWORKS_CAST, gg_cast_type, NULL},
    {ANEURALNETWORKS_CHANNEL_SHUFFLE, gg_shuffle, NULL},
    {ANEURALNETWORKS_CONCATENATION, gg_concatenation, NULL},
    {ANEURALNETWORKS_CONV_2D, gg_conv, NULL},
    {ANEURALNETWORKS_DEPTHWISE_CONV_2D, gg_conv, NULL},
    {ANEURALNETWORKS_DEPTH_TO_SPACE, gg_block, NULL},
    {ANEURALNETWORKS_DIV, gg_binary, "div"},
    {ANEURALNETWORKS_ELU, gg_elu, "elu"},
    {ANEURALNETWORKS_EMBEDDING_LOOKUP, gg_gather, "get_rows"},
    {ANEURALNETWORKS_EXP, gg_unary, "exp"},
    {ANEURALNETWORKS_EXPAND_DIMS, gg_copy, "cont"},
    {ANEURALNETWORKS_FLOOR, gg_unary, "floor"},
    {ANEURALNETWORKS_FULLY_CONNECTED, gg_fully_connected, "mul_mat"},
    {ANEURALNETWORKS_GATHER, gg_gather, "get_rows"},
    {ANEURALNETWORKS_HARD_SWISH, gg_unary, "hardswish"},
    {ANEURALNETWORKS_INSTANCE_NORMALIZATION, gg_instance_normalization, NULL},
    {ANEURALNETWORKS_L2_NORMALIZATION, gg_l2_normalization, NULL},
    {ANEURALNETWORKS_L2_POOL_2D, gg_pool, NULL},
    {ANEURALNETWORKS_LOG, gg_unary, "log"},
    {ANEURALNETWORKS_LOGISTIC, gg_unary, "sigmoid"},
    {ANEURALNETWORKS_MAX_POOL_2D, gg_pool, NULL},
    {ANEURALNETWORKS_MEAN, gg_reduce, "mean"},
    {ANEURALNETWORKS_MUL, gg_binary, "mul"},
    {ANEURALNETWORKS_NEG, gg_unary, "neg"},
    {ANEURALNETWORKS_PACK, gg_pack, NULL},
    {ANEURALNETWORKS_PAD, gg_pad, NULL},
    {ANEURALNETWORKS_REDUCE_MAX, gg_reduce_extreme, NULL},
    {ANEURALNETWORKS_REDUCE_MIN, gg_reduce_extreme, NULL},
    {ANEURALNETWORKS_REDUCE_SUM, gg_reduce, "sum_rows"},
    {ANEURALNETWORKS_RELU, gg_unary, "relu"},
    {ANEURALNETWORKS_RELU1, gg_limit, NULL},
    {ANEURALNETWORKS_RELU6, gg_limit, NULL},
    {ANEURALNETWORKS_RESHAPE, gg_copy, "cont"},
    {ANEURALNETWORKS_RESIZE_BILINEAR, gg_resize, NULL},
    {ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR, gg_resize, NULL},
    {ANEURALNETWORKS_SIN, gg_unary, "sin"},
    {ANEURALNETWORKS_SLICE, gg_slice, NULL},
    {ANEURALNETWORKS_SOFTMAX, gg_softmax, NULL},
    {ANEURALNETWORKS_SPACE_TO_DEPTH, gg_block, NULL},
    {ANEURALNETWORKS_SPLIT, gg_split, NULL},
    {ANEURALNETWORKS_SQRT, gg_unary, "sqrt"},
    {ANEURALNETWORKS_SQUEEZE, gg_copy, "cont"},
    {ANEURALNETWORKS_STRIDED_SLICE, gg_strided_slice, NULL},
    {ANEURALNETWORKS_SUB, gg_binary, "sub"},
    {ANEURALNETWORKS_TANH, gg_unary, "tanh"},
    {ANEURALNETWORKS_TILE, gg_tile, NULL},
    {ANEURALNETWORKS_TRANSPOSE, gg_permute, NULL},
};

bool gg_refuse(struct gg_conversion *c, const char *reason) {
    if (!c->refused) common_tell("%s", reason);
    c->refused = true;
    return false;
}

bool gg_convert(struct gg_graph *g, uint32_t node) {
    struct gg_conversion c = {.graph = g, .op = {.node = &g->from->nodes[node], .tensors = g->from->tensors}};
    size_t i = 0;
    while (i < sizeof rows / sizeof *rows && rows[i].code != c.op.node->code) i++;
    if (i == sizeof rows / sizeof *rows) return gg_refuse(&c, "ggml has no operations that mean the same");
    c.name = rows[i].name;
    rows[i].convert(&c);
    if (c.op.not_constant) gg_refuse(&c, "a parameter is no constant");
    return !c.refused;
}

/* ----------------------------------------------------------------------- values */

enum gg_type gg_type_of(const struct engine_tensor *t) {
    switch (t->type) {
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        return GG_FLOAT;
    case ANEURALNETWORKS_TENSOR_FLOAT16:
        return GG_HALF;
    case ANEURALNETWORKS_TENSOR_INT32:
        return GG_INT;
    default:
        return GG_NO_TYPE;
    }
}

void gg_dims(const struct engine_tensor *t, int64_t *dims) {
    for (uint32_t i = 0; i < t->rank; i++) dims[i] = t->dims[i];
}

/** Up to four extents: leading ones are joined. */
static uint32_t four(const struct engine_tensor *t, int64_t *dims) {
    const uint32_t more = t->rank > GG_EXTENTS ? t->rank - GG_EXTENTS : 0;
    dims[0] = (int64_t)engine_extent(t, 0, more + 1 < t->rank ? more + 1 : t->rank);
    for (uint32_t i = 1; i < GG_EXTENTS && i + more < t->rank; i++) dims[i] = t->dims[i + more];
    return t->rank > GG_EXTENTS ? GG_EXTENTS : t->rank;
}

/** rank extents, the other way round, and ones behind them. */
static void turn(uint32_t rank, const int64_t *dims, int64_t turned[GG_EXTENTS]) {
    for (uint32_t i = 0; i < GG_EXTENTS; i++) turned[i] = i < rank ? dims[rank - 1 - i] : 1;
}

gg_tensor *gg_shape(struct gg_conversion *c, gg_tensor *x, uint32_t rank, const int64_t *dims) {
    int64_t e[GG_EXTENTS];
    turn(rank, dims, e);
    return x ? c->graph->lib->reshape_4d(c->graph->context, x, e[0], e[1], e[2], e[3]) : NULL;
}

/** What the model has from outside: inputs and constants. */
static gg_tensor *outside(struct gg_graph *g, const struct engine_tensor *t, enum gg_type type) {
    int64_t dims[GG_EXTENTS], e[GG_EXTENTS];
    turn(four(t, dims), dims, e);
    gg_tensor *made = g->lib->new_tensor(t->value ? g->constants : g->context, (int)type, GG_EXTENTS, e);
    if (!t->value) g->lib->set_input(made);
    return made;
}

gg_tensor *gg_in(struct gg_conversion *c, uint32_t i) {
    const struct engine_tensor *t = engine_in(&c->op, i);
    const enum gg_type type = t ? gg_type_of(t) : GG_NO_TYPE;
    int64_t dims[GG_EXTENTS];
    if (type == GG_NO_TYPE) {
        gg_refuse(c, "only float32 and float16 are computed on");
        return NULL;
    }
    gg_tensor **of = &c->graph->of[c->op.node->in[i]];
    if (!*of) *of = outside(c->graph, t, type);
    return gg_shape(c, *of, four(t, dims), dims);
}

gg_tensor *gg_real(struct gg_conversion *c, uint32_t i) {
    gg_tensor *x = gg_in(c, i);
    if (x && gg_type_of(engine_in(&c->op, i)) == GG_INT) gg_refuse(c, "only float32 and float16 are computed on");
    return x && gg_type_of(engine_in(&c->op, i)) != GG_FLOAT ? gg_cast(c, x, GG_FLOAT) : x;
}

void gg_out(struct gg_conversion *c, uint32_t i, gg_tensor *value, enum gg_type type) {
    const struct engine_tensor *t = engine_out(&c->op, i);
    if (gg_type_of(t) != type) value = gg_cast(c, value, gg_type_of(t));
    if (value && c->graph->lib->nelements(value) != (int64_t)t->count) gg_refuse(c, "ggml's result has other extents");
    c->graph->of[c->op.node->out[i]] = value;
}

const int32_t *gg_list(struct gg_conversion *c, uint32_t i) {
    const int32_t *list = engine_list(&c->op, i);
    if (!list) gg_refuse(c, "a parameter is no constant");
    return list;
}

/* ------------------------------------------------------------------- operations */

gg_tensor *gg_made(struct gg_conversion *c, gg_tensor *result) {
    const struct gg_library *lib = c->graph->lib;
    if (!result || lib->backend_dev_supports_op(lib->device, result)) return result;
    char reason[COMMON_TEXT_BYTES];
    snprintf(reason, sizeof reason, "the backend does not take ggml's %s of these", lib->op_desc(result));
    gg_refuse(c, reason);
    return result;
}

/** The function of ggml of that name; false: this one has none. */
static bool function_of(struct gg_conversion *c, const char *name, void *function, size_t bytes) {
    char text[64];
    snprintf(text, sizeof text, "ggml_%s", name);
    return common_symbol(c->graph->lib->handle, text, function, bytes) || gg_refuse(c, "this ggml lacks the operation");
}

gg_tensor *gg_one(struct gg_conversion *c, const char *name, gg_tensor *x) {
    gg_tensor *(*function)(void *context, gg_tensor *x);
    if (!x || !function_of(c, name, &function, sizeof function)) return NULL;
    return gg_made(c, function(c->graph->context, x));
}

gg_tensor *gg_two(struct gg_conversion *c, const char *name, gg_tensor *x, gg_tensor *y) {
    gg_tensor *(*function)(void *context, gg_tensor *x, gg_tensor *y);
    if (!x || !y || !function_of(c, name, &function, sizeof function)) return NULL;
    return gg_made(c, function(c->graph->context, x, y));
}

gg_tensor *gg_cast(struct gg_conversion *c, gg_tensor *x, enum gg_type type) {
    if (type == GG_NO_TYPE) gg_refuse(c, "only float32 and float16 are computed on");
    if (!x || type == GG_NO_TYPE) return NULL;
    return gg_made(c, c->graph->lib->cast(c->graph->context, x, (int)type));
}

gg_tensor *gg_activate(struct gg_conversion *c, gg_tensor *x, int32_t code) {
    const struct gg_library *lib = c->graph->lib;
    switch (code) {
    case ANEURALNETWORKS_FUSED_RELU:
        return gg_one(c, "relu", x);
    case ANEURALNETWORKS_FUSED_RELU1:
        return x ? gg_made(c, lib->clamp(c->graph->context, x, -1, 1)) : NULL;
    case ANEURALNETWORKS_FUSED_RELU6:
        return x ? gg_made(c, lib->clamp(c->graph->context, x, 0, 6)) : NULL;
    default:
        return x;
    }
}

/**
 * Joins extents that stay side by side, and leaves out those of 1: what is left has four, or is refused. order and dims
 * are changed; the number of extents left.
 */
static uint32_t join(uint32_t rank, int64_t *dims, uint32_t *order) {
    for (uint32_t i = 0; i < rank;) {
        const uint32_t at = order[i];
        const bool one = dims[at] == 1 && rank > 1, next = i + 1 < rank && order[i + 1] == at + 1;
        if (!one && !next) {
            i++;
            continue;
        }
        const uint32_t gone = one ? i : i + 1, dim = order[gone];
        if (!one) dims[at] *= dims[dim];
        for (uint32_t k = gone; k + 1 < rank; k++) order[k] = order[k + 1];
        for (uint32_t k = dim; k + 1 < rank; k++) dims[k] = dims[k + 1];
        rank--;
        for (uint32_t k = 0; k < rank; k++) order[k] -= order[k] > dim;
        i = 0;
    }
    return rank;
}

gg_tensor *gg_transpose(struct gg_conversion *c, gg_tensor *x, uint32_t rank, const int64_t *dims,
                        const uint32_t *order) {
    int64_t d[ENGINE_MAX_RANK];
    uint32_t o[ENGINE_MAX_RANK];
    int to[GG_EXTENTS] = {0, 1, 2, 3};
    memcpy(d, dims, rank * sizeof *d);
    memcpy(o, order, rank * sizeof *o);
    const uint32_t n = join(rank, d, o);
    if (n > GG_EXTENTS) gg_refuse(c, "ggml's tensors have four extents");
    if (!x || n > GG_EXTENTS || c->op.not_constant) return NULL; /* ggml ends the process where extents do not fit */
    for (uint32_t i = 0; i < n; i++) to[n - 1 - o[i]] = (int)(n - 1 - i);
    gg_tensor *turned = c->graph->lib->permute(c->graph->context, gg_shape(c, x, n, d), to[0], to[1], to[2], to[3]);
    return gg_one(c, "cont", turned);
}
