/* SPDX-License-Identifier: Apache-2.0 */
/** @file branch.c The relation of control flow: a whole model within the branches of an IF. */
#include <string.h>

#include "randgraph/relate/relate.h"

/* Appends operand `like` of the branch to main, which gives it to the branch or takes it from it. */
static uint32_t add_argument(struct nnv_related *r, const struct nnv_operand *like) {
    const struct nnv_operand o = *like;
    const uint32_t at = nnv_relate_operand(r, o);
    if (at != NNV_RELATED_NONE)
        r->to->model.main.operands[at].dims = nnv_arena_copy(r->arena, o.dims, o.rank * sizeof *o.dims);
    return at;
}

/* The condition, of either value: a constant or one more input of the model. */
static uint32_t add_condition(struct nnv_related *r) {
    static const uint32_t one[] = {1};
    struct nnv_subgraph *m = &r->to->model.main;
    const uint8_t value = nnv_rng_int(&r->rng, 0, 1) != 0;
    const bool fed = nnv_rng_int(&r->rng, 0, 1) != 0;
    struct nnv_operand o = {.type = ANEURALNETWORKS_TENSOR_BOOL8, .rank = 1, .lifetime = NNV_SUBGRAPH_INPUT};
    o.dims = nnv_arena_copy(r->arena, one, sizeof one);
    void *data = nnv_arena_copy(r->arena, &value, sizeof value);
    if (fed) {
        r->to->inputs[m->nin] = (struct nnv_value){.rank = 1, .dims = {1}, .data = data, .bytes = sizeof value};
        m->in[m->nin++] = m->noperands;
    } else {
        o.lifetime = NNV_CONSTANT_COPY;
        o.data = data;
        o.bytes = sizeof value;
    }
    return o.dims && data ? nnv_relate_operand(r, o) : NNV_RELATED_NONE;
}

bool nnv_relate_branched(struct nnv_related *r) {
    struct nnv_model *model = &r->to->model;
    struct nnv_subgraph *m = &model->main;
    const struct nnv_subgraph branch = *m;
    const uint32_t nin = branch.nin, nout = branch.nout, index = model->nreferenced;
    struct nnv_subgraph *referenced = NNV_NEW(r->arena, struct nnv_subgraph, index + 1);
    uint32_t *in = NNV_NEW(r->arena, uint32_t, nin + 3), *out = NNV_NEW(r->arena, uint32_t, nout);
    for (uint32_t i = 0; i < nin; i++)
        if (r->to->inputs[i].omitted) return false;
    if (!referenced || !in || !out) return false;
    if (index) memcpy(referenced, model->referenced, index * sizeof *referenced);
    referenced[index] = branch;
    r->operand_room = nin + nout + 3;
    r->operation_room = 1;
    *m = (struct nnv_subgraph){.operands = NNV_NEW(r->arena, struct nnv_operand, r->operand_room),
                               .operations = NNV_NEW(r->arena, struct nnv_operation, r->operation_room),
                               .in = NNV_NEW(r->arena, uint32_t, nin + 1),
                               .out = NNV_NEW(r->arena, uint32_t, nout)};
    if (!m->operands || !m->operations || !m->in || !m->out) return false;
    for (uint32_t i = 0; i < nin; i++) in[3 + i] = m->in[m->nin++] = add_argument(r, &branch.operands[branch.in[i]]);
    for (uint32_t i = 0; i < nout; i++) out[i] = m->out[m->nout++] = add_argument(r, &branch.operands[branch.out[i]]);
    const struct nnv_operand both = {.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH, .subgraph = index};
    in[0] = add_condition(r);
    in[1] = nnv_relate_operand(r, both);
    in[2] = nnv_relate_operand(r, both);
    model->nreferenced++;
    model->referenced = referenced;
    nnv_relate_insert(r, 0, ANEURALNETWORKS_IF, nin + 3, in, nout, out);
    return true;
}
