/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_mixed.c Which operations need float32: a network of which it is known. */
#include "harness/debug/bisect/mixed.h"

#include <math.h>
#include <string.h>

#include "reference/spec/spec.h"
#include "tests/kit/test.h"

/** y = 0.5 * ((x + 2048) - 2048): in float16 the sum has no fraction left, the product needs none. */
static const char network[] =
    "{\"format\":\"nnvts-spec/1\",\"name\":\"net\",\"min_version\":\"1.1\",\"expect_failure\":false,\"relaxed\":false,"
    "\"main\":{\"operands\":["
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[4],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[0.25,0.5,1.25,-3.5]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1],\"lifetime\":\"CONSTANT_COPY\",\"data\":[2048]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[4],\"lifetime\":\"TEMPORARY_VARIABLE\"},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[4],\"lifetime\":\"TEMPORARY_VARIABLE\"},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0.5]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[4],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[0,0,0,0]}],"
    "\"operations\":[{\"type\":\"ADD\",\"inputs\":[0,1,2],\"outputs\":[3]},"
    "{\"type\":\"SUB\",\"inputs\":[3,1,2],\"outputs\":[4]},{\"type\":\"MUL\",\"inputs\":[4,5,2],\"outputs\":[6]}],"
    "\"inputs\":[0],\"outputs\":[6]},\"referenced\":[]}";

static struct nnv_known known(struct nnv_arena *arena) {
    struct nnv_err err = {0};
    struct nnv_spec *spec;
    struct nnv_known known = {0};
    if (nnv_spec_parse(network, strlen(network), "net", arena, &spec, &err) != NNV_OK ||
        nnv_known_make(spec, false, arena, &known, &err) != NNV_OK)
        fail_msg("%s", err.text);
    return known;
}

static void finds_what_needs_float32(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_known net = known(arena);
    struct nnv_err err = {0};
    struct nnv_mixed m;
    (void)state;
    assert_int_equal(nnv_mixed_find(&net, 1e-3, arena, &m, &err), NNV_OK);
    assert_int_equal(m.operations, 3);
    assert_int_equal(m.count, 2);
    assert_true(m.needs[0] && m.needs[1] && !m.needs[2]);
    assert_true(m.all.tolerance > 0.1 && m.alone[0].tolerance > 0.1 && m.alone[1].tolerance > 0.1);
    assert_true(m.alone[2].tolerance <= 0 && m.found.tolerance <= 0); /* halves are exact */
    assert_true(isinf(m.found.sqnr));
    assert_true(m.own.tolerance > 0 && m.own.tolerance < 1e-3 && m.own.sqnr > 60);
    /* With a tolerance that float16 keeps none is needed. */
    assert_int_equal(nnv_mixed_find(&net, 2, arena, &m, &err), NNV_OK);
    assert_int_equal(m.count, 0);
    assert_true(m.found.tolerance >= m.all.tolerance);
    nnv_arena_free(arena);
}

static void measures_loss(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_known net = known(arena);
    float y[4];
    struct nnv_value output = net.spec->outputs[0];
    (void)state;
    memcpy(y, output.data, sizeof y);
    output.data = y;
    assert_true(isinf(nnv_loss_of(net.spec, &output).sqnr));
    y[3] += 0.275f; /* -1.75: of 1 + 1.75 a tenth */
    const struct nnv_loss loss = nnv_loss_of(net.spec, &output);
    assert_true(fabs(loss.tolerance - 0.1) < 1e-6);
    assert_true(fabs(loss.sqnr - 10 * log10((0.125 * 0.125 + 0.0625 + 0.625 * 0.625 + 1.75 * 1.75) / (0.275 * 0.275))) <
                1e-4);
    y[0] = NAN;
    assert_true(isinf(nnv_loss_of(net.spec, &output).tolerance));
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_needs_float32), cmocka_unit_test(measures_loss)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
