/* SPDX-License-Identifier: Apache-2.0 */
/** @file draw.c The graphs of the suite "relations". */
#include "harness/suites/relations/relations.h"
#include "randgraph/graph/graph.h"

enum {
    TRIES = 64,   /* graphs drawn until one lends itself to the relation */
    MOST_OPS = 8, /* of a graph, however many its profile has */
};

static enum nnv_status draw(const struct nnv_run_config *config, const struct nnv_case *c,
                            const struct nnv_relation *relation, uint64_t attempt, struct nnv_arena *arena,
                            struct nnv_spec **spec, struct nnv_err *err) {
    const size_t p = (size_t)(c->b + attempt) % nnv_graph_profile_count;
    const struct nnv_graph_profile *profile = &nnv_graph_profiles[p];
    if (relation && relation->profile) profile = nnv_graph_profile_by_name(relation->profile);
    const struct nnv_graph_options options = {.profile = profile,
                                              .operations = relation && relation->operations ? relation->operations
                                                            : profile->most > MOST_OPS       ? MOST_OPS
                                                                                             : 0,
                                              .seed = config->seed + nnv_hash_str("relations"),
                                              .index = c->b * TRIES + attempt,
                                              .name = c->name};
    return nnv_graph_build(&options, arena, spec, err);
}

/* The evaluation succeeds, and meets nothing that may go either way as a whole: ties, equal scores. */
static bool is_decided(const struct nnv_spec *spec, struct nnv_arena *arena) {
    const struct nnv_eval_options options = {.rows = 2, .k = 2, .seed = 1};
    const uint32_t n = spec->model.main.nout;
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, n);
    struct nnv_err why = {0};
    if (!golden || nnv_eval(&spec->model, spec->inputs, &options, arena, golden, &why) != NNV_OK) return false;
    for (uint32_t i = 0; i < n; i++)
        if (golden[i].open || golden[i].choices > 0) return false;
    return true;
}

/* Operations of which any of several answers may be right, even of one graph in other words: indices of tied numbers.
 */
static bool has_ties(const struct nnv_spec *spec) {
    const struct nnv_subgraph *m = &spec->model.main;
    for (uint32_t i = 0; i < m->noperations; i++) {
        const struct nnv_op *op = nnv_op(m->operations[i].type);
        for (uint32_t f = 0; f < op->nforms; f++)
            for (uint32_t k = 0; k < op->forms[f].nout; k++)
                if (op->forms[f].out[k].judged != NNV_JUDGED_VALUE) return true;
    }
    return false;
}

/* The pair can be compared in the relation's way. */
static bool is_comparable(const struct nnv_relation *relation, const struct nnv_related *r, struct nnv_arena *arena) {
    if (relation->compare == NNV_RELATION_BYTES) return true;
    return !has_ties(r->from) && is_decided(r->from, arena) && is_decided(r->to, arena) &&
           (!r->decoy || is_decided(r->decoy, arena));
}

enum nnv_status nnv_relations_draw(const struct nnv_run_config *config, const struct nnv_case *c,
                                   const struct nnv_relation *relation, struct nnv_arena *arena, struct nnv_related *r,
                                   struct nnv_err *err) {
    for (uint64_t attempt = 0; attempt < TRIES; attempt++) {
        struct nnv_spec *spec;
        bool applies = false;
        enum nnv_status st = draw(config, c, relation, attempt, arena, &spec, err);
        if (!st && relation) st = nnv_relate(relation, spec, config->seed + attempt, arena, r, &applies, err);
        if (st) return st;
        if (applies && is_comparable(relation, r, arena)) return NNV_OK;
        if (relation || nnv_relate_is_random(&spec->model)) continue;
        *r = (struct nnv_related){.arena = arena, .from = spec, .to = spec};
        return NNV_OK;
    }
    return nnv_fail(err, NNV_UNSUPPORTED, "none of %d graphs lends itself to it", (int)TRIES);
}
