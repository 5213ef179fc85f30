/* SPDX-License-Identifier: Apache-2.0 */
/* The store step: from the real results of all rows to the stored numbers of an operand. */
#include <string.h>

#include "base/matmul.h"
#include "reference/eval/rows.h"

enum {
    FORCED_STREAM = 0,
    BLOCK = 64 /* elements that go through all steps together, as many as a draw has signs */
};

/** The codes of a quantised result, that type and fused activation let be. */
struct range {
    double lo, hi;
};
/** Of row 0, and as rows of odd and of even numbers may see it. */
enum { GOLDEN, ODD, EVEN, RANGES };

/** Elements on their way, in all their rows. */
struct block {
    const struct nnv_store *s;
    struct nnv_rng *rng;   /**< FORCED_STREAM, and the noise of row r */
    struct nnv_rng *hooks; /**< the signs of row r's hooks */
    size_t at, n;          /**< of the output's elements */
    double *y;             /**< row 0; the others each stride behind the one before */
    size_t stride;
    int rows; /**< perturbed ones: the store's, or fewer that take all that those take: see rows_of() */
    struct range range[RANGES]; /**< quantised */
};

/* Unlike fmin and fmax these keep NaN, which means "not compared" in a row. */
static double clamp(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

static double *row_of(const struct block *b, int r) { return b->y + (size_t)r * b->stride; }

/* Signs or patterns of this output: stream 0 for forced branches, r for the noise of row r. */
static struct nnv_rng stream(const struct nnv_store *s, int r) {
    return nnv_rng_make(s->seed, s->key, (uint64_t)(uint32_t)r + (UINT64_C(1) << 40));
}

/* Largest deviation of a row from row 0 at each of n elements from y on; NaN if there is one. */
static void spread_of(const double *y, size_t stride, int rows, size_t n, double *spread) {
    for (size_t e = 0; e < n; e++) spread[e] = 0;
    for (int r = 1; r <= rows; r++)
        for (size_t e = 0; e < n; e++) {
            const double d = fabs(y[(size_t)r * stride + e] - y[e]);
            spread[e] = (d <= spread[e]) | isnan(spread[e]) ? spread[e] : d;
        }
}

NNV_WIDE void nnv_spread_rows(const double *y, size_t stride, int rows, double most, size_t n, double *spread) {
    size_t infinite = 0;
    spread_of(y, stride, rows, n, spread);
    for (size_t e = 0; e < n; e++) {
        infinite += !isfinite(y[e]);
        spread[e] = isfinite(spread[e]) ? spread[e] : (double)NAN;
    }
    for (size_t e = 0; e < n && infinite > 0; e++) {
        bool agree = !isfinite(y[e]); /* not finite, and in every row the same */
        for (int r = 1; r <= rows && agree; r++) {
            double v = y[(size_t)r * stride + e];
            agree = v == y[e] || (isnan(v) && isnan(y[e])) || (most > 0 && v == copysign(most, y[e]));
        }
        spread[e] = agree ? 0 : spread[e];
    }
}

/* The rows are not there but in row 0, with noise that this step adds. */
static bool is_apart(const struct nnv_store *s) { return s->alike || s->hooks; }

/* Rows 1 to n become NaN, "not compared". */
static void give_up(const struct block *b, size_t e) {
    for (int r = 1; r <= b->rows; r++) row_of(b, r)[e] = (double)NAN;
}

/* Row 0 as it is stored. */
static void store_row_0(const struct block *b) {
    const struct nnv_type *t = nnv_type(b->s->operand->type);
    char *data = (char *)b->s->data + b->at * t->size;
    nnv_store(t->code, b->y, b->n, data);
    if (b->rows > 0) nnv_load(t->code, data, b->n, b->y);
}

static void keep_exact(const struct block *b) {
    const struct nnv_store *s = b->s;
    for (size_t e = 0; s->exact && e < b->n; e++)
        s->exact[b->at + e] = s->clamp ? clamp(b->y[e], s->lo, s->hi) : b->y[e];
}

/* Rows 1 to n take the value up or down, evenly. */
static void force(const struct block *b, size_t e, double down, double up) {
    const uint64_t pattern = nnv_branch_pattern(&b->rng[FORCED_STREAM], b->rows);
    for (int r = 1; r <= b->rows; r++) row_of(b, r)[e] = pattern >> (r - 1) & 1 ? up : down;
}

/* ------------------------------------------------------------------- noise */

/** Bit e is set if row r goes up at element e: at the kernel's hook, and at the store. */
struct signs {
    uint64_t hook[NNV_MAX_ROWS + 1], store[NNV_MAX_ROWS + 1];
};

/* The block's rows take each pair of signs that one of all rows has at the element; where none has it, that of row 1.
 */
static void gather(const struct block *b, struct signs *s) {
    uint64_t some[4] = {0};
    const uint64_t first[] = {s->hook[1], s->store[1]};
    for (int r = 1; r <= b->s->rows; r++)
        for (int way = 0; way < 4; way++)
            some[way] |= (way & 1 ? s->hook[r] : ~s->hook[r]) & (way & 2 ? s->store[r] : ~s->store[r]);
    const int step = b->s->hooks ? 1 : 2;
    for (int r = 1, way = 0; r <= b->rows; r++, way += step) {
        s->hook[r] = (way & 1 ? some[way] : 0) | (first[0] & ~some[way]);
        s->store[r] = (way & 2 ? some[way] : 0) | (first[1] & ~some[way]);
    }
}

static void draw_signs(const struct block *b, bool at_store, struct signs *s) {
    for (int r = 1; r <= b->s->rows; r++) {
        s->hook[r] = b->s->hooks ? nnv_rng_u64(&b->hooks[r]) : 0;
        s->store[r] = at_store ? nnv_rng_u64(&b->rng[r]) : 0;
    }
    if (b->rows < b->s->rows) gather(b, s);
}

/* Rows 1 to n begin as row 0 where nobody computed them. */
static void begin_rows(const struct block *b) {
    for (int r = 1; r <= b->rows && b->s->alike; r++) memcpy(row_of(b, r), b->y, b->n * sizeof *b->y);
}

/* y = from + magnitude where the bit of up is set, from - magnitude elsewhere; four at once, for processors' sake. */
static void add_signed(const double *from, const double *magnitude, uint64_t up, size_t n, double *y) {
#define SIGNS(B)                                                                                                       \
    { (B) & 1 ? 1 : -1, (B)&2 ? 1 : -1, (B)&4 ? 1 : -1, (B)&8 ? 1 : -1 }
    static const double sign[16][4] = {SIGNS(0),  SIGNS(1),  SIGNS(2),  SIGNS(3), SIGNS(4),  SIGNS(5),
                                       SIGNS(6),  SIGNS(7),  SIGNS(8),  SIGNS(9), SIGNS(10), SIGNS(11),
                                       SIGNS(12), SIGNS(13), SIGNS(14), SIGNS(15)};
#undef SIGNS
    size_t e = 0;
    for (; e + 4 <= n; e += 4) {
        const double *s = sign[up >> e & 15];
        double v[4];
        for (size_t i = 0; i < 4; i++) v[i] = from[e + i] + s[i] * magnitude[e + i];
        memcpy(&y[e], v, sizeof v);
    }
    for (; e < n; e++) y[e] = from[e] + sign[up >> e & 1][0] * magnitude[e];
}

/* Rows 1 to n: row 0 with the noise of the kernel's hooks. */
static void add_hooks(const struct block *b, const struct signs *s) {
    double magnitude[BLOCK];
    for (size_t e = 0; e < b->n; e++) magnitude[e] = b->s->hooks->tape[b->at + e].magnitude;
    for (int r = 1; r <= b->rows; r++) add_signed(b->y, magnitude, s->hook[r], b->n, row_of(b, r));
}

/* ------------------------------------------------------------------- float */

/* Rows 1 to n: y plus or minus u times row 0. */
static void add_noise(const struct block *b) {
    struct signs s = {0};
    double magnitude[BLOCK];
    for (size_t e = 0; e < b->n; e++) {
        const double size = fabs(b->y[e]);
        magnitude[e] = isfinite(size) ? b->s->u * size + (size != 0 ? b->s->eta : 0) : 0;
    }
    draw_signs(b, true, &s);
    if (b->s->hooks) add_hooks(b, &s);
    for (int r = 1; r <= b->rows; r++) {
        double *y = row_of(b, r);
        add_signed(b->s->alike ? b->y : y, magnitude, s.store[r], b->n, y);
    }
}

static void clamp_rows(const struct block *b) {
    for (int r = 0; r <= b->rows; r++) {
        double *y = row_of(b, r);
        for (size_t e = 0; e < b->n; e++) y[e] = clamp(y[e], b->s->lo, b->s->hi);
    }
}

/* Beyond the range of float16 implementations overflow, saturate or go on in float32. */
static void check_range(const struct block *b) {
    double most[BLOCK], spread[BLOCK];
    for (size_t e = 0; e < b->n; e++) most[e] = fabs(b->y[e]);
    for (int r = 1; r <= b->rows; r++) {
        const double *y = row_of(b, r);
        for (size_t e = 0; e < b->n; e++) most[e] = fabs(y[e]) > most[e] || isnan(most[e]) ? fabs(y[e]) : most[e];
    }
    spread_of(b->y, b->stride, b->rows, b->n, spread);
    for (size_t e = 0; e < b->n; e++)
        if (isfinite(most[e]) && most[e] > b->s->limit - b->s->k * spread[e]) give_up(b, e);
}

/* Every other row takes the largest finite number for infinity. */
static void saturate(const struct block *b) {
    for (size_t e = 0; e < b->n; e++)
        for (int r = 1; r <= b->rows && isinf(b->y[e]); r += 2) row_of(b, r)[e] = copysign(b->s->most, b->y[e]);
}

static void store_float(const struct block *b) {
    keep_exact(b);
    if (b->rows > 0 && b->s->rounding != NNV_ROUND_NONE)
        add_noise(b);
    else
        begin_rows(b);
    if (b->s->clamp) clamp_rows(b);
    if (b->s->saturates) saturate(b);
    if (b->s->limit > 0 && b->rows > 0) check_range(b);
    store_row_0(b);
}

/*
 * An input that is equal in all rows is known exactly, and so is its floor; but a number below the smallest
 * normal may be taken as 0.
 */
static void store_floor(const struct block *b) {
    const struct nnv_store *s = b->s;
    double spread[BLOCK];
    begin_rows(b);
    spread_of(b->y, b->stride, b->rows, b->n, spread);
    for (size_t e = 0; e < b->n; e++) {
        double x0 = b->y[e], d = spread[e], h = 0;
        if (!(d <= 0))
            h = s->k * d + 2 * s->u * fabs(x0) + s->eta;
        else if (fabs(x0) < s->eta)
            h = fabs(x0);
        double down = floor(x0 - h), up = floor(x0 + h);
        for (int r = 0; r <= b->rows; r++) row_of(b, r)[e] = floor(row_of(b, r)[e]);
        if (isnan(d) && isfinite(x0))
            give_up(b, e);
        else if (down != up && isfinite(x0) && b->rows > 0)
            force(b, e, down, up);
    }
    if (s->exact) memcpy(s->exact + b->at, b->y, b->n * sizeof *b->y);
    store_row_0(b);
}

/* --------------------------------------------------------------- quantised */

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

/* The greatest power of two that is not above m, a normal number. */
static double power_below(double m) {
    uint64_t bits;
    memcpy(&bits, &m, sizeof bits);
    bits &= UINT64_C(0x7ff) << 52;
    memcpy(&m, &bits, sizeof bits);
    return m;
}

/* Half widths of the rounding of results r (in units of the output), apart from the spread of the inputs. */
static void rounding_widths(const struct block *b, const double *r, double *width) {
    const struct nnv_store *s = b->s;
    const double *m = s->multiplier ? s->multiplier + b->at : NULL, slack = 0x1p-22;
    memset(width, 0, b->n * sizeof *width);
    const double requantise = s->arithmetic->requantise, rescale = s->arithmetic->rescale, from_u = 2 * s->from_u;
    switch (s->schemes.one == NNV_SCHEME_ANY ? s->rounding : NNV_ROUND_NONE) {
    case NNV_ROUND_NONE:
    case NNV_ROUND_FLOOR:
    case NNV_ROUND_COUNT:
        break;
    case NNV_ROUND_LINEAR:
        /* Fixed point rounds twice: to a multiple of the multiplier's power of two first, which is that of the
         * multiplier as float arithmetic gives it. One just below a power of two counts as that power. */
        for (size_t e = 0; e < b->n; e++) {
            const double power = m ? power_below(m[e] * (1 + 0x1p-22)) : 1;
            width[e] = (power < 0.5 ? power : 0) + fabs(r[e]) * slack + 1e-6 + requantise;
        }
        break;
    case NNV_ROUND_RESCALE:
        /* Terms that cancel each other were rounded as large as they are. */
        for (size_t e = 0; e < b->n; e++) {
            const double own = fabs(r[e]) * slack, terms = m ? m[e] * slack : 0;
            width[e] = 0x1p-14 + (terms > own ? terms : own) + from_u * fabs(r[e]) + rescale;
        }
        break;
    case NNV_ROUND_TABLE:
        for (size_t e = 0; e < b->n; e++) width[e] = fmax(0.5, requantise) + fabs(r[e]) * slack;
        break;
    }
}

/* The multiplier of powers of two is the same in each arithmetic; others are rounded on the way. */
static double multiplier_slack(const struct nnv_store *s, size_t e) {
    int exponent;
    const bool exact = frexp(s->multiplier[e], &exponent) == 0.5 && frexp((double)s->operand->scale, &exponent) == 0.5;
    return exact ? 0 : 0x1p-22;
}

/* The code of result r of element e, in units, less the zero point; slack: how far, relatively, the multiplier is off.
 */
static double code_by(const struct nnv_store *s, enum nnv_scheme scheme, size_t e, double r, double slack) {
    if (scheme == NNV_SCHEME_ANY) return nnv_round_half_away(r);
    const double m = s->multiplier[e];
    return nnv_scheme_code(scheme, r / m, m * (1 + slack), s->operand->zero_point);
}

static double code_of(const struct nnv_store *s, size_t e, double r) { return code_by(s, s->schemes.one, e, r, 0); }

/** What the results of a block may become. */
struct branches {
    double code[BLOCK]; /**< of row 0 */
    double down[BLOCK], up[BLOCK];
    uint64_t pattern[BLOCK]; /**< where these differ: bit r - 1 is set if row r goes up */
};

/* r0: the results of row 0 in units. */
static void find_codes(const struct block *b, const double *r0, double *code) {
    if (b->s->schemes.one == NNV_SCHEME_ANY)
        for (size_t e = 0; e < b->n; e++) code[e] = nnv_round_half_away(r0[e]);
    else
        for (size_t e = 0; e < b->n; e++) code[e] = code_of(b->s, b->at + e, r0[e]);
}

/* r0: the results of row 0 in units, of which the inputs' rows spread. */
static void find_branches(const struct block *b, const double *r0, const double *spread, struct branches *to) {
    const struct nnv_store *s = b->s;
    double h[BLOCK];
    rounding_widths(b, r0, h);
    for (size_t e = 0; e < b->n && s->rounding != NNV_ROUND_NONE; e++) h[e] += s->k * spread[e];
    for (size_t e = 0; e < b->n && s->schemes.one == NNV_SCHEME_ANY; e++) {
        to->down[e] = nnv_round_half_away(r0[e] - h[e]);
        to->up[e] = nnv_round_half_away(r0[e] + h[e]);
    }
    for (size_t e = 0; e < b->n && s->schemes.one != NNV_SCHEME_ANY; e++) {
        const double slack = copysign(multiplier_slack(s, b->at + e), r0[e]);
        to->down[e] = code_by(s, s->schemes.one, b->at + e, r0[e] - h[e], -slack);
        to->up[e] = code_by(s, s->schemes.one, b->at + e, r0[e] + h[e], slack);
        if (s->schemes.other == NNV_SCHEME_ANY) continue;
        to->down[e] = fmin(to->down[e], code_by(s, s->schemes.other, b->at + e, r0[e] - h[e], -slack));
        to->up[e] = fmax(to->up[e], code_by(s, s->schemes.other, b->at + e, r0[e] + h[e], slack));
    }
    for (size_t e = 0; e < b->n; e++) to->pattern[e] = !isnan(spread[e]) & (to->down[e] != to->up[e]);
    for (size_t e = 0; e < b->n && b->rows > 2; e++)
        if (to->pattern[e]) to->pattern[e] = nnv_branch_pattern(&b->rng[FORCED_STREAM], b->rows);
    for (size_t e = 0; e < b->n; e++) { /* what is not known is not compared */
        to->down[e] = isnan(spread[e]) ? (double)NAN : to->down[e];
        to->up[e] = isnan(spread[e]) ? (double)NAN : to->up[e];
    }
}

/* Row r takes the branches. They lie beyond all rows, so that where they agree all rows do, unless nothing is rounded
 * but the rows themselves. */
static void take_branches(const struct block *b, const struct branches *c, int r) {
    const struct nnv_store *s = b->s;
    const struct range g = b->range[r % 2 ? ODD : EVEN];
    const double scale = (double)s->operand->scale, zp = s->operand->zero_point;
    const bool own = s->rounding == NNV_ROUND_NONE || s->schemes.one != NNV_SCHEME_ANY;
    double *y = row_of(b, r), q[BLOCK];
    for (size_t e = 0; e < b->n; e++) q[e] = c->pattern[e] >> (r - 1) & 1 ? c->up[e] : c->down[e];
    for (size_t e = 0; e < b->n && own; e++)
        if (c->down[e] == c->up[e]) q[e] = s->alike ? c->code[e] : code_of(s, b->at + e, y[e] / scale);
    for (size_t e = 0; e < b->n; e++) y[e] = clamp(q[e] + zp, g.lo, g.hi);
}

static void store_quant(const struct block *b) {
    const struct nnv_store *s = b->s;
    const double scale = (double)s->operand->scale, zp = s->operand->zero_point;
    const struct range g = b->range[GOLDEN];
    double r0[BLOCK], spread[BLOCK];
    struct branches c;
    keep_exact(b);
    for (size_t e = 0; e < b->n; e++) r0[e] = b->y[e] / scale;
    find_codes(b, r0, c.code);
    if (s->hooks) {
        struct signs signs;
        draw_signs(b, false, &signs);
        add_hooks(b, &signs);
    }
    if (b->rows > 0) {
        spread_of(b->y, b->stride, s->alike ? 0 : b->rows, b->n, spread);
        for (size_t e = 0; e < b->n; e++) spread[e] = s->alike ? 0 * r0[e] : spread[e] / scale;
        find_branches(b, r0, spread, &c);
    }
    for (int r = 1; r <= b->rows; r++) take_branches(b, &c, r);
    for (size_t e = 0; e < b->n; e++) b->y[e] = clamp(c.code[e] + zp, g.lo, g.hi);
    store_row_0(b);
}

/* ------------------------------------------------------ integers, booleans */

static void store_discrete(const struct block *b) {
    const struct nnv_type *t = nnv_type(b->s->operand->type);
    keep_exact(b);
    begin_rows(b);
    for (int r = 1; r <= b->rows; r++) {
        double *y = row_of(b, r);
        for (size_t e = 0; e < b->n; e++)
            y[e] = t->kind == NNV_KIND_BOOL ? (isnan(y[e]) ? y[e] : y[e] != 0)
                                            : clamp(nnv_round_half_away(y[e]), t->min, t->max);
    }
    store_row_0(b);
}

/* ------------------------------------------------------------------ blocks */

static bool all_equal(const struct block *b) {
    uint64_t differ = 0;
    for (int r = 1; r <= b->rows; r++) {
        const double *y = row_of(b, r);
        for (size_t e = 0; e < b->n; e++) differ |= y[e] == b->y[e] ? 0 : 1;
    }
    return differ == 0;
}

/*
 * Where nobody reads the rows, and they differ by signs alone, an element of two signs, that of the kernel's hook and
 * that of the store, has four values at most, and one of one sign has two. Rows of all the values that there are spread
 * as far as all rows do. Rows of which one half has another range are needed all.
 */
static int rows_of(const struct nnv_store *s, const struct range *odd, const struct range *even) {
    const bool same = odd->lo == even->lo && odd->hi == even->hi;
    const int ways = s->hooks && nnv_is_float(s->operand->type) ? 4 : 2;
    return s->rows > ways && is_apart(s) && s->spread && same ? ways : s->rows;
}

static void store_block(const struct block *b) {
    switch (nnv_type(b->s->operand->type)->kind) {
    case NNV_KIND_FLOAT:
        b->s->rounding == NNV_ROUND_FLOOR ? store_floor(b) : store_float(b);
        break;
    case NNV_KIND_QUANT:
        store_quant(b);
        break;
    case NNV_KIND_INT:
    case NNV_KIND_BOOL:
    case NNV_KIND_MODEL:
        store_discrete(b);
        break;
    }
}

NNV_WIDE bool nnv_store_rows(const struct nnv_store *s) {
    double room[(NNV_MAX_ROWS + 1) * BLOCK]; /* rows that nobody will read */
    const bool apart = is_apart(s) && s->spread;
    struct nnv_rng rng[NNV_MAX_ROWS + 1], hooks[NNV_MAX_ROWS + 1];
    struct block b = {.s = s, .rng = rng, .hooks = hooks, .y = room, .stride = apart ? BLOCK : s->elems};
    bool equal = !s->spread;
    if (nnv_is_quant(s->operand->type)) {
        b.range[GOLDEN] = range_of(s, 0);
        b.range[ODD] = range_of(s, 0x1p-22);
        b.range[EVEN] = range_of(s, -0x1p-22);
    }
    b.rows = rows_of(s, &b.range[ODD], &b.range[EVEN]);
    for (int r = 0; r <= (nnv_is_float(s->operand->type) ? s->rows : 0); r++) rng[r] = stream(s, r);
    for (int r = 1; r <= s->rows && s->hooks; r++) hooks[r] = nnv_noise_stream(s->hooks, r);
    for (; b.at < s->elems; b.at += BLOCK) {
        b.n = s->elems - b.at < BLOCK ? s->elems - b.at : BLOCK;
        if (apart)
            memcpy(room, s->y + b.at, b.n * sizeof *room);
        else
            b.y = s->y + b.at;
        store_block(&b);
        equal = equal && all_equal(&b);
        if (s->spread) nnv_spread_rows(b.y, b.stride, b.rows, s->most, b.n, s->spread + b.at);
    }
    return equal;
}
