/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/eval/frame.h"

#include <stdlib.h>

#include "reference/model/validate.h"

/* Keys of the noise of relaxed values, apart from those of rows.h. */
static const uint64_t RELAX_STREAM = UINT64_C(2) << 40;

bool nnv_frame_is_output(const struct nnv_frame *f, uint32_t operand) {
    return f->s->operands[operand].lifetime == NNV_SUBGRAPH_OUTPUT;
}

void nnv_frame_free_cell(struct nnv_frame *f, uint32_t operand) {
    struct nnv_cell *c = &f->cells[operand];
    if (c->data) f->data[operand] = NULL;
    if (!c->borrowed) free(c->rows);
    free(c->data);
    free(c->exact);
    *c = (struct nnv_cell){.readers = c->readers};
}

void nnv_frame_release(struct nnv_frame *f, const struct nnv_operation *o) {
    for (uint32_t i = 0; i < o->nin; i++)
        if (--f->cells[o->in[i]].readers == 0 && !nnv_frame_is_output(f, o->in[i])) nnv_frame_free_cell(f, o->in[i]);
    for (uint32_t i = 0; i < o->nout; i++)
        if (f->cells[o->out[i]].readers == 0 && !nnv_frame_is_output(f, o->out[i])) nnv_frame_free_cell(f, o->out[i]);
}

enum nnv_status nnv_frame_open(struct nnv_frame *f, const struct nnv_subgraph *s, uint64_t key, struct nnv_arena *arena,
                               struct nnv_err *err) {
    *f = (struct nnv_frame){
        .s = s,
        .key = key,
        .shapes = NNV_NEW(arena, struct nnv_shape, s->noperands),
        .data = NNV_NEW(arena, const void *, s->noperands),
        .present = NNV_NEW(arena, bool, s->noperands),
        .cells = NNV_NEW(arena, struct nnv_cell, s->noperands),
    };
    if (!f->shapes || !f->data || !f->present || !f->cells) return nnv_no_memory(err);
    for (uint32_t i = 0; i < s->noperands; i++) {
        f->shapes[i] = nnv_operand_shape(&s->operands[i]);
        f->data[i] = s->operands[i].data;
        f->present[i] = s->operands[i].lifetime != NNV_NO_VALUE;
    }
    for (uint32_t i = 0; i < s->noperations; i++)
        for (uint32_t n = 0; n < s->operations[i].nin; n++) f->cells[s->operations[i].in[n]].readers++;
    return NNV_OK;
}

void nnv_frame_close(struct nnv_frame *f) {
    for (uint32_t i = 0; f->cells && i < f->s->noperands; i++) nnv_frame_free_cell(f, i);
}

enum nnv_status nnv_frame_check_shape(const struct nnv_shape *declared, const struct nnv_shape *s,
                                      struct nnv_err *err) {
    char a[256], b[256];
    bool agree = !declared->known_rank || declared->rank == s->rank;
    for (uint32_t d = 0; agree && declared->known_rank && d < s->rank; d++)
        agree = nnv_dim_agree(declared->dims[d], s->dims[d]);
    if (agree) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "its shape is %s but the model declares %s", nnv_shape_text(s, a, sizeof a),
                    nnv_shape_text(declared, b, sizeof b));
}

/* True if float16 holds all the numbers. */
static bool all_half(const double *x, size_t n) {
    for (size_t e = 0; e < n; e++)
        if (nnv_half_to_double(nnv_double_to_half(x[e])) != x[e]) return false;
    return true;
}

/* Rows 1 to n of a number: to either side, if float16 can't hold it. */
static void relax_rows(const struct nnv_evaluator *ev, double *rows, size_t elems, uint64_t operand) {
    const double eta = ev->options->arithmetic.keep_subnormals ? 0x1p-25 : 0x1p-14;
    for (int r = 1; r <= ev->options->rows; r++) {
        struct nnv_signs signs = {.rng = nnv_rng_make(ev->options->seed, operand, RELAX_STREAM + (uint64_t)r)};
        for (size_t e = 0; e < elems; e++) {
            double x = rows[e], half = nnv_half_to_double(nnv_double_to_half(x));
            const double off = nnv_either_sign(&signs, 0x1p-11 * fabs(x) + eta);
            bool beyond = isfinite(x) && !isfinite(half);
            rows[(size_t)r * elems + e] = beyond ? (double)NAN : half == x ? x : x + off;
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

/* Constants, and what the caller of the whole model gives: a referenced subgraph's inputs have been rounded before. */
static bool is_given(const struct nnv_frame *f, uint32_t operand) {
    const struct nnv_operand *o = &f->s->operands[operand];
    return o->type == ANEURALNETWORKS_TENSOR_FLOAT32 && (nnv_is_constant(o) || f->key == 0) && f->data[operand] &&
           f->cells[operand].readers > 0;
}

enum nnv_status nnv_frame_relax(const struct nnv_evaluator *ev, struct nnv_frame *f, struct nnv_err *err) {
    if (!ev->model->relaxed || ev->options->rows == 0) return NNV_OK;
    for (uint32_t i = 0; i < f->s->noperands; i++) {
        if (!is_given(f, i) || is_read_raw(f->s, i)) continue;
        size_t elems = nnv_shape_elems(&f->shapes[i]), rows = (size_t)ev->options->rows + 1;
        if (elems > NNV_MOST_NUMBERS / rows)
            return nnv_fail(err, NNV_NO_MEMORY, "operand %u: is too large to be evaluated", i);
        double *y = malloc((elems * rows + 1) * sizeof *y);
        if (!y) return nnv_no_memory(err);
        nnv_load(ANEURALNETWORKS_TENSOR_FLOAT32, f->data[i], elems, y);
        if (all_half(y, elems)) {
            free(y);
            continue;
        }
        relax_rows(ev, y, elems, f->key << 32 | i);
        f->cells[i].rows = y;
    }
    return NNV_OK;
}
