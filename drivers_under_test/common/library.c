/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

bool common_beside(const char *tail, char *path, size_t room) {
    static const char here;
    Dl_info info;
    if (!dladdr(&here, &info) || !info.dli_fname) return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const int folder = slash ? (int)(slash - info.dli_fname) : 1;
    const int n = snprintf(path, room, "%.*s/%s", folder, slash ? info.dli_fname : ".", tail);
    return n > 0 && (size_t)n < room && access(path, R_OK) == 0;
}

bool common_find_runtime(char *path, size_t room) {
    return common_beside("../lib/libneuralnetworks.so", path, room) ||
           common_beside("../../libneuralnetworks.so", path, room);
}

const char *common_open(const char *path, void **handle) {
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle) return NULL;
    const char *why = dlerror();
    return common_keep_text(why ? why : "dlopen fails");
}

const char *common_open_library(const struct common_library *library, const char *path, void **handle) {
    char brought[4096], tail[256];
    snprintf(tail, sizeof tail, "%s/%s", library->brought, library->file);
    const char *file = path ? path : common_beside(tail, brought, sizeof brought) ? brought : library->file;
    const char *why = common_open(file, handle);
    if (!why) return NULL;
    return common_keep_textf("%s can't be opened: make setup-engines brings it, lib=PATH names one (%s)",
                             library->title, why);
}

bool common_symbol(void *handle, const char *name, void *function, size_t bytes) {
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, bytes);
    return symbol != NULL;
}
