/* SPDX-License-Identifier: Apache-2.0 */
/** @file shard.c Which shard a run is, from options and environment, and the times that shards are balanced by. */
#include <stdlib.h>

#include "harness/cli/cli.h"
#include "harness/journal/load.h"

/** What each case of the list took in an earlier run, microseconds; UINT64_MAX: not run there. Malloc'ed. */
static enum nnv_status read_times(const char *folder, const struct nnv_case_list *list, uint64_t **us,
                                  struct nnv_err *err) {
    struct nnv_report *past = NULL;
    enum nnv_status s = nnv_report_load(folder, &past, err);
    if (s != NNV_OK) return nnv_at(err, s, "--balance");
    *us = malloc((list->count + 1) * sizeof **us);
    size_t known = 0;
    for (size_t i = 0; *us != NULL && i < list->count; i++) {
        uint32_t at = nnv_map_find(&past->names, list->item[i].name);
        bool ran = at != NNV_MAP_NONE && past->item[at].length > 0;
        (*us)[i] = ran ? (uint64_t)(past->item[at].ms * 1000) : UINT64_MAX;
        known += ran;
    }
    nnv_report_free(past);
    if (*us == NULL) return nnv_no_memory(err);
    if (known == 0)
        return nnv_fail(err, NNV_INVALID, "--balance: the run in %s has none of these cases; give another", folder);
    return NNV_OK;
}

enum nnv_status nnv_cli_shard(const struct nnv_cli *c, bool ask_environment, struct nnv_case_list *list,
                              struct nnv_shard *shard, struct nnv_err *err) {
    uint64_t *us = NULL;
    enum nnv_status s = NNV_OK;
    if (c->shard != NULL)
        s = nnv_shard_parse(c->shard, "--shard", shard, err);
    else if (ask_environment && !c->no_shard)
        s = nnv_shard_find(shard, err);
    if (s == NNV_OK && shard->count == 0 && c->balance != NULL)
        s = nnv_fail(err, NNV_INVALID, "--balance: which shard is this? give --shard I/N, too");
    if (s != NNV_OK || shard->count == 0) return s;
    if (c->balance != NULL) s = read_times(c->balance, list, &us, err);
    if (s == NNV_OK) s = nnv_shard_keep(shard, list, us, err);
    free(us);
    return s;
}
