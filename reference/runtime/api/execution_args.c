/* SPDX-License-Identifier: Apache-2.0 */
/** @file execution_args.c The inputs and outputs of an execution: from pointers and from memories. */
#include <string.h>

#include "reference/runtime/api/execution.h"
#include "reference/runtime/log.h"

/** One call. */
struct setting {
    ANeuralNetworksExecution *execution;
    const char *function;
    bool is_output;
    int32_t index;
    const ANeuralNetworksOperandType *type;
};

static uint32_t count_of(const struct setting *s) {
    return s->is_output ? s->execution->output_count : s->execution->input_count;
}

static struct nnv_rt_value *value_of(const struct setting *s) {
    return s->is_output ? &s->execution->outputs[s->index] : &s->execution->inputs[s->index];
}

static bool *is_set(const struct setting *s) {
    return &s->execution->is_set[(s->is_output ? s->execution->input_count : 0) + (uint32_t)s->index];
}

static const char *noun(const struct setting *s) { return s->is_output ? "output" : "input"; }

/** State, index, and that the type, if any, completes the model's. *v is what is declared then. */
static int check(const struct setting *s, struct nnv_rt_value *v) {
    ANeuralNetworksExecution *e = s->execution;
    pthread_mutex_lock(&e->lock);
    const bool started = e->state != NNV_RT_PREPARATION;
    pthread_mutex_unlock(&e->lock);
    if (started)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, s->function, "the execution has been started; make another");
    if (s->index < 0 || (uint32_t)s->index >= count_of(s))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, s->function, "there is no %s %d; the model has %u", noun(s),
                            s->index, count_of(s));
    const struct nnvts_subgraph *main = &e->compilation->model->model.main;
    const struct nnvts_operand *o = &main->operands[(s->is_output ? main->outputs : main->inputs)[s->index]];
    nnv_rt_value_declare(v, o);
    if (nnv_rt_operand_refine(o, s->type, &v->declared_rank, v->declared) != ANEURALNETWORKS_NO_ERROR)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, s->function,
                            "%s %d: the type given contradicts the model's; only unknown extents may be completed",
                            noun(s), s->index);
    return ANEURALNETWORKS_NO_ERROR;
}

/** Inputs are of known size; a length is the size, or more with padding; an output of unknown size takes any. */
static int check_length(const struct setting *s, size_t length, struct nnv_rt_value *v) {
    uint64_t least = 1;
    for (uint32_t i = 0; i < v->declared_rank; i++)
        if (v->declared[i] && __builtin_mul_overflow(least, v->declared[i], &least)) least = UINT64_MAX / 2;
    const bool known = nnv_rt_value_as_declared(v);
    if (length > UINT32_MAX || (!known && least > UINT32_MAX))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, s->function, "%s %d is larger than 4 GiB", noun(s), s->index);
    if (!known && !s->is_output)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, s->function,
                            "input %d: extents are unknown; give a type that tells them", s->index);
    v->room = (uint32_t)length;
    if (!known) return ANEURALNETWORKS_NO_ERROR;
    if (length < v->length || (length > v->length && !s->execution->padding))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, s->function, "%s %d has %u bytes, not %zu%s", noun(s), s->index,
                            v->length, length,
                            length > v->length ? "; enableInputAndOutputPadding allows for more" : "");
    v->padding = (uint32_t)length - v->length;
    v->room = v->length;
    return ANEURALNETWORKS_NO_ERROR;
}

/** The last of the checks: it is the first time. */
static int keep(const struct setting *s, const struct nnv_rt_value *v) {
    if (*is_set(s))
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, s->function, "%s %d was set before", noun(s), s->index);
    *value_of(s) = *v;
    *is_set(s) = true;
    s->execution->has_arguments = true;
    return ANEURALNETWORKS_NO_ERROR;
}

static int set_pointer(const struct setting *s, void *buffer, size_t length) {
    struct nnv_rt_value v = {0};
    int result = check(s, &v);
    if (result) return result;
    if (!buffer) {
        v.omitted = true;
        return keep(s, &v);
    }
    if (length == 0)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, s->function, "%s %d: a buffer of 0 bytes", noun(s), s->index);
    result = check_length(s, length, &v);
    if (result) return result;
    v.pool = (struct nnvts_memory){.prot = s->is_output ? NNVTS_PROT_READ | NNVTS_PROT_WRITE : NNVTS_PROT_READ,
                                   .fd = -1,
                                   .size = length,
                                   .data = buffer};
    return keep(s, &v);
}

static bool shapes_fit(const struct nnv_rt_value *v, const struct ANeuralNetworksMemory *m) {
    if (!v->declared_rank || !m->rank) return true;
    for (uint32_t i = 0; i < m->rank; i++)
        if (v->declared_rank != m->rank || (v->declared[i] && m->dims[i] && v->declared[i] != m->dims[i])) return false;
    return true;
}

/** A memory made from a descriptor is used as a whole. */
static int place_whole(const struct setting *s, const struct ANeuralNetworksMemory *m, struct nnv_rt_value *v) {
    if (!shapes_fit(v, m))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, s->function, "%s %d: the memory is of another shape", noun(s),
                            s->index);
    if (!nnv_rt_value_as_declared(v) && !s->is_output)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, s->function,
                            "input %d: extents are unknown; give a type that tells them", s->index);
    nnv_rt_value_place(v, (struct ANeuralNetworksMemory *)m, 0, m->buffer ? 0 : m->memory.size);
    return ANEURALNETWORKS_NO_ERROR;
}

static int set_memory(const struct setting *s, const struct ANeuralNetworksMemory *m, size_t offset, size_t length) {
    struct nnv_rt_value v = {0};
    int result = check(s, &v);
    if (result) return result;
    if (!nnv_rt_memory_has_role(m, s->execution->compilation, s->is_output, (uint32_t)s->index))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, s->function, "%s %d is no role of the memory", noun(s), s->index);
    result = nnv_rt_memory_check(m, offset, length);
    if (result)
        return nnv_rt_error(result, s->function, "%s %d: %zu bytes at offset %zu are no part of the memory", noun(s),
                            s->index, length, offset);
    if (m->has_roles) {
        result = place_whole(s, m, &v);
        return result ? result : keep(s, &v);
    }
    if (offset > UINT32_MAX)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, s->function, "offsets above 4 GiB are not supported");
    result = check_length(s, length, &v);
    if (result) return result;
    const uint32_t room = v.room;
    nnv_rt_value_place(&v, (struct ANeuralNetworksMemory *)m, offset, room);
    return keep(s, &v);
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index,
                                      const ANeuralNetworksOperandType *type, const void *buffer, size_t length) {
    if (!execution || (!buffer && length)) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    const struct setting s = {execution, NNV_RT_FUNCTION, false, index, type};
    return set_pointer(&s, (void *)(uintptr_t)buffer, length);
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *execution, int32_t index,
                                       const ANeuralNetworksOperandType *type, void *buffer, size_t length) {
    if (!execution || (!buffer && length)) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    const struct setting s = {execution, NNV_RT_FUNCTION, true, index, type};
    return set_pointer(&s, buffer, length);
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                const ANeuralNetworksOperandType *type,
                                                const ANeuralNetworksMemory *memory, size_t offset, size_t length) {
    if (!execution || !memory) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    const struct setting s = {execution, NNV_RT_FUNCTION, false, index, type};
    return set_memory(&s, memory, offset, length);
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                 const ANeuralNetworksOperandType *type,
                                                 const ANeuralNetworksMemory *memory, size_t offset, size_t length) {
    if (!execution || !memory) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    const struct setting s = {execution, NNV_RT_FUNCTION, true, index, type};
    return set_memory(&s, memory, offset, length);
}
