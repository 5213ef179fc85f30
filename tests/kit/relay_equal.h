/* SPDX-License-Identifier: Apache-2.0 */
/** @file relay_equal.h Whether two Relay programs say the same. */
#ifndef NNV_KIT_RELAY_EQUAL_H
#define NNV_KIT_RELAY_EQUAL_H

#include "compiler/relay/relay.h"

/**
 * Equal graphs: same operators, attributes (defaults or written), constants, types that are annotated, and the same
 * sharing; names of variables do not count. Free variables are equal if they stand for each other throughout.
 */
bool nnv_relay_equal(struct nnv_relay_expr *a, struct nnv_relay_expr *b);
/** The same functions by name, in any order, each equal. */
bool nnv_relay_module_equal(const struct nnv_relay_module *a, const struct nnv_relay_module *b);

#endif
