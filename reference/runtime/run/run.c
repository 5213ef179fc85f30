/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/run/run.h"

#include <string.h>

static const struct nnvts_operand *operand_at(const struct nnv_rt_activation *a, uint32_t i) {
    return &a->subgraph->operands[i];
}

/* -------------------------------------------------------------- making it ready */

static bool frame_new(struct nnv_rt_activation *a) {
    struct nnv_rt_frame *f = &a->frame;
    uint32_t ins = 0, outs = 0;
    for (uint32_t i = 0; i < a->graph->step_count; i++) {
        const struct nnv_rt_step *s = &a->graph->steps[i];
        if (s->kind != NNV_RT_EXECUTE) continue;
        if (s->input_count > ins) ins = s->input_count;
        if (s->output_count > outs) outs = s->output_count;
    }
    const size_t all = (size_t)ins + outs;
    f->inputs = NNV_NEW(a->arena, struct nnvts_argument, all);
    f->pools = NNV_NEW(a->arena, struct nnvts_memory, all);
    f->memories = NNV_NEW(a->arena, const struct ANeuralNetworksMemory *, all);
    f->tokens = NNV_NEW(a->arena, int64_t, all);
    f->shapes = NNV_NEW(a->arena, struct nnvts_output_shape, outs);
    f->dims = NNV_NEW(a->arena, uint32_t, (size_t)outs * NNV_MAX_RANK);
    f->in_value = NNV_NEW(a->arena, struct nnv_rt_value *, all);
    if (!f->inputs || !f->pools || !f->memories || !f->tokens || !f->shapes || !f->dims || !f->in_value) return false;
    f->outputs = f->inputs + ins;
    f->out_value = f->in_value + ins;
    f->request = (struct nnvts_request){.inputs = f->inputs, .outputs = f->outputs, .pools = f->pools};
    return true;
}

static bool place(struct nnv_rt_activation *a, const struct nnv_rt_place *p, struct nnv_rt_value *v) {
    if (p->kind == NNV_RT_TEMPORARY && p->bytes) {
        if (!a->pool) return false;
        nnv_rt_value_place(v, a->pool, p->offset, p->bytes);
    } else {
        v->grows = true;
    }
    return true;
}

static bool temporaries_new(struct nnv_rt_activation *a) {
    const struct nnv_rt_place *places = a->graph->places;
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->subgraph->operand_count; i++)
        n += places[i].kind == NNV_RT_TEMPORARY || places[i].kind == NNV_RT_DYNAMIC;
    a->own = NNV_NEW(a->arena, struct nnv_rt_value, n);
    if (!a->own) return false;
    for (uint32_t i = 0; i < a->subgraph->operand_count; i++) {
        if (places[i].kind != NNV_RT_TEMPORARY && places[i].kind != NNV_RT_DYNAMIC) continue;
        struct nnv_rt_value *v = &a->own[a->own_count++];
        nnv_rt_value_declare(v, operand_at(a, i));
        if (!place(a, &places[i], v)) return false;
        a->at[i] = v;
    }
    return true;
}

/** What a step passes on: a constant, or nothing, has a place only for that. */
static bool pass(struct nnv_rt_activation *a, uint32_t operand) {
    if (a->at[operand]) return true;
    const struct nnvts_operand *o = operand_at(a, operand);
    if (o->lifetime == NNVTS_NO_VALUE) a->at[operand] = &a->nothing;
    if (o->lifetime != NNVTS_CONSTANT_COPY && o->lifetime != NNVTS_CONSTANT_REFERENCE) return true;
    a->at[operand] = NNV_NEW(a->arena, struct nnv_rt_value, 1);
    if (a->at[operand]) nnv_rt_value_constant(a->at[operand], o, &a->plan->model->model);
    return a->at[operand] != NULL;
}

static bool loop_new(struct nnv_rt_activation *a, const struct nnv_rt_step *s, struct nnv_rt_flow *f) {
    const struct nnvts_subgraph *condition = nnv_rt_graph_at(a->plan->model, s->graphs[0]);
    const struct nnvts_subgraph *body = nnv_rt_graph_at(a->plan->model, s->graphs[1]);
    nnv_rt_value_declare(&f->verdict, &condition->operands[condition->outputs[0]]);
    if (!place(a, &s->verdict, &f->verdict)) return false;
    f->carried_count = body->output_count;
    for (int turn = 0; turn < 2; turn++) {
        f->carried[turn] = NNV_NEW(a->arena, struct nnv_rt_value, body->output_count);
        for (uint32_t i = 0; i < body->output_count; i++) {
            if (!f->carried[turn]) return false;
            nnv_rt_value_declare(&f->carried[turn][i], &body->operands[body->outputs[i]]);
            if (!place(a, &s->carried[turn][i], &f->carried[turn][i])) return false;
        }
    }
    return true;
}

static bool flow_new(struct nnv_rt_activation *a, const struct nnv_rt_step *s, struct nnv_rt_flow *f) {
    for (uint32_t i = 0; i < s->input_count; i++)
        if (!pass(a, s->inputs[i])) return false;
    if (s->kind == NNV_RT_IF && !pass(a, s->condition)) return false;
    const struct nnvts_subgraph *last = nnv_rt_graph_at(a->plan->model, s->graphs[1]);
    const uint32_t outs = last->output_count > s->output_count ? last->output_count : s->output_count;
    f->in = NNV_NEW(a->arena, struct nnv_rt_value *, s->input_count);
    f->out = NNV_NEW(a->arena, struct nnv_rt_value *, (size_t)outs + 1);
    return f->in && f->out && (s->kind == NNV_RT_IF || loop_new(a, s, f));
}

static bool flows_new(struct nnv_rt_activation *a) {
    a->flows = NNV_NEW(a->arena, struct nnv_rt_flow, a->graph->step_count);
    for (uint32_t i = 0; a->flows && i < a->graph->step_count; i++)
        if (a->graph->steps[i].kind != NNV_RT_EXECUTE && !flow_new(a, &a->graph->steps[i], &a->flows[i])) return false;
    return a->flows != NULL;
}

static bool fill(struct nnv_rt_activation *a) {
    a->at = NNV_NEW(a->arena, struct nnv_rt_value *, a->subgraph->operand_count);
    if (!a->at || !frame_new(a)) return false;
    if (a->plan->simple) return true;
    const uint64_t bytes = a->graph->pool_bytes;
    if (bytes > UINT32_MAX) return false;
    if (bytes && !(a->pool = nnv_rt_memory_shared(bytes))) return false;
    return temporaries_new(a) && flows_new(a);
}

struct nnv_rt_activation *nnv_rt_activation_new(const struct nnv_rt_plan *plan, uint32_t graph) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_rt_activation *a = arena ? NNV_NEW(arena, struct nnv_rt_activation, 1) : NULL;
    if (!a) {
        nnv_arena_free(arena);
        return NULL;
    }
    a->arena = arena;
    a->plan = plan;
    a->number = graph;
    a->graph = &plan->graphs[graph];
    a->subgraph = nnv_rt_graph_at(plan->model, graph);
    a->nothing = (struct nnv_rt_value){.omitted = true};
    if (fill(a)) return a;
    nnv_rt_activation_free(a);
    return NULL;
}

void nnv_rt_activation_free(struct nnv_rt_activation *a) {
    if (!a) return;
    for (uint32_t i = 0; i < a->own_count; i++) nnv_rt_value_release(&a->own[i]);
    for (uint32_t i = 0; a->flows && i < a->graph->step_count; i++) {
        struct nnv_rt_flow *f = &a->flows[i];
        nnv_rt_value_release(&f->verdict);
        for (int k = 0; k < 2; k++) {
            nnv_rt_activation_free(f->graphs[k]);
            for (uint32_t c = 0; f->carried[k] && c < f->carried_count; c++) nnv_rt_value_release(&f->carried[k][c]);
        }
    }
    ANeuralNetworksMemory_free(a->pool);
    nnv_arena_free(a->arena);
}

/* -------------------------------------------------------------------- running */

void nnv_rt_activation_attach(struct nnv_rt_activation *a, struct nnv_rt_value *const *inputs,
                              struct nnv_rt_value *const *outputs) {
    for (uint32_t i = 0; i < a->subgraph->input_count; i++) a->at[a->subgraph->inputs[i]] = inputs[i];
    for (uint32_t i = 0; i < a->subgraph->output_count; i++) a->at[a->subgraph->outputs[i]] = outputs[i];
}

int nnv_rt_run_graph(struct nnv_rt_run *run, struct nnv_rt_activation *a, struct nnv_rt_value *const *inputs,
                     struct nnv_rt_value *const *outputs) {
    nnv_rt_activation_attach(a, inputs, outputs);
    for (uint32_t i = 0; i < a->graph->step_count; i++) {
        int result = ANEURALNETWORKS_OP_FAILED;
        switch (a->graph->steps[i].kind) {
        case NNV_RT_EXECUTE:
            result = nnv_rt_run_step(run, a, i);
            break;
        case NNV_RT_IF:
            result = nnv_rt_run_if(run, a, i);
            break;
        case NNV_RT_WHILE:
            result = nnv_rt_run_while(run, a, i);
            break;
        }
        if (result != ANEURALNETWORKS_NO_ERROR) return result;
    }
    return ANEURALNETWORKS_NO_ERROR;
}
