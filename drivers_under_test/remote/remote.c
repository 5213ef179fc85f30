/* SPDX-License-Identifier: Apache-2.0 */
/** @file remote.c The driver "remote": a driver of another machine, behind nnvts-host there. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/text.h"
#include "host/client.h"
#include "host/relay/relay.h"
#include "place.h"

static const uint64_t GREETING_NS = 5000000000, STARTED_GREETING_NS = 20000000000;
enum { AGAIN_NS = 200000000 };

/** One connection, for one link, and the thread that relays. */
struct board {
    struct remote_place place;
    struct host_frames frames;
    struct host_relay relay;
    int stream;
    pid_t owner, child;
    atomic_bool stopped;
    pthread_t thread;
};

static void *relay(void *arg) {
    struct board *b = arg;
    const char *wrong = host_relay_run(&b->relay);
    if (wrong && !atomic_load(&b->stopped)) fprintf(stderr, "remote: %s: %s\n", b->place.host, wrong);
    host_relay_end(&b->relay); /* the client's sockets see the end */
    return NULL;
}

/* ------------------------------------------------------------------- connecting */

static const char *say(const struct board *b, const char *why) {
    return common_keep_textf("%.255s: %s", remote_place_name(&b->place), why);
}

static void hang_up(struct board *b) {
    if (b->stream >= 0) close(b->stream);
    b->stream = -1;
    host_frames_end(&b->frames);
    if (b->child > 0 && b->owner == getpid()) {
        kill(b->child, SIGTERM);
        waitpid(b->child, NULL, 0);
    }
    b->child = 0;
}

/** Names the driver; NULL, or why there is none. */
static const char *open_driver(struct board *b, bool *again) {
    static _Thread_local struct host_in in;
    struct host_out o = {0};
    const uint8_t *data;
    size_t bytes;
    enum host_framed got = HOST_FRAMED_NONE;
    host_put_u32(&o, HOST_RELAY_OPEN);
    host_put_text(&o, b->place.transport == REMOTE_TCP ? b->place.driver : "");
    bool ok = host_frames_put(&b->frames, &o) && host_frames_flush(&b->frames);
    while (ok && (got = host_frames_get(&b->frames, &data, &bytes)) == HOST_FRAMED_NONE)
        ok = host_wait(b->stream, POLLIN, GREETING_NS);
    *again = got != HOST_FRAMED;
    if (*again) return say(b, "the connection ends before a driver is opened");
    host_in_begin(&in, 0, data, bytes);
    const bool opened = host_get_u32(&in) == HOST_RELAY_OPENED;
    const char *why = host_get_text(&in);
    *again = host_get_u32(&in) == 1;
    if (!opened || !host_in_done(&in)) why = "the other end does not speak the protocol of nnvts-host";
    if (why) why = say(b, why);
    host_in_end(&in);
    return why;
}

static const char *try_once(struct board *b, const struct host_key *key, bool *again) {
    const char *why = NULL;
    b->stream = remote_reach(&b->place, &b->child, &why, again);
    if (b->stream < 0) return why;
    b->frames.in = b->frames.out = b->stream;
    why = host_frames_connect(&b->frames, key, b->place.transport == REMOTE_TCP ? GREETING_NS : STARTED_GREETING_NS,
                              again);
    why = why ? say(b, why) : open_driver(b, again);
    if (why) hang_up(b);
    return why;
}

/** Until the place answers: a board may just be starting again. NULL; or why not, and *status where that is known. */
static const char *reach(struct board *b, const struct host_key *key, enum nnvts_status *status) {
    const uint64_t until = host_now_ns() + b->place.wait_ns;
    for (;;) {
        bool again;
        b->frames = (struct host_frames){0};
        const char *why = try_once(b, key, &again);
        if (why && again) *status = NNVTS_STATUS_DEVICE_UNAVAILABLE;
        if (!why || !again || host_now_ns() >= until) return why;
        nanosleep(&(struct timespec){0, AGAIN_NS}, NULL);
    }
}

static bool start(struct board *b, int socket) {
    sigset_t all, before;
    const int root = dup(socket);
    if (root < 0 || !host_relay_begin(&b->relay, &b->frames, false, root, -1)) return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool ok = pthread_create(&b->thread, NULL, relay, b) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!ok) host_relay_end(&b->relay);
    return ok;
}

/** Connects and starts to relay. */
static enum nnvts_status begin(struct board *b, const char *text, int socket, const char **error) {
    struct host_key *key = calloc(1, sizeof *key);
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    *error = key ? remote_place_read(text, &b->place) : "out of memory";
    if (!*error && b->place.key && b->place.transport == REMOTE_TCP) *error = host_key_read(b->place.key, key);
    if (!*error) *error = reach(b, key, &st);
    free(key);
    if (*error) return st;
    if (start(b, socket)) return NNVTS_STATUS_NONE;
    hang_up(b);
    *error = "out of memory or descriptors";
    return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/** What is to be reached is all in the text that names the driver. */
static enum nnvts_status board_connect(const char *driver, const char *options, int socket, void **peer,
                                       const char **error) {
    struct board *b = calloc(1, sizeof *b);
    (void)options;
    *error = "out of memory";
    if (!b) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    b->stream = -1;
    b->owner = getpid();
    const enum nnvts_status st = begin(b, driver, socket, error);
    if (st == NNVTS_STATUS_NONE)
        *peer = b;
    else
        free(b);
    return st;
}

static void board_stop(void *peer) {
    struct board *b = peer;
    atomic_store(&b->stopped, true);
    if (b->owner == getpid()) shutdown(b->stream, SHUT_RDWR);
}

static void board_unref(void *peer) {
    struct board *b = peer;
    if (b->owner == getpid()) pthread_join(b->thread, NULL);
    hang_up(b);
    free(b);
}

/* ---------------------------------------------------------------------- driver */

static enum nnvts_status open_device(const char *options, struct nnvts_device **out, const char **error) {
    static const struct host_transport transport = {board_connect, board_stop, board_unref, false};
    struct remote_place place;
    const char *why = remote_place_read(options, &place);
    char *driver = why ? NULL : strdup(options);
    if (driver) return host_device_open(&transport, driver, NULL, out, error);
    if (error && why) *error = why;
    return why ? NNVTS_STATUS_INVALID_ARGUMENT : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

const struct nnvts_driver *nnvts_driver_get(void) {
    static const char *const options[] = {"[key=FILE,][wait=SECONDS,]HOST[:PORT][/DRIVER]",
                                          "ssh://[USER@]HOST[:PORT]/DRIVER", "adb://[SERIAL]/DRIVER", NULL};
    static const struct nnvts_driver driver = {
        .options = options,
        .struct_size = sizeof driver,
        .abi_version = NNVTS_DRIVER_ABI_VERSION,
        .name = "remote",
        .open = open_device,
    };
    return &driver;
}
