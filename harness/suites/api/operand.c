/* SPDX-License-Identifier: Apache-2.0 */
/** @file operand.c Constants and parameters of operands: when they are copied, and what is computed from them. */
#include <string.h>

#include "harness/suites/api/api.h"

enum { LONG = 64, SHORT = 32 }; /* elements of float32: above and at the limit of what is copied at once */

/** out = in + constant, of so many float32; the constant is all `before`, then `after` comes over it at a stage. */
static void constant_changes(struct nnv_api *a, uint32_t elems, bool before_finish) {
    static float value[LONG], in[LONG], out[LONG], want[LONG];
    struct nnv_api_net net = nnv_api_net(a);
    for (uint32_t i = 0; i < elems; i++) {
        value[i] = (float)i;
        in[i] = 1000;
        want[i] = in[i] + value[i];
    }
    uint32_t x = nnv_api_add(&net, OF(FLOAT32, elems));
    uint32_t c = nnv_api_constant(&net, OF(FLOAT32, elems), value, elems * sizeof *value);
    if (before_finish) memset(value, 0x7f, sizeof value);
    uint32_t none = nnv_api_int(&net, 0), z = nnv_api_add(&net, OF(FLOAT32, elems));
    nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(x, c, none), LIST(z));
    if (!nnv_api_net_end(&net, LIST(x), LIST(z))) return;
    memset(value, 0x7f, sizeof value);
    ANeuralNetworksExecution *execution = nnv_api_execution(a, nnv_api_compiled(&net));
    if (execution && OK(Execution_setInput, execution, 0, NULL, in, elems * sizeof *in) &&
        OK(Execution_setOutput, execution, 0, NULL, out, elems * sizeof *out) && nnv_api_compute(a, execution))
        nnv_api_check_floats(a, "the constant was overwritten once that is allowed; the output", out, want, elems);
}

static void short_constant(struct nnv_api *a) { constant_changes(a, 4, true); }
static void constant_of_128(struct nnv_api *a) { constant_changes(a, SHORT, true); }
static void long_constant(struct nnv_api *a) { constant_changes(a, LONG, false); }

/** The type and its extents may be overwritten behind addOperand. */
static void type_is_copied(struct nnv_api *a) {
    uint32_t dims[] = {2, 2};
    ANeuralNetworksOperandType type = {ANEURALNETWORKS_TENSOR_FLOAT32, 2, dims, 0, 0};
    if (!nnv_api_advance(a, NNV_API_EMPTY)) return;
    if (!OK(Model_addOperand, a->model, &type) || !OK(Model_addOperand, a->model, &type) ||
        !OK(Model_addOperand, a->model, SCALAR(INT32)) || !OK(Model_addOperand, a->model, &type))
        return;
    dims[0] = dims[1] = 77;
    type = (ANeuralNetworksOperandType){0};
    a->stage = NNV_API_OPERANDS;
    nnv_api_advance(a, NNV_API_COMPUTED);
}

/** The lists of operands may be overwritten behind addOperation and identifyInputsAndOutputs. */
static void lists_are_copied(struct nnv_api *a) {
    uint32_t in[] = {0, 1, 2}, out[] = {3};
    if (!nnv_api_advance(a, NNV_API_VALUED) || !OK(Model_addOperation, a->model, ANEURALNETWORKS_ADD, 3, in, 1, out))
        return;
    memset(in, 0xff, sizeof in);
    memset(out, 0xff, sizeof out);
    in[0] = 0, in[1] = 1, out[0] = 3;
    if (!OK(Model_identifyInputsAndOutputs, a->model, 2, in, 1, out)) return;
    memset(in, 0xff, sizeof in);
    memset(out, 0xff, sizeof out);
    a->stage = NNV_API_IDENTIFIED;
    nnv_api_advance(a, NNV_API_COMPUTED);
}

/** The last value that was set counts: max(1, x + y) is told from x + y by the activation. */
static void last_value_counts(struct nnv_api *a) {
    static const int32_t relu6 = ANEURALNETWORKS_FUSED_RELU6, none = ANEURALNETWORKS_FUSED_NONE;
    if (!nnv_api_advance(a, NNV_API_OPERANDS) || !OK(Model_setOperandValue, a->model, 2, &relu6, sizeof relu6) ||
        !OK(Model_setOperandValue, a->model, 2, &none, sizeof none))
        return;
    a->stage = NNV_API_VALUED;
    nnv_api_advance(a, NNV_API_COMPUTED);
}

/* ------------------------------------------------------------------ per channel */

enum { PER_CHANNEL_PARAMS = 1 };

/** A 1x1 convolution of one quantised value, 2, by filters 2 and 3 with scales 0.5 and 2. */
static void convolve(struct nnv_api *a) {
    static float scale[] = {0.5f, 2};
    static const int8_t filter[] = {2, 3};
    static const int32_t bias[] = {0, 0};
    const uint8_t in = 2;
    uint8_t out[2] = {0};
    ANeuralNetworksSymmPerChannelQuantParams params = {0, 2, scale};
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t x = nnv_api_add(&net, TENSOR(QUANT8_ASYMM, 1, 0, 1, 1, 1, 1));
    uint32_t f = nnv_api_add(&net, OF(QUANT8_SYMM_PER_CHANNEL, 2, 1, 1, 1));
    scale[0] = 0.5f, scale[1] = 2;
    if (!net.ok || (a->c->param & PER_CHANNEL_PARAMS &&
                    !OK(Model_setOperandSymmPerChannelQuantParams, net.model, (int32_t)f, &params)))
        return;
    scale[0] = scale[1] = 7; /* they were copied */
    if (!OK(Model_setOperandValue, net.model, (int32_t)f, filter, sizeof filter)) return;
    uint32_t b = nnv_api_constant(&net, OF(INT32, 2), bias, sizeof bias), one = nnv_api_int(&net, 1);
    uint32_t valid = nnv_api_int(&net, ANEURALNETWORKS_PADDING_VALID), none = nnv_api_int(&net, 0);
    uint32_t z = nnv_api_add(&net, TENSOR(QUANT8_ASYMM, 1, 0, 1, 1, 1, 2));
    const uint32_t ins[] = {x, f, b, valid, one, one, none};
    if (!(a->c->param & PER_CHANNEL_PARAMS)) {
        /* Without its scales the filter has no legal type: addOperation or finish says so. */
        int code = a->nn->Model_addOperation(net.model, ANEURALNETWORKS_CONV_2D, 7, ins, 1, &z);
        if (code == ANEURALNETWORKS_NO_ERROR && OK(Model_identifyInputsAndOutputs, net.model, 1, &x, 1, &z))
            code = a->nn->Model_finish(net.model);
        nnv_api_check(a, "addOperation and finish with a filter that lacks its scales", code, NNV_API_BAD_DATA);
        return;
    }
    nnv_api_operate(&net, ANEURALNETWORKS_CONV_2D, 7, ins, 1, &z);
    if (!nnv_api_net_end(&net, LIST(x), LIST(z))) return;
    ANeuralNetworksExecution *execution = nnv_api_execution(a, nnv_api_compiled(&net));
    if (execution && OK(Execution_setInput, execution, 0, NULL, &in, sizeof in) &&
        OK(Execution_setOutput, execution, 0, NULL, out, sizeof out) && nnv_api_compute(a, execution))
        nnv_expect(&a->s, out[0] == 2 && out[1] == 12, "the convolution gives %d and %d, expected 2 and 12", out[0],
                   out[1]);
}

/* ---------------------------------------------------------------- no value */

/** TRANSPOSE without its permutation reverses the axes; the operand's extents may be open. */
static void omitted_permutation(struct nnv_api *a) {
    static const float in[] = {1, 2, 3, 4, 5, 6}, want[] = {1, 4, 2, 5, 3, 6};
    float out[6] = {0};
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t x = nnv_api_add(&net, OF(FLOAT32, 2, 3));
    uint32_t perm = nnv_api_constant(&net, a->c->param ? OF(INT32, 0) : OF(INT32, 2), NULL, 0);
    uint32_t z = nnv_api_add(&net, OF(FLOAT32, 3, 2));
    nnv_api_operate(&net, ANEURALNETWORKS_TRANSPOSE, LIST(x, perm), LIST(z));
    if (!nnv_api_net_end(&net, LIST(x), LIST(z))) return;
    ANeuralNetworksExecution *execution = nnv_api_execution(a, nnv_api_compiled(&net));
    if (execution && OK(Execution_setInput, execution, 0, NULL, in, sizeof in) &&
        OK(Execution_setOutput, execution, 0, NULL, out, sizeof out) && nnv_api_compute(a, execution))
        nnv_api_check_floats(a, "the transposed", out, want, 6);
}

/** A mandatory input of an execution that is set to no value. */
static void omitted_input(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_INPUT) || !OK(Execution_setInput, a->execution, 1, NULL, NULL, 0) ||
        !OK(Execution_setOutput, a->execution, 0, NULL, a->out, sizeof a->out))
        return;
    nnv_api_check(a, "computing with a mandatory input omitted", nnv_api_computed(a, a->execution), NNV_API_ERROR);
}

/** An operation whose mandatory operand has no value. */
static void omitted_constant(struct nnv_api *a) {
    static const uint32_t in[] = {0, 1, 2}, out[] = {3};
    if (!nnv_api_advance(a, NNV_API_OPERANDS) || !OK(Model_setOperandValue, a->model, 2, NULL, 0)) return;
    int code = a->nn->Model_addOperation(a->model, ANEURALNETWORKS_ADD, 3, in, 1, out);
    if (code == ANEURALNETWORKS_NO_ERROR && OK(Model_identifyInputsAndOutputs, a->model, 2, in, 1, out))
        code = a->nn->Model_finish(a->model);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        nnv_api_check(a, "addOperation and finish without the activation", code, NNV_API_BAD_DATA);
        return;
    }
    /* A library may leave it to the device to notice. */
    a->stage = NNV_API_FINISHED;
    ANeuralNetworksDevice *device = NULL;
    if (!a->nn->Compilation_createForDevices || !nnv_api_find_device(&a->net, &device)) return;
    const ANeuralNetworksDevice *one = device;
    ANeuralNetworksCompilation *compilation = NULL;
    if (!OK(Compilation_createForDevices, a->model, &one, 1, &compilation)) return;
    nnv_api_keep_compilation(a, compilation);
    code = a->nn->Compilation_finish(compilation);
    if (code == ANEURALNETWORKS_NO_ERROR) {
        ANeuralNetworksExecution *execution = nnv_api_execution(a, compilation);
        if (!nnv_api_set_all(a, execution)) return;
        code = nnv_api_computed(a, execution);
    }
    nnv_api_check(a, "an ADD whose activation has no value", code, NNV_API_ERROR);
}

/* ------------------------------------------------------- refused at once, or with the model */

/** TENSOR_INT32 has no negative scale and no zero point (param 1). */
static void impossible_integers(struct nnv_api *a) {
    static const uint32_t in[] = {0, 1, 2}, out[] = {3};
    static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
    const ANeuralNetworksOperandType *type = a->c->param ? TENSOR(INT32, 1, 1, 2, 2) : TENSOR(INT32, -1, 0, 2, 2);
    if (!nnv_api_advance(a, NNV_API_EMPTY)) return;
    int code = a->nn->Model_addOperand(a->model, type);
    if (code == ANEURALNETWORKS_NO_ERROR) {
        if (!OK(Model_addOperand, a->model, OF(INT32, 2, 2)) || !OK(Model_addOperand, a->model, SCALAR(INT32)) ||
            !OK(Model_addOperand, a->model, OF(INT32, 2, 2)) ||
            !OK(Model_setOperandValue, a->model, 2, &none, sizeof none))
            return;
        code = a->nn->Model_addOperation(a->model, ANEURALNETWORKS_ADD, 3, in, 1, out);
    }
    if (code == ANEURALNETWORKS_NO_ERROR && OK(Model_identifyInputsAndOutputs, a->model, 2, in, 1, out))
        code = a->nn->Model_finish(a->model);
    nnv_api_check(a, "addOperand, addOperation and finish", code, NNV_API_BAD_DATA);
}

/** There is no code for what belongs to an extension that no device has, or the code is good for nothing. */
static void type_of_unknown_extension(struct nnv_api *a) {
    int32_t code = 0;
    if (!a->nn->Model_getExtensionOperandType) {
        nnv_api_lacks(a, "Model_getExtensionOperandType");
        return;
    }
    if (!nnv_api_advance(a, NNV_API_EMPTY)) return;
    int result = a->nn->Model_getExtensionOperandType(a->model, "com.example.none", 0, &code);
    if (result == ANEURALNETWORKS_NO_ERROR)
        result = a->nn->Model_addOperand(a->model, nnv_api_type(a, code, 0, 0, 0, NULL));
    nnv_api_check(a, "getExtensionOperandType and addOperand", result, NNV_API_BAD_DATA);
}

static void operation_of_unknown_extension(struct nnv_api *a) {
    static const uint32_t in[] = {0, 1, 2}, out[] = {3};
    int32_t code = 0;
    if (!a->nn->Model_getExtensionOperationType) {
        nnv_api_lacks(a, "Model_getExtensionOperationType");
        return;
    }
    if (!nnv_api_advance(a, NNV_API_VALUED)) return;
    int result = a->nn->Model_getExtensionOperationType(a->model, "com.example.none", 0, &code);
    if (result == ANEURALNETWORKS_NO_ERROR) result = a->nn->Model_addOperation(a->model, code, 3, in, 1, out);
    if (result == ANEURALNETWORKS_NO_ERROR && OK(Model_identifyInputsAndOutputs, a->model, 2, in, 1, out))
        result = a->nn->Model_finish(a->model);
    nnv_api_check(a, "getExtensionOperationType, addOperation and finish", result, NNV_API_BAD_DATA);
}

static const struct nnv_api_case cases[] = {
    {.name = "operand/short_constant_is_copied", .run = short_constant},
    {.name = "operand/constant_of_128_bytes_is_copied", .run = constant_of_128},
    {.name = "operand/long_constant_is_kept", .run = long_constant},
    {.name = "operand/type_is_copied", .run = type_is_copied},
    {.name = "operand/lists_are_copied", .run = lists_are_copied},
    {.name = "operand/last_value_counts", .run = last_value_counts},
    {.name = "operand/per_channel", .run = convolve, .param = PER_CHANNEL_PARAMS, .level = 3},
    {.name = "operand/per_channel_without_scales", .run = convolve, .param = 0, .level = 3},
    {.name = "operand/omitted_permutation", .run = omitted_permutation, .level = 2},
    {.name = "operand/omitted_permutation_of_unknown_extent", .run = omitted_permutation, .param = 1, .level = 3},
    {.name = "operand/omitted_input", .run = omitted_input},
    {.name = "operand/omitted_constant", .run = omitted_constant},
    {.name = "operand/int32_negative_scale", .run = impossible_integers, .level = 4},
    {.name = "operand/int32_with_zero_point", .run = impossible_integers, .param = 1, .level = 4},
    {.name = "operand/type_of_unknown_extension", .run = type_of_unknown_extension, .level = 3},
    {.name = "operand/operation_of_unknown_extension", .run = operation_of_unknown_extension, .level = 3},
};
NNV_API_GROUP(operand);
