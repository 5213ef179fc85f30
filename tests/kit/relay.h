/* SPDX-License-Identifier: Apache-2.0 */
/** @file relay.h Relay text run by the interpreter on numbers that are written in a test. */
#ifndef KIT_RELAY_H
#define KIT_RELAY_H

#include "compiler/relay/interp/interp.h"
#include "tests/kit/arena.h"

extern struct nnv_err relay_err; /**< of the last call */

/** A checked module; text may be gone afterwards. */
struct nnv_relay_module *checked(const char *text);

/** Runs @main on the numbers. */
enum nnv_status run_on(const struct nnv_relay_module *m, const char *numbers, const struct nnv_relay_external *external,
                       struct nnv_relay_datum **out);

/** Compares with numbers at *at, to 1e-9. */
void equals(const struct nnv_relay_datum *d, const char **at, const char *text);

/** The module's @main gives these numbers, all fields in order. */
void module_gives(const char *text, const char *numbers, const char *wanted);

const char *main_of(const char *params, const char *body);

/** A body over parameters: "%x: Tensor[(2), float32]". */
void gives(const char *params, const char *body, const char *numbers, const char *wanted);

/** One float32 vector %x of n elements. */
void of_x(size_t n, const char *body, const char *numbers, const char *wanted);

/** The run fails, with a message that holds `part`. */
void run_fails(const char *text, const char *numbers, enum nnv_status status, const char *part);

#endif
