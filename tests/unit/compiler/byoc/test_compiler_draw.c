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

#include <cmocka.h>

#include "tests/kit/compiler/divide.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
