/* SPDX-License-Identifier: Apache-2.0 */
/** Models made by hand, as a finished model is seen by plans, and devices that support what they are told to. */
#ifndef KIT_TOY_H
#define KIT_TOY_H

#include "base/rng.h"
#include "reference/runtime/plan/plan.h"
#include "tests/kit/test.h"

/* ------------------------------------------------------------------- models */

enum { TOY_GRAPHS = 8, TOY_MANY = 400000 };

struct toy_graph {
    struct nnvts_subgraph g;
    struct nnvts_operand *operands;
    struct nnvts_operation *operations;
    uint32_t *inputs, *outputs;
    struct nnv_rt_graph_info info;
    uint32_t room;
};

struct toy {
    struct nnv_arena *arena;
    struct toy_graph graphs[TOY_GRAPHS];
    uint32_t graph_count;
    struct ANeuralNetworksModel model;
};

/** A model of so many graphs (main, and those that IF and WHILE refer to) with room for so many operations each. */
void toy_begin(struct toy *t, uint32_t graphs, uint32_t room);

/** An operand of type TENSOR_FLOAT32 and one dimension; 0: unknown. */
uint32_t toy_operand(struct toy *t, uint32_t graph, enum nnvts_lifetime lifetime, uint32_t extent);

/** A temporary becomes an output of its graph. */
void toy_make_output(struct toy *t, uint32_t graph, uint32_t operand);

/** An operand that refers to a graph. */
uint32_t toy_graph_operand(struct toy *t, uint32_t graph, uint32_t refers_to);

/** A boolean of one element. */
uint32_t toy_flag(struct toy *t, uint32_t graph, enum nnvts_lifetime lifetime);

/** An operation of a level; returns its index. */
uint32_t toy_operation(struct toy *t, uint32_t graph, int32_t type, int32_t level, uint32_t nin, const uint32_t *in,
                       uint32_t nout, const uint32_t *out);

/** An operation of level 1 on two operands (the same twice: one); returns its new result. */
uint32_t toy_binary(struct toy *t, uint32_t graph, int32_t type, uint32_t a, uint32_t b, enum nnvts_lifetime lifetime);

struct ANeuralNetworksModel *toy_end(struct toy *t);

void toy_free(struct toy *t);

/* ------------------------------------------------------------------ devices */

enum { TOY_TYPES = 256 };

/** A driver that knows what it is asked and answers as it is told. */
struct toy_device {
    struct nnvts_device driver; /**< first: what functions are given */
    struct nnvts_operand_performance performance[16];
    struct ANeuralNetworksDevice device;
    bool supports[TOY_TYPES];       /**< operation types */
    bool (*can)(int32_t operation); /**< where set: what it supports, instead */
    enum nnvts_status supported_status, prepare_status, cache_status;
    enum nnvts_device_status status;
    int asked, prepared, from_cache;                            /**< calls */
    int living;                                                 /**< prepared models that are not yet released */
    uint32_t operations, inputs, outputs, operands, referenced; /**< of the last model that it was asked about */
    bool relaxed;
    struct nnvts_prepare_config config;     /**< of the last prepare_model */
    bool had_cache;                         /**< it was given files */
    uint8_t token[NNVTS_CACHE_TOKEN_BYTES]; /**< of the last call with files */
    uint32_t files;
    bool answers_nothing; /**< prepare_model: NONE without a model */
};

struct toy_prepared {
    struct nnvts_prepared_model base;
    struct toy_device *device;
};

/** A driver of this level, not yet a device, that supports every operation and prepares nothing. */
struct toy_device toy_driver(const char *name, int32_t level);
/** A device of level 8 that supports every operation at this cost for TENSOR_FLOAT32, in time and in power. */
struct ANeuralNetworksDevice *toy_device(struct toy_device *d, const char *name, float time, float power);

/** A device in the place of the CPU reference. */
struct ANeuralNetworksDevice *toy_cpu(struct toy_device *d);

/** It supports these operation types alone; the list ends with -1. */
void toy_supports_only(struct toy_device *d, const int32_t *types);

#endif
