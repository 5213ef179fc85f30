/* SPDX-License-Identifier: Apache-2.0 */
/* What nnvts-host reads: questions of a client, and what a relay of another machine says. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers_under_test/host/relay/relay.h"
#include "drivers_under_test/host/server/server.h"
#include "tests/fuzz/target.h"
#include "tests/kit/host_walker.h"

enum { MESSAGE_BYTES = 1 << 12 };

/* The next message of the input: two bytes say how long it is, at most. */
static struct host_out next(const uint8_t **data, size_t *size) {
    struct host_out o = {0};
    size_t bytes = ((*data)[0] | (size_t)(*data)[1] << 8) % MESSAGE_BYTES;
    *data += 2;
    *size -= 2;
    if (bytes > *size) bytes = *size;
    host_put_bytes(&o, *data, bytes);
    *data += bytes;
    *size -= bytes;
    return o;
}

static void *serve(void *arg) {
    host_serve(&walker, NULL, *(int *)arg);
    return NULL;
}

/* Messages after a hello, each with a file; their first byte is the kind. All objects are released in the end. */
static void client(const uint8_t *data, size_t size) {
    static struct host_in in;
    pthread_t thread;
    int pair[2], file = host_memory_new(MESSAGE_BYTES);
    struct host_out o = {0};
    MUST(file >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    MUST(pthread_create(&thread, NULL, serve, &pair[1]) == 0);
    MUST(host_send(pair[0], HOST_HELLO, &o) && host_receive(pair[0], &in) == HOST_GOT);
    host_in_end(&in);
    for (bool open = true; open && size > 2;) {
        const uint32_t kind = *data % HOST_KINDS;
        data++, size--;
        o = next(&data, &size);
        host_put_fd(&o, file);
        open = kind != HOST_CREATE_BURST && host_send(pair[0], kind, &o) && host_receive(pair[0], &in) == HOST_GOT;
        if (open) host_in_end(&in);
        host_out_end(&o);
    }
    close(pair[0]);
    close(file);
    pthread_join(thread, NULL);
    MUST(atomic_load(&walker_objects) == 0 && atomic_load(&walker_bad) == 0);
}

/* Two ends of a stream without a key; accepting needs a thread of its own. */
static void *accept_frames(void *arg) {
    static const struct host_key none;
    MUST(host_frames_accept(arg, &none, 10000000000) == NULL);
    return NULL;
}

static void relay(const uint8_t *data, size_t size) {
    static const struct host_key none;
    static struct host_frames near, far;
    static struct host_relay r;
    pthread_t thread;
    int ends[2], root[2];
    bool again;
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, root) == 0);
    near = (struct host_frames){.in = ends[0], .out = ends[0]};
    far = (struct host_frames){.in = ends[1], .out = ends[1], .cache_bytes = 1 << 16};
    MUST(pthread_create(&thread, NULL, accept_frames, &far) == 0);
    MUST(host_frames_connect(&near, &none, 10000000000, &again) == NULL);
    pthread_join(thread, NULL);
    while (size > 2) {
        struct host_out o = next(&data, &size);
        MUST(host_frames_put(&near, &o) && host_frames_flush(&near));
    }
    shutdown(ends[0], SHUT_WR);
    r = (struct host_relay){0};
    MUST(host_relay_begin(&r, &far, true, root[1], -1));
    host_relay_run(&r);
    host_relay_end(&r);
    host_frames_end(&near);
    host_frames_end(&far);
    close(root[0]);
    close(ends[0]);
    close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    if (data[0] % 2)
        client(data + 1, size - 1);
    else
        relay(data + 1, size - 1);
    return 0;
}
