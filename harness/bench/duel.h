/* SPDX-License-Identifier: Apache-2.0 */
/** @file duel.h Runs the blocks of a gate: two drivers and a control in processes of their own, by turns. */
#ifndef NNV_BENCH_DUEL_H
#define NNV_BENCH_DUEL_H

#include "harness/bench/gate.h"
#include "harness/bench/measure.h"

struct nnv_duel_driver {
    const char *path, *options; /**< see nnv_client_resolve() */
};

struct nnv_duel_options {
    struct nnv_duel_driver tested, against;
    enum nnv_mode mode;
    int32_t preference;  /**< PreferenceCode */
    uint64_t timeout_ns; /**< of opening and compiling, and of each turn */
    struct nnv_gate_options gate;
    /** Told after each block; may be NULL. */
    void (*progress)(void *context, double part);
    void *context;
};

/** One driver's times, all of them. */
struct nnv_duel_side {
    char device[64], version[64];
    uint32_t count;
    double quantile_ns[NNV_GATE_QUANTILES];
    struct nnv_interval interval_ns[NNV_GATE_QUANTILES]; /**< at 95 %, as if times were independent */
};

struct nnv_duel_result {
    enum nnv_bench_state state; /**< DONE: answer holds */
    enum nnv_gate_part part;    /**< not DONE: whose fault */
    char reason[NNV_BENCH_REASON];
    struct nnv_gate_answer answer;
    struct nnv_gate_block block[NNV_GATE_BLOCKS];
    uint32_t blocks, burst;
    bool interrupted; /**< the user asked to stop: answer says what the blocks so far tell, and is INVALID */
    struct nnv_duel_side side[2]; /**< TESTED, AGAINST */
    double steal;                 /**< share of the processors' time that other machines took */
    double elapsed_ns;
};

/**
 * Runs blocks until the gate decides, or the user asks to stop (signals.h). What a driver does wrong is state, part and
 * reason. NNV_INVALID: a driver can't be opened; NNV_NO_MEMORY, NNV_IO.
 */
NNV_USE_RESULT enum nnv_status nnv_duel_run(const struct nnv_bench_work *work, const struct nnv_duel_options *options,
                                            struct nnv_arena *arena, struct nnv_duel_result *result,
                                            struct nnv_err *err);

#endif
