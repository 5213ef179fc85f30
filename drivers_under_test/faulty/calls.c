/* SPDX-License-Identifier: Apache-2.0 */
/** @file calls.c A call with the bug before and behind it, and what bugs need for that. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"

struct call_block {
    struct call_block *next;
    max_align_t data[];
};

void *call_alloc(struct call *c, size_t bytes) {
    struct call_block *b = calloc(1, sizeof *b + bytes);
    if (!b) {
        answer(c, NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
        return NULL;
    }
    b->next = c->blocks;
    c->blocks = b;
    return b->data;
}

bool faulty_fires(const struct faulty_device *d, const struct nnvts_model *model) {
    if (d->bug->alone && model->main.operation_count != 1) return false;
    if (d->bug->concerns && !d->bug->concerns(model)) return false;
    if (d->op == ANY_OPERATION) return true;
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        if (model->main.operations[i].type == d->op) return true;
    return false;
}

/** Models are only looked into when the other driver has taken them for valid. */
static bool fires(const struct call *c) {
    const struct faulty_device *d = (const struct faulty_device *)c->device;
    if (c->prepared) return ((const struct faulty_prepared *)c->prepared)->fires;
    if (d->op == ANY_OPERATION && !d->bug->alone && !d->bug->concerns) return true;
    return c->model && c->status == NNVTS_STATUS_NONE && faulty_fires(d, c->model);
}

static bool is_concerned(const struct call *c, const struct bug *bug) {
    return bug->on >> c->kind & 1 && fires(c) && (!bug->when || bug->when(c));
}

/** Gives another status, and what was made back. */
static void turn(struct call *c, const struct bug *bug) {
    if ((!bug->from && bug->to == NNVTS_STATUS_NONE) || (uint32_t)c->status >= 32) return;
    if (!((bug->from ? bug->from : WAS(NONE)) >> c->status & 1) || !is_concerned(c, bug)) return;
    if (c->kind == CALL_PREPARE && succeeded(c)) (*c->out)->release(*c->out);
    c->status = bug->to;
}

enum nnvts_status faulty_call(struct call *c, void (*ask)(struct call *c)) {
    const struct bug *bug = ((const struct faulty_device *)c->device)->bug;
    const bool early = (bug->strike || bug->before) && is_concerned(c, bug);
    if (early && bug->strike) bug->strike();
    if (early && bug->before) bug->before(c);
    if (!c->answered) ask(c);
    if (!early && bug->strike && is_concerned(c, bug)) bug->strike();
    turn(c, bug);
    if (bug->after && is_concerned(c, bug)) bug->after(c);
    while (c->blocks) {
        struct call_block *next = c->blocks->next;
        free(c->blocks);
        c->blocks = next;
    }
    return c->status;
}

/* ----------------------------------------------------------------- for hooks */

void answer(struct call *c, enum nnvts_status status) {
    c->answered = true;
    c->status = status;
}

bool succeeded(const struct call *c) { return c->status == NNVTS_STATUS_NONE; }

bool was_missed(const struct call *c) {
    return c->status == NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT || c->status == NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
}

#define OWN(type, function, from, to)                                                                                  \
    type *function(struct call *c) {                                                                                   \
        if (c->from != &c->own.to) c->own.to = *c->from;                                                               \
        c->from = &c->own.to;                                                                                          \
        return &c->own.to;                                                                                             \
    }
OWN(struct nnvts_request, own_request, request, request)
OWN(struct nnvts_prepare_config, own_config, config, config)
OWN(struct nnvts_cache, own_cache, cache, cache)
OWN(struct nnvts_buffer_desc, own_desc, desc, desc)

void each_output(struct call *c, void (*work)(const struct call *c, const struct value *v)) {
    for (uint32_t i = 0; i < c->request->output_count && succeeded(c); i++)
        if (c->outputs[i].data && c->outputs[i].bytes) work(c, &c->outputs[i]);
}

uint8_t *data_of(const struct nnvts_request *r, const struct nnvts_argument *a) {
    if (a->has_no_value || a->location.pool >= r->pool_count || !r->pools[a->location.pool].data) return NULL;
    return (uint8_t *)r->pools[a->location.pool].data + a->location.offset;
}

void flip_outputs(struct call *c) {
    for (uint32_t i = 0; i < c->request->output_count && succeeded(c); i++) {
        uint8_t *data = data_of(c->request, &c->request->outputs[i]);
        const uint32_t length = c->request->outputs[i].location.length;
        if (data && length) data[length - 1] ^= 0x40; /* of the top byte of the last value */
    }
}

void **state_of(struct nnvts_prepared_model *prepared) { return &((struct faulty_prepared *)prepared)->state; }

void forget_open_extents(const struct nnvts_prepared_model *prepared, uint32_t i, struct nnvts_output_shape *shape) {
    const struct faulty_prepared *p = (const struct faulty_prepared *)prepared;
    const struct signature *s = &p->outputs[i];
    for (uint32_t k = 0; i < p->nout && k < shape->dimension_count; k++)
        if (s->rank == 0 || (s->rank <= 4 && s->dims[k] == 0)) shape->dimensions[k] = 0;
}

uint64_t count_execution(struct call *c) {
    return atomic_fetch_add(&((struct faulty_device *)c->device)->executions, 1);
}

struct nnvts_execution_result *make_room(struct room *r) {
    *r = (struct room){.result = {.shapes = r->shapes}};
    for (int i = 0; i < 8; i++) r->shapes[i] = (struct nnvts_output_shape){false, 8, r->dims[i]};
    return &r->result;
}

bool differs_from_first(const struct call *c, uint64_t number) {
    static _Atomic(void *) used;
    static _Atomic uint64_t kept;
    if (c->kind != CALL_RELEASE && used == (void *)c->prepared) return kept != number;
    used = c->kind == CALL_RELEASE ? NULL : (void *)c->prepared;
    kept = number;
    return false;
}

uint64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t ns_at_work(void) {
    static atomic_ullong begun;
    unsigned long long first = 0, now = clock_ns();
    return atomic_compare_exchange_strong(&begun, &first, now) ? 0 : now - first;
}

void sleep_us(long us) { nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL); }

bool is_float32(int32_t type) { return type == ANEURALNETWORKS_TENSOR_FLOAT32; }

/* --------------------------------------------------------------------- device */

static enum nnvts_device_status get_status(struct nnvts_device *self) {
    struct nnvts_device *inner = ((struct faulty_device *)self)->inner;
    return inner->get_status(inner);
}

#define DEVICE_CALL(of, ...)                                                                                           \
    struct call c = {.kind = (of),                                                                                     \
                     .device = self,                                                                                   \
                     .inner_device = ((struct faulty_device *)self)->inner,                                            \
                     .status = NNVTS_STATUS_GENERAL_FAILURE,                                                           \
                     __VA_ARGS__}

static void ask_supported(struct call *c) {
    c->status = c->inner_device->get_supported_operations(c->inner_device, c->model, c->supported);
}

static enum nnvts_status get_supported_operations(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported) {
    DEVICE_CALL(CALL_SUPPORTED, .model = model, .supported = supported);
    return faulty_call(&c, ask_supported);
}

static void ask_prepare(struct call *c) {
    struct faulty_device *d = (struct faulty_device *)c->device;
    struct nnvts_prepared_model *inner = NULL, *other = NULL;
    /* Only what the inner driver takes for valid is looked into. */
    c->status = d->inner->prepare_model(d->inner, c->model, c->config, &inner);
    if (!succeeded(c)) return;
    const bool rewritten = faulty_edits(d->bug) && faulty_fires(d, c->model) &&
                           faulty_prepare_edited(d->inner, d->bug, d->op, c->model, c->config, &other);
    if (rewritten) {
        inner->release(inner);
        inner = other;
    }
    struct faulty_prepared *p = faulty_wrap(d, c->model, inner);
    if (!p) {
        c->status = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
        return;
    }
    p->rewritten = rewritten;
    *c->out = &p->base;
}

static enum nnvts_status prepare_model(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    DEVICE_CALL(CALL_PREPARE, .model = model, .config = config, .out = out);
    return faulty_call(&c, ask_prepare);
}

enum nnvts_status faulty_load(struct nnvts_device *self, const struct nnvts_cache *cache, uint64_t deadline_ns,
                              struct nnvts_prepared_model **out) {
    static const struct nnvts_model unknown = {.main = {0}};
    struct faulty_device *d = (struct faulty_device *)self;
    struct nnvts_prepared_model *inner = NULL;
    enum nnvts_status status = d->inner->prepare_from_cache(d->inner, cache, deadline_ns, &inner);
    struct faulty_prepared *p = status == NNVTS_STATUS_NONE ? faulty_wrap(d, &unknown, inner) : NULL;
    if (p) *out = &p->base;
    return p || status != NNVTS_STATUS_NONE ? status : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

static void ask_load(struct call *c) { c->status = faulty_load(c->device, c->cache, c->deadline_ns, c->out); }

static enum nnvts_status prepare_from_cache(struct nnvts_device *self, const struct nnvts_cache *cache,
                                            uint64_t deadline_ns, struct nnvts_prepared_model **out) {
    DEVICE_CALL(CALL_LOAD, .cache = cache, .deadline_ns = deadline_ns, .out = out);
    return faulty_call(&c, ask_load);
}

struct nnvts_buffer their_buffer;

static void ask_allocate(struct call *c) {
    const struct nnvts_buffer *own = &((struct faulty_device *)c->device)->bug->buffer;
    if (c->desc && (!c->desc->prepared_count || c->desc->prepared)) {
        struct nnvts_prepared_model **prepared = call_alloc(c, c->desc->prepared_count * sizeof(void *));
        if (!prepared) return;
        for (uint32_t i = 0; i < c->desc->prepared_count; i++)
            prepared[i] = c->desc->prepared[i] ? ((struct faulty_prepared *)c->desc->prepared[i])->inner : NULL;
        own_desc(c)->prepared = prepared;
    }
    c->status = c->inner_device->allocate(c->inner_device, c->desc, c->buffer);
    if (!succeeded(c)) return;
    struct nnvts_buffer *b = *c->buffer;
    their_buffer = *b;
    if (own->copy_to) b->copy_to = own->copy_to;
    if (own->copy_from) b->copy_from = own->copy_from;
    if (own->release) b->release = own->release;
    if (own->token) b->token = own->token;
}

static enum nnvts_status allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                  struct nnvts_buffer **out) {
    DEVICE_CALL(CALL_ALLOCATE, .desc = desc, .buffer = out);
    return faulty_call(&c, ask_allocate);
}

static void ask_close(struct call *c) { c->inner_device->release(c->inner_device); }

static void release(struct nnvts_device *self) {
    DEVICE_CALL(CALL_CLOSE, .model = NULL);
    faulty_call(&c, ask_close);
    free(self);
}

void faulty_device_calls(struct faulty_device *d) {
    d->base.get_status = get_status;
    d->base.get_supported_operations = get_supported_operations;
    d->base.prepare_model = prepare_model;
    d->base.prepare_from_cache = d->inner->prepare_from_cache ? prepare_from_cache : NULL;
    d->base.allocate = d->inner->allocate ? allocate : NULL;
    d->base.release = release;
}
