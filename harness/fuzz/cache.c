/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/fuzz/cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include "harness/client/memory.h"

static bool is_cache(enum nnv_fuzz_kind kind) { return kind >= NNV_FUZZ_CACHE && kind <= NNV_FUZZ_CACHE_TOKEN; }

bool nnv_fuzz_cache_wanted(const struct nnvts_device *device, const struct nnv_fuzz_input *input) {
    uint32_t files = device->model_cache_files + device->data_cache_files;
    if (files == 0 || device->model_cache_files > NNVTS_MAX_CACHE_FILES ||
        device->data_cache_files > NNVTS_MAX_CACHE_FILES || device->prepare_from_cache == NULL)
        return false;
    for (uint32_t i = 0; i < input->count; i++)
        if (is_cache(input->mutation[i].kind)) return true;
    return false;
}

bool nnv_fuzz_cache_open(struct nnv_fuzz_cache *c, const struct nnvts_device *device) {
    *c = (struct nnv_fuzz_cache){.files = {.model_fds = c->fd,
                                           .model_fd_count = device->model_cache_files,
                                           .data_fds = c->fd + device->model_cache_files,
                                           .data_fd_count = device->data_cache_files,
                                           .token = {1, 2, 3}}};
    for (; c->count < device->model_cache_files + device->data_cache_files; c->count++) {
        c->fd[c->count] = nnv_memory_file("nnvts-cache", 0, 0);
        if (c->fd[c->count] < 0) return false;
    }
    return true;
}

/** Sets four bytes, of a place modulo the file's size. */
static void set_word(int fd, uint32_t at, uint32_t value) {
    struct stat s;
    if (fstat(fd, &s) != 0 || s.st_size < (off_t)sizeof value) return;
    /* Headers are where readers believe most: half of the places lie in the first 256 bytes. */
    off_t places = s.st_size - (off_t)sizeof value + 1;
    off_t place = at & 1 ? (off_t)(at / 2 * 16) % places : (off_t)(at / 2 * 4) % (places < 256 ? places : 256);
    ssize_t n = pwrite(fd, &value, sizeof value, place);
    (void)n;
}

static void set_size(int fd, uint32_t value) {
    struct stat s;
    if (fstat(fd, &s) != 0) return;
    off_t size = s.st_size > 0 ? (off_t)value % (s.st_size * 2) : (off_t)(value % NNV_FUZZ_COUNT_MAX);
    int failed = ftruncate(fd, size);
    (void)failed;
}

void nnv_fuzz_cache_damage(struct nnv_fuzz_cache *c, const struct nnv_fuzz_input *input) {
    for (uint32_t i = 0; i < input->count; i++) {
        const struct nnv_fuzz_mutation *x = &input->mutation[i];
        if (!is_cache(x->kind)) continue;
        int fd = c->fd[x->at[0] % c->count];
        if (x->kind == NNV_FUZZ_CACHE_WORD) set_word(fd, x->at[1] * 16 + x->at[2], x->value);
        if (x->kind == NNV_FUZZ_CACHE_SIZE) set_size(fd, x->value);
        if (x->kind == NNV_FUZZ_CACHE_TOKEN) c->files.token[x->at[0] % NNVTS_CACHE_TOKEN_BYTES] ^= 1;
    }
}

void nnv_fuzz_cache_close(struct nnv_fuzz_cache *c) {
    while (c->count > 0) close(c->fd[--c->count]);
}
