/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/words.h"
#include "harness/journal/command.h"
#include "harness/runner/coverage/coverage.h"
#include "harness/runner/determinism.h"
#include "harness/runner/dumps/dump.h"
#include "harness/journal/expect/expect.h"
#include "harness/journal/journal.h"
#include "harness/runner/worker/leaks.h"
#include "harness/runner/order.h"
#include "harness/runner/pool/pool.h"
#include "harness/journal/record.h"
#include "harness/runner/ask.h"
#include "harness/runner/pool/running.h"
#include "harness/runner/signals.h"

static const uint64_t TICK_NS = 200000000;

/** A run, as the callbacks of pool and dumper see it. */
struct run {
    const struct nnv_run_options *o;
    struct nnv_journal journal;
    struct nnv_dumper *dumper;
    struct nnv_text line;
    uint32_t *order; /* count entries, see nnv_order() */
    uint64_t tick_ns;
    const struct nnv_driver_info *driver;
    const char *threads;    /**< the driver's option for them ("threads="), or NULL */
    struct nnv_text graphs; /* what random graphs are made of, where not of all */
};

static bool is_good(enum nnvts_verdict v) { return v == NNVTS_PASS || v == NNVTS_UNSUPPORTED || v == NNVTS_SKIP; }

/** Adds the line of a case, with the name of its phase. */
static void add_case(const struct nnv_case *c, const struct nnv_ended *e, struct nnv_record_extra *extra,
                     struct nnv_text *out) {
    if (e->phase != NNV_PHASE_NONE) extra->phase = nnv_phase_name((enum nnv_phase)e->phase);
    nnv_record_case(c, e, extra, out);
}

/** The line of a case, into r->line. */
static enum nnv_status write_line(struct run *r, const struct nnv_ended *e, const struct nnv_dumped *d,
                                  struct nnv_err *err) {
    const struct nnv_case *c = &r->o->cases[e->index];
    struct nnv_record_extra extra = {.dump = d->dump, .remark = d->remark, .again = d->again};
    struct nnv_text replay = {0}, path = {0};
    if (!is_good(e->verdict)) {
        if (d->dump != NULL) nnv_text_add_path(&path, r->o->config->out, d->dump);
        /* What a suite verifies in another way than by the spec's values, a replay does not. */
        const struct nnv_suite *suite = nnv_suite_by_name(c->suite);
        const bool beyond = (suite && suite->beyond_values) || r->o->config->determinism != NNV_DETERMINISM_OFF;
        struct nnv_run_facts facts;
        nnv_config_facts(r->o->config, &facts);
        if (path.data != NULL && !beyond)
            nnv_command_replay(facts.driver, path.data, &replay);
        else
            nnv_command_run(&facts, &c, 1, &replay);
        extra.replay = replay.data;
    }
    if (r->o->expectations != NULL)
        extra.outcome = nnv_expect_judge(r->o->expectations, e->index, e->verdict, e->reason.data, e->reason.len,
                                         e->counts, &extra.expectation);
    nnv_text_clear(&r->line);
    add_case(c, e, &extra, &r->line);
    bool failed = r->line.failed || replay.failed || path.failed;
    nnv_text_free(&replay);
    nnv_text_free(&path);
    return failed ? nnv_no_memory(err) : NNV_OK;
}

static enum nnv_status on_dumped(void *context, const struct nnv_ended *e, const struct nnv_dumped *dumped,
                                 struct nnv_err *err) {
    struct run *r = context;
    enum nnv_status st = write_line(r, e, dumped, err);
    if (st == NNV_OK) st = nnv_journal_append(&r->journal, r->line.data, r->line.len, !is_good(e->verdict), err);
    if (r->o->bad != NULL && !is_good(e->verdict)) ++*r->o->bad;
    const struct nnv_run_observer *o = r->o->observer;
    if (st == NNV_OK && o != NULL && o->record != NULL) o->record(o->context, r->line.data);
    return st;
}

static enum nnv_status on_ended(void *context, const struct nnv_ended *e, struct nnv_err *err) {
    struct run *r = context;
    return nnv_dumper_take(r->dumper, e, err);
}

static enum nnv_status on_waiting(void *context, struct nnv_err *err) {
    struct run *r = context;
    const struct nnv_run_observer *o = r->o->observer;
    if (o != NULL && o->wait != NULL) o->wait(o->context); /* who reads does not wait for the disk */
    enum nnv_status st = nnv_journal_tend(&r->journal, false, err);
    uint64_t now = nnv_now_ns();
    if (o != NULL && o->tick != NULL && now - r->tick_ns >= TICK_NS) {
        r->tick_ns = now;
        o->tick(o->context);
    }
    return st;
}

static enum nnv_status on_idle(void *context, struct nnv_err *err) {
    struct run *r = context;
    enum nnv_status st = nnv_dumper_step(r->dumper, err);
    return st == NNV_OK ? on_waiting(r, err) : st;
}

static bool on_busy(void *context) {
    const struct run *r = context;
    return nnv_dumper_busy(r->dumper);
}

static bool on_opened(void *context) {
    struct run *r = context;
    return nnv_dumper_opens(r->dumper);
}

static void on_note(void *context, const char *text) {
    (void)context;
    fprintf(stderr, "nnvts: %s\n", text);
}

/** The lists of cases: what is run here and, of a shard, what all shards run. */
static enum nnv_status write_lists(struct nnv_answering *in, struct nnv_err *err) {
    const struct run *r = in->context;
    const struct nnv_run_options *o = r->o;
    enum nnv_status st = nnv_journal_cases(&r->journal, "cases.tsv", o->cases, o->count, err);
    if (st == NNV_OK && o->shard != NULL && o->shard->count > 0)
        st = nnv_journal_cases(&r->journal, "selection.tsv", o->shard->whole, o->shard->cases, err);
    return st;
}

/** The first line of the journal, into r->line. */
static enum nnv_status write_header(struct run *r, const struct nnv_driver_info *driver, struct nnv_err *err) {
    nnv_text_clear(&r->line);
    nnv_run_header(r->o, driver, &r->line);
    return r->line.failed ? nnv_no_memory(err) : NNV_OK;
}

/**
 * A process of its own writes the lists and waits for the disk. The order of the cases is found meanwhile, and the
 * header is written for the driver, unless that is NULL.
 */
static enum nnv_status prepare(struct run *r, const struct nnv_driver_info *driver, struct nnv_err *err) {
    struct nnv_ask lists = {.answer = write_lists, .context = r, .keep_streams = true};
    enum nnv_status st = nnv_ask_start(&lists, err);
    if (st == NNV_OK && driver != NULL) st = write_header(r, driver, err);
    if (st == NNV_OK) st = nnv_order(r->o->cases, r->o->count, r->order, err);
    if (st == NNV_OK) st = nnv_ask_wait(&lists, err);
    if (st == NNV_OK && !lists.complete)
        st = nnv_fail(err, NNV_IO, "%s/cases.tsv: who writes it %s", r->journal.folder, lists.how);
    nnv_ask_free(&lists);
    return st;
}

/** A new journal, with the results of an earlier run removed. */
static enum nnv_status begin(struct run *r, const struct nnv_driver_info *driver, struct nnv_err *err) {
    const struct nnv_run_options *o = r->o;
    enum nnv_status st = r->journal.file >= 0 ? nnv_journal_clear(&r->journal, err) : NNV_OK;
    if (st == NNV_OK) st = prepare(r, driver, err);
    if (st == NNV_OK) st = nnv_journal_begin(&r->journal, r->line.data, err);
    if (st == NNV_OK && o->observer != NULL && o->observer->header != NULL)
        o->observer->header(o->observer->context, r->line.data);
    return st;
}

/** The journal of a run that did not come to its end. */
static enum nnv_status go_on(struct run *r, const struct nnv_driver_info *driver, struct nnv_journal_past *past,
                             struct nnv_err *err) {
    const struct nnv_run_options *o = r->o;
    enum nnv_status st = write_header(r, driver, err);
    if (st == NNV_OK) st = nnv_journal_resume(&r->journal, r->line.data, o->cases, o->count, past, err);
    if (st == NNV_OK) st = prepare(r, NULL, err);
    if (st == NNV_OK && o->observer != NULL) st = nnv_journal_tell(&r->journal, o->observer, err);
    return st;
}

/** What the file `running` of a run that was killed tells of its cases. */
struct struck {
    const struct nnv_run_options *o;
    const bool *done;
    unsigned char *last; /* count entries, see nnv_agenda_begin() */
    uint32_t culprit;    /* count: none */
};

enum { MOST_ALONE = 2 };

static void see_running(void *context, const char *name, unsigned alone) {
    struct struck *s = context;
    for (uint32_t i = 0; i < s->o->count; i++) {
        if (s->done[i] || strcmp(s->o->cases[i].name, name) != 0) continue;
        if (alone < MOST_ALONE && s->last[i] < alone + 1) s->last[i] = (unsigned char)(alone + 1);
        if (alone >= MOST_ALONE) s->culprit = i;
    }
}

/** A case that nnvts was killed in again and again has its verdict; the others run last. */
static enum nnv_status learn_from_death(struct run *r, struct nnv_journal_past *past, unsigned char *last,
                                        struct nnv_err *err) {
    static const char reason[] =
        "nnvts itself was killed while this case ran, and twice more when nothing else ran beside it";
    struct struck s = {r->o, past->done, last, (uint32_t)r->o->count};
    nnv_running_read(r->o->config->out, see_running, &s);
    if (s.culprit == r->o->count) return NNV_OK;
    const struct nnv_ended e = {
        .index = s.culprit, .verdict = NNVTS_CRASH, .why = NNVTS_WHY_DIED, .reason = {reason, sizeof reason - 1}};
    past->done[s.culprit] = true;
    return on_dumped(r, &e, &(struct nnv_dumped){0}, err);
}

/** Makes the file `running` for this run: a page for each worker, and those of the cases that are to run last. */
static void note_running(const struct nnv_run_options *o, const unsigned char *last, struct nnv_running *running) {
    size_t place = o->config->jobs < 1 ? 1 : (size_t)o->config->jobs, pending = 0;
    for (size_t i = 0; i < o->count; i++) pending += last[i] > 0;
    struct nnv_signals signals;
    nnv_signals_take(&signals, NULL); /* a limit of the size of files is an error here, as in the run */
    nnv_running_open(running, o->config->out, place + pending);
    nnv_signals_give_back(&signals);
    for (size_t i = 0; i < o->count; i++)
        if (last[i] > 0) nnv_running_note(nnv_running_page(running, place++), 0, o->cases[i].name, last[i] - 1u);
}

/** Runs what has no record yet. */
static enum nnv_status go(struct run *r, struct nnv_journal_past *past, bool *interrupted, struct nnv_err *err) {
    const struct nnv_run_options *o = r->o;
    r->dumper = nnv_dumper_new(&(struct nnv_dumper_options){
        .config = o->config,
        .cases = o->cases,
        .driver = r->driver,
        .folder = o->config->out,
        .before = past->dumps,
        .context = r,
        .dumped = on_dumped,
        .also = o->also,
        .idle = on_waiting,
    });
    if (r->dumper == NULL) return nnv_no_memory(err);
    struct nnv_pool_options pool = {
        .config = o->config,
        .cases = o->cases,
        .count = o->count,
        .order = r->order,
        .skip = past->done,
        .workers = past->workers,
        .context = r,
        .ended = on_ended,
        .idle = on_idle,
        .busy = on_busy,
        .opened = on_opened,
        .note = on_note,
    };
    unsigned char *last = calloc(o->count + 1, sizeof *last);
    struct nnv_running running = {0};
    pool.last = last;
    pool.running = &running;
    struct nnv_run_config judged = *o->config;
    struct nnv_passes passes = {0};
    bool *watched = calloc(o->count + 1, sizeof *watched);
    enum nnv_status st = last && watched ? NNV_OK : nnv_no_memory(err);
    if (st == NNV_OK) st = nnv_leaks_choose(o->config, o->cases, o->count, watched, err);
    pool.watched = watched;
    if (st == NNV_OK && past->done != NULL) st = learn_from_death(r, past, last, err);
    if (st == NNV_OK) note_running(o, last, &running);
    if (st == NNV_OK && judged.determinism == NNV_DETERMINISM_JUDGE) {
        st = nnv_passes_run(o->config, o->cases, o->count, past->done, r->threads, &passes, interrupted, err);
        judged.passes = &passes;
        pool.config = &judged;
    }
    r->tick_ns = nnv_now_ns();
    if (st == NNV_OK && !*interrupted) st = nnv_pool_run(&pool, interrupted, err);
    nnv_passes_free(&passes);
    nnv_running_close(&running, o->config->out, st == NNV_OK);
    free(watched);
    free(last);
    if (st == NNV_OK) st = nnv_dumper_finish(r->dumper, *interrupted, err);
    if (st == NNV_OK) st = nnv_journal_tend(&r->journal, true, err);
    return st == NNV_OK ? st : nnv_at(err, st, "after %zu of %zu cases", r->journal.lines, o->count);
}

/** "threads=" if the driver has that option. */
static const char *threads_option(const struct nnv_driver_info *driver) {
    static const char option[] = "threads=";
    for (const char *const *o = driver->options; o != NULL && *o != NULL; o++)
        if (strncmp(*o, option, strlen(option)) == 0) return option;
    return NULL;
}

/** Sets the states of the expectations by the driver and the day. */
static void apply(struct nnv_expectations *x, const struct nnv_run_config *config,
                  const struct nnv_driver_info *driver) {
    char day[16] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) strftime(day, sizeof day, "%Y-%m-%d", &utc);
    nnv_expect_apply(x, config->driver, driver->name, driver->version, driver->level, day);
}

/** Waits for what the driver says of itself. */
static enum nnv_status hear(struct run *r, struct nnv_probe *probe, struct nnv_arena *arena,
                            struct nnv_driver_info *driver, struct nnv_err *err) {
    char text[96];
    const enum nnv_status st = nnv_probe_end(probe, arena, driver, err);
    snprintf(text, sizeof text, "the driver, when it was asked, left %zu processes behind: they were ended",
             driver->left);
    if (driver->left > 0) on_note(r, text);
    return st;
}

/** Tells the first suite of the cases that wants to know. */
static enum nnv_status meet(const struct nnv_run_options *o, struct nnv_text *said, struct nnv_err *err) {
    for (uint32_t i = 0; i < o->count; i++) {
        if (i > 0 && strcmp(o->cases[i].suite, o->cases[i - 1].suite) == 0) continue;
        const struct nnv_suite *s = nnv_suite_by_name(o->cases[i].suite);
        if (s == NULL || s->meet == NULL) continue;
        const enum nnv_status st = s->meet(o->config, said, err);
        return st == NNV_OK && said->failed ? nnv_no_memory(err) : st;
    }
    return NNV_OK;
}

enum nnv_status nnv_run_probe(const struct nnv_run_config *config, struct nnv_probe **probe, struct nnv_err *err) {
    return nnv_probe_start(config->driver_path, config->driver_options,
                           nnv_opening_ns(config->timeout_ns, config->least_opening_ns), probe, err);
}

enum nnv_status nnv_run(const struct nnv_run_options *options, bool *interrupted, struct nnv_err *err) {
    struct run r = {.o = options, .journal = NNV_JOURNAL_NONE};
    const struct nnv_run_config *config = options->config;
    struct nnv_driver_info driver;
    struct nnv_journal_past past = {0};
    struct nnv_probe *probe = options->probe, *own = NULL;
    bool exists = false;
    *interrupted = false;
    struct nnv_arena *arena = nnv_arena_new();
    enum nnv_status st = arena != NULL ? nnv_journal_check(options->cases, options->count, err) : nnv_no_memory(err);
    if (st == NNV_OK && probe == NULL) st = nnv_run_probe(config, &own, err);
    if (st == NNV_OK) st = hear(&r, probe != NULL ? probe : own, arena, &driver, err);
    nnv_probe_free(own);
    if (st == NNV_OK && config->coverage != NULL)
        st = nnv_coverage_begin(config->coverage, config->driver, config->driver_path, driver.edges, config->out, err);
    if (st == NNV_OK) st = meet(options, &r.graphs, err);
    if (st == NNV_OK) driver.graphs = r.graphs.len > 0 ? r.graphs.data : NULL;
    r.driver = &driver;
    if (st == NNV_OK) r.threads = threads_option(&driver);
    if (st == NNV_OK && options->expectations != NULL) apply(options->expectations, config, &driver);
    if (st == NNV_OK && !(r.order = calloc(options->count + 1, sizeof *r.order))) st = nnv_no_memory(err);
    if (st == NNV_OK) st = nnv_journal_open(config->out, &r.journal, &exists, err);
    struct nnv_err why = {0};
    if (st == NNV_OK && options->keep_previous && exists && !options->resume &&
        nnv_journal_set_aside(&r.journal, &why) != NNV_OK)
        on_note(&r, why.text);
    if (st == NNV_OK) st = options->resume && exists ? go_on(&r, &driver, &past, err) : begin(&r, &driver, err);
    if (st == NNV_OK) st = go(&r, &past, interrupted, err);
    nnv_dumper_free(r.dumper);
    nnv_journal_close(&r.journal);
    nnv_text_free(&r.line);
    nnv_text_free(&r.graphs);
    nnv_journal_past_free(&past);
    free(r.order);
    nnv_arena_free(arena);
    return st;
}

/* ----------------------------------------------------------------- one case */

struct one {
    const struct nnv_case *c;
    struct nnv_text line;
};

static enum nnv_status on_one_ended(void *context, const struct nnv_ended *e, struct nnv_err *err) {
    struct one *one = context;
    add_case(one->c, e, &(struct nnv_record_extra){0}, &one->line);
    return one->line.failed ? nnv_no_memory(err) : NNV_OK;
}

enum nnv_status nnv_run_one(const struct nnv_run_config *config, const struct nnv_case *c, char **record,
                            struct nnv_err *err) {
    struct one one = {.c = c};
    const bool watched = config->leaks != NNV_LEAKS_OFF;
    struct nnv_pool_options pool = {
        .config = config,
        .cases = c,
        .count = 1,
        .watched = &watched,
        .context = &one,
        .ended = on_one_ended,
        .note = on_note,
    };
    bool interrupted = false;
    enum nnv_status st = nnv_pool_run(&pool, &interrupted, err);
    if (st == NNV_OK && one.line.data == NULL) st = nnv_fail(err, NNV_INVALID, "interrupted");
    if (st == NNV_OK)
        *record = one.line.data;
    else
        nnv_text_free(&one.line);
    return st;
}
