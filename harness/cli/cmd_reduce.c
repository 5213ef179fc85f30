/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_reduce.c nnvts reduce: makes a failing spec smaller. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/cli/cli.h"
#include "harness/runner/dump.h"
#include "harness/runner/signals.h"
#include "harness/debug/reduce.h"
#include "harness/debug/spec_c.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts reduce DUMP --driver NAME|PATH [options]",
    .summary = "Makes the spec of a failed case smaller as long as it fails in the same way: fewer operations, smaller "
               "shapes, plainer attributes and values. Writes it as .json, .mod.py and .dot, and as a C program that "
               "reproduces the failure. Exit code 0, 130 if interrupted, 2 if the spec does not fail.",
    .examples = "nnvts reduce nnvts-out/dumps/x.json -d ./npu.so            into x.reduced.json\n"
                "nnvts reduce nnvts-out/dumps/x.json -d ./npu.so -o y.json  into y.json\n"
                "nnvts reduce x.json -d ./npu.so --timeout-total 600        for ten minutes at most\n",
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
static const char *stem_of(const struct nnv_cli *c, struct nnv_arena *arena) {
    const char *path = c->out != NULL ? c->out : c->positional.item[0];
    size_t n = strlen(path);
    if (n > 5 && strcmp(path + n - 5, ".json") == 0) n -= 5;
    return nnv_arena_printf(arena, "%.*s%s", (int)n, path, c->out != NULL ? "" : ".reduced");
}

static enum nnv_status write_results(const struct nnv_spec *spec, enum nnv_precision precision, const char *stem,
                                     struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_text t = {0};
    const char *path = stem ? nnv_arena_printf(arena, "%s.c", stem) : NULL;
    if (!path) return nnv_no_memory(err);
    enum nnv_status st = nnv_dump_write(stem, spec, err);
    if (st == NNV_OK) st = nnv_spec_write_c(spec, precision, arena, &t, err);
    if (st == NNV_OK) st = nnv_file_create(path, t.data, t.len, err);
    nnv_text_free(&t);
    return st;
}

static void print_json(const struct nnv_reduction *r, const struct nnv_extent *was, const struct nnv_extent *is,
                       const char *signature, const char *stem, double seconds) {
    struct nnv_text t = {0};
    nnv_text_add(&t, "{\"signature\":");
    nnv_text_add_json(&t, signature);
    nnv_text_addf(&t, ",\"before\":{\"operations\":%u,\"elements\":%zu,\"bytes\":%zu}", was->operations, was->elements,
                  was->bytes);
    nnv_text_addf(&t, ",\"after\":{\"operations\":%u,\"elements\":%zu,\"bytes\":%zu}", is->operations, is->elements,
                  is->bytes);
    nnv_text_addf(&t, ",\"candidates\":%zu,\"seconds\":%.3f,\"complete\":%s,\"spec\":", r->candidates, seconds,
                  r->complete ? "true" : "false");
    struct nnv_text path = {0};
    nnv_text_addf(&path, "%s.json", stem);
    nnv_text_add_json(&t, path.data);
    nnv_text_free(&path);
    nnv_text_add(&t, "}");
    puts(t.data != NULL ? t.data : "{}");
    nnv_text_free(&t);
}

static void print_summary(const struct nnv_cli *c, const struct nnv_reduction *r, const struct nnv_spec *before,
                          const char *stem, double seconds) {
    const struct nnv_extent was = nnv_spec_extent(before), is = nnv_spec_extent(r->spec);
    char signature[NNV_OPINION_REASON + 32];
    nnv_signature_text(&r->after, signature);
    if (c->json) {
        print_json(r, &was, &is, signature, stem, seconds);
        return;
    }
    printf("%s\n     %u -> %u operations, %zu -> %zu elements, %zu -> %zu bytes; %zu candidates in %.1f s%s\n",
           signature, was.operations, is.operations, was.elements, is.elements, was.bytes, is.bytes, r->candidates,
           seconds, r->complete ? "" : " (stopped before the end)");
    printf("     spec %s.json   graph %s.dot   C %s.c\n", stem, stem, stem);
    printf("     again: nnvts replay %s.json --driver %s\n", stem, c->driver);
}

static enum nnv_status reduce(const struct nnv_cli *c, uint64_t total_ns, struct nnv_arena *arena, bool *interrupted,
                              struct nnv_err *err) {
    struct nnv_run_config config;
    struct nnv_spec *spec = NULL;
    enum nnv_precision precision;
    enum nnv_status st = nnv_cli_subject(c, arena, &config, &spec, &precision, err);
    if (st != NNV_OK) return st;
    struct live live = {.shown = isatty(STDERR_FILENO) && !c->quiet, .start_ns = nnv_now_ns()};
    const struct nnv_oracle oracle = {.path = config.driver_path,
                                      .options = config.driver_options,
                                      .precision = precision,
                                      .timeout_ns = c->timeout_ns};
    const struct nnv_reduce_options options = {
        .oracle = &oracle, .total_ns = total_ns, .context = &live, .progress = on_progress};
    struct nnv_reduction reduction;
    struct nnv_signals signals;
    nnv_signals_take(&signals, NULL);
    st = nnv_reduce(spec, &options, arena, &reduction, err);
    *interrupted = nnv_signals_interrupts() > 0;
    nnv_signals_give_back(&signals);
    if (live.shown) fputs("\r\033[K", stderr);
    if (st != NNV_OK) return st;
    const char *stem = stem_of(c, arena);
    double seconds = (double)(nnv_now_ns() - live.start_ns) / 1e9;
    st = write_results(reduction.spec, precision, stem, arena, err);
    if (st == NNV_OK) print_summary(c, &reduction, spec, stem, seconds);
    return st;
}

static int run(int argc, char **argv) {
    struct nnv_cli c;
    nnv_cli_defaults(&c);
    c.out = NULL;
    uint64_t total_ns = UINT64_C(60000000000);
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(c),
        NNV_OPTION_VIA(c),
        {'o', "out", NNV_OPT_STRING, &c.out, "FILE", "the reduced spec, by default DUMP with .reduced.json", NULL},
        {'k', "filter", NNV_OPT_STRING, &c.filter, "GLOB", "the spec of a file with several", NULL},
        {0, "timeout-total", NNV_OPT_SECONDS, &total_ns, "S", "seconds for everything", NULL},
        NNV_OPTION_TIMEOUT(c),
        NNV_OPTION_PRECISION(c),
        NNV_OPTION_JSON(c),
        NNV_OPTION_QUIET(c),
        NNV_OPTION_END,
    };
    int code = nnv_cli_parse(&c, table, &help, 1, argc, argv);
    if (code >= 0) return code;
    struct nnv_err err = {0};
    struct nnv_arena *arena = nnv_arena_new();
    enum nnv_status st = arena == NULL ? nnv_no_memory(&err) : NNV_OK;
    bool interrupted = false;
    if (st == NNV_OK) st = reduce(&c, total_ns, arena, &interrupted, &err);
    nnv_arena_free(arena);
    if (st != NNV_OK) return nnv_cli_error(&err);
    return interrupted ? 130 : NNVTS_EXIT_PASS;
}

const struct nnv_verb nnv_verb_reduce = {"reduce", "understand a failure", "make a failing spec smaller", run};
