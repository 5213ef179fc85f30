/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_tflite_models.c Real .tflite models, beside another engine's answers; skipped without NNVTS_MODELS. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlts/data/dataset.h"
#include "mlts/networks/networks.h"
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

/** What a folder's model must do. */
struct expected {
    const char *name;
    bool classifier; /**< judged by the class */
    double most;     /**< difference from a stored number, in units of the output */
};

/* int8: engines differ by up to 14 units behind a softmax though every layer is right within one. */
static const struct expected models[] = {
    {"ad01_fp32", false, 1e-4},
    {"ad01_int8", false, 4}, /* ten layers, each within one */
    {"hello_world_float", false, 1e-4},
    {"hello_world_int8", false, 1},
    {"keras_lstm_mnist_ptq", true, 2},
    {"kws_int8", true, 1},
    {"mobilenet_v1_0.25_128_quant", true, 14},
    {"mobilenet_v2_1.0_224_float", true, 1e-4},
    {"mobilenet_v2_1.0_224_quant", true, 14},
    {"resnet8_float", true, 1e-4},
    {"resnet8_int8", true, 14},
    {"vww_96_float", true, 1e-4},
    {"vww_96_int8", true, 14},
};

static size_t largest(const double *v, size_t n) {
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        if (v[i] > v[at]) at = i;
    return at;
}

/** Item i of the folder: golden answer beside the stored one. The largest difference. */
static double judge(const struct expected *e, const struct nnv_network *net, const struct nnv_dataset *d, uint32_t i,
                    struct nnv_arena *a) {
    struct nnv_err err = {0};
    struct nnv_truth truth;
    const struct nnv_subgraph *s = &net->model.main;
    struct nnv_value *in = NNV_NEW(a, struct nnv_value, s->nin);
    struct nnv_golden *out = NNV_NEW(a, struct nnv_golden, s->nout);
    const struct nnv_eval_options options = {0};
    if (nnv_dataset_item(d, i, net, a, in, &truth, &err) || nnv_eval(&net->model, in, &options, a, out, &err))
        fail_msg("%s, input %u: %s", e->name, i, err.text);
    const struct nnv_operand *o = &s->operands[s->out[0]];
    size_t n, bytes;
    double most = 0;
    assert_true(nnv_operand_size(o, &n, &bytes));
    assert_int_equal(out[0].value.bytes, truth.outputs[0].bytes);
    double *ours = NNV_NEW(a, double, n), *theirs = NNV_NEW(a, double, n);
    nnv_load(o->type, out[0].value.data, n, ours);
    nnv_load(o->type, truth.outputs[0].data, n, theirs);
    for (size_t k = 0; k < n; k++) most = fmax(most, fabs(ours[k] - theirs[k]));
    if (e->classifier) assert_int_equal(largest(ours, n), largest(theirs, n));
    return most;
}

static void answers_are_the_stored_ones(void **state) {
    const char *folder = getenv("NNVTS_MODELS");
    if (!folder) {
        print_message("skipped: NNVTS_MODELS names no folder of models\n");
        skip();
    }
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        const struct expected *e = &models[m];
        char path[1024], dir[1000];
        struct nnv_network net;
        struct nnv_dataset d;
        struct nnv_err err = {0};
        const char *data;
        int level = 0;
        double most = 0;
        nnv_arena_reset(*state);
        snprintf(dir, sizeof dir, "%s/%s", folder, e->name);
        snprintf(path, sizeof path, "%s/model.tflite", dir);
        if (nnv_network_open(path, *state, &net, &data, &err) || nnv_validate(&net.model, *state, &level, &err) ||
            nnv_dataset_open(dir, &net, 0, *state, &d, &err))
            fail_msg("%s: %s", e->name, err.text);
        assert_int_equal(net.task == NNV_TASK_CLASSIFY, e->classifier);
        assert_int_equal(d.count, 3);
        for (uint32_t i = 0; i < d.count; i++) most = fmax(most, judge(e, &net, &d, i, *state));
        print_message("%s: level %d, %u operations, differs by %.3g\n", e->name, level, net.model.main.noperations,
                      most);
        if (most > e->most) fail_msg("%s differs by %g, more than %g", e->name, most, e->most);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_are_the_stored_ones, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
