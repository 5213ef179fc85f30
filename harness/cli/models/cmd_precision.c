/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_precision.c nnvts precision: which operations of a network need float32. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/words.h"
#include "harness/cli/cli.h"
#include "harness/cli/model_file.h"
#include "harness/client/run.h"
#include "harness/debug/bisect/mixed.h"
#include "harness/runner/ask.h"
#include "reference/model/op.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts precision MODEL [options]",
    .summary = "Finds a small set of operations of a network that need float32: with these in float32 and all others "
               "in float16 (what they read and write; sums are float32's), the outputs are within a tolerance of the "
               "golden ones. Says what tolerance and which signal-to-quantisation-noise ratio (SQNR) float32 itself, "
               "float16, the mixture and, with --driver, a driver have. A model is a .tflite or .onnx file with "
               "outputs of float32, or a network of nnvts bench; its inputs are drawn.",
    .examples = "nnvts precision net.tflite                  within 0.0049, NNAPI's tolerance of float16\n"
                "nnvts precision net.onnx --within 1e-4      a tighter one: |error| <= 1e-4 + 1e-4 |expected|\n"
                "nnvts precision net.onnx -d ./npu.so        and what the driver loses of it\n",
};

static const double half_tolerance = 5 * 0x1p-10; /* NNAPI's atol and rtol of float16 */

struct command {
    struct nnv_cli c;
    const char *within;
    double tolerance;
    struct nnv_known known;
    struct nnv_mixed mixed;
    struct nnv_loss driver;
};

static const char *name_of(const struct command *x, uint32_t i) {
    const struct nnv_op *op = nnv_op(x->known.spec->model.main.operations[i].type);
    return op ? op->name : "?";
}

/* ------------------------------------------------------------------------- driver */

/** In the new process. */
static enum nnv_status execute(struct nnv_answering *in, struct nnv_err *err) {
    const struct command *x = in->context;
    struct nnv_outcome o;
    nnv_client_run(in->client, x->known.spec, in->arena, in->phase, &o);
    if (o.kind != NNV_OUTCOME_DONE) return nnv_fail(err, NNV_UNSUPPORTED, "%s: %s", x->c.driver, o.reason);
    *(struct nnv_loss *)in->shared = nnv_loss_of(x->known.spec, o.outputs);
    return NNV_OK;
}

static enum nnv_status ask_driver(struct command *x, struct nnv_err *err) {
    struct nnv_run_config config;
    if (!x->c.driver) return NNV_OK;
    enum nnv_status st = nnv_cli_config(&x->c, x->c.arena, &config, err);
    struct nnv_ask ask = {.answer = execute,
                          .context = x,
                          .bytes = sizeof(struct nnv_loss),
                          .driver = config.driver_path,
                          .driver_options = config.driver_options,
                          .timeout_ns = x->c.timeout_ns};
    if (st == NNV_OK) st = nnv_ask(&ask, err);
    if (st == NNV_OK && !ask.complete) st = nnv_fail(err, NNV_INVALID, "%s: its process %s", x->c.driver, ask.how);
    if (st == NNV_OK) x->driver = *(const struct nnv_loss *)ask.shared;
    nnv_ask_free(&ask);
    return st;
}

/* -------------------------------------------------------------------------- result */

static void print_loss(const char *what, const struct nnv_loss *l, const struct nnv_loss *own) {
    char sqnr[32] = "no error";
    if (isfinite(l->sqnr)) snprintf(sqnr, sizeof sqnr, "%.1f dB", l->sqnr);
    printf("  %-28s SQNR %9s   atol = rtol = %-8.3g", what, sqnr, l->tolerance);
    if (l != own && own->tolerance > 0) printf("   %.3g of float32's own", l->tolerance / own->tolerance);
    putchar('\n');
}

static void print_text(const struct command *x) {
    const struct nnv_mixed *m = &x->mixed;
    printf("%s: %" PRIu32 " operations, outputs within %.3g + %.3g |expected|\n", nnv_shown(x->known.spec->name).s,
           m->operations, x->tolerance, x->tolerance);
    print_loss("float32 itself (its budget)", &m->own, &m->own);
    print_loss("all in float16", &m->all, &m->own);
    if (m->count > 0) print_loss("mixed", &m->found, &m->own);
    if (x->c.driver) print_loss(x->c.driver, &x->driver, &m->own);
    printf("%" PRIu32 " of %" PRIu32 " operations need float32 (%" PRIu32 " evaluations)\n", m->count, m->operations,
           m->evaluations);
    for (uint32_t i = 0; i < m->operations; i++)
        if (m->needs[i])
            printf("  %4" PRIu32 "  %-28s alone in float16: atol = rtol = %.3g\n", i, name_of(x, i),
                   m->alone[i].tolerance);
}

static void add_loss(struct nnv_json_out *j, const char *name, const struct nnv_loss *l) {
    nnv_json_open(j, name, '{');
    nnv_json_double(j, "sqnr_db", l->sqnr);
    nnv_json_double(j, "tolerance", l->tolerance);
    nnv_json_close(j, '}');
}

static void add_json(const struct command *x, struct nnv_text *t) {
    const struct nnv_mixed *m = &x->mixed;
    struct nnv_json_out j = {.text = t};
    nnv_json_open(&j, NULL, '{');
    nnv_json_string(&j, "model", x->known.spec->name);
    nnv_json_double(&j, "within", x->tolerance);
    add_loss(&j, "float32", &m->own);
    add_loss(&j, "float16", &m->all);
    add_loss(&j, "mixed", &m->found);
    if (x->c.driver) add_loss(&j, "driver", &x->driver);
    nnv_json_open(&j, "operations", '[');
    for (uint32_t i = 0; i < m->operations; i++) {
        nnv_json_open(&j, NULL, '{');
        nnv_json_uint(&j, "operation", i);
        nnv_json_string(&j, "name", name_of(x, i));
        nnv_json_bool(&j, "needs_float32", m->needs[i]);
        add_loss(&j, "alone", &m->alone[i]);
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, ']');
    nnv_json_close(&j, '}');
    nnv_text_add(t, "\n");
}

/* ------------------------------------------------------------------------- command */

static enum nnv_status read_tolerance(struct command *x, struct nnv_err *err) {
    char *end = "";
    x->tolerance = x->within ? strtod(x->within, &end) : half_tolerance;
    if (x->within && (end == x->within || *end != '\0' || !(x->tolerance > 0) || !isfinite(x->tolerance)))
        return nnv_fail(err, NNV_INVALID, "--within '%s': expected a number above 0", x->within);
    return NNV_OK;
}

static enum nnv_status precision(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_cli *c = &x->c;
    struct nnv_spec spec;
    if (c->positional.count == 0)
        return nnv_fail(err, NNV_INVALID, "which model? give a .tflite or .onnx file, or a network's name");
    enum nnv_status st = read_tolerance(x, err);
    if (st == NNV_OK) st = nnv_cli_network_spec(c->positional.item[0], c->seed, c->arena, &spec, err);
    if (st == NNV_OK) st = nnv_known_make(&spec, false, c->arena, &x->known, err);
    if (st == NNV_OK) st = ask_driver(x, err);
    if (st == NNV_OK) st = nnv_mixed_find(&x->known, x->tolerance, c->arena, &x->mixed, err);
    if (st != NNV_OK) return nnv_at(err, st, "%s", c->positional.item[0]);
    if (c->json) {
        struct nnv_text t = {0};
        add_json(x, &t);
        return nnv_cli_print(&t, err);
    }
    print_text(x);
    return NNV_OK;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults()};
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(x.c),
        {0, "within", NNV_OPT_STRING, &x.within, "T",
         "how far outputs may be off: T + T |expected|; default: NNAPI's tolerance of float16", NULL},
        NNV_OPTION_SEED(x.c),
        NNV_OPTION_TIMEOUT(x.c),
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, precision, &x);
}

const struct nnv_verb nnv_verb_precision = {"precision", "real models", "which operations of a network need float32",
                                            run};
