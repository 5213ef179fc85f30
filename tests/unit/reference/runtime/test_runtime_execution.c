/* SPDX-License-Identifier: Apache-2.0 */
/** Executions: arguments, states, results, fallback, drivers that lie, threads and fences. */
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "tests/kit/asleep.h"
#include "tests/kit/runtime.h"

/* -------------------------------------------------------------------- values */

static void computes_on_one_driver(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    float out[3] = {0};
    ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(out, SUM, sizeof out);
    assert_int_equal(adder.executed, 1);
    assert_ptr_equal(adder.pools[adder.in[0].location.pool].data, A); /* nothing is copied */
    assert_ptr_equal(adder.pools[adder.out[0].location.pool].data, out);
    assert_int_equal(adder.pools[adder.in[0].location.pool].fd, -1);
    assert_int_equal(adder.pools[adder.in[0].location.pool].prot, NNVTS_PROT_READ);
    assert_int_equal(adder.in[0].dimension_count, 0); /* the model says it */
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void computes_on_two_drivers(void **state) {
    (void)state;
    struct api_net n = api_sum_times(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    float out[3] = {0};
    assert_false(c->plan->simple);
    ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(out, SUM_TIMES, sizeof out);
    assert_int_equal(adder.executed, 1);
    assert_int_equal(multiplier.executed, 1);
    const struct nnvts_memory *between = &adder.pools[adder.out[0].location.pool];
    assert_true(between->fd >= 0); /* shared memory, so that a driver of another process could read it */
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static ANeuralNetworksMemory *file_memory(size_t bytes, int prot, uint8_t **data) {
    ANeuralNetworksMemory *m = NULL;
    int fd = memfd_create("test", 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    OK(ANeuralNetworksMemory_createFromFd(bytes, prot, fd, 0, &m));
    close(fd);
    return m;
}

static void memories_are_passed_on(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    uint8_t *data;
    ANeuralNetworksMemory *m = file_memory(4096, PROT_READ | PROT_WRITE, &data);
    memcpy(data + 64, A, sizeof A);
    memcpy(data + 128, B, sizeof B);
    ANeuralNetworksExecution *e = api_execution_of(c);
    IS(BAD_DATA, ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 4088, sizeof A));
    IS(BAD_DATA, ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 0, 0));
    IS(BAD_DATA, ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 64, 8));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 64, sizeof A));
    IS(BAD_STATE, ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 64, sizeof A));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, m, 128, sizeof B));
    OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, m, 256, sizeof SUM));
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(data + 256, SUM, sizeof SUM);
    assert_int_equal(adder.last.pool_count, 1); /* one memory is one pool */
    assert_ptr_equal(adder.pools[0].data, m->memory.data);
    assert_int_equal(adder.pools[0].fd, m->memory.fd);
    assert_int_equal(adder.in[1].location.offset, 128);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksMemory_free(m);
    munmap(data, 4096);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

/* ---------------------------------------------------------- arguments and states */

static void arguments_are_checked(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksExecution *e = api_execution_of(c);
    float out[4];
    const uint32_t two = 2, three = 3;
    ANeuralNetworksOperandType t = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = &two};
    IS(UNEXPECTED_NULL, ANeuralNetworksExecution_setInput(NULL, 0, NULL, A, 12));
    IS(UNEXPECTED_NULL, ANeuralNetworksExecution_setInput(e, 0, NULL, NULL, 12));
    IS(UNEXPECTED_NULL, ANeuralNetworksExecution_setOutput(e, 0, NULL, NULL, 12));
    IS(UNEXPECTED_NULL, ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, NULL, 0, 12));
    IS(BAD_DATA, ANeuralNetworksExecution_setInput(e, -1, NULL, A, 12));
    IS(BAD_DATA, ANeuralNetworksExecution_setInput(e, 2, NULL, A, 12));
    IS(BAD_DATA, ANeuralNetworksExecution_setOutput(e, 1, NULL, out, 12));
    IS(BAD_DATA, ANeuralNetworksExecution_setInput(e, 0, NULL, A, 8));
    IS(BAD_DATA, ANeuralNetworksExecution_setInput(e, 0, NULL, A, 16));
    IS(BAD_DATA, ANeuralNetworksExecution_setInput(e, 0, NULL, A, 0));
    IS(BAD_DATA, ANeuralNetworksExecution_setInput(e, 0, &t, A, 8)); /* the model says 3 */
    t.dimensions = &three;
    t.type = ANEURALNETWORKS_TENSOR_INT32;
    IS(BAD_DATA, ANeuralNetworksExecution_setInput(e, 0, &t, A, 12));
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, A, 12));
    IS(BAD_STATE, ANeuralNetworksExecution_setInput(e, 0, NULL, A, 12));
    IS(BAD_STATE, ANeuralNetworksExecution_enableInputAndOutputPadding(e, true));
    IS(BAD_DATA, ANeuralNetworksExecution_compute(e)); /* input 1 and the output are missing */
    IS(BAD_DATA, ANeuralNetworksExecution_compute(e));
    IS(BAD_STATE, ANeuralNetworksExecution_setInput(e, 1, NULL, B, 12));
    assert_int_equal(adder.executed, 0);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void padding_is_told_to_drivers(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksExecution *e = api_execution_of(c);
    float a[4] = {1, 2, 3, 0}, out[4] = {0};
    OK(ANeuralNetworksExecution_enableInputAndOutputPadding(e, true));
    IS(BAD_DATA, ANeuralNetworksExecution_setInput(e, 0, NULL, a, 8));
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, a, 16));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, B, 12));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, 16));
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(out, SUM, sizeof SUM);
    assert_int_equal(adder.in[0].location.length, 12);
    assert_int_equal(adder.in[0].location.padding, 4);
    assert_int_equal(adder.out[0].location.padding, 4);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void runs_once_or_is_reusable(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    float out[3] = {0}, a[3] = {1, 2, 3};
    uint32_t rank;
    ANeuralNetworksExecution *e = api_execution_on(c, a, B, out, 3);
    IS(BAD_STATE, ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank));
    OK(ANeuralNetworksExecution_compute(e));
    IS(BAD_STATE, ANeuralNetworksExecution_compute(e));
    IS(BAD_STATE, ANeuralNetworksExecution_setReusable(e, true));
    IS(BAD_STATE, ANeuralNetworksExecution_setLoopTimeout(e, 1));
    ANeuralNetworksExecution_free(e);
    e = api_execution_on(c, a, B, out, 3);
    OK(ANeuralNetworksExecution_setReusable(e, true));
    for (int i = 0; i < 3; i++) {
        a[0] = (float)i;
        OK(ANeuralNetworksExecution_compute(e));
        assert_true(out[0] == (float)(i + 10));
    }
    assert_int_equal(adder.reused, 3); /* one request, given to the driver once */
    IS(BAD_STATE, ANeuralNetworksExecution_setInput(e, 0, NULL, a, 12));
    IS(BAD_DATA, ANeuralNetworksExecution_getOutputOperandRank(e, 1, &rank));
    IS(BAD_DATA, ANeuralNetworksExecution_getOutputOperandRank(e, -1, &rank));
    OK(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank));
    assert_int_equal(rank, 1);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void shapes_are_completed_and_told(void **state) {
    (void)state;
    struct api_net n = api_sum(0);
    ANeuralNetworksCompilation *c = api_compile(&n);
    float out[3] = {0};
    uint32_t rank = 0, dims[1] = {0};
    ANeuralNetworksExecution *e = api_execution_of(c);
    IS(BAD_DATA, ANeuralNetworksExecution_setInput(e, 0, NULL, A, 12)); /* of what shape? */
    ANeuralNetworksExecution_free(e);
    e = api_execution_on(c, A, B, out, 3);
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(out, SUM, sizeof out);
    assert_int_equal(adder.in[0].dimension_count, 1);
    OK(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank));
    OK(ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, dims));
    assert_int_equal(rank, 1);
    assert_int_equal(dims[0], 3);
    ANeuralNetworksExecution_free(e);

    e = api_execution_of(c);
    const uint32_t three = 3;
    const ANeuralNetworksOperandType t = {
        .type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = &three};
    OK(ANeuralNetworksExecution_setInput(e, 0, &t, A, 12));
    OK(ANeuralNetworksExecution_setInput(e, 1, &t, B, 12));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, 8)); /* too small */
    IS(OUTPUT_INSUFFICIENT_SIZE, ANeuralNetworksExecution_compute(e));
    IS(OUTPUT_INSUFFICIENT_SIZE, ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank));
    IS(OUTPUT_INSUFFICIENT_SIZE, ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, dims));
    assert_int_equal(dims[0], 3);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void tell_times(struct nnvts_execution_result *r, enum nnvts_status *st) {
    (void)st;
    r->timing = (struct nnvts_timing){700, 900};
}

static void tell_wrong_times(struct nnvts_execution_result *r, enum nnvts_status *st) {
    (void)st;
    r->timing = (struct nnvts_timing){900, 700};
}

static void time_is_measured(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *any = api_compile(&n), *c = api_compile_for(&n, wrapped_device(&adder));
    float out[3];
    uint64_t ns = 0;
    ANeuralNetworksExecution *e = api_execution_on(any, A, B, out, 3);
    IS(BAD_DATA, ANeuralNetworksExecution_setMeasureTiming(e, true));
    IS(BAD_DATA, ANeuralNetworksExecution_setTimeout(e, 1));
    ANeuralNetworksExecution_free(e);

    adder.lie = tell_times;
    e = api_execution_on(c, A, B, out, 3);
    OK(ANeuralNetworksExecution_setMeasureTiming(e, true));
    OK(ANeuralNetworksExecution_setTimeout(e, UINT64_C(60000000000)));
    OK(ANeuralNetworksExecution_setLoopTimeout(e, UINT64_MAX)); /* clamped */
    IS(BAD_STATE, ANeuralNetworksExecution_getDuration(e, ANEURALNETWORKS_DURATION_ON_HARDWARE, &ns));
    assert_true(ns == UINT64_MAX);
    const uint64_t before = nnv_now_ns();
    OK(ANeuralNetworksExecution_compute(e));
    assert_true(adder.config.measure_timing);
    assert_true(adder.config.deadline_ns >= before + UINT64_C(60000000000));
    assert_true(adder.config.deadline_ns <= nnv_now_ns() + UINT64_C(60000000000));
    assert_true(adder.config.loop_timeout_ns == NNVTS_LOOP_TIMEOUT_MAX_NS);
    OK(ANeuralNetworksExecution_getDuration(e, ANEURALNETWORKS_DURATION_ON_HARDWARE, &ns));
    assert_true(ns == 700);
    OK(ANeuralNetworksExecution_getDuration(e, ANEURALNETWORKS_DURATION_IN_DRIVER, &ns));
    assert_true(ns == 900);
    OK(ANeuralNetworksExecution_getDuration(e, ANEURALNETWORKS_FENCED_DURATION_ON_HARDWARE, &ns));
    assert_true(ns == 700);
    IS(BAD_DATA, ANeuralNetworksExecution_getDuration(e, 4, &ns));
    assert_true(ns == UINT64_MAX);
    ANeuralNetworksExecution_free(e);

    adder.lie = tell_wrong_times;
    e = api_execution_on(c, A, B, out, 3);
    OK(ANeuralNetworksExecution_setMeasureTiming(e, true));
    OK(ANeuralNetworksExecution_compute(e));
    OK(ANeuralNetworksExecution_getDuration(e, ANEURALNETWORKS_DURATION_IN_DRIVER, &ns));
    assert_true(ns == UINT64_MAX); /* what can't be is not passed on */
    ANeuralNetworksExecution_free(e);
    e = api_execution_on(c, A, B, out, 3);
    OK(ANeuralNetworksExecution_compute(e));
    IS(BAD_STATE, ANeuralNetworksExecution_getDuration(e, ANEURALNETWORKS_DURATION_IN_DRIVER, &ns));
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(any);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

/* -------------------------------------------------------------- drivers that fail */

static void statuses_are_results(void **state) {
    (void)state;
    static const struct {
        enum nnvts_status status;
        int result;
    } table[] = {
        {NNVTS_STATUS_DEVICE_UNAVAILABLE, ANEURALNETWORKS_UNAVAILABLE_DEVICE},
        {NNVTS_STATUS_GENERAL_FAILURE, ANEURALNETWORKS_OP_FAILED},
        {NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE, ANEURALNETWORKS_OP_FAILED}, /* without shapes */
        {NNVTS_STATUS_INVALID_ARGUMENT, ANEURALNETWORKS_BAD_DATA},
        {NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT, ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT},
        {NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT, ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT},
        {NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT},
        {NNVTS_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT},
        {(enum nnvts_status)77, ANEURALNETWORKS_OP_FAILED},
        {NNVTS_STATUS_DEAD_OBJECT, ANEURALNETWORKS_DEAD_OBJECT},
    };
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *named = api_compile_for(&n, wrapped_device(&adder)), *any = api_compile(&n);
    for (uint32_t i = 0; i < COUNT_OF(table); i++) {
        float out[3] = {0};
        uint32_t rank;
        adder.fail = table[i].status;
        ANeuralNetworksExecution *e = api_execution_on(named, A, B, out, 3);
        assert_int_equal(ANeuralNetworksExecution_compute(e), table[i].result);
        IS(BAD_STATE, ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank));
        ANeuralNetworksExecution_free(e);
        e = api_execution_on(any, A, B, out, 3); /* falls back to the CPU */
        OK(ANeuralNetworksExecution_compute(e));
        assert_memory_equal(out, SUM, sizeof out);
        ANeuralNetworksExecution_free(e);
    }
    assert_true(atomic_load(&wrapped_device(&adder)->dead));
    ANeuralNetworksCompilation_free(named);
    ANeuralNetworksCompilation_free(any);
    api_net_free(&n);
}

static void one_step_falls_back(void **state) {
    (void)state;
    struct api_net n = api_sum_times(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    float out[3] = {0};
    multiplier.fail = NNVTS_STATUS_GENERAL_FAILURE;
    ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
    OK(ANeuralNetworksExecution_compute(e));
    assert_memory_equal(out, SUM_TIMES, sizeof out);
    assert_int_equal(adder.executed, 1); /* its work was not done again */
    assert_int_equal(multiplier.executed, 1);
    assert_null(c->cpu_plan);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

/* ------------------------------------------------------------- drivers that lie */

static void lie_count(struct nnvts_execution_result *r, enum nnvts_status *st) {
    (void)st;
    r->shape_count = 2;
}
static void lie_rank(struct nnvts_execution_result *r, enum nnvts_status *st) {
    (void)st;
    r->shapes[0].dimension_count = 1000;
}
static void lie_extent(struct nnvts_execution_result *r, enum nnvts_status *st) {
    (void)st;
    r->shapes[0].dimensions[0] = 4;
}
static void lie_smaller(struct nnvts_execution_result *r, enum nnvts_status *st) {
    (void)st;
    r->shapes[0].dimensions[0] = 2; /* which would have room */
}
static void lie_not_sufficient(struct nnvts_execution_result *r, enum nnvts_status *st) {
    (void)st;
    r->shapes[0].is_sufficient = false;
}
static void lie_insufficient(struct nnvts_execution_result *r, enum nnvts_status *st) {
    *st = NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE; /* though no output says so */
    r->shape_count = 1;
}
static void lie_too_small(struct nnvts_execution_result *r, enum nnvts_status *st) {
    *st = NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE; /* though there is room */
    r->shapes[0].is_sufficient = false;
}
static void lie_nothing(struct nnvts_execution_result *r, enum nnvts_status *st) {
    (void)st;
    r->shape_count = 0;
}

static void lies_are_failures(void **state) {
    (void)state;
    void (*const lies[])(struct nnvts_execution_result *, enum nnvts_status *) = {
        lie_count, lie_rank, lie_extent, lie_not_sufficient, lie_insufficient, lie_too_small};
    struct api_net known = api_sum(3), open = api_sum(0);
    ANeuralNetworksCompilation *c = api_compile_for(&known, wrapped_device(&adder)),
                               *o = api_compile_for(&open, wrapped_device(&adder));
    float out[3];
    for (uint32_t i = 0; i < COUNT_OF(lies); i++) {
        adder.lie = lies[i];
        ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
        IS(OP_FAILED, ANeuralNetworksExecution_compute(e));
        ANeuralNetworksExecution_free(e);
        e = api_execution_on(o, A, B, out, 3);
        IS(OP_FAILED, ANeuralNetworksExecution_compute(e));
        ANeuralNetworksExecution_free(e);
    }
    adder.lie = lie_smaller;
    ANeuralNetworksExecution *small = api_execution_on(c, A, B, out, 3);
    IS(OP_FAILED, ANeuralNetworksExecution_compute(small));
    ANeuralNetworksExecution_free(small);
    struct api_net ranks = api_net_new(); /* nothing is known of the output */
    const uint32_t x = api_vec(&ranks, 3), y = api_vec(&ranks, 3),
                   unknown = api_operand(&ranks, ANEURALNETWORKS_TENSOR_FLOAT32, 0, NULL);
    api_binary(&ranks, ANEURALNETWORKS_ADD, x, y, unknown);
    api_net_finish(&ranks, LIST(x, y), LIST(unknown));
    ANeuralNetworksCompilation *r = api_compile_for(&ranks, wrapped_device(&adder));
    for (int lies_of_rank = 0; lies_of_rank < 2; lies_of_rank++) {
        adder.lie = lies_of_rank ? lie_rank : NULL;
        ANeuralNetworksExecution *f = api_execution_on(r, A, B, out, 3);
        const int result = ANeuralNetworksExecution_compute(f);
        assert_int_equal(result, lies_of_rank ? ANEURALNETWORKS_OP_FAILED : ANEURALNETWORKS_NO_ERROR);
        ANeuralNetworksExecution_free(f);
    }
    ANeuralNetworksCompilation_free(r);
    api_net_free(&ranks);
    adder.lie = lie_nothing; /* allowed where the shapes are known */
    ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
    OK(ANeuralNetworksExecution_compute(e));
    ANeuralNetworksExecution_free(e);
    e = api_execution_on(o, A, B, out, 3);
    IS(OP_FAILED, ANeuralNetworksExecution_compute(e));
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksCompilation_free(o);
    api_net_free(&known);
    api_net_free(&open);
}

/* ----------------------------------------------------------------- dynamic shapes */

static void unknown_sizes_pass_between_steps(void **state) {
    (void)state;
    enum { MANY = 5000 }; /* more than the room that is tried first */
    struct api_net n = api_sum_times(0);
    ANeuralNetworksCompilation *c = api_compile(&n);
    static float a[MANY], b[MANY], out[MANY];
    assert_false(c->plan->simple);
    for (int i = 0; i < MANY; i++) {
        a[i] = (float)i;
        b[i] = 2;
    }
    ANeuralNetworksExecution *e = api_execution_on(c, a, b, out, MANY);
    OK(ANeuralNetworksExecution_setReusable(e, true));
    OK(ANeuralNetworksExecution_compute(e));
    for (int i = 0; i < MANY; i++) assert_true(out[i] == (float)(2 * i + 4));
    assert_int_equal(adder.executed, 2); /* once to learn the size */
    assert_int_equal(multiplier.executed, 1);
    OK(ANeuralNetworksExecution_compute(e));
    assert_int_equal(adder.executed, 3); /* the room was kept */
    ANeuralNetworksExecution_free(e);

    const uint32_t three = 3;
    const ANeuralNetworksOperandType t = {
        .type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = &three};
    uint32_t dims = 0;
    e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInput(e, 0, &t, A, 12));
    OK(ANeuralNetworksExecution_setInput(e, 1, &t, B, 12));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, 4));
    IS(OUTPUT_INSUFFICIENT_SIZE, ANeuralNetworksExecution_compute(e));
    IS(OUTPUT_INSUFFICIENT_SIZE, ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, &dims));
    assert_int_equal(dims, 3);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

/* Both outputs are too small; the step that writes the second has not run when that of the first fails. */
static void all_sizes_are_told_at_once(void **state) {
    (void)state;
    struct api_net n = api_net_new();
    const uint32_t a = api_vec(&n, 0), b = api_vec(&n, 0), sum = api_vec(&n, 0), out = api_vec(&n, 0), three = 3;
    api_binary(&n, ANEURALNETWORKS_ADD, a, b, sum);
    api_binary(&n, ANEURALNETWORKS_MUL, sum, b, out);
    api_net_finish(&n, LIST(a, b), LIST(sum, out));
    ANeuralNetworksCompilation *c = api_compile(&n);
    const ANeuralNetworksOperandType t = {
        .type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = &three};
    ANeuralNetworksExecution *e = api_execution_of(c);
    float got[2] = {7, 7};
    uint32_t dims = 0;
    OK(ANeuralNetworksExecution_setInput(e, 0, &t, A, 12));
    OK(ANeuralNetworksExecution_setInput(e, 1, &t, B, 12));
    for (int i = 0; i < 2; i++) OK(ANeuralNetworksExecution_setOutput(e, i, NULL, &got[i], 4));
    IS(OUTPUT_INSUFFICIENT_SIZE, ANeuralNetworksExecution_compute(e));
    for (int i = 0; i < 2; i++) {
        dims = 0;
        IS(OUTPUT_INSUFFICIENT_SIZE, ANeuralNetworksExecution_getOutputOperandDimensions(e, i, &dims));
        assert_int_equal(dims, 3);
    }
    assert_int_equal(multiplier.executed, 1);
    assert_true(got[1] == 7);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

/* ------------------------------------------------------------------ other threads */

static void runs_on_another_thread(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    float out[3] = {0};
    uint32_t rank;
    int fd = 7;
    ANeuralNetworksEvent *event = (void *)1;
    ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
    IS(UNEXPECTED_NULL, ANeuralNetworksExecution_startCompute(e, NULL));
    IS(UNEXPECTED_NULL, ANeuralNetworksExecution_startCompute(NULL, &event));
    assert_null(event);
    OK(ANeuralNetworksExecution_startCompute(e, &event));
    IS(BAD_STATE, ANeuralNetworksExecution_compute(e));
    IS(BAD_STATE, ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank)); /* not before it was waited for */
    IS(BAD_DATA, ANeuralNetworksEvent_getSyncFenceFd(event, &fd));
    assert_int_equal(fd, -1);
    ANeuralNetworksExecution_free(e); /* is ignored */
    OK(ANeuralNetworksEvent_wait(event));
    OK(ANeuralNetworksEvent_wait(event));
    assert_memory_equal(out, SUM, sizeof out);
    OK(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank));
    ANeuralNetworksExecution_free(e);
    OK(ANeuralNetworksEvent_wait(event)); /* it does not need the execution any more */
    ANeuralNetworksEvent_free(event);
    ANeuralNetworksEvent_free(NULL);
    IS(UNEXPECTED_NULL, ANeuralNetworksEvent_wait(NULL));
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

/** The threads that wait for work are the parent's. */
static void runs_in_a_forked_child(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it allows no threads in the child of a process that had some */
#endif
    if (in_emulator()) skip(); /* which ends when a process with threads forks */
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    for (int child = 0; child < 2; child++) {
        const pid_t pid = child ? fork() : 0;
        float out[3] = {0};
        int status = 0;
        if (pid == 0) {
            ANeuralNetworksEvent *event = NULL;
            ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
            if (child) alarm(10);
            OK(ANeuralNetworksExecution_startCompute(e, &event));
            OK(ANeuralNetworksEvent_wait(event));
            assert_memory_equal(out, SUM, sizeof out);
            if (child) _exit(0);
            ANeuralNetworksEvent_free(event);
            ANeuralNetworksExecution_free(e);
            await_others_asleep();
            continue;
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void *compute_often(void *argument) {
    ANeuralNetworksCompilation *c = argument;
    for (int i = 0; i < 20; i++) {
        float out[3] = {0};
        ANeuralNetworksEvent *event = NULL;
        ANeuralNetworksExecution *e = api_execution_on(c, A, B, out, 3);
        OK(i % 2 ? ANeuralNetworksExecution_compute(e) : ANeuralNetworksExecution_startCompute(e, &event));
        ANeuralNetworksEvent_free(event);
        assert_memory_equal(out, SUM_TIMES, sizeof out);
        ANeuralNetworksExecution_free(e);
    }
    return NULL;
}

static void threads_share_a_compilation(void **state) {
    (void)state;
    enum { THREADS = 6 };
    struct api_net n = api_sum_times(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    pthread_t threads[THREADS];
    multiplier.fail = NNVTS_STATUS_GENERAL_FAILURE; /* all want the CPU's step at once */
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, compute_often, c), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(adder.executed, THREADS * 20);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

int main(void) {
    setenv("NNVTS_LOG", "0", 1);
#define FAKES(f) cmocka_unit_test_setup_teardown(f, open_fakes, close_fakes)
    const struct CMUnitTest tests[] = {
        FAKES(computes_on_one_driver),
        FAKES(computes_on_two_drivers),
        FAKES(memories_are_passed_on),
        FAKES(arguments_are_checked),
        FAKES(padding_is_told_to_drivers),
        FAKES(runs_once_or_is_reusable),
        FAKES(shapes_are_completed_and_told),
        FAKES(time_is_measured),
        FAKES(statuses_are_results),
        FAKES(one_step_falls_back),
        FAKES(lies_are_failures),
        FAKES(unknown_sizes_pass_between_steps),
        FAKES(all_sizes_are_told_at_once),
        FAKES(runs_on_another_thread),
        FAKES(runs_in_a_forked_child),
        FAKES(threads_share_a_compilation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
