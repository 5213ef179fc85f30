/* SPDX-License-Identifier: Apache-2.0 */
/** @file tables.h The pattern tables that are a part of the program: compiler/byoc/tables. */
#ifndef NNV_COMPILER_TABLES_H
#define NNV_COMPILER_TABLES_H

#include <stddef.h>

/** The text of the table of this name ("nnapi", "onednn") and its length, or NULL. */
const char *nnv_shipped_table(const char *name, size_t *len);

/** Where the name of a table is asked for: no table, operators stay single. */
#define NNV_NO_TABLE "none"

#endif
