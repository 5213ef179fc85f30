/* SPDX-License-Identifier: Apache-2.0 */
/** @file contradict.c Requests whose shapes are not those of the model, or of the values. */
#include <stdio.h>
#include <string.h>

#include "harness/suites/shapes/shapes.h"
#include "nnvts/result.h"

enum { INVALID = 1u << NNVTS_STATUS_INVALID_ARGUMENT, FAILS = 1u << NNVTS_STATUS_GENERAL_FAILURE };

static void expect_refused(struct nnv_shape_fixture *b, const char *what, uint32_t io, uint32_t allowed) {
    struct nnv_context *s = b->s;
    char call[128];
    snprintf(call, sizeof call, "execute with %s %u", what, io);
    nnv_request_reset(&b->values);
    enum nnvts_status st = nnv_context_sync(s, b->prepared, &b->values);
    nnv_context_enter(s, NNV_PHASE_CHECK);
    if (!nnv_context_check_memory(s, call, &b->values)) return;
    nnv_expect_status_in(s, call, st, allowed);
    nnv_expect(s, b->values.result.shape_count == 0, "%s was refused, but reports shapes", call);
}

/* The shape of the value, with one extent too large or a dimension too many; wrong has room. */
static uint32_t bend(const struct nnv_value *value, bool rank, uint32_t *wrong) {
    if (value->rank) memcpy(wrong, value->dims, value->rank * sizeof *wrong);
    wrong[value->rank] = 1;
    if (!rank) wrong[value->rank - 1]++;
    return value->rank + rank;
}

static void contradict(struct nnv_shape_fixture *b, const struct nnv_operand *o, struct nnvts_argument *a,
                       const struct nnv_value *value, bool input, uint32_t io) {
    uint32_t wrong[NNV_MAX_RANK + 1];
    const struct nnvts_argument before = *a;
    if (!nnv_type(o->type)->tensor || value->omitted || value->rank == 0 || value->rank >= NNV_MAX_RANK) return;
    bool whole = o->rank > 0;
    for (uint32_t i = 0; i < o->rank; i++) whole = whole && o->dims[i];
    for (int rank = 0; rank < 2 && !b->s->result->worker_damaged; rank++) {
        /* Where the model says it, it is seen at once; an output's shape that only the results tell is seen later. */
        const bool declared = whole || (rank && o->rank > 0) || input;
        a->dimension_count = bend(value, rank, wrong);
        a->dimensions = wrong;
        if (rank && input && o->rank == 0) continue; /* nothing says that the rank is wrong */
        expect_refused(b,
                       rank    ? input ? "a rank that is not the model's for input" : "a wrong rank for output"
                       : input ? "an extent that is not the value's for input"
                               : "a wrong extent for output",
                       io, declared ? INVALID : INVALID | FAILS);
    }
    *a = before;
}

/* A shape that is neither in the model nor in the request. */
static void leave_open(struct nnv_shape_fixture *b, uint32_t io) {
    struct nnvts_argument *a = &b->values.inputs[io], before = *a;
    if (a->dimension_count == 0 || a->location.length == 0) return;
    a->dimension_count = 0;
    a->dimensions = NULL;
    expect_refused(b, "an open shape, which the request does not give, of input", io, INVALID);
    *a = before;
}

void nnv_shapes_contradictions(struct nnv_shape_fixture *b) {
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    struct nnv_request *v = &b->values;
    for (uint32_t i = 0; i < main->nin && !b->s->result->worker_damaged; i++) {
        contradict(b, &main->operands[main->in[i]], &v->inputs[i], &b->fixture.spec->inputs[i], true, i);
        leave_open(b, i);
    }
    for (uint32_t i = 0; i < main->nout && !b->s->result->worker_damaged; i++)
        if (!b->fixture.expected[i].ignored)
            contradict(b, &main->operands[main->out[i]], &v->outputs[i], b->fixture.expected[i].value, false, i);
    /* And it still works. */
    if (b->s->result->verdict == NNVTS_PASS) nnv_shapes_execute(b);
}
