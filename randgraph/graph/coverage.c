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

/* How an operation is used: what it is, the type and rank of its first input, the number of inputs, and each of them.
 */
struct use {
    int32_t op, type, rank, inputs, input[NNV_MAX_SLOTS + 1];
};
enum { TRAITS = sizeof(struct use) / sizeof(int32_t) };

static struct use use_of(const struct nnv_subgraph *m, const struct nnv_operation *op) {
    struct use u = {.op = op->type, .type = -1, .rank = -1, .inputs = (int32_t)op->nin};
    if (op->nin) {
        const struct nnv_operand *first = &m->operands[op->in[0]];
        u.type = first->type;
        u.rank = (int32_t)first->rank;
    }
    for (uint32_t i = 0; i < op->nin && i < NNV_MAX_SLOTS; i++) {
        const struct nnv_operand *o = &m->operands[op->in[i]];
        if (o->lifetime == NNV_NO_VALUE) u.input[i] = -3;
        if (nnv_is_constant(o) && !nnv_type(o->type)->tensor) u.input[i] = attribute(o);
        if (nnv_type(o->type)->per_channel) u.input[i] = 5;
    }
    return u;
}

/* Each of them alone, with operation and type: what an operation has in whatever combination. */
static bool see_traits(struct nnv_unseen *seen, uint64_t graph, const struct use *u) {
    int32_t all[TRAITS];
    bool ok = true, fresh;
    memcpy(all, u, sizeof all);
    for (int32_t i = 2; i < TRAITS && ok; i++) {
        const int32_t trait[4] = {u->op, u->type, i, all[i]};
        if (i < 4 || all[i] != 0) ok = nnv_unseen_see(seen, graph, nnv_hash_bytes(trait, sizeof trait), &fresh);
    }
    return ok;
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
    const uint64_t number = c->graphs++;
    c->traits.draws = c->graphs;
    c->operations += m->noperations;
    for (uint32_t k = 0; k < m->noperations && ok; k++) {
        const struct nnv_operation *op = &m->operations[k];
        const struct use used = use_of(m, op);
        const uint64_t use = nnv_hash_bytes(&used, sizeof used);
        ok = insert(&c->ops, (uint64_t)(uint32_t)op->type + 1) && insert(&c->uses, use) &&
             see_traits(&c->traits, number, &used);
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

enum nnv_status nnv_graphs_until(uint64_t seed, double limit, uint64_t most, uint64_t *each, double *chance,
                                 struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_graph_coverage c = {0};
    enum nnv_status st = arena ? NNV_OK : nnv_no_memory(err);
    uint64_t round = 0;
    for (; !st && c.graphs < most && !nnv_unseen_below(&c.traits, limit); round++)
        for (size_t p = 0; p < nnv_graph_profile_count && !st; p++) {
            struct nnv_spec *spec;
            const struct nnv_graph_options o = {.profile = &nnv_graph_profiles[p],
                                                .seed = seed,
                                                .index = round,
                                                .name = "graph",
                                                .extents = nnv_graph_extents_of(round)};
            nnv_arena_reset(arena);
            st = nnv_graph_build(&o, arena, &spec, err);
            if (!st && !nnv_graph_cover(&c, spec)) st = nnv_no_memory(err);
        }
    if (!st) {
        *each = round;
        *chance = nnv_unseen_chance(&c.traits);
    }
    nnv_graph_coverage_free(&c);
    nnv_arena_free(arena);
    return st;
}

void nnv_graph_coverage_free(struct nnv_graph_coverage *c) {
    nnv_id_free(&c->ops);
    nnv_id_free(&c->uses);
    nnv_id_free(&c->pairs);
    nnv_id_free(&c->ways);
    nnv_unseen_free(&c->traits);
    *c = (struct nnv_graph_coverage){0};
}
