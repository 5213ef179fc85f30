/* SPDX-License-Identifier: Apache-2.0 */
/** @file graph.c Graphs: malformed ones that finish must refuse, odd ones that it must accept and compute. */
#include <stdio.h>

#include "harness/suites/api/api.h"

enum { MAX_TENSORS = 10, MAX_ADDS = 6, MAX_ENDS = 3 };

/**
 * Additions of float32 [2]: "014" is tensor 4 = tensor 0 + tensor 1. Inputs have the values (i + 1) * {1, 10};
 * tensor `constant` (if not 0) is {100, 1000}.
 */
struct graph {
    const char *adds[MAX_ADDS];
    const char *inputs, *outputs; /**< "01" */
    int tensors, constant;
    unsigned finish;      /**< what Model_finish must answer */
    unsigned add;         /**< what the last addOperation may answer, too; 0: NO_ERROR alone */
    float want[MAX_ENDS]; /**< the first elements of the outputs; the second are ten times that */
};

enum { NOTHING_WRONG = NNV_API_NO_ERROR, WRONG = NNV_API_BAD_DATA };

static bool end(struct nnv_api *a, const struct graph *g, struct nnv_api_net *net) {
    uint32_t ends[2][MAX_ENDS], n[2] = {0};
    for (const char *p = g->inputs; *p; p++) ends[0][n[0]++] = (uint32_t)(*p - '0');
    for (const char *p = g->outputs; *p; p++) ends[1][n[1]++] = (uint32_t)(*p - '0');
    return OK(Model_identifyInputsAndOutputs, net->model, n[0], ends[0], n[1], ends[1]) &&
           nnv_api_check(a, "Model_finish", a->nn->Model_finish(net->model), g->finish) && g->finish == NOTHING_WRONG;
}

static bool build(struct nnv_api *a, const struct graph *g, struct nnv_api_net *net) {
    static const float constant[] = {100, 1000};
    *net = nnv_api_net(a);
    for (int i = 0; i < g->tensors; i++)
        if (g->constant && i == g->constant)
            nnv_api_constant(net, OF(FLOAT32, 2), constant, sizeof constant);
        else
            nnv_api_add(net, OF(FLOAT32, 2));
    uint32_t none = nnv_api_int(net, 0);
    for (int i = 0; i < MAX_ADDS && g->adds[i] && net->ok; i++) {
        const char *t = g->adds[i];
        const uint32_t in[] = {(uint32_t)(t[0] - '0'), (uint32_t)(t[1] - '0'), none}, out = (uint32_t)(t[2] - '0');
        int code = a->nn->Model_addOperation(net->model, ANEURALNETWORKS_ADD, 3, in, 1, &out);
        net->operations++;
        if (!nnv_api_check(a, "Model_addOperation", code, NNV_API_NO_ERROR | g->add)) return false;
        if (code != ANEURALNETWORKS_NO_ERROR) return false; /* refused before the end, which is as well */
    }
    return net->ok && end(a, g, net);
}

static void run_graph(struct nnv_api *a) {
    const struct graph *g = a->c->data;
    struct nnv_api_net net;
    float in[MAX_ENDS][2], out[MAX_ENDS][2] = {{0}};
    if (!build(a, g, &net)) return;
    ANeuralNetworksExecution *execution = nnv_api_execution(a, nnv_api_compiled(&net));
    if (!execution) return;
    for (int i = 0; g->inputs[i]; i++) {
        in[i][0] = (float)(g->inputs[i] - '0' + 1);
        in[i][1] = 10 * in[i][0];
        if (!OK(Execution_setInput, execution, i, NULL, in[i], sizeof in[i])) return;
    }
    for (int i = 0; g->outputs[i]; i++)
        if (!OK(Execution_setOutput, execution, i, NULL, out[i], sizeof out[i])) return;
    if (!nnv_api_compute(a, execution)) return;
    for (int i = 0; g->outputs[i]; i++) {
        char what[32];
        const float want[] = {g->want[i], 10 * g->want[i]};
        snprintf(what, sizeof what, "output %d", i);
        nnv_api_check_floats(a, what, out[i], want, 2);
    }
}

/* ---------------------------------------------------------- the trivial models */

/** The sum, through an event where there are events. */
static void add_two(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_READY)) return;
    ANeuralNetworksEvent *event = nnv_api_start(a, a->execution);
    if (event && OK(Event_wait, event)) nnv_api_check_sum(a);
}

/** out = (in0 `first` in1) `second` constant {1, 2, 3}, on [rows, 3]. */
static void three(struct nnv_api *a, ANeuralNetworksOperationType first, ANeuralNetworksOperationType second,
                  const float *want) {
    static const float in0[] = {1, 2, 3, 4, 5, 6}, in1[] = {2, 0.5f, -1}, last[] = {1, 2, 3};
    struct nnv_api_net net = nnv_api_net(a);
    float out[6] = {0};
    uint32_t x = nnv_api_add(&net, OF(FLOAT32, 2, 3)), y = nnv_api_add(&net, OF(FLOAT32, 3));
    uint32_t c = nnv_api_constant(&net, OF(FLOAT32, 1, 3), last, sizeof last), none = nnv_api_int(&net, 0);
    uint32_t t = nnv_api_add(&net, OF(FLOAT32, 2, 3)), z = nnv_api_add(&net, OF(FLOAT32, 2, 3));
    nnv_api_operate(&net, first, LIST(x, y, none), LIST(t));
    nnv_api_operate(&net, second, LIST(t, c, none), LIST(z));
    if (!nnv_api_net_end(&net, LIST(x, y), LIST(z))) return;
    ANeuralNetworksExecution *execution = nnv_api_execution(a, nnv_api_compiled(&net));
    if (execution && OK(Execution_setInput, execution, 0, NULL, in0, sizeof in0) &&
        OK(Execution_setInput, execution, 1, NULL, in1, sizeof in1) &&
        OK(Execution_setOutput, execution, 0, NULL, out, sizeof out) && nnv_api_compute(a, execution))
        nnv_api_check_floats(a, "the output", out, want, 6);
}

static void add_three(struct nnv_api *a) {
    static const float want[] = {4, 4.5f, 5, 7, 7.5f, 8};
    three(a, ANEURALNETWORKS_ADD, ANEURALNETWORKS_ADD, want);
}

static void mul_add(struct nnv_api *a) {
    static const float want[] = {3, 3, 0, 9, 4.5f, -3};
    three(a, ANEURALNETWORKS_MUL, ANEURALNETWORKS_ADD, want);
}

static void add_mul(struct nnv_api *a) {
    static const float want[] = {3, 5, 6, 6, 11, 15};
    three(a, ANEURALNETWORKS_ADD, ANEURALNETWORKS_MUL, want);
}

static void automatic(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_FINISHED)) return;
    ANeuralNetworksCompilation *compilation = nnv_api_automatic(a, a->model);
    if (!compilation || !OK(Compilation_finish, compilation)) return;
    ANeuralNetworksExecution *execution = nnv_api_execution(a, compilation);
    if (nnv_api_set_all(a, execution) && nnv_api_compute(a, execution)) nnv_api_check_sum(a);
}

static void on_two_devices(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_FINISHED)) return;
    ANeuralNetworksCompilation *compilation = nnv_api_for_two(&a->net);
    if (!compilation || !OK(Compilation_finish, compilation)) return;
    ANeuralNetworksExecution *execution = nnv_api_execution(a, compilation);
    if (nnv_api_set_all(a, execution) && nnv_api_compute(a, execution)) nnv_api_check_sum(a);
}

static void long_chain(struct nnv_api *a) {
    struct nnv_api_net net;
    float in = 0.5f, out = 0, want = 1000.5f;
    if (!nnv_api_net_chain(a, 1, 1000, &net)) return;
    ANeuralNetworksExecution *execution = nnv_api_execution(a, nnv_api_compiled(&net));
    if (execution && OK(Execution_setInput, execution, 0, NULL, &in, sizeof in) &&
        OK(Execution_setOutput, execution, 0, NULL, &out, sizeof out) && nnv_api_compute(a, execution))
        nnv_api_check_floats(a, "1000 additions of 1 to 0.5", &out, &want, 1);
}

/* ------------------------------------------------------------- orders of calls */

/** Step of out = in0 + in1: operands, value of the activation, operation, inputs and outputs. */
static void take_step(struct nnv_api_net *net, char step) {
    static const uint32_t in[] = {0, 1, 2}, out[] = {3};
    static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
    struct nnv_api *a = net->a;
    switch (step) {
    case 'o':
        for (uint32_t i = 0; i < 4; i++) nnv_api_add(net, i == 2 ? SCALAR(INT32) : OF(FLOAT32, 2, 2));
        break;
    case 'v':
        net->ok = net->ok && OK(Model_setOperandValue, net->model, 2, &none, sizeof none);
        break;
    case 'a':
        nnv_api_operate(net, ANEURALNETWORKS_ADD, 3, in, 1, out);
        break;
    case 'i':
        net->ok = net->ok && OK(Model_identifyInputsAndOutputs, net->model, 2, in, 1, out);
        break;
    default:
        net->ok = false;
    }
}

static void compute_sum(struct nnv_api *a, struct nnv_api_net *net) {
    if (!net->ok || !OK(Model_finish, net->model)) return;
    ANeuralNetworksExecution *execution = nnv_api_execution(a, nnv_api_compiled(net));
    if (nnv_api_set_all(a, execution) && nnv_api_compute(a, execution)) nnv_api_check_sum(a);
}

/** The steps in the order that the case says; a case with two orders builds two models by turns. */
struct order {
    const char *first, *second;
};

static void run_order(struct nnv_api *a) {
    const struct order *o = a->c->data;
    struct nnv_api_net one = nnv_api_net(a), two = {.a = a};
    if (o->second) two = nnv_api_net(a);
    for (size_t i = 0; o->first[i]; i++) {
        take_step(&one, o->first[i]);
        if (o->second) take_step(&two, o->second[i]);
    }
    compute_sum(a, &one);
    if (o->second) compute_sum(a, &two);
}

#define ORDER(what, ...)                                                                                               \
    {                                                                                                                  \
        .name = "order/" what, .run = run_order, .data = &(const struct order) { __VA_ARGS__ }                         \
    }

#define GRAPH(what, ...)                                                                                               \
    {                                                                                                                  \
        .name = "graph/" what, .run = run_graph, .data = &(const struct graph) { __VA_ARGS__ }                         \
    }

static const struct nnv_api_case cases[] = {
    /* Tensors 0 and 1 are inputs, also where they are constants. */
    GRAPH("chain", {"012", "223"}, "01", "3", 4, 0, NOTHING_WRONG, 0, {6}),
    GRAPH("against_run_order", {"223", "012"}, "01", "3", 4, 0, NOTHING_WRONG, 0, {6}),
    GRAPH("cycle_of_one", {"233", "012"}, "01", "3", 4, 0, WRONG, 0, {0}),
    GRAPH("cycle_of_two", {"032", "123"}, "01", "2", 4, 0, WRONG, 0, {0}),
    GRAPH("cycle_of_three", {"042", "123", "234"}, "01", "4", 5, 0, WRONG, 0, {0}),
    GRAPH("unwritten_in_the_midst", {"013", "345", "056"}, "01", "6", 7, 0, WRONG, 0, {0}),
    GRAPH("missing_write", {"023"}, "01", "3", 4, 0, WRONG, 0, {0}),
    GRAPH("unwritten_output", {"013"}, "01", "23", 4, 0, WRONG, 0, {0}),
    GRAPH("written_twice", {"012", "002", "223"}, "01", "3", 4, 0, WRONG, WRONG, {0}),
    GRAPH("output_written_twice", {"012", "112"}, "01", "2", 3, 0, WRONG, WRONG, {0}),
    GRAPH("input_written", {"012", "001"}, "01", "2", 3, 0, WRONG, WRONG, {0}),
    GRAPH("constant_written", {"012", "013"}, "01", "2", 4, 3, WRONG, WRONG, {0}),
    GRAPH("dead_operation", {"012", "003"}, "01", "2", 4, 0, NOTHING_WRONG, 0, {3}),
    GRAPH("output_read_on", {"012", "023"}, "01", "23", 4, 0, NOTHING_WRONG, 0, {3, 4}),
    GRAPH("diamond", {"012", "023", "124", "345"}, "01", "5", 6, 0, NOTHING_WRONG, 0, {9}),
    GRAPH("input_read_twice", {"002"}, "0", "2", 3, 1, NOTHING_WRONG, 0, {2}),
    GRAPH("constant", {"012"}, "0", "2", 3, 1, NOTHING_WRONG, 0, {101}),
    GRAPH("unused_input_all_constant", {"112"}, "0", "2", 3, 1, NOTHING_WRONG, 0, {200}),
    GRAPH("unused_input", {"112"}, "01", "2", 3, 0, NOTHING_WRONG, 0, {4}),
    GRAPH("ends_in_other_order", {"012", "113", "004"}, "10", "432", 5, 0, NOTHING_WRONG, 0, {2, 4, 3}),
    GRAPH("three_against_run_order", {"345", "124", "013"}, "012", "5", 6, 0, NOTHING_WRONG, 0, {8}),
    ORDER("identified_before_operations", "oiva", NULL),
    ORDER("identified_before_values", "oaiv", NULL),
    ORDER("values_behind_operations", "oavi", NULL),
    ORDER("two_models_by_turns", "ovai", "oiva"),
    {.name = "computes/add_two", .run = add_two},
    {.name = "computes/add_three", .run = add_three},
    {.name = "computes/broadcast_mul_add", .run = mul_add},
    {.name = "computes/broadcast_add_mul", .run = add_mul},
    {.name = "computes/automatic", .run = automatic},
    {.name = "computes/on_two_devices", .run = on_two_devices},
    {.name = "computes/long_chain", .run = long_chain},
};
NNV_API_GROUP(graph);
