/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a process of its own: answers, refusals, and every way in which the process can end without one. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/runner/ask.h"

enum how {
    ANSWERS,
    REFUSES,
    CRASHES,
    EXITS,
    HANGS,
    HANGS_IN_EXECUTE,
    ANSWERS_AND_CRASHES,
    WORKS_ON,
    WORKS_SILENTLY,
    LIES
};

struct number {
    _Atomic int steps;
    int value;
};

static void sleep_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static enum nnv_status answer(struct nnv_answering *in, struct nnv_err *err) {
    struct number *n = in->shared;
    const enum how how = *(const enum how *)in->context;
    n->value = 42;
    *in->phase = NNV_PHASE_EXECUTE;
    switch (how) {
    case ANSWERS:
        return in->arena && !in->client->device ? NNV_OK : nnv_fail(err, NNV_INTERNAL, "not as promised");
    case REFUSES:
        return nnv_fail(err, NNV_UNSUPPORTED, "not on Sundays");
    case CRASHES:
        raise(SIGSEGV);
        break;
    case EXITS:
        *in->phase = NNV_PHASE_NONE;
        exit(3);
    case HANGS:
        *in->phase = 4711;
        sleep_ms(60000);
        break;
    case HANGS_IN_EXECUTE:
        sleep_ms(60000);
        break;
    case ANSWERS_AND_CRASHES:
        atomic_store(in->answered, 1);
        raise(SIGSEGV);
        break;
    case WORKS_ON:
    case WORKS_SILENTLY:
        for (int i = 0; i < 20; i++) {
            sleep_ms(50);
            n->steps++;
            if (how == WORKS_ON) ++*in->progress;
        }
        break;
    case LIES:
        memset(err, 'x', sizeof *err);
        return (enum nnv_status)99;
    }
    return NNV_OK;
}

static void ask(enum how how, enum nnv_status status, const char *text) {
    const bool hangs = how == HANGS || how == HANGS_IN_EXECUTE;
    struct nnv_ask a = {.answer = answer,
                        .context = &how,
                        .bytes = sizeof(struct number),
                        .timeout_ns = hangs ? 200000000 : UINT64_C(60000000000)};
    struct nnv_err err = {0};
    assert_int_equal(nnv_ask(&a, &err), status);
    assert_int_equal(a.pid, 0);
    const bool complete = how == ANSWERS || how == REFUSES || how == ANSWERS_AND_CRASHES || how == LIES;
    assert_int_equal(a.complete, complete);
    if (status != NNV_OK) {
        assert_memory_equal(err.text, text, strlen(text));
    } else {
        assert_int_equal(((const struct number *)a.shared)->value, 42);
        if (!complete) assert_string_equal(a.how, text);
    }
    nnv_ask_free(&a);
    assert_null(a.shared);
}

static void test_ends(void **state) {
    (void)state;
    ask(ANSWERS, NNV_OK, NULL);
    ask(REFUSES, NNV_UNSUPPORTED, "not on Sundays");
    ask(CRASHES, NNV_OK, "died with SIGSEGV in execute");
    ask(EXITS, NNV_OK, "called exit(3)");
    ask(HANGS, NNV_OK, "did not end within 0.2 s");
    ask(HANGS_IN_EXECUTE, NNV_OK, "did not end within 0.2 s in execute");
    ask(ANSWERS_AND_CRASHES, NNV_OK, NULL);
    ask(LIES, NNV_INTERNAL, "xxx");
}

static int looked, steps_seen;
static void on_waiting(void *context, const void *shared) {
    (void)context;
    looked++;
    steps_seen = ((const struct number *)shared)->steps;
}

/* One that goes on has its time anew with each step; without that it is killed. */
static void test_waiting(void **state) {
    (void)state;
    struct nnv_err err = {0};
    for (int renewed = 0; renewed < 2; renewed++) {
        enum how how = renewed ? WORKS_ON : WORKS_SILENTLY;
        struct nnv_ask a = {.answer = answer,
                            .context = &how,
                            .bytes = sizeof(struct number),
                            .timeout_ns = 600000000,
                            .waiting = on_waiting};
        looked = 0;
        assert_int_equal(nnv_ask(&a, &err), NNV_OK);
        assert_int_equal(a.complete, renewed);
        assert_int_equal(a.end.timed_out, !renewed);
        assert_true(looked > 3 && steps_seen > 3);
        nnv_ask_free(&a);
    }
}

/* Each process counts one more, and the first ones die. */
static int known, deaths;
static enum nnv_status count_on(struct nnv_answering *in, struct nnv_err *err) {
    struct number *n = in->shared;
    (void)err;
    n->value = known + 1;
    if (n->value <= deaths) raise(SIGSEGV);
    return NNV_OK;
}
static void keep(void *context, const void *shared) {
    known = ((const struct number *)shared)->value;
    ++*(int *)context;
}

static void test_asking_on(void **state) {
    (void)state;
    struct nnv_err err = {0};
    int kept = 0;
    struct nnv_ask q = {.answer = count_on, .context = &kept, .bytes = sizeof(struct number)};
    known = 0, deaths = 2;
    assert_int_equal(nnv_ask_on(&q, 5, keep, &err), NNV_OK);
    assert_int_equal(known, 3);
    assert_int_equal(kept, 3);
    known = kept = 0, deaths = 9; /* they are given up */
    assert_int_equal(nnv_ask_on(&q, 5, keep, &err), NNV_OK);
    assert_int_equal(known, 5);
    assert_int_equal(kept, 5);
    q.driver = "/nonexistent.so"; /* no more is asked */
    kept = 0;
    assert_int_equal(nnv_ask_on(&q, 5, keep, &err), NNV_INVALID);
    assert_int_equal(kept, 0);
}

/* Nobody waits: the process is looked at, stopped, and freed at any time. */
static void test_start(void **state) {
    (void)state;
    enum how how = HANGS;
    struct nnv_err err = {0};
    struct nnv_ask a = {.answer = answer, .context = &how, .bytes = sizeof(struct number)};
    assert_int_equal(nnv_ask_start(&a, &err), NNV_OK);
    assert_false(nnv_ask_ended(&a));
    assert_int_equal(kill(a.pid, 0), 0);
    const pid_t pid = a.pid;
    nnv_ask_stop(&a, 0);
    assert_true(nnv_ask_ended(&a));
    assert_false(a.complete);
    nnv_ask_free(&a);
    assert_int_equal(kill(pid, 0), -1);
    nnv_ask_free(&a);
    struct nnv_ask huge = {.answer = answer, .bytes = SIZE_MAX - 8};
    assert_int_equal(nnv_ask(&huge, &err), NNV_NO_MEMORY);
    nnv_ask_free(&huge);
}

/* A driver has another limit for opening, and one that can't be opened is the answer. */
static void test_driver(void **state) {
    (void)state;
    enum how how = ANSWERS;
    struct nnv_err err = {0};
    struct nnv_ask a = {.answer = answer, .context = &how, .bytes = sizeof(struct number), .driver = "/nonexistent.so"};
    assert_int_equal(nnv_ask(&a, &err), NNV_INVALID);
    assert_true(a.complete);
    nnv_ask_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),  cmocka_unit_test(test_waiting), cmocka_unit_test(test_asking_on),
        cmocka_unit_test(test_start), cmocka_unit_test(test_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
