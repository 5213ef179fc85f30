/* SPDX-License-Identifier: Apache-2.0 */
/** Small programs and what each pass of the partitioner must make of them: a test a program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/kit/compiler/divide.h"

static void test_program(void **state) {
    const struct structure_case *c = *state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_text why = {0};
    assert_non_null(arena);
    if (!structure_case_holds(c, NULL, arena, &why)) fail_msg("%s: %s", c->name, why.data ? why.data : "");
    nnv_arena_free(arena);
}

int main(void) {
    struct CMUnitTest *tests = calloc(structure_case_count, sizeof *tests);
    for (size_t i = 0; tests && i < structure_case_count; i++)
        tests[i] = (struct CMUnitTest){structure_cases[i].name, test_program, NULL, NULL, (void *)&structure_cases[i]};
    int failed = tests ? _cmocka_run_group_tests("programs", tests, structure_case_count, NULL, NULL) : 1;
    free(tests);
    return failed;
}
