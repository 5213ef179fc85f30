/* SPDX-License-Identifier: Apache-2.0 */
/** @file layers.h A network operation by operation: every intermediate result against its budget. */
#ifndef NNV_BENCH_LAYERS_H
#define NNV_BENCH_LAYERS_H

#include <jansson.h>

#include "harness/bench/measure.h"
#include "harness/debug/bisect.h"
#include "mlts/networks/network.h"

struct nnv_layers {
    bool present;
    struct nnv_bisection found;
    uint32_t count, judged, out_of_budget; /**< operations */
    uint32_t *worst;                       /**< those judged, the one nearest to its bound, or furthest beyond, first */
};

/** Judges all operations of a network on these inputs. Errors as of nnv_judge_steps(). options: of the driver, timeout.
 */
NNV_USE_RESULT enum nnv_status nnv_layers_judge(const struct nnv_network *net, const struct nnv_value *inputs,
                                                const struct nnv_bench_options *options, struct nnv_arena *arena,
                                                struct nnv_layers *out, struct nnv_err *err);
/** Name of operation i, and type and shape of its first result, into buf. */
const char *nnv_layers_name(const struct nnv_layers *l, uint32_t i);
const char *nnv_layers_result(const struct nnv_layers *l, uint32_t i, char *buf, size_t room);
/** "right", "wrong" ... */
const char *nnv_layers_kind(enum nnv_step_kind kind);
/** The member "layers" of a row; NULL when out of memory. */
json_t *nnv_layers_json(const struct nnv_layers *l);

#endif
