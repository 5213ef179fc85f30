/* SPDX-License-Identifier: Apache-2.0 */
/** @file device.c A device of the library, or its own choice among them, and what it says of itself. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "ndk.h"

enum { TYPE_COUNT = ANEURALNETWORKS_MODEL, MAX_DEVICES = 1024, MAX_EXTENSIONS = 1024, MAX_OPERAND_TYPES = 1024 };

/* ---------------------------------------------------------------------- devices */

static uint32_t device_count(const struct ndk_library *lib) {
    uint32_t n = 0;
    if (!lib->fn._getDeviceCount || !lib->fn._getDevice || lib->fn._getDeviceCount(&n) != ANEURALNETWORKS_NO_ERROR)
        return 0;
    return n < MAX_DEVICES ? n : MAX_DEVICES;
}

/** Device i, or NULL. */
static ANeuralNetworksDevice *device_at(const struct ndk_library *lib, uint32_t i) {
    ANeuralNetworksDevice *device = NULL;
    return lib->fn._getDevice(i, &device) == ANEURALNETWORKS_NO_ERROR ? device : NULL;
}

static const char *name_of(const struct ndk_library *lib, const ANeuralNetworksDevice *device) {
    const char *name = NULL;
    if (!device || !lib->fn.Device_getName || lib->fn.Device_getName(device, &name) != ANEURALNETWORKS_NO_ERROR)
        return NULL;
    return name;
}

static const char *version_of(const struct ndk_library *lib, const ANeuralNetworksDevice *device) {
    const char *version = NULL;
    if (!device || !lib->fn.Device_getVersion ||
        lib->fn.Device_getVersion(device, &version) != ANEURALNETWORKS_NO_ERROR)
        return NULL;
    return version;
}

/** "a, b" */
static void name_devices(const struct ndk_library *lib, char *to, size_t room) {
    size_t at = 0;
    const uint32_t n = device_count(lib);
    snprintf(to, room, "none");
    for (uint32_t i = 0; i < n && at < room; i++) {
        const char *name = name_of(lib, device_at(lib, i));
        if (name) at += (size_t)snprintf(to + at, room - at, "%s%s", at ? ", " : "", name);
    }
}

/** The device of that name; NULL: the library's own choice, or the first of a Support Library. */
static const char *choose(struct ndk_device *d, const char *wanted) {
    struct ndk_library *lib = &d->lib;
    const uint32_t n = device_count(lib);
    if (!wanted && !lib->takes_first && lib->fn.Compilation_create) return NULL;
    if (!lib->fn.Compilation_createForDevices || n == 0)
        return common_keep_textf("'%s' has no devices to choose from", lib->name);
    for (uint32_t i = 0; i < n && !d->device; i++) {
        ANeuralNetworksDevice *device = device_at(lib, i);
        const char *name = name_of(lib, device);
        if (!wanted || (name && strcmp(name, wanted) == 0)) d->device = device;
    }
    if (d->device) return NULL;
    char names[512];
    name_devices(lib, names, sizeof names);
    return common_keep_textf("'%s' has no device '%s'; its devices: %s", lib->name, wanted ? wanted : "", names);
}

/* ------------------------------------------------------------------ what it says */

/** Of the library's own choice: whatever changes with any of its devices. */
static void join_versions(struct ndk_device *d) {
    size_t at = 0;
    const uint32_t n = device_count(&d->lib);
    snprintf(d->version, sizeof d->version, "level %d", d->lib.level);
    for (uint32_t i = 0; i < n && at < sizeof d->version; i++) {
        const ANeuralNetworksDevice *device = device_at(&d->lib, i);
        const char *name = name_of(&d->lib, device), *version = version_of(&d->lib, device);
        at += (size_t)snprintf(d->version + at, sizeof d->version - at, "%s%s %s", at ? " + " : "", name ? name : "?",
                               version ? version : "?");
    }
    at = strlen(d->version);
    if (*d->lib.missing)
        snprintf(d->version + at, sizeof d->version - at, "; without functions of level %s", d->lib.missing);
}

static void describe(struct ndk_device *d) {
    const struct ndk_library *lib = &d->lib;
    int64_t code = 0;
    d->base.type = ANEURALNETWORKS_DEVICE_OTHER;
    d->base.feature_level = lib->level;
    d->base.name = d->name;
    d->base.version = d->version;
    d->base.limits = NNVTS_LIMIT_NO_EMPTY_INPUTS | NNVTS_LIMIT_LATE_OMISSIONS | NNVTS_LIMIT_NO_UNKNOWN_EXTENSIONS |
                     NNVTS_LIMIT_LATE_REFUSALS;
    if (!lib->fn.Model_getSupportedOperationsForDevices) d->base.limits |= NNVTS_LIMIT_CANNOT_BE_ASKED;
    if (!d->device) {
        d->base.limits |= NNVTS_LIMIT_PARTIAL_SHAPES;
        snprintf(d->name, sizeof d->name, "%s", lib->name);
        join_versions(d);
        return;
    }
    const char *name = name_of(lib, d->device), *version = version_of(lib, d->device);
    snprintf(d->name, sizeof d->name, "%s", name ? name : "");
    snprintf(d->version, sizeof d->version, "%s", version ? version : "");
    if (lib->fn.Device_getType) NDK_CALL(lib, Device_getType, d->device, &d->base.type);
    if (lib->fn.Device_getFeatureLevel &&
        NDK_CALL(lib, Device_getFeatureLevel, d->device, &code) == NNVTS_STATUS_NONE) {
        const int level = ndk_level(code);
        d->base.feature_level = level < lib->level ? level : lib->level;
        if (d->base.feature_level == 0)
            ndk_tell("ANeuralNetworksDevice_getFeatureLevel gave %lld, which is no level", (long long)code);
    }
}

/* ----------------------------------------------------------------- capabilities */

static const struct nnvts_performance as_cpu = {1, 1};

/** Stands in a list sorted by type. */
static void add_performance(int32_t type, struct nnvts_performance p, void *context) {
    struct nnvts_capabilities *c = &((struct ndk_device *)context)->base.capabilities;
    struct nnvts_operand_performance *list = ((struct ndk_device *)context)->performance;
    uint32_t at = 0;
    while (at < c->operand_performance_count && list[at].type < type) at++;
    if (at < c->operand_performance_count && list[at].type == type)
        ndk_tell("the performance of operand type %d is told twice", type);
    if (c->operand_performance_count == MAX_OPERAND_TYPES) return;
    memmove(&list[at + 1], &list[at], (c->operand_performance_count - at) * sizeof *list);
    list[at] = (struct nnvts_operand_performance){type, p};
    c->operand_performance_count++;
}

static void add_told(SL_ANeuralNetworksOperandPerformanceInfo told, void *context) {
    const struct nnvts_performance p = {told.performanceInfo.execTime, told.performanceInfo.powerUsage};
    add_performance(told.operandType, p, context);
}

/** What a Support Library tells of itself; false: it does not. */
static bool take_told(struct ndk_device *d) {
    const NnApiSLDriverImplFL5 *table = d->lib.table;
    struct nnvts_capabilities *c = &d->base.capabilities;
    struct nnvts_performance *const of_kinds[] = {&c->relaxed_scalar, &c->relaxed_tensor, &c->if_performance,
                                                  &c->while_performance};
    if (!table || !table->SL_ANeuralNetworksDevice_getPerformanceInfo ||
        !table->SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo)
        return false;
    for (int32_t i = 0; i < 4; i++) {
        SL_ANeuralNetworksPerformanceInfo told = {0};
        if (ndk_status("Device_getPerformanceInfo",
                       table->SL_ANeuralNetworksDevice_getPerformanceInfo(d->device, i, &told)) != NNVTS_STATUS_NONE)
            return false;
        *of_kinds[i] = (struct nnvts_performance){told.execTime, told.powerUsage};
    }
    return table->SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(d->device, d, add_told) ==
           ANEURALNETWORKS_NO_ERROR;
}

/** The NDK tells nothing: as the CPU reference. */
static bool describe_performance(struct ndk_device *d) {
    struct nnvts_capabilities *c = &d->base.capabilities;
    d->performance = calloc(MAX_OPERAND_TYPES + 1, sizeof *d->performance);
    if (!d->performance) return false;
    c->operand_performance = d->performance;
    if (take_told(d)) return true;
    c->relaxed_scalar = c->relaxed_tensor = c->if_performance = c->while_performance = as_cpu;
    c->operand_performance_count = 0;
    for (int32_t t = 0; t < TYPE_COUNT; t++) add_performance(t, as_cpu, d);
    return true;
}

/* ------------------------------------------------------------------- extensions */

static void add_extension_type(SL_ANeuralNetworksExtensionOperandTypeInformation told, void *context) {
    struct nnvts_extension *e = context;
    struct nnvts_extension_operand_type *types = (struct nnvts_extension_operand_type *)(uintptr_t)e->operand_types;
    types = realloc(types, (e->operand_type_count + 1) * sizeof *types);
    if (!types) return;
    e->operand_types = types;
    uint32_t at = e->operand_type_count++;
    for (; at > 0 && types[at - 1].type > told.type; at--) types[at] = types[at - 1];
    types[at] = (struct nnvts_extension_operand_type){told.type, told.isTensor, told.byteSize};
}

/** Only Support Libraries list theirs; the NDK can be asked for a name, but for no list. */
static bool describe_extensions(struct ndk_device *d) {
    const NnApiSLDriverImplFL5 *table = d->lib.table;
    uint32_t n = 0;
    if (!table || !table->SL_ANeuralNetworksDevice_getVendorExtensionCount ||
        !table->SL_ANeuralNetworksDevice_getVendorExtensionName ||
        table->SL_ANeuralNetworksDevice_getVendorExtensionCount(d->device, &n) != ANEURALNETWORKS_NO_ERROR)
        return true;
    if (n > MAX_EXTENSIONS) ndk_tell("the device says that it has %u extensions", n);
    n = n < MAX_EXTENSIONS ? n : MAX_EXTENSIONS;
    d->extensions = calloc((size_t)n + 1, sizeof *d->extensions);
    if (!d->extensions) return false;
    d->base.extensions = d->extensions;
    for (uint32_t i = 0; i < n; i++) {
        struct nnvts_extension *e = &d->extensions[d->base.extension_count];
        if (table->SL_ANeuralNetworksDevice_getVendorExtensionName(d->device, i, &e->name) !=
                ANEURALNETWORKS_NO_ERROR ||
            !e->name) {
            ndk_tell("extension %u of %u has no name", i, n);
            break;
        }
        if (table->SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation)
            table->SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(d->device, i, e,
                                                                                         add_extension_type);
        d->base.extension_count++;
    }
    return true;
}

/* -------------------------------------------------------------------- functions */

static enum nnvts_device_status get_status(struct nnvts_device *self) {
    (void)self; /* the NDK can wait for a device, but not ask whether it is there */
    return NNVTS_DEVICE_AVAILABLE;
}

/** The devices that may take part: one, or all. */
static enum nnvts_status ask_supported(struct ndk_device *d, const ANeuralNetworksModel *model, bool *supported) {
    const ANeuralNetworksDevice *devices[MAX_DEVICES] = {d->device};
    uint32_t n = d->device ? 1 : device_count(&d->lib);
    for (uint32_t i = 0; i < n && !d->device; i++) devices[i] = device_at(&d->lib, i);
    return NDK_CALL(&d->lib, Model_getSupportedOperationsForDevices, model, devices, n, supported);
}

static enum nnvts_status get_supported_operations(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported) {
    struct ndk_device *d = (struct ndk_device *)self;
    struct ndk_model built;
    if (!model || !supported) return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = ndk_model_build(&d->lib, model, &built);
    if (built.beyond_words) {
        memset(supported, false, model->main.operation_count * sizeof *supported);
        st = NNVTS_STATUS_NONE;
    } else if (st == NNVTS_STATUS_NONE && d->lib.fn.Model_getSupportedOperationsForDevices) {
        st = ask_supported(d, built.models[0], supported);
    } else if (st == NNVTS_STATUS_NONE) { /* before level 3 nobody could ask */
        st = ndk_try_compile(d, built.models[0]);
        memset(supported, st == NNVTS_STATUS_NONE, model->main.operation_count * sizeof *supported);
        if (st == NNVTS_STATUS_GENERAL_FAILURE) st = NNVTS_STATUS_NONE; /* that is the answer */
    }
    ndk_model_free(&built);
    return st;
}

static enum nnvts_status prepare_model(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    if (!model || !config || !out) return NNVTS_STATUS_INVALID_ARGUMENT;
    return ndk_prepare((struct ndk_device *)self, model, config, out);
}

static void release(struct nnvts_device *self) {
    struct ndk_device *d = (struct ndk_device *)self;
    for (uint32_t i = 0; i < d->base.extension_count; i++) free((void *)(uintptr_t)d->extensions[i].operand_types);
    free(d->extensions);
    free(d->performance);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* ------------------------------------------------------------------------- open */

/** NULL, or what is wrong. */
static const char *open_device(struct ndk_device *d, char *path, ndk_load_fn load) {
    struct nnvts_ndk_target target;
    nnvts_ndk_target(path, &target);
    const char *slash = strrchr(path, '/'), *error = load(path, &d->lib);
    if (error) return error;
    if (target.level) d->lib.level = target.level;
    d->lib.pointers = target.pointers;
    d->lib.name = slash ? slash + 1 : path;
    error = choose(d, target.device);
    if (error) return error;
    describe(d);
    d->lib.name = NULL; /* the caller's text */
    return describe_performance(d) && describe_extensions(d) ? NULL : "out of memory";
}

static const struct nnvts_computed *computed(struct nnvts_device *self, uint32_t *count) {
    return ((struct ndk_device *)self)->lib.computed(count);
}

enum nnvts_status ndk_open(const char *options, ndk_load_fn load, struct nnvts_device **out, const char **error) {
    const char *message = NULL;
    if (!options || !*options || *options == '#') {
        if (error) *error = "it needs the path of a library";
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    struct ndk_device *d = calloc(1, sizeof *d);
    char *path = strdup(options);
    if (!d || !path) {
        free(d);
        free(path);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    pthread_mutex_init(&d->lock, NULL);
    d->base.struct_size = sizeof d->base;
    d->base.get_status = get_status;
    d->base.get_supported_operations = get_supported_operations;
    d->base.prepare_model = prepare_model;
    d->base.release = release;
    d->base.last_error = ndk_last_error;
    message = open_device(d, path, load);
    const struct nnvts_ndk *fn = &d->lib.fn;
    if (fn->MemoryDesc_create && fn->MemoryDesc_finish && fn->MemoryDesc_addInputRole && fn->MemoryDesc_addOutputRole &&
        fn->MemoryDesc_setDimensions && fn->MemoryDesc_free && fn->Memory_createFromDesc && fn->Memory_copy)
        d->base.allocate = ndk_allocate;
    if (d->lib.computed && !d->device) d->base.computed = computed; /* a device that was named computes all of it */
    free(path);
    if (!message) {
        *out = &d->base;
        return NNVTS_STATUS_NONE;
    }
    release(&d->base);
    if (error) *error = message;
    return NNVTS_STATUS_INVALID_ARGUMENT;
}
