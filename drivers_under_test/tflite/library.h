/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file library.h TensorFlow Lite's C library, opened at run time, and what of its binary interface is needed here: its
 * functions, and the beginnings of the structs that it shares with delegates. They never change but at their ends.
 */
#ifndef TFLITE_LIBRARY_H
#define TFLITE_LIBRARY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TF_OK = 0, TF_BUILTIN_DELEGATE = 51 };

struct tf_int_array {
    int size, data[];
};

struct tf_registration;
struct tf_context {
    size_t tensor_count;
    int (*get_execution_plan)(struct tf_context *context, struct tf_int_array **plan);
    void *tensors, *impl;
    void *functions_before[3];
    int (*get_node_and_registration)(struct tf_context *context, int node, void **out_node,
                                     struct tf_registration **out_registration);
};

struct tf_registration {
    void *functions[5];
    int32_t builtin_code;
};

struct tf_delegate {
    void *data;
    int (*prepare)(struct tf_context *context, struct tf_delegate *delegate);
    void *buffer_functions[3];
    int64_t flags;
    void *later[6]; /**< what later versions have behind */
};

/** Of the built-in delegate. */
enum { TF_XNNPACK_QUANTISED = 3 }; /**< signed and unsigned operators, too */
struct tf_xnnpack_options {
    int32_t threads;
    uint32_t flags;
    void *later[6];
};

/** The functions, each with what it returns and takes. */
#define TF_FUNCTIONS(X)                                                                                                \
    X(const char *, Version, (void))                                                                                   \
    X(void *, ModelCreate, (const void *data, size_t bytes))                                                           \
    X(void, ModelDelete, (void *model))                                                                                \
    X(void *, InterpreterOptionsCreate, (void))                                                                        \
    X(void, InterpreterOptionsDelete, (void *options))                                                                 \
    X(void, InterpreterOptionsSetNumThreads, (void *options, int32_t threads))                                         \
    X(void, InterpreterOptionsAddDelegate, (void *options, struct tf_delegate *delegate))                              \
    X(void, InterpreterOptionsSetErrorReporter,                                                                        \
      (void *options, void (*report)(void *user, const char *format, va_list args), void *user))                       \
    X(void *, InterpreterCreate, (const void *model, const void *options))                                             \
    X(void, InterpreterDelete, (void *interpreter))                                                                    \
    X(void *, InterpreterGetInputTensor, (const void *interpreter, int32_t i))                                         \
    X(int, InterpreterAllocateTensors, (void *interpreter))                                                            \
    X(int, InterpreterInvoke, (void *interpreter))                                                                     \
    X(const void *, InterpreterGetOutputTensor, (const void *interpreter, int32_t i))                                  \
    X(void *, TensorData, (const void *tensor))                                                                        \
    X(size_t, TensorByteSize, (const void *tensor))                                                                    \
    X(int, TensorCopyToBuffer, (const void *tensor, void *data, size_t bytes))

/** Functions that a build of the library may lack; NULL then. */
#define TF_OPTIONAL_FUNCTIONS(X)                                                                                       \
    X(void, InterpreterOptionsSetUseNNAPI, (void *options, bool use))                                                  \
    X(int, InterpreterModifyGraphWithDelegate, (void *interpreter, struct tf_delegate *delegate))                      \
    X(struct tf_delegate *, XNNPackDelegateCreate, (const void *options))                                              \
    X(void, XNNPackDelegateDelete, (struct tf_delegate * delegate))

struct tf_library {
#define X(RESULT, NAME, PARAMETERS) RESULT(*NAME) PARAMETERS;
    TF_FUNCTIONS(X)
    TF_OPTIONAL_FUNCTIONS(X)
#undef X
};

/** Opens the library at path, or (NULL) the one that setup brought. A static string says why it can't; NULL: it is. */
const char *tf_open_library(const char *path, struct tf_library *out);

#endif
