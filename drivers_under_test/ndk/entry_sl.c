/* SPDX-License-Identifier: Apache-2.0 */
/** @file entry_sl.c The driver "sl": a Support Library driver of NNAPI, which offers its functions in a table. */
#include "ndk.h"

static enum nnvts_status open(const char *options, struct nnvts_device **out, const char **error) {
    return ndk_open(options, ndk_load_table, out, error);
}

const struct nnvts_driver *nnvts_driver_get(void) {
    static const char *const options[] = {"PATH[#DEVICE][:level=N][:pointers][:aosp]", NULL};
    static const struct nnvts_driver driver = {.struct_size = sizeof driver,
                                               .abi_version = NNVTS_DRIVER_ABI_VERSION,
                                               .name = "sl",
                                               .open = open,
                                               .options = options};
    return &driver;
}
