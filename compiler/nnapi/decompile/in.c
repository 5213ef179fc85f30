/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of the decompiler ask of an operation's operands, and the Relay calls that they make. */
#include "compiler/nnapi/decompile/in.h"

#include <string.h>

/* ------------------------------------------------------------------- operands */

static const struct nnv_operand *at(const struct nnv_decompiler *l, uint32_t operand) {
    return &l->s->operands[operand];
}

bool nnv_decompile_has(const struct nnv_decompiler *l, uint32_t i) {
    return i < l->op->nin && at(l, l->op->in[i])->lifetime != NNV_NO_VALUE;
}

const struct nnv_operand *nnv_decompile_operand(const struct nnv_decompiler *l, uint32_t i) {
    return at(l, l->op->in[i]);
}

const struct nnv_shape *nnv_decompile_shape(const struct nnv_decompiler *l, uint32_t i) {
    return &l->shapes[l->op->in[i]];
}

const struct nnv_operand *nnv_decompile_out(const struct nnv_decompiler *l, uint32_t i) { return at(l, l->op->out[i]); }

const struct nnv_shape *nnv_decompile_out_shape(const struct nnv_decompiler *l, uint32_t i) {
    return &l->shapes[l->op->out[i]];
}

/* The element type; false: Relay has none for it. */
static bool dtype_of(const struct nnv_operand *o, enum nnv_relay_dtype *dtype) {
    switch (o->type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        *dtype = NNV_RELAY_FLOAT32;
        return true;
    case ANEURALNETWORKS_FLOAT16:
    case ANEURALNETWORKS_TENSOR_FLOAT16:
        *dtype = NNV_RELAY_FLOAT16;
        return true;
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_TENSOR_INT32:
        *dtype = NNV_RELAY_INT32;
        return true;
    case ANEURALNETWORKS_BOOL:
    case ANEURALNETWORKS_TENSOR_BOOL8:
        *dtype = NNV_RELAY_BOOL;
        return true;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        *dtype = NNV_RELAY_UINT8;
        return true;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL:
        *dtype = NNV_RELAY_INT8;
        return true;
    default:
        return false;
    }
}

const struct nnv_relay_type *nnv_decompile_type(struct nnv_decompiler *l, uint32_t operand) {
    const struct nnv_shape *shape = &l->shapes[operand];
    enum nnv_relay_dtype dtype;
    int64_t dims[NNV_MAX_RANK];
    if (!dtype_of(at(l, operand), &dtype) || !nnv_shape_known(shape)) {
        l->refused = true;
        return NULL;
    }
    for (uint32_t i = 0; i < shape->rank; i++) dims[i] = shape->dims[i];
    const struct nnv_relay_type *type = nnv_relay_tensor_type(l->arena, dtype, shape->rank, dims);
    if (!type) l->failed = true;
    return type;
}

static struct nnv_relay_expr *constant_of(struct nnv_decompiler *l, const struct nnv_relay_type *type, const void *data,
                                          size_t bytes) {
    struct nnv_relay_tensor *t = NNV_NEW(l->arena, struct nnv_relay_tensor, 1);
    if (t && type) *t = (struct nnv_relay_tensor){type, data, bytes};
    struct nnv_relay_expr *e = t && type ? nnv_relay_constant(l->m, t) : NULL;
    if (!e && !l->refused) l->failed = true;
    return e;
}

struct nnv_relay_expr *nnv_decompile_in(struct nnv_decompiler *l, uint32_t i) {
    if (!nnv_decompile_has(l, i)) {
        l->refused = true;
        return NULL;
    }
    uint32_t operand = l->op->in[i];
    const struct nnv_operand *o = at(l, operand);
    if (!l->values[operand] && nnv_is_constant(o))
        l->values[operand] = constant_of(l, nnv_decompile_type(l, operand), o->data, o->bytes);
    if (!l->values[operand]) l->refused = true;
    return l->values[operand];
}

static struct nnv_relay_expr *scalar(struct nnv_decompiler *l, enum nnv_relay_dtype dtype, const void *data) {
    size_t size = nnv_relay_dtype_size(dtype);
    void *kept = nnv_arena_copy(l->arena, data, size);
    const struct nnv_relay_type *type = nnv_relay_tensor_type(l->arena, dtype, 0, NULL);
    if (kept && type) return constant_of(l, type, kept, size);
    l->failed = true;
    return NULL;
}

struct nnv_relay_expr *nnv_decompile_constant(struct nnv_decompiler *l, enum nnv_relay_dtype dtype, double v) {
    static const int32_t types[NNV_RELAY_DTYPES] = {
        [NNV_RELAY_INT8] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED,
        [NNV_RELAY_UINT8] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
        [NNV_RELAY_INT32] = ANEURALNETWORKS_INT32,
        [NNV_RELAY_FLOAT16] = ANEURALNETWORKS_FLOAT16,
        [NNV_RELAY_FLOAT32] = ANEURALNETWORKS_FLOAT32,
    };
    unsigned char data[8];
    nnv_store(types[dtype], &v, 1, data);
    return scalar(l, dtype, data);
}

struct nnv_relay_expr *nnv_decompile_floats(struct nnv_decompiler *l, size_t n, const float *v) {
    const int64_t dims[] = {(int64_t)n};
    void *kept = nnv_arena_copy(l->arena, v, n * sizeof *v);
    const struct nnv_relay_type *type = nnv_relay_tensor_type(l->arena, NNV_RELAY_FLOAT32, 1, dims);
    if (kept && type) return constant_of(l, type, kept, n * sizeof *v);
    l->failed = true;
    return NULL;
}

struct nnv_relay_expr *nnv_decompile_real(struct nnv_decompiler *l, uint32_t i) {
    struct nnv_relay_expr *e = nnv_decompile_in(l, i);
    const struct nnv_operand *o = e ? nnv_decompile_operand(l, i) : NULL;
    if (!o || !nnv_is_quant(o->type)) return e;
    struct nnv_relay_expr *scale = nnv_decompile_constant(l, NNV_RELAY_FLOAT32, (double)o->scale);
    int64_t axis = -1;
    if (o->channel.count) {
        scale = nnv_decompile_floats(l, o->channel.count, o->channel.scales);
        axis = o->channel.dim;
    }
    return nnv_decompile_call(l, "qnn.dequantize",
                              NNV_DECOMPILE_ARGS(e, scale, nnv_decompile_constant(l, NNV_RELAY_INT32, o->zero_point)),
                              NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", axis)));
}

void nnv_decompile_put(struct nnv_decompiler *l, uint32_t i, struct nnv_relay_expr *e) { l->values[l->op->out[i]] = e; }

void nnv_decompile_put_real(struct nnv_decompiler *l, uint32_t i, struct nnv_relay_expr *e) {
    const struct nnv_operand *o = nnv_decompile_out(l, i);
    enum nnv_relay_dtype dtype = NNV_RELAY_FLOAT32;
    if (e && nnv_is_quant(o->type) && dtype_of(o, &dtype))
        e = nnv_decompile_call(l, "qnn.quantize",
                               NNV_DECOMPILE_ARGS(e, nnv_decompile_constant(l, NNV_RELAY_FLOAT32, (double)o->scale),
                                                  nnv_decompile_constant(l, NNV_RELAY_INT32, o->zero_point)),
                               NNV_DECOMPILE_ATTRS(nnv_decompile_text("out_dtype", nnv_relay_dtype_name(dtype))));
    nnv_decompile_put(l, i, e);
}

struct nnv_relay_expr *nnv_decompile_clip(struct nnv_decompiler *l, struct nnv_relay_expr *e, double low, double high) {
    return nnv_decompile_call(
        l, "clip", NNV_DECOMPILE_ARGS(e),
        NNV_DECOMPILE_ATTRS(nnv_decompile_float("a_min", low), nnv_decompile_float("a_max", high)));
}

void nnv_decompile_put_fused(struct nnv_decompiler *l, uint32_t i, struct nnv_relay_expr *e) {
    switch ((int)nnv_decompile_number(l, i, 0)) {
    case ANEURALNETWORKS_FUSED_NONE:
        break;
    case ANEURALNETWORKS_FUSED_RELU:
        e = nnv_decompile_call(l, "nn.relu", NNV_DECOMPILE_ARGS(e), 0, NULL);
        break;
    case ANEURALNETWORKS_FUSED_RELU1:
        e = nnv_decompile_clip(l, e, -1, 1);
        break;
    default:
        e = nnv_decompile_clip(l, e, 0, 6);
        break;
    }
    nnv_decompile_put_real(l, 0, e);
}

double nnv_decompile_number(struct nnv_decompiler *l, uint32_t i, double otherwise) {
    double v = otherwise;
    if (!nnv_decompile_has(l, i)) return v;
    const struct nnv_operand *o = nnv_decompile_operand(l, i);
    if (nnv_is_constant(o) && o->bytes >= nnv_type(o->type)->size)
        nnv_load(o->type, o->data, 1, &v);
    else
        l->refused = true;
    return v;
}

int64_t nnv_decompile_whole(struct nnv_decompiler *l, uint32_t i, int64_t otherwise) {
    return (int64_t)nnv_decompile_number(l, i, (double)otherwise);
}

size_t nnv_decompile_ints(struct nnv_decompiler *l, uint32_t i, int64_t *to) {
    const struct nnv_operand *o = nnv_decompile_has(l, i) ? nnv_decompile_operand(l, i) : NULL;
    size_t n = o ? o->bytes / sizeof(int32_t) : 0;
    if (!o || !nnv_is_constant(o) || n > NNV_MAX_RANK * 2) {
        l->refused = true;
        return 0;
    }
    for (size_t k = 0; k < n; k++) {
        int32_t v;
        memcpy(&v, (const char *)o->data + k * sizeof v, sizeof v);
        to[k] = v;
    }
    return n;
}

/* ------------------------------------------------------------------ attributes */

struct nnv_relay_attr nnv_decompile_int(const char *key, int64_t v) {
    return (struct nnv_relay_attr){key, {.kind = NNV_RELAY_INT, .i = v}};
}

struct nnv_relay_attr nnv_decompile_truth(const char *key, bool v) {
    return (struct nnv_relay_attr){key, {.kind = NNV_RELAY_TRUTH, .i = v}};
}

struct nnv_relay_attr nnv_decompile_float(const char *key, double v) {
    return (struct nnv_relay_attr){key, {.kind = NNV_RELAY_FLOAT, .f = v}};
}

struct nnv_relay_attr nnv_decompile_text(const char *key, const char *v) {
    return (struct nnv_relay_attr){key, {.kind = NNV_RELAY_STRING, .text = v}};
}

struct nnv_relay_attr nnv_decompile_list(struct nnv_decompiler *l, const char *key, size_t n, const int64_t *v) {
    struct nnv_relay_value *list = NNV_NEW(l->arena, struct nnv_relay_value, n);
    if (!list) l->failed = true;
    for (size_t i = 0; list && i < n; i++) list[i] = (struct nnv_relay_value){.kind = NNV_RELAY_INT, .i = v[i]};
    return (struct nnv_relay_attr){key, {.kind = NNV_RELAY_LIST, .n = list ? n : 0, .list = list}};
}

struct nnv_relay_attr nnv_decompile_pairs(struct nnv_decompiler *l, const char *key, size_t n, const int64_t *v) {
    struct nnv_relay_value *list = NNV_NEW(l->arena, struct nnv_relay_value, n);
    if (!list) l->failed = true;
    for (size_t i = 0; list && i < n; i++) list[i] = nnv_decompile_list(l, "", 2, v + i * 2).value;
    return (struct nnv_relay_attr){key, {.kind = NNV_RELAY_LIST, .n = list ? n : 0, .list = list}};
}

struct nnv_relay_expr *nnv_decompile_call(struct nnv_decompiler *l, const char *name, size_t n,
                                          struct nnv_relay_expr *const *args, size_t n_attrs,
                                          const struct nnv_relay_attr *attrs) {
    if (l->failed || l->refused) return NULL;
    struct nnv_relay_expr *e = nnv_relay_call(l->m, nnv_relay_operator(l->m, name), n, args, n_attrs, attrs);
    if (!e) l->failed = true;
    return e;
}
