/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file engine.h What a driver over somebody's engine is made of: the engine's part, an operation at a time, and the
 * common part, which is all the rest: devices, models, memory, requests.
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

/** What the engine gives. */
struct engine {
    const char *name;    /**< the driver's */
    const char *device;  /**< the device's */
    const char *version; /**< changes with the engine's */
    /**
     * Starts the engine for that many threads; NULL: it can't run here. loose: it is to do what it can, also where it
     * is known to give other answers than NNAPI asks for.
     */
    void *(*open)(uint32_t threads, bool loose);
    void (*close)(void *self);
    /** Compiles one operation; NULL: the engine can't do it. */
    void *(*compile)(void *self, const struct engine_node *node, const struct engine_tensor *tensors);
    /** data: where each tensor lies. Not called twice at a time on one state. False: the engine failed. */
    bool (*run)(void *self, void *state, void *const *data);
    void (*discard)(void *state);
};

/** The engine of this driver: defined by the driver. */
extern const struct engine this_engine;

#endif
