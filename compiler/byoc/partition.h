/* SPDX-License-Identifier: Apache-2.0 */
/** @file partition.h What the parts of the partitioner share; private to partition*.c. */
#ifndef NNV_COMPILER_PARTITION_H
#define NNV_COMPILER_PARTITION_H

#include "compiler/byoc/byoc.h"

/** One function whose regions are cut out. */
struct nnv_extractor {
    struct nnv_relay_module *m;
    struct nnv_arena *arena;
    struct nnv_scoped scoped;
    struct nnv_regions regions;
    /* What nnv_cut_regions() makes of these: */
    uint32_t *place;                 /**< by id: place in evaluation order */
    bool *is_output;                 /**< by id: a value that leaves its region */
    struct nnv_relay_expr **outputs; /**< those values */
    struct nnv_relay_expr **inside;  /**< by id: what stands for it in the function of region inside_of */
    uint32_t *inside_of;             /**< by id: number of the region + 1 */
    struct nnv_relay_expr **instead; /**< by id: what stands for it outside */
    struct nnv_relay_expr **calls;   /**< of the regions' functions */
    uint32_t *first_get, *next_get;  /**< by id: places + 1 of the projections of a value */
    size_t n_outputs, n_calls;
    size_t made; /**< number of the next region of this function */
};

/** Cuts all regions out of c's function, whose name is function. cuts[r] is filled but for its operations. */
NNV_USE_RESULT enum nnv_status nnv_cut_regions(struct nnv_extractor *c, const struct nnv_annotator *a,
                                               const char *function, struct nnv_extracted *cuts, struct nnv_err *err);

#endif
