/* SPDX-License-Identifier: Apache-2.0 */
/** @file requests.c Requests as a bug changes them. */
#include "requests.h"

#include <string.h>

static struct nnvts_argument *copy(struct call *c, const struct nnvts_argument *from, uint32_t n) {
    struct nnvts_argument *to = call_alloc(c, (n + 1) * sizeof *to);
    if (to && n) memcpy(to, from, n * sizeof *to);
    return to;
}

struct nnvts_argument *own_inputs(struct call *c) {
    struct nnvts_argument *to = copy(c, c->request->inputs, c->request->input_count);
    if (to) own_request(c)->inputs = to;
    return to;
}

struct nnvts_argument *own_outputs(struct call *c) {
    struct nnvts_argument *to = copy(c, c->request->outputs, c->request->output_count);
    if (to) own_request(c)->outputs = to;
    return to;
}

void replace_input(struct call *c, uint32_t i, uint8_t *value, uint32_t bytes) {
    const uint32_t n = c->request->pool_count;
    struct nnvts_argument *inputs = own_inputs(c);
    struct nnvts_memory *pools = call_alloc(c, (n + 1) * sizeof *pools);
    if (!inputs || !pools) return;
    if (n) memcpy(pools, c->request->pools, n * sizeof *pools);
    pools[n] = (struct nnvts_memory){.prot = NNVTS_PROT_READ, .fd = -1, .size = bytes, .data = value};
    inputs[i].location = (struct nnvts_location){.pool = n, .length = bytes};
    own_request(c)->pools = pools;
    own_request(c)->pool_count = n + 1;
}
