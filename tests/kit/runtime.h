/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file runtime.h Fake drivers around the CPU reference: each takes some operations, computes them as the reference
 * does, remembers how it was called, and fails or lies as it is told. And models, made through the API.
 */
#ifndef KIT_RUNTIME_H
#define KIT_RUNTIME_H

#include <pthread.h>

#include "reference/runtime/api/compilation.h"
#include "reference/runtime/api/memory.h"
#include "reference/runtime/device.h"
#include "tests/kit/runtime_api.h"

#define COUNT_OF(array) (uint32_t)(sizeof(array) / sizeof *(array))
#define OK(call) assert_int_equal(call, ANEURALNETWORKS_NO_ERROR)
#define IS(code, call) assert_int_equal(call, ANEURALNETWORKS_##code)

/* ------------------------------------------------------------------ a fake driver */

enum { FAKE_OPS = 128, FAKE_POOLS = 8 };

struct wrapped_device {
    struct nnvts_device base;
    struct nnvts_device *inner;
    struct nnvts_operand_performance performance[16];
    /* As it is told. */
    bool supports[FAKE_OPS];
    bool plain;                                                        /* offers nothing that is optional */
    enum nnvts_status fail;                                            /* what executions answer, if not NONE */
    enum nnvts_status fail_allocate, fail_later;                       /* allocate; the result of a fenced execution */
    bool bad_token;                                                    /* allocate gives a buffer of token 0 */
    void (*lie)(struct nnvts_execution_result *, enum nnvts_status *); /* changes an answer */
    int delay_ms;
    int late_fence;       /* > 0: a fenced execution tells of its end by a copy of this */
    pthread_mutex_t lock; /* guards what follows */
    int prepared, executed, bursts, in_burst, fenced, reused, allocated, released_bursts;
    int64_t forgotten; /* last token */
    struct nnvts_request last;
    struct nnvts_memory pools[FAKE_POOLS];
    int64_t tokens[FAKE_POOLS];
    struct nnvts_argument in[FAKE_POOLS], out[FAKE_POOLS];
    struct nnvts_execution_config config;
};

/** A driver that takes these operations, which end with -1, at half of the CPU's cost. */
void wrapped_open(struct wrapped_device *f, const char *name, const int32_t *operations);

struct ANeuralNetworksDevice *wrapped_device(const struct wrapped_device *f);

/** A counter of a fake that may be running. */
int seen(struct wrapped_device *f, const int *counter);

/* ------------------------------------------------------------------------- models */

struct api_net {
    ANeuralNetworksModel *model;
    uint32_t count;
};

struct api_net api_net_new(void);

uint32_t api_operand(struct api_net *n, int32_t type, uint32_t rank, const uint32_t *dims);

/** TENSOR_FLOAT32 of rank 1. */
uint32_t api_vec(struct api_net *n, uint32_t extent);

uint32_t api_flag(struct api_net *n);

uint32_t api_integer(struct api_net *n, int32_t value);

uint32_t api_constant(struct api_net *n, uint32_t extent, const float *values);

uint32_t api_graph(struct api_net *n, const struct api_net *to);

void api_operation(struct api_net *n, int32_t type, uint32_t nin, const uint32_t *in, uint32_t nout,
                   const uint32_t *out);

/** a OP b -> out, without activation. */
void api_binary(struct api_net *n, int32_t type, uint32_t a, uint32_t b, uint32_t out);

void api_net_finish(struct api_net *n, uint32_t nin, const uint32_t *in, uint32_t nout, const uint32_t *out);

void api_net_free(struct api_net *n);

/** (a + b) * b, of so many elements (0: unknown): ADD and MUL, with a value between them. */
struct api_net api_sum_times(uint32_t extent);

/** a + b. */
struct api_net api_sum(uint32_t extent);

ANeuralNetworksCompilation *api_compile(const struct api_net *n);

/** For this device alone. */
ANeuralNetworksCompilation *api_compile_for(const struct api_net *n, struct ANeuralNetworksDevice *device);

ANeuralNetworksExecution *api_execution_of(ANeuralNetworksCompilation *c);

/** Inputs 0 and 1, and output 0, of n floats each. */
ANeuralNetworksExecution *api_execution_on(ANeuralNetworksCompilation *c, const float *a, const float *b, float *out,
                                           uint32_t n);

/* Two fakes for all tests: one adds, one multiplies. */
extern struct wrapped_device adder, multiplier;

int open_fakes(void **state);

int close_fakes(void **state);

extern const float A[3], B[3];
/* (a + b) * b: 11 * 10, 22 * 20, 33 * 30 */
extern const float SUM_TIMES[3], SUM[3];

#endif
