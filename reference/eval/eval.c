/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/eval/eval.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "reference/eval/frame.h"
#include "reference/model/validate.h"

/* -------------------------------------------------------- units of the noise */

struct units {
    double u, u_i, u_a, eta, limit;
};

/* The schemes by which output 0 is requantised. */
static struct nnv_schemes schemes_of(const struct nnv_evaluator *ev, const struct nnv_call *call) {
    if (call->op->rounding != NNV_ROUND_LINEAR) return (struct nnv_schemes){NNV_SCHEME_ANY, NNV_SCHEME_ANY};
    return nnv_arithmetic_schemes(&ev->options->arithmetic, call->op->code, call->out[0].operand->type);
}

static struct units units_of(const struct nnv_evaluator *ev, const struct nnv_call *call) {
    int32_t type = call->out[0].operand->type;
    if (nnv_is_quant(type)) {
        const struct nnv_schemes s = schemes_of(ev, call);
        if (nnv_scheme_sums_floats(s.one) || nnv_scheme_sums_floats(s.other)) return (struct units){.u_a = 0x1p-24};
    }
    if (!nnv_is_float(type)) type = call->sig->type[NNV_T];
    if (!nnv_is_float(type)) return (struct units){0};
    const struct nnv_arithmetic *a = &ev->options->arithmetic;
    const bool half = nnv_type(type)->size == 2;
    if (!half && !ev->model->relaxed)
        return (struct units){0x1p-24, 0x1p-24, 0x1p-24, a->keep_subnormals ? 0x1p-150 : 0x1p-126, 0};
    return (struct units){.u = 0x1p-11,
                          .u_i = a->wide_steps ? 0x1p-24 : 0x1p-11,
                          .u_a = a->half_sums ? 0x1p-11 : 0x1p-24,
                          .eta = a->keep_subnormals ? 0x1p-25 : 0x1p-14,
                          .limit = 65504};
}

/* The number that may stand for infinity in operands of this type; 0: none. */
static double most_of(const struct nnv_evaluator *ev, int32_t type) {
    if (!ev->options->arithmetic.saturate || !nnv_is_float(type)) return 0;
    return nnv_type(type)->size == 2 || ev->model->relaxed ? 65504 : (double)FLT_MAX;
}

/* The id of the fused activation; negative: the operation has none. */
static int fused_id(const struct nnv_call *call) {
    for (uint8_t i = 0; i < call->form->nin; i++)
        if (call->form->in[i].rule == NNV_FUSE) return call->form->in[i].id;
    return -1;
}

/* The bounds of the fused activation; false if there is none. */
static bool activation_of(const struct nnv_call *call, double *lo, double *hi) {
    const int id = fused_id(call);
    if (id < 0) return false;
    int32_t code = nnv_int(call, id);
    *lo = code == ANEURALNETWORKS_FUSED_RELU1 ? -1 : 0;
    *hi = code == ANEURALNETWORKS_FUSED_RELU1 ? 1 : code == ANEURALNETWORKS_FUSED_RELU6 ? 6 : INFINITY;
    return code != ANEURALNETWORKS_FUSED_NONE;
}

/* ------------------------------------------------------------ one operation */

/* An operation in progress. */
struct job {
    struct nnv_call *call;
    int rows;         /* perturbed rows */
    bool same_inputs; /* in all rows */
    bool alike;       /* rows 1 to n would give what row 0 gave: they are not run */
    bool judged;      /* output 0 is an output of the model that nothing else reads: its spread is wanted alone */
    bool replayed;    /* rows 1 to n would give what row 0 gave, with noise: the store adds it, and they are not run */
    struct nnv_row_input *in;
    double **y;     /* per output: results of row 0, then of rows 0 to n; owned until the store step is done */
    double **out;   /* per output: the row that is being computed */
    size_t *elems;  /* per output */
    size_t numbers; /* of all outputs and rows */
    bool unshaped;  /* outputs whose shape the kernel decides */
    double *multiplier;
    struct units units;
    size_t most_numbers; /* bound of numbers */
    struct nnv_noise noise;
    enum nnv_rounding rounding; /* as the kernel left it */
};

static size_t most_numbers(const struct nnv_evaluator *ev) {
    return ev->options->most_numbers ? ev->options->most_numbers : NNV_MOST_NUMBERS;
}

/* Rounds numbers of float32 to float16; they need no alignment. */
static void halve(const void *from, size_t n, void *to) {
    for (size_t i = 0; i < n; i++) {
        double v;
        nnv_load(ANEURALNETWORKS_TENSOR_FLOAT32, (const float *)from + i, 1, &v);
        v = nnv_round_to(ANEURALNETWORKS_TENSOR_FLOAT16, v);
        nnv_store(ANEURALNETWORKS_TENSOR_FLOAT32, &v, 1, (float *)to + i);
    }
}

/* What an operation reads of an input. */
static enum nnv_status read_input(struct nnv_evaluator *ev, const struct nnv_arg *a, struct nnv_row_input *in,
                                  struct nnv_err *err) {
    in->elems = nnv_shape_elems(&a->shape);
    in->data = a->data;
    if (!ev->half || a->operand->type != ANEURALNETWORKS_TENSOR_FLOAT32) return NNV_OK;
    float *halved = NNV_NEW(ev->op, float, in->elems + 1);
    if (!halved) return nnv_no_memory(err);
    halve(a->data, in->elems, halved);
    in->data = halved;
    return NNV_OK;
}

/* Finds the inputs of the rows and room for their numbers. */
static enum nnv_status open_inputs(struct nnv_evaluator *ev, const struct nnv_frame *f, const struct nnv_operation *o,
                                   struct job *j, struct nnv_err *err) {
    size_t numbers = 0;
    j->in = NNV_NEW(ev->op, struct nnv_row_input, j->call->nin);
    if (!j->in) return nnv_no_memory(err);
    j->same_inputs = true;
    for (uint32_t i = 0; i < j->call->nin; i++) {
        const struct nnv_arg *a = &j->call->in[i];
        if (!a->present || a->operand->type == ANEURALNETWORKS_MODEL) continue;
        const double *rows = f->cells[o->in[i]].rows;
        j->in[i] = (struct nnv_row_input){.operand = a->operand, .stored = rows};
        enum nnv_status st = read_input(ev, a, &j->in[i], err);
        if (st) return st;
        numbers += nnv_row_space(&j->in[i]) + 8; /* keeps each aligned to 64 */
        if (rows) j->same_inputs = false;
    }
    if (numbers > j->most_numbers) return nnv_fail(err, NNV_NO_MEMORY, "the inputs are too large to be evaluated");
    if (numbers > ev->space_room) {
        free(ev->space);
        ev->space_room = 0;
        ev->space = aligned_alloc(64, (numbers + 7) / 8 * 64);
        if (!ev->space) return nnv_no_memory(err);
        ev->space_room = numbers;
    }
    double *space = ev->space;
    for (uint32_t i = 0; i < j->call->nin; i++) {
        if (!j->in[i].operand) continue;
        j->in[i].space = space;
        space += (nnv_row_space(&j->in[i]) + 7) / 8 * 8;
    }
    return NNV_OK;
}

/* Room for row 0 of output i, whose shape is known. */
static enum nnv_status open_output(struct job *j, uint32_t i, struct nnv_err *err) {
    size_t bytes, rows = (size_t)j->rows + 1;
    const struct nnv_arg *a = &j->call->out[i];
    if (!nnv_size_bytes(a->operand->type, a->shape.rank, a->shape.dims, &j->elems[i], &bytes) ||
        (j->numbers += j->elems[i] * rows) > j->most_numbers)
        return nnv_fail(err, NNV_NO_MEMORY, "output %u: is too large to be evaluated", i);
    j->y[i] = calloc(j->elems[i] + 1, sizeof(double));
    return j->y[i] ? NNV_OK : nnv_no_memory(err);
}

/* Room for all rows of output i, which are to be written. */
static enum nnv_status open_rows(struct job *j, uint32_t i, struct nnv_err *err) {
    const size_t elems = j->elems[i], others = elems * (size_t)j->rows;
    double *y = realloc(j->y[i], (elems + others + 1) * sizeof *y);
    if (!y) return nnv_no_memory(err);
    j->y[i] = y;
    return NNV_OK;
}

static enum nnv_status open_outputs(struct nnv_evaluator *ev, struct job *j, struct nnv_err *err) {
    const struct nnv_call *c = j->call;
    j->y = NNV_NEW(ev->op, double *, c->nout);
    j->out = NNV_NEW(ev->op, double *, c->nout);
    j->elems = NNV_NEW(ev->op, size_t, c->nout);
    if (!j->y || !j->out || !j->elems) return nnv_no_memory(err);
    for (uint32_t i = 0; i < c->nout; i++) {
        bool known = nnv_shape_known(&c->out[i].shape);
        enum nnv_status st = known ? open_output(j, i, err) : NNV_OK;
        if (!known && !c->op->sizes) st = nnv_fail(err, NNV_INTERNAL, "output %u: its shape is not known", i);
        if (st) return st;
        j->unshaped = j->unshaped || !known;
    }
    const bool given = c->op->rounding == NNV_ROUND_LINEAR || c->op->rounding == NNV_ROUND_RESCALE;
    if (j->rows > 0 && given && j->y[0] && nnv_is_quant(c->out[0].operand->type)) {
        j->multiplier = calloc(j->elems[0] + 1, sizeof(double));
        if (!j->multiplier) return nnv_no_memory(err);
    }
    return NNV_OK;
}

static enum nnv_status open_job(struct nnv_evaluator *ev, const struct nnv_frame *f, const struct nnv_operation *o,
                                struct job *j, struct nnv_err *err) {
    nnv_arena_reset(ev->op);
    enum nnv_status st = nnv_bind(f->s, o, f->shapes, f->data, f->present, ev->op, &j->call, NULL, err);
    j->most_numbers = most_numbers(ev);
    if (!st) st = open_inputs(ev, f, o, j, err);
    if (!st) st = open_outputs(ev, j, err);
    if (st) return st;
    j->units = units_of(ev, j->call);
    j->rounding = j->call->op->rounding;
    j->noise = (struct nnv_noise){
        .rows = j->rows, .seed = ev->options->seed, .op = ev->counter++, .alternative = ev->options->alternative};
    return NNV_OK;
}

static void close_job(struct job *j) {
    for (uint32_t i = 0; j->y && i < j->call->nout; i++) free(j->y[i]);
    free(j->multiplier);
    free(j->noise.tape);
    free(j->noise.strip);
}

static bool is_empty(const struct job *j) {
    for (uint32_t i = 0; i < j->call->nout; i++)
        if (j->elems[i] > 0) return false;
    return !j->unshaped;
}

enum nnv_status nnv_give_shape(struct nnv_kernel *k, uint32_t i, const struct nnv_shape *shape, struct nnv_err *err) {
    struct job *j = k->job;
    struct nnv_shape *out = &j->call->out[i].shape;
    if (k->row > 0) return NNV_OK;
    enum nnv_status st = nnv_frame_check_shape(out, shape, err);
    if (st) return nnv_at(err, st, "output %u", i);
    *out = *shape;
    if (!j->y[i]) st = open_output(j, i, err);
    j->out[i] = j->y[i];
    return st;
}

/* The kernel's view of a row, or of two: its inputs are loaded anew where they differ from the last row's. */
static struct nnv_kernel kernel_of(struct nnv_evaluator *ev, struct job *j, int row, bool two) {
    for (uint32_t i = 0; i < j->call->nin; i++)
        if (j->in[i].stored) j->in[i].units = j->in[i].real = NULL;
    return (struct nnv_kernel){
        .call = j->call,
        .scratch = ev->scratch,
        .rounding = j->call->op->rounding,
        .out = j->out,
        .multiplier = row == 0 ? j->multiplier : NULL,
        .row = row,
        .next = two ? j->elems[0] : 0,
        .same_inputs = j->same_inputs && row > 0 && !ev->options->recompute,
        .spreads = !j->same_inputs && j->rows > 0,
        .noise = j->rows > 0 ? &j->noise : NULL,
        .u_i = j->units.u_i,
        .u_a = j->units.u_a,
        .eta = j->units.eta,
        .arithmetic = &ev->options->arithmetic,
        .choice = ev->options->choice,
        .rows = j->in,
        .job = j,
    };
}

/* Runs a row, or two. */
static enum nnv_status run_row(struct nnv_evaluator *ev, struct job *j, int row, bool two, struct nnv_err *err) {
    nnv_arena_reset(ev->scratch);
    nnv_noise_begin(&j->noise, row);
    for (uint32_t i = 0; i < j->call->nout; i++) j->out[i] = j->y[i] ? j->y[i] + (size_t)row * j->elems[i] : NULL;
    struct nnv_kernel k = kernel_of(ev, j, row, two);
    enum nnv_status st = j->call->op->eval(&k, err);
    if (st) return st;
    if (j->noise.no_memory) return nnv_no_memory(err);
    if (j->noise.broken || (row > 0 && j->noise.at != j->noise.count))
        return nnv_fail(err, NNV_INTERNAL, "row %d calls other hooks than row 0", row);
    for (uint32_t i = 0; i < j->call->nout; i++)
        if (!j->y[i]) return nnv_fail(err, NNV_INTERNAL, "output %u: its shape is not known", i);
    if (row == 0) j->rounding = k.rounding;
    ev->open = ev->open || j->noise.open;
    if (k.choices > ev->choices) ev->choices = k.choices;
    return NNV_OK;
}

static enum nnv_status run_rows(struct nnv_evaluator *ev, struct job *j, struct nnv_err *err) {
    enum nnv_status st = run_row(ev, j, 0, false, err);
    j->alike = j->same_inputs && !nnv_noise_active(&j->noise);
    j->replayed = j->judged && j->same_inputs && !ev->options->recompute && j->noise.replays && !j->noise.hazard &&
                  j->noise.count == j->elems[0] && !j->alike;
    if (j->alike || j->replayed) return st;
    const bool written = j->noise.strips || j->noise.replays; /* all results of a row are, by such kernels */
    for (uint32_t i = 0; !st && i < j->call->nout && j->rows > 0; i++) {
        st = open_rows(j, i, err);
        if (!st && !written) memset(j->y[i] + j->elems[i], 0, j->elems[i] * (size_t)j->rows * sizeof(double));
    }
    const bool twos = j->noise.strips && j->same_inputs && !ev->options->recompute;
    for (int r = 1; !st && r <= j->rows; r++) {
        const bool two = twos && r < j->rows;
        st = run_row(ev, j, r, two, err);
        r += two;
    }
    return st;
}

/* What output i of the job points at, if it is one of the model's and its operation's record says that it is indices.
 */
static enum nnv_status keep_source(struct nnv_evaluator *ev, const struct nnv_frame *f, struct job *j, uint32_t i,
                                   struct nnv_cell *cell, struct nnv_err *err) {
    enum nnv_judged judged = (enum nnv_judged)nnv_out_slot(j->call->form, i)->judged;
    if (judged == NNV_JUDGED_VALUE || judged == NNV_JUDGED_CHOICE || f->key != 0) return NNV_OK;
    if (judged != NNV_JUDGED_SAMPLES && j->rows == 0) return NNV_OK;
    struct nnv_kernel k = kernel_of(ev, j, 0, false);
    cell->source = nnv_source_of(&k, judged == NNV_JUDGED_LEAST ? -1 : 1, ev->results);
    return cell->source ? NNV_OK : nnv_no_memory(err);
}

/* The operand is an output of the model that nothing else reads. */
static bool is_judged(const struct nnv_frame *f, uint32_t operand) {
    return nnv_frame_is_output(f, operand) && f->key == 0 && f->cells[operand].readers == 0;
}

/* Makes output i of the job the value of its operand. */
static enum nnv_status store_output(struct nnv_evaluator *ev, struct nnv_frame *f, uint32_t operand, struct job *j,
                                    uint32_t i, struct nnv_err *err) {
    struct nnv_cell *cell = &f->cells[operand];
    const struct nnv_operand *o = &f->s->operands[operand];
    size_t elems = j->elems[i];
    const bool output = nnv_frame_is_output(f, operand), judged = is_judged(f, operand);
    double *spread = judged && j->rows > 0 ? NNV_NEW(ev->results, double, elems) : NULL;
    nnv_frame_free_cell(f, operand);
    cell->data = malloc(elems * nnv_type(o->type)->size + 1);
    cell->exact = output ? calloc(elems + 1, sizeof(double)) : NULL;
    cell->spread = spread;
    if (!cell->data || (output && !cell->exact) || (judged && j->rows > 0 && !spread)) return nnv_no_memory(err);
    enum nnv_status st = j->alike && !spread && j->rows > 0 ? open_rows(j, i, err) : NNV_OK;
    if (!st && output) st = keep_source(ev, f, j, i, cell, err);
    if (st) return st;
    struct nnv_store s = {
        .operand = o,
        .rounding = j->rounding,
        .u = j->units.u,
        .eta = j->units.eta,
        .limit = j->units.limit,
        .from_u = nnv_is_float(j->call->sig->type[NNV_T]) ? 0x1p-24 : 0,
        .most = most_of(ev, o->type),
        .saturates = fused_id(j->call) >= 0 && most_of(ev, o->type) > 0,
        .arithmetic = &ev->options->arithmetic,
        .k = ev->options->k,
        .multiplier = i == 0 ? j->multiplier : NULL,
        .schemes = i == 0 && j->multiplier && j->rounding == NNV_ROUND_LINEAR
                       ? schemes_of(ev, j->call)
                       : (struct nnv_schemes){NNV_SCHEME_ANY, NNV_SCHEME_ANY},
        .seed = ev->options->seed,
        .key = j->noise.op << 8 | (i + 1),
        .rows = j->rows,
        .alike = j->alike,
        .hooks = j->replayed ? &j->noise : NULL,
        .elems = elems,
        .y = j->y[i],
        .spread = spread,
        .exact = cell->exact,
        .data = cell->data,
    };
    s.clamp = activation_of(j->call, &s.lo, &s.hi);
    if (!nnv_store_rows(&s) && !spread) {
        cell->rows = j->y[i];
        j->y[i] = NULL;
    }
    if (ev->half && o->type == ANEURALNETWORKS_TENSOR_FLOAT32) halve(cell->data, elems, cell->data);
    f->shapes[operand] = j->call->out[i].shape;
    f->data[operand] = cell->data;
    return NNV_OK;
}

static enum nnv_status run_operation(struct nnv_evaluator *ev, struct nnv_frame *f, const struct nnv_operation *o,
                                     struct nnv_err *err) {
    const struct nnv_op *record = nnv_op(o->type);
    if (record && record->check_subgraphs) return nnv_flow_operation(ev, f, o, err);
    struct job j = {.rows = ev->options->rows, .judged = is_judged(f, o->out[0])};
    enum nnv_status st = open_job(ev, f, o, &j, err);
    if (!st && !is_empty(&j)) st = run_rows(ev, &j, err);
    for (uint32_t i = 0; !st && i < j.call->nout; i++) st = store_output(ev, f, o->out[i], &j, i, err);
    close_job(&j);
    return st;
}

enum nnv_status nnv_frame_run(struct nnv_evaluator *ev, struct nnv_frame *f, struct nnv_err *err) {
    for (uint32_t i = 0; i < f->s->noperations; i++) {
        const struct nnv_operation *o = &f->s->operations[i];
        ev->half = ev->options->half && f->key == 0 && ev->options->half[i];
        enum nnv_status st = run_operation(ev, f, o, err);
        if (!st) {
            nnv_frame_release(f, o);
            continue;
        }
        const struct nnv_op *op = nnv_op(o->type);
        return op ? nnv_at(err, st, "operation %u (%s)", i, op->name) : nnv_at(err, st, "operation %u", i);
    }
    return NNV_OK;
}

/* Puts the caller's inputs into the frame. */
static enum nnv_status set_inputs(struct nnv_frame *f, const struct nnv_value *inputs, struct nnv_err *err) {
    for (uint32_t i = 0; i < f->s->nin; i++) {
        uint32_t operand = f->s->in[i];
        const struct nnv_value *v = &inputs[i];
        f->present[operand] = !v->omitted;
        if (v->omitted) continue;
        size_t elems, bytes;
        struct nnv_shape s = nnv_shape_make(v->rank, v->dims);
        enum nnv_status st = nnv_frame_check_shape(&f->shapes[operand], &s, err);
        if (st) return nnv_at(err, st, "input %u", i);
        if (!nnv_size_bytes(f->s->operands[operand].type, v->rank, v->dims, &elems, &bytes) || bytes != v->bytes)
            return nnv_fail(err, NNV_INVALID, "input %u: its %zu bytes do not fit its shape", i, v->bytes);
        f->shapes[operand] = s;
        f->data[operand] = v->data;
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------- results */

/* The unrounded results of an output; those of a value that control flow passed through are what is stored. */
static const double *exact_of(struct nnv_evaluator *ev, const struct nnv_frame *f, uint32_t operand, size_t elems) {
    const struct nnv_operand *o = &f->s->operands[operand];
    const double *exact = f->cells[operand].exact;
    if (exact) return nnv_arena_copy(ev->results, exact, elems * sizeof *exact);
    double *stored = NNV_NEW(ev->results, double, elems);
    if (!stored) return NULL;
    nnv_load(o->type, f->cells[operand].data, elems, stored);
    bool scaled = nnv_is_quant(o->type) && !nnv_type(o->type)->per_channel;
    for (size_t e = 0; scaled && e < elems; e++) stored[e] = (stored[e] - o->zero_point) * (double)o->scale;
    return stored;
}

static enum nnv_status give_output(struct nnv_evaluator *ev, const struct nnv_frame *f, uint32_t operand,
                                   struct nnv_golden *out, struct nnv_err *err) {
    const struct nnv_cell *c = &f->cells[operand];
    const struct nnv_shape *s = &f->shapes[operand];
    if (!c->data) return nnv_fail(err, NNV_INVALID, "no operation writes this output");
    size_t elems = nnv_shape_elems(s), bytes = elems * nnv_type(f->s->operands[operand].type)->size;
    struct nnv_golden g = {.exact = exact_of(ev, f, operand, elems), .source = c->source, .choices = ev->choices};
    g.value.rank = s->rank;
    memcpy(g.value.dims, s->dims, s->rank * sizeof *s->dims);
    g.value.bytes = bytes;
    g.value.data = nnv_arena_copy(ev->results, c->data, bytes);
    if (!g.value.data || !g.exact) return nnv_no_memory(err);
    if (ev->options->rows > 0) {
        double *spread = c->spread ? NULL : NNV_NEW(ev->results, double, elems);
        if (!c->spread && !spread) return nnv_no_memory(err);
        const double most = most_of(ev, f->s->operands[operand].type);
        if (c->rows) nnv_spread_rows(c->rows, elems, ev->options->rows, most, elems, spread);
        g.spread = c->spread ? c->spread : spread;
        g.open = ev->open;
    }
    *out = g;
    return NNV_OK;
}

/* All outputs or none. */
static enum nnv_status give_outputs(struct nnv_evaluator *ev, const struct nnv_frame *f, struct nnv_arena *arena,
                                    struct nnv_golden *outputs, struct nnv_err *err) {
    struct nnv_golden *all = NNV_NEW(arena, struct nnv_golden, f->s->nout);
    if (!all) return nnv_no_memory(err);
    for (uint32_t i = 0; i < f->s->nout; i++) {
        enum nnv_status st = give_output(ev, f, f->s->out[i], &all[i], err);
        if (st) return nnv_at(err, st, "output %u", i);
    }
    memcpy(outputs, all, f->s->nout * sizeof *all);
    return NNV_OK;
}

enum nnv_status nnv_eval(const struct nnv_model *model, const struct nnv_value *inputs,
                         const struct nnv_eval_options *options, struct nnv_arena *arena, struct nnv_golden *outputs,
                         struct nnv_err *err) {
    struct nnv_evaluator ev = {.model = model, .options = options, .results = arena};
    struct nnv_arena *frames = nnv_arena_new();
    struct nnv_frame main = {0};
    ev.op = nnv_arena_new();
    ev.scratch = nnv_arena_new();
    enum nnv_status st = frames && ev.op && ev.scratch ? NNV_OK : nnv_no_memory(err);
    if (!st && (options->rows < 0 || options->rows > NNV_MAX_ROWS))
        st = nnv_fail(err, NNV_INVALID, "%d rows: expected 0 to %d", options->rows, NNV_MAX_ROWS);
    if (!st) st = nnv_frame_open(&main, &model->main, 0, frames, err);
    if (!st) st = set_inputs(&main, inputs, err);
    if (!st) st = nnv_frame_relax(&ev, &main, err);
    if (!st) st = nnv_frame_run(&ev, &main, err);
    if (!st) st = give_outputs(&ev, &main, frames, outputs, err);
    nnv_frame_close(&main);
    free(ev.space);
    nnv_arena_free(ev.scratch);
    nnv_arena_free(ev.op);
    nnv_arena_free(frames);
    return st;
}
