/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_debug_extract.c Parts of graphs with golden values; signatures; programs in C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/debug/reduce/reduce.h"
#include "harness/debug/spec_c/spec_c.h"
#include "reference/spec/spec.h"
#include "reference/model/validate.h"

/* out = relu((a + b) + c) * c: ADD to 2, ADD to 4, RELU to 5, MUL to 6; 3 is no activation; 7 is read by nobody */
static const char chain[] =
    "{\"format\":\"nnvts-spec/1\",\"name\":\"chain\",\"main\":{\"operands\":["
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[1,-4]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"CONSTANT_COPY\",\"data\":[2,1]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"TEMPORARY_VARIABLE\"},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"TEMPORARY_VARIABLE\"},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"TEMPORARY_VARIABLE\"},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[20,0]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[9,9]}],"
    "\"operations\":["
    "{\"type\":\"ADD\",\"inputs\":[0,1,3],\"outputs\":[2]},"
    "{\"type\":\"ADD\",\"inputs\":[2,1,3],\"outputs\":[4]},"
    "{\"type\":\"RELU\",\"inputs\":[4],\"outputs\":[5]},"
    "{\"type\":\"MUL\",\"inputs\":[5,1,3],\"outputs\":[6]}],"
    "\"inputs\":[0,7],\"outputs\":[6]},\"referenced\":[]}";

/* words with a sign, and words without one */
static const char casts[] =
    "{\"format\":\"nnvts-spec/1\",\"name\":\"casts\",\"main\":{\"operands\":["
    "{\"type\":\"TENSOR_QUANT16_SYMM\",\"dims\":[2],\"scale\":1,\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[-5,7]},"
    "{\"type\":\"TENSOR_QUANT16_SYMM\",\"dims\":[2],\"scale\":1,\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[-5,7]},"
    "{\"type\":\"TENSOR_QUANT16_ASYMM\",\"dims\":[2],\"scale\":1,\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[65535,3]},"
    "{\"type\":\"TENSOR_QUANT16_ASYMM\",\"dims\":[2],\"scale\":1,\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[65535,3]}],"
    "\"operations\":["
    "{\"type\":\"CAST\",\"inputs\":[0],\"outputs\":[1]},"
    "{\"type\":\"CAST\",\"inputs\":[2],\"outputs\":[3]}],"
    "\"inputs\":[0,2],\"outputs\":[1,3]},\"referenced\":[]}";

static struct nnv_spec *parse(struct nnv_arena *a, const char *json) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_spec_parse(json, strlen(json), "test", a, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
    return spec;
}

static struct nnv_known know(struct nnv_arena *a, const struct nnv_spec *spec) {
    struct nnv_known k;
    struct nnv_err err = {0};
    if (nnv_known_make(spec, false, a, &k, &err) != NNV_OK) fail_msg("%s", err.text);
    return k;
}

static struct nnv_spec *cut(struct nnv_arena *a, const struct nnv_known *k, const struct nnv_extraction *c) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_extract(k, c, a, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_validate(&spec->model, a, NULL, &err) != NNV_OK) fail_msg("%s", err.text);
    return spec;
}

static void assert_floats(const void *data, float x, float y) {
    float f[2];
    memcpy(f, data, sizeof f);
    assert_true(f[0] == x && f[1] == y);
}

static void known_values_are_golden(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    const struct nnv_known k = know(a, parse(a, chain));
    assert_int_equal(k.spec->model.main.noperands, 7); /* the unused input is gone */
    assert_int_equal(k.spec->model.main.nin, 1);
    assert_floats(k.value[2].data, 3, -3);
    assert_floats(k.value[4].data, 5, -2);
    assert_floats(k.value[5].data, 5, 0);
    assert_floats(k.spec->outputs[0].data, 10, 0); /* and not the 20 that the file expected */
    nnv_arena_free(a);
}

static void dropped_producers_become_inputs(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    const struct nnv_known k = know(a, parse(a, chain));
    const bool keep[] = {false, true, true, false};
    uint32_t index[7];
    const struct nnv_spec *s = cut(a, &k, &(struct nnv_extraction){.keep = keep, .index = index});
    const struct nnv_subgraph *m = &s->model.main;
    assert_int_equal(m->noperations, 2);
    assert_int_equal(m->noperands, 5);
    assert_int_equal(index[0], UINT32_MAX);
    assert_int_equal(m->nin, 1);
    assert_int_equal(m->in[0], index[2]);
    assert_floats(s->inputs[0].data, 3, -3);
    assert_int_equal(m->nout, 1);
    assert_int_equal(m->out[0], index[5]);
    assert_floats(s->outputs[0].data, 5, 0);
    assert_int_equal(m->operands[index[4]].lifetime, NNV_TEMPORARY_VARIABLE);
    nnv_arena_free(a);
}

static void wishes_come_true(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    const struct nnv_known k = know(a, parse(a, chain));
    const struct nnv_spec *all = cut(a, &k, &(struct nnv_extraction){.all_shown = true});
    assert_int_equal(all->model.main.nout, 4);
    const uint8_t wish[7] = {[0] = NNV_WISH_CONSTANT, [1] = NNV_WISH_INPUT, [4] = NNV_WISH_SHOWN};
    const struct nnv_spec *s = cut(a, &k, &(struct nnv_extraction){.wish = wish});
    assert_int_equal(s->model.main.nin, 1);
    assert_int_equal(s->model.main.in[0], 1);
    assert_floats(s->inputs[0].data, 2, 1);
    assert_floats(s->model.main.operands[0].data, 1, -4);
    assert_int_equal(s->model.main.nout, 2);
    assert_floats(s->outputs[1].data, 5, -2);
    const struct nnv_known shown = know(a, s);
    const uint8_t hide[7] = {[4] = NNV_WISH_HIDDEN, [6] = NNV_WISH_HIDDEN};
    s = cut(a, &shown, &(struct nnv_extraction){.wish = hide});
    assert_int_equal(s->model.main.nout, 1); /* what nobody reads stays an output */
    assert_int_equal(s->model.main.out[0], 6);
    nnv_arena_free(a);
}

static void relaxed_results_follow_the_inputs(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    struct nnv_spec *spec = parse(a, chain);
    struct nnv_known k;
    uint32_t one[] = {1};
    spec->model.main.operands[0].dims = spec->model.main.operands[1].dims = one;
    spec->model.main.operands[1].bytes = spec->inputs[0].bytes = sizeof(float);
    spec->inputs[0].dims[0] = 1;
    assert_int_equal(nnv_known_make(spec, false, a, &k, NULL), NNV_INVALID);
    assert_int_equal(nnv_known_make(spec, true, a, &k, NULL), NNV_OK);
    assert_int_equal(k.spec->model.main.operands[6].dims[0], 1);
    assert_int_equal(k.spec->outputs[0].bytes, sizeof(float));
    nnv_arena_free(a);
}

static void extents_are_counted(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    const struct nnv_extent e = nnv_spec_extent(parse(a, chain));
    assert_int_equal(e.operations, 4);
    assert_int_equal(e.elements, 9); /* inputs 2 + 2, constants 2 + 1, output 2 */
    assert_int_equal(e.bytes, 36);
    nnv_arena_free(a);
}

static void signatures_tell_failures_apart(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    const struct nnv_known k = know(a, parse(a, chain));
    const struct nnv_spec *all = cut(a, &k, &(struct nnv_extraction){.all_shown = true});
    /* outputs: MUL (the old one), then ADD, ADD, RELU */
    static struct nnv_opinion o = {.verdict = NNVTS_FAIL, .has_outputs = true};
    o.output[0].wrong = o.output[3].wrong = 1;
    struct nnv_signature s = nnv_signature_of(all, &o), t;
    assert_int_equal(s.operation, ANEURALNETWORKS_RELU); /* comes before MUL */
    o.output[3].not_finite = true;
    t = nnv_signature_of(all, &o);
    assert_false(nnv_signature_equal(&s, &t));
    o.output[3] = (struct nnv_output_opinion){.wrong = 7};
    t = nnv_signature_of(all, &o);
    assert_true(nnv_signature_equal(&s, &t)); /* how many are wrong does not matter */
    o.output[2].wrong = 1;
    t = nnv_signature_of(all, &o);
    assert_false(nnv_signature_equal(&s, &t));

    static struct nnv_opinion p = {.verdict = NNVTS_FAIL, .reason = "execute reports shape [1,2] for output 3"};
    static struct nnv_opinion q = {.verdict = NNVTS_FAIL, .reason = "execute reports shape [7,22,1] for output 0"};
    s = nnv_signature_of(all, &p);
    t = nnv_signature_of(all, &q);
    assert_true(nnv_signature_equal(&s, &t));
    strcpy(q.reason, "prepare reports shape [7,22,1] for output 0");
    t = nnv_signature_of(all, &q);
    assert_false(nnv_signature_equal(&s, &t));

    static struct nnv_opinion c = {.verdict = NNVTS_CRASH, .phase = NNV_PHASE_EXECUTE, .signal = 11};
    s = nnv_signature_of(all, &c);
    c.phase = NNV_PHASE_PREPARE;
    t = nnv_signature_of(all, &c);
    assert_false(nnv_signature_equal(&s, &t));
    nnv_arena_free(a);
}

static void programs_hold_the_bounds(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    struct nnv_text t = {0};
    struct nnv_err err = {0};
    const struct nnv_known k = know(a, parse(a, chain));
    k.spec->name = "a */ b";
    assert_int_equal(nnv_spec_write_c(k.spec, NNV_PRECISION_NNAPI, NNV_C_DRIVER, a, &t, &err), NNV_OK);
    assert_non_null(strstr(t.data, "static const double expected_0[] = {10.0, 0.0};"));
    assert_non_null(strstr(t.data, "static const float data_0_1[] = {2.0f, 1.0f};"));
    assert_null(strstr(t.data, "a */ b"));
    /* 1e-5 + 1e-5 * 10 */
    const char *bound = strstr(t.data, "static const double bound_0[] = {");
    assert_non_null(bound);
    assert_float_equal(strtod(bound + 33, NULL), 1.1e-4, 1e-9);
    nnv_text_clear(&t);
    const struct nnv_known words = know(a, parse(a, casts));
    assert_int_equal(nnv_spec_write_c(words.spec, NNV_PRECISION_NNAPI, NNV_C_DRIVER, a, &t, &err), NNV_OK);
    assert_non_null(strstr(t.data, "static const int16_t input_0[] = {-5, 7};"));
    assert_non_null(strstr(t.data, "static const uint16_t input_1[] = {65535, 3};"));
    nnv_text_clear(&t);
    k.spec->expect_failure = true;
    assert_int_equal(nnv_spec_write_c(k.spec, NNV_PRECISION_NNAPI, NNV_C_DRIVER, a, &t, &err), NNV_INVALID);
    nnv_text_free(&t);
    nnv_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values_are_golden),  cmocka_unit_test(dropped_producers_become_inputs),
        cmocka_unit_test(wishes_come_true),         cmocka_unit_test(relaxed_results_follow_the_inputs),
        cmocka_unit_test(extents_are_counted),      cmocka_unit_test(signatures_tell_failures_apart),
        cmocka_unit_test(programs_hold_the_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
