/* SPDX-License-Identifier: Apache-2.0 */
/** @file cliffs_driver.c The cliffs of a driver, in processes of their own. */
#include "harness/datasheet/datasheet.h"
#include "harness/runner/ask.h"

enum { PROCESSES = 400 }; /* that may die, before the rest is given up */

struct question {
    const struct nnv_datasheet_options *o;
    struct nnv_cliffs *known;
    uint64_t until_ns;
};

static enum nnv_status answer(struct nnv_answering *in, struct nnv_err *err) {
    const struct question *q = in->context;
    struct nnv_cliffs *cliffs = in->shared;
    (void)err;
    *cliffs = *q->known;
    const struct nnv_cliff_measuring x = {.client = in->client,
                                          .arithmetic = q->o->config->arithmetic,
                                          .seed = q->o->config->seed,
                                          .operations = q->o->operations,
                                          .until_ns = q->until_ns,
                                          .phase = in->phase,
                                          .serial = in->progress,
                                          .arena = in->arena,
                                          .out = cliffs};
    nnv_cliffs_measure(&x);
    return NNV_OK;
}

/** Texts of a process that may have been damaged end, and kinds are known. */
static void keep(void *context, const void *shared) {
    struct nnv_cliffs *c = ((const struct question *)context)->known;
    *c = *(const struct nnv_cliffs *)shared;
    if (c->count > NNV_CLIFFS) c->count = 0;
    if (c->shorter <= 0 || c->whole <= c->shorter) c->shorter = c->whole = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        struct nnv_cliff *k = &c->item[i];
        k->about[sizeof k->about - 1] = k->axis[sizeof k->axis - 1] = k->words[sizeof k->words - 1] = '\0';
        if ((uint32_t)k->kind > NNV_CLIFF_GROWTH) k->kind = NNV_CLIFF_DIES;
    }
}

enum nnv_status nnv_datasheet_cliffs(const struct nnv_datasheet_options *o, uint64_t until_ns,
                                     struct nnv_cliffs *cliffs, struct nnv_err *err) {
    struct question q = {.o = o, .known = cliffs, .until_ns = until_ns};
    const struct nnv_ask ask = {.answer = answer,
                                .context = &q,
                                .bytes = sizeof *cliffs,
                                .driver = o->config->driver_path,
                                .driver_options = o->config->driver_options,
                                .timeout_ns = o->config->timeout_ns};
    return nnv_ask_on(&ask, PROCESSES, keep, err);
}
