/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_contract.c nnvts contract: what a driver must go on doing, written from a good run and checked on others.
 */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/json_out.h"
#include "harness/cli/cli.h"
#include "harness/cli/model_file.h"
#include "harness/placement/contract.h"
#include "harness/placement/placement.h"
#include "harness/runner/ask.h"
#include "reference/model/op.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts contract write [RUN] [--model MODEL]... [-o FILE] | nnvts contract check FILE [RUN]",
    .summary =
        "write makes FILE (default contract.json) of the run in the folder RUN (default nnvts-out): the cases that "
        "passed, as few globs as mean them, and for each --model how much of it runs on the driver. check says "
        "what a later run does not keep: a case that is not answered any more, which an application would not "
        "notice, since the CPU takes over; one that goes wrong; less of a model on the driver. Exit code 1: "
        "something is not kept. Edit the file to ask for less, or for more.",
    .examples = "nnvts contract write -o npu.json --model net.tflite    from the run in nnvts-out\n"
                "nnvts contract check npu.json                          does the run in nnvts-out keep it?\n"
                "nnvts contract check npu.json results/42               and another\n",
};

struct command {
    struct nnv_cli c;
    struct nnv_opt_list models;
};

/* ------------------------------------------------------------------------ models */

enum { SHOWN_LEFT = 6, SHOWN = 30 };

/** A model on the driver, asked in a process of its own. */
struct placing {
    const struct command *x;
    const char *driver, *model;
};
struct placed {
    struct nnv_placed n;
    bool compiles;
    int32_t left[SHOWN_LEFT]; /* kinds of operations that the CPU does, each once */
    uint32_t lefts;
};

static void note_left(const struct nnv_placement *p, struct placed *out) {
    const struct nnvts_subgraph *g = &p->plan->model->model.main;
    for (uint32_t i = 0; i < g->operation_count; i++) {
        const int d = p->choices[0][i].device;
        uint32_t k = 0;
        if (d >= 0 && !p->options.devices[d]->is_cpu) continue;
        while (k < out->lefts && out->left[k] != g->operations[i].type) k++;
        if (k == out->lefts && k < SHOWN_LEFT) out->left[out->lefts++] = g->operations[i].type;
    }
}

static enum nnv_status place(struct nnv_answering *in, struct nnv_err *err) {
    const struct placing *q = in->context;
    struct placed *out = in->shared;
    struct nnv_devices devices = {0};
    struct nnv_placement p = {0};
    struct nnv_spec spec;
    enum nnv_status s = nnv_cli_network_spec(q->model, q->x->c.seed, in->arena, &spec, err);
    if (s == NNV_OK) s = nnv_devices_add(&devices, q->driver, in->arena, err);
    if (s == NNV_OK) s = nnv_devices_choose(&devices, false, ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, err);
    if (s == NNV_OK) s = nnv_placement_make(&devices, &spec.model, NULL, in->arena, &p, err);
    if (s == NNV_OK) {
        out->n = nnv_placement_count(&p);
        out->compiles = nnv_placement_prepare(&p) == ANEURALNETWORKS_NO_ERROR;
        note_left(&p, out);
    }
    nnv_placement_free(&p);
    nnv_devices_close(&devices);
    return s;
}

/** Places the model on the driver. how: what became of its process; "" where it answered. */
static enum nnv_status ask_place(struct command *x, const char *driver, const char *model, struct placed *out,
                                 const char **how, struct nnv_err *err) {
    struct placing q = {x, driver, model};
    struct nnv_ask ask = {
        .answer = place, .context = &q, .bytes = sizeof *out, .timeout_ns = x->c.timeout_ns, .keep_streams = true};
    enum nnv_status s = nnv_ask(&ask, err);
    *how = s == NNV_OK && !ask.complete ? nnv_arena_printf(x->c.arena, "its process %s", ask.how) : "";
    if (s == NNV_OK && *how == NULL) s = nnv_no_memory(err);
    if (s == NNV_OK) *out = *(const struct placed *)ask.shared;
    nnv_ask_free(&ask);
    return s == NNV_OK ? s : nnv_at(err, s, "%s", model);
}

static double share(const struct placed *p) {
    return p->n.operations > 0 ? (double)p->n.on_drivers / p->n.operations : 0;
}

static enum nnv_status check_model(struct command *x, const char *driver, const struct nnv_contract_model *m,
                                   struct nnv_breaches *out, struct nnv_err *err) {
    struct placed p;
    const char *how;
    struct nnv_text t = {0};
    enum nnv_status s = ask_place(x, driver, m->model, &p, &how, err);
    if (s != NNV_OK) return s;
    if (*how != '\0') {
        nnv_text_add(&t, how);
    } else if (!p.compiles) {
        nnv_text_add(&t, "what the driver says it supports of it does not compile");
    } else if (share(&p) < m->on_device) {
        nnv_text_addf(&t, "%u of %u operations are on the driver (%.4g %%), expected %.4g %%; left to the CPU:",
                      p.n.on_drivers, p.n.operations, 100 * share(&p), 100 * m->on_device);
        for (uint32_t i = 0; i < p.lefts && i < SHOWN_LEFT; i++) {
            nnv_text_add(&t, i > 0 ? ", " : " ");
            nnv_placement_add_operation(p.left[i], &t);
        }
    }
    if (t.len > 0) s = nnv_breach_add(out, m->model, nnv_arena_strdup(x->c.arena, t.data), err);
    nnv_text_free(&t);
    return s;
}

/* ------------------------------------------------------------------ write and check */

static enum nnv_status write_contract(struct command *x, const char *folder, struct nnv_err *err) {
    struct nnv_report *run = NULL;
    struct nnv_contract c;
    struct nnv_text json = {0};
    enum nnv_status s = nnv_report_load(folder, &run, err);
    if (s == NNV_OK) s = nnv_contract_of_run(run, x->c.arena, &c, err);
    if (s == NNV_OK) c.model = NNV_NEW(x->c.arena, struct nnv_contract_model, (size_t)x->models.count + 1);
    for (int i = 0; s == NNV_OK && i < x->models.count; i++) {
        struct placed p;
        const char *how;
        s = ask_place(x, c.driver, x->models.item[i], &p, &how, err);
        if (s == NNV_OK && (*how != '\0' || !p.compiles))
            s = nnv_fail(err, NNV_INVALID, "%s: is nothing to demand: %s", x->models.item[i],
                         *how != '\0' ? how : "it does not compile");
        if (s == NNV_OK)
            c.model[c.models++] = (struct nnv_contract_model){x->models.item[i], floor(1e4 * share(&p)) / 1e4};
    }
    if (s == NNV_OK) nnv_contract_write(&c, &json);
    if (s == NNV_OK) s = nnv_file_write_text(NULL, x->c.out, &json, err);
    if (s == NNV_OK && !x->c.quiet)
        printf("%s: %zu expressions for the cases that passed, %zu models\n", x->c.out, c.count, c.models);
    nnv_text_free(&json);
    nnv_report_free(run);
    return s;
}

static void print_breaches(const struct command *x, const struct nnv_breaches *b, size_t meant, size_t models) {
    struct nnv_text out = {0};
    struct nnv_json_out j = {.text = &out};
    if (!x->c.json) {
        for (size_t i = 0; i < b->count && i < SHOWN; i++) printf("BROKEN %s: %s\n", b->item[i].about, b->item[i].text);
        if (b->count > SHOWN) printf("and %zu more; --json has all\n", b->count - SHOWN);
        printf("%s: %zu cases and %zu models are meant, %zu findings\n", b->count > 0 ? "broken" : "kept", meant,
               models, b->count);
        return;
    }
    nnv_json_open(&j, NULL, '{');
    nnv_json_bool(&j, "kept", b->count == 0);
    nnv_json_uint(&j, "cases", meant);
    nnv_json_uint(&j, "models", models);
    nnv_json_open(&j, "broken", '[');
    for (size_t i = 0; i < b->count; i++) {
        nnv_json_open(&j, NULL, '{');
        nnv_json_string(&j, "about", b->item[i].about);
        nnv_json_string(&j, "text", b->item[i].text);
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, ']');
    nnv_json_close(&j, '}');
    puts(out.failed ? "" : out.data);
    nnv_text_free(&out);
}

static enum nnv_status check_contract(struct command *x, const char *file, const char *folder, struct nnv_err *err) {
    struct nnv_report *run = NULL;
    struct nnv_contract c;
    struct nnv_breaches broken = {.arena = x->c.arena};
    size_t meant = 0;
    enum nnv_status s = nnv_contract_read(file, x->c.arena, &c, err);
    if (s == NNV_OK) s = nnv_report_load(folder, &run, err);
    if (s == NNV_OK) s = nnv_contract_check(&c, run, &broken, &meant, err);
    for (size_t i = 0; s == NNV_OK && i < c.models; i++) {
        const char *driver = nnv_json_text(json_object_get(run->header, "driver"), "argument", "");
        s = check_model(x, driver, &c.model[i], &broken, err);
    }
    if (s == NNV_OK) print_breaches(x, &broken, meant, c.models);
    if (broken.count > 0) x->c.code = NNVTS_EXIT_FAIL;
    nnv_report_free(run);
    return s;
}

static enum nnv_status contract(void *own, struct nnv_err *err) {
    struct command *x = own;
    const struct nnv_opt_list *p = &x->c.positional;
    const char *what = p->count > 0 ? p->item[0] : "";
    if (strcmp(what, "write") == 0 && p->count <= 2)
        return write_contract(x, p->count == 2 ? p->item[1] : "nnvts-out", err);
    if (strcmp(what, "check") == 0 && p->count >= 2 && x->models.count == 0)
        return check_contract(x, p->item[1], p->count == 3 ? p->item[2] : "nnvts-out", err);
    x->c.code = nnv_cli_usage("contract", "expected write [RUN] or check FILE [RUN]");
    return NNV_OK;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults()};
    x.c.out = "contract.json";
    const struct nnv_opt table[] = {
        {'o', "out", NNV_OPT_OUT, &x.c.out, "FILE", "write: the file", NULL},
        {0, "model", NNV_OPT_LIST, &x.models, "MODEL",
         "write: a .tflite or .onnx file or network of which as much must run on the driver", NULL},
        NNV_OPTION_TIMEOUT(x.c),
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_QUIET(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 3, argc, argv, contract, &x);
}

const struct nnv_verb nnv_verb_contract = {"contract", "many runs", "what a driver must go on doing: write, check",
                                           run};
