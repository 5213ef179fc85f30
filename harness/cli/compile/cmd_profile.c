/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_profile.c nnvts profile: how long a device takes for the operations and regions of a Relay program. */
#include <stdio.h>
#include <string.h>

#include "compiler/nnapi/compile.h"
#include "compiler/byoc/tables.h"
#include "harness/cli/cli.h"
#include "harness/compiled/profile.h"
#include "harness/compiled/relay_model.h"
#include "harness/runner/ask.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts profile MODEL.relay|MODEL.tflite|MODEL.onnx --connect HOST:PORT | --driver NAME|PATH [options]",
    .summary = "Measures the operations of a Relay program or TensorFlow Lite model one by one, and its regions, on a "
               "driver here or behind "
               "nnvts serve, and writes a profile, which nnvts partition --cost chooses regions by. Operations of "
               "equal structure are measured once.",
    .examples =
        "nnvts profile m.relay --driver cpu -o cpu.json               on this machine\n"
        "nnvts profile m.relay --connect 192.168.0.7:7557 --key-file key -o phone.json\n"
        "nnvts profile m.relay --connect 192.168.0.7:7557 --key-file key -o phone.json --resume   what is left\n"
        "nnvts profile m.relay --driver ./npu.so --host cpu            the driver cpu as the host, too\n"
        "nnvts partition m.relay --cost phone.json                     what to put on it\n",
};

struct command {
    struct nnv_cli c;
    const char *connect, *key_file, *params, *patterns, *host;
    bool no_regions;
    uint64_t time_ns;
    struct nnv_remote remote;
    struct nnv_stopwatch host_watch;
    struct nnv_profiler profiler;
};

static enum nnv_status merge_composites(struct command *x, struct nnv_relay_module *m, struct nnv_err *err) {
    struct nnv_pattern_table table;
    size_t len;
    const char *known = nnv_shipped_table(x->patterns, &len);
    enum nnv_status s = known ? nnv_pattern_read(known, len, x->patterns, x->c.arena, &table, err)
                              : nnv_pattern_load(x->patterns, x->c.arena, &table, err);
    if (s == NNV_OK) s = nnv_merge_composite(m, &table, err);
    return s == NNV_OK ? nnv_relay_check(m, err) : s;
}

static enum nnv_status load(struct command *x, struct nnv_err *err) {
    struct nnv_relay_program p;
    enum nnv_status s =
        nnv_relay_program_read(x->c.positional.count ? x->c.positional.item[0] : NULL, x->params, x->c.arena, &p, err);
    struct nnv_relay_module *m = p.m;
    if (s == NNV_OK) s = nnv_relay_check(m, err);
    for (size_t f = 0; s == NNV_OK && f < m->n_functions; f++) s = nnv_graph_form(m, m->functions[f].expr, err);
    if (s == NNV_OK && x->patterns) s = merge_composites(x, m, err);
    x->profiler.m = m;
    return s;
}

/* The driver behind an argument, here. */
static enum nnv_status open_here(struct command *x, const char *driver, struct nnv_stopwatch *w,
                                 struct nnv_driver_info *info, struct nnv_err *err) {
    enum nnv_status s = nnv_client_resolve(driver, x->c.arena, &w->timing.path, &w->timing.options, err);
    w->timing.time_ns = x->time_ns;
    w->timing.timeout_ns = x->c.timeout_ns;
    return s == NNV_OK ? nnv_driver_probe(w->timing.path, w->timing.options, nnv_opening_ns(x->c.timeout_ns, 0),
                                          x->c.arena, info, err)
                       : s;
}

static enum nnv_status open_target(struct command *x, json_t **source, struct nnv_err *err) {
    struct nnv_remote_key key = {.bytes = 0};
    struct nnv_driver_info info = {0};
    enum nnv_status s = NNV_OK;
    if (!x->connect == !x->c.driver)
        return nnv_fail(err, NNV_INVALID, "where to measure? give either --connect HOST:PORT or --driver");
    if (x->key_file) s = nnv_remote_key_read(x->key_file, &key, err);
    if (s != NNV_OK) return s;
    if (x->c.driver) {
        s = open_here(x, x->c.driver, &x->profiler.target, &info, err);
    } else {
        s = nnv_remote_connect(x->connect, &key, &x->remote, err);
        x->profiler.target = (struct nnv_stopwatch){.remote = &x->remote, .timing = {.time_ns = x->time_ns}};
    }
    if (s != NNV_OK) return s;
    *source = json_pack("{s:s,s:s,s:s}", "driver", x->c.driver ? x->c.driver : x->remote.driver, "device",
                        x->c.driver ? info.name : x->remote.device, "version",
                        x->c.driver ? info.version : x->remote.version);
    return *source ? NNV_OK : nnv_fail(err, NNV_INVALID, "the device's name is no text");
}

static void told(void *context, const char *key, const json_t *record) {
    const struct command *x = context;
    const json_t *us = json_object_get(record, "target");
    const char *reason = json_string_value(json_object_get(record, "reason"));
    if (x->c.quiet) return;
    if (json_is_number(us))
        printf("%12.1f us  %.200s\n", json_number_value(us), key);
    else
        printf("  impossible    %.200s: %s\n", key, reason ? reason : "");
    fflush(stdout);
}

static enum nnv_status measure(struct command *x, json_t **source, struct nnv_err *err) {
    struct nnv_driver_info info;
    enum nnv_status s = load(x, err);
    if (s == NNV_OK) s = open_target(x, source, err);
    if (s == NNV_OK && strcmp(x->host, "static") != 0) {
        s = open_here(x, x->host, &x->host_watch, &info, err);
        x->profiler.host = &x->host_watch;
    }
    if (s == NNV_OK) s = nnv_profile_open(x->c.out, x->c.resume, *source, &x->profiler.file, err);
    if (s != NNV_OK) return s;
    x->profiler.path = x->c.out;
    x->profiler.regions = !x->no_regions;
    x->profiler.told = told;
    x->profiler.context = x;
    s = nnv_profile_run(&x->profiler, err);
    if (s == NNV_IO && x->connect) return nnv_at(err, s, "%s: measured so far is kept; --resume goes on", x->c.out);
    if (s == NNV_OK)
        printf("%s: %zu measured, %zu impossible, %zu known before\n", x->c.out, x->profiler.measured,
               x->profiler.impossible, x->profiler.known);
    return s;
}

static enum nnv_status profile(void *own, struct nnv_err *err) {
    struct command *x = own;
    json_t *source = NULL;
    const enum nnv_status s = measure(x, &source, err);
    nnv_remote_close(&x->remote);
    json_decref(source);
    json_decref(x->profiler.file);
    return s;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults(), .host = "static", .time_ns = 200000000, .remote = {.fd = -1}};
    x.c.out = "profile.json";
    const struct nnv_opt table[] = {
        {0, "connect", NNV_OPT_STRING, &x.connect, "HOST:PORT", "where nnvts serve waits", NULL},
        NNV_OPTION_DRIVER(x.c),
        {0, "key-file", NNV_OPT_STRING, &x.key_file, "FILE", "the key that the server has, too", NULL},
        {0, "params", NNV_OPT_STRING, &x.params, "FILE", "values of parameters, .params or .json", NULL},
        {0, "patterns", NNV_OPT_STRING, &x.patterns, "P.json|nnapi|onednn",
         "composites are measured, too: a pattern table, or one that nnvts has", NULL},
        {0, "host", NNV_OPT_STRING, &x.host, "static|NAME|PATH",
         "the host's times: by the static model, or measured on a driver here", NULL},
        {0, "time", NNV_OPT_SECONDS, &x.time_ns, "S", "that each measurement takes, at most", NULL},
        NNV_OPTION_TIMEOUT(x.c),
        {0, "no-regions", NNV_OPT_FLAG, &x.no_regions, NULL, "single operations alone", NULL},
        {'o', "out", NNV_OPT_STRING, &x.c.out, "FILE", "the profile", NULL},
        {0, "resume", NNV_OPT_FLAG, &x.c.resume, NULL, "keep what the profile has, measure what it lacks", NULL},
        NNV_OPTION_QUIET(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, profile, &x);
}

const struct nnv_verb nnv_verb_profile = {"profile", "compile models",
                                          "measure a program's operations and regions on a device", run};
