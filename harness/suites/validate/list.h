/* SPDX-License-Identifier: Apache-2.0 */
/** @file list.h The cases of the suite "validate": each row of a table with the models that have what it needs. */
#ifndef NNV_SUITES_VALIDATE_LIST_H
#define NNV_SUITES_VALIDATE_LIST_H

#include "harness/suites/validate/validate.h"

/** The three kinds of rows, as nnv_case.b holds them. */
enum nnv_validate_table { NNV_VALIDATE_MODEL, NNV_VALIDATE_REQUEST, NNV_VALIDATE_BOUNDARY, NNV_VALIDATE_TABLES };
/** How names of cases say it. */
extern const char *const nnv_validate_tables[NNV_VALIDATE_TABLES];

/** The tier in which all models of a row are taken. */
enum { NNV_VALIDATE_LAST_TIER = 2 };

/** What listing asks of a row. */
struct nnv_validate_row {
    const char *name;
    uint32_t needs;
    int level;
    int32_t type; /**< not for models of this type; 0: for all */
    bool all_operations;
};

/** Row i of a table; false behind the last. */
bool nnv_validate_row_at(enum nnv_validate_table table, size_t i, struct nnv_validate_row *row);

/** nnv_suite.list of "validate". */
NNV_USE_RESULT enum nnv_status nnv_validate_list(const struct nnv_run_config *config, struct nnv_case_list *list,
                                                 struct nnv_err *err);

#endif
