/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_report_bug.c Which failures have one cause. */
#include <unistd.h>

#include "harness/journal/causes/bug.h"
#include "tests/kit/report.h"

enum { DIGITS = 40, OPS = 240 };

/** A failing case: what a record says of it, and explained.json (or NULL). */
struct failure {
    const char *op, *type, *verdict, *why, *reason, *backtrace, *explained;
};

/* Members of explained.json: a condition as it is told, its parts, and what it says of elements. */
#define Q(text) "\"" text "\""
#define TOLD_AS(told) "\"where\": " Q(told)
#define WHERE(told, terms) TOLD_AS(told) ", \"terms\": [" terms "]"
#define SITUATION(told, situation) TOLD_AS(told) ", \"situation\": " Q(situation)
#define ELEMENTS(told) ", \"elements\": " Q("in elements where " told)

/** The case's name: "ops/ADD/float32/limits/0", or "ops/0" of no kind. */
static const char *name_of(const struct failure *f, const char *kind, size_t i, char name[OPS]) {
    if (kind)
        snprintf(name, OPS, "ops/%s/%s/%s/%zu", f->op, f->type, kind, i);
    else
        snprintf(name, OPS, "ops/%zu", i);
    return name;
}

/** The bugs of these failures (and their modes and kinds, or NULL): the number of each case's, as digits; the first
 * bug. */
static struct nnv_bug bugs_of(const struct failure *list, const char *const *modes, const char *const *kinds, size_t n,
                              char *digits, char *ops) {
    struct nnv_text cases = {0}, records = {0}, explained = {0};
    struct nnv_bugs bugs = {0};
    struct nnv_err err = {0};
    const char *comma = "{";
    for (size_t i = 0; i < n; i++) {
        const struct failure *f = &list[i];
        const char *mode = modes && modes[i] ? modes[i] : "";
        char name[OPS];
        name_of(f, kinds ? kinds[i] : NULL, i, name);
        nnv_text_addf(&cases, "%s\tops\t%s\t%s\t\n", name, f->op, f->type);
        nnv_text_addf(
            &records,
            "{\"case\":\"%s\",\"op\":\"%s\",\"type\":\"%s\",\"verdict\":\"%s\",\"why\":\"%s\",\"reason\":\"%s\","
            "\"compared\":%zu,\"backtrace\":\"%s\"%s%s%s}\n",
            name, f->op, f->type, f->verdict, f->why, f->reason, i + 1, f->backtrace ? f->backtrace : "",
            *mode ? ",\"mode\":\"" : "", mode, *mode ? "\"" : "");
        if (f->explained) nnv_text_addf(&explained, "%s\"%s\": {%s}", comma, name, f->explained);
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
    assert_true(n < DIGITS);
    for (size_t i = 0; i < n; i++) digits[i] = (char)('0' + bugs.of[i]);
    digits[n] = '\0';
    struct nnv_bug first = bugs.item[0];
    static char where[OPS]; /* outlives the bugs */
    snprintf(ops, OPS, "%s: %s", first.ops, first.words);
    if (first.where) {
        snprintf(where, sizeof where, "%s", first.where);
        first.where = where;
    }
    first.words = first.ops = first.types = NULL;
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
        first = bugs_of(list, NULL, NULL, sizeof list / sizeof *list, digits, ops);                                    \
        assert_string_equal(digits, want);                                                                             \
        (void)first;                                                                                                   \
    } while (0)

static void one_mistake_is_one_bug(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
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

/* The same answer of whichever part of a split model. */
static void parts_are_one_driver(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    CHECK("001", {"", "", "FAIL", "STATUS", "part-a: the driver answered GENERAL_FAILURE", NULL, NULL},
          {"", "", "FAIL", "STATUS", "part-d: the driver answered GENERAL_FAILURE", NULL, NULL},
          {"", "", "FAIL", "STATUS", "part-d: the driver answered OP_FAILED", NULL, NULL});
}

/* Wrong values that nobody tried go to what explains their operation; what was tried in vain stands alone. */
static void unexplained_values(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
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
    /* nothing explains the ADD either */
    CHECK("00", {"ADD", "float32", VALUES, NULL, "\"tried\": true"},
          {"SUB", "float32", VALUES, NULL, "\"tried\": true, \"op\": \"ADD\""});
    CHECK("01", {"ADD", "float32", VALUES, NULL, "\"tried\": true"}, {"", "", VALUES, NULL, "\"tried\": true"});
}

/* What nearly all wrong values are instead of results stands beside the words of the bug. */
static void what_values_are_instead(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
#define WRONG "FAIL", "VALUES", "output 0 [2]: 1 of 2 values wrong; worst at [1]: expected 2, got 3, allowed 0.5"
    CHECK("00", {"ADD", "float32", WRONG "; it is output 1 of the execution before", NULL, "\"tried\": true"},
          {"ADD", "float32", WRONG "; it is output 0 of the execution before", NULL, "\"tried\": true"});
    assert_string_equal(ops, "ADD: values are wrong; it is output # of the execution before");
    /* in one step */
#define STEP(step) "FAIL", "VALUES", step ": output 0: 1 of 2 values wrong; element 0: expected 2, got 3, allowed 0"
    CHECK("00", {"ADD", "float32", STEP("execute of a copy"), NULL, NULL},
          {"ADD", "float32", STEP("execute of a copy") "; every value is 3", NULL, NULL});
    assert_string_equal(ops, "ADD: values are wrong; execute of a copy");
    CHECK("00", {"ADD", "float32", STEP("execute of a copy"), NULL, NULL},
          {"ADD", "float32", STEP("execute again"), NULL, NULL});
    assert_string_equal(ops, "ADD: values are wrong");
    CHECK("0", {"ADD", "float32", STEP("execute"), NULL, NULL});
    assert_string_equal(ops, "ADD: values are wrong");
#undef STEP
    CHECK("00", {"ADD", "float32", WRONG "; every value is 0", NULL, NULL}, {"ADD", "float32", WRONG, NULL, NULL});
    assert_string_equal(ops, "ADD: values are wrong");
    CHECK("0", {"ADD", "float32", WRONG "; every value is 0", NULL, "\"op\": \"\", \"words\": \"lost from 7 on\""});
    assert_string_equal(ops, "ADD: lost from 7 on");
    CHECK("0", {"ADD", "float32", "FAIL", "VALUES", "execution 3 of stream 1 has the answer of execution 2 of stream 4",
                NULL, NULL});
    assert_string_equal(ops,
                        "ADD: values are wrong; execution # of stream # has the answer of execution # of stream #");
}

/* Suites say in their words that a model is refused; it is the same driver's answer to the same call. */
static void one_refusal_is_one_bug(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
#define REFUSAL(text) "FAIL", "STATUS", text, NULL, NULL
    CHECK("0000", {"ADD", "float32", REFUSAL("prepare_model answered INVALID_ARGUMENT")},
          {"MUL", "float32", REFUSAL("prepare_model answered INVALID_ARGUMENT, expected NONE")},
          {"", "", REFUSAL("prepare_model of a model within the driver's feature level answered INVALID_ARGUMENT")},
          {"SUB", "float32", REFUSAL("prepare_model answered INVALID_ARGUMENT: why")});
    CHECK("01", {"ADD", "float32", REFUSAL("prepare_model answered INVALID_ARGUMENT")},
          {"ADD", "float32", REFUSAL("prepare_model answered GENERAL_FAILURE, expected NONE")});
    CHECK("01", {"ADD", "float32", REFUSAL("prepare_model answered INVALID_ARGUMENT")},
          {"ADD", "float32", REFUSAL("get_supported_operations answered INVALID_ARGUMENT")});
    CHECK("01", {"ADD", "float32", REFUSAL("prepare_model answered NONE, expected INVALID_ARGUMENT")},
          {"ADD", "float32", REFUSAL("prepare_model answered NONE without a prepared model")});
    CHECK("01", {"ADD", "float32", REFUSAL("execute answered INVALID_ARGUMENT, expected NONE")},
          {"ADD", "float32", REFUSAL("execute of a burst answered INVALID_ARGUMENT, expected NONE")});
#undef REFUSAL
}

static void one_condition_is_one_bug(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    CHECK("00",
          {"ADD", "float32", VALUES, NULL, "\"tried\": true, " WHERE("only where rank = 4 (3 of 4)", Q("rank = 4"))},
          {"MUL", "float32", VALUES, NULL,
           "\"tried\": true, " WHERE("mostly where rank = 4 and n > 2", Q("rank = 4") ", " Q("n > 2"))});
    assert_string_equal(first.where ? "told" : "not", "told");
    CHECK("01", {"ADD", "float32", VALUES, NULL, "\"tried\": true, " WHERE("only where rank = 4", Q("rank = 4"))},
          {"MUL", "float32", VALUES, NULL, "\"tried\": true, " WHERE("only where rank = 3", Q("rank = 3"))});
    CHECK("00",
          {"ADD", "float32", VALUES, NULL,
           "\"tried\": true, " WHERE("only where rank = 4; in elements where a > 5", Q("rank = 4")) ELEMENTS("a > 5")},
          {"MUL", "float32", VALUES, NULL, "\"tried\": true, " WHERE("only where rank = 4", Q("rank = 4"))});
    CHECK("01",
          {"ADD", "float32", VALUES, NULL,
           "\"tried\": true, " TOLD_AS("in elements where a > 5 (8 of 9)") ELEMENTS("a > 5")},
          {"MUL", "float32", VALUES, NULL, "\"tried\": true, " TOLD_AS("in elements where a > 5") ELEMENTS("a > 5")});
    /* a bound that no other bug has */
#define PECULIAR(words) "\"tried\": true, \"peculiar\": true, " TOLD_AS("in elements where " words) ELEMENTS(words)
    CHECK("00", {"ADD", "int32", VALUES, NULL, PECULIAR("a > 8191")},
          {"MUL", "int32", VALUES, NULL, PECULIAR("a > 8191")});
    assert_string_equal(first.where, "in elements where a > 8191");
    CHECK("01", {"ADD", "int32", VALUES, NULL, PECULIAR("a > 8191")},
          {"MUL", "int32", VALUES, NULL, PECULIAR("a > 4095")});
#undef PECULIAR
    CHECK("01", {"ADD", "float32", VALUES, NULL, "\"tried\": true, " TOLD_AS("in all 3 cases")},
          {"MUL", "float32", VALUES, NULL, "\"tried\": true, " TOLD_AS("in all 3 cases")});
    /* the same parts in another order */
    CHECK("00",
          {"ADD", "float32", VALUES, NULL,
           "\"tried\": true, " WHERE("only where rank = 4 and n > 2", Q("rank = 4") ", " Q("n > 2"))},
          {"MUL", "float32", VALUES, NULL,
           "\"tried\": true, " WHERE("only where n > 2 and rank = 4 (3 of 4)", Q("n > 2") ", " Q("rank = 4"))});
    CHECK("01",
          {"ADD", "float32", VALUES, NULL,
           "\"tried\": true, " WHERE("only where rank = 4 and n > 2", Q("rank = 4") ", " Q("n > 2"))},
          {"MUL", "float32", VALUES, NULL,
           "\"tried\": true, " WHERE("only where n > 2 and rank = 3", Q("n > 2") ", " Q("rank = 3"))});
    /* the count of one part is not told of the whole */
    CHECK("0", {"ADD", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"lost\", " TOLD_AS("in all 3 cases")});
    assert_string_equal(first.where ? "told" : "not", "told");
    CHECK("00", {"ADD", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"lost\", " TOLD_AS("in all 3 cases")},
          {"MUL", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"lost\", " TOLD_AS("in all 5 cases")});
    assert_string_equal(first.where ? "told" : "not", "not");
    /* but that most fail, of each */
#define OFTEN(words) "\"op\": \"\", \"words\": \"lost\", \"often\": true, " TOLD_AS(words)
    CHECK("00", {"ADD", "float32", VALUES, NULL, OFTEN("in all 3 cases")},
          {"MUL", "float32", VALUES, NULL, OFTEN("in most cases (3 of 5)")});
    assert_string_equal(first.where, "in most cases");
    CHECK("00", {"ADD", "float32", VALUES, NULL, OFTEN("in all 3 cases")},
          {"MUL", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"lost\", " TOLD_AS("only where rank = 3")});
    assert_string_equal(first.where ? "told" : "not", "not");
#undef OFTEN
}

static void one_wording_is_one_bug(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    CHECK("00", {"ADD", "float32", "FAIL", "REFUSED", "prepare_model of ADD answered 3", NULL, NULL},
          {"MUL", "quant8_asymm", "FAIL", "REFUSED", "prepare_model of MUL answered 4", NULL, NULL});
    CHECK("01", {"ADD", "float32", "FAIL", "REFUSED", "prepare_model of ADD answered 3", NULL, NULL},
          {"ADD", "float32", "TIMEOUT", "NO_END", "prepare_model of ADD answered 3", NULL, NULL});
    CHECK("01", {"ADD", "float32", "FAIL", "REFUSED", "prepare_model of ADD answered 3", NULL, NULL},
          {"ADD", "float32", "FAIL", "REFUSED", "execute answered 3", NULL, NULL});
}

#define BUILDING "CRASH", "DIED", "the driver died with SIGSEGV in prepare_model"
#define DIED "CRASH", "DIED", "the driver died with SIGSEGV in execute"
static void one_place_is_one_bug(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    CHECK("00", {"ADD", "float32", DIED, "#0 libc.so.6+0x1 abort+0x1\\n#1 npu.so+0x20 run+0x4", NULL},
          {"MUL", "float32", DIED, "#0 npu.so+0x20 run+0x4\\n#1 npu.so+0x99 main+0x4", NULL});
    CHECK("01", {"ADD", "float32", DIED, "#0 npu.so+0x30 walk+0x4", NULL},
          {"ADD", "quant8_asymm", DIED, "#0 npu.so+0x20 run+0x4", NULL});
    CHECK("00", {"ADD", "float32", DIED, "", NULL}, {"MUL", "float32", DIED, "", NULL});
    /* the address that was touched is no place */
    CHECK("001", {"ADD", "float32", DIED, "address 0x10\\n#0 npu.so+0x20 run+0x4", NULL},
          {"MUL", "float32", DIED, "address 0x99\\n#0 npu.so+0x20 run+0x4", NULL},
          {"SUB", "float32", DIED, "address 0x10\\n#0 npu.so+0x24 run+0x8", NULL});
    /* many places, before anything is computed: nothing is checked there */
    CHECK("00011", {"ADD", "float32", BUILDING, "#0 npu.so+0x1 add+0x4", NULL},
          {"MUL", "float32", BUILDING, "#0 npu.so+0x2 mul+0x4", NULL},
          {"SUB", "float32", BUILDING, "#0 npu.so+0x3 sub+0x4", NULL},
          {"SUB", "float32", DIED, "#0 npu.so+0x4 run+0x4", NULL},
          {"ADD", "float32", DIED, "#0 npu.so+0x4 run+0x4", NULL});
    assert_string_equal(ops, "ADD, MUL, SUB: the driver died with SIGSEGV in prepare_model, at 3 places");
    CHECK("012", {"ADD", "float32", DIED, "#0 npu.so+0x1 add+0x4", NULL},
          {"MUL", "float32", DIED, "#0 npu.so+0x2 mul+0x4", NULL},
          {"SUB", "float32", DIED, "#0 npu.so+0x3 sub+0x4", NULL});
}

/** A library's own answer says more than which suite asked for it. */
static void one_answer_is_one_bug(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
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
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    CHECK("01", ACCEPTED("scale"), ACCEPTED("rank"));
    CHECK("00001", ACCEPTED("scale"), ACCEPTED("rank"), ACCEPTED("type"), ACCEPTED("extents"),
          {"ADD", "float32", "FAIL", "REFUSED", "prepare_model of ADD answered 3", NULL, NULL});
    assert_non_null(strstr(ops, "accepts what it must refuse, for 4 reasons; such as: executed a model"));
}

#define ANSWER(why, reason)                                                                                            \
    { "ADD", "float32", "FAIL", why, reason, NULL, NULL }

/* The same call that answers the same for several reasons is one bug; another call, or another answer, is not. */
static void one_call_and_code_is_one_bug(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    CHECK("00012", ANSWER("STATUS", "prepare_model of a model without inputs answered 2, expected 4"),
          ANSWER("STATUS", "prepare_model of a model with a loop answered 2, expected 4"),
          ANSWER("STATUS", "prepare_model of a large model answered 2, expected 4"),
          ANSWER("STATUS", "execute of a large model answered GONE, expected 4"),
          ANSWER("STATUS", "prepare_model of a small model answered GONE, expected 4"));
    assert_string_equal(ops, "ADD: answers another status than it must, for 3 reasons; such as: prepare_model of a "
                             "model without inputs answered #, expected #");
    assert_true(first.family);
    CHECK("01", ANSWER("STATUS", "prepare_model of a model without inputs answered 2, expected 4"),
          ANSWER("STATUS", "prepare_model of a model with a loop answered 2, expected 4"));
    CHECK("000", ANSWER("SHAPE", "execute reports shape [3]"), ANSWER("SHAPE", "output 0: rank 3 is reported"),
          ANSWER("SHAPE", "a burst reports no shape"));
    CHECK("0001", ANSWER("LEAK", "the driver keeps threads; a driver must end what it starts"),
          ANSWER("LEAK", "4 times a device: 3 threads before, 7 after; a driver must end what it starts"),
          ANSWER("LEAK", "4 times a cache: 3 threads before, 7 after; a driver must end what it starts"),
          ANSWER("LEAK", "4 times a cache: 3 files before, 7 after; a driver must close what it opens"));
}

/* One rare kind of case that goes wrong in several operations is one bug; a frequent one says nothing. */
static void one_kind_of_case_is_one_bug(void **state) {
    (void)state;
    enum { N = 36 };
    const char *const tried = "\"tried\": true", *kinds[N] = {"limits", "limits", "limits", "cover"};
    char digits[DIGITS], ops[OPS];
    struct failure list[N] = {{"ADD", "float32", VALUES, NULL, tried},
                              {"SUB", "float32", VALUES, NULL, tried},
                              {"MUL", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"swapped\""},
                              {"SUB", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"lost\""}};
    for (int i = 4; i < N; i++) {
        list[i] = (struct failure){"ADD", "float32", "PASS", "", "", NULL, NULL};
        kinds[i] = i % 2 ? "cover" : "rank";
    }
    struct nnv_bug first = bugs_of(list, NULL, kinds, N, digits, ops);
    assert_memory_equal(digits, "0001", 4);
    assert_true(first.explained);
    list[2].explained = tried;
    first = bugs_of(list, NULL, kinds, N, digits, ops);
    assert_memory_equal(digits, "0001", 4);
    assert_int_equal(first.count, 3);
    for (int i = 3; i < N; i++) kinds[i] = "limits";
    first = bugs_of(list, NULL, kinds, N, digits, ops);
    assert_int_not_equal(digits[0], digits[1]);
    (void)first;
}

#define OF(op, explained)                                                                                              \
    { op, "float32", VALUES, NULL, explained }
#define LOST "\"op\": \"\", \"words\": \"the last element lost\""
#define IGNORED "\"op\": \"\", \"words\": \"activation ignored\""

/* A bug of many operations is one of what they share: wrong values are its, whatever explains them by chance. */
static void what_operations_share(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    CHECK("0000000000", OF("ADD", LOST), OF("SUB", LOST), OF("MUL", LOST), OF("DIV", LOST), OF("ABS", LOST),
          OF("NEG", LOST), OF("EXP", LOST), OF("LOG", LOST), OF("LESS", "\"op\": \"\", \"words\": \"equal is less\""),
          OF("SQRT", "\"tried\": true"));
    assert_true(first.explained);
    assert_int_equal(first.nops, 10);
    /* two of many operations, neither of which has most of the failures, stay two */
    CHECK("0000000011111111", OF("ADD", LOST), OF("SUB", LOST), OF("MUL", LOST), OF("DIV", LOST), OF("ABS", LOST),
          OF("NEG", LOST), OF("EXP", LOST), OF("LOG", LOST), OF("SQRT", IGNORED), OF("RELU", IGNORED),
          OF("SIN", IGNORED), OF("TANH", IGNORED), OF("PRELU", IGNORED), OF("MEAN", IGNORED), OF("RSQRT", IGNORED),
          OF("ELU", IGNORED));
    /* what is no matter of values stays apart */
    CHECK("000000001", OF("ADD", LOST), OF("SUB", LOST), OF("MUL", LOST), OF("DIV", LOST), OF("ABS", LOST),
          OF("NEG", LOST), OF("EXP", LOST), OF("LOG", LOST),
          {"SQRT", "float32", "FAIL", "STATUS", "answered 7", NULL, NULL});
    /* half of the failures are not most of them */
    CHECK("0000000012345678", OF("ADD", LOST), OF("SUB", LOST), OF("MUL", LOST), OF("DIV", LOST), OF("ABS", LOST),
          OF("NEG", LOST), OF("EXP", LOST), OF("LOG", LOST), OF("SQRT", NULL), OF("RELU", NULL), OF("SIN", NULL),
          OF("TANH", NULL), OF("PRELU", NULL), OF("MEAN", NULL), OF("RSQRT", NULL), OF("ELU", NULL));
    /* eight of fifteen failures are most of them */
    CHECK("000000000000000", OF("ADD", LOST), OF("SUB", LOST), OF("MUL", LOST), OF("DIV", LOST), OF("ABS", LOST),
          OF("NEG", LOST), OF("EXP", LOST), OF("LOG", LOST), OF("SQRT", IGNORED), OF("RELU", IGNORED),
          OF("SIN", IGNORED), OF("TANH", IGNORED), OF("PRELU", IGNORED), OF("MEAN", IGNORED), OF("RSQRT", IGNORED));
    /* of few operations nothing is said */
    CHECK("00000001", OF("ADD", LOST), OF("SUB", LOST), OF("MUL", LOST), OF("DIV", LOST), OF("ABS", LOST),
          OF("NEG", LOST), OF("EXP", LOST), OF("SQRT", "\"tried\": true"));
    CHECK("00000000", OF("ADD", NULL), OF("SUB", NULL), OF("MUL", NULL), OF("DIV", NULL), OF("ABS", NULL),
          OF("NEG", NULL), OF("EXP", NULL), OF("SQRT", NULL));
    assert_false(first.explained);
    CHECK("0123456", OF("ADD", NULL), OF("SUB", NULL), OF("MUL", NULL), OF("DIV", NULL), OF("ABS", NULL),
          OF("NEG", NULL), OF("EXP", NULL));
}

/* Of what operations share it is said that it was right, more often than not, when cases ran again. */
static void what_was_right_again(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
#define SEVEN                                                                                                          \
    OF("ADD", NULL), OF("SUB", NULL), OF("MUL", NULL), OF("DIV", NULL), OF("ABS", NULL), OF("NEG", NULL),              \
        OF("EXP", NULL)
#define AGAIN(op, verdict) {op, "float32", VALUES "\",\"again\":\"" verdict, NULL, NULL}
    CHECK("0000000000", SEVEN, AGAIN("LOG", "PASS"), AGAIN("SIN", "FAIL"), AGAIN("TANH", "PASS"));
    assert_string_equal(strchr(ops, ':'), ": values are wrong, but not every time");
    CHECK("00000000", SEVEN, AGAIN("LOG", "PASS")); /* what did not run again is no sign */
    assert_string_equal(strchr(ops, ':'), ": values are wrong, but not every time");
    CHECK("000000000", SEVEN, AGAIN("LOG", "PASS"), AGAIN("SIN", "FAIL"));
    assert_string_equal(strchr(ops, ':'), ": values are wrong");
}

#define ACCEPTS(op)                                                                                                    \
    { op, "float32", "FAIL", "ACCEPTED", "executed a model that a driver must refuse", NULL, NULL }
#define HALF "\"op\": \"\", \"right_if\": \"sums are float16\""
#define OFF "\"op\": \"\", \"right_if\": \"sums may be off by one\""

/* What a weaker promise explains is one cause over all operations, and no bug that others share. */
static void a_promise_is_one_cause(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    CHECK("0000000011112", OF("ADD", HALF), OF("SUB", HALF), OF("MUL", HALF), OF("DIV", HALF), OF("ABS", HALF),
          OF("NEG", HALF), OF("EXP", HALF), OF("LOG", HALF), OF("SQRT", OFF), OF("MEAN", OFF), OF("TANH", OFF),
          OF("SIN", OFF), OF("LESS", "\"tried\": true"));
    assert_string_equal(ops, "ADD, SUB, MUL and 5 more: within the budget if sums are float16");
    /* of the same operation: what was not tried goes there, what breaks the promise does not */
    CHECK("001", OF("ADD", HALF), OF("ADD", NULL), OF("SUB", "\"tried\": true"));
    CHECK("01", OF("ADD", HALF), OF("ADD", "\"tried\": true"));
    /* by chance it would do for some of what one mistake breaks */
    CHECK("0000000000", OF("ADD", LOST), OF("SUB", LOST), OF("MUL", LOST), OF("DIV", LOST), OF("ABS", LOST),
          OF("NEG", LOST), OF("EXP", LOST), OF("LOG", LOST), OF("SQRT", HALF), OF("SIN", HALF));
    assert_false(first.promise);
    CHECK("00000000000000000", OF("ADD", LOST), OF("SUB", LOST), OF("MUL", LOST), OF("DIV", LOST), OF("ABS", LOST),
          OF("NEG", LOST), OF("EXP", LOST), OF("LOG", LOST), OF("SQRT", HALF), OF("SIN", HALF), OF("TANH", HALF),
          OF("LESS", HALF), OF("LESS", NULL), OF("LESS", NULL), OF("LESS", NULL), OF("LESS", NULL), OF("LESS", NULL));
    /* nor for as much of it */
    CHECK("0000000000000000", OF("ADD", LOST), OF("SUB", LOST), OF("MUL", LOST), OF("DIV", LOST), OF("ABS", LOST),
          OF("NEG", LOST), OF("EXP", LOST), OF("LOG", LOST), OF("SQRT", HALF), OF("SIN", HALF), OF("TANH", HALF),
          OF("LESS", HALF), OF("MEAN", HALF), OF("RSQRT", HALF), OF("ELU", HALF), OF("PRELU", HALF));
    assert_false(first.promise);
    /* many missing checks are not what values share */
    CHECK("000000001", ACCEPTS("ADD"), ACCEPTS("SUB"), ACCEPTS("MUL"), ACCEPTS("DIV"), ACCEPTS("ABS"), ACCEPTS("NEG"),
          ACCEPTS("EXP"), ACCEPTS("LOG"), OF("LESS", HALF));
    /* a condition that two have by chance does not join them */
    CHECK("01", OF("ADD", HALF ", " WHERE("only where rank is 4", Q("rank is 4"))),
          OF("SUB", OFF ", " WHERE("only where rank is 4", Q("rank is 4"))));
    /* but a mistake under that condition is meant */
    CHECK("000", OF("ADD", HALF ", " WHERE("only where rank is 4", Q("rank is 4"))), OF("ADD", HALF),
          OF("ADD", LOST ", " WHERE("only where rank is 4", Q("rank is 4"))));
    assert_false(first.promise);
}

#define LEAK(op)                                                                                                       \
    { op, "float32", "FAIL", "LEAK", "the driver keeps threads: the case 32 times more took 32 of them", NULL, NULL }

/* A leak in many operations is one bug, and not the bug of wrong values beside it. */
static void what_is_left_behind(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    CHECK("00000000112", LEAK("ADD"), LEAK("SUB"), LEAK("MUL"), LEAK("DIV"), LEAK("ABS"), LEAK("NEG"), LEAK("EXP"),
          LEAK("LOG"), OF("LESS", LOST), OF("ADD", LOST), OF("SQRT", NULL));
    assert_non_null(strstr(ops, "the driver keeps threads"));
}

/* All that fails was executed in one mode. */
static void one_mode(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    const struct failure list[] = {{"ADD", "float32", VALUES, NULL, NULL},
                                   {"MUL", "float32", VALUES, NULL, NULL},
                                   {"MUL", "float32", "FAIL", "REFUSED", "execute answered 3", NULL, NULL}};
    const char *const modes[][4] = {{"burst", "burst", "burst", "000"},
                                    {"burst", "fenced", "burst", "001"},
                                    {"burst", NULL, "burst", "012"},
                                    {"sync", "sync", "sync", "001"}}; /* step by step: models are fixtures */
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        first = bugs_of(list, modes[i], NULL, 3, digits, ops);
        assert_string_equal(digits, modes[i][3]);
    }
    const struct failure other[] = {list[0], list[2], list[1]};
    first = bugs_of(other, modes[0], NULL, 3, digits, ops);
    assert_string_equal(digits, modes[0][3]);
    (void)first;
}

/* Where a crash was is read again from its record: a journal that has changed by then is an error, not another bug. */
static void a_changed_journal_is_an_error(void **state) {
    (void)state;
    struct fx f = fx_make("a\ts\tADD\tfloat32\t\n",
                          "{\"case\":\"a\",\"verdict\":\"CRASH\",\"reason\":\"r\",\"backtrace\":\"#0 x\"}\n");
    struct nnv_bugs bugs = {0};
    struct nnv_err err = {0};
    fx_load(&f);
    assert_int_equal(truncate(fx_path(&f, "journal.jsonl"), 10), 0);
    assert_int_equal(nnv_bugs_of(f.report, &bugs, &err), NNV_IO);
    assert_non_null(strstr(err.text, "journal.jsonl has changed while it was read"));
    nnv_bugs_free(&bugs);
    fx_remove(&f);
}

#define TOLD(op, condition)                                                                                            \
    { op, "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"lost\", " condition }

/* A bug of several buckets has of their conditions what its cases have in common, and no more. */
static void a_condition_is_true_of_the_whole_bug(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    /* each has another */
    CHECK("00", TOLD("ADD", WHERE("only where rank = 4 (3 of 4 such cases fail)", Q("rank = 4"))),
          TOLD("MUL", WHERE("only where n > 2", Q("n > 2"))));
    assert_null(first.where);
    CHECK("000", TOLD("ADD", WHERE("only where rank = 4", Q("rank = 4"))),
          TOLD("MUL", SITUATION("not when alone", "not when alone")), TOLD("SUB", TOLD_AS("in all 3 cases")));
    assert_null(first.where);
    /* of that of all, without its numbers */
    CHECK("00",
          TOLD("ADD", WHERE("only where n >= 5 (not at 3) and rank = 4 (3 of 4 such cases fail)",
                            Q("n >= 5") ", " Q("rank = 4"))),
          TOLD("MUL", WHERE("mostly where rank = 4 (8 of 9 failures)", Q("rank = 4"))));
    assert_string_equal(first.where, "only where rank = 4");
    CHECK("00",
          TOLD("ADD", WHERE("only where rank = 4; in elements where a > 5 (7 of 8 such elements are wrong)",
                            Q("rank = 4")) ELEMENTS("a > 5")),
          TOLD("MUL", TOLD_AS("in elements where a > 5") ELEMENTS("a > 5")));
    assert_string_equal(first.where, "in elements where a > 5");
    CHECK("00", TOLD("ADD", SITUATION("not when alone (3 of 3 passed)", "not when alone")),
          TOLD("MUL", SITUATION("not when alone (2 of 2 passed)", "not when alone")));
    assert_string_equal(first.where, "not when alone");
    /* of that of most of those of which something is known */
    CHECK("000", TOLD("ADD", WHERE("only where rank = 4", Q("rank = 4"))),
          TOLD("MUL", WHERE("only where rank = 4 (3 of 5 such cases fail)", Q("rank = 4"))),
          TOLD("SUB", WHERE("only where n > 2", Q("n > 2"))));
    assert_string_equal(first.where, "mostly where rank = 4");
    /* one bucket: as it is */
    CHECK("00", TOLD("ADD", WHERE("only where rank = 4 (3 of 4 such cases fail)", Q("rank = 4"))),
          TOLD("ADD", WHERE("only where rank = 4 (3 of 4 such cases fail)", Q("rank = 4"))));
    assert_string_equal(first.where, "only where rank = 4 (3 of 4 such cases fail)");
}

/* A mistake that explains few of the cases that were tried is not what the bug is told by. */
static void a_mistake_must_explain_its_bug(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
#define PART WHERE("only where rank = 4", Q("rank = 4"))
#define VAIN {"ADD", "float32", VALUES, NULL, "\"tried\": true, " PART}
    CHECK("000", {"MUL", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"lost\", " PART}, VAIN, VAIN);
    assert_string_equal(ops, "ADD, MUL: lost");
    assert_true(first.explained);
    CHECK("0000", {"MUL", "float32", VALUES, NULL, "\"op\": \"\", \"words\": \"lost\", " PART}, VAIN, VAIN, VAIN);
    assert_string_equal(ops, "ADD, MUL: values are wrong");
    assert_false(first.explained);
}

/* A driver that writes to what is no longer its to write has other cases fail: that comes first. */
static void what_others_pay_for(void **state) {
    (void)state;
    char digits[DIGITS], ops[OPS];
    struct nnv_bug first;
    CHECK("1120", {"MUL", "float32", VALUES, NULL, "\"tried\": true"},
          {"MUL", "float32", VALUES, NULL, "\"tried\": true"},
          {"ADD", "float32", "FAIL", "STATUS", "answered 7", NULL, NULL},
          {"CONV_2D", "float32", "FAIL", "LATE", "wrote 4 bytes", NULL, NULL});
    assert_string_equal(ops, "CONV_2D: wrote # bytes");
    assert_true(first.late);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_mistake_is_one_bug),
                                       cmocka_unit_test(parts_are_one_driver),
                                       cmocka_unit_test(unexplained_values),
                                       cmocka_unit_test(what_values_are_instead),
                                       cmocka_unit_test(one_refusal_is_one_bug),
                                       cmocka_unit_test(one_condition_is_one_bug),
                                       cmocka_unit_test(a_condition_is_true_of_the_whole_bug),
                                       cmocka_unit_test(a_mistake_must_explain_its_bug),
                                       cmocka_unit_test(one_wording_is_one_bug),
                                       cmocka_unit_test(one_place_is_one_bug),
                                       cmocka_unit_test(one_answer_is_one_bug),
                                       cmocka_unit_test(many_missing_checks_are_one_bug),
                                       cmocka_unit_test(one_call_and_code_is_one_bug),
                                       cmocka_unit_test(one_kind_of_case_is_one_bug),
                                       cmocka_unit_test(what_operations_share),
                                       cmocka_unit_test(what_was_right_again),
                                       cmocka_unit_test(a_promise_is_one_cause),
                                       cmocka_unit_test(what_is_left_behind),
                                       cmocka_unit_test(one_mode),
                                       cmocka_unit_test(what_others_pay_for),
                                       cmocka_unit_test(a_changed_journal_is_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
