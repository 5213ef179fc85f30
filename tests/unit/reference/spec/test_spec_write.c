/* SPDX-License-Identifier: Apache-2.0 */
/* Writing specs: JSON that reads back to the same, .mod.py, .dot and the summary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "reference/spec/spec.h"
#include "tests/kit/arena.h"

static struct nnv_text text;

static int drop(void **state) {
    nnv_text_free(&text);
    return tear_down(state);
}

static uint32_t *dims(uint32_t a, uint32_t b) {
    uint32_t *d = NNV_NEW(arena, uint32_t, 2);
    d[0] = a;
    d[1] = b;
    return d;
}

static uint32_t *indices(const uint32_t *v, size_t n) { return nnv_arena_copy(arena, v, n * sizeof *v); }
#define INDICES(...) indices((const uint32_t[]){__VA_ARGS__}, sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))

/* %3 = ADD(%0, %1, %2) on [1,2], with values; everything may be changed afterwards. */
static struct nnv_spec *sample(void) {
    struct nnv_spec *s = NNV_NEW(arena, struct nnv_spec, 1);
    struct nnv_subgraph *m = &s->model.main;
    *s = (struct nnv_spec){.name = "a \"b\"\\", .source = "x\ny.mod.py", .min_version = 3};
    m->noperands = 4;
    m->operands = NNV_NEW(arena, struct nnv_operand, 4);
    int32_t f = ANEURALNETWORKS_TENSOR_FLOAT32;
    m->operands[0] = (struct nnv_operand){.type = f, .rank = 2, .dims = dims(1, 2), .lifetime = NNV_SUBGRAPH_INPUT};
    m->operands[1] = (struct nnv_operand){.type = f, .rank = 2, .dims = dims(1, 2), .lifetime = NNV_CONSTANT_COPY};
    m->operands[1].data = nnv_arena_copy(arena, (float[]){0.1f, -0.0f}, 8);
    m->operands[1].bytes = 8;
    m->operands[2] = (struct nnv_operand){.type = ANEURALNETWORKS_INT32, .lifetime = NNV_CONSTANT_REFERENCE};
    m->operands[2].data = nnv_arena_copy(arena, (int32_t[]){-7}, 4);
    m->operands[2].bytes = 4;
    m->operands[3] = (struct nnv_operand){.type = f, .rank = 2, .dims = dims(1, 2), .lifetime = NNV_SUBGRAPH_OUTPUT};
    m->noperations = 1;
    m->operations = NNV_NEW(arena, struct nnv_operation, 1);
    m->operations[0] = (struct nnv_operation){ANEURALNETWORKS_ADD, 3, 1, INDICES(0, 1, 2), INDICES(3)};
    m->nin = m->nout = 1;
    m->in = INDICES(0);
    m->out = INDICES(3);
    s->inputs = NNV_NEW(arena, struct nnv_value, 1);
    s->outputs = NNV_NEW(arena, struct nnv_value, 1);
    s->inputs[0] = (struct nnv_value){.rank = 2, .dims = {1, 2}, .bytes = 8};
    s->inputs[0].data = nnv_arena_copy(arena, (float[]){1, INFINITY}, 8);
    s->outputs[0] = (struct nnv_value){.rank = 2, .dims = {1, 2}, .bytes = 8};
    s->outputs[0].data = nnv_arena_copy(arena, (float[]){1e-7f, 16777216}, 8);
    return s;
}

static const char *json_of(const struct nnv_spec *s, bool pretty) {
    nnv_text_clear(&text);
    nnv_spec_write_json(s, pretty, &text);
    assert_false(text.failed);
    return nnv_arena_strdup(arena, text.data);
}

/* Reads back what was written, and checks that writing that gives the same bytes, in both forms. */
static struct nnv_spec *again(const struct nnv_spec *s) {
    struct nnv_spec *r = NULL;
    struct nnv_err err;
    for (int pretty = 1; pretty >= 0; pretty--) {
        const char *json = json_of(s, pretty);
        if (nnv_spec_parse(json, strlen(json), "again", arena, &r, &err) != NNV_OK) fail_msg("%s\n%s", err.text, json);
        assert_string_equal(json_of(r, pretty), json);
    }
    return r;
}

/* A dump's answer and bounds come back; NaN is "not compared". */
static void answers_and_bounds_survive(void **state) {
    (void)state;
    struct nnv_spec *s = sample();
    struct nnv_value actual = s->outputs[0];
    double bound[] = {0.25, (double)NAN}, *bounds[] = {bound};
    actual.data = nnv_arena_copy(arena, (float[]){-3, 0.5f}, 8);
    s->actual = &actual;
    s->bounds = bounds;
    assert_non_null(strstr(json_of(s, false), "\"actual\":[-3,0.5],\"bounds\":[0.25,null]"));
    const struct nnv_spec *r = again(s);
    assert_non_null(r->actual);
    assert_memory_equal(r->actual[0].data, actual.data, 8);
    assert_true(r->bounds[0][0] == 0.25 && isnan(r->bounds[0][1]));
    assert_memory_equal(r->outputs[0].data, s->outputs[0].data, 8);
    assert_null(again(sample())->actual);
    static const char *const bad[] = {"\"bounds\":[1]", "\"bounds\":[1,-1]", "\"bounds\":7", "\"actual\":[1]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nnv_text t = {0};
        struct nnv_spec *out;
        struct nnv_err err = {0};
        const char *json = json_of(sample(), false), *at = strstr(json, "\"lifetime\":\"SUBGRAPH_OUTPUT\"");
        nnv_text_add_n(&t, json, (size_t)(at - json));
        nnv_text_addf(&t, "%s,%s", bad[i], at);
        assert_int_equal(nnv_spec_parse(t.data, t.len, "bad", arena, &out, &err), NNV_INVALID);
        assert_non_null(strstr(err.text, i < 3 ? "operands[3].bounds" : "operands[3].actual"));
        nnv_text_free(&t);
    }
}

static void json_is_compact(void **state) {
    (void)state;
    assert_string_equal(
        json_of(sample(), false),
        "{\"format\":\"nnvts-spec/1\",\"name\":\"a \\\"b\\\"\\\\\",\"source\":\"x\\ny.mod.py\",\"min_version\":\"1.2\","
        "\"expect_failure\":false,\"relaxed\":false,\"main\":{\"operands\":["
        "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[1,\"Infinity\"]},"
        "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,2],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0.1,-0.0]},"
        "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_REFERENCE\",\"data\":[-7]},"
        "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,2],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[1e-7,16777216]}],"
        "\"operations\":[{\"type\":\"ADD\",\"inputs\":[0,1,2],\"outputs\":[3]}],\"inputs\":[0],\"outputs\":[3]},"
        "\"referenced\":[]}");
}

static void json_is_pretty(void **state) {
    (void)state;
    struct nnv_spec *s = sample();
    s->name = "n";
    s->source = NULL;
    s->min_version = 0;
    s->exact = true;
    s->model.main.noperands = 1;
    s->model.main.operands[0].lifetime = NNV_TEMPORARY_VARIABLE;
    s->model.main.noperations = s->model.main.nin = s->model.main.nout = 0;
    assert_string_equal(json_of(s, true), "{\n"
                                          "  \"format\": \"nnvts-spec/1\",\n"
                                          "  \"name\": \"n\",\n"
                                          "  \"min_version\": null,\n"
                                          "  \"expect_failure\": false,\n"
                                          "  \"relaxed\": false,\n"
                                          "  \"exact\": true,\n"
                                          "  \"main\": {\n"
                                          "    \"operands\": [\n"
                                          "      {\"type\": \"TENSOR_FLOAT32\", \"dims\": [1, 2], \"lifetime\": "
                                          "\"TEMPORARY_VARIABLE\"}\n"
                                          "    ],\n"
                                          "    \"operations\": [\n"
                                          "    ],\n"
                                          "    \"inputs\": [],\n"
                                          "    \"outputs\": []\n"
                                          "  },\n"
                                          "  \"referenced\": []\n"
                                          "}");
}

static void every_member_survives(void **state) {
    (void)state;
    struct nnv_spec *s = sample();
    s->model.relaxed = s->exact = true;
    s->multinomial_tolerance = 0.05;
    struct nnv_operand *o = s->model.main.operands;
    o[3].ignored = true;
    o[3].scale = 0.1f;
    o[3].zero_point = -3;
    o[1].channel = (struct nnv_channel_quant){1, 2, nnv_arena_copy(arena, (float[]){0.3f, 2}, 8)};
    struct nnv_spec *r = again(s);
    const struct nnv_operand *q = r->model.main.operands;
    assert_string_equal(r->name, s->name);
    assert_string_equal(r->source, s->source);
    assert_true(r->model.relaxed && r->exact && r->multinomial_tolerance == 0.05 && r->min_version == 3);
    assert_true(q[3].ignored && q[3].scale == 0.1f && q[3].zero_point == -3);
    assert_true(q[1].channel.dim == 1 && q[1].channel.count == 2 && q[1].channel.scales[0] == 0.3f);
    assert_memory_equal(q[1].data, o[1].data, 8); /* the sign of zero, too */
    assert_memory_equal(r->inputs[0].data, s->inputs[0].data, 8);
    assert_memory_equal(r->outputs[0].data, s->outputs[0].data, 8);
    assert_int_equal(q[2].lifetime, NNV_CONSTANT_REFERENCE);
}

/* What decimals cannot say goes as base64. */
static void every_bit_survives(void **state) {
    (void)state;
    struct nnv_spec *s = sample();
    uint32_t nans[] = {0x7fc00001, 0xffc00000};
    s->inputs[0].data = nnv_arena_copy(arena, nans, 8);
    assert_memory_equal(again(s)->inputs[0].data, nans, 8);
    s->inputs[0].data = nnv_arena_copy(arena, (uint32_t[]){0x7fc00000, 0}, 8);
    assert_non_null(strstr(json_of(s, false), "\"data\":[\"NaN\",0]"));
    s->model.main.operands[0].type = ANEURALNETWORKS_TENSOR_BOOL8;
    s->inputs[0].data = nnv_arena_copy(arena, "\x01\x07", 2);
    s->inputs[0].bytes = 2;
    assert_memory_equal(again(s)->inputs[0].data, "\x01\x07", 2);
    s->model.main.operands[0].type = ANEURALNETWORKS_TENSOR_FLOAT16;
    uint16_t halves[100];
    for (uint32_t h = 0; h < 65536; h += 2 * 41) {
        uint16_t two[2] = {(uint16_t)h, (uint16_t)(h + 41)};
        s->inputs[0].data = nnv_arena_copy(arena, two, 4);
        s->inputs[0].bytes = 4;
        assert_memory_equal(again(s)->inputs[0].data, two, 4);
    }
    for (uint16_t i = 0; i < 100; i++) halves[i] = (uint16_t)(i * 77);
    s->inputs[0] = (struct nnv_value){.rank = 2, .dims = {10, 10}, .data = halves, .bytes = 200};
    assert_memory_equal(again(s)->inputs[0].data, halves, 200);
    assert_non_null(strstr(json_of(s, false), "\"value_dims\":[10,10],\"data\":{\"base64\":\""));
}

static void omitted_empty_and_dynamic_values_survive(void **state) {
    (void)state;
    struct nnv_spec *s = sample(), *r;
    s->inputs[0] = (struct nnv_value){.omitted = true};
    s->model.main.operands[3].dims[0] = 0;
    r = again(s);
    assert_true(r->inputs[0].omitted);
    assert_true(r->outputs[0].dims[0] == 1 && r->model.main.operands[3].dims[0] == 0);
    s->inputs[0] = (struct nnv_value){.rank = 2, .dims = {0, 2}, .data = s->outputs[0].data};
    s->model.main.operands[0].dims[0] = 0;
    assert_non_null(strstr(json_of(s, false), "\"value_dims\":[0,2],\"data\":[]"));
    r = again(s);
    assert_false(r->inputs[0].omitted);
    assert_true(r->inputs[0].rank == 2 && r->inputs[0].dims[0] == 0 && r->inputs[0].dims[1] == 2);
    s->outputs[0] = (struct nnv_value){.rank = 2, .dims = {0, 2}, .data = s->inputs[0].data};
    r = again(s);
    assert_false(r->outputs[0].omitted);
    assert_int_equal(r->outputs[0].dims[0], 0);
    s->model.main.operands[3].rank = 0; /* unknown rank */
    s->outputs[0] = (struct nnv_value){.rank = 1, .dims = {2}, .bytes = 8, .data = nnv_arena_alloc(arena, 8, 1)};
    r = again(s);
    assert_true(r->outputs[0].rank == 1 && r->outputs[0].bytes == 8 && r->model.main.operands[3].rank == 0);
}

static void malformed_models_survive(void **state) {
    (void)state;
    struct nnv_spec *s = sample(), *r;
    s->expect_failure = true;
    s->model.main.operands[0].type = 77;
    s->model.main.operands[1].dims[1] = 9; /* 8 bytes do not fit */
    s->model.main.operands[3].scale = NAN;
    s->model.main.operations[0].type = 5000;
    s->outputs[0] = (struct nnv_value){.omitted = true};
    r = again(s);
    assert_int_equal(r->model.main.operands[0].type, 77);
    assert_int_equal(r->model.main.operands[1].bytes, 8);
    assert_int_equal(r->model.main.operands[1].dims[1], 9);
    assert_memory_equal(r->inputs[0].data, s->inputs[0].data, 8);
    assert_int_equal(r->model.main.operations[0].type, 5000);
    assert_true(r->outputs[0].omitted && isnan(r->model.main.operands[3].scale));
}

/* Adds two subgraphs, the second referred to by the first, the first by the main one. */
static void add_subgraphs(struct nnv_spec *s) {
    s->model.nreferenced = 2;
    s->model.referenced = NNV_NEW(arena, struct nnv_subgraph, 2);
    for (uint32_t i = 0; i < 2; i++) {
        struct nnv_subgraph *g = &s->model.referenced[i];
        *g = sample()->model.main;
        g->operands[2] = (struct nnv_operand){.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH, .subgraph = 1};
    }
    s->model.referenced[1].operands[2] = (struct nnv_operand){
        .type = ANEURALNETWORKS_TENSOR_INT32, .rank = 1, .dims = dims(0, 0), .lifetime = NNV_NO_VALUE};
    s->model.main.operands[2] = (struct nnv_operand){.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH};
}

static void subgraphs_survive(void **state) {
    (void)state;
    struct nnv_spec *s = sample();
    add_subgraphs(s);
    const struct nnv_spec *r = again(s);
    assert_int_equal(r->model.nreferenced, 2);
    assert_int_equal(r->model.referenced[0].operands[2].subgraph, 1);
    assert_int_equal(r->model.referenced[1].operands[2].lifetime, NNV_NO_VALUE);
}

static const char *written(void (*write)(const struct nnv_spec *, struct nnv_text *), const struct nnv_spec *s) {
    nnv_text_clear(&text);
    write(s, &text);
    assert_false(text.failed);
    return text.data;
}

static void modpy_is_a_generator_file(void **state) {
    (void)state;
    struct nnv_spec *s = sample();
    s->model.relaxed = true;
    s->expect_failure = true;
    s->model.main.operands[3].scale = 0.5f;
    assert_string_equal(
        written(nnv_spec_write_modpy, s),
        "# a \"b\"\\\n"
        "# x y.mod.py\n"
        "\n"
        "from_hex = lambda values: [float.fromhex(v) for v in values]\n"
        "\n"
        "op0 = Input(\"op0\", (\"TENSOR_FLOAT32\", [1, 2]))\n"
        "op1 = Parameter(\"op1\", (\"TENSOR_FLOAT32\", [1, 2]), from_hex([\"0x1.99999ap-4\", \"-0x0p+0\"]))  # 0.1, "
        "-0.0\n"
        "op2 = Parameter(\"op2\", (\"INT32\", []), [-7])\n"
        "op3 = Output(\"op3\", (\"TENSOR_FLOAT32\", [1, 2], float.fromhex(\"0x1p-1\"), 0))  # scale 0.5\n"
        "model = Model().IdentifyInputs(op0).IdentifyOutputs(op3)\n"
        "model = model.Operation(\"ADD\", op0, op1, op2).To(op3)\n"
        "model = model.RelaxedExecution(True)\n"
        "model = model.IntroducedIn(\"V1_2\")\n"
        "\n"
        "example = Example({\n"
        "    op0: from_hex([\"0x1p+0\", \"inf\"]),  # 1, \"Infinity\"\n"
        "    op3: from_hex([\"0x1.ad7f2ap-24\", \"0x1p+24\"]),  # 1e-7, 16777216\n"
        "}, model=model).DisableLifeTimeVariation()\n"
        "example.ExpectFailure()\n");
}

static void modpy_defines_subgraphs_before_their_use(void **state) {
    (void)state;
    struct nnv_spec *s = sample();
    add_subgraphs(s);
    const char *py = written(nnv_spec_write_modpy, s);
    const char *first = strstr(py, "sub1 = Model(\"sub1\")"),
               *second = strstr(py, "SubgraphReference(\"sub0_op2\", sub1)");
    const char *third = strstr(py, "op2 = SubgraphReference(\"op2\", sub0)");
    assert_true(first && second && third && first < second && second < third);
    assert_non_null(strstr(py, "sub1_op2 = Parameter(\"sub1_op2\", (\"TENSOR_INT32\", [0]), None)\n"));
    s->model.referenced[1].operands[2] =
        s->model.main.operands[2]; /* a circle: refused by validation, yet it must end */
    assert_non_null(strstr(written(nnv_spec_write_modpy, s), "model = Model()"));
}

static void dot_marks_the_operation(void **state) {
    (void)state;
    struct nnv_spec *s = sample();
    add_subgraphs(s);
    nnv_text_clear(&text);
    nnv_spec_write_dot(s, 0, &text);
    assert_int_equal(strncmp(text.data, "digraph \"a \\\"b\\\"\\\\\" {\n", 22), 0);
    assert_non_null(strstr(text.data, "mo0 [shape=ellipse, label=\"%0\\nTENSOR_FLOAT32 [1,2]\""));
    assert_non_null(strstr(text.data, "\\n= [0.1,-0.0]\", color="));
    assert_non_null(strstr(text.data, "label=\"0: ADD\", style=filled, fillcolor=\"#ffd0d0\""));
    assert_non_null(strstr(text.data, "mo0 -> mp0 [label=\"0\"]"));
    assert_non_null(strstr(text.data, "subgraph cluster_1 {"));
    assert_non_null(strstr(text.data, "r1_p0 -> r1_o3 [label=\"0\"]"));
    size_t open = 0, close = 0;
    for (const char *c = text.data; *c; c++) {
        open += *c == '{';
        close += *c == '}';
    }
    assert_int_equal(open, 3);
    assert_int_equal(close, 3);
    nnv_text_clear(&text);
    nnv_spec_write_dot(s, -1, &text);
    assert_null(strstr(text.data, "#ffd0d0"));
}

static void summary_reads_well(void **state) {
    (void)state;
    struct nnv_spec *s = sample();
    s->model.main.operands[0].dims[0] = 0;
    s->model.main.operands[3].scale = 0.25f;
    assert_string_equal(written(nnv_spec_write_summary, s),
                        "a \"b\"\\: level 1.2, 1 operation, 4 operands, 1 input, 1 output\n"
                        "  from x\ny.mod.py\n"
                        "  inputs\n"
                        "    %0 TENSOR_FLOAT32 [?,2], here [1,2]\n"
                        "  operations\n"
                        "    0  ADD(%0 TENSOR_FLOAT32 [?,2], %1 = [0.1,-0.0], %2 = -7) -> %3 TENSOR_FLOAT32 [1,2]\n"
                        "  outputs\n"
                        "    %3 TENSOR_FLOAT32 [1,2], scale 0.25 zero point 0\n"
                        "  constants: 2, 12 bytes; largest %1 = [0.1,-0.0], 8 bytes\n");
}

/* Models that no reader lets through reach the writers, too: those that tests break on purpose. */
static void writers_survive_any_model(void **state) {
    (void)state;
    struct nnv_spec *s = sample();
    s->name = NULL;
    s->model.main.operations[0].in = INDICES(0, 99, 0xffffffff);
    s->model.main.operations[0].type = -1;
    s->model.main.operands[1].type = 99;
    s->model.main.operands[2].bytes = 3;
    s->model.main.operands[3].lifetime = (enum nnv_lifetime)42;
    s->model.main.in = INDICES(77);
    s->model.main.out = INDICES(3);
    assert_non_null(json_of(s, false));
    assert_non_null(written(nnv_spec_write_modpy, s));
    assert_non_null(strstr(written(nnv_spec_write_summary, s), "%77 (out of range)"));
    nnv_spec_write_dot(s, 5, &text);
    assert_false(text.failed);
    struct nnv_spec none = {.name = "none"};
    assert_non_null(json_of(&none, true));
    assert_non_null(written(nnv_spec_write_modpy, &none));
    assert_non_null(written(nnv_spec_write_summary, &none));
    nnv_spec_write_dot(&none, -1, &text);
    assert_false(text.failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_and_bounds_survive, set_up, drop),
        cmocka_unit_test_setup_teardown(json_is_compact, set_up, drop),
        cmocka_unit_test_setup_teardown(json_is_pretty, set_up, drop),
        cmocka_unit_test_setup_teardown(every_member_survives, set_up, drop),
        cmocka_unit_test_setup_teardown(every_bit_survives, set_up, drop),
        cmocka_unit_test_setup_teardown(omitted_empty_and_dynamic_values_survive, set_up, drop),
        cmocka_unit_test_setup_teardown(malformed_models_survive, set_up, drop),
        cmocka_unit_test_setup_teardown(subgraphs_survive, set_up, drop),
        cmocka_unit_test_setup_teardown(modpy_is_a_generator_file, set_up, drop),
        cmocka_unit_test_setup_teardown(modpy_defines_subgraphs_before_their_use, set_up, drop),
        cmocka_unit_test_setup_teardown(dot_marks_the_operation, set_up, drop),
        cmocka_unit_test_setup_teardown(summary_reads_well, set_up, drop),
        cmocka_unit_test_setup_teardown(writers_survive_any_model, set_up, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
