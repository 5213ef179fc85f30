/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file template.c The smallest legal driver: a starting point for your own.
 *
 * Copy the folder, rename it, and replace ADD on float32 by what your device can do. Build it on its own with
 *     cc -std=c17 -fPIC -shared -fvisibility=hidden -Iinclude -o mine.so mine.c
 * and judge it with `nnvts run --driver ./mine.so`.
 *
 * It shows what every driver owes its caller (include/nnvts/driver.h is the contract):
 *  1. nnvts_driver_get returns a table, whose open() makes a device.
 *  2. get_supported_operations and prepare_model check the model. A broken rule is INVALID_ARGUMENT; a legal
 *     operation that the device lacks is "false", and GENERAL_FAILURE when it is to be compiled all the same.
 *  3. prepare_model copies what it needs: the model's memory is gone afterwards.
 *  4. execute checks the request, never writes outside the output buffers, and reports shapes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "nnvts/driver.h"

enum { MAX_RANK = 4, SCALAR_TYPES = 3, TYPES = 6, LAST_OPERATION = ANEURALNETWORKS_TANH };

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ------------------------------------------------------------------ the model's rules, feature level 1 */

/** Bytes of an operand's value; 0 if an extent is unknown or the value is too large. Level 1 has six types. */
static uint32_t value_bytes(const struct nnvts_operand *o) {
    uint64_t bytes = o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? 1 : 4;
    for (uint32_t i = 0; i < o->dimension_count; i++) {
        bytes *= o->dimensions[i];
        if (bytes > UINT32_MAX) return 0;
    }
    return o->type >= SCALAR_TYPES && o->dimension_count == 0 ? 0 : (uint32_t)bytes;
}

/** A constant's value, or NULL if it does not lie where it says. The caller maps pools for us: data is not NULL here. */
static const void *constant(const struct nnvts_model *m, const struct nnvts_operand *o) {
    const struct nnvts_location *l = &o->location;
    const uint64_t end = (uint64_t)l->offset + l->length; /* in 64 bits: it can't overflow */
    if (l->length == 0 || l->length != value_bytes(o)) return NULL;
    if (o->lifetime == NNVTS_CONSTANT_COPY)
        return l->pool == 0 && end <= m->operand_values_bytes ? (const char *)m->operand_values + l->offset : NULL;
    if (l->pool >= m->pool_count || end > m->pools[l->pool].size || !m->pools[l->pool].data) return NULL;
    return (const char *)m->pools[l->pool].data + l->offset;
}

static bool operand_ok(const struct nnvts_model *m, const struct nnvts_operand *o) {
    if (o->type < 0 || o->type >= TYPES || (o->dimension_count && !o->dimensions)) return false;
    if (o->type < SCALAR_TYPES && o->dimension_count) return false;
    const bool quantised = o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, bias = o->type == ANEURALNETWORKS_TENSOR_INT32;
    if (!isfinite(o->scale) || (quantised ? o->scale <= 0 : bias ? o->scale < 0 : o->scale != 0)) return false;
    if (o->zero_point < 0 || o->zero_point > (quantised ? 255 : 0) || o->channel_quant.scale_count) return false;
    switch (o->lifetime) {
    case NNVTS_CONSTANT_COPY:
    case NNVTS_CONSTANT_REFERENCE: return constant(m, o) != NULL;
    case NNVTS_TEMPORARY_VARIABLE:
    case NNVTS_SUBGRAPH_INPUT:
    case NNVTS_SUBGRAPH_OUTPUT:
    case NNVTS_NO_VALUE: return o->location.pool == 0 && o->location.offset == 0 && o->location.length == 0;
    default: return false;
    }
}

/** The list names every operand of that lifetime, once. */
static bool ends_ok(const struct nnvts_subgraph *g, const uint32_t *list, uint32_t count, uint32_t lifetime) {
    uint32_t expected = 0;
    for (uint32_t i = 0; i < g->operand_count; i++) expected += g->operands[i].lifetime == lifetime;
    if (count != expected || (count && !list)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] >= g->operand_count || g->operands[list[i]].lifetime != lifetime) return false;
        for (uint32_t j = 0; j < i; j++)
            if (list[j] == list[i]) return false;
    }
    return true;
}

/** Operations stand in execution order: each value is written once, by one operation, before it is read. */
static bool order_ok(const struct nnvts_subgraph *g) {
    bool *ready = calloc((size_t)g->operand_count + 1, sizeof *ready), ok = ready != NULL;
    for (uint32_t i = 0; ok && i < g->operand_count; i++)
        ready[i] = g->operands[i].lifetime != NNVTS_TEMPORARY_VARIABLE && g->operands[i].lifetime != NNVTS_SUBGRAPH_OUTPUT;
    for (uint32_t i = 0; ok && i < g->operation_count; i++) {
        const struct nnvts_operation *op = &g->operations[i];
        ok = op->type >= 0 && op->type <= LAST_OPERATION && op->output_count && op->inputs && op->outputs;
        for (uint32_t k = 0; ok && k < op->input_count; k++) ok = op->inputs[k] < g->operand_count && ready[op->inputs[k]];
        for (uint32_t k = 0; ok && k < op->output_count; k++) {
            ok = op->outputs[k] < g->operand_count && !ready[op->outputs[k]];
            if (ok) ready[op->outputs[k]] = true;
        }
    }
    for (uint32_t i = 0; ok && i < g->operand_count; i++) ok = ready[i];
    free(ready);
    return ok;
}

/** ADD: two tensors of one type, a scalar, a tensor of that type; extents, where known, are broadcast. */
static bool add_ok(const struct nnvts_model *m, const struct nnvts_operation *op) {
    if (op->input_count != 3 || op->output_count != 1) return false;
    const struct nnvts_operand *o = m->main.operands, *a = &o[op->inputs[0]], *b = &o[op->inputs[1]],
                               *act = &o[op->inputs[2]], *y = &o[op->outputs[0]];
    if (a->type != b->type || a->type != y->type || act->type != ANEURALNETWORKS_INT32) return false;
    if (a->type != ANEURALNETWORKS_TENSOR_FLOAT32 && a->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM) return false;
    if (a->lifetime == NNVTS_NO_VALUE || b->lifetime == NNVTS_NO_VALUE || act->lifetime == NNVTS_NO_VALUE) return false;
    if (a->dimension_count > MAX_RANK || b->dimension_count > MAX_RANK) return false;
    int32_t code = ANEURALNETWORKS_FUSED_NONE;
    if (act->location.length) memcpy(&code, constant(m, act), sizeof code);
    if (code < ANEURALNETWORKS_FUSED_NONE || code > ANEURALNETWORKS_FUSED_RELU6) return false;
    if (!a->dimension_count || !b->dimension_count || !y->dimension_count) return true; /* unknown rank */
    const uint32_t rank = a->dimension_count > b->dimension_count ? a->dimension_count : b->dimension_count;
    if (y->dimension_count != rank) return false;
    for (uint32_t i = 1; i <= rank; i++) { /* from the last extent; what is missing in front is 1 */
        const uint32_t x = i <= a->dimension_count ? a->dimensions[a->dimension_count - i] : 1;
        const uint32_t z = i <= b->dimension_count ? b->dimensions[b->dimension_count - i] : 1;
        const uint32_t out = y->dimensions[rank - i];
        if (!x || !z || !out) continue; /* 0: unknown */
        if ((x != z && x != 1 && z != 1) || out != (x == 1 ? z : x)) return false;
    }
    return true;
}

static bool model_ok(const struct nnvts_model *m) {
    const struct nnvts_subgraph *g = &m->main;
    if (!g->operand_count || !g->operands || !g->operation_count || !g->operations) return false;
    if ((m->operand_values_bytes && !m->operand_values) || (m->pool_count && !m->pools)) return false;
    for (uint32_t i = 0; i < g->operand_count; i++)
        if (!operand_ok(m, &g->operands[i])) return false;
    if (!ends_ok(g, g->inputs, g->input_count, NNVTS_SUBGRAPH_INPUT)) return false;
    if (!ends_ok(g, g->outputs, g->output_count, NNVTS_SUBGRAPH_OUTPUT) || !order_ok(g)) return false;
    for (uint32_t i = 0; i < g->operation_count; i++)
        if (g->operations[i].type == ANEURALNETWORKS_ADD && !add_ok(m, &g->operations[i])) return false;
    return true;
}

/** What this device can do: ADD of float32, all extents known, a constant activation. */
static bool can_do(const struct nnvts_model *m, const struct nnvts_operation *op) {
    if (op->type != ANEURALNETWORKS_ADD) return false;
    const struct nnvts_operand *o = m->main.operands, *a = &o[op->inputs[0]], *b = &o[op->inputs[1]];
    return a->type == ANEURALNETWORKS_TENSOR_FLOAT32 && value_bytes(a) && value_bytes(b) &&
           value_bytes(&o[op->outputs[0]]) && o[op->inputs[2]].location.length;
}

/* ----------------------------------------------------------------------------------- compiled models */

struct value {
    uint32_t type, rank, dims[MAX_RANK], bytes;
    void *constant; /**< own copy, or NULL */
};
struct step {
    uint32_t a, b, y; /**< values */
    int32_t activation;
};
struct prepared {
    struct nnvts_prepared_model base; /**< first: a pointer to it is a pointer to the whole */
    uint32_t value_count, step_count, in_count, out_count;
    struct value *values;
    struct step *steps;
    uint32_t *in, *out;
};

/** y = act(a + b); the index of y, taken apart, says where a and b are read. */
static void add(const struct value *va, const struct value *vb, const struct value *vy, int32_t activation,
                const float *a, const float *b, float *y) {
    static const float least[] = {-INFINITY, 0, -1, 0}, most[] = {INFINITY, INFINITY, 1, 6};
    for (uint32_t e = 0; e < vy->bytes / sizeof *y; e++) {
        uint32_t rest = e, at_a = 0, at_b = 0, step_a = 1, step_b = 1;
        for (uint32_t i = 1; i <= vy->rank; i++) {
            const uint32_t index = rest % vy->dims[vy->rank - i];
            rest /= vy->dims[vy->rank - i];
            const uint32_t x = i <= va->rank ? va->dims[va->rank - i] : 1, z = i <= vb->rank ? vb->dims[vb->rank - i] : 1;
            at_a += x == 1 ? 0 : index * step_a;
            at_b += z == 1 ? 0 : index * step_b;
            step_a *= x;
            step_b *= z;
        }
        const float sum = a[at_a] + b[at_b];
        y[e] = sum < least[activation] ? least[activation] : sum > most[activation] ? most[activation] : sum;
    }
}

/** An argument's memory, or NULL if it is not exactly where and as large as it should be. */
static void *argument(const struct nnvts_request *r, const struct nnvts_argument *a, const struct value *v, uint32_t prot) {
    const struct nnvts_location *l = &a->location;
    if (a->has_no_value || l->pool >= r->pool_count || l->offset % 4 || (a->dimension_count && !a->dimensions)) return NULL;
    const struct nnvts_memory *m = &r->pools[l->pool];
    if (m->kind != NNVTS_MEMORY_SHARED || (m->prot & prot) != prot || (uint64_t)l->offset + l->length > m->size) return NULL;
    if (a->dimension_count && a->dimension_count != v->rank) return NULL;
    for (uint32_t i = 0; i < a->dimension_count; i++)
        if (a->dimensions[i] && a->dimensions[i] != v->dims[i]) return NULL;
    return m->data ? (char *)m->data + l->offset : NULL; /* a full driver maps m->fd when data is NULL */
}

static enum nnvts_status run(struct prepared *p, const struct nnvts_request *r, void **memory,
                             struct nnvts_execution_result *result) {
    enum nnvts_status st = NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < p->value_count; i++) memory[i] = p->values[i].constant;
    for (uint32_t i = 0; i < p->in_count; i++) {
        const struct value *v = &p->values[p->in[i]];
        memory[p->in[i]] = argument(r, &r->inputs[i], v, NNVTS_PROT_READ);
        if (!memory[p->in[i]] || r->inputs[i].location.length != v->bytes) return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    for (uint32_t i = 0; i < p->out_count; i++) {
        const struct value *v = &p->values[p->out[i]];
        memory[p->out[i]] = argument(r, &r->outputs[i], v, NNVTS_PROT_WRITE);
        if (!memory[p->out[i]]) return NNVTS_STATUS_INVALID_ARGUMENT;
        const bool fits = r->outputs[i].location.length >= v->bytes;
        if (!fits) st = NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
        struct nnvts_output_shape *s = &result->shapes[i]; /* the caller gave room for dimension_count extents */
        for (uint32_t d = 0; d < v->rank && d < s->dimension_count; d++) s->dimensions[d] = v->dims[d];
        s->dimension_count = v->rank;
        s->is_sufficient = fits;
    }
    if (st == NNVTS_STATUS_NONE)
        for (uint32_t i = 0; i < p->step_count; i++) {
            const struct step *s = &p->steps[i];
            if (!memory[s->y] && !(memory[s->y] = malloc(p->values[s->y].bytes))) return NNVTS_STATUS_GENERAL_FAILURE;
            add(&p->values[s->a], &p->values[s->b], &p->values[s->y], s->activation, memory[s->a], memory[s->b], memory[s->y]);
        }
    result->shape_count = p->out_count;
    return st;
}
