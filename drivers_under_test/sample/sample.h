/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sample.h The driver "sample": partial drivers, as a machine with several accelerators has them, to test
 * partitioning and what suites make of a driver that does not do everything.
 *
 * Each is a row of the table in table.c over the kernels of the driver "cpu", which lies in the same folder.
 */
#ifndef NNVTS_SAMPLE_H
#define NNVTS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "nnvts/driver.h"

/** Types of tensors, as bits. */
enum {
    SAMPLE_FLOAT32 = 1,
    SAMPLE_FLOAT16 = 2,
    SAMPLE_QUANT8 = 4,
    SAMPLE_QUANT8_SIGNED = 8,
    SAMPLE_INT32 = 16,
    SAMPLE_BOOL8 = 32,
    SAMPLE_OTHERS = 64,
    SAMPLE_ALL = 127,
};

/** How a driver with sums of its own adds up products. */
enum sample_sums {
    SAMPLE_SUMS_RIGHT,
    SAMPLE_SUMS_TRUNCATED,  /**< float32, each sum rounded towards 0 */
    SAMPLE_SUMS_UPWARDS,    /**< float32, upwards where four tenths of a unit are beyond */
    SAMPLE_SUMS_SATURATING, /**< of codes in 16 bits, which saturate */
    SAMPLE_SUMS_PAIRS,      /**< of codes, products of two neighbours added up in 16 bits, which saturate */
    SAMPLE_SUMS_WRAPPING,   /**< of codes in 16 bits, which wrap around */
};

/** An operation that a driver has, with at most so many inputs; 0: any number. */
struct sample_operation {
    int32_t code;
    uint8_t inputs;
};

struct sample {
    const char *name;                    /**< the option */
    int32_t level;                       /**< feature level */
    int32_t type;                        /**< DeviceTypeCode */
    struct nnvts_performance fast, slow; /**< of the main types, and of all others */
    uint8_t main_types;
    uint8_t types;                             /**< that operands of supported operations may have */
    const struct sample_operation *operations; /**< NULL: all that cpu has */
    size_t operation_count;
    bool hashed; /**< of these, those whose hash with the seed is odd */
    uint64_t seed;
    bool conditional; /**< only what sample_meets() allows */
    bool cliffs;      /**< its behaviour changes at the extents of cliffs.c */
    enum sample_sums sums;
    bool wrong; /**< on purpose: judged as a driver, it fails */
    bool plain; /**< what the first two levels of NNAPI allowed, and the executions that a driver of HAL 1.0 has */
};

extern const struct sample samples[];
extern const size_t sample_count;

/** The driver has operation op of subgraph g. */
bool sample_supports(const struct sample *s, const struct nnvts_subgraph *g, const struct nnvts_operation *op);
/** The row of the option random-SEED: about half of all uses of operations, at prices of its own. False: no such
 * option. */
bool sample_random(const char *option, struct sample *out);
/** Operation op, which the first two levels of NNAPI had, is used as they allowed it. The model is a valid one. */
bool sample_is_old(const struct nnvts_model *m, const struct nnvts_operation *op);
/** Operation op meets the conditions that a conditional driver has on it. The model is a valid one. */
bool sample_meets(const struct nnvts_model *m, const struct nnvts_operation *op);
/** Operation op is of an extent that a driver with cliffs supports. */
bool sample_below_cliff(const struct nnvts_model *m, const struct nnvts_operation *op);
/** The prepared model, which is taken over, with what is planted in a driver with cliffs. */
enum nnvts_status sample_plant_cliff(const struct nnvts_model *m, struct nnvts_prepared_model *inner,
                                     struct nnvts_prepared_model **out);
/** The prepared model, which is taken over, with FULLY_CONNECTED computed as a driver with sums of its own does it. */
enum nnvts_status sample_plant_sums(enum sample_sums sums, const struct nnvts_model *m,
                                    struct nnvts_prepared_model *inner, struct nnvts_prepared_model **out);
/** Bit of an OperandCode; 0 for scalars. */
uint8_t sample_type_bit(int32_t type);

#endif
