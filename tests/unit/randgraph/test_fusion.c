/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_fusion.c Chains that backends fuse: each cell of the table can be built, and is what its name says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "randgraph/fusion/fusion.h"

static struct nnv_spec *build(const struct nnv_fusion_chain *chain, int32_t type, enum nnv_consumers consumers,
                              uint64_t index, struct nnv_arena *arena) {
    const struct nnv_fusion what = {
        .chain = chain, .type = type, .consumers = consumers, .seed = 3, .index = index, .name = chain->name};
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_fusion_build(&what, arena, &spec, &err) != NNV_OK) fail_msg("%s: %s", chain->name, err.text);
    return spec;
}

static struct nnv_fusion_chain chain_named(const char *name) {
    struct nnv_fusion_chain chain;
    for (size_t i = 0; i < nnv_fusion_chains(); i++) {
        nnv_fusion_chain_of(i, &chain);
        if (strcmp(chain.name, name) == 0) return chain;
    }
    fail_msg("no chain %s", name);
    return chain;
}

/** What also reads a value in the middle takes its type: RELU takes no integers. */
static void integers_have_consumers(void **state) {
    const struct nnv_fusion_chain chain = chain_named("cast_int+add_scalar");
    (void)state;
    for (uint64_t index = 0; index < 12; index++) {
        struct nnv_arena *arena = nnv_arena_new();
        assert_non_null(build(&chain, ANEURALNETWORKS_TENSOR_FLOAT16, NNV_CONSUMERS_SEVERAL, index, arena));
        nnv_arena_free(arena);
    }
}

static void chains_are_distinct(void **state) {
    struct nnv_fusion_chain a, b;
    (void)state;
    for (size_t i = 0; i < nnv_fusion_chains(); i++) {
        nnv_fusion_chain_of(i, &a);
        assert_null(strchr(a.name, '?'));
        assert_true(nnv_fusion_takes(&a, ANEURALNETWORKS_TENSOR_FLOAT32) ||
                    nnv_fusion_takes(&a, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM));
        for (size_t k = 0; k < i; k++) {
            nnv_fusion_chain_of(k, &b);
            assert_string_not_equal(a.name, b.name);
        }
    }
}

/** What a step that leaves everything where it is hands on is what it got. */
static void some_steps_change_nothing(void **state) {
    static const char *const names[] = {"stay_transpose+conv", "stay_reshape+fc", "stay_pad+matmul", "stay_slice+conv"};
    struct nnv_arena *arena = nnv_arena_new();
    (void)state;
    assert_non_null(arena);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct nnv_fusion_chain chain = chain_named(names[i]);
        const struct nnv_spec *spec = build(&chain, ANEURALNETWORKS_TENSOR_FLOAT32, NNV_CONSUMERS_OUTPUT, 0, arena);
        const struct nnv_value *x = &spec->inputs[0], *y = &spec->outputs[1];
        assert_int_equal(x->bytes, y->bytes);
        assert_memory_equal(x->data, y->data, x->bytes);
    }
    nnv_arena_free(arena);
}

/** Who also reads the value in the middle stands before the chain's next operation, or behind it: both occur. */
static void other_readers_come_first_or_last(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_fusion_chain chain = chain_named("conv_nchw+conv_nchw");
    int first = 0, last = 0;
    (void)state;
    for (uint64_t index = 0; index < 16; index++) {
        const struct nnv_spec *spec =
            build(&chain, ANEURALNETWORKS_TENSOR_FLOAT32, NNV_CONSUMERS_SEVERAL, index, arena);
        const struct nnv_subgraph *s = &spec->model.main;
        assert_int_equal(s->noperations, 3);
        first += s->operations[1].type != ANEURALNETWORKS_CONV_2D;
        last += s->operations[2].type != ANEURALNETWORKS_CONV_2D;
    }
    assert_true(first > 2 && last > 2 && first + last == 16);
    nnv_arena_free(arena);
}

/** Halves of a value, joined in their order or the other way round: both occur. */
static void parts_are_joined_in_both_orders(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_fusion_chain chain = chain_named("split_join");
    int same = 0, turned = 0;
    (void)state;
    assert_non_null(arena);
    for (uint64_t i = 0; i < 16; i++) {
        nnv_arena_reset(arena);
        const struct nnv_spec *spec = build(&chain, ANEURALNETWORKS_TENSOR_FLOAT32, NNV_CONSUMERS_ONE, i, arena);
        const struct nnv_value *x = &spec->inputs[0], *y = &spec->outputs[0];
        assert_int_equal(x->bytes, y->bytes);
        const bool alike = memcmp(x->data, y->data, x->bytes) == 0;
        same += alike;
        turned += !alike;
    }
    assert_true(same > 0 && turned > 0);
    nnv_arena_free(arena);
}

/* The least and the largest number of the value in the middle, over some cases. */
static void middle_of(const char *name, double *least, double *most) {
    const struct nnv_fusion_chain chain = chain_named(name);
    struct nnv_arena *arena = nnv_arena_new();
    assert_non_null(arena);
    *least = *most = 0;
    for (uint64_t i = 0; i < 8; i++) {
        const struct nnv_spec *spec = build(&chain, ANEURALNETWORKS_TENSOR_FLOAT32, NNV_CONSUMERS_OUTPUT, i, arena);
        for (size_t e = 0; e < spec->outputs[1].bytes / sizeof(float); e++) {
            double v;
            nnv_load(ANEURALNETWORKS_TENSOR_FLOAT32, (const float *)spec->outputs[1].data + e, 1, &v);
            *least = v < *least ? v : *least;
            *most = v > *most ? v : *most;
        }
    }
    nnv_arena_free(arena);
}

/** A word that ends in an activation has it fused, and values reach its bounds. */
static void words_fuse_activations(void **state) {
    double least, most;
    (void)state;
    middle_of("conv_relu+tanh", &least, &most);
    assert_true(least == 0 && most > 2);
    middle_of("fc_relu6+tanh", &least, &most);
    assert_true(least == 0 && most == 6);
    middle_of("depthwise_relu1+tanh", &least, &most);
    assert_true(least == -1 && most == 1);
    middle_of("add_value_relu1+reshape", &least, &most);
    assert_true(least == -1 && most == 1);
    middle_of("conv+tanh", &least, &most);
    assert_true(least < -1 && most > 1);
}

static void every_cell_is_built(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    (void)state;
    assert_non_null(arena);
    for (size_t i = 0; i < nnv_fusion_chains(); i++) {
        struct nnv_fusion_chain chain;
        nnv_fusion_chain_of(i, &chain);
        for (int t = 0; t < NNV_FUSION_TYPES; t++)
            for (int c = 0; c < NNV_CONSUMERS_COUNT && nnv_fusion_takes(&chain, nnv_fusion_types[t]); c++) {
                nnv_arena_reset(arena);
                build(&chain, nnv_fusion_types[t], (enum nnv_consumers)c, i % 3, arena);
            }
    }
    nnv_arena_free(arena);
}

/* How often operations of the code read the result of operation 0, or are a second one of the same. */
static uint32_t readers_of_first(const struct nnv_subgraph *m) {
    uint32_t n = 0;
    for (uint32_t i = 1; i < m->noperations; i++)
        for (uint32_t k = 0; k < m->operations[i].nin; k++) n += m->operations[i].in[k] == m->operations[0].out[0];
    return n;
}

static void consumers_are_what_they_say(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_fusion_chain chain = chain_named("conv+add_channel");
    const int32_t type = ANEURALNETWORKS_TENSOR_FLOAT32;
    uint32_t shared = 0, alike = 0, read = 0;
    (void)state;
    assert_non_null(arena);
    for (uint64_t i = 0; i < 20; i++) {
        const struct nnv_subgraph *m = &build(&chain, type, NNV_CONSUMERS_ONE, i, arena)->model.main;
        assert_int_equal(m->noperations, 2);
        assert_int_equal(m->nout, 1);
        assert_int_equal(m->operations[0].type, ANEURALNETWORKS_CONV_2D);
        assert_int_equal(m->operations[1].type, ANEURALNETWORKS_ADD);
        assert_int_equal(readers_of_first(m), 1);
        m = &build(&chain, type, NNV_CONSUMERS_SEVERAL, i, arena)->model.main;
        assert_int_equal(m->noperations, 3);
        assert_int_equal(readers_of_first(m), 2);
        m = &build(&chain, type, NNV_CONSUMERS_OUTPUT, i, arena)->model.main;
        assert_int_equal(m->nout, 2);
        assert_int_equal(m->operands[m->operations[0].out[0]].lifetime, NNV_SUBGRAPH_OUTPUT);
        m = &build(&chain, type, NNV_CONSUMERS_SHARED, i, arena)->model.main;
        if (m->noperations == 5) { /* and one of the constants is read by another operation */
            assert_int_equal(m->operations[4].type, ANEURALNETWORKS_RELU);
            assert_true(nnv_is_constant(&m->operands[m->operations[4].in[0]]));
            assert_int_equal(m->nout, 3);
            read++;
        } else {
            assert_int_equal(m->noperations, 4);
        }
        assert_int_equal(m->nin, 2);
        for (uint32_t k = 1; k < m->operations[0].nin; k++) {
            const uint32_t a = m->operations[0].in[k], b = m->operations[2].in[k];
            if (a == b) shared++;
            if (a == b || m->operands[a].bytes != m->operands[b].bytes) continue;
            assert_memory_not_equal(m->operands[a].data, m->operands[b].data, m->operands[a].bytes);
            alike++;
        }
    }
    assert_true(shared > 100 && alike > 5 && read > 4 && read < 16);
    nnv_arena_free(arena);
}

/* A quantised chain stands twice with one bias, which belongs to the scale of what is read. */
static void shared_constants_keep_scales(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_fusion_chain chain = chain_named("conv+depthwise");
    (void)state;
    assert_non_null(arena);
    const struct nnv_subgraph *m =
        &build(&chain, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, NNV_CONSUMERS_SHARED, 0, arena)->model.main;
    assert_true(m->noperations >= 4);
    for (int k = 0; k < 2; k++) {
        const struct nnv_operand *a = &m->operands[m->operations[k].out[0]];
        const struct nnv_operand *b = &m->operands[m->operations[k + 2].out[0]];
        assert_true(a->scale == b->scale && a->zero_point == b->zero_point);
    }
    nnv_arena_free(arena);
}

/* Floats alone have weights in 8 bits: a constant that DEQUANTIZE makes the filter of. */
static void stored_weights_are_dequantised(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_fusion_chain chain = chain_named("conv_stored+relu");
    uint32_t per_channel = 0;
    (void)state;
    assert_non_null(arena);
    assert_true(nnv_fusion_takes(&chain, ANEURALNETWORKS_TENSOR_FLOAT16));
    assert_false(nnv_fusion_takes(&chain, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM));
    for (uint64_t i = 0; i < 20; i++) {
        const struct nnv_subgraph *m =
            &build(&chain, ANEURALNETWORKS_TENSOR_FLOAT32, NNV_CONSUMERS_ONE, i, arena)->model.main;
        const struct nnv_operation *first = &m->operations[0];
        const struct nnv_operand *stored = &m->operands[first->in[0]];
        assert_int_equal(first->type, ANEURALNETWORKS_DEQUANTIZE);
        assert_true(nnv_is_constant(stored) && nnv_is_quant(stored->type));
        assert_int_equal(m->operations[1].in[1], first->out[0]);
        per_channel += stored->channel.count > 0;
    }
    assert_true(per_channel > 4 && per_channel < 16);
    nnv_arena_free(arena);
}

static void the_same_members_give_the_same_bytes(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_fusion_chain chain = chain_named("attention");
    (void)state;
    assert_non_null(arena);
    const struct nnv_spec *a = build(&chain, ANEURALNETWORKS_TENSOR_FLOAT16, NNV_CONSUMERS_ONE, 5, arena);
    const struct nnv_spec *b = build(&chain, ANEURALNETWORKS_TENSOR_FLOAT16, NNV_CONSUMERS_ONE, 5, arena);
    assert_int_equal(a->outputs[0].bytes, b->outputs[0].bytes);
    assert_memory_equal(a->outputs[0].data, b->outputs[0].data, a->outputs[0].bytes);
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_distinct),
        cmocka_unit_test(integers_have_consumers),
        cmocka_unit_test(some_steps_change_nothing),
        cmocka_unit_test(other_readers_come_first_or_last),
        cmocka_unit_test(parts_are_joined_in_both_orders),
        cmocka_unit_test(every_cell_is_built),
        cmocka_unit_test(consumers_are_what_they_say),
        cmocka_unit_test(words_fuse_activations),
        cmocka_unit_test(shared_constants_keep_scales),
        cmocka_unit_test(stored_weights_are_dequantised),
        cmocka_unit_test(the_same_members_give_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
