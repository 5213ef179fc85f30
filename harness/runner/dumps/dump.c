/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/dumps/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/rng.h"
#include "harness/journal/record.h"
#include "harness/journal/verdict.h"
#include "harness/runner/dumps/keep.h"
#include "harness/runner/signals.h"
#include "harness/runner/dumps/replay.h"
#include "harness/runner/run.h"
#include "reference/spec/spec.h"

enum {
    NAME_BYTES = 200,
    PATH_BYTES = 4096,
    REPLAYS_OF_A_KIND = 3,
    REPLAYS_IN_ALL = 120,
    /** From so many dumps on a kind gets no more than DUMPS_OF_A_KIND: one that fails in all cases leaves room. */
    DUMPS_FOR_ALL = NNV_DUMPS_MAX / 2,
    DUMPS_OF_A_KIND = 8,
};

static const uint64_t LAST_DUMPS_NS = 2000000000; /* for what is left when the user has interrupted */

/** A case that waits for its dump; its texts follow the struct. */
struct pending {
    struct pending *next;
    struct nnv_ended ended;
};

/** Failures of one kind: a few of them are replayed, and not all of them dumped. */
struct kind {
    const char *op, *type;
    enum nnvts_verdict verdict;
    enum nnvts_reason why;
    int replays, dumps;
};

struct nnv_dumper {
    struct nnv_dumper_options o;
    struct pending *first, *last;
    struct nnv_ask ask; /* dumps the first, while dumping */
    bool dumping;
    size_t dumps;
    bool noted;
    int replays;              /* so far */
    struct nnv_replay replay; /* of the dump of the first, while replaying */
    bool replaying;
    bool no_replays; /* no dump is replayed any more */
    bool with_more;
    size_t more; /* dumps for which `also` was called */
    struct kind kind[NNV_DUMPS_MAX];
    size_t kinds;
};

void nnv_dump_name(const char *name, char *buf) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,@~";
    size_t n = 0;
    bool lossy = *name == '.' || *name == '\0';
    for (const char *s = name; *s != '\0'; s++) {
        if (n == NAME_BYTES) {
            lossy = true;
            break;
        }
        lossy = lossy || (*s != '/' && strchr(plain, *s) == NULL);
        buf[n++] = *s == '/' ? '.' : strchr(plain, *s) != NULL ? *s : '_';
    }
    if (n > 0 && *buf == '.') *buf = '_';
    buf[n] = '\0';
    if (!lossy) return;
    if (n > NAME_BYTES - 17) n = NAME_BYTES - 17;
    snprintf(buf + n, 18, "-%016" PRIx64, nnv_hash_str(name));
}

/* -------------------------------------------------------- in the new process */

typedef void write_fn(const struct nnv_spec *spec, struct nnv_text *out);

static void write_json(const struct nnv_spec *spec, struct nnv_text *out) {
    nnv_spec_write_json(spec, true, out);
    nnv_text_add(out, "\n");
}

static void write_dot(const struct nnv_spec *spec, struct nnv_text *out) { nnv_spec_write_dot(spec, -1, out); }

static enum nnv_status write_one(const char *path, const char *suffix, write_fn *write, const struct nnv_spec *spec,
                                 struct nnv_err *err) {
    char whole[PATH_BYTES + 8];
    struct nnv_text t = {0};
    write(spec, &t);
    snprintf(whole, sizeof whole, "%s%s", path, suffix);
    enum nnv_status st = t.failed ? nnv_no_memory(err) : nnv_file_create(whole, t.data, t.len, err);
    nnv_text_free(&t);
    return st;
}

enum nnv_status nnv_dump_write(const char *path, const struct nnv_spec *spec, struct nnv_err *err) {
    if (strlen(path) >= PATH_BYTES) return nnv_fail(err, NNV_INVALID, "%.200s...: the path is too long", path);
    enum nnv_status st = write_one(path, ".mod.py", nnv_spec_write_modpy, spec, err);
    if (st == NNV_OK) st = write_one(path, ".dot", write_dot, spec, err);
    if (st == NNV_OK) st = write_one(path, ".json", write_json, spec, err);
    return st;
}

/**
 * What the driver answered beside the values that were expected, and the bounds. The answer comes from a worker that
 * a driver may have written over: it is believed if it has the right size. A dump without bounds is a dump, too.
 */
static enum nnv_status add_answer(struct nnv_spec *spec, enum nnv_precision precision, struct nnv_bytes answer,
                                  struct nnv_arena *arena, struct nnv_err *err) {
    const uint32_t n = spec->model.main.nout;
    struct nnv_bounds *bounds = NNV_NEW(arena, struct nnv_bounds, n);
    struct nnv_value *actual = NNV_NEW(arena, struct nnv_value, n);
    struct nnv_err why = {0};
    size_t bytes = 0;
    if (!bounds || !actual) return nnv_no_memory(err);
    for (uint32_t i = 0; i < n; i++) bytes += spec->outputs[i].bytes;
    if (answer.len == 0 || answer.len != bytes) return NNV_OK;
    for (uint32_t i = 0; i < n; i++) {
        actual[i] = spec->outputs[i];
        actual[i].data = nnv_arena_copy(arena, answer.data, actual[i].bytes);
        if (!actual[i].data) return nnv_no_memory(err);
        answer.data += actual[i].bytes;
    }
    spec->actual = actual;
    if (nnv_judge_bounds(spec, precision, arena, bounds, &why) != NNV_OK) return NNV_OK;
    spec->bounds = NNV_NEW(arena, double *, n);
    for (uint32_t i = 0; spec->bounds && i < n; i++) spec->bounds[i] = bounds[i].bound;
    return NNV_OK;
}

/** From which run the dump is, and how its case is run again. */
static enum nnv_status add_origin(const struct nnv_dumper *d, struct nnv_spec *spec, struct nnv_arena *arena,
                                  struct nnv_err *err) {
    struct nnv_run_facts facts;
    struct nnv_text t = {0};
    nnv_config_facts(d->o.config, &facts);
    facts.name = d->o.driver->name;
    facts.version = d->o.driver->version;
    facts.type = d->o.driver->type;
    facts.level = d->o.driver->level;
    nnv_record_origin(&facts, &d->o.cases[d->first->ended.index], &d->first->ended, &t);
    spec->origin = t.failed ? NULL : nnv_arena_strdup(arena, t.data);
    nnv_text_free(&t);
    return spec->origin ? NNV_OK : nnv_no_memory(err);
}

static enum nnv_status write_dump(struct nnv_answering *in, struct nnv_err *err) {
    const struct nnv_dumper *d = in->context;
    const struct nnv_case *c = &d->o.cases[d->first->ended.index];
    struct nnv_arena *arena = in->arena;
    char path[PATH_BYTES], name[256];
    struct nnv_spec *spec = NULL;
    nnv_dump_name(c->name, name);
    if (snprintf(path, sizeof path, "%s/dumps/%s", d->o.folder, name) >= PATH_BYTES)
        return nnv_fail(err, NNV_INVALID, "the path of the folder is too long");
    *strrchr(path, '/') = '\0';
    enum nnv_status st = nnv_folder_make(path, err);
    path[strlen(path)] = '/';
    const struct nnv_suite *suite = nnv_suite_by_name(c->suite);
    enum nnv_precision precision;
    if (st == NNV_OK) st = suite->build(d->o.config, c, arena, &spec, err);
    if (st == NNV_OK) st = nnv_case_precision(d->o.config, suite, spec, &precision, err);
    if (st == NNV_OK) spec->precision = nnv_precision_name(precision); /* so that a replay judges alike */
    if (st == NNV_OK) st = add_answer(spec, precision, d->first->ended.answer, arena, err);
    if (st == NNV_OK) st = add_origin(d, spec, arena, err);
    if (st == NNV_OK) st = nnv_dump_write(path, spec, err);
    if (st == NNV_OK && d->o.also && d->with_more)
        st = d->o.also(path, d->o.config->driver, spec, precision, arena, err);
    return st;
}

/* --------------------------------------------------------- in the supervisor */

struct nnv_dumper *nnv_dumper_new(const struct nnv_dumper_options *options) {
    struct nnv_dumper *d = calloc(1, sizeof *d);
    if (d == NULL) return NULL;
    d->o = *options;
    d->dumps = options->before;
    return d;
}

void nnv_dumper_free(struct nnv_dumper *d) {
    if (d == NULL) return;
    nnv_ask_free(&d->ask);
    nnv_replay_stop(&d->replay);
    while (d->first != NULL) {
        struct pending *next = d->first->next;
        free(d->first);
        d->first = next;
    }
    free(d);
}

static void keep(struct nnv_bytes *b, char **room) {
    if (b->len > 0) memcpy(*room, b->data, b->len);
    b->data = *room;
    *room += b->len;
}

static enum nnv_status enqueue(struct nnv_dumper *d, const struct nnv_ended *e, struct nnv_err *err) {
    struct pending *p = malloc(sizeof *p + e->reason.len + e->outputs.len + e->backtrace.len + e->log.len +
                               e->uses.len + e->devices.len + e->drift.len + e->answer.len + 1);
    if (p == NULL) return nnv_no_memory(err);
    *p = (struct pending){.ended = *e};
    char *room = (char *)(p + 1);
    keep(&p->ended.reason, &room);
    keep(&p->ended.outputs, &room);
    keep(&p->ended.backtrace, &room);
    keep(&p->ended.log, &room);
    keep(&p->ended.uses, &room);
    keep(&p->ended.devices, &room);
    keep(&p->ended.drift, &room);
    keep(&p->ended.answer, &room);
    if (d->last != NULL)
        d->last->next = p;
    else
        d->first = p;
    d->last = p;
    d->dumps++;
    return NNV_OK;
}

/** A case whose spec shows what went wrong and can be made, or a pass of the sample. */
static bool is_wanted(const struct nnv_dumper *d, const struct nnv_ended *e) {
    const struct nnv_suite *suite = nnv_suite_by_name(d->o.cases[e->index].suite);
    if (suite == NULL || suite->build == NULL || e->phase == NNV_PHASE_BUILD) return false;
    if (e->verdict == NNVTS_PASS) return e->answer.len > 0 && nnv_keeps(d->o.config, &d->o.cases[e->index]);
    return e->verdict == NNVTS_FAIL || e->verdict == NNVTS_UNTRUSTED || e->verdict == NNVTS_CRASH ||
           e->verdict == NNVTS_TIMEOUT;
}

/** The kind of the case; NULL: there are too many. */
static struct kind *kind_of(struct nnv_dumper *d, const struct nnv_ended *e) {
    const struct nnv_case *c = &d->o.cases[e->index];
    for (size_t i = 0; i < d->kinds; i++) {
        struct kind *kind = &d->kind[i];
        if (kind->verdict == e->verdict && kind->why == e->why && strcmp(kind->op, c->op) == 0 &&
            strcmp(kind->type, c->type) == 0)
            return kind;
    }
    if (d->kinds == NNV_DUMPS_MAX) return NULL;
    d->kind[d->kinds] = (struct kind){c->op, c->type, e->verdict, e->why, 0, 0};
    return &d->kind[d->kinds++];
}

/** Counts a dump of the kind of the case; false if there is no room for it. */
static bool count_dump(struct nnv_dumper *d, const struct nnv_ended *e) {
    struct kind *kind = kind_of(d, e);
    if (d->dumps >= NNV_DUMPS_MAX || (d->dumps >= DUMPS_FOR_ALL && (!kind || kind->dumps >= DUMPS_OF_A_KIND)))
        return false;
    if (kind) kind->dumps++;
    return true;
}

enum nnv_status nnv_dumper_take(struct nnv_dumper *d, const struct nnv_ended *e, struct nnv_err *err) {
    if (!is_wanted(d, e)) return d->o.dumped(d->o.context, e, &(struct nnv_dumped){0}, err);
    if (count_dump(d, e)) return enqueue(d, e, err);
    const char *remark =
        d->noted ? NULL : "no dump of this and of most later cases: the run has as many as it may have";
    d->noted = true;
    return d->o.dumped(d->o.context, e, &(struct nnv_dumped){.remark = remark}, err);
}

/** Starts the dump of the first case; false if that is impossible. */
static bool start(struct nnv_dumper *d) {
    struct nnv_err err = {0};
    d->with_more = d->first->ended.verdict != NNVTS_PASS && d->more++ < NNV_DUMPS_MORE;
    d->ask =
        (struct nnv_ask){.answer = write_dump, .context = d, .timeout_ns = nnv_opening_ns(d->o.config->timeout_ns, 0)};
    d->dumping = nnv_ask_start(&d->ask, &err) == NNV_OK;
    if (!d->dumping) nnv_ask_free(&d->ask);
    return d->dumping;
}

/** Hands on the first case and forgets it. remark: why it has no dump; again: the verdict of its replay, if any. */
static enum nnv_status hand_on(struct nnv_dumper *d, const char *remark, const char *again, struct nnv_err *err) {
    struct pending *p = d->first;
    char name[256], dump[300];
    nnv_dump_name(d->o.cases[p->ended.index].name, name);
    snprintf(dump, sizeof dump, "dumps/%s.json", name);
    const struct nnv_dumped dumped = {.dump = remark == NULL ? dump : NULL, .remark = remark, .again = again};
    enum nnv_status st = d->o.dumped(d->o.context, &p->ended, &dumped, err);
    d->first = p->next;
    if (d->first == NULL) d->last = NULL;
    if (remark != NULL) d->dumps--;
    free(p);
    return st;
}

/** Counts a replay of the kind of the case; false if there were enough. */
static bool count_replay(struct nnv_dumper *d, const struct nnv_ended *e) {
    struct kind *kind = kind_of(d, e);
    if (!kind || d->replays >= REPLAYS_IN_ALL || kind->replays >= REPLAYS_OF_A_KIND) return false;
    kind->replays++;
    d->replays++;
    return true;
}

/** Starts to replay the dump of the first case; false if it is not to be replayed. */
static bool start_replay(struct nnv_dumper *d) {
    char path[PATH_BYTES], name[256];
    const struct nnv_suite *suite = nnv_suite_by_name(d->o.cases[d->first->ended.index].suite);
    if (d->first->ended.verdict == NNVTS_PASS) return false;
    if (suite == NULL || suite->beyond_values) return false;           /* a replay judges by the values alone */
    if (d->o.config->determinism != NNV_DETERMINISM_OFF) return false; /* one run does not show what differs */
    if (d->no_replays || !count_replay(d, &d->first->ended)) return false;
    nnv_dump_name(d->o.cases[d->first->ended.index].name, name);
    if (snprintf(path, sizeof path, "%s/dumps/%s.json", d->o.folder, name) >= PATH_BYTES) return false;
    d->replaying = nnv_replay_start(&d->replay, d->o.config, path);
    return d->replaying;
}

static void stop_replay(struct nnv_dumper *d) {
    d->no_replays = true;
    d->replaying = false;
    nnv_replay_stop(&d->replay);
}

/** Hands on the first case when its replay has ended; *waits if that is still to come. */
static enum nnv_status end_replay(struct nnv_dumper *d, bool *waits, struct nnv_err *err) {
    *waits = false;
    if (nnv_signals_interrupts() > 0) {
        stop_replay(d);
        return hand_on(d, NULL, NULL, err);
    }
    *waits = !nnv_replay_ended(&d->replay);
    if (*waits) return NNV_OK;
    enum nnvts_verdict again = nnv_replay_verdict(&d->replay);
    nnv_replay_stop(&d->replay);
    d->replaying = false;
    d->no_replays = d->no_replays || again == NNVTS_NOTRUN; /* a driver that can be opened only once at a time? */
    return hand_on(d, NULL, again == NNVTS_NOTRUN ? NULL : nnv_verdict_name(again), err);
}

/** Dumps the first case, and hands it on unless it is to be replayed; *waits if the dump has not ended. */
static enum nnv_status dump_first(struct nnv_dumper *d, bool *waits, struct nnv_err *err) {
    char remark[NNV_ERR_TEXT] = "";
    struct nnv_err failure = {0};
    *waits = false;
    if (!d->dumping && !start(d)) return hand_on(d, "not dumped: no process for it", NULL, err);
    *waits = !nnv_ask_ended(&d->ask);
    if (*waits) return NNV_OK;
    if (!d->ask.complete)
        snprintf(remark, sizeof remark, "not dumped: nnvts %s", d->ask.how);
    else if (nnv_ask_status(&d->ask, &failure) != NNV_OK)
        snprintf(remark, sizeof remark, "not dumped: %.700s", failure.text);
    nnv_ask_free(&d->ask);
    d->dumping = false;
    if (*remark == '\0' && start_replay(d)) return NNV_OK;
    return hand_on(d, *remark == '\0' ? NULL : remark, NULL, err);
}

enum nnv_status nnv_dumper_step(struct nnv_dumper *d, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    bool waits = false;
    if (nnv_signals_interrupts() > 0) d->no_replays = true;
    while (d->first != NULL && st == NNV_OK && !waits)
        st = d->replaying ? end_replay(d, &waits, err) : dump_first(d, &waits, err);
    return st;
}

bool nnv_dumper_opens(struct nnv_dumper *d) {
    if (d->replaying) d->no_replays = true;
    return d->replaying;
}

/** Goes on until nothing is left, or the time is over once the user has interrupted. */
static enum nnv_status work_off(struct nnv_dumper *d, bool interrupted, struct nnv_err *err) {
    uint64_t begin = nnv_now_ns();
    enum nnv_status st = nnv_dumper_step(d, err);
    while (d->first != NULL && st == NNV_OK && (!interrupted || nnv_now_ns() - begin < LAST_DUMPS_NS)) {
        if (!interrupted && nnv_signals_interrupts() > 0) {
            interrupted = true;
            begin = nnv_now_ns();
        }
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
        st = nnv_dumper_step(d, err);
        if (st == NNV_OK) st = d->o.idle(d->o.context, err);
    }
    return st;
}

bool nnv_dumper_busy(const struct nnv_dumper *d) { return d->first != NULL; }

enum nnv_status nnv_dumper_finish(struct nnv_dumper *d, bool interrupted, struct nnv_err *err) {
    struct nnv_signals signals;
    enum nnv_status st = NNV_OK;
    if (d->first == NULL) return st;
    if (interrupted && d->replaying) {
        stop_replay(d);
        st = hand_on(d, NULL, NULL, err);
    }
    d->no_replays = d->no_replays || interrupted;
    nnv_signals_take(&signals, NULL);
    if (st == NNV_OK) st = work_off(d, interrupted, err);
    nnv_signals_give_back(&signals);
    nnv_ask_free(&d->ask);
    d->dumping = false;
    while (d->first != NULL && st == NNV_OK) st = hand_on(d, "not dumped: the run was ended", NULL, err);
    return st;
}
