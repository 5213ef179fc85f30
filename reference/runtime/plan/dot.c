/* SPDX-License-Identifier: Apache-2.0 */
/** @file dot.c A plan for Graphviz: operations coloured by device, steps and graphs as frames. */
#include "base/text.h"
#include "reference/model/op.h"
#include "reference/runtime/plan/planning.h"

static const char *const colours[] = {"#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462",
                                      "#b3de69", "#fccde5", "#bc80bd", "#ccebc5", "#ffed6f"};
enum { COLOURS = sizeof colours / sizeof *colours };
static const char grey[] = "#d9d9d9"; /**< the CPU reference, and what the runtime does itself */

struct drawing {
    const struct nnv_rt_plan *plan;
    struct nnv_text *t;
    struct nnv_arena *arena;
    struct ANeuralNetworksDevice **devices; /**< other than the CPU, as they are met */
    uint32_t device_count;
    uint32_t *step_of; /**< of the graph being drawn, one an operation */
};

static const char *colour_of(struct drawing *d, struct ANeuralNetworksDevice *device) {
    if (device == NULL || device->is_cpu) return grey;
    uint32_t i = 0;
    while (i < d->device_count && d->devices[i] != device) i++;
    if (i == d->device_count && i == COLOURS) return colours[COLOURS - 1];
    if (i == d->device_count) d->devices[d->device_count++] = device;
    return colours[i % COLOURS];
}

static void add_name(struct nnv_text *t, int32_t type) {
    const struct nnv_op *op = nnv_op(type);
    if (op != NULL)
        nnv_text_add(t, op->name);
    else
        nnv_text_addf(t, "operation %d", type);
}

static void add_step(struct drawing *d, uint32_t graph, uint32_t s) {
    const struct nnvts_subgraph *g = nnv_rt_graph_at(d->plan->model, graph);
    const struct nnv_rt_step *step = &d->plan->graphs[graph].steps[s];
    nnv_text_addf(d->t, "    subgraph cluster_g%u_s%u {\n      label=\"step %u: ", graph, s, s);
    nnv_text_add_dot(d->t, step->device != NULL ? step->device->name : "the runtime");
    nnv_text_add(d->t, "\"; color=\"#888888\";\n");
    for (uint32_t k = 0; k < step->operation_count; k++) {
        uint32_t i = step->operations[k];
        d->step_of[i] = s;
        nnv_text_addf(d->t, "      g%u_n%u [label=\"%u ", graph, i, i);
        add_name(d->t, g->operations[i].type);
        nnv_text_addf(d->t, "\", fillcolor=\"%s\"];\n", colour_of(d, step->device));
    }
    nnv_text_add(d->t, "    }\n");
}

/** Edges from writers to readers; those that pass from step to step are drawn thick. */
static void add_edges(struct drawing *d, uint32_t graph, const uint32_t *producer) {
    const struct nnvts_subgraph *g = nnv_rt_graph_at(d->plan->model, graph);
    for (uint32_t i = 0; i < g->operation_count; i++) {
        const struct nnvts_operation *op = &g->operations[i];
        for (uint32_t k = 0; k < op->input_count; k++) {
            uint32_t o = op->inputs[k], p = producer[o];
            if (p != UINT32_MAX)
                nnv_text_addf(d->t, "    g%u_n%u -> g%u_n%u [label=\"%%%u\"%s];\n", graph, p, graph, i, o,
                              d->step_of[p] != d->step_of[i] ? ", penwidth=2, color=\"#cc0000\"" : "");
            else if (g->operands[o].lifetime == NNVTS_SUBGRAPH_INPUT)
                nnv_text_addf(d->t, "    g%u_o%u -> g%u_n%u;\n", graph, o, graph, i);
        }
        for (uint32_t k = 0; k < op->output_count; k++)
            if (g->operands[op->outputs[k]].lifetime == NNVTS_SUBGRAPH_OUTPUT)
                nnv_text_addf(d->t, "    g%u_n%u -> g%u_o%u;\n", graph, i, graph, op->outputs[k]);
    }
}

/** From each IF and WHILE to the graphs that it runs. */
static void add_references(struct drawing *d, uint32_t graph) {
    static const char *const names[2][2] = {{"then", "else"}, {"condition", "body"}};
    for (uint32_t s = 0; s < d->plan->graphs[graph].step_count; s++) {
        const struct nnv_rt_step *step = &d->plan->graphs[graph].steps[s];
        for (int i = 0; i < 2 && step->kind != NNV_RT_EXECUTE; i++)
            nnv_text_addf(d->t, "  g%u_n%u -> g%u [style=dashed, label=\"%s\"];\n", graph, step->operations[0],
                          step->graphs[i], names[step->kind == NNV_RT_WHILE][i]);
    }
}

static int add_graph(struct drawing *d, uint32_t graph) {
    const struct nnvts_subgraph *g = nnv_rt_graph_at(d->plan->model, graph);
    const struct nnv_rt_graph *plan = &d->plan->graphs[graph];
    uint32_t *producer = NNV_NEW(d->arena, uint32_t, g->operand_count);
    d->step_of = NNV_NEW(d->arena, uint32_t, g->operation_count);
    if (producer == NULL || d->step_of == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < g->operand_count; i++) producer[i] = UINT32_MAX;
    for (uint32_t i = 0; i < g->operation_count; i++)
        for (uint32_t k = 0; k < g->operations[i].output_count; k++) producer[g->operations[i].outputs[k]] = i;
    nnv_text_addf(d->t, "  subgraph cluster_g%u {\n", graph);
    nnv_text_addf(d->t, "    g%u [shape=plaintext, style=\"\", label=\"graph %u%s\"];\n", graph, graph,
                  graph == 0 ? " (main)" : "");
    for (uint32_t i = 0; i < g->input_count; i++)
        nnv_text_addf(d->t, "    g%u_o%u [shape=ellipse, fillcolor=white, label=\"input %u\"];\n", graph, g->inputs[i],
                      i);
    for (uint32_t i = 0; i < g->output_count; i++)
        nnv_text_addf(d->t, "    g%u_o%u [shape=ellipse, fillcolor=white, label=\"output %u\"];\n", graph,
                      g->outputs[i], i);
    for (uint32_t s = 0; s < plan->step_count; s++) add_step(d, graph, s);
    add_edges(d, graph, producer);
    nnv_text_add(d->t, "  }\n");
    add_references(d, graph);
    return ANEURALNETWORKS_NO_ERROR;
}

int nnv_rt_plan_dot(const struct nnv_rt_plan *plan, struct nnv_text *out) {
    struct drawing d = {.plan = plan, .t = out, .arena = nnv_arena_new()};
    int result = ANEURALNETWORKS_OUT_OF_MEMORY;
    if (d.arena == NULL) return result;
    d.devices = NNV_NEW(d.arena, struct ANeuralNetworksDevice *, COLOURS);
    if (d.devices == NULL) goto out;
    nnv_text_add(out, "digraph plan {\n  node [shape=box, style=filled];\n");
    result = ANEURALNETWORKS_NO_ERROR;
    for (uint32_t graph = 0; result == ANEURALNETWORKS_NO_ERROR && graph < plan->graph_count; graph++)
        if (plan->graphs[graph].planned) result = add_graph(&d, graph);
    nnv_text_add(out, "}\n");
    if (out->failed) result = ANEURALNETWORKS_OUT_OF_MEMORY;
out:
    nnv_arena_free(d.arena);
    return result;
}
