/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file columns.h Several runs as columns of one table, what differs first. The matrix is a JSON object
 * (docs/use/comparing.md); console and page are made of it alone.
 */
#ifndef NNV_REPORTS_COLUMNS_H
#define NNV_REPORTS_COLUMNS_H

#include <jansson.h>

#include "base/text.h"

enum { NNV_COLUMNS_MOST = 32 };

struct nnv_matrix_column {
    const char *name, *folder;
    const char *settings; /**< what it is a column for, in words */
};

/** Reads the runs of the columns. *matrix is a new reference. NNV_INVALID: a folder is none of a run. */
NNV_USE_RESULT enum nnv_status nnv_columns(const struct nnv_matrix_column *columns, size_t count, json_t **matrix,
                                           struct nnv_err *err);
/** Appends the matrix in words; a long list is cut. */
void nnv_columns_print(const json_t *matrix, struct nnv_text *to);
/** Appends the page. */
void nnv_columns_html(const json_t *matrix, struct nnv_text *to);

#endif
