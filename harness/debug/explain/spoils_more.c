/* SPDX-License-Identifier: Apache-2.0 */
/** @file spoils_more.c Mistakes in handling values: limits, parts that are left out, places, precision. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "harness/debug/explain/mistakes.h"

bool nnv_spoil_first_unwritten(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    if (s->n < 2) return false;
    s->v[0] = s->poison[0];
    return true;
}

static void swap_parts(double *a, double *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

bool nnv_spoil_batches_swapped(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    const size_t batches = s->rank ? s->dims[0] : 0;
    (void)m;
    if (batches < 2) return false;
    swap_parts(s->v, s->v + s->n - s->n / batches, s->n / batches);
    return true;
}

bool nnv_spoil_overlap(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    if (s->n < 5) return false;
    memmove(s->v + s->n - 4, s->v + s->n - 5, 4 * sizeof *s->v);
    return true;
}

bool nnv_spoil_first(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    for (size_t i = 1; i < s->n; i++) s->v[i] = s->v[0];
    return s->n > 1;
}

bool nnv_spoil_reverse_all(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    for (size_t i = 0; i < s->n / 2; i++) swap_parts(&s->v[i], &s->v[s->n - 1 - i], 1);
    return s->n > 1;
}

bool nnv_spoil_cut_bits(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    const struct nnv_type *t = nnv_type(s->type);
    if (t->kind != NNV_KIND_FLOAT || t->size != (size_t)m->other) return false;
    for (size_t i = 0; i < s->n; i++) {
        int exponent;
        if (!isfinite(s->v[i])) continue;
        const double f = frexp(s->v[i], &exponent);
        s->v[i] = ldexp(trunc(ldexp(f, (int)m->value)), exponent - (int)m->value);
    }
    return true;
}

bool nnv_spoil_through_float(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    bool any = false;
    (void)m;
    for (size_t i = 0; i < s->n && s->type == ANEURALNETWORKS_TENSOR_INT32; i++) {
        const double v = fmin((double)(float)s->v[i], INT32_MAX);
        any |= v < s->v[i] || v > s->v[i];
        s->v[i] = v;
    }
    return any;
}

static bool is_float32(const struct nnv_spoiled *s) { return s->type == ANEURALNETWORKS_TENSOR_FLOAT32; }

bool nnv_spoil_never_negative(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    (void)m;
    for (size_t i = 0; i < s->n && is_float32(s); i++) s->v[i] = s->v[i] < 0 ? 0 : s->v[i];
    return is_float32(s);
}

bool nnv_spoil_flush(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    for (size_t i = 0; i < s->n && is_float32(s); i++) s->v[i] = fabs(s->v[i]) < m->value ? 0 : s->v[i];
    return is_float32(s);
}

bool nnv_spoil_finite(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    bool any = false;
    (void)m;
    for (size_t i = 0; i < s->n && is_float32(s); i++) {
        if (!isinf(s->v[i])) continue;
        s->v[i] = copysign((double)FLT_MAX, s->v[i]);
        any = true;
    }
    return any;
}

bool nnv_spoil_wrap_top(struct nnv_spoiled *s, const struct nnv_mistake *m) {
    const struct nnv_type *t = nnv_type(s->type);
    bool any = false;
    (void)m;
    for (size_t i = 0; i < s->n && t->kind == NNV_KIND_QUANT && t->size == 1; i++) {
        if (s->v[i] < t->max) continue;
        s->v[i] = t->min;
        any = true;
    }
    return any;
}
