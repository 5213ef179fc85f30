/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic and bytes of operations, beside numbers made by hand. */
#include "reference/model/work.h"

#include "base/text.h"
#include "reference/spec/spec.h"
#include "tests/kit/op.h"

enum { SAME = ANEURALNETWORKS_PADDING_SAME, VALID = ANEURALNETWORKS_PADDING_VALID };

/** The operation's own numbers; with one operation those of the whole are the same. */
static void expect(struct use *u, double operations, double bytes, int32_t type) {
    struct nnv_op_work one, whole;
    if (use_run(u) != NNV_OK) fail_msg("%s", u->err.text);
    if (nnv_model_work(&u->model, u->arena, &one, &whole, &u->err) != NNV_OK) fail_msg("%s", u->err.text);
    assert_float_equal(one.operations, operations, 0);
    assert_float_equal(one.bytes, bytes, 0);
    assert_int_equal(one.type, type);
    assert_float_equal(whole.operations, operations, 0);
    assert_float_equal(whole.bytes, bytes, 0);
    assert_int_equal(whole.type, type);
    use_free(u);
}

static double numbers[256];

/** A tensor of stored numbers, an input or a constant; quantised ones with scale 0.5. */
static void tensor(struct use *u, bool constant, int32_t type, uint32_t rank, const uint32_t *dims) {
    (constant ? use_const : use_in)(u, type, rank, dims, numbers);
    if (nnv_is_quant(type)) use_quant(u, 0.5, 0);
}

static void ints(struct use *u, int n, const int32_t *v) {
    for (int i = 0; i < n; i++) use_scalar(u, INT, v[i]);
}

static void convolutions(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_CONV_2D);
    tensor(u, false, F32, D(1, 4, 5, 3));
    tensor(u, true, F32, D(2, 3, 3, 3));
    tensor(u, true, F32, D(2));
    ints(u, 4, (int32_t[]){SAME, 1, 1, 0});
    use_out(u, F32);
    expect(u, 2 * (4 * 5 * 2) * (3 * 3 * 3), 4 * (60 + 54 + 2 + 40), F32);
    u = use_new(ANEURALNETWORKS_CONV_2D); /* of bytes, with a stride */
    tensor(u, false, Q8, D(1, 5, 5, 2));
    tensor(u, true, Q8, D(4, 3, 3, 2));
    use_const(u, I32, D(4), numbers);
    use_quant(u, 0.25, 0);
    ints(u, 4, (int32_t[]){VALID, 2, 2, 0});
    use_out(u, Q8);
    use_quant(u, 1, 0);
    expect(u, 2 * (2 * 2 * 4) * (3 * 3 * 2), 50 + 72 + 4 * 4 + 16, Q8);
    u = use_new(ANEURALNETWORKS_DEPTHWISE_CONV_2D);
    tensor(u, false, F32, D(1, 4, 4, 3));
    tensor(u, true, F32, D(1, 3, 3, 6));
    tensor(u, true, F32, D(6));
    ints(u, 5, (int32_t[]){SAME, 1, 1, 2, 0});
    use_out(u, F32);
    expect(u, 2 * (4 * 4 * 6) * (3 * 3), 4 * (48 + 54 + 6 + 96), F32);
    u = use_new(ANEURALNETWORKS_GROUPED_CONV_2D);
    tensor(u, false, F32, D(1, 4, 4, 4));
    tensor(u, true, F32, D(2, 3, 3, 2));
    tensor(u, true, F32, D(2));
    ints(u, 5, (int32_t[]){SAME, 1, 1, 2, 0});
    use_scalar(u, BOOL, 0);
    use_out(u, F32);
    expect(u, 2 * (4 * 4 * 2) * (3 * 3 * 2), 4 * (64 + 36 + 2 + 32), F32);
}

static void full_connections(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_FULLY_CONNECTED);
    tensor(u, false, F32, D(2, 1, 8)); /* two rows */
    tensor(u, true, F32, D(5, 8));
    tensor(u, true, F32, D(5));
    use_scalar(u, INT, 0);
    use_out(u, F32);
    expect(u, 2 * (2 * 5) * 8, 4 * (16 + 40 + 5 + 10), F32);
    u = use_new(ANEURALNETWORKS_BATCH_MATMUL);
    tensor(u, false, F32, D(2, 3, 4));
    tensor(u, false, F32, D(2, 4, 5));
    use_scalar(u, BOOL, 0);
    use_scalar(u, BOOL, 0);
    use_out(u, F32);
    expect(u, 2 * (2 * 3 * 5) * 4, 4 * (24 + 40 + 30), F32);
    u = use_new(ANEURALNETWORKS_BATCH_MATMUL); /* the first one transposed */
    tensor(u, false, F32, D(2, 4, 3));
    tensor(u, false, F32, D(2, 4, 5));
    use_scalar(u, BOOL, 1);
    use_scalar(u, BOOL, 0);
    use_out(u, F32);
    expect(u, 2 * (2 * 3 * 5) * 4, 4 * (24 + 40 + 30), F32);
    u = use_new(ANEURALNETWORKS_RNN);
    tensor(u, false, F32, D(2, 8));
    tensor(u, true, F32, D(4, 8));
    tensor(u, true, F32, D(4, 4));
    tensor(u, true, F32, D(4));
    tensor(u, false, F32, D(2, 4));
    use_scalar(u, INT, 0);
    use_out(u, F32);
    use_out(u, F32);
    expect(u, 2 * 2 * (4 * 8 + 4 * 4), 4 * (16 + 32 + 16 + 4 + 8 + 8 + 8), F32);
}

/** One for each element, one for each cell of a window, and none where numbers are only moved. */
static void other_operations(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_ADD); /* the output has more elements than any input */
    tensor(u, false, F32, D(2, 1));
    tensor(u, false, F32, D(1, 3));
    use_scalar(u, INT, 0);
    use_out(u, F32);
    expect(u, 6, 4 * (2 + 3 + 6), F32);
    u = use_new(ANEURALNETWORKS_ADD);
    tensor(u, false, F16, D(2, 3));
    tensor(u, false, F16, D(3));
    use_scalar(u, INT, 0);
    use_out(u, F16);
    expect(u, 6, 2 * (6 + 3 + 6), F16);
    u = use_new(ANEURALNETWORKS_AVERAGE_POOL_2D);
    tensor(u, false, F32, D(1, 4, 4, 3));
    ints(u, 6, (int32_t[]){VALID, 2, 2, 2, 2, 0});
    use_out(u, F32);
    expect(u, (2 * 2 * 3) * 4, 4 * (48 + 12), F32);
    u = use_new(ANEURALNETWORKS_TRANSPOSE);
    tensor(u, false, F32, D(2, 3));
    use_const(u, I32, D(2), V(1, 0));
    use_out(u, F32);
    expect(u, 0, 4 * (6 + 2 + 6), F32);
}

/** The type of the whole is that of the operation with most work; of two with as much, the first one's. */
static void the_type_of_most_work(void **state) {
    (void)state;
    static const char tensor[] = "{\"type\":\"%s\",\"dims\":[%d],\"lifetime\":\"SUBGRAPH_%s\",\"data\":[%s]}%s";
    static const struct {
        const char *types[2];
        int elements[2];
        int32_t type;
    } models[] = {{{"TENSOR_FLOAT32", "TENSOR_FLOAT16"}, {2, 2}, F32},
                  {{"TENSOR_FLOAT16", "TENSOR_FLOAT32"}, {2, 2}, F16},
                  {{"TENSOR_FLOAT16", "TENSOR_FLOAT32"}, {1, 2}, F32},
                  {{"TENSOR_FLOAT32", "TENSOR_FLOAT16"}, {2, 1}, F32}};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct nnv_text t = {0};
        struct nnv_spec *spec;
        struct nnv_op_work each[2], whole;
        struct nnv_err err = {0};
        struct nnv_arena *arena = nnv_arena_new();
        nnv_text_add(&t, "{\"format\":\"nnvts-spec/1\",\"name\":\"two\",\"main\":{\"operands\":[");
        for (int i = 0; i < 4; i++)
            nnv_text_addf(&t, tensor, models[m].types[i / 2], models[m].elements[i / 2], i % 2 ? "OUTPUT" : "INPUT",
                          models[m].elements[i / 2] == 1 ? "1" : "1,2", i < 3 ? "," : "],");
        nnv_text_add(&t, "\"operations\":[{\"type\":\"TANH\",\"inputs\":[0],\"outputs\":[1]},"
                         "{\"type\":\"TANH\",\"inputs\":[2],\"outputs\":[3]}],\"inputs\":[0,2],\"outputs\":[1,3]}}");
        assert_false(t.failed);
        if (nnv_spec_parse(t.data, t.len, "two", arena, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
        assert_int_equal(nnv_model_work(&spec->model, arena, each, &whole, &err), NNV_OK);
        for (int i = 0; i < 2; i++) assert_float_equal(each[i].operations, models[m].elements[i], 0);
        assert_int_equal(whole.type, models[m].type);
        nnv_arena_free(arena);
        nnv_text_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(convolutions), cmocka_unit_test(full_connections),
                                       cmocka_unit_test(other_operations), cmocka_unit_test(the_type_of_most_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
