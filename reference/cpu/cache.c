/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache.c Compilation caching: one model file, a header and the model as spec JSON. All of it is read into
 * private memory and verified there before any of it is used.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "cpu.h"
#include "reference/spec/spec.h"
#include "reference/model/validate.h"

enum { FORMAT = 1, MOST_BYTES = 1 << 30 };
static const char magic[8] = "nnvtsref";

/** No padding. */
struct header {
    char magic[sizeof magic];
    uint32_t format, json_bytes;
    char version[16];
    uint8_t token[NNVTS_CACHE_TOKEN_BYTES];
    uint8_t digest[NNV_SHA256_BYTES]; /**< of the header before it, and of the JSON */
};
_Static_assert(sizeof(struct header) == 96, "the header has no padding");

static struct header make_header(const uint8_t *token, const char *json, uint32_t bytes) {
    struct header h = {.format = FORMAT, .json_bytes = bytes};
    struct nnv_sha256 hash;
    memcpy(h.magic, magic, sizeof magic);
    strncpy(h.version, NNVTS_VERSION, sizeof h.version - 1);
    memcpy(h.token, token, sizeof h.token);
    nnv_sha256_begin(&hash);
    nnv_sha256_add(&hash, &h, offsetof(struct header, digest));
    nnv_sha256_add(&hash, json, bytes);
    nnv_sha256_end(&hash, h.digest);
    return h;
}

static bool has_files(const struct nnvts_cache *cache) {
    return cache->model_fd_count == REF_CACHE_MODEL_FILES && cache->data_fd_count == REF_CACHE_DATA_FILES &&
           cache->model_fds;
}

/** A spec around the model whose inputs and outputs have no values; false when out of memory. */
static bool make_spec(const struct nnv_model *model, struct nnv_arena *arena, struct nnv_spec *spec) {
    *spec = (struct nnv_spec){.name = "cached", .expect_failure = true, .model = *model}; /* that allows them to miss */
    spec->inputs = NNV_NEW(arena, struct nnv_value, model->main.nin);
    spec->outputs = NNV_NEW(arena, struct nnv_value, model->main.nout);
    if (!spec->inputs || !spec->outputs) return false;
    for (uint32_t i = 0; i < model->main.nin; i++) spec->inputs[i].omitted = true;
    for (uint32_t i = 0; i < model->main.nout; i++) spec->outputs[i].omitted = true;
    return true;
}

static bool write_at(int fd, const void *data, size_t bytes, size_t offset) {
    for (const char *from = data; bytes > 0;) {
        ssize_t n = pwrite(fd, from, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        from += n;
        offset += (size_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

void ref_cache_save(const struct nnv_model *model, const struct nnvts_cache *cache) {
    if (!has_files(cache) || ftruncate(cache->model_fds[0], 0) != 0) return;
    struct nnv_text json = {0};
    struct nnv_spec spec;
    struct nnv_arena *arena = nnv_arena_new();
    bool made = arena && make_spec(model, arena, &spec);
    if (made) nnv_spec_write_json(&spec, false, &json);
    if (made && !json.failed && json.len <= MOST_BYTES) {
        struct header h = make_header(cache->token, json.data, (uint32_t)json.len);
        if (!write_at(cache->model_fds[0], json.data, json.len, sizeof h) ||
            !write_at(cache->model_fds[0], &h, sizeof h, 0))
            (void)!ftruncate(cache->model_fds[0], 0); /* not half a cache */
    }
    nnv_text_free(&json);
    nnv_arena_free(arena);
}

/** A private copy of a whole file, arena's; NULL if it can't be read. */
static char *read_file(int fd, struct nnv_arena *arena, size_t *bytes) {
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 0 || st.st_size > MOST_BYTES) return NULL;
    size_t size = (size_t)st.st_size, done = 0;
    char *data = NNV_NEW(arena, char, size + 1);
    while (data && done < size) {
        ssize_t n = pread(fd, data + done, size - done, (off_t)done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return NULL;
        done += (size_t)n;
    }
    *bytes = size;
    return data;
}

enum nnvts_status ref_cache_load(const struct nnvts_cache *cache, struct nnv_arena *arena, struct nnv_model **out) {
    struct nnv_spec *spec;
    struct header found, expected;
    size_t bytes = 0;
    if (!cache || !has_files(cache)) return NNVTS_STATUS_INVALID_ARGUMENT;
    const char *file = read_file(cache->model_fds[0], arena, &bytes);
    if (!file || bytes < sizeof found) return NNVTS_STATUS_GENERAL_FAILURE;
    const char *json = file + sizeof found;
    memcpy(&found, file, sizeof found);
    expected = make_header(cache->token, json, (uint32_t)(bytes - sizeof found));
    if (memcmp(&found, &expected, sizeof found) != 0 ||
        nnv_spec_parse(json, bytes - sizeof found, "cache", arena, &spec, NULL) != NNV_OK ||
        nnv_validate(&spec->model, arena, NULL, NULL) != NNV_OK)
        return NNVTS_STATUS_GENERAL_FAILURE;
    *out = &spec->model;
    return NNVTS_STATUS_NONE;
}
