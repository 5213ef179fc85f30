/* SPDX-License-Identifier: Apache-2.0 */
/** Rules of plans: a plan of the runtime keeps them, and each way to break one is seen and named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/suites/partition/plan_check.h"
#include "reference/model/builder.h"
#include "reference/runtime/api/model/from_spec.h"

/* ---------------------------------------------------------------------- devices */

/* Device a has ADD, TANH and LESS, device b MUL and SUB; both ask less than the CPU. */
static bool has(const struct nnvts_device *d, int32_t code) {
    if (strcmp(d->name, "a") == 0)
        return code == ANEURALNETWORKS_ADD || code == ANEURALNETWORKS_TANH || code == ANEURALNETWORKS_LESS;
    return code == ANEURALNETWORKS_MUL || code == ANEURALNETWORKS_SUB;
}

static enum nnvts_device_status get_status(struct nnvts_device *self) {
    (void)self;
    return NNVTS_DEVICE_AVAILABLE;
}

static enum nnvts_status get_supported_operations(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported) {
    for (uint32_t i = 0; i < model->main.operation_count; i++) supported[i] = has(self, model->main.operations[i].type);
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status prepare_model(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    (void)self, (void)model, (void)config, (void)out;
    return NNVTS_STATUS_GENERAL_FAILURE; /* plans alone are made here */
}

static void release(struct nnvts_device *self) { (void)self; }

static const struct nnvts_operand_performance prices[] = {
    {ANEURALNETWORKS_INT32, {0.5f, 0.5f}},
    {ANEURALNETWORKS_TENSOR_FLOAT32, {0.5f, 0.5f}},
    {ANEURALNETWORKS_TENSOR_INT32, {0.5f, 0.5f}},
};
#define DEVICE(label)                                                                                                  \
    {                                                                                                                  \
        .struct_size = sizeof(struct nnvts_device), .feature_level = 7, .type = ANEURALNETWORKS_DEVICE_ACCELERATOR,    \
        .name = label, .version = "1",                                                                                 \
        .capabilities = {.if_performance = {9, 9},                                                                     \
                         .while_performance = {9, 9},                                                                  \
                         .operand_performance_count = sizeof prices / sizeof *prices,                                  \
                         .operand_performance = prices},                                                               \
        .get_status = get_status, .get_supported_operations = get_supported_operations,                                \
        .prepare_model = prepare_model, .release = release                                                             \
    }
static struct nnvts_device drivers[] = {DEVICE("a"), DEVICE("b")};

static int takes(void *context, const struct ANeuralNetworksDevice *device, uint32_t graph, uint32_t op) {
    const struct ANeuralNetworksModel *m = *(ANeuralNetworksModel **)context;
    return has(device->driver, nnv_rt_graph_at(m, graph)->operations[op].type);
}

/* --------------------------------------------------------------------- fixtures */

static struct nnv_arena *arena;
static struct nnv_rt_spec_model built;
static struct ANeuralNetworksDevice *devices[3];
static struct nnv_plan_rules rules;
static struct nnv_rt_plan *plan;
static struct nnv_rt_graph *g;
static struct nnv_text text;

static const struct nnv_encoding real = {ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0};
static const uint32_t square[] = {2, 2}, open[] = {2, 0};

/* y = tanh((x + c) * x) - (x + c): a, b, a, b. The values t0, t1, t2 live over steps 0-3, 1-2 and 2-3. */
static void describe(struct nnv_model *model, const uint32_t *extents) {
    struct nnv_builder b = {.arena = arena};
    struct nnv_err err = {0};
    const uint32_t x = nnv_builder_tensor(&b, real, 2, square, NNV_SUBGRAPH_INPUT);
    const uint32_t c = nnv_builder_weights(&b, real, 2, square, 1), none = nnv_builder_int(&b, 0);
    const uint32_t t0 = nnv_builder_tensor(&b, real, 2, square, NNV_TEMPORARY_VARIABLE);
    const uint32_t t1 = nnv_builder_tensor(&b, real, 2, extents, NNV_TEMPORARY_VARIABLE);
    const uint32_t t2 = nnv_builder_tensor(&b, real, 2, square, NNV_TEMPORARY_VARIABLE);
    const uint32_t y = nnv_builder_tensor(&b, real, 2, square, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, (uint32_t[]){x, c, none}, t0);
    nnv_builder_add(&b, ANEURALNETWORKS_MUL, 3, (uint32_t[]){t0, x, none}, t1);
    nnv_builder_add(&b, ANEURALNETWORKS_TANH, 1, &t1, t2);
    nnv_builder_add(&b, ANEURALNETWORKS_SUB, 3, (uint32_t[]){t2, t0, none}, y);
    assert_int_equal(nnv_builder_end(&b, 1, &x, 1, &y, model, &err), NNV_OK);
}

static void make_plan(const struct nnv_model *model) {
    struct nnv_err err = {0};
    nnv_rt_device_override((struct nnvts_device *const[]){&drivers[0], &drivers[1]}, 2);
    for (int i = 0; i < 3; i++) devices[i] = nnv_rt_device_at((size_t)i);
    if (nnv_rt_model_from_spec(model, &built, NULL, &err) != NNV_OK) fail_msg("%s", err.text);
    const struct nnv_rt_plan_options options = {devices, 3, ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, NULL};
    assert_int_equal(nnv_rt_plan_make(built.model, &options, &plan), ANEURALNETWORKS_NO_ERROR);
    g = &plan->graphs[0];
    rules = (struct nnv_plan_rules){.devices = devices,
                                    .device_count = 3,
                                    .preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER,
                                    .takes = takes,
                                    .context = &built.model};
}

static int setup(void **state) {
    struct nnv_model model;
    (void)state;
    arena = nnv_arena_new();
    describe(&model, square);
    make_plan(&model);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    nnv_rt_plan_release(plan);
    nnv_rt_spec_model_free(&built);
    nnv_rt_device_override(NULL, 0);
    nnv_text_free(&text);
    nnv_arena_free(arena);
    return 0;
}

static void keeps(void) {
    nnv_text_clear(&text);
    if (!nnv_plan_check(plan, &rules, arena, &text)) fail_msg("%s", text.data);
}

static void breaks(const char *rule) {
    nnv_text_clear(&text);
    assert_false(nnv_plan_check(plan, &rules, arena, &text));
    if (!strstr(text.data, rule)) fail_msg("expected '%s' in:\n%s", rule, text.data);
}

/* The operand that operation op of the main graph writes. */
static uint32_t written(uint32_t op) { return built.model->model.main.operations[op].outputs[0]; }

/* ------------------------------------------------------------------------ tests */

static void test_a_plan_keeps_all_rules(void **state) {
    (void)state;
    assert_int_equal(g->step_count, 4);
    assert_ptr_equal(g->steps[0].device, devices[0]);
    assert_ptr_equal(g->steps[1].device, devices[1]);
    keeps();
    nnv_text_clear(&text);
    nnv_plan_describe(plan, &text);
    assert_non_null(strstr(text.data, "graph 0 step 3: b does 3 from"));
}

static void test_operations_are_in_one_step_each(void **state) {
    (void)state;
    uint32_t twice[] = {1, 2};
    g->steps[1].operations = twice;
    g->steps[1].operation_count = 2;
    breaks("operation 2 is in steps 1 and 2");
    g->steps[1].operation_count = 0;
    breaks("operation 1 is in no step");
}

static void test_values_are_written_before_they_are_read(void **state) {
    (void)state;
    const struct nnv_rt_step step = g->steps[1];
    g->steps[1] = g->steps[2];
    g->steps[2] = step;
    breaks("before operation 1 writes it");
}

static void test_neighbours_of_one_device_are_one_step(void **state) {
    (void)state;
    g->steps[1].device = devices[0];
    breaks("could be one");
}

static void test_what_crosses_is_listed(void **state) {
    (void)state;
    const uint32_t inputs = g->steps[3].input_count;
    g->steps[3].input_count = 1;
    breaks("crosses the border of step 3, but is no input of it");
    g->steps[3].input_count = inputs;
    g->steps[1].output_count = 0;
    breaks("is no output of it");
}

static void test_what_does_not_cross_is_not_listed(void **state) {
    (void)state;
    uint32_t outputs[] = {written(0), written(1)};
    g->steps[1].outputs = outputs;
    g->steps[1].output_count = 2;
    breaks("is an output of step 1, but does not cross its border");
}

static void test_temporaries_that_meet_lie_apart(void **state) {
    (void)state;
    g->places[written(1)].offset = g->places[written(0)].offset;
    breaks("share memory while both are needed");
}

static void test_temporaries_that_never_meet_may_share(void **state) {
    (void)state;
    struct nnv_rt_place *t1 = &g->places[written(1)], *t2 = &g->places[written(2)];
    g->steps[2].operation_count = 1;
    keeps();
    t2->offset = t1->offset; /* both in step 2: one is read and the other written */
    breaks("share memory");
}

static void test_temporaries_lie_in_the_pool(void **state) {
    (void)state;
    g->pool_bytes = 32;
    breaks("ends behind the pool");
}

static void test_temporaries_hold_their_values(void **state) {
    (void)state;
    g->places[written(2)].bytes = 8;
    breaks("has 8 bytes, its value 16");
}

static void test_values_are_where_their_kind_is(void **state) {
    (void)state;
    g->places[written(0)].kind = NNV_RT_NOWHERE;
    breaks("is nowhere, it has to be a temporary");
    g->places[written(0)].kind = NNV_RT_DYNAMIC;
    breaks("is dynamic, it has to be a temporary");
    g->places[written(3)].index = 1;
    breaks("is not the graph's output 1");
}

static void test_devices_do_what_they_take(void **state) {
    (void)state;
    g->steps[0].device = devices[1];
    breaks("operation 0 is on b, which never said that it takes it");
}

static void test_devices_have_the_level(void **state) {
    (void)state;
    devices[1]->driver_level = 1; /* SUB is of level 2 */
    breaks("operation 3 needs level 2, b has 1");
}

static void test_nobody_does_it_for_less(void **state) {
    (void)state;
    g->steps[2].device = devices[2];
    breaks("operation 2 costs 1 on nnapi-reference, and 0.5 on a, which takes it");
}

static void test_the_cpu_comes_before_equals(void **state) {
    static const struct nnvts_operand_performance same[] = {{ANEURALNETWORKS_TENSOR_FLOAT32, {1, 1}}};
    const struct nnvts_capabilities before = drivers[0].capabilities;
    (void)state;
    drivers[0].capabilities.operand_performance_count = 1;
    drivers[0].capabilities.operand_performance = same;
    breaks("operation 0 is on a, but costs the same on nnapi-reference, which comes first");
    drivers[0].capabilities = before;
}

static void test_a_step_of_many_is_not_simple(void **state) {
    (void)state;
    plan->simple = true;
    breaks("the plan is simple, and has 4 steps");
}

static void test_models_of_steps_are_parts_of_the_graph(void **state) {
    (void)state;
    struct nnvts_model *m = &g->steps[1].model;
    struct nnvts_operation *op = nnv_arena_copy(arena, m->main.operations, sizeof *op);
    m->main.operations = op;
    op->type = ANEURALNETWORKS_SUB;
    breaks("operation 1 has type");
    op->type = ANEURALNETWORKS_MUL;
    const uint32_t swapped[] = {op->inputs[1], op->inputs[0], op->inputs[2]};
    op->inputs = swapped;
    breaks("of the model of step 1 stands for operands");
}

static void test_constants_of_steps_have_their_values(void **state) {
    (void)state;
    struct nnvts_model *m = &g->steps[0].model;
    const struct nnvts_operand *o = &m->main.operands[m->main.operations[0].inputs[1]];
    struct nnvts_operand *operands = nnv_arena_copy(arena, m->main.operands, m->main.operand_count * sizeof *operands);
    static const float other[4] = {1, 2, 3, 4};
    struct nnvts_operand *changed = &operands[m->main.operations[0].inputs[1]];
    assert_int_equal(o->location.length, sizeof other);
    m->main.operands = operands;
    changed->lifetime = NNVTS_CONSTANT_COPY;
    changed->location = (struct nnvts_location){.length = sizeof other};
    m->operand_values = other;
    m->operand_values_bytes = sizeof other;
    breaks("has another value in the model of step 0");
}

static void test_unknown_sizes_come_from_level_3(void **state) {
    struct nnv_model model;
    (void)state;
    nnv_rt_plan_release(plan);
    nnv_rt_spec_model_free(&built);
    describe(&model, open);
    make_plan(&model);
    assert_int_equal(g->places[written(1)].kind, NNV_RT_DYNAMIC);
    keeps();
    devices[1]->driver_level = 2;
    breaks("of unknown size, comes from b, of level 2");
    g->dynamic_count = 0;
    breaks("is dynamic value 0 of 0");
}

/* while (x < limit) { x = x + step; y = y * x; }: a WHILE that no device takes carries two values. */
static void describe_loop(struct nnv_model *model) {
    struct nnv_model graph[2];
    struct nnv_err err = {0};
    model->nreferenced = 2;
    model->referenced = NNV_NEW(arena, struct nnv_subgraph, 2);
    assert_non_null(model->referenced);
    for (int k = 0; k < 2; k++) {
        struct nnv_builder b = {.arena = arena};
        uint32_t in[3], out[2];
        for (int i = 0; i < 3; i++) in[i] = nnv_builder_tensor(&b, real, 1, square, NNV_SUBGRAPH_INPUT);
        if (k == 0) {
            const struct nnv_encoding flag = {ANEURALNETWORKS_TENSOR_BOOL8, 0, 0};
            out[0] = nnv_builder_tensor(&b, flag, 1, (uint32_t[]){1}, NNV_SUBGRAPH_OUTPUT);
            nnv_builder_add(&b, ANEURALNETWORKS_LESS, 2, (uint32_t[]){in[0], in[2]}, out[0]);
        } else {
            const uint32_t none = nnv_builder_int(&b, 0);
            for (int i = 0; i < 2; i++) out[i] = nnv_builder_tensor(&b, real, 1, square, NNV_SUBGRAPH_OUTPUT);
            nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, (uint32_t[]){in[0], in[2], none}, out[0]);
            nnv_builder_add(&b, ANEURALNETWORKS_MUL, 3, (uint32_t[]){in[1], out[0], none}, out[1]);
        }
        assert_int_equal(nnv_builder_end(&b, 3, in, k + 1, out, &graph[k], &err), NNV_OK);
        model->referenced[k] = graph[k].main;
    }
    struct nnv_builder b = {.arena = arena};
    uint32_t in[5], out[2];
    for (uint32_t k = 0; k < 2; k++)
        in[k] = nnv_builder_operand(
            &b, (struct nnv_operand){.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH, .subgraph = k});
    for (int i = 2; i < 5; i++) in[i] = nnv_builder_tensor(&b, real, 1, square, NNV_SUBGRAPH_INPUT);
    for (int i = 0; i < 2; i++) out[i] = nnv_builder_tensor(&b, real, 1, square, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_operation(&b, ANEURALNETWORKS_WHILE, 5, in, 2, out);
    assert_int_equal(nnv_builder_end(&b, 3, in + 2, 2, out, &graph[0], &err), NNV_OK);
    model->main = graph[0].main;
}

static void test_all_that_a_loop_carries_lies_apart(void **state) {
    struct nnv_model model = {0};
    (void)state;
    nnv_rt_plan_release(plan);
    nnv_rt_spec_model_free(&built);
    describe_loop(&model);
    make_plan(&model);
    assert_int_equal(g->step_count, 1);
    assert_int_equal(g->steps[0].kind, NNV_RT_WHILE);
    keeps();
    g->steps[0].carried[1][1].offset = g->steps[0].carried[0][1].offset;
    breaks("what a WHILE carries of operand 1 and what a WHILE carries of operand 1 share memory");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_plan_keeps_all_rules),
        TEST(test_operations_are_in_one_step_each),
        TEST(test_values_are_written_before_they_are_read),
        TEST(test_neighbours_of_one_device_are_one_step),
        TEST(test_what_crosses_is_listed),
        TEST(test_what_does_not_cross_is_not_listed),
        TEST(test_temporaries_that_meet_lie_apart),
        TEST(test_temporaries_that_never_meet_may_share),
        TEST(test_temporaries_lie_in_the_pool),
        TEST(test_temporaries_hold_their_values),
        TEST(test_values_are_where_their_kind_is),
        TEST(test_devices_do_what_they_take),
        TEST(test_devices_have_the_level),
        TEST(test_nobody_does_it_for_less),
        TEST(test_the_cpu_comes_before_equals),
        TEST(test_a_step_of_many_is_not_simple),
        TEST(test_models_of_steps_are_parts_of_the_graph),
        TEST(test_constants_of_steps_have_their_values),
        TEST(test_unknown_sizes_come_from_level_3),
        TEST(test_all_that_a_loop_carries_lies_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
