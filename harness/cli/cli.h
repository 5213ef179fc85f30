/* SPDX-License-Identifier: Apache-2.0 */
/** @file cli.h The nnvts command: a verb a file, one table. */
#ifndef NNV_CLI_H
#define NNV_CLI_H

#include <jansson.h>

#include "base/opts.h"
#include "base/text.h"
#include "harness/debug/oracle.h"
#include "harness/journal/expect/expect.h"
#include "harness/runner/run.h"
#include "harness/runner/tier.h"

/** A verb: `nnvts NAME ...`. */
struct nnv_verb {
    const char *name;
    const char *task; /**< heading in the overview: "judge a driver" */
    const char *summary;
    /** Runs the verb; argv[0] is the verb's name. Returns the exit code. */
    int (*run)(int argc, char **argv);
};

extern const struct nnv_verb nnv_verb_run, nnv_verb_list, nnv_verb_drivers, nnv_verb_replay, nnv_verb_reduce,
    nnv_verb_bisect, nnv_verb_explain, nnv_verb_show, nnv_verb_import, nnv_verb_op, nnv_verb_report, nnv_verb_fuzz,
    nnv_verb_audit, nnv_verb_data, nnv_verb_bench, nnv_verb_plan, nnv_verb_completion, nnv_verb_man, nnv_verb_doctor,
    nnv_verb_pack, nnv_verb_verify, nnv_verb_expect, nnv_verb_merge, nnv_verb_gate, nnv_verb_compare, nnv_verb_trend,
    nnv_verb_partition, nnv_verb_compile, nnv_verb_run_compiled, nnv_verb_profile, nnv_verb_harvest, nnv_verb_promote,
    nnv_verb_new_driver, nnv_verb_datasheet, nnv_verb_contract, nnv_verb_precision;

/** Options that mean the same in every verb that has them. Zero-initialise by nnv_cli_defaults(). */
struct nnv_cli {
    const char *driver, *suite, *filter, *out, *specs;
    const char *usual_out;       /**< out where --out is not given; set by nnv_cli_run() */
    const char *cases, *failed;  /**< a file of names; a run whose failures are meant */
    const char *shard, *balance; /**< "2/4"; folder of a run whose times divide the cases */
    const char *times;           /**< folder of a run whose times are shown */
    uint64_t seed, jobs, timeout_ns, count, budget_ns, memory_mb;
    const char *saturated;  /**< percents: how likely something new may be in the end; NULL: not wanted */
    const char *check;      /**< a command in place of a driver */
    const char *arithmetic; /**< NULL: what a spec says, else strict */
    int precision;          /**< index into nnv_cli_precisions: 0 is the suite's default */
    int tier;               /**< a number of tier.h */
    int via;                /**< index into nnv_cli_vias; nnv_cli_parse() puts it into driver */
    int conformance;        /**< index into nnv_cli_conformances; nnv_cli_parse() puts it into driver */
    bool isolate;           /**< the driver runs in a process of its own, apart from nnvts and what it judges by */
    char via_driver[1024];
    bool json, quiet, verbose, resume, help, no_shard;
    bool tiers, suites, coverage, clauses, partial, raw, markdown, list, relay, ndk; /**< of single verbs */
    const char *html;
    struct nnv_opt_list positional;
    /* While the verb works: */
    int argc;
    char **argv;
    const struct nnv_opt *table;
    struct nnv_arena *arena;
    int code; /**< exit code that the verb sets; at first NNVTS_EXIT_PASS */
};

/** What is said of a run whose driver could have written its verdicts. */
extern const char nnv_cli_not_apart[];
extern const char *const nnv_cli_precisions[];
extern const char *const nnv_cli_vias[], *const nnv_cli_conformances[];

/** Rows of the option tables. c is a struct nnv_cli. */
#define NNV_OPTION_DRIVER(c)                                                                                           \
    { 'd', "driver", NNV_OPT_CODE, &(c).driver, "NAME|PATH[:OPTIONS]", "the driver under test", NULL }
#define NNV_OPTION_CHECK(c)                                                                                            \
    {                                                                                                                  \
        0, "check", NNV_OPT_COMMAND, &(c).check, "CMD",                                                                \
            "a command in place of a driver: {} is the spec's file; exit code 0 is right, 125 cannot say", NULL        \
    }
#define NNV_OPTION_VIA(c)                                                                                              \
    { 0, "via", NNV_OPT_CHOICE, &(c).via, "W", "call the driver itself, or through NNAPI's runtime", nnv_cli_vias }
#define NNV_OPTION_SUITE(c)                                                                                            \
    { 's', "suite", NNV_OPT_STRING, &(c).suite, "A,B|all", "suites, by default those that every driver can take", NULL }
#define NNV_OPTION_FILTER(c)                                                                                           \
    {                                                                                                                  \
        'k', "filter", NNV_OPT_STRING, &(c).filter, "EXPR",                                                            \
            "only these cases: globs, ~REGEX, op: type: tag: level<= with & | ! ()", NULL                              \
    }
#define NNV_OPTION_CASES(c)                                                                                            \
    { 0, "cases", NNV_OPT_STRING, &(c).cases, "FILE", "only the cases named in the file, one a line", NULL }
#define NNV_OPTION_FAILED(c)                                                                                           \
    { 0, "failed", NNV_OPT_STRING, &(c).failed, "RUN", "only the cases that failed in that run", NULL }
#define NNV_OPTION_SPECS(c)                                                                                            \
    { 0, "specs", NNV_OPT_STRING, &(c).specs, "PATH", "spec file or folder for the suite spec (or $NNVTS_SPECS)", NULL }
#define NNV_OPTION_CONFORMANCE(c)                                                                                      \
    {                                                                                                                  \
        0, "conformance", NNV_OPT_CHOICE, &(c).conformance, "C",                                                       \
            "of an NNAPI library: what the header says, or all that Android's runtime does", nnv_cli_conformances      \
    }
#define NNV_OPTION_SEED(c)                                                                                             \
    { 0, "seed", NNV_OPT_U64, &(c).seed, "N", "seed of all generated values", NULL }
#define NNV_OPTION_JOBS(c)                                                                                             \
    { 'j', "jobs", NNV_OPT_U64, &(c).jobs, "N", "worker processes", NULL }
#define NNV_OPTION_TIMEOUT(c)                                                                                          \
    { 0, "timeout", NNV_OPT_SECONDS, &(c).timeout_ns, "S", "seconds that one case may take", NULL }
#define NNV_OPTION_BUDGET(c)                                                                                           \
    { 0, "time-budget", NNV_OPT_SECONDS, &(c).budget_ns, "S", "begin no case after S seconds", NULL }
#define NNV_OPTION_MEMORY(c)                                                                                           \
    { 0, "memory", NNV_OPT_U64, &(c).memory_mb, "MB", "megabytes that a worker may take; default: no limit", NULL }
#define NNV_OPTION_OUT(c)                                                                                              \
    { 'o', "out", NNV_OPT_OUT_DIR, &(c).out, "DIR", "folder of the run", NULL }
#define NNV_OPTION_PRECISION(c)                                                                                        \
    {                                                                                                                  \
        0, "precision", NNV_OPT_CHOICE, &(c).precision, "P", "rule of comparison; default: that of the suite",         \
            nnv_cli_precisions                                                                                         \
    }
#define NNV_OPTION_ARITHMETIC(c)                                                                                       \
    {                                                                                                                  \
        0, "arithmetic", NNV_OPT_STRING, &(c).arithmetic, "strict|android|KEY=VALUE,...|FILE",                         \
            "what the driver's maker promises of its arithmetic, or its datasheet.json; default: strict", NULL         \
    }
#define NNV_OPTION_TIER(c)                                                                                             \
    { 0, "tier", NNV_OPT_CHOICE, &(c).tier, "T", "how many cases, see nnvts list --tiers", nnv_tier_names }
#define NNV_OPTION_COUNT(c)                                                                                            \
    { 0, "count", NNV_OPT_U64, &(c).count, "N", "how many graphs the suite randgraph draws", NULL }
#define NNV_OPTION_COVERAGE(flag)                                                                                      \
    {                                                                                                                  \
        0, "coverage", NNV_OPT_FLAG, &(flag), NULL,                                                                    \
            "what is reached of the driver's code, where it was built to count it (SanitizerCoverage, gcov)", NULL     \
    }
#define NNV_OPTION_SATURATED(c)                                                                                        \
    {                                                                                                                  \
        0, "until-saturated", NNV_OPT_STRING, &(c).saturated, "PERCENT",                                               \
            "draw until the chance that the next one shows something new is below that, in place of a count", NULL     \
    }
#define NNV_OPTION_SHARD(c)                                                                                            \
    { 0, "shard", NNV_OPT_STRING, &(c).shard, "I/N", "only the cases of shard I of N, chosen by their names", NULL }
#define NNV_OPTION_BALANCE(c)                                                                                          \
    {                                                                                                                  \
        0, "balance", NNV_OPT_STRING, &(c).balance, "RUN",                                                             \
            "shards of equal time, by what the run in this folder took", NULL                                          \
    }
#define NNV_OPTION_JSON(c)                                                                                             \
    { 0, "json", NNV_OPT_FLAG, &(c).json, NULL, "machine-readable output on stdout", NULL }
#define NNV_OPTION_HTML(c, help)                                                                                       \
    { 0, "html", NNV_OPT_OUT, &(c).html, "FILE", help, NULL }
#define NNV_OPTION_QUIET(c)                                                                                            \
    { 'q', "quiet", NNV_OPT_FLAG, &(c).quiet, NULL, "the closing lines only: totals and the first ten causes", NULL }
#define NNV_OPTION_VERBOSE(c)                                                                                          \
    { 'v', "verbose", NNV_OPT_FLAG, &(c).verbose, NULL, "more: a line for every case, a block for each failure", NULL }
#define NNV_OPTION_END                                                                                                 \
    { 0, NULL, NNV_OPT_FLAG, NULL, NULL, NULL, NULL }

enum { NNV_REPEAT_MAX = 1000000 };

/** Rows of the option tables: a struct nnv_opt_list, and a struct nnv_expectations. */
#define NNV_OPTION_EXPECT(list)                                                                                        \
    { 0, "expect", NNV_OPT_LIST, &(list), "FILE", "what is known to fail; may be given several times", NULL }
#define NNV_OPTION_STRICT(x)                                                                                           \
    {                                                                                                                  \
        0, "strict", NNV_OPT_FLAG, &(x).strict, NULL,                                                                  \
            "what was expected to fail must fail, and no expectation be out of date", NULL                             \
    }

/** Defaults; specs from the environment. */
struct nnv_cli nnv_cli_defaults(void);
/** A verb's work, once its options are parsed; own is the verb's. The exit code is that of the error, else c->code. */
typedef enum nnv_status nnv_cli_work(void *own, struct nnv_err *err);
/**
 * Parses the verb's arguments and does its work. Returns the exit code: 0 after --help (printed to stdout), 2 after a
 * usage error; errors are printed to stderr. At most max_positional positional arguments are taken.
 */
int nnv_cli_run(struct nnv_cli *c, const struct nnv_opt *table, const struct nnv_verb_help *help, int max_positional,
                int argc, char **argv, nnv_cli_work *work, void *own);
/** Told of a verb's options in place of parsing: their values are the defaults. */
typedef void nnv_cli_reader(void *context, const struct nnv_verb_help *help, const struct nnv_opt *table);
/** The verb's table and help, given to reader during the call. */
void nnv_cli_describe(const struct nnv_verb *verb, nnv_cli_reader *reader, void *context);
/** All verbs in the order of the overview. */
extern const struct nnv_verb *const nnv_verbs[];
extern const size_t nnv_verbs_count;
/** The verb of this name, or NULL. */
const struct nnv_verb *nnv_verb_by_name(const char *name);
/** The spec of the file that is the verb's first argument; c->filter (a glob) chooses where it holds several. */
NNV_USE_RESULT enum nnv_status nnv_cli_one_spec(const struct nnv_cli *c, struct nnv_arena *arena,
                                                struct nnv_spec **spec, struct nnv_err *err);
/**
 * The one spec that a verb is about: of the file that is the verb's only argument, selected by c->filter (a glob over
 * names) where the file holds several. *oracle becomes the driver or check, with the profile that the spec is judged
 * by, which spec->precision is, too. NNV_INVALID with the remedy.
 */
NNV_USE_RESULT enum nnv_status nnv_cli_subject(const struct nnv_cli *c, struct nnv_spec **spec,
                                               struct nnv_oracle *oracle, struct nnv_err *err);
/** Calls show for each spec of the file whose name matches the glob (NULL: all). *count becomes how many that were. */
NNV_USE_RESULT enum nnv_status nnv_cli_each_spec(const char *path, const char *glob, size_t *count,
                                                 enum nnv_status (*show)(void *own, struct nnv_spec *spec,
                                                                         struct nnv_arena *arena, struct nnv_err *err),
                                                 void *own, struct nnv_err *err);
/** Prints "nnvts: message" to stderr and returns the exit code for the error's status. */
int nnv_cli_error(const struct nnv_err *err);
/** Says what is wrong with the command line of the verb; returns the exit code for that. */
int nnv_cli_usage(const char *verb, const char *text);
/** True if the user has not named the folder of results. */
static inline bool nnv_cli_usual_out(const struct nnv_cli *c) { return c->out == c->usual_out; }
/**
 * Makes the folder of --out for results that are ready to be written. Where it is the usual one, what it held is kept
 * as FOLDER.previous.
 */
NNV_USE_RESULT enum nnv_status nnv_cli_make_out(const struct nnv_cli *c, struct nnv_err *err);
/** Prints the text to stdout and frees it. */
NNV_USE_RESULT enum nnv_status nnv_cli_print(struct nnv_text *t, struct nnv_err *err);
/** Prints indented JSON to stdout. */
void nnv_cli_print_json(const json_t *j);
/** NNV_INVALID with the remedy if there is no --driver. */
NNV_USE_RESULT enum nnv_status nnv_cli_need_driver(const struct nnv_cli *c, struct nnv_err *err);
/** A run configuration from the options; resolves the driver unless c->driver is NULL. */
NNV_USE_RESULT enum nnv_status nnv_cli_config(const struct nnv_cli *c, struct nnv_arena *arena,
                                              struct nnv_run_config *config, struct nnv_err *err);
/** The percentage of --until-saturated as a part of 1; NNV_INVALID. */
NNV_USE_RESULT enum nnv_status nnv_cli_chance(const char *percent, double *chance, struct nnv_err *err);
/** Adds "after 1,240 graphs the chance that the next one shows something new is below 0.1 %", or by how much it is not.
 */
void nnv_cli_add_saturation(struct nnv_text *t, uint64_t draws, const char *what, double chance, double limit);
/**
 * Sets config->count to how many random graphs it takes until the next one would hardly show anything new, and says so
 * in config->saturation; where there is a driver, of graphs that it can take. percent NULL: nothing is changed.
 */
NNV_USE_RESULT enum nnv_status nnv_cli_saturate(const char *percent, struct nnv_run_config *config,
                                                struct nnv_arena *arena, struct nnv_err *err);
/** Lists the suites' cases and keeps the selected ones; an empty selection is an error. */
NNV_USE_RESULT enum nnv_status nnv_cli_cases(const struct nnv_cli *c, const struct nnv_run_config *config,
                                             struct nnv_case_list *list, struct nnv_err *err);

/**
 * Keeps the cases of one shard: of --shard, else of what the environment says if ask_environment is set and --no-shard
 * is not; *shard stays zero where the run is whole. nnv_shard_free() ends it.
 */
NNV_USE_RESULT enum nnv_status nnv_cli_shard(const struct nnv_cli *c, bool ask_environment, struct nnv_case_list *list,
                                             struct nnv_shard *shard, struct nnv_err *err);

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
