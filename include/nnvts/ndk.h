/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ndk.h The functions of an NNAPI library by name, for programs that load one with dlopen: a list to make
 * tables of. A Support Library driver lacks those marked so, and offers all others through its own table.
 */
#ifndef NNVTS_NDK_H
#define NNVTS_NDK_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "NeuralNetworks.h"

/*
 * X(name without the prefix "ANeuralNetworks", first feature level): the functions of the NDK that a Support Library
 * offers, too, in its table.
 */
#define NNVTS_NDK_TABLE_FUNCTIONS(X)                                                                                   \
    X(_getDeviceCount, 3)                                                                                              \
    X(_getDevice, 3)                                                                                                   \
    X(_getDefaultLoopTimeout, 4)                                                                                       \
    X(_getMaximumLoopTimeout, 4)                                                                                       \
    X(_getRuntimeFeatureLevel, 5)                                                                                      \
    X(Device_getName, 3)                                                                                               \
    X(Device_getType, 3)                                                                                               \
    X(Device_getVersion, 3)                                                                                            \
    X(Device_getFeatureLevel, 3)                                                                                       \
    X(Device_wait, 4)                                                                                                  \
    X(Memory_createFromFd, 1)                                                                                          \
    X(Memory_createFromDesc, 4)                                                                                        \
    X(Memory_copy, 4)                                                                                                  \
    X(Memory_free, 1)                                                                                                  \
    X(MemoryDesc_create, 4)                                                                                            \
    X(MemoryDesc_free, 4)                                                                                              \
    X(MemoryDesc_addInputRole, 4)                                                                                      \
    X(MemoryDesc_addOutputRole, 4)                                                                                     \
    X(MemoryDesc_setDimensions, 4)                                                                                     \
    X(MemoryDesc_finish, 4)                                                                                            \
    X(Model_create, 1)                                                                                                 \
    X(Model_free, 1)                                                                                                   \
    X(Model_addOperand, 1)                                                                                             \
    X(Model_setOperandValue, 1)                                                                                        \
    X(Model_setOperandValueFromMemory, 1)                                                                              \
    X(Model_setOperandValueFromModel, 4)                                                                               \
    X(Model_setOperandSymmPerChannelQuantParams, 3)                                                                    \
    X(Model_addOperation, 1)                                                                                           \
    X(Model_identifyInputsAndOutputs, 1)                                                                               \
    X(Model_relaxComputationFloat32toFloat16, 2)                                                                       \
    X(Model_finish, 1)                                                                                                 \
    X(Model_getSupportedOperationsForDevices, 3)                                                                       \
    X(Compilation_createForDevices, 3)                                                                                 \
    X(Compilation_free, 1)                                                                                             \
    X(Compilation_setPreference, 1)                                                                                    \
    X(Compilation_setCaching, 3)                                                                                       \
    X(Compilation_setPriority, 4)                                                                                      \
    X(Compilation_setTimeout, 4)                                                                                       \
    X(Compilation_finish, 1)                                                                                           \
    X(Compilation_getPreferredMemoryAlignmentForInput, 5)                                                              \
    X(Compilation_getPreferredMemoryAlignmentForOutput, 5)                                                             \
    X(Compilation_getPreferredMemoryPaddingForInput, 5)                                                                \
    X(Compilation_getPreferredMemoryPaddingForOutput, 5)                                                               \
    X(Execution_create, 1)                                                                                             \
    X(Execution_free, 1)                                                                                               \
    X(Execution_setInput, 1)                                                                                           \
    X(Execution_setInputFromMemory, 1)                                                                                 \
    X(Execution_setOutput, 1)                                                                                          \
    X(Execution_setOutputFromMemory, 1)                                                                                \
    X(Execution_setMeasureTiming, 3)                                                                                   \
    X(Execution_getDuration, 3)                                                                                        \
    X(Execution_setTimeout, 4)                                                                                         \
    X(Execution_setLoopTimeout, 4)                                                                                     \
    X(Execution_setReusable, 5)                                                                                        \
    X(Execution_enableInputAndOutputPadding, 5)                                                                        \
    X(Execution_compute, 3)                                                                                            \
    X(Execution_burstCompute, 3)                                                                                       \
    X(Execution_startComputeWithDependencies, 4)                                                                       \
    X(Execution_getOutputOperandRank, 3)                                                                               \
    X(Execution_getOutputOperandDimensions, 3)                                                                         \
    X(Burst_create, 3)                                                                                                 \
    X(Burst_free, 3)                                                                                                   \
    X(Event_wait, 1)                                                                                                   \
    X(Event_free, 1)                                                                                                   \
    X(Event_createFromSyncFenceFd, 4)                                                                                  \
    X(Event_getSyncFenceFd, 4)

/* The functions of the NDK. */
#define NNVTS_NDK_FUNCTIONS(X)                                                                                         \
    NNVTS_NDK_TABLE_FUNCTIONS(X)                                                                                       \
    X(Compilation_create, 1)                                                                                           \
    X(Execution_startCompute, 1)

/* Functions that a library may lack: those for extensions, and for a kind of memory that only Android has. */
#define NNVTS_NDK_OPTIONAL_FUNCTIONS(X)                                                                                \
    X(Memory_createFromAHardwareBuffer, 3)                                                                             \
    X(Device_getExtensionSupport, 3)                                                                                   \
    X(Model_getExtensionOperandType, 3)                                                                                \
    X(Model_getExtensionOperationType, 3)                                                                              \
    X(Model_setOperandExtensionData, 3)                                                                                \
    X(Compilation_addExtensionAttribute, 8)                                                                            \
    X(Execution_addExtensionAttribute, 8)

/**
 * The functions by name: table->Model_create(...), table->_getDevice(...). A pointer may be NULL only where the library
 * lacks it. (The declared functions' types are taken: a wrong declaration does not compile.)
 */
#define NNVTS_NDK_MEMBER(name, level) __typeof__(ANeuralNetworks##name) *name;
struct nnvts_ndk {
    NNVTS_NDK_FUNCTIONS(NNVTS_NDK_MEMBER)
    NNVTS_NDK_OPTIONAL_FUNCTIONS(NNVTS_NDK_MEMBER)
};

/** What a driver argument says behind "ndk:" and "sl:": PATH[#DEVICE][:level=N][:pointers][:aosp]. */
struct nnvts_ndk_target {
    const char *path;
    const char *device; /**< NULL: none is named */
    int level;          /**< feature level 1 to 8; 0: the library's functions tell */
    bool pointers;      /**< values are given by pointers, never in memories of the library */
    bool aosp;          /**< it promises what Android's runtime does beyond the header */
};

/** Cuts the text into its parts, which the target then points to. */
static inline void nnvts_ndk_target(char *text, struct nnvts_ndk_target *to) {
    to->path = text; /* one by one: C++ has no other way that C has */
    to->device = NULL;
    to->level = 0;
    to->pointers = false;
    to->aosp = false;
    for (char *option; (option = strrchr(text, ':')) != NULL; *option = 0)
        if (strcmp(option, ":pointers") == 0)
            to->pointers = true;
        else if (strcmp(option, ":aosp") == 0)
            to->aosp = true;
        else if (strncmp(option, ":level=", 7) == 0 && option[7] >= '1' && option[7] <= '8' && !option[8])
            to->level = option[7] - '0';
        else
            break;
    char *hash = strrchr(text, '#');
    if (!hash) return;
    to->device = hash[1] ? hash + 1 : NULL;
    *hash = 0;
}

#endif
