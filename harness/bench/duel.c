/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/duel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/bench/scenario.h"
#include "harness/runner/ask.h"
#include "harness/runner/signals.h"
#include "harness/runner/worker/channel.h"

static const double TURN_NS = 4e6; /* of timed executions */
static const uint64_t TICK_NS = 20000000;

/** One process and what it tells; not trusted. */
struct slot {
    struct nnv_hub hub; /* wakes the process; hub.stop ends it */
    _Atomic uint32_t ready;
    _Atomic uint32_t turn, done; /* asked for, and come to its end */
    uint32_t burst;
    enum nnv_bench_state state;
    char reason[NNV_BENCH_REASON];
    char device[64], version[64];
    double warm_ns; /* median of the last executions before the first turn */
    double ns[NNV_GATE_BURST];
};

/** All processes of a block. */
struct table {
    struct nnv_hub hub; /* wakes the caller */
    struct slot slot[NNV_GATE_PARTS];
};

/* --------------------------------------------------------- in a process of its own */

/** What a process holds of its driver. */
struct contestant {
    struct slot *slot;
    struct nnv_arena *arena;
    struct nnv_bench_model model;
    struct nnv_bench_stream stream;
    uint32_t set; /* of inputs, next */
};

static bool execute(struct contestant *p, double *ns) {
    const uint32_t set = p->set++ % p->stream.sets;
    *ns = nnv_bench_stream_time(&p->stream, set);
    if (*ns >= 0) return true;
    p->slot->state = NNV_BENCH_FAILED;
    nnv_bench_stream_reason(&p->stream, set, p->slot->reason);
    return false;
}

/** A few executions, at least as long as a turn: caches, pages and clocks of the driver come to rest. */
static bool warm_up(struct contestant *p) {
    enum { WINDOW = 5, MOST = 2000 };
    double last[WINDOW];
    uint64_t begin = nnv_now_ns();
    for (uint32_t k = 0; k < MOST && (k < WINDOW || (double)(nnv_now_ns() - begin) < 2 * TURN_NS); k++)
        if (!execute(p, &last[k % WINDOW])) return false;
    nnv_sort(last, WINDOW);
    p->slot->warm_ns = nnv_median(last, WINDOW);
    return true;
}

static bool get_ready(struct contestant *p, const struct nnv_bench_work *work, const struct nnv_duel_options *o) {
    struct slot *s = p->slot;
    s->state = nnv_bench_model_prepare(&p->model, o->preference, p->arena, NULL, s->reason);
    if (s->state == NNV_BENCH_DONE)
        s->state = nnv_bench_stream_open(&p->stream, work, o->mode, p->model.prepared, p->arena, s->reason);
    return s->state == NNV_BENCH_DONE && warm_up(p);
}

/** Waits for turns: one execution that is not timed, for the caches that others have used, then a burst. */
static void serve(struct contestant *p, struct table *t) {
    struct slot *s = p->slot;
    for (uint32_t played = 0;;) {
        uint32_t seen = atomic_load(&s->hub.wake);
        if (atomic_load(&s->hub.stop)) return;
        uint32_t turn = atomic_load(&s->turn);
        if (turn == played) {
            nnv_hub_wait(&s->hub, seen, TICK_NS);
            continue;
        }
        double first;
        bool ok = execute(p, &first);
        for (uint32_t i = 0; ok && i < s->burst && i < NNV_GATE_BURST; i++) ok = execute(p, &s->ns[i]);
        played = turn;
        atomic_store(&s->done, turn);
        nnv_hub_notify(&t->hub);
        if (!ok) return;
    }
}

/** What a process is to do. */
struct seat {
    const struct nnv_bench_work *work;
    const struct nnv_duel_options *o;
    struct table *table;
    struct slot *slot;
};

static enum nnv_status take_seat(struct nnv_answering *in, struct nnv_err *err) {
    const struct seat *seat = in->context;
    struct slot *s = seat->slot;
    struct contestant p = {.slot = s, .arena = in->arena};
    const enum nnv_status st = nnv_bench_model_make(&p.model, in->client->device, seat->work->model, p.arena, err);
    if (st != NNV_OK) return st;
    snprintf(s->device, sizeof s->device, "%s", in->client->device->name);
    snprintf(s->version, sizeof s->version, "%s", in->client->device->version);
    const bool ok = get_ready(&p, seat->work, seat->o);
    atomic_store(&s->ready, 1);
    nnv_hub_notify(&seat->table->hub);
    if (ok) serve(&p, seat->table);
    if (p.model.prepared) {
        nnv_bench_stream_close(&p.stream);
        p.model.prepared->release(p.model.prepared);
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------ in the caller's */

struct duel {
    const struct nnv_bench_work *work;
    const struct nnv_duel_options *o;
    struct nnv_duel_result *r;
    struct table *table;
    enum nnv_gate_part part[NNV_GATE_PARTS]; /* of each process of the block */
    int slot[NNV_GATE_PARTS];                /* of each part: its process */
    struct nnv_ask ask[NNV_GATE_PARTS];
    struct seat seat[NNV_GATE_PARTS];
    struct nnv_gate_times times;
    double *all[2]; /* times of both drivers */
    uint32_t turns;
    struct nnv_err *err;
};

static void blame(struct duel *d, int process, enum nnv_bench_state state, const char *reason) {
    d->r->state = state;
    d->r->part = d->part[process];
    snprintf(d->r->reason, sizeof d->r->reason, "%.*s", NNV_BENCH_REASON - 1, reason);
}

/** Waits until what the process is to reach is there; false, with the blame or *st, if it never will be. */
static bool await(struct duel *d, int process, const _Atomic uint32_t *what, uint32_t wanted, enum nnv_status *st) {
    struct nnv_ask *a = &d->ask[process];
    char words[128];
    nnv_ask_renew(a);
    for (;;) {
        uint32_t seen = atomic_load(&d->table->hub.wake);
        const bool ended = nnv_ask_ended(a);
        if (atomic_load(what) == wanted) return true;
        if (ended) break;
        if (nnv_signals_interrupts() > 0) {
            d->r->interrupted = true;
            return false;
        }
        nnv_hub_wait(&d->table->hub, seen, TICK_NS);
    }
    *st = nnv_ask_status(a, d->err);
    snprintf(words, sizeof words, "the driver %s", a->how);
    if (*st == NNV_OK) blame(d, process, a->end.timed_out ? NNV_BENCH_TIMED_OUT : NNV_BENCH_CRASHED, words);
    return false;
}

/** False if the process says that something went wrong. */
static bool is_well(struct duel *d, int process) {
    const struct slot *s = &d->table->slot[process];
    if (s->state == NNV_BENCH_DONE) return true;
    blame(d, process, s->state > NNV_BENCH_DONE && s->state <= NNV_BENCH_ERROR ? s->state : NNV_BENCH_ERROR, s->reason);
    return false;
}

/** Starts the processes of a block, one after the other. */
static bool start_all(struct duel *d, uint32_t block, enum nnv_status *st) {
    nnv_gate_roles(d->o->gate.seed, block, d->part);
    memset(d->table, 0, sizeof *d->table);
    for (int k = 0; k < NNV_GATE_PARTS; k++) {
        const struct nnv_duel_driver *driver = d->part[k] == NNV_GATE_TESTED ? &d->o->tested : &d->o->against;
        d->seat[k] = (struct seat){d->work, d->o, d->table, &d->table->slot[k]};
        d->slot[d->part[k]] = k;
        d->ask[k] = (struct nnv_ask){.answer = take_seat,
                                     .context = &d->seat[k],
                                     .driver = driver->path,
                                     .driver_options = driver->options,
                                     .timeout_ns = d->o->timeout_ns,
                                     .opening_ns = d->o->timeout_ns};
        *st = nnv_ask_start(&d->ask[k], d->err);
        if (*st != NNV_OK || !await(d, k, &d->table->slot[k].ready, 1, st) || !is_well(d, k)) return false;
    }
    return true;
}

/** Ends the processes of a block: those that do not go at once are killed. */
static void dismiss_all(struct duel *d) {
    const uint64_t patience_ns = 2000000000;
    for (int k = 0; k < NNV_GATE_PARTS; k++) {
        atomic_store(&d->table->slot[k].hub.stop, 1);
        nnv_hub_notify(&d->table->slot[k].hub);
    }
    for (int k = 0; k < NNV_GATE_PARTS; k++) {
        nnv_ask_stop(&d->ask[k], patience_ns);
        nnv_ask_free(&d->ask[k]);
    }
}

/** As many executions as fill a turn; the same in all blocks. */
static uint32_t choose_burst(const struct table *t) {
    double slowest = 1;
    for (int k = 0; k < NNV_GATE_PARTS; k++) slowest = fmax(slowest, t->slot[k].warm_ns);
    double n = TURN_NS / slowest;
    return n < 3 ? 3 : n > NNV_GATE_BURST ? NNV_GATE_BURST : (uint32_t)n;
}

static bool take_turn(struct duel *d, enum nnv_gate_part part, uint32_t round, enum nnv_status *st) {
    int k = d->slot[part];
    struct slot *s = &d->table->slot[k];
    s->burst = d->r->burst;
    atomic_store(&s->turn, ++d->turns);
    nnv_hub_notify(&s->hub);
    if (!await(d, k, &s->done, d->turns, st) || !is_well(d, k)) return false;
    for (uint32_t i = 0; i < d->r->burst; i++) {
        double ns = s->ns[i];
        if (!(ns >= 0 && ns < 1e15)) return blame(d, k, NNV_BENCH_ERROR, "its times were written over"), false;
        d->times.ns[part][round][i] = ns;
        if (part != NNV_GATE_CONTROL) d->all[part][d->r->side[part].count++] = ns;
    }
    return true;
}

/** Runs block number `block`; false: with the blame, or *st. */
static bool run_block(struct duel *d, uint32_t block, enum nnv_status *st) {
    enum { LOOKS = 12 };
    double yardstick[NNV_GATE_ROUNDS * LOOKS];
    struct nnv_gate_block *b = &d->r->block[block];
    if (!start_all(d, block, st)) return false;
    if (d->r->burst == 0) d->r->burst = choose_burst(d->table);
    for (int side = 0; side < 2 && block == 0; side++) {
        const struct slot *s = &d->table->slot[d->slot[side]];
        snprintf(d->r->side[side].device, sizeof s->device, "%.63s", s->device);
        snprintf(d->r->side[side].version, sizeof s->version, "%.63s", s->version);
    }
    d->times.burst = d->r->burst;
    for (uint32_t r = 0; r < NNV_GATE_ROUNDS; r++) {
        enum nnv_gate_part order[NNV_GATE_PARTS];
        nnv_gate_order(d->o->gate.seed, block, r, order);
        for (int i = 0; i < LOOKS; i++) yardstick[r * LOOKS + i] = nnv_yardstick();
        for (int k = 0; k < NNV_GATE_PARTS; k++)
            if (!take_turn(d, order[k], r, st)) return false;
    }
    nnv_gate_block_make(&d->times, b);
    nnv_sort(yardstick, NNV_GATE_ROUNDS * LOOKS);
    b->yardstick_ns = nnv_quantile(yardstick, NNV_GATE_ROUNDS * LOOKS, 0.1);
    return true;
}

/** Time of all processors so far, and what of it other machines took, in ticks; false where /proc does not say. */
static bool read_steal(double *all, double *stolen) {
    enum { FIELDS = 8, STEAL = 7 };
    unsigned long long v[FIELDS] = {0};
    FILE *f = fopen("/proc/stat", "re");
    int n = f ? fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
                       &v[6], &v[7])
              : 0;
    if (f) fclose(f);
    *all = 0;
    for (int i = 0; i < n; i++) *all += (double)v[i];
    *stolen = (double)v[STEAL];
    return n == FIELDS;
}

static void count_side(struct nnv_duel_side *s, double *ns) {
    nnv_sort(ns, s->count);
    for (int q = 0; q < NNV_GATE_QUANTILES && s->count; q++) {
        s->quantile_ns[q] = nnv_quantile(ns, s->count, nnv_gate_quantiles[q]);
        s->interval_ns[q] = nnv_quantile_interval(ns, s->count, nnv_gate_quantiles[q], 0.95);
    }
}

static enum nnv_status run_blocks(struct duel *d) {
    struct nnv_duel_result *r = d->r;
    double all = 0, stolen = 0, all_now, stolen_now;
    enum nnv_status st = NNV_OK;
    bool told = read_steal(&all, &stolen), ok = true;
    uint64_t begin = nnv_now_ns();
    while (r->answer.verdict == NNV_GATE_GO_ON && ok) {
        ok = run_block(d, r->blocks, &st);
        dismiss_all(d);
        if (!ok) break;
        r->blocks++;
        if (told && read_steal(&all_now, &stolen_now) && all_now > all)
            r->steal = (stolen_now - stolen) / (all_now - all);
        if (d->o->progress) d->o->progress(d->o->context, (double)r->blocks / d->o->gate.blocks);
        if (nnv_gate_is_look(r->blocks, &d->o->gate))
            nnv_gate_look(r->block, r->blocks, &d->o->gate, r->steal, &r->answer);
    }
    r->elapsed_ns = (double)(nnv_now_ns() - begin);
    if (r->interrupted) nnv_gate_end_early(r->block, r->blocks, &d->o->gate, r->steal, &r->answer);
    for (int side = 0; side < 2; side++) count_side(&r->side[side], d->all[side]);
    return st;
}

enum nnv_status nnv_duel_run(const struct nnv_bench_work *work, const struct nnv_duel_options *options,
                             struct nnv_arena *arena, struct nnv_duel_result *result, struct nnv_err *err) {
    struct duel d = {.work = work, .o = options, .r = result, .err = err};
    const size_t most = (size_t)options->gate.blocks * NNV_GATE_ROUNDS * NNV_GATE_BURST;
    *result = (struct nnv_duel_result){.state = NNV_BENCH_DONE};
    struct nnv_signals signals;
    d.table = nnv_shared_new(sizeof *d.table);
    nnv_signals_take(&signals, NULL);
    for (int side = 0; side < 2; side++) d.all[side] = NNV_NEW(arena, double, most);
    enum nnv_status st = d.table && d.all[0] && d.all[1] ? run_blocks(&d) : nnv_no_memory(err);
    nnv_signals_give_back(&signals);
    nnv_shared_free(d.table, sizeof *d.table);
    return st;
}
