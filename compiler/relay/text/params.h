/* SPDX-License-Identifier: Apache-2.0 */
/** @file params.h Values of parameters: TVM's binary form of arrays and of .params files, and a JSON form. */
#ifndef NNV_COMPILER_PARAMS_H
#define NNV_COMPILER_PARAMS_H

#include "compiler/relay/relay.h"

struct nnv_relay_param {
    const char *name;
    const struct nnv_relay_tensor *tensor;
};

struct nnv_relay_params {
    struct nnv_relay_param *params; /**< in the order of the file */
    size_t n;
};

/**
 * One array at the beginning of data; *used is its length in bytes. Its values are copied into arena. Errors do not
 * name a file.
 */
NNV_USE_RESULT enum nnv_status nnv_relay_array_read(const void *data, size_t len, struct nnv_arena *arena,
                                                    const struct nnv_relay_tensor **tensor, size_t *used,
                                                    struct nnv_err *err);
/** base64 text of whole bytes, decoded into memory of the arena. NULL: malformed, or out of memory. */
void *nnv_relay_base64(const char *text, size_t len, struct nnv_arena *arena, size_t *bytes);
/** A number as an element at `to`: i if it is whole, d for floats. False: the type has no such value. */
bool nnv_relay_element(enum nnv_relay_dtype dtype, bool whole, int64_t i, double d, void *to);
/** Appends the array, whose values are known. out->failed tells that memory ran out. */
void nnv_relay_array_write(const struct nnv_relay_tensor *tensor, struct nnv_text *out);

/**
 * A file of parameters: binary (".params"), or JSON: {"name": {"dtype": "float32", "shape": [2], "data": [1, 2.5]}},
 * where data may be base64 text of the little-endian values. name stands in messages.
 */
NNV_USE_RESULT enum nnv_status nnv_relay_params_read(const void *data, size_t len, const char *name,
                                                     struct nnv_arena *arena, struct nnv_relay_params *params,
                                                     struct nnv_err *err);
/** The binary form. */
void nnv_relay_params_write(const struct nnv_relay_params *params, struct nnv_text *out);
/**
 * Makes the parameters of @main that params name into constants. An error if one's type differs from what the
 * parameter declares; names that @main does not have are left.
 */
NNV_USE_RESULT enum nnv_status nnv_relay_params_bind(struct nnv_relay_module *m, const struct nnv_relay_params *params,
                                                     struct nnv_err *err);

#endif
