/* SPDX-License-Identifier: Apache-2.0 */
/** The driver "host": what becomes of its objects when the process dies, and that it leaves nothing behind. */
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "tests/kit/asleep.h"
#include "tests/kit/driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* ------------------------------------------------------------------ processes */

/** The children of this process; *last: one of them. */
static int find_children(pid_t *last) {
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    int found = 0;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char path[300], line[512] = "";
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *f = entry->d_name[0] >= '0' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        if (!f) continue;
        char state = 0, *behind = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        long parent = 0;
        fclose(f);
        if (!behind || sscanf(behind + 1, " %c %ld", &state, &parent) != 2 || parent != (long)getpid()) continue;
        *last = (pid_t)strtol(entry->d_name, NULL, 10);
        found++;
    }
    closedir(dir);
    return found;
}

static int count_children(void) {
    pid_t any;
    return find_children(&any);
}

/** The one child of this process. */
static pid_t host_pid(void) {
    pid_t found;
    assert_int_equal(find_children(&found), 1);
    return found;
}

static void kill_host(void) {
    const pid_t pid = host_pid();
    siginfo_t info;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_true(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0 || errno == ECHILD);
}

static void assert_no_child(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static int descriptors(void) {
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;
    assert_non_null(dir);
    while (readdir(dir)) n++;
    closedir(dir);
    return n;
}

static struct nnvts_device *host_cpu(void) { return open_driver("host", "cpu"); }

static struct nnvts_prepared_model *prepare_relu3(struct nnvts_device *device) {
    struct net n = {0};
    const uint32_t x = input(&n, F32, DIMS(3)), y = output(&n, F32, DIMS(3));
    operation(&n, ANEURALNETWORKS_RELU, LIST(x), LIST(y));
    return prepare(device, &n);
}

static const float x3[] = {-1, 2, -3}, y3[] = {0, 2, 0};

/** A request of memory that only this process has, and of memory that the host can map. */
static void check_relu3(struct nnvts_prepared_model *p) {
    float out[3] = {9, 9, 9};
    struct call c = {0};
    give(&c, x3, sizeof x3);
    take(&c, out, sizeof out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_floats(out, y3, 3, 0);
    struct nnvts_memory files[2] = {shared(x3, sizeof x3, 0, NNVTS_PROT_READ),
                                    shared(NULL, sizeof out, 0, NNVTS_PROT_READ | NNVTS_PROT_WRITE)};
    memcpy(c.pools, files, sizeof files);
    memset(out, 0, sizeof out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_int_equal(pread(files[1].fd, out, sizeof out, 0), (ssize_t)sizeof out);
    assert_floats(out, y3, 3, 0);
    close(files[0].fd);
    close(files[1].fd);
}

/* ---------------------------------------------------------------------- tests */

static void test_opens_what_it_is_told(void **state) {
    (void)state;
    static const char *const refused[] = {"no such driver", "./none.so", "faulty:no-such-bug", "cpu:threads=0"};
    const struct nnvts_driver *host = load("host");
    const char *errors[4];
    char copies[4][256];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct nnvts_device *device = NULL;
        const char *error = NULL;
        assert_int_equal(host->open(refused[i], &device, &error), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_null(device);
        assert_non_null(error);
        if (i == 2) assert_non_null(strstr(error, "BUG")); /* the driver's own words */
        errors[i] = error;
        snprintf(copies[i], sizeof copies[i], "%s", error);
    }
    for (size_t i = 0; i < 4; i++) assert_string_equal(errors[i], copies[i]); /* static: a later one changes nothing */
    assert_no_child();
    struct nnvts_device *direct = open_driver("cpu", NULL), *device = host_cpu();
    assert_string_equal(device->name, direct->name);
    assert_string_equal(device->version, direct->version);
    assert_int_equal(device->feature_level, direct->feature_level);
    const struct nnvts_capabilities *a = &direct->capabilities, *b = &device->capabilities;
    assert_int_equal(a->operand_performance_count, b->operand_performance_count);
    assert_memory_equal(a->operand_performance, b->operand_performance,
                        a->operand_performance_count * sizeof *a->operand_performance);
    assert_int_equal(device->get_status(device), NNVTS_DEVICE_AVAILABLE);
    device->release(device);
    direct->release(direct);
    assert_no_child();
}

/** All objects of a process that has died say so for good; the device goes on with another process. */
static void test_dead_host(void **state) {
    (void)state;
    const int before = descriptors();
    struct nnvts_device *device = host_cpu();
    struct nnvts_prepared_model *old = prepare_relu3(device);
    struct nnvts_burst *burst = NULL;
    struct nnvts_execution *reusable = NULL;
    float out[3];
    const int64_t tokens[] = {1, 2};
    struct call c = {0};
    give(&c, x3, sizeof x3);
    take(&c, out, sizeof out);
    check_relu3(old);
    assert_int_equal(old->create_burst(old, &burst), NNVTS_STATUS_NONE);
    assert_int_equal(old->create_execution(old, ready(&c), &plain, &reusable), NNVTS_STATUS_NONE);
    assert_int_equal(burst->execute(burst, ready(&c), tokens, &plain, &c.result), NNVTS_STATUS_NONE);
    assert_int_equal(reusable->execute(reusable, NNVTS_NO_TIME, &c.result), NNVTS_STATUS_NONE);
    kill_host();
    assert_int_equal(burst->execute(burst, ready(&c), tokens, &plain, &c.result), NNVTS_STATUS_DEAD_OBJECT);
    assert_int_equal(c.result.shape_count, 0);
    assert_int_equal(execute(old, &c), NNVTS_STATUS_DEAD_OBJECT);
    assert_int_equal(reusable->execute(reusable, NNVTS_NO_TIME, &c.result), NNVTS_STATUS_DEAD_OBJECT);
    assert_no_child();
    assert_int_equal(device->get_status(device), NNVTS_DEVICE_AVAILABLE); /* of the next process */
    struct nnvts_prepared_model *young = prepare_relu3(device);
    check_relu3(young);
    assert_int_equal(execute(old, &c), NNVTS_STATUS_DEAD_OBJECT);
    burst->release(burst);
    reusable->release(reusable);
    old->release(old);
    check_relu3(young);
    young->release(young);
    device->release(device);
    assert_no_child();
    assert_int_equal(descriptors(), before);
}

/** A fence that waits for what never comes signals when the process dies. */
static void test_dead_host_signals_fences(void **state) {
    (void)state;
    struct nnvts_device *device = host_cpu();
    struct nnvts_prepared_model *p = prepare_relu3(device);
    struct nnvts_fenced_execution fenced = {0};
    struct nnvts_fenced_result result = {0};
    float out[3];
    struct call c = {0};
    give(&c, x3, sizeof x3);
    take(&c, out, sizeof out);
    const int never = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(p->execute_fenced(p, ready(&c), &never, 1, &plain, NNVTS_NO_TIME, &fenced), NNVTS_STATUS_NONE);
    struct pollfd fence = {fenced.sync_fence, POLLIN, 0};
    assert_int_equal(poll(&fence, 1, 30), 0);
    kill_host();
    assert_int_equal(poll(&fence, 1, 5000), 1);
    assert_int_equal(fenced.get_result(fenced.context, &result), NNVTS_STATUS_DEAD_OBJECT);
    fenced.release(fenced.context);
    close(never);
    p->release(p);
    device->release(device);
    assert_no_child();
}

static void count_call(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    assert_non_null(result);
    assert_true(status == NNVTS_STATUS_NONE || status == NNVTS_STATUS_DEAD_OBJECT);
    atomic_fetch_add((atomic_int *)context, 1);
}

static void test_dead_host_calls_back(void **state) {
    (void)state;
    enum { TIMES = 10 };
    struct nnvts_device *device = host_cpu();
    for (int i = 0; i < TIMES; i++) {
        struct nnvts_prepared_model *p = prepare_relu3(device);
        atomic_int calls = 0;
        float out[3];
        struct call c = {0};
        give(&c, x3, sizeof x3);
        take(&c, out, sizeof out);
        assert_int_equal(p->execute_async(p, ready(&c), &plain, count_call, &calls), NNVTS_STATUS_NONE);
        kill_host();
        for (int k = 0; k < 5000 && atomic_load(&calls) == 0; k++) usleep(1000);
        p->release(p);
        assert_int_equal(atomic_load(&calls), 1);
    }
    device->release(device);
    assert_no_child();
}

static void *execute_dying(void *arg) {
    struct nnvts_prepared_model *p = arg;
    float out[3];
    struct call c = {0};
    give(&c, x3, sizeof x3);
    take(&c, out, sizeof out);
    return (void *)(uintptr_t)execute(p, &c);
}

/** The process dies while it executes. */
static void test_dies_in_execution(void **state) {
    (void)state;
    struct nnvts_device *device = open_driver("host", "faulty:hang-execute@RELU");
    struct nnvts_prepared_model *p = prepare_relu3(device);
    pthread_t thread;
    void *status = NULL;
    assert_int_equal(pthread_create(&thread, NULL, execute_dying, p), 0);
    await_others_asleep();
    assert_int_equal(device->get_status(device), NNVTS_DEVICE_AVAILABLE); /* other calls have sockets of their own */
    kill_host();
    pthread_join(thread, &status);
    assert_int_equal((uintptr_t)status, NNVTS_STATUS_DEAD_OBJECT);
    p->release(p);
    device->release(device);
    device = open_driver("host", "faulty:crash-execute@RELU");
    p = prepare_relu3(device);
    assert_int_equal((uintptr_t)execute_dying(p), NNVTS_STATUS_DEAD_OBJECT);
    p->release(p);
    p = prepare_relu3(device);
    p->release(p);
    device->release(device);
    assert_no_child();
}

/** Devices share a process, which lives as long as one of them. */
static void test_one_process_for_two_devices(void **state) {
    (void)state;
    struct nnvts_device *device = host_cpu(), *second = host_cpu();
    const pid_t one = host_pid();
    struct nnvts_prepared_model *p = prepare_relu3(second);
    device->release(device);
    check_relu3(p);
    assert_int_equal(host_pid(), one);
    p->release(p);
    second->release(second);
    assert_no_child();
}

/** Other drivers, or the same with other options, have processes of their own. */
static void test_one_process_for_each_driver(void **state) {
    (void)state;
    static const char *const options[] = {"cpu", "cpu:threads=1", "cpu:threads=2", "sample:minimal", "sample:quant"};
    enum { DEVICES = sizeof options / sizeof *options };
    struct nnvts_device *devices[DEVICES];
    for (int i = 0; i < DEVICES; i++) {
        devices[i] = open_driver("host", options[i]);
        assert_int_equal(count_children(), i + 1);
    }
    assert_string_equal(devices[0]->name, "nnvts-cpu");
    assert_string_equal(devices[3]->name, "nnvts-sample-minimal");
    assert_string_equal(devices[4]->name, "nnvts-sample-quant");
    for (int i = 0; i < DEVICES; i++) devices[i]->release(devices[i]);
    assert_no_child();
}

/** Tokens: what is kept is not sent again, what is forgotten is; memory of this process alone is copied each time. */
static void test_burst_memory(void **state) {
    (void)state;
    struct nnvts_device *device = host_cpu();
    struct nnvts_prepared_model *p = prepare_relu3(device);
    struct nnvts_burst *burst = NULL;
    assert_int_equal(p->create_burst(p, &burst), NNVTS_STATUS_NONE);
    struct call c = {0};
    give(&c, NULL, sizeof x3);
    take(&c, NULL, sizeof x3);
    for (int round = 0; round < 3; round++) {
        const int64_t tokens[] = {5, round == 2 ? -1 : 6};
        float in[3] = {-1, 2 + (float)round, -3}, out[3];
        struct nnvts_memory files[2] = {shared(in, sizeof in, 0, NNVTS_PROT_READ),
                                        shared(NULL, sizeof out, 0, NNVTS_PROT_READ | NNVTS_PROT_WRITE)};
        for (int i = 0; i < 2; i++) assert_int_equal(fcntl(files[i].fd, F_GETFD), FD_CLOEXEC);
        memcpy(c.pools, files, sizeof files);
        for (int i = 0; i < 3; i++) {
            in[1] += 10;
            assert_int_equal(pwrite(files[0].fd, in, sizeof in, 0), (ssize_t)sizeof in);
            assert_int_equal(burst->execute(burst, ready(&c), tokens, &plain, &c.result), NNVTS_STATUS_NONE);
            assert_int_equal(pread(files[1].fd, out, sizeof out, 0), (ssize_t)sizeof out);
            assert_floats(out, (const float[]){0, in[1], 0}, 3, 0);
        }
        for (int i = 0; i < 2; i++) close(files[i].fd);
        assert_int_equal(burst->release_memory(burst, 5), NNVTS_STATUS_NONE);
        assert_int_equal(burst->release_memory(burst, 6), NNVTS_STATUS_NONE);
    }
    assert_int_equal(burst->release_memory(burst, -1), NNVTS_STATUS_INVALID_ARGUMENT);
    burst->release(burst);
    p->release(p);
    device->release(device);
}

/** Up to 32 pools go through the driver's burst; with more of them it is asked without. */
static void test_burst_pools(void **state) {
    (void)state;
    enum { MANY = 33 };
    static const char *const drivers[] = {"cpu", "faulty:burst-idle"}; /* the latter's bursts compute nothing */
    for (int d = 0; d < 2; d++) {
        struct nnvts_device *device = open_driver("host", drivers[d]);
        struct nnvts_prepared_model *p = prepare_relu3(device);
        struct nnvts_burst *burst = NULL;
        assert_int_equal(p->create_burst(p, &burst), NNVTS_STATUS_NONE);
        for (uint32_t n = MANY - 2; n <= MANY; n++) {
            float out[3] = {9, 9, 9};
            struct call c = {0};
            struct nnvts_memory pools[MANY];
            int64_t tokens[MANY];
            give(&c, x3, sizeof x3);
            take(&c, out, sizeof out);
            for (uint32_t i = 0; i < n; i++) pools[i] = c.pools[i == 1], tokens[i] = -1;
            ready(&c);
            c.request.pools = pools;
            c.request.pool_count = n;
            assert_int_equal(burst->execute(burst, &c.request, tokens, &plain, &c.result), NNVTS_STATUS_NONE);
            assert_floats(out, d == 0 || n == MANY ? y3 : (const float[]){9, 9, 9}, 3, 0);
        }
        burst->release(burst);
        p->release(p);
        device->release(device);
    }
    assert_no_child();
}

struct ended {
    struct nnvts_timing timing;
    atomic_bool came;
};
static void take_timing(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    struct ended *e = context;
    assert_int_equal(status, NNVTS_STATUS_NONE);
    e->timing = result->timing;
    atomic_store(&e->came, true);
}

enum { WAYS = 5, IDLE_NS = 50000000 };

/** What an execution in each mode says of its time. */
static void execute_all_ways(struct nnvts_prepared_model *p, bool measured, struct nnvts_timing timing[WAYS]) {
    const struct nnvts_execution_config config = {NNVTS_NO_TIME, NNVTS_NO_TIME, measured};
    struct nnvts_fenced_execution fenced;
    struct nnvts_fenced_result answer;
    struct nnvts_execution *reusable;
    struct nnvts_burst *burst;
    struct ended e = {.came = false};
    float out[3];
    struct call c = {0};
    give(&c, x3, sizeof x3);
    take(&c, out, sizeof out);
    assert_int_equal(p->execute(p, ready(&c), &config, &c.result), NNVTS_STATUS_NONE);
    timing[0] = c.result.timing;
    assert_int_equal(p->execute_async(p, ready(&c), &config, take_timing, &e), NNVTS_STATUS_NONE);
    while (!atomic_load(&e.came)) usleep(100);
    timing[1] = e.timing;
    assert_int_equal(p->execute_fenced(p, ready(&c), NULL, 0, &config, NNVTS_NO_TIME, &fenced), NNVTS_STATUS_NONE);
    struct pollfd signalled = {fenced.sync_fence, POLLIN, 0};
    assert_int_equal(poll(&signalled, 1, 10000), 1);
    usleep(IDLE_NS / 1000); /* no part of it */
    assert_int_equal(fenced.get_result(fenced.context, &answer), NNVTS_STATUS_NONE);
    fenced.release(fenced.context);
    timing[2] = answer.launched;
    assert_int_equal(p->create_execution(p, ready(&c), &config, &reusable), NNVTS_STATUS_NONE);
    assert_int_equal(reusable->execute(reusable, NNVTS_NO_TIME, &c.result), NNVTS_STATUS_NONE);
    reusable->release(reusable);
    timing[3] = c.result.timing;
    assert_int_equal(p->create_burst(p, &burst), NNVTS_STATUS_NONE);
    assert_int_equal(burst->execute(burst, ready(&c), (const int64_t[]){-1, -1}, &config, &c.result),
                     NNVTS_STATUS_NONE);
    burst->release(burst);
    timing[4] = c.result.timing;
}

/** A driver that tells no times is timed by its host, where times are asked for; one that does has the word. */
static void test_times(void **state) {
    (void)state;
    static const char *const drivers[] = {"faulty:legal-untimed", "faulty:none"};
    struct nnvts_timing timing[WAYS];
    for (int d = 0; d < 2; d++) {
        struct nnvts_device *device = open_driver("host", drivers[d]);
        struct nnvts_prepared_model *p = prepare_relu3(device);
        execute_all_ways(p, false, timing);
        for (int i = 0; i < WAYS; i++)
            assert_true(timing[i].in_driver_ns == NNVTS_NO_TIME && timing[i].on_device_ns == NNVTS_NO_TIME);
        const uint64_t began = now_ns();
        execute_all_ways(p, true, timing);
        const uint64_t took = now_ns() - began - IDLE_NS;
        for (int i = 0; i < WAYS; i++) {
            assert_true(timing[i].in_driver_ns > 0 && timing[i].in_driver_ns <= took);
            assert_true((timing[i].on_device_ns == NNVTS_NO_TIME) == (d == 0));
        }
        p->release(p);
        device->release(device);
    }
}

/** What is refused costs nothing: not the host, not what comes after. */
static void test_refused_requests(void **state) {
    (void)state;
    struct nnvts_device *device = host_cpu();
    struct nnvts_prepared_model *p = prepare_relu3(device);
    struct nnvts_burst *burst = NULL;
    struct nnvts_execution *execution = NULL;
    const pid_t pid = host_pid();
    const int64_t tokens[] = {-1, 1};
    float out[3];
    struct call c = {0};
    give(&c, x3, sizeof x3);
    take(&c, out, sizeof out);
    assert_int_equal(p->create_burst(p, &burst), NNVTS_STATUS_NONE);
    ready(&c);
    for (int i = 0; i < 4; i++) { /* pools, dimensions, a descriptor and a size that are not there */
        struct nnvts_request r = c.request;
        struct nnvts_argument in = c.in[0];
        struct nnvts_memory pools[2] = {c.pools[0], c.pools[1]};
        if (i == 0) r.pools = NULL;
        if (i == 1) in.dimension_count = 1;
        if (i == 2) pools[0].fd = 9999, pools[0].data = NULL;
        if (i == 3) pools[0].size = 0;
        if (i > 0) r.inputs = &in, r.pools = pools;
        assert_int_equal(p->execute(p, &r, &plain, &c.result), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(burst->execute(burst, &r, tokens, &plain, &c.result), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(p->create_execution(p, &r, &plain, &execution), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_null(execution);
    }
    burst->release(burst);
    check_relu3(p);
    assert_int_equal(host_pid(), pid);
    p->release(p);
    device->release(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opens_what_it_is_told),
        cmocka_unit_test(test_dead_host),
        cmocka_unit_test(test_dead_host_signals_fences),
        cmocka_unit_test(test_dead_host_calls_back),
        cmocka_unit_test(test_dies_in_execution),
        cmocka_unit_test(test_one_process_for_two_devices),
        cmocka_unit_test(test_one_process_for_each_driver),
        cmocka_unit_test(test_burst_memory),
        cmocka_unit_test(test_burst_pools),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_refused_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
