/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_cpu_driver_execution.c How the driver "cpu" executes: memory, threads, deadlines, asynchronous, fenced,
 * bursts. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>

#include "tests/kit/asleep.h"
#include "tests/kit/driver.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>

/* --------------------------------------------------------------------- memory */

static void test_files(void **state) {
    (void)state;
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(3));
    const float in[] = {-1, 2, -3}, expected[] = {0, 2, 0};
    float out[3];
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct call c = {0};
    give(&c, NULL, sizeof in);
    take(&c, NULL, sizeof out);
    c.pools[0] = shared(in, sizeof in, page, NNVTS_PROT_READ);
    c.pools[1] = shared(NULL, sizeof out, 0, NNVTS_PROT_READ | NNVTS_PROT_WRITE);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_int_equal(pread(c.pools[1].fd, out, sizeof out, 0), (ssize_t)sizeof out);
    assert_floats(out, expected, 3, 0);
    assert_int_equal(ftruncate(c.pools[0].fd, (off_t)page), 0); /* the pool would lie behind the end */
    assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
    const int fd = c.pools[0].fd;
    c.pools[0].fd = -1;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
    close(fd);
    close(c.pools[1].fd);
    p->release(p);
}

static void test_constants_in_pool(void **state) {
    (void)state;
    const float addend[] = {1, 2};
    struct net n = {0};
    const uint32_t x = input(&n, F32, DIMS(2)), b = tensor(&n, NNVTS_CONSTANT_REFERENCE, F32, DIMS(2)),
                   y = output(&n, F32, DIMS(2));
    operation(&n, ANEURALNETWORKS_ADD, LIST(x, b, integer(&n, 0)), LIST(y));
    struct nnvts_memory memory = shared(addend, sizeof addend, 0, NNVTS_PROT_READ);
    n.operands[b].location.length = sizeof addend;
    n.model.pools = &memory;
    n.model.pool_count = 1;
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    close(memory.fd);
    const float in[] = {10, 20}, expected[] = {11, 22};
    float out[2];
    struct call c = {0};
    give(&c, in, sizeof in);
    take(&c, out, sizeof out);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_floats(out, expected, 2, 0);
    p->release(p);
}

/* ------------------------------------------------------------------ execution */

enum { BIG = 40, BIG_IN = 24, BIG_OUT = 40 };

#ifndef MEMORY_IS_COPIED
/** An output over an input, or over another output's memory, is refused. */
static void test_overlapping_output(void **state) {
    (void)state;
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(4));
    float values[8] = {-1, 2, -3, 4};
    struct call c = {0};
    give(&c, values, 4 * sizeof *values);
    take(&c, values + 3, 4 * sizeof *values);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_true(values[3] == 4 && values[4] == 0);
    c.pools[1].data = values + 4; /* side by side is no overlap */
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_true(values[4] == 0 && values[5] == 2 && values[7] == 4);
    p->release(p);
}
#endif

static uint32_t next_random(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u, *seed >> 8; }

/**
 * conv 3x3 on [1,40,40,24] to 40 channels, depthwise conv 3x3, conv 1x1, sum with what the depthwise one made: large
 * enough for several threads, each reads what others have written; float32 or unsigned bytes.
 */
struct big {
    uint8_t x[BIG * BIG * BIG_IN * 4], y[BIG * BIG * BIG_OUT * 4];
    uint32_t x_bytes, y_bytes;
    uint8_t weights[BIG_OUT * 9 * BIG_IN * 4];
};

/** A convolution of x with a filter that is the first weights of the pool; y is quantised with its scale. */
static void add_conv(struct net *n, uint32_t x, uint32_t filter_side, uint32_t depth, float x_scale, bool depthwise,
                     bool quantised, uint32_t y) {
    const uint32_t f = filter_side, bytes = BIG_OUT * f * f * depth * (quantised ? 1 : 4);
    const struct kind kw = quantised ? U8(0.25f, 130) : F32,
                      kb = quantised ? (struct kind){ANEURALNETWORKS_TENSOR_INT32, x_scale * 0.25f, 0} : F32;
    const int32_t bias[BIG_OUT] = {0};
    uint32_t list[10], count = 0;
    list[count++] = x;
    list[count++] = tensor(n, NNVTS_CONSTANT_REFERENCE, kw, 4,
                           depthwise ? (const uint32_t[]){1, f, f, BIG_OUT} : (const uint32_t[]){BIG_OUT, f, f, depth});
    n->operands[list[1]].location.length = bytes;
    list[count++] = constant(n, kb, bias, sizeof bias, DIMS(BIG_OUT));
    list[count++] = integer(n, ANEURALNETWORKS_PADDING_SAME);
    for (int i = 0; i < (depthwise ? 3 : 2); i++) list[count++] = integer(n, 1); /* strides, multiplier */
    list[count++] = integer(n, ANEURALNETWORKS_FUSED_NONE);
    list[count] = UINT32_MAX;
    operation(n, depthwise ? ANEURALNETWORKS_DEPTHWISE_CONV_2D : ANEURALNETWORKS_CONV_2D, list, LIST(y));
}

static struct nnvts_prepared_model *prepare_big(struct nnvts_device *device, struct big *b, bool quantised) {
    static const float scales[] = {100, 3000, 50000, 50000};
    const uint32_t element = quantised ? 1 : 4;
    uint32_t seed = 1;
    b->x_bytes = BIG * BIG * BIG_IN * element;
    b->y_bytes = BIG * BIG * BIG_OUT * element;
    for (uint32_t i = 0; i < BIG * BIG * BIG_IN; i++) {
        const float f = (float)next_random(&seed) * 0x1p-24f;
        if (quantised)
            b->x[i] = (uint8_t)next_random(&seed);
        else
            memcpy(b->x + 4 * i, &f, 4);
    }
    for (uint32_t i = 0; i < BIG_OUT * 9 * BIG_IN; i++) {
        const float f = (float)next_random(&seed) * 0x1p-23f - 1;
        if (quantised)
            b->weights[i] = (uint8_t)next_random(&seed);
        else
            memcpy(b->weights + 4 * i, &f, 4);
    }
    const struct nnvts_memory pool = {.prot = NNVTS_PROT_READ, .fd = -1, .size = sizeof b->weights, .data = b->weights};
    struct net n = {0};
    const uint32_t x = input(&n, quantised ? U8(0.5f, 120) : F32, DIMS(1, BIG, BIG, BIG_IN));
    uint32_t made[4];
    for (int i = 0; i < 4; i++) {
        const struct kind k = quantised ? U8(scales[i], 128) : F32;
        made[i] = i < 3 ? tensor(&n, NNVTS_TEMPORARY_VARIABLE, k, DIMS(1, BIG, BIG, BIG_OUT))
                        : output(&n, k, DIMS(1, BIG, BIG, BIG_OUT));
    }
    add_conv(&n, x, 3, BIG_IN, 0.5f, false, quantised, made[0]);
    add_conv(&n, made[0], 3, 1, scales[0], true, quantised, made[1]);
    add_conv(&n, made[1], 1, BIG_OUT, scales[1], false, quantised, made[2]);
    operation(&n, ANEURALNETWORKS_ADD, LIST(made[1], made[2], integer(&n, ANEURALNETWORKS_FUSED_NONE)), LIST(made[3]));
    n.model.pools = &pool;
    n.model.pool_count = 1;
    return prepare(device, &n);
}

static void run_big(const char *options, struct big *b, bool quantised) {
    struct nnvts_device *device = open_driver("cpu", options);
    struct nnvts_prepared_model *p = prepare_big(device, b, quantised);
    struct call c = {0};
    give(&c, b->x, b->x_bytes);
    take(&c, b->y, b->y_bytes);
    for (int i = 0; i < 3; i++) assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    p->release(p);
    device->release(device);
}

/** The number of threads changes nothing; neither does the instruction set for integers. */
static void test_threads_and_levels(void **state) {
    (void)state;
    static const char *const options[] = {"threads=2", "threads=3", "threads=5", "threads=64"};
    static struct big one, many;
    for (int quantised = 0; quantised < 2; quantised++) {
        run_big("threads=1", &one, quantised);
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            run_big(options[i], &many, quantised);
            assert_memory_equal(one.y, many.y, one.y_bytes);
        }
        run_big("isa=base", &many, quantised);
        if (quantised) {
            assert_memory_equal(one.y, many.y, one.y_bytes);
            continue;
        }
        for (size_t i = 0; i < BIG * BIG * BIG_OUT; i++) {
            float a, b;
            memcpy(&a, one.y + 4 * i, 4);
            memcpy(&b, many.y + 4 * i, 4);
            assert_true(fabsf(a - b) <= 0x1p-7f); /* values of some 60, made of 266 terms */
        }
    }
}

static void run_on(int processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

/** Where threads have one processor among them they do not wait for each other; a caller that moves is made way for. */
static void test_threads_on_few_processors(void **state) {
    (void)state;
    static struct big one, many;
    cpu_set_t all;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    run_big("threads=1", &one, true);
    struct nnvts_device *device = open_driver("cpu", "threads=2");
    struct nnvts_prepared_model *p = prepare_big(device, &many, true);
    struct call c = {0};
    give(&c, many.x, many.x_bytes);
    take(&c, many.y, many.y_bytes);
    for (int on = 0, moves = 0; on < CPU_SETSIZE && moves < 8; on++) {
        if (!CPU_ISSET(on, &all)) continue;
        run_on(on);
        for (int i = 0; i < 5; i++) {
            memset(many.y, 0xA5, many.y_bytes);
            assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
            assert_memory_equal(one.y, many.y, one.y_bytes);
        }
        static struct big here; /* opened here: threads have no other processor */
        run_big("threads=3", &here, true);
        assert_memory_equal(one.y, here.y, one.y_bytes);
        moves++;
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    p->release(p);
    device->release(device);
}

struct client {
    struct nnvts_prepared_model *prepared;
    const struct big *big;
    uint8_t *y;
    bool ok;
};

static void *run_client(void *arg) {
    struct client *t = arg;
    struct call c = {0};
    give(&c, t->big->x, t->big->x_bytes);
    take(&c, t->y, t->big->y_bytes);
    t->ok = true;
    for (int i = 0; i < 5; i++) t->ok = t->ok && execute(t->prepared, &c) == NNVTS_STATUS_NONE;
    return NULL;
}

static void test_concurrent_executions(void **state) {
    (void)state;
    enum { CLIENTS = 4 };
    static struct big big;
    static uint8_t y[CLIENTS][sizeof big.y];
    struct nnvts_prepared_model *p = prepare_big(cpu, &big, true);
    struct client clients[CLIENTS];
    pthread_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){p, &big, y[i], false};
        assert_int_equal(pthread_create(&threads[i], NULL, run_client, &clients[i]), 0);
    }
    for (int i = 0; i < CLIENTS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < CLIENTS; i++) {
        assert_true(clients[i].ok);
        assert_memory_equal(y[i], y[0], big.y_bytes);
    }
    p->release(p);
}

static void test_deadlines_and_timing(void **state) {
    (void)state;
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(2));
    const float in[] = {-1, 1};
    float out[2];
    struct call c = {0};
    give(&c, in, sizeof in);
    take(&c, out, sizeof out);
    struct nnvts_execution_config config = plain;
    config.deadline_ns = now_ns();
    assert_int_equal(p->execute(p, ready(&c), &config, &c.result), NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT);
    assert_int_equal(c.result.shape_count, 0);
    config = (struct nnvts_execution_config){now_ns() + 10000000000u, NNVTS_NO_TIME, true};
    const uint64_t start = now_ns();
    assert_int_equal(p->execute(p, ready(&c), &config, &c.result), NNVTS_STATUS_NONE);
    const uint64_t wall = now_ns() - start;
    assert_true(c.result.timing.on_device_ns <= c.result.timing.in_driver_ns && c.result.timing.in_driver_ns <= wall);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_true(c.result.timing.in_driver_ns == NNVTS_NO_TIME && c.result.timing.on_device_ns == NNVTS_NO_TIME);
    p->release(p);
}

struct answer {
    pthread_mutex_t lock;
    pthread_cond_t came;
    int count;
    enum nnvts_status status;
    uint32_t extent;
};

static void on_done(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    struct answer *a = context;
    pthread_mutex_lock(&a->lock);
    a->count++;
    a->status = status;
    a->extent = result->shape_count == 1 ? result->shapes[0].dimensions[0] : 0;
    pthread_cond_signal(&a->came);
    pthread_mutex_unlock(&a->lock);
}

static void test_async(void **state) {
    (void)state;
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(2));
    const float in[] = {-1, 1}, expected[] = {0, 1};
    struct answer a = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
    for (int i = 1; i <= 3; i++) {
        float out[2] = {9, 9};
        struct call c = {0};
        give(&c, in, sizeof in);
        take(&c, out, sizeof out);
        assert_int_equal(p->execute_async(p, ready(&c), &plain, on_done, &a), NNVTS_STATUS_NONE);
        pthread_mutex_lock(&a.lock);
        while (a.count < i) pthread_cond_wait(&a.came, &a.lock);
        pthread_mutex_unlock(&a.lock);
        assert_int_equal(a.status, NNVTS_STATUS_NONE);
        assert_int_equal(a.extent, 2);
        assert_floats(out, expected, 2, 0);
    }
    struct call c = {0};
    give(&c, in, sizeof in); /* no output: refused at once, and never called back */
    assert_int_equal(p->execute_async(p, ready(&c), &plain, on_done, &a), NNVTS_STATUS_INVALID_ARGUMENT);
    p->release(p);
    assert_int_equal(a.count, 3);
}

static bool signalled(int fd) { return poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0) == 1; }

static void test_fenced(void **state) {
    (void)state;
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(2));
    const float in[] = {-1, 1}, expected[] = {0, 1};
    float out[2] = {9, 9};
    struct call c = {0};
    give(&c, in, sizeof in);
    take(&c, out, sizeof out);
    const int wait[] = {eventfd(0, EFD_CLOEXEC), eventfd(1, EFD_CLOEXEC)};
    const struct nnvts_execution_config timed = {NNVTS_NO_TIME, NNVTS_NO_TIME, true};
    struct nnvts_fenced_execution f = {0};
    assert_int_equal(p->execute_fenced(p, ready(&c), wait, 2, &timed, NNVTS_NO_TIME, &f), NNVTS_STATUS_NONE);
    assert_true(f.sync_fence >= 0);
    usleep(20000);
    assert_false(signalled(f.sync_fence)); /* still waits */
    assert_int_equal(eventfd_write(wait[0], 1), 0);
    struct nnvts_fenced_result result;
    assert_int_equal(f.get_result(f.context, &result), NNVTS_STATUS_NONE);
    assert_true(signalled(f.sync_fence));
    assert_int_equal(result.status, NNVTS_STATUS_NONE);
    assert_true(result.launched.in_driver_ns >= 20000000 && result.fenced.in_driver_ns < result.launched.in_driver_ns);
    assert_floats(out, expected, 2, 0);
    f.release(f.context);

    const int bad[] = {-1};
    assert_int_equal(p->execute_fenced(p, ready(&c), bad, 1, &plain, NNVTS_NO_TIME, &f), NNVTS_STATUS_INVALID_ARGUMENT);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(p->execute_fenced(p, ready(&c), &ends[1], 1, &plain, NNVTS_NO_TIME, &f), NNVTS_STATUS_NONE);
    close(ends[0]); /* the writing end of a pipe without reader reports an error */
    assert_int_equal(f.get_result(f.context, &result), NNVTS_STATUS_NONE);
    assert_int_equal(result.status, NNVTS_STATUS_GENERAL_FAILURE);
    f.release(f.context);
    close(ends[1]);
    close(wait[0]);
    close(wait[1]);
    p->release(p);

    p = prepare_relu(F32, DIMS(0));
    const uint32_t dims[] = {2};
    c.in[0].dimension_count = 1;
    c.in[0].dimensions = dims;
    assert_int_equal(p->execute_fenced(p, ready(&c), NULL, 0, &plain, NNVTS_NO_TIME, &f),
                     NNVTS_STATUS_INVALID_ARGUMENT);
    p->release(p);
}

static atomic_int interrupted;

static void on_signal(int number) {
    (void)number;
    atomic_fetch_add(&interrupted, 1);
}

/** The thread does not block the signal, as a sanitizer's own do. */
static bool takes_signal(pid_t thread, int number) {
    char path[64], line[128];
    unsigned long long blocked = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)thread);
    FILE *status = fopen(path, "r");
    if (!status) return false; /* it has ended */
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "SigBlk: %llx", &blocked) == 1) break;
    fclose(status);
    return !(blocked >> (number - 1) & 1);
}

/** Sends the signal to every thread but the caller's that takes it; how many there are. */
static int interrupt_others(int number) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    assert_non_null(tasks);
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0 && thread != gettid() && takes_signal(thread, number))
            count += tgkill(getpid(), thread, number) == 0;
    }
    closedir(tasks);
    return count;
}

/** A signal in the thread that waits for a fence changes nothing: it goes on to wait, and then to compute. */
static void test_fenced_interrupted(void **state) {
    (void)state;
    if (in_emulator()) skip(); /* a thread of its own takes no signals */
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(2));
    const float in[] = {-1, 1}, expected[] = {0, 1};
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    const struct nnvts_execution_config limited = {now_ns() + 5000000000u, NNVTS_NO_TIME, false};
    struct sigaction before;
    float out[2] = {9, 9};
    struct call c = {0};
    give(&c, in, sizeof in);
    take(&c, out, sizeof out);
    const int wait = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    for (int i = 0; i < 2; i++) { /* without a deadline, and with one */
        struct nnvts_fenced_execution f = {0};
        struct nnvts_fenced_result result;
        assert_int_equal(p->execute_fenced(p, ready(&c), &wait, 1, i ? &limited : &plain, NNVTS_NO_TIME, &f),
                         NNVTS_STATUS_NONE);
        await_others_asleep();
        atomic_store(&interrupted, 0);
        const int sent = interrupt_others(SIGUSR1);
        while (atomic_load(&interrupted) < sent) usleep(1000);
        await_others_asleep();
        assert_false(signalled(f.sync_fence));
        assert_int_equal(eventfd_write(wait, 1), 0);
        assert_int_equal(f.get_result(f.context, &result), NNVTS_STATUS_NONE);
        assert_int_equal(result.status, NNVTS_STATUS_NONE);
        assert_floats(out, expected, 2, 0);
        f.release(f.context);
        eventfd_t value;
        assert_int_equal(eventfd_read(wait, &value), 0);
    }
    sigaction(SIGUSR1, &before, NULL);
    close(wait);
    p->release(p);
}

/** An output that could be inferred, but that neither model nor request state, is refused; by extents or by rank. */
static void test_fenced_open(void **state) {
    (void)state;
    const float x[] = {-1, 2};
    const uint32_t dims[] = {2}, unknown[] = {0};
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct net n = {0};
        const uint32_t in = input(&n, F32, DIMS(2)), out = output(&n, F32, rank, unknown);
        operation(&n, ANEURALNETWORKS_RELU, LIST(in), LIST(out));
        struct nnvts_prepared_model *p = prepare(cpu, &n);
        struct call c = {0};
        struct nnvts_fenced_execution f = {0};
        struct nnvts_fenced_result result;
        float y[] = {7, 7};
        give(&c, x, sizeof x);
        take(&c, y, sizeof y);
        assert_int_equal(p->execute_fenced(p, ready(&c), NULL, 0, &plain, NNVTS_NO_TIME, &f),
                         NNVTS_STATUS_INVALID_ARGUMENT);
        c.out[0].dimension_count = 1;
        c.out[0].dimensions = dims;
        assert_int_equal(p->execute_fenced(p, ready(&c), NULL, 0, &plain, NNVTS_NO_TIME, &f), NNVTS_STATUS_NONE);
        assert_int_equal(f.get_result(f.context, &result), NNVTS_STATUS_NONE);
        assert_int_equal(result.status, NNVTS_STATUS_NONE);
        f.release(f.context);
        assert_true(y[0] == 0 && y[1] == 2);
        p->release(p);
    }
}

static void test_burst_and_reuse(void **state) {
    (void)state;
    struct nnvts_prepared_model *p = prepare_relu(F32, DIMS(2));
    float in[] = {-1, 1}, out[2];
    const float expected[] = {0, 1}, again[] = {5, 0};
    struct nnvts_burst *burst = NULL;
    assert_int_equal(p->create_burst(p, &burst), NNVTS_STATUS_NONE);
    struct call c = {0};
    give(&c, NULL, sizeof in);
    take(&c, out, sizeof out);
    c.pools[0] = shared(in, sizeof in, 0, NNVTS_PROT_READ);
    const int64_t tokens[] = {4, -1}, bad[] = {-2, -1};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(burst->execute(burst, ready(&c), tokens, &plain, &c.result), NNVTS_STATUS_NONE);
        assert_floats(out, expected, 2, 0);
    }
    assert_int_equal(burst->execute(burst, ready(&c), bad, &plain, &c.result), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_int_equal(burst->release_memory(burst, 4), NNVTS_STATUS_NONE);
    assert_int_equal(burst->release_memory(burst, 4), NNVTS_STATUS_NONE);
    assert_int_equal(burst->release_memory(burst, -1), NNVTS_STATUS_INVALID_ARGUMENT);
    close(c.pools[0].fd);

    struct call d = {0};
    struct nnvts_execution *execution = NULL;
    give(&d, in, sizeof in);
    take(&d, out, sizeof out);
    assert_int_equal(p->create_execution(p, ready(&d), &plain, &execution), NNVTS_STATUS_NONE);
    assert_int_equal(execution->execute(execution, NNVTS_NO_TIME, &d.result), NNVTS_STATUS_NONE);
    assert_floats(out, expected, 2, 0);
    in[0] = 5, in[1] = -5; /* bound once, read each time */
    ready(&d);
    assert_int_equal(execution->execute(execution, NNVTS_NO_TIME, &d.result), NNVTS_STATUS_NONE);
    assert_floats(out, again, 2, 0);
    assert_int_equal(execution->execute(execution, now_ns(), &d.result), NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT);
    execution->release(execution);
    p->release(p);
    burst->release(burst); /* may outlive the prepared model */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_constants_in_pool),
#ifndef MEMORY_IS_COPIED
        cmocka_unit_test(test_overlapping_output),
#endif
        cmocka_unit_test(test_threads_and_levels),
        cmocka_unit_test(test_threads_on_few_processors),
        cmocka_unit_test(test_concurrent_executions),
        cmocka_unit_test(test_deadlines_and_timing),
        cmocka_unit_test(test_async),
        cmocka_unit_test(test_fenced),
        cmocka_unit_test(test_fenced_interrupted),
        cmocka_unit_test(test_fenced_open),
        cmocka_unit_test(test_burst_and_reuse),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
