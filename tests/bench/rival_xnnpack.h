/* SPDX-License-Identifier: Apache-2.0 */
/** @file rival_xnnpack.h A network by XNNPACK's own API (a subgraph), where it is installed. No quantised softmax. */
#ifndef NNV_BENCH_RIVAL_XNNPACK_H
#define NNV_BENCH_RIVAL_XNNPACK_H

#include "tests/bench/rival.h"

#if __has_include(<xnnpack.h>) && __has_include(<pthreadpool.h>)

#include <math.h>
#include <pthreadpool.h>
#include <xnnpack.h>

enum { XP_OVERREAD = 64 };

struct xp {
    const struct nnv_model *m;
    xnn_subgraph_t graph;
    xnn_runtime_t runtime;
    pthreadpool_t threads;
    uint32_t *values;                     /**< by operand; XNN_INVALID_VALUE_ID: not defined yet */
    struct xnn_external_value *externals; /**< inputs, then outputs */
    uint32_t n_externals;
};

static void xp_must(enum xnn_status status, const char *what) {
    rival_must(status == xnn_status_success, "XNNPACK", what, (int)status);
}

static bool xp_quant(const struct nnv_operand *x) { return x->type != ANEURALNETWORKS_TENSOR_FLOAT32; }

static size_t xp_bytes(const struct nnv_operand *o) {
    size_t bytes = xp_quant(o) ? 1 : sizeof(float);
    for (uint32_t i = 0; i < o->rank; i++) bytes *= o->dims[i];
    return bytes;
}

/** The value of an operand, defined when it is first met. */
static uint32_t xp_value(struct xp *e, uint32_t operand) {
    const struct nnv_operand *o = &e->m->main.operands[operand];
    if (e->values[operand] != XNN_INVALID_VALUE_ID) return e->values[operand];
    uint32_t external = XNN_INVALID_VALUE_ID, flags = 0;
    for (uint32_t i = 0; i < e->m->main.nin; i++)
        if (e->m->main.in[i] == operand) {
            external = i;
            flags = XNN_VALUE_FLAG_EXTERNAL_INPUT;
        }
    for (uint32_t i = 0; i < e->m->main.nout; i++)
        if (e->m->main.out[i] == operand) {
            external = e->m->main.nin + i;
            flags = XNN_VALUE_FLAG_EXTERNAL_OUTPUT;
        }
    size_t dims[XNN_MAX_TENSOR_DIMS];
    for (uint32_t i = 0; i < o->rank; i++) dims[i] = o->dims[i];
    if (o->type == ANEURALNETWORKS_TENSOR_FLOAT32)
        xp_must(xnn_define_tensor_value(e->graph, xnn_datatype_fp32, o->rank, dims, o->data, external, flags,
                                        &e->values[operand]),
                "tensor");
    else
        xp_must(xnn_define_quantized_tensor_value(
                    e->graph, o->type == ANEURALNETWORKS_TENSOR_INT32 ? xnn_datatype_qint32 : xnn_datatype_quint8,
                    o->zero_point, o->scale, o->rank, dims, o->data, external, flags, &e->values[operand]),
                "tensor");
    if (external != XNN_INVALID_VALUE_ID) {
        void *data = calloc(1, xp_bytes(o) + XP_OVERREAD);
        rival_must(data, "XNNPACK", "memory", 0);
        memset(data, xp_quant(o) ? 77 : 0, xp_bytes(o));
        for (size_t i = 0; !xp_quant(o) && i < xp_bytes(o) / sizeof(float); i++)
            ((float *)data)[i] = (float)(i % 97) / 97 - 0.5f;
        e->externals[e->n_externals++] = (struct xnn_external_value){external, data};
    }
    return e->values[operand];
}

static void xp_convolution(struct xp *e, const struct nnv_operation *o, float lo, float hi) {
    const struct nnv_operand *x = rival_in(e->m, o, 0), *w = rival_in(e->m, o, 1), *y = &e->m->main.operands[o->out[0]];
    const uint32_t ids[] = {xp_value(e, o->in[0]), xp_value(e, o->in[1]), xp_value(e, o->in[2]),
                            xp_value(e, o->out[0])};
    uint32_t stride[2], before[2], after[2];
    for (int i = 0; i < 2; i++)
        rival_same(x->dims[i + 1], y->dims[i + 1], w->dims[i + 1], &stride[i], &before[i], &after[i]);
    if (o->type == ANEURALNETWORKS_CONV_2D)
        xp_must(xnn_define_convolution_2d(e->graph, before[0], after[1], after[0], before[1], w->dims[1], w->dims[2],
                                          stride[0], stride[1], 1, 1, 1, w->dims[3], w->dims[0], lo, hi, ids[0], ids[1],
                                          ids[2], ids[3], 0),
                "convolution");
    else
        xp_must(xnn_define_depthwise_convolution_2d(e->graph, before[0], after[1], after[0], before[1], w->dims[1],
                                                    w->dims[2], stride[0], stride[1], 1, 1, 1, x->dims[3], lo, hi,
                                                    ids[0], ids[1], ids[2], ids[3], 0),
                "depthwise convolution");
}

/** False: there is no such operator, and the value is left as it is. */
static bool xp_define(struct xp *e, const struct nnv_operation *o) {
    const bool relu6 = o->type != ANEURALNETWORKS_SOFTMAX && rival_activation(e->m, o) == ANEURALNETWORKS_FUSED_RELU6;
    const float lo = relu6 ? 0 : -INFINITY, hi = relu6 ? 6 : INFINITY;
    switch (o->type) {
    case ANEURALNETWORKS_CONV_2D:
    case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
        xp_convolution(e, o, lo, hi);
        return true;
    case ANEURALNETWORKS_FULLY_CONNECTED: {
        const uint32_t ids[] = {xp_value(e, o->in[0]), xp_value(e, o->in[1]), xp_value(e, o->in[2]),
                                xp_value(e, o->out[0])};
        xp_must(xnn_define_fully_connected(e->graph, lo, hi, ids[0], ids[1], ids[2], ids[3],
                                           rival_in(e->m, o, 0)->rank == 4 ? XNN_FLAG_TENSORFLOW_RESHAPE_2D : 0),
                "fully connected");
        return true;
    }
    case ANEURALNETWORKS_ADD: {
        const uint32_t ids[] = {xp_value(e, o->in[0]), xp_value(e, o->in[1]), xp_value(e, o->out[0])};
        xp_must(xnn_define_add2(e->graph, lo, hi, ids[0], ids[1], ids[2], 0), "addition");
        return true;
    }
    case ANEURALNETWORKS_AVERAGE_POOL_2D: {
        const uint32_t ids[] = {xp_value(e, o->in[0]), xp_value(e, o->out[0])};
        xp_must(xnn_define_global_average_pooling_2d(e->graph, lo, hi, ids[0], ids[1], 0), "mean");
        return true;
    }
    default:
        if (xp_quant(rival_in(e->m, o, 0))) return false;
        const uint32_t ids[] = {xp_value(e, o->in[0]), xp_value(e, o->out[0])};
        xp_must(xnn_define_softmax(e->graph, ids[0], ids[1], 0), "softmax");
        return true;
    }
}

/** The model without its quantised softmax: the scores are its output. */
static void xp_without_softmax(struct nnv_model *m) {
    struct nnv_subgraph *g = &m->main;
    const struct nnv_operation *last = &g->operations[g->noperations - 1];
    if (last->type != ANEURALNETWORKS_SOFTMAX || !xp_quant(&g->operands[last->in[0]])) return;
    g->out = last->in;
    g->noperations--;
}

static void *xp_open(const struct rival *r, const struct nnv_model *m) {
    struct xp *e = calloc(1, sizeof *e);
    struct nnv_model *mine = malloc(sizeof *mine);
    rival_must(e && mine, "XNNPACK", "memory", 0);
    *mine = *m;
    xp_without_softmax(mine);
    e->m = mine;
    e->values = malloc(m->main.noperands * sizeof *e->values);
    e->externals = calloc(m->main.nin + m->main.nout, sizeof *e->externals);
    rival_must(e->values && e->externals, "XNNPACK", "memory", 0);
    for (uint32_t i = 0; i < m->main.noperands; i++) e->values[i] = XNN_INVALID_VALUE_ID;
    if (r->threads > 1) e->threads = pthreadpool_create((size_t)r->threads);
    xp_must(xnn_initialize(NULL), "initialize");
    xp_must(xnn_create_subgraph(m->main.nin + m->main.nout, 0, &e->graph), "subgraph");
    for (uint32_t i = 0; i < mine->main.noperations; i++)
        rival_must(xp_define(e, &mine->main.operations[i]), "XNNPACK", "no operator", (int)i);
    xp_must(xnn_create_runtime_v2(e->graph, e->threads, 0, &e->runtime), "runtime");
    xp_must(xnn_setup_runtime(e->runtime, e->n_externals, e->externals), "set-up");
    return e;
}

static void xp_run(void *state) { xp_must(xnn_invoke_runtime(((struct xp *)state)->runtime), "run"); }

static void xp_close(void *state) {
    struct xp *e = state;
    xnn_delete_runtime(e->runtime);
    xnn_delete_subgraph(e->graph);
    if (e->threads) pthreadpool_destroy(e->threads);
    for (uint32_t i = 0; i < e->n_externals; i++) free(e->externals[i].data);
    free(e->externals);
    free(e->values);
    free((void *)e->m);
    free(e);
}

static bool rival_xnnpack(struct rival *r) {
    *r = (struct rival){.name = "XNNPACK", .open = xp_open, .run = xp_run, .close = xp_close};
    return true;
}

#else

static bool rival_xnnpack(struct rival *r) {
    (void)r;
    return false;
}

#endif

#endif
