/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan_price.c Who does what in a plan: devices take it, at their level, and none does it for less. */
#include <float.h>
#include <math.h>

#include "harness/suites/partition/plan_check.h"

struct price_walk {
    struct nnv_plan_checking *c;
    uint32_t index;
    const struct nnvts_subgraph *s;
    const struct nnv_rt_graph_info *info;
};

static bool is_control(int32_t code) { return code == ANEURALNETWORKS_IF || code == ANEURALNETWORKS_WHILE; }

/* ----------------------------------------------------------------------- prices */

static double pick(const struct nnvts_performance *p, int32_t preference) {
    return (double)(preference == ANEURALNETWORKS_PREFER_LOW_POWER ? p->power_usage : p->exec_time);
}

/* What a device asks for an operation whose first input has this type. */
static double price_of_type(const struct nnvts_capabilities *k, int32_t type, bool relaxed, int32_t preference) {
    if (relaxed && type == ANEURALNETWORKS_FLOAT32) return pick(&k->relaxed_scalar, preference);
    if (relaxed && type == ANEURALNETWORKS_TENSOR_FLOAT32) return pick(&k->relaxed_tensor, preference);
    for (uint32_t i = 0; i < k->operand_performance_count; i++)
        if (k->operand_performance[i].type == type) return pick(&k->operand_performance[i].info, preference);
    return (double)FLT_MAX;
}

static double price(const struct nnv_plan_checking *c, const struct ANeuralNetworksDevice *d, uint32_t graph,
                    uint32_t op);

static double price_of_graph(const struct nnv_plan_checking *c, const struct ANeuralNetworksDevice *d, uint32_t graph) {
    double sum = 0;
    for (uint32_t i = 0; i < nnv_rt_graph_at(c->plan->model, graph)->operation_count; i++) sum += price(c, d, graph, i);
    return sum;
}

static double price(const struct nnv_plan_checking *c, const struct ANeuralNetworksDevice *d, uint32_t graph,
                    uint32_t index) {
    const struct nnvts_subgraph *s = nnv_rt_graph_at(c->plan->model, graph);
    const struct nnvts_operation *op = &s->operations[index];
    static const struct nnvts_performance unit = {1, 1};
    const struct nnvts_capabilities *k = &d->driver->capabilities;
    const int32_t preference = c->rules->preference;
    if (op->type == ANEURALNETWORKS_IF)
        return pick(d->is_cpu ? &unit : &k->if_performance, preference) +
               0.5 * (price_of_graph(c, d, nnv_rt_graph_of(&s->operands[op->inputs[1]])) +
                      price_of_graph(c, d, nnv_rt_graph_of(&s->operands[op->inputs[2]])));
    if (op->type == ANEURALNETWORKS_WHILE)
        return pick(d->is_cpu ? &unit : &k->while_performance, preference) +
               price_of_graph(c, d, nnv_rt_graph_of(&s->operands[op->inputs[0]])) +
               price_of_graph(c, d, nnv_rt_graph_of(&s->operands[op->inputs[1]]));
    if (d->is_cpu) return 1; /* the measure of all prices */
    return price_of_type(k, s->operands[op->inputs[0]].type, c->plan->model->model.relax_float32_to_float16,
                         preference);
}

/* ---------------------------------------------------------------------- devices */

static bool has_level(const struct price_walk *w, const struct ANeuralNetworksDevice *d, uint32_t op) {
    return nnv_rt_device_has_level(d, w->info->levels[op]);
}

/* The device may be given the operation. */
static bool may(const struct price_walk *w, const struct ANeuralNetworksDevice *d, uint32_t op) {
    if (!has_level(w, d, op)) return false;
    return d->is_cpu || w->c->rules->takes(w->c->rules->context, d, w->index, op) == 1;
}

static bool all_known(const struct price_walk *w, uint32_t graph, const uint32_t *operands, uint32_t count) {
    const struct nnvts_subgraph *s = nnv_rt_graph_at(w->c->plan->model, graph);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t lifetime = s->operands[operands[i]].lifetime;
        const bool value = lifetime != NNVTS_SUBGRAPH && lifetime != NNVTS_NO_VALUE;
        if (value && !w->c->plan->model->info[graph].known[operands[i]]) return false;
    }
    return true;
}

/* Does a value of unknown size go into or come out of an IF or WHILE, or of a graph that it runs? */
static bool is_open(const struct price_walk *w, const struct nnvts_operation *op) {
    const uint32_t first = op->type == ANEURALNETWORKS_IF ? 1 : 0;
    if (!all_known(w, w->index, op->inputs, op->input_count) || !all_known(w, w->index, op->outputs, op->output_count))
        return true;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t below = nnv_rt_graph_of(&w->s->operands[op->inputs[first + i]]);
        const struct nnvts_subgraph *s = nnv_rt_graph_at(w->c->plan->model, below);
        if (!all_known(w, below, s->inputs, s->input_count) || !all_known(w, below, s->outputs, s->output_count))
            return true;
    }
    return false;
}

static const struct ANeuralNetworksDevice *find_cpu(const struct nnv_plan_rules *rules, size_t *at) {
    for (*at = 0; *at < rules->device_count; ++*at)
        if (rules->devices[*at]->is_cpu) return rules->devices[*at];
    return NULL;
}

/* `chosen` at place `at` does the operation: nobody else does it for less, or first. */
static void check_choice(const struct price_walk *w, const struct ANeuralNetworksDevice *chosen, size_t at,
                         uint32_t op) {
    const struct nnv_plan_rules *rules = w->c->rules;
    const bool control = is_control(w->s->operations[op].type);
    const double paid = price(w->c, chosen, w->index, op);
    for (size_t i = 0; i < rules->device_count; i++) {
        const struct ANeuralNetworksDevice *d = rules->devices[i];
        if (d == chosen || !may(w, d, op)) continue;
        const double other = price(w->c, d, w->index, op);
        if (other < paid * (1 - 1e-6))
            nnv_plan_broken(w->c, "graph %u: operation %u costs %g on %s, and %g on %s, which takes it", w->index, op,
                            paid, chosen->name, other, d->name);
        /* sums of many prices may be equal to one and not to another */
        if (other == paid && !control && !chosen->is_cpu && (d->is_cpu || i < at))
            nnv_plan_broken(w->c, "graph %u: operation %u is on %s, but costs the same on %s, which comes first",
                            w->index, op, chosen->name, d->name);
    }
}

static void check_operation(const struct price_walk *w, const struct nnv_rt_step *step, uint32_t op) {
    const struct nnv_plan_rules *rules = w->c->rules;
    const struct nnvts_operation *o = &w->s->operations[op];
    const struct ANeuralNetworksDevice *device = step->device;
    size_t at = 0;
    if (step->kind != NNV_RT_EXECUTE) {
        device = find_cpu(rules, &at);
        if (!device) {
            nnv_plan_broken(w->c, "graph %u: operation %u is walked through, without the CPU among the devices",
                            w->index, op);
            return;
        }
        if (is_open(w, o))
            nnv_plan_broken(w->c, "graph %u: operation %u is walked through, with values of unknown size", w->index,
                            op);
    } else {
        while (at < rules->device_count && rules->devices[at] != device) at++;
        if (at == rules->device_count) {
            nnv_plan_broken(w->c, "graph %u: operation %u is on %s, which is not among the devices", w->index, op,
                            device->name);
            return;
        }
        if (!has_level(w, device, op))
            nnv_plan_broken(w->c, "graph %u: operation %u needs level %d, %s has %d", w->index, op,
                            (int)w->info->levels[op], device->name, (int)device->driver_level);
        else if (!may(w, device, op))
            nnv_plan_broken(w->c, "graph %u: operation %u is on %s, which never said that it takes it", w->index, op,
                            device->name);
        if (is_control(o->type) && is_open(w, o)) {
            if (!device->is_cpu && find_cpu(rules, &at))
                nnv_plan_broken(w->c, "graph %u: operation %u, of unknown sizes, is not on the CPU", w->index, op);
            return;
        }
    }
    check_choice(w, device, at, op);
}

/* What is of unknown size when the plan is made comes from a driver that can tell its size. */
static void check_dynamic(const struct price_walk *w, uint32_t index) {
    const struct nnv_rt_step *step = &w->c->plan->graphs[w->index].steps[index];
    for (uint32_t i = 0; i < step->output_count; i++)
        if (step->outputs[i] < w->s->operand_count &&
            w->c->plan->graphs[w->index].places[step->outputs[i]].kind == NNV_RT_DYNAMIC &&
            step->kind == NNV_RT_EXECUTE && !nnv_rt_device_has_level(step->device, 3))
            nnv_plan_broken(w->c, "graph %u: operand %u, of unknown size, comes from %s, of level %d", w->index,
                            step->outputs[i], step->device->name, (int)step->device->driver_level);
}

/* All operations of a simple plan are the device's: who else would do some of them for less was asked above. */
void nnv_plan_check_devices(struct nnv_plan_checking *c, uint32_t graph) {
    const struct price_walk w = {
        .c = c, .index = graph, .s = nnv_rt_graph_at(c->plan->model, graph), .info = &c->plan->model->info[graph]};
    const struct nnv_rt_graph *g = &c->plan->graphs[graph];
    for (uint32_t i = 0; i < g->step_count; i++) {
        for (uint32_t k = 0; k < g->steps[i].operation_count; k++)
            check_operation(&w, &g->steps[i], g->steps[i].operations[k]);
        check_dynamic(&w, i);
    }
}
