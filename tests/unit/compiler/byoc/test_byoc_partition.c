/* SPDX-License-Identifier: Apache-2.0 */
/** Regions and their functions: small programs worked by hand, random ones put together again. */
#include "tests/kit/byoc.h"

#include "base/rng.h"
#include "tests/kit/relay_equal.h"

#define F8 "Tensor[(8), float32]"
static const char SUPPORTED[] = "{\"nnapi\": [\"nn.relu\", \"add\", \"tanh\", \"concatenate\", \"split\"]}";

static struct byoc run(const char *text, const char *supported, const char *regions) {
    struct byoc b = byoc_begin(text);
    byoc_partition(&b, supported, NULL);
    byoc_regions(&b, regions);
    return b;
}

static void check(const char *text, const char *regions) {
    struct byoc b = run(text, SUPPORTED, regions);
    byoc_end(&b);
}

static void test_chain(void **state) {
    (void)state;
    check("def @main(%x: " F8 ") {\n %0 = nn.relu(%x);\n %1 = tanh(%0);\n %2 = exp(%1);\n nn.relu(%2)\n}",
          "%0,%1>nnapi;1/1 %ret>nnapi;1/1|exp");
}

static void test_diamond(void **state) {
    (void)state;
    check("def @main(%x: " F8 ") {\n %0 = nn.relu(%x);\n %1 = tanh(%0);\n %2 = exp(%0);\n add(%1, %2)\n}",
          "%0,%1>nnapi;1/2 %ret>nnapi;2/1|exp");
}

static void test_operands_once(void **state) {
    (void)state;
    check("def @main(%x: " F8 ") {\n %0 = add(%x, %x);\n add(%0, %x)\n}", "%0,%ret>nnapi;1/1|");
    check("def @main(%x: " F8 ") {\n %0 = add(%x, 1f);\n add(%0, meta[relay.Constant][0])\n}", "%0,%ret>nnapi;1/1|");
}

static void test_one_output_for_many_uses(void **state) {
    (void)state;
    check("def @main(%x: " F8 ") {\n %0 = nn.relu(%x);\n %1 = exp(%0);\n %2 = exp(%0);\n (%0, %1, %2)\n}",
          "%0>nnapi;1/1|exp,exp");
}

static void test_tuples(void **state) {
    (void)state;
    /* seen through between operations; fields from outside are parameters */
    check("def @main(%x: " F8 ", %y: " F8 ") {\n %0 = nn.relu(%x);\n %1 = (%0, %y);\n concatenate(%1)\n}",
          "%0,%ret>nnapi;2/1|");
    /* two fields of a result are two outputs; the third is used inside alone */
    check("def @main(%x: Tensor[(9), float32]) {\n %0 = split(%x, indices_or_sections=3);\n %1 = %0.0;\n %2 = %0.1;\n"
          " %3 = %0.2;\n %4 = tanh(%3);\n %5 = exp(%1);\n %6 = exp(%2);\n (%4, %5, %6)\n}",
          "%0,%4>nnapi;1/3|exp,exp");
    /* equal projections of a parameter are one operand */
    check("def @main(%p: (" F8 ", " F8 ")) {\n %0 = %p.0;\n %1 = %p.0;\n add(%0, %1)\n}", "%ret>nnapi;1/1|");
    check("def @main(%p: (" F8 ", " F8 ")) {\n concatenate(%p)\n}", "%ret>nnapi;2/1|");
}

static void test_dead_code_and_lets(void **state) {
    (void)state;
    check("def @main(%x: " F8 ") {\n %0 = nn.relu(%x);\n %1 = exp(%0);\n tanh(%x)\n}", "%ret>nnapi;1/1|");
    check("def @main(%x: " F8 ") {\n let %a = nn.relu(%x);\n let %b = exp(%x);\n tanh(%a)\n}", "%a,%ret>nnapi;1/1|");
}

static void test_scopes(void **state) {
    (void)state;
    check("def @main(%x: " F8
          ", %c: bool) {\n %0 = nn.relu(%x);\n if (%c) {\n  %1 = tanh(%0);\n  nn.relu(%1)\n } else {\n"
          "  add(%0, %x)\n }\n}",
          "%0>nnapi;1/1 %1,%ret>nnapi;1/1 %ret>nnapi;2/1|");
    /* used in one branch alone, but written outside it */
    check("def @main(%x: " F8 ", %c: bool) {\n %0 = nn.relu(%x);\n if (%c) {\n  tanh(%0)\n } else {\n  %x\n }\n}",
          "%0>nnapi;1/1 %ret>nnapi;1/1|");
    /* what follows an if waits for it, and so for what its branches use */
    check("def @main(%x: " F8 ", %c: bool) {\n %0 = nn.relu(%x);\n %1 = if (%c) {\n  exp(%0)\n } else {\n  %x\n };\n"
          " add(%0, %1)\n}",
          "%0>nnapi;1/1 %ret>nnapi;2/1|exp");
    check("def @main(%x: " F8 ") {\n %0 = nn.relu(%x);\n let %f = fn (%y: " F8
          ") {\n  %1 = tanh(%y);\n  add(%1, %0)\n };\n"
          " %2 = %f(%0);\n nn.relu(%2)\n}",
          "%1,%ret>nnapi;2/1 %0>nnapi;1/1 %ret>nnapi;1/1|");
}

static void test_globals_are_boundaries(void **state) {
    (void)state;
    check("def @f(%x: " F8 ") {\n nn.relu(%x)\n}\ndef @main(%x: " F8
          ") {\n %0 = tanh(%x);\n %1 = @f(%0);\n add(%0, %1)\n}",
          "%ret>nnapi;1/1 %0>nnapi;1/1 %ret>nnapi;2/1|");
}

static void test_conditions_and_targets(void **state) {
    (void)state;
    const char *text =
        "def @main(%x: " F8 ") {\n %0 = clip(%x, a_min=0f, a_max=6f);\n %1 = clip(%0, a_min=0f, a_max=1f);\n"
        " %2 = nn.relu(%1);\n %3 = tanh(%2);\n tanh(%3)\n}";
    struct byoc b = run(
        text,
        "{\"a\": [\"nn.relu\", {\"op\": \"clip\", \"attr\": \"a_max\", \"in\": [6]}], \"b\": [\"tanh\", \"nn.relu\"]}",
        "%0>a;1/1 %2>a;1/1 %3,%ret>b;1/1|clip");
    byoc_end(&b);
    b = run("def @main(%x: " F8 ") {\n %0 = nn.relu(%x, groups=2);\n tanh(%0)\n}",
            "[{\"op\": \"nn.relu\", \"attr\": \"groups\", \"default\": 1, \"in\": [1]},"
            " {\"op\": \"tanh\", \"attr\": \"groups\", \"default\": 1, \"in\": [1]}]",
            "%ret>nnapi;1/1|nn.relu");
    byoc_end(&b);
    b = run("def @main(%x: " F8 ") {\n %0 = zeros(shape=[8]);\n add(%0, %x)\n}", "[\"zeros\", \"add\"]",
            "%ret>nnapi;2/1|zeros");
    byoc_end(&b);
}

static void test_composites_by_prefix(void **state) {
    (void)state;
    const char *text = "def @main(%x: " F8 ") {\n %0 = nn.relu(%x);\n %1 = tanh(%0);\n exp(%1)\n}";
    const char *pattern =
        "[{\"name\": \"%s.two\", \"pattern\": {\"op\": \"tanh\", \"args\": [{\"op\": \"nn.relu\"}]}}]";
    for (int i = 0; i < 2; i++) {
        char table[256];
        snprintf(table, sizeof table, pattern, i ? "nnapi" : "nnapix");
        struct byoc b = byoc_begin(text);
        byoc_merge(&b, table);
        byoc_partition(&b, "[\"nn.relu\", \"exp\"]", NULL);
        byoc_regions(&b, i ? "%1,%ret>nnapi;1/1|" : "%ret>nnapi;1/1|nnapix.two");
        byoc_end(&b);
    }
}

static void test_prune(void **state) {
    (void)state;
    const char *text = "def @main(%x: " F8 ") {\n %0 = nn.relu(%x);\n %1 = exp(%0);\n %2 = tanh(%1);\n add(%2, %2)\n}";
    static const char *const rules[][2] = {
        {"{\"min_ops\": 2}", "%2,%ret>nnapi;1/1|nn.relu,exp"},
        {"{\"min_ops\": 3}", "|nn.relu,exp,tanh,add"},
        {"{\"keep_if_any\": [\"nn.relu\", \"nn.conv2d\"]}", "%0>nnapi;1/1|exp,tanh,add"},
        {"{}", "%0>nnapi;1/1 %2,%ret>nnapi;1/1|exp"},
    };
    for (size_t i = 0; i < 4; i++) {
        struct byoc b = byoc_begin(text);
        byoc_partition(&b, SUPPORTED, rules[i][0]);
        byoc_regions(&b, rules[i][1]);
        byoc_end(&b);
    }
}

static void test_function(void **state) {
    (void)state;
    struct byoc b =
        run("def @main(%x: " F8 ", %y: " F8 ") {\n %0 = nn.relu(%y);\n %1 = add(%0, %x);\n %2 = exp(%1);\n (%0, %2)\n}",
            SUPPORTED, "%0,%1>nnapi;2/2|exp");
    assert_int_equal(b.m->n_functions, 2);
    const struct nnv_relay_expr *f = nnv_relay_find(b.m, "tvmgen_default_nnapi_main_0");
    assert_non_null(f);
    assert_string_equal(nnv_relay_fn_attr(f, "Compiler"), "nnapi");
    assert_string_equal(nnv_relay_fn_attr(f, "global_symbol"), "tvmgen_default_nnapi_main_0");
    assert_int_equal(nnv_relay_written(f, "Primitive")->i, 1);
    assert_int_equal(nnv_relay_written(f, "Inline")->i, 1);
    assert_int_equal(f->n_params, 2);
    assert_string_equal(f->params[0]->name, "nnapi_0_i0");
    const struct nnv_relay_expr *result = f->args[0];
    assert_int_equal(result->kind, NNV_RELAY_TUPLE);
    assert_true(nnv_relay_is_op(result->args[0], "nn.relu"));
    assert_true(result->args[0]->args[0] == f->params[0]);
    assert_true(nnv_relay_is_op(result->args[1], "add"));
    assert_true(result->args[1]->args[0] == result->args[0]);
    assert_true(result->args[1]->args[1] == f->params[1]);
    /* the call passes %y, which is used first, then %x */
    const struct nnv_relay_expr *main = nnv_relay_find(b.m, "main"), *get = main->args[0]->args[0];
    assert_int_equal(get->kind, NNV_RELAY_GET);
    /* what stands for %0 and %1 says where these were written */
    assert_int_equal(get->span.line, 2);
    assert_int_equal(main->args[0]->args[1]->args[0]->span.line, 3);
    assert_true(get->args[0]->args[0] == main->params[1] && get->args[0]->args[1] == main->params[0]);
    /* a second run finds nothing more to do */
    byoc_partition(&b, SUPPORTED, NULL);
    byoc_regions(&b, "|exp");
    assert_int_equal(b.m->n_functions, 2);
    byoc_end(&b);
}

static void test_json(void **state) {
    (void)state;
    struct byoc b = byoc_begin("def @main(%x: " F8 ") {\n %0 = nn.relu(%x);\n %1 = exp(%0);\n nn.relu(%1)\n}");
    byoc_merge(&b, "[{\"name\": \"nnapi.r\", \"pattern\": {\"op\": \"nn.relu\", \"args\": [{\"op\": \"exp\"}]}}]");
    byoc_partition(&b, "[]", NULL);
    assert_string_equal(b.json.data,
                        "{\"composites\":[{\"name\":\"nnapi.r\",\"ops\":[\"exp\",\"nn.relu\"],\"num_params\":1}],"
                        "\"regions\":[{\"ops\":[\"nnapi.r\"],\"nodes\":[\"%ret\"],\"target\":\"nnapi\","
                        "\"params\":1,\"outputs\":1}],\"host_ops\":[\"nn.relu\"]}");
    byoc_end(&b);
}

static void test_bad_json(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"{\"nnapi\": 3}", "nnapi: expected a list"},
        {"[1]", "[0]: expected the name"},
        {"[{\"op\": \"x\", \"attr\": \"a\"}]", "\"in\""},
        {"[{\"op\": \"x\", \"in\": [1]}]", "\"attr\""},
        {"[{\"op\": \"x\", \"attr\": \"a\", \"in\": [{}]}]", "an attribute is"},
        {"7", "S.json"},
        {"[", "S.json:1"},
    };
    struct nnv_arena *arena = nnv_arena_new();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nnv_support *s;
        struct nnv_err err = {0};
        assert_int_equal(nnv_support_read(bad[i][0], strlen(bad[i][0]), "S.json", NULL, 0, arena, &s, &err),
                         NNV_INVALID);
        if (!strstr(err.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], err.text);
    }
    struct nnv_prune p;
    struct nnv_err err = {0};
    assert_int_equal(nnv_prune_read("{\"min_ops\": -1}", 15, "R.json", arena, &p, &err), NNV_INVALID);
    assert_int_equal(nnv_prune_read("{\"keep_if_any\": [1]}", 20, "R.json", arena, &p, &err), NNV_INVALID);
    nnv_arena_free(arena);
}

/* What is printed reads back, has the types that were found before, and is the same program. */
static void test_text_of_the_result(void **state) {
    (void)state;
    static const char *const programs[] = {
        "def @main(%x: " F8 ", %y: " F8 ") {\n %0 = nn.relu(%y);\n %1 = add(%0, %x);\n %2 = exp(%1);\n (%0, %2)\n}\n",
        "def @main(%x: Tensor[(9), float32]) {\n %0 = split(%x, indices_or_sections=3);\n %1 = exp(%0.1);\n"
        " %2 = tanh(%0.2);\n concatenate((%1, %2, %0.0))\n}\n",
        "def @main(%x: " F8
        ", %c: bool) {\n %0 = nn.relu(%x);\n if (%c) {\n  %1 = tanh(%0);\n  nn.relu(%1)\n } else {\n"
        "  add(%0, %x)\n }\n}\n",
        "def @main(%x: " F8 ") {\n %0 = split(%x, indices_or_sections=2);\n %1 = exp(%x);\n (%0, %1)\n}\n",
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct byoc b = byoc_begin(programs[i]);
        struct nnv_text text = {0};
        if (nnv_relay_check(b.m, &b.err) != NNV_OK) fail_msg("%s", b.err.text);
        byoc_merge(&b, "[{\"name\": \"nnapi.two\", \"pattern\": {\"op\": \"add\", \"args\": [{\"op\": \"nn.relu\"}, "
                       "\"*\"]}}]");
        byoc_partition(&b, SUPPORTED, NULL);
        nnv_relay_print(b.m, 0, &text);
        struct nnv_relay_module *again = byoc_parse(&b, text.data);
        if (nnv_relay_check(again, &b.err) != NNV_OK) fail_msg("%s\n%s", b.err.text, text.data);
        if (!nnv_relay_module_equal(b.m, again)) fail_msg("%s", text.data);
        assert_true(nnv_relay_type_equal(nnv_relay_find(b.m, "main")->args[0]->type,
                                         nnv_relay_find(again, "main")->args[0]->type));
        nnv_text_free(&text);
        byoc_end(&b);
    }
}

/* --------------------------------------------------------------- random programs */

/** What stands for the parameters of a function that is put back. */
struct substitution {
    const struct nnv_relay_module *m;
    const struct nnv_relay_expr *function, *call;
};

static struct nnv_relay_expr *substitute(void *ctx, struct nnv_relay_module *m, struct nnv_relay_expr *old,
                                         struct nnv_relay_expr *now) {
    const struct substitution *s = ctx;
    (void)m;
    for (size_t i = 0; i < s->function->n_params; i++)
        if (s->function->params[i] == old) return s->call->args[i];
    return now;
}

static struct nnv_relay_expr *put_back(void *ctx, struct nnv_relay_module *m, struct nnv_relay_expr *old,
                                       struct nnv_relay_expr *now) {
    (void)ctx;
    (void)old;
    if (now->kind == NNV_RELAY_GET && now->args[0]->kind == NNV_RELAY_TUPLE) return now->args[0]->args[now->index];
    if (now->kind != NNV_RELAY_CALL || now->callee->kind != NNV_RELAY_GLOBAL) return now;
    struct substitution s = {m, nnv_relay_find(m, now->callee->name), now};
    struct nnv_relay_expr *body = NULL;
    if (!nnv_relay_fn_attr(s.function, "Compiler")) return now;
    assert_int_equal(nnv_relay_rewrite(m, s.function->args[0], substitute, &s, &body, NULL), NNV_OK);
    return body;
}

/* A program of n operations; some operands far back, some results dead. */
static void write_program(struct nnv_rng *r, int n, struct nnv_text *t) {
    static const char *const ops[] = {"nn.relu", "tanh", "exp", "add", "add", "multiply"};
    nnv_text_add(t, "def @main(%x: " F8 ", %y: " F8 ") {\n");
    for (int i = 0; i < n; i++) {
        const char *op = ops[nnv_rng_int(r, 0, 5)];
        bool two = op[0] == 'a' || op[0] == 'm';
        nnv_text_addf(t, " %%%d = %s(", i, op);
        for (int k = 0; k < 1 + two; k++) {
            int64_t from = nnv_rng_int(r, -2, i - 1);
            nnv_text_add(t, k ? ", " : "");
            if (from < 0)
                nnv_text_add(t, from == -1 ? "%x" : "%y");
            else
                nnv_text_addf(t, "%%%d", (int)from);
        }
        nnv_text_add(t, ");\n");
    }
    nnv_text_addf(t, " (%%%d, %%%d, %%%d)\n}\n", n - 1, (int)nnv_rng_int(r, 0, n - 1), (int)nnv_rng_int(r, 0, n - 1));
}

/* Partition, then put everything back: the program as it was. A cycle would never end the walk or lose operations. */
static void test_random_round_trip(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct nnv_rng r = nnv_rng_make(seed, 3, 3);
        struct nnv_text text = {0};
        write_program(&r, (int)nnv_rng_int(&r, 1, 30), &text);
        struct byoc b = byoc_begin(text.data);
        struct nnv_relay_module *original = byoc_parse(&b, text.data);
        byoc_partition(&b, "{\"a\": [\"nn.relu\", \"add\"], \"b\": [\"tanh\"]}", NULL);
        struct nnv_relay_expr *main = nnv_relay_find(b.m, "main"), *back = NULL;
        for (size_t f = 0; f < b.m->n_functions; f++) {
            const struct nnv_relay_expr *region = b.m->functions[f].expr;
            if (region == main) continue;
            for (size_t i = 0; i < region->n_params; i++)
                for (size_t k = 0; k < i; k++) assert_true(region->params[i] != region->params[k]);
        }
        assert_int_equal(nnv_relay_rewrite(b.m, main, put_back, NULL, &back, &b.err), NNV_OK);
        if (!nnv_relay_equal(back, nnv_relay_find(original, "main"))) fail_msg("seed %d\n%s", (int)seed, text.data);
        nnv_text_free(&text);
        byoc_end(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_diamond),
        cmocka_unit_test(test_operands_once),
        cmocka_unit_test(test_one_output_for_many_uses),
        cmocka_unit_test(test_tuples),
        cmocka_unit_test(test_dead_code_and_lets),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_globals_are_boundaries),
        cmocka_unit_test(test_conditions_and_targets),
        cmocka_unit_test(test_composites_by_prefix),
        cmocka_unit_test(test_prune),
        cmocka_unit_test(test_function),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_bad_json),
        cmocka_unit_test(test_text_of_the_result),
        cmocka_unit_test(test_random_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
