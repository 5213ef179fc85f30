/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_explain_run.c Which promise of an engine's arithmetic explains which failure of a run. */
#include <sys/stat.h>
#include <unistd.h>

#include "harness/debug/explain_run.h"
#include "tests/kit/report.h"

enum { ROWS = 64 };

/** A dump: sums or averages of two columns in float16, and what a driver answered. */
struct dump {
    const char *op, *expected, *answer;
    bool cancels;      /**< the columns hold 62.5 and -62.5 by turns, but for the last row, else 62.5 alone */
    bool missing;      /**< it was not written */
    int columns;       /**< 0: two */
    const char *again; /**< how its replay alone ended; NULL: it was not replayed */
};

#define OPERAND "{\"type\":\"%s\",\"dims\":[%s],\"lifetime\":\"%s\",\"data\":[%s]%s}"

static void put_dump(const struct fx *f, size_t i, const struct dump *d) {
    const bool sum = strcmp(d->op, "REDUCE_SUM") == 0;
    const int count = d->columns ? d->columns : 2;
    char name[32], answer[120];
    struct nnv_text t = {0}, columns = {0};
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < count; k++)
            nnv_text_addf(&columns, "%s%s", row + k > 0 ? "," : "",
                          !d->cancels || row % 2 == 0 ? "62.5"
                          : row + 1 < ROWS            ? "-62.5"
                                                      : "-61.5");
    snprintf(answer, sizeof answer, ",\"actual\":[%s],\"bounds\":[0.5,0.5%s]", d->answer, count == 4 ? ",0.5,0.5" : "");
    nnv_text_add(&t, "{\"format\":\"nnvts-spec/1\",\"name\":\"x\",\"source\":\"\",\"min_version\":\"1.3\","
                     "\"expect_failure\":false,\"relaxed\":false,\"precision\":\"budget\",\"main\":{\"operands\":[");
    nnv_text_addf(&t, OPERAND ",", "TENSOR_FLOAT16", count == 4 ? "64,4" : "64,2", "SUBGRAPH_INPUT", columns.data, "");
    nnv_text_addf(&t, OPERAND ",", "TENSOR_INT32", "1", "CONSTANT_COPY", "0", "");
    nnv_text_addf(&t, OPERAND ",", sum ? "BOOL" : "INT32", "", "CONSTANT_COPY", sum ? "false" : "0", "");
    nnv_text_addf(&t, OPERAND, "TENSOR_FLOAT16", count == 4 ? "4" : "2", "SUBGRAPH_OUTPUT", d->expected, answer);
    nnv_text_addf(&t,
                  "],\"operations\":[{\"type\":\"%s\",\"inputs\":[0,1,2],\"outputs\":[3]}],\"inputs\":[0],"
                  "\"outputs\":[3]},\"referenced\":[]}",
                  d->op);
    snprintf(name, sizeof name, "dumps/%zu.json", i);
    fx_put(f, name, t.data, t.len);
    nnv_text_free(&t);
    nnv_text_free(&columns);
}

/**
 * What explained.json says of these failures: a letter each, "p" a promise, "m" a mistake, "u" that there is no dump to
 * try, "-" nothing.
 */
static void check_explained(const struct dump *dumps, size_t n, const char *want, const char *where) {
    struct nnv_text cases = {0}, records = {0};
    struct nnv_err err = {0};
    char said[16] = "", path[64];
    for (size_t i = 0; i < n; i++) {
        nnv_text_addf(&cases, "ops/%zu\tops\t%s\tfloat32\t\n", i, dumps[i].op);
        nnv_text_addf(
            &records,
            "{\"case\":\"ops/%zu\",\"op\":\"%s\",\"type\":\"float32\",\"verdict\":\"FAIL\",\"why\":\"VALUES\","
            "\"reason\":\"wrong\",\"compared\":%d,\"dump\":\"dumps/%zu.json\"%s%s%s}\n",
            i, dumps[i].op, dumps[i].columns ? dumps[i].columns : 2, i, dumps[i].again ? ",\"again\":\"" : "",
            dumps[i].again ? dumps[i].again : "", dumps[i].again ? "\"" : "");
    }
    struct fx f = fx_make(cases.data, records.data);
    snprintf(path, sizeof path, "%s", fx_path(&f, "dumps"));
    assert_int_equal(mkdir(path, 0777), 0);
    for (size_t i = 0; i < n; i++)
        if (!dumps[i].missing) put_dump(&f, i, &dumps[i]);
    assert_int_equal(nnv_explain_run(f.folder, NULL, &err), NNV_OK);
    fx_load(&f);
    for (size_t i = 0; i < n; i++) {
        const struct nnv_cause *c = f.report->item[i].more->cause;
        said[i] = c->promise ? 'p' : c->explained ? 'm' : c->untried ? 'u' : '-';
    }
    assert_string_equal(said, want);
    const struct nnv_cause_condition *told = f.report->item[0].more->cause->where;
    assert_string_equal(told ? told->told : "", where);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "dumps/%zu.json", i);
        unlink(fx_path(&f, path));
    }
    rmdir(fx_path(&f, "dumps"));
    fx_remove(&f);
    nnv_text_free(&cases);
    nnv_text_free(&records);
}
#define CHECK(want, ...) check_explained((const struct dump[]){__VA_ARGS__}, strlen(want), want, "")
#define CHECK_WHERE(where, want, ...) check_explained((const struct dump[]){__VA_ARGS__}, strlen(want), want, where)

/* Right if sums are float16; wrong by far; where terms cancel, so that any answer is right then. */
#define NEAR_MEAN                                                                                                      \
    { "MEAN", "62.5,62.5", "62,62", false, false, 0, NULL }
#define NEAR_SUM                                                                                                       \
    { "REDUCE_SUM", "4000,4000", "3968,3968", false, false, 0, NULL }
#define FAR_SUM                                                                                                        \
    { "REDUCE_SUM", "4000,4000", "3000,3600", false, false, 0, NULL }
#define LOST_SUM                                                                                                       \
    { "REDUCE_SUM", "4000,4000", "", false, true, 0, NULL }
#define ANY_SUM                                                                                                        \
    { "REDUCE_SUM", "1,1", "3,-2", true, false, 0, NULL }

static void what_leaves_nothing_to_compare(void **state) {
    (void)state;
    CHECK("ppp", NEAR_MEAN, NEAR_MEAN, NEAR_MEAN);
    CHECK("pp-", NEAR_MEAN, NEAR_MEAN, FAR_SUM);
    CHECK("pp-u", NEAR_MEAN, NEAR_MEAN, FAR_SUM, LOST_SUM);
    CHECK("--", FAR_SUM, LOST_SUM); /* no promise was to be tried */
    /* under a promise that admits any answer of the operation one is no evidence for it, */
    CHECK("-", ANY_SUM);
    CHECK("pp-", NEAR_MEAN, NEAR_MEAN, ANY_SUM);
    CHECK("ppp--", NEAR_MEAN, NEAR_MEAN, NEAR_SUM, FAR_SUM, ANY_SUM);
    /* but where others of the operation are */
    CHECK("ppppp", NEAR_MEAN, NEAR_MEAN, NEAR_SUM, NEAR_SUM, ANY_SUM);
}

/* As if the last 32 rows were lost; wrong by far, and how it ended when it ran again alone. */
#define HALF_SUM                                                                                                       \
    { "REDUCE_SUM", "4000,4000,4000,4000", "2000,2000,2000,2000", false, false, 4, NULL }
#define AGAIN(how)                                                                                                     \
    { "REDUCE_SUM", "4000,4000", "3000,3600", false, false, 0, how }

/* One dump is not enough where neither another nor passing cases may confirm what explains it. */
static void a_mistake_is_confirmed(void **state) {
    (void)state;
    CHECK("-", HALF_SUM);
    CHECK("mm", HALF_SUM, HALF_SUM);
    CHECK("---", HALF_SUM, FAR_SUM, FAR_SUM);
}

/* Where the smallest is no evidence, what explains a larger one of its kind, and others, explains it, too. */
static void a_larger_one_tells_more(void **state) {
    (void)state;
    CHECK("mmmm", FAR_SUM, HALF_SUM, HALF_SUM, HALF_SUM);
    CHECK("---", FAR_SUM, HALF_SUM, FAR_SUM);
}

/* What passes alone fails by what ran before: no attribute of the case is the cause. */
static void what_passes_alone(void **state) {
    (void)state;
    CHECK_WHERE("not when its cases run again, each alone (3 of 3 passed)", "---", AGAIN("PASS"), AGAIN("PASS"),
                AGAIN("PASS"));
    CHECK_WHERE("not when its cases run again, each alone (3 of 4 passed)", "----", AGAIN("PASS"), AGAIN("PASS"),
                AGAIN("PASS"), AGAIN("FAIL"));
    CHECK("---", AGAIN("PASS"), AGAIN("PASS"), AGAIN("FAIL"));
    CHECK("--", AGAIN("PASS"), FAR_SUM); /* one is none */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_leaves_nothing_to_compare),
                                       cmocka_unit_test(a_mistake_is_confirmed),
                                       cmocka_unit_test(a_larger_one_tells_more), cmocka_unit_test(what_passes_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
