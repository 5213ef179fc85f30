/* SPDX-License-Identifier: Apache-2.0 */
/* Models of the runtime: what each function refuses, run order, levels, constants, references, slices. */
#include "tests/kit/runtime_api.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "reference/runtime/api/model/building.h"
#include "reference/runtime/plan/slice.h"

enum {
    OK = ANEURALNETWORKS_NO_ERROR,
    BAD = ANEURALNETWORKS_BAD_DATA,
    BAD_STATE = ANEURALNETWORKS_BAD_STATE,
    IS_NULL = ANEURALNETWORKS_UNEXPECTED_NULL,
    F32 = ANEURALNETWORKS_TENSOR_FLOAT32,
    I32 = ANEURALNETWORKS_INT32,
    ADD = ANEURALNETWORKS_ADD,
};

/* 0 + 1 -> 3, with 2 the activation; not finished. */
static ANeuralNetworksModel *add_model(void) {
    ANeuralNetworksModel *m = new_model();
    add_operand(m, F32, DIMS(2, 2));
    add_operand(m, F32, DIMS(2, 2));
    add_operand(m, I32, SCALAR);
    add_operand(m, F32, DIMS(2, 2));
    set_int(m, 2, 0);
    OPERATION(m, ADD, LIST(0, 1, 2), LIST(3));
    return m;
}

static ANeuralNetworksModel *finished_add(void) {
    ANeuralNetworksModel *m = add_model();
    IN_OUT(m, LIST(0, 1), LIST(3));
    FINISH(m);
    return m;
}

/* ------------------------------------------------------------------- refusals */

static void null_arguments(void **state) {
    (void)state;
    ANeuralNetworksModel *m = add_model();
    uint32_t list[1] = {0};
    bool supported[1];
    assert_int_equal(ANeuralNetworksModel_create(NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_addOperand(m, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_addOperand(NULL, &(ANeuralNetworksOperandType){0}), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(NULL, 0, list, 4), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 0, NULL, 16), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromMemory(m, 0, NULL, 0, 16), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, 0, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_addOperation(m, ADD, 0, NULL, 1, list), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_addOperation(m, ADD, 1, list, 0, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_identifyInputsAndOutputs(m, 0, NULL, 1, list), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, list, 0, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_relaxComputationFloat32toFloat16(NULL, true), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_finish(NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksModel_getSupportedOperationsForDevices(m, NULL, 1, supported), IS_NULL);
    ANeuralNetworksModel_free(NULL);
    ANeuralNetworksModel_free(m);
}

static void operand_types(void **state) {
    (void)state;
    ANeuralNetworksModel *m = new_model();
    static const uint32_t two[2] = {2, 2}, huge[3] = {65536, 65536, 2};
    assert_int_equal(try_operand(m, 99, 0, NULL, 0, 0), BAD);
    assert_int_equal(try_operand(m, -1, 0, NULL, 0, 0), BAD);
    assert_int_equal(try_operand(m, F32, 2, NULL, 0, 0), BAD);
    assert_int_equal(try_operand(m, F32, 3, huge, 0, 0), BAD);
    assert_int_equal(try_operand(m, I32, 2, two, 0, 0), BAD);
    assert_int_equal(try_operand(m, F32, 2, two, 0.5f, 0), BAD);
    assert_int_equal(try_operand(m, F32, 2, two, 0, 1), BAD);
    assert_int_equal(try_operand(m, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 2, two, 0, 0), BAD);
    assert_int_equal(try_operand(m, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 2, two, 1, 256), BAD);
    assert_int_equal(try_operand(m, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 2, two, 1, 255), OK);
    assert_int_equal(try_operand(m, 5 << 16 | 1, 0, NULL, 0, 0), BAD); /* of no extension */
    ANeuralNetworksModel_free(m);
}

static void values(void **state) {
    (void)state;
    ANeuralNetworksModel *m = new_model();
    static const float data[64] = {1, 2, 3, 4};
    add_operand(m, F32, DIMS(2, 2));
    add_operand(m, F32, DIMS(0, 2)); /* open */
    add_operand(m, F32, SCALAR);     /* of unknown rank */
    add_operand(m, ANEURALNETWORKS_MODEL, SCALAR);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 4, data, 16), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, -1, data, 16), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 0, data, 12), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 0, data, 20), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 1, data, 8), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 2, data, 4), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 3, data, 4), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 0, data, 16), OK);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 0, NULL, 0), OK);
    ANeuralNetworksModel *unfinished = add_model(), *value = finished_add();
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, 3, unfinished), BAD_STATE);
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, 4, value), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, 0, value), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, 3, value), OK);
    ANeuralNetworksModel_free(m);
    ANeuralNetworksModel_free(unfinished);
    ANeuralNetworksModel_free(value);
}

static void channel_scales(void **state) {
    (void)state;
    ANeuralNetworksModel *m = new_model();
    static const float fine[3] = {1, 2, 3}, zero[3] = {1, 0, 3};
    ANeuralNetworksSymmPerChannelQuantParams q = {.channelDim = 0, .scaleCount = 3, .scales = fine};
    add_operand(m, ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, DIMS(3, 2));
    add_operand(m, F32, DIMS(3, 2));
    assert_int_equal(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &q), OK);
    assert_int_equal(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 1, &q), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 2, &q), BAD);
    q.scales = zero;
    assert_int_equal(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &q), BAD);
    q.scales = fine;
    q.scaleCount = 2;
    assert_int_equal(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &q), BAD);
    q.channelDim = 1; /* whose extent is 2 */
    assert_int_equal(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &q), OK);
    q.scaleCount = 3;
    assert_int_equal(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &q), BAD);
    q.channelDim = 2;
    assert_int_equal(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &q), BAD);
    ANeuralNetworksModel_free(m);
}

static void operations(void **state) {
    (void)state;
    ANeuralNetworksModel *m = new_model();
    for (int i = 0; i < 3; i++) add_operand(m, F32, DIMS(2));
    add_operand(m, I32, SCALAR);
    assert_int_equal(ANeuralNetworksModel_addOperation(m, ADD, LIST(0, 1, 4), LIST(2)), BAD);  /* no operand 4 */
    assert_int_equal(ANeuralNetworksModel_addOperation(m, ADD, LIST(0, 1, 3), LIST(99)), BAD); /* no operand 99 */
    assert_int_equal(ANeuralNetworksModel_addOperation(m, ADD, LIST(0, 1), LIST(2)), BAD);     /* too few */
    assert_int_equal(ANeuralNetworksModel_addOperation(m, ADD, LIST(0, 3, 3), LIST(2)), BAD);  /* a wrong type */
    assert_int_equal(ANeuralNetworksModel_addOperation(m, 106, LIST(0, 1, 3), LIST(2)), BAD);  /* no such operation */
    assert_int_equal(ANeuralNetworksModel_addOperation(m, -1, LIST(0, 1, 3), LIST(2)), BAD);
    assert_int_equal(ANeuralNetworksModel_addOperation(m, 5 << 16, LIST(0, 1, 3), LIST(2)), BAD); /* no extension */
    assert_int_equal(ANeuralNetworksModel_addOperation(m, ADD, LIST(0, 1, 3), LIST(2)), OK);
    set_int(m, 3, 0);
    assert_int_equal(ANeuralNetworksModel_identifyInputsAndOutputs(m, LIST(0, 4), LIST(2)), BAD); /* no operand 4 */
    assert_int_equal(ANeuralNetworksModel_identifyInputsAndOutputs(m, LIST(0, 3), LIST(2)), BAD); /* a constant */
    assert_int_equal(ANeuralNetworksModel_identifyInputsAndOutputs(m, LIST(0, 0), LIST(2)), BAD);
    assert_int_equal(ANeuralNetworksModel_identifyInputsAndOutputs(m, LIST(0, 1), LIST(1)), BAD);
    IN_OUT(m, LIST(0, 1), LIST(2)); /* the refusals left no trace */
    FINISH(m);
    ANeuralNetworksModel_free(m);
}

static void states(void **state) {
    (void)state;
    ANeuralNetworksModel *fine = finished_add(), *wrong = add_model();
    assert_int_equal(ANeuralNetworksModel_identifyInputsAndOutputs(wrong, LIST(0), LIST(3)), OK); /* 1 is unwritten */
    assert_int_equal(ANeuralNetworksModel_finish(wrong), BAD);
    ANeuralNetworksModel *each[2] = {fine, wrong};
    for (int i = 0; i < 2; i++) {
        ANeuralNetworksModel *m = each[i];
        uint32_t list[1] = {0};
        const ANeuralNetworksSymmPerChannelQuantParams q = {0};
        assert_int_equal(try_operand(m, I32, 0, NULL, 0, 0), BAD_STATE);
        assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 2, list, 4), BAD_STATE);
        assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, 2, fine), BAD_STATE);
        assert_int_equal(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 2, &q), BAD_STATE);
        assert_int_equal(ANeuralNetworksModel_setOperandExtensionData(m, 2, NULL, 0), BAD_STATE);
        assert_int_equal(ANeuralNetworksModel_addOperation(m, ADD, 1, list, 1, list), BAD_STATE);
        assert_int_equal(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, list, 1, list), BAD_STATE);
        assert_int_equal(ANeuralNetworksModel_relaxComputationFloat32toFloat16(m, true), BAD_STATE);
        assert_int_equal(ANeuralNetworksModel_finish(m), BAD_STATE);
        ANeuralNetworksModel_free(m);
    }
}

/* Each of these builds a model that finish must refuse. */
static void build_empty(ANeuralNetworksModel *m) { (void)m; }
static void build_cycle(ANeuralNetworksModel *m) {
    for (int i = 0; i < 3; i++) add_operand(m, F32, DIMS(2));
    add_operand(m, I32, SCALAR);
    set_int(m, 3, 0);
    OPERATION(m, ADD, LIST(0, 2, 3), LIST(1));
    OPERATION(m, ADD, LIST(0, 1, 3), LIST(2));
    IN_OUT(m, LIST(0), LIST(2));
}
static void build_written_twice(ANeuralNetworksModel *m) {
    for (int i = 0; i < 2; i++) add_operand(m, F32, DIMS(2));
    add_operand(m, I32, SCALAR);
    set_int(m, 2, 0);
    OPERATION(m, ADD, LIST(0, 0, 2), LIST(1));
    OPERATION(m, ADD, LIST(0, 0, 2), LIST(1));
    IN_OUT(m, LIST(0), LIST(1));
}
static void build_unwritten_output(ANeuralNetworksModel *m) {
    for (int i = 0; i < 3; i++) add_operand(m, F32, DIMS(2));
    add_operand(m, I32, SCALAR);
    set_int(m, 3, 0);
    OPERATION(m, ADD, LIST(0, 0, 3), LIST(1));
    IN_OUT(m, LIST(0), LIST(1, 2));
}
static void build_writes_constant(ANeuralNetworksModel *m) {
    static const float two[2] = {1, 2};
    for (int i = 0; i < 2; i++) add_operand(m, F32, DIMS(2));
    add_operand(m, I32, SCALAR);
    set_int(m, 2, 0);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 1, two, sizeof two), OK);
    add_operand(m, F32, DIMS(2));
    OPERATION(m, ADD, LIST(0, 0, 2), LIST(1));
    OPERATION(m, ADD, LIST(0, 0, 2), LIST(3));
    IN_OUT(m, LIST(0), LIST(3));
}
static void build_constant_input(ANeuralNetworksModel *m) { /* identified, then set */
    static const float two[2] = {1, 2};
    for (int i = 0; i < 2; i++) add_operand(m, F32, DIMS(2));
    add_operand(m, I32, SCALAR);
    set_int(m, 2, 0);
    OPERATION(m, ADD, LIST(0, 0, 2), LIST(1));
    IN_OUT(m, LIST(0), LIST(1));
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 0, two, sizeof two), OK);
}
static void build_unwritten_temporary(ANeuralNetworksModel *m) { /* nor does anything read it */
    for (int i = 0; i < 2; i++) add_operand(m, F32, DIMS(2));
    add_operand(m, I32, SCALAR);
    set_int(m, 2, 0);
    add_operand(m, F32, DIMS(2));
    OPERATION(m, ADD, LIST(0, 0, 2), LIST(1));
    IN_OUT(m, LIST(0), LIST(1));
}
static void build_without_scales(ANeuralNetworksModel *m) {
    add_operand(m, ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, DIMS(2, 2));
    add_operand(m, F32, DIMS(2, 2));
    OPERATION(m, ANEURALNETWORKS_DEQUANTIZE, LIST(0), LIST(1));
    IN_OUT(m, LIST(0), LIST(1));
}

static void finish_refuses(void **state) {
    (void)state;
    void (*const build[])(ANeuralNetworksModel *) = {
        build_empty,           build_cycle,          build_written_twice,       build_unwritten_output,
        build_writes_constant, build_constant_input, build_unwritten_temporary, build_without_scales,
    };
    for (size_t i = 0; i < sizeof build / sizeof *build; i++) {
        ANeuralNetworksModel *m = new_model();
        build[i](m);
        int result = ANeuralNetworksModel_finish(m);
        if (result != BAD) fail_msg("model %zu: %d", i, result);
        ANeuralNetworksModel_free(m);
    }
}

/* -------------------------------------------------------------- what comes out */

static void run_order(void **state) {
    (void)state;
    ANeuralNetworksModel *m = new_model();
    for (int i = 0; i < 5; i++) add_operand(m, F32, DIMS(2));
    add_operand(m, I32, SCALAR);
    add_operand(m, I32, SCALAR); /* nothing uses it */
    set_int(m, 5, 0);
    set_int(m, 6, 0);
    OPERATION(m, ADD, LIST(2, 3, 5), LIST(4)); /* last */
    OPERATION(m, ADD, LIST(2, 0, 5), LIST(3));
    OPERATION(m, ADD, LIST(1, 0, 5), LIST(2)); /* first */
    IN_OUT(m, LIST(0, 1), LIST(4));
    FINISH(m);
    assert_int_equal(m->model.main.operand_count, 6);
    assert_int_equal(m->level, 1);
    const uint32_t added[3] = {2, 1, 0};
    assert_memory_equal(m->info[0].added, added, sizeof added);
    assert_int_equal(m->model.main.operations[0].outputs[0], 2);
    assert_int_equal(m->model.main.operations[2].outputs[0], 4);
    bool written[6] = {false};
    for (uint32_t k = 0; k < 3; k++) {
        const struct nnvts_operation *op = &m->model.main.operations[k];
        for (uint32_t i = 0; i < op->input_count; i++)
            if (m->model.main.operands[op->inputs[i]].lifetime == NNVTS_TEMPORARY_VARIABLE)
                assert_true(written[op->inputs[i]]);
        written[op->outputs[0]] = true;
    }
    ANeuralNetworksModel_free(m);
}

static void constants(void **state) {
    (void)state;
    ANeuralNetworksModel *m = new_model();
    float small[32], large[33], *heap = malloc(sizeof large);
    assert_non_null(heap);
    for (int i = 0; i < 33; i++) large[i] = (float)(i + 100);
    memcpy(heap, large, sizeof large);
    for (int i = 0; i < 32; i++) small[i] = (float)i;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd = memfd_create("test", 0);
    assert_int_equal(ftruncate(fd, (off_t)(2 * page)), 0);
    assert_int_equal(pwrite(fd, large, sizeof large, (off_t)page + 64), sizeof large);
    ANeuralNetworksMemory *memory = NULL;
    assert_int_equal(ANeuralNetworksMemory_createFromFd(page, PROT_READ, fd, page, &memory), OK);
    close(fd);
    add_operand(m, F32, DIMS(32));
    add_operand(m, F32, DIMS(33));
    add_operand(m, F32, DIMS(33));
    add_operand(m, I32, SCALAR);
    add_operand(m, F32, DIMS(32));
    add_operand(m, F32, DIMS(33));
    add_operand(m, F32, DIMS(32));
    set_int(m, 3, 0);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 0, small, sizeof small), OK);
    small[5] = -1; /* copied at once: not seen any more */
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 1, heap, sizeof large), OK);
    heap[5] = 1234; /* not copied before finish: seen */
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromMemory(m, 2, memory, page, sizeof large), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromMemory(m, 2, memory, 64, sizeof large - 4), BAD);
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromMemory(m, 2, memory, 64, sizeof large), OK);
    OPERATION(m, ADD, LIST(0, 6, 3), LIST(4));
    OPERATION(m, ADD, LIST(1, 2, 3), LIST(5));
    IN_OUT(m, LIST(6), LIST(4, 5));
    FINISH(m);
    free(heap);
    const struct nnvts_model *v = &m->model;
    const struct nnvts_operand *o = v->main.operands;
    assert_int_equal(o[0].lifetime, NNVTS_CONSTANT_COPY);
    assert_int_equal(o[0].location.length, 128);
    float value;
    memcpy(&value, (const uint8_t *)v->operand_values + o[0].location.offset + 20, sizeof value);
    assert_true(value == 5);
    assert_int_equal(o[1].lifetime, NNVTS_CONSTANT_REFERENCE);
    memcpy(&value, (const uint8_t *)v->pools[o[1].location.pool].data + o[1].location.offset + 20, sizeof value);
    assert_true(value == 1234);
    assert_int_equal(o[2].lifetime, NNVTS_CONSTANT_REFERENCE);
    assert_int_equal(o[2].location.offset, 64);
    assert_memory_equal((const uint8_t *)v->pools[o[2].location.pool].data + 64, large, sizeof large);
    assert_int_equal(v->pool_count, 2);
    assert_true(m->info[0].known[0]);
    assert_int_equal(m->info[0].bytes[1], 132);
    ANeuralNetworksModel_free(m);
    ANeuralNetworksMemory_free(memory);
}

/* if (0) 1 + 2 else 1 + 2; the same model twice */
static ANeuralNetworksModel *if_model(const ANeuralNetworksModel *branch) {
    ANeuralNetworksModel *m = new_model();
    add_operand(m, ANEURALNETWORKS_TENSOR_BOOL8, DIMS(1));
    add_operand(m, ANEURALNETWORKS_MODEL, SCALAR);
    add_operand(m, ANEURALNETWORKS_MODEL, SCALAR);
    for (int i = 0; i < 3; i++) add_operand(m, F32, DIMS(2, 2));
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, 1, branch), OK);
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, 2, branch), OK);
    OPERATION(m, ANEURALNETWORKS_IF, LIST(0, 1, 2, 3, 4), LIST(5));
    IN_OUT(m, LIST(0, 3, 4), LIST(5));
    return m;
}

static void references(void **state) {
    (void)state;
    ANeuralNetworksModel *leaf = finished_add();
    ANeuralNetworksModel *middle = if_model(leaf);
    FINISH(middle);
    assert_int_equal(middle->level, 4);
    assert_int_equal(middle->model.referenced_count, 1); /* once, though it is referred to twice */
    ANeuralNetworksModel *top = if_model(leaf);
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(top, 2, middle), OK); /* takes 3 inputs, not 2 */
    assert_int_equal(ANeuralNetworksModel_finish(top), BAD);
    ANeuralNetworksModel_free(top);

    top = new_model(); /* if (0) middle(1, 4, 5) else middle(...), nested in one */
    add_operand(top, ANEURALNETWORKS_TENSOR_BOOL8, DIMS(1));
    add_operand(top, ANEURALNETWORKS_MODEL, SCALAR);
    add_operand(top, ANEURALNETWORKS_MODEL, SCALAR);
    for (int i = 0; i < 3; i++) add_operand(top, F32, DIMS(2, 2));
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(top, 1, middle), OK);
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(top, 2, middle), OK);
    OPERATION(top, ANEURALNETWORKS_IF, LIST(0, 1, 2, 0, 3, 4), LIST(5));
    IN_OUT(top, LIST(0, 3, 4), LIST(5));
    FINISH(top);
    assert_int_equal(top->model.referenced_count, 2); /* middle and leaf, each once */
    const struct nnvts_subgraph *below = &top->model.referenced[top->model.main.operands[1].location.offset];
    assert_int_equal(below->operations[0].type, ANEURALNETWORKS_IF);
    uint32_t inner = below->operands[below->operations[0].inputs[1]].location.offset;
    assert_int_equal(top->model.referenced[inner].operations[0].type, ADD);
    assert_int_equal(top->info[0].levels[0], 4);
    assert_int_equal(top->info[1 + inner].levels[0], 1);
    /* the leaf's constant is found in the values of the top */
    const struct nnvts_operand *fuse = &top->model.referenced[inner].operands[2];
    assert_int_equal(fuse->lifetime, NNVTS_CONSTANT_COPY);
    int32_t value = -1;
    memcpy(&value, (const uint8_t *)top->model.operand_values + fuse->location.offset, sizeof value);
    assert_int_equal(value, 0);
    ANeuralNetworksModel_free(top);
    ANeuralNetworksModel_free(middle);
    ANeuralNetworksModel_free(leaf);
}

/* CONV_2D, implicit padding, with so many of its arguments; layout and dilations are as given. */
static ANeuralNetworksModel *convolution(bool nchw, int32_t dilation) {
    ANeuralNetworksModel *m = new_model();
    static const float weights[4] = {1, 1, 1, 1};
    add_operand(m, F32, DIMS(1, 2, 2, 1));                   /* 0 input */
    add_operand(m, F32, DIMS(1, 2, 2, 1));                   /* 1 filter */
    add_operand(m, F32, DIMS(1));                            /* 2 bias */
    for (int i = 0; i < 4; i++) add_operand(m, I32, SCALAR); /* 3 scheme, 4 5 strides, 6 activation */
    add_operand(m, ANEURALNETWORKS_BOOL, SCALAR);            /* 7 layout */
    for (int i = 0; i < 2; i++) add_operand(m, I32, SCALAR); /* 8 9 dilations */
    add_operand(m, F32, DIMS(0, 0, 0, 0));                   /* 10 output */
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 1, weights, 16), OK);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 2, weights, 4), OK);
    set_int(m, 3, ANEURALNETWORKS_PADDING_SAME);
    set_int(m, 4, 1);
    set_int(m, 5, 1);
    set_int(m, 6, 0);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 7, &nchw, 1), OK);
    set_int(m, 8, dilation);
    set_int(m, 9, 1);
    OPERATION(m, ANEURALNETWORKS_CONV_2D, LIST(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), LIST(10));
    IN_OUT(m, LIST(0), LIST(10));
    FINISH(m);
    return m;
}

static void default_arguments(void **state) {
    (void)state;
    ANeuralNetworksModel *m = convolution(false, 1);
    assert_int_equal(m->model.main.operations[0].input_count, 7);
    assert_int_equal(m->model.main.operand_count, 8);
    assert_int_equal(m->model.main.operands[7].dimension_count, 4); /* the output has moved up */
    assert_int_equal(m->info[0].operand_added[7], 10);
    assert_int_equal(m->level, 1);
    ANeuralNetworksModel_free(m);
    m = convolution(false, 2); /* says something */
    assert_int_equal(m->model.main.operations[0].input_count, 10);
    assert_int_equal(m->level, 3);
    ANeuralNetworksModel_free(m);

    m = new_model(); /* SOFTMAX along axis -1, then along 0 */
    static const float beta = 1;
    for (int i = 0; i < 3; i++) add_operand(m, F32, DIMS(2, 2));
    add_operand(m, ANEURALNETWORKS_FLOAT32, SCALAR);
    add_operand(m, I32, SCALAR);
    add_operand(m, I32, SCALAR);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 3, &beta, 4), OK);
    set_int(m, 4, -1);
    set_int(m, 5, 0);
    OPERATION(m, ANEURALNETWORKS_SOFTMAX, LIST(0, 3, 4), LIST(1));
    OPERATION(m, ANEURALNETWORKS_SOFTMAX, LIST(1, 3, 5), LIST(2));
    IN_OUT(m, LIST(0), LIST(2));
    FINISH(m);
    assert_int_equal(m->model.main.operations[0].input_count, 2);
    assert_int_equal(m->model.main.operations[1].input_count, 3);
    assert_int_equal(m->info[0].levels[0], 1);
    assert_int_equal(m->info[0].levels[1], 3);
    ANeuralNetworksModel_free(m);
}

static void levels(void **state) {
    (void)state;
    ANeuralNetworksModel *m = add_model();
    assert_int_equal(ANeuralNetworksModel_relaxComputationFloat32toFloat16(m, true), OK);
    IN_OUT(m, LIST(0, 1), LIST(3));
    FINISH(m);
    assert_int_equal(m->level, 2);
    assert_true(m->model.relax_float32_to_float16);
    ANeuralNetworksModel_free(m);
    m = new_model();
    add_operand(m, F32, SCALAR); /* of unknown rank: level 3 */
    add_operand(m, F32, SCALAR);
    OPERATION(m, ANEURALNETWORKS_RELU, LIST(0), LIST(1));
    IN_OUT(m, LIST(0), LIST(1));
    FINISH(m);
    assert_int_equal(m->level, 3);
    assert_int_equal(m->info[0].levels[0], 3); /* of the operation, too: no driver below gets it */
    assert_false(m->info[0].known[0]);
    ANeuralNetworksModel_free(m);
}

static void refine(void **state) {
    (void)state;
    static const uint32_t open[2] = {0, 2}, fine[2] = {5, 2}, other[2] = {5, 3}, longer[3] = {5, 2, 1};
    const struct nnvts_operand o = {.type = F32, .dimension_count = 2, .dimensions = open};
    ANeuralNetworksOperandType t = {.type = F32, .dimensionCount = 2, .dimensions = fine};
    uint32_t rank, dims[16];
    assert_int_equal(nnv_rt_operand_refine(&o, NULL, &rank, dims), OK);
    assert_int_equal(dims[0], 0);
    assert_int_equal(nnv_rt_operand_refine(&o, &t, &rank, dims), OK);
    assert_int_equal(rank, 2);
    assert_int_equal(dims[0], 5);
    t.dimensions = other;
    assert_int_equal(nnv_rt_operand_refine(&o, &t, &rank, dims), BAD);
    t.dimensions = longer;
    t.dimensionCount = 3;
    assert_int_equal(nnv_rt_operand_refine(&o, &t, &rank, dims), BAD);
    t = (ANeuralNetworksOperandType){.type = F32, .dimensionCount = 2, .dimensions = fine, .scale = 1};
    assert_int_equal(nnv_rt_operand_refine(&o, &t, &rank, dims), BAD);
    t = (ANeuralNetworksOperandType){.type = ANEURALNETWORKS_TENSOR_INT32, .dimensionCount = 2, .dimensions = fine};
    assert_int_equal(nnv_rt_operand_refine(&o, &t, &rank, dims), BAD);
    const struct nnvts_operand any = {.type = F32};
    t = (ANeuralNetworksOperandType){.type = F32, .dimensionCount = 3, .dimensions = longer};
    assert_int_equal(nnv_rt_operand_refine(&any, &t, &rank, dims), OK);
    assert_int_equal(rank, 3);
}

static void dot(void **state) {
    (void)state;
    ANeuralNetworksModel *m = finished_add();
    struct nnv_text t = {0};
    nnv_rt_model_dot(m, "a model", &t);
    static const char *const lines[] = {
        "// a model\ndigraph {\n",
        "  d0 [style=filled fillcolor=black fontcolor=white label=\"0 = input[0]\\nTF32(2x2)\"]\n",
        "  d2 [label=\"2: COPY\\nI32 = 0\"]\n",
        "  d3 [style=filled fillcolor=black fontcolor=white label=\"3 = output[0]\\nTF32(2x2)\"]\n",
        "  n0 [shape=box ordering=in label=\"0: ADD\"]\n",
        "  d1 -> n0 [label=1]\n",
        "  n0 -> d3\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(t.data, lines[i])) fail_msg("no '%s' in\n%s", lines[i], t.data);
    nnv_text_free(&t);
    ANeuralNetworksModel_free(m);
}

/* ---------------------------------------------------------------------- slices */

/* a = 0 + 0; b = a + 0; c = a + b; d = relu(c): outputs b and d */
static ANeuralNetworksModel *chain(void) {
    ANeuralNetworksModel *m = new_model();
    for (int i = 0; i < 5; i++) add_operand(m, F32, DIMS(2));
    add_operand(m, I32, SCALAR);
    set_int(m, 5, 0);
    OPERATION(m, ADD, LIST(0, 0, 5), LIST(1));
    OPERATION(m, ADD, LIST(1, 0, 5), LIST(2));
    OPERATION(m, ADD, LIST(1, 2, 5), LIST(3));
    OPERATION(m, ANEURALNETWORKS_RELU, LIST(3), LIST(4));
    IN_OUT(m, LIST(0), LIST(2, 4));
    FINISH(m);
    return m;
}

static void slices(void **state) {
    (void)state;
    ANeuralNetworksModel *m = chain();
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_rt_slicer *slicer = nnv_rt_slicer_new(m, 0, arena);
    struct nnv_rt_slice s;
    assert_non_null(slicer);
    assert_int_equal(nnv_rt_slice_make(slicer, (uint32_t[]){1, 2}, 2, arena, &s), OK);
    /* b = a + 0, c = a + b: reads a and 0; b is the model's, c is read by the last */
    assert_int_equal(s.model.main.input_count, 2);
    assert_int_equal(s.inputs[0], 1);
    assert_int_equal(s.inputs[1], 0);
    assert_int_equal(s.model.main.output_count, 2);
    assert_int_equal(s.outputs[0], 2);
    assert_int_equal(s.outputs[1], 3);
    assert_int_equal(s.model.main.operand_count, 5);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(s.operands[s.model.main.inputs[i]], s.inputs[i]);
        assert_int_equal(s.model.main.operands[s.model.main.inputs[i]].lifetime, NNVTS_SUBGRAPH_INPUT);
        assert_int_equal(s.model.main.operands[s.model.main.outputs[i]].lifetime, NNVTS_SUBGRAPH_OUTPUT);
    }
    assert_int_equal(s.model.operand_values_bytes, 4);
    /* the same slicer again: a is inside now */
    assert_int_equal(nnv_rt_slice_make(slicer, (uint32_t[]){0, 1, 2, 3}, 4, arena, &s), OK);
    assert_int_equal(s.model.main.input_count, 1);
    assert_int_equal(s.model.main.output_count, 2);
    for (uint32_t i = 0; i < s.model.main.operand_count; i++)
        if (s.operands[i] == 1 || s.operands[i] == 3)
            assert_int_equal(s.model.main.operands[i].lifetime, NNVTS_TEMPORARY_VARIABLE);
    nnv_arena_free(arena);
    ANeuralNetworksModel_free(m);
}

static void slices_take_what_they_refer_to(void **state) {
    (void)state;
    ANeuralNetworksModel *leaf = finished_add(), *other = finished_add(), *m = new_model();
    add_operand(m, ANEURALNETWORKS_TENSOR_BOOL8, DIMS(1));
    for (int i = 0; i < 2; i++) add_operand(m, ANEURALNETWORKS_MODEL, SCALAR);
    for (int i = 0; i < 4; i++) add_operand(m, F32, DIMS(2, 2));
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, 1, leaf), OK);
    assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, 2, other), OK);
    OPERATION(m, ANEURALNETWORKS_IF, LIST(0, 1, 1, 3, 4), LIST(5));
    OPERATION(m, ANEURALNETWORKS_IF, LIST(0, 2, 2, 3, 5), LIST(6));
    IN_OUT(m, LIST(0, 3, 4), LIST(6));
    FINISH(m);
    assert_int_equal(m->model.referenced_count, 2);
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_rt_slicer *slicer = nnv_rt_slicer_new(m, 0, arena);
    struct nnv_rt_slice s;
    assert_int_equal(nnv_rt_slice_make(slicer, (uint32_t[]){1}, 1, arena, &s), OK);
    assert_int_equal(s.model.referenced_count, 1);
    assert_int_equal(s.model.main.operands[s.model.main.operations[0].inputs[1]].location.offset, 0);
    assert_int_equal(s.model.referenced[0].operations[0].type, ADD);
    assert_int_equal(s.model.operand_values_bytes, 4); /* the other's constant alone */
    assert_int_equal(s.model.referenced[0].operands[2].location.offset, 0);
    nnv_arena_free(arena);
    ANeuralNetworksModel_free(m);
    ANeuralNetworksModel_free(leaf);
    ANeuralNetworksModel_free(other);
}

/* ------------------------------------------------------------------ large models */

static void large_models_take_linear_time(void **state) {
    (void)state;
    enum { N = 100000 };
    uint64_t since = nnv_now_ns();
    ANeuralNetworksModel *m = new_model();
    add_operand(m, I32, SCALAR);
    set_int(m, 0, 0);
    for (uint32_t i = 0; i <= N; i++) add_operand(m, F32, DIMS(2));
    for (uint32_t i = N; i > 0; i--) OPERATION(m, ADD, LIST(i, i, 0), LIST(i + 1)); /* in the worst order */
    IN_OUT(m, LIST(1), LIST(N + 1));
    FINISH(m);
    assert_int_equal(m->info[0].added[0], N - 1);
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_rt_slicer *slicer = nnv_rt_slicer_new(m, 0, arena);
    for (uint32_t i = 0; i < N; i++) { /* as many slices as operations */
        struct nnv_rt_slice s;
        assert_int_equal(nnv_rt_slice_make(slicer, &i, 1, arena, &s), OK);
        assert_int_equal(s.model.main.operand_count, 3);
    }
    nnv_arena_free(arena);
    ANeuralNetworksModel_free(m);
    uint64_t ns = nnv_now_ns() - since;
    print_message("%d operations: %.0f ms\n", N, (double)ns / 1e6);
    assert_true(ns < UINT64_C(20000000000)); /* about 0.3 s; anything quadratic takes minutes */
}

static void many_references_take_linear_time(void **state) {
    (void)state;
    enum { N = 5000 };
    static ANeuralNetworksModel *branches[N];
    uint64_t since = nnv_now_ns();
    ANeuralNetworksModel *m = new_model();
    add_operand(m, ANEURALNETWORKS_TENSOR_BOOL8, DIMS(1));
    add_operand(m, F32, DIMS(2, 2));
    for (uint32_t i = 0; i < N; i++) { /* v = if (0) branch(1, v) else branch(1, v) */
        branches[i] = finished_add();
        add_operand(m, ANEURALNETWORKS_MODEL, SCALAR);
        add_operand(m, F32, DIMS(2, 2));
        assert_int_equal(ANeuralNetworksModel_setOperandValueFromModel(m, (int32_t)(2 * i + 2), branches[i]), OK);
        OPERATION(m, ANEURALNETWORKS_IF, LIST(0, 2 * i + 2, 2 * i + 2, 1, 2 * i + 1), LIST(2 * i + 3));
    }
    IN_OUT(m, LIST(0, 1), LIST(2 * N + 1));
    FINISH(m);
    assert_int_equal(m->model.referenced_count, N);
    ANeuralNetworksModel_free(m);
    for (uint32_t i = 0; i < N; i++) ANeuralNetworksModel_free(branches[i]);
    uint64_t ns = nnv_now_ns() - since;
    print_message("%d models: %.0f ms\n", N, (double)ns / 1e6);
    assert_true(ns < UINT64_C(20000000000));
}

int main(void) {
    setenv("NNVTS_LOG", "0", 0);
    setenv("NNVTS_DRIVERS", "", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_arguments),
        cmocka_unit_test(operand_types),
        cmocka_unit_test(values),
        cmocka_unit_test(channel_scales),
        cmocka_unit_test(operations),
        cmocka_unit_test(states),
        cmocka_unit_test(finish_refuses),
        cmocka_unit_test(run_order),
        cmocka_unit_test(constants),
        cmocka_unit_test(references),
        cmocka_unit_test(default_arguments),
        cmocka_unit_test(levels),
        cmocka_unit_test(refine),
        cmocka_unit_test(dot),
        cmocka_unit_test(slices),
        cmocka_unit_test(slices_take_what_they_refer_to),
        cmocka_unit_test(large_models_take_linear_time),
        cmocka_unit_test(many_references_take_linear_time),
    };
    return cmocka_run_group_tests_name("runtime model", tests, NULL, NULL);
}
