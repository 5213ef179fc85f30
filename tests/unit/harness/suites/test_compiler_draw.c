/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random Relay programs, divided, against what the rules say. NNVTS_PROGRAMS says how many; the figures are printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/runner/planted.h"
#include "harness/suites/compiler/divide.h"

static void test_programs(void **state) {
    (void)state;
    const char *asked = getenv("NNVTS_PROGRAMS");
    size_t each = (asked ? (size_t)strtoul(asked, NULL, 10) : 400) / nnv_draw_row_count;
    struct nnv_arena *arena = nnv_arena_new();
    assert_non_null(arena);
    struct nnv_draw_figures all = {0};
    for (size_t r = 0; r < nnv_draw_row_count; r++) {
        struct nnv_draw_figures f = {0};
        for (size_t i = 0; i < each; i++) {
            struct nnv_text why = {0};
            nnv_arena_reset(arena);
            if (nnv_draw_judge(&nnv_draw_rows[r], 1, i, NULL, arena, &f, &why)) continue;
            puts(why.data); /* a program is too long for fail_msg */
            fail_msg("%s %zu: see above", nnv_draw_rows[r].name, i);
        }
        printf("%-18s %6zu programs %8zu regions %7zu composites", nnv_draw_rows[r].name, f.programs, f.regions,
               f.composites);
        if (f.tried) printf("; fewest regions in all but %zu of %zu", f.not_fewest, f.tried);
        printf("\n");
        all.programs += f.programs;
        all.tried += f.tried;
        all.not_fewest += f.not_fewest;
        assert_true(f.programs == each && (f.regions > 0 || each < 4));
    }
    printf("%zu programs; not fewest: %zu of %zu\n", all.programs, all.not_fewest, all.tried);
    /* canonical merging is not always minimal, but nearly */
    assert_true(all.not_fewest * 20 <= all.tried);
    nnv_arena_free(arena);
}

/* The list of the driver "faulty", which the audit reads, and that of the bugs are one list. */
static void test_every_bug_has_a_row(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_planted planted = {0};
    struct nnv_err err = {0};
    char path[4096] = "";
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 32);
    size_t n, at = 0;
    const struct nnv_compiler_bug *bugs = nnv_compiler_bugs(&n);
    assert_true(len > 0);
    strcpy(strrchr(path, '/'), "/../drivers/faulty.so"); /* make builds it */
    if (nnv_planted_read(path, arena, &planted, &err) != NNV_OK) fail_msg("%s", err.text);
    for (size_t i = 0; i < planted.count; i++) {
        if (strcmp(planted.item[i].suite, "compiler") != 0) continue;
        assert_true(at < n);
        assert_string_equal(planted.item[i].name, bugs[at].name);
        assert_ptr_equal(nnv_compiler_bug(bugs[at].name), &bugs[at]);
        at++;
    }
    assert_int_equal(at, n);
    assert_true(n >= 24);
    assert_null(nnv_compiler_bug(NULL));
    assert_null(nnv_compiler_bug("compiler-"));
    assert_ptr_equal(nnv_compiler_bug("compiler-cyclic-merge,over=cpu"), nnv_compiler_bug("compiler-cyclic-merge"));
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs), cmocka_unit_test(test_every_bug_has_a_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
