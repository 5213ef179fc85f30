/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/suites/api/api.h"

/* A Support Library's table: the level, then these functions in this order, then 33 of its own, then two more. */
#define SL_FUNCTIONS(X)                                                                                                \
    X(Burst_create)                                                                                                    \
    X(Burst_free)                                                                                                      \
    X(Compilation_createForDevices)                                                                                    \
    X(Compilation_finish)                                                                                              \
    X(Compilation_free)                                                                                                \
    X(Compilation_getPreferredMemoryAlignmentForInput)                                                                 \
    X(Compilation_getPreferredMemoryAlignmentForOutput)                                                                \
    X(Compilation_getPreferredMemoryPaddingForInput)                                                                   \
    X(Compilation_getPreferredMemoryPaddingForOutput)                                                                  \
    X(Compilation_setCaching)                                                                                          \
    X(Compilation_setPreference)                                                                                       \
    X(Compilation_setPriority)                                                                                         \
    X(Compilation_setTimeout)                                                                                          \
    X(Device_getExtensionSupport)                                                                                      \
    X(Device_getFeatureLevel)                                                                                          \
    X(Device_getName)                                                                                                  \
    X(Device_getType)                                                                                                  \
    X(Device_getVersion)                                                                                               \
    X(Device_wait)                                                                                                     \
    X(Event_createFromSyncFenceFd)                                                                                     \
    X(Event_free)                                                                                                      \
    X(Event_getSyncFenceFd)                                                                                            \
    X(Event_wait)                                                                                                      \
    X(Execution_burstCompute)                                                                                          \
    X(Execution_compute)                                                                                               \
    X(Execution_create)                                                                                                \
    X(Execution_enableInputAndOutputPadding)                                                                           \
    X(Execution_free)                                                                                                  \
    X(Execution_getDuration)                                                                                           \
    X(Execution_getOutputOperandDimensions)                                                                            \
    X(Execution_getOutputOperandRank)                                                                                  \
    X(Execution_setInput)                                                                                              \
    X(Execution_setInputFromMemory)                                                                                    \
    X(Execution_setLoopTimeout)                                                                                        \
    X(Execution_setMeasureTiming)                                                                                      \
    X(Execution_setOutput)                                                                                             \
    X(Execution_setOutputFromMemory)                                                                                   \
    X(Execution_setReusable)                                                                                           \
    X(Execution_setTimeout)                                                                                            \
    X(Execution_startComputeWithDependencies)                                                                          \
    X(MemoryDesc_addInputRole)                                                                                         \
    X(MemoryDesc_addOutputRole)                                                                                        \
    X(MemoryDesc_create)                                                                                               \
    X(MemoryDesc_finish)                                                                                               \
    X(MemoryDesc_free)                                                                                                 \
    X(MemoryDesc_setDimensions)                                                                                        \
    X(Memory_copy)                                                                                                     \
    X(Memory_createFromAHardwareBuffer)                                                                                \
    X(Memory_createFromDesc)                                                                                           \
    X(Memory_createFromFd)                                                                                             \
    X(Memory_free)                                                                                                     \
    X(Model_addOperand)                                                                                                \
    X(Model_addOperation)                                                                                              \
    X(Model_create)                                                                                                    \
    X(Model_finish)                                                                                                    \
    X(Model_free)                                                                                                      \
    X(Model_getExtensionOperandType)                                                                                   \
    X(Model_getExtensionOperationType)                                                                                 \
    X(Model_getSupportedOperationsForDevices)                                                                          \
    X(Model_identifyInputsAndOutputs)                                                                                  \
    X(Model_relaxComputationFloat32toFloat16)                                                                          \
    X(Model_setOperandExtensionData)                                                                                   \
    X(Model_setOperandSymmPerChannelQuantParams)                                                                       \
    X(Model_setOperandValue)                                                                                           \
    X(Model_setOperandValueFromMemory)                                                                                 \
    X(Model_setOperandValueFromModel)                                                                                  \
    X(_getDefaultLoopTimeout)                                                                                          \
    X(_getDevice)                                                                                                      \
    X(_getDeviceCount)                                                                                                 \
    X(_getMaximumLoopTimeout)                                                                                          \
    X(_getRuntimeFeatureLevel)

enum { SL_OWN_FUNCTIONS = 33 };

/** The table as it is in memory. */
struct sl_table {
    int64_t level;
    void *functions[];
};

static void from_sl(const struct sl_table *table, struct nnvts_ndk *nn) {
    size_t at = 0;
#define TAKE(name) memcpy(&nn->name, &table->functions[at++], sizeof nn->name);
    SL_FUNCTIONS(TAKE)
    if (table->level < ANEURALNETWORKS_FEATURE_LEVEL_8) return;
    at += SL_OWN_FUNCTIONS;
    TAKE(Compilation_addExtensionAttribute)
    TAKE(Execution_addExtensionAttribute)
}

static void from_symbols(void *handle, struct nnvts_ndk *nn) {
    void *symbol;
#define LOOK_UP(name, level)                                                                                           \
    symbol = dlsym(handle, "ANeuralNetworks" #name);                                                                   \
    memcpy(&nn->name, &symbol, sizeof nn->name);
    NNVTS_NDK_FUNCTIONS(LOOK_UP)
    NNVTS_NDK_OPTIONAL_FUNCTIONS(LOOK_UP)
}

static enum nnv_status load(struct nnv_api_library *library, struct nnv_err *err) {
    char absolute[PATH_MAX];
    const char *path = realpath(library->path, absolute) ? absolute : library->path;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return nnv_fail(err, NNV_INVALID, "'%s' cannot be loaded: %s", library->path, dlerror());
    if (!library->is_sl) {
        from_symbols(handle, &library->nn);
    } else {
        const struct sl_table *(*get)(void);
        void *symbol = dlsym(handle, "ANeuralNetworks_getSLDriverImpl");
        memcpy(&get, &symbol, sizeof get);
        const struct sl_table *table = get ? get() : NULL;
        if (!table || table->level < ANEURALNETWORKS_FEATURE_LEVEL_5)
            return nnv_fail(err, NNV_INVALID, "'%s' is no NNAPI Support Library: %s", library->path,
                            !get     ? "no symbol ANeuralNetworks_getSLDriverImpl"
                            : !table ? "it gives no table"
                                     : "its feature level is below 5");
        from_sl(table, &library->nn);
    }
    if (library->nn.Model_create && library->nn.Compilation_finish && library->nn.Execution_create) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "'%s' is no NNAPI library: it lacks ANeuralNetworksModel_create", library->path);
}

/** The project's own: beside the folder of the drivers, as it is built or as it is installed. */
static char *own_library(const char *driver_path) {
    static const char *const places[] = {"../lib", "../.."};
    const char *slash = driver_path ? strrchr(driver_path, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        char *path = NULL;
        if (asprintf(&path, "%.*s/%s/libneuralnetworks.so", (int)(slash - driver_path), driver_path, places[i]) < 0)
            return NULL;
        if (access(path, R_OK) == 0) return path;
        free(path);
    }
    return NULL;
}

enum nnv_status nnv_api_library_open(const struct nnv_run_config *config, struct nnv_api_library *library,
                                     struct nnv_err *err) {
    const bool own = strncmp(config->driver, "runtime:", 8) == 0;
    struct nnvts_ndk_target target;
    *library = (struct nnv_api_library){.is_sl = strncmp(config->driver, "sl:", 3) == 0,
                                        .argument = strdup(strchr(config->driver, ':') + 1)};
    if (!library->argument) return nnv_no_memory(err);
    nnvts_ndk_target(library->argument, &target);
    library->path = own ? own_library(config->driver_path) : strdup(target.path);
    library->level = target.level;
    library->by_header = !own && !target.aosp;
    library->device = own && target.device && strcmp(target.device, "auto") == 0 ? NULL : target.device;
    if (!library->path && own)
        return nnv_fail(err, NNV_INVALID, "there is no libneuralnetworks.so beside the folder of the drivers");
    if (!library->path) return nnv_no_memory(err);
    return load(library, err);
}

void nnv_api_library_close(struct nnv_api_library *library) {
    free(library->path);
    free(library->argument);
    library->path = library->argument = NULL;
}
