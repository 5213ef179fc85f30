/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the fuzzer: as text, as images, and back; what a driver changed is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/client/memory.h"
#include "harness/fuzz/finding.h"
#include "reference/spec/spec.h"
#include "reference/model/validate.h"

/** An image of a base, with what it needs. */
struct fx {
    struct nnv_arena *arena;
    struct nnv_client client;
    struct nnv_spec *spec;
    struct nnv_fuzz_image image;
};

static struct nnv_fuzz_input parse(const char *text) {
    struct nnv_fuzz_input *inputs = NULL, one;
    size_t count = 0;
    struct nnv_err err = {0};
    if (nnv_fuzz_parse(text, "t", &inputs, &count, &err) != NNV_OK) fail_msg("%s", err.text);
    one = inputs[0];
    free(inputs);
    return one;
}

static struct fx begin(const struct nnv_fuzz_base *base) {
    struct fx f = {.arena = nnv_arena_new()};
    struct nnv_err err = {0};
    if (nnv_fuzz_base_build(base, f.arena, &f.spec, &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_fuzz_image_begin(&f.image, &f.client, f.spec, f.arena, &err) != NNV_OK) fail_msg("%s", err.text);
    return f;
}

static void end(struct fx *f) {
    nnv_fuzz_image_end(&f->image);
    nnv_client_memory_free(f->client.memory);
    nnv_arena_free(f->arena);
}

/** The base ADD of two float32 tensors, and the mutations. */
static struct fx mutated(const char *mutations) {
    char text[512];
    snprintf(text, sizeof text, "base operation ADD sig 0 variant 0 mode normal index 0 seed 1\n%s", mutations);
    struct nnv_fuzz_input input = parse(text);
    struct fx f = begin(&input.base);
    nnv_fuzz_apply(&f.image, &input);
    assert_false(f.image.failed);
    return f;
}

static void test_text(void **state) {
    (void)state;
    static const char text[] = "base operation CONV_2D sig 0 variant 1 mode edge index 7 seed 12345678901\n"
                               "operand-rank 0 1 9\nrelaxed\ninput-value 1 2 4294967295\nmeasure\n"
                               "base network small index 3 seed 4\nsplice 2 77\n";
    struct nnv_fuzz_input *inputs = NULL;
    size_t count = 0;
    struct nnv_err err = {0};
    assert_int_equal(nnv_fuzz_parse(text, "t", &inputs, &count, &err), NNV_OK);
    assert_int_equal(count, 2);
    assert_int_equal(inputs[0].count, 4);
    assert_int_equal(inputs[0].mutation[0].kind, NNV_FUZZ_OPERAND_RANK);
    assert_int_equal(inputs[0].mutation[0].at[1], 1);
    assert_int_equal(inputs[0].mutation[0].value, 9);
    struct nnv_text t = {0};
    for (size_t i = 0; i < count; i++) nnv_fuzz_print(&t, &inputs[i]);
    assert_string_equal(t.data, text);
    nnv_text_free(&t);
    free(inputs);
}

static void test_bad_text(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"", "t: it holds no input"},
        {"relaxed\n", "t:1: a mutation stands before the first 'base'"},
        {"base operation ADD\n", "t:1: expected 'base operation"},
        {"base operation ADD sig 99 variant 0 mode normal index 0 seed 1\n", "t:1: ADD has no such cases: sig 99 of"},
        {"base operation ADD sig 0 variant 0 mode odd index 0 seed 1\n", "mode odd"},
        {"base operation ADD sig 0 variant 0 mode normal index 0 seed 1 \n", "t:1: expected"},
        {"base network nowhere index 0 seed 1\n", "t:1: there are no networks 'nowhere'"},
        {"base network small index 0 seed 1\n\nshake 1\n", "t:3: unknown mutation 'shake'"},
        {"base network small index 0 seed 1\nrelaxed 1\n", "t:2: 'relaxed' takes 0 numbers"},
        {"base network small index 0 seed 1\nsplice 1 4294967296\n", "t:2: 'splice' takes 2 numbers"},
        {"base network small index 0 seed 1\nsplice 1 -1\n", "t:2: 'splice' takes 2 numbers"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nnv_fuzz_input *inputs = NULL;
        size_t count = 0;
        struct nnv_err err = {0};
        assert_int_equal(nnv_fuzz_parse(bad[i].text, "t", &inputs, &count, &err), NNV_INVALID);
        if (!strstr(err.text, bad[i].error)) fail_msg("'%s' instead of '%s'", err.text, bad[i].error);
        assert_null(inputs);
    }
}

/** Each kind is drawn, and what is drawn reads back. */
static void test_drawing(void **state) {
    (void)state;
    bool seen[NNV_FUZZ_KINDS] = {false};
    for (uint64_t i = 0; i < 4000; i++) {
        struct nnv_rng rng = nnv_rng_make(1, i, 0), same = nnv_rng_make(1, i, 0);
        struct nnv_fuzz_input input = {.base = nnv_fuzz_draw_base(&rng, NULL)}, twin;
        nnv_fuzz_draw_mutations(&rng, &input);
        assert_true(input.count > 0 && input.count <= NNV_FUZZ_MUTATIONS_MAX);
        for (uint32_t k = 0; k < input.count; k++) seen[input.mutation[k].kind] = true;
        twin = (struct nnv_fuzz_input){.base = nnv_fuzz_draw_base(&same, NULL)};
        nnv_fuzz_draw_mutations(&same, &twin);
        struct nnv_text a = {0}, b = {0};
        nnv_fuzz_print(&a, &input);
        nnv_fuzz_print(&b, &twin);
        assert_string_equal(a.data, b.data);
        struct nnv_fuzz_input back = parse(a.data);
        nnv_text_clear(&b);
        nnv_fuzz_print(&b, &back);
        assert_string_equal(a.data, b.data);
        nnv_text_free(&a);
        nnv_text_free(&b);
    }
    for (int k = 0; k < NNV_FUZZ_KINDS; k++)
        if (!seen[k]) fail_msg("%s is never drawn", nnv_fuzz_kinds[k].name);
}

static void test_fields(void **state) {
    (void)state;
    struct fx f =
        mutated("operand-rank 0 1 9\noperand-dim 0 1 8 77\noperand-zero-point 0 0 4294967295\n"
                "operation-type 0 0 5000\noperation-inputs 0 0 5\noperation-input 0 0 4 12\nsubgraph-outputs 0 0\n"
                "location-offset 0 2 4294967292\nextension 3\nprepare-late\nshape-room 1\nargument-length 1 13\n"
                "request-pool-kind 1 9\nrequest-outputs 2\nmeasure\n");
    const struct nnvts_subgraph *s = &f.image.model.main;
    assert_int_equal(s->operands[1].dimension_count, 9);
    assert_int_equal(s->operands[1].dimensions[8], 77);
    assert_int_equal(s->operands[0].zero_point, -1);
    assert_int_equal(s->operations[0].type, 5000);
    assert_int_equal(s->operations[0].input_count, 5);
    assert_int_equal(s->operations[0].inputs[4], 12);
    assert_int_equal(s->operations[0].inputs[3], f.spec->model.main.operations[0].in[2]);
    assert_int_equal(s->output_count, 0);
    assert_int_equal(s->operands[2].location.offset, 4294967292u);
    assert_int_equal(f.image.model.extension_count, 1);
    assert_int_equal(f.image.prepare.deadline_ns, 1);
    assert_int_equal(f.image.shape_room, 1);
    assert_int_equal(f.image.request.inputs[1].location.length, 13);
    assert_int_equal(f.image.request.pools[1].kind, 9);
    assert_int_equal(f.image.request.output_count, 2);
    assert_true(f.image.execution.measure_timing);
    end(&f);
}

/** A splice is a legal network of both where their types fit. */
static void test_splice(void **state) {
    (void)state;
    struct fx f = mutated("");
    struct nnv_fuzz_base second = parse("base operation CONV_2D sig 0 variant 0 mode normal index 0 seed 1\n").base;
    struct nnv_spec *other = NULL;
    uint32_t operands = f.image.model.main.operand_count;
    assert_int_equal(nnv_fuzz_base_build(&second, f.arena, &other, NULL), NNV_OK);
    nnv_fuzz_splice(&f.image, other);
    const struct nnvts_subgraph *s = &f.image.model.main;
    assert_int_equal(s->operand_count, operands + other->model.main.noperands);
    assert_int_equal(s->operation_count, 2);
    assert_int_equal(s->operations[1].type, ANEURALNETWORKS_CONV_2D);
    assert_int_equal(s->operations[1].inputs[0], s->outputs[0]);
    assert_int_equal(s->operations[1].inputs[1], operands + other->model.main.operations[0].in[1]);
    end(&f);
}

/** Without mutations an image is the spec it was made of: as valid, with the same bytes. */
static void test_to_spec_is_the_inverse(void **state) {
    (void)state;
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++) {
        struct nnv_rng rng = nnv_rng_make(3, i, 0);
        struct nnv_fuzz_input input = {.base = nnv_fuzz_draw_base(&rng, ops[i])};
        struct fx f = begin(&input.base);
        nnv_fuzz_apply(&f.image, &input);
        struct nnv_spec made;
        struct nnv_err err = {0};
        assert_true(nnv_fuzz_to_spec(&f.image, f.arena, &made));
        if (nnv_validate(&made.model, f.arena, NULL, &err) != NNV_OK) fail_msg("%s: %s", ops[i]->name, err.text);
        for (uint32_t k = 0; k < made.model.main.noperands; k++) {
            const struct nnv_operand *a = &f.spec->model.main.operands[k], *b = &made.model.main.operands[k];
            assert_int_equal(a->type, b->type);
            assert_int_equal(a->rank, b->rank);
            if (a->rank) assert_memory_equal(a->dims, b->dims, a->rank * sizeof *a->dims);
            if (nnv_is_constant(a)) assert_int_equal(a->bytes, b->bytes);
            if (nnv_is_constant(a) && a->bytes) assert_memory_equal(a->data, b->data, a->bytes);
        }
        for (uint32_t k = 0; k < made.model.main.nin; k++) {
            assert_int_equal(f.spec->inputs[k].omitted, made.inputs[k].omitted);
            if (!made.inputs[k].omitted) assert_int_equal(f.spec->inputs[k].bytes, made.inputs[k].bytes);
        }
        end(&f);
    }
}

static void test_to_spec_refuses(void **state) {
    (void)state;
    static const char *const beyond[] = {
        "operand-rank 0 0 17\n",    "operand-type 0 0 4096\n",  "operation-input 0 0 0 99\n",     "extension 1\n",
        "location-length 0 2 99\n", "location-padding 0 0 4\n", "operation-type 0 0 4294967295\n"};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        struct fx f = mutated(beyond[i]);
        struct nnv_spec made;
        if (nnv_fuzz_to_spec(&f.image, f.arena, &made)) fail_msg("has a spec: %s", beyond[i]);
        end(&f);
    }
}

static void test_changes_are_seen(void **state) {
    (void)state;
    struct fx f = mutated("");
    nnv_fuzz_image_remember(&f.image);
    assert_null(nnv_fuzz_image_changed(&f.image));
    const struct nnvts_location *out = &f.image.request.outputs[0].location;
    uint8_t *output = f.image.memory + f.image.request.pools[1].offset + out->offset;
    output[0] ^= 1;
    output[out->length - 1] ^= 1;
    assert_string_equal(nnv_fuzz_image_changed(&f.image), "memory outside the outputs");
    nnv_fuzz_image_forgive_outputs(&f.image);
    assert_null(nnv_fuzz_image_changed(&f.image));
    output[out->length] ^= 1;
    nnv_fuzz_image_forgive_outputs(&f.image);
    assert_string_equal(nnv_fuzz_image_changed(&f.image), "memory outside the outputs");
    output[out->length] ^= 1;
    uint8_t *input = f.image.memory + f.image.request.pools[0].offset + f.image.request.inputs[0].location.offset;
    input[1] ^= 4;
    assert_string_equal(nnv_fuzz_image_changed(&f.image), "inputs");
    input[1] ^= 4;
    ((uint8_t *)(uintptr_t)f.image.model.operand_values)[0] ^= 4;
    assert_string_equal(nnv_fuzz_image_changed(&f.image), "the copied constants");
    end(&f);
}

/** An output in a read-only pool is not the driver's to write. */
static void test_read_only_outputs_are_not_forgiven(void **state) {
    (void)state;
    struct fx f = mutated("argument-pool 2 0\n");
    nnv_fuzz_image_remember(&f.image);
    f.image.memory[f.image.request.pools[0].offset + f.image.request.outputs[0].location.offset] ^= 1;
    nnv_fuzz_image_forgive_outputs(&f.image);
    assert_string_equal(nnv_fuzz_image_changed(&f.image), "inputs");
    end(&f);
}

/** Findings are the same where only numbers differ; a crash is told by its place. */
static void test_signatures(void **state) {
    (void)state;
    struct nnv_fuzz_input given[2] = {parse("base network small index 0 seed 1\n"),
                                      parse("base network small index 1 seed 1\n")};
    struct nnv_fuzz_batch b = {.given = given, .count = 2, .current = 1};
    char lines[] =
        "a 12 0\nw status 0 prepare_model answered status 77, which\nw status 1 prepare_model answered status 9, "
        "which\nw memory 1 execute changed inputs\n";
    char none[] = "", here[] = "#0 npu.so+0x10\n#1 x\n", there[] = "#0 npu.so+0x20\n#1 x\n",
         libc[] = "#0 libc.so.6+0x1 abort\n#1 npu.so+0x10\n";
    struct nnv_fuzz_ended e = {
        .ended = true, .verdict = NNVTS_FAIL, .reason = none, .lines = lines, .log = none, .backtrace = none};
    struct nnv_fuzz_finding f[4];
    const char *at = NULL;
    for (int i = 0; i < 3; i++) assert_true(nnv_fuzz_next_wrong(&b, &e, &at, &f[i]));
    assert_false(nnv_fuzz_next_wrong(&b, &e, &at, &f[3]));
    assert_true(f[0].signature == f[1].signature && f[1].signature != f[2].signature);
    assert_int_equal(f[2].kind, NNV_WRONG_MEMORY);
    assert_true(f[1].count == 1 && f[1].inputs[0].base.index == 1);
    for (int i = 0; i < 3; i++) nnv_fuzz_finding_free(&f[i]);
    char *const traces[] = {here, there, libc};
    for (int i = 0; i < 3; i++) {
        e = (struct nnv_fuzz_ended){.ended = true,
                                    .verdict = NNVTS_CRASH,
                                    .signal = 11,
                                    .reason = none,
                                    .lines = none,
                                    .log = none,
                                    .backtrace = traces[i]};
        at = NULL;
        assert_true(nnv_fuzz_next_wrong(&b, &e, &at, &f[i]));
        assert_int_equal(f[i].kind, NNV_WRONG_CRASH);
        assert_true(f[i].count == 1 && f[i].inputs[0].base.index == 1);
    }
    assert_true(f[0].signature != f[1].signature);
    for (int i = 0; i < 3; i++) nnv_fuzz_finding_free(&f[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_drawing),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_splice),
        cmocka_unit_test(test_to_spec_is_the_inverse),
        cmocka_unit_test(test_to_spec_refuses),
        cmocka_unit_test(test_changes_are_seen),
        cmocka_unit_test(test_read_only_outputs_are_not_forgiven),
        cmocka_unit_test(test_signatures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
