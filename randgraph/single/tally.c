/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/single/tally.h"

#include <stdlib.h>
#include <string.h>

#include "randgraph/single/cover.h"

struct nnv_tally_group {
    const struct nnv_op *op;
    char *sig;
    int32_t *values; /* [rows, factors] */
    size_t rows, room;
};

static struct nnv_tally_group *group_of(struct nnv_tally *t, const struct nnv_op *op, const char *sig) {
    for (size_t i = t->count; i-- > 0;) /* cases come by operation and signature */
        if (t->group[i].op == op && strcmp(t->group[i].sig, sig) == 0) return &t->group[i];
    if (t->count == t->room) {
        const size_t room = 2 * t->room + 64;
        struct nnv_tally_group *more = realloc(t->group, room * sizeof *more);
        if (!more) return NULL;
        t->group = more;
        t->room = room;
    }
    char *name = strdup(sig);
    if (!name) return NULL;
    t->group[t->count] = (struct nnv_tally_group){.op = op, .sig = name};
    return &t->group[t->count++];
}

enum nnv_status nnv_tally_add(struct nnv_tally *t, const struct nnv_op *op, const char *sig, const char *attributes,
                              struct nnv_err *err) {
    int32_t row[NNV_MAX_FACTORS];
    struct nnv_err none = {0};
    if (!attributes || !*attributes || nnv_cover_parse(op->factors, op->nfactors, attributes, row, &none) != NNV_OK)
        return NNV_OK;
    struct nnv_tally_group *g = group_of(t, op, sig);
    if (!g) return nnv_no_memory(err);
    if (g->rows == g->room) {
        const size_t room = 2 * g->room + 64;
        int32_t *more = realloc(g->values, room * op->nfactors * sizeof *more);
        if (!more) return nnv_no_memory(err);
        g->values = more;
        g->room = room;
    }
    memcpy(g->values + g->rows++ * op->nfactors, row, op->nfactors * sizeof *row);
    return NNV_OK;
}

struct nnv_tally_line nnv_tally_of(const struct nnv_tally *t, const struct nnv_op *op) {
    struct nnv_tally_line l = {0};
    for (size_t i = 0; i < t->count; i++) {
        const struct nnv_tally_group *g = &t->group[i];
        size_t pairs, covered;
        if (g->op != op) continue;
        nnv_cover_count(op->factors, op->nfactors, g->values, g->rows, &pairs, &covered);
        if (l.signatures == 0 || covered < l.covered) l.covered = covered;
        l.pairs = pairs;
        l.rows += g->rows;
        l.signatures++;
    }
    return l;
}

void nnv_tally_free(struct nnv_tally *t) {
    for (size_t i = 0; i < t->count; i++) {
        free(t->group[i].sig);
        free(t->group[i].values);
    }
    free(t->group);
    *t = (struct nnv_tally){0};
}
