/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "harness/runner/suite.h"

enum nnv_status nnv_case_precision(const struct nnv_run_config *config, const struct nnv_suite *suite,
                                   const struct nnv_spec *spec, enum nnv_precision *precision, struct nnv_err *err) {
    int found = config->precision >= 0 ? config->precision : suite->precision;
    if (config->precision < 0 && spec->precision) {
        for (found = 0; found < NNV_PRECISION_COUNT; found++)
            if (strcmp(spec->precision, nnv_precision_name((enum nnv_precision)found)) == 0) break;
        if (found == NNV_PRECISION_COUNT)
            return nnv_fail(err, NNV_INVALID, "precision: expected \"nnapi\", \"aosp\" or \"budget\", got \"%s\"",
                            spec->precision);
    }
    *precision = (enum nnv_precision)found;
    return NNV_OK;
}

void nnv_case_run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    const struct nnv_suite *suite = nnv_suite_by_name(c->suite);
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    nnv_result_start(result);
    if (!suite) {
        nnv_result_end(result, NNVTS_ERROR, "no suite named '%s'", c->suite);
        return;
    }
    if (!nnv_result_level(env, c->level, result)) return;
    if (suite->run) {
        suite->run(env, c, result);
        return;
    }
    if (env->phase) *env->phase = NNV_PHASE_BUILD;
    enum nnv_status st = suite->build(env->config, c, env->arena, &spec, &err);
    enum nnv_precision precision = NNV_PRECISION_NNAPI;
    if (st == NNV_OK) st = nnv_case_precision(env->config, suite, spec, &precision, &err);
    if (st == NNV_OK)
        nnv_judge(env, spec, c->level, precision, result);
    else
        nnv_result_end(result, st == NNV_UNSUPPORTED ? NNVTS_SKIP : NNVTS_ERROR, "%s", err.text);
}
