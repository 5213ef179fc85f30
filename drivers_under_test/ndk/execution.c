/* SPDX-License-Identifier: Apache-2.0 */
/** @file execution.c Executions: requests as arguments, and what comes of them. */
#include <stdlib.h>
#include <string.h>

#include "common/type.h"
#include "ndk.h"

enum { MAX_POOLS = 1 << 12, MAX_RANK = 64 };

/* --------------------------------------------------------------------- arguments */

/** Bytes of a value of these extents; 0: not known, or too many. */
static uint64_t known_bytes(const struct ndk_end *end, const struct nnvts_argument *a) {
    const ANeuralNetworksOperandType *t = &end->type;
    const uint32_t rank = a->dimension_count ? a->dimension_count : t->dimensionCount;
    uint64_t bytes = end->element_bytes;
    if (rank == 0 && !common_is_scalar(t->type)) return 0;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t extent = a->dimension_count ? a->dimensions[i] : 0;
        if (extent == 0 && i < t->dimensionCount) extent = t->dimensions[i];
        bytes *= extent;
        if (bytes > UINT32_MAX) return 0;
    }
    return bytes;
}

/** The memory of a pool that lies in a file, made when it is first needed. */
static enum nnvts_status memory_of(struct ndk_run *run, const struct nnvts_request *r, uint32_t pool,
                                   const struct ndk_run_options *options) {
    const struct ndk_library *lib = &run->prepared->device->lib;
    const int64_t token = options && options->tokens ? options->tokens[pool] : -1;
    if (run->memories[pool]) return NNVTS_STATUS_NONE;
    for (struct ndk_kept *k = token >= 0 ? *options->kept : NULL; k; k = k->next) {
        if (k->token != token) continue;
        run->memories[pool] = k->memory;
        run->borrowed[pool] = true;
        return NNVTS_STATUS_NONE;
    }
    const enum nnvts_status st = ndk_memory_new(lib, &r->pools[pool], &run->memories[pool]);
    struct ndk_kept *kept = st == NNVTS_STATUS_NONE && token >= 0 ? malloc(sizeof *kept) : NULL;
    if (!kept) return st;
    *kept = (struct ndk_kept){*options->kept, token, run->memories[pool]};
    *options->kept = kept;
    run->borrowed[pool] = true;
    return st;
}

/** An argument in a buffer of the device. */
static enum nnvts_status take_buffer(struct ndk_run *run, const struct nnvts_request *r, uint32_t pool,
                                     struct ndk_buffer **buffer) {
    *buffer = ndk_buffer_find(run->prepared->device, r->pools[pool].token, &run->memories[pool]);
    run->borrowed[pool] = true;
    return *buffer ? NNVTS_STATUS_NONE : NNVTS_STATUS_INVALID_ARGUMENT;
}

/** An input lies in the buffer, too: the NDK does not look at what two arguments have in common. */
static bool is_read(const struct nnvts_request *r, uint32_t token) {
    for (uint32_t i = 0; i < r->input_count; i++) {
        const struct nnvts_argument *a = &r->inputs[i];
        if (!a->has_no_value && r->pools[a->location.pool].kind == NNVTS_MEMORY_DEVICE &&
            r->pools[a->location.pool].token == token)
            return true;
    }
    return false;
}

/** What one argument is set to. */
struct setting {
    int32_t index;
    bool is_output;
    const ANeuralNetworksOperandType *type; /**< NULL: as in the model */
    ANeuralNetworksMemory *memory;          /**< NULL: a pointer */
    uint8_t *data;
    size_t offset, length;
};

static enum nnvts_status set(const struct ndk_library *lib, ANeuralNetworksExecution *x, const struct setting *s) {
    if (s->memory && s->is_output)
        return NDK_CALL_AT((uint32_t)s->index, lib, Execution_setOutputFromMemory, x, s->index, s->type, s->memory,
                           s->offset, s->length);
    if (s->memory)
        return NDK_CALL_AT((uint32_t)s->index, lib, Execution_setInputFromMemory, x, s->index, s->type, s->memory,
                           s->offset, s->length);
    if (s->is_output)
        return NDK_CALL_AT((uint32_t)s->index, lib, Execution_setOutput, x, s->index, s->type, s->data, s->length);
    return NDK_CALL_AT((uint32_t)s->index, lib, Execution_setInput, x, s->index, s->type, s->data, s->length);
}

/** The place in the pool: a pointer, or in a memory. */
static enum nnvts_status place(struct ndk_run *run, const struct nnvts_request *r, const struct nnvts_location *l,
                               const struct ndk_run_options *options, struct setting *s) {
    const struct nnvts_memory *pool = &r->pools[l->pool];
    if (pool->fd < 0) {
        s->data = pool->data ? (uint8_t *)pool->data + l->offset : NULL;
        return s->data ? NNVTS_STATUS_NONE : NNVTS_STATUS_INVALID_ARGUMENT;
    }
    if (run->prepared->device->lib.pointers) {
        struct common_mapping *m = &run->mappings[l->pool];
        const enum nnvts_status mapped = m->data ? NNVTS_STATUS_NONE : common_map(pool, m);
        if (mapped == NNVTS_STATUS_NONE) s->data = m->data + l->offset;
        return mapped;
    }
    const enum nnvts_status st = memory_of(run, r, l->pool, options);
    s->memory = run->memories[l->pool];
    return st;
}

/**
 * An output of unknown size has no room. For the NDK that would be an output that nobody wants: it gets a spare byte.
 * Its pool must be one that can be mapped all the same.
 */
static enum nnvts_status no_room(struct ndk_run *run, const struct nnvts_request *r, const struct nnvts_location *l,
                                 const struct ndk_run_options *options, struct setting *s) {
    const enum nnvts_status st = r->pools[l->pool].size ? place(run, r, l, options, s) : NNVTS_STATUS_NONE;
    run->without_room[s->index] = true;
    s->memory = NULL;
    s->data = &run->spare[s->index];
    s->length = 1;
    return st;
}

/** The part of a pool; what the library can't see of the rules is checked. */
static enum nnvts_status locate(struct ndk_run *run, const struct nnvts_request *r, const struct nnvts_argument *a,
                                const struct ndk_end *end, const struct ndk_run_options *options, bool padded,
                                ANeuralNetworksOperandType *type, uint32_t *dims, struct setting *s) {
    const struct nnvts_location *l = &a->location;
    const uint32_t need = s->is_output ? NNVTS_PROT_WRITE : NNVTS_PROT_READ;
    const struct nnvts_memory *pool = l->pool < r->pool_count ? &r->pools[l->pool] : NULL;
    if (!pool) return NNVTS_STATUS_INVALID_ARGUMENT;
    s->offset = l->offset;
    s->length = l->length;
    if (pool->kind == NNVTS_MEMORY_DEVICE) {
        struct ndk_buffer *buffer;
        enum nnvts_status st = take_buffer(run, r, l->pool, &buffer);
        if (st != NNVTS_STATUS_NONE) return st;
        s->memory = run->memories[l->pool];
        if (!s->is_output && !s->type) { /* the buffer knows its extents, but the NDK wants to be told */
            type->dimensionCount = ndk_buffer_shape(buffer, dims, MAX_RANK);
            type->dimensions = dims;
            if (type->dimensionCount == end->type.dimensionCount || end->type.dimensionCount == 0)
                s->type = type->dimensionCount ? type : NULL;
        }
        if (s->is_output) {
            if (is_read(r, pool->token)) return NNVTS_STATUS_INVALID_ARGUMENT;
            run->written[s->index] = buffer;
        }
        return NNVTS_STATUS_NONE;
    }
    if (pool->kind != NNVTS_MEMORY_SHARED || (pool->prot & need) != need ||
        (uint64_t)l->offset + l->length + l->padding > pool->size)
        return NNVTS_STATUS_INVALID_ARGUMENT;
    const uint64_t bytes = known_bytes(end, a);
    if (s->is_output && l->length == 0) return bytes ? NNVTS_STATUS_INVALID_ARGUMENT : no_room(run, r, l, options, s);
    if (padded && !s->is_output && bytes && l->length != bytes) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (padded)
        s->length += l->padding;
    else if (s->is_output && bytes && l->length > bytes)
        s->length = (size_t)bytes; /* more room than needed: the NDK has no words for it */
    return place(run, r, l, options, s);
}

static enum nnvts_status set_argument(struct ndk_run *run, const struct nnvts_request *r, uint32_t i, bool is_output,
                                      const struct ndk_run_options *options, bool padded) {
    const struct ndk_prepared *p = run->prepared;
    const struct nnvts_argument *a = is_output ? &r->outputs[i] : &r->inputs[i];
    const struct ndk_end *end = is_output ? &p->outputs[i] : &p->inputs[i];
    struct setting s = {.index = (int32_t)i, .is_output = is_output};
    ANeuralNetworksOperandType type = end->type;
    uint32_t dims[MAX_RANK];
    if (a->has_no_value) {
        const struct nnvts_location *l = &a->location;
        if (l->pool || l->offset || l->length || l->padding || a->dimension_count) return NNVTS_STATUS_INVALID_ARGUMENT;
        return set(&p->device->lib, run->execution, &s);
    }
    if (a->dimension_count) {
        if (!a->dimensions || a->dimension_count > MAX_RANK) return NNVTS_STATUS_INVALID_ARGUMENT;
        for (uint32_t d = 0; d < a->dimension_count; d++) /* 0: as in the model */
            dims[d] = a->dimensions[d] || d >= end->type.dimensionCount ? a->dimensions[d] : end->type.dimensions[d];
        type.dimensionCount = a->dimension_count;
        type.dimensions = dims;
        s.type = &type;
    }
    const enum nnvts_status st = locate(run, r, a, end, options, padded, &type, dims, &s);
    return st == NNVTS_STATUS_NONE ? set(&p->device->lib, run->execution, &s) : st;
}

/* --------------------------------------------------------------------- executions */

static bool has_padding(const struct nnvts_request *r) {
    for (uint32_t i = 0; i < r->input_count; i++)
        if (r->inputs[i].location.padding) return true;
    for (uint32_t i = 0; i < r->output_count; i++)
        if (r->outputs[i].location.padding) return true;
    return false;
}

static enum nnvts_status configure(struct ndk_run *run, const struct nnvts_execution_config *config,
                                   const struct ndk_run_options *options) {
    const struct ndk_library *lib = &run->prepared->device->lib;
    ANeuralNetworksExecution *x = run->execution;
    const bool one_device = run->prepared->device->device; /* of the application's choice: as the NDK demands it */
    enum nnvts_status st = NNVTS_STATUS_NONE;
    if (options && options->reusable) st = NDK_CALL(lib, Execution_setReusable, x, true);
    if (st == NNVTS_STATUS_NONE && config->measure_timing && one_device && lib->fn.Execution_setMeasureTiming &&
        lib->fn.Execution_getDuration) {
        st = NDK_CALL(lib, Execution_setMeasureTiming, x, true);
        run->timing = true;
    }
    if (st == NNVTS_STATUS_NONE && config->deadline_ns != NNVTS_NO_TIME && one_device && lib->fn.Execution_setTimeout)
        st = NDK_CALL(lib, Execution_setTimeout, x, ndk_time_left(config->deadline_ns));
    if (st == NNVTS_STATUS_NONE && config->loop_timeout_ns != NNVTS_NO_TIME && lib->fn.Execution_setLoopTimeout)
        st = NDK_CALL(lib, Execution_setLoopTimeout, x, config->loop_timeout_ns);
    return st;
}

static enum nnvts_status set_arguments(struct ndk_run *run, const struct nnvts_request *r,
                                       const struct ndk_run_options *options) {
    const struct ndk_library *lib = &run->prepared->device->lib;
    const bool padded = has_padding(r) && lib->fn.Execution_enableInputAndOutputPadding;
    enum nnvts_status st = NNVTS_STATUS_NONE;
    if (padded) st = NDK_CALL(lib, Execution_enableInputAndOutputPadding, run->execution, true);
    for (uint32_t i = 0; i < r->input_count && st == NNVTS_STATUS_NONE; i++)
        st = set_argument(run, r, i, false, options, padded);
    for (uint32_t i = 0; i < r->output_count && st == NNVTS_STATUS_NONE; i++)
        st = set_argument(run, r, i, true, options, padded);
    return st;
}

enum nnvts_status ndk_run_begin(struct ndk_prepared *p, const struct nnvts_request *r,
                                const struct nnvts_execution_config *config, const struct ndk_run_options *options,
                                struct ndk_run *run) {
    if (!r || !config || r->input_count != p->input_count || r->output_count != p->output_count ||
        (r->input_count && !r->inputs) || (r->output_count && !r->outputs) || r->pool_count > MAX_POOLS ||
        (r->pool_count && !r->pools))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    *run = (struct ndk_run){.prepared = p, .pool_count = r->pool_count};
    ndk_forget();
    run->mappings = calloc((size_t)r->pool_count + 1, sizeof *run->mappings);
    run->memories = calloc((size_t)r->pool_count + 1, sizeof(ANeuralNetworksMemory *));
    run->borrowed = calloc((size_t)r->pool_count + 1, sizeof *run->borrowed);
    run->written = calloc((size_t)r->output_count + 1, sizeof(struct ndk_buffer *));
    run->spare = calloc((size_t)r->output_count + 1, 1);
    run->without_room = calloc((size_t)r->output_count + 1, sizeof *run->without_room);
    enum nnvts_status st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (run->mappings && run->memories && run->borrowed && run->written && run->spare && run->without_room)
        st = NDK_MAKE(&p->device->lib, Execution_create, &run->execution, p->compilation, &run->execution);
    if (st == NNVTS_STATUS_NONE) st = configure(run, config, options);
    if (st == NNVTS_STATUS_NONE) st = set_arguments(run, r, options);
    if (st != NNVTS_STATUS_NONE) ndk_run_end(run);
    return st;
}

void ndk_run_end(struct ndk_run *run) {
    const struct ndk_library *lib = &run->prepared->device->lib;
    if (run->execution) lib->fn.Execution_free(run->execution);
    for (uint32_t i = 0; run->memories && i < run->pool_count; i++)
        if (run->memories[i] && !run->borrowed[i]) lib->fn.Memory_free(run->memories[i]);
    for (uint32_t i = 0; run->mappings && i < run->pool_count; i++) common_unmap(&run->mappings[i]);
    free(run->mappings);
    free(run->memories);
    free(run->borrowed);
    free(run->written);
    free(run->spare);
    free(run->without_room);
    *run = (struct ndk_run){0};
}

/* ------------------------------------------------------------------------ answers */

/** A code that may go with an output's shape: its buffer was large enough, or it was not. */
static bool shape_code(const char *function, int code, bool *sufficient) {
    if (code == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE) *sufficient = false;
    if (code == ANEURALNETWORKS_NO_ERROR || code == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE) return true;
    ndk_tell("ANeuralNetworksExecution_%s answered %d behind an execution that has shapes", function, code);
    return false;
}

static bool take_shape(struct ndk_run *run, int32_t i, struct nnvts_output_shape *to) {
    const struct nnvts_ndk *fn = &run->prepared->device->lib.fn;
    uint32_t rank = 0, dims[MAX_RANK] = {0};
    const uint32_t room = to->dimension_count;
    to->is_sufficient = true;
    to->dimension_count = 0;
    if (!shape_code("getOutputOperandRank", fn->Execution_getOutputOperandRank(run->execution, i, &rank),
                    &to->is_sufficient))
        return false;
    if (rank > MAX_RANK) {
        ndk_tell("ANeuralNetworksExecution_getOutputOperandRank gave rank %u for output %d", rank, i);
        to->dimension_count = rank; /* the caller sees that there was no room */
        return true;
    }
    to->dimension_count = rank;
    if (rank == 0) return true; /* a scalar, or a shape that is still unknown: there is nothing to ask for */
    if (!shape_code("getOutputOperandDimensions", fn->Execution_getOutputOperandDimensions(run->execution, i, dims),
                    &to->is_sufficient))
        return false;
    bool empty = false;
    for (uint32_t d = 0; d < rank; d++) {
        if (d < room) to->dimensions[d] = dims[d];
        empty = empty || dims[d] == 0;
    }
    if (run->without_room[i] && !empty) to->is_sufficient = false;
    return true;
}

struct nnvts_timing ndk_run_timing(struct ndk_run *run, int32_t on_device, int32_t in_driver) {
    const struct nnvts_ndk *fn = &run->prepared->device->lib.fn;
    struct nnvts_timing t = {NNVTS_NO_TIME, NNVTS_NO_TIME};
    if (!run->timing) return t;
    int code = fn->Execution_getDuration(run->execution, on_device, &t.on_device_ns);
    if (code == ANEURALNETWORKS_NO_ERROR) code = fn->Execution_getDuration(run->execution, in_driver, &t.in_driver_ns);
    if (code == ANEURALNETWORKS_NO_ERROR) return t;
    ndk_tell("ANeuralNetworksExecution_getDuration answered %d behind an execution that was measured", code);
    return (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
}

/** What the buffers of the device hold now. */
static void note_written(struct ndk_run *run, enum nnvts_status status, const struct nnvts_execution_result *result) {
    for (uint32_t i = 0; i < run->prepared->output_count; i++) {
        const struct nnvts_output_shape *s = result->shape_count ? &result->shapes[i] : NULL;
        if (run->written[i])
            ndk_buffer_written(run->written[i], status == NNVTS_STATUS_NONE, s ? s->dimension_count : 0,
                               s ? s->dimensions : NULL);
    }
}

enum nnvts_status ndk_run_take(struct ndk_run *run, enum nnvts_status status, struct nnvts_execution_result *result) {
    const struct ndk_prepared *p = run->prepared;
    const struct nnvts_ndk *fn = &p->device->lib.fn;
    result->shape_count = 0;
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    if (status != NNVTS_STATUS_NONE && status != NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE) {
        note_written(run, status, result);
        return status;
    }
    bool whole = fn->Execution_getOutputOperandRank && fn->Execution_getOutputOperandDimensions && result->shapes;
    for (uint32_t i = 0; i < p->output_count && whole; i++) whole = take_shape(run, (int32_t)i, &result->shapes[i]);
    for (uint32_t i = 0; i < p->output_count && whole; i++)
        if (!result->shapes[i].is_sufficient && run->without_room[i]) status = NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
    if (whole) result->shape_count = p->output_count;
    note_written(run, status, result);
    if (status == NNVTS_STATUS_NONE)
        result->timing = ndk_run_timing(run, ANEURALNETWORKS_DURATION_ON_HARDWARE, ANEURALNETWORKS_DURATION_IN_DRIVER);
    return status;
}

static enum nnvts_status compute(struct ndk_run *run) {
    const struct ndk_library *lib = &run->prepared->device->lib;
    if (lib->fn.Execution_compute) return NDK_CALL(lib, Execution_compute, run->execution);
    ANeuralNetworksEvent *event = NULL;
    enum nnvts_status st = NDK_MAKE(lib, Execution_startCompute, &event, run->execution, &event);
    if (st != NNVTS_STATUS_NONE) return st;
    st = NDK_CALL(lib, Event_wait, event);
    lib->fn.Event_free(event);
    return st;
}

enum nnvts_status ndk_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                              const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    struct ndk_run run;
    if (!result) return NNVTS_STATUS_INVALID_ARGUMENT;
    result->shape_count = 0;
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    enum nnvts_status st = ndk_run_begin((struct ndk_prepared *)self, request, config, NULL, &run);
    if (st != NNVTS_STATUS_NONE) return st;
    st = ndk_run_take(&run, compute(&run), result);
    ndk_run_end(&run);
    return st;
}
