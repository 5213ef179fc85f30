/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/pool.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "harness/runner/agenda.h"
#include "harness/runner/crash.h"
#include "harness/runner/triage.h"
#include "harness/runner/signals.h"
#include "harness/runner/ask.h"

enum { OPEN_ATTEMPTS = 3, STALLED_ROUNDS = 3, BARREN_WORKERS = 8 };

static const uint64_t MS = 1000000;
static const uint64_t TRACE_NS = 50000000;     /* for a backtrace of a worker that hangs */
static const uint64_t GIVE_UP_NS = 5000000000; /* for a killed process that is stuck in the kernel */
static const uint64_t GRACE_NS = 2000000000;   /* after the first request to stop */
static const uint64_t BACKOFF_NS = 100000000;  /* before the driver is opened again */

enum stage { ALIVE, PROBED, KILLED };

/** A place for a worker. */
struct slot {
    struct nnv_worker w; /* pid 0: empty */
    uint32_t seen_serial;
    uint64_t seen_ns; /* when it last showed that it goes on */
    enum stage stage;
    uint64_t stage_ns;
    enum nnv_kill_reason kill_reason;
    uint32_t blamed; /* TIMEOUT: the case that ran; count: none */
    size_t records;  /* taken from it */
};

struct pool {
    const struct nnv_pool_options *o;
    struct nnv_hub *hub;
    struct nnv_work work;
    struct nnv_agenda agenda;
    uint64_t taken; /* of the round: what the hub told last; untrusted as soon as it goes back */
    struct slot *slots;
    int nslots;
    int limit; /* workers that may live at once: fewer than slots if the driver can't be opened so often */
    uint32_t started;
    size_t judged;   /* in this round */
    size_t drained;  /* records that came in this round */
    unsigned starts; /* of workers in this round */
    unsigned barren; /* workers that ended one after the other without taking a case, though there were some */
    bool worked;     /* a case has been judged */
    int open_failures;
    uint64_t start_after_ns;
    char open_error[NNV_ERR_TEXT];
    bool gave_up;
    bool noted_close;
    uint64_t stop_ns; /* when the user asked to stop; 0: not */
    uint64_t end_ns;  /* when the time budget is spent; 0: there is none */
    bool spent;
    struct nnv_triage triage;
    char *buffer; /* of records */
    size_t cap;
};

static void NNV_PRINTF(2, 3) note(const struct pool *p, const char *fmt, ...) {
    if (p->o->note == NULL) return;
    char text[NNV_ERR_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    p->o->note(p->o->context, text);
}

static enum nnv_status hand_on(struct pool *p, const struct nnv_ended *e, struct nnv_err *err) {
    p->agenda.due[e->index] = NNV_DUE_DONE;
    p->judged++;
    p->barren = 0;
    p->worked = true;
    return p->o->ended(p->o->context, e, err);
}

static void mark_for_kill(struct slot *s, enum nnv_kill_reason why) {
    if (s->stage == KILLED) return;
    if (s->kill_reason == NNV_KILL_NONE) s->kill_reason = why;
    nnv_process_kill(s->w.pid);
    s->stage = KILLED;
    s->stage_ns = nnv_now_ns();
}

/* ------------------------------------------------------------ what workers share */

static bool stopping(const struct pool *p) { return p->stop_ns != 0 || p->spent; }

/**
 * True if what the workers share is as the supervisor and the workers alone can have left it: each worker takes at most
 * one case more than there are.
 */
static bool hub_is_whole(struct pool *p) {
    const uint64_t next = atomic_load(&p->hub->next);
    const bool whole = atomic_load(&p->hub->stop) == (uint32_t)stopping(p) && next >= p->taken &&
                       next <= (uint64_t)p->work.count + p->starts;
    if (whole) p->taken = next;
    return whole;
}

/** The driver wrote over it, in one of the cases that are in progress: which one will show when each runs alone. */
static void repair_hub(struct pool *p) {
    const bool known = p->agenda.alone;
    if (!known) {
        note(p, "the driver wrote over memory of nnvts; the cases in progress again, one at a time");
        nnv_agenda_suspect_taken(&p->agenda, (size_t)p->taken + (size_t)p->nslots);
    }
    for (int i = 0; i < p->nslots; i++)
        if (p->slots[i].w.pid != 0) mark_for_kill(&p->slots[i], known ? NNV_KILL_CORRUPT : NNV_KILL_TAINTED);
    atomic_store(&p->hub->stop, stopping(p));
    atomic_store(&p->hub->next, p->work.count);
    p->taken = p->work.count;
}

/* ------------------------------------------------------------------ results */

static enum nnv_status take_record(struct pool *p, struct slot *s, const struct nnv_record *r, struct nnv_err *err) {
    if (r->verdict == NNVTS_ERROR && s->records > 1 && nnv_agenda_suspect(&p->agenda, r->index)) {
        note(p, "case %s failed in nnvts itself; again, in a fresh worker", p->o->cases[r->index].name);
        mark_for_kill(s, NNV_KILL_TAINTED);
        return NNV_OK;
    }
    struct nnv_ended e = {
        .index = r->index,
        .verdict = (enum nnvts_verdict)r->verdict,
        .why = (enum nnvts_reason)r->why,
        .compared = r->compared,
        .not_compared = r->not_compared,
        .values = r->values,
        .start_ns = r->start_ns,
        .ns = r->ns,
        .driver_ns = r->driver_ns,
        .worker = s->w.number,
        .turn = (uint32_t)s->records,
        .reason = {r->reason, r->reason_bytes},
        .outputs = {r->outputs, r->outputs_bytes},
        .log = {r->log, r->log_bytes},
        .answer = {r->answer, r->answer_bytes},
    };
    memcpy(e.counts, r->counts, sizeof e.counts);
    return hand_on(p, &e, err);
}

/** Takes all that the worker has finished. */
static enum nnv_status drain(struct pool *p, struct slot *s, bool *news, struct nnv_err *err) {
    struct nnv_record r;
    enum nnv_status st = NNV_OK;
    int got = 0;
    while (st == NNV_OK && s->kill_reason != NNV_KILL_CORRUPT && s->kill_reason != NNV_KILL_TAINTED &&
           (got = nnv_channel_pop(s->w.channel, &r, &p->buffer, &p->cap)) > 0) {
        if (++p->drained > p->taken) p->taken = p->drained; /* what has ended has been taken */
        if (!hub_is_whole(p)) {
            repair_hub(p);
            return st;
        }
        bool sound = r.index < p->o->count && !nnv_agenda_done(&p->agenda, r.index) && r.verdict >= 0 &&
                     r.verdict < NNVTS_NOTRUN && r.why >= 0 && r.why < NNVTS_REASON_COUNT;
        if (!sound) {
            got = -1;
            break;
        }
        s->records++;
        s->seen_ns = nnv_now_ns();
        *news = true;
        st = take_record(p, s, &r, err);
    }
    if (got < 0) mark_for_kill(s, NNV_KILL_CORRUPT);
    return st;
}

/* ---------------------------------------------------------- ends of workers */

/** The case that the worker was running when it ended, or count. */
static uint32_t case_in_progress(const struct pool *p, const struct slot *s) {
    uint32_t none = (uint32_t)p->o->count, current = atomic_load(&s->w.channel->current);
    if (atomic_load(&s->w.channel->state) != NNV_WORKER_RUNNING || current >= none) return none;
    return nnv_agenda_done(&p->agenda, current) || p->agenda.due[current] == NNV_DUE_SUSPECT ? none : current;
}

static enum nnv_status judge_end(struct pool *p, struct slot *s, const struct nnv_end *end, uint32_t index,
                                 struct nnv_err *err) {
    const struct nnv_worker *w = &s->w;
    const bool outside = end->code == CLD_KILLED && end->status == SIGKILL;
    if (s->kill_reason == NNV_KILL_NONE && (nnv_triage_own(w) || outside) && nnv_agenda_suspect(&p->agenda, index)) {
        char how[64];
        note(p, "worker %u %s in case %s%s; again, in a fresh worker", w->number, nnv_end_text(end, how),
             p->o->cases[index].name, outside ? "" : ", but not in the driver");
        return NNV_OK;
    }
    struct nnv_ended e = {.index = index, .turn = (uint32_t)s->records + 1};
    for (int v = 0; v < NNVTS_VERDICT_COUNT && p->o->config->repeat > 1; v++)
        e.counts[v] = atomic_load(&w->channel->counts[v]);
    nnv_triage_case(w, end, s->kill_reason, p->o->config->timeout_ns, &p->triage, &e);
    if (p->o->config->repeat > 1) e.counts[e.verdict]++;
    return hand_on(p, &e, err);
}

static uint64_t open_timeout(const struct pool *p) {
    return nnv_opening_ns(p->o->config->timeout_ns, p->o->config->least_opening_ns);
}

/** Workers that live; opened: only those that have opened the driver. */
static int living(const struct pool *p, bool opened) {
    int n = 0;
    for (int i = 0; i < p->nslots; i++)
        if (p->slots[i].w.pid != 0 && (!opened || atomic_load(&p->slots[i].w.channel->state) >= NNV_WORKER_IDLE)) n++;
    return n;
}

static void open_failed(struct pool *p, const struct slot *s, const struct nnv_end *end) {
    nnv_triage_open(&s->w, end, s->kill_reason, p->o->config->driver, open_timeout(p), p->open_error);
    bool elsewhere = p->o->opened != NULL && p->o->opened(p->o->context);
    if (!elsewhere) p->open_failures++;
    p->start_after_ns = nnv_now_ns() + BACKOFF_NS * (uint64_t)(p->open_failures + elsewhere);
    if (p->open_failures < OPEN_ATTEMPTS) return;
    p->limit = living(p, true);
    p->open_failures = 0;
    if (p->limit == 0)
        p->gave_up = true;
    else
        note(p, "the driver can be opened only %d times at once: %s", p->limit, p->open_error);
}

/** A worker has ended, its records are taken: which case was to blame, if any? */
static enum nnv_status worker_ended(struct pool *p, struct slot *s, const struct nnv_end *end, struct nnv_err *err) {
    enum nnv_worker_state state = (enum nnv_worker_state)atomic_load(&s->w.channel->state);
    uint32_t none = (uint32_t)p->o->count, index = case_in_progress(p, s);
    char how[64];
    enum nnv_status st = NNV_OK;
    if (state >= NNV_WORKER_IDLE && state <= NNV_WORKER_FINISHED) p->open_failures = 0;
    if (s->kill_reason == NNV_KILL_TIMEOUT) {
        /* What it began after the deadline is not to blame: it is run again. */
        index = s->blamed < none && !nnv_agenda_done(&p->agenda, s->blamed) ? s->blamed : none;
    } else if (s->kill_reason == NNV_KILL_CORRUPT && index == none) {
        /* Nothing that it told can be believed. */
        index = nnv_agenda_only(&p->agenda);
        if (index == none || nnv_agenda_done(&p->agenda, index)) {
            nnv_agenda_suspect_taken(&p->agenda, (size_t)p->taken + (size_t)p->nslots);
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
        note(p, "worker %u %s when it closed the driver", s->w.number,
             s->kill_reason == NNV_KILL_TIMEOUT ? "did not end" : nnv_end_text(end, how));
    } else if (state < NNV_WORKER_CLOSING) {
        note(p, "worker %u %s between two cases", s->w.number, nnv_end_text(end, how));
    }
    if (p->barren > BARREN_WORKERS + (unsigned)p->nslots) {
        snprintf(p->open_error, sizeof p->open_error, "driver '%s': %u workers in a row ended before they took a case",
                 p->o->config->driver, p->barren);
        p->gave_up = true;
    }
    return st;
}

/* ---------------------------------------------------------------- deadlines */

static void check_deadline(struct pool *p, struct slot *s, uint64_t now) {
    struct nnv_channel *c = s->w.channel;
    uint32_t serial = atomic_load(&c->serial);
    enum nnv_worker_state state = (enum nnv_worker_state)atomic_load(&c->state);
    if (serial != s->seen_serial) {
        s->seen_serial = serial;
        s->seen_ns = now;
        if (state >= NNV_WORKER_IDLE) p->open_failures = 0;
    }
    uint64_t limit = state == NNV_WORKER_OPENING ? open_timeout(p) : p->o->config->timeout_ns;
    if (s->stage == ALIVE && now > s->seen_ns && now - s->seen_ns > limit) {
        s->kill_reason = NNV_KILL_TIMEOUT;
        s->blamed = case_in_progress(p, s);
        kill(s->w.pid, nnv_crash_probe_signal());
        s->stage = PROBED;
        s->stage_ns = now;
    } else if (s->stage == PROBED && (atomic_load(&c->traced) || now - s->stage_ns > TRACE_NS)) {
        mark_for_kill(s, NNV_KILL_TIMEOUT);
    }
}

/** Looks after one worker: results, end, deadline. */
static enum nnv_status look_after(struct pool *p, struct slot *s, bool *news, struct nnv_err *err) {
    struct nnv_end end = {.code = CLD_KILLED, .status = SIGKILL};
    bool ended = nnv_process_ended(s->w.pid, &end);
    enum nnv_status st = drain(p, s, news, err); /* all that was there when it ended */
    uint64_t now = nnv_now_ns();
    bool stuck = !ended && s->stage == KILLED && now - s->stage_ns > GIVE_UP_NS;
    if (stuck) note(p, "worker %u can't be killed: it hangs in the kernel", s->w.number);
    if (!ended && !stuck) {
        check_deadline(p, s, now);
        return st;
    }
    *news = true;
    if (st == NNV_OK) st = worker_ended(p, s, &end, err);
    nnv_worker_free(&s->w);
    return st;
}

/* ------------------------------------------------------------------- rounds */

static void end_all(struct pool *p) {
    for (int i = 0; i < p->nslots; i++)
        if (p->slots[i].w.pid != 0) mark_for_kill(&p->slots[i], NNV_KILL_STOPPED);
}

static bool work_left(const struct pool *p) {
    return p->stop_ns == 0 && !p->gave_up && !p->spent && p->taken < p->work.count;
}

/** Starts workers as far as there is work for them. */
static enum nnv_status fill_slots(struct pool *p, struct nnv_err *err) {
    uint64_t now = nnv_now_ns();
    if (!work_left(p) || now < p->start_after_ns) return NNV_OK;
    uint64_t left = p->work.count - p->taken;
    int alive = living(p, false), opening = alive - living(p, true);
    for (int i = 0; i < p->nslots && alive < p->limit && left > (uint64_t)opening; i++) {
        struct slot *s = &p->slots[i];
        if (s->w.pid != 0) continue;
        *s = (struct slot){.seen_ns = now};
        enum nnv_status st =
            nnv_worker_start(&p->work, ++p->started,
                             p->o->running != NULL ? nnv_running_page(p->o->running, (size_t)i) : NULL, &s->w, err);
        if (st != NNV_OK && alive == 0) return st;
        if (st != NNV_OK) {
            p->limit = alive;
            break;
        }
        alive++;
        opening++;
        p->starts++;
    }
    return NNV_OK;
}

/** Heeds requests to stop. */
static void heed_user(struct pool *p) {
    int n = nnv_signals_interrupts();
    if (n == 0) return;
    uint64_t now = nnv_now_ns();
    if (p->stop_ns == 0) {
        p->stop_ns = now;
        atomic_store(&p->hub->stop, 1);
    }
    if (n > 1 || now - p->stop_ns > GRACE_NS) end_all(p);
}

/** Heeds the time budget: what runs may end. */
static void heed_budget(struct pool *p) {
    if (p->end_ns == 0 || p->spent || nnv_now_ns() < p->end_ns) return;
    p->spent = true;
    atomic_store(&p->hub->stop, 1);
}

static uint64_t nap(const struct pool *p) {
    for (int i = 0; i < p->nslots; i++)
        if (p->slots[i].w.pid != 0 && p->slots[i].stage != ALIVE) return 5 * MS;
    return p->o->config->timeout_ns < 500 * MS ? 5 * MS : 50 * MS;
}

/** Runs all cases of the order once; those that are not done then were lost with a worker, or are suspect. */
static enum nnv_status run_round(struct pool *p, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    atomic_store(&p->hub->next, 0);
    p->taken = 0;
    p->starts = 0;
    p->drained = 0;
    p->judged = 0;
    p->work.order = p->agenda.order;
    p->work.count = p->agenda.round;
    p->work.one_each = p->agenda.one_each;
    p->work.last = p->agenda.last;
    while (st == NNV_OK) {
        uint32_t seen = atomic_load(&p->hub->wake);
        bool news = false;
        if (!hub_is_whole(p)) repair_hub(p);
        for (int i = 0; i < p->nslots && st == NNV_OK; i++)
            if (p->slots[i].w.pid != 0) st = look_after(p, &p->slots[i], &news, err);
        if (st == NNV_OK && p->o->idle != NULL) st = p->o->idle(p->o->context, err);
        if (st != NNV_OK) break;
        heed_user(p);
        heed_budget(p);
        if (p->gave_up) end_all(p);
        st = fill_slots(p, err);
        if (living(p, false) == 0 && !work_left(p)) break;
        if (!news && st == NNV_OK) nnv_hub_wait(p->hub, seen, nap(p));
    }
    return st;
}

/** What is left is not run. */
static enum nnv_status end_rest(struct pool *p, enum nnvts_reason why, const char *reason, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < p->o->count && st == NNV_OK; i++) {
        if (nnv_agenda_done(&p->agenda, (uint32_t)i)) continue;
        struct nnv_ended e = {
            .index = (uint32_t)i, .verdict = nnv_why_verdict(why), .why = why, .reason = {reason, strlen(reason)}};
        st = hand_on(p, &e, err);
    }
    return st;
}

static enum nnv_status run_all(struct pool *p, bool *interrupted, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    int stalled = 0;
    for (nnv_agenda_next(&p->agenda); p->agenda.round > 0; nnv_agenda_next(&p->agenda)) {
        st = run_round(p, err);
        *interrupted = p->stop_ns != 0;
        if (st != NNV_OK || p->gave_up || p->stop_ns != 0 || p->spent) break;
        stalled = p->judged > 0 ? 0 : stalled + 1;
        if (stalled == STALLED_ROUNDS)
            return end_rest(p, NNVTS_WHY_HARNESS, "nnvts: its worker ended again and again without a result", err);
    }
    if (st == NNV_OK && p->gave_up) st = end_rest(p, NNVTS_WHY_HARNESS, p->open_error, err);
    if (st == NNV_OK && p->spent && p->stop_ns == 0)
        st = end_rest(p, NNVTS_WHY_TIME_BUDGET, "the time budget was spent before it could begin", err);
    if (*interrupted) { /* not if everything was done nevertheless */
        nnv_agenda_next(&p->agenda);
        *interrupted = p->agenda.round > 0;
    }
    return st;
}

static void pool_free(struct pool *p) {
    for (int i = 0; i < p->nslots; i++) {
        struct slot *s = &p->slots[i];
        struct nnv_end end;
        if (s->w.pid == 0) continue;
        nnv_process_kill(s->w.pid);
        nnv_process_wait(s->w.pid, GIVE_UP_NS, &end);
        nnv_worker_free(&s->w);
    }
    nnv_shared_free(p->hub, sizeof *p->hub);
    free(p->slots);
    nnv_agenda_free(&p->agenda);
    free(p->buffer);
}

enum nnv_status nnv_pool_run(const struct nnv_pool_options *o, bool *interrupted, struct nnv_err *err) {
    *interrupted = false;
    if (o->count == 0) return NNV_OK;
    if (o->count >= UINT32_MAX) return nnv_fail(err, NNV_INVALID, "%zu cases are too many for one run", o->count);
    int jobs = o->config->jobs < 1 ? 1 : o->config->jobs;
    if ((size_t)jobs > o->count) jobs = (int)o->count;
    struct pool p = {.o = o, .nslots = jobs, .limit = jobs, .started = o->workers};
    p.hub = nnv_shared_new(sizeof *p.hub);
    p.slots = calloc((size_t)jobs, sizeof *p.slots);
    p.agenda = (struct nnv_agenda){.count = o->count, .listed = o->order};
    enum nnv_status st = nnv_agenda_begin(&p.agenda, o->skip, o->last, err);
    if (st != NNV_OK || !p.hub || !p.slots) {
        st = nnv_fail(err, NNV_NO_MEMORY, "out of memory for %zu cases", o->count);
        p.nslots = p.slots != NULL ? p.nslots : 0;
    } else {
        p.work = (struct nnv_work){.config = o->config, .cases = o->cases, .hub = p.hub};
        if (o->config->budget_ns > 0) p.end_ns = nnv_now_ns() + o->config->budget_ns;
        struct nnv_signals signals;
        const int traceable = prctl(PR_GET_DUMPABLE);
        nnv_signals_take(&signals, p.hub);
        prctl(PR_SET_DUMPABLE, 0); /* workers are the same user's, and may not trace or read this process */
        st = run_all(&p, interrupted, err);
        prctl(PR_SET_DUMPABLE, traceable);
        nnv_signals_give_back(&signals);
    }
    pool_free(&p);
    return st;
}
