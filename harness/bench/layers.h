/* SPDX-License-Identifier: Apache-2.0 */
/** @file layers.h A network operation by operation: every intermediate result against its budget. */
#ifndef NNV_BENCH_LAYERS_H
#define NNV_BENCH_LAYERS_H

#include <jansson.h>

#include "harness/bench/roof.h"
#include "harness/bench/time_model.h"
#include "harness/debug/bisect/bisect.h"
#include "mlts/networks/network.h"

struct nnv_layers {
    bool present;
    struct nnv_bisection found;
    uint32_t count, judged, out_of_budget; /**< operations */
    uint32_t *worst;                       /**< those judged, the one nearest to its bound, or furthest beyond, first */
    struct nnv_op_work *work;              /**< per operation */
    struct nnv_timed *timed;               /**< per operation, as a model of its own; NULL: they are not timed */
    struct nnv_roofline *line;             /**< per operation that could be timed, what that achieves under the roof */
    uint32_t *slowest;                     /**< those that could be timed, the one that takes longest first */
    uint32_t timed_count;
    const struct nnv_roof *roof;
};

/** Judges all operations of a network on these inputs. Errors as of nnv_judge_steps(). options: of the driver, timeout.
 */
NNV_USE_RESULT enum nnv_status nnv_layers_judge(const struct nnv_network *net, const struct nnv_value *inputs,
                                                const struct nnv_bench_options *options, struct nnv_arena *arena,
                                                struct nnv_layers *out, struct nnv_err *err);
/**
 * Times each operation as a model of its own, on inputs that are drawn, for a share of the options' time; what the
 * driver does not take alone is not timed. Then rooflines are known. Errors as of nnv_time_model(). roof is borrowed.
 */
NNV_USE_RESULT enum nnv_status nnv_layers_time(struct nnv_layers *l, const struct nnv_bench_options *options,
                                               const struct nnv_roof *roof, struct nnv_arena *arena,
                                               struct nnv_err *err);
/** Name of operation i, and type and shape of its first result, into buf. */
const char *nnv_layers_name(const struct nnv_layers *l, uint32_t i);
const char *nnv_layers_result(const struct nnv_layers *l, uint32_t i, char *buf, size_t room);
/** The member "layers" of a row; NULL when out of memory. */
json_t *nnv_layers_json(const struct nnv_layers *l);

#endif
