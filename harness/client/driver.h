/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.h nnvts as the client of a driver: opening it, and the steps on the way through it. */
#ifndef NNV_CLIENT_DRIVER_H
#define NNV_CLIENT_DRIVER_H

#include "base/driver.h"

/** An open driver. Only worker processes hold one. Zero-initialise. */
struct nnv_client {
    void *handle; /**< dlopen's; NULL for a table that is linked in */
    const struct nnvts_driver *driver;
    struct nnvts_device *device;
    bool twice;                       /**< nnv_client_run() executes twice */
    bool compile_only;                /**< nnv_client_run() executes nothing */
    const struct nnvts_cache *cache;  /**< of the models that nnv_client_run() prepares; NULL: none */
    bool from_cache;                  /**< it prepares them from there */
    struct nnv_client_memory *memory; /**< shared memory for values, kept from case to case; made when needed */
};

/** What a --driver argument names: as nnv_driver_resolve(); adapters ("ndk:", "sl:") are refused. */
NNV_USE_RESULT enum nnv_status nnv_client_resolve(const char *argument, struct nnv_arena *arena, const char **path,
                                                  const char **options, struct nnv_err *err);
/** True if the --driver argument names a library with NNAPI's interface ("ndk:PATH", "sl:PATH", "runtime:NAME"). */
bool nnv_client_is_library(const char *argument);
/** As nnv_driver_open(). */
NNV_USE_RESULT enum nnv_status nnv_client_open(struct nnv_client *client, const char *path, const char *options,
                                               struct nnv_err *err);
/** As nnv_driver_attach(). */
NNV_USE_RESULT enum nnv_status nnv_client_attach(struct nnv_client *client, const struct nnvts_driver *driver,
                                                 const char *name, const char *options, struct nnv_err *err);
/** Releases the device and the memory. The shared object stays mapped. */
void nnv_client_close(struct nnv_client *client);

/** enum nnvts_limit of a device that may be older than they are. */
static inline uint32_t nnv_device_limits(const struct nnvts_device *d) {
    return d->struct_size > offsetof(struct nnvts_device, limits) ? d->limits : 0;
}

/** The driver's own words for the last status other than NONE; NULL: it has none. */
static inline const char *nnv_device_last_error(struct nnvts_device *d) {
    return d->struct_size > offsetof(struct nnvts_device, last_error) && d->last_error ? d->last_error(d) : NULL;
}

/** What devices behind this one have computed so far; NULL: it divides nothing. */
static inline const struct nnvts_computed *nnv_device_computed(struct nnvts_device *d, uint32_t *count) {
    *count = 0;
    return d->struct_size > offsetof(struct nnvts_device, computed) && d->computed ? d->computed(d, count) : NULL;
}

/** The steps of a case, for deadlines and for naming the culprit. */
enum nnv_phase {
    NNV_PHASE_NONE,
    NNV_PHASE_OPEN,
    NNV_PHASE_BUILD, /**< nnvts itself: making the case, golden result */
    NNV_PHASE_SUPPORTED,
    NNV_PHASE_PREPARE,
    NNV_PHASE_EXECUTE,
    NNV_PHASE_RELEASE,
    NNV_PHASE_CHECK, /**< nnvts itself: comparing */
    NNV_PHASE_CLOSE, /**< the device itself is released */
    NNV_PHASE_COUNT
};
/** "get_supported_operations", "prepare_model", "execute"... */
const char *nnv_phase_name(enum nnv_phase p);

#endif
