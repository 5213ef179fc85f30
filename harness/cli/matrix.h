/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file matrix.h nnvts run --matrix FILE: the same run with other options and environments, a column each. The file is
 * written like the configuration file (settings.h): a section for each column, "option = value" of run, and
 * "env.NAME = value" for a variable of the environment.
 */
#ifndef NNV_CLI_MATRIX_H
#define NNV_CLI_MATRIX_H

#include "harness/cli/cli.h"

/**
 * Runs each column in a process of its own, with the run's options and then the column's, into OUT/COLUMN. Leaves
 * matrix.json and matrix.html in OUT and prints what differs. c->code becomes the worst of the columns' exit codes.
 */
NNV_USE_RESULT enum nnv_status nnv_cli_matrix(struct nnv_cli *c, const char *file, struct nnv_err *err);

#endif
