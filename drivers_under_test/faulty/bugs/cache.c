/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_cache.c Bugs of compilation caching. */
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

/** prepare_from_cache of what was saved last, in files of its own. */
static enum nnvts_status load_saved(struct nnvts_device *self, struct nnvts_prepared_model **out) {
    int fd[MOST_FILES];
    uint32_t n = saved.models + saved.datas;
    struct nnvts_cache cache = {
        .model_fds = fd, .model_fd_count = saved.models, .data_fds = fd + saved.models, .data_fd_count = saved.datas};
    memcpy(cache.token, saved.token, sizeof cache.token);
    for (uint32_t i = 0; i < n; i++) {
        fd[i] = memfd_create("faulty", MFD_CLOEXEC);
        (void)!pwrite(fd[i], saved.file[i].data, saved.file[i].size, 0);
    }
    enum nnvts_status st = faulty_prepare_from_cache(self, &cache, NNVTS_NO_TIME, out);
    for (uint32_t i = 0; i < n; i++) close(fd[i]);
    return st;
}

static enum nnvts_status prepare_remembering(struct nnvts_device *self, const struct nnvts_model *model,
                                             const struct nnvts_prepare_config *config,
                                             struct nnvts_prepared_model **out) {
    enum nnvts_status st = faulty_prepare(self, model, config, out);
    if (st == NNVTS_STATUS_NONE) remember(&saved, config->cache);
    return st;
}

/* ----------------------------------------------------------------- verification */

static bool is_saved_kind(const struct nnvts_cache *c) {
    return c->model_fd_count == saved.models && c->data_fd_count == saved.datas && saved.models + saved.datas > 0;
}

static enum nnvts_status load_unverified(struct nnvts_device *self, const struct nnvts_cache *c, uint64_t deadline_ns,
                                         struct nnvts_prepared_model **out) {
    enum nnvts_status st = faulty_prepare_from_cache(self, c, deadline_ns, out);
    if (st == NNVTS_STATUS_NONE || !is_saved_kind(c) || memcmp(c->token, saved.token, sizeof c->token) != 0) return st;
    return load_saved(self, out);
}
static void unverified(struct nnvts_device *device) {
    device->prepare_model = prepare_remembering;
    device->prepare_from_cache = load_unverified;
}

static enum nnvts_status load_by_header(struct nnvts_device *self, const struct nnvts_cache *c, uint64_t deadline_ns,
                                        struct nnvts_prepared_model **out) {
    enum nnvts_status st = faulty_prepare_from_cache(self, c, deadline_ns, out);
    if (st == NNVTS_STATUS_NONE || !is_saved_kind(c) || memcmp(c->token, saved.token, sizeof c->token) != 0 ||
        !are_same(&saved, c, 0, file_count(c), HEADER))
        return st;
    return load_saved(self, out);
}
static void header_only(struct nnvts_device *device) {
    device->prepare_model = prepare_remembering;
    device->prepare_from_cache = load_by_header;
}

static enum nnvts_status execute_wrong(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    enum nnvts_status st = inner->execute(inner, request, config, result);
    for (uint32_t i = 0; st == NNVTS_STATUS_NONE && i < request->output_count; i++) {
        const struct nnvts_location *l = &request->outputs[i].location;
        uint8_t *data = request->pools[l->pool].data;
        if (data && l->length) data[l->offset + l->length - 1] ^= 0x40; /* the top byte of the last value */
    }
    return st;
}

/** Other weights than those that were saved. */
static enum nnvts_status load_any_data(struct nnvts_device *self, const struct nnvts_cache *c, uint64_t deadline_ns,
                                       struct nnvts_prepared_model **out) {
    enum nnvts_status st = faulty_prepare_from_cache(self, c, deadline_ns, out);
    if (st == NNVTS_STATUS_NONE || !is_saved_kind(c) || memcmp(c->token, saved.token, sizeof c->token) != 0 ||
        !are_same(&saved, c, 0, c->model_fd_count, SIZE_MAX))
        return st;
    st = load_saved(self, out);
    if (st == NNVTS_STATUS_NONE) (*out)->execute = execute_wrong;
    return st;
}
static void data_unverified(struct nnvts_device *device) {
    device->prepare_model = prepare_remembering;
    device->prepare_from_cache = load_any_data;
}

static enum nnvts_status load_any_count(struct nnvts_device *self, const struct nnvts_cache *c, uint64_t deadline_ns,
                                        struct nnvts_prepared_model **out) {
    enum nnvts_status st = faulty_prepare_from_cache(self, c, deadline_ns, out);
    return st == NNVTS_STATUS_NONE || is_saved_kind(c) || !saved.models ? st : load_saved(self, out);
}
static void any_count(struct nnvts_device *device) {
    device->prepare_model = prepare_remembering;
    device->prepare_from_cache = load_any_count;
}

static const uint8_t no_token[NNVTS_CACHE_TOKEN_BYTES];

static enum nnvts_status prepare_tokenless(struct nnvts_device *self, const struct nnvts_model *model,
                                           const struct nnvts_prepare_config *config,
                                           struct nnvts_prepared_model **out) {
    struct nnvts_prepare_config other = *config;
    struct nnvts_cache cache;
    if (config->cache) {
        cache = *config->cache;
        memcpy(cache.token, no_token, sizeof cache.token);
        other.cache = &cache;
    }
    return faulty_prepare(self, model, &other, out);
}
static enum nnvts_status load_tokenless(struct nnvts_device *self, const struct nnvts_cache *c, uint64_t deadline_ns,
                                        struct nnvts_prepared_model **out) {
    struct nnvts_cache cache = *c;
    memcpy(cache.token, no_token, sizeof cache.token);
    return faulty_prepare_from_cache(self, &cache, deadline_ns, out);
}
static void token_ignored(struct nnvts_device *device) {
    device->prepare_model = prepare_tokenless;
    device->prepare_from_cache = load_tokenless;
}

static enum nnvts_status load_or_crash(struct nnvts_device *self, const struct nnvts_cache *c, uint64_t deadline_ns,
                                       struct nnvts_prepared_model **out) {
    char byte;
    for (uint32_t i = 0; i < file_count(c); i++)
        if (pread(file_at(c, i), &byte, 1, 0) == 0) strike_crash();
    return faulty_prepare_from_cache(self, c, deadline_ns, out);
}
static void empty_crash(struct nnvts_device *device) { device->prepare_from_cache = load_or_crash; }

/* ----------------------------------------------------------------------- saving */

/** Takes a cache that can't be written for a failure of the compilation. */
static enum nnvts_status prepare_strict(struct nnvts_device *self, const struct nnvts_model *model,
                                        const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    const struct nnvts_cache *c = config->cache;
    if (c && (c->model_fd_count != self->model_cache_files || c->data_fd_count != self->data_cache_files))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; c && i < file_count(c); i++)
        if ((fcntl(file_at(c, i), F_GETFL) & O_ACCMODE) == O_RDONLY) return NNVTS_STATUS_GENERAL_FAILURE;
    return faulty_prepare(self, model, config, out);
}
static void strict(struct nnvts_device *device) { device->prepare_model = prepare_strict; }

/** Files that were longer keep their ends. */
static enum nnvts_status prepare_untruncated(struct nnvts_device *self, const struct nnvts_model *model,
                                             const struct nnvts_prepare_config *config,
                                             struct nnvts_prepared_model **out) {
    const struct nnvts_cache *c = config->cache;
    struct copy before = {0};
    remember(&before, c);
    enum nnvts_status st = faulty_prepare(self, model, config, out);
    for (uint32_t i = 0; c && i < before.models + before.datas; i++) {
        struct content now = read_content(file_at(c, i)), then = before.file[i];
        if (then.size > now.size)
            (void)!pwrite(file_at(c, i), then.data + now.size, then.size - now.size, (off_t)now.size);
        free(now.data);
    }
    forget(&before);
    return st;
}
static void untruncated(struct nnvts_device *device) { device->prepare_model = prepare_untruncated; }

static enum nnvts_status load_at_offset(struct nnvts_device *self, const struct nnvts_cache *c, uint64_t deadline_ns,
                                        struct nnvts_prepared_model **out) {
    for (uint32_t i = 0; i < file_count(c); i++)
        if (lseek(file_at(c, i), 0, SEEK_CUR) > 0) return NNVTS_STATUS_GENERAL_FAILURE;
    return faulty_prepare_from_cache(self, c, deadline_ns, out);
}
static enum nnvts_status prepare_rewound(struct nnvts_device *self, const struct nnvts_model *model,
                                         const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    enum nnvts_status st = faulty_prepare(self, model, config, out);
    for (uint32_t i = 0; config->cache && i < file_count(config->cache); i++)
        lseek(file_at(config->cache, i), 0, SEEK_SET);
    return st;
}
static void offset_matters(struct nnvts_device *device) {
    device->prepare_model = prepare_rewound;
    device->prepare_from_cache = load_at_offset;
}

/* --------------------------------------------------------------- files that change */

static struct {
    struct copy copy;
    int fd[MOST_FILES];
} followed; /**< the files of the model that was loaded last */

/** Uses the files as if they were mapped: what changes in them changes the model. */
static enum nnvts_status execute_mapped(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const struct nnvts_execution_config *config,
                                        struct nnvts_execution_result *result) {
    struct nnvts_cache c = {.model_fds = followed.fd, .model_fd_count = followed.copy.models + followed.copy.datas};
    struct nnvts_prepared_model *inner = faulty_inner(self);
    if (!are_same(&followed.copy, &c, 0, file_count(&c), SIZE_MAX)) return execute_wrong(self, request, config, result);
    return inner->execute(inner, request, config, result);
}
static enum nnvts_status load_mapped(struct nnvts_device *self, const struct nnvts_cache *c, uint64_t deadline_ns,
                                     struct nnvts_prepared_model **out) {
    enum nnvts_status st = faulty_prepare_from_cache(self, c, deadline_ns, out);
    if (st != NNVTS_STATUS_NONE) return st;
    for (uint32_t i = 0; i < followed.copy.models + followed.copy.datas; i++) close(followed.fd[i]);
    remember(&followed.copy, c);
    for (uint32_t i = 0; i < file_count(c); i++) followed.fd[i] = fcntl(file_at(c, i), F_DUPFD_CLOEXEC, 0);
    (*out)->execute = execute_mapped;
    return st;
}
static void mapped(struct nnvts_device *device) { device->prepare_from_cache = load_mapped; }

static const struct bug bugs[] = {
    BUG("cache-unverified", "a cache that is loaded though a model file was changed", "all changed caches of one token",
        .device = unverified),
    BUG("cache-header-only", "a cache of which only the start is verified", "caches changed behind byte 256",
        .device = header_only),
    BUG("cache-data-unverified", "weights from a changed data file", "caches of which only data files were changed",
        .device = data_unverified),
    BUG("cache-token-ignored", "a cache that is loaded under another token", "all caches", .device = token_ignored),
    BUG("cache-count-unchecked", "a cache that is loaded from a wrong number of files", "wrong numbers of files",
        .device = any_count),
    BUG("cache-empty-crash", "a crash where a cache file is empty", "empty files", .device = empty_crash),
    BUG("cache-strict", "a compilation that fails where it can't be cached", "wrong numbers of files, read-only files",
        .device = strict),
    BUG("cache-untruncated", "a cache that is written over an old one, whose end stays", "files that were longer",
        .device = untruncated),
    BUG("cache-offset", "reading on where a descriptor stands", "descriptors that do not stand at the start",
        .device = offset_matters),
    BUG("cache-mapped", "a model that changes with the files that it was loaded from", "files that change later",
        .device = mapped),
};
const struct bug_group bugs_cache = {bugs, sizeof bugs / sizeof *bugs};
