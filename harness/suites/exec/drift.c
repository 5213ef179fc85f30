/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/exec/drift.h"

#include "base/stats.h"
#include "base/words.h"

enum { JUDGED = NNV_DRIFT_BLOCKS / 2 }; /* blocks, the last ones */

static const uint64_t SHORTEST_NS = 1000000000;
static const double CHANCE = 1e-6;      /* of an order as good as that without a trend */
static const double CONFIDENCE = 0.999; /* of a slope */
static const double SLOWER = 0.25;      /* executions take longer by this part at least */

void nnv_drift_note(struct nnv_drift *d, uint64_t at_ns, const uint64_t held[NNV_HELD_KINDS], uint64_t quickest_ns,
                    uint64_t executions) {
    const uint64_t each = d->length_ns / NNV_DRIFT_BLOCKS, i = each > 0 ? at_ns / each : 0;
    struct nnv_drift_block *b = &d->block[i < NNV_DRIFT_BLOCKS ? i : NNV_DRIFT_BLOCKS - 1];
    for (int k = 0; k < NNV_DRIFT_KINDS; k++) {
        const uint64_t now = k == NNV_DRIFT_TIME ? quickest_ns : held[k];
        if (b->executions == 0 || now < b->least[k]) b->least[k] = now;
    }
    b->executions += executions;
}

/** "1 h 2 min" of what is judged. */
static void add_length(const struct nnv_drift *d, struct nnv_text *t) {
    nnv_text_add(t, ", in the last ");
    nnv_text_add_seconds(t, (double)d->length_ns / 2e9);
    nnv_text_add(t, " of ");
    nnv_text_add_seconds(t, (double)d->length_ns / 1e9);
}

static void tell_held(const struct nnv_drift *d, int kind, const struct nnv_trend *t, uint64_t executions,
                      struct nnv_text *said) {
    const double of_second = (double)executions / ((double)d->length_ns / 2e9);
    nnv_text_addf(said, "the driver keeps %s: %.4g of them more each second (99.9 %% sure: %.4g to %.4g)",
                  nnv_held_words[kind].name, t->slope, t->interval.low, t->interval.high);
    add_length(d, said);
    nnv_text_addf(said, ", %.3g an execution; a driver must %s", t->slope / of_second, nnv_held_words[kind].duty);
}

static void tell_time(const struct nnv_drift *d, const struct nnv_trend *t, const double *y, struct nnv_text *said) {
    nnv_text_addf(said, "executions take ever longer: %.3g us more each second (99.9 %% sure: %.3g to %.3g)",
                  t->slope / 1e3, t->interval.low / 1e3, t->interval.high / 1e3);
    add_length(d, said);
    nnv_text_addf(said, ": the quickest took %.3g us, then %.3g us", y[0] / 1e3, y[JUDGED - 1] / 1e3);
}

enum nnvts_reason nnv_drift_judge(const struct nnv_drift *d, struct nnv_text *said) {
    const struct nnv_drift_block *last = &d->block[NNV_DRIFT_BLOCKS - JUDGED];
    double x[JUDGED], y[JUDGED];
    uint64_t executions = 0;
    if (d->length_ns < SHORTEST_NS) return NNVTS_WHY_NONE;
    for (int i = 0; i < JUDGED; i++) {
        if (last[i].executions == 0) return NNVTS_WHY_NONE;
        executions += last[i].executions;
        x[i] = i * (double)d->length_ns / 1e9 / NNV_DRIFT_BLOCKS;
    }
    for (int k = 0; k < NNV_DRIFT_KINDS; k++) {
        for (int i = 0; i < JUDGED; i++) y[i] = (double)last[i].least[k];
        const struct nnv_trend t = nnv_trend_of(x, y, JUDGED, CONFIDENCE);
        const double least = k == NNV_DRIFT_TIME ? SLOWER * y[0] / x[JUDGED - 1] : 0;
        if (t.p > CHANCE || !(t.interval.low > least)) continue;
        if (k == NNV_DRIFT_TIME)
            tell_time(d, &t, y, said);
        else
            tell_held(d, k, &t, executions, said);
        return k == NNV_DRIFT_TIME ? NNVTS_WHY_EXPECTATION : NNVTS_WHY_LEAK;
    }
    return NNVTS_WHY_NONE;
}
