/* SPDX-License-Identifier: Apache-2.0 */
/** @file burst_calls.c The client's side of a burst: what all have, and one whose executions are calls. */
#include <pthread.h>
#include <stdlib.h>

#include "client.h"

/* ------------------------------------------------------------------- any burst */

void host_burst_begin(struct host_burst *b, const struct host_prepared *p) {
    b->link = p->link;
    b->outputs = p->outputs;
    host_link_ref(b->link);
    pthread_mutex_init(&b->busy, NULL);
}

void host_burst_end(struct host_burst *b) {
    host_link_unref(b->link);
    pthread_mutex_destroy(&b->busy);
    free(b);
}

enum nnvts_status host_burst_execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                     const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                     struct nnvts_execution_result *result) {
    struct host_burst *b = (struct host_burst *)self;
    if (!request || !result || (request->pool_count && (!memory_tokens || !request->pools)))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    if (pthread_mutex_trylock(&b->busy) != 0) return NNVTS_STATUS_GENERAL_FAILURE;
    const enum nnvts_status st = b->run(b, request, memory_tokens, config, result);
    pthread_mutex_unlock(&b->busy);
    return st;
}

/* ------------------------------------------------------------------ one of calls */

struct burst {
    struct host_burst any;
    uint64_t id;
};

static enum nnvts_status run(struct host_burst *self, const struct nnvts_request *request, const int64_t *tokens,
                             const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    struct burst *b = (struct burst *)self;
    struct host_pools pools;
    struct host_out o = {0};
    struct host_in in;
    const uint32_t shapes = host_shapes(self->outputs, request);
    enum nnvts_status st = host_pools_begin(&pools, request->pools, request->pool_count);
    if (st != NNVTS_STATUS_NONE) return st;
    host_put_u64(&o, b->id);
    host_put_request(&o, request, pools.sent);
    /* what is copied lies elsewhere the next time */
    host_put_u32(&o, request->pool_count);
    for (uint32_t i = 0; i < request->pool_count; i++)
        host_put_u64(&o, (uint64_t)(pools.copies[i].fd >= 0 && tokens[i] >= 0 ? -1 : tokens[i]));
    host_put_config(&o, config);
    host_put_room(&o, result, shapes);
    st = host_ask(self->link, HOST_BURST_EXECUTE, &o, &in);
    if (st == NNVTS_STATUS_NONE) {
        st = host_take_result(self->link, &in, shapes, result);
        host_pools_copy_out(&pools);
    } else {
        result->shape_count = 0;
    }
    host_pools_end(&pools);
    return st;
}

static enum nnvts_status release_memory(struct nnvts_burst *self, int64_t memory_token) {
    struct burst *b = (struct burst *)self;
    struct host_out o = {0};
    struct host_in in;
    host_put_u64(&o, b->id);
    host_put_u64(&o, (uint64_t)memory_token);
    const enum nnvts_status st = host_ask(b->any.link, HOST_BURST_FORGET, &o, &in);
    return st == NNVTS_STATUS_NONE ? host_answered(b->any.link, &in, host_get_status(&in)) : st;
}

static void release(struct nnvts_burst *self) {
    struct burst *b = (struct burst *)self;
    host_release(b->any.link, b->id);
    host_burst_end(&b->any);
}

enum nnvts_status host_create_burst_calls(struct host_prepared *p, struct nnvts_burst **out) {
    struct host_out o = {0};
    struct host_in in;
    struct burst *b = calloc(1, sizeof *b);
    if (!b) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    host_burst_begin(&b->any, p);
    host_put_u64(&o, p->id);
    host_put_u32(&o, HOST_NO_FD);
    enum nnvts_status st = host_ask(p->link, HOST_CREATE_BURST, &o, &in);
    uint32_t has = 0;
    if (st == NNVTS_STATUS_NONE) {
        st = host_get_status(&in);
        has = host_get_u32(&in);
        b->id = host_get_u64(&in);
        st = host_answered(p->link, &in, st);
    }
    if (st != NNVTS_STATUS_NONE || has == 0) {
        host_burst_end(&b->any);
        return st;
    }
    b->any.run = run;
    b->any.base = (struct nnvts_burst){sizeof b->any.base, host_burst_execute, release_memory, release};
    HOST_KEEP_FUNCTIONS(&b->any.base, nnvts_burst, execute, has);
    *out = &b->any.base;
    return st;
}
