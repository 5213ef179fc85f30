/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/graph/plan.h"

/*
 * Row 0 is 0, 1, n-1, 2, n-2 ...: for an even n the differences of neighbours are all the numbers but 0, once each. Row
 * r has r added to each, so that a pair (a, b) is in one row alone: the one that has a where the difference b - a is.
 */
uint32_t nnv_graph_tape(uint32_t n, uint64_t place) {
    const uint32_t column = (uint32_t)(place % n), row = (uint32_t)(place / n % n);
    const uint32_t zigzag = column % 2 ? (column + 1) / 2 : (n - column / 2) % n;
    return (zigzag + row) % n;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t nnv_graph_stride(struct nnv_rng *rng, uint64_t n) {
    uint64_t stride = (nnv_rng_u64(rng) % n) | 1;
    while (common_divisor(n, stride) > 1) stride += 2;
    return stride;
}

int nnv_graph_plan_next(const struct nnv_graph_plan *p, const struct nnv_graph_catalogue *c, int32_t type,
                        uint32_t step) {
    const uint32_t n = c->ring[type].count;
    if (n < 2) return -1;
    /* each seed and profile has tapes of its own: it begins elsewhere, and labels are times a number, plus another */
    struct nnv_rng rng = nnv_rng_make(p->key, 0x5e0, (uint64_t)type);
    const uint64_t start = nnv_rng_u64(&rng) % n;
    const uint32_t add = (uint32_t)(nnv_rng_u64(&rng) % n);
    const uint64_t times = nnv_graph_stride(&rng, n);
    const uint64_t label = nnv_graph_tape(n, start * n + p->index * p->length + step);
    const uint32_t number = (uint32_t)((label * times + add) % n);
    return number < c->ring[type].used ? (int)number : -1;
}
