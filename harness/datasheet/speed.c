/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/datasheet/speed.h"

#include <stdio.h>

#include "harness/bench/time_model.h"
#include "randgraph/single/single.h"
#include "reference/model/validate.h"

enum { TIME_NS = 30000000, MOST_LAYERS = 3 };

/** Times a model. *known is false if the driver does not take it, or its shapes follow from values. */
static enum nnv_status time_it(const struct nnv_run_config *config, const struct nnv_roof *roof,
                               const struct nnv_single *what, struct nnv_arena *arena, struct nnv_speed *out,
                               bool *known, struct nnv_err *err) {
    const struct nnv_timing_options timing = {.path = config->driver_path,
                                              .options = config->driver_options,
                                              .time_ns = TIME_NS,
                                              .timeout_ns = config->timeout_ns};
    struct nnv_timed timed = {.state = NNV_BENCH_UNSUPPORTED};
    struct nnv_spec *spec;
    char types[48], name[64], dims[32];
    *known = false;
    if (nnv_single_build(what, arena, &spec, NULL) != NNV_OK) return NNV_OK;
    enum nnv_status st = nnv_time_model(&spec->model, &timing, &timed, err);
    if (st == NNV_UNSUPPORTED) *err = (struct nnv_err){0};
    if (st != NNV_OK || timed.state != NNV_BENCH_DONE) return st == NNV_UNSUPPORTED ? NNV_OK : st;
    const struct nnv_subgraph *m = &spec->model.main;
    const struct nnv_shape shape = nnv_operand_shape(&m->operands[m->out[0]]);
    struct nnv_op_work each;
    st = nnv_model_work(&spec->model, arena, &each, &out->work, err);
    snprintf(out->about, sizeof out->about, "%.40s %.20s", what->op->name,
             nnv_single_sig_name(what->op, what->sig, types, sizeof types));
    snprintf(out->model, sizeof out->model, "%s %s", nnv_single_variant_name(what, name, sizeof name),
             nnv_shape_text(&shape, dims, sizeof dims));
    out->line = nnv_roofline_of(roof, &out->work, timed.us * 1e3,
                                (struct nnv_interval){timed.low_us * 1e3, timed.high_us * 1e3});
    *known = st == NNV_OK;
    return st;
}

enum nnv_status nnv_speed_measure(const struct nnv_run_config *config, const struct nnv_roof *roof,
                                  const struct nnv_op *op, int sig, struct nnv_speed *out, bool *known,
                                  struct nnv_err *err) {
    static const enum nnv_plan plans[] = {NNV_PLAN_NETWORK, NNV_PLAN_LARGE, NNV_PLAN_COVER, NNV_PLAN_VARIANT};
    struct nnv_arena *arena = nnv_arena_new();
    enum nnv_status st = arena ? NNV_OK : nnv_no_memory(err);
    *known = false;
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        const int all = plans[p] == NNV_PLAN_VARIANT ? 1 : nnv_single_planned(op, sig, plans[p]);
        struct nnv_single what = {.op = op, .sig = sig, .plan = plans[p], .seed = config->seed, .name = op->name};
        for (; what.index < all && what.index < MOST_LAYERS && st == NNV_OK && !*known; what.index++) {
            nnv_arena_reset(arena);
            st = time_it(config, roof, &what, arena, out, known, err);
        }
    }
    nnv_arena_free(arena);
    return st;
}
