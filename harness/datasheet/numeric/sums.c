/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sums.c How sums are computed. Of a row of ones with a huge M and -M at places i and j those ones survive that
 * are added after M and -M have met: their number tells the size of the smallest subtree of the sum that holds both
 * (as FPRev has it, Xie et al. 2024, arXiv:2411.00442), and the smallest M that swallows a 1 the accumulator's bits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/datasheet/numeric/numeric.h"
#include "reference/model/builder.h"
#include "reference/model/op.h"

enum {
    TERMS = 128, /* of a sum */
    PLACES = 14, /* of M and -M where the accumulator is looked for */
    MOST_BITS = 60,
    PAIRS = 480, /* of places where the order is looked for */
};

/** The operation that sums up input 0 of shape [rows, n], or as an image; returns its output. */
static uint32_t add_operation(struct nnv_builder *b, int32_t op, const struct nnv_sums_form *f, uint32_t rows,
                              uint32_t n, const double *weights, uint32_t *in) {
    const uint32_t flat[] = {rows, n}, cube[] = {1, rows, n}, image[] = {1, rows, 1, n}, row[] = {1, n},
                   filter[] = {1, 1, 1, n}, column[] = {1, n, 1}, one[] = {1}, sums[] = {rows, 1},
                   sums3[] = {1, rows, 1}, sums4[] = {1, rows, 1, 1}, sums1[] = {rows};
    uint32_t y;
    switch (op) {
    case ANEURALNETWORKS_CONV_2D: {
        *in = nnv_builder_tensor(b, f->x, 4, image, NNV_SUBGRAPH_INPUT);
        y = nnv_builder_tensor(b, f->y, 4, sums4, NNV_SUBGRAPH_OUTPUT);
        const uint32_t args[] = {*in,
                                 nnv_builder_numbers(b, f->w, 4, filter, weights),
                                 nnv_builder_filled(b, f->bias, 1, one, 0),
                                 nnv_builder_int(b, ANEURALNETWORKS_PADDING_VALID),
                                 nnv_builder_int(b, 1),
                                 nnv_builder_int(b, 1),
                                 nnv_builder_int(b, ANEURALNETWORKS_FUSED_NONE)};
        nnv_builder_add(b, op, 7, args, y);
        return y;
    }
    case ANEURALNETWORKS_BATCH_MATMUL: {
        *in = nnv_builder_tensor(b, f->x, 3, cube, NNV_SUBGRAPH_INPUT);
        y = nnv_builder_tensor(b, f->y, 3, sums3, NNV_SUBGRAPH_OUTPUT);
        const uint32_t args[] = {*in, nnv_builder_numbers(b, f->w, 3, column, weights), nnv_builder_bool(b, false),
                                 nnv_builder_bool(b, false)};
        nnv_builder_add(b, op, 4, args, y);
        return y;
    }
    case ANEURALNETWORKS_REDUCE_SUM: {
        *in = nnv_builder_tensor(b, f->x, 2, flat, NNV_SUBGRAPH_INPUT);
        y = nnv_builder_tensor(b, f->y, 1, sums1, NNV_SUBGRAPH_OUTPUT);
        const uint32_t args[] = {*in, nnv_builder_ints(b, 1, (const int32_t[]){1}), nnv_builder_bool(b, false)};
        nnv_builder_add(b, op, 3, args, y);
        return y;
    }
    default: {
        *in = nnv_builder_tensor(b, f->x, 2, flat, NNV_SUBGRAPH_INPUT);
        y = nnv_builder_tensor(b, f->y, 2, sums, NNV_SUBGRAPH_OUTPUT);
        const uint32_t args[] = {*in, nnv_builder_numbers(b, f->w, 2, row, weights),
                                 nnv_builder_filled(b, f->bias, 1, one, 0),
                                 nnv_builder_int(b, ANEURALNETWORKS_FUSED_NONE)};
        nnv_builder_add(b, ANEURALNETWORKS_FULLY_CONNECTED, 4, args, y);
        return y;
    }
    }
}

bool nnv_sums_run_as(const struct nnv_numeric_engine *e, int32_t op, const struct nnv_sums_form *f, size_t rows,
                     size_t n, const double *x, const double *weights, double *out) {
    struct nnv_builder b = {.arena = e->arena};
    uint32_t in;
    const uint32_t y = add_operation(&b, op, f, (uint32_t)rows, (uint32_t)n, weights, &in);
    return nnv_numeric_run(e, &b, 1, &in, &x, y, out);
}

bool nnv_sums_run(const struct nnv_numeric_engine *e, struct nnv_sums s, size_t rows, size_t n, const double *x,
                  const double *weights, double *out) {
    const struct nnv_encoding t = {.type = s.type};
    const struct nnv_sums_form form = {t, t, t, t};
    double *ones = weights ? NULL : NNV_NEW(e->arena, double, n);
    if (!weights && !ones) return false;
    for (size_t i = 0; ones && i < n; i++) ones[i] = 1;
    return nnv_sums_run_as(e, s.op, &form, rows, n, x, weights ? weights : ones, out);
}

/* ----------------------------------------------------------------- the accumulator */

/** The unit that stands for 1: such that units and M's fit the type. */
static double unit_of(int32_t type) { return nnv_type(type)->size == 2 ? 0x1p-10 : 1; }
static int most_bits(int32_t type) { return nnv_type(type)->size == 2 ? 25 : MOST_BITS; }

static void fill(double *row, size_t n, double unit, size_t i, size_t j, int bits) {
    for (size_t k = 0; k < n; k++) row[k] = unit;
    row[i] = ldexp(unit, bits);
    row[j] = -row[i];
}

/** Bits of the accumulator: the least M that swallows a 1 is 2^bits. 0: the driver does not sum; MOST_BITS + 1: none.
 */
static int accumulator_bits(const struct nnv_numeric_engine *e, struct nnv_sums s) {
    /* Each also the other way round: M first or last of the two that the order meets. */
    static const size_t place[PLACES / 2] = {1, 2, 3, 8, 33, 64, TERMS - 1};
    const int most = most_bits(s.type);
    const size_t rows = (size_t)(most + 1) * PLACES;
    double *x = NNV_NEW(e->arena, double, rows *TERMS), *out = NNV_NEW(e->arena, double, rows);
    if (!x || !out) return 0;
    for (int bits = 0; bits <= most; bits++)
        for (size_t k = 0; k < PLACES; k++) {
            const size_t other = place[k / 2];
            fill(x + ((size_t)bits * PLACES + k) * TERMS, TERMS, unit_of(s.type), k % 2 ? other : 0, k % 2 ? 0 : other,
                 bits);
        }
    if (!nnv_sums_run(e, s, rows, TERMS, x, NULL, out)) return 0;
    for (int bits = 0; bits <= most; bits++)
        for (size_t k = 0; k < PLACES; k++)
            if (out[(size_t)bits * PLACES + k] != (TERMS - 2) * unit_of(s.type)) return bits;
    return MOST_BITS + 1;
}

static const char *type_of_bits(int bits) {
    return bits == 8    ? "bfloat16"
           : bits == 11 ? "float16"
           : bits == 24 ? "float32"
           : bits == 53 ? "float64"
           : bits == 64 ? "extended"
                        : NULL;
}

/* ------------------------------------------------------------------------ the order */

/** Places of M and -M, and the size of the smallest subtree of the sum that holds both. */
struct pair {
    size_t i, j, size;
};

static bool look(const struct nnv_numeric_engine *e, struct nnv_sums s, int bits, struct pair *p) {
    double *x = NNV_NEW(e->arena, double, (size_t)PAIRS *TERMS), *out = NNV_NEW(e->arena, double, PAIRS);
    struct nnv_rng rng = nnv_rng_make(1, nnv_hash_str("order"), 0);
    if (!x || !out) return false;
    for (size_t k = 0; k < PAIRS; k++) {
        p[k].i = k < TERMS - 1 ? 0 : (size_t)nnv_rng_int(&rng, 0, TERMS - 2);
        p[k].j = k < TERMS - 1 ? k + 1 : (size_t)nnv_rng_int(&rng, (int64_t)p[k].i + 1, TERMS - 1);
        fill(x + k * TERMS, TERMS, unit_of(s.type), p[k].i, p[k].j, bits);
    }
    if (!nnv_sums_run(e, s, PAIRS, TERMS, x, NULL, out)) return false;
    for (size_t k = 0; k < PAIRS; k++) p[k].size = (size_t)(TERMS - out[k] / unit_of(s.type));
    return true;
}

static size_t sequential(size_t i, size_t j) { return (i > j ? i : j) + 1; }
static size_t backwards(size_t i, size_t j) { return TERMS - (i < j ? i : j); }
static size_t pairwise(size_t i, size_t j) {
    size_t size = 1;
    for (; i != j; i /= 2, j /= 2) size *= 2;
    return size;
}

/** The part of the pairs that an order explains. */
static double fits(const struct pair *p, size_t (*size)(size_t, size_t)) {
    size_t n = 0;
    for (size_t k = 0; k < PAIRS; k++) n += p[k].size == size(p[k].i, p[k].j);
    return (double)n / PAIRS;
}

/** Terms k, k + lanes, k + 2 lanes ... are summed up one after the other, and the sums of lanes at the end. */
static bool interleaved(const struct pair *p, size_t lanes) {
    for (size_t k = 0; k < PAIRS; k++) {
        const bool same = p[k].i % lanes == p[k].j % lanes;
        if (same ? p[k].size != p[k].j / lanes + 1 : p[k].size % (TERMS / lanes) != 0) return false;
    }
    return true;
}

/** Blocks of neighbours are summed up one after the other, and what comes of them at the end. */
static bool blocked(const struct pair *p, size_t block) {
    for (size_t k = 0; k < PAIRS; k++) {
        const bool same = p[k].i / block == p[k].j / block;
        if (same ? p[k].size != p[k].j % block + 1 : p[k].size % block != 0) return false;
    }
    return true;
}

static void tell_order(const struct nnv_numeric_engine *e, const char *about, const struct pair *p) {
    char is[96] = "not recognised", evidence[200];
    size_t least = TERMS;
    for (size_t k = 0; k < PAIRS; k++) least = p[k].size < least ? p[k].size : least;
    snprintf(evidence, sizeof evidence,
             "%d pairs of places in %d terms; terms 0 and 1, 8, 64 meet in sums of %zu, %zu, %zu", PAIRS, TERMS,
             p[0].size, p[7].size, p[63].size);
    if (fits(p, sequential) >= 1)
        snprintf(is, sizeof is, "one after the other");
    else if (fits(p, backwards) >= 1)
        snprintf(is, sizeof is, "one after the other, from the last");
    else if (fits(p, pairwise) >= 1)
        snprintf(is, sizeof is, "pairwise");
    else
        for (size_t n = 2; n < TERMS; n *= 2) {
            if (interleaved(p, n)) {
                snprintf(is, sizeof is, "%zu interleaved partial sums", n);
                break;
            }
            if (blocked(p, n)) {
                snprintf(is, sizeof is, "blocks of %zu neighbours", n);
                break;
            }
        }
    nnv_numeric_say(e, about, "order of summation", is, evidence);
}

/* ----------------------------------------------------------------------- contraction */

/**
 * (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24, and 0 where the product is rounded to float32 before. The two terms lie a
 * multiple of all usual numbers of partial sums apart, either of them first: the first product has nothing to fuse
 * with.
 */
static void tell_contraction(const struct nnv_numeric_engine *e, const char *about, struct nnv_sums s) {
    enum { APART = TERMS / 2 };
    const double a = 1 + 0x1p-12, rounded = -(1 + 0x1p-11);
    double out[2];
    for (int k = 0; k < 2; k++) {
        double x[TERMS] = {0}, w[TERMS] = {0};
        const size_t product = k ? APART : 0;
        x[product] = w[product] = a;
        x[APART - product] = rounded;
        w[APART - product] = 1;
        if (!nnv_sums_run(e, s, 1, TERMS, x, w, &out[k])) return;
    }
    char evidence[200];
    snprintf(evidence, sizeof evidence, "(1+2^-12)^2 - (1+2^-11) is %g, and %g in the other order", out[0], out[1]);
    nnv_numeric_say(e, about, "products in sums",
                    out[0] != 0 || out[1] != 0 ? "not rounded before they are added (FMA)"
                                               : "rounded before they are added",
                    evidence);
}

void nnv_measure_sums(const struct nnv_numeric_engine *e, struct nnv_sums s) {
    char about[64], is[96], evidence[200];
    struct pair *p = NNV_NEW(e->arena, struct pair, PAIRS);
    const bool half = nnv_type(s.type)->size == 2;
    const int bits = accumulator_bits(e, s);
    if (!p || bits == 0) return;
    snprintf(about, sizeof about, "%s %s", nnv_op(s.op)->name, nnv_type(s.type)->tag);
    const char *type = type_of_bits(bits);
    if (bits > most_bits(s.type)) {
        snprintf(is, sizeof is, "of more than %d bits", most_bits(s.type));
        snprintf(evidence, sizeof evidence, "2^%d and 1 add up exactly", most_bits(s.type));
    } else {
        if (type)
            snprintf(is, sizeof is, "%s", type);
        else
            snprintf(is, sizeof is, "of %d bits", bits);
        snprintf(evidence, sizeof evidence, "2^%d is the least that swallows a 1", bits);
    }
    nnv_numeric_say(e, about, "accumulator", is, evidence);
    if (half && bits <= 11) e->out->arithmetic.half_sums = true;
    const int swallowing = bits + 8; /* more than the sum of all terms is swallowed */
    if (swallowing <= most_bits(s.type) + (half ? 0 : 20) && look(e, s, swallowing, p)) tell_order(e, about, p);
    if (bits == 24 && !half && s.op != ANEURALNETWORKS_REDUCE_SUM) tell_contraction(e, about, s);
}
