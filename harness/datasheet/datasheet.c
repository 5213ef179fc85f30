/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/datasheet/datasheet.h"

#include <fnmatch.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "harness/runner/ask.h"
#include "randgraph/single/single.h"

enum { DEATHS = 24, MOST_JOBS = 64 }; /* of the processes of one operation, before it is given up */

/** An operation, and the process that asks about it. */
struct job {
    const struct nnv_datasheet_options *o;
    const struct nnv_op *op;
    struct nnv_sheet_row *row; /* the first of its combinations */
    struct nnv_support *kept;  /* what the processes before have answered */
    struct nnv_ask ask;
    uint32_t deaths;
    bool running;
    uint64_t until_ns; /* then it is stopped; 0: no limit */
};

/* ------------------------------------------------------------- in the new process */

static enum nnv_status answer(struct nnv_answering *in, struct nnv_err *err) {
    const struct job *j = in->context;
    struct nnv_support *support = in->shared; /* one a combination of types */
    const struct nnv_support_asking x = {.client = in->client,
                                         .arithmetic = j->o->config->arithmetic,
                                         .seed = j->o->config->seed,
                                         .phase = in->phase,
                                         .serial = in->progress};
    enum nnv_status st = NNV_OK;
    for (int sig = 0; sig < j->op->nsigs && st == NNV_OK; sig++) {
        support[sig] = j->kept[sig];
        st = nnv_support_learn(&x, j->op, sig, &support[sig], err);
    }
    return st;
}

/* --------------------------------------------------------------- in the supervisor */

static enum nnv_status begin(struct job *j, struct nnv_err *err) {
    const struct nnv_run_config *c = j->o->config;
    j->ask = (struct nnv_ask){.answer = answer,
                              .context = j,
                              .bytes = j->op->nsigs * sizeof(struct nnv_support),
                              .driver = c->driver_path,
                              .driver_options = c->driver_options,
                              .timeout_ns = c->timeout_ns};
    j->running = true;
    return nnv_ask_start(&j->ask, err);
}

static bool is_over(const struct job *j) { return j->until_ns > 0 && nnv_now_ns() > j->until_ns; }

/** Half of the answers tell no conditions. */
static void leave_out(struct job *j) {
    for (int sig = 0; sig < j->op->nsigs; sig++) {
        j->row[sig].support = (struct nnv_support){0};
        j->row[sig].ended = NULL;
        j->row[sig].unfinished = true;
    }
}

/** Takes over what the process has answered; where it has ended early, it is started again. */
static enum nnv_status collect(struct job *j, struct nnv_err *err) {
    const struct nnv_support *support = j->ask.shared;
    enum nnv_status st = nnv_ask_status(&j->ask, err);
    bool any = false;
    j->running = false;
    for (int sig = 0; st == NNV_OK && sig < j->op->nsigs; sig++) {
        j->kept[sig] = support[sig];
        j->kept[sig].must[NNV_SUPPORT_TEXT - 1] = j->kept[sig].trouble[sizeof j->kept[sig].trouble - 1] = '\0';
        any = any || j->kept[sig].answer[0] != NNV_SUPPORT_UNKNOWN;
        j->row[sig].support = j->kept[sig];
    }
    if (st == NNV_OK && !j->ask.complete && (!any || ++j->deaths == DEATHS)) {
        const char *how = nnv_arena_strdup(j->o->arena, j->ask.how);
        for (int sig = 0; sig < j->op->nsigs; sig++) j->row[sig].ended = how;
        if (!how) st = nnv_no_memory(err);
    }
    const bool late = !j->ask.complete && is_over(j);
    if (late) leave_out(j);
    const bool again = st == NNV_OK && !j->ask.complete && any && j->deaths < DEATHS && !late;
    nnv_ask_free(&j->ask);
    return again ? begin(j, err) : st;
}

static enum nnv_status run_jobs(struct job *jobs, size_t count, struct nnv_err *err) {
    const struct timespec moment = {.tv_nsec = 2000000};
    enum nnv_status st = NNV_OK;
    size_t next = 0, done = 0;
    for (size_t running = 0; done < count && st == NNV_OK;) {
        const struct nnv_datasheet_options *o = jobs->o;
        for (; next < count && is_over(&jobs[next]); next++, done++) leave_out(&jobs[next]);
        for (; next < count && running < (size_t)o->config->jobs && running < MOST_JOBS && st == NNV_OK; running++)
            st = begin(&jobs[next++], err);
        nanosleep(&moment, NULL);
        for (size_t i = 0; i < next && st == NNV_OK; i++) {
            struct job *j = &jobs[i];
            if (!j->running) continue;
            if (is_over(j)) nnv_ask_stop(&j->ask, 0);
            if (!nnv_ask_ended(&j->ask)) continue;
            st = collect(j, err);
            if (j->running) continue;
            running--;
            done++;
            if (o->done && st == NNV_OK) o->done(o->context, j->op, done, count);
        }
    }
    for (size_t i = 0; i < next; i++)
        if (jobs[i].running) nnv_ask_free(&jobs[i].ask);
    return st;
}

static bool chosen(const struct nnv_datasheet_options *o, const struct nnv_op *op) {
    bool demanded = o->profile == NULL;
    for (int sig = 0; !demanded && sig < op->nsigs; sig++) demanded = nnv_profile_demands(o->profile, op, sig);
    return demanded && (!o->operations || fnmatch(o->operations, op->name, 0) == 0);
}

static enum nnv_status list(const struct nnv_datasheet_options *o, uint64_t until_ns, struct nnv_datasheet *sheet,
                            struct job **jobs, size_t *count, struct nnv_err *err) {
    size_t all, rows = 0, n = 0;
    const struct nnv_op *const *ops = nnv_ops(&all);
    for (size_t i = 0; i < all; i++) rows += chosen(o, ops[i]) ? ops[i]->nsigs : 0;
    if (rows == 0) return nnv_fail(err, NNV_INVALID, "no operation is called '%s'", o->operations);
    sheet->row = NNV_NEW(o->arena, struct nnv_sheet_row, rows);
    *jobs = NNV_NEW(o->arena, struct job, all);
    if (!sheet->row || !*jobs) return nnv_no_memory(err);
    for (size_t i = 0; i < all; i++) {
        if (!chosen(o, ops[i])) continue;
        struct job *j = &(*jobs)[n++];
        *j = (struct job){.o = o, .op = ops[i], .row = &sheet->row[sheet->rows], .until_ns = until_ns};
        j->kept = NNV_NEW(o->arena, struct nnv_support, ops[i]->nsigs);
        if (!j->kept) return nnv_no_memory(err);
        for (int sig = 0; sig < ops[i]->nsigs; sig++) {
            char name[96];
            const char *types = nnv_arena_strdup(o->arena, nnv_single_sig_name(ops[i], sig, name, sizeof name));
            if (!types) return nnv_no_memory(err);
            sheet->row[sheet->rows++] = (struct nnv_sheet_row){.op = ops[i], .sig = sig, .types = types};
        }
    }
    *count = n;
    return NNV_OK;
}

/** Times what is supported: the first combination of each main type, one after the other. */
static enum nnv_status measure_speeds(const struct nnv_datasheet_options *o, uint64_t until_ns,
                                      struct nnv_datasheet *sheet, struct nnv_err *err) {
    struct nnv_speeds *s = sheet->speeds = NNV_NEW(o->arena, struct nnv_speeds, 1);
    if (s) s->item = NNV_NEW(o->arena, struct nnv_speed, sheet->rows);
    if (!s || !s->item) return nnv_no_memory(err);
    s->roof = *o->roof;
    if (!s->roof.known) nnv_roof_measure(&s->roof);
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < sheet->rows && st == NNV_OK; i++) {
        const struct nnv_sheet_row *r = &sheet->row[i];
        bool known = false;
        if (r->support.yes == 0 || !nnv_single_is_first(r->op, r->sig)) continue;
        s->unfinished = until_ns > 0 && nnv_now_ns() > until_ns;
        if (s->unfinished) break;
        st = nnv_speed_measure(o->config, &s->roof, r->op, r->sig, &s->item[s->count], &known, err);
        s->count += known;
    }
    return st;
}

/** When so much of the time is over; 0: never. */
static uint64_t until(const struct nnv_datasheet_options *o, uint64_t start_ns, double part) {
    return o->time_ns > 0 ? start_ns + (uint64_t)((double)o->time_ns * part) : 0;
}

enum nnv_status nnv_datasheet_make(const struct nnv_datasheet_options *o, struct nnv_datasheet *sheet,
                                   struct nnv_err *err) {
    const struct nnv_run_config *c = o->config;
    const uint64_t start = nnv_now_ns();
    struct job *jobs;
    size_t count;
    *sheet = (struct nnv_datasheet){.argument = c->driver, .seed = c->seed};
    enum nnv_status st = nnv_driver_probe(c->driver_path, c->driver_options, nnv_opening_ns(c->timeout_ns, 0), o->arena,
                                          &sheet->driver, err);
    if (st == NNV_OK) st = list(o, until(o, start, 0.7), sheet, &jobs, &count, err);
    if (st == NNV_OK) st = run_jobs(jobs, count, err);
    if (st == NNV_OK) st = nnv_sheet_judge_profiles(sheet, o->arena, err);
    if (st == NNV_OK) st = nnv_datasheet_numeric(o, &sheet->numeric, err);
    if (st == NNV_OK && o->cliffs) {
        sheet->cliffs = NNV_NEW(o->arena, struct nnv_cliffs, 1);
        st = sheet->cliffs ? nnv_datasheet_cliffs(o, until(o, start, 0.9), sheet->cliffs, err) : nnv_no_memory(err);
    }
    if (st == NNV_OK && o->roof) st = measure_speeds(o, until(o, start, 1), sheet, err);
    if (st == NNV_OK) nnv_arithmetic_text(&sheet->numeric.arithmetic, sheet->arithmetic);
    sheet->seconds = (double)(nnv_now_ns() - start) / 1e9;
    return st;
}

/* ------------------------------------------------------------------------ numbers */

void nnv_sheet_tell_speed(const struct nnv_speed *s, struct nnv_text *t) {
    nnv_text_addf(t, "%s: %.3g us", s->about, s->line.ns / 1e3);
    if (s->work.operations > 0) nnv_text_addf(t, ", %.3g Gop/s", s->line.gops);
    nnv_text_addf(t, ", %.3g GB/s, %.2g %% of the roof (%s)", s->line.gbytes, s->line.percent, s->model);
}

const char *nnv_sheet_support(const struct nnv_support *s) {
    if (s->yes + s->no == 0) return "unknown";
    return s->no == 0 ? "all" : s->yes == 0 ? "none" : "some";
}

void nnv_sheet_answers(const struct nnv_support *s, char text[NNV_SUPPORT_PROBES + 1]) {
    const uint32_t n = s->first < NNV_SUPPORT_PROBES ? s->first : NNV_SUPPORT_PROBES;
    for (uint32_t i = 0; i < n; i++)
        text[i] = s->answer[i] == NNV_SUPPORT_YES ? 'y' : s->answer[i] == NNV_SUPPORT_NO ? 'n' : '-';
    text[n] = '\0';
}

static double part(uint32_t n, uint32_t of) { return of == 0 ? 1 : (double)n / of; }
double nnv_sheet_precision(const struct nnv_support *s) { return part(s->yes_yes, s->yes_yes + s->yes_no); }
double nnv_sheet_recall(const struct nnv_support *s) { return part(s->yes_yes, s->yes_yes + s->no_yes); }
