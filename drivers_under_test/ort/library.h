/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file library.h ONNX Runtime's C library, opened at run time. Its functions stand in a table that only grows at its
 * end; all but the Release ones return a status: NULL is success.
 */
#ifndef ORT_LIBRARY_H
#define ORT_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/** Position in the table, what it returns, name, what it takes. */
#define OR_FUNCTIONS(X)                                                                                                \
    X(2, const char *, GetErrorMessage, (const void *status))                                                          \
    X(3, void *, CreateEnv, (int log_level, const char *id, void **env))                                               \
    X(8, void *, CreateSessionFromArray,                                                                               \
      (const void *env, const void *model, size_t bytes, const void *options, void **session))                         \
    X(9, void *, Run,                                                                                                  \
      (void *session, const void *run_options, const char *const *input_names, const void *const *inputs, size_t n,    \
       const char *const *output_names, size_t m, void **outputs))                                                     \
    X(10, void *, CreateSessionOptions, (void **options))                                                              \
    X(23, void *, SetSessionGraphOptimizationLevel, (void *options, int level))                                        \
    X(24, void *, SetIntraOpNumThreads, (void *options, int threads))                                                  \
    X(25, void *, SetInterOpNumThreads, (void *options, int threads))                                                  \
    X(49, void *, CreateTensorWithDataAsOrtValue,                                                                      \
      (const void *memory_info, void *data, size_t bytes, const int64_t *shape, size_t rank, int type, void **value))  \
    X(69, void *, CreateCpuMemoryInfo, (int allocator, int memory, void **info))                                       \
    X(93, void, ReleaseStatus, (void *status))                                                                         \
    X(94, void, ReleaseMemoryInfo, (void *info))                                                                       \
    X(95, void, ReleaseSession, (void *session))                                                                       \
    X(96, void, ReleaseValue, (void *value))                                                                           \
    X(100, void, ReleaseSessionOptions, (void *options))                                                               \
    X(130, void *, AddSessionConfigEntry, (void *options, const char *key, const char *value))                         \
    X(216, void *, SessionOptionsAppendExecutionProvider,                                                              \
      (void *options, const char *name, const char *const *keys, const char *const *values, size_t n))

struct or_library {
#define X(POSITION, RESULT, NAME, PARAMETERS) RESULT(*NAME) PARAMETERS;
    OR_FUNCTIONS(X)
#undef X
};

/** Opens the library at path, or (NULL) the one that setup brought. A static string says why it can't; NULL: it is. */
const char *or_open_library(const char *path, struct or_library *out);

#endif
