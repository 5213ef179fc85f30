/* SPDX-License-Identifier: Apache-2.0 */
/** @file prepared.c Compilation, and executions one after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "operation.h"
#include "shell.h"

enum { MOST_KEPT = 16 }; /**< arguments and pools up to here need no allocation */

/** The engine may be asked for the node. */
static bool is_fit(const struct engine_model *m, const struct engine_node *n) {
    bool fit = !m->unfit;
    for (uint32_t k = 0; fit && k < n->in_count; k++) fit = m->tensors[n->in[k]].known;
    for (uint32_t k = 0; fit && k < n->out_count; k++) fit = m->tensors[n->out[k]].known;
    if (!fit) common_tell("an operand is omitted, empty, a subgraph, or of a size that only executions know");
    return fit;
}

void *engine_compile_node(const struct engine_device *device, const struct engine_model *m, uint32_t i) {
    bool taken = false;
    struct engine_single single;
    if (!is_fit(m, &m->nodes[i]) || !engine_single(m->tensors, m->tensor_count, &m->nodes[i], &single)) return NULL;
    void *state = this_engine.compile(device->self, &single.graph, &taken);
    free(single.in);
    return state;
}

/** Asks about each node alone; false if one is refused. */
static bool ask_each(const struct engine_device *device, const struct engine_model *m, bool *taken) {
    bool all = true;
    for (uint32_t i = 0; i < m->node_count; i++) {
        void *state = engine_compile_node(device, m, i);
        taken[i] = state != NULL;
        all = all && taken[i];
        if (state) this_engine.discard(state);
    }
    return all;
}

/**
 * What the engine says of an operation should depend on that alone, since models are divided by it. Only where it takes
 * each alone, but not all together, does its answer about all of them count.
 */
void *engine_compile_whole(const struct engine_device *device, const struct engine_model *m, bool *taken) {
    const struct engine_graph graph = {.node_count = m->node_count,
                                       .in_count = m->in_count,
                                       .out_count = m->out_count,
                                       .nodes = m->nodes,
                                       .tensors = m->tensors,
                                       .tensor_count = m->tensor_count,
                                       .in = m->in,
                                       .out = m->out};
    bool fit = true, *together = calloc((size_t)m->node_count + 1, sizeof *together);
    char reason[COMMON_TEXT_BYTES] = "";
    memset(taken, 0, m->node_count * sizeof *taken);
    for (uint32_t i = 0; i < m->node_count; i++) fit = is_fit(m, &m->nodes[i]) && fit;
    void *state = fit && together ? this_engine.compile(device->self, &graph, together) : NULL;
    if (common_told()) snprintf(reason, sizeof reason, "%s", common_told());
    if (!state && together && ask_each(device, m, taken)) memcpy(taken, together, m->node_count * sizeof *taken);
    if (*reason) common_tell("%s", reason);
    free(together);
    return state;
}

/** Compiles what is to be run, into p->states. */
static enum nnvts_status compile(struct engine_prepared *p) {
    bool *taken = calloc((size_t)p->model.node_count + 1, sizeof *taken);
    p->state_count = this_engine.whole ? 1 : p->model.node_count;
    p->states = calloc((size_t)p->state_count + 1, sizeof *p->states);
    enum nnvts_status st = taken && p->states ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    for (uint32_t i = 0; st == NNVTS_STATUS_NONE && i < p->state_count; i++) {
        p->states[i] = this_engine.whole ? engine_compile_whole(p->device, &p->model, taken)
                                         : engine_compile_node(p->device, &p->model, i);
        if (!p->states[i]) st = NNVTS_STATUS_GENERAL_FAILURE;
    }
    free(taken);
    return st;
}

static void release(struct nnvts_prepared_model *self) {
    struct engine_prepared *p = (struct engine_prepared *)self;
    for (uint32_t i = 0; p->states && i < p->state_count; i++)
        if (p->states[i]) this_engine.discard(p->states[i]);
    pthread_mutex_destroy(&p->lock);
    engine_model_free(&p->model);
    free(p->states);
    free(p->memory);
    free(p->data);
    free(p);
}

/** Values that lie where the caller's memory is; planned ones are copied there or from there. */
static void place_arguments(struct engine_prepared *p, const struct engine_argument *arguments) {
    const struct engine_model *m = &p->model;
    for (uint32_t i = 0; i < m->tensor_count; i++)
        p->data[i] =
            m->offset[i] == ENGINE_ELSEWHERE ? (void *)(uintptr_t)m->tensors[i].value : p->memory + m->offset[i];
    for (uint32_t i = 0; i < m->in_count; i++) {
        const struct engine_argument *a = &arguments[i];
        if (engine_has_slack(a->data + a->length, a->end))
            p->data[m->in[i]] = a->data;
        else
            memcpy(p->data[m->in[i]], a->data, a->length);
    }
    for (uint32_t i = 0; i < m->out_count; i++)
        if (m->offset[m->out[i]] == ENGINE_ELSEWHERE) p->data[m->out[i]] = arguments[m->in_count + i].data;
}

static enum nnvts_status run(struct engine_prepared *p, const struct engine_argument *arguments) {
    const struct engine_model *m = &p->model;
    bool ok = true;
    pthread_mutex_lock(&p->lock);
    place_arguments(p, arguments);
    for (uint32_t i = 0; ok && i < p->state_count; i++) ok = this_engine.run(p->device->self, p->states[i], p->data);
    for (uint32_t i = 0; ok && i < m->out_count; i++)
        if (m->offset[m->out[i]] != ENGINE_ELSEWHERE)
            memcpy(arguments[m->in_count + i].data, p->data[m->out[i]], m->tensors[m->out[i]].bytes);
    pthread_mutex_unlock(&p->lock);
    return ok ? NNVTS_STATUS_NONE : NNVTS_STATUS_GENERAL_FAILURE;
}

static enum nnvts_status map_bind_run(struct engine_prepared *p, const struct nnvts_request *r,
                                      struct common_mapping *mappings, struct engine_argument *arguments,
                                      struct nnvts_execution_result *result, uint64_t *device_ns) {
    enum nnvts_status st = NNVTS_STATUS_NONE;
    uint32_t mapped = 0;
    while (st == NNVTS_STATUS_NONE && mapped < r->pool_count) {
        st = common_map(&r->pools[mapped], &mappings[mapped]);
        mapped += st == NNVTS_STATUS_NONE;
    }
    if (st == NNVTS_STATUS_NONE) st = engine_bind(&p->model, r, mappings, arguments, result);
    const uint64_t start = engine_now_ns();
    if (st == NNVTS_STATUS_NONE) {
        st = run(p, arguments);
        if (st != NNVTS_STATUS_NONE) result->shape_count = 0;
    }
    *device_ns = engine_now_ns() - start;
    while (mapped) common_unmap(&mappings[--mapped]);
    return st;
}

static enum nnvts_status execute(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    struct engine_prepared *p = (struct engine_prepared *)self;
    const uint64_t start = engine_now_ns();
    if (!result) return NNVTS_STATUS_INVALID_ARGUMENT;
    result->shape_count = 0;
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    common_forget();
    if (!r || r->input_count != p->model.in_count || r->output_count != p->model.out_count ||
        (r->input_count && !r->inputs) || (r->output_count && !r->outputs) || (r->pool_count && !r->pools))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    if (config && config->deadline_ns <= start) return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    struct common_mapping few_mappings[MOST_KEPT], *mappings = few_mappings;
    struct engine_argument few_arguments[MOST_KEPT], *arguments = few_arguments;
    const size_t count = (size_t)r->input_count + r->output_count;
    if (r->pool_count > MOST_KEPT) mappings = calloc(r->pool_count, sizeof *mappings);
    if (count > MOST_KEPT) arguments = calloc(count, sizeof *arguments);
    uint64_t device_ns = 0;
    enum nnvts_status st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (mappings && arguments) st = map_bind_run(p, r, mappings, arguments, result, &device_ns);
    if (mappings != few_mappings) free(mappings);
    if (arguments != few_arguments) free(arguments);
    if (st == NNVTS_STATUS_NONE && config && config->measure_timing)
        result->timing = (struct nnvts_timing){device_ns, engine_now_ns() - start};
    return st;
}

enum nnvts_status engine_prepare(struct engine_device *device, const struct nnvts_model *model,
                                 struct nnvts_prepared_model **out) {
    enum { ALIGN = 64 };
    struct engine_prepared *p = calloc(1, sizeof *p);
    if (!p) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    p->base = (struct nnvts_prepared_model){
        .struct_size = sizeof p->base, .execute = execute, .create_burst = engine_create_burst, .release = release};
    p->device = device;
    pthread_mutex_init(&p->lock, NULL);
    enum nnvts_status st = engine_import(model, &p->model);
    if (st == NNVTS_STATUS_NONE) {
        p->data = calloc((size_t)p->model.tensor_count + 1, sizeof *p->data);
        if (!p->data) st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    if (st == NNVTS_STATUS_NONE) st = compile(p);
    if (st == NNVTS_STATUS_NONE) st = engine_plan(&p->model);
    if (st == NNVTS_STATUS_NONE) {
        if (p->model.planned < SIZE_MAX - ALIGN) p->memory = aligned_alloc(ALIGN, (size_t)p->model.planned + ALIGN);
        if (!p->memory) st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    if (st == NNVTS_STATUS_NONE) {
        memset(p->memory, 0, (size_t)p->model.planned);
        *out = &p->base;
    } else {
        release(&p->base);
    }
    return st;
}
