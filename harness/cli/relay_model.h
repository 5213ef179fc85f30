/* SPDX-License-Identifier: Apache-2.0 */
/** @file relay_model.h Programs for the verbs of the compiler: Relay text, or TensorFlow Lite models. */
#ifndef NNV_CLI_RELAY_MODEL_H
#define NNV_CLI_RELAY_MODEL_H

#include "compiler/params.h"
#include "compiler/relay.h"

struct nnv_cli_program {
    struct nnv_relay_module *m; /**< parameters are bound; Relay text is not checked yet */
    const char *text;           /**< as it was given; NULL: it was no text, see nnv_cli_program_print() */
    size_t len;
    struct nnv_relay_params *params; /**< that were bound, or NULL */
};

/**
 * Reads a program, and a file of parameters or NULL; all is of arena. A file that is called .tflite, or begins like
 * one, is converted: NNV_UNSUPPORTED names all of its operators that NNAPI or else Relay has no form for. path may be
 * NULL: no program was given, which is an error.
 */
NNV_USE_RESULT enum nnv_status nnv_cli_program_read(const char *path, const char *params, struct nnv_arena *arena,
                                                    struct nnv_cli_program *p, struct nnv_err *err);
/** Makes the text, with the values of constants, of a program that was none. To be called before m is changed. */
NNV_USE_RESULT enum nnv_status nnv_cli_program_print(struct nnv_cli_program *p, struct nnv_arena *arena,
                                                     struct nnv_err *err);

#endif
