/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/fill.h"

#include <string.h>

#include "randgraph/place.h"

enum { BLOCK = 128 }; /* elements that are stored together */

const char *nnv_fill_mode_name(enum nnv_fill_mode m) {
    switch (m) {
    case NNV_FILL_EXACT:
        return "exact";
    case NNV_FILL_EDGE:
        return "edge";
    case NNV_FILL_SWEEP:
        return "sweep";
    case NNV_FILL_LIMITS:
        return "limits";
    case NNV_FILL_ZERO:
        return "zero";
    case NNV_FILL_RAMP:
        return "ramp";
    case NNV_FILL_IMPULSE:
        return "impulse";
    case NNV_FILL_LINES:
        return "lines";
    case NNV_FILL_HIGH:
        return "high";
    case NNV_FILL_REFUSED:
        return "refused";
    case NNV_FILL_NORMAL:
    case NNV_FILL_COUNT:
        break;
    }
    return "";
}

void nnv_fill_range(const struct nnv_fill *f, double *lo, double *hi) {
    bool given = f->lo != 0 || f->hi != 0;
    *lo = given ? f->lo : -8;
    *hi = given ? f->hi : 8;
}

/* A multiple of 1 of at most the magnitude, often 0 where the density is low. */
static double exact_value(const struct nnv_fill *f, struct nnv_rng *rng) {
    int64_t m = (int64_t)f->magnitude;
    bool zero = f->density < 1 && nnv_rng_unit(rng) >= f->density;
    int64_t v = nnv_rng_int(rng, -m, m);
    return zero ? 0 : (double)v;
}

/* Values at which implementations err: signed zeros, limits of clamps and their neighbours, halves, extremes. */
static double edge_value(const struct nnv_fill *f, struct nnv_rng *rng) {
    static const double special[] = {0.0,
                                     -0.0,
                                     1,
                                     -1,
                                     6,
                                     -6,
                                     0.5,
                                     -0.5,
                                     1.5,
                                     -1.5,
                                     2.5,
                                     -2.5,
                                     0.99951171875,
                                     1.0009765625,
                                     5.99609375,
                                     6.00390625,
                                     -0.99951171875,
                                     -1.0009765625,
                                     0.0001220703125,
                                     -0.0001220703125,
                                     3,
                                     -3,
                                     127,
                                     -128};
    enum { N = sizeof special / sizeof *special };
    double lo, hi;
    nnv_fill_range(f, &lo, &hi);
    bool given = f->lo != 0 || f->hi != 0;
    double top = given ? hi : f->magnitude, bottom = given ? lo : -f->magnitude;
    int64_t pick = nnv_rng_int(rng, 0, N + 7);
    double v = pick < N ? special[pick] : pick == N ? top : pick == N + 1 ? bottom : nnv_rng_uniform(rng, lo, hi);
    return v < bottom || v > top ? nnv_rng_uniform(rng, lo, hi) : v;
}

/* Where element i stands among n codes or numbers of a list. */
static size_t turn(const struct nnv_fill *f, size_t i, size_t n, struct nnv_rng *rng) {
    enum { STEP = 5 }; /* from one part to the next: other lanes of a vector */
    switch (f->order) {
    case NNV_ORDER_FIRST:
        return i / f->inner % n;
    case NNV_ORDER_DRAWN:
        if (f->mode == NNV_FILL_LIMITS) return (size_t)nnv_rng_int(rng, 0, (int64_t)n - 1);
        break;
    case NNV_ORDER_EACH:
        if (f->mode == NNV_FILL_LIMITS) i += (size_t)f->part * STEP;
        break;
    case NNV_ORDER_SECOND:
        break;
    }
    return i % n;
}

static double float_value(const struct nnv_fill *f, size_t i, size_t n, struct nnv_rng *rng) {
    double lo, hi;
    nnv_fill_range(f, &lo, &hi);
    switch (f->mode) {
    case NNV_FILL_EXACT:
        return exact_value(f, rng);
    case NNV_FILL_EDGE:
        return edge_value(f, rng);
    case NNV_FILL_LIMITS:
        if (f->nlist > 0) return f->list[turn(f, i, f->nlist, rng)];
        break;
    case NNV_FILL_RAMP:
    case NNV_FILL_IMPULSE:
    case NNV_FILL_LINES:
    case NNV_FILL_HIGH:
        return nnv_place_value(f, lo, hi, f->magnitude, i, n, rng);
    case NNV_FILL_NORMAL:
    case NNV_FILL_SWEEP:
    case NNV_FILL_ZERO:
    case NNV_FILL_REFUSED:
    case NNV_FILL_COUNT:
        break;
    }
    return nnv_rng_uniform(rng, lo, hi);
}

static void fill_floats(const struct nnv_fill *f, const struct nnv_operand *o, struct nnv_rng *rng, size_t n,
                        char *dst) {
    size_t size = nnv_type(o->type)->size;
    double v[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t count = n - at < BLOCK ? n - at : BLOCK;
        for (size_t i = 0; i < count; i++) {
            v[i] = float_value(f, at + i, n, rng);
            if (f->half) v[i] = nnv_round_to(ANEURALNETWORKS_TENSOR_FLOAT16, v[i]);
        }
        nnv_store(o->type, v, count, dst + at * size);
    }
}

/* Every NNV_SWEEP_PARTS-th finite float16 code in order, the positive ones, then the negative ones: no part lies
 * outside the domain of a function as a whole. */
static void sweep_halves(const struct nnv_fill *f, size_t n, char *dst) {
    enum { POSITIVE = 0x7c00 };
    for (size_t i = 0; i < n; i++) {
        size_t k = (i * NNV_SWEEP_PARTS + f->part) % (2 * POSITIVE);
        uint16_t code = (uint16_t)(k < POSITIVE ? k : k - POSITIVE + 0x8000);
        memcpy(dst + 2 * i, &code, 2);
    }
}

/* Numbers of every exponent from the denormals' on: powers of two, their neighbours, and drawn ones. */
static void sweep_floats(size_t n, struct nnv_rng *rng, char *dst) {
    static const uint32_t mantissas[] = {0, 1, 0x7fffff, 0x400000};
    enum { FIXED = sizeof mantissas / sizeof *mantissas, EXPONENTS = 255 };
    for (size_t i = 0; i < n; i++) {
        const size_t m = i % NNV_SWEEP_MANTISSAS, k = i / NNV_SWEEP_MANTISSAS % (size_t)(2 * EXPONENTS);
        uint32_t bits = m < FIXED ? mantissas[m] : (uint32_t)nnv_rng_int(rng, 0, 0x7fffff);
        bits |= (uint32_t)(k % EXPONENTS) << 23 | (uint32_t)(k / EXPONENTS) << 31;
        memcpy(dst + 4 * i, &bits, 4);
    }
}

/* True is every byte but 0. */
static void fill_bools(const struct nnv_fill *f, struct nnv_rng *rng, size_t n, char *dst) {
    static const uint8_t bytes[] = {0, 1, 0, 255, 0, 2, 0, 128};
    for (size_t i = 0; i < n; i++) {
        if (f->plain)
            dst[i] = (char)nnv_rng_int(rng, 0, 1);
        else if (f->mode == NNV_FILL_SWEEP)
            dst[i] = (char)turn(f, i, UINT8_MAX + 1, rng);
        else if (nnv_is_placed(f->mode))
            dst[i] = (char)(nnv_place_value(f, 0, 1, 1, i, n, rng) >= 0.5);
        else if (f->mode == NNV_FILL_EDGE || f->mode == NNV_FILL_LIMITS)
            dst[i] = (char)bytes[nnv_rng_int(rng, 0, sizeof bytes - 1)];
        else
            dst[i] = (char)nnv_rng_int(rng, 0, 1);
    }
}

static double clamp(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

static double edge_code(const struct nnv_operand *o, double min, double max, struct nnv_rng *rng) {
    double zero = o->zero_point;
    const double special[] = {min, max, min + 1, max - 1, zero, zero + 1, zero - 1};
    enum { N = sizeof special / sizeof *special };
    int64_t pick = nnv_rng_int(rng, 0, N + 3);
    double q = pick < N ? special[pick] : (double)nnv_rng_int(rng, (int64_t)min, (int64_t)max);
    return clamp(q, min, max);
}

/** The codes that a type can hold, and those that the real values of a fill are brought into. */
struct codes {
    double min, max, lo, hi;
};

static struct codes codes_of(const struct nnv_fill *f, const struct nnv_operand *o, double scale) {
    const struct nnv_type *t = nnv_type(o->type);
    const bool lowest = f->mode == NNV_FILL_EDGE && t->per_channel; /* -128 is legal, though rare */
    const bool symmetric = o->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM || t->per_channel;
    struct codes c = {.min = !lowest && symmetric ? -127 : t->min, .max = t->max};
    double lo, hi;
    nnv_fill_range(f, &lo, &hi);
    c.lo = clamp(nnv_round_half_away(lo / scale) + o->zero_point, c.min, c.max);
    c.hi = clamp(nnv_round_half_away(hi / scale) + o->zero_point, c.min, c.max);
    return c;
}

/* The code of element i, whose scale gives the codes c. */
static double quant_code(const struct nnv_fill *f, const struct nnv_operand *o, const struct codes *c, double scale,
                         size_t i, size_t n, struct nnv_rng *rng) {
    const double zero = o->zero_point, beyond = 1.05; /* some high ones are the last code */
    double v;
    switch (f->mode) {
    case NNV_FILL_EXACT:
        return clamp(exact_value(f, rng) / scale + zero, c->min, c->max);
    case NNV_FILL_SWEEP: {
        const struct nnv_type *t = nnv_type(o->type);
        return t->min + (double)turn(f, i, (size_t)(t->max - t->min + 1), rng);
    }
    case NNV_FILL_EDGE:
        if (f->lo == 0 && f->hi == 0) return edge_code(o, c->min, c->max, rng);
        return edge_code(o, c->lo, c->hi, rng);
    case NNV_FILL_RAMP:
    case NNV_FILL_IMPULSE:
        v = nnv_place_value(f, c->lo - zero, c->hi - zero, c->hi - zero, i, n, rng);
        return zero + nnv_round_half_away(v);
    case NNV_FILL_LINES:
    case NNV_FILL_HIGH:
        v = c->max - zero;
        v = nnv_place_value(f, c->min - zero, v, (f->mode == NNV_FILL_HIGH ? beyond : 0.8) * v, i, n, rng);
        return clamp(zero + nnv_round_half_away(v), c->min, c->max);
    case NNV_FILL_NORMAL:
    case NNV_FILL_LIMITS:
    case NNV_FILL_ZERO:
    case NNV_FILL_REFUSED:
    case NNV_FILL_COUNT:
        break;
    }
    return (double)nnv_rng_int(rng, (int64_t)c->lo, (int64_t)c->hi);
}

static void fill_quant(const struct nnv_fill *f, const struct nnv_operand *o, struct nnv_rng *rng, size_t n,
                       char *dst) {
    size_t size = nnv_type(o->type)->size, inner = 1;
    double code[BLOCK], last = 0;
    struct codes codes = {0};
    if (o->channel.count)
        for (uint32_t d = o->channel.dim + 1; d < o->rank; d++) inner *= o->dims[d];
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        for (size_t i = 0; i < count; i++) {
            const struct nnv_channel_quant *ch = &o->channel;
            const double scale = (double)(ch->count ? ch->scales[(at + i) / inner % ch->count] : o->scale);
            if (at + i == 0 || scale != last) codes = codes_of(f, o, scale);
            last = scale;
            code[i] = quant_code(f, o, &codes, scale, at + i, n, rng);
        }
        nnv_store(o->type, code, count, dst + at * size);
    }
}

static double int_value(const struct nnv_fill *f, size_t i, size_t n, struct nnv_rng *rng) {
    double lo, hi;
    nnv_fill_range(f, &lo, &hi);
    double unit = f->bias_scales ? (double)f->bias_scales[i] * f->bias_scale : f->bias_scale;
    if (f->index) return (double)nnv_rng_int(rng, (int64_t)lo, (int64_t)hi);
    if (f->mode == NNV_FILL_EXACT) return exact_value(f, rng) / (unit > 0 ? unit : 1);
    if (nnv_is_placed(f->mode))
        return nnv_round_half_away(nnv_place_value(f, lo, hi, f->magnitude, i, n, rng) / (unit > 0 ? unit : 1));
    if (unit > 0) return nnv_rng_uniform(rng, lo, hi) / unit;
    if (f->mode == NNV_FILL_LIMITS && f->nlist > 0) return f->list[turn(f, i, f->nlist, rng)];
    return f->mode == NNV_FILL_EDGE ? edge_value(f, rng) : (double)nnv_rng_int(rng, (int64_t)lo, (int64_t)hi);
}

void nnv_fill(const struct nnv_fill *f, const struct nnv_operand *o, struct nnv_rng *rng, size_t n, void *dst) {
    const struct nnv_type *t = nnv_type(o->type);
    char *to = dst;
    switch (t->kind) {
    case NNV_KIND_FLOAT:
        if (f->mode == NNV_FILL_SWEEP && t->size == 2)
            sweep_halves(f, n, to);
        else if (f->mode == NNV_FILL_SWEEP)
            sweep_floats(n, rng, to);
        else
            fill_floats(f, o, rng, n, to);
        return;
    case NNV_KIND_QUANT:
        fill_quant(f, o, rng, n, to);
        return;
    case NNV_KIND_INT:
        for (size_t i = 0; i < n; i++) {
            double v = int_value(f, i, n, rng);
            nnv_store(o->type, &v, 1, to + i * t->size);
        }
        return;
    case NNV_KIND_BOOL:
        fill_bools(f, rng, n, to);
        return;
    case NNV_KIND_MODEL:
        return;
    }
}
