/* SPDX-License-Identifier: Apache-2.0 */
/** @file files.c Cache files, and saving into and loading from them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "harness/suites/cache/cache.h"

/* ---------------------------------------------------------------------- files */

uint32_t nnv_cache_count(const struct nnv_cache_files *files) { return files->models + files->datas; }

bool nnv_cache_open(struct nnv_context *s, uint32_t models, uint32_t datas, uint32_t salt,
                    struct nnv_cache_files *files) {
    struct nnv_rng rng = nnv_rng_make(s->env->config->seed, salt, 0);
    *files = (struct nnv_cache_files){0};
    if (models + datas > NNV_CACHE_MAX_FILES) return nnv_context_error(s, "%u cache files", models + datas);
    for (uint32_t i = 0; i < NNVTS_CACHE_TOKEN_BYTES; i++) files->token[i] = (uint8_t)nnv_rng_u64(&rng);
    for (uint32_t i = 0; i < models + datas; i++) {
        files->fd[i] = nnv_memory_file("nnvts-cache", 0, 0);
        if (files->fd[i] < 0) return nnv_context_error(s, "no file for a cache: %s", strerror(errno));
        if (i < models)
            files->models++;
        else
            files->datas++;
    }
    return true;
}

void nnv_cache_close(struct nnv_cache_files *files) {
    for (uint32_t i = 0; i < nnv_cache_count(files); i++) close(files->fd[i]);
    files->models = files->datas = 0;
}

struct nnvts_cache nnv_cache_view(const struct nnv_cache_files *files) {
    struct nnvts_cache cache = {.model_fds = files->fd,
                                .model_fd_count = files->models,
                                .data_fds = files->fd + files->models,
                                .data_fd_count = files->datas};
    memcpy(cache.token, files->token, sizeof cache.token);
    return cache;
}

bool nnv_cache_read(struct nnv_context *s, const struct nnv_cache_files *files, struct nnv_cache_content *out) {
    for (uint32_t i = 0; i < nnv_cache_count(files); i++) {
        struct stat st;
        if (fstat(files->fd[i], &st) != 0) return nnv_context_error(s, "a cache file is gone: %s", strerror(errno));
        out->file[i].size = (size_t)st.st_size;
        out->file[i].data = NNV_NEW(s->env->arena, uint8_t, out->file[i].size + 1);
        if (!out->file[i].data) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
        if (pread(files->fd[i], out->file[i].data, out->file[i].size, 0) != st.st_size)
            return nnv_context_error(s, "a cache file can't be read: %s", strerror(errno));
    }
    return true;
}

bool nnv_cache_put(const struct nnv_cache_files *files, uint32_t i, const void *data, size_t size) {
    return ftruncate(files->fd[i], (off_t)size) == 0 &&
           (size == 0 || pwrite(files->fd[i], data, size, 0) == (ssize_t)size);
}

bool nnv_cache_restore(const struct nnv_cache_files *files, const struct nnv_cache_content *content) {
    for (uint32_t i = 0; i < nnv_cache_count(files); i++)
        if (!nnv_cache_put(files, i, content->file[i].data, content->file[i].size)) return false;
    return true;
}

const char *nnv_cache_name(const struct nnv_cache_files *files, uint32_t i, char buf[32]) {
    bool model = i < files->models;
    snprintf(buf, 32, "%s file %u", model ? "model" : "data", model ? i : i - files->models);
    return buf;
}

/* ------------------------------------------------------- saving, loading, judging */

struct nnvts_prepared_model *nnv_cache_prepare(struct nnv_cache_fixture *b, const struct nnv_fixture *fixture,
                                               const struct nnvts_cache *cache, const char *what) {
    struct nnvts_prepare_config config = nnv_prepare_config;
    struct nnvts_prepared_model *prepared;
    char call[160];
    snprintf(call, sizeof call, "prepare_model with %s", what);
    config.cache = cache;
    nnv_context_compile(b->s, fixture, call, &config, 1u << NNVTS_STATUS_NONE, &prepared);
    return prepared;
}

bool nnv_cache_execute(struct nnv_cache_fixture *b, struct nnvts_prepared_model *prepared, const char *what) {
    char call[160];
    snprintf(call, sizeof call, "execute of a model prepared with %s", what);
    nnv_request_reset(&b->values);
    return nnv_context_check_values(b->s, call, nnv_context_sync(b->s, prepared, &b->values), &b->values);
}

bool nnv_cache_prepare_right(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, const char *what) {
    struct nnvts_prepared_model *prepared = nnv_cache_prepare(b, &b->fixture, cache, what);
    if (!prepared) return false;
    bool right = nnv_cache_execute(b, prepared, what);
    nnv_context_release(b->s, prepared);
    return right;
}

bool nnv_cache_save(struct nnv_cache_fixture *b, struct nnv_cache_content *content) {
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    struct nnvts_prepared_model *prepared = nnv_cache_prepare(b, &b->fixture, &cache, "empty cache files");
    if (!prepared) return false;
    nnv_context_release(b->s, prepared);
    return nnv_cache_read(b->s, &b->files, content);
}

bool nnv_cache_load(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, const char *what,
                    enum nnvts_status *status, struct nnvts_prepared_model **out) {
    struct nnv_context *s = b->s;
    char call[160];
    snprintf(call, sizeof call, "prepare_from_cache of %s", what);
    struct nnv_preparation p = {.device = s->device, .abi = &b->fixture.model, .phase = s->env->phase};
    nnv_prepare_from_cache(&p, cache, NNVTS_NO_TIME);
    *status = p.status;
    *out = p.prepared;
    return nnv_expect_kept(s, call, &p.breach, p.status == NNVTS_STATUS_NONE ? 2 : 1);
}

/** Loads. Right are these statuses, or (may) a model in any case; and a model that is to be executed gives its values.
 */
static bool load_as(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, const char *what, uint32_t statuses,
                    bool may, bool run) {
    struct nnvts_prepared_model *prepared;
    enum nnvts_status st;
    char call[160];
    snprintf(call, sizeof call, "prepare_from_cache of %s", what);
    if (!nnv_cache_load(b, cache, what, &st, &prepared)) return false;
    bool right = (may && prepared) || nnv_expect_status_in(b->s, call, st, statuses);
    if (run && right && prepared) right = nnv_cache_execute(b, prepared, what);
    nnv_context_release(b->s, prepared);
    return right;
}

bool nnv_cache_must_load(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, const char *what) {
    return load_as(b, cache, what, 1u << NNVTS_STATUS_NONE, false, true);
}

bool nnv_cache_must_fail(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, uint32_t statuses,
                         const char *what) {
    return load_as(b, cache, what, statuses, false, false);
}

bool nnv_cache_may_load(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, const char *what) {
    return load_as(b, cache, what, NNV_CACHE_REFUSED, true, true);
}
