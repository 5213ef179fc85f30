/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of the runtime: who becomes one, what it is asked, what it costs; extensions; shared memory. */
#include "tests/kit/runtime_api.h"
#include "tests/kit/toy.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "NeuralNetworksOEM.h"
#include "base/clock.h"
#include "base/driver.h"
#include "reference/runtime/api/memory.h"
#include "reference/runtime/plan/support.h"

enum {
    OK = ANEURALNETWORKS_NO_ERROR,
    BAD = ANEURALNETWORKS_BAD_DATA,
    BAD_STATE = ANEURALNETWORKS_BAD_STATE,
    IS_NULL = ANEURALNETWORKS_UNEXPECTED_NULL,
    F32 = ANEURALNETWORKS_TENSOR_FLOAT32,
    I32 = ANEURALNETWORKS_INT32,
    ADD = ANEURALNETWORKS_ADD,
    MAX = ANEURALNETWORKS_MAXIMUM, /* came with level 3 */
    RELU = ANEURALNETWORKS_RELU,
};

static void use(struct toy_device *fakes, size_t count) {
    struct nnvts_device *list[8] = {0};
    for (size_t i = 0; i < count; i++) list[i] = &fakes[i].driver;
    nnv_rt_device_override(list, count);
}

static int forget_devices(void **state) {
    (void)state;
    nnv_rt_device_override(NULL, 0);
    return 0;
}

/* --------------------------------------------------------------------- devices */

static void the_reference_is_always_there(void **state) {
    (void)state;
    uint32_t count = 0;
    ANeuralNetworksDevice *device = NULL, *again = NULL;
    const char *name = NULL, *version = NULL;
    int32_t type = -1;
    int64_t level = 0;
    bool known = true;
    assert_int_equal(ANeuralNetworks_getDeviceCount(&count), OK);
    assert_int_equal(count, 1);
    assert_int_equal(ANeuralNetworks_getDevice(0, &device), OK);
    assert_int_equal(ANeuralNetworks_getDevice(0, &again), OK);
    assert_ptr_equal(device, again);
    assert_int_equal(ANeuralNetworks_getDevice(1, &again), BAD);
    assert_null(again);
    assert_int_equal(ANeuralNetworksDevice_getName(device, &name), OK);
    assert_string_equal(name, "nnapi-reference");
    assert_int_equal(ANeuralNetworksDevice_getVersion(device, &version), OK);
    assert_true(*version != 0);
    assert_int_equal(ANeuralNetworksDevice_getType(device, &type), OK);
    assert_int_equal(type, ANEURALNETWORKS_DEVICE_CPU);
    assert_int_equal(ANeuralNetworksDevice_getFeatureLevel(device, &level), OK);
    assert_int_equal(level, 1000008);
    assert_int_equal(ANeuralNetworksDevice_wait(device), OK);
    assert_int_equal(ANeuralNetworksDevice_getExtensionSupport(device, "com.acme.x", &known), OK);
    assert_false(known);
    assert_int_equal(ANeuralNetworks_getRuntimeFeatureLevel(), 1000008);
    assert_true(ANeuralNetworks_getDefaultLoopTimeout() == 2000000000u);
    assert_true(ANeuralNetworks_getMaximumLoopTimeout() == 15000000000u);
    assert_int_equal(ANeuralNetworks_getDeviceCount(NULL), IS_NULL);
    assert_int_equal(ANeuralNetworks_getDevice(0, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksDevice_getName(NULL, &name), IS_NULL);
    assert_int_equal(ANeuralNetworksDevice_getName(device, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksDevice_getVersion(device, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksDevice_getType(device, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksDevice_getFeatureLevel(device, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksDevice_getExtensionSupport(device, NULL, &known), IS_NULL);
    assert_int_equal(ANeuralNetworksDevice_wait(NULL), IS_NULL);
}

static void levels_are_codes(void **state) {
    (void)state;
    static const int64_t codes[8] = {27, 28, 29, 30, 31, 1000006, 1000007, 1000008};
    static const char *const names[8] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct toy_device fakes[8];
    for (int i = 0; i < 8; i++) fakes[i] = toy_driver(names[i], i + 1);
    use(fakes, 8);
    assert_int_equal(nnv_rt_device_count(), 9);
    for (size_t i = 0; i < 8; i++) {
        int64_t level = 0;
        assert_int_equal(ANeuralNetworksDevice_getFeatureLevel(nnv_rt_device_at(i), &level), OK);
        assert_int_equal(level, codes[i]);
    }
    assert_true(nnv_rt_device_at(8)->is_cpu);
    assert_null(nnv_rt_device_at(9));
}

/* Each is no device for another reason. */
static void spoil_files(struct toy_device *f) { f->driver.model_cache_files = 33; }
static void spoil_data_files(struct toy_device *f) { f->driver.data_cache_files = 33; }
static void spoil_level(struct toy_device *f) { f->driver.feature_level = 9; }
static void spoil_low_level(struct toy_device *f) { f->driver.feature_level = 0; }
static void spoil_name(struct toy_device *f) { f->driver.name = ""; }
static void spoil_twin(struct toy_device *f) { f->driver.name = "fine"; }
static void spoil_reference(struct toy_device *f) { f->driver.name = "nnapi-reference"; }
static void spoil_table(struct toy_device *f) { f->driver.prepare_model = NULL; }
static void spoil_size(struct toy_device *f) { f->driver.struct_size = 8; }
static void spoil_capabilities(struct toy_device *f) { f->driver.capabilities.operand_performance_count = 1; }
static void spoil_extensions(struct toy_device *f) { f->driver.extension_count = 1; }

static void unfit_drivers_are_left_out(void **state) {
    (void)state;
    void (*const spoil[])(struct toy_device *) = {
        spoil_files,     spoil_data_files, spoil_level, spoil_low_level,    spoil_name,       spoil_twin,
        spoil_reference, spoil_table,      spoil_size,  spoil_capabilities, spoil_extensions,
    };
    for (size_t i = 0; i < sizeof spoil / sizeof *spoil; i++) {
        struct toy_device fakes[2] = {toy_driver("fine", 7), toy_driver("spoilt", 7)};
        spoil[i](&fakes[1]);
        use(fakes, 2);
        if (nnv_rt_device_count() != 2) fail_msg("driver %zu is a device", i);
        assert_string_equal(nnv_rt_device_at(0)->name, "fine");
    }
    struct toy_device fakes[2] = {toy_driver("fine", 7), toy_driver("also fine", 7)};
    fakes[1].driver.model_cache_files = fakes[1].driver.data_cache_files = 32;
    use(fakes, 2);
    assert_int_equal(nnv_rt_device_count(), 3);
}

static int released;

static void note_release(struct nnvts_device *self) {
    (void)self;
    released++;
}

static enum nnvts_status open_incomplete(const char *options, struct nnvts_device **out, const char **error) {
    static struct toy_device f;
    (void)error;
    f = toy_driver("incomplete", 7);
    f.driver.release = note_release;
    if (strcmp(options, "small") == 0) f.driver.struct_size = 8;
    if (strcmp(options, "no-prepare") == 0) f.driver.prepare_model = NULL;
    if (strcmp(options, "no-release") == 0) f.driver.release = NULL;
    *out = &f.driver;
    return NNVTS_STATUS_NONE;
}

/** A device that is not taken is given back, and what was loaded for it is unloaded. */
static void what_is_not_taken_does_not_stay(void **state) {
    (void)state;
    static const struct nnvts_driver driver = {.struct_size = sizeof driver,
                                               .abi_version = NNVTS_DRIVER_ABI_VERSION,
                                               .name = "incomplete",
                                               .open = open_incomplete};
    static const struct {
        const char *options;
        int released;
    } rows[] = {{"no-prepare", 1}, {"no-release", 0}, {"small", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_driver opened = {0};
        released = 0;
        assert_int_equal(nnv_driver_attach(&opened, &driver, "it", rows[i].options, NULL), NNV_INVALID);
        assert_null(opened.device);
        assert_int_equal(released, rows[i].released);
    }
    const char *folder = getenv("NNVTS_TEST_DRIVERS"), *before = getenv("NNVTS_DRIVERS");
    if (!folder) skip();
    char path[4096], argument[4096 + 16], list[16] = {0};
    struct nnvts_device **devices;
    snprintf(list, sizeof list, "%s", before);
    snprintf(path, sizeof path, "%s/template.so", folder);
    snprintf(argument, sizeof argument, "%s:no such option", path);
    setenv("NNVTS_DRIVERS", argument, 1);
    assert_int_equal(nnv_rt_find_drivers(&devices), 0);
    setenv("NNVTS_DRIVERS", list, 1);
    free(devices);
    assert_int_equal(access(path, R_OK), 0);
    assert_null(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
}

static void a_type_below_zero_is_none(void **state) {
    (void)state;
    struct toy_device f = toy_driver("npu", 7);
    f.driver.type = -1;
    use(&f, 1);
    int32_t type;
    assert_int_equal(ANeuralNetworksDevice_getType(nnv_rt_device_at(0), &type), ANEURALNETWORKS_OP_FAILED);
}

static void devices_stay_valid(void **state) {
    (void)state;
    struct toy_device f = toy_driver("first", 3), g = toy_driver("second", 3);
    use(&f, 1);
    struct ANeuralNetworksDevice *first = nnv_rt_device_at(0);
    use(&g, 1);
    assert_string_equal(nnv_rt_device_at(0)->name, "second");
    assert_string_equal(first->name, "first");
    nnv_rt_device_override(NULL, 0);
    assert_int_equal(nnv_rt_device_count(), 1);
}

static void costs(void **state) {
    (void)state;
    static const struct nnvts_operand_performance performance[] = {
        {F32, {0.5f, 0.25f}},
        {ANEURALNETWORKS_FLOAT32, {0.75f, 0.125f}},
    };
    struct toy_device f = toy_driver("npu", 7);
    f.driver.capabilities = (struct nnvts_capabilities){.relaxed_scalar = {3, 4},
                                                        .relaxed_tensor = {5, 6},
                                                        .operand_performance = performance,
                                                        .operand_performance_count = 2};
    use(&f, 1);
    const struct ANeuralNetworksDevice *d = nnv_rt_device_at(0), *cpu = nnv_rt_device_cpu();
    const int fast = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, low = ANEURALNETWORKS_PREFER_LOW_POWER;
    assert_true(nnv_rt_device_cost(d, F32, false, fast) == 0.5f);
    assert_true(nnv_rt_device_cost(d, F32, false, low) == 0.25f);
    assert_true(nnv_rt_device_cost(d, F32, true, fast) == 5);
    assert_true(nnv_rt_device_cost(d, F32, true, low) == 6);
    assert_true(nnv_rt_device_cost(d, ANEURALNETWORKS_FLOAT32, true, fast) == 3);
    assert_true(nnv_rt_device_cost(d, ANEURALNETWORKS_FLOAT32, false, fast) == 0.75f);
    assert_true(nnv_rt_device_cost(d, I32, false, fast) == FLT_MAX);
    assert_true(nnv_rt_device_cost(cpu, F32, false, fast) == 1);
    assert_true(nnv_rt_device_cost(cpu, ANEURALNETWORKS_TENSOR_BOOL8, true, low) == 1);
}

static void the_dead_are_marked_until_they_answer(void **state) {
    (void)state;
    struct toy_device f = toy_driver("npu", 7);
    use(&f, 1);
    struct ANeuralNetworksDevice *d = nnv_rt_device_at(0);
    assert_true(nnv_rt_device_is_alive(d));
    assert_int_equal(nnv_rt_device_note(d, NNVTS_STATUS_GENERAL_FAILURE), NNVTS_STATUS_GENERAL_FAILURE);
    assert_true(nnv_rt_device_is_alive(d));
    f.status = NNVTS_DEVICE_OFFLINE;
    assert_true(nnv_rt_device_is_alive(d)); /* it has not died */
    assert_int_equal(nnv_rt_device_note(d, NNVTS_STATUS_DEAD_OBJECT), NNVTS_STATUS_DEAD_OBJECT);
    assert_false(nnv_rt_device_is_alive(d));
    uint64_t since = nnv_now_ns();
    assert_int_equal(ANeuralNetworksDevice_wait(d), ANEURALNETWORKS_DEAD_OBJECT);
    assert_true(nnv_now_ns() - since > 1000000000u);
    f.status = NNVTS_DEVICE_BUSY;
    assert_int_equal(ANeuralNetworksDevice_wait(d), OK);
    f.status = NNVTS_DEVICE_OFFLINE;
    assert_true(nnv_rt_device_is_alive(d));
    assert_int_equal(ANeuralNetworksDevice_wait(d), ANEURALNETWORKS_UNAVAILABLE_DEVICE);
}

static void results(void **state) {
    (void)state;
    static const int want[] = {0, 9, 5, 8, 4, 10, 11, 12, 13, 14};
    for (int i = 0; i < 10; i++) assert_int_equal(nnv_rt_result((enum nnvts_status)i), want[i]);
    assert_int_equal(nnv_rt_result((enum nnvts_status)77), ANEURALNETWORKS_OP_FAILED);
}

/* --------------------------------------------------------------- introspection */

/* added in this order: relu(3) -> 4, max(2, 1) -> 3, add(0, 1) -> 2, which is not that of running */
static ANeuralNetworksModel *three(bool relaxed) {
    ANeuralNetworksModel *m = new_model();
    for (int i = 0; i < 5; i++) add_operand(m, F32, DIMS(2));
    add_operand(m, I32, SCALAR);
    set_int(m, 5, 0);
    OPERATION(m, RELU, LIST(3), LIST(4));
    OPERATION(m, MAX, LIST(2, 1), LIST(3));
    OPERATION(m, ADD, LIST(0, 1, 5), LIST(2));
    if (relaxed) assert_int_equal(ANeuralNetworksModel_relaxComputationFloat32toFloat16(m, true), OK);
    IN_OUT(m, LIST(0, 1), LIST(4));
    FINISH(m);
    return m;
}

static bool can_add(int32_t operation) { return operation == ADD; }
static bool can_max(int32_t operation) { return operation == MAX; }

#define SUPPORT(m, devices, count, out)                                                                                \
    ANeuralNetworksModel_getSupportedOperationsForDevices(m, (const ANeuralNetworksDevice *const *)(devices), count,   \
                                                          out)

static void support_is_told_in_the_order_of_adding(void **state) {
    (void)state;
    struct toy_device f[2] = {toy_driver("adds", 7), toy_driver("maxes", 3)};
    f[0].can = can_add;
    f[1].can = can_max;
    use(f, 2);
    ANeuralNetworksModel *m = three(false);
    ANeuralNetworksDevice *devices[3] = {nnv_rt_device_at(0), nnv_rt_device_at(1), nnv_rt_device_cpu()};
    bool out[3];
    assert_int_equal(SUPPORT(m, devices, 1, out), OK);
    assert_true(!out[0] && !out[1] && out[2]);
    assert_int_equal(SUPPORT(m, devices, 2, out), OK); /* one or the other */
    assert_true(!out[0] && out[1] && out[2]);
    assert_int_equal(SUPPORT(m, devices + 2, 1, out), OK);
    assert_true(out[0] && out[1] && out[2]);
    assert_int_equal(SUPPORT(m, devices, 0, out), BAD);
    ANeuralNetworksDevice *twice[2] = {devices[0], devices[0]}, *none[2] = {devices[0], NULL};
    assert_int_equal(SUPPORT(m, twice, 2, out), BAD);
    assert_int_equal(SUPPORT(m, none, 2, out), IS_NULL);
    f[0].supported_status = NNVTS_STATUS_GENERAL_FAILURE; /* a driver that does not answer supports nothing */
    assert_int_equal(SUPPORT(m, devices, 1, out), OK);
    assert_true(!out[0] && !out[1] && !out[2]);
    ANeuralNetworksModel *unfinished = new_model();
    assert_int_equal(SUPPORT(unfinished, devices, 1, out), BAD_STATE);
    ANeuralNetworksModel_free(unfinished);
    ANeuralNetworksModel_free(m);
}

static void older_drivers_see_what_they_know(void **state) {
    (void)state;
    struct toy_device f = toy_driver("old", 2);
    use(&f, 1);
    ANeuralNetworksModel *m = three(true);
    assert_int_equal(m->level, 3);
    ANeuralNetworksDevice *device = nnv_rt_device_at(0);
    bool out[3];
    assert_int_equal(SUPPORT(m, &device, 1, out), OK);
    assert_true(out[0] && !out[1] && out[2]);
    assert_int_equal(f.operations, 2);
    assert_int_equal(f.inputs, 3);  /* 0, 1, and what MAXIMUM would have given */
    assert_int_equal(f.outputs, 2); /* what MAXIMUM would have read, and the model's */
    assert_true(f.relaxed);
    f.driver.feature_level = 1;
    use(&f, 1);
    device = nnv_rt_device_at(0);
    assert_int_equal(SUPPORT(m, &device, 1, out), OK);
    assert_true(out[0] && !out[1] && out[2]);
    assert_false(f.relaxed); /* which level 1 does not know */
    f.driver.feature_level = 7;
    use(&f, 1);
    device = nnv_rt_device_at(0);
    assert_int_equal(SUPPORT(m, &device, 1, out), OK);
    assert_int_equal(f.operations, 3);
    assert_int_equal(f.inputs, 2);
    ANeuralNetworksModel_free(m);
}

static void the_dead_are_not_asked(void **state) {
    (void)state;
    struct toy_device f = toy_driver("npu", 7);
    use(&f, 1);
    ANeuralNetworksModel *m = three(false);
    ANeuralNetworksDevice *device = nnv_rt_device_at(0);
    bool out[3];
    f.supported_status = NNVTS_STATUS_DEAD_OBJECT;
    f.status = NNVTS_DEVICE_OFFLINE;
    assert_int_equal(SUPPORT(m, &device, 1, out), OK);
    assert_int_equal(f.asked, 1);
    assert_int_equal(SUPPORT(m, &device, 1, out), OK);
    assert_int_equal(f.asked, 1);
    assert_false(out[2]);
    f.supported_status = NNVTS_STATUS_NONE; /* a new process */
    f.status = NNVTS_DEVICE_AVAILABLE;
    assert_int_equal(SUPPORT(m, &device, 1, out), OK);
    assert_true(out[0] && out[1] && out[2]);
    ANeuralNetworksModel_free(m);
}

/* ------------------------------------------------------------------- extensions */

static const struct nnvts_extension_operand_type acme_types[] = {{3, true, 2}, {4, false, 12}};
static const struct nnvts_extension_operand_type other_types[] = {{3, true, 4}, {4, false, 12}};
static const struct nnvts_extension acme = {"com.acme.ops", 2, acme_types};
static const struct nnvts_extension same_acme = {"com.acme.ops", 2, acme_types};
static const struct nnvts_extension other_acme = {"com.acme.ops", 2, other_types};

static struct toy_device with_extension(const char *name, const struct nnvts_extension *e) {
    struct toy_device f = toy_driver(name, 7);
    f.driver.extension_count = 1;
    f.driver.extensions = e;
    return f;
}

static void extensions_have_prefixes(void **state) {
    (void)state;
    struct toy_device f[2] = {with_extension("one", &acme), with_extension("two", &same_acme)};
    use(f, 2);
    ANeuralNetworksModel *m = new_model();
    int32_t tensor = 0, scalar = 0, again = 0, operation = 0;
    bool known = false;
    assert_int_equal(ANeuralNetworksModel_getExtensionOperandType(m, "com.acme.ops", 3, &tensor), OK);
    assert_int_equal(ANeuralNetworksModel_getExtensionOperandType(m, "com.acme.ops", 3, &again), OK);
    assert_int_equal(ANeuralNetworksModel_getExtensionOperandType(m, "com.acme.ops", 4, &scalar), OK);
    assert_int_equal(ANeuralNetworksModel_getExtensionOperationType(m, "com.acme.ops", 9, &operation), OK);
    assert_int_equal(tensor, again);
    assert_int_equal(tensor & 0xffff, 3);
    assert_int_equal(operation & 0xffff, 9);
    assert_int_equal(tensor >> 16, operation >> 16);
    assert_true(tensor >> 16 >= 1);
    /* A name that no device has gets a prefix, too, but no operand its types. */
    assert_int_equal(ANeuralNetworksModel_getExtensionOperandType(m, "com.acme.other", 3, &again), OK);
    assert_int_not_equal(again >> 16, tensor >> 16);
    assert_int_equal(try_operand(m, again, DIMS(2), 0, 0), BAD);
    assert_int_equal(ANeuralNetworksModel_getExtensionOperandType(m, NULL, 3, &again), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_getExtensionOperandType(m, "com.acme.ops", 3, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksDevice_getExtensionSupport(nnv_rt_device_at(1), "com.acme.ops", &known), OK);
    assert_true(known);
    bool is_tensor = false;
    assert_int_equal(nnv_rt_type_bytes(tensor, &is_tensor), 2);
    assert_true(is_tensor);
    assert_int_equal(nnv_rt_type_bytes(scalar, &is_tensor), 12);
    assert_false(is_tensor);
    assert_int_equal(nnv_rt_type_bytes(tensor + 10, NULL), 0);

    assert_int_equal(try_operand(m, tensor, DIMS(2, 2), 0, 0), OK);
    assert_int_equal(try_operand(m, scalar, 0, NULL, 0, 0), OK);
    assert_int_equal(try_operand(m, tensor, DIMS(2, 2), 0, 0), OK);
    assert_int_equal(try_operand(m, F32, DIMS(2, 2), 0, 0), OK);
    static const float four[4] = {0};
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 3, four, sizeof four), OK); /* nothing writes it */
    assert_int_equal(try_operand(m, scalar, DIMS(2), 0, 0), BAD);
    assert_int_equal(try_operand(m, tensor, DIMS(2), 1, 0), BAD);
    assert_int_equal(try_operand(m, tensor + 10, DIMS(2), 0, 0), BAD);
    static const char data[] = "extra";
    assert_int_equal(ANeuralNetworksModel_setOperandExtensionData(m, 3, data, sizeof data), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandExtensionData(m, 4, data, sizeof data), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandExtensionData(m, 0, NULL, 5), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandExtensionData(m, 0, data, sizeof data), OK);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 1, data, 6), BAD);
    static const char twelve[12] = "abc";
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 1, twelve, 12), OK);
    OPERATION(m, operation, LIST(0, 1), LIST(2));
    assert_int_equal(ANeuralNetworksModel_addOperation(m, ADD, LIST(0, 0, 1), LIST(2)), BAD);
    IN_OUT(m, LIST(0), LIST(2));
    FINISH(m);
    assert_true(m->has_extension);
    assert_int_equal(m->model.extension_count, 1);
    assert_string_equal(m->model.extensions[0].name, "com.acme.ops");
    assert_int_equal(m->model.extensions[0].prefix, tensor >> 16);
    assert_int_equal(m->model.main.operands[0].extension_data_bytes, sizeof data);
    assert_memory_equal(m->model.main.operands[0].extension_data, data, sizeof data);
    assert_int_equal(m->info[0].levels[0], 3);
    assert_int_equal(m->info[0].bytes[0], 8);
    /* the CPU reference knows no extensions */
    ANeuralNetworksDevice *devices[2] = {nnv_rt_device_at(0), nnv_rt_device_cpu()};
    bool out = true;
    assert_int_equal(SUPPORT(m, devices + 1, 1, &out), OK);
    assert_false(out);
    assert_int_equal(SUPPORT(m, devices, 1, &out), OK);
    assert_true(out);
    ANeuralNetworksModel_free(m);
}

static void if_passes_extensions_on(void **state) {
    (void)state;
    struct toy_device f = with_extension("one", &acme);
    use(&f, 1);
    ANeuralNetworksModel *branch = new_model(), *m = new_model();
    int32_t tensor = 0, operation = 0;
    assert_int_equal(ANeuralNetworksModel_getExtensionOperandType(m, "com.acme.ops", 3, &tensor), OK);
    assert_int_equal(ANeuralNetworksModel_getExtensionOperationType(m, "com.acme.ops", 9, &operation), OK);
    for (int i = 0; i < 2; i++) add_operand(branch, tensor, DIMS(2));
    OPERATION(branch, operation, LIST(0), LIST(1));
    IN_OUT(branch, LIST(0), LIST(1));
    FINISH(branch);
    add_operand(m, ANEURALNETWORKS_TENSOR_BOOL8, DIMS(1));
    add_operand(m, ANEURALNETWORKS_MODEL, SCALAR);
    for (int i = 0; i < 2; i++) add_operand(m, tensor, DIMS(2));
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, 1, branch), OK);
    OPERATION(m, ANEURALNETWORKS_IF, LIST(0, 1, 1, 2), LIST(3));
    IN_OUT(m, LIST(0, 2), LIST(3));
    FINISH(m);
    assert_true(m->has_extension);
    assert_int_equal(m->level, 4);
    ANeuralNetworksModel_free(m);
    ANeuralNetworksModel_free(branch);
}

static void devices_must_agree_on_extensions(void **state) {
    (void)state;
    struct toy_device f[2] = {with_extension("one", &acme), with_extension("two", &other_acme)};
    use(f, 2);
    ANeuralNetworksModel *m = new_model();
    int32_t type, operation;
    assert_int_equal(ANeuralNetworksModel_getExtensionOperandType(m, "com.acme.ops", 3, &type), OK);
    assert_int_equal(ANeuralNetworksModel_getExtensionOperationType(m, "com.acme.ops", 9, &operation), OK);
    assert_int_equal(try_operand(m, type, DIMS(2), 0, 0), BAD);
    add_operand(m, F32, DIMS(2));
    add_operand(m, F32, DIMS(2));
    OPERATION(m, operation, LIST(0), LIST(1));
    IN_OUT(m, LIST(0), LIST(1));
    assert_int_equal(ANeuralNetworksModel_finish(m), BAD);
    ANeuralNetworksModel_free(m);
}

static void makers_have_codes_of_their_own(void **state) {
    (void)state;
    ANeuralNetworksModel *m = new_model();
    assert_int_equal(try_operand(m, ANEURALNETWORKS_TENSOR_OEM_BYTE, DIMS(5), 0, 0), OK);
    assert_int_equal(try_operand(m, ANEURALNETWORKS_OEM_SCALAR, 0, NULL, 0, 0), OK);
    assert_int_equal(try_operand(m, ANEURALNETWORKS_OEM_SCALAR, DIMS(5), 0, 0), BAD);
    add_operand(m, F32, DIMS(2));
    static const char blob[7] = "abcdef";
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 1, blob, sizeof blob), OK); /* of any length */
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 0, blob, sizeof blob), BAD);
    OPERATION(m, ANEURALNETWORKS_OEM_OPERATION, LIST(0, 1), LIST(2));
    IN_OUT(m, LIST(0), LIST(2));
    FINISH(m);
    assert_true(m->has_oem);
    assert_int_equal(m->model.main.operands[1].location.length, 7);
    ANeuralNetworksDevice *cpu = nnv_rt_device_cpu();
    bool out = true;
    assert_int_equal(SUPPORT(m, &cpu, 1, &out), OK);
    assert_false(out);
    ANeuralNetworksModel_free(m);
}

/* ----------------------------------------------------------------------- memory */

static void memories(void **state) {
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd = memfd_create("test", 0);
    assert_int_equal(ftruncate(fd, (off_t)(2 * page)), 0);
    ANeuralNetworksMemory *m = (void *)-1;
    assert_int_equal(ANeuralNetworksMemory_createFromFd(page, PROT_READ, fd, 0, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksMemory_createFromFd(page, PROT_READ, -1, 0, &m), IS_NULL);
    assert_null(m);
    assert_int_equal(ANeuralNetworksMemory_createFromFd(0, PROT_READ, fd, 0, &m), BAD);
    /* not a page, and behind the end, where reading would be the end of the process */
    assert_int_equal(ANeuralNetworksMemory_createFromFd(page, PROT_READ, fd, 4, &m), ANEURALNETWORKS_UNMAPPABLE);
    assert_int_equal(ANeuralNetworksMemory_createFromFd(page, PROT_READ, fd, 2 * page, &m), ANEURALNETWORKS_UNMAPPABLE);
    assert_int_equal(ANeuralNetworksMemory_createFromFd(SIZE_MAX, PROT_READ, fd, page, &m), ANEURALNETWORKS_UNMAPPABLE);
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(ANeuralNetworksMemory_createFromFd(page, PROT_READ, pipes[0], 0, &m), ANEURALNETWORKS_UNMAPPABLE);
    close(pipes[0]);
    close(pipes[1]);
    assert_null(m);
    assert_int_equal(pwrite(fd, "x", 1, (off_t)page + 5), 1);
    assert_int_equal(ANeuralNetworksMemory_createFromFd(page - 1, PROT_READ | PROT_WRITE, fd, page, &m), OK);
    close(fd);
    assert_int_equal(((char *)m->memory.data)[5], 'x');
    assert_int_equal(m->memory.prot, NNVTS_PROT_READ | NNVTS_PROT_WRITE);
    assert_true(fcntl(m->memory.fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(nnv_rt_memory_check(m, 0, page - 1), OK);
    assert_int_equal(nnv_rt_memory_check(m, page - 2, 1), OK);
    assert_int_equal(nnv_rt_memory_check(m, 0, page), BAD);
    assert_int_equal(nnv_rt_memory_check(m, page - 1, 1), BAD);
    assert_int_equal(nnv_rt_memory_check(m, 0, 0), BAD);
    assert_int_equal(nnv_rt_memory_check(m, SIZE_MAX, 2), BAD);
    m->has_roles = true;
    assert_int_equal(nnv_rt_memory_check(m, 0, 0), OK);
    assert_int_equal(nnv_rt_memory_check(m, 0, 8), BAD);
    fd = m->memory.fd;
    ANeuralNetworksMemory_free(m);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* closed */
    ANeuralNetworksMemory_free(NULL);
    const AHardwareBuffer *buffer = (const AHardwareBuffer *)&page;
    assert_int_equal(ANeuralNetworksMemory_createFromAHardwareBuffer(buffer, &m), ANEURALNETWORKS_UNMAPPABLE);
    assert_null(m);
    assert_int_equal(ANeuralNetworksMemory_createFromAHardwareBuffer(NULL, &m), IS_NULL);
    assert_int_equal(ANeuralNetworksMemory_createFromAHardwareBuffer(buffer, NULL), IS_NULL);
    assert_null(nnv_rt_memory_shared(0));
}

int main(void) {
    setenv("NNVTS_LOG", "0", 0);
    setenv("NNVTS_DRIVERS", "", 1);
#define TEST(name) cmocka_unit_test_teardown(name, forget_devices)
    const struct CMUnitTest tests[] = {
        TEST(the_reference_is_always_there),
        TEST(levels_are_codes),
        TEST(unfit_drivers_are_left_out),
        TEST(what_is_not_taken_does_not_stay),
        TEST(a_type_below_zero_is_none),
        TEST(devices_stay_valid),
        TEST(costs),
        TEST(the_dead_are_marked_until_they_answer),
        TEST(results),
        TEST(support_is_told_in_the_order_of_adding),
        TEST(older_drivers_see_what_they_know),
        TEST(the_dead_are_not_asked),
        TEST(extensions_have_prefixes),
        TEST(if_passes_extensions_on),
        TEST(devices_must_agree_on_extensions),
        TEST(makers_have_codes_of_their_own),
        TEST(memories),
    };
    return cmocka_run_group_tests_name("runtime device", tests, NULL, NULL);
}
