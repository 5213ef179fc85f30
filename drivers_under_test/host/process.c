/* SPDX-License-Identifier: Apache-2.0 */
/** @file process.c The driver "host": a driver in a process of its own on this machine. Option: the driver, as on the
 * command line. */
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
#include "common/library.h"
#include "find.h"

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
    char text[HOST_END_BYTES];
    host_end_text(p->driver, status, text);
    fputs(text, stderr);
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

static void process_unref(void *peer) {
    struct host_process *p = peer;
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
static void process_stop(void *peer) {
    struct host_process *p = peer;
    pthread_mutex_lock(&registry);
    const bool wait = retire(p);
    pthread_mutex_unlock(&registry);
    if (wait) wait_for_end(p, true);
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/** The executable beside the folder of this driver. */
static bool find_executable(char *path, size_t room) {
    return common_beside("../nnvts-host", path, room) && access(path, X_OK) == 0;
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

/** A process of the driver with one more link, to which `socket` has been handed. */
static enum nnvts_status process_connect(const char *driver, const char *options, int socket, void **peer,
                                         const char **error) {
    for (bool fresh = false, connected; !fresh;) {
        struct host_process *p = process_take(driver, options, socket, &fresh, &connected, error);
        *peer = p;
        if (!p) return NNVTS_STATUS_DEVICE_UNAVAILABLE;
        if (connected) return NNVTS_STATUS_NONE;
        process_stop(p); /* its links will notice */
        process_unref(p);
    }
    *error = "the host process ended at once";
    return NNVTS_STATUS_DEVICE_UNAVAILABLE;
}

/* ---------------------------------------------------------------------- driver */

static enum nnvts_status open_device(const char *options, struct nnvts_device **out, const char **error) {
    static const struct host_transport transport = {process_connect, process_stop, process_unref, true};
    Dl_info here;
    char *driver = NULL, *rest = NULL;
    const bool known = dladdr((void *)(uintptr_t)nnvts_driver_get, &here) && here.dli_fname;
    const char *slash = known ? strrchr(here.dli_fname, '/') : NULL;
    if (host_find_driver(options && *options ? options : "cpu", slash ? here.dli_fname : ".",
                         slash ? (size_t)(slash - here.dli_fname) : 1, &driver, &rest))
        return host_device_open(&transport, driver, rest, out, error);
    if (error) *error = "expected a driver behind the colon: host:cpu, host:./npu.so:OPTIONS";
    return NNVTS_STATUS_INVALID_ARGUMENT;
}

const struct nnvts_driver *nnvts_driver_get(void) {
    static const struct nnvts_driver driver = {
        .struct_size = sizeof driver,
        .abi_version = NNVTS_DRIVER_ABI_VERSION,
        .name = "host",
        .open = open_device,
    };
    return &driver;
}
