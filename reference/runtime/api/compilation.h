/* SPDX-License-Identifier: Apache-2.0 */
/** @file compilation.h A compilation: settings, and once finished a plan. */
#ifndef NNV_RUNTIME_COMPILATION_H
#define NNV_RUNTIME_COMPILATION_H

#include <pthread.h>

#include "reference/runtime/plan/plan.h"

/** NNVTS_PARTITIONING: how work is divided. */
enum nnv_rt_partitioning {
    NNV_RT_PARTITION_NONE,             /**< all on the CPU reference */
    NNV_RT_PARTITION_WITH_FALLBACK,    /**< where drivers fail, the CPU reference does it; the default */
    NNV_RT_PARTITION_WITHOUT_FALLBACK, /**< failures are reported */
};

/** A step on the CPU reference in the place of its own device. */
struct nnv_rt_cpu_step {
    const struct nnv_rt_step *step;
    struct nnvts_prepared_model *prepared;
    struct nnv_rt_cpu_step *next;
};

struct ANeuralNetworksCompilation {
    const ANeuralNetworksModel *model;
    bool explicit_devices; /**< made for devices that the application named: no fallback */
    size_t device_count;
    struct ANeuralNetworksDevice **devices;
    int32_t preference, priority;
    const bool *only;    /**< see nnv_rt_plan_options; borrowed */
    uint64_t timeout_ns; /**< 0: none */
    bool has_token;      /**< caching was asked for */
    char *cache_dir;     /**< NULL: files are given, or there is no caching */
    int *cache_fds;      /**< NULL: none; model files first, duplicates of the caller's */
    uint32_t cache_fd_count;
    uint8_t token[32];
    uint32_t attribute_count;
    struct nnv_rt_attribute *attributes;
    bool finished;            /**< finish was called, whatever it answered */
    bool fallback;            /**< the CPU reference takes over where a driver fails */
    struct nnv_rt_plan *plan; /**< NULL: not finished, or not a valid compilation */
    pthread_mutex_t lock;     /**< guards what follows */
    struct nnv_rt_plan *cpu_plan;
    struct nnv_rt_cpu_step *cpu_steps;
};

/**
 * Caching in files that the caller has opened, for a Support Library: compilations for one device only (BAD_DATA), and
 * exactly as many files as it asks for (BAD_DATA). The descriptors are duplicated.
 */
int nnv_rt_compilation_set_cache_fds(ANeuralNetworksCompilation *c, const int *model_fds, uint32_t model_fd_count,
                                     const int *data_fds, uint32_t data_fd_count, const uint8_t *token);
/** NNVTS_PARTITIONING: "none", "fallback", "strict"; anything else is fallback. */
enum nnv_rt_partitioning nnv_rt_partitioning(void);

/** The valid plan, or NULL. */
static inline const struct nnv_rt_plan *nnv_rt_compilation_plan(const ANeuralNetworksCompilation *c) {
    return c->finished ? c->plan : NULL;
}
/** The whole model on the CPU reference, made when first asked for; owned by the compilation. */
int nnv_rt_compilation_cpu_plan(ANeuralNetworksCompilation *c, const struct nnv_rt_plan **out);
/** One step of a plan on the CPU reference (same inputs and outputs), made when first asked for. */
int nnv_rt_compilation_cpu_step(ANeuralNetworksCompilation *c, const struct nnv_rt_step *step,
                                struct nnvts_prepared_model **out);
/** Timing, deadlines: allowed only with exactly one device that the application named. */
static inline bool nnv_rt_compilation_has_one_device(const ANeuralNetworksCompilation *c) {
    return c->explicit_devices && c->device_count == 1;
}

#endif
