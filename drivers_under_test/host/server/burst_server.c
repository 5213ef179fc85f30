/* SPDX-License-Identifier: Apache-2.0 */
/** @file burst_server.c The host's side of a burst: questions from a ring of shared memory. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../burst.h"
#include "../relay/frames.h"
#include "../ring.h"
#include "server.h"

struct burst {
    struct host_stream_server *stream;
    struct nnvts_burst *inner;
    struct nnvts_burst members;
    struct host_rings *rings;
    uint32_t outputs;  /* of the model; 0: not known */
    uint32_t received; /* descriptors */
    int slots[HOST_BURST_SLOTS];
    struct host_in in;
    uint8_t question[HOST_RING_BYTES];
};

static void slot_close(struct burst *b, uint32_t slot) {
    if (b->slots[slot] >= 0) close(b->slots[slot]);
    b->slots[slot] = -1;
}

/** One BURST_MEMORY; false if what comes is none. */
static bool receive_slot(struct burst *b) {
    struct host_in in;
    if (host_receive(b->stream->socket, &in) != HOST_GOT) return false;
    uint32_t slot = host_get_u32(&in);
    int fd = host_get_fd(&in);
    bool ok = in.kind == HOST_BURST_MEMORY && host_in_done(&in) && slot < HOST_BURST_SLOTS && fd >= 0 &&
              in.keep.fd_count == 1;
    if (ok) {
        slot_close(b, slot);
        b->slots[slot] = fd;
        in.keep.fd_count = 0;
    }
    host_in_end(&in);
    return ok;
}

/** A question's descriptors are the slots, which must not end with it. */
static void begin(struct burst *b, uint32_t kind, size_t bytes) {
    host_in_begin(&b->in, kind, b->question, bytes);
    memcpy(b->in.keep.fds, b->slots, sizeof b->slots);
    b->in.keep.fd_count = HOST_BURST_SLOTS;
}

static void end(struct burst *b) {
    b->in.keep.fd_count = 0;
    host_in_end(&b->in);
}

static bool serve_execute(struct burst *b, struct host_out *out) {
    struct host_in *in = &b->in;
    struct nnvts_request request;
    struct nnvts_execution_result result;
    uint32_t given, token_count, once_count;
    host_request(host_reading(in), &request);
    const int64_t *tokens = host_get_array(in, sizeof *tokens, &token_count);
    const uint32_t *once = host_get_array(in, sizeof *once, &once_count);
    struct nnvts_execution_config config;
    host_config(host_reading(in), &config);
    host_get_room(in, host_shapes_needed(b->outputs, &request), &result, &given);
    if (!host_in_done(in) || token_count != request.pool_count) return false;
    for (uint32_t i = 0; i < once_count; i++)
        if (once[i] >= HOST_BURST_SLOTS) return false;
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    const uint64_t began_ns = host_now_ns();
    if (!in->invalid && b->members.execute)
        st = b->members.execute(b->inner, &request, tokens, &config, &result);
    else
        result.shape_count = 0;
    host_tell_time(&result.timing, config.measure_timing, st, host_now_ns() - began_ns);
    for (uint32_t i = 0; i < once_count; i++) slot_close(b, once[i]);
    host_put_status(out, st);
    host_put_result(out, &result, given);
    return true;
}

static bool serve_forget(struct burst *b, struct host_out *out) {
    int64_t token = (int64_t)host_get_u64(&b->in);
    uint32_t slot = host_get_u32(&b->in);
    if (!host_in_done(&b->in) || (slot != HOST_NO_FD && slot >= HOST_BURST_SLOTS)) return false;
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    if (b->members.release_memory) st = b->members.release_memory(b->inner, token);
    if (slot != HOST_NO_FD) slot_close(b, slot);
    host_put_status(out, st);
    return true;
}

/** Takes the descriptors that were sent before b->question; false if the client broke the rules. */
static bool receive_slots(struct burst *b, size_t bytes) {
    uint32_t sent;
    if (bytes < sizeof sent) return false;
    memcpy(&sent, b->question, sizeof sent);
    while (b->received != sent) {
        if (!receive_slot(b)) return false;
        b->received++;
    }
    return true;
}

/** Reads b->question and answers it; false if the client broke the rules. */
static bool serve_question(struct burst *b, uint32_t kind, size_t bytes, struct host_out *out) {
    host_out_end(out);
    begin(b, kind, bytes);
    host_get_u32(&b->in); /* the number just read */
    bool ok = kind == HOST_BURST_EXECUTE ? serve_execute(b, out) : kind == HOST_BURST_FORGET && serve_forget(b, out);
    end(b);
    return ok && !out->failed;
}

static bool client_lives(const struct burst *b) {
    struct pollfd stream = {b->stream->socket, 0, 0}; /* whatever is unread: only the end matters */
    return !host_closing(b->stream->session) && poll(&stream, 1, 0) <= 0;
}

/** Until the client releases the burst (true), goes, or breaks the rules. */
static bool serve_rings(struct burst *b) {
    struct host_out out = {0};
    uint32_t kind;
    size_t bytes;
    bool released = false;
    for (bool ok = true; ok && !released;) {
        enum host_ring_state state = host_ring_pop(&b->rings->ask, b->question, &kind, &bytes);
        if (state == HOST_RING_EMPTY) {
            host_ring_wait(&b->rings->ask, HOST_BURST_TICK_NS);
            state = host_ring_pop(&b->rings->ask, b->question, &kind, &bytes);
            ok = state != HOST_RING_EMPTY || client_lives(b);
        }
        if (state == HOST_RING_EMPTY) continue;
        ok = state == HOST_RING_FULL && receive_slots(b, bytes);
        released = ok && kind == HOST_RELEASE;
        ok = released || (ok && serve_question(b, kind, bytes, &out));
        if (ok && !released) ok = host_ring_push(&b->rings->answer, kind, out.data, out.bytes);
    }
    host_out_end(&out);
    return released;
}

/** The rings in the client's memory; NULL if it is not of the right size, or could shrink. */
static struct host_rings *map_rings(int fd) {
    if (fd < 0 || !host_memory_holds(fd, 0, sizeof(struct host_rings))) return NULL;
    void *p = mmap(NULL, sizeof(struct host_rings), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/** Serves the burst that the driver gave; the stream is a burst's until that ends. */
static enum host_reply serve_burst(struct burst *b, struct host_out *out) {
    host_put_status(out, NNVTS_STATUS_NONE);
    host_put_u32(out, HOST_FUNCTIONS(&b->members, nnvts_burst, execute));
    bool released = host_send(b->stream->socket, HOST_CREATE_BURST, out) && serve_rings(b);
    if (b->members.release) b->members.release(b->inner);
    for (uint32_t i = 0; i < HOST_BURST_SLOTS; i++) slot_close(b, i);
    if (released) {
        struct host_out done = {0};
        host_put_status(&done, NNVTS_STATUS_NONE);
        released = host_ring_push(&b->rings->answer, HOST_RELEASE, done.data, done.bytes);
        host_out_end(&done);
    }
    return released ? HOST_REPLIED : HOST_END;
}

enum host_reply host_serve_burst(struct host_stream_server *stream, struct host_in *in, struct host_out *out) {
    struct host_session *s = stream->session;
    uint64_t id = host_get_u64(in);
    int fd = host_get_fd(in);
    if (!host_in_done(in)) return HOST_END;
    struct host_object *prepared = host_object_get(s, id, HOST_PREPARED);
    if (fd < 0) {
        host_create_burst_object(s, prepared, out);
        host_object_put(s, prepared);
        return HOST_REPLY;
    }
    struct burst *b = calloc(1, sizeof *b);
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    enum host_reply reply = HOST_REPLY;
    if (b) b->rings = map_rings(fd);
    if (b && b->rings && prepared && prepared->members.prepared.create_burst) {
        b->stream = stream;
        b->outputs = prepared->outputs;
        for (uint32_t i = 0; i < HOST_BURST_SLOTS; i++) b->slots[i] = -1;
        st = prepared->members.prepared.create_burst(prepared->inner.prepared, &b->inner);
        if (st == NNVTS_STATUS_NONE && b->inner) {
            host_members(&b->members, sizeof b->members, b->inner, b->inner->struct_size);
            reply = serve_burst(b, out);
        }
    }
    if (reply == HOST_REPLY) {
        host_put_status(out, st);
        host_put_u32(out, 0);
    }
    if (b && b->rings) munmap(b->rings, sizeof *b->rings);
    free(b);
    host_object_put(s, prepared);
    return reply;
}
