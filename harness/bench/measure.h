/* SPDX-License-Identifier: Apache-2.0 */
/** @file measure.h How long a driver takes for a network: compiling, the first execution, and very many more. */
#ifndef NNV_BENCH_MEASURE_H
#define NNV_BENCH_MEASURE_H

#include "harness/client/abi.h"
#include "harness/client/execute.h"
#include "harness/client/prepare.h"

/** How executions arrive, as MLPerf Inference names it. */
enum nnv_scenario {
    NNV_SCENARIO_SINGLE,  /**< one after the other: the latency of one user */
    NNV_SCENARIO_MULTI,   /**< `streams` at once, each one after the other */
    NNV_SCENARIO_OFFLINE, /**< `streams` take what is left of a heap of work: throughput */
    NNV_SCENARIO_POISSON, /**< they arrive by chance, `rate` a second; latency counts from arrival, waiting included */
    NNV_SCENARIO_COUNT
};
extern const char *const nnv_scenario_names[NNV_SCENARIO_COUNT + 1];

/** Names of the modes of execution as users say them, by enum nnv_mode: "plain" is synchronous. */
extern const char *const nnv_bench_modes[NNV_MODES + 1];

/** The work: a network with inputs to run it on. */
struct nnv_bench_work {
    const struct nnv_model *model;
    uint32_t sets;                         /**< at least 1 */
    uint32_t held_back;                    /**< further sets, which the driver sees only while it is timed */
    const struct nnv_value *const *inputs; /**< [sets + held_back][model->main.nin] */
    const struct nnv_value *const *golden; /**< [sets + held_back][main.nout]: answers are judged while they are timed;
                                              NULL: they are not */
    const struct nnv_value *output_shapes; /**< [main.nout]: dims and bytes of each output; data is not read */
};

struct nnv_bench_options {
    const char *path, *options; /**< of the driver; see nnv_client_resolve() */
    enum nnv_scenario scenario;
    enum nnv_mode mode;
    uint32_t streams;    /**< at least 1 */
    double rate;         /**< POISSON: a second; 0: 0.7 of what the streams were measured to serve */
    uint64_t time_ns;    /**< of measuring, at most */
    uint32_t least;      /**< samples, however long they take */
    bool cold;           /**< with emptied caches, too */
    bool remote;         /**< the driver is on another machine */
    bool own_time;       /**< a latency is what the driver says it took, where it does: not what its caller waits */
    bool early_stop;     /**< end as soon as the quantiles are known well enough */
    uint64_t seed;       /**< of arrivals */
    uint64_t timeout_ns; /**< of everything */
    int32_t preference;  /**< PreferenceCode */
    /** Told now and then how far it is: part in [0, 1]; may be NULL. Called in the calling process. */
    void (*progress)(void *context, double part);
    void *context;
};

enum { NNV_BENCH_MOST_SAMPLES = 1 << 17, NNV_BENCH_REASON = 512 };

enum nnv_bench_state {
    NNV_BENCH_DONE,
    NNV_BENCH_UNSUPPORTED, /**< the driver does not take the model, or lacks this mode of execution */
    NNV_BENCH_FAILED,      /**< it answered with an error */
    NNV_BENCH_CRASHED,
    NNV_BENCH_TIMED_OUT,
    NNV_BENCH_ERROR, /**< nnvts itself could not */
};

/** All times in ns; NaN: not measured. */
struct nnv_bench_result {
    enum nnv_bench_state state;
    char reason[NNV_BENCH_REASON];
    char device[64], version[64];
    double compile_ns;        /**< without a cache */
    double compile_cached_ns; /**< from the driver's cache files; NaN if it has none */
    double first_ns;          /**< the first execution */
    uint32_t warm_ups;        /**< executions before the measured ones */
    bool steady;              /**< the warm-up came to an end by itself: times did not fall any more */
    uint32_t count;
    double *sample_ns;                 /**< count latencies in the order of their ends; arena's */
    double elapsed_ns;                 /**< of all measured executions */
    double in_driver_ns, on_device_ns; /**< median of what the driver says, where it does */
    double call_ns;                    /**< median of what its caller waits meanwhile */
    double map_ns;   /**< making and mapping the memory of one stream's requests, with a burst or execution objects */
    double close_ns; /**< giving back streams and the prepared model */
    double warm_ns,
        cold_ns;       /**< medians in turns: right after another execution, and after caches and TLB were emptied */
    double joules;     /**< that an execution took of the machine; NaN: it counts none */
    double asked_rate; /**< POISSON: arrivals a second; else NaN */
    bool overrun;      /**< POISSON: arrivals came faster than the driver could serve them */
    double unique_ns, repeated_ns; /**< medians with a new input each time, and with the same again and again */
    bool caches_answers; /**< the same input again is faster, whenever it is asked: not work but memory is measured */
    uint32_t checked;    /**< timed executions, drawn by chance, whose answers were judged */
    double timed_error;  /**< how far these were from golden at most, as nnv_answer_error(); NaN: none was judged */
    double noise;        /**< mean over lower decile of a fixed piece of work, before and after: 1 on an idle machine */
    uint64_t peak_bytes; /**< of resident memory, above what the process had before it opened the driver */
};

/**
 * Measures in a process of its own. What the driver does wrong is the result's state and reason, not an error.
 * NNV_INVALID: the driver can't be opened.
 */
NNV_USE_RESULT enum nnv_status nnv_bench_measure(const struct nnv_bench_work *work,
                                                 const struct nnv_bench_options *options, struct nnv_arena *arena,
                                                 struct nnv_bench_result *result, struct nnv_err *err);

/** "done", "unsupported", "failed" ... */
const char *nnv_bench_state_name(enum nnv_bench_state state);

/** True if the noise makes quantiles worthless: they would be the machine's, not the driver's. */
bool nnv_bench_noisy(const struct nnv_bench_result *r);

#endif
