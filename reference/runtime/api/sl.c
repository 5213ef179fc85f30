/* SPDX-License-Identifier: Apache-2.0 */
/** @file sl.c The library as a Support Library driver: its table, and what only a Support Library is asked. */
#include "reference/runtime/log.h"
#include "reference/runtime/api/sl_diag.h"

enum {
    OK = ANEURALNETWORKS_NO_ERROR,
    NULL_ARGUMENT = ANEURALNETWORKS_UNEXPECTED_NULL,
    BAD = ANEURALNETWORKS_BAD_DATA,
};

/* Of these functions; `what` names a pointer that is NULL. */
static int is_null(const char *what) { return nnv_rt_error(NULL_ARGUMENT, "support library", "%s is NULL", what); }

static int set_caching_from_fds(ANeuralNetworksCompilation *compilation, const int *model_fds, uint32_t model_count,
                                const int *data_fds, uint32_t data_count, const uint8_t *token) {
    if (!compilation) return is_null("compilation");
    if (!token || (!model_fds && model_count) || (!data_fds && data_count))
        return is_null(token ? "a list of descriptors" : "token");
    return nnv_rt_compilation_set_cache_fds(compilation, model_fds, model_count, data_fds, data_count, token);
}

static int get_cache_files(const ANeuralNetworksDevice *device, uint32_t *model, uint32_t *data) {
    if (!device || !model || !data) return is_null(device ? "a result" : "device");
    *model = device->driver->model_cache_files;
    *data = device->driver->data_cache_files;
    return OK;
}

static SL_ANeuralNetworksPerformanceInfo info_of(const struct nnvts_performance *p) {
    return (SL_ANeuralNetworksPerformanceInfo){.execTime = p->exec_time, .powerUsage = p->power_usage};
}

static int get_performance(const ANeuralNetworksDevice *device, int32_t kind, SL_ANeuralNetworksPerformanceInfo *info) {
    if (!device || !info) return is_null(device ? "performanceInfo" : "device");
    const struct nnvts_capabilities *c = &device->driver->capabilities;
    const struct nnvts_performance *const known[] = {
        [SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_RELAXED_SCALAR] = &c->relaxed_scalar,
        [SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_RELAXED_TENSOR] = &c->relaxed_tensor,
        [SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_IF] = &c->if_performance,
        [SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_WHILE] = &c->while_performance,
    };
    if ((uint32_t)kind >= sizeof known / sizeof *known)
        return nnv_rt_error(BAD, "support library", "%d is no kind of performance", kind);
    *info = info_of(known[kind]);
    return OK;
}

static int each_performance(const ANeuralNetworksDevice *device, void *context,
                            void (*callback)(SL_ANeuralNetworksOperandPerformanceInfo, void *)) {
    if (!device || !callback) return is_null(device ? "callback" : "device");
    const struct nnvts_capabilities *c = &device->driver->capabilities;
    for (uint32_t i = 0; i < c->operand_performance_count; i++) {
        const struct nnvts_operand_performance *p = &c->operand_performance[i];
        callback(
            (SL_ANeuralNetworksOperandPerformanceInfo){.operandType = p->type, .performanceInfo = info_of(&p->info)},
            context);
    }
    return OK;
}

static int get_extension_count(const ANeuralNetworksDevice *device, uint32_t *count) {
    if (!device || !count) return is_null(device ? "vendorExtensionCount" : "device");
    *count = device->driver->extension_count;
    return OK;
}

static int check_extension(const ANeuralNetworksDevice *device, uint32_t index) {
    uint32_t count = device->driver->extension_count;
    if (index < count) return OK;
    return nnv_rt_error(BAD, "support library", "there is no extension %u: %s has %u", index, device->name, count);
}

static int get_extension_name(const ANeuralNetworksDevice *device, uint32_t index, const char **name) {
    if (!device || !name) return is_null(device ? "extensionName" : "device");
    int result = check_extension(device, index);
    if (!result) *name = device->driver->extensions[index].name;
    return result;
}

static int each_extension_type(const ANeuralNetworksDevice *device, uint32_t index, void *context,
                               void (*callback)(SL_ANeuralNetworksExtensionOperandTypeInformation, void *)) {
    if (!device || !callback) return is_null(device ? "callback" : "device");
    int result = check_extension(device, index);
    if (result) return result;
    const struct nnvts_extension *e = &device->driver->extensions[index];
    for (uint32_t i = 0; i < e->operand_type_count; i++) {
        const struct nnvts_extension_operand_type *t = &e->operand_types[i];
        callback((SL_ANeuralNetworksExtensionOperandTypeInformation){.byteSize = t->byte_size,
                                                                     .type = t->type,
                                                                     .isTensor = t->is_tensor},
                 context);
    }
    return OK;
}

/* The table is that of level 8, of which those of the levels before are the beginning. */
#define OWN(name) .ANeuralNetworks##name = ANeuralNetworks##name
#define COMPILATION_INFO(type, name)                                                                                   \
    .SL_ANeuralNetworksDiagnosticCompilationInfo_##name = nnv_rt_diag_compilation_##name,
#define EXECUTION_INFO(type, name) .SL_ANeuralNetworksDiagnosticExecutionInfo_##name = nnv_rt_diag_execution_##name,

static NnApiSLDriverImplFL8 table = {
    .base = {.base = {.implFeatureLevel = ANEURALNETWORKS_FEATURE_LEVEL_8},
             OWN(Burst_create),
             OWN(Burst_free),
             OWN(Compilation_createForDevices),
             OWN(Compilation_finish),
             OWN(Compilation_free),
             OWN(Compilation_getPreferredMemoryAlignmentForInput),
             OWN(Compilation_getPreferredMemoryAlignmentForOutput),
             OWN(Compilation_getPreferredMemoryPaddingForInput),
             OWN(Compilation_getPreferredMemoryPaddingForOutput),
             OWN(Compilation_setCaching),
             OWN(Compilation_setPreference),
             OWN(Compilation_setPriority),
             OWN(Compilation_setTimeout),
             OWN(Device_getExtensionSupport),
             OWN(Device_getFeatureLevel),
             OWN(Device_getName),
             OWN(Device_getType),
             OWN(Device_getVersion),
             OWN(Device_wait),
             OWN(Event_createFromSyncFenceFd),
             OWN(Event_free),
             OWN(Event_getSyncFenceFd),
             OWN(Event_wait),
             OWN(Execution_burstCompute),
             OWN(Execution_compute),
             OWN(Execution_create),
             OWN(Execution_enableInputAndOutputPadding),
             OWN(Execution_free),
             OWN(Execution_getDuration),
             OWN(Execution_getOutputOperandDimensions),
             OWN(Execution_getOutputOperandRank),
             OWN(Execution_setInput),
             OWN(Execution_setInputFromMemory),
             OWN(Execution_setLoopTimeout),
             OWN(Execution_setMeasureTiming),
             OWN(Execution_setOutput),
             OWN(Execution_setOutputFromMemory),
             OWN(Execution_setReusable),
             OWN(Execution_setTimeout),
             OWN(Execution_startComputeWithDependencies),
             OWN(MemoryDesc_addInputRole),
             OWN(MemoryDesc_addOutputRole),
             OWN(MemoryDesc_create),
             OWN(MemoryDesc_finish),
             OWN(MemoryDesc_free),
             OWN(MemoryDesc_setDimensions),
             OWN(Memory_copy),
             OWN(Memory_createFromAHardwareBuffer),
             OWN(Memory_createFromDesc),
             OWN(Memory_createFromFd),
             OWN(Memory_free),
             OWN(Model_addOperand),
             OWN(Model_addOperation),
             OWN(Model_create),
             OWN(Model_finish),
             OWN(Model_free),
             OWN(Model_getExtensionOperandType),
             OWN(Model_getExtensionOperationType),
             OWN(Model_getSupportedOperationsForDevices),
             OWN(Model_identifyInputsAndOutputs),
             OWN(Model_relaxComputationFloat32toFloat16),
             OWN(Model_setOperandExtensionData),
             OWN(Model_setOperandSymmPerChannelQuantParams),
             OWN(Model_setOperandValue),
             OWN(Model_setOperandValueFromMemory),
             OWN(Model_setOperandValueFromModel),
             OWN(_getDefaultLoopTimeout),
             OWN(_getDevice),
             OWN(_getDeviceCount),
             OWN(_getMaximumLoopTimeout),
             OWN(_getRuntimeFeatureLevel),
             .SL_ANeuralNetworksCompilation_setCachingFromFds = set_caching_from_fds,
             .SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded = get_cache_files,
             .SL_ANeuralNetworksDevice_getPerformanceInfo = get_performance,
             .SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo = each_performance,
             .SL_ANeuralNetworksDevice_getVendorExtensionCount = get_extension_count,
             .SL_ANeuralNetworksDevice_getVendorExtensionName = get_extension_name,
             .SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation = each_extension_type,
             .SL_ANeuralNetworksDiagnostic_registerCallbacks = nnv_rt_diag_register,
             NNV_RT_DIAG_COMPILATION(COMPILATION_INFO) NNV_RT_DIAG_EXECUTION(EXECUTION_INFO)},
    OWN(Compilation_addExtensionAttribute),
    OWN(Execution_addExtensionAttribute),
};

NnApiSLDriverImpl *ANeuralNetworks_getSLDriverImpl(void) { return &table.base.base; }
