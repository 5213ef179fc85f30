/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: types of results, kernels, rows. */
#include <math.h>

#include "compiler/relay/ops/kernel.h"
#include "compiler/relay/ops/numbers.h"

/* ----------------------------------------------------------------- numbers */

static double lowest(double x) { return (void)x, -INFINITY; }
static double highest(double x) { return (void)x, INFINITY; }

/* ------------------------------------------------------------------- types */

/* Which dimensions are reduced: those of axis, or with exclude all others; without axes all. False after an error. */
static bool find_gone(struct nnv_relay_typing *t, const struct nnv_relay_type *a, bool *gone) {
    int64_t axes[NNV_RELAY_RANK];
    size_t n = 0, at = 0;
    bool exclude = nnv_relay_int(t, "exclude", 0), given = nnv_relay_ints(t, "axis", axes, NNV_RELAY_RANK, &n);
    if (t->st != NNV_OK) return false;
    for (size_t i = 0; i < a->n_dims; i++) gone[i] = !given || n == 0 || exclude;
    for (size_t i = 0; given && i < n; i++) {
        if (!nnv_relay_axis(t, "axis", axes[i], a->n_dims, &at)) return false;
        gone[at] = !exclude;
    }
    return true;
}

static const struct nnv_relay_type *reduced(struct nnv_relay_typing *t, const struct nnv_relay_type *a,
                                            enum nnv_relay_dtype dtype) {
    int64_t dims[NNV_RELAY_RANK];
    size_t n = 0;
    bool gone[NNV_RELAY_RANK], keep = nnv_relay_int(t, "keepdims", 0);
    if (!find_gone(t, a, gone)) return NULL;
    for (size_t i = 0; i < a->n_dims; i++)
        if (!gone[i] || keep) dims[n++] = gone[i] ? 1 : a->dims[i];
    return nnv_relay_made(t, dtype, n, dims);
}

static const struct nnv_relay_type *infer_reduce(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    return a ? reduced(t, a, a->dtype) : NULL;
}

static const struct nnv_relay_type *infer_reduce_float(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_rule_float(t);
    return a ? reduced(t, a, a->dtype) : NULL;
}

static const struct nnv_relay_type *infer_arg(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    return a ? reduced(t, a, NNV_RELAY_INT32) : NULL;
}

/* ----------------------------------------------------------------- kernels */

/** Which elements of the operand belong to one of the result: kept and reduced dimensions, with their strides. */
struct reduction {
    size_t n_kept, n_gone;
    int64_t kept[NNV_RELAY_RANK], kept_by[NNV_RELAY_RANK], gone[NNV_RELAY_RANK], gone_by[NNV_RELAY_RANK];
    size_t count; /**< elements that are reduced to one */
};

static bool reduction_of(struct nnv_interp_op *op, struct reduction *r) {
    const struct nnv_relay_type *x = op->in[0]->type;
    int64_t strides[NNV_RELAY_RANK];
    bool gone[NNV_RELAY_RANK];
    if (!find_gone(&op->t, x, gone)) return false;
    *r = (struct reduction){.count = 1};
    nnv_interp_strides(x, strides);
    for (size_t i = 0; i < x->n_dims; i++) {
        if (gone[i]) {
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
    double v = op->t.row->one(0);
    enum nnv_relay_dtype dtype = op->out->type->dtype;
    for (size_t i = 0; i < n; i++)
        v = op->t.row->whole && !nnv_relay_dtype_is_float(dtype)
                ? nnv_interp_wrap(dtype, op->t.row->whole((int64_t)v, (int64_t)x[i]))
                : op->t.row->two(v, x[i]);
    return v;
}

static void run_reduce(struct nnv_interp_op *op) {
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

static void run_mean(struct nnv_interp_op *op) { reduce(op, averaged); }

/* Of equal elements the first, or the last if the attribute says so. two(a, b) is true if a is before b. */
static double place_of_best(struct nnv_interp_op *op, const double *x, size_t n) {
    bool last = nnv_relay_int(&op->t, "select_last_index", 0);
    size_t best = 0;
    if (n == 0) nnv_relay_wrong(&op->t, "there are no elements");
    for (size_t i = 1; i < n; i++)
        if (op->t.row->two(x[i], x[best]) != 0 || (last && x[i] == x[best])) best = i;
    return (double)best;
}

static void run_arg(struct nnv_interp_op *op) { reduce(op, place_of_best); }

static double logarithm_of_sum(struct nnv_interp_op *op, const double *x, size_t n) {
    double most = -INFINITY, sum = 0;
    (void)op;
    for (size_t i = 0; i < n; i++) most = fmax(most, x[i]);
    for (size_t i = 0; i < n; i++) sum += exp(x[i] - most);
    return isinf(most) ? most : most + log(sum);
}

static void run_logsumexp(struct nnv_interp_op *op) { reduce(op, logarithm_of_sum); }

/* The operands are the data and their mean, which may have been stretched. */
static double squared(struct nnv_interp_op *op, const double *x, size_t n) {
    bool unbiased = nnv_relay_int(&op->t, "unbiased", 0);
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
    return sum / ((double)n - unbiased);
}

static void run_variance(struct nnv_interp_op *op) { reduce(op, squared); }

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

#define REDUCE                                                                                                         \
    {"axis", K_INTS, NULL}, {"keepdims", K_TRUTH, TRUTH(0)}, { "exclude", K_TRUTH, TRUTH(0) }
#define ARG                                                                                                            \
    REDUCE, { "select_last_index", K_TRUTH, TRUTH(0) }

static const struct nnv_relay_op_row rows[] = {
    {"all", 1, 1, infer_reduce, run_reduce, .attrs = {REDUCE}, .one = one, .two = both, .relax = "(x, axis, keepdims)"},
    {"any", 1, 1, infer_reduce, run_reduce, .attrs = {REDUCE}, .one = zero, .two = either,
     .relax = "(x, axis, keepdims)"},
    {"argmax", 1, 1, infer_arg, run_arg, .attrs = {ARG}, .two = greater, .relax = "(x, axis, keepdims)"},
    {"argmin", 1, 1, infer_arg, run_arg, .attrs = {ARG}, .two = less, .relax = "(x, axis, keepdims)"},
    {"logsumexp", 1, 1, infer_reduce_float, run_logsumexp, .attrs = {REDUCE}},
    {"max", 1, 1, infer_reduce, run_reduce, .attrs = {REDUCE}, .one = lowest, .two = greatest,
     .relax = "(x, axis, keepdims)"},
    {"mean", 1, 1, infer_reduce, run_mean, .attrs = {REDUCE}, .relax = "(x, axis, keepdims)"},
    {"min", 1, 1, infer_reduce, run_reduce, .attrs = {REDUCE}, .one = highest, .two = least,
     .relax = "(x, axis, keepdims)"},
    {"prod", 1, 1, infer_reduce, run_reduce, .attrs = {REDUCE}, .one = one, .two = product, .whole = whole_product,
     .relax = "(x, axis, keepdims)"},
    {"sum", 1, 1, infer_reduce, run_reduce, .attrs = {REDUCE}, .one = zero, .two = sum, .relax = "(x, axis, keepdims)"},
    {"variance", 1, 2, infer_reduce_float, run_variance, .attrs = {REDUCE, {"unbiased", K_TRUTH, TRUTH(0)}},
     .relax = "(x, axis, keepdims)"},
};
const struct nnv_relay_op_rows nnv_relay_reduce = {rows, sizeof rows / sizeof *rows};
