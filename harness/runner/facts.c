/* SPDX-License-Identifier: Apache-2.0 */
/** @file facts.c What the journal's first line and commands say of a run. */
#include <stdio.h>
#include <string.h>

#include "harness/runner/build.h"
#include "harness/runner/run.h"
#include "reference/model/op.h"

static void add_suites(struct nnv_text *out, const struct nnv_case *cases, size_t count) {
    size_t nsuites, written = 0;
    const struct nnv_suite *const *suites = nnv_suites(&nsuites);
    nnv_text_add(out, ",\"suites\":{");
    for (size_t i = 0; i < nsuites; i++) {
        size_t n = 0;
        for (size_t k = 0; k < count; k++) n += strcmp(cases[k].suite, suites[i]->name) == 0;
        if (n == 0) continue;
        if (written++ > 0) nnv_text_add(out, ",");
        nnv_text_add_json(out, suites[i]->name);
        nnv_text_add(out, ":{\"summary\":");
        nnv_text_add_json(out, suites[i]->summary);
        nnv_text_addf(out, ",\"cases\":%zu}", n);
    }
    nnv_text_add(out, "}");
}

/* Which types each operation accepts: what a report may call untested. */
static void add_coverage(struct nnv_text *out) {
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    nnv_text_add(out, ",\"coverage\":{");
    for (size_t i = 0; i < nops; i++) {
        if (i > 0) nnv_text_add(out, ",");
        nnv_text_add_json(out, ops[i]->name);
        nnv_text_add(out, ":[");
        int written = 0;
        for (int sig = 0; sig < ops[i]->nsigs; sig++) {
            int32_t type = ops[i]->sigs[sig].type[NNV_T];
            bool seen = false;
            for (int before = 0; before < sig; before++) seen |= ops[i]->sigs[before].type[NNV_T] == type;
            if (seen) continue;
            if (written++ > 0) nnv_text_add(out, ",");
            nnv_text_add_json(out, nnv_type(type)->tag);
        }
        nnv_text_add(out, "]");
    }
    nnv_text_add(out, "}");
}

void nnv_config_facts(const struct nnv_run_config *config, struct nnv_run_facts *f) {
    static const char *const tiers[] = {"smoke", "default", "full"};
    *f = (struct nnv_run_facts){
        .driver = config->driver,
        .seed = config->seed,
        .jobs = config->jobs,
        .precision = config->precision < 0 ? "default" : nnv_precision_name((enum nnv_precision)config->precision),
        .tier = config->tier >= 0 && config->tier < 3 ? tiers[config->tier] : "?",
        .specs = config->specs,
        .count = config->count,
        .repeat = config->repeat,
        .determinism = config->determinism != NNV_DETERMINISM_OFF,
        .more = "",
    };
}

void nnv_run_header(const struct nnv_run_options *o, const struct nnv_driver_info *driver, struct nnv_text *out) {
    struct nnv_run_facts f;
    struct nnv_text more = {0};
    nnv_config_facts(o->config, &f);
    f.name = driver->name;
    f.version = driver->version;
    f.type = driver->type;
    f.level = driver->level;
    f.argc = o->argc;
    f.argv = o->argv;
    f.cases = o->cases;
    f.case_count = o->count;
    f.expectations = o->expectations;
    f.shard = o->shard;
    nnv_build_hash("/proc/self/exe", f.program_build);
    nnv_build_hash_driver(o->config, f.driver_build);
    add_suites(&more, o->cases, o->count);
    add_coverage(&more);
    f.more = more.data;
    nnv_record_header(&f, out);
    out->failed = out->failed || more.failed;
    nnv_text_free(&more);
}
