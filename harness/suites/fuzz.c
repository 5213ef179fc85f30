/* SPDX-License-Identifier: Apache-2.0 */
/** @file fuzz.c Suite `fuzz`: mutated models and requests. A case is a batch of them; `nnvts fuzz` brings its own. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness/fuzz/batch.h"
#include "harness/suites/suites.h"
#include "harness/suites/kit/cases.h"

/** Batches of an operation, by tier. */
static const uint64_t batches[] = {1, 1, 8};

static enum nnv_status list_fuzz(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < batches[nnv_tier(config)] && !st; k++) {
            const struct nnv_case c = {.op = ops[i]->name, .a = i, .b = k};
            st = nnv_list_case(list, c, err, "fuzz/%s/%" PRIu64, ops[i]->name, k);
        }
    return st;
}

/** What is wrong, for people: the lines "w KIND INPUT TEXT", each with the input. */
static void explain(const struct nnv_fuzz_batch *b, struct nnv_result *result) {
    struct nnv_text lines = result->outputs;
    result->outputs = (struct nnv_text){0};
    for (const char *at = lines.data; at != NULL && *at != '\0'; at = strchr(at, '\n') + 1) {
        char kind[16];
        uint32_t input = 0;
        int text = 0;
        if (sscanf(at, "w %15s %" SCNu32 " %n", kind, &input, &text) != 2 || text == 0) continue;
        nnv_text_add_n(&result->reason, at + text, strcspn(at + text, "\n"));
        nnv_text_addf(&result->reason, " (%s), after mutations of this input:\n", kind);
        struct nnv_fuzz_input in = nnv_fuzz_batch_input(b, input < b->count ? input : b->count - 1);
        nnv_fuzz_print(&result->reason, &in);
    }
    nnv_text_free(&lines);
}

static void run_fuzz(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    if (c->data != NULL) {
        nnv_fuzz_batch_run(env, c->data, result);
        return;
    }
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    struct nnv_fuzz_batch b = {
        .seed = env->config->seed, .number = nnv_hash_str(c->name), .count = NNV_FUZZ_BATCH_INPUTS};
    struct nnv_rng rng = nnv_rng_make(b.seed, b.number, UINT64_MAX);
    b.parent.base = nnv_fuzz_draw_base(&rng, c->a < n ? ops[c->a] : NULL);
    nnv_fuzz_batch_run(env, &b, result);
    explain(&b, result);
}

const struct nnv_suite nnv_suite_fuzz = {
    .name = "fuzz",
    .summary =
        "mutated models and requests: no crash, no hang, no damage, statuses that exist, and right values afterwards",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = false,
    .list = list_fuzz,
    .run = run_fuzz,
};
