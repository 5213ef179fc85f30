/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.c Opening drivers. */
#include "harness/client/driver.h"

#include <string.h>

#include "harness/client/memory.h"
#include "harness/client/restore.h"

enum nnv_status nnv_client_resolve(const char *argument, struct nnv_arena *arena, const char **path,
                                   const char **options, struct nnv_err *err) {
    return nnv_driver_resolve(argument, arena, path, options, err);
}

bool nnv_client_is_library(const char *argument) {
    static const char *const prefixes[] = {"ndk:", "sl:", "runtime:"};
    for (size_t i = 0; argument && i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(argument, prefixes[i], strlen(prefixes[i])) == 0) return true;
    return false;
}

static enum nnv_status take(struct nnv_client *client, enum nnv_status st, const struct nnv_driver *opened) {
    client->driver = opened->driver;
    if (st != NNV_OK) return st;
    client->handle = opened->handle;
    client->device = opened->device;
    return NNV_OK;
}

enum nnv_status nnv_client_attach(struct nnv_client *client, const struct nnvts_driver *driver, const char *name,
                                  const char *options, struct nnv_err *err) {
    struct nnv_driver opened = {0};
    const enum nnv_status st = nnv_driver_attach(&opened, driver, name, options, err);
    nnv_restore_thread();
    return take(client, st, &opened);
}

enum nnv_status nnv_client_open(struct nnv_client *client, const char *path, const char *options, struct nnv_err *err) {
    struct nnv_driver opened = {0};
    const enum nnv_status st = nnv_driver_open(&opened, path, options, err);
    nnv_restore_thread();
    return take(client, st, &opened);
}

void nnv_client_close(struct nnv_client *client) {
    if (client->device) client->device->release(client->device);
    nnv_restore_thread();
    client->device = NULL;
    nnv_client_memory_free(client->memory);
    client->memory = NULL;
}

const char *nnv_phase_name(enum nnv_phase p) {
    static const char *const names[NNV_PHASE_COUNT] = {
        [NNV_PHASE_NONE] = "no phase",         [NNV_PHASE_OPEN] = "open",
        [NNV_PHASE_BUILD] = "build",           [NNV_PHASE_SUPPORTED] = "get_supported_operations",
        [NNV_PHASE_PREPARE] = "prepare_model", [NNV_PHASE_EXECUTE] = "execute",
        [NNV_PHASE_RELEASE] = "release",       [NNV_PHASE_CHECK] = "check",
        [NNV_PHASE_CLOSE] = "close",
    };
    return (unsigned)p < NNV_PHASE_COUNT ? names[p] : "unknown phase";
}
