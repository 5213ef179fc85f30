/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"

#include "library.h"

const char *common_open_cpu(const char *options, struct nnvts_device **out) {
    char path[4096];
    void *handle = NULL;
    const char *error = NULL;
    if (!common_beside("cpu.so", path, sizeof path) || common_open(path, &handle))
        return "the driver cpu, which this one stands over, can't be loaded from its folder";
    nnvts_driver_get_fn get = NULL;
    const struct nnvts_driver *driver = COMMON_SYMBOL(handle, NNVTS_DRIVER_SYMBOL, get) ? get() : NULL;
    if (!driver || driver->abi_version != NNVTS_DRIVER_ABI_VERSION) return "cpu is no driver of this ABI";
    if (driver->open(options, out, &error) == NNVTS_STATUS_NONE) return NULL;
    return error ? error : "cpu refused to open";
}
