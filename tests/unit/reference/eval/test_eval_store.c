/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store step, which goes over blocks of elements, beside its rule: one element after the other, all rows of each,
 * by the C library's functions. The same bits, whatever the type, the rounding and the number of rows.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "reference/eval/rows.h"
#include "tests/kit/op.h"

enum { DRAW = 64 };

/** One element in all its rows, and the streams that are drawn from. */
struct plain {
    const struct nnv_store *s;
    struct nnv_rng forced, noise[NNV_MAX_ROWS + 1];
    uint64_t bits[NNV_MAX_ROWS + 1];
    double y[NNV_MAX_ROWS + 1];
};

/** What is stored is seen as v. */
static double keep(double v, double lo, double hi) { return isnan(v) ? v : fmin(fmax(v, lo), hi); }

static double spread_of(const struct plain *p) {
    double most = 0;
    for (int r = 1; r <= p->s->rows; r++)
        if (!(fabs(p->y[r] - p->y[0]) <= most)) {
            most = fabs(p->y[r] - p->y[0]);
            if (isnan(most)) return most;
        }
    return most;
}

/** As the judge is told it. */
static double told_spread(const struct plain *p) {
    bool agree = !isfinite(p->y[0]);
    for (int r = 1; r <= p->s->rows; r++)
        agree = agree && (p->y[r] == p->y[0] || (isnan(p->y[r]) && isnan(p->y[0])) ||
                          (p->s->most > 0 && p->y[r] == copysign(p->s->most, p->y[0])));
    const double d = spread_of(p);
    return agree ? 0 : isfinite(d) ? d : (double)NAN;
}

static void set_rows(struct plain *p, double v) {
    for (int r = 1; r <= p->s->rows; r++) p->y[r] = v;
}

static void force(struct plain *p, double down, double up) {
    const uint64_t pattern = nnv_branch_pattern(&p->forced, p->s->rows);
    for (int r = 1; r <= p->s->rows; r++) p->y[r] = pattern >> (r - 1) & 1 ? up : down;
}

static void store_float(struct plain *p) {
    const struct nnv_store *s = p->s;
    const double size = fabs(p->y[0]), noise = isfinite(size) ? s->u * size + (size != 0 ? s->eta : 0) : 0;
    double most = 0;
    for (int r = 1; r <= s->rows && s->rounding != NNV_ROUND_NONE; r++) p->y[r] += p->bits[r] & 1 ? noise : -noise;
    for (int r = 0; r <= s->rows && s->clamp; r++) p->y[r] = keep(p->y[r], s->lo, s->hi);
    for (int r = 1; r <= s->rows && s->saturates && isinf(p->y[0]); r += 2) p->y[r] = copysign(s->most, p->y[0]);
    for (int r = 0; r <= s->rows; r++) most = fmax(most, fabs(p->y[r]));
    if (s->limit > 0 && isfinite(most) && most > s->limit - s->k * spread_of(p)) set_rows(p, (double)NAN);
}

static void store_floor(struct plain *p) {
    const struct nnv_store *s = p->s;
    const double x = p->y[0], d = spread_of(p);
    const double h = !(d <= 0) ? s->k * d + 2 * s->u * fabs(x) + s->eta : fabs(x) < s->eta ? fabs(x) : 0;
    for (int r = 0; r <= s->rows; r++) p->y[r] = floor(p->y[r]);
    if (isnan(d) && isfinite(x))
        set_rows(p, (double)NAN);
    else if (isfinite(x) && floor(x - h) != floor(x + h))
        force(p, floor(x - h), floor(x + h));
}

static double width_of(const struct nnv_store *s, size_t e, double r) {
    double slack = fabs(r) * 0x1p-22;
    int exponent = 0;
    switch (s->rounding) {
    case NNV_ROUND_LINEAR:
        if (s->multiplier) frexp(s->multiplier[e] * (1 + 0x1p-22), &exponent);
        return (exponent < 0 ? ldexp(1, exponent - 1) : 0) + slack + 1e-6 + s->arithmetic->requantise;
    case NNV_ROUND_RESCALE:
        if (s->multiplier) slack = fmax(slack, s->multiplier[e] * 0x1p-22);
        return 0x1p-14 + slack + 2 * s->from_u * fabs(r) + s->arithmetic->rescale;
    case NNV_ROUND_TABLE:
        return fmax(0.5, s->arithmetic->requantise) + slack;
    default:
        return 0;
    }
}

static double code_by(const struct nnv_store *s, enum nnv_scheme scheme, size_t e, double r, double slack) {
    if (scheme == NNV_SCHEME_ANY) return round(r);
    return nnv_scheme_code(scheme, r / s->multiplier[e], s->multiplier[e] * (1 + slack), s->operand->zero_point);
}
static double code_of(const struct nnv_store *s, size_t e, double r) { return code_by(s, s->schemes.one, e, r, 0); }
static double other_code(const struct nnv_store *s, size_t e, double r, double slack) {
    return code_by(s, s->schemes.other ? s->schemes.other : s->schemes.one, e, r, slack);
}

static double keep_code(const struct nnv_store *s, double code, double slack) {
    const struct nnv_type *t = nnv_type(s->operand->type);
    const double zp = s->operand->zero_point, scale = (double)s->operand->scale;
    if (!s->clamp) return keep(code + zp, t->min, t->max);
    return keep(code + zp, keep(round(s->lo / scale * (1 + slack)) + zp, t->min, t->max),
                keep(round(s->hi / scale * (1 + slack)) + zp, t->min, t->max));
}

static void store_quant(struct plain *p, size_t e) {
    const struct nnv_store *s = p->s;
    const bool known = s->schemes.one != NNV_SCHEME_ANY;
    const double scale = (double)s->operand->scale, r0 = p->y[0] / scale;
    const double d = s->alike ? 0 * r0 : spread_of(p) / scale;
    const double h = s->rounding == NNV_ROUND_NONE ? 0 : s->k * d + (known ? 0 : width_of(s, e, r0));
    int exponent;
    const bool exact = known && frexp(s->multiplier[e], &exponent) == 0.5 && frexp(scale, &exponent) == 0.5;
    const double slack = !known || exact ? 0 : copysign(0x1p-22, r0);
    const double down = fmin(code_by(s, s->schemes.one, e, r0 - h, -slack), other_code(s, e, r0 - h, -slack)),
                 up = fmax(code_by(s, s->schemes.one, e, r0 + h, slack), other_code(s, e, r0 + h, slack));
    for (int r = 1; r <= s->rows; r++) p->y[r] = code_of(s, e, p->y[r] / scale);
    if (isnan(d))
        set_rows(p, (double)NAN);
    else if (s->rows > 0 && down != up)
        force(p, down, up);
    for (int r = 1; r <= s->rows; r++) p->y[r] = keep_code(s, p->y[r], r % 2 ? 0x1p-22 : -0x1p-22);
    p->y[0] = keep_code(s, code_of(s, e, r0), 0);
}

static void store_discrete(struct plain *p) {
    const struct nnv_type *t = nnv_type(p->s->operand->type);
    for (int r = 1; r <= p->s->rows; r++)
        p->y[r] = t->kind != NNV_KIND_BOOL ? keep(round(p->y[r]), t->min, t->max)
                  : isnan(p->y[r])         ? p->y[r]
                                           : p->y[r] != 0;
}

/** What storing shows. */
struct stored {
    double *y, *spread, *exact;
    unsigned char *data;
};

static void plain_store(const struct nnv_store *s, const struct stored *to) {
    const struct nnv_type *t = nnv_type(s->operand->type);
    struct plain p = {.s = s};
    for (int r = 0; r <= s->rows; r++) p.noise[r] = nnv_rng_make(s->seed, s->key, (UINT64_C(1) << 40) + (uint64_t)r);
    p.forced = p.noise[0];
    for (size_t e = 0; e < s->elems; e++) {
        for (int r = 0; r <= s->rows; r++) {
            p.y[r] = s->y[(s->alike ? 0 : (size_t)r) * s->elems + e];
            if (r > 0) p.bits[r] = e % DRAW == 0 ? nnv_rng_u64(&p.noise[r]) : p.bits[r] >> 1;
        }
        to->exact[e] = s->clamp ? keep(p.y[0], s->lo, s->hi) : p.y[0];
        if (t->kind == NNV_KIND_FLOAT && s->rounding == NNV_ROUND_FLOOR)
            to->exact[e] = floor(p.y[0]), store_floor(&p);
        else if (t->kind == NNV_KIND_FLOAT)
            store_float(&p);
        else if (t->kind == NNV_KIND_QUANT)
            store_quant(&p, e);
        else
            store_discrete(&p);
        nnv_store(t->code, &p.y[0], 1, to->data + e * t->size);
        if (s->rows > 0) nnv_load(t->code, to->data + e * t->size, 1, &p.y[0]);
        for (int r = 0; r <= s->rows; r++) to->y[(size_t)r * s->elems + e] = p.y[r];
        to->spread[e] = told_spread(&p);
    }
}

static void assert_same(const double *a, const double *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])))) fail_msg("number %zu: %a instead of %a", i, a[i], b[i]);
}

/* --------------------------------------------------------------------- inputs */

enum { EDGES = 24, BESIDE = 5 };

/** Real results around each code that there is, halves and their neighbours among them, then edges. */
static size_t fill(const struct nnv_operand *o, double *y) {
    static const double edges[EDGES] = {
        0,       -0.0,    INFINITY,        -INFINITY,        NAN,   1e300, -1e300, 0x1p52,   -0x1p51,
        0x1p31,  -0x1p31, 65504,           -65504,           65519, 65520, 6e4,    0x1p-149, -0x1p-126,
        0x1p-14, 0x1p-25, (double)FLT_MAX, -(double)FLT_MAX, 0.1,   -2.5};
    const bool quant = nnv_is_quant(o->type);
    const double scale = quant ? (double)o->scale : 1;
    size_t n = 0;
    for (int q = -300; q < 300; q++) {
        const double v = q * scale, half = (q + 0.5) * scale;
        const double beside[BESIDE] = {v, half, nextafter(half, -INFINITY), nextafter(half, INFINITY), v + 0.3 * scale};
        for (int i = 0; i < BESIDE; i++) y[n++] = beside[i];
    }
    for (int i = 0; i < EDGES; i++) y[n++] = edges[i];
    return n;
}

enum { MOST = 600 * BESIDE + EDGES };

/** Rows 1 to n: row 0 itself, a neighbour, something close or far, infinite or NaN. */
static void fill_rows(const struct nnv_store *s) {
    struct nnv_rng rng = nnv_rng_make(5, 6, 7);
    for (int r = 1; r <= s->rows; r++)
        for (size_t e = 0; e < s->elems; e++) {
            const double v = s->y[e], u = nnv_rng_uniform(&rng, -1, 1);
            const double kinds[] = {v, v, nextafter(v, u > 0 ? INFINITY : -INFINITY), v * (1 + u * 0x1p-12), v + u, v};
            double *y = &s->y[(size_t)r * s->elems + e];
            *y = kinds[(e + (size_t)r * (e % 7 == 0)) % (sizeof kinds / sizeof *kinds)];
            if (e % 97 == 5 && r % 3 == 0) *y = r % 2 ? (double)NAN : (double)INFINITY;
        }
}

/** What is stored, of a kind. */
struct kind {
    int32_t type;
    float scale;
    int32_t zero_point;
    enum nnv_rounding rounding;
    double lo, hi; /* of the activation, if lo < hi */
    double limit, most, from_u;
    double multiplier; /* of the first element; 0: none */
    struct nnv_schemes schemes;
};

/** Stores by blocks and by the rule; with as many elements as there are, or fewer. */
static void compare(const struct kind *kind, int rows, bool alike, size_t elems, const double *from) {
    const struct nnv_operand o = {.type = kind->type, .scale = kind->scale, .zero_point = kind->zero_point};
    const size_t all = ((size_t)rows + 1) * MOST;
    struct stored got = {calloc(all, sizeof(double)), calloc(MOST, sizeof(double)), calloc(MOST, sizeof(double)),
                         calloc(MOST, 8)};
    struct stored want = {calloc(all, sizeof(double)), calloc(MOST, sizeof(double)), calloc(MOST, sizeof(double)),
                          calloc(MOST, 8)};
    double *multiplier = calloc(MOST, sizeof *multiplier);
    static const struct nnv_arithmetic arithmetic = {.requantise = 0.125, .rescale = 0.0625};
    assert_true(got.y && got.spread && got.exact && got.data && want.y && want.spread && want.exact && want.data);
    assert_non_null(multiplier);
    for (size_t e = 0; e < MOST; e++) multiplier[e] = ldexp(kind->multiplier, -(int)(e % 5)) * (1 + (double)(e % 3));
    const bool clamp = kind->lo < kind->hi;
    struct nnv_store s = {.operand = &o,
                          .rounding = kind->rounding,
                          .clamp = clamp,
                          .lo = kind->lo,
                          .hi = kind->hi,
                          .u = 0x1p-11,
                          .eta = 0x1p-14,
                          .limit = kind->limit,
                          .most = kind->most,
                          .saturates = kind->most > 0,
                          .from_u = kind->from_u,
                          .k = 1.5,
                          .arithmetic = &arithmetic,
                          .multiplier = rows > 0 && kind->multiplier > 0 ? multiplier : NULL,
                          .schemes = rows > 0 ? kind->schemes : (struct nnv_schemes){NNV_SCHEME_ANY, NNV_SCHEME_ANY},
                          .seed = 11,
                          .key = 13,
                          .rows = rows,
                          .alike = alike,
                          .elems = elems,
                          .y = got.y,
                          .exact = got.exact,
                          .data = got.data};
    memcpy(s.y, from, elems * sizeof *s.y);
    if (!alike) fill_rows(&s);
    plain_store(&s, &want);
    bool equal = true;
    for (size_t i = elems; i < ((size_t)rows + 1) * elems; i++) equal = equal && want.y[i] == want.y[i % elems];
    for (int spread = 1; spread >= 0; spread--) { /* nobody reads the rows; somebody does */
        memcpy(s.y, from, elems * sizeof *s.y);
        if (!alike) fill_rows(&s);
        s.spread = spread && rows > 0 ? got.spread : NULL;
        const bool all_equal = nnv_store_rows(&s);
        if (s.spread) assert_same(got.spread, want.spread, elems);
        if (!s.spread) assert_same(s.y, want.y, ((size_t)rows + 1) * elems);
        if (!s.spread) assert_int_equal(all_equal, equal);
        assert_same(s.exact, want.exact, elems);
        nnv_load(o.type, s.data, elems, got.y);
        nnv_load(o.type, want.data, elems, got.spread);
        assert_same(got.y, got.spread, elems);
    }
    free(got.y), free(got.spread), free(got.exact), free(got.data);
    free(want.y), free(want.spread), free(want.exact), free(want.data), free(multiplier);
}

static void test_blocks_are_elements(void **state) {
    (void)state;
    static const double inf = (double)INFINITY;
    static const struct kind kinds[] = {
        {.type = F32, .rounding = NNV_ROUND_RESCALE},
        {.type = F32, .rounding = NNV_ROUND_NONE, .lo = 0, .hi = 6},
        {.type = F16, .rounding = NNV_ROUND_TABLE, .limit = 65504, .lo = -1, .hi = inf, .most = 65504},
        {.type = F16, .rounding = NNV_ROUND_LINEAR, .limit = 65504},
        {.type = F32, .rounding = NNV_ROUND_FLOOR},
        {.type = I32, .rounding = NNV_ROUND_NONE},
        {.type = ANEURALNETWORKS_TENSOR_BOOL8, .rounding = NNV_ROUND_NONE},
        {.type = Q8, .scale = 0.5f, .zero_point = 128, .rounding = NNV_ROUND_LINEAR, .multiplier = 0.49},
        {.type = Q8, .scale = 0.3f, .zero_point = 0, .rounding = NNV_ROUND_LINEAR, .lo = 0, .hi = 6, .multiplier = 1.5},
        {.type = Q8S, .scale = 0.7f, .zero_point = -128, .rounding = NNV_ROUND_RESCALE, .multiplier = 900},
        {.type = Q8S, .scale = 4, .zero_point = 3, .rounding = NNV_ROUND_RESCALE, .lo = 0, .hi = 6, .from_u = 0x1p-24},
        {.type = Q8, .scale = 4, .zero_point = 255, .rounding = NNV_ROUND_TABLE, .lo = -1, .hi = 1},
        {.type = Q8, .scale = 0.25f, .zero_point = 100, .rounding = NNV_ROUND_NONE, .lo = 0, .hi = inf},
        {.type = ANEURALNETWORKS_TENSOR_QUANT16_ASYMM, .scale = 0.01f, .zero_point = 9, .rounding = NNV_ROUND_TABLE},
        {.type = ANEURALNETWORKS_TENSOR_QUANT16_SYMM, .scale = 0x1p-3f, .rounding = NNV_ROUND_RESCALE},
        {.type = Q8,
         .scale = 0.5f,
         .zero_point = 7,
         .rounding = NNV_ROUND_LINEAR,
         .multiplier = 0.3,
         .schemes = {NNV_SCHEME_FIXED_8, NNV_SCHEME_ANY}},
        {.type = Q8S,
         .scale = 0.5f,
         .zero_point = -7,
         .rounding = NNV_ROUND_LINEAR,
         .multiplier = 0.3,
         .schemes = {NNV_SCHEME_TWICE, NNV_SCHEME_FLOOR}},
    };
    static const int rows[] = {0, 1, 2, 3, 8, 16, NNV_MAX_ROWS};
    static const size_t fewer[] = {1, 63, 64, 65, 300};
    double *y = calloc(MOST, sizeof *y);
    assert_non_null(y);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct nnv_operand o = {.type = kinds[k].type, .scale = kinds[k].scale};
        const size_t all = fill(&o, y);
        assert_int_equal(all, MOST);
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            for (int alike = 0; alike < 2; alike++) {
                compare(&kinds[k], rows[r], alike, all, y);
                for (size_t i = 0; i < sizeof fewer / sizeof *fewer; i++)
                    compare(&kinds[k], rows[r], alike, fewer[i], y + all - fewer[i]);
            }
    }
    free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks_are_elements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
