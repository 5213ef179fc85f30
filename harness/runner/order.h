/* SPDX-License-Identifier: Apache-2.0 */
/** @file order.h The order in which the cases of a run begin. */
#ifndef NNV_HARNESS_ORDER_H
#define NNV_HARNESS_ORDER_H

#include "harness/runner/suite.h"

/**
 * Orders cases such that what has run is at any moment a sample of the list, so that no operation, type or kind of
 * case waits for another. A suite of four times as many cases is asked twice as often, an operation of a suite as often
 * as it has cases, and of an operation each kind (cases with the same tags) equally often, but for the weights in
 * order.c; the cases of a kind follow in steps of the golden section. When about a fifth has run, the rest follows as
 * it is listed. order has room for count indices into cases, each
 * of which stands there once. The same list always gives the same order. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_order(const struct nnv_case *cases, size_t count, uint32_t *order,
                                         struct nnv_err *err);

#endif
