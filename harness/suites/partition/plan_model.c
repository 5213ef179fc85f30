/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan_model.c A step's model against the part of the graph that it stands for. */
#include <string.h>

#include "harness/suites/partition/plan_check.h"
#include "reference/abi/import.h"

static const uint32_t nobody = UINT32_MAX;

/* A step's model beside its graph. */
struct pair {
    struct nnv_plan_checking *c;
    uint32_t graph, index;
    const struct nnvts_model *whole;
    const struct nnvts_subgraph *s;
    const struct nnv_rt_step *step;
    const struct nnvts_subgraph *part; /* the step's */
    uint32_t *stands_for;              /* one an operand of part: of the graph; nobody: not yet known */
};

static bool same_operand(const struct nnvts_operand *a, const struct nnvts_operand *b) {
    return a->type == b->type && a->dimension_count == b->dimension_count &&
           (a->dimension_count == 0 ||
            memcmp(a->dimensions, b->dimensions, a->dimension_count * sizeof *a->dimensions) == 0) &&
           a->scale == b->scale && a->zero_point == b->zero_point &&
           a->channel_quant.scale_count == b->channel_quant.scale_count;
}

static bool is_constant(const struct nnvts_operand *o) {
    return o->lifetime == NNVTS_CONSTANT_COPY || o->lifetime == NNVTS_CONSTANT_REFERENCE;
}

/* Operand `mine` of the part stands where the graph has `theirs`, always the same one. */
static bool check_operand(struct pair *p, uint32_t mine, uint32_t theirs) {
    if (mine >= p->part->operand_count)
        return nnv_plan_broken(p->c, "graph %u: the model of step %u has no operand %u", p->graph, p->index, mine);
    const struct nnvts_operand *a = &p->part->operands[mine], *b = &p->s->operands[theirs];
    if (p->stands_for[mine] == theirs) return true;
    if (p->stands_for[mine] != nobody)
        return nnv_plan_broken(p->c, "graph %u: operand %u of the model of step %u stands for operands %u and %u",
                               p->graph, mine, p->index, p->stands_for[mine], theirs);
    p->stands_for[mine] = theirs;
    if (!same_operand(a, b))
        return nnv_plan_broken(p->c, "graph %u: operand %u is another one in the model of step %u", p->graph, theirs,
                               p->index);
    if (is_constant(a) != is_constant(b) || (a->lifetime == NNVTS_NO_VALUE) != (b->lifetime == NNVTS_NO_VALUE) ||
        (a->lifetime == NNVTS_SUBGRAPH) != (b->lifetime == NNVTS_SUBGRAPH))
        return nnv_plan_broken(p->c, "graph %u: operand %u has lifetime %u in the model of step %u", p->graph, theirs,
                               a->lifetime, p->index);
    if (!is_constant(a)) return true;
    const void *value = ref_constant(&p->step->model, a), *due = ref_constant(p->whole, b);
    if (!value || !due || a->location.length != b->location.length || memcmp(value, due, b->location.length) != 0)
        return nnv_plan_broken(p->c, "graph %u: constant %u has another value in the model of step %u", p->graph,
                               theirs, p->index);
    return true;
}

static bool check_operands(struct pair *p, const uint32_t *mine, uint32_t nmine, const uint32_t *theirs,
                           uint32_t ntheirs, const char *what) {
    if (nmine != ntheirs)
        return nnv_plan_broken(p->c, "graph %u: the model of step %u has %u %s instead of %u", p->graph, p->index,
                               nmine, what, ntheirs);
    for (uint32_t i = 0; i < nmine; i++)
        if (theirs[i] < p->s->operand_count && !check_operand(p, mine[i], theirs[i])) return false;
    return true;
}

/* No operand of the graph is two of the part. */
static void check_unique(struct pair *p) {
    uint32_t *mine = NNV_NEW(p->c->arena, uint32_t, p->s->operand_count);
    for (uint32_t i = 0; mine && i < p->part->operand_count; i++) {
        const uint32_t theirs = p->stands_for[i];
        if (theirs == nobody) continue;
        if (mine[theirs] && !is_constant(&p->s->operands[theirs]))
            nnv_plan_broken(p->c, "graph %u: operand %u is two operands of the model of step %u", p->graph, theirs,
                            p->index);
        mine[theirs] = 1;
    }
}

void nnv_plan_check_model(struct nnv_plan_checking *c, uint32_t graph, uint32_t index) {
    struct pair p = {.c = c,
                     .graph = graph,
                     .index = index,
                     .whole = &c->plan->model->model,
                     .s = nnv_rt_graph_at(c->plan->model, graph),
                     .step = &c->plan->graphs[graph].steps[index]};
    p.part = &p.step->model.main;
    p.stands_for = NNV_NEW(c->arena, uint32_t, p.part->operand_count);
    if (!p.stands_for) return;
    memset(p.stands_for, 0xff, p.part->operand_count * sizeof *p.stands_for);
    if (p.part->operation_count != p.step->operation_count) {
        nnv_plan_broken(c, "graph %u: the model of step %u has %u operations instead of %u", graph, index,
                        p.part->operation_count, p.step->operation_count);
        return;
    }
    if (p.step->model.relax_float32_to_float16 != p.whole->relax_float32_to_float16)
        nnv_plan_broken(c, "graph %u: the model of step %u is relaxed otherwise than the whole", graph, index);
    bool ok =
        check_operands(&p, p.part->inputs, p.part->input_count, p.step->inputs, p.step->input_count, "inputs") &&
        check_operands(&p, p.part->outputs, p.part->output_count, p.step->outputs, p.step->output_count, "outputs");
    for (uint32_t i = 0; ok && i < p.part->operation_count; i++) {
        const struct nnvts_operation *mine = &p.part->operations[i], *theirs = &p.s->operations[p.step->operations[i]];
        if (mine->type != theirs->type)
            nnv_plan_broken(c, "graph %u: operation %u has type %d in the model of step %u", graph,
                            p.step->operations[i], (int)mine->type, index);
        ok = check_operands(&p, mine->inputs, mine->input_count, theirs->inputs, theirs->input_count,
                            "inputs of an operation") &&
             check_operands(&p, mine->outputs, mine->output_count, theirs->outputs, theirs->output_count,
                            "outputs of an operation");
    }
    if (ok) check_unique(&p);
}
