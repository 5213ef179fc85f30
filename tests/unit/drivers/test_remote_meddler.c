/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The whole way to a driver of another machine, with somebody in the middle who has the key: client, relay, frames,
 * relay, server. Messages are changed, cut, repeated, left out or made up before they are sealed again. Whatever comes
 * of it, each side ends or goes on, and nothing is left. Deterministic: seeds are numbers of iterations.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/kit/driver.h"

#include "drivers_under_test/host/client.h"
#include "drivers_under_test/host/relay/relay.h"
#include "drivers_under_test/host/server/server.h"
#include "tests/kit/host_garbage.h"
#include "tests/kit/host_walker.h"

enum { ROUNDS = 300, SILENCE_MS = 20, QUIET_MESSAGES = 12 };
static const uint64_t SECONDS_10 = 10000000000;
static const struct host_key key = {"0123456789abcdef", 16};

static uint64_t seed;
static int meddled, untouched; /* connections that were, and messages that passed as they were */

/** From the client to the server: near, then who is in the middle with an end to each, then far. */
struct line {
    struct host_frames near, to_near, to_far, far;
    struct host_relay relays[2];
    int ends[2][2], host[2];
    pthread_t near_thread, middle_thread, far_thread, host_thread;
};

/* ------------------------------------------------------------------- in the middle */

static struct host_out changed(const uint8_t *data, size_t bytes) {
    struct host_out o = {0};
    host_put_bytes(&o, data, bytes);
    if (bytes < 4) return o;
    switch (below(5)) {
    case 0:
        o.bytes -= below((uint32_t)bytes) + 1;
        break;
    case 1:
        o.data[0] = (uint8_t)below(12); /* another message */
        break;
    case 2:
        for (uint32_t n = below(8); n > 0; n--) host_put_u32(&o, nasty());
        break;
    default:
        mutate_payload(o.data, o.bytes);
    }
    return o;
}

static bool hand_on(struct host_frames *to, struct host_out o) {
    if (!host_frames_put(to, &o)) return false;
    while (host_frames_flush(to)) {
        if (!host_frames_waiting(to)) return true;
        if (!host_wait(to->out, POLLOUT, SECONDS_10)) return false;
    }
    return false;
}

/** All that has come from there. False: it is over. */
static bool meddle(struct host_frames *from, struct host_frames *to, int *messages, bool *touched) {
    const uint8_t *data;
    size_t bytes;
    enum host_framed got;
    while ((got = host_frames_get(from, &data, &bytes)) == HOST_FRAMED) {
        struct host_out same = {0};
        const bool now = ++*messages > QUIET_MESSAGES && below(6) == 0;
        const uint32_t how = now ? below(6) : 0;
        *touched |= now;
        untouched += !now;
        if (now && how == 0) continue; /* left out */
        if (now && how > 1 && !hand_on(to, changed(data, bytes))) return false;
        if (now && how > 2) continue;
        host_put_bytes(&same, data, bytes); /* as it was, or once more, or after something else */
        if (!hand_on(to, same)) return false;
    }
    return got == HOST_FRAMED_NONE;
}

static void *be_in_the_middle(void *arg) {
    struct line *l = arg;
    struct pollfd p[2] = {{l->to_near.in, POLLIN, 0}, {l->to_far.in, POLLIN, 0}};
    int messages = 0;
    bool touched = false;
    random_state = seed;
    for (;;) {
        /* an answer that will never come: the line breaks */
        if (poll(p, 2, SILENCE_MS) == 0 && touched) break;
        if (!meddle(&l->to_near, &l->to_far, &messages, &touched)) break;
        if (!meddle(&l->to_far, &l->to_near, &messages, &touched)) break;
    }
    meddled += touched;
    shutdown(l->ends[0][1], SHUT_RDWR);
    shutdown(l->ends[1][0], SHUT_RDWR);
    return NULL;
}

/* ------------------------------------------------------------------------ the line */

static void *run_near(void *arg) {
    struct line *l = arg;
    host_relay_run(&l->relays[0]);
    host_relay_end(&l->relays[0]);
    shutdown(l->ends[0][0], SHUT_RDWR);
    return NULL;
}
static void *run_far(void *arg) {
    struct line *l = arg;
    host_relay_run(&l->relays[1]);
    host_relay_end(&l->relays[1]);
    shutdown(l->ends[1][1], SHUT_RDWR);
    return NULL;
}
static void *run_host(void *arg) {
    const struct line *l = arg;
    host_serve(&walker, NULL, l->host[1]);
    return NULL;
}
static void *accept_frames(void *frames) { return (void *)(uintptr_t)host_frames_accept(frames, &key, SECONDS_10); }

static void meet(struct host_frames *client, struct host_frames *server, int ends[2]) {
    pthread_t thread;
    void *wrong;
    bool again;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    client->in = client->out = ends[0];
    server->in = server->out = ends[1];
    server->cache_bytes = 1 << 16;
    assert_int_equal(pthread_create(&thread, NULL, accept_frames, server), 0);
    assert_null(host_frames_connect(client, &key, SECONDS_10, &again));
    pthread_join(thread, &wrong);
    assert_null(wrong);
}

static enum nnvts_status line_connect(const char *driver, const char *options, int socket, void **peer,
                                      const char **error) {
    struct line *l = calloc(1, sizeof *l);
    (void)driver, (void)options, (void)error;
    meet(&l->near, &l->to_near, l->ends[0]);
    meet(&l->to_far, &l->far, l->ends[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, l->host), 0);
    assert_true(host_relay_begin(&l->relays[0], &l->near, false, dup(socket), -1));
    assert_true(host_relay_begin(&l->relays[1], &l->far, true, l->host[0], -1));
    assert_int_equal(pthread_create(&l->host_thread, NULL, run_host, l), 0);
    assert_int_equal(pthread_create(&l->far_thread, NULL, run_far, l), 0);
    assert_int_equal(pthread_create(&l->middle_thread, NULL, be_in_the_middle, l), 0);
    assert_int_equal(pthread_create(&l->near_thread, NULL, run_near, l), 0);
    *peer = l;
    return NNVTS_STATUS_NONE;
}
static void line_stop(void *peer) {
    const struct line *l = peer;
    shutdown(l->ends[0][0], SHUT_RDWR);
}
static void line_unref(void *peer) {
    struct line *l = peer;
    struct host_frames *const frames[] = {&l->near, &l->to_near, &l->to_far, &l->far};
    pthread_join(l->near_thread, NULL);
    pthread_join(l->middle_thread, NULL);
    pthread_join(l->far_thread, NULL);
    pthread_join(l->host_thread, NULL);
    for (int i = 0; i < 4; i++) {
        host_frames_end(frames[i]);
        close(l->ends[i / 2][i % 2]);
    }
    free(l);
}

/* ---------------------------------------------------------------------- the client */

/** Prepares, executes, and releases. */
static void use(struct nnvts_device *device, const struct nnvts_model *model, int memory) {
    const uint32_t dims[] = {2, 3};
    const struct nnvts_argument a = {.location = {.length = 24}, .dimension_count = 2, .dimensions = dims};
    const struct nnvts_memory pool = {.prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE, .fd = memory, .size = 4096};
    const struct nnvts_request request = {1, 1, 1, &a, &a, &pool};
    const struct nnvts_prepare_config config = {.deadline_ns = NNVTS_NO_TIME};
    struct nnvts_prepared_model *prepared = NULL;
    bool supported[4];
    uint32_t room[4];
    if (device->prepare_model(device, model, &config, &prepared) != NNVTS_STATUS_NONE) return;
    for (int i = 0; i < 3; i++) {
        struct nnvts_output_shape shape = {.dimension_count = 4, .dimensions = room};
        struct nnvts_execution_result result = {.shapes = &shape};
        prepared->execute(prepared, &request, &plain, &result);
        device->get_supported_operations(device, model, supported);
    }
    prepared->release(prepared);
}

static void test_with_the_key(void **state) {
    (void)state;
    static const struct host_transport transport = {line_connect, line_stop, line_unref, false};
    static struct net n;
    const uint32_t x = input(&n, F32, DIMS(2, 3)), y = output(&n, F32, DIMS(2, 3));
    operation(&n, ANEURALNETWORKS_ADD, LIST(x, x, integer(&n, 0)), LIST(y));
    const struct nnvts_model *model = finish(&n);
    const int memory = host_memory_new(4096), before = descriptors();
    for (seed = 0; seed < ROUNDS; seed++) {
        struct nnvts_device *device;
        const char *error = NULL;
        if (host_device_open(&transport, strdup("walker"), NULL, &device, &error) == NNVTS_STATUS_NONE) {
            use(device, model, memory);
            use(device, model, memory);
            device->release(device);
        }
        assert_int_equal(atomic_load(&walker_objects), 0);
        assert_int_equal(atomic_load(&walker_bad), 0);
        assert_int_equal(descriptors(), before);
    }
    assert_true(meddled > ROUNDS / 2 && untouched > 10 * ROUNDS);
    close(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_with_the_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
