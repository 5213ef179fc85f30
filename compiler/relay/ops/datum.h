/* SPDX-License-Identifier: Apache-2.0 */
/** @file datum.h Values of programs as numbers: bytes and back, rounding, limits. */
#ifndef NNV_COMPILER_RELAY_DATUM_H
#define NNV_COMPILER_RELAY_DATUM_H

#include "compiler/relay/relay.h"

/** A value: a tensor's numbers, row-major, or the fields of a tuple. */
struct nnv_relay_datum {
    const struct nnv_relay_type *type; /**< with all dimensions known */
    double *values;                    /**< TENSOR: n numbers; quantised integers as stored */
    size_t n;
    struct nnv_relay_datum **fields; /**< TUPLE: n_fields */
    size_t n_fields;
};
/** A datum of the type with zeros; NULL when out of memory, or when the type is not known. */
struct nnv_relay_datum *nnv_interp_datum(const struct nnv_relay_type *type, struct nnv_arena *arena);
/** Seeded values that fit a type: floats normal, integers over their range, booleans either; NULL: no memory. */
struct nnv_relay_datum *nnv_relay_datum_random(const struct nnv_relay_type *type, uint64_t seed,
                                               struct nnv_arena *arena);

/** n dense little-endian elements as numbers. */
void nnv_relay_numbers(enum nnv_relay_dtype dtype, const void *data, size_t n, double *to);
/** Dense little-endian bytes of a tensor's type as numbers, and back (rounded to nearest even, saturated). */
NNV_USE_RESULT enum nnv_status nnv_relay_datum_read(const struct nnv_relay_type *type, const void *data,
                                                    struct nnv_arena *arena, struct nnv_relay_datum **out,
                                                    struct nnv_err *err);
void nnv_relay_datum_write(const struct nnv_relay_datum *datum, void *data);

/** Rounds to nearest even into a floating-point type; others: to nearest even, saturated. */
double nnv_interp_round(enum nnv_relay_dtype dtype, double v);
/** The limits of an integer type: of 64 bits, those up to which numbers are exact. */
void nnv_interp_limits(enum nnv_relay_dtype dtype, double *low, double *high);
/** An integer as a type has it after an overflow: two's complement. */
double nnv_interp_wrap(enum nnv_relay_dtype dtype, int64_t v);

#endif
