/* SPDX-License-Identifier: Apache-2.0 */
/** @file expectations.h Expectations on the command line. */
#ifndef NNV_CLI_EXPECTATIONS_H
#define NNV_CLI_EXPECTATIONS_H

#include "harness/cli/cli.h"
#include "harness/journal/expect.h"

enum { NNV_REPEAT_MAX = 1000000 };

/** Rows of the option tables: a struct nnv_opt_list, and a struct nnv_expectations. */
#define NNV_OPTION_EXPECT(list)                                                                                        \
    { 0, "expect", NNV_OPT_LIST, &(list), "FILE", "what is known to fail; may be given several times", NULL }
#define NNV_OPTION_STRICT(x)                                                                                           \
    {                                                                                                                  \
        0, "strict", NNV_OPT_FLAG, &(x).strict, NULL,                                                                  \
            "what was expected to fail must fail, and no expectation be out of date", NULL                             \
    }

/**
 * Reads the files and finds out which entries are about which cases, those of the run. Nothing where no file is given,
 * but that --strict alone is refused.
 */
NNV_USE_RESULT enum nnv_status nnv_cli_expect(const struct nnv_opt_list *files, const struct nnv_cli *c,
                                              const struct nnv_run_config *config, const struct nnv_case *cases,
                                              size_t count, struct nnv_expectations *x, struct nnv_err *err);
/**
 * Judges the finished run in the folder by other expectations: writes outcomes.json, which its reports then go by.
 */
NNV_USE_RESULT enum nnv_status nnv_cli_judge_anew(const char *folder, const struct nnv_opt_list *files,
                                                  struct nnv_expectations *x, struct nnv_err *err);

#endif
