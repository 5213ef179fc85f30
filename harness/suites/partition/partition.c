/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file partition.c The suite "partition": random graphs that the runtime splits over several devices, each a part of
 * the driver under test, give what the whole gives; and drivers that fail on the way do no harm.
 */
#include "harness/suites/partition/partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness/suites/partition/draw.h"
#include "harness/suites/suites.h"
#include "nnvts/result.h"
#include "randgraph/graph/graph.h"
#include "harness/suites/kit/cases.h"
#include "harness/suites/kit/vocabulary.h"

/** Which graphs. */
static const struct kind {
    const char *name;
    const char *profile;  /* of randgraph; NULL: graphs that are made to be split */
    uint32_t least, most; /* operations of those */
} kinds[] = {
    {"few", NULL, 2, 12},     {"many", NULL, 13, 100},  {"control", "control", 0, 0}, {"small", "small", 0, 0},
    {"mixed", "mixed", 0, 0}, {"quant", "quant", 0, 0}, {"conv", "conv", 0, 0},       {"rnn", "rnn", 0, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    static const uint64_t failing[] = {1, 2, 12};
    const uint64_t each = nnv_share(config, KINDS, (const uint64_t[]){4, 30, 600});
    enum nnv_status st = NNV_OK;
    for (uint64_t k = 0; k < KINDS; k++)
        for (uint64_t i = 0; i < each && !st; i++)
            st = nnv_list_case(list, (struct nnv_case){.a = k, .b = i}, err, "partition/%s/%" PRIu64, kinds[k].name, i);
    for (uint64_t f = 0; f < nnv_partition_failure_count; f++)
        for (uint64_t i = 0; i < failing[nnv_tier(config)] && !st; i++)
            st = nnv_list_case(list, (struct nnv_case){.a = KINDS + f, .b = i}, err, "partition/failing/%s/%" PRIu64,
                               nnv_partition_failures[f].name, i);
    return st;
}

static enum nnv_status build(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                             struct nnv_spec **spec, struct nnv_err *err) {
    const struct kind *k = c->a < KINDS ? &kinds[c->a] : NULL;
    if (k && k->profile) {
        const struct nnv_graph_options o = {.profile = nnv_graph_profile_by_name(k->profile),
                                            .seed = config->seed + 0x9a27,
                                            .index = c->b,
                                            .name = c->name};
        return nnv_graph_build(&o, arena, spec, err);
    }
    const struct nnv_web web = {.name = c->name,
                                .seed = config->seed,
                                .index = c->a << 32 | c->b,
                                .least = k ? k->least : 2,
                                .most = k ? k->most : 12,
                                .plain = !k};
    return nnv_web_build(&web, arena, spec, err);
}

/* ------------------------------------------------------------------ expectations */

static bool is_computed(const struct nnv_operand *o) {
    return o->lifetime == NNV_TEMPORARY_VARIABLE || o->lifetime == NNV_SUBGRAPH_OUTPUT;
}

static bool is_read(const struct nnv_subgraph *s, uint32_t operand) {
    for (uint32_t i = 0; i < s->noperations; i++)
        for (uint32_t k = 0; k < s->operations[i].nin; k++)
            if (s->operations[i].in[k] == operand) return true;
    return s->operands[operand].lifetime == NNV_SUBGRAPH_OUTPUT;
}

/* An operation that nobody reads, or one that reads constants alone: on its own it is a step without outputs or inputs.
 */
static bool may_stand_alone(const struct nnv_subgraph *s, const struct nnv_operation *op) {
    bool reads = false, read = false;
    for (uint32_t i = 0; i < op->nin; i++) {
        const struct nnv_operand *o = &s->operands[op->in[i]];
        reads = reads || is_computed(o) || o->lifetime == NNV_SUBGRAPH_INPUT;
    }
    for (uint32_t i = 0; i < op->nout; i++) read = read || is_read(s, op->out[i]);
    return !reads || !read;
}

/* Steps can't be formed of every graph over every devices: what must not happen to all others may happen to this one.
 */
static bool may_not_form(const struct nnv_partition_case *p) {
    const struct nnv_model *m = &p->spec->model;
    bool old = false;
    for (uint32_t i = 0; i < p->count; i++) old = old || p->options[i].level < 3;
    for (uint32_t g = 0; g <= m->nreferenced; g++) {
        const struct nnv_subgraph *s = g ? &m->referenced[g - 1] : &m->main;
        for (uint32_t i = 0; i < s->noperands; i++)
            if (old && is_computed(&s->operands[i]) && nnv_operand_is_open(&s->operands[i])) return true;
        for (uint32_t i = 0; i < s->noperations; i++)
            if (may_stand_alone(s, &s->operations[i])) return true;
    }
    return false;
}

/* Without the CPU an operation may be nobody's. */
static bool may_be_nobodys(const struct nnv_partition_case *p) {
    const struct nnvts_subgraph *s = &p->built.model->model.main;
    for (uint32_t i = 0; i < s->operation_count; i++) {
        const struct nnvts_operation *op = &s->operations[i];
        const uint64_t signature = nnv_partial_signature(&p->built.model->model, s, op);
        bool taken = false;
        for (uint32_t k = 0; k < p->count; k++) taken = taken || nnv_partial_said(p->partial[k], signature) == 1;
        if (!taken || op->type == ANEURALNETWORKS_IF || op->type == ANEURALNETWORKS_WHILE) return true;
    }
    return false;
}

/* ------------------------------------------------------------------ random cases */

static void draw_execution(struct nnv_partition_case *p) {
    p->preference = (int32_t)nnv_rng_int(&p->rng, 0, 2);
    nnv_partition_draw_mode(p);
    p->from_memory = nnv_rng_int(&p->rng, 0, 1) == 1;
    for (uint32_t i = 0; i < p->spec->model.main.nout; i++)
        if (p->spec->outputs[i].bytes == 0 && p->mode == NNV_MODE_FENCED) p->mode = NNV_MODE_SYNC;
    p->open_outputs = nnv_rng_int(&p->rng, 0, 1) == 1 && p->mode != NNV_MODE_FENCED;
}

/* A compilation with a plan: where the named devices can't do it, and need not, by others. *planned: the plan is one of
 * the choice's, not what is fallen back to. */
static bool compile(struct nnv_partition_case *p, bool *planned) {
    const bool named = nnv_rng_int(&p->rng, 0, 1) == 1, with_cpu = nnv_rng_int(&p->rng, 0, 4) != 0;
    int result;
    p->strict = !named && nnv_rng_int(&p->rng, 0, 2) == 0;
    nnv_partition_choose(p, named, with_cpu);
    if (!nnv_partition_compile(p, &result)) return false;
    if (named && !with_cpu && result == ANEURALNETWORKS_BAD_DATA && may_be_nobodys(p)) {
        nnv_partition_choose(p, true, true);
        if (!nnv_partition_compile(p, &result)) return false;
    }
    if ((p->explicit_devices || p->strict) && result == ANEURALNETWORKS_OP_FAILED && may_not_form(p)) {
        p->strict = false;
        nnv_partition_choose(p, false, true);
        if (!nnv_partition_compile(p, &result)) return false;
    }
    if (!nnv_partition_expect(p, "ANeuralNetworksCompilation_finish", result, ANEURALNETWORKS_NO_ERROR)) return false;
    const struct nnv_rt_plan *plan = nnv_rt_compilation_plan(p->compilation);
    *planned = !plan || !plan->on_cpu || p->explicit_devices || p->strict || !may_not_form(p);
    return true;
}

/* A temporary of open extents that a driver can't size, and devices that were chosen for good: nobody can. */
static bool is_unsized(const struct nnv_partition_case *p, int result) {
    bool untold = false;
    for (uint32_t i = 0; i < p->count; i++) untold = untold || nnv_partial_untold(p->partial[i]);
    return result == ANEURALNETWORKS_OP_FAILED && untold && (p->explicit_devices || p->strict);
}

static void run_random(struct nnv_partition_case *p) {
    int result = ANEURALNETWORKS_OP_FAILED;
    uint32_t op;
    bool planned;
    if (!nnv_partition_supported(p, &op)) return;
    nnv_partition_draw_devices(p);
    draw_execution(p);
    if (!nnv_partition_begin(p) || !compile(p, &planned)) return;
    if (planned && !nnv_partition_check_plan(p)) return;
    if (!nnv_partition_execute(p, &result)) return;
    if (!nnv_partition_check_devices(p)) return;
    if (is_unsized(p, result)) {
        nnv_context_decline(p->s, NNVTS_WHY_OPEN_SHAPES, "the driver can't tell the extents that a model leaves open");
        return;
    }
    if (!nnv_partition_expect(p, "the execution", result, ANEURALNETWORKS_NO_ERROR)) return;
    if (!nnv_partition_judge(p) || !nnv_partition_check_counts(p)) return;
    if (p->open_outputs && nnv_partition_open_output(p) && nnv_partition_execute_small(p))
        nnv_partition_check_devices(p);
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    nnv_context_begin(&s, env, result);
    if (build(env->config, c, env->arena, &spec, &err) != NNV_OK) {
        nnv_context_error(&s, "%s", err.text);
    } else {
        struct nnv_partition_case p = {
            .s = &s, .spec = spec, .rng = nnv_rng_make(env->config->seed, nnv_hash_str(c->name), 0x9a27)};
        if (c->a < KINDS)
            run_random(&p);
        else
            nnv_partition_run_failure(&p, &nnv_partition_failures[c->a - KINDS]);
        nnv_partition_end(&p);
    }
    nnv_context_end(&s);
}

const struct nnv_suite nnv_suite_partition = {
    .name = "partition",
    .summary =
        "random graphs split by the runtime over one to six devices, each a part of the driver: plans, values, and "
        "drivers that fail",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .beyond_values = true,
    .meet = nnv_vocabulary_meet,
    .list = list,
    .build = build,
    .run = run,
};
