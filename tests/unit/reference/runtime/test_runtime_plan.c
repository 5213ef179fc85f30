/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: the device of each operation, the steps, and where values lie. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "reference/runtime/log.h"
#include "reference/runtime/plan/planning.h"
#include "tests/kit/toy.h"

enum { ADD = ANEURALNETWORKS_ADD, MUL = ANEURALNETWORKS_MUL, SUB = ANEURALNETWORKS_SUB, DIV = ANEURALNETWORKS_DIV };
#define OK ANEURALNETWORKS_NO_ERROR

static struct toy_device a, b, cpu;
static struct ANeuralNetworksDevice *devices[3];

/** Devices a and b at these costs, and the CPU. */
static struct nnv_rt_plan_options three(float cost_a, float cost_b) {
    devices[0] = toy_device(&a, "a", cost_a, cost_a);
    devices[1] = toy_device(&b, "b", cost_b, cost_b);
    devices[2] = toy_cpu(&cpu);
    return (struct nnv_rt_plan_options){devices, 3, ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, NULL};
}

/** input -> each type in turn -> output. */
static void chain(struct toy *t, const int32_t *types) {
    toy_begin(t, 1, 32);
    uint32_t v = toy_operand(t, 0, NNVTS_SUBGRAPH_INPUT, 4);
    for (; *types >= 0; types++)
        v = toy_binary(t, 0, *types, v, v, types[1] < 0 ? NNVTS_SUBGRAPH_OUTPUT : NNVTS_TEMPORARY_VARIABLE);
    toy_end(t);
}

static int chosen(struct toy *t, const struct nnv_rt_plan_options *o, uint32_t operation, float *cost) {
    struct nnv_rt_choice *choices = NULL;
    assert_int_equal(nnv_rt_plan_choices(&t->model, o, 0, t->arena, &choices), OK);
    if (cost != NULL) *cost = choices[operation].cost;
    return choices[operation].device;
}

/* ------------------------------------------------------------------ choices */

static void test_cheapest(void **state) {
    (void)state;
    static const struct {
        float a, b;
        int device;
        float cost;
    } rows[] = {
        {0.5f, 0.6f, 0, 0.5f}, {0.6f, 0.5f, 1, 0.5f}, {0.5f, 0.5f, 0, 0.5f}, {1, 1, 2, 1},
        {2, 3, 2, 1},          {1, 0.9f, 1, 0.9f},    {0, 0, 0, 0},          {FLT_MAX, 2, 2, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct toy t;
        float cost;
        const struct nnv_rt_plan_options o = three(rows[i].a, rows[i].b);
        chain(&t, (const int32_t[]){ADD, -1});
        assert_int_equal(chosen(&t, &o, 0, &cost), rows[i].device);
        assert_true(cost == rows[i].cost);
        toy_free(&t);
    }
}

/** Equal to the CPU: the CPU, wherever it stands among the devices. */
static void test_cpu_wins_ties_anywhere(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan_options o = three(1, 1);
    struct ANeuralNetworksDevice *order[] = {devices[0], devices[2], devices[1]};
    chain(&t, (const int32_t[]){ADD, -1});
    o.devices = order;
    assert_int_equal(chosen(&t, &o, 0, NULL), 1);
    order[1] = devices[0];
    order[0] = devices[2];
    assert_int_equal(chosen(&t, &o, 0, NULL), 0);
    toy_free(&t);
}

static void test_preference_and_types(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    a.performance[0].info.power_usage = 0.9f;
    b.performance[0].info.power_usage = 0.2f;
    chain(&t, (const int32_t[]){ADD, -1});
    assert_int_equal(chosen(&t, &o, 0, NULL), 0);
    o.preference = ANEURALNETWORKS_PREFER_SUSTAINED_SPEED;
    assert_int_equal(chosen(&t, &o, 0, NULL), 0);
    o.preference = ANEURALNETWORKS_PREFER_LOW_POWER;
    assert_int_equal(chosen(&t, &o, 0, NULL), 1);
    /* Relaxed: the relaxed tensor entry counts. */
    o.preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER;
    t.model.model.relax_float32_to_float16 = true;
    a.driver.capabilities.relaxed_tensor.exec_time = 0.8f;
    b.driver.capabilities.relaxed_tensor.exec_time = 0.7f;
    assert_int_equal(chosen(&t, &o, 0, NULL), 1);
    /* The type of input 0 decides; of INT32 the drivers say nothing, which is the worst. */
    t.graphs[0].operands[0].type = ANEURALNETWORKS_TENSOR_INT32;
    cpu.performance[0].type = ANEURALNETWORKS_TENSOR_INT32;
    assert_int_equal(chosen(&t, &o, 0, NULL), 2);
    toy_free(&t);
}

static void test_supported(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_choice *choices = NULL;
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    const int32_t add[] = {ADD, -1};
    toy_supports_only(&a, add);
    chain(&t, (const int32_t[]){ADD, MUL, ADD, -1});
    assert_int_equal(nnv_rt_plan_choices(&t.model, &o, 0, t.arena, &choices), OK);
    assert_int_equal(choices[0].device, 0);
    assert_int_equal(choices[1].device, 1);
    assert_int_equal(choices[2].device, 0);
    assert_true(isnan(choices[1].costs[0]));
    assert_true(choices[1].costs[1] == 0.6f);
    assert_true(choices[1].costs[2] == 1);
    assert_int_equal(a.asked, 1);
    assert_int_equal(b.asked, 1);
    toy_free(&t);
}

/** A driver is asked about what is of its level, and about nothing where nothing is. */
static void test_levels(void **state) {
    (void)state;
    struct toy t;
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    a.device.driver_level = 2;
    b.device.driver_level = 1;
    chain(&t, (const int32_t[]){ADD, MUL, ADD, -1});
    t.graphs[0].info.levels[0] = 2;
    t.graphs[0].info.levels[1] = 3;
    t.graphs[0].info.levels[2] = 2;
    assert_int_equal(chosen(&t, &o, 0, NULL), 0);
    assert_int_equal(chosen(&t, &o, 1, NULL), 2);
    assert_int_equal(chosen(&t, &o, 2, NULL), 0);
    assert_int_equal(a.asked, 3);
    assert_int_equal(a.operations, 2);
    assert_int_equal(b.asked, 0);
    toy_free(&t);
}

static void test_bad_answers(void **state) {
    (void)state;
    struct toy t;
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    chain(&t, (const int32_t[]){ADD, -1});
    a.supported_status = NNVTS_STATUS_INVALID_ARGUMENT;
    assert_int_equal(chosen(&t, &o, 0, NULL), 1);
    assert_false(atomic_load(&a.device.dead));
    b.supported_status = NNVTS_STATUS_DEAD_OBJECT;
    assert_int_equal(chosen(&t, &o, 0, NULL), 2);
    assert_true(atomic_load(&b.device.dead));
    toy_free(&t);
}

static void test_no_device(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan *plan = NULL;
    struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    const int32_t add[] = {ADD, -1};
    o.device_count = 2;
    toy_supports_only(&a, add);
    toy_supports_only(&b, add);
    chain(&t, (const int32_t[]){ADD, MUL, -1});
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), ANEURALNETWORKS_BAD_DATA);
    o.device_count = 0;
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), ANEURALNETWORKS_BAD_DATA);
    assert_null(plan);
    toy_free(&t);
}

/* -------------------------------------------------------------- control flow */

/**
 * Main: x, flag -> then or else (graphs 1 and 2) -> output; or WHILE with graph 1 as its condition and 2 as its body.
 * Each graph below is a single operation of the given type.
 */
static void with_control(struct toy *t, int32_t control, int32_t first, int32_t second, uint32_t extent_below) {
    toy_begin(t, 3, 8);
    uint32_t flag = control == ANEURALNETWORKS_IF ? toy_flag(t, 0, NNVTS_SUBGRAPH_INPUT) : 0;
    uint32_t x = toy_operand(t, 0, NNVTS_SUBGRAPH_INPUT, 4);
    uint32_t y = toy_operand(t, 0, NNVTS_SUBGRAPH_OUTPUT, 4);
    uint32_t g1 = toy_graph_operand(t, 0, 1), g2 = toy_graph_operand(t, 0, 2);
    for (uint32_t graph = 1; graph < 3; graph++) {
        uint32_t in = toy_operand(t, graph, NNVTS_SUBGRAPH_INPUT, extent_below), out;
        if (graph == 1 && control == ANEURALNETWORKS_WHILE)
            out = toy_flag(t, graph, NNVTS_SUBGRAPH_OUTPUT);
        else
            out = toy_operand(t, graph, NNVTS_SUBGRAPH_OUTPUT, 4);
        toy_operation(t, graph, graph == 1 ? first : second, 1, 1, &in, 1, &out);
    }
    if (control == ANEURALNETWORKS_IF)
        toy_operation(t, 0, control, 4, 4, (const uint32_t[]){flag, g1, g2, x}, 1, &y);
    else
        toy_operation(t, 0, control, 4, 3, (const uint32_t[]){g1, g2, x}, 1, &y);
    toy_end(t);
}

static void test_control_costs(void **state) {
    (void)state;
    struct toy t;
    float cost;
    struct nnv_rt_plan_options o = three(0.25f, 0.5f);
    a.driver.capabilities.if_performance.exec_time = 0.125f;
    a.driver.capabilities.while_performance.exec_time = 0.0625f;
    with_control(&t, ANEURALNETWORKS_IF, ADD, MUL, 4);
    assert_int_equal(chosen(&t, &o, 0, &cost), 0);
    assert_true(cost == 0.125f + 0.5f * (0.25f + 0.25f));
    a.driver.capabilities.if_performance.power_usage = 0.5f;
    o.preference = ANEURALNETWORKS_PREFER_LOW_POWER;
    assert_int_equal(chosen(&t, &o, 0, &cost), 0);
    assert_true(cost == 0.5f + 0.5f * (0.25f + 0.25f));
    o.preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER;
    toy_free(&t);
    with_control(&t, ANEURALNETWORKS_WHILE, ADD, MUL, 4);
    assert_int_equal(chosen(&t, &o, 0, &cost), 0);
    assert_true(cost == 0.0625f + 0.25f + 0.25f);
    /* 2 on b; the CPU's is 1 + 1 + 1. */
    a.driver.capabilities.while_performance.exec_time = FLT_MAX;
    b.driver.capabilities.while_performance.exec_time = 1;
    assert_int_equal(chosen(&t, &o, 0, &cost), 1);
    assert_true(cost == 2);
    b.driver.capabilities.while_performance.exec_time = 2.5f;
    assert_int_equal(chosen(&t, &o, 0, &cost), NNV_RT_INTERPRETED);
    assert_true(cost == 3);
    toy_free(&t);
}

/** a does additions alone: an IF of an addition and a multiplication is walked through. */
static void test_interpreted(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan *plan = NULL;
    struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    const int32_t add[] = {ADD, -1}, nothing[] = {-1};
    toy_supports_only(&a, add);
    toy_supports_only(&b, nothing);
    with_control(&t, ANEURALNETWORKS_IF, ADD, MUL, 4);
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    assert_false(plan->simple);
    const struct nnv_rt_graph *g = plan->graphs;
    assert_true(g[0].planned && g[1].planned && g[2].planned);
    assert_int_equal(g[0].step_count, 1);
    const struct nnv_rt_step *step = &g[0].steps[0];
    assert_int_equal(step->kind, NNV_RT_IF);
    assert_int_equal(step->condition, 0);
    assert_int_equal(step->graphs[0], 1);
    assert_int_equal(step->graphs[1], 2);
    assert_int_equal(step->input_count, 1);
    assert_int_equal(step->inputs[0], 1);
    assert_int_equal(step->outputs[0], 2);
    assert_ptr_equal(g[1].steps[0].device, devices[0]);
    assert_ptr_equal(g[2].steps[0].device, devices[2]);
    assert_int_equal(g[1].places[0].kind, NNV_RT_INPUT);
    assert_int_equal(g[1].places[1].kind, NNV_RT_OUTPUT);
    nnv_rt_plan_release(plan);
    /* Nothing of it is done better elsewhere: the CPU does the whole. */
    toy_supports_only(&a, nothing);
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    assert_true(plan->simple && plan->on_cpu);
    nnv_rt_plan_release(plan);
    /* Without the CPU among the devices nobody does it. */
    toy_supports_only(&a, add);
    o.device_count = 2;
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), ANEURALNETWORKS_BAD_DATA);
    toy_free(&t);
}

/** Sizes that are not known, outside or inside: the CPU does the whole, though a could, too. */
static void test_control_unknown_sizes(void **state) {
    (void)state;
    struct toy t;
    const struct nnv_rt_plan_options o = three(0.25f, 0.5f);
    with_control(&t, ANEURALNETWORKS_WHILE, ADD, MUL, 4);
    assert_int_equal(chosen(&t, &o, 0, NULL), 0);
    t.graphs[0].info.known[0] = false;
    assert_int_equal(chosen(&t, &o, 0, NULL), 2);
    toy_free(&t);
    with_control(&t, ANEURALNETWORKS_IF, ADD, MUL, 0);
    assert_int_equal(chosen(&t, &o, 0, NULL), 2);
    toy_free(&t);
}

/** An operation that the CPU does not know, within an IF: walked through, since a does it. */
static void test_extension_below(void **state) {
    (void)state;
    struct toy t;
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    const int32_t add[] = {ADD, -1}, nothing[] = {-1}, mul[] = {MUL, -1};
    toy_supports_only(&a, add);
    toy_supports_only(&b, nothing);
    toy_supports_only(&cpu, mul);
    with_control(&t, ANEURALNETWORKS_IF, ADD, MUL, 4);
    t.model.has_extension = true;
    assert_int_equal(chosen(&t, &o, 0, NULL), NNV_RT_INTERPRETED);
    toy_supports_only(&a, nothing);
    assert_int_equal(chosen(&t, &o, 0, NULL), NNV_RT_NO_DEVICE);
    toy_free(&t);
}

static bool apart(const struct nnv_rt_place *x, const struct nnv_rt_place *y) {
    return x->offset + x->bytes <= y->offset || y->offset + y->bytes <= x->offset;
}

static void test_loop_places(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan *plan = NULL;
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    const int32_t add[] = {ADD, -1}, nothing[] = {-1};
    toy_supports_only(&a, add);
    toy_supports_only(&b, nothing);
    with_control(&t, ANEURALNETWORKS_WHILE, MUL, ADD, 4);
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    const struct nnv_rt_step *step = &plan->graphs[0].steps[0];
    assert_int_equal(step->kind, NNV_RT_WHILE);
    assert_int_equal(step->input_count, 1);
    const struct nnv_rt_place *places[] = {&step->verdict, &step->carried[0][0], &step->carried[1][0]};
    assert_int_equal(places[0]->bytes, 1);
    assert_int_equal(places[1]->bytes, 16);
    assert_int_equal(places[2]->bytes, 16);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(places[i]->kind, NNV_RT_TEMPORARY);
        assert_true(places[i]->offset + places[i]->bytes <= plan->graphs[0].pool_bytes);
        for (int k = 0; k < i; k++) assert_true(apart(places[i], places[k]));
    }
    assert_int_equal(plan->graphs[0].pool_bytes, 192);
    nnv_rt_plan_release(plan);
    toy_free(&t);
}

/* -------------------------------------------------------------------- steps */

static void test_simple(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan *plan = NULL;
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    chain(&t, (const int32_t[]){ADD, MUL, -1});
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    assert_true(plan->simple);
    assert_false(plan->on_cpu);
    assert_int_equal(plan->graphs[0].step_count, 1);
    const struct nnv_rt_step *step = &plan->graphs[0].steps[0];
    assert_ptr_equal(step->device, devices[0]);
    assert_int_equal(step->operation_count, 2);
    assert_ptr_equal(step->model.main.operations, t.model.model.main.operations);
    assert_int_equal(step->inputs[0], 0);
    assert_int_equal(step->outputs[0], 2);
    assert_int_equal(plan->graphs[0].places[1].kind, NNV_RT_NOWHERE);
    assert_int_equal(plan->graphs[0].pool_bytes, 0);
    nnv_rt_plan_release(plan);
    toy_free(&t);
}

/** ADD on a, MUL on b, ADD on a: three steps; the two values between them live one after the other. */
static void test_there_and_back(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan *plan = NULL;
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    const int32_t add[] = {ADD, -1};
    toy_supports_only(&a, add);
    chain(&t, (const int32_t[]){ADD, ADD, MUL, ADD, MUL, -1});
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    const struct nnv_rt_graph *g = &plan->graphs[0];
    assert_false(plan->simple);
    assert_int_equal(g->step_count, 4);
    assert_int_equal(g->crossings, 3);
    assert_int_equal(nnv_rt_plan_crossings(plan), 3);
    assert_int_equal(g->places[1].kind, NNV_RT_NOWHERE);
    /* 2 -> 3 -> 4: 2 and 3 meet in step 1, 3 and 4 in step 2, 2 and 4 never: two places of 64 bytes. */
    for (int i = 2; i < 5; i++) assert_int_equal(g->places[i].kind, NNV_RT_TEMPORARY);
    assert_true(apart(&g->places[2], &g->places[3]) && apart(&g->places[3], &g->places[4]));
    assert_int_equal(g->places[2].offset, g->places[4].offset);
    assert_int_equal(g->pool_bytes, 128);
    assert_int_equal(g->places[5].kind, NNV_RT_OUTPUT);
    nnv_rt_plan_release(plan);
    toy_free(&t);
}

/** What one device makes of constants alone, for another, is a step without inputs. */
static void test_no_inputs(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan *plan = NULL;
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    const int32_t add[] = {ADD, -1};
    toy_supports_only(&a, add);
    toy_begin(&t, 1, 8);
    uint32_t in = toy_operand(&t, 0, NNVTS_SUBGRAPH_INPUT, 4);
    uint32_t constant = toy_operand(&t, 0, NNVTS_CONSTANT_COPY, 4);
    t.graphs[0].operands[constant].location.length = 16;
    uint32_t made = toy_binary(&t, 0, ADD, constant, constant, NNVTS_TEMPORARY_VARIABLE);
    toy_binary(&t, 0, MUL, made, in, NNVTS_SUBGRAPH_OUTPUT);
    toy_end(&t);
    static const float values[4];
    t.model.model.operand_values = values;
    t.model.model.operand_values_bytes = sizeof values;
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), ANEURALNETWORKS_OP_FAILED);
    /* On one device it is fine. */
    toy_supports_only(&a, (const int32_t[]){ADD, MUL, -1});
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    assert_true(plan->simple);
    nnv_rt_plan_release(plan);
    toy_free(&t);
}

/** A value of unknown size between steps: the driver that writes it must be of level 3 at least. */
static void test_unknown_sizes(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan *plan = NULL;
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    const int32_t add[] = {ADD, -1};
    toy_supports_only(&a, add);
    chain(&t, (const int32_t[]){ADD, MUL, -1});
    t.graphs[0].info.known[1] = false;
    t.graphs[0].info.bytes[1] = 0;
    a.device.driver_level = 2;
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), ANEURALNETWORKS_OP_FAILED);
    a.device.driver_level = 3;
    b.device.driver_level = 1;
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    assert_int_equal(plan->graphs[0].places[1].kind, NNV_RT_DYNAMIC);
    assert_int_equal(plan->graphs[0].places[1].index, 0);
    assert_int_equal(plan->graphs[0].dynamic_count, 1);
    assert_int_equal(plan->graphs[0].pool_bytes, 0);
    nnv_rt_plan_release(plan);
    /* Within one step it is nobody's business. */
    a.device.driver_level = 2;
    toy_supports_only(&a, (const int32_t[]){ADD, MUL, -1});
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    nnv_rt_plan_release(plan);
    toy_free(&t);
}

/* ------------------------------------------------------- plans of random graphs */

enum { OPERATIONS = 60, VALUES = OPERATIONS + 3 };

/** Operations on up to three of the earlier values and two inputs, of random sizes, some unknown. */
static void random_model(struct toy *t, struct nnv_rng *r, uint32_t n) {
    uint32_t values[VALUES], count = 0;
    bool read[VALUES] = {false};
    toy_begin(t, 1, n);
    values[count++] = toy_operand(t, 0, NNVTS_SUBGRAPH_INPUT, 4);
    values[count++] = toy_operand(t, 0, NNVTS_SUBGRAPH_INPUT, 8);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t in[3], nin = (uint32_t)nnv_rng_int(r, 1, 3);
        for (uint32_t k = 0; k < nin; k++) {
            uint32_t v = (uint32_t)nnv_rng_int(r, count > 12 && nnv_rng_int(r, 0, 2) > 0 ? count - 12 : 0, count - 1);
            in[k] = values[v];
            read[v] = true;
        }
        uint32_t extent = nnv_rng_int(r, 0, 9) == 0 ? 0 : (uint32_t)nnv_rng_int(r, 1, 1000);
        uint32_t out = toy_operand(t, 0, NNVTS_TEMPORARY_VARIABLE, extent);
        toy_operation(t, 0, (int32_t)nnv_rng_int(r, 0, 7), 1, nin, in, 1, &out);
        values[count++] = out;
    }
    for (uint32_t i = 2; i < count; i++)
        if (!read[i] || nnv_rng_int(r, 0, 9) == 0) toy_make_output(t, 0, values[i]);
    toy_end(t);
}

/** What one walk through the steps, in order, sees of each operand. */
struct seen {
    int written, last;
};

static void check_step(const struct toy *t, const struct nnv_rt_graph *g, const struct nnv_rt_step *step, int s,
                       struct seen *seen) {
    const struct nnvts_subgraph *main = &t->model.model.main, *own = &step->model.main;
    assert_int_equal(step->kind, NNV_RT_EXECUTE);
    assert_int_equal(own->operation_count, step->operation_count);
    assert_int_equal(own->input_count, step->input_count);
    assert_int_equal(own->output_count, step->output_count);
    assert_true(step->input_count > 0 && step->output_count > 0);
    for (uint32_t k = 0; k < step->operation_count; k++) {
        const struct toy_device *d = (const struct toy_device *)step->device->driver;
        int32_t type = main->operations[step->operations[k]].type;
        assert_true(d->supports[type]);
        assert_int_equal(own->operations[k].type, type);
    }
    for (uint32_t k = 0; k < step->input_count; k++) {
        uint32_t o = step->inputs[k];
        assert_int_equal(own->operands[own->inputs[k]].lifetime, NNVTS_SUBGRAPH_INPUT);
        assert_int_not_equal(g->places[o].kind, NNV_RT_NOWHERE);
        if (main->operands[o].lifetime != NNVTS_SUBGRAPH_INPUT)
            assert_true(seen[o].written >= 0 && seen[o].written < s);
        seen[o].last = s;
    }
    for (uint32_t k = 0; k < step->output_count; k++) {
        uint32_t o = step->outputs[k];
        assert_int_equal(own->operands[own->outputs[k]].lifetime, NNVTS_SUBGRAPH_OUTPUT);
        assert_int_equal(seen[o].written, -1);
        seen[o].written = seen[o].last = s;
    }
}

/** No two temporaries whose lives meet overlap, in a pool that is not much larger than what lives at a time. */
static uint64_t check_lives(const struct toy *t, const struct nnv_rt_graph *g, const struct seen *seen) {
    uint32_t n = t->model.model.main.operand_count;
    uint64_t most = 0;
    for (uint32_t s = 0; s < g->step_count; s++) {
        uint64_t living = 0;
        for (uint32_t i = 0; i < n; i++) {
            const struct nnv_rt_place *x = &g->places[i];
            if (x->kind != NNV_RT_TEMPORARY || seen[i].written > (int)s || seen[i].last < (int)s) continue;
            living += (x->bytes + 63) / 64 * 64;
            assert_int_equal(x->offset % 64, 0);
            assert_int_equal(x->bytes, t->graphs[0].info.bytes[i]);
            assert_true(x->offset + x->bytes <= g->pool_bytes);
            for (uint32_t k = 0; k < i; k++) {
                const struct nnv_rt_place *y = &g->places[k];
                if (y->kind != NNV_RT_TEMPORARY || seen[k].written > (int)s || seen[k].last < (int)s) continue;
                assert_true(apart(x, y));
            }
        }
        if (living > most) most = living;
    }
    return most;
}

static void test_random_plans(void **state) {
    (void)state;
    uint64_t pools = 0, least = 0, all = 0;
    for (uint32_t round = 0; round < 400; round++) {
        struct nnv_rng r = nnv_rng_make(5, round, 0);
        struct toy t;
        struct nnv_rt_plan *plan = NULL;
        const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
        struct seen seen[VALUES];
        for (int i = 0; i < TOY_TYPES; i++) {
            a.supports[i] = nnv_rng_int(&r, 0, 1);
            b.supports[i] = nnv_rng_int(&r, 0, 1);
        }
        random_model(&t, &r, (uint32_t)nnv_rng_int(&r, 1, OPERATIONS));
        assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
        const struct nnv_rt_graph *g = &plan->graphs[0];
        uint32_t done = 0, dynamic = 0;
        for (int i = 0; i < VALUES; i++) seen[i] = (struct seen){-1, -1};
        for (uint32_t s = 0; s < g->step_count; s++) {
            check_step(&t, g, &g->steps[s], (int)s, seen);
            done += g->steps[s].operation_count;
        }
        assert_int_equal(done, t.model.model.main.operation_count);
        least += check_lives(&t, g, seen);
        pools += g->pool_bytes;
        for (uint32_t i = 0; i < t.model.model.main.operand_count; i++) {
            const struct nnv_rt_place *p = &g->places[i];
            bool unknown = !t.graphs[0].info.known[i];
            if (p->kind == NNV_RT_TEMPORARY) all += (p->bytes + 63) / 64 * 64;
            if (p->kind == NNV_RT_DYNAMIC) assert_true(unknown && p->index < g->dynamic_count);
            dynamic += p->kind == NNV_RT_DYNAMIC;
            if (p->kind == NNV_RT_TEMPORARY) assert_false(unknown);
        }
        assert_int_equal(dynamic, g->dynamic_count);
        nnv_rt_plan_release(plan);
        toy_free(&t);
    }
    print_message("pools: %.3f of what lives at a time; without sharing %.3f\n", (double)pools / (double)least,
                  (double)all / (double)least);
    assert_true(pools >= least && (double)pools <= 1.25 * (double)least);
}

/* ---------------------------------------------------------------- questions */

struct visits {
    int count;
    const struct nnv_rt_step *steps[8];
    bool outputs[8];
    uint32_t io[8];
};

static void note_visit(void *context, const struct nnv_rt_step *step, bool is_output, uint32_t io) {
    struct visits *v = context;
    assert_true(v->count < 8);
    v->steps[v->count] = step;
    v->outputs[v->count] = is_output;
    v->io[v->count++] = io;
}

static void test_roles(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan *plan = NULL;
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    const int32_t add[] = {ADD, -1}, nothing[] = {-1};
    toy_supports_only(&a, add);
    toy_supports_only(&b, nothing);
    with_control(&t, ANEURALNETWORKS_IF, ADD, MUL, 4);
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    struct visits v = {0};
    /* The condition is the runtime's own business; x goes to both branches, y comes from both. */
    assert_int_equal(nnv_rt_plan_roles(plan, false, 0, note_visit, &v), OK);
    assert_int_equal(v.count, 0);
    assert_int_equal(nnv_rt_plan_roles(plan, false, 1, note_visit, &v), OK);
    assert_int_equal(v.count, 2);
    assert_ptr_equal(v.steps[0], &plan->graphs[1].steps[0]);
    assert_ptr_equal(v.steps[1], &plan->graphs[2].steps[0]);
    assert_false(v.outputs[0]);
    v.count = 0;
    assert_int_equal(nnv_rt_plan_roles(plan, true, 0, note_visit, &v), OK);
    assert_int_equal(v.count, 2);
    assert_true(v.outputs[0] && v.outputs[1]);
    nnv_rt_plan_release(plan);
    /* Both branches the same graph: its step is visited once. */
    t.graphs[0].operands[4].location.offset = 0;
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    v.count = 0;
    assert_int_equal(nnv_rt_plan_roles(plan, false, 1, note_visit, &v), OK);
    assert_int_equal(v.count, 1);
    nnv_rt_plan_release(plan);
    toy_free(&t);
    /* Of a WHILE the inputs are read in its first round; its outputs are copied. */
    with_control(&t, ANEURALNETWORKS_WHILE, MUL, ADD, 4);
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    v.count = 0;
    assert_int_equal(nnv_rt_plan_roles(plan, false, 0, note_visit, &v), OK);
    assert_int_equal(v.count, 2);
    v.count = 0;
    assert_int_equal(nnv_rt_plan_roles(plan, true, 0, note_visit, &v), OK);
    assert_int_equal(v.count, 0);
    nnv_rt_plan_release(plan);
    toy_free(&t);
}

/** An output that another step reads plays a part there, too. */
static void test_output_that_is_read(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan *plan = NULL;
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    const int32_t add[] = {ADD, -1};
    toy_supports_only(&a, add);
    chain(&t, (const int32_t[]){ADD, MUL, -1});
    toy_make_output(&t, 0, 1);
    toy_end(&t);
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    assert_int_equal(plan->graphs[0].places[1].kind, NNV_RT_OUTPUT);
    assert_int_equal(plan->graphs[0].places[1].index, 1);
    struct visits v = {0};
    assert_int_equal(nnv_rt_plan_roles(plan, true, 1, note_visit, &v), OK);
    assert_int_equal(v.count, 2);
    assert_true(v.outputs[0]);
    assert_false(v.outputs[1]);
    nnv_rt_plan_release(plan);
    toy_free(&t);
}

static void test_dot(void **state) {
    (void)state;
    struct toy t;
    struct nnv_rt_plan *plan = NULL;
    struct nnv_text dot = {0};
    const struct nnv_rt_plan_options o = three(0.5f, 0.6f);
    const int32_t add[] = {ADD, -1};
    toy_supports_only(&a, add);
    b.device.name = "b \"quoted\"";
    chain(&t, (const int32_t[]){ADD, MUL, -1});
    assert_int_equal(nnv_rt_plan_make(&t.model, &o, &plan), OK);
    assert_int_equal(nnv_rt_plan_dot(plan, &dot), OK);
    assert_non_null(strstr(dot.data, "label=\"step 0: a\""));
    assert_non_null(strstr(dot.data, "label=\"step 1: b \\\"quoted\\\"\""));
    assert_non_null(strstr(dot.data, "g0_n0 [label=\"0 ADD\", fillcolor=\"#8dd3c7\"]"));
    assert_non_null(strstr(dot.data, "g0_n1 [label=\"1 MUL\", fillcolor=\"#ffffb3\"]"));
    assert_non_null(strstr(dot.data, "g0_n0 -> g0_n1 [label=\"%1\", penwidth=2"));
    assert_non_null(strstr(dot.data, "g0_o0 -> g0_n0;"));
    assert_non_null(strstr(dot.data, "g0_n1 -> g0_o2;"));
    nnv_text_free(&dot);
    nnv_rt_plan_release(plan);
    toy_free(&t);
}

/* ---------------------------------------------------------------------- logging */

/** NULL: not set. In a child: the variable is read once. */
static void check_tags(const char *tags, unsigned mask) {
    const pid_t child = fork();
    int status = -1;
    if (child == 0) {
        unsetenv("NNVTS_VLOG");
        if (tags) setenv("NNVTS_VLOG", tags, 1);
        _exit(nnv_rt_vlog_mask() != mask);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_tags(void **state) {
    (void)state;
    check_tags(NULL, 0);
    check_tags("", 0);
    check_tags("execution, memory", 1u << NNV_RT_LOG_EXECUTION | 1u << NNV_RT_LOG_MEMORY);
    check_tags("all", (1u << NNV_RT_LOG_TAG_COUNT) - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tags), /* first: nothing has read the tags yet */
        cmocka_unit_test(test_cheapest),
        cmocka_unit_test(test_cpu_wins_ties_anywhere),
        cmocka_unit_test(test_preference_and_types),
        cmocka_unit_test(test_supported),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_bad_answers),
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_control_costs),
        cmocka_unit_test(test_interpreted),
        cmocka_unit_test(test_control_unknown_sizes),
        cmocka_unit_test(test_extension_below),
        cmocka_unit_test(test_loop_places),
        cmocka_unit_test(test_simple),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_no_inputs),
        cmocka_unit_test(test_unknown_sizes),
        cmocka_unit_test(test_random_plans),
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_output_that_is_read),
        cmocka_unit_test(test_dot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
