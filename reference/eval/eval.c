/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/eval/eval.h"

#include <stdlib.h>
#include <string.h>

#include "reference/eval/rows.h"
#include "reference/model/validate.h"

/* Numbers (8 bytes) that one operation may need: a bound on the memory that a hostile model can ask for. */
static const size_t MOST_NUMBERS = (size_t)1 << 29;
/* Keys of the noise of relaxed inputs, apart from those of rows.h. */
static const uint64_t RELAX_STREAM = UINT64_C(2) << 40;

/* The value of an operand in all rows. */
struct cell {
    double *rows;     /* stored numbers of rows 0 to n, where they are not all equal; owned */
    void *data;       /* of an intermediate or output: row 0 in the operand's type; owned */
    double *exact;    /* outputs: unrounded results; arena's */
    uint32_t readers; /* operations that will still read it */
};

/* A subgraph that is being evaluated; arrays have one entry an operand. */
struct frame {
    const struct nnv_subgraph *s;
    struct nnv_shape *shapes;
    const void **data;
    bool *present;
    struct cell *cells;
};

struct evaluator {
    const struct nnv_eval_options *options;
    bool relaxed;
    struct nnv_arena *results; /* the caller's */
    struct nnv_arena *op;      /* emptied after each operation */
    struct nnv_arena *scratch; /* emptied after each row */
    double *space;             /* doubles of the inputs of the operation */
    size_t space_room;
    uint64_t counter; /* of executed operations: key of the noise */
};

static enum nnv_status no_memory(struct nnv_err *err) { return nnv_fail(err, NNV_NO_MEMORY, "out of memory"); }

/* -------------------------------------------------------- units of the noise */

struct units {
    double u, u_i, u_a, eta, limit;
};

static struct units units_of(const struct evaluator *ev, const struct nnv_call *call) {
    int32_t type = call->out[0].operand->type;
    if (!nnv_is_float(type)) type = call->sig->type[NNV_T];
    if (!nnv_is_float(type)) return (struct units){0};
    bool half = nnv_type(type)->size == 2;
    if (!half && !ev->relaxed) return (struct units){0x1p-24, 0x1p-24, 0x1p-24, 0x1p-126, 0};
    struct units u = {0x1p-11, 0x1p-11, 0x1p-24, 0x1p-14, 65504};
    if (ev->options->strict_fp16) u.u_i = 0x1p-24;
    if (ev->options->fp16_accumulators) u.u_a = 0x1p-11;
    return u;
}

/* The bounds of the fused activation; false if there is none. */
static bool activation_of(const struct nnv_call *call, double *lo, double *hi) {
    int id = -1;
    for (uint8_t i = 0; i < call->form->nin; i++)
        if (call->form->in[i].rule == NNV_FUSE) id = call->form->in[i].id;
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
    struct nnv_row_input *in;
    double **y;    /* per output: results of rows 0 to n; owned until the store step is done */
    double **out;  /* per output: the row that is being computed */
    size_t *elems; /* per output */
    double *multiplier;
    struct units units;
    struct nnv_noise noise;
    enum nnv_rounding rounding; /* as the kernel left it */
};

/* Finds the inputs of the rows and room for their numbers. */
static enum nnv_status open_inputs(struct evaluator *ev, const struct frame *f, const struct nnv_operation *o,
                                   struct job *j, struct nnv_err *err) {
    size_t numbers = 0;
    j->in = NNV_NEW(ev->op, struct nnv_row_input, j->call->nin);
    if (!j->in) return no_memory(err);
    j->same_inputs = true;
    for (uint32_t i = 0; i < j->call->nin; i++) {
        const struct nnv_arg *a = &j->call->in[i];
        if (!a->present || a->operand->type == ANEURALNETWORKS_MODEL) continue;
        const double *rows = f->cells[o->in[i]].rows;
        j->in[i] = (struct nnv_row_input){
            .operand = a->operand, .elems = nnv_shape_elems(&a->shape), .data = a->data, .stored = rows};
        numbers += nnv_row_space(&j->in[i]) + 8; /* keeps each aligned to 64 */
        if (rows) j->same_inputs = false;
    }
    if (numbers > MOST_NUMBERS) return nnv_fail(err, NNV_NO_MEMORY, "the inputs are too large to be evaluated");
    if (numbers > ev->space_room) {
        free(ev->space);
        ev->space_room = 0;
        ev->space = aligned_alloc(64, (numbers + 7) / 8 * 64);
        if (!ev->space) return no_memory(err);
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

static enum nnv_status open_outputs(struct evaluator *ev, struct job *j, struct nnv_err *err) {
    const struct nnv_call *c = j->call;
    size_t rows = (size_t)j->rows + 1, numbers = 0;
    j->y = NNV_NEW(ev->op, double *, c->nout);
    j->out = NNV_NEW(ev->op, double *, c->nout);
    j->elems = NNV_NEW(ev->op, size_t, c->nout);
    if (!j->y || !j->out || !j->elems) return no_memory(err);
    for (uint32_t i = 0; i < c->nout; i++) {
        size_t bytes;
        const struct nnv_shape *s = &c->out[i].shape;
        if (!nnv_shape_known(s)) return nnv_fail(err, NNV_INTERNAL, "output %u: its shape is not known", i);
        if (!nnv_size_bytes(c->out[i].operand->type, s->rank, s->dims, &j->elems[i], &bytes) ||
            (numbers += j->elems[i] * rows) > MOST_NUMBERS)
            return nnv_fail(err, NNV_NO_MEMORY, "output %u: is too large to be evaluated", i);
        j->y[i] = calloc(j->elems[i] * rows + 1, sizeof(double));
        if (!j->y[i]) return no_memory(err);
    }
    if (j->rows > 0 && c->op->rounding == NNV_ROUND_LINEAR && nnv_is_quant(c->out[0].operand->type)) {
        j->multiplier = calloc(j->elems[0] + 1, sizeof(double));
        if (!j->multiplier) return no_memory(err);
    }
    return NNV_OK;
}

static enum nnv_status open_job(struct evaluator *ev, const struct frame *f, const struct nnv_operation *o,
                                struct job *j, struct nnv_err *err) {
    nnv_arena_reset(ev->op);
    enum nnv_status st = nnv_bind(f->s, o, f->shapes, f->data, f->present, ev->op, &j->call, NULL, err);
    if (!st) st = open_inputs(ev, f, o, j, err);
    if (!st) st = open_outputs(ev, j, err);
    if (st) return st;
    j->units = units_of(ev, j->call);
    j->rounding = j->call->op->rounding;
    j->noise = (struct nnv_noise){.rows = j->rows, .seed = ev->options->seed, .op = ev->counter++};
    return NNV_OK;
}

static void close_job(struct job *j) {
    for (uint32_t i = 0; j->y && i < j->call->nout; i++) free(j->y[i]);
    free(j->multiplier);
    free(j->noise.tape);
}

static bool is_empty(const struct job *j) {
    for (uint32_t i = 0; i < j->call->nout; i++)
        if (j->elems[i] > 0) return false;
    return true;
}

static enum nnv_status run_row(struct evaluator *ev, struct job *j, int row, struct nnv_err *err) {
    nnv_arena_reset(ev->scratch);
    nnv_noise_begin(&j->noise, row);
    for (uint32_t i = 0; i < j->call->nin; i++)
        if (j->in[i].stored) j->in[i].units = j->in[i].real = NULL;
    for (uint32_t i = 0; i < j->call->nout; i++) j->out[i] = j->y[i] + (size_t)row * j->elems[i];
    struct nnv_kernel k = {
        .call = j->call,
        .scratch = ev->scratch,
        .rounding = j->call->op->rounding,
        .out = j->out,
        .multiplier = row == 0 ? j->multiplier : NULL,
        .row = row,
        .same_inputs = j->same_inputs && row > 0,
        .noise = j->rows > 0 ? &j->noise : NULL,
        .u_i = j->units.u_i,
        .u_a = j->units.u_a,
        .eta = j->units.eta,
        .rows = j->in,
    };
    enum nnv_status st = j->call->op->eval(&k, err);
    if (st) return st;
    if (j->noise.no_memory) return no_memory(err);
    if (j->noise.broken || (row > 0 && j->noise.at != j->noise.count))
        return nnv_fail(err, NNV_INTERNAL, "row %d calls other hooks than row 0", row);
    if (row == 0) j->rounding = k.rounding;
    return NNV_OK;
}

static enum nnv_status run_rows(struct evaluator *ev, struct job *j, struct nnv_err *err) {
    enum nnv_status st = run_row(ev, j, 0, err);
    for (int r = 1; !st && r <= j->rows; r++) {
        if (!j->same_inputs || j->noise.active) {
            st = run_row(ev, j, r, err);
            continue;
        }
        for (uint32_t i = 0; i < j->call->nout; i++)
            memcpy(j->y[i] + (size_t)r * j->elems[i], j->y[i], j->elems[i] * sizeof(double));
    }
    return st;
}

/* ---------------------------------------------------------------- a subgraph */

static bool is_output(const struct frame *f, uint32_t operand) {
    return f->s->operands[operand].lifetime == NNV_SUBGRAPH_OUTPUT;
}

static void free_cell(struct frame *f, uint32_t operand) {
    struct cell *c = &f->cells[operand];
    if (c->data) f->data[operand] = NULL;
    free(c->rows);
    free(c->data);
    c->rows = NULL;
    c->data = NULL;
}

/* Makes output i of the job the value of its operand. */
static enum nnv_status store_output(struct evaluator *ev, struct frame *f, uint32_t operand, struct job *j, uint32_t i,
                                    struct nnv_err *err) {
    struct cell *cell = &f->cells[operand];
    const struct nnv_operand *o = &f->s->operands[operand];
    size_t elems = j->elems[i];
    free_cell(f, operand);
    cell->data = malloc(elems * nnv_type(o->type)->size + 1);
    if (is_output(f, operand)) cell->exact = NNV_NEW(ev->results, double, elems);
    if (!cell->data || (is_output(f, operand) && !cell->exact)) return no_memory(err);
    struct nnv_store s = {
        .operand = o,
        .rounding = j->rounding,
        .u = j->units.u,
        .eta = j->units.eta,
        .limit = j->units.limit,
        .from_u = nnv_is_float(j->call->sig->type[NNV_T]) ? 0x1p-24 : 0,
        .k = ev->options->k,
        .multiplier = i == 0 ? j->multiplier : NULL,
        .seed = ev->options->seed,
        .key = j->noise.op << 8 | (i + 1),
        .rows = j->rows,
        .elems = elems,
        .y = j->y[i],
        .exact = cell->exact,
        .data = cell->data,
    };
    s.clamp = activation_of(j->call, &s.lo, &s.hi);
    if (!nnv_store_rows(&s)) {
        cell->rows = j->y[i];
        j->y[i] = NULL;
    }
    f->shapes[operand] = j->call->out[i].shape;
    f->data[operand] = cell->data;
    f->present[operand] = true;
    return NNV_OK;
}

static enum nnv_status run_operation(struct evaluator *ev, struct frame *f, const struct nnv_operation *o,
                                     struct nnv_err *err) {
    struct job j = {.rows = ev->options->rows};
    enum nnv_status st = open_job(ev, f, o, &j, err);
    if (!st && !is_empty(&j)) st = run_rows(ev, &j, err);
    for (uint32_t i = 0; !st && i < j.call->nout; i++) st = store_output(ev, f, o->out[i], &j, i, err);
    close_job(&j);
    if (st) return st;
    for (uint32_t i = 0; i < o->nin; i++)
        if (--f->cells[o->in[i]].readers == 0 && !is_output(f, o->in[i])) free_cell(f, o->in[i]);
    for (uint32_t i = 0; i < o->nout; i++)
        if (f->cells[o->out[i]].readers == 0 && !is_output(f, o->out[i])) free_cell(f, o->out[i]);
    return NNV_OK;
}

/* Executes the operations of the frame's subgraph; its inputs stand in the frame. */
static enum nnv_status run_subgraph(struct evaluator *ev, struct frame *f, struct nnv_err *err) {
    for (uint32_t i = 0; i < f->s->noperations; i++) {
        const struct nnv_operation *o = &f->s->operations[i];
        enum nnv_status st = run_operation(ev, f, o, err);
        if (!st) continue;
        const struct nnv_op *op = nnv_op(o->type);
        return op ? nnv_at(err, st, "operation %u (%s)", i, op->name) : nnv_at(err, st, "operation %u", i);
    }
    return NNV_OK;
}

static enum nnv_status open_frame(struct frame *f, const struct nnv_subgraph *s, struct nnv_arena *arena,
                                  struct nnv_err *err) {
    *f = (struct frame){
        .s = s,
        .shapes = NNV_NEW(arena, struct nnv_shape, s->noperands),
        .data = NNV_NEW(arena, const void *, s->noperands),
        .present = NNV_NEW(arena, bool, s->noperands),
        .cells = NNV_NEW(arena, struct cell, s->noperands),
    };
    if (!f->shapes || !f->data || !f->present || !f->cells) return no_memory(err);
    for (uint32_t i = 0; i < s->noperands; i++) {
        f->shapes[i] = nnv_operand_shape(&s->operands[i]);
        f->data[i] = s->operands[i].data;
        f->present[i] = s->operands[i].lifetime != NNV_NO_VALUE;
    }
    for (uint32_t i = 0; i < s->noperations; i++)
        for (uint32_t n = 0; n < s->operations[i].nin; n++) f->cells[s->operations[i].in[n]].readers++;
    return NNV_OK;
}

static void close_frame(struct frame *f) {
    for (uint32_t i = 0; f->cells && i < f->s->noperands; i++) free_cell(f, i);
}

/* The actual shape s must be what the model declares. */
static enum nnv_status check_declared(const struct nnv_shape *declared, const struct nnv_shape *s,
                                      struct nnv_err *err) {
    char a[256], b[256];
    bool agree = !declared->known_rank || declared->rank == s->rank;
    for (uint32_t d = 0; agree && declared->known_rank && d < s->rank; d++)
        agree = nnv_dim_agree(declared->dims[d], s->dims[d]);
    if (agree) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "its shape is %s but the model declares %s", nnv_shape_text(s, a, sizeof a),
                    nnv_shape_text(declared, b, sizeof b));
}

/* Puts the caller's inputs into the frame. */
static enum nnv_status set_inputs(struct frame *f, const struct nnv_value *inputs, struct nnv_err *err) {
    for (uint32_t i = 0; i < f->s->nin; i++) {
        uint32_t operand = f->s->in[i];
        const struct nnv_value *v = &inputs[i];
        f->present[operand] = !v->omitted;
        if (v->omitted) continue;
        size_t elems, bytes;
        struct nnv_shape s = nnv_shape_make(v->rank, v->dims);
        enum nnv_status st = check_declared(&f->shapes[operand], &s, err);
        if (st) return nnv_at(err, st, "input %u", i);
        if (!nnv_size_bytes(f->s->operands[operand].type, v->rank, v->dims, &elems, &bytes) || bytes != v->bytes)
            return nnv_fail(err, NNV_INVALID, "input %u: its %zu bytes do not fit its shape", i, v->bytes);
        f->shapes[operand] = s;
        f->data[operand] = v->data;
    }
    return NNV_OK;
}

/* True if float16 holds all the numbers. */
static bool all_half(const double *x, size_t n) {
    for (size_t e = 0; e < n; e++)
        if (nnv_half_to_double(nnv_double_to_half(x[e])) != x[e]) return false;
    return true;
}

/* Rows 1 to n of a number: to either side, if float16 can't hold it. */
static void relax_rows(const struct evaluator *ev, double *rows, size_t elems, uint64_t operand) {
    for (int r = 1; r <= ev->options->rows; r++) {
        struct nnv_signs signs = {.rng = nnv_rng_make(ev->options->seed, operand, RELAX_STREAM + (uint64_t)r)};
        for (size_t e = 0; e < elems; e++) {
            double x = rows[e], half = nnv_half_to_double(nnv_double_to_half(x)), sign = nnv_sign(&signs);
            bool beyond = isfinite(x) && !isfinite(half);
            rows[(size_t)r * elems + e] = beyond      ? (double)NAN
                                          : half == x ? x
                                                      : x + sign * (0x1p-11 * fabs(x) + 0x1p-14);
        }
    }
}

/* True if an operation works on the encoding of the operand: then nobody may round it. */
static bool is_read_raw(const struct nnv_subgraph *s, uint32_t operand) {
    for (uint32_t i = 0; i < s->noperations; i++) {
        const struct nnv_op *op = nnv_op(s->operations[i].type);
        for (uint32_t n = 0; op && op->raw && n < s->operations[i].nin; n++)
            if (s->operations[i].in[n] == operand) return true;
    }
    return false;
}

/* Float32 inputs and constants of a relaxed model may be rounded to float16 before they are used. */
static enum nnv_status relax_values(const struct evaluator *ev, struct frame *f, struct nnv_err *err) {
    if (!ev->relaxed || ev->options->rows == 0) return NNV_OK;
    for (uint32_t i = 0; i < f->s->noperands; i++) {
        if (f->s->operands[i].type != ANEURALNETWORKS_TENSOR_FLOAT32 || !f->data[i] || f->cells[i].readers == 0 ||
            is_read_raw(f->s, i))
            continue;
        size_t elems = nnv_shape_elems(&f->shapes[i]), rows = (size_t)ev->options->rows + 1;
        if (elems > MOST_NUMBERS / rows)
            return nnv_fail(err, NNV_NO_MEMORY, "operand %u: is too large to be evaluated", i);
        double *y = malloc((elems * rows + 1) * sizeof *y);
        if (!y) return no_memory(err);
        nnv_load(ANEURALNETWORKS_TENSOR_FLOAT32, f->data[i], elems, y);
        if (all_half(y, elems)) {
            free(y);
            continue;
        }
        relax_rows(ev, y, elems, i);
        f->cells[i].rows = y;
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------- results */

static enum nnv_status give_output(struct evaluator *ev, const struct frame *f, uint32_t operand,
                                   struct nnv_golden *out, struct nnv_err *err) {
    const struct cell *c = &f->cells[operand];
    const struct nnv_shape *s = &f->shapes[operand];
    if (!c->data) return nnv_fail(err, NNV_INVALID, "no operation writes this output");
    size_t elems = nnv_shape_elems(s), bytes = elems * nnv_type(f->s->operands[operand].type)->size;
    struct nnv_golden g = {.exact = c->exact};
    g.value.rank = s->rank;
    memcpy(g.value.dims, s->dims, s->rank * sizeof *s->dims);
    g.value.bytes = bytes;
    g.value.data = nnv_arena_copy(ev->results, c->data, bytes);
    if (!g.value.data) return no_memory(err);
    if (ev->options->rows > 0) {
        double *spread = NNV_NEW(ev->results, double, elems);
        if (!spread) return no_memory(err);
        if (c->rows) nnv_spread_rows(c->rows, elems, ev->options->rows, spread);
        g.spread = spread;
    }
    *out = g;
    return NNV_OK;
}

/* All outputs or none. */
static enum nnv_status give_outputs(struct evaluator *ev, const struct frame *f, struct nnv_arena *arena,
                                    struct nnv_golden *outputs, struct nnv_err *err) {
    struct nnv_golden *all = NNV_NEW(arena, struct nnv_golden, f->s->nout);
    if (!all) return no_memory(err);
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
    struct evaluator ev = {.options = options, .relaxed = model->relaxed, .results = arena};
    struct nnv_arena *frames = nnv_arena_new();
    struct frame main = {0};
    ev.op = nnv_arena_new();
    ev.scratch = nnv_arena_new();
    enum nnv_status st = frames && ev.op && ev.scratch ? NNV_OK : no_memory(err);
    if (!st && (options->rows < 0 || options->rows > NNV_MAX_ROWS))
        st = nnv_fail(err, NNV_INVALID, "%d rows: expected 0 to %d", options->rows, NNV_MAX_ROWS);
    if (!st) st = open_frame(&main, &model->main, frames, err);
    if (!st) st = set_inputs(&main, inputs, err);
    if (!st) st = relax_values(&ev, &main, err);
    if (!st) st = run_subgraph(&ev, &main, err);
    if (!st) st = give_outputs(&ev, &main, frames, outputs, err);
    close_frame(&main);
    free(ev.space);
    nnv_arena_free(ev.scratch);
    nnv_arena_free(ev.op);
    nnv_arena_free(frames);
    return st;
}
