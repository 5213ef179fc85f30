/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: element by element, and along an axis. What they have in common comes first. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/relay/interp/interp_kernel.h"

double *nnv_interp_space(struct nnv_interp_op *op, size_t n) {
    double *d = n > ((size_t)1 << 29) ? NULL : NNV_NEW(op->scratch, double, n);
    if (d == NULL && op->t.st == NNV_OK)
        op->t.st = nnv_fail(op->t.err, NNV_NO_MEMORY, "%s: out of memory", op->row->name);
    return d;
}

struct nnv_interp_axis nnv_interp_along(const struct nnv_relay_type *type, size_t at) {
    struct nnv_interp_axis a = {at, 1, (size_t)type->dims[at], 1};
    for (size_t i = 0; i < at; i++) a.outer *= (size_t)type->dims[i];
    for (size_t i = at + 1; i < type->n_dims; i++) a.inner *= (size_t)type->dims[i];
    return a;
}

bool nnv_interp_axis_of(struct nnv_interp_op *op, const struct nnv_relay_type *type, const char *key, int64_t otherwise,
                        struct nnv_interp_axis *axis) {
    size_t at;
    if (!nnv_relay_axis(&op->t, key, nnv_relay_int(&op->t, key, otherwise), type->n_dims, &at)) return false;
    *axis = nnv_interp_along(type, at);
    return true;
}

void nnv_interp_strides(const struct nnv_relay_type *type, int64_t *strides) {
    int64_t stride = 1;
    for (size_t i = type->n_dims; i-- > 0;) {
        strides[i] = stride;
        stride *= type->dims[i];
    }
}

void nnv_interp_pick(const double *from, size_t n_dims, const int64_t *dims, const int64_t *strides, double *to) {
    int64_t index[2 * NNV_RELAY_RANK] = {0}, inner = n_dims ? dims[n_dims - 1] : 1,
                      by = n_dims ? strides[n_dims - 1] : 0;
    for (size_t i = 0; i < n_dims; i++)
        if (dims[i] == 0) return;
    for (;;) {
        for (int64_t i = 0; i < inner; i++) to[i] = from[i * by];
        to += inner;
        size_t d = n_dims;
        for (;;) {
            if (d <= 1) return;
            d--;
            from += strides[d - 1];
            if (++index[d - 1] < dims[d - 1]) break;
            from -= strides[d - 1] * dims[d - 1];
            index[d - 1] = 0;
        }
    }
}

const double *nnv_interp_stretched(struct nnv_interp_op *op, size_t i) {
    const struct nnv_relay_type *to = op->out->type, *is = op->in[i]->type;
    int64_t own[NNV_RELAY_RANK], strides[NNV_RELAY_RANK] = {0};
    if (is->n_dims == to->n_dims && (is->n_dims == 0 || memcmp(is->dims, to->dims, is->n_dims * sizeof *is->dims) == 0))
        return op->in[i]->values;
    double *values = nnv_interp_space(op, op->out->n);
    if (values == NULL) return NULL;
    nnv_interp_strides(is, own);
    for (size_t k = 0; k < is->n_dims; k++) {
        size_t at = to->n_dims - is->n_dims + k;
        strides[at] = is->dims[k] == 1 ? 0 : own[k];
    }
    nnv_interp_pick(op->in[i]->values, to->n_dims, to->dims, strides, values);
    return values;
}

/* -------------------------------------------------------------- elementwise */

void nnv_interp_view(struct nnv_interp_op *op) { op->out->values = op->in[0]->values; }

void nnv_interp_unary(struct nnv_interp_op *op) {
    for (size_t i = 0; i < op->out->n; i++) op->out->values[i] = op->row->one(op->in[0]->values[i]);
    nnv_interp_wrap_all(op);
}

static void binary_whole(struct nnv_interp_op *op, const double *a, const double *b) {
    for (size_t i = 0; i < op->out->n; i++) {
        if (op->row->divides && b[i] == 0) {
            nnv_relay_wrong(&op->t, "an integer is divided by 0");
            return;
        }
        int64_t v = op->row->whole((int64_t)a[i], (int64_t)b[i]);
        op->out->values[i] = nnv_interp_wrap(op->out->type->dtype, v);
    }
}

void nnv_interp_binary(struct nnv_interp_op *op) {
    const double *a = nnv_interp_stretched(op, 0), *b = a ? nnv_interp_stretched(op, 1) : NULL;
    if (b == NULL) return;
    if (op->row->whole && !nnv_relay_dtype_is_float(op->in[0]->type->dtype)) {
        binary_whole(op, a, b);
        return;
    }
    for (size_t i = 0; i < op->out->n; i++) op->out->values[i] = op->row->two(a[i], b[i]);
    nnv_interp_wrap_all(op);
}

/* With one(0); a row without it has the value as an operand. */
void nnv_interp_fill(struct nnv_interp_op *op) {
    bool given = op->row->one == NULL;
    size_t at = strcmp(op->row->name, "full_like") == 0;
    if (given && op->in[at]->n != 1) {
        nnv_relay_wrong(&op->t, "operand %zu must be one value", at);
        return;
    }
    double v = given ? op->in[at]->values[0] : op->row->one(0);
    for (size_t i = 0; i < op->out->n; i++) op->out->values[i] = v;
    nnv_interp_wrap_all(op);
}

void nnv_interp_clip(struct nnv_interp_op *op) {
    double low = nnv_relay_number(&op->t, "a_min", -INFINITY), high = nnv_relay_number(&op->t, "a_max", INFINITY);
    if (!nnv_relay_dtype_is_float(op->out->type->dtype)) {
        low = trunc(low);
        high = trunc(high);
    }
    for (size_t i = 0; i < op->out->n; i++) {
        double v = op->in[0]->values[i];
        op->out->values[i] = v < low ? low : v > high ? high : v;
    }
    nnv_interp_wrap_all(op);
}

/* From floats to integers: towards zero, saturated. Between integers: the low bits. */
void nnv_interp_cast(struct nnv_interp_op *op) {
    enum nnv_relay_dtype from = op->in[0]->type->dtype, to = op->out->type->dtype;
    for (size_t i = 0; i < op->out->n; i++) {
        double v = op->in[0]->values[i];
        if (to == NNV_RELAY_BOOL)
            v = v != 0;
        else if (nnv_relay_dtype_is_float(to))
            v = nnv_interp_round(to, v);
        else if (nnv_relay_dtype_is_float(from))
            v = nnv_interp_round(to, trunc(v));
        else
            v = nnv_interp_wrap(to, (int64_t)v);
        op->out->values[i] = v;
    }
}

void nnv_interp_where(struct nnv_interp_op *op) {
    const double *c = nnv_interp_stretched(op, 0), *a = c ? nnv_interp_stretched(op, 1) : NULL;
    const double *b = a ? nnv_interp_stretched(op, 2) : NULL;
    for (size_t i = 0; b && i < op->out->n; i++) op->out->values[i] = c[i] != 0 ? a[i] : b[i];
}

void nnv_interp_leaky_relu(struct nnv_interp_op *op) {
    double alpha = nnv_relay_number(&op->t, "alpha", 0.25);
    for (size_t i = 0; i < op->out->n; i++) {
        double v = op->in[0]->values[i];
        op->out->values[i] = v > 0 ? v : v * alpha;
    }
}

/* ------------------------------------------------------------ along an axis */

/* at(place along the attribute axis, element) of each element. */
static void each_along(struct nnv_interp_op *op, struct nnv_relay_datum *out,
                       double (*at)(struct nnv_interp_op *, size_t, double)) {
    struct nnv_interp_axis axis;
    if (!nnv_interp_axis_of(op, op->in[0]->type, "axis", 1, &axis)) return;
    const double *x = op->in[0]->values;
    double *y = out->values;
    for (size_t o = 0; o < axis.outer; o++)
        for (size_t c = 0; c < axis.extent; c++)
            for (size_t i = 0; i < axis.inner; i++) *y++ = at(op, c, *x++);
}

static double with_slope(struct nnv_interp_op *op, size_t c, double x) { return x > 0 ? x : x * op->in[1]->values[c]; }

static double with_bias(struct nnv_interp_op *op, size_t c, double x) { return x + op->in[1]->values[c]; }

void nnv_interp_prelu(struct nnv_interp_op *op) { each_along(op, op->out, with_slope); }

void nnv_interp_bias_add(struct nnv_interp_op *op) {
    each_along(op, op->out, with_bias);
    nnv_interp_wrap_all(op);
}

/* Operands: data, gamma, beta, mean, variance. The result has mean and variance behind the data. */
void nnv_interp_batch_norm(struct nnv_interp_op *op) {
    bool scale = nnv_relay_int(&op->t, "scale", 1), center = nnv_relay_int(&op->t, "center", 1);
    double epsilon = nnv_relay_number(&op->t, "epsilon", 1e-5);
    struct nnv_interp_axis axis;
    if (!nnv_interp_axis_of(op, op->in[0]->type, "axis", 1, &axis)) return;
    const double *x = op->in[0]->values;
    double *y = op->out->fields[0]->values;
    for (size_t o = 0; o < axis.outer; o++) {
        for (size_t c = 0; c < axis.extent; c++) {
            double by = (scale ? op->in[1]->values[c] : 1) / sqrt(op->in[4]->values[c] + epsilon);
            double mean = op->in[3]->values[c], plus = center ? op->in[2]->values[c] : 0;
            for (size_t i = 0; i < axis.inner; i++) *y++ = (*x++ - mean) * by + plus;
        }
    }
    op->out->fields[1]->values = op->in[3]->values;
    op->out->fields[2]->values = op->in[4]->values;
}
