/* SPDX-License-Identifier: Apache-2.0 */
/** @file verify.h What a driver must keep to, whatever it answers: statuses, objects, shapes, times, memory. */
#ifndef NNV_CLIENT_VERIFY_H
#define NNV_CLIENT_VERIFY_H

#include "harness/client/request.h"
#include "nnvts/result.h"

/** What the patterns of guard zones and poison are keyed with, the argument's number added. */
enum { NNV_SALT_INPUT = 1 << 16, NNV_SALT_OUTPUT = 2 << 16, NNV_SALT_SUPPORTED = 3 << 16 };

enum nnv_breach_kind {
    NNV_BREACH_NONE,
    NNV_BREACH_STATUS,    /**< a status that does not exist, or not with what came with it */
    NNV_BREACH_OBJECT,    /**< NONE without a whole object, or an object without NONE */
    NNV_BREACH_SHAPES,    /**< what is reported of the outputs does not go with the status */
    NNV_BREACH_SHAPE,     /**< an output is reported to have another shape than the expected one */
    NNV_BREACH_TIME,      /**< reported times */
    NNV_BREACH_UNWRITTEN, /**< NONE, but an output was not written */
    NNV_BREACH_CALLBACK,  /**< it came without a result, or not at all */
    NNV_BREACH_MEMORY,    /**< the driver wrote what is not its to write: its process is not to be trusted */
    NNV_BREACH_OURS,      /**< none of the driver: nnvts itself could not do it */
};

/** The first rule of the ABI that a driver broke. Zero-initialise. */
struct nnv_breach {
    enum nnv_breach_kind kind;
    uint32_t argument; /**< the input, output, operand or operation concerned, where there is one */
    char text[216];    /**< what follows the name of the call: "wrote 8 bytes before the start of output 0" */
};

/** Sets the breach unless there is one; returns false. */
bool nnv_breach(struct nnv_breach *b, enum nnv_breach_kind kind, uint32_t argument, const char *fmt, ...)
    NNV_PRINTF(4, 5);

/** What a breach comes to as the reason of a verdict. */
enum nnvts_reason nnv_breach_why(enum nnv_breach_kind kind);

/* Each returns true if the rule holds; else *b is set, unless it was set before. */

/** The status exists. */
bool nnv_verify_status(enum nnvts_status status, struct nnv_breach *b);
/** A prepared model is given out with NONE, with all required members, and with no other status. */
bool nnv_verify_prepared(enum nnvts_status status, const struct nnvts_prepared_model *p, struct nnv_breach *b);
/** Guard zones are whole and the inputs as they were. */
bool nnv_verify_memory(const struct nnv_request *r, struct nnv_breach *b);
/**
 * The shapes that came with a status: with NONE the expected ones of all outputs, or none if all are known; with
 * OUTPUT_INSUFFICIENT_SIZE those of all outputs, one at least not sufficient; with others none.
 */
bool nnv_verify_shapes(const struct nnv_request *r, enum nnvts_status status, struct nnv_breach *b);
/** No output of 8 bytes or more that is compared holds nothing but its poison. */
bool nnv_verify_written(const struct nnv_request *r, struct nnv_breach *b);
/** Times are there only if asked for, and 0 <= on device <= in driver <= wall clock. */
bool nnv_verify_times(bool asked, const struct nnvts_timing *t, uint64_t wall_ns, struct nnv_breach *b);

#endif
