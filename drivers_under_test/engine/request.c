/* SPDX-License-Identifier: Apache-2.0 */
/** @file request.c Is a request legal, and where is its memory? Every shape is known before. */
#include <string.h>

#include "shell.h"

/** The argument agrees with the model and lies inside its pool. */
static bool bind(const struct engine_tensor *t, const struct nnvts_request *r, const struct nnvts_argument *a,
                 const struct common_mapping *mappings, uint32_t need, struct engine_argument *out) {
    const struct nnvts_location *l = &a->location;
    if (a->has_no_value || l->pool >= r->pool_count) return false;
    const struct nnvts_memory *pool = &r->pools[l->pool];
    if (t->bytes / t->count == 4 && l->offset % 4) return false;
    if ((pool->prot & need) != need || (uint64_t)l->offset + l->length + l->padding > pool->size) return false;
    if (a->dimension_count && (!a->dimensions || a->dimension_count != t->rank)) return false;
    for (uint32_t d = 0; d < a->dimension_count; d++)
        if (a->dimensions[d] && a->dimensions[d] != t->dims[d]) return false;
    uint8_t *start = mappings[l->pool].data;
    if (!start && l->length) return false;
    *out = (struct engine_argument){start ? start + l->offset : NULL, start ? start + pool->size : NULL, l->length};
    return true;
}

static bool share(const struct engine_argument *a, const struct engine_argument *b) {
    const uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
    return a->length && b->length && x < y + b->length && y < x + a->length;
}

/** Outputs lie over no input and no other output. */
static bool apart(const struct engine_argument *arguments, uint32_t in_count, uint32_t count) {
    for (uint32_t o = in_count; o < count; o++)
        for (uint32_t i = 0; i < o; i++)
            if (share(&arguments[o], &arguments[i])) return false;
    return true;
}

static bool request_ok(const struct engine_model *m, const struct nnvts_request *r,
                       const struct common_mapping *mappings, struct engine_argument *arguments) {
    for (uint32_t i = 0; i < m->in_count; i++) {
        const struct engine_tensor *t = &m->tensors[m->in[i]];
        if (!bind(t, r, &r->inputs[i], mappings, NNVTS_PROT_READ, &arguments[i])) return false;
        if (arguments[i].length != t->bytes) return false;
    }
    for (uint32_t i = 0; i < m->out_count; i++)
        if (!bind(&m->tensors[m->out[i]], r, &r->outputs[i], mappings, NNVTS_PROT_WRITE, &arguments[m->in_count + i]))
            return false;
    return apart(arguments, m->in_count, m->in_count + m->out_count);
}

enum nnvts_status engine_bind(const struct engine_model *m, const struct nnvts_request *r,
                              const struct common_mapping *mappings, struct engine_argument *arguments,
                              struct nnvts_execution_result *result) {
    if (!request_ok(m, r, mappings, arguments)) return NNVTS_STATUS_INVALID_ARGUMENT;
    bool sufficient = true;
    for (uint32_t i = 0; i < m->out_count; i++) {
        const struct engine_tensor *t = &m->tensors[m->out[i]];
        struct nnvts_output_shape *s = &result->shapes[i];
        for (uint32_t d = 0; d < t->rank && d < s->dimension_count; d++) s->dimensions[d] = t->dims[d];
        s->dimension_count = t->rank;
        s->is_sufficient = arguments[m->in_count + i].length >= t->bytes;
        sufficient = sufficient && s->is_sufficient;
    }
    result->shape_count = m->out_count;
    return sufficient ? NNVTS_STATUS_NONE : NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
}
