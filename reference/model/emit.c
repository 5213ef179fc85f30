/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/emit.h"

#include "reference/model/validate.h"

enum nnv_status nnv_emit_isolate(const struct nnv_builder *b, int32_t code, uint32_t nin, const uint32_t *in,
                                 uint32_t nout, const uint32_t *out, struct nnv_arena *arena, struct nnv_lone *lone,
                                 struct nnv_err *err) {
    const uint32_t n = nin + nout;
    struct nnv_operand *o = NNV_NEW(arena, struct nnv_operand, n);
    uint32_t *index = NNV_NEW(arena, uint32_t, n), *given = NNV_NEW(arena, uint32_t, n);
    *lone = (struct nnv_lone){.operation = {code, nin, nout, index, index ? index + nin : NULL},
                              .shapes = NNV_NEW(arena, struct nnv_shape, n),
                              .data = NNV_NEW(arena, const void *, n)};
    struct nnv_subgraph *s = &lone->model.main;
    if (!o || !index || !given || !lone->shapes || !lone->data) return nnv_no_memory(err);
    *s = (struct nnv_subgraph){.noperands = n, .noperations = 1, .operands = o, .operations = &lone->operation};
    s->in = given;
    s->out = index + nin;
    s->nout = nout;
    for (uint32_t i = 0; i < n; i++) {
        index[i] = i;
        o[i] = b->operand[i < nin ? in[i] : out[i - nin]];
        lone->shapes[i] = nnv_operand_shape(&o[i]);
        lone->data[i] = nnv_is_constant(&o[i]) ? o[i].data : NULL;
        if (i >= nin) {
            o[i].lifetime = NNV_SUBGRAPH_OUTPUT;
        } else if (o[i].lifetime != NNV_NO_VALUE && !nnv_is_constant(&o[i])) {
            o[i].lifetime = NNV_SUBGRAPH_INPUT;
            given[s->nin++] = i;
        }
    }
    return NNV_OK;
}

enum nnv_status nnv_emit_check(const struct nnv_lone *lone, struct nnv_arena *arena, int *level, bool *sound,
                               struct nnv_err *err) {
    const struct nnv_subgraph *s = &lone->model.main;
    struct nnv_call *call;
    int needs = 0;
    *level = NNV_LEVEL_MIN;
    if (sound) *sound = false;
    for (uint32_t i = 0; i < s->noperands; i++) {
        enum nnv_status st = nnv_operand_check(&s->operands[i], &needs, err);
        if (st) return st;
        if (needs > *level) *level = needs;
    }
    if (sound) *sound = true;
    enum nnv_status st = nnv_bind(s, &lone->operation, lone->shapes, lone->data, NULL, arena, &call, &needs, err);
    if (st == NNV_OK && needs > *level) *level = needs;
    return st;
}

/* From the last operation to the first: one counts if an output of it does, and then all its operands count. */
static void find_used(const struct nnv_builder *b, bool dead, bool *used, bool *kept) {
    for (uint32_t i = b->noperations; i-- > 0;) {
        const struct nnv_operation *op = &b->operation[i];
        kept[i] = !dead;
        for (uint32_t k = 0; k < op->nout; k++) kept[i] = kept[i] || used[op->out[k]];
        for (uint32_t k = 0; kept[i] && k < op->nout; k++) used[op->out[k]] = true;
        for (uint32_t k = 0; kept[i] && k < op->nin; k++) used[op->in[k]] = true;
    }
}

static void renumber(const uint32_t *number, uint32_t *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) list[i] = number[list[i]];
}

enum nnv_status nnv_emit_sweep(struct nnv_builder *b, bool dead, uint32_t nin, uint32_t *in, uint32_t nout,
                               uint32_t *out, struct nnv_arena *arena, struct nnv_swept *swept, struct nnv_err *err) {
    bool *used = NNV_NEW(arena, bool, b->noperands), *kept = NNV_NEW(arena, bool, b->noperations);
    uint32_t n = 0;
    *swept = (struct nnv_swept){NNV_NEW(arena, uint32_t, b->noperands), NNV_NEW(arena, uint32_t, b->noperations)};
    if (!used || !kept || !swept->number || !swept->was) return nnv_no_memory(err);
    for (uint32_t i = 0; i < nin; i++) used[in[i]] = true;
    for (uint32_t i = 0; i < nout; i++) used[out[i]] = true;
    find_used(b, dead, used, kept);
    for (uint32_t i = 0; i < b->noperands; i++) {
        swept->number[i] = used[i] ? n : UINT32_MAX;
        if (used[i]) b->operand[n++] = b->operand[i];
    }
    b->noperands = n;
    n = 0;
    for (uint32_t i = 0; i < b->noperations; i++) {
        if (!kept[i]) continue;
        renumber(swept->number, b->operation[i].in, b->operation[i].nin);
        renumber(swept->number, b->operation[i].out, b->operation[i].nout);
        swept->was[n] = i;
        b->operation[n++] = b->operation[i];
    }
    b->noperations = n;
    renumber(swept->number, in, nin);
    renumber(swept->number, out, nout);
    return NNV_OK;
}
