/* SPDX-License-Identifier: Apache-2.0 */
/** Memory descriptors, memory of devices, the shared memory that stands in for it, and copies. */
#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kit/runtime.h"

static ANeuralNetworksMemoryDesc *desc_of(ANeuralNetworksCompilation *from, ANeuralNetworksCompilation *to) {
    ANeuralNetworksMemoryDesc *d = NULL;
    OK(ANeuralNetworksMemoryDesc_create(&d));
    if (from) OK(ANeuralNetworksMemoryDesc_addOutputRole(d, from, 0, 1));
    if (to) OK(ANeuralNetworksMemoryDesc_addInputRole(d, to, 0, 0.5f));
    return d;
}

/** Output 0 of one compilation, and input 0 of the other; either may be NULL. */
static int memory_between(ANeuralNetworksCompilation *from, ANeuralNetworksCompilation *to, ANeuralNetworksMemory **m) {
    ANeuralNetworksMemoryDesc *d = desc_of(from, to);
    OK(ANeuralNetworksMemoryDesc_finish(d));
    const int result = ANeuralNetworksMemory_createFromDesc(d, m);
    ANeuralNetworksMemoryDesc_free(d);
    return result;
}

static ANeuralNetworksMemory *file_memory(size_t bytes, const void *data) {
    ANeuralNetworksMemory *m = NULL;
    const int fd = memfd_create("test", 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    OK(ANeuralNetworksMemory_createFromFd(bytes, PROT_READ | PROT_WRITE, fd, 0, &m));
    close(fd);
    if (data) memcpy(m->memory.data, data, bytes);
    return m;
}

/* ----------------------------------------------------------------- descriptors */

static void roles_are_checked(void **state) {
    (void)state;
    struct api_net n = api_sum(3), other = api_sum(4), open = api_sum(0), integers = api_net_new();
    const uint32_t three = 3, four = 4, dims[] = {3, 1};
    const uint32_t x = api_operand(&integers, ANEURALNETWORKS_TENSOR_INT32, 1, &three);
    const uint32_t y = api_operand(&integers, ANEURALNETWORKS_TENSOR_INT32, 1, &three);
    api_binary(&integers, ANEURALNETWORKS_ADD, x, x, y);
    api_net_finish(&integers, LIST(x), LIST(y));
    ANeuralNetworksCompilation *c = api_compile(&n), *o = api_compile(&other), *u = api_compile(&open),
                               *i = api_compile(&integers);
    ANeuralNetworksCompilation *unfinished = NULL;
    OK(ANeuralNetworksCompilation_create(n.model, &unfinished));
    ANeuralNetworksMemoryDesc *d = NULL;
    ANeuralNetworksMemory *m = (void *)1;
    IS(UNEXPECTED_NULL, ANeuralNetworksMemoryDesc_create(NULL));
    OK(ANeuralNetworksMemoryDesc_create(&d));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_finish(d)); /* no roles */
    IS(UNEXPECTED_NULL, ANeuralNetworksMemoryDesc_addInputRole(NULL, c, 0, 1));
    IS(UNEXPECTED_NULL, ANeuralNetworksMemoryDesc_addInputRole(d, NULL, 0, 1));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_addInputRole(d, unfinished, 0, 1));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_addInputRole(d, c, 2, 1));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_addOutputRole(d, c, 1, 1));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 0));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 1.5f));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, -1));
    OK(ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 1));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 1)); /* twice */
    OK(ANeuralNetworksMemoryDesc_addInputRole(d, c, 1, 1));
    OK(ANeuralNetworksMemoryDesc_addOutputRole(d, c, 0, 1));
    OK(ANeuralNetworksMemoryDesc_addInputRole(d, u, 0, 1));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_addInputRole(d, o, 0, 1)); /* 4, not 3 */
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_addInputRole(d, i, 0, 1)); /* of integers */
    IS(UNEXPECTED_NULL, ANeuralNetworksMemoryDesc_setDimensions(d, 1, NULL));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_setDimensions(d, 1, &four));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_setDimensions(d, 2, dims));
    OK(ANeuralNetworksMemoryDesc_setDimensions(d, 1, &three));
    IS(BAD_STATE, ANeuralNetworksMemory_createFromDesc(d, &m));
    assert_null(m);
    OK(ANeuralNetworksMemoryDesc_finish(d));
    IS(BAD_STATE, ANeuralNetworksMemoryDesc_finish(d));
    IS(BAD_STATE, ANeuralNetworksMemoryDesc_addInputRole(d, u, 1, 1));
    IS(BAD_STATE, ANeuralNetworksMemoryDesc_setDimensions(d, 1, &three));
    IS(UNEXPECTED_NULL, ANeuralNetworksMemory_createFromDesc(d, NULL));
    IS(UNEXPECTED_NULL, ANeuralNetworksMemory_createFromDesc(NULL, &m));
    ANeuralNetworksMemoryDesc_free(d);
    ANeuralNetworksMemoryDesc_free(NULL);
    OK(ANeuralNetworksMemoryDesc_create(&d));
    OK(ANeuralNetworksMemoryDesc_setDimensions(d, 1, &four)); /* before the roles */
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 1));
    OK(ANeuralNetworksMemoryDesc_addInputRole(d, o, 0, 1));
    ANeuralNetworksMemoryDesc_free(d);
    for (struct api_net *each[] = {&n, &other, &open, &integers}, **p = each; p < each + 4; p++) {
        ANeuralNetworksCompilation *all[] = {c, o, u, i};
        ANeuralNetworksCompilation_free(all[p - each]);
        if (p == each) ANeuralNetworksCompilation_free(unfinished);
        api_net_free(*p);
    }
}

/* ---------------------------------------------------------------- in the device */

static void stays_in_the_device(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksMemory *m = NULL;
    float out[3] = {0};
    OK(memory_between(c, c, &m));
    assert_int_equal(adder.allocated, 1);
    assert_int_equal(m->memory.kind, NNVTS_MEMORY_DEVICE);
    ANeuralNetworksExecution *first = api_execution_of(c), *second = api_execution_of(c), *early = api_execution_of(c);
    IS(BAD_DATA, ANeuralNetworksExecution_setInputFromMemory(first, 1, NULL, m, 0, 0)); /* no role */
    IS(BAD_DATA, ANeuralNetworksExecution_setInputFromMemory(first, 0, NULL, m, 0, 12));
    IS(BAD_DATA, ANeuralNetworksExecution_setOutputFromMemory(first, 0, NULL, m, 4, 0));
    OK(ANeuralNetworksExecution_setInputFromMemory(early, 0, NULL, m, 0, 0));
    OK(ANeuralNetworksExecution_setInput(early, 1, NULL, B, sizeof B));
    OK(ANeuralNetworksExecution_setOutput(early, 0, NULL, out, sizeof out));
    IS(OP_FAILED, ANeuralNetworksExecution_compute(early)); /* it holds nothing yet */
    OK(ANeuralNetworksExecution_setInput(first, 0, NULL, A, sizeof A));
    OK(ANeuralNetworksExecution_setInput(first, 1, NULL, B, sizeof B));
    OK(ANeuralNetworksExecution_setOutputFromMemory(first, 0, NULL, m, 0, 0));
    OK(ANeuralNetworksExecution_compute(first));
    OK(ANeuralNetworksExecution_setInputFromMemory(second, 0, NULL, m, 0, 0));
    OK(ANeuralNetworksExecution_setInput(second, 1, NULL, B, sizeof B));
    OK(ANeuralNetworksExecution_setOutput(second, 0, NULL, out, sizeof out));
    OK(ANeuralNetworksExecution_compute(second));
    for (int i = 0; i < 3; i++) assert_true(out[i] == SUM[i] + B[i]);
    const struct nnvts_memory *pool = &adder.pools[adder.in[0].location.pool];
    assert_int_equal(pool->kind, NNVTS_MEMORY_DEVICE);
    assert_int_equal(pool->token, m->buffer->token);
    assert_int_equal(adder.executed, 2);
    ANeuralNetworksExecution_free(first);
    ANeuralNetworksExecution_free(second);
    ANeuralNetworksExecution_free(early);
    ANeuralNetworksMemory_free(m);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void a_failure_leaves_nothing(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile_for(&n, wrapped_device(&adder));
    ANeuralNetworksMemory *m = NULL, *file = file_memory(12, A);
    float out[3];
    OK(memory_between(c, c, &m));
    OK(ANeuralNetworksMemory_copy(file, m));
    ANeuralNetworksExecution *e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, A, sizeof A));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, B, sizeof B));
    OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, m, 0, 0));
    adder.fail = NNVTS_STATUS_GENERAL_FAILURE;
    IS(OP_FAILED, ANeuralNetworksExecution_compute(e));
    IS(BAD_DATA, ANeuralNetworksMemory_copy(m, file));
    ANeuralNetworksExecution_free(e);
    adder.fail = NNVTS_STATUS_NONE;
    e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 0, 0));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, B, sizeof B));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, sizeof out));
    IS(OP_FAILED, ANeuralNetworksExecution_compute(e));
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksMemory_free(m);
    ANeuralNetworksMemory_free(file);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static int descriptors(void) {
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    assert_non_null(d);
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

static void the_cpu_can_use_it(void **state) {
    (void)state;
    struct api_net n = api_sum(3);
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksMemory *in = NULL, *out = NULL, *file = file_memory(12, A);
    OK(memory_between(NULL, c, &in));
    OK(memory_between(c, NULL, &out));
    OK(ANeuralNetworksMemory_copy(file, in));
    adder.fail = NNVTS_STATUS_GENERAL_FAILURE;
    const int before = descriptors();
    for (int i = 0; i < 3; i++) {
        ANeuralNetworksExecution *e = api_execution_of(c);
        OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, in, 0, 0));
        OK(ANeuralNetworksExecution_setInput(e, 1, NULL, B, sizeof B));
        OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, out, 0, 0));
        OK(ANeuralNetworksExecution_compute(e)); /* on the CPU, which has no access to the device's memory */
        assert_int_equal(adder.executed, i + 1);
        ANeuralNetworksExecution_free(e);
        assert_int_equal(descriptors(), before); /* of the memory between them nothing is left */
        OK(ANeuralNetworksMemory_copy(out, file));
        assert_memory_equal(file->memory.data, SUM, sizeof SUM);
    }
    ANeuralNetworksMemory_free(in);
    ANeuralNetworksMemory_free(out);
    ANeuralNetworksMemory_free(file);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

/** Of a compilation that is split, one device has all steps that use an argument, or it has not. */
static void roles_of_split_models(void **state) {
    (void)state;
    struct api_net n = api_sum_times(3); /* a: the adder's; b: both; the result: the multiplier's */
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksMemory *a = NULL, *b = NULL, *result = NULL, *file = file_memory(12, A), *more = file_memory(12, B);
    OK(memory_between(NULL, c, &a));
    assert_int_equal(adder.allocated, 1);
    OK(memory_between(c, NULL, &result));
    assert_int_equal(multiplier.allocated, 1);
    ANeuralNetworksMemoryDesc *d = NULL;
    OK(ANeuralNetworksMemoryDesc_create(&d));
    OK(ANeuralNetworksMemoryDesc_addInputRole(d, c, 1, 1));
    OK(ANeuralNetworksMemoryDesc_finish(d));
    OK(ANeuralNetworksMemory_createFromDesc(d, &b));
    ANeuralNetworksMemoryDesc_free(d);
    assert_int_equal(b->memory.kind, NNVTS_MEMORY_SHARED);
    assert_int_equal(adder.allocated + multiplier.allocated, 2);
    OK(ANeuralNetworksMemory_copy(file, a));
    OK(ANeuralNetworksMemory_copy(more, b));
    ANeuralNetworksExecution *e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, a, 0, 0));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, b, 0, 0));
    OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, result, 0, 0));
    OK(ANeuralNetworksExecution_compute(e));
    OK(ANeuralNetworksMemory_copy(result, file));
    assert_memory_equal(file->memory.data, SUM_TIMES, sizeof SUM_TIMES);
    ANeuralNetworksExecution_free(e);
    for (ANeuralNetworksMemory *all[] = {a, b, result, file, more}, **p = all; p < all + 5; p++)
        ANeuralNetworksMemory_free(*p);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

/* ------------------------------------------------------------- shared memory instead */

static void shared_memory_stands_in(void **state) {
    (void)state;
    struct api_net n = api_sum(3), open = api_sum(0);
    ANeuralNetworksCompilation *any = api_compile(&n), *named = api_compile_for(&n, wrapped_device(&adder)),
                               *o = api_compile(&open);
    ANeuralNetworksMemory *m = NULL;
    float out[3] = {0};
    adder.fail_allocate = NNVTS_STATUS_GENERAL_FAILURE;
    IS(OP_FAILED, memory_between(named, NULL, &m)); /* devices were named */
    assert_null(m);
    IS(OP_FAILED, memory_between(o, NULL, &m)); /* of what size? */
    OK(memory_between(any, any, &m));
    assert_int_equal(m->memory.kind, NNVTS_MEMORY_SHARED);
    assert_int_equal(m->memory.size, 12);
    adder.fail_allocate = NNVTS_STATUS_NONE;
    ANeuralNetworksExecution *e = api_execution_of(any), *f = api_execution_of(any);
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, A, sizeof A));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, B, sizeof B));
    OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, m, 0, 0));
    OK(ANeuralNetworksExecution_setInputFromMemory(f, 0, NULL, m, 0, 0));
    OK(ANeuralNetworksExecution_setInput(f, 1, NULL, B, sizeof B));
    OK(ANeuralNetworksExecution_setOutput(f, 0, NULL, out, sizeof out));
    OK(ANeuralNetworksExecution_setReusable(f, true));
    IS(OP_FAILED, ANeuralNetworksExecution_compute(f)); /* the rules are the same */
    OK(ANeuralNetworksExecution_compute(e));
    OK(ANeuralNetworksExecution_compute(f));
    for (int i = 0; i < 3; i++) assert_true(out[i] == SUM[i] + B[i]);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksExecution_free(f);
    ANeuralNetworksMemory_free(m);
    adder.bad_token = true; /* it says NONE and gives nothing */
    IS(OP_FAILED, memory_between(named, NULL, &m));
    OK(memory_between(any, NULL, &m));
    assert_int_equal(m->memory.kind, NNVTS_MEMORY_SHARED);
    ANeuralNetworksMemory_free(m);
    ANeuralNetworksCompilation_free(any);
    ANeuralNetworksCompilation_free(named);
    ANeuralNetworksCompilation_free(o);
    api_net_free(&n);
    api_net_free(&open);
}

/* ------------------------------------------------------------------ unknown shapes */

static void holds_the_shape_of_its_value(void **state) {
    (void)state;
    struct api_net n = api_sum(0);
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksMemory *m = NULL;
    const uint32_t two = 2, three = 3;
    ANeuralNetworksOperandType t = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = &three};
    float out[3] = {0};
    OK(memory_between(c, c, &m));
    ANeuralNetworksExecution *e = api_execution_of(c);
    OK(ANeuralNetworksExecution_setInput(e, 0, &t, A, sizeof A));
    OK(ANeuralNetworksExecution_setInput(e, 1, &t, B, sizeof B));
    OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, m, 0, 0));
    OK(ANeuralNetworksExecution_compute(e));
    ANeuralNetworksExecution_free(e);
    for (int right = 0; right < 2; right++) {
        t.dimensions = right ? &three : &two;
        e = api_execution_of(c);
        IS(BAD_DATA, ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 0, 0)); /* of unknown shape */
        OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, &t, m, 0, 0));
        OK(ANeuralNetworksExecution_setInput(e, 1, &t, B, 4 * *t.dimensions));
        OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, sizeof out));
        if (right)
            OK(ANeuralNetworksExecution_compute(e));
        else
            IS(OP_FAILED, ANeuralNetworksExecution_compute(e));
        ANeuralNetworksExecution_free(e);
    }
    for (int i = 0; i < 3; i++) assert_true(out[i] == SUM[i] + B[i]);
    ANeuralNetworksMemory *file = file_memory(12, A), *small = file_memory(8, A);
    IS(BAD_DATA, ANeuralNetworksMemory_copy(m, small));
    OK(ANeuralNetworksMemory_copy(m, file));
    assert_memory_equal(file->memory.data, SUM, sizeof SUM);
    IS(BAD_DATA, ANeuralNetworksMemory_copy(file, m)); /* a file has no shape, nor does the memory declare one */
    ANeuralNetworksMemory_free(file);
    ANeuralNetworksMemory_free(small);
    ANeuralNetworksMemory_free(m);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

/** A scalar has no extents; its memory is as uninitialised as any. */
static void scalar_memory(bool shared) {
    struct api_net n = api_net_new();
    const uint32_t one = 1;
    const int32_t two[] = {2};
    const uint32_t shape = api_operand(&n, ANEURALNETWORKS_TENSOR_INT32, 1, &one);
    const uint32_t value = api_operand(&n, ANEURALNETWORKS_FLOAT32, 0, NULL), out = api_vec(&n, 2);
    OK(ANeuralNetworksModel_setOperandValue(n.model, (int32_t)shape, two, sizeof two));
    api_operation(&n, ANEURALNETWORKS_FILL, LIST(shape, value), LIST(out));
    api_net_finish(&n, LIST(value), LIST(out));
    adder.supports[ANEURALNETWORKS_FILL] = true;
    adder.fail_allocate = shared ? NNVTS_STATUS_GENERAL_FAILURE : NNVTS_STATUS_NONE;
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksMemoryDesc *d = NULL;
    ANeuralNetworksMemory *m = NULL, *file = file_memory(4, &A[1]);
    OK(ANeuralNetworksMemoryDesc_create(&d));
    OK(ANeuralNetworksMemoryDesc_setDimensions(d, 1, &one));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 1));
    ANeuralNetworksMemoryDesc_free(d);
    OK(ANeuralNetworksMemoryDesc_create(&d));
    OK(ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 1));
    IS(BAD_DATA, ANeuralNetworksMemoryDesc_setDimensions(d, 1, &one));
    OK(ANeuralNetworksMemoryDesc_setDimensions(d, 0, NULL));
    OK(ANeuralNetworksMemoryDesc_finish(d));
    OK(ANeuralNetworksMemory_createFromDesc(d, &m));
    ANeuralNetworksMemoryDesc_free(d);
    assert_int_equal(m->memory.kind, shared ? NNVTS_MEMORY_SHARED : NNVTS_MEMORY_DEVICE);
    for (int filled = 0; filled < 2; filled++) {
        float values[2] = {0};
        ANeuralNetworksExecution *e = api_execution_of(c);
        OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 0, 0));
        OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, values, sizeof values));
        if (filled) OK(ANeuralNetworksMemory_copy(file, m));
        assert_int_equal(ANeuralNetworksExecution_compute(e),
                         filled ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OP_FAILED);
        if (filled) assert_memory_equal(values, ((float[]){2, 2}), sizeof values);
        ANeuralNetworksExecution_free(e);
    }
    ANeuralNetworksMemory_free(m);
    ANeuralNetworksMemory_free(file);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void scalars_have_memory(void **state) {
    (void)state;
    scalar_memory(false);
    scalar_memory(true);
}

/* ---------------------------------------------------------------------- copies */

/** x + x, of a shape. */
static struct api_net doubled(uint32_t rank, const uint32_t *dims) {
    struct api_net n = api_net_new();
    const uint32_t x = api_operand(&n, ANEURALNETWORKS_TENSOR_FLOAT32, rank, dims);
    const uint32_t y = api_operand(&n, ANEURALNETWORKS_TENSOR_FLOAT32, rank, dims);
    api_binary(&n, ANEURALNETWORKS_ADD, x, x, y);
    api_net_finish(&n, LIST(x), LIST(y));
    return n;
}

/** As many bytes are not enough: the shape must be the same. */
static void copies_keep_the_shape(void **state) {
    (void)state;
    static const uint32_t shapes[][2] = {{2, 3}, {3, 2}, {6, 1}, {6, 0}};
    static const float six[] = {1, 2, 3, 4, 5, 6};
    struct api_net n[4];
    ANeuralNetworksCompilation *c[4];
    ANeuralNetworksMemory *m[4], *file = file_memory(sizeof six, six);
    for (int i = 0; i < 4; i++) {
        n[i] = doubled(i < 3 ? 2 : 1, shapes[i]);
        c[i] = api_compile(&n[i]);
        OK(memory_between(NULL, c[i], &m[i]));
    }
    OK(ANeuralNetworksMemory_copy(file, m[0]));
    IS(BAD_DATA, ANeuralNetworksMemory_copy(m[0], m[1]));
    OK(ANeuralNetworksMemory_copy(file, m[2]));
    IS(BAD_DATA, ANeuralNetworksMemory_copy(m[2], m[3]));
    for (int i = 0; i < 4; i++) {
        ANeuralNetworksMemory_free(m[i]);
        ANeuralNetworksCompilation_free(c[i]);
        api_net_free(&n[i]);
    }
    ANeuralNetworksMemory_free(file);
}

/** A memory of three is no argument of two, though the model would take it. */
static void arguments_have_its_shape(void **state) {
    (void)state;
    struct api_net n = api_sum(0);
    ANeuralNetworksCompilation *c = api_compile(&n);
    ANeuralNetworksMemoryDesc *d = desc_of(c, c);
    ANeuralNetworksMemory *m = NULL;
    const uint32_t two = 2, three = 3;
    ANeuralNetworksOperandType t = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = &two};
    OK(ANeuralNetworksMemoryDesc_setDimensions(d, 1, &three));
    OK(ANeuralNetworksMemoryDesc_finish(d));
    OK(ANeuralNetworksMemory_createFromDesc(d, &m));
    ANeuralNetworksMemoryDesc_free(d);
    ANeuralNetworksExecution *e = api_execution_of(c);
    IS(BAD_DATA, ANeuralNetworksExecution_setInputFromMemory(e, 0, &t, m, 0, 0));
    IS(BAD_DATA, ANeuralNetworksExecution_setOutputFromMemory(e, 0, &t, m, 0, 0));
    t.dimensions = &three;
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, &t, m, 0, 0));
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksMemory_free(m);
    ANeuralNetworksCompilation_free(c);
    api_net_free(&n);
}

static void copies(void **state) {
    (void)state;
    struct api_net n = api_sum(3), other = api_sum(4);
    ANeuralNetworksCompilation *c = api_compile(&n), *o = api_compile(&other);
    ANeuralNetworksMemory *file = file_memory(12, A), *file2 = file_memory(12, NULL), *large = file_memory(16, NULL);
    ANeuralNetworksMemory *a = NULL, *b = NULL, *four = NULL, *shared = NULL;
    OK(memory_between(NULL, c, &a));
    OK(memory_between(c, NULL, &b));
    OK(memory_between(o, NULL, &four));
    adder.fail_allocate = NNVTS_STATUS_GENERAL_FAILURE;
    OK(memory_between(c, NULL, &shared));
    IS(UNEXPECTED_NULL, ANeuralNetworksMemory_copy(NULL, a));
    IS(UNEXPECTED_NULL, ANeuralNetworksMemory_copy(a, NULL));
    OK(ANeuralNetworksMemory_copy(a, a));
    IS(BAD_DATA, ANeuralNetworksMemory_copy(a, file)); /* it holds nothing */
    IS(BAD_DATA, ANeuralNetworksMemory_copy(large, a));
    IS(BAD_DATA, ANeuralNetworksMemory_copy(file, large));
    IS(BAD_DATA, ANeuralNetworksMemory_copy(file, four));
    OK(ANeuralNetworksMemory_copy(file, a));
    IS(BAD_DATA, ANeuralNetworksMemory_copy(a, four)); /* 3, not 4 */
    OK(ANeuralNetworksMemory_copy(a, b));
    OK(ANeuralNetworksMemory_copy(b, shared));
    OK(ANeuralNetworksMemory_copy(shared, file2));
    assert_memory_equal(file2->memory.data, A, sizeof A);
    memcpy(file->memory.data, B, sizeof B);
    /* What is refused leaves the destination without a value. */
    IS(BAD_DATA, ANeuralNetworksMemory_copy(large, b));
    IS(BAD_DATA, ANeuralNetworksMemory_copy(b, file));
    IS(BAD_DATA, ANeuralNetworksMemory_copy(b, a));
    IS(BAD_DATA, ANeuralNetworksMemory_copy(a, file));
    OK(ANeuralNetworksMemory_copy(file, file2));
    assert_memory_equal(file2->memory.data, B, sizeof B);
    for (ANeuralNetworksMemory *all[] = {file, file2, large, a, b, four, shared}, **p = all; p < all + 7; p++)
        ANeuralNetworksMemory_free(*p);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksCompilation_free(o);
    api_net_free(&n);
    api_net_free(&other);
}

static void copies_need_access(void **state) {
    (void)state;
    ANeuralNetworksMemory *in = NULL, *out = NULL;
    const int fd = memfd_create("test", 0);
    assert_int_equal(ftruncate(fd, 4096), 0);
    OK(ANeuralNetworksMemory_createFromFd(4096, PROT_READ, fd, 0, &in));
    OK(ANeuralNetworksMemory_createFromFd(4096, PROT_WRITE, fd, 0, &out));
    IS(UNMAPPABLE, ANeuralNetworksMemory_copy(out, in));
    OK(ANeuralNetworksMemory_copy(in, out));
    ANeuralNetworksMemory_free(in);
    ANeuralNetworksMemory_free(out);
    close(fd);
}

int main(void) {
    setenv("NNVTS_LOG", "0", 1);
#define FAKES(f) cmocka_unit_test_setup_teardown(f, open_fakes, close_fakes)
    const struct CMUnitTest tests[] = {
        FAKES(roles_are_checked),
        FAKES(stays_in_the_device),
        FAKES(a_failure_leaves_nothing),
        FAKES(the_cpu_can_use_it),
        FAKES(roles_of_split_models),
        FAKES(shared_memory_stands_in),
        FAKES(holds_the_shape_of_its_value),
        FAKES(copies),
        FAKES(copies_need_access),
        FAKES(scalars_have_memory),
        FAKES(copies_keep_the_shape),
        FAKES(arguments_have_its_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
