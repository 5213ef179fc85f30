/* SPDX-License-Identifier: Apache-2.0 */
/* Clauses: ids are unique, each case checks some, each clause has a case or a reason; the tally of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/runner/audit/clauses.h"
#include "harness/runner/run.h"

static struct nnv_arena *arena;
static struct nnv_clause_book book;

static int set_up(void **state) {
    (void)state;
    struct nnv_err err = {0};
    arena = nnv_arena_new();
    if (nnv_clause_book(arena, &book, &err)) fail_msg("%s", err.text);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    nnv_arena_free(arena);
    return 0;
}

static void test_ids_are_unique_and_texts_are_sentences(void **state) {
    (void)state;
    assert_true(book.all.count > 1000);
    assert_int_equal(book.all.ids.count, book.all.count);
    for (uint32_t i = 0; i < book.all.count; i++) {
        const struct nnv_clause *c = &book.all.item[i];
        assert_int_equal(nnv_map_find(&book.all.ids, c->id), i);
        assert_int_equal(strncmp(c->id, "NN-", 3), 0);
        assert_true(strlen(c->subject) > 1);
        assert_int_equal(c->text[strlen(c->text) - 1], '.');
    }
}

static const char *text_of(const char *id) {
    const uint32_t n = nnv_map_find(&book.all.ids, id);
    if (n == NNV_MAP_NONE) fail_msg("no clause %s", id);
    return book.all.item[n].text;
}

static void test_operations_have_the_clauses_of_their_records(void **state) {
    (void)state;
    assert_non_null(strstr(text_of("NN-CONV_2D-RANK"), "input filter: rank 4"));
    assert_non_null(strstr(text_of("NN-CONV_2D-QUANT"), "input bias: INT32: scale of input 0 times"));
    assert_non_null(strstr(text_of("NN-CONV_2D-ATTRIBUTE"), "1 SAME, 2 VALID"));
    assert_non_null(strstr(text_of("NN-ADD-COUNT"), "3 inputs and 1 output"));
    assert_non_null(strstr(text_of("NN-CONCATENATION-COUNT"), "input input: one or more."));
    assert_non_null(strstr(text_of("NN-SVDF-COUNT"), "7 inputs and 2 outputs; input bias: may be omitted."));
    assert_non_null(strstr(text_of("NN-ADD-TYPE-float32"), "since level 1"));
    assert_int_equal(nnv_map_find(&book.all.ids, "NN-ABS-QUANT"), NNV_MAP_NONE); /* it has no quantised type */
}

static bool names(const char *name, const char *op, const char *type, const char *clause) {
    const uint32_t *numbers, n = nnv_clauses_of_case(&book, name, op, type, &numbers);
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(book.all.item[numbers[i]].id, clause) == 0) return true;
    return false;
}

static void test_cases_name_their_clauses(void **state) {
    (void)state;
    assert_true(names("ops/CONV_2D/float32/cover/1", "CONV_2D", "float32", "NN-CONV_2D-VALUE"));
    assert_true(names("ops/CONV_2D/float32/cover/2", "CONV_2D", "float32", "NN-CONV_2D-TYPE-float32"));
    assert_true(names("ops/CONV_2D/float32/cover/2", "CONV_2D", "float32", "NN-CONV_2D-BY-stride"));
    assert_false(names("ops/CONV_2D/float32/same/2", "CONV_2D", "float32", "NN-CONV_2D-BY-stride"));
    assert_false(names("ops/CONV_2D/float32/cover/2", "CONV_2D", "float32", "NN-CONV_2D-TYPE-float16"));
    assert_false(names("ops/CONV_2D/float32/cover/2", "CONV_2D", "float32", "NN-CONV_2D-COUNT"));
    assert_true(names("ops/CONV_2D/float32/refused/1", "CONV_2D", "float32", "NN-CONV_2D-COUNT"));
    assert_false(names("ops/CONV_2D/float32/refused/1", "CONV_2D", "float32", "NN-CONV_2D-VALUE"));
    assert_true(names("ops/ADD/float32_relaxed/rank2/0", "ADD", "float32", "NN-PRECISION-1"));
    assert_true(names("validate/model/scale_nan/add_quant8", "ADD", "quant8_asymm", "NN-OPERAND-4"));
    assert_false(names("validate/model/scale_nan/add_quant8", "ADD", "quant8_asymm", "NN-OPERAND-5"));
}

/** Lists suites and counts the cases of each clause; cases must check at least one. */
static void count(const char *suites, uint32_t *cases) {
    struct nnv_run_config config = {.seed = 1, .tier = 1, .precision = -1};
    struct nnv_case_list list = {.arena = nnv_arena_new()};
    struct nnv_err err = {0};
    if (nnv_list_suites(&config, suites, &list, &err)) fail_msg("%s", err.text);
    for (size_t i = 0; i < list.count; i++) {
        const struct nnv_case *c = &list.item[i];
        const uint32_t *numbers, n = nnv_clauses_of_case(&book, c->name, c->op, c->type, &numbers);
        if (n == 0) fail_msg("%s checks no clause", c->name);
        assert_true(n < NNV_CASE_CLAUSES_MAX);
        for (uint32_t k = 0; k < n; k++) cases[numbers[k]]++;
    }
    free(list.item);
    nnv_arena_free(list.arena);
}

/* Of drivers, of libraries, of the compiler. */
static void test_each_case_has_clauses_and_each_clause_cases(void **state) {
    (void)state;
    uint32_t *cases = NNV_NEW(arena, uint32_t, book.all.count);
    count(NULL, cases);
    count("api,compiler", cases);
    for (uint32_t i = 0; i < book.all.count; i++)
        if ((cases[i] == 0) != (book.reason[i] != NULL))
            fail_msg("%s has %u cases and %s reason", book.all.item[i].id, cases[i], book.reason[i] ? "a" : "no");
}

static void test_a_run_is_tallied(void **state) {
    (void)state;
    struct nnv_report_case item[] = {
        {.name = "ops/ADD/float32/rank1/0", .op = 1, .type = 1, .verdict = NNVTS_PASS},
        {.name = "ops/ADD/float32/rank1/1", .op = 1, .type = 1, .verdict = NNVTS_FAIL},
        {.name = "exec/burst/bad_tokens/add_float32", .op = 1, .type = 1, .verdict = NNVTS_UNSUPPORTED},
        {.name = "device/type", .verdict = NNVTS_NOTRUN},
    };
    struct nnv_report r = {.item = item, .count = 4, .ops = {.arena = arena}, .types = {.arena = arena}};
    nnv_map_add(&r.ops, "");
    nnv_map_add(&r.ops, "ADD");
    nnv_map_add(&r.types, "");
    nnv_map_add(&r.types, "float32");
    struct nnv_clause_tally *t = NNV_NEW(arena, struct nnv_clause_tally, book.all.count);
    nnv_clauses_count(&book, &r, t);
    const struct nnv_clause_tally *value = &t[nnv_map_find(&book.all.ids, "NN-ADD-VALUE")];
    assert_int_equal(value->cases, 2);
    assert_int_equal(value->passed, 1);
    assert_int_equal(value->failed, 1);
    assert_string_equal(value->first, item[1].name);
    const struct nnv_clause_tally *burst = &t[nnv_map_find(&book.all.ids, "NN-BURST-4")];
    assert_true(burst->cases == 1 && burst->passed == 0 && burst->failed == 0);
    const struct nnv_clause_tally *type = &t[nnv_map_find(&book.all.ids, "NN-DEVICE-2")];
    assert_true(type->cases == 1 && type->passed == 0 && type->failed == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_are_unique_and_texts_are_sentences),
        cmocka_unit_test(test_operations_have_the_clauses_of_their_records),
        cmocka_unit_test(test_cases_name_their_clauses),
        cmocka_unit_test(test_each_case_has_clauses_and_each_clause_cases),
        cmocka_unit_test(test_a_run_is_tallied),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
