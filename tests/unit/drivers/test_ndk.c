/* SPDX-License-Identifier: Apache-2.0 */
/** The driver "ndk": a tiny library of tests (tests/nnapi/toy.c) in all ways to execute, and the lies that it tells. */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/kit/driver.h"

/* ------------------------------------------------------------------- the library */

static const char *toy(const char *file, const char *device) {
    static char path[4096];
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    snprintf(path, sizeof path, "%s/../tests/%s%s", folder ? folder : "build/drivers", file, device);
    return path;
}

/** Objects of the library that nobody has freed. */
static int objects(void) {
    void *handle = dlopen(toy("toy.so", ""), RTLD_NOW | RTLD_LOCAL);
    int (*count)(void);
    assert_non_null(handle);
    void *symbol = dlsym(handle, "toy_objects");
    memcpy(&count, &symbol, sizeof count);
    const int n = count();
    dlclose(handle);
    return n;
}

static int no_lies(void **state) {
    (void)state;
    unsetenv("TOY_LIE");
    return 0;
}
static void lie(const char *name) { setenv("TOY_LIE", name, 1); }

static struct nnvts_device *open_toy(const char *device) { return open_driver("ndk", toy("toy.so", device)); }

/* ---------------------------------------------------------------------- a model */

enum { N = 40 }; /* more bytes than a library copies at once */
static float constants[N], x[N], sums[N];

static void fill(void) {
    for (int i = 0; i < N; i++) {
        constants[i] = (float)i;
        x[i] = (float)(100 * i);
        sums[i] = (float)(101 * i);
    }
}

/** y = x + constants; the constants as CONSTANT_COPY, or in a pool. */
static void make_add(struct net *n, struct nnvts_memory *pool) {
    const uint32_t in = input(n, F32, DIMS(N));
    const uint32_t c = constant(n, F32, constants, sizeof constants, DIMS(N));
    const uint32_t none = integer(n, ANEURALNETWORKS_FUSED_NONE), out = output(n, F32, DIMS(N));
    operation(n, ANEURALNETWORKS_ADD, LIST(in, c, none), LIST(out));
    if (!pool) return;
    n->operands[c].lifetime = NNVTS_CONSTANT_REFERENCE;
    n->operands[c].location = (struct nnvts_location){.length = sizeof constants};
    n->model.pools = pool;
    n->model.pool_count = 1;
}

static struct nnvts_prepared_model *prepare_add(struct nnvts_device *device) {
    struct net n = {0};
    fill();
    make_add(&n, NULL);
    return prepare(device, &n);
}

static enum nnvts_status try_prepare(struct nnvts_device *device, struct nnvts_prepared_model **out) {
    struct net n = {0};
    make_add(&n, NULL);
    *out = NULL;
    return device->prepare_model(device, finish(&n), &prepare_config, out);
}

static void check_sums(const float *y) { assert_floats(y, sums, N, 0); }

/** The same request in memory that has a pointer, and in files. */
static void check_executes(struct nnvts_prepared_model *p) {
    float y[N] = {0};
    struct call c = {0};
    give(&c, x, sizeof x);
    take(&c, y, sizeof y);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    check_sums(y);
    assert_int_equal(c.result.shape_count, 1);
    assert_true(c.shapes[0].is_sufficient);
    assert_int_equal(c.shapes[0].dimension_count, 1);
    assert_int_equal(c.dims[0][0], N);
    struct nnvts_memory files[2] = {shared(x, sizeof x, 0, NNVTS_PROT_READ),
                                    shared(NULL, sizeof y, 4096, NNVTS_PROT_READ | NNVTS_PROT_WRITE)};
    memcpy(c.pools, files, sizeof files);
    memset(y, 0, sizeof y);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_int_equal(pread(files[1].fd, y, sizeof y, 4096), (ssize_t)sizeof y);
    check_sums(y);
    close(files[0].fd);
    close(files[1].fd);
}

/* ------------------------------------------------------------------------ devices */

static void test_devices(void **state) {
    (void)state;
    struct nnvts_device *own = open_toy(""), *a = open_toy("#toy-a"), *b = open_toy("#toy-b");
    assert_string_equal(own->name, "toy.so");
    assert_string_equal(own->version, "toy-a toy-1 + toy-b toy-1");
    assert_int_equal(own->feature_level, 7);
    assert_string_equal(a->name, "toy-a");
    assert_string_equal(a->version, "toy-1");
    assert_int_equal(a->feature_level, 5);
    assert_int_equal(a->type, ANEURALNETWORKS_DEVICE_ACCELERATOR);
    assert_int_equal(b->feature_level, 3);
    assert_int_equal(b->type, ANEURALNETWORKS_DEVICE_GPU);
    assert_int_equal(a->capabilities.operand_performance_count, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED + 1);
    assert_true(a->capabilities.operand_performance[3].info.exec_time == 1.0f);
    assert_int_equal(a->get_status(a), NNVTS_DEVICE_AVAILABLE);
    /* Several devices may share the work: what one of them could not do, the others do not know. */
    assert_true(own->limits & NNVTS_LIMIT_PARTIAL_SHAPES);
    assert_int_equal(a->limits, own->limits & ~(uint32_t)NNVTS_LIMIT_PARTIAL_SHAPES);
    assert_true(a->limits & NNVTS_LIMIT_NO_EMPTY_INPUTS);
    char through[5000];
    snprintf(through, sizeof through, "ndk:%s", toy("toy.so", ""));
    struct nnvts_device *hosted = open_driver("host", through);
    assert_int_equal(hosted->limits, own->limits);
    hosted->release(hosted);
    own->release(own);
    a->release(a);
    b->release(b);
}

static void check_refused_by(const char *driver, const char *options, const char *reason) {
    struct nnvts_device *device = NULL;
    const char *error = NULL;
    assert_int_equal(load(driver)->open(options, &device, &error), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_null(device);
    assert_non_null(error);
    if (!strstr(error, reason)) fail_msg("'%s', expected '%s'", error, reason);
    assert_null(strchr(error, '\n'));
    /* The text is static: another one does not change it. */
    char before[1024];
    const char *other = NULL;
    snprintf(before, sizeof before, "%s", error);
    assert_int_equal(load(driver)->open("./another.so", &device, &other), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_string_equal(error, before);
}

static void check_refused(const char *options, const char *reason) { check_refused_by("ndk", options, reason); }

static void test_refused(void **state) {
    (void)state;
    check_refused(NULL, "path");
    check_refused("#toy-a", "path");
    check_refused("./none.so", "no such file");
    check_refused("./none.so#x", "no such file");
    check_refused(toy("test_ndk", ""), "can't be loaded");
    check_refused(toy("../drivers/cpu.so", ""), "is not an NNAPI library");
    check_refused(toy("toy.so", "#toy-c"), "no device 'toy-c'; its devices: toy-a, toy-b");
    check_refused(toy("toy_old.so", "#toy-a"), "no devices to choose from");
    lie("level-nonsense");
    check_refused(toy("toy.so", ""), "feature level is 4");
    lie("name-nothing");
    check_refused(toy("toy.so", "#toy-a"), "its devices: none");
    lie("device-nothing");
    check_refused(toy("toy.so", "#toy-a"), "its devices: none");
    lie("devices-billions"); /* does not take for ever */
    check_refused(toy("toy.so", "#toy-c"), "its devices: toy-a, toy-b");
}

/** A Support Library has no choice of its own, and tells more of its devices. */
static void test_table(void **state) {
    (void)state;
    const int before = objects();
    fill();
    struct nnvts_device *d = open_driver("sl", toy("toy.so", "")), *b = open_driver("sl", toy("toy.so", "#toy-b"));
    assert_string_equal(d->name, "toy-a");
    assert_string_equal(b->name, "toy-b");
    const struct nnvts_capabilities *c = &d->capabilities;
    assert_true(c->relaxed_tensor.exec_time == 2 && c->relaxed_tensor.power_usage == 11);
    assert_true(c->while_performance.power_usage == 13);
    assert_int_equal(c->operand_performance_count, 2); /* sorted, as drivers owe it */
    assert_int_equal(c->operand_performance[0].type, ANEURALNETWORKS_TENSOR_FLOAT32);
    assert_true(c->operand_performance[1].info.exec_time == 5);
    assert_int_equal(d->extension_count, 1);
    assert_string_equal(d->extensions[0].name, "toy.extension");
    assert_int_equal(d->extensions[0].operand_type_count, 2);
    assert_int_equal(d->extensions[0].operand_types[0].type, 1);
    assert_false(d->extensions[0].operand_types[0].is_tensor);
    assert_int_equal(d->extensions[0].operand_types[1].byte_size, 8);
    assert_int_equal(b->extension_count, 0);
    struct nnvts_prepared_model *p = prepare_add(d);
    assert_null(p->execute_async);
    assert_non_null(p->execute_fenced);
    check_executes(p);
    p->release(p);
    d->release(d);
    b->release(b);
    assert_int_equal(objects(), before);
}

static void test_lies_of_tables(void **state) {
    (void)state;
    check_refused_by("sl", toy("toy_old.so", ""), "is not a Support Library");
    check_refused_by("sl", toy("toy.so", "#toy-c"), "no device 'toy-c'; its devices: toy-a, toy-b");
    lie("table-nothing");
    check_refused_by("sl", toy("toy.so", ""), "returned NULL");
    lie("table-level");
    check_refused_by("sl", toy("toy.so", ""), "feature level 30");
    lie("table-holes");
    check_refused_by("sl", toy("toy.so", ""), "no ANeuralNetworksModel_addOperand");
    lie("performance-fails");
    struct nnvts_device *d = open_driver("sl", toy("toy.so", ""));
    assert_true(d->capabilities.relaxed_tensor.exec_time == 1);
    assert_int_equal(d->capabilities.operand_performance_count, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED + 1);
    d->release(d);
    lie("extensions-billions");
    d = open_driver("sl", toy("toy.so", ""));
    assert_int_equal(d->extension_count, 1); /* those that have a name */
    d->release(d);
}

/* ------------------------------------------------------------- models, executions */

static void test_executes(void **state) {
    (void)state;
    static const char *const devices[] = {"", "#toy-a"};
    const int before = objects();
    fill();
    for (int i = 0; i < 2; i++) {
        struct nnvts_device *d = open_toy(devices[i]);
        struct nnvts_prepared_model *p = prepare_add(d);
        check_executes(p);
        check_executes(p);
        p->release(p);
        struct net n = {0};
        struct nnvts_memory pool = shared(constants, sizeof constants, 0, NNVTS_PROT_READ);
        make_add(&n, &pool);
        p = prepare(d, &n);
        static const float nothing[N];
        assert_int_equal(pwrite(pool.fd, nothing, sizeof nothing, 0), (ssize_t)sizeof nothing);
        close(pool.fd);
        check_executes(p);
        p->release(p);
        d->release(d);
    }
    assert_int_equal(objects(), before);
}

/** What has only the functions of level 1. */
static void test_old_library(void **state) {
    (void)state;
    struct nnvts_device *d = open_driver("ndk", toy("toy_old.so", ""));
    assert_int_equal(d->feature_level, 1);
    assert_null(d->allocate);
    struct nnvts_prepared_model *p = prepare_add(d);
    assert_null(p->execute_fenced);
    assert_null(p->create_burst);
    assert_null(p->create_execution);
    float y[N] = {0};
    struct call c = {0};
    give(&c, x, sizeof x);
    take(&c, y, sizeof y);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_int_equal(c.result.shape_count, 0); /* it can't tell */
    check_sums(y);
    p->release(p);
    d->release(d);
}

static void test_unsupported(void **state) {
    (void)state;
    struct nnvts_device *d = open_toy("#toy-a");
    struct net n = {0};
    struct nnvts_prepared_model *p = NULL;
    bool supported = true;
    const uint32_t in = input(&n, F32, DIMS(3)), out = output(&n, F32, DIMS(3));
    operation(&n, ANEURALNETWORKS_TANH, LIST(in), LIST(out));
    assert_int_equal(d->get_supported_operations(d, finish(&n), &supported), NNVTS_STATUS_NONE);
    assert_false(supported);
    assert_int_equal(d->prepare_model(d, &n.model, &prepare_config, &p), NNVTS_STATUS_GENERAL_FAILURE);
    assert_null(p);
    d->release(d);
}

/** What the NDK has no words for is refused before the library is asked; so are broken arrays. */
static void test_malformed(void **state) {
    (void)state;
    struct nnvts_device *d = open_toy("#toy-a");
    for (int i = 0; i < 12; i++) {
        struct net n = {0};
        struct nnvts_prepared_model *p = NULL;
        bool supported = false;
        fill();
        make_add(&n, NULL);
        finish(&n);
        switch (i) {
        case 0:
            n.inputs[0][1] = 4;
            break; /* no such operand */
        case 1:
            n.inputs[0][1] = 3;
            break; /* read before it is written */
        case 2:
            n.operands[3].lifetime = NNVTS_TEMPORARY_VARIABLE;
            break; /* an output that is none */
        case 3:
            n.operands[0].lifetime = NNVTS_NO_VALUE;
            break; /* an input that is none */
        case 4:
            n.operands[1].location.length = ROOM;
            break; /* behind the values */
        case 5:
            n.operands[1].lifetime = NNVTS_CONSTANT_REFERENCE;
            break; /* no such pool */
        case 6:
            n.operands[0].lifetime = 7;
            break; /* no such lifetime */
        case 7:
            n.operands[1].lifetime = NNVTS_SUBGRAPH;
            break; /* no such subgraph */
        case 8:
            n.operands[0].type = 1 << 16;
            break; /* no such extension */
        case 9:
            n.operands[0].dimensions = NULL;
            break;
        case 10:
            n.model.main.outputs = NULL;
            break;
        case 11:
            n.ends_in[1] = 0, n.model.main.input_count = 2;
            break; /* an input twice */
        default:
            break;
        }
        const enum nnvts_status asked = d->get_supported_operations(d, &n.model, &supported);
        const enum nnvts_status st = d->prepare_model(d, &n.model, &prepare_config, &p);
        if (asked != NNVTS_STATUS_INVALID_ARGUMENT || st != asked) fail_msg("model %d: %d, %d", i, asked, st);
    }
    d->release(d);
}

/** A model that refers to itself. */
static void test_circle(void **state) {
    (void)state;
    struct nnvts_device *d = open_toy("");
    struct net n = {0};
    struct nnvts_prepared_model *p = NULL;
    make_add(&n, NULL);
    finish(&n);
    struct nnvts_subgraph again = n.model.main;
    n.operands[1].lifetime = NNVTS_SUBGRAPH;
    n.operands[1].location = (struct nnvts_location){0};
    n.model.referenced = &again;
    n.model.referenced_count = 1;
    assert_int_equal(d->prepare_model(d, &n.model, &prepare_config, &p), NNVTS_STATUS_INVALID_ARGUMENT);
    d->release(d);
}

static void test_bad_requests(void **state) {
    (void)state;
    struct nnvts_device *d = open_toy("#toy-a");
    struct nnvts_prepared_model *p = prepare_add(d);
    for (int i = 0; i < 9; i++) {
        float y[N] = {0};
        struct call c = {0};
        give(&c, x, sizeof x);
        take(&c, y, sizeof y);
        struct nnvts_memory file = shared(x, sizeof x, 0, NNVTS_PROT_READ);
        switch (i) {
        case 0:
            c.in[0].location.pool = 2;
            break;
        case 1:
            c.in[0].location.offset = 4;
            break; /* behind the end */
        case 2:
            c.in[0].location.length = sizeof x - 4;
            break; /* the library's to refuse */
        case 3:
            c.pools[1].prot = NNVTS_PROT_READ;
            break; /* an output that can't be written */
        case 4:
            c.in[0].has_no_value = true;
            break; /* and a value */
        case 5:
            c.pools[0].data = NULL;
            break; /* neither pointer nor file */
        case 6:
            c.pools[0] = file, c.pools[0].size = 2 * sizeof x;
            break; /* a file that is too short */
        case 7:
            c.pools[0].kind = NNVTS_MEMORY_DEVICE, c.pools[0].token = 5;
            break; /* no such buffer */
        case 8:
            c.request.input_count = 0;
            break;
        default:
            break;
        }
        const enum nnvts_status st = execute(p, &c);
        if (st != NNVTS_STATUS_INVALID_ARGUMENT || c.result.shape_count) fail_msg("request %d: %d", i, st);
        close(file.fd);
    }
    check_executes(p);
    p->release(p);
    d->release(d);
}

static void test_small_output(void **state) {
    (void)state;
    struct nnvts_device *d = open_toy("#toy-a");
    struct nnvts_prepared_model *p = prepare_add(d);
    float y[2 * N] = {0};
    struct call c = {0};
    give(&c, x, sizeof x);
    take(&c, y, sizeof x - 4);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE);
    assert_int_equal(c.result.shape_count, 1);
    assert_false(c.shapes[0].is_sufficient);
    assert_int_equal(c.dims[0][0], N);
    /* More room than is needed is the caller's right. */
    struct call wide = {0};
    give(&wide, x, sizeof x);
    take(&wide, y, sizeof y);
    assert_int_equal(execute(p, &wide), NNVTS_STATUS_NONE);
    check_sums(y);
    assert_true(y[N] == 0);
    p->release(p);
    d->release(d);
}

/* An output whose size the model tells has no room: that is known before anything runs, in every way to execute. */
static void test_no_room(void **state) {
    (void)state;
    const int before = objects();
    struct nnvts_device *d = open_toy("#toy-a");
    struct nnvts_prepared_model *p = prepare_add(d);
    struct nnvts_fenced_execution f = {.sync_fence = -1};
    float y[N] = {0};
    struct call c = {0};
    give(&c, x, sizeof x);
    take(&c, y, sizeof y);
    c.out[0].location.length = 0;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_int_equal(p->execute_fenced(p, ready(&c), NULL, 0, &plain, NNVTS_NO_TIME, &f),
                     NNVTS_STATUS_INVALID_ARGUMENT);
    assert_null(f.release);
    p->release(p);
    d->release(d);
    assert_int_equal(objects(), before);
}

/* An output that turns out to be empty needs no room, but a pool that can be mapped. */
static void test_empty_output(void **state) {
    (void)state;
    const int before = objects();
    struct nnvts_device *d = open_toy("#toy-a");
    struct net n = {0};
    fill();
    make_add(&n, NULL);
    n.dims[n.ends_out[0]][0] = 0;
    struct nnvts_prepared_model *p = prepare(d, &n);
    struct nnvts_memory whole = shared(NULL, 64, 0, NNVTS_PROT_READ | NNVTS_PROT_WRITE);
    const struct {
        struct nnvts_memory pool;
        enum nnvts_status status;
    } rows[] = {
        {whole, NNVTS_STATUS_NONE},
        {{.prot = whole.prot, .fd = -1, .size = 64}, NNVTS_STATUS_INVALID_ARGUMENT},
        {{.prot = whole.prot, .fd = whole.fd, .size = 32, .offset = 1}, NNVTS_STATUS_INVALID_ARGUMENT},
        {{.prot = whole.prot, .fd = whole.fd, .size = 64, .offset = 4096}, NNVTS_STATUS_INVALID_ARGUMENT},
        {{.prot = whole.prot, .fd = -1}, NNVTS_STATUS_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct call c = {0};
        give(&c, x, sizeof x);
        take(&c, NULL, 0);
        c.pools[1] = rows[i].pool;
        const enum nnvts_status st = execute(p, &c);
        if (st != rows[i].status) fail_msg("pool %zu: %d", i, st);
        if (st == NNVTS_STATUS_NONE) assert_true(c.shapes[0].is_sufficient && c.dims[0][0] == 0);
    }
    close(whole.fd);
    p->release(p);
    d->release(d);
    assert_int_equal(objects(), before);
}

static void test_timing(void **state) {
    (void)state;
    static const char *const devices[] = {"#toy-a", ""};
    static const uint64_t on_device[] = {10, NNVTS_NO_TIME}, in_driver[] = {11, NNVTS_NO_TIME};
    for (int i = 0; i < 2; i++) { /* only one device that was named can be measured */
        struct nnvts_device *d = open_toy(devices[i]);
        struct nnvts_prepared_model *p = prepare_add(d);
        const struct nnvts_execution_config config = {NNVTS_NO_TIME, NNVTS_NO_TIME, true};
        float y[N] = {0};
        struct call c = {0};
        give(&c, x, sizeof x);
        take(&c, y, sizeof y);
        assert_int_equal(p->execute(p, ready(&c), &config, &c.result), NNVTS_STATUS_NONE);
        assert_true(c.result.timing.on_device_ns == on_device[i]);
        assert_true(c.result.timing.in_driver_ns == in_driver[i]);
        lie("duration-fails");
        assert_int_equal(p->execute(p, ready(&c), &config, &c.result), NNVTS_STATUS_NONE);
        assert_true(c.result.timing.on_device_ns == NNVTS_NO_TIME);
        unsetenv("TOY_LIE");
        p->release(p);
        d->release(d);
    }
}

/* -------------------------------------------------------------- ways to execute */

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
    const int before = objects();
    struct nnvts_device *d = open_toy("");
    struct nnvts_prepared_model *p = prepare_add(d);
    float y[N] = {0};
    struct call c = {0};
    give(&c, x, sizeof x);
    take(&c, y, sizeof y);
    assert_int_equal(p->execute_async(p, ready(&c), &plain, callback, NULL), NNVTS_STATUS_NONE);
    pthread_mutex_lock(&mailbox.lock);
    while (!mailbox.calls) pthread_cond_wait(&mailbox.called, &mailbox.lock);
    pthread_mutex_unlock(&mailbox.lock);
    assert_int_equal(mailbox.status, NNVTS_STATUS_NONE);
    assert_int_equal(mailbox.shapes, 1);
    assert_int_equal(mailbox.extent, N);
    check_sums(y);
    lie("event-nothing");
    assert_int_equal(p->execute_async(p, ready(&c), &plain, callback, NULL), NNVTS_STATUS_GENERAL_FAILURE);
    assert_int_equal(mailbox.calls, 1);
    unsetenv("TOY_LIE");
    p->release(p);
    d->release(d);
    assert_int_equal(objects(), before);
}

static void check_fenced(struct nnvts_prepared_model *p) {
    float y[N] = {0};
    struct call c = {0};
    const uint64_t one = 1;
    give(&c, x, sizeof x);
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
    check_sums(y);
    f.release(f.context);
    close(fence);
}

static void test_fenced(void **state) {
    (void)state;
    static const char *const lies[] = {"", "no-fence", "fence-nonsense"};
    const int before = objects();
    struct nnvts_device *d = open_toy("#toy-a");
    struct nnvts_prepared_model *p = prepare_add(d);
    for (int i = 0; i < 3; i++) {
        lie(lies[i]);
        check_fenced(p);
    }
    const int bad = -1;
    struct nnvts_fenced_execution f = {.sync_fence = -1};
    float y[N];
    struct call c = {0};
    give(&c, x, sizeof x);
    take(&c, y, sizeof y);
    assert_int_equal(p->execute_fenced(p, ready(&c), &bad, 1, &plain, NNVTS_NO_TIME, &f),
                     NNVTS_STATUS_INVALID_ARGUMENT);
    p->release(p);
    d->release(d);
    assert_int_equal(objects(), before);
}

static void test_burst(void **state) {
    (void)state;
    const int before = objects();
    struct nnvts_device *d = open_toy("#toy-a");
    struct nnvts_prepared_model *p = prepare_add(d);
    struct nnvts_burst *burst = NULL;
    assert_int_equal(p->create_burst(p, &burst), NNVTS_STATUS_NONE);
    p->release(p); /* a burst outlives what it was made from */
    struct call c = {0};
    give(&c, x, sizeof x);
    take(&c, NULL, sizeof x);
    struct nnvts_memory files[2] = {shared(x, sizeof x, 0, NNVTS_PROT_READ),
                                    shared(NULL, sizeof x, 0, NNVTS_PROT_READ | NNVTS_PROT_WRITE)};
    memcpy(c.pools, files, sizeof files);
    static const int64_t tokens[] = {7, -1};
    const int idle = objects();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(burst->execute(burst, ready(&c), tokens, &plain, &c.result), NNVTS_STATUS_NONE);
        assert_int_equal(objects(), idle + 1); /* the memory of token 7 is kept */
    }
    float y[N] = {0};
    assert_int_equal(pread(files[1].fd, y, sizeof y, 0), (ssize_t)sizeof y);
    check_sums(y);
    assert_int_equal(burst->release_memory(burst, 8), NNVTS_STATUS_NONE);
    assert_int_equal(objects(), idle + 1);
    assert_int_equal(burst->release_memory(burst, 7), NNVTS_STATUS_NONE);
    assert_int_equal(objects(), idle);
    assert_int_equal(burst->release_memory(burst, -1), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_int_equal(burst->execute(burst, ready(&c), NULL, &plain, &c.result), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_int_equal(burst->execute(burst, ready(&c), tokens, &plain, &c.result), NNVTS_STATUS_NONE);
    burst->release(burst);
    d->release(d);
    assert_int_equal(objects(), before);
    close(files[0].fd);
    close(files[1].fd);
}

static void test_reusable(void **state) {
    (void)state;
    const int before = objects();
    struct nnvts_device *d = open_toy("#toy-a");
    struct nnvts_prepared_model *p = prepare_add(d);
    struct nnvts_execution *e = NULL;
    float y[N];
    struct call c = {0};
    give(&c, x, sizeof x);
    take(&c, y, sizeof y);
    assert_int_equal(p->create_execution(p, ready(&c), &plain, &e), NNVTS_STATUS_NONE);
    for (int i = 0; i < 3; i++) {
        memset(y, 0, sizeof y);
        ready(&c);
        assert_int_equal(e->execute(e, NNVTS_NO_TIME, &c.result), NNVTS_STATUS_NONE);
        assert_int_equal(c.result.shape_count, 1);
        check_sums(y);
    }
    e->release(e);
    p->release(p);
    d->release(d);
    assert_int_equal(objects(), before);
}

static void test_device_memory(void **state) {
    (void)state;
    const int before = objects();
    struct nnvts_device *d = open_toy("#toy-a");
    struct nnvts_prepared_model *p = prepare_add(d);
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
    float y[N] = {0};
    struct nnvts_memory from = {.prot = NNVTS_PROT_READ, .fd = -1, .size = sizeof x, .data = x};
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
    check_sums(y);
    to.size -= 4;
    assert_int_equal(out->copy_to(out, &to), NNVTS_STATUS_INVALID_ARGUMENT);
    p->release(p);
    in->release(in);
    out->release(out);
    d->release(d);
    assert_int_equal(objects(), before);
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
    const int before = objects();
    struct nnvts_device *d = open_toy("#toy-a");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnvts_prepared_model *p;
        lie(rows[i].lie);
        assert_int_equal(try_prepare(d, &p), rows[i].status);
        assert_null(p);
    }
    d->release(d);
    assert_int_equal(objects(), before);
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
    struct nnvts_device *d = open_toy("#toy-a");
    struct nnvts_prepared_model *p = prepare_add(d);
    const int before = objects();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float y[N] = {0};
        struct call c = {0};
        give(&c, x, sizeof x);
        take(&c, y, sizeof y);
        lie(rows[i].lie);
        assert_int_equal(execute(p, &c), rows[i].status);
        assert_int_equal(c.result.shape_count, rows[i].shapes);
        assert_int_equal(c.shapes[0].dimension_count, rows[i].rank);
    }
    lie("burst-nothing");
    struct nnvts_burst *burst = NULL;
    assert_int_equal(p->create_burst(p, &burst), NNVTS_STATUS_GENERAL_FAILURE);
    assert_null(burst);
    lie("memory-nothing");
    struct nnvts_memory file = shared(x, sizeof x, 0, NNVTS_PROT_READ);
    struct call c = {0};
    float y[N];
    give(&c, x, sizeof x);
    take(&c, y, sizeof y);
    c.pools[0] = file;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_GENERAL_FAILURE);
    close(file.fd);
    assert_int_equal(objects(), before);
    p->release(p);
    d->release(d);
}

static void test_lies_of_asking(void **state) {
    (void)state;
    struct nnvts_device *d = open_toy("#toy-a");
    struct net n = {0};
    uint8_t supported = 0xee;
    make_add(&n, NULL);
    lie("supported-unfilled");
    assert_int_equal(d->get_supported_operations(d, finish(&n), (bool *)&supported), NNVTS_STATUS_NONE);
    assert_int_equal(supported, 0xee); /* not made up */
    d->release(d);
    lie("version-nothing");
    d = open_toy("#toy-a");
    assert_string_equal(d->version, "");
    d->release(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_devices, no_lies),
        cmocka_unit_test_setup(test_refused, no_lies),
        cmocka_unit_test_setup(test_table, no_lies),
        cmocka_unit_test_setup(test_lies_of_tables, no_lies),
        cmocka_unit_test_setup(test_executes, no_lies),
        cmocka_unit_test_setup(test_old_library, no_lies),
        cmocka_unit_test_setup(test_unsupported, no_lies),
        cmocka_unit_test_setup(test_malformed, no_lies),
        cmocka_unit_test_setup(test_circle, no_lies),
        cmocka_unit_test_setup(test_bad_requests, no_lies),
        cmocka_unit_test_setup(test_small_output, no_lies),
        cmocka_unit_test_setup(test_no_room, no_lies),
        cmocka_unit_test_setup(test_empty_output, no_lies),
        cmocka_unit_test_setup(test_timing, no_lies),
        cmocka_unit_test_setup(test_async, no_lies),
        cmocka_unit_test_setup(test_fenced, no_lies),
        cmocka_unit_test_setup(test_burst, no_lies),
        cmocka_unit_test_setup(test_reusable, no_lies),
        cmocka_unit_test_setup(test_device_memory, no_lies),
        cmocka_unit_test_setup(test_lies_of_preparing, no_lies),
        cmocka_unit_test_setup(test_lies_of_executing, no_lies),
        cmocka_unit_test_setup(test_lies_of_asking, no_lies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
