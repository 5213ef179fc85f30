/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/relay/ops/datum.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/type.h"

static const double exact_int64 = 9007199254740992.0; /* 2^53 */

void nnv_interp_limits(enum nnv_relay_dtype dtype, double *low, double *high) {
    double bits = 8.0 * (double)nnv_relay_dtype_size(dtype);
    bool is_signed = dtype >= NNV_RELAY_INT8 && dtype <= NNV_RELAY_INT64;
    *low = is_signed ? -ldexp(1, (int)bits - 1) : 0;
    *high = is_signed ? ldexp(1, (int)bits - 1) - 1 : ldexp(1, (int)bits) - 1;
    if (dtype == NNV_RELAY_BOOL) *high = 1;
    if (bits == 64) {
        *low = is_signed ? -exact_int64 : 0;
        *high = exact_int64;
    }
}

/* To 8 bits of significand, as bfloat16 has; below its smallest normal number in equal steps. */
static double to_bfloat16(double v) {
    int exponent;
    if (!isfinite(v) || v == 0) return v;
    frexp(v, &exponent);
    double unit = ldexp(1, exponent - 8 < -133 ? -133 : exponent - 8), rounded = nearbyint(v / unit) * unit;
    return fabs(rounded) > 3.3895313892515355e38 ? copysign(INFINITY, v) : rounded;
}

double nnv_interp_round(enum nnv_relay_dtype dtype, double v) {
    double low, high;
    if (dtype == NNV_RELAY_FLOAT64) return v;
    if (dtype == NNV_RELAY_FLOAT32) return (double)(float)v;
    if (dtype == NNV_RELAY_FLOAT16) return nnv_half_to_double(nnv_double_to_half(v));
    if (dtype == NNV_RELAY_BFLOAT16) return to_bfloat16(v);
    nnv_interp_limits(dtype, &low, &high);
    if (isnan(v)) return 0;
    v = nearbyint(v);
    return v < low ? low : v > high ? high : v;
}

double nnv_interp_wrap(enum nnv_relay_dtype dtype, int64_t v) {
    switch (dtype) {
    case NNV_RELAY_BOOL:
        return v != 0;
    case NNV_RELAY_INT8:
        return (int8_t)(uint8_t)v;
    case NNV_RELAY_INT16:
        return (int16_t)(uint16_t)v;
    case NNV_RELAY_INT32:
        return (int32_t)(uint32_t)v;
    case NNV_RELAY_UINT8:
        return (uint8_t)v;
    case NNV_RELAY_UINT16:
        return (uint16_t)v;
    case NNV_RELAY_UINT32:
        return (uint32_t)v;
    case NNV_RELAY_UINT64:
        return (double)(uint64_t)v;
    case NNV_RELAY_INT64:
    case NNV_RELAY_FLOAT16:
    case NNV_RELAY_FLOAT32:
    case NNV_RELAY_FLOAT64:
    case NNV_RELAY_BFLOAT16:
    case NNV_RELAY_DTYPES:
        break;
    }
    return (double)v;
}

/* ------------------------------------------------------------------- making */

struct nnv_relay_datum *nnv_interp_datum(const struct nnv_relay_type *type, struct nnv_arena *arena) {
    size_t bytes;
    struct nnv_relay_datum *d = NNV_NEW(arena, struct nnv_relay_datum, 1);
    if (d == NULL || !nnv_relay_type_known(type) || type->kind == NNV_RELAY_FN_TYPE) return NULL;
    d->type = type;
    if (type->kind == NNV_RELAY_TENSOR) {
        if (!nnv_relay_type_elems(type, &d->n, &bytes)) return NULL;
        d->values = NNV_NEW(arena, double, d->n);
        return d->values ? d : NULL;
    }
    d->n_fields = type->n_fields;
    d->fields = NNV_NEW(arena, struct nnv_relay_datum *, d->n_fields);
    if (d->fields == NULL) return NULL;
    for (size_t i = 0; i < d->n_fields; i++)
        if ((d->fields[i] = nnv_interp_datum(type->fields[i], arena)) == NULL) return NULL;
    return d;
}

/* -------------------------------------------------------------------- bytes */

/* v as an integer that a cast to any type takes. */
static int64_t saturated(enum nnv_relay_dtype dtype, double v) { return (int64_t)nnv_interp_round(dtype, v); }

#define EACH_INTEGER(X)                                                                                                \
    X(NNV_RELAY_INT8, int8_t)                                                                                          \
    X(NNV_RELAY_INT16, int16_t)                                                                                        \
    X(NNV_RELAY_INT32, int32_t)                                                                                        \
    X(NNV_RELAY_INT64, int64_t)                                                                                        \
    X(NNV_RELAY_UINT8, uint8_t)                                                                                        \
    X(NNV_RELAY_UINT16, uint16_t) X(NNV_RELAY_UINT32, uint32_t) X(NNV_RELAY_UINT64, uint64_t)

#define READ(dtype, type)                                                                                              \
    case dtype: {                                                                                                      \
        type v;                                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                               \
            memcpy(&v, at + i * sizeof v, sizeof v);                                                                   \
            to[i] = (double)v;                                                                                         \
        }                                                                                                              \
        break;                                                                                                         \
    }

void nnv_relay_numbers(enum nnv_relay_dtype dtype, const void *data, size_t n, double *to) {
    const char *at = data;
    uint16_t half;
    switch (dtype) {
        EACH_INTEGER(READ)
        READ(NNV_RELAY_FLOAT32, float)
        READ(NNV_RELAY_FLOAT64, double)
    case NNV_RELAY_BOOL:
        for (size_t i = 0; i < n; i++) to[i] = at[i] != 0;
        break;
    case NNV_RELAY_FLOAT16:
        for (size_t i = 0; i < n; i++) {
            memcpy(&half, at + 2 * i, 2);
            to[i] = nnv_half_to_double(half);
        }
        break;
    case NNV_RELAY_BFLOAT16:
        for (size_t i = 0; i < n; i++) {
            memcpy(&half, at + 2 * i, 2);
            uint32_t bits = (uint32_t)half << 16;
            float v;
            memcpy(&v, &bits, 4);
            to[i] = (double)v;
        }
        break;
    case NNV_RELAY_DTYPES:
        break;
    }
}

enum nnv_status nnv_relay_datum_read(const struct nnv_relay_type *type, const void *data, struct nnv_arena *arena,
                                     struct nnv_relay_datum **out, struct nnv_err *err) {
    if (type->kind != NNV_RELAY_TENSOR || !nnv_relay_type_known(type))
        return nnv_fail(err, NNV_INVALID, "values can be read only for a tensor whose dimensions are known");
    if (data == NULL) return nnv_fail(err, NNV_INVALID, "the values are not known");
    *out = nnv_interp_datum(type, arena);
    if (*out == NULL) return nnv_no_memory(err);
    nnv_relay_numbers(type->dtype, data, (*out)->n, (*out)->values);
    return NNV_OK;
}

#define WRITE(dtype, type)                                                                                             \
    case dtype:                                                                                                        \
        for (size_t i = 0; i < d->n; i++) {                                                                            \
            type v = (type)saturated(dtype, d->values[i]);                                                             \
            memcpy(at + i * sizeof v, &v, sizeof v);                                                                   \
        }                                                                                                              \
        break;

void nnv_relay_datum_write(const struct nnv_relay_datum *d, void *data) {
    char *at = data;
    uint16_t half;
    switch (d->type->dtype) {
        EACH_INTEGER(WRITE)
    case NNV_RELAY_BOOL:
        for (size_t i = 0; i < d->n; i++) at[i] = d->values[i] != 0;
        break;
    case NNV_RELAY_FLOAT64:
        memcpy(data, d->values, d->n * sizeof(double));
        break;
    case NNV_RELAY_FLOAT32:
        for (size_t i = 0; i < d->n; i++) {
            float v = (float)d->values[i];
            memcpy(at + 4 * i, &v, 4);
        }
        break;
    case NNV_RELAY_FLOAT16:
        for (size_t i = 0; i < d->n; i++) {
            half = nnv_double_to_half(d->values[i]);
            memcpy(at + 2 * i, &half, 2);
        }
        break;
    case NNV_RELAY_BFLOAT16:
        for (size_t i = 0; i < d->n; i++) {
            float v = (float)to_bfloat16(d->values[i]);
            uint32_t bits;
            memcpy(&bits, &v, 4);
            half = (uint16_t)(bits >> 16);
            memcpy(at + 2 * i, &half, 2);
        }
        break;
    case NNV_RELAY_DTYPES:
        break;
    }
}

/* ------------------------------------------------------------------- random */

static double drawn(enum nnv_relay_dtype dtype, struct nnv_rng *rng) {
    double low, high;
    if (nnv_relay_dtype_is_float(dtype)) return nnv_interp_round(dtype, nnv_rng_normal(rng));
    nnv_interp_limits(dtype, &low, &high);
    return (double)nnv_rng_int(rng, (int64_t)low, (int64_t)high);
}

static void fill(struct nnv_relay_datum *d, struct nnv_rng *rng) {
    for (size_t i = 0; i < d->n; i++) d->values[i] = drawn(d->type->dtype, rng);
    for (size_t i = 0; i < d->n_fields; i++) fill(d->fields[i], rng);
}

struct nnv_relay_datum *nnv_relay_datum_random(const struct nnv_relay_type *type, uint64_t seed,
                                               struct nnv_arena *arena) {
    struct nnv_rng rng = nnv_rng_make(seed, 0, 0);
    struct nnv_relay_datum *d = nnv_interp_datum(type, arena);
    if (d) fill(d, &rng);
    return d;
}
