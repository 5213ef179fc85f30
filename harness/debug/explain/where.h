/* SPDX-License-Identifier: Apache-2.0 */
/** @file where.h Where a cause shows: in which elements, and whether its cases fail alone. */
#ifndef NNV_EXPLAIN_WHERE_H
#define NNV_EXPLAIN_WHERE_H

#include "harness/debug/explain/promised.h"
#include "harness/debug/separate/separate.h"

/** Says of a cause that no mistake explains in which elements it shows; seen: room for NNV_OBSERVATIONS. */
enum nnv_status nnv_explaining_elements(struct nnv_explaining_run *x, uint32_t cause, struct nnv_observation *seen,
                                        struct nnv_arena *arena, struct nnv_err *err);
/** Where dumps of the cause were replayed alone, and nearly all passed, it is what ran before that matters. */
enum nnv_status nnv_explaining_replays(struct nnv_explaining_run *x, uint32_t cause, struct nnv_err *err);

#endif
