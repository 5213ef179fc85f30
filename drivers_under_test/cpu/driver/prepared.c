/* SPDX-License-Identifier: Apache-2.0 */
/** @file prepared.c Synchronous executions of a prepared model: single, in bursts, and reusable ones. */
#include <stdlib.h>

#include "driver.h"

enum nnvts_status cpu_prepared_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    const uint64_t started_ns = cpu_now_ns();
    struct cpu_program *program = &((struct cpu_prepared *)self)->program;
    struct cpu_binding binding;
    if (!result) return NNVTS_STATUS_INVALID_ARGUMENT;
    result->shape_count = 0;
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    enum nnvts_status st = cpu_binding_make(program, request, NULL, NULL, &binding);
    if (st != NNVTS_STATUS_NONE) return st;
    st = cpu_execute(program, &binding, config, started_ns, result);
    cpu_binding_free(&binding);
    return st;
}

void cpu_prepared_release(struct nnvts_prepared_model *self) {
    cpu_program_free(&((struct cpu_prepared *)self)->program);
    free(self);
}

/* ---------------------------------------------------------------------- burst */

/** A pool that is kept mapped under a token. */
struct kept {
    int64_t token;
    struct cpu_mapping mapping;
};

struct burst {
    struct nnvts_burst base;
    struct cpu_program *program;
    pthread_mutex_t busy; /**< one call at a time */
    struct kept *kept;
    size_t kept_count;
};

static struct kept *find_kept(const struct burst *b, int64_t token) {
    for (size_t i = 0; i < b->kept_count; i++)
        if (b->kept[i].token == token) return &b->kept[i];
    return NULL;
}

/** Maps a pool and keeps it; a pool that needs no mapping is not kept. */
static enum nnvts_status keep(struct burst *b, int64_t token, const struct nnvts_memory *memory) {
    if (token < -1) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (token < 0 || memory->kind == NNVTS_MEMORY_DEVICE || memory->data || find_kept(b, token))
        return NNVTS_STATUS_NONE;
    struct kept *grown = realloc(b->kept, (b->kept_count + 1) * sizeof *grown);
    if (!grown) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    b->kept = grown;
    struct kept entry = {.token = token};
    enum nnvts_status st = cpu_memory_map(memory, 0, &entry.mapping);
    if (st == NNVTS_STATUS_NONE) b->kept[b->kept_count++] = entry;
    return st;
}

struct lookup {
    const struct burst *burst;
    const struct nnvts_request *request;
    const int64_t *tokens;
};

static bool find_mapping(void *context, uint32_t i, struct cpu_mapping *out) {
    const struct lookup *l = context;
    const struct kept *k = l->request->pools[i].data ? NULL : find_kept(l->burst, l->tokens[i]);
    if (!k || k->mapping.bytes < l->request->pools[i].size) return false;
    *out = k->mapping;
    return true;
}

static enum nnvts_status burst_run(struct burst *b, const struct nnvts_request *request, const int64_t *tokens,
                                   const struct nnvts_execution_config *config, uint64_t started_ns,
                                   struct nnvts_execution_result *result) {
    struct lookup lookup = {b, request, tokens};
    struct cpu_binding binding;
    for (uint32_t i = 0; i < request->pool_count; i++) {
        enum nnvts_status st = keep(b, tokens[i], &request->pools[i]);
        if (st != NNVTS_STATUS_NONE) return st;
    }
    enum nnvts_status st = cpu_binding_make(b->program, request, find_mapping, &lookup, &binding);
    if (st != NNVTS_STATUS_NONE) return st;
    st = cpu_execute(b->program, &binding, config, started_ns, result);
    cpu_binding_free(&binding);
    return st;
}

static enum nnvts_status burst_execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                       const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    const uint64_t started_ns = cpu_now_ns();
    struct burst *b = (struct burst *)self;
    if (!result) return NNVTS_STATUS_INVALID_ARGUMENT;
    result->shape_count = 0;
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    if (!request || (request->pool_count && (!request->pools || !memory_tokens))) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (pthread_mutex_trylock(&b->busy) != 0) return NNVTS_STATUS_GENERAL_FAILURE;
    enum nnvts_status st = burst_run(b, request, memory_tokens, config, started_ns, result);
    pthread_mutex_unlock(&b->busy);
    return st;
}

static enum nnvts_status burst_release_memory(struct nnvts_burst *self, int64_t memory_token) {
    struct burst *b = (struct burst *)self;
    if (memory_token < 0) return NNVTS_STATUS_INVALID_ARGUMENT;
    pthread_mutex_lock(&b->busy);
    struct kept *k = find_kept(b, memory_token);
    if (k) {
        cpu_memory_unmap(&k->mapping);
        *k = b->kept[--b->kept_count];
    }
    pthread_mutex_unlock(&b->busy);
    return NNVTS_STATUS_NONE;
}

static void burst_release(struct nnvts_burst *self) {
    struct burst *b = (struct burst *)self;
    for (size_t i = 0; i < b->kept_count; i++) cpu_memory_unmap(&b->kept[i].mapping);
    free(b->kept);
    pthread_mutex_destroy(&b->busy);
    free(b);
}

enum nnvts_status cpu_prepared_create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    if (!out) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct burst *b = calloc(1, sizeof *b);
    if (!b) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    b->base = (struct nnvts_burst){
        .struct_size = sizeof b->base,
        .execute = burst_execute,
        .release_memory = burst_release_memory,
        .release = burst_release,
    };
    b->program = &((struct cpu_prepared *)self)->program;
    pthread_mutex_init(&b->busy, NULL);
    *out = &b->base;
    return NNVTS_STATUS_NONE;
}

/* --------------------------------------------------------- reusable execution */

struct reusable {
    struct nnvts_execution base;
    struct cpu_program *program;
    struct cpu_binding binding;
    struct nnvts_execution_config config;
};

static enum nnvts_status reusable_execute(struct nnvts_execution *self, uint64_t deadline_ns,
                                          struct nnvts_execution_result *result) {
    const uint64_t started_ns = cpu_now_ns();
    struct reusable *r = (struct reusable *)self;
    if (!result) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct nnvts_execution_config config = r->config;
    config.deadline_ns = deadline_ns;
    return cpu_execute(r->program, &r->binding, &config, started_ns, result);
}

static void reusable_release(struct nnvts_execution *self) {
    cpu_binding_free(&((struct reusable *)self)->binding);
    free(self);
}

enum nnvts_status cpu_prepared_create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                                const struct nnvts_execution_config *config,
                                                struct nnvts_execution **out) {
    if (!out) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct reusable *r = calloc(1, sizeof *r);
    if (!r) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    r->program = &((struct cpu_prepared *)self)->program;
    enum nnvts_status st = cpu_binding_make(r->program, request, NULL, NULL, &r->binding);
    if (st != NNVTS_STATUS_NONE) {
        free(r);
        return st;
    }
    if (config) r->config = *config;
    r->base = (struct nnvts_execution){
        .struct_size = sizeof r->base,
        .execute = reusable_execute,
        .release = reusable_release,
    };
    *out = &r->base;
    return NNVTS_STATUS_NONE;
}
