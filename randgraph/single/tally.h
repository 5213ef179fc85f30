/* SPDX-License-Identifier: Apache-2.0 */
/** @file tally.h Measures the pairwise covers of operations from the attributes that generated cases say they have. */
#ifndef NNV_RANDGRAPH_SINGLE_TALLY_H
#define NNV_RANDGRAPH_SINGLE_TALLY_H

#include "reference/model/op.h"

struct nnv_tally_group;

/** Zero-initialise. */
struct nnv_tally {
    struct nnv_tally_group *group; /**< the cases of an operation in one signature */
    size_t count, room;
};

/** Adds a case: its attributes as nnv_cover_add_text() writes them; another text counts nothing. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_tally_add(struct nnv_tally *t, const struct nnv_op *op, const char *sig,
                                             const char *attributes, struct nnv_err *err);

/** What the cases of an operation cover. */
struct nnv_tally_line {
    size_t signatures, rows;
    size_t pairs, covered; /**< of the signature that covers the fewest */
};
struct nnv_tally_line nnv_tally_of(const struct nnv_tally *t, const struct nnv_op *op);
void nnv_tally_free(struct nnv_tally *t);

#endif
