/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/validate.h"

#include <stdio.h>

/* What is known of the operands of one subgraph while its operations are gone through in order. */
struct walk {
    const struct nnv_model *model;
    const struct nnv_subgraph *s;
    struct nnv_arena *arena;
    struct nnv_shape *shapes;
    const void **data;
    bool *written;
    int level;
};

static enum nnv_status check_operands(struct walk *w, struct nnv_err *err) {
    if (w->s->noperands == 0) return nnv_fail(err, NNV_INVALID, "no operands");
    if (w->s->noperations == 0) return nnv_fail(err, NNV_INVALID, "no operations");
    for (uint32_t i = 0; i < w->s->noperands; i++) {
        int level = 0;
        enum nnv_status st = nnv_operand_check(&w->s->operands[i], &level, err);
        if (st) return nnv_at(err, st, "operand %u", i);
        if (w->level < level) w->level = level;
    }
    return NNV_OK;
}

/* The list and the lifetime agree in both directions, and no operand stands twice. */
static enum nnv_status check_list(const struct nnv_subgraph *s, const uint32_t *list, uint32_t n,
                                  enum nnv_lifetime lifetime, struct nnv_arena *arena, struct nnv_err *err) {
    const char *what = lifetime == NNV_SUBGRAPH_INPUT ? "input" : "output";
    bool *listed = NNV_NEW(arena, bool, s->noperands);
    if (!listed) return nnv_no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] >= s->noperands)
            return nnv_fail(err, NNV_INVALID, "%s %u of the subgraph: there is no operand %u", what, i, list[i]);
        if (listed[list[i]])
            return nnv_fail(err, NNV_INVALID, "%s %u of the subgraph: operand %u stands there twice", what, i, list[i]);
        if (s->operands[list[i]].lifetime != lifetime)
            return nnv_fail(err, NNV_INVALID, "%s %u of the subgraph: operand %u has lifetime %s", what, i, list[i],
                            nnv_lifetime_name(s->operands[list[i]].lifetime));
        listed[list[i]] = true;
    }
    for (uint32_t i = 0; i < s->noperands; i++)
        if (s->operands[i].lifetime == lifetime && !listed[i])
            return nnv_fail(err, NNV_INVALID, "operand %u has lifetime %s, but is not among the %ss", i,
                            nnv_lifetime_name(lifetime), what);
    return NNV_OK;
}

static bool is_computed(const struct nnv_operand *o) {
    return o->lifetime == NNV_TEMPORARY_VARIABLE || o->lifetime == NNV_SUBGRAPH_OUTPUT;
}

static enum nnv_status check_order(struct walk *w, const struct nnv_operation *op, struct nnv_err *err) {
    const struct nnv_subgraph *s = w->s;
    for (uint32_t i = 0; i < op->nin; i++) {
        if (op->in[i] >= s->noperands)
            return nnv_fail(err, NNV_INVALID, "input %u: there is no operand %u", i, op->in[i]);
        if (is_computed(&s->operands[op->in[i]]) && !w->written[op->in[i]])
            return nnv_fail(err, NNV_INVALID, "input %u: operand %u is read before it is written", i, op->in[i]);
    }
    for (uint32_t i = 0; i < op->nout; i++) {
        if (op->out[i] >= s->noperands)
            return nnv_fail(err, NNV_INVALID, "output %u: there is no operand %u", i, op->out[i]);
        if (!is_computed(&s->operands[op->out[i]]))
            return nnv_fail(err, NNV_INVALID, "output %u: operand %u has lifetime %s and can't be written", i,
                            op->out[i], nnv_lifetime_name(s->operands[op->out[i]].lifetime));
        if (w->written[op->out[i]])
            return nnv_fail(err, NNV_INVALID, "output %u: operand %u is written twice", i, op->out[i]);
        w->written[op->out[i]] = true;
    }
    return NNV_OK;
}

static enum nnv_status walk_start(struct walk *w, struct nnv_err *err) {
    uint32_t n = w->s->noperands;
    if (!w->shapes) w->shapes = NNV_NEW(w->arena, struct nnv_shape, n);
    w->data = NNV_NEW(w->arena, const void *, n);
    w->written = NNV_NEW(w->arena, bool, n);
    if (!w->shapes || !w->data || !w->written) return nnv_no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        w->shapes[i] = nnv_operand_shape(&w->s->operands[i]);
        w->data[i] = nnv_is_constant(&w->s->operands[i]) ? w->s->operands[i].data : NULL;
    }
    return NNV_OK;
}

/* Binds all operations in order and carries the shapes along. */
static enum nnv_status walk_operations(struct walk *w, struct nnv_err *err) {
    enum nnv_status st = walk_start(w, err);
    for (uint32_t i = 0; !st && i < w->s->noperations; i++) {
        const struct nnv_operation *op = &w->s->operations[i];
        struct nnv_call *call = NULL;
        int level = 0;
        st = check_order(w, op, err);
        if (!st) st = nnv_bind(w->s, op, w->shapes, w->data, NULL, w->arena, &call, &level, err);
        if (!st && call->op->check_subgraphs) st = call->op->check_subgraphs(call, w->model, err);
        if (st) {
            const struct nnv_op *record = nnv_op(op->type);
            return nnv_at(err, st, record ? "operation %u (%s)" : "operation %u", i, record ? record->name : "");
        }
        for (uint32_t k = 0; k < op->nout; k++) w->shapes[op->out[k]] = call->out[k].shape;
        if (w->level < level) w->level = level;
    }
    return st;
}

static enum nnv_status check_written(const struct walk *w, struct nnv_err *err) {
    for (uint32_t i = 0; i < w->s->noperands; i++)
        if (is_computed(&w->s->operands[i]) && !w->written[i])
            return nnv_fail(err, NNV_INVALID, "operand %u has lifetime %s, but nothing writes it", i,
                            nnv_lifetime_name(w->s->operands[i].lifetime));
    return NNV_OK;
}

static enum nnv_status check_subgraph(const struct nnv_model *m, const struct nnv_subgraph *s, struct nnv_arena *arena,
                                      int *level, struct nnv_err *err) {
    struct walk w = {.model = m, .s = s, .arena = arena, .level = NNV_LEVEL_MIN};
    enum nnv_status st = check_operands(&w, err);
    if (!st) st = check_list(s, s->in, s->nin, NNV_SUBGRAPH_INPUT, arena, err);
    if (!st) st = check_list(s, s->out, s->nout, NNV_SUBGRAPH_OUTPUT, arena, err);
    if (!st) st = walk_operations(&w, err);
    if (!st) st = check_written(&w, err);
    if (!st && *level < w.level) *level = w.level;
    return st;
}

/* How many levels of subgraphs hang below each referenced one, plus one; marks while they are being counted. */
enum { UNSEEN = 0, OPEN = UINT8_MAX };

/* References must exist, must not go in circles, and must not go too deep. *height: levels below s. */
static enum nnv_status check_references(const struct nnv_model *m, const struct nnv_subgraph *s, int depth,
                                        uint8_t *seen, int *height, struct nnv_err *err) {
    *height = 0;
    for (uint32_t i = 0; i < s->noperands; i++) {
        if (s->operands[i].lifetime != NNV_SUBGRAPH) continue;
        uint32_t to = s->operands[i].subgraph;
        if (to >= m->nreferenced)
            return nnv_fail(err, NNV_INVALID, "operand %u: there is no referenced subgraph %u", i, to);
        if (seen[to] == OPEN)
            return nnv_fail(
                err, NNV_INVALID,
                "operand %u: referenced subgraph %u refers to itself in the end, but recursion is not allowed", i, to);
        int below = seen[to] - 1;
        if (seen[to] == UNSEEN && depth < NNV_MAX_NESTING) {
            seen[to] = OPEN;
            enum nnv_status st = check_references(m, &m->referenced[to], depth + 1, seen, &below, err);
            if (st) return depth ? st : nnv_at(err, st, "operand %u: referenced subgraph %u", i, to);
            seen[to] = (uint8_t)(below + 1);
        }
        if (below < 0 || depth + 1 + below > NNV_MAX_NESTING)
            return nnv_fail(err, NNV_INVALID, "operand %u: subgraphs are nested more than %d deep", i, NNV_MAX_NESTING);
        if (*height < below + 1) *height = below + 1;
    }
    return NNV_OK;
}

enum nnv_status nnv_validate(const struct nnv_model *model, struct nnv_arena *arena, int *level, struct nnv_err *err) {
    int needed = model->relaxed ? 2 : NNV_LEVEL_MIN;
    uint8_t *seen = NNV_NEW(arena, uint8_t, model->nreferenced);
    int height;
    if (!seen) return nnv_no_memory(err);
    enum nnv_status st = check_references(model, &model->main, 0, seen, &height, err);
    for (uint32_t i = 0; !st && i < model->nreferenced; i++) { /* those that main does not reach */
        if (seen[i] != UNSEEN) continue;
        seen[i] = OPEN;
        st = check_references(model, &model->referenced[i], 1, seen, &height, err);
        seen[i] = (uint8_t)(height + 1);
        if (st) return nnv_at(err, st, "referenced subgraph %u", i);
    }
    if (!st) st = check_subgraph(model, &model->main, arena, &needed, err);
    for (uint32_t i = 0; !st && i < model->nreferenced; i++) {
        st = check_subgraph(model, &model->referenced[i], arena, &needed, err);
        if (st) return nnv_at(err, st, "referenced subgraph %u", i);
    }
    if (!st && level) *level = needed;
    return st;
}

enum nnv_status nnv_infer_shapes(const struct nnv_model *model, struct nnv_arena *arena, struct nnv_shape *shapes,
                                 struct nnv_err *err) {
    struct walk w = {.model = model, .s = &model->main, .arena = arena, .shapes = shapes};
    return walk_operations(&w, err);
}
