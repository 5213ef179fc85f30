/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_list.c nnvts list: the cases that a run would judge. */
#include <stdlib.h>

#include "base/text.h"
#include "harness/cli/cli.h"
#include "randgraph/graph/coverage.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts list [options]",
    .summary = "Lists the cases that a run with the same options would judge, without running anything.",
    .examples = "nnvts list | wc -l                      how many\n"
                "nnvts list -s randgraph --coverage      what random graphs have of operations and pairs\n"
                "nnvts list -k 'ops/SOFTMAX/*'           those of one operation\n"
                "nnvts list -k 'tag:exact & type:float16' -v  with their tags\n",
};

static void print_json(const struct nnv_case *c, struct nnv_text *line) {
    nnv_text_clear(line);
    const struct {
        const char *name, *value;
    } members[] = {{"case", c->name}, {"suite", c->suite}, {"op", c->op}, {"type", c->type}, {"tags", c->tags}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        nnv_text_addf(line, "%s\"%s\":", i == 0 ? "{" : ",", members[i].name);
        nnv_text_add_json(line, members[i].value);
    }
    nnv_text_addf(line, ",\"level\":%d}", c->level);
    if (!line->failed) puts(line->data);
}

/** Builds the specs of all cases and counts what they have. */
static enum nnv_status print_coverage(const struct nnv_run_config *config, const struct nnv_case_list *list, bool json,
                                      struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_graph_coverage c = {0};
    enum nnv_status s = arena == NULL ? nnv_no_memory(err) : NNV_OK;
    for (size_t i = 0; s == NNV_OK && i < list->count; i++) {
        const struct nnv_suite *suite = nnv_suite_by_name(list->item[i].suite);
        struct nnv_spec *spec;
        if (suite == NULL || suite->build == NULL) continue;
        nnv_arena_reset(arena);
        s = suite->build(config, &list->item[i], arena, &spec, err);
        if (s == NNV_OK && !nnv_graph_cover(&c, spec)) s = nnv_no_memory(err);
    }
    if (s == NNV_OK)
        printf(
            json ? "{\"graphs\":%zu,\"operations\":%zu,\"kinds\":%u,\"uses\":%u,\"pairs\":%u,\"all_pairs\":%zu,"
                   "\"ways\":%u}\n"
                 : "%zu graphs of %zu operations: %u kinds of operations in %u uses (type, rank, layout, attributes); "
                   "%u of %zu pairs (operation, type, operation), in %u ways\n",
            c.graphs, c.operations, c.ops.count, c.uses.count, c.pairs.count, nnv_graph_all_pairs(), c.ways.count);
    nnv_graph_coverage_free(&c);
    nnv_arena_free(arena);
    return s;
}

static int run(int argc, char **argv) {
    struct nnv_cli c;
    nnv_cli_defaults(&c);
    bool coverage = false;
    const struct nnv_opt table[] = {
        NNV_OPTION_SUITE(c),
        NNV_OPTION_FILTER(c),
        NNV_OPTION_SPECS(c),
        NNV_OPTION_TIER(c),
        NNV_OPTION_COUNT(c),
        NNV_OPTION_SEED(c),
        NNV_OPTION_SHARD(c),
        NNV_OPTION_BALANCE(c),
        {0, "coverage", NNV_OPT_FLAG, &coverage, NULL, "instead, what the graphs of these cases cover", NULL},
        NNV_OPTION_JSON(c),
        NNV_OPTION_VERBOSE(c),
        NNV_OPTION_END,
    };
    int code = nnv_cli_parse(&c, table, &help, 0, argc, argv);
    if (code >= 0) return code;

    struct nnv_err err = {0};
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_case_list list = {.arena = arena};
    struct nnv_run_config config;
    struct nnv_shard shard = {0};
    struct nnv_text line = {0};
    enum nnv_status s = arena == NULL ? nnv_no_memory(&err) : NNV_OK;
    if (s == NNV_OK) s = nnv_cli_config(&c, arena, &config, &err);
    if (s == NNV_OK) s = nnv_cli_cases(&c, &config, &list, &err);
    if (s == NNV_OK) s = nnv_cli_shard(&c, false, &list, &shard, &err);
    if (s == NNV_OK && coverage) s = print_coverage(&config, &list, c.json, &err);
    for (size_t i = 0; s == NNV_OK && !coverage && i < list.count; i++) {
        const struct nnv_case *k = &list.item[i];
        if (c.json)
            print_json(k, &line);
        else if (c.verbose)
            printf("%-60s %s %s %s\n", k->name, k->op, k->type, k->tags);
        else
            puts(k->name);
    }
    nnv_text_free(&line);
    nnv_shard_free(&shard);
    free(list.item);
    nnv_arena_free(arena);
    return s == NNV_OK ? NNVTS_EXIT_PASS : nnv_cli_error(&err);
}

const struct nnv_verb nnv_verb_list = {"list", "judge a driver", "list the cases that a run would judge", run};
