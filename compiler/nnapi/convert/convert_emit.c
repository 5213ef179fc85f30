/* SPDX-License-Identifier: Apache-2.0 */
/* Operands, and operations that are checked as they are emitted. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/nnapi/convert/convert_in.h"
#include "reference/model/validate.h"

enum { COPIED = 128 }; /* bytes of the largest constant that NNAPI copies */

/* ------------------------------------------------------------------ operands */

struct nnv_rc_shape nnv_rc_operand_shape(const struct nnv_rc *c, uint32_t operand) {
    struct nnv_rc_shape s = {0};
    if (operand >= c->b.noperands) return s;
    const struct nnv_operand *o = &c->b.operand[operand];
    s.rank = o->rank;
    memcpy(s.dims, o->dims, o->rank * sizeof *o->dims);
    return s;
}

struct nnv_encoding nnv_rc_operand_encoding(const struct nnv_rc *c, uint32_t operand) {
    if (operand >= c->b.noperands) return NNV_RC_F32_TENSOR;
    const struct nnv_operand *o = &c->b.operand[operand];
    return (struct nnv_encoding){o->type, o->scale, o->zero_point};
}

uint32_t nnv_rc_temp(struct nnv_rc *c, struct nnv_encoding e, const struct nnv_rc_shape *shape) {
    if (!nnv_rc_ok(c)) return 0;
    uint32_t operand = nnv_builder_tensor(&c->b, e, shape->rank, shape->dims, NNV_TEMPORARY_VARIABLE);
    if (c->b.failed) nnv_rc_no_memory(c);
    return operand;
}

/* A constant whose bytes are the arena's already. */
static uint32_t add_const(struct nnv_rc *c, struct nnv_encoding e, const struct nnv_rc_shape *shape, const void *data,
                          size_t bytes) {
    uint32_t operand = nnv_rc_temp(c, e, shape);
    if (!nnv_rc_ok(c)) return 0;
    struct nnv_operand *o = &c->b.operand[operand];
    o->lifetime = bytes <= COPIED ? NNV_CONSTANT_COPY : NNV_CONSTANT_REFERENCE;
    o->data = data;
    o->bytes = bytes;
    return operand;
}

uint32_t nnv_rc_const(struct nnv_rc *c, struct nnv_encoding e, const struct nnv_rc_shape *shape, const double *v) {
    size_t n = nnv_rc_elems(shape), size = nnv_type(e.type)->size;
    if (!nnv_rc_ok(c)) return 0;
    void *data = nnv_arena_alloc(c->arena, n, size);
    if (!data) {
        nnv_rc_no_memory(c);
        return 0;
    }
    nnv_store(e.type, v, n, data);
    return add_const(c, e, shape, data, n * size);
}

uint32_t nnv_rc_filled(struct nnv_rc *c, struct nnv_encoding e, const struct nnv_rc_shape *shape, double v) {
    size_t n = nnv_rc_elems(shape), size = nnv_type(e.type)->size;
    if (!nnv_rc_ok(c)) return 0;
    char *data = nnv_arena_alloc(c->arena, n, size);
    if (!data) {
        nnv_rc_no_memory(c);
        return 0;
    }
    for (size_t i = 0; i < n; i++) nnv_store(e.type, &v, 1, data + i * size);
    return add_const(c, e, shape, data, n * size);
}

uint32_t nnv_rc_one(struct nnv_rc *c, struct nnv_encoding e, double v) {
    return nnv_rc_const(c, e, &(struct nnv_rc_shape){1, {1}}, &v);
}

static uint32_t scalar(struct nnv_rc *c, int32_t type, double v) {
    const struct nnv_rc_shape none = {0};
    return nnv_rc_const(c, (struct nnv_encoding){type, 0, 0}, &none, &v);
}

uint32_t nnv_rc_int(struct nnv_rc *c, int64_t v) {
    if (v < INT32_MIN || v > INT32_MAX) nnv_rc_refuse(c, "%" PRId64 " does not fit in 32 bits", v);
    return scalar(c, ANEURALNETWORKS_INT32, (double)v);
}

uint32_t nnv_rc_bool(struct nnv_rc *c, bool v) { return scalar(c, ANEURALNETWORKS_BOOL, v); }

uint32_t nnv_rc_float(struct nnv_rc *c, struct nnv_encoding beside, double v) {
    bool half = beside.type == ANEURALNETWORKS_TENSOR_FLOAT16;
    return scalar(c, half ? ANEURALNETWORKS_FLOAT16 : ANEURALNETWORKS_FLOAT32, v);
}

uint32_t nnv_rc_ints(struct nnv_rc *c, size_t n, const int64_t *v) {
    double numbers[NNV_RELAY_RANK * 2];
    if (n > NNV_RELAY_RANK * 2) {
        nnv_rc_refuse(c, "a list of %zu integers", n);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (v[i] < INT32_MIN || v[i] > INT32_MAX) nnv_rc_refuse(c, "%" PRId64 " does not fit in 32 bits", v[i]);
        numbers[i] = (double)v[i];
    }
    return nnv_rc_const(c, NNV_RC_I32_TENSOR, &(struct nnv_rc_shape){1, {(uint32_t)n}}, numbers);
}

/* A constant of the program. */
static uint32_t made_of(struct nnv_rc *c, uint32_t value) {
    struct nnv_encoding e = nnv_rc_encoding(c, value);
    struct nnv_rc_shape shape = nnv_rc_shape(c, value);
    const struct nnv_relay_tensor *t = c->values[value].tensor;
    if (!nnv_rc_ok(c)) return 0;
    if (!t->data) {
        nnv_rc_refuse(c, "a constant whose values are not known; give the program its metadata");
        return 0;
    }
    if (t->type->dtype != NNV_RELAY_INT64) return add_const(c, e, &shape, t->data, t->bytes);
    const double *v = nnv_rc_numbers(c, value, "a constant");
    for (size_t i = 0; v && i < nnv_rc_elems(&shape); i++)
        if (v[i] < INT32_MIN || v[i] > INT32_MAX) nnv_rc_refuse(c, "an int64 constant of %.17g: NNAPI has int32", v[i]);
    return nnv_rc_const(c, e, &shape, v);
}

uint32_t nnv_rc_use(struct nnv_rc *c, uint32_t value) {
    if (!nnv_rc_ok(c)) return 0;
    struct nnv_rc_value *v = &c->values[value];
    if (v->operand == NNV_RC_NONE && v->tensor) v->operand = made_of(c, value);
    if (v->operand == NNV_RC_NONE) {
        nnv_rc_refuse(c, "an operand that was not converted");
        c->st = NNV_INTERNAL;
        return 0;
    }
    return v->operand;
}

uint32_t nnv_rc_in(struct nnv_rc *c, size_t i) { return nnv_rc_use(c, nnv_rc_arg(c, i)); }

uint32_t nnv_rc_result(struct nnv_rc *c, size_t i) {
    uint32_t value = nnv_rc_out(c, i);
    if (!nnv_rc_ok(c)) return 0;
    if (c->values[value].operand == NNV_RC_NONE) {
        struct nnv_rc_shape shape = nnv_rc_shape(c, value);
        uint32_t operand = nnv_rc_temp(c, nnv_rc_encoding(c, value), &shape);
        if (nnv_rc_ok(c)) c->values[value].operand = operand;
    }
    return nnv_rc_ok(c) ? c->values[value].operand : 0;
}

void nnv_rc_is(struct nnv_rc *c, size_t i, uint32_t operand) {
    if (nnv_rc_ok(c)) c->values[nnv_rc_out(c, i)].operand = operand;
}

/* ------------------------------------------------------------------ emission */

/** An operation by itself: operand i is input i, then come the outputs. */
struct alone {
    struct nnv_subgraph s;
    struct nnv_operation op;
    struct nnv_shape *shapes;
    const void **data;
};

static bool isolate(struct nnv_rc *c, const struct nnv_operation *op, struct alone *a) {
    uint32_t n = op->nin + op->nout;
    struct nnv_operand *o = NNV_NEW(c->scratch, struct nnv_operand, n);
    uint32_t *index = NNV_NEW(c->scratch, uint32_t, n);
    a->shapes = NNV_NEW(c->scratch, struct nnv_shape, n);
    a->data = NNV_NEW(c->scratch, const void *, n);
    if (!o || !index || !a->shapes || !a->data) return false;
    a->op = (struct nnv_operation){op->type, op->nin, op->nout, index, index + op->nin};
    a->s = (struct nnv_subgraph){.noperands = n, .noperations = 1, .operands = o, .operations = &a->op};
    for (uint32_t i = 0; i < n; i++) {
        index[i] = i;
        o[i] = c->b.operand[i < op->nin ? op->in[i] : op->out[i - op->nin]];
        a->shapes[i] = nnv_operand_shape(&o[i]);
        a->data[i] = nnv_is_constant(&o[i]) ? o[i].data : NULL;
    }
    return true;
}

/* True (an internal error) if the record refuses nothing but the shapes that the program has for the results. */
static bool shapes_differ(struct nnv_rc *c, struct alone *a, const char *name) {
    struct nnv_call *call = NULL;
    char is[160], wanted[160];
    int level;
    for (uint32_t i = a->op.nin; i < a->s.noperands; i++) a->shapes[i] = (struct nnv_shape){0};
    if (nnv_bind(&a->s, &a->op, a->shapes, a->data, NULL, c->scratch, &call, &level, NULL) != NNV_OK) return false;
    struct nnv_shape declared = nnv_operand_shape(&a->s.operands[a->op.nin]);
    nnv_rc_refuse(c, "internal error: %s gives %s where the program has %s", name,
                  nnv_shape_text(&call->out[0].shape, is, sizeof is), nnv_shape_text(&declared, wanted, sizeof wanted));
    c->st = NNV_INTERNAL;
    return true;
}

static void check(struct nnv_rc *c, const struct nnv_operation *op) {
    const char *name = nnv_op(op->type)->name;
    struct alone a;
    struct nnv_call *call = NULL;
    struct nnv_err err = {0};
    int level = NNV_LEVEL_MIN, needs = 0;
    nnv_arena_reset(c->scratch);
    if (!isolate(c, op, &a)) {
        nnv_rc_no_memory(c);
        return;
    }
    enum nnv_status st = NNV_OK;
    for (uint32_t i = 0; i < a.s.noperands && !st; i++) {
        st = nnv_operand_check(&a.s.operands[i], &needs, &err);
        if (needs > level) level = needs;
    }
    bool sound = !st; /* each operand by itself */
    if (sound) st = nnv_bind(&a.s, &a.op, a.shapes, a.data, NULL, c->scratch, &call, &needs, &err);
    if (st == NNV_NO_MEMORY) {
        nnv_rc_no_memory(c);
    } else if (st) {
        if (!sound || !shapes_differ(c, &a, name)) nnv_rc_refuse(c, "%s: %s", name, err.text);
    } else {
        if (needs > level) level = needs;
        if (level > c->limit)
            nnv_rc_refuse(c, "%s in this form and of these types needs feature level %d (%s), and %d (%s) is the limit",
                          name, level, nnv_level_name(level), c->limit, nnv_level_name(c->limit));
        if (level > c->level) c->level = level;
    }
}

static void keep_from(struct nnv_rc *c) {
    if (c->b.noperations > c->cap_from) {
        uint32_t more = c->cap_from ? c->cap_from * 2 : 16;
        const struct nnv_relay_expr **larger = NNV_NEW(c->arena, const struct nnv_relay_expr *, more);
        if (!larger) {
            nnv_rc_no_memory(c);
            return;
        }
        if (c->cap_from) memcpy(larger, c->from, c->cap_from * sizeof *larger);
        c->from = larger;
        c->cap_from = more;
    }
    c->from[c->b.noperations - 1] = c->node->e;
}

void nnv_rc_emit_n(struct nnv_rc *c, int32_t code, uint32_t nin, const uint32_t *in, uint32_t nout,
                   const uint32_t *out) {
    if (!nnv_rc_ok(c)) return;
    nnv_builder_operation(&c->b, code, nin, in, nout, out);
    if (c->b.failed) {
        nnv_rc_no_memory(c);
        return;
    }
    keep_from(c);
    if (nnv_rc_ok(c)) check(c, &c->b.operation[c->b.noperations - 1]);
}

struct nnv_rc_mark nnv_rc_mark(const struct nnv_rc *c) {
    return (struct nnv_rc_mark){c->b.noperands, c->b.noperations, c->level};
}

void nnv_rc_back(struct nnv_rc *c, struct nnv_rc_mark mark) {
    if (c->st != NNV_UNSUPPORTED && c->st != NNV_OK) return;
    const struct nnv_rc_node *nodes[] = {c->node, c->root};
    for (size_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < nodes[k]->out.n; i++) {
            struct nnv_rc_value *v = &c->values[nodes[k]->out.v[i]];
            if (v->operand != NNV_RC_NONE && v->operand >= mark.operands) v->operand = NNV_RC_NONE;
        }
        for (size_t i = 0; i < nodes[k]->e->n_args; i++)
            for (uint32_t j = 0; j < nodes[k]->args[i].n; j++) {
                struct nnv_rc_value *v = &c->values[nodes[k]->args[i].v[j]];
                if (v->operand != NNV_RC_NONE && v->operand >= mark.operands) v->operand = NNV_RC_NONE;
            }
    }
    for (uint32_t i = 0; i < c->cap_nhwc; i++)
        if (i >= mark.operands || c->nhwc[i] >= mark.operands) c->nhwc[i] = 0;
    c->b.noperands = mark.operands;
    c->b.noperations = mark.operations;
    c->level = mark.level;
    c->st = NNV_OK;
    if (c->err) *c->err = (struct nnv_err){0};
}

/* ------------------------------------------------------- shapes and axes */

/* The place where the shapes differ by one more extent of 1 in `longer`; its rank if there is none. */
static uint32_t extra_axis(const struct nnv_rc_shape *longer, const struct nnv_rc_shape *shorter) {
    if (longer->rank != shorter->rank + 1) return longer->rank;
    for (uint32_t at = 0; at < longer->rank; at++) {
        struct nnv_rc_shape without = {shorter->rank, {0}};
        for (uint32_t i = 0, n = 0; i < longer->rank; i++)
            if (i != at) without.dims[n++] = longer->dims[i];
        if (longer->dims[at] == 1 && nnv_rc_same_shape(&without, shorter)) return at;
    }
    return longer->rank;
}

static uint32_t constant_again(struct nnv_rc *c, uint32_t operand, const struct nnv_rc_shape *shape) {
    struct nnv_operand o = c->b.operand[operand];
    return add_const(c, nnv_rc_operand_encoding(c, operand), shape, o.data, o.bytes);
}

uint32_t nnv_rc_reshaped(struct nnv_rc *c, uint32_t operand, const struct nnv_rc_shape *shape, uint32_t to) {
    struct nnv_rc_shape is = nnv_rc_operand_shape(c, operand);
    struct nnv_encoding e = nnv_rc_operand_encoding(c, operand);
    int64_t dims[NNV_RELAY_RANK];
    if (!nnv_rc_ok(c)) return 0;
    if (to == NNV_RC_NONE && nnv_rc_same_shape(&is, shape)) return operand;
    if (to == NNV_RC_NONE && nnv_is_constant(&c->b.operand[operand])) return constant_again(c, operand, shape);
    if (to == NNV_RC_NONE) to = nnv_rc_temp(c, e, shape);
    uint32_t at = extra_axis(shape, &is);
    if (e.type == ANEURALNETWORKS_TENSOR_INT32 && c->limit < 6 && at < shape->rank) {
        NNV_RC_EMIT(c, ANEURALNETWORKS_EXPAND_DIMS, to, operand, nnv_rc_int(c, at));
        return to;
    }
    for (uint32_t i = 0; i < shape->rank; i++) dims[i] = shape->dims[i];
    NNV_RC_EMIT(c, ANEURALNETWORKS_RESHAPE, to, operand, nnv_rc_ints(c, shape->rank, dims));
    return to;
}

/* The bytes of an array with its axes in another order. */
static void *turn_bytes(struct nnv_rc *c, const struct nnv_operand *o, const uint32_t *perm,
                        const struct nnv_rc_shape *shape) {
    size_t size = nnv_type(o->type)->size, n = nnv_rc_elems(shape), step[NNV_RELAY_RANK], from = 0;
    uint32_t at[NNV_RELAY_RANK] = {0};
    char *data = nnv_arena_alloc(c->arena, n, size);
    if (!data) nnv_rc_no_memory(c);
    for (uint32_t i = 0; i < shape->rank; i++) {
        step[i] = 1;
        for (uint32_t k = perm[i] + 1; k < o->rank; k++) step[i] *= o->dims[k];
    }
    for (size_t e = 0; data && e < n; e++) {
        memcpy(data + e * size, (const char *)o->data + from * size, size);
        for (uint32_t i = shape->rank; i-- > 0;) {
            from += step[i];
            if (++at[i] < shape->dims[i]) break;
            from -= step[i] * shape->dims[i];
            at[i] = 0;
        }
    }
    return data;
}

uint32_t nnv_rc_transposed(struct nnv_rc *c, uint32_t operand, const uint32_t *perm, uint32_t to) {
    struct nnv_rc_shape is = nnv_rc_operand_shape(c, operand), shape = {is.rank, {0}};
    struct nnv_encoding e = nnv_rc_operand_encoding(c, operand);
    int64_t axes[NNV_RELAY_RANK];
    bool same = true;
    if (!nnv_rc_ok(c)) return 0;
    for (uint32_t i = 0; i < is.rank; i++) {
        shape.dims[i] = is.dims[perm[i]];
        axes[i] = perm[i];
        same = same && perm[i] == i;
    }
    if (same && to == NNV_RC_NONE) return operand;
    struct nnv_operand o = c->b.operand[operand];
    if (to == NNV_RC_NONE && nnv_is_constant(&o))
        return add_const(c, e, &shape, turn_bytes(c, &o, perm, &shape), o.bytes);
    if (to == NNV_RC_NONE) to = nnv_rc_temp(c, e, &shape);
    NNV_RC_EMIT(c, ANEURALNETWORKS_TRANSPOSE, to, operand, nnv_rc_ints(c, is.rank, axes));
    return to;
}

/* ------------------------------------------------------------------- layouts */

static const uint32_t TO_NHWC[] = {0, 2, 3, 1}, TO_NCHW[] = {0, 3, 1, 2};

/* Remembers (with `to`) or tells what operand is the NHWC form of one; 0: none yet. */
static uint32_t nhwc_form(struct nnv_rc *c, uint32_t operand, uint32_t to) {
    if (to && operand >= c->cap_nhwc) {
        uint32_t more = c->b.noperands * 2;
        uint32_t *larger = NNV_NEW(c->arena, uint32_t, more);
        if (!larger) {
            nnv_rc_no_memory(c);
            return 0;
        }
        if (c->cap_nhwc) memcpy(larger, c->nhwc, c->cap_nhwc * sizeof *larger);
        c->nhwc = larger;
        c->cap_nhwc = more;
    }
    if (to) c->nhwc[operand] = to;
    return operand < c->cap_nhwc ? c->nhwc[operand] : 0;
}

/* Data in NHWC order, turned once. */
static uint32_t as_nhwc(struct nnv_rc *c, uint32_t data) {
    uint32_t known = nnv_rc_ok(c) ? nhwc_form(c, data, 0) : 0;
    if (known) return known;
    uint32_t turned = nnv_rc_transposed(c, data, TO_NHWC, NNV_RC_NONE);
    if (nnv_rc_ok(c)) (void)nhwc_form(c, data, turned);
    return turned;
}

struct nnv_rc_layout nnv_rc_layout(struct nnv_rc *c, uint32_t data, uint32_t result, const char *layout,
                                   bool has_flag) {
    struct nnv_rc_layout l = {.nchw = strcmp(layout, "NCHW") == 0, .c = 3, .h = 1, .w = 2};
    if (!l.nchw && strcmp(layout, "NHWC") != 0) nnv_rc_refuse(c, "layout %s: only NCHW and NHWC", layout);
    l.in = data;
    l.out = result;
    l.flag = l.nchw && has_flag && c->limit >= 3;
    if (l.flag) {
        l.c = 1;
        l.h = 2;
        l.w = 3;
    } else if (l.nchw && c->limit < 2) {
        nnv_rc_refuse(c, "data in NCHW order need feature level 2 (TRANSPOSE) or 3 (the layout operand); use NHWC");
    } else if (l.nchw) {
        struct nnv_rc_shape s = nnv_rc_operand_shape(c, result), turned = s;
        for (uint32_t i = 0; i < 4; i++) turned.dims[i] = s.dims[TO_NHWC[i]];
        l.in = as_nhwc(c, data);
        l.out = nnv_rc_temp(c, nnv_rc_operand_encoding(c, result), &turned);
    }
    l.shape = nnv_rc_operand_shape(c, l.in);
    l.out_shape = nnv_rc_operand_shape(c, l.out);
    return l;
}

void nnv_rc_layout_end(struct nnv_rc *c, const struct nnv_rc_layout *l, uint32_t result) {
    if (l->out == result || !nnv_rc_ok(c)) return;
    nnv_rc_transposed(c, l->out, TO_NCHW, result); /* it leaves again if only such operations read it */
    if (nnv_rc_ok(c)) (void)nhwc_form(c, result, l->out);
}
