/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cliffs.c The option "cliffs": a driver whose behaviour changes at extents that are known: what nnvts datasheet
 * --cliffs must find (tests/system/cliffs.tsv). It is wrong on purpose.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/pool.h"
#include "sample.h"

enum { SLOW_NS = 400000, LINK_NS = 20000, ELEMENTS_20_BITS = 1 << 20, UNITS_16_BITS = 1 << 16 };

/** What an execution does beside the work. */
enum planted { NOTHING, ZEROS, SLOWLY, ABORT, FLAT_WRAPS, UNITS_WRAP };

struct cliff_prepared {
    struct nnvts_prepared_model base;
    struct nnvts_prepared_model *inner;
    enum planted planted;
    size_t elements, inner_extent; /* that the first output has, and its last extent */
};

/** Extents of the first input of the model's first operation, from the end. */
static uint32_t extent(const struct nnvts_model *m, uint32_t from_end) {
    const struct nnvts_operand *o = &m->main.operands[m->main.operations[0].inputs[0]];
    return from_end < o->dimension_count ? o->dimensions[o->dimension_count - 1 - from_end] : 1;
}

bool sample_below_cliff(const struct nnvts_model *m, const struct nnvts_operation *op) {
    const struct nnvts_model alone = {.main = {.operands = m->main.operands, .operations = op}};
    switch (op->type) {
    case ANEURALNETWORKS_LOGISTIC:
        return extent(&alone, 0) <= 1000;
    case ANEURALNETWORKS_FULLY_CONNECTED:
        return extent(&alone, 0) <= 2047;
    default:
        return true;
    }
}

static void spin(uint64_t ns) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (const uint64_t end = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + ns;
         (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec < end;)
        clock_gettime(CLOCK_MONOTONIC, &now);
}

static enum planted planted_in(const struct nnvts_model *m) {
    switch (m->main.operations[0].type) {
    case ANEURALNETWORKS_RELU:
        return extent(m, 0) > 2048 ? ZEROS : NOTHING;
    case ANEURALNETWORKS_ABS:
        return extent(m, 0) > 700 ? SLOWLY : NOTHING;
    case ANEURALNETWORKS_RELU6:
        return extent(m, 0) > 300 ? ABORT : NOTHING;
    case ANEURALNETWORKS_AVERAGE_POOL_2D:
        return extent(m, 0) > 48 ? ZEROS : NOTHING;
    case ANEURALNETWORKS_NEG:
        return FLAT_WRAPS;
    case ANEURALNETWORKS_FULLY_CONNECTED:
        return UNITS_WRAP;
    default:
        return NOTHING;
    }
}

/** Elements of lines of `line` that an index of too few bits does not reach are those that it reaches instead. */
static void wrap(uint8_t *data, size_t elements, size_t line, size_t index, size_t size) {
    for (size_t at = 0; at < elements; at += line)
        for (size_t i = index; i < line; i++) memcpy(data + (at + i) * size, data + (at + i % index) * size, size);
}

/** Spoils the first output. */
static void spoil(const struct cliff_prepared *p, const struct nnvts_request *r) {
    const struct nnvts_location *at = &r->outputs[0].location;
    struct common_mapping pool;
    if (p->elements == 0 || common_map(&r->pools[at->pool], &pool) != NNVTS_STATUS_NONE) return;
    uint8_t *data = pool.data + at->offset;
    if (p->planted == ZEROS)
        memset(data, 0, at->length);
    else if (p->planted == FLAT_WRAPS)
        wrap(data, p->elements, p->elements, ELEMENTS_20_BITS, at->length / p->elements);
    else if (p->planted == UNITS_WRAP)
        wrap(data, p->elements, p->inner_extent, UNITS_16_BITS, at->length / p->elements);
    common_unmap(&pool);
}

static enum nnvts_status execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    const struct cliff_prepared *p = (struct cliff_prepared *)self;
    if (p->planted == ABORT) abort();
    if (p->planted == SLOWLY) spin(SLOW_NS);
    const enum nnvts_status st = p->inner->execute(p->inner, request, config, result);
    if (st == NNVTS_STATUS_NONE) spoil(p, request);
    return st;
}

static void release(struct nnvts_prepared_model *self) {
    struct cliff_prepared *p = (struct cliff_prepared *)self;
    p->inner->release(p->inner);
    free(p);
}

enum nnvts_status sample_plant_cliff(const struct nnvts_model *m, struct nnvts_prepared_model *inner,
                                     struct nnvts_prepared_model **out) {
    const uint64_t count = m->main.operation_count;
    uint64_t elements = 1;
    *out = inner;
    if (m->main.operations[0].type == ANEURALNETWORKS_RELU1 && count > 1) spin(count * count * LINK_NS);
    if (m->main.operation_count != 1) return NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < m->main.operands[m->main.operations[0].inputs[0]].dimension_count; i++)
        elements *= extent(m, i);
    if (m->main.operations[0].type == ANEURALNETWORKS_FLOOR) spin(elements * elements / 16); /* compiles ever slower */
    if (m->main.operations[0].type == ANEURALNETWORKS_TANH && extent(m, 0) > 512) {
        inner->release(inner);
        *out = NULL;
        return NNVTS_STATUS_GENERAL_FAILURE;
    }
    const enum planted planted = planted_in(m);
    if (planted == NOTHING) return NNVTS_STATUS_NONE;
    struct cliff_prepared *p = calloc(1, sizeof *p);
    if (!p) {
        inner->release(inner);
        *out = NULL;
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    *p = (struct cliff_prepared){.base = {.struct_size = sizeof p->base, .execute = execute, .release = release},
                                 .inner = inner,
                                 .planted = planted,
                                 .elements = 1};
    const struct nnvts_operand *y = &m->main.operands[m->main.operations[0].outputs[0]];
    for (uint32_t i = 0; i < y->dimension_count; i++) p->elements *= p->inner_extent = y->dimensions[i];
    *out = &p->base;
    return NNVTS_STATUS_NONE;
}
