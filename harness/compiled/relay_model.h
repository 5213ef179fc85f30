/* SPDX-License-Identifier: Apache-2.0 */
/** @file relay_model.h Programs for the verbs of the compiler: Relay text, or models of TensorFlow Lite or ONNX. */
#ifndef NNV_COMPILED_RELAY_MODEL_H
#define NNV_COMPILED_RELAY_MODEL_H

#include "compiler/relay/text/params.h"
#include "compiler/relay/relay.h"

struct nnv_relay_program {
    struct nnv_relay_module *m; /**< parameters are bound; it is not checked yet */
    const char *text;           /**< as it was given; or, with the values of constants, as it was made */
    size_t len;
    struct nnv_relay_params *params; /**< that were bound, or NULL */
};

/**
 * Reads a program, and a file of parameters or NULL; all is of arena. A file that is called .tflite, or begins like
 * one, or is called .onnx, is converted: NNV_UNSUPPORTED names all of its operators that NNAPI or else Relay has no
 * form for. path may be NULL: no program was given, which is an error.
 */
NNV_USE_RESULT enum nnv_status nnv_relay_program_read(const char *path, const char *params, struct nnv_arena *arena,
                                                      struct nnv_relay_program *p, struct nnv_err *err);

#endif
