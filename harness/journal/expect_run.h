/* SPDX-License-Identifier: Apache-2.0 */
/** @file expect_run.h Expectations and a finished run: it judged by others, and files of them made from it. */
#ifndef NNV_JOURNAL_EXPECT_RUN_H
#define NNV_JOURNAL_EXPECT_RUN_H

#include "harness/journal/expect.h"

/** Judges the run in the folder by other expectations: writes outcomes.json, which its reports then go by. */
NNV_USE_RESULT enum nnv_status nnv_expect_anew(const char *folder, struct nnv_expectations *x, nnv_select_names *known,
                                               struct nnv_err *err);

/** Entries of a file that was updated. */
struct nnv_expect_updated {
    size_t kept, dropped, added;
    size_t expired; /**< of those that were kept */
};
/**
 * Writes the file, which may be there already, so that the run in the folder would pass by it: entries whose cases
 * still fail stay, what does not fail any more is dropped, what fails and is in no entry is added.
 */
NNV_USE_RESULT enum nnv_status nnv_expect_update(const char *folder, const char *file,
                                                 struct nnv_expect_updated *updated, struct nnv_err *err);

#endif
