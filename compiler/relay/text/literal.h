/* SPDX-License-Identifier: Apache-2.0 */
/** @file literal.h Scalar constants as text. */
#ifndef NNV_RELAY_LITERAL_H
#define NNV_RELAY_LITERAL_H

#include "base/text.h"
#include "compiler/relay/relay.h"

/** Whether a literal says the constant in full: a scalar of a type that has literals, and no NaN. */
bool nnv_relay_is_literal(const struct nnv_relay_tensor *t);
/** Appends the literal of such a constant: "-1.5f", "3i64". */
void nnv_relay_print_literal(const struct nnv_relay_tensor *t, struct nnv_text *out);

#endif
