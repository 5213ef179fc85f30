/* SPDX-License-Identifier: Apache-2.0 */
/** What the suite "partition" works with: graphs made to be split, and partial devices that watch and fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/client/abi.h"
#include "harness/suites/partition/partial.h"
#include "harness/suites/partition/draw.h"
#include "reference/model/builder.h"
#include "reference/spec/spec.h"
#include "reference/model/validate.h"
#include "tests/kit/arena.h"

/* ----------------------------------------------------------------------- graphs */

static struct nnv_spec *web(uint64_t index, bool plain) {
    const struct nnv_web w = {.name = "web", .seed = 3, .index = index, .least = 2, .most = 30, .plain = plain};
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_web_build(&w, arena, &spec, &err) != NNV_OK) fail_msg("%llu: %s", (unsigned long long)index, err.text);
    return spec;
}

static bool reads(const struct nnv_subgraph *s, uint32_t operand) {
    for (uint32_t i = 0; i < s->noperations; i++)
        for (uint32_t k = 0; k < s->operations[i].nin; k++)
            if (s->operations[i].in[k] == operand) return true;
    return false;
}

/* Operations whose results nobody reads, and those of constants alone; values of unknown shape. */
static void count(const struct nnv_spec *spec, int *dead, int *sourceless, int *open) {
    const struct nnv_subgraph *s = &spec->model.main;
    for (uint32_t i = 0; i < s->noperations; i++) {
        bool read = false, fed = false;
        for (uint32_t k = 0; k < s->operations[i].nout; k++) {
            const struct nnv_operand *o = &s->operands[s->operations[i].out[k]];
            read = read || o->lifetime == NNV_SUBGRAPH_OUTPUT || reads(s, s->operations[i].out[k]);
            *open += o->rank != 2 || o->dims[0] == 0 || o->dims[1] == 0;
        }
        for (uint32_t k = 0; k < s->operations[i].nin; k++)
            fed = fed || !nnv_is_constant(&s->operands[s->operations[i].in[k]]);
        *dead += !read;
        *sourceless += !fed;
    }
}

static void test_graphs_have_all_that_partitioning_meets(void **state) {
    int dead = 0, sourceless = 0, open = 0, inputs = 0, levels = 0;
    (void)state;
    for (uint64_t i = 0; i < 60; i++) {
        const struct nnv_spec *spec = web(i, false);
        assert_in_range(spec->model.main.noperations, 2, 30);
        assert_true(spec->model.main.nout > 0 && spec->model.main.nin > 0);
        count(spec, &dead, &sourceless, &open);
        inputs += spec->model.main.nin > 1;
        levels |= 1 << spec->min_version;
    }
    assert_true(dead > 0 && sourceless > 0 && open > 0 && inputs > 0);
    assert_true(levels >> 3 & levels >> 4 & 1);
}

static void test_plain_graphs_can_always_be_split(void **state) {
    int dead = 0, sourceless = 0, open = 0;
    (void)state;
    for (uint64_t i = 0; i < 60; i++) count(web(i, true), &dead, &sourceless, &open);
    assert_int_equal(dead + sourceless + open, 0);
}

static void test_graphs_are_the_same_each_time(void **state) {
    struct nnv_text a = {0}, b = {0};
    (void)state;
    nnv_spec_write_json(web(5, false), false, &a);
    nnv_spec_write_json(web(5, false), false, &b);
    assert_string_equal(a.data, b.data);
    nnv_text_clear(&b);
    nnv_spec_write_json(web(6, false), false, &b);
    assert_string_not_equal(a.data, b.data);
    nnv_text_free(&a);
    nnv_text_free(&b);
}

/* ------------------------------------------------------------------ a whole device */

static enum nnvts_status whole_answers; /* to executions */

static enum nnvts_status whole_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    (void)self, (void)request, (void)config;
    result->shape_count = 0;
    return whole_answers;
}

static void whole_forget(struct nnvts_prepared_model *self) { (void)self; }

static struct nnvts_prepared_model whole_prepared = {
    .struct_size = sizeof whole_prepared, .execute = whole_execute, .release = whole_forget};

static enum nnvts_device_status whole_status(struct nnvts_device *self) {
    (void)self;
    return NNVTS_DEVICE_AVAILABLE;
}

static enum nnvts_status whole_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    (void)self;
    for (uint32_t i = 0; i < model->main.operation_count; i++) supported[i] = true;
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status whole_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    (void)self, (void)model, (void)config;
    *out = &whole_prepared;
    return NNVTS_STATUS_NONE;
}

static struct nnvts_device whole = {.struct_size = sizeof whole,
                                    .feature_level = 7,
                                    .name = "whole",
                                    .version = "1",
                                    .get_status = whole_status,
                                    .get_supported_operations = whole_supported,
                                    .prepare_model = whole_prepare};

/* x - x of two float32 matrices: level 2. */
static struct nnvts_model model_of(int32_t code) {
    static const struct nnv_encoding real = {ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0};
    static const uint32_t dims[] = {2, 3};
    struct nnv_builder b = {.arena = arena};
    struct nnv_err err = {0};
    struct nnv_model *model = NNV_NEW(arena, struct nnv_model, 1);
    struct nnvts_model out;
    struct nnv_abi_pool constants = {0};
    const uint32_t x = nnv_builder_tensor(&b, real, 2, dims, NNV_SUBGRAPH_INPUT);
    const uint32_t y = nnv_builder_tensor(&b, real, 2, dims, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, code, 3, (uint32_t[]){x, x, nnv_builder_int(&b, 0)}, y);
    assert_int_equal(nnv_builder_end(&b, 1, &x, 1, &y, model, &err), NNV_OK);
    if (nnv_abi_model(model, arena, NNV_POOL_FD_ONLY, &out, &constants, &err) != NNV_OK) fail_msg("%s", err.text);
    return out;
}

static struct nnvts_device *part(struct nnv_partial_options o) {
    o.inner = &whole;
    o.name = "part";
    if (!o.level) o.level = 7;
    if (!o.count) o.count = 1;
    struct nnvts_device *d = nnv_partial_make(&o);
    assert_non_null(d);
    return d;
}

static bool asks(struct nnvts_device *d, const struct nnvts_model *m) {
    bool yes = false;
    return d->get_supported_operations(d, m, &yes) == NNVTS_STATUS_NONE && yes;
}

static void complains(const struct nnvts_device *d, const char *what, bool by_driver) {
    bool driver = !by_driver;
    const char *complaint = nnv_partial_complaint(d, &driver);
    if (!strstr(complaint, what) || (!*what && *complaint)) fail_msg("expected '%s', got '%s'", what, complaint);
    if (*what) assert_int_equal(driver, by_driver);
}

static const struct nnvts_prepare_config how = {.deadline_ns = NNVTS_NO_TIME};

/* ---------------------------------------------------------------- partial devices */

static void test_shares(void **state) {
    const struct nnv_spec *spec = web(1, true);
    struct nnvts_device *d[3];
    struct nnvts_model m;
    struct nnv_err err = {0};
    struct nnv_abi_pool constants = {0};
    int taken = 0, left = 0;
    (void)state;
    assert_int_equal(nnv_abi_model(&spec->model, arena, NNV_POOL_FD_ONLY, &m, &constants, &err), NNV_OK);
    for (uint32_t i = 0; i < 3; i++)
        d[i] = part((struct nnv_partial_options){.share = NNV_PARTIAL_ONE, .seed = 4, .index = i, .count = 3});
    bool *supported[3];
    for (int i = 0; i < 3; i++) {
        supported[i] = NNV_NEW(arena, bool, m.main.operation_count);
        assert_int_equal(d[i]->get_supported_operations(d[i], &m, supported[i]), NNVTS_STATUS_NONE);
    }
    for (uint32_t k = 0; k < m.main.operation_count; k++) {
        const int owners = supported[0][k] + supported[1][k] + supported[2][k];
        assert_in_range(owners, 0, 1);
        taken += owners;
        left += !owners;
        const uint64_t signature = nnv_partial_signature(&m, &m.main, &m.main.operations[k]);
        for (int i = 0; i < 3; i++) assert_int_equal(nnv_partial_said(d[i], signature), supported[i][k]);
    }
    assert_true(taken > left);
    for (int i = 0; i < 3; i++) {
        complains(d[i], "", false);
        d[i]->release(d[i]);
    }
}

static void test_the_level_is_watched(void **state) {
    struct nnvts_device *d = part((struct nnv_partial_options){.share = NNV_PARTIAL_ALL, .level = 1});
    const struct nnvts_model add = model_of(ANEURALNETWORKS_ADD), sub = model_of(ANEURALNETWORKS_SUB);
    (void)state;
    assert_true(asks(d, &add));
    complains(d, "", false);
    assert_true(asks(d, &sub));
    complains(d, "get_supported_operations was given a model of level 2, the device has 1", false);
    d->release(d);
}

static void test_models_are_watched(void **state) {
    struct nnvts_device *d = part((struct nnv_partial_options){.share = NNV_PARTIAL_ALL});
    struct nnvts_model m = model_of(ANEURALNETWORKS_ADD);
    struct nnvts_prepared_model *prepared = NULL;
    (void)state;
    assert_int_equal(d->prepare_model(d, &m, &how, &prepared), NNVTS_STATUS_NONE);
    complains(d, "which the device never said that it supports", false);
    prepared->release(prepared);
    d->release(d);
    d = part((struct nnv_partial_options){.share = NNV_PARTIAL_ALL});
    struct nnvts_operation op = m.main.operations[0];
    op.input_count = 1;
    m.main.operations = &op;
    assert_true(asks(d, &m));
    complains(d, "was given an invalid model", false);
    d->release(d);
}

/* A request of one input and one output at these places of a pool of 64 bytes. */
static enum nnvts_status execute(struct nnvts_device *d, uint32_t in, uint32_t out) {
    const struct nnvts_model m = model_of(ANEURALNETWORKS_ADD);
    static uint8_t bytes[64];
    const struct nnvts_memory pool = {.prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE, .fd = -1, .size = 64, .data = bytes};
    const struct nnvts_argument x = {.location = {.offset = in, .length = 24}},
                                y = {.location = {.offset = out, .length = 24}};
    const struct nnvts_request request = {1, 1, 1, &x, &y, &pool};
    const struct nnvts_execution_config config = {NNVTS_NO_TIME, NNVTS_NO_TIME, false};
    uint32_t dims[NNV_MAX_RANK];
    struct nnvts_output_shape shape = {.dimension_count = NNV_MAX_RANK, .dimensions = dims};
    struct nnvts_execution_result result = {.shapes = &shape};
    struct nnvts_prepared_model *prepared = NULL;
    assert_true(asks(d, &m));
    assert_int_equal(d->prepare_model(d, &m, &how, &prepared), NNVTS_STATUS_NONE);
    const enum nnvts_status st = prepared->execute(prepared, &request, &config, &result);
    prepared->release(prepared);
    return st;
}

static void test_requests_are_watched(void **state) {
    static const struct {
        uint32_t in, out;
        const char *complaint;
    } cases[] = {
        {0, 24, ""},
        {0, 20, "output 0 has memory in common with input 0"},
        {0, 44, "output 0 ends 4 bytes behind its pool"},
        {2, 28, "input 0 lies at offset 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nnvts_device *d = part((struct nnv_partial_options){.share = NNV_PARTIAL_ALL});
        whole_answers = NNVTS_STATUS_NONE;
        assert_int_equal(execute(d, cases[i].in, cases[i].out), NNVTS_STATUS_NONE);
        complains(d, cases[i].complaint, false);
        assert_int_equal(nnv_partial_counts(d).executed, 1);
        d->release(d);
    }
}

static void test_the_driver_under_test_is_watched(void **state) {
    struct nnvts_device *d = part((struct nnv_partial_options){.share = NNV_PARTIAL_ALL});
    (void)state;
    whole_answers = NNVTS_STATUS_GENERAL_FAILURE;
    assert_int_equal(execute(d, 0, 24), NNVTS_STATUS_GENERAL_FAILURE);
    complains(d, "the driver answered GENERAL_FAILURE to a synchronous execution", true);
    d->release(d);
}

static void test_failures(void **state) {
    struct nnvts_prepared_model *prepared = NULL;
    const struct nnvts_model m = model_of(ANEURALNETWORKS_ADD);
    struct nnvts_device *d;
    (void)state;
    whole_answers = NNVTS_STATUS_NONE;
    d = part((struct nnv_partial_options){
        .share = NNV_PARTIAL_ALL, .fault = NNV_PARTIAL_PREPARE, .status = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT});
    assert_true(asks(d, &m));
    assert_int_equal(d->prepare_model(d, &m, &how, &prepared), NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
    d->release(d);
    d = part((struct nnv_partial_options){
        .share = NNV_PARTIAL_ALL, .fault = NNV_PARTIAL_LATE, .status = NNVTS_STATUS_GENERAL_FAILURE});
    assert_int_equal(execute(d, 0, 24), NNVTS_STATUS_GENERAL_FAILURE);
    complains(d, "", false); /* it was told to */
    d->release(d);
    d = part((struct nnv_partial_options){.share = NNV_PARTIAL_ALL, .fault = NNV_PARTIAL_DIES});
    assert_int_equal(d->get_status(d), NNVTS_DEVICE_AVAILABLE);
    assert_int_equal(execute(d, 0, 24), NNVTS_STATUS_DEAD_OBJECT);
    assert_int_equal(d->get_status(d), NNVTS_DEVICE_OFFLINE);
    assert_false(asks(d, &m));
    complains(d, "", false);
    d->release(d);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_graphs_have_all_that_partitioning_meets),
        TEST(test_plain_graphs_can_always_be_split),
        TEST(test_graphs_are_the_same_each_time),
        TEST(test_shares),
        TEST(test_the_level_is_watched),
        TEST(test_models_are_watched),
        TEST(test_requests_are_watched),
        TEST(test_the_driver_under_test_is_watched),
        TEST(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
