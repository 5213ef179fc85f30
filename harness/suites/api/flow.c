/* SPDX-License-Identifier: Apache-2.0 */
/** @file flow.c IF and WHILE: models that refer to models, loops and their timeouts. */
#include <stdio.h>

#include "base/clock.h"
#include "harness/suites/api/api.h"

/** out = in `operation` constant, of float32 [2]. */
static ANeuralNetworksModel *branch(struct nnv_api *a, ANeuralNetworksOperationType operation, float value) {
    struct nnv_api_net net = nnv_api_net(a);
    const float both[] = {value, value};
    uint32_t x = nnv_api_add(&net, OF(FLOAT32, 2)), c = nnv_api_constant(&net, OF(FLOAT32, 2), both, sizeof both);
    uint32_t none = nnv_api_int(&net, 0), z = nnv_api_add(&net, OF(FLOAT32, 2));
    nnv_api_operate(&net, operation, LIST(x, c, none), LIST(z));
    return nnv_api_net_end(&net, LIST(x), LIST(z)) ? net.model : NULL;
}

static uint32_t model_operand(struct nnv_api_net *net, ANeuralNetworksModel *model) {
    struct nnv_api *a = net->a;
    uint32_t index = nnv_api_add(net, SCALAR(MODEL));
    net->ok = net->ok && model && OK(Model_setOperandValueFromModel, net->model, (int32_t)index, model);
    return index;
}

/** out = condition ? in + 10 : in * 10. */
static bool choice(struct nnv_api *a, struct nnv_api_net *net) {
    ANeuralNetworksModel *yes = branch(a, ANEURALNETWORKS_ADD, 10), *no = branch(a, ANEURALNETWORKS_MUL, 10);
    *net = nnv_api_net(a);
    uint32_t condition = nnv_api_add(net, OF(BOOL8, 1)), x = nnv_api_add(net, OF(FLOAT32, 2));
    uint32_t y = model_operand(net, yes), n = model_operand(net, no), z = nnv_api_add(net, OF(FLOAT32, 2));
    nnv_api_operate(net, ANEURALNETWORKS_IF, LIST(condition, y, n, x), LIST(z));
    return nnv_api_net_end(net, LIST(condition, x), LIST(z));
}

static bool choose(struct nnv_api *a, ANeuralNetworksCompilation *c, bool condition) {
    static const float in[] = {1, 2}, yes[] = {11, 12}, no[] = {10, 20};
    const uint8_t bit = condition;
    float out[2] = {0};
    ANeuralNetworksExecution *e = nnv_api_execution(a, c);
    return e && OK(Execution_setInput, e, 0, NULL, &bit, 1) && OK(Execution_setInput, e, 1, NULL, in, sizeof in) &&
           OK(Execution_setOutput, e, 0, NULL, out, sizeof out) && nnv_api_compute(a, e) &&
           nnv_api_check_floats(a, condition ? "the then branch" : "the else branch", out, condition ? yes : no, 2);
}

static void both_branches(struct nnv_api *a) {
    struct nnv_api_net net;
    ANeuralNetworksCompilation *c = choice(a, &net) ? nnv_api_compiled(&net) : NULL;
    if (c && choose(a, c, true) && choose(a, c, false)) choose(a, c, true);
}

/** The same model in both branches. */
static void one_model_twice(struct nnv_api *a) {
    static const float in[] = {1, 2}, want[] = {11, 12};
    ANeuralNetworksModel *model = branch(a, ANEURALNETWORKS_ADD, 10);
    struct nnv_api_net net = nnv_api_net(a);
    uint8_t bit = 0;
    float out[2] = {0};
    uint32_t condition = nnv_api_add(&net, OF(BOOL8, 1)), x = nnv_api_add(&net, OF(FLOAT32, 2));
    uint32_t y = model_operand(&net, model), n = model_operand(&net, model), z = nnv_api_add(&net, OF(FLOAT32, 2));
    nnv_api_operate(&net, ANEURALNETWORKS_IF, LIST(condition, y, n, x), LIST(z));
    if (!nnv_api_net_end(&net, LIST(condition, x), LIST(z))) return;
    ANeuralNetworksExecution *e = nnv_api_execution(a, nnv_api_compiled(&net));
    if (e && OK(Execution_setInput, e, 0, NULL, &bit, 1) && OK(Execution_setInput, e, 1, NULL, in, sizeof in) &&
        OK(Execution_setOutput, e, 0, NULL, out, sizeof out) && nnv_api_compute(a, e))
        nnv_api_check_floats(a, "the branch", out, want, 2);
}

/* --------------------------------------------------------------------- malformed */

enum malformed { CONDITION_TYPE, NO_MODEL, BRANCH_INPUTS, BRANCH_OUTPUTS, BRANCH_TYPE, NO_BRANCH_INPUT };

/** addOperation or finish must refuse it. */
static void malformed_if(struct nnv_api *a) {
    const enum malformed what = (enum malformed)a->c->param;
    struct nnv_api_net sum;
    ANeuralNetworksModel *yes = branch(a, ANEURALNETWORKS_ADD, 10), *no = branch(a, ANEURALNETWORKS_MUL, 10);
    if (what == BRANCH_INPUTS) no = nnv_api_net_add(a, LIST(2), &sum) ? sum.model : NULL;
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t condition = nnv_api_add(&net, what == CONDITION_TYPE ? OF(INT32, 1) : OF(BOOL8, 1));
    uint32_t x = nnv_api_add(&net, what == BRANCH_TYPE ? OF(FLOAT32, 3) : OF(FLOAT32, 2));
    uint32_t y = model_operand(&net, yes);
    uint32_t n = what == NO_MODEL ? nnv_api_int(&net, 0) : model_operand(&net, no);
    uint32_t z = nnv_api_add(&net, OF(FLOAT32, 2)), z2 = nnv_api_add(&net, OF(FLOAT32, 2));
    const uint32_t in[] = {condition, y, n, x}, out[] = {z, z2}, ends[] = {condition, x};
    const uint32_t nin = what == NO_BRANCH_INPUT ? 3 : 4, nout = what == BRANCH_OUTPUTS ? 2 : 1;
    if (!net.ok) return;
    int code = a->nn->Model_addOperation(net.model, ANEURALNETWORKS_IF, nin, in, nout, out);
    if (code == ANEURALNETWORKS_NO_ERROR && OK(Model_identifyInputsAndOutputs, net.model, 2, ends, nout, out))
        code = a->nn->Model_finish(net.model);
    nnv_api_check(a, "addOperation and finish of a malformed IF", code, NNV_API_BAD_DATA);
}

/* ------------------------------------------------------------------------- loops */

/** condition: n < limit, of float32 [1] each; the loop's values are n and x. */
static ANeuralNetworksModel *less_than(struct nnv_api *a, float limit) {
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t n = nnv_api_add(&net, OF(FLOAT32, 1)), x = nnv_api_add(&net, OF(FLOAT32, 2));
    uint32_t c = nnv_api_constant(&net, OF(FLOAT32, 1), &limit, sizeof limit), z = nnv_api_add(&net, OF(BOOL8, 1));
    nnv_api_operate(&net, ANEURALNETWORKS_LESS, LIST(n, c), LIST(z));
    return nnv_api_net_end(&net, LIST(n, x), LIST(z)) ? net.model : NULL;
}

/** body: n + step, x + x */
static ANeuralNetworksModel *doubling(struct nnv_api *a, float step) {
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t n = nnv_api_add(&net, OF(FLOAT32, 1)), x = nnv_api_add(&net, OF(FLOAT32, 2)), none = nnv_api_int(&net, 0);
    uint32_t c = nnv_api_constant(&net, OF(FLOAT32, 1), &step, sizeof step);
    uint32_t n2 = nnv_api_add(&net, OF(FLOAT32, 1)), x2 = nnv_api_add(&net, OF(FLOAT32, 2));
    nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(n, c, none), LIST(n2));
    nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(x, x, none), LIST(x2));
    return nnv_api_net_end(&net, LIST(n, x), LIST(n2, x2)) ? net.model : NULL;
}

/** While n < limit: n += step, x doubles; step 0: for ever. */
static ANeuralNetworksCompilation *loop(struct nnv_api *a, float limit, float step) {
    ANeuralNetworksModel *condition = less_than(a, limit), *body = doubling(a, step);
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t c = model_operand(&net, condition), b = model_operand(&net, body);
    uint32_t n = nnv_api_add(&net, OF(FLOAT32, 1)), x = nnv_api_add(&net, OF(FLOAT32, 2));
    uint32_t n2 = nnv_api_add(&net, OF(FLOAT32, 1)), x2 = nnv_api_add(&net, OF(FLOAT32, 2));
    nnv_api_operate(&net, ANEURALNETWORKS_WHILE, LIST(c, b, n, x), LIST(n2, x2));
    return nnv_api_net_end(&net, LIST(n, x), LIST(n2, x2)) ? nnv_api_compiled(&net) : NULL;
}

static float loop_in[3] = {0, 1, 3}, loop_out[3];

/** Inputs n = from, x = {1, 3}. */
static ANeuralNetworksExecution *loop_execution(struct nnv_api *a, ANeuralNetworksCompilation *c, float from) {
    ANeuralNetworksExecution *e = nnv_api_execution(a, c);
    loop_in[0] = from;
    loop_out[0] = loop_out[1] = loop_out[2] = -1;
    return e && OK(Execution_setInput, e, 0, NULL, loop_in, 4) && OK(Execution_setInput, e, 1, NULL, loop_in + 1, 8) &&
                   OK(Execution_setOutput, e, 0, NULL, loop_out, 4) &&
                   OK(Execution_setOutput, e, 1, NULL, loop_out + 1, 8)
               ? e
               : NULL;
}

static bool loop_runs(struct nnv_api *a, ANeuralNetworksCompilation *c, float from, int times) {
    const float want[] = {from + (float)times, (float)(1 << times), (float)(3 << times)};
    ANeuralNetworksExecution *e = loop_execution(a, c, from);
    return e && nnv_api_compute(a, e) && nnv_api_check_floats(a, "what the loop gives", loop_out, want, 3);
}

static void counts(struct nnv_api *a) {
    ANeuralNetworksCompilation *c = loop(a, 5, 1);
    if (c && loop_runs(a, c, 0, 5) && loop_runs(a, c, 4, 1) && loop_runs(a, c, 5, 0) && loop_runs(a, c, 9, 0))
        loop_runs(a, c, 2, 3);
}

/** A loop that never ends is given up after its timeout; the compilation is as good as before. */
static void endless(struct nnv_api *a) {
    const enum nnv_mode mode = (enum nnv_mode)a->c->param;
    const uint64_t timeout = 20000000, much = 400000000;
    if (mode != NNV_MODE_SYNC && !nnv_api_has_mode(a, mode)) return;
    ANeuralNetworksCompilation *c = loop(a, 5, 0);
    ANeuralNetworksExecution *e = NULL;
    uint64_t took = UINT64_MAX;
    for (int i = 0; i < 2 && took > much; i++) { /* a busy machine may be late once */
        e = c ? loop_execution(a, c, 0) : NULL;
        if (!e || !OK(Execution_setLoopTimeout, e, timeout)) return;
        ANeuralNetworksBurst *burst = mode == NNV_MODE_BURST ? nnv_api_burst(a, c) : NULL;
        const uint64_t start = nnv_now_ns();
        const int code = nnv_api_computed_in(a, mode, e, burst);
        took = nnv_now_ns() - start;
        if (!nnv_api_check(a, "computing an endless loop", code, NNV_API_MISSED)) return;
    }
    nnv_expect(&a->s, took <= much, "an endless loop with a loop timeout of 20 ms took %llu ms, twice in a row",
               (unsigned long long)(took / 1000000));
    IS(BAD_STATE, Execution_getOutputOperandRank, e, 0, &a->to.u32);
    loop_runs(a, c, 5, 0);
}

/** A loop timeout of 0 gives up at once, or after the first round; a loop that does not turn may end. */
static void no_time(struct nnv_api *a) {
    ANeuralNetworksCompilation *c = loop(a, 5, 0);
    ANeuralNetworksExecution *e = c ? loop_execution(a, c, 0) : NULL;
    if (e && OK(Execution_setLoopTimeout, e, 0))
        nnv_api_check(a, "computing an endless loop without any time", nnv_api_computed(a, e), NNV_API_MISSED);
}

/** The timeout is the execution's: the next one has the default again, and finishes. */
static void timeout_is_the_executions(struct nnv_api *a) {
    ANeuralNetworksCompilation *c = loop(a, 20, 1);
    ANeuralNetworksExecution *e = c ? loop_execution(a, c, 0) : NULL;
    if (!e || !OK(Execution_setLoopTimeout, e, 0)) return;
    nnv_api_check(a, "computing a loop without any time", nnv_api_computed(a, e), NNV_API_DONE_OR_MISSED);
    loop_runs(a, c, 0, 20);
}

static void above_maximum(struct nnv_api *a) {
    static const float want[] = {3, 8, 24};
    ANeuralNetworksCompilation *c = loop(a, 3, 1);
    ANeuralNetworksExecution *e = c ? loop_execution(a, c, 0) : NULL;
    if (e && OK(Execution_setLoopTimeout, e, UINT64_MAX) && nnv_api_compute(a, e))
        nnv_api_check_floats(a, "what the loop gives", loop_out, want, 3);
}

/** A model that two others refer to. */
static void shared_model(struct nnv_api *a) {
    struct nnv_api_net net;
    ANeuralNetworksCompilation *one = choice(a, &net) ? nnv_api_compiled(&net) : NULL;
    ANeuralNetworksCompilation *two = one && choice(a, &net) ? nnv_api_compiled(&net) : NULL;
    if (two && choose(a, one, true) && choose(a, two, false)) choose(a, one, false);
}

/** An IF in a branch of an IF: (c ? (c ? x + 10 : x * 10) : x * 10). */
static void nested(struct nnv_api *a) {
    struct nnv_api_net inner;
    if (!choice(a, &inner)) return;
    ANeuralNetworksModel *no = NULL;
    struct nnv_api_net wrapped = nnv_api_net(a);
    uint32_t c = nnv_api_add(&wrapped, OF(BOOL8, 1)), x = nnv_api_add(&wrapped, OF(FLOAT32, 2));
    const float ten[] = {10, 10};
    uint32_t k = nnv_api_constant(&wrapped, OF(FLOAT32, 2), ten, sizeof ten), none = nnv_api_int(&wrapped, 0);
    uint32_t z = nnv_api_add(&wrapped, OF(FLOAT32, 2));
    nnv_api_operate(&wrapped, ANEURALNETWORKS_MUL, LIST(x, k, none), LIST(z));
    if (nnv_api_net_end(&wrapped, LIST(c, x), LIST(z))) no = wrapped.model;
    struct nnv_api_net net = nnv_api_net(a);
    c = nnv_api_add(&net, OF(BOOL8, 1)), x = nnv_api_add(&net, OF(FLOAT32, 2));
    uint32_t y = model_operand(&net, inner.model), n = model_operand(&net, no);
    z = nnv_api_add(&net, OF(FLOAT32, 2));
    nnv_api_operate(&net, ANEURALNETWORKS_IF, LIST(c, y, n, c, x), LIST(z));
    if (!nnv_api_net_end(&net, LIST(c, x), LIST(z))) return;
    ANeuralNetworksCompilation *compilation = nnv_api_compiled(&net);
    if (compilation && choose(a, compilation, true)) choose(a, compilation, false);
}

static const struct nnv_api_case cases[] = {
    {.name = "if/both_branches", .run = both_branches, .level = 4},
    {.name = "if/one_model_twice", .run = one_model_twice, .level = 4},
    {.name = "if/nested", .run = nested, .level = 4},
    {.name = "if/shared_model", .run = shared_model, .level = 4},
    {.name = "if/condition_of_wrong_type", .run = malformed_if, .param = CONDITION_TYPE, .level = 4},
    {.name = "if/branch_is_no_model", .run = malformed_if, .param = NO_MODEL, .level = 4},
    {.name = "if/branch_with_more_inputs", .run = malformed_if, .param = BRANCH_INPUTS, .level = 4},
    {.name = "if/more_outputs_than_branches", .run = malformed_if, .param = BRANCH_OUTPUTS, .level = 4},
    {.name = "if/input_of_other_extent", .run = malformed_if, .param = BRANCH_TYPE, .level = 4},
    {.name = "if/branch_input_missing", .run = malformed_if, .param = NO_BRANCH_INPUT, .level = 4},
    {.name = "while/counts", .run = counts, .level = 4},
    {.name = "while/endless", .run = endless, .param = NNV_MODE_SYNC, .timed = true, .level = 4},
    {.name = "while/endless_async", .run = endless, .param = NNV_MODE_ASYNC, .timed = true, .level = 4},
    {.name = "while/endless_fenced", .run = endless, .param = NNV_MODE_FENCED, .timed = true, .level = 4},
    {.name = "while/endless_in_burst", .run = endless, .param = NNV_MODE_BURST, .timed = true, .level = 4},
    {.name = "while/no_time", .run = no_time, .level = 4},
    {.name = "while/timeout_is_the_executions", .run = timeout_is_the_executions, .level = 4},
    {.name = "while/timeout_above_maximum", .run = above_maximum, .level = 4},
};
NNV_API_GROUP(flow);
