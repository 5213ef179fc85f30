/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_plan.c nnvts plan: which device would do what of a model, and in which steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "harness/bench/time_model.h"
#include "harness/cli/cli.h"
#include "harness/cli/lookup/plan_show.h"
#include "harness/cli/model_file.h"
#include "harness/debug/extract.h"
#include "harness/journal/verdict.h"
#include "harness/runner/ask.h"
#include "mlts/networks/networks.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts plan SPEC|MODEL.tflite|MODEL.onnx|NETWORK [options]",
    .summary = "Shows how the runtime divides a model between drivers: the steps in order, what each reads, writes and "
               "costs (the CPU reference is 1 an operation), the values that pass from step to step, and with "
               "--operations for each operation its device, and why no other driver does it. Nothing is compiled or "
               "executed unless --run says so. Exit code 1: less than --min-on-device of the operations is on "
               "drivers, or what was executed is wrong.",
    .examples = "nnvts plan x.json --drivers cpu                        one driver and the CPU reference\n"
                "nnvts plan net.tflite --drivers ./npu.so --operations  what stays on the CPU, and why\n"
                "nnvts plan net.tflite --drivers ./npu.so --measure     and how long each operation takes where\n"
                "nnvts plan net.tflite --drivers ./npu.so --min-on-device 95%   as a gate\n"
                "nnvts plan net.tflite --drivers ./npu.so --only 0-11 --run     hybrid: the first 12 on the driver\n"
                "nnvts plan x.json --drivers sample:float-fast,cpu      two; the first of equals is taken\n"
                "nnvts plan x.jsonl -k 'mobile*' --drivers cpu --preference low-power\n"
                "nnvts plan x.json --drivers a,b --dot p.dot && dot -Tsvg p.dot >p.svg   the graph, by device\n"
                "nnvts plan x.json --drivers ./npu.so --no-cpu          as for devices that an application names\n",
};

enum { MEASURE_NS = 20000000 }; /* of an operation on a device */

static const char *const preferences[] = {"low-power", "fast", "sustained", NULL};

/** What the process that opens drivers tells. */
struct told {
    int code; /* exit code */
};

struct command {
    struct nnv_cli c;
    const char *drivers, *dot, *only, *least;
    int preference;
    bool no_cpu, operations, execute, measure;
    double share; /* of --min-on-device; 0: not given */
    struct told *told;
    _Atomic uint32_t *progress; /* counts what was measured */
    struct nnv_arena *arena;
    struct nnv_devices devices;
};

/** "95%" or "0.95". */
static enum nnv_status read_share(struct command *x, struct nnv_err *err) {
    char *end;
    if (x->least == NULL) return NNV_OK;
    x->share = strtod(x->least, &end);
    if (*end == '%') x->share /= 100, end++;
    if (end == x->least || *end != '\0' || !(x->share > 0) || x->share > 1)
        return nnv_fail(err, NNV_INVALID, "--min-on-device '%s': expected a share such as 95%%", x->least);
    return NNV_OK;
}

static enum nnv_status write_dot(const struct command *x, const struct nnv_rt_plan *plan, struct nnv_err *err) {
    struct nnv_text dot = {0};
    enum nnv_status s = nnv_rt_plan_dot(plan, &dot) == ANEURALNETWORKS_NO_ERROR
                            ? nnv_file_create(x->dot, dot.data, dot.len, err)
                            : nnv_no_memory(err);
    nnv_text_free(&dot);
    return s;
}

static bool too_little(const struct command *x, const struct nnv_placement *p) {
    const struct nnv_placed n = nnv_placement_count(p);
    return x->share > 0 && n.on_drivers < x->share * n.operations;
}

/** True if all that was executed is right. */
static bool right(const struct nnv_placed_run *r) {
    bool all = r->whole.verdict == NNVTS_PASS;
    for (uint32_t i = 0; i < r->steps; i++) all = all && r->step[i].verdict == NNVTS_PASS;
    return all;
}

static void add_reason(struct nnv_text *out, const char *reason) {
    if (reason != NULL && *reason != '\0') nnv_text_addf(out, ": %.*s", (int)strcspn(reason, "\n"), reason);
    nnv_text_add(out, "\n");
}

static void write_table(const struct command *x, const struct nnv_spec *spec, const struct nnv_placement *p,
                        const struct nnv_placed_run *r, struct nnv_text *out) {
    const struct nnv_placed n = nnv_placement_count(p);
    nnv_plan_write_table(spec->name, p, x->operations, out);
    if (too_little(x, p))
        nnv_text_addf(out, "FAIL: %.4g %% of the operations are on drivers, expected %.4g %%\n",
                      100.0 * n.on_drivers / n.operations, 100 * x->share);
    if (!x->execute) return;
    nnv_text_addf(out, "executed: %s, %zu values compared", nnv_verdict_name((enum nnvts_verdict)r->whole.verdict),
                  r->whole.values);
    add_reason(out, r->whole.reason.data);
    for (uint32_t i = 0; i < r->steps; i++) {
        const struct nnv_placed_step *s = &r->step[i];
        nnv_text_addf(out, "step %u, %s, by what it was given: %s, %zu values compared", s->step, s->device,
                      nnv_verdict_name(s->verdict), s->values);
        add_reason(out, s->reason);
    }
}

static void add_verdict(struct nnv_json_out *j, enum nnvts_verdict verdict, size_t values, const char *reason) {
    nnv_json_string(j, "verdict", nnv_verdict_name(verdict));
    nnv_json_uint(j, "values", values);
    nnv_json_string(j, "reason", reason != NULL ? reason : "");
}

static void write_json(const struct command *x, const struct nnv_spec *spec, const struct nnv_placement *p,
                       const struct nnv_placed_run *r, struct nnv_text *out) {
    struct nnv_json_out j = {.text = out};
    nnv_json_open(&j, NULL, '{');
    nnv_plan_write_json(spec->name, p, &j);
    if (x->execute) {
        nnv_json_open(&j, "executed", '{');
        add_verdict(&j, (enum nnvts_verdict)r->whole.verdict, r->whole.values, r->whole.reason.data);
        nnv_json_open(&j, "steps", '[');
        for (uint32_t i = 0; i < r->steps; i++) {
            nnv_json_open(&j, NULL, '{');
            nnv_json_uint(&j, "step", r->step[i].step);
            nnv_json_string(&j, "device", r->step[i].device);
            add_verdict(&j, r->step[i].verdict, r->step[i].values, r->step[i].reason);
            nnv_json_close(&j, '}');
        }
        nnv_json_close(&j, ']');
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, '}');
    nnv_text_add(out, "\n");
}

/** Times operation i of the main graph as a model of its own on each device that takes it. */
static enum nnv_status time_operation(const struct command *x, const struct nnv_known *known, struct nnv_placement *p,
                                      uint32_t i, struct nnv_arena *arena, struct nnv_err *err) {
    const uint32_t n = known->spec->model.main.noperations, number = nnv_placement_added(p, 0, i);
    bool *keep = NNV_NEW(arena, bool, n);
    struct nnv_spec *alone;
    if (keep == NULL || number >= n) return keep == NULL ? nnv_no_memory(err) : NNV_OK;
    keep[number] = true;
    enum nnv_status s = nnv_extract(known, &(struct nnv_extraction){.keep = keep}, arena, &alone, err);
    for (size_t d = 0; s == NNV_OK && d < p->options.device_count; d++) {
        struct nnv_timing_options timing = {.time_ns = MEASURE_NS, .timeout_ns = x->c.timeout_ns};
        struct nnv_timed timed;
        if (isnan(p->choices[0][i].costs[d])) continue;
        if (d < x->devices.open_count) {
            timing.path = x->devices.path[d];
            timing.options = x->devices.driver_options[d];
        } else {
            s = nnv_driver_resolve("reference", arena, &timing.path, &timing.options, err);
        }
        if (s == NNV_OK) s = nnv_time_model(&alone->model, &timing, &timed, err);
        if (s == NNV_OK && timed.state == NNV_BENCH_DONE) p->us[i * p->options.device_count + d] = timed.us;
        if (s == NNV_UNSUPPORTED) s = NNV_OK; /* a shape that only values tell */
    }
    return s;
}

static enum nnv_status measure(const struct command *x, const struct nnv_known *known, struct nnv_placement *p,
                               struct nnv_err *err) {
    const uint32_t n = p->plan->model->model.main.operation_count;
    struct nnv_arena *arena = nnv_arena_new();
    p->us = NNV_NEW(x->arena, double, n * p->options.device_count + 1);
    enum nnv_status s = arena != NULL && p->us != NULL ? NNV_OK : nnv_no_memory(err);
    for (size_t i = 0; s == NNV_OK && i < n * p->options.device_count; i++) p->us[i] = (double)NAN;
    for (uint32_t i = 0; s == NNV_OK && i < n; i++) {
        nnv_arena_reset(arena);
        s = time_operation(x, known, p, i, arena, err);
        ++*x->progress;
    }
    nnv_arena_free(arena);
    return s;
}

static enum nnv_status show(struct command *x, const struct nnv_spec *given, struct nnv_err *err) {
    struct nnv_placement p = {0};
    struct nnv_placed_run r = {0};
    struct nnv_known known = {.spec = (struct nnv_spec *)given};
    struct nnv_text out = {0};
    enum nnv_status s = x->execute || x->measure ? nnv_known_make(given, false, x->arena, &known, err) : NNV_OK;
    if (s == NNV_OK) s = nnv_placement_make(&x->devices, &known.spec->model, x->only, x->arena, &p, err);
    if (s == NNV_OK && x->measure) s = measure(x, &known, &p, err);
    if (s == NNV_OK && x->execute) s = nnv_placement_run(&p, &known, &r, err);
    if (s == NNV_OK) (x->c.json ? write_json : write_table)(x, known.spec, &p, &r, &out);
    if (s == NNV_OK && x->dot != NULL) s = write_dot(x, p.plan, err);
    if (s == NNV_OK) s = nnv_cli_print(&out, err);
    if (s == NNV_OK && (too_little(x, &p) || (x->execute && !right(&r)))) x->c.code = NNVTS_EXIT_FAIL;
    nnv_text_free(&out);
    nnv_text_free(&r.whole.reason);
    nnv_text_free(&r.whole.outputs);
    nnv_placement_free(&p);
    return s == NNV_OK ? s : nnv_at(err, s, "%s", given->name);
}

/** The model of the argument. */
static enum nnv_status read_spec(struct command *x, struct nnv_spec **spec, struct nnv_err *err) {
    const char *path = x->c.positional.count > 0 ? x->c.positional.item[0] : NULL;
    if (path == NULL)
        return nnv_fail(err, NNV_INVALID, "which model? give a spec, a .tflite or .onnx file, or a network's name");
    if (access(path, F_OK) == 0 && !nnv_network_is_file(path)) return nnv_cli_one_spec(&x->c, x->arena, spec, err);
    *spec = NNV_NEW(x->arena, struct nnv_spec, 1);
    return *spec != NULL ? nnv_cli_network_spec(path, x->c.seed, x->arena, *spec, err) : nnv_no_memory(err);
}

/** Opens the drivers of the comma-separated list. */
static enum nnv_status open_drivers(struct command *x, struct nnv_err *err) {
    char *rest = x->drivers != NULL ? nnv_arena_strdup(x->arena, x->drivers) : NULL;
    if (x->drivers != NULL && rest == NULL) return nnv_no_memory(err);
    if (x->drivers == NULL && x->measure) return nnv_fail(err, NNV_INVALID, "--measure: which drivers? give --drivers");
    for (char *driver = strsep(&rest, ","); driver != NULL; driver = strsep(&rest, ",")) {
        if (*driver == '\0')
            return nnv_fail(err, NNV_INVALID, "--drivers '%s': expected drivers with commas between them", x->drivers);
        const enum nnv_status s = nnv_devices_add(&x->devices, driver, x->arena, err);
        if (s != NNV_OK) return s;
    }
    return nnv_devices_choose(&x->devices, x->no_cpu, x->preference, err);
}

/** All of it, in a process of its own: a driver that crashes or hangs takes nothing else along. */
static enum nnv_status plan(struct nnv_answering *in, struct nnv_err *err) {
    struct command *x = in->context;
    struct nnv_spec *spec = NULL;
    x->arena = in->arena;
    x->told = in->shared;
    x->progress = in->progress;
    x->operations = x->operations || x->measure;
    enum nnv_status s = read_spec(x, &spec, err);
    if (s == NNV_OK) s = open_drivers(x, err);
    if (s == NNV_OK) s = show(x, spec, err);
    nnv_devices_close(&x->devices);
    if (s == NNV_OK && fflush(stdout) != 0) s = nnv_fail(err, NNV_IO, "standard output cannot be written");
    x->told->code = x->c.code;
    return s;
}

/** Asks for the plan in a process of its own. */
static enum nnv_status ask_plan(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_ask ask = {.answer = plan,
                          .context = x,
                          .bytes = sizeof(struct told),
                          .timeout_ns = x->c.timeout_ns,
                          .keep_streams = true};
    enum nnv_status s = read_share(x, err);
    if (s != NNV_OK) return s;
    s = nnv_ask(&ask, err);
    if (s == NNV_OK && !ask.complete && ask.end.timed_out)
        s = nnv_fail(err, NNV_INVALID, "a driver took longer than --timeout to answer");
    else if (s == NNV_OK && !ask.complete)
        s = nnv_fail(err, NNV_INVALID, "a driver crashed: its process %s; try the drivers one by one", ask.how);
    if (s == NNV_OK && ((const struct told *)ask.shared)->code == NNVTS_EXIT_FAIL) x->c.code = NNVTS_EXIT_FAIL;
    nnv_ask_free(&ask);
    return s;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults(), .preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER};
    const struct nnv_opt table[] = {
        {0, "drivers", NNV_OPT_CODE, &x.drivers, "A,B,...",
         "drivers as of --driver, in order; default: those that the runtime finds (NNVTS_DRIVERS)", NULL},
        {'k', "filter", NNV_OPT_STRING, &x.c.filter, "GLOB", "the spec of this name, where the file holds several",
         NULL},
        {0, "preference", NNV_OPT_CHOICE, &x.preference, "P", "what the cost is: power, or time", preferences},
        {0, "operations", NNV_OPT_FLAG, &x.operations, NULL, "a line for each operation: its device, and why", NULL},
        {0, "measure", NNV_OPT_FLAG, &x.measure, NULL,
         "--operations, each timed alone on each device that takes it, microseconds", NULL},
        {0, "min-on-device", NNV_OPT_STRING, &x.least, "SHARE", "of the operations that drivers must do, as 95%", NULL},
        {0, "only", NNV_OPT_STRING, &x.only, "LIST",
         "operations that drivers may do, as 0-11,14; the rest is the CPU reference's", NULL},
        {0, "run", NNV_OPT_FLAG, &x.execute, NULL, "execute it so, and judge the outputs", NULL},
        NNV_OPTION_SEED(x.c),
        {0, "no-cpu", NNV_OPT_FLAG, &x.no_cpu, NULL, "leave the CPU reference out", NULL},
        {0, "dot", NNV_OPT_OUT, &x.dot, "FILE", "write the graph for Graphviz, coloured by device", NULL},
        {0, "timeout", NNV_OPT_SECONDS, &x.c.timeout_ns, "S", "seconds until drivers must have answered", NULL},
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, ask_plan, &x);
}

const struct nnv_verb nnv_verb_plan = {"plan", "look things up", "how the runtime divides a model between drivers",
                                       run};
