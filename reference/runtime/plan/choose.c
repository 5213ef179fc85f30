/* SPDX-License-Identifier: Apache-2.0 */
/** @file choose.c The cheapest device of each operation. */
#include <float.h>
#include <math.h>

#include "base/type.h"
#include "reference/runtime/plan/planning.h"
#include "reference/runtime/plan/support.h"

struct nnv_rt_chooser {
    const struct ANeuralNetworksModel *model;
    const struct nnv_rt_plan_options *options;
    struct nnv_arena *arena;
    int cpu;              /**< index of the CPU reference; -1: it is not among the devices */
    float *type_costs;    /**< [device][core type] */
    double *graph_costs;  /**< [graph][device], of all its operations; NaN: not yet summed */
    struct graph *graphs; /**< what has been found out */
};

struct graph {
    struct nnv_rt_choice *choices; /**< NULL: not made yet */
    bool complete;                 /**< each operation has a device */
    bool elsewhere;                /**< one is done better elsewhere than on the CPU */
};

void nnv_rt_control_graphs(const struct nnvts_subgraph *g, const struct nnvts_operation *op, uint32_t graphs[2]) {
    uint32_t first = op->type == ANEURALNETWORKS_IF ? 1 : 0;
    for (uint32_t i = 0; i < 2; i++) graphs[i] = nnv_rt_graph_of(&g->operands[op->inputs[first + i]]);
}

struct nnv_rt_chooser *nnv_rt_chooser_new(const struct ANeuralNetworksModel *model,
                                          const struct nnv_rt_plan_options *options, struct nnv_arena *arena) {
    struct nnv_rt_chooser *c = NNV_NEW(arena, struct nnv_rt_chooser, 1);
    uint32_t graphs = nnv_rt_graph_count(model);
    size_t devices = options->device_count;
    if (c == NULL) return NULL;
    *c = (struct nnv_rt_chooser){.model = model, .options = options, .arena = arena, .cpu = -1};
    c->type_costs = NNV_NEW(arena, float, devices *NNV_TYPE_COUNT);
    c->graph_costs = NNV_NEW(arena, double, devices *graphs);
    c->graphs = NNV_NEW(arena, struct graph, graphs);
    if (c->type_costs == NULL || c->graph_costs == NULL || c->graphs == NULL) return NULL;
    for (size_t d = 0; d < devices; d++) {
        if (options->devices[d]->is_cpu && c->cpu < 0) c->cpu = (int)d;
        for (int32_t type = 0; type < NNV_TYPE_COUNT; type++)
            c->type_costs[d * NNV_TYPE_COUNT + (size_t)type] = nnv_rt_device_cost(
                options->devices[d], type, model->model.relax_float32_to_float16, options->preference);
    }
    for (size_t i = 0; i < devices * graphs; i++) c->graph_costs[i] = NAN;
    return c;
}

/* -------------------------------------------------------------------- costs */

static double graph_cost(struct nnv_rt_chooser *c, uint32_t graph, size_t device);

static double control_cost(struct nnv_rt_chooser *c, const struct nnvts_subgraph *g, const struct nnvts_operation *op,
                           size_t device) {
    const struct nnvts_capabilities *can = &c->options->devices[device]->driver->capabilities;
    bool is_if = op->type == ANEURALNETWORKS_IF;
    const struct nnvts_performance *own = is_if ? &can->if_performance : &can->while_performance;
    uint32_t graphs[2];
    nnv_rt_control_graphs(g, op, graphs);
    double below = graph_cost(c, graphs[0], device) + graph_cost(c, graphs[1], device);
    double mine = c->options->preference == ANEURALNETWORKS_PREFER_LOW_POWER ? own->power_usage : own->exec_time;
    if (c->options->devices[device]->is_cpu) mine = 1;
    return mine + (is_if ? 0.5 * below : below);
}

/** What one operation costs on a device, whether it supports it or not. */
static double cost_of(struct nnv_rt_chooser *c, const struct nnvts_subgraph *g, const struct nnvts_operation *op,
                      size_t device) {
    if (nnv_rt_is_control_flow(op)) return control_cost(c, g, op, device);
    if (op->input_count == 0) return 0;
    int32_t type = g->operands[op->inputs[0]].type;
    if (type >= 0 && type < NNV_TYPE_COUNT) return c->type_costs[device * NNV_TYPE_COUNT + (size_t)type];
    return nnv_rt_device_cost(c->options->devices[device], type, c->model->model.relax_float32_to_float16,
                              c->options->preference);
}

/** The sum over the operations of a graph; each pair of graph and device is summed once. */
static double graph_cost(struct nnv_rt_chooser *c, uint32_t graph, size_t device) {
    double *sum = &c->graph_costs[graph * c->options->device_count + device];
    if (!isnan(*sum)) return *sum;
    const struct nnvts_subgraph *g = nnv_rt_graph_at(c->model, graph);
    double total = 0;
    for (uint32_t i = 0; i < g->operation_count; i++) total += cost_of(c, g, &g->operations[i], device);
    return *sum = total;
}

/* ------------------------------------------------------------------ choices */

static bool all_known(const bool *known, const struct nnvts_subgraph *g, const uint32_t *operands, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lifetime = g->operands[operands[i]].lifetime;
        if (lifetime != NNVTS_SUBGRAPH && lifetime != NNVTS_NO_VALUE && !known[operands[i]]) return false;
    }
    return true;
}

/** True if the sizes of all that passes into an IF or WHILE and out of it are known, on both sides. */
static bool boundary_known(const struct nnv_rt_chooser *c, uint32_t graph, const struct nnvts_operation *op) {
    const struct nnvts_subgraph *g = nnv_rt_graph_at(c->model, graph);
    const bool *known = c->model->info[graph].known;
    if (!all_known(known, g, op->inputs, op->input_count) || !all_known(known, g, op->outputs, op->output_count))
        return false;
    uint32_t below[2];
    nnv_rt_control_graphs(g, op, below);
    for (int i = 0; i < 2; i++) {
        const struct nnvts_subgraph *b = nnv_rt_graph_at(c->model, below[i]);
        known = c->model->info[below[i]].known;
        if (!all_known(known, b, b->inputs, b->input_count) || !all_known(known, b, b->outputs, b->output_count))
            return false;
    }
    return true;
}

/** The cheapest device that is not NaN in costs: the first of equals, but the CPU before all. */
static int cheapest(const struct nnv_rt_chooser *c, const float *costs) {
    int best = NNV_RT_NO_DEVICE;
    for (int d = 0; d < (int)c->options->device_count; d++) {
        if (isnan(costs[d])) continue;
        if (best < 0 || costs[d] < costs[best] || (d == c->cpu && costs[d] <= costs[best])) best = d;
    }
    return best;
}

/** Chooses for an IF or WHILE, whose costs are filled. */
static int choose_control(struct nnv_rt_chooser *c, uint32_t graph, const struct nnvts_operation *op,
                          struct nnv_rt_choice *choice) {
    const struct nnvts_subgraph *g = nnv_rt_graph_at(c->model, graph);
    bool on_cpu = c->cpu >= 0 && !isnan(choice->costs[c->cpu]), elsewhere = false;
    if (c->cpu >= 0 && boundary_known(c, graph, op)) {
        uint32_t below[2];
        bool complete = true;
        nnv_rt_control_graphs(g, op, below);
        for (int i = 0; i < 2; i++) {
            const struct nnv_rt_choice *ignored;
            int result = nnv_rt_choose(c, below[i], &ignored);
            if (result != ANEURALNETWORKS_NO_ERROR) return result;
            complete = complete && c->graphs[below[i]].complete;
            elsewhere = elsewhere || c->graphs[below[i]].elsewhere;
        }
        elsewhere = complete && (elsewhere || !on_cpu);
        if (elsewhere && !on_cpu) choice->costs[c->cpu] = fminf((float)cost_of(c, g, op, (size_t)c->cpu), FLT_MAX);
        choice->device = cheapest(c, choice->costs);
    } else {
        choice->device = on_cpu ? c->cpu : cheapest(c, choice->costs);
    }
    if (elsewhere && choice->device == c->cpu) choice->device = NNV_RT_INTERPRETED;
    return ANEURALNETWORKS_NO_ERROR;
}

/** False where only the CPU reference may do the operation. */
static bool may_do(const struct nnv_rt_chooser *c, uint32_t graph, uint32_t operation, size_t device) {
    const bool *only = c->options->only;
    return only == NULL || graph > 0 || c->options->devices[device]->is_cpu || only[c->model->info[0].added[operation]];
}

static int choose_one(struct nnv_rt_chooser *c, uint32_t graph, uint32_t operation, const bool *supported,
                      struct nnv_rt_choice *choice) {
    const struct nnvts_subgraph *g = nnv_rt_graph_at(c->model, graph);
    const struct nnvts_operation *op = &g->operations[operation];
    int result = ANEURALNETWORKS_NO_ERROR;
    for (size_t d = 0; d < c->options->device_count; d++) {
        double cost = cost_of(c, g, op, d);
        const bool can = supported[d * g->operation_count + operation] && may_do(c, graph, operation, d);
        choice->costs[d] = !can ? NAN : cost >= (double)FLT_MAX ? FLT_MAX : (float)cost;
    }
    if (nnv_rt_is_control_flow(op))
        result = choose_control(c, graph, op, choice);
    else
        choice->device = cheapest(c, choice->costs);
    int paid = choice->device == NNV_RT_INTERPRETED ? c->cpu : choice->device;
    choice->cost = paid >= 0 ? choice->costs[paid] : INFINITY;
    return result;
}

int nnv_rt_choose(struct nnv_rt_chooser *c, uint32_t graph, const struct nnv_rt_choice **choices) {
    struct graph *found = &c->graphs[graph];
    *choices = found->choices;
    if (found->choices != NULL) return ANEURALNETWORKS_NO_ERROR;
    uint32_t n = nnv_rt_graph_at(c->model, graph)->operation_count;
    size_t devices = c->options->device_count;
    struct nnv_rt_choice *made = NNV_NEW(c->arena, struct nnv_rt_choice, n);
    float *costs = NNV_NEW(c->arena, float, n *devices);
    bool *supported = NNV_NEW(c->arena, bool, n *devices);
    if (made == NULL || costs == NULL || supported == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    int result = nnv_rt_supported(c->model, graph, c->options->devices, c->options->device_count, c->arena, supported);
    found->complete = true;
    for (uint32_t i = 0; result == ANEURALNETWORKS_NO_ERROR && i < n; i++) {
        made[i].costs = costs + i * devices;
        result = choose_one(c, graph, i, supported, &made[i]);
        found->complete = found->complete && made[i].device != NNV_RT_NO_DEVICE;
        found->elsewhere = found->elsewhere || made[i].device != c->cpu;
    }
    if (result == ANEURALNETWORKS_NO_ERROR) *choices = found->choices = made;
    return result;
}

int nnv_rt_plan_choices(const struct ANeuralNetworksModel *model, const struct nnv_rt_plan_options *options,
                        uint32_t graph, struct nnv_arena *arena, struct nnv_rt_choice **choices) {
    struct nnv_rt_chooser *c = nnv_rt_chooser_new(model, options, arena);
    const struct nnv_rt_choice *made = NULL;
    int result = c != NULL ? nnv_rt_choose(c, graph, &made) : ANEURALNETWORKS_OUT_OF_MEMORY;
    if (result == ANEURALNETWORKS_NO_ERROR) *choices = (struct nnv_rt_choice *)made;
    return result;
}
