/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/fuzz/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/unseen.h"
#include "harness/fuzz/finding.h"
#include "harness/runner/signals.h"

enum {
    GENERATION = 16,           /* batches */
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
    struct nnv_unseen unseen; /* answers and edges; a draw is an input */
    uint64_t drawn_before;    /* inputs of the batches that were taken */
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

/** What an input brought that none before had. */
struct brought {
    uint32_t input;
    size_t answers, edges;
};

/** Writes a new input into the corpus's folder: two lines on why it is kept, as a finding has them, and its own. */
static enum nnv_status save(const struct campaign *c, const struct nnv_fuzz_input *input, const struct brought *new,
                            struct nnv_err *err) {
    struct nnv_text own = {0}, t = {0}, path = {0};
    nnv_fuzz_print(&own, input);
    const uint64_t name = nnv_hash_bytes(own.data, own.len);
    nnv_text_addf(&t, "# nnvts fuzz --driver %s --replay %016" PRIx64 ".fuzz\n", c->o->config->driver, name);
    nnv_text_addf(&t, "# kept: by seed %" PRIu64 " it brought %zu new kinds of answers", c->o->config->seed,
                  new->answers);
    if (c->o->config->coverage != NULL) nnv_text_addf(&t, " and reached %zu new edges", new->edges);
    nnv_text_add(&t, "\n");
    nnv_text_add_n(&t, own.data, own.len);
    nnv_text_addf(&path, "%s/%016" PRIx64 ".fuzz", c->o->corpus, name);
    enum nnv_status st =
        own.failed || t.failed || path.failed ? nnv_no_memory(err) : nnv_file_create(path.data, t.data, t.len, err);
    nnv_text_free(&own);
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
    enum nnv_status st = nnv_folder_make(c->o->corpus, err);
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

/** Keeps the input if it brought something; those of the given corpus are kept already. */
static enum nnv_status take_input(struct campaign *c, const struct nnv_fuzz_batch *b, const struct brought *new,
                                  struct nnv_err *err) {
    c->stats->answers += new->answers;
    c->stats->edges += new->edges;
    if (new->answers + new->edges == 0 || b->given != NULL) return NNV_OK;
    const struct nnv_fuzz_input input = nnv_fuzz_batch_input(b, new->input);
    const enum nnv_status st = keep(&c->corpus, &input, err);
    return st == NNV_OK && c->o->corpus != NULL ? save(c, &input, new, err) : st;
}

/** Takes what the inputs of a batch showed: the lines of each stand together. */
static enum nnv_status take_shown(struct campaign *c, const struct nnv_fuzz_batch *b, const char *lines,
                                  struct nnv_err *err) {
    struct brought new = {0};
    enum nnv_status st = NNV_OK;
    for (const char *at = lines; st == NNV_OK && *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        uint64_t hash;
        uint32_t i;
        char kind;
        bool fresh;
        if (sscanf(at, "%c %" SCNx64 " %" SCNu32, &kind, &hash, &i) != 3 || i >= b->count ||
            (kind != 'a' && kind != 'e'))
            continue;
        if (i != new.input) {
            st = take_input(c, b, &new, err);
            new = (struct brought){.input = i};
        }
        if (!nnv_unseen_see(&c->unseen, c->drawn_before + i, hash, &fresh)) return nnv_no_memory(err);
        new.answers += fresh &&kind == 'a';
        new.edges += fresh &&kind == 'e';
    }
    return st == NNV_OK ? take_input(c, b, &new, err) : st;
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
        st = take_shown(c, b, e->lines, err);
        c->drawn_before += b->count;
        take_wrong(c, b, e);
        go_on(c, b);
    }
    return st;
}

static enum nnv_status run_generations(struct campaign *c, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    bool late = false, interrupted = false;
    while (st == NNV_OK && !late && nnv_signals_interrupts() == 0 && !c->stats->saturated &&
           c->stats->findings < NNV_FUZZ_FINDINGS_MAX) {
        next_generation(c);
        if (c->count == 0) break;
        st = nnv_fuzz_run_batches(c->o->config, c->batches, c->count, c->ended, c->until_ns, &interrupted, err);
        late = st == NNV_TIMEOUT || (c->until_ns != 0 && nnv_now_ns() >= c->until_ns);
        if (st == NNV_TIMEOUT) st = NNV_OK;
        if (st == NNV_OK) st = take_generation(c, err);
        for (size_t i = 0; i < c->count; i++) nnv_fuzz_ended_free(&c->ended[i]);
        c->unseen.draws = c->stats->inputs;
        c->stats->chance = nnv_unseen_chance(&c->unseen);
        c->stats->saturated = c->o->limit > 0 && nnv_unseen_below(&c->unseen, c->o->limit);
        c->stats->corpus = c->corpus.count;
        c->stats->ns = nnv_now_ns() - c->start_ns;
        if (c->o->progress != NULL) c->o->progress(c->o->context, c->stats);
    }
    return st;
}

/* ------------------------------------------------------------------ findings */

/** Once the user has interrupted, findings are written as far as they are reduced. */
static enum nnv_status report(struct campaign *c, struct nnv_err *err) {
    enum nnv_status st = c->stats->findings > 0 ? nnv_folder_make(c->o->config->out, err) : NNV_OK;
    for (size_t i = 0; st == NNV_OK && i < c->stats->findings; i++) {
        struct nnv_fuzz_finding *f = &c->finding[i];
        if (nnv_signals_interrupts() == 0) st = nnv_fuzz_reduce(c->o->config, f, err);
        if (nnv_signals_interrupts() > 0) st = NNV_OK;
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
    struct nnv_signals signals;
    nnv_signals_take(&signals, NULL);
    enum nnv_status st = load_corpus(c, err);
    if (st == NNV_OK) st = run_generations(c, err);
    if (st == NNV_OK) st = report(c, err);
    *interrupted = nnv_signals_interrupts() > 0;
    nnv_signals_give_back(&signals);
    for (size_t i = 0; i < NNV_FUZZ_FINDINGS_MAX; i++) nnv_fuzz_finding_free(&c->finding[i]);
    free(c->corpus.item);
    free(c->given.item);
    nnv_unseen_free(&c->unseen);
    free(c);
    return st;
}
