/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/library.h"
#include "common/text.h"

enum { PATH_BYTES = 4096, LEAST_VERSION = 2, MOST_VERSION = 3 };

/** How well a backend suits this machine by its own judgement; 0: it can't run here. */
static int score_of(void *handle) {
    int (*score)(void) = NULL;
    return COMMON_SYMBOL(handle, "ggml_backend_score", score) ? score() : 1;
}

/** The backend of the CPU in a folder which suits this machine best, or the first of those that do. */
static bool find_best(const char *folder, char path[PATH_BYTES]) {
    char pattern[PATH_BYTES];
    glob_t found = {0};
    int best = 0;
    if (snprintf(pattern, sizeof pattern, "%s/libggml-cpu*.so", folder) < (int)sizeof pattern)
        glob(pattern, 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        void *handle = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
        const int score = handle ? score_of(handle) : 0;
        if (handle) dlclose(handle);
        if (score <= best || strlen(found.gl_pathv[i]) >= PATH_BYTES) continue;
        best = score;
        snprintf(path, PATH_BYTES, "%s", found.gl_pathv[i]);
    }
    globfree(&found);
    return best > 0;
}

/** The file of the backend that is asked for. */
static const char *find(const char *lib, const char *backend, char path[PATH_BYTES]) {
    char folder[PATH_BYTES];
    struct stat info;
    if (lib && snprintf(folder, sizeof folder, "%s", lib) >= (int)sizeof folder) return "the path of lib= is too long";
    if (!lib && !common_beside("../engines/ggml/lib", folder, sizeof folder))
        return "ggml's backends are not there: make setup-engines brings them, lib=PATH names one or a folder of them";
    if (stat(folder, &info) != 0)
        return common_keep_textf(
            "%s is not there: make setup-engines brings backends of ggml, lib=PATH names one or a folder of "
            "them",
            folder);
    if (!S_ISDIR(info.st_mode)) {
        snprintf(path, PATH_BYTES, "%s", folder);
        return backend ? "backend=NAME is for a folder of backends" : NULL;
    }
    if (!backend)
        return find_best(folder, path) ? NULL : common_keep_textf("%s has no backend of ggml for this CPU", folder);
    return snprintf(path, PATH_BYTES, "%s/libggml-%s.so", folder, backend) < PATH_BYTES ? NULL : "the path is too long";
}

/** Fills the functions, which are those of the library that the backend needs. */
static const char *find_functions(const char *path, struct gg_library *out) {
#define X(RESULT, NAME, PARAMETERS)                                                                                    \
    if (!COMMON_SYMBOL(out->handle, "ggml_" #NAME, out->NAME))                                                         \
        return common_keep_textf("%s is no backend of a ggml that suits: there is no ggml_" #NAME, path);
    GG_FUNCTIONS(X)
#undef X
    return NULL;
}

static const char *find_device(const char *path, const char *device, struct gg_library *out) {
    const size_t count = out->backend_reg_dev_count(out->registration);
    for (size_t i = 0; i < count && !out->device; i++) {
        void *one = out->backend_reg_dev_get(out->registration, i);
        if (!device || strcmp(out->backend_dev_name(one), device) == 0) out->device = one;
    }
    if (out->device) return NULL;
    return common_keep_textf("%s has no device%s%s", path, device ? " " : "", device ? device : "");
}

const char *gg_open_library(const char *lib, const char *backend, const char *device, struct gg_library *out) {
    char path[PATH_BYTES];
    void *(*start)(void) = NULL;
    const char *error = find(lib, backend, path);
    if (!error) error = common_open(path, &out->handle);
    if (error) return error;
    if (!COMMON_SYMBOL(out->handle, "ggml_backend_init", start))
        return common_keep_textf("%s is no backend of ggml", path);
    error = find_functions(path, out);
    if (error) return error;
    if (score_of(out->handle) <= 0) return common_keep_textf("%s says that it does not run on this machine", path);
    out->registration = start();
    if (!out->registration) return common_keep_textf("%s does not start", path);
    int version;
    memcpy(&version, out->registration, sizeof version);
    if (version < LEAST_VERSION || version > MOST_VERSION)
        return common_keep_textf("%s has version %d of ggml's interface for backends, not %d to %d", path, version,
                                 LEAST_VERSION, MOST_VERSION);
    void *threads = out->backend_reg_get_proc_address(out->registration, "ggml_backend_set_n_threads");
    memcpy(&out->set_threads, &threads, sizeof threads);
    return find_device(path, device, out);
}
