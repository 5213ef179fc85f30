/* SPDX-License-Identifier: Apache-2.0 */
/** @file order.c Relations of bookkeeping: numbers, orders, lifetimes, what is an input and what an output. */
#include <string.h>

#include "randgraph/relate/relate.h"
#include "reference/model/validate.h"

/* A random permutation of n numbers, or NULL. */
static uint32_t *permutation(struct nnv_related *r, uint32_t n) {
    uint32_t *p = NNV_NEW(r->arena, uint32_t, n);
    for (uint32_t i = 0; p && i < n; i++) {
        const uint32_t at = (uint32_t)nnv_rng_int(&r->rng, 0, i);
        p[i] = p[at];
        p[at] = i;
    }
    return p;
}

static bool is_identity(const uint32_t *p, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (p[i] != i) return false;
    return true;
}

static void rename_all(uint32_t *list, uint32_t n, const uint32_t *number) {
    for (uint32_t i = 0; i < n; i++) list[i] = number[list[i]];
}

bool nnv_relate_renumbered(struct nnv_related *r) {
    struct nnv_subgraph *m = &r->to->model.main;
    const uint32_t *number = permutation(r, m->noperands);
    struct nnv_operand *were = nnv_arena_copy(r->arena, m->operands, m->noperands * sizeof *were);
    if (!number || !were || is_identity(number, m->noperands)) return false;
    for (uint32_t i = 0; i < m->noperands; i++) m->operands[number[i]] = were[i];
    for (uint32_t i = 0; i < m->noperations; i++) {
        rename_all(m->operations[i].in, m->operations[i].nin, number);
        rename_all(m->operations[i].out, m->operations[i].nout, number);
    }
    rename_all(m->in, m->nin, number);
    rename_all(m->out, m->nout, number);
    return true;
}

/* True if the operation reads nothing that is still to be written. */
static bool is_ready(const struct nnv_operation *op, const bool *pending) {
    for (uint32_t i = 0; i < op->nin; i++)
        if (pending[op->in[i]]) return false;
    return true;
}

bool nnv_relate_reordered(struct nnv_related *r) {
    struct nnv_subgraph *m = &r->to->model.main;
    const struct nnv_operation *were = r->from->model.main.operations;
    bool *pending = NNV_NEW(r->arena, bool, m->noperands), *done = NNV_NEW(r->arena, bool, m->noperations);
    struct nnv_operation *now = NNV_NEW(r->arena, struct nnv_operation, m->noperations);
    bool changed = false;
    if (!pending || !done || !now) return false;
    for (uint32_t i = 0; i < m->noperations; i++)
        for (uint32_t k = 0; k < were[i].nout; k++) pending[were[i].out[k]] = true;
    for (uint32_t n = 0; n < m->noperations; n++) {
        uint32_t pick = 0;
        int64_t ready = 0;
        for (uint32_t i = 0; i < m->noperations; i++)
            if (!done[i] && is_ready(&were[i], pending) && nnv_rng_int(&r->rng, 0, ready++) == 0) pick = i;
        if (!ready) return false;
        done[pick] = true;
        for (uint32_t k = 0; k < were[pick].nout; k++) pending[were[pick].out[k]] = false;
        now[n] = m->operations[pick];
        changed = changed || pick != n;
    }
    memcpy(m->operations, now, m->noperations * sizeof *now);
    return changed;
}

bool nnv_relate_inputs_permuted(struct nnv_related *r) {
    struct nnv_subgraph *m = &r->to->model.main;
    const uint32_t *p = permutation(r, m->nin);
    if (!p || is_identity(p, m->nin)) return false;
    for (uint32_t i = 0; i < m->nin; i++) {
        m->in[i] = r->from->model.main.in[p[i]];
        r->to->inputs[i] = r->from->inputs[p[i]];
    }
    return true;
}

bool nnv_relate_outputs_permuted(struct nnv_related *r) {
    struct nnv_subgraph *m = &r->to->model.main;
    uint32_t *p = permutation(r, m->nout);
    if (!p || is_identity(p, m->nout)) return false;
    for (uint32_t i = 0; i < m->nout; i++) m->out[i] = r->from->model.main.out[p[i]];
    r->output = p;
    return true;
}

bool nnv_relate_lifetimes(struct nnv_related *r) {
    struct nnv_subgraph *m = &r->to->model.main;
    bool changed = false;
    for (uint32_t i = 0; i < m->noperands; i++) {
        struct nnv_operand *o = &m->operands[i];
        if (!nnv_is_constant(o)) continue;
        o->lifetime = o->lifetime == NNV_CONSTANT_COPY ? NNV_CONSTANT_REFERENCE : NNV_CONSTANT_COPY;
        changed = true;
    }
    return changed;
}

bool nnv_relate_open(struct nnv_related *r) {
    struct nnv_subgraph *m = &r->to->model.main;
    struct nnv_err why = {0};
    bool changed = false;
    for (uint32_t i = 0; i < m->noperands; i++) {
        struct nnv_operand *o = &m->operands[i];
        if (o->rank == 0 || nnv_is_constant(o) || o->lifetime == NNV_NO_VALUE || o->lifetime == NNV_SUBGRAPH) continue;
        const uint32_t at = (uint32_t)nnv_rng_int(&r->rng, 0, (int64_t)o->rank - 1), was = o->dims[at];
        o->dims[at] = 0;
        const bool valid = nnv_validate(&r->to->model, r->arena, NULL, &why) == NNV_OK;
        if (!valid) o->dims[at] = was;
        changed = changed || (valid && was != 0);
    }
    return changed;
}

/* ------------------------------------------------------------------- results */

bool nnv_relate_promoted(struct nnv_related *r) {
    struct nnv_subgraph *m = &r->to->model.main;
    uint32_t pick = 0;
    int64_t found = 0;
    for (uint32_t i = 0; i < m->noperands; i++)
        if (m->operands[i].lifetime == NNV_TEMPORARY_VARIABLE && nnv_rng_int(&r->rng, 0, found++) == 0) pick = i;
    if (!found) return false;
    const uint32_t at = (uint32_t)nnv_rng_int(&r->rng, 0, m->nout);
    memmove(&m->out[at + 1], &m->out[at], (m->nout - at) * sizeof *m->out);
    memmove(&r->output[at + 1], &r->output[at], (m->nout - at) * sizeof *r->output);
    m->operands[pick].lifetime = NNV_SUBGRAPH_OUTPUT;
    m->out[at] = pick;
    r->output[at] = NNV_RELATED_NONE;
    m->nout++;
    return true;
}

bool nnv_relate_unused(struct nnv_related *r) {
    uint32_t at, position;
    if (!nnv_relate_edge(r, 1, &at, &position)) return false;
    const uint32_t in = r->from->model.main.operations[at].in[position];
    const uint32_t out = nnv_relate_tensor(r, in, r->shapes[in].rank, r->shapes[in].dims);
    nnv_relate_insert(r, at, ANEURALNETWORKS_RELU, 1, &in, 1, &out);
    return true;
}

bool nnv_relate_again(struct nnv_related *r, uint32_t *inserted) {
    struct nnv_subgraph *m = &r->to->model.main;
    uint32_t reader, position, writer = 0, out = 0;
    if (!nnv_relate_edge(r, 1, &reader, &position)) return false;
    const uint32_t value = m->operations[reader].in[position];
    bool found = false;
    for (uint32_t i = 0; i < reader; i++)
        for (uint32_t k = 0; k < m->operations[i].nout; k++)
            if (m->operations[i].out[k] == value) {
                writer = i;
                out = k;
                found = true;
            }
    uint32_t *outs = found ? nnv_relate_outputs(r, writer) : NULL;
    if (!outs) return false;
    const struct nnv_operation *op = &m->operations[writer];
    m->operations[reader].in[position] = outs[out];
    nnv_relate_insert(r, reader, op->type, op->nin, op->in, op->nout, outs);
    *inserted = reader;
    return true;
}

bool nnv_relate_repeated_operation(struct nnv_related *r) {
    uint32_t inserted;
    return nnv_relate_again(r, &inserted);
}
