/* SPDX-License-Identifier: Apache-2.0 */
/** @file model.h A model while it is built, and, once finished, as drivers see it. */
#ifndef NNV_RUNTIME_MODEL_H
#define NNV_RUNTIME_MODEL_H

#include "NeuralNetworks.h"
#include "base/arena.h"
#include "nnvts/driver.h"

struct nnv_rt_building;

/** What the runtime knows of a subgraph beside what drivers see. Graph 0 is the main one, 1 + i is referenced[i]. */
struct nnv_rt_graph_info {
    int32_t *levels; /**< one an operation: lowest feature level (1 to 8) of it and of all it refers to */
    uint32_t *added; /**< one an operation, which stand in run order: when it was added (main graph; else NULL) */
    bool *known;     /**< one an operand: its extents are all known, and none is 0 */
    uint64_t *bytes; /**< one an operand: of its value where known, else 0 */
    uint32_t *operand_added; /**< one an operand: its index as the application gave it */
};

enum nnv_rt_model_state { NNV_RT_MODEL_BUILDING, NNV_RT_MODEL_FINISHED, NNV_RT_MODEL_INVALID };

struct ANeuralNetworksModel {
    enum nnv_rt_model_state state;
    struct nnv_arena *arena;
    struct nnv_rt_building *building; /**< as it is being built; model.c's own */
    /* What follows is filled by a finish that succeeds, and never changes again. */
    struct nnvts_model model;       /**< flattened: all sub-models, each once, in referenced */
    struct nnv_rt_graph_info *info; /**< 1 + model.referenced_count entries */
    int32_t level;                  /**< lowest feature level of the whole model, 1 to 8 */
    bool has_extension, has_oem;    /**< never falls back to the CPU */
};

static inline uint32_t nnv_rt_graph_count(const struct ANeuralNetworksModel *m) {
    return 1 + m->model.referenced_count;
}
static inline const struct nnvts_subgraph *nnv_rt_graph_at(const struct ANeuralNetworksModel *m, uint32_t graph) {
    return graph ? &m->model.referenced[graph - 1] : &m->model.main;
}
/** The graph that a SUBGRAPH operand refers to. */
static inline uint32_t nnv_rt_graph_of(const struct nnvts_operand *o) { return o->location.offset + 1; }

/** Bytes of an element of a type of the core or of a registered extension; 0: unknown type. *is_tensor may be NULL. */
size_t nnv_rt_type_bytes(int32_t type, bool *is_tensor);
/**
 * Joins an operand of a finished model with the type that an execution gives (NULL: none): same type, scale, zero
 * point; no known extent overridden. *rank and dims (room for NNV_MAX_RANK): the joined shape, 0 unknown.
 * BAD_DATA if they contradict.
 */
int nnv_rt_operand_refine(const struct nnvts_operand *o, const ANeuralNetworksOperandType *type, uint32_t *rank,
                          uint32_t *dims);

#endif
