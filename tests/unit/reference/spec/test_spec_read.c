/* SPDX-License-Identifier: Apache-2.0 */
/* Reading specs: what a good one gives, and one precise error for each rule that a bad one breaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "reference/spec/spec.h"
#include "tests/kit/arena.h"

static const char good[] =
    "{\"format\":\"nnvts-spec/1\",\"name\":\"n\",\"source\":\"s\",\"min_version\":\"1.2\",\"expect_failure\":false,"
    "\"relaxed\":true,\"main\":{\"operands\":["
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[1,2]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,2],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0.1,\"-Infinity\"]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_REFERENCE\",\"data\":[0]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,2],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"ignored\":true,\"data\":[1.5,0]}],"
    "\"operations\":[{\"type\":\"ADD\",\"inputs\":[0,1,2],\"outputs\":[3]}],\"inputs\":[0],\"outputs\":[3]},"
    "\"referenced\":[]}";

static struct nnv_err err;

static enum nnv_status parse(const char *json, struct nnv_spec **spec) {
    err = (struct nnv_err){0};
    return nnv_spec_parse(json, strlen(json), "a.jsonl:12", arena, spec, &err);
}

/* The good document with the first `from` replaced. */
static char *changed(const char *from, const char *to) {
    const char *at = strstr(good, from);
    if (!at) fail_msg("'%s' is not in the document", from);
    return nnv_arena_printf(arena, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
}

static void a_good_spec_is_read(void **state) {
    (void)state;
    struct nnv_spec *s = NULL;
    if (parse(good, &s) != NNV_OK) fail_msg("%s", err.text);
    assert_string_equal(s->name, "n");
    assert_string_equal(s->source, "s");
    assert_int_equal(s->min_version, 3);
    assert_true(s->model.relaxed && !s->expect_failure && !s->exact);
    const struct nnv_subgraph *m = &s->model.main;
    assert_int_equal(m->noperands, 4);
    assert_int_equal(m->noperations, 1);
    assert_int_equal(m->operations[0].type, ANEURALNETWORKS_ADD);
    assert_int_equal(m->operations[0].nin, 3);
    assert_int_equal(m->operations[0].in[2], 2);
    assert_int_equal(m->operands[1].rank, 2);
    assert_int_equal(m->operands[1].lifetime, NNV_CONSTANT_COPY);
    assert_int_equal(m->operands[2].lifetime, NNV_CONSTANT_REFERENCE);
    assert_true(((const float *)m->operands[1].data)[0] == 0.1f);
    assert_true(((const float *)m->operands[1].data)[1] == -INFINITY);
    assert_int_equal(m->operands[1].bytes, 8);
    assert_true(m->operands[3].ignored && !m->operands[0].ignored);
    assert_null(m->operands[0].data);
    assert_false(s->inputs[0].omitted);
    assert_int_equal(s->inputs[0].bytes, 8);
    assert_true(((const float *)s->inputs[0].data)[1] == 2);
    assert_int_equal(s->outputs[0].rank, 2);
    assert_true(((const float *)s->outputs[0].data)[0] == 1.5f);
}

static void optional_members(void **state) {
    (void)state;
    struct nnv_spec *s = NULL;
    assert_int_equal(parse(changed("\"1.2\"", "null"), &s), NNV_OK);
    assert_int_equal(s->min_version, 0);
    assert_int_equal(parse(changed("\"source\":\"s\",\"min_version\":\"1.2\",\"expect_failure\":false,", ""), &s),
                     NNV_OK);
    assert_null(s->source);
    assert_int_equal(s->min_version, 0);
    assert_int_equal(parse(changed(",\"referenced\":[]", ""), &s), NNV_OK);
    assert_int_equal(s->model.nreferenced, 0);
    assert_int_equal(
        parse(changed("\"relaxed\"", "\"exact\":true,\"news\":[{}],\"multinomial_tolerance\":0.25,\"relaxed\""), &s),
        NNV_OK);
    assert_true(s->exact && s->multinomial_tolerance == 0.25);
    assert_int_equal(parse(changed("\"dims\":[2],", "\"dims\":[2],\"scale\":0.1,\"zero_point\":-7,"), &s), NNV_OK);
    assert_true(s->model.main.operands[0].scale == 0.1f && s->model.main.operands[0].zero_point == -7);
    assert_int_equal(
        parse(changed("\"dims\":[2],", "\"dims\":[2],\"channel_quant\":{\"dim\":1,\"scales\":[0.5,3]},"), &s), NNV_OK);
    const struct nnv_channel_quant *q = &s->model.main.operands[0].channel;
    assert_true(q->dim == 1 && q->count == 2 && q->scales[1] == 3);
}

/* The elements of the first operand when its type and data are these. */
static const void *elements(const char *type, const char *data) {
    struct nnv_spec *s = NULL;
    char *json =
        changed("\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[1,2]",
                nnv_arena_printf(arena, "\"%s\",\"dims\":[2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":%s", type, data));
    if (parse(json, &s) != NNV_OK) fail_msg("%s", err.text);
    return s->inputs[0].data;
}

static void every_type_is_read(void **state) {
    (void)state;
    assert_memory_equal(elements("TENSOR_QUANT8_ASYMM", "[0,255]"), "\x00\xff", 2);
    assert_memory_equal(elements("TENSOR_QUANT8_ASYMM_SIGNED", "[-128,127]"), "\x80\x7f", 2);
    assert_memory_equal(elements("TENSOR_QUANT8_SYMM", "[-1,1]"), "\xff\x01", 2);
    assert_memory_equal(elements("TENSOR_QUANT8_SYMM_PER_CHANNEL", "[-2,1]"), "\xfe\x01", 2);
    assert_memory_equal(elements("TENSOR_QUANT16_ASYMM", "[65535,256]"), "\xff\xff\x00\x01", 4);
    assert_memory_equal(elements("TENSOR_QUANT16_SYMM", "[-32768,32767]"), "\x00\x80\xff\x7f", 4);
    assert_memory_equal(elements("TENSOR_INT32", "[-2147483648,2147483647]"), "\x00\x00\x00\x80\xff\xff\xff\x7f", 8);
    assert_memory_equal(elements("TENSOR_BOOL8", "[true,0]"), "\x01\x00", 2);
    assert_memory_equal(elements("TENSOR_BOOL8", "[1,false]"), "\x01\x00", 2);
    assert_memory_equal(elements("TENSOR_FLOAT16", "[1,0.333]"), "\x00\x3c\x54\x35", 4);
    assert_memory_equal(elements("TENSOR_FLOAT16", "[\"Infinity\",-0.0]"), "\x00\x7c\x00\x80", 4);
    assert_true(isnan(((const float *)elements("TENSOR_FLOAT32", "[\"NaN\",1]"))[0]));
    assert_memory_equal(elements("TENSOR_FLOAT16", "{\"base64\":\"AQIDBA==\"}"), "\x01\x02\x03\x04", 4);
    for (int i = 0; i < 64; i += 8) assert_int_equal((uintptr_t)elements("TENSOR_BOOL8", "[0,1]") % 64, 0);
}

static const struct {
    const char *from, *to, *said;
} rules[] = {
    {"nnvts-spec/1", "nnvts-spec/2", "format: expected \"nnvts-spec/1\", got 'nnvts-spec/2'"},
    {"\"format\":\"nnvts-spec/1\",", "", "format: expected \"nnvts-spec/1\", got nothing"},
    {"\"n\"", "7", "name: expected a string, got 7"},
    {"\"name\":\"n\",", "", "name: expected a string, got nothing"},
    {"\"s\"", "[]", "source: expected a string, got an array of 0"},
    {"\"1.2\"", "\"2.0\"", "min_version: expected 1.0, 1.1, 1.2, 1.3, fl5, fl6, fl7 (as a string) or null, got '2.0'"},
    {"\"1.2\"", "1.2", "min_version: expected 1.0, 1.1, 1.2, 1.3, fl5, fl6, fl7 (as a string) or null, got 1.2"},
    {"\"relaxed\":true", "\"relaxed\":1", "relaxed: expected true or false, got 1"},
    {"\"relaxed\":true", "\"multinomial_tolerance\":-1",
     "multinomial_tolerance: expected a number of at least 0, got -1"},
    {"\"relaxed\":true", "\"name\":\"m\"", "malformed JSON at column"},
    {"\"main\"", "\"moin\"", "main: expected a subgraph, an object, got nothing"},
    {"\"operands\":[", "\"operands\":[7,", "main.operands[0]: expected an operand, an object, got 7"},
    {"\"operands\"", "\"opera\"", "main.operands: expected an array of operands, got nothing"},
    {"TENSOR_FLOAT32", "TENSOR",
     "main.operands[0].type: expected an operand type such as \"TENSOR_FLOAT32\", got 'TENSOR'"},
    {"\"TENSOR_FLOAT32\"", "3", "main.operands[0].type: expected an operand type such as \"TENSOR_FLOAT32\", got 3"},
    {"[2]", "2", "main.operands[0].dims: expected an array of extents, got 2"},
    {"[2]", "[-1]", "main.operands[0].dims[0]: expected an extent, an integer from 0 to 4294967295, got -1"},
    {"[2]", "[2.0]", "main.operands[0].dims[0]: expected an extent"},
    {"[2]", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]",
     "main.operands[0].dims: expected at most 16 extents, got an array of 17"},
    {"[2]", "[65536,65536,65536,65536,65536]",
     "main.operands[0].data: dims [65536,65536,65536,65536,65536] of TENSOR_FLOAT32 exceed"},
    {"[2]", "[4294967295]", "exceed 4294967295 bytes"},
    {"[2]", "[3]", "main.operands[0].data: expected 3 elements for dims [3], got an array of 2"},
    {"[2]", "[0]", "main.operands[0].data: expected 0 elements for dims [0], got an array of 2"},
    {"[1,2]}", "[1,2,3]}", "main.operands[0].data: expected 2 elements for dims [2], got an array of 3"},
    {"[1,2]}", "[1,\"x\"]}",
     "main.operands[0].data[1]: expected a number, \"NaN\", \"Infinity\" or \"-Infinity\", got 'x'"},
    {"[1,2]}", "[1,null]}", "main.operands[0].data[1]: expected a number"},
    {"[1,2]}", "[1,1e39]}", "main.operands[0].data[1]: expected a number within TENSOR_FLOAT32's range"},
    {"[1,2]}", "[1,1e400]}", "malformed JSON"},
    {"[1,2]}", "[1,99999999999999999999]}", "malformed JSON"},
    {"[1,2]}", "\"1,2\"}", "main.operands[0].data: expected an array of numbers or {\"base64\": ...}, got '1,2'"},
    {"[1,2]}", "{\"base65\":\"\"}}", "main.operands[0].data.base64: expected a string, got nothing"},
    {"[1,2]}", "{\"base64\":\"AAAA\"}}", "main.operands[0].data.base64: expected 12 characters for 8 bytes, got 4"},
    {"[1,2]}", "{\"base64\":\"AAAAAAAAAA==\"}}", "expected base64 of exactly 8 bytes, got malformed text"},
    {"[1,2]}", "{\"base64\":\"AAAAAAAA?AA=\"}}", "expected base64 of exactly 8 bytes, got malformed text"},
    {"[1,2]}", "{\"base64\":\"AAAA\",\"bytes\":3}}",
     "data.bytes: a size is allowed only where \"expect_failure\" is true"},
    {"\"data\":[1,2]", "\"x\":0",
     "main.operands[0].data: expected the input's value ([] if it is omitted), got nothing"},
    {"\"data\":[0.1,\"-Infinity\"]", "\"x\":0",
     "main.operands[1].data: expected the value of a CONSTANT_COPY, got nothing"},
    {"\"data\":[1.5,0]", "\"x\":0", "main.operands[3].data: expected the expected output, got nothing"},
    {"SUBGRAPH_INPUT", "INPUT",
     "main.operands[0].lifetime: expected a lifetime such as \"CONSTANT_COPY\", got 'INPUT'"},
    {"\"ignored\":true", "\"ignored\":null", "main.operands[3].ignored: expected true or false, got null"},
    {"\"ignored\":true", "\"scale\":\"NaN\"",
     "main.operands[3].scale: expected a number of float32's range, got 'NaN'"},
    {"\"ignored\":true", "\"scale\":1e39", "main.operands[3].scale: expected a number of float32's range, got 1e39"},
    {"\"ignored\":true", "\"zero_point\":0.5", "main.operands[3].zero_point: expected a zero point, an integer"},
    {"\"ignored\":true", "\"zero_point\":2147483648", "main.operands[3].zero_point: expected a zero point"},
    {"\"ignored\":true", "\"channel_quant\":[]", "channel_quant: expected an object with dim and scales"},
    {"\"ignored\":true", "\"channel_quant\":{\"dim\":-1}", "channel_quant.dim: expected a dimension"},
    {"\"ignored\":true", "\"channel_quant\":{\"dim\":0}",
     "channel_quant.scales: expected an array of numbers, got nothing"},
    {"\"ignored\":true", "\"channel_quant\":{\"dim\":0,\"scales\":[true]}",
     "channel_quant.scales[0]: expected a number"},
    {"\"ignored\":true", "\"value_dims\":[3]",
     "main.operands[3].data: expected 3 elements for dims [3], got an array of 2"},
    {"\"ADD\"", "7", "main.operations[0].type: expected an operation such as \"CONV_2D\", got 7"},
    {"\"operations\":[{", "\"operations\":[[],{",
     "main.operations[0]: expected an operation, an object, got an array of 0"},
    {"[0,1,2]", "[0,1,4]", "main.operations[0].inputs[2]: expected an operand index, an integer from 0 to 3, got 4"},
    {"[0,1,2]", "[0,1,-1]", "main.operations[0].inputs[2]: expected an operand index"},
    {"[0,1,2]", "[0,1,1.5]",
     "main.operations[0].inputs[2]: expected an operand index, an integer from 0 to 3, got 1.5"},
    {"[0,1,2]", "null", "main.operations[0].inputs: expected an array of integers, got null"},
    {"\"inputs\":[0]", "\"inputs\":[9]", "main.inputs[0]: expected an operand index, an integer from 0 to 3, got 9"},
    {"\"inputs\":[0]", "\"inputs\":[]",
     "main.operands[0].data: expected no data for a SUBGRAPH_INPUT that is not listed"},
    {"\"referenced\":[]", "\"referenced\":{}", "referenced: expected an array of referenced, got an object"},
    {"\"referenced\":[]", "\"referenced\":[1]", "referenced[0]: expected a subgraph, an object, got 1"},
    {"\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_REFERENCE\"", "\"SUBGRAPH\",\"dims\":[],\"lifetime\":\"SUBGRAPH\"",
     "main.operands[2].data: expected subgraphs in \"referenced\" to refer to"},
};

static void every_rule_has_its_error(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct nnv_spec *s = NULL;
        enum nnv_status status = parse(changed(rules[i].from, rules[i].to), &s);
        if (status != NNV_INVALID || !strstr(err.text, rules[i].said))
            fail_msg("%s -> %s gave '%s', not '%s'", rules[i].from, rules[i].to, err.text, rules[i].said);
        assert_int_equal(strncmp(err.text, "a.jsonl:12: ", 12), 0);
        assert_null(s);
        assert_null(strchr(err.text, '\n'));
    }
}

static void integers_must_fit_their_type(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"TENSOR_QUANT8_ASYMM", "[0,256]"},
        {"TENSOR_QUANT8_ASYMM", "[0,-1]"},
        {"TENSOR_QUANT8_ASYMM", "[0,1.0]"},
        {"TENSOR_QUANT8_SYMM", "[0,128]"},
        {"TENSOR_QUANT16_ASYMM", "[0,65536]"},
        {"TENSOR_QUANT16_SYMM", "[0,-32769]"},
        {"TENSOR_INT32", "[0,2147483648]"},
        {"TENSOR_INT32", "[0,\"NaN\"]"},
        {"TENSOR_BOOL8", "[0,2]"},
        {"TENSOR_BOOL8", "[0,\"true\"]"},
        {"TENSOR_FLOAT16", "[0,65520]"},
        {"TENSOR_FLOAT32", "[0,true]"},
        {"TENSOR_INT32", "[0,true]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nnv_spec *s = NULL;
        char *json = changed("\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[1,2]",
                             nnv_arena_printf(arena, "\"%s\",\"dims\":[2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":%s",
                                              cases[i][0], cases[i][1]));
        assert_int_equal(parse(json, &s), NNV_INVALID);
        if (!strstr(err.text, "main.operands[0].data[1]: expected")) fail_msg("%s", err.text);
    }
}

static void unknown_operations_are_unsupported(void **state) {
    (void)state;
    struct nnv_spec *s = NULL;
    assert_int_equal(parse(changed("\"ADD\"", "\"NO_SUCH_OPERATION\""), &s), NNV_UNSUPPORTED);
    assert_string_equal(err.text,
                        "a.jsonl:12: main.operations[0].type: no operation is called 'NO_SUCH_OPERATION' here");
}

static void omitted_and_empty_values(void **state) {
    (void)state;
    struct nnv_spec *s = NULL;
    assert_int_equal(parse(changed("[1,2]}", "[]}"), &s), NNV_OK);
    assert_true(s->inputs[0].omitted);
    assert_int_equal(parse(changed("[2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[1,2]",
                                   "[0],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[]"),
                           &s),
                     NNV_OK);
    assert_true(s->inputs[0].omitted);
    assert_int_equal(parse(changed("[2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[1,2]",
                                   "[0],\"value_dims\":[0],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[]"),
                           &s),
                     NNV_OK);
    assert_false(s->inputs[0].omitted);
    assert_non_null(s->inputs[0].data);
    assert_int_equal(s->inputs[0].bytes, 0);
    assert_int_equal(parse(changed("[1,2],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"ignored\":true,\"data\":[1.5,0]",
                                   "[0,2],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[]"),
                           &s),
                     NNV_OK);
    assert_false(s->outputs[0].omitted);
    assert_true(s->outputs[0].rank == 2 && s->outputs[0].dims[0] == 0 && s->outputs[0].dims[1] == 2);
    assert_int_equal(parse(changed("[1,2],\"lifetime\":\"SUBGRAPH_OUTPUT\"",
                                   "[0,2],\"value_dims\":[1,2],\"lifetime\":\"SUBGRAPH_OUTPUT\""),
                           &s),
                     NNV_OK);
    assert_int_equal(s->model.main.operands[3].dims[0], 0);
    assert_int_equal(s->outputs[0].dims[0], 1);
    assert_int_equal(s->outputs[0].bytes, 8);
}

/* One operand that is listed a thousand times is read once. */
static void repeated_listing_costs_nothing(void **state) {
    (void)state;
    struct nnv_text t = {0};
    nnv_text_add(&t, "\"inputs\":[0");
    for (int i = 0; i < 1000; i++) nnv_text_add(&t, ",0");
    nnv_text_add(&t, "]");
    struct nnv_spec *s = NULL;
    assert_int_equal(parse(changed("\"inputs\":[0]", t.data), &s), NNV_OK);
    assert_int_equal(s->model.main.nin, 1001);
    assert_ptr_equal(s->inputs[1000].data, s->inputs[0].data);
    nnv_text_free(&t);
}

/* The reader does not ask which operations take subgraphs. */
static const char control[] =
    "{\"format\":\"nnvts-spec/1\",\"name\":\"w\",\"main\":{\"operands\":["
    "{\"type\":\"SUBGRAPH\",\"dims\":[],\"lifetime\":\"SUBGRAPH\",\"data\":[0]},"
    "{\"type\":\"TENSOR_INT32\",\"dims\":[1],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[5]},"
    "{\"type\":\"TENSOR_INT32\",\"dims\":[1],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[5]}],"
    "\"operations\":[{\"type\":\"ADD\",\"inputs\":[0,0,1],\"outputs\":[2]}],\"inputs\":[1],\"outputs\":[2]},"
    "\"referenced\":[{\"operands\":["
    "{\"type\":\"TENSOR_INT32\",\"dims\":[1],\"lifetime\":\"SUBGRAPH_INPUT\"},"
    "{\"type\":\"TENSOR_BOOL8\",\"dims\":[1],\"lifetime\":\"SUBGRAPH_OUTPUT\"}],"
    "\"operations\":[{\"type\":\"MUL\",\"inputs\":[0,0],\"outputs\":[1]}],\"inputs\":[0],\"outputs\":[1]}]}";

static void referenced_subgraphs_are_read(void **state) {
    (void)state;
    struct nnv_spec *s = NULL;
    if (parse(control, &s) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(s->model.nreferenced, 1);
    assert_int_equal(s->model.main.operands[0].type, ANEURALNETWORKS_MODEL);
    assert_int_equal(s->model.main.operands[0].subgraph, 0);
    assert_int_equal(s->model.referenced[0].noperations, 1);
    char *json = nnv_arena_strdup(arena, control);
    *strstr(json, "[0]}") = ' ';
    assert_int_equal(parse(json, &s), NNV_INVALID);
    json = nnv_arena_strdup(arena, control);
    memcpy(strstr(json, "[0]},"), "[1]},", 5);
    assert_int_equal(parse(json, &s), NNV_INVALID);
    assert_non_null(strstr(
        err.text, "main.operands[0].data[0]: expected an index into \"referenced\", an integer from 0 to 0, got 1"));
    const char *at = strstr(control, "\"SUBGRAPH_INPUT\"}") + strlen("\"SUBGRAPH_INPUT\"");
    json = nnv_arena_printf(arena, "%.*s,\"data\":[1]%s", (int)(at - control), control, at);
    assert_int_equal(parse(json, &s), NNV_INVALID);
    assert_non_null(strstr(
        err.text,
        "referenced[0].operands[0].data: expected no data for a SUBGRAPH_INPUT that is not of the main subgraph"));
}

/* Models that are wrong on purpose: unknown codes, sizes that do not fit, no expected outputs. */
static void malformed_models_can_be_told(void **state) {
    (void)state;
    struct nnv_spec *s = NULL;
    static const char wrong[] =
        "{\"format\":\"nnvts-spec/1\",\"name\":\"w\",\"expect_failure\":true,\"main\":{\"operands\":["
        "{\"type\":99,\"dims\":[2],\"lifetime\":\"CONSTANT_COPY\",\"data\":{\"base64\":\"AQID\",\"bytes\":3}},"
        "{\"type\":\"TENSOR_INT32\",\"dims\":[1],\"scale\":\"NaN\",\"zero_point\":0,\"lifetime\":\"SUBGRAPH_OUTPUT\"}],"
        "\"operations\":[{\"type\":5000,\"inputs\":[0],\"outputs\":[1]}],\"inputs\":[],\"outputs\":[1]}}";
    if (parse(wrong, &s) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(s->model.main.operands[0].type, 99);
    assert_int_equal(s->model.main.operands[0].bytes, 3);
    assert_memory_equal(s->model.main.operands[0].data, "\1\2\3", 3);
    assert_true(isnan(s->model.main.operands[1].scale));
    assert_int_equal(s->model.main.operations[0].type, 5000);
    assert_true(s->outputs[0].omitted);
    char *json = nnv_arena_strdup(arena, wrong);
    memcpy(strstr(json, "true,\"main\""), "null,\"main\"", 4);
    assert_int_equal(parse(json, &s), NNV_INVALID);
    json = nnv_arena_strdup(arena, wrong);
    memcpy(strstr(json, "\"bytes\":3"), "\"bites\":3", 9);
    assert_int_equal(parse(json, &s), NNV_INVALID);
    assert_non_null(strstr(err.text, "main.operands[0].data: type 99 is unknown"));
}

static void bad_documents(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      " ",
                                      "null",
                                      "7",
                                      "\"s\"",
                                      "[]",
                                      "{",
                                      "{}}",
                                      "{\"a\":1,\"a\":2}",
                                      "{\"a\":\"\xff\"}",
                                      "{\"name\":\"a\\u0000b\"}"};
    struct nnv_spec *s = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i], &s), NNV_INVALID);
        assert_true(strlen(err.text) > 12);
    }
    size_t n = 1000000;
    char *deep = malloc(n);
    memset(deep, '[', n);
    assert_int_equal(nnv_spec_parse(deep, n, "deep", arena, &s, &err), NNV_INVALID);
    free(deep);
    assert_int_equal(nnv_spec_parse(good, sizeof good, "nul", arena, &s, &err), NNV_INVALID); /* the terminator, too */
    assert_int_equal(nnv_spec_parse("{\n\n  oops", 9, "a.json", arena, &s, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "a.json: malformed JSON at line 3, column"));
    assert_null(s);
}

static void files_are_split_into_specs(void **state) {
    (void)state;
    char folder[] = "/tmp/nnvts-test-XXXXXX", *path;
    assert_non_null(mkdtemp(folder));
    path = nnv_arena_printf(arena, "%s/a.jsonl", folder);
    char *text = nnv_arena_printf(arena, "\n%s\n  \t\r\nbroken\r\n%s", good, control);
    assert_int_equal(nnv_file_write(path, text, strlen(text), &err), NNV_OK);
    struct nnv_spec_file *f = NULL;
    struct nnv_spec *s = NULL;
    assert_int_equal(nnv_spec_open(path, &f, &err), NNV_OK);
    assert_int_equal(nnv_spec_count(f), 3);
    const char *t;
    size_t len, line;
    nnv_spec_text(f, 2, &t, &len, &line);
    assert_int_equal(line, 5);
    assert_int_equal(len, strlen(control));
    assert_int_equal(nnv_spec_read(f, 0, arena, &s, &err), NNV_OK);
    assert_string_equal(s->name, "n");
    assert_int_equal(nnv_spec_read(f, 1, arena, &s, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "/a.jsonl:4: malformed JSON"));
    assert_int_equal(nnv_spec_read(f, 2, arena, &s, &err), NNV_OK);
    nnv_spec_close(f);
    unlink(path);
    path = nnv_arena_printf(arena, "%s/b.json", folder);
    text = nnv_arena_printf(arena, "\n\n%s\n", good);
    assert_int_equal(nnv_file_write(path, text, strlen(text), &err), NNV_OK);
    assert_int_equal(nnv_spec_open(path, &f, &err), NNV_OK);
    assert_int_equal(nnv_spec_count(f), 1);
    assert_int_equal(nnv_spec_read(f, 0, arena, &s, &err), NNV_OK);
    nnv_spec_close(f);
    unlink(path);
    f = NULL;
    assert_int_equal(nnv_spec_open(path, &f, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "b.json: cannot open"));
    assert_null(f);
    rmdir(folder);
    nnv_spec_close(NULL);
}

static void model_helpers(void **state) {
    (void)state;
    for (int l = NNV_LEVEL_MIN; l <= NNV_LEVEL_MAX; l++) assert_int_equal(nnv_level_by_name(nnv_level_name(l)), l);
    assert_int_equal(nnv_level_by_name("1.4"), 0);
    assert_int_equal(nnv_level_by_name("none"), 0);
    assert_string_equal(nnv_level_name(0), "none");
    assert_string_equal(nnv_level_name(99), "none");
    for (int l = 0; l < NNV_LIFETIME_COUNT; l++) assert_non_null(nnv_lifetime_name((enum nnv_lifetime)l));
    assert_string_equal(nnv_lifetime_name(NNV_NO_VALUE), "NO_VALUE");
    uint32_t dims[2] = {3, 4};
    struct nnv_operand o = {.type = ANEURALNETWORKS_TENSOR_FLOAT16, .rank = 2, .dims = dims};
    size_t elems = 0, bytes = 0;
    assert_true(nnv_operand_size(&o, &elems, &bytes));
    assert_true(elems == 12 && bytes == 24);
    dims[1] = 0;
    assert_false(nnv_operand_size(&o, &elems, &bytes));
    o.rank = 0;
    assert_false(nnv_operand_size(&o, &elems, &bytes)); /* unknown rank */
    o.type = ANEURALNETWORKS_FLOAT16;
    assert_true(nnv_operand_size(&o, &elems, &bytes));
    assert_int_equal(bytes, 2);
    o.type = 99;
    assert_false(nnv_operand_size(&o, &elems, &bytes));
    o.lifetime = NNV_CONSTANT_REFERENCE;
    assert_true(nnv_is_constant(&o));
    o.lifetime = NNV_NO_VALUE;
    assert_false(nnv_is_constant(&o));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_good_spec_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(optional_members, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_type_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_rule_has_its_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(integers_must_fit_their_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_operations_are_unsupported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(omitted_and_empty_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(repeated_listing_costs_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(referenced_subgraphs_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(malformed_models_can_be_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_documents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_are_split_into_specs, set_up, tear_down),
        cmocka_unit_test(model_helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
