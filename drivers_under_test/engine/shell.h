/* SPDX-License-Identifier: Apache-2.0 */
/** @file shell.h The common part of drivers over engines, inside. */
#ifndef ENGINE_SHELL_H
#define ENGINE_SHELL_H

#include <pthread.h>

#include "common/pool.h"
#include "engine.h"

/* ---------------------------------------------------------------------- memory */

/** True if ENGINE_SLACK bytes behind p can be read for certain: they lie before `end`, or on p's own page. */
bool engine_has_slack(const uint8_t *p, const uint8_t *end);
/** CLOCK_MONOTONIC. */
uint64_t engine_now_ns(void);

/* ----------------------------------------------------------------------- model */

/** The main subgraph, with its own copy of all constants. */
struct engine_model {
    uint32_t tensor_count, node_count, in_count, out_count;
    struct engine_tensor *tensors;
    struct engine_node *nodes;
    uint32_t *in, *out;
    uint32_t *lists;  /**< what nodes point to */
    uint8_t *values;  /**< what constants point to */
    float *scales;    /**< what tensors point to */
    uint64_t planned; /**< bytes that an execution needs beside its arguments */
    /**
     * Nothing can be compiled: an operand's rank is above ENGINE_MAX_RANK (then cpu has not looked at the operations),
     * or an input that no operation reads has no known size.
     */
    bool unfit;
    uint64_t *offset; /**< per tensor, in those bytes; ENGINE_ELSEWHERE for constants and unread outputs */
};
#define ENGINE_ELSEWHERE UINT64_MAX

/** Copies a model that keeps all rules. *out is to be freed whatever is returned. */
enum nnvts_status engine_import(const struct nnvts_model *model, struct engine_model *out);
/** Gives inputs and intermediate values their places, shared by those that don't live at the same time. */
enum nnvts_status engine_plan(struct engine_model *model);
/** All zero is allowed. */
void engine_model_free(struct engine_model *model);

/* --------------------------------------------------------------------- objects */

struct engine_device {
    struct nnvts_device base;
    struct nnvts_device *judge;
    void *self; /**< the engine's */
};

/** Executions of one prepared model wait for each other: an engine's operations hold addresses. */
struct engine_prepared {
    struct nnvts_prepared_model base;
    struct engine_device *device;
    struct engine_model model;
    uint32_t state_count; /**< one for each node, or one for all */
    void **states;
    pthread_mutex_t lock;
    uint8_t *memory; /**< of model.planned bytes */
    void **data;     /**< per tensor: where it lies in the execution that goes on */
};

/** The engine's state of node i, or NULL: it can't. */
void *engine_compile_node(const struct engine_device *device, const struct engine_model *model, uint32_t i);
/** The engine's state of all nodes, or NULL; taken, with an entry for each node, says which it could do. */
void *engine_compile_whole(const struct engine_device *device, const struct engine_model *model, bool *taken);
/** A model that keeps all rules; GENERAL_FAILURE if the engine lacks an operation. */
enum nnvts_status engine_prepare(struct engine_device *device, const struct nnvts_model *model,
                                 struct nnvts_prepared_model **out);
/** Member create_burst of struct nnvts_prepared_model. */
enum nnvts_status engine_create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out);

/** Where an argument lies. */
struct engine_argument {
    uint8_t *data, *end; /**< end: of its pool */
    uint32_t length;
};
/**
 * Checks a request against the model; mappings: one a pool; arguments: inputs, then outputs. NONE,
 * OUTPUT_INSUFFICIENT_SIZE (with shapes in *result in both cases) or an error.
 */
enum nnvts_status engine_bind(const struct engine_model *model, const struct nnvts_request *request,
                              const struct common_mapping *mappings, struct engine_argument *arguments,
                              struct nnvts_execution_result *result);

#endif
