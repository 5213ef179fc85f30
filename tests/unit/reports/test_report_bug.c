/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_report_bug.c Which failures have one cause. */
#include "harness/journal/bug.h"
#include "tests/kit/report.h"

/** A failing case: what a record says of it, and explained.json (or NULL). */
struct failure {
    const char *op, *type, *verdict, *why, *reason, *backtrace, *explained;
};

/** The bugs of these failures (and their modes, or NULL): the number of each case's, as digits; the first bug. */
static struct nnv_bug bugs_of(const struct failure *list, const char *const *modes, size_t n, char *digits, char *ops) {
    struct nnv_text cases = {0}, records = {0}, explained = {0};
    struct nnv_bugs bugs = {0};
    struct nnv_err err = {0};
    const char *comma = "{";
    for (size_t i = 0; i < n; i++) {
        const struct failure *f = &list[i];
        const char *mode = modes && modes[i] ? modes[i] : "";
        nnv_text_addf(&cases, "ops/%zu\tops\t%s\t%s\t\n", i, f->op, f->type);
        nnv_text_addf(
            &records,
            "{\"case\":\"ops/%zu\",\"op\":\"%s\",\"type\":\"%s\",\"verdict\":\"%s\",\"why\":\"%s\",\"reason\":\"%s\","
            "\"compared\":%zu,\"backtrace\":\"%s\"%s%s%s}\n",
            i, f->op, f->type, f->verdict, f->why, f->reason, i + 1, f->backtrace ? f->backtrace : "",
            *mode ? ",\"mode\":\"" : "", mode, *mode ? "\"" : "");
        if (f->explained) nnv_text_addf(&explained, "%s\"ops/%zu\": {%s}", comma, i, f->explained);
        if (f->explained) comma = ", ";
    }
    struct fx f = fx_make(cases.data, records.data);
    if (explained.len) {
        FILE *to = fopen(fx_path(&f, NNV_EXPLAINED_FILE), "w");
        fprintf(to, "%s}", explained.data);
        fclose(to);
    }
    fx_load(&f);
    assert_int_equal(nnv_bugs_of(f.report, &bugs, &err), NNV_OK);
    for (size_t i = 0; i < n; i++) digits[i] = (char)('0' + bugs.of[i]);
    digits[n] = '\0';
    const struct nnv_bug first = bugs.item[0];
    snprintf(ops, 200, "%s: %s", first.ops, first.words);
    nnv_bugs_free(&bugs);
    fx_remove(&f);
    nnv_text_free(&cases);
    nnv_text_free(&records);
    nnv_text_free(&explained);
    return first;
}

#define VALUES "FAIL", "VALUES", "output 0 [2]: 1 of 2 values wrong"
#define CHECK(want, ...)                                                                                               \
    do {                                                                                                               \
        const struct failure list[] = {__VA_ARGS__};                                                                   \
        first = bugs_of(list, NULL, sizeof list / sizeof *list, digits, ops);                                          \
        assert_string_equal(digits, want);                                                                             \
        (void)first;                                                                                                   \
    } while (0)

static void one_mistake_is_one_bug(void **state) {
    (void)state;
    char digits[16], ops[200];
    struct nnv_bug first;
    CHECK("0001", {"CONV_2D", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"lost from 7 on\""},
          {"CONV_2D", "quant8_asymm", VALUES, NULL, "\"op\": \"\", \"words\": \"lost from 3 on\""},
          {"ADD", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"lost from 4 on\""},
          {"ADD", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"activation ignored\""});
    assert_string_equal(ops, "CONV_2D, ADD: lost from 7 on");
    assert_true(first.explained);
    assert_int_equal(first.count, 3);
    assert_int_equal(first.nops, 2);
}

/* Wrong values that nobody tried go to what explains their operation; what was tried in vain stands alone. */
static void unexplained_values(void **state) {
    (void)state;
    char digits[16], ops[200];
    struct nnv_bug first;
    CHECK("01", {"ADD", "float32", VALUES, NULL, NULL}, {"MUL", "float32", VALUES, NULL, NULL});
    assert_string_equal(ops, "ADD: values are wrong");
    CHECK("000", {"ADD", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"activation ignored\""},
          {"ADD", "float32", VALUES, NULL, NULL}, {"ADD", "quant8_asymm", VALUES, NULL, NULL});
    CHECK("01", {"ADD", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"activation ignored\""},
          {"ADD", "quant8_asymm", VALUES, NULL, "\"tried\": true"});
    /* a graph with an ADD in it */
    CHECK("00", {"ADD", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"activation ignored\""},
          {"", "", VALUES, NULL, "\"tried\": true, \"op\": \"ADD\""});
    CHECK("01", {"ADD", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"activation ignored\""},
          {"", "", VALUES, NULL, "\"tried\": true, \"op\": \"MUL\""});
}

static void one_condition_is_one_bug(void **state) {
    (void)state;
    char digits[16], ops[200];
    struct nnv_bug first;
    CHECK("00", {"ADD", "float32", VALUES, NULL, "\"tried\": true, \"where\": \"only where rank = 4 (3 of 4)\""},
          {"MUL", "float32", VALUES, NULL, "\"tried\": true, \"where\": \"mostly where rank = 4 and n > 2\""});
    assert_string_equal(first.where ? "told" : "not", "told");
    CHECK("01", {"ADD", "float32", VALUES, NULL, "\"tried\": true, \"where\": \"only where rank = 4\""},
          {"MUL", "float32", VALUES, NULL, "\"tried\": true, \"where\": \"only where rank = 3\""});
    CHECK("01", {"ADD", "float32", VALUES, NULL, "\"tried\": true, \"where\": \"in all 3 cases\""},
          {"MUL", "float32", VALUES, NULL, "\"tried\": true, \"where\": \"in all 3 cases\""});
}

static void one_wording_is_one_bug(void **state) {
    (void)state;
    char digits[16], ops[200];
    struct nnv_bug first;
    CHECK("00", {"ADD", "float32", "FAIL", "REFUSED", "prepare_model of ADD answered 3", NULL, NULL},
          {"MUL", "quant8_asymm", "FAIL", "REFUSED", "prepare_model of MUL answered 4", NULL, NULL});
    CHECK("01", {"ADD", "float32", "FAIL", "REFUSED", "prepare_model of ADD answered 3", NULL, NULL},
          {"ADD", "float32", "TIMEOUT", "NO_END", "prepare_model of ADD answered 3", NULL, NULL});
    CHECK("01", {"ADD", "float32", "FAIL", "REFUSED", "prepare_model of ADD answered 3", NULL, NULL},
          {"ADD", "float32", "FAIL", "REFUSED", "execute answered 3", NULL, NULL});
}

#define DIED "CRASH", "DIED", "the driver died with SIGSEGV in execute"
static void one_place_is_one_bug(void **state) {
    (void)state;
    char digits[16], ops[200];
    struct nnv_bug first;
    CHECK("00", {"ADD", "float32", DIED, "#0 libc.so.6+0x1 abort+0x1\\n#1 npu.so+0x20 run+0x4", NULL},
          {"MUL", "float32", DIED, "#0 npu.so+0x20 run+0x4\\n#1 npu.so+0x99 main+0x4", NULL});
    CHECK("01", {"ADD", "float32", DIED, "#0 npu.so+0x30 walk+0x4", NULL},
          {"ADD", "quant8_asymm", DIED, "#0 npu.so+0x20 run+0x4", NULL});
    CHECK("00", {"ADD", "float32", DIED, "", NULL}, {"MUL", "float32", DIED, "", NULL});
}

/** A library's own answer says more than which suite asked for it. */
static void one_answer_is_one_bug(void **state) {
    (void)state;
    char digits[16], ops[200];
    struct nnv_bug first;
    CHECK("00",
          {"ADD", "float32", "FAIL", "REFUSED",
           "execute answered 3: ANeuralNetworksExecution_compute answered OP_FAILED", NULL, NULL},
          {"MUL", "float32", "FAIL", "REFUSED",
           "a burst answered 3, expected 0: ANeuralNetworksExecution_compute answered OP_FAILED", NULL, NULL});
    CHECK("01",
          {"ADD", "float32", "FAIL", "REFUSED",
           "execute answered 3: ANeuralNetworksExecution_compute answered OP_FAILED", NULL, NULL},
          {"MUL", "float32", "FAIL", "REFUSED",
           "execute answered 3: ANeuralNetworksExecution_compute answered BAD_DATA", NULL, NULL});
}

#define ACCEPTED(rule)                                                                                                 \
    { "ADD", "float32", "FAIL", "ACCEPTED", "executed a model that breaks a rule (" rule ")", NULL, NULL }
static void many_missing_checks_are_one_bug(void **state) {
    (void)state;
    char digits[16], ops[200];
    struct nnv_bug first;
    CHECK("012", ACCEPTED("scale"), ACCEPTED("rank"), ACCEPTED("type"));
    CHECK("00001", ACCEPTED("scale"), ACCEPTED("rank"), ACCEPTED("type"), ACCEPTED("extents"),
          {"ADD", "float32", "FAIL", "REFUSED", "prepare_model of ADD answered 3", NULL, NULL});
    assert_non_null(strstr(ops, "accepts what it must refuse, for 4 reasons; such as: executed a model"));
}

#define OF(op, explained)                                                                                              \
    { op, "float32", VALUES, NULL, explained }
#define LOST "\"op\": \"\", \"words\": \"the last element lost\""

/* A bug of many operations is one of what they share: wrong values are its, whatever explains them by chance. */
static void what_operations_share(void **state) {
    (void)state;
    char digits[16], ops[100];
    struct nnv_bug first;
    CHECK("0000000000", OF("ADD", LOST), OF("SUB", LOST), OF("MUL", LOST), OF("DIV", LOST), OF("ABS", LOST),
          OF("NEG", LOST), OF("EXP", LOST), OF("LOG", LOST), OF("LESS", "\"op\": \"\", \"words\": \"equal is less\""),
          OF("SQRT", "\"tried\": true"));
    assert_true(first.explained);
    assert_int_equal(first.nops, 10);
    /* of few operations nothing is said */
    CHECK("00000001", OF("ADD", LOST), OF("SUB", LOST), OF("MUL", LOST), OF("DIV", LOST), OF("ABS", LOST),
          OF("NEG", LOST), OF("EXP", LOST), OF("SQRT", "\"tried\": true"));
    CHECK("00000000", OF("ADD", NULL), OF("SUB", NULL), OF("MUL", NULL), OF("DIV", NULL), OF("ABS", NULL),
          OF("NEG", NULL), OF("EXP", NULL), OF("SQRT", NULL));
    assert_false(first.explained);
    CHECK("0123456", OF("ADD", NULL), OF("SUB", NULL), OF("MUL", NULL), OF("DIV", NULL), OF("ABS", NULL),
          OF("NEG", NULL), OF("EXP", NULL));
}

/* All that fails was executed in one mode. */
static void one_mode(void **state) {
    (void)state;
    char digits[16], ops[100];
    struct nnv_bug first;
    const struct failure list[] = {{"ADD", "float32", VALUES, NULL, NULL},
                                   {"MUL", "float32", VALUES, NULL, NULL},
                                   {"MUL", "float32", "FAIL", "REFUSED", "execute answered 3", NULL, NULL}};
    const char *const modes[][4] = {{"burst", "burst", "burst", "000"},
                                    {"burst", "fenced", "burst", "001"},
                                    {"burst", NULL, "burst", "012"},
                                    {"sync", "sync", "sync", "001"}}; /* step by step: models are fixtures */
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        first = bugs_of(list, modes[i], 3, digits, ops);
        assert_string_equal(digits, modes[i][3]);
    }
    (void)first;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_mistake_is_one_bug),
                                       cmocka_unit_test(unexplained_values),
                                       cmocka_unit_test(one_condition_is_one_bug),
                                       cmocka_unit_test(one_wording_is_one_bug),
                                       cmocka_unit_test(one_place_is_one_bug),
                                       cmocka_unit_test(one_answer_is_one_bug),
                                       cmocka_unit_test(many_missing_checks_are_one_bug),
                                       cmocka_unit_test(what_operations_share),
                                       cmocka_unit_test(one_mode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
