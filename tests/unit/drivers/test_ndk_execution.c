/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_ndk_execution.c The driver "ndk": modes of execution, device memory, and lies of the library. */
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/kit/ndk.h"

/* -------------------------------------------------------------- modes of execution */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t called;
    int calls;
    enum nnvts_status status;
    uint32_t shapes, extent;
} mailbox = {.lock = PTHREAD_MUTEX_INITIALIZER, .called = PTHREAD_COND_INITIALIZER};

static void callback(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    (void)context;
    pthread_mutex_lock(&mailbox.lock);
    mailbox.status = status;
    mailbox.shapes = result->shape_count;
    mailbox.extent = result->shape_count ? result->shapes[0].dimensions[0] : 0;
    mailbox.calls++;
    pthread_cond_signal(&mailbox.called);
    pthread_mutex_unlock(&mailbox.lock);
}

static void test_async(void **state) {
    (void)state;
    const int before = ndk_objects();
    struct nnvts_device *d = ndk_open("");
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    float y[NDK_N] = {0};
    struct call c = {0};
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, y, sizeof y);
    assert_int_equal(p->execute_async(p, ready(&c), &plain, callback, NULL), NNVTS_STATUS_NONE);
    pthread_mutex_lock(&mailbox.lock);
    while (!mailbox.calls) pthread_cond_wait(&mailbox.called, &mailbox.lock);
    pthread_mutex_unlock(&mailbox.lock);
    assert_int_equal(mailbox.status, NNVTS_STATUS_NONE);
    assert_int_equal(mailbox.shapes, 1);
    assert_int_equal(mailbox.extent, NDK_N);
    ndk_check_sums(y);
    ndk_lie("event-nothing");
    assert_int_equal(p->execute_async(p, ready(&c), &plain, callback, NULL), NNVTS_STATUS_GENERAL_FAILURE);
    assert_int_equal(mailbox.calls, 1);
    unsetenv("TOY_LIE");
    p->release(p);
    d->release(d);
    assert_int_equal(ndk_objects(), before);
}

static void check_fenced(struct nnvts_prepared_model *p) {
    float y[NDK_N] = {0};
    struct call c = {0};
    const uint64_t one = 1;
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, y, sizeof y);
    const int fence = eventfd(1, EFD_CLOEXEC);
    struct nnvts_fenced_execution f = {.sync_fence = -1};
    struct nnvts_fenced_result r = {.status = NNVTS_STATUS_GENERAL_FAILURE};
    assert_int_equal(write(fence, &one, sizeof one), sizeof one);
    assert_int_equal(p->execute_fenced(p, ready(&c), &fence, 1, &plain, NNVTS_NO_TIME, &f), NNVTS_STATUS_NONE);
    if (f.sync_fence >= 0) {
        struct pollfd wait = {f.sync_fence, POLLIN, 0};
        assert_int_equal(poll(&wait, 1, 10000), 1);
    }
    assert_int_equal(f.get_result(f.context, &r), NNVTS_STATUS_NONE);
    assert_int_equal(r.status, NNVTS_STATUS_NONE);
    assert_int_equal(f.get_result(f.context, &r), NNVTS_STATUS_NONE);
    ndk_check_sums(y);
    f.release(f.context);
    close(fence);
}

/** The result is there no earlier than the fence, whoever signals it. */
static void check_result_signals(struct nnvts_prepared_model *p) {
    for (int i = 0; i < 300; i++) {
        float y[NDK_N] = {0};
        struct call c = {0};
        give(&c, ndk_x, sizeof ndk_x);
        take(&c, y, sizeof y);
        struct nnvts_fenced_execution f = {.sync_fence = -1};
        struct nnvts_fenced_result r = {.status = NNVTS_STATUS_GENERAL_FAILURE};
        assert_int_equal(p->execute_fenced(p, ready(&c), NULL, 0, &plain, NNVTS_NO_TIME, &f), NNVTS_STATUS_NONE);
        assert_int_equal(f.get_result(f.context, &r), NNVTS_STATUS_NONE);
        struct pollfd now = {f.sync_fence, POLLIN, 0};
        if (f.sync_fence >= 0) assert_int_equal(poll(&now, 1, 0), 1);
        f.release(f.context);
    }
}

static void test_fenced(void **state) {
    (void)state;
    static const char *const lies[] = {"", "no-fence", "fence-nonsense"};
    const int before = ndk_objects();
    struct nnvts_device *d = ndk_open("#toy-a");
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    for (int i = 0; i < 3; i++) {
        ndk_lie(lies[i]);
        check_fenced(p);
        check_result_signals(p);
    }
    const int bad = -1;
    struct nnvts_fenced_execution f = {.sync_fence = -1};
    float y[NDK_N];
    struct call c = {0};
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, y, sizeof y);
    assert_int_equal(p->execute_fenced(p, ready(&c), &bad, 1, &plain, NNVTS_NO_TIME, &f),
                     NNVTS_STATUS_INVALID_ARGUMENT);
    p->release(p);
    d->release(d);
    assert_int_equal(ndk_objects(), before);
}

/** Where the library gives no fence the driver does, though its number is that of a standard input which is closed. */
static void test_fence_of_number_0(void **state) {
    (void)state;
    struct nnvts_device *d = ndk_open("#toy-a");
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    struct nnvts_fenced_execution f = {.sync_fence = -1};
    float y[NDK_N] = {0};
    struct call c = {0};
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, y, sizeof y);
    ndk_lie("no-fence");
    const int input = dup(0);
    close(0);
    const enum nnvts_status st = p->execute_fenced(p, ready(&c), NULL, 0, &plain, NNVTS_NO_TIME, &f);
    struct pollfd wait = {f.sync_fence, POLLIN, 0};
    const int signalled = poll(&wait, 1, 10000);
    if (st == NNVTS_STATUS_NONE) f.release(f.context);
    if (input >= 0) {
        assert_int_equal(dup2(input, 0), 0);
        close(input);
    }
    assert_int_equal(st, NNVTS_STATUS_NONE);
    assert_int_equal(wait.fd, 0);
    assert_true(signalled == 1 && wait.revents == POLLIN);
    ndk_check_sums(y);
    p->release(p);
    d->release(d);
}

static void test_burst(void **state) {
    (void)state;
    const int before = ndk_objects();
    struct nnvts_device *d = ndk_open("#toy-a");
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    struct nnvts_burst *burst = NULL;
    assert_int_equal(p->create_burst(p, &burst), NNVTS_STATUS_NONE);
    p->release(p); /* a burst outlives what it was made from */
    struct call c = {0};
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, NULL, sizeof ndk_x);
    struct nnvts_memory files[2] = {shared(ndk_x, sizeof ndk_x, 0, NNVTS_PROT_READ),
                                    shared(NULL, sizeof ndk_x, 0, NNVTS_PROT_READ | NNVTS_PROT_WRITE)};
    memcpy(c.pools, files, sizeof files);
    static const int64_t tokens[] = {7, -1};
    const int idle = ndk_objects();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(burst->execute(burst, ready(&c), tokens, &plain, &c.result), NNVTS_STATUS_NONE);
        assert_int_equal(ndk_objects(), idle + 1); /* the memory of token 7 is kept */
    }
    float y[NDK_N] = {0};
    assert_int_equal(pread(files[1].fd, y, sizeof y, 0), (ssize_t)sizeof y);
    ndk_check_sums(y);
    assert_int_equal(burst->release_memory(burst, 8), NNVTS_STATUS_NONE);
    assert_int_equal(ndk_objects(), idle + 1);
    assert_int_equal(burst->release_memory(burst, 7), NNVTS_STATUS_NONE);
    assert_int_equal(ndk_objects(), idle);
    assert_int_equal(burst->release_memory(burst, -1), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_int_equal(burst->execute(burst, ready(&c), NULL, &plain, &c.result), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_int_equal(burst->execute(burst, ready(&c), tokens, &plain, &c.result), NNVTS_STATUS_NONE);
    burst->release(burst);
    d->release(d);
    assert_int_equal(ndk_objects(), before);
    close(files[0].fd);
    close(files[1].fd);
}

static void test_reusable(void **state) {
    (void)state;
    const int before = ndk_objects();
    struct nnvts_device *d = ndk_open("#toy-a");
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    struct nnvts_execution *e = NULL;
    float y[NDK_N];
    struct call c = {0};
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, y, sizeof y);
    assert_int_equal(p->create_execution(p, ready(&c), &plain, &e), NNVTS_STATUS_NONE);
    for (int i = 0; i < 3; i++) {
        memset(y, 0, sizeof y);
        ready(&c);
        assert_int_equal(e->execute(e, NNVTS_NO_TIME, &c.result), NNVTS_STATUS_NONE);
        assert_int_equal(c.result.shape_count, 1);
        ndk_check_sums(y);
    }
    e->release(e);
    p->release(p);
    d->release(d);
    assert_int_equal(ndk_objects(), before);
}

static void test_device_memory(void **state) {
    (void)state;
    const int before = ndk_objects();
    struct nnvts_device *d = ndk_open("#toy-a");
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    static const struct nnvts_buffer_role role = {0, 0, 1}, no_model = {1, 0, 1}, no_io = {0, 3, 1};
    struct nnvts_buffer_desc desc = {.prepared = &p, .prepared_count = 1, .input_role_count = 1, .input_roles = &role};
    struct nnvts_buffer *in = NULL, *out = NULL, *none = NULL;
    assert_int_equal(d->allocate(d, &desc, &in), NNVTS_STATUS_NONE);
    desc.input_roles = &no_model;
    assert_int_equal(d->allocate(d, &desc, &none), NNVTS_STATUS_INVALID_ARGUMENT);
    desc.input_roles = &no_io;
    assert_int_equal(d->allocate(d, &desc, &none), NNVTS_STATUS_INVALID_ARGUMENT);
    desc =
        (struct nnvts_buffer_desc){.prepared = &p, .prepared_count = 1, .output_role_count = 1, .output_roles = &role};
    assert_int_equal(d->allocate(d, &desc, &out), NNVTS_STATUS_NONE);
    assert_true(in->token && out->token && in->token != out->token);
    float y[NDK_N] = {0};
    struct nnvts_memory from = {.prot = NNVTS_PROT_READ, .fd = -1, .size = sizeof ndk_x, .data = ndk_x};
    struct nnvts_memory to = {.prot = NNVTS_PROT_WRITE, .fd = -1, .size = sizeof y, .data = y};
    assert_int_equal(in->copy_to(in, &to), NNVTS_STATUS_GENERAL_FAILURE); /* without a value */
    assert_int_equal(in->copy_from(in, &from, NULL, 0), NNVTS_STATUS_NONE);
    struct call c = {0};
    give(&c, NULL, 0);
    take(&c, NULL, 0);
    c.pools[0] = (struct nnvts_memory){.kind = NNVTS_MEMORY_DEVICE, .fd = -1, .token = in->token};
    c.pools[1] = (struct nnvts_memory){.kind = NNVTS_MEMORY_DEVICE, .fd = -1, .token = out->token};
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_int_equal(out->copy_to(out, &to), NNVTS_STATUS_NONE);
    ndk_check_sums(y);
    to.size -= 4;
    assert_int_equal(out->copy_to(out, &to), NNVTS_STATUS_INVALID_ARGUMENT);
    p->release(p);
    in->release(in);
    out->release(out);
    d->release(d);
    assert_int_equal(ndk_objects(), before);
}

/* --------------------------------------------------------------------------- lies */

static void test_lies_of_preparing(void **state) {
    (void)state;
    static const struct {
        const char *lie;
        int status;
    } rows[] = {
        {"model-nothing", NNVTS_STATUS_GENERAL_FAILURE},
        {"compilation-nothing", NNVTS_STATUS_GENERAL_FAILURE},
        {"finish-77", 1077}, /* no status: the caller sees that something is wrong */
    };
    const int before = ndk_objects();
    struct nnvts_device *d = ndk_open("#toy-a");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnvts_prepared_model *p;
        ndk_lie(rows[i].lie);
        assert_int_equal(ndk_try_prepare(d, &p), rows[i].status);
        assert_null(p);
    }
    d->release(d);
    assert_int_equal(ndk_objects(), before);
}

static void test_lies_of_executing(void **state) {
    (void)state;
    static const struct {
        const char *lie;
        int status;
        uint32_t shapes, rank;
    } rows[] = {
        {"execution-nothing", NNVTS_STATUS_GENERAL_FAILURE, 0, 8},
        {"compute-77", 1077, 0, 8},
        {"huge-rank", NNVTS_STATUS_NONE, 1, 1000000}, /* told as it is, but nothing was written there */
        {"shapes-fail", NNVTS_STATUS_NONE, 0, 0},
    };
    struct nnvts_device *d = ndk_open("#toy-a");
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    const int before = ndk_objects();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float y[NDK_N] = {0};
        struct call c = {0};
        give(&c, ndk_x, sizeof ndk_x);
        take(&c, y, sizeof y);
        ndk_lie(rows[i].lie);
        assert_int_equal(execute(p, &c), rows[i].status);
        assert_int_equal(c.result.shape_count, rows[i].shapes);
        assert_int_equal(c.shapes[0].dimension_count, rows[i].rank);
    }
    ndk_lie("burst-nothing");
    struct nnvts_burst *burst = NULL;
    assert_int_equal(p->create_burst(p, &burst), NNVTS_STATUS_GENERAL_FAILURE);
    assert_null(burst);
    ndk_lie("memory-nothing");
    struct nnvts_memory file = shared(ndk_x, sizeof ndk_x, 0, NNVTS_PROT_READ);
    struct call c = {0};
    float y[NDK_N];
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, y, sizeof y);
    c.pools[0] = file;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_GENERAL_FAILURE);
    close(file.fd);
    assert_int_equal(ndk_objects(), before);
    p->release(p);
    d->release(d);
}

static void test_lies_of_asking(void **state) {
    (void)state;
    struct nnvts_device *d = ndk_open("#toy-a");
    struct net n = {0};
    uint8_t supported = 0xee;
    ndk_make_add(&n, NULL);
    ndk_lie("supported-unfilled");
    assert_int_equal(d->get_supported_operations(d, finish(&n), (bool *)&supported), NNVTS_STATUS_NONE);
    assert_int_equal(supported, 0xee); /* not made up */
    d->release(d);
    ndk_lie("version-nothing");
    d = ndk_open("#toy-a");
    assert_string_equal(d->version, "");
    d->release(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_async, ndk_no_lies),
        cmocka_unit_test_setup(test_fenced, ndk_no_lies),
        cmocka_unit_test_setup(test_fence_of_number_0, ndk_no_lies),
        cmocka_unit_test_setup(test_burst, ndk_no_lies),
        cmocka_unit_test_setup(test_reusable, ndk_no_lies),
        cmocka_unit_test_setup(test_device_memory, ndk_no_lies),
        cmocka_unit_test_setup(test_lies_of_preparing, ndk_no_lies),
        cmocka_unit_test_setup(test_lies_of_executing, ndk_no_lies),
        cmocka_unit_test_setup(test_lies_of_asking, ndk_no_lies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
