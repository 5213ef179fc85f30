/* SPDX-License-Identifier: Apache-2.0 */
/** @file shapes.c Extents that the model leaves open and the execution gives, or not, or gives wrongly. */
#include <stdio.h>
#include <string.h>

#include "harness/suites/api/api.h"

/* ------------------------------------- every axis known or not: one addition, 3x3 */

/** How an axis of an operand gets its extent. */
enum axis {
    KNOWN,     /**< 3 in the model */
    GIVEN,     /**< open in the model, 3 at execution */
    DIFFERENT, /**< open in the model, 2 at execution */
    OPEN,      /**< open to the end: outputs alone */
    INPUT_KINDS = OPEN,
    OUTPUT_KINDS
};
enum { AXES = 2 };

static const struct element {
    int32_t code;
    float scale;
    size_t bytes;
} elements[] = {{ANEURALNETWORKS_TENSOR_FLOAT32, 0, 4},
                {ANEURALNETWORKS_TENSOR_FLOAT16, 0, 2},
                {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 1, 1}};

/** 1, 2 or 3 in an element's bytes. */
static void store(const struct element *e, uint8_t *to, int value) {
    static const uint16_t half[] = {[1] = 0x3c00, [2] = 0x4000, [3] = 0x4200};
    const float f = (float)value;
    if (e->bytes == 4)
        memcpy(to, &f, 4);
    else if (e->bytes == 2)
        memcpy(to, &half[value], 2);
    else
        *to = (uint8_t)value;
}

static uint32_t in_model(enum axis k) { return k == KNOWN ? 3 : 0; }
static uint32_t at_execution(enum axis k) { return k == OPEN ? 0 : k == DIFFERENT ? 2 : 3; }

/** The addition as a model knows it: kinds of x, y and z. */
static ANeuralNetworksCompilation *add_of(struct nnv_api *a, const struct element *e, enum axis kinds[3][AXES]) {
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t at[3];
    for (int i = 0; i < 3; i++) {
        const uint32_t dims[] = {in_model(kinds[i][0]), in_model(kinds[i][1])};
        at[i] = nnv_api_add(&net, nnv_api_type(a, e->code, e->scale, 0, AXES, dims));
    }
    uint32_t none = nnv_api_int(&net, 0);
    nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(at[0], at[1], none), LIST(at[2]));
    return nnv_api_net_end(&net, LIST(at[0], at[1]), LIST(at[2])) ? nnv_api_compiled(&net) : NULL;
}

/** What must come of it. */
static bool fits(enum axis kinds[3][AXES]) {
    for (int i = 0; i < AXES; i++) {
        uint32_t x = at_execution(kinds[0][i]), z = at_execution(kinds[2][i]);
        if (x != at_execution(kinds[1][i]) || (z != 0 && z != x)) return false;
    }
    return true;
}

static bool check_result(struct nnv_api *a, const struct element *e, ANeuralNetworksExecution *execution,
                         enum axis kinds[3][AXES], const uint8_t *out) {
    uint32_t want[] = {at_execution(kinds[0][0]), at_execution(kinds[0][1])}, rank = 0, dims[AXES] = {0};
    uint8_t three[4];
    if (!OK(Execution_getOutputOperandRank, execution, 0, &rank) ||
        !nnv_expect(&a->s, rank == AXES, "the output is of rank %u, expected 2", rank) ||
        !OK(Execution_getOutputOperandDimensions, execution, 0, dims) ||
        !nnv_expect(&a->s, dims[0] == want[0] && dims[1] == want[1], "the output is [%u, %u], expected [%u, %u]",
                    dims[0], dims[1], want[0], want[1]))
        return false;
    store(e, three, 3);
    for (size_t i = 0; i < (size_t)want[0] * want[1]; i++)
        if (memcmp(out + i * e->bytes, three, e->bytes) != 0)
            return nnv_expect(&a->s, false, "element %zu of 1 + 2 is not 3", i);
    return true;
}

static bool add_with(struct nnv_api *a, const struct element *e, ANeuralNetworksCompilation *compilation,
                     enum axis kinds[3][AXES]) {
    static uint8_t buffer[3][9 * 4];
    const ANeuralNetworksOperandType *type[3];
    size_t bytes[3];
    ANeuralNetworksExecution *execution = nnv_api_execution(a, compilation);
    for (int i = 0; i < 3; i++) {
        const uint32_t dims[] = {at_execution(kinds[i][0]), at_execution(kinds[i][1])};
        bool all_known = kinds[i][0] == KNOWN && kinds[i][1] == KNOWN;
        type[i] = all_known ? NULL : nnv_api_type(a, e->code, e->scale, 0, AXES, dims);
        bytes[i] = (dims[0] && dims[1] ? dims[0] * dims[1] : 9) * e->bytes;
        for (size_t k = 0; k < 9; k++) store(e, buffer[i] + k * e->bytes, i == 2 ? 1 : i + 1);
    }
    if (!execution || !OK(Execution_setInput, execution, 0, type[0], buffer[0], bytes[0]) ||
        !OK(Execution_setInput, execution, 1, type[1], buffer[1], bytes[1]) ||
        !OK(Execution_setOutput, execution, 0, type[2], buffer[2], bytes[2]))
        return false;
    int code = nnv_api_computed(a, execution);
    bool right = fits(kinds) ? nnv_api_check(a, "computing where all extents agree", code, NNV_API_NO_ERROR) &&
                                   check_result(a, e, execution, kinds, buffer[2])
                             : nnv_api_check(a, "computing where extents contradict each other", code, NNV_API_ERROR);
    nnv_api_free_now(a, execution);
    return right;
}

/** Goes on to the next combination of two axes with so many kinds; false after the last. */
static bool next(enum axis pair[AXES], int kinds) {
    for (int i = 0; i < AXES; i++) {
        if ((int)++pair[i] < kinds) return true;
        pair[i] = KNOWN;
    }
    return false;
}

/** param: element * 9 + kinds of the first input; over all kinds of the second and of the output. */
static void unknown_extents(struct nnv_api *a) {
    static const char *const words[] = {"known", "given", "different", "open"};
    const struct element *e = &elements[a->c->param / 9];
    const uint32_t first = a->c->param % 9;
    enum axis kinds[3][AXES] = {{(enum axis)(first / 3), (enum axis)(first % 3)}, {KNOWN, KNOWN}, {KNOWN, KNOWN}};
    /* One compilation for all that the model sees alike. */
    ANeuralNetworksCompilation *compilations[16] = {NULL};
    do do {
            unsigned open = 0;
            for (int i = 0; i < 4; i++) open |= (unsigned)(kinds[1 + i / 2][i % 2] != KNOWN) << i;
            if (!compilations[open] && !(compilations[open] = add_of(a, e, kinds))) return;
            if (!add_with(a, e, compilations[open], kinds)) {
                nnv_expect(&a->s, false, "with axes %s, %s of input 0; %s, %s of input 1; %s, %s of the output",
                           words[kinds[0][0]], words[kinds[0][1]], words[kinds[1][0]], words[kinds[1][1]],
                           words[kinds[2][0]], words[kinds[2][1]]);
                return;
            }
        } while (next(kinds[2], OUTPUT_KINDS));
    while (next(kinds[1], INPUT_KINDS));
}

/* ------------------------------------------------------------- outputs of open size */

/** x + y of rank 1, extents open. */
static ANeuralNetworksCompilation *open_add(struct nnv_api *a) {
    struct nnv_api_net net;
    return nnv_api_net_add(a, LIST(0), &net) ? nnv_api_compiled(&net) : NULL;
}

static ANeuralNetworksExecution *open_execution(struct nnv_api *a, ANeuralNetworksCompilation *c, uint32_t n,
                                                float *out, size_t room) {
    static const float in[] = {1, 2, 3, 4, 5, 6, 7, 8};
    ANeuralNetworksExecution *e = nnv_api_execution(a, c);
    if (!e || !OK(Execution_setInput, e, 0, OF(FLOAT32, n), in, n * sizeof *in) ||
        !OK(Execution_setInput, e, 1, OF(FLOAT32, n), in, n * sizeof *in) ||
        !OK(Execution_setOutput, e, 0, NULL, out, room))
        return NULL;
    return e;
}

static bool shape_is(struct nnv_api *a, ANeuralNetworksExecution *e, unsigned code, uint32_t n) {
    uint32_t rank = 77, dims[8] = {0};
    if (!nnv_api_check(a, "Execution_getOutputOperandRank", a->nn->Execution_getOutputOperandRank(e, 0, &rank), code) ||
        !nnv_api_check(a, "Execution_getOutputOperandDimensions",
                       a->nn->Execution_getOutputOperandDimensions(e, 0, dims), code))
        return false;
    return nnv_expect(&a->s, rank == 1 && dims[0] == n, "rank %u, extent %u; expected 1, %u", rank, dims[0], n);
}

static void resized(struct nnv_api *a) {
    static const uint32_t sizes[] = {4, 1, 8, 2, 8, 3};
    static const float want[] = {2, 4, 6, 8, 10, 12, 14, 16};
    ANeuralNetworksCompilation *c = open_add(a);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && c; i++) {
        float out[8] = {0};
        ANeuralNetworksExecution *e = open_execution(a, c, sizes[i], out, sizeof out);
        if (!e || !nnv_api_compute(a, e) || !shape_is(a, e, NNV_API_NO_ERROR, sizes[i]) ||
            !nnv_api_check_floats(a, "the sum", out, want, sizes[i]))
            return;
    }
}

static void too_small(struct nnv_api *a) {
    float out[8] = {[2] = 77, [3] = 77};
    ANeuralNetworksCompilation *c = open_add(a);
    ANeuralNetworksExecution *e = c ? open_execution(a, c, 4, out, 2 * sizeof *out) : NULL;
    if (!e) return;
    nnv_api_check(a, "computing into a buffer that is too small", nnv_api_computed(a, e),
                  NNV_API_OUTPUT_INSUFFICIENT_SIZE);
    nnv_expect(&a->s, out[2] == 77 && out[3] == 77, "the computation wrote behind a buffer that is too small");
    if (shape_is(a, e, NNV_API_OUTPUT_INSUFFICIENT_SIZE, 4) && (e = open_execution(a, c, 4, out, 4 * sizeof *out)) &&
        nnv_api_compute(a, e))
        shape_is(a, e, NNV_API_NO_ERROR, 4);
}

/** x + y and x * y, both open; the second's buffer is too small. */
static void one_too_small(struct nnv_api *a) {
    static const float in[] = {1, 2, 3};
    float out[2][3] = {{0}};
    uint32_t n = 0;
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t x = nnv_api_add(&net, OF(FLOAT32, 3)), y = nnv_api_add(&net, OF(FLOAT32, 3)), none = nnv_api_int(&net, 0);
    uint32_t sum = nnv_api_add(&net, OF(FLOAT32, 0)), product = nnv_api_add(&net, OF(FLOAT32, 0));
    nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(x, y, none), LIST(sum));
    nnv_api_operate(&net, ANEURALNETWORKS_MUL, LIST(x, y, none), LIST(product));
    if (!nnv_api_net_end(&net, LIST(x, y), LIST(sum, product))) return;
    ANeuralNetworksExecution *e = nnv_api_execution(a, nnv_api_compiled(&net));
    if (!e || !OK(Execution_setInput, e, 0, NULL, in, sizeof in) ||
        !OK(Execution_setInput, e, 1, NULL, in, sizeof in) ||
        !OK(Execution_setOutput, e, 0, NULL, out[0], sizeof out[0]) ||
        !OK(Execution_setOutput, e, 1, NULL, out[1], 2 * sizeof(float)))
        return;
    nnv_api_check(a, "computing with one of two buffers too small", nnv_api_computed(a, e),
                  NNV_API_OUTPUT_INSUFFICIENT_SIZE);
    /* Of the other one a library need not know more than the model says. */
    if (OK(Execution_getOutputOperandDimensions, e, 0, &n))
        nnv_expect(&a->s, n == 3 || n == 0, "output 0: extent %u, not 3", n);
    if (IS(OUTPUT_INSUFFICIENT_SIZE, Execution_getOutputOperandDimensions, e, 1, &n))
        nnv_expect(&a->s, n == 3, "output 1: extent %u, not 3", n);
}

static void given_output(struct nnv_api *a) {
    float out[4] = {0};
    ANeuralNetworksCompilation *c = open_add(a);
    static const float in[] = {1, 2, 3}, want[] = {2, 4, 6};
    ANeuralNetworksExecution *e = nnv_api_execution(a, c);
    if (!e || !OK(Execution_setInput, e, 0, OF(FLOAT32, 3), in, sizeof in) ||
        !OK(Execution_setInput, e, 1, OF(FLOAT32, 3), in, sizeof in))
        return;
    IS(BAD_DATA, Execution_setOutput, e, 0, OF(FLOAT32, 3), out, 8);
    IS(BAD_DATA, Execution_setOutput, e, 0, OF(FLOAT32, 3), out, 16);
    if (OK(Execution_setOutput, e, 0, OF(FLOAT32, 3), out, 12) && nnv_api_compute(a, e))
        nnv_api_check_floats(a, "the sum", out, want, 3);
}

/** A computation that failed has no shapes. */
static void failed_has_no_shape(struct nnv_api *a) {
    static const float in[] = {1, 2, 3};
    float out[3];
    ANeuralNetworksExecution *e = nnv_api_execution(a, open_add(a));
    if (!e || !OK(Execution_setInput, e, 0, OF(FLOAT32, 3), in, sizeof in) ||
        !OK(Execution_setInput, e, 1, OF(FLOAT32, 2), in, 8) || !OK(Execution_setOutput, e, 0, NULL, out, sizeof out))
        return;
    nnv_api_check(a, "adding [3] and [2]", nnv_api_computed(a, e), NNV_API_ERROR);
    IS(BAD_STATE, Execution_getOutputOperandRank, e, 0, &a->to.u32);
    IS(BAD_STATE, Execution_getOutputOperandDimensions, e, 0, a->to.dims);
}

/** RANK gives a scalar: of rank 0, without extents. */
static void scalar_output(struct nnv_api *a) {
    static const float in[6];
    int32_t out = 0;
    uint32_t rank = 77;
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t x = nnv_api_add(&net, OF(FLOAT32, 1, 2, 3)), z = nnv_api_add(&net, SCALAR(INT32));
    nnv_api_operate(&net, ANEURALNETWORKS_RANK, LIST(x), LIST(z));
    if (!nnv_api_net_end(&net, LIST(x), LIST(z))) return;
    ANeuralNetworksExecution *e = nnv_api_execution(a, nnv_api_compiled(&net));
    if (!e || !OK(Execution_setInput, e, 0, NULL, in, sizeof in) || !OK(Execution_setOutput, e, 0, NULL, &out, 4) ||
        !nnv_api_compute(a, e))
        return;
    nnv_expect(&a->s, out == 3, "RANK of rank 3 is %d", out);
    if (OK(Execution_getOutputOperandRank, e, 0, &rank)) nnv_expect(&a->s, rank == 0, "a scalar is of rank %u", rank);
    IS(BAD_DATA, Execution_getOutputOperandDimensions, e, 0, a->to.dims);
}

static void product_overflow(struct nnv_api *a) {
    struct nnv_api_net net;
    if (!nnv_api_net_add(a, LIST(0, 0), &net)) return;
    ANeuralNetworksExecution *e = nnv_api_execution(a, nnv_api_compiled(&net));
    if (!e) return;
    IS(BAD_DATA, Execution_setInput, e, 0, OF(FLOAT32, 65536, 65536), a->to.bytes, 16);
    IS(BAD_DATA, Execution_setInput, e, 0, OF(FLOAT32, 32768, 32768), a->to.bytes, 0);
    IS(BAD_DATA, Execution_setOutput, e, 0, OF(FLOAT32, 65536, 65536), a->to.bytes, 16);
    /* 2^32 + 4 bytes would be 4 in 32 bits */
    IS(BAD_DATA, Execution_setInput, e, 0, OF(FLOAT32, 1, 0x40000001), a->to.bytes, 4);
}

/* ------------------------------------------------------------- the temporary between */

/** (x + y) + y with a temporary of open extents; param: 0 an extent, 1 the rank. */
static void open_temporary(struct nnv_api *a) {
    static const float want[] = {21, 42, 63, 84};
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t x = nnv_api_add(&net, OF(FLOAT32, 2, 2)), y = nnv_api_add(&net, OF(FLOAT32, 2, 2));
    uint32_t t = nnv_api_add(&net, a->c->param ? UNRANKED(FLOAT32) : OF(FLOAT32, 0, 2)), none = nnv_api_int(&net, 0);
    uint32_t z = nnv_api_add(&net, OF(FLOAT32, 2, 2));
    nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(x, y, none), LIST(t));
    nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(t, y, none), LIST(z));
    if (!nnv_api_net_end(&net, LIST(x, y), LIST(z))) return;
    ANeuralNetworksExecution *e = nnv_api_execution(a, nnv_api_compiled(&net));
    if (nnv_api_set_all(a, e) && nnv_api_compute(a, e)) nnv_api_check_floats(a, "the sum", a->out, want, 4);
}

#define PAIR(element, code, first)                                                                                     \
    { .name = "unknown/" element "/" first, .run = unknown_extents, .param = (code), .level = 3 }
#define PAIRS(element, code)                                                                                           \
    PAIR(element, 9 * (code) + 0, "known_known"), PAIR(element, 9 * (code) + 1, "known_given"),                        \
        PAIR(element, 9 * (code) + 2, "known_different"), PAIR(element, 9 * (code) + 3, "given_known"),                \
        PAIR(element, 9 * (code) + 4, "given_given"), PAIR(element, 9 * (code) + 5, "given_different"),                \
        PAIR(element, 9 * (code) + 6, "different_known"), PAIR(element, 9 * (code) + 7, "different_given"),            \
        PAIR(element, 9 * (code) + 8, "different_different")

static const struct nnv_api_case cases[] = {
    PAIRS("float32", 0),
    PAIRS("float16", 1),
    PAIRS("quant8", 2),
    {.name = "shapes/resized", .run = resized, .level = 3},
    {.name = "shapes/too_small", .run = too_small, .level = 3},
    {.name = "shapes/one_too_small", .run = one_too_small, .level = 3},
    {.name = "shapes/given_output", .run = given_output, .level = 3},
    {.name = "shapes/failed_has_no_shape", .run = failed_has_no_shape, .level = 3},
    {.name = "shapes/scalar_output", .run = scalar_output, .level = 4},
    {.name = "shapes/product_overflow", .run = product_overflow, .level = 3},
    {.name = "shapes/open_temporary", .run = open_temporary, .param = 0, .level = 3},
    {.name = "shapes/unranked_temporary", .run = open_temporary, .param = 1, .level = 3},
};
NNV_API_GROUP(shapes);
