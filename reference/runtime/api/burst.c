/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/api/burst.h"

#include <stdlib.h>

#include "reference/runtime/log.h"

struct ANeuralNetworksBurst {
    ANeuralNetworksCompilation *compilation;
    const struct nnv_rt_plan *plan;
    struct nnv_arena *arena;
    struct nnvts_burst ***steps; /**< [graph][step]; NULL: none */
    struct nnv_rt_activation *activation;
    pthread_mutex_t lock; /**< guards what follows */
    bool in_use;
    int64_t *freed; /**< memories to forget when the execution that runs has ended */
    size_t freed_count;
    struct ANeuralNetworksBurst *next; /**< guarded by the lock of all */
};

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ANeuralNetworksBurst *all;

/* -------------------------------------------------------------------- memories */

int64_t nnv_rt_burst_token(const struct ANeuralNetworksMemory *memory) {
    static _Atomic int64_t last;
    _Atomic int64_t *token = (_Atomic int64_t *)&memory->burst_token;
    int64_t now = atomic_load(token);
    if (now) return now;
    const int64_t mine = atomic_fetch_add(&last, 1) + 1;
    return atomic_compare_exchange_strong(token, &now, mine) ? mine : now;
}

/** No execution is running in the burst. */
static void forget(const ANeuralNetworksBurst *b, int64_t token) {
    for (uint32_t g = 0; g < b->plan->graph_count; g++)
        for (uint32_t i = 0; b->steps[g] && i < b->plan->graphs[g].step_count; i++)
            if (b->steps[g][i]) b->steps[g][i]->release_memory(b->steps[g][i], token);
}

static void forget_later(ANeuralNetworksBurst *b, int64_t token) {
    int64_t *grown = realloc(b->freed, (b->freed_count + 1) * sizeof *grown);
    if (!grown) return; /* kept by the driver until the burst is freed; the token is never used again */
    b->freed = grown;
    b->freed[b->freed_count++] = token;
}

void nnv_rt_burst_forget(const struct ANeuralNetworksMemory *memory) {
    const int64_t token = atomic_load(&memory->burst_token);
    if (!token) return;
    pthread_mutex_lock(&all_lock);
    for (ANeuralNetworksBurst *b = all; b; b = b->next) {
        pthread_mutex_lock(&b->lock);
        if (b->in_use)
            forget_later(b, token);
        else
            forget(b, token);
        pthread_mutex_unlock(&b->lock);
    }
    pthread_mutex_unlock(&all_lock);
}

/* -------------------------------------------------------------------- exclusive use */

int nnv_rt_burst_enter(ANeuralNetworksBurst *b) {
    pthread_mutex_lock(&b->lock);
    const bool was_in_use = b->in_use;
    b->in_use = true;
    pthread_mutex_unlock(&b->lock);
    return was_in_use ? ANEURALNETWORKS_BAD_STATE : ANEURALNETWORKS_NO_ERROR;
}

void nnv_rt_burst_leave(ANeuralNetworksBurst *b) {
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < b->freed_count; i++) forget(b, b->freed[i]);
    b->freed_count = 0;
    b->in_use = false;
    pthread_mutex_unlock(&b->lock);
}

struct nnvts_burst *nnv_rt_burst_at(const ANeuralNetworksBurst *burst, uint32_t graph, uint32_t step) {
    return burst->steps[graph] ? burst->steps[graph][step] : NULL;
}

const ANeuralNetworksCompilation *nnv_rt_burst_compilation(const ANeuralNetworksBurst *burst) {
    return burst->compilation;
}

struct nnv_rt_activation *nnv_rt_burst_activation(const ANeuralNetworksBurst *burst) {
    return burst->activation;
}

/* ------------------------------------------------------------------------ life */

/** A burst is a help, not a need: where a driver has none, or makes none, the step executes without. */
static struct nnvts_burst *open_one(const struct nnv_rt_step *s) {
    struct nnvts_burst *burst = NULL;
    if (s->kind != NNV_RT_EXECUTE || !s->prepared || !NNV_RT_HAS(s->prepared, create_burst)) return NULL;
    if (nnv_rt_device_note(s->device, s->prepared->create_burst(s->prepared, &burst)) != NNVTS_STATUS_NONE) return NULL;
    if (!burst || !NNV_RT_HAS(burst, execute) || !NNV_RT_HAS(burst, release_memory) || !NNV_RT_HAS(burst, release))
        return NULL;
    return burst;
}

static bool open_all(ANeuralNetworksBurst *b) {
    b->steps = NNV_NEW(b->arena, struct nnvts_burst **, b->plan->graph_count);
    for (uint32_t g = 0; b->steps && g < b->plan->graph_count; g++) {
        const struct nnv_rt_graph *graph = &b->plan->graphs[g];
        if (!graph->planned && g > 0) continue;
        b->steps[g] = NNV_NEW(b->arena, struct nnvts_burst *, graph->step_count);
        if (!b->steps[g]) return false;
        for (uint32_t i = 0; i < graph->step_count; i++) b->steps[g][i] = open_one(&graph->steps[i]);
    }
    b->activation = nnv_rt_activation_new(b->plan, 0);
    return b->steps && b->activation;
}

static void close_all(ANeuralNetworksBurst *b) {
    nnv_rt_activation_free(b->activation);
    for (uint32_t g = 0; b->steps && g < b->plan->graph_count; g++)
        for (uint32_t i = 0; b->steps[g] && i < b->plan->graphs[g].step_count; i++)
            if (b->steps[g][i]) b->steps[g][i]->release(b->steps[g][i]);
    pthread_mutex_destroy(&b->lock);
    nnv_arena_free(b->arena);
    free(b->freed);
    free(b);
}

int ANeuralNetworksBurst_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksBurst **burst) {
    if (!compilation || !burst) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    *burst = NULL;
    const struct nnv_rt_plan *plan = nnv_rt_compilation_plan(compilation);
    if (!plan)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, NNV_RT_FUNCTION,
                            "the compilation is not finished, or has failed");
    ANeuralNetworksBurst *b = calloc(1, sizeof *b);
    if (!b) return ANEURALNETWORKS_OUT_OF_MEMORY;
    b->compilation = compilation;
    b->plan = plan;
    b->arena = nnv_arena_new();
    pthread_mutex_init(&b->lock, NULL);
    if (!b->arena || !open_all(b)) {
        close_all(b);
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&all_lock);
    b->next = all;
    all = b;
    pthread_mutex_unlock(&all_lock);
    *burst = b;
    return ANEURALNETWORKS_NO_ERROR;
}

void ANeuralNetworksBurst_free(ANeuralNetworksBurst *burst) {
    if (!burst) return;
    pthread_mutex_lock(&all_lock);
    ANeuralNetworksBurst **at = &all;
    while (*at && *at != burst) at = &(*at)->next;
    if (*at) *at = burst->next;
    pthread_mutex_unlock(&all_lock);
    close_all(burst);
}
