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
    .usage = "nnvts profile MODEL.relay|MODEL.py|MODEL.tflite|MODEL.onnx --driver NAME|PATH [options]",
    .summary = "Measures the operations of a Relay program or TensorFlow Lite model one by one, and its regions, on a "
               "driver of this machine or of another one, and writes a profile, which nnvts partition --cost chooses "
               "regions by. Operations of equal structure are measured once.",
    .examples =
        "nnvts profile m.relay --driver cpu -o cpu.json               on this machine\n"
        "nnvts profile m.relay --driver remote:key=key,192.168.0.7/opt/npu.so -o phone.json   on another one\n"
        "nnvts profile m.relay --driver remote:key=key,192.168.0.7/opt/npu.so -o phone.json --resume   what is left\n"
        "nnvts profile m.relay --driver ./npu.so --host cpu            the driver cpu as the host, too\n"
        "nnvts partition m.relay --cost phone.json                     what to put on it\n",
};

struct command {
    struct nnv_cli c;
    const char *params, *patterns, *host;
    bool no_regions;
    uint64_t time_ns;
    struct nnv_timing_options host_timing;
    struct nnv_profiler profiler;
};

static enum nnv_status merge_composites(struct command *x, struct nnv_relay_module *m, struct nnv_err *err) {
    struct nnv_pattern_table table;
    if (strcmp(x->patterns, NNV_NO_TABLE) == 0) return NNV_OK;
    enum nnv_status s = nnv_table_open(x->patterns, x->c.arena, &table, err);
    if (s == NNV_OK) s = nnv_merge_composite(m, &table, err);
    return s == NNV_OK ? nnv_relay_check(m, err) : s;
}

static enum nnv_status load(struct command *x, struct nnv_err *err) {
    struct nnv_relay_program p;
    enum nnv_status s =
        nnv_relay_program_read(x->c.positional.count ? x->c.positional.item[0] : NULL, x->params, x->c.arena, &p, err);
    struct nnv_relay_module *m = p.m;
    if (s == NNV_OK) s = nnv_relay_check(m, err);
    if (s == NNV_OK) s = nnv_simplify(m, err);
    if (s == NNV_OK) s = merge_composites(x, m, err);
    x->profiler.m = m;
    return s;
}

/* How the driver behind an argument is measured, and what it is. */
static enum nnv_status find(struct command *x, const char *driver, struct nnv_timing_options *o,
                            struct nnv_driver_info *info, struct nnv_err *err) {
    enum nnv_status s = nnv_client_resolve(driver, x->c.arena, &o->path, &o->options, err);
    o->remote = nnv_driver_is_remote(driver);
    o->time_ns = x->time_ns;
    o->timeout_ns = x->c.timeout_ns;
    if (s != NNV_OK) return s;
    return nnv_driver_probe(o->path, o->options, nnv_opening_ns(x->c.timeout_ns, 0), x->c.arena, info, err);
}

static void told(void *context, const char *key, const json_t *record) {
    const struct command *x = context;
    const json_t *us = json_object_get(record, "target"), *round_trip = json_object_get(record, "round_trip");
    const char *reason = json_string_value(json_object_get(record, "reason"));
    if (x->c.quiet) return;
    if (json_is_number(us))
        printf("%12.1f us  %.200s", json_number_value(us), key);
    else
        printf("  impossible    %.200s: %s", key, reason ? reason : "");
    if (round_trip) printf("  (there and back %.1f us)", json_number_value(round_trip));
    puts("");
    fflush(stdout);
}

static enum nnv_status measure(struct command *x, json_t **source, struct nnv_err *err) {
    struct nnv_driver_info info;
    enum nnv_status s = nnv_cli_need_driver(&x->c, err);
    if (s == NNV_OK) s = load(x, err);
    if (s == NNV_OK) s = find(x, x->c.driver, &x->profiler.target, &info, err);
    if (s != NNV_OK) return s;
    *source = json_pack("{s:s,s:s,s:s}", "driver", x->c.driver, "device", info.name, "version", info.version);
    if (!*source) return nnv_fail(err, NNV_INVALID, "the device's name is no text");
    if (strcmp(x->host, "static") != 0) {
        s = find(x, x->host, &x->host_timing, &info, err);
        x->profiler.host = &x->host_timing;
    }
    if (s == NNV_OK) s = nnv_profile_open(x->c.out, x->c.resume, *source, &x->profiler.file, err);
    if (s != NNV_OK) return s;
    x->profiler.path = x->c.out;
    x->profiler.regions = !x->no_regions;
    x->profiler.told = told;
    x->profiler.context = x;
    s = nnv_profile_run(&x->profiler, err);
    if (s == NNV_IO) return nnv_at(err, s, "%s: measured so far is kept; --resume goes on", x->c.out);
    if (s == NNV_OK)
        printf("%s: %zu measured, %zu impossible, %zu known before\n", x->c.out, x->profiler.measured,
               x->profiler.impossible, x->profiler.known);
    return s;
}

static enum nnv_status profile(void *own, struct nnv_err *err) {
    struct command *x = own;
    json_t *source = NULL;
    const enum nnv_status s = measure(x, &source, err);
    json_decref(source);
    json_decref(x->profiler.file);
    return s;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults(), .patterns = "nnapi", .host = "static", .time_ns = 200000000};
    x.c.out = "profile.json";
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(x.c),
        {0, "params", NNV_OPT_STRING, &x.params, "FILE", "values of parameters, .params or .json", NULL},
        {0, "patterns", NNV_OPT_STRING, &x.patterns, "P.json|nnapi|onednn|none",
         "composites are measured instead of their operators: a pattern table, or one that nnvts has; default: nnapi",
         NULL},
        {0, "host", NNV_OPT_CODE, &x.host, "static|NAME|PATH",
         "the host's times: by the static model, or measured on a driver", NULL},
        {0, "time", NNV_OPT_SECONDS, &x.time_ns, "S", "that each measurement takes, at most", NULL},
        NNV_OPTION_TIMEOUT(x.c),
        {0, "no-regions", NNV_OPT_FLAG, &x.no_regions, NULL, "single operations alone", NULL},
        {'o', "out", NNV_OPT_KEPT, &x.c.out, "FILE", "the profile", NULL},
        {0, "resume", NNV_OPT_FLAG, &x.c.resume, NULL, "keep what the profile has, measure what it lacks", NULL},
        NNV_OPTION_QUIET(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, profile, &x);
}

const struct nnv_verb nnv_verb_profile = {"profile", "compile models",
                                          "measure a program's operations and regions on a device", run};
