/* SPDX-License-Identifier: Apache-2.0 */
/** What is left out of a program before it is divided. */
#include "tests/kit/relay.h"

#include <string.h>

#include "compiler/byoc/byoc.h"

/* @main after the pass, without types. */
static const char *simplified(const char *text) {
    struct nnv_text out = {0};
    struct nnv_relay_module *m = checked(text);
    assert_int_equal(nnv_simplify(m, &relay_err), NNV_OK);
    nnv_relay_print(m, 0, &out);
    const char *kept = nnv_arena_strdup(arena, out.data);
    nnv_text_free(&out);
    return kept;
}

static void becomes(const char *params, const char *body, const char *wanted) {
    const char *text = simplified(main_of(params, body)), *at = strstr(text, ") {\n");
    assert_non_null(at);
    if (!strstr(at, wanted)) fail_msg("%s is not in %s", wanted, text);
}

static bool has(const char *params, const char *body, const char *part) {
    return strstr(simplified(main_of(params, body)), part) != NULL;
}

#define X "%x: Tensor[(2, 3), float32]"

static void operators_without_effect_give_way(void **state) {
    (void)state;
    static const char *const idle[] = {
        "annotation.stop_fusion(%x)",
        "annotation.compiler_begin(%x, compiler=\"a\")",
        "annotation.compiler_end(%x, compiler=\"a\")",
        "on_device(%x, device_type=1)",
        "copy(%x)",
        "cast(%x, dtype=\"float32\")",
        "reshape(%x, newshape=[2, -1])",
        "broadcast_to(%x, shape=[2, 3])",
    };
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        char body[128];
        snprintf(body, sizeof body, "%%0 = %s; nn.relu(%%0)", idle[i]);
        becomes(X, body, "nn.relu(%x)");
    }
    becomes(X, "%0 = nn.dropout(%x); %1 = %0.0; nn.relu(%1)", "nn.relu(%x)");
    assert_true(has(X, "%0 = nn.dropout(%x); %1 = %0.1; nn.relu(%1)", "nn.dropout")); /* the mask */
    assert_true(has(X, "reshape(%x, newshape=[3, 2])", "reshape"));
    assert_true(has(X, "cast(%x, dtype=\"float16\")", "cast"));
}

static void constants_are_worked_out(void **state) {
    (void)state;
    becomes(X, "%0 = add(1f, 2f); %1 = multiply(%0, 4f); add(%x, %1)", "add(%x, 12f)");
    becomes(X, "%0 = (1f, 2f); %1 = stack(%0); %2 = sum(%1); add(%x, %2)", "add(%x, 3f)");
    becomes(X, "%0 = divide(1f, 3f); add(%x, %0)", "0.33333334f"); /* rounded to its type */
    assert_false(has(X, "%0 = zeros(shape=[3], dtype=\"float32\"); add(%x, %0)", "zeros"));
}

/* By them quantised layers are recognised. */
static void qnn_operators_stay(void **state) {
    (void)state;
    assert_true(has(X,
                    "%0 = qnn.quantize(1f, 0.5f, 3, out_dtype=\"uint8\"); %1 = qnn.dequantize(%0, 0.5f, 3);"
                    " add(%x, %1)",
                    "qnn.quantize"));
}

/* What has no value stays as it is, and is an error where it runs. */
static void what_has_no_value_stays(void **state) {
    (void)state;
    assert_true(has("%x: Tensor[(2), int32]", "%0 = divide(1, 0); add(%x, %0)", "divide(1, 0)"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(operators_without_effect_give_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(constants_are_worked_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(qnn_operators_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_has_no_value_stays, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
