/* SPDX-License-Identifier: Apache-2.0 */
/** @file lane.h One stream of executions: requests on a prepared model, one for each set of inputs. */
#ifndef NNV_BENCH_LANE_H
#define NNV_BENCH_LANE_H

#include "harness/bench/measure.h"

/** Used by one thread at a time. */
struct nnv_lane {
    struct nnvts_prepared_model *prepared;
    struct nnvts_burst *burst;          /**< BURST */
    struct nnvts_execution **execution; /**< REUSABLE: one a set */
    uint32_t sets;
    struct nnvts_request *request; /**< one a set, all over the same two pools */
    struct nnvts_execution_result result;
    struct nnvts_memory pools[2];
    void *mapped;
    size_t mapped_bytes;
};

/**
 * Asks whether the driver takes all operations, and compiles. UNSUPPORTED, FAILED or ERROR with the reason (room
 * NNV_BENCH_REASON). compile_ns: how long prepare_model took; written only if DONE.
 */
enum nnv_bench_state nnv_lane_prepare(struct nnvts_device *d, const struct nnvts_model *model,
                                      const struct nnvts_prepare_config *config, struct nnv_arena *arena,
                                      struct nnvts_prepared_model **prepared, double *compile_ns, char *reason);
/** Makes the memory and requests; UNSUPPORTED where the driver lacks the way. reason: room NNV_BENCH_REASON. */
enum nnv_bench_state nnv_lane_open(struct nnv_lane *lane, const struct nnv_bench_work *work, enum nnv_bench_way way,
                                   struct nnvts_prepared_model *prepared, struct nnv_arena *arena, char *reason);
/** Executes on a set of inputs. */
enum nnvts_status nnv_lane_run(struct nnv_lane *lane, uint32_t set);
void nnv_lane_close(struct nnv_lane *lane);

#endif
