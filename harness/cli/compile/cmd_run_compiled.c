/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_run_compiled.c nnvts run-compiled: a compiled program on NNAPI, with any driver. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/json_out.h"
#include "harness/cli/cli.h"
#include "harness/compiled/run.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts run-compiled DIR [options]",
    .summary =
        "Runs what nnvts compile has written: its regions on NNAPI's runtime with the drivers that are named, in "
        "a process of their own, all else on the golden interpreter. A region that the drivers can't compile "
        "is interpreted, too.",
    .examples =
        "nnvts run-compiled out --driver cpu --compare              each region judged, the results compared\n"
        "nnvts run-compiled out --driver sample:float-fast,cpu      regions may be divided between two drivers\n"
        "nnvts run-compiled out --driver sample:minimal#auto        what the driver lacks, the CPU reference does\n"
        "nnvts run-compiled out --driver cpu --repeat 100 --burst   times of 100 runs of each region\n"
        "nnvts run-compiled out --input x.bin --input y.bin         inputs from files: their elements as they are\n",
};

struct command {
    struct nnv_cli c;
    struct nnv_opt_list inputs;
    const char *output; /**< folder for what was computed, or NULL */
    struct nnv_compiled_run how;
    struct nnv_built bundle;
};

/* ------------------------------------------------------------------------- inputs */

static enum nnv_status read_input(const struct command *x, const char *path, const struct nnv_relay_expr *param,
                                  struct nnv_relay_datum **to, struct nnv_err *err) {
    char *data = NULL;
    size_t size = 0, elems, bytes;
    if (param->type->kind != NNV_RELAY_TENSOR || !nnv_relay_type_elems(param->type, &elems, &bytes))
        return nnv_fail(err, NNV_INVALID, "--input %s: the parameter %%%s is no tensor of known shape", path,
                        param->name);
    enum nnv_status st = nnv_file_read(path, bytes + 1, &data, &size, err);
    if (st == NNV_OK && size != bytes)
        st = nnv_fail(err, NNV_INVALID, "--input %s: expected the %zu bytes of the parameter %%%s, got %s%zu", path,
                      bytes, param->name, size > bytes ? "at least " : "", size);
    if (st == NNV_OK) st = nnv_relay_datum_read(param->type, data, x->c.arena, to, err);
    free(data);
    return st;
}

static enum nnv_status make_inputs(struct command *x, struct nnv_err *err) {
    const struct nnv_relay_expr *main = nnv_relay_find(x->bundle.module, "main");
    enum nnv_status st = NNV_OK;
    if (x->inputs.count && (size_t)x->inputs.count != main->n_params)
        return nnv_fail(err, NNV_INVALID, "--input: %d files, but the program has %zu parameters", x->inputs.count,
                        main->n_params);
    x->how.inputs = NNV_NEW(x->c.arena, struct nnv_relay_datum *, main->n_params);
    if (!x->how.inputs) return nnv_no_memory(err);
    for (size_t i = 0; i < main->n_params && st == NNV_OK; i++) {
        if (x->inputs.count) st = read_input(x, x->inputs.item[i], main->params[i], &x->how.inputs[i], err);
    }
    if (st != NNV_OK || x->inputs.count) return st;
    /* What is done with a parameter stands in the program as it was before it was divided. */
    struct nnv_relay_expr *before = x->bundle.program ? nnv_relay_find(x->bundle.program, "main") : NULL;
    struct nnv_relay_expr *whole =
        before && before->n_params == main->n_params ? before : nnv_relay_find(x->bundle.module, "main");
    return nnv_relay_arguments(whole, x->c.seed, x->c.arena, x->how.inputs, err);
}

/** What was computed: a file of elements as they are for each output. */
static enum nnv_status save_outputs(const struct command *x, const struct nnv_compiled_outcome *o,
                                    struct nnv_err *err) {
    enum nnv_status st = nnv_folder_make(x->output, err);
    for (size_t i = 0; i < o->n_outputs && st == NNV_OK; i++) {
        const struct nnv_relay_datum *d = o->outputs[i].value;
        size_t elems, bytes;
        const char *path = nnv_arena_printf(x->c.arena, "%s/output_%zu.bin", x->output, i);
        if (!nnv_relay_type_elems(d->type, &elems, &bytes))
            return nnv_fail(err, NNV_INVALID, "--output: output %zu has no known shape", i);
        void *data = nnv_arena_alloc(x->c.arena, bytes, 1);
        if (!path || !data) return nnv_no_memory(err);
        nnv_relay_datum_write(d, data);
        st = nnv_file_create(path, data, bytes, err);
    }
    return st;
}

/* -------------------------------------------------------------------------- tables */

static const char *verdict_name(enum nnvts_verdict v) {
    return v == NNVTS_PASS ? "PASS" : v == NNVTS_NOTRUN ? NULL : v == NNVTS_UNTRUSTED ? "UNTRUSTED" : "FAIL";
}

static void show_region(const struct nnv_region_outcome *g) {
    printf("%-40s ", g->function);
    if (g->refusal)
        printf("on the host: %s\n", g->refusal);
    else if (g->failure)
        printf("FAIL: %s\n", g->failure);
    else if (g->calls == 0)
        printf("was not called\n");
    else {
        const char *verdict = verdict_name(g->verdict);
        printf("%10.1f us (least %.1f), %llu runs%s%s%s%s%s\n", g->median_us, g->least_us, (unsigned long long)g->runs,
               g->helped ? ", with the CPU reference for IF and WHILE" : "", verdict ? ", " : "",
               verdict ? verdict : "", g->reason ? ": " : "", g->reason ? g->reason : "");
    }
}

static void show_type(const struct nnv_relay_type *type) {
    struct nnv_text t = {0};
    nnv_relay_type_print(type, &t);
    printf("%s", t.data ? t.data : "?");
    nnv_text_free(&t);
}

static void show(const struct command *x, const struct nnv_compiled_outcome *o) {
    printf("devices: %s\n", o->devices);
    for (size_t i = 0; i < x->bundle.n_regions; i++) show_region(&o->regions[i]);
    if (o->whole) show_region(o->whole);
    for (size_t i = 0; i < o->n_outputs; i++) {
        const struct nnv_output_outcome *out = &o->outputs[i];
        printf("output %zu: ", i);
        show_type(out->type);
        if (o->compared) printf(", largest error %.3g, relative %.3g", out->max_abs, out->max_rel);
        if (o->compared && out->finite < out->elems) printf(", %zu of %zu finite", out->finite, out->elems);
        if (out->rows) printf(", top-1 %zu of %zu", out->same_top, out->rows);
        printf("\n");
    }
    if (!o->compared) return;
    size_t compared = 0;
    for (size_t i = 0; i < x->bundle.n_regions; i++) compared += o->regions[i].compared;
    const bool passes = nnv_compiled_passes(&x->bundle, o);
    const bool undefined = nnv_compiled_undefined(o);
    printf("%s\n", passes      ? "PASS"
                   : undefined ? "UNTRUSTED: an output holds no finite number"
                   : compared  ? "FAIL"
                               : "FAIL: nothing that ran on NNAPI was compared");
}

/* ---------------------------------------------------------------------------- JSON */

static void add_region(const char *name, const struct nnv_region_outcome *g, struct nnv_json_out *j) {
    nnv_json_open(j, name, '{');
    nnv_json_string(j, "function", g->function);
    nnv_json_string(j, "on", g->refusal || g->failure ? "host" : "nnapi");
    nnv_json_uint(j, "calls", g->calls);
    nnv_json_uint(j, "runs", g->runs);
    nnv_json_string(j, "refusal", g->refusal);
    nnv_json_string(j, "failure", g->failure);
    nnv_json_double(j, "median_us", g->median_us);
    nnv_json_double(j, "least_us", g->least_us);
    nnv_json_string(j, "verdict", verdict_name(g->verdict));
    nnv_json_string(j, "reason", g->reason);
    nnv_json_uint(j, "compared", g->compared);
    nnv_json_bool(j, "with_reference", g->helped);
    nnv_json_close(j, '}');
}

static void add_output(const struct nnv_output_outcome *o, bool compared, struct nnv_json_out *j) {
    struct nnv_text name = {0};
    nnv_relay_type_print(o->type, &name);
    nnv_json_open(j, NULL, '{');
    nnv_json_string(j, "type", name.data);
    nnv_text_free(&name);
    if (compared) {
        nnv_json_double(j, "max_abs", o->max_abs);
        nnv_json_double(j, "max_rel", o->max_rel);
        nnv_json_uint(j, "elements", o->elems);
        nnv_json_uint(j, "finite", o->finite);
        nnv_json_uint(j, "rows", o->rows);
        nnv_json_uint(j, "same_top", o->same_top);
    }
    nnv_json_close(j, '}');
}

static enum nnv_status show_json(const struct command *x, const struct nnv_compiled_outcome *o, struct nnv_err *err) {
    struct nnv_text t = {0};
    struct nnv_json_out j = {.text = &t, .spaced = true};
    nnv_json_open(&j, NULL, '{');
    nnv_json_uint(&j, "seed", x->c.seed);
    nnv_json_string(&j, "driver", x->c.driver);
    nnv_json_string(&j, "devices", o->devices);
    nnv_json_double(&j, "total_us", o->host_us);
    nnv_json_bool(&j, "compared", o->compared);
    nnv_json_bool(&j, "passes", nnv_compiled_passes(&x->bundle, o));
    j.line = "\n ";
    nnv_json_open(&j, "regions", '[');
    for (size_t i = 0; i < x->bundle.n_regions; i++) {
        j.line = "\n  ";
        add_region(NULL, &o->regions[i], &j);
    }
    nnv_json_close(&j, ']');
    j.line = "\n ";
    if (o->whole) add_region("whole", o->whole, &j);
    nnv_json_open(&j, "outputs", '[');
    for (size_t i = 0; i < o->n_outputs; i++) {
        j.line = "\n  ";
        add_output(&o->outputs[i], o->compared, &j);
    }
    nnv_json_close(&j, ']');
    nnv_json_close(&j, '}');
    nnv_text_add(&t, "\n");
    return nnv_cli_print(&t, err);
}

/* ----------------------------------------------------------------------------- verb */

static enum nnv_status run_bundle(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_compiled_outcome o;
    if (x->how.repeat == 0 || x->how.repeat > 4096) {
        x->c.code = nnv_cli_usage("run-compiled", "--repeat: expected 1 to 4096");
        return NNV_OK;
    }
    x->how.session.drivers = x->c.driver;
    x->how.session.timeout_ns = x->c.timeout_ns;
    if (x->c.positional.count == 0)
        return nnv_fail(err, NNV_INVALID, "which program? give a folder that nnvts compile has written");
    enum nnv_status st = nnv_built_read(x->c.positional.item[0], x->c.arena, &x->bundle, err);
    if (st == NNV_OK) st = make_inputs(x, err);
    if (st != NNV_OK) return st;
    st = nnv_compiled_run(&x->bundle, &x->how, x->c.arena, &o, err);
    if (st == NNV_INTERNAL || st == NNV_TIMEOUT) {
        /* The driver's end is a failure of what is tested, not of the command. */
        nnv_cli_error(err);
        x->c.code = NNVTS_EXIT_FAIL;
        return NNV_OK;
    }
    if (st == NNV_OK && x->output) st = save_outputs(x, &o, err);
    if (st == NNV_OK && x->c.json) st = show_json(x, &o, err);
    if (st != NNV_OK) return st;
    if (!x->c.json) show(x, &o);
    if (!nnv_compiled_passes(&x->bundle, &o)) x->c.code = NNVTS_EXIT_FAIL;
    return NNV_OK;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults(), .how = {.repeat = 1}};
    const struct nnv_opt table[] = {
        {'d', "driver", NNV_OPT_CODE, &x.c.driver, "A,B[#DEVICE|#auto]",
         "drivers that regions are compiled for; default: NNAPI chooses among what it finds (NNVTS_DRIVERS)", NULL},
        {0, "input", NNV_OPT_LIST, &x.inputs, "FILE", "values of a parameter, in order; default: random ones", NULL},
        {0, "output", NNV_OPT_OUT_DIR, &x.output, "FOLDER", "keeps what was computed: output_0.bin and so on", NULL},
        NNV_OPTION_SEED(x.c),
        {0, "compare", NNV_OPT_FLAG, &x.how.compare, NULL,
         "judge each region by its error budget, and compare the results with the program before", NULL},
        {0, "repeat", NNV_OPT_U64, &x.how.repeat, "N", "runs of each region, for times", NULL},
        {0, "burst", NNV_OPT_FLAG, &x.how.in_burst, NULL, "run regions in a burst", NULL},
        {0, "cache", NNV_OPT_STRING, &x.how.session.cache, "DIR", "folder of NNAPI's compilation cache", NULL},
        NNV_OPTION_TIMEOUT(x.c),
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, run_bundle, &x);
}

const struct nnv_verb nnv_verb_run_compiled = {"run-compiled", "compile models",
                                               "runs a compiled program on NNAPI and compares it", run};
