/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/recurrent/lstm.h"

#include <string.h>

static const double NORM_EPSILON = 1e-8;
enum { LOGISTIC_CODE = 6 };

static double clip(double v, double limit) { return limit > 0 ? fmax(-limit, fmin(limit, v)) : v; }

/* The sums of gate g for batch row b into z; c: the cell state that its peephole looks at. */
static void sums(struct nnv_kernel *k, const struct nnv_lstm *l, const struct nnv_lstm_step *s, size_t b, int g,
                 const double *c, double *z) {
    for (size_t u = 0; u < l->units; u++) {
        struct nnv_dot d = {0};
        if (!l->norm[g]) d = (struct nnv_dot){l->bias[g][u], fabs(l->bias[g][u]), 1};
        nnv_dot_add(&d, l->input, s->x + b * l->input, l->weights[g] + u * l->input);
        if (l->aux_weights[g]) nnv_dot_add(&d, l->aux, s->aux + b * l->aux, l->aux_weights[g] + u * l->aux);
        nnv_dot_add(&d, l->output, s->h + b * l->output, l->recurrent[g] + u * l->output);
        if (l->peephole[g]) nnv_dot_add(&d, 1, c + u, l->peephole[g] + u);
        z[u] = nnv_dot_end(k, &d);
    }
}

/* In place: zero mean, unit variance, then scaled and moved. */
static void normalise(struct nnv_kernel *k, size_t n, double *z, const double *scale, const double *bias) {
    struct nnv_dot mean = {0}, variance = {0};
    for (size_t u = 0; u < n; u++) nnv_dot_add(&mean, 1, z + u, &(double){1.0 / (double)n});
    double mu = nnv_dot_end(k, &mean);
    for (size_t u = 0; u < n; u++) z[u] = nnv_round(k, z[u] - mu);
    for (size_t u = 0; u < n; u++) nnv_dot_add(&variance, 1, z + u, &(double){z[u] / (double)n});
    double v = nnv_round(k, nnv_dot_end(k, &variance) + NORM_EPSILON);
    double r = nnv_function(k, 1 / sqrt(fmax(v, NORM_EPSILON)), NNV_ULPS_RSQRT);
    for (size_t u = 0; u < n; u++) z[u] = nnv_round(k, nnv_round(k, nnv_round(k, z[u] * r) * scale[u]) + bias[u]);
}

/* One activated gate of batch row b into a. */
static void gate(struct nnv_kernel *k, const struct nnv_lstm *l, const struct nnv_lstm_step *s, size_t b, int g,
                 const double *c, double *a) {
    sums(k, l, s, b, g, c, a);
    if (l->norm[g]) normalise(k, l->units, a, l->norm[g], l->bias[g]);
    int code = g == NNV_GATE_CELL ? l->activation : LOGISTIC_CODE;
    for (size_t u = 0; u < l->units; u++) a[u] = nnv_activation(k, code, a[u]);
}

static void project(struct nnv_kernel *k, const struct nnv_lstm *l, const double *m, double *h) {
    for (size_t o = 0; o < l->output; o++) {
        struct nnv_dot d = {0};
        if (l->projection_bias) d = (struct nnv_dot){l->projection_bias[o], fabs(l->projection_bias[o]), 1};
        nnv_dot_add(&d, l->units, m, l->projection + o * l->units);
        h[o] = clip(nnv_dot_end(k, &d), l->projection_clip);
    }
}

enum nnv_status nnv_lstm_step(struct nnv_kernel *k, const struct nnv_lstm *l, const struct nnv_lstm_step *s,
                              struct nnv_err *err) {
    bool cifg = !l->weights[NNV_GATE_INPUT];
    double *m = NNV_NEW(k->scratch, double, l->units);
    if (!m) return nnv_no_memory(err);
    for (size_t b = 0; b < l->batch; b++) {
        const double *c = s->c + b * l->units;
        double *c_out = s->c_out + b * l->units, *h_out = s->h_out + b * l->output, *a[NNV_GATES];
        for (int g = 0; g < NNV_GATES; g++) a[g] = s->gates[g] ? s->gates[g] + b * s->gate_stride : NULL;
        if (!cifg) gate(k, l, s, b, NNV_GATE_INPUT, c, a[NNV_GATE_INPUT]);
        gate(k, l, s, b, NNV_GATE_FORGET, c, a[NNV_GATE_FORGET]);
        gate(k, l, s, b, NNV_GATE_CELL, c, a[NNV_GATE_CELL]);
        for (size_t u = 0; u < l->units; u++) {
            double f = a[NNV_GATE_FORGET][u], i = cifg ? nnv_round(k, 1 - f) : a[NNV_GATE_INPUT][u];
            double kept = nnv_round(k, f * c[u]), added = nnv_round(k, i * a[NNV_GATE_CELL][u]);
            c_out[u] = clip(nnv_round(k, kept + added), l->cell_clip);
        }
        gate(k, l, s, b, NNV_GATE_OUTPUT, c_out, a[NNV_GATE_OUTPUT]);
        for (size_t u = 0; u < l->units; u++)
            m[u] = nnv_round(k, a[NNV_GATE_OUTPUT][u] * nnv_activation(k, l->activation, c_out[u]));
        if (l->projection)
            project(k, l, m, h_out);
        else
            for (size_t u = 0; u < l->units; u++) h_out[u] = m[u];
    }
    return NNV_OK;
}

/* The states before and after a step, swapped from step to step. */
struct states {
    double *h, *c;
};

enum nnv_status nnv_lstm_sequence(struct nnv_kernel *k, const struct nnv_lstm *l, const struct nnv_steps *steps,
                                  const double *h, const double *c, double *h_out, double *c_out, struct nnv_err *err) {
    size_t outs = l->batch * l->output, cells = l->batch * l->units;
    struct states old = {NNV_NEW(k->scratch, double, outs), NNV_NEW(k->scratch, double, cells)};
    struct states new = {NNV_NEW(k->scratch, double, outs), NNV_NEW(k->scratch, double, cells)};
    double *gates = NNV_NEW(k->scratch, double, NNV_GATES *cells);
    if (!old.h || !old.c || !new.h || !new.c || !gates) return nnv_no_memory(err);
    memcpy(old.h, h, outs * sizeof *h);
    memcpy(old.c, c, cells * sizeof *c);
    for (uint32_t i = 0; i < steps->seq.time; i++) {
        uint32_t t = steps->backward ? steps->seq.time - 1 - i : i;
        struct nnv_lstm_step s = {.x = steps->x + t * l->batch * l->input,
                                  .aux = steps->aux ? steps->aux + t * l->batch * l->aux : NULL,
                                  .h = old.h,
                                  .c = old.c,
                                  .gate_stride = l->units,
                                  .h_out = new.h,
                                  .c_out = new.c};
        for (int g = 0; g < NNV_GATES; g++) s.gates[g] = gates + (size_t)g * cells;
        enum nnv_status st = nnv_lstm_step(k, l, &s, err);
        if (st) return st;
        nnv_sequence_store(steps, t, new.h, l->output);
        struct states swap = old;
        old = new;
        new = swap;
    }
    if (h_out) memcpy(h_out, old.h, outs * sizeof *h);
    if (c_out) memcpy(c_out, old.c, cells * sizeof *c);
    return NNV_OK;
}
