/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file strip.h Kernels that compute two rows at once, for operations of many hooks an element.
 *
 * A kernel that opens a strip is such a kernel, and writes all of its results. Its numbers are nnv_two, one of row
 * k->row and one of the next row. It has one output, which it writes by nnv_two_put, and calls no other hooks than
 * those of strips. Where a row is computed alone, row 0 always, both numbers are its own. The rows that are computed
 * together have the inputs of row 0, so that an input is one number, never two.
 *
 * Hooks are called on a strip: the kernel says before how many will come, and the noise of them all is made in one go.
 * Strip after strip gives the noise that as many hooks of kernel.h would give.
 */
#ifndef NNV_EVAL_STRIP_H
#define NNV_EVAL_STRIP_H

#include <float.h>

#include "reference/eval/kernel.h"

/** A number in each of two rows. */
typedef double nnv_two __attribute__((vector_size(16)));
/** Its bits. */
typedef int64_t nnv_two_bits __attribute__((vector_size(16)));

/** Hooks to come. */
struct nnv_strip {
    const struct nnv_kernel *k;
    const nnv_two *noise;  /**< of each hook, in rows 1 to n; else NULL */
    struct nnv_hook *hook; /**< on the tape; NULL: no budget is wanted */
    struct nnv_hook *note; /**< numbers that row 0 leaves to the others, as many as were asked for; or NULL */
    size_t at;             /**< the next hook */
};

/** Out-of-line part of nnv_strip_of. */
struct nnv_strip nnv_strip_open(struct nnv_kernel *k, size_t n, size_t notes);
/** A strip of n hooks, and room for so many notes. Until its last hook was called no other hook may be. */
static inline struct nnv_strip nnv_strip_of(struct nnv_kernel *k, size_t n, size_t notes) {
    return k->noise ? nnv_strip_open(k, n, notes) : (struct nnv_strip){.k = k};
}

static inline nnv_two nnv_two_of(double v) { return (nnv_two){v, v}; }
static inline nnv_two_bits nnv_two_bits_of(int64_t bits) { return (nnv_two_bits){bits, bits}; }
/** f of both. */
static inline nnv_two nnv_two_map(const struct nnv_kernel *k, double (*f)(double), nnv_two v) {
    const double first = f(v[0]);
    return (nnv_two){first, k->next ? f(v[1]) : first};
}
/** Their square roots. */
static inline nnv_two nnv_two_sqrt(nnv_two v) { return (nnv_two){sqrt(v[0]), sqrt(v[1])}; }
/** The results of an element, which lies at y in row k->row. */
static inline void nnv_two_put(const struct nnv_kernel *k, double *y, nnv_two v) {
    y[0] = v[0];
    y[k->next] = v[1];
}

/** What was put there. */
static inline nnv_two nnv_two_get(const struct nnv_kernel *k, const double *y) { return (nnv_two){y[0], y[k->next]}; }

/** v where the mask of a comparison is set, else 0. */
#define NNV_TWO_WHERE(MASK, V) ((nnv_two)((nnv_two_bits)(MASK) & (nnv_two_bits)(V)))
static inline nnv_two nnv_two_abs(nnv_two v) { return NNV_TWO_WHERE(nnv_two_bits_of(INT64_MAX), v); }

/* Row 0 of a budget is computed: a hook is to write what it was given. */
static inline bool nnv_strip_writes(const struct nnv_strip *s) { return s->hook && !s->noise; }
/* The common parts of the hooks: of row 0, and of the others, and where no budget is wanted. */
static inline nnv_two nnv_two_write(struct nnv_strip *s, nnv_two v, nnv_two magnitude) {
    magnitude = NNV_TWO_WHERE(nnv_two_abs(v) <= DBL_MAX, magnitude);
    s->hook[s->at++] = (struct nnv_hook){v[0], magnitude[0]};
    return v;
}
static inline nnv_two nnv_two_read(struct nnv_strip *s, nnv_two v) { return s->noise ? v + s->noise[s->at++] : v; }
/** As nnv_noise_replay. */
static inline nnv_two nnv_two_replay(struct nnv_strip *s) {
    if (!s->noise) return nnv_two_of(0);
    const nnv_two v = nnv_two_of(s->hook[s->at].value) + s->noise[s->at];
    s->at++;
    return v;
}
/** As nnv_hazard, where all of the row's own numbers are to be `above`: a hazard where one is not above 0. */
static inline nnv_two nnv_two_positive(struct nnv_kernel *k, nnv_two v, nnv_two above) {
    return (nnv_two){nnv_hazard(k, v[0], !(above[0] > 0)), nnv_hazard(k, v[1], !(above[1] > 0))};
}
/** As nnv_noise_add, of noise that depends on row 0 alone. */
static inline nnv_two nnv_two_add(struct nnv_strip *s, nnv_two v, double magnitude) {
    return nnv_strip_writes(s) ? nnv_two_write(s, v, nnv_two_of(magnitude)) : nnv_two_read(s, v);
}
/** As nnv_round, nnv_sum (of which factor is 1), nnv_quotient, nnv_function. */
static inline nnv_two nnv_two_round(struct nnv_strip *s, nnv_two v) {
    if (!nnv_strip_writes(s)) return nnv_two_read(s, v);
    return nnv_two_write(s, v, s->k->u_i * nnv_two_abs(v) + NNV_TWO_WHERE(v != 0, nnv_two_of(s->k->eta)));
}
static inline nnv_two nnv_two_sum(struct nnv_strip *s, nnv_two v, double n, double sum_abs) {
    if (!nnv_strip_writes(s)) return nnv_two_read(s, v);
    return nnv_two_add(s, v, nnv_sum_noise(s->k, n, sum_abs) + (sum_abs != 0 ? s->k->eta : 0));
}
static inline nnv_two nnv_two_quotient(struct nnv_strip *s, nnv_two v) {
    if (!nnv_strip_writes(s)) return nnv_two_read(s, v);
    return nnv_two_write(s, v, 3 * s->k->u_i * nnv_two_abs(v));
}
static inline nnv_two nnv_two_function(struct nnv_strip *s, nnv_two v, double ulps) {
    if (!nnv_strip_writes(s)) return nnv_two_read(s, v);
    return nnv_two_write(s, v, 2 * nnv_ulps(s->k, ulps) * s->k->u_i * nnv_two_abs(v) + s->k->eta);
}

#endif
