/* SPDX-License-Identifier: Apache-2.0 */
/** @file network.h What an imported model is made of, and what the reference computes with it. */
#ifndef KIT_NETWORK_H
#define KIT_NETWORK_H

#include "reference/eval/eval.h"
#include "tests/kit/test.h"

/** How many operations of that code the main graph has. */
uint32_t count_operations(const struct nnv_model *m, int32_t code);

/** The stored numbers of output o, *n of them. in: those of the inputs, one input behind the other. */
const double *compute(const struct nnv_model *m, const double *in, uint32_t o, size_t *n, struct nnv_arena *arena);

#endif
