/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: reductions, and what normalises by them. */
#include <math.h>
#include <string.h>

#include "compiler/relay/interp/interp_kernel.h"

/** Which elements of the operand belong to one of the result: kept and reduced dimensions, with their strides. */
struct reduction {
    size_t n_kept, n_gone;
    int64_t kept[NNV_RELAY_RANK], kept_by[NNV_RELAY_RANK], gone[NNV_RELAY_RANK], gone_by[NNV_RELAY_RANK];
    size_t count; /**< elements that are reduced to one */
};

static bool reduction_of(struct nnv_interp_op *op, struct reduction *r) {
    const struct nnv_relay_type *x = op->in[0]->type;
    int64_t axes[NNV_RELAY_RANK], strides[NNV_RELAY_RANK];
    size_t n = 0, at;
    bool in[NNV_RELAY_RANK] = {false}, exclude = nnv_relay_int(&op->t, "exclude", 0);
    bool given = nnv_relay_ints(&op->t, "axis", axes, NNV_RELAY_RANK, &n), all = !given || (n == 0 && !exclude);
    for (size_t i = 0; given && i < n; i++) {
        if (!nnv_relay_axis(&op->t, "axis", axes[i], x->n_dims, &at)) return false;
        in[at] = true;
    }
    *r = (struct reduction){.count = 1};
    nnv_interp_strides(x, strides);
    for (size_t i = 0; i < x->n_dims; i++) {
        if (all || in[i] != exclude) {
            r->gone[r->n_gone] = x->dims[i];
            r->gone_by[r->n_gone++] = strides[i];
            r->count *= (size_t)x->dims[i];
        } else {
            r->kept[r->n_kept] = x->dims[i];
            r->kept_by[r->n_kept++] = strides[i];
        }
    }
    return true;
}

/* Calls fn with the elements that belong to each element of the result, in order. */
static void reduce(struct nnv_interp_op *op, double (*fn)(struct nnv_interp_op *, const double *, size_t)) {
    struct reduction r;
    if (!reduction_of(op, &r)) return;
    double *line = nnv_interp_space(op, r.count);
    if (line == NULL) return;
    int64_t index[NNV_RELAY_RANK] = {0}, offset = 0;
    for (size_t i = 0; i < op->out->n && op->t.st == NNV_OK; i++) {
        nnv_interp_pick(op->in[0]->values + offset, r.n_gone, r.gone, r.gone_by, line);
        op->out->values[i] = fn(op, line, r.count);
        for (size_t d = r.n_kept; d-- > 0;) {
            offset += r.kept_by[d];
            if (++index[d] < r.kept[d]) break;
            offset -= r.kept_by[d] * r.kept[d];
            index[d] = 0;
        }
    }
}

/* Folds by the row's function, from one(0), its neutral value, on. */
static double folded(struct nnv_interp_op *op, const double *x, size_t n) {
    double v = op->row->one(0);
    enum nnv_relay_dtype dtype = op->out->type->dtype;
    for (size_t i = 0; i < n; i++)
        v = op->row->whole && !nnv_relay_dtype_is_float(dtype)
                ? nnv_interp_wrap(dtype, op->row->whole((int64_t)v, (int64_t)x[i]))
                : op->row->two(v, x[i]);
    return v;
}

void nnv_interp_reduce(struct nnv_interp_op *op) {
    reduce(op, folded);
    nnv_interp_wrap_all(op);
}

static double averaged(struct nnv_interp_op *op, const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    if (nnv_relay_dtype_is_float(op->out->type->dtype)) return sum / (double)n;
    if (n == 0) nnv_relay_wrong(&op->t, "the mean of no integers");
    return trunc(sum / (double)n);
}

void nnv_interp_mean(struct nnv_interp_op *op) { reduce(op, averaged); }

/* Of equal elements the first, or the last if the attribute says so. two(a, b) is true if a is before b. */
static double place_of_best(struct nnv_interp_op *op, const double *x, size_t n) {
    bool last = nnv_relay_int(&op->t, "select_last_index", 0);
    size_t best = 0;
    if (n == 0) nnv_relay_wrong(&op->t, "there are no elements");
    for (size_t i = 1; i < n; i++)
        if (op->row->two(x[i], x[best]) != 0 || (last && x[i] == x[best])) best = i;
    return (double)best;
}

void nnv_interp_arg(struct nnv_interp_op *op) { reduce(op, place_of_best); }

static double logarithm_of_sum(struct nnv_interp_op *op, const double *x, size_t n) {
    double most = -INFINITY, sum = 0;
    (void)op;
    for (size_t i = 0; i < n; i++) most = fmax(most, x[i]);
    for (size_t i = 0; i < n; i++) sum += exp(x[i] - most);
    return isinf(most) ? most : most + log(sum);
}

void nnv_interp_logsumexp(struct nnv_interp_op *op) { reduce(op, logarithm_of_sum); }

/* The operands are the data and their mean, which may have been stretched. */
static double squared(struct nnv_interp_op *op, const double *x, size_t n) {
    bool unbiased = nnv_relay_int(&op->t, "unbiased", 0);
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
    return sum / ((double)n - unbiased);
}

void nnv_interp_variance(struct nnv_interp_op *op) { reduce(op, squared); }

/* ------------------------------------------------------------ normalisation */

/* Also nn.log_softmax: two() is of an element less the largest, and the sum of their exponentials. */
void nnv_interp_softmax(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (!nnv_interp_axis_of(op, op->out->type, "axis", -1, &a)) return;
    for (size_t o = 0; o < a.outer; o++) {
        for (size_t i = 0; i < a.inner; i++) {
            const double *x = op->in[0]->values + o * a.extent * a.inner + i;
            double *y = op->out->values + o * a.extent * a.inner + i, most = -INFINITY, sum = 0;
            for (size_t k = 0; k < a.extent; k++) most = fmax(most, x[k * a.inner]);
            for (size_t k = 0; k < a.extent; k++) sum += exp(x[k * a.inner] - most);
            for (size_t k = 0; k < a.extent; k++) y[k * a.inner] = op->row->two(x[k * a.inner] - most, sum);
        }
    }
}

void nnv_interp_lrn(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    double bias = nnv_relay_number(&op->t, "bias", 2), alpha = nnv_relay_number(&op->t, "alpha", 1e-5),
           beta = nnv_relay_number(&op->t, "beta", 0.75);
    int64_t size = nnv_relay_int(&op->t, "size", 5);
    if (!nnv_interp_axis_of(op, op->out->type, "axis", 1, &a)) return;
    if (size < 1) {
        nnv_relay_wrong(&op->t, "size must be 1 or more");
        return;
    }
    for (size_t i = 0; i < op->out->n; i++) {
        int64_t at = (int64_t)(i / a.inner % a.extent), from = at - size / 2, to = at + size / 2;
        const double *x = op->in[0]->values + i;
        double sum = 0;
        for (int64_t k = from < 0 ? 0 : from; k <= to && k < (int64_t)a.extent; k++) {
            double v = x[(k - at) * (int64_t)a.inner];
            sum += v * v;
        }
        op->out->values[i] = x[0] / pow(bias + alpha * sum / (double)size, beta);
    }
}

void nnv_interp_l2_normalize(struct nnv_interp_op *op) {
    double eps = nnv_relay_number(&op->t, "eps", 1e-5);
    const struct nnv_relay_type *x = op->in[0]->type;
    int64_t axes[NNV_RELAY_RANK], strides[NNV_RELAY_RANK], gone[NNV_RELAY_RANK], dims[NNV_RELAY_RANK];
    size_t n = 0, at, count = 1;
    bool in[NNV_RELAY_RANK] = {false}, given = nnv_relay_ints(&op->t, "axis", axes, NNV_RELAY_RANK, &n) && n > 0;
    for (size_t i = 0; given && i < n; i++) {
        if (!nnv_relay_axis(&op->t, "axis", axes[i], x->n_dims, &at)) return;
        in[at] = true;
    }
    nnv_interp_strides(x, strides);
    n = 0;
    for (size_t i = 0; i < x->n_dims; i++) {
        if (given && !in[i]) continue;
        dims[n] = x->dims[i];
        gone[n++] = strides[i];
        count *= (size_t)x->dims[i];
    }
    double *line = nnv_interp_space(op, count);
    for (size_t i = 0; line && i < op->out->n; i++) {
        int64_t first = (int64_t)i;
        double sum = 0;
        for (size_t k = 0; k < n; k++) first -= (int64_t)i / gone[k] % dims[k] * gone[k];
        nnv_interp_pick(op->in[0]->values + first, n, dims, gone, line);
        for (size_t k = 0; k < count; k++) sum += line[k] * line[k];
        op->out->values[i] = op->in[0]->values[i] / sqrt(fmax(sum, eps));
    }
}

/** Which elements are normalised together: those of some places along an axis of an image, or a line along it. */
struct buckets {
    struct nnv_interp_axis a;
    size_t image, per, size; /**< elements of an image, buckets of an image, places along the axis of a bucket */
    bool alone;              /**< lines */
};

static size_t bucket(const struct buckets *b, size_t i) {
    if (b->alone) return i / (b->a.extent * b->a.inner) * b->a.inner + i % b->a.inner;
    return i / b->image * b->per + i / b->a.inner % b->a.extent / b->size;
}

static void normalise(struct nnv_interp_op *op, const struct buckets *b, size_t n, double *mean, double *by) {
    bool scale = nnv_relay_int(&op->t, "scale", 1), center = nnv_relay_int(&op->t, "center", 1);
    double epsilon = nnv_relay_number(&op->t, "epsilon", 1e-5), count = (double)op->out->n / (double)n;
    const double *x = op->in[0]->values;
    for (size_t i = 0; i < op->out->n; i++) mean[bucket(b, i)] += x[i] / count;
    for (size_t i = 0; i < op->out->n; i++) {
        double d = x[i] - mean[bucket(b, i)];
        by[bucket(b, i)] += d * d / count;
    }
    for (size_t i = 0; i < n; i++) by[i] = 1 / sqrt(by[i] + epsilon);
    for (size_t i = 0; i < op->out->n; i++) {
        size_t c = i / b->a.inner % b->a.extent, k = bucket(b, i);
        double v = (x[i] - mean[k]) * by[k];
        op->out->values[i] = v * (scale ? op->in[1]->values[c] : 1) + (center ? op->in[2]->values[c] : 0);
    }
}

/* nn.instance_norm: each channel of an image; nn.group_norm: groups of channels; nn.layer_norm: along the axis. */
void nnv_interp_norm(struct nnv_interp_op *op) {
    struct buckets b = {.alone = strcmp(op->row->name, "nn.layer_norm") == 0};
    bool instance = strcmp(op->row->name, "nn.instance_norm") == 0;
    if (op->out->n == 0 || !nnv_interp_axis_of(op, op->out->type, "axis", b.alone ? -1 : 1, &b.a)) return;
    b.image = op->out->n / (size_t)op->out->type->dims[0];
    b.per = instance ? b.a.extent : (size_t)nnv_relay_int(&op->t, "num_groups", 1);
    b.size = b.a.extent / b.per;
    size_t n = b.alone ? op->out->n / b.a.extent : (size_t)op->out->type->dims[0] * b.per;
    double *mean = nnv_interp_space(op, n), *by = mean ? nnv_interp_space(op, n) : NULL;
    if (by) normalise(op, &b, n, mean, by);
}

/* As when a network is used, not trained: the data are left alone, and the mask is of ones. */
void nnv_interp_dropout(struct nnv_interp_op *op) {
    op->out->fields[0]->values = op->in[0]->values;
    for (size_t i = 0; i < op->out->fields[1]->n; i++) op->out->fields[1]->values[i] = 1;
}
