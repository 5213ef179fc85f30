/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/gate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"

const double nnv_gate_quantiles[NNV_GATE_QUANTILES] = {0.5, 0.9, 0.99};

/* Beyond these the machine, not the driver, is measured. */
static const double MOST_STEAL = 0.05;
static const double MOST_SPEED = 1.5;  /* the processor's speed, fastest by slowest */
static const double CONTROL_P = 0.001; /* two equal drivers this far apart: something is wrong with the machine */
static const double CONFIDENCE = 0.99; /* of intervals */
static const double FOUND = 0.9;       /* share of runs that find the detectable change */

const char *nnv_gate_verdict_name(enum nnv_gate_verdict v) {
    static const char *const names[NNV_GATE_VERDICTS] = {"go on", "pass", "slower", "invalid"};
    return names[v];
}

/* -------------------------------------------------------------------- chance */

static void shuffle(struct nnv_rng *rng, enum nnv_gate_part *parts) {
    for (int i = 0; i < NNV_GATE_PARTS; i++) parts[i] = (enum nnv_gate_part)i;
    for (int i = NNV_GATE_PARTS - 1; i > 0; i--) {
        int k = (int)nnv_rng_int(rng, 0, i);
        enum nnv_gate_part was = parts[i];
        parts[i] = parts[k];
        parts[k] = was;
    }
}

void nnv_gate_roles(uint64_t seed, uint32_t block, enum nnv_gate_part part[NNV_GATE_PARTS]) {
    struct nnv_rng rng = nnv_rng_make(seed, block, UINT64_MAX);
    shuffle(&rng, part);
}

void nnv_gate_order(uint64_t seed, uint32_t block, uint32_t round, enum nnv_gate_part order[NNV_GATE_PARTS]) {
    struct nnv_rng rng = nnv_rng_make(seed, block, round);
    shuffle(&rng, order);
}

/* -------------------------------------------------------------------- blocks */

/** Log of the quantile of n times, at least 1 ns. */
static double log_quantile(const double *ns, size_t n, enum nnv_gate_quantile q) {
    double sorted[NNV_GATE_ROUNDS * NNV_GATE_BURST];
    memcpy(sorted, ns, n * sizeof *ns);
    nnv_sort(sorted, n);
    return log(fmax(1, q == NNV_GATE_P50 ? nnv_median(sorted, n) : nnv_quantile(sorted, n, nnv_gate_quantiles[q])));
}

static double part_quantile(const struct nnv_gate_times *t, enum nnv_gate_part part, enum nnv_gate_quantile q) {
    double all[NNV_GATE_ROUNDS * NNV_GATE_BURST];
    for (uint32_t r = 0; r < NNV_GATE_ROUNDS; r++)
        memcpy(all + (size_t)r * t->burst, t->ns[part][r], t->burst * sizeof *all);
    return log_quantile(all, (size_t)NNV_GATE_ROUNDS * t->burst, q);
}

static void compare(const struct nnv_gate_times *t, enum nnv_gate_part part, double *ratio) {
    double pair[NNV_GATE_ROUNDS];
    for (uint32_t r = 0; r < NNV_GATE_ROUNDS; r++)
        pair[r] = log_quantile(t->ns[part][r], t->burst, NNV_GATE_P50) -
                  log_quantile(t->ns[NNV_GATE_AGAINST][r], t->burst, NNV_GATE_P50);
    nnv_sort(pair, NNV_GATE_ROUNDS);
    ratio[NNV_GATE_P50] = nnv_median(pair, NNV_GATE_ROUNDS);
    for (int q = NNV_GATE_P90; q < NNV_GATE_QUANTILES; q++)
        ratio[q] = part_quantile(t, part, (enum nnv_gate_quantile)q) -
                   part_quantile(t, NNV_GATE_AGAINST, (enum nnv_gate_quantile)q);
}

void nnv_gate_block_make(const struct nnv_gate_times *t, struct nnv_gate_block *block) {
    compare(t, NNV_GATE_TESTED, block->ratio);
    compare(t, NNV_GATE_CONTROL, block->control);
}

/* ---------------------------------------------------------------- detectable */

/** The sum of the ranks above 0 of n numbers that are shifted, the smallest size first. */
static double rank_sum(const double *x, uint32_t n, double shift) {
    struct sized {
        double size;
        bool above;
    } s[NNV_GATE_BLOCKS];
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) { /* insertion: n is small */
        double v = x[i] + shift;
        uint32_t k = i;
        for (; k > 0 && s[k - 1].size > fabs(v); k--) s[k] = s[k - 1];
        s[k] = (struct sized){fabs(v), v > 0};
    }
    for (uint32_t i = 0; i < n; i++) sum += s[i].above ? i + 1 : 0;
    return sum;
}

/** The least sum of ranks that is an alarm among n. */
static double critical_sum(uint32_t n, double limit) {
    double sign[NNV_GATE_BLOCKS] = {0};
    uint32_t low = 0, high = n; /* the largest ranks below 0: alarm with `low` of the smallest, none with `high` */
    for (uint32_t i = 0; i < n; i++) sign[i] = i + 1;
    if (nnv_signed_rank(sign, n) > limit) return INFINITY;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        for (uint32_t i = 0; i < n; i++) sign[i] = i < middle ? -(double)(i + 1) : i + 1;
        if (nnv_signed_rank(sign, n) <= limit)
            low = middle;
        else
            high = middle;
    }
    return n * (n + 1) / 2.0 - low * (low + 1) / 2.0;
}

/**
 * The smallest slowdown that blocks like these show: their ratios about their median, drawn again and again with the
 * slowdown put in. The wider of the tested pair and the control is taken.
 */
static double detectable(const struct nnv_gate_block *blocks, uint32_t n, const struct nnv_gate_options *o,
                         double limit) {
    enum { DRAWS = 100, STEPS = 12 };
    double spread[2][NNV_GATE_BLOCKS] = {{0}}, least = 0, critical = critical_sum(n, limit);
    if (isinf(critical)) return INFINITY;
    for (int which = 0; which < 2; which++) {
        double *x = spread[which], sorted[NNV_GATE_BLOCKS];
        for (uint32_t i = 0; i < n; i++) x[i] = which ? blocks[i].control[NNV_GATE_P50] : blocks[i].ratio[NNV_GATE_P50];
        memcpy(sorted, x, n * sizeof *x);
        nnv_sort(sorted, n);
        double median = nnv_median(sorted, n), low = o->margin,
               high = o->margin + 2 * (sorted[n - 1] - sorted[0]) + 1e-6;
        for (uint32_t i = 0; i < n; i++) x[i] -= median;
        for (int step = 0; step < STEPS; step++) {
            double middle = (low + high) / 2, drawn[NNV_GATE_BLOCKS];
            int found = 0;
            for (int d = 0; d < DRAWS; d++) {
                struct nnv_rng rng = nnv_rng_make(o->seed, (uint64_t)d, 0xde7ec7);
                for (uint32_t i = 0; i < n; i++) drawn[i] = x[nnv_rng_int(&rng, 0, (int64_t)n - 1)];
                found += rank_sum(drawn, n, middle - o->margin) >= critical;
            }
            if (found >= FOUND * DRAWS)
                high = middle;
            else
                low = middle;
        }
        least = fmax(least, high);
    }
    return exp(least);
}

/* ------------------------------------------------------------------ decision */

static uint32_t look_after(int look, uint32_t blocks) {
    static const uint32_t part[NNV_GATE_LOOKS] = {4, 2, 1};
    return (blocks + part[look] - 1) / part[look];
}

bool nnv_gate_is_look(uint32_t n, const struct nnv_gate_options *o) {
    for (int i = 0; i < NNV_GATE_LOOKS; i++)
        if (n == look_after(i, o->blocks)) return true;
    return false;
}

/** How p may be at this look: the limits of all looks sum up to the false alarms allowed. */
static double limit_at(uint32_t n, const struct nnv_gate_options *o) {
    return n >= o->blocks ? o->alarms / 2 : o->alarms / 4;
}

/** Median and interval of a quantile's ratio over blocks, as factors. */
static double summarise(const struct nnv_gate_block *blocks, uint32_t n, bool control, int q, struct nnv_interval *i) {
    double x[NNV_GATE_BLOCKS] = {0};
    for (uint32_t k = 0; k < n; k++) x[k] = control ? blocks[k].control[q] : blocks[k].ratio[q];
    nnv_sort(x, n);
    *i = nnv_quantile_interval(x, n, 0.5, CONFIDENCE);
    i->low = exp(i->low);
    i->high = exp(i->high);
    return exp(nnv_median(x, n));
}

/** Two-sided, of the control's blocks. */
static double control_test(const struct nnv_gate_block *blocks, uint32_t n) {
    double up[NNV_GATE_BLOCKS] = {0}, down[NNV_GATE_BLOCKS] = {0};
    for (uint32_t i = 0; i < n; i++) down[i] = -(up[i] = blocks[i].control[NNV_GATE_P50]);
    return fmin(1, 2 * fmin(nnv_signed_rank(up, n), nnv_signed_rank(down, n)));
}

static double speed_change(const struct nnv_gate_block *blocks, uint32_t n) {
    double x[NNV_GATE_BLOCKS] = {0};
    for (uint32_t i = 0; i < n; i++) x[i] = blocks[i].yardstick_ns;
    nnv_sort(x, n);
    double low = nnv_quantile(x, n, 0.1);
    return low > 0 ? nnv_quantile(x, n, 0.9) / low : 1;
}

/** What is wrong with the machine, into a->why; false: nothing. */
static bool is_noisy(struct nnv_gate_answer *a, double steal) {
    if (steal > MOST_STEAL)
        snprintf(a->why, sizeof a->why, "%.0f %% of the processors' time was taken by other machines (steal)",
                 100 * steal);
    else if (a->speed > MOST_SPEED)
        snprintf(a->why, sizeof a->why, "the processor's speed changed by a factor of %.2f", a->speed);
    else if (a->control_p <= CONTROL_P)
        snprintf(a->why, sizeof a->why, "the control, one driver against itself, differs by %+.1f %% (p %.2g)",
                 100 * (a->control - 1), a->control_p);
    else if (a->verdict == NNV_GATE_SLOWER && !(a->interval[NNV_GATE_P50].low > a->control_interval.high))
        snprintf(a->why, sizeof a->why, "the difference does not stand out of the control's, up to %+.1f %%",
                 100 * (a->control_interval.high - 1));
    return a->why[0] != '\0';
}

void nnv_gate_look(const struct nnv_gate_block *blocks, uint32_t n, const struct nnv_gate_options *o, double steal,
                   struct nnv_gate_answer *a) {
    double x[NNV_GATE_BLOCKS] = {0};
    *a = (struct nnv_gate_answer){.verdict = NNV_GATE_GO_ON, .limit = limit_at(n, o)};
    for (uint32_t i = 0; i < n; i++) x[i] = blocks[i].ratio[NNV_GATE_P50] - o->margin;
    a->p = nnv_signed_rank(x, n);
    a->control_p = control_test(blocks, n);
    for (int q = 0; q < NNV_GATE_QUANTILES; q++) a->ratio[q] = summarise(blocks, n, false, q, &a->interval[q]);
    a->control = summarise(blocks, n, true, NNV_GATE_P50, &a->control_interval);
    a->speed = speed_change(blocks, n);
    const bool last = n >= o->blocks;
    if (!nnv_gate_is_look(n, o)) return;
    if (a->p <= a->limit)
        a->verdict = NNV_GATE_SLOWER;
    else if (a->interval[NNV_GATE_P50].high < exp(o->detect))
        a->verdict = NNV_GATE_PASS;
    if ((a->verdict != NNV_GATE_GO_ON || last) && is_noisy(a, steal)) {
        /* at an early look more blocks may still make it clear */
        a->verdict = last ? NNV_GATE_INVALID : NNV_GATE_GO_ON;
    } else if (last && a->verdict == NNV_GATE_GO_ON) {
        a->verdict = NNV_GATE_INVALID;
        snprintf(a->why, sizeof a->why, "times vary too much to exclude a slowdown of %.1f %%: up to %+.1f %%",
                 100 * (exp(o->detect) - 1), 100 * (a->interval[NNV_GATE_P50].high - 1));
    }
    if (a->verdict != NNV_GATE_GO_ON) a->detectable = detectable(blocks, n, o, o->alarms / 2);
}

void nnv_gate_end_early(const struct nnv_gate_block *blocks, uint32_t n, const struct nnv_gate_options *o, double steal,
                        struct nnv_gate_answer *a) {
    if (n == 0)
        *a = (struct nnv_gate_answer){.verdict = NNV_GATE_GO_ON, .p = NAN, .control_p = NAN, .speed = 1};
    else
        nnv_gate_look(blocks, n, o, steal, a);
    if (a->verdict != NNV_GATE_GO_ON) return;
    a->verdict = NNV_GATE_INVALID;
    a->detectable = INFINITY; /* they are too few to say */
    snprintf(a->why, sizeof a->why, "interrupted after %u of at most %u blocks", n, o->blocks);
}
