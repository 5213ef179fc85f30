/* SPDX-License-Identifier: Apache-2.0 */
/** @file interpreter.h A model in TensorFlow Lite, with a delegate, and which of its operators the delegate took. */
#ifndef TFLITE_INTERPRETER_H
#define TFLITE_INTERPRETER_H

#include "engine/passed.h"
#include "library.h"

enum tf_delegate_kind { TF_DELEGATE_NONE, TF_DELEGATE_XNNPACK, TF_DELEGATE_NNAPI, TF_DELEGATE_PLUGIN };

/** What accelerates. */
struct tf_accelerator {
    enum tf_delegate_kind kind;
    struct tf_delegate *(*create)(char **keys, char **values, size_t count,
                                  void (*report)(const char *)); /**< plug-in */
    void (*destroy)(struct tf_delegate *delegate);
    struct engine_passed options; /**< for a plug-in */
};

/** Opens a plug-in, and tries its options. A static string says why it can't; NULL: it is open. */
const char *tf_open_plugin(const char *path, struct tf_accelerator *out);

struct tf_interpreter;

/**
 * An interpreter with its tensors allocated. It takes the file (and frees it), also where it fails. took: for each
 * operator whether the delegate has it; all true without a delegate. NULL: TensorFlow Lite or the delegate refused;
 * tf_words says what it said.
 */
struct tf_interpreter *tf_interpret(const struct tf_library *lib, const struct tf_accelerator *a, uint32_t threads,
                                    uint8_t *file, size_t bytes, bool *took, uint32_t operator_count);
void *tf_interpreter_handle(const struct tf_interpreter *i);
/** NULL is allowed. */
void tf_interpreter_free(struct tf_interpreter *i);

#endif
