/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/eval/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "reference/eval/frame.h"
#include "reference/model/validate.h"

/* Of a whole evaluation: subgraphs that each run two others need no loop to go on for ever. */
enum { MOST_RUNS = 1 << 20 };
static const uint64_t LONGEST_LOOP_NS = 15000000000;

/* An operation of control flow that is being evaluated. */
struct nnv_flow {
    struct nnv_evaluator *ev;
    struct nnv_frame *outer;
    const struct nnv_operation *use;
    const struct nnv_call *call;
    uint64_t start_ns;
    bool doubt; /* rows disagreed about a condition */
};

void nnv_flow_free(struct nnv_flow_value *value) {
    if (!value->borrowed) {
        free(value->data);
        free(value->rows);
        free(value->exact);
    }
    *value = (struct nnv_flow_value){0};
}

struct nnv_flow_value nnv_flow_input(const struct nnv_flow *f, uint32_t pos) {
    uint32_t operand = f->use->in[pos];
    /* nobody writes through a borrowed value */
    return (struct nnv_flow_value){.shape = f->outer->shapes[operand],
                                   .data = (void *)f->outer->data[operand],
                                   .rows = f->outer->cells[operand].rows,
                                   .borrowed = true};
}

const struct nnv_subgraph *nnv_flow_subgraph(const struct nnv_flow *f, uint32_t pos) {
    return &f->ev->model->referenced[f->call->in[pos].operand->subgraph];
}

/* ------------------------------------------------------------- running one */

static enum nnv_status enter(struct nnv_frame *f, const struct nnv_flow_value *values, struct nnv_err *err) {
    for (uint32_t i = 0; i < f->s->nin; i++) {
        uint32_t operand = f->s->in[i];
        enum nnv_status st = nnv_frame_check_shape(&f->shapes[operand], &values[i].shape, err);
        if (st) return nnv_at(err, st, "input %u", i);
        f->shapes[operand] = values[i].shape;
        f->data[operand] = values[i].data;
        f->cells[operand].rows = values[i].rows;
        f->cells[operand].borrowed = true;
    }
    return NNV_OK;
}

/* Moves the values of the outputs out of the frame. */
static void leave(struct nnv_frame *f, struct nnv_flow_value *results) {
    for (uint32_t i = 0; i < f->s->nout; i++) {
        uint32_t operand = f->s->out[i];
        struct nnv_cell *c = &f->cells[operand];
        results[i] =
            (struct nnv_flow_value){.shape = f->shapes[operand], .data = c->data, .rows = c->rows, .exact = c->exact};
        *c = (struct nnv_cell){0};
    }
}

enum nnv_status nnv_flow_run(struct nnv_flow *f, uint32_t pos, const struct nnv_flow_value *values,
                             struct nnv_flow_value *results, struct nnv_err *err) {
    uint32_t index = f->call->in[pos].operand->subgraph;
    struct nnv_frame frame = {0};
    const uint64_t most = f->ev->options->most_runs ? f->ev->options->most_runs : MOST_RUNS;
    if (f->ev->runs++ >= most)
        return nnv_fail(err, NNV_TIMEOUT, "more than %llu subgraphs were run: does the model ever end?",
                        (unsigned long long)most);
    struct nnv_arena *arena = nnv_arena_new();
    enum nnv_status st = arena ? NNV_OK : nnv_no_memory(err);
    if (!st) st = nnv_frame_open(&frame, nnv_flow_subgraph(f, pos), UINT64_C(1) + index, arena, err);
    if (!st) st = enter(&frame, values, err);
    if (!st) st = nnv_frame_relax(f->ev, &frame, err);
    if (!st) st = nnv_frame_run(f->ev, &frame, err);
    if (!st) leave(&frame, results);
    nnv_frame_close(&frame);
    nnv_arena_free(arena);
    return st ? nnv_at(err, st, "subgraph %u", index) : NNV_OK;
}

/* --------------------------------------------------------------- decisions */

enum nnv_status nnv_flow_test(struct nnv_flow *f, const struct nnv_flow_value *value, bool *truth,
                              struct nnv_err *err) {
    double v;
    if (nnv_shape_elems(&value->shape) != 1) {
        char text[256];
        return nnv_fail(err, NNV_INVALID, "the condition has shape %s, expected [1]",
                        nnv_shape_text(&value->shape, text, sizeof text));
    }
    nnv_load(ANEURALNETWORKS_TENSOR_BOOL8, value->data, 1, &v);
    for (int r = 1; value->rows && r <= f->ev->options->rows; r++) f->doubt = f->doubt || !(value->rows[r] == v);
    *truth = v != 0;
    return NNV_OK;
}

enum nnv_status nnv_flow_tick(const struct nnv_flow *f, struct nnv_err *err) {
    uint64_t most = f->ev->options->loop_timeout_ns ? f->ev->options->loop_timeout_ns : LONGEST_LOOP_NS;
    if (nnv_now_ns() - f->start_ns <= most) return NNV_OK;
    return nnv_fail(err, NNV_TIMEOUT, "the loop did not end within %g s", (double)most / 1e9);
}

/* ----------------------------------------------------------------- results */

/* Memory of its own for a value that belongs to the outer subgraph. */
static enum nnv_status own(struct nnv_flow_value *v, size_t elems, size_t bytes, int rows, struct nnv_err *err) {
    void *data = malloc(bytes + 1);
    double *copy = v->rows ? malloc(elems * ((size_t)rows + 1) * sizeof *copy + 1) : NULL;
    if (!data || (v->rows && !copy)) {
        free(data);
        free(copy);
        return nnv_no_memory(err);
    }
    if (bytes) memcpy(data, v->data, bytes);
    if (copy) memcpy(copy, v->rows, elems * ((size_t)rows + 1) * sizeof *copy);
    *v = (struct nnv_flow_value){.shape = v->shape, .data = data, .rows = copy};
    return NNV_OK;
}

/* Rows 1 to n become NaN, "not compared". */
static enum nnv_status give_up(struct nnv_flow_value *v, int32_t type, size_t elems, int rows, struct nnv_err *err) {
    if (!v->rows) v->rows = malloc(elems * ((size_t)rows + 1) * sizeof *v->rows + 1);
    if (!v->rows) return nnv_no_memory(err);
    nnv_load(type, v->data, elems, v->rows);
    for (size_t e = elems; e < elems * ((size_t)rows + 1); e++) v->rows[e] = (double)NAN;
    return NNV_OK;
}

enum nnv_status nnv_flow_give(struct nnv_flow *f, uint32_t i, struct nnv_flow_value *value, struct nnv_err *err) {
    uint32_t operand = f->use->out[i];
    int32_t type = f->call->out[i].operand->type;
    int rows = f->ev->options->rows;
    size_t elems = nnv_shape_elems(&value->shape), bytes = elems * nnv_type(type)->size;
    enum nnv_status st = nnv_frame_check_shape(&f->call->out[i].shape, &value->shape, err);
    if (st) return nnv_at(err, st, "output %u", i);
    if (elems > NNV_MOST_NUMBERS / ((size_t)rows + 1))
        return nnv_fail(err, NNV_NO_MEMORY, "output %u: is too large to be evaluated", i);
    if (value->borrowed) st = own(value, elems, bytes, rows, err);
    if (!st && f->doubt && rows > 0) st = give_up(value, type, elems, rows, err);
    if (st) return st;
    nnv_frame_free_cell(f->outer, operand);
    struct nnv_cell *c = &f->outer->cells[operand];
    c->data = value->data;
    c->rows = value->rows;
    c->exact = value->exact;
    f->outer->shapes[operand] = value->shape;
    f->outer->data[operand] = value->data;
    *value = (struct nnv_flow_value){0};
    return NNV_OK;
}

enum nnv_status nnv_flow_operation(struct nnv_evaluator *ev, struct nnv_frame *f, const struct nnv_operation *o,
                                   struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_call *call = NULL;
    enum nnv_status st = arena ? NNV_OK : nnv_no_memory(err);
    if (!st) st = nnv_bind(f->s, o, f->shapes, f->data, f->present, arena, &call, NULL, err);
    if (!st) {
        struct nnv_flow flow = {.ev = ev, .outer = f, .use = o, .call = call, .start_ns = nnv_now_ns()};
        struct nnv_kernel k = {.call = call, .scratch = arena, .rounding = NNV_ROUND_NONE, .flow = &flow};
        st = call->op->eval(&k, err);
    }
    nnv_arena_free(arena);
    return st;
}
