/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of types: what they share, and the elementwise operators and reductions. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "compiler/relay/ops/ops.h"

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
    const struct nnv_relay_value *v = nnv_relay_attr(t->call, key);
    if (v == NULL || v->kind == NNV_RELAY_NONE) return false;
    *n = v->kind == NNV_RELAY_LIST ? v->n : 1;
    if (*n > most) return nnv_relay_wrong(t, "attribute %s has %zu values, at most %zu", key, *n, most);
    for (size_t i = 0; i < *n; i++) ints[i] = v->kind == NNV_RELAY_LIST ? v->list[i].i : v->i;
    return true;
}

int64_t nnv_relay_int(const struct nnv_relay_typing *t, const char *key, int64_t otherwise) {
    const struct nnv_relay_value *v = nnv_relay_attr(t->call, key);
    return v && (v->kind == NNV_RELAY_INT || v->kind == NNV_RELAY_TRUTH) ? v->i : otherwise;
}

double nnv_relay_number(const struct nnv_relay_typing *t, const char *key, double otherwise) {
    const struct nnv_relay_value *v = nnv_relay_attr(t->call, key);
    if (v && v->kind == NNV_RELAY_FLOAT) return v->f;
    return v && (v->kind == NNV_RELAY_INT || v->kind == NNV_RELAY_TRUTH) ? (double)v->i : otherwise;
}

const char *nnv_relay_text(const struct nnv_relay_typing *t, const char *key, const char *otherwise) {
    const struct nnv_relay_value *v = nnv_relay_attr(t->call, key);
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

/* -------------------------------------------------------------- elementwise */

const struct nnv_relay_type *nnv_relay_rule_same(struct nnv_relay_typing *t) {
    const struct nnv_relay_op_row *row = nnv_relay_op(t->call->callee->name);
    if (strcmp(row->name, "clip") == 0 &&
        (!nnv_relay_written(t->call, "a_min") || !nnv_relay_written(t->call, "a_max")))
        return nnv_relay_wrong(t, "needs the attributes a_min and a_max");
    return nnv_relay_in(t, 0);
}

const struct nnv_relay_type *nnv_relay_rule_float(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    if (a && !nnv_relay_dtype_is_float(a->dtype))
        return nnv_relay_wrong(t, "operand 0 is %s, and must be of a floating-point type",
                               nnv_relay_dtype_name(a->dtype));
    return a;
}

const struct nnv_relay_type *nnv_relay_rule_test(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    return a ? nnv_relay_made(t, NNV_RELAY_BOOL, a->n_dims, a->dims) : NULL;
}

static const struct nnv_relay_type *stretched(struct nnv_relay_typing *t, size_t i, size_t k, bool to_bool) {
    int64_t dims[NNV_RELAY_RANK];
    size_t n;
    if (!same_dtype(t, i, k)) return NULL;
    const struct nnv_relay_type *a = t->call->args[i]->type, *b = t->call->args[k]->type;
    if (!nnv_relay_broadcast(t, a, b, &n, dims)) return NULL;
    return nnv_relay_made(t, to_bool ? NNV_RELAY_BOOL : a->dtype, n, dims);
}

const struct nnv_relay_type *nnv_relay_rule_binary(struct nnv_relay_typing *t) { return stretched(t, 0, 1, false); }

const struct nnv_relay_type *nnv_relay_rule_bits(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    if (a && (nnv_relay_dtype_is_float(a->dtype) || a->dtype == NNV_RELAY_BOOL))
        return nnv_relay_wrong(t, "operand 0 is %s, and must be of integers", nnv_relay_dtype_name(a->dtype));
    return a && t->call->n_args == 2 ? stretched(t, 0, 1, false) : a;
}

const struct nnv_relay_type *nnv_relay_rule_compare(struct nnv_relay_typing *t) { return stretched(t, 0, 1, true); }

const struct nnv_relay_type *nnv_relay_rule_logic(struct nnv_relay_typing *t) {
    for (size_t i = 0; i < t->call->n_args; i++) {
        const struct nnv_relay_type *a = nnv_relay_in(t, i);
        if (a == NULL) return NULL;
        if (a->dtype != NNV_RELAY_BOOL) return nnv_relay_wrong(t, "operand %zu must be bool", i);
    }
    return t->call->n_args == 1 ? t->call->args[0]->type : stretched(t, 0, 1, true);
}

const struct nnv_relay_type *nnv_relay_rule_where(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *condition = nnv_relay_in(t, 0);
    const struct nnv_relay_type *values = condition ? stretched(t, 1, 2, false) : NULL;
    int64_t dims[NNV_RELAY_RANK];
    size_t n;
    if (values == NULL || !nnv_relay_broadcast(t, condition, values, &n, dims)) return NULL;
    if (nnv_relay_dtype_is_float(condition->dtype)) return nnv_relay_wrong(t, "operand 0 must be bool or of integers");
    return nnv_relay_made(t, values->dtype, n, dims);
}

const struct nnv_relay_type *nnv_relay_rule_cast(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    enum nnv_relay_dtype dtype;
    if (a == NULL) return NULL;
    if (!nnv_relay_written(t->call, "dtype")) return nnv_relay_wrong(t, "needs the attribute dtype");
    if (!nnv_relay_dtype_attr(t, "dtype", a->dtype, &dtype)) return NULL;
    return nnv_relay_made(t, dtype, a->n_dims, a->dims);
}

const struct nnv_relay_type *nnv_relay_rule_axis(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_rule_float(t);
    size_t at;
    return a && nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 0), a->n_dims, &at) ? a : NULL;
}

const struct nnv_relay_type *nnv_relay_rule_filled(struct nnv_relay_typing *t) {
    int64_t dims[NNV_RELAY_RANK];
    size_t n;
    enum nnv_relay_dtype dtype;
    if (!nnv_relay_ints(t, "shape", dims, NNV_RELAY_RANK, &n)) return nnv_relay_wrong(t, "needs the attribute shape");
    for (size_t i = 0; i < n; i++)
        if (dims[i] < 0) return nnv_relay_wrong(t, "shape[%zu] is negative", i);
    return nnv_relay_dtype_attr(t, "dtype", NNV_RELAY_FLOAT32, &dtype) ? nnv_relay_made(t, dtype, n, dims) : NULL;
}

/* --------------------------------------------------------------- reductions */

static const struct nnv_relay_type *reduced(struct nnv_relay_typing *t, const struct nnv_relay_type *a,
                                            enum nnv_relay_dtype dtype) {
    int64_t axes[NNV_RELAY_RANK], dims[NNV_RELAY_RANK];
    size_t n_axes = 0, at = 0, n = 0;
    bool in[NNV_RELAY_RANK] = {false}, exclude = nnv_relay_int(t, "exclude", 0), keep = nnv_relay_int(t, "keepdims", 0);
    bool given = nnv_relay_ints(t, "axis", axes, NNV_RELAY_RANK, &n_axes);
    if (t->st != NNV_OK) return NULL;
    bool all = !given || (n_axes == 0 && !exclude);
    for (size_t i = 0; given && i < n_axes; i++) {
        if (!nnv_relay_axis(t, "axis", axes[i], a->n_dims, &at)) return NULL;
        in[at] = true;
    }
    for (size_t i = 0; i < a->n_dims; i++) {
        if (all || in[i] != exclude) {
            if (keep) dims[n++] = 1;
        } else {
            dims[n++] = a->dims[i];
        }
    }
    return nnv_relay_made(t, dtype, n, dims);
}

const struct nnv_relay_type *nnv_relay_rule_reduce(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    return a ? reduced(t, a, a->dtype) : NULL;
}

const struct nnv_relay_type *nnv_relay_rule_reduce_float(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_rule_float(t);
    return a ? reduced(t, a, a->dtype) : NULL;
}

const struct nnv_relay_type *nnv_relay_rule_arg(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    return a ? reduced(t, a, NNV_RELAY_INT32) : NULL;
}

/* ------------------------------------------------------------------ quantised */

bool nnv_relay_scales(struct nnv_relay_typing *t, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        const struct nnv_relay_type *a = nnv_relay_in(t, i);
        if (a == NULL) return false;
        bool scale = (i - first) % 2 == 0;
        if (a->dtype == (scale ? NNV_RELAY_FLOAT32 : NNV_RELAY_INT32) && a->n_dims <= 1) continue;
        return nnv_relay_wrong(t, "operand %zu is a %s: %s, one or a list", i, scale ? "scale" : "zero point",
                               scale ? "float32" : "int32");
    }
    return true;
}

const struct nnv_relay_type *nnv_relay_rule_quantize(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    enum nnv_relay_dtype dtype;
    bool quantize = strcmp(t->call->callee->name, "qnn.quantize") == 0;
    if (a == NULL || !nnv_relay_scales(t, 1, t->call->n_args)) return NULL;
    if (nnv_relay_dtype_is_float(a->dtype) != quantize)
        return nnv_relay_wrong(t, "operand 0 is %s", nnv_relay_dtype_name(a->dtype));
    bool to_float = strcmp(t->call->callee->name, "qnn.dequantize") == 0;
    if (!nnv_relay_dtype_attr(t, "out_dtype", NNV_RELAY_INT8, &dtype)) return NULL;
    if (nnv_relay_dtype_is_float(dtype) != to_float || dtype == NNV_RELAY_BOOL)
        return nnv_relay_wrong(t, "out_dtype is %s", nnv_relay_dtype_name(dtype));
    return nnv_relay_made(t, dtype, a->n_dims, a->dims);
}

const struct nnv_relay_type *nnv_relay_rule_qnn_binary(struct nnv_relay_typing *t) {
    return nnv_relay_scales(t, 2, 8) ? stretched(t, 0, 1, false) : NULL;
}

/* Operands: data, its scale and zero point, those of the result. */
const struct nnv_relay_type *nnv_relay_rule_qnn_unary(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    return a && nnv_relay_scales(t, 1, 5) ? a : NULL;
}
