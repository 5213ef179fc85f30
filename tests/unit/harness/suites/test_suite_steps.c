/* SPDX-License-Identifier: Apache-2.0 */
/** Suites "shapes", "qos", "levels" and "partition": their models, their lists, and how they judge a driver's answers.
 */
#include <stdlib.h>

#include "tests/kit/fake_driver.h"
#include "harness/suites/levels/levels.h"
#include "harness/suites/partition/partition.h"
#include "harness/suites/qos/qos.h"
#include "harness/suites/shapes/shapes.h"
#include "harness/suites/kit/cases.h"
#include "harness/suites/kit/fixture_models.h"
#include "harness/suites/suites.h"
#include "nnvts/result.h"
#include "randgraph/single/single.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"

static struct nnv_arena *arena;
static struct nnv_client client;
static struct nnv_result result;
static struct nnv_context context;
static struct nnv_case_env env;
static struct nnv_run_config config;

static int set_up(void **state) {
    (void)state;
    arena = nnv_arena_new();
    fake_start(&client, 7);
    config = (struct nnv_run_config){.driver = "fake", .precision = -1, .tier = 1, .seed = 1};
    env = (struct nnv_case_env){.config = &config, .client = &client, .arena = arena};
    result = (struct nnv_result){0};
    nnv_context_begin(&context, &env, &result);
    return arena ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    nnv_context_end(&context);
    nnv_client_close(&client);
    nnv_text_free(&result.reason);
    nnv_text_free(&result.outputs);
    nnv_arena_free(arena);
    return 0;
}

static struct nnv_spec *fixture(const char *name, uint32_t open) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_fixture_build_as(nnv_fixture_by_name(name), open, 1, arena, &spec, &err)) fail_msg("%s", err.text);
    return spec;
}

/* ----------------------------------------------------------------- open shapes */

static struct nnv_spec *opened(const struct nnv_spec *spec, unsigned which, uint32_t count) {
    struct nnv_spec *out = NULL;
    struct nnv_err err = {0};
    uint32_t n = 99;
    if (nnv_shapes_open(spec, which, arena, &out, &n, &err)) fail_msg("%s", err.text);
    assert_int_equal(n, count);
    return out;
}

static bool is_open(const struct nnv_spec *spec, uint32_t i, uint32_t rank) {
    const struct nnv_operand *o = &spec->model.main.operands[i];
    bool open = o->rank == rank;
    for (uint32_t k = 0; k < o->rank; k++) open = open && o->dims[k] == 0;
    return open;
}

/** net_float32: operands 0 and 1 are inputs, 2 to 5 temporaries, 6 and 7 outputs. */
static void test_open(void **state) {
    (void)state;
    const struct nnv_spec *net = fixture("net_float32", 3);
    const struct nnv_spec *spec = opened(net, NNV_OPEN_INPUTS, 2);
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(is_open(spec, i, 2), i < 2);
    spec = opened(net, NNV_OPEN_TEMPORARIES, 4);
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(is_open(spec, i, 2), i >= 2 && i < 6);
    spec = opened(net, NNV_OPEN_OUTPUTS | NNV_OPEN_RANKS, 2);
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(is_open(spec, i, 0), i >= 6);
    assert_int_equal(net->min_version, 1);
    assert_int_equal(spec->min_version, 3);                            /* an unknown rank */
    for (uint32_t i = 0; i < 8; i++) assert_false(is_open(net, i, 2)); /* the original is as it was */
    opened(net, 0, 0);
    net->model.main.operands[3].rank = 0; /* of a rank that is open already nothing can be opened */
    opened(net, NNV_OPEN_TEMPORARIES, 3);
}

/** The model of every operation stays valid: a shape that the rules ask for is kept. */
static void test_every_operation_opens(void **state) {
    (void)state;
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++) {
        const struct nnv_single w = {.op = ops[i], .mode = NNV_FILL_NORMAL, .seed = 1, .name = "open"};
        struct nnv_spec *spec = NULL, *out = NULL;
        struct nnv_err err = {0};
        uint32_t count;
        if (nnv_single_build(&w, arena, &spec, &err)) fail_msg("%s", err.text);
        const unsigned all = NNV_OPEN_INPUTS | NNV_OPEN_OUTPUTS | NNV_OPEN_RANKS;
        if (nnv_shapes_open(spec, all, arena, &out, &count, &err)) fail_msg("%s: %s", ops[i]->name, err.text);
        assert_int_equal(nnv_validate(&out->model, arena, NULL, &err), NNV_OK);
        uint32_t tensors = 0;
        for (uint32_t k = 0; k < spec->model.main.nin; k++)
            tensors += spec->model.main.operands[spec->model.main.in[k]].rank > 0;
        for (uint32_t k = 0; k < spec->model.main.nout; k++)
            tensors += spec->model.main.operands[spec->model.main.out[k]].rank > 0;
        assert_true(count <= tensors);
        nnv_arena_reset(arena);
    }
}

/** What stands behind the operands is none of them: whatever it is, as much is opened. */
static void test_opens_nothing_behind(void **state) {
    (void)state;
    size_t n, kept = 0;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++) {
        const struct nnv_single w = {.op = ops[i], .mode = NNV_FILL_NORMAL, .seed = 1, .name = "open"};
        struct nnv_spec *spec = NULL, *out = NULL;
        struct nnv_err err = {0};
        uint32_t count[2];
        if (nnv_single_build(&w, arena, &spec, &err)) fail_msg("%s", err.text);
        struct nnv_subgraph *m = &spec->model.main;
        struct nnv_operand *operands = NNV_NEW(arena, struct nnv_operand, m->noperands + 1);
        memcpy(operands, m->operands, m->noperands * sizeof *operands);
        m->operands = operands;
        for (int k = 0; k < 2; k++) {
            memset(&operands[m->noperands], k ? 0xff : 0, sizeof *operands);
            if (nnv_shapes_open(spec, NNV_OPEN_INPUTS | NNV_OPEN_OUTPUTS, arena, &out, &count[k], &err))
                fail_msg("%s: %s", ops[i]->name, err.text);
        }
        if (count[1] != count[0]) fail_msg("%s: %u and %u operands opened", ops[i]->name, count[0], count[1]);
        for (uint32_t k = 0; k < m->nin; k++) /* one that is kept, the others one by one */
            if (count[0] > 0 && operands[m->in[k]].rank > 0 && !is_open(out, m->in[k], operands[m->in[k]].rank)) kept++;
        nnv_arena_reset(arena);
    }
    assert_true(kept > 0);
}

static void test_other_extents(void **state) {
    (void)state;
    const struct nnv_spec *three = fixture("open_float32", 3), *five = fixture("open_float32", 5);
    assert_int_equal(three->inputs[0].dims[0], 3);
    assert_int_equal(five->inputs[1].dims[0], 5);
    assert_int_equal(five->outputs[0].bytes, 5 * 4 * sizeof(float));
    assert_int_equal(fixture("add_float32", 5)->inputs[0].dims[0], 3); /* declared */
}

/** The fake's answer never changes: other values of b, in the memory of the first, get a wrong one. All of b is turned.
 */
static void test_parameters_are_turned(void **state) {
    (void)state;
    static const float turned[] = {20, 30, 40, 50, 60, 10};
    static uint32_t phase;
    struct nnv_shape_fixture b = {.s = &context, .mode = NNV_MODE_SYNC};
    env.phase = &phase;
    assert_true(nnv_context_model(&context, fake_spec(SUM, arena), &b.fixture));
    assert_true(nnv_context_ready(&context, &b.fixture, &b.prepared, &b.values));
    nnv_shapes_parameters(&b);
    assert_int_equal(result.verdict, NNVTS_FAIL);
    assert_non_null(strstr(result.reason.data, "execute with other values of its parameters than before"));
    assert_memory_equal(fake_data(&b.values.abi, &b.values.abi.inputs[1]), turned, sizeof turned);
    nnv_context_release(&context, b.prepared);
}

/* ----------------------------------------------------------------------- loops */

static void test_loop(void **state) {
    (void)state;
    static const struct { int32_t limit, step, sum; } rows[] = {{7, 2, 8}, {6, 2, 6}, {0, 2, 0}, {1, 5, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_spec *spec = NULL;
        struct nnv_err err = {0};
        struct nnv_golden golden;
        if (nnv_qos_loop(rows[i].limit, rows[i].step, arena, &spec, &err)) fail_msg("%s", err.text);
        assert_int_equal(spec->min_version, 4);
        assert_int_equal(nnv_eval(&spec->model, spec->inputs, &(struct nnv_eval_options){0}, arena, &golden, &err),
                         NNV_OK);
        assert_int_equal(*(const int32_t *)golden.value.data, rows[i].sum);
        assert_int_equal(*(const int32_t *)spec->outputs[0].data, rows[i].sum);
    }
}

static void test_endless(void **state) {
    (void)state;
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    struct nnv_golden golden;
    if (nnv_qos_loop(1, 0, arena, &spec, &err)) fail_msg("%s", err.text);
    assert_int_equal(nnv_eval(&spec->model, spec->inputs, &(struct nnv_eval_options){.loop_timeout_ns = 1000000}, arena,
                              &golden, &err),
                     NNV_TIMEOUT);
}

/* ------------------------------------------------------------------- reception */

/** What a case makes of a driver with this fault: verdict and, if not NULL, a part of the reason. */
static void receive(enum fault fault, int verdict, const char *reason) {
    struct nnv_reception r;
    struct nnv_fixture s;
    fake.fault = fault;
    nnv_text_clear(&result.reason);
    result.verdict = NNVTS_PASS;
    result.worker_damaged = false;
    assert_true(nnv_context_render(&context, fixture("add_float32", 3), &s));
    assert_int_equal(nnv_receive(&context, &s.model, &r), verdict == NNVTS_PASS);
    assert_int_equal(result.verdict, verdict);
    if (reason && !strstr(result.reason.data ? result.reason.data : "", reason))
        fail_msg("'%s', expected '%s'", result.reason.data, reason);
    if (fault == FINE) assert_true(r.supported[0] && r.prepared);
}

static void test_reception(void **state) {
    (void)state;
    receive(FINE, NNVTS_PASS, NULL);
    receive(UNSUPPORTED, NNVTS_FAIL, "expected GENERAL_FAILURE"); /* and yet it prepares */
    receive(UNFILLED, NNVTS_FAIL, "left entry 0 unfilled");
    receive(SUPPORTED_INVALID, NNVTS_FAIL, "expected INVALID_ARGUMENT");
    receive(SUPPORTED_OVERRUN, NNVTS_FAIL, "outside the array");
    receive(SUPPORTED_77, NNVTS_FAIL, "status 77");
    receive(PREPARE_FAILS, NNVTS_FAIL, "expected NONE");
    receive(PREPARE_NOTHING, NNVTS_FAIL, "without a prepared model");
    receive(PREPARE_FAILS_WITH_MODEL, NNVTS_FAIL, "and a prepared model");
    receive(PREPARE_SMALL, NNVTS_FAIL, "required members");
}

/* ------------------------------------------------------------------ partitions */

/**
 * A driver that fails to prepare is asked to twice: by a compilation that may fall back and by one that may not. Some
 * of the drivers have no more than HAL 1.0, most have all execution modes.
 */
static void test_failures_are_met_in_two_ways(void **state) {
    (void)state;
    static const struct nnvts_operand_performance prices[] = {{ANEURALNETWORKS_TENSOR_FLOAT32, {1, 1}}};
    const struct nnv_spec *spec = fixture("add_float32", 3);
    size_t looked = 0, plain = 0;
    client.device->capabilities.operand_performance = prices;
    client.device->capabilities.operand_performance_count = 1;
    fake.values = spec->outputs;
    for (size_t i = 0; i < 6 * nnv_partition_failure_count; i++) {
        const struct nnv_partition_failure *f = &nnv_partition_failures[i % nnv_partition_failure_count];
        struct nnv_partition_case p = {.s = &context, .spec = spec, .rng = nnv_rng_make(1, i, 0)};
        if (f->fault != NNV_PARTIAL_PREPARE) continue;
        nnv_partition_run_failure(&p, f);
        if (result.verdict != NNVTS_PASS) fail_msg("%s: %s", f->name, result.reason.data);
        assert_int_equal(nnv_partial_counts(p.partial[0]).prepared, 2);
        plain += p.options[0].plain;
        nnv_partition_end(&p);
        looked++;
    }
    assert_true(looked > 6 * 5);
    assert_in_range(plain, 1, looked / 2);
}

/* ----------------------------------------------------------------------- lists */

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct nnv_case *)a)->name, ((const struct nnv_case *)b)->name);
}

static void list_tier(const struct nnv_suite *suite, int tier, struct nnv_case_list *list) {
    struct nnv_err err = {0};
    config.tier = tier;
    *list = (struct nnv_case_list){.arena = arena};
    if (suite->list(&config, list, &err)) fail_msg("%s", err.text);
    qsort(list->item, list->count, sizeof *list->item, by_name);
    for (size_t i = 1; i < list->count; i++)
        if (by_name(&list->item[i - 1], &list->item[i]) == 0) fail_msg("%s stands twice", list->item[i].name);
}

/** Names are unique and begin with the suite's; what a tier has, the next has, too. */
static void test_lists(void **state) {
    (void)state;
    static const struct nnv_suite *const suites[] = {&nnv_suite_shapes, &nnv_suite_qos, &nnv_suite_levels};
    for (size_t s = 0; s < 3; s++) {
        struct nnv_case_list lists[3];
        for (int tier = 0; tier < 3; tier++) {
            list_tier(suites[s], tier, &lists[tier]);
            for (size_t i = 0; i < lists[tier].count; i++) {
                const struct nnv_case *c = &lists[tier].item[i];
                assert_int_equal(strncmp(c->name, suites[s]->name, strlen(suites[s]->name)), 0);
                if (tier > 0) assert_true(lists[tier].count >= lists[tier - 1].count);
            }
            for (size_t i = 0; tier > 0 && i < lists[tier - 1].count; i++)
                if (!bsearch(&lists[tier - 1].item[i], lists[tier].item, lists[tier].count, sizeof *lists[tier].item,
                             by_name))
                    fail_msg("%s is not in tier %d", lists[tier - 1].item[i].name, tier);
        }
        for (int tier = 0; tier < 3; tier++) free(lists[tier].item);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_open),
        TEST(test_every_operation_opens),
        TEST(test_opens_nothing_behind),
        TEST(test_other_extents),
        TEST(test_parameters_are_turned),
        TEST(test_loop),
        TEST(test_endless),
        TEST(test_reception),
        TEST(test_failures_are_met_in_two_ways),
        TEST(test_lists),
    };
    return cmocka_run_group_tests_name("shapes, qos, levels and partition", tests, NULL, NULL);
}
