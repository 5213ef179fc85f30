/* SPDX-License-Identifier: Apache-2.0 */
/** What the runtime finds wrong at once, and what it finds when the model is computed, as Android's does. */
#include "tests/kit/runtime.h"

#define F32 ANEURALNETWORKS_TENSOR_FLOAT32
#define I32 ANEURALNETWORKS_TENSOR_INT32
#define Q8 ANEURALNETWORKS_TENSOR_QUANT8_ASYMM
#define CHANNELS ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL

static uint32_t scaled(struct api_net *n, int32_t type, uint32_t rank, const uint32_t *dims, float scale) {
    const ANeuralNetworksOperandType t = {type, rank, rank ? dims : NULL, scale, 0};
    OK(ANeuralNetworksModel_addOperand(n->model, &t));
    return n->count++;
}

/* --------------------------------------------------------------------- at once */

static int add(struct api_net *n, int32_t code, uint32_t nin, const uint32_t *in, uint32_t out) {
    return ANeuralNetworksModel_addOperation(n->model, code, nin, in, LIST(out));
}

/** a * b, whose scales are 1/2, into this scale. */
static int product(struct api_net *n, float scale) {
    const uint32_t a = scaled(n, Q8, DIMS(2), 0.5f), b = scaled(n, Q8, DIMS(2), 0.5f),
                   y = scaled(n, Q8, DIMS(2), scale);
    return add(n, ANEURALNETWORKS_MUL, LIST(a, b, api_integer(n, 0)), y);
}

/** Two tensors in one of this rank. */
static int packed(struct api_net *n, uint32_t rank, float scale) {
    const uint32_t dims[] = {2, 2, 2}, axis = api_integer(n, 0);
    const uint32_t a = scaled(n, Q8, DIMS(2), 0.5f), b = scaled(n, Q8, DIMS(2), scale),
                   y = scaled(n, Q8, rank, dims, 0.5f);
    return add(n, ANEURALNETWORKS_PACK, LIST(axis, a, b), y);
}

static int reversed(struct api_net *n, uint32_t rank, float scale) {
    const uint32_t dims[] = {2, 2}, axis = api_operand(n, I32, DIMS(1));
    const uint32_t x = scaled(n, Q8, DIMS(2), 0.5f), y = scaled(n, Q8, rank, dims, scale);
    return add(n, ANEURALNETWORKS_REVERSE, LIST(x, axis), y);
}

/** Paddings of this rank. */
static int mirrored(struct api_net *n, uint32_t rank, float scale) {
    const uint32_t dims[] = {1, 2, 1}, x = scaled(n, Q8, DIMS(4), 0.5f), paddings = api_operand(n, I32, rank, dims);
    const uint32_t mode = api_integer(n, 0), y = scaled(n, Q8, DIMS(6), scale);
    return add(n, ANEURALNETWORKS_MIRROR_PAD, LIST(x, paddings, mode), y);
}

static int cast(struct api_net *n, uint32_t extent) {
    const uint32_t x = api_operand(n, I32, DIMS(2)), y = api_vec(n, extent);
    return add(n, ANEURALNETWORKS_CAST, LIST(x), y);
}

/** So many numbers, rows of 3, into 4 units. */
static int connected(struct api_net *n, uint32_t numbers, uint32_t biases) {
    const uint32_t x = api_operand(n, F32, DIMS(1, numbers)), w = api_operand(n, F32, DIMS(4, 3));
    const uint32_t b = api_vec(n, biases), act = api_integer(n, 0), y = api_operand(n, F32, DIMS(2, 4));
    return add(n, ANEURALNETWORKS_FULLY_CONNECTED, LIST(x, w, b, act), y);
}

/** A filter with scales along this dimension. */
static int convolution(struct api_net *n, uint32_t dim, uint32_t rank) {
    const uint32_t dims[] = {1, 2, 2, 2, 2}, filter[] = {2, 2, 2, 2};
    const float scales[] = {1, 1};
    const ANeuralNetworksSymmPerChannelQuantParams channels = {dim, 2, scales};
    const uint32_t x = scaled(n, Q8, rank, dims, 1), w = api_operand(n, CHANNELS, 4, filter);
    OK(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(n->model, (int32_t)w, &channels));
    const uint32_t b = api_operand(n, I32, DIMS(2)), one = api_integer(n, 1), y = scaled(n, Q8, DIMS(1, 2, 2, 2), 1);
    return add(n, ANEURALNETWORKS_CONV_2D, LIST(x, w, b, one, one, one, api_integer(n, 0)), y);
}

static int sum_of(struct api_net *n, int32_t type, uint32_t rank, bool with_activation) {
    const uint32_t dims[] = {1, 1, 1, 1, 1}, a = api_operand(n, type, rank, dims), b = api_vec(n, 1);
    const uint32_t y = api_vec(n, 0), act = api_integer(n, 0);
    return add(n, ANEURALNETWORKS_ADD, with_activation ? 3 : 2, (uint32_t[]){a, b, act}, y);
}

/** An IF over models that have been set, or have not. */
static int branches(struct api_net *n, const struct api_net *branch, uint32_t extent) {
    const uint32_t test = api_flag(n);
    const uint32_t then = branch ? api_graph(n, branch) : api_operand(n, ANEURALNETWORKS_MODEL, 0, NULL);
    const uint32_t a = api_vec(n, extent), b = api_vec(n, 3), y = api_vec(n, 3);
    return add(n, ANEURALNETWORKS_IF, LIST(test, then, then, a, b), y);
}

/** The model refuses the operation, or takes it. */
#define AT_ONCE(code, call)                                                                                            \
    do {                                                                                                               \
        struct api_net net = api_net_new(), *n = &net;                                                                 \
        IS(code, call);                                                                                                \
        api_net_free(n);                                                                                               \
    } while (0)

static void signatures_are_checked_at_once(void **state) {
    (void)state;
    struct api_net branch = api_sum(3);
    AT_ONCE(NO_ERROR, sum_of(n, F32, 4, true));
    AT_ONCE(BAD_DATA, sum_of(n, F32, 4, false));
    AT_ONCE(BAD_DATA, sum_of(n, I32, 4, true));
    AT_ONCE(BAD_DATA, sum_of(n, F32, 5, true));
    AT_ONCE(NO_ERROR, product(n, 0.26f));
    AT_ONCE(BAD_DATA, product(n, 0.25f));
    AT_ONCE(NO_ERROR, packed(n, 2, 0.5f));
    AT_ONCE(BAD_DATA, packed(n, 3, 0.5f));
    AT_ONCE(BAD_DATA, packed(n, 2, 0.25f));
    AT_ONCE(NO_ERROR, reversed(n, 1, 0.5f));
    AT_ONCE(BAD_DATA, reversed(n, 2, 0.5f));
    AT_ONCE(BAD_DATA, reversed(n, 1, 0.25f));
    AT_ONCE(NO_ERROR, mirrored(n, 2, 0.5f));
    AT_ONCE(BAD_DATA, mirrored(n, 3, 0.5f));
    AT_ONCE(BAD_DATA, mirrored(n, 2, 0.25f));
    AT_ONCE(NO_ERROR, cast(n, 2));
    AT_ONCE(BAD_DATA, cast(n, 3));
    AT_ONCE(NO_ERROR, connected(n, 6, 4));
    AT_ONCE(BAD_DATA, connected(n, 7, 4));
    AT_ONCE(BAD_DATA, connected(n, 6, 3));
    AT_ONCE(NO_ERROR, convolution(n, 0, 4));
    AT_ONCE(BAD_DATA, convolution(n, 1, 4));
    AT_ONCE(BAD_DATA, convolution(n, 0, 5));
    AT_ONCE(NO_ERROR, branches(n, &branch, 3));
    AT_ONCE(BAD_DATA, branches(n, &branch, 4));
    AT_ONCE(BAD_DATA, branches(n, NULL, 3));
    api_net_free(&branch);
}

static void operands_and_lists(void **state) {
    (void)state;
    struct api_net n = api_net_new();
    const uint32_t two = 2, none[] = {0}, x = api_vec(&n, 2), y = api_vec(&n, 2);
    const ANeuralNetworksOperandType scalar = {ANEURALNETWORKS_INT32, 0, &two, 0, 0}, tensor = {F32, 0, &two, 0, 0};
    IS(BAD_DATA, ANeuralNetworksModel_addOperand(n.model, &scalar));
    IS(BAD_DATA, ANeuralNetworksModel_addOperand(n.model, &tensor));
    api_binary(&n, ANEURALNETWORKS_ADD, x, x, y);
    IS(BAD_DATA, ANeuralNetworksModel_identifyInputsAndOutputs(n.model, 0, none, LIST(y)));
    IS(BAD_DATA, ANeuralNetworksModel_identifyInputsAndOutputs(n.model, LIST(x), 0, none));
    api_net_finish(&n, LIST(x), LIST(y));
    api_net_free(&n);
}

/* ---------------------------------------------------------- when it is computed */

/* Each of these builds a model, of inputs 0 and 1 with 3 floats each, that breaks a rule of an operation. */
static void build_activation(struct api_net *n) {
    const uint32_t a = api_vec(n, 3), b = api_vec(n, 3), y = api_vec(n, 3);
    api_operation(n, ANEURALNETWORKS_ADD, LIST(a, b, api_integer(n, 999)), LIST(y));
    api_net_finish(n, LIST(a, b), LIST(y));
}
static void build_output_shape(struct api_net *n) {
    const uint32_t a = api_vec(n, 3), b = api_vec(n, 3), y = api_operand(n, F32, DIMS(1, 3));
    api_binary(n, ANEURALNETWORKS_ADD, a, b, y);
    api_net_finish(n, LIST(a, b), LIST(y));
}
static void build_broadcast(struct api_net *n) {
    const uint32_t a = api_vec(n, 3), b = api_vec(n, 3), two = api_constant(n, 2, A), s = api_vec(n, 3),
                   y = api_vec(n, 3);
    api_binary(n, ANEURALNETWORKS_ADD, a, b, s);
    api_binary(n, ANEURALNETWORKS_MUL, s, two, y);
    api_net_finish(n, LIST(a, b), LIST(y));
}
static void build_along_the_way(struct api_net *n) { /* neither operation is wrong by itself */
    const uint32_t a = api_vec(n, 3), b = api_vec(n, 3), s = api_vec(n, 0),
                   four = api_constant(n, 4, (float[]){1, 2, 3, 4}), y = api_vec(n, 0);
    api_binary(n, ANEURALNETWORKS_MUL, s, four, y);
    api_binary(n, ANEURALNETWORKS_ADD, a, b, s);
    api_net_finish(n, LIST(a, b), LIST(y));
}
static void build_omitted(struct api_net *n) {
    const uint32_t a = api_vec(n, 3), b = api_vec(n, 3), none = api_vec(n, 3), s = api_vec(n, 3), y = api_vec(n, 3);
    OK(ANeuralNetworksModel_setOperandValue(n->model, (int32_t)none, NULL, 0));
    api_binary(n, ANEURALNETWORKS_ADD, a, b, s);
    api_binary(n, ANEURALNETWORKS_ADD, s, none, y);
    api_net_finish(n, LIST(a, b), LIST(y));
}
static void build_rank(struct api_net *n) { /* of an input that has one rank only */
    const uint32_t a = api_vec(n, 3), b = api_vec(n, 3), s = api_vec(n, 3), y = api_vec(n, 3);
    api_binary(n, ANEURALNETWORKS_ADD, a, b, s);
    api_operation(n, ANEURALNETWORKS_SPACE_TO_DEPTH, LIST(s, api_integer(n, 1)), LIST(y));
    api_net_finish(n, LIST(a, b), LIST(y));
}
static void build_scale(struct api_net *n) {
    const uint32_t a = api_vec(n, 3), b = api_vec(n, 3), q = scaled(n, Q8, DIMS(3), 0.5f),
                   y = scaled(n, Q8, DIMS(3), 1);
    const uint32_t s = api_vec(n, 3);
    api_binary(n, ANEURALNETWORKS_ADD, a, b, s);
    api_operation(n, ANEURALNETWORKS_QUANTIZE, LIST(s), LIST(q));
    api_operation(n, ANEURALNETWORKS_LOGISTIC, LIST(q), LIST(y)); /* it is to be 1/256 */
    api_net_finish(n, LIST(a, b), LIST(y));
}

static int compute(ANeuralNetworksCompilation *c) {
    float y[3];
    ANeuralNetworksExecution *e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, A, sizeof A));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, B, sizeof B));
    uint32_t size = sizeof y;
    if (ANeuralNetworksExecution_setOutput(e, 0, NULL, y, size))
        OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, 3));
    const int result = ANeuralNetworksExecution_compute(e);
    ANeuralNetworksExecution_free(e);
    return result;
}

/** On the CPU alone, on two drivers and it, and on a driver that was named. */
static void rules_are_found_when_computed(void **state) {
    (void)state;
    void (*const build[])(struct api_net *) = {build_activation,    build_output_shape, build_broadcast,
                                               build_along_the_way, build_omitted,      build_rank,
                                               build_scale};
    struct nnvts_device *both[] = {&adder.base, &multiplier.base};
    for (uint32_t i = 0; i < 2 * COUNT_OF(build); i++) {
        nnv_rt_device_override(both, i % 2 ? 2 : 0);
        struct api_net n = api_net_new();
        build[i / 2](&n);
        ANeuralNetworksCompilation *c = api_compile(&n);
        int result = compute(c);
        if (result != ANEURALNETWORKS_OP_FAILED) fail_msg("model %u: %d", i, result);
        ANeuralNetworksCompilation_free(c);
        if (i % 2) {
            const ANeuralNetworksDevice *device = wrapped_device(&adder);
            OK(ANeuralNetworksCompilation_createForDevices(n.model, &device, 1, &c));
            result = ANeuralNetworksCompilation_finish(c);
            if (result != ANEURALNETWORKS_BAD_DATA) fail_msg("model %u on the driver: %d", i, result);
            ANeuralNetworksCompilation_free(c);
        }
        api_net_free(&n);
    }
}

/** Shapes that an execution gives and that do not fit each other. */
static void shapes_of_an_execution(void **state) {
    (void)state;
    struct api_net n = api_sum(0);
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksExecution *e = api_execution_of(c);
    const uint32_t three = 3, two = 2;
    const ANeuralNetworksOperandType of_three = {F32, 1, &three, 0, 0}, of_two = {F32, 1, &two, 0, 0};
    float y[3];
    OK(ANeuralNetworksExecution_setInput(e, 0, &of_three, A, sizeof A));
    OK(ANeuralNetworksExecution_setInput(e, 1, &of_two, B, 8));
    OK(ANeuralNetworksExecution_setOutput(e, 0, &of_three, y, sizeof y));
    IS(OP_FAILED, ANeuralNetworksExecution_compute(e));
    ANeuralNetworksExecution_free(e);
    e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInput(e, 0, &of_three, A, sizeof A));
    OK(ANeuralNetworksExecution_setInput(e, 1, &of_three, B, sizeof B));
    OK(ANeuralNetworksExecution_setOutput(e, 0, &of_two, y, 8));
    IS(OP_FAILED, ANeuralNetworksExecution_compute(e));
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

/** Only the branch that is taken is looked at. */
static void branches_that_are_not_taken(void **state) {
    (void)state;
    struct api_net right = api_sum(3), wrong = api_net_new(), n = api_net_new();
    build_activation(&wrong);
    const uint32_t test = api_flag(&n), then = api_graph(&n, &right), other = api_graph(&n, &wrong);
    const uint32_t a = api_vec(&n, 3), b = api_vec(&n, 3), y = api_vec(&n, 3);
    api_operation(&n, ANEURALNETWORKS_IF, LIST(test, then, other, a, b), LIST(y));
    api_net_finish(&n, LIST(test, a, b), LIST(y));
    ANeuralNetworksCompilation *c = api_compile(&n);
    for (int taken = 0; taken < 2; taken++) {
        float sum[3] = {0};
        const uint8_t flag = taken == 1;
        ANeuralNetworksExecution *e = api_execution_of(c);
        OK(ANeuralNetworksExecution_setInput(e, 0, NULL, &flag, 1));
        OK(ANeuralNetworksExecution_setInput(e, 1, NULL, A, sizeof A));
        OK(ANeuralNetworksExecution_setInput(e, 2, NULL, B, sizeof B));
        OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, sizeof sum));
        assert_int_equal(ANeuralNetworksExecution_compute(e),
                         taken ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OP_FAILED);
        if (taken) assert_memory_equal(sum, SUM, sizeof SUM);
        ANeuralNetworksExecution_free(e);
    }
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
    api_net_free(&right);
    api_net_free(&wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(signatures_are_checked_at_once, open_fakes, close_fakes),
        cmocka_unit_test_setup_teardown(operands_and_lists, open_fakes, close_fakes),
        cmocka_unit_test_setup_teardown(rules_are_found_when_computed, open_fakes, close_fakes),
        cmocka_unit_test_setup_teardown(shapes_of_an_execution, open_fakes, close_fakes),
        cmocka_unit_test_setup_teardown(branches_that_are_not_taken, open_fakes, close_fakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
