/* SPDX-License-Identifier: Apache-2.0 */
/** @file fuzz.c Suite `fuzz`: mutated models and requests. A case is a batch of them; `nnvts fuzz` brings its own. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness/fuzz/batch.h"
#include "harness/suites/suites.h"

/** Batches of an operation, by tier. */
static const int batches[] = {1, 1, 8};

static enum nnv_status list_fuzz(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < batches[config->tier < 0 || config->tier > 2 ? 1 : config->tier]; k++) {
            char name[128];
            snprintf(name, sizeof name, "fuzz/%s/%d", ops[i]->name, k);
            struct nnv_case c = {
                .name = name, .suite = "fuzz", .op = ops[i]->name, .type = "", .tags = "", .a = i, .b = (uint64_t)k};
            enum nnv_status st = nnv_case_add(list, &c, err);
            if (st != NNV_OK) return st;
        }
    return NNV_OK;
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
