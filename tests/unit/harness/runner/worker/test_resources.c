/* SPDX-License-Identifier: Apache-2.0 */
/** Counting what a process and its descendants hold: one more of each is seen, and seen to go. */

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/runner/worker/resources.h"
#include "tests/kit/test.h"

static struct nnv_resources count(void) {
    struct nnv_resources r;
    assert_true(nnv_resources_count(&r));
    return r;
}

static void test_descriptors(void **state) {
    (void)state;
    if (in_emulator()) skip();
    const struct nnv_resources before = count();
    assert_int_equal(before.processes, 1);
    assert_true(before.descriptors >= 3 && before.threads == 1 && before.memory_bytes > 0);
    const int fd = open("/dev/null", O_RDONLY);
    assert_int_equal(count().descriptors, before.descriptors + 1);
    close(fd);
    assert_int_equal(count().descriptors, before.descriptors);
}

/** Three counts that agree suffice: it takes two pauses, and not all the time; without time one count is made. */
static void test_rest(void **state) {
    (void)state;
    const struct nnv_resources before = count();
    struct nnv_resources after;
    const uint64_t begun = nnv_now_ns();
    assert_true(nnv_resources_rest(UINT64_C(60000000000), &after));
    assert_true(nnv_now_ns() - begun >= 4000000 && nnv_now_ns() - begun < UINT64_C(30000000000));
    assert_int_equal(after.threads, before.threads);
    assert_int_equal(after.descriptors, before.descriptors);
    after = (struct nnv_resources){0};
    assert_true(nnv_resources_rest(0, &after));
    assert_int_equal(after.threads, before.threads);
}

static void *wait_on(void *arg) {
    char byte;
    return (void *)read(*(int *)arg, &byte, 1);
}

static void test_threads(void **state) {
    (void)state;
    int ends[2];
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    const struct nnv_resources before = count();
    assert_int_equal(pthread_create(&thread, NULL, wait_on, &ends[0]), 0);
    assert_int_equal(count().threads, before.threads + 1);
    struct nnv_resources after;
    const uint64_t begun = nnv_now_ns();
    assert_true(nnv_resources_settle(&before, 30000000, &after)); /* it does not go: all the time is used */
    assert_true(nnv_now_ns() - begun >= 30000000 && after.threads == before.threads + 1);
    close(ends[1]);
    pthread_join(thread, NULL);
    assert_true(nnv_resources_settle(&before, UINT64_C(2000000000), &after));
    assert_int_equal(after.threads, before.threads);
    close(ends[0]);
}

static void test_memory(void **state) {
    (void)state;
    enum { BYTES = 8 << 20 };
    const uint64_t before = count().memory_bytes;
    void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    memset(p, 1, BYTES);
    assert_true(count().memory_bytes >= before + BYTES * 3 / 4);
    munmap(p, BYTES);
    assert_true(count().memory_bytes < before + BYTES / 2);
}

/** Children and their children count; one that has ended but was not waited for holds nothing. */
static void test_descendants(void **state) {
    (void)state;
    if (in_emulator()) skip();
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const struct nnv_resources before = count();
    const pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        const pid_t grandchild = fork();
        if (grandchild == 0 && open("/dev/null", O_RDONLY) >= 0 && write(ready[1], "x", 1) == 1) pause();
        for (;;) pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    const struct nnv_resources with = count();
    assert_int_equal(with.processes, 3);
    assert_int_equal(with.threads, before.threads + 2);
    assert_int_equal(with.descriptors, 3 * before.descriptors + 1);
    struct nnv_resources others;
    assert_true(nnv_resources_count_others(&others));
    assert_int_equal(others.processes, 2);
    assert_int_equal(others.threads, 2);
    assert_int_equal(others.descriptors, 2 * before.descriptors + 1);
    assert_in_range(others.memory_bytes, 1, with.memory_bytes - 1);
    setpgid(child, child);
    kill(-child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    struct nnv_resources after;
    assert_true(nnv_resources_settle(&before, UINT64_C(2000000000), &after));
    assert_int_equal(after.processes, 1);
    assert_int_equal(after.descriptors, before.descriptors);
    waitpid(child, NULL, 0);
    assert_true(nnv_resources_count_others(&others));
    assert_int_equal(others.processes + others.threads + others.memory_bytes, 0);
    close(ready[0]);
    close(ready[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors), cmocka_unit_test(test_rest),        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_memory),      cmocka_unit_test(test_descendants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
