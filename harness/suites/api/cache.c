/* SPDX-License-Identifier: Apache-2.0 */
/** @file cache.c Compilation caching: what is kept in files must never change what is computed. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "harness/suites/api/api.h"

struct folder {
    char path[2048];
};

static bool make_folder(struct nnv_api *a, struct folder *f) {
    snprintf(f->path, sizeof f->path, "%s/nnvts-api-XXXXXX", nnv_file_temp());
    return mkdtemp(f->path) != NULL || nnv_context_error(&a->s, "no folder '%s' can be made", f->path);
}

/** Calls visit for the descriptor of each file of the folder (NULL: removes them); their number. */
static int each_file(const struct folder *f, void (*visit)(int fd)) {
    DIR *dir = opendir(f->path);
    struct dirent *entry;
    int count = 0;
    while (dir && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        count++;
        int fd = visit ? openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC) : -1;
        if (fd >= 0) {
            visit(fd);
            close(fd);
        } else if (!visit) {
            unlinkat(dirfd(dir), entry->d_name, 0);
        }
    }
    if (dir) closedir(dir);
    return count;
}

static void nothing(int fd) { (void)fd; }

static void remove_folder(struct folder *f) {
    each_file(f, NULL);
    rmdir(f->path);
}

/** Compiles the small model with the cache, and computes; the token is of 32 bytes `seed`. */
static bool sum_through(struct nnv_api *a, const struct folder *f, uint8_t seed) {
    uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN];
    memset(token, seed, sizeof token);
    if (!nnv_api_advance(a, NNV_API_FINISHED)) return false;
    a->stage = NNV_API_FINISHED;
    return nnv_api_advance(a, NNV_API_COMPILATION) && OK(Compilation_setCaching, a->compilation, f->path, token) &&
           nnv_api_advance(a, NNV_API_COMPUTED);
}

static bool sums_through(struct nnv_api *a, const struct folder *f, int times) {
    bool ok = true;
    for (int i = 0; i < times && ok; i++) ok = sum_through(a, f, 1);
    return ok;
}

static void twice(struct nnv_api *a) {
    struct folder f;
    if (!make_folder(a, &f)) return;
    sums_through(a, &f, 3);
    remove_folder(&f);
}

static void other_token(struct nnv_api *a) {
    struct folder f;
    if (!make_folder(a, &f)) return;
    for (uint8_t i = 0; i < 4; i++)
        if (!sum_through(a, &f, i % 2)) break;
    remove_folder(&f);
}

/** Another token makes other files, the same token the same. Where nothing is cached: UNSUPPORTED. */
static void files_by_token(struct nnv_api *a) {
    struct folder f;
    if (!make_folder(a, &f)) return;
    int count[4] = {0};
    static const uint8_t seeds[] = {1, 1, 2, 1};
    bool ok = true;
    for (int i = 0; i < 4 && ok; i++) {
        ok = sum_through(a, &f, seeds[i]);
        count[i] = each_file(&f, nothing);
    }
    remove_folder(&f);
    if (!ok) return;
    if (count[0] == 0) {
        nnv_context_decline(&a->s, NNVTS_WHY_FEATURE, "the device caches nothing");
        return;
    }
    nnv_expect(&a->s, count[1] == count[0], "the same token again: %d files became %d", count[0], count[1]);
    nnv_expect(&a->s, count[2] == 2 * count[0], "a second token: %d files became %d, expected %d", count[0], count[2],
               2 * count[0]);
    nnv_expect(&a->s, count[3] == count[2], "the first token again: %d files became %d", count[2], count[3]);
}

/** The settings of a compilation belong to the token: other settings, other files. */
static void files_by_settings(struct nnv_api *a) {
    struct folder f;
    uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = {3};
    if (!make_folder(a, &f)) return;
    int count[3] = {0};
    bool ok = nnv_api_advance(a, NNV_API_FINISHED);
    for (int i = 0; i < 3 && ok; i++) {
        a->stage = NNV_API_FINISHED;
        ok = nnv_api_advance(a, NNV_API_COMPILATION) && OK(Compilation_setCaching, a->compilation, f.path, token) &&
             (i != 1 || OK(Compilation_setPreference, a->compilation, ANEURALNETWORKS_PREFER_LOW_POWER)) &&
             (i != 2 || OK(Compilation_setPriority, a->compilation, ANEURALNETWORKS_PRIORITY_HIGH)) &&
             nnv_api_advance(a, NNV_API_COMPUTED);
        count[i] = each_file(&f, nothing);
    }
    remove_folder(&f);
    if (!ok) return;
    if (count[0] == 0) {
        nnv_context_decline(&a->s, NNVTS_WHY_FEATURE, "the device caches nothing");
        return;
    }
    nnv_expect(&a->s, count[1] == 2 * count[0], "another preference must have files of its own: %d became %d", count[0],
               count[1]);
    nnv_expect(&a->s, count[2] == 3 * count[0], "another priority must have files of its own: %d became %d", count[1],
               count[2]);
}

static void truncate_file(int fd) {
    if (ftruncate(fd, 5) != 0) return; /* then it is another case: whole files */
}

static void empty_file(int fd) {
    if (ftruncate(fd, 0) != 0) return;
}

static void spoil_file(int fd) {
    uint8_t byte = 0;
    struct stat s;
    if (fstat(fd, &s) != 0) return;
    for (off_t at = 0; at < s.st_size; at += 7)
        if (pread(fd, &byte, 1, at) != 1 || (byte ^= 0xff, pwrite(fd, &byte, 1, at) != 1)) return;
}

/** What is in the files may be refused, and is then compiled anew. */
static void damaged(struct nnv_api *a, void (*damage)(int fd)) {
    struct folder f;
    if (!make_folder(a, &f)) return;
    if (sum_through(a, &f, 1)) {
        int files = each_file(&f, damage);
        if (sums_through(a, &f, 2) && files == 0)
            nnv_context_decline(&a->s, NNVTS_WHY_FEATURE, "the device caches nothing");
    }
    remove_folder(&f);
}

static void truncated(struct nnv_api *a) { damaged(a, truncate_file); }
static void emptied(struct nnv_api *a) { damaged(a, empty_file); }
static void spoilt(struct nnv_api *a) { damaged(a, spoil_file); }

static void removed(struct nnv_api *a) {
    struct folder f;
    if (!make_folder(a, &f)) return;
    if (sum_through(a, &f, 1)) {
        each_file(&f, NULL);
        sums_through(a, &f, 2);
    }
    remove_folder(&f);
}

/** No folder, and one that is a file: nothing can be cached, and everything computed. */
static void no_folder(struct nnv_api *a) {
    const struct folder none = {"/nonexistent/nnvts"}, file = {"/dev/null"};
    if (sums_through(a, &none, 2)) sum_through(a, &file, 1);
}

/** Two models under one token: the token is the application's to choose well, but nobody may die of it. */
static void same_folder_other_model(struct nnv_api *a) {
    struct folder f;
    struct nnv_api_net net;
    uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN];
    memset(token, 9, sizeof token);
    if (!make_folder(a, &f)) return;
    if (sum_through(a, &f, 1) && nnv_api_net_add(a, LIST(3), &net)) {
        static const float in[] = {1, 2, 3}, want[] = {2, 4, 6};
        float out[3] = {0};
        ANeuralNetworksCompilation *c = nnv_api_compilation(&net);
        if (c && OK(Compilation_setCaching, c, f.path, token) && OK(Compilation_finish, c)) {
            ANeuralNetworksExecution *e = nnv_api_execution(a, c);
            if (e && OK(Execution_setInput, e, 0, NULL, in, sizeof in) &&
                OK(Execution_setInput, e, 1, NULL, in, sizeof in) &&
                OK(Execution_setOutput, e, 0, NULL, out, sizeof out) && nnv_api_compute(a, e))
                nnv_api_check_floats(a, "the other model", out, want, 3);
        }
        sum_through(a, &f, 1);
    }
    remove_folder(&f);
}

/** The token and the folder's name are copied. */
static void settings_are_copied(struct nnv_api *a) {
    struct folder f;
    uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = {0};
    char path[sizeof f.path];
    if (!make_folder(a, &f)) return;
    snprintf(path, sizeof path, "%s", f.path);
    if (nnv_api_advance(a, NNV_API_COMPILATION) && OK(Compilation_setCaching, a->compilation, path, token)) {
        memset(path, '?', sizeof path - 1);
        memset(token, 0x77, sizeof token);
        if (nnv_api_advance(a, NNV_API_COMPUTED)) {
            int files = each_file(&f, nothing);
            if (sum_through(a, &f, 0))
                nnv_expect(&a->s, each_file(&f, nothing) == files,
                           "folder or token were not copied when they were set");
        }
    }
    remove_folder(&f);
}

static const struct nnv_api_case cases[] = {
    {.name = "cache/twice", .run = twice},
    {.name = "cache/other_token", .run = other_token},
    {.name = "cache/files_by_token", .run = files_by_token},
    {.name = "cache/files_by_settings", .run = files_by_settings},
    {.name = "cache/truncated", .run = truncated},
    {.name = "cache/emptied", .run = emptied},
    {.name = "cache/spoilt", .run = spoilt},
    {.name = "cache/removed", .run = removed},
    {.name = "cache/no_folder", .run = no_folder},
    {.name = "cache/other_model", .run = same_folder_other_model},
    {.name = "cache/settings_are_copied", .run = settings_are_copied},
};
NNV_API_GROUP(cache);
