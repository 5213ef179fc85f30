/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/runner/coverage/coverage.h"
#include "harness/runner/coverage/gcov.h"
#include "harness/runner/worker/crash.h"
#include "harness/client/memory.h"
#include "harness/client/restore.h"
#include "harness/judge/degenerate.h"
#include "harness/runner/determinism.h"
#include "harness/runner/dumps/keep.h"
#include "harness/runner/worker/leaks.h"
#include "harness/runner/worker/resources.h"
#include "harness/runner/worker/limits.h"
#include "harness/runner/pool/running.h"
#include "base/process.h"
#include "nnvts/result.h"

enum { LOG_COPY = 200, MOST_DEVICES = 32 }; /* the worker's own descriptor of the log, out of the way of the driver's */

/* ---------------------------------------------------------------------- log */

size_t nnv_log_read(int log, uint64_t from, char *buf) {
    off_t end = lseek(log, 0, SEEK_CUR);
    if (end < 0 || end > NNV_LOG_BYTES || (uint64_t)end <= from) return 0;
    uint64_t n = (uint64_t)end - from;
    if (n > NNV_LOG_KEPT) n = NNV_LOG_KEPT;
    ssize_t got = pread(log, buf, (size_t)n, end - (off_t)n);
    return got < 0 ? 0 : (size_t)got;
}

/** A file in memory that can't grow beyond its size: a driver that prints without end fills only that. */
static int log_new(void) {
    return nnv_memory_file("nnvts-log", NNV_LOG_BYTES, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
}

/** The log in the worker: begins again at its start when half of it is used. Returns where the next case's begins. */
static uint64_t log_begin(int log) {
    off_t at = lseek(log, 0, SEEK_CUR);
    if (at > NNV_LOG_BYTES / 2) at = lseek(log, 0, SEEK_SET);
    return at < 0 ? 0 : (uint64_t)at;
}

/* ----------------------------------------------------------------- the work */

/** A worker's own, from its start to its end. */
struct worker {
    const struct nnv_work *work;
    struct nnv_channel *channel;
    char *note; /* where the case that runs is noted, or NULL */
    struct nnv_case_env env;
    struct nnv_before before;        /* the execution before, env's */
    struct nnv_result result, other; /* other: of a further run of the case */
    struct nnv_answers answers;      /* of the case, where they are to be handed on */
    /* What the channel has of the case, out of the way of a driver that writes over that. */
    struct nnv_begun begun;
    uint32_t counts[NNVTS_VERDICT_COUNT];
    bool closed; /* the driver; no further case can run */
    pid_t pid, supervisor;
    size_t turn; /* cases that have begun */
    int log;
    struct nnv_descriptors descriptors;
    struct nnv_leaks leaks;
    struct nnv_process_state state; /* as it was before the driver came */
    char printed[NNV_LOG_KEPT];
    uint32_t printed_bytes;
};

static void enter(struct nnv_channel *c, enum nnv_worker_state state) {
    atomic_store(&c->state, state);
    atomic_fetch_add(&c->serial, 1);
}

static uint32_t bytes_of(const struct nnv_text *t) {
    return t->len < UINT32_MAX / 4 ? (uint32_t)t->len : UINT32_MAX / 4;
}

/** A driver that forked has made a second process of this one, which must not speak for it. */
static void leave_if_forked(const struct worker *w) {
    if (getpid() != w->pid) _exit(0);
}

/** Operations that devices behind the driver have computed: in this process, before the case. */
struct computed {
    uint32_t count;
    uint64_t before[MOST_DEVICES];
};

static void note_computed(struct worker *w, struct computed *c) {
    const struct nnvts_computed *now = nnv_device_computed(w->env.client->device, &c->count);
    if (now == NULL || c->count > MOST_DEVICES) c->count = 0;
    for (uint32_t i = 0; i < c->count; i++) c->before[i] = now[i].operations;
}

/** What they have computed since. Names are the driver's words. */
static void tell_computed(struct worker *w, const struct computed *c) {
    uint32_t count;
    const struct nnvts_computed *now = nnv_device_computed(w->env.client->device, &count);
    struct nnv_text *t = &w->result.devices;
    for (uint32_t i = 0; now != NULL && i < count && i < c->count; i++) {
        if (now[i].device == NULL || now[i].operations == c->before[i]) continue;
        nnv_text_addf(t, "%s%.*s=", t->len > 0 ? " " : "", (int)strcspn(now[i].device, " ="), now[i].device);
        nnv_text_addf(t, "%" PRIu64, now[i].operations - c->before[i]);
    }
}

/** Ends as the kernel ends who writes too large a file, if all files of the case together are too large. */
static void check_disk(const struct worker *w) {
    uint64_t now;
    const uint64_t most = w->work->config->disk;
    if (most == 0 || !nnv_written(0, &now) || now - w->begun.written <= most) return;
    w->channel->phase = NNV_PHASE_NONE;
    raise(SIGXFSZ);
}

/** What the driver has printed in the case. */
static void take_log(struct worker *w) {
    if (__fpending(stdout) > 0) fflush(stdout);
    w->printed_bytes = (uint32_t)nnv_log_read(w->log, w->begun.log_start, w->printed);
}

static void publish(struct worker *w, uint32_t index, uint64_t ns) {
    struct nnv_result *r = &w->result;
    struct nnv_record record = {
        .index = index,
        .verdict = r->verdict,
        .why = (int32_t)r->why,
        .mode = r->mode,
        .damaged = r->worker_damaged,
        .compared = r->compared,
        .not_compared = r->not_compared,
        .values = r->values,
        .start_ns = w->begun.start_ns,
        .ns = ns,
        .driver_ns = r->driver_ns,
        .reason = r->reason.data,
        .reason_bytes = bytes_of(&r->reason),
        .outputs = r->outputs.data,
        .outputs_bytes = bytes_of(&r->outputs),
        .log = w->printed,
        .uses = r->uses.data,
        .uses_bytes = r->uses.failed ? 0 : bytes_of(&r->uses),
        .devices = r->devices.data,
        .devices_bytes = r->devices.failed ? 0 : bytes_of(&r->devices),
        .drift = r->drift.data,
        .drift_bytes = r->drift.failed ? 0 : bytes_of(&r->drift),
        .answer = r->answer.data,
        .answer_bytes = r->answer.failed ? 0 : bytes_of(&r->answer),
        .log_bytes = w->printed_bytes,
    };
    if (w->work->config->determinism == NNV_DETERMINISM_PASS) {
        record.answer = w->answers.blob.data;
        record.answer_bytes = w->answers.blob.failed ? 0 : bytes_of(&w->answers.blob);
    }
    for (int v = 0; v < NNVTS_VERDICT_COUNT && w->work->config->repeat > 1; v++) record.counts[v] = w->counts[v];
    if (r->reason.failed || r->outputs.failed) {
        static const char reason[] = "nnvts: out of memory while the case was judged";
        record.verdict = NNVTS_ERROR;
        record.why = NNVTS_WHY_HARNESS;
        record.reason = reason;
        record.reason_bytes = sizeof reason - 1;
        record.outputs_bytes = 0;
    }
    nnv_channel_push(w->channel, w->work->hub, &record);
}

/** Empties a result and keeps the memory of its texts. */
static void begin_result(struct nnv_result *r) {
    struct nnv_result empty = {.verdict = NNVTS_ERROR,
                               .reason = r->reason,
                               .outputs = r->outputs,
                               .uses = r->uses,
                               .devices = r->devices,
                               .drift = r->drift,
                               .answer = r->answer};
    nnv_text_clear(&empty.reason);
    nnv_text_clear(&empty.outputs);
    nnv_text_clear(&empty.uses);
    nnv_text_clear(&empty.devices);
    nnv_text_clear(&empty.drift);
    nnv_text_clear(&empty.answer);
    *r = empty;
}

/** How bad a verdict is that a worker lives to tell. */
static int badness(int verdict) {
    static const int of[NNVTS_VERDICT_COUNT] = {[NNVTS_PASS] = 0,      [NNVTS_SKIP] = 1, [NNVTS_UNSUPPORTED] = 2,
                                                [NNVTS_UNTRUSTED] = 3, [NNVTS_FAIL] = 4, [NNVTS_ERROR] = 5};
    return of[verdict];
}

/** Runs the case as often as it is to be; the worst of its results is what it comes to. */
static void repeat_case(struct worker *w, const struct nnv_case *c) {
    const uint32_t runs = w->work->config->repeat;
    uint32_t bad = 0, done = 0;
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++) atomic_store(&w->channel->counts[v], w->counts[v] = 0);
    begin_result(&w->result);
    while (done < runs && !w->result.worker_damaged) {
        struct nnv_result *r = done == 0 ? &w->result : &w->other;
        begin_result(r);
        nnv_case_run(&w->env, c, r);
        leave_if_forked(w);
        atomic_store(&w->channel->counts[r->verdict], ++w->counts[r->verdict]);
        bad += badness(r->verdict) > badness(NNVTS_UNSUPPORTED);
        if (done++ > 0 && (badness(r->verdict) > badness(w->result.verdict) || r->worker_damaged)) {
            struct nnv_result worse = w->other;
            w->other = w->result;
            w->result = worse;
        }
        nnv_arena_reset(w->env.arena);
        atomic_fetch_add(&w->channel->serial, 1);
    }
    if (bad > 0 && bad < done) nnv_text_addf(&w->result.reason, "\nin %u of %u runs", bad, done);
}

/** The case that runs once more, for nnv_leaks_end(). */
static bool run_again(void *context) {
    struct worker *w = context;
    const struct nnv_case *c = &w->work->cases[w->begun.index];
    nnv_arena_reset(w->env.arena);
    atomic_fetch_add(&w->channel->serial, 1);
    begin_result(&w->other);
    nnv_case_run(&w->env, c, &w->other);
    leave_if_forked(w);
    w->result.worker_damaged = !nnv_process_state_restore(&w->state) || w->other.worker_damaged;
    return !w->result.worker_damaged;
}

/** The driver closes the device, which a sound one survives. */
static void close_device(struct worker *w) {
    w->channel->phase = NNV_PHASE_CLOSE;
    atomic_fetch_add(&w->channel->serial, 1);
    nnv_client_close(w->env.client);
    leave_if_forked(w);
    w->closed = true;
}

/** No case is left for this worker, unless another one is lost. */
static bool is_last(const struct worker *w) {
    const struct nnv_work *work = w->work;
    return work->one_each || atomic_load(&work->hub->stop) || atomic_load(&work->hub->next) >= work->count;
}

/** Whether what the case leaves behind is counted; where its answers alone matter, it is not. */
static bool is_watched(const struct nnv_work *work, uint32_t index) {
    const struct nnv_run_config *config = work->config;
    return config->determinism == NNV_DETERMINISM_OFF && config->repeat <= 1 && work->watched != NULL &&
           work->watched[index];
}

/** The state of the process. Where nnvts failed with the limits that the driver left it, the driver is to blame. */
static void put_back(struct worker *w) {
    if (!nnv_process_state_restore(&w->state)) w->result.worker_damaged = true;
    if (!w->state.lowered || w->result.verdict != NNVTS_ERROR) return;
    nnv_text_clear(&w->result.reason);
    nnv_result_end(
        &w->result, NNVTS_WHY_RULE,
        "the driver lowered limits of the process (setrlimit), and nnvts could not do its part with what they left");
}

static void run_case(struct worker *w, uint32_t index) {
    const struct nnv_case *c = &w->work->cases[index];
    const struct nnv_suite *suite = nnv_suite_by_name(c->suite);
    struct nnv_channel *ch = w->channel;
    uint64_t start = nnv_now_ns();
    /* Suites that build are in the harness first; others may call the driver at once. */
    ch->phase = suite != NULL && suite->run == NULL ? NNV_PHASE_BUILD : NNV_PHASE_NONE;
    w->begun = (struct nnv_begun){.index = index, .start_ns = start, .log_start = log_begin(w->log)};
    nnv_running_note(w->note, w->turn++, c->name, w->work->last);
    if (w->work->config->disk > 0) (void)nnv_written(0, &w->begun.written);
    nnv_channel_begin(ch, &w->begun);
    enter(ch, NNV_WORKER_RUNNING);
    errno = 0; /* what it is where the driver dies is the driver's */
    begin_result(&w->result);
    w->env.keep_right = nnv_keeps(w->work->config, c);
    const bool watched = is_watched(w->work, index);
    struct computed computed;
    note_computed(w, &computed);
    if (watched) nnv_leaks_begin(&w->leaks);
    if (w->work->config->determinism == NNV_DETERMINISM_JUDGE) {
        nnv_case_run_determinism(&w->env, c, index, w->work->config->passes, &w->result);
    } else if (w->work->config->repeat > 1) {
        repeat_case(w, c);
    } else {
        nnv_answers_clear(&w->answers);
        w->env.answers = w->work->config->determinism == NNV_DETERMINISM_PASS ? &w->answers : NULL;
        nnv_case_run(&w->env, c, &w->result);
    }
    leave_if_forked(w);
    const uint64_t ns = nnv_now_ns() - start;
    check_disk(w);
    tell_computed(w, &computed);
    put_back(w);
    take_log(w);
    if (watched) nnv_leaks_end(&w->leaks, w->work->config->timeout_ns, run_again, w, &w->result);
    nnv_descriptors_check(&w->descriptors, &w->result);
    /* Closing is a part of the last case: somebody has to answer for a driver that dies of it. */
    if (!w->result.worker_damaged && is_last(w)) close_device(w);
    nnv_coverage_tell();
    publish(w, index, ns);
    ch->phase = NNV_PHASE_NONE;
    enter(ch, NNV_WORKER_IDLE);
    nnv_arena_reset(w->env.arena);
}

/** Loads and opens the driver; false after telling why that is impossible. */
static bool open_driver(struct worker *w, struct nnv_client *client) {
    const struct nnv_run_config *config = w->work->config;
    struct nnv_err err = {0};
    struct nnv_arena *lasting = nnv_arena_new();
    enum nnv_status s = lasting != NULL ? nnv_process_state_take(&w->state, lasting, &err) : nnv_no_memory(&err);
    w->channel->phase = NNV_PHASE_OPEN;
    if (s == NNV_OK) s = nnv_client_open(client, config->driver_path, config->driver_options, &err);
    client->compile_only = config->compile_only;
    leave_if_forked(w);
    /* a limit that it lowers for good when it is opened is how it wants to run */
    if (w->state.variables != NULL) (void)nnv_process_state_restore(&w->state);
    w->channel->phase = NNV_PHASE_NONE;
    w->env = (struct nnv_case_env){.config = config,
                                   .before = &w->before,
                                   .arithmetic = config->arithmetic,
                                   .client = client,
                                   .arena = nnv_arena_new(),
                                   .phase = &w->channel->phase,
                                   .keep_answer = true,
                                   .serial = &w->channel->serial};
    if (s == NNV_OK && w->env.arena == NULL) s = nnv_no_memory(&err);
    if (s == NNV_OK) return true;
    w->channel->error = err;
    enter(w->channel, NNV_WORKER_REFUSED);
    return false;
}

/** After a death: the device must still give an answer that is known. False after telling that it does not. */
static bool is_well(struct worker *w) {
    if (w->work->known == UINT32_MAX) return true;
    const struct nnv_case *c = &w->work->cases[w->work->known];
    begin_result(&w->result);
    nnv_case_run(&w->env, c, &w->result);
    leave_if_forked(w);
    (void)nnv_process_state_restore(&w->state);
    nnv_arena_reset(w->env.arena);
    if (w->result.verdict == NNVTS_PASS) return true;
    nnv_fail(&w->channel->error, NNV_INVALID, "it opens, but case %s, which had passed, does not pass now: %s", c->name,
             w->result.reason.data != NULL ? w->result.reason.data : "");
    enter(w->channel, NNV_WORKER_REFUSED);
    return false;
}

/** This process and what it starts run on one of the processors that they may use, workers on different ones. */
static void use_one_cpu(void) {
    cpu_set_t all, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) == 0) return;
    int skip = (int)(getpid() % CPU_COUNT(&all));
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all) || skip-- > 0) continue;
        CPU_SET(cpu, &one);
        break;
    }
    sched_setaffinity(0, sizeof one, &one);
}

static _Noreturn void worker_main(const struct nnv_work *work, struct nnv_channel *channel,
                                  struct nnv_coverage_told *coverage, char *note) {
    struct nnv_hub *hub = work->hub;
    struct nnv_client client = {0};
    struct worker self = {.work = work, .channel = channel, .note = note, .pid = getpid(), .supervisor = getppid()};
    self.log = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, LOG_COPY);
    nnv_restore_thread();
    nnv_coverage_tell_to(coverage);
    const char *gcov = work->config->coverage != NULL ? work->config->coverage->gcov : NULL;
    if (gcov != NULL) nnv_gcov_write_to(gcov);
    if (!nnv_crash_install(channel, hub)) {
        nnv_no_memory(&channel->error);
        enter(channel, NNV_WORKER_REFUSED);
        _exit(0);
    }
    if (work->config->one_cpu) use_one_cpu();
    if (work->config->disk > 0) nnv_limit_files(work->config->disk);
    if (work->config->memory > 0) nnv_limit_memory(work->config->memory);
    if (!open_driver(&self, &client) || !is_well(&self)) _exit(0);
    nnv_descriptors_begin(&self.descriptors);
    self.leaks.known = work->leaks;
    enter(channel, NNV_WORKER_IDLE);
    do {
        if (atomic_load(&hub->stop) || getppid() != self.supervisor) break;
        uint64_t at = atomic_fetch_add(&hub->next, 1);
        if (at >= work->count) break;
        run_case(&self, work->order[at]);
    } while (!self.closed && !self.result.worker_damaged);
    if (!self.closed && !self.result.worker_damaged) {
        enter(channel, NNV_WORKER_CLOSING);
        close_device(&self);
        nnv_coverage_tell();
    }
    enter(channel, NNV_WORKER_FINISHED);
    if (gcov != NULL) exit(0); /* counts are written by what the driver does at the end of a process */
    _exit(0);
}

enum nnv_status nnv_worker_start(const struct nnv_work *work, uint32_t number, char *note, struct nnv_worker *worker,
                                 struct nnv_err *err) {
    struct nnv_channel *channel = nnv_shared_new(sizeof *channel);
    struct nnv_coverage_told *coverage = work->config->coverage != NULL ? nnv_shared_new(sizeof *coverage) : NULL;
    if (channel == NULL || (work->config->coverage != NULL && coverage == NULL)) {
        nnv_shared_free(channel, channel != NULL ? sizeof *channel : 0);
        return nnv_fail(err, NNV_NO_MEMORY, "out of memory for a worker");
    }
    enum nnv_status s = NNV_OK;
    int log = log_new(); /* where that is impossible, there is no log */
    nnv_shared_inherit(work->hub, sizeof *work->hub, true);
    if (note != NULL) nnv_shared_inherit(note, NNV_RUNNING_BYTES, true);
    pid_t pid = nnv_process_fork();
    if (pid == 0) {
        nnv_process_sandbox(log);
        worker_main(work, channel, coverage, note);
    }
    nnv_shared_inherit(channel, sizeof *channel, false);
    if (coverage != NULL) nnv_shared_inherit(coverage, sizeof *coverage, false);
    nnv_shared_inherit(work->hub, sizeof *work->hub, false);
    if (note != NULL) nnv_shared_inherit(note, NNV_RUNNING_BYTES, false);
    if (pid < 0) {
        s = nnv_fail(err, NNV_IO, "cannot start a worker process: %s", strerror(errno));
        if (log >= 0) close(log);
        nnv_shared_free(channel, sizeof *channel);
        nnv_shared_free(coverage, sizeof *coverage);
        return s;
    }
    *worker = (struct nnv_worker){
        .pid = pid, .number = number, .channel = channel, .coverage = coverage, .note = note, .log = log};
    return s;
}

void nnv_worker_free(struct nnv_worker *worker) {
    nnv_shared_free(worker->channel, sizeof *worker->channel);
    nnv_shared_free(worker->coverage, sizeof *worker->coverage);
    if (worker->log >= 0) close(worker->log);
    *worker = (struct nnv_worker){.log = -1};
}
