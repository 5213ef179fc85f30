/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_compile.c nnvts compile: a program becomes NNAPI models, C++ classes and a shared library. */
#include <string.h>

#include "base/file.h"
#include "compiler/nnapi/compile.h"
#include "harness/cli/cli.h"
#include "harness/compiled/relay_model.h"
#include "harness/runner/signals.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts compile MODEL.relay|MODEL.py|MODEL.tflite|MODEL.onnx [options]",
    .summary = "Divides a program, as text of Relay or Relax or a model, between NNAPI and the host and writes a "
               "folder: the divided program, each "
               "region as JSON and as a C++ class, weights, a shared library, and the plan that nnvts run-compiled "
               "follows.",
    .examples =
        "nnvts compile m.relay --params m.params -o out      all that NNAPI can do goes to NNAPI\n"
        "nnvts compile m.py --params m.params -o out         a program of Relax, as TVMScript\n"
        "nnvts compile m.tflite -o out                       a TensorFlow Lite model, which holds its weights\n"
        "nnvts compile m.relay --level 3 -o out              with models for Android 10\n"
        "nnvts compile m.relay --supported s.json --prune r.json -o out   only some operators, no tiny regions\n"
        "nnvts compile m.relay --cost phone.json -o out      the regions that nnvts partition --cost would choose\n"
        "nnvts compile m.relay --no-build -o out             sources only: no C++ compiler is needed\n"
        "nnvts compile m.tflite --target aarch64-linux-gnu -o out   a library for another machine\n"
        "nnvts compile m.relay --tvm -o out                  with packed functions for TVM's runtime\n",
};

struct command {
    struct nnv_cli c;
    struct nnv_compile_options options;
    struct nnv_compile_output to;
    const char *params;
    int select;
    uint64_t level, states;
};

static enum nnv_status check_options(struct command *x, struct nnv_err *err) {
    if (x->level < NNV_LEVEL_MIN || x->level > NNV_LEVEL_MAX)
        return nnv_fail(err, NNV_INVALID, "--level %llu: expected a feature level from %d to %d",
                        (unsigned long long)x->level, NNV_LEVEL_MIN, NNV_LEVEL_MAX);
    if (x->options.join_siblings && x->options.cost)
        return nnv_fail(err, NNV_INVALID, "--join-siblings: with --cost, what regions take decides");
    x->options.level = (int)x->level;
    x->options.select = (enum nnv_cost_method)x->select;
    x->options.most_states = (size_t)x->states;
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
    if (c->program && !x->c.quiet)
        printf("%-40s the whole program: %zu step%s\n", "program", c->program->n_steps,
               c->program->n_steps == 1 ? "" : "s");
    if (c->no_program) printf("%-40s no class of the whole program: the host has %s\n", "program", c->no_program);
    if (x->options.cost && !x->c.quiet) {
        struct nnv_text text = {0};
        nnv_cost_table(&c->cost, &text);
        if (!text.failed && text.data) fputs(text.data + strspn(text.data, "\n"), stdout);
        nnv_text_free(&text);
    }
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

/** Who interrupts the C++ compiler has a whole folder, without the library. */
static enum nnv_status write_folder(struct command *x, const struct nnv_compiled *compiled, struct nnv_err *err) {
    struct nnv_signals signals;
    nnv_signals_take(&signals, NULL);
    enum nnv_status st = nnv_compile_write(compiled, &x->to, x->c.arena, err);
    if (st != NNV_OK && nnv_signals_interrupts() > 0) {
        x->to.no_build = true;
        st = nnv_compile_write(compiled, &x->to, x->c.arena, err);
        if (st == NNV_OK) fprintf(stderr, "nnvts: interrupted; %s is whole but for the shared library\n", x->c.out);
        x->c.code = 130;
    }
    nnv_signals_give_back(&signals);
    return st;
}

static enum nnv_status compile(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_arena *arena = x->c.arena;
    struct nnv_compiled compiled = {0};
    enum nnv_status st = check_options(x, err);
    if (st == NNV_OK) st = nnv_file_try(x->c.out, true, err);
    if (st == NNV_OK) st = compile_program(x, arena, &compiled, err);
    x->to.folder = x->c.out;
    if (st == NNV_OK) st = write_folder(x, &compiled, err);
    if (st == NNV_OK) show(x, &compiled);
    nnv_compiled_free(&compiled);
    return st;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults(), .level = NNV_LEVEL_MAX, .select = NNV_COST_EXACT};
    x.c.out = "nnvts-compiled";
    const struct nnv_opt table[] = {
        {0, "params", NNV_OPT_STRING, &x.params, "FILE",
         "values of parameters, .params or .json: they become constants", NULL},
        {0, "patterns", NNV_OPT_STRING, &x.options.patterns, "P.json|nnapi|onednn|none",
         "pattern table, or one that nnvts has; default: nnapi", NULL},
        {0, "supported", NNV_OPT_STRING, &x.options.supported, "S.json",
         "operators that may go to NNAPI; default: all that can be converted", NULL},
        {0, "prune", NNV_OPT_STRING, &x.options.prune, "R.json", "rules for regions that go back to the host", NULL},
        {0, "join-siblings", NNV_OPT_FLAG, &x.options.join_siblings, NULL,
         "make one region of those that share no more than an operand", NULL},
        {0, "cost", NNV_OPT_STRING, &x.options.cost, "M.json|default",
         "choose regions by what they cost: a cost model or profile", NULL},
        {0, "select", NNV_OPT_CHOICE, &x.select, "M", "how they are chosen by cost", nnv_cost_methods},
        {0, "states", NNV_OPT_U64, &x.states, "N", "what the search may look at; default: 2000000", NULL},
        {0, "target", NNV_OPT_CODE, &x.to.target, "MACHINE",
         "build for another machine: what its compiler's name begins with, such as aarch64-linux-gnu", NULL},
        {0, "library", NNV_OPT_CODE, &x.to.nnapi, "FILE",
         "link with this library of NNAPI; default: with any, by the name libneuralnetworks.so", NULL},
        {0, "tvm", NNV_OPT_FLAG, &x.to.tvm, NULL, "write packed functions that TVM's runtime loads, too", NULL},
        {0, "level", NNV_OPT_U64, &x.level, "N", "the NNAPI feature level that models may need, 1 to 7", NULL},
        {0, "relaxed", NNV_OPT_FLAG, &x.options.relaxed, NULL, "float32 may be computed as float16", NULL},
        {0, "no-build", NNV_OPT_FLAG, &x.to.no_build, NULL, "write the sources, build no library", NULL},
        {'o', "out", NNV_OPT_OUT_DIR, &x.c.out, "DIR", "folder for all that is written", NULL},
        NNV_OPTION_QUIET(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, compile, &x);
}

const struct nnv_verb nnv_verb_compile = {"compile", "compile models",
                                          "a Relay program as NNAPI models, C++ classes and a library", run};
