/* SPDX-License-Identifier: Apache-2.0 */
/** @file tables.h The pattern tables that are a part of the program: compiler/byoc/tables. */
#ifndef NNV_COMPILER_TABLES_H
#define NNV_COMPILER_TABLES_H

#include <stddef.h>

#include "compiler/byoc/pattern.h"

/** The text of the table of this name ("nnapi", "onednn") and its length, or NULL. */
const char *nnv_shipped_table(const char *name, size_t *len);

/** Where the name of a table is asked for: no table, operators stay single. */
#define NNV_NO_TABLE "none"
/** Reads the table of this name, or else the file: as nnv_pattern_load(). */
NNV_USE_RESULT enum nnv_status nnv_table_open(const char *name, struct nnv_arena *arena,
                                              struct nnv_pattern_table *table, struct nnv_err *err);

#endif
