/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps are made while the run goes on, and replayed. */
#include <sys/stat.h>

#include "tests/kit/run/run.h"

#include "harness/runner/ask.h"
#include "harness/runner/dumps/dump.h"
#include "harness/runner/dumps/replay.h"

static enum nnv_status count_dumped(void *context, const struct nnv_ended *e, const struct nnv_dumped *dumped,
                                    struct nnv_err *err) {
    (void)e, (void)err;
    *(int *)context += dumped->dump != NULL && dumped->again == NULL;
    return NNV_OK;
}

static enum nnv_status wait_idly(void *context, struct nnv_err *err) {
    (void)context, (void)err;
    return NNV_OK;
}

/* Once the user has interrupted there are two seconds for what is left to dump; nothing is replayed. */
static void test_dumps_behind_an_interrupt(void **state) {
    (void)state;
    enum { CASES = 3 };
    struct setup s;
    struct nnv_err err = {0};
    const struct nnv_driver_info driver = {.name = "fake", .version = "1", .type = "CPU", .level = 7};
    int dumps = 0;
    setup_init(&s, "interrupted");
    assert_int_equal(mkdir(s.out, 0700), 0);
    for (int i = 0; i < CASES; i++) add_case(&s, "made", WRONG, 0);
    struct nnv_dumper *d = nnv_dumper_new(&(struct nnv_dumper_options){.config = &s.config,
                                                                       .cases = s.list.item,
                                                                       .driver = &driver,
                                                                       .folder = s.out,
                                                                       .context = &dumps,
                                                                       .dumped = count_dumped,
                                                                       .idle = wait_idly});
    assert_non_null(d);
    for (uint32_t i = 0; i < CASES; i++) {
        const struct nnv_ended e = {.index = i, .verdict = NNVTS_FAIL, .phase = NNV_PHASE_CHECK};
        assert_int_equal(nnv_dumper_take(d, &e, &err), NNV_OK);
    }
    assert_int_equal(nnv_dumper_finish(d, true, &err), NNV_OK);
    assert_false(nnv_dumper_busy(d));
    assert_true(dumps > 0); /* all, unless the machine is very slow */
    nnv_dumper_free(d);
    setup_free(&s);
}

/* What the process of an attempt tells is untrusted: a number that is no verdict is none. */
static enum nnv_status tell_number(struct nnv_answering *in, struct nnv_err *err) {
    (void)err;
    *(int *)in->shared = *(const int *)in->context;
    return NNV_OK;
}

static void test_verdict_of_a_replay(void **state) {
    (void)state;
    static const struct {
        int told;
        enum nnvts_verdict verdict;
    } rows[] = {{NNVTS_PASS, NNVTS_PASS},
                {NNVTS_FAIL, NNVTS_FAIL},
                {NNVTS_VERDICT_COUNT - 1, (enum nnvts_verdict)(NNVTS_VERDICT_COUNT - 1)},
                {NNVTS_VERDICT_COUNT, NNVTS_NOTRUN},
                {-1, NNVTS_NOTRUN}};
    struct nnv_err err = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int told = rows[i].told;
        struct nnv_replay r = {.ask = {.answer = tell_number, .context = &told, .bytes = sizeof told}};
        assert_int_equal(nnv_ask(&r.ask, &err), NNV_OK);
        assert_int_equal(nnv_replay_verdict(&r), rows[i].verdict);
        nnv_replay_stop(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dumps_behind_an_interrupt),
        cmocka_unit_test(test_verdict_of_a_replay),
    };
    return cmocka_run_group_tests(tests, begin_runs, end_runs);
}
