/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file damage.c Damaged caches. A change of a model file must be noticed: GENERAL_FAILURE. A change of a data
 * file must be noticed, or not matter: the values are right.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "harness/suites/cache/cache.h"

/** One file of a cache that was saved, and a copy to be damaged with room for more. */
struct victim {
    struct nnv_cache_fixture *b;
    uint32_t i;
    const uint8_t *data;
    size_t size;
    uint8_t *copy;
    uint64_t until; /**< when its share of the case's time is over: for damage in many places */
    char name[32];
};
enum { EXTENSION = 256 };

/** Puts size bytes of the copy into the file and loads; false if that went wrong. */
static bool try_damage(const struct victim *v, size_t size, const char *what) {
    struct nnv_cache_fixture *b = v->b;
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    char call[96];
    snprintf(call, sizeof call, "a cache whose %s %s", v->name, what);
    if (!nnv_cache_put(&b->files, v->i, v->copy, size)) return nnv_context_error(b->s, "a cache file can't be written");
    return v->i < b->files.models ? nnv_cache_must_fail(b, &cache, NNV_CACHE_UNFIT, call)
                                  : nnv_cache_may_load(b, &cache, call);
}

/** Saves, damages each file in turn, and sees that the undamaged files still load. */
static void damage_each(struct nnv_cache_fixture *b, bool (*damage)(const struct victim *v)) {
    struct nnv_cache_content content;
    if (!nnv_cache_save(b, &content)) return;
    const uint32_t files = nnv_cache_count(&b->files);
    const uint64_t limit = b->s->env->config->timeout_ns,
                   share = limit ? limit / 2 / (files ? files : 1) : UINT64_MAX / 2;
    for (uint32_t i = 0; i < files; i++) {
        struct victim v = {.b = b, .i = i, .data = content.file[i].data, .size = content.file[i].size};
        v.until = nnv_now_ns() + share;
        nnv_cache_name(&b->files, i, v.name);
        v.copy = NNV_NEW(b->s->env->arena, uint8_t, v.size + EXTENSION);
        if (!v.copy) {
            nnv_context_error(b->s, NNV_OUT_OF_MEMORY);
            return;
        }
        if (v.size) memcpy(v.copy, v.data, v.size);
        if (!damage(&v)) return;
        if (!nnv_cache_restore(&b->files, &content)) nnv_context_error(b->s, "a cache file can't be written");
    }
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    nnv_cache_must_load(b, &cache, "the cache that was damaged and made whole again");
}

static bool make_empty(const struct victim *v) { return v->size == 0 || try_damage(v, 0, "is empty"); }

static bool cut_at(const struct victim *v, size_t size) {
    char what[64];
    if (size >= v->size) return true;
    snprintf(what, sizeof what, "ends after %zu of %zu bytes", size, v->size);
    return try_damage(v, size, what);
}
static bool cut_header(const struct victim *v) {
    static const size_t sizes[] = {1, 4, 8, 16, 31, 32, 63, 64, 100, 128};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        if (!cut_at(v, sizes[k])) return false;
    return true;
}
static bool cut_middle(const struct victim *v) {
    for (size_t k = 1; k < 8; k++)
        if (!cut_at(v, v->size * k / 8)) return false;
    return true;
}
static bool cut_last(const struct victim *v) { return v->size == 0 || cut_at(v, v->size - 1); }

static bool extend(const struct victim *v) {
    static const size_t sizes[] = {1, 4, 64, EXTENSION};
    char what[64];
    for (int filling = 0; filling < 2; filling++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            memset(v->copy + v->size, filling ? 0x5a : 0, EXTENSION);
            snprintf(what, sizeof what, "is %zu bytes longer", sizes[k]);
            if (!try_damage(v, v->size + sizes[k], what)) return false;
        }
    return true;
}

static bool zero(const struct victim *v) {
    bool zeros = true;
    for (size_t k = 0; k < v->size; k++) zeros = zeros && v->data[k] == 0;
    memset(v->copy, 0, v->size);
    return zeros || try_damage(v, v->size, "holds zeros");
}

/** Noise of the right length: nothing in it can be meant. */
static bool noise(const struct victim *v) {
    struct nnv_rng rng = nnv_rng_make(v->b->s->env->config->seed, v->i, v->size);
    for (size_t k = 0; k < v->size; k++) v->copy[k] = (uint8_t)nnv_rng_u64(&rng);
    return v->size == 0 || try_damage(v, v->size, "holds noise");
}

/** One bit of byte `at`; which one follows from at. */
static bool flip(const struct victim *v, size_t at) {
    char what[64];
    snprintf(what, sizeof what, "has one bit flipped in byte %zu of %zu", at, v->size);
    v->copy[at] ^= (uint8_t)(1u << at % 8);
    bool right = try_damage(v, v->size, what);
    v->copy[at] = v->data[at];
    return right;
}

enum { HEADER = 256, TAIL = 32, SPREAD = 64 };

/**
 * Flips a bit in each of n places, every sixteenth at first: where the driver is slow, or the line to it, those that
 * half of the case's time allows lie all over.
 */
static bool flip_each(const struct victim *v, size_t n, size_t (*place)(const struct victim *, size_t k)) {
    enum { STEP = 16 };
    for (size_t first = 0; first < STEP; first++)
        for (size_t k = first; k < n; k += STEP) {
            if (nnv_now_ns() > v->until) return true;
            if (!flip(v, place(v, k))) return false;
        }
    return true;
}

static size_t of_header(const struct victim *v, size_t k) { return (void)v, k; }
static size_t of_body(const struct victim *v, size_t k) { return HEADER + (v->size - HEADER) * k / SPREAD; }
static size_t of_tail(const struct victim *v, size_t k) { return v->size - 1 - k; }

/* Whatever a driver notes at the start (its version, the token, sizes) is hit by one of these. */
static bool flip_header(const struct victim *v) { return flip_each(v, v->size < HEADER ? v->size : HEADER, of_header); }
static bool flip_body(const struct victim *v) { return flip_each(v, v->size > HEADER ? SPREAD : 0, of_body); }
static bool flip_tail(const struct victim *v) { return flip_each(v, v->size < TAIL ? v->size : TAIL, of_tail); }

/* What storage loses or mixes up are blocks: one is zeros, is noise, is another one. */
enum { BLOCK = 64, PLACES = 32 };

/** Spoils a block in each of PLACES places; a change that changes nothing is none. */
static bool spoil_blocks(const struct victim *v, const char *what,
                         void (*spoil)(const struct victim *v, uint8_t *block, size_t at)) {
    for (size_t k = 0; k < PLACES && v->size > (size_t)2 * BLOCK; k++) {
        const size_t at = (v->size - BLOCK) * k / (PLACES - 1);
        char words[96];
        if (nnv_now_ns() > v->until) return true;
        spoil(v, v->copy + at, at);
        snprintf(words, sizeof words, "%s in bytes %zu to %zu of %zu", what, at, at + BLOCK - 1, v->size);
        const bool changed = memcmp(v->copy + at, v->data + at, BLOCK) != 0;
        if (changed && !try_damage(v, v->size, words)) return false;
        memcpy(v->copy + at, v->data + at, BLOCK);
    }
    return true;
}

static void put_zeros(const struct victim *v, uint8_t *block, size_t at) {
    (void)v, (void)at;
    memset(block, 0, BLOCK);
}
static void put_noise(const struct victim *v, uint8_t *block, size_t at) {
    struct nnv_rng rng = nnv_rng_make(v->b->s->env->config->seed, v->i, at);
    for (size_t k = 0; k < BLOCK; k++) block[k] = (uint8_t)nnv_rng_u64(&rng);
}
static void put_neighbour(const struct victim *v, uint8_t *block, size_t at) {
    memcpy(block, v->data + (at >= BLOCK ? at - BLOCK : at + BLOCK), BLOCK);
}
static bool zero_blocks(const struct victim *v) { return spoil_blocks(v, "holds zeros", put_zeros); }
static bool noise_blocks(const struct victim *v) { return spoil_blocks(v, "holds noise", put_noise); }
static bool repeat_blocks(const struct victim *v) { return spoil_blocks(v, "repeats a block", put_neighbour); }

static void truncated_empty(struct nnv_cache_fixture *b) { damage_each(b, make_empty); }
static void truncated_header(struct nnv_cache_fixture *b) { damage_each(b, cut_header); }
static void truncated_middle(struct nnv_cache_fixture *b) { damage_each(b, cut_middle); }
static void truncated_last(struct nnv_cache_fixture *b) { damage_each(b, cut_last); }
static void extended(struct nnv_cache_fixture *b) { damage_each(b, extend); }
static void zeroed(struct nnv_cache_fixture *b) { damage_each(b, zero); }
static void randomised(struct nnv_cache_fixture *b) { damage_each(b, noise); }
static void flipped_header(struct nnv_cache_fixture *b) { damage_each(b, flip_header); }
static void flipped_body(struct nnv_cache_fixture *b) { damage_each(b, flip_body); }
static void flipped_tail(struct nnv_cache_fixture *b) { damage_each(b, flip_tail); }
static void zeroed_blocks(struct nnv_cache_fixture *b) { damage_each(b, zero_blocks); }
static void randomised_blocks(struct nnv_cache_fixture *b) { damage_each(b, noise_blocks); }
static void repeated_blocks(struct nnv_cache_fixture *b) { damage_each(b, repeat_blocks); }

/* ------------------------------------------------- files that change meanwhile */

/* What was loaded lives on its own, whatever becomes of the files. */
static void exchanged_after_load(struct nnv_cache_fixture *b) {
    struct nnv_cache_content content;
    struct nnvts_prepared_model *prepared;
    enum nnvts_status st;
    if (!nnv_cache_save(b, &content)) return;
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    if (!nnv_cache_load(b, &cache, "its own cache", &st, &prepared) ||
        !nnv_expect_status(b->s, "prepare_from_cache of its own cache", st, NNVTS_STATUS_NONE))
        return;
    bool right = true;
    for (int round = 0; round < 2 && right; round++) { /* other bytes, then none: mapped files would be missing */
        for (uint32_t i = 0; i < nnv_cache_count(&b->files); i++) {
            for (size_t k = 0; k < content.file[i].size; k++) content.file[i].data[k] ^= 0xa5;
            if (round == 1) content.file[i].size = 0;
        }
        if (!nnv_cache_restore(&b->files, &content)) nnv_context_error(b->s, "a cache file can't be written");
        right = nnv_cache_execute(b, prepared,
                                  round ? "a cache whose files were emptied since"
                                        : "a cache whose files were overwritten since");
    }
    if (!b->s->result->worker_damaged) nnv_context_release(b->s, prepared);
}

/** A thread that writes into the files again and again. */
struct meddler {
    const struct nnv_cache_files *files;
    const struct nnv_cache_content *content[2]; /**< in turns */
    atomic_bool stop;
    pthread_t thread;
};

static void *meddle(void *argument) {
    struct meddler *m = argument;
    for (int turn = 0; !m->stop; turn ^= 1)
        for (uint32_t i = 0; i < nnv_cache_count(m->files); i++)
            (void)!nnv_cache_put(m->files, i, m->content[turn]->file[i].data, m->content[turn]->file[i].size);
    return NULL;
}

static bool meddle_begin(struct nnv_context *s, struct meddler *m) {
    if (pthread_create(&m->thread, NULL, meddle, m) == 0) return true;
    return nnv_context_error(s, "no thread");
}

static void meddle_end(struct meddler *m) {
    m->stop = true;
    pthread_join(m->thread, NULL);
}

/** The content with noise in place of every file's second half. */
static bool spoil(struct nnv_context *s, const struct nnv_cache_files *files, const struct nnv_cache_content *from,
                  struct nnv_cache_content *to) {
    struct nnv_rng rng = nnv_rng_make(s->env->config->seed, 1, 2);
    for (uint32_t i = 0; i < nnv_cache_count(files); i++) {
        size_t size = from->file[i].size;
        to->file[i].size = size;
        to->file[i].data = NNV_NEW(s->env->arena, uint8_t, size + 1);
        if (!to->file[i].data) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
        memcpy(to->file[i].data, from->file[i].data, size);
        for (size_t k = size / 2; k < size; k++) to->file[i].data[k] = (uint8_t)nnv_rng_u64(&rng);
    }
    return true;
}

/** Loads or not, which is chance: it counts as one comparison either way, so that runs are alike. */
static bool load_by_chance(struct nnv_cache_fixture *b, const struct nnvts_cache *cache, const char *what) {
    const size_t compared = b->s->result->compared, not_compared = b->s->result->not_compared;
    if (!nnv_cache_may_load(b, cache, what)) return false;
    b->s->result->compared = compared + 1;
    b->s->result->not_compared = not_compared;
    return true;
}

static void changed_while_loading(struct nnv_cache_fixture *b) {
    enum { TIMES = 40 };
    struct nnv_cache_content content, spoilt;
    if (!nnv_cache_save(b, &content) || !spoil(b->s, &b->files, &content, &spoilt)) return;
    struct meddler m = {.files = &b->files, .content = {&content, &spoilt}};
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    if (!meddle_begin(b->s, &m)) return;
    for (int i = 0; i < TIMES; i++)
        if (!load_by_chance(b, &cache, "files that change meanwhile")) break;
    meddle_end(&m);
}

static void changed_while_saving(struct nnv_cache_fixture *b) {
    enum { TIMES = 20 };
    struct nnv_cache_content content, spoilt;
    if (!nnv_cache_save(b, &content) || !spoil(b->s, &b->files, &content, &spoilt)) return;
    struct nnvts_cache cache = nnv_cache_view(&b->files);
    for (int i = 0; i < TIMES; i++) {
        struct meddler m = {.files = &b->files, .content = {&spoilt, &spoilt}};
        if (!meddle_begin(b->s, &m)) return;
        bool right = nnv_cache_prepare_right(b, &cache, "cache files that change meanwhile");
        meddle_end(&m);
        if (!right || !load_by_chance(b, &cache, "files that changed while they were written")) return;
    }
}

/* ------------------------------------------------------------------- registry */

const struct nnv_cache_case nnv_cache_damages[] = {
    {"truncated_empty", truncated_empty, false, false},
    {"truncated_header", truncated_header, false, false},
    {"truncated_middle", truncated_middle, false, false},
    {"truncated_last", truncated_last, false, false},
    {"extended", extended, false, false},
    {"zeroed", zeroed, false, false},
    {"randomised", randomised, false, false},
    {"flipped_header", flipped_header, false, false},
    {"flipped_body", flipped_body, false, false},
    {"flipped_tail", flipped_tail, false, false},
    {"zeroed_blocks", zeroed_blocks, false, false},
    {"randomised_blocks", randomised_blocks, false, false},
    {"repeated_blocks", repeated_blocks, false, false},
    {"exchanged_after_load", exchanged_after_load, true, false},
    {"changed_while_loading", changed_while_loading, true, false},
    {"changed_while_saving", changed_while_saving, true, false},
};
const size_t nnv_cache_damage_count = sizeof nnv_cache_damages / sizeof *nnv_cache_damages;
