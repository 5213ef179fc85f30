/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that no operation reads, such as constants whose layout was changed, leave a model. */
#include <string.h>

#include "compiler/nnapi/compile.h"

static void mark(bool *used, const uint32_t *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) used[list[i]] = true;
}

static void renumber(uint32_t *list, uint32_t n, const uint32_t *number) {
    for (uint32_t i = 0; i < n; i++) list[i] = number[list[i]];
}

bool nnv_compact(struct nnv_converted *c, struct nnv_arena *arena) {
    struct nnv_subgraph *s = &c->model.main;
    bool *used = NNV_NEW(arena, bool, s->noperands);
    uint32_t *number = NNV_NEW(arena, uint32_t, s->noperands), n = 0;
    if (!used || !number) return false;
    mark(used, s->in, s->nin);
    mark(used, s->out, s->nout);
    for (uint32_t i = 0; i < s->noperations; i++) {
        mark(used, s->operations[i].in, s->operations[i].nin);
        mark(used, s->operations[i].out, s->operations[i].nout);
    }
    for (uint32_t i = 0; i < s->noperands; i++) {
        if (!used[i]) continue;
        s->operands[n] = s->operands[i];
        if (c->operand_name) c->operand_name[n] = c->operand_name[i];
        number[i] = n++;
    }
    s->noperands = n;
    renumber(s->in, s->nin, number);
    renumber(s->out, s->nout, number);
    for (uint32_t i = 0; i < s->noperations; i++) {
        renumber(s->operations[i].in, s->operations[i].nin, number);
        renumber(s->operations[i].out, s->operations[i].nout, number);
    }
    return true;
}
