/* SPDX-License-Identifier: Apache-2.0 */
/** @file entry_ndk.c The driver "ndk": a library that exports the functions of the NDK by their names. */
#include "ndk.h"

static enum nnvts_status open(const char *options, struct nnvts_device **out, const char **error) {
    return ndk_open(options, ndk_load, out, error);
}

const struct nnvts_driver *nnvts_driver_get(void) {
    static const char *const options[] = {"PATH[#DEVICE][:level=N][:pointers][:aosp]", NULL};
    static const struct nnvts_driver driver = {.struct_size = sizeof driver,
                                               .abi_version = NNVTS_DRIVER_ABI_VERSION,
                                               .name = "ndk",
                                               .open = open,
                                               .options = options};
    return &driver;
}
