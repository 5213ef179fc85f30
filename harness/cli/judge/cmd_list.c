/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_list.c nnvts list: the cases that a run would judge. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/map.h"
#include "base/words.h"
#include "harness/cli/cli.h"
#include "harness/journal/shards/times.h"
#include "harness/runner/audit/clauses.h"
#include "randgraph/fusion/fusion.h"
#include "randgraph/graph/coverage.h"
#include "randgraph/single/tally.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts list [options]",
    .summary = "Lists the cases that a run with the same options would judge, without running anything.",
    .examples =
        "nnvts list | wc -l                      how many\n"
        "nnvts list --suites                     the suites, and what each verifies\n"
        "nnvts list --tiers --times nnvts-out     the tiers, and how long each would take, by that run\n"
        "nnvts list --times nnvts-out | sort -rn | head  what takes longest\n"
        "nnvts list -s ops --coverage            each operation's pairs of attributes, and how many have a case\n"
        "nnvts list -s randgraph --coverage      what random graphs have of operations and pairs\n"
        "nnvts list -s fusion --coverage -v     the table of chains that backends fuse, and how much of it is there\n"
        "nnvts list --clauses                    which rules of NNAPI they check, and which none does\n"
        "nnvts list -k 'ops/SOFTMAX/*'           those of one operation\n"
        "nnvts list -k 'tag:exact & type:float16' -v  with their tags\n",
};

/** One case: its name, or all that is known of it. times: NULL where nobody asked. */
static void print_case(const struct nnv_case *c, const struct nnv_times *times, bool verbose) {
    bool measured;
    if (times != NULL) printf("%10.4f  ", nnv_times_of(times, c, &measured) / 1e6);
    if (verbose)
        printf("%-60s %s %s %s\n", c->name, c->op, c->type, c->tags);
    else
        puts(c->name);
}

static void print_json(const struct nnv_case *c, const struct nnv_times *times, struct nnv_text *line) {
    bool measured;
    struct nnv_json_out j = {.text = line};
    nnv_text_clear(line);
    nnv_json_open(&j, NULL, '{');
    nnv_case_json(&j, c);
    nnv_json_raw(&j, "level", "%d", c->level);
    if (times != NULL) {
        nnv_json_raw(&j, "seconds", "%.6f", nnv_times_of(times, c, &measured) / 1e6);
        nnv_json_bool(&j, "measured", measured);
    }
    nnv_json_close(&j, '}');
    if (!line->failed) puts(line->data);
}

/** Kinds of consumers that a chain is built with, of as many as there are for the type; -1: there are none. */
static int consumers_built(const struct nnv_map *built, const struct nnv_fusion_chain *chain, int32_t type) {
    char name[160];
    int n = 0;
    if (!nnv_fusion_takes(chain, type)) return -1;
    for (int c = 0; c < NNV_CONSUMERS_COUNT; c++) {
        snprintf(name, sizeof name, "fusion/%s/%s/%s", chain->name, nnv_type(type)->tag,
                 nnv_consumers_name((enum nnv_consumers)c));
        n += nnv_map_find(built, name) != NNV_MAP_NONE;
    }
    return n;
}

/** The table of chains: for each type the kinds of consumers that the cases have; "-" where the chain has not the type.
 */
static void print_chains(const struct nnv_map *built, bool json, bool verbose) {
    size_t cells = 0, there = 0;
    if (verbose && !json) printf("%-40s", "chain");
    for (int t = 0; t < NNV_FUSION_TYPES && verbose && !json; t++) printf(" %s", nnv_type(nnv_fusion_types[t])->tag);
    if (verbose && !json) putchar('\n');
    for (size_t i = 0; i < nnv_fusion_chains(); i++) {
        struct nnv_fusion_chain chain;
        nnv_fusion_chain_of(i, &chain);
        if (verbose && !json) printf("%-40s", chain.name);
        for (int t = 0; t < NNV_FUSION_TYPES; t++) {
            const char *tag = nnv_type(nnv_fusion_types[t])->tag;
            const int n = consumers_built(built, &chain, nnv_fusion_types[t]);
            cells += n < 0 ? 0 : NNV_CONSUMERS_COUNT;
            there += n < 0 ? 0 : (size_t)n;
            if (verbose && !json && n < 0) printf(" %*s", (int)strlen(tag), "-");
            if (verbose && !json && n >= 0) printf(" %*d/%d", (int)strlen(tag) - 2, n, NNV_CONSUMERS_COUNT);
        }
        if (verbose && !json) putchar('\n');
    }
    printf(json ? "{\"chains\":%zu,\"chain_cells\":%zu,\"chain_cells_built\":%zu}\n"
                : "%zu chains that backends fuse: of %zu cells (chain, type, consumers of the middle) %zu are built\n",
           nnv_fusion_chains(), cells, there);
}

/** Notes the cell of a case of the suite fusion: its name but for the number. */
static bool note_chain(struct nnv_map *built, const char *name, struct nnv_arena *arena) {
    char *cell = nnv_arena_strdup(arena, name);
    if (cell == NULL) return false;
    if (strrchr(cell, '/') != NULL) *strrchr(cell, '/') = 0;
    return nnv_map_add(built, cell) != NNV_MAP_NONE;
}

/* What the listed cases cover. */
struct coverage {
    struct nnv_graph_coverage graphs;
    struct nnv_tally attributes;
};

/* Cases of single operations count by their attributes, whole graphs by their operations. */
static enum nnv_status count_case(struct coverage *c, const struct nnv_case *k, const struct nnv_spec *spec,
                                  struct nnv_err *err) {
    const struct nnv_op *op = nnv_op_by_name(k->op);
    const char *sig = strncmp(k->name, "ops/", 4) == 0 ? strchr(k->name + 4, '/') : NULL;
    char name[96];
    if (!sig || !op) return nnv_graph_cover(&c->graphs, spec) ? NNV_OK : nnv_no_memory(err);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(sig + 1, "/"), sig + 1);
    return nnv_tally_add(&c->attributes, op, name, spec->source, err);
}

static void print_attributes(const struct nnv_tally *t, bool json) {
    size_t n, complete = 0, covered = 0;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++) {
        const struct nnv_tally_line l = nnv_tally_of(t, ops[i]);
        if (l.rows == 0) continue;
        if (covered == 0 && !json)
            printf("%-30s %10s %7s %7s %7s\n", "operation", "attributes", "types", "rows", "pairs");
        covered++;
        complete += l.covered == l.pairs;
        printf(json ? "{\"op\":\"%s\",\"attributes\":%u,\"types\":%zu,\"rows\":%zu,\"pairs\":%zu,\"covered\":%zu}\n"
                    : "%-30s %10u %7zu %7zu %7zu, %zu covered\n",
               ops[i]->name, ops[i]->nfactors, l.signatures, l.rows, l.pairs, l.covered);
    }
    if (covered > 0 && !json)
        printf("%zu of %zu operations: each pair of values of two attributes has a case in every type\n", complete,
               covered);
}

/** Builds the specs of all cases and counts what they have. */
static enum nnv_status print_coverage(const struct nnv_cli *cli, const struct nnv_run_config *config,
                                      const struct nnv_case_list *list, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    struct coverage c = {0};
    const struct nnv_graph_coverage *g = &c.graphs;
    struct nnv_map built = {.arena = cli->arena};
    const bool json = cli->json;
    enum nnv_status s = arena == NULL ? nnv_no_memory(err) : NNV_OK;
    for (size_t i = 0; s == NNV_OK && i < list->count; i++) {
        const struct nnv_suite *suite = nnv_suite_by_name(list->item[i].suite);
        struct nnv_spec *spec;
        if (suite == NULL || suite->build == NULL) continue;
        nnv_arena_reset(arena);
        s = suite->build(config, &list->item[i], arena, &spec, err);
        if (s == NNV_UNSUPPORTED) { /* no graph could be drawn for the case: it covers nothing */
            s = NNV_OK;
            continue;
        }
        if (s == NNV_OK) s = count_case(&c, &list->item[i], spec, err);
        if (s == NNV_OK && strcmp(suite->name, "fusion") == 0 && !note_chain(&built, list->item[i].name, cli->arena))
            s = nnv_no_memory(err);
    }
    if (s == NNV_OK) print_attributes(&c.attributes, json);
    if (s == NNV_OK && g->graphs > 0)
        printf(
            json ? "{\"graphs\":%zu,\"operations\":%zu,\"kinds\":%u,\"uses\":%u,\"pairs\":%u,\"all_pairs\":%zu,"
                   "\"ways\":%u,\"chance_of_new_trait\":%.5f}\n"
                 : "%zu graphs of %zu operations: %u kinds of operations in %u uses (type, rank, layout, attributes); "
                   "%u of %zu pairs (operation, type, operation), in %u ways\n"
                   "the chance that the next graph has a trait that none of these has: %.3g\n",
            g->graphs, g->operations, g->ops.count, g->uses.count, g->pairs.count, nnv_graph_all_pairs(), g->ways.count,
            nnv_unseen_chance(&g->traits));
    if (s == NNV_OK && built.count > 0) print_chains(&built, json, cli->verbose);
    nnv_graph_coverage_free(&c.graphs);
    nnv_tally_free(&c.attributes);
    nnv_arena_free(arena);
    return s;
}

/** Clause i, the number of cases that check it, and of one without a case the reason, or where there are some. */
static void print_clause(const struct nnv_clause_book *b, uint32_t i, uint32_t cases, bool json,
                         struct nnv_text *line) {
    struct nnv_json_out j = {.text = line};
    const struct nnv_clause *k = &b->all.item[i];
    const char *word = b->reason[i] ? "reason" : "see", *text = b->reason[i] ? b->reason[i] : b->globs[i];
    nnv_text_clear(line);
    if (json) {
        nnv_json_open(&j, NULL, '{');
        nnv_json_string(&j, "clause", k->id);
        nnv_json_string(&j, "subject", k->subject);
        nnv_json_string(&j, "text", k->text);
        nnv_json_uint(&j, "cases", cases);
        if (cases == 0) nnv_json_string(&j, word, text);
        nnv_json_close(&j, '}');
    } else {
        nnv_text_addf(line, "%-40s %6u  %s", k->id, cases, k->text);
        if (cases == 0) nnv_text_addf(line, " (No case; %s: %s)", word, text ? text : "nothing");
    }
    if (!line->failed) puts(line->data);
}

/** A case with the ids of its clauses. */
static void print_case_clauses(const struct nnv_clause_book *b, const char *name, const uint32_t *numbers, uint32_t n,
                               bool json, struct nnv_text *line) {
    struct nnv_json_out j = {.text = line};
    nnv_text_clear(line);
    if (json) {
        nnv_json_open(&j, NULL, '{');
        nnv_json_string(&j, "case", name);
        nnv_json_open(&j, "clauses", '[');
        for (uint32_t i = 0; i < n; i++) nnv_json_string(&j, NULL, b->all.item[numbers[i]].id);
        nnv_json_close(&j, ']');
        nnv_json_close(&j, '}');
    } else {
        nnv_text_add(line, name);
        for (uint32_t i = 0; i < n; i++) nnv_text_addf(line, " %s", b->all.item[numbers[i]].id);
    }
    if (!line->failed) puts(line->data);
}

/** The clauses of NNAPI, and how many of the cases check each; verbose: instead each case with its clauses. */
static enum nnv_status print_clauses(const struct nnv_cli *c, const struct nnv_case_list *list, struct nnv_text *line,
                                     struct nnv_err *err) {
    struct nnv_clause_book book;
    enum nnv_status s = nnv_clause_book(c->arena, &book, err);
    if (s != NNV_OK) return s;
    uint32_t *count = NNV_NEW(c->arena, uint32_t, book.all.count), none = 0;
    if (count == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < list->count; i++) {
        const struct nnv_case *k = &list->item[i];
        const uint32_t *numbers, n = nnv_clauses_of_case(&book, k->name, k->op, k->type, &numbers);
        for (uint32_t m = 0; m < n; m++) count[numbers[m]]++;
        if (c->verbose) print_case_clauses(&book, k->name, numbers, n, c->json, line);
    }
    for (uint32_t i = 0; i < book.all.count && !c->verbose; i++) {
        print_clause(&book, i, count[i], c->json, line);
        none += count[i] == 0;
    }
    if (!c->json && !c->verbose)
        printf("%u clauses, %u of them without a case; %zu cases\n", book.all.count, none, list->count);
    return NNV_OK;
}

/** Seconds that one worker will take for all of them; 0 where nobody asked. */
static double seconds_of(const struct nnv_times *times, const struct nnv_case_list *cases) {
    double us = 0;
    bool measured;
    for (size_t i = 0; times != NULL && i < cases->count; i++) us += nnv_times_of(times, &cases->item[i], &measured);
    return us / 1e6;
}

/** A row of --suites or --tiers: cases, and the seconds where somebody asked. */
static void add_amount(struct nnv_text *line, const char *name, const struct nnv_case_list *cases,
                       const struct nnv_times *times) {
    nnv_text_addf(line, "%-10s %8zu", name, cases->count);
    if (times == NULL) return;
    struct nnv_text t = {0};
    nnv_text_add_seconds(&t, seconds_of(times, cases));
    nnv_text_addf(line, " %10s", t.data != NULL ? t.data : "?");
    nnv_text_free(&t);
}

/** All tiers: how many cases the suites make, how long a run of them may take, and what for. */
static enum nnv_status print_tiers(const struct nnv_cli *c, struct nnv_run_config config, const struct nnv_times *times,
                                   struct nnv_text *line, struct nnv_err *err) {
    for (config.tier = 0; config.tier < NNV_TIERS; config.tier++) {
        const struct nnv_tier *tier = &nnv_tiers[config.tier];
        struct nnv_arena *arena = nnv_arena_new();
        struct nnv_case_list cases = {.arena = arena};
        enum nnv_status s = arena != NULL ? nnv_list_suites(&config, c->suite, &cases, err) : nnv_no_memory(err);
        if (s == NNV_OK) s = nnv_select(&cases, c->filter, err);
        nnv_text_clear(line);
        if (s == NNV_OK && c->json) {
            struct nnv_json_out j = {.text = line};
            nnv_json_open(&j, NULL, '{');
            nnv_json_string(&j, "tier", nnv_tier_name(config.tier));
            nnv_json_uint(&j, "cases", cases.count);
            if (times != NULL) nnv_json_raw(&j, "seconds", "%.3f", seconds_of(times, &cases));
            if (tier->budget_ns > 0) nnv_json_raw(&j, "time_budget", "%.3f", (double)tier->budget_ns / 1e9);
            nnv_json_string(&j, "use", tier->use);
            nnv_json_close(&j, '}');
        } else if (s == NNV_OK) {
            struct nnv_text budget = {0};
            if (tier->budget_ns > 0) nnv_text_add_seconds(&budget, (double)tier->budget_ns / 1e9);
            add_amount(line, nnv_tier_name(config.tier), &cases, times);
            nnv_text_addf(line, " %8s  %s", budget.data != NULL ? budget.data : "-", tier->use);
            nnv_text_free(&budget);
        }
        if (s == NNV_OK && !line->failed) puts(line->data);
        free(cases.item);
        nnv_arena_free(arena);
        if (s != NNV_OK) return s;
    }
    return NNV_OK;
}

/** All suites with what they verify, and how many of the cases are theirs. */
static enum nnv_status print_suites(const struct nnv_cli *c, const struct nnv_run_config *config,
                                    const struct nnv_times *times, struct nnv_text *line, struct nnv_err *err) {
    size_t count;
    const struct nnv_suite *const *suites = nnv_suites(&count);
    for (size_t i = 0; i < count; i++) {
        struct nnv_case_list cases = {.arena = c->arena};
        const enum nnv_status s = suites[i]->list(config, &cases, err);
        if (s != NNV_OK) return nnv_at(err, s, "suite %s", suites[i]->name);
        struct nnv_json_out j = {.text = line};
        nnv_text_clear(line);
        if (c->json) {
            nnv_json_open(&j, NULL, '{');
            nnv_json_string(&j, "suite", suites[i]->name);
            nnv_json_uint(&j, "cases", cases.count);
            if (times != NULL) nnv_json_raw(&j, "seconds", "%.3f", seconds_of(times, &cases));
            nnv_json_bool(&j, "by_default", suites[i]->by_default);
            nnv_json_string(&j, "verifies", suites[i]->summary);
            nnv_json_close(&j, '}');
        } else {
            add_amount(line, suites[i]->name, &cases, times);
            nnv_text_addf(line, "%s %s", suites[i]->by_default ? " " : "*", suites[i]->summary);
        }
        free(cases.item);
        if (!line->failed) puts(line->data);
    }
    if (!c->json) puts("* only when asked for by --suite; the suite api also where the driver is a library");
    return NNV_OK;
}

/** Text that is no spec is an error of the file, beside the cases that could be read. */
static enum nnv_status check_specs(const struct nnv_case_list *cases, struct nnv_err *err) {
    const struct nnv_case *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < cases->count; i++) {
        if (strcmp(cases->item[i].tags, "malformed") != 0) continue;
        if (count++ == 0) first = &cases->item[i];
    }
    if (count == 0) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s:%" PRIu64 ": no spec can be read here%s; nnvts run --suite spec says why",
                    first->file, first->c, count > 1 ? ", and in other places" : "");
}

static enum nnv_status list(void *own, struct nnv_err *err) {
    const struct nnv_cli *c = own;
    struct nnv_case_list cases = {.arena = c->arena};
    struct nnv_run_config config;
    struct nnv_shard shard = {0};
    struct nnv_text line = {0};
    struct nnv_times *times = NULL;
    enum nnv_status s = nnv_cli_config(c, c->arena, &config, err);
    if (s == NNV_OK) s = nnv_cli_saturate(c->saturated, &config, c->arena, err);
    if (s == NNV_OK && c->times != NULL && (s = nnv_times_read(c->times, &times, err)) != NNV_OK)
        s = nnv_at(err, s, "--times");
    if (s == NNV_OK && (c->suites || c->tiers)) {
        s = c->tiers ? print_tiers(c, config, times, &line, err) : print_suites(c, &config, times, &line, err);
        nnv_text_free(&line);
        nnv_times_free(times);
        return s;
    }
    if (s == NNV_OK) s = nnv_cli_cases(c, &config, &cases, err);
    if (s == NNV_OK) s = nnv_cli_shard(c, false, &cases, &shard, err);
    if (s == NNV_OK && c->coverage) s = print_coverage(c, &config, &cases, err);
    if (s == NNV_OK && !c->coverage && c->clauses) s = print_clauses(c, &cases, &line, err);
    for (size_t i = 0; s == NNV_OK && !c->coverage && !c->clauses && i < cases.count; i++) {
        if (c->json)
            print_json(&cases.item[i], times, &line);
        else
            print_case(&cases.item[i], times, c->verbose);
    }
    if (s == NNV_OK) s = check_specs(&cases, err);
    nnv_times_free(times);
    nnv_text_free(&line);
    nnv_shard_free(&shard);
    free(cases.item);
    return s;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    const struct nnv_opt table[] = {
        NNV_OPTION_SUITE(c),
        NNV_OPTION_FILTER(c),
        NNV_OPTION_CASES(c),
        NNV_OPTION_FAILED(c),
        NNV_OPTION_SPECS(c),
        NNV_OPTION_TIER(c),
        NNV_OPTION_COUNT(c),
        NNV_OPTION_SATURATED(c),
        NNV_OPTION_SEED(c),
        NNV_OPTION_SHARD(c),
        NNV_OPTION_BALANCE(c),
        {0, "times", NNV_OPT_STRING, &c.times, "RUN",
         "with seconds: what each case took in that run, or the mean of its operation there", NULL},
        {0, "tiers", NNV_OPT_FLAG, &c.tiers, NULL, "instead, the tiers: how many cases, how long at most, what for",
         NULL},
        {0, "suites", NNV_OPT_FLAG, &c.suites, NULL, "instead, the suites, how many cases each has, what for", NULL},
        {0, "coverage", NNV_OPT_FLAG, &c.coverage, NULL, "instead, what the graphs of these cases cover", NULL},
        {0, "clauses", NNV_OPT_FLAG, &c.clauses, NULL,
         "instead, the clauses of NNAPI and how many of these cases check each; -v: the cases with their clauses",
         NULL},
        NNV_OPTION_JSON(c),
        NNV_OPTION_VERBOSE(c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&c, table, &help, 0, argc, argv, list, &c);
}

const struct nnv_verb nnv_verb_list = {"list", "judge a driver", "list the cases that a run would judge", run};
