/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const char *common_open_cpu(const char *options, struct nnvts_device **out) {
    Dl_info here;
    char path[4096];
    const char *error = NULL;
    if (!dladdr((void *)(uintptr_t)nnvts_driver_get, &here) || !here.dli_fname) return "it can't find its own file";
    const char *slash = strrchr(here.dli_fname, '/');
    const int n =
        snprintf(path, sizeof path, "%.*scpu.so", slash ? (int)(slash + 1 - here.dli_fname) : 0, here.dli_fname);
    void *handle = n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!handle) return "the driver cpu, which this one stands over, can't be loaded from its folder";
    nnvts_driver_get_fn get = NULL;
    void *symbol = dlsym(handle, NNVTS_DRIVER_SYMBOL);
    memcpy(&get, &symbol, sizeof get);
    const struct nnvts_driver *driver = get ? get() : NULL;
    if (!driver || driver->abi_version != NNVTS_DRIVER_ABI_VERSION) return "cpu is no driver of this ABI";
    if (driver->open(options, out, &error) == NNVTS_STATUS_NONE) return NULL;
    return error ? error : "cpu refused to open";
}
