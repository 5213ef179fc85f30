/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_partition.c nnvts partition: which parts of a Relay program go to which target. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compiler/byoc.h"
#include "compiler/params.h"
#include "compiler/tables.h"
#include "harness/cli/cli.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts partition MODEL.relay [options]",
    .summary = "Shows how a Relay program is divided: operators that match a pattern become composites, what a target "
               "supports is gathered in regions, the rest stays on the host.",
    .examples = "nnvts partition m.relay --supported s.json          regions as a table\n"
                "nnvts partition m.relay --patterns nnapi --json     composites of the table for NNAPI, as JSON\n"
                "nnvts partition m.relay --patterns p.json --targets onednn --text   the divided program\n"
                "nnvts partition m.relay --supported s.json --prune r.json   without regions that are not worth it\n",
};

enum { MOST_TARGETS = 64 };
static const size_t LONGEST_PROGRAM = (size_t)1 << 32, LONGEST_TABLE = (size_t)1 << 26;

struct command {
    struct nnv_cli c;
    const char *patterns, *supported, *targets, *prune, *params;
    bool text;
    struct nnv_arena *arena;
    const char *names[MOST_TARGETS]; /**< of --targets */
    size_t n_names;
};

/** Reads a file; what is read belongs to the arena. */
static enum nnv_status read_file(const struct command *x, const char *path, size_t limit, char **data, size_t *size,
                                 struct nnv_err *err) {
    char *read = NULL;
    enum nnv_status s = nnv_file_read(path, limit, &read, size, err);
    if (s != NNV_OK) return s;
    *data = nnv_arena_copy(x->arena, read, *size + 1);
    free(read);
    return *data ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
}

static enum nnv_status split_targets(struct command *x, struct nnv_err *err) {
    char *list = x->targets ? nnv_arena_strdup(x->arena, x->targets) : NULL, *rest = list;
    if (x->targets && !list) return nnv_fail(err, NNV_NO_MEMORY, "out of memory");
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
    char *text, *data;
    size_t len, size;
    struct nnv_relay_params params;
    if (x->c.positional.count == 0) return nnv_fail(err, NNV_INVALID, "which program? give a file of Relay text");
    const char *path = x->c.positional.item[0];
    enum nnv_status s = read_file(x, path, LONGEST_PROGRAM, &text, &len, err);
    if (s == NNV_OK) s = nnv_relay_parse(text, len, path, x->arena, m, err);
    if (s == NNV_OK && x->params) {
        s = read_file(x, x->params, LONGEST_PROGRAM, &data, &size, err);
        if (s == NNV_OK) s = nnv_relay_params_read(data, size, x->params, x->arena, &params, err);
        if (s == NNV_OK) s = nnv_relay_params_bind(*m, &params, err);
    }
    return s == NNV_OK ? nnv_relay_infer(*m, err) : s;
}

/** --patterns: the name of a table that nnvts has, or a file. */
static enum nnv_status merge_composites(const struct command *x, struct nnv_relay_module *m, struct nnv_err *err) {
    struct nnv_pattern_table table;
    size_t len;
    const char *known = nnv_shipped_table(x->patterns, &len);
    enum nnv_status s = known ? nnv_pattern_read(known, len, x->patterns, x->arena, &table, err)
                              : nnv_pattern_load(x->patterns, x->arena, &table, err);
    return s == NNV_OK ? nnv_merge_composite(m, &table, err) : s;
}

static enum nnv_status read_support(const struct command *x, struct nnv_support **out, struct nnv_err *err) {
    char *text = nnv_arena_strdup(x->arena, "[]");
    size_t len = 2;
    enum nnv_status s = text ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "out of memory");
    if (s == NNV_OK && x->supported) s = read_file(x, x->supported, LONGEST_TABLE, &text, &len, err);
    if (s != NNV_OK) return s;
    return nnv_support_read(text, len, x->supported ? x->supported : "no list", x->names, x->n_names, x->arena, out,
                            err);
}

static enum nnv_status read_prune(const struct command *x, struct nnv_prune *out, struct nnv_err *err) {
    char *text;
    size_t len;
    enum nnv_status s = read_file(x, x->prune, LONGEST_TABLE, &text, &len, err);
    return s == NNV_OK ? nnv_prune_read(text, len, x->prune, x->arena, out, err) : s;
}

static enum nnv_status partition(struct command *x, struct nnv_text *out, struct nnv_err *err) {
    struct nnv_relay_module *m = NULL;
    struct nnv_support *support = NULL;
    struct nnv_prune prune;
    struct nnv_partition result;
    enum nnv_status s = split_targets(x, err);
    if (s == NNV_OK) s = load_module(x, &m, err);
    if (s == NNV_OK) s = read_support(x, &support, err);
    if (s == NNV_OK && x->prune) s = read_prune(x, &prune, err);
    if (s == NNV_OK && x->patterns) s = merge_composites(x, m, err);
    if (s != NNV_OK) return s;
    struct nnv_annotator annotator = nnv_support_annotator(support);
    s = nnv_partition(m, &annotator, x->prune ? &prune : NULL, &result, err);
    if (s != NNV_OK) return s;
    if (x->text)
        nnv_relay_print(m, NNV_RELAY_PRINT_META, out);
    else if (x->c.json)
        nnv_partition_print(&result, out);
    else
        nnv_partition_table(&result, out);
    return out->failed ? nnv_fail(err, NNV_NO_MEMORY, "out of memory") : NNV_OK;
}

static int run(int argc, char **argv) {
    struct command x = {0};
    nnv_cli_defaults(&x.c);
    const struct nnv_opt table[] = {
        {0, "patterns", NNV_OPT_STRING, &x.patterns, "P.json|nnapi|onednn", "pattern table, or one that nnvts has",
         NULL},
        {0, "supported", NNV_OPT_STRING, &x.supported, "S.json", "the operators that targets support", NULL},
        {0, "targets", NNV_OPT_STRING, &x.targets, "A,B,...",
         "targets; the first that supports an operation takes it; default: those of --supported, or nnapi", NULL},
        {0, "prune", NNV_OPT_STRING, &x.prune, "R.json", "rules for regions that go back to the host", NULL},
        {0, "params", NNV_OPT_STRING, &x.params, "FILE",
         "values of parameters, .params or .json: they become constants", NULL},
        {0, "text", NNV_OPT_FLAG, &x.text, NULL, "print the divided program as Relay text", NULL},
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_END,
    };
    int code = nnv_cli_parse(&x.c, table, &help, 1, argc, argv);
    if (code >= 0) return code;
    struct nnv_err err = {0};
    struct nnv_text out = {0};
    x.arena = nnv_arena_new();
    enum nnv_status s = x.arena ? partition(&x, &out, &err) : nnv_fail(&err, NNV_NO_MEMORY, "out of memory");
    if (s == NNV_OK) fwrite(out.data, 1, out.len, stdout);
    nnv_text_free(&out);
    nnv_arena_free(x.arena);
    return s == NNV_OK ? NNVTS_EXIT_PASS : nnv_cli_error(&err);
}

const struct nnv_verb nnv_verb_partition = {"partition", "compile models",
                                            "which parts of a Relay program go to which target", run};
