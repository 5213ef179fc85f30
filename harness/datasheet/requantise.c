/* SPDX-License-Identifier: Apache-2.0 */
/** @file requantise.c How a sum of products becomes a code: which of the known schemes gives what the driver gives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/datasheet/numeric.h"
#include "reference/model/builder.h"

enum { UNITS = 600, CODES = 100, MULTIPLIERS = 5 };

/** Fixed-point schemes take the multiplier as m * 2^(exponent - 31), m of 31 bits, as TensorFlow Lite does. */
static int64_t mantissa_of(double multiplier, int bits, int *exponent) {
    const double m = frexp(multiplier, exponent);
    int64_t q = (int64_t)round(ldexp(m, bits));
    if (q == INT64_C(1) << bits) q /= 2, ++*exponent;
    return q;
}

/* Each scheme is given the zero point, which few of them add before they round. */

/** Products are rounded to 31 bits, then to the code: the nearest, ties away from 0 (gemmlowp, "double rounding"). */
static double twice(int32_t a, double multiplier, int zero) {
    (void)zero;
    int exponent;
    const int64_t q = mantissa_of(multiplier, 31, &exponent);
    const int left = exponent > 0 ? exponent : 0, right = exponent > 0 ? 0 : -exponent;
    const int64_t product = (int64_t)((uint64_t)(int64_t)a << left) * q;
    const int64_t high = (product + (product >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30))) / (INT64_C(1) << 31);
    const int64_t mask = (INT64_C(1) << right) - 1, rest = high & mask, threshold = (mask >> 1) + (high < 0);
    return (double)((high >> right) + (rest > threshold));
}

/** One product of so many bits, rounded once: the nearest, ties up. */
static double fixed(int32_t a, double multiplier, int bits) {
    int exponent;
    const int64_t q = mantissa_of(multiplier, bits, &exponent);
    const int shift = bits - exponent;
    if (shift < 1 || shift > 62) return shift > 62 ? 0 : NAN;
    return (double)(((int64_t)a * q + (INT64_C(1) << (shift - 1))) >> shift);
}

static double exact(int32_t a, double m, int zero) {
    (void)zero;
    return round(a * m);
}
static double exact_even(int32_t a, double m, int zero) {
    (void)zero;
    return rint(a * m);
}
static double exact_up(int32_t a, double m, int zero) {
    (void)zero;
    return floor(a * m + 0.5);
}
static double single(int32_t a, double m, int zero) {
    (void)zero;
    return fixed(a, m, 31);
}
static double float_even(int32_t a, double m, int zero) {
    (void)zero;
    return rint((double)((float)a * (float)m));
}
static double float_away(int32_t a, double m, int zero) {
    (void)zero;
    return round((double)((float)a * (float)m));
}
/** The zero point is added in float32, before rounding. */
static double float_zero(int32_t a, double m, int zero) {
    const float product = (float)a * (float)m;
    return (double)(rintf(product + (float)zero) - (float)zero);
}
static double fused_zero(int32_t a, double m, int zero) {
    return (double)(rintf(fmaf((float)a, (float)m, (float)zero)) - (float)zero);
}
static double bits24(int32_t a, double m, int zero) {
    (void)zero;
    return fixed(a, m, 24);
}
static double bits16(int32_t a, double m, int zero) {
    (void)zero;
    return fixed(a, m, 16);
}
static double bits15(int32_t a, double m, int zero) {
    (void)zero;
    return fixed(a, m, 15);
}
static double bits8(int32_t a, double m, int zero) {
    (void)zero;
    return fixed(a, m, 8);
}
static double bits7(int32_t a, double m, int zero) {
    (void)zero;
    return fixed(a, m, 7);
}
static double truncated(int32_t a, double m, int zero) {
    (void)zero;
    return trunc(a * m);
}
static double floored(int32_t a, double m, int zero) {
    (void)zero;
    return floor(a * m);
}

static const struct scheme {
    const char *is;
    double (*code)(int32_t accumulator, double multiplier, int zero); /**< less the zero point */
} schemes[] = {
    {"exact, ties away from 0", exact},
    {"exact, ties to even", exact_even},
    {"exact, ties up", exact_up},
    {"TensorFlow Lite's double rounding", twice},
    {"fixed point of 31 bits, rounded once", single},
    {"float32, ties to even", float_even},
    {"float32, ties away from 0", float_away},
    {"float32 with the zero point, ties to even", float_zero},
    {"float32 with the zero point in an FMA, ties to even", fused_zero},
    {"fixed point of 24 bits", bits24},
    {"fixed point of 16 bits", bits16},
    {"fixed point of 15 bits", bits15},
    {"fixed point of 8 bits", bits8},
    {"fixed point of 7 bits", bits7},
    {"truncated", truncated},
    {"rounded down", floored},
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* The least of them makes sums of more than 24 bits, beside which float32 is not exact. */
static const float multipliers[MULTIPLIERS] = {0.5f, 0.45f, 0.0123f, 0.00037f, 0x1.7p-20f};

static int zero_of(int32_t type) { return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ? 0 : 128; }

/** FULLY_CONNECTED of one input, weights of 0, biases that are the accumulators. */
bool nnv_requantise_run(const struct nnv_numeric_engine *e, int32_t type, float multiplier, size_t n,
                        const int32_t *accumulators, int *out) {
    const int32_t zero = zero_of(type);
    struct nnv_builder b = {.arena = e->arena};
    const struct nnv_encoding x = {type, multiplier, zero}, w = {type, 1, zero},
                              bias = {ANEURALNETWORKS_TENSOR_INT32, multiplier, 0}, y = {type, 1, zero};
    const uint32_t units = (uint32_t)n, one[] = {1, 1}, row[] = {1, units}, column[] = {units, 1};
    struct nnv_spec spec = {.name = "requantise"};
    struct nnv_value value = {.rank = 2, .dims = {1, 1}, .bytes = 1},
                     result = {.rank = 2, .dims = {1, units}, .bytes = n};
    struct nnv_value *outputs;
    const double code = zero;
    double *v = NNV_NEW(e->arena, double, n), *codes = NNV_NEW(e->arena, double, n);
    void *data = nnv_arena_alloc(e->arena, 1, 1);
    if (!v || !codes || !data) return false;
    for (size_t i = 0; i < n; i++) v[i] = accumulators[i];
    const uint32_t in = nnv_builder_tensor(&b, x, 2, one, NNV_SUBGRAPH_INPUT);
    const uint32_t args[] = {in, nnv_builder_filled(&b, w, 2, column, code),
                             nnv_builder_numbers(&b, bias, 1, &units, v),
                             nnv_builder_int(&b, ANEURALNETWORKS_FUSED_NONE)};
    const uint32_t to = nnv_builder_tensor(&b, y, 2, row, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_FULLY_CONNECTED, 4, args, to);
    if (nnv_builder_end(&b, 1, &in, 1, &to, &spec.model, NULL) != NNV_OK) return false;
    nnv_store(type, &code, 1, data);
    value.data = data;
    spec.inputs = &value;
    spec.outputs = &result;
    if (!e->execute(e->context, &spec, e->arena, &outputs)) return false;
    nnv_load(type, outputs[0].data, n, codes);
    for (size_t i = 0; i < n; i++) out[i] = (int)codes[i] - zero;
    return true;
}

/** Accumulators around the middles between codes, where schemes differ. */
static void design(float multiplier, int32_t *a) {
    for (int i = 0; i < UNITS; i++) {
        const double middle = i / 3 % (2 * CODES) - CODES + 0.5;
        a[i] = (int32_t)(floor(middle / (double)multiplier) + i % 3);
    }
}

/** What the schemes make of what the driver answered. */
struct recognition {
    size_t seen, differ[SCHEMES];
    double worst; /* units off the real number */
};

static void compare(struct recognition *r, float multiplier, int zero, const int32_t *a, const int *got) {
    for (int i = 0; i < UNITS; i++) {
        r->seen++;
        r->worst = fmax(r->worst, fabs(got[i] - a[i] * (double)multiplier));
        for (int k = 0; k < SCHEMES; k++) r->differ[k] += schemes[k].code(a[i], (double)multiplier, zero) != got[i];
    }
}

/** Whether two schemes differ for any accumulator that is asked about. */
static bool differ(int one, int other, int zero) {
    int32_t a[UNITS];
    for (int m = 0; m < MULTIPLIERS; m++) {
        design(multipliers[m], a);
        for (int i = 0; i < UNITS; i++)
            if (schemes[one].code(a[i], (double)multipliers[m], zero) !=
                schemes[other].code(a[i], (double)multipliers[m], zero))
                return true;
    }
    return false;
}

static void tell(const struct nnv_numeric_engine *e, const char *about, const struct recognition *r, int zero) {
    int best = 0;
    char evidence[200], is[96];
    for (int k = 1; k < SCHEMES; k++)
        if (r->differ[k] < r->differ[best]) best = k;
    size_t n = (size_t)snprintf(evidence, sizeof evidence, "%zu of %zu codes differ, %.4g units off at most",
                                r->differ[best], r->seen, r->worst);
    for (int k = 0; k < SCHEMES && n < sizeof evidence; k++)
        if (k != best && r->differ[k] == 0 && !differ(best, k, zero))
            n += (size_t)snprintf(evidence + n, sizeof evidence - n, "; here the same as %s", schemes[k].is);
    if (r->differ[best] == 0)
        snprintf(is, sizeof is, "%s", schemes[best].is);
    else
        snprintf(is, sizeof is, "not recognised; nearest: %s", schemes[best].is);
    nnv_numeric_say(e, about, "requantisation", is, evidence);
    if (r->worst > 0.5 + 1e-4) {
        const double beyond = fmin(ceil((r->worst - 0.5) * 100) / 100, 3.5);
        e->out->arithmetic.requantise = fmax(e->out->arithmetic.requantise, beyond);
    }
}

void nnv_measure_requantise(const struct nnv_numeric_engine *e, int32_t type) {
    struct recognition r = {0};
    char about[64];
    int32_t a[UNITS];
    int got[UNITS];
    for (int m = 0; m < MULTIPLIERS; m++) {
        design(multipliers[m], a);
        if (nnv_requantise_run(e, type, multipliers[m], UNITS, a, got))
            compare(&r, multipliers[m], zero_of(type), a, got);
    }
    snprintf(about, sizeof about, "FULLY_CONNECTED %s", nnv_type(type)->tag);
    if (r.seen > 0) tell(e, about, &r, zero_of(type));
}
