/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file entry_runtime.c The driver "runtime": a driver as an application sees it that uses NNAPI, through the project's
 * own libneuralnetworks.so. Options: the drivers as NNVTS_DRIVERS takes them, then #DEVICE, or #auto for what the
 * library chooses; without either the first device, which is the first driver's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/library.h"
#include "ndk.h"

static const char *load_named(const char *path, struct ndk_library *library) {
    library->takes_first = true;
    return ndk_load(path, library);
}

/** A driver that could not be opened leaves the CPU reference alone: that is not what was asked for. */
static bool has_driver(const struct nnvts_device *device) {
    const struct nnvts_ndk *fn = &((const struct ndk_device *)device)->lib.fn;
    uint32_t n = 0;
    return fn->_getDeviceCount && fn->_getDeviceCount(&n) == ANEURALNETWORKS_NO_ERROR && n > 1;
}

/** What the library of this process was told. */
enum { MOST_BYTES = 8192 };
static char drivers[MOST_BYTES];

static enum nnvts_status open(const char *options, struct nnvts_device **out, const char **error) {
    char path[4096], argument[MOST_BYTES];
    const char *library = common_find_runtime(path, sizeof path) ? path : NULL;
    const size_t n = options ? strcspn(options, "#") : 0;
    if (n == 0) {
        *error = "it needs the name of a driver";
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    if (!library) {
        *error = "there is no libneuralnetworks.so beside the folder of the drivers";
        return NNVTS_STATUS_DEVICE_UNAVAILABLE;
    }
    if (*drivers && (strlen(drivers) != n || strncmp(drivers, options, n) != 0)) {
        *error = common_keep_textf("the runtime of this process has the drivers '%s' already", drivers);
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    const bool automatic = strcmp(options + n, "#auto") == 0;
    snprintf(argument, sizeof argument, "%.*s", (int)n, options);
    snprintf(drivers, sizeof drivers, "%s", argument);
    setenv("NNVTS_DRIVERS", drivers, 1); /* the library looks for its devices once, when it is first asked */
    snprintf(argument, sizeof argument, "%s%s", library, automatic ? "" : options + n);
    const enum nnvts_status st = ndk_open(argument, automatic ? ndk_load : load_named, out, error);
    if (st != NNVTS_STATUS_NONE || has_driver(*out)) return st;
    (*out)->release(*out);
    *out = NULL;
    *error = common_keep_textf("the runtime can't use '%.*s'", (int)n, options);
    return NNVTS_STATUS_INVALID_ARGUMENT;
}

const struct nnvts_driver *nnvts_driver_get(void) {
    static const char *const options[] = {"DRIVER[,DRIVER...][#DEVICE|#auto]", NULL};
    static const struct nnvts_driver driver = {.struct_size = sizeof driver,
                                               .abi_version = NNVTS_DRIVER_ABI_VERSION,
                                               .name = "runtime",
                                               .open = open,
                                               .options = options};
    return &driver;
}
