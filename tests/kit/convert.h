/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file convert.h Relay text converted, and the model's golden result compared with the interpreter's.
 *
 * Parameters whose names begin with "k" become constants of random values, "p" and "kp" are positive, "i" hold 0 to 2.
 */
#ifndef KIT_CONVERT_H
#define KIT_CONVERT_H

#include "tests/kit/relay.h"

#include "compiler/nnapi/convert/convert.h"
#include "compiler/relay/text/params.h"
#include "reference/eval/eval.h"
#include "reference/model/op.h"

/** One program and what it became. */
struct conversion {
    struct nnv_relay_module *m;
    struct nnv_relay_expr *f;
    struct nnv_converted out;
    enum nnv_status st;
};

struct nnv_relay_datum *random_datum(const struct nnv_relay_expr *param, uint64_t seed);

/** Parses, binds the constants, checks. */
struct conversion program(const char *text);

struct conversion converted(const char *text, int level);

/** "CONV_2D RELU": the model's operations. */
const char *operations(const struct conversion *c);

size_t flat(struct nnv_relay_datum *d, struct nnv_relay_datum **to);

/** Largest difference of a field from what the model gives, in units of its type (floats: relative). */
double difference(const struct nnv_relay_datum *d, const struct nnv_golden *g, const struct nnv_operand *o);

/** Converts, runs both on the same random inputs, and gives the largest difference. */
double compare(const char *text, int level, const char *ops);

/** Both agree: integers exactly but where halves are rounded, floats to 1e-9, or what float32 between operations allows
 * if ops has several. */
void same_at(const char *params, const char *body, int level, const char *ops);
void same(const char *params, const char *body, const char *ops);

/** To a tolerance: of units for integers, relative for floats. */
void near_to(const char *params, const char *body, double most, const char *ops);

/** The conversion is refused, with a message that holds `part` and the place. */
void refused_at(const char *params, const char *body, int level, const char *part);
void refused(const char *params, const char *body, const char *part);

#endif
