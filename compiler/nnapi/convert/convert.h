/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file convert.h From a Relay function to an NNAPI model.
 *
 * A region's function (or any function of operators, composites, tuples and constants) becomes one nnv_model: its
 * inputs are the function's parameters, its outputs the fields of the result, flattened, in order. A value that appears
 * twice among the results is one output (nnv_converted.output_of tells which). What can not be converted, at the level
 * asked for, is refused at its expression, with the reason; so the converter is also the test of support.
 */
#ifndef NNV_COMPILER_CONVERT_H
#define NNV_COMPILER_CONVERT_H

#include "compiler/byoc/byoc.h"
#include "compiler/nnapi/convert/converted.h"

struct nnv_convert_options {
    int level;    /**< feature level that the model may need: 1 to 7; 0: 7 */
    bool relaxed; /**< float32 may be computed as float16 */
};

/** Converts a FUNCTION of a checked module. All is of arena. NNV_UNSUPPORTED: refused, with the place and reason. */
NNV_USE_RESULT enum nnv_status nnv_convert(const struct nnv_relay_module *m, struct nnv_relay_expr *function,
                                           const struct nnv_convert_options *options, struct nnv_arena *arena,
                                           struct nnv_converted *out, struct nnv_err *err);

/**
 * Converts one call of an operator or composite alone: what support by trial tries. Inputs are its operands but for
 * constants. out holds the model alone, which is not validated yet; of arena. NNV_UNSUPPORTED as above.
 */
NNV_USE_RESULT enum nnv_status nnv_convert_call(const struct nnv_relay_module *m, const struct nnv_relay_expr *call,
                                                const struct nnv_convert_options *options, struct nnv_arena *arena,
                                                struct nnv_converted *out, struct nnv_err *err);

/**
 * Support by trial: a target takes a call, of an operator or a composite, if a function of this call alone converts.
 * Calls of equal structure are tried once. Bytes are taken as plain integers where the call itself does not say what
 * they stand for, so that a whole region can still be refused: where one part of it says otherwise than another.
 */
struct nnv_convert_support;
/** For nnv_partition(); target is "nnapi". Reasons of refusals are kept. NULL when out of memory. */
struct nnv_convert_support *nnv_convert_support_new(struct nnv_relay_module *m,
                                                    const struct nnv_convert_options *options, struct nnv_arena *arena);
struct nnv_annotator nnv_convert_annotator(struct nnv_convert_support *s);
/**
 * After nnv_merge_composite(), before nnv_partition(): composites of the target that do not convert become the
 * operations that they were, so that these can be taken one by one.
 */
NNV_USE_RESULT enum nnv_status nnv_convert_dissolve(struct nnv_convert_support *s, struct nnv_err *err);
/** After nnv_partition(): NNV_NO_MEMORY if calls were refused because memory ran out. */
NNV_USE_RESULT enum nnv_status nnv_convert_asked(const struct nnv_convert_support *s, struct nnv_err *err);
/** Why a call was refused ("nn.conv2d: ..."), or NULL if it was not, or was not asked. */
const char *nnv_convert_refusal(const struct nnv_convert_support *s, const struct nnv_relay_expr *call);

#endif
