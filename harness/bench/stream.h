/* SPDX-License-Identifier: Apache-2.0 */
/** @file stream.h One stream of executions: requests on a prepared model, one for each set of inputs. */
#ifndef NNV_BENCH_STREAM_H
#define NNV_BENCH_STREAM_H

#include "harness/bench/measure.h"

/** Used by one thread at a time. */
struct nnv_bench_stream {
    const struct nnv_bench_work *work;
    uint32_t sets;                   /**< with those that are held back */
    bool own_time;                   /**< see struct nnv_bench_options */
    struct nnv_request *request;     /**< one a set, each with inputs of its own; they share the outputs */
    struct nnv_execution *execution; /**< one a set; of a burst they share the first one's */
    struct nnv_abi_pool *pools;      /**< of the outputs, then of each set's inputs */
    int64_t *tokens;                 /**< of a burst: two a set, equal ones for equal memory */
};

/** What the process that measures holds of its driver. Zero-initialise; it lasts until the process ends. */
struct nnv_bench_model {
    struct nnvts_device *device;
    const struct nnv_model *model;
    struct nnvts_model abi;
    struct nnv_abi_pool constants;
    struct nnvts_prepared_model *prepared;
};

/** Renders the model for the device. */
NNV_USE_RESULT enum nnv_status nnv_bench_model_make(struct nnv_bench_model *m, struct nnvts_device *device,
                                                    const struct nnv_model *model, struct nnv_arena *arena,
                                                    struct nnv_err *err);
/**
 * Asks whether the driver takes all operations, and compiles. UNSUPPORTED, FAILED or ERROR with the reason (room
 * NNV_BENCH_REASON). compile_ns: how long prepare_model took; written only if DONE; NULL: not wanted.
 */
enum nnv_bench_state nnv_bench_model_prepare(struct nnv_bench_model *m, int32_t preference, struct nnv_arena *arena,
                                             double *compile_ns, char *reason);

/** Makes the memory and requests; UNSUPPORTED where the driver lacks the mode. reason: room NNV_BENCH_REASON. */
enum nnv_bench_state nnv_bench_stream_open(struct nnv_bench_stream *stream, const struct nnv_bench_work *work,
                                           enum nnv_mode mode, struct nnvts_prepared_model *prepared,
                                           struct nnv_arena *arena, char *reason);
/** Executes on a set of inputs. False: it failed, or the driver broke a rule; nnv_bench_stream_reason() says how. */
bool nnv_bench_stream_run(struct nnv_bench_stream *stream, uint32_t set);
/** What became of the last execution on a set, if it went wrong: "execute answered GENERAL_FAILURE". */
void nnv_bench_stream_reason(const struct nnv_bench_stream *stream, uint32_t set, char *reason);
void nnv_bench_stream_close(struct nnv_bench_stream *stream);

#endif
