/* SPDX-License-Identifier: Apache-2.0 */
/** @file cliffs_driver.c The cliffs of a driver, in processes of their own. */
#include "harness/datasheet/datasheet.h"
#include "harness/runner/ask.h"

enum { DEATHS = 400 }; /* of processes, before the rest is given up */

/** What the processes share. */
struct shared {
    _Atomic uint32_t serial;
    struct nnv_cliffs cliffs;
};

struct question {
    const struct nnv_datasheet_options *o;
    struct nnv_cliffs *known;
    uint64_t until_ns;
    uint32_t seen;
};

static enum nnv_status answer(struct nnv_answering *in, struct nnv_err *err) {
    const struct question *q = in->context;
    struct shared *s = in->shared;
    (void)err;
    s->cliffs = *q->known;
    const struct nnv_cliff_measuring x = {.client = in->client,
                                          .arithmetic = q->o->config->arithmetic,
                                          .seed = q->o->config->seed,
                                          .operations = q->o->operations,
                                          .until_ns = q->until_ns,
                                          .phase = in->phase,
                                          .serial = &s->serial,
                                          .arena = in->arena,
                                          .out = &s->cliffs};
    nnv_cliffs_measure(&x);
    return NNV_OK;
}

/** The process goes on: its time begins anew. */
static bool goes_on(void *context, const void *shared) {
    struct question *q = context;
    const uint32_t now = ((const struct shared *)shared)->serial;
    const bool more = now != q->seen;
    q->seen = now;
    return more;
}

/** Texts of a process that may have been damaged end, and kinds are known. */
static void tame(struct nnv_cliffs *c) {
    if (c->count > NNV_CLIFFS) c->count = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        struct nnv_cliff *k = &c->item[i];
        k->about[sizeof k->about - 1] = k->axis[sizeof k->axis - 1] = k->words[sizeof k->words - 1] = '\0';
        if ((uint32_t)k->kind > NNV_CLIFF_GROWTH) k->kind = NNV_CLIFF_DIES;
    }
}

enum nnv_status nnv_datasheet_cliffs(const struct nnv_datasheet_options *o, uint64_t until_ns,
                                     struct nnv_cliffs *cliffs, struct nnv_err *err) {
    struct question q = {.o = o, .known = cliffs, .until_ns = until_ns};
    enum nnv_status st = NNV_OK;
    bool complete = false;
    for (int deaths = 0; deaths < DEATHS && st == NNV_OK && !complete; deaths++) {
        struct nnv_ask ask = {.answer = answer,
                              .context = &q,
                              .bytes = sizeof(struct shared),
                              .driver = o->config->driver_path,
                              .driver_options = o->config->driver_options,
                              .timeout_ns = o->config->timeout_ns,
                              .waiting = goes_on};
        st = nnv_ask(&ask, err);
        if (st == NNV_OK) {
            *cliffs = ((const struct shared *)ask.shared)->cliffs;
            tame(cliffs);
        }
        complete = ask.complete;
        nnv_ask_free(&ask);
    }
    return st;
}
