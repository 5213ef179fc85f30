/* SPDX-License-Identifier: Apache-2.0 */
/** @file pool_end.c What the end of a case or of a worker means for the run. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "harness/journal/verdict.h"
#include "harness/runner/ask.h"
#include "harness/runner/pool/pool_state.h"
#include "harness/runner/pool/hook.h"

enum { OPEN_ATTEMPTS = 3, BARREN_WORKERS = 8 };

static const uint64_t BACKOFF_NS = 100000000; /* before the driver is opened again */

void nnv_pool_note(const struct nnv_pool *p, const char *fmt, ...) {
    if (p->o->note == NULL) return;
    char text[NNV_ERR_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    nnv_err_plain(text);
    p->o->note(p->o->context, text);
}

static enum nnv_status hand_on(struct nnv_pool *p, const struct nnv_ended *e, struct nnv_err *err) {
    p->agenda.due[e->index] = NNV_DUE_DONE;
    p->judged++;
    p->barren = 0;
    p->work.leaks += e->why == NNVTS_WHY_LEAK;
    if (e->verdict == NNVTS_PASS && e->compared > 0) p->passed[p->passes++ % 4] = e->index;
    return p->o->ended(p->o->context, e, err);
}

/** The cases that are not done, of one operation unless op is NULL, are not run. Those before `from` in the round are.
 */
static enum nnv_status give_up(struct nnv_pool *p, enum nnvts_reason why, const char *op, uint64_t from,
                               const char *reason, struct nnv_err *err) {
    bool *runs = calloc(p->o->count, sizeof *runs);
    enum nnv_status st = runs != NULL ? NNV_OK : nnv_no_memory(err);
    for (uint64_t k = 0; st == NNV_OK && k < from && k < p->agenda.round; k++) runs[p->agenda.order[k]] = true;
    for (uint32_t i = 0; i < p->o->count && st == NNV_OK; i++) {
        if (runs[i] || nnv_agenda_done(&p->agenda, i) || (op != NULL && strcmp(p->o->cases[i].op, op) != 0)) continue;
        const struct nnv_ended e = {
            .index = i, .verdict = nnv_why_verdict(why), .why = why, .reason = {reason, strlen(reason)}};
        st = hand_on(p, &e, err);
    }
    free(runs);
    return st;
}

/** The reason of the case becomes these words, and those after them. */
static void tell(struct nnv_pool *p, struct nnv_ended *e, struct nnv_bytes words, const char *more, size_t n) {
    nnv_text_clear(&p->told);
    nnv_text_add_n(&p->told, words.data, words.len);
    nnv_text_add_n(&p->told, more, n);
    if (!p->told.failed) e->reason = (struct nnv_bytes){p->told.data, p->told.len};
}

/** A fault that the kernel has reported since the last case ended fails this one, whatever the driver answered. */
static void hear_kernel(struct nnv_pool *p, struct nnv_ended *e) {
    static const char reported[] = "the kernel reported a fault while the case ran";
    struct nnv_text *faults = &p->kernel.faults;
    nnv_kernel_log_read(&p->kernel);
    if (faults->len == 0) return;
    const bool was_good = !nnv_verdict_bad(e->verdict);
    tell(p, e, was_good ? (struct nnv_bytes){reported, sizeof reported - 1} : e->reason, faults->data, faults->len);
    nnv_text_clear(faults);
    if (!was_good) return;
    e->verdict = NNVTS_FAIL;
    e->why = NNVTS_WHY_KERNEL;
}

enum nnv_status nnv_pool_judged(struct nnv_pool *p, struct nnv_ended *e, struct nnv_err *err) {
    const struct nnv_case *c = &p->o->cases[e->index];
    hear_kernel(p, e);
    enum nnv_status st = hand_on(p, e, err);
    const enum nnv_patience_end end = st == NNV_OK ? nnv_patience_take(&p->patience, c, e) : NNV_PATIENCE_LEFT;
    if (end == NNV_PATIENCE_RUN) {
        p->enough = true;
        atomic_store(&p->hub->stop, 1);
    } else if (end == NNV_PATIENCE_OPERATION) {
        /* Nobody takes a case of this round any more; what has been taken ends as it may. */
        const uint64_t next = atomic_exchange(&p->hub->next, p->work.count);
        p->taken = p->work.count;
        st = give_up(p, NNVTS_WHY_HANGS, c->op, next, p->patience.reason, err);
    }
    return st;
}

/** Runs the user's command, if there is one, that brings the device back. */
static void reset_device(struct nnv_pool *p, const char *what, uint32_t index) {
    struct nnv_err err = {0};
    const char *name = index < p->o->count ? p->o->cases[index].name : "";
    const char *hook = p->o->config->reset_hook;
    if (hook != NULL && nnv_hook("--reset-hook", hook, what, name, &err) != NNV_OK) nnv_pool_note(p, "%s", err.text);
}

uint32_t nnv_pool_case_in_progress(const struct nnv_pool *p, const struct nnv_pool_slot *s) {
    const uint32_t none = (uint32_t)p->o->count;
    struct nnv_begun b;
    if (atomic_load(&s->w.channel->state) != NNV_WORKER_RUNNING || !nnv_channel_begun(s->w.channel, &b)) return none;
    if (b.index >= none || nnv_agenda_done(&p->agenda, b.index)) return none;
    return p->agenda.due[b.index] == NNV_DUE_SUSPECT ? none : b.index;
}

/** What a worker that ended in a case has told of it cannot be. */
static bool is_nonsense(const struct nnv_pool *p, const struct nnv_channel *c) {
    struct nnv_begun b;
    uint64_t runs = 0;
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++) runs += atomic_load(&c->counts[v]);
    return atomic_load(&c->state) == NNV_WORKER_RUNNING && (!nnv_channel_begun(c, &b) || runs > p->o->config->repeat);
}

static enum nnv_status judge_end(struct nnv_pool *p, struct nnv_pool_slot *s, const struct nnv_end *end, uint32_t index,
                                 struct nnv_err *err) {
    const struct nnv_worker *w = &s->w;
    const bool outside = end->code == CLD_KILLED && end->status == SIGKILL;
    if (s->kill_reason == NNV_KILL_NONE && (nnv_triage_own(w) || outside) && nnv_agenda_suspect(&p->agenda, index)) {
        char how[64];
        nnv_pool_note(p, "worker %u %s in case %s%s; again, in a fresh worker", w->number, nnv_end_text(end, how),
                      p->o->cases[index].name, outside ? "" : ", but not in the driver");
        return NNV_OK;
    }
    struct nnv_ended e = {.index = index, .turn = (uint32_t)s->records + 1};
    for (int v = 0; v < NNVTS_VERDICT_COUNT && p->o->config->repeat > 1; v++)
        e.counts[v] = atomic_load(&w->channel->counts[v]);
    nnv_triage_case(w, end, s->kill_reason, &s->late, p->o->config, &p->triage, &e);
    const char *killed = outside ? nnv_kernel_log_killed(&p->kernel, w->pid) : NULL;
    if (killed != NULL) {
        e.why = NNVTS_WHY_OUT_OF_MEMORY;
        tell(p, &e, e.reason, killed - 1, 1 + strcspn(killed, "\n"));
    }
    if (p->o->config->repeat > 1) e.counts[e.verdict]++;
    p->unwell = true;
    p->death = index;
    p->mortal = nnv_verdict_name(e.verdict);
    enum nnv_status st = nnv_pool_judged(p, &e, err);
    reset_device(p, p->mortal, index);
    return st;
}

uint64_t nnv_pool_open_timeout(const struct nnv_pool *p) {
    return nnv_opening_ns(p->o->config->timeout_ns, p->o->config->least_opening_ns);
}

int nnv_pool_living(const struct nnv_pool *p, bool opened) {
    int n = 0;
    for (int i = 0; i < p->nslots; i++)
        if (p->slots[i].w.pid != 0 && (!opened || atomic_load(&p->slots[i].w.channel->state) >= NNV_WORKER_IDLE)) n++;
    return n;
}

static void open_failed(struct nnv_pool *p, const struct nnv_pool_slot *s, const struct nnv_end *end) {
    nnv_triage_open(&s->w, end, s->kill_reason, p->o->config->driver, nnv_pool_open_timeout(p), p->open_error);
    bool elsewhere = p->o->opened != NULL && p->o->opened(p->o->context);
    if (!elsewhere) {
        p->open_failures++;
        reset_device(p, "OPEN", p->death);
    }
    p->start_after_ns = nnv_now_ns() + BACKOFF_NS * (uint64_t)(p->open_failures + elsewhere);
    if (p->open_failures < OPEN_ATTEMPTS) return;
    const int opened = nnv_pool_living(p, true);
    /* Where a device can be opened only once, another worker that opens it now may be why it is in use. */
    const bool waits = opened == 0 && nnv_pool_living(p, false) > 1;
    if (waits && p->open_failures < OPEN_ATTEMPTS * (p->nslots + 1)) return;
    p->limit = opened;
    p->open_failures = 0;
    if (p->limit == 0)
        p->gave_up = true;
    else
        nnv_pool_note(p, "the driver can be opened only %d times at once: %s", p->limit, p->open_error);
}

void nnv_pool_is_open(struct nnv_pool *p, const struct nnv_pool_slot *s) {
    p->open_failures = 0;
    if (s->examined) p->unwell = false;
}

/** The worker's cases that are not done are to run alone: what has begun, but for what other workers run now. */
static void suspect_cases(struct nnv_pool *p, const struct nnv_pool_slot *s) {
    struct nnv_begun b;
    if (!p->overwritten)
        nnv_pool_note(
            p, "the driver wrote over memory of nnvts in worker %u: cases that were in progress run again, alone",
            s->w.number);
    p->overwritten = true;
    nnv_agenda_suspect_taken(&p->agenda, (size_t)p->taken + (size_t)p->nslots);
    for (int i = 0; i < p->nslots; i++) {
        const struct nnv_worker *w = &p->slots[i].w;
        if (&p->slots[i] == s || w->pid == 0 || atomic_load(&w->channel->state) != NNV_WORKER_RUNNING) continue;
        if (nnv_channel_begun(w->channel, &b) && b.index < p->o->count && p->agenda.due[b.index] == NNV_DUE_SUSPECT)
            p->agenda.due[b.index] = NNV_DUE_LEFT;
    }
}

enum nnv_status nnv_pool_worker_ended(struct nnv_pool *p, struct nnv_pool_slot *s, const struct nnv_end *end,
                                      struct nnv_err *err) {
    enum nnv_worker_state state = (enum nnv_worker_state)atomic_load(&s->w.channel->state);
    uint32_t none = (uint32_t)p->o->count, index = nnv_pool_case_in_progress(p, s);
    char how[64];
    enum nnv_status st = NNV_OK;
    if (state >= NNV_WORKER_IDLE && state <= NNV_WORKER_FINISHED) nnv_pool_is_open(p, s);
    if (s->kill_reason != NNV_KILL_STOPPED && s->kill_reason != NNV_KILL_TAINTED && is_nonsense(p, s->w.channel))
        s->kill_reason = NNV_KILL_CORRUPT;
    if (s->kill_reason == NNV_KILL_TIMEOUT || s->kill_reason == NNV_KILL_DISK) {
        /* What it began after the deadline is not to blame: it is run again. */
        index = s->blamed < none && !nnv_agenda_done(&p->agenda, s->blamed) ? s->blamed : none;
    } else if (s->kill_reason == NNV_KILL_CORRUPT && (index == none || !p->work.one_each)) {
        /* Nothing that it told can be believed, and it may have been any case that this worker ran. */
        index = nnv_agenda_only(&p->agenda);
        if (index == none || nnv_agenda_done(&p->agenda, index)) {
            suspect_cases(p, s);
            return st;
        }
    } else if (s->kill_reason == NNV_KILL_STOPPED || s->kill_reason == NNV_KILL_TAINTED) {
        return st;
    }
    if (index == none && s->records == 0 && state != NNV_WORKER_REFUSED && p->taken < p->work.count) p->barren++;
    if (index < none) {
        st = judge_end(p, s, end, index, err);
    } else if (state == NNV_WORKER_OPENING || state == NNV_WORKER_REFUSED) {
        open_failed(p, s, end);
    } else if (state == NNV_WORKER_CLOSING && !p->noted_close) {
        p->noted_close = true;
        nnv_pool_note(p, "worker %u %s when it closed the driver", s->w.number,
                      s->kill_reason == NNV_KILL_TIMEOUT ? "did not end" : nnv_end_text(end, how));
    } else if (state < NNV_WORKER_CLOSING) {
        nnv_pool_note(p, "worker %u %s between two cases", s->w.number, nnv_end_text(end, how));
    }
    if (p->barren > BARREN_WORKERS + (unsigned)p->nslots) {
        snprintf(p->open_error, sizeof p->open_error, "driver '%s': %u workers in a row ended before they took a case",
                 p->o->config->driver, p->barren);
        p->gave_up = true;
    }
    return st;
}

enum nnv_status nnv_pool_end_rest(struct nnv_pool *p, struct nnv_err *err) {
    if (p->enough) return give_up(p, NNVTS_WHY_ENOUGH, NULL, 0, p->patience.reason, err);
    if (p->spent)
        return give_up(p, NNVTS_WHY_TIME_BUDGET, NULL, 0, "the time budget was spent before it could begin", err);
    if (p->death >= p->o->count) return give_up(p, NNVTS_WHY_HARNESS, NULL, 0, p->open_error, err);
    char reason[2 * NNV_ERR_TEXT];
    snprintf(reason, sizeof reason, "device lost after case %s (%s): %s", p->o->cases[p->death].name, p->mortal,
             p->open_error);
    nnv_pool_note(p, "%s", reason);
    return give_up(p, NNVTS_WHY_DEVICE_LOST, NULL, 0, reason, err);
}
