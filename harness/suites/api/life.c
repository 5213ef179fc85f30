/* SPDX-License-Identifier: Apache-2.0 */
/** @file life.c The lives of objects: in which order they may come and go, and what a state allows. */
#include <string.h>

#include "NeuralNetworksOEM.h"
#include "harness/suites/api/api.h"

/* ---------------------------------------------------------------------- freeing */

static void free_null(struct nnv_api *a) {
    const struct nnvts_ndk *nn = a->nn;
    nn->Model_free(NULL);
    nn->Compilation_free(NULL);
    nn->Execution_free(NULL);
    nn->Event_free(NULL);
    nn->Memory_free(NULL);
    if (nn->Burst_free) nn->Burst_free(NULL);
    if (nn->MemoryDesc_free) nn->MemoryDesc_free(NULL);
    nnv_api_advance(a, NNV_API_COMPUTED); /* nothing was harmed */
}

/** Frees everything at a stage, and computes anew. */
static void free_at(struct nnv_api *a) {
    if (!nnv_api_advance(a, (enum nnv_api_stage)a->c->param)) return;
    nnv_api_free_all(a);
    a->stage = NNV_API_NOTHING;
    nnv_api_advance(a, NNV_API_COMPUTED);
}

/** A finished compilation or execution lives without the younger ones. */
static void youngest_first(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_COMPUTED)) return;
    for (int i = 0; i < 3; i++) {
        nnv_api_free_now(a, a->execution);
        a->stage = NNV_API_COMPILED;
        if (!nnv_api_advance(a, NNV_API_COMPUTED)) return;
    }
    nnv_api_free_now(a, a->execution);
    nnv_api_free_now(a, a->compilation);
    a->stage = NNV_API_FINISHED;
    nnv_api_advance(a, NNV_API_COMPUTED);
}

static void event_freed_unwaited(struct nnv_api *a) {
    ANeuralNetworksEvent *event = NULL;
    if (!nnv_api_advance(a, NNV_API_READY) || !(event = nnv_api_start(a, a->execution))) return;
    nnv_api_free_now(a, event); /* waits */
    nnv_api_check_sum(a);
}

static void unfinished_desc(struct nnv_api *a) {
    ANeuralNetworksMemoryDesc *desc = nnv_api_desc(a);
    if (desc) nnv_api_free_now(a, desc);
    if (desc && nnv_api_advance(a, NNV_API_COMPILED) && (desc = nnv_api_desc(a)) != NULL &&
        OK(MemoryDesc_addInputRole, desc, a->compilation, 0, 1)) {
        nnv_api_free_now(a, desc);
        nnv_api_advance(a, NNV_API_COMPUTED);
    }
}

/* ----------------------------------------------------------------- broken objects */

/** A model whose finish failed is of no use. */
static void invalid_model(struct nnv_api *a) {
    static const uint32_t in[] = {0, 1, 2}, out[] = {3};
    const int32_t none = 0;
    if (!nnv_api_advance(a, NNV_API_OPERATED) || !IS(BAD_DATA, Model_finish, a->model)) return;
    IS(BAD_STATE, Model_finish, a->model);
    IS(BAD_STATE, Model_addOperand, a->model, OF(FLOAT32, 2));
    IS(BAD_STATE, Model_setOperandValue, a->model, 2, &none, sizeof none);
    IS(BAD_STATE, Model_addOperation, a->model, ANEURALNETWORKS_ADD, 3, in, 1, out);
    IS(BAD_STATE, Model_identifyInputsAndOutputs, a->model, 2, in, 1, out);
    IS(BAD_STATE, Model_relaxComputationFloat32toFloat16, a->model, true);
}

static void compile_invalid_model(struct nnv_api *a) {
    ANeuralNetworksDevice *device = a->named;
    if (!nnv_api_advance(a, NNV_API_OPERATED) || !IS(BAD_DATA, Model_finish, a->model)) return;
    if (a->nn->Compilation_create) IS(BAD_STATE, Compilation_create, a->model, &a->to.compilation);
    if (!a->nn->_getDevice || (!device && !OK(_getDevice, 0, &device))) return;
    const ANeuralNetworksDevice *one = device;
    IS(BAD_STATE, Compilation_createForDevices, a->model, &one, 1, &a->to.compilation);
    IS(BAD_STATE, Model_getSupportedOperationsForDevices, a->model, &one, 1, a->to.flag);
}

static void refer_to_invalid_model(struct nnv_api *a) {
    struct nnv_api_net net = nnv_api_net(a);
    if (!net.ok || !nnv_api_advance(a, NNV_API_OPERATED) || !IS(BAD_DATA, Model_finish, a->model)) return;
    nnv_api_add(&net, SCALAR(MODEL));
    IS(BAD_STATE, Model_setOperandValueFromModel, net.model, 0, a->model);
}

/** A finished compilation that is not valid: nobody does an OEM operation. NULL if the library cannot have one. */
static ANeuralNetworksCompilation *broken(struct nnv_api *a) {
    struct nnv_api_net net = nnv_api_net(a);
    ANeuralNetworksDevice *device = a->named;
    ANeuralNetworksCompilation *compilation = NULL;
    uint32_t x = nnv_api_add(&net, OF(FLOAT32, 2, 2)), z = nnv_api_add(&net, OF(FLOAT32, 2, 2));
    if (!net.ok) return NULL;
    if (a->nn->Model_addOperation(net.model, ANEURALNETWORKS_OEM_OPERATION, 1, &x, 1, &z) != ANEURALNETWORKS_NO_ERROR) {
        nnv_context_decline(&a->s, NNVTS_WHY_FEATURE, "the library knows no OEM operation");
        return NULL;
    }
    if (!nnv_api_net_end(&net, LIST(x), LIST(z)) || (!device && !OK(_getDevice, 0, &device))) return NULL;
    const ANeuralNetworksDevice *one = device;
    if (!OK(Compilation_createForDevices, net.model, &one, 1, &compilation)) return NULL;
    nnv_api_keep_compilation(a, compilation);
    if (a->nn->Compilation_finish(compilation) == ANEURALNETWORKS_NO_ERROR) {
        nnv_context_decline(&a->s, NNVTS_WHY_NOT_APPLICABLE, "the device has an OEM operation");
        return NULL;
    }
    return compilation;
}

static void invalid_compilation(struct nnv_api *a) {
    ANeuralNetworksCompilation *compilation = broken(a);
    if (!compilation) return;
    IS(BAD_STATE, Compilation_finish, compilation);
    IS(BAD_STATE, Compilation_setPreference, compilation, ANEURALNETWORKS_PREFER_LOW_POWER);
    IS(BAD_STATE, Execution_create, compilation, &a->to.execution);
    if (a->nn->Burst_create) IS(BAD_STATE, Burst_create, compilation, &a->to.burst);
}

static void invalid_compilation_preferences(struct nnv_api *a) {
    ANeuralNetworksCompilation *compilation = broken(a);
    if (!compilation) return;
    IS(BAD_STATE, Compilation_getPreferredMemoryAlignmentForInput, compilation, 0, &a->to.u32);
    IS(BAD_STATE, Compilation_getPreferredMemoryPaddingForInput, compilation, 0, &a->to.u32);
    IS(BAD_STATE, Compilation_getPreferredMemoryAlignmentForOutput, compilation, 0, &a->to.u32);
    IS(BAD_STATE, Compilation_getPreferredMemoryPaddingForOutput, compilation, 0, &a->to.u32);
}

static void invalid_compilation_roles(struct nnv_api *a) {
    ANeuralNetworksCompilation *compilation = broken(a);
    ANeuralNetworksMemoryDesc *desc = compilation ? nnv_api_desc(a) : NULL;
    if (!desc) return;
    IS(BAD_DATA, MemoryDesc_addInputRole, desc, compilation, 0, 1);
    IS(BAD_DATA, MemoryDesc_addOutputRole, desc, compilation, 0, 1);
}

/** What a call that is refused gives out: NULL. */
static void refusals_give_null(struct nnv_api *a) {
    void *const mark = a;
    if (!nnv_api_advance(a, NNV_API_COMPILATION)) return;
    ANeuralNetworksExecution *execution = mark;
    IS(BAD_STATE, Execution_create, a->compilation, &execution);
    nnv_expect(&a->s, execution == NULL, "Execution_create was refused, and did not write NULL");
    ANeuralNetworksMemory *memory = mark;
    IS(ERROR, Memory_createFromFd, 16, 1, -1, 0, &memory);
    nnv_expect(&a->s, memory == NULL, "Memory_createFromFd was refused, and did not write NULL");
    ANeuralNetworksBurst *burst = mark;
    if (a->nn->Burst_create && IS(BAD_STATE, Burst_create, a->compilation, &burst))
        nnv_expect(&a->s, burst == NULL, "Burst_create was refused, and did not write NULL");
    ANeuralNetworksEvent *event = mark;
    if (a->nn->Event_createFromSyncFenceFd && IS(BAD_DATA, Event_createFromSyncFenceFd, -1, &event))
        nnv_expect(&a->s, event == NULL, "Event_createFromSyncFenceFd was refused, and did not write NULL");
}

/* --------------------------------------------------------------------- executions */

/** An execution that lacks arguments says the same when asked again. */
static void incomplete_stays(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_INPUT)) return;
    nnv_api_check(a, "computing without all arguments", nnv_api_computed(a, a->execution), NNV_API_BAD_DATA);
    nnv_expect(&a->s, nnv_api_computed(a, a->execution) != ANEURALNETWORKS_NO_ERROR,
               "computing without all arguments succeeded at the second try");
    a->stage = NNV_API_COMPILED; /* the compilation is as good as before */
    nnv_api_advance(a, NNV_API_COMPUTED);
}

static void two_of_each(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_FINISHED)) return;
    ANeuralNetworksCompilation *c[] = {nnv_api_compiled(&a->net), nnv_api_compiled(&a->net)};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2; i++) {
            ANeuralNetworksExecution *execution = nnv_api_execution(a, c[i]);
            if (!nnv_api_set_all(a, execution) || !nnv_api_compute(a, execution) || !nnv_api_check_sum(a)) return;
        }
}

/** Executions of one compilation, set in one order and computed in the other. */
static void interleaved(struct nnv_api *a) {
    static float in[4][4], out[4][4];
    ANeuralNetworksExecution *execution[4];
    if (!nnv_api_advance(a, NNV_API_COMPILED)) return;
    for (int i = 0; i < 4; i++) {
        execution[i] = nnv_api_execution(a, a->compilation);
        for (int k = 0; k < 4; k++) in[i][k] = (float)(10 * i + k);
        if (!execution[i] || !OK(Execution_setInput, execution[i], 0, NULL, in[i], sizeof in[i]) ||
            !OK(Execution_setInput, execution[i], 1, NULL, in[i], sizeof in[i]) ||
            !OK(Execution_setOutput, execution[i], 0, NULL, out[i], sizeof out[i]))
            return;
    }
    for (int i = 3; i >= 0; i--)
        if (!nnv_api_compute(a, execution[i])) return;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            nnv_expect(&a->s, out[i][k] == 2 * in[i][k], "execution %d: element %d is %g, expected %g", i, k,
                       (double)out[i][k], (double)(2 * in[i][k]));
}

/** A one-shot execution computes once: low byte: the mode first, next byte: then. */
static void one_shot(struct nnv_api *a) {
    const enum nnv_mode first = (enum nnv_mode)(a->c->param & 0xff), then = (enum nnv_mode)(a->c->param >> 8);
    if (!nnv_api_has_mode(a, first) || !nnv_api_has_mode(a, then) || !nnv_api_advance(a, NNV_API_READY)) return;
    ANeuralNetworksBurst *burst =
        first == NNV_MODE_BURST || then == NNV_MODE_BURST ? nnv_api_burst(a, a->compilation) : NULL;
    if (!burst && (first == NNV_MODE_BURST || then == NNV_MODE_BURST)) return;
    if (!nnv_api_check(a, "computing", nnv_api_computed_in(a, first, a->execution, burst), NNV_API_NO_ERROR)) return;
    nnv_api_check_sum(a);
    nnv_api_check(a, "computing a one-shot execution again", nnv_api_computed_in(a, then, a->execution, burst),
                  NNV_API_BAD_STATE);
    nnv_expect(&a->s, a->out[0] == 0, "computing a one-shot execution again wrote its output");
}

/** A reusable execution computes anew each time, in whatever mode, from what its inputs hold then. */
static void reusable(struct nnv_api *a) {
    const enum nnv_mode first = (enum nnv_mode)(a->c->param & 0xff), then = (enum nnv_mode)(a->c->param >> 8);
    if (!nnv_api_has_mode(a, first) || !nnv_api_has_mode(a, then) || !nnv_api_advance(a, NNV_API_READY) ||
        !OK(Execution_setReusable, a->execution, true))
        return;
    ANeuralNetworksBurst *burst =
        first == NNV_MODE_BURST || then == NNV_MODE_BURST ? nnv_api_burst(a, a->compilation) : NULL;
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 4; k++) a->in[0][k] = (float)(100 * i + k);
        memset(a->out, 0, sizeof a->out);
        int code = nnv_api_computed_in(a, i % 2 ? then : first, a->execution, burst);
        if (!nnv_api_check(a, "computing a reusable execution", code, NNV_API_NO_ERROR)) return;
        for (int k = 0; k < 4; k++)
            if (!nnv_expect(&a->s, a->out[k] == a->in[0][k] + a->in[1][k],
                            "computation %d: element %d is %g, expected %g", i, k, (double)a->out[k],
                            (double)(a->in[0][k] + a->in[1][k])))
                return;
    }
}

/** Between two computations of a reusable execution nothing may be set. */
static void reusable_is_settled(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_READY) || !OK(Execution_setReusable, a->execution, true) ||
        !nnv_api_compute(a, a->execution))
        return;
    nnv_api_check_sum(a);
    IS(BAD_STATE, Execution_setInput, a->execution, 0, NULL, a->in[1], sizeof a->in[1]);
    IS(BAD_STATE, Execution_setOutput, a->execution, 0, NULL, a->out, sizeof a->out);
    IS(BAD_STATE, Execution_setReusable, a->execution, false);
    IS(BAD_STATE, Execution_setMeasureTiming, a->execution, true);
    IS(BAD_STATE, Execution_setLoopTimeout, a->execution, 1000000);
    IS(BAD_STATE, Execution_setTimeout, a->execution, 1000000000);
    IS(BAD_STATE, Execution_enableInputAndOutputPadding, a->execution, true);
    if (nnv_api_compute(a, a->execution)) nnv_api_check_sum(a);
}

static void not_reusable_after_all(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_READY) || !OK(Execution_setReusable, a->execution, true) ||
        !OK(Execution_setReusable, a->execution, false) || !nnv_api_compute(a, a->execution))
        return;
    nnv_api_check(a, "computing again what is not reusable after all", nnv_api_computed(a, a->execution),
                  NNV_API_BAD_STATE);
}

static void shape_while_reusable(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_READY) || !OK(Execution_setReusable, a->execution, true)) return;
    for (int i = 0; i < 3; i++) {
        if (!nnv_api_compute(a, a->execution) || !OK(Execution_getOutputOperandRank, a->execution, 0, &a->to.u32) ||
            !OK(Execution_getOutputOperandDimensions, a->execution, 0, a->to.dims))
            return;
        nnv_expect(&a->s, a->to.u32 == 2 && a->to.dims[0] == 2 && a->to.dims[1] == 2,
                   "computation %d: rank %u, extents %u, %u; expected 2, 2, 2", i, a->to.u32, a->to.dims[0],
                   a->to.dims[1]);
    }
}

/* ----------------------------------------------------------------- in flight, events */

static const char *const waited = "Event_wait returned, and the computation must have ended";

/** Several times: a thread that is quick may be done before an early return is noticed. */
static void wait_waits(struct nnv_api *a) {
    uint32_t length;
    ANeuralNetworksCompilation *work = nnv_api_work(a, &length, NULL);
    float *out = nnv_api_squares[2];
    for (int i = 0; i < 5 && work; i++) {
        ANeuralNetworksExecution *execution = nnv_api_work_execution(a, work, out);
        ANeuralNetworksEvent *event = execution ? nnv_api_start(a, execution) : NULL;
        if (!event || !OK(Event_wait, event) || !nnv_api_work_done(a, waited, out, length)) return;
        OK(Event_wait, event); /* again */
    }
}

static void free_waits(struct nnv_api *a) {
    uint32_t length;
    ANeuralNetworksCompilation *work = nnv_api_work(a, &length, NULL);
    float *out = nnv_api_squares[2];
    ANeuralNetworksExecution *execution = nnv_api_work_execution(a, work, out);
    ANeuralNetworksEvent *event = execution ? nnv_api_start(a, execution) : NULL;
    if (!event) return;
    nnv_api_free_now(a, event);
    nnv_api_work_done(a, "Event_free returned, and the computation must have ended", out, length);
}

/** Until its event was waited for, an execution is in flight, and not even a reusable one may be started. */
static void in_flight(struct nnv_api *a) {
    uint32_t length;
    ANeuralNetworksCompilation *work = nnv_api_work(a, &length, NULL);
    float *out = nnv_api_squares[2];
    ANeuralNetworksExecution *execution = nnv_api_work_execution(a, work, out);
    if (!execution || !OK(Execution_setReusable, execution, true)) return;
    ANeuralNetworksEvent *event = nnv_api_start(a, execution);
    if (!event) return;
    nnv_api_check(a, "computing an execution that is in flight", nnv_api_computed(a, execution), NNV_API_BAD_STATE);
    IS(BAD_STATE, Execution_getOutputOperandRank, execution, 0, &a->to.u32);
    IS(BAD_STATE, Execution_setLoopTimeout, execution, 1000000);
    if (!OK(Event_wait, event) || !nnv_api_work_done(a, waited, out, length)) return;
    memset(out, 0, sizeof nnv_api_squares[2]);
    if (nnv_api_compute(a, execution)) nnv_api_work_done(a, "computed again", out, length);
}

/** Many at once, waited for in the other order. */
static void many_in_flight(struct nnv_api *a) {
    enum { MANY = 16 };
    static float in[4] = {1, 2, 3, 4}, out[MANY][4];
    static const float want[] = {2, 4, 6, 8};
    ANeuralNetworksEvent *event[MANY];
    memset(out, 0, sizeof out);
    if (!nnv_api_advance(a, NNV_API_COMPILED)) return;
    for (int i = 0; i < MANY; i++) {
        ANeuralNetworksExecution *execution = nnv_api_execution(a, a->compilation);
        if (!execution || !OK(Execution_setInput, execution, 0, NULL, in, sizeof in) ||
            !OK(Execution_setInput, execution, 1, NULL, in, sizeof in) ||
            !OK(Execution_setOutput, execution, 0, NULL, out[i], sizeof out[i]) ||
            !(event[i] = nnv_api_start(a, execution)))
            return;
    }
    for (int i = MANY - 1; i >= 0; i--)
        if (!OK(Event_wait, event[i]) || !nnv_api_check_floats(a, "an output of many in flight", out[i], want, 4))
            return;
}

#define PAIR(first, then) (NNV_MODE_##first | NNV_MODE_##then << 8)

static const struct nnv_api_case cases[] = {
    {.name = "life/free_null", .run = free_null},
    {.name = "life/free_empty_model", .run = free_at, .param = NNV_API_EMPTY},
    {.name = "life/free_unfinished_model", .run = free_at, .param = NNV_API_IDENTIFIED},
    {.name = "life/free_finished_model", .run = free_at, .param = NNV_API_FINISHED},
    {.name = "life/free_unfinished_compilation", .run = free_at, .param = NNV_API_COMPILATION},
    {.name = "life/free_finished_compilation", .run = free_at, .param = NNV_API_COMPILED},
    {.name = "life/free_empty_execution", .run = free_at, .param = NNV_API_EXECUTION},
    {.name = "life/free_unscheduled_execution", .run = free_at, .param = NNV_API_READY},
    {.name = "life/free_computed_execution", .run = free_at, .param = NNV_API_COMPUTED},
    {.name = "life/free_unfinished_desc", .run = unfinished_desc},
    {.name = "life/free_event_unwaited", .run = event_freed_unwaited},
    {.name = "life/youngest_first", .run = youngest_first},
    {.name = "invalid/model", .run = invalid_model},
    {.name = "invalid/compile_model", .run = compile_invalid_model},
    {.name = "invalid/refer_to_model", .run = refer_to_invalid_model, .level = 4},
    {.name = "invalid/compilation", .run = invalid_compilation},
    {.name = "invalid/compilation_preferences", .run = invalid_compilation_preferences},
    {.name = "invalid/compilation_roles", .run = invalid_compilation_roles},
    {.name = "invalid/refusals_give_null", .run = refusals_give_null},
    {.name = "execution/incomplete_stays", .run = incomplete_stays},
    {.name = "execution/two_of_each", .run = two_of_each},
    {.name = "execution/interleaved", .run = interleaved},
    {.name = "one_shot/compute_compute", .run = one_shot, .param = PAIR(SYNC, SYNC)},
    {.name = "one_shot/compute_start", .run = one_shot, .param = PAIR(SYNC, ASYNC)},
    {.name = "one_shot/compute_burst", .run = one_shot, .param = PAIR(SYNC, BURST)},
    {.name = "one_shot/compute_fenced", .run = one_shot, .param = PAIR(SYNC, FENCED)},
    {.name = "one_shot/start_compute", .run = one_shot, .param = PAIR(ASYNC, SYNC)},
    {.name = "one_shot/start_start", .run = one_shot, .param = PAIR(ASYNC, ASYNC)},
    {.name = "one_shot/burst_compute", .run = one_shot, .param = PAIR(BURST, SYNC)},
    {.name = "one_shot/burst_burst", .run = one_shot, .param = PAIR(BURST, BURST)},
    {.name = "one_shot/fenced_compute", .run = one_shot, .param = PAIR(FENCED, SYNC)},
    {.name = "one_shot/fenced_fenced", .run = one_shot, .param = PAIR(FENCED, FENCED)},
    {.name = "reusable/compute", .run = reusable, .param = PAIR(SYNC, SYNC), .level = 5},
    {.name = "reusable/start", .run = reusable, .param = PAIR(ASYNC, ASYNC), .level = 5},
    {.name = "reusable/burst", .run = reusable, .param = PAIR(BURST, BURST), .level = 5},
    {.name = "reusable/fenced", .run = reusable, .param = PAIR(FENCED, FENCED), .level = 5},
    {.name = "reusable/compute_burst", .run = reusable, .param = PAIR(SYNC, BURST), .level = 5},
    {.name = "reusable/compute_fenced", .run = reusable, .param = PAIR(SYNC, FENCED), .level = 5},
    {.name = "reusable/start_burst", .run = reusable, .param = PAIR(ASYNC, BURST), .level = 5},
    {.name = "reusable/is_settled", .run = reusable_is_settled, .level = 5},
    {.name = "reusable/not_after_all", .run = not_reusable_after_all, .level = 5},
    {.name = "reusable/shapes", .run = shape_while_reusable, .level = 5},
    {.name = "event/wait_waits", .run = wait_waits},
    {.name = "event/free_waits", .run = free_waits},
    {.name = "event/in_flight", .run = in_flight, .level = 5},
    {.name = "event/many_in_flight", .run = many_in_flight},
};
NNV_API_GROUP(life);
