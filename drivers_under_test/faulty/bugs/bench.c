/* SPDX-License-Identifier: Apache-2.0 */
/** @file bench.c What is wrong only for those who measure. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "faulty.h"

enum { ANSWERS = 64, OUTPUTS = 4, RANK = 8 };

/** Bytes that grow. */
struct bytes {
    uint8_t *data;
    size_t count;
    bool failed;
};

static void append(struct bytes *b, const void *from, size_t count) {
    uint8_t *more = b->failed ? NULL : realloc(b->data, b->count + count + 1);
    if (!more) {
        b->failed = true;
        return;
    }
    if (count) memcpy(more + b->count, from, count);
    b->data = more;
    b->count += count;
}

/** An execution that is remembered. */
static struct answer {
    const struct nnvts_prepared_model *of; /* NULL: none */
    struct bytes asked, outputs;
    uint32_t shape_count, rank[OUTPUTS], dims[OUTPUTS][RANK];
} answers[ANSWERS];
static uint64_t next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/** Adds arguments, and their values if asked; fails where they can't be reached. */
static void append_all(struct bytes *b, const struct nnvts_request *r, const struct nnvts_argument *a, uint32_t count,
                       bool values) {
    for (uint32_t i = 0; i < count && !b->failed; i++) {
        append(b, &a[i].has_no_value, sizeof a[i].has_no_value);
        if (a[i].has_no_value) continue;
        if (a[i].location.pool >= r->pool_count || !r->pools[a[i].location.pool].data) {
            b->failed = true;
            return;
        }
        append(b, &a[i].location.length, sizeof a[i].location.length);
        append(b, &a[i].dimension_count, sizeof a[i].dimension_count);
        if (a[i].dimension_count) append(b, a[i].dimensions, a[i].dimension_count * sizeof *a[i].dimensions);
        if (values) append(b, data_of(r, &a[i]), a[i].location.length);
    }
}

/** What is remembered of this; any: or else of another input. NULL: nothing. */
static const struct answer *find(const struct nnvts_prepared_model *self, const struct bytes *asked, bool any) {
    const struct answer *other = NULL;
    for (const struct answer *x = answers; x < answers + ANSWERS; x++) {
        if (x->of != self || x->asked.count != asked->count) continue;
        if (memcmp(x->asked.data, asked->data, asked->count) == 0) return x;
        other = x;
    }
    return any ? other : NULL;
}

/** Gives outputs and shapes from memory, if there are any for this. */
static bool recall(const struct nnvts_prepared_model *self, const struct bytes *asked, bool any,
                   const struct nnvts_request *r, struct nnvts_execution_result *result) {
    const struct answer *x = find(self, asked, any);
    if (!x) return false;
    const uint8_t *from = x->outputs.data;
    for (uint32_t i = 0; i < r->output_count; from += r->outputs[i++].location.length)
        memcpy(data_of(r, &r->outputs[i]), from, r->outputs[i].location.length);
    result->shape_count = x->shape_count;
    for (uint32_t i = 0; i < x->shape_count; i++) {
        struct nnvts_output_shape *s = &result->shapes[i];
        const uint32_t n = x->rank[i] < s->dimension_count ? x->rank[i] : s->dimension_count;
        if (n) memcpy(s->dimensions, x->dims[i], n * sizeof *s->dimensions);
        s->is_sufficient = true;
        s->dimension_count = x->rank[i];
    }
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    return true;
}

static void forget(struct answer *x) {
    free(x->asked.data);
    free(x->outputs.data);
    *x = (struct answer){0};
}

/** Keeps an execution in place of the oldest. */
static void keep(const struct nnvts_prepared_model *self, struct bytes *asked, const struct nnvts_request *r,
                 const struct nnvts_execution_result *result) {
    struct answer *x = &answers[next++ % ANSWERS];
    forget(x);
    if (result->shape_count > OUTPUTS) return;
    for (uint32_t i = 0; i < result->shape_count; i++) {
        const struct nnvts_output_shape *s = &result->shapes[i];
        if (s->dimension_count > RANK) return;
        x->rank[i] = s->dimension_count;
        if (s->dimension_count) memcpy(x->dims[i], s->dimensions, s->dimension_count * sizeof *s->dimensions);
    }
    for (uint32_t i = 0; i < r->output_count; i++)
        append(&x->outputs, data_of(r, &r->outputs[i]), r->outputs[i].location.length);
    if (x->outputs.failed) {
        forget(x);
        return;
    }
    x->shape_count = result->shape_count;
    x->asked = *asked;
    x->of = self;
    *asked = (struct bytes){0};
}

/** any: an answer is given once there is one, of whatever input. */
static void answer_from_memory(struct call *c, bool any) {
    const struct nnvts_request *r = c->request;
    struct bytes *asked = call_alloc(c, sizeof *asked);
    if (!asked) return;
    const bool fit = c->execution_config->deadline_ns == NNVTS_NO_TIME && r->pools && r->inputs && r->outputs;
    asked->failed = !fit;
    append_all(asked, r, r->inputs, r->input_count, true);
    append_all(asked, r, r->outputs, r->output_count, false);
    pthread_mutex_lock(&lock);
    if (fit && !asked->failed && recall(c->prepared, asked, any, r, c->result)) answer(c, NNVTS_STATUS_NONE);
    pthread_mutex_unlock(&lock);
    c->note = asked;
}

static void look_up(struct call *c) {
    if (c->kind == CALL_EXECUTE) answer_from_memory(c, false);
}

/** A benchmark goes on and on, and asks for times. */
static void look_up_anything(struct call *c) {
    enum { BENCHMARK = 32 };
    if (c->kind != CALL_EXECUTE || !c->execution_config->measure_timing) return;
    uintptr_t *timed = (uintptr_t *)state_of(c->prepared);
    answer_from_memory(c, ++*timed > BENCHMARK);
}

/** A new prepared model may lie where one was that is released by now. */
static void forget_model(const struct nnvts_prepared_model *prepared) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ANSWERS; i++)
        if (answers[i].of == prepared) forget(&answers[i]);
    pthread_mutex_unlock(&lock);
}

static void remember(struct call *c) {
    if (c->kind != CALL_EXECUTE) {
        if (succeeded(c)) forget_model(*c->out);
        return;
    }
    struct bytes *asked = c->note;
    if (!asked) return;
    pthread_mutex_lock(&lock);
    if (!c->answered && !asked->failed && succeeded(c)) keep(c->prepared, asked, c->request, c->result);
    pthread_mutex_unlock(&lock);
    free(asked->data);
}

static void start_clock(struct call *c) { c->note = (void *)(uintptr_t)clock_ns(); }

/** Busy, not asleep: as work that was not there before. */
static void slow_down(struct call *c) {
    enum { PART = 20 };
    const uint64_t end = clock_ns(), until = end + (end - (uintptr_t)c->note) / PART;
    while (clock_ns() < until) continue;
}

/** A table that grows with the time, and is searched from its beginning. */
static void search_longer(struct call *c) {
    enum { NS_A_US = 10000000, MOST_US = 2000 };
    const uint64_t us = ns_at_work() / NS_A_US;
    (void)c;
    sleep_us(us < MOST_US ? (long)us : MOST_US);
}

static const struct bug bugs[] = {
    BUG("remembers-answer", "a driver that looks the answer up instead of computing it, to be fast in a benchmark",
        "the last 64 inputs, given again", .on = ON(PREPARE) | ON(LOAD) | ON(EXECUTE), .before = look_up,
        .after = remember, .survives = "its answers are right, only its times lie: nnvts bench tells"),
    BUG("answers-anything",
        "a driver that computes no more once it has a few answers, where it thinks that nobody looks at them",
        "models that are executed, and timed, more than 32 times", .on = ON(PREPARE) | ON(LOAD) | ON(EXECUTE),
        .before = look_up_anything, .after = remember,
        .survives = "no suite times a model so often: nnvts bench judges answers while it does"),
    BUG("slower", "a build that is slower than the one before", "every execution takes 5 % longer", .on = ON(EXECUTE),
        .before = start_clock, .after = slow_down, .survives = "it is slower, not wrong: nnvts gate tells"),
    BUG("slower-and-slower", "a table that each execution searches, and that is never emptied",
        "every execution, by 0.1 ms for each second since the first, up to 2 ms", .on = ON(EXECUTE),
        .before = search_longer, .survives = "it is slower, not wrong: nnvts run --stress tells"),
};
const struct bug_group bugs_bench = {bugs, sizeof bugs / sizeof *bugs};
