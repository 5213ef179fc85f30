/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file NeuralNetworks.h
 * The functions of the Android Neural Networks API (NNAPI), feature levels 1 to 8, and those for extensions. Names and
 * signatures are those of the NDK, so that a program written for the NDK compiles against this header unchanged.
 *
 * Rules that hold everywhere
 *  - Functions that return int return a ResultCode: ANEURALNETWORKS_NO_ERROR (0) or what was wrong.
 *    UNEXPECTED_NULL where a required pointer is NULL, BAD_DATA for a wrong argument, BAD_STATE for the wrong time.
 *  - Results come through the last pointer; where a function creates an object and fails, it writes NULL.
 *  - A model, compilation, memory or event may be used by several threads; but it is not to be changed by one while
 *    another uses it. An object outlives all that was made from it: a model its compilations, a compilation its
 *    executions, bursts and memory descriptors, a memory the models and executions that it was given to.
 *  - The free functions accept NULL.
 *  - Durations are nanoseconds.
 * "Level" says with which feature level a function came.
 */
#ifndef NNVTS_NEURAL_NETWORKS_H
#define NNVTS_NEURAL_NETWORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "NeuralNetworksTypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/** Graphics memory of Android; the platform's header completes it where there is one. */
typedef struct AHardwareBuffer AHardwareBuffer;

/* ------------------------------------------------------------------ devices */

/** The number of devices; the CPU reference, always there, is the last. Level 3. */
int ANeuralNetworks_getDeviceCount(uint32_t *numDevices);
/** Device devIndex: always the same pointer, never freed. BAD_DATA beyond the last. Level 3. */
int ANeuralNetworks_getDevice(uint32_t devIndex, ANeuralNetworksDevice **device);
/** The name, which tells the device apart from all others; valid as long as the process. Level 3. */
int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice *device, const char **name);
/** A DeviceTypeCode. OP_FAILED if the driver does not tell one. Level 3. */
int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice *device, int32_t *type);
/** The driver's version; valid as long as the process. Level 3. */
int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice *device, const char **version);
/** The highest FeatureLevelCode that device and runtime both know. Level 3. */
int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *device, int64_t *featureLevel);
/** Waits until the device answers; DEAD_OBJECT or UNAVAILABLE_DEVICE if it does not come back. Level 4. */
int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice *device);

/** How long a WHILE may run if the execution sets nothing: 2 seconds. Level 4. */
uint64_t ANeuralNetworks_getDefaultLoopTimeout(void);
/** The longest loop timeout that an execution may set: 15 seconds. Level 4. */
uint64_t ANeuralNetworks_getMaximumLoopTimeout(void);
/** The FeatureLevelCode of this library. Level 5. */
int64_t ANeuralNetworks_getRuntimeFeatureLevel(void);

/* ------------------------------------------------------------------- memory */

/**
 * Memory of size bytes at offset of a file that can be mapped; fd is duplicated and may be closed at once.
 * protect: PROT_READ, PROT_WRITE as of mmap. UNMAPPABLE if it cannot be mapped so. Freed by the caller. Level 1.
 */
int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset, ANeuralNetworksMemory **memory);
/** Memory in an Android hardware buffer. UNMAPPABLE where the platform has none. Freed by the caller. Level 3. */
int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer *ahwb, ANeuralNetworksMemory **memory);
/**
 * Memory fit for the roles of a finished descriptor, perhaps in the device itself. BAD_STATE: desc is not finished;
 * OP_FAILED: no device and no shared memory fits. Freed by the caller. Level 4.
 */
int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc *desc, ANeuralNetworksMemory **memory);
/**
 * Copies all of src, which has a value, to dst of the same type and size. BAD_DATA if they do not fit. A dst made from
 * a descriptor has no value where this fails. Level 4.
 */
int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst);
/** Frees a memory that no model or execution uses any more. Level 1. */
void ANeuralNetworksMemory_free(ANeuralNetworksMemory *memory);

/** A new, empty description of a memory. Freed by the caller. Level 4. */
int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc **desc);
/** Frees the description; memories made from it stay. Level 4. */
void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc *desc);
/**
 * The memory will be input index of executions of a finished compilation; frequency in (0, 1] says how often.
 * BAD_DATA: no such input, said twice, or contradicting an earlier role. BAD_STATE: desc is finished. Level 4.
 */
int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc *desc,
                                           const ANeuralNetworksCompilation *compilation, uint32_t index,
                                           float frequency);
/** The same for an output. Level 4. */
int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc *desc,
                                            const ANeuralNetworksCompilation *compilation, uint32_t index,
                                            float frequency);
/** Extents of the memory, 0 unknown; must fit the roles' (BAD_DATA). Level 4. */
int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc *desc, uint32_t rank, const uint32_t *dimensions);
/** Ends the description. BAD_DATA: it has no role; BAD_STATE: the second time. Level 4. */
int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc *desc);

/* -------------------------------------------------------------------- model */

/** A new, empty model. Freed by the caller, after its compilations. Level 1. */
int ANeuralNetworksModel_create(ANeuralNetworksModel **model);
/** Frees a model. Level 1. */
void ANeuralNetworksModel_free(ANeuralNetworksModel *model);
/** Adds an operand; the first has index 0. BAD_DATA: no legal type. BAD_STATE: the model is finished. Level 1. */
int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model, const ANeuralNetworksOperandType *type);
/**
 * Makes an operand a constant of exactly its size; NULL and 0: an omitted optional operand. Up to 128 bytes are
 * copied at once, a longer buffer must stay as it is until the model is finished. Level 1.
 */
int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index, const void *buffer, size_t length);
/** Makes an operand a constant that lies in a memory, which must outlive the model and keep its value. Level 1. */
int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel *model, int32_t index,
                                                   const ANeuralNetworksMemory *memory, size_t offset, size_t length);
/** Makes an operand of type MODEL refer to a finished model, which must outlive this one. Level 4. */
int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel *model, int32_t index,
                                                  const ANeuralNetworksModel *value);
/** Scales of a TENSOR_QUANT8_SYMM_PER_CHANNEL operand; copied. Level 3. */
int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    ANeuralNetworksModel *model, int32_t index, const ANeuralNetworksSymmPerChannelQuantParams *channelQuant);
/**
 * Adds an operation; any order will do. Its operands have been added, and models that it refers to have been set.
 * BAD_DATA: there is no such operation, or counts, types or ranks are not its. Level 1.
 */
int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model, ANeuralNetworksOperationType type,
                                      uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount,
                                      const uint32_t *outputs);
/** Says which operands are the model's inputs and outputs, one at least of each; they are no constants. Level 1. */
int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model, uint32_t inputCount,
                                                  const uint32_t *inputs, uint32_t outputCount,
                                                  const uint32_t *outputs);
/** Allows float32 to be computed with the range and precision of float16. Level 2. */
int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel *model, bool allow);
/** Ends the building. BAD_DATA: the model is not legal, and of no more use. BAD_STATE: the second time. Level 1. */
int ANeuralNetworksModel_finish(ANeuralNetworksModel *model);
/**
 * Writes for each operation of a finished model, in the order in which they were added, whether one of the devices
 * supports it. supportedOps has room for them all. Level 3.
 */
int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel *model,
                                                          const ANeuralNetworksDevice *const *devices,
                                                          uint32_t numDevices, bool *supportedOps);

/* -------------------------------------------------------------- compilation */

/** A compilation of a finished model for the devices that do it best. Freed by the caller. Level 1. */
int ANeuralNetworksCompilation_create(ANeuralNetworksModel *model, ANeuralNetworksCompilation **compilation);
/** A compilation for these devices and no other, so without a fallback. Freed by the caller. Level 3. */
int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model,
                                                const ANeuralNetworksDevice *const *devices, uint32_t numDevices,
                                                ANeuralNetworksCompilation **compilation);
/** Frees a compilation, after its executions and bursts. Level 1. */
void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *compilation);
/** A PreferenceCode. Level 1. */
int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation, int32_t preference);
/** Keeps what was compiled in files of a folder, under a token of 32 bytes that stands for the model. Level 3. */
int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation *compilation, const char *cacheDir,
                                          const uint8_t *token);
/** A PriorityCode. Level 4. */
int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation *compilation, int priority);
/** How long finish may take; 0: as long as it needs. For exactly one named device, else BAD_DATA. Level 4. */
int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation *compilation, uint64_t duration);
/** Compiles. BAD_STATE: the second time. Level 1. */
int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *compilation);
/** The alignment in bytes, a power of two, at which input index is read without a copy. Level 5. */
int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(const ANeuralNetworksCompilation *compilation,
                                                                   uint32_t index, uint32_t *alignment);
/** To a multiple of how many bytes the memory of input index is padded best. Level 5. */
int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(const ANeuralNetworksCompilation *compilation,
                                                                 uint32_t index, uint32_t *padding);
/** The alignment of output index. Level 5. */
int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(const ANeuralNetworksCompilation *compilation,
                                                                    uint32_t index, uint32_t *alignment);
/** The padding of output index. Level 5. */
int ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(const ANeuralNetworksCompilation *compilation,
                                                                  uint32_t index, uint32_t *padding);

/* ---------------------------------------------------------------- execution */

/** A new execution of a finished compilation. Freed by the caller. Level 1. */
int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksExecution **execution);
/** Frees an execution that is not running. Level 1. */
void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution);
/**
 * The value of input index; the buffer must stay until the execution has ended. type (may be NULL) completes what the
 * model leaves open of its shape. NULL and 0: an omitted optional input. Level 1.
 */
int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index,
                                      const ANeuralNetworksOperandType *type, const void *buffer, size_t length);
/** The same from a memory. Level 1. */
int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                const ANeuralNetworksOperandType *type,
                                                const ANeuralNetworksMemory *memory, size_t offset, size_t length);
/** Where output index is written; its shape may stay open. Level 1. */
int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *execution, int32_t index,
                                       const ANeuralNetworksOperandType *type, void *buffer, size_t length);
/** The same into a memory. Level 1. */
int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                 const ANeuralNetworksOperandType *type,
                                                 const ANeuralNetworksMemory *memory, size_t offset, size_t length);
/** Asks for durations. For exactly one named device, else BAD_DATA. Level 3. */
int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution *execution, bool measure);
/** A DurationCode's time once the execution has ended well, UINT64_MAX if the device tells none. Level 3. */
int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution *execution, int32_t durationCode,
                                         uint64_t *duration);
/** How long an execution may take; 0: as long as it needs. For exactly one named device, else BAD_DATA. Level 4. */
int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution *execution, uint64_t duration);
/** How long each WHILE may run; more than the maximum is the maximum. Level 4. */
int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution *execution, uint64_t duration);
/** Lets the execution be computed more than once, one after the other. Level 5. */
int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable);
/** Lets buffers be longer than their values; to be called before any argument is set. Level 5. */
int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution *execution, bool enable);
/** Starts computing; the event, freed by the caller, tells when and how it ends. Level 1. */
int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *execution, ANeuralNetworksEvent **event);
/** Computes and returns when done. Level 3. */
int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution);
/** Computes through a burst of the same compilation, which serves one execution at a time. Level 3. */
int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst);
/**
 * Starts computing once all the events have come; duration, counted from then, bounds it (0: does not). The new event,
 * freed by the caller, may have a fence. Outputs must be fully specified. Level 4.
 */
int ANeuralNetworksExecution_startComputeWithDependencies(ANeuralNetworksExecution *execution,
                                                          const ANeuralNetworksEvent *const *dependencies,
                                                          uint32_t num_dependencies, uint64_t duration,
                                                          ANeuralNetworksEvent **event);
/** Rank of output index after the execution. OUTPUT_INSUFFICIENT_SIZE: its buffer was too small. Level 3. */
int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution *execution, int32_t index, uint32_t *rank);
/** Extents of output index, which is of rank 1 or more, after the execution. Level 3. */
int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution *execution, int32_t index,
                                                        uint32_t *dimensions);

/** A burst, for executions of a finished compilation in quick succession. Freed by the caller. Level 3. */
int ANeuralNetworksBurst_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksBurst **burst);
/** Frees a burst. Level 3. */
void ANeuralNetworksBurst_free(ANeuralNetworksBurst *burst);

/** Waits for the end of the execution, or for the fence; returns its result, to each caller. Level 1. */
int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event);
/** Waits, and frees the event. Level 1. */
void ANeuralNetworksEvent_free(ANeuralNetworksEvent *event);
/** An event from a sync fence, a descriptor above 0 that is duplicated. Freed by the caller. Level 4. */
int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent **event);
/** A duplicate of the event's fence, closed by the caller; -1 and BAD_DATA: it has none. Level 4. */
int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent *event, int *sync_fence_fd);

/* --------------------------------------------------------------- extensions */

/** Whether the device knows the extension of this name. Level 3. */
int ANeuralNetworksDevice_getExtensionSupport(const ANeuralNetworksDevice *device, const char *extensionName,
                                              bool *isExtensionSupported);
/** The type code by which an extension's operand type goes in this model. BAD_DATA: no such extension. Level 3. */
int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel *model, const char *extensionName,
                                                 uint16_t operandCodeWithinExtension, int32_t *type);
/** The same for an operation. Level 3. */
int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel *model, const char *extensionName,
                                                   uint16_t operationCodeWithinExtension,
                                                   ANeuralNetworksOperationType *type);
/** Further parameters of an operand of an extension's type; copied. NULL and 0: none. Level 3. */
int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel *model, int32_t index, const void *data,
                                                 size_t length);
/** An extension's hint for the compilation; once each. For exactly one named device, else BAD_DATA. Level 8. */
int ANeuralNetworksCompilation_addExtensionAttribute(ANeuralNetworksCompilation *compilation, const char *extensionName,
                                                     uint16_t attributeCodeWithinExtension, const void *data,
                                                     size_t length);
/** An extension's hint for the execution; once each. For exactly one named device, else BAD_DATA. Level 8. */
int ANeuralNetworksExecution_addExtensionAttribute(ANeuralNetworksExecution *execution, const char *extensionName,
                                                   uint16_t attributeCodeWithinExtension, const void *data,
                                                   size_t length);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
