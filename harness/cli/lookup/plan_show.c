/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "harness/cli/lookup/plan_show.h"

#include <float.h>
#include <math.h>

#include "reference/model/op.h"

enum { MOST_NAMES = 4, MOST_OPERANDS = 6 };

void nnv_plan_add_operation(int32_t type, struct nnv_text *out) {
    const struct nnv_op *op = nnv_op(type);
    if (op != NULL)
        nnv_text_add(out, op->name);
    else
        nnv_text_addf(out, "operation %d", type);
}

/** As the application numbered it: in the main graph, operations stand in run order. */
static uint32_t added(const struct nnv_plan_view *v, uint32_t graph, uint32_t operation) {
    const uint32_t *numbers = v->plan->model->info[graph].added;
    return numbers != NULL ? numbers[operation] : operation;
}

static uint32_t operand_added(const struct nnv_plan_view *v, uint32_t graph, uint32_t operand) {
    const uint32_t *numbers = v->plan->model->info[graph].operand_added;
    return numbers != NULL ? numbers[operand] : operand;
}

/* -------------------------------------------------------------------- costs */

static double graph_cost(const struct nnv_plan_view *v, uint32_t graph);

/** Of what the runtime walks through: as an IF or WHILE of the CPU, with what its graphs cost where they run. */
static double step_cost(const struct nnv_plan_view *v, uint32_t graph, const struct nnv_rt_step *step) {
    double cost = 0;
    if (step->kind != NNV_RT_EXECUTE) {
        double below = graph_cost(v, step->graphs[0]) + graph_cost(v, step->graphs[1]);
        return 1 + (step->kind == NNV_RT_IF ? 0.5 * below : below);
    }
    for (uint32_t i = 0; i < step->operation_count; i++) cost += (double)v->choices[graph][step->operations[i]].cost;
    return cost;
}

static double graph_cost(const struct nnv_plan_view *v, uint32_t graph) {
    double cost = 0;
    for (uint32_t s = 0; s < v->plan->graphs[graph].step_count; s++)
        cost += step_cost(v, graph, &v->plan->graphs[graph].steps[s]);
    return cost;
}

/** Of the main graph on the CPU reference alone; NaN: it does not do it all, or is not there. */
static double cpu_cost(const struct nnv_plan_view *v) {
    double cost = 0;
    size_t cpu = 0;
    while (cpu < v->options->device_count && !v->options->devices[cpu]->is_cpu) cpu++;
    if (cpu == v->options->device_count) return NAN;
    for (uint32_t i = 0; i < v->plan->model->model.main.operation_count; i++)
        cost += (double)v->choices[0][i].costs[cpu];
    return cost;
}

static uint64_t pool_bytes(const struct nnv_plan_view *v) {
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
static void add_names(const struct nnv_plan_view *v, uint32_t graph, const struct nnv_rt_step *step,
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
        nnv_plan_add_operation(types[k], t);
        if (counts[k] > 1) nnv_text_addf(t, " x %u", counts[k]);
    }
    if (rest > 0) nnv_text_addf(t, ", %u more", rest);
}

/** "%0 %5": operands by the spec's numbers. */
static void add_operands(const struct nnv_plan_view *v, uint32_t graph, const uint32_t *operands, uint32_t count,
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

static void add_step(const struct nnv_plan_view *v, uint32_t graph, uint32_t s, struct nnv_text *t) {
    const struct nnv_rt_step *step = &v->plan->graphs[graph].steps[s];
    nnv_text_addf(t, "%5u  ", s);
    size_t from = t->len;
    if (step->kind == NNV_RT_EXECUTE)
        nnv_text_add(t, step->device->name);
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

void nnv_plan_write_table(const struct nnv_plan_view *v, struct nnv_text *out) {
    nnv_text_addf(out, "%s: %u operations\n", v->name, v->plan->model->model.main.operation_count);
    for (size_t d = 0; d < v->options->device_count; d++)
        nnv_text_addf(out, "device %zu: %s %s, level %d\n", d, v->options->devices[d]->name,
                      v->options->devices[d]->version, v->options->devices[d]->driver_level);
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
    nnv_text_add(out, "\ncost ");
    add_cost(out, graph_cost(v, 0));
    if (!isnan(cpu_cost(v))) nnv_text_addf(out, " (on the CPU reference alone %.4g)", cpu_cost(v));
    nnv_text_addf(out, ", %u values cross, %llu bytes for temporaries\n", nnv_rt_plan_crossings(v->plan),
                  (unsigned long long)pool_bytes(v));
}

/* --------------------------------------------------------------------- JSON */

static void add_json_operands(const struct nnv_plan_view *v, uint32_t graph, const char *name, const uint32_t *operands,
                              uint32_t count, struct nnv_json_out *j) {
    nnv_json_open(j, name, '[');
    for (uint32_t i = 0; i < count; i++) nnv_json_uint(j, NULL, operand_added(v, graph, operands[i]));
    nnv_json_close(j, ']');
}

static void add_json_step(const struct nnv_plan_view *v, uint32_t graph, uint32_t s, struct nnv_json_out *j) {
    static const char *const kinds[] = {"execute", "if", "while"};
    const struct nnvts_subgraph *g = nnv_rt_graph_at(v->plan->model, graph);
    const struct nnv_rt_step *step = &v->plan->graphs[graph].steps[s];
    nnv_json_open(j, NULL, '{');
    nnv_json_string(j, "kind", kinds[step->kind]);
    nnv_json_string(j, "device", step->device != NULL ? step->device->name : NULL);
    nnv_json_open(j, "operations", '[');
    for (uint32_t i = 0; i < step->operation_count; i++) {
        nnv_json_open(j, NULL, '{');
        nnv_json_uint(j, "index", added(v, graph, step->operations[i]));
        nnv_json_raw(j, "type", "\"");
        nnv_plan_add_operation(g->operations[step->operations[i]].type, j->text);
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

void nnv_plan_write_json(const struct nnv_plan_view *v, struct nnv_text *out) {
    struct nnv_json_out j = {.text = out};
    nnv_json_open(&j, NULL, '{');
    nnv_json_string(&j, "spec", v->name);
    nnv_json_open(&j, "devices", '[');
    for (size_t d = 0; d < v->options->device_count; d++) nnv_json_string(&j, NULL, v->options->devices[d]->name);
    nnv_json_close(&j, ']');
    nnv_json_bool(&j, "simple", v->plan->simple);
    nnv_json_double(&j, "cost", graph_cost(v, 0));
    nnv_json_uint(&j, "crossings", nnv_rt_plan_crossings(v->plan));
    nnv_json_uint(&j, "pool_bytes", pool_bytes(v));
    nnv_json_open(&j, "graphs", '[');
    for (uint32_t g = 0; g < v->plan->graph_count; g++) {
        const struct nnv_rt_graph *graph = &v->plan->graphs[g];
        if (!graph->planned) continue;
        nnv_json_open(&j, NULL, '{');
        nnv_json_uint(&j, "graph", g);
        nnv_json_uint(&j, "crossings", graph->crossings);
        nnv_json_uint(&j, "dynamic", graph->dynamic_count);
        nnv_json_uint(&j, "pool_bytes", graph->pool_bytes);
        nnv_json_open(&j, "steps", '[');
        for (uint32_t s = 0; s < graph->step_count; s++) add_json_step(v, g, s, &j);
        nnv_json_close(&j, ']');
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, ']');
    nnv_json_close(&j, '}');
    nnv_text_add(out, "\n");
}
