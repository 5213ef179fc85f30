/* SPDX-License-Identifier: Apache-2.0 */
/** @file sl_diag.h What a Support Library tells its loader of each compilation and execution that ends. */
#ifndef NNV_RUNTIME_SL_DIAG_H
#define NNV_RUNTIME_SL_DIAG_H

#include "NeuralNetworksSupportLibraryImpl.h"
#include "reference/runtime/api/compilation.h"

/** Now, in ns, if a callback is set; else 0. */
uint64_t nnv_rt_diag_begin(void);
/** A compilation has ended with this result; nothing is told where since is 0. */
void nnv_rt_diag_compiled(const ANeuralNetworksCompilation *c, int result, uint64_t since);
/** An execution has ended; timing is what the driver told, NNVTS_NO_TIME where it did not. */
void nnv_rt_diag_executed(const ANeuralNetworksCompilation *c, ANeuralNetworksDiagnosticExecutionMode mode, int result,
                          uint64_t since, const struct nnvts_timing *timing);

/** The members of the table: SL_ANeuralNetworksDiagnostic*. */
#define NNV_RT_DIAG_COMMON(X)                                                                                          \
    X(int32_t, getSessionId)                                                                                           \
    X(int64_t, getNnApiVersion)                                                                                        \
    X(const uint8_t *, getModelArchHash)                                                                               \
    X(const char *, getDeviceIds)                                                                                      \
    X(int32_t, getErrorCode)                                                                                           \
    X(ANeuralNetworksDiagnosticDataClass, getInputDataClass)                                                           \
    X(ANeuralNetworksDiagnosticDataClass, getOutputDataClass)                                                          \
    X(bool, isCachingEnabled)                                                                                          \
    X(bool, isControlFlowUsed)                                                                                         \
    X(bool, areDynamicTensorsUsed)
#define NNV_RT_DIAG_COMPILATION(X)                                                                                     \
    NNV_RT_DIAG_COMMON(X)                                                                                              \
    X(uint64_t, getCompilationTimeNanos)
#define NNV_RT_DIAG_EXECUTION(X)                                                                                       \
    NNV_RT_DIAG_COMMON(X)                                                                                              \
    X(ANeuralNetworksDiagnosticExecutionMode, getExecutionMode)                                                        \
    X(uint64_t, getRuntimeExecutionTimeNanos)                                                                          \
    X(uint64_t, getDriverExecutionTimeNanos)                                                                           \
    X(uint64_t, getHardwareExecutionTimeNanos)
#define NNV_RT_DECLARE_COMPILATION(type, name)                                                                         \
    type nnv_rt_diag_compilation_##name(const ANeuralNetworksDiagnosticCompilationInfo *info);
#define NNV_RT_DECLARE_EXECUTION(type, name)                                                                           \
    type nnv_rt_diag_execution_##name(const ANeuralNetworksDiagnosticExecutionInfo *info);
NNV_RT_DIAG_COMPILATION(NNV_RT_DECLARE_COMPILATION)
NNV_RT_DIAG_EXECUTION(NNV_RT_DECLARE_EXECUTION)
void nnv_rt_diag_register(ANeuralNetworksDiagnosticCompilationFinishedCallback compiled,
                          ANeuralNetworksDiagnosticExecutionFinishedCallback executed, void *context);

#endif
