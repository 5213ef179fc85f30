/* SPDX-License-Identifier: Apache-2.0 */
#include "exec.h"

#include <stdlib.h>
#include <string.h>

/** The memory of one execution, kept for the next. */
struct cpu_context {
    struct cpu_context *next;
    struct cpu_run run;
    struct cpu_blocks values; /**< what operands point to, unless that is the caller's memory */
    struct cpu_tensor *tensors;
    uint32_t *remaining; /**< per tensor: node inputs that have not read it yet */
};

/* -------------------------------------------------------------------- program */

/** An input may be omitted if every operation that reads it allows that. */
static void find_omittable(struct cpu_program *p) {
    const struct cpu_model *m = &p->model;
    for (uint32_t i = 0; i < m->in_count; i++) {
        p->omittable[i] = m->consumers[m->in[i]] > 0;
        for (uint32_t n = 0; n < m->node_count; n++)
            p->omittable[i] = p->omittable[i] && cpu_op_may_omit(&m->nodes[n], m->in[i]);
    }
}

static bool prepare_nodes(struct cpu_program *p, struct cpu_packs *packs) {
    struct cpu_model *m = &p->model;
    for (uint32_t i = 0; i < m->node_count; i++) {
        struct cpu_node *n = &m->nodes[i];
        const struct cpu_call call = {.node = n, .tensors = m->tensors, .kernels = p->kernels, .packs = packs};
        if (n->op->fns->prepare && !n->op->fns->prepare(&call, &m->arena, &n->state)) return false;
    }
    return true;
}

/** Finds the constants that all their readers will have packed. */
static bool find_held(const struct cpu_model *m, struct cpu_packs *packs) {
    uint32_t *readers = calloc((size_t)m->tensor_count + 1, sizeof *readers);
    packs->held = calloc((size_t)m->tensor_count + 1, sizeof *packs->held);
    if (readers && packs->held) {
        memcpy(readers, m->consumers, m->tensor_count * sizeof *m->consumers);
        for (uint32_t i = 0; i < m->node_count; i++) {
            const struct cpu_node *n = &m->nodes[i];
            const struct cpu_call call = {.node = n, .tensors = m->tensors};
            const uint32_t packed = n->op->fns->packed ? n->op->fns->packed(&call) : 0;
            for (uint32_t k = 0; packed >> k; k++) readers[n->in[k]] -= packed >> k & 1;
        }
        for (uint32_t i = 0; i < m->tensor_count; i++)
            packs->held[i] = m->tensors[i].data && m->consumers[i] > 0 && readers[i] == 0;
    }
    free(readers);
    return readers && packs->held;
}

/** Constants, and operations with what they make of them. */
static enum nnvts_status prepare_all(struct cpu_program *p, struct cpu_packs *packs) {
    struct cpu_model *m = &p->model;
    const bool cached = packs->at != NULL;
    packs->arena = &m->arena;
    packs->threads = p->threads;
    if (!find_held(m, packs)) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    /* as they are, and packed: only what is touched costs */
    if (!cached) cpu_arena_reserve(&m->arena, 2 * cpu_model_constant_bytes(m));
    if (!cpu_model_convert_constants(m, p->kernels, cached ? packs->held : NULL))
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    const bool prepared = prepare_nodes(p, packs);
    if (packs->unfit || (prepared && packs->left > 0)) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (!prepared) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    for (uint32_t i = 0; i < m->tensor_count; i++) {
        if (!packs->held[i]) continue;
        m->tensors[i].data = NULL;
        m->tensors[i].borrowed = false;
    }
    return cached || cpu_model_own_constants(m, p->kernels) ? NNVTS_STATUS_NONE
                                                            : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

static bool note_ends(struct cpu_program *p) {
    struct cpu_model *m = &p->model;
    p->omittable = cpu_arena_array(&m->arena, m->in_count, sizeof *p->omittable);
    p->output_index = cpu_arena_array(&m->arena, m->tensor_count, sizeof *p->output_index);
    if (m->arena.failed) return false;
    find_omittable(p);
    for (uint32_t i = 0; i < m->tensor_count; i++) p->output_index[i] = CPU_UNKNOWN;
    for (uint32_t i = 0; i < m->out_count; i++) p->output_index[m->out[i]] = i;
    return true;
}

enum nnvts_status cpu_program_make(struct cpu_model *model, const struct cpu_kernels *kernels,
                                   struct cpu_threads *threads, struct cpu_packs *packs, struct cpu_program *out) {
    struct cpu_program p = {.model = *model, .kernels = kernels, .threads = threads};
    enum nnvts_status st = note_ends(&p) ? prepare_all(&p, packs) : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    packs->arena = NULL;
    if (st != NNVTS_STATUS_NONE) {
        *model = p.model; /* still the caller's */
        return st;
    }
    *model = (struct cpu_model){0};
    *out = p;
    pthread_mutex_init(&out->lock, NULL);
    return NNVTS_STATUS_NONE;
}

static void context_free(struct cpu_context *c) {
    if (!c) return;
    cpu_blocks_free(&c->run.scratch);
    cpu_blocks_free(&c->values);
    free(c->tensors);
    free(c->remaining);
    free(c);
}

void cpu_program_free(struct cpu_program *program) {
    while (program->idle) {
        struct cpu_context *next = program->idle->next;
        context_free(program->idle);
        program->idle = next;
    }
    pthread_mutex_destroy(&program->lock);
    cpu_model_free(&program->model);
}

static struct cpu_context *context_new(const struct cpu_program *p) {
    struct cpu_context *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->tensors = calloc((size_t)p->model.tensor_count + 1, sizeof *c->tensors);
    c->remaining = calloc((size_t)p->model.tensor_count + 1, sizeof *c->remaining);
    c->run = (struct cpu_run){.kernels = p->kernels, .threads = p->threads};
    if (c->tensors && c->remaining) return c;
    context_free(c);
    return NULL;
}

static struct cpu_context *context_take(struct cpu_program *p) {
    pthread_mutex_lock(&p->lock);
    struct cpu_context *c = p->idle;
    if (c) p->idle = c->next;
    pthread_mutex_unlock(&p->lock);
    return c ? c : context_new(p);
}

static void context_give(struct cpu_program *p, struct cpu_context *c) {
    cpu_blocks_reset(&c->values);
    cpu_blocks_reset(&c->run.scratch);
    c->run.no_memory = false;
    pthread_mutex_lock(&p->lock);
    c->next = p->idle;
    p->idle = c;
    pthread_mutex_unlock(&p->lock);
}

/* ------------------------------------------------------------------ execution */

/** One execution. */
struct execution {
    struct cpu_program *program;
    struct cpu_context *context;
    const struct cpu_binding *binding;
    uint64_t deadline_ns;
};

/** The caller's memory can be used as it is. */
static bool usable(const struct cpu_tensor *t, const struct cpu_argument *a) {
    const uint32_t element = cpu_element(t->type);
    return cpu_same_form(t->type) && a->data && a->readable && (element < 2 || (uintptr_t)a->data % element == 0);
}

static enum nnvts_status bind_inputs(const struct execution *e) {
    const struct cpu_model *m = &e->program->model;
    for (uint32_t i = 0; i < m->in_count; i++) {
        const struct cpu_argument *a = &e->binding->in[i];
        struct cpu_tensor *t = &e->context->tensors[m->in[i]];
        t->present = !a->omitted;
        if (a->omitted) continue;
        if (a->buffer) {
            enum nnvts_status st =
                cpu_buffer_read(a->buffer, e->program->kernels, &a->shape, a->known_rank, &e->context->values, t);
            if (st != NNVTS_STATUS_NONE) return st;
            continue;
        }
        t->known_rank = true;
        t->shape = a->shape;
        t->data = a->data;
        if (usable(t, a)) continue;
        const size_t count = cpu_count(t);
        t->data = cpu_blocks_get(&e->context->values, count * cpu_element(t->type));
        if (!t->data) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
        cpu_convert_in(e->program->kernels, t->type, count, a->data, t->data);
    }
    return NNVTS_STATUS_NONE;
}

/** What a shape has that is known must be as inferred. */
static bool shape_agrees(bool known_rank, const struct cpu_shape *declared, const struct cpu_shape *inferred) {
    struct cpu_shape both = *inferred;
    return !known_rank || cpu_shape_merge(&both, declared);
}

/** Gives output tensor index its shape and memory. */
static enum nnvts_status place(const struct execution *e, uint32_t index, const struct cpu_shape *shape,
                               size_t *count) {
    struct cpu_tensor *t = &e->context->tensors[index];
    const uint32_t output = e->program->output_index[index];
    const struct cpu_argument *a = output == CPU_UNKNOWN ? NULL : &e->binding->out[output];
    if (!shape_agrees(t->known_rank, &t->shape, shape) || (a && !shape_agrees(a->known_rank, &a->shape, shape)) ||
        !cpu_elements(t->type, shape, count))
        return NNVTS_STATUS_GENERAL_FAILURE;
    t->known_rank = true;
    t->shape = *shape;
    const size_t bytes = *count * cpu_element(t->type);
    t->data = a && usable(t, a) && a->length >= bytes ? a->data : cpu_blocks_get(&e->context->values, bytes);
    return t->data ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

static void release_inputs(const struct execution *e, const struct cpu_node *n) {
    for (uint32_t i = 0; i < n->in_count; i++)
        if (--e->context->remaining[n->in[i]] == 0 && e->program->output_index[n->in[i]] == CPU_UNKNOWN)
            cpu_blocks_put(&e->context->values, e->context->tensors[n->in[i]].data);
}

static enum nnvts_status run_node(const struct execution *e, const struct cpu_node *n) {
    struct cpu_run *run = &e->context->run;
    struct cpu_call call = {.node = n, .tensors = e->context->tensors, .kernels = run->kernels, .run = run};
    if (!cpu_op_can_infer(&call) || !cpu_op_infer(&call)) return NNVTS_STATUS_GENERAL_FAILURE;
    bool empty = true;
    for (uint32_t i = 0; i < n->out_count; i++) {
        size_t count;
        enum nnvts_status st = place(e, n->out[i], cpu_out_shape(&call, i), &count);
        if (st != NNVTS_STATUS_NONE) return st;
        empty = empty && count == 0;
    }
    if (!empty && !n->op->fns->run(&call))
        return run->no_memory ? NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNVTS_STATUS_GENERAL_FAILURE;
    for (uint32_t i = 0; i < n->out_count; i++) {
        const struct cpu_tensor *t = cpu_out(&call, i);
        if (t->type == ANEURALNETWORKS_TENSOR_FLOAT16) run->kernels->round_to_half(cpu_count(t), t->data);
    }
    cpu_blocks_reset(&run->scratch);
    release_inputs(e, n);
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status run_nodes(const struct execution *e) {
    const struct cpu_model *m = &e->program->model;
    for (uint32_t i = 0; i < m->node_count; i++) {
        if (i > 0 && e->deadline_ns != NNVTS_NO_TIME && cpu_now_ns() >= e->deadline_ns)
            return NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT;
        enum nnvts_status st = run_node(e, &m->nodes[i]);
        if (st != NNVTS_STATUS_NONE) return st;
    }
    return NNVTS_STATUS_NONE;
}

/** Brings outputs into the caller's memory; OUTPUT_INSUFFICIENT_SIZE if one does not fit. */
static enum nnvts_status deliver(const struct execution *e) {
    const struct cpu_model *m = &e->program->model;
    enum nnvts_status st = NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < m->out_count; i++) {
        const struct cpu_tensor *t = &e->context->tensors[m->out[i]];
        const struct cpu_argument *a = &e->binding->out[i];
        const size_t count = cpu_count(t);
        if (a->buffer) continue;
        if (count * cpu_api_element(t->type) > a->length)
            st = NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
        else if (t->data != a->data)
            cpu_convert_out(e->program->kernels, t->type, count, t->data, a->data);
    }
    return st;
}

/** Device memory has a value only after an execution that went well. */
static enum nnvts_status fill_buffers(const struct execution *e) {
    const struct cpu_model *m = &e->program->model;
    for (uint32_t i = 0; i < m->out_count; i++) {
        struct cpu_buffer *buffer = e->binding->out[i].buffer;
        if (!buffer || cpu_buffer_write(buffer, e->program->kernels, &e->context->tensors[m->out[i]])) continue;
        for (uint32_t k = 0; k < i; k++)
            if (e->binding->out[k].buffer) cpu_buffer_clear(e->binding->out[k].buffer);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    return NNVTS_STATUS_NONE;
}

static void report_shapes(const struct execution *e, struct nnvts_execution_result *result) {
    const struct cpu_model *m = &e->program->model;
    if (!result->shapes) return;
    for (uint32_t i = 0; i < m->out_count; i++) {
        const struct cpu_tensor *t = &e->context->tensors[m->out[i]];
        struct nnvts_output_shape *s = &result->shapes[i];
        const uint32_t room = s->dimensions ? s->dimension_count : 0;
        for (uint32_t d = 0; d < t->shape.rank && d < room; d++) s->dimensions[d] = t->shape.dims[d];
        s->dimension_count = t->shape.rank;
        const struct cpu_argument *a = &e->binding->out[i];
        s->is_sufficient = a->buffer || cpu_count(t) * cpu_api_element(t->type) <= a->length;
    }
    result->shape_count = m->out_count;
}

static enum nnvts_status run_all(const struct execution *e, struct nnvts_execution_result *result) {
    const struct cpu_model *m = &e->program->model;
    memcpy(e->context->tensors, m->tensors, m->tensor_count * sizeof *m->tensors);
    memcpy(e->context->remaining, m->consumers, m->tensor_count * sizeof *m->consumers);
    enum nnvts_status st = bind_inputs(e);
    if (st == NNVTS_STATUS_NONE) st = run_nodes(e);
    if (st != NNVTS_STATUS_NONE) return st;
    st = deliver(e);
    if (st == NNVTS_STATUS_NONE) st = fill_buffers(e);
    if (st != NNVTS_STATUS_NONE && st != NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE) return st;
    report_shapes(e, result);
    return st;
}

enum nnvts_status cpu_execute(struct cpu_program *program, const struct cpu_binding *binding,
                              const struct nnvts_execution_config *config, uint64_t started_ns,
                              struct nnvts_execution_result *result) {
    const uint64_t deadline_ns = config ? config->deadline_ns : NNVTS_NO_TIME;
    result->shape_count = 0;
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    const uint64_t device_start = cpu_now_ns();
    for (uint32_t i = 0; i < program->model.out_count; i++)
        if (binding->out[i].buffer) cpu_buffer_clear(binding->out[i].buffer);
    if (deadline_ns <= device_start) return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    struct cpu_context *context = context_take(program);
    if (!context) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    const struct execution e = {program, context, binding, deadline_ns};
    cpu_threads_begin(program->threads);
    enum nnvts_status st = run_all(&e, result);
    cpu_threads_end(program->threads);
    context_give(program, context);
    if (config && config->measure_timing && st == NNVTS_STATUS_NONE) {
        const uint64_t now = cpu_now_ns();
        result->timing = (struct nnvts_timing){.on_device_ns = now - device_start, .in_driver_ns = now - started_ns};
    }
    return st;
}
