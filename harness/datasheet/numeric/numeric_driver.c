/* SPDX-License-Identifier: Apache-2.0 */
/** @file numeric_driver.c Designed inputs on a driver, in a process of its own. */
#include "harness/client/run.h"
#include "harness/datasheet/datasheet.h"
#include "harness/runner/ask.h"
#include "reference/model/op.h"

enum { PROCESSES = 8 }; /* that may die, before the rest is given up */

struct question {
    const struct nnv_datasheet_options *o;
    struct nnv_numeric *known;
};

static bool execute(void *context, const struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_value **outputs) {
    const struct nnv_answering *in = context;
    struct nnv_outcome outcome;
    nnv_client_run(in->client, spec, arena, in->phase, &outcome);
    ++*in->progress;
    *outputs = outcome.outputs;
    return outcome.kind == NNV_OUTCOME_DONE;
}

static enum nnv_status answer(struct nnv_answering *in, struct nnv_err *err) {
    const struct question *q = in->context;
    struct nnv_numeric *numeric = in->shared;
    (void)err;
    *numeric = *q->known;
    const struct nnv_numeric_engine e = {
        .execute = execute, .context = in, .operations = q->o->operations, .arena = in->arena, .out = numeric};
    nnv_numeric_measure(&e);
    return NNV_OK;
}

/** Texts of a process that may have been damaged end, and what it counts is there. */
static void keep(void *context, const void *shared) {
    struct nnv_numeric *n = ((const struct question *)context)->known;
    *n = *(const struct nnv_numeric *)shared;
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
    struct question q = {.o = o, .known = numeric};
    const struct nnv_ask ask = {.answer = answer,
                                .context = &q,
                                .bytes = sizeof *numeric,
                                .driver = o->config->driver_path,
                                .driver_options = o->config->driver_options,
                                .timeout_ns = o->config->timeout_ns};
    const enum nnv_status st = nnv_ask_on(&ask, PROCESSES, keep, err);
    if (st == NNV_OK) nnv_numeric_settle(numeric);
    return st;
}
