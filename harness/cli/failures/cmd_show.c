/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_show.c nnvts show: a spec as a summary, or in another form. */
#include "base/text.h"
#include "compiler/nnapi/decompile/decompile.h"
#include "harness/cli/cli.h"
#include "harness/compiled/relay_model.h"
#include "harness/cli/failures/relay_show.h"
#include "harness/cli/model_file.h"
#include "mlts/networks/networks.h"
#include "harness/debug/spec_c/spec_c.h"
#include "reference/spec/spec.h"
#include "reference/model/validate.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts show SPEC... [options]",
    .summary =
        "Shows the specs of .json, .jsonl and .example.cpp files: a summary with feature level and validity, or "
        "the spec in "
        "another form, on stdout. Of a .tflite or .onnx file it shows tensors, operators with their counts, and what "
        "NNAPI has no equal for; of a .relay program or one of Relax in a .py file, its functions' types and "
        "operators. All can "
        "be shown as Relay text.",
    .examples = "nnvts show x.json                       what the model does\n"
                "nnvts show x.json --as dot | dot -Tsvg  its graph\n"
                "nnvts show x.jsonl -k 'conv*' --as mod.py  in the form of AOSP's test generator\n"
                "nnvts show x.json --as c > x.c          a program that runs it on a driver\n"
                "nnvts show x.json --as ndk > x.c        a program that runs it by NNAPI's NDK alone\n"
                "nnvts show net.tflite                   what a TensorFlow Lite model holds\n"
                "nnvts show net.tflite --as relay        it as a Relay program\n"
                "nnvts show net.relay                    the operators of a Relay program\n"
                "nnvts show net.py --as relay            a Relax program as Relay text\n",
};

enum form { SUMMARY, JSON, JSONL, MODPY, DOT, C, NDK, RELAY };
static const char *const forms[] = {"summary", "json", "jsonl", "mod.py", "dot", "c", "ndk", "relay", NULL};

struct command {
    struct nnv_cli c;
    int form;
};

/** As a program; it compares by the profile that nnvts replay would take. */
static enum nnv_status write_c(struct nnv_spec *spec, enum nnv_c_dialect dialect, struct nnv_arena *arena,
                               struct nnv_text *out, struct nnv_err *err) {
    const struct nnv_run_config config = {.precision = -1};
    enum nnv_precision precision;
    enum nnv_status s = nnv_case_precision(&config, nnv_suite_by_name("spec"), spec, &precision, err);
    return s == NNV_OK ? nnv_spec_write_c(spec, precision, dialect, arena, out, err) : s;
}

/** The model as a Relay program. */
static enum nnv_status write_relay(const struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_text *out,
                                   struct nnv_err *err) {
    struct nnv_relay_module *m;
    enum nnv_status s = nnv_decompile(&spec->model, NULL, arena, &m, err);
    if (s != NNV_OK) return nnv_at(err, s, "%s", spec->name);
    nnv_relay_print(m, NNV_RELAY_PRINT_META, out);
    return NNV_OK;
}

static enum nnv_status write_form(struct nnv_spec *spec, enum form form, struct nnv_arena *arena, struct nnv_text *out,
                                  struct nnv_err *err) {
    switch (form) {
    case SUMMARY:
        nnv_spec_write_summary(spec, out);
        return NNV_OK;
    case JSON:
        nnv_spec_write_json(spec, true, out);
        return NNV_OK;
    case JSONL:
        nnv_spec_write_json(spec, false, out);
        return NNV_OK;
    case MODPY:
        nnv_spec_write_modpy(spec, out);
        return NNV_OK;
    case DOT:
        nnv_spec_write_dot(spec, -1, out);
        return NNV_OK;
    case C:
        return write_c(spec, NNV_C_DRIVER, arena, out, err);
    case NDK:
        return write_c(spec, NNV_C_NDK, arena, out, err);
    case RELAY:
        return write_relay(spec, arena, out, err);
    }
    return NNV_OK;
}

/** Appends what nnv_validate says of the spec. */
static void write_validity(const struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_text *out) {
    struct nnv_err err = {0};
    int level = 0;
    if (nnv_validate(&spec->model, arena, &level, &err) == NNV_OK)
        nnv_text_addf(out, "valid from feature level %d (%s)\n", level, nnv_level_name(level));
    else
        nnv_text_addf(out, "not valid: %s\n", err.text);
}

static enum nnv_status show_spec(void *own, struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_err *err) {
    const struct command *x = own;
    struct nnv_text out = {0};
    enum nnv_status s = write_form(spec, (enum form)x->form, arena, &out, err);
    if (x->form == SUMMARY) write_validity(spec, arena, &out);
    if (x->form == JSONL) nnv_text_add(&out, "\n");
    if (s == NNV_OK) s = nnv_cli_print(&out, err);
    nnv_text_free(&out);
    return s;
}

/** A .tflite or .onnx file or a program of Relay or Relax as Relay text. */
static enum nnv_status write_program(const char *path, struct nnv_arena *arena, struct nnv_text *out,
                                     struct nnv_err *err) {
    struct nnv_relay_program p;
    enum nnv_status s = nnv_relay_program_read(path, NULL, arena, &p, err);
    if (s == NNV_OK) s = nnv_relay_check(p.m, err);
    if (s == NNV_OK) nnv_relay_print(p.m, NNV_RELAY_PRINT_META, out);
    return s;
}

/** A .tflite or .onnx file: what it holds, or the spec that an import makes of it. */
static enum nnv_status write_model(const struct command *x, const char *path, struct nnv_text *out,
                                   struct nnv_err *err) {
    struct nnv_spec *spec;
    if (x->form == SUMMARY) return nnv_cli_model_summary(path, x->c.arena, out, err);
    if (x->form == RELAY) return write_program(path, x->c.arena, out, err);
    enum nnv_status s = nnv_cli_model_spec(path, 0, x->c.seed, x->c.arena, &spec, err);
    if (s == NNV_OK) s = write_form(spec, (enum form)x->form, x->c.arena, out, err);
    if (x->form == JSONL) nnv_text_add(out, "\n");
    return s;
}

/** A file of any kind; *shown counts what was printed. */
static enum nnv_status show_any(struct command *x, const char *path, size_t *shown, struct nnv_err *err) {
    struct nnv_text out = {0};
    enum nnv_status s;
    const bool model = nnv_network_is_file(path);
    if (!model && !nnv_cli_is_relay(path)) return nnv_cli_each_spec(path, x->c.filter, shown, show_spec, x, err);
    nnv_arena_reset(x->c.arena);
    if (model)
        s = write_model(x, path, &out, err);
    else if (x->form == SUMMARY)
        s = nnv_cli_relay_summary(path, x->c.arena, &out, err);
    else if (x->form == RELAY)
        s = write_program(path, x->c.arena, &out, err);
    else
        s = nnv_fail(err, NNV_INVALID, "%s: of a Relay program there is only the summary, and --as relay", path);
    if (s == NNV_OK) s = nnv_cli_print(&out, err);
    nnv_text_free(&out);
    ++*shown;
    return s;
}

static enum nnv_status show(void *own, struct nnv_err *err) {
    struct command *x = own;
    size_t shown = 0;
    enum nnv_status s = NNV_OK;
    if (x->c.positional.count == 0)
        return nnv_fail(err, NNV_INVALID,
                        "which spec? give a .json, .jsonl, .example.cpp, .tflite, .onnx, .relay or .py file");
    for (int i = 0; s == NNV_OK && i < x->c.positional.count; i++)
        s = show_any(x, x->c.positional.item[i], &shown, err);
    if (s == NNV_OK && shown == 0)
        s = nnv_fail(err, NNV_INVALID, "no spec matches '%s'", x->c.filter != NULL ? x->c.filter : "");
    return s;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults(), .form = SUMMARY};
    const struct nnv_opt table[] = {
        {0, "as", NNV_OPT_CHOICE, &x.form, "FORM", "the form to show", forms},
        {'k', "filter", NNV_OPT_STRING, &x.c.filter, "GLOB", "only specs whose name matches", NULL},
        NNV_OPTION_SEED(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, NNV_OPT_LIST_MAX, argc, argv, show, &x);
}

const struct nnv_verb nnv_verb_show = {"show", "understand a failure", "show a spec, or convert it", run};
