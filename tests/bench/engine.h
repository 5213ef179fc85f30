/* SPDX-License-Identifier: Apache-2.0 */
/** @file engine.h The convolutions and inner products of a model by oneDNN's own API, where it is installed. */
#ifndef NNV_BENCH_ENGINE_H
#define NNV_BENCH_ENGINE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/model/model.h"

struct engine;

#if __has_include(<oneapi/dnnl/dnnl.h>)

#include <oneapi/dnnl/dnnl.h>

enum { ENGINE_ARGS = 6, ENGINE_LAYERS = 128, ENGINE_PLACES = 2, ENGINE_ROOM = 1 << 24 };

/** One primitive with its own memory. */
struct engine_layer {
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[ENGINE_ARGS];
    dnnl_exec_arg_t args[ENGINE_ARGS];
    int count;
};

struct engine {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct engine_layer layers[ENGINE_LAYERS];
    int count;
    void *place[ENGINE_PLACES]; /**< inputs and outputs take turns in two places, as in a real network */
};

static const char *engine_name(void) {
    static char name[64];
    const dnnl_version_t *v = dnnl_version();
    snprintf(name, sizeof name, "engine: oneDNN %d.%d.%d, its own API", v->major, v->minor, v->patch);
    return name;
}

static void engine_must(dnnl_status_t status, const char *what) {
    if (status == dnnl_success) return;
    fprintf(stderr, "bench_layers: oneDNN: %s: status %d\n", what, (int)status);
    exit(1);
}

/** Adds an argument, filled with small values: in `place`, or in memory of its own. */
static void engine_argument(struct engine *e, struct engine_layer *l, int which, const dnnl_memory_desc_t *desc,
                            void *place) {
    dnnl_memory_t memory;
    void *data;
    if (place && dnnl_memory_desc_get_size(desc) > ENGINE_ROOM) engine_must(dnnl_out_of_memory, "a large layer");
    engine_must(dnnl_memory_create(&memory, desc, e->engine, place ? place : DNNL_MEMORY_ALLOCATE), "memory");
    engine_must(dnnl_memory_get_data_handle(memory, &data), "memory");
    const size_t size = dnnl_memory_desc_get_size(desc);
    for (size_t i = 0; i < size; i += 4) {
        const float real = (float)(i % 97) / 97 - 0.5f;
        const uint32_t bytes = (uint32_t)(i * 2654435761u) & 0x3f3f3f3fu;
        if (desc->data_type == dnnl_f32)
            memcpy((char *)data + i, &real, 4);
        else
            memcpy((char *)data + i, &bytes, size - i < 4 ? size - i : 4);
    }
    l->memory[l->count] = memory;
    l->args[l->count++] = (dnnl_exec_arg_t){which, memory};
}

/** Per-channel scales at the output, a zero point at both ends. */
static dnnl_primitive_attr_t engine_quantised(int channels) {
    dnnl_primitive_attr_t attr;
    float *scales = malloc((size_t)channels * sizeof *scales);
    const int32_t zero_in = 128, zero_out = 121;
    for (int i = 0; scales && i < channels; i++) scales[i] = 0.002f + 0.00001f * (float)i;
    engine_must(dnnl_primitive_attr_create(&attr), "attributes");
    engine_must(dnnl_primitive_attr_set_output_scales(attr, channels, 2, scales), "scales");
    engine_must(dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_SRC, 1, 0, &zero_in), "zero point");
    engine_must(dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_DST, 1, 0, &zero_out), "zero point");
    free(scales);
    return attr;
}

/** RELU6's place: it is fused with float convolutions only, whose results are not clamped by their type. */
static dnnl_primitive_attr_t engine_float(bool relu6) {
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t ops;
    engine_must(dnnl_primitive_attr_create(&attr), "attributes");
    if (!relu6) return attr;
    engine_must(dnnl_post_ops_create(&ops), "post-op");
    engine_must(dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_clip, 0, 6), "post-op");
    engine_must(dnnl_primitive_attr_set_post_ops(attr, ops), "post-op");
    dnnl_post_ops_destroy(ops);
    return attr;
}

static dnnl_memory_desc_t engine_desc(int rank, const dnnl_dim_t *dims, dnnl_data_type_t type,
                                      dnnl_format_tag_t format) {
    dnnl_memory_desc_t desc;
    engine_must(dnnl_memory_desc_init_by_tag(&desc, rank, dims, type, format), "description");
    return desc;
}

/** Makes the layer; desc: of the operation. The memory formats are the primitive's choice. */
static void engine_layer(struct engine *e, const void *desc, dnnl_primitive_attr_t attr) {
    static const struct {
        dnnl_query_t query;
        int arg;
    } args[] = {{dnnl_query_src_md, DNNL_ARG_SRC},
                {dnnl_query_weights_md, DNNL_ARG_WEIGHTS},
                {dnnl_query_dst_md, DNNL_ARG_DST}};
    struct engine_layer *l = &e->layers[e->count++];
    dnnl_primitive_desc_t pd;
    engine_must(dnnl_primitive_desc_create(&pd, desc, attr, e->engine, NULL), "primitive");
    engine_must(dnnl_primitive_create(&l->primitive, pd), "primitive");
    void *const places[] = {e->place[e->count % ENGINE_PLACES], NULL, e->place[(e->count + 1) % ENGINE_PLACES]};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        engine_argument(e, l, args[i].arg, dnnl_primitive_desc_query_md(pd, args[i].query, 0), places[i]);
    engine_argument(e, l, DNNL_ARG_BIAS, dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 1), NULL);
    dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_attr_destroy(attr);
}

static void engine_convolution(struct engine *e, const struct nnv_model *m, const struct nnv_operation *o) {
    const struct nnv_operand *x = &m->main.operands[o->in[0]], *w = &m->main.operands[o->in[1]],
                             *y = &m->main.operands[o->out[0]];
    const bool quant = x->type != ANEURALNETWORKS_TENSOR_FLOAT32, deep = o->type == ANEURALNETWORKS_CONV_2D;
    const dnnl_dims_t src = {x->dims[0], x->dims[3], x->dims[1], x->dims[2]};
    const dnnl_dims_t dst = {y->dims[0], y->dims[3], y->dims[1], y->dims[2]}, bias = {y->dims[3]};
    const dnnl_dims_t dense = {w->dims[0], w->dims[3], w->dims[1], w->dims[2]};
    const dnnl_dims_t grouped = {w->dims[3], 1, 1, w->dims[1], w->dims[2]};
    dnnl_dims_t stride = {0}, left = {0}, right = {0};
    for (int i = 0; i < 2; i++) { /* SAME padding */
        stride[i] = (x->dims[i + 1] + y->dims[i + 1] - 1) / y->dims[i + 1];
        const dnnl_dim_t total = (y->dims[i + 1] - 1) * stride[i] + w->dims[i + 1] - x->dims[i + 1];
        left[i] = total > 0 ? total / 2 : 0;
        right[i] = total > 0 ? total - total / 2 : 0;
    }
    const dnnl_data_type_t value = quant ? dnnl_u8 : dnnl_f32;
    const dnnl_memory_desc_t ds = engine_desc(4, src, value, dnnl_format_tag_any),
                             dd = engine_desc(4, dst, value, dnnl_format_tag_any),
                             db = engine_desc(1, bias, quant ? dnnl_s32 : dnnl_f32, dnnl_a),
                             dw = engine_desc(deep ? 4 : 5, deep ? dense : grouped, quant ? dnnl_s8 : dnnl_f32,
                                              dnnl_format_tag_any);
    dnnl_convolution_desc_t desc;
    engine_must(dnnl_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_direct, &ds, &dw,
                                                   &db, &dd, stride, left, right),
                "convolution");
    const bool relu6 = *(const int32_t *)m->main.operands[o->in[o->nin - 1]].data == ANEURALNETWORKS_FUSED_RELU6;
    engine_layer(e, &desc, quant ? engine_quantised((int)y->dims[3]) : engine_float(relu6));
}

static void engine_product(struct engine *e, const struct nnv_model *m, const struct nnv_operation *o) {
    const struct nnv_operand *x = &m->main.operands[o->in[0]], *w = &m->main.operands[o->in[1]];
    const bool quant = x->type != ANEURALNETWORKS_TENSOR_FLOAT32;
    const dnnl_dims_t src = {1, w->dims[1]}, weights = {w->dims[0], w->dims[1]}, dst = {1, w->dims[0]},
                      bias = {w->dims[0]};
    const dnnl_data_type_t value = quant ? dnnl_u8 : dnnl_f32;
    const dnnl_memory_desc_t ds = engine_desc(2, src, value, dnnl_format_tag_any),
                             dd = engine_desc(2, dst, value, dnnl_format_tag_any),
                             db = engine_desc(1, bias, quant ? dnnl_s32 : dnnl_f32, dnnl_a),
                             dw = engine_desc(2, weights, quant ? dnnl_s8 : dnnl_f32, dnnl_format_tag_any);
    dnnl_inner_product_desc_t desc;
    dnnl_primitive_attr_t attr = engine_float(false);
    engine_must(dnnl_inner_product_forward_desc_init(&desc, dnnl_forward_inference, &ds, &dw, &db, &dd),
                "inner product");
    if (quant) { /* inner products have no zero points: what stands here is a little less work */
        const float scale = 0.002f;
        engine_must(dnnl_primitive_attr_set_output_scales(attr, 1, 0, &scale), "scales");
    }
    engine_layer(e, &desc, attr);
}

static struct engine *engine_open(const struct nnv_model *m) {
    struct engine *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    for (int i = 0; i < ENGINE_PLACES; i++) {
        e->place[i] = aligned_alloc(64, ENGINE_ROOM);
        if (!e->place[i]) engine_must(dnnl_out_of_memory, "memory");
    }
    engine_must(dnnl_engine_create(&e->engine, dnnl_cpu, 0), "engine");
    engine_must(dnnl_stream_create(&e->stream, e->engine, dnnl_stream_default_flags), "stream");
    for (uint32_t i = 0; i < m->main.noperations && e->count < ENGINE_LAYERS; i++) {
        const struct nnv_operation *o = &m->main.operations[i];
        if (o->type == ANEURALNETWORKS_CONV_2D || o->type == ANEURALNETWORKS_DEPTHWISE_CONV_2D)
            engine_convolution(e, m, o);
        else if (o->type == ANEURALNETWORKS_FULLY_CONNECTED)
            engine_product(e, m, o);
    }
    return e;
}

static void engine_run(struct engine *e) {
    for (int i = 0; i < e->count; i++) {
        struct engine_layer *l = &e->layers[i];
        engine_must(dnnl_primitive_execute(l->primitive, e->stream, l->count, l->args), "execute");
    }
    engine_must(dnnl_stream_wait(e->stream), "wait");
}

static void engine_close(struct engine *e) {
    for (int i = 0; e && i < e->count; i++) {
        dnnl_primitive_destroy(e->layers[i].primitive);
        for (int a = 0; a < e->layers[i].count; a++) dnnl_memory_destroy(e->layers[i].memory[a]);
    }
    for (int i = 0; e && i < ENGINE_PLACES; i++) free(e->place[i]);
    if (e) dnnl_stream_destroy(e->stream);
    if (e) dnnl_engine_destroy(e->engine);
    free(e);
}

#else

static const char *engine_name(void) {
    return "engine: none, oneDNN was not there when this was built (Debian: apt-get install libdnnl-dev)";
}
static struct engine *engine_open(const struct nnv_model *m) {
    (void)m;
    return NULL;
}
static void engine_run(struct engine *e) { (void)e; }
static void engine_close(struct engine *e) { (void)e; }

#endif

#endif
