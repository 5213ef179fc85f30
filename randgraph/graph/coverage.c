/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/graph/coverage.h"

#include <string.h>

#include "base/rng.h"
#include "randgraph/graph/catalogue.h"

/* False: out of memory. */
static bool insert(struct nnv_id_map *cells, uint64_t cell) { return nnv_id_add(cells, cell) != NNV_MAP_NONE; }

/* Flags, codes of activation and padding, layouts: scalars that are booleans or small integers. Larger ones are alike.
 */
static int32_t attribute(const struct nnv_operand *o) {
    int32_t v;
    if (o->type == ANEURALNETWORKS_BOOL) return *(const uint8_t *)o->data != 0;
    if (o->type != ANEURALNETWORKS_INT32) return 0;
    memcpy(&v, o->data, sizeof v);
    return v < -1 ? -2 : v > 3 ? 4 : v;
}

static uint64_t use_of(const struct nnv_subgraph *m, const struct nnv_operation *op) {
    int32_t cell[4 + NNV_MAX_SLOTS + 1] = {op->type, -1, -1, (int32_t)op->nin};
    if (op->nin) {
        const struct nnv_operand *first = &m->operands[op->in[0]];
        cell[1] = first->type;
        cell[2] = (int32_t)first->rank;
    }
    for (uint32_t i = 0; i < op->nin && i < NNV_MAX_SLOTS; i++) {
        const struct nnv_operand *o = &m->operands[op->in[i]];
        if (o->lifetime == NNV_NO_VALUE) cell[4 + i] = -3;
        if (nnv_is_constant(o) && !nnv_type(o->type)->tensor) cell[4 + i] = attribute(o);
        if (nnv_type(o->type)->per_channel) cell[4 + i] = 5;
    }
    return nnv_hash_bytes(cell, sizeof cell);
}

static const struct nnv_operation *writer(const struct nnv_subgraph *m, uint32_t before, uint32_t operand) {
    for (uint32_t k = before; k-- > 0;)
        for (uint32_t i = 0; i < m->operations[k].nout; i++)
            if (m->operations[k].out[i] == operand) return &m->operations[k];
    return NULL;
}

bool nnv_graph_cover(struct nnv_graph_coverage *c, const struct nnv_spec *spec) {
    const struct nnv_subgraph *m = &spec->model.main;
    bool ok = true;
    c->graphs++;
    c->operations += m->noperations;
    for (uint32_t k = 0; k < m->noperations && ok; k++) {
        const struct nnv_operation *op = &m->operations[k];
        const uint64_t use = use_of(m, op);
        ok = insert(&c->ops, (uint64_t)(uint32_t)op->type + 1) && insert(&c->uses, use);
        for (uint32_t i = 0; i < op->nin && ok; i++) {
            const struct nnv_operand *o = &m->operands[op->in[i]];
            const struct nnv_operation *by = o->lifetime == NNV_TEMPORARY_VARIABLE || o->lifetime == NNV_SUBGRAPH_OUTPUT
                                                 ? writer(m, k, op->in[i])
                                                 : NULL;
            if (!by) continue;
            const uint64_t pair = ((uint64_t)(uint32_t)by->type << 32 | (uint64_t)(uint32_t)op->type << 8) +
                                  (uint64_t)(uint32_t)o->type + 1;
            ok = insert(&c->pairs, pair) && insert(&c->ways, pair ^ use << 1);
        }
    }
    return ok;
}

size_t nnv_graph_all_pairs(void) {
    const struct nnv_graph_catalogue *c = nnv_graph_catalogue();
    size_t pairs = 0;
    for (int32_t t = 0; c && t < NNV_TYPE_COUNT; t++) {
        size_t reads = 0, writes = 0;
        for (uint32_t i = 0; i < c->ring[t].used; i++) {
            reads += c->ring[t].end[i] > c->ring[t].first[i];
            writes += nnv_graph_writes(c->ring[t].op[i], t);
        }
        pairs += reads * writes;
    }
    return pairs;
}

void nnv_graph_coverage_free(struct nnv_graph_coverage *c) {
    nnv_id_free(&c->ops);
    nnv_id_free(&c->uses);
    nnv_id_free(&c->pairs);
    nnv_id_free(&c->ways);
    *c = (struct nnv_graph_coverage){0};
}
