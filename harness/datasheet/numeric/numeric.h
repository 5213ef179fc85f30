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
#include "reference/model/builder.h"

enum { NNV_NUMERIC_FACTS = 256, NNV_NUMERIC_PRODUCTS = 64 };

/** What was recognised of one operation with one type, and from what. */
struct nnv_numeric_fact {
    char about[64];     /**< "FULLY_CONNECTED float32" */
    char what[32];      /**< "accumulator", "order of summation" */
    char is[96];        /**< "float32", "8 interleaved partial sums"; "not recognised" */
    char evidence[800]; /**< "2^24 + 1 is 2^24" */
    uint32_t finding;   /**< not 0: results may be wrong because of it */
};

/** Where an engine may have another kernel for an operation. */
enum nnv_products_use {
    NNV_PRODUCTS_PLAIN,  /**< constant weights or factors, no activation */
    NNV_PRODUCTS_RELU,   /**< and a fused activation */
    NNV_PRODUCTS_INPUTS, /**< weights or factors that are an input */
    NNV_PRODUCTS_USES
};

/** An operation that requantises sums of products, with results of one type. */
struct nnv_products {
    int32_t op, type;
    bool per_channel; /**< weights with a scale for each channel */
    enum nnv_products_use use;
};

/** What was seen of it, in this use and in those that the same schemes explain. */
struct nnv_numeric_products {
    struct nnv_products what;
    uint32_t fact;         /**< that says it */
    uint32_t schemes;      /**< bit k is set: scheme k gives all that was seen */
    struct nnv_schemes is; /**< of these the one that is told; or two that give all together */
};

/** Plain bytes: it lies in shared memory. */
struct nnv_numeric {
    uint32_t begun; /**< parts: where a process ends, the next one goes on behind the part that it was in */
    uint32_t count;
    struct nnv_numeric_fact fact[NNV_NUMERIC_FACTS];
    struct nnv_numeric_products product[NNV_NUMERIC_PRODUCTS];
    uint32_t products;
    struct nnv_arithmetic arithmetic; /**< the tightest promise that fits what was seen */
    uint32_t kept;                    /**< operations that keep all subnormals */
    bool flushes;                     /**< some operation does not */
    bool partial;                     /**< not all operations are looked at: nothing is said of all together */
};

/** Executes the spec's model on its inputs: gives *outputs values of the expected shapes, arena's. False: it is not
 * supported, or was not executed. */
typedef bool nnv_numeric_execute(void *context, const struct nnv_spec *spec, struct nnv_arena *arena,
                                 struct nnv_value **outputs);

struct nnv_numeric_engine {
    nnv_numeric_execute *execute;
    void *context;
    const char *operations;  /**< a glob over their names; NULL: all */
    struct nnv_arena *arena; /**< empty; reset between parts */
    struct nnv_numeric *out;
};

/** Measures all parts from out->begun on. */
void nnv_numeric_measure(const struct nnv_numeric_engine *e);
/** What follows from all parts together: once they are measured. */
void nnv_numeric_settle(struct nnv_numeric *n);

/* ----------------------------------------------------------------- for its parts */

/** Adds a fact; about, what and the two texts are cut to their room. */
void nnv_numeric_say(const struct nnv_numeric_engine *e, const char *about, const char *what, const char *is,
                     const char *evidence);

/** The same, of what may make results wrong. */
void nnv_numeric_find(const struct nnv_numeric_engine *e, const char *about, const char *what, const char *is,
                      const char *evidence);

/** Executes the operation that b holds, its inputs in[] on the stored numbers x[], its output y: out. */
bool nnv_numeric_run(const struct nnv_numeric_engine *e, struct nnv_builder *b, uint32_t nin, const uint32_t *in,
                     const double *const *x, uint32_t y, double *out);

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
/** The encodings of a sum of products: of its terms, weights, bias and results. */
struct nnv_sums_form {
    struct nnv_encoding x, w, bias, y;
};
/** The same of stored numbers, in that form; weights are needed. */
bool nnv_sums_run_as(const struct nnv_numeric_engine *e, int32_t op, const struct nnv_sums_form *f, size_t rows,
                     size_t n, const double *x, const double *weights, double *out);
/** Accumulator, order of summation, contraction of products and sums. */
void nnv_measure_sums(const struct nnv_numeric_engine *e, struct nnv_sums s);
/** Bias and deviation of the errors of many sums, beside those of sums in float32. */
void nnv_measure_drift(const struct nnv_numeric_engine *e, struct nnv_sums s);
/** How the error grows along a chain of equal layers: FULLY_CONNECTED or CONV_2D. */
void nnv_measure_depth(const struct nnv_numeric_engine *e, struct nnv_sums s);
/** What becomes of sums that are larger than 16, 24 and 31 bits hold, or of float16 than its largest number. */
void nnv_measure_overflow(const struct nnv_numeric_engine *e, struct nnv_sums s);
/** By which scheme the operation makes codes of sums of products, in all its uses. */
void nnv_measure_requantise(const struct nnv_numeric_engine *e, struct nnv_products what);
/** Chooses the fewest schemes that explain all operations, says them, and promises them. */
void nnv_settle_requantise(struct nnv_numeric *n);
/** The largest error of an operation on one tensor of floats, in units in the last place. */
void nnv_measure_function(const struct nnv_numeric_engine *e, int32_t op, int32_t type);
/** What becomes of numbers below the smallest normal one in ADD, MUL or SOFTMAX. */
void nnv_measure_subnormals(const struct nnv_numeric_engine *e, int32_t op, int32_t type);
/** QUANTIZE: where a number lies in the middle of two codes. */
void nnv_measure_ties(const struct nnv_numeric_engine *e);

#endif
