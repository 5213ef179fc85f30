/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan_check.c Rules of plans: steps, their order, and what crosses their borders. */
#include "harness/suites/partition/plan_check.h"

#include <stdarg.h>
#include <string.h>

enum { MOST_LINES = 6 };

bool nnv_plan_broken(struct nnv_plan_checking *c, const char *fmt, ...) {
    va_list ap;
    if (c->broken++ >= MOST_LINES) return false;
    if (c->out->len) nnv_text_add(c->out, "\n");
    va_start(ap, fmt);
    nnv_text_vaddf(c->out, fmt, ap);
    va_end(ap);
    return false;
}

/* One graph of a plan. */
struct walk {
    struct nnv_plan_checking *c;
    uint32_t index;
    const struct nnv_rt_graph *graph;
    const struct nnvts_subgraph *s;
    uint32_t *step_of; /* one an operation: its step; step_count: none */
    uint32_t *writer;  /* one an operand: the operation that writes it; operation_count: none */
};

/* ------------------------------------------------------------------ operations */

static bool find_steps(struct walk *w) {
    const uint32_t nops = w->s->operation_count, nsteps = w->graph->step_count;
    bool ok = true;
    for (uint32_t i = 0; i < nops; i++) w->step_of[i] = nsteps;
    for (uint32_t i = 0; i < nsteps; i++) {
        const struct nnv_rt_step *step = &w->graph->steps[i];
        if (step->operation_count == 0) ok = nnv_plan_broken(w->c, "graph %u: step %u is empty", w->index, i);
        for (uint32_t k = 0; k < step->operation_count; k++) {
            const uint32_t op = step->operations[k];
            if (op >= nops)
                return nnv_plan_broken(w->c, "graph %u: step %u names operation %u of %u", w->index, i, op, nops);
            if (w->step_of[op] != nsteps)
                ok = nnv_plan_broken(w->c, "graph %u: operation %u is in steps %u and %u", w->index, op, w->step_of[op],
                                     i);
            w->step_of[op] = i;
        }
    }
    for (uint32_t i = 0; i < nops; i++)
        if (w->step_of[i] == nsteps) ok = nnv_plan_broken(w->c, "graph %u: operation %u is in no step", w->index, i);
    return ok;
}

static void find_writers(struct walk *w) {
    for (uint32_t i = 0; i < w->s->operand_count; i++) w->writer[i] = w->s->operation_count;
    for (uint32_t i = 0; i < w->s->operation_count; i++)
        for (uint32_t k = 0; k < w->s->operations[i].output_count; k++) w->writer[w->s->operations[i].outputs[k]] = i;
}

/* In the order of the steps, and of the operations within them, each value is written before it is read. */
static void check_order(const struct walk *w) {
    const uint32_t nops = w->s->operation_count;
    bool *done = NNV_NEW(w->c->arena, bool, nops);
    if (!done) return;
    for (uint32_t i = 0; i < w->graph->step_count; i++) {
        const struct nnv_rt_step *step = &w->graph->steps[i];
        for (uint32_t k = 0; k < step->operation_count; k++) {
            const struct nnvts_operation *op = &w->s->operations[step->operations[k]];
            for (uint32_t n = 0; n < op->input_count; n++) {
                const uint32_t from = w->writer[op->inputs[n]];
                if (from < nops && !done[from])
                    nnv_plan_broken(w->c,
                                    "graph %u: operation %u of step %u reads operand %u before operation %u writes it",
                                    w->index, step->operations[k], i, op->inputs[n], from);
            }
            done[step->operations[k]] = true;
        }
    }
}

static void check_neighbours(const struct walk *w) {
    for (uint32_t i = 0; i + 1 < w->graph->step_count; i++) {
        const struct nnv_rt_step *a = &w->graph->steps[i], *b = a + 1;
        if (a->kind == NNV_RT_EXECUTE && b->kind == NNV_RT_EXECUTE && a->device == b->device)
            nnv_plan_broken(w->c, "graph %u: steps %u and %u, both of %s, could be one", w->index, i, i + 1,
                            a->device->name);
    }
}

/* --------------------------------------------------------------------- borders */

static bool is_in(const uint32_t *list, uint32_t count, uint32_t value) {
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == value) return true;
    return false;
}

static bool is_value(const struct nnvts_operand *o) {
    return o->lifetime == NNVTS_TEMPORARY_VARIABLE || o->lifetime == NNVTS_SUBGRAPH_INPUT ||
           o->lifetime == NNVTS_SUBGRAPH_OUTPUT;
}

/* A line for each difference of two lists without order. */
static void check_list(const struct walk *w, uint32_t step, const char *what, const uint32_t *got, uint32_t ngot,
                       const bool *due) {
    for (uint32_t i = 0; i < ngot; i++)
        if (got[i] >= w->s->operand_count || !due[got[i]])
            nnv_plan_broken(w->c, "graph %u: operand %u is an %s of step %u, but does not cross its border", w->index,
                            got[i], what, step);
        else if (is_in(got, i, got[i]))
            nnv_plan_broken(w->c, "graph %u: operand %u is an %s of step %u twice", w->index, got[i], what, step);
    for (uint32_t i = 0; i < w->s->operand_count; i++)
        if (due[i] && !is_in(got, ngot, i))
            nnv_plan_broken(w->c, "graph %u: operand %u crosses the border of step %u, but is no %s of it", w->index, i,
                            step, what);
}

/* What a step of a device reads that others write, or the graph's caller; and what it writes that others read. */
static void check_borders(const struct walk *w, uint32_t index) {
    const struct nnv_rt_step *step = &w->graph->steps[index];
    const uint32_t nops = w->s->operation_count;
    bool *in = NNV_NEW(w->c->arena, bool, w->s->operand_count), *out = NNV_NEW(w->c->arena, bool, w->s->operand_count);
    if (!in || !out) return;
    for (uint32_t i = 0; i < nops; i++) {
        const struct nnvts_operation *op = &w->s->operations[i];
        const bool mine = w->step_of[i] == index;
        for (uint32_t k = 0; k < op->input_count; k++) {
            const uint32_t from = w->writer[op->inputs[k]];
            const bool written_here = from < nops && w->step_of[from] == index;
            if (mine && !written_here && is_value(&w->s->operands[op->inputs[k]])) in[op->inputs[k]] = true;
            if (!mine && written_here) out[op->inputs[k]] = true;
        }
        for (uint32_t k = 0; k < op->output_count; k++)
            if (mine && w->s->operands[op->outputs[k]].lifetime == NNVTS_SUBGRAPH_OUTPUT) out[op->outputs[k]] = true;
    }
    for (uint32_t i = 0; w->c->plan->simple && i < w->s->input_count; i++) in[w->s->inputs[i]] = true;
    check_list(w, index, "input", step->inputs, step->input_count, in);
    check_list(w, index, "output", step->outputs, step->output_count, out);
    if (!w->c->plan->simple && (step->input_count == 0 || step->output_count == 0))
        nnv_plan_broken(w->c, "graph %u: step %u has %u inputs and %u outputs", w->index, index, step->input_count,
                        step->output_count);
}

static bool same(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb) {
    return na == nb && (na == 0 || memcmp(a, b, na * sizeof *a) == 0);
}

static uint32_t graph_of(const struct walk *w, const struct nnvts_operation *op, uint32_t input) {
    return nnv_rt_graph_of(&w->s->operands[op->inputs[input]]);
}

/* An IF or WHILE that the runtime walks through: its lists are the operation's. */
static void check_control(const struct walk *w, uint32_t index) {
    const struct nnv_rt_step *step = &w->graph->steps[index];
    const struct nnvts_operation *op = &w->s->operations[step->operations[0]];
    const bool is_if = step->kind == NNV_RT_IF;
    const uint32_t passed = is_if ? 3 : 2, first = is_if ? 1 : 0;
    const int32_t code = is_if ? ANEURALNETWORKS_IF : ANEURALNETWORKS_WHILE;
    if (step->operation_count != 1 || op->type != code) {
        nnv_plan_broken(w->c, "graph %u: step %u is no %s", w->index, index, is_if ? "IF" : "WHILE");
        return;
    }
    if (!same(step->inputs, step->input_count, op->inputs + passed, op->input_count - passed) ||
        !same(step->outputs, step->output_count, op->outputs, op->output_count) ||
        (is_if && step->condition != op->inputs[0]))
        nnv_plan_broken(w->c, "graph %u: step %u passes other operands than operation %u names", w->index, index,
                        step->operations[0]);
    for (uint32_t i = 0; i < 2; i++) {
        if (step->graphs[i] != graph_of(w, op, first + i))
            nnv_plan_broken(w->c, "graph %u: step %u runs graph %u, operation %u names graph %u", w->index, index,
                            step->graphs[i], step->operations[0], graph_of(w, op, first + i));
        else if (!w->c->plan->graphs[step->graphs[i]].planned)
            nnv_plan_broken(w->c, "graph %u: step %u runs graph %u, which has no plan", w->index, index,
                            step->graphs[i]);
    }
}

/* ------------------------------------------------------------------------ plans */

static void check_graph(struct nnv_plan_checking *c, uint32_t index) {
    struct walk w = {
        .c = c, .index = index, .graph = &c->plan->graphs[index], .s = nnv_rt_graph_at(c->plan->model, index)};
    w.step_of = NNV_NEW(c->arena, uint32_t, w.s->operation_count);
    w.writer = NNV_NEW(c->arena, uint32_t, w.s->operand_count);
    if (!w.step_of || !w.writer) {
        nnv_plan_broken(c, NNV_OUT_OF_MEMORY);
        return;
    }
    if (!find_steps(&w)) return;
    find_writers(&w);
    check_order(&w);
    check_neighbours(&w);
    for (uint32_t i = 0; i < w.graph->step_count; i++) {
        if (w.graph->steps[i].kind != NNV_RT_EXECUTE) {
            check_control(&w, i);
            continue;
        }
        check_borders(&w, i);
        nnv_plan_check_model(c, index, i);
    }
    nnv_plan_check_places(c, index);
    nnv_plan_check_devices(c, index);
}

static void check_simple(struct nnv_plan_checking *c) {
    const struct nnv_rt_graph *g = &c->plan->graphs[0];
    const bool one = g->step_count == 1 && g->steps[0].kind == NNV_RT_EXECUTE;
    if (c->plan->simple != one)
        nnv_plan_broken(c, "the plan is %s, and has %u steps", c->plan->simple ? "simple" : "not simple",
                        g->step_count);
    if (c->plan->on_cpu != (c->plan->simple && one && g->steps[0].device->is_cpu))
        nnv_plan_broken(c, "the plan says that it is %son the CPU alone", c->plan->on_cpu ? "" : "not ");
}

bool nnv_plan_check(const struct nnv_rt_plan *plan, const struct nnv_plan_rules *rules, struct nnv_arena *arena,
                    struct nnv_text *out) {
    struct nnv_plan_checking c = {plan, rules, arena, out, 0};
    if (plan->graph_count != nnv_rt_graph_count(plan->model) || !plan->graphs[0].planned)
        return nnv_plan_broken(&c, "the plan has %u graphs, the model has %u", plan->graph_count,
                               nnv_rt_graph_count(plan->model));
    check_simple(&c);
    for (uint32_t i = 0; i < plan->graph_count; i++)
        if (plan->graphs[i].planned) check_graph(&c, i);
    return c.broken == 0;
}

static void add_list(struct nnv_text *out, const char *what, const uint32_t *list, uint32_t count) {
    nnv_text_addf(out, " %s", what);
    for (uint32_t i = 0; i < count; i++) nnv_text_addf(out, "%c%u", i ? ',' : ' ', list[i]);
}

void nnv_plan_describe(const struct nnv_rt_plan *plan, struct nnv_text *out) {
    for (uint32_t g = 0; g < plan->graph_count; g++) {
        const struct nnv_rt_graph *graph = &plan->graphs[g];
        for (uint32_t i = 0; graph->planned && i < graph->step_count; i++) {
            const struct nnv_rt_step *step = &graph->steps[i];
            const bool execute = step->kind == NNV_RT_EXECUTE;
            nnv_text_addf(out, "\n  graph %u step %u: %s", g, i,
                          execute                      ? step->device->name
                          : step->kind == NNV_RT_WHILE ? "WHILE"
                                                       : "IF");
            if (!execute) nnv_text_addf(out, " of graphs %u, %u", step->graphs[0], step->graphs[1]);
            add_list(out, "does", step->operations, step->operation_count);
            add_list(out, "from", step->inputs, step->input_count);
            add_list(out, "to", step->outputs, step->output_count);
        }
    }
}
