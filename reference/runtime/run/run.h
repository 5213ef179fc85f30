/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file run.h Running a plan. An activation is what one run of a graph needs: its temporaries, the arrays of its
 * requests, and the activations of the graphs below it. It serves one run at a time, and any number in a row.
 */
#ifndef NNV_RUNTIME_RUN_H
#define NNV_RUNTIME_RUN_H

#include "reference/runtime/api/compilation.h"
#include "reference/runtime/run/value.h"

/** Room for one request; as much as the widest step of the graph needs. */
struct nnv_rt_frame {
    struct nnvts_request request; /**< its arrays are the frame's */
    struct nnvts_argument *inputs, *outputs;
    struct nnvts_memory *pools;
    const struct ANeuralNetworksMemory **memories; /**< behind the pools; NULL: a pointer */
    int64_t *tokens;                               /**< of the pools, for bursts */
    struct nnvts_output_shape *shapes;
    uint32_t *dims;                              /**< of shapes, NNV_MAX_RANK each */
    struct nnv_rt_value **in_value, **out_value; /**< of the step, or what stands for them in shared memory */
    struct nnv_rt_value *staged;                 /**< NULL until some are */
};

/** What an IF or WHILE keeps. */
struct nnv_rt_flow {
    struct nnv_rt_activation *graphs[2]; /**< made when first run */
    struct nnv_rt_value **in, **out;     /**< of the graph that runs */
    struct nnv_rt_value verdict;         /**< WHILE: of the condition */
    struct nnv_rt_value *carried[2];     /**< WHILE: outputs of the body, by turns */
    uint32_t carried_count;
};

struct nnv_rt_activation {
    struct nnv_arena *arena; /**< of all that follows, and this */
    const struct nnv_rt_plan *plan;
    const struct nnv_rt_graph *graph;
    const struct nnvts_subgraph *subgraph;
    uint32_t number;                    /**< of the graph */
    struct ANeuralNetworksMemory *pool; /**< of the temporaries; NULL: there are none */
    struct nnv_rt_value **at;           /**< one an operand; NULL: of no concern to the runtime */
    struct nnv_rt_value *own;           /**< temporaries */
    uint32_t own_count;
    struct nnv_rt_value nothing; /**< for operands without a value */
    struct nnv_rt_flow *flows;   /**< one a step; used by IF and WHILE */
    struct nnv_rt_frame frame;
};

/** One run of a plan. */
struct nnv_rt_run {
    ANeuralNetworksCompilation *compilation;
    const struct nnv_rt_plan *plan;
    struct nnvts_execution_config config;
    bool fallback;                      /**< steps that fail on a driver are tried on the CPU */
    struct ANeuralNetworksBurst *burst; /**< NULL: none */
    struct nnvts_execution **reusable;  /**< simple plans: where the driver's execution is kept; NULL: it is not */
    /* Answers */
    struct nnvts_timing timing; /**< of a simple plan */
    bool final;                 /**< the failure is the runtime's own: no device would do better */
};

/** An activation of a graph of a plan; NULL when out of memory. nnv_rt_activation_free(). */
struct nnv_rt_activation *nnv_rt_activation_new(const struct nnv_rt_plan *plan, uint32_t graph);
/** NULL is allowed. */
void nnv_rt_activation_free(struct nnv_rt_activation *a);
/**
 * Runs the activation's graph. inputs and outputs, one each of the graph's, borrowed. A result code. On NO_ERROR all
 * outputs have values; on OUTPUT_INSUFFICIENT_SIZE at least one says that it is not sufficient.
 */
int nnv_rt_run_graph(struct nnv_rt_run *run, struct nnv_rt_activation *a, struct nnv_rt_value *const *inputs,
                     struct nnv_rt_value *const *outputs);
/** An IF or WHILE step. */
int nnv_rt_run_if(struct nnv_rt_run *run, struct nnv_rt_activation *a, uint32_t step);
int nnv_rt_run_while(struct nnv_rt_run *run, struct nnv_rt_activation *a, uint32_t step);
/** A graph's step on a driver, in run_step.c. */
int nnv_rt_run_step(struct nnv_rt_run *run, struct nnv_rt_activation *a, uint32_t step);

/** The request of a step in the activation's frame, which stays until the next; for fenced executions, too. */
int nnv_rt_bind_step(struct nnv_rt_activation *a, const struct nnv_rt_step *step,
                     const struct ANeuralNetworksDevice *device);
/** Points the graph's ends at values, without running. */
void nnv_rt_activation_attach(struct nnv_rt_activation *a, struct nnv_rt_value *const *inputs,
                              struct nnv_rt_value *const *outputs);

/** True if an object of a driver is new enough to have the member, and has it. */
#define NNV_RT_HAS(object, member)                                                                                     \
    ((object)->struct_size >= offsetof(__typeof__(*(object)), member) + sizeof(object)->member && (object)->member)

#endif
