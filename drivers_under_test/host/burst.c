/* SPDX-License-Identifier: Apache-2.0 */
/** @file burst.c The client's side of a burst. */
#include "burst.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"
#include "ring.h"

enum { POOLS = 32 }; /* of a request; one with more goes the long way */

struct burst {
    struct host_burst any;
    struct host_stream *stream;
    struct host_rings *rings;
    uint64_t prepared; /* id */
    uint32_t sent;     /* descriptors */
    struct slot {
        bool used, once;
        int64_t token;
    } slots[HOST_BURST_SLOTS];
    struct host_out out;
    uint8_t answer[HOST_RING_BYTES];
};

/* ------------------------------------------------------------------ questions */

/** Begins a question; descriptors of it are numbers of slots. */
static struct host_out *begin(struct burst *b) {
    struct host_out *o = &b->out;
    o->bytes = 0;
    o->failed = o->invalid = false;
    if (o->fd_count == 0)
        while (o->fd_count < HOST_BURST_SLOTS) o->fds[o->fd_count] = (int)o->fd_count, o->fd_count++;
    host_put_u32(o, b->sent);
    return o;
}

/** The stream says nothing as long as the host lives. */
static bool host_lives(const struct burst *b) {
    struct pollfd stream = {b->stream->socket, POLLIN, 0};
    return poll(&stream, 1, 0) <= 0;
}

/** Asks what is in b->out; false if the host has died. `in` borrows b->answer. */
static bool ask(struct burst *b, uint32_t kind, struct host_in *in) {
    uint32_t got;
    size_t bytes;
    enum host_ring_state state = HOST_RING_EMPTY;
    bool lives = host_ring_push(&b->rings->ask, kind, b->out.data, b->out.bytes);
    while (lives) {
        state = host_ring_pop(&b->rings->answer, b->answer, &got, &bytes);
        if (state != HOST_RING_EMPTY) break;
        host_ring_wait(&b->rings->answer, HOST_BURST_TICK_NS);
        state = host_ring_pop(&b->rings->answer, b->answer, &got, &bytes);
        if (state != HOST_RING_EMPTY) break;
        lives = host_lives(b);
    }
    if (state == HOST_RING_FULL && got == kind) {
        host_in_begin(in, kind, b->answer, bytes);
        return true;
    }
    host_link_died(b->any.link);
    return false;
}

/* --------------------------------------------------------------------- memory */

static uint32_t find_slot(const struct burst *b, int64_t token) {
    for (uint32_t i = 0; i < HOST_BURST_SLOTS && token >= 0; i++)
        if (b->slots[i].used && !b->slots[i].once && b->slots[i].token == token) return i;
    return HOST_NO_FD;
}

/** Sends a descriptor into a free slot; HOST_NO_FD if there is none, or the host has died. */
static uint32_t send_slot(struct burst *b, int fd, int64_t token, bool once) {
    struct host_out o = {0};
    for (uint32_t i = 0; i < HOST_BURST_SLOTS; i++) {
        if (b->slots[i].used) continue;
        host_put_u32(&o, i);
        host_put_u32(&o, host_put_fd(&o, fd));
        bool ok = host_send(b->stream->socket, HOST_BURST_MEMORY, &o);
        host_out_end(&o);
        if (!ok) {
            host_link_died(b->any.link);
            return HOST_NO_FD;
        }
        b->sent++;
        b->slots[i] = (struct slot){true, once, token};
        return i;
    }
    return HOST_NO_FD;
}

/** What one execution needs. */
struct call {
    struct nnvts_memory sent[POOLS]; /* descriptors are slots */
    struct host_pools pools[POOLS];
    int64_t tokens[POOLS]; /* -1 for what is copied: it lies elsewhere the next time */
    uint32_t count;
    uint32_t once[POOLS], once_count;
};

static enum nnvts_status put_pool(struct burst *b, struct call *c, const struct nnvts_memory *m, int64_t token) {
    struct nnvts_memory *sent = &c->sent[c->count];
    struct host_pools *pools = &c->pools[c->count];
    *sent = *m;
    sent->data = NULL;
    uint32_t slot = m->kind == NNVTS_MEMORY_SHARED ? find_slot(b, token) : HOST_NO_FD;
    *pools = (struct host_pools){0};
    if (slot == HOST_NO_FD) {
        enum nnvts_status st = host_pools_begin(pools, m, 1);
        if (st != NNVTS_STATUS_NONE) return st;
        *sent = pools->sent[0];
        const bool once = token < 0 || pools->copies[0].fd >= 0;
        if (m->kind == NNVTS_MEMORY_SHARED && sent->fd >= 0) {
            slot = send_slot(b, sent->fd, token, once);
            if (slot == HOST_NO_FD) {
                host_pools_end(pools);
                return atomic_load(&b->any.link->dead) ? NNVTS_STATUS_DEAD_OBJECT
                                                       : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
            }
            if (once) c->once[c->once_count++] = slot;
        }
    }
    sent->fd = slot == HOST_NO_FD ? -1 : (int)slot;
    const bool copied = pools->copies && pools->copies[0].fd >= 0;
    c->tokens[c->count++] = copied && token >= 0 ? -1 : token;
    return NNVTS_STATUS_NONE;
}

static void end_call(struct burst *b, struct call *c) {
    for (uint32_t i = 0; i < c->once_count; i++) b->slots[c->once[i]].used = false;
    for (uint32_t i = 0; i < c->count; i++) host_pools_end(&c->pools[i]);
}

/* ------------------------------------------------------------------ executions */

static bool fits(const struct host_out *o) { return !o->failed && o->bytes < HOST_RING_BYTES / 4; }

/** The rings' way. *long_way: it does not fit. */
static enum nnvts_status run_in_rings(struct burst *b, const struct nnvts_request *request, const int64_t *tokens,
                                      const struct nnvts_execution_config *config,
                                      struct nnvts_execution_result *result, bool *long_way) {
    const uint32_t shapes = host_shapes(b->any.outputs, request);
    struct call c;
    struct host_in in;
    c.count = c.once_count = 0;
    enum nnvts_status st = NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < request->pool_count && st == NNVTS_STATUS_NONE; i++)
        st = put_pool(b, &c, &request->pools[i], tokens[i]);
    if (st == NNVTS_STATUS_NONE) {
        struct host_out *o = begin(b);
        host_put_request(o, request, c.sent);
        host_put_array(o, c.tokens, c.count, sizeof *c.tokens);
        host_put_array(o, c.once, c.once_count, sizeof *c.once);
        host_put_config(o, config);
        host_put_room(o, result, shapes);
        *long_way = !fits(o) && !o->invalid;
        if (o->invalid)
            st = NNVTS_STATUS_INVALID_ARGUMENT;
        else if (!*long_way)
            st = ask(b, HOST_BURST_EXECUTE, &in) ? host_take_result(b->any.link, &in, shapes, result)
                                                 : NNVTS_STATUS_DEAD_OBJECT;
        if (!*long_way)
            for (uint32_t i = 0; i < c.count; i++) host_pools_copy_out(&c.pools[i]);
    }
    end_call(b, &c);
    return st;
}

static enum nnvts_status run(struct host_burst *self, const struct nnvts_request *request, const int64_t *tokens,
                             const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    struct burst *b = (struct burst *)self;
    bool long_way = request->pool_count > POOLS;
    enum nnvts_status st = NNVTS_STATUS_DEAD_OBJECT;
    if (!atomic_load(&self->link->dead) && !long_way) st = run_in_rings(b, request, tokens, config, result, &long_way);
    if (!atomic_load(&self->link->dead) && long_way)
        st = host_execute(self->link, b->prepared, host_shapes(self->outputs, request), request, config, result);
    if (st == NNVTS_STATUS_DEAD_OBJECT) result->shape_count = 0;
    return st;
}

static enum nnvts_status release_memory(struct nnvts_burst *self, int64_t memory_token) {
    struct burst *b = (struct burst *)self;
    struct host_in in;
    enum nnvts_status st = NNVTS_STATUS_DEAD_OBJECT;
    pthread_mutex_lock(&b->any.busy);
    uint32_t slot = find_slot(b, memory_token);
    struct host_out *o = begin(b);
    host_put_u64(o, (uint64_t)memory_token);
    host_put_u32(o, slot);
    if (!o->failed && !atomic_load(&b->any.link->dead) && ask(b, HOST_BURST_FORGET, &in)) {
        st = host_answered(b->any.link, &in, host_get_status(&in));
        if (slot != HOST_NO_FD) b->slots[slot].used = false;
    }
    pthread_mutex_unlock(&b->any.busy);
    return st;
}

static void burst_free(struct burst *b) {
    if (b->rings) munmap(b->rings, sizeof *b->rings);
    host_out_end(&b->out);
    host_burst_end(&b->any);
}

static void release(struct nnvts_burst *self) {
    struct burst *b = (struct burst *)self;
    struct host_in in;
    begin(b);
    if (!atomic_load(&b->any.link->dead) && ask(b, HOST_RELEASE, &in)) {
        host_in_end(&in);
        host_stream_give_back(b->any.link, b->stream);
    } else {
        host_stream_close(b->stream);
    }
    burst_free(b);
}

/** Maps the rings and hands them over; *has: functions of the driver's burst, 0: it gave none. */
static enum nnvts_status open_burst(struct burst *b, uint32_t *has) {
    struct host_out o = {0};
    struct host_in in;
    int fd = host_memory_new(sizeof *b->rings);
    void *rings = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *b->rings, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    enum nnvts_status st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (rings != MAP_FAILED) {
        b->rings = rings;
        host_put_u64(&o, b->prepared);
        host_put_u32(&o, host_put_fd(&o, fd));
        st = host_ask_on(b->any.link, HOST_CREATE_BURST, &o, &in, &b->stream);
    }
    if (fd >= 0) close(fd);
    if (st != NNVTS_STATUS_NONE) return st;
    st = host_get_status(&in);
    *has = host_get_u32(&in);
    st = host_answered(b->any.link, &in, st);
    if (st != NNVTS_STATUS_NONE || *has == 0) host_stream_give_back(b->any.link, b->stream);
    return st;
}

enum nnvts_status host_create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    struct host_prepared *p = (struct host_prepared *)self;
    uint32_t has = 0;
    if (!out) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (!p->link->transport->shares_memory) return host_create_burst_calls(p, out);
    struct burst *b = calloc(1, sizeof *b);
    if (!b) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    host_burst_begin(&b->any, p);
    b->prepared = p->id;
    enum nnvts_status st = open_burst(b, &has);
    if (st != NNVTS_STATUS_NONE || has == 0) {
        burst_free(b);
        return st;
    }
    b->any.run = run;
    b->any.base = (struct nnvts_burst){sizeof b->any.base, host_burst_execute, release_memory, release};
    HOST_KEEP_FUNCTIONS(&b->any.base, nnvts_burst, execute, has);
    *out = &b->any.base;
    return st;
}
