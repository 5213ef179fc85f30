/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_compile.c nnvts compile: a program becomes NNAPI models, C++ classes and a shared library. */
#include "compiler/nnapi/compile.h"
#include "harness/cli/cli.h"
#include "harness/compiled/relay_model.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts compile MODEL.relay|MODEL.tflite|MODEL.onnx [options]",
    .summary = "Divides a program, as Relay text or a TensorFlow Lite model, between NNAPI and the host and writes a "
               "folder: the divided program, each "
               "region as JSON and as a C++ class, weights, a shared library, and the plan that nnvts run-compiled "
               "follows.",
    .examples =
        "nnvts compile m.relay --params m.params -o out      all that NNAPI can do goes to NNAPI\n"
        "nnvts compile m.tflite -o out                       a TensorFlow Lite model, which holds its weights\n"
        "nnvts compile m.relay --level 3 -o out              with models for Android 10\n"
        "nnvts compile m.relay --supported s.json --prune r.json -o out   only some operators, no tiny regions\n"
        "nnvts compile m.relay --no-build -o out             sources only: no C++ compiler is needed\n",
};

struct command {
    struct nnv_cli c;
    struct nnv_compile_options options;
    const char *params;
    int target;
    uint64_t level;
    bool no_build;
};

static enum nnv_status check_options(struct command *x, struct nnv_err *err) {
    if (x->level < NNV_LEVEL_MIN || x->level > NNV_LEVEL_MAX)
        return nnv_fail(err, NNV_INVALID, "--level %llu: expected a feature level from %d to %d",
                        (unsigned long long)x->level, NNV_LEVEL_MIN, NNV_LEVEL_MAX);
    x->options.level = (int)x->level;
    return NNV_OK;
}

static void show(const struct command *x, const struct nnv_compiled *c) {
    for (size_t r = 0; r < c->n_regions && !x->c.quiet; r++) {
        const struct nnv_converted *converted = c->regions[r].converted;
        printf("%-40s %4u operation%s, feature level %d\n", c->regions[r].function, converted->model.main.noperations,
               converted->model.main.noperations == 1 ? "" : "s", converted->level);
    }
    for (size_t i = 0; i < c->n_refused; i++)
        printf("%-40s stays on the host: %s\n", c->refused[i].function, c->refused[i].reason);
    printf("%s: %zu region%s, %zu bytes of weights, %zu operation%s on the host\n", x->c.out, c->n_regions,
           c->n_regions == 1 ? "" : "s", c->weights.bytes.len, c->partition.n_host,
           c->partition.n_host == 1 ? "" : "s");
}

/** Reads, checks and compiles. */
static enum nnv_status compile_program(struct command *x, struct nnv_arena *arena, struct nnv_compiled *compiled,
                                       struct nnv_err *err) {
    struct nnv_relay_program p;
    enum nnv_status st =
        nnv_relay_program_read(x->c.positional.count ? x->c.positional.item[0] : NULL, x->params, arena, &p, err);
    if (st == NNV_OK) st = nnv_relay_check(p.m, err);
    if (st == NNV_OK) st = nnv_compile_module(p.m, &x->options, arena, compiled, err);
    if (st != NNV_OK) return st;
    compiled->source = p.text;
    compiled->source_len = p.len;
    compiled->params = p.params;
    return NNV_OK;
}

static enum nnv_status compile(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_arena *arena = x->c.arena;
    struct nnv_compiled compiled = {0};
    enum nnv_status st = check_options(x, err);
    if (st == NNV_OK) st = compile_program(x, arena, &compiled, err);
    if (st == NNV_OK) st = nnv_compile_write(&compiled, x->c.out, !x->no_build, arena, err);
    if (st == NNV_OK) show(x, &compiled);
    nnv_compiled_free(&compiled);
    return st;
}

static int run(int argc, char **argv) {
    static const char *const targets[] = {"nnapi", NULL};
    struct command x = {.c = nnv_cli_defaults(), .level = NNV_LEVEL_MAX};
    x.c.out = "nnvts-compiled";
    const struct nnv_opt table[] = {
        {0, "params", NNV_OPT_STRING, &x.params, "FILE",
         "values of parameters, .params or .json: they become constants", NULL},
        {0, "patterns", NNV_OPT_STRING, &x.options.patterns, "P.json|nnapi|onednn",
         "pattern table, or one that nnvts has; default: nnapi", NULL},
        {0, "supported", NNV_OPT_STRING, &x.options.supported, "S.json",
         "operators that may go to NNAPI; default: all that can be converted", NULL},
        {0, "prune", NNV_OPT_STRING, &x.options.prune, "R.json", "rules for regions that go back to the host", NULL},
        {0, "target", NNV_OPT_CHOICE, &x.target, "T", "what regions are compiled for", targets},
        {0, "level", NNV_OPT_U64, &x.level, "N", "the NNAPI feature level that models may need, 1 to 7", NULL},
        {0, "relaxed", NNV_OPT_FLAG, &x.options.relaxed, NULL, "float32 may be computed as float16", NULL},
        {0, "no-build", NNV_OPT_FLAG, &x.no_build, NULL, "write the sources, build no library", NULL},
        {'o', "out", NNV_OPT_STRING, &x.c.out, "DIR", "folder for all that is written", NULL},
        NNV_OPTION_QUIET(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, compile, &x);
}

const struct nnv_verb nnv_verb_compile = {"compile", "compile models",
                                          "a Relay program as NNAPI models, C++ classes and a library", run};
