/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/cli.h"

#include "base/driver.h"
#include "harness/cli/settings.h"
#include "harness/runner/priority.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const nnv_cli_precisions[] = {"default", "nnapi", "aosp", "budget", "aosp-graph", NULL};
const char *const nnv_cli_vias[] = {"driver", "runtime", NULL};
const char *const nnv_cli_tiers[] = {"smoke", "default", "full", NULL};

void nnv_cli_defaults(struct nnv_cli *c) {
    memset(c, 0, sizeof *c);
    c->out = "nnvts-out";
    c->seed = 1;
    c->timeout_ns = UINT64_C(10000000000);
    c->tier = 1;
    const char *specs = getenv("NNVTS_SPECS");
    c->specs = specs != NULL && *specs != '\0' ? specs : NULL;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    c->jobs = cpus > 0 ? (uint64_t)cpus : 1;
}

int nnv_cli_error(const struct nnv_err *err) {
    fprintf(stderr, "nnvts: %s\n", err->text);
    switch (err->status) {
    case NNV_OK:
        return NNVTS_EXIT_PASS;
    case NNV_INVALID:
    case NNV_UNSUPPORTED:
    case NNV_TIMEOUT:
        return NNVTS_EXIT_USAGE;
    case NNV_NO_MEMORY:
    case NNV_IO:
    case NNV_INTERNAL:
        return NNVTS_EXIT_ERROR;
    }
    return NNVTS_EXIT_ERROR;
}

/** A driver behind the runtime is a driver like another: reports and the lines that reproduce a case need no more. */
static enum nnv_status go_through(struct nnv_cli *c, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    const char *path, *options;
    const char *first = arena ? nnv_arena_printf(arena, "%.*s", (int)strcspn(c->driver, ",#"), c->driver) : NULL;
    enum nnv_status s = first ? nnv_driver_resolve(first, arena, &path, &options, err) : nnv_no_memory(err);
    nnv_arena_free(arena);
    if (s != NNV_OK) return s;
    int n = snprintf(c->via_driver, sizeof c->via_driver, "%s:%s", nnv_cli_vias[c->via], c->driver);
    if (n < 0 || (size_t)n >= sizeof c->via_driver)
        return nnv_fail(err, NNV_INVALID, "--driver: a name of more than %zu characters", sizeof c->via_driver);
    c->driver = c->via_driver;
    return NNV_OK;
}

/* Set while a verb is described. */
static nnv_cli_reader *reader;
static void *reader_context;

void nnv_cli_describe(const struct nnv_verb *verb, nnv_cli_reader *told, void *context) {
    char name[32];
    snprintf(name, sizeof name, "%s", verb->name);
    reader = told;
    reader_context = context;
    verb->run(1, (char *[]){name, NULL});
    reader = NULL;
}

int nnv_cli_parse(struct nnv_cli *c, const struct nnv_opt *table, const struct nnv_verb_help *help, int max_positional,
                  int argc, char **argv) {
    struct nnv_err err = {0};
    if (reader != NULL) {
        reader(reader_context, help, table);
        return NNVTS_EXIT_PASS;
    }
    enum nnv_status s = nnv_settings_apply(argv[0], table, &err);
    if (s == NNV_OK) s = nnv_opts_parse(table, argc, argv, &c->positional, &c->help, &err);
    if (s == NNV_OK && c->help) {
        nnv_opts_help(stdout, help, table);
        return NNVTS_EXIT_PASS;
    }
    if (s == NNV_OK && c->positional.count > max_positional)
        s = nnv_fail(&err, NNV_INVALID, "unexpected argument '%s'", c->positional.item[max_positional]);
    if (s == NNV_OK && (c->jobs == 0 || c->jobs > 256))
        s = nnv_fail(&err, NNV_INVALID, "--jobs %llu: expected 1 to 256", (unsigned long long)c->jobs);
    if (s == NNV_OK && c->count > 10000000)
        s = nnv_fail(&err, NNV_INVALID, "--count %llu: expected at most 10000000", (unsigned long long)c->count);
    if (s == NNV_OK && c->memory_mb > 1 << 30)
        s = nnv_fail(&err, NNV_INVALID, "--memory %llu: expected at most %d", (unsigned long long)c->memory_mb,
                     1 << 30);
    if (s == NNV_OK && c->timeout_ns == 0) s = nnv_fail(&err, NNV_INVALID, "--timeout 0: expected more than 0 seconds");
    if (s == NNV_OK && c->out != NULL && *c->out == '\0')
        s = nnv_fail(&err, NNV_INVALID, "--out '': expected a folder");
    if (s == NNV_OK && c->via && c->driver) s = go_through(c, &err);
    if (s == NNV_OK) return -1;
    fprintf(stderr, "nnvts %s: %s; see nnvts %s --help\n", argv[0], err.text, argv[0]);
    return NNVTS_EXIT_USAGE;
}

enum nnv_status nnv_cli_config(const struct nnv_cli *c, struct nnv_arena *arena, struct nnv_run_config *config,
                               struct nnv_err *err) {
    *config = (struct nnv_run_config){
        .driver = c->driver,
        .specs = c->specs,
        .out = c->out,
        .seed = c->seed,
        .precision = c->precision - 1,
        .tier = c->tier,
        .count = c->count,
        .timeout_ns = c->timeout_ns,
        .budget_ns = c->budget_ns,
        .memory = c->memory_mb << 20,
        .jobs = (int)c->jobs,
    };
    if (c->driver == NULL) return NNV_OK;
    return nnv_client_resolve(c->driver, arena, &config->driver_path, &config->driver_options, err);
}

enum nnv_status nnv_cli_cases(const struct nnv_cli *c, const struct nnv_run_config *config, struct nnv_case_list *list,
                              struct nnv_err *err) {
    enum nnv_status s = nnv_list_suites(config, c->suite, list, err);
    if (s != NNV_OK) return s;
    size_t all = list->count;
    s = nnv_select(list, c->filter, err);
    if (s != NNV_OK) return s;
    if (list->count == 0)
        return all == 0 ? nnv_fail(err, NNV_INVALID, "the suites have no cases")
                        : nnv_fail(err, NNV_INVALID, "no case is selected by '%s' (of %zu; see them with nnvts list)",
                                   c->filter != NULL ? c->filter : "", all);
    return c->budget_ns > 0 ? nnv_priority_order(list->item, list->count, err) : NNV_OK;
}
