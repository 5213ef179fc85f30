/* SPDX-License-Identifier: Apache-2.0 */
/** @file case.h Test cases by their names: what runs are made of. */
#ifndef NNV_JOURNAL_CASE_H
#define NNV_JOURNAL_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/** Of cases whose verdict hangs on how long something takes: nothing runs beside them. */
#define NNV_TAG_TIMING "timing"

/** One test case: a stable name and what its suite needs to make it. Strings live as long as the list. */
struct nnv_case {
    const char *name;    /**< "ops/CONV_2D/quant8_asymm/nchw_dilation/3" */
    const char *suite;   /**< "ops" */
    const char *op;      /**< main operation, or "" */
    const char *type;    /**< type tag of the main operand, or "" */
    const char *tags;    /**< space-separated further tags, "" if none: "exact", "edge", NNV_TAG_TIMING */
    bool foreign;        /**< a model of another form: what NNAPI has no equal for is UNSUPPORTED, not a SKIP */
    int level;           /**< feature level that a driver must have to be asked; 0: any */
    const char *file;    /**< that the case is read from; NULL: it is generated */
    uint64_t a, b, c, d; /**< the suite's own */
    const void *data;    /**< the suite's own */
};

struct nnv_case_list {
    struct nnv_arena *arena; /**< of the strings */
    struct nnv_case *item;   /**< malloc'ed: the list's owner frees it */
    size_t count, cap;
};
/** Appends a copy of c (its strings are copied too, file and data are not). NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_case_add(struct nnv_case_list *list, const struct nnv_case *c, struct nnv_err *err);
struct nnv_json_out;
/** What a case is called and is about, as the first members of an object. */
void nnv_case_json(struct nnv_json_out *j, const struct nnv_case *c);
/** Whether the tag is among the case's. */
bool nnv_case_has_tag(const struct nnv_case *c, const char *tag);

#endif
