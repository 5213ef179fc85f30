/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels share: places, strides, values stretched to a shape. */
#include "compiler/relay/ops/kernel.h"

#include <math.h>
#include <string.h>

double *nnv_interp_space(struct nnv_interp_op *op, size_t n) {
    double *d = n > ((size_t)1 << 29) ? NULL : NNV_NEW(op->scratch, double, n);
    if (d == NULL && op->t.st == NNV_OK)
        op->t.st = nnv_fail(op->t.err, NNV_NO_MEMORY, "%s: out of memory", op->t.row->name);
    return d;
}

void nnv_interp_wrap_all(struct nnv_interp_op *op) {
    enum nnv_relay_dtype dtype = op->out->type->dtype;
    if (nnv_relay_dtype_is_float(dtype)) return;
    for (size_t i = 0; i < op->out->n; i++) {
        double v = op->out->values[i];
        int64_t whole = v >= 9.2e18 ? INT64_MAX : v <= -9.2e18 ? INT64_MIN : isnan(v) ? 0 : (int64_t)v;
        op->out->values[i] = nnv_interp_wrap(dtype, whole);
    }
}

/** Along axis `at`. */
static struct nnv_interp_axis interp_along(const struct nnv_relay_type *type, size_t at) {
    struct nnv_interp_axis a = {at, 1, (size_t)type->dims[at], 1};
    for (size_t i = 0; i < at; i++) a.outer *= (size_t)type->dims[i];
    for (size_t i = at + 1; i < type->n_dims; i++) a.inner *= (size_t)type->dims[i];
    return a;
}

bool nnv_interp_axis_of(struct nnv_interp_op *op, const struct nnv_relay_type *type, const char *key, int64_t otherwise,
                        struct nnv_interp_axis *axis) {
    size_t at;
    if (!nnv_relay_axis(&op->t, key, nnv_relay_int(&op->t, key, otherwise), type->n_dims, &at)) return false;
    *axis = interp_along(type, at);
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

const double *nnv_interp_centred(struct nnv_interp_op *op, size_t i, size_t zero, size_t along) {
    const struct nnv_relay_datum *d = op->in[i], *z = op->in[zero];
    struct nnv_interp_axis a = interp_along(d->type, along);
    if (z->n != 1 && z->n != a.extent)
        return nnv_relay_wrong(&op->t, "operand %zu has %zu zero points for %zu places", zero, z->n, a.extent);
    double *to = nnv_interp_space(op, d->n);
    for (size_t k = 0; to && k < d->n; k++) to[k] = d->values[k] - nnv_interp_nth(op, zero, k / a.inner % a.extent);
    return to;
}

bool nnv_interp_centred_operands(struct nnv_interp_op *op, size_t along, const double **data, const double **weights) {
    if (op->n_in != 6) return true;
    *data =
        op->in[2]->n == 1 ? nnv_interp_centred(op, 0, 2, 0) : nnv_relay_wrong(&op->t, "the data have one zero point");
    *weights = *data ? nnv_interp_centred(op, 1, 3, along) : NULL;
    return *weights != NULL;
}
