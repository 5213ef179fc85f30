/* SPDX-License-Identifier: Apache-2.0 */
/* What failed is tried again. */
#include "tests/kit/run/run.h"

#include "base/file.h"
#include "harness/runner/flakes_run.h"

/* A failure that depends on what ran before it is tried behind that in one worker, whatever the jobs of the run. */
static void test_tried_in_one_worker(void **state) {
    (void)state;
    struct setup s;
    struct nnv_err err = {0};
    char path[PATH_MAX + 16], *text = NULL;
    size_t size = 0;
    setup_init(&s, "tried");
    for (int i = 0; i < 2; i++) add_case(&s, "fake", WRONG_LATER, 0);
    run_well(&s);
    s.config.jobs = 2;
    const struct nnv_flakes_options o = {&s.config, s.list.item, s.list.count, UINT64_C(60000000000), 1};
    assert_int_equal(nnv_flakes(&o, &err), NNV_OK);
    snprintf(path, sizeof path, "%s/flakes.json", s.out);
    assert_int_equal(nnv_file_read(path, 1u << 20, &text, &size, &err), NNV_OK);
    if (strstr(text, "\"order-dependent\"") == NULL) fail_msg("%s", text);
    free(text);
    setup_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tried_in_one_worker),
    };
    return cmocka_run_group_tests(tests, begin_runs, end_runs);
}
