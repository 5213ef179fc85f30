/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/audit/audit.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness/journal/verdict.h"
#include "harness/runner/ask.h"
#include "harness/runner/pool/pool.h"
#include "harness/runner/signals.h"

/** The cases of one suite. */
struct part {
    struct nnv_case *cases;
    bool *alarm; /**< per case: a control failed it, so it proves nothing of a bug */
    size_t count;
};

/** One suite on one subject, as the pool's callback sees it. */
struct trial {
    struct nnv_audit_cell *cell;
    const struct part *part;
    bool control; /**< no bug: a bad case is an alarm */
    bool whole;   /**< not to be stopped at the first bad case */
    bool stopped; /**< it was */
};

static uint64_t draw(const char *name) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++) h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

static int by_draw(const void *a, const void *b) {
    const struct nnv_case *x = a, *y = b;
    uint64_t p = draw(x->name), q = draw(y->name);
    return p != q ? (p > q) - (p < q) : strcmp(x->name, y->name);
}

static enum nnv_status on_ended(void *context, const struct nnv_ended *e, struct nnv_err *err) {
    struct trial *t = context;
    struct nnv_audit_cell *c = t->cell;
    c->until += c->bad == 0;
    c->compared += e->compared;
    if (e->verdict == NNVTS_ERROR) {
        c->errors++;
    } else if (nnv_verdict_bad(e->verdict)) {
        if (c->bad++ == 0) {
            c->until = e->index + 1; /* its place, whatever was left out or ended before it */
            c->verdict = e->verdict;
            c->first = strdup(t->part->cases[e->index].name);
            if (c->first == NULL) return nnv_no_memory(err);
        }
        if (t->control) t->part->alarm[e->index] = true;
        t->stopped = !t->whole;
    }
    return t->stopped ? nnv_fail(err, NNV_INVALID, "stopped") : NNV_OK;
}

/** Runs one suite on the driver that config names. */
static enum nnv_status try_suite(const struct nnv_run_config *config, const struct part *part, bool whole, bool control,
                                 struct nnv_audit_cell *cell, bool *interrupted, struct nnv_err *err) {
    struct trial t = {.cell = cell, .part = part, .whole = whole, .control = control};
    const struct nnv_pool_options pool = {.config = config,
                                          .cases = part->cases,
                                          .count = part->count,
                                          .skip = control ? NULL : part->alarm,
                                          .context = &t,
                                          .ended = on_ended};
    *cell = (struct nnv_audit_cell){.run = true, .verdict = NNVTS_PASS};
    enum nnv_status st = nnv_pool_run(&pool, interrupted, err);
    *interrupted = *interrupted || nnv_signals_interrupts() > 0; /* as its last case ended */
    return t.stopped && err->status == NNV_INVALID ? NNV_OK : st;
}

/** Something is compared in this suite on every control. */
static bool controls_compare(const struct nnv_audit *a, size_t suite) {
    bool any = false;
    for (size_t i = 0; i < a->count; i++) {
        const struct nnv_audit_subject *s = &a->subjects[i];
        if (s->kind != NNV_AUDIT_CONTROL) continue;
        if (!s->cells[suite].run || s->cells[suite].compared == 0) return false;
        any = true;
    }
    return any;
}

/** The suite that the subject is for; 0 if it is not among those that are run. */
static size_t suite_for(const struct nnv_audit *a, const struct nnv_audit_subject *s) {
    for (size_t i = 0; i < a->suite_count; i++)
        if (strcmp(a->suites[i], s->suite) == 0) return i;
    return 0;
}

static enum nnv_status try_subject(const struct nnv_audit_options *o, struct nnv_audit *a, struct nnv_audit_subject *s,
                                   const struct part *parts, bool *interrupted, struct nnv_err *err) {
    struct nnv_run_config config = *o->config;
    struct nnv_arena *arena = nnv_arena_new();
    if (arena == NULL) return nnv_no_memory(err);
    config.driver = s->argument;
    enum nnv_status st = nnv_client_resolve(s->argument, arena, &config.driver_path, &config.driver_options, err);
    bool bug = s->kind == NNV_AUDIT_BUG, caught = false;
    const size_t first = suite_for(a, s);
    for (size_t k = 0; k < a->suite_count && st == NNV_OK && !*interrupted && !(caught && o->quick); k++) {
        const size_t i = k == 0 ? first : k <= first ? k - 1 : k;
        bool concerned = strcmp(a->suites[i], s->suite) == 0 || strcmp(a->suites[i], "ops") == 0 ||
                         strcmp(a->suites[i], "device") == 0;
        struct nnv_audit_cell *cell = &s->cells[i];
        if (s->kind != NNV_AUDIT_CONTROL && o->own && !concerned) continue;
        st = try_suite(&config, &parts[i], !bug || a->full, s->kind == NNV_AUDIT_CONTROL, cell, interrupted, err);
        cell->nothing = bug && cell->compared == 0 && cell->bad == 0 && controls_compare(a, i);
        caught = bug && nnv_audit_cell_bad(cell);
    }
    nnv_arena_free(arena);
    s->whole = st == NNV_OK && !*interrupted;
    if (s->whole && o->done != NULL) o->done(o->context, a, s);
    return st == NNV_OK ? st : nnv_at(err, st, "%s", s->argument);
}

/** Splits the cases by suite, each part in its drawn order. copy, alarm: room for all of them. */
static void split(const struct nnv_audit_options *o, const struct nnv_audit *a, struct nnv_case *copy, bool *alarm,
                  struct part *parts) {
    for (size_t k = 0; k < a->suite_count; k++) {
        parts[k] = (struct part){.cases = copy, .alarm = alarm};
        for (size_t i = 0; i < o->count; i++)
            if (strcmp(o->cases[i].suite, a->suites[k]) == 0) *copy++ = o->cases[i];
        parts[k].count = (size_t)(copy - parts[k].cases);
        alarm += parts[k].count;
        qsort(parts[k].cases, parts[k].count, sizeof *copy, by_draw);
    }
}

static enum nnv_status run_all(const struct nnv_audit_options *o, struct nnv_audit *a, const struct part *parts,
                               bool *interrupted, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    /* controls first: they tell what a good driver compares */
    for (int kind = NNV_AUDIT_CONTROL; kind >= NNV_AUDIT_BUG; kind--)
        for (size_t i = 0; i < a->count && st == NNV_OK && !*interrupted; i++)
            if (a->subjects[i].kind == (enum nnv_audit_kind)kind)
                st = try_subject(o, a, &a->subjects[i], parts, interrupted, err);
    return st;
}

static void free_cells(const struct nnv_audit *a, struct nnv_audit_subject *s) {
    for (size_t k = 0; k < a->suite_count && s->cells != NULL; k++) free(s->cells[k].first);
    free(s->cells);
    s->cells = NULL;
}

/** The audit becomes one of the subjects that it got to. */
static void drop_rest(struct nnv_audit *a) {
    size_t kept = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->subjects[i].whole)
            a->subjects[kept++] = a->subjects[i];
        else
            free_cells(a, &a->subjects[i]);
    }
    a->count = kept;
}

enum nnv_status nnv_audit_run(const struct nnv_audit_options *o, struct nnv_audit *a, bool *interrupted,
                              struct nnv_err *err) {
    uint64_t start = nnv_now_ns();
    *interrupted = false;
    bool room = true;
    for (size_t i = 0; i < a->count; i++) {
        a->subjects[i].cells = calloc(a->suite_count + 1, sizeof(struct nnv_audit_cell));
        room = room && a->subjects[i].cells != NULL;
    }
    struct nnv_case *copy = calloc(o->count + 1, sizeof *copy);
    bool *alarm = calloc(o->count + 1, sizeof *alarm);
    struct part *parts = calloc(a->suite_count + 1, sizeof *parts);
    enum nnv_status st = room && copy != NULL && alarm != NULL && parts != NULL ? NNV_OK : nnv_no_memory(err);
    struct nnv_signals signals;
    nnv_signals_take(&signals, NULL); /* between two runs, too */
    if (st == NNV_OK) split(o, a, copy, alarm, parts);
    if (st == NNV_OK) st = run_all(o, a, parts, interrupted, err);
    nnv_signals_give_back(&signals);
    if (*interrupted) drop_rest(a);
    a->seconds = (double)(nnv_now_ns() - start) / 1e9;
    free(copy);
    free(alarm);
    free(parts);
    return st;
}

void nnv_audit_free(struct nnv_audit *a) {
    for (size_t i = 0; i < a->count; i++) free_cells(a, &a->subjects[i]);
}

/* ------------------------------------------------------- the list of bugs */

enum { LIST_BYTES = 512 << 10, TEXTS = 6 };

/** What the process tells: rows of a kind's letter and TEXTS terminated texts; a 0 behind the last. */
struct sheet {
    bool fits;
    char rows[LIST_BYTES];
};

static bool put(struct sheet *s, size_t *at, const char *text) {
    size_t n = strlen(text) + 1;
    if (n > LIST_BYTES - 1 - *at) return false;
    memcpy(s->rows + *at, text, n);
    *at += n;
    return true;
}

static enum nnv_status fill(struct nnv_answering *in, struct nnv_err *err) {
    struct sheet *s = in->shared;
    nnvts_planted_at_fn planted_at = NULL;
    void *handle = dlopen(in->context, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle != NULL ? dlsym(handle, NNVTS_PLANTED_SYMBOL) : NULL;
    if (symbol == NULL) return nnv_fail(err, NNV_INVALID, "has no list of planted bugs (" NNVTS_PLANTED_SYMBOL ")");
    memcpy(&planted_at, &symbol, sizeof planted_at);
    const struct nnvts_planted *p;
    size_t at = 0;
    s->fits = true;
    for (uint32_t i = 0; s->fits && (p = planted_at(i)) != NULL; i++) {
        s->fits = p->struct_size >= sizeof *p && put(s, &at, p->kind == NNVTS_PLANTED_LEGAL ? "L" : "B");
        const char *texts[TEXTS] = {p->name, p->suite, p->models, p->fires, p->survives, p->spoils};
        for (size_t k = 0; k < TEXTS && s->fits; k++) s->fits = put(s, &at, texts[k] != NULL ? texts[k] : "");
    }
    return s->fits ? NNV_OK : nnv_fail(err, NNV_INVALID, "has a list of planted bugs of another version, or too long");
}

static enum nnv_status unpack(const struct sheet *s, struct nnv_arena *arena, struct nnv_planted *out,
                              struct nnv_err *err) {
    const char *at = s->rows, *end = s->rows + LIST_BYTES;
    size_t texts = 0;
    for (const char *p = at; *p != '\0';) {
        for (size_t k = 0; k <= TEXTS && p < end; k++) p += strlen(p) + 1;
        texts += TEXTS + 1;
        if (p >= end) return nnv_fail(err, NNV_INVALID, "has a damaged list of planted bugs");
    }
    out->count = texts / (TEXTS + 1);
    out->item = NNV_NEW(arena, struct nnvts_planted, out->count + 1);
    for (size_t i = 0; out->item != NULL && i < out->count; i++) {
        const char *text[TEXTS] = {0};
        int32_t kind = *at == 'L' ? NNVTS_PLANTED_LEGAL : NNVTS_PLANTED_BUG;
        at += strlen(at) + 1;
        for (size_t k = 0; k < TEXTS; k++, at += strlen(at) + 1)
            if ((text[k] = nnv_arena_strdup(arena, at)) == NULL) return nnv_no_memory(err);
        out->item[i] = (struct nnvts_planted){sizeof *out->item,
                                              kind,
                                              text[0],
                                              text[1],
                                              text[2],
                                              text[3],
                                              *text[4] != '\0' ? text[4] : NULL,
                                              *text[5] != '\0' ? text[5] : NULL};
    }
    return out->item != NULL ? NNV_OK : nnv_no_memory(err);
}

enum nnv_status nnv_planted_read(const char *path, uint64_t timeout_ns, struct nnv_arena *arena,
                                 struct nnv_planted *out, struct nnv_err *err) {
    char *context = nnv_arena_strdup(arena, path);
    struct nnv_ask ask = {.answer = fill, .context = context, .bytes = sizeof(struct sheet), .timeout_ns = timeout_ns};
    enum nnv_status st = context != NULL ? nnv_ask(&ask, err) : nnv_no_memory(err);
    struct sheet *s = ask.shared;
    if (st == NNV_OK && !ask.complete) st = nnv_fail(err, NNV_INVALID, "%s", ask.how);
    if (st == NNV_OK) {
        s->rows[LIST_BYTES - 1] = '\0';
        st = unpack(s, arena, out, err);
    }
    nnv_ask_free(&ask);
    return st == NNV_OK ? st : nnv_at(err, st, "driver '%s'", path);
}
