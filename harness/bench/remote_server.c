/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: a process for each client, so that a bad one harms no other, and in it a process for each measurement.
 * One measurement runs at a time, whoever asked for it: two would measure each other.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/hmac.h"
#include "harness/bench/remote_wire.h"
#include "harness/client/memory.h"
#include "base/process.h"
#include "harness/runner/signals.h"

enum { MOST_CLIENTS = 64, TICK_MS = 100 };
static const uint64_t GREETING_NS = UINT64_C(5000000000);

/* ------------------------------------------------------------------- one client */

struct client {
    const struct nnv_serve_options *o;
    int fd, lock;
};

static bool answer(const struct client *c, enum nnv_remote_kind kind, struct nnv_text *payload) {
    bool ok = nnv_remote_send(c->fd, kind, payload, c->o->message_ns);
    nnv_text_free(payload);
    return ok;
}

static void refuse(const struct client *c, const char *why) {
    struct nnv_text t = {0};
    nnv_remote_put_text(&t, why);
    answer(c, NNV_REMOTE_REFUSED, &t);
}

/* Waits for a message of one kind; anything else ends the connection. */
static bool expect(const struct client *c, enum nnv_remote_kind kind, size_t most, uint64_t idle_ns,
                   struct nnv_remote_message *m) {
    struct nnv_err err = {0};
    enum nnv_status s =
        nnv_remote_receive(c->fd, most, idle_ns, c->o->message_ns < idle_ns ? c->o->message_ns : idle_ns, m, &err);
    if (s == NNV_OK && m->kind != kind) {
        free(m->payload);
        m->payload = NULL;
        s = nnv_fail(&err, NNV_INVALID, "a message that was not expected");
    }
    if (s == NNV_INVALID || s == NNV_TIMEOUT || s == NNV_NO_MEMORY) refuse(c, err.text);
    return s == NNV_OK;
}

/* Both sides prove that they have the key, where there is one. */
static bool greet(const struct client *c) {
    /* Whoever has not proved yet that he may measure gets no place for long. */
    const uint64_t idle_ns = c->o->idle_ns < GREETING_NS ? c->o->idle_ns : GREETING_NS;
    struct nnv_remote_message m;
    uint8_t own[NNV_REMOTE_NONCE], theirs[NNV_REMOTE_NONCE] = {0}, proof[NNV_SHA256_BYTES];
    struct nnv_text t = {0};
    bool keyed = c->o->key && c->o->key->bytes;
    if (!expect(c, NNV_REMOTE_HELLO, NNV_REMOTE_SHORT, idle_ns, &m)) return false;
    struct nnv_remote_in in = {.data = m.payload, .bytes = m.bytes};
    uint32_t version = nnv_remote_get_u32(&in);
    const void *nonce = nnv_remote_get_bytes(&in, NNV_REMOTE_NONCE);
    if (nonce) memcpy(theirs, nonce, NNV_REMOTE_NONCE);
    bool ok = nnv_remote_in_done(&in);
    free(m.payload);
    if (!ok || version != NNV_REMOTE_VERSION) return refuse(c, "another version of the protocol"), false;
    if (!nnv_remote_nonce(own)) return refuse(c, "there are no random numbers"), false;
    nnv_remote_put_u32(&t, NNV_REMOTE_VERSION);
    nnv_remote_put_u32(&t, keyed);
    nnv_text_add_n(&t, (const char *)own, sizeof own);
    if (!answer(c, NNV_REMOTE_WELCOME, &t) || !keyed) return !keyed;
    if (!expect(c, NNV_REMOTE_PROOF, NNV_REMOTE_SHORT, idle_ns, &m)) return false;
    nnv_remote_proof(c->o->key, "client", theirs, own, proof);
    ok = m.bytes == sizeof proof && nnv_hmac_equal(m.payload, proof);
    free(m.payload);
    if (!ok) return refuse(c, "the key is another one"), false;
    nnv_remote_proof(c->o->key, "server", theirs, own, proof);
    t = (struct nnv_text){0};
    nnv_text_add_n(&t, (const char *)proof, sizeof proof);
    return answer(c, NNV_REMOTE_PROOF, &t);
}

static bool introduce(const struct client *c) {
    struct nnv_text t = {0};
    nnv_remote_put_text(&t, c->o->device);
    nnv_remote_put_text(&t, c->o->version);
    nnv_remote_put_text(&t, c->o->driver);
    return answer(c, NNV_REMOTE_DEVICE, &t);
}

/* A model that can't be measured is answered; what is no message at all ends the connection. */
static bool measure(const struct client *c, const struct nnv_remote_message *m) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_remote_in in = {.data = m->payload, .bytes = m->bytes};
    struct nnv_timing_options timing = c->o->timing;
    struct nnv_timed timed = {.state = NNV_BENCH_ERROR};
    struct nnv_model model;
    struct nnv_err err = {0};
    uint64_t time_ns = 0;
    enum nnv_status s = arena ? nnv_remote_get_measure(&in, arena, &time_ns, &model, &err) : nnv_no_memory(&err);
    if (s == NNV_OK) {
        if (time_ns && time_ns < timing.time_ns) timing.time_ns = time_ns;
        while (c->lock >= 0 && flock(c->lock, LOCK_EX) != 0 && errno == EINTR) {}
        s = nnv_time_model(&model, &timing, &timed, &err);
        if (c->lock >= 0) flock(c->lock, LOCK_UN);
    }
    nnv_arena_free(arena);
    if (s != NNV_OK) {
        timed = (struct nnv_timed){.state = s == NNV_UNSUPPORTED ? NNV_BENCH_UNSUPPORTED : NNV_BENCH_ERROR};
        snprintf(timed.reason, sizeof timed.reason, "%.*s", (int)sizeof timed.reason - 1, err.text);
    }
    struct nnv_text t = {0};
    nnv_remote_put_times(&t, &timed);
    return answer(c, NNV_REMOTE_TIMES, &t);
}

void nnv_serve_client(const struct nnv_serve_options *options, int fd, int lock) {
    struct client c = {options, fd, lock};
    struct nnv_remote_message m;
    if (!greet(&c) || !introduce(&c)) return;
    bool more = true;
    while (more && expect(&c, NNV_REMOTE_MEASURE, NNV_REMOTE_MODEL, c.o->idle_ns, &m)) {
        more = measure(&c, &m);
        free(m.payload);
    }
}

/* ------------------------------------------------------------------- the address */

static bool is_loopback(const struct sockaddr *a) {
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static enum nnv_status open_socket(const struct nnv_serve_options *o, const struct addrinfo *a, int *fd,
                                   struct nnv_err *err) {
    const int one = 1;
    if (!is_loopback(a->ai_addr) && !(o->key && o->key->bytes))
        return nnv_fail(err, NNV_INVALID,
                        "--listen %s: others could reach this address; give --key-file, or listen on 127.0.0.1",
                        o->listen);
    *fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0) return nnv_fail(err, NNV_IO, "--listen %s: %s", o->listen, strerror(errno));
    if (setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) || bind(*fd, a->ai_addr, a->ai_addrlen) ||
        listen(*fd, 16)) {
        int number = errno;
        close(*fd);
        return nnv_fail(err, NNV_IO, "--listen %s: %s", o->listen, strerror(number));
    }
    return NNV_OK;
}

/* The address that is listened on, as text with its port. */
static void tell(const struct nnv_serve_options *o, int fd) {
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;
    char host[64], port[16], address[96];
    if (!o->ready || getsockname(fd, (struct sockaddr *)&a, &n) ||
        getnameinfo((struct sockaddr *)&a, n, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV))
        return;
    snprintf(address, sizeof address, a.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    o->ready(o->context, address);
}

/* ---------------------------------------------------------------------- clients */

struct clients {
    pid_t pid[MOST_CLIENTS];
    uint32_t n;
};

static void reap(struct clients *all, bool kill_them) {
    for (uint32_t i = 0; i < all->n;) {
        struct nnv_end end;
        if (kill_them) nnv_process_wait(all->pid[i], 0, &end);
        if (kill_them || nnv_process_ended(all->pid[i], &end))
            all->pid[i] = all->pid[--all->n];
        else
            i++;
    }
}

/* The lock of measurements, opened anew: a lock belongs to what is opened, not to the process. */
static int open_lock(int memory) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    return open(path, O_RDWR | O_CLOEXEC);
}

static void take_client(const struct nnv_serve_options *o, int listener, int memory, struct clients *all) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    uint32_t most = o->most_clients && o->most_clients < MOST_CLIENTS ? o->most_clients : MOST_CLIENTS;
    pid_t pid = -1;
    if (all->n < most) pid = nnv_process_fork();
    if (pid == 0) {
        close(listener);
        nnv_serve_client(o, fd, open_lock(memory));
        _exit(0);
    }
    if (pid > 0)
        all->pid[all->n++] = pid;
    else
        refuse(&(struct client){o, fd, -1}, "too many clients; try again later");
    close(fd);
}

enum nnv_status nnv_serve(const struct nnv_serve_options *o, struct nnv_err *err) {
    struct nnv_signals before;
    struct clients all = {.n = 0};
    struct addrinfo *address = NULL;
    int listener = -1, memory = nnv_memory_file("nnvts-serve", 0, 0);
    if (memory < 0) return nnv_fail(err, NNV_IO, "a file in memory: %s", strerror(errno));
    enum nnv_status s = nnv_remote_address(o->listen, true, &address, err);
    if (s == NNV_OK) s = open_socket(o, address, &listener, err);
    if (address) freeaddrinfo(address);
    if (s == NNV_OK) {
        nnv_signals_take(&before, NULL);
        tell(o, listener);
        while (!nnv_signals_interrupts()) {
            struct pollfd p = {.fd = listener, .events = POLLIN};
            if (poll(&p, 1, TICK_MS) > 0) take_client(o, listener, memory, &all);
            reap(&all, false);
        }
        reap(&all, true);
        nnv_signals_give_back(&before);
        close(listener);
    }
    close(memory);
    return s;
}
