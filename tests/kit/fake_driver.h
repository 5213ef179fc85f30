/* SPDX-License-Identifier: Apache-2.0 */
/** A driver in the test's own process: it answers what it is told to, and breaks one rule at a time. */
#ifndef KIT_FAKE_DRIVER_H
#define KIT_FAKE_DRIVER_H

#include "harness/client/run.h"
#include "reference/spec/spec.h"
#include "tests/kit/test.h"

enum fault {
    FINE,
    /* get_supported_operations */
    UNSUPPORTED,
    UNFILLED,
    SUPPORTED_INVALID,
    SUPPORTED_OVERRUN,
    SUPPORTED_77,
    /* prepare_model */
    PREPARE_FAILS,
    PREPARE_77,
    PREPARE_NOTHING,
    PREPARE_FAILS_WITH_MODEL,
    PREPARE_SMALL,
    PREPARE_NO_EXECUTE,
    PREPARE_CHANGES_CONSTANT,
    PREPARE_WRITES_BEHIND_CONSTANT,
    /* execute */
    EXECUTE_FAILS,
    EXECUTE_FAILS_WITH_SHAPES,
    EXECUTE_77,
    EXECUTE_INSUFFICIENT,
    EXECUTE_INSUFFICIENT_BUT_ENOUGH,
    EXECUTE_NOT_SUFFICIENT,
    EXECUTE_WRONG_EXTENT,
    EXECUTE_AXES_EXCHANGED,
    EXECUTE_WRONG_RANK,
    EXECUTE_HUGE_RANK,
    EXECUTE_WRONG_COUNT,
    EXECUTE_TIMES,
    EXECUTE_BEHIND,
    EXECUTE_BEFORE,
    EXECUTE_INPUT,
    EXECUTE_BEFORE_INPUT,
    EXECUTE_UNWRITTEN,
    EXECUTE_NO_SHAPES,
    EXECUTE_LATE_CONSTANT, /**< hands out what the caller's constants hold after prepare_model */
    EXECUTE_ROUNDING,      /**< changes the rounding mode */
    EXECUTE_CLOSES,        /**< closes the file of the pools */
};

/** Where an argument lies. */
uint8_t *fake_data(const struct nnvts_request *r, const struct nnvts_argument *a);

/** What it is told, and what it saw. */
extern struct fake_state {
    enum fault fault;
    int level;
    const void *answer;             /**< what is written to output 0 */
    uint32_t dims[4], rank;         /**< reported shape */
    const struct nnv_value *values; /**< where set: what all outputs are, instead */
    const uint8_t *constant;
    int prepared, released; /**< objects */
    bool saw_omitted;
    struct nnvts_argument input[2], output[1];
} fake;

extern struct nnvts_device fake_device; /**< what it opens */
extern const struct nnvts_driver fake_driver;

/** A fine driver of this level behind client. */
void fake_start(struct nnv_client *client, int level);

/** Reads spec JSON; the fake driver will answer what it expects of output 0. */
struct nnv_spec *fake_spec(const char *json, struct nnv_arena *arena);

#define OPERAND(type, dims, lifetime, more)                                                                            \
    "{\"type\":\"" type "\",\"dims\":[" dims "],\"lifetime\":\"" lifetime "\"" more "}"
#define DATA(values) ",\"data\":[" values "]"
/** A spec of one ADD: members, the operands a, b and y. */
#define ADD_SPEC(members, a, b, y)                                                                                     \
    "{\"format\":\"nnvts-spec/1\"," members "\"main\":{\"operands\":[" a "," b                                         \
    "," OPERAND("INT32", "", "CONSTANT_COPY", DATA("0")) "," y "],"                                                    \
                                                         "\"operations\":[{\"type\":\"ADD\",\"inputs\":[0,1,2],"       \
                                                         "\"outputs\":[3]}],\"inputs\":[0,1],\"outputs\":[3]}}"
#define NAMED "\"name\":\"sum\",\"min_version\":\"1.0\","
#define A23 OPERAND("TENSOR_FLOAT32", "2,3", "SUBGRAPH_INPUT", DATA("1,2,3,4,5,6"))
#define B23 OPERAND("TENSOR_FLOAT32", "2,3", "SUBGRAPH_INPUT", DATA("10,20,30,40,50,60"))
#define Y23(more) OPERAND("TENSOR_FLOAT32", "2,3", "SUBGRAPH_OUTPUT", DATA("11,22,33,44,55,66") more)
#define SUM ADD_SPEC(NAMED, A23, B23, Y23(""))

#endif
