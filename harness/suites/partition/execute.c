/* SPDX-License-Identifier: Apache-2.0 */
/** @file execute.c Executions of a case through the functions of the API, in all modes. */
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/suites/partition/partition.h"
#include "nnvts/result.h"

/** Arguments in two pools of shared memory, guarded. */
struct arguments {
    struct nnv_request request;
    ANeuralNetworksMemory *memory[2]; /* of the pools; NULL: by pointers */
};

/* ------------------------------------------------------------------- arguments */

static bool make_arguments(struct nnv_partition_case *p, struct arguments *a) {
    const struct nnv_spec *spec = p->spec;
    *a = (struct arguments){.memory = {NULL}};
    if (!nnv_context_place(p->s, &spec->model, spec->inputs, spec->outputs, NNV_POOL_WRITABLE, &a->request))
        return false;
    for (int i = 0; i < 2 && p->from_memory; i++) {
        const struct nnvts_memory *pool = &a->request.pools[i];
        const int st = ANeuralNetworksMemory_createFromFd(pool->size ? (size_t)pool->size : 1, PROT_READ | PROT_WRITE,
                                                          pool->fd, 0, &a->memory[i]);
        if (!nnv_partition_expect(p, "ANeuralNetworksMemory_createFromFd", st, ANEURALNETWORKS_NO_ERROR)) return false;
    }
    return true;
}

static void free_arguments(struct arguments *a) {
    for (int i = 0; i < 2; i++) ANeuralNetworksMemory_free(a->memory[i]);
}

/* The type that completes an operand's shape by a value. */
static ANeuralNetworksOperandType whole_type(const struct nnv_operand *o, const struct nnv_value *v) {
    return (ANeuralNetworksOperandType){.type = o->type,
                                        .dimensionCount = v->rank,
                                        .dimensions = v->dims,
                                        .scale = o->scale,
                                        .zeroPoint = o->zero_point};
}

static int set_input(struct nnv_partition_case *p, const struct arguments *a, ANeuralNetworksExecution *x, uint32_t i) {
    const struct nnv_subgraph *m = &p->spec->model.main;
    const struct nnv_value *v = &p->spec->inputs[i];
    const ANeuralNetworksOperandType type = whole_type(&m->operands[m->in[i]], v);
    const ANeuralNetworksOperandType *given = nnv_operand_is_open(&m->operands[m->in[i]]) ? &type : NULL;
    if (v->omitted) return ANeuralNetworksExecution_setInput(x, (int32_t)i, NULL, NULL, 0);
    if (!a->memory[0] || v->bytes == 0)
        return ANeuralNetworksExecution_setInput(x, (int32_t)i, given, a->request.input_at[i], v->bytes);
    return ANeuralNetworksExecution_setInputFromMemory(
        x, (int32_t)i, given, a->memory[0], (size_t)(a->request.input_at[i] - a->request.pool_data[0]), v->bytes);
}

static int set_output(struct nnv_partition_case *p, const struct arguments *a, ANeuralNetworksExecution *x,
                      uint32_t i) {
    const struct nnv_subgraph *m = &p->spec->model.main;
    const struct nnv_value *v = &p->spec->outputs[i];
    const ANeuralNetworksOperandType type = whole_type(&m->operands[m->out[i]], v);
    const bool whole = nnv_operand_is_open(&m->operands[m->out[i]]) && !p->open_outputs;
    const size_t bytes = v->bytes - (p->small == i + 1);
    if (!a->memory[1] || v->bytes == 0)
        return ANeuralNetworksExecution_setOutput(x, (int32_t)i, whole ? &type : NULL, a->request.output_at[i], bytes);
    return ANeuralNetworksExecution_setOutputFromMemory(x, (int32_t)i, whole ? &type : NULL, a->memory[1],
                                                        (size_t)(a->request.output_at[i] - a->request.pool_data[1]),
                                                        bytes);
}

static bool set_arguments(struct nnv_partition_case *p, const struct arguments *a, ANeuralNetworksExecution *x) {
    const struct nnv_subgraph *m = &p->spec->model.main;
    for (uint32_t i = 0; i < m->nin; i++)
        if (!nnv_partition_expect(p, "ANeuralNetworksExecution_setInput", set_input(p, a, x, i),
                                  ANEURALNETWORKS_NO_ERROR))
            return false;
    for (uint32_t i = 0; i < m->nout; i++)
        if (!nnv_partition_expect(p, "ANeuralNetworksExecution_setOutput", set_output(p, a, x, i),
                                  ANEURALNETWORKS_NO_ERROR))
            return false;
    return true;
}

/* ------------------------------------------------------------------------ modes */

static int wait_and_free(ANeuralNetworksEvent *event) {
    const int st = ANeuralNetworksEvent_wait(event);
    ANeuralNetworksEvent_free(event);
    return st;
}

static int compute_async(ANeuralNetworksExecution *x) {
    ANeuralNetworksEvent *event = NULL;
    const int st = ANeuralNetworksExecution_startCompute(x, &event);
    return st ? st : wait_and_free(event);
}

static int compute_burst(struct nnv_partition_case *p, ANeuralNetworksExecution *x) {
    ANeuralNetworksBurst *burst = NULL;
    int st = ANeuralNetworksBurst_create(p->compilation, &burst);
    for (int i = 0; i < 2 && !st; i++) {
        st = ANeuralNetworksExecution_burstCompute(x, burst);
        p->executions++;
    }
    ANeuralNetworksBurst_free(burst);
    return st;
}

/* Signals a fence a little later. */
static void *signal_later(void *context) {
    const uint64_t one = 1;
    usleep(300);
    return write(*(const int *)context, &one, sizeof one) == sizeof one ? context : NULL;
}

static int compute_fenced(struct nnv_partition_case *p, ANeuralNetworksExecution *x) {
    const bool waits = nnv_rng_int(&p->rng, 0, 3) == 0;
    ANeuralNetworksEvent *before = NULL, *event = NULL;
    const ANeuralNetworksEvent *events[1];
    pthread_t thread;
    int fd = waits ? eventfd(0, EFD_CLOEXEC) : -1, st = ANEURALNETWORKS_NO_ERROR;
    if (waits) st = ANeuralNetworksEvent_createFromSyncFenceFd(fd, &before);
    events[0] = before;
    const bool started = !st && waits && pthread_create(&thread, NULL, signal_later, &fd) == 0;
    if (!st) st = ANeuralNetworksExecution_startComputeWithDependencies(x, events, started, 0, &event);
    if (!st) st = wait_and_free(event);
    if (started) pthread_join(thread, NULL);
    ANeuralNetworksEvent_free(before);
    if (fd >= 0) close(fd);
    return st;
}

static int compute(struct nnv_partition_case *p, ANeuralNetworksExecution *x) {
    int st = ANEURALNETWORKS_OP_FAILED;
    if (p->mode != NNV_MODE_BURST) p->executions++;
    switch (p->mode) {
    case NNV_MODE_SYNC:
        return ANeuralNetworksExecution_compute(x);
    case NNV_MODE_BURST:
        return compute_burst(p, x);
    case NNV_MODE_REUSABLE:
        st = ANeuralNetworksExecution_compute(x);
        if (st) return st;
        p->executions++;
        return ANeuralNetworksExecution_compute(x);
    case NNV_MODE_ASYNC:
        return compute_async(x);
    case NNV_MODE_FENCED:
        return compute_fenced(p, x);
    case NNV_MODES:
        break;
    }
    return st;
}

/* ---------------------------------------------------------------------- answers */

/* Shapes as the execution tells them, and copies of the values. */
static bool take_answer(struct nnv_partition_case *p, const struct arguments *a, ANeuralNetworksExecution *x) {
    const struct nnv_subgraph *m = &p->spec->model.main;
    p->answer = NNV_NEW(p->s->env->arena, struct nnv_value, m->nout);
    if (!p->answer) return nnv_context_error(p->s, NNV_OUT_OF_MEMORY);
    for (uint32_t i = 0; i < m->nout; i++) {
        struct nnv_value *v = &p->answer[i];
        int st = ANeuralNetworksExecution_getOutputOperandRank(x, (int32_t)i, &v->rank);
        if (!nnv_partition_expect(p, "ANeuralNetworksExecution_getOutputOperandRank", st, ANEURALNETWORKS_NO_ERROR))
            return false;
        if (!nnv_expect(p->s, v->rank <= NNV_MAX_RANK, "output %u has rank %u", i, v->rank)) return false;
        st = v->rank ? ANeuralNetworksExecution_getOutputOperandDimensions(x, (int32_t)i, v->dims) : 0;
        if (!nnv_partition_expect(p, "ANeuralNetworksExecution_getOutputOperandDimensions", st,
                                  ANEURALNETWORKS_NO_ERROR))
            return false;
        v->bytes = p->spec->outputs[i].bytes;
        v->data = nnv_arena_alloc(p->s->env->arena, v->bytes + 1, 1);
        if (!v->data) return nnv_context_error(p->s, NNV_OUT_OF_MEMORY);
        if (v->bytes) memcpy(v->data, a->request.output_at[i], v->bytes);
    }
    return true;
}

/*
 * After OUTPUT_INSUFFICIENT_SIZE: what is told of shapes is right, and the output that is too small is told. Over
 * several steps the runtime finds out all sizes, unless a device has the executions of HAL 1.0, which tell of none; a
 * driver that does the whole model need not.
 */
static bool check_told(struct nnv_partition_case *p, ANeuralNetworksExecution *x) {
    bool all = !nnv_rt_compilation_plan(p->compilation)->simple;
    for (uint32_t i = 0; i < p->count; i++) all = all && !p->options[i].plain;
    for (uint32_t i = 0; i < p->spec->model.main.nout; i++) {
        const struct nnv_value *due = &p->spec->outputs[i];
        uint32_t rank = 0, dims[NNV_MAX_RANK] = {0};
        const int want = p->small == i + 1 ? ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE : ANEURALNETWORKS_NO_ERROR;
        const int st = ANeuralNetworksExecution_getOutputOperandRank(x, (int32_t)i, &rank);
        if (!nnv_partition_expect(p, "ANeuralNetworksExecution_getOutputOperandRank", st, want)) return false;
        if (rank == 0 && !all) continue;
        if (!nnv_expect(p->s, rank == due->rank, "output %u is told to have rank %u instead of %u", i, rank, due->rank))
            return false;
        if (rank) ANeuralNetworksExecution_getOutputOperandDimensions(x, (int32_t)i, dims);
        for (uint32_t k = 0; k < rank; k++)
            if (!nnv_expect(p->s, (dims[k] == 0 && !all) || dims[k] == due->dims[k],
                            "output %u is told to have extent %u in dimension %u instead of %u", i, dims[k], k,
                            due->dims[k]))
                return false;
    }
    return true;
}

void nnv_partition_draw_mode(struct nnv_partition_case *p) {
    static const enum nnv_mode modes[NNV_MODES] = {NNV_MODE_SYNC, NNV_MODE_BURST, NNV_MODE_REUSABLE, NNV_MODE_ASYNC,
                                                   NNV_MODE_FENCED}; /* a seed draws the same as ever */
    p->mode = modes[nnv_rng_int(&p->rng, 0, NNV_MODES - 1)];
}

bool nnv_partition_execute(struct nnv_partition_case *p, int *result) {
    struct arguments a = {.memory = {NULL}};
    ANeuralNetworksExecution *x = NULL;
    nnv_context_enter(p->s, NNV_PHASE_EXECUTE);
    p->answer = NULL;
    bool ok = make_arguments(p, &a) &&
              nnv_partition_expect(p, "ANeuralNetworksExecution_create",
                                   ANeuralNetworksExecution_create(p->compilation, &x), ANEURALNETWORKS_NO_ERROR);
    if (ok && (p->mode == NNV_MODE_REUSABLE || p->mode == NNV_MODE_BURST))
        ok = nnv_partition_expect(p, "ANeuralNetworksExecution_setReusable",
                                  ANeuralNetworksExecution_setReusable(x, true), ANEURALNETWORKS_NO_ERROR);
    ok = ok && set_arguments(p, &a, x);
    if (ok) {
        *result = compute(p, x);
        ok = nnv_context_check_memory(p->s, "the execution", &a.request);
        if (ok && *result == ANEURALNETWORKS_NO_ERROR) ok = take_answer(p, &a, x);
        if (ok && p->small && *result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE) ok = check_told(p, x);
    }
    ANeuralNetworksExecution_free(x);
    free_arguments(&a);
    nnv_context_enter(p->s, NNV_PHASE_CHECK);
    return ok;
}

uint32_t nnv_partition_open_output(const struct nnv_partition_case *p) {
    const struct nnv_subgraph *m = &p->spec->model.main;
    for (uint32_t i = 0; i < m->nout; i++)
        if (nnv_operand_is_open(&m->operands[m->out[i]]) && p->spec->outputs[i].bytes > 1) return i + 1;
    return 0;
}

bool nnv_partition_execute_small(struct nnv_partition_case *p) {
    int result = ANEURALNETWORKS_NO_ERROR;
    p->small = nnv_partition_open_output(p);
    const bool ok =
        nnv_partition_execute(p, &result) && nnv_partition_expect(p, "an execution with too small an output", result,
                                                                  ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE);
    p->small = 0;
    return ok;
}

/* --------------------------------------------------------------------- judgement */

static bool same_shape(const struct nnv_value *a, const struct nnv_value *b) {
    return a->rank == b->rank && (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

bool nnv_partition_judge(struct nnv_partition_case *p) {
    const struct nnv_subgraph *m = &p->spec->model.main;
    struct nnv_result judged = {.verdict = NNVTS_ERROR};
    bool ok = true;
    for (uint32_t i = 0; i < m->nout; i++)
        if (!m->operands[m->out[i]].ignored)
            ok = nnv_expect(p->s, same_shape(&p->answer[i], &p->spec->outputs[i]),
                            "the execution tells a wrong shape for output %u", i) &&
                 ok;
    if (!ok) return false;
    /* what the runtime's CPU computes is not requantised as the driver does it */
    const struct nnv_arithmetic own = nnv_env_arithmetic(p->s->env, p->spec), any = nnv_arithmetic_of_any_scheme(&own);
    struct nnv_case_env env = *p->s->env;
    env.arithmetic = &any;
    nnv_judge_answer(&env, p->spec, NNV_PRECISION_BUDGET, p->answer, &judged);
    const char *reason = judged.reason.data ? judged.reason.data : "";
    p->s->result->compared += judged.compared;
    p->s->result->values += judged.values;
    p->s->result->not_compared += judged.not_compared;
    if (judged.verdict == NNVTS_ERROR)
        ok = nnv_context_error(p->s, "%s", reason);
    else
        ok = nnv_expect_why(p->s, judged.verdict != NNVTS_FAIL, NNVTS_WHY_VALUES,
                            "the split graph's values are wrong:\n%s", reason);
    nnv_text_free(&judged.reason);
    nnv_text_free(&judged.outputs);
    return ok;
}
