/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cost.h What a partition costs, and the cheapest one.
 *
 * Cost of a partition = time of each operation on its device + a launch for each region + transfers: each tensor that
 * crosses, once in each direction. All times in microseconds.
 */
#ifndef NNV_COMPILER_COST_H
#define NNV_COMPILER_COST_H

#include "compiler/byoc.h"

/** Throughputs of one device, the static model: max(flops / rate, bytes / bandwidth) + overhead. */
struct nnv_cost_device {
    double gflops[NNV_RELAY_DTYPES]; /**< by element type; 0: that of float32 */
    double gbytes;                   /**< memory, GB/s */
    double op_us;                    /**< each operation */
    double launch_us;                /**< each region; 0 for the host */
};

struct nnv_cost_model {
    struct nnv_cost_device host, target;
    double crossing_us, crossing_gbytes; /**< each tensor that crosses, and GB/s */
    /** Recorded times by key (nnv_cost_key), which come before the static model; NULL: none. */
    const struct nnv_cost_table *table;
};

/** The static model's defaults. */
void nnv_cost_defaults(struct nnv_cost_model *m);
/** Floating-point (or integer) operations of a checked call, and the bytes of its operands and result. */
void nnv_cost_work(const struct nnv_relay_expr *call, double *flops, double *bytes);
/** A text that is equal for calls of equal structure: operator or composite, attributes, shapes, types; of arena. */
const char *nnv_cost_key(const struct nnv_relay_expr *call, struct nnv_arena *arena);

#endif
