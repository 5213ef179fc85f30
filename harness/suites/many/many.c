/* SPDX-License-Identifier: Apache-2.0 */
/** @file many.c Suite `many`: models of many operations, operands, inputs, ... at powers of two and beyond. */
#include "harness/suites/many/many.h"

#include "harness/suites/kit/cases.h"
#include "harness/suites/suites.h"

enum { FIRST = 16, EVERYDAY = 64, SMOKE = 65 };

static enum nnv_status list_kind(int tier, struct nnv_case_list *list, size_t k, struct nnv_err *err) {
    const struct nnv_many_kind *kind = &nnv_many_kinds[k];
    const uint32_t smoke = kind->most < SMOKE ? kind->most : SMOKE;
    const uint32_t most = tier == 2 ? 2 * kind->most : tier == 1 ? kind->most : smoke;
    enum nnv_status st = NNV_OK;
    for (int t = 0; t < NNV_MANY_TYPES; t++)
        for (uint32_t power = kind->most < EVERYDAY ? 2 : FIRST; power < most; power *= 2)
            for (uint32_t n = power; n <= power + 1 && !st; n++) {
                const char *type = nnv_type(nnv_many_types[t])->tag;
                const bool other = t >= NNV_MANY_USUAL_TYPES, last = 2 * power >= most;
                if (n > most || (tier == 0 && (n != smoke || other)) || (tier == 1 && other && !last)) continue;
                st = nnv_list_case(list,
                                   (struct nnv_case){.op = kind->op, .type = type, .a = k, .b = n, .c = (uint64_t)t},
                                   err, "many/%s/%s/%u", kind->name, type, n);
            }
    return st;
}

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (size_t k = 0; k < nnv_many_kind_count && !st; k++) st = list_kind(nnv_tier(config), list, k, err);
    return st;
}

static enum nnv_status build(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                             struct nnv_spec **spec, struct nnv_err *err) {
    return nnv_many_build(&nnv_many_kinds[c->a], nnv_many_types[c->c], (uint32_t)c->b, c->name, config->seed, arena,
                          spec, err);
}

const struct nnv_suite nnv_suite_many = {
    .name = "many",
    .summary =
        "models of many operations, values, inputs, outputs, constants and subgraphs, at powers of two and beyond",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list,
    .build = build,
};
