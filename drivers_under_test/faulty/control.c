/* SPDX-License-Identifier: Apache-2.0 */
/** @file control.c A loop with an iteration too few. */
#include <string.h>

#include "faulty.h"

/** The referenced subgraph that input pos of op names, or NULL. */
static const struct nnv_subgraph *subgraph(struct nnv_edit *e, int pos) {
    const struct nnv_operand *o = nnv_edit_operand(e, pos);
    if (o->lifetime != NNV_SUBGRAPH || o->subgraph >= e->spec.model.nreferenced) return NULL;
    return &e->spec.model.referenced[o->subgraph];
}

/** Where operand i of the condition stands in the joined subgraph: what it takes is what the body has given. */
static uint32_t place(const struct nnv_subgraph *condition, const struct nnv_subgraph *body, uint32_t i) {
    for (uint32_t k = 0; k < condition->nin; k++)
        if (condition->in[k] == i) return k < body->nout ? body->out[k] : body->in[k];
    return body->noperands + i;
}

static uint32_t *places(struct nnv_edit *e, const struct nnv_subgraph *condition, const struct nnv_subgraph *body,
                        const uint32_t *list, uint32_t count) {
    uint32_t *to = nnv_edit_copy(e, list, count, 0, sizeof *to);
    for (uint32_t i = 0; to && i < count; i++) to[i] = place(condition, body, list[i]);
    return to;
}

/** A subgraph that executes the body and then asks the condition of what that gave. */
static struct nnv_subgraph join(struct nnv_edit *e, const struct nnv_subgraph *condition,
                                const struct nnv_subgraph *body) {
    const uint32_t nb = body->noperands, nc = condition->noperands, ops = body->noperations;
    struct nnv_subgraph s = *body;
    s.noperands += nc;
    s.noperations += condition->noperations;
    s.nout = condition->nout;
    s.operands = nnv_edit_copy(e, body->operands, nb, nc, sizeof *s.operands);
    s.operations = nnv_edit_copy(e, body->operations, ops, condition->noperations, sizeof *s.operations);
    s.out = places(e, condition, body, condition->out, condition->nout);
    if (e->failed) return s;
    memcpy(s.operands + nb, condition->operands, nc * sizeof *s.operands);
    memcpy(s.operations + ops, condition->operations, condition->noperations * sizeof *s.operations);
    for (uint32_t i = 0; i < body->nout; i++) s.operands[body->out[i]].lifetime = NNV_TEMPORARY_VARIABLE;
    for (uint32_t i = 0; i < condition->nout; i++) s.operands[s.out[i]].lifetime = NNV_SUBGRAPH_OUTPUT;
    for (uint32_t i = 0; i < condition->nin; i++) s.operands[nb + condition->in[i]].lifetime = NNV_NO_VALUE;
    for (uint32_t i = 0; i < condition->noperations; i++) {
        struct nnv_operation *op = &s.operations[ops + i];
        op->in = places(e, condition, body, op->in, op->nin);
        op->out = places(e, condition, body, op->out, op->nout);
    }
    return s;
}

/** The loop ends when the condition would not hold after one more iteration. */
bool rewrite_last_iteration(struct nnv_edit *e) {
    struct nnv_model *m = &e->spec.model;
    const struct nnv_subgraph *condition = subgraph(e, 0), *body = subgraph(e, 1);
    if (!condition || !body) return false;
    struct nnv_subgraph *referenced = nnv_edit_copy(e, m->referenced, m->nreferenced, 1, sizeof *referenced);
    if (!referenced) return false;
    referenced[m->nreferenced] = join(e, condition, body);
    m->referenced = referenced;
    nnv_edit_operand(e, 0)->subgraph = m->nreferenced++;
    return true;
}
