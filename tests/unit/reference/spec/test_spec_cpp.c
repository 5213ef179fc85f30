/* SPDX-License-Identifier: Apache-2.0 */
/* Reading AOSP's generated test models: what good ones give, the one error of each bad one, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "reference/spec/spec.h"
#include "tests/kit/arena.h"

#define BEGIN(function) "const TestModel& " function "() {\n    static TestModel model = {\n"
#define FINISH                                                                                                         \
    "    };\n"                                                                                                         \
    "    return model;\n"                                                                                              \
    "}\n"

/* Lines 1 to 29; the columns of the errors below count in these lines. */
static const char good[] = "// a comment\n"
                           "namespace generated_tests::x {\n" BEGIN("get_test_model_small")
    /* 5 */ "  .main = {\n"
            "    .operands = {{ // in\n"
            "      .type = TestOperandType::TENSOR_FLOAT32, .dimensions = {1, 2},\n"
            "      .lifetime = TestOperandLifeTime::SUBGRAPH_INPUT,\n"
            "      .data = TestBuffer::createFromVector<float>({1.5f, -2e-3f})\n"
            /* 10 */ "    }, {\n"
            "      .type = TestOperandType::TENSOR_QUANT8_ASYMM_SIGNED, .dimensions = {3},\n"
            "      .scale = 0.5f, .zeroPoint = -128, .numberOfConsumers = 1,\n"
            "      .lifetime = TestOperandLifeTime::CONSTANT_COPY,\n"
            "      .data = TestBuffer::createFromVector<int8_t>({-128, 0, 127})\n"
            /* 15 */ "    }, {\n"
            "      .type = TestOperandType::TENSOR_FLOAT32, .dimensions = {2},\n"
            "      .lifetime = TestOperandLifeTime::SUBGRAPH_OUTPUT, .isIgnored = true,\n"
            "      .data = TestBuffer::createFromVector<float>({0x1.8p1f, 7}),\n"
            "    }},\n"
            /* 20 */ "    .operations = {{\n"
            "      .type = TestOperationType::RELU, .inputs = {0}, .outputs = {2}\n"
            "    }},\n"
            "    .inputIndexes = {0}, .outputIndexes = {2}\n"
            "  },\n"
            /* 25 */ "  .isRelaxed = true, .minSupportedVersion = TestHalVersion::AIDL_V2\n" FINISH "}\n";

static struct nnv_err err;

/* The first model of a text; *count: how many pieces there are. */
static enum nnv_status read_first(const char *text, size_t len, size_t *count, struct nnv_spec **spec) {
    struct nnv_spec_pieces p = nnv_spec_cpp_pieces(text, len);
    enum nnv_status status = NNV_INTERNAL;
    *count = 0;
    while (nnv_spec_cpp_next(&p)) {
        struct nnv_err later = {0};
        struct nnv_spec *s = NULL;
        struct nnv_err *e = *count ? &later : &err;
        if (!*count) err = (struct nnv_err){0};
        enum nnv_status one = nnv_spec_parse_cpp(p.text, p.len, "dir/x.example.cpp", p.line, arena, &s, e);
        if (!*count) {
            status = one;
            if (s) *spec = s;
        }
        ++*count;
    }
    return status;
}

static enum nnv_status parse(const char *text, struct nnv_spec **spec) {
    size_t count;
    return read_first(text, strlen(text), &count, spec);
}

static struct nnv_spec *must_parse(const char *text) {
    struct nnv_spec *s = NULL;
    if (parse(text, &s) != NNV_OK) fail_msg("%s", err.text);
    return s;
}

/* The text with its first `from` replaced. */
static char *changed_in(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    if (!at) fail_msg("'%s' is not in the text", from);
    return nnv_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static char *changed(const char *from, const char *to) { return changed_in(good, from, to); }

/* Written as JSON, read and written again, the spec is the same. */
static void must_survive_json(const struct nnv_spec *s) {
    struct nnv_text text = {0}, again = {0};
    struct nnv_spec *copy = NULL;
    nnv_spec_write_json(s, false, &text);
    if (nnv_spec_parse(text.data, text.len, "json", arena, &copy, &err) != NNV_OK)
        fail_msg("%s\n%s", err.text, text.data);
    nnv_spec_write_json(copy, false, &again);
    assert_string_equal(again.data, text.data);
    nnv_text_free(&text);
    nnv_text_free(&again);
}

/* -------------------------------------------------------------------- good */

static void a_good_model_is_read(void **state) {
    (void)state;
    const struct nnv_spec *s = must_parse(good);
    assert_string_equal(s->name, "x_small");
    assert_string_equal(s->source, "x.example.cpp");
    assert_int_equal(s->min_version, 6);
    assert_true(s->model.relaxed && !s->expect_failure);
    const struct nnv_subgraph *m = &s->model.main;
    assert_true(m->noperands == 3 && m->noperations == 1 && m->nin == 1 && m->nout == 1);
    assert_true(m->operands[0].rank == 2 && m->operands[0].dims[1] == 2);
    assert_true(((const float *)s->inputs[0].data)[0] == 1.5f && ((const float *)s->inputs[0].data)[1] == -2e-3f);
    const struct nnv_operand *q = &m->operands[1];
    assert_int_equal(q->type, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED);
    assert_true(q->scale == 0.5f && q->zero_point == -128 && q->bytes == 3);
    assert_true(((const int8_t *)q->data)[0] == -128 && ((const int8_t *)q->data)[2] == 127);
    assert_true(m->operands[2].ignored && !m->operands[0].ignored);
    assert_true(((const float *)s->outputs[0].data)[0] == 3.0f && ((const float *)s->outputs[0].data)[1] == 7.0f);
    assert_int_equal(m->operations[0].type, ANEURALNETWORKS_RELU);
    assert_true(m->operations[0].in[0] == 0 && m->operations[0].out[0] == 2);
    must_survive_json(s);
}

/* One constant of a type with the elements between the braces, in a model of nothing else. */
static const struct nnv_operand *constant(const char *type, const char *element, const char *list, unsigned extent) {
    char *dims = strncmp(type, "TENSOR", 6) == 0 ? nnv_arena_printf(arena, "%u", extent) : nnv_arena_strdup(arena, "");
    return &must_parse(nnv_arena_printf(arena,
                                        BEGIN("get_test_model") ".main = { .operands = {{ .type = TestOperandType::%s, "
                                                                ".dimensions = {%s}, .lifetime = "
                                                                "TestOperandLifeTime::CONSTANT_REFERENCE, .data = "
                                                                "TestBuffer::createFromVector<%s>({%s}) }} }\n" FINISH,
                                        type, dims, element, list))
                ->model.main.operands[0];
}

static void every_type_is_read(void **state) {
    (void)state;
    static const struct {
        const char *type, *element, *list;
        unsigned count;
        double first, last;
    } rows[] = {
        {"FLOAT32", "float", "-0x1.4p-2f", 1, -0.3125, -0.3125},
        {"INT32", "int32_t", "-2147483648", 1, -2147483648.0, -2147483648.0},
        {"UINT32", "uint32_t", "4294967295u", 1, 4294967295.0, 4294967295.0},
        {"TENSOR_FLOAT32", "float", "1.0f, 2", 2, 1, 2},
        {"TENSOR_INT32", "int32_t", "2147483647, 0x10", 2, 2147483647.0, 16},
        {"TENSOR_QUANT8_ASYMM", "uint8_t", "255, 0,", 2, 255, 0},
        {"BOOL", "bool8", "true", 1, 1, 1},
        {"TENSOR_QUANT16_SYMM", "int16_t", "-32768, 32767", 2, -32768, 32767},
        {"TENSOR_FLOAT16", "_Float16", "65504.0f, -1.5f", 2, 65504, -1.5},
        {"TENSOR_BOOL8", "bool8", "false, 1", 2, 0, 1},
        {"FLOAT16", "_Float16", "0.5f", 1, 0.5, 0.5},
        {"TENSOR_QUANT8_SYMM_PER_CHANNEL", "int8_t", "-128, 1", 2, -128, 1},
        {"TENSOR_QUANT16_ASYMM", "uint16_t", "65535, 1", 2, 65535, 1},
        {"TENSOR_QUANT8_SYMM", "int8_t", "-1, 127", 2, -1, 127},
        {"TENSOR_QUANT8_ASYMM_SIGNED", "std::int8_t", "-7, 7", 2, -7, 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double v[2];
        const struct nnv_operand *o = constant(rows[i].type, rows[i].element, rows[i].list, rows[i].count);
        assert_int_equal(o->type, nnv_type_by_name(rows[i].type)->code);
        assert_int_equal(o->lifetime, NNV_CONSTANT_REFERENCE);
        assert_int_equal(o->bytes, rows[i].count * nnv_type(o->type)->size);
        nnv_load(o->type, o->data, rows[i].count, v);
        assert_true(v[0] == rows[i].first && v[rows[i].count - 1] == rows[i].last);
    }
}

/* As a compiler reads them: the suffix f rounds to float32 first, and -0.0f keeps its sign where -0 has none. */
static void numbers_are_read_as_by_a_compiler(void **state) {
    (void)state;
    const float *f = constant("TENSOR_FLOAT32", "float",
                              "0.1f, 1e-45f, -0.0f, -0, INFINITY, -INFINITY, NAN, "
                              "-std::numeric_limits<float>::infinity(), 16777217, 1.",
                              10)
                         ->data;
    assert_true(f[0] == 0.1f && f[1] == 0x1p-149f && f[9] == 1.0f);
    assert_true(f[2] == 0 && signbit(f[2]) && f[3] == 0 && !signbit(f[3]));
    assert_true(f[4] == INFINITY && f[5] == -INFINITY && isnan(f[6]) && f[7] == -INFINITY && f[8] == 16777216.0f);
    /* 1 + 2^-11 lies halfway between two float16; 2^-30 more is lost in float32, so the tie goes to even: 1. */
    const uint16_t *h = constant("TENSOR_FLOAT16", "_Float16", "0x1.002000004p0f, 0x1.002000004p0", 2)->data;
    assert_true(nnv_half_to_double(h[0]) == 1.0 && nnv_half_to_double(h[1]) == 1.0 + 0x1p-10);
}

static void every_lifetime_is_read(void **state) {
    (void)state;
    static const char *const names[] = {"TEMPORARY_VARIABLE", "SUBGRAPH_INPUT", "SUBGRAPH_OUTPUT", "CONSTANT_COPY",
                                        "CONSTANT_REFERENCE", "NO_VALUE",       "MODEL_INPUT",     "MODEL_OUTPUT"};
    static const enum nnv_lifetime lifetimes[] = {NNV_TEMPORARY_VARIABLE, NNV_SUBGRAPH_INPUT,     NNV_SUBGRAPH_OUTPUT,
                                                  NNV_CONSTANT_COPY,      NNV_CONSTANT_REFERENCE, NNV_NO_VALUE,
                                                  NNV_SUBGRAPH_INPUT,     NNV_SUBGRAPH_OUTPUT};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool constant_one = lifetimes[i] == NNV_CONSTANT_COPY || lifetimes[i] == NNV_CONSTANT_REFERENCE;
        const struct nnv_spec *s = must_parse(
            nnv_arena_printf(arena,
                             BEGIN("get_test_model") ".main = { .operands = {{ .type = TestOperandType::INT32, "
                                                     ".dimensions = {}, .lifetime = test_helper::TestOperandLifeTime::"
                                                     "%s, .data = TestBuffer::createFromVector<%s>({%s}) }} }\n" FINISH,
                             names[i], constant_one ? "int32_t" : "uint8_t", constant_one ? "5" : ""));
        assert_int_equal(s->model.main.operands[0].lifetime, lifetimes[i]);
        must_survive_json(s);
    }
}

/* The form of harnesses before subgraphs. */
static void a_model_may_be_its_own_main_subgraph(void **state) {
    (void)state;
    char *text = changed("  .main = {\n", "");
    const struct nnv_spec *s = must_parse(changed_in(text, "{2}\n  },\n", "{2},\n"));
    assert_true(s->model.main.noperands == 3 && s->model.main.nout == 1 && s->model.relaxed);
}

static void inputs_may_be_omitted(void **state) {
    (void)state;
    const struct nnv_spec *s = must_parse(changed("({1.5f, -2e-3f})", "({})"));
    assert_true(s->inputs[0].omitted && !s->inputs[0].data);
    must_survive_json(s);
    s = must_parse(changed(",\n      .data = TestBuffer::createFromVector<float>({1.5f, -2e-3f})", ", .data = {}"));
    assert_true(s->inputs[0].omitted);
    s = must_parse(changed("({0x1.8p1f, 7})", "({})")); /* an ignored output is not compared with anything */
    assert_true(!s->outputs[0].omitted && s->outputs[0].bytes == 8 && ((const float *)s->outputs[0].data)[0] == 0);
    must_survive_json(s);
}

static void per_channel_scales_are_read(void **state) {
    (void)state;
    char *text = changed("TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_SYMM_PER_CHANNEL");
    text = changed_in(text, ".scale = 0.5f, .zeroPoint = -128",
                      ".channelQuant = { .scales = {0.5f, 0x1p-2f, 3}, .channelDim = 0 }");
    const struct nnv_spec *s = must_parse(text);
    const struct nnv_channel_quant *q = &s->model.main.operands[1].channel;
    assert_true(q->dim == 0 && q->count == 3 && q->scales[0] == 0.5f && q->scales[1] == 0.25f && q->scales[2] == 3);
    must_survive_json(s);
    text = changed_in(text, ".channelQuant = { .scales", ".extraParams = {.channelQuant = { .scales");
    text = changed_in(text, ".channelDim = 0 }", ".channelDim = 7 }}");
    assert_int_equal(must_parse(text)->model.main.operands[1].channel.dim, 7);
}

#define EMPTY_OPERAND(type, lifetime)                                                                                  \
    "{ .type = TestOperandType::" type ", .dimensions = {2}, .lifetime = TestOperandLifeTime::" lifetime               \
    ", .data = TestBuffer::createFromVector<float>({}) }"
#define INNER                                                                                                          \
    "{ .operands = {" EMPTY_OPERAND("TENSOR_FLOAT32", "SUBGRAPH_INPUT") ", " EMPTY_OPERAND(                            \
        "TENSOR_FLOAT32",                                                                                              \
        "SUBGRAPH_OUTPUT") "}, .operations = {{ .type = TestOperationType::TANH, .inputs = {0}, .outputs = {1} }}, "   \
                           ".inputIndexes = {0}, .outputIndexes = {1} }"

static char *with_subgraphs(void) {
    char *text = changed("    }},\n    .operations", "    }, { .type = TestOperandType::SUBGRAPH, .dimensions = {}, "
                                                     ".lifetime = TestOperandLifeTime::SUBGRAPH, .data = "
                                                     "TestBuffer::createFromVector<uint32_t>({1}) }},\n    "
                                                     ".operations");
    return changed_in(text, "  .isRelaxed", "  .referenced = {" INNER ", " INNER "},\n  .isRelaxed");
}

static void referenced_subgraphs_are_read(void **state) {
    (void)state;
    const struct nnv_spec *s = must_parse(with_subgraphs());
    assert_int_equal(s->model.nreferenced, 2);
    assert_int_equal(s->model.main.operands[3].lifetime, NNV_SUBGRAPH);
    assert_int_equal(s->model.main.operands[3].subgraph, 1);
    const struct nnv_subgraph *inner = &s->model.referenced[1];
    assert_true(inner->noperands == 2 && inner->nin == 1 && inner->nout == 1 && inner->out[0] == 1);
    assert_int_equal(inner->operations[0].type, ANEURALNETWORKS_TANH);
    must_survive_json(s);
}

static void versions_and_flags_are_read(void **state) {
    (void)state;
    static const char *const versions[] = {"UNKNOWN", "V1_0", "V1_1", "V1_2", "V1_3", "AIDL_V1", "AIDL_V2", "AIDL_V3"};
    for (int i = 0; i < 8; i++) assert_int_equal(must_parse(changed("AIDL_V2", versions[i]))->min_version, i);
    const struct nnv_spec *s = must_parse(changed(".isRelaxed = true", ".expectedMultinomialDistributionTolerance = "
                                                                       "0.025"));
    assert_true(s->multinomial_tolerance == 0.025 && !s->model.relaxed);
    /* What is to fail may have data of any size. */
    s = must_parse(changed_in(changed(".isRelaxed", ".expectFailure"), "{-128, 0, 127}", "{1, 2}"));
    assert_true(s->expect_failure && s->model.main.operands[1].bytes == 2);
    must_survive_json(s);
}

static void a_file_has_many_models(void **state) {
    (void)state;
    char *two = nnv_arena_printf(
        arena,
        "#include <TestHarness.h> // {{{\n/* \"{\" */ const char *s = \"}\\\"{\";\n"
        "namespace x { const TestModel& get_test_model_declared(); }\n%s"
        "const auto dummy_test_model = TestModelManager::get().add(\"x_small\", get_test_model_small());\n\n%s\n",
        good, changed("_small", ""));
    struct nnv_spec_pieces p = nnv_spec_cpp_pieces(two, strlen(two));
    struct nnv_spec *s = NULL;
    assert_true(nnv_spec_cpp_next(&p));
    assert_int_equal(p.line, 6);
    assert_int_equal(nnv_spec_parse_cpp(p.text, p.len, "x.cpp", p.line, arena, &s, &err), NNV_OK);
    assert_string_equal(s->name, "x_small");
    assert_true(nnv_spec_cpp_next(&p));
    assert_int_equal(p.line, 37);
    assert_int_equal(strncmp(p.text, "const TestModel& get_test_model()", 33), 0);
    assert_int_equal(nnv_spec_parse_cpp(p.text, p.len, "y", p.line, arena, &s, &err), NNV_OK);
    assert_string_equal(s->name, "y");
    assert_string_equal(nnv_spec_cpp_name(p.text, p.len, "a/b.c.example.cpp", arena), "b.c");
    assert_null(nnv_spec_cpp_name("", 0, "a/b.c.example.cpp", arena));
    assert_false(nnv_spec_cpp_next(&p));
    assert_false(nnv_spec_cpp_next(&p));
}

/* --------------------------------------------------------------------- bad */

static const struct {
    const char *from, *to, *error; /* behind "dir/x.example.cpp:" */
} every_rule[] = {
    /* tokens and lists */
    {"{1, 2},\n", "{1, 2};\n", "7:68: expected ',' or '}', got ';'"},
    {"{1, 2}", "{1 2}", "7:65: expected ',' or '}', got '2'"},
    {"{1, 2}", "{,}", "7:63: expected a value, got ','"},
    {"{1, 2}", "{1, \"2\"}", "7:66: expected a value, got '\"2\"'"},
    {".type =", ".type :", "7:13: expected '=', got ':'"},
    {".type =", ".7 =", "7:10: expected ',' or '}', got '='"},
    {".dimensions = {1, 2}", "{1, 2}", "7:48: expected '.field =', like the members before it, got '{'"},
    {"{1, 2}", "{1, .x = 2}", "7:66: expected a value without a field name, like those before it, got '.'"},
    {"{1, 2}", "{1, \x01}", "7:66: expected a value, got byte 0x01"},
    {"{1, 2}", "{1, /* 2}", "7:66: expected a value, got a comment that does not end"},
    {"<float>", "<float", "9:49: expected '>', got '('"},
    {"::createFrom", "::-", "9:27: expected a name, got '-'"},
    {"return model;", "return;", "27:11: expected the name of the model, 'model', got ';'"},
    {"static ", "", "4:5: expected 'static', got 'TestModel'"},
    {"static TestModel model =", "static Model model =", "4:12: expected 'TestModel', got 'Model'"},
    {"get_test_model_small", "make",
     "3:18: expected a function called get_test_model or get_test_model_NAME, got "
     "'make'"},
    /* fields */
    {".isIgnored", ".isIgnord",
     "17:58: expected a field of an operand (type, dimensions, numberOfConsumers, scale, zeroPoint, lifetime, "
     "channelQuant, extraParams, isIgnored, data), got 'isIgnord'"},
    {".inputs", ".input", "21:41: expected a field of an operation (type, inputs, outputs), got 'input'"},
    {".isRelaxed", ".relaxed",
     "25:4: expected a field of a TestModel (operands, operations, inputIndexes, outputIndexes, main, referenced, "
     "isRelaxed, expectedMultinomialDistributionTolerance, expectFailure, minSupportedVersion), got 'relaxed'"},
    {".scale = 0.5f, .zeroPoint", ".scale = 0.5f, .scale",
     "12:23: expected each field of an operand once, got "
     "'scale'"},
    {".type = TestOperandType::TENSOR_FLOAT32, ", "",
     "6:18: expected '.type' among the fields of an operand, got "
     "'{'"},
    {".lifetime = TestOperandLifeTime::SUBGRAPH_INPUT,\n", "\n",
     "6:18: expected '.lifetime' among the fields of an operand, got '{'"},
    {".type = TestOperationType::RELU, ", "", "20:20: expected '.type' among the fields of an operation, got '{'"},
    {"  .main = {", "  .referenced = {", "5:17: expected a list of subgraphs, {{...}, {...}}, got '{'"},
    {"{{ // in", "{ 7, { // in", "6:19: expected an operand, {.field = value, ...}, got '7'"},
    {"{{ // in", "{{{ // in", "20:5: expected a value without a field name, like those before it, got '.'"},
    {".isRelaxed", ".operands = {}, .isRelaxed",
     "25:4: expected a main subgraph once, in 'main' or in the model "
     "itself, got 'operands'"},
    /* names */
    {"TENSOR_FLOAT32", "TENSOR_FLOAT33",
     "7:15: expected an operand type such as TestOperandType::TENSOR_FLOAT32, "
     "got 'TestOperandType::TENSOR_FLOAT33'"},
    {"TestOperandType::TENSOR_FLOAT32", "3",
     "7:15: expected an enumerator such as "
     "TestOperandType::TENSOR_FLOAT32, got '3'"},
    {"TestOperandLifeTime::", "TestLifeTime::",
     "8:19: expected an enumerator such as TestOperandLifeTime::CONSTANT_COPY, got 'TestLifeTime::SUBGRAPH_INPUT'"},
    {"::SUBGRAPH_INPUT", "::INPUT",
     "8:19: expected a lifetime such as TestOperandLifeTime::CONSTANT_COPY, got "
     "'TestOperandLifeTime::INPUT'"},
    {"AIDL_V2", "V1_4",
     "25:45: expected TestHalVersion::UNKNOWN, V1_0, V1_1, V1_2, V1_3, AIDL_V1, AIDL_V2 or "
     "AIDL_V3, got 'TestHalVersion::V1_4'"},
    {"= true,\n", "= 1,\n", "17:70: expected true or false, got '1'"},
    /* numbers and their ranges */
    {"{1, 2}", "{1, -2}", "7:66: expected an extent, an integer from 0 to 4294967295, got '-2'"},
    {"{1, 2}", "{1, 4294967296}", "7:66: expected an extent, an integer from 0 to 4294967295, got '4294967296'"},
    {"{1, 2}", "{1, 2.0}", "7:66: expected an extent, an integer from 0 to 4294967295, got '2.0'"},
    {"{1, 2}", "{1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2}", "7:62: expected at most 16 extents, got '{'"},
    {"-128, .n", "2147483648, .n",
     "12:35: expected a zero point, an integer from -2147483648 to 2147483647, got "
     "'2147483648'"},
    {"0.5f", "1e39f", "12:16: expected a number of float32's range, got '1e39f'"},
    {"0.5f", "0.5q", "12:16: expected a number of float32's range, got '0.5q'"},
    {"1.5f", "1e39f", "9:52: expected a number within TENSOR_FLOAT32's range, +-3.40282e+38, got '1e39f'"},
    {"1.5f", "1.5.f", "9:52: expected a number for TENSOR_FLOAT32, got '1.5.f'"},
    {"1.5f", "one", "9:52: expected a number for TENSOR_FLOAT32, got 'one'"},
    {"{-128, 0", "{-129, 0",
     "14:53: expected an integer from -128 to 127 for TENSOR_QUANT8_ASYMM_SIGNED, got "
     "'-129'"},
    {"0, 127", "0, 128", "14:62: expected an integer from -128 to 127 for TENSOR_QUANT8_ASYMM_SIGNED, got '128'"},
    {"0, 127", "0, 1.0f", "14:62: expected an integer from -128 to 127 for TENSOR_QUANT8_ASYMM_SIGNED, got '1.0f'"},
    {"{0}", "{3}", "21:51: expected an operand index, an integer from 0 to 2, got '3'"},
    {".inputIndexes = {0}", ".inputIndexes = {-1}",
     "23:22: expected an operand index, an integer from 0 to 2, got "
     "'-1'"},
    {"  .main = {", "  .referenced = {{.inputIndexes = {0}}}, .main = {",
     "5:36: expected no index, as there is nothing to refer to, got '0'"},
    /* counts and element types */
    {"{1.5f, -2e-3f}", "{1.5f}", "9:51: expected 2 elements for dimensions [1,2] instead of the 1 here, got '{'"},
    {"{-128, 0, 127}", "{-128, 0, 1, 2}",
     "14:52: expected 3 elements for dimensions [3] instead of the 4 here, "
     "got '{'"},
    {"{3}", "{4294967294, 4294967294}",
     "14:15: expected dimensions of at most 4294967295 bytes instead of [4294967294,4294967294] for these data, "
     "got "
     "'TestBuffer::createFromVector<int8_t>'"},
    {"<int8_t>", "<uint8_t>",
     "14:15: expected TestBuffer::createFromVector<int8_t>({...}) for TENSOR_QUANT8_ASYMM_SIGNED, got "
     "'TestBuffer::createFromVector<uint8_t>'"},
    {"TestBuffer::createFromVector<float>({1.5f, -2e-3f})", "{1.5f, -2e-3f}",
     "9:15: expected TestBuffer::createFromVector<float>({...}) for TENSOR_FLOAT32, got '{'"},
    {"({1.5f, -2e-3f})", "(1.5f, -2e-3f)", "9:51: expected one list of elements, ({...}), got '1.5f'"},
    {"CONSTANT_COPY", "TEMPORARY_VARIABLE",
     "14:52: expected no elements for a TEMPORARY_VARIABLE that is not in inputIndexes or outputIndexes, got '{'"},
    {"CONSTANT_COPY", "SUBGRAPH", "10:8: expected TestOperandType::SUBGRAPH for the lifetime SUBGRAPH, got '{'"},
    {",\n      .data = TestBuffer::createFromVector<int8_t>({-128, 0, 127})", "",
     "10:8: expected '.data' of a constant among these fields, got '{'"},
};

static void every_rule_has_its_error(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof every_rule / sizeof *every_rule; i++) {
        struct nnv_spec *s = NULL;
        enum nnv_status status = parse(changed(every_rule[i].from, every_rule[i].to), &s);
        const char *text = strncmp(err.text, "dir/x.example.cpp:", 18) == 0 ? err.text + 18 : err.text;
        if (status != NNV_INVALID || s) fail_msg("'%s' for '%s' is accepted", every_rule[i].to, every_rule[i].from);
        assert_string_equal(text, every_rule[i].error);
    }
}

static void subgraphs_have_their_errors(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *error;
    } rows[] = {
        {"({1})", "({2})", "expected an index into 'referenced', an integer from 0 to 1, got '2'"},
        {"({1})", "({0, 1})",
         "expected data with one index into 'referenced', got 'TestBuffer::createFromVector<uint32"
         "_t>'"},
        {"  .referenced = {" INNER ", " INNER "},\n", "", "expected subgraphs in 'referenced' to refer to, got '1'"},
        {"<float>({}) }, { .type", "<float>({1.0f, 1.0f}) }, { .type",
         "expected no elements for a SUBGRAPH_INPUT that is not of the main subgraph, got '{'"},
        {".inputIndexes = {0}, .outputIndexes = {1} }},", ".inputIndexs = {0} }},",
         "expected a field of a subgraph (operands, operations, inputIndexes, outputIndexes), got 'inputIndexs'"},
        {"    .inputIndexes = {0}", "    .inputIndexes = {3}",
         "expected an operand with a value, as it is an input or "
         "output, got '{'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_spec *s = NULL;
        assert_int_equal(parse(changed_in(with_subgraphs(), rows[i].from, rows[i].to), &s), NNV_INVALID);
        if (!strstr(err.text, rows[i].error)) fail_msg("%s\ninstead of %s", err.text, rows[i].error);
    }
}

static void unknown_operations_are_unsupported(void **state) {
    (void)state;
    struct nnv_spec *s = NULL;
    assert_int_equal(parse(changed("::RELU", "::RELU7"), &s), NNV_UNSUPPORTED);
    assert_int_equal(err.status, NNV_UNSUPPORTED);
    assert_string_equal(err.text, "dir/x.example.cpp:21:15: expected an operation that nnvts knows (nnvts op lists "
                                  "them), got 'TestOperationType::RELU7'");
}

static void files_that_end_too_early(void **state) {
    (void)state;
    struct nnv_spec *s = NULL;
    static const struct {
        const char *at, *error;
    } rows[] = {
        {" 2},\n", "7:65: expected a value, got the end of the file"},
        {"      .lifetime", "8:1: expected '.field =', like the members before it, got the end of the file"},
        {"    .operations", "20:1: expected '.field =', like the members before it, got the end of the file"},
        {"    return", "27:1: expected 'return', got the end of the file"},
        {"model;\n}\n}\n", "27:12: expected the name of the model, 'model', got the end of the file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(parse(nnv_arena_printf(arena, "%.*s", (int)(strstr(good, rows[i].at) - good), good), &s),
                         NNV_INVALID);
        assert_string_equal(err.text + 18, rows[i].error);
    }
    /* Behind the model, in its namespace: a second piece has the error. */
    size_t count;
    assert_int_equal(read_first(good, strlen(good) - 2, &count, &s), NNV_OK);
    assert_int_equal(count, 2);
    static const char *const none[] = {"", "\n\n", "int main(void) { return 0; }\n"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(parse(none[i], &s), NNV_INVALID);
        assert_non_null(strstr(err.text, "expected a model, 'const TestModel& get_test_model() {', or the '}' of a "
                                         "namespace, got the end of the file"));
    }
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    struct nnv_spec *s = NULL;
    char deep[20001];
    memset(deep, '{', 20000);
    deep[20000] = 0;
    assert_int_equal(parse(changed("{1, 2}", deep), &s), NNV_INVALID);
    assert_non_null(strstr(err.text, "7:90: expected values nested at most 32 deep, got '{'"));
    for (size_t i = 0; i + 1 < 20000; i += 2) memcpy(deep + i, "a<", 2);
    assert_int_equal(parse(changed("{1, 2}", deep), &s), NNV_INVALID);
    assert_non_null(strstr(err.text, "expected values nested at most 32 deep"));
}

/* ----------------------------------------------------------------- damaged */

/* Either a clean error, or a spec that survives. */
static bool judge(const char *text, size_t len) {
    size_t count;
    struct nnv_spec *s = NULL;
    nnv_arena_reset(arena);
    enum nnv_status status = read_first(text, len, &count, &s);
    assert_true(count >= 1);
    assert_true(nnv_arena_used(arena) < 1 << 20);
    if (status == NNV_OK) {
        must_survive_json(s);
        return true;
    }
    assert_true(status == NNV_INVALID || status == NNV_UNSUPPORTED);
    assert_int_equal(err.status, status);
    assert_null(s);
    assert_int_equal(strncmp(err.text, "dir/x.example.cpp:", 18), 0);
    assert_non_null(strstr(err.text, ": expected "));
    assert_non_null(strstr(err.text, ", got "));
    return false;
}

static void every_beginning_is_refused_or_whole(void **state) {
    (void)state;
    size_t whole = (size_t)(strstr(good, "}\n}\n") - good) + 1;
    for (size_t len = 0; len < sizeof good; len++) assert_true(judge(good, len) == (len >= whole));
}

static void damaged_models_give_clean_errors(void **state) {
    (void)state;
    static const char bytes[] = "0198-+.eExpfu\"\\,:<>[](){};=/*#_ \n\x01\x80\xff";
    static const char *const words[] = {"{}",   "{{", "}",  "4294967296", "-1",        "0x",   "1e999f", "NAN", ".x =",
                                        "true", "//", "/*", "\"",         "TestModel", "a<b>", "({})",   ""};
    struct nnv_rng r = nnv_rng_make(4, 5, 6);
    size_t n = sizeof good - 1, valid = 0, refused = 0;
    static char text[8192];
    for (size_t at = 0; at < n; at++) {
        memcpy(text, good, n);
        text[at] = bytes[nnv_rng_int(&r, 0, sizeof bytes - 1)];
        judge(text, n) ? valid++ : refused++;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            size_t cut = (size_t)nnv_rng_int(&r, 0, 6), to = at + cut < n ? at + cut : n;
            int len = snprintf(text, sizeof text, "%.*s%s%s", (int)at, good, words[k], good + to);
            judge(text, (size_t)len) ? valid++ : refused++;
        }
    }
    assert_true(valid > 500 && refused > 5000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_good_model_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_type_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_are_read_as_by_a_compiler, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_lifetime_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_model_may_be_its_own_main_subgraph, set_up, tear_down),
        cmocka_unit_test_setup_teardown(inputs_may_be_omitted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(per_channel_scales_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(referenced_subgraphs_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(versions_and_flags_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_has_many_models, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_rule_has_its_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(subgraphs_have_their_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_operations_are_unsupported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_end_too_early, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deep_nesting_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_beginning_is_refused_or_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_models_give_clean_errors, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
