/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/cli.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/driver.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/words.h"
#include "harness/cli/settings.h"
#include "harness/datasheet/datasheet.h"
#include "harness/journal/expect/expect.h"
#include "harness/journal/expect/outcome.h"
#include "harness/journal/load.h"
#include "harness/journal/shards/times.h"
#include "reference/spec/spec.h"

const char nnv_cli_not_apart[] =
    "the driver ran in the process that judged it: that it did not write its own verdicts is "
    "its word (run --isolate-judge)";
const char *const nnv_cli_precisions[] = {"default", "nnapi", "aosp", "budget", "aosp-graph", NULL};
const char *const nnv_cli_vias[] = {"driver", "runtime", NULL};
const char *const nnv_cli_conformances[] = {"header", "aosp", NULL};

struct nnv_cli nnv_cli_defaults(void) {
    const char *specs = getenv("NNVTS_SPECS");
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return (struct nnv_cli){
        .out = "nnvts-out",
        .seed = 1,
        .timeout_ns = UINT64_C(10000000000),
        .tier = NNV_TIER_DEFAULT,
        .specs = specs != NULL && *specs != '\0' ? specs : NULL,
        .jobs = cpus > 0 ? (uint64_t)cpus : 1,
    };
}

/** Prints an error, whose text may quote a file: nothing in it does anything to a terminal. */
static void print_error(const char *verb, const char *text) {
    struct nnv_text t = {0};
    nnv_text_addf(&t, "nnvts%s%s: ", *verb ? " " : "", verb);
    for (;; text++) {
        const size_t n = strcspn(text, "\n");
        nnv_text_add_shown(&t, text, n, NNV_ERR_TEXT);
        text += n;
        if (*text == '\0') break;
        nnv_text_add(&t, "\n");
    }
    fputs(t.failed ? NNV_OUT_OF_MEMORY : t.data, stderr);
    nnv_text_free(&t);
}

int nnv_cli_error(const struct nnv_err *err) {
    print_error("", err->text);
    fputc('\n', stderr);
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

int nnv_cli_usage(const char *verb, const char *text) {
    print_error(verb, text);
    fprintf(stderr, "; see nnvts %s --help\n", verb);
    return NNVTS_EXIT_USAGE;
}

enum nnv_status nnv_cli_make_out(const struct nnv_cli *c, struct nnv_err *err) {
    const enum nnv_status s = nnv_cli_usual_out(c) ? nnv_folder_set_aside(c->out, err) : NNV_OK;
    return s == NNV_OK ? nnv_folder_make(c->out, err) : s;
}

enum nnv_status nnv_cli_print(struct nnv_text *t, struct nnv_err *err) {
    const enum nnv_status s = t->failed ? nnv_no_memory(err) : NNV_OK;
    if (s == NNV_OK && t->len > 0) fwrite(t->data, 1, t->len, stdout);
    nnv_text_free(t);
    return s;
}

void nnv_cli_print_json(const json_t *j) {
    json_dumpf(j, stdout, JSON_INDENT(1));
    puts("");
}

enum nnv_status nnv_cli_need_driver(const struct nnv_cli *c, struct nnv_err *err) {
    if (c->driver != NULL) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "which driver? give --driver NAME (see them with nnvts drivers)");
}

/** The driver is FIRST:SECOND from now on. */
static enum nnv_status name_driver(struct nnv_cli *c, const char *first, const char *second, struct nnv_err *err) {
    char name[sizeof c->via_driver]; /* first or second may be the old one */
    int n = snprintf(name, sizeof name, "%s:%s", first, second);
    if (n < 0 || (size_t)n >= sizeof name)
        return nnv_fail(err, NNV_INVALID, "--driver: a name of more than %zu characters", sizeof c->via_driver);
    memcpy(c->via_driver, name, sizeof name);
    c->driver = c->via_driver;
    return NNV_OK;
}

/** A driver behind the runtime is a driver like another: reports and the lines that reproduce a case need no more. */
static enum nnv_status go_through(struct nnv_cli *c, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    const char *path, *options;
    const char *first = arena ? nnv_arena_printf(arena, "%.*s", (int)strcspn(c->driver, ",#"), c->driver) : NULL;
    enum nnv_status s = first ? nnv_driver_resolve(first, arena, &path, &options, err) : nnv_no_memory(err);
    nnv_arena_free(arena);
    if (s != NNV_OK) return s;
    return name_driver(c, nnv_cli_vias[c->via], c->driver, err);
}

/** An NNAPI library that does what Android's does: the same. The project's own always does. */
static enum nnv_status promise_more(struct nnv_cli *c, struct nnv_err *err) {
    if (strncmp(c->driver, "ndk:", 4) != 0 && strncmp(c->driver, "sl:", 3) != 0) return NNV_OK;
    return name_driver(c, c->driver, nnv_cli_conformances[c->conformance], err);
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

/** A file that goes to stdout has it to itself: what the verb says goes to stderr. */
static enum nnv_status give_stdout(const struct nnv_cli *c, const struct nnv_opt *table, struct nnv_err *err) {
    const char *has = c->json ? "json" : NULL;
    bool given = false;
    for (const struct nnv_opt *o = table; o->name != NULL; o++) {
        const char *const *file = o->kind == NNV_OPT_OUT ? o->value : NULL;
        if (file == NULL || *file == NULL || strcmp(*file, NNV_FILE_STDOUT) != 0) continue;
        if (has != NULL) return nnv_fail(err, NNV_INVALID, "--%s or --%s -: there is one stdout", has, o->name);
        has = o->name;
        given = true;
    }
    return given ? nnv_file_take_stdout(err) : NNV_OK;
}

/** Returns -1 to go on, else the exit code. */
static int parse(struct nnv_cli *c, const struct nnv_opt *table, const struct nnv_verb_help *help, int max_positional,
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
    if (s == NNV_OK) s = give_stdout(c, table, &err);
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
    if (s == NNV_OK && c->via && c->driver) s = go_through(c, &err);
    if (s == NNV_OK && c->conformance && c->driver) s = promise_more(c, &err);
    if (s == NNV_OK && c->isolate && c->driver && !nnv_driver_is_apart(c->driver))
        s = name_driver(c, "host", c->driver, &err);
    if (s == NNV_OK) return -1;
    return s == NNV_IO ? nnv_cli_error(&err) : nnv_cli_usage(argv[0], err.text);
}

int nnv_cli_run(struct nnv_cli *c, const struct nnv_opt *table, const struct nnv_verb_help *help, int max_positional,
                int argc, char **argv, nnv_cli_work *work, void *own) {
    struct nnv_err err = {0};
    c->usual_out = c->out;
    const int code = parse(c, table, help, max_positional, argc, argv);
    if (code >= 0) return code;
    c->argc = argc;
    c->argv = argv;
    c->table = table;
    c->arena = nnv_arena_new();
    c->code = NNVTS_EXIT_PASS;
    const enum nnv_status s = c->arena != NULL ? work(own, &err) : nnv_no_memory(&err);
    nnv_arena_free(c->arena);
    return s == NNV_OK ? c->code : nnv_cli_error(&err);
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
        .budget_ns = c->budget_ns > 0 ? c->budget_ns : nnv_tiers[c->tier].budget_ns,
        .memory = c->memory_mb << 20,
        .jobs = (int)c->jobs,
    };
    if (c->arithmetic != NULL) {
        struct nnv_arithmetic *a = NNV_NEW(arena, struct nnv_arithmetic, 1);
        const size_t n = strlen(c->arithmetic);
        const bool sheet = n > 5 && strcmp(c->arithmetic + n - 5, ".json") == 0;
        enum nnv_status st = a == NULL ? nnv_no_memory(err)
                             : sheet   ? nnv_datasheet_arithmetic(c->arithmetic, a, err)
                                       : nnv_arithmetic_parse(c->arithmetic, a, err);
        if (st != NNV_OK) return nnv_at(err, st, "--arithmetic");
        config->arithmetic = a;
    }
    if (c->driver == NULL) return NNV_OK;
    return nnv_client_resolve(c->driver, arena, &config->driver_path, &config->driver_options, err);
}

/** Names of cases, the text's lines; blank ones and those with a # are passed over. The text is cut into them. */
static enum nnv_status read_names(char *text, struct nnv_map *names, struct nnv_err *err) {
    for (char *line = text, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) *next++ = '\0';
        line[strcspn(line, "\r\t ")] = '\0';
        if (*line == '\0' || *line == '#') continue;
        if (nnv_map_find(names, line) == NNV_MAP_NONE && nnv_map_add(names, line) == NNV_MAP_NONE)
            return nnv_no_memory(err);
    }
    return NNV_OK;
}

/** Keeps the cases of these names; those that there are not are an error, which names the first. */
static enum nnv_status keep_named(const struct nnv_map *names, const char *from, struct nnv_case_list *list,
                                  struct nnv_err *err) {
    bool *found = calloc(names->count + (size_t)1, sizeof *found);
    size_t kept = 0;
    if (found == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < list->count; i++) {
        const uint32_t n = nnv_map_find(names, list->item[i].name);
        if (n == NNV_MAP_NONE) continue;
        found[n] = true;
        list->item[kept++] = list->item[i];
    }
    list->count = kept;
    uint32_t missing = 0, first = NNV_MAP_NONE;
    for (uint32_t n = 0; n < names->count; n++) {
        if (found[n]) continue;
        if (missing++ == 0) first = n;
    }
    free(found);
    if (names->count == 0) return nnv_fail(err, NNV_INVALID, "%s names no case", from);
    if (missing == 0) return NNV_OK;
    return nnv_fail(err, NNV_INVALID,
                    "%s: %u of %u cases are not among those that are selected, such as '%s' (give the suites, tier and "
                    "specs that they are of)",
                    from, missing, names->count, names->key[first]);
}

/** Of --cases and --failed. */
static enum nnv_status keep_chosen(const struct nnv_cli *c, struct nnv_case_list *list, struct nnv_err *err) {
    enum { NAMES_MOST = 1 << 28 };
    struct nnv_map names = {0};
    struct nnv_report *past = NULL;
    char *text = NULL;
    size_t bytes;
    enum nnv_status s = NNV_OK;
    if (c->cases != NULL && (s = nnv_file_read(c->cases, NAMES_MOST, &text, &bytes, err)) == NNV_OK)
        s = read_names(text, &names, err);
    if (s == NNV_OK && c->cases != NULL) s = keep_named(&names, c->cases, list, err);
    nnv_map_free(&names);
    free(text);
    if (s != NNV_OK || c->failed == NULL) return s;
    names = (struct nnv_map){0};
    s = nnv_report_load(c->failed, &past, err);
    for (size_t i = 0; s == NNV_OK && i < past->count; i++)
        if (nnv_case_bad(&past->item[i]) && nnv_map_add(&names, past->item[i].name) == NNV_MAP_NONE)
            s = nnv_no_memory(err);
    if (s == NNV_OK && names.count == 0) s = nnv_fail(err, NNV_INVALID, "--failed: nothing failed in %s", c->failed);
    if (s == NNV_OK) s = keep_named(&names, c->failed, list, err);
    nnv_map_free(&names);
    nnv_report_free(past);
    return s;
}

/** "did you mean 'ops/CONV_2D'? " where a name's part is none that a case has there; hint: "" if it is no such name. */
static void hint_at_name(const struct nnv_case_list *all, const char *filter, char *hint, size_t room) {
    enum { PART = 64 };
    char best[PART] = "", part[PART], own[PART];
    *hint = '\0';
    for (size_t from = 0; filter[from] && !strpbrk(filter, " :&|!");) {
        const size_t n = strcspn(filter + from, "/");
        snprintf(part, sizeof part, "%.*s", (int)n, filter + from);
        if (strpbrk(part, "*?[")) return;
        struct nnv_nearest near = nnv_nearest_to(part);
        bool known = false;
        for (size_t i = 0; i < all->count && !known; i++) {
            const char *name = all->item[i].name;
            if (strncmp(name, filter, from) != 0) continue;
            snprintf(own, sizeof own, "%.*s", (int)strcspn(name + from, "/"), name + from);
            known = strcmp(own, part) == 0;
            if (nnv_nearest_see(&near, own)) snprintf(best, sizeof best, "%s", own);
        }
        if (!known && near.best) snprintf(hint, room, "did you mean '%.*s%s'? ", (int)from, filter, best);
        if (!known) return;
        from += n + (filter[from + n] == '/');
    }
}

/** No case of the list, which is empty now, is selected: an error that says so. */
static enum nnv_status none_selected(const struct nnv_cli *c, const struct nnv_run_config *config,
                                     struct nnv_case_list *list, size_t all, struct nnv_err *err) {
    const char *filter = c->filter ? c->filter : "";
    char hint[256] = "";
    if (all == 0) return nnv_fail(err, NNV_INVALID, "the suites have no cases");
    if (nnv_list_suites(config, c->suite, list, NULL) == NNV_OK) hint_at_name(list, filter, hint, sizeof hint);
    list->count = 0;
    return nnv_fail(err, NNV_INVALID, "no case is selected by '%s' (%ssee all %zu with nnvts list)", filter, hint, all);
}

enum nnv_status nnv_cli_cases(const struct nnv_cli *c, const struct nnv_run_config *config, struct nnv_case_list *list,
                              struct nnv_err *err) {
    enum nnv_status s = nnv_list_suites(config, c->suite, list, err);
    if (s != NNV_OK) return s;
    size_t all = list->count;
    s = nnv_select(list, c->filter, err);
    if (s == NNV_OK) s = keep_chosen(c, list, err);
    if (s != NNV_OK) return s;
    if (list->count > 0) return NNV_OK;
    return none_selected(c, config, list, all, err);
}

/* ---------------------------------------------------------------------- specs */

enum nnv_status nnv_cli_each_spec(const char *path, const char *glob, size_t *count,
                                  enum nnv_status (*show)(void *own, struct nnv_spec *spec, struct nnv_arena *arena,
                                                          struct nnv_err *err),
                                  void *own, struct nnv_err *err) {
    struct nnv_spec_file *file = NULL;
    struct nnv_arena *arena = nnv_arena_new();
    enum nnv_status st = arena != NULL ? nnv_spec_open(path, &file, err) : nnv_no_memory(err);
    const size_t all = st == NNV_OK ? nnv_spec_count(file) : 0;
    for (size_t i = 0; st == NNV_OK && i < all; i++) {
        struct nnv_spec *spec;
        nnv_arena_reset(arena);
        st = nnv_spec_read(file, i, arena, &spec, err);
        if (st != NNV_OK || (glob != NULL && fnmatch(glob, spec->name, 0) != 0)) continue;
        st = show(own, spec, arena, err);
        ++*count;
    }
    nnv_spec_close(file);
    nnv_arena_free(arena);
    return st;
}

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

enum nnv_status nnv_cli_subject(const struct nnv_cli *c, struct nnv_spec **spec, struct nnv_oracle *oracle,
                                struct nnv_err *err) {
    struct nnv_run_config config;
    if (c->positional.count == 0)
        return nnv_fail(err, NNV_INVALID, "which spec? give a file (failed cases leave them in nnvts-out/dumps/)");
    if (c->check != NULL && c->driver != NULL) return nnv_fail(err, NNV_INVALID, "give --driver or --check, not both");
    enum nnv_status st = c->check != NULL ? NNV_OK : nnv_cli_need_driver(c, err);
    if (st == NNV_OK) st = nnv_cli_one_spec(c, c->arena, spec, err);
    if (st == NNV_OK) st = nnv_cli_config(c, c->arena, &config, err);
    if (st == NNV_OK) st = nnv_case_precision(&config, nnv_suite_by_name("spec"), *spec, &oracle->precision, err);
    if (st != NNV_OK) return st;
    (*spec)->precision = nnv_precision_name(oracle->precision);
    oracle->path = config.driver_path;
    oracle->options = config.driver_options;
    oracle->timeout_ns = c->timeout_ns;
    oracle->check = c->check;
    return NNV_OK;
}

/* --------------------------------------------------------------------- shards */

/** What each case of the list will take by an earlier run, microseconds. Malloc'ed. */
static enum nnv_status read_times(const char *folder, const struct nnv_case_list *list, uint64_t **us,
                                  struct nnv_err *err) {
    struct nnv_times *times = NULL;
    enum nnv_status s = nnv_times_read(folder, &times, err);
    if (s != NNV_OK) return nnv_at(err, s, "--balance");
    *us = malloc((list->count + 1) * sizeof **us);
    size_t known = 0;
    for (size_t i = 0; *us != NULL && i < list->count; i++) {
        bool measured;
        (*us)[i] = (uint64_t)nnv_times_of(times, &list->item[i], &measured);
        known += measured;
    }
    nnv_times_free(times);
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

/* --------------------------------------------------------------- expectations */

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
