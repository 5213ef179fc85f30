/* SPDX-License-Identifier: Apache-2.0 */
/** @file placement_run.c A model executed as it is placed, through the functions of the API, and judged. */
#include <string.h>

#include "harness/placement/placement.h"
#include "base/words.h"
#include "reference/runtime/api/compilation.h"

/** True if the API's function did its work; else the result says which did not. */
static bool did(struct nnv_result *r, int result, const char *function) {
    char buf[32];
    if (result == ANEURALNETWORKS_NO_ERROR) return true;
    nnv_result_end(r, NNVTS_WHY_REFUSED, "ANeuralNetworks%s answered %s", function, nnv_result_name(result, buf));
    return false;
}

static bool give(ANeuralNetworksExecution *e, const struct nnv_spec *spec, struct nnv_value *outputs,
                 struct nnv_result *r) {
    for (uint32_t i = 0; i < spec->model.main.nin; i++) {
        const struct nnv_value *v = &spec->inputs[i];
        if (!did(r,
                 ANeuralNetworksExecution_setInput(e, (int32_t)i, NULL, v->omitted ? NULL : v->data,
                                                   v->omitted ? 0 : v->bytes),
                 "Execution_setInput"))
            return false;
    }
    for (uint32_t i = 0; i < spec->model.main.nout; i++)
        if (!did(r, ANeuralNetworksExecution_setOutput(e, (int32_t)i, NULL, outputs[i].data, outputs[i].bytes),
                 "Execution_setOutput"))
            return false;
    return true;
}

/** The shapes that the devices told are those expected. */
static bool shaped(ANeuralNetworksExecution *e, const struct nnv_spec *spec, struct nnv_result *r) {
    for (uint32_t i = 0; i < spec->model.main.nout; i++) {
        const struct nnv_value *v = &spec->outputs[i];
        uint32_t rank = 0, dims[NNV_MAX_RANK];
        if (!did(r, ANeuralNetworksExecution_getOutputOperandRank(e, (int32_t)i, &rank),
                 "Execution_getOutputOperandRank"))
            return false;
        bool same = rank == v->rank;
        if (same && rank > 0)
            same = ANeuralNetworksExecution_getOutputOperandDimensions(e, (int32_t)i, dims) == 0 &&
                   memcmp(dims, v->dims, rank * sizeof *dims) == 0;
        if (same) continue;
        nnv_result_end(r, NNVTS_WHY_SHAPE, "output %u has another shape than expected", i);
        return false;
    }
    return true;
}

static bool execute(ANeuralNetworksCompilation *c, const struct nnv_spec *spec, struct nnv_value *outputs,
                    struct nnv_result *r) {
    ANeuralNetworksExecution *e = NULL;
    const bool done = did(r, ANeuralNetworksExecution_create(c, &e), "Execution_create") && give(e, spec, outputs, r) &&
                      did(r, ANeuralNetworksExecution_compute(e), "Execution_compute") && shaped(e, spec, r);
    ANeuralNetworksExecution_free(e);
    return done;
}

/** What the devices give for the spec: values of the expected shapes, arena's. NULL: the result says why not. */
static struct nnv_value *answer(const struct nnv_placement *p, const struct nnv_spec *spec, struct nnv_result *r) {
    ANeuralNetworksCompilation *c = NULL;
    const uint32_t n = spec->model.main.nout;
    struct nnv_value *outputs = nnv_arena_copy(p->arena, spec->outputs, n * sizeof *outputs);
    nnv_result_start(r);
    for (uint32_t i = 0; outputs != NULL && i < n; i++)
        if ((outputs[i].data = nnv_arena_alloc(p->arena, outputs[i].bytes + 1, 1)) == NULL) outputs = NULL;
    if (outputs == NULL) {
        nnv_result_end(r, NNVTS_WHY_HARNESS, NNV_OUT_OF_MEMORY);
        return NULL;
    }
    bool done = did(r,
                    ANeuralNetworksCompilation_createForDevices(
                        p->models.model, (const ANeuralNetworksDevice *const *)p->options.devices,
                        (uint32_t)p->options.device_count, &c),
                    "Compilation_createForDevices");
    if (done) {
        c->only = p->options.only;
        c->preference = p->options.preference;
        done = did(r, ANeuralNetworksCompilation_finish(c), "Compilation_finish") && execute(c, spec, outputs, r);
    }
    ANeuralNetworksCompilation_free(c);
    return done ? outputs : NULL;
}

/** Judges the answer by the error budget. */
static void judge(const struct nnv_placement *p, const struct nnv_spec *spec, struct nnv_value *outputs,
                  struct nnv_result *r) {
    struct nnv_case_env env = {.arena = p->arena};
    nnv_judge_answer(&env, spec, NNV_PRECISION_BUDGET, outputs, r);
}

/* ------------------------------------------------------------------ step by step */

/** The operand of the spec behind an operand of the plan's main graph. */
static uint32_t operand_of(const struct nnv_placement *p, uint32_t operand) {
    const uint32_t *numbers = p->plan->model->info[0].operand_added;
    return numbers != NULL ? numbers[operand] : operand;
}

/** Executes it with all that passes between steps as outputs. values: golden at first, then what the devices gave. */
static enum nnv_status show_crossings(const struct nnv_placement *p, const struct nnv_known *known,
                                      struct nnv_value *values, bool *shown, struct nnv_err *err) {
    const struct nnv_rt_graph *g = &p->plan->graphs[0];
    const uint32_t n = known->spec->model.main.noperands;
    uint8_t *wish = NNV_NEW(p->arena, uint8_t, n);
    uint32_t *index = NNV_NEW(p->arena, uint32_t, n);
    struct nnv_spec *spec;
    struct nnv_placement all = {0};
    struct nnv_result r = {0};
    if (wish == NULL || index == NULL) return nnv_no_memory(err);
    for (uint32_t s = 0; s < g->step_count; s++)
        for (uint32_t i = 0; i < g->steps[s].output_count; i++)
            wish[operand_of(p, g->steps[s].outputs[i])] = NNV_WISH_SHOWN;
    enum nnv_status st =
        nnv_extract(known, &(struct nnv_extraction){.wish = wish, .index = index}, p->arena, &spec, err);
    if (st == NNV_OK) st = nnv_placement_make(p->devices, &spec->model, p->only, p->arena, &all, err);
    struct nnv_value *outputs = st == NNV_OK ? answer(&all, spec, &r) : NULL;
    *shown = outputs != NULL;
    for (uint32_t i = 0; outputs != NULL && i < n; i++)
        for (uint32_t k = 0; k < spec->model.main.nout && index[i] != UINT32_MAX; k++)
            if (spec->model.main.out[k] == index[i]) values[i] = outputs[k];
    nnv_placement_free(&all);
    nnv_text_free(&r.reason);
    return st;
}

/** Judges a step by what it was given. */
static enum nnv_status judge_step(const struct nnv_placement *p, const struct nnv_known *known,
                                  const struct nnv_rt_step *step, struct nnv_placed_step *out, struct nnv_err *err) {
    const struct nnv_subgraph *m = &known->spec->model.main;
    bool *keep = NNV_NEW(p->arena, bool, m->noperations);
    uint8_t *wish = NNV_NEW(p->arena, uint8_t, m->noperands);
    uint32_t *index = NNV_NEW(p->arena, uint32_t, m->noperands);
    struct nnv_spec *alone;
    struct nnv_known golden;
    struct nnv_result r = {0};
    if (keep == NULL || wish == NULL || index == NULL) return nnv_no_memory(err);
    for (uint32_t i = 0; i < step->operation_count; i++)
        keep[p->plan->model->info[0].added[step->operations[i]]] = true;
    for (uint32_t i = 0; i < step->output_count; i++) wish[operand_of(p, step->outputs[i])] = NNV_WISH_SHOWN;
    const struct nnv_extraction cut = {.keep = keep, .wish = wish, .index = index};
    enum nnv_status st = nnv_extract(known, &cut, p->arena, &alone, err);
    if (st == NNV_OK) st = nnv_known_make(alone, false, p->arena, &golden, err);
    if (st != NNV_OK) return st;
    /* Of golden.spec, whose outputs stand in the order of alone's. */
    const struct nnv_subgraph *a = &alone->model.main;
    struct nnv_value *given = NNV_NEW(p->arena, struct nnv_value, a->nout);
    if (given == NULL) return nnv_no_memory(err);
    for (uint32_t i = 0; i < m->noperands; i++)
        for (uint32_t k = 0; k < a->nout; k++)
            if (index[i] == a->out[k]) given[k] = known->value[i];
    nnv_result_start(&r);
    judge(p, golden.spec, given, &r);
    out->verdict = (enum nnvts_verdict)r.verdict;
    out->values = r.values;
    out->reason = nnv_arena_strdup(p->arena, r.reason.data ? r.reason.data : "");
    nnv_text_free(&r.reason);
    nnv_text_free(&r.outputs);
    return out->reason != NULL ? NNV_OK : nnv_no_memory(err);
}

static enum nnv_status judge_steps(const struct nnv_placement *p, const struct nnv_known *known,
                                   struct nnv_placed_run *out, struct nnv_err *err) {
    const struct nnv_rt_graph *g = &p->plan->graphs[0];
    const uint32_t n = known->spec->model.main.noperands;
    struct nnv_known seen = {known->spec, nnv_arena_copy(p->arena, known->value, n * sizeof *known->value)};
    bool shown;
    out->step = NNV_NEW(p->arena, struct nnv_placed_step, g->step_count);
    if (seen.value == NULL || out->step == NULL) return nnv_no_memory(err);
    enum nnv_status st = show_crossings(p, known, seen.value, &shown, err);
    for (uint32_t s = 0; st == NNV_OK && shown && s < g->step_count; s++) {
        const struct nnv_rt_step *step = &g->steps[s];
        if (step->device->is_cpu) continue;
        struct nnv_placed_step *placed = &out->step[out->steps++];
        *placed = (struct nnv_placed_step){.step = s, .device = step->device->name};
        st = judge_step(p, &seen, step, placed, err);
    }
    return st;
}

enum nnv_status nnv_placement_run(const struct nnv_placement *p, const struct nnv_known *known,
                                  struct nnv_placed_run *out, struct nnv_err *err) {
    const struct nnv_rt_graph *g = &p->plan->graphs[0];
    bool walks = false;
    *out = (struct nnv_placed_run){0};
    struct nnv_value *outputs = answer(p, known->spec, &out->whole);
    if (outputs == NULL) return NNV_OK;
    judge(p, known->spec, outputs, &out->whole);
    for (uint32_t s = 0; s < g->step_count; s++) walks = walks || g->steps[s].kind != NNV_RT_EXECUTE;
    return p->plan->simple || walks ? NNV_OK : judge_steps(p, known, out, err);
}
