/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "faulty.h"

enum { ADDED_OPERANDS = 8 }; /* at most, an operation */

struct edit_block {
    struct edit_block *next;
    max_align_t data[];
};

void *edit_alloc(struct edit *e, size_t bytes) {
    struct edit_block *b = calloc(1, sizeof *b + bytes);
    if (!b) {
        e->failed = true;
        return NULL;
    }
    b->next = e->blocks;
    e->blocks = b;
    return b->data;
}

static void *edit_copy(struct edit *e, const void *from, size_t bytes) {
    void *p = edit_alloc(e, bytes);
    if (p && bytes) memcpy(p, from, bytes);
    return p;
}

bool edit_begin(struct edit *e, const struct nnvts_model *model) {
    const struct nnvts_subgraph *main = &model->main;
    *e = (struct edit){.model = *model, .operand_cap = main->operand_count + main->operation_count * ADDED_OPERANDS};
    e->operands = edit_alloc(e, e->operand_cap * sizeof *e->operands);
    e->operations = edit_copy(e, main->operations, main->operation_count * sizeof *e->operations);
    e->values = edit_copy(e, model->operand_values, model->operand_values_bytes);
    if (e->failed) return false;
    memcpy(e->operands, main->operands, main->operand_count * sizeof *e->operands);
    e->model.main.operands = e->operands;
    e->model.main.operations = e->operations;
    e->model.operand_values = e->values;
    return true;
}

void edit_end(struct edit *e) {
    while (e->blocks) {
        struct edit_block *next = e->blocks->next;
        free(e->blocks);
        e->blocks = next;
    }
}

static struct nnvts_operand *operand(struct edit *e, const uint32_t *list, uint32_t count, uint32_t pos) {
    return pos < count && list[pos] < e->model.main.operand_count ? &e->operands[list[pos]] : NULL;
}

struct nnvts_operand *edit_input(struct edit *e, const struct nnvts_operation *op, uint32_t pos) {
    return operand(e, op->inputs, op->input_count, pos);
}

struct nnvts_operand *edit_output(struct edit *e, const struct nnvts_operation *op, uint32_t pos) {
    return operand(e, op->outputs, op->output_count, pos);
}

static void *pool_value(struct edit *e, const struct nnvts_location *at) {
    if (at->pool >= e->model.pool_count) return NULL;
    const struct nnvts_memory *m = &e->model.pools[at->pool];
    if (m->kind != NNVTS_MEMORY_SHARED || at->offset > m->size || at->length > m->size - at->offset) return NULL;
    if (m->data) return edit_copy(e, (const uint8_t *)m->data + at->offset, at->length);
    void *p = mmap(NULL, m->size, PROT_READ, MAP_SHARED, m->fd, (off_t)m->offset);
    if (p == MAP_FAILED) return NULL;
    void *copy = edit_copy(e, (const uint8_t *)p + at->offset, at->length);
    munmap(p, m->size);
    return copy;
}

void *edit_value(struct edit *e, const struct nnvts_operand *o) {
    const struct nnvts_location *at = &o->location;
    if (o->lifetime == NNVTS_CONSTANT_REFERENCE) return pool_value(e, at);
    if (o->lifetime != NNVTS_CONSTANT_COPY || at->offset > e->model.operand_values_bytes ||
        at->length > e->model.operand_values_bytes - at->offset)
        return NULL;
    return edit_copy(e, e->values + at->offset, at->length);
}

int32_t edit_int(struct edit *e, const struct nnvts_operation *op, uint32_t pos, int32_t dflt) {
    const struct nnvts_operand *o = edit_input(e, op, pos);
    const uint8_t *value = o ? edit_value(e, o) : NULL;
    int32_t v = dflt;
    if (value && o->type == ANEURALNETWORKS_BOOL && o->location.length == 1) v = *value != 0;
    if (value && o->type == ANEURALNETWORKS_INT32 && o->location.length == sizeof v) memcpy(&v, value, sizeof v);
    return v;
}

uint32_t edit_add(struct edit *e, struct nnvts_operand like, const void *value, uint32_t bytes) {
    uint32_t at = (e->model.operand_values_bytes + 3) / 4 * 4, index = e->model.main.operand_count;
    uint8_t *grown = edit_alloc(e, (size_t)at + bytes);
    if (!grown || index == e->operand_cap) {
        e->failed = true;
        return 0;
    }
    if (e->model.operand_values_bytes) memcpy(grown, e->values, e->model.operand_values_bytes);
    if (bytes) memcpy(grown + at, value, bytes);
    e->model.operand_values = e->values = grown;
    e->model.operand_values_bytes = at + bytes;
    like.lifetime = NNVTS_CONSTANT_COPY;
    like.location = (struct nnvts_location){.offset = at, .length = bytes};
    e->operands[index] = like;
    e->model.main.operand_count++;
    return index;
}

uint32_t edit_add_int(struct edit *e, int32_t value) {
    return edit_add(e, (struct nnvts_operand){.type = ANEURALNETWORKS_INT32}, &value, sizeof value);
}

void edit_set_inputs(struct edit *e, struct nnvts_operation *op, const uint32_t *inputs, uint32_t count) {
    uint32_t *copy = edit_copy(e, inputs, count * sizeof *copy);
    if (!copy) return;
    op->inputs = copy;
    op->input_count = count;
}

static void set_input(struct edit *e, struct nnvts_operation *op, uint32_t pos, uint32_t index) {
    uint32_t *copy = edit_copy(e, op->inputs, op->input_count * sizeof *copy);
    if (!copy) return;
    copy[pos] = index;
    op->inputs = copy;
}

void edit_replace(struct edit *e, struct nnvts_operation *op, uint32_t pos, const void *value, uint32_t bytes) {
    set_input(e, op, pos, edit_add(e, *edit_input(e, op, pos), value, bytes));
}

void edit_replace_int(struct edit *e, struct nnvts_operation *op, uint32_t pos, int32_t value) {
    const uint8_t flag = value != 0;
    if (edit_input(e, op, pos)->type == ANEURALNETWORKS_BOOL)
        edit_replace(e, op, pos, &flag, 1);
    else
        edit_replace(e, op, pos, &value, sizeof value);
}

uint32_t type_bytes(int32_t type) {
    switch (type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_UINT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32:
    case ANEURALNETWORKS_TENSOR_INT32:
        return 4;
    case ANEURALNETWORKS_FLOAT16:
    case ANEURALNETWORKS_TENSOR_FLOAT16:
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT16_ASYMM:
        return 2;
    case ANEURALNETWORKS_BOOL:
    case ANEURALNETWORKS_TENSOR_BOOL8:
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL:
        return 1;
    }
    return 0;
}

bool type_is_quant8(int32_t type) {
    return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
}

uint32_t operand_elems(const struct nnvts_operand *o) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < o->dimension_count; i++) n = n * o->dimensions[i] <= UINT32_MAX ? n * o->dimensions[i] : 0;
    return (uint32_t)n;
}
