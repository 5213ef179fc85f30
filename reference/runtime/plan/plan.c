/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan.c Making a plan from its parts, preparing its steps, and asking it who uses what. */
#include "reference/runtime/plan/plan.h"

#include "reference/runtime/run/cache.h"
#include "reference/runtime/log.h"
#include "reference/runtime/plan/planning.h"

struct making {
    const struct ANeuralNetworksModel *model;
    const struct nnv_rt_plan_options *options;
    struct nnv_rt_plan *plan;
    struct nnv_rt_chooser *chooser;
    struct nnv_arena *scratch;
};

static int plan_graph(struct making *m, uint32_t graph);

/** What a device of the first level does not know is left out where that does no harm. */
static void restrict_model(struct nnv_rt_step *step) {
    if (!nnv_rt_device_has_level(step->device, 2)) step->model.relax_float32_to_float16 = false;
}

/** The main graph as one step of one device. */
static int plan_whole(struct making *m, struct ANeuralNetworksDevice *device) {
    struct nnv_rt_graph *plan = &m->plan->graphs[0];
    const struct nnvts_subgraph *g = &m->model->model.main;
    struct nnv_rt_step *step = NNV_NEW(m->plan->arena, struct nnv_rt_step, 1);
    if (step == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    step->operations = NNV_NEW(m->plan->arena, uint32_t, g->operation_count);
    step->inputs = nnv_arena_copy(m->plan->arena, g->inputs, g->input_count * sizeof *g->inputs);
    step->outputs = nnv_arena_copy(m->plan->arena, g->outputs, g->output_count * sizeof *g->outputs);
    if (step->operations == NULL || step->inputs == NULL || step->outputs == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    step->kind = NNV_RT_EXECUTE;
    step->operation_count = g->operation_count;
    for (uint32_t i = 0; i < g->operation_count; i++) step->operations[i] = i;
    step->input_count = g->input_count;
    step->output_count = g->output_count;
    step->device = device;
    step->model = m->model->model;
    restrict_model(step);
    plan->step_count = 1;
    plan->steps = step;
    m->plan->simple = true;
    m->plan->on_cpu = device->is_cpu;
    return ANEURALNETWORKS_NO_ERROR;
}

/** A step that a device executes. */
static int make_execute(struct making *m, struct nnv_rt_slicer *slicer, struct nnv_rt_step *step) {
    struct nnv_rt_slice slice = {0};
    int result = nnv_rt_slice_make(slicer, step->operations, step->operation_count, m->plan->arena, &slice);
    if (result != ANEURALNETWORKS_NO_ERROR) return result;
    step->model = slice.model;
    restrict_model(step);
    step->input_count = slice.model.main.input_count;
    step->output_count = slice.model.main.output_count;
    step->inputs = slice.inputs;
    step->outputs = slice.outputs;
    if (step->input_count > 0 && step->output_count > 0) return ANEURALNETWORKS_NO_ERROR;
    nnv_rt_vlog(NNV_RT_LOG_COMPILATION, "a step of %u operations for %s has no %s", step->operation_count,
                step->device->name, step->input_count == 0 ? "inputs" : "outputs");
    return ANEURALNETWORKS_OP_FAILED;
}

/** A step that the runtime walks through, and the plans of its graphs. */
static int make_control(struct making *m, const struct nnvts_subgraph *g, struct nnv_rt_step *step) {
    const struct nnvts_operation *op = &g->operations[step->operations[0]];
    uint32_t first = nnv_rt_control_inputs(op);
    step->kind = op->type == ANEURALNETWORKS_IF ? NNV_RT_IF : NNV_RT_WHILE;
    step->input_count = op->input_count - first;
    step->output_count = op->output_count;
    step->inputs = nnv_arena_copy(m->plan->arena, op->inputs + first, step->input_count * sizeof *step->inputs);
    step->outputs = nnv_arena_copy(m->plan->arena, op->outputs, step->output_count * sizeof *step->outputs);
    if (step->inputs == NULL || step->outputs == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    if (step->kind == NNV_RT_IF) step->condition = op->inputs[0];
    nnv_rt_control_graphs(g, op, step->graphs);
    int result = plan_graph(m, step->graphs[0]);
    return result == ANEURALNETWORKS_NO_ERROR ? plan_graph(m, step->graphs[1]) : result;
}

/** The steps of a graph, formed by the choices for its operations. */
static int make_steps(struct making *m, uint32_t graph, const struct nnv_rt_choice *choices) {
    const struct nnvts_subgraph *g = nnv_rt_graph_at(m->model, graph);
    struct nnv_rt_graph *plan = &m->plan->graphs[graph];
    uint32_t interpreted = (uint32_t)m->options->device_count;
    struct nnv_rt_grouping steps = {0};
    uint32_t *kinds = NNV_NEW(m->scratch, uint32_t, g->operation_count);
    struct nnv_rt_slicer *slicer = nnv_rt_slicer_new(m->model, graph, m->scratch);
    if (kinds == NULL || slicer == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < g->operation_count; i++)
        kinds[i] = choices[i].device >= 0 ? (uint32_t)choices[i].device : interpreted;
    int result = nnv_rt_group(g, kinds, interpreted + 1, interpreted, m->scratch, &steps);
    if (result != ANEURALNETWORKS_NO_ERROR) return result;
    plan->steps = NNV_NEW(m->plan->arena, struct nnv_rt_step, steps.step_count);
    uint32_t *order = nnv_arena_copy(m->plan->arena, steps.order, g->operation_count * sizeof *order);
    if (plan->steps == NULL || order == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    plan->step_count = steps.step_count;
    plan->crossings = steps.crossings;
    for (uint32_t s = 0; result == ANEURALNETWORKS_NO_ERROR && s < steps.step_count; s++) {
        struct nnv_rt_step *step = &plan->steps[s];
        step->operation_count = steps.begin[s + 1] - steps.begin[s];
        step->operations = order + steps.begin[s];
        uint32_t kind = kinds[step->operations[0]];
        if (kind == interpreted) {
            result = make_control(m, g, step);
        } else {
            step->device = m->options->devices[kind];
            result = make_execute(m, slicer, step);
        }
    }
    return result;
}

/** The device that is best for all operations; NULL: there is none. */
static struct ANeuralNetworksDevice *one_device(const struct making *m, const struct nnv_rt_choice *choices,
                                                uint32_t count) {
    if (count == 0 || choices[0].device < 0) return NULL;
    for (uint32_t i = 1; i < count; i++)
        if (choices[i].device != choices[0].device) return NULL;
    return m->options->devices[choices[0].device];
}

static int plan_graph(struct making *m, uint32_t graph) {
    struct nnv_rt_graph *plan = &m->plan->graphs[graph];
    uint32_t count = nnv_rt_graph_at(m->model, graph)->operation_count;
    const struct nnv_rt_choice *choices = NULL;
    if (plan->planned) return ANEURALNETWORKS_NO_ERROR;
    int result = nnv_rt_choose(m->chooser, graph, &choices);
    if (result != ANEURALNETWORKS_NO_ERROR) return result;
    for (uint32_t i = 0; i < count; i++) {
        if (choices[i].device != NNV_RT_NO_DEVICE) continue;
        nnv_rt_vlog(NNV_RT_LOG_COMPILATION, "no device does operation %u of graph %u", i, graph);
        return ANEURALNETWORKS_BAD_DATA;
    }
    plan->planned = true;
    struct ANeuralNetworksDevice *whole = graph == 0 ? one_device(m, choices, count) : NULL;
    result = whole != NULL ? plan_whole(m, whole) : make_steps(m, graph, choices);
    if (result == ANEURALNETWORKS_NO_ERROR)
        result = nnv_rt_place_values(m->model, graph, plan, m->plan->arena, m->scratch);
    return result;
}

int nnv_rt_plan_make(const struct ANeuralNetworksModel *model, const struct nnv_rt_plan_options *options,
                     struct nnv_rt_plan **out) {
    struct nnv_arena *arena = nnv_arena_new(), *scratch = nnv_arena_new();
    struct making m = {.model = model, .options = options, .scratch = scratch};
    int result = ANEURALNETWORKS_OUT_OF_MEMORY;
    if (arena == NULL || scratch == NULL) goto out;
    m.plan = NNV_NEW(arena, struct nnv_rt_plan, 1);
    m.chooser = nnv_rt_chooser_new(model, options, scratch);
    if (m.plan == NULL || m.chooser == NULL) goto out;
    *m.plan = (struct nnv_rt_plan){.arena = arena, .model = model, .graph_count = nnv_rt_graph_count(model)};
    m.plan->graphs = NNV_NEW(arena, struct nnv_rt_graph, m.plan->graph_count);
    if (m.plan->graphs == NULL) goto out;
    result = plan_graph(&m, 0);
out:
    nnv_arena_free(scratch);
    if (result == ANEURALNETWORKS_NO_ERROR)
        *out = m.plan;
    else
        nnv_arena_free(arena);
    return result;
}

int nnv_rt_plan_prepare(struct nnv_rt_plan *plan, const struct nnv_rt_prepare_options *options) {
    for (uint32_t graph = 0; graph < plan->graph_count; graph++) {
        for (uint32_t s = 0; s < plan->graphs[graph].step_count; s++) {
            struct nnv_rt_step *step = &plan->graphs[graph].steps[s];
            if (step->kind != NNV_RT_EXECUTE || step->prepared != NULL) continue;
            int result = nnv_rt_prepare_step(plan, graph, step, options);
            if (result != ANEURALNETWORKS_NO_ERROR) return result;
        }
    }
    return ANEURALNETWORKS_NO_ERROR;
}

void nnv_rt_plan_release(struct nnv_rt_plan *plan) {
    if (plan == NULL) return;
    for (uint32_t graph = 0; graph < plan->graph_count; graph++) {
        for (uint32_t s = 0; s < plan->graphs[graph].step_count; s++) {
            struct nnvts_prepared_model *prepared = plan->graphs[graph].steps[s].prepared;
            if (prepared != NULL) prepared->release(prepared);
        }
    }
    nnv_arena_free(plan->arena);
}

/* ---------------------------------------------------------------- questions */

struct roles {
    const struct nnv_rt_plan *plan;
    nnv_rt_role_fn *visit;
    void *context;
    struct nnv_arena *arena;
    bool **seen; /**< one a graph, one an operand: graphs may be reached on many ways */
};

static int visit_operand(const struct roles *r, uint32_t graph, uint32_t operand);

/** Goes on in the two graphs of a step, to their inputs or outputs number io. */
static int visit_below(const struct roles *r, const struct nnv_rt_step *step, bool is_output, uint32_t io) {
    int result = ANEURALNETWORKS_NO_ERROR;
    for (int i = 0; result == ANEURALNETWORKS_NO_ERROR && i < 2; i++) {
        const struct nnvts_subgraph *g = nnv_rt_graph_at(r->plan->model, step->graphs[i]);
        if (io < (is_output ? g->output_count : g->input_count))
            result = visit_operand(r, step->graphs[i], is_output ? g->outputs[io] : g->inputs[io]);
    }
    return result;
}

static int visit_step(const struct roles *r, const struct nnv_rt_step *step, uint32_t operand) {
    int result = ANEURALNETWORKS_NO_ERROR;
    for (uint32_t i = 0; result == ANEURALNETWORKS_NO_ERROR && i < step->input_count; i++) {
        if (step->inputs[i] != operand) continue;
        if (step->kind == NNV_RT_EXECUTE)
            r->visit(r->context, step, false, i);
        else
            result = visit_below(r, step, false, i);
    }
    for (uint32_t i = 0; result == ANEURALNETWORKS_NO_ERROR && i < step->output_count; i++) {
        if (step->outputs[i] != operand) continue;
        if (step->kind == NNV_RT_EXECUTE)
            r->visit(r->context, step, true, i);
        else if (step->kind == NNV_RT_IF)
            result = visit_below(r, step, true, i);
    }
    return result;
}

static int visit_operand(const struct roles *r, uint32_t graph, uint32_t operand) {
    const struct nnv_rt_graph *g = &r->plan->graphs[graph];
    int result = ANEURALNETWORKS_NO_ERROR;
    if (r->seen[graph] == NULL)
        r->seen[graph] = NNV_NEW(r->arena, bool, nnv_rt_graph_at(r->plan->model, graph)->operand_count);
    if (r->seen[graph] == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    if (r->seen[graph][operand]) return result;
    r->seen[graph][operand] = true;
    for (uint32_t s = 0; result == ANEURALNETWORKS_NO_ERROR && s < g->step_count; s++)
        result = visit_step(r, &g->steps[s], operand);
    return result;
}

int nnv_rt_plan_roles(const struct nnv_rt_plan *plan, bool is_output, uint32_t index, nnv_rt_role_fn *visit,
                      void *context) {
    const struct nnvts_subgraph *g = &plan->model->model.main;
    struct roles r = {.plan = plan, .visit = visit, .context = context, .arena = nnv_arena_new()};
    int result = ANEURALNETWORKS_OUT_OF_MEMORY;
    if (r.arena != NULL) r.seen = NNV_NEW(r.arena, bool *, plan->graph_count);
    if (r.arena != NULL && r.seen != NULL)
        result = visit_operand(&r, 0, is_output ? g->outputs[index] : g->inputs[index]);
    nnv_arena_free(r.arena);
    return result;
}

uint32_t nnv_rt_plan_crossings(const struct nnv_rt_plan *plan) {
    uint32_t n = 0;
    for (uint32_t graph = 0; graph < plan->graph_count; graph++) n += plan->graphs[graph].crossings;
    return n;
}
