/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_bench.c What is wrong only for those who measure. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static uint8_t *place_of(const struct nnvts_request *r, const struct nnvts_argument *a) {
    return (uint8_t *)r->pools[a->location.pool].data + a->location.offset;
}

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
        if (values) append(b, place_of(r, &a[i]), a[i].location.length);
    }
}

/** Gives outputs and shapes from memory, if there are any for this. */
static bool recall(const struct nnvts_prepared_model *self, const struct bytes *asked, const struct nnvts_request *r,
                   struct nnvts_execution_result *result) {
    const struct answer *x = answers, *end = answers + ANSWERS;
    while (x < end &&
           (x->of != self || x->asked.count != asked->count || memcmp(x->asked.data, asked->data, asked->count) != 0))
        x++;
    if (x == end) return false;
    const uint8_t *from = x->outputs.data;
    for (uint32_t i = 0; i < r->output_count; from += r->outputs[i++].location.length)
        memcpy(place_of(r, &r->outputs[i]), from, r->outputs[i].location.length);
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
        append(&x->outputs, place_of(r, &r->outputs[i]), r->outputs[i].location.length);
    if (x->outputs.failed) {
        forget(x);
        return;
    }
    x->shape_count = result->shape_count;
    x->asked = *asked;
    x->of = self;
    *asked = (struct bytes){0};
}

static enum nnvts_status execute_once(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                      const struct nnvts_execution_config *config,
                                      struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    struct bytes asked = {.failed = config->deadline_ns != NNVTS_NO_TIME || !r->pools || !r->inputs || !r->outputs};
    append_all(&asked, r, r->inputs, r->input_count, true);
    append_all(&asked, r, r->outputs, r->output_count, false);
    pthread_mutex_lock(&lock);
    bool known = !asked.failed && recall(self, &asked, r, result);
    pthread_mutex_unlock(&lock);
    enum nnvts_status status = known ? NNVTS_STATUS_NONE : inner->execute(inner, r, config, result);
    pthread_mutex_lock(&lock);
    if (!known && !asked.failed && status == NNVTS_STATUS_NONE) keep(self, &asked, r, result);
    pthread_mutex_unlock(&lock);
    free(asked.data);
    return status;
}

/** A new prepared model may lie where one was that is released by now. */
static void remember(struct nnvts_prepared_model *prepared) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ANSWERS; i++)
        if (answers[i].of == prepared) forget(&answers[i]);
    pthread_mutex_unlock(&lock);
    prepared->execute = execute_once;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/** Busy, not asleep: as work that was not there before. */
static enum nnvts_status execute_slowly(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                        const struct nnvts_execution_config *config,
                                        struct nnvts_execution_result *result) {
    enum { PART = 20 };
    struct nnvts_prepared_model *inner = faulty_inner(self);
    uint64_t begin = now_ns();
    enum nnvts_status status = inner->execute(inner, r, config, result);
    uint64_t end = now_ns(), until = end + (end - begin) / PART;
    while (now_ns() < until) continue;
    return status;
}

static void slow_down(struct nnvts_prepared_model *prepared) { prepared->execute = execute_slowly; }

static const struct bug bugs[] = {
    BUG("remembers-answer", "a driver that looks the answer up instead of computing it, to be fast in a benchmark",
        "the last 64 inputs, given again", .prepared = remember,
        .survives = "its answers are right, only its times lie: nnvts bench tells"),
    BUG("slower", "a build that is slower than the one before", "every execution takes 5 % longer",
        .prepared = slow_down, .survives = "it is slower, not wrong: nnvts gate tells"),
};
const struct bug_group bugs_bench = {bugs, sizeof bugs / sizeof *bugs};
