/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rival_onednn.h A network by oneDNN's own API, where it is installed: each primitive chooses its memory formats,
 * values are reordered where two neighbours differ. Quantised additions have no zero points and quantised scores no
 * softmax: what stands here is a little less work.
 */
#ifndef NNV_BENCH_RIVAL_ONEDNN_H
#define NNV_BENCH_RIVAL_ONEDNN_H

#include "tests/bench/rival.h"

#if __has_include(<oneapi/dnnl/dnnl.h>)

#include <oneapi/dnnl/dnnl.h>

extern void omp_set_num_threads(int threads);

enum { DNN_ARGS = 6, DNN_STEPS = 400, DNN_PLACES = 64 };

struct dnn_step {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[DNN_ARGS];
    int count;
};

/** Memory that values take turns in. */
struct dnn_place {
    void *data;
    size_t bytes;
    bool taken;
};

/** Where the value of an operand is. */
struct dnn_value {
    dnnl_memory_desc_t desc;
    dnnl_memory_t memory;
    int place;
    uint32_t uses;
};

struct dnn {
    const struct nnv_model *m;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct dnn_step steps[DNN_STEPS];
    int count, threads;
    struct dnn_place places[DNN_PLACES];
    struct dnn_value *values;
    dnnl_memory_t memories[DNN_STEPS * DNN_ARGS];
    int n_memories;
};

static void dnn_must(dnnl_status_t status, const char *what) {
    rival_must(status == dnnl_success, "oneDNN", what, (int)status);
}

/** Small values; NULL: memory of its own. */
static dnnl_memory_t dnn_memory(struct dnn *e, const dnnl_memory_desc_t *desc, void *place) {
    dnnl_memory_t memory;
    void *data;
    rival_must(e->n_memories < DNN_STEPS * DNN_ARGS, "oneDNN", "too many tensors", 0);
    dnn_must(dnnl_memory_create(&memory, desc, e->engine, place ? place : DNNL_MEMORY_ALLOCATE), "memory");
    dnn_must(dnnl_memory_get_data_handle(memory, &data), "memory");
    const size_t size = dnnl_memory_desc_get_size(desc);
    for (size_t i = 0; i < size; i += 4) {
        const float real = (float)(i % 97) / 97 - 0.5f;
        const uint32_t bytes = (uint32_t)(i * 2654435761u) & 0x3f3f3f3fu;
        memcpy((char *)data + i, desc->data_type == dnnl_f32 ? (const void *)&real : &bytes,
               size - i < 4 ? size - i : 4);
    }
    return e->memories[e->n_memories++] = memory;
}

/** The best free place: the smallest that is large enough, else a new one. */
static int dnn_place(struct dnn *e, size_t bytes) {
    int best = -1;
    for (int i = 0; i < DNN_PLACES; i++) {
        const struct dnn_place *p = &e->places[i];
        if (!p->data || p->taken || p->bytes < bytes) continue;
        if (best < 0 || p->bytes < e->places[best].bytes) best = i;
    }
    for (int i = 0; best < 0 && i < DNN_PLACES; i++)
        if (!e->places[i].data) {
            e->places[i].bytes = (bytes + 4095) / 4096 * 4096;
            e->places[i].data = aligned_alloc(4096, e->places[i].bytes);
            best = e->places[i].data ? i : -1;
            break;
        }
    rival_must(best >= 0, "oneDNN", "memory", 0);
    e->places[best].taken = true;
    return best;
}

static void dnn_make(struct dnn *e, struct dnn_value *v, const dnnl_memory_desc_t *desc) {
    v->desc = *desc;
    v->place = dnn_place(e, dnnl_memory_desc_get_size(desc));
    v->memory = dnn_memory(e, desc, e->places[v->place].data);
}

static struct dnn_step *dnn_step(struct dnn *e, dnnl_primitive_desc_t pd) {
    rival_must(e->count < DNN_STEPS, "oneDNN", "too many layers", 0);
    struct dnn_step *s = &e->steps[e->count++];
    dnn_must(dnnl_primitive_create(&s->primitive, pd), "primitive");
    return s;
}

static void dnn_argument(struct dnn_step *s, int which, dnnl_memory_t memory) {
    s->args[s->count++] = (dnnl_exec_arg_t){which, memory};
}

/** The operand's value in the format that a primitive wants; *copy: its own place, freed by the caller, or -1. */
static dnnl_memory_t dnn_input(struct dnn *e, uint32_t operand, const dnnl_memory_desc_t *wanted, int *copy) {
    struct dnn_value *v = &e->values[operand];
    *copy = -1;
    if (!v->memory) { /* an input of the model */
        v->place = dnn_place(e, dnnl_memory_desc_get_size(wanted));
        v->desc = *wanted;
        v->memory = dnn_memory(e, wanted, e->places[v->place].data);
    }
    if (dnnl_memory_desc_equal(&v->desc, wanted)) return v->memory;
    struct dnn_value other;
    dnnl_primitive_desc_t pd;
    dnn_make(e, &other, wanted);
    dnn_must(dnnl_reorder_primitive_desc_create(&pd, &v->desc, e->engine, wanted, e->engine, NULL), "reorder");
    struct dnn_step *s = dnn_step(e, pd);
    dnnl_primitive_desc_destroy(pd);
    dnn_argument(s, DNNL_ARG_FROM, v->memory);
    dnn_argument(s, DNNL_ARG_TO, other.memory);
    *copy = other.place;
    return other.memory;
}

static void dnn_used(struct dnn *e, uint32_t operand, int copy) {
    struct dnn_value *v = &e->values[operand];
    if (copy >= 0) e->places[copy].taken = false;
    if (--v->uses == 0) e->places[v->place].taken = false;
}

static dnnl_memory_desc_t dnn_desc(int rank, const dnnl_dim_t *dims, dnnl_data_type_t type, dnnl_format_tag_t format) {
    dnnl_memory_desc_t desc;
    dnn_must(dnnl_memory_desc_init_by_tag(&desc, rank, dims, type, format), "description");
    return desc;
}

/** Per-channel scales at the output, a zero point at both ends; or RELU6 of floats. */
static dnnl_primitive_attr_t dnn_attributes(bool quant, bool relu6, bool zero_points, int channels) {
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t ops;
    dnn_must(dnnl_primitive_attr_create(&attr), "attributes");
    if (quant) {
        const int32_t zero_in = 128, zero_out = 121;
        float *scales = malloc((size_t)channels * sizeof *scales);
        rival_must(scales, "oneDNN", "memory", 0);
        for (int i = 0; i < channels; i++) scales[i] = 0.002f + 0.00001f * (float)i;
        dnn_must(dnnl_primitive_attr_set_output_scales(attr, zero_points ? channels : 1, zero_points ? 2 : 0, scales),
                 "scales");
        free(scales);
        if (!zero_points) return attr;
        dnn_must(dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_SRC, 1, 0, &zero_in), "zero point");
        dnn_must(dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_DST, 1, 0, &zero_out), "zero point");
    } else if (relu6) { /* quantised results are clamped by their type */
        dnn_must(dnnl_post_ops_create(&ops), "post-op");
        dnn_must(dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_clip, 0, 6), "post-op");
        dnn_must(dnnl_primitive_attr_set_post_ops(attr, ops), "post-op");
        dnnl_post_ops_destroy(ops);
    }
    return attr;
}

/** A primitive with weights and bias of its own. */
static void dnn_layer(struct dnn *e, const struct nnv_operation *o, const void *desc, dnnl_primitive_attr_t attr) {
    dnnl_primitive_desc_t pd;
    int copy;
    dnn_must(dnnl_primitive_desc_create(&pd, desc, attr, e->engine, NULL), "primitive");
    const dnnl_memory_t x = dnn_input(e, o->in[0], dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0), &copy);
    struct dnn_step *s = dnn_step(e, pd);
    dnn_make(e, &e->values[o->out[0]], dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0));
    dnn_argument(s, DNNL_ARG_SRC, x);
    dnn_argument(s, DNNL_ARG_WEIGHTS, dnn_memory(e, dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0), NULL));
    dnn_argument(s, DNNL_ARG_BIAS, dnn_memory(e, dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 1), NULL));
    dnn_argument(s, DNNL_ARG_DST, e->values[o->out[0]].memory);
    dnn_used(e, o->in[0], copy);
    dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_attr_destroy(attr);
}

static bool dnn_quant(const struct nnv_operand *x) { return x->type != ANEURALNETWORKS_TENSOR_FLOAT32; }

static void dnn_convolution(struct dnn *e, const struct nnv_operation *o) {
    const struct nnv_operand *x = rival_in(e->m, o, 0), *w = rival_in(e->m, o, 1), *y = &e->m->main.operands[o->out[0]];
    const bool quant = dnn_quant(x), deep = o->type == ANEURALNETWORKS_CONV_2D;
    const dnnl_dims_t src = {x->dims[0], x->dims[3], x->dims[1], x->dims[2]};
    const dnnl_dims_t dst = {y->dims[0], y->dims[3], y->dims[1], y->dims[2]}, bias = {y->dims[3]};
    const dnnl_dims_t dense = {w->dims[0], w->dims[3], w->dims[1], w->dims[2]};
    const dnnl_dims_t grouped = {w->dims[3], 1, 1, w->dims[1], w->dims[2]};
    dnnl_dims_t stride = {0}, left = {0}, right = {0};
    for (int i = 0; i < 2; i++) {
        uint32_t s, before, after;
        rival_same(x->dims[i + 1], y->dims[i + 1], w->dims[i + 1], &s, &before, &after);
        stride[i] = s;
        left[i] = before;
        right[i] = after;
    }
    const dnnl_data_type_t value = quant ? dnnl_u8 : dnnl_f32;
    const dnnl_memory_desc_t ds = dnn_desc(4, src, value, dnnl_format_tag_any),
                             dd = dnn_desc(4, dst, value, dnnl_format_tag_any),
                             db = dnn_desc(1, bias, quant ? dnnl_s32 : dnnl_f32, dnnl_a),
                             dw = dnn_desc(deep ? 4 : 5, deep ? dense : grouped, quant ? dnnl_s8 : dnnl_f32,
                                           dnnl_format_tag_any);
    dnnl_convolution_desc_t desc;
    dnn_must(dnnl_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_direct, &ds, &dw, &db,
                                                &dd, stride, left, right),
             "convolution");
    dnn_layer(e, o, &desc,
              dnn_attributes(quant, rival_activation(e->m, o) == ANEURALNETWORKS_FUSED_RELU6, true, (int)y->dims[3]));
}

static void dnn_product(struct dnn *e, const struct nnv_operation *o) {
    const struct nnv_operand *x = rival_in(e->m, o, 0), *w = rival_in(e->m, o, 1);
    const bool quant = dnn_quant(x);
    const int rank = x->rank == 4 ? 4 : 2;
    const dnnl_dims_t src = {1, w->dims[1], 1, 1}, weights = {w->dims[0], w->dims[1], 1, 1}, dst = {1, w->dims[0]},
                      bias = {w->dims[0]};
    const dnnl_data_type_t value = quant ? dnnl_u8 : dnnl_f32;
    const dnnl_memory_desc_t ds = dnn_desc(rank, src, value, dnnl_format_tag_any),
                             dd = dnn_desc(2, dst, value, dnnl_format_tag_any),
                             db = dnn_desc(1, bias, quant ? dnnl_s32 : dnnl_f32, dnnl_a),
                             dw = dnn_desc(rank, weights, quant ? dnnl_s8 : dnnl_f32, dnnl_format_tag_any);
    dnnl_inner_product_desc_t desc;
    dnn_must(dnnl_inner_product_forward_desc_init(&desc, dnnl_forward_inference, &ds, &dw, &db, &dd), "inner product");
    dnn_layer(e, o, &desc, dnn_attributes(quant, false, false, 1));
}

static void dnn_add(struct dnn *e, const struct nnv_operation *o) {
    struct dnn_value *a = &e->values[o->in[0]], *y = &e->values[o->out[0]];
    const bool quant = dnn_quant(rival_in(e->m, o, 0));
    const float scale[] = {0.75f, 0.8f};
    dnnl_binary_desc_t desc;
    dnnl_primitive_desc_t pd;
    dnnl_primitive_attr_t attr;
    int copy;
    dnn_must(dnnl_primitive_attr_create(&attr), "attributes");
    for (int i = 0; quant && i < 2; i++)
        dnn_must(dnnl_primitive_attr_set_scales(attr, i ? DNNL_ARG_SRC_1 : DNNL_ARG_SRC_0, 1, 0, &scale[i]), "scales");
    const dnnl_memory_t b = dnn_input(e, o->in[1], &a->desc, &copy);
    dnn_must(dnnl_binary_desc_init(&desc, dnnl_binary_add, &a->desc, &a->desc, &a->desc), "addition");
    dnn_must(dnnl_primitive_desc_create(&pd, &desc, attr, e->engine, NULL), "addition");
    struct dnn_step *s = dnn_step(e, pd);
    dnn_make(e, y, &a->desc);
    dnn_argument(s, DNNL_ARG_SRC_0, a->memory);
    dnn_argument(s, DNNL_ARG_SRC_1, b);
    dnn_argument(s, DNNL_ARG_DST, y->memory);
    dnn_used(e, o->in[0], -1);
    dnn_used(e, o->in[1], copy);
    dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_attr_destroy(attr);
}

/** The mean of the whole image. */
static void dnn_mean(struct dnn *e, const struct nnv_operation *o) {
    const struct nnv_operand *x = rival_in(e->m, o, 0), *y = &e->m->main.operands[o->out[0]];
    struct dnn_value *v = &e->values[o->in[0]];
    const dnnl_dims_t dst = {y->dims[0], y->dims[3], y->dims[1], y->dims[2]};
    const dnnl_dims_t window = {x->dims[1], x->dims[2]}, stride = {1, 1}, none = {0, 0};
    const dnnl_memory_desc_t dd = dnn_desc(4, dst, dnn_quant(x) ? dnnl_u8 : dnnl_f32, dnnl_format_tag_any);
    dnnl_pooling_desc_t desc;
    dnnl_primitive_desc_t pd;
    dnn_must(dnnl_pooling_forward_desc_init(&desc, dnnl_forward_inference, dnnl_pooling_avg_exclude_padding, &v->desc,
                                            &dd, stride, window, none, none),
             "pooling");
    dnn_must(dnnl_primitive_desc_create(&pd, &desc, NULL, e->engine, NULL), "pooling");
    struct dnn_step *s = dnn_step(e, pd);
    dnn_make(e, &e->values[o->out[0]], dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0));
    dnn_argument(s, DNNL_ARG_SRC, v->memory);
    dnn_argument(s, DNNL_ARG_DST, e->values[o->out[0]].memory);
    dnn_used(e, o->in[0], -1);
    dnnl_primitive_desc_destroy(pd);
}

static void dnn_softmax(struct dnn *e, const struct nnv_operation *o) {
    struct dnn_value *v = &e->values[o->in[0]];
    dnnl_softmax_desc_t desc;
    dnnl_primitive_desc_t pd;
    if (dnn_quant(rival_in(e->m, o, 0))) return;
    dnn_must(dnnl_softmax_forward_desc_init(&desc, dnnl_forward_inference, &v->desc, 1), "softmax");
    dnn_must(dnnl_primitive_desc_create(&pd, &desc, NULL, e->engine, NULL), "softmax");
    struct dnn_step *s = dnn_step(e, pd);
    dnn_make(e, &e->values[o->out[0]], &v->desc);
    dnn_argument(s, DNNL_ARG_SRC, v->memory);
    dnn_argument(s, DNNL_ARG_DST, e->values[o->out[0]].memory);
    dnnl_primitive_desc_destroy(pd);
}

static void *dnn_open(const struct rival *r, const struct nnv_model *m) {
    struct dnn *e = calloc(1, sizeof *e);
    struct dnn_value *values = calloc(m->main.noperands, sizeof *values);
    rival_must(e && values, "oneDNN", "memory", 0);
    e->m = m;
    e->values = values;
    e->threads = r->threads;
    omp_set_num_threads(e->threads);
    for (uint32_t i = 0; i < m->main.noperations; i++)
        for (uint32_t k = 0; k < m->main.operations[i].nin; k++) values[m->main.operations[i].in[k]].uses++;
    for (uint32_t i = 0; i < m->main.nout; i++) values[m->main.out[i]].uses++;
    dnn_must(dnnl_engine_create(&e->engine, dnnl_cpu, 0), "engine");
    dnn_must(dnnl_stream_create(&e->stream, e->engine, dnnl_stream_default_flags), "stream");
    for (uint32_t i = 0; i < m->main.noperations; i++) {
        const struct nnv_operation *o = &m->main.operations[i];
        switch (o->type) {
        case ANEURALNETWORKS_CONV_2D:
        case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
            dnn_convolution(e, o);
            break;
        case ANEURALNETWORKS_FULLY_CONNECTED:
            dnn_product(e, o);
            break;
        case ANEURALNETWORKS_ADD:
            dnn_add(e, o);
            break;
        case ANEURALNETWORKS_AVERAGE_POOL_2D:
            dnn_mean(e, o);
            break;
        default:
            dnn_softmax(e, o);
        }
    }
    return e;
}

static void dnn_run(void *state) {
    struct dnn *e = state;
    omp_set_num_threads(e->threads);
    for (int i = 0; i < e->count; i++)
        dnn_must(dnnl_primitive_execute(e->steps[i].primitive, e->stream, e->steps[i].count, e->steps[i].args),
                 "execute");
    dnn_must(dnnl_stream_wait(e->stream), "wait");
}

static void dnn_close(void *state) {
    struct dnn *e = state;
    for (int i = 0; i < e->count; i++) dnnl_primitive_destroy(e->steps[i].primitive);
    for (int i = 0; i < e->n_memories; i++) dnnl_memory_destroy(e->memories[i]);
    for (int i = 0; i < DNN_PLACES; i++) free(e->places[i].data);
    dnnl_stream_destroy(e->stream);
    dnnl_engine_destroy(e->engine);
    free(e->values);
    free(e);
}

static bool rival_onednn(struct rival *r) {
    *r = (struct rival){.name = "oneDNN", .open = dnn_open, .run = dnn_run, .close = dnn_close};
    return true;
}

#else

static bool rival_onednn(struct rival *r) {
    (void)r;
    return false;
}

#endif

#endif
