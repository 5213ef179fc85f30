/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_runtime_fences.c Executions behind fences and deadlines, and what waits for them. */
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/kit/asleep.h"
#include "tests/kit/runtime.h"

/* --------------------------------------------------------------------- fences */

static bool has_signalled(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void waits_for_fences(void **state) {
    (void)state;
    struct api_net n = api_sum_times(3), one = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n), *d = api_compile(&one);
    float sums[3] = {0}, out[3] = {0};
    int fence = eventfd(0, 0), fd = -1;
    const uint64_t signal = 1;
    ANeuralNetworksEvent *start = NULL, *first = NULL, *second = NULL;
    IS(BAD_DATA, ANeuralNetworksEvent_createFromSyncFenceFd(-1, &start));
    IS(BAD_DATA, ANeuralNetworksEvent_createFromSyncFenceFd(0, &start));
    IS(UNEXPECTED_NULL, ANeuralNetworksEvent_createFromSyncFenceFd(fence, NULL));
    OK(ANeuralNetworksEvent_createFromSyncFenceFd(fence, &start));
    ANeuralNetworksExecution *a = api_execution_on(c, A, B, sums, 3), *b = api_execution_on(d, sums, B, out, 3);
    const ANeuralNetworksEvent *none = NULL;
    IS(UNEXPECTED_NULL, ANeuralNetworksExecution_startComputeWithDependencies(a, NULL, 1, 0, &first));
    IS(UNEXPECTED_NULL, ANeuralNetworksExecution_startComputeWithDependencies(a, &none, 1, 0, &first));
    IS(UNEXPECTED_NULL, ANeuralNetworksExecution_startComputeWithDependencies(a, NULL, 0, 0, NULL));
    IS(BAD_DATA, ANeuralNetworksExecution_startComputeWithDependencies(a, NULL, 0, 5, &first));
    OK(ANeuralNetworksExecution_startComputeWithDependencies(a, (const ANeuralNetworksEvent *[]){start}, 1, 0, &first));
    OK(ANeuralNetworksEvent_getSyncFenceFd(first, &fd));
    await_others_asleep();
    assert_false(has_signalled(fd));
    assert_int_equal(seen(&adder, &adder.executed), 0);
    OK(ANeuralNetworksExecution_startComputeWithDependencies(b, (const ANeuralNetworksEvent *[]){first}, 1, 0,
                                                             &second));
    assert_int_equal(seen(&adder, &adder.fenced), 0); /* the runtime waits: no fence tells how its own work ends */
    assert_int_equal(write(fence, &signal, sizeof signal), sizeof signal);
    ANeuralNetworksEvent_free(first); /* waits; the second may still need it */
    assert_true(has_signalled(fd));
    OK(ANeuralNetworksEvent_wait(second));
    for (int i = 0; i < 3; i++) assert_true(out[i] == SUM_TIMES[i] + B[i]);
    ANeuralNetworksEvent_free(second);
    ANeuralNetworksEvent_free(start);
    close(fd);
    close(fence);
    ANeuralNetworksExecution_free(a);
    ANeuralNetworksExecution_free(b);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksCompilation_free(d);
    api_net_free(&n);
    api_net_free(&one);
}

static void drivers_wait_for_fences(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    float sums[3] = {0}, out[3] = {0};
    const uint64_t signal = 1;
    int fence = eventfd(0, 0);
    ANeuralNetworksEvent *start = NULL, *first = NULL, *second = NULL;
    OK(ANeuralNetworksEvent_createFromSyncFenceFd(fence, &start));
    assert_int_equal(write(fence, &signal, sizeof signal), sizeof signal);
    ANeuralNetworksExecution *a = api_execution_on(c, A, B, sums, 3), *b = api_execution_on(c, sums, B, out, 3);
    OK(ANeuralNetworksExecution_startComputeWithDependencies(a, (const ANeuralNetworksEvent *[]){start}, 1, 0, &first));
    OK(ANeuralNetworksExecution_startComputeWithDependencies(b, (const ANeuralNetworksEvent *[]){start, first}, 2, 0,
                                                             &second));
    OK(ANeuralNetworksEvent_wait(second));
    for (int i = 0; i < 3; i++) assert_true(out[i] == SUM[i] + B[i]);
    assert_int_equal(adder.fenced, 2);
    assert_int_equal(adder.executed, 0);
    ANeuralNetworksEvent_free(start);
    ANeuralNetworksEvent_free(first);
    ANeuralNetworksEvent_free(second);
    close(fence);
    ANeuralNetworksExecution_free(a);
    ANeuralNetworksExecution_free(b);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static int fenced(ANeuralNetworksCompilation *c, float *out, const ANeuralNetworksEvent *after,
                  ANeuralNetworksEvent **event, ANeuralNetworksExecution **e) {
    *e = api_execution_on(c, A, B, out, 3);
    return ANeuralNetworksExecution_startComputeWithDependencies(*e, &after, after != NULL, 0, event);
}

static void fenced_executions_fail(void **state) {
    (void)state;
    struct api_net n = api_sum(3), open = api_sum(0), two = api_sum_times(3);
    ANeuralNetworksCompilation *named = api_compile_for(&n, wrapped_device(&adder)), *any = api_compile(&n),
                               *o = api_compile(&open), *compound = api_compile(&two);
    ANeuralNetworksEvent *event = NULL, *next = NULL;
    ANeuralNetworksExecution *e, *f;
    float out[3] = {0};
    IS(BAD_DATA, fenced(o, out, NULL, &event, &e)); /* its output has no known size */
    OK(ANeuralNetworksExecution_compute(e));
    ANeuralNetworksExecution_free(e);
    adder.fail_later = NNVTS_STATUS_GENERAL_FAILURE;
    OK(fenced(named, out, NULL, &event, &e));
    adder.fail = NNVTS_STATUS_NONE;
    OK(fenced(compound, out, event, &next, &f)); /* depends on what fails */
    IS(OP_FAILED, ANeuralNetworksEvent_wait(next));
    IS(OP_FAILED, ANeuralNetworksEvent_wait(event));
    ANeuralNetworksEvent_free(event);
    ANeuralNetworksEvent_free(next);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksExecution_free(f);
    adder.fail_later = NNVTS_STATUS_NONE;
    adder.fail = NNVTS_STATUS_DEVICE_UNAVAILABLE;
    event = (void *)1;
    IS(UNAVAILABLE_DEVICE, fenced(named, out, NULL, &event, &e));
    assert_null(event);
    IS(BAD_STATE, ANeuralNetworksExecution_compute(e));
    ANeuralNetworksExecution_free(e);
    OK(fenced(any, out, NULL, &event, &e)); /* the CPU does it */
    OK(ANeuralNetworksEvent_wait(event));
    assert_memory_equal(out, SUM, sizeof out);
    ANeuralNetworksEvent_free(event);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(named);
    ANeuralNetworksCompilation_free(any);
    ANeuralNetworksCompilation_free(o);
    ANeuralNetworksCompilation_free(compound);
    api_net_free(&n);
    api_net_free(&open);
    api_net_free(&two);
}

static void a_deadline_ends_waiting(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile_for(&n, wrapped_device(&adder));
    int fence = eventfd(0, 0); /* never signalled */
    ANeuralNetworksEvent *start = NULL, *event = NULL;
    float out[3] = {0};
    adder.base.feature_level = 3; /* no fences of its own below level 4 */
    nnv_rt_device_override((struct nnvts_device *[]){&adder.base}, 1);
    ANeuralNetworksCompilation *old = api_compile_for(&n, wrapped_device(&adder));
    OK(ANeuralNetworksEvent_createFromSyncFenceFd(fence, &start));
    ANeuralNetworksExecution *e = api_execution_on(old, A, B, out, 3);
    OK(ANeuralNetworksExecution_setTimeout(e, 20000000));
    OK(ANeuralNetworksExecution_startComputeWithDependencies(e, (const ANeuralNetworksEvent *[]){start}, 1, 0, &event));
    IS(MISSED_DEADLINE_TRANSIENT, ANeuralNetworksEvent_wait(event));
    assert_int_equal(adder.executed + adder.fenced, 0);
    ANeuralNetworksEvent_free(event);
    ANeuralNetworksEvent_free(start);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(old);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
    close(fence);
}

static void *wait_for(void *event) {
    OK(ANeuralNetworksEvent_wait(event));
    return NULL;
}

/** While another thread waits, without a deadline, for what the execution depends on: a fence, or a driver. */
static void deadlines_are_kept_beside_another_waiter(void **state) {
    (void)state;
    struct api_net n = api_sum(3), two = api_sum_times(3);
    ANeuralNetworksCompilation *one = api_compile_for(&n, wrapped_device(&adder)),
                               *cpu = api_compile_for(&two, nnv_rt_device_at(nnv_rt_device_count() - 1));
    const uint64_t signal = 1;
    for (int in_driver = 0; in_driver < 2; in_driver++) {
        ANeuralNetworksEvent *first = NULL, *late = NULL;
        ANeuralNetworksExecution *a = NULL, *b = api_execution_on(cpu, A, B, (float[3]){0}, 3);
        float sums[3] = {0};
        pthread_t waiter;
        const int fence = adder.late_fence = eventfd(0, 0);
        if (in_driver)
            OK(fenced(one, sums, NULL, &first, &a));
        else
            OK(ANeuralNetworksEvent_createFromSyncFenceFd(fence, &first));
        assert_int_equal(pthread_create(&waiter, NULL, wait_for, first), 0);
        await_others_asleep(); /* it polls */
        OK(ANeuralNetworksExecution_setTimeout(b, 50000000));
        alarm(20);
        OK(ANeuralNetworksExecution_startComputeWithDependencies(b, (const ANeuralNetworksEvent *[]){first}, 1, 0,
                                                                 &late));
        IS(MISSED_DEADLINE_TRANSIENT, ANeuralNetworksEvent_wait(late));
        alarm(0);
        assert_int_equal(write(fence, &signal, sizeof signal), sizeof signal);
        pthread_join(waiter, NULL);
        if (in_driver) assert_memory_equal(sums, SUM, sizeof SUM);
        ANeuralNetworksEvent_free(late);
        ANeuralNetworksEvent_free(first);
        ANeuralNetworksExecution_free(a);
        ANeuralNetworksExecution_free(b);
        close(fence);
    }
    assert_int_equal(adder.fenced, 1);
    ANeuralNetworksCompilation_free(one);
    ANeuralNetworksCompilation_free(cpu);
    api_net_free(&n);
    api_net_free(&two);
}

/** Nothing runs on the caller's thread instead: what it depends on may be for the caller to signal. */
static void without_threads_nothing_starts(void **state) {
    (void)state;
    struct api_net n = api_sum_times(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    int fence = eventfd(0, 0); /* never signalled */
    ANeuralNetworksEvent *start = NULL, *event = (void *)1;
    pthread_attr_t usual, huge;
    float out[3] = {0};
    OK(ANeuralNetworksEvent_createFromSyncFenceFd(fence, &start));
    assert_int_equal(pthread_getattr_default_np(&usual), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, SIZE_MAX << 20), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0); /* no address space has room for such a stack */
    alarm(20);
    for (int behind_fence = 0; behind_fence < 2; behind_fence++) {
        ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
        const ANeuralNetworksEvent *after = start;
        IS(OUT_OF_MEMORY, behind_fence ? ANeuralNetworksExecution_startComputeWithDependencies(e, &after, 1, 0, &event)
                                       : ANeuralNetworksExecution_startCompute(e, &event));
        assert_null(event);
        assert_int_equal(adder.executed, 0);
        ANeuralNetworksExecution_free(e); /* it is not computing any more */
    }
    alarm(0);
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&usual);
    ANeuralNetworksEvent_free(start);
    close(fence);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

int main(void) {
    setenv("NNVTS_LOG", "0", 1);
#define FAKES(f) cmocka_unit_test_setup_teardown(f, open_fakes, close_fakes)
    const struct CMUnitTest tests[] = {
        FAKES(without_threads_nothing_starts), /* first: later a thread may be idle, and would do it */
        FAKES(waits_for_fences),
        FAKES(drivers_wait_for_fences),
        FAKES(fenced_executions_fail),
        FAKES(a_deadline_ends_waiting),
        FAKES(deadlines_are_kept_beside_another_waiter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
