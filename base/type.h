/* SPDX-License-Identifier: Apache-2.0 */
/** @file type.h Traits of the 16 operand types: size, limits, load to double, rounding store. */
#ifndef NNV_BASE_TYPE_H
#define NNV_BASE_TYPE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "NeuralNetworksTypes.h"

enum { NNV_TYPE_COUNT = 16 };

/** How elements of a type stand for numbers. */
enum nnv_kind {
    NNV_KIND_FLOAT,
    NNV_KIND_INT,   /**< INT32, UINT32 and their tensors: the integer itself */
    NNV_KIND_BOOL,  /**< 0 false, any other byte true */
    NNV_KIND_QUANT, /**< (q - zero_point) * scale */
    NNV_KIND_MODEL,
};

struct nnv_type {
    int32_t code;     /**< OperandCode */
    const char *name; /**< "TENSOR_FLOAT32" */
    const char *tag;  /**< short lower-case name for case names and tables: "float32", "quant8_asymm" */
    uint8_t size;     /**< bytes an element; 0 for MODEL */
    uint8_t level;    /**< the feature level that introduced it */
    bool tensor;      /**< may have dimensions */
    bool per_channel;
    enum nnv_kind kind;
    double min, max; /**< of the stored number (quantised: of q) */
};

/** Traits of code, or NULL for a code that is none of the 16. */
const struct nnv_type *nnv_type(int32_t code);
/** Traits by standard name ("TENSOR_FLOAT32"; "SUBGRAPH" is accepted for MODEL), or NULL. */
const struct nnv_type *nnv_type_by_name(const char *name);
/** Traits by the first n characters of the tag, or NULL. */
const struct nnv_type *nnv_type_by_tag(const char *tag, size_t n);
/** True for quantised types, per-channel included. */
bool nnv_is_quant(int32_t code);
/** True for FLOAT32, FLOAT16 and their tensors. */
bool nnv_is_float(int32_t code);

/** IEEE binary16 to double, exact. */
double nnv_half_to_double(uint16_t h);
/** double to IEEE binary16: one rounding to nearest even; overflow to infinity; NaN stays NaN. */
uint16_t nnv_double_to_half(double v);
/** Rounds half away from zero, as round() does, but without a call or a branch. */
static inline double nnv_round_half_away(double v) {
    const double size = fabs(v), even = size + 0x1p52 - 0x1p52; /* the addition rounds half to even */
    const double whole = size - even == 0.5 ? even + 1 : even;
    return copysign(size < 0x1p52 ? whole : size, v); /* beyond lie integers, infinities and NaN */
}

/**
 * Loads n elements of type as stored numbers: floats as their value, integers and quantised as the
 * integer (q, not dequantised), booleans as 0 or 1. src needs no alignment.
 */
void nnv_load(int32_t type, const void *src, size_t n, double *dst);
/**
 * Stores n numbers: floats rounded to nearest even, integers and quantised rounded half away from zero
 * and clamped to the type's range (NaN to max), booleans as v != 0. dst needs no alignment.
 */
void nnv_store(int32_t type, const double *src, size_t n, void *dst);
/** The number that nnv_store followed by nnv_load would give. */
double nnv_round_to(int32_t type, double v);
/** True if they are one number bit by bit: no zero of another sign, and the same NaN. */
bool nnv_same_bits(double a, double b);
/** Unit in the last place of |v| in a float type; 1 for integer and quantised types. */
double nnv_ulp(int32_t type, double v);

/** dims product times size; false on overflow of uint32 (NNAPI's limit). rank 0 gives one element. */
bool nnv_size_bytes(int32_t type, uint32_t rank, const uint32_t *dims, size_t *elems, size_t *bytes);

#endif
