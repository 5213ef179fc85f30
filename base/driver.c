/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.c Finding, loading and opening drivers. */
#include "base/driver.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/process.h"
#include "base/text.h"

bool nnv_driver_is_remote(const char *argument) { return strncmp(argument, "remote:", 7) == 0; }

bool nnv_driver_is_apart(const char *argument) {
    return strncmp(argument, "host:", 5) == 0 || nnv_driver_is_remote(argument);
}

const char *nnv_abi_status_name(int status, char *buf) {
    static const char *const names[] = {
        [NNVTS_STATUS_NONE] = "NONE",
        [NNVTS_STATUS_DEVICE_UNAVAILABLE] = "DEVICE_UNAVAILABLE",
        [NNVTS_STATUS_GENERAL_FAILURE] = "GENERAL_FAILURE",
        [NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE] = "OUTPUT_INSUFFICIENT_SIZE",
        [NNVTS_STATUS_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
        [NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT] = "MISSED_DEADLINE_TRANSIENT",
        [NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT] = "MISSED_DEADLINE_PERSISTENT",
        [NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT] = "RESOURCE_EXHAUSTED_TRANSIENT",
        [NNVTS_STATUS_RESOURCE_EXHAUSTED_PERSISTENT] = "RESOURCE_EXHAUSTED_PERSISTENT",
        [NNVTS_STATUS_DEAD_OBJECT] = "DEAD_OBJECT",
    };
    if (status >= 0 && (size_t)status < sizeof names / sizeof *names) return names[status];
    snprintf(buf, 32, "status %d", status);
    return buf;
}

enum { FOLDERS_MAX = 64, PATH_MAX_BYTES = 4096 };

/** Where drivers are looked for, in this order. */
struct folders {
    const char *item[FOLDERS_MAX];
    size_t count;
};

static enum nnv_status add_folder(struct folders *f, struct nnv_arena *arena, const char *path, size_t len,
                                  struct nnv_err *err) {
    if (len == 0 || f->count == FOLDERS_MAX) return NNV_OK;
    char *copy = nnv_arena_printf(arena, "%.*s", (int)len, path);
    if (!copy) return nnv_no_memory(err);
    f->item[f->count++] = copy;
    return NNV_OK;
}

/** A folder named from that of a file; none if the file's path has no folder. */
static enum nnv_status add_below(struct folders *f, struct nnv_arena *arena, const char *file, const char *name,
                                 struct nnv_err *err) {
    const char *slash = strrchr(file, '/');
    if (!slash) return NNV_OK;
    const char *path = nnv_arena_printf(arena, "%.*s/%s", (int)(slash - file), file, name);
    if (!path) return nnv_no_memory(err);
    return add_folder(f, arena, path, strlen(path), err);
}

static enum nnv_status find_folders(struct folders *f, struct nnv_arena *arena, struct nnv_err *err) {
    f->count = 0;
    enum nnv_status st = NNV_OK;
    const char *env = getenv("NNVTS_DRIVER_PATH");
    while (env && *env && st == NNV_OK) {
        size_t len = strcspn(env, ":");
        st = add_folder(f, arena, env, len, err);
        env += len + (env[len] == ':');
    }
    char exe[PATH_MAX_BYTES], library[PATH_MAX_BYTES];
    (void)nnv_file_of_program(exe, sizeof exe);
    static const char *const below_exe[] = {"drivers", "../lib/nnvts/drivers"};
    static const char *const below_library[] = {"../drivers", "nnvts/drivers"};
    /* libneuralnetworks.so lies elsewhere than the program that uses it. */
    Dl_info info;
    bool is_library = dladdr(below_exe, &info) && info.dli_fname && realpath(info.dli_fname, library) != NULL &&
                      strcmp(library, exe) != 0;
    for (size_t i = 0; i < 2 && st == NNV_OK && is_library; i++)
        st = add_below(f, arena, library, below_library[i], err);
    for (size_t i = 0; i < 2 && st == NNV_OK; i++) st = add_below(f, arena, exe, below_exe[i], err);
    return st;
}

/* ------------------------------------------------------------------ listing */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/** Appends the names of the drivers in one folder; a folder that can't be read has none. */
static bool list_folder(const char *folder, struct nnv_arena *arena, char ***names, size_t *count, size_t *cap) {
    DIR *dir = opendir(folder);
    if (!dir) return true;
    bool ok = true;
    struct dirent *entry;
    while (ok && (entry = readdir(dir)) != NULL) {
        size_t len = strlen(entry->d_name);
        if (len < 4 || strcmp(entry->d_name + len - 3, ".so") != 0) continue;
        if (*count == *cap) {
            size_t room = *cap ? *cap * 2 : 16;
            char **grown = NNV_NEW(arena, char *, room);
            ok = grown != NULL;
            if (!ok) break;
            if (*count) memcpy(grown, *names, *count * sizeof *grown);
            *names = grown;
            *cap = room;
        }
        char *name = nnv_arena_printf(arena, "%.*s", (int)(len - 3), entry->d_name);
        ok = name != NULL;
        if (ok) (*names)[(*count)++] = name;
    }
    closedir(dir);
    return ok;
}

enum nnv_status nnv_driver_list(struct nnv_arena *arena, const char *const **names, size_t *count,
                                struct nnv_err *err) {
    struct folders f;
    enum nnv_status st = find_folders(&f, arena, err);
    if (st != NNV_OK) return st;
    char **list = NNV_NEW(arena, char *, 1);
    size_t n = 0, cap = list ? 1 : 0;
    bool ok = list != NULL;
    for (size_t i = 0; i < f.count && ok; i++) ok = list_folder(f.item[i], arena, &list, &n, &cap);
    if (!ok) return nnv_no_memory(err);
    qsort(list, n, sizeof *list, by_name);
    size_t unique = 0;
    for (size_t i = 0; i < n; i++)
        if (unique == 0 || strcmp(list[unique - 1], list[i]) != 0) list[unique++] = list[i];
    *names = (const char *const *)list;
    *count = unique;
    return NNV_OK;
}

/* ------------------------------------------------------------------ resolve */

/** "(did you mean 'cpu'?); known drivers: cpu, faulty, reference", or "none", cut to room. */
static void name_drivers(const char *name, struct nnv_arena *arena, char *buf, size_t room) {
    struct nnv_nearest near = nnv_nearest_to(name);
    const char *const *names;
    size_t count = 0;
    if (nnv_driver_list(arena, &names, &count, NULL) != NNV_OK) count = 0;
    struct nnv_text t = {0};
    for (size_t i = 0; i < count; i++) {
        nnv_nearest_see(&near, names[i]);
        nnv_text_addf(&t, "%s%s", i ? ", " : "", names[i]);
    }
    snprintf(buf, room, "%s%s%s; known drivers: %s", near.best ? " (did you mean '" : "", near.best ? near.best : "",
             near.best ? "'?)" : "", t.data && t.len ? t.data : "none");
    nnv_text_free(&t);
}

static bool is_file(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

enum nnv_status nnv_driver_file(const char *name, struct nnv_arena *arena, const char **path, struct nnv_err *err) {
    struct folders f;
    enum nnv_status st = find_folders(&f, arena, err);
    const char *found = NULL;
    for (size_t i = 0; i < f.count && !found && st == NNV_OK; i++) {
        const char *candidate = nnv_arena_printf(arena, "%s/%s", f.item[i], name);
        if (!candidate) return nnv_no_memory(err);
        if (is_file(candidate)) found = candidate;
    }
    if (st == NNV_OK) *path = found;
    return st;
}

enum nnv_status nnv_driver_resolve(const char *argument, struct nnv_arena *arena, const char **path,
                                   const char **options, struct nnv_err *err) {
    size_t len = strcspn(argument, ":");
    char *name = nnv_arena_printf(arena, "%.*s", (int)len, argument);
    char *opts = argument[len] == ':' ? nnv_arena_strdup(arena, argument + len + 1) : NULL;
    if (!name || (argument[len] == ':' && !opts)) return nnv_no_memory(err);
    if (opts && !*opts) opts = NULL;
    char known[256];
    const char *found = NULL;
    enum nnv_status st = NNV_OK;
    if (strchr(name, '/')) {
        if (!is_file(name)) return nnv_fail(err, NNV_INVALID, "driver '%s': no such file", name);
        found = name;
    } else {
        const char *file = nnv_arena_printf(arena, "%s.so", name);
        if (!file) return nnv_no_memory(err);
        if (*name) st = nnv_driver_file(file, arena, &found, err);
    }
    if (st != NNV_OK) return st;
    if (!found) {
        name_drivers(name, arena, known, sizeof known);
        const char *hint = *name && is_file(name) ? " (a file? write it with its folder: './name.so')" : "";
        return nnv_fail(err, NNV_INVALID, "no driver named '%s'%s%s", name, hint, known);
    }
    *path = found;
    *options = opts;
    return NNV_OK;
}

/* --------------------------------------------------------------------- open */

#define HAS_MEMBER(p, type, member) ((p)->struct_size >= offsetof(type, member) + sizeof((p)->member))

static enum nnv_status check_table(const struct nnvts_driver *d, const char *name, struct nnv_err *err) {
    if (!d) return nnv_fail(err, NNV_INVALID, "driver '%s': %s returned NULL", name, NNVTS_DRIVER_SYMBOL);
    if (!HAS_MEMBER(d, struct nnvts_driver, abi_version))
        return nnv_fail(err, NNV_INVALID, "driver '%s': struct_size %u of its table is too small", name,
                        d->struct_size);
    if (d->abi_version != NNVTS_DRIVER_ABI_VERSION)
        return nnv_fail(err, NNV_INVALID, "driver '%s': driver ABI version %u, this nnvts speaks version %u", name,
                        d->abi_version, NNVTS_DRIVER_ABI_VERSION);
    if (!HAS_MEMBER(d, struct nnvts_driver, open))
        return nnv_fail(err, NNV_INVALID, "driver '%s': struct_size %u of its table is too small", name,
                        d->struct_size);
    if (!d->name || !*d->name) return nnv_fail(err, NNV_INVALID, "driver '%s': its table has no name", name);
    if (!d->open) return nnv_fail(err, NNV_INVALID, "driver '%s': its table has no open function", name);
    return NNV_OK;
}

enum nnv_status nnv_driver_check_device(const struct nnvts_device *d, const char *name, struct nnv_err *err) {
    if (d->struct_size < NNVTS_DEVICE_LEAST_BYTES)
        return nnv_fail(err, NNV_INVALID, "driver '%s': struct_size %u of its device is too small, expected %zu", name,
                        d->struct_size, NNVTS_DEVICE_LEAST_BYTES);
    const char *missing = !d->name                       ? "name"
                          : !d->version                  ? "version"
                          : !d->get_status               ? "get_status"
                          : !d->get_supported_operations ? "get_supported_operations"
                          : !d->prepare_model            ? "prepare_model"
                          : !d->release                  ? "release"
                                                         : NULL;
    if (missing)
        return nnv_fail(err, NNV_INVALID, "driver '%s': its device has no %s, which is required", name, missing);
    return NNV_OK;
}

/** " (did you mean 'b'?); options: a, b", or nothing. */
static void name_options(const struct nnvts_driver *d, const char *given, struct nnv_text *t) {
    if (!HAS_MEMBER(d, struct nnvts_driver, options) || !d->options) return;
    struct nnv_nearest near = nnv_nearest_to(given ? given : "");
    for (size_t i = 0; given && d->options[i]; i++) nnv_nearest_see(&near, d->options[i]);
    if (given && near.best && strcmp(near.best, given) != 0) nnv_text_addf(t, " (did you mean '%s'?)", near.best);
    for (size_t i = 0; d->options[i]; i++) nnv_text_addf(t, "%s%s", i ? ", " : "; options: ", d->options[i]);
}

static enum nnv_status open_refused(const struct nnvts_driver *d, const char *name, const char *options,
                                    enum nnvts_status status, const char *reason, struct nnv_err *err) {
    char buf[32];
    struct nnv_text t = {0};
    nnv_text_addf(&t, "driver '%s' refused to open", name);
    if (options) nnv_text_addf(&t, " with option '%s'", options);
    nnv_text_addf(&t, ": %s", nnv_abi_status_name((int)status, buf));
    if (reason) nnv_text_addf(&t, ": %s", reason);
    name_options(d, options, &t);
    enum nnv_status st = nnv_fail(err, NNV_INVALID, "%s", t.data ? t.data : NNV_OUT_OF_MEMORY);
    nnv_text_free(&t);
    return st;
}

enum nnv_status nnv_driver_attach(struct nnv_driver *to, const struct nnvts_driver *driver, const char *name,
                                  const char *options, struct nnv_err *err) {
    enum nnv_status st = check_table(driver, name, err);
    if (st != NNV_OK) return st;
    struct nnvts_device *device = NULL;
    const char *reason = NULL;
    to->driver = driver;
    enum nnvts_status status = driver->open(options, &device, &reason);
    if (status != NNVTS_STATUS_NONE) return open_refused(driver, name, options, status, reason, err);
    if (!device) return nnv_fail(err, NNV_INVALID, "driver '%s': open answered NONE without a device", name);
    st = nnv_driver_check_device(device, name, err);
    if (st == NNV_OK)
        to->device = device;
    else if (device->struct_size >= NNVTS_DEVICE_LEAST_BYTES && device->release)
        device->release(device);
    return st;
}

/** dlerror's text without the path in front. */
static const char *load_error(const char *path) {
    const char *text = dlerror();
    if (!text) return "unknown error";
    size_t n = strlen(path);
    return strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

/** Loads a library; what its constructors changed of the thread's arithmetic is put back before it is called. */
static void *load(const char *path) {
    fenv_t before;
    fegetenv(&before);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    nnv_restore_flags();
    fesetenv(&before);
    return handle;
}

enum nnv_status nnv_driver_open(struct nnv_driver *to, const char *path, const char *options, struct nnv_err *err) {
    if (!is_file(path)) return nnv_fail(err, NNV_INVALID, "driver '%s': no such file", path);
    /* dlopen searches the system's folders for names without a slash. */
    char absolute[PATH_MAX_BYTES];
    if (!realpath(path, absolute)) return nnv_fail(err, NNV_IO, "driver '%s': %s", path, strerror(errno));
    void *handle = load(absolute);
    if (!handle) return nnv_fail(err, NNV_INVALID, "driver '%s': cannot be loaded: %s", path, load_error(absolute));
    nnvts_driver_get_fn get = NULL;
    void *symbol = dlsym(handle, NNVTS_DRIVER_SYMBOL);
    memcpy(&get, &symbol, sizeof get);
    enum nnv_status st;
    if (get)
        st = nnv_driver_attach(to, get(), path, options, err);
    else
        st = nnv_fail(err, NNV_INVALID, "driver '%s': no symbol %s (is it an NNAPI library? try --driver ndk:%s)", path,
                      NNVTS_DRIVER_SYMBOL, path);
    if (to->driver)
        to->handle = handle;
    else
        dlclose(handle);
    return st;
}
