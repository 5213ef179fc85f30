/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file main.c nnvts-host DRIVER.so [OPTIONS]: a process for a driver. Clients are handed to it over the control
 * socket, descriptor 3; when that closes, the process ends, whatever the driver does. With options: listen.c.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "server.h"

struct client {
    const struct nnvts_driver *driver;
    const char *options;
    int socket;
};

static void *serve(void *arg) {
    struct client c = *(struct client *)arg;
    free(arg);
    host_serve(c.driver, c.options, c.socket);
    return NULL;
}

static bool start(const struct client *c) {
    struct client *copy = malloc(sizeof *copy);
    pthread_attr_t detached;
    pthread_t thread;
    if (!copy) return false;
    *copy = *c;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    bool ok = pthread_create(&thread, &detached, serve, copy) == 0;
    pthread_attr_destroy(&detached);
    if (!ok) free(copy);
    return ok;
}

/* Stands for a driver that cannot be loaded: refuses to open, and says why. */
static char unloadable[512];
static enum nnvts_status refuse(const char *options, struct nnvts_device **out, const char **error) {
    (void)options;
    *out = NULL;
    *error = unloadable;
    return NNVTS_STATUS_DEVICE_UNAVAILABLE;
}
static const struct nnvts_driver refusing = {
    .struct_size = sizeof refusing, .abi_version = NNVTS_DRIVER_ABI_VERSION, .name = "none", .open = refuse};

static const struct nnvts_driver *load(const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(unloadable, sizeof unloadable, "it cannot be loaded: %s", dlerror());
        return &refusing;
    }
    nnvts_driver_get_fn get = NULL;
    void *symbol = dlsym(handle, NNVTS_DRIVER_SYMBOL);
    memcpy(&get, &symbol, sizeof get);
    const struct nnvts_driver *driver = get ? get() : NULL;
    if (driver && driver->abi_version == NNVTS_DRIVER_ABI_VERSION && driver->open) return driver;
    snprintf(unloadable, sizeof unloadable, "%s is no driver of ABI version %u", path, NNVTS_DRIVER_ABI_VERSION);
    return &refusing;
}

void host_run_driver(const char *path, const char *options, int control) {
    static struct host_in in;
    struct client c = {.driver = load(path), .options = options};
    enum host_received got;
    while ((got = host_receive(control, &in)) != HOST_GONE) {
        if (got == HOST_BAD) continue;
        bool ok = in.kind == HOST_CONNECT && in.bytes == 0 && in.keep.fd_count == 1;
        c.socket = ok ? in.keep.fds[0] : -1;
        if (ok && start(&c)) in.keep.fd_count = 0; /* it is the client's thread's */
        host_in_end(&in);
    }
    _exit(0); /* the driver's threads may still run: nothing is torn down under them */
}

int main(int argc, char **argv) {
    if (argc > 1 && argv[1][0] == '-') return host_listen(argc, argv);
    if (argc < 2 || argc > 3 || fcntl(HOST_CONTROL_FD, F_SETFD, FD_CLOEXEC) != 0) return host_listen(0, argv);
    host_run_driver(argv[1], argc == 3 ? argv[2] : NULL, HOST_CONTROL_FD);
}
