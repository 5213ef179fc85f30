/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_drivers.c nnvts drivers: what drivers there are and what they say of themselves. */
#include <float.h>
#include <jansson.h>

#include "base/json_out.h"
#include "base/words.h"
#include "harness/cli/cli.h"
#include "harness/runner/ask.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts drivers [NAME|PATH[:OPTIONS]] [options]",
    .summary = "Lists the installed drivers: name, version, type, feature level. With a name: its capabilities and "
               "options too. Each driver is opened in a process of its own.",
    .examples = "nnvts drivers              all drivers\n"
                "nnvts drivers faulty       one driver, with the options that it takes\n"
                "nnvts drivers ./npu.so     yours\n"
                "nnvts drivers ndk:./libneuralnetworks.so   an NNAPI library\n",
};

static void print_line(const char *argument, const struct nnv_driver_info *info) {
    printf("%-12s %-18s %-10s %-12s level %d\n", nnv_shown(argument).s, nnv_shown(info->name).s,
           nnv_shown(info->version).s, info->type, info->level);
}

/** A driver that does not open without options, and says which it takes. */
static enum nnv_status print_needs(const char *argument, const char *const *options, bool json, struct nnv_err *err) {
    struct nnv_text t = {0}, form = {0};
    struct nnv_json_out j = {.text = &t};
    if (json) {
        nnv_json_open(&j, NULL, '{');
        nnv_json_string(&j, "argument", argument);
        nnv_json_open(&j, "needs", '[');
    } else {
        nnv_text_addf(&t, "%-12s", nnv_shown(argument).s);
    }
    for (const char *const *o = options; *o; o++) {
        nnv_text_clear(&form);
        nnv_text_addf(&form, "%s:%s", argument, *o);
        if (json)
            nnv_json_string(&j, NULL, form.data);
        else
            nnv_text_addf(&t, "%s%s", o == options ? " needs " : " or ", nnv_shown(form.data).s);
    }
    nnv_text_free(&form);
    nnv_text_add(&t, json ? "]}\n" : "\n");
    return nnv_cli_print(&t, err);
}

/** One row: what for, time and power; FLT_MAX is the worst there is. */
static void print_performance(const char *what, json_t *pair) {
    printf("    %-32s", what);
    for (size_t i = 0; i < 2; i++) {
        double v = json_number_value(json_array_get(pair, i));
        if (v >= (double)FLT_MAX)
            printf(" %8s", "worst");
        else
            printf(" %8.3g", v);
    }
    putchar('\n');
}

static void print_details(const struct nnv_driver_info *info) {
    const char *name;
    json_t *pair, *capabilities = json_loads(info->capabilities, 0, NULL);
    printf("  cache files: %u model, %u data\n", info->model_cache_files, info->data_cache_files);
    printf("  capabilities, relative to the CPU reference, lower is better\n    %-32s %8s %8s\n", "", "time", "power");
    json_object_foreach(json_object_get(capabilities, "operands"), name, pair) print_performance(name, pair);
    json_object_foreach(capabilities, name, pair) {
        if (json_is_array(pair)) print_performance(name, pair);
    }
    json_decref(capabilities);
    if (info->options == NULL) return;
    puts("  options:");
    for (const char *const *o = info->options; *o != NULL; o++) printf("    %s\n", nnv_shown(*o).s);
}

static void add_words(struct nnv_json_out *j, const char *name, const char *const *words) {
    nnv_json_open(j, name, '[');
    for (; words != NULL && *words != NULL; words++) nnv_json_string(j, NULL, *words);
    nnv_json_close(j, ']');
}

static enum nnv_status print_json(const char *argument, const struct nnv_driver_info *info, struct nnv_err *err) {
    struct nnv_text t = {0};
    struct nnv_json_out j = {.text = &t};
    nnv_json_open(&j, NULL, '{');
    nnv_json_string(&j, "argument", argument);
    nnv_json_string(&j, "name", info->name);
    nnv_json_string(&j, "version", info->version);
    nnv_json_string(&j, "type", info->type);
    nnv_json_raw(&j, "level", "%d", info->level);
    nnv_json_raw(&j, "capabilities", "%s", info->capabilities);
    add_words(&j, "options", info->options);
    add_words(&j, "faults", info->faults);
    nnv_json_close(&j, '}');
    nnv_text_add(&t, "\n");
    return nnv_cli_print(&t, err);
}

/** Probes one driver and prints it. */
static enum nnv_status show(const struct nnv_cli *c, const char *argument, bool details, struct nnv_err *err) {
    const char *path, *options;
    struct nnv_driver_info info;
    enum nnv_status s = nnv_client_resolve(argument, c->arena, &path, &options, err);
    if (s != NNV_OK) return s;
    s = nnv_driver_probe(path, options, nnv_opening_ns(c->timeout_ns, 0), c->arena, &info, err);
    /* What takes options and opens with none of its own needs one. */
    if (s != NNV_OK && !options && info.options && !details) return print_needs(argument, info.options, c->json, err);
    if (s != NNV_OK) return s;
    if (c->json) return print_json(argument, &info, err);
    print_line(argument, &info);
    if (details) print_details(&info);
    return NNV_OK;
}

static enum nnv_status drivers(void *own, struct nnv_err *err) {
    struct nnv_cli *c = own;
    const char *const *names;
    size_t count;
    if (c->positional.count == 1) return show(c, c->positional.item[0], true, err);
    enum nnv_status s = nnv_driver_list(c->arena, &names, &count, err);
    /* One broken driver does not hide the others. */
    for (size_t i = 0; s == NNV_OK && i < count; i++)
        if (show(c, names[i], c->verbose, err) != NNV_OK) c->code = nnv_cli_error(err);
    return s;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    const struct nnv_opt table[] = {
        {0, "timeout", NNV_OPT_SECONDS, &c.timeout_ns, "S", "seconds that a driver may take to open, at least 10",
         NULL},
        NNV_OPTION_JSON(c),
        NNV_OPTION_VERBOSE(c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&c, table, &help, 1, argc, argv, drivers, &c);
}

const struct nnv_verb nnv_verb_drivers = {"drivers", "judge a driver",
                                          "list the drivers and what they say of themselves", run};
