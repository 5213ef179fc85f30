/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of the runs that are compared. */
#include "tests/kit/run/run.h"

#include "harness/runner/determinism.h"

/* A pass with another number of threads is made only where the driver has an option for it that the user left open. */
static void test_passes(void **state) {
    (void)state;
    static const struct {
        const char *threads, *options;
        size_t passes;
    } rows[] = {{NULL, NULL, 2}, {"threads=", "threads=2", 2}, {"threads=", NULL, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct setup s;
        struct nnv_passes passes;
        struct nnv_err err = {0};
        bool interrupted = true;
        setup_init(&s, "passes");
        add_case(&s, "fake", FINE, 0);
        s.config.driver_options = rows[i].options;
        assert_int_equal(
            nnv_passes_run(&s.config, s.list.item, s.list.count, NULL, rows[i].threads, &passes, &interrupted, &err),
            NNV_OK);
        assert_false(interrupted);
        assert_int_equal(passes.count, rows[i].passes);
        nnv_passes_free(&passes);
        setup_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),
    };
    return cmocka_run_group_tests(tests, begin_runs, end_runs);
}
