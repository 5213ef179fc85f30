/* SPDX-License-Identifier: Apache-2.0 */
/** @file emit.c See emit.h. */
#include "tests/kit/emit.h"

static struct nnv_converted *emit_converted(struct nnv_arena *arena, struct nnv_builder *b, uint32_t nin,
                                            const uint32_t *in, uint32_t nout, const uint32_t *out) {
    struct nnv_converted *c = NNV_NEW(arena, struct nnv_converted, 1);
    struct nnv_err err = {0};
    if (nnv_builder_end(b, nin, in, nout, out, &c->model, &err) != NNV_OK ||
        nnv_validate(&c->model, arena, &c->level, &err) != NNV_OK)
        fail_msg("%s", err.text);
    return c;
}

struct nnv_converted *emit_small(struct nnv_arena *arena) {
    struct nnv_builder b = {.arena = arena};
    const uint32_t shape[] = {1, 2};
    const float half[] = {0.5f, -0.0f};
    const uint32_t x = nnv_builder_tensor(&b, FLOAT32, 2, shape, NNV_SUBGRAPH_INPUT);
    const uint32_t c = nnv_builder_tensor(&b, FLOAT32, 2, shape, NNV_CONSTANT_COPY);
    b.operand[c].data = nnv_arena_copy(arena, half, sizeof half);
    b.operand[c].bytes = sizeof half;
    const uint32_t relu = nnv_builder_int(&b, ANEURALNETWORKS_FUSED_RELU);
    const uint32_t y = nnv_builder_tensor(&b, FLOAT32, 2, shape, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, (const uint32_t[]){x, c, relu}, y);
    struct nnv_converted *converted = emit_converted(arena, &b, 1, &x, 1, &y);
    const char *const names[] = {"%x", "", "", "%1"};
    converted->operand_name = nnv_arena_copy(arena, names, sizeof names);
    return converted;
}

struct nnv_converted *emit_conv(struct nnv_arena *arena, uint64_t seed) {
    struct nnv_builder b = {.arena = arena, .seed = seed};
    const uint32_t x = nnv_builder_tensor(&b, FLOAT32, 4, (const uint32_t[]){1, 6, 5, 3}, NNV_SUBGRAPH_INPUT);
    const uint32_t w = nnv_builder_weights(&b, FLOAT32, 4, (const uint32_t[]){4, 3, 3, 3}, 0.5);
    const uint32_t bias = nnv_builder_weights(&b, FLOAT32, 1, (const uint32_t[]){4}, 0.5);
    const uint32_t one = nnv_builder_int(&b, 1), none = nnv_builder_int(&b, 0);
    const uint32_t y = nnv_builder_tensor(&b, FLOAT32, 4, (const uint32_t[]){1, 6, 5, 4}, NNV_SUBGRAPH_OUTPUT);
    const uint32_t z = nnv_builder_tensor(&b, FLOAT32, 4, (const uint32_t[]){1, 6, 5, 4}, NNV_SUBGRAPH_OUTPUT);
    const uint32_t in[] = {x, w, bias, one, one, one, none}, out[] = {y, z};
    nnv_builder_add(&b, ANEURALNETWORKS_CONV_2D, 7, in, y);
    nnv_builder_add(&b, ANEURALNETWORKS_TANH, 1, &y, z);
    return emit_converted(arena, &b, 1, &x, 2, out);
}

struct nnv_converted *emit_quantised(struct nnv_arena *arena) {
    struct nnv_builder b = {.arena = arena, .seed = 7};
    const uint32_t shape[] = {1, 4, 4, 2}, filter[] = {2, 1, 1, 2};
    const int8_t values[] = {127, -127, 5, -6};
    const float scales[] = {0.25f, 0.125f};
    const int32_t biases[] = {-3, INT32_MIN};
    const uint32_t x = nnv_builder_tensor(&b, SIGNED, 4, shape, NNV_SUBGRAPH_INPUT);
    const uint32_t w = nnv_builder_tensor(
        &b, (struct nnv_encoding){ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0}, 4, filter, NNV_CONSTANT_COPY);
    b.operand[w].channel = (struct nnv_channel_quant){0, 2, nnv_arena_copy(arena, scales, sizeof scales)};
    b.operand[w].data = nnv_arena_copy(arena, values, sizeof values);
    b.operand[w].bytes = sizeof values;
    const uint32_t bias = nnv_builder_ints(&b, 2, biases);
    const uint32_t one = nnv_builder_int(&b, 1), none = nnv_builder_int(&b, 0);
    const uint32_t y = nnv_builder_tensor(&b, SIGNED, 4, shape, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_CONV_2D, 7, (const uint32_t[]){x, w, bias, one, one, one, none}, y);
    return emit_converted(arena, &b, 1, &x, 1, &y);
}

struct nnv_converted *emit_sum(struct nnv_arena *arena, uint32_t n) {
    struct nnv_builder b = {.arena = arena, .seed = 3};
    const uint32_t x = nnv_builder_tensor(&b, FLOAT32, 1, &n, NNV_SUBGRAPH_INPUT);
    const uint32_t w = nnv_builder_weights(&b, FLOAT32, 1, &n, 1);
    const uint32_t none = nnv_builder_int(&b, 0);
    const uint32_t y = nnv_builder_tensor(&b, FLOAT32, 1, &n, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, (const uint32_t[]){x, w, none}, y);
    return emit_converted(arena, &b, 1, &x, 1, &y);
}

static bool equal_channels(const struct nnv_channel_quant *a, const struct nnv_channel_quant *b) {
    return a->count == b->count &&
           (a->count == 0 || (a->dim == b->dim && memcmp(a->scales, b->scales, a->count * sizeof *a->scales) == 0));
}

static bool equal_indices(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m) {
    return n == m && (n == 0 || memcmp(a, b, n * sizeof *a) == 0);
}

static bool equal_graphs(const struct nnv_subgraph *p, const struct nnv_subgraph *q) {
    bool same = p->noperands == q->noperands && p->noperations == q->noperations &&
                equal_indices(p->in, p->nin, q->in, q->nin) && equal_indices(p->out, p->nout, q->out, q->nout);
    for (uint32_t i = 0; i < p->noperands && same; i++) {
        const struct nnv_operand *x = &p->operands[i], *y = &q->operands[i];
        same = x->type == y->type && equal_indices(x->dims, x->rank, y->dims, y->rank) && x->scale == y->scale &&
               x->zero_point == y->zero_point && equal_channels(&x->channel, &y->channel) && x->bytes == y->bytes &&
               (nnv_is_constant(x) ? nnv_is_constant(y) && memcmp(x->data, y->data, x->bytes) == 0
                                   : x->lifetime == y->lifetime && x->subgraph == y->subgraph);
    }
    for (uint32_t i = 0; i < p->noperations && same; i++) {
        const struct nnv_operation *x = &p->operations[i], *y = &q->operations[i];
        same = x->type == y->type && equal_indices(x->in, x->nin, y->in, y->nin) &&
               equal_indices(x->out, x->nout, y->out, y->nout);
    }
    return same;
}

bool equal_models(const struct nnv_model *a, const struct nnv_model *b) {
    bool same = a->relaxed == b->relaxed && a->nreferenced == b->nreferenced && equal_graphs(&a->main, &b->main);
    for (uint32_t i = 0; same && i < a->nreferenced; i++) same = equal_graphs(&a->referenced[i], &b->referenced[i]);
    return same;
}
