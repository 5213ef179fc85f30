/* SPDX-License-Identifier: Apache-2.0 */
/** @file burst.c Bursts: single executions in a row. Memory that the caller has mapped needs no keeping. */
#include <stdatomic.h>
#include <stdlib.h>

#include "shell.h"

struct burst {
    struct nnvts_burst base;
    struct nnvts_prepared_model *prepared;
    atomic_flag busy;
};

static enum nnvts_status execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                 const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                 struct nnvts_execution_result *result) {
    struct burst *b = (struct burst *)self;
    if (!request || !result) return NNVTS_STATUS_INVALID_ARGUMENT;
    result->shape_count = 0;
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    if (request->pool_count && !memory_tokens) return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < request->pool_count; i++)
        if (memory_tokens[i] < -1) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (atomic_flag_test_and_set(&b->busy)) return NNVTS_STATUS_GENERAL_FAILURE;
    const enum nnvts_status st = b->prepared->execute(b->prepared, request, config, result);
    atomic_flag_clear(&b->busy);
    return st;
}

static enum nnvts_status release_memory(struct nnvts_burst *self, int64_t memory_token) {
    (void)self;
    return memory_token < 0 ? NNVTS_STATUS_INVALID_ARGUMENT : NNVTS_STATUS_NONE;
}

static void release(struct nnvts_burst *self) { free(self); }

enum nnvts_status engine_create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    if (!out) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct burst *b = calloc(1, sizeof *b);
    if (!b) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    b->base = (struct nnvts_burst){
        .struct_size = sizeof b->base, .execute = execute, .release_memory = release_memory, .release = release};
    b->prepared = self;
    atomic_flag_clear(&b->busy);
    *out = &b->base;
    return NNVTS_STATUS_NONE;
}
