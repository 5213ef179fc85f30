/* SPDX-License-Identifier: Apache-2.0 */
/** Bursts: one of the driver's for each step, exclusive use, and memories that drivers may keep. */
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kit/runtime.h"

static void uses_the_drivers_bursts(void **state) {
    (void)state;
    struct api_net n = api_sum_times(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksBurst *burst = NULL;
    int64_t between = 0;
    OK(ANeuralNetworksBurst_create(c, &burst));
    assert_int_equal(adder.bursts, 1);
    assert_int_equal(multiplier.bursts, 1);
    for (int i = 0; i < 3; i++) {
        float out[3] = {0};
        ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
        OK(ANeuralNetworksExecution_burstCompute(e, burst));
        assert_memory_equal(out, SUM_TIMES, sizeof out);
        IS(BAD_STATE, ANeuralNetworksExecution_burstCompute(e, burst)); /* as compute: once */
        ANeuralNetworksExecution_free(e);
        const int64_t token = adder.tokens[adder.out[0].location.pool];
        assert_int_equal(adder.tokens[adder.in[0].location.pool], -1); /* a pointer is not kept */
        assert_true(token > 0);
        if (i) assert_int_equal(token, between); /* the temporaries of all executions are the burst's */
        between = token;
        assert_int_equal(multiplier.tokens[multiplier.in[0].location.pool], token);
    }
    assert_int_equal(adder.in_burst, 3);
    assert_int_equal(adder.executed, 0);
    ANeuralNetworksBurst_free(burst);
    assert_int_equal(adder.released_bursts + multiplier.released_bursts, 2);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static ANeuralNetworksMemory *file_memory(size_t bytes) {
    ANeuralNetworksMemory *m = NULL;
    const int fd = memfd_create("test", 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    OK(ANeuralNetworksMemory_createFromFd(bytes, PROT_READ | PROT_WRITE, fd, 0, &m));
    close(fd);
    return m;
}

static int64_t run_on(ANeuralNetworksCompilation *c, ANeuralNetworksBurst *burst, ANeuralNetworksMemory *m) {
    float out[3] = {0};
    ANeuralNetworksExecution *e = api_execution_of(c);
    memcpy(m->memory.data, A, sizeof A);
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 0, sizeof A));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, B, sizeof B));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, sizeof out));
    OK(ANeuralNetworksExecution_burstCompute(e, burst));
    assert_memory_equal(out, SUM, sizeof out);
    ANeuralNetworksExecution_free(e);
    return adder.tokens[adder.in[0].location.pool];
}

static void memories_have_names(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksBurst *burst = NULL;
    ANeuralNetworksMemory *m = file_memory(64), *other = file_memory(64);
    OK(ANeuralNetworksBurst_create(c, &burst));
    const int64_t first = run_on(c, burst, m);
    assert_true(first > 0);
    assert_int_equal(run_on(c, burst, m), first);
    assert_int_not_equal(run_on(c, burst, other), first);
    ANeuralNetworksMemory_free(m);
    assert_int_equal(adder.forgotten, first);
    m = file_memory(64); /* perhaps at the same address */
    assert_int_not_equal(run_on(c, burst, m), first);
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksMemory_free(m); /* after the burst is as well */
    ANeuralNetworksMemory_free(other);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void misuse_is_refused(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n), *other = api_compile(&n), *unfinished = NULL;
    ANeuralNetworksBurst *burst = NULL;
    float out[3];
    OK(ANeuralNetworksCompilation_create(n.model, &unfinished));
    IS(UNEXPECTED_NULL, ANeuralNetworksBurst_create(NULL, &burst));
    IS(UNEXPECTED_NULL, ANeuralNetworksBurst_create(c, NULL));
    IS(BAD_STATE, ANeuralNetworksBurst_create(unfinished, &burst));
    assert_null(burst);
    OK(ANeuralNetworksBurst_create(other, &burst));
    ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
    IS(UNEXPECTED_NULL, ANeuralNetworksExecution_burstCompute(e, NULL));
    IS(UNEXPECTED_NULL, ANeuralNetworksExecution_burstCompute(NULL, burst));
    IS(BAD_DATA, ANeuralNetworksExecution_burstCompute(e, burst));
    OK(ANeuralNetworksExecution_compute(e)); /* nothing has happened to it */
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksBurst_free(NULL);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksCompilation_free(other);
    ANeuralNetworksCompilation_free(unfinished);
    api_net_free(&n);
}

struct slow {
    ANeuralNetworksExecution *e;
    ANeuralNetworksBurst *burst;
    int result;
};

static void *compute_slowly(void *argument) {
    struct slow *s = argument;
    s->result = ANeuralNetworksExecution_burstCompute(s->e, s->burst);
    return NULL;
}

static void one_at_a_time(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksBurst *burst = NULL;
    float slow_out[3], out[3];
    pthread_t thread;
    ANeuralNetworksMemory *m = file_memory(64);
    OK(ANeuralNetworksBurst_create(c, &burst));
    const int64_t token = run_on(c, burst, m);
    adder.delay_ms = 300;
    struct slow slow = {api_execution_on(c, A, B, slow_out, 3), burst, -1};
    assert_int_equal(pthread_create(&thread, NULL, compute_slowly, &slow), 0);
    while (seen(&adder, &adder.in_burst) < 2) usleep(1000);
    ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
    IS(BAD_STATE, ANeuralNetworksExecution_burstCompute(e, burst));
    ANeuralNetworksMemory_free(m); /* told to the driver when the burst is free again */
    pthread_join(thread, NULL);
    OK(slow.result);
    assert_int_equal(adder.forgotten, token);
    adder.delay_ms = 0;
    OK(ANeuralNetworksExecution_burstCompute(e, burst)); /* it was not started before */
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksExecution_free(slow.e);
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void falls_back(void **state) {
    (void)state;
    struct api_net n = api_sum_times(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksBurst *burst = NULL;
    float out[3] = {0};
    OK(ANeuralNetworksBurst_create(c, &burst));
    adder.fail = NNVTS_STATUS_GENERAL_FAILURE;
    ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
    OK(ANeuralNetworksExecution_burstCompute(e, burst));
    assert_memory_equal(out, SUM_TIMES, sizeof out);
    assert_int_equal(adder.in_burst, 1);
    assert_int_equal(multiplier.in_burst, 1);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void works_without_drivers_bursts(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    adder.plain = true;
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksBurst *burst = NULL;
    float out[3] = {0};
    OK(ANeuralNetworksBurst_create(c, &burst));
    ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
    OK(ANeuralNetworksExecution_setReusable(e, true));
    for (int i = 0; i < 2; i++) OK(ANeuralNetworksExecution_burstCompute(e, burst));
    assert_memory_equal(out, SUM, sizeof out);
    assert_int_equal(adder.executed, 2);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

int main(void) {
    setenv("NNVTS_LOG", "0", 1);
#define FAKES(f) cmocka_unit_test_setup_teardown(f, open_fakes, close_fakes)
    const struct CMUnitTest tests[] = {
        FAKES(uses_the_drivers_bursts), FAKES(memories_have_names), FAKES(misuse_is_refused),
        FAKES(one_at_a_time),           FAKES(falls_back),          FAKES(works_without_drivers_bursts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
