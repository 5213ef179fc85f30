/* SPDX-License-Identifier: Apache-2.0 */
/** @file onednn.c The engine oneDNN: which operations it has, and on how many threads it runs. */
#include <stdlib.h>

#include "plan.h"

/* Of the OpenMP runtime that oneDNN runs on. */
extern void omp_set_num_threads(int threads);
extern int omp_get_max_threads(void);

static const struct {
    int32_t code;
    bool (*plan)(struct dn_plan *p);
} operations[] = {
    {ANEURALNETWORKS_CONV_2D, dn_layer},
    {ANEURALNETWORKS_GROUPED_CONV_2D, dn_layer},
    {ANEURALNETWORKS_DEPTHWISE_CONV_2D, dn_layer},
    {ANEURALNETWORKS_TRANSPOSE_CONV_2D, dn_layer},
    {ANEURALNETWORKS_FULLY_CONNECTED, dn_layer},
    {ANEURALNETWORKS_AVERAGE_POOL_2D, dn_pool},
    {ANEURALNETWORKS_MAX_POOL_2D, dn_pool},
    {ANEURALNETWORKS_RELU, dn_unary},
    {ANEURALNETWORKS_RELU1, dn_unary},
    {ANEURALNETWORKS_RELU6, dn_unary},
    {ANEURALNETWORKS_LOGISTIC, dn_unary},
    {ANEURALNETWORKS_TANH, dn_unary},
    {ANEURALNETWORKS_ABS, dn_unary},
    {ANEURALNETWORKS_NEG, dn_unary},
    {ANEURALNETWORKS_EXP, dn_unary},
    {ANEURALNETWORKS_LOG, dn_unary},
    {ANEURALNETWORKS_SQRT, dn_unary},
    {ANEURALNETWORKS_RSQRT, dn_unary},
    {ANEURALNETWORKS_HARD_SWISH, dn_unary},
    {ANEURALNETWORKS_ELU, dn_unary},
    {ANEURALNETWORKS_ADD, dn_binary},
    {ANEURALNETWORKS_SUB, dn_binary},
    {ANEURALNETWORKS_MUL, dn_binary},
    {ANEURALNETWORKS_DIV, dn_binary},
    {ANEURALNETWORKS_MAXIMUM, dn_binary},
    {ANEURALNETWORKS_MINIMUM, dn_binary},
    {ANEURALNETWORKS_PRELU, dn_prelu},
    {ANEURALNETWORKS_SOFTMAX, dn_softmax},
    {ANEURALNETWORKS_LOG_SOFTMAX, dn_softmax},
    {ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION, dn_lrn},
    {ANEURALNETWORKS_MEAN, dn_reduce},
    {ANEURALNETWORKS_REDUCE_MAX, dn_reduce},
    {ANEURALNETWORKS_REDUCE_MIN, dn_reduce},
    {ANEURALNETWORKS_REDUCE_PROD, dn_reduce},
    {ANEURALNETWORKS_REDUCE_SUM, dn_reduce},
    {ANEURALNETWORKS_BATCH_MATMUL, dn_batch_matmul},
    {ANEURALNETWORKS_CONCATENATION, dn_concat},
    {ANEURALNETWORKS_RESHAPE, dn_move},
    {ANEURALNETWORKS_SQUEEZE, dn_move},
    {ANEURALNETWORKS_EXPAND_DIMS, dn_move},
    {ANEURALNETWORKS_TRANSPOSE, dn_move},
    {ANEURALNETWORKS_SLICE, dn_move},
    {ANEURALNETWORKS_SPLIT, dn_move},
    {ANEURALNETWORKS_DEPTH_TO_SPACE, dn_move},
    {ANEURALNETWORKS_SPACE_TO_DEPTH, dn_move},
    {ANEURALNETWORKS_CHANNEL_SHUFFLE, dn_move},
    {ANEURALNETWORKS_RESIZE_BILINEAR, dn_resize},
    {ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR, dn_resize},
    {ANEURALNETWORKS_QUANTIZE, dn_quantize},
    {ANEURALNETWORKS_DEQUANTIZE, dn_quantize},
};

static void close_engine(void *self) {
    struct dn_engine *e = self;
    if (e->stream) dnnl_stream_destroy(e->stream);
    if (e->cpu) dnnl_engine_destroy(e->cpu);
}

static const char *open_engine(void *self, const struct engine_options *options) {
    struct dn_engine *e = self;
    e->threads = (int)options->threads;
    e->loose = options->loose;
    return dnnl_engine_create(&e->cpu, dnnl_cpu, 0) == dnnl_success &&
                   dnnl_stream_create(&e->stream, e->cpu, dnnl_stream_default_flags) == dnnl_success
               ? NULL
               : "oneDNN can't run on this machine";
}

static void discard(void *state) {
    dn_clear(state);
    free(state);
}

static bool plan(struct dn_plan *p) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].code == p->op.node->code) return operations[i].plan(p);
    return false;
}

/** The number of threads is the calling thread's setting: it is set for the call, and put back. */
static void *compile(void *self, const struct engine_graph *graph, bool *taken) {
    (void)taken;
    const struct dn_engine *e = self;
    struct dn_plan *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    *p = (struct dn_plan){.engine = e, .op = {.node = graph->nodes, .tensors = graph->tensors}};
    const int before = omp_get_max_threads();
    omp_set_num_threads(e->threads);
    const bool ok = plan(p);
    omp_set_num_threads(before);
    if (ok) return p;
    discard(p);
    return NULL;
}

static bool run(void *self, void *state, void *const *data) {
    const struct dn_engine *e = self;
    const int before = omp_get_max_threads();
    omp_set_num_threads(e->threads);
    const bool ok = dn_run(e, state, data);
    omp_set_num_threads(before);
    return ok;
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const struct engine this_engine = {
    .name = "onednn",
    .device = "nnvts-onednn",
    .version = "1.0.0-onednn-" TEXT(DNNL_VERSION_MAJOR) "." TEXT(DNNL_VERSION_MINOR) "." TEXT(DNNL_VERSION_PATCH),
    .bytes = sizeof(struct dn_engine),
    .open = open_engine,
    .close = close_engine,
    .compile = compile,
    .run = run,
    .discard = discard,
};
