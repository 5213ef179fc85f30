/* SPDX-License-Identifier: Apache-2.0 */
/* Relay text: what it means, that printing and parsing are each other's inverse, and one clear error for each mistake.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "compiler/relay/text/params.h"
#include "compiler/relay/ops/ops.h"
#include "tests/kit/relay_equal.h"
#include "tests/kit/arena.h"

static struct nnv_err err;

static struct nnv_relay_module *parsed(const char *text) {
    struct nnv_relay_module *m = NULL;
    err = (struct nnv_err){0};
    if (nnv_relay_parse(text, strlen(text), "a.relay", arena, &m, &err) != NNV_OK) fail_msg("%s\n%s", err.text, text);
    return m;
}

static struct nnv_relay_expr *body_of(const char *text) { return nnv_relay_find(parsed(text), "main")->args[0]; }

static struct nnv_relay_module *checked(const char *text) {
    struct nnv_relay_module *m = parsed(text);
    if (nnv_relay_check(m, &err) != NNV_OK) fail_msg("%s", err.text);
    return m;
}

/* The type of what @main gives, as text. */
static void gives(const char *text, const char *type) {
    struct nnv_text is = {0};
    nnv_relay_type_print(nnv_relay_find(checked(text), "main")->args[0]->type, &is);
    assert_string_equal(is.data, type);
    nnv_text_free(&is);
}

static const char *const examples[] = {
    "def @main(%x: Tensor[(2, 3), float32]) { %0 = nn.relu(%x); %1 = add(%0, %0); (%1, %0, %1) }",
    "def @main(%x: Tensor[(2), float32], %c: bool) { %0 = exp(%x); if (%c) { %1 = log(%0); add(%1, %1) } else { %0 } }",
    "def @main(%x: Tensor[(2), float32]) { let %y = exp(%x); let %y = add(%y, %x); multiply(%y, %y) }",
    "def @main(%x: Tensor[(2), float32]) { let %f = fn (%a: Tensor[(2), float32], Composite=\"n.f\") { tanh(%a) }; "
    "%f(%x) }",
    "def @main(%x: Tensor[(4), float32]) { %0 = split(%x, indices_or_sections=2); (%0.1, %0.0, (%0,), ()) }",
    "def @main(%x: Tensor[(2), float32]) { add((let %a = exp(%x); add(%a, %a)), %x) }",
    "def @main(%a.b: (Tensor[(2), float32], bool), %a: Tensor[(?), float16], %aten::_conv-1: int8) { (%a.b.0, %a, "
    "%aten::_conv-1) }",
    "def @main() { (1, -1, 3i64, -2147483648i32, 4i16, 1f, -0f, 1e-05f, 2f16, 0.1f64, True, False, inff, -inff) }",
    "def @main(%x: Tensor[(2), float32]) { %0 = @other(%x); add(%0, meta[relay.Constant][3] /* ty=Tensor[(2), float32] "
    "*/) }\n"
    "def @other(%x: Tensor[(2), float32], Compiler=\"nnapi\", Primitive=1, l=[1, [2, \"a\\\"b\"], None, -1.5f]) { "
    "exp(%x) }",
    "def @main(%x: Tensor[(2), float32]) { %0 = exp(%x); let %a = add(%0, %x); let %b = add(%a, %0); if (True) { %b } "
    "else { %0 } }",
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static void what_is_printed_parses_back_equal(void **state) {
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++) {
        struct nnv_text once = {0}, twice = {0};
        struct nnv_relay_module *m = parsed(examples[i]);
        nnv_relay_print(m, NNV_RELAY_PRINT_META, &once);
        struct nnv_relay_module *again = parsed(once.data);
        if (!nnv_relay_module_equal(m, again)) fail_msg("differs:\n%s", once.data);
        nnv_relay_print(again, NNV_RELAY_PRINT_META, &twice);
        assert_string_equal(once.data, twice.data);
        nnv_text_free(&once);
        nnv_text_free(&twice);
    }
}

static void different_modules_are_not_equal(void **state) {
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++)
        for (size_t k = 0; k < EXAMPLES; k++)
            assert_int_equal(nnv_relay_module_equal(parsed(examples[i]), parsed(examples[k])), i == k);
    const char *shared = "def @main(%x: bool) { %0 = copy(%x); (%0, %0) }";
    assert_false(nnv_relay_module_equal(parsed(shared), parsed("def @main(%x: bool) { (copy(%x), copy(%x)) }")));
    assert_true(nnv_relay_module_equal(parsed(shared), parsed("def @main(%y: bool) { %7 = copy(%y); (%7, %7) }")));
    const char *axis = "def @main(%x: bool) { nn.softmax(%x, axis=-1) }";
    assert_true(nnv_relay_module_equal(parsed(axis), parsed("def @main(%x: bool) { nn.softmax(%x) }")));
    assert_false(nnv_relay_module_equal(parsed(axis), parsed("def @main(%x: bool) { nn.softmax(%x, axis=1) }")));
}

/* Text without a definition has a parameter for each name; numbers behind dots are of tuples in it. */
static void names_without_a_definition(void **state) {
    (void)state;
    struct nnv_relay_expr *f = nnv_relay_find(parsed("(%p.0, %p.1.20, %q7, %r.s)"), "main");
    assert_int_equal(f->n_params, 3);
    static const char *const names[] = {"p", "q7", "r.s"};
    for (size_t i = 0; i < 3; i++) assert_string_equal(f->params[i]->name, names[i]);
    const struct nnv_relay_expr *get = f->args[0]->args[1];
    assert_int_equal(get->kind, NNV_RELAY_GET);
    assert_int_equal(get->index, 20);
    assert_int_equal(get->args[0]->index, 1);
    assert_ptr_equal(get->args[0]->args[0], f->params[0]);
}

static void a_binding_is_one_node_in_evaluation_order(void **state) {
    (void)state;
    struct nnv_relay_module *m = parsed("def @main(%x: bool, %y: bool) {\n %0 = exp(%x); %1 = log(%y); %9 = abs(%x);\n"
                                        " %2 = add(%1, %0); multiply(%2, %0) }");
    struct nnv_relay_expr *root = nnv_relay_find(m, "main")->args[0];
    struct nnv_relay_list list;
    struct nnv_relay_uses uses;
    struct nnv_relay_expr **users;
    assert_ptr_equal(root->args[0]->args[1], root->args[1]);
    assert_string_equal(root->args[1]->bound, "%0");
    assert_null(root->bound);
    assert_int_equal(root->args[1]->span.line, 2);
    assert_int_equal(root->args[1]->span.column, 7);
    assert_int_equal(nnv_relay_post_order(root, NULL, NULL, arena, &list), NNV_OK);
    static const char *const order[] = {"log", "exp", "add", "multiply"};
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++)
        if (nnv_relay_op_name(list.exprs[i])) assert_string_equal(nnv_relay_op_name(list.exprs[i]), order[n++]);
    assert_int_equal(n, 4);
    assert_int_equal(nnv_relay_find_uses(m, &list, arena, &uses), NNV_OK);
    assert_int_equal(nnv_relay_users(&uses, root->args[1], &users), 2);
    assert_ptr_equal(users[0], root->args[0]);
    assert_ptr_equal(users[1], root);
    assert_int_equal(nnv_relay_users(&uses, root, &users), 0);
}

static struct nnv_relay_expr *exp_for_log(void *ctx, struct nnv_relay_module *m, struct nnv_relay_expr *old,
                                          struct nnv_relay_expr *now) {
    (void)old;
    ++*(int *)ctx;
    if (!nnv_relay_is_op(now, "log")) return now;
    return nnv_relay_call(m, nnv_relay_operator(m, "exp"), 1, now->args, 0, NULL);
}

static void rewriting_keeps_sharing(void **state) {
    (void)state;
    struct nnv_relay_module *m = parsed("def @main(%x: bool) { %0 = log(%x); %1 = abs(%x); (%0, add(%0, %1), %1) }");
    struct nnv_relay_expr *out, *f = nnv_relay_find(m, "main");
    struct nnv_relay_expr *abs = f->args[0]->args[2];
    int n = 0;
    assert_int_equal(nnv_relay_rewrite(m, f, exp_for_log, &n, &out, &err), NNV_OK);
    assert_int_equal(n, 9); /* x, three operators, log, abs, add, the tuple, the function */
    assert_true(nnv_relay_define(m, "main", out));
    assert_true(
        nnv_relay_module_equal(m, parsed("def @main(%x: bool) { %0 = exp(%x); %1 = abs(%x); (%0, add(%0, %1), %1) }")));
    assert_ptr_equal(out->args[0]->args[2], abs); /* what has not changed is not copied */
}

static void infix_operators_bind_as_in_c(void **state) {
    (void)state;
    struct nnv_relay_expr *a = body_of("def @main(%x: bool, %y: bool) { %x + %y * 2f - %x/%y <= %x == True }");
    struct nnv_relay_expr *b =
        body_of("def @main(%x: bool, %y: bool) { equal(less_equal(subtract(add(%x, multiply(%y, 2f)),"
                " divide(%x, %y)), %x), True) }");
    assert_true(nnv_relay_equal(a, b));
}

static void comments_nest_and_types_in_them_count(void **state) {
    (void)state;
    gives(
        "def @main(/* a /* b */ c */ %x: bool) { // d\n some.op(%x) /* ty=(Tensor[(1, 2), int8], float16) span=x */ }",
        "(Tensor[(1, 2), int8], float16)");
}

static void a_bare_expression_is_main(void **state) {
    (void)state;
    gives("free_var %x: Tensor[(2), float32]; %0 = exp(%x); %0 * 2f", "Tensor[(2), float32]");
    gives("free_var %x: Tensor[(2), float32]\n%0 = exp(%x); %0 * 2f", "Tensor[(2), float32]"); /* as TVM prints it */
}

static void shapes(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"nn.conv2d(%a, %w, strides=[2, 1], padding=[1, 0, 1, 0], dilation=[1, 2], channels=8, kernel_size=[3, 3])",
         "Tensor[(1, 8, 4, 2), float32]"},
        {"nn.max_pool2d(%a, pool_size=[2, 4], strides=[2, 3], ceil_mode=True)", "Tensor[(1, 4, 4, 2), float32]"},
        {"nn.max_pool2d(%a, pool_size=[2, 4], strides=[2, 3])", "Tensor[(1, 4, 4, 1), float32]"},
        {"nn.global_avg_pool2d(%a)", "Tensor[(1, 4, 1, 1), float32]"},
        {"nn.batch_flatten(%a)", "Tensor[(1, 192), float32]"},
        {"reshape(%a, newshape=[0, -1, 6])", "Tensor[(1, 32, 6), float32]"},
        {"reshape(%a, newshape=[-3, -4, 2, -1, -2])", "Tensor[(4, 2, 4, 6), float32]"},
        {"transpose(%a, axes=[0, 2, 3, 1])", "Tensor[(1, 8, 6, 4), float32]"},
        {"transpose(%a)", "Tensor[(6, 8, 4, 1), float32]"},
        {"squeeze(%a)", "Tensor[(4, 8, 6), float32]"},
        {"expand_dims(%a, axis=-1, num_newaxis=2)", "Tensor[(1, 4, 8, 6, 1, 1), float32]"},
        {"concatenate((%a, %a), axis=-2)", "Tensor[(1, 4, 16, 6), float32]"},
        {"split(%a, indices_or_sections=[1, 3], axis=3)",
         "(Tensor[(1, 4, 8, 1), float32], Tensor[(1, 4, 8, 2), float32], Tensor[(1, 4, 8, 3), float32])"},
        {"strided_slice(%a, begin=[0, 1, -1], end=[1, 9, -9], strides=[1, 2, -3])", "Tensor[(1, 2, 3, 6), float32]"},
        {"strided_slice(%a, begin=[2], end=[3], slice_mode=\"size\", axes=[2])", "Tensor[(1, 4, 3, 6), float32]"},
        {"nn.pad(%a, 0f, pad_width=[[0, 0], [0, 0], [1, 2], [3, 0]])", "Tensor[(1, 4, 11, 9), float32]"},
        {"mean(%a, axis=[1], exclude=True)", "Tensor[(4), float32]"},
        {"sum(%a, axis=[2, -1], keepdims=True)", "Tensor[(1, 4, 1, 1), float32]"},
        {"argmax(%a, axis=1)", "Tensor[(1, 8, 6), int32]"},
        {"greater(%a, 0f)", "Tensor[(1, 4, 8, 6), bool]"},
        {"cast(%a, dtype=\"int8\")", "Tensor[(1, 4, 8, 6), int8]"},
        {"qnn.quantize(%a, 0.5f, 3, out_dtype=\"uint8\")", "Tensor[(1, 4, 8, 6), uint8]"},
        {"nn.dense(reshape(%a, newshape=[32, 6]), zeros(shape=[5, 6], dtype=\"float32\"), units=5)",
         "Tensor[(32, 5), float32]"},
        {"image.resize2d(%a, size=[3, 5])", "Tensor[(1, 4, 3, 5), float32]"},
        {"where(%a > 0f, %a, 0f)", "Tensor[(1, 4, 8, 6), float32]"},
        {"cumsum(%a, axis=1)", "Tensor[(1, 4, 8, 6), float32]"},
        {"cumprod(%a)", "Tensor[(192), float32]"},
    };
    char text[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text,
                 "def @main(%%a: Tensor[(1, 4, 8, 6), float32], %%w: Tensor[(8, 4, 3, 3), float32]) { %s }",
                 cases[i][0]);
        gives(text, cases[i][1]);
    }
    gives("def @main(%x: Tensor[(1, 2, ?, 5), float32], %w: Tensor[(2, 3, 2, 2), float32]) {\n"
          "  nn.conv2d_transpose(%x, %w, channels=3, kernel_size=[2, 2], strides=[2, 2]) }",
          "Tensor[(1, 3, ?, 10), float32]");
}

/* A text, and how its error begins (behind "a.relay:"). */
static const char *const mistakes[][2] = {
    {"def @main(%x: bool) {\n  exp(%y)\n}", "2:7: %y is not declared\n    exp(%y)\n        ^"},
    {"def @main(%x: bool) { exp(%3) }", "1:27: %3 is used before it is bound"},
    {"def @main(%x: bool) { %0 = %x; %0 = %x; %0 }", "1:32: %0 is bound twice"},
    {"def @main(%x: bool) { if (%x) { %0 = %x; %0 } else { %0 } }", "1:54: %0 is used before it is bound"},
    {"def @main(%x: bool, %x: bool) { %x }", "1:21: parameter %x is there twice"},
    {"def @main() { () } def @main() { () }", "1:24: @main is defined twice"},
    {"#[version = \"0.0.4\"]\ndef @main() { () }", "1:1: version \"0.0.4\" is not known, only \"0.0.5\" is"},
    {"def @main() { /* a /* b */ ", "1:15: a comment that does not end"},
    {"def @main() { exp(1f, a=\"b) }", "1:25: a string that does not end"},
    {"def @main() { (1 2) }", "1:18: expected ',' or ')', not '2'"},
    {"def @main() { exp(1f, a=1, a=2) }", "1:28: attribute a is there twice"},
    {"def @main() { exp }", "1:19: expected '(' and the operator's operands, not '}'"},
    {"def @main() { () } x", "1:20: expected 'def' or the end of the text, not 'x'"},
    {"def @main() { 99999999999999999999 }", "1:15: the number is above 9223372036854775807"},
    {"def @main() { 40000i16 }", "1:15: the number does not fit in int16"},
    {"def @main() { 1f17 }", "1:15: the suffix of the number names no type of scalars"},
    {"def @main(%x: Tensor[(1), float33]) { %x }", "1:27: 'float33' is no type of elements that is known"},
    {"def @main(%x: Tensor[(1, x), int8]) { %x }", "1:26: expected a dimension (a number or '?'), not 'x'"},
    {"def @main(%x: Tensr) { %x }", "1:15: 'Tensr' is no type that is known"},
    {"def @main(%x: bool) { match (%x) { } }", "1:23: 'match' is not supported"},
    {"def @main[T](%x: bool) { %x }", "1:10: functions with type parameters are not supported"},
    {"def @main() { meta[relay.Foo][0] }", "1:15: metadata of kind relay.Foo can't stand for a value"},
    {"def @main() { () }\n#[metadata]\n{", "2:1: the metadata is not JSON"},
    {"def @main() { let x = 1; 2 }", "1:19: expected a variable, such as '%x',, not 'x'"},
    {"def @main() {", "1:14: expected an expression, not the end of the text"},
    /* types */
    {"def @main(%x: bool) { foo(%x) }", "1:23: operator foo is not known"},
    {"def @main(%x) { %x }", "1:11: %x has no type"},
    {"def @main() { @foo() }", "1:15: @foo is not defined"},
    {"def @main(%x: bool) { %x(1) }", "1:23: what is called is no function"},
    {"def @main(%x: bool) { %x.0 }", "1:25: only a tuple has fields"},
    {"def @main(%x: bool) { (%x,).1 }", "1:28: field 1 of a tuple of 1"},
    {"def @main() { if (1) { 1 } else { 2 } }", "1:15: the condition of an if must be one bool"},
    {"def @main() { if (True) { 1 } else { 2f } }", "1:15: the else branch is float32, not int32"},
    {"def @main() -> int8 { 1 }", "1:5: the function's result is int32, not int8"},
    {"def @main() { @main() }", "1:15: @main calls itself: its result's type must be written"},
    {"def @main() { @f(1f) } def @f(%x: int32) { %x }", "1:15: operand 0 is float32, not int32"},
    {"def @main() { @f() } def @f(%x: int32) { %x }", "1:15: the function has 1 parameters, the call 0 operands"},
    {"def @main() { let %x: int8 = 1; %x }", "1:19: the variable's value is int32, not int8"},
    {"def @main() { add(1f) }", "1:15: add: has 1 operands, not 2"},
    {"def @main() { add(1f, 1) }", "1:15: add: operand 0 is float32, operand 1 is int32"},
    {"def @main() { nn.softmax(1) }", "1:15: nn.softmax: operand 0 is int32, and must be of a floating-point type"},
    {"def @main() { exp(1f, foo=1) }", "1:15: exp: there is no attribute foo"},
    {"def @main() { clip(1f, a_min=\"x\", a_max=1f) }", "1:15: clip: attribute a_min must be a number"},
    {"def @main() { clip(1f) }", "1:15: clip: needs the attributes a_min and a_max"},
    {"def @main(%x: Tensor[(2), int8], %y: Tensor[(3), int8]) { add(%x, %y) }",
     "1:59: add: the operands' extents 2 and 3 (dimension 1 from the end) fit only if they are equal or one is 1"},
    {"def @main(%x: Tensor[(2, 3), int8]) { reshape(%x, newshape=[4]) }",
     "1:39: reshape: 6 elements do not fit in a shape of 4"},
    {"def @main(%x: Tensor[(2, 3), int8]) { reshape(%x, newshape=[-1, -1]) }", "1:39: reshape: newshape has -1 twice"},
    {"def @main(%x: Tensor[(2, 3), int8]) { transpose(%x, axes=[0, 0]) }", "1:39: transpose: axis 0 is there twice"},
    {"def @main(%x: Tensor[(2, 3), int8]) { sum(%x, axis=2) }", "1:39: sum: axis 2 of a tensor of 2 dimensions"},
    {"def @main(%x: Tensor[(1, 3, 2, 2), int8], %w: Tensor[(1, 3, 3, 3), int8]) { nn.conv2d(%x, %w) }",
     "1:77: nn.conv2d: a window of 3 does not fit in 2 with its padding"},
    {"def @main(%x: Tensor[(1, 3, 2, 2), int8], %w: Tensor[(1, 2, 1, 1), int8]) { nn.conv2d(%x, %w) }",
     "1:77: nn.conv2d: 3 channels in 1 groups, but weights for 2"},
    {"def @main(%x: Tensor[(2, 3), int8], %w: Tensor[(5, 4), int8]) { nn.dense(%x, %w) }",
     "1:65: nn.dense: the data have 3 features, the weights are for 4"},
    {"def @main() { zeros(shape=[2147483647, 2147483647, 2147483647]) }", "1:15: zeros: the result is too large"},
};

static void each_mistake_has_its_error(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct nnv_relay_module *m = NULL;
        err = (struct nnv_err){0};
        enum nnv_status st = nnv_relay_parse(mistakes[i][0], strlen(mistakes[i][0]), "a.relay", arena, &m, &err);
        if (st == NNV_OK) st = nnv_relay_check(m, &err);
        if (st != NNV_INVALID) fail_msg("no error: %s", mistakes[i][0]);
        const char *text = strncmp(err.text, "a.relay:", 8) == 0 ? err.text + 8 : err.text;
        if (strncmp(text, mistakes[i][1], strlen(mistakes[i][1])) != 0)
            fail_msg("%s\nhas the error\n%s\nnot\n%s", mistakes[i][0], text, mistakes[i][1]);
    }
}

static void depth_is_bounded_and_length_is_not(void **state) {
    (void)state;
    struct nnv_text t = {0};
    struct nnv_relay_module *m = NULL;
    static const char *const opening[] = {"(", "exp(", "fn () {", "if (", "{", "- ("};
    for (size_t i = 0; i < sizeof opening / sizeof *opening; i++) {
        nnv_text_clear(&t);
        nnv_text_add(&t, "def @main() { ");
        for (int k = 0; k < 100000; k++) nnv_text_add(&t, opening[i]);
        assert_int_equal(nnv_relay_parse(t.data, t.len, "a", arena, &m, &err), NNV_INVALID);
    }
    nnv_text_clear(&t);
    nnv_text_add(&t, "def @main(%x: float32) {\n%0 = exp(%x);\n");
    for (int i = 1; i < 20000; i++) nnv_text_addf(&t, "%%%d = exp(%%%d); let %%y%d = %%%d;\n", i, i - 1, i, i);
    nnv_text_add(&t, "%19999 }");
    m = checked(t.data);
    nnv_text_free(&t);
    nnv_relay_print(m, NNV_RELAY_PRINT_META, &t);
    assert_true(nnv_relay_module_equal(m, parsed(t.data)));
    nnv_text_free(&t);
}

static size_t below(struct nnv_rng *rng, size_t n) { return (size_t)nnv_rng_int(rng, 0, (int64_t)n - 1); }

/* Bytes of an example that are changed, cut and repeated give an error or a module, never more. */
static void mutated_text_is_survived(void **state) {
    (void)state;
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    static const char bytes[] = "(){}[]%@.,;:=\"/*-0123456789abfn \n";
    for (int i = 0; i < 20000; i++) {
        const char *from = examples[below(&rng, EXAMPLES)];
        char text[512];
        size_t len = strlen(from);
        assert_true(len < sizeof text);
        memcpy(text, from, len + 1);
        for (uint64_t k = below(&rng, 4) + 1; k; k--) text[below(&rng, len)] = bytes[below(&rng, sizeof bytes - 1)];
        if (below(&rng, 4) == 0) len = below(&rng, len);
        struct nnv_relay_module *m = NULL;
        err = (struct nnv_err){0};
        nnv_arena_reset(arena);
        enum nnv_status st = nnv_relay_parse(text, len, "a", arena, &m, &err);
        if (st == NNV_OK) st = nnv_relay_check(m, &err);
        assert_int_equal(st == NNV_OK, err.text[0] == '\0');
    }
}

static void parameters_round_trip_and_bind(void **state) {
    (void)state;
    static const char json[] = "{\"w\": {\"dtype\": \"float32\", \"shape\": [2], \"data\": [1, -2.5]},"
                               " \"q\": {\"dtype\": \"int8\", \"shape\": [], \"data\": [-128]}}";
    struct nnv_relay_params p, binary, again;
    struct nnv_text t = {0};
    if (nnv_relay_params_read(json, strlen(json), "p.json", arena, &p, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(p.n, 2);
    assert_memory_equal(p.params[0].tensor->data, ((float[]){1, -2.5f}), 8);
    nnv_relay_params_write(&p, &t);
    assert_int_equal(nnv_relay_params_read(t.data, t.len, "p", arena, &binary, &err), NNV_OK);
    for (size_t cut = 0; cut < t.len; cut++)
        assert_int_equal(nnv_relay_params_read(t.data, cut, "p", arena, &again, &err), NNV_INVALID);
    assert_int_equal(binary.n, 2);
    assert_string_equal(binary.params[1].name, "q");
    assert_memory_equal(binary.params[1].tensor->data, "\x80", 1);
    assert_memory_equal(binary.params[0].tensor->data, p.params[0].tensor->data, 8);
    nnv_text_free(&t);

    struct nnv_relay_module *m = parsed("def @main(%x: float32, %w: Tensor[(2), float32]) { add(%x, %w) }");
    assert_int_equal(nnv_relay_params_bind(m, &p, &err), NNV_OK);
    assert_int_equal(nnv_relay_find(m, "main")->n_params, 1);
    nnv_relay_print(m, NNV_RELAY_PRINT_META, &t);
    assert_non_null(strstr(t.data, "meta[relay.Constant][0]"));
    assert_true(nnv_relay_module_equal(m, parsed(t.data)));
    nnv_text_free(&t);
    m = parsed("def @main(%x: float32, %w: Tensor[(3), float32]) { add(%x, %w) }");
    err = (struct nnv_err){0};
    assert_int_equal(nnv_relay_params_bind(m, &p, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "a.relay:1:24: %w is Tensor[(3), float32], its value in the parameter file is "
                                     "Tensor[(2), float32]"));
}

static void parameters_in_base64(void **state) {
    (void)state;
    static const struct {
        const char *data;
        bool good;
    } rows[] = {
        {"AACAPwAAIMA=", true}, {"AACAPw==", false}, {"", false}, {"AACAPwAAIMA", false}, {"?ACAPwAAIMA=", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char json[128];
        struct nnv_relay_params p;
        snprintf(json, sizeof json, "{\"w\": {\"dtype\": \"float32\", \"shape\": [2], \"data\": \"%s\"}}",
                 rows[i].data);
        err = (struct nnv_err){0};
        const enum nnv_status st = nnv_relay_params_read(json, strlen(json), "p.json", arena, &p, &err);
        assert_int_equal(st, rows[i].good ? NNV_OK : NNV_INVALID);
        if (rows[i].good)
            assert_memory_equal(p.params[0].tensor->data, ((float[]){1, -2.5f}), 8);
        else
            assert_non_null(strstr(err.text, "data is not base64 of 8 bytes"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_printed_parses_back_equal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(different_modules_are_not_equal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_without_a_definition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_binding_is_one_node_in_evaluation_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rewriting_keeps_sharing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(infix_operators_bind_as_in_c, set_up, tear_down),
        cmocka_unit_test_setup_teardown(comments_nest_and_types_in_them_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_bare_expression_is_main, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_mistake_has_its_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_is_bounded_and_length_is_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mutated_text_is_survived, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parameters_round_trip_and_bind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parameters_in_base64, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
