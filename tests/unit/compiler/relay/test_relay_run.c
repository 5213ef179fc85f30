/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter: control flow, sharing, closures, bounds, the hook for compiled functions, errors. */
#include "tests/kit/relay.h"

static void operands_bindings_and_tuples(void **state) {
    (void)state;
    of_x(2, "%0 = add(%x, %x); %1 = multiply(%0, 3f); (%1, %0).0", "1 -2", "6 -12");
    of_x(2, "((%x, 4f), exp(0f))", "1 2", "1 2 4 1");
    of_x(4, "%0 = split(%x, indices_or_sections=2); subtract(%0.1, %0.0)", "1 2 10 20", "9 18");
    of_x(1, "let %y = add(%x, 1f); let %z = multiply(%y, %y); subtract(%z, %y)", "2", "6");
}

static void only_the_branch_that_is_taken_runs(void **state) {
    (void)state;
    const char *text = "def @main(%x: Tensor[(2), int32], %c: bool) { %0 = add(%x, 1);"
                       " if (%c) { divide(%x, subtract(%x, %x)) } else { multiply(%0, %x) } }";
    module_gives(text, "3 4 0", "12 20");
    run_fails(text, "3 4 1", NNV_INVALID, "divided by 0");
}

static void closures_see_what_is_around_them(void **state) {
    (void)state;
    gives("%x: float32, %y: float32",
          "let %f = fn (%a: float32) { fn (%b: float32) { add(multiply(%a, 10f), add(%b, %y)) } };"
          " let %g = %f(%x); let %h = %f(%y); (%g(1f), %h(2f))",
          "3 5", "36 57");
}

static const char *const factorial =
    "def @main(%n: int32) { @f(%n) }\n"
    "def @f(%n: int32) -> int32 { if (less(%n, 2)) { 1 } else { %0 = subtract(%n, 1); multiply(%n, @f(%0)) } }";

static void functions_recurse(void **state) {
    (void)state;
    module_gives(factorial, "5", "120");
    gives("%n: int32",
          "let %f = fn (%k: int32, %sum: int32) -> int32 { if (equal(%k, 0)) { %sum } else { "
          "%f(subtract(%k, 1), add(%sum, %k)) } }; %f(%n, 0)",
          "10", "55");
}

static void recursion_is_bounded(void **state) {
    (void)state;
    module_gives(factorial, "999", "0");
    run_fails(factorial, "1100", NNV_INVALID, "deep");
    run_fails("def @main(%n: int32) { @f(%n) }\n"
              "def @f(%n: int32) -> int32 { if (less(%n, 2)) { 1 } else { "
              "add(@f(subtract(%n, 1)), @f(subtract(%n, 2))) } }",
              "40", NNV_TIMEOUT, "more than");
}

static void graphs_may_be_deep(void **state) {
    (void)state;
    enum { DEEP = 100000 };
    struct nnv_text t = {0};
    nnv_text_add(&t, "def @main(%x: Tensor[(1), float32]) { %0 = add(%x, 1f);\n");
    for (int i = 1; i < DEEP; i++) nnv_text_addf(&t, "%%%d = %s(%%%d, 1f);\n", i, i % 3 ? "add" : "subtract", i - 1);
    nnv_text_addf(&t, "%%%d }", DEEP - 1);
    /* of 100,000 operations 33,333 subtract: i = 3, 6, .. 99,999 */
    module_gives(t.data, "0.5", "33334.5");
    nnv_text_free(&t);
}

static void a_shared_value_is_worked_out_once(void **state) {
    (void)state;
    struct nnv_text t = {0};
    nnv_text_add(&t, "def @main(%x: float64) { %0 = add(%x, %x);\n");
    for (int i = 1; i < 60; i++) nnv_text_addf(&t, "%%%d = add(%%%d, %%%d);\n", i, i - 1, i - 1);
    nnv_text_add(&t, "%59 }");
    module_gives(t.data, "1", "1152921504606846976"); /* 2^60: without sharing, it would not end */
    nnv_text_free(&t);
}

static void dimensions_may_be_known_only_when_it_runs(void **state) {
    (void)state;
    gives("%x: Tensor[(?, 2), float32]", "%0 = transpose(%x); concatenate((%0, %0), axis=1)", "1 2 3 4",
          "1 3 1 3 2 4 2 4");
    run_fails("def @main(%x: Tensor[(?), float32], %y: Tensor[(3), float32]) { @f(add(%x, %x)) }\n"
              "def @f(%z: Tensor[(3), float32]) { exp(%z) }",
              "1 2 1 2 3", NNV_INVALID, "does not fit");
}

/* Doubles what the function @other gets; declines any other. */
static enum nnv_status twice(void *ctx, const struct nnv_relay_module *m, const char *function,
                             struct nnv_relay_datum *const *args, size_t n_args, struct nnv_arena *a,
                             struct nnv_relay_datum **result, struct nnv_err *e) {
    (void)m, (void)e;
    ++*(int *)ctx;
    if (strcmp(function, "other") != 0) return NNV_UNSUPPORTED;
    assert_int_equal(n_args, 1);
    *result = NNV_NEW(a, struct nnv_relay_datum, 1);
    **result = *args[0];
    (*result)->values = NNV_NEW(a, double, args[0]->n);
    for (size_t i = 0; i < args[0]->n; i++) (*result)->values[i] = 2 * args[0]->values[i];
    return NNV_OK;
}

static void compiled_functions_are_run_by_the_hook(void **state) {
    (void)state;
    int asked = 0;
    const struct nnv_relay_external hook = {twice, &asked};
    const char *wanted = "18", *text = "def @main(%x: float32) { @plain(@mine(@other(%x))) }\n"
                                       "def @other(%x: float32, Compiler=\"t\") { add(%x, 1f) }\n"
                                       "def @mine(%x: float32, Compiler=\"t\") { add(%x, 1f) }\n"
                                       "def @plain(%x: float32) { add(%x, 1f) }";
    struct nnv_relay_datum *out = NULL;
    assert_int_equal(run_on(checked(text), "8", &hook, &out), NNV_OK);
    equals(out, &wanted, text);
    assert_int_equal(asked, 2);
    module_gives(text, "8", "11");
}

static void what_can_not_run_says_why(void **state) {
    (void)state;
    run_fails("def @main(%x: float32) { my.op(%x) /* ty=float32 */ }", "1", NNV_INVALID,
              "a.relay:1:26: my.op: there is no kernel for this operator");
    run_fails("def @main(%x: float32) { add(%x, meta[relay.Constant][0] /* ty=float32 */) }", "1", NNV_INVALID,
              "no metadata");
    run_fails("def @main(%x: float32) { fn (%a: float32) { %a } }", "1", NNV_INVALID, "function");
    run_fails("def @main(%x: float32) { zeros(shape=[30000, 30000]) }", "1", NNV_INVALID,
              sizeof(size_t) > 4 ? "more than 4 GiB" : "more than 2 GiB");
    struct nnv_relay_module *m = checked("def @main(%x: Tensor[(2), float32]) { %x }");
    struct nnv_relay_datum *out,
        *arg = nnv_relay_datum_random(nnv_relay_tensor_type(arena, NNV_RELAY_INT8, 1, (int64_t[]){2}), 1, arena);
    assert_int_equal(nnv_relay_run(m, "main", &arg, 1, NULL, arena, &out, &relay_err), NNV_INVALID);
    assert_int_equal(nnv_relay_run(m, "main", &arg, 0, NULL, arena, &out, &relay_err), NNV_INVALID);
    assert_int_equal(nnv_relay_run(m, "other", &arg, 1, NULL, arena, &out, &relay_err), NNV_INVALID);
}

/* ------------------------------------------------------------------- values */

static void bytes_are_read_and_written(void **state) {
    (void)state;
    static const struct {
        enum nnv_relay_dtype dtype;
        double from, to;
    } rows[] = {
        {NNV_RELAY_INT8, 200, 127},
        {NNV_RELAY_INT8, -2.5, -2},
        {NNV_RELAY_UINT8, -3, 0},
        {NNV_RELAY_UINT8, 254.6, 255},
        {NNV_RELAY_INT16, 3.5, 4},
        {NNV_RELAY_UINT16, 70000, 65535},
        {NNV_RELAY_INT32, 3e9, 2147483647},
        {NNV_RELAY_UINT32, 3e9, 3e9},
        {NNV_RELAY_INT64, -1e15, -1e15},
        {NNV_RELAY_UINT64, 5, 5},
        {NNV_RELAY_BOOL, 3, 1},
        {NNV_RELAY_FLOAT16, 1.0004, 1},
        {NNV_RELAY_FLOAT16, 1e6, INFINITY},
        {NNV_RELAY_BFLOAT16, 1.005, 1.0078125},
        {NNV_RELAY_BFLOAT16, 1e39, INFINITY},
        {NNV_RELAY_FLOAT32, 16777217, 16777216},
        {NNV_RELAY_FLOAT64, 0.1, 0.1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct nnv_relay_type *t = nnv_relay_tensor_type(arena, rows[i].dtype, 0, NULL);
        double v = rows[i].from;
        struct nnv_relay_datum d = {.type = t, .values = &v, .n = 1}, *back = NULL;
        char bytes[8] = {0};
        nnv_relay_datum_write(&d, bytes);
        assert_int_equal(nnv_relay_datum_read(t, bytes, arena, &back, &relay_err), NNV_OK);
        if (back->values[0] != rows[i].to) fail_msg("row %zu: %g", i, back->values[0]);
    }
}

static void random_values_fit_their_type_and_repeat(void **state) {
    (void)state;
    const struct nnv_relay_type *fields[] = {nnv_relay_tensor_type(arena, NNV_RELAY_UINT8, 1, (int64_t[]){1000}),
                                             nnv_relay_tensor_type(arena, NNV_RELAY_FLOAT32, 1, (int64_t[]){1000})};
    const struct nnv_relay_type *t = nnv_relay_tuple_type(arena, 2, fields);
    const struct nnv_relay_datum *a = nnv_relay_datum_random(t, 7, arena), *b = nnv_relay_datum_random(t, 7, arena),
                                 *c = nnv_relay_datum_random(t, 8, arena);
    double low = 255, high = 0, sum = 0;
    for (size_t i = 0; i < 1000; i++) {
        low = fmin(low, a->fields[0]->values[i]);
        high = fmax(high, a->fields[0]->values[i]);
        sum += a->fields[1]->values[i] * a->fields[1]->values[i];
        assert_true(a->fields[1]->values[i] == (double)(float)a->fields[1]->values[i]);
    }
    assert_true(low >= 0 && low < 5 && high <= 255 && high > 250 && sum > 800 && sum < 1200);
    assert_memory_equal(a->fields[1]->values, b->fields[1]->values, 1000 * sizeof(double));
    assert_memory_not_equal(a->fields[1]->values, c->fields[1]->values, 1000 * sizeof(double));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(operands_bindings_and_tuples),
        TEST(only_the_branch_that_is_taken_runs),
        TEST(closures_see_what_is_around_them),
        TEST(functions_recurse),
        TEST(recursion_is_bounded),
        TEST(graphs_may_be_deep),
        TEST(a_shared_value_is_worked_out_once),
        TEST(dimensions_may_be_known_only_when_it_runs),
        TEST(compiled_functions_are_run_by_the_hook),
        TEST(what_can_not_run_says_why),
        TEST(bytes_are_read_and_written),
        TEST(random_values_fit_their_type_and_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
