/* SPDX-License-Identifier: Apache-2.0 */
/** What is known of where cases fail, put into words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/debug/separate/telling.h"

static const struct nnv_term stride = {
    .subject = "stride", .word = "2x2", .kind = NNV_ATTRIBUTE_WORD, .relation = NNV_EQUAL};
static const struct nnv_term channels = {.subject = "channels", .relation = NNV_ABOVE, .value = 128, .beyond = 127};
static const struct nnv_term wider = {.subject = "channels", .relation = NNV_ABOVE, .value = 228, .beyond = 127};
static const struct nnv_term narrow = {.subject = "channels", .relation = NNV_BELOW, .value = 0.5, .beyond = 0.75};
static const struct nnv_term square = {.subject = "height = width", .kind = NNV_ATTRIBUTE_FLAG, .value = 0};

static void test_terms(void **state) {
    static const struct {
        const struct nnv_term *term;
        const char *words;
    } table[] = {{&stride, "stride is 2x2"},
                 {&channels, "channels > 127"},
                 {&wider, "channels >= 228 (not at 127)"},
                 {&narrow, "channels <= 0.5 (not at 0.75)"},
                 {&square, "not: height = width"}};
    struct nnv_text t = {0};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        nnv_text_clear(&t);
        nnv_term_tell(table[i].term, &t);
        assert_string_equal(t.data, table[i].words);
    }
    nnv_text_free(&t);
}

static void test_where(void **state) {
    static const char *const steps[] = {"exec/again", "exec/burst", "memory/device"};
    const struct nnv_case_condition elements = {
        .term = {narrow}, .terms = 1, .what = NNV_ELEMENTS, .failures = 9, .failed = 8, .passed = 1};
    const struct nnv_case_condition cases = {.term = {stride, channels}, .terms = 2, .failures = 7, .failed = 7};
    const struct {
        struct nnv_where where;
        const char *words;
    } table[] = {
        {{.kind = NNV_WHERE_ALL, .whole = 12}, "in all 12 cases"},
        {{.kind = NNV_WHERE_NEARLY, .part = 9, .whole = 10}, "in nearly all cases (9 of 10)"},
        {{.kind = NNV_WHERE_STEPS, .steps = steps, .count = 3}, "only in exec/again, exec/burst and memory/device"},
        {{.kind = NNV_WHERE_ALONE, .part = 3, .whole = 4}, "not when its cases run again, each alone (3 of 4 passed)"},
        {{.elements = elements},
         "in elements where channels <= 0.5 (not at 0.75) (8 of 9 wrong ones) (8 of 9 such "
         "elements are wrong)"},
        {{.kind = NNV_WHERE_CONDITION, .cases = cases, .elements = elements},
         "only where stride is 2x2 and channels > 127; in elements where channels <= 0.5 (not at 0.75) (8 of 9 wrong "
         "ones) (8 of 9 such elements are wrong)"},
    };
    struct nnv_text t = {0};
    (void)state;
    assert_false(nnv_where_is(&(struct nnv_where){0}));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(nnv_where_is(&table[i].where));
        nnv_text_clear(&t);
        nnv_where_tell(&table[i].where, &t);
        assert_string_equal(t.data, table[i].words);
    }
    nnv_text_free(&t);
}

/** The members of an object that say so; the parts say nothing of other numbers. */
static void check_written(const struct nnv_where *w, const char *want) {
    struct nnv_text t = {0};
    struct nnv_json_out j = {.text = &t};
    nnv_json_open(&j, NULL, '{');
    nnv_where_write(w, &j);
    nnv_json_close(&j, '}');
    assert_string_equal(t.data, want);
    nnv_text_free(&t);
}

static void test_written(void **state) {
    static const char *const steps[] = {"bursts"};
    const struct nnv_case_condition
        most = {.term = {stride, wider}, .terms = 2, .failures = 9, .failed = 8},
        high = {.term = {{.subject = "input", .relation = NNV_ABOVE, .value = 8192, .beyond = 8191}},
                .terms = 1,
                .what = NNV_ELEMENTS};
    (void)state;
    check_written(&(struct nnv_where){0}, "{}");
    check_written(&(struct nnv_where){.kind = NNV_WHERE_CONDITION, .cases = most},
                  "{\"where\":\"mostly where stride is 2x2 and channels >= 228 (not at 127) (8 of 9 failures)\","
                  "\"terms\":[\"stride is 2x2\",\"channels >= 228\"]}");
    check_written(&(struct nnv_where){.kind = NNV_WHERE_ALL, .whole = 3, .elements = high},
                  "{\"where\":\"in all 3 cases; in elements where input > 8191\",\"often\":true,"
                  "\"elements\":\"in elements where input > 8191\",\"peculiar\":true}");
    check_written(&(struct nnv_where){.kind = NNV_WHERE_STEPS, .steps = steps, .count = 1},
                  "{\"where\":\"only in bursts\",\"situation\":\"only in bursts\"}");
    check_written(&(struct nnv_where){.kind = NNV_WHERE_ALONE, .part = 2, .whole = 3},
                  "{\"where\":\"not when its cases run again, each alone (2 of 3 passed)\","
                  "\"situation\":\"not when its cases run again, each alone\"}");
}

/** The quantity and what stands before it count, its bound does not. */
static void test_bounds_of_one_quantity(void **state) {
    const struct nnv_case_condition a = {.term = {stride, channels}, .terms = 2},
                                    b = {.term = {stride, wider}, .terms = 2}, c = {.term = {channels}, .terms = 1},
                                    d = {.term = {stride}, .terms = 1}, e = {.term = {square, channels}, .terms = 2};
    (void)state;
    assert_true(nnv_conditions_bound_the_same(&a, &b));
    assert_false(nnv_conditions_bound_the_same(&a, &c));
    assert_false(nnv_conditions_bound_the_same(&a, &e));
    assert_false(nnv_conditions_bound_the_same(&d, &d));
}

static void test_peculiar_bounds(void **state) {
    static const struct {
        struct nnv_term term;
        bool is;
    } table[] = {{{.subject = "a", .relation = NNV_ABOVE, .value = 8192, .beyond = 8191}, true},
                 {{.subject = "a", .relation = NNV_BELOW, .value = -32769, .beyond = -32768}, true},
                 {{.subject = "a", .relation = NNV_ABOVE, .value = 8192, .beyond = 8000}, false}, /* or less */
                 {{.subject = "a", .relation = NNV_ABOVE, .value = 256, .beyond = 255}, false},
                 {{.subject = "a", .relation = NNV_ABOVE, .value = 900.5, .beyond = 899.5}, false},
                 {{.subject = "a", .relation = NNV_EQUAL, .value = 8192}, false}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct nnv_case_condition c = {.term = {square, table[i].term}, .terms = 2, .what = NNV_ELEMENTS};
        assert_int_equal(nnv_condition_is_peculiar(&c), table[i].is);
    }
    assert_false(nnv_condition_is_peculiar(&(struct nnv_case_condition){0}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms),           cmocka_unit_test(test_where),
        cmocka_unit_test(test_written),         cmocka_unit_test(test_bounds_of_one_quantity),
        cmocka_unit_test(test_peculiar_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
