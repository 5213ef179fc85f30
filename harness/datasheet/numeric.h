/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file numeric.h How a driver computes: recognised from what it answers to designed inputs. Who executes the models is
 * the caller's: a driver in a process of its own, or in tests an engine of which all is known.
 */
#ifndef NNV_DATASHEET_NUMERIC_H
#define NNV_DATASHEET_NUMERIC_H

#include "base/arena.h"
#include "base/text.h"
#include "reference/model/arithmetic.h"
#include "reference/model/model.h"

enum { NNV_NUMERIC_FACTS = 96 };

/** What was recognised of one operation with one type, and from what. */
struct nnv_numeric_fact {
    char about[64];     /**< "FULLY_CONNECTED float32" */
    char what[32];      /**< "accumulator", "order of summation" */
    char is[96];        /**< "float32", "8 interleaved partial sums"; "not recognised" */
    char evidence[200]; /**< "2^24 + 1 is 2^24" */
};

/** Plain bytes: it lies in shared memory. */
struct nnv_numeric {
    uint32_t begun; /**< parts: where a process ends, the next one goes on behind the part that it was in */
    uint32_t count;
    struct nnv_numeric_fact fact[NNV_NUMERIC_FACTS];
    struct nnv_arithmetic arithmetic; /**< the tightest promise that fits what was seen */
    uint32_t kept;                    /**< operations that keep all subnormals */
    bool flushes;                     /**< some operation does not */
};

/** Executes the spec's model on its inputs: gives *outputs values of the expected shapes, arena's. False: it is not
 * supported, or was not executed. */
typedef bool nnv_numeric_execute(void *context, const struct nnv_spec *spec, struct nnv_arena *arena,
                                 struct nnv_value **outputs);

struct nnv_numeric_engine {
    nnv_numeric_execute *execute;
    void *context;
    struct nnv_arena *arena; /**< empty; reset between parts */
    struct nnv_numeric *out;
};

/** Measures all parts from out->begun on. */
void nnv_numeric_measure(const struct nnv_numeric_engine *e);

/* ----------------------------------------------------------------- for its parts */

/** Adds a fact; about, what and the two texts are cut to their room. */
void nnv_numeric_say(const struct nnv_numeric_engine *e, const char *about, const char *what, const char *is,
                     const char *evidence);

/** An operation that sums up products: along an axis of n elements, in `rows` rows. */
struct nnv_sums {
    int32_t op, type;
};
/**
 * Sums up x, numbers [rows, n] that the type can hold, times weights [n] (NULL: 1), which REDUCE_SUM does not have.
 * out: [rows]. False: the driver does not do it.
 */
bool nnv_sums_run(const struct nnv_numeric_engine *e, struct nnv_sums s, size_t rows, size_t n, const double *x,
                  const double *weights, double *out);
/** Accumulator, order of summation, contraction of products and sums. */
void nnv_measure_sums(const struct nnv_numeric_engine *e, struct nnv_sums s);
/**
 * Requantises accumulators: of FULLY_CONNECTED of the type, whose bias they are. out: codes less the zero point.
 * multiplier: the scale of the accumulators over that of the output.
 */
bool nnv_requantise_run(const struct nnv_numeric_engine *e, int32_t type, float multiplier, size_t n,
                        const int32_t *accumulators, int *out);
/** How sums of products become codes, and what becomes of sums beyond 2^31. */
void nnv_measure_requantise(const struct nnv_numeric_engine *e, int32_t type);
/** The largest error of an operation on one tensor of floats, in units in the last place. */
void nnv_measure_function(const struct nnv_numeric_engine *e, int32_t op, int32_t type);
/** What becomes of numbers below the smallest normal one. */
void nnv_measure_subnormals(const struct nnv_numeric_engine *e, int32_t type);
/** QUANTIZE: where a number lies in the middle of two codes. */
void nnv_measure_ties(const struct nnv_numeric_engine *e);

#endif
