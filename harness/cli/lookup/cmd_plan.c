/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_plan.c nnvts plan: which device would do what of a model, and in which steps. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/result.h"
#include "base/driver.h"
#include "base/file.h"
#include "harness/cli/cli.h"
#include "harness/cli/lookup/plan_show.h"
#include "harness/runner/ask.h"
#include "reference/spec/spec.h"
#include "reference/runtime/api/from_spec.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts plan SPEC [options]",
    .summary = "Shows how the runtime divides a model between drivers: the steps in order, what each reads, writes and "
               "costs (the CPU reference is 1 an operation), and the values that pass from step to step. Nothing is "
               "compiled or executed.",
    .examples = "nnvts plan x.json --drivers cpu                        one driver and the CPU reference\n"
                "nnvts plan x.json --drivers sample:float-fast,cpu      two; the first of equals is taken\n"
                "nnvts plan x.jsonl -k 'mobile*' --drivers cpu --preference low-power\n"
                "nnvts plan x.json --drivers a,b --dot p.dot && dot -Tsvg p.dot >p.svg   the graph, by device\n"
                "nnvts plan x.json --drivers ./npu.so --no-cpu          as for devices that an application names\n",
};

static const char *const preferences[] = {"low-power", "fast", "sustained", NULL};
enum { MOST_DRIVERS = 32 };

struct command {
    struct nnv_cli c;
    const char *drivers, *dot;
    int preference;
    bool no_cpu;
    struct nnv_arena *arena;
    struct nnvts_device *open[MOST_DRIVERS];
    size_t open_count;
    struct ANeuralNetworksDevice *devices[MOST_DRIVERS + 1];
    struct nnv_rt_plan_options options;
};

/** Opens the drivers of the comma-separated list and makes them the runtime's devices. */
static enum nnv_status open_drivers(struct command *x, struct nnv_err *err) {
    char *list = nnv_arena_strdup(x->arena, x->drivers), *rest = list;
    if (list == NULL) return nnv_no_memory(err);
    for (char *argument = strsep(&rest, ","); argument != NULL; argument = strsep(&rest, ",")) {
        const char *path, *options;
        struct nnv_driver driver = {0};
        if (*argument == '\0')
            return nnv_fail(err, NNV_INVALID, "--drivers '%s': expected drivers with commas between them", x->drivers);
        if (x->open_count == MOST_DRIVERS)
            return nnv_fail(err, NNV_INVALID, "--drivers: more than %d drivers", MOST_DRIVERS);
        enum nnv_status s = nnv_driver_resolve(argument, x->arena, &path, &options, err);
        if (s == NNV_OK) s = nnv_driver_open(&driver, path, options, err);
        if (s != NNV_OK) return s;
        for (size_t i = 0; i < x->open_count; i++)
            if (strcmp(x->open[i]->name, driver.device->name) == 0) {
                driver.device->release(driver.device);
                return nnv_fail(err, NNV_INVALID, "--drivers: '%s' is named twice (the device '%s')", argument,
                                x->open[i]->name);
            }
        x->open[x->open_count++] = driver.device;
    }
    nnv_rt_device_override(x->open, x->open_count);
    return NNV_OK;
}

/** The devices to choose from, as a compilation would take them. */
static enum nnv_status choose_devices(struct command *x, struct nnv_err *err) {
    size_t count = nnv_rt_device_count(), taken = 0;
    if (count > MOST_DRIVERS + 1) return nnv_fail(err, NNV_INVALID, "more than %d drivers", MOST_DRIVERS);
    for (size_t i = 0; i < count; i++)
        if (!x->no_cpu || !nnv_rt_device_at(i)->is_cpu) x->devices[taken++] = nnv_rt_device_at(i);
    x->options = (struct nnv_rt_plan_options){x->devices, taken, x->preference};
    return NNV_OK;
}

/** Why there is no plan. */
static enum nnv_status no_plan(const struct command *x, const ANeuralNetworksModel *model, int result,
                               struct nnv_err *err) {
    struct nnv_rt_choice *choices = NULL;
    char buf[32];
    if (result == ANEURALNETWORKS_BAD_DATA &&
        nnv_rt_plan_choices(model, &x->options, 0, x->arena, &choices) == ANEURALNETWORKS_NO_ERROR) {
        for (uint32_t i = 0; i < model->model.main.operation_count; i++) {
            struct nnv_text name = {0};
            if (choices[i].device != NNV_RT_NO_DEVICE) continue;
            nnv_plan_add_operation(model->model.main.operations[i].type, &name);
            enum nnv_status s =
                nnv_fail(err, NNV_UNSUPPORTED, "no plan: operation %u (%s) is supported by none of the devices%s",
                         model->info[0].added[i], name.failed ? "?" : name.data,
                         x->no_cpu ? "; without --no-cpu the CPU reference does it" : "");
            nnv_text_free(&name);
            return s;
        }
    }
    if (result == ANEURALNETWORKS_OP_FAILED)
        return nnv_fail(err, NNV_UNSUPPORTED,
                        "no plan: a step would have no inputs or no outputs, or a value of unknown size would come "
                        "from a driver below level 3; a compilation falls back to the CPU reference");
    return nnv_fail(err, result == ANEURALNETWORKS_OUT_OF_MEMORY ? NNV_NO_MEMORY : NNV_INTERNAL, "no plan: %s",
                    nnv_result_name(result, buf));
}

static enum nnv_status write_dot(const struct command *x, const struct nnv_rt_plan *plan, struct nnv_err *err) {
    struct nnv_text dot = {0};
    enum nnv_status s = nnv_rt_plan_dot(plan, &dot) == ANEURALNETWORKS_NO_ERROR
                            ? nnv_file_create(x->dot, dot.data, dot.len, err)
                            : nnv_no_memory(err);
    nnv_text_free(&dot);
    return s;
}

/** Prints the plan of a finished model. */
static enum nnv_status show(const struct command *x, const char *name, const ANeuralNetworksModel *model,
                            struct nnv_err *err) {
    struct nnv_rt_plan *plan = NULL;
    struct nnv_text out = {0};
    int result = nnv_rt_plan_make(model, &x->options, &plan);
    if (result != ANEURALNETWORKS_NO_ERROR) return no_plan(x, model, result, err);
    struct nnv_plan_view view = {name, plan, &x->options, NNV_NEW(x->arena, struct nnv_rt_choice *, plan->graph_count)};
    if (view.choices == NULL) result = ANEURALNETWORKS_OUT_OF_MEMORY;
    for (uint32_t g = 0; result == ANEURALNETWORKS_NO_ERROR && g < plan->graph_count; g++)
        if (plan->graphs[g].planned) result = nnv_rt_plan_choices(model, &x->options, g, x->arena, &view.choices[g]);
    if (result == ANEURALNETWORKS_NO_ERROR) (x->c.json ? nnv_plan_write_json : nnv_plan_write_table)(&view, &out);
    enum nnv_status s = result != ANEURALNETWORKS_NO_ERROR || out.failed ? nnv_no_memory(err) : NNV_OK;
    if (s == NNV_OK && x->dot != NULL) s = write_dot(x, plan, err);
    if (s == NNV_OK) fwrite(out.data, 1, out.len, stdout);
    nnv_text_free(&out);
    nnv_rt_plan_release(plan);
    return s;
}

static enum nnv_status plan_spec(struct command *x, struct nnv_err *err) {
    struct nnv_spec *spec = NULL;
    struct nnv_rt_spec_model models = {0};
    if (x->c.positional.count == 0)
        return nnv_fail(err, NNV_INVALID, "which spec? give a .json, .jsonl or .example.cpp file");
    enum nnv_status s = nnv_cli_one_spec(&x->c, x->arena, &spec, err);
    if (s == NNV_OK && x->drivers != NULL) s = open_drivers(x, err);
    if (s == NNV_OK) s = choose_devices(x, err);
    if (s != NNV_OK) return s;
    s = nnv_rt_model_from_spec(&spec->model, &models, NULL, err);
    if (s == NNV_OK) s = show(x, spec->name, models.model, err);
    nnv_rt_spec_model_free(&models);
    return s == NNV_OK ? s : nnv_at(err, s, "%s", spec->name);
}

/** All of it, in a process of its own: a driver that crashes or hangs takes nothing else along. */
static enum nnv_status plan(struct nnv_answering *in, struct nnv_err *err) {
    struct command *x = in->context;
    x->arena = in->arena;
    enum nnv_status s = plan_spec(x, err);
    for (size_t i = 0; i < x->open_count; i++) x->open[i]->release(x->open[i]);
    if (s == NNV_OK && fflush(stdout) != 0) s = nnv_fail(err, NNV_IO, "standard output cannot be written");
    return s;
}

/** Asks for the plan in a process of its own. */
static enum nnv_status ask_plan(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_ask ask = {.answer = plan, .context = x, .timeout_ns = x->c.timeout_ns, .keep_streams = true};
    enum nnv_status s = nnv_ask(&ask, err);
    if (s == NNV_OK && !ask.complete && ask.end.timed_out)
        s = nnv_fail(err, NNV_INVALID, "a driver took longer than --timeout to answer");
    else if (s == NNV_OK && !ask.complete)
        s = nnv_fail(err, NNV_INVALID, "a driver crashed: its process %s; try the drivers one by one", ask.how);
    nnv_ask_free(&ask);
    return s;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults(), .preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER};
    const struct nnv_opt table[] = {
        {0, "drivers", NNV_OPT_STRING, &x.drivers, "A,B,...",
         "drivers as of --driver, in order; default: those that the runtime finds (NNVTS_DRIVERS)", NULL},
        {'k', "filter", NNV_OPT_STRING, &x.c.filter, "GLOB", "the spec of this name, where the file holds several",
         NULL},
        {0, "preference", NNV_OPT_CHOICE, &x.preference, "P", "what the cost is: power, or time", preferences},
        {0, "no-cpu", NNV_OPT_FLAG, &x.no_cpu, NULL, "leave the CPU reference out", NULL},
        {0, "dot", NNV_OPT_STRING, &x.dot, "FILE", "write the graph for Graphviz, coloured by device", NULL},
        {0, "timeout", NNV_OPT_SECONDS, &x.c.timeout_ns, "S", "seconds until drivers must have answered", NULL},
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, ask_plan, &x);
}

const struct nnv_verb nnv_verb_plan = {"plan", "look things up", "how the runtime divides a model between drivers",
                                       run};
