/* SPDX-License-Identifier: Apache-2.0 */
/** @file model.c Models in few lines, and the small model that refusals are tried on. */
#include <string.h>

#include "base/clock.h"
#include "harness/suites/api/api.h"

const ANeuralNetworksOperandType *nnv_api_type(struct nnv_api *a, int32_t code, float scale, int32_t zero_point,
                                               uint32_t rank, const uint32_t *dims) {
    static const ANeuralNetworksOperandType none;
    ANeuralNetworksOperandType *type = NNV_NEW(a->s.env->arena, ANeuralNetworksOperandType, 1);
    uint32_t *copy = NNV_NEW(a->s.env->arena, uint32_t, rank ? rank : 1);
    if (!type || !copy) {
        nnv_context_error(&a->s, NNV_OUT_OF_MEMORY);
        return &none;
    }
    if (rank) memcpy(copy, dims, rank * sizeof *dims);
    *type = (ANeuralNetworksOperandType){code, rank, rank ? copy : NULL, scale, zero_point};
    return type;
}

struct nnv_api_net nnv_api_net(struct nnv_api *a) {
    struct nnv_api_net net = {.a = a, .model = nnv_api_model(a)};
    net.ok = net.model != NULL;
    return net;
}

uint32_t nnv_api_add(struct nnv_api_net *net, const ANeuralNetworksOperandType *type) {
    struct nnv_api *a = net->a;
    net->ok = net->ok && OK(Model_addOperand, net->model, type);
    return net->operands++;
}

uint32_t nnv_api_constant(struct nnv_api_net *net, const ANeuralNetworksOperandType *type, const void *value,
                          size_t bytes) {
    struct nnv_api *a = net->a;
    uint32_t index = nnv_api_add(net, type);
    net->ok = net->ok && OK(Model_setOperandValue, net->model, (int32_t)index, value, bytes);
    return index;
}

uint32_t nnv_api_int(struct nnv_api_net *net, int32_t value) {
    struct nnv_api *a = net->a;
    return nnv_api_constant(net, SCALAR(INT32), &value, sizeof value);
}

void nnv_api_operate(struct nnv_api_net *net, ANeuralNetworksOperationType type, size_t nin, const uint32_t *in,
                     size_t nout, const uint32_t *out) {
    struct nnv_api *a = net->a;
    net->ok = net->ok && OK(Model_addOperation, net->model, type, (uint32_t)nin, in, (uint32_t)nout, out);
    net->operations++;
}

bool nnv_api_net_end(struct nnv_api_net *net, size_t nin, const uint32_t *in, size_t nout, const uint32_t *out) {
    struct nnv_api *a = net->a;
    net->ok = net->ok && OK(Model_identifyInputsAndOutputs, net->model, (uint32_t)nin, in, (uint32_t)nout, out) &&
              OK(Model_finish, net->model);
    return net->ok;
}

bool nnv_api_net_add(struct nnv_api *a, uint32_t rank, const uint32_t *dims, struct nnv_api_net *net) {
    *net = nnv_api_net(a);
    const ANeuralNetworksOperandType *type = nnv_api_type(a, ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0, rank, dims);
    uint32_t x = nnv_api_add(net, type), y = nnv_api_add(net, type), none = nnv_api_int(net, 0);
    uint32_t z = nnv_api_add(net, type);
    nnv_api_operate(net, ANEURALNETWORKS_ADD, LIST(x, y, none), LIST(z));
    return nnv_api_net_end(net, LIST(x, y), LIST(z));
}

bool nnv_api_net_chain(struct nnv_api *a, uint32_t side, uint32_t length, struct nnv_api_net *net) {
    static const float one = 1;
    *net = nnv_api_net(a);
    uint32_t none = nnv_api_int(net, 0), add = nnv_api_constant(net, OF(FLOAT32, 1), &one, sizeof one);
    uint32_t first = nnv_api_add(net, OF(FLOAT32, side, side)), x = first;
    for (uint32_t i = 0; i < length && net->ok; i++) {
        uint32_t y = nnv_api_add(net, OF(FLOAT32, side, side));
        nnv_api_operate(net, ANEURALNETWORKS_ADD, LIST(x, add, none), LIST(y));
        x = y;
    }
    return nnv_api_net_end(net, LIST(first), LIST(x));
}

/* --------------------------------------------------------------- computations */

static int wait_for(struct nnv_api *a, ANeuralNetworksExecution *execution) {
    ANeuralNetworksEvent *event = NULL;
    int code = a->nn->Execution_startCompute(execution, &event);
    if (code != ANEURALNETWORKS_NO_ERROR) return code;
    code = a->nn->Event_wait(event);
    a->nn->Event_free(event);
    return code;
}

int nnv_api_computed(struct nnv_api *a, ANeuralNetworksExecution *execution) {
    return a->nn->Execution_compute ? a->nn->Execution_compute(execution) : wait_for(a, execution);
}

bool nnv_api_has_mode(struct nnv_api *a, enum nnv_mode mode) {
    const struct nnvts_ndk *nn = a->nn;
    switch (mode) {
    case NNV_MODE_ASYNC:
        return nn->Execution_startCompute || nnv_api_lacks(a, "Execution_startCompute");
    case NNV_MODE_FENCED:
        return nn->Execution_startComputeWithDependencies || nnv_api_lacks(a, "Execution_startComputeWithDependencies");
    case NNV_MODE_BURST:
        return (nn->Execution_burstCompute && nn->Burst_create) || nnv_api_lacks(a, "Execution_burstCompute");
    case NNV_MODE_SYNC:
    case NNV_MODE_REUSABLE:
    case NNV_MODES:
        break;
    }
    return nn->Execution_compute || nnv_api_lacks(a, "Execution_compute");
}

int nnv_api_computed_in(struct nnv_api *a, enum nnv_mode mode, ANeuralNetworksExecution *execution,
                        ANeuralNetworksBurst *burst) {
    ANeuralNetworksEvent *event = NULL;
    if (mode == NNV_MODE_BURST) return burst ? a->nn->Execution_burstCompute(execution, burst) : -1;
    if (mode != NNV_MODE_ASYNC && mode != NNV_MODE_FENCED) return nnv_api_computed(a, execution);
    int code = mode == NNV_MODE_ASYNC ? a->nn->Execution_startCompute(execution, &event)
                                      : a->nn->Execution_startComputeWithDependencies(execution, NULL, 0, 0, &event);
    if (code != ANEURALNETWORKS_NO_ERROR) return code;
    code = a->nn->Event_wait(event);
    a->nn->Event_free(event);
    return code;
}

bool nnv_api_compute(struct nnv_api *a, ANeuralNetworksExecution *execution) {
    return execution && nnv_api_check(a, "computing the execution", nnv_api_computed(a, execution), NNV_API_NO_ERROR);
}

ANeuralNetworksEvent *nnv_api_start(struct nnv_api *a, ANeuralNetworksExecution *execution) {
    ANeuralNetworksEvent *event = NULL;
    bool ok = a->nn->Execution_startCompute ? OK(Execution_startCompute, execution, &event)
                                            : OK(Execution_startComputeWithDependencies, execution, NULL, 0, 0, &event);
    if (!ok || !nnv_expect(&a->s, event != NULL, "the execution was started, but there is no event")) return NULL;
    nnv_api_keep_event(a, event);
    return event;
}

bool nnv_api_check_floats(struct nnv_api *a, const char *what, const float *got, const float *want, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(got[i] == want[i]))
            return nnv_expect(&a->s, false, "%s: element %zu is %.9g, expected %.9g", what, i, (double)got[i],
                              (double)want[i]);
    return nnv_expect(&a->s, true, "%s", "");
}

/* ---------------------------------------------------------------------- work */

enum { WORK_NS = 10000000 }; /* at least */

float nnv_api_squares[3][NNV_API_WORK_ELEMS];

ANeuralNetworksExecution *nnv_api_work_execution(struct nnv_api *a, ANeuralNetworksCompilation *work, float *out) {
    const size_t bytes = sizeof nnv_api_squares[0];
    ANeuralNetworksExecution *e = nnv_api_execution(a, work);
    memset(out, 0, bytes);
    return e && OK(Execution_setInput, e, 0, NULL, nnv_api_squares[0], bytes) &&
                   OK(Execution_setOutput, e, 0, NULL, out, bytes)
               ? e
               : NULL;
}

/** Nanoseconds of an execution where the machine lets it: the least of some, one if that is little. 0: it failed. */
static uint64_t measure_work(struct nnv_api *a, ANeuralNetworksCompilation *work) {
    enum { TIMES = 3 };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TIMES && least > WORK_NS; i++) {
        ANeuralNetworksExecution *e = nnv_api_work_execution(a, work, nnv_api_squares[1]);
        const uint64_t start = nnv_now_ns();
        if (!nnv_api_compute(a, e)) return 0;
        const uint64_t took = nnv_now_ns() - start;
        if (took < least) least = took;
    }
    return least;
}

ANeuralNetworksCompilation *nnv_api_work(struct nnv_api *a, uint32_t *length, uint64_t *took_ns) {
    memset(nnv_api_squares[0], 0, sizeof nnv_api_squares[0]);
    for (*length = 5;; *length *= 4) {
        struct nnv_api_net net;
        if (!nnv_api_net_chain(a, NNV_API_WORK_SIDE, *length, &net)) return NULL;
        ANeuralNetworksCompilation *c = nnv_api_compiled(&net);
        const uint64_t took = measure_work(a, c);
        if (!took) return NULL;
        if (took_ns) *took_ns = took;
        if (took > WORK_NS || *length > NNV_API_MAX_OPERATIONS / 4) return c;
    }
}

bool nnv_api_work_done(struct nnv_api *a, const char *what, const float *out, uint32_t length) {
    for (uint32_t i = 0; i < NNV_API_WORK_ELEMS; i++)
        if (out[i] != (float)length)
            return nnv_expect(&a->s, false, "%s, but element %u is %g, expected %u", what, i, (double)out[i], length);
    return nnv_expect(&a->s, true, "%s", "");
}

/* ------------------------------------------------------------ the small model */

static const float in0[] = {1, 2, 3, 4}, in1[] = {10, 20, 30, 40}, sum[] = {11, 22, 33, 44};

bool nnv_api_check_sum(struct nnv_api *a) {
    bool right = nnv_api_check_floats(a, "the sum", a->out, sum, 4);
    memset(a->out, 0, sizeof a->out);
    return right;
}

bool nnv_api_set_all(struct nnv_api *a, ANeuralNetworksExecution *execution) {
    memcpy(a->in[0], in0, sizeof in0);
    memcpy(a->in[1], in1, sizeof in1);
    memset(a->out, 0, sizeof a->out);
    return execution && OK(Execution_setInput, execution, 0, NULL, a->in[0], sizeof a->in[0]) &&
           OK(Execution_setInput, execution, 1, NULL, a->in[1], sizeof a->in[1]) &&
           OK(Execution_setOutput, execution, 0, NULL, a->out, sizeof a->out);
}

static bool step(struct nnv_api *a, enum nnv_api_stage to) {
    static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
    static const uint32_t inputs[] = {0, 1, 2}, output[] = {3};
    ANeuralNetworksModel *m = a->model;
    switch (to) {
    case NNV_API_NOTHING:
        return true;
    case NNV_API_EMPTY:
        a->net = (struct nnv_api_net){.a = a, .model = a->model = nnv_api_model(a), .ok = true, .operations = 1};
        return a->model != NULL;
    case NNV_API_OPERANDS:
        return OK(Model_addOperand, m, OF(FLOAT32, 2, 2)) && OK(Model_addOperand, m, OF(FLOAT32, 2, 2)) &&
               OK(Model_addOperand, m, SCALAR(INT32)) && OK(Model_addOperand, m, OF(FLOAT32, 2, 2));
    case NNV_API_VALUED:
        return OK(Model_setOperandValue, m, 2, &none, sizeof none);
    case NNV_API_OPERATED:
        return OK(Model_addOperation, m, ANEURALNETWORKS_ADD, 3, inputs, 1, output);
    case NNV_API_IDENTIFIED:
        return OK(Model_identifyInputsAndOutputs, m, 2, inputs, 1, output);
    case NNV_API_FINISHED:
        return OK(Model_finish, m);
    case NNV_API_COMPILATION:
        return (a->compilation = nnv_api_compilation(&a->net)) != NULL;
    case NNV_API_COMPILED:
        return OK(Compilation_finish, a->compilation);
    case NNV_API_EXECUTION:
        return (a->execution = nnv_api_execution(a, a->compilation)) != NULL;
    case NNV_API_INPUT:
        memcpy(a->in[0], in0, sizeof in0);
        return OK(Execution_setInput, a->execution, 0, NULL, a->in[0], sizeof a->in[0]);
    case NNV_API_READY:
        memcpy(a->in[1], in1, sizeof in1);
        return OK(Execution_setInput, a->execution, 1, NULL, a->in[1], sizeof a->in[1]) &&
               OK(Execution_setOutput, a->execution, 0, NULL, a->out, sizeof a->out);
    case NNV_API_COMPUTED:
        return nnv_api_compute(a, a->execution) && nnv_api_check_sum(a);
    }
    return false;
}

bool nnv_api_advance(struct nnv_api *a, enum nnv_api_stage stage) {
    while (a->stage < stage) {
        if (!step(a, (enum nnv_api_stage)(a->stage + 1))) return false;
        a->stage++;
    }
    return true;
}
