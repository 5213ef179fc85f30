/* SPDX-License-Identifier: Apache-2.0 */
/** @file flakes_run.c Trying the failures of a run again, in workers. */
#include "harness/runner/flakes_run.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/journal/flakes.h"
#include "harness/journal/verdict.h"
#include "harness/runner/ask.h"
#include "harness/runner/pool/pool.h"

enum { SPINNERS_MAX = 256, CACHE_BYTES = 1 << 20 };
static const uint64_t SPIN_NS = 60000000000; /* a spinner ends by itself, whatever becomes of nnvts */

/* --------------------------------------------------------------------- load */

/** Processes that keep all processors busy, and their caches dirty. */
struct load {
    struct nnv_ask ask[SPINNERS_MAX];
    long count;
};

static enum nnv_status spin(struct nnv_answering *in, struct nnv_err *err) {
    static volatile unsigned char cache[CACHE_BYTES];
    const uint64_t begin = nnv_now_ns();
    (void)in, (void)err;
    for (size_t i = 0;; i = (i + 4099) % CACHE_BYTES) {
        cache[i]++;
        if (i < 4099 && nnv_now_ns() - begin > SPIN_NS) return NNV_OK;
    }
}

static void load_begin(struct load *l) {
    struct nnv_err ignored;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > SPINNERS_MAX) cores = SPINNERS_MAX;
    for (l->count = 0; l->count < cores; l->count++) {
        l->ask[l->count] = (struct nnv_ask){.answer = spin};
        if (nnv_ask_start(&l->ask[l->count], &ignored) != NNV_OK) {
            nnv_ask_free(&l->ask[l->count]);
            break;
        }
    }
}

static void load_end(struct load *l) {
    for (long i = 0; i < l->count; i++) nnv_ask_free(&l->ask[i]);
    l->count = 0;
}

/* --------------------------------------------------------------- one trial */

/** A run of some cases, the last of which counts. */
struct trial {
    struct nnv_run_config config;
    const struct nnv_case *all;
    struct nnv_case *cases;       /**< room for all */
    uint64_t budget_ns, until_ns; /**< until_ns: 0 before the first run */
    uint32_t last;
    enum nnvts_verdict verdict;
};

static enum nnv_status on_ended(void *context, const struct nnv_ended *e, struct nnv_err *err) {
    struct trial *t = context;
    (void)err;
    if (e->index == t->last) t->verdict = e->verdict;
    return NNV_OK;
}

static enum nnv_status on_idle(void *context, struct nnv_err *err) {
    const struct trial *t = context;
    return nnv_now_ns() < t->until_ns ? NNV_OK : nnv_fail(err, NNV_TIMEOUT, "no time is left");
}

static enum nnv_status run_once(void *context, uint32_t subject, const uint32_t *before, size_t count, bool load,
                                bool *bad, struct nnv_err *err) {
    struct trial *t = context;
    struct load spinners = {.count = 0};
    bool interrupted = false;
    if (t->until_ns == 0) t->until_ns = nnv_now_ns() + t->budget_ns;
    for (size_t i = 0; i < count; i++) t->cases[i] = t->all[before[i]];
    t->cases[count] = t->all[subject];
    t->last = (uint32_t)count;
    t->verdict = NNVTS_NOTRUN;
    const struct nnv_pool_options pool = {
        .config = &t->config, .cases = t->cases, .count = count + 1, .context = t, .ended = on_ended, .idle = on_idle};
    if (load) load_begin(&spinners);
    enum nnv_status st = nnv_pool_run(&pool, &interrupted, err);
    load_end(&spinners);
    if (st == NNV_OK && interrupted) return nnv_fail(err, NNV_INVALID, "interrupted");
    if (st == NNV_OK && (t->verdict == NNVTS_NOTRUN || t->verdict == NNVTS_ERROR))
        return nnv_fail(err, NNV_INVALID, "the driver could not be tried again");
    *bad = nnv_verdict_bad(t->verdict);
    return st;
}

enum nnv_status nnv_flakes(const struct nnv_flakes_options *o, struct nnv_err *err) {
    struct nnv_run_facts facts;
    nnv_config_facts(o->config, &facts);
    facts.cases = o->cases;
    facts.case_count = o->count;
    struct trial t = {.config = *o->config, .all = o->cases, .budget_ns = o->budget_ns};
    t.config.jobs = 1;
    t.config.repeat = 1;
    t.cases = calloc(o->count + 1, sizeof *t.cases);
    const struct nnv_retry retry = {.folder = o->config->out,
                                    .facts = &facts,
                                    .budget_ns = o->budget_ns,
                                    .timeout_ns = o->config->timeout_ns,
                                    .most = o->most,
                                    .context = &t,
                                    .run = run_once};
    enum nnv_status st = t.cases != NULL ? nnv_retry_failures(&retry, err) : nnv_no_memory(err);
    free(t.cases);
    return st;
}
