/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clusters with an exact test for cycles. Two clusters may be joined if no path leads from one to the other through a
 * third. All clusters stand in a list that is a topological order, so only what stands between the two can be on such
 * a path. It is searched from both ends at once, one edge at a time; the search that runs dry first proves that there
 * is no path, and what it met is what must change its place in the order.
 */
#include "compiler/byoc/cluster.h"

#include <stdbool.h>
#include <stdlib.h>

enum direction { FORWARD, BACKWARD };
#define NONE UINT32_MAX

/** An edge as one of its ends sees it. */
struct cell {
    uint32_t other, next;
};

struct cluster {
    uint32_t parent; /**< union-find; itself: a cluster */
    uint32_t first;  /**< its first node */
    uint32_t before, after;
    uint64_t label;            /**< grows along the list */
    uint32_t head[2], tail[2]; /**< cells: users (FORWARD), operands (BACKWARD) */
    uint32_t met[2];           /**< number of the last search that met it from this side */
    uint32_t seen[2];          /**< number of the last scan of a cluster that met it */
};

struct search {
    uint32_t *queue; /**< clusters met from this side, in order of meeting */
    uint32_t done, count;
    uint32_t previous, at; /**< cells of queue[done]: the last one kept, the one to look at */
    uint32_t scan;
    bool scanning;
};

struct forest {
    struct cluster *c;
    struct cell *cells;
    uint32_t n, searches, scans, head;
    struct search side[2];
};

static uint32_t find(struct forest *f, uint32_t i) {
    while (f->c[i].parent != i) {
        f->c[i].parent = f->c[f->c[i].parent].parent;
        i = f->c[i].parent;
    }
    return i;
}

/* -------------------------------------------------------------------- the order */

static void unlink_cluster(struct forest *f, uint32_t i) {
    uint32_t before = f->c[i].before, after = f->c[i].after;
    if (before != NONE)
        f->c[before].after = after;
    else
        f->head = after;
    if (after != NONE) f->c[after].before = before;
}

/* Spreads all labels evenly. */
static void relabel(struct forest *f) {
    uint64_t step = (UINT64_C(1) << 62) / ((uint64_t)f->n + 1), label = 0;
    for (uint32_t i = f->head; i != NONE; i = f->c[i].after) f->c[i].label = label += step;
}

/* Puts the k clusters, which are in no list, after place (NONE: in front) in the given order. */
static void insert_after(struct forest *f, uint32_t place, const uint32_t *moved, uint32_t k) {
    uint32_t after = place == NONE ? f->head : f->c[place].after, last = place;
    for (uint32_t i = 0; i < k; i++) {
        f->c[moved[i]].before = last;
        if (last == NONE)
            f->head = moved[i];
        else
            f->c[last].after = moved[i];
        last = moved[i];
    }
    if (last != NONE) f->c[last].after = after;
    if (after != NONE) f->c[after].before = last;
    uint64_t low = place == NONE ? 0 : f->c[place].label;
    uint64_t high = after == NONE ? UINT64_C(1) << 63 : f->c[after].label;
    uint64_t step = (high - low) / ((uint64_t)k + 1);
    if (!step) {
        relabel(f);
        return;
    }
    for (uint32_t i = 0; i < k; i++) f->c[moved[i]].label = low += step;
}

/* ------------------------------------------------------------------- the search */

static void meet(struct forest *f, enum direction toward, uint32_t i) {
    f->c[i].met[toward] = f->searches;
    f->side[toward].queue[f->side[toward].count++] = i;
}

/*
 * The next neighbour of the cluster that side is scanning, or NONE at its end. Cells that lead back into the cluster,
 * or to a neighbour that an earlier cell leads to, are dropped on the way, so that each is paid for once.
 */
static uint32_t next_neighbour(struct forest *f, enum direction toward) {
    struct search *s = &f->side[toward];
    struct cluster *own = &f->c[s->queue[s->done]];
    while (s->at != NONE) {
        struct cell *cell = &f->cells[s->at];
        uint32_t other = find(f, cell->other), next = cell->next;
        cell->other = other;
        if (&f->c[other] != own && f->c[other].seen[toward] != s->scan) {
            f->c[other].seen[toward] = s->scan;
            s->previous = s->at;
            s->at = next;
            return other;
        }
        if (s->previous == NONE)
            own->head[toward] = next;
        else
            f->cells[s->previous].next = next;
        if (next == NONE) own->tail[toward] = s->previous;
        s->at = next;
    }
    return NONE;
}

enum step { GOING, DRY, PATH };

/* One edge from the side that starts at from, towards to. */
static enum step step(struct forest *f, enum direction toward, uint32_t from, uint32_t to) {
    struct search *s = &f->side[toward];
    if (!s->scanning) {
        if (s->done == s->count) return DRY;
        s->scanning = true;
        s->previous = NONE;
        s->at = f->c[s->queue[s->done]].head[toward];
        s->scan = ++f->scans;
    }
    uint32_t own = s->queue[s->done], other = next_neighbour(f, toward);
    if (other == NONE) {
        s->scanning = false;
        s->done++;
        return GOING;
    }
    if (other == to) return own == from ? GOING : PATH;
    if (f->c[other].met[!toward] == f->searches) return PATH;
    bool beyond = toward == FORWARD ? f->c[other].label > f->c[to].label : f->c[other].label < f->c[to].label;
    if (!beyond && f->c[other].met[toward] != f->searches) meet(f, toward, other);
    return GOING;
}

/* Whether a path leads from low to high through a third cluster. If none does, *dry is the side that proved it. */
static bool path_between(struct forest *f, uint32_t low, uint32_t high, enum direction *dry) {
    f->searches++;
    for (int toward = FORWARD; toward <= BACKWARD; toward++) {
        f->side[toward] = (struct search){.queue = f->side[toward].queue};
        meet(f, toward, toward == FORWARD ? low : high);
    }
    for (enum direction toward = FORWARD;; toward = !toward) {
        switch (step(f, toward, toward == FORWARD ? low : high, toward == FORWARD ? high : low)) {
        case PATH:
            return true;
        case DRY:
            *dry = toward;
            return false;
        case GOING:
            break;
        }
    }
}

/* ------------------------------------------------------------------ the joining */

static void append_cells(struct forest *f, struct cluster *to, const struct cluster *from, enum direction toward) {
    if (from->head[toward] == NONE) return;
    if (to->head[toward] == NONE)
        to->head[toward] = from->head[toward];
    else
        f->cells[to->tail[toward]].next = from->head[toward];
    to->tail[toward] = from->tail[toward];
}

struct place {
    uint64_t label;
    uint32_t cluster;
};

static int by_label(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return (x->label > y->label) - (x->label < y->label);
}

/* Sorts the clusters by their place in the list and takes them out of it. */
static bool take_out(struct forest *f, uint32_t *moved, uint32_t k) {
    struct place few[16], *places = k <= 16 ? few : malloc(k * sizeof *places);
    if (!places) return false;
    for (uint32_t i = 0; i < k; i++) places[i] = (struct place){f->c[moved[i]].label, moved[i]};
    qsort(places, k, sizeof *places, by_label);
    for (uint32_t i = 0; i < k; i++) {
        moved[i] = places[i].cluster;
        unlink_cluster(f, moved[i]);
    }
    if (places != few) free(places);
    return true;
}

/*
 * Joins low and high, between which no path leads through a third. What low's search met goes behind the joined
 * cluster, which takes high's place; or what high's search met goes before it, in low's place.
 */
static bool join(struct forest *f, uint32_t low, uint32_t high, enum direction dry) {
    uint32_t *moved = f->side[dry].queue + 1, k = f->side[dry].count - 1;
    if (k && !take_out(f, moved, k)) return false;
    uint32_t keep = dry == FORWARD ? high : low, gone = dry == FORWARD ? low : high;
    if (k) insert_after(f, dry == FORWARD ? high : f->c[low].before, moved, k);
    unlink_cluster(f, gone);
    struct cluster *a = &f->c[keep], *b = &f->c[gone];
    if (b->first < a->first) a->first = b->first;
    b->parent = keep;
    append_cells(f, a, b, FORWARD);
    append_cells(f, a, b, BACKWARD);
    return true;
}

static bool join_if_acyclic(struct forest *f, uint32_t a, uint32_t b) {
    bool a_first = f->c[a].label < f->c[b].label;
    uint32_t low = a_first ? a : b, high = a_first ? b : a;
    enum direction dry = FORWARD;
    if (path_between(f, low, high, &dry)) return true;
    return join(f, low, high, dry);
}

/* ------------------------------------------------------------------ the forest */

static void add_cell(struct forest *f, uint32_t cluster, enum direction toward, uint32_t cell, uint32_t other) {
    struct cluster *c = &f->c[cluster];
    f->cells[cell] = (struct cell){other, NONE};
    if (c->head[toward] == NONE)
        c->head[toward] = cell;
    else
        f->cells[c->tail[toward]].next = cell;
    c->tail[toward] = cell;
}

static void start(struct forest *f, const struct nnv_cluster_node *nodes, const uint32_t *edges) {
    f->head = f->n ? 0 : NONE;
    uint32_t cell = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        f->c[i] = (struct cluster){
            .parent = i,
            .first = i,
            .before = i ? i - 1 : NONE,
            .after = i + 1 < f->n ? i + 1 : NONE,
            .head = {NONE, NONE},
            .tail = {NONE, NONE},
        };
        for (uint32_t k = 0; k < nodes[i].count; k++) {
            uint32_t operand = edges[nodes[i].first + k];
            add_cell(f, operand, FORWARD, cell++, i);
            add_cell(f, i, BACKWARD, cell++, operand);
        }
    }
    relabel(f);
}

static bool join_nodes(struct forest *f, const struct nnv_cluster_node *nodes, uint32_t a, uint32_t b) {
    const uint32_t own = find(f, a), other = find(f, b);
    return own == other || nodes[a].kind != nodes[b].kind || join_if_acyclic(f, own, other);
}

static enum nnv_status grow(struct forest *f, const struct nnv_cluster_node *nodes, const uint32_t *edges,
                            const struct nnv_cluster_pair *pairs, size_t n_pairs, struct nnv_err *err) {
    bool ok = true;
    start(f, nodes, edges);
    for (uint32_t i = 0; i < f->n && ok; i++)
        for (uint32_t k = 0; nodes[i].kind != NNV_CLUSTER_ALONE && k < nodes[i].count && ok; k++)
            ok = join_nodes(f, nodes, i, edges[nodes[i].first + k]);
    for (size_t i = 0; i < n_pairs && ok; i++) ok = join_nodes(f, nodes, pairs[i].a, pairs[i].b);
    return ok ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "out of memory for regions");
}

enum nnv_status nnv_cluster_grow(const struct nnv_cluster_node *nodes, uint32_t n, const uint32_t *edges,
                                 const struct nnv_cluster_pair *pairs, size_t n_pairs, uint32_t *out,
                                 struct nnv_err *err) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < nodes[i].count; k++)
            if (edges[nodes[i].first + k] >= i)
                return nnv_fail(err, NNV_INTERNAL, "node %u: operand %u does not stand before it", i, k);
        count += nodes[i].count;
    }
    if (count >= NONE / 2) return nnv_fail(err, NNV_UNSUPPORTED, "a graph of %llu edges", (unsigned long long)count);
    struct forest f = {.n = n};
    f.c = calloc((size_t)n + 1, sizeof *f.c);
    f.cells = calloc((size_t)count * 2 + 1, sizeof *f.cells);
    f.side[FORWARD].queue = calloc((size_t)n + 1, sizeof(uint32_t));
    f.side[BACKWARD].queue = calloc((size_t)n + 1, sizeof(uint32_t));
    enum nnv_status s = NNV_OK;
    if (!f.c || !f.cells || !f.side[FORWARD].queue || !f.side[BACKWARD].queue)
        s = nnv_fail(err, NNV_NO_MEMORY, "out of memory for regions");
    else
        s = grow(&f, nodes, edges, pairs, n_pairs, err);
    if (s == NNV_OK)
        for (uint32_t i = 0; i < n; i++) out[i] = f.c[find(&f, i)].first;
    free(f.c);
    free(f.cells);
    free(f.side[FORWARD].queue);
    free(f.side[BACKWARD].queue);
    return s;
}
