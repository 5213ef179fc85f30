/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_ndk.c The driver "ndk": devices, models, requests. */
#include "tests/kit/ndk.h"

#include <unistd.h>

#include "nnvts/ndk.h"

/* ------------------------------------------------------------------------ devices */

static void test_devices(void **state) {
    (void)state;
    struct nnvts_device *own = ndk_open(""), *a = ndk_open("#toy-a"), *b = ndk_open("#toy-b");
    assert_string_equal(own->name, "toy.so");
    assert_string_equal(own->version, "toy-a toy-1 + toy-b toy-1; without functions of level 2: "
                                      "Model_relaxComputationFloat32toFloat16");
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
    snprintf(through, sizeof through, "ndk:%s", ndk_path("toy.so", ""));
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
    check_refused(ndk_path("test_ndk", ""), "can't be loaded");
    check_refused(ndk_path("../drivers/cpu.so", ""), "is not an NNAPI library");
    check_refused(ndk_path("toy.so", "#toy-c"), "no device 'toy-c'; its devices: toy-a, toy-b");
    check_refused(ndk_path("toy_old.so", "#toy-a"), "no devices to choose from");
    ndk_lie("level-nonsense");
    check_refused(ndk_path("toy.so", ""), "feature level is 4");
    ndk_lie("name-nothing");
    check_refused(ndk_path("toy.so", "#toy-a"), "its devices: none");
    ndk_lie("device-nothing");
    check_refused(ndk_path("toy.so", "#toy-a"), "its devices: none");
    ndk_lie("devices-billions"); /* does not take for ever */
    check_refused(ndk_path("toy.so", "#toy-c"), "its devices: toy-a, toy-b");
}

/** A Support Library has no choice of its own, and tells more of its devices. */
static void test_table(void **state) {
    (void)state;
    const int before = ndk_objects();
    ndk_fill();
    struct nnvts_device *d = open_driver("sl", ndk_path("toy.so", "")),
                        *b = open_driver("sl", ndk_path("toy.so", "#toy-b"));
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
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    assert_null(p->execute_async);
    assert_non_null(p->execute_fenced);
    ndk_check_executes(p);
    p->release(p);
    d->release(d);
    b->release(b);
    assert_int_equal(ndk_objects(), before);
}

static void test_lies_of_tables(void **state) {
    (void)state;
    check_refused_by("sl", ndk_path("toy_old.so", ""), "is not a Support Library");
    check_refused_by("sl", ndk_path("toy.so", "#toy-c"), "no device 'toy-c'; its devices: toy-a, toy-b");
    ndk_lie("table-nothing");
    check_refused_by("sl", ndk_path("toy.so", ""), "returned NULL");
    ndk_lie("table-level");
    check_refused_by("sl", ndk_path("toy.so", ""), "feature level 30");
    ndk_lie("table-holes");
    check_refused_by("sl", ndk_path("toy.so", ""), "no ANeuralNetworksModel_addOperand");
    ndk_lie("performance-fails");
    struct nnvts_device *d = open_driver("sl", ndk_path("toy.so", ""));
    assert_true(d->capabilities.relaxed_tensor.exec_time == 1);
    assert_int_equal(d->capabilities.operand_performance_count, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED + 1);
    d->release(d);
    ndk_lie("extensions-billions");
    d = open_driver("sl", ndk_path("toy.so", ""));
    assert_int_equal(d->extension_count, 1); /* those that have a name */
    d->release(d);
}

/* ------------------------------------------------------------- models, executions */

static void test_executes(void **state) {
    (void)state;
    static const char *const devices[] = {"", "#toy-a"};
    const int before = ndk_objects();
    ndk_fill();
    for (int i = 0; i < 2; i++) {
        struct nnvts_device *d = ndk_open(devices[i]);
        struct nnvts_prepared_model *p = ndk_prepare_add(d);
        ndk_check_executes(p);
        ndk_check_executes(p);
        p->release(p);
        struct net n = {0};
        struct nnvts_memory pool = shared(ndk_constants, sizeof ndk_constants, 0, NNVTS_PROT_READ);
        ndk_make_add(&n, &pool);
        p = prepare(d, &n);
        static const float nothing[NDK_N];
        assert_int_equal(pwrite(pool.fd, nothing, sizeof nothing, 0), (ssize_t)sizeof nothing);
        close(pool.fd);
        ndk_check_executes(p);
        p->release(p);
        d->release(d);
    }
    assert_int_equal(ndk_objects(), before);
}

/** What has only the functions of level 1. */
static void test_old_library(void **state) {
    (void)state;
    struct nnvts_device *d = open_driver("ndk", ndk_path("toy_old.so", ""));
    assert_int_equal(d->feature_level, 1);
    assert_null(d->allocate);
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    assert_null(p->execute_fenced);
    assert_null(p->create_burst);
    assert_null(p->create_execution);
    float y[NDK_N] = {0};
    struct call c = {0};
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, y, sizeof y);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_int_equal(c.result.shape_count, 0); /* it can't tell */
    ndk_check_sums(y);
    p->release(p);
    /* It can't be asked what it supports: what it compiles. */
    struct net sum = {0}, n = {0};
    bool supported = false;
    ndk_make_add(&sum, NULL);
    assert_int_equal(d->get_supported_operations(d, finish(&sum), &supported), NNVTS_STATUS_NONE);
    assert_true(supported);
    const uint32_t in = input(&n, F32, DIMS(3)), out = output(&n, F32, DIMS(3));
    operation(&n, ANEURALNETWORKS_TANH, LIST(in), LIST(out));
    assert_int_equal(d->get_supported_operations(d, finish(&n), &supported), NNVTS_STATUS_NONE);
    assert_false(supported);
    d->release(d);
}

static void test_unsupported(void **state) {
    (void)state;
    struct nnvts_device *d = ndk_open("#toy-a");
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

/** A valid model that the library takes no words for is not supported, not wrong. */
static void test_no_inputs(void **state) {
    (void)state;
    struct nnvts_device *d = ndk_open("#toy-a");
    struct net n = {0};
    struct nnvts_prepared_model *p = NULL;
    bool supported = true;
    ndk_fill();
    const uint32_t a = constant(&n, F32, ndk_constants, sizeof ndk_constants, DIMS(NDK_N));
    const uint32_t none = integer(&n, ANEURALNETWORKS_FUSED_NONE), out = output(&n, F32, DIMS(NDK_N));
    operation(&n, ANEURALNETWORKS_ADD, LIST(a, a, none), LIST(out));
    assert_int_equal(d->get_supported_operations(d, finish(&n), &supported), NNVTS_STATUS_NONE);
    assert_false(supported);
    assert_int_equal(d->prepare_model(d, &n.model, &prepare_config, &p), NNVTS_STATUS_GENERAL_FAILURE);
    assert_string_equal(d->last_error(d), "ANeuralNetworksModel_identifyInputsAndOutputs answered BAD_DATA");
    d->release(d);
}

/** The call that was refused is named; the next one that goes well has nothing to tell. */
static void test_last_error(void **state) {
    (void)state;
    struct nnvts_device *d = ndk_open("#toy-a");
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    assert_null(d->last_error(d));
    float y[NDK_N] = {0};
    struct call c = {0};
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, y, sizeof y);
    c.in[0].location.length -= 4;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_string_equal(d->last_error(d), "ANeuralNetworksExecution_setInput(0) answered BAD_DATA");
    ndk_check_executes(p);
    assert_null(d->last_error(d));
    ndk_lie("finish-77");
    struct nnvts_prepared_model *none;
    ndk_try_prepare(d, &none);
    assert_string_equal(d->last_error(d), "ANeuralNetworksModel_finish answered 77");
    p->release(p);
    d->release(d);
}

/** What follows the path and the device. */
static void test_target(void **state) {
    (void)state;
    static const struct {
        const char *text, *path, *device;
        int level;
        bool pointers;
    } rows[] = {
        {"lib.so", "lib.so", NULL, 0, false},
        {"lib.so#npu", "lib.so", "npu", 0, false},
        {"lib.so#npu:level=3:pointers:aosp", "lib.so", "npu", 3, true},
        {"a:b/lib.so:pointers:level=8", "a:b/lib.so", NULL, 8, true},
        {"lib.so#acme:npu", "lib.so", "acme:npu", 0, false},
        {"lib.so:level=9", "lib.so:level=9", NULL, 0, false},
        {"lib.so:level=33", "lib.so:level=33", NULL, 0, false},
        {"lib.so#", "lib.so", NULL, 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        struct nnvts_ndk_target t;
        snprintf(text, sizeof text, "%s", rows[i].text);
        nnvts_ndk_target(text, &t);
        assert_string_equal(t.path, rows[i].path);
        assert_string_equal(t.device ? t.device : "", rows[i].device ? rows[i].device : "");
        assert_int_equal(t.level, rows[i].level);
        assert_int_equal(t.pointers, rows[i].pointers);
    }
    struct nnvts_device *d = ndk_open("#toy-a:level=2:pointers");
    assert_int_equal(d->feature_level, 2);
    d->release(d);
}

/** What the NDK has no words for is refused before the library is asked; so are broken arrays. */
static void test_malformed(void **state) {
    (void)state;
    struct nnvts_device *d = ndk_open("#toy-a");
    for (int i = 0; i < 12; i++) {
        struct net n = {0};
        struct nnvts_prepared_model *p = NULL;
        bool supported = false;
        ndk_fill();
        ndk_make_add(&n, NULL);
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
    struct nnvts_device *d = ndk_open("");
    struct net n = {0};
    struct nnvts_prepared_model *p = NULL;
    ndk_make_add(&n, NULL);
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
    struct nnvts_device *d = ndk_open("#toy-a");
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    for (int i = 0; i < 9; i++) {
        float y[NDK_N] = {0};
        struct call c = {0};
        give(&c, ndk_x, sizeof ndk_x);
        take(&c, y, sizeof y);
        struct nnvts_memory file = shared(ndk_x, sizeof ndk_x, 0, NNVTS_PROT_READ);
        switch (i) {
        case 0:
            c.in[0].location.pool = 2;
            break;
        case 1:
            c.in[0].location.offset = 4;
            break; /* behind the end */
        case 2:
            c.in[0].location.length = sizeof ndk_x - 4;
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
            c.pools[0] = file, c.pools[0].size = 2 * sizeof ndk_x;
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
    ndk_check_executes(p);
    p->release(p);
    d->release(d);
}

static void test_small_output(void **state) {
    (void)state;
    struct nnvts_device *d = ndk_open("#toy-a");
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    float y[2 * NDK_N] = {0};
    struct call c = {0};
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, y, sizeof ndk_x - 4);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE);
    assert_int_equal(c.result.shape_count, 1);
    assert_false(c.shapes[0].is_sufficient);
    assert_int_equal(c.dims[0][0], NDK_N);
    /* More room than is needed is the caller's right. */
    struct call wide = {0};
    give(&wide, ndk_x, sizeof ndk_x);
    take(&wide, y, sizeof y);
    assert_int_equal(execute(p, &wide), NNVTS_STATUS_NONE);
    ndk_check_sums(y);
    assert_true(y[NDK_N] == 0);
    p->release(p);
    d->release(d);
}

/* An output whose size the model tells has no room: that is known before anything runs, in every way to execute. */
static void test_no_room(void **state) {
    (void)state;
    const int before = ndk_objects();
    struct nnvts_device *d = ndk_open("#toy-a");
    struct nnvts_prepared_model *p = ndk_prepare_add(d);
    struct nnvts_fenced_execution f = {.sync_fence = -1};
    float y[NDK_N] = {0};
    struct call c = {0};
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, y, sizeof y);
    c.out[0].location.length = 0;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
    assert_int_equal(p->execute_fenced(p, ready(&c), NULL, 0, &plain, NNVTS_NO_TIME, &f),
                     NNVTS_STATUS_INVALID_ARGUMENT);
    assert_null(f.release);
    p->release(p);
    d->release(d);
    assert_int_equal(ndk_objects(), before);
}

/* An output that turns out to be empty needs no room, but a pool that can be mapped. */
static void test_empty_output(void **state) {
    (void)state;
    const int before = ndk_objects();
    struct nnvts_device *d = ndk_open("#toy-a");
    struct net n = {0};
    ndk_fill();
    ndk_make_add(&n, NULL);
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
        give(&c, ndk_x, sizeof ndk_x);
        take(&c, NULL, 0);
        c.pools[1] = rows[i].pool;
        const enum nnvts_status st = execute(p, &c);
        if (st != rows[i].status) fail_msg("pool %zu: %d", i, st);
        if (st == NNVTS_STATUS_NONE) assert_true(c.shapes[0].is_sufficient && c.dims[0][0] == 0);
    }
    close(whole.fd);
    p->release(p);
    d->release(d);
    assert_int_equal(ndk_objects(), before);
}

static void test_timing(void **state) {
    (void)state;
    static const char *const devices[] = {"#toy-a", ""};
    static const uint64_t on_device[] = {10, NNVTS_NO_TIME}, in_driver[] = {11, NNVTS_NO_TIME};
    for (int i = 0; i < 2; i++) { /* only one device that was named can be measured */
        struct nnvts_device *d = ndk_open(devices[i]);
        struct nnvts_prepared_model *p = ndk_prepare_add(d);
        const struct nnvts_execution_config config = {NNVTS_NO_TIME, NNVTS_NO_TIME, true};
        float y[NDK_N] = {0};
        struct call c = {0};
        give(&c, ndk_x, sizeof ndk_x);
        take(&c, y, sizeof y);
        assert_int_equal(p->execute(p, ready(&c), &config, &c.result), NNVTS_STATUS_NONE);
        assert_true(c.result.timing.on_device_ns == on_device[i]);
        assert_true(c.result.timing.in_driver_ns == in_driver[i]);
        ndk_lie("duration-fails");
        assert_int_equal(p->execute(p, ready(&c), &config, &c.result), NNVTS_STATUS_NONE);
        assert_true(c.result.timing.on_device_ns == NNVTS_NO_TIME);
        unsetenv("TOY_LIE");
        p->release(p);
        d->release(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_devices, ndk_no_lies),
        cmocka_unit_test_setup(test_refused, ndk_no_lies),
        cmocka_unit_test_setup(test_table, ndk_no_lies),
        cmocka_unit_test_setup(test_lies_of_tables, ndk_no_lies),
        cmocka_unit_test_setup(test_executes, ndk_no_lies),
        cmocka_unit_test_setup(test_old_library, ndk_no_lies),
        cmocka_unit_test_setup(test_unsupported, ndk_no_lies),
        cmocka_unit_test_setup(test_no_inputs, ndk_no_lies),
        cmocka_unit_test_setup(test_last_error, ndk_no_lies),
        cmocka_unit_test_setup(test_target, ndk_no_lies),
        cmocka_unit_test_setup(test_malformed, ndk_no_lies),
        cmocka_unit_test_setup(test_circle, ndk_no_lies),
        cmocka_unit_test_setup(test_bad_requests, ndk_no_lies),
        cmocka_unit_test_setup(test_small_output, ndk_no_lies),
        cmocka_unit_test_setup(test_no_room, ndk_no_lies),
        cmocka_unit_test_setup(test_empty_output, ndk_no_lies),
        cmocka_unit_test_setup(test_timing, ndk_no_lies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
