/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/expectations.h"

#include <stdlib.h>

#include "harness/journal/expect_run.h"
#include "harness/runner/run.h"

static enum nnv_status read_all(const struct nnv_opt_list *files, struct nnv_expectations *x, struct nnv_err *err) {
    enum nnv_status s = NNV_OK;
    for (int i = 0; i < files->count && s == NNV_OK; i++) s = nnv_expect_read(files->item[i], x, err);
    return s;
}

enum nnv_status nnv_cli_expect(const struct nnv_opt_list *files, const struct nnv_cli *c,
                               const struct nnv_run_config *config, const struct nnv_case *cases, size_t count,
                               struct nnv_expectations *x, struct nnv_err *err) {
    if (files->count == 0 && x->strict)
        return nnv_fail(err, NNV_INVALID, "--strict is about expectations: give them with --expect FILE");
    if (files->count == 0) return NNV_OK;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_case_list all = {.arena = arena};
    enum nnv_status s = arena != NULL ? read_all(files, x, err) : nnv_no_memory(err);
    /* An entry is out of date if no case at all is meant, not if this run's filter leaves its cases out. */
    if (s == NNV_OK) s = nnv_list_suites(config, c->suite, &all, err);
    if (s == NNV_OK) s = nnv_expect_count(x, &all, nnv_known_names, err);
    if (s == NNV_OK) s = nnv_expect_bind(x, cases, count, err);
    free(all.item);
    nnv_arena_free(arena);
    return s;
}

enum nnv_status nnv_cli_judge_anew(const char *folder, const struct nnv_opt_list *files, struct nnv_expectations *x,
                                   struct nnv_err *err) {
    enum nnv_status s = read_all(files, x, err);
    return s == NNV_OK ? nnv_expect_anew(folder, x, nnv_known_names, err) : s;
}
