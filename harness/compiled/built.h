/* SPDX-License-Identifier: Apache-2.0 */
/** @file built.h The folder that nnvts compile has written, read back. Nothing in it is trusted. */
#ifndef NNV_COMPILED_BUILT_H
#define NNV_COMPILED_BUILT_H

#include "compiler/relay/relay.h"
#include "reference/model/model.h"

/** A region, and how the fields of its function's result follow from the model. */
struct nnv_built_region {
    const char *function;
    struct nnv_model model;
    uint32_t n_results;
    uint32_t *number;             /**< by field: of the model's output, or of the parameter */
    bool *from_input;             /**< by field: it is the parameter as it is */
    size_t *in_bytes, *out_bytes; /**< of the model's inputs and outputs */
};

struct nnv_built {
    const char *folder;
    const char *library;              /**< path; NULL: none was built */
    struct nnv_relay_module *module;  /**< the divided program, checked */
    struct nnv_relay_module *program; /**< as it was before, checked; NULL: it is not there */
    struct nnv_built_region *regions; /**< and behind them, if it has one, the class of the whole program */
    size_t n_regions;
    bool has_class;
    const char *machine; /**< that it was built for; NULL: this one */
};

/**
 * Reads and checks plan.json and all files that it lists. All is of arena. NNV_INVALID, with the file: it is missing,
 * it is not the one that was written, or it is wrong.
 */
NNV_USE_RESULT enum nnv_status nnv_built_read(const char *folder, struct nnv_arena *arena, struct nnv_built *out,
                                              struct nnv_err *err);
/** The region of a function of the divided program, or NULL. */
const struct nnv_built_region *nnv_built_find(const struct nnv_built *b, const char *function);

#endif
