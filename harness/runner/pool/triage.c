/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/pool/triage.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"

/** The phase as the worker told it, NONE for nonsense. */
static enum nnv_phase phase_of(const struct nnv_worker *w) {
    uint32_t p = w->channel->phase;
    return p < NNV_PHASE_COUNT ? (enum nnv_phase)p : NNV_PHASE_NONE;
}

static bool is_own(enum nnv_phase p) { return p == NNV_PHASE_BUILD || p == NNV_PHASE_CHECK; }

bool nnv_triage_own(const struct nnv_worker *w) {
    return is_own(phase_of(w)) && !atomic_load(&w->channel->fault_foreign);
}

bool nnv_triage_ours(const struct nnv_worker *w) { return is_own(phase_of(w)); }

uint64_t nnv_triage_limit(const struct nnv_worker *w, uint64_t timeout_ns, uint64_t own_ns) {
    enum { OWN_TIMES = 6, COST_TIMES = 4, SECOND = 1000000000 };
    if (nnv_triage_ours(w)) return OWN_TIMES * timeout_ns;
    return timeout_ns + own_ns * COST_TIMES / SECOND * SECOND; /* whole seconds: cases of a kind have one limit */
}

/** The function of NNAPI that the trace leads out of; its length, 0 where there is none. */
static int outermost(const struct nnv_worker *w, const char **name) {
    static const char prefix[] = " ANeuralNetworks";
    const char *trace = w->channel->trace, *end = trace + NNV_CHANNEL_TRACE, *found = NULL;
    const uint32_t bytes = atomic_load(&w->channel->trace_bytes);
    if (bytes < NNV_CHANNEL_TRACE) end = trace + bytes;
    for (const char *at = trace; (at = memmem(at, (size_t)(end - at), prefix, sizeof prefix - 1)) != NULL; at++)
        found = at + 1;
    if (!found) return 0;
    int n = 0;
    while (found + n < end && (isalnum((unsigned char)found[n]) || found[n] == '_')) n++;
    *name = found;
    return n;
}

/** " in execute", " while nnvts built the case", or nothing. */
static const char *where(const struct nnv_worker *w, enum nnv_phase p, char *buf, size_t room) {
    const char *function;
    int n;
    if (p == NNV_PHASE_BUILD)
        snprintf(buf, room, " while nnvts built the case");
    else if (p == NNV_PHASE_CHECK)
        snprintf(buf, room, " while nnvts compared the results");
    else if (p == NNV_PHASE_NONE)
        *buf = '\0';
    else if ((n = outermost(w, &function)) > 0)
        snprintf(buf, room, " in %.*s", n, function);
    else
        snprintf(buf, room, " in %s", nnv_phase_name(p));
    return buf;
}

/** What ended a worker that took too long: "ended by SIGABRT, with a core file; SIGTERM had not". */
static void add_ladder(const struct nnv_end *end, struct nnv_triage *room) {
    char name[32], how[64];
    const size_t n = strlen(room->reason);
    char *to = room->reason + n;
    const size_t left = sizeof room->reason - n;
    if (end->code == CLD_EXITED)
        snprintf(to, left, "\n%s on SIGTERM", nnv_end_text(end, how));
    else
        snprintf(to, left, "\nended by %s%s%s", nnv_signal_name(end->status, name),
                 end->code == CLD_DUMPED ? ", with a core file" : "",
                 end->status == SIGKILL   ? "; SIGTERM and SIGABRT had not"
                 : end->status == SIGABRT ? "; SIGTERM had not"
                                          : "");
}

/** Whether the driver died of a limit of the run, and of which; words for it into room. */
static enum nnvts_reason limit_hit(const struct nnv_worker *w, const struct nnv_end *end,
                                   const struct nnv_run_config *config, struct nnv_triage *room) {
    const size_t n = strlen(room->reason);
    if (config->disk > 0 && end->code != CLD_EXITED && end->status == SIGXFSZ) {
        snprintf(room->reason + n, sizeof room->reason - n, ": it wrote more than the %llu MB of --disk",
                 (unsigned long long)(config->disk >> 20));
        return NNVTS_WHY_DISK;
    }
    if (config->memory > 0 && end->code != CLD_EXITED && atomic_load(&w->channel->fault_errno) == ENOMEM) {
        snprintf(room->reason + n, sizeof room->reason - n, ": it had been refused memory, by the %llu MB of --memory",
                 (unsigned long long)(config->memory >> 20));
        return NNVTS_WHY_OUT_OF_MEMORY;
    }
    return NNVTS_WHY_NONE;
}

static void add_crash(const struct nnv_worker *w, const struct nnv_end *end, const struct nnv_run_config *config,
                      struct nnv_triage *room, struct nnv_ended *e) {
    char how[64], place[96];
    bool foreign = atomic_load(&w->channel->fault_foreign);
    const char *hint = "";
    e->verdict = NNVTS_CRASH;
    if (nnv_triage_own(w)) {
        /* The driver did not run yet in a fresh worker that builds; before a comparison it did. */
        if (e->phase == NNV_PHASE_BUILD) e->verdict = NNVTS_ERROR;
        if (e->phase == NNV_PHASE_CHECK) hint = ": it wrote over memory that is not its own, or nnvts is at fault";
    }
    snprintf(room->reason, sizeof room->reason, "%s %s%s%s",
             e->verdict == NNVTS_ERROR ? "nnvts itself"
             : foreign                 ? "a thread of the driver"
                                       : "driver",
             nnv_end_text(end, how), where(w, e->phase, place, sizeof place), hint);
    if (end->code != CLD_EXITED) e->signal = end->status;
    if (e->verdict == NNVTS_CRASH) e->why = limit_hit(w, end, config, room);
}

void nnv_triage_case(const struct nnv_worker *w, const struct nnv_end *end, enum nnv_kill_reason kill_reason,
                     const struct nnv_late *late, const struct nnv_run_config *config, struct nnv_triage *room,
                     struct nnv_ended *e) {
    struct nnv_channel *c = w->channel;
    char place[96];
    struct nnv_begun b;
    const uint64_t now = nnv_now_ns();
    const bool told = nnv_channel_begun(c, &b) && b.start_ns <= now;
    e->worker = w->number;
    e->phase = phase_of(w);
    e->start_ns = told ? b.start_ns : 0;
    e->ns = told ? now - b.start_ns : 0;
    if (kill_reason == NNV_KILL_TIMEOUT) {
        e->verdict = e->phase == NNV_PHASE_BUILD ? NNVTS_ERROR : NNVTS_TIMEOUT;
        snprintf(room->reason, sizeof room->reason, "no %s %g s%s", late->silent ? "sign of life for" : "end within",
                 (double)late->limit_ns / 1e9, where(w, e->phase, place, sizeof place));
        add_ladder(end, room);
    } else if (kill_reason == NNV_KILL_DISK) {
        e->verdict = NNVTS_CRASH;
        e->why = NNVTS_WHY_DISK;
        snprintf(room->reason, sizeof room->reason, "driver was ended%s: it wrote more than the %llu MB of --disk",
                 where(w, e->phase, place, sizeof place), (unsigned long long)(config->disk >> 20));
    } else if (kill_reason == NNV_KILL_CORRUPT) {
        e->verdict = NNVTS_CRASH;
        e->phase = NNV_PHASE_NONE; /* it was noticed later */
        snprintf(room->reason, sizeof room->reason, "driver wrote over memory of nnvts");
    } else {
        add_crash(w, end, config, room, e);
    }
    e->reason = (struct nnv_bytes){room->reason, strlen(room->reason)};
    e->log = (struct nnv_bytes){room->log, nnv_log_read(w->log, told ? b.log_start : 0, room->log)};
    uint32_t n = atomic_load(&c->trace_bytes);
    nnv_text_clear(&room->backtrace);
    nnv_symbols_add(&room->symbols, c->trace, n < NNV_CHANNEL_TRACE ? n : 0, &room->backtrace);
    e->backtrace = (struct nnv_bytes){room->backtrace.data, room->backtrace.len};
}

void nnv_triage_free(struct nnv_triage *room) {
    nnv_symbols_free(&room->symbols);
    nnv_text_free(&room->backtrace);
}

void nnv_triage_open(const struct nnv_worker *w, const struct nnv_end *end, enum nnv_kill_reason kill_reason,
                     const char *driver, uint64_t timeout_ns, char *buf) {
    char how[64];
    if (atomic_load(&w->channel->state) == NNV_WORKER_REFUSED) {
        memcpy(buf, w->channel->error.text, NNV_ERR_TEXT);
        buf[NNV_ERR_TEXT - 1] = '\0';
    } else if (kill_reason == NNV_KILL_TIMEOUT) {
        snprintf(buf, NNV_ERR_TEXT, "driver '%s': no end within %g s in open", driver, (double)timeout_ns / 1e9);
    } else {
        snprintf(buf, NNV_ERR_TEXT, "driver '%s' %s in open", driver, nnv_end_text(end, how));
    }
}
