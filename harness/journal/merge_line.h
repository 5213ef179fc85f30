/* SPDX-License-Identifier: Apache-2.0 */
/** @file merge_line.h A line of a shard's journal as it stands in that of the whole run. */
#ifndef NNV_HARNESS_MERGE_LINE_H
#define NNV_HARNESS_MERGE_LINE_H

#include <stdint.h>

#include "base/text.h"

/**
 * Adds the n bytes of a case line, sound JSON, with worker more to its worker's number and, if dump is not NULL (its
 * dump, relative to a run folder), with a replay line that names the dump below out. *number: the worker's old number.
 */
void nnv_merge_line(const char *line, size_t n, uint32_t worker, const char *dump, const char *out,
                    struct nnv_text *text, uint32_t *number);
/**
 * Brings the files of a dump, "dumps/x.json" and those beside it, from one run folder to another: linked, or copied
 * where that is impossible. What is not there is left out. NNV_INVALID: a path that leads elsewhere.
 */
NNV_USE_RESULT enum nnv_status nnv_merge_dump(const char *from, const char *to, const char *dump, struct nnv_err *err);

#endif
