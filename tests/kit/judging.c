/* SPDX-License-Identifier: Apache-2.0 */
/** @file judging.c See judging.h. */
#include "tests/kit/judging.h"

struct nnv_arena *case_arena;
struct nnv_client client;
struct nnv_result result;

int start_judging(void **state) {
    case_arena = nnv_arena_new();
    fake_start(&client, 7);
    return case_arena ? set_up(state) : -1;
}

int end_judging(void **state) {
    nnv_client_close(&client);
    nnv_arena_free(case_arena);
    nnv_text_free(&result.reason);
    nnv_text_free(&result.outputs);
    result = (struct nnv_result){0};
    return tear_down(state);
}

int judge_at(const struct nnv_spec *spec, int level, enum nnv_precision precision) {
    const struct nnv_run_config config = {.driver = "fake", .seed = 1, .precision = -1};
    uint32_t phase = 0;
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = case_arena, .phase = &phase};
    nnv_judge(&env, spec, level, precision, &result);
    nnv_arena_reset(case_arena);
    return result.verdict;
}

int judge(const struct nnv_spec *spec, enum nnv_precision precision) { return judge_at(spec, 0, precision); }

void assert_reason(const char *part) {
    const char *reason = result.reason.data ? result.reason.data : "";
    if (!strstr(reason, part)) fail_msg("'%s', expected '%s'", reason, part);
}
