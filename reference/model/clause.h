/* SPDX-License-Identifier: Apache-2.0 */
/** @file clause.h The rules of NNAPI as clauses with ids: what a driver may be held to, and what cases say they check.
 */
#ifndef NNV_MODEL_CLAUSE_H
#define NNV_MODEL_CLAUSE_H

#include "base/map.h"
#include "base/status.h"
#include "reference/model/op.h"

struct nnv_clause {
    const char *id;      /**< "NN-EXEC-7", or of an operation "NN-CONV_2D-RANK" */
    const char *subject; /**< a function of NNAPI, a subject ("devices"), or the operation */
    const char *text;    /**< one sentence */
};

/** Clauses by their numbers; those of an operation stand together. */
struct nnv_clause_list {
    struct nnv_clause *item;
    uint32_t count;
    struct nnv_map ids;
};

/**
 * All clauses: those of clauses.def in their order, then those that follow from the records of the operations, by code.
 * Everything is arena's. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_clauses(struct nnv_arena *arena, struct nnv_clause_list *list, struct nnv_err *err);

#endif
