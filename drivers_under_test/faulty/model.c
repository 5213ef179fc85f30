/* SPDX-License-Identifier: Apache-2.0 */
/** @file model.c Faults of the catalogue, planted in a model before it is prepared or in the values that come out. */
#include <stdlib.h>
#include <string.h>

#include "faulty.h"
#include "reference/abi/import.h"
#include "reference/abi/render.h"
#include "reference/model/validate.h"

/** The comma-separated list of names holds the operation. */
static bool is_listed(const char *list, int32_t code) {
    const struct nnv_op *op = nnv_op(code);
    const size_t n = op ? strlen(op->name) : 0;
    for (const char *at = list; op && at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, op->name, n) == 0 && (at[n] == ',' || at[n] == 0)) return true;
    }
    return false;
}

/** op: the operation that the bug is for, or ANY_OPERATION. */
static bool concerns(const struct bug *bug, int32_t op, int32_t code) {
    if (op != ANY_OPERATION && op != code) return false;
    return bug->op != ANY_OPERATION || !bug->spoils || is_listed(bug->spoils, code);
}

bool alike(const struct nnv_operand *a, const struct nnv_operand *b) {
    return a->type == b->type && a->scale == b->scale && a->zero_point == b->zero_point && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

/** What changed places in the list is of one type and shape: else another mistake would be made than is meant. */
static bool swaps_alike(const struct nnv_edit *e, const uint32_t *was, const uint32_t *is, uint32_t n, uint32_t old) {
    const struct nnv_operand *operands = e->spec.model.main.operands;
    for (uint32_t i = 0; i < n; i++)
        if (was[i] != is[i] && is[i] < old && !alike(&operands[was[i]], &operands[is[i]])) return false;
    return true;
}

/** The output takes the extents that the edit gives it, where they fill the same memory; one of 0 is open. */
static void take_extents(struct nnv_edit *e) {
    const struct nnv_subgraph *s = &e->spec.model.main;
    const uint32_t at = nnv_edit_op(e)->out[0], rank = s->operands[at].rank;
    struct nnv_operand *y = &s->operands[at];
    struct nnv_shape *shapes = NNV_NEW(e->arena, struct nnv_shape, s->noperands);
    uint64_t was = 1, is = 1;
    struct nnv_err err = {0};
    if (!shapes || y->lifetime != NNV_SUBGRAPH_OUTPUT) return;
    y->rank = 0;
    const bool inferred = nnv_infer_shapes(&e->spec.model, e->arena, shapes, &err) == NNV_OK;
    y->rank = rank;
    if (!inferred || shapes[at].rank != rank) return;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t *d = &shapes[at].dims[i];
        if (*d == NNV_DIM_UNKNOWN) *d = 0;
        was *= y->dims[i] ? y->dims[i] : 1;
        is *= *d ? *d : 1;
    }
    if (was == is) memcpy(y->dims, shapes[at].dims, rank * sizeof *y->dims);
}

static bool plant(const struct bug *bug, struct nnv_edit *e) {
    const struct nnv_operation was = *nnv_edit_op(e);
    const uint32_t old = e->spec.model.main.noperands;
    uint32_t *in = nnv_edit_copy(e, was.in, was.nin, 0, sizeof *in);
    uint32_t *out = nnv_edit_copy(e, was.out, was.nout, 0, sizeof *out);
    bool any = false;
    if (e->failed || (bug->type && !bug->type(e->call->out[0].operand->type))) return false;
    for (int i = 0; i < BUG_FAULTS && bug_fault(bug, i) && !any; i++)
        any = nnv_fault_fits(bug_fault(bug, i), was.type) && nnv_fault_apply(bug_fault(bug, i), e);
    struct nnv_operation *op = nnv_edit_op(e);
    if (any && op->nin == was.nin &&
        (!swaps_alike(e, in, op->in, op->nin, old) || !swaps_alike(e, out, op->out, op->nout, old))) {
        op->in = in;
        op->out = out;
        return false;
    }
    if (any && bug->resized) take_extents(e);
    return any;
}

bool faulty_edits(const struct bug *bug) {
    if (bug->rewrite) return true;
    return bug_fault(bug, 0) && nnv_fault_is_edit(bug_fault(bug, 0));
}

/** Operations are changed from the last to the first, or, by functions that look at what was changed, the other way. */
static bool change(const struct bug *bug, int32_t op, struct nnv_edit *e, struct nnv_call **calls) {
    const uint32_t n = e->spec.model.main.noperations;
    bool any = false;
    for (uint32_t i = 0; i < n && !e->failed; i++) {
        const uint32_t at = bug->rewrite ? i : n - 1 - i;
        if (!concerns(bug, op, e->spec.model.main.operations[at].type)) continue;
        e->at = at;
        e->call = calls[at];
        any |= bug->rewrite ? bug->rewrite(e) : plant(bug, e);
    }
    return any && !e->failed;
}

static bool prepare(struct nnvts_device *inner, const struct nnv_model *model,
                    const struct nnvts_prepare_config *config, struct nnv_arena *arena,
                    struct nnvts_prepared_model **out) {
    const size_t bytes = nnv_abi_pool_bytes(model);
    void *mapped = bytes ? nnv_arena_alloc(arena, bytes, 1) : NULL;
    const struct nnvts_memory pool = {.prot = NNVTS_PROT_READ, .fd = -1, .size = bytes, .data = mapped};
    struct nnvts_model abi;
    struct nnv_err err = {0};
    return (mapped || !bytes) && nnv_abi_model_at(model, arena, &pool, mapped, &abi, &err) == NNV_OK &&
           inner->prepare_model(inner, &abi, config, out) == NNVTS_STATUS_NONE;
}

bool faulty_prepare_edited(struct nnvts_device *inner, const struct bug *bug, int32_t op,
                           const struct nnvts_model *model, const struct nnvts_prepare_config *config,
                           struct nnvts_prepared_model **out) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_model *copy;
    struct nnv_call **calls;
    struct nnv_err err = {0};
    bool done = false;
    if (arena && ref_import(model, arena, &copy) == NNVTS_STATUS_NONE) {
        const struct nnv_spec spec = {.model = *copy};
        struct nnv_edit e;
        nnv_edit_begin(&e, &spec, arena);
        done = !e.failed && nnv_edit_calls(&spec, arena, &calls, &err) == NNV_OK && change(bug, op, &e, calls) &&
               prepare(inner, &e.spec.model, config, arena, out);
    }
    nnv_arena_free(arena);
    return done;
}

/* --------------------------------------------------------------------- values */

void faulty_spoil(const struct bug *bug, const struct value *v) {
    const size_t n = v->elem ? v->bytes / v->elem : 0;
    double *numbers = v->data && n ? malloc(3 * n * sizeof *numbers) : NULL;
    bool any = false;
    if (!numbers) return;
    const struct nnv_fault_output y = {.type = v->type,
                                       .scale = v->scale,
                                       .zero_point = v->zero_point,
                                       .rank = v->batches ? v->rank : 0,
                                       .dims = v->dims,
                                       .n = n,
                                       .v = numbers,
                                       .poison = numbers + n};
    nnv_load(v->type, v->data, n, numbers);
    nnv_load(v->type, v->before, n, numbers + n);
    for (int i = 0; i < BUG_FAULTS && bug_fault(bug, i) && !any; i++)
        any = nnv_fault_spoil(bug_fault(bug, i), &y, numbers + 2 * n);
    if (any) nnv_store(v->type, numbers + 2 * n, n, v->data);
    free(numbers);
}
