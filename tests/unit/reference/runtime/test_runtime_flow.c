/* SPDX-License-Identifier: Apache-2.0 */
/** IF and WHILE that the runtime walks through, since what is below them is best done by several devices. */
#include "base/clock.h"
#include "tests/kit/runtime.h"

/** One graph: x OP c -> y. */
static struct api_net step_graph(int32_t type, float value) {
    struct api_net n = api_net_new();
    const uint32_t x = api_vec(&n, 2), y = api_vec(&n, 2), c = api_constant(&n, 2, (float[]){value, value});
    api_binary(&n, type, x, c, y);
    api_net_finish(&n, LIST(x), LIST(y));
    return n;
}

/** IF flag: x + 1, else x * 3; then minus 1. */
struct choice {
    struct api_net yes, no, main;
};

static struct choice choice_new(void) {
    struct choice t = {step_graph(ANEURALNETWORKS_ADD, 1), step_graph(ANEURALNETWORKS_MUL, 3), api_net_new()};
    struct api_net *n = &t.main;
    const uint32_t condition = api_flag(n), x = api_vec(n, 2), chosen = api_vec(n, 2), out = api_vec(n, 2);
    api_operation(n, ANEURALNETWORKS_IF, LIST(condition, api_graph(n, &t.yes), api_graph(n, &t.no), x), LIST(chosen));
    api_binary(n, ANEURALNETWORKS_SUB, chosen, api_constant(n, 2, (float[]){1, 1}), out);
    api_net_finish(n, LIST(condition, x), LIST(out));
    return t;
}

static void choice_free(struct choice *t) {
    api_net_free(&t->main);
    api_net_free(&t->yes);
    api_net_free(&t->no);
}

static void if_takes_one_branch(void **state) {
    (void)state;
    struct choice t = choice_new();
    ANeuralNetworksCompilation *c = api_compile(&t.main);
    assert_int_equal(c->plan->graphs[0].steps[0].kind, NNV_RT_IF); /* else this tests nothing */
    uint8_t yes = 1;
    float x[] = {5, 7}, out[2];
    ANeuralNetworksExecution *e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, &yes, 1));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, x, sizeof x));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, sizeof out));
    OK(ANeuralNetworksExecution_setReusable(e, true));
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(out, ((float[]){5, 7}), sizeof out);
    assert_int_equal(adder.executed, 1);
    assert_int_equal(multiplier.executed, 0);
    yes = 0;
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(out, ((float[]){14, 20}), sizeof out);
    assert_int_equal(adder.executed, 1);
    assert_int_equal(multiplier.executed, 1);
    assert_ptr_equal(multiplier.pools[multiplier.in[0].location.pool].data, x); /* passed on, not copied */
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    choice_free(&t);
}

static void a_branch_falls_back(void **state) {
    (void)state;
    struct choice t = choice_new();
    ANeuralNetworksCompilation *c = api_compile(&t.main);
    const uint8_t no = 0;
    float x[] = {5, 7}, out[2];
    multiplier.fail = NNVTS_STATUS_GENERAL_FAILURE;
    ANeuralNetworksExecution *e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, &no, 1));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, x, sizeof x));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, sizeof out));
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(out, ((float[]){14, 20}), sizeof out);
    assert_int_equal(multiplier.executed, 1);
    assert_null(c->cpu_plan); /* the step alone */
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    choice_free(&t);
}

/** WHILE i[0] < limit[0]: i = i + 1, x = x * 2. Out: i and x. limit is carried along, unchanged. */
struct loop {
    struct api_net condition, body, main;
};

static struct loop loop_new(bool endless) {
    struct loop t = {api_net_new(), api_net_new(), api_net_new()};
    struct api_net *n = &t.condition;
    uint32_t i = api_vec(n, 1), x = api_vec(n, 2), limit = api_vec(n, 1), go_on = api_flag(n);
    api_operation(n, endless ? ANEURALNETWORKS_EQUAL : ANEURALNETWORKS_LESS, LIST(i, endless ? i : limit), LIST(go_on));
    api_net_finish(n, LIST(i, x, limit), LIST(go_on));
    n = &t.body;
    i = api_vec(n, 1), x = api_vec(n, 2), limit = api_vec(n, 1);
    uint32_t next = api_vec(n, 1), more = api_vec(n, 2);
    api_binary(n, ANEURALNETWORKS_ADD, i, api_constant(n, 1, (float[]){1}), next);
    api_binary(n, ANEURALNETWORKS_MUL, x, api_constant(n, 2, (float[]){2, 2}), more);
    api_net_finish(n, LIST(i, x, limit), LIST(next, more));
    n = &t.main;
    i = api_constant(n, 1, (float[]){0}), x = api_vec(n, 2), limit = api_vec(n, 1);
    next = api_vec(n, 1), more = api_vec(n, 2);
    api_operation(n, ANEURALNETWORKS_WHILE, LIST(api_graph(n, &t.condition), api_graph(n, &t.body), i, x, limit),
                  LIST(next, more));
    api_net_finish(n, LIST(x, limit), LIST(next, more));
    return t;
}

static void loop_free(struct loop *t) {
    api_net_free(&t->main);
    api_net_free(&t->condition);
    api_net_free(&t->body);
}

static ANeuralNetworksExecution *loop_execution(ANeuralNetworksCompilation *c, const float *x, const float *limit,
                                                float *count, float *out) {
    ANeuralNetworksExecution *e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, x, 8));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, limit, 4));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, count, 4));
    OK(ANeuralNetworksExecution_setOutput(e, 1, NULL, out, 8));
    return e;
}

static void while_carries_values(void **state) {
    (void)state;
    struct loop t = loop_new(false);
    ANeuralNetworksCompilation *c = api_compile(&t.main);
    assert_int_equal(c->plan->graphs[0].steps[0].kind, NNV_RT_WHILE);
    float x[] = {3, 5}, limit = 4, count = -1, out[2] = {0};
    ANeuralNetworksExecution *e = loop_execution(c, x, &limit, &count, out);
    OK(ANeuralNetworksExecution_setReusable(e, true));
    OK(ANeuralNetworksExecution_compute(e));
    assert_true(count == 4);
    assert_memory_equal(out, ((float[]){48, 80}), sizeof out); /* 2 to the 4th */
    assert_int_equal(adder.executed, 4);
    assert_int_equal(multiplier.executed, 4);
    limit = 0; /* no iteration: what came in goes out */
    OK(ANeuralNetworksExecution_compute(e));
    assert_true(count == 0);
    assert_memory_equal(out, x, sizeof out);
    assert_int_equal(multiplier.executed, 4);
    limit = 1;
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(out, ((float[]){6, 10}), sizeof out);
    assert_memory_equal(x, ((float[]){3, 5}), sizeof x);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    loop_free(&t);
}

static void while_in_a_burst(void **state) {
    (void)state;
    struct loop t = loop_new(false);
    ANeuralNetworksCompilation *c = api_compile(&t.main);
    ANeuralNetworksBurst *burst = NULL;
    float x[] = {3, 5}, limit = 3, count, out[2];
    OK(ANeuralNetworksBurst_create(c, &burst));
    for (int i = 0; i < 2; i++) {
        ANeuralNetworksExecution *e = loop_execution(c, x, &limit, &count, out);
        OK(ANeuralNetworksExecution_burstCompute(e, burst));
        assert_memory_equal(out, ((float[]){24, 40}), sizeof out);
        ANeuralNetworksExecution_free(e);
    }
    assert_int_equal(multiplier.in_burst, 6);
    assert_int_equal(multiplier.bursts, 1);
    assert_int_equal(multiplier.executed, 0);
    ANeuralNetworksBurst_free(burst);
    assert_int_equal(multiplier.released_bursts, 1);
    ANeuralNetworksCompilation_free(c);
    loop_free(&t);
}

static void while_has_a_timeout(void **state) {
    (void)state;
    struct loop t = loop_new(true);
    ANeuralNetworksCompilation *c = api_compile(&t.main);
    assert_int_equal(c->plan->graphs[0].steps[0].kind, NNV_RT_WHILE);
    float x[] = {3, 5}, limit = 3, count, out[2];
    uint32_t rank;
    ANeuralNetworksExecution *e = loop_execution(c, x, &limit, &count, out);
    OK(ANeuralNetworksExecution_setLoopTimeout(e, 30000000));
    const uint64_t began = nnv_now_ns();
    IS(MISSED_DEADLINE_TRANSIENT, ANeuralNetworksExecution_compute(e));
    assert_true(nnv_now_ns() - began >= 30000000);
    assert_true(multiplier.executed > 0);
    assert_null(c->cpu_plan); /* the CPU would not end either: it was not asked */
    IS(BAD_STATE, ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank));
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    loop_free(&t);
}

static void while_output_too_small(void **state) {
    (void)state;
    struct loop t = loop_new(false);
    ANeuralNetworksCompilation *c = api_compile(&t.main);
    float x[] = {3, 5}, limit = 3, count, out[2];
    ANeuralNetworksExecution *e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, x, 8));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, &limit, 4));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, &count, 4));
    IS(BAD_DATA, ANeuralNetworksExecution_setOutput(e, 1, NULL, out, 4)); /* its size is known */
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    loop_free(&t);
}

/** IF flag: WHILE ..., else x: a loop in a branch, with the limit from outside. */
static void control_flow_nests(void **state) {
    (void)state;
    struct loop loop = loop_new(false);
    struct api_net yes = api_net_new(), no = api_net_new(), n = api_net_new();
    uint32_t x = api_vec(&yes, 2), limit = api_vec(&yes, 1), i = api_constant(&yes, 1, (float[]){0}),
             next = api_vec(&yes, 1);
    uint32_t more = api_vec(&yes, 2);
    api_operation(&yes, ANEURALNETWORKS_WHILE,
                  LIST(api_graph(&yes, &loop.condition), api_graph(&yes, &loop.body), i, x, limit), LIST(next, more));
    api_net_finish(&yes, LIST(x, limit), LIST(more));
    x = api_vec(&no, 2), limit = api_vec(&no, 1), more = api_vec(&no, 2);
    api_binary(&no, ANEURALNETWORKS_ADD, x, api_constant(&no, 2, (float[]){1, 1}), more);
    api_net_finish(&no, LIST(x, limit), LIST(more));
    const uint32_t condition = api_flag(&n);
    x = api_vec(&n, 2), limit = api_vec(&n, 1), more = api_vec(&n, 2);
    api_operation(&n, ANEURALNETWORKS_IF, LIST(condition, api_graph(&n, &yes), api_graph(&n, &no), x, limit),
                  LIST(more));
    api_net_finish(&n, LIST(condition, x, limit), LIST(more));
    ANeuralNetworksCompilation *c = api_compile(&n);
    uint8_t flags = 1;
    const float values[] = {3, 5}, times = 5;
    float out[2] = {0};
    ANeuralNetworksExecution *e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, &flags, 1));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, values, 8));
    OK(ANeuralNetworksExecution_setInput(e, 2, NULL, &times, 4));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, 8));
    OK(ANeuralNetworksExecution_setReusable(e, true));
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(out, ((float[]){96, 160}), sizeof out);
    assert_int_equal(multiplier.executed, 5);
    flags = 0;
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(out, ((float[]){4, 6}), sizeof out);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
    api_net_free(&yes);
    api_net_free(&no);
    loop_free(&loop);
}

int main(void) {
    setenv("NNVTS_LOG", "0", 1);
#define FAKES(f) cmocka_unit_test_setup_teardown(f, open_fakes, close_fakes)
    const struct CMUnitTest tests[] = {
        FAKES(if_takes_one_branch), FAKES(a_branch_falls_back),    FAKES(while_carries_values), FAKES(while_in_a_burst),
        FAKES(while_has_a_timeout), FAKES(while_output_too_small), FAKES(control_flow_nests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
