/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/graph_plan.h"

#include "base/rng.h"

/*
 * Row 0 is 0, 1, n-1, 2, n-2 ...: for an even n the differences of neighbours are all the numbers but 0, once each. Row
 * r has r added to each, so that a pair (a, b) is in one row alone: the one that has a where the difference b - a is.
 */
uint32_t nnv_graph_plan_label(uint32_t n, uint32_t row, uint32_t place) {
    const uint32_t zigzag = place % 2 ? (place + 1) / 2 : (n - place / 2) % n;
    return (zigzag + row) % n;
}

uint32_t nnv_graph_plan_place(uint32_t n, uint32_t row, uint32_t label) {
    const uint32_t zigzag = (label + n - row % n) % n;
    if (zigzag == 0) return 0;
    return zigzag <= n / 2 ? 2 * zigzag - 1 : 2 * (n - zigzag);
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Labels are numbers in the ring times a, plus b: each seed and profile has squares of its own. */
struct relabel {
    uint32_t n, a, b;
};

static struct relabel relabel_of(const struct nnv_graph_plan *p, int32_t type) {
    struct nnv_rng rng = nnv_rng_make(p->key, 0x5e0, (uint64_t)type);
    struct relabel r = {.n = p->catalogue->ring[type].count};
    if (r.n == 0) return r;
    r.a = (uint32_t)(nnv_rng_u64(&rng) % r.n) | 1;
    while (common_divisor(r.n, r.a) > 1) r.a += 2;
    r.a %= r.n;
    r.b = (uint32_t)(nnv_rng_u64(&rng) % r.n);
    return r;
}

static uint32_t label_of(const struct relabel *r, uint32_t number) {
    return (uint32_t)(((uint64_t)number * r->a + r->b) % r->n);
}

static uint32_t number_of(const struct relabel *r, uint32_t label) {
    for (uint32_t i = 0; i < r->n; i++)
        if (label_of(r, i) == label) return i;
    return 0;
}

/* How many graphs before this one began with the same operation and type. */
static uint64_t visits(const struct nnv_graph_catalogue *c, uint64_t index, size_t first, size_t stride) {
    const struct nnv_graph_use *use = &c->use[first];
    const int32_t type = nnv_graph_use_type(use);
    const uint64_t passes = index / c->count, now = index % c->count;
    uint64_t back = 1; /* stride * back = 1 */
    while (stride * back % c->count != 1 % c->count) back++;
    size_t begin = first, end = first, earlier = 0;
    while (begin > c->of_type[type] && c->use[begin - 1].op == use->op) begin--;
    while (end < c->of_type[type + 1] && c->use[end].op == use->op) end++;
    for (size_t u = begin; u < end; u++) earlier += u * back % c->count < now;
    return passes * (end - begin) + earlier;
}

struct nnv_graph_plan nnv_graph_plan_make(const struct nnv_graph_catalogue *catalogue, uint64_t key, uint64_t index,
                                          size_t first, size_t stride, uint32_t length) {
    struct nnv_graph_plan p = {.catalogue = catalogue, .key = key, .index = index};
    p.first_type = nnv_graph_use_type(&catalogue->use[first]);
    const struct nnv_graph_ring *ring = &catalogue->ring[p.first_type];
    const int number = nnv_graph_ring_number(ring, catalogue->use[first].op);
    if (number < 0 || ring->count == 0) return p;
    const struct relabel r = relabel_of(&p, p.first_type);
    const uint32_t stretches = r.n > length ? r.n / length : 1;
    const uint64_t visit = visits(catalogue, index, first, stride);
    const uint32_t place = (uint32_t)(visit % stretches) * length;
    p.row = (label_of(&r, (uint32_t)number) + r.n - nnv_graph_plan_label(r.n, 0, place)) % r.n;
    return p;
}

const struct nnv_op *nnv_graph_plan_next(const struct nnv_graph_plan *p, int32_t type, const struct nnv_op *by) {
    const struct nnv_graph_ring *ring = &p->catalogue->ring[type];
    const int number = nnv_graph_ring_number(ring, by);
    if (number < 0 || ring->count < 2) return NULL;
    const struct relabel r = relabel_of(p, type);
    const uint32_t row =
        type == p->first_type ? p->row : (uint32_t)((p->index * 2654435761U + (uint64_t)type * 40503U) % r.n);
    const uint32_t place = nnv_graph_plan_place(r.n, row, label_of(&r, (uint32_t)number));
    if (place + 1 >= r.n) return NULL;
    const uint32_t next = number_of(&r, nnv_graph_plan_label(r.n, row, place + 1));
    return next < ring->used ? ring->op[next] : NULL;
}
