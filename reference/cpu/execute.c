/* SPDX-License-Identifier: Apache-2.0 */
/** @file execute.c Requests: bound, executed through the evaluator, answered. */
#include <string.h>

#include "base/clock.h"
#include "cpu.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"

struct output {
    uint8_t *data;
    size_t room;
    uint32_t rank; /**< of the request; 0: as in the model */
    uint32_t dims[NNV_MAX_RANK];
    struct ref_buffer *buffer; /**< device memory; then data and room say nothing */
};

struct ref_execution {
    struct ref_prepared *prepared;
    struct nnv_arena *arena, *scratch; /**< of this struct, and of one run */
    struct ref_pools pools;
    struct nnv_value *inputs;      /**< data points into the pools */
    struct ref_buffer **in_device; /**< one an input: the device memory that it comes from, or NULL */
    struct output *outputs;
    struct nnvts_execution_config config;
};

static const struct nnv_operand *operand_at(const struct ref_prepared *p, const uint32_t *list, uint32_t i) {
    return &p->model->main.operands[list[i]];
}

/* ------------------------------------------------------------------- binding */

/**
 * The extents of an argument: the request's where given, else the model's, which must agree. Where both are 0 the
 * extent is open.
 */
static bool join_dims(const struct nnv_operand *o, const struct nnvts_argument *a, uint32_t *rank, uint32_t *dims) {
    if (a->dimension_count > NNV_MAX_RANK || (a->dimension_count && !a->dimensions)) return false;
    if (a->dimension_count && o->rank && a->dimension_count != o->rank) return false;
    *rank = a->dimension_count ? a->dimension_count : o->rank;
    for (uint32_t i = 0; i < *rank; i++) {
        uint32_t model = o->rank ? o->dims[i] : 0, request = a->dimension_count ? a->dimensions[i] : 0;
        if (model && request && model != request) return false;
        dims[i] = model ? model : request;
    }
    return true;
}

static bool bind_input(const struct nnv_operand *o, const struct nnvts_argument *a, const struct ref_pools *pools,
                       struct nnv_value *out) {
    out->omitted = a->has_no_value;
    if (a->has_no_value) return ref_is_nowhere(&a->location) && a->dimension_count == 0;
    size_t elems, bytes;
    out->data = ref_at(pools, &a->location, NNVTS_PROT_READ);
    out->bytes = a->location.length;
    /* An open extent that no bytes stand for is a real 0. */
    return out->data && join_dims(o, a, &out->rank, out->dims) &&
           nnv_size_bytes(o->type, out->rank, out->dims, &elems, &bytes) && bytes == out->bytes;
}

static bool bind_output(const struct nnv_operand *o, const struct nnvts_argument *a, const struct ref_pools *pools,
                        struct output *out) {
    if (a->has_no_value) return false;
    out->data = ref_at(pools, &a->location, NNVTS_PROT_WRITE);
    out->room = a->location.length;
    return out->data && join_dims(o, a, &out->rank, out->dims);
}

/**
 * Device memory: all of it, in a role that it was allocated for. *buffer is NULL where the argument lies in shared
 * memory; rank and dims are joined with the buffer's.
 */
static bool bind_buffer(const struct ref_execution *e, uint32_t io, bool input, const struct nnvts_argument *a,
                        struct ref_buffer **buffer, uint32_t *rank, uint32_t *dims) {
    const struct nnv_subgraph *main = &e->prepared->model->main;
    const struct nnvts_location *l = &a->location;
    if (a->has_no_value || l->pool >= e->pools.count || e->pools.item[l->pool].token == 0) return true;
    if (l->offset || l->length || l->padding) return false;
    *buffer = ref_buffer_hold(e->prepared, e->pools.item[l->pool].token, io, input);
    struct ref_shape shape = {0};
    if (!*buffer || !join_dims(operand_at(e->prepared, input ? main->in : main->out, io), a, &shape.rank, shape.dims))
        return false;
    const struct ref_shape *own = ref_buffer_shape(*buffer);
    if (!ref_join(&shape, own->rank, own->dims)) return false;
    *rank = shape.rank;
    memcpy(dims, shape.dims, sizeof shape.dims);
    return true;
}

/** Binds one argument, to device memory or to shared memory. */
static bool bind_one(struct ref_execution *e, uint32_t io, bool input, const struct nnvts_argument *a) {
    const struct nnv_subgraph *main = &e->prepared->model->main;
    const struct nnv_operand *o = operand_at(e->prepared, input ? main->in : main->out, io);
    if (input) {
        struct nnv_value *v = &e->inputs[io];
        return bind_buffer(e, io, true, a, &e->in_device[io], &v->rank, v->dims) &&
               (e->in_device[io] || bind_input(o, a, &e->pools, v));
    }
    struct output *out = &e->outputs[io];
    return bind_buffer(e, io, false, a, &out->buffer, &out->rank, out->dims) &&
           (out->buffer || bind_output(o, a, &e->pools, out));
}

/** No buffer is written that is used elsewhere in the request. */
static bool buffers_apart(const struct ref_execution *e) {
    const struct nnv_subgraph *main = &e->prepared->model->main;
    for (uint32_t i = 0; i < main->nout; i++) {
        const struct ref_buffer *b = e->outputs[i].buffer;
        for (uint32_t k = 0; b && k < main->nin; k++)
            if (e->in_device[k] == b) return false;
        for (uint32_t k = 0; b && k < i; k++)
            if (e->outputs[k].buffer == b) return false;
    }
    return true;
}

/** The model without what the request omits is still legal. */
static enum nnvts_status check_omitted(const struct ref_execution *e) {
    const struct nnv_model *prepared = e->prepared->model;
    struct nnv_model model = *prepared;
    struct nnv_subgraph *s = &model.main;
    bool any = false;
    for (uint32_t i = 0; i < s->nin; i++) any = any || e->inputs[i].omitted;
    if (!any || e->prepared->device->late) return NNVTS_STATUS_NONE;
    s->operands = nnv_arena_copy(e->arena, s->operands, s->noperands * sizeof *s->operands);
    s->in = nnv_arena_copy(e->arena, s->in, s->nin * sizeof *s->in);
    if (!s->operands || !s->in) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    s->nin = 0;
    for (uint32_t i = 0; i < prepared->main.nin; i++) {
        if (e->inputs[i].omitted)
            s->operands[prepared->main.in[i]].lifetime = NNV_NO_VALUE;
        else
            s->in[s->nin++] = prepared->main.in[i];
    }
    enum nnv_status st = nnv_validate(&model, e->arena, NULL, NULL);
    if (st == NNV_NO_MEMORY) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    return st == NNV_OK ? NNVTS_STATUS_NONE : NNVTS_STATUS_INVALID_ARGUMENT;
}

static enum nnvts_status bind_arguments(struct ref_execution *e, const struct nnvts_request *request) {
    const struct nnv_subgraph *main = &e->prepared->model->main;
    if (request->input_count != main->nin || request->output_count != main->nout || (main->nin && !request->inputs) ||
        (main->nout && !request->outputs))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    e->inputs = NNV_NEW(e->arena, struct nnv_value, main->nin);
    e->outputs = NNV_NEW(e->arena, struct output, main->nout);
    e->in_device = NNV_NEW(e->arena, struct ref_buffer *, main->nin);
    if (!e->inputs || !e->outputs || !e->in_device) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = ref_map(request->pools, request->pool_count, e->arena, &e->pools);
    if (st != NNVTS_STATUS_NONE) return st;
    for (uint32_t i = 0; i < main->nin; i++)
        if (!bind_one(e, i, true, &request->inputs[i])) return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < main->nout; i++)
        if (!bind_one(e, i, false, &request->outputs[i])) return NNVTS_STATUS_INVALID_ARGUMENT;
    return buffers_apart(e) ? check_omitted(e) : NNVTS_STATUS_INVALID_ARGUMENT;
}

enum nnvts_status ref_bind(struct ref_prepared *prepared, const struct nnvts_request *request,
                           const struct nnvts_execution_config *config, struct ref_execution **out) {
    struct nnv_arena *arena = nnv_arena_new();
    struct ref_execution *e = arena ? NNV_NEW(arena, struct ref_execution, 1) : NULL;
    if (e) {
        e->prepared = prepared;
        e->arena = arena;
        e->config = *config;
        e->scratch = nnv_arena_new();
    }
    enum nnvts_status st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (e && e->scratch) st = bind_arguments(e, request);
    if (st == NNVTS_STATUS_NONE)
        *out = e;
    else if (e)
        ref_unbind(e);
    else
        nnv_arena_free(arena);
    return st;
}

void ref_unbind(struct ref_execution *e) {
    const struct nnv_subgraph *main = &e->prepared->model->main;
    struct nnv_arena *arena = e->arena;
    for (uint32_t i = 0; e->in_device && i < main->nin; i++) ref_buffer_drop(e->in_device[i]);
    for (uint32_t i = 0; e->outputs && i < main->nout; i++) ref_buffer_drop(e->outputs[i].buffer);
    ref_unmap(&e->pools);
    nnv_arena_free(e->scratch);
    nnv_arena_free(arena);
}

void ref_set_deadline(struct ref_execution *e, uint64_t deadline_ns) { e->config.deadline_ns = deadline_ns; }

bool ref_is_fenceable(const struct ref_execution *e) {
    const struct nnv_subgraph *main = &e->prepared->model->main;
    for (uint32_t i = 0; i < main->nout; i++) {
        const struct nnv_type *t = nnv_type(operand_at(e->prepared, main->out, i)->type);
        if (t->tensor && e->outputs[i].rank == 0) return false;
        for (uint32_t k = 0; k < e->outputs[i].rank; k++)
            if (e->outputs[i].dims[k] == 0) return false;
    }
    return true;
}

/* ----------------------------------------------------------------- executing */

/** How long a WHILE may run: the default if the request says nothing, never above the maximum; 0 ns are 1 ns. */
static uint64_t loop_timeout(const struct nnvts_execution_config *config) {
    uint64_t ns = config->loop_timeout_ns;
    if (ns == NNVTS_NO_TIME) return NNVTS_LOOP_TIMEOUT_DEFAULT_NS;
    if (ns > NNVTS_LOOP_TIMEOUT_MAX_NS) return NNVTS_LOOP_TIMEOUT_MAX_NS;
    return ns ? ns : 1;
}

static enum nnvts_status evaluate(struct ref_execution *e, struct nnv_golden **golden) {
    const struct nnv_subgraph *main = &e->prepared->model->main;
    struct nnv_value *inputs = nnv_arena_copy(e->scratch, e->inputs, main->nin * sizeof *inputs);
    *golden = NNV_NEW(e->scratch, struct nnv_golden, main->nout);
    if (!inputs || !*golden) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    for (uint32_t i = 0; i < main->nin; i++) {
        if (inputs[i].omitted) continue;
        if (e->in_device[i]) {
            enum nnvts_status st = ref_buffer_read(e->in_device[i], e->scratch, &inputs[i]);
            if (st != NNVTS_STATUS_NONE) return st;
            continue;
        }
        inputs[i].data = nnv_arena_copy(e->scratch, inputs[i].data, inputs[i].bytes);
        if (!inputs[i].data) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    const struct nnv_eval_options golden_only = {.loop_timeout_ns = loop_timeout(&e->config)};
    switch (nnv_eval(e->prepared->model, inputs, &golden_only, e->scratch, *golden, NULL)) {
    case NNV_OK:
        return NNVTS_STATUS_NONE;
    case NNV_INVALID:
        return NNVTS_STATUS_INVALID_ARGUMENT;
    case NNV_NO_MEMORY:
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    case NNV_TIMEOUT:
        return NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT;
    case NNV_UNSUPPORTED:
    case NNV_IO:
    case NNV_INTERNAL:
        break;
    }
    return NNVTS_STATUS_GENERAL_FAILURE;
}

static void put_shape(const struct nnv_value *v, bool sufficient, struct nnvts_output_shape *shape) {
    uint32_t n = shape->dimension_count < v->rank ? shape->dimension_count : v->rank;
    if (n) memcpy(shape->dimensions, v->dims, n * sizeof *v->dims);
    shape->dimension_count = v->rank;
    shape->is_sufficient = sufficient;
}

static bool has_room(const struct output *o, const struct nnv_value *v) { return o->buffer || v->bytes <= o->room; }

/** Hands the values over; false when out of memory, and then no device memory has one. */
static bool put_values(const struct ref_execution *e, const struct nnv_golden *golden) {
    uint32_t n = e->prepared->model->main.nout;
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++) {
        const struct nnv_value *v = &golden[i].value;
        if (e->outputs[i].buffer)
            ok = ref_buffer_write(e->outputs[i].buffer, v);
        else if (v->bytes)
            memcpy(e->outputs[i].data, v->data, v->bytes);
    }
    for (uint32_t i = 0; i < n && !ok; i++)
        if (e->outputs[i].buffer) ref_buffer_clear(e->outputs[i].buffer);
    return ok;
}

/** Hands the results over. */
static enum nnvts_status answer(struct ref_execution *e, const struct nnv_golden *golden,
                                struct nnvts_execution_result *result) {
    uint32_t n = e->prepared->model->main.nout;
    bool all = true;
    for (uint32_t i = 0; i < n; i++) {
        const struct nnv_value *v = &golden[i].value;
        const struct output *o = &e->outputs[i];
        for (uint32_t k = 0; k < v->rank && o->rank; k++)
            if (o->rank != v->rank || (o->dims[k] && o->dims[k] != v->dims[k])) return NNVTS_STATUS_INVALID_ARGUMENT;
        all = all && has_room(o, v);
    }
    if (all && !put_values(e, golden)) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    for (uint32_t i = 0; i < n; i++)
        put_shape(&golden[i].value, has_room(&e->outputs[i], &golden[i].value), &result->shapes[i]);
    result->shape_count = n;
    return all ? NNVTS_STATUS_NONE : NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
}

enum nnvts_status ref_run(struct ref_execution *e, struct nnvts_execution_result *result) {
    struct nnv_golden *golden;
    uint64_t start = nnv_now_ns();
    result->shape_count = 0;
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    for (uint32_t i = 0; i < e->prepared->model->main.nout; i++)
        if (e->outputs[i].buffer) ref_buffer_clear(e->outputs[i].buffer); /* until it went well */
    if (start >= e->config.deadline_ns) return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    enum nnvts_status st = evaluate(e, &golden);
    if (st == NNVTS_STATUS_NONE) st = answer(e, golden, result);
    if (st == NNVTS_STATUS_INVALID_ARGUMENT && e->prepared->device->late) st = NNVTS_STATUS_GENERAL_FAILURE;
    nnv_arena_reset(e->scratch);
    if (st == NNVTS_STATUS_NONE && e->config.measure_timing)
        result->timing.on_device_ns = result->timing.in_driver_ns = nnv_now_ns() - start;
    return st;
}
