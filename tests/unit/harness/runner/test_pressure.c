/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_pressure.c Load beside a run begins, and ends with it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/process.h"
#include "harness/runner/pressure.h"

static void load_begins_and_ends(void **state) {
    struct nnv_pressure p = {.count = 0};
    struct nnv_err err = {0};
    struct nnv_end end;
    (void)state;
    assert_int_equal(nnv_pressure_begin(&p, "cpu,memory", &err), NNV_OK);
    assert_true(p.count >= 2);
    const pid_t first = p.process[0], worker = nnv_process_fork();
    if (worker == 0) _exit(0);
    nnv_process_wait(worker, UINT64_C(20000000000), &end);
    assert_int_equal(end.left, 0); /* nothing of the load is a driver's */
    assert_int_equal(kill(first, 0), 0);
    nnv_pressure_end(&p);
    assert_int_equal(p.count, 0);
    assert_int_equal(kill(first, 0), -1);
}

static void unknown_kinds_are_told(void **state) {
    struct nnv_pressure p = {.count = 0};
    struct nnv_err err = {0};
    (void)state;
    assert_int_equal(nnv_pressure_begin(&p, NULL, &err), NNV_OK);
    assert_int_equal(nnv_pressure_begin(&p, "cpu,disk", &err), NNV_INVALID);
    assert_int_equal(p.count, 0);
    assert_string_equal(err.text, "--pressure 'disk': expected cpu, memory, or both");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_begins_and_ends),
        cmocka_unit_test(unknown_kinds_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
