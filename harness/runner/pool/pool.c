/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/pool/pool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/client/execute.h"
#include "harness/runner/coverage/coverage.h"
#include "harness/runner/worker/crash.h"
#include "harness/runner/worker/limits.h"
#include "harness/runner/pool/pool_state.h"
#include "harness/runner/signals.h"
#include "harness/runner/ask.h"

enum { STALLED_ROUNDS = 3 };

static const uint64_t MS = 1000000;
static const long GATHER_NS = 1000000;
static const uint64_t TRACE_NS = 50000000;  /* for a backtrace of a worker that hangs */
static const uint64_t ASKED_NS = 200000000; /* for a driver to put its device in order */
static const uint64_t ABORTED_NS = 100000000;
static const uint64_t CORE_NS = 5000000000;    /* for a core file to be written */
static const uint64_t GIVE_UP_NS = 5000000000; /* for a killed process that is stuck in the kernel */
static const uint64_t GRACE_NS = 2000000000;   /* after the first request to stop */

static void mark_for_kill(struct nnv_pool_slot *s, enum nnv_kill_reason why) {
    if (s->stage == NNV_POOL_KILLED) return;
    if (s->kill_reason == NNV_KILL_NONE) s->kill_reason = why;
    nnv_process_kill(s->w.pid);
    s->stage = NNV_POOL_KILLED;
    s->stage_ns = nnv_now_ns();
}

/* ------------------------------------------------------------ what workers share */

/**
 * True if what the workers share is as the supervisor and the workers alone can have left it: each worker takes at most
 * one case more than there are.
 */
static bool hub_is_whole(struct nnv_pool *p) {
    const uint64_t next = atomic_load(&p->hub->next);
    const bool whole = atomic_load(&p->hub->stop) == (uint32_t)nnv_pool_stopping(p) && next >= p->taken &&
                       next <= (uint64_t)p->work.count + p->starts;
    if (whole) p->taken = next;
    return whole;
}

/** The driver wrote over it, in one of the cases that are in progress: which one will show when each runs alone. */
static void repair_hub(struct nnv_pool *p) {
    const bool known = p->agenda.alone;
    if (!known) {
        nnv_pool_note(p, "the driver wrote over memory of nnvts; the cases in progress again, one at a time");
        nnv_agenda_suspect_taken(&p->agenda, (size_t)p->taken + (size_t)p->nslots);
    }
    for (int i = 0; i < p->nslots; i++)
        if (p->slots[i].w.pid != 0) mark_for_kill(&p->slots[i], known ? NNV_KILL_CORRUPT : NNV_KILL_TAINTED);
    atomic_store(&p->hub->stop, nnv_pool_stopping(p));
    atomic_store(&p->hub->next, p->work.count);
    p->taken = p->work.count;
}

/* ------------------------------------------------------------------ results */

static enum nnv_status take_record(struct nnv_pool *p, struct nnv_pool_slot *s, const struct nnv_record *r,
                                   struct nnv_err *err) {
    if (r->verdict == NNVTS_ERROR && r->why != NNVTS_WHY_MALFORMED && s->records > 1 &&
        nnv_agenda_suspect(&p->agenda, r->index)) {
        nnv_pool_note(p, "case %s failed in nnvts itself; again, in a fresh worker", p->o->cases[r->index].name);
        mark_for_kill(s, NNV_KILL_TAINTED);
        return NNV_OK;
    }
    struct nnv_ended e = {
        .index = r->index,
        .verdict = (enum nnvts_verdict)r->verdict,
        .why = (enum nnvts_reason)r->why,
        .mode = r->mode > 0 && r->mode <= NNV_MODES ? nnv_mode_name((enum nnv_mode)(r->mode - 1)) : NULL,
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
        .uses = {r->uses, r->uses_bytes},
        .devices = {r->devices, r->devices_bytes},
        .drift = {r->drift, r->drift_bytes},
        .answer = {r->answer, r->answer_bytes},
    };
    memcpy(e.counts, r->counts, sizeof e.counts);
    return nnv_pool_judged(p, &e, err);
}

/** No number of a driver that wrote over a record before it was told: the journal's integers have 63 bits. */
static bool may_count(uint64_t n) { return n <= INT64_MAX; }

/** A record that can be: of a case that is left, with a verdict and numbers that there are. */
static bool is_sound(const struct nnv_pool *p, const struct nnv_pool_slot *s, const struct nnv_record *r) {
    /* Where the case is alone because memory of nnvts was written over, it shows whether it does that. */
    return r->index < p->o->count && !nnv_agenda_done(&p->agenda, r->index) && r->verdict >= 0 &&
           r->verdict < NNVTS_NOTRUN && r->why >= 0 && r->why < NNVTS_REASON_COUNT && may_count(r->compared) &&
           may_count(r->not_compared) && may_count(r->values) &&
           (!p->agenda.alone || nnv_channel_holds_only(s->w.channel, r));
}

/** Takes all that the worker has finished. */
static enum nnv_status drain(struct nnv_pool *p, struct nnv_pool_slot *s, bool *news, struct nnv_err *err) {
    struct nnv_record r;
    enum nnv_status st = NNV_OK;
    int got = 0;
    while (st == NNV_OK && s->kill_reason != NNV_KILL_CORRUPT && s->kill_reason != NNV_KILL_TAINTED &&
           (got = nnv_channel_pop(s->w.channel, &r, &p->buffer, &p->cap)) > 0) {
        if (++p->drained > p->taken) p->taken = p->drained; /* what has ended has been taken */
        const bool done = r.index < p->o->count && nnv_agenda_done(&p->agenda, r.index);
        /* What was set back may be where it was again before it is looked at: then cases are taken twice. */
        if (!hub_is_whole(p) || (done && !p->agenda.alone)) {
            repair_hub(p);
            return st;
        }
        if (!is_sound(p, s, &r)) {
            got = -1;
            break;
        }
        s->records++;
        s->own_ns = 0;
        s->seen_ns = nnv_now_ns();
        *news = true;
        st = take_record(p, s, &r, err);
    }
    if (got == -2) return nnv_no_memory(err);
    if (got < 0) mark_for_kill(s, NNV_KILL_CORRUPT);
    return st;
}

/* ---------------------------------------------------------------- deadlines */

/** Raises what a core file of the worker may take to what the user allows nnvts. True if there may be one. */
static bool allow_core(pid_t pid) {
    struct rlimit core;
    return getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur > 0 && prlimit(pid, RLIMIT_CORE, &core, NULL) == 0;
}

static void send(struct nnv_pool_slot *s, int number, enum nnv_pool_stage stage, uint64_t now) {
    kill(s->w.pid, number);
    s->stage = stage;
    s->stage_ns = now;
}

/** The next signal, if the last one has had its time: each is harder than the one before. */
static void escalate(struct nnv_pool_slot *s, uint64_t now) {
    const uint64_t waited = now - s->stage_ns;
    switch (s->stage) {
    case NNV_POOL_ALIVE:
        send(s, nnv_crash_probe_signal(), NNV_POOL_PROBED, now);
        break;
    case NNV_POOL_PROBED:
        if (atomic_load(&s->w.channel->traced) || waited > TRACE_NS) send(s, SIGTERM, NNV_POOL_ASKED, now);
        break;
    case NNV_POOL_ASKED:
        if (waited <= ASKED_NS) break;
        s->dumps = allow_core(s->w.pid);
        send(s, SIGABRT, NNV_POOL_ABORTED, now);
        break;
    case NNV_POOL_ABORTED:
        if (waited > (s->dumps ? CORE_NS : ABORTED_NS)) mark_for_kill(s, NNV_KILL_TIMEOUT);
        break;
    case NNV_POOL_KILLED:
        break;
    }
}

/** Notes that the case goes on, and how. */
static void watch_life(const struct nnv_pool *p, struct nnv_pool_slot *s, uint64_t now) {
    const struct nnv_channel *c = s->w.channel;
    const off_t printed = p->o->config->silence_ns > 0 ? lseek(s->w.log, 0, SEEK_CUR) : 0;
    const uint64_t life = (uint64_t)printed << 8 ^ c->phase;
    if (nnv_triage_ours(&s->w)) s->own_ns += now - s->look_ns;
    if (life != s->life || nnv_triage_ours(&s->w) || s->seen_ns > s->heard_ns) s->heard_ns = now;
    s->life = life;
    s->look_ns = now;
}

static bool writes_too_much(const struct nnv_pool *p, const struct nnv_pool_slot *s) {
    uint64_t written;
    struct nnv_begun b;
    const uint64_t most = p->o->config->disk;
    return most > 0 && nnv_channel_begun(s->w.channel, &b) && nnv_written(s->w.pid, &written) && written > b.written &&
           written - b.written > most;
}

static void check_deadline(struct nnv_pool *p, struct nnv_pool_slot *s, uint64_t now) {
    struct nnv_channel *c = s->w.channel;
    const uint64_t silence = p->o->config->silence_ns;
    uint32_t serial = atomic_load(&c->serial);
    enum nnv_worker_state state = (enum nnv_worker_state)atomic_load(&c->state);
    if (serial != s->seen_serial) {
        s->seen_serial = serial;
        s->seen_ns = now;
        if (state >= NNV_WORKER_IDLE) nnv_pool_is_open(p, s);
    }
    watch_life(p, s, now);
    if (s->stage != NNV_POOL_ALIVE) {
        escalate(s, now);
        return;
    }
    const uint64_t limit = state == NNV_WORKER_OPENING ? nnv_pool_open_timeout(p)
                                                       : nnv_triage_limit(&s->w, p->o->config->timeout_ns, s->own_ns);
    const bool late = now > s->seen_ns && now - s->seen_ns > limit;
    const bool silent = silence > 0 && state == NNV_WORKER_RUNNING && now - s->heard_ns > silence;
    if (late || silent) {
        s->kill_reason = NNV_KILL_TIMEOUT;
        s->late = (struct nnv_late){late ? limit : silence, !late};
        s->blamed = nnv_pool_case_in_progress(p, s);
        escalate(s, now);
    } else if (state == NNV_WORKER_RUNNING && writes_too_much(p, s)) {
        s->blamed = nnv_pool_case_in_progress(p, s);
        mark_for_kill(s, NNV_KILL_DISK);
    }
}

enum { MOST_SIGNS = 1 << 20 /* of life in a case, one for each of its steps */ };

/** Looks after one worker: results, end, deadline. */
static enum nnv_status look_after(struct nnv_pool *p, struct nnv_pool_slot *s, bool *news, struct nnv_err *err) {
    struct nnv_end end = {.code = CLD_KILLED, .status = SIGKILL};
    bool ended = nnv_process_ended(s->w.pid, &end), told = false;
    const uint32_t serial = atomic_load(&s->w.channel->serial);
    enum nnv_status st = drain(p, s, &told, err); /* all that was there when it ended */
    *news = *news || told;
    /* What has shown life so often without a result has none to show: its deadline would never come. */
    if (told || serial - s->told_serial > MOST_SIGNS) {
        if (!told && !ended) mark_for_kill(s, NNV_KILL_CORRUPT);
        s->told_serial = serial;
    }
    uint64_t now = nnv_now_ns();
    bool stuck = !ended && s->stage == NNV_POOL_KILLED && now - s->stage_ns > GIVE_UP_NS;
    if (stuck) nnv_pool_note(p, "worker %u can't be killed: it hangs in the kernel", s->w.number);
    if (!ended && !stuck) {
        check_deadline(p, s, now);
        return st;
    }
    *news = true;
    if (end.left > 0)
        nnv_pool_note(p, "worker %u left %zu processes of the driver behind: they were ended", s->w.number, end.left);
    if (st == NNV_OK) st = nnv_pool_worker_ended(p, s, &end, err);
    if (st == NNV_OK && s->w.coverage != NULL) st = nnv_coverage_add(p->o->config->coverage, s->w.coverage, err);
    nnv_worker_free(&s->w);
    return st;
}

/* ------------------------------------------------------------------- rounds */

static void end_all(struct nnv_pool *p) {
    for (int i = 0; i < p->nslots; i++)
        if (p->slots[i].w.pid != 0) mark_for_kill(&p->slots[i], NNV_KILL_STOPPED);
}

static bool work_left(const struct nnv_pool *p) {
    return !nnv_pool_stopping(p) && !p->gave_up && p->taken < p->work.count;
}

/** Starts workers as far as there is work for them. */
static enum nnv_status fill_slots(struct nnv_pool *p, struct nnv_err *err) {
    uint64_t now = nnv_now_ns();
    if (!work_left(p) || now < p->start_after_ns) return NNV_OK;
    const uint64_t left = p->work.count - p->taken;
    const int limit = p->agenda.quiet ? 1 : p->limit;
    int alive = nnv_pool_living(p, false), opening = alive - nnv_pool_living(p, true);
    for (int i = 0; i < p->nslots && alive < limit && left > (uint64_t)opening; i++) {
        struct nnv_pool_slot *s = &p->slots[i];
        if (s->w.pid != 0) continue;
        *s = (struct nnv_pool_slot){.seen_ns = now,
                                    .look_ns = now,
                                    .heard_ns = now,
                                    .examined = p->unwell && p->passes > 0 && !p->work.one_each};
        p->work.known =
            s->examined ? p->passed[(size_t)p->open_failures % (p->passes < 4 ? p->passes : 4)] : UINT32_MAX;
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
static void heed_user(struct nnv_pool *p) {
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
static void heed_budget(struct nnv_pool *p) {
    if (p->end_ns == 0 || p->spent || p->enough || nnv_now_ns() < p->end_ns) return;
    p->spent = true;
    atomic_store(&p->hub->stop, 1);
}

static uint64_t nap(const struct nnv_pool *p) {
    for (int i = 0; i < p->nslots; i++)
        if (p->slots[i].w.pid != 0 && p->slots[i].stage != NNV_POOL_ALIVE) return 5 * MS;
    const uint64_t timeout = p->o->config->timeout_ns, silence = p->o->config->silence_ns;
    return timeout < 500 * MS || (silence > 0 && silence < 500 * MS) ? 5 * MS : 50 * MS;
}

/** Results come in handfuls: to be woken by each would take more time than what it is woken for. */
static void gather(void) {
    const struct timespec handful = {.tv_nsec = GATHER_NS};
    nanosleep(&handful, NULL);
}

/** Runs all cases of the order once; those that are not done then were lost with a worker, or are suspect. */
static enum nnv_status run_round(struct nnv_pool *p, struct nnv_err *err) {
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
        if (nnv_pool_living(p, false) == 0 && !work_left(p)) break;
        if (news || st != NNV_OK) continue;
        nnv_hub_wait(p->hub, seen, nap(p));
        gather();
    }
    return st;
}

/** Waits for what else runs, before a round that measures time. */
static enum nnv_status settle(struct nnv_pool *p, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    while (st == NNV_OK && p->agenda.quiet && !nnv_pool_stopping(p) && p->o->busy != NULL &&
           p->o->busy(p->o->context)) {
        const uint32_t seen = atomic_load(&p->hub->wake);
        if (p->o->idle != NULL) st = p->o->idle(p->o->context, err);
        heed_user(p);
        heed_budget(p);
        if (st == NNV_OK) nnv_hub_wait(p->hub, seen, 5 * MS);
    }
    return st;
}

static enum nnv_status run_all(struct nnv_pool *p, bool *interrupted, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    int stalled = 0;
    for (nnv_agenda_next(&p->agenda); p->agenda.round > 0; nnv_agenda_next(&p->agenda)) {
        st = settle(p, err);
        if (st == NNV_OK) st = run_round(p, err);
        *interrupted = p->stop_ns != 0;
        if (st != NNV_OK || p->gave_up || nnv_pool_stopping(p)) break;
        stalled = p->judged > 0 ? 0 : stalled + 1;
        if (stalled < STALLED_ROUNDS) continue;
        snprintf(p->open_error, sizeof p->open_error, "nnvts: its worker ended again and again without a result");
        p->gave_up = true;
        break;
    }
    if (st == NNV_OK && p->stop_ns == 0 && (p->gave_up || nnv_pool_stopping(p))) st = nnv_pool_end_rest(p, err);
    if (*interrupted) { /* not if everything was done nevertheless */
        nnv_agenda_next(&p->agenda);
        *interrupted = p->agenda.round > 0;
    }
    return st;
}

static void pool_free(struct nnv_pool *p) {
    for (int i = 0; i < p->nslots; i++) {
        struct nnv_pool_slot *s = &p->slots[i];
        struct nnv_end end;
        if (s->w.pid == 0) continue;
        nnv_process_kill(s->w.pid);
        nnv_process_wait(s->w.pid, GIVE_UP_NS, &end);
        nnv_worker_free(&s->w);
    }
    nnv_shared_free(p->hub, sizeof *p->hub);
    free(p->slots);
    nnv_agenda_free(&p->agenda);
    nnv_patience_free(&p->patience);
    nnv_kernel_log_close(&p->kernel);
    nnv_text_free(&p->told);
    free(p->buffer);
    nnv_triage_free(&p->triage);
}

enum nnv_status nnv_pool_run(const struct nnv_pool_options *o, bool *interrupted, struct nnv_err *err) {
    *interrupted = false;
    if (o->count == 0) return NNV_OK;
    if (o->count >= UINT32_MAX) return nnv_fail(err, NNV_INVALID, "%zu cases are too many for one run", o->count);
    int jobs = o->config->jobs < 1 ? 1 : o->config->jobs;
    if ((size_t)jobs > o->count) jobs = (int)o->count;
    struct nnv_pool p = {.o = o, .nslots = jobs, .limit = jobs, .started = o->workers, .death = (uint32_t)o->count};
    p.patience =
        (struct nnv_patience){.max_failures = o->config->max_failures, .max_timeouts = o->config->max_timeouts};
    p.hub = nnv_shared_new(sizeof *p.hub);
    p.slots = calloc((size_t)jobs, sizeof *p.slots);
    p.agenda = (struct nnv_agenda){.count = o->count, .listed = o->order};
    enum nnv_status st = nnv_agenda_begin(&p.agenda, o->skip, o->last, err);
    bool timed = false;
    for (uint32_t i = 0; st == NNV_OK && i < o->count; i++) { /* neighbours share the string */
        if (i == 0 || o->cases[i].tags != o->cases[i - 1].tags) timed = nnv_case_has_tag(&o->cases[i], NNV_TAG_TIMING);
        if (timed) nnv_agenda_timed(&p.agenda, i);
    }
    if (st != NNV_OK || !p.hub || !p.slots) {
        st = nnv_fail(err, NNV_NO_MEMORY, "out of memory for %zu cases", o->count);
        p.nslots = p.slots != NULL ? p.nslots : 0;
    } else if ((st = nnv_kernel_log_open(&p.kernel, o->config->kernel_log, err)) == NNV_OK) {
        p.work = (struct nnv_work){.config = o->config, .cases = o->cases, .watched = o->watched, .hub = p.hub};
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
