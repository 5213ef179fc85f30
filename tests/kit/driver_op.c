/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver_op.c See driver_op.h. */
#include "tests/kit/driver_op.h"

#include <math.h>

uint8_t op_results[2][MOST_BYTES] __attribute__((aligned(64)));

uint32_t bytes_of(const struct given *g) { return kind_bytes(g->kind, g->rank % CONSTANT, g->dims); }

void make_op(struct net *n, int32_t code, const struct given *in, const struct given *out) {
    static const uint8_t zeros[ROOM];
    uint32_t inputs[32], outputs[8], i = 0;
    for (; in[i].kind.type >= 0; i++)
        inputs[i] = in[i].rank & CONSTANT ? constant(n, in[i].kind, in[i].data ? in[i].data : zeros, bytes_of(&in[i]),
                                                     in[i].rank % CONSTANT, in[i].dims)
                                          : input(n, in[i].kind, in[i].rank, in[i].dims);
    inputs[i] = UINT32_MAX;
    for (i = 0; out[i].kind.type >= 0; i++) outputs[i] = output(n, out[i].kind, out[i].rank, out[i].dims);
    outputs[i] = UINT32_MAX;
    operation(n, code, inputs, outputs);
}

enum nnvts_status run_op(int32_t code, const struct given *in, const struct given *out) {
    static const uint8_t zeros[ROOM];
    struct net n = {0};
    struct call c = {0};
    make_op(&n, code, in, out);
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    for (uint32_t i = 0; in[i].kind.type >= 0; i++)
        if (!(in[i].rank & CONSTANT)) give(&c, in[i].data ? in[i].data : zeros, bytes_of(&in[i]));
    memset(op_results, 0xa5, sizeof op_results);
    for (uint32_t i = 0; out[i].kind.type >= 0; i++) {
        assert_true(bytes_of(&out[i]) <= MOST_BYTES);
        take(&c, op_results[i], bytes_of(&out[i]));
    }
    const enum nnvts_status st = execute(p, &c);
    p->release(p);
    return st;
}

void check_op(int32_t code, const struct given *in, const struct given *out) {
    assert_int_equal(run_op(code, in, out), NNVTS_STATUS_NONE);
    for (uint32_t i = 0; out[i].kind.type >= 0; i++) assert_memory_equal(op_results[i], out[i].data, bytes_of(&out[i]));
}

void check_op_near(int32_t code, const struct given *in, const struct given *out, double relative) {
    assert_int_equal(run_op(code, in, out), NNVTS_STATUS_NONE);
    const float *actual = (const float *)(const void *)op_results[0], *expected = out->data;
    for (size_t i = 0; i < bytes_of(out) / sizeof(float); i++) {
        if (isnan(expected[i]) ? isnan(actual[i]) : actual[i] == expected[i]) continue;
        assert_false(isinf(actual[i]) || isinf(expected[i]));
        assert_floats(&actual[i], &expected[i], 1, relative);
    }
}

void refuse_op(const char *what, int32_t code, const struct given *in, const struct given *out) {
    struct net n = {0};
    make_op(&n, code, in, out);
    expect_refused(what, &n);
}
