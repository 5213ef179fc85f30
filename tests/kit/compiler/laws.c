/* SPDX-License-Identifier: Apache-2.0 */
/** @file laws.c Random programs: what the compiler makes of them against what the rules say. */
#include <stdio.h>
#include <string.h>

#include "tests/kit/compiler/divide.h"

enum { ALL = NNV_DRAW_TUPLES | NNV_DRAW_LETS | NNV_DRAW_BRANCHES | NNV_DRAW_CLOSURES | NNV_DRAW_TARGETS };

const struct nnv_draw_row nnv_draw_rows[] = {
    {"plain", NNV_DRAW_FAR | NNV_DRAW_DEAD, 5, 40, false, false},
    {"tuples", NNV_DRAW_TUPLES | NNV_DRAW_LETS | NNV_DRAW_FAR, 5, 40, false, false},
    {"scopes", ALL | NNV_DRAW_DEAD, 5, 60, false, false},
    {"near", ALL, 5, 40, false, false},
    {"few", NNV_DRAW_FAR | NNV_DRAW_DENSE, 8, 14, false, true},
    {"few_near", NNV_DRAW_DENSE | NNV_DRAW_TUPLES, 8, 14, false, true},
    {"few_targets", NNV_DRAW_FAR | NNV_DRAW_TARGETS | NNV_DRAW_BRANCHES | NNV_DRAW_DENSE, 8, 14, false, true},
    {"dense", NNV_DRAW_FAR | NNV_DRAW_DENSE | NNV_DRAW_TUPLES | NNV_DRAW_TARGETS, 20, 60, false, false},
    {"composites", NNV_DRAW_FAR | NNV_DRAW_TUPLES | NNV_DRAW_DEAD, 5, 40, true, false},
    {"composites_scopes", ALL | NNV_DRAW_FAR, 5, 60, true, false},
};
const size_t nnv_draw_row_count = sizeof nnv_draw_rows / sizeof *nnv_draw_rows;

static bool says(struct nnv_text *why, const char *format, ...) NNV_PRINTF(2, 3);
static bool says(struct nnv_text *why, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    nnv_text_vaddf(why, format, ap);
    va_end(ap);
    nnv_text_add(why, "\n");
    return false;
}

/* ------------------------------------------------------------- against the drawing */

static int node_by_name(const struct nnv_draw *d, const char *name) {
    for (int i = 0; i < d->n_nodes; i++)
        if (d->nodes[i].kind == NNV_DRAW_OP && !strcmp(d->nodes[i].name, name)) return i;
    return NNV_DRAW_NONE;
}

/* Reads the compiler's regions as the oracle's are written; each operation may be there once. */
static bool read_regions(const struct nnv_draw *d, const struct nnv_partition *p, int *region, struct nnv_text *why) {
    for (int i = 0; i < d->n_nodes; i++) region[i] = NNV_DRAW_NONE;
    for (size_t r = 0; r < p->n_extracted; r++) {
        int first = NNV_DRAW_NONE;
        for (size_t i = 0; i < p->extracted[r].n_ops; i++) {
            int node = node_by_name(d, p->extracted[r].nodes[i]);
            if (node == NNV_DRAW_NONE) return says(why, "%s is no operation", p->extracted[r].nodes[i]);
            if (region[node] != NNV_DRAW_NONE) return says(why, "%s is in two regions", p->extracted[r].nodes[i]);
            if (first == NNV_DRAW_NONE) first = node;
            region[node] = first;
        }
    }
    return true;
}

static bool same_region(const struct nnv_draw *d, const struct nnv_draw_answer *a, const struct nnv_extracted *cut,
                        int first, struct nnv_text *why) {
    const char *target = (const char *const[]){"a", "b", "c"}[nnv_draw_target(d, first)];
    size_t at = 0;
    for (int i = 0; i < a->n_order; i++) {
        if (a->region[a->order[i]] != first) continue;
        const char *name = d->nodes[a->order[i]].name, *op = d->nodes[a->order[i]].op;
        if (at == cut->n_ops || strcmp(cut->nodes[at], name) != 0 || strcmp(cut->ops[at], op) != 0)
            return says(why, "the region of %s: %s should be number %zu of it", d->nodes[first].name, name, at);
        at++;
    }
    if (at != cut->n_ops)
        return says(why, "the region of %s has %zu operations too many", cut->nodes[0], cut->n_ops - at);
    if (strcmp(cut->target, target) != 0)
        return says(why, "%s is of target %s, not %s", cut->nodes[0], cut->target, target);
    if ((int)cut->params != a->params[first] || (int)cut->outputs != a->outputs[first])
        return says(why, "the region of %s has %zu parameters and %zu outputs, not %d and %d", cut->nodes[0],
                    cut->params, cut->outputs, a->params[first], a->outputs[first]);
    return true;
}

static bool agrees(const struct nnv_draw *d, const struct nnv_partition *p, struct nnv_draw_answer *a,
                   struct nnv_text *why) {
    int region[NNV_DRAW_NODES];
    size_t r = 0, host = 0;
    nnv_draw_solve(d, a);
    if (!read_regions(d, p, region, why)) return false;
    if (!nnv_draw_acyclic(d, a, region)) return says(why, "the regions wait for each other");
    for (int i = 0; i < a->n_order; i++) {
        int node = a->order[i];
        if (d->nodes[node].kind != NNV_DRAW_OP) continue;
        if (a->region[node] == NNV_DRAW_NONE) {
            if (host == p->n_host || strcmp(p->host[host], d->nodes[node].op) != 0)
                return says(why, "%s (%s) should be number %zu on the host", d->nodes[node].name, d->nodes[node].op,
                            host);
            host++;
        } else if (a->region[node] == node) {
            if (r == p->n_extracted) return says(why, "the region of %s is not there", d->nodes[node].name);
            if (!same_region(d, a, &p->extracted[r++], node, why)) return false;
        }
    }
    if (r != p->n_extracted) return says(why, "%zu regions too many", p->n_extracted - r);
    return host == p->n_host || says(why, "%zu operations too many on the host", p->n_host - host);
}

/* Every operation and composite is in one region, or on the host; composites hold what is missing otherwise. */
static bool all_there(const struct nnv_draw *d, const struct nnv_partition *p, struct nnv_text *why) {
    struct nnv_draw_answer a;
    size_t n = p->n_host, inside = 0;
    nnv_draw_solve(d, &a);
    for (size_t i = 0; i < p->n_extracted; i++) n += p->extracted[i].n_ops;
    for (size_t i = 0; i < p->n_composites; i++) inside += p->composites[i].n_ops;
    size_t all = n - p->n_composites + inside;
    return all == (size_t)a.n_ops || says(why, "%zu operations of %d are left", all, a.n_ops);
}

/* ----------------------------------------------------------------------- composites */

static const char *const entries[] = {
    "{\"name\": \"a.relu_sum\", \"pattern\": {\"op\": \"nn.relu\", \"args\": [{\"op\": \"add\", \"args\": [\"*\", "
    "\"*\"]}]}}",
    "{\"name\": \"a.twice\", \"pattern\": {\"op\": \"multiply\", \"args\": [{\"any\": true, \"id\": \"v\"}, {\"ref\": "
    "\"v\"}]}}",
    "{\"name\": \"b.half\", \"pattern\": {\"op\": \"tanh\", \"args\": [{\"op\": \"multiply\", \"args\": [\"*\", "
    "{\"const\": true}]}]}}",
    "{\"name\": \"a.diamond\", \"pattern\": {\"op\": \"add\", \"args\": [{\"op\": \"tanh\", \"args\": [{\"op\": "
    "\"abs\", "
    "\"id\": \"v\"}]}, {\"ref\": \"v\"}]}}",
    "{\"name\": \"b.maybe\", \"pattern\": {\"optional\": {\"base\": {\"op\": \"subtract\", \"args\": [\"*\", \"*\"]}, "
    "\"then\": {\"op\": \"nn.relu\", \"args\": [\"@\"]}}}}",
    "{\"name\": \"a.halves\", \"pattern\": {\"op\": \"concatenate\", \"args\": [{\"tuple\": [{\"get\": {\"op\": "
    "\"split\", "
    "\"id\": \"s\"}, \"index\": 1}, {\"get\": {\"ref\": \"s\"}, \"index\": 0}]}]}}",
    "{\"name\": \"c.either\", \"pattern\": {\"op\": \"abs\", \"args\": [{\"alt\": [{\"op\": \"tanh\"}, {\"op\": "
    "\"sigmoid\"}, "
    "\"*\"]}]}}",
};

static const char *draw_table(uint64_t seed, uint64_t index, struct nnv_arena *arena) {
    struct nnv_rng rng = nnv_rng_make(seed, index, 99);
    struct nnv_text t = {0};
    nnv_text_add(&t, "[");
    for (int i = 0, n = (int)nnv_rng_int(&rng, 1, 4); i < n; i++)
        nnv_text_addf(&t, "%s%s", i ? ", " : "", entries[nnv_rng_int(&rng, 0, sizeof entries / sizeof *entries - 1)]);
    nnv_text_add(&t, "]");
    const char *table = t.failed ? NULL : nnv_arena_strdup(arena, t.data);
    nnv_text_free(&t);
    return table;
}

/* -------------------------------------------------------------------------- judging */

/* Equal but for the names of values. */
static bool same_partition(const struct nnv_partition *a, const struct nnv_partition *b) {
    if (a->n_extracted != b->n_extracted || a->n_host != b->n_host || a->n_composites != b->n_composites) return false;
    for (size_t i = 0; i < a->n_extracted; i++) {
        const struct nnv_extracted *x = &a->extracted[i], *y = &b->extracted[i];
        if (x->n_ops != y->n_ops || x->params != y->params || x->outputs != y->outputs ||
            strcmp(x->target, y->target) != 0)
            return false;
        for (size_t k = 0; k < x->n_ops; k++)
            if (strcmp(x->ops[k], y->ops[k]) != 0) return false;
    }
    for (size_t i = 0; i < a->n_host; i++)
        if (strcmp(a->host[i], b->host[i]) != 0) return false;
    for (size_t i = 0; i < a->n_composites; i++)
        if (strcmp(a->composites[i].name, b->composites[i].name) != 0) return false;
    return true;
}

static bool judge(const struct nnv_draw_row *row, const struct nnv_draw *d, const struct nnv_draw *other,
                  const char *table, uint64_t seed, const struct compiler_fault *fault, struct nnv_arena *arena,
                  struct nnv_draw_figures *f, struct nnv_text *why) {
    struct nnv_divide ask = {.text = d->text.data, .patterns = table, .support = d->support.data, .fault = fault};
    struct nnv_divided divided, renamed;
    struct nnv_draw_answer a = {.n_ops = 0};
    struct nnv_err err = {0};
    if (nnv_divide(&ask, arena, &divided, &err) != NNV_OK) return says(why, "%s", err.text);
    if (!table && !agrees(d, &divided.partition, &a, why)) return false;
    if (table && !all_there(d, &divided.partition, why)) return false;
    ask.text = other->text.data;
    if (nnv_divide(&ask, arena, &renamed, &err) != NNV_OK) return says(why, "with other names: %s", err.text);
    if (!same_partition(&divided.partition, &renamed.partition))
        return says(why, "with other names it is divided in another way");
    f->programs++;
    f->operations += (size_t)a.n_ops;
    f->regions += divided.partition.n_extracted;
    f->composites += divided.partition.n_composites;
    if (row->brute && a.n_ops <= 14) {
        f->tried++;
        f->not_fewest += nnv_draw_fewest(d, &a) < a.n_regions;
    }
    return nnv_divided_holds(&divided, true, seed, arena, why);
}

bool nnv_draw_judge(const struct nnv_draw_row *row, uint64_t seed, uint64_t index, const struct compiler_fault *fault,
                    struct nnv_arena *arena, struct nnv_draw_figures *figures, struct nnv_text *why) {
    struct nnv_draw *d = NNV_NEW(arena, struct nnv_draw, 1), *other = NNV_NEW(arena, struct nnv_draw, 1);
    if (!d || !other) return says(why, "out of memory");
    struct nnv_rng rng = nnv_rng_make(seed, index, 55);
    int n = (int)nnv_rng_int(&rng, row->least, row->most);
    uint64_t key = index * nnv_draw_row_count + (uint64_t)(row - nnv_draw_rows);
    nnv_draw_program(d, seed, key, n, row->features, false);
    nnv_draw_program(other, seed, key, n, row->features, true);
    const char *table = row->composites ? draw_table(seed, key, arena) : NULL;
    bool ok = judge(row, d, other, table, seed ^ index, fault, arena, figures, why);
    if (!ok)
        nnv_text_addf(why, "supported: %s\n%s%s%s\n", d->support.data, table ? table : "", table ? "\n" : "",
                      d->text.data);
    nnv_draw_free(d);
    nnv_draw_free(other);
    return ok;
}
