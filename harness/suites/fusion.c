/* SPDX-License-Identifier: Apache-2.0 */
/** @file fusion.c Suite `fusion`: chains of operations that backends fuse, crossed with types and with who reads the
 * value in the middle. */
#include "harness/suites/suites.h"

#include "randgraph/fusion/fusion.h"
#include "harness/suites/kit/cases.h"

/* What nnv_case.a holds: chain, type, consumers. */
static uint64_t pack(size_t chain, int type, int consumers) {
    return (uint64_t)chain << 16 | (uint64_t)type << 8 | (uint64_t)consumers;
}

/* Cases of each cell; a second one where a pair must not be fused. The smoke tier has those of one type and one kind of
 * consumers, which go round. */
static uint64_t cases_of(int tier, const struct nnv_fusion_chain *chain, enum nnv_consumers consumers) {
    enum { PAIR = 2, FULL = 4 };
    const bool kept = consumers == NNV_CONSUMERS_SEVERAL || consumers == NNV_CONSUMERS_OUTPUT;
    return tier == 2 ? FULL : tier == 1 && chain->count == PAIR && kept ? 2 : 1;
}

static enum nnv_status list_chain(const struct nnv_run_config *config, struct nnv_case_list *list, size_t number,
                                  struct nnv_err *err) {
    const int tier = nnv_tier(config);
    struct nnv_fusion_chain chain;
    enum nnv_status st = NNV_OK;
    nnv_fusion_chain_of(number, &chain);
    for (int t = 0; t < NNV_FUSION_TYPES; t++) {
        if (!nnv_fusion_takes(&chain, nnv_fusion_types[t])) continue;
        for (int c = 0; c < NNV_CONSUMERS_COUNT; c++)
            for (uint64_t i = 0; i < cases_of(tier, &chain, (enum nnv_consumers)c) && !st; i++) {
                const char *type = nnv_type(nnv_fusion_types[t])->tag;
                const char *consumers = nnv_consumers_name((enum nnv_consumers)c);
                const struct nnv_case k = {
                    .op = chain.main, .type = type, .tags = consumers, .a = pack(number, t, c), .b = i};
                if (tier == 0 && (number % 8 != 0 || (size_t)c != number / 8 % NNV_CONSUMERS_COUNT)) continue;
                st = nnv_list_case(list, k, err, "fusion/%s/%s/%s/%d", chain.name, type, consumers, (int)i);
            }
    }
    return st;
}

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (size_t i = 0, n = nnv_fusion_chains(); i < n && !st; i++) st = list_chain(config, list, i, err);
    return st;
}

static enum nnv_status build(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                             struct nnv_spec **spec, struct nnv_err *err) {
    struct nnv_fusion_chain chain;
    nnv_fusion_chain_of((size_t)(c->a >> 16), &chain);
    const struct nnv_fusion what = {.chain = &chain,
                                    .type = nnv_fusion_types[c->a >> 8 & 0xff],
                                    .consumers = (enum nnv_consumers)(c->a & 0xff),
                                    .seed = config->seed,
                                    .index = c->b,
                                    .name = c->name};
    return nnv_fusion_build(&what, arena, spec, err);
}

const struct nnv_suite nnv_suite_fusion = {
    .name = "fusion",
    .summary = "chains of operations that backends fuse, by type and by who reads the value in the middle",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list,
    .build = build,
};
