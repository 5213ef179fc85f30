/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_partition.c nnvts partition: which parts of a Relay program go to which target. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compiler/nnapi/convert/convert.h"
#include "compiler/byoc/cost/cost.h"
#include "compiler/byoc/tables.h"
#include "harness/cli/cli.h"
#include "reference/model/model.h"
#include "harness/compiled/partition_report.h"
#include "harness/compiled/relay_model.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts partition MODEL.relay|MODEL.py|MODEL.tflite|MODEL.onnx [options]",
    .summary = "Shows how a program, as text of Relay or Relax or a model, is divided: operators that match a "
               "pattern become composites, what a target "
               "supports is gathered in regions, the rest stays on the host.",
    .examples = "nnvts partition m.relay --supported s.json          regions as a table\n"
                "nnvts partition m.relay --json                      all that NNAPI can do, as JSON\n"
                "nnvts partition m.relay --patterns p.json --targets onednn --text   the divided program\n"
                "nnvts partition m.relay --supported s.json --prune r.json   without regions that are not worth it\n"
                "nnvts partition m.relay --cost profile.json    what takes least time, of all that NNAPI can do\n"
                "nnvts partition m.py --text                    a program of Relax, as TVMScript, and divided so\n"
                "nnvts partition m.tflite                       what of a TensorFlow Lite model NNAPI can do\n"
                "nnvts partition m.relay --html m.html          the program before and after, as a page\n",
};

enum { MOST_TARGETS = 64 };
static const size_t LONGEST_TABLE = (size_t)1 << 26;

struct command {
    struct nnv_cli c;
    uint64_t level;
    const char *patterns, *supported, *targets, *prune, *params, *cost, *html;
    int select;
    uint64_t states;
    bool text, join_siblings, no_merge;
    const char *names[MOST_TARGETS]; /**< of --targets */
    size_t n_names;
    struct nnv_convert_support *trial; /**< NULL: the converter is not asked */
};

/** Reads a file; what is read belongs to the arena. */
static enum nnv_status split_targets(struct command *x, struct nnv_err *err) {
    char *list = x->targets ? nnv_arena_strdup(x->c.arena, x->targets) : NULL, *rest = list;
    if (x->targets && !list) return nnv_no_memory(err);
    for (char *name; list && (name = strsep(&rest, ","));) {
        if (*name == '\0' || strchr(name, '.'))
            return nnv_fail(err, NNV_INVALID, "--targets '%s': expected names without dots, with commas between them",
                            x->targets);
        if (x->n_names == MOST_TARGETS)
            return nnv_fail(err, NNV_INVALID, "--targets: more than %d targets", MOST_TARGETS);
        for (size_t i = 0; i < x->n_names; i++)
            if (!strcmp(x->names[i], name))
                return nnv_fail(err, NNV_INVALID, "--targets '%s': %s is there twice", x->targets, name);
        x->names[x->n_names++] = name;
    }
    return NNV_OK;
}

static enum nnv_status load_module(const struct command *x, struct nnv_relay_module **m, struct nnv_err *err) {
    struct nnv_relay_program p;
    enum nnv_status s =
        nnv_relay_program_read(x->c.positional.count ? x->c.positional.item[0] : NULL, x->params, x->c.arena, &p, err);
    *m = p.m;
    return s == NNV_OK ? nnv_relay_infer(*m, err) : s;
}

/** Says on stderr which entries of a user's table match nothing, or lose their matches to others. */
static enum nnv_status warn_of_entries(const struct command *x, const struct nnv_pattern_table *table,
                                       struct nnv_err *err) {
    struct nnv_lint *found;
    size_t n;
    enum nnv_status s = nnv_pattern_lint(table, x->c.arena, &found, &n, err);
    for (size_t i = 0; s == NNV_OK && i < n; i++)
        fprintf(stderr, "nnvts: %s: [%zu]: %s\n", x->patterns, found[i].entry, found[i].text);
    return s;
}

/** True for the name of a table that nnvts has, and for none at all. */
static bool is_shipped(const char *patterns) {
    size_t len;
    return strcmp(patterns, NNV_NO_TABLE) == 0 || nnv_shipped_table(patterns, &len);
}

/** --patterns: the name of a table that nnvts has, or a file. */
static enum nnv_status merge_composites(const struct command *x, struct nnv_relay_module *m, struct nnv_err *err) {
    struct nnv_pattern_table table;
    if (strcmp(x->patterns, NNV_NO_TABLE) == 0) return NNV_OK;
    enum nnv_status s = nnv_table_open(x->patterns, x->c.arena, &table, err);
    if (s == NNV_OK && !is_shipped(x->patterns)) s = warn_of_entries(x, &table, err);
    return s == NNV_OK ? nnv_merge_composite(m, &table, err) : s;
}

static enum nnv_status read_support(const struct command *x, struct nnv_support **out, struct nnv_err *err) {
    char *text = nnv_arena_strdup(x->c.arena, "[]");
    size_t len = 2;
    enum nnv_status s = text ? NNV_OK : nnv_no_memory(err);
    if (s == NNV_OK && x->supported) s = nnv_file_load(x->supported, LONGEST_TABLE, x->c.arena, &text, &len, err);
    if (s != NNV_OK) return s;
    return nnv_support_read(text, len, x->supported ? x->supported : "no list", x->names, x->n_names, x->c.arena, out,
                            err);
}

static enum nnv_status read_prune(const struct command *x, struct nnv_prune *out, struct nnv_err *err) {
    char *text;
    size_t len;
    enum nnv_status s = nnv_file_load(x->prune, LONGEST_TABLE, x->c.arena, &text, &len, err);
    return s == NNV_OK ? nnv_prune_read(text, len, x->prune, x->c.arena, out, err) : s;
}

/** What the converter says of one of several targets: of those that are not nnapi, nothing. */
struct trial {
    const struct command *x;
    struct nnv_annotator converter;
};

static bool is_typed(const struct nnv_relay_expr *call) {
    for (size_t i = 0; i < call->n_args; i++)
        if (!call->args[i]->type) return false;
    return call->type != NULL;
}

static bool asks_converter(const struct command *x, size_t target) {
    return !x->n_names || !strcmp(x->names[target], "nnapi");
}

static bool try_call(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    const struct trial *t = ctx;
    return asks_converter(t->x, target) && is_typed(call) && t->converter.accepts(t->converter.ctx, 0, call);
}

static bool try_composite(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    const struct trial *t = ctx;
    return !asks_converter(t->x, target) || !is_typed(call) || !t->converter.accepts_composite ||
           t->converter.accepts_composite(t->converter.ctx, 0, call);
}

/** True if nothing says what is supported, so that the converter to NNAPI is asked: composites of a table that is given
 * are supported, and nothing else. */
static bool by_trial(const struct command *x) {
    bool nnapi = !x->n_names;
    for (size_t i = 0; i < x->n_names; i++) nnapi = nnapi || !strcmp(x->names[i], "nnapi");
    return !x->supported && nnapi && (x->cost || !x->patterns || is_shipped(x->patterns));
}

/** The list, or else what the converter takes. */
static enum nnv_status find_support(struct command *x, struct nnv_relay_module *m, struct nnv_annotator *out,
                                    struct nnv_err *err) {
    static const char *const nnapi[] = {"nnapi"};
    const struct nnv_convert_options options = {.level = (int)x->level};
    struct nnv_support *list = NULL;
    x->trial = NULL;
    if (!by_trial(x)) {
        enum nnv_status s = read_support(x, &list, err);
        if (s == NNV_OK) *out = nnv_support_annotator(list);
        return s;
    }
    struct nnv_err untyped = {0};
    enum nnv_status s = nnv_relay_check(m, &untyped);
    if (s != NNV_OK && x->cost) return nnv_relay_check(m, err);
    struct trial *t = NNV_NEW(x->c.arena, struct trial, 1);
    x->trial = nnv_convert_support_new(m, &options, x->c.arena);
    if (!x->trial || !t) return nnv_no_memory(err);
    *t = (struct trial){x, nnv_convert_annotator(x->trial)};
    *out = (struct nnv_annotator){.targets = x->n_names ? x->names : nnapi,
                                  .n_targets = x->n_names ? x->n_names : 1,
                                  .accepts = try_call,
                                  .accepts_composite = try_composite,
                                  .ctx = t};
    if (s != NNV_OK) return nnv_relay_infer(m, err); /* what has no type stays on the host */
    s = nnv_convert_dissolve(x->trial, err);
    return s == NNV_OK ? nnv_outline_flow(m, out, "nnapi", err) : s;
}

/* One more member of the object that out ends with. */
static void reopen(struct nnv_text *out, const char *member) {
    if (out->failed) return;
    out->data[out->len -= strlen("}\n")] = '\0';
    nnv_text_addf(out, ",\n \"%s\": ", member);
}

static enum nnv_status print(const struct command *x, const struct nnv_relay_module *m,
                             const struct nnv_partition *result, const struct nnv_cost_selection *selection,
                             struct nnv_partition_report *report, struct nnv_text *out, struct nnv_err *err) {
    if (x->text && m->script) return nnv_relax_print(m, out, err);
    if (x->text) {
        nnv_relay_print(m, NNV_RELAY_PRINT_META, out);
        return NNV_OK;
    }
    if (!x->c.json) {
        nnv_partition_table(result, out);
        if (x->cost) nnv_cost_table(selection, out);
        return NNV_OK;
    }
    nnv_partition_print(result, out);
    enum nnv_status s = NNV_OK;
    if (x->trial && (result->n_host || report->ifs.calls || report->loops.calls)) {
        reopen(out, "host");
        s = nnv_report_reasons(report, result, out, err);
        nnv_text_add(out, "}\n");
    }
    if (x->cost) {
        reopen(out, "cost");
        nnv_cost_print(selection, out);
        nnv_text_add(out, "}\n");
    }
    return s;
}

/** Loads the program and merges composites. */
static enum nnv_status prepare(struct command *x, struct nnv_relay_module **m, struct nnv_annotator *annotator,
                               struct nnv_err *err) {
    enum nnv_status s = load_module(x, m, err);
    if (s == NNV_OK && by_trial(x)) s = nnv_simplify(*m, err);
    if (s == NNV_OK && x->patterns) s = merge_composites(x, *m, err);
    return s == NNV_OK ? find_support(x, *m, annotator, err) : s;
}

/** What there would be if a target supported one more operator: for the report. */
struct more {
    struct command *x;
    const struct nnv_prune *prune;
};

struct one_more {
    struct nnv_annotator real;
    const char *op;
};

static bool accepts_more(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    const struct one_more *m = ctx;
    return (target == 0 && nnv_relay_is_op(call, m->op)) || m->real.accepts(m->real.ctx, target, call);
}

static enum nnv_status divide_with(void *ctx, const char *op, struct nnv_partition *result, struct nnv_err *err) {
    const struct more *more = ctx;
    struct nnv_relay_module *m = NULL;
    struct one_more one = {.op = op};
    struct nnv_prune rules = *more->prune;
    enum nnv_status s = prepare(more->x, &m, &one.real, err);
    if (s != NNV_OK) return s;
    struct nnv_annotator annotator = one.real;
    annotator.accepts = accepts_more;
    annotator.ctx = &one;
    annotator.accepts_composite = NULL; /* those that do not convert are dissolved already */
    rules.select = NULL;
    return nnv_partition(m, &annotator, &rules, result, err);
}

/** Writes the page; the report has watched the partition. */
static enum nnv_status write_page(struct command *x, struct nnv_partition_report *report,
                                  const struct nnv_relay_module *m, const struct nnv_partition *result,
                                  const struct nnv_cost_selection *selection, struct nnv_err *err) {
    struct nnv_text page = {0};
    report->title = x->c.positional.item[0];
    report->cost = x->cost && selection->n_results ? &selection->results[0] : NULL;
    enum nnv_status s = nnv_report_page(report, m, result, &page, err);
    if (s == NNV_OK) s = nnv_file_write_text(NULL, x->c.html, &page, err);
    nnv_text_free(&page);
    return s;
}

static enum nnv_status partition(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_text out = {0};
    struct nnv_relay_module *m = NULL;
    struct nnv_annotator annotator;
    struct nnv_prune prune = {0};
    struct nnv_partition result;
    struct nnv_cost_model model;
    struct nnv_cost_selection selection = {.model = &model,
                                           .method = (enum nnv_cost_method)x->select,
                                           .most_states = (size_t)x->states,
                                           .gains = true,
                                           .arena = x->c.arena};
    if (x->level < NNV_LEVEL_MIN || x->level > NNV_LEVEL_MAX)
        return nnv_fail(err, NNV_INVALID, "--level %llu: expected a feature level from %d to %d",
                        (unsigned long long)x->level, NNV_LEVEL_MIN, NNV_LEVEL_MAX);
    if (x->join_siblings && x->cost)
        return nnv_fail(err, NNV_INVALID, "--join-siblings: with --cost, what regions take decides");
    if (x->no_merge && (x->cost || x->join_siblings))
        return nnv_fail(err, NNV_INVALID, "--no-merge: --cost and --join-siblings say which regions are merged");
    enum nnv_status s = split_targets(x, err);
    if (!x->patterns && by_trial(x)) x->patterns = "nnapi";
    if (s == NNV_OK && x->prune) s = read_prune(x, &prune, err);
    prune.join_siblings = x->join_siblings;
    if (s == NNV_OK && x->cost) s = nnv_cost_load(x->cost, x->c.arena, &model, err);
    if (s == NNV_OK) s = prepare(x, &m, &annotator, err);
    if (s != NNV_OK) return s;
    prune.apart = x->no_merge;
    if (x->cost) {
        prune.select = nnv_cost_select;
        prune.select_ctx = &selection;
    }
    struct nnv_prune rules = prune;
    struct nnv_partition_report report = {
        .arena = x->c.arena, .trial = x->trial, .select = prune.select, .select_ctx = &selection};
    struct more more = {x, &prune};
    if (x->c.html) {
        report.divide_with = divide_with;
        report.ctx = &more;
    }
    if (x->c.html || (x->c.json && x->trial)) {
        rules.select = nnv_report_watch;
        rules.select_ctx = &report;
    }
    s = nnv_partition(m, &annotator, &rules, &result, err);
    if (s == NNV_OK && x->trial) s = nnv_convert_asked(x->trial, err);
    if (s == NNV_OK && x->c.html) s = write_page(x, &report, m, &result, &selection, err);
    if (s != NNV_OK) return s;
    s = print(x, m, &result, &selection, &report, &out, err);
    if (s == NNV_OK) return nnv_cli_print(&out, err);
    nnv_text_free(&out);
    return s;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults(), .level = NNV_LEVEL_MAX, .select = NNV_COST_EXACT};
    const struct nnv_opt table[] = {
        {0, "level", NNV_OPT_U64, &x.level, "N", "the NNAPI feature level that models may need, 1 to 7", NULL},
        {0, "patterns", NNV_OPT_STRING, &x.patterns, "P.json|nnapi|onednn|none",
         "pattern table, or one that nnvts has; default: nnapi where the converter to NNAPI is asked", NULL},
        {0, "supported", NNV_OPT_STRING, &x.supported, "S.json",
         "the operators that targets support; without: what the converter to NNAPI takes", NULL},
        {0, "targets", NNV_OPT_STRING, &x.targets, "A,B,...",
         "targets; the first that supports an operation takes it; default: those of --supported, or nnapi", NULL},
        {0, "prune", NNV_OPT_STRING, &x.prune, "R.json", "rules for regions that go back to the host", NULL},
        {0, "join-siblings", NNV_OPT_FLAG, &x.join_siblings, NULL,
         "make one region of those that share no more than an operand", NULL},
        {0, "cost", NNV_OPT_STRING, &x.cost, "M.json|default",
         "choose regions by what they cost: a cost model or profile; without --supported of all that NNAPI can do",
         NULL},
        {0, "select", NNV_OPT_CHOICE, &x.select, "M", "how they are chosen by cost", nnv_cost_methods},
        {0, "states", NNV_OPT_U64, &x.states, "N", "what the search may look at; default: 2000000", NULL},
        {0, "no-merge", NNV_OPT_FLAG, &x.no_merge, NULL, "each operation or composite is a region of its own", NULL},
        {0, "params", NNV_OPT_STRING, &x.params, "FILE",
         "values of parameters, .params or .json: they become constants", NULL},
        NNV_OPTION_HTML(x.c, "write a page: the program before and after, regions, refusals"),
        {0, "text", NNV_OPT_FLAG, &x.text, NULL, "print the divided program, as Relay text or TVMScript as it came",
         NULL},
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, partition, &x);
}

const struct nnv_verb nnv_verb_partition = {"partition", "compile models",
                                            "which parts of a Relay or Relax program go to which target", run};
