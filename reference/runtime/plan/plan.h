/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file plan.h Which device does what: steps of a model, in order, with the values that pass between them.
 *
 * Each subgraph that the runtime itself walks through has a plan of its own; an IF or WHILE step of it names the graphs
 * to run. A model that one device takes as a whole is one EXECUTE step of the main graph ("simple").
 */
#ifndef NNV_RUNTIME_PLAN_H
#define NNV_RUNTIME_PLAN_H

#include "base/arena.h"
#include "reference/runtime/device.h"
#include "reference/runtime/api/model/model.h"

/** Where the value of an operand is during an execution. */
enum nnv_rt_place_kind {
    NNV_RT_NOWHERE,   /**< inside one step, or unused, or without a value */
    NNV_RT_INPUT,     /**< the graph's input number index */
    NNV_RT_OUTPUT,    /**< the graph's output number index, whatever reads it */
    NNV_RT_CONSTANT,  /**< in the model */
    NNV_RT_TEMPORARY, /**< at offset of the graph's pool, bytes long: its size is known */
    NNV_RT_DYNAMIC,   /**< crosses steps, of a size that the step that writes it tells; number index */
};
struct nnv_rt_place {
    enum nnv_rt_place_kind kind;
    uint32_t index;
    uint64_t offset, bytes;
};

enum nnv_rt_step_kind { NNV_RT_EXECUTE, NNV_RT_IF, NNV_RT_WHILE };

struct nnv_rt_step {
    enum nnv_rt_step_kind kind;
    uint32_t operation_count;
    uint32_t *operations; /**< of the graph, in run order; IF and WHILE: the one */
    /**
     * EXECUTE: the graph's operand behind each input and output of the step's model, in that model's order.
     * IF, WHILE: the graph's operand behind each input that is passed on to the subgraphs (IF: without the condition),
     * and behind each output.
     */
    uint32_t input_count, output_count;
    uint32_t *inputs, *outputs;
    /* EXECUTE */
    struct ANeuralNetworksDevice *device;
    struct nnvts_model model;              /**< what the driver is given */
    struct nnvts_prepared_model *prepared; /**< NULL until nnv_rt_plan_prepare() */
    /* IF: condition is the graph's operand; graphs are then and else. WHILE: graphs are condition and body. */
    uint32_t condition;
    uint32_t graphs[2];
    /* WHILE, in the pool of the graph that the step is in: what passes between condition and body. */
    struct nnv_rt_place verdict;     /**< of the condition's output */
    struct nnv_rt_place *carried[2]; /**< two for each output of the body, which iterations write by turns */
};

struct nnv_rt_graph {
    bool planned; /**< false: only ever run as a whole, inside a step */
    uint32_t step_count;
    struct nnv_rt_step *steps;
    struct nnv_rt_place *places; /**< one an operand of the graph */
    uint64_t pool_bytes;         /**< of all temporaries, which share places where their lives do not meet */
    uint32_t dynamic_count;
    uint32_t crossings; /**< operands that one step writes and another reads */
};

struct nnv_rt_plan {
    struct nnv_arena *arena; /**< of all that follows */
    const struct ANeuralNetworksModel *model;
    bool simple;
    bool on_cpu; /**< simple, and on the CPU reference */
    uint32_t graph_count;
    struct nnv_rt_graph *graphs; /**< graph 0: main; 1 + i: referenced[i] */
};

struct nnv_rt_plan_options {
    struct ANeuralNetworksDevice *const *devices; /**< to choose from; the earlier of two equals, but the CPU first */
    size_t device_count;
    int32_t preference;
    /** One an operation of the main graph, as added: false: only the CPU reference may do it. NULL: all may. */
    const bool *only;
};

enum { NNV_RT_NO_DEVICE = -1, NNV_RT_INTERPRETED = -2 };

/** The cheapest device of each operation of a graph, before steps are formed; for `nnvts plan`. */
struct nnv_rt_choice {
    int device;   /**< index into options, or NNV_RT_NO_DEVICE, or NNV_RT_INTERPRETED (IF, WHILE) */
    float cost;   /**< on that device; infinite: on none */
    float *costs; /**< one a device; NaN: does not support it */
};

/**
 * Makes a plan. An IF or WHILE for which the CPU is best is interpreted where an operation below it is done better by
 * another device, or not done by the CPU at all; the sizes of all that passes in and out of it must be known. Steps are
 * formed so that they are few, and then few values pass between them. *out owns its arena: nnv_rt_plan_release().
 * BAD_DATA: no device has an operation; OP_FAILED: no steps can be formed (a step without inputs or outputs, or an
 * operand of unknown size from a driver below level 3).
 */
int nnv_rt_plan_make(const struct ANeuralNetworksModel *model, const struct nnv_rt_plan_options *options,
                     struct nnv_rt_plan **out);
/** The choices behind it for one graph, arena's; one an operation. */
int nnv_rt_plan_choices(const struct ANeuralNetworksModel *model, const struct nnv_rt_plan_options *options,
                        uint32_t graph, struct nnv_arena *arena, struct nnv_rt_choice **choices);

/** A hint of an extension, as ANeuralNetworksCompilation_addExtensionAttribute() takes it. */
struct nnv_rt_attribute {
    char *extension;
    uint16_t code;
    void *data;
    size_t length;
};

struct nnv_rt_prepare_options {
    int32_t preference;
    int32_t priority;      /**< 90, 100, 110 */
    uint64_t deadline_ns;  /**< NNVTS_NO_TIME: none; only simple plans have one */
    const uint8_t *token;  /**< 32 bytes; NULL: no caching */
    const char *cache_dir; /**< where the files are; NULL: they are given */
    const int *cache_fds;  /**< open files of the one step, model files first; as many as its device asks for */
    const struct nnv_rt_attribute *attributes; /**< a part of what is cached */
    uint32_t attribute_count;
};
/** Prepares every step, from the cache where it is there; the driver's result where one fails. */
int nnv_rt_plan_prepare(struct nnv_rt_plan *plan, const struct nnv_rt_prepare_options *options);
/** A step, of any graph, reads its input number io, or writes its output number io. */
typedef void nnv_rt_role_fn(void *context, const struct nnv_rt_step *step, bool is_output, uint32_t io);
/**
 * Visits the EXECUTE steps that read or write input or output number index of the model in its own memory, through
 * interpreted IFs and WHILEs, too, each once. (A WHILE's outputs are copied: no step writes them.) OUT_OF_MEMORY.
 */
int nnv_rt_plan_roles(const struct nnv_rt_plan *plan, bool is_output, uint32_t index, nnv_rt_role_fn *visit,
                      void *context);
/** Values that pass from step to step, over all graphs that are planned. */
uint32_t nnv_rt_plan_crossings(const struct nnv_rt_plan *plan);
/** NULL is allowed. */
void nnv_rt_plan_release(struct nnv_rt_plan *plan);
/** .dot of the plan, coloured by device. */
struct nnv_text;
int nnv_rt_plan_dot(const struct nnv_rt_plan *plan, struct nnv_text *out);

#endif
