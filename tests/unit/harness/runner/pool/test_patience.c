/* SPDX-License-Identifier: Apache-2.0 */
/* How much of what goes wrong a run puts up with; and the command that brings a device back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/client/driver.h"
#include "harness/runner/pool/patience.h"
#include "harness/runner/pool/hook.h"

static enum nnv_patience_end take(struct nnv_patience *p, const char *op, enum nnvts_verdict v, enum nnv_phase phase) {
    const struct nnv_case c = {.op = op};
    const struct nnv_ended e = {.verdict = v, .phase = phase};
    return nnv_patience_take(p, &c, &e);
}

static void test_hangs(void **state) {
    (void)state;
    struct nnv_patience p = {0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(take(&p, "ADD", NNVTS_TIMEOUT, NNV_PHASE_EXECUTE), NNV_PATIENCE_LEFT);
        assert_int_equal(take(&p, "ADD", NNVTS_TIMEOUT, NNV_PHASE_PREPARE), NNV_PATIENCE_LEFT);
        assert_int_equal(take(&p, "MUL", NNVTS_TIMEOUT, NNV_PHASE_EXECUTE), NNV_PATIENCE_LEFT);
        assert_int_equal(take(&p, "ADD", NNVTS_CRASH, NNV_PHASE_EXECUTE), NNV_PATIENCE_LEFT);
    }
    assert_int_equal(take(&p, "ADD", NNVTS_PASS, NNV_PHASE_EXECUTE), NNV_PATIENCE_LEFT);
    assert_int_equal(take(&p, "ADD", NNVTS_TIMEOUT, NNV_PHASE_EXECUTE), NNV_PATIENCE_OPERATION);
    assert_string_equal(p.reason, "3 cases of ADD in execute did not end");
    for (int i = 0; i < 10; i++) /* of no operation */
        assert_int_equal(take(&p, "", NNVTS_TIMEOUT, NNV_PHASE_EXECUTE), NNV_PATIENCE_LEFT);
    for (int i = 0; i < 300; i++) { /* many operations */
        char op[16];
        snprintf(op, sizeof op, "OP_%d", i);
        assert_int_equal(take(&p, op, NNVTS_TIMEOUT, NNV_PHASE_EXECUTE), NNV_PATIENCE_LEFT);
    }
    assert_int_equal(take(&p, "MUL", NNVTS_TIMEOUT, NNV_PHASE_EXECUTE), NNV_PATIENCE_OPERATION);
    nnv_patience_free(&p);
}

static void test_limits(void **state) {
    (void)state;
    struct nnv_patience p = {.max_failures = 4, .max_timeouts = 2};
    assert_int_equal(take(&p, "", NNVTS_TIMEOUT, NNV_PHASE_EXECUTE), NNV_PATIENCE_LEFT);
    assert_int_equal(take(&p, "", NNVTS_SKIP, NNV_PHASE_NONE), NNV_PATIENCE_LEFT);
    assert_int_equal(take(&p, "", NNVTS_FAIL, NNV_PHASE_NONE), NNV_PATIENCE_LEFT);
    assert_int_equal(take(&p, "", NNVTS_NOTRUN, NNV_PHASE_NONE), NNV_PATIENCE_LEFT);
    assert_int_equal(take(&p, "", NNVTS_TIMEOUT, NNV_PHASE_EXECUTE), NNV_PATIENCE_RUN);
    assert_string_equal(p.reason, "2 cases did not end: as many as --max-timeouts allows");
    assert_int_equal(take(&p, "", NNVTS_CRASH, NNV_PHASE_EXECUTE), NNV_PATIENCE_RUN);
    assert_string_equal(p.reason, "4 cases went wrong: as many as --max-failures allows");
    nnv_patience_free(&p);
}

static void test_reset(void **state) {
    (void)state;
    struct nnv_err err = {0};
    assert_int_equal(
        nnv_hook("--reset-hook", "test \"$NNVTS_CASE $NNVTS_WHAT\" = 'ops/a CRASH'", "CRASH", "ops/a", &err), NNV_OK);
    assert_int_equal(nnv_hook("--reset-hook", "exit 3", "OPEN", "", &err), NNV_IO);
    assert_string_equal(err.text, "--reset-hook: 'exit 3' called exit(3)");
    assert_int_equal(nnv_hook("--reset-hook", "kill -SEGV $$", "OPEN", "", &err), NNV_IO);
    assert_non_null(strstr(err.text, "died with SIGSEGV"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hangs),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
