/* SPDX-License-Identifier: Apache-2.0 */
/** @file burst.c Bursts, and reusable executions. */
#include <stdlib.h>

#include "ndk.h"

/* ------------------------------------------------------------------------- bursts */

struct burst {
    struct nnvts_burst base;
    struct ndk_prepared *prepared;
    ANeuralNetworksBurst *burst;
    pthread_mutex_t busy;
    struct ndk_kept *kept;
};

static bool tokens_ok(const struct nnvts_request *r, const int64_t *tokens) {
    if (!r || (r->pool_count && (!tokens || !r->pools))) return false;
    for (uint32_t i = 0; i < r->pool_count; i++)
        if (tokens[i] < -1) return false;
    return true;
}

static enum nnvts_status execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                 const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                 struct nnvts_execution_result *result) {
    struct burst *b = (struct burst *)self;
    struct ndk_run run;
    if (!result) return NNVTS_STATUS_INVALID_ARGUMENT;
    result->shape_count = 0;
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    if (!tokens_ok(request, memory_tokens)) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (pthread_mutex_trylock(&b->busy) != 0) return NNVTS_STATUS_GENERAL_FAILURE;
    const struct ndk_run_options options = {.tokens = memory_tokens, .kept = &b->kept};
    enum nnvts_status st = ndk_run_begin(b->prepared, request, config, &options, &run);
    if (st == NNVTS_STATUS_NONE) {
        st = NDK_CALL(&b->prepared->device->lib, Execution_burstCompute, run.execution, b->burst);
        st = ndk_run_take(&run, st, result);
        ndk_run_end(&run);
    }
    pthread_mutex_unlock(&b->busy);
    return st;
}

static enum nnvts_status release_memory(struct nnvts_burst *self, int64_t memory_token) {
    struct burst *b = (struct burst *)self;
    if (memory_token < 0) return NNVTS_STATUS_INVALID_ARGUMENT;
    pthread_mutex_lock(&b->busy);
    for (struct ndk_kept **at = &b->kept, *k; (k = *at) != NULL; at = &k->next) {
        if (k->token != memory_token) continue;
        *at = k->next;
        b->prepared->device->lib.fn.Memory_free(k->memory);
        free(k);
        break;
    }
    pthread_mutex_unlock(&b->busy);
    return NNVTS_STATUS_NONE;
}

static void release_burst(struct nnvts_burst *self) {
    struct burst *b = (struct burst *)self;
    const struct ndk_library *lib = &b->prepared->device->lib;
    if (b->burst) lib->fn.Burst_free(b->burst);
    while (b->kept) release_memory(self, b->kept->token);
    ndk_prepared_unref(b->prepared);
    pthread_mutex_destroy(&b->busy);
    free(b);
}

enum nnvts_status ndk_create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    struct ndk_prepared *p = (struct ndk_prepared *)self;
    if (!out) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct burst *b = calloc(1, sizeof *b);
    if (!b) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    const enum nnvts_status st = NDK_MAKE(&p->device->lib, Burst_create, &b->burst, p->compilation, &b->burst);
    if (st != NNVTS_STATUS_NONE) {
        free(b);
        return st;
    }
    b->base = (struct nnvts_burst){sizeof b->base, execute, release_memory, release_burst};
    b->prepared = p;
    pthread_mutex_init(&b->busy, NULL);
    ndk_prepared_ref(p);
    *out = &b->base;
    return st;
}

/* ------------------------------------------------------------- reusable executions */

struct reusable {
    struct nnvts_execution base;
    struct ndk_run run;
    bool started;
};

/** The NDK fixes the time an execution may take before it first starts: the first deadline is the only one. */
static enum nnvts_status execute_again(struct nnvts_execution *self, uint64_t deadline_ns,
                                       struct nnvts_execution_result *result) {
    struct reusable *r = (struct reusable *)self;
    const struct ndk_library *lib = &r->run.prepared->device->lib;
    enum nnvts_status st = NNVTS_STATUS_NONE;
    if (!result) return NNVTS_STATUS_INVALID_ARGUMENT;
    result->shape_count = 0;
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    (void)deadline_ns;
    r->started = true;
    st = NDK_CALL(lib, Execution_compute, r->run.execution);
    return ndk_run_take(&r->run, st, result);
}

static void release_execution(struct nnvts_execution *self) {
    struct reusable *r = (struct reusable *)self;
    struct ndk_prepared *p = r->run.prepared;
    ndk_run_end(&r->run);
    ndk_prepared_unref(p);
    free(r);
}

enum nnvts_status ndk_create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config, struct nnvts_execution **out) {
    struct ndk_prepared *p = (struct ndk_prepared *)self;
    const struct ndk_run_options options = {.reusable = true};
    if (!out) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct reusable *r = calloc(1, sizeof *r);
    if (!r) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    const enum nnvts_status st = ndk_run_begin(p, request, config, &options, &r->run);
    if (st != NNVTS_STATUS_NONE) {
        free(r);
        return st;
    }
    r->base = (struct nnvts_execution){sizeof r->base, execute_again, release_execution};
    ndk_prepared_ref(p);
    *out = &r->base;
    return st;
}
