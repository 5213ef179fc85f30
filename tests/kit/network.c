/* SPDX-License-Identifier: Apache-2.0 */
/** @file network.c See network.h. */
#include "tests/kit/network.h"

uint32_t count_operations(const struct nnv_model *m, int32_t code) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->main.noperations; i++) n += m->main.operations[i].type == code;
    return n;
}

const double *compute(const struct nnv_model *m, const double *in, uint32_t o, size_t *n, struct nnv_arena *arena) {
    const struct nnv_subgraph *s = &m->main;
    struct nnv_value *v = NNV_NEW(arena, struct nnv_value, s->nin);
    struct nnv_golden *result = NNV_NEW(arena, struct nnv_golden, s->nout);
    const struct nnv_eval_options options = {0};
    struct nnv_err err = {0};
    for (uint32_t i = 0; i < s->nin; i++) {
        const struct nnv_operand *x = &s->operands[s->in[i]];
        size_t elems;
        assert_true(nnv_operand_size(x, &elems, &v[i].bytes));
        v[i].rank = x->rank;
        memcpy(v[i].dims, x->dims, x->rank * sizeof *x->dims);
        v[i].data = nnv_arena_alloc(arena, v[i].bytes, 1);
        nnv_store(x->type, in, elems, v[i].data);
        in += elems;
    }
    if (nnv_eval(m, v, &options, arena, result, &err) != NNV_OK) fail_msg("%s", err.text);
    const int32_t type = s->operands[s->out[o]].type;
    *n = result[o].value.bytes / nnv_type(type)->size;
    double *out = NNV_NEW(arena, double, *n);
    nnv_load(type, result[o].value.data, *n, out);
    return out;
}
