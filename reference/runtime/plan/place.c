/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file place.c Where the values of a graph are. A temporary lives from the step that writes it to the last that
 * reads it, both included, since a step's inputs and outputs must lie apart.
 */
#include "reference/runtime/plan/planning.h"

#define NONE UINT32_MAX

struct placing {
    const struct ANeuralNetworksModel *model;
    const struct nnvts_subgraph *g;
    const struct nnv_rt_graph_info *info;
    struct nnv_rt_graph *plan;
    struct nnv_rt_pool *pool;
    uint32_t *dies;    /**< one an operand: the last step that has to do with it */
    uint32_t *part;    /**< one an operand: its part of the pool */
    uint32_t *at_step; /**< first of the temporaries that die with each step, linked by next */
    uint32_t *next;
};

static bool temporary(const struct placing *p, uint32_t operand) {
    return p->g->operands[operand].lifetime == NNVTS_TEMPORARY_VARIABLE;
}

/** Places of all that is no temporary. */
static void place_others(struct placing *p) {
    const struct nnvts_subgraph *g = p->g;
    struct nnv_rt_place *places = p->plan->places;
    for (uint32_t i = 0; i < g->operand_count; i++) {
        uint32_t lifetime = g->operands[i].lifetime;
        if (lifetime == NNVTS_CONSTANT_COPY || lifetime == NNVTS_CONSTANT_REFERENCE)
            places[i] = (struct nnv_rt_place){.kind = NNV_RT_CONSTANT, .bytes = p->info->bytes[i]};
    }
    for (uint32_t i = 0; i < g->input_count; i++)
        places[g->inputs[i]] =
            (struct nnv_rt_place){.kind = NNV_RT_INPUT, .index = i, .bytes = p->info->bytes[g->inputs[i]]};
    for (uint32_t i = 0; i < g->output_count; i++)
        places[g->outputs[i]] =
            (struct nnv_rt_place){.kind = NNV_RT_OUTPUT, .index = i, .bytes = p->info->bytes[g->outputs[i]]};
}

static void measure_lives(struct placing *p) {
    for (uint32_t s = 0; s < p->plan->step_count; s++) {
        const struct nnv_rt_step *step = &p->plan->steps[s];
        for (uint32_t i = 0; i < step->output_count; i++) p->dies[step->outputs[i]] = s;
        for (uint32_t i = 0; i < step->input_count; i++) p->dies[step->inputs[i]] = s;
        if (step->kind == NNV_RT_IF) p->dies[step->condition] = s;
    }
}

/** Takes a place in the pool until after step `dies`; owner is an operand, or one of the numbers behind them. */
static struct nnv_rt_place take(struct placing *p, uint64_t bytes, uint32_t owner, uint32_t dies) {
    struct nnv_rt_place place = {.kind = NNV_RT_TEMPORARY, .bytes = bytes};
    p->part[owner] = nnv_rt_pool_take(p->pool, bytes, &place.offset);
    p->next[owner] = p->at_step[dies];
    p->at_step[dies] = owner;
    return place;
}

static void give_back(struct placing *p, uint32_t s) {
    for (uint32_t i = p->at_step[s]; i != NONE; i = p->next[i]) nnv_rt_pool_give(p->pool, p->part[i]);
}

static int place_outputs(struct placing *p, const struct nnv_rt_step *step) {
    for (uint32_t i = 0; i < step->output_count; i++) {
        uint32_t operand = step->outputs[i];
        if (!temporary(p, operand)) continue;
        if (p->info->known[operand]) {
            p->plan->places[operand] = take(p, p->info->bytes[operand], operand, p->dies[operand]);
            continue;
        }
        if (step->kind != NNV_RT_EXECUTE || !nnv_rt_device_has_level(step->device, NNV_RT_LEVEL_DYNAMIC))
            return ANEURALNETWORKS_OP_FAILED;
        p->plan->places[operand] = (struct nnv_rt_place){.kind = NNV_RT_DYNAMIC, .index = p->plan->dynamic_count++};
    }
    return ANEURALNETWORKS_NO_ERROR;
}

/** Places for what a loop carries; *owner counts on. */
static int place_loop(struct placing *p, struct nnv_rt_step *step, uint32_t s, uint32_t *owner,
                      struct nnv_arena *arena) {
    const struct nnvts_subgraph *condition = nnv_rt_graph_at(p->model, step->graphs[0]);
    const struct nnvts_subgraph *body = nnv_rt_graph_at(p->model, step->graphs[1]);
    const uint64_t *bytes = p->model->info[step->graphs[1]].bytes;
    step->verdict = take(p, p->model->info[step->graphs[0]].bytes[condition->outputs[0]], (*owner)++, s);
    for (int turn = 0; turn < 2; turn++) {
        step->carried[turn] = NNV_NEW(arena, struct nnv_rt_place, body->output_count);
        if (step->carried[turn] == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
        for (uint32_t i = 0; i < body->output_count; i++)
            step->carried[turn][i] = take(p, bytes[body->outputs[i]], (*owner)++, s);
    }
    return ANEURALNETWORKS_NO_ERROR;
}

/** Values that loops carry, over all steps. */
static size_t count_carried(const struct placing *p) {
    size_t n = 0;
    for (uint32_t s = 0; s < p->plan->step_count; s++)
        if (p->plan->steps[s].kind == NNV_RT_WHILE)
            n += 1 + (size_t)2 * nnv_rt_graph_at(p->model, p->plan->steps[s].graphs[1])->output_count;
    return n;
}

int nnv_rt_place_values(const struct ANeuralNetworksModel *model, uint32_t graph, struct nnv_rt_graph *plan,
                        struct nnv_arena *arena, struct nnv_arena *scratch) {
    struct placing p = {.model = model, .g = nnv_rt_graph_at(model, graph), .info = &model->info[graph], .plan = plan};
    size_t owners = p.g->operand_count + count_carried(&p);
    if (owners >= NONE / 2) return ANEURALNETWORKS_OUT_OF_MEMORY;
    plan->places = NNV_NEW(arena, struct nnv_rt_place, p.g->operand_count);
    p.pool = nnv_rt_pool_new((uint32_t)owners, scratch);
    p.dies = NNV_NEW(scratch, uint32_t, p.g->operand_count);
    p.part = NNV_NEW(scratch, uint32_t, owners);
    p.next = NNV_NEW(scratch, uint32_t, owners);
    p.at_step = NNV_NEW(scratch, uint32_t, plan->step_count);
    if (plan->places == NULL || p.pool == NULL || p.dies == NULL || p.part == NULL || p.next == NULL ||
        p.at_step == NULL)
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    for (uint32_t s = 0; s < plan->step_count; s++) p.at_step[s] = NONE;
    uint32_t owner = p.g->operand_count;
    int result = ANEURALNETWORKS_NO_ERROR;
    place_others(&p);
    measure_lives(&p);
    for (uint32_t s = 0; result == ANEURALNETWORKS_NO_ERROR && s < plan->step_count; s++) {
        result = place_outputs(&p, &plan->steps[s]);
        if (result == ANEURALNETWORKS_NO_ERROR && plan->steps[s].kind == NNV_RT_WHILE)
            result = place_loop(&p, &plan->steps[s], s, &owner, arena);
        if (result == ANEURALNETWORKS_NO_ERROR) give_back(&p, s);
    }
    plan->pool_bytes = nnv_rt_pool_bytes(p.pool);
    return result;
}
