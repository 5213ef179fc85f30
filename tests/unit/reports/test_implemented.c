/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_implemented.c What a driver has, by the cases of a run. */
#include "reports/implemented.h"
#include "tests/kit/report.h"

#define CASES                                                                                                          \
    "a\tops\tADD\tfloat32\t\nb\tops\tADD\tfloat32\t\nc\tops\tADD\tfloat16\t\nd\tops\tSVDF\tfloat32\t\n"                \
    "e\tops\tMUL\tfloat32\t\nf\tops\tMUL\tfloat16\t\ng\tapi\t\t\t\n"
#define LINE(name, more) "{\"case\":\"" name "\"," more "}\n"
#define DECLINED(words) "\"verdict\":\"UNSUPPORTED\",\"why\":\"OPERATION\",\"reason\":\"" words "\",\"compared\":0"

/** The pairs as "ADD float32+ float16-", and the counts. */
static void check(const char *words, const char *want, bool untold) {
    struct nnv_text records = {0}, got = {0};
    struct nnv_implemented x;
    struct nnv_err err = {0};
    nnv_text_add(&records, LINE("a", "\"verdict\":\"PASS\",\"compared\":0"));
    nnv_text_addf(&records, LINE("b", "\"verdict\":\"FAIL\",\"why\":\"VALUES\",\"reason\":\"x\",\"compared\":4"));
    nnv_text_addf(&records, LINE("c", DECLINED("%s")) LINE("d", DECLINED("%s")), words, words);
    nnv_text_add(&records, LINE("e", "\"verdict\":\"PASS\",\"compared\":4,\"values\":4"));
    nnv_text_add(&records, LINE("f", "\"verdict\":\"SKIP\",\"why\":\"FEATURE_LEVEL\",\"compared\":0"));
    nnv_text_add(&records, LINE("g", "\"verdict\":\"PASS\",\"compared\":0"));
    struct fx f = fx_make(CASES, records.data);
    fx_load(&f);
    assert_int_equal(nnv_implemented(f.report, &x, &err), NNV_OK);
    for (uint32_t op = 0; op < f.report->ops.count; op++)
        for (uint32_t type = 0; type < x.types; type++) {
            const enum nnv_has has = x.has[(size_t)op * x.types + type];
            if (has != NNV_HAS_NOT_ASKED)
                nnv_text_addf(&got, "%s %s%c;", f.report->ops.key[op], f.report->types.key[type],
                              has == NNV_HAS ? '+' : '-');
        }
    assert_string_equal(got.data, want);
    assert_int_equal(x.untold, untold);
    assert_int_equal(x.of, 4);
    assert_int_equal(x.operations, 2);
    nnv_implemented_free(&x);
    fx_remove(&f);
    nnv_text_free(&records);
    nnv_text_free(&got);
}

static void pairs(void **state) {
    (void)state;
    static const char want[] = "ADD float32+;ADD float16-;SVDF float32-;MUL float32+;";
    check("the driver does not support operation 0 (ADD)", want, false);
    check("not implemented: ANeuralNetworksCompilation_finish answered OP_FAILED", want, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
