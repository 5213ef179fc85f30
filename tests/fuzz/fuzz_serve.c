/* SPDX-License-Identifier: Apache-2.0 */
/* What a server of measurements reads: frames of a stream, and the models and answers in them. */
#include <sys/socket.h>
#include <unistd.h>

#include "harness/bench/remote_wire.h"
#include "tests/fuzz/target.h"

/* A model that is read is written as the same bytes, and read again. */
static void measure(const uint8_t *data, size_t size, struct nnv_arena *arena) {
    struct nnv_remote_in in = {.data = data, .bytes = size};
    struct nnv_model m, again;
    struct nnv_err err = {0};
    struct nnv_text t = {0};
    uint64_t time_ns = 0;
    enum nnv_status s = nnv_remote_get_measure(&in, arena, &time_ns, &m, &err);
    MUST((s == NNV_OK) == (err.text[0] == '\0'));
    if (s != NNV_OK) return;
    nnv_remote_put_measure(&t, time_ns, &m);
    if (!t.failed) {
        in = (struct nnv_remote_in){.data = (const uint8_t *)t.data, .bytes = t.len};
        MUST(nnv_remote_get_measure(&in, arena, &time_ns, &again, &err) == NNV_OK);
        uint64_t bytes;
        MUST(nnv_model_bytes(&again, &bytes) && bytes <= UINT64_C(1) << 30);
    }
    nnv_text_free(&t);
}

static void times(const uint8_t *data, size_t size) {
    struct nnv_remote_in in = {.data = data, .bytes = size};
    struct nnv_timed t;
    if (!nnv_remote_get_times(&in, &t)) return;
    MUST(t.state <= NNV_BENCH_ERROR && memchr(t.reason, 0, sizeof t.reason));
    MUST(t.state != NNV_BENCH_DONE || (t.us >= 0 && t.low_us <= t.high_us));
}

/* The input as what comes on a socket, until its end. */
static void stream(const uint8_t *data, size_t size, struct nnv_arena *arena) {
    int pair[2];
    struct nnv_remote_message m;
    struct nnv_err err = {0};
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    MUST(send(pair[1], data, size, 0) == (ssize_t)size);
    close(pair[1]);
    while (nnv_remote_receive(pair[0], NNV_REMOTE_MODEL, 1000000000, 1000000000, &m, &err) == NNV_OK) {
        MUST(m.kind >= NNV_REMOTE_HELLO && m.kind < NNV_REMOTE_KINDS);
        if (m.kind == NNV_REMOTE_MEASURE) measure(m.payload, m.bytes, arena);
        if (m.kind == NNV_REMOTE_TIMES) times(m.payload, m.bytes);
        free(m.payload);
    }
    MUST(err.text[0]);
    close(pair[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct nnv_arena *arena = scratch();
    if (!size) return 0;
    switch (data[0] % 3) {
    case 0:
        measure(data + 1, size - 1, arena);
        break;
    case 1:
        times(data + 1, size - 1);
        break;
    case 2:
        stream(data + 1, size - 1, arena);
        break;
    }
    return 0;
}
