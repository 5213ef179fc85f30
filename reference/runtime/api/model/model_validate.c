/* SPDX-License-Identifier: Apache-2.0 */
/** @file model_validate.c The rules of a whole model in run order, and the feature level of each operation. */
#include <string.h>

#include "base/type.h"
#include "reference/model/validate.h"
#include "reference/runtime/api/model/building.h"
#include "reference/runtime/device.h"
#include "reference/runtime/log.h"

enum {
    OK = ANEURALNETWORKS_NO_ERROR,
    BAD = ANEURALNETWORKS_BAD_DATA,
    NO_MEMORY = ANEURALNETWORKS_OUT_OF_MEMORY,
    EXTENSION_LEVEL = 3,
};
static const char function[] = "Model_finish";

/* ------------------------------------------------------------ default arguments */

/* The scalar at position i has the value that it would have if it were not there. */
static bool is_default(const struct nnv_call *call, uint32_t i) {
    const struct nnv_slot *slot = &call->form->in[i];
    if (!(slot->flags & NNV_SCALAR) || !call->in[i].present || !call->in[i].data) return false;
    double value = 0;
    nnv_load(call->in[i].operand->type, call->in[i].data, 1, &value);
    return value == slot->dflt || value == (double)(float)slot->dflt;
}

/* Drops trailing inputs of a bound use that equal their defaults. True if there were some. */
static bool drop_defaults(const struct nnv_call *call, struct nnv_operation *op) {
    uint32_t n = op->nin;
    while (n && !call->repeat && call->form->in[n - 1].group) {
        uint32_t first = n;
        bool all = true;
        for (; first && call->form->in[first - 1].group == call->form->in[n - 1].group; first--)
            all = all && is_default(call, first - 1);
        if (!all) break;
        n = first;
    }
    bool fewer = n < op->nin;
    op->nin = n;
    return fewer;
}

/* -------------------------------------------------------------------- the walk */

struct walk {
    struct ANeuralNetworksModel *m;
    struct nnv_rt_building *b;
    struct nnv_model model; /* for the checks of IF and WHILE */
    struct nnv_shape *shapes;
    const void **data;
    int32_t *levels;
};

/* Of one operand that is used. */
static int check_operand(const struct walk *w, uint32_t i) {
    const struct nnv_operand *o = &w->b->graph.operands[i];
    struct nnv_err err = {0};
    int level;
    if (!nnv_type(o->type)) return OK; /* all was checked when it was added */
    if (o->lifetime == NNV_TEMPORARY_VARIABLE && o->type == ANEURALNETWORKS_MODEL)
        return nnv_rt_error(BAD, function, "operand %u is of type MODEL, but no model has been set", i);
    enum nnv_status st = nnv_operand_check(o, &level, &err);
    if (st) st = nnv_at(&err, st, "operand %u", i);
    return st ? nnv_rt_refuse(function, &err) : OK;
}

static int check_operands(const struct walk *w) {
    const struct nnv_subgraph *g = &w->b->graph;
    int result = OK;
    for (uint32_t i = 0; i < g->nin && !result; i++) result = check_operand(w, g->in[i]);
    for (uint32_t i = 0; i < g->nout && !result; i++) result = check_operand(w, g->out[i]);
    for (uint32_t k = 0; k < g->noperations; k++) {
        const struct nnv_operation *op = &g->operations[k];
        for (uint32_t i = 0; i < op->nin && !result; i++) result = check_operand(w, op->in[i]);
        for (uint32_t i = 0; i < op->nout && !result; i++) result = check_operand(w, op->out[i]);
    }
    return result;
}

static enum nnv_status bind(struct walk *w, const struct nnv_operation *op, struct nnv_call **call, int *level,
                            struct nnv_err *err) {
    enum nnv_status st = nnv_bind(&w->b->graph, op, w->shapes, w->data, NULL, w->b->scratch, call, level, err);
    if (st != NNV_INVALID) return st;
    nnv_rt_vlog(NNV_RT_LOG_MODEL, "%s: this will be found when the model is computed", err->text);
    *err = (struct nnv_err){0};
    return nnv_bind_signature(&w->b->graph, op, w->shapes, w->b->scratch, call, level, err);
}

/* Drops arguments that say nothing, where the rest is the same use of the operation. */
static void trim(struct walk *w, struct nnv_operation *op, const struct nnv_call *call, int *level) {
    uint32_t before = op->nin;
    int less = 0;
    struct nnv_call *again = NULL;
    if (!drop_defaults(call, op)) return;
    if (bind(w, op, &again, &less, &(struct nnv_err){0}) == NNV_OK && again->form == call->form)
        *level = less;
    else
        op->nin = before;
}

/* The models that an IF or WHILE refers to may be of a higher level than it is itself. */
static int level_below(const struct walk *w, const struct nnv_operation *op) {
    int level = 1;
    for (uint32_t i = 0; i < op->nin; i++) {
        const struct nnv_rt_extra *e = &w->b->extra[op->in[i]];
        if (e->value && level < e->value->level) level = e->value->level;
    }
    return level;
}

/* What an operation reads and writes may be of a higher level than its use: tensors of unknown rank came with level 3.
 */
static int level_of_operands(const struct walk *w, const struct nnv_operation *op) {
    int most = 1;
    for (uint32_t i = 0; i < op->nin + op->nout; i++) {
        const struct nnv_operand *o = &w->b->graph.operands[i < op->nin ? op->in[i] : op->out[i - op->nin]];
        int level = 1;
        if (nnv_type(o->type) && nnv_operand_check(o, &level, NULL) == NNV_OK && most < level) most = level;
    }
    return most;
}

static int check_operation(struct walk *w, uint32_t k) {
    struct nnv_operation *op = &w->b->graph.operations[k];
    struct nnv_call *call = NULL;
    struct nnv_err err = {0};
    int level = nnv_rt_is_extension(op->type) ? EXTENSION_LEVEL : 1;
    if (nnv_rt_is_extension(op->type) && !nnv_rt_extension_is_known((uint16_t)(op->type >> 16)))
        return nnv_rt_error(BAD, function, "operation type %d belongs to no extension that a device has", op->type);
    if (!nnv_rt_is_foreign(op->type)) {
        enum nnv_status st = bind(w, op, &call, &level, &err);
        if (!st && call->op->check_subgraphs) st = call->op->check_subgraphs(call, &w->model, &err);
        const struct nnv_op *record = nnv_op(op->type);
        if (st) {
            (void)nnv_at(&err, st, "operation %s", record ? record->name : "");
            return nnv_rt_refuse(function, &err);
        }
        for (uint32_t i = 0; i < op->nout; i++) w->shapes[op->out[i]] = call->out[i].shape;
        trim(w, op, call, &level);
    }
    const int below = level_below(w, op), operands = level_of_operands(w, op);
    if (level < below) level = below;
    w->levels[k] = level > operands ? level : operands;
    nnv_arena_reset(w->b->scratch);
    return OK;
}

/* The graphs that are referred to, for the checks of IF and WHILE, which look at their inputs and outputs. */
static bool collect(struct walk *w) {
    struct nnv_subgraph *list = NNV_NEW(w->m->arena, struct nnv_subgraph, w->b->ref_count);
    if (!list) return false;
    for (uint32_t i = 0; i < w->b->ref_count; i++) list[i] = w->b->refs[i]->building->graph;
    w->model = (struct nnv_model){
        .main = w->b->graph, .referenced = list, .nreferenced = w->b->ref_count, .relaxed = w->b->relaxed};
    return true;
}

int nnv_rt_validate(struct ANeuralNetworksModel *m, int32_t **levels) {
    struct nnv_rt_building *b = m->building;
    struct walk w = {.m = m, .b = b, .shapes = b->shapes, .data = b->data};
    w.levels = *levels = NNV_NEW(m->arena, int32_t, b->graph.noperations);
    if (!w.levels || !collect(&w)) return NO_MEMORY;
    for (uint32_t i = 0; i < b->graph.noperands; i++)
        b->data[i] = nnv_is_constant(&b->graph.operands[i]) ? b->graph.operands[i].data : NULL;
    int result = check_operands(&w);
    for (uint32_t k = 0; k < b->graph.noperations && !result; k++) result = check_operation(&w, k);
    return result;
}
