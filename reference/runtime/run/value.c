/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/run/value.h"

#include <string.h>

#include "reference/runtime/device.h"

enum { LEAST_ROOM = 4096 };

void nnv_rt_value_declare(struct nnv_rt_value *v, const struct nnvts_operand *o) {
    *v = (struct nnv_rt_value){.type = o->type, .declared_rank = o->dimension_count, .sufficient = true};
    if (v->declared_rank > NNV_MAX_RANK) v->declared_rank = 0;
    if (v->declared_rank) memcpy(v->declared, o->dimensions, v->declared_rank * sizeof *v->declared);
}

void nnv_rt_value_constant(struct nnv_rt_value *v, const struct nnvts_operand *o, const struct nnvts_model *model) {
    const struct nnvts_location *at = &o->location;
    nnv_rt_value_declare(v, o);
    nnv_rt_value_as_declared(v);
    v->room = v->length = at->length;
    if (o->lifetime == NNVTS_CONSTANT_REFERENCE) {
        v->pool = model->pools[at->pool];
        v->offset = at->offset;
        v->padding = at->padding;
        return;
    }
    uint8_t *data = (uint8_t *)(uintptr_t)model->operand_values + at->offset;
    v->pool = (struct nnvts_memory){.prot = NNVTS_PROT_READ, .fd = -1, .size = at->length, .data = data};
}

void nnv_rt_value_place(struct nnv_rt_value *v, struct ANeuralNetworksMemory *memory, uint64_t offset, uint64_t bytes) {
    v->memory = memory;
    v->pool = memory->memory;
    v->offset = (uint32_t)offset;
    v->room = (uint32_t)bytes;
}

void nnv_rt_value_reset(struct nnv_rt_value *v) {
    v->sufficient = true;
    v->length = 0;
    v->rank = v->declared_rank;
    memcpy(v->dims, v->declared, v->rank * sizeof *v->dims);
}

int nnv_rt_value_grow(struct nnv_rt_value *v, uint64_t bytes) {
    if (v->memory && v->room >= bytes) return ANEURALNETWORKS_NO_ERROR;
    if (bytes > UINT32_MAX) return ANEURALNETWORKS_OUT_OF_MEMORY;
    nnv_rt_value_release(v);
    if (bytes < LEAST_ROOM) bytes = LEAST_ROOM;
    struct ANeuralNetworksMemory *memory = nnv_rt_memory_shared(bytes);
    if (!memory) return ANEURALNETWORKS_OUT_OF_MEMORY;
    nnv_rt_value_place(v, memory, 0, bytes);
    v->grows = true;
    return ANEURALNETWORKS_NO_ERROR;
}

void nnv_rt_value_release(struct nnv_rt_value *v) {
    if (!v->grows || !v->memory) return;
    ANeuralNetworksMemory_free(v->memory);
    v->memory = NULL;
    v->pool = (struct nnvts_memory){.fd = -1};
    v->room = 0;
}

bool nnv_rt_value_bytes(int32_t type, uint32_t rank, const uint32_t *dims, uint64_t *bytes) {
    uint64_t n = nnv_rt_type_bytes(type, NULL);
    for (uint32_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(n, dims[i], &n)) return false;
    *bytes = n;
    return n <= UINT32_MAX;
}

bool nnv_rt_value_as_declared(struct nnv_rt_value *v) {
    bool tensor = false;
    uint64_t bytes;
    nnv_rt_type_bytes(v->type, &tensor);
    nnv_rt_value_reset(v);
    if (tensor && v->rank == 0) return false;
    for (uint32_t i = 0; i < v->rank; i++)
        if (v->dims[i] == 0) return false;
    if (!nnv_rt_value_bytes(v->type, v->rank, v->dims, &bytes)) return false;
    v->length = (uint32_t)bytes;
    return true;
}

bool nnv_rt_value_accepts(const struct nnv_rt_value *v, uint32_t rank, const uint32_t *dims) {
    if (v->declared_rank == 0) {
        bool tensor = false;
        nnv_rt_type_bytes(v->type, &tensor);
        return tensor || rank == 0;
    }
    if (rank != v->declared_rank) return false;
    for (uint32_t i = 0; i < rank; i++)
        if (v->declared[i] && v->declared[i] != dims[i]) return false;
    return true;
}

int nnv_rt_value_stage(const struct nnv_rt_value *v, bool is_output, struct nnv_rt_value *shared) {
    *shared = *v;
    shared->memory = NULL;
    shared->grows = true;
    shared->room = 0;
    uint64_t bytes = v->length;
    if (is_output) {
        struct nnv_rt_value declared = *v;
        if (nnv_rt_value_as_declared(&declared)) bytes = declared.length;
    }
    int result = nnv_rt_value_grow(shared, bytes);
    if (result || is_output) return result;
    struct nnvts_memory exact = shared->pool;
    exact.size = bytes;
    enum nnvts_status st = v->memory->buffer->copy_to(v->memory->buffer, &exact);
    result = nnv_rt_result(nnv_rt_device_note(v->memory->device, st));
    if (result) nnv_rt_value_release(shared);
    return result;
}

int nnv_rt_value_unstage(const struct nnv_rt_value *shared, struct nnv_rt_value *v) {
    struct nnvts_buffer *buffer = v->memory->buffer;
    struct nnvts_memory exact = shared->pool;
    exact.size = shared->length;
    v->sufficient = shared->sufficient;
    v->length = shared->length;
    v->rank = shared->rank;
    memcpy(v->dims, shared->dims, sizeof v->dims);
    if (!v->sufficient) return ANEURALNETWORKS_NO_ERROR;
    enum nnvts_status st = buffer->copy_from(buffer, &exact, v->dims, v->rank);
    return nnv_rt_result(nnv_rt_device_note(v->memory->device, st));
}

static void take_shape(struct nnv_rt_value *to, const struct nnv_rt_value *from) {
    to->length = from->length;
    to->rank = from->rank;
    memcpy(to->dims, from->dims, sizeof to->dims);
}

/** Neither is device memory. */
static int copy_shared(const struct nnv_rt_value *from, struct nnv_rt_value *to) {
    if (!nnv_rt_value_accepts(to, from->rank, from->dims)) return ANEURALNETWORKS_OP_FAILED;
    take_shape(to, from);
    if (to->grows) {
        int result = nnv_rt_value_grow(to, from->length);
        if (result) return result;
    }
    to->sufficient = to->room >= from->length;
    if (!to->sufficient) return ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
    if (!from->length) return ANEURALNETWORKS_NO_ERROR;
    if (!from->pool.data || !to->pool.data) return ANEURALNETWORKS_UNMAPPABLE;
    memmove((uint8_t *)to->pool.data + to->offset, (const uint8_t *)from->pool.data + from->offset, from->length);
    return ANEURALNETWORKS_NO_ERROR;
}

int nnv_rt_value_copy(const struct nnv_rt_value *from, struct nnv_rt_value *to) {
    if (from->omitted || to->omitted) return ANEURALNETWORKS_OP_FAILED;
    struct nnv_rt_value source, target;
    const bool stage_from = nnv_rt_value_in_device(from), stage_to = nnv_rt_value_in_device(to);
    int result = stage_from ? nnv_rt_value_stage(from, false, &source) : ANEURALNETWORKS_NO_ERROR;
    if (result) return result;
    if (stage_to) result = nnv_rt_value_stage(to, true, &target);
    if (!result) {
        result = copy_shared(stage_from ? &source : from, stage_to ? &target : to);
        if (!result && stage_to) result = nnv_rt_value_unstage(&target, to);
        if (stage_to) nnv_rt_value_release(&target);
    }
    if (stage_from) nnv_rt_value_release(&source);
    return result;
}

int nnv_rt_value_read_bool(const struct nnv_rt_value *v, bool *out) {
    struct nnv_rt_value staged;
    const bool stage = !v->omitted && nnv_rt_value_in_device(v);
    if (v->omitted || v->length == 0) return ANEURALNETWORKS_OP_FAILED;
    int result = stage ? nnv_rt_value_stage(v, false, &staged) : ANEURALNETWORKS_NO_ERROR;
    if (result) return result;
    const struct nnv_rt_value *from = stage ? &staged : v;
    if (from->pool.data)
        *out = ((const uint8_t *)from->pool.data)[from->offset] != 0;
    else
        result = ANEURALNETWORKS_UNMAPPABLE;
    if (stage) nnv_rt_value_release(&staged);
    return result;
}
