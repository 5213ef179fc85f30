/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kernel.h What a golden kernel sees: one row of real numbers, and hooks where implementations may round.
 *
 * The evaluator runs a graph in 1 + n rows (Monte-Carlo arithmetic, docs/use/tolerances.md). Row 0 is the golden
 * result: reals in double, rounded once into the operand's type by the evaluator. Rows 1 to n get noise at each
 * hook: of either sign, of the size that row 0 wrote down for this hook. A kernel computes one row: it reads
 * real values, writes real values, and calls the hooks in an order that does not depend on the row.
 * Rounding, clamping to the fused activation and to the type, and the forced branches at discontinuities are
 * the evaluator's.
 *
 * A kernel is correct for all types at once: quantised inputs arrive dequantised (nnv_real) or, where sums of
 * products must stay exact, as centred integers q - zero_point (nnv_units) with their scale (nnv_scale).
 */
#ifndef NNV_EVAL_KERNEL_H
#define NNV_EVAL_KERNEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "reference/model/op.h"

struct nnv_row_input; /* rows.h */
struct nnv_flow;      /* flow.h */

/** What row 0 wrote down at one hook. */
struct nnv_hook {
    double value, magnitude; /**< a branch: score and half width */
};

/** Random signs, 64 a draw. */
struct nnv_signs {
    struct nnv_rng rng;
    uint64_t bits;
    int left;
};

/** A number with the next sign: v or -v. */
static inline double nnv_either_sign(struct nnv_signs *s, double v) {
    uint64_t number;
    if (s->left == 0) {
        s->bits = nnv_rng_u64(&s->rng);
        s->left = 64;
    }
    memcpy(&number, &v, sizeof number);
    number ^= ((s->bits & 1) ^ 1) << 63;
    memcpy(&v, &number, sizeof v);
    s->bits >>= 1;
    s->left--;
    return v;
}

/** The hooks of one operation: row 0 writes the tape, the others read it. Zero-initialise; free tape and strip. */
struct nnv_noise {
    int rows;                /**< perturbed rows */
    uint64_t seed, op;       /**< key of the signs: seed of the run, number of the operation */
    struct nnv_signs signs;  /**< of this row */
    struct nnv_signs others; /**< of the row that is computed beside it */
    struct nnv_hook *tape;
    size_t count, room, at;
    void *strip; /**< of strip.h: room for the noise of so many hooks */
    size_t strip_room;
    bool strips;  /**< of strip.h: row 0 opened one, so that rows may be computed two at a time */
    bool replays; /**< nnv_noise_replay_all was called in row 0: its hooks are its results */
    bool hazard;  /**< nnv_hazard met one in row 0 */
    bool no_memory;
    bool broken;                     /**< a row called other hooks than row 0 */
    uint64_t alternative, decisions; /**< see nnv_decide: key, and number of open decisions so far */
    bool open;                       /**< there was one */
};

struct nnv_kernel {
    const struct nnv_call *call; /**< all shapes and scalar values are known */
    struct nnv_arena *scratch;   /**< for the kernel's temporaries; emptied after each row */
    enum nnv_rounding rounding;  /**< preset to the record's; a kernel may set it to what holds for this call, in every
                                      row alike: CONCATENATION of equally quantised or float inputs is NNV_ROUND_NONE */
    double *const *out;          /**< per output: where the real results of this row go (zeroed) */
    double *multiplier;          /**< NNV_ROUND_LINEAR and quantised, row 0, budgets wanted: per element of output 0
                                      the factor from integer sum to output unit. NNV_ROUND_RESCALE: the terms of a
                                      sum in units of the output, where they may cancel each other. Else NULL */
    int row;                     /**< 0: golden */
    size_t next;             /**< strip.h: how far behind results of this row those of the next are; 0: it is computed
                                  alone */
    bool same_inputs;        /**< this row's inputs equal row 0's */
    bool spreads;            /**< the inputs of some row do not */
    struct nnv_noise *noise; /**< NULL: golden row only, the hooks do nothing */
    double u_i, u_a, eta;    /**< units of the hooks: intermediates, accumulators, smallest normal; 0 for quantised */
    const struct nnv_arithmetic *arithmetic; /**< what is promised beyond these */
    int choice;                              /**< see nnv_eval_options */
    int choices;                /**< row 0 writes the most tied numbers that it chose from; 0: there was no choice */
    struct nnv_row_input *rows; /**< per input position: this row's values (evaluator's) */
    void *job;                  /**< evaluator's */
    struct nnv_flow *flow; /**< control flow, evaluated once for all rows: see flow.h. Of the members above only call
                                and scratch are set then. NULL for all other operations */
};

/** Real values of tensor input id, row-major; NULL if absent or omitted. */
const double *nnv_real(struct nnv_kernel *k, int id);
/** As nnv_real, by position: for repeated slots, pos = call->pos[id] + i. */
const double *nnv_real_at(struct nnv_kernel *k, uint32_t pos);
/** Quantised: q - zero_point; other types: the value itself. NULL if absent or omitted. */
const double *nnv_units(struct nnv_kernel *k, int id);
/** Real value of one unit of tensor input id: its scale, scale of channel c for per-channel, 1 for other types. */
double nnv_scale(const struct nnv_kernel *k, int id, uint32_t c);
/** Elements of input id; 0 if absent or omitted. */
size_t nnv_elems(const struct nnv_kernel *k, int id);
/** Shape of input id (call it only for inputs that are present) and of output i. */
const struct nnv_shape *nnv_in_shape(const struct nnv_kernel *k, int id);
const struct nnv_shape *nnv_out_shape(const struct nnv_kernel *k, uint32_t i);
/** Out-of-line part of nnv_spread. */
double nnv_spread_of(const struct nnv_kernel *k, int id, size_t e);
/** Largest |x_row - x_0| over all rows of element e of input id (0 in a golden-only run). */
static inline double nnv_spread(const struct nnv_kernel *k, int id, size_t e) {
    return k->spreads ? nnv_spread_of(k, id, e) : 0;
}
/**
 * How far from row 0's value of element e of input id a correct implementation's may lie: twice the spread and a
 * unit in the last place; of a value that is known exactly 0, or itself if it may be flushed to zero. NaN: anywhere.
 */
double nnv_reach(struct nnv_kernel *k, int id, size_t e);

/**
 * For extents that infer could not know, since they depend on values: gives output i its shape, and k->out[i] room
 * (zeroed). Called by row 0, once; in the other rows both are there. NNV_INVALID if the model declares another shape.
 */
NNV_USE_RESULT enum nnv_status nnv_give_shape(struct nnv_kernel *k, uint32_t i, const struct nnv_shape *shape,
                                              struct nnv_err *err);

/* ------------------------------------------------------------------- hooks */

/** Row 0 wrote a magnitude somewhere, or met a hazard, so that rows with equal inputs differ. */
bool nnv_noise_active(const struct nnv_noise *n);
/** Makes room on the tape; false if there is no memory, which the evaluator tells. */
bool nnv_noise_grow(struct nnv_noise *n);
/** Row 0 writes down what it gives to a hook. */
static inline void nnv_noise_write(struct nnv_noise *n, double value, double magnitude) {
    if (n->count == n->room && !nnv_noise_grow(n)) return;
    n->tape[n->count++] = (struct nnv_hook){value, magnitude};
}
/** What row 0 wrote at this hook. */
static inline const struct nnv_hook *nnv_noise_read(struct nnv_noise *n) {
    static const struct nnv_hook none = {0, 0};
    if (n->at < n->count) return &n->tape[n->at++];
    n->broken = true;
    return &none;
}
/** The common part of the hooks: row 0 writes magnitude down, other rows return v with noise. */
static inline double nnv_noise_add(struct nnv_kernel *k, double v, double magnitude) {
    if (k->row > 0) return v + nnv_either_sign(&k->noise->signs, nnv_noise_read(k->noise)->magnitude);
    nnv_noise_write(k->noise, v, isfinite(v) ? magnitude : 0);
    return v;
}
/** Only in rows whose same_inputs is set: the value that row 0 gave to this hook, which need not be computed again,
 * with noise. */
static inline double nnv_noise_replay(struct nnv_kernel *k) {
    const struct nnv_hook *h = nnv_noise_read(k->noise);
    return h->value + nnv_either_sign(&k->noise->signs, h->magnitude);
}
/**
 * In rows whose same_inputs is set, of a kernel that calls one hook for each of n elements, which is its result: gives
 * them all by nnv_noise_replay. False: nothing was done, since this is another row, or row 0 met a hazard. Such a
 * kernel calls it first in row 0 as well: where nobody reads the rows, they need not be computed.
 */
bool nnv_noise_replay_all(struct nnv_kernel *k, size_t n, double *y);
/** A decision score > 0 that implementations may take either way when |score| <= half_width. */
bool nnv_noise_branch(struct nnv_kernel *k, double score, double half_width);
/**
 * A decision of row 0 alone on what the results are, not on their values: score > 0. It is open, implementations may
 * take it either way, where |score| <= half_width, and half_width is above 0. The golden result is that of score > 0;
 * alternatives (see nnv_eval_options) take open ones at random. The other rows follow row 0: see nnv_recall.
 */
bool nnv_decide(struct nnv_kernel *k, double score, double half_width);
/** The same, and for the same key always alike. */
bool nnv_decide_same(struct nnv_kernel *k, double score, double half_width, uint64_t key);
/** What row 0 gave to this hook; row 0 gives it. For what was decided: indices, counts. */
double nnv_recall(struct nnv_kernel *k, double v);
/** Out-of-line part of nnv_hazard: v in row 0, NaN in the others (infinity where v is NaN in all rows). */
double nnv_noise_hazard(struct nnv_kernel *k, double v);

/** How far the rounding of v to the operand's type takes it at most. */
static inline double nnv_rounding(const struct nnv_kernel *k, double v) {
    return k->u_i * fabs(v) + (v != 0 ? k->eta : 0);
}
/** An elementwise intermediate that may be rounded to the operand's type. */
static inline double nnv_round(struct nnv_kernel *k, double v) {
    return k->noise ? nnv_noise_add(k, v, nnv_rounding(k, v)) : v;
}
/**
 * Counts the terms of a sum by what their roundings add up to. Those of equal terms fall to the same side, one partial
 * sum after the other, so that m of them weigh as much as m^2 different ones. Zeros round nothing. Zero-initialise.
 */
struct nnv_terms {
    double weight;
    struct {
        double value, number;
    } seen[16]; /**< by the hash of the value: what makes room for another is weighed */
};
/** Adds a term. */
void nnv_terms_add(struct nnv_terms *t, double v);
/** The n of nnv_sum for a sum of n of these terms, at least n. */
double nnv_terms_end(struct nnv_terms *t, double n);
/** The terms of a sum are to be counted: in row 0 of a budget, where float32 sums round. */
static inline bool nnv_counts_terms(const struct nnv_kernel *k) {
    return k->noise && k->row == 0 && k->u_a > 0 && k->u_a <= 0x1p-24;
}
/**
 * The noise of a sum of n terms. Roundings of float32 fall to either side, and grow with the root of n. Those of
 * float16 do not: small terms vanish beside a large sum. A sum is off by at most u times the absolute values of all
 * partial sums (Higham, Accuracy and Stability of Numerical Algorithms, 2002, 4.2), which grow to sum_abs evenly where
 * terms are of like size; never by more than sum_abs; and beyond its range by anything. Budgets double it.
 */
double nnv_sum_noise(const struct nnv_kernel *k, double n, double sum_abs);

/** A sum of n terms (bias included) whose absolute values add up to sum_abs; factor 2 where Winograd is legal, else 1.
 */
static inline double nnv_sum(struct nnv_kernel *k, double v, double n, double sum_abs, double factor) {
    if (!k->noise) return v;
    return nnv_noise_add(k, v, k->row > 0 ? 0 : factor * nnv_sum_noise(k, n, sum_abs) + (sum_abs != 0 ? k->eta : 0));
}
/** A quotient: 1.5 ulp. */
static inline double nnv_quotient(struct nnv_kernel *k, double v) {
    return k->noise ? nnv_noise_add(k, v, 3 * k->u_i * fabs(v)) : v;
}
/** Units in the last place that a function may be wrong by, of which `own` are usual. */
static inline double nnv_ulps(const struct nnv_kernel *k, double own) {
    return own > k->arithmetic->functions ? own : k->arithmetic->functions;
}
/** The value of a function that may be wrong by `ulps` units in the last place. */
static inline double nnv_function(struct nnv_kernel *k, double v, double ulps) {
    return k->noise ? nnv_noise_add(k, v, 2 * nnv_ulps(k, ulps) * k->u_i * fabs(v) + k->eta) : v;
}
/** The value of LOGISTIC or TANH: a table of them is as good near 0 as near 1. */
static inline double nnv_sigmoid(struct nnv_kernel *k, double v, double ulps) {
    const double off = k->u_i > 0 ? k->arithmetic->logistic : 0;
    return k->noise ? nnv_noise_add(k, v, 2 * nnv_ulps(k, ulps) * k->u_i * fabs(v) + off + k->eta) : v;
}
/** Ulps of functions that drivers approximate. */
enum {
    NNV_ULPS_EXP = 3,
    NNV_ULPS_LOG = 3,
    NNV_ULPS_TANH = 5,
    NNV_ULPS_LOGISTIC = 5,
    NNV_ULPS_SQRT = 2,
    NNV_ULPS_RSQRT = 3
};
/** True if a number that is not 0 may be taken for 0, as it lies below the smallest normal. */
static inline bool nnv_may_vanish(const struct nnv_kernel *k, double v) { return v != 0 && fabs(v) < k->eta; }
/** True if row 0's value of an input to LOG, SQRT, a divisor ... makes the results of other rows meaningless: they
 * become NaN, "not compared". */
static inline double nnv_hazard(struct nnv_kernel *k, double v, bool hazard) {
    return hazard && k->noise ? nnv_noise_hazard(k, v) : v;
}

/* ------------------------------------------------------------- shared parts */

/** An image tensor in either layout: extents and element strides. */
struct nnv_image_layout {
    uint32_t n, h, w, c;
    size_t sn, sh, sw, sc;
};
struct nnv_image_layout nnv_image_of(const struct nnv_shape *s, bool nchw);
static inline size_t nnv_image_at(const struct nnv_image_layout *m, uint32_t n, uint32_t h, uint32_t w, uint32_t c) {
    return n * m->sn + h * m->sh + w * m->sw + c * m->sc;
}

/**
 * C[m,n] = A[m,k] * B[n,k]^T in double precision; row-major, dense; C is overwritten; k may be 0. Sums of integers
 * below 2^53 are exact. Up to 2^21 products are summed in a fixed order; more go through OpenBLAS, whose last bits
 * depend on the processor.
 */
void nnv_matmul(size_t m, size_t n, size_t k, const double *a, const double *b, double *c);

#endif
