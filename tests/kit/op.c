/* SPDX-License-Identifier: Apache-2.0 */
/** @file op.c See op.h. */
#include "tests/kit/op.h"

#include <math.h>

struct use *use_new(int32_t code) {
    struct nnv_arena *a = nnv_arena_new();
    assert_non_null(a);
    struct use *u = NNV_NEW(a, struct use, 1);
    assert_non_null(u);
    u->arena = a;
    u->op = (struct nnv_operation){.type = code, .in = u->in, .out = u->out};
    return u;
}

void use_free(struct use *u) { nnv_arena_free(u->arena); }

struct nnv_operand *use_operand(struct use *u, int32_t type, uint32_t rank, const uint32_t *dims) {
    struct nnv_operand *o = &u->operands[u->model.main.noperands++];
    o->type = type;
    o->rank = rank;
    o->dims = nnv_arena_copy(u->arena, dims, rank * sizeof *dims);
    return o;
}

void use_in(struct use *u, int32_t type, uint32_t rank, const uint32_t *dims, const double *values) {
    u->in[u->op.nin++] = u->model.main.noperands;
    struct nnv_value *v = &u->values[u->model.main.nin];
    u->model_in[u->model.main.nin++] = u->model.main.noperands;
    use_operand(u, type, rank, dims)->lifetime = NNV_SUBGRAPH_INPUT;
    size_t elems;
    assert_true(nnv_size_bytes(type, rank, dims, &elems, &v->bytes));
    v->rank = rank;
    memcpy(v->dims, dims, rank * sizeof *dims);
    v->data = nnv_arena_alloc(u->arena, v->bytes, 1);
    nnv_store(type, values, elems, v->data);
}

void use_const(struct use *u, int32_t type, uint32_t rank, const uint32_t *dims, const double *values) {
    u->in[u->op.nin++] = u->model.main.noperands;
    struct nnv_operand *o = use_operand(u, type, rank, dims);
    size_t elems;
    o->lifetime = NNV_CONSTANT_COPY;
    assert_true(nnv_size_bytes(type, rank, dims, &elems, &o->bytes));
    void *data = nnv_arena_alloc(u->arena, o->bytes, 1);
    nnv_store(type, values, elems, data);
    o->data = data;
}

void use_scalar(struct use *u, int32_t type, double value) { use_const(u, type, 0, NULL, &value); }

void use_omit(struct use *u, int32_t type, uint32_t rank, bool late) {
    static const uint32_t unknown[4] = {0};
    u->in[u->op.nin++] = u->model.main.noperands;
    if (late) {
        u->values[u->model.main.nin].omitted = true;
        u->model_in[u->model.main.nin++] = u->model.main.noperands;
    }
    use_operand(u, type, rank, unknown)->lifetime = late ? NNV_SUBGRAPH_INPUT : NNV_NO_VALUE;
}

void use_drop(struct use *u, int position) {
    struct nnv_operand *o = &u->operands[u->in[position]];
    o->lifetime = NNV_NO_VALUE;
    o->data = NULL;
    o->bytes = 0;
}

void use_quant(struct use *u, double scale, int32_t zero_point) {
    struct nnv_operand *o = &u->operands[u->model.main.noperands - 1];
    o->scale = (float)scale;
    o->zero_point = zero_point;
}

void use_out(struct use *u, int32_t type) {
    u->out[u->op.nout++] = u->model.main.noperands;
    use_operand(u, type, 0, NULL)->lifetime = NNV_SUBGRAPH_OUTPUT;
}

enum nnv_status use_run(struct use *u) {
    struct nnv_eval_options options = {.rows = u->rows, .k = 2, .seed = 1};
    struct nnv_subgraph *s = &u->model.main;
    s->operands = u->operands;
    s->operations = &u->op;
    s->noperations = 1;
    s->in = u->model_in;
    s->out = u->out;
    s->nout = u->op.nout;
    u->err = (struct nnv_err){0};
    enum nnv_status st = nnv_validate(&u->model, u->arena, &u->level, &u->err);
    return st ? st : nnv_eval(&u->model, u->values, &options, u->arena, u->results, &u->err);
}

void use_expect(struct use *u, uint32_t out, uint32_t rank, const uint32_t *dims, const double *values,
                double tolerance) {
    if (use_run(u)) fail_msg("%s", u->err.text);
    const struct nnv_value *v = &u->results[out].value;
    assert_int_equal(v->rank, rank);
    size_t n = 1;
    for (uint32_t i = 0; i < rank; i++) {
        assert_int_equal(v->dims[i], dims[i]);
        n *= dims[i];
    }
    double *got = NNV_NEW(u->arena, double, n);
    nnv_load(u->operands[u->out[out]].type, v->data, n, got);
    for (size_t e = 0; e < n; e++)
        if (!(fabs(got[e] - values[e]) <= tolerance))
            fail_msg("output %u, element %zu: expected %.9g, got %.9g", out, e, values[e], got[e]);
}

void use_refuse(struct use *u, const char *words) {
    enum nnv_status st = use_run(u);
    if (st != NNV_INVALID) fail_msg("not refused (%d)", st);
    if (!strstr(u->err.text, words)) fail_msg("refused with \"%s\", which lacks \"%s\"", u->err.text, words);
}

double use_spread(struct use *u, uint32_t out) {
    u->rows = 8;
    if (use_run(u)) fail_msg("%s", u->err.text);
    const struct nnv_golden *g = &u->results[out];
    size_t n = g->value.bytes / nnv_type(u->operands[u->out[out]].type)->size;
    double most = 0;
    for (size_t e = 0; e < n; e++) {
        if (isnan(g->spread[e])) return g->spread[e];
        if (g->spread[e] > most) most = g->spread[e];
    }
    return most;
}

struct nnv_kernel row_kernel(struct nnv_noise *n, int row, size_t next, const struct nnv_arithmetic *promise) {
    nnv_noise_begin(n, row);
    return (struct nnv_kernel){.row = row,
                               .next = next,
                               .same_inputs = row > 0,
                               .noise = n,
                               .u_i = 0x1p-11,
                               .u_a = 0x1p-24,
                               .eta = 0x1p-14,
                               .arithmetic = promise};
}
