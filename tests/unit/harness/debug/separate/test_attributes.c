/* SPDX-License-Identifier: Apache-2.0 */
/** What a case, or an element of an answer, is like: the attributes among which conditions are searched. */
#include <math.h>
#include <stdlib.h>

#include "harness/debug/separate/attributes.h"
#include "harness/debug/separate/elements.h"
#include "harness/debug/separate/separate.h"
#include "harness/debug/separate/separate_run.h"
#include "reference/spec/spec.h"
#include "tests/kit/report.h"

static const struct nnv_attribute *find(const struct nnv_attribute *a, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(a[i].name, name) == 0) return &a[i];
    fail_msg("no attribute '%s'", name);
    return NULL;
}

/** The spec of the text, in the arena. */
static struct nnv_spec *parsed(const char *text, struct nnv_arena *arena) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    assert_non_null(arena);
    if (nnv_spec_parse(text, strlen(text), "test", arena, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
    return spec;
}

static const char pool[] =
    "{\"format\":\"nnvts-spec/1\",\"name\":\"x\",\"source\":\"\",\"min_version\":\"1.2\",\"expect_failure\":false,"
    "\"relaxed\":false,\"main\":{\"operands\":["
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,5,4,1],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[1,2,3,4,5,6,7,8,9,10,11,"
    "12,13,14,15,16,17,18,19,-20]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[1]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[2]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[2]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[3]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[3]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,3,2,1],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[7,8,15,16,19,18]}],"
    "\"operations\":[{\"type\":\"MAX_POOL_2D\",\"inputs\":[0,1,2,3,4,5,6],\"outputs\":[7]}],"
    "\"inputs\":[0],\"outputs\":[7]},\"referenced\":[]}";

static void test_attributes_of_a_pool(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_case c = {.name = "ops/MAX_POOL_2D/float32/stride_same/3", .suite = "ops", .type = "float32"};
    size_t n;
    (void)state;
    struct nnv_spec *spec = parsed(pool, arena);
    const struct nnv_attribute *a = nnv_attributes(&c, spec, 0, arena, &n);
    assert_non_null(a);
    assert_string_equal(find(a, n, "type")->word, "float32");
    assert_string_equal(find(a, n, "stride")->word, "2x2");
    assert_string_equal(find(a, n, "window")->word, "3x3");
    assert_string_equal(find(a, n, "padding scheme")->word, "SAME");
    assert_string_equal(find(a, n, "activation")->word, "none");
    assert_true(find(a, n, "stride is square and above 1x1")->number == 1);
    assert_true(find(a, n, "height of input")->number == 5);
    assert_true(find(a, n, "height of input is odd")->number == 1);
    assert_true(find(a, n, "SAME pads the width unevenly")->number == 1);
    assert_true(find(a, n, "SAME pads the height unevenly")->number == 0);
    assert_true(find(a, n, "the window is the whole image")->number == 0);
    assert_true(find(a, n, "SAME pads an axis unevenly")->number == 1);
    assert_true(find(a, n, "the window is above the stride along an axis")->number == 1);
    assert_true(find(a, n, "the stride is above the window along an axis")->number == 0);
    assert_true(find(a, n, "the type is quantised")->number == 0);
    assert_true(find(a, n, "last extent of the output modulo 4")->number == 1);
    assert_true(fabs(find(a, n, "elements of input 0 for each of the output")->number - 20.0 / 6) < 1e-9);
    assert_true(find(a, n, "least value of input")->number == -20);
    assert_true(find(a, n, "the case's name has \"stride\"")->number == 1);
    /* of a suite without specs the name */
    const struct nnv_case burst = {.name = "exec/burst/outlives_model/net_float32", .suite = "exec", .type = ""};
    a = nnv_attributes(&burst, NULL, 0, arena, &n);
    assert_non_null(a);
    assert_string_equal(find(a, n, "the kind of case")->word, "exec/burst");
    assert_string_equal(find(a, n, "the model")->word, "net_float32");
    nnv_arena_free(arena);
}

/**
 * Two FULLY_CONNECTED with one constant as weights, and biases that begin alike; RELU1 behind a fused RELU; RESHAPE
 * from one inner result to another; SPLIT, of which one part is read.
 */
static const char graph[] =
    "{\"format\":\"nnvts-spec/1\",\"name\":\"graph\",\"source\":\"\",\"min_version\":\"1.2\","
    "\"expect_failure\":false,\"relaxed\":false,\"main\":{\"operands\":["
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[0.5,0.25]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[3,2],\"lifetime\":\"CONSTANT_COPY\",\"data\":[1,2,3,4,5,6]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[3],\"lifetime\":\"CONSTANT_COPY\",\"data\":[1,2,3]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[3],\"lifetime\":\"CONSTANT_COPY\",\"data\":[1,2,4]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[1]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,3],\"lifetime\":\"TEMPORARY_VARIABLE\"},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,3],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[2,4.5,8]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,3],\"lifetime\":\"TEMPORARY_VARIABLE\"},"
    "{\"type\":\"TENSOR_INT32\",\"dims\":[2],\"lifetime\":\"CONSTANT_COPY\",\"data\":[3,1]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[3,1],\"lifetime\":\"TEMPORARY_VARIABLE\"},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[3]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,1],\"lifetime\":\"TEMPORARY_VARIABLE\"},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,1],\"lifetime\":\"TEMPORARY_VARIABLE\"},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,1],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[1]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,1],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[1]}],"
    "\"operations\":[{\"type\":\"FULLY_CONNECTED\",\"inputs\":[0,1,2,4],\"outputs\":[6]},"
    "{\"type\":\"FULLY_CONNECTED\",\"inputs\":[0,1,3,5],\"outputs\":[7]},"
    "{\"type\":\"RELU1\",\"inputs\":[6],\"outputs\":[8]},"
    "{\"type\":\"RESHAPE\",\"inputs\":[8,9],\"outputs\":[10]},"
    "{\"type\":\"SPLIT\",\"inputs\":[10,5,11],\"outputs\":[12,13,14]},"
    "{\"type\":\"RELU\",\"inputs\":[13],\"outputs\":[15]}],"
    "\"inputs\":[0],\"outputs\":[7,14,15]},\"referenced\":[]}";

static void test_attributes_of_a_graph(void **state) {
    static const char *const holding[] = {
        "two operations have one constant as weights",
        "two operations have one constant as weights, and different biases",
        "two constants of one form begin alike, and then differ",
        "a constant is read several times",
        "an activation reads what another, fused one gives",
        "an operation of several outputs has one that nobody reads",
        "a move makes an inner result of one",
        "RESHAPE makes an inner result of one",
    };
    const struct nnv_case c = {.name = "fusion/x/float32/one/0", .suite = "fusion", .type = "float32"};
    struct nnv_arena *arena = nnv_arena_new();
    size_t n;
    (void)state;
    struct nnv_spec *spec = parsed(graph, arena);
    const struct nnv_attribute *a = nnv_attributes(&c, spec, 0, arena, &n);
    assert_non_null(a);
    for (size_t i = 0; i < sizeof holding / sizeof *holding; i++)
        if (find(a, n, holding[i])->number < 1) fail_msg("not so: %s", holding[i]);
    /* each with a bias and weights of its own, no activation fused, all parts read */
    struct nnv_subgraph *m = &spec->model.main;
    m->operations[1].in[2] = 2;
    *(int32_t *)m->operands[4].data = 0;
    m->operands[3].data = m->operands[2].data;
    m->operands[12].lifetime = NNV_SUBGRAPH_OUTPUT;
    a = nnv_attributes(&c, spec, 0, arena, &n);
    assert_non_null(a);
    static const size_t still[] = {1, 0, 0, 1, 0, 0, 1, 1};
    for (size_t i = 0; i < sizeof holding / sizeof *holding; i++)
        if ((find(a, n, holding[i])->number > 0) != (still[i] > 0)) fail_msg("%zu: %s", still[i], holding[i]);
    nnv_arena_free(arena);
}

/** ADD of codes of one scale, whose zero points differ, with RELU6; 6 is code 320, or the last one. */
static void test_attributes_of_codes(void **state) {
    static const char sum[] = "{\"format\":\"nnvts-spec/1\",\"name\":\"sum\",\"source\":\"\",\"min_version\":\"1.2\","
                              "\"expect_failure\":false,\"relaxed\":false,\"main\":{\"operands\":["
                              "{\"type\":\"TENSOR_QUANT8_ASYMM\",\"dims\":[2],\"scale\":0.05,\"zero_point\":10,"
                              "\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[10,20]},"
                              "{\"type\":\"TENSOR_QUANT8_ASYMM\",\"dims\":[2],\"scale\":0.05,\"zero_point\":20,"
                              "\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[30,20]},"
                              "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[3]},"
                              "{\"type\":\"TENSOR_QUANT8_ASYMM\",\"dims\":[2],\"scale\":0.05,\"zero_point\":200,"
                              "\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[210,210]}],"
                              "\"operations\":[{\"type\":\"ADD\",\"inputs\":[0,1,2],\"outputs\":[3]}],"
                              "\"inputs\":[0,1],\"outputs\":[3]},\"referenced\":[]}";
    static const char beyond[] = "the upper bound of the activation is beyond the codes of the output",
                      moved[] = "two inputs of one scale have different zero points";
    const struct nnv_case c = {.name = "ops/ADD/quant8_asymm/relu6/0", .suite = "ops", .type = "quant8_asymm"};
    struct nnv_arena *arena = nnv_arena_new();
    size_t n;
    (void)state;
    struct nnv_spec *spec = parsed(sum, arena);
    const struct nnv_attribute *a = nnv_attributes(&c, spec, 0, arena, &n);
    assert_true(find(a, n, beyond)->number == 1);
    assert_true(find(a, n, moved)->number == 1);
    struct nnv_operand *o = spec->model.main.operands;
    o[3].zero_point = 135;
    o[1].zero_point = 10;
    a = nnv_attributes(&c, spec, 0, arena, &n);
    assert_true(find(a, n, beyond)->number == 0);
    assert_true(find(a, n, moved)->number == 0);
    o[3].scale = 0.0625f; /* 96 steps make 6 */
    o[3].zero_point = 255 - 96;
    a = nnv_attributes(&c, spec, 0, arena, &n);
    assert_true(find(a, n, beyond)->number == 0);
    o[3].zero_point++;
    a = nnv_attributes(&c, spec, 0, arena, &n);
    assert_true(find(a, n, beyond)->number == 1);
    nnv_arena_free(arena);
}

/** What passes because it has nothing to compute is no contrast: "batches > 0" is said of nobody. */
static void test_empty_and_refused_cases_tell_nothing(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    (void)state;
    struct nnv_spec *spec = parsed(pool, arena);
    assert_true(nnv_is_telling(spec));
    spec->inputs[0].dims[0] = 0;
    assert_false(nnv_is_telling(spec));
    spec->inputs[0].dims[0] = 1;
    spec->expect_failure = true;
    assert_false(nnv_is_telling(spec));
    nnv_arena_free(arena);
}

/** All elements of the answer to the spec in the text, right ones, in their order. */
static void observe_all(const char *text, size_t n, struct nnv_arena *arena, struct nnv_observation *to) {
    enum nnv_element element[60];
    assert_true(n <= 60);
    struct nnv_spec *spec = parsed(text, arena);
    for (size_t i = 0; i < n; i++) element[i] = NNV_ELEMENT_RIGHT;
    assert_int_equal(nnv_observe_elements(spec, element, n, arena, to), n);
}
static double of_element(const struct nnv_observation *o, const char *name) {
    return find(o->item, o->count, name)->number;
}

/** Of a window its elements know how much of it lies outside the image, and what it ends at. */
static void test_elements_of_windows(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_observation to[6];
    (void)state;
    assert_non_null(arena);
    observe_all(pool, 6, arena, to);
    /* rows begin at -1, 1, 3 of 5; columns at 0, 2 of 4 */
    for (int i = 0; i < 6; i++) {
        const bool low = i / 2 == 0, high = i / 2 == 2, right = i % 2 == 1;
        const double rows = low || high ? 2 : 3, columns = right ? 2 : 3;
        assert_true(of_element(&to[i], "the window begins before the image in height") == low);
        assert_true(of_element(&to[i], "the window ends behind the image in height") == high);
        assert_true(of_element(&to[i], "the window begins before the image in width") == 0);
        assert_true(of_element(&to[i], "the window ends behind the image in width") == right);
        assert_true(of_element(&to[i], "the window is cut in height and in width") == ((low || high) && right));
        assert_true(of_element(&to[i], "the window is cut") == (low || high || right));
        assert_true(of_element(&to[i], "a tap is the image's first in height") == low);
        assert_true(of_element(&to[i], "a tap is the image's last in height") == high);
        assert_true(of_element(&to[i], "a tap is the image's first in width") == !right);
        assert_true(of_element(&to[i], "a tap is the image's last in width") == right);
        assert_true(of_element(&to[i], "the number of taps inside the image") == rows * columns);
    }
    nnv_arena_free(arena);
}

static const char conv[] =
    "{\"format\":\"nnvts-spec/1\",\"name\":\"x\",\"source\":\"\",\"min_version\":\"1.2\",\"expect_failure\":false,"
    "\"relaxed\":false,\"main\":{\"operands\":["
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,3,3,1],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[1,2,3,4,5,6,7,8,9]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,2,2,1],\"lifetime\":\"CONSTANT_COPY\",\"data\":[1,1,1,1]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[1]},"
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0]},"
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[1,3,3,1],\"lifetime\":\"SUBGRAPH_OUTPUT\","
    "\"data\":[12,16,9,24,28,15,15,17,9]}],"
    "\"operations\":[{\"type\":\"CONV_2D\",\"inputs\":[0,1,2,3,3,3,4],\"outputs\":[5]}],"
    "\"inputs\":[0],\"outputs\":[5]},\"referenced\":[]}";

/** The window of a convolution is its filter. */
static void test_elements_of_a_convolution(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_case c = {.name = "ops/CONV_2D/float32/layer/0", .suite = "ops", .type = "float32"};
    struct nnv_observation to[9];
    size_t n;
    (void)state;
    assert_non_null(arena);
    const struct nnv_attribute *a = nnv_attributes(&c, parsed(conv, arena), 0, arena, &n);
    assert_non_null(a);
    assert_string_equal(find(a, n, "window")->word, "2x2");
    assert_true(find(a, n, "taps of the filter")->number == 4);
    assert_true(find(a, n, "SAME pads the width unevenly")->number == 1);
    observe_all(conv, 9, arena, to);
    for (int i = 0; i < 9; i++) { /* one row and column is missing, behind the image */
        assert_true(of_element(&to[i], "the window begins before the image in height") == 0);
        assert_true(of_element(&to[i], "the window ends behind the image in height") == (i / 3 == 2));
        assert_true(of_element(&to[i], "the window ends behind the image in width") == (i % 3 == 2));
        assert_true(of_element(&to[i], "the number of taps inside the image") ==
                    (i / 3 == 2 ? 1 : 2) * (i % 3 == 2 ? 1 : 2));
    }
    nnv_arena_free(arena);
}

/** What is normalised along a line knows what is in it. */
static void test_elements_of_lines(void **state) {
    static const char softmax[] =
        "{\"format\":\"nnvts-spec/1\",\"name\":\"x\",\"source\":\"\",\"min_version\":\"1.2\",\"expect_failure\":false,"
        "\"relaxed\":false,\"main\":{\"operands\":["
        "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[3,2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[0,1,0,-9,0,3]},"
        "{\"type\":\"FLOAT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[2]},"
        "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[-2]},"
        "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[3,2],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[0,0,0,0,0,0]}],"
        "\"operations\":[{\"type\":\"LOG_SOFTMAX\",\"inputs\":[0,1,2],\"outputs\":[3]}],"
        "\"inputs\":[0],\"outputs\":[3]},\"referenced\":[]}";
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_observation to[6];
    (void)state;
    assert_non_null(arena);
    observe_all(softmax, 6, arena, to);
    for (int i = 0; i < 6; i++) { /* lines are columns: 0, 0, 0 and 1, -9, 3 */
        const bool second = i % 2 == 1;
        assert_true(of_element(&to[i], "the line of input is all 0") == !second);
        assert_true(of_element(&to[i], "the line of input holds NaN") == 0);
        assert_true(of_element(&to[i], "the largest input of its line") == (second ? 3 : 0));
        assert_true(of_element(&to[i], "the least input of its line") == (second ? -9 : 0));
        assert_true(of_element(&to[i], "the largest magnitude of input in its line") == (second ? 9 : 0));
        assert_true(of_element(&to[i], "the largest less the least input of its line") == (second ? 12 : 0));
        assert_true(of_element(&to[i], "beta times the largest magnitude of input in its line") == (second ? 18 : 0));
    }
    assert_true(of_element(&to[3], "beta times input") == -18);
    nnv_arena_free(arena);
}

/** Appends n zeros, with commas. */
static void add_zeros(struct nnv_text *t, int n) {
    for (int i = 0; i < n; i++) nnv_text_add(t, i ? ",0" : "0");
}

/** Of two inputs it is known which is repeated, and in which order. */
static void test_attributes_of_a_broadcast(void **state) {
    static const struct {
        const char *shape[3];
        int elements[3];
        const char *word;
    } sum[] = {{{"6,10", "10", "6,10"}, {60, 10, 60}, "1, none"},
               {{"2,3,4", "3,1", "2,3,4"}, {24, 3, 24}, "1, none, 1"},
               {{"1,4", "3,1", "3,4"}, {4, 3, 12}, "0, 1"},
               {{"2,1,5", "2,1,1", "2,1,5"}, {10, 2, 10}, "none, 1"},
               {{"2,3", "2,3", "2,3"}, {6, 6, 6}, NULL}};
    const struct nnv_case c = {.name = "ops/ADD/float32/x/0", .suite = "ops", .type = "float32"};
    struct nnv_arena *arena = nnv_arena_new();
    (void)state;
    assert_non_null(arena);
    for (size_t k = 0; k < sizeof sum / sizeof *sum; k++) {
        struct nnv_text t = {0}, zeros[3] = {{0}, {0}, {0}};
        size_t n, found = 0;
        for (int i = 0; i < 3; i++) add_zeros(&zeros[i], sum[k].elements[i]);
        nnv_text_addf(&t,
                      "{\"format\":\"nnvts-spec/1\",\"name\":\"x\",\"source\":\"\",\"min_version\":\"1.2\","
                      "\"expect_failure\":false,\"relaxed\":false,\"main\":{\"operands\":["
                      "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[%s],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[%s]},"
                      "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[%s],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[%s]},"
                      "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0]},"
                      "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[%s],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[%s]}],"
                      "\"operations\":[{\"type\":\"ADD\",\"inputs\":[0,1,2],\"outputs\":[3]}],"
                      "\"inputs\":[0,1],\"outputs\":[3]},\"referenced\":[]}",
                      sum[k].shape[0], zeros[0].data, sum[k].shape[1], zeros[1].data, sum[k].shape[2], zeros[2].data);
        struct nnv_spec *spec = parsed(t.data, arena);
        const struct nnv_attribute *a = nnv_attributes(&c, spec, 0, arena, &n);
        assert_non_null(a);
        for (size_t i = 0; i < n; i++) {
            if (strcmp(a[i].name, "the input repeated along the axes, outer to inner,") != 0) continue;
            found++;
            assert_non_null(sum[k].word);
            assert_string_equal(a[i].word, sum[k].word);
        }
        assert_int_equal(found, sum[k].word != NULL);
        nnv_text_free(&t);
        for (int i = 0; i < 3; i++) nnv_text_free(&zeros[i]);
    }
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes_of_a_pool), cmocka_unit_test(test_attributes_of_a_graph),
        cmocka_unit_test(test_attributes_of_codes),  cmocka_unit_test(test_empty_and_refused_cases_tell_nothing),
        cmocka_unit_test(test_elements_of_windows),  cmocka_unit_test(test_elements_of_a_convolution),
        cmocka_unit_test(test_elements_of_lines),    cmocka_unit_test(test_attributes_of_a_broadcast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
