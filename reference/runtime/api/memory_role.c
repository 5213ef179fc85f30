/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory_role.c Memories made from descriptors: in executions, and copied. */
#include <string.h>

#include "reference/runtime/api/execution.h"
#include "reference/runtime/log.h"

/* ----------------------------------------------------------------- executions */

bool nnv_rt_memory_has_role(const struct ANeuralNetworksMemory *m, const ANeuralNetworksCompilation *c, bool is_output,
                            uint32_t index) {
    for (uint32_t i = 0; i < m->role_count; i++)
        if (m->roles[i].compilation == c && m->roles[i].is_output == is_output && m->roles[i].index == index)
            return true;
    return !m->has_roles;
}

static struct ANeuralNetworksMemory *with_roles(const struct nnv_rt_value *v) {
    return !v->omitted && v->memory && v->memory->has_roles ? v->memory : NULL;
}

bool nnv_rt_memory_in_use(const ANeuralNetworksExecution *e) {
    for (uint32_t i = 0; i < e->input_count + e->output_count; i++)
        if (with_roles(e->input_list[i])) return true;
    return false;
}

int nnv_rt_memory_check_inputs(const ANeuralNetworksExecution *e) {
    for (uint32_t i = 0; i < e->input_count; i++) {
        const struct nnv_rt_value *v = &e->inputs[i];
        struct ANeuralNetworksMemory *m = with_roles(v);
        if (!m) continue;
        pthread_mutex_lock(&m->lock);
        const bool initialised = m->initialised;
        const bool same =
            m->current_rank == v->rank && memcmp(m->current_dims, v->dims, v->rank * sizeof *v->dims) == 0;
        pthread_mutex_unlock(&m->lock);
        if (!initialised)
            return nnv_rt_error(ANEURALNETWORKS_OP_FAILED, "Execution", "input %u: the memory holds no value", i);
        if (!same)
            return nnv_rt_error(ANEURALNETWORKS_OP_FAILED, "Execution",
                                "input %u: the value in the memory is of another shape", i);
    }
    return ANEURALNETWORKS_NO_ERROR;
}

static void set_state(struct ANeuralNetworksMemory *m, bool initialised, uint32_t rank, const uint32_t *dims) {
    pthread_mutex_lock(&m->lock);
    m->initialised = initialised;
    m->current_rank = rank;
    if (rank) memcpy(m->current_dims, dims, rank * sizeof *dims);
    pthread_mutex_unlock(&m->lock);
}

void nnv_rt_memory_begin_outputs(const ANeuralNetworksExecution *e) {
    for (uint32_t i = 0; i < e->output_count; i++) {
        struct ANeuralNetworksMemory *m = with_roles(&e->outputs[i]);
        if (m) set_state(m, false, 0, NULL);
    }
}

void nnv_rt_memory_end_outputs(const ANeuralNetworksExecution *e) {
    for (uint32_t i = 0; i < e->output_count; i++) {
        struct ANeuralNetworksMemory *m = with_roles(&e->outputs[i]);
        if (m) set_state(m, true, e->outputs[i].rank, e->outputs[i].dims);
    }
}

/* ---------------------------------------------------------------------- copies */

/** The bytes and the shape of what a memory holds, or is to hold. */
struct content {
    bool known; /**< it was made from a descriptor: it has a type and, perhaps, a shape */
    bool initialised;
    uint64_t bytes; /**< 0: unknown */
    uint32_t rank;
    uint32_t dims[NNV_MAX_RANK];
};

static struct content content_of(const struct ANeuralNetworksMemory *m) {
    struct content c = {.known = m->has_roles, .initialised = true, .bytes = m->memory.size};
    if (!m->has_roles) return c;
    pthread_mutex_t *lock = (pthread_mutex_t *)&m->lock;
    pthread_mutex_lock(lock);
    c.initialised = m->initialised;
    c.rank = m->current_rank;
    memcpy(c.dims, m->current_dims, sizeof c.dims);
    pthread_mutex_unlock(lock);
    if (!nnv_rt_value_bytes(m->type, c.rank, c.dims, &c.bytes)) c.bytes = 0;
    return c;
}

/** The destination's declared shape, completed by the source's; false if they contradict, or it is not complete. */
static bool target_of(const struct ANeuralNetworksMemory *m, const struct content *from, struct content *to) {
    bool tensor = false;
    *to = (struct content){.known = true, .rank = m->rank ? m->rank : from->rank};
    nnv_rt_type_bytes(m->type, &tensor);
    if (from->known && m->rank && from->rank != m->rank) return false;
    for (uint32_t i = 0; i < to->rank; i++) {
        const uint32_t declared = m->rank ? m->dims[i] : 0, held = from->known ? from->dims[i] : 0;
        if (declared && held && declared != held) return false;
        to->dims[i] = declared ? declared : held;
        if (!to->dims[i]) return false;
    }
    return (to->rank || !tensor) && nnv_rt_value_bytes(m->type, to->rank, to->dims, &to->bytes);
}

static bool same_type(const struct ANeuralNetworksMemory *a, const struct ANeuralNetworksMemory *b) {
    return a->type == b->type && a->scale == b->scale && a->zero_point == b->zero_point;
}

static int from_device(const struct ANeuralNetworksMemory *src, const struct nnvts_memory *to) {
    return nnv_rt_result(nnv_rt_device_note(src->device, src->buffer->copy_to(src->buffer, to)));
}

static int to_device(const struct nnvts_memory *from, const struct ANeuralNetworksMemory *dst,
                     const struct content *c) {
    enum nnvts_status st = dst->buffer->copy_from(dst->buffer, from, c->dims, c->rank);
    return nnv_rt_result(nnv_rt_device_note(dst->device, st));
}

static int copy_bytes(const struct ANeuralNetworksMemory *src, const struct ANeuralNetworksMemory *dst,
                      const struct content *to) {
    struct nnvts_memory a = src->memory, b = dst->memory;
    a.size = b.size = to->bytes;
    if (src->buffer && dst->buffer) {
        struct ANeuralNetworksMemory *between = nnv_rt_memory_shared(to->bytes);
        if (!between) return ANEURALNETWORKS_OUT_OF_MEMORY;
        int result = from_device(src, &between->memory);
        if (!result) result = to_device(&between->memory, dst, to);
        ANeuralNetworksMemory_free(between);
        return result;
    }
    if (!src->buffer && !(a.prot & NNVTS_PROT_READ)) return ANEURALNETWORKS_UNMAPPABLE;
    if (!dst->buffer && !(b.prot & NNVTS_PROT_WRITE)) return ANEURALNETWORKS_UNMAPPABLE;
    if (src->buffer) return from_device(src, &b);
    if (dst->buffer) return to_device(&a, dst, to);
    if (!a.data || !b.data) return ANEURALNETWORKS_UNMAPPABLE;
    memmove(b.data, a.data, (size_t)to->bytes);
    return ANEURALNETWORKS_NO_ERROR;
}

/** *to: what the destination holds then. */
static int copy(const struct ANeuralNetworksMemory *src, const struct ANeuralNetworksMemory *dst, struct content *to,
                const char *function) {
    const struct content from = content_of(src);
    *to = from;
    if (!from.initialised) return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function, "the source holds no value");
    if (src->has_roles && dst->has_roles && !same_type(src, dst))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function, "the memories are of different types");
    if (dst->has_roles && !target_of(dst, &from, to))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function, "the memories are of different shapes");
    if (from.bytes != (dst->has_roles ? to->bytes : dst->memory.size))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function, "the memories are of different sizes");
    const int result = copy_bytes(src, dst, to);
    return result ? nnv_rt_error(result, function, "copying failed") : result;
}

int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst) {
    if (!src || !dst) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    if (src == dst) return ANEURALNETWORKS_NO_ERROR;
    struct content to;
    const int result = copy(src, dst, &to, NNV_RT_FUNCTION);
    if (dst->has_roles) set_state((struct ANeuralNetworksMemory *)dst, result == 0, to.rank, to.dims);
    return result;
}
