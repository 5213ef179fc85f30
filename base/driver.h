/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.h Finding, loading and opening drivers of the driver ABI. */
#ifndef NNV_BASE_DRIVER_H
#define NNV_BASE_DRIVER_H

#include "base/arena.h"
#include "nnvts/driver.h"

/**
 * An open driver. Zero-initialise. Where only opening the device failed, handle and driver are set all the same, so
 * that the caller can read the table's options; it may close the handle.
 */
struct nnv_driver {
    void *handle; /**< dlopen's; NULL for a table that is linked in */
    const struct nnvts_driver *driver;
    struct nnvts_device *device; /**< released by the caller; the shared object stays mapped */
};

/**
 * The shared object and options that a driver argument names: a name looks for NAME.so in the driver folders
 * (NNVTS_DRIVER_PATH, colon-separated, then the folders of the installation), an argument with a '/' is a path; what
 * follows the first ':' is options. path and options are arena's; options may become NULL. NNV_INVALID lists the
 * drivers that exist.
 */
NNV_USE_RESULT enum nnv_status nnv_driver_resolve(const char *argument, struct nnv_arena *arena, const char **path,
                                                  const char **options, struct nnv_err *err);
/** The driver runs apart from the process that opens it, and can't reach its memory: host:DRIVER, remote:HOST. */
bool nnv_driver_is_apart(const char *argument);
/** The driver is one of another machine: remote:HOST. */
bool nnv_driver_is_remote(const char *argument);
/** The first file of this name in the driver folders, arena's; *path is NULL where none has it. */
NNV_USE_RESULT enum nnv_status nnv_driver_file(const char *name, struct nnv_arena *arena, const char **path,
                                               struct nnv_err *err);
/** All drivers found in the driver folders: names without ".so", sorted, arena's. */
NNV_USE_RESULT enum nnv_status nnv_driver_list(struct nnv_arena *arena, const char *const **names, size_t *count,
                                               struct nnv_err *err);
/**
 * Loads and opens. Errors are one line with the remedy: "driver './npu.so': no symbol nnvts_driver_get (is it an
 * NNAPI library? try --driver ndk:./npu.so)", wrong ABI version, missing members, open refused.
 */
NNV_USE_RESULT enum nnv_status nnv_driver_open(struct nnv_driver *to, const char *path, const char *options,
                                               struct nnv_err *err);
/**
 * As nnv_driver_open, for a table that is already in this process (NULL: what nnvts_driver_get returned); name is for
 * errors. Checks the table, opens the device, checks its required members; releases a device that lacks one.
 */
NNV_USE_RESULT enum nnv_status nnv_driver_attach(struct nnv_driver *to, const struct nnvts_driver *driver,
                                                 const char *name, const char *options, struct nnv_err *err);
/** The checks of a device that was opened elsewhere: its size and its required members; name is for errors. */
NNV_USE_RESULT enum nnv_status nnv_driver_check_device(const struct nnvts_device *device, const char *name,
                                                       struct nnv_err *err);
/** Name of a driver status: "INVALID_ARGUMENT"; "status 77" for nonsense. buf holds 32. */
const char *nnv_abi_status_name(int status, char *buf);

#endif
