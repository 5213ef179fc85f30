/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation, softmax, and what works along the channels: types of results, kernels, rows. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/relay/ops/kernel.h"

/* ----------------------------------------------------------------- numbers */

static double part(double x, double all) { return exp(x) / all; }
static double log_part(double x, double all) { return x - log(all); }

/* ------------------------------------------------------------------- types */

static const struct nnv_relay_type *infer_axis(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_rule_float(t);
    size_t at;
    return a && nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 0), a->n_dims, &at) ? a : NULL;
}

/* ------------------------------------------------------------ normalisation */

/* Operand i has one value for each place along the attribute axis of operand 0. */
static bool along_axis(struct nnv_relay_typing *t, const struct nnv_relay_type *x, size_t i) {
    const struct nnv_relay_type *v = nnv_relay_of_rank(t, i, 1);
    size_t at;
    if (v == NULL || !nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 1), x->n_dims, &at)) return false;
    if (v->dtype != x->dtype) return nnv_relay_wrong(t, "operand %zu is not of the data's type", i);
    if (nnv_relay_agree(v->dims[0], x->dims[at])) return true;
    return nnv_relay_wrong(t, "operand %zu has %" PRId64 " values for %" PRId64 " places along axis %zu", i, v->dims[0],
                           x->dims[at], at);
}

static const struct nnv_relay_type *infer_bias(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_in(t, 0);
    return x && along_axis(t, x, 1) ? x : NULL;
}

static const struct nnv_relay_type *infer_prelu(struct nnv_relay_typing *t) {
    return nnv_relay_rule_float(t) ? infer_bias(t) : NULL;
}

static const struct nnv_relay_type *infer_batch_norm(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_rule_float(t);
    for (size_t i = 1; x && i < 5; i++)
        if (!along_axis(t, x, i)) return NULL;
    if (x == NULL) return NULL;
    const struct nnv_relay_type *fields[] = {x, t->call->args[3]->type, t->call->args[4]->type};
    return nnv_relay_tuple_type(t->m->arena, 3, fields);
}

/* ------------------------------------------------------------ normalisation */

/* nn.l2_normalize: a list of axes. */
static const struct nnv_relay_type *infer_axes(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_rule_float(t);
    int64_t axes[NNV_RELAY_RANK];
    size_t n = 0, at;
    if (a == NULL || (!nnv_relay_ints(t, "axis", axes, NNV_RELAY_RANK, &n) && t->st != NNV_OK)) return NULL;
    for (size_t i = 0; i < n; i++)
        if (!nnv_relay_axis(t, "axis", axes[i], a->n_dims, &at)) return NULL;
    return a;
}

/* Operands: data, and a factor and a summand for each place along the axis. */
static const struct nnv_relay_type *infer_norm(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_rule_float(t);
    int64_t groups = nnv_relay_int(t, "num_groups", 1);
    size_t at;
    if (a == NULL || !nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 1), a->n_dims, &at)) return NULL;
    for (size_t i = 1; i < 3; i++) {
        const struct nnv_relay_type *v = nnv_relay_of_rank(t, i, 1);
        if (v == NULL) return NULL;
        if (v->dtype != a->dtype || (v->dims[0] >= 0 && a->dims[at] >= 0 && v->dims[0] != a->dims[at]))
            return nnv_relay_wrong(t, "operand %zu must have a value for each place along axis %zu", i, at);
    }
    if (groups < 1 || (a->dims[at] >= 0 && a->dims[at] % groups))
        return nnv_relay_wrong(t, "the axis can't be split in %" PRId64 " groups", groups);
    if (strcmp(t->call->callee->name, "nn.instance_norm") == 0 && at == 0)
        return nnv_relay_wrong(t, "axis 0 is the batch");
    return a;
}

/* The data, and a mask. */
static const struct nnv_relay_type *infer_dropout(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_rule_float(t);
    return a ? nnv_relay_tuple_type(t->m->arena, 2, (const struct nnv_relay_type *[]){a, a}) : NULL;
}

/* ----------------------------------------------------------------- kernels */

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

static void run_prelu(struct nnv_interp_op *op) { each_along(op, op->out, with_slope); }

static void run_bias_add(struct nnv_interp_op *op) {
    each_along(op, op->out, with_bias);
    nnv_interp_wrap_all(op);
}

/* Operands: data, gamma, beta, mean, variance. The result has mean and variance behind the data. */
static void run_batch_norm(struct nnv_interp_op *op) {
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

/* ------------------------------------------------------------ normalisation */

/* Also nn.log_softmax: two() is of an element less the largest, and the sum of their exponentials. */
static void run_softmax(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (!nnv_interp_axis_of(op, op->out->type, "axis", -1, &a)) return;
    for (size_t o = 0; o < a.outer; o++) {
        for (size_t i = 0; i < a.inner; i++) {
            const double *x = op->in[0]->values + o * a.extent * a.inner + i;
            double *y = op->out->values + o * a.extent * a.inner + i, most = -INFINITY, sum = 0;
            for (size_t k = 0; k < a.extent; k++) most = fmax(most, x[k * a.inner]);
            for (size_t k = 0; k < a.extent; k++) sum += exp(x[k * a.inner] - most);
            for (size_t k = 0; k < a.extent; k++) y[k * a.inner] = op->t.row->two(x[k * a.inner] - most, sum);
        }
    }
}

static void run_lrn(struct nnv_interp_op *op) {
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

static void run_l2_normalize(struct nnv_interp_op *op) {
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
static void run_norm(struct nnv_interp_op *op) {
    struct buckets b = {.alone = strcmp(op->t.row->name, "nn.layer_norm") == 0};
    bool instance = strcmp(op->t.row->name, "nn.instance_norm") == 0;
    if (op->out->n == 0 || !nnv_interp_axis_of(op, op->out->type, "axis", b.alone ? -1 : 1, &b.a)) return;
    b.image = op->out->n / (size_t)op->out->type->dims[0];
    b.per = instance ? b.a.extent : (size_t)nnv_relay_int(&op->t, "num_groups", 1);
    b.size = b.a.extent / b.per;
    size_t n = b.alone ? op->out->n / b.a.extent : (size_t)op->out->type->dims[0] * b.per;
    double *mean = nnv_interp_space(op, n), *by = mean ? nnv_interp_space(op, n) : NULL;
    if (by) normalise(op, &b, n, mean, by);
}

/* As when a network is used, not trained: the data are left alone, and the mask is of ones. */
static void run_dropout(struct nnv_interp_op *op) {
    op->out->fields[0]->values = op->in[0]->values;
    for (size_t i = 0; i < op->out->fields[1]->n; i++) op->out->fields[1]->values[i] = 1;
}

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

static const struct nnv_relay_op_row rows[] = {
    {"nn.batch_norm", 5, 5, infer_batch_norm, run_batch_norm,
     .attrs = {{"axis", K_INT, INT(1)},
               {"epsilon", K_NUMBER, NUMBER(1e-5)},
               {"center", K_TRUTH, TRUTH(1)},
               {"scale", K_TRUTH, TRUTH(1)}},
     .relax = "(data, gamma, beta, moving_mean, moving_var, axis, epsilon, center, scale, -momentum, -training=False)"},
    {"nn.bias_add", 2, 2, infer_bias, run_bias_add, .attrs = {{"axis", K_INT, INT(1)}}},
    {"nn.dropout", 1, 1, infer_dropout, run_dropout, .attrs = {{"rate", K_NUMBER, NUMBER(0.5)}},
     .relax = "(data, rate)"},
    {"nn.group_norm", 3, 3, infer_norm, run_norm,
     .attrs = {{"num_groups", K_INT, INT(1)},
               {"axis", K_INT, INT(1)},
               {"epsilon", K_NUMBER, NUMBER(1e-5)},
               {"center", K_TRUTH, TRUTH(1)},
               {"scale", K_TRUTH, TRUTH(1)}},
     .relax = "(data, gamma, beta, num_groups, channel_axis:axis, -axes, epsilon, center, scale)"},
    {"nn.instance_norm", 3, 3, infer_norm, run_norm,
     .attrs = {{"axis", K_INT, INT(1)},
               {"epsilon", K_NUMBER, NUMBER(1e-5)},
               {"center", K_TRUTH, TRUTH(1)},
               {"scale", K_TRUTH, TRUTH(1)}},
     .relax = "(data, gamma, beta, channel_axis:axis, -axes, epsilon, center, scale)"},
    {"nn.l2_normalize", 1, 1, infer_axes, run_l2_normalize,
     .attrs = {{"eps", K_NUMBER, NUMBER(1e-5)}, {"axis", K_INTS, NULL}}},
    {"nn.layer_norm", 3, 3, infer_norm, run_norm,
     .attrs = {{"axis", K_INT, INT(-1)},
               {"epsilon", K_NUMBER, NUMBER(1e-5)},
               {"center", K_TRUTH, TRUTH(1)},
               {"scale", K_TRUTH, TRUTH(1)}},
     .relax = "(data, gamma, beta, axes:axis, epsilon, center, scale)"},
    {"nn.log_softmax", 1, 1, infer_axis, run_softmax, .attrs = {{"axis", K_INT, INT(-1)}}, .two = log_part,
     .relax = "(data, axis)"},
    {"nn.lrn", 1, 1, infer_axis, run_lrn,
     .attrs = {{"size", K_INT, INT(5)},
               {"axis", K_INT, INT(1)},
               {"bias", K_NUMBER, NUMBER(2)},
               {"alpha", K_NUMBER, NUMBER(1e-5)},
               {"beta", K_NUMBER, NUMBER(0.75)}}},
    {"nn.prelu", 2, 2, infer_prelu, run_prelu, .attrs = {{"axis", K_INT, INT(1)}}, .relax = "(data, alpha, axis)"},
    {"nn.softmax", 1, 1, infer_axis, run_softmax, .attrs = {{"axis", K_INT, INT(-1)}}, .two = part,
     .relax = "(data, axis)"},
};
const struct nnv_relay_op_rows nnv_relay_norm = {rows, sizeof rows / sizeof *rows};
