/* SPDX-License-Identifier: Apache-2.0 */
/** @file link.c Host processes, and the sockets to them. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "common/text.h"

/* ----------------------------------------------------------------- processes */

/** A host of this process's. All links to one driver with one set of options share it. */
struct host_process {
    struct host_process *next; /* of those that live */
    char *driver, *options;
    pid_t pid, owner;
    int control;
    uint32_t links;
    bool retired; /* off the list, and told to end */
};

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static struct host_process *living; /* guarded by registry, as is all that changes in them */

enum { MS = 1000000, ENDS_MS = 2000 };

static void sleep_ms(void) { nanosleep(&(struct timespec){0, MS}, NULL); }

/** Says how a process ended that should not have. */
static void tell_end(const struct host_process *p, int status) {
    if (WIFSIGNALED(status))
        fprintf(stderr, "host: the process of driver %s was ended by signal %d (%s)\n", p->driver, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else
        fprintf(stderr, "host: the process of driver %s ended with exit code %d\n", p->driver, WEXITSTATUS(status));
}

/** Waits for the end of a retired process; kills it if it does not end by itself. That takes time: no lock is held. */
static void wait_for_end(const struct host_process *p, bool tell) {
    int status = 0;
    if (p->owner != getpid()) return; /* a child of this one's parent */
    for (int i = 0; i < ENDS_MS; i++) {
        pid_t got = waitpid(p->pid, &status, WNOHANG);
        if (got < 0 && errno != EINTR) return; /* someone else has waited for it */
        if (got == p->pid) {
            if (tell) tell_end(p, status);
            return;
        }
        sleep_ms();
    }
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) {}
}

/**
 * Takes the process off the list of those that live and closes its control socket, by which it ends; the registry's
 * lock is held. True: the caller is to wait for its end, without the lock. False: somebody does already.
 */
static bool retire(struct host_process *p) {
    if (p->retired) return false;
    struct host_process **at = &living;
    while (*at && *at != p) at = &(*at)->next;
    if (*at) *at = p->next;
    if (p->owner == getpid()) shutdown(p->control, SHUT_RDWR);
    close(p->control);
    return p->retired = true;
}

static void process_unref(struct host_process *p) {
    pthread_mutex_lock(&registry);
    const bool last = --p->links == 0, wait = last && retire(p);
    pthread_mutex_unlock(&registry);
    if (wait) wait_for_end(p, false);
    if (!last) return;
    free(p->driver);
    free(p->options);
    free(p);
}

/** Ends the process at once; the caller has a link to it. */
static void process_stop(struct host_process *p) {
    pthread_mutex_lock(&registry);
    const bool wait = retire(p);
    pthread_mutex_unlock(&registry);
    if (wait) wait_for_end(p, true);
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/** The executable beside the folder of this driver. */
static bool find_executable(char *path, size_t room) {
    Dl_info here;
    if (!dladdr((void *)(uintptr_t)nnvts_driver_get, &here) || !here.dli_fname) return false;
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash ? (int)(slash - here.dli_fname) : 1;
    int n = snprintf(path, room, "%.*s/../nnvts-host", folder, slash ? here.dli_fname : ".");
    return n > 0 && (size_t)n < room && access(path, X_OK) == 0;
}

/** Starts the executable with `control` as its control socket. */
static bool spawn(const char *driver, const char *options, int control, pid_t *pid) {
    char path[4096];
    if (!find_executable(path, sizeof path)) return false;
    char *const arguments[] = {path, (char *)(uintptr_t)driver, (char *)(uintptr_t)options, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, control, HOST_CONTROL_FD);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int failed = posix_spawn(pid, path, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed == 0;
}

static struct host_process *process_new(const char *driver, const char *options, const char **error) {
    int ends[2];
    struct host_process *p = calloc(1, sizeof *p);
    if (p) *p = (struct host_process){.driver = strdup(driver), .options = options ? strdup(options) : NULL};
    *error = "out of memory or descriptors";
    if (p && p->driver && (!options || p->options) &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
        p->owner = getpid();
        p->control = ends[0];
        bool started = spawn(driver, options, ends[1], &p->pid);
        close(ends[1]);
        if (started) {
            p->next = living;
            living = p;
            return p;
        }
        *error = "the executable nnvts-host, beside the folder of this driver, can't be started";
        close(ends[0]);
    }
    if (p) {
        free(p->driver);
        free(p->options);
    }
    free(p);
    return NULL;
}

/** Asks the process for a connection on `socket`, the host's end; the registry's lock is held. */
static bool connect_to(const struct host_process *p, int socket) {
    struct host_out o = {0};
    host_put_fd(&o, socket);
    return host_send(p->control, HOST_CONNECT, &o);
}

/**
 * The process that serves this driver with these options, or a new one (*fresh), with one more link; NULL and *error.
 * *connected: it was handed the socket.
 */
static struct host_process *process_take(const char *driver, const char *options, int socket, bool *fresh,
                                         bool *connected, const char **error) {
    pthread_mutex_lock(&registry);
    struct host_process *p = living;
    while (p && !(same_text(p->driver, driver) && same_text(p->options, options))) p = p->next;
    *fresh = !p;
    if (!p) p = process_new(driver, options, error);
    if (p) p->links++;
    *connected = p && connect_to(p, socket);
    pthread_mutex_unlock(&registry);
    return p;
}

/** A process of the driver with one more link, to which `socket` has been handed; NULL and *error. */
static struct host_process *process_connect(const char *driver, const char *options, int socket, const char **error) {
    for (bool fresh = false, connected; !fresh;) {
        struct host_process *p = process_take(driver, options, socket, &fresh, &connected, error);
        if (!p || connected) return p;
        process_stop(p); /* its links will notice */
        process_unref(p);
    }
    *error = "the host process ended at once";
    return NULL;
}

/* --------------------------------------------------------------------- streams */

void host_stream_close(struct host_stream *stream) {
    close(stream->socket);
    free(stream);
}

void host_stream_give_back(struct host_link *link, struct host_stream *stream) {
    if (atomic_load(&link->dead)) {
        host_stream_close(stream);
        return;
    }
    pthread_mutex_lock(&link->lock);
    stream->next = link->idle;
    link->idle = stream;
    pthread_mutex_unlock(&link->lock);
}

static bool ask_on_socket(int socket, uint32_t kind, const struct host_out *o, struct host_in *in) {
    if (!host_send(socket, kind, o) || host_receive(socket, in) != HOST_GOT) return false;
    if (in->kind == kind) return true;
    host_in_end(in);
    return false;
}

/** One more stream; link->lock is held. *gone: the host is. */
static struct host_stream *stream_new(struct host_link *link, bool *gone) {
    int ends[2];
    struct host_stream *stream = calloc(1, sizeof *stream);
    struct host_in *in = malloc(sizeof *in);
    if (stream && in && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
        struct host_out o = {0};
        host_put_fd(&o, ends[1]);
        *gone = !ask_on_socket(link->root, HOST_STREAM, &o, in);
        stream->socket = ends[0];
        close(ends[1]);
        enum nnvts_status st = *gone ? NNVTS_STATUS_DEAD_OBJECT : host_get_status(in);
        if (!*gone) host_in_end(in);
        free(in);
        if (st == NNVTS_STATUS_NONE) return stream;
        host_stream_close(stream);
        return NULL;
    }
    free(in);
    free(stream);
    return NULL;
}

static enum nnvts_status stream_take(struct host_link *link, struct host_stream **out) {
    bool gone = false;
    pthread_mutex_lock(&link->lock);
    struct host_stream *stream = link->idle;
    if (stream)
        link->idle = stream->next;
    else
        stream = stream_new(link, &gone);
    pthread_mutex_unlock(&link->lock);
    if (gone) host_link_died(link);
    *out = stream;
    return stream ? NNVTS_STATUS_NONE : gone ? NNVTS_STATUS_DEAD_OBJECT : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

enum nnvts_status host_ask_on(struct host_link *link, uint32_t kind, struct host_out *o, struct host_in *in,
                              struct host_stream **stream) {
    enum nnvts_status st = o->invalid                 ? NNVTS_STATUS_INVALID_ARGUMENT
                           : o->failed                ? NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT
                           : atomic_load(&link->dead) ? NNVTS_STATUS_DEAD_OBJECT
                                                      : stream_take(link, stream);
    if (st == NNVTS_STATUS_NONE && !ask_on_socket((*stream)->socket, kind, o, in)) {
        host_stream_close(*stream);
        host_link_died(link);
        st = NNVTS_STATUS_DEAD_OBJECT;
    }
    host_out_end(o);
    return st;
}

enum nnvts_status host_ask(struct host_link *link, uint32_t kind, struct host_out *o, struct host_in *in) {
    struct host_stream *stream;
    enum nnvts_status st = host_ask_on(link, kind, o, in, &stream);
    if (st == NNVTS_STATUS_NONE) host_stream_give_back(link, stream);
    return st;
}

enum nnvts_status host_get_status(struct host_in *in) { return (enum nnvts_status)(int32_t)host_get_u32(in); }

enum nnvts_status host_answered(struct host_link *link, struct host_in *in, enum nnvts_status status) {
    bool done = host_in_done(in);
    host_in_end(in);
    if (done) return status;
    host_link_died(link);
    return NNVTS_STATUS_DEAD_OBJECT;
}

/* --------------------------------------------------------------------- links */

static void close_idle(struct host_link *link) {
    pthread_mutex_lock(&link->lock);
    struct host_stream *idle = link->idle;
    link->idle = NULL;
    pthread_mutex_unlock(&link->lock);
    for (struct host_stream *next; idle; idle = next) {
        next = idle->next;
        host_stream_close(idle);
    }
}

void host_link_died(struct host_link *link) {
    if (atomic_exchange(&link->dead, true)) return;
    process_stop(link->process);
    close_idle(link);
}

void host_link_ref(struct host_link *link) { atomic_fetch_add(&link->refs, 1); }

void host_link_unref(struct host_link *link) {
    if (atomic_fetch_sub(&link->refs, 1) != 1) return;
    close_idle(link);
    close(link->root);
    process_unref(link->process);
    pthread_mutex_destroy(&link->lock);
    free(link);
}

void host_link_close(struct host_link *link) {
    struct host_in *in = malloc(sizeof *in);
    struct host_out o = {0};
    if (in && host_ask(link, HOST_CLOSE, &o, in) == NNVTS_STATUS_NONE) host_in_end(in);
    free(in);
}

static enum nnvts_status say_hello(struct host_link *link, struct host_in *hello, const char **error) {
    struct host_out o = {0};
    if (!ask_on_socket(link->root, HOST_HELLO, &o, hello)) {
        host_link_died(link);
        *error = "the driver's process died while it opened";
        return NNVTS_STATUS_GENERAL_FAILURE;
    }
    enum nnvts_status st = host_get_status(hello);
    const char *reason = host_get_text(hello);
    if (reason) *error = common_keep_text(reason);
    if (hello->failed) st = NNVTS_STATUS_GENERAL_FAILURE;
    if (st != NNVTS_STATUS_NONE) host_in_end(hello);
    return st;
}

enum nnvts_status host_link_open(const char *driver, const char *options, struct host_link **out, struct host_in *hello,
                                 const char **error) {
    int ends[2];
    struct host_link *link = calloc(1, sizeof *link);
    *error = "out of memory or descriptors";
    if (!link || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        free(link);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    link->process = process_connect(driver, options, ends[1], error);
    close(ends[1]);
    if (!link->process) {
        close(ends[0]);
        free(link);
        return NNVTS_STATUS_DEVICE_UNAVAILABLE;
    }
    link->root = ends[0];
    link->refs = 1;
    pthread_mutex_init(&link->lock, NULL);
    *error = NULL;
    enum nnvts_status st = say_hello(link, hello, error);
    if (st == NNVTS_STATUS_NONE)
        *out = link;
    else
        host_link_unref(link);
    return st;
}
