/* SPDX-License-Identifier: Apache-2.0 */
/** @file exec.c Bugs of executions: asynchronous, fenced, reusable; of memory, times and threads. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "faulty.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --------------------------------------------------------------- asynchronous */

struct twice {
    nnvts_execute_callback callback;
    void *context;
};

static void call_twice(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    struct twice t = *(struct twice *)context;
    free(context);
    t.callback(t.context, status, result);
    t.callback(t.context, status, result);
}

static void ask_twice(struct call *c) {
    struct twice *t = malloc(sizeof *t);
    if (!t) {
        answer(c, NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
        return;
    }
    *t = (struct twice){c->callback, c->context};
    c->callback = call_twice;
    c->context = t;
}
static void free_twice(struct call *c) {
    if (!succeeded(c) && !c->answered) free(c->context);
}

/** Keeps the values of the outputs away until the callback has returned. */
static void call_back_early(struct call *c) {
    const struct nnvts_argument *a = c->request->output_count ? &c->request->outputs[0] : NULL;
    uint8_t *out = a ? data_of(c->request, a) : NULL;
    uint8_t *values = out ? call_alloc(c, 2 * (size_t)a->location.length) : NULL;
    struct room room;
    if (!values) return;
    memcpy(values, out, a->location.length);
    answer(c, c->inner->execute(c->inner, c->request, c->execution_config, make_room(&room)));
    memcpy(values + a->location.length, out, a->location.length);
    memcpy(out, values, a->location.length);
    if (succeeded(c)) c->callback(c->context, c->status, &room.result);
    memcpy(out, values + a->location.length, a->location.length);
}

/** Every fiftieth launch is done, but nobody is told. */
static void lose_callback(struct call *c) {
    struct room room;
    if (count_execution(c) % 50 == 49)
        answer(c, c->inner->execute(c->inner, c->request, c->execution_config, make_room(&room)));
}

/** Tells of a refusal twice: by its answer and by a call. */
static void call_back_always(struct call *c) {
    struct nnvts_execution_result none = {.timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    if (!succeeded(c)) c->callback(c->context, c->status, &none);
}

/* --------------------------------------------------------------------- fenced */

static void ignore_fences(struct call *c) {
    c->wait_for = NULL;
    c->wait_for_count = 0;
}

static void wait_for_first(struct call *c) { c->wait_for_count = c->wait_for_count > 1 ? 1 : c->wait_for_count; }

/** Whatever a fence reports is as good as a signal. */
static void ignore_errors(struct call *c) {
    for (uint32_t i = 0; i < c->wait_for_count; i++) {
        struct pollfd p = {.fd = c->wait_for[i], .events = POLLIN};
        if (p.fd < 0) answer(c, NNVTS_STATUS_INVALID_ARGUMENT);
        if (p.fd >= 0) poll(&p, 1, -1);
    }
    ignore_fences(c);
}

/** Claims to have ended at once. */
static void end_early(struct call *c) {
    if (succeeded(c)) c->fenced->sync_fence = -1;
}

static enum nnvts_status answer_at_once(void *context, struct nnvts_fenced_result *result) {
    const struct nnvts_timing none = {NNVTS_NO_TIME, NNVTS_NO_TIME};
    (void)context;
    *result = (struct nnvts_fenced_result){NNVTS_STATUS_NONE, none, none};
    return NNVTS_STATUS_NONE;
}

/** get_result does not wait, and knows of no failure. */
static void answer_blindly(struct call *c) {
    if (succeeded(c)) c->fenced->get_result = answer_at_once;
}

/** Times from the launch given for those from the fences. */
static enum nnvts_status answer_from_launch(void *context, struct nnvts_fenced_result *result) {
    struct nnvts_fenced_execution *right = context;
    const enum nnvts_status st = right->get_result(right->context, result);
    result->fenced = result->launched;
    return st;
}
static void free_right(void *context) {
    struct nnvts_fenced_execution *right = context;
    right->release(right->context);
    free(right);
}
static void measure_from_launch(struct call *c) {
    struct nnvts_fenced_execution *right = succeeded(c) ? malloc(sizeof *right) : NULL;
    if (!right) return;
    *right = *c->fenced;
    c->fenced->context = right;
    c->fenced->get_result = answer_from_launch;
    c->fenced->release = free_right;
}

static void nothing_to_free(void *context) { (void)context; }

/** Outputs of any extents will do. */
static void accept_open(struct call *c) {
    struct room room;
    if (c->status != NNVTS_STATUS_INVALID_ARGUMENT) return;
    c->status = c->inner->execute(c->inner, c->request, c->execution_config, make_room(&room));
    *c->fenced = (struct nnvts_fenced_execution){-1, NULL, answer_at_once, nothing_to_free};
}

/* ------------------------------------------------------------------- reusable */

/** An execution that keeps the outputs of the first time. */
struct memo {
    struct nnvts_execution base;
    struct nnvts_execution *inner;
    uint8_t *out, *values;
    uint32_t bytes;
    bool filled;
};

static enum nnvts_status memo_execute(struct nnvts_execution *self, uint64_t deadline_ns,
                                      struct nnvts_execution_result *result) {
    struct memo *m = (struct memo *)self;
    enum nnvts_status st = m->inner->execute(m->inner, deadline_ns, result);
    if (!m->out || st != NNVTS_STATUS_NONE) return st;
    if (m->filled)
        memcpy(m->out, m->values, m->bytes);
    else
        memcpy(m->values, m->out, m->bytes);
    m->filled = true;
    return st;
}

static void memo_release(struct nnvts_execution *self) {
    struct memo *m = (struct memo *)self;
    m->inner->release(m->inner);
    free(m->values);
    free(m);
}

static void keep_first_outputs(struct call *c) {
    struct memo *m = succeeded(c) ? calloc(1, sizeof *m) : NULL;
    if (!m) return;
    m->base = (struct nnvts_execution){sizeof m->base, memo_execute, memo_release};
    m->inner = *c->reusable;
    m->bytes = c->request->outputs[0].location.length;
    m->values = malloc(m->bytes + 1u);
    m->out = m->values ? data_of(c->request, &c->request->outputs[0]) : NULL;
    *c->reusable = &m->base;
}

/** A deadline that was missed once is missed for ever. */
static enum nnvts_status sticky_execute(struct nnvts_execution *self, uint64_t deadline_ns,
                                        struct nnvts_execution_result *result) {
    struct memo *m = (struct memo *)self;
    if (m->filled) {
        result->shape_count = 0;
        return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    }
    enum nnvts_status st = m->inner->execute(m->inner, deadline_ns, result);
    m->filled = st == NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT || st == NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    return st;
}

static void miss_for_ever(struct call *c) {
    keep_first_outputs(c);
    if (succeeded(c) && (*c->reusable)->execute == memo_execute) (*c->reusable)->execute = sticky_execute;
}

/* ---------------------------------------------------------- memory and threads */

/** Scratch memory of the process: what lies in it may be another execution's before it is used. */
static void share_scratch(struct call *c) {
    static uint8_t scratch[4096];
    const struct value *v = c->outputs;
    if (!succeeded(c) || !c->request->output_count || !v->bytes || v->bytes > sizeof scratch || !v->data) return;
    pthread_mutex_lock(&lock);
    memcpy(scratch, v->data, v->bytes);
    pthread_mutex_unlock(&lock);
    sleep_us(200);
    pthread_mutex_lock(&lock);
    memcpy(v->data, scratch, v->bytes);
    pthread_mutex_unlock(&lock);
}

/** A request at the same place as the last one has, so it is thought, the same result. */
static void cache_output(struct call *c) {
    static uint8_t last[4096];
    static const uint8_t *last_in, *last_out;
    if (!succeeded(c) || !c->request->input_count || !c->request->output_count) return;
    const struct value *in = &c->inputs[0], *out = &c->outputs[0];
    if (!in->data || !out->data || out->bytes > sizeof last) return;
    pthread_mutex_lock(&lock);
    if (in->data == last_in && out->data == last_out)
        memcpy(out->data, last, out->bytes);
    else
        memcpy(last, out->data, out->bytes);
    last_in = in->data;
    last_out = out->data;
    pthread_mutex_unlock(&lock);
}

/** Now and then the first output is that of the execution before, of this prepared model or else of another one. */
static void take_answer(struct call *c, bool own) {
    enum { MOST = 4096, PAST = 16, NOW_AND_THEN = 61 };
    static struct past {
        const struct nnvts_prepared_model *of; /* NULL: none */
        uint32_t bytes;
        uint8_t data[MOST];
    } past[PAST];
    static unsigned next;
    const struct value *v = c->outputs;
    struct past *mine = NULL;
    const struct past *from = NULL;
    uint8_t right[MOST];
    if (!succeeded(c) || !c->request->output_count || !v->data || v->bytes > MOST) return;
    memcpy(right, v->data, v->bytes);
    pthread_mutex_lock(&lock);
    for (struct past *p = past; p < past + PAST && p->of; p++) {
        if (p->of == c->prepared) mine = p;
        if ((p->of == c->prepared) == own && p->bytes == v->bytes) from = p;
    }
    if (from && c->count % NOW_AND_THEN == 0) memcpy(v->data, from->data, v->bytes);
    if (!mine) mine = &past[next++ % PAST];
    mine->of = c->prepared;
    memcpy(mine->data, right, mine->bytes = v->bytes);
    pthread_mutex_unlock(&lock);
}

static void late_answer(struct call *c) { take_answer(c, true); }
static void answer_of_another(struct call *c) { take_answer(c, false); }

/** The end of a result that a thread of the driver has still to write. */
struct rest {
    uint8_t *pool;
    size_t size, at, bytes;
    uint8_t values[64];
};
static atomic_int rests;

static void *write_rest(void *arg) {
    enum { LATER_US = 5000 };
    struct rest *r = arg;
    sleep_us(LATER_US);
    memcpy(r->pool + r->at, r->values, r->bytes);
    munmap(r->pool, r->size);
    free(r);
    atomic_fetch_sub(&rests, 1);
    return NULL;
}

static bool map_rest(const struct call *c, struct rest *r) {
    const struct nnvts_location *place = &c->request->outputs[0].location;
    const struct nnvts_memory *m = &c->request->pools[place->pool];
    const struct value *v = &c->outputs[0];
    r->size = (size_t)m->size;
    r->bytes = v->bytes < sizeof r->values ? v->bytes : sizeof r->values;
    r->at = place->offset + v->bytes - r->bytes;
    memcpy(r->values, v->data + v->bytes - r->bytes, r->bytes);
    void *pool = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, (off_t)m->offset);
    r->pool = pool;
    return pool != MAP_FAILED;
}

/** The right values come a second time, when the memory may be somebody else's. */
static void write_later(struct call *c) {
    enum { MOST = 64, STACK_BYTES = 64 << 10 };
    pthread_attr_t small;
    pthread_t thread;
    struct rest *r;
    if (!succeeded(c) || !c->request->output_count || !c->outputs[0].data || !c->outputs[0].bytes) return;
    if (atomic_fetch_add(&rests, 1) < MOST && (r = calloc(1, sizeof *r))) {
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, STACK_BYTES);
        const bool mapped = map_rest(c, r), started = mapped && pthread_create(&thread, &small, write_rest, r) == 0;
        pthread_attr_destroy(&small);
        if (started) {
            pthread_detach(thread);
            return;
        }
        if (mapped) munmap(r->pool, r->size);
        free(r);
    }
    atomic_fetch_sub(&rests, 1);
}

/** Maps files from their beginning, whatever the pool's offset. */
static void forget_offsets(struct call *c) {
    const struct nnvts_request *r = c->request;
    struct nnvts_memory *pools = r->pools ? call_alloc(c, r->pool_count * sizeof *pools) : NULL;
    if (!pools) return;
    memcpy(pools, r->pools, r->pool_count * sizeof *pools);
    for (uint32_t i = 0; i < r->pool_count; i++)
        if (!pools[i].data) pools[i].offset = 0;
    own_request(c)->pools = pools;
}

static void need_pointers(struct call *c) {
    for (uint32_t i = 0; i < c->request->pool_count && c->request->pools; i++) {
        if (c->request->pools[i].data) continue;
        c->result->shape_count = 0;
        answer(c, NNVTS_STATUS_GENERAL_FAILURE);
    }
}

/* ---------------------------------------------------------------------- times */

static bool is_timed(const struct call *c) { return c->result->timing.in_driver_ns != NNVTS_NO_TIME; }

static void more_on_device(struct call *c) {
    if (is_timed(c)) c->result->timing.on_device_ns = c->result->timing.in_driver_ns + 1;
}

/** Microseconds said to be milliseconds. */
static void wrong_unit(struct call *c) {
    if (is_timed(c)) c->result->timing.in_driver_ns *= 1000;
}

static void make_up_times(struct call *c) {
    if (is_timed(c)) c->result->timing = (struct nnvts_timing){100, 100};
}

/** Places as the hardware addresses them, in words. */
static void round_offsets(struct call *c) {
    const uint32_t n = c->request->input_count;
    struct nnvts_argument *inputs = c->request->inputs ? call_alloc(c, ((size_t)n + 1) * sizeof *inputs) : NULL;
    if (!inputs) return;
    memcpy(inputs, c->request->inputs, n * sizeof *inputs);
    for (uint32_t i = 0; i < n; i++) inputs[i].location.offset &= ~UINT32_C(3);
    own_request(c)->inputs = inputs;
}

static const struct bug bugs[] = {
    BUG("async-twice", "a callback that comes twice", "asynchronous executions", .on = ON(ASYNC), .before = ask_twice,
        .after = free_twice),
    BUG("async-early", "a callback before the values are written", "asynchronous executions", .on = ON(ASYNC),
        .before = call_back_early),
    BUG("async-lost", "a callback that never comes", "every fiftieth asynchronous execution", .on = ON(ASYNC),
        .before = lose_callback),
    BUG("async-loud", "a callback though the launch failed", "launches that are refused", .on = ON(ASYNC),
        .after = call_back_always),
    BUG("fence-ignored", "dependencies that are not waited for", "fenced executions", .on = ON(FENCED),
        .before = ignore_fences),
    BUG("fence-first-only", "only the first dependency is waited for", "fenced executions", .on = ON(FENCED),
        .before = wait_for_first),
    BUG("fence-errors-ignored", "a failing fence taken for a signal", "fenced executions", .on = ON(FENCED),
        .before = ignore_errors),
    BUG("fence-early", "an end that is signalled at the launch", "fenced executions", .on = ON(FENCED),
        .after = end_early),
    BUG("fence-blind", "get_result that does not wait", "fenced executions", .on = ON(FENCED), .after = answer_blindly),
    BUG("fence-times-launch", "times that begin with the launch", "fenced executions that are measured",
        .on = ON(FENCED), .after = measure_from_launch),
    BUG("fence-open-outputs", "outputs of unknown size behind a fence", "fenced executions", .on = ON(FENCED),
        .after = accept_open),
    BUG("reusable-stale", "a reusable execution that keeps its first result", "reusable executions", .on = ON(REUSABLE),
        .after = keep_first_outputs),
    BUG("reusable-missed", "a deadline missed once is missed for ever", "reusable executions", .on = ON(REUSABLE),
        .after = miss_for_ever),
    BUG("offset-in-words", "places in memory in words of four bytes", "inputs at other offsets than multiples of 4",
        .on = ON(EXECUTE), .before = round_offsets),
    BUG("pool-offset-ignored", "a file mapped from its beginning", "pools without a pointer", .on = ON(EXECUTE),
        .before = forget_offsets),
    BUG("pool-needs-pointer", "memory that is not mapped for the driver is refused", "pools without a pointer",
        .on = ON(EXECUTE), .before = need_pointers),
    BUG("scratch-shared", "scratch memory shared by all executions", "executions in several threads",
        .tamper = share_scratch),
    BUG("output-cached", "a result kept by the request's address", "a request with other inputs at its place",
        .tamper = cache_output),
    BUG("answer-late", "a result that comes an execution late", "each 61st execution of a process",
        .tamper = late_answer),
    BUG("answer-of-another", "the result of another prepared model", "each 61st execution of a process",
        .tamper = answer_of_another),
    BUG("write-later", "a thread that writes the end of a result when the execution has returned", "all outputs",
        .tamper = write_later),
    BUG("timing-device", "more time on the device than in the driver", "executions that are measured",
        .tamper = more_on_device),
    BUG("timing-wall", "a wrong unit of time", "executions that are measured", .tamper = wrong_unit),
    BUG("timing-constant", "times that are made up", "executions that are measured", .tamper = make_up_times),
};
const struct bug_group bugs_exec = {bugs, sizeof bugs / sizeof *bugs};
