/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_reduce.c nnvts reduce: makes a failing spec smaller. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_out.h"
#include "harness/cli/cli.h"
#include "harness/runner/dumps/dump.h"
#include "harness/runner/signals.h"
#include "harness/debug/reduce/reduce.h"
#include "harness/debug/spec_c/spec_c.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts reduce DUMP --driver NAME|PATH | --check CMD [options]",
    .summary = "Makes the spec of a failed case smaller as long as it fails in the same way: fewer operations, smaller "
               "shapes, plainer attributes and values. Writes it as .json, .mod.py and .dot, and as a C program that "
               "reproduces the failure. With --check a command of your own says what a failure is. Exit code 0, 130 if "
               "interrupted, 2 if the spec does not fail.",
    .examples = "nnvts reduce nnvts-out/dumps/x.json -d ./npu.so            into x.reduced.json\n"
                "nnvts reduce nnvts-out/dumps/x.json -d ./npu.so -o y.json  into y.json\n"
                "nnvts reduce x.json -d ./npu.so --timeout-total 600        for ten minutes at most\n"
                "nnvts reduce x.json --check './leaks.sh {}'                whatever your script finds wrong\n",
};

/** The live line. */
struct live {
    bool shown;
    uint64_t next_ns, start_ns;
};

static bool on_progress(void *context, const struct nnv_spec *best, size_t candidates) {
    struct live *live = context;
    uint64_t now = nnv_now_ns();
    if (live->shown && now >= live->next_ns) {
        struct nnv_extent e = nnv_spec_extent(best);
        fprintf(stderr, "\r%6.1f s  %zu candidates  %u operations  %zu elements\033[K",
                (double)(now - live->start_ns) / 1e9, candidates, e.operations, e.elements);
        live->next_ns = now + 100000000;
    }
    return nnv_signals_interrupts() == 0;
}

/** Where the results go, without ".json"; arena's. */
static const char *stem_of(const struct nnv_cli *c) {
    const char *path = c->out != NULL ? c->out : c->positional.item[0];
    size_t n = strlen(path);
    if (nnv_ends_with(path, ".json")) n -= strlen(".json");
    return nnv_arena_printf(c->arena, "%.*s%s", (int)n, path, c->out != NULL ? "" : ".reduced");
}

static enum nnv_status write_results(const struct nnv_spec *spec, enum nnv_precision precision,
                                     enum nnv_c_dialect dialect, const char *stem, struct nnv_arena *arena,
                                     struct nnv_err *err) {
    struct nnv_text t = {0};
    const char *path = stem ? nnv_arena_printf(arena, "%s.c", stem) : NULL;
    if (!path) return nnv_no_memory(err);
    enum nnv_status st = nnv_dump_write(stem, spec, err);
    if (st == NNV_OK) st = nnv_spec_write_c(spec, precision, dialect, arena, &t, err);
    if (st == NNV_OK) st = nnv_file_create(path, t.data, t.len, err);
    nnv_text_free(&t);
    return st;
}

static void add_extent(struct nnv_json_out *j, const char *name, struct nnv_extent e) {
    nnv_json_open(j, name, '{');
    nnv_json_uint(j, "operations", e.operations);
    nnv_json_uint(j, "elements", e.elements);
    nnv_json_uint(j, "bytes", e.bytes);
    nnv_json_close(j, '}');
}

static enum nnv_status print_summary(const struct nnv_cli *c, const struct nnv_reduction *r,
                                     const struct nnv_spec *before, const char *stem, double seconds,
                                     struct nnv_err *err) {
    const struct nnv_extent was = nnv_spec_extent(before), is = nnv_spec_extent(r->spec);
    char signature[NNV_OPINION_REASON + 32];
    const char *path = nnv_arena_printf(c->arena, "%s.json", stem);
    struct nnv_text t = {0};
    struct nnv_json_out j = {.text = &t};
    nnv_signature_text(&r->after, signature);
    if (c->json) {
        nnv_json_open(&j, NULL, '{');
        nnv_json_string(&j, "signature", signature);
        add_extent(&j, "before", was);
        add_extent(&j, "after", is);
        nnv_json_uint(&j, "candidates", r->candidates);
        nnv_json_raw(&j, "seconds", "%.3f", seconds);
        nnv_json_bool(&j, "complete", r->complete);
        nnv_json_string(&j, "spec", path);
        nnv_json_close(&j, '}');
        nnv_text_add(&t, "\n");
        return nnv_cli_print(&t, err);
    }
    printf("%s\n     %u -> %u operations, %zu -> %zu elements, %zu -> %zu bytes; %zu candidates in %.1f s%s\n",
           signature, was.operations, is.operations, was.elements, is.elements, was.bytes, is.bytes, r->candidates,
           seconds, r->complete ? "" : " (stopped before the end)");
    printf("     spec %s.json   graph %s.dot   C %s.c\n", stem, stem, stem);
    if (c->check == NULL) printf("     again: nnvts replay %s.json --driver %s\n", stem, c->driver);
    return NNV_OK;
}

static enum nnv_status reduce(void *own, struct nnv_err *err) {
    struct nnv_cli *c = own;
    struct nnv_spec *spec = NULL;
    struct nnv_oracle oracle;
    enum nnv_status st = nnv_cli_subject(c, &spec, &oracle, err);
    if (st != NNV_OK) return st;
    struct live live = {.shown = isatty(STDERR_FILENO) && !c->quiet, .start_ns = nnv_now_ns()};
    const struct nnv_reduce_options options = {
        .oracle = &oracle, .total_ns = c->budget_ns, .context = &live, .progress = on_progress};
    struct nnv_reduction reduction;
    struct nnv_signals signals;
    nnv_signals_take(&signals, NULL);
    st = nnv_reduce(spec, &options, c->arena, &reduction, err);
    if (nnv_signals_interrupts() > 0) c->code = 130;
    nnv_signals_give_back(&signals);
    if (live.shown) fputs("\r\033[K", stderr);
    if (st != NNV_OK) return st;
    const char *stem = stem_of(c);
    const double seconds = (double)(nnv_now_ns() - live.start_ns) / 1e9;
    const enum nnv_c_dialect dialect = c->ndk              ? NNV_C_NDK
                                       : c->driver != NULL ? nnv_c_dialect_of(c->driver)
                                                           : NNV_C_DRIVER;
    st = write_results(reduction.spec, oracle.precision, dialect, stem, c->arena, err);
    return st == NNV_OK ? print_summary(c, &reduction, spec, stem, seconds, err) : st;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    c.budget_ns = UINT64_C(60000000000);
    c.out = NULL;
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(c),
        NNV_OPTION_CHECK(c),
        NNV_OPTION_VIA(c),
        {'o', "out", NNV_OPT_KEPT, &c.out, "FILE", "the reduced spec, by default DUMP with .reduced.json", NULL},
        {'k', "filter", NNV_OPT_STRING, &c.filter, "GLOB", "the spec of a file with several", NULL},
        {0, "timeout-total", NNV_OPT_SECONDS, &c.budget_ns, "S", "seconds for everything", NULL},
        NNV_OPTION_TIMEOUT(c),
        NNV_OPTION_PRECISION(c),
        NNV_OPTION_ARITHMETIC(c),
        {0, "ndk", NNV_OPT_FLAG, &c.ndk, NULL, "C that calls NNAPI's NDK, as for ndk: and sl: drivers", NULL},
        NNV_OPTION_JSON(c),
        NNV_OPTION_QUIET(c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&c, table, &help, 1, argc, argv, reduce, &c);
}

const struct nnv_verb nnv_verb_reduce = {"reduce", "understand a failure", "make a failing spec smaller", run};
