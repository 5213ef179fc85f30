/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/exec/drift.h"

#include "base/json_out.h"
#include "base/stats.h"
#include "base/words.h"

enum { JUDGED = NNV_DRIFT_BLOCKS / 2 }; /* blocks, the last ones */

static const uint64_t SHORTEST_NS = 1000000000;
static const double CHANCE = 1e-6;      /* of an order as good as that without a trend */
static const double CONFIDENCE = 0.999; /* of a slope */
static const double SLOWER = 0.25;      /* executions take longer by this part at least */

/** What a kind is called, and what a driver owes. */
static struct nnv_held_words words_of(int kind) {
    static const struct nnv_held_words others[] = {
        {"file descriptors in a process of its own", "close what it opens"},
        {"threads in a process of its own", "end what it starts"},
        {"bytes of resident memory in a process of its own", "give back what it takes"},
        {"us of the quickest execution", ""},
    };
    return kind < NNV_HELD_KINDS ? nnv_held_words[kind] : others[kind - NNV_HELD_KINDS];
}

void nnv_drift_note(struct nnv_drift *d, uint64_t at_ns, const uint64_t now[NNV_DRIFT_KINDS], uint64_t executions) {
    const uint64_t each = d->length_ns / NNV_DRIFT_BLOCKS, i = each > 0 ? at_ns / each : 0;
    struct nnv_drift_block *b = &d->block[i < NNV_DRIFT_BLOCKS ? i : NNV_DRIFT_BLOCKS - 1];
    for (int k = 0; k < NNV_DRIFT_KINDS; k++)
        if (b->executions == 0 || now[k] < b->least[k]) b->least[k] = now[k];
    b->executions += executions;
}

/* ---------------------------------------------------------------------- trends */

/** The judged half of one kind. */
struct course {
    double y[JUDGED]; /* time in us */
    struct nnv_trend trend;
    bool grows;
};

/** Something was executed in each block, for long enough. */
static bool can_tell(const struct nnv_drift *d) {
    if (d->length_ns < SHORTEST_NS) return false;
    for (int i = NNV_DRIFT_BLOCKS - JUDGED; i < NNV_DRIFT_BLOCKS; i++)
        if (d->block[i].executions == 0) return false;
    return true;
}

static double value_of(const struct nnv_drift *d, int block, int kind) {
    return (double)d->block[block].least[kind] / (kind == NNV_DRIFT_TIME ? 1e3 : 1);
}

/** False where the kind was not seen in each block that is judged. */
static bool course_of(const struct nnv_drift *d, int kind, struct course *c) {
    double x[JUDGED];
    for (int i = 0; i < JUDGED; i++) {
        const int block = NNV_DRIFT_BLOCKS - JUDGED + i;
        if (d->block[block].least[kind] == NNV_DRIFT_UNSEEN) return false;
        x[i] = i * (double)d->length_ns / 1e9 / NNV_DRIFT_BLOCKS;
        c->y[i] = value_of(d, block, kind);
    }
    c->trend = nnv_trend_of(x, c->y, JUDGED, CONFIDENCE);
    const double least = kind == NNV_DRIFT_TIME ? SLOWER * c->y[0] / x[JUDGED - 1] : 0;
    c->grows = c->trend.p <= CHANCE && c->trend.interval.low > least;
    return true;
}

/* ----------------------------------------------------------------------- words */

/** "in the last 30 min 0 s of 60 min 0 s" of what is judged. */
static void add_length(const struct nnv_drift *d, struct nnv_text *t) {
    nnv_text_add(t, ", in the last ");
    nnv_text_add_seconds(t, (double)d->length_ns / 2e9);
    nnv_text_add(t, " of ");
    nnv_text_add_seconds(t, (double)d->length_ns / 1e9);
}

static void tell_held(const struct nnv_drift *d, int kind, const struct nnv_trend *t, struct nnv_text *said) {
    const struct nnv_held_words words = words_of(kind);
    uint64_t executions = 0;
    for (int i = NNV_DRIFT_BLOCKS - JUDGED; i < NNV_DRIFT_BLOCKS; i++) executions += d->block[i].executions;
    const double of_second = (double)executions / ((double)d->length_ns / 2e9);
    nnv_text_addf(said, "the driver keeps %s: %.4g of them more each second (99.9 %% sure: %.4g to %.4g)", words.name,
                  t->slope, t->interval.low, t->interval.high);
    add_length(d, said);
    nnv_text_addf(said, ", %.3g an execution; a driver must %s", t->slope / of_second, words.duty);
}

static void tell_time(const struct nnv_drift *d, const struct course *c, struct nnv_text *said) {
    const struct nnv_trend *t = &c->trend;
    nnv_text_addf(said, "executions take ever longer: %.3g us more each second (99.9 %% sure: %.3g to %.3g)", t->slope,
                  t->interval.low, t->interval.high);
    add_length(d, said);
    nnv_text_addf(said, ": the quickest took %.3g us, then %.3g us", c->y[0], c->y[JUDGED - 1]);
}

enum nnvts_reason nnv_drift_judge(const struct nnv_drift *d, struct nnv_text *said) {
    struct course c;
    for (int k = 0; k < NNV_DRIFT_KINDS && can_tell(d); k++) {
        if (!course_of(d, k, &c) || !c.grows) continue;
        if (k == NNV_DRIFT_TIME)
            tell_time(d, &c, said);
        else
            tell_held(d, k, &c.trend, said);
        return k == NNV_DRIFT_TIME ? NNVTS_WHY_EXPECTATION : NNVTS_WHY_LEAK;
    }
    return NNVTS_WHY_NONE;
}

/* ------------------------------------------------------------------ the record */

static void add_kind(const struct nnv_drift *d, int kind, const struct course *c, struct nnv_json_out *j) {
    nnv_json_open(j, NULL, '{');
    nnv_json_string(j, "of", words_of(kind).name);
    nnv_json_raw(j, "seconds", "%.3f", (double)d->length_ns / 1e9);
    nnv_json_uint(j, "judged_from", NNV_DRIFT_BLOCKS - JUDGED);
    nnv_json_open(j, "least", '[');
    for (int i = 0; i < NNV_DRIFT_BLOCKS; i++)
        if (d->block[i].executions == 0 || d->block[i].least[kind] == NNV_DRIFT_UNSEEN)
            nnv_json_raw(j, NULL, "null");
        else
            nnv_json_raw(j, NULL, "%.10g", value_of(d, i, kind));
    nnv_json_close(j, ']');
    nnv_json_double(j, "slope", c->trend.slope);
    nnv_json_double(j, "low", c->trend.interval.low);
    nnv_json_double(j, "high", c->trend.interval.high);
    nnv_json_bool(j, "grows", c->grows);
    nnv_json_close(j, '}');
}

/** There was some at some time. */
static bool is_any(const struct nnv_drift *d, int kind) {
    for (int i = 0; i < NNV_DRIFT_BLOCKS; i++)
        if (d->block[i].least[kind] > 0) return true;
    return false;
}

void nnv_drift_json(const struct nnv_drift *d, struct nnv_text *out) {
    struct nnv_json_out j = {.text = out};
    struct course c;
    if (!can_tell(d)) return;
    nnv_json_open(&j, NULL, '[');
    for (int k = 0; k < NNV_DRIFT_KINDS; k++)
        if (is_any(d, k) && course_of(d, k, &c)) add_kind(d, k, &c, &j);
    nnv_json_close(&j, ']');
}
