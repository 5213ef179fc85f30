/* SPDX-License-Identifier: Apache-2.0 */
/** @file compiler.c The suite "compiler": a driver on the models that the compiler makes of Relay programs. */
#include <stdio.h>

#include "harness/suites/compiler/values.h"
#include "harness/suites/suites.h"
#include "harness/suites/kit/cases.h"

/* "nn.conv2d/float32/strides": the operator is a tag, the type that of the case. */
static enum nnv_status list_all(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    enum nnv_status s = NNV_OK;
    char op[64], type[32];
    (void)config;
    for (size_t i = 0; s == NNV_OK && i < nnv_values_case_count; i++) {
        const char *row = nnv_values_cases[i].name;
        if (sscanf(row, "%63[^/]/%31[^/]", op, type) != 2)
            return nnv_fail(err, NNV_INTERNAL, "%s: expected operator/type/name", row);
        s = nnv_list_case(list, (struct nnv_case){.tags = op, .b = i}, err, "compiler/values/%s", row);
    }
    return s;
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    nnv_context_begin(&s, env, result);
    nnv_values_run(&s, &nnv_values_cases[c->b]);
    nnv_context_end(&s);
}

const struct nnv_suite nnv_suite_compiler = {
    .name = "compiler",
    .summary = "models that the compiler makes of Relay programs: their values, and the driver on them",
    .precision = NNV_PRECISION_BUDGET,
    .list = list_all,
    .run = run,
};
