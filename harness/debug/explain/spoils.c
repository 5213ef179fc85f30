/* SPDX-License-Identifier: Apache-2.0 */
/** @file spoils.c Mistakes in handling values, as changes of right outputs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/debug/explain/mistakes.h"

static bool is_8bit(const struct nnv_spoiled *s) {
    return s->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || s->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
}

static double clamp(const struct nnv_spoiled *s, double v) {
    const struct nnv_type *t = nnv_type(s->type);
    return t->kind == NNV_KIND_FLOAT ? v : v < t->min ? t->min : v > t->max ? t->max : v;
}

bool nnv_spoil_clamp_stored(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    for (size_t i = 0; i < s->n; i++) s->v[i] = fmax(s->v[i], 0);
    return true;
}

/** Rounds the unrounded results otherwise; those of 8-bit outputs alone. */
static bool round_otherwise(struct nnv_spoiled *s, double (*rounded)(double)) {
    if (!is_8bit(s) || !s->exact) return false;
    for (size_t i = 0; i < s->n; i++) s->v[i] = clamp(s, rounded(s->exact[i] / (double)s->scale) + s->zero_point);
    return true;
}

bool nnv_spoil_floor(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    return round_otherwise(s, floor);
}

bool nnv_spoil_truncate(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    return round_otherwise(s, trunc);
}

bool nnv_spoil_ceil(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    return round_otherwise(s, ceil);
}

bool nnv_spoil_low_bit(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    if (!is_8bit(s)) return false;
    for (size_t i = 0; i < s->n; i++) s->v[i] = 2 * floor(s->v[i] / 2);
    return true;
}

/** Rounds to a significand of so many bits. */
static bool round_bits(struct nnv_spoiled *s, int bits) {
    if (nnv_type(s->type)->kind != NNV_KIND_FLOAT) return false;
    for (size_t i = 0; i < s->n; i++) {
        int exponent;
        if (!isfinite(s->v[i]) || s->v[i] == 0) continue;
        double f = frexp(s->v[i], &exponent);
        s->v[i] = ldexp(nnv_round_half_away(ldexp(f, bits)), exponent - bits);
    }
    return true;
}

bool nnv_spoil_half(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    return s->type == ANEURALNETWORKS_TENSOR_FLOAT32 && round_bits(s, 11);
}

bool nnv_spoil_bfloat(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    return round_bits(s, 8);
}

bool nnv_spoil_unwritten(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    size_t n = m->value > 0 && m->value < (double)s->n ? (size_t)m->value : s->n;
    if (m->value >= (double)s->n) return false;
    for (size_t i = s->n - n; i < s->n; i++) s->v[i] = s->poison[i];
    return true;
}

bool nnv_spoil_batch(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    uint32_t batches = s->rank ? s->dims[0] : 0;
    if (batches < 2 || (m->value != 0 && batches == 2)) return false;
    size_t n = s->n / batches;
    for (uint32_t b = 1; b < (m->value != 0 ? batches : 2); b++) memcpy(s->v + b * n, s->v, n * sizeof *s->v);
    return true;
}

bool nnv_spoil_shift(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    if (s->n < 3) return false;
    if (m->value > 0)
        memmove(s->v + 1, s->v, (s->n - 1) * sizeof *s->v);
    else
        memmove(s->v, s->v + 1, (s->n - 1) * sizeof *s->v);
    return true;
}

bool nnv_spoil_add(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    if (!is_8bit(s)) return false;
    for (size_t i = 0; i < s->n; i++) s->v[i] = clamp(s, s->v[i] + m->value);
    return true;
}

bool nnv_spoil_wrap(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    if (!is_8bit(s)) return false;
    double low = nnv_type(s->type)->min, middle = low + 128;
    for (size_t i = 0; i < s->n; i++) s->v[i] += s->v[i] < middle ? 128 : -128;
    return true;
}

bool nnv_spoil_times(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    enum nnv_kind kind = nnv_type(s->type)->kind;
    if (kind == NNV_KIND_BOOL) return false;
    double zero = kind == NNV_KIND_QUANT ? s->zero_point : 0;
    for (size_t i = 0; i < s->n; i++) {
        double v = (s->v[i] - zero) * m->value;
        s->v[i] = clamp(s, (kind == NNV_KIND_FLOAT ? v : nnv_round_half_away(v)) + zero);
    }
    return true;
}

bool nnv_spoil_no_zero_point(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    if (!is_8bit(s) || s->zero_point == 0) return false;
    for (size_t i = 0; i < s->n; i++) s->v[i] = clamp(s, s->v[i] - s->zero_point);
    return true;
}

bool nnv_spoil_half_range(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    if (s->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM) return false;
    for (size_t i = 0; i < s->n; i++) s->v[i] = fmin(s->v[i], 127);
    return true;
}

bool nnv_spoil_constant(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    double v = m->value;
    if (nnv_is_quant(s->type)) v = m->other != 0 ? m->value : s->zero_point;
    if (m->other != 0 && (!nnv_is_quant(s->type) || s->zero_point == 0)) return false;
    for (size_t i = 0; i < s->n; i++) s->v[i] = v;
    return true;
}

bool nnv_spoil_absolute(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    if (nnv_type(s->type)->kind == NNV_KIND_BOOL) return false;
    double zero = nnv_is_quant(s->type) ? s->zero_point : 0;
    for (size_t i = 0; i < s->n; i++) s->v[i] = clamp(s, fabs(s->v[i] - zero) + zero);
    return true;
}

bool nnv_spoil_bytes(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    size_t size = nnv_type(s->type)->size;
    if (size < 2) return false;
    for (size_t i = 0; i < s->n; i++) {
        unsigned char b[8] = {0}, r[8];
        nnv_store(s->type, &s->v[i], 1, b);
        for (size_t k = 0; k < size; k++) r[k] = b[size - 1 - k];
        nnv_load(s->type, r, 1, &s->v[i]);
    }
    return true;
}

/* ----------------------------------------------------------------- places */

/** Puts element from(i) at i, of a matrix stack [outer, rows, cols]. kind 0: transposed; 1: columns reversed. */
static bool move(struct nnv_spoiled *s, size_t outer, size_t rows, size_t cols, bool transposed) {
    double *line = s->n == outer * rows * cols ? (double *)malloc(rows * cols * sizeof *line + 1) : NULL;
    if (!line) return false;
    for (size_t o = 0; o < outer; o++) {
        double *v = s->v + o * rows * cols;
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < cols; c++)
                line[transposed ? c * rows + r : r * cols + cols - 1 - c] = v[r * cols + c];
        memcpy(v, line, rows * cols * sizeof *line);
    }
    free(line);
    return true;
}

bool nnv_spoil_reverse(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    size_t cols = s->rank ? s->dims[s->rank - 1] : 0;
    return cols > 1 && move(s, 1, s->n / cols, cols, false);
}

bool nnv_spoil_transpose(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    if (s->rank < 2) return false;
    size_t rows = s->dims[s->rank - 2], cols = s->dims[s->rank - 1];
    return rows > 1 && cols > 1 && move(s, s->n / rows / cols, rows, cols, true);
}

bool nnv_spoil_layout(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    if (s->rank != 4 || s->n == 0) return false;
    size_t rows = m->value != 0 ? s->dims[1] : (size_t)s->dims[1] * s->dims[2], all = s->n / s->dims[0];
    return rows > 1 && rows < all && move(s, s->dims[0], rows, all / rows, true);
}

bool nnv_spoil_first_channel(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    size_t cols = s->rank ? s->dims[s->rank - 1] : 0;
    if (cols < 2) return false;
    for (size_t i = 0; i < s->n; i++) s->v[i] = s->v[i - i % cols];
    return true;
}
