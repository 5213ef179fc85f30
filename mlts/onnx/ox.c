/* SPDX-License-Identifier: Apache-2.0 */
/* Values and attributes of the current node. */
#include "mlts/onnx/ox.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- values */

static const struct nnv_ox_value nothing = {.type = NNV_ONNX_FLOAT};

bool nnv_ox_has(const struct nnv_cv *c, uint32_t i) { return i < c->onnx->node->nin && c->onnx->node->in[i] >= 0; }

bool nnv_ox_wants(const struct nnv_cv *c, uint32_t k) { return k < c->onnx->node->nout && c->onnx->node->out[k] >= 0; }

/** Number of the value that input i is; -1 and an error if it is not there. */
static int32_t input(struct nnv_cv *c, uint32_t i) {
    if (!nnv_cv_ok(c)) return -1;
    if (nnv_ox_has(c, i)) return c->onnx->node->in[i];
    nnv_cv_fail(c, "input %u is missing", i);
    return -1;
}

const struct nnv_ox_value *nnv_ox_value(struct nnv_cv *c, uint32_t i) {
    const int32_t v = input(c, i);
    return v < 0 ? &nothing : &c->onnx->value[v];
}

size_t nnv_ox_elements(const struct nnv_ox_value *v) {
    size_t n = 1;
    for (uint32_t i = 0; i < v->rank; i++) n *= v->dims[i];
    return n;
}

bool nnv_ox_encode(struct nnv_cv *c, int type, struct nnv_encoding *e) {
    *e = (struct nnv_encoding){0};
    switch (type) {
    case NNV_ONNX_FLOAT:
        e->type = ANEURALNETWORKS_TENSOR_FLOAT32;
        return true;
    case NNV_ONNX_FLOAT16:
        e->type = ANEURALNETWORKS_TENSOR_FLOAT16;
        return true;
    case NNV_ONNX_BOOL:
        e->type = ANEURALNETWORKS_TENSOR_BOOL8;
        return true;
    case NNV_ONNX_UINT8:
        *e = (struct nnv_encoding){ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 1, 0};
        return true;
    case NNV_ONNX_INT8:
        *e = (struct nnv_encoding){ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 1, 0};
        return true;
    case NNV_ONNX_INT2:
    case NNV_ONNX_UINT2:
    case NNV_ONNX_INT4:
    case NNV_ONNX_UINT4:
    case NNV_ONNX_INT16:
    case NNV_ONNX_UINT16:
    case NNV_ONNX_INT32:
    case NNV_ONNX_UINT32:
    case NNV_ONNX_INT64:
    case NNV_ONNX_UINT64:
        e->type = ANEURALNETWORKS_TENSOR_INT32;
        return true;
    default:
        nnv_cv_refuse(c, " of %s", nnv_onnx_type_name(type));
        return false;
    }
}

/** The shape that a value's operand has. */
static uint32_t seen_as(const struct nnv_ox_value *v, uint32_t *dims) {
    if (v->rank <= 4) memcpy(dims, v->dims, v->rank * sizeof *dims);
    if (v->rank == 0 || v->rank > 4) dims[0] = (uint32_t)nnv_ox_elements(v);
    return v->rank == 0 || v->rank > 4 ? 1 : v->rank;
}

/** A tensor's numbers as an operand's type stores them; NULL with a refusal. */
static const void *stored(struct nnv_cv *c, const struct nnv_onnx_tensor *t, struct nnv_encoding e) {
    const size_t size = nnv_type(e.type)->size;
    uint8_t *to = nnv_cv_room(c, t->elems * size) ? nnv_arena_alloc(c->b.arena, t->elems, size) : NULL;
    if (!to) {
        c->b.failed = c->b.failed || nnv_cv_ok(c);
        return NULL;
    }
    if (e.type != ANEURALNETWORKS_TENSOR_INT32) return memcpy(to, t->data, t->elems * size);
    for (size_t i = 0; i < t->elems; i++) {
        const int64_t v = nnv_onnx_int(t, i);
        if (v < INT32_MIN || v > INT32_MAX) {
            nnv_cv_refuse(c, " of %s beyond 32 bits", nnv_onnx_type_name(t->type));
            return NULL;
        }
        memcpy(to + 4 * i, &(int32_t){(int32_t)v}, 4);
    }
    return to;
}

/** The operand of a constant or of an input of the graph. */
static uint32_t begin_value(struct nnv_cv *c, uint32_t v) {
    struct nnv_ox *x = c->onnx;
    const struct nnv_onnx_tensor *t = x->input[v] < 0 ? x->constant[v] : NULL;
    struct nnv_encoding e;
    uint32_t dims[NNV_OX_RANK];
    if (!nnv_ox_encode(c, x->value[v].type, &e)) return 0;
    if (nnv_is_quant(e.type) && x->encoding[v].scale > 0) e = x->encoding[v];
    if (t && t->external) nnv_cv_refuse(c, " of weights in another file");
    if (nnv_ox_elements(&x->value[v]) == 0) nnv_cv_refuse(c, " with a tensor of no elements");
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t rank = seen_as(&x->value[v], dims), operand = nnv_cv_temp(c, e, rank, dims);
    const void *data = t && t->data && nnv_cv_ok(c) ? stored(c, t, e) : NULL;
    if (!nnv_cv_ok(c)) return 0;
    if (data) {
        struct nnv_operand *o = &c->b.operand[operand];
        o->data = data;
        o->bytes = t->elems * nnv_type(e.type)->size;
        o->lifetime = NNV_CONSTANT_REFERENCE;
    }
    return c->operand[v] = operand;
}

uint32_t nnv_ox_in(struct nnv_cv *c, uint32_t i) {
    const int32_t v = input(c, i);
    if (v < 0) return 0;
    return c->operand[v] ? c->operand[v] : begin_value(c, (uint32_t)v);
}

uint32_t nnv_ox_in_shape(struct nnv_cv *c, uint32_t i, uint32_t rank, const uint32_t *dims) {
    const uint32_t x = nnv_ox_in(c, i);
    return nnv_cv_reshaped(c, x, rank, dims);
}

const struct nnv_onnx_tensor *nnv_ox_tensor(struct nnv_cv *c, uint32_t i) {
    const int32_t v = input(c, i);
    const struct nnv_onnx_tensor *t = v < 0 ? NULL : c->onnx->constant[v];
    return t && t->data ? t : NULL;
}

uint32_t nnv_ox_fixed(struct nnv_cv *c, uint32_t i, struct nnv_encoding e) {
    const struct nnv_onnx_tensor *t = nnv_ox_tensor(c, i);
    struct nnv_encoding own;
    uint32_t dims[NNV_OX_RANK];
    if (!nnv_cv_ok(c)) return 0;
    if (!t) nnv_cv_refuse(c, " with a computed input %u", i);
    if (!t || !nnv_ox_encode(c, t->type, &own)) return 0;
    if (nnv_type(own.type)->size != nnv_type(e.type)->size)
        nnv_cv_fail(c, "input %u is of %s", i, nnv_onnx_type_name(t->type));
    if (t->elems == 0) nnv_cv_refuse(c, " with a tensor of no elements");
    const uint32_t rank = seen_as(nnv_ox_value(c, i), dims);
    const void *data = nnv_cv_ok(c) ? stored(c, t, own) : NULL;
    return data ? nnv_builder_constant(&c->b, e, rank, dims, data) : 0;
}

const int64_t *nnv_ox_ints(struct nnv_cv *c, uint32_t i, uint32_t *count) {
    const struct nnv_onnx_tensor *t = nnv_ox_tensor(c, i);
    *count = 0;
    if (!nnv_cv_ok(c)) return NULL;
    if (!(NNV_OX_ANY >> nnv_ox_value(c, i)->type & 1) || NNV_OX_FLOAT >> nnv_ox_value(c, i)->type & 1) {
        nnv_cv_fail(c, "input %u is of %s, not of integers", i, nnv_onnx_type_name(nnv_ox_value(c, i)->type));
        return NULL;
    }
    const uint32_t x = t ? 0 : nnv_ox_in(c, i);
    if (!t && (!nnv_cv_is_const(c, x) || nnv_cv_at(c, x)->type != ANEURALNETWORKS_TENSOR_INT32))
        nnv_cv_refuse(c, " with a computed input %u", i);
    if (!nnv_cv_ok(c)) return NULL;
    const size_t n = t ? t->elems : nnv_cv_elements(c, x);
    int64_t *v = NNV_NEW(c->b.arena, int64_t, n);
    if (!v) c->b.failed = true;
    for (size_t k = 0; v && k < n; k++) {
        int32_t one;
        if (!t) memcpy(&one, (const char *)nnv_cv_at(c, x)->data + 4 * k, 4);
        v[k] = t ? nnv_onnx_int(t, k) : one;
    }
    *count = (uint32_t)n;
    return v;
}

const double *nnv_ox_numbers(struct nnv_cv *c, uint32_t i, uint32_t *count) {
    const struct nnv_onnx_tensor *t = nnv_ox_tensor(c, i);
    *count = 0;
    if (!nnv_cv_ok(c)) return NULL;
    const uint32_t x = t ? 0 : nnv_ox_in(c, i);
    if (!t && !nnv_cv_is_const(c, x)) nnv_cv_refuse(c, " with a computed input %u", i);
    if (!nnv_cv_ok(c)) return NULL;
    const size_t n = t ? t->elems : nnv_cv_elements(c, x);
    double *v = NNV_NEW(c->b.arena, double, n);
    if (!v) c->b.failed = true;
    for (size_t k = 0; v && t && k < n; k++) v[k] = nnv_onnx_number(t, k);
    if (v && !t) nnv_load(nnv_cv_at(c, x)->type, nnv_cv_at(c, x)->data, n, v);
    *count = (uint32_t)n;
    return v;
}

/* --------------------------------------------------------------------- results */

void nnv_ox_give(struct nnv_cv *c, uint32_t k, uint32_t operand, int type, uint32_t rank, const uint32_t *dims) {
    struct nnv_ox_value v = {.type = type, .rank = rank};
    uint32_t seen[NNV_OX_RANK];
    if (!nnv_cv_ok(c)) return;
    if (!nnv_ox_wants(c, k)) return;
    if (rank > NNV_OX_RANK) {
        nnv_cv_refuse(c, " of rank %u", rank);
        return;
    }
    for (uint32_t d = 0; d < rank; d++) v.dims[d] = dims[d];
    if (nnv_ox_elements(&v) != nnv_cv_elements(c, operand)) {
        nnv_cv_fail(c, "%zu numbers do not fit into %zu", nnv_cv_elements(c, operand), nnv_ox_elements(&v));
        return;
    }
    const uint32_t r = seen_as(&v, seen), y = nnv_cv_reshaped(c, operand, r, seen);
    c->onnx->value[c->onnx->node->out[k]] = v;
    c->operand[c->onnx->node->out[k]] = y;
}

void nnv_ox_give_like(struct nnv_cv *c, uint32_t k, uint32_t operand, uint32_t i) {
    const struct nnv_ox_value v = *nnv_ox_value(c, i);
    nnv_ox_give(c, k, operand, v.type, v.rank, v.dims);
}

void nnv_ox_give_ints(struct nnv_cv *c, uint32_t k, uint32_t rank, const uint32_t *dims, const int64_t *v) {
    struct nnv_ox_value shape = {.rank = rank};
    if (!nnv_cv_ok(c)) return;
    memcpy(shape.dims, dims, rank * sizeof *dims);
    const size_t n = nnv_ox_elements(&shape);
    int32_t *data = NNV_NEW(c->b.arena, int32_t, n);
    if (!data) c->b.failed = true;
    for (size_t i = 0; data && i < n; i++) data[i] = (int32_t)v[i];
    if (n == 0) nnv_cv_refuse(c, " with a tensor of no elements");
    const uint32_t count = (uint32_t)n, y = data ? nnv_cv_const(c, NNV_CV_I32, 1, &count, data) : 0;
    nnv_ox_give(c, k, y, NNV_ONNX_INT64, rank, dims);
}

void nnv_ox_around(const struct nnv_ox_value *v, uint32_t axis, uint32_t three[3]) {
    three[0] = three[2] = 1;
    for (uint32_t i = 0; i < v->rank; i++)
        if (i != axis) three[i < axis ? 0 : 2] *= v->dims[i];
    three[1] = axis < v->rank ? v->dims[axis] : 1;
}

/* ------------------------------------------------------------------ attributes */

const struct nnv_onnx_attribute *nnv_ox_attribute(struct nnv_cv *c, const char *name) {
    const struct nnv_onnx_node *node = c->onnx->node;
    for (uint32_t i = 0; i < node->nattributes && nnv_cv_ok(c); i++)
        if (strcmp(node->attributes[i].name, name) == 0) {
            c->onnx->seen[i] = true;
            return &node->attributes[i];
        }
    return NULL;
}

/** An attribute of this type; NULL if it is absent, or (with an error) of another. */
static const struct nnv_onnx_attribute *typed(struct nnv_cv *c, const char *name, enum nnv_onnx_attribute_type type) {
    const struct nnv_onnx_attribute *a = nnv_ox_attribute(c, name);
    if (a && a->type != type) nnv_cv_fail(c, "attribute %s is of another type", name);
    return nnv_cv_ok(c) ? a : NULL;
}

int64_t nnv_ox_int(struct nnv_cv *c, const char *name, int64_t absent) {
    const struct nnv_onnx_attribute *a = typed(c, name, NNV_ONNX_A_INT);
    return a ? a->i : absent;
}

bool nnv_ox_flag(struct nnv_cv *c, const char *name, bool absent) { return nnv_ox_int(c, name, absent) != 0; }

double nnv_ox_float(struct nnv_cv *c, const char *name, double absent) {
    const struct nnv_onnx_attribute *a = typed(c, name, NNV_ONNX_A_FLOAT);
    if (a && !isfinite(a->f)) nnv_cv_fail(c, "attribute %s is not a finite number", name);
    return a ? (double)a->f : absent;
}

const char *nnv_ox_string(struct nnv_cv *c, const char *name, const char *absent) {
    const struct nnv_onnx_attribute *a = typed(c, name, NNV_ONNX_A_STRING);
    return a ? a->s : absent;
}

const int64_t *nnv_ox_list(struct nnv_cv *c, const char *name, uint32_t *count) {
    const struct nnv_onnx_attribute *a = typed(c, name, NNV_ONNX_A_INTS);
    *count = a ? a->count : 0;
    return a ? a->ints : NULL;
}

uint32_t nnv_ox_axis(struct nnv_cv *c, const char *name, int64_t absent, uint32_t rank) {
    return nnv_cv_axis(c, nnv_ox_int(c, name, absent), rank);
}
