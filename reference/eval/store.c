/* SPDX-License-Identifier: Apache-2.0 */
/* The store step: from the real results of all rows to the stored numbers of an operand. */
#include <string.h>

#include "reference/eval/rows.h"

enum { FORCED_STREAM = 0 };

/* Unlike fmin and fmax these keep NaN, which means "not compared" in a row. */
static double clamp(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

static double *row_of(const struct nnv_store *s, int r) { return s->y + (size_t)r * s->elems; }

/* Signs or patterns of this output: stream 0 for forced branches, r for the noise of row r. */
static struct nnv_rng stream(const struct nnv_store *s, int r) {
    return nnv_rng_make(s->seed, s->key, (uint64_t)(uint32_t)r + (UINT64_C(1) << 40));
}

/* Largest deviation of a row from row 0 at element e; NaN if there is one. */
static double spread_of(const double *y, size_t elems, int rows, size_t e) {
    double most = 0;
    for (int r = 1; r <= rows; r++) {
        double d = fabs(y[(size_t)r * elems + e] - y[e]);
        if (isnan(d)) return d;
        if (d > most) most = d;
    }
    return most;
}

void nnv_spread_rows(const double *y, size_t elems, int rows, double most, double *spread) {
    for (size_t e = 0; e < elems; e++) {
        bool agree = !isfinite(y[e]); /* not finite, and in every row the same */
        for (int r = 1; r <= rows && agree; r++) {
            double v = y[(size_t)r * elems + e];
            agree = v == y[e] || (isnan(v) && isnan(y[e])) || (most > 0 && v == copysign(most, y[e]));
        }
        double d = agree ? 0 : spread_of(y, elems, rows, e);
        spread[e] = isfinite(d) ? d : (double)NAN;
    }
}

/* Rows 1 to n become NaN, "not compared". */
static void give_up(const struct nnv_store *s, size_t e) {
    for (int r = 1; r <= s->rows; r++) row_of(s, r)[e] = (double)NAN;
}

/* Rows 1 to n take the value up or down, evenly. */
static void force(const struct nnv_store *s, size_t e, struct nnv_rng *rng, double down, double up) {
    uint64_t pattern = nnv_branch_pattern(rng, s->rows);
    for (int r = 1; r <= s->rows; r++) row_of(s, r)[e] = pattern >> (r - 1) & 1 ? up : down;
}

/* Row 0 as it is stored, and the unrounded results where wanted. */
static void store_row_0(const struct nnv_store *s) {
    nnv_store(s->operand->type, s->y, s->elems, s->data);
    if (s->rows > 0) nnv_load(s->operand->type, s->data, s->elems, s->y);
}

static void keep_exact(const struct nnv_store *s) {
    if (!s->exact) return;
    for (size_t e = 0; e < s->elems; e++) s->exact[e] = s->clamp ? clamp(s->y[e], s->lo, s->hi) : s->y[e];
}

/* ------------------------------------------------------------------- float */

static void add_noise(const struct nnv_store *s, int r) {
    const double *y0 = s->y;
    double *y = row_of(s, r);
    struct nnv_signs signs = {.rng = stream(s, r)};
    for (size_t e = 0; e < s->elems; e++) {
        double m = isfinite(y0[e]) ? s->u * fabs(y0[e]) + (y0[e] != 0 ? s->eta : 0) : 0;
        y[e] += nnv_sign(&signs) * m;
    }
}

static void clamp_row(const struct nnv_store *s, int r) {
    double *y = row_of(s, r);
    for (size_t e = 0; e < s->elems; e++) y[e] = clamp(y[e], s->lo, s->hi);
}

/* Beyond the range of float16 implementations overflow, saturate or go on in float32. */
static void check_range(const struct nnv_store *s) {
    for (size_t e = 0; e < s->elems; e++) {
        double most = fabs(s->y[e]);
        for (int r = 1; r <= s->rows; r++) most = fmax(most, fabs(row_of(s, r)[e]));
        if (isfinite(most) && most > s->limit - s->k * spread_of(s->y, s->elems, s->rows, e)) give_up(s, e);
    }
}

/* Every other row takes the largest finite number for infinity. */
static void saturate(const struct nnv_store *s) {
    for (size_t e = 0; e < s->elems; e++)
        for (int r = 1; r <= s->rows && isinf(s->y[e]); r += 2) row_of(s, r)[e] = copysign(s->saturates, s->y[e]);
}

static void store_float(const struct nnv_store *s) {
    keep_exact(s);
    for (int r = 1; r <= s->rows; r++) {
        if (s->rounding != NNV_ROUND_NONE) add_noise(s, r);
        if (s->clamp) clamp_row(s, r);
    }
    if (s->clamp) clamp_row(s, 0);
    if (s->saturates > 0) saturate(s);
    if (s->limit > 0 && s->rows > 0) check_range(s);
    store_row_0(s);
}

/*
 * An input that is equal in all rows is known exactly, and so is its floor; but a number below the smallest
 * normal may be taken as 0.
 */
static void store_floor(const struct nnv_store *s) {
    struct nnv_rng rng = stream(s, FORCED_STREAM);
    for (size_t e = 0; e < s->elems; e++) {
        double x0 = s->y[e], d = spread_of(s->y, s->elems, s->rows, e), h = 0;
        if (!(d <= 0))
            h = s->k * d + 2 * s->u * fabs(x0) + s->eta;
        else if (fabs(x0) < s->eta)
            h = fabs(x0);
        double down = floor(x0 - h), up = floor(x0 + h);
        for (int r = 1; r <= s->rows; r++) row_of(s, r)[e] = floor(row_of(s, r)[e]);
        s->y[e] = floor(x0);
        if (isnan(d) && isfinite(x0))
            give_up(s, e);
        else if (down != up && isfinite(x0) && s->rows > 0)
            force(s, e, &rng, down, up);
    }
    if (s->exact) memcpy(s->exact, s->y, s->elems * sizeof *s->y);
    store_row_0(s);
}

/* --------------------------------------------------------------- quantised */

/* The range of a quantised result, type and fused activation, as rows may see it. */
struct range {
    double lo, hi;
};

/* slack: how far, relatively, the bound divided by the scale may be off: near a tie implementations differ. */
static struct range range_of(const struct nnv_store *s, double slack) {
    const struct nnv_type *t = nnv_type(s->operand->type);
    struct range g = {t->min, t->max};
    if (!s->clamp) return g;
    double scale = (double)s->operand->scale, zp = s->operand->zero_point;
    double lo = nnv_round_half_away(s->lo / scale * (1 + slack)) + zp;
    double hi = nnv_round_half_away(s->hi / scale * (1 + slack)) + zp;
    return (struct range){clamp(lo, t->min, t->max), clamp(hi, t->min, t->max)};
}

/* Half width of the rounding of result r (in units of the output), apart from the spread of the inputs. */
static double rounding_width(const struct nnv_store *s, size_t e, double r) {
    double slack = fabs(r) * 0x1p-22;
    switch (s->rounding) {
    case NNV_ROUND_NONE:
    case NNV_ROUND_FLOOR:
        return 0;
    case NNV_ROUND_LINEAR: {
        /* Fixed point rounds twice: to a multiple of the multiplier's power of two first, which is that of the
         * multiplier as float arithmetic gives it. One just below a power of two counts as that power. */
        int exponent = 0;
        if (s->multiplier) frexp(s->multiplier[e] * (1 + 0x1p-22), &exponent);
        return (exponent < 0 ? ldexp(1, exponent - 1) : 0) + slack + 1e-6 + s->beyond;
    }
    case NNV_ROUND_RESCALE:
        /* Terms that cancel each other were rounded as large as they are. */
        if (s->multiplier) slack = fmax(slack, s->multiplier[e] * 0x1p-22);
        return 0x1p-14 + slack + 2 * s->from_u * fabs(r) + s->beyond;
    case NNV_ROUND_TABLE:
        return fmax(0.5, s->beyond) + slack;
    case NNV_ROUND_COUNT:
        break;
    }
    return 0;
}

/* Rounds element e of rows 1 to n, of which r0 is the result of row 0 in units. */
static void round_rows(const struct nnv_store *s, size_t e, double r0) {
    const double scale = (double)s->operand->scale, q0 = nnv_round_half_away(r0);
    for (int r = 1; r <= s->rows; r++) {
        double *q = row_of(s, r) + e;
        *q = s->alike ? q0 : nnv_round_half_away(*q / scale);
    }
}

static void store_quant(const struct nnv_store *s) {
    const double scale = (double)s->operand->scale, zp = s->operand->zero_point, slack = 0x1p-22;
    const struct range gold = range_of(s, 0), odd = range_of(s, slack), even = range_of(s, -slack);
    struct nnv_rng rng = stream(s, FORCED_STREAM);
    keep_exact(s);
    for (size_t e = 0; e < s->elems; e++) {
        double r0 = s->y[e] / scale, d = s->alike ? 0 * r0 : spread_of(s->y, s->elems, s->rows, e) / scale;
        if (s->rows > 0 && isnan(d)) {
            give_up(s, e);
        } else if (s->rows > 0) {
            double h = s->rounding == NNV_ROUND_NONE ? 0 : s->k * d + rounding_width(s, e, r0);
            double down = nnv_round_half_away(r0 - h), up = nnv_round_half_away(r0 + h);
            if (down != up)
                force(s, e, &rng, down, up);
            else
                round_rows(s, e, r0);
            for (int r = 1; r <= s->rows; r++) {
                double *q = row_of(s, r) + e;
                *q = clamp(*q + zp, r % 2 ? odd.lo : even.lo, r % 2 ? odd.hi : even.hi);
            }
        }
        s->y[e] = clamp(nnv_round_half_away(r0) + zp, gold.lo, gold.hi);
    }
    store_row_0(s);
}

/* ------------------------------------------------------ integers, booleans */

static void store_discrete(const struct nnv_store *s) {
    const struct nnv_type *t = nnv_type(s->operand->type);
    keep_exact(s);
    for (int r = 1; r <= s->rows; r++) {
        double *y = row_of(s, r);
        for (size_t e = 0; e < s->elems; e++)
            y[e] = t->kind == NNV_KIND_BOOL ? (isnan(y[e]) ? y[e] : y[e] != 0)
                                            : clamp(nnv_round_half_away(y[e]), t->min, t->max);
    }
    store_row_0(s);
}

static bool all_equal(const struct nnv_store *s) {
    for (int r = 1; r <= s->rows; r++) {
        const double *y = row_of(s, r);
        for (size_t e = 0; e < s->elems; e++)
            if (!(y[e] == s->y[e])) return false;
    }
    return true;
}

bool nnv_store_rows(const struct nnv_store *s) {
    switch (nnv_type(s->operand->type)->kind) {
    case NNV_KIND_FLOAT:
        s->rounding == NNV_ROUND_FLOOR ? store_floor(s) : store_float(s);
        break;
    case NNV_KIND_QUANT:
        store_quant(s);
        break;
    case NNV_KIND_INT:
    case NNV_KIND_BOOL:
    case NNV_KIND_MODEL:
        store_discrete(s);
        break;
    }
    return all_equal(s);
}
