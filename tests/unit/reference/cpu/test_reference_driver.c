/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_reference_driver.c How the driver "reference" executes behind fences, and up to which rank. */
#include <unistd.h>

#include "tests/kit/asleep.h"
#include "tests/kit/driver.h"

#include <pthread.h>
#include <sys/eventfd.h>

static int open_reference(void **state) {
    (void)state;
    cpu = open_driver("reference", NULL); /* where the fixture makes its models */
    return 0;
}

static void *signal_later(void *arg) {
    await_asleep(getpid()); /* the test waits for the fence */
    eventfd_write(*(const int *)arg, 1);
    return NULL;
}

/** The time from the launch holds the waiting, the time from the fences does not. */
static void test_times_of_waiting(void **state) {
    (void)state;
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(2));
    const float in[] = {-1, 1}, expected[] = {0, 1};
    float out[2] = {9, 9};
    struct call c = {0};
    give(&c, in, sizeof in);
    take(&c, out, sizeof out);
    const int fence = eventfd(0, EFD_CLOEXEC);
    const struct nnvts_execution_config timed = {NNVTS_NO_TIME, NNVTS_NO_TIME, true};
    struct nnvts_fenced_execution f = {0};
    struct nnvts_fenced_result result;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, signal_later, (void *)&fence), 0);
    assert_int_equal(p->execute_fenced(p, ready(&c), &fence, 1, &timed, NNVTS_NO_TIME, &f), NNVTS_STATUS_NONE);
    pthread_join(thread, NULL);
    assert_int_equal(f.get_result(f.context, &result), NNVTS_STATUS_NONE);
    assert_int_equal(result.status, NNVTS_STATUS_NONE);
    assert_true(result.launched.in_driver_ns > result.fenced.in_driver_ns);
    assert_true(result.fenced.on_device_ns <= result.fenced.in_driver_ns);
    assert_floats(out, expected, 2, 0);
    f.release(f.context);
    p->release(p);
    close(fence);
}

/** An output in a pool that is read-only is refused, mapped or not, and nothing is written. */
static void test_read_only_output(void **state) {
    (void)state;
    struct nnvts_device *device = open_driver("reference", NULL);
    struct net n = {0};
    const uint32_t x = input(&n, F32, DIMS(2)), y = output(&n, F32, DIMS(2));
    operation(&n, ANEURALNETWORKS_RELU, LIST(x), LIST(y));
    struct nnvts_prepared_model *p = prepare(device, &n);
    float in[2] = {-1, 2}, out[2] = {7, 7};
    struct call c = {0};
    give(&c, in, sizeof in);
    take(&c, out, sizeof out);
    c.pools[1].prot = NNVTS_PROT_READ;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_true(out[0] == 7 && out[1] == 7);
    c.pools[1] = shared(out, sizeof out, 0, NNVTS_PROT_READ);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
    c.pools[1].prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_int_equal(pread(c.pools[1].fd, out, sizeof out, 0), sizeof out);
    assert_true(out[0] == 0 && out[1] == 2);
    close(c.pools[1].fd);
    p->release(p);
    device->release(device);
}

/** Sixteen extents are as many as there may be. */
static void test_largest_rank(void **state) {
    (void)state;
    static const uint32_t extents[17] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1};
    for (uint32_t rank = 16; rank <= 17; rank++) {
        struct net n = {0};
        struct nnvts_prepared_model *p = NULL;
        const uint32_t x = input(&n, F32, 0, NULL), y = output(&n, F32, 0, NULL);
        n.operands[x].dimensions = n.operands[y].dimensions = extents;
        n.operands[x].dimension_count = n.operands[y].dimension_count = rank;
        operation(&n, ANEURALNETWORKS_NEG, LIST(x), LIST(y));
        const enum nnvts_status st = cpu->prepare_model(cpu, finish(&n), &prepare_config, &p);
        assert_int_equal(st, rank == 16 ? NNVTS_STATUS_NONE : NNVTS_STATUS_INVALID_ARGUMENT);
        if (p) p->release(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read_only_output), cmocka_unit_test(test_largest_rank),
                                       cmocka_unit_test(test_times_of_waiting)};
    return cmocka_run_group_tests(tests, open_reference, close_cpu);
}
