/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/dumps/replay.h"

#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "harness/journal/record.h"
#include "harness/runner/pool/pool.h"

static const uint64_t SECOND_NS = 1000000000;

/* -------------------------------------------------------- in the new process */

static enum nnv_status on_ended(void *context, const struct nnv_ended *e, struct nnv_err *err) {
    (void)err;
    enum nnvts_verdict *verdict = context;
    bool sound = e->outputs.len == 0 || nnv_json_is_array(e->outputs.data, e->outputs.len);
    *verdict = e->worker == 0 ? NNVTS_NOTRUN : sound ? e->verdict : NNVTS_ERROR;
    return NNV_OK;
}

/** As nnvts replay does: the dump says by which profile it is judged. */
static enum nnv_status replay(struct nnv_answering *in, struct nnv_err *err) {
    const struct nnv_run_config *config = in->context;
    enum nnvts_verdict *verdict = in->shared;
    const struct nnv_suite *suite = nnv_suite_by_name("spec");
    struct nnv_case_list list = {.arena = in->arena};
    *verdict = NNVTS_NOTRUN;
    enum nnv_status st = suite->list(config, &list, err);
    if (st == NNV_OK && list.count == 1) {
        const struct nnv_pool_options pool = {
            .config = config, .cases = list.item, .count = 1, .context = verdict, .ended = on_ended};
        bool interrupted = false;
        st = nnv_pool_run(&pool, &interrupted, err);
    }
    free(list.item);
    return st;
}

/* --------------------------------------------------------- in the supervisor */

bool nnv_replay_start(struct nnv_replay *r, const struct nnv_run_config *config, const char *dump) {
    struct nnv_err err = {0};
    *r = (struct nnv_replay){.config = *config};
    r->config.specs = dump;
    r->config.precision = -1;
    r->config.jobs = 1;
    /* With all that the attempt does about a driver that hangs when it is opened. */
    r->until_ns = nnv_now_ns() + 60 * SECOND_NS + 8 * config->timeout_ns;
    r->ask = (struct nnv_ask){.answer = replay, .context = &r->config, .bytes = sizeof(enum nnvts_verdict)};
    if (nnv_ask_start(&r->ask, &err) == NNV_OK) return true;
    nnv_ask_free(&r->ask);
    return false;
}

enum nnvts_verdict nnv_replay_verdict(const struct nnv_replay *r) {
    struct nnv_err err = {0};
    if (!r->ask.complete || nnv_ask_status(&r->ask, &err) != NNV_OK) return NNVTS_NOTRUN;
    const int verdict = *(const int *)r->ask.shared;
    return verdict >= 0 && verdict < NNVTS_VERDICT_COUNT ? (enum nnvts_verdict)verdict : NNVTS_NOTRUN;
}

/** Asked to stop twice, its pool ends the worker and the worker's group. */
static void stop(struct nnv_replay *r) {
    kill(r->ask.pid, SIGTERM);
    kill(r->ask.pid, SIGINT);
    nnv_ask_stop(&r->ask, SECOND_NS);
}

bool nnv_replay_ended(struct nnv_replay *r) {
    if (nnv_ask_ended(&r->ask)) return true;
    if (nnv_now_ns() < r->until_ns) return false;
    stop(r);
    return true;
}

void nnv_replay_stop(struct nnv_replay *r) {
    if (r->ask.pid != 0) stop(r);
    nnv_ask_free(&r->ask);
}
