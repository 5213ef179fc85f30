/* SPDX-License-Identifier: Apache-2.0 */
/** @file read.h What the parts of the spec reader share; private to reference/spec. */
#ifndef NNV_MODEL_SPEC_READ_H
#define NNV_MODEL_SPEC_READ_H

#include <jansson.h>

#include "reference/model/model.h"

struct nnv_reader {
    const char *where; /**< file and line, for errors */
    struct nnv_arena *arena;
    struct nnv_err *err;
    bool malformed; /**< the spec expects a failure: codes and sizes may be wrong on purpose */
};

/** A place in the JSON document: a chain on the stack, written out only in errors. */
struct nnv_path {
    const struct nnv_path *up; /**< NULL: a member of the document */
    const char *key;           /**< member name, or NULL: element index */
    size_t index;
};

/** The error "where: path: expected ..., got ..."; got NULL: nothing is there. Returns NNV_INVALID. */
enum nnv_status nnv_spec_bad(const struct nnv_reader *r, const struct nnv_path *at, const json_t *got,
                             const char *expected, ...) NNV_PRINTF(4, 5);
/** The error "where: path: message". Returns status. */
enum nnv_status nnv_spec_refuse(const struct nnv_reader *r, const struct nnv_path *at, enum nnv_status status,
                                const char *fmt, ...) NNV_PRINTF(4, 5);

/** An integer in [lo, hi]; what names it in errors: "an extent". */
NNV_USE_RESULT enum nnv_status nnv_spec_int(const struct nnv_reader *r, const struct nnv_path *at, const json_t *json,
                                            const char *what, int64_t lo, int64_t hi, int64_t *v);
/** A number that float32 can hold, rounded to it; finite but in malformed specs. */
NNV_USE_RESULT enum nnv_status nnv_spec_float(const struct nnv_reader *r, const struct nnv_path *at, const json_t *json,
                                              float *v);
/**
 * The elements of a tensor or scalar: an array of numbers or {"base64": ...}. The count is checked against dims before
 * anything is allocated. *data is arena's and not NULL. In malformed specs {"base64": ..., "bytes": n} holds n bytes
 * whatever dims say.
 */
NNV_USE_RESULT enum nnv_status nnv_spec_data(const struct nnv_reader *r, const struct nnv_path *at, const json_t *json,
                                             int32_t type, uint32_t rank, const uint32_t *dims, void **data,
                                             size_t *bytes);

#endif
