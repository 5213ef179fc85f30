/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file engine.h A driver over a third-party engine has two parts. The engine's part compiles operations, one at a
 * time or all of a model together; the common part does the rest: devices, models, memory, requests.
 *
 * Models are checked by the driver cpu, which lies in the same folder: it knows the rules of every operation. An engine
 * is asked only for operations of models that keep them, and of which all extents are known and not 0.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "nnvts/driver.h"

enum {
    ENGINE_MAX_RANK = 8,
    ENGINE_SLACK = 64, /**< bytes that may be read behind every value */
};

/** An operand. */
struct engine_tensor {
    int32_t type; /**< OperandCode */
    uint32_t rank, dims[ENGINE_MAX_RANK];
    size_t count, bytes;
    float scale;
    int32_t zero_point;
    uint32_t channels, channel_dim; /**< channels 0: one scale for all */
    const float *scales;            /**< per channel */
    bool known;                     /**< type, rank and extents are such that there can be a value */
    const void *value;              /**< of a constant, as long as the model lives; else NULL */
};

struct engine_node {
    int32_t code; /**< OperationCode */
    uint32_t in_count, out_count;
    const uint32_t *in, *out; /**< indices of tensors */
};

/** Operations that are compiled together, in the order in which they run. */
struct engine_graph {
    uint32_t node_count, in_count, out_count, tensor_count;
    const struct engine_node *nodes;
    const struct engine_tensor *tensors; /**< of the model */
    const uint32_t *in, *out; /**< what comes from outside and is no constant, and what is wanted there: tensors */
};

enum { ENGINE_MOST_OPTIONS = 16 };

/** What followed the driver's name on the command line. */
struct engine_options {
    uint32_t threads;
    /** It is to do what it can, also where it is known to give other answers than NNAPI asks for. */
    bool loose;
    uint32_t count; /**< the engine's own */
    struct engine_option {
        const char *key, *value; /**< value: "" where there is none. Both live as long as the call */
    } own[ENGINE_MOST_OPTIONS];
};

/** What the engine gives. Why it can't do what it is asked for it may tell by common_tell. */
struct engine {
    const char *name;               /**< the driver's */
    const char *device;             /**< the device's */
    const char *version;            /**< changes with the engine's */
    const char *const *own_options; /**< the keys of its own options, for messages and listings; NULL: none */
    bool whole;                     /**< it compiles all operations of a model together */
    size_t bytes;                   /**< of what it keeps while it is open: self */
    /** Starts the engine; self is zeroed. A static string says why it can't run; NULL: it is open. */
    const char *(*open)(void *self, const struct engine_options *options);
    /** Ends it, also after an open that failed on its way; NULL: there is nothing to end. */
    void (*close)(void *self);
    /**
     * Compiles a graph: of one operation, or (whole) of all. NULL: it can't; taken, which has an entry for each
     * operation and is false before, may then say which of them it could.
     */
    void *(*compile)(void *self, const struct engine_graph *graph, bool *taken);
    /** data: where each tensor lies. Not called twice at a time on one state. False: the engine failed. */
    bool (*run)(void *self, void *state, void *const *data);
    void (*discard)(void *state);
};

/** The engine of this driver: defined by the driver. */
extern const struct engine this_engine;

#endif
