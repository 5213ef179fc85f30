/* SPDX-License-Identifier: Apache-2.0 */
/** @file subject.c The one spec that reduce, bisect and plan are about. */
#include <fnmatch.h>

#include "harness/cli/cli.h"
#include "reference/spec/spec.h"

/** Index of the one spec whose name matches. */
static enum nnv_status choose(const struct nnv_spec_file *file, const char *path, const char *glob,
                              struct nnv_arena *arena, size_t *index, struct nnv_err *err) {
    size_t found = 0, count = nnv_spec_count(file);
    if (glob == NULL && count == 1) {
        *index = 0;
        return NNV_OK;
    }
    if (glob == NULL)
        return nnv_fail(err, NNV_INVALID, "%s holds %zu specs: choose one with --filter (see them with nnvts show)",
                        path, count);
    for (size_t i = 0; i < count; i++) {
        struct nnv_spec *spec;
        nnv_arena_reset(arena);
        enum nnv_status st = nnv_spec_read(file, i, arena, &spec, err);
        if (st != NNV_OK) return st;
        if (fnmatch(glob, spec->name, 0) != 0) continue;
        *index = i;
        found++;
    }
    nnv_arena_reset(arena);
    if (found == 1) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s: '%s' matches %zu specs of %zu, expected one", path, glob, found, count);
}

enum nnv_status nnv_cli_one_spec(const struct nnv_cli *c, struct nnv_arena *arena, struct nnv_spec **spec,
                                 struct nnv_err *err) {
    struct nnv_spec_file *file = NULL;
    size_t index = 0;
    const char *path = c->positional.item[0];
    enum nnv_status st = nnv_spec_open(path, &file, err);
    if (st == NNV_OK) st = choose(file, path, c->filter, arena, &index, err);
    if (st == NNV_OK) st = nnv_spec_read(file, index, arena, spec, err);
    nnv_spec_close(file);
    return st;
}

enum nnv_status nnv_cli_subject(const struct nnv_cli *c, struct nnv_arena *arena, struct nnv_run_config *config,
                                struct nnv_spec **spec, enum nnv_precision *precision, struct nnv_err *err) {
    if (c->positional.count == 0)
        return nnv_fail(err, NNV_INVALID, "which spec? give a file (failed cases leave them in nnvts-out/dumps/)");
    if (c->driver == NULL)
        return nnv_fail(err, NNV_INVALID, "which driver? give --driver NAME (see them with nnvts drivers)");
    enum nnv_status st = nnv_cli_one_spec(c, arena, spec, err);
    if (st == NNV_OK) st = nnv_cli_config(c, arena, config, err);
    if (st == NNV_OK) st = nnv_case_precision(config, nnv_suite_by_name("spec"), *spec, precision, err);
    if (st == NNV_OK) (*spec)->precision = nnv_precision_name(*precision);
    return st;
}
