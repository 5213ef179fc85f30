/* SPDX-License-Identifier: Apache-2.0 */
/** @file tflite.c See tflite.h. */
#include "tests/kit/tflite.h"

#include <math.h>

#include "tests/kit/network.h"

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

bool uses(const struct fixture *f, int32_t code) { return count_operations(&f->net.model, code) > 0; }

void expect_output(struct fixture *f, const double *in, uint32_t o, size_t n, const double *out) {
    size_t elems;
    const double *got = compute(&f->net.model, in, o, &elems, f->arena);
    assert_int_equal(elems, n);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - out[i]) <= 1e-5 * fmax(1, fabs(out[i]))))
            fail_msg("number %zu is %.9g, expected %.9g", i, got[i], out[i]);
}

struct w_operator *with_option(struct fixture *f, int code, int tag) {
    struct writer *w = fresh(f);
    const int x = w_input(w, W_TENSOR(w, F, 3)), y = w_output(w, W_TENSOR(w, F, 3));
    return W_OP(w, code, tag, y, x);
}
