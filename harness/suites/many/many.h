/* SPDX-License-Identifier: Apache-2.0 */
/** @file many.h Models that have many of something: what a driver keeps in a table, a mask or a byte has an end. */
#ifndef NNV_SUITES_MANY_H
#define NNV_SUITES_MANY_H

#include "reference/model/model.h"

struct nnv_many; /* a model while it is made */

/** Many of what. */
struct nnv_many_kind {
    const char *name; /**< "operations" */
    const char *op;   /**< the model's main operation */
    uint32_t most;    /**< so many a model has in tier default; twice as many in full */
    void (*describe)(struct nnv_many *c);
};

extern const struct nnv_many_kind nnv_many_kinds[];
extern const size_t nnv_many_kind_count;

/** The types that each kind has models of: the usual ones, and those that drivers turn into them, of the most. */
enum { NNV_MANY_USUAL_TYPES = 2, NNV_MANY_TYPES = 4 };
extern const int32_t nnv_many_types[NNV_MANY_TYPES];

/** The model of so many, its inputs drawn by seed, with its golden results. All memory is arena's. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_many_build(const struct nnv_many_kind *kind, int32_t type, uint32_t count,
                                              const char *name, uint64_t seed, struct nnv_arena *arena,
                                              struct nnv_spec **spec, struct nnv_err *err);

#endif
