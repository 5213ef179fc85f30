/* SPDX-License-Identifier: Apache-2.0 */
/** @file cache.c The suite "cache": compilation caching, and what must not come of it. */
#include "harness/suites/cache/cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/suites/suites.h"
#include "harness/suites/kit/cases.h"

/* ------------------------------------------------------------ numbers of files */

static void counts(struct nnv_cache_fixture *b) {
    const struct nnvts_device *d = b->s->device;
    nnv_expect(b->s, d->model_cache_files <= NNVTS_MAX_CACHE_FILES && d->data_cache_files <= NNVTS_MAX_CACHE_FILES,
               "%u model and %u data cache files are announced, at most %u of each are allowed", d->model_cache_files,
               d->data_cache_files, NNVTS_MAX_CACHE_FILES);
    nnv_expect(b->s, (!d->model_cache_files && !d->data_cache_files) || d->prepare_from_cache,
               "cache files are announced, but prepare_from_cache is missing");
}

/** A number of files that is not the right one: all but one, one more, none of a kind. False behind the last. */
static bool wrong_count(const struct nnvts_device *d, uint32_t i, uint32_t *models, uint32_t *datas) {
    const uint32_t m = d->model_cache_files, n = d->data_cache_files;
    const uint32_t wrong[][2] = {{m + 1, n}, {m, n + 1}, {m + 1, n + 1}, {m - 1, n},
                                 {m, n - 1}, {0, n},     {m, 0},         {0, 0}};
    if (i >= sizeof wrong / sizeof *wrong) return false;
    *models = wrong[i][0];
    *datas = wrong[i][1];
    return true;
}
static bool is_wrong(const struct nnvts_device *d, uint32_t models, uint32_t datas) {
    return models <= d->model_cache_files + 1 && datas <= d->data_cache_files + 1 &&
           (models != d->model_cache_files || datas != d->data_cache_files);
}

/* A wrong number of files: the driver does not cache, and does not fail. */
static void save_wrong_count(struct nnv_cache_fixture *b) {
    const struct nnvts_device *d = b->s->device;
    uint32_t models, datas;
    for (uint32_t i = 0; wrong_count(d, i, &models, &datas); i++) {
        struct nnv_cache_files files;
        char what[96];
        if (!is_wrong(d, models, datas)) continue;
        snprintf(what, sizeof what, "%u model and %u data cache files", models, datas);
        if (nnv_cache_open(b->s, models, datas, i, &files)) {
            struct nnvts_cache cache = nnv_cache_view(&files);
            nnv_cache_prepare_right(b, &cache, what);
        }
        nnv_cache_close(&files);
    }
}

static void load_wrong_count(struct nnv_cache_fixture *b) {
    const struct nnvts_device *d = b->s->device;
    struct nnv_cache_content content;
    uint32_t models, datas;
    if (!nnv_cache_save(b, &content)) return;
    for (uint32_t i = 0; wrong_count(d, i, &models, &datas); i++) {
        struct nnv_cache_files files;
        char what[96];
        if (!is_wrong(d, models, datas)) continue;
        snprintf(what, sizeof what, "%u model and %u data cache files", models, datas);
        bool ok = nnv_cache_open(b->s, models, datas, 0, &files);
        for (uint32_t k = 0; ok && k < models + datas; k++) { /* those that exist are right */
            uint32_t from = k < models ? k : k - models + b->files.models;
            bool exists = k < models ? k < b->files.models : k - models < b->files.datas;
            if (exists) ok = nnv_cache_put(&files, k, content.file[from].data, content.file[from].size);
        }
        memcpy(files.token, b->files.token, sizeof files.token);
        struct nnvts_cache cache = nnv_cache_view(&files);
        if (ok) nnv_cache_must_fail(b, &cache, NNV_CACHE_REFUSED, what);
        nnv_cache_close(&files);
    }
}

/* ------------------------------------------------------------------ round trips */

static void round_trip(struct nnv_cache_fixture *b) {
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    struct nnvts_prepared_model *first = nnv_cache_prepare(b, &b->fixture, &cache, "empty cache files"), *second;
    enum nnvts_status st;
    if (!first) return;
    bool right = nnv_cache_execute(b, first, "empty cache files") &&
                 nnv_cache_load(b, &cache, "its own cache", &st, &second) &&
                 nnv_expect_status(b->s, "prepare_from_cache of its own cache", st, NNVTS_STATUS_NONE);
    if (right) {
        right = nnv_cache_execute(b, second, "its own cache") && nnv_cache_execute(b, first, "empty cache files");
        if (right) nnv_context_release(b->s, first);
        right = right && nnv_cache_execute(b, second, "a cache whose maker was released");
        if (!b->s->result->worker_damaged) nnv_context_release(b->s, second);
        if (right) nnv_cache_must_load(b, &cache, "its own cache, a second time");
        if (right) return;
    }
    if (!b->s->result->worker_damaged) nnv_context_release(b->s, first);
}

/* The offsets of the descriptors say nothing. */
static void any_offset(struct nnv_cache_fixture *b) {
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    for (uint32_t i = 0; i < nnv_cache_count(&b->files); i++) lseek(b->files.fd[i], 1000, SEEK_SET);
    if (!nnv_cache_prepare_right(b, &cache, "descriptors that stand at byte 1000")) return;
    for (uint32_t i = 0; i < nnv_cache_count(&b->files); i++) lseek(b->files.fd[i], 3, SEEK_SET);
    nnv_cache_must_load(b, &cache, "descriptors that stand at byte 3");
}

/* What the files held before does not matter: they are written anew. */
static void twice(struct nnv_cache_fixture *b) {
    enum { OLD = 1 << 16 };
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    uint8_t *old = NNV_NEW(b->s->env->arena, uint8_t, OLD);
    if (!old) {
        nnv_context_error(b->s, NNV_OUT_OF_MEMORY);
        return;
    }
    memset(old, 0x77, OLD);
    for (uint32_t i = 0; i < nnv_cache_count(&b->files); i++)
        if (!nnv_cache_put(&b->files, i, old, OLD)) nnv_context_error(b->s, "a cache file can't be written");
    for (int i = 0; i < 2; i++)
        if (!nnv_cache_prepare_right(b, &cache, i ? "files that hold its cache" : "files that hold something else") ||
            !nnv_cache_must_load(b, &cache, i ? "a cache that was written twice" : "a cache written over old files"))
            return;
}

/** The same kind of model, drawn by another seed: other weights, where it has any. */
static bool other_fixture(struct nnv_cache_fixture *b, struct nnv_fixture *other) {
    return nnv_context_drawn(b->s, b->kind, b->s->env->config->seed + 1, other);
}

/** Saves the other model under this token into the bench's files, and reads them; the bench's token is kept. */
static bool save_other(struct nnv_cache_fixture *b, const uint8_t *token, struct nnv_cache_content *content) {
    struct nnv_fixture other;
    if (!other_fixture(b, &other)) return false;
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    memcpy(cache.token, token, sizeof cache.token);
    struct nnvts_prepared_model *prepared = nnv_cache_prepare(b, &other, &cache, "cache files for another model");
    if (!prepared) return false;
    nnv_context_release(b->s, prepared);
    return nnv_cache_read(b->s, &b->files, content);
}

static void files_used_again(struct nnv_cache_fixture *b) {
    uint8_t token[NNVTS_CACHE_TOKEN_BYTES] = {1, 2, 3};
    struct nnv_cache_content content;
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    if (!save_other(b, token, &content) ||
        !nnv_cache_prepare_right(b, &cache, "files that hold another model's cache") ||
        !nnv_cache_must_load(b, &cache, "a cache written over another model's"))
        return;
    memcpy(cache.token, token, sizeof cache.token);
    nnv_cache_must_fail(b, &cache, NNV_CACHE_UNFIT, "a cache under the token of the model before");
}

/* ------------------------------------------------------- tokens, exchanged files */

static void other_token(struct nnv_cache_fixture *b) {
    struct nnv_cache_content content;
    if (!nnv_cache_save(b, &content)) return;
    for (uint32_t i = 0; i < NNVTS_CACHE_TOKEN_BYTES; i++) {
        struct nnvts_cache cache = nnv_cache_view(&b->files);
        char what[96];
        snprintf(what, sizeof what, "a cache under a token with one bit flipped in byte %u", i);
        cache.token[i] ^= (uint8_t)(1u << i % 8);
        if (!nnv_cache_must_fail(b, &cache, NNV_CACHE_UNFIT, what)) return;
    }
}

/* Another model's cache, made under another token. */
static void other_model(struct nnv_cache_fixture *b) {
    uint8_t token[NNVTS_CACHE_TOKEN_BYTES] = {9, 8, 7};
    struct nnv_cache_content content;
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    if (!save_other(b, token, &content)) return;
    nnv_cache_must_fail(b, &cache, NNV_CACHE_UNFIT, "another model's cache, made under another token");
}

/* Model files of one model, data files of another, of one token. */
static void mixed_files(struct nnv_cache_fixture *b) {
    struct nnv_cache_content own, other;
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    if (!nnv_cache_save(b, &own) || !save_other(b, b->files.token, &other)) return;
    for (uint32_t i = 0; i < b->files.models; i++)
        if (!nnv_cache_put(&b->files, i, own.file[i].data, own.file[i].size))
            nnv_context_error(b->s, "a cache file can't be written");
    nnv_cache_may_load(b, &cache, "its own model files with another model's data files");
}

/* --------------------------------------------------------------- descriptors */

/** The cache with file i opened by flags (or, where flags is -1, closed), handed to judge. */
static bool with_descriptor(struct nnv_cache_fixture *b, uint32_t i, int flags, const char *how,
                            bool (*judge)(struct nnv_cache_fixture *b, const struct nnvts_cache *cache,
                                          const char *what)) {
    struct nnv_cache_files files = b->files;
    char path[64], name[32], what[96];
    snprintf(path, sizeof path, "/proc/self/fd/%d", b->files.fd[i]);
    snprintf(what, sizeof what, "a cache whose %s %s", nnv_cache_name(&b->files, i, name), how);
    int fd = flags < 0 ? -1 : open(path, flags | O_CLOEXEC);
    if (flags >= 0 && fd < 0) return nnv_context_error(b->s, "a cache file can't be opened again");
    files.fd[i] = fd;
    struct nnvts_cache cache = nnv_cache_view(&files);
    bool right = judge(b, &cache, what);
    if (fd >= 0) close(fd);
    return right;
}

static void save_read_only(struct nnv_cache_fixture *b) {
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    for (uint32_t i = 0; i < nnv_cache_count(&b->files); i++) {
        if (!with_descriptor(b, i, O_RDONLY, "can't be written", nnv_cache_prepare_right)) return;
        if (!nnv_cache_may_load(b, &cache, "a cache that could not be written whole")) return;
    }
}

static void load_write_only(struct nnv_cache_fixture *b) {
    struct nnv_cache_content content;
    if (!nnv_cache_save(b, &content)) return;
    for (uint32_t i = 0; i < nnv_cache_count(&b->files); i++)
        if (!with_descriptor(b, i, O_WRONLY, "can't be read", nnv_cache_may_load)) return;
}

static bool must_be_refused(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, const char *what) {
    return nnv_cache_must_fail(b, cache, NNV_CACHE_REFUSED, what);
}

static void load_closed(struct nnv_cache_fixture *b) {
    struct nnv_cache_content content;
    if (!nnv_cache_save(b, &content)) return;
    for (uint32_t i = 0; i < b->files.models; i++)
        if (!with_descriptor(b, i, -1, "is closed", must_be_refused)) return;
    for (uint32_t i = b->files.models; i < nnv_cache_count(&b->files); i++)
        if (!with_descriptor(b, i, -1, "is closed", nnv_cache_may_load)) return;
}

static void load_never_saved(struct nnv_cache_fixture *b) {
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    nnv_cache_must_fail(b, &cache, NNV_CACHE_UNFIT, "files that were never written");
}

/* ------------------------------------------------------------------- registry */

static const struct nnv_cache_case cases[] = {
    {"counts", counts, true, true},
    {"save_wrong_count", save_wrong_count, false, true},
    {"load_wrong_count", load_wrong_count, true, false},
    {"round_trip", round_trip, false, false},
    {"any_offset", any_offset, false, false},
    {"twice", twice, false, false},
    {"files_used_again", files_used_again, false, false},
    {"other_token", other_token, false, false},
    {"other_model", other_model, false, false},
    {"mixed_files", mixed_files, false, false},
    {"save_read_only", save_read_only, true, false},
    {"load_write_only", load_write_only, true, false},
    {"load_closed", load_closed, true, false},
    {"load_never_saved", load_never_saved, true, false},
};
enum { OWN = sizeof cases / sizeof *cases };
/** Not of the fixtures, but of operations; behind the others. */
static const struct nnv_cache_case apart = {"apart", round_trip, false, false};

static const struct nnv_cache_case *case_at(uint64_t i) {
    if (i < OWN) return &cases[i];
    return i - OWN < nnv_cache_damage_count ? &nnv_cache_damages[i - OWN] : &apart;
}

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    const uint64_t count = OWN + nnv_cache_damage_count;
    for (uint64_t i = 0; i < count && !st; i++) {
        const struct nnv_cache_case *it = case_at(i);
        char row[64];
        snprintf(row, sizeof row, "cache/%s", it->name);
        /* Those with constants stand for all, and one of many operations. */
        st = nnv_list_fixtures(list, row, (struct nnv_case){.a = i}, it->few ? "conv_" : NULL, err);
        if (it->few && !st) st = nnv_list_fixtures(list, row, (struct nnv_case){.a = i}, "deep_", err);
    }
    return st ? st : nnv_cache_apart_list(config, list, "cache/apart", (struct nnv_case){.a = count}, err);
}

/** What the driver must have for the case: caching, and the fixture's operations. */
static bool applies(struct nnv_cache_fixture *b, const struct nnv_cache_case *c) {
    const struct nnvts_device *d = b->s->device;
    if (!c->always && d->model_cache_files == 0 && d->data_cache_files == 0)
        return nnv_context_decline(b->s, NNVTS_WHY_FEATURE, "the driver has no compilation caching");
    bool sane = d->model_cache_files <= NNVTS_MAX_CACHE_FILES && d->data_cache_files <= NNVTS_MAX_CACHE_FILES;
    if (!sane) {
        counts(b);
        return false;
    }
    return c->always ||
           nnv_expect(b->s, d->prepare_from_cache, "cache files are announced, but prepare_from_cache is missing");
}

static bool draw(struct nnv_cache_fixture *b, const struct nnv_case *c) {
    if (c->data) return nnv_cache_apart_draw(b->s, c, &b->fixture);
    b->kind = nnv_case_fixture(c);
    return nnv_context_drawn(b->s, b->kind, b->s->env->config->seed, &b->fixture);
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    struct nnv_cache_fixture b = {.s = &s};
    const struct nnv_cache_case *cache_case = case_at(c->a);
    nnv_context_begin(&s, env, result);
    if (applies(&b, cache_case) && draw(&b, c) && nnv_context_supports(&s, &b.fixture) &&
        nnv_context_request(&s, &b.fixture, NNV_POOL_READ_ONLY, &b.values) &&
        nnv_cache_open(&s, s.device->model_cache_files, s.device->data_cache_files, 77, &b.files))
        cache_case->run(&b);
    nnv_cache_close(&b.files);
    nnv_context_end(&s);
}

const struct nnv_suite nnv_suite_cache = {
    .name = "cache",
    .summary = "compilation caching: what is saved is loaded and right, wherever constants lie; what was damaged, "
               "exchanged or is another model's is refused",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list,
    .run = run,
};
