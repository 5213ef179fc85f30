/* SPDX-License-Identifier: Apache-2.0 */
/** Pattern tables: what matches, what is refused, what is wrong with a table. */
#include "tests/kit/byoc.h"

#include "base/rng.h"

#define F8 "Tensor[(8), float32]"
#define MAIN(body) "def @main(%x: " F8 ", %y: " F8 ", %z: " F8 ") {\n" body "\n}"

static void check(const char *text, const char *patterns, const char *composites) {
    struct byoc b = byoc_begin(text);
    byoc_merge(&b, patterns);
    byoc_composites(&b, composites);
    byoc_end(&b);
}

static void test_priority_is_order(void **state) {
    (void)state;
    const char *text = MAIN("%0 = tanh(%x); %1 = nn.relu(%0); exp(%1)");
    check(text,
          "[{\"name\":\"n.a\",\"pattern\":{\"op\":\"nn.relu\",\"args\":[\"*\"]}},"
          " {\"name\":\"n.b\",\"pattern\":{\"op\":\"exp\",\"args\":[{\"op\":\"nn.relu\"}]}}]",
          "n.a(nn.relu;1)");
    check(text,
          "[{\"name\":\"n.b\",\"pattern\":{\"op\":\"exp\",\"args\":[{\"op\":\"nn.relu\"}]}},"
          " {\"name\":\"n.a\",\"pattern\":{\"op\":\"nn.relu\",\"args\":[\"*\"]}}]",
          "n.b(nn.relu,exp;1)");
}

/* A let is seen through, unless what it binds is used outside the match. */
static void test_lets(void **state) {
    (void)state;
    const char *pattern = "[{\"name\":\"n.p\",\"pattern\":{\"op\":\"tanh\",\"args\":[{\"op\":\"nn.relu\"}]}}]";
    check(MAIN("let %a = nn.relu(%x); let %b = tanh(%a); %b"), pattern, "n.p(nn.relu,tanh;1)");
    check(MAIN("let %a = nn.relu(%x); let %b = tanh(%a); add(%a, %b)"), pattern, "");
}

/* Roots are tried from the result: of three equal operations the last two pair up. */
static void test_roots_from_the_result(void **state) {
    (void)state;
    check(MAIN("%0 = nn.relu(%x); %1 = nn.relu(%0); nn.relu(%1)"),
          "[{\"name\":\"n.two\",\"pattern\":{\"op\":\"nn.relu\",\"args\":[{\"op\":\"nn.relu\"}]}}]",
          "n.two(nn.relu,nn.relu;1)");
}

static void test_escaping_values(void **state) {
    (void)state;
    const char *pattern = "[{\"name\":\"n.p\",\"pattern\":{\"op\":\"tanh\",\"args\":[{\"op\":\"nn.relu\"}]}}]";
    check(MAIN("%0 = nn.relu(%x); %1 = tanh(%0); (%1, %0)"), pattern, "");
    check(MAIN("%0 = nn.relu(%x); %1 = tanh(%0); add(%1, %0)"), pattern, "");
    check(MAIN("%0 = nn.relu(%x); %1 = tanh(%0); add(%1, %1)"), pattern, "n.p(nn.relu,tanh;1)");
    check("def @main(%x: " F8 ", %c: bool) {\n%0 = nn.relu(%x); if (%c) { tanh(%0) } else { %x }\n}", pattern, "");
}

static void test_identity(void **state) {
    (void)state;
    const char *same = "[{\"name\":\"n.s\",\"pattern\":{\"op\":\"subtract\",\"args\":[{\"op\":\"nn.relu\",\"args\":["
                       "{\"any\":true,\"id\":\"x\"}]},{\"any\":true,\"id\":\"x\"}]}}]";
    check(MAIN("%0 = nn.relu(%x); subtract(%0, %x)"), same, "n.s(nn.relu,subtract;1)");
    check(MAIN("%0 = nn.relu(%x); subtract(%0, %y)"), same, "");
    /* fresh wildcards bind each their own; equal ones are one parameter */
    check(MAIN("add(%x, %x)"), "[{\"name\":\"n.a\",\"pattern\":{\"op\":\"add\",\"args\":[\"*\",\"*\"]}}]",
          "n.a(add;1)");
}

static void test_operands_in_either_order(void **state) {
    (void)state;
    check(MAIN("%0 = nn.relu(%y); add(%x, %0)"),
          "[{\"name\":\"n.a\",\"pattern\":{\"op\":\"add\",\"args\":[{\"op\":\"nn.relu\"},\"*\"]}}]",
          "n.a(nn.relu,add;2)");
    check(MAIN("%0 = nn.relu(%y); subtract(%x, %0)"),
          "[{\"name\":\"n.a\",\"pattern\":{\"op\":\"subtract\",\"args\":[{\"op\":\"nn.relu\"},\"*\"]}}]", "");
}

static void test_attributes(void **state) {
    (void)state;
    const char *six = "[{\"name\":\"n.r6\",\"pattern\":{\"op\":\"clip\",\"args\":[\"*\"],\"attrs\":{\"a_min\":0,"
                      "\"a_max\":6}}}]";
    check(MAIN("clip(%x, a_min=0f, a_max=6f)"), six, "n.r6(clip;1)");
    check(MAIN("clip(%x, a_min=0f, a_max=1f)"), six, "");
    check(MAIN("clip(%x, a_min=0f)"), six, "");
    for (int keeps = 0; keeps < 2; keeps++) {
        const char *keep = keeps ? "[{\"name\":\"n.s\",\"pattern\":{\"op\":\"sum\",\"attrs\":{\"keepdims\":true}}}]"
                                 : "[{\"name\":\"n.s\",\"pattern\":{\"op\":\"sum\",\"attrs\":{\"keepdims\":false}}}]";
        check(MAIN("sum(%x, axis=[0], keepdims=True)"), keep, keeps ? "n.s(sum;1)" : "");
        check(MAIN("sum(%x, axis=[0], keepdims=False)"), keep, keeps ? "" : "n.s(sum;1)");
    }
}

static void test_constants(void **state) {
    (void)state;
    const char *c = "[{\"name\":\"n.c\",\"pattern\":{\"op\":\"add\",\"args\":[\"*\",{\"const\":true}]}}]";
    check(MAIN("add(%x, 2f)"), c, "n.c(add;1)");
    check(MAIN("add(%x, %y)"), c, "");
    /* met by a wildcard a constant is a parameter */
    check(MAIN("add(%x, 2f)"), "[{\"name\":\"n.c\",\"pattern\":{\"op\":\"add\",\"args\":[\"*\",\"*\"]}}]",
          "n.c(add;2)");
    check(MAIN("%0 = nn.relu(%x); add(%0, %y)"),
          "[{\"name\":\"n.v\",\"pattern\":{\"op\":\"add\",\"args\":[{\"var\":true},\"*\"]}}]", "n.v(add;2)");
}

static void test_alternatives_and_optional_parts(void **state) {
    (void)state;
    const char *o = "[{\"name\":\"n.o\",\"pattern\":{\"optional\":{\"base\":{\"op\":\"nn.dense\"},\"then\":{\"alt\":["
                    "{\"op\":\"nn.relu\",\"args\":[\"@\"]},{\"op\":\"tanh\",\"args\":[\"@\"]}]}}}}]";
    check(MAIN("nn.dense(%x, %y)"), o, "n.o(nn.dense;2)");
    check(MAIN("%0 = nn.dense(%x, %y); nn.relu(%0)"), o, "n.o(nn.dense,nn.relu;2)");
    check(MAIN("%0 = nn.dense(%x, %y); tanh(%0)"), o, "n.o(nn.dense,tanh;2)");
    check(MAIN("%0 = nn.dense(%x, %y); exp(%0)"), o, "n.o(nn.dense;2)");
}

static void test_tuples_and_projections(void **state) {
    (void)state;
    struct byoc b = byoc_begin(MAIN("%0 = nn.relu(%x); %1 = (%0, %y); concatenate(%1)"));
    byoc_merge(&b, "[{\"name\":\"n.t\",\"pattern\":{\"op\":\"concatenate\",\"args\":[{\"tuple\":[{\"op\":\"nn.relu\"},"
                   "\"*\"]}]}}]");
    const struct nnv_relay_expr *call = nnv_relay_find(b.m, "main")->args[0];
    assert_string_equal(nnv_composite_name(call), "n.t");
    assert_string_equal(nnv_relay_fn_attr(call->callee, "PartitionedFromPattern"), "nn.relu_Tuple_concatenate_");
    byoc_end(&b);
    b = byoc_begin(MAIN("%0 = split(%x, indices_or_sections=2); %1 = %0.1; nn.relu(%1)"));
    byoc_merge(
        &b,
        "[{\"name\":\"n.g\",\"pattern\":{\"op\":\"nn.relu\",\"args\":[{\"get\":{\"op\":\"split\"},\"index\":1}]}}]");
    call = nnv_relay_find(b.m, "main")->args[0];
    assert_string_equal(nnv_relay_fn_attr(call->callee, "PartitionedFromPattern"), "split_TupleGetItem1_nn.relu_");
    byoc_end(&b);
    check(MAIN("%0 = split(%x, indices_or_sections=2); %1 = %0.0; nn.relu(%1)"),
          "[{\"name\":\"n.g\",\"pattern\":{\"op\":\"nn.relu\",\"args\":[{\"get\":{\"op\":\"split\"},\"index\":1}]}}]",
          "");
    check(MAIN("%0 = (%x, %y, %z); concatenate(%0)"),
          "[{\"name\":\"n.t\",\"pattern\":{\"op\":\"concatenate\",\"args\":[{\"tuple\":null}]}}]",
          "n.t(concatenate;3)");
}

/* A failed check leaves the operations alone, but they still block roots of the same entry. */
static void test_checks(void **state) {
    (void)state;
    const char *groups =
        "[{\"name\":\"n.c\",\"pattern\":{\"op\":\"nn.conv2d\",\"id\":\"c\"},\"check\":[{\"node\":\"c\","
        "\"attr\":\"groups\",\"default\":1,\"in\":[1]}]},"
        "{\"name\":\"n.d\",\"pattern\":{\"op\":\"nn.conv2d\"}}]";
    check(MAIN("nn.conv2d(%x, %y)"), groups, "n.c(nn.conv2d;2)");
    check(MAIN("nn.conv2d(%x, %y, groups=1)"), groups, "n.c(nn.conv2d;2)");
    check(MAIN("nn.conv2d(%x, %y, groups=2)"), groups, "n.d(nn.conv2d;2)");
    check(MAIN("%0 = nn.relu(%x); %1 = nn.relu(%0); nn.relu(%1, k=1)"),
          "[{\"name\":\"n.two\",\"pattern\":{\"op\":\"nn.relu\",\"id\":\"r\",\"args\":[{\"op\":\"nn.relu\"}]},"
          "\"check\":[{\"node\":\"r\",\"attr\":\"k\",\"default\":0,\"in\":[0]}]}]",
          "");
}

static void test_dominators(void **state) {
    (void)state;
    const char *d = "[{\"name\":\"n.d\",\"pattern\":{\"dominates\":{\"parent\":{\"op\":\"nn.conv2d\"},\"path\":{\"op\":"
                    "\"nn.relu\",\"args\":[\"*\"]},\"child\":{\"op\":\"add\",\"args\":[\"*\",\"*\"]}}}}]";
    check(MAIN("%0 = nn.conv2d(%x, %y); %1 = nn.relu(%0); %2 = nn.relu(%1); %3 = nn.relu(%0); add(%2, %3)"), d,
          "n.d(nn.conv2d,nn.relu,nn.relu,nn.relu,add;2)");
    check(MAIN("%0 = nn.conv2d(%x, %y); %1 = nn.relu(%0); %2 = tanh(%0); add(%1, %2)"), d, "");
    check(MAIN("%0 = nn.conv2d(%x, %y); %1 = nn.relu(%0); %2 = add(%1, %1); (%2, %0)"), d, "");
}

static void test_composites_do_not_nest(void **state) {
    (void)state;
    check(MAIN("%0 = nn.relu(%x); tanh(%0)"),
          "[{\"name\":\"n.a\",\"pattern\":{\"op\":\"tanh\",\"args\":[{\"op\":\"nn.relu\"}]}},"
          "{\"name\":\"n.b\",\"pattern\":{\"op\":\"nn.relu\"}},{\"name\":\"n.c\",\"pattern\":{\"op\":\"tanh\"}}]",
          "n.a(nn.relu,tanh;1)");
}

/* Parameters come in the order of the pattern; the call passes them so. */
static void test_order_of_parameters(void **state) {
    (void)state;
    struct byoc b = byoc_begin(MAIN("%0 = nn.dense(%x, %y); add(%z, %0)"));
    byoc_merge(&b,
               "[{\"name\":\"n.a\",\"pattern\":{\"op\":\"add\",\"args\":[{\"op\":\"nn.dense\",\"args\":[\"*\",\"*\"]},"
               "\"*\"]}}]");
    const struct nnv_relay_expr *main = nnv_relay_find(b.m, "main"), *call = main->args[0],
                                *body = call->callee->args[0];
    assert_int_equal(call->n_args, 3);
    for (size_t i = 0; i < 3; i++) assert_true(call->args[i] == main->params[i]);
    assert_true(body->args[0] == call->callee->params[2]);
    assert_true(body->args[1]->args[0] == call->callee->params[0]);
    byoc_end(&b);
}

/* ------------------------------------------------------------------- bad tables */

static void test_bad_tables(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"", "P.json:"},
        {"[", "P.json:1:1:"},
        {"3", "P.json:1:1:"},
        {"{}", "a pattern table is a list"},
        {"{\"patterns\":[],\"define\":[]}", "\"define\" is an object"},
        {"[3]", "[0]: an entry is an object"},
        {"[{\"pattern\":\"*\"}]", "[0]: \"name\" is missing"},
        {"[{\"name\":\"a\"}]", "[0]: \"pattern\" is missing"},
        {"[{\"name\":\"a\",\"pattern\":\"x\"}]", "[0].pattern: a pattern is"},
        {"[{\"name\":\"a\",\"pattern\":\"@\"}]", "[0].pattern: \"@\" stands only"},
        {"[{\"name\":\"a\",\"pattern\":{}}]", "[0].pattern: not a pattern"},
        {"[{\"name\":\"a\",\"pattern\":{\"op\":7}}]", "\"op\" is the name"},
        {"[{\"name\":\"a\",\"pattern\":{\"op\":\"\"}}]", "\"op\" is the name"},
        {"[{\"name\":\"a\",\"pattern\":{\"op\":\"x\",\"args\":{}}}]", "\"args\" is a list"},
        {"[{\"name\":\"a\",\"pattern\":{\"op\":\"x\",\"args\":[\"*\",1]}}]", "[0].pattern.args[1]: a pattern is"},
        {"[{\"name\":\"a\",\"pattern\":{\"op\":\"x\",\"attrs\":[]}}]", "[0].pattern.attrs: attributes are"},
        {"[{\"name\":\"a\",\"pattern\":{\"op\":\"x\",\"attrs\":{\"k\":{}}}}]", "an attribute is"},
        {"[{\"name\":\"a\",\"pattern\":{\"any\":false}}]", "\"any\" can only be true"},
        {"[{\"name\":\"a\",\"pattern\":{\"tuple\":1}}]", "\"tuple\" is a list"},
        {"[{\"name\":\"a\",\"pattern\":{\"get\":\"*\",\"index\":-1}}]", "\"index\" is the number"},
        {"[{\"name\":\"a\",\"pattern\":{\"alt\":[]}}]", "\"alt\" is a list"},
        {"[{\"name\":\"a\",\"pattern\":{\"optional\":{\"base\":\"*\"}}}]", "[0].pattern.optional: \"then\" is missing"},
        {"[{\"name\":\"a\",\"pattern\":{\"dominates\":{}}}]", "\"parent\" is missing"},
        {"[{\"name\":\"a\",\"pattern\":{\"ref\":\"q\"}}]", "no pattern named 'q'"},
        {"[{\"name\":\"a\",\"pattern\":{\"op\":\"x\",\"id\":\"q\",\"args\":[{\"ref\":\"q\"}]}}]", "is a part of"},
        {"{\"patterns\":[{\"name\":\"a\",\"pattern\":{\"ref\":\"q\"}}],\"define\":{\"q\":{\"alt\":[{\"ref\":\"q\"}]}}}",
         "deeper than 64"},
        {"[{\"name\":\"a\",\"pattern\":\"*\",\"check\":[{}]}]", "[0].check[0]: a condition needs \"node\""},
        {"[{\"name\":\"a\",\"pattern\":\"*\",\"check\":[{\"node\":\"c\"}]}]", "no value with the id 'c'"},
        {"[{\"name\":\"a\",\"pattern\":{\"op\":\"x\",\"id\":\"q\"},\"check\":[{\"node\":\"q\"}]}]",
         "a condition needs \"attr\""},
        {"[{\"name\":\"a\",\"pattern\":{\"op\":\"x\",\"id\":\"q\"},\"check\":[{\"node\":\"q\",\"attr\":\"a\",\"in\":[1]"
         ",\"or\":1}]}]",
         "[0].check[0]: unknown member 'or'"},
        {"[{\"name\":\"a\",\"name\":\"b\",\"pattern\":\"*\"}]", "P.json:1:"},
    };
    struct nnv_arena *arena = nnv_arena_new();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nnv_pattern_table t = {0};
        struct nnv_err err = {0};
        assert_int_equal(nnv_pattern_read(bad[i][0], strlen(bad[i][0]), "P.json", arena, &t, &err), NNV_INVALID);
        if (!strstr(err.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], err.text);
    }
    nnv_arena_free(arena);
}

/* Bytes changed at random in a good table: read, refused or, if read, matched, but never more. */
static void test_hostile_tables(void **state) {
    (void)state;
    static const char good[] =
        "{\"define\":{\"d\":{\"op\":\"nn.dense\",\"args\":[\"*\",{\"const\":true}],\"id\":\"k\"}},\"patterns\":[{"
        "\"name\":"
        "\"n.a\",\"pattern\":{\"optional\":{\"base\":{\"alt\":[{\"ref\":\"d\"},{\"get\":{\"tuple\":[\"*\"]},\"index\":"
        "0}]},"
        "\"then\":{\"op\":\"add\",\"args\":[\"@\",\"*\"],\"attrs\":{\"x\":[1,2.5,null]}}}},\"check\":[{\"node\":\"k\","
        "\"attr\":\"units\",\"default\":0,\"in\":[0,\"b\"]}]}]}";
    static const char letters[] = "[]{}\",:*@0123456789abcdefghijklmnop";
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct nnv_rng r = nnv_rng_make(seed, 4, 4);
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (int64_t k = nnv_rng_int(&r, 1, 3); k > 0; k--)
            text[nnv_rng_int(&r, 0, sizeof good - 2)] = letters[nnv_rng_int(&r, 0, sizeof letters - 2)];
        struct byoc b = {.arena = nnv_arena_new()};
        struct nnv_pattern_table t = {0};
        enum nnv_status s = nnv_pattern_read(text, sizeof good - 1, "P.json", b.arena, &t, &b.err);
        assert_true(s == NNV_OK || (s == NNV_INVALID && !strncmp(b.err.text, "P.json:", 7)));
        if (s == NNV_OK) {
            b.m = byoc_parse(&b, MAIN("%0 = nn.dense(%x, 1f); %1 = add(%0, %y); (%1, %z)"));
            struct nnv_lint *found;
            size_t n;
            assert_int_equal(nnv_merge_composite(b.m, &t, &b.err), NNV_OK);
            assert_int_equal(nnv_pattern_lint(&t, b.arena, &found, &n, &b.err), NNV_OK);
        }
        byoc_end(&b);
    }
}

/* Optional parts nested 40 deep could be tried in 2^40 ways. */
static void test_ambiguous_table(void **state) {
    (void)state;
    struct nnv_text t = {0};
    nnv_text_add(&t, "[{\"name\":\"n.a\",\"pattern\":{\"op\":\"exp\",\"args\":[");
    for (int i = 0; i < 20; i++) nnv_text_add(&t, "{\"optional\":{\"base\":");
    nnv_text_add(&t, "{\"op\":\"tanh\"}");
    for (int i = 0; i < 20; i++) nnv_text_add(&t, ",\"then\":{\"op\":\"nn.relu\",\"args\":[\"@\"]}}}");
    nnv_text_add(&t, "]}}]");
    struct nnv_text program = {0};
    nnv_text_add(&program, "def @main(%x: " F8 ") {\n %0 = nn.relu(%x);\n");
    for (int i = 1; i < 25; i++) nnv_text_addf(&program, " %%%d = nn.relu(%%%d);\n", i, i - 1);
    nnv_text_add(&program, " exp(%24)\n}\n");
    struct byoc b = byoc_begin(program.data);
    struct nnv_pattern_table table;
    assert_int_equal(nnv_pattern_read(t.data, t.len, "P.json", b.arena, &table, &b.err), NNV_OK);
    enum nnv_status s = nnv_merge_composite(b.m, &table, &b.err);
    assert_int_equal(s, NNV_INVALID);
    assert_non_null(strstr(b.err.text, "too many ways"));
    nnv_text_free(&t);
    nnv_text_free(&program);
    byoc_end(&b);
}

/* ------------------------------------------------------------------------- lint */

/** "S1<0 " for each finding: its kind, entry and the entry before it. */
static void lint(const char *text, const char *wanted) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_pattern_table t;
    struct nnv_err err = {0};
    struct nnv_lint *found;
    struct nnv_text got = {0};
    size_t n;
    if (nnv_pattern_read(text, strlen(text), "P.json", arena, &t, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(nnv_pattern_lint(&t, arena, &found, &n, &err), NNV_OK);
    nnv_text_add(&got, "");
    for (size_t i = 0; i < n; i++) nnv_text_addf(&got, "%c%zu<%zu ", "SNO"[found[i].kind], found[i].entry, found[i].by);
    assert_string_equal(got.data ? got.data : "", wanted);
    nnv_text_free(&got);
    nnv_arena_free(arena);
}

#define RELU "{\"op\":\"nn.relu\"}"
#define ENTRY(pattern) "{\"name\":\"n.a\",\"pattern\":" pattern "}"

static void test_lint(void **state) {
    (void)state;
    lint("[" ENTRY("{\"op\":\"tanh\",\"args\":[" RELU "]}") "," ENTRY(RELU) "]", "");
    lint("[" ENTRY(RELU) "," ENTRY("{\"op\":\"nn.relu\",\"args\":[{\"op\":\"exp\"}]}") "]", "S1<0 ");
    lint("[" ENTRY(RELU) "," ENTRY("{\"op\":\"tanh\",\"args\":[" RELU "]}") "]", "S1<0 ");
    lint("[" ENTRY("{\"op\":\"nn.relu\",\"attrs\":{\"k\":1}}") "," ENTRY("{\"op\":\"tanh\",\"args\":[" RELU "]}") "]",
         "O1<0 ");
    lint(
        "[" ENTRY("{\"op\":\"nn.relu\",\"attrs\":{\"k\":1}}") "," ENTRY("{\"op\":\"nn.relu\",\"attrs\":{\"k\":2}}") "]",
        "");
    lint("[" ENTRY("\"*\"") "]", "N0<0 ");
    lint("[" ENTRY("{\"alt\":[" RELU ",{\"op\":\"nn.relu\",\"args\":[\"*\"]}]}") "]", "N0<0 ");
    lint("[{\"name\":\"n.a\",\"pattern\":{\"op\":\"x\",\"id\":\"i\"},\"check\":[{\"node\":\"i\",\"attr\":\"k\",\"in\":["
         "]}]}]",
         "N0<0 ");
    lint("[" ENTRY("{\"op\":\"add\",\"args\":[" RELU ",\"*\"]}") "," ENTRY("{\"op\":\"add\",\"args\":[\"*\"," RELU
                                                                           "]}") "]",
         "O1<0 ");
}

static void add_alternatives(struct nnv_text *t, char letter, int n) {
    nnv_text_add(t, "{\"name\":\"n.a\",\"pattern\":{\"alt\":[");
    for (int i = 0; i < n; i++) nnv_text_addf(t, "%s{\"op\":\"%c%d\"}", i ? "," : "", letter, i);
    nnv_text_add(t, "]}}");
}

/* 160000 pairs of operators, none alike: more than are looked at, and nothing is said of what was not seen. */
static void test_lint_of_many(void **state) {
    (void)state;
    struct nnv_text t = {0};
    nnv_text_add(&t, "[");
    add_alternatives(&t, 'a', 400);
    nnv_text_add(&t, ",");
    add_alternatives(&t, 'b', 400);
    nnv_text_add(&t, "]");
    lint(t.data, "");
    nnv_text_free(&t);
}

static void test_shipped_tables(void **state) {
    (void)state;
    static const char *const paths[] = {"compiler/byoc/tables/nnapi.json", "compiler/byoc/tables/onednn.json"};
    for (size_t i = 0; i < 2; i++) {
        struct nnv_arena *arena = nnv_arena_new();
        struct nnv_pattern_table t;
        struct nnv_err err = {0};
        struct nnv_lint *found;
        size_t n;
        if (nnv_pattern_load(paths[i], arena, &t, &err) != NNV_OK) fail_msg("%s", err.text);
        assert_int_equal(nnv_pattern_lint(&t, arena, &found, &n, &err), NNV_OK);
        for (size_t k = 0; k < n; k++)
            if (found[k].kind != NNV_LINT_OVERLAP) fail_msg("%s: %s", paths[i], found[k].text);
        nnv_arena_free(arena);
    }
}

static void check_shipped(const char *program, const char *composites) {
    struct byoc b = byoc_begin(program);
    struct nnv_pattern_table t;
    if (nnv_pattern_load("compiler/byoc/tables/nnapi.json", b.arena, &t, &b.err) != NNV_OK ||
        nnv_merge_composite(b.m, &t, &b.err) != NNV_OK)
        fail_msg("%s", b.err.text);
    byoc_composites(&b, composites);
    byoc_end(&b);
}

static void test_nnapi_table(void **state) {
    (void)state;
    check_shipped(MAIN("%0 = nn.conv2d(%x, %y); %1 = nn.bias_add(%0, %z); clip(%1, a_min=0f, a_max=6f)"),
                  "nnapi.conv2d_bias(nn.conv2d,nn.bias_add,clip;3)");
    check_shipped(MAIN("%0 = nn.conv2d(%x, %y); %1 = nn.bias_add(%0, %z); clip(%1, a_min=0f, a_max=5f)"),
                  "nnapi.conv2d_bias(nn.conv2d,nn.bias_add;3)");
    check_shipped(MAIN("%0 = nn.conv2d(%x, %y); nn.relu(%0)"), "nnapi.conv2d(nn.conv2d,nn.relu;2)");
    check_shipped(MAIN("%0 = nn.conv2d(%x, %y, data_layout=\"NCHW4c\"); nn.relu(%0)"), "");
    check_shipped(MAIN("%0 = nn.dense(%x, %y); %1 = add(%0, 1f); nn.relu(%1)"), "nnapi.dense(nn.dense,add,nn.relu;2)");
    check_shipped(MAIN("%0 = nn.conv2d(%x, %y); %1 = nn.batch_norm(%0, 1f, 2f, 3f, 4f); %2 = %1.0; nn.relu(%2)"),
                  "nnapi.conv2d_batch_norm(nn.conv2d,nn.batch_norm,nn.relu;2)");
    check_shipped(
        MAIN("%0 = nn.pad(%x, 0f, pad_width=[[0, 0], [1, 1]]); %1 = qnn.conv2d(%0, %y, 0, 0, 1f, 1f);"
             " %2 = nn.bias_add(%1, %z); %3 = qnn.requantize(%2, 1f, 0, 1f, 0); clip(%3, a_min=0f, a_max=127f)"),
        "nnapi.qnn_conv2d(nn.pad,qnn.conv2d,nn.bias_add,qnn.requantize,clip;3)");
}

/* A member is known by its whole name alone. */
static void test_names_of_members(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool known;
    } rows[] = {{"base", true}, {"then", true}, {"path", true}, {"bas", false},      {"ase", false},
                {"hen", false}, {"he", false},  {"ath", false}, {"pat", false},      {"paths", false},
                {"", false},    {" ", false},   {"e t", false}, {"base then", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *object = json_pack("{s:n}", rows[i].name);
        struct nnv_err err = {0};
        const enum nnv_status st = nnv_pattern_members(object, "here", "base then path", &err);
        json_decref(object);
        if ((st == NNV_OK) != rows[i].known) fail_msg("'%s': %s", rows[i].name, err.text);
        if (!rows[i].known) assert_non_null(strstr(err.text, "here: unknown member '"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_priority_is_order),
        cmocka_unit_test(test_lets),
        cmocka_unit_test(test_roots_from_the_result),
        cmocka_unit_test(test_escaping_values),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_operands_in_either_order),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_alternatives_and_optional_parts),
        cmocka_unit_test(test_tuples_and_projections),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_dominators),
        cmocka_unit_test(test_composites_do_not_nest),
        cmocka_unit_test(test_order_of_parameters),
        cmocka_unit_test(test_names_of_members),
        cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_hostile_tables),
        cmocka_unit_test(test_ambiguous_table),
        cmocka_unit_test(test_lint),
        cmocka_unit_test(test_lint_of_many),
        cmocka_unit_test(test_shipped_tables),
        cmocka_unit_test(test_nnapi_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
