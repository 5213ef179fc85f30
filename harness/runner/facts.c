/* SPDX-License-Identifier: Apache-2.0 */
/** @file facts.c What the journal's first line and commands say of a run. */
#include <stdio.h>
#include <string.h>

#include "harness/runner/build.h"
#include "harness/runner/run.h"
#include "reference/model/op.h"

static void add_suites(const struct nnv_run_facts *f, struct nnv_json_out *j) {
    size_t nsuites;
    const struct nnv_suite *const *suites = nnv_suites(&nsuites);
    nnv_json_open(j, "suites", '{');
    for (size_t i = 0; i < nsuites; i++) {
        size_t n = 0;
        for (size_t k = 0; k < f->case_count; k++) n += strcmp(f->cases[k].suite, suites[i]->name) == 0;
        if (n == 0) continue;
        nnv_json_open(j, suites[i]->name, '{');
        nnv_json_string(j, "summary", suites[i]->summary);
        nnv_json_uint(j, "cases", n);
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, '}');
}

/* The suites, and which types each operation accepts: what a report may call untested. */
static void add_more(const struct nnv_run_facts *f, struct nnv_json_out *j) {
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    add_suites(f, j);
    nnv_json_open(j, "coverage", '{');
    for (size_t i = 0; i < nops; i++) {
        nnv_json_open(j, ops[i]->name, '[');
        for (int sig = 0; sig < ops[i]->nsigs; sig++) {
            int32_t type = ops[i]->sigs[sig].type[NNV_T];
            bool seen = false;
            for (int before = 0; before < sig; before++) seen |= ops[i]->sigs[before].type[NNV_T] == type;
            if (!seen) nnv_json_string(j, NULL, nnv_type(type)->tag);
        }
        nnv_json_close(j, ']');
    }
    nnv_json_close(j, '}');
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
    };
}

void nnv_run_header(const struct nnv_run_options *o, const struct nnv_driver_info *driver, struct nnv_text *out) {
    struct nnv_run_facts f;
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
    f.more = add_more;
    nnv_record_header(&f, out);
}
