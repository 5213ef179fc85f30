/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/conv/linear.h"

bool nnv_linear_replays(const struct nnv_kernel *k) { return k->same_inputs && k->u_a > 0; }

bool nnv_linear_needs_abs(const struct nnv_kernel *k) { return k->noise && k->row == 0 && k->u_a > 0; }

double *nnv_linear_abs(struct nnv_kernel *k, const double *x, size_t n) {
    double *a = NNV_NEW(k->scratch, double, n);
    for (size_t i = 0; a && i < n; i++) a[i] = fabs(x[i]);
    return a;
}

static void add_bias(const struct nnv_linear *l, const double *bias) {
    for (size_t p = 0; p < l->positions; p++)
        for (uint32_t c = 0; c < l->channels; c++) {
            if (l->sums) l->sums[p * l->channels + c] += bias[c];
            if (l->abs) l->abs[p * l->channels + c] += fabs(bias[c]);
        }
}

/* to[i] = the largest of from[i - 1], from[i], from[i + 1], where i walks n cells that are step apart. */
static void spread_line(const double *from, double *to, size_t n, size_t step) {
    for (size_t i = 0; i < n; i++) {
        double most = from[i * step];
        if (i > 0) most = fmax(most, from[(i - 1) * step]);
        if (i + 1 < n) most = fmax(most, from[(i + 1) * step]);
        to[i * step] = most;
    }
}

/* A tile of Winograd's algorithm mixes the terms of neighbouring outputs: each takes the largest of their sums. */
static bool spread_tile(struct nnv_kernel *k, const struct nnv_linear *l) {
    double *t = NNV_NEW(k->scratch, double, l->positions * l->channels);
    if (!t) return false;
    size_t row = (size_t)l->y->w * l->channels, plane = row * l->y->h;
    for (size_t n = 0; n < l->y->n; n++) {
        double *abs = l->abs + n * plane, *tmp = t + n * plane;
        for (size_t i = 0; i < l->y->h; i++)
            for (size_t c = 0; c < l->channels; c++)
                spread_line(abs + i * row + c, tmp + i * row + c, l->y->w, l->channels);
        for (size_t c = 0; c < row; c++) spread_line(tmp + c, abs + c, l->y->h, row);
    }
    return true;
}

/* Element offset of a position's first channel in the output. */
static size_t position(const struct nnv_linear *l, size_t p) {
    if (!l->y) return p * l->channels;
    size_t w = l->y->w, h = l->y->h;
    return p / (h * w) * l->y->sn + p / w % h * l->y->sh + p % w * l->y->sw;
}

/* The golden row alone: bias and scale in one pass. */
static void finish_golden(struct nnv_kernel *k, const struct nnv_linear *l, const double *bias, const double *scale,
                          size_t step) {
    for (size_t p = 0; p < l->positions; p++) {
        const double *sums = l->sums + p * l->channels;
        double *y = k->out[0] + position(l, p);
        if (step == 1)
            for (uint32_t c = 0; c < l->channels; c++) y[c] = (sums[c] + bias[c]) * scale[c];
        else
            for (uint32_t c = 0; c < l->channels; c++) y[c * step] = (sums[c] + bias[c]) * scale[c];
    }
}

enum nnv_status nnv_linear_finish(struct nnv_kernel *k, const struct nnv_linear *l, struct nnv_err *err) {
    bool replay = nnv_linear_replays(k), noise = k->noise && k->u_a > 0;
    /* Sums of quantised products are INT32: what leaves it is not compared. */
    const bool quantised = nnv_is_quant(k->call->in[l->x].operand->type);
    const double *bias = nnv_units(k, l->bias);
    double factor = l->winograd ? 2 : 1, out_scale = (double)k->call->out[0].operand->scale;
    size_t step = l->y ? l->y->sc : 1;
    double *scale = NNV_NEW(k->scratch, double, l->channels);
    if (!scale) return nnv_no_memory(err);
    for (uint32_t c = 0; c < l->channels; c++) scale[c] = nnv_scale(k, l->x, 0) * nnv_scale(k, l->w, c);
    if (!k->noise) {
        finish_golden(k, l, bias, scale, step);
        return NNV_OK;
    }
    add_bias(l, bias);
    if (l->abs && l->winograd && !spread_tile(k, l)) return nnv_no_memory(err);
    double *line = replay ? NNV_NEW(k->scratch, double, l->channels) : NULL;
    if (replay && !line) return nnv_no_memory(err);
    for (size_t p = 0; p < l->positions; p++) {
        double *sums = replay ? line : l->sums + p * l->channels, *y = k->out[0] + position(l, p);
        const double *abs = l->abs ? l->abs + p * l->channels : NULL;
        for (uint32_t c = 0; c < l->channels && replay; c++) sums[c] = nnv_noise_replay(k);
        for (uint32_t c = 0; c < l->channels && noise && !replay; c++)
            sums[c] = nnv_sum(k, sums[c], l->terms + 1, abs ? abs[c] : 0, factor);
        for (uint32_t c = 0; c < l->channels; c++)
            y[c * step] = quantised ? nnv_hazard(k, sums[c] * scale[c], fabs(sums[c]) > INT32_MAX) : sums[c] * scale[c];
    }
    for (size_t p = 0; p < l->positions && k->multiplier; p++) {
        double *multiplier = k->multiplier + position(l, p);
        for (uint32_t c = 0; c < l->channels; c++) multiplier[c * step] = scale[c] / out_scale;
    }
    return NNV_OK;
}

int nnv_linear_level(const struct nnv_call *c) {
    const struct nnv_operand *x = c->in[0].operand, *w = c->in[1].operand;
    if (x->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || w->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM) return 1;
    return c->out[0].operand->scale > x->scale * w->scale ? 1 : 3;
}
