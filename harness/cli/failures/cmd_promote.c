/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_promote.c nnvts promote: a failure is kept as a regression test. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "harness/cli/cli.h"
#include "harness/fuzz/campaign.h"
#include "harness/journal/load.h"
#include "harness/journal/verdict.h"
#include "harness/runner/dumps/dump.h"
#include "reference/spec/spec.h"

enum { FUZZ_BYTES_MAX = 1 << 20 };

static const struct nnv_verb_help help = {
    .usage = "nnvts promote DUMP [--as NAME] [--to FOLDER]",
    .summary =
        "Keeps a failure for good: the dump of a failed case, its reduced form, a finding of nnvts fuzz, or an input "
        "of its corpus becomes a named spec in a folder for run --specs. It says which driver failed, in which case, "
        "by "
        "which seed and why; the wrong answer itself is left out.",
    .examples = "nnvts promote nnvts-out/dumps/x.json                into regressions/x.json\n"
                "nnvts promote x.reduced.json --as dilated-int8 --to tests/npu\n"
                "nnvts promote corpus/8f2c.fuzz --as deep-pad       what brought the fuzzer to new code\n"
                "nnvts run -d ./npu.so -s spec --specs regressions   has any of it come back?\n",
};

struct command {
    struct nnv_cli c;
    const char *name;
};

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/** The name of the dump, without ".json", ".fuzz" and ".reduced". */
static const char *stem_of(const char *dump, struct nnv_arena *arena) {
    static const char *const ends[] = {".jsonl", ".json", ".fuzz", ".reduced"};
    const char *name = last_part(dump);
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t k = strlen(ends[i]);
        if (n > k && strncmp(name + n - k, ends[i], k) == 0) n -= k;
    }
    return nnv_arena_printf(arena, "%.*s", (int)n, name);
}

/** The first line of a text. */
static int first_line(const char *s) { return (int)strcspn(s, "\n"); }

/** What the run says of the case: the folder of the dump lies in that of the run. NULL: there is no such run. */
static const char *from_run(const char *dump, const char *stem, struct nnv_arena *arena) {
    struct nnv_report *run = NULL;
    struct nnv_err ignored = {0};
    const char *told = NULL, *slash = strrchr(dump, '/');
    char name[256];
    const char *folder =
        slash ? nnv_arena_printf(arena, "%.*s/..", (int)(slash - dump), dump) : nnv_arena_strdup(arena, "..");
    if (!folder || nnv_report_load(folder, &run, &ignored) != NNV_OK) return NULL;
    const char *driver = json_string_value(json_object_get(json_object_get(run->header, "driver"), "argument"));
    for (size_t i = 0; i < run->count && !told; i++) {
        const struct nnv_report_case *c = &run->item[i];
        nnv_dump_name(c->name, name);
        if (c->length == 0 || strcmp(name, stem) != 0) continue;
        told = nnv_arena_printf(arena, "%s, seed %" JSON_INTEGER_FORMAT ", driver %s: %s%s%.*s", c->name,
                                json_integer_value(json_object_get(run->header, "seed")), driver ? driver : "unknown",
                                nnv_verdict_name(c->verdict), *c->more->reason ? ": " : "", first_line(c->more->reason),
                                c->more->reason);
    }
    nnv_report_free(run);
    return told;
}

/** What the finding of a fuzzer says of itself: the comments of the .fuzz file beside it. NULL: there is none. */
static const char *from_finding(const char *dump, const char *stem, struct nnv_arena *arena) {
    struct nnv_err ignored = {0};
    char *text = NULL;
    size_t size;
    const char *path = nnv_arena_printf(arena, "%.*s%s.fuzz", (int)(last_part(dump) - dump), dump, stem);
    if (!path || nnv_file_read(path, FUZZ_BYTES_MAX, &text, &size, &ignored) != NNV_OK) return NULL;
    const char *second = strchr(text, '\n');
    const char *told =
        second && strncmp(text, "# ", 2) == 0 && strncmp(second, "\n# ", 3) == 0
            ? nnv_arena_printf(arena, "%.*s: %.*s", first_line(text) - 2, text + 2, first_line(second + 3), second + 3)
            : NULL;
    free(text);
    return told;
}

/** Names are files and cases: words. */
static enum nnv_status check_name(const char *name, struct nnv_err *err) {
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.";
    if (*name && *name != '.' && name[strspn(name, word)] == '\0' && strlen(name) <= 200) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "--as '%s': expected letters, digits and _ - + .", name);
}

/** The spec of the one input that a file of the fuzzer holds. */
static enum nnv_status read_input(const char *path, struct nnv_arena *arena, struct nnv_spec **spec,
                                  struct nnv_err *err) {
    struct nnv_fuzz_input *inputs = NULL;
    size_t size, count = 0;
    char *text = NULL;
    enum nnv_status st = nnv_file_read(path, FUZZ_BYTES_MAX, &text, &size, err);
    if (st == NNV_OK) st = nnv_fuzz_parse(text, path, &inputs, &count, err);
    if (st == NNV_OK && count > 1)
        st = nnv_fail(err, NNV_INVALID, "%s: %zu inputs, one after the other: a spec is one model", path, count);
    if (st == NNV_OK) st = nnv_fuzz_spec(inputs, arena, spec, err);
    if (st == NNV_OK && *spec == NULL)
        st = nnv_fail(err, NNV_INVALID, "%s: a spec cannot express it: keep the file for nnvts fuzz --corpus", path);
    free(inputs);
    free(text);
    return st;
}

/** The spec of the dump, without what a driver answered, and with its origin. */
static enum nnv_status make(const struct command *x, const char *stem, struct nnv_spec **out, struct nnv_err *err) {
    const struct nnv_cli *c = &x->c;
    const char *dump = c->positional.item[0];
    struct nnv_spec *spec;
    enum nnv_status st = nnv_ends_with(dump, ".fuzz") ? read_input(dump, c->arena, &spec, err)
                                                      : nnv_cli_one_spec(c, c->arena, &spec, err);
    if (st != NNV_OK) return st;
    const char *told = from_run(dump, stem, c->arena);
    if (!told) told = from_finding(dump, stem, c->arena);
    if (!told) told = spec->source;
    spec->source =
        nnv_arena_printf(c->arena, "promoted from %s%s%s", last_part(dump), told ? "; " : "", told ? told : "");
    spec->actual = NULL;
    spec->bounds = NULL;
    if (!spec->source) return nnv_no_memory(err);
    *out = spec;
    return NNV_OK;
}

static enum nnv_status promote(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_cli *c = &x->c;
    struct nnv_spec *spec;
    struct nnv_text t = {0};
    if (c->positional.count == 0)
        return nnv_fail(err, NNV_INVALID, "promote what? give a dump (failed cases leave them in nnvts-out/dumps/)");
    const char *stem = stem_of(c->positional.item[0], c->arena), *name = x->name ? x->name : stem;
    const char *path = name ? nnv_arena_printf(c->arena, "%s/%s.json", c->out, name) : NULL;
    if (!path) return nnv_no_memory(err);
    enum nnv_status st = check_name(name, err);
    if (st == NNV_OK && access(path, F_OK) == 0)
        st = nnv_fail(err, NNV_INVALID, "%s is there already: choose another name with --as", path);
    if (st == NNV_OK) st = make(x, stem, &spec, err);
    if (st != NNV_OK) return st;
    spec->name = name;
    nnv_spec_write_json(spec, true, &t);
    nnv_text_add(&t, "\n");
    st = t.failed ? nnv_no_memory(err) : nnv_folder_make(c->out, err);
    if (st == NNV_OK) st = nnv_file_write(path, t.data, t.len, err);
    nnv_text_free(&t);
    if (st == NNV_OK && !c->quiet)
        printf("%s: %s\nrun it: nnvts run --driver DRIVER --suite spec --specs %s\n", path, spec->source, c->out);
    return st;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults()};
    x.c.out = "regressions";
    const struct nnv_opt table[] = {
        {0, "as", NNV_OPT_STRING, &x.name, "NAME", "what the regression is called; default: as the dump", NULL},
        {0, "to", NNV_OPT_STRING, &x.c.out, "FOLDER", "where it is kept, default regressions", NULL},
        {'k', "filter", NNV_OPT_STRING, &x.c.filter, "GLOB", "the spec of this name, of a file of several", NULL},
        NNV_OPTION_QUIET(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, promote, &x);
}

const struct nnv_verb nnv_verb_promote = {"promote", "understand a failure", "keep a failure as a regression test",
                                          run};
