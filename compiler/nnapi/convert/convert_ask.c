/* SPDX-License-Identifier: Apache-2.0 */
/* What rows ask of their node: values, shapes, attributes; and refusals. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "compiler/nnapi/convert/convert_in.h"
#include "compiler/relay/ops/datum.h"

static void refuse(struct nnv_rc *c, const struct nnv_relay_expr *e, const char *op, const char *format, va_list ap) {
    struct nnv_text text = {0};
    if (!nnv_rc_ok(c)) return;
    nnv_text_vaddf(&text, format, ap);
    struct nnv_relay_span place = c->bare ? (struct nnv_relay_span){0} : e->span;
    c->st = nnv_relay_fail(c->m, &place, c->err, "%s%s%s", op ? op : "", op ? ": " : "",
                           text.data && !text.failed ? text.data : NNV_OUT_OF_MEMORY);
    nnv_text_free(&text);
    c->st = NNV_UNSUPPORTED;
    c->b.stopped = true;
    if (c->err) c->err->status = NNV_UNSUPPORTED;
}

void nnv_rc_refuse(struct nnv_rc *c, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    refuse(c, c->node->e, c->node->row->name, format, ap);
    va_end(ap);
}

void nnv_rc_refuse_at(struct nnv_rc *c, const struct nnv_relay_expr *e, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    refuse(c, e, NULL, format, ap);
    va_end(ap);
}

/* -------------------------------------------------------------------- values */

uint32_t nnv_rc_arg(const struct nnv_rc *c, size_t i) { return c->node->args[i].v[0]; }

struct nnv_rc_list nnv_rc_args(const struct nnv_rc *c, size_t i) {
    return c->node->args[i];
}

uint32_t nnv_rc_out(const struct nnv_rc *c, size_t i) { return c->root->out.v[i]; }

const struct nnv_relay_type *nnv_rc_type(const struct nnv_rc *c, uint32_t value) { return c->values[value].type; }

struct nnv_rc_shape nnv_rc_shape(const struct nnv_rc *c, uint32_t value) {
    const struct nnv_relay_type *type = c->values[value].type;
    struct nnv_rc_shape s = {(uint32_t)type->n_dims, {0}};
    for (size_t i = 0; i < type->n_dims; i++) s.dims[i] = (uint32_t)type->dims[i];
    if (s.rank == 0) s = (struct nnv_rc_shape){1, {1}};
    return s;
}

size_t nnv_rc_elems(const struct nnv_rc_shape *s) {
    size_t n = 1;
    for (uint32_t i = 0; i < s->rank; i++)
        if (__builtin_mul_overflow(n, (size_t)s->dims[i], &n)) return SIZE_MAX;
    return n;
}

bool nnv_rc_same_shape(const struct nnv_rc_shape *a, const struct nnv_rc_shape *b) {
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

bool nnv_rc_is_byte(const struct nnv_rc *c, uint32_t value) {
    return (NNV_RC_BYTE >> c->values[value].type->dtype & 1) != 0;
}

struct nnv_rc_quant nnv_rc_quant(struct nnv_rc *c, uint32_t value) {
    while (c->values[value].like != value) value = c->values[value].like = c->values[c->values[value].like].like;
    return c->values[value].quant;
}

struct nnv_encoding nnv_rc_encoding(struct nnv_rc *c, uint32_t value) {
    const struct nnv_relay_type *type = c->values[value].type;
    struct nnv_rc_quant q = {0};
    switch (type->dtype) {
    case NNV_RELAY_FLOAT32:
        return NNV_RC_F32_TENSOR;
    case NNV_RELAY_FLOAT16:
        return (struct nnv_encoding){ANEURALNETWORKS_TENSOR_FLOAT16, 0, 0};
    case NNV_RELAY_INT32:
        return NNV_RC_I32_TENSOR;
    case NNV_RELAY_BOOL:
        return NNV_RC_BOOL_TENSOR;
    case NNV_RELAY_INT64:
        if (c->values[value].tensor) return NNV_RC_I32_TENSOR;
        break;
    case NNV_RELAY_INT8:
    case NNV_RELAY_UINT8:
        q = nnv_rc_quant(c, value);
        if (!q.known) q = (struct nnv_rc_quant){true, 1, 0};
        return (struct nnv_encoding){type->dtype == NNV_RELAY_INT8 ? ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED
                                                                   : ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
                                     q.scale, q.zero};
    default:
        break;
    }
    nnv_rc_refuse_at(c, c->values[value].e, "a tensor of %s: NNAPI's are of float32, float16, int32, int8, uint8, bool",
                     nnv_relay_dtype_name(type->dtype));
    return NNV_RC_F32_TENSOR;
}

bool nnv_rc_is_const(const struct nnv_rc *c, uint32_t value) {
    return c->values[value].tensor && c->values[value].tensor->data;
}

const double *nnv_rc_numbers(struct nnv_rc *c, uint32_t value, const char *what) {
    size_t n, bytes;
    if (!nnv_rc_ok(c)) return NULL;
    if (!nnv_rc_is_const(c, value)) {
        nnv_rc_refuse(c, "%s must be a constant (bind the parameters of the program)", what);
        return NULL;
    }
    const struct nnv_relay_tensor *t = c->values[value].tensor;
    double *v = nnv_relay_type_elems(t->type, &n, &bytes) ? NNV_NEW(c->scratch, double, n) : NULL;
    if (!v) nnv_rc_no_memory(c);
    if (v) nnv_relay_numbers(t->type->dtype, t->data, n, v);
    return v;
}

double nnv_rc_number(struct nnv_rc *c, uint32_t value, const char *what) {
    struct nnv_rc_shape s = nnv_rc_shape(c, value);
    const double *v = nnv_rc_numbers(c, value, what);
    if (v && nnv_rc_elems(&s) != 1) nnv_rc_refuse(c, "%s must be one number, not %zu", what, nnv_rc_elems(&s));
    return v && nnv_rc_ok(c) ? v[0] : 0;
}

/* ---------------------------------------------------------------- attributes */

static const struct nnv_relay_value *attr(const struct nnv_rc *c, const char *key) {
    const struct nnv_relay_value *v = nnv_relay_attr(c->node->e, key);
    return v && v->kind != NNV_RELAY_NONE ? v : NULL;
}

static double number_of(const struct nnv_relay_value *v) { return v->kind == NNV_RELAY_FLOAT ? v->f : (double)v->i; }

int64_t nnv_rc_int_attr(const struct nnv_rc *c, const char *key, int64_t otherwise) {
    const struct nnv_relay_value *v = attr(c, key);
    return v && (v->kind == NNV_RELAY_INT || v->kind == NNV_RELAY_TRUTH) ? v->i : otherwise;
}

double nnv_rc_num_attr(const struct nnv_rc *c, const char *key, double otherwise) {
    const struct nnv_relay_value *v = attr(c, key);
    bool is = v && (v->kind == NNV_RELAY_INT || v->kind == NNV_RELAY_TRUTH || v->kind == NNV_RELAY_FLOAT);
    return is ? number_of(v) : otherwise;
}

const char *nnv_rc_text_attr(const struct nnv_rc *c, const char *key, const char *otherwise) {
    const struct nnv_relay_value *v = attr(c, key);
    return v && v->kind == NNV_RELAY_STRING && *v->text ? v->text : otherwise;
}

size_t nnv_rc_ints_attr(struct nnv_rc *c, const char *key, int64_t *to, size_t most) {
    const struct nnv_relay_value *v = attr(c, key);
    if (!v) return 0;
    size_t n = v->kind == NNV_RELAY_LIST ? v->n : 1;
    if (n > most) {
        nnv_rc_refuse(c, "attribute %s has %zu values, more than %zu", key, n, most);
        return 0;
    }
    for (size_t i = 0; i < n; i++) to[i] = v->kind == NNV_RELAY_LIST ? v->list[i].i : v->i;
    return n;
}

bool nnv_rc_is_line(const struct nnv_rc *c) {
    const char *name = c->node->row->name;
    return strcmp(name + strlen(name) - 2, "1d") == 0;
}

const char *nnv_rc_layout_attr(const struct nnv_rc *c, const char *key) {
    const char *layout = nnv_rc_text_attr(c, key, "NCHW");
    if (!nnv_rc_is_line(c)) return layout;
    return strcmp(layout, "NCW") == 0 ? "NCHW" : strcmp(layout, "NWC") == 0 ? "NHWC" : layout;
}

void nnv_rc_pair_attr(struct nnv_rc *c, const char *key, int64_t otherwise, int64_t to[2]) {
    size_t n = nnv_rc_ints_attr(c, key, to, 2);
    if (n == 0) to[0] = otherwise;
    if (n < 2) to[1] = to[0];
    if (n < 2 && nnv_rc_is_line(c)) to[0] = 1;
}

uint32_t nnv_rc_axis(struct nnv_rc *c, int64_t axis, uint32_t rank) {
    int64_t at = axis < 0 ? axis + rank : axis;
    if (at >= 0 && at < rank) return (uint32_t)at;
    nnv_rc_refuse(c, "axis %" PRId64 " of a tensor of %u dimensions", axis, rank);
    return 0;
}

void nnv_rc_padding_attr(struct nnv_rc *c, int64_t to[4]) {
    size_t n = nnv_rc_ints_attr(c, "padding", to, 4);
    if (n == 0) to[0] = 0;
    if (n < 2) to[1] = to[2] = to[3] = to[0];
    if (n == 2) {
        to[2] = to[0];
        to[3] = to[1];
    }
    if (nnv_rc_is_line(c)) {
        to[1] = to[0]; /* to[3] is the right one already */
        to[0] = to[2] = 0;
    }
}
