/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file NeuralNetworksSupportLibraryImpl.h
 * The table by which a Support Library driver of NNAPI offers its functions: one exported symbol,
 * ANeuralNetworks_getSLDriverImpl(), returns it. Order and layout of the members are the interface.
 */
#ifndef NNVTS_NEURAL_NETWORKS_SUPPORT_LIBRARY_IMPL_H
#define NNVTS_NEURAL_NETWORKS_SUPPORT_LIBRARY_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "NeuralNetworks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Relative to the CPU: below 1 is better. */
typedef struct SL_ANeuralNetworksPerformanceInfo {
    float execTime;
    float powerUsage;
} SL_ANeuralNetworksPerformanceInfo;

typedef struct SL_ANeuralNetworksOperandPerformanceInfo {
    int32_t operandType; /**< OperandCode */
    SL_ANeuralNetworksPerformanceInfo performanceInfo;
} SL_ANeuralNetworksOperandPerformanceInfo;

typedef struct SL_ANeuralNetworksExtensionOperandTypeInformation {
    uint32_t byteSize; /**< of an element */
    uint16_t type;     /**< within the extension */
    bool isTensor;
} SL_ANeuralNetworksExtensionOperandTypeInformation;

/** What SL_ANeuralNetworksDevice_getPerformanceInfo() tells. */
typedef enum {
    SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_RELAXED_SCALAR = 0,
    SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_RELAXED_TENSOR = 1,
    SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_IF = 2,
    SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_WHILE = 3,
} SLANeuralNetworksPerformanceInfoCode;

/** What kind of numbers a model takes or gives. */
typedef enum {
    ANNDIAG_DATA_CLASS_UNKNOWN = 0,
    ANNDIAG_DATA_CLASS_OTHER = 1,
    ANNDIAG_DATA_CLASS_FLOAT32 = 2,
    ANNDIAG_DATA_CLASS_FLOAT16 = 3,
    ANNDIAG_DATA_CLASS_QUANT = 4,
    ANNDIAG_DATA_CLASS_MIXED = 5,
} ANeuralNetworksDiagnosticDataClass;

/** How an execution was started. */
typedef enum {
    ANNDIAG_EXECUTION_MODE_UNKNOWN = 0,
    ANNDIAG_EXECUTION_MODE_ASYNC = 1,
    ANNDIAG_EXECUTION_MODE_SYNC = 2,
    ANNDIAG_EXECUTION_MODE_BURST = 3,
    ANNDIAG_EXECUTION_MODE_ASYNC_WITH_DEPS = 4,
} ANeuralNetworksDiagnosticExecutionMode;

/** What the callbacks are told; valid during the call, and so is all that the functions of the table tell of it. */
typedef struct ANeuralNetworksDiagnosticCompilationInfo ANeuralNetworksDiagnosticCompilationInfo;
typedef struct ANeuralNetworksDiagnosticExecutionInfo ANeuralNetworksDiagnosticExecutionInfo;

typedef void (*ANeuralNetworksDiagnosticCompilationFinishedCallback)(
    const void *context, const ANeuralNetworksDiagnosticCompilationInfo *info);
typedef void (*ANeuralNetworksDiagnosticExecutionFinishedCallback)(const void *context,
                                                                   const ANeuralNetworksDiagnosticExecutionInfo *info);

/** What each table begins with. */
typedef struct NnApiSLDriverImpl {
    int64_t implFeatureLevel; /**< FeatureLevelCode: which of the structs below it is, or the last that is older */
} NnApiSLDriverImpl;

/** Feature levels 5 to 7. The functions of NeuralNetworks.h are documented there. */
typedef struct NnApiSLDriverImplFL5 {
    NnApiSLDriverImpl base;

    int (*ANeuralNetworksBurst_create)(ANeuralNetworksCompilation *compilation, ANeuralNetworksBurst **burst);
    void (*ANeuralNetworksBurst_free)(ANeuralNetworksBurst *burst);
    int (*ANeuralNetworksCompilation_createForDevices)(ANeuralNetworksModel *model,
                                                       const ANeuralNetworksDevice *const *devices, uint32_t numDevices,
                                                       ANeuralNetworksCompilation **compilation);
    int (*ANeuralNetworksCompilation_finish)(ANeuralNetworksCompilation *compilation);
    void (*ANeuralNetworksCompilation_free)(ANeuralNetworksCompilation *compilation);
    int (*ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput)(const ANeuralNetworksCompilation *compilation,
                                                                          uint32_t index, uint32_t *alignment);
    int (*ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput)(
        const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *alignment);
    int (*ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput)(const ANeuralNetworksCompilation *compilation,
                                                                        uint32_t index, uint32_t *padding);
    int (*ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput)(const ANeuralNetworksCompilation *compilation,
                                                                         uint32_t index, uint32_t *padding);
    int (*ANeuralNetworksCompilation_setCaching)(ANeuralNetworksCompilation *compilation, const char *cacheDir,
                                                 const uint8_t *token);
    int (*ANeuralNetworksCompilation_setPreference)(ANeuralNetworksCompilation *compilation, int32_t preference);
    int (*ANeuralNetworksCompilation_setPriority)(ANeuralNetworksCompilation *compilation, int priority);
    int (*ANeuralNetworksCompilation_setTimeout)(ANeuralNetworksCompilation *compilation, uint64_t duration);
    int (*ANeuralNetworksDevice_getExtensionSupport)(const ANeuralNetworksDevice *device, const char *extensionName,
                                                     bool *isExtensionSupported);
    int (*ANeuralNetworksDevice_getFeatureLevel)(const ANeuralNetworksDevice *device, int64_t *featureLevel);
    int (*ANeuralNetworksDevice_getName)(const ANeuralNetworksDevice *device, const char **name);
    int (*ANeuralNetworksDevice_getType)(const ANeuralNetworksDevice *device, int32_t *type);
    int (*ANeuralNetworksDevice_getVersion)(const ANeuralNetworksDevice *device, const char **version);
    int (*ANeuralNetworksDevice_wait)(const ANeuralNetworksDevice *device);
    int (*ANeuralNetworksEvent_createFromSyncFenceFd)(int sync_fence_fd, ANeuralNetworksEvent **event);
    void (*ANeuralNetworksEvent_free)(ANeuralNetworksEvent *event);
    int (*ANeuralNetworksEvent_getSyncFenceFd)(const ANeuralNetworksEvent *event, int *sync_fence_fd);
    int (*ANeuralNetworksEvent_wait)(ANeuralNetworksEvent *event);
    int (*ANeuralNetworksExecution_burstCompute)(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst);
    int (*ANeuralNetworksExecution_compute)(ANeuralNetworksExecution *execution);
    int (*ANeuralNetworksExecution_create)(ANeuralNetworksCompilation *compilation,
                                           ANeuralNetworksExecution **execution);
    int (*ANeuralNetworksExecution_enableInputAndOutputPadding)(ANeuralNetworksExecution *execution, bool enable);
    void (*ANeuralNetworksExecution_free)(ANeuralNetworksExecution *execution);
    int (*ANeuralNetworksExecution_getDuration)(const ANeuralNetworksExecution *execution, int32_t durationCode,
                                                uint64_t *duration);
    int (*ANeuralNetworksExecution_getOutputOperandDimensions)(ANeuralNetworksExecution *execution, int32_t index,
                                                               uint32_t *dimensions);
    int (*ANeuralNetworksExecution_getOutputOperandRank)(ANeuralNetworksExecution *execution, int32_t index,
                                                         uint32_t *rank);
    int (*ANeuralNetworksExecution_setInput)(ANeuralNetworksExecution *execution, int32_t index,
                                             const ANeuralNetworksOperandType *type, const void *buffer, size_t length);
    int (*ANeuralNetworksExecution_setInputFromMemory)(ANeuralNetworksExecution *execution, int32_t index,
                                                       const ANeuralNetworksOperandType *type,
                                                       const ANeuralNetworksMemory *memory, size_t offset,
                                                       size_t length);
    int (*ANeuralNetworksExecution_setLoopTimeout)(ANeuralNetworksExecution *execution, uint64_t duration);
    int (*ANeuralNetworksExecution_setMeasureTiming)(ANeuralNetworksExecution *execution, bool measure);
    int (*ANeuralNetworksExecution_setOutput)(ANeuralNetworksExecution *execution, int32_t index,
                                              const ANeuralNetworksOperandType *type, void *buffer, size_t length);
    int (*ANeuralNetworksExecution_setOutputFromMemory)(ANeuralNetworksExecution *execution, int32_t index,
                                                        const ANeuralNetworksOperandType *type,
                                                        const ANeuralNetworksMemory *memory, size_t offset,
                                                        size_t length);
    int (*ANeuralNetworksExecution_setReusable)(ANeuralNetworksExecution *execution, bool reusable);
    int (*ANeuralNetworksExecution_setTimeout)(ANeuralNetworksExecution *execution, uint64_t duration);
    int (*ANeuralNetworksExecution_startComputeWithDependencies)(ANeuralNetworksExecution *execution,
                                                                 const ANeuralNetworksEvent *const *dependencies,
                                                                 uint32_t num_dependencies, uint64_t duration,
                                                                 ANeuralNetworksEvent **event);
    int (*ANeuralNetworksMemoryDesc_addInputRole)(ANeuralNetworksMemoryDesc *desc,
                                                  const ANeuralNetworksCompilation *compilation, uint32_t index,
                                                  float frequency);
    int (*ANeuralNetworksMemoryDesc_addOutputRole)(ANeuralNetworksMemoryDesc *desc,
                                                   const ANeuralNetworksCompilation *compilation, uint32_t index,
                                                   float frequency);
    int (*ANeuralNetworksMemoryDesc_create)(ANeuralNetworksMemoryDesc **desc);
    int (*ANeuralNetworksMemoryDesc_finish)(ANeuralNetworksMemoryDesc *desc);
    void (*ANeuralNetworksMemoryDesc_free)(ANeuralNetworksMemoryDesc *desc);
    int (*ANeuralNetworksMemoryDesc_setDimensions)(ANeuralNetworksMemoryDesc *desc, uint32_t rank,
                                                   const uint32_t *dimensions);
    int (*ANeuralNetworksMemory_copy)(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst);
    int (*ANeuralNetworksMemory_createFromAHardwareBuffer)(const AHardwareBuffer *ahwb, ANeuralNetworksMemory **memory);
    int (*ANeuralNetworksMemory_createFromDesc)(const ANeuralNetworksMemoryDesc *desc, ANeuralNetworksMemory **memory);
    int (*ANeuralNetworksMemory_createFromFd)(size_t size, int protect, int fd, size_t offset,
                                              ANeuralNetworksMemory **memory);
    void (*ANeuralNetworksMemory_free)(ANeuralNetworksMemory *memory);
    int (*ANeuralNetworksModel_addOperand)(ANeuralNetworksModel *model, const ANeuralNetworksOperandType *type);
    int (*ANeuralNetworksModel_addOperation)(ANeuralNetworksModel *model, ANeuralNetworksOperationType type,
                                             uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount,
                                             const uint32_t *outputs);
    int (*ANeuralNetworksModel_create)(ANeuralNetworksModel **model);
    int (*ANeuralNetworksModel_finish)(ANeuralNetworksModel *model);
    void (*ANeuralNetworksModel_free)(ANeuralNetworksModel *model);
    int (*ANeuralNetworksModel_getExtensionOperandType)(ANeuralNetworksModel *model, const char *extensionName,
                                                        uint16_t operandCodeWithinExtension, int32_t *type);
    int (*ANeuralNetworksModel_getExtensionOperationType)(ANeuralNetworksModel *model, const char *extensionName,
                                                          uint16_t operationCodeWithinExtension,
                                                          ANeuralNetworksOperationType *type);
    int (*ANeuralNetworksModel_getSupportedOperationsForDevices)(const ANeuralNetworksModel *model,
                                                                 const ANeuralNetworksDevice *const *devices,
                                                                 uint32_t numDevices, bool *supportedOps);
    int (*ANeuralNetworksModel_identifyInputsAndOutputs)(ANeuralNetworksModel *model, uint32_t inputCount,
                                                         const uint32_t *inputs, uint32_t outputCount,
                                                         const uint32_t *outputs);
    int (*ANeuralNetworksModel_relaxComputationFloat32toFloat16)(ANeuralNetworksModel *model, bool allow);
    int (*ANeuralNetworksModel_setOperandExtensionData)(ANeuralNetworksModel *model, int32_t index, const void *data,
                                                        size_t length);
    int (*ANeuralNetworksModel_setOperandSymmPerChannelQuantParams)(
        ANeuralNetworksModel *model, int32_t index, const ANeuralNetworksSymmPerChannelQuantParams *channelQuant);
    int (*ANeuralNetworksModel_setOperandValue)(ANeuralNetworksModel *model, int32_t index, const void *buffer,
                                                size_t length);
    int (*ANeuralNetworksModel_setOperandValueFromMemory)(ANeuralNetworksModel *model, int32_t index,
                                                          const ANeuralNetworksMemory *memory, size_t offset,
                                                          size_t length);
    int (*ANeuralNetworksModel_setOperandValueFromModel)(ANeuralNetworksModel *model, int32_t index,
                                                         const ANeuralNetworksModel *value);
    uint64_t (*ANeuralNetworks_getDefaultLoopTimeout)(void);
    int (*ANeuralNetworks_getDevice)(uint32_t devIndex, ANeuralNetworksDevice **device);
    int (*ANeuralNetworks_getDeviceCount)(uint32_t *numDevices);
    uint64_t (*ANeuralNetworks_getMaximumLoopTimeout)(void);
    int64_t (*ANeuralNetworks_getRuntimeFeatureLevel)(void);
    /** Caching in open files, as many as the device needs; a compilation for one device. */
    int (*SL_ANeuralNetworksCompilation_setCachingFromFds)(ANeuralNetworksCompilation *compilation,
                                                           const int *modelCacheFds, uint32_t numModelCacheFiles,
                                                           const int *dataCacheFds, uint32_t numDataCacheFiles,
                                                           const uint8_t *token);
    /** How many files the device needs for caching; 0 and 0: it does none. */
    int (*SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded)(const ANeuralNetworksDevice *device,
                                                                uint32_t *numModelCacheFiles,
                                                                uint32_t *numDataCacheFiles);
    /** BAD_DATA for what is no SLANeuralNetworksPerformanceInfoCode. */
    int (*SL_ANeuralNetworksDevice_getPerformanceInfo)(const ANeuralNetworksDevice *device, int32_t performanceInfoKind,
                                                       SL_ANeuralNetworksPerformanceInfo *performanceInfo);
    /** Calls back once for each operand type that the device states. */
    int (*SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo)(
        const ANeuralNetworksDevice *device, void *context,
        void (*callback)(SL_ANeuralNetworksOperandPerformanceInfo, void *));
    /** Extensions of the device; they are numbered from 0. */
    int (*SL_ANeuralNetworksDevice_getVendorExtensionCount)(const ANeuralNetworksDevice *device,
                                                            uint32_t *vendorExtensionCount);
    int (*SL_ANeuralNetworksDevice_getVendorExtensionName)(const ANeuralNetworksDevice *device,
                                                           uint32_t vendorExtensionIndex, const char **extensionName);
    /** Calls back once for each operand type of the extension. */
    int (*SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation)(
        const ANeuralNetworksDevice *device, uint32_t vendorExtensionIndex, void *context,
        void (*callback)(SL_ANeuralNetworksExtensionOperandTypeInformation, void *));
    /** Of a compilation that has ended. The session is that of the process. */
    int32_t (*SL_ANeuralNetworksDiagnosticCompilationInfo_getSessionId)(
        const ANeuralNetworksDiagnosticCompilationInfo *diagnosticCompilationInfo);
    int64_t (*SL_ANeuralNetworksDiagnosticCompilationInfo_getNnApiVersion)(
        const ANeuralNetworksDiagnosticCompilationInfo *diagnosticCompilationInfo);
    /** 32 bytes: equal for models that differ in the values of constants alone. */
    const uint8_t *(*SL_ANeuralNetworksDiagnosticCompilationInfo_getModelArchHash)(
        const ANeuralNetworksDiagnosticCompilationInfo *diagnosticCompilationInfo);
    /** Names and versions, separated by commas. */
    const char *(*SL_ANeuralNetworksDiagnosticCompilationInfo_getDeviceIds)(
        const ANeuralNetworksDiagnosticCompilationInfo *diagnosticCompilationInfo);
    int32_t (*SL_ANeuralNetworksDiagnosticCompilationInfo_getErrorCode)(
        const ANeuralNetworksDiagnosticCompilationInfo *diagnosticCompilationInfo);
    ANeuralNetworksDiagnosticDataClass (*SL_ANeuralNetworksDiagnosticCompilationInfo_getInputDataClass)(
        const ANeuralNetworksDiagnosticCompilationInfo *diagnosticCompilationInfo);
    ANeuralNetworksDiagnosticDataClass (*SL_ANeuralNetworksDiagnosticCompilationInfo_getOutputDataClass)(
        const ANeuralNetworksDiagnosticCompilationInfo *diagnosticCompilationInfo);
    uint64_t (*SL_ANeuralNetworksDiagnosticCompilationInfo_getCompilationTimeNanos)(
        const ANeuralNetworksDiagnosticCompilationInfo *diagnosticCompilationInfo);
    bool (*SL_ANeuralNetworksDiagnosticCompilationInfo_isCachingEnabled)(
        const ANeuralNetworksDiagnosticCompilationInfo *diagnosticCompilationInfo);
    bool (*SL_ANeuralNetworksDiagnosticCompilationInfo_isControlFlowUsed)(
        const ANeuralNetworksDiagnosticCompilationInfo *diagnosticCompilationInfo);
    bool (*SL_ANeuralNetworksDiagnosticCompilationInfo_areDynamicTensorsUsed)(
        const ANeuralNetworksDiagnosticCompilationInfo *diagnosticCompilationInfo);
    /** Of an execution that has ended. */
    int32_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getSessionId)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    int64_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getNnApiVersion)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    const uint8_t *(*SL_ANeuralNetworksDiagnosticExecutionInfo_getModelArchHash)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    const char *(*SL_ANeuralNetworksDiagnosticExecutionInfo_getDeviceIds)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    ANeuralNetworksDiagnosticExecutionMode (*SL_ANeuralNetworksDiagnosticExecutionInfo_getExecutionMode)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    ANeuralNetworksDiagnosticDataClass (*SL_ANeuralNetworksDiagnosticExecutionInfo_getInputDataClass)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    ANeuralNetworksDiagnosticDataClass (*SL_ANeuralNetworksDiagnosticExecutionInfo_getOutputDataClass)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    int32_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getErrorCode)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    /** Times: UINT64_MAX where they are not known. */
    uint64_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getRuntimeExecutionTimeNanos)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    uint64_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getDriverExecutionTimeNanos)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    uint64_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getHardwareExecutionTimeNanos)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    bool (*SL_ANeuralNetworksDiagnosticExecutionInfo_isCachingEnabled)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    bool (*SL_ANeuralNetworksDiagnosticExecutionInfo_isControlFlowUsed)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    bool (*SL_ANeuralNetworksDiagnosticExecutionInfo_areDynamicTensorsUsed)(
        const ANeuralNetworksDiagnosticExecutionInfo *diagnosticExecutionInfo);
    /** Called back at the end of each compilation and execution; NULL: not called. */
    void (*SL_ANeuralNetworksDiagnostic_registerCallbacks)(
        ANeuralNetworksDiagnosticCompilationFinishedCallback compilationCallback,
        ANeuralNetworksDiagnosticExecutionFinishedCallback executionCallback, void *callbackContext);
} NnApiSLDriverImplFL5;
typedef NnApiSLDriverImplFL5 NnApiSLDriverImplFL6;
typedef NnApiSLDriverImplFL5 NnApiSLDriverImplFL7;

/** Feature level 8: begins as that of level 5. */
typedef struct NnApiSLDriverImplFL8 {
    NnApiSLDriverImplFL5 base;

    int (*ANeuralNetworksCompilation_addExtensionAttribute)(ANeuralNetworksCompilation *compilation,
                                                            const char *extensionName,
                                                            uint16_t attributeCodeWithinExtension, const void *data,
                                                            size_t length);
    int (*ANeuralNetworksExecution_addExtensionAttribute)(ANeuralNetworksExecution *execution,
                                                          const char *extensionName,
                                                          uint16_t attributeCodeWithinExtension, const void *data,
                                                          size_t length);
} NnApiSLDriverImplFL8;

/** The table, which lives as long as the library is loaded; not NULL. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
NnApiSLDriverImpl *
ANeuralNetworks_getSLDriverImpl(void);

#ifdef __cplusplus
}
#endif

#endif
