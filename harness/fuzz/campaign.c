/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/fuzz/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "harness/fuzz/finding.h"

enum {
    GENERATION = 16, /* batches */
    ANSWERS_MAX = 1 << 17,
    CORPUS_FILE_MAX = 1 << 20, /* bytes */
};

/** Inputs that brought something new. */
struct corpus {
    struct nnv_fuzz_input *item;
    size_t count, cap;
};

struct campaign {
    const struct nnv_fuzz_options *o;
    struct nnv_fuzz_stats *stats;
    struct corpus corpus;
    struct nnv_fuzz_batch pending[GENERATION * 2]; /* to go on with */
    size_t npending;
    struct nnv_fuzz_batch batches[GENERATION];
    struct nnv_fuzz_ended ended[GENERATION];
    size_t count; /* batches of this generation */
    uint64_t number, drawn, start_ns, until_ns;
    struct nnv_fuzz_finding finding[NNV_FUZZ_FINDINGS_MAX];
    struct corpus given; /* what the folder of the corpus held: run first */
    size_t given_run;
    struct nnv_id_map answers;
};

/* -------------------------------------------------------------------- corpus */

static enum nnv_status keep(struct corpus *c, const struct nnv_fuzz_input *input, struct nnv_err *err) {
    if (c->count == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 256;
        struct nnv_fuzz_input *grown = realloc(c->item, cap * sizeof *grown);
        if (grown == NULL) return nnv_fail(err, NNV_NO_MEMORY, "out of memory for the corpus");
        c->item = grown;
        c->cap = cap;
    }
    c->item[c->count++] = *input;
    return NNV_OK;
}

/** Writes a new input into the corpus's folder. */
static enum nnv_status save(const char *folder, const struct nnv_fuzz_input *input, struct nnv_err *err) {
    struct nnv_text t = {0}, path = {0};
    nnv_fuzz_print(&t, input);
    nnv_text_addf(&path, "%s/%016" PRIx64 ".fuzz", folder, nnv_hash_bytes(t.data, t.len));
    enum nnv_status st = t.failed || path.failed ? nnv_no_memory(err) : nnv_file_create(path.data, t.data, t.len, err);
    nnv_text_free(&t);
    nnv_text_free(&path);
    return st;
}

static enum nnv_status load_file(struct campaign *c, const char *path, struct nnv_err *err) {
    char *text = NULL;
    size_t size, count = 0;
    struct nnv_fuzz_input *inputs = NULL;
    enum nnv_status st = nnv_file_read(path, CORPUS_FILE_MAX, &text, &size, err);
    if (st == NNV_OK) st = nnv_fuzz_parse(text, path, &inputs, &count, err);
    for (size_t i = 0; st == NNV_OK && i < count; i++) {
        st = keep(&c->given, &inputs[i], err);
        if (st == NNV_OK) st = keep(&c->corpus, &inputs[i], err);
    }
    free(inputs);
    free(text);
    return st;
}

static enum nnv_status load_corpus(struct campaign *c, struct nnv_err *err) {
    static const char *const suffixes[] = {".fuzz", NULL};
    char **paths = NULL;
    size_t count = 0;
    if (c->o->corpus == NULL) return NNV_OK;
    enum nnv_status st = nnv_file_mkdir(c->o->corpus, err);
    if (st == NNV_OK) st = nnv_file_list(c->o->corpus, suffixes, &paths, &count, err);
    for (size_t i = 0; st == NNV_OK && i < count; i++) st = load_file(c, paths[i], err);
    nnv_file_list_free(paths, count);
    return st;
}

/* --------------------------------------------------------------- generations */

/** Inputs that may still be run. */
static uint64_t room(const struct campaign *c) { return c->o->inputs == 0 ? UINT64_MAX : c->o->inputs - c->drawn; }

static uint32_t take(struct campaign *c, size_t wanted) {
    uint64_t n = room(c) < wanted ? room(c) : wanted;
    c->drawn += n;
    return (uint32_t)n;
}

/** A new batch: the corpus as it was found, then fresh bases and the corpus in turn. */
static struct nnv_fuzz_batch new_batch(struct campaign *c) {
    struct nnv_fuzz_batch b = {.seed = c->o->config->seed, .number = c->number++};
    struct nnv_rng rng = nnv_rng_make(b.seed, b.number, UINT64_MAX);
    if (c->given_run < c->given.count) {
        size_t left = c->given.count - c->given_run;
        b.given = &c->given.item[c->given_run];
        b.parent = *b.given;
        b.count = take(c, left < NNV_FUZZ_BATCH_INPUTS ? left : NNV_FUZZ_BATCH_INPUTS);
        c->given_run += b.count;
        return b;
    }
    if (c->corpus.count > 0 && b.number % 2 == 1)
        b.parent = c->corpus.item[nnv_rng_u64(&rng) % c->corpus.count];
    else
        b.parent.base = nnv_fuzz_draw_base(&rng, NULL);
    b.count = take(c, NNV_FUZZ_BATCH_INPUTS);
    return b;
}

static void next_generation(struct campaign *c) {
    c->count = 0;
    while (c->count < GENERATION && c->npending > 0) {
        c->batches[c->count++] = c->pending[0];
        memmove(c->pending, c->pending + 1, --c->npending * sizeof *c->pending);
    }
    while (c->count < GENERATION && room(c) > 0) c->batches[c->count++] = new_batch(c);
}

/** True if the answer is new. */
static bool new_answer(struct campaign *c, uint64_t hash) {
    const uint32_t known = c->answers.count;
    if (hash != 0 && known < ANSWERS_MAX) nnv_id_add(&c->answers, hash);
    c->stats->answers = c->answers.count;
    return c->answers.count > known;
}

static enum nnv_status take_answers(struct campaign *c, const struct nnv_fuzz_batch *b, const char *lines,
                                    struct nnv_err *err) {
    uint32_t last = UINT32_MAX;
    enum nnv_status st = NNV_OK;
    for (const char *at = lines; st == NNV_OK && *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        uint64_t hash;
        uint32_t i;
        if (sscanf(at, "a %" SCNx64 " %" SCNu32, &hash, &i) != 2 || i >= b->count) continue;
        if (!new_answer(c, hash) || b->given != NULL || i == last) continue;
        last = i;
        struct nnv_fuzz_input input = nnv_fuzz_batch_input(b, i);
        st = keep(&c->corpus, &input, err);
        if (st == NNV_OK && c->o->corpus != NULL) st = save(c->o->corpus, &input, err);
    }
    return st;
}

static void take_wrong(struct campaign *c, const struct nnv_fuzz_batch *b, const struct nnv_fuzz_ended *e) {
    struct nnv_fuzz_finding f;
    const char *at = NULL;
    while (nnv_fuzz_next_wrong(b, e, &at, &f)) {
        size_t i = 0;
        while (i < c->stats->findings && c->finding[i].signature != f.signature) i++;
        if (i < c->stats->findings) c->finding[i].times++;
        if (i < c->stats->findings || i == NNV_FUZZ_FINDINGS_MAX) {
            nnv_fuzz_finding_free(&f);
            continue;
        }
        c->finding[c->stats->findings++] = f;
    }
}

/** What is left of a batch whose worker ended, behind the input that ended it. */
static void go_on(struct campaign *c, const struct nnv_fuzz_batch *b) {
    struct nnv_fuzz_batch rest = *b;
    rest.first = b->current < b->count ? b->current + 1 : b->count;
    if (rest.first < b->count && c->npending < sizeof c->pending / sizeof *c->pending) c->pending[c->npending++] = rest;
}

static enum nnv_status take_generation(struct campaign *c, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; st == NNV_OK && i < c->count; i++) {
        const struct nnv_fuzz_batch *b = &c->batches[i];
        const struct nnv_fuzz_ended *e = &c->ended[i];
        if (b->done > b->first) c->stats->inputs += b->done - b->first;
        if (!e->ended) continue;
        st = take_answers(c, b, e->lines, err);
        take_wrong(c, b, e);
        go_on(c, b);
    }
    return st;
}

static enum nnv_status run_generations(struct campaign *c, bool *interrupted, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    bool late = false;
    while (st == NNV_OK && !late && !*interrupted && c->stats->findings < NNV_FUZZ_FINDINGS_MAX) {
        next_generation(c);
        if (c->count == 0) break;
        st = nnv_fuzz_run_batches(c->o->config, c->batches, c->count, c->ended, c->until_ns, interrupted, err);
        late = st == NNV_TIMEOUT || (c->until_ns != 0 && nnv_now_ns() >= c->until_ns);
        if (st == NNV_TIMEOUT) st = NNV_OK;
        if (st == NNV_OK) st = take_generation(c, err);
        for (size_t i = 0; i < c->count; i++) nnv_fuzz_ended_free(&c->ended[i]);
        c->stats->corpus = c->corpus.count;
        c->stats->ns = nnv_now_ns() - c->start_ns;
        if (c->o->progress != NULL) c->o->progress(c->o->context, c->stats);
    }
    return st;
}

/* ------------------------------------------------------------------ findings */

static enum nnv_status report(struct campaign *c, bool interrupted, struct nnv_err *err) {
    enum nnv_status st = c->stats->findings > 0 ? nnv_file_mkdir(c->o->config->out, err) : NNV_OK;
    for (size_t i = 0; st == NNV_OK && i < c->stats->findings; i++) {
        struct nnv_fuzz_finding *f = &c->finding[i];
        if (!interrupted) st = nnv_fuzz_reduce(c->o->config, f, err);
        snprintf(f->file, sizeof f->file, "%s-%016" PRIx64, nnv_fuzz_wrong_name(f->kind), f->signature);
        if (st == NNV_OK) st = nnv_fuzz_finding_write(f, c->o->config->out, c->o->config->driver, err);
        if (st == NNV_OK) c->o->found(c->o->context, f);
    }
    return st;
}

enum nnv_status nnv_fuzz_campaign(const struct nnv_fuzz_options *o, struct nnv_fuzz_stats *stats, bool *interrupted,
                                  struct nnv_err *err) {
    struct campaign *c = calloc(1, sizeof *c);
    *stats = (struct nnv_fuzz_stats){0};
    *interrupted = false;
    if (c == NULL) return nnv_no_memory(err);
    c->o = o;
    c->stats = stats;
    c->start_ns = nnv_now_ns();
    c->until_ns = o->time_ns != 0 ? c->start_ns + o->time_ns : 0;
    enum nnv_status st = load_corpus(c, err);
    if (st == NNV_OK) st = run_generations(c, interrupted, err);
    if (st == NNV_OK) st = report(c, *interrupted, err);
    for (size_t i = 0; i < NNV_FUZZ_FINDINGS_MAX; i++) nnv_fuzz_finding_free(&c->finding[i]);
    free(c->corpus.item);
    free(c->given.item);
    nnv_id_free(&c->answers);
    free(c);
    return st;
}
