/* SPDX-License-Identifier: Apache-2.0 */
/* Operands, and operations that are checked as they are emitted. */
#include <inttypes.h>
#include <string.h>

#include "compiler/nnapi/convert/convert_in.h"
#include "reference/model/emit.h"
#include "reference/model/validate.h"

/* ------------------------------------------------------------------ operands */

struct nnv_rc_shape nnv_rc_operand_shape(const struct nnv_rc *c, uint32_t operand) {
    struct nnv_rc_shape s = {0};
    if (operand >= c->b.noperands) return s;
    const struct nnv_operand *o = &c->b.operand[operand];
    s.rank = o->rank;
    memcpy(s.dims, o->dims, o->rank * sizeof *o->dims);
    return s;
}

uint32_t nnv_rc_temp(struct nnv_rc *c, struct nnv_encoding e, const struct nnv_rc_shape *shape) {
    return nnv_builder_tensor(&c->b, e, shape->rank, shape->dims, NNV_TEMPORARY_VARIABLE);
}

uint32_t nnv_rc_const(struct nnv_rc *c, struct nnv_encoding e, const struct nnv_rc_shape *shape, const double *v) {
    return nnv_builder_numbers(&c->b, e, shape->rank, shape->dims, v);
}

uint32_t nnv_rc_filled(struct nnv_rc *c, struct nnv_encoding e, const struct nnv_rc_shape *shape, double v) {
    return nnv_builder_filled(&c->b, e, shape->rank, shape->dims, v);
}

uint32_t nnv_rc_one(struct nnv_rc *c, struct nnv_encoding e, double v) {
    return nnv_builder_filled(&c->b, e, 1, &(uint32_t){1}, v);
}

uint32_t nnv_rc_int(struct nnv_rc *c, int64_t v) {
    if (v < INT32_MIN || v > INT32_MAX) nnv_rc_refuse(c, "%" PRId64 " does not fit in 32 bits", v);
    return nnv_builder_int(&c->b, (int32_t)v);
}

uint32_t nnv_rc_float(struct nnv_rc *c, struct nnv_encoding beside, double v) {
    bool half = beside.type == ANEURALNETWORKS_TENSOR_FLOAT16;
    return nnv_builder_scalar(&c->b, half ? ANEURALNETWORKS_FLOAT16 : ANEURALNETWORKS_FLOAT32, v);
}

uint32_t nnv_rc_ints(struct nnv_rc *c, size_t n, const int64_t *v) {
    int32_t narrow[NNV_RELAY_RANK * 2];
    if (n > NNV_RELAY_RANK * 2) {
        nnv_rc_refuse(c, "a list of %zu integers", n);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (v[i] < INT32_MIN || v[i] > INT32_MAX) nnv_rc_refuse(c, "%" PRId64 " does not fit in 32 bits", v[i]);
        narrow[i] = (int32_t)v[i];
    }
    return nnv_builder_ints(&c->b, (uint32_t)n, narrow);
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
    if (t->type->dtype != NNV_RELAY_INT64) return nnv_builder_constant(&c->b, e, shape.rank, shape.dims, t->data);
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

/* True (an internal error) if the record refuses nothing but the shapes that the program has for the results. */
static bool shapes_differ(struct nnv_rc *c, struct nnv_lone *a, const char *name) {
    const struct nnv_subgraph *s = &a->model.main;
    struct nnv_call *call = NULL;
    char is[160], wanted[160];
    for (uint32_t i = a->operation.nin; i < s->noperands; i++) a->shapes[i] = (struct nnv_shape){0};
    if (nnv_bind(s, &a->operation, a->shapes, a->data, NULL, c->scratch, &call, NULL, NULL) != NNV_OK) return false;
    struct nnv_shape declared = nnv_operand_shape(&s->operands[a->operation.nin]);
    nnv_rc_refuse(c, "internal error: %s gives %s where the program has %s", name,
                  nnv_shape_text(&call->out[0].shape, is, sizeof is), nnv_shape_text(&declared, wanted, sizeof wanted));
    c->st = NNV_INTERNAL;
    return true;
}

static void check(struct nnv_rc *c, int32_t code, uint32_t nin, const uint32_t *in, uint32_t nout,
                  const uint32_t *out) {
    const char *name = nnv_op(code)->name;
    struct nnv_lone lone;
    struct nnv_err err = {0};
    int level = NNV_LEVEL_MIN;
    bool sound = false; /* each operand by itself */
    nnv_arena_reset(c->scratch);
    enum nnv_status st = nnv_emit_isolate(&c->b, code, nin, in, nout, out, c->scratch, &lone, &err);
    if (st == NNV_OK) st = nnv_emit_check(&lone, c->scratch, &level, &sound, &err);
    if (st == NNV_NO_MEMORY) {
        nnv_rc_no_memory(c);
    } else if (st) {
        if (!sound || !shapes_differ(c, &lone, name)) nnv_rc_refuse(c, "%s: %s", name, err.text);
    } else {
        if (level > c->limit)
            nnv_rc_refuse(c, "%s in this form and of these types needs feature level %d (%s), and %d (%s) is the limit",
                          name, level, nnv_level_name(level), c->limit, nnv_level_name(c->limit));
        if (level > c->level) c->level = level;
    }
}

static void keep_from(struct nnv_rc *c) {
    const uint32_t last = c->b.noperations - 1;
    if (nnv_grow(c->arena, &c->from, last, &c->cap_from, sizeof *c->from))
        c->from[last] = c->node->e;
    else
        nnv_rc_no_memory(c);
}

void nnv_rc_emit_n(struct nnv_rc *c, int32_t code, uint32_t nin, const uint32_t *in, uint32_t nout,
                   const uint32_t *out) {
    if (nnv_rc_ok(c) && !nnv_op(code)->check_subgraphs) check(c, code, nin, in, nout, out);
    nnv_builder_operation(&c->b, code, nin, in, nout, out);
    if (nnv_rc_ok(c)) keep_from(c);
}

static uint32_t temp_like(struct nnv_rc *c, uint32_t operand) {
    struct nnv_rc_shape shape = nnv_rc_operand_shape(c, operand);
    return nnv_rc_ok(c) ? nnv_rc_temp(c, nnv_builder_encoding(&c->b, operand), &shape) : 0;
}

uint32_t nnv_rc_applied(struct nnv_rc *c, int32_t code, uint32_t operand) {
    uint32_t to = temp_like(c, operand);
    NNV_RC_EMIT(c, code, to, operand);
    return to;
}

uint32_t nnv_rc_combined(struct nnv_rc *c, int32_t code, uint32_t a, uint32_t b) {
    uint32_t to = temp_like(c, a);
    NNV_RC_EMIT(c, code, to, a, b, nnv_rc_int(c, ANEURALNETWORKS_FUSED_NONE));
    return to;
}

uint32_t nnv_rc_by(struct nnv_rc *c, int32_t code, uint32_t a, double number) {
    return nnv_rc_ok(c) ? nnv_rc_combined(c, code, a, nnv_rc_one(c, nnv_builder_encoding(&c->b, a), number)) : 0;
}

struct nnv_rc_mark nnv_rc_mark(const struct nnv_rc *c) {
    return (struct nnv_rc_mark){c->b.noperands, c->b.noperations, c->level};
}

void nnv_rc_back(struct nnv_rc *c, struct nnv_rc_mark mark) {
    if ((c->st != NNV_UNSUPPORTED && c->st != NNV_OK) || c->b.failed) return;
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
    c->b.stopped = false;
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

uint32_t nnv_rc_reshaped(struct nnv_rc *c, uint32_t operand, const struct nnv_rc_shape *shape, uint32_t to) {
    struct nnv_rc_shape is = nnv_rc_operand_shape(c, operand);
    struct nnv_encoding e = nnv_builder_encoding(&c->b, operand);
    int64_t dims[NNV_RELAY_RANK];
    if (!nnv_rc_ok(c)) return 0;
    if (to == NNV_RC_NONE && nnv_rc_same_shape(&is, shape)) return operand;
    if (to == NNV_RC_NONE && nnv_is_constant(&c->b.operand[operand]))
        return nnv_builder_constant(&c->b, e, shape->rank, shape->dims, c->b.operand[operand].data);
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
    struct nnv_encoding e = nnv_builder_encoding(&c->b, operand);
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
        return nnv_builder_constant(&c->b, e, shape.rank, shape.dims, turn_bytes(c, &o, perm, &shape));
    if (to == NNV_RC_NONE) to = nnv_rc_temp(c, e, &shape);
    NNV_RC_EMIT(c, ANEURALNETWORKS_TRANSPOSE, to, operand, nnv_rc_ints(c, is.rank, axes));
    return to;
}

/* ------------------------------------------------------------------- layouts */

static const uint32_t TO_NHWC[] = {0, 2, 3, 1}, TO_NCHW[] = {0, 3, 1, 2};

/* Remembers (with `to`) or tells what operand is the NHWC form of one; 0: none yet. */
static uint32_t nhwc_form(struct nnv_rc *c, uint32_t operand, uint32_t to) {
    if (to && !nnv_grow(c->arena, &c->nhwc, operand, &c->cap_nhwc, sizeof *c->nhwc)) {
        nnv_rc_no_memory(c);
        return 0;
    }
    if (to) c->nhwc[operand] = to;
    return operand < c->cap_nhwc ? c->nhwc[operand] : 0;
}

/* Data in NHWC order, transposed once. */
static uint32_t as_nhwc(struct nnv_rc *c, uint32_t data) {
    uint32_t known = nnv_rc_ok(c) ? nhwc_form(c, data, 0) : 0;
    if (known) return known;
    uint32_t transposed = nnv_rc_transposed(c, data, TO_NHWC, NNV_RC_NONE);
    if (nnv_rc_ok(c)) (void)nhwc_form(c, data, transposed);
    return transposed;
}

struct nnv_rc_shape nnv_rc_image(const struct nnv_rc_shape *shape, const char *layout) {
    struct nnv_rc_shape image = {4, {0}};
    const uint32_t h = layout[1] == 'C' ? 2 : 1;
    if (shape->rank != 3) return *shape;
    for (uint32_t i = 0; i < 4; i++) image.dims[i] = i == h ? 1 : shape->dims[i > h ? i - 1 : i];
    return image;
}

struct nnv_rc_layout nnv_rc_layout(struct nnv_rc *c, uint32_t data, uint32_t result, const char *layout,
                                   bool has_flag) {
    struct nnv_rc_layout l = {.nchw = strcmp(layout, "NCHW") == 0, .c = 3, .h = 1, .w = 2};
    struct nnv_rc_shape x = nnv_rc_operand_shape(c, data), y = nnv_rc_operand_shape(c, result);
    if (!l.nchw && strcmp(layout, "NHWC") != 0) nnv_rc_refuse(c, "layout %s: only NCHW and NHWC", layout);
    if (!nnv_rc_ok(c)) return l;
    if (y.rank == 3) {
        x = nnv_rc_image(&x, layout);
        y = nnv_rc_image(&y, layout);
        data = nnv_rc_reshaped(c, data, &x, NNV_RC_NONE);
        result = nnv_rc_temp(c, nnv_builder_encoding(&c->b, result), &y);
    }
    l.in = data;
    l.out = l.image = result;
    l.flag = l.nchw && has_flag && c->limit >= 3;
    if (l.flag) {
        l.c = 1;
        l.h = 2;
        l.w = 3;
    } else if (l.nchw && c->limit < 2) {
        nnv_rc_refuse(c, "data in NCHW order need feature level 2 (TRANSPOSE) or 3 (the layout operand); use NHWC");
    } else if (l.nchw) {
        struct nnv_rc_shape s = nnv_rc_operand_shape(c, result), transposed = s;
        for (uint32_t i = 0; i < 4; i++) transposed.dims[i] = s.dims[TO_NHWC[i]];
        l.in = as_nhwc(c, data);
        l.out = nnv_rc_temp(c, nnv_builder_encoding(&c->b, result), &transposed);
    }
    l.shape = nnv_rc_operand_shape(c, l.in);
    l.out_shape = nnv_rc_operand_shape(c, l.out);
    return l;
}

void nnv_rc_layout_end(struct nnv_rc *c, const struct nnv_rc_layout *l, uint32_t result) {
    struct nnv_rc_shape shape = nnv_rc_operand_shape(c, result);
    if (l->out != l->image && nnv_rc_ok(c)) {
        nnv_rc_transposed(c, l->out, TO_NCHW, l->image); /* it leaves again if only such operations read it */
        if (nnv_rc_ok(c)) (void)nhwc_form(c, l->image, l->out);
    }
    if (l->image != result) nnv_rc_reshaped(c, l->image, &shape, result);
}
