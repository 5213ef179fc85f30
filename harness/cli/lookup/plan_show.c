/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/lookup/plan_show.h"

#include <float.h>
#include <math.h>

#include "base/words.h"
#include "reference/model/op.h"

enum { MOST_NAMES = 4, MOST_OPERANDS = 6 };
static const double GAIN = 1.1; /* less is the clock's noise */

static uint32_t operand_added(const struct nnv_placement *v, uint32_t graph, uint32_t operand) {
    const uint32_t *numbers = v->plan->model->info[graph].operand_added;
    return numbers != NULL ? numbers[operand] : operand;
}

/* -------------------------------------------------------------------- costs */

static double graph_cost(const struct nnv_placement *v, uint32_t graph);

/** Of what the runtime walks through: as an IF or WHILE of the CPU, with what its graphs cost where they run. */
static double step_cost(const struct nnv_placement *v, uint32_t graph, const struct nnv_rt_step *step) {
    double cost = 0;
    if (step->kind != NNV_RT_EXECUTE) {
        double below = graph_cost(v, step->graphs[0]) + graph_cost(v, step->graphs[1]);
        return 1 + (step->kind == NNV_RT_IF ? 0.5 * below : below);
    }
    for (uint32_t i = 0; i < step->operation_count; i++) cost += (double)v->choices[graph][step->operations[i]].cost;
    return cost;
}

static double graph_cost(const struct nnv_placement *v, uint32_t graph) {
    double cost = 0;
    for (uint32_t s = 0; s < v->plan->graphs[graph].step_count; s++)
        cost += step_cost(v, graph, &v->plan->graphs[graph].steps[s]);
    return cost;
}

/** Of the main graph on the CPU reference alone; NaN: it does not do it all, or is not there. */
static double cpu_cost(const struct nnv_placement *v) {
    double cost = 0;
    size_t cpu = 0;
    while (cpu < v->options.device_count && !v->options.devices[cpu]->is_cpu) cpu++;
    if (cpu == v->options.device_count) return NAN;
    for (uint32_t i = 0; i < v->plan->model->model.main.operation_count; i++)
        cost += (double)v->choices[0][i].costs[cpu];
    return cost;
}

static uint64_t pool_bytes(const struct nnv_placement *v) {
    uint64_t bytes = 0;
    for (uint32_t g = 0; g < v->plan->graph_count; g++) bytes += v->plan->graphs[g].pool_bytes;
    return bytes;
}

/* -------------------------------------------------------------------- table */

static void add_cost(struct nnv_text *t, double cost) {
    if (cost >= (double)FLT_MAX)
        nnv_text_add(t, "worst");
    else
        nnv_text_addf(t, "%.4g", cost);
}

/** "ADD, MUL x 3, ...": in the order in which they come. */
static void add_names(const struct nnv_placement *v, uint32_t graph, const struct nnv_rt_step *step,
                      struct nnv_text *t) {
    const struct nnvts_subgraph *g = nnv_rt_graph_at(v->plan->model, graph);
    int32_t types[MOST_NAMES];
    uint32_t counts[MOST_NAMES] = {0}, known = 0, rest = 0;
    for (uint32_t i = 0; i < step->operation_count; i++) {
        int32_t type = g->operations[step->operations[i]].type;
        uint32_t k = 0;
        while (k < known && types[k] != type) k++;
        if (k == MOST_NAMES) {
            rest++;
            continue;
        }
        if (k == known) types[known++] = type;
        counts[k]++;
    }
    for (uint32_t k = 0; k < known; k++) {
        if (k > 0) nnv_text_add(t, ", ");
        nnv_placement_add_operation(types[k], t);
        if (counts[k] > 1) nnv_text_addf(t, " x %u", counts[k]);
    }
    if (rest > 0) nnv_text_addf(t, ", %u more", rest);
}

/** "%0 %5": operands by the spec's numbers. */
static void add_operands(const struct nnv_placement *v, uint32_t graph, const uint32_t *operands, uint32_t count,
                         struct nnv_text *t) {
    if (count == 0) nnv_text_add(t, "-");
    for (uint32_t i = 0; i < count && i < MOST_OPERANDS; i++)
        nnv_text_addf(t, "%s%%%u", i > 0 ? " " : "", operand_added(v, graph, operands[i]));
    if (count > MOST_OPERANDS) nnv_text_addf(t, " +%u", count - MOST_OPERANDS);
}

/** Pads what was added since `from` to so many columns. */
static void pad(struct nnv_text *t, size_t from, size_t columns) {
    do nnv_text_add(t, " ");
    while (!t->failed && t->len - from < columns);
}

enum { FOR_DEVICE = 26, FOR_NAMES = 34, FOR_OPERANDS = 22 };

static void add_step(const struct nnv_placement *v, uint32_t graph, uint32_t s, struct nnv_text *t) {
    const struct nnv_rt_step *step = &v->plan->graphs[graph].steps[s];
    nnv_text_addf(t, "%5u  ", s);
    size_t from = t->len;
    if (step->kind == NNV_RT_EXECUTE)
        nnv_text_add(t, nnv_shown(step->device->name).s);
    else
        nnv_text_addf(t, "runtime: graphs %u, %u", step->graphs[0], step->graphs[1]);
    pad(t, from, FOR_DEVICE);
    from = t->len;
    add_names(v, graph, step, t);
    pad(t, from, FOR_NAMES);
    from = t->len;
    add_operands(v, graph, step->inputs, step->input_count, t);
    pad(t, from, FOR_OPERANDS);
    from = t->len;
    add_operands(v, graph, step->outputs, step->output_count, t);
    pad(t, from, FOR_OPERANDS);
    add_cost(t, step_cost(v, graph, step));
    nnv_text_add(t, "\n");
}

/* "float32 [1,112,112,32]" of the first thing that it gives. */
static void add_result(const struct nnv_placement *v, const struct nnvts_operation *op, struct nnv_text *t) {
    const struct nnvts_operand *o = &v->plan->model->model.main.operands[op->outputs[0]];
    const struct nnv_type *type = nnv_type(o->type);
    nnv_text_addf(t, "%s [", type ? type->tag : "?");
    for (uint32_t d = 0; d < o->dimension_count; d++)
        o->dimensions[d] ? nnv_text_addf(t, "%s%u", d ? "," : "", o->dimensions[d])
                         : nnv_text_addf(t, "%s?", d ? "," : "");
    nnv_text_add(t, "]");
}

static const char *device_of(const struct nnv_placement *v, const struct nnv_rt_choice *c) {
    return c->device >= 0 ? v->options.devices[c->device]->name : "runtime";
}

/** Adds what the operations take together: as they are placed, where each is fastest, and on each device alone. */
static void add_times(const struct nnv_placement *v, struct nnv_text *t) {
    const uint32_t n = v->plan->model->model.main.operation_count;
    const int devices = (int)v->options.device_count;
    double placed = 0, fastest = 0;
    uint32_t moved = 0;
    if (v->us == NULL) return;
    for (uint32_t i = 0; i < n; i++) {
        const double here = nnv_placement_us(v, i, v->choices[0][i].device);
        double least = here;
        for (int d = 0; d < devices; d++) least = fmin(least, nnv_placement_us(v, i, d));
        moved += here > GAIN * least;
        placed += isnan(here) ? 0 : here;
        fastest += isnan(least) ? 0 : least;
    }
    nnv_text_addf(t, "measured, each operation alone: %.4g us as placed, %.4g us where each is fastest (%u would move)",
                  placed, fastest, moved);
    for (int d = 0; d < devices; d++) {
        double all = 0;
        for (uint32_t i = 0; i < n; i++) all += nnv_placement_us(v, i, d);
        if (!isnan(all)) nnv_text_addf(t, ", %.4g us on %s", all, v->options.devices[d]->name);
    }
    nnv_text_add(t, "\n");
}

static void add_operations(const struct nnv_placement *v, struct nnv_text *t) {
    const struct nnvts_subgraph *g = &v->plan->model->model.main;
    nnv_text_addf(t, "\n   op  %-*s%-*s%-*s%6s%s  why not elsewhere\n", FOR_DEVICE, "device", FOR_DEVICE, "operation",
                  FOR_NAMES, "gives", "cost", v->us != NULL ? "        us" : "");
    for (uint32_t i = 0; i < g->operation_count; i++) {
        const struct nnv_rt_choice *c = &v->choices[0][i];
        struct nnv_text cost = {0};
        nnv_text_addf(t, "%5u  ", nnv_placement_added(v, 0, i));
        size_t from = t->len;
        nnv_text_add(t, device_of(v, c));
        pad(t, from, FOR_DEVICE);
        from = t->len;
        nnv_placement_add_operation(g->operations[i].type, t);
        pad(t, from, FOR_DEVICE);
        from = t->len;
        add_result(v, &g->operations[i], t);
        pad(t, from, FOR_NAMES);
        add_cost(&cost, (double)c->cost);
        nnv_text_addf(t, "%6s  ", cost.data ? cost.data : "");
        if (v->us != NULL) nnv_text_addf(t, "%8.3g  ", nnv_placement_us(v, i, c->device));
        nnv_text_free(&cost);
        nnv_placement_why(v, 0, i, t);
        nnv_text_add(t, "\n");
    }
}

void nnv_plan_write_table(const char *name, const struct nnv_placement *v, bool operations, struct nnv_text *out) {
    const struct nnv_placed placed = nnv_placement_count(v);
    nnv_text_addf(out, "%s: %u operations\n", name, v->plan->model->model.main.operation_count);
    for (size_t d = 0; d < v->options.device_count; d++)
        nnv_text_addf(out, "device %zu: %s %s, level %d\n", d, nnv_shown(v->options.devices[d]->name).s,
                      nnv_shown(v->options.devices[d]->version).s, v->options.devices[d]->driver_level);
    for (uint32_t g = 0; g < v->plan->graph_count; g++) {
        const struct nnv_rt_graph *graph = &v->plan->graphs[g];
        if (!graph->planned) continue;
        if (g == 0)
            nnv_text_add(out, "\nmain graph\n");
        else
            nnv_text_addf(out, "\ngraph %u\n", g);
        nnv_text_addf(out, " step  %-*s%-*s%-*s%-*scost\n", FOR_DEVICE, "device", FOR_NAMES, "operations", FOR_OPERANDS,
                      "inputs", FOR_OPERANDS, "outputs");
        for (uint32_t s = 0; s < graph->step_count; s++) add_step(v, g, s, out);
    }
    if (operations) add_operations(v, out);
    nnv_text_addf(out, "\n%u of %u operations on drivers; cost ", placed.on_drivers, placed.operations);
    add_cost(out, graph_cost(v, 0));
    if (!isnan(cpu_cost(v))) nnv_text_addf(out, " (on the CPU reference alone %.4g)", cpu_cost(v));
    nnv_text_addf(out, ", %u values cross, %llu bytes for temporaries\n", nnv_rt_plan_crossings(v->plan),
                  (unsigned long long)pool_bytes(v));
    add_times(v, out);
}

/* --------------------------------------------------------------------- JSON */

static void add_json_operands(const struct nnv_placement *v, uint32_t graph, const char *name, const uint32_t *operands,
                              uint32_t count, struct nnv_json_out *j) {
    nnv_json_open(j, name, '[');
    for (uint32_t i = 0; i < count; i++) nnv_json_uint(j, NULL, operand_added(v, graph, operands[i]));
    nnv_json_close(j, ']');
}

static void add_json_step(const struct nnv_placement *v, uint32_t graph, uint32_t s, struct nnv_json_out *j) {
    static const char *const kinds[] = {"execute", "if", "while"};
    const struct nnvts_subgraph *g = nnv_rt_graph_at(v->plan->model, graph);
    const struct nnv_rt_step *step = &v->plan->graphs[graph].steps[s];
    nnv_json_open(j, NULL, '{');
    nnv_json_string(j, "kind", kinds[step->kind]);
    nnv_json_string(j, "device", step->device != NULL ? step->device->name : NULL);
    nnv_json_open(j, "operations", '[');
    for (uint32_t i = 0; i < step->operation_count; i++) {
        nnv_json_open(j, NULL, '{');
        nnv_json_uint(j, "index", nnv_placement_added(v, graph, step->operations[i]));
        nnv_json_raw(j, "type", "\"");
        nnv_placement_add_operation(g->operations[step->operations[i]].type, j->text);
        nnv_text_add(j->text, "\"");
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, ']');
    add_json_operands(v, graph, "inputs", step->inputs, step->input_count, j);
    add_json_operands(v, graph, "outputs", step->outputs, step->output_count, j);
    if (step->kind != NNV_RT_EXECUTE) nnv_json_raw(j, "graphs", "[%u,%u]", step->graphs[0], step->graphs[1]);
    nnv_json_double(j, "cost", step_cost(v, graph, step));
    nnv_json_close(j, '}');
}

static void add_json_operations(const struct nnv_placement *v, struct nnv_json_out *j) {
    const struct nnvts_subgraph *g = &v->plan->model->model.main;
    nnv_json_open(j, "operations", '[');
    for (uint32_t i = 0; i < g->operation_count; i++) {
        const struct nnv_rt_choice *c = &v->choices[0][i];
        struct nnv_text type = {0}, why = {0}, gives = {0};
        nnv_placement_add_operation(g->operations[i].type, &type);
        nnv_placement_why(v, 0, i, &why);
        add_result(v, &g->operations[i], &gives);
        nnv_json_open(j, NULL, '{');
        nnv_json_uint(j, "index", nnv_placement_added(v, 0, i));
        nnv_json_string(j, "type", type.data);
        nnv_json_string(j, "gives", gives.data);
        nnv_json_string(j, "device", device_of(v, c));
        nnv_json_double(j, "cost", (double)c->cost);
        if (v->us != NULL) nnv_json_open(j, "us", '[');
        for (int d = 0; v->us != NULL && d < (int)v->options.device_count; d++)
            nnv_json_double(j, NULL, nnv_placement_us(v, i, d));
        if (v->us != NULL) nnv_json_close(j, ']');
        nnv_json_string(j, "why", why.data);
        nnv_json_close(j, '}');
        nnv_text_free(&type);
        nnv_text_free(&why);
        nnv_text_free(&gives);
    }
    nnv_json_close(j, ']');
}

void nnv_plan_write_json(const char *name, const struct nnv_placement *v, struct nnv_json_out *j) {
    const struct nnv_placed placed = nnv_placement_count(v);
    nnv_json_string(j, "spec", name);
    nnv_json_open(j, "devices", '[');
    for (size_t d = 0; d < v->options.device_count; d++) nnv_json_string(j, NULL, v->options.devices[d]->name);
    nnv_json_close(j, ']');
    nnv_json_bool(j, "simple", v->plan->simple);
    nnv_json_double(j, "cost", graph_cost(v, 0));
    nnv_json_uint(j, "crossings", nnv_rt_plan_crossings(v->plan));
    nnv_json_uint(j, "pool_bytes", pool_bytes(v));
    nnv_json_open(j, "placed", '{');
    nnv_json_uint(j, "operations", placed.operations);
    nnv_json_uint(j, "on_drivers", placed.on_drivers);
    nnv_json_close(j, '}');
    add_json_operations(v, j);
    nnv_json_open(j, "graphs", '[');
    for (uint32_t g = 0; g < v->plan->graph_count; g++) {
        const struct nnv_rt_graph *graph = &v->plan->graphs[g];
        if (!graph->planned) continue;
        nnv_json_open(j, NULL, '{');
        nnv_json_uint(j, "graph", g);
        nnv_json_uint(j, "crossings", graph->crossings);
        nnv_json_uint(j, "dynamic", graph->dynamic_count);
        nnv_json_uint(j, "pool_bytes", graph->pool_bytes);
        nnv_json_open(j, "steps", '[');
        for (uint32_t s = 0; s < graph->step_count; s++) add_json_step(v, g, s, j);
        nnv_json_close(j, ']');
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, ']');
}
