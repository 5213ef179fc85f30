/* SPDX-License-Identifier: Apache-2.0 */
/** @file tflite.c See tflite.h. */
#include "tests/kit/tflite.h"

#include <math.h>

int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->arena = nnv_arena_new();
    f->w = w_new();
    *state = f;
    return 0;
}

int teardown(void **state) {
    struct fixture *f = *state;
    nnv_arena_free(f->arena);
    free(f->w);
    free(f);
    return 0;
}

struct writer *fresh(struct fixture *f) {
    free(f->w);
    nnv_arena_reset(f->arena);
    return f->w = w_new();
}

void import_ok(struct fixture *f) {
    struct nnv_err err = {0};
    if (w_import(f->w, f->arena, &f->net, &err) != NNV_OK) fail_msg("%s", err.text);
}

void import_bad(struct fixture *f, enum nnv_status status, const char *words) {
    struct nnv_err err = {0};
    assert_int_equal(w_import(f->w, f->arena, &f->net, &err), status);
    if (!strstr(err.text, words)) fail_msg("'%s' is not in '%s'", words, err.text);
}

bool uses(const struct fixture *f, int32_t code) {
    const struct nnv_subgraph *s = &f->net.model.main;
    for (uint32_t i = 0; i < s->noperations; i++)
        if (s->operations[i].type == code) return true;
    return false;
}

void expect_output(struct fixture *f, const double *in, uint32_t o, size_t n, const double *out) {
    const struct nnv_subgraph *s = &f->net.model.main;
    struct nnv_value *v = NNV_NEW(f->arena, struct nnv_value, s->nin);
    struct nnv_golden *result = NNV_NEW(f->arena, struct nnv_golden, s->nout);
    struct nnv_err err = {0};
    const struct nnv_eval_options options = {0};
    for (uint32_t i = 0; i < s->nin; i++) {
        const struct nnv_operand *x = &s->operands[s->in[i]];
        size_t elems;
        assert_true(nnv_operand_size(x, &elems, &v[i].bytes));
        v[i].rank = x->rank;
        memcpy(v[i].dims, x->dims, x->rank * sizeof *x->dims);
        v[i].data = nnv_arena_alloc(f->arena, v[i].bytes, 1);
        nnv_store(x->type, in, elems, v[i].data);
        in += elems;
    }
    if (nnv_eval(&f->net.model, v, &options, f->arena, result, &err) != NNV_OK) fail_msg("%s", err.text);
    double got[64];
    const struct nnv_operand *y = &s->operands[s->out[o]];
    size_t elems, bytes;
    assert_true(nnv_operand_size(y, &elems, &bytes) && elems <= 64);
    assert_int_equal(elems, n);
    nnv_load(y->type, result[o].value.data, n, got);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - out[i]) <= 1e-5 * fmax(1, fabs(out[i]))))
            fail_msg("number %zu is %.9g, expected %.9g", i, got[i], out[i]);
}

struct w_operator *with_option(struct fixture *f, int code, int tag) {
    struct writer *w = fresh(f);
    const int x = w_input(w, W_TENSOR(w, F, 3)), y = w_output(w, W_TENSOR(w, F, 3));
    return W_OP(w, code, tag, y, x);
}
