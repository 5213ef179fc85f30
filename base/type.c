/* SPDX-License-Identifier: Apache-2.0 */
#include "base/type.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/matmul.h"

#define HALF_MAX 65504.0

/* One row a type, by code. */
#define ROW(c, tag_, size_, level_, tensor_, kind_, lo, hi)                                                            \
    [ANEURALNETWORKS_##c] = {.code = ANEURALNETWORKS_##c,                                                              \
                             .name = #c,                                                                               \
                             .tag = tag_,                                                                              \
                             .size = size_,                                                                            \
                             .level = level_,                                                                          \
                             .tensor = tensor_,                                                                        \
                             .per_channel = ANEURALNETWORKS_##c == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL,     \
                             .kind = NNV_KIND_##kind_,                                                                 \
                             .min = lo,                                                                                \
                             .max = hi}

static const struct nnv_type types[NNV_TYPE_COUNT] = {
    ROW(FLOAT32, "float32_scalar", 4, 1, false, FLOAT, -FLT_MAX, FLT_MAX),
    ROW(INT32, "int32_scalar", 4, 1, false, INT, INT32_MIN, INT32_MAX),
    ROW(UINT32, "uint32_scalar", 4, 1, false, INT, 0, UINT32_MAX),
    ROW(TENSOR_FLOAT32, "float32", 4, 1, true, FLOAT, -FLT_MAX, FLT_MAX),
    ROW(TENSOR_INT32, "int32", 4, 1, true, INT, INT32_MIN, INT32_MAX),
    ROW(TENSOR_QUANT8_ASYMM, "quant8_asymm", 1, 1, true, QUANT, 0, UINT8_MAX),
    ROW(BOOL, "bool_scalar", 1, 3, false, BOOL, 0, 1),
    ROW(TENSOR_QUANT16_SYMM, "quant16_symm", 2, 3, true, QUANT, INT16_MIN, INT16_MAX),
    ROW(TENSOR_FLOAT16, "float16", 2, 3, true, FLOAT, -HALF_MAX, HALF_MAX),
    ROW(TENSOR_BOOL8, "bool8", 1, 3, true, BOOL, 0, 1),
    ROW(FLOAT16, "float16_scalar", 2, 3, false, FLOAT, -HALF_MAX, HALF_MAX),
    ROW(TENSOR_QUANT8_SYMM_PER_CHANNEL, "quant8_symm_per_channel", 1, 3, true, QUANT, INT8_MIN, INT8_MAX),
    ROW(TENSOR_QUANT16_ASYMM, "quant16_asymm", 2, 3, true, QUANT, 0, UINT16_MAX),
    ROW(TENSOR_QUANT8_SYMM, "quant8_symm", 1, 3, true, QUANT, INT8_MIN, INT8_MAX),
    ROW(TENSOR_QUANT8_ASYMM_SIGNED, "quant8_asymm_signed", 1, 4, true, QUANT, INT8_MIN, INT8_MAX),
    ROW(MODEL, "model", 0, 4, false, MODEL, 0, 0),
};

const struct nnv_type *nnv_type(int32_t code) { return code >= 0 && code < NNV_TYPE_COUNT ? &types[code] : NULL; }

const struct nnv_type *nnv_type_by_name(const char *name) {
    for (int i = 0; i < NNV_TYPE_COUNT; i++)
        if (strcmp(types[i].name, name) == 0) return &types[i];
    return strcmp(name, "SUBGRAPH") == 0 ? &types[ANEURALNETWORKS_MODEL] : NULL;
}

const struct nnv_type *nnv_type_by_tag(const char *tag, size_t n) {
    for (int i = 0; i < NNV_TYPE_COUNT; i++)
        if (strlen(types[i].tag) == n && strncmp(types[i].tag, tag, n) == 0) return &types[i];
    return NULL;
}

static enum nnv_kind kind_of(int32_t code) {
    const struct nnv_type *t = nnv_type(code);
    return t ? t->kind : NNV_KIND_MODEL;
}

bool nnv_is_quant(int32_t code) { return kind_of(code) == NNV_KIND_QUANT; }

bool nnv_is_float(int32_t code) { return kind_of(code) == NNV_KIND_FLOAT; }

static uint64_t bits_of(double v) {
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

bool nnv_same_bits(double a, double b) { return bits_of(a) == bits_of(b); }

/* ------------------------------------------------------------------ float16 */

static double double_of(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Both conversions choose between results instead of branching, so that loops over them are vectors. */
static inline double half_to_double(uint16_t h) {
    const uint64_t sign = (uint64_t)(h >> 15) << 63, size = (uint64_t)(h & 0x7fffu) << 42;
    const double small = (double)(int32_t)(h & 1023u) * 0x1p-24;
    const uint64_t large = size + ((h & 0x7c00u) == 0x7c00u ? UINT64_C(2016) << 52 : UINT64_C(1008) << 52);
    return double_of(((h & 0x7c00u) == 0 ? bits_of(small) : large) | sign);
}

double nnv_half_to_double(uint16_t h) { return half_to_double(h); }

static inline uint16_t double_to_half(double v) {
    const uint64_t bits = bits_of(fabs(v)), lost = (UINT64_C(1) << 41) - 1;
    const double least = 0x1p28; /* has 2^-24, the step of the subnormals, as its last place */
    const uint64_t small = bits_of(fabs(v) + least) - bits_of(least);
    /* To nearest even; a carry adds one to the exponent. */
    const uint64_t normal = ((bits + lost + (bits >> 42 & 1)) >> 42) - (UINT64_C(1008) << 10);
    uint64_t size = fabs(v) < 0x1p-14 ? small : normal;
    size = fabs(v) < 65520 ? size : 0x7c00u;
    size = isnan(v) ? 0x7e00u | (bits >> 42 & 1023u) : size;
    return (uint16_t)(bits_of(v) >> 63 << 15 | size);
}

uint16_t nnv_double_to_half(double v) { return double_to_half(v); }

/* ------------------------------------------------------------ load and store */

/* v clamped to lo and hi (NaN to hi). */
static inline double clamped(double v, double lo, double hi) {
    v = v < hi ? v : hi;
    return v > lo ? v : lo;
}

/*
 * The same, rounded half away from zero, lo and hi within int32_t. What is cut off may be less than half by the last
 * bit of 0.5: the sum with just less than a half then lies below the next integer, and half itself rounds up to it.
 */
static inline int32_t round_clamped(double v, double lo, double hi) {
    const double below_half = 0x1.fffffffffffffp-2, near = clamped(v, lo, hi);
    return (int32_t)(near + copysign(below_half, near));
}

#define LOAD(ctype, expr)                                                                                              \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        ctype e;                                                                                                       \
        memcpy(&e, from + i * sizeof e, sizeof e);                                                                     \
        dst[i] = (expr);                                                                                               \
    }                                                                                                                  \
    return

NNV_WIDE void nnv_load(int32_t type, const void *src, size_t n, double *dst) {
    const unsigned char *from = src;
    switch ((OperandCode)type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        LOAD(float, (double)e);
    case ANEURALNETWORKS_FLOAT16:
    case ANEURALNETWORKS_TENSOR_FLOAT16:
        LOAD(uint16_t, half_to_double(e));
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_TENSOR_INT32:
        LOAD(int32_t, e);
    case ANEURALNETWORKS_UINT32:
        LOAD(uint32_t, e);
    case ANEURALNETWORKS_BOOL:
    case ANEURALNETWORKS_TENSOR_BOOL8:
        LOAD(uint8_t, e != 0);
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        LOAD(uint8_t, e);
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL:
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
        LOAD(int8_t, e);
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM:
        LOAD(int16_t, e);
    case ANEURALNETWORKS_TENSOR_QUANT16_ASYMM:
        LOAD(uint16_t, e);
    case ANEURALNETWORKS_MODEL:
        return;
    }
}

#define STORE(ctype, expr)                                                                                             \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        double v = src[i];                                                                                             \
        ctype e = (ctype)(expr);                                                                                       \
        memcpy(to + i * sizeof e, &e, sizeof e);                                                                       \
    }                                                                                                                  \
    return

NNV_WIDE void nnv_store(int32_t type, const double *src, size_t n, void *dst) {
    unsigned char *to = dst;
    switch ((OperandCode)type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        STORE(float, v);
    case ANEURALNETWORKS_FLOAT16:
    case ANEURALNETWORKS_TENSOR_FLOAT16:
        STORE(uint16_t, double_to_half(v));
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_TENSOR_INT32:
        STORE(int32_t, round_clamped(v, INT32_MIN, INT32_MAX));
    case ANEURALNETWORKS_UINT32:
        STORE(uint32_t, nnv_round_half_away(clamped(v, 0, UINT32_MAX)));
    case ANEURALNETWORKS_BOOL:
    case ANEURALNETWORKS_TENSOR_BOOL8:
        STORE(uint8_t, v != 0);
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        STORE(uint8_t, round_clamped(v, 0, UINT8_MAX));
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL:
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
        STORE(int8_t, round_clamped(v, INT8_MIN, INT8_MAX));
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM:
        STORE(int16_t, round_clamped(v, INT16_MIN, INT16_MAX));
    case ANEURALNETWORKS_TENSOR_QUANT16_ASYMM:
        STORE(uint16_t, round_clamped(v, 0, UINT16_MAX));
    case ANEURALNETWORKS_MODEL:
        return;
    }
}

double nnv_round_to(int32_t type, double v) {
    unsigned char element[8] = {0};
    double r = v;
    nnv_store(type, &v, 1, element);
    nnv_load(type, element, 1, &r);
    return r;
}

double nnv_ulp(int32_t type, double v) {
    const struct nnv_type *t = nnv_type(type);
    if (!t || t->kind != NNV_KIND_FLOAT) return 1;
    if (isnan(v)) return v;
    int digits = t->size == 4 ? 23 : 10, lowest = t->size == 4 ? -126 : -14, highest = t->size == 4 ? 127 : 15;
    int exponent = (int)(bits_of(v) >> 52 & 0x7ff) - 1023;
    if (exponent < lowest) exponent = lowest;
    if (exponent > highest) exponent = highest;
    return double_of((uint64_t)(exponent - digits + 1023) << 52);
}

bool nnv_size_bytes(int32_t type, uint32_t rank, const uint32_t *dims, size_t *elems, size_t *bytes) {
    const struct nnv_type *t = nnv_type(type);
    if (!t) return false;
    bool empty = false;
    for (uint32_t i = 0; i < rank; i++) empty = empty || dims[i] == 0;
    uint64_t n = empty ? 0 : 1;
    for (uint32_t i = 0; i < rank && n; i++) {
        n *= dims[i];
        if (n > UINT32_MAX) return false;
    }
    if (n * t->size > UINT32_MAX) return false;
    *elems = (size_t)n;
    *bytes = (size_t)n * t->size;
    return true;
}
