/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_mobilenet.c MobileNet and ResNet built in code: the layers that the papers list, valid, the same on any
 * machine, alive. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "mlts/networks/mobilenet.h"
#include "mlts/networks/resnet.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"

static int setup(void **state) {
    *state = nnv_arena_new();
    return *state == NULL;
}
static int teardown(void **state) {
    nnv_arena_free(*state);
    return 0;
}

static struct nnv_mobilenet net_of(int version, int32_t type) {
    return (struct nnv_mobilenet){version, 0.25, 64, {type, false}, 20, 7};
}

static void build(struct nnv_arena *a, const struct nnv_mobilenet *net, struct nnv_model *m) {
    struct nnv_err err = {0};
    if (nnv_mobilenet_build(net, a, m, &err) != NNV_OK) fail_msg("%s", err.text);
}

static unsigned count(const struct nnv_model *m, int32_t code) {
    unsigned n = 0;
    for (uint32_t i = 0; i < m->main.noperations; i++) n += m->main.operations[i].type == code;
    return n;
}

static size_t weights(const struct nnv_model *m) {
    size_t n = 0;
    for (uint32_t i = 0; i < m->main.noperands; i++) {
        size_t elems, bytes;
        const struct nnv_operand *o = &m->main.operands[i];
        if (o->lifetime == NNV_CONSTANT_REFERENCE && nnv_operand_size(o, &elems, &bytes)) n += elems;
    }
    return n;
}

/* 28 and 54 layers of weights; 4.2 and 3.5 million of them without batch normalisation's (both papers' tables). */
static void layers_are_the_papers(void **state) {
    struct nnv_model m;
    struct nnv_mobilenet v1 = {1, 1.0, 224, {ANEURALNETWORKS_TENSOR_FLOAT32, false}, 1000, 1}, v2 = v1;
    build(*state, &v1, &m);
    assert_int_equal(count(&m, ANEURALNETWORKS_CONV_2D), 14);
    assert_int_equal(count(&m, ANEURALNETWORKS_DEPTHWISE_CONV_2D), 13);
    assert_int_equal(count(&m, ANEURALNETWORKS_FULLY_CONNECTED), 1);
    assert_int_equal(weights(&m), 4221032); /* 4,231,976 with the scales of 10,944 normalised channels */
    v2.version = 2;
    build(*state, &v2, &m);
    assert_int_equal(count(&m, ANEURALNETWORKS_CONV_2D), 35);
    assert_int_equal(count(&m, ANEURALNETWORKS_DEPTHWISE_CONV_2D), 17);
    assert_int_equal(count(&m, ANEURALNETWORKS_ADD), 10);
    assert_int_equal(weights(&m), 3487816); /* 3,504,872 with the scales of 17,056 normalised channels */
}

/* 18 layers of weights on the long way and three beside; 11.7 million weights without batch normalisation's. */
static void residual_layers_are_the_papers(void **state) {
    struct nnv_model m;
    struct nnv_err err = {0};
    const struct nnv_resnet net = {224, {ANEURALNETWORKS_TENSOR_FLOAT32, false}, 1000, 1};
    assert_int_equal(nnv_resnet_build(&net, *state, &m, &err), NNV_OK);
    assert_int_equal(count(&m, ANEURALNETWORKS_CONV_2D), 17 + 3);
    assert_int_equal(count(&m, ANEURALNETWORKS_ADD), 8);
    assert_int_equal(count(&m, ANEURALNETWORKS_MAX_POOL_2D), 1);
    assert_int_equal(weights(&m), 11684712); /* 11,689,512 with the scales of 4,800 normalised channels */
}

static void widths_round_as_published(void **state) {
    struct nnv_model m;
    struct nnv_mobilenet net = {2, 0.35, 96, {ANEURALNETWORKS_TENSOR_FLOAT32, false}, 1000, 1};
    build(*state, &net, &m);
    /* Filters of the first convolution: 32 * 0.35 = 11.2, rounded to 8 would lose more than a tenth: 16. */
    assert_int_equal(m.main.operands[m.main.operations[0].in[1]].dims[0], 16);
    net = (struct nnv_mobilenet){1, 0.75, 160, {ANEURALNETWORKS_TENSOR_FLOAT32, false}, 1000, 1};
    build(*state, &net, &m);
    assert_int_equal(m.main.operands[m.main.operations[0].in[1]].dims[0], 24);
}

static const int32_t types[] = {ANEURALNETWORKS_TENSOR_FLOAT32, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
                                ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED};

/* The classes' probabilities of a noisy image. */
static void classify(struct nnv_arena *a, const struct nnv_model *m, double *probability) {
    const struct nnv_operand *o = &m->main.operands[m->main.in[0]], *y = &m->main.operands[m->main.out[0]];
    struct nnv_value in = {.rank = 4, .dims = {1, o->dims[1], o->dims[2], 3}};
    size_t n = (size_t)o->dims[1] * o->dims[2] * 3, size = nnv_type(o->type)->size;
    in.bytes = n * size;
    in.data = nnv_arena_alloc(a, n, size);
    struct nnv_rng rng = nnv_rng_make(3, 0, 0);
    for (size_t i = 0; i < n; i++) {
        double x = nnv_rng_uniform(&rng, -1, 1);
        if (o->scale > 0) x = x / (double)o->scale + o->zero_point;
        nnv_store(o->type, &x, 1, (char *)in.data + i * size);
    }
    struct nnv_golden out;
    struct nnv_err err = {0};
    if (nnv_eval(m, &in, &(struct nnv_eval_options){0}, a, &out, &err) != NNV_OK) fail_msg("%s", err.text);
    nnv_load(y->type, out.value.data, 20, probability);
    for (int i = 0; i < 20; i++)
        if (y->scale > 0) probability[i] = (probability[i] - y->zero_point) * (double)y->scale;
}

/* Valid, and the quantised network tells much the same as the float one: values neither die out nor saturate. */
static void every_type_is_valid_and_alive(void **state) {
    for (int version = 1; version <= 2; version++) {
        double p[3][20];
        for (int t = 0; t < 3; t++) {
            struct nnv_model m;
            struct nnv_err err = {0};
            struct nnv_mobilenet net = net_of(version, types[t]);
            build(*state, &net, &m);
            if (nnv_validate(&m, *state, NULL, &err) != NNV_OK) fail_msg("%s", err.text);
            classify(*state, &m, p[t]);
        }
        double sum = 0, most = 0, apart = 0;
        for (int i = 0; i < 20; i++) {
            sum += p[0][i];
            most = fmax(most, p[0][i]);
            apart = fmax(apart, fabs(p[1][i] - p[0][i]));
            assert_true(p[1][i] == p[2][i]); /* signed bytes are the unsigned ones less 128 */
        }
        assert_true(fabs(sum - 1) < 1e-5);
        assert_true(most > 0.08); /* of 20 classes: not all alike */
        assert_true(apart < 0.01);
    }
}

static void built(void **state, bool residual, struct nnv_image_type type, double p[20]) {
    struct nnv_model m;
    struct nnv_err err = {0};
    const struct nnv_mobilenet mobilenet = {2, 0.25, 64, type, 20, 7};
    const struct nnv_resnet resnet = {32, type, 20, 7};
    enum nnv_status st =
        residual ? nnv_resnet_build(&resnet, *state, &m, &err) : nnv_mobilenet_build(&mobilenet, *state, &m, &err);
    if (!st) st = nnv_validate(&m, *state, NULL, &err);
    if (st) fail_msg("%s", err.text);
    classify(*state, &m, p);
}

/* float16 tells what float32 does, and so do bytes; filters with a scale a channel are valid and tell something. */
static void other_numbers_tell_much_the_same(void **state) {
    static const struct nnv_image_type float32 = {ANEURALNETWORKS_TENSOR_FLOAT32, false},
                                       float16 = {ANEURALNETWORKS_TENSOR_FLOAT16, false},
                                       quant8 = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, false},
                                       channels = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, true};
    for (int residual = 0; residual < 2; residual++) {
        double p[4][20], sum = 0, least = 1, most = 0;
        built(state, residual, float32, p[0]);
        built(state, residual, float16, p[1]);
        built(state, residual, quant8, p[2]);
        built(state, residual, channels, p[3]);
        for (int i = 0; i < 20; i++) {
            assert_true(fabs(p[1][i] - p[0][i]) < 0.005);
            assert_true(fabs(p[2][i] - p[0][i]) < 0.03);
            sum += p[3][i];
            least = fmin(least, p[3][i]);
            most = fmax(most, p[3][i]);
        }
        assert_true(fabs(sum - 1) < 0.05);
        assert_true(most > 1.5 * least);
    }
}

static void a_filter_has_a_scale_a_channel(void **state) {
    struct nnv_model m;
    const struct nnv_mobilenet net = {1, 0.25, 64, {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, true}, 20, 7};
    build(*state, &net, &m);
    const struct nnv_operand *conv = &m.main.operands[m.main.operations[0].in[1]];
    const struct nnv_operand *depthwise = &m.main.operands[m.main.operations[1].in[1]];
    assert_int_equal(conv->channel.count, conv->dims[0]);
    assert_int_equal(conv->channel.dim, 0);
    assert_int_equal(depthwise->channel.count, depthwise->dims[3]);
    assert_int_equal(depthwise->channel.dim, 3);
    assert_true(conv->channel.scales[0] != conv->channel.scales[1]);
}

static void the_seed_decides_the_bytes(void **state) {
    struct nnv_model m[3];
    struct nnv_mobilenet net = net_of(1, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM);
    for (int i = 0; i < 3; i++) {
        net.seed = i < 2 ? 7 : 8;
        build(*state, &net, &m[i]);
    }
    const struct nnv_operand *w[3];
    for (int i = 0; i < 3; i++) w[i] = &m[i].main.operands[m[i].main.operations[4].in[1]];
    assert_memory_equal(w[0]->data, w[1]->data, w[0]->bytes);
    assert_memory_not_equal(w[0]->data, w[2]->data, w[0]->bytes);
}

static void refuses(void **state, struct nnv_mobilenet net, const char *why) {
    struct nnv_model m;
    struct nnv_err err = {0};
    assert_int_equal(nnv_mobilenet_build(&net, *state, &m, &err), NNV_INVALID);
    if (!strstr(err.text, why)) fail_msg("'%s' instead of '%s'", err.text, why);
}

static void what_is_no_mobilenet_is_refused(void **state) {
    const int32_t f = ANEURALNETWORKS_TENSOR_FLOAT32;
    refuses(state, (struct nnv_mobilenet){3, 1, 224, {f, false}, 10, 1}, "v3");
    refuses(state, (struct nnv_mobilenet){1, 0, 224, {f, false}, 10, 1}, "width 0");
    refuses(state, (struct nnv_mobilenet){1, NAN, 224, {f, false}, 10, 1}, "width");
    refuses(state, (struct nnv_mobilenet){1, 1, 100, {f, false}, 10, 1}, "images of 100");
    refuses(state, (struct nnv_mobilenet){1, 1, 224, {f, false}, 1, 1}, "1 classes");
    refuses(state, (struct nnv_mobilenet){1, 1, 224, {ANEURALNETWORKS_TENSOR_INT32, false}, 10, 1}, "type");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(layers_are_the_papers, setup, teardown),
        cmocka_unit_test_setup_teardown(widths_round_as_published, setup, teardown),
        cmocka_unit_test_setup_teardown(every_type_is_valid_and_alive, setup, teardown),
        cmocka_unit_test_setup_teardown(residual_layers_are_the_papers, setup, teardown),
        cmocka_unit_test_setup_teardown(other_numbers_tell_much_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(a_filter_has_a_scale_a_channel, setup, teardown),
        cmocka_unit_test_setup_teardown(the_seed_decides_the_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_mobilenet_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
