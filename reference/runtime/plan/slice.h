/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file slice.h A part of a graph as a model of its own: what a step of a plan gives to its driver, and what a driver
 * below the level of a model is asked about.
 */
#ifndef NNV_RUNTIME_SLICE_H
#define NNV_RUNTIME_SLICE_H

#include "base/arena.h"
#include "reference/runtime/api/model/model.h"

/** What cutting up one graph needs to know of it; all slices of a graph are made with one. Not thread-safe. */
struct nnv_rt_slicer;

struct nnv_rt_slice {
    /**
     * main holds the operations in the order in which they were given, and the operands they use, numbered anew.
     * Values, referenced subgraphs and pools are those that are used; pools are borrowed from the source.
     */
    struct nnvts_model model;
    uint32_t *operands; /**< one an operand of model.main: the graph's operand */
    uint32_t *inputs;   /**< one an input of model.main: the graph's operand; in the order of first use */
    uint32_t *outputs;  /**< one an output of model.main: the graph's operand; in the order in which they are written */
};

/** A slicer of a graph of a finished model (0: main), arena's; NULL when out of memory. Takes linear time. */
struct nnv_rt_slicer *nnv_rt_slicer_new(const struct ANeuralNetworksModel *model, uint32_t graph,
                                        struct nnv_arena *arena);
/**
 * The model that does these operations, each named once, in run order. What they read and others write, and the inputs
 * of the graph that they read, are its inputs; what they write and others read, and the graph's outputs, are its
 * outputs. Takes time linear in the slice, not in the graph. All but the pools is arena's. A result code:
 * OUT_OF_MEMORY; a slice without inputs or outputs is made, too.
 */
int nnv_rt_slice_make(struct nnv_rt_slicer *slicer, const uint32_t *operations, uint32_t operation_count,
                      struct nnv_arena *arena, struct nnv_rt_slice *out);

#endif
