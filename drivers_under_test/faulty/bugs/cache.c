/* SPDX-License-Identifier: Apache-2.0 */
/** @file cache.c Bugs of compilation caching. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faulty.h"

enum { MOST_FILES = 64, HEADER = 256 };

/** Cache files as they were: model files first. */
struct copy {
    uint32_t models, datas;
    uint8_t token[NNVTS_CACHE_TOKEN_BYTES];
    struct content {
        uint8_t *data;
        size_t size;
    } file[MOST_FILES];
};
static struct copy saved; /**< what was cached last */

static uint32_t file_count(const struct nnvts_cache *c) { return c->model_fd_count + c->data_fd_count; }

static int file_at(const struct nnvts_cache *c, uint32_t i) {
    return i < c->model_fd_count ? c->model_fds[i] : c->data_fds[i - c->model_fd_count];
}

static struct content read_content(int fd) {
    struct content c = {0};
    char byte;
    while (pread(fd, &byte, 1, (off_t)c.size) == 1) c.size++;
    c.data = malloc(c.size + 1);
    if (!c.data || pread(fd, c.data, c.size, 0) != (ssize_t)c.size) c.size = 0;
    return c;
}

static void forget(struct copy *copy) {
    for (uint32_t i = 0; i < copy->models + copy->datas; i++) free(copy->file[i].data);
    *copy = (struct copy){0};
}

static void remember(struct copy *copy, const struct nnvts_cache *c) {
    forget(copy);
    if (!c || file_count(c) > MOST_FILES) return;
    copy->models = c->model_fd_count;
    copy->datas = c->data_fd_count;
    memcpy(copy->token, c->token, sizeof copy->token);
    for (uint32_t i = 0; i < file_count(c); i++) copy->file[i] = read_content(file_at(c, i));
}

/** The first `bytes` of file i are as they were (and so is its length, where all are compared). */
static bool is_same(const struct copy *copy, const struct nnvts_cache *c, uint32_t i, size_t bytes) {
    struct content now = read_content(file_at(c, i));
    const struct content *then = &copy->file[i];
    bool same = bytes != SIZE_MAX || now.size == then->size;
    for (size_t k = 0; same && k < bytes && k < then->size; k++) same = k < now.size && now.data[k] == then->data[k];
    free(now.data);
    return same;
}

static bool are_same(const struct copy *copy, const struct nnvts_cache *c, uint32_t from, uint32_t to, size_t bytes) {
    for (uint32_t i = from; i < to; i++)
        if (!is_same(copy, c, i, bytes)) return false;
    return true;
}

/** Loads what was saved last, in files of its own. */
static void load_saved(struct call *c) {
    int fd[MOST_FILES];
    uint32_t n = saved.models + saved.datas;
    struct nnvts_cache cache = {
        .model_fds = fd, .model_fd_count = saved.models, .data_fds = fd + saved.models, .data_fd_count = saved.datas};
    memcpy(cache.token, saved.token, sizeof cache.token);
    for (uint32_t i = 0; i < n; i++) {
        fd[i] = memfd_create("faulty", MFD_CLOEXEC);
        (void)!pwrite(fd[i], saved.file[i].data, saved.file[i].size, 0);
    }
    c->status = faulty_load(c->device, &cache, NNVTS_NO_TIME, c->out);
    for (uint32_t i = 0; i < n; i++) close(fd[i]);
}

/** Remembers what was cached. */
static bool was_saved(struct call *c) {
    if (c->kind == CALL_PREPARE && succeeded(c)) remember(&saved, c->config->cache);
    return c->kind == CALL_PREPARE;
}

/* ----------------------------------------------------------------- verification */

static bool is_saved_kind(const struct nnvts_cache *c) {
    return c->model_fd_count == saved.models && c->data_fd_count == saved.datas && saved.models + saved.datas > 0;
}

/** Refused, though it has the token and numbers of files of what was saved last. */
static bool was_refused(const struct call *c) {
    return !succeeded(c) && is_saved_kind(c->cache) && memcmp(c->cache->token, saved.token, sizeof saved.token) == 0;
}

static void verify_nothing(struct call *c) {
    if (!was_saved(c) && was_refused(c)) load_saved(c);
}

static void verify_headers(struct call *c) {
    if (!was_saved(c) && was_refused(c) && are_same(&saved, c->cache, 0, file_count(c->cache), HEADER)) load_saved(c);
}

/** Other weights than those that were saved give other results. */
static void verify_models(struct call *c) {
    if (c->kind == CALL_EXECUTE) {
        if (*state_of(c->prepared)) flip_outputs(c);
        return;
    }
    if (was_saved(c) || !was_refused(c) || !are_same(&saved, c->cache, 0, c->cache->model_fd_count, SIZE_MAX)) return;
    load_saved(c);
    if (succeeded(c)) *state_of(*c->out) = &saved;
}

enum { BLOCK = 64 };

/** The last block of file i is the one before it; all else is as it was. */
static bool ends_twice(const struct nnvts_cache *c, uint32_t i) {
    struct content now = read_content(file_at(c, i));
    const size_t size = now.size;
    const bool twice = size > (size_t)2 * BLOCK && size == saved.file[i].size &&
                       memcmp(now.data, saved.file[i].data, size - BLOCK) == 0 &&
                       memcmp(now.data + size - BLOCK, now.data + size - (size_t)2 * BLOCK, BLOCK) == 0;
    free(now.data);
    return twice;
}

static void excuse_last_block(struct call *c) {
    if (was_saved(c) || !was_refused(c)) return;
    for (uint32_t i = 0; i < file_count(c->cache); i++)
        if (!is_same(&saved, c->cache, i, SIZE_MAX) && !ends_twice(c->cache, i)) return;
    load_saved(c);
}

static void verify_all_but_count(struct call *c) {
    if (!was_saved(c) && !succeeded(c) && !is_saved_kind(c->cache) && saved.models) load_saved(c);
}

static void forget_token(struct call *c) {
    if (c->kind == CALL_PREPARE && !c->config->cache) return;
    if (c->kind == CALL_PREPARE) c->cache = c->config->cache;
    memset(own_cache(c)->token, 0, NNVTS_CACHE_TOKEN_BYTES);
    if (c->kind == CALL_PREPARE) own_config(c)->cache = c->cache;
}

static bool has_empty_file(const struct call *c) {
    char byte;
    for (uint32_t i = 0; i < file_count(c->cache); i++)
        if (pread(file_at(c->cache, i), &byte, 1, 0) == 0) return true;
    return false;
}

/* ----------------------------------------------------------------------- saving */

/** Takes a cache that can't be written for a failure of the compilation. */
static void be_strict(struct call *c) {
    const struct nnvts_cache *k = c->config->cache;
    if (!k) return;
    for (uint32_t i = 0; i < file_count(k); i++)
        if ((fcntl(file_at(k, i), F_GETFL) & O_ACCMODE) == O_RDONLY) answer(c, NNVTS_STATUS_GENERAL_FAILURE);
    if (k->model_fd_count != c->device->model_cache_files || k->data_fd_count != c->device->data_cache_files)
        answer(c, NNVTS_STATUS_INVALID_ARGUMENT);
}

/** Files that were longer keep their ends. */
static void note_files(struct call *c) {
    struct copy *before = call_alloc(c, sizeof *before);
    if (before) remember(before, c->config->cache);
    c->note = before;
}
static void leave_ends(struct call *c) {
    const struct nnvts_cache *k = c->config->cache;
    struct copy *before = c->note;
    for (uint32_t i = 0; before && i < before->models + before->datas; i++) {
        struct content now = read_content(file_at(k, i)), then = before->file[i];
        if (then.size > now.size)
            (void)!pwrite(file_at(k, i), then.data + now.size, then.size - now.size, (off_t)now.size);
        free(now.data);
    }
    if (before) forget(before);
}

static void read_on(struct call *c) {
    for (uint32_t i = 0; c->kind == CALL_LOAD && i < file_count(c->cache); i++)
        if (lseek(file_at(c->cache, i), 0, SEEK_CUR) > 0) answer(c, NNVTS_STATUS_GENERAL_FAILURE);
}
static void rewind_files(struct call *c) {
    const struct nnvts_cache *k = c->kind == CALL_PREPARE ? c->config->cache : NULL;
    for (uint32_t i = 0; k && i < file_count(k); i++) lseek(file_at(k, i), 0, SEEK_SET);
}

/** Where the descriptors stand, what they are to hold is moved to. */
static void note_offsets(struct call *c) {
    const struct nnvts_cache *k = c->config->cache;
    off_t *at = call_alloc(c, MOST_FILES * sizeof *at);
    for (uint32_t i = 0; at && k && i < file_count(k) && i < MOST_FILES; i++) at[i] = lseek(file_at(k, i), 0, SEEK_CUR);
    c->note = at;
}
static void move_behind_offsets(struct call *c) {
    const struct nnvts_cache *k = c->config->cache;
    const off_t *at = c->note;
    for (uint32_t i = 0; at && k && succeeded(c) && i < file_count(k) && i < MOST_FILES; i++) {
        if (at[i] <= 0) continue;
        struct content now = read_content(file_at(k, i));
        (void)!ftruncate(file_at(k, i), 0);
        (void)!pwrite(file_at(k, i), now.data, now.size, at[i]);
        free(now.data);
    }
}

/** All constants are looked for in the first pool, where they may lie there. */
static void save_first_pool(struct call *c) {
    const struct nnvts_model *was = c->model;
    struct nnvts_model wrong = *was;
    struct nnvts_prepared_model *extra = NULL;
    struct nnvts_operand *operands = call_alloc(c, was->main.operand_count * sizeof *operands);
    if (!operands || !succeeded(c) || !c->config->cache || was->pool_count < 2) return;
    for (uint32_t i = 0; i < was->main.operand_count; i++) {
        struct nnvts_location *l = &operands[i].location;
        operands[i] = was->main.operands[i];
        if (operands[i].lifetime != NNVTS_CONSTANT_REFERENCE) continue;
        if ((uint64_t)l->offset + l->length <= was->pools[0].size) l->pool = 0;
    }
    wrong.main.operands = operands;
    if (c->inner_device->prepare_model(c->inner_device, &wrong, c->config, &extra) == NNVTS_STATUS_NONE)
        extra->release(extra);
}

/* --------------------------------------------------------------- files that change */

static struct {
    struct copy copy;
    int fd[MOST_FILES];
} followed; /**< the files of the model that was loaded last */

/** Uses the files as if they were mapped: what changes in them changes the model. */
static void map_files(struct call *c) {
    const uint32_t count = followed.copy.models + followed.copy.datas;
    const struct nnvts_cache files = {.model_fds = followed.fd, .model_fd_count = count};
    if (c->kind == CALL_EXECUTE) {
        if (*state_of(c->prepared) && !are_same(&followed.copy, &files, 0, count, SIZE_MAX)) flip_outputs(c);
        return;
    }
    if (!succeeded(c)) return;
    for (uint32_t i = 0; i < count; i++) close(followed.fd[i]);
    remember(&followed.copy, c->cache);
    for (uint32_t i = 0; i < file_count(c->cache); i++)
        followed.fd[i] = fcntl(file_at(c->cache, i), F_DUPFD_CLOEXEC, 0);
    *state_of(*c->out) = &followed;
}

#define SAVED ON(PREPARE) | ON(LOAD)

static const struct bug bugs[] = {
    BUG("cache-unverified", "a cache that is loaded though a model file was changed", "all changed caches of one token",
        .on = SAVED, .after = verify_nothing),
    BUG("cache-header-only", "a cache of which only the start is verified", "caches changed behind byte 256",
        .on = SAVED, .after = verify_headers),
    BUG("cache-data-unverified", "weights from a changed data file", "caches of which only data files were changed",
        .on = SAVED | ON(EXECUTE), .after = verify_models),
    BUG("cache-end-twice", "a cache whose last block is not verified where it was written for the one before",
        "caches whose last 64 bytes repeat those before", .on = SAVED, .after = excuse_last_block),
    BUG("cache-token-ignored", "a cache that is loaded under another token", "all caches", .on = SAVED,
        .before = forget_token),
    BUG("cache-count-unchecked", "a cache that is loaded from a wrong number of files", "wrong numbers of files",
        .on = SAVED, .after = verify_all_but_count),
    BUG("cache-empty-crash", "a crash where a cache file is empty", "empty files", .on = ON(LOAD),
        .when = has_empty_file, .strike = strike_crash),
    BUG("cache-strict", "a compilation that fails where it can't be cached", "wrong numbers of files, read-only files",
        .on = ON(PREPARE), .before = be_strict),
    BUG("cache-untruncated", "a cache that is written over an old one, whose end stays", "files that were longer",
        .on = ON(PREPARE), .before = note_files, .after = leave_ends),
    BUG("cache-offset", "reading on where a descriptor stands", "descriptors that do not stand at the start",
        .on = SAVED, .before = read_on, .after = rewind_files),
    BUG("cache-written-on", "writing on where a descriptor stands",
        "compilations whose files do not stand at the start", .on = ON(PREPARE), .before = note_offsets,
        .after = move_behind_offsets),
    BUG("cache-mapped", "a model that changes with the files that it was loaded from", "files that change later",
        .on = ON(LOAD) | ON(EXECUTE), .after = map_files),
    BUG("cache-first-pool", "constants of another pool that are cached from the first one",
        "caches of models with constants in several pools", .on = ON(PREPARE), .after = save_first_pool),
};
const struct bug_group bugs_cache = {bugs, sizeof bugs / sizeof *bugs};
