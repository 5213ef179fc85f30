/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "digest.h"

enum { FORMAT = 3, MODEL = 0, VALUES = 1 };
static const char magic[8] = "nnvtscpu";

/** The start of the model file. No padding; all of it is covered by its digest. */
struct header {
    char magic[sizeof magic];
    uint32_t format, header_bytes;
    uint64_t structure_bytes, values_bytes;
    char version[16], isa[16];
    uint8_t build[CPU_DIGEST_BYTES];
    uint8_t token[NNVTS_CACHE_TOKEN_BYTES];
    uint8_t values_digest[CPU_DIGEST_BYTES];
    uint8_t digest[CPU_DIGEST_BYTES]; /**< of the header before it, and of the structure */
};
_Static_assert(sizeof(struct header) == 192, "the header has no padding");

/* ----------------------------------------------------------------------- build */

/** Digests the build id of the object that holds this function: any other build is another one. */
static int add_build_id(struct dl_phdr_info *info, size_t size, void *digest) {
    (void)size;
    bool here = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + p->p_vaddr, self = (uintptr_t)add_build_id;
        here = here || (p->p_type == PT_LOAD && self - start < p->p_memsz);
    }
    if (!here) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_NOTE) cpu_digest_add(digest, (const uint8_t *)info->dlpi_addr + p->p_vaddr, p->p_memsz);
    }
    return 1;
}

static void fill_header(const struct cpu_cache_maker *maker, const uint8_t *token, struct header *h) {
    struct cpu_digest d;
    *h = (struct header){.format = FORMAT, .header_bytes = sizeof *h};
    memcpy(h->magic, magic, sizeof magic);
    strncpy(h->version, maker->version, sizeof h->version - 1);
    strncpy(h->isa, maker->isa, sizeof h->isa - 1);
    memcpy(h->token, token, sizeof h->token);
    cpu_digest_begin(&d);
    dl_iterate_phdr(add_build_id, &d);
    cpu_digest_end(&d, h->build);
}

/** Notes sizes and digests. */
static void seal(struct header *h, const uint8_t *structure, size_t structure_bytes, const struct cpu_sum *values) {
    struct cpu_digest d;
    h->structure_bytes = structure_bytes;
    h->values_bytes = values->count;
    cpu_sum_end(values, h->values_digest);
    cpu_digest_begin(&d);
    cpu_digest_add(&d, h, offsetof(struct header, digest));
    cpu_digest_add(&d, structure, structure_bytes);
    cpu_digest_end(&d, h->digest);
}

/* ----------------------------------------------------------------------- files */

static bool has_files(const struct nnvts_cache *cache) {
    return cache->model_fd_count == CPU_CACHE_MODEL_FILES && cache->data_fd_count == CPU_CACHE_DATA_FILES &&
           cache->model_fds && cache->data_fds;
}

static bool write_at(int fd, const void *data, size_t bytes, size_t offset) {
    const uint8_t *from = data;
    while (bytes > 0) {
        const ssize_t n = pwrite(fd, from, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        from += n;
        offset += (size_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool empty(int fd) { return ftruncate(fd, 0) == 0; }

static bool read_at(int fd, void *data, size_t bytes, size_t offset) {
    uint8_t *to = data;
    while (bytes > 0) {
        const ssize_t n = pread(fd, to, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        to += n;
        offset += (size_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

/** A file that several threads read. */
struct reading {
    int fd;
    const struct cpu_file *to;
    uint8_t (*digests)[CPU_DIGEST_BYTES]; /**< of the pieces */
    atomic_bool failed;
};

static size_t piece_bytes(const struct cpu_file *file, size_t at) {
    return file->bytes - at < CPU_SUM_PIECE ? file->bytes - at : CPU_SUM_PIECE;
}

/** Reads pieces, and sums each while it is still near. */
static void read_pieces(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    struct reading *r = arg;
    for (uint32_t i = begin; i < end && !r->failed; i++) {
        const size_t at = (size_t)i * CPU_SUM_PIECE, n = piece_bytes(r->to, at);
        if (read_at(r->fd, r->to->data + at, n, at))
            cpu_sum_piece(r->to->data + at, n, r->digests[i]);
        else
            r->failed = true;
    }
}

/** A private copy of a whole file, and its sum. */
static bool read_file(struct cpu_threads *threads, int fd, struct cpu_file *out, struct cpu_sum *sum) {
    static const double byte_ns = 0.25; /* clearing the page, copying, summing */
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 0 || st.st_size > UINT32_MAX) return false;
    out->bytes = (size_t)st.st_size;
    out->data = cpu_pages_new(out->bytes + CPU_ALIGN);
    const uint32_t pieces = (uint32_t)((out->bytes + CPU_SUM_PIECE - 1) / CPU_SUM_PIECE);
    struct reading r = {.fd = fd, .to = out, .digests = calloc((size_t)pieces + 1, sizeof *r.digests)};
    const bool room = out->data && r.digests;
    if (room) cpu_threads_run(threads, pieces, (double)out->bytes * byte_ns, read_pieces, &r);
    cpu_sum_begin(sum);
    for (uint32_t i = 0; room && i < pieces; i++)
        cpu_sum_add_piece(sum, r.digests[i], piece_bytes(out, (size_t)i * CPU_SUM_PIECE));
    free(r.digests);
    return room && !r.failed;
}

/* ---------------------------------------------------------------------- saving */

/** Writes values, and packed weights behind them; adds both to the sum. */
static bool write_values(int fd, const struct cpu_bytes *values, const struct cpu_packs *packs, struct cpu_sum *sum) {
    size_t at = values->size;
    bool ok = write_at(fd, values->data, values->size, 0);
    cpu_sum_begin(sum);
    cpu_sum_add(sum, values->data, values->size);
    for (size_t i = 0; ok && i < packs->made_count; i++) {
        const size_t bytes = cpu_pack_stored_bytes(packs->made[i]);
        ok = write_at(fd, packs->made[i], bytes, at);
        cpu_sum_add(sum, packs->made[i], bytes);
        at += bytes;
    }
    return ok;
}

static bool save(const struct cpu_cache_maker *maker, const struct nnvts_model *model, const uint8_t *const *pools,
                 const struct cpu_packs *packs, const struct nnvts_cache *cache) {
    const int model_fd = cache->model_fds[0], data_fd = cache->data_fds[0];
    struct cpu_bytes structure = {0}, values = {0};
    struct header h;
    struct cpu_sum sum;
    fill_header(maker, cache->token, &h);
    bool ok = empty(model_fd) && empty(data_fd) && model->extension_count == 0 &&
              cpu_pack(model, pools, packs, &structure, &values) && write_values(data_fd, &values, packs, &sum);
    if (ok) {
        seal(&h, structure.data, structure.size, &sum);
        ok = write_at(model_fd, &h, sizeof h, 0) && write_at(model_fd, structure.data, structure.size, sizeof h);
    }
    cpu_bytes_free(&structure);
    cpu_bytes_free(&values);
    return ok;
}

void cpu_cache_save(const struct cpu_cache_maker *maker, const struct nnvts_model *model, const uint8_t *const *pools,
                    const struct cpu_packs *packs, const struct nnvts_cache *cache) {
    if (!has_files(cache) || save(maker, model, pools, packs, cache)) return;
    (void)!empty(cache->model_fds[0]); /* not half a cache */
}

/* --------------------------------------------------------------------- loading */

/** The model file has the header that this driver would write, and both files are what it says. */
static bool is_whole(const struct cpu_cache_maker *maker, const uint8_t *token, const struct cpu_file *model,
                     const struct cpu_sum *values) {
    struct header expected;
    if (model->bytes < sizeof expected) return false;
    fill_header(maker, token, &expected);
    seal(&expected, model->data + sizeof expected, model->bytes - sizeof expected, values);
    return memcmp(model->data, &expected, sizeof expected) == 0;
}

enum nnvts_status cpu_cache_load(const struct cpu_cache_maker *maker, struct cpu_threads *threads,
                                 const struct nnvts_cache *cache, struct cpu_cached *out) {
    *out = (struct cpu_cached){0};
    if (!cache || !has_files(cache)) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct cpu_file *model = &out->files[MODEL], *values = &out->files[VALUES];
    struct cpu_sum sum;
    size_t packed;
    if (read_file(threads, cache->model_fds[0], model, &sum) && read_file(threads, cache->data_fds[0], values, &sum) &&
        is_whole(maker, cache->token, model, &sum) &&
        cpu_unpack(model->data + sizeof(struct header), model->bytes - sizeof(struct header), values->data,
                   values->bytes, &out->arena, &out->model, &packed)) {
        out->packs = (struct cpu_packs){.at = values->data + packed, .left = values->bytes - packed};
        return NNVTS_STATUS_NONE;
    }
    cpu_cached_free(out);
    return NNVTS_STATUS_GENERAL_FAILURE;
}

void cpu_cached_give(struct cpu_cached *cached, struct cpu_arena *arena) {
    struct cpu_file *values = &cached->files[VALUES];
    cpu_arena_adopt(arena, values->data, values->bytes + CPU_ALIGN);
    *values = (struct cpu_file){0};
}

void cpu_cached_free(struct cpu_cached *cached) {
    cpu_arena_free(&cached->arena);
    cpu_packs_free(&cached->packs);
    for (int i = 0; i < 2; i++) cpu_pages_free(cached->files[i].data, cached->files[i].bytes + CPU_ALIGN);
    *cached = (struct cpu_cached){0};
}
