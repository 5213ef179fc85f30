/* SPDX-License-Identifier: Apache-2.0 */
/** @file device.c What a library says of itself and of its devices. */
#include <string.h>

#include "harness/suites/api/api.h"

/** Calls visit for each device. */
static void each_device(struct nnv_api *a,
                        void (*visit)(struct nnv_api *a, uint32_t index, ANeuralNetworksDevice *device)) {
    uint32_t count = 0;
    if (!OK(_getDeviceCount, &count)) return;
    nnv_expect(&a->s, count > 0, "the library has no device");
    for (uint32_t i = 0; i < count; i++) {
        ANeuralNetworksDevice *device = NULL;
        if (!OK(_getDevice, i, &device)) return;
        if (nnv_expect(&a->s, device != NULL, "device %u is NULL", i)) visit(a, i, device);
    }
}

static void exports(struct nnv_api *a) {
#define EXPORTED(name, from)                                                                                           \
    if ((from) <= a->level && !(a->is_sl && is_not_of_sl(#name)))                                                      \
        nnv_expect(&a->s, a->nn->name != NULL, "ANeuralNetworks" #name " is missing, which is of level %d", from);
#define is_not_of_sl(name) (strcmp(name, "Compilation_create") == 0 || strcmp(name, "Execution_startCompute") == 0)
    NNVTS_NDK_FUNCTIONS(EXPORTED)
}

static void runtime(struct nnv_api *a) {
    if (!a->nn->_getRuntimeFeatureLevel) {
        nnv_api_lacks(a, "_getRuntimeFeatureLevel");
        return;
    }
    int64_t code = a->nn->_getRuntimeFeatureLevel();
    nnv_expect(&a->s,
               code == ANEURALNETWORKS_FEATURE_LEVEL_5 ||
                   (code >= ANEURALNETWORKS_FEATURE_LEVEL_6 && code <= ANEURALNETWORKS_FEATURE_LEVEL_8),
               "_getRuntimeFeatureLevel answered %lld, which is no FeatureLevelCode that has this function",
               (long long)code);
    nnv_expect(&a->s, code == a->nn->_getRuntimeFeatureLevel(), "asked twice, the feature level is another");
}

static void loop_timeouts(struct nnv_api *a) {
    if (!a->nn->_getDefaultLoopTimeout || !a->nn->_getMaximumLoopTimeout) {
        nnv_api_lacks(a, "_getDefaultLoopTimeout");
        return;
    }
    uint64_t usual = a->nn->_getDefaultLoopTimeout(), most = a->nn->_getMaximumLoopTimeout();
    nnv_expect(&a->s, usual == 2000000000, "the default loop timeout is %llu ns, expected 2 s",
               (unsigned long long)usual);
    nnv_expect(&a->s, most == 15000000000, "the maximum loop timeout is %llu ns, expected 15 s",
               (unsigned long long)most);
}

static void same_pointer(struct nnv_api *a, uint32_t index, ANeuralNetworksDevice *device) {
    ANeuralNetworksDevice *again = NULL;
    OK(_getDevice, index, &again);
    nnv_expect(&a->s, again == device, "device %u is another pointer the second time", index);
}
static void devices(struct nnv_api *a) {
    uint32_t one = 0, two = 1;
    if (!OK(_getDeviceCount, &one) || !OK(_getDeviceCount, &two)) return;
    nnv_expect(&a->s, one == two, "the library has %u devices, then %u", one, two);
    each_device(a, same_pointer);
}

static void name_of(struct nnv_api *a, uint32_t index, ANeuralNetworksDevice *device) {
    const char *name = NULL, *again = NULL, *other = NULL;
    if (!OK(Device_getName, device, &name) || !OK(Device_getName, device, &again)) return;
    nnv_expect(&a->s, name && *name, "device %u has no name", index);
    if (!name) return;
    nnv_expect(&a->s, name == again, "the name of device %u is another pointer the second time", index);
    for (uint32_t i = 0; i < index; i++) {
        ANeuralNetworksDevice *before = NULL;
        if (OK(_getDevice, i, &before) && OK(Device_getName, before, &other))
            nnv_expect(&a->s, before != device && other && strcmp(name, other) != 0, "devices %u and %u are both '%s'",
                       i, index, name);
    }
}
static void names(struct nnv_api *a) { each_device(a, name_of); }

static void type_of(struct nnv_api *a, uint32_t index, ANeuralNetworksDevice *device) {
    int32_t type = -1;
    if (!OK(Device_getType, device, &type)) return;
    nnv_expect(&a->s, type >= ANEURALNETWORKS_DEVICE_UNKNOWN && type <= ANEURALNETWORKS_DEVICE_ACCELERATOR,
               "device %u is of type %d, which is no DeviceTypeCode", index, type);
}
static void types(struct nnv_api *a) { each_device(a, type_of); }

static void version_of(struct nnv_api *a, uint32_t index, ANeuralNetworksDevice *device) {
    const char *version = NULL;
    if (OK(Device_getVersion, device, &version))
        nnv_expect(&a->s, version && *version, "device %u has no version", index);
}
static void versions(struct nnv_api *a) { each_device(a, version_of); }

static void level_of(struct nnv_api *a, uint32_t index, ANeuralNetworksDevice *device) {
    int64_t level = 0;
    if (!OK(Device_getFeatureLevel, device, &level)) return;
    nnv_expect(&a->s,
               (level >= ANEURALNETWORKS_FEATURE_LEVEL_1 && level <= ANEURALNETWORKS_FEATURE_LEVEL_5) ||
                   (level >= ANEURALNETWORKS_FEATURE_LEVEL_6 && level <= ANEURALNETWORKS_FEATURE_LEVEL_8),
               "device %u is of feature level %lld, which is no FeatureLevelCode", index, (long long)level);
    if (a->nn->_getRuntimeFeatureLevel)
        nnv_expect(&a->s, level <= a->nn->_getRuntimeFeatureLevel(),
                   "device %u is of feature level %lld, above the runtime's", index, (long long)level);
}
static void levels(struct nnv_api *a) { each_device(a, level_of); }

static void wait_for(struct nnv_api *a, uint32_t index, ANeuralNetworksDevice *device) {
    (void)index;
    OK(Device_wait, device);
}
static void waiting(struct nnv_api *a) { each_device(a, wait_for); }

static void no_extension(struct nnv_api *a, uint32_t index, ANeuralNetworksDevice *device) {
    bool known = true;
    if (OK(Device_getExtensionSupport, device, "com.example.nobody_has_this", &known))
        nnv_expect(&a->s, !known, "device %u says that it knows an extension that does not exist", index);
}
static void extensions(struct nnv_api *a) { each_device(a, no_extension); }

static void cpu_is_last(struct nnv_api *a) {
    uint32_t count = 0;
    int32_t type = -1;
    ANeuralNetworksDevice *last = NULL;
    if (a->is_sl) {
        nnv_context_decline(&a->s, NNVTS_WHY_NOT_APPLICABLE, "a Support Library need not have a CPU");
        return;
    }
    if (!OK(_getDeviceCount, &count) || !OK(_getDevice, count - 1, &last) || !OK(Device_getType, last, &type)) return;
    nnv_expect(&a->s, type == ANEURALNETWORKS_DEVICE_CPU,
               "the last device is of type %d; it must be the CPU reference, type CPU (2)", type);
}

/* ------------------------------------------------------- supported operations */

static void supported_add(struct nnv_api *a) {
    ANeuralNetworksDevice *device = NULL;
    if (!nnv_api_advance(a, NNV_API_FINISHED)) return;
    if (nnv_api_find_device(&a->net, &device)) nnv_api_advance(a, NNV_API_COMPUTED);
}

/** The device's answer is the or of all devices' answers. */
static void supported_by_any(struct nnv_api *a) {
    const ANeuralNetworksDevice *all[32];
    uint32_t count = 0;
    bool one = false, any = false, together = false;
    if (!nnv_api_advance(a, NNV_API_FINISHED) || !OK(_getDeviceCount, &count)) return;
    if (count > 32) count = 32;
    for (uint32_t i = 0; i < count; i++) {
        ANeuralNetworksDevice *device = NULL;
        if (!OK(_getDevice, i, &device)) return;
        all[i] = device;
        if (!OK(Model_getSupportedOperationsForDevices, a->model, &all[i], 1, &one)) return;
        any = any || one;
    }
    if (!OK(Model_getSupportedOperationsForDevices, a->model, all, count, &together)) return;
    nnv_expect(&a->s, any == together, "all devices together %s ADD, one by one they %s",
               together ? "support" : "do not support", any ? "do" : "do not");
}

/** Operations of one float32 input, some of which a device may lack. */
static const int32_t unary[] = {ANEURALNETWORKS_RELU6, ANEURALNETWORKS_TANH,  ANEURALNETWORKS_LOGISTIC,
                                ANEURALNETWORKS_FLOOR, ANEURALNETWORKS_ABS,   ANEURALNETWORKS_NEG,
                                ANEURALNETWORKS_EXP,   ANEURALNETWORKS_RSQRT, ANEURALNETWORKS_HARD_SWISH};
enum { UNARY = sizeof unary / sizeof *unary };

/** What the device says of z = last(first(x)), added in this order or the other; answers in the order of adding. */
static bool ask_for_two(struct nnv_api *a, const ANeuralNetworksDevice *device, const int32_t operations[2],
                        bool in_order, bool answer[2]) {
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t at[3];
    for (int i = 0; i < 3; i++) at[i] = nnv_api_add(&net, OF(FLOAT32, 2));
    for (int i = 0; i < 2; i++) {
        const int k = in_order ? i : 1 - i;
        nnv_api_operate(&net, operations[k], LIST(at[k]), LIST(at[k + 1]));
    }
    return nnv_api_net_end(&net, LIST(at[0]), LIST(at[2])) &&
           OK(Model_getSupportedOperationsForDevices, net.model, &device, 1, answer);
}

/** Two operations of which the device has but the first. False: there are none, or the case has failed. */
static bool find_two(struct nnv_api *a, const ANeuralNetworksDevice *device, int32_t operations[2]) {
    int has = -1, lacks = -1;
    for (int i = 0; i < UNARY && (has < 0 || lacks < 0); i++) {
        const int32_t same[2] = {unary[i], unary[i]};
        bool answer[2] = {false, false};
        if (!ask_for_two(a, device, same, true, answer)) return false;
        *(answer[0] ? &has : &lacks) = i;
    }
    if (has < 0 || lacks < 0) return false;
    operations[0] = unary[has];
    operations[1] = unary[lacks];
    return true;
}

static void supported_order(struct nnv_api *a) {
    uint32_t count = 0;
    if (!OK(_getDeviceCount, &count)) return;
    for (uint32_t i = 0; i < count; i++) {
        ANeuralNetworksDevice *device = NULL;
        int32_t operations[2];
        bool in_order[2] = {false, true}, other[2] = {true, false}; /* wrong answers */
        if (!OK(_getDevice, i, &device)) return;
        if (!find_two(a, device, operations)) continue;
        if (!ask_for_two(a, device, operations, true, in_order) || !ask_for_two(a, device, operations, false, other))
            return;
        nnv_expect(&a->s, in_order[0] && !in_order[1], "device %u has the first of two operations, but not so here", i);
        nnv_expect(&a->s, !other[0] && other[1],
                   "device %u: operations added against the order in which they run must be answered in the order in "
                   "which they were added",
                   i);
        return;
    }
    nnv_context_decline(&a->s, NNVTS_WHY_NOT_APPLICABLE, "no device has some operations and lacks others");
}

static const struct nnv_api_case cases[] = {
    {.name = "library/exports", .run = exports},
    {.name = "library/feature_level", .run = runtime},
    {.name = "library/loop_timeouts", .run = loop_timeouts},
    {.name = "device/same_pointers", .run = devices},
    {.name = "device/names", .run = names},
    {.name = "device/types", .run = types},
    {.name = "device/versions", .run = versions},
    {.name = "device/feature_levels", .run = levels},
    {.name = "device/wait", .run = waiting},
    {.name = "device/unknown_extension", .run = extensions},
    {.name = "device/cpu_is_last", .run = cpu_is_last},
    {.name = "supported/add", .run = supported_add},
    {.name = "supported/by_any", .run = supported_by_any},
    {.name = "supported/order", .run = supported_order, .level = 4},
};
NNV_API_GROUP(device);
