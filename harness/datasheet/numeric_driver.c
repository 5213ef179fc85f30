/* SPDX-License-Identifier: Apache-2.0 */
/** @file numeric_driver.c Designed inputs on a driver, in a process of its own. */
#include "harness/client/run.h"
#include "harness/datasheet/datasheet.h"
#include "harness/runner/ask.h"
#include "reference/model/op.h"

enum { DEATHS = 8 }; /* of processes, before the rest is given up */

/** What the processes share. */
struct shared {
    _Atomic uint32_t serial;
    struct nnv_numeric numeric;
};

struct question {
    const struct nnv_datasheet_options *o;
    const struct nnv_numeric *known;
    uint32_t seen;
};

static bool execute(void *context, const struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_value **outputs) {
    const struct nnv_answering *in = context;
    struct shared *s = in->shared;
    struct nnv_outcome outcome;
    nnv_client_run(in->client, spec, arena, in->phase, &outcome);
    s->serial++;
    *outputs = outcome.outputs;
    return outcome.kind == NNV_OUTCOME_DONE;
}

static enum nnv_status answer(struct nnv_answering *in, struct nnv_err *err) {
    struct shared *s = in->shared;
    const struct question *q = in->context;
    (void)err;
    s->numeric = *q->known;
    const struct nnv_numeric_engine e = {
        .execute = execute, .context = in, .operations = q->o->operations, .arena = in->arena, .out = &s->numeric};
    nnv_numeric_measure(&e);
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

/** Texts of a process that may have been damaged end. */
static void tame(struct nnv_numeric *n) {
    if (n->count > NNV_NUMERIC_FACTS) n->count = 0;
    if (n->products > NNV_NUMERIC_PRODUCTS) n->products = 0;
    for (uint32_t i = 0; i < n->products; i++)
        if (n->product[i].fact >= n->count || !nnv_op(n->product[i].what.op) || !nnv_type(n->product[i].what.type))
            n->products = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        struct nnv_numeric_fact *f = &n->fact[i];
        f->about[sizeof f->about - 1] = f->what[sizeof f->what - 1] = '\0';
        f->is[sizeof f->is - 1] = f->evidence[sizeof f->evidence - 1] = '\0';
    }
}

enum nnv_status nnv_datasheet_numeric(const struct nnv_datasheet_options *o, struct nnv_numeric *numeric,
                                      struct nnv_err *err) {
    const struct nnv_run_config *config = o->config;
    struct question q = {.o = o, .known = numeric};
    enum nnv_status st = NNV_OK;
    bool complete = false;
    for (int deaths = 0; deaths < DEATHS && st == NNV_OK && !complete; deaths++) {
        struct nnv_ask ask = {.answer = answer,
                              .context = &q,
                              .bytes = sizeof(struct shared),
                              .driver = config->driver_path,
                              .driver_options = config->driver_options,
                              .timeout_ns = config->timeout_ns,
                              .waiting = goes_on};
        st = nnv_ask(&ask, err);
        if (st == NNV_OK) {
            *numeric = ((const struct shared *)ask.shared)->numeric;
            tame(numeric);
        }
        complete = ask.complete;
        nnv_ask_free(&ask);
    }
    if (st == NNV_OK) nnv_numeric_settle(numeric);
    return st;
}
