/* SPDX-License-Identifier: Apache-2.0 */
/* What rows say of a call, and what their rules share. */
#include "compiler/relay/ops/rule.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

bool nnv_relay_attr_is(const struct nnv_relay_value *v, enum nnv_relay_attr_kind kind) {
    bool whole = v->kind == NNV_RELAY_INT || v->kind == NNV_RELAY_TRUTH;
    switch (kind) {
    case NNV_RELAY_ATTR_INT:
    case NNV_RELAY_ATTR_TRUTH:
        return whole;
    case NNV_RELAY_ATTR_NUMBER:
        return whole || v->kind == NNV_RELAY_FLOAT;
    case NNV_RELAY_ATTR_TEXT:
        return v->kind == NNV_RELAY_STRING;
    case NNV_RELAY_ATTR_INTS:
        for (size_t i = 0; v->kind == NNV_RELAY_LIST && i < v->n; i++)
            if (v->list[i].kind != NNV_RELAY_INT) return false;
        return whole || v->kind == NNV_RELAY_LIST;
    case NNV_RELAY_ATTR_PAIRS:
        for (size_t i = 0; v->kind == NNV_RELAY_LIST && i < v->n; i++)
            if (v->list[i].kind != NNV_RELAY_LIST || !nnv_relay_attr_is(&v->list[i], NNV_RELAY_ATTR_INTS)) return false;
        return v->kind == NNV_RELAY_LIST;
    case NNV_RELAY_ATTR_ANY:
        break;
    }
    return true;
}

const struct nnv_relay_value *nnv_relay_row_attr(const struct nnv_relay_op_row *row, const struct nnv_relay_expr *e,
                                                 const char *key) {
    const struct nnv_relay_value *v = nnv_relay_written(e, key);
    for (size_t i = 0; !v && row && i < NNV_RELAY_MOST_ATTRS && row->attrs[i].key; i++)
        if (strcmp(row->attrs[i].key, key) == 0) return row->attrs[i].otherwise;
    return v;
}

/* ------------------------------------------------------- what the rules share */

void nnv_relay_wrong_set(struct nnv_relay_typing *t, const char *format, ...) {
    struct nnv_text text = {0};
    va_list ap;
    if (t->st != NNV_OK) return;
    va_start(ap, format);
    nnv_text_vaddf(&text, format, ap);
    va_end(ap);
    t->st = nnv_relay_fail(t->m, &t->call->span, t->err, "%s: %s", t->call->callee->name,
                           text.data && !text.failed ? text.data : NNV_OUT_OF_MEMORY);
    nnv_text_free(&text);
}

const struct nnv_relay_type *nnv_relay_in(struct nnv_relay_typing *t, size_t i) {
    const struct nnv_relay_type *type = t->call->args[i]->type;
    if (type && type->kind == NNV_RELAY_TENSOR) return type;
    return nnv_relay_wrong(t, "operand %zu must be a tensor", i);
}

int64_t nnv_relay_times(int64_t a, int64_t b) {
    int64_t p;
    if (a < 0 || b < 0) return NNV_RELAY_ANY;
    return __builtin_mul_overflow(a, b, &p) ? INT64_MAX : p;
}

const struct nnv_relay_type *nnv_relay_made(struct nnv_relay_typing *t, enum nnv_relay_dtype dtype, size_t n,
                                            const int64_t *dims) {
    const struct nnv_relay_type *type = nnv_relay_tensor_type(t->m->arena, dtype, n, dims);
    size_t elems, bytes;
    bool known = true;
    if (type == NULL) return NULL;
    for (size_t i = 0; i < n; i++) known = known && dims[i] >= 0;
    if (known && !nnv_relay_type_elems(type, &elems, &bytes)) return nnv_relay_wrong(t, "the result is too large");
    return type;
}

bool nnv_relay_ints(struct nnv_relay_typing *t, const char *key, int64_t *ints, size_t most, size_t *n) {
    const struct nnv_relay_value *v = nnv_relay_row_attr(t->row, t->call, key);
    if (v == NULL || v->kind == NNV_RELAY_NONE) return false;
    *n = v->kind == NNV_RELAY_LIST ? v->n : 1;
    if (*n > most) return nnv_relay_wrong(t, "attribute %s has %zu values, at most %zu", key, *n, most);
    for (size_t i = 0; i < *n; i++) ints[i] = v->kind == NNV_RELAY_LIST ? v->list[i].i : v->i;
    return true;
}

int64_t nnv_relay_int(const struct nnv_relay_typing *t, const char *key, int64_t otherwise) {
    const struct nnv_relay_value *v = nnv_relay_row_attr(t->row, t->call, key);
    return v && (v->kind == NNV_RELAY_INT || v->kind == NNV_RELAY_TRUTH) ? v->i : otherwise;
}

double nnv_relay_number(const struct nnv_relay_typing *t, const char *key, double otherwise) {
    const struct nnv_relay_value *v = nnv_relay_row_attr(t->row, t->call, key);
    if (v && v->kind == NNV_RELAY_FLOAT) return v->f;
    return v && (v->kind == NNV_RELAY_INT || v->kind == NNV_RELAY_TRUTH) ? (double)v->i : otherwise;
}

const char *nnv_relay_text(const struct nnv_relay_typing *t, const char *key, const char *otherwise) {
    const struct nnv_relay_value *v = nnv_relay_row_attr(t->row, t->call, key);
    return v && v->kind == NNV_RELAY_STRING ? v->text : otherwise;
}

bool nnv_relay_axis(struct nnv_relay_typing *t, const char *key, int64_t axis, size_t n, size_t *at) {
    int64_t rank = (int64_t)n;
    if (axis < -rank || axis >= rank)
        return nnv_relay_wrong(t, "%s %" PRId64 " of a tensor of %zu dimensions", key, axis, n);
    *at = (size_t)(axis < 0 ? axis + rank : axis);
    return true;
}

bool nnv_relay_dtype_attr(struct nnv_relay_typing *t, const char *key, enum nnv_relay_dtype otherwise,
                          enum nnv_relay_dtype *dtype) {
    const char *name = nnv_relay_text(t, key, "");
    *dtype = otherwise;
    if (*name == '\0' || nnv_relay_dtype_by_name(name, strlen(name), dtype)) return true;
    return nnv_relay_wrong(t, "attribute %s names no type of elements", key);
}

bool nnv_relay_broadcast(struct nnv_relay_typing *t, const struct nnv_relay_type *a, const struct nnv_relay_type *b,
                         size_t *n, int64_t *dims) {
    *n = a->n_dims > b->n_dims ? a->n_dims : b->n_dims;
    for (size_t i = 1; i <= *n; i++) {
        int64_t x = i <= a->n_dims ? a->dims[a->n_dims - i] : 1, y = i <= b->n_dims ? b->dims[b->n_dims - i] : 1;
        int64_t *to = &dims[*n - i];
        if (x == y || y == 1)
            *to = x;
        else if (x == 1)
            *to = y;
        else if (x < 0 || y < 0)
            *to = x < 0 ? y : x;
        else
            return nnv_relay_wrong(t,
                                   "the operands' extents %" PRId64 " and %" PRId64 " (dimension %zu from the end) "
                                   "fit only if they are equal or one is 1",
                                   x, y, i);
    }
    return true;
}

static const struct nnv_relay_type *same_dtype(struct nnv_relay_typing *t, size_t i, size_t k) {
    const struct nnv_relay_type *a = nnv_relay_in(t, i), *b = a ? nnv_relay_in(t, k) : NULL;
    if (b && a->dtype != b->dtype)
        return nnv_relay_wrong(t, "operand %zu is %s, operand %zu is %s", i, nnv_relay_dtype_name(a->dtype), k,
                               nnv_relay_dtype_name(b->dtype));
    return b;
}

const struct nnv_relay_type *nnv_relay_rule_float(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    if (a && !nnv_relay_dtype_is_float(a->dtype))
        return nnv_relay_wrong(t, "operand 0 is %s, and must be of a floating-point type",
                               nnv_relay_dtype_name(a->dtype));
    return a;
}

const struct nnv_relay_type *nnv_relay_stretched(struct nnv_relay_typing *t, size_t i, size_t k, bool to_bool) {
    int64_t dims[NNV_RELAY_RANK];
    size_t n;
    if (!same_dtype(t, i, k)) return NULL;
    const struct nnv_relay_type *a = t->call->args[i]->type, *b = t->call->args[k]->type;
    if (!nnv_relay_broadcast(t, a, b, &n, dims)) return NULL;
    return nnv_relay_made(t, to_bool ? NNV_RELAY_BOOL : a->dtype, n, dims);
}

/** True if the call is of such an operator. */
static bool relay_is_line(const struct nnv_relay_typing *t) {
    const char *name = t->call->callee->name;
    return strcmp(name + strlen(name) - 2, "1d") == 0;
}

const struct nnv_relay_type *nnv_relay_as_images(struct nnv_relay_typing *t, const struct nnv_relay_type *type) {
    int64_t dims[4] = {0, 0, 0, 1};
    if (!relay_is_line(t)) return type;
    memcpy(dims, type->dims, 3 * sizeof *dims);
    return nnv_relay_tensor_type(t->m->arena, type->dtype, 4, dims);
}

const struct nnv_relay_type *nnv_relay_images(struct nnv_relay_typing *t, size_t i) {
    const struct nnv_relay_type *type = nnv_relay_of_rank(t, i, relay_is_line(t) ? 3 : 4);
    return type ? nnv_relay_as_images(t, type) : NULL;
}

const struct nnv_relay_type *nnv_relay_made_images(struct nnv_relay_typing *t, enum nnv_relay_dtype dtype,
                                                   const int64_t *dims) {
    return nnv_relay_made(t, dtype, relay_is_line(t) ? 3 : 4, dims);
}

bool nnv_relay_layout(struct nnv_relay_typing *t, const char *key, const char *layout, const char *letters,
                      struct nnv_relay_layout *to) {
    size_t at[4], n = relay_is_line(t) ? 3 : 4;
    for (size_t i = 0; i < 4; i++) {
        const char *found = strchr(layout, letters[i]);
        if (n == 3 && letters[i] == 'H' && !found) found = layout + 3;
        if (found == NULL || strlen(layout) != n)
            return nnv_relay_wrong(t, "attribute %s must have the %s letters %.2s%s in some order", key,
                                   n == 3 ? "three" : "four", letters, letters + (n == 3 ? 3 : 2));
        at[i] = (size_t)(found - layout);
    }
    *to = (struct nnv_relay_layout){at[0], at[1], at[2], at[3]};
    return true;
}

bool nnv_relay_pair(struct nnv_relay_typing *t, const char *key, int64_t least, int64_t *to) {
    size_t n = 0;
    if (!nnv_relay_ints(t, key, to, 2, &n)) return nnv_relay_wrong(t, "needs the attribute %s", key);
    if (n == 1) to[1] = to[0];
    if (n == 1 && relay_is_line(t)) to[0] = 1;
    for (size_t i = 0; i < 2; i++)
        if (n == 0 || to[i] < least || to[i] > NNV_RELAY_MOST_EXTENT)
            return nnv_relay_wrong(t, "attribute %s must have one or two values from %" PRId64 " to 2^30", key, least);
    return true;
}

bool nnv_relay_padding(struct nnv_relay_typing *t, int64_t *p) {
    size_t n = 0;
    if (!nnv_relay_ints(t, "padding", p, 4, &n)) return nnv_relay_wrong(t, "needs the attribute padding");
    if (n == 1) p[1] = p[2] = p[3] = p[0];
    if (n == 2) {
        p[2] = p[0];
        p[3] = p[1];
    }
    if (relay_is_line(t)) {
        if (n == 0 || n > 2) return nnv_relay_wrong(t, "attribute padding has %zu values, not 1 or 2", n);
        p[1] = p[0]; /* p[3] is the right one already */
        p[0] = p[2] = 0;
    }
    if (n == 0 || n == 3) return nnv_relay_wrong(t, "attribute padding has %zu values, not 1, 2 or 4", n);
    for (size_t i = 0; i < 4; i++)
        if (p[i] < 0 || p[i] > NNV_RELAY_MOST_EXTENT)
            return nnv_relay_wrong(t, "padding %" PRId64 " is out of range", p[i]);
    return true;
}

/** The number of its places over `in` elements. */
static bool relay_places(struct nnv_relay_typing *t, const struct nnv_relay_window_1d *w, int64_t in, int64_t *out) {
    if (in < 0 || w->extent < 0) {
        *out = NNV_RELAY_ANY;
        return true;
    }
    int64_t covered, room;
    if (in > INT64_MAX / 4 || w->extent > NNV_RELAY_MOST_EXTENT) return nnv_relay_wrong(t, "an extent is out of range");
    covered = (w->extent - 1) * w->dilation + 1;
    room = in + w->before + w->after - covered;
    if (w->extent < 1 || room < 0)
        return nnv_relay_wrong(t, "a window of %" PRId64 " does not fit in %" PRId64 " with its padding", covered,
                               in + w->before + w->after);
    *out = (room + (w->ceil ? w->stride - 1 : 0)) / w->stride + 1;
    return true;
}

/* Height and width of what a window gives. */
bool nnv_relay_places_2d(struct nnv_relay_typing *t, const int64_t *kernel, bool ceil, const int64_t *in,
                         int64_t *out) {
    int64_t stride[2], dilation[2], pad[4];
    if (!nnv_relay_pair(t, "strides", 1, stride) || !nnv_relay_pair(t, "dilation", 1, dilation) ||
        !nnv_relay_padding(t, pad))
        return false;
    for (size_t i = 0; i < 2; i++) {
        struct nnv_relay_window_1d w = {kernel[i], stride[i], dilation[i], pad[i], pad[i + 2], ceil};
        if (!relay_places(t, &w, in[i], &out[i])) return false;
    }
    return true;
}

const struct nnv_relay_type *nnv_relay_of_rank(struct nnv_relay_typing *t, size_t i, size_t rank) {
    const struct nnv_relay_type *a = nnv_relay_in(t, i);
    if (a && a->n_dims != rank)
        return nnv_relay_wrong(t, "operand %zu has %zu dimensions, not %zu", i, a->n_dims, rank);
    return a;
}

const struct nnv_relay_type *nnv_relay_image(struct nnv_relay_typing *t, struct nnv_relay_layout *l) {
    const struct nnv_relay_type *x = nnv_relay_images(t, 0);
    const char *layout = nnv_relay_text(t, "layout", relay_is_line(t) ? "NCW" : "NCHW");
    return x && nnv_relay_layout(t, "layout", layout, "NCHW", l) ? x : NULL;
}
