/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_accuracy.c Answers of drivers beside golden ones: metrics, significance, and what goes wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/bench/accuracy.h"
#include "harness/bench/row.h"
#include "mlts/data/pictures.h"
#include "mlts/data/speech.h"
#include "reference/model/builder.h"

enum { ITEMS = 40 };
#define F32 ANEURALNETWORKS_TENSOR_FLOAT32

struct fixture {
    struct nnv_arena *arena;
    struct nnv_network net;
    struct nnv_dataset data;
    struct nnv_value shape;
    struct nnv_bench_answers golden, driver;
    struct nnv_accuracy accuracy;
};

static char folder[4096];

/** y = relu(x) of a shape: enough to have inputs and outputs. */
static void describe(struct fixture *f, uint32_t rank, const uint32_t *in_dims, uint32_t out_rank,
                     const uint32_t *out_dims) {
    static struct nnv_operand operand[2];
    static struct nnv_operation operation;
    static uint32_t zero, one;
    zero = 0;
    one = 1;
    operand[0] = (struct nnv_operand){.type = F32, .rank = rank, .lifetime = NNV_SUBGRAPH_INPUT};
    operand[1] = (struct nnv_operand){.type = F32, .rank = out_rank, .lifetime = NNV_SUBGRAPH_OUTPUT};
    operand[0].dims = nnv_arena_copy(f->arena, in_dims, rank * sizeof *in_dims);
    operand[1].dims = nnv_arena_copy(f->arena, out_dims, out_rank * sizeof *out_dims);
    operation = (struct nnv_operation){.type = ANEURALNETWORKS_RELU, .nin = 1, .nout = 1, .in = &zero, .out = &one};
    f->net = (struct nnv_network){.name = "net"};
    f->net.model.main = (struct nnv_subgraph){.noperands = 2,
                                              .noperations = 1,
                                              .nin = 1,
                                              .nout = 1,
                                              .operands = operand,
                                              .operations = &operation,
                                              .in = &zero,
                                              .out = &one};
    f->shape = (struct nnv_value){.rank = out_rank, .bytes = 4};
    for (uint32_t i = 0; i < out_rank; i++) f->shape.bytes *= f->shape.dims[i] = out_dims[i];
}

/** Answers without values, made by hand. */
static void shape(struct fixture *f, struct nnv_bench_answers *a) {
    *a = (struct nnv_bench_answers){
        .items = f->data.count, .outputs = 1, .shape = &f->shape, .item_bytes = f->shape.bytes};
    a->offset = NNV_NEW(f->arena, size_t, 1);
    a->data = nnv_arena_alloc(f->arena, f->data.count, a->item_bytes);
}

static float *at(const struct nnv_bench_answers *a, uint32_t item) { return (float *)nnv_answer(a, item, 0); }

static void open_data(struct fixture *f, const char *source, uint32_t count) {
    struct nnv_err err = {0};
    if (nnv_dataset_open(source, &f->net, count, f->arena, &f->data, &err) != NNV_OK) fail_msg("%s", err.text);
}

static void compare(struct fixture *f) {
    struct nnv_err err = {0};
    if (nnv_accuracy_compare(&f->net, &f->data, &f->golden, &f->driver, 1, &f->accuracy, &err) != NNV_OK)
        fail_msg("%s", err.text);
}

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->arena = nnv_arena_new();
    *state = f;
    return f->arena ? 0 : -1;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    nnv_arena_free(f->arena);
    free(f);
    return 0;
}

/** Golden is right everywhere; the driver wrong in the first `wrong` items, with the label in second place. */
static void classified(struct fixture *f, uint32_t wrong) {
    uint8_t rgb[NNV_PICTURE_BYTES];
    describe(f, 4, (uint32_t[]){1, 8, 8, 3}, 2, (uint32_t[]){1, NNV_PICTURE_CLASSES});
    f->net.task = NNV_TASK_CLASSIFY;
    open_data(f, "pictures", ITEMS);
    shape(f, &f->golden);
    shape(f, &f->driver);
    for (uint32_t i = 0; i < ITEMS; i++) {
        int label = nnv_picture_draw(NNV_PICTURES_HELD_OUT, i, rgb);
        at(&f->golden, i)[label] = at(&f->driver, i)[label] = 0.5f;
        if (i < wrong) at(&f->driver, i)[(label + 1) % NNV_PICTURE_CLASSES] = 0.75f;
    }
    compare(f);
}

static void classifiers(void **state) {
    struct fixture *f = *state;
    const struct nnv_accuracy *a = &f->accuracy;
    classified(f, 0);
    assert_int_equal(a->judged, ITEMS);
    assert_int_equal(a->golden.top1, ITEMS);
    assert_int_equal(a->driver.top1, ITEMS);
    assert_int_equal(a->agree, ITEMS);
    assert_true(a->p == 1 && !a->worse && a->largest_error == 0 && isinf(a->psnr));
    classified(f, 4); /* 2 / 16: may be chance */
    assert_int_equal(a->driver.top1, ITEMS - 4);
    assert_int_equal(a->driver.top5, ITEMS);
    assert_int_equal(a->only_golden, 4);
    assert_int_equal(a->agree, ITEMS - 4);
    assert_true(fabs(a->p - 0.125) < 1e-12 && !a->worse);
    assert_true(a->largest_error == 0.75);
    assert_true(fabs(a->mean_square_error - 4 * 0.75 * 0.75 / (ITEMS * 10)) < 1e-12);
    classified(f, 10); /* 2 / 1024 */
    assert_true(a->p < 0.002 && a->worse);
    at(&f->driver, 3)[0] = NAN;
    compare(f);
    assert_true(isinf(a->largest_error));
}

static double told(const json_t *accuracy, const char *member) {
    return json_real_value(json_object_get(accuracy, member));
}

/** Errors of 0.75 in 4 of 40 items of 10 classes, where the largest number is 0.5. */
static void errors_are_told(void **state) {
    struct fixture *f = *state;
    classified(f, 4);
    const struct nnv_bench_row row = {.network = "net",
                                      .origin = "a test",
                                      .data = "pictures",
                                      .driver = "toy",
                                      .scenario = "offline",
                                      .mode = "sync",
                                      .has_accuracy = true,
                                      .accuracy_state = NNV_BENCH_DONE,
                                      .accuracy = f->accuracy};
    json_t *j = nnv_bench_row_json(&row, 0);
    const json_t *a = json_object_get(j, "accuracy");
    assert_true(fabs(told(a, "largest_error") - 0.75) < 1e-6);
    assert_true(fabs(told(a, "psnr_db") - 10 * log10(0.5 * 0.5 / (4 * 0.75 * 0.75 / (ITEMS * 10)))) < 1e-6);
    json_decref(j);
}

static void better_is_not_worse(void **state) {
    struct fixture *f = *state;
    classified(f, 10);
    struct nnv_bench_answers swap = f->golden;
    f->golden = f->driver;
    f->driver = swap;
    compare(f);
    assert_true(f->accuracy.p < 0.002 && !f->accuracy.worse);
}

static void spellers(void **state) {
    struct fixture *f = *state;
    struct nnv_utterance u;
    const uint32_t classes = NNV_SPEECH_PHONES + 1;
    describe(f, 3, (uint32_t[]){1, NNV_SPEECH_FRAMES, NNV_SPEECH_FEATURES}, 2,
             (uint32_t[]){NNV_SPEECH_FRAMES, classes});
    f->net.task = NNV_TASK_SPELL;
    open_data(f, "speech", ITEMS);
    shape(f, &f->golden);
    shape(f, &f->driver);
    uint64_t said = 0, lost = 0;
    for (uint32_t i = 0; i < ITEMS; i++) {
        nnv_speech_make(NNV_SPEECH_HELD_OUT, i, &u);
        said += u.phones;
        lost += i % 2 == 0 && u.phones > 0;
        for (uint32_t t = 0; t < NNV_SPEECH_FRAMES; t++) {
            at(&f->golden, i)[t * classes + (uint32_t)u.label[t]] = 1;
            at(&f->driver, i)[t * classes + (uint32_t)u.label[t]] = 1;
        }
        /* the driver takes the first phone of every other utterance for silence */
        for (uint32_t t = 0, first = 0; i % 2 == 0 && t < NNV_SPEECH_FRAMES; t++) {
            if (!first) first = (uint32_t)u.label[t];
            if (first && (uint32_t)u.label[t] != first) break;
            if (first) at(&f->driver, i)[t * classes] = 2;
        }
    }
    compare(f);
    assert_int_equal(f->accuracy.phones, said);
    assert_int_equal(f->accuracy.golden.edits, 0);
    assert_int_equal(f->accuracy.driver.edits, lost);
    assert_int_equal(f->accuracy.judged, ITEMS);
    assert_true(f->accuracy.worse && f->accuracy.loss.low > 0.2 && f->accuracy.loss.high < 0.8);
    /* the other way round the errors are golden's */
    struct nnv_bench_answers swap = f->golden;
    f->golden = f->driver;
    f->driver = swap;
    compare(f);
    assert_int_equal(f->accuracy.golden.edits, lost);
    assert_int_equal(f->accuracy.driver.edits, 0);
    assert_false(f->accuracy.worse);
}

/** So many items of the data, restored with these errors: the golden answer's, the driver's. */
static void restore_items(struct fixture *f, uint32_t items, float golden, float driver) {
    describe(f, 2, (uint32_t[]){1, 6}, 2, (uint32_t[]){1, 6});
    f->net.task = NNV_TASK_RESTORE;
    open_data(f, "random", items);
    shape(f, &f->golden);
    shape(f, &f->driver);
    for (uint32_t i = 0; i < items; i++) {
        struct nnv_value x;
        struct nnv_truth truth;
        struct nnv_err err = {0};
        assert_int_equal(nnv_dataset_item(&f->data, i, &f->net, f->arena, &x, &truth, &err), NNV_OK);
        for (int k = 0; k < 6; k++) at(&f->golden, i)[k] = ((float *)x.data)[k] + golden;
        for (int k = 0; k < 6; k++) at(&f->driver, i)[k] = ((float *)x.data)[k] + driver;
    }
    compare(f);
}

static void restorers(void **state) {
    struct fixture *f = *state;
    restore_items(f, ITEMS, 0, 0.5f);
    assert_true(f->accuracy.golden.error == 0);
    assert_true(fabs(f->accuracy.driver.error - 0.25) < 1e-6);
    assert_true(f->accuracy.worse);
}

/* On two items nothing is proven. */
static void few_items_prove_nothing(void **state) {
    struct fixture *f = *state;
    restore_items(f, 2, 0, 0.5f);
    assert_true(f->accuracy.loss.low > 0 && !f->accuracy.worse);
}

/* A millionth of the golden error more, on each item, is what rounding makes of it. */
static void rounding_is_not_worse(void **state) {
    struct fixture *f = *state;
    restore_items(f, ITEMS, 8, 8.000004f);
    assert_true(f->accuracy.loss.low > 0 && !f->accuracy.worse);
}
static void a_little_worse_is_worse(void **state) {
    struct fixture *f = *state;
    restore_items(f, ITEMS, 8, 8.004f);
    assert_true(f->accuracy.worse);
}

/** A place among those of a detector. */
static void put_box(struct fixture *f, struct nnv_bench_answers *a, uint32_t place, float x, float y, float size) {
    (void)f;
    float *box = at(a, 0) + 4 * (size_t)place;
    box[0] = x;
    box[1] = y;
    box[2] = x + size;
    box[3] = y + size;
}

static void detectors(void **state) {
    struct fixture *f = *state;
    const struct nnv_accuracy *a = &f->accuracy;
    describe(f, 2, (uint32_t[]){1, 6}, 3, (uint32_t[]){1, 4, 4});
    f->net.boxes = (struct nnv_network_boxes){true, 0, UINT32_MAX, UINT32_MAX};
    open_data(f, "random", 1);
    shape(f, &f->golden);
    shape(f, &f->driver);
    for (int i = 0; i < 16; i++) at(&f->golden, 0)[i] = at(&f->driver, 0)[i] = 0;
    put_box(f, &f->golden, 0, 0, 0, 4);
    put_box(f, &f->golden, 1, 10, 0, 4);
    put_box(f, &f->golden, 2, 20, 0, 4); /* the fourth place is empty */
    put_box(f, &f->driver, 0, 10, 0, 4); /* in another order */
    put_box(f, &f->driver, 1, 0, 1, 4);  /* 12 of 20 */
    put_box(f, &f->driver, 2, 20, 3, 4); /* 4 of 28: not the same */
    compare(f);
    assert_true(a->boxes == 3 && a->found == 2 && a->extra == 1);
    assert_true(fabs(a->iou - (1 + 12.0 / 20) / 3) < 1e-6);
    /* one box that covers two stands for one of them */
    for (int i = 0; i < 16; i++) at(&f->golden, 0)[i] = at(&f->driver, 0)[i] = 0;
    put_box(f, &f->golden, 0, 0, 0, 4);
    put_box(f, &f->golden, 1, 0, 1, 4);
    put_box(f, &f->driver, 2, 0, 0, 4);
    compare(f);
    assert_true(a->boxes == 2 && a->found == 1 && a->extra == 0);
}

static void real_answers(void **state) {
    struct fixture *f = *state;
    struct nnv_err err = {0};
    static char path[4200];
    describe(f, 2, (uint32_t[]){3, 5}, 2, (uint32_t[]){3, 5});
    open_data(f, "random", 7);
    assert_int_equal(nnv_answers_golden(&f->net, &f->data, 2, NULL, NULL, f->arena, &f->golden, &err), NNV_OK);
    snprintf(path, sizeof path, "%s/cpu.so", folder);
    struct nnv_bench_options o = {.path = path, .timeout_ns = UINT64_C(60000000000), .preference = 1};
    assert_int_equal(nnv_answers_driver(&f->net, &f->data, &o, &f->golden, f->arena, &f->driver, &err), NNV_OK);
    assert_int_equal(f->driver.state, NNV_BENCH_DONE);
    compare(f);
    assert_true(f->accuracy.largest_error == 0 && isnan(f->accuracy.p));
    bool positive = false;
    for (uint32_t i = 0; i < 7; i++) positive = positive || at(&f->driver, i)[0] > 0;
    assert_true(positive); /* they are answers, not zeros */
    nnv_answers_free(&f->driver);
    snprintf(path, sizeof path, "%s/faulty.so", folder);
    o.options = "crash-execute@RELU";
    assert_int_equal(nnv_answers_driver(&f->net, &f->data, &o, &f->golden, f->arena, &f->driver, &err), NNV_OK);
    assert_int_equal(f->driver.state, NNV_BENCH_CRASHED);
    assert_non_null(strstr(f->driver.reason, "item 0"));
    nnv_answers_free(&f->driver);
    o.options = "null-prepared@RELU";
    assert_int_equal(nnv_answers_driver(&f->net, &f->data, &o, &f->golden, f->arena, &f->driver, &err), NNV_OK);
    assert_int_equal(f->driver.state, NNV_BENCH_FAILED);
    assert_string_equal(f->driver.reason, "prepare_model answered NONE without a prepared model");
    nnv_answers_free(&f->driver);
    o.path = "/nonexistent.so";
    assert_int_equal(nnv_answers_driver(&f->net, &f->data, &o, &f->golden, f->arena, &f->driver, &err), NNV_INVALID);
    nnv_answers_free(&f->driver);
    nnv_answers_free(&f->golden);
}

int main(int argc, char **argv) {
    (void)argc;
    const char *slash = strrchr(argv[0], '/');
    snprintf(folder, sizeof folder, "%.*s/../drivers", (int)(slash ? slash - argv[0] : 1), slash ? argv[0] : ".");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(classifiers, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(better_is_not_worse, setup, teardown),
        cmocka_unit_test_setup_teardown(spellers, setup, teardown),
        cmocka_unit_test_setup_teardown(restorers, setup, teardown),
        cmocka_unit_test_setup_teardown(few_items_prove_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(rounding_is_not_worse, setup, teardown),
        cmocka_unit_test_setup_teardown(a_little_worse_is_worse, setup, teardown),
        cmocka_unit_test_setup_teardown(detectors, setup, teardown),
        cmocka_unit_test_setup_teardown(real_answers, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
