/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/compiled/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "compiler/nnapi/convert/convert.h"
#include "compiler/byoc/cost/cost.h"
#include "reference/model/validate.h"

/* -------------------------------------------------------------------- the file */

static enum nnv_status save(const struct nnv_profiler *p, struct nnv_err *err) {
    char *text = json_dumps(p->file, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
    enum nnv_status s = text ? nnv_file_write(p->path, text, strlen(text), err) : nnv_no_memory(err);
    free(text);
    return s;
}

static json_t *section(const struct nnv_profiler *p, const char *name) {
    json_t *s = json_object_get(p->file, name);
    if (!s) json_object_set_new(p->file, name, s = json_object());
    return s;
}

static enum nnv_status store(struct nnv_profiler *p, const char *name, const char *key, json_t *record,
                             struct nnv_err *err) {
    if (!record || json_object_set_new(section(p, name), key, record)) return nnv_no_memory(err);
    if (p->told) p->told(p->context, key, record);
    return save(p, err);
}

enum nnv_status nnv_profile_open(const char *path, bool resume, const json_t *source, json_t **file,
                                 struct nnv_err *err) {
    char *text = NULL;
    size_t len = 0;
    json_error_t e;
    if (resume && access(path, F_OK) == 0) {
        enum nnv_status s = nnv_file_read(path, (size_t)1 << 28, &text, &len, err);
        if (s != NNV_OK) return s;
        json_t *old = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
        free(text);
        if (!old) return nnv_fail(err, NNV_INVALID, "%s:%d:%d: %s", path, e.line, e.column, e.text);
        const json_t *of = json_object_get(old, "source");
        bool same = json_is_object(old) && json_equal(of, source);
        const char *device = json_string_value(json_object_get(of, "device"));
        if (!same) {
            s = nnv_fail(err, NNV_INVALID,
                         "%s: a profile of another device (%.60s); leave --resume out, or name another file with -o",
                         path, device ? device : "none");
            json_decref(old);
            return s;
        }
        *file = old;
        return NNV_OK;
    }
    *file = json_pack("{s:O}", "source", (json_t *)source);
    return *file ? NNV_OK : nnv_no_memory(err);
}

/* ------------------------------------------------------------------- measuring */

static enum nnv_status check(const struct nnv_model *m, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    int level = 0;
    enum nnv_status s = arena ? nnv_validate(m, arena, &level, err) : nnv_no_memory(err);
    nnv_arena_free(arena);
    return s;
}

/* What fails on another machine is tried again: if not the model was the reason, but the line, the driver is gone. */
static enum nnv_status measure(const struct nnv_timing_options *w, const struct nnv_model *m, struct nnv_timed *t,
                               struct nnv_err *err) {
    enum nnv_status s = nnv_time_model(m, w, t, err);
    if (s == NNV_OK && w->remote && (t->state == NNV_BENCH_FAILED || t->state == NNV_BENCH_TIMED_OUT))
        s = nnv_time_model(m, w, t, err);
    if (s == NNV_INVALID) s = NNV_IO; /* it could be opened before */
    if (s == NNV_OK && t->state == NNV_BENCH_ERROR)
        return nnv_fail(err, NNV_INTERNAL, "a model could not be measured: %s", t->reason);
    return s;
}

/* Bytes of the inputs and outputs of a model. */
static double moved(const struct nnv_model *m) {
    double sum = 0;
    size_t elems, bytes;
    for (uint32_t i = 0; i < m->main.nin; i++)
        if (nnv_operand_size(&m->main.operands[m->main.in[i]], &elems, &bytes)) sum += (double)bytes;
    for (uint32_t i = 0; i < m->main.nout; i++)
        if (nnv_operand_size(&m->main.operands[m->main.out[i]], &elems, &bytes)) sum += (double)bytes;
    return sum;
}

/* The time of a small program of relus on n numbers; NaN: the device can not do it. */
static enum nnv_status time_relus(const struct nnv_timing_options *w, size_t n, int relus, struct nnv_timed *t,
                                  struct nnv_err *err) {
    const struct nnv_convert_options options = {0};
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_relay_module *m = NULL;
    struct nnv_converted converted;
    if (!arena) return nnv_no_memory(err);
    const char *text = nnv_arena_printf(arena, "def @main(%%x: Tensor[(%zu), float32]) { %s }", n,
                                        relus == 2 ? "nn.relu(nn.relu(%x))" : "nn.relu(%x)");
    enum nnv_status s = text ? nnv_relay_parse(text, strlen(text), "relus", arena, &m, err) : nnv_no_memory(err);
    if (s == NNV_OK) s = nnv_relay_check(m, err);
    if (s == NNV_OK) s = nnv_convert(m, nnv_relay_find(m, "main"), &options, arena, &converted, err);
    if (s == NNV_OK) s = measure(w, &converted.model, t, err);
    if (s == NNV_OK && t->state != NNV_BENCH_DONE) t->us = (double)NAN;
    nnv_arena_free(arena);
    return s;
}

/*
 * By how much a time may be wrong: its interval, wider where the machine is busy, and never less than what machines
 * drift from one measurement to the next.
 */
static double noise_of(const struct nnv_timed *t) {
    const double drift = 0.05;
    double half = fmax(fmax(t->high_us - t->us, t->us - t->low_us), drift * t->us);
    return half * (t->noise > 1 ? t->noise : 1);
}

/** What a device takes beside computing. */
struct basics {
    double launch_us, noise_us, gbytes; /**< NaN, 0: not known */
    double way_us;                      /**< there and back, of a remote one: no part of a launch; else 0 */
};

/*
 * A launch is what one relu of one number takes. t1 and t2, one and two relus of very many numbers, tell what one takes
 * without moving them, t2 - t1, and so what moving takes: the rest of t1.
 */
static enum nnv_status find_basics(const struct nnv_timing_options *w, struct basics *b, struct nnv_err *err) {
    enum { MANY = 1 << 18 };
    struct nnv_timed launch, one, two;
    enum nnv_status s = time_relus(w, 1, 1, &launch, err);
    if (s == NNV_OK) s = time_relus(w, MANY, 1, &one, err);
    if (s == NNV_OK) s = time_relus(w, MANY, 2, &two, err);
    if (s != NNV_OK) return s;
    const double crossing = one.us - launch.us - fmax(0, two.us - one.us);
    *b = (struct basics){.launch_us = launch.us, .noise_us = isfinite(launch.us) ? noise_of(&launch) : 0};
    if (isfinite(launch.us) && isfinite(launch.round_trip_us)) b->way_us = fmax(0, launch.round_trip_us - launch.us);
    if (isfinite(crossing) && crossing > 0) b->gbytes = 2. * 4 * MANY / (crossing * 1e3);
    return NNV_OK;
}

/* What is told of the host is taken off its times as the target's is of the target's: one scale for both. */
static enum nnv_status measure_basics(struct nnv_profiler *p, struct nnv_err *err) {
    struct basics target, host = {0};
    if (json_object_get(p->file, "basics")) return NNV_OK;
    enum nnv_status s = find_basics(&p->target, &target, err);
    if (s == NNV_OK && p->host) s = find_basics(p->host, &host, err);
    if (s != NNV_OK) return s;
    if (isfinite(target.launch_us)) json_object_set_new(section(p, "target"), "launch_us", json_real(target.launch_us));
    if (target.gbytes > 0) {
        json_object_set_new(section(p, "crossing"), "us", json_real(0));
        json_object_set_new(section(p, "crossing"), "gbytes", json_real(target.gbytes));
    }
    json_object_set_new(p->file, "basics",
                        json_pack("{s:f,s:f,s:f,s:f}", "host_launch_us", isfinite(host.launch_us) ? host.launch_us : 0,
                                  "host_gbytes", host.gbytes, "launch_noise_us", target.noise_us, "way_us",
                                  target.way_us));
    return save(p, err);
}

static double moving_us(const struct nnv_profiler *p, const char *object, const char *name, double bytes) {
    double rate = json_number_value(json_object_get(json_object_get(p->file, object), name));
    return rate > 0 ? bytes / (rate * 1e3) : 0;
}

/* What moving so many bytes takes, as far as it was measured. */
static double crossing_us(const struct nnv_profiler *p, double bytes) {
    return moving_us(p, "crossing", "gbytes", bytes);
}

static double launch_us(const struct nnv_profiler *p) {
    return json_number_value(json_object_get(json_object_get(p->file, "target"), "launch_us"));
}

/* --------------------------------------------------------------------- operations */

static json_t *impossible(struct nnv_profiler *p, const char *state, const char *reason) {
    p->impossible++;
    return json_pack("{s:n,s:s,s:s%}", "target", "state", state, "reason", reason, strcspn(reason, "\n"));
}

/* What the caller of a remote driver waits. */
static json_t *note_round_trip(json_t *record, const struct nnv_timed *t) {
    if (record && isfinite(t->round_trip_us)) json_object_set_new(record, "round_trip", json_real(t->round_trip_us));
    return record;
}

/* What the target takes for the model of one operation: without launch and moving. */
static json_t *record_of(struct nnv_profiler *p, const struct nnv_model *m, const struct nnv_timed *t) {
    if (t->state != NNV_BENCH_DONE) return impossible(p, nnv_bench_state_name(t->state), t->reason);
    double us = fmax(0, t->us - launch_us(p) - crossing_us(p, moved(m)));
    p->measured++;
    json_t *record =
        json_pack("{s:f,s:f,s:f,s:f,s:f,s:i,s:b}", "target", us, "target_noise", noise_of(t), "alone", t->us, "low",
                  t->low_us, "high", t->high_us, "samples", (int)t->samples, "steady", (int)t->steady);
    return note_round_trip(record, t);
}

static enum nnv_status measure_call(struct nnv_profiler *p, const struct nnv_relay_expr *call, const char *key,
                                    struct nnv_arena *arena, struct nnv_err *err) {
    const struct nnv_convert_options options = {0};
    struct nnv_converted converted;
    struct nnv_timed t;
    struct nnv_err refused = {0};
    enum nnv_status s = nnv_convert_call(p->m, call, &options, arena, &converted, &refused);
    if (s == NNV_NO_MEMORY) return nnv_no_memory(err);
    if (s == NNV_OK) s = check(&converted.model, &refused);
    if (s != NNV_OK) return store(p, "ops", key, impossible(p, "not converted", refused.text), err);
    s = measure(&p->target, &converted.model, &t, err);
    if (s == NNV_UNSUPPORTED) return store(p, "ops", key, impossible(p, "not measured", err->text), err);
    if (s != NNV_OK) return s;
    json_t *record = record_of(p, &converted.model, &t);
    if (p->host && record) {
        s = measure(p->host, &converted.model, &t, err);
        if (s != NNV_OK) {
            json_decref(record);
            return s;
        }
        double basic = json_number_value(json_object_get(json_object_get(p->file, "basics"), "host_launch_us")) +
                       moving_us(p, "basics", "host_gbytes", moved(&converted.model));
        if (t.state == NNV_BENCH_DONE) {
            json_object_set_new(record, "host", json_real(fmax(0, t.us - basic)));
            json_object_set_new(record, "host_noise", json_real(noise_of(&t)));
        }
    }
    return store(p, "ops", key, record, err);
}

static enum nnv_status measure_function(struct nnv_profiler *p, struct nnv_relay_expr *function,
                                        struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_relay_list list;
    if (nnv_relay_post_order(function, nnv_relay_enter_scope, function, arena, &list) != NNV_OK)
        return nnv_no_memory(err);
    for (size_t i = 0; i < list.n; i++) {
        const struct nnv_relay_expr *e = list.exprs[i];
        if (e->kind == NNV_RELAY_FUNCTION && e != function && !nnv_scope_closed(e)) {
            enum nnv_status s = measure_function(p, list.exprs[i], arena, err);
            if (s != NNV_OK) return s;
        }
        if (!nnv_composite_name(e) && (!nnv_relay_op_name(e) || !e->n_args)) continue;
        const char *key = nnv_cost_key(e, arena);
        if (!key) return nnv_no_memory(err);
        if (json_object_get(section(p, "ops"), key)) {
            p->known++;
            continue;
        }
        enum nnv_status s = measure_call(p, e, key, arena, err);
        if (s != NNV_OK) return s;
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------------ regions */

/* What the model of costs says of the region: its operations, a launch, and what moves. */
static double predicted(const struct nnv_profiler *p, struct nnv_relay_expr *function, const struct nnv_model *m,
                        struct nnv_arena *arena, size_t *ops) {
    struct nnv_relay_list list;
    double sum = launch_us(p) + crossing_us(p, moved(m));
    if (nnv_relay_post_order(function->args[0], nnv_relay_enter_scope, function->args[0], arena, &list) != NNV_OK)
        return (double)NAN;
    for (size_t i = 0; i < list.n; i++) {
        const struct nnv_relay_expr *e = list.exprs[i];
        if (!nnv_composite_name(e) && !nnv_relay_op_name(e)) continue;
        const char *key = nnv_cost_key(e, arena);
        const json_t *us = key ? json_object_get(json_object_get(section(p, "ops"), key), "target") : NULL;
        ++*ops;
        sum += json_is_number(us) ? json_number_value(us) : (double)NAN;
    }
    return sum;
}

static enum nnv_status measure_region(struct nnv_profiler *p, const struct nnv_extracted *cut, const char *key,
                                      struct nnv_arena *arena, struct nnv_err *err) {
    const struct nnv_convert_options options = {0};
    struct nnv_relay_expr *function = nnv_relay_find(p->m, cut->function);
    struct nnv_converted converted;
    struct nnv_timed t;
    struct nnv_err refused = {0};
    size_t ops = 0;
    enum nnv_status s = nnv_convert(p->m, function, &options, arena, &converted, &refused);
    if (s == NNV_UNSUPPORTED || s == NNV_INVALID)
        return store(p, "regions", key, impossible(p, "not converted", refused.text), err);
    if (s != NNV_OK) return nnv_no_memory(err);
    if (json_object_get(section(p, "regions"), key)) {
        p->known++;
        return NNV_OK;
    }
    s = measure(&p->target, &converted.model, &t, err);
    if (s != NNV_OK) return s;
    double sum = predicted(p, function, &converted.model, arena, &ops);
    json_t *record = t.state != NNV_BENCH_DONE
                         ? impossible(p, nnv_bench_state_name(t.state), t.reason)
                         : json_pack("{s:f,s:f,s:f,s:f,s:i}", "target", t.us, "target_noise", noise_of(&t), "low",
                                     t.low_us, "high", t.high_us, "samples", (int)t.samples);
    p->measured += t.state == NNV_BENCH_DONE;
    if (record) {
        json_object_set_new(record, "function", json_string(cut->function));
        json_object_set_new(record, "operations", json_integer((json_int_t)ops));
        if (isfinite(sum)) json_object_set_new(record, "sum_of_operations", json_real(sum));
        note_round_trip(record, &t);
    }
    return store(p, "regions", key, record, err);
}

/* The regions of all that the device can do. */
struct doable {
    const struct nnv_profiler *p;
    struct nnv_annotator trial;
};

static bool accepts(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    const struct doable *d = ctx;
    struct nnv_arena *arena = nnv_arena_new();
    const char *key = arena ? nnv_cost_key(call, arena) : NULL;
    const json_t *us = key ? json_object_get(json_object_get(section(d->p, "ops"), key), "target") : NULL;
    bool can = json_is_number(us) && d->trial.accepts(d->trial.ctx, target, call);
    nnv_arena_free(arena);
    return can;
}

/** Keys of the regions, in the order in which they are cut out. */
struct keys {
    const char **keys;
    size_t n, cap;
    struct nnv_arena *arena;
};

/* Keeps the keys of the regions as they are found: a struct nnv_prune asks. */
static enum nnv_status keep_keys(void *ctx, const char *function, const struct nnv_annotator *a,
                                 const struct nnv_scoped *f, struct nnv_arena *arena, struct nnv_regions *regions,
                                 struct nnv_err *err) {
    struct keys *k = ctx;
    (void)function, (void)a, (void)f, (void)arena;
    for (size_t i = 0; i < regions->n; i++) {
        if (!nnv_grow(k->arena, &k->keys, k->n, &k->cap, sizeof *k->keys)) return nnv_no_memory(err);
        k->keys[k->n] = nnv_cost_region_key(regions->regions[i].ops, regions->regions[i].n_ops, k->arena);
        if (!k->keys[k->n++]) return nnv_no_memory(err);
    }
    return NNV_OK;
}

static enum nnv_status measure_regions(struct nnv_profiler *p, struct nnv_arena *arena, struct nnv_err *err) {
    const struct nnv_convert_options options = {0};
    struct nnv_convert_support *support = nnv_convert_support_new(p->m, &options, arena);
    struct keys keys = {.arena = arena};
    const struct nnv_prune watch = {.select = keep_keys, .select_ctx = &keys};
    struct nnv_partition parts;
    if (!support) return nnv_no_memory(err);
    struct doable d = {p, nnv_convert_annotator(support)};
    struct nnv_annotator a = d.trial;
    a.accepts = a.accepts_composite = accepts;
    a.ctx = &d;
    enum nnv_status s = nnv_partition(p->m, &a, &watch, &parts, err);
    for (size_t i = 0; s == NNV_OK && i < parts.n_extracted; i++)
        s = measure_region(p, &parts.extracted[i], keys.keys[i], arena, err);
    return s;
}

enum nnv_status nnv_profile_run(struct nnv_profiler *p, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    enum nnv_status s = arena ? measure_basics(p, err) : nnv_no_memory(err);
    size_t n = p->m->n_functions;
    for (size_t f = 0; s == NNV_OK && f < n; f++)
        if (!nnv_scope_closed(p->m->functions[f].expr)) s = measure_function(p, p->m->functions[f].expr, arena, err);
    if (s == NNV_OK && p->regions) s = measure_regions(p, arena, err);
    if (s == NNV_OK) s = save(p, err);
    nnv_arena_free(arena);
    return s;
}
