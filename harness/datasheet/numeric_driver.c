/* SPDX-License-Identifier: Apache-2.0 */
/** @file numeric_driver.c Designed inputs on a driver, in a process of its own. */
#include "harness/client/run.h"
#include "harness/datasheet/datasheet.h"
#include "harness/runner/ask.h"

enum { DEATHS = 8 }; /* of processes, before the rest is given up */

/** What the processes share. */
struct shared {
    _Atomic uint32_t serial;
    struct nnv_numeric numeric;
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
    (void)err;
    s->numeric = *(const struct nnv_numeric *)in->context;
    const struct nnv_numeric_engine e = {.execute = execute, .context = in, .arena = in->arena, .out = &s->numeric};
    nnv_numeric_measure(&e);
    return NNV_OK;
}

/** The process goes on: its time begins anew. */
static bool goes_on(void *context, const void *shared) {
    static uint32_t seen;
    const uint32_t now = ((const struct shared *)shared)->serial;
    (void)context;
    const bool more = now != seen;
    seen = now;
    return more;
}

/** Texts of a process that may have been damaged end. */
static void tame(struct nnv_numeric *n) {
    if (n->count > NNV_NUMERIC_FACTS) n->count = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        struct nnv_numeric_fact *f = &n->fact[i];
        f->about[sizeof f->about - 1] = f->what[sizeof f->what - 1] = '\0';
        f->is[sizeof f->is - 1] = f->evidence[sizeof f->evidence - 1] = '\0';
    }
}

enum nnv_status nnv_datasheet_numeric(const struct nnv_run_config *config, struct nnv_numeric *numeric,
                                      struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    bool complete = false;
    for (int deaths = 0; deaths < DEATHS && st == NNV_OK && !complete; deaths++) {
        struct nnv_ask ask = {.answer = answer,
                              .context = numeric,
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
    return st;
}
