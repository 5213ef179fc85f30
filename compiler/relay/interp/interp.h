/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file interp.h Runs Relay programs: the golden result, in double precision.
 *
 * Float values are not rounded to their type between operations, only where a program says so (cast, quantisation,
 * parameters and constants, which are of their type already). Integers and booleans are exact: sums and products of
 * int32 and narrower types wrap around as two's complement does; int64 values must stay below 2^53 in size.
 */
#ifndef NNV_COMPILER_INTERP_H
#define NNV_COMPILER_INTERP_H

#include "compiler/relay/ops/datum.h"

/**
 * Who runs calls of functions with the attribute Compiler. Answers *result (of arena), which has the type that the
 * call has been checked to have; or NNV_UNSUPPORTED: interpret the function's body instead.
 */
struct nnv_relay_external {
    enum nnv_status (*run)(void *ctx, const struct nnv_relay_module *m, const char *function,
                           struct nnv_relay_datum *const *args, size_t n_args, struct nnv_arena *arena,
                           struct nnv_relay_datum **result, struct nnv_err *err);
    void *ctx;
};

/**
 * Runs a function of a checked module (nnv_relay_check) on args, which fit its parameters. external may be NULL: every
 * function is interpreted. The result is of arena. Iterative over operands; recursion of Relay functions is bounded
 * (NNV_INVALID beyond 1,000 calls deep, NNV_TIMEOUT beyond 2^20 calls in all). NNV_INVALID at the expression: an
 * operator that has no kernel, an opaque constant, values out of range (an index).
 */
NNV_USE_RESULT enum nnv_status nnv_relay_run(const struct nnv_relay_module *m, const char *function,
                                             struct nnv_relay_datum *const *args, size_t n_args,
                                             const struct nnv_relay_external *external, struct nnv_arena *arena,
                                             struct nnv_relay_datum **result, struct nnv_err *err);

/**
 * Seeded values for the parameters of a checked function, args[n_params], by what is done with them: variances, scales
 * and what roots and logarithms are taken of are positive, indices of take in range, weights small where many are added
 * up. The rest as by nnv_relay_datum_random(). NNV_INVALID: a type without values.
 */
NNV_USE_RESULT enum nnv_status nnv_relay_arguments(struct nnv_relay_expr *function, uint64_t seed,
                                                   struct nnv_arena *arena, struct nnv_relay_datum **args,
                                                   struct nnv_err *err);

#endif
