/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An application in C, as the public documentation of NNAPI shows one: a model of two operations whose constants lie
 * in a file, computed asynchronously and then through a burst. It knows nothing of whose library it is linked with.
 *     output = relu((input + addend) * factor)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <NeuralNetworks.h>

enum { ELEMENTS = 4, RUNS = 3 };

static void check(int result, const char *what) {
    if (result == ANEURALNETWORKS_NO_ERROR) return;
    fprintf(stderr, "%s: result %d\n", what, result);
    exit(1);
}
#define CHECK(call) check(call, #call)

/* The weights, as a converter of models would have written them: addend, then factor. */
static ANeuralNetworksMemory *open_weights(const char *path) {
    static const float weights[2][ELEMENTS] = {{1, 2, 3, 4}, {2, 0.5f, -1, 10}};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, weights, sizeof weights) != sizeof weights) {
        perror(path);
        exit(1);
    }
    ANeuralNetworksMemory *memory = NULL;
    CHECK(ANeuralNetworksMemory_createFromFd(sizeof weights, PROT_READ, fd, 0, &memory));
    close(fd); /* the memory has its own */
    return memory;
}

static ANeuralNetworksModel *build(const ANeuralNetworksMemory *weights) {
    ANeuralNetworksModel *model = NULL;
    CHECK(ANeuralNetworksModel_create(&model));
    uint32_t dimensions[1] = {ELEMENTS};
    ANeuralNetworksOperandType tensor = {
        .type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = dimensions};
    ANeuralNetworksOperandType scalar = {.type = ANEURALNETWORKS_INT32};
    enum { INPUT, ADDEND, FACTOR, NONE, RELU, SUM, OUTPUT };
    CHECK(ANeuralNetworksModel_addOperand(model, &tensor));
    CHECK(ANeuralNetworksModel_addOperand(model, &tensor));
    CHECK(ANeuralNetworksModel_addOperand(model, &tensor));
    CHECK(ANeuralNetworksModel_addOperand(model, &scalar));
    CHECK(ANeuralNetworksModel_addOperand(model, &scalar));
    CHECK(ANeuralNetworksModel_addOperand(model, &tensor));
    CHECK(ANeuralNetworksModel_addOperand(model, &tensor));
    const size_t bytes = ELEMENTS * sizeof(float);
    CHECK(ANeuralNetworksModel_setOperandValueFromMemory(model, ADDEND, weights, 0, bytes));
    CHECK(ANeuralNetworksModel_setOperandValueFromMemory(model, FACTOR, weights, bytes, bytes));
    int32_t none = ANEURALNETWORKS_FUSED_NONE, relu = ANEURALNETWORKS_FUSED_RELU;
    CHECK(ANeuralNetworksModel_setOperandValue(model, NONE, &none, sizeof none));
    CHECK(ANeuralNetworksModel_setOperandValue(model, RELU, &relu, sizeof relu));
    uint32_t add_inputs[3] = {INPUT, ADDEND, NONE}, add_outputs[1] = {SUM};
    uint32_t mul_inputs[3] = {SUM, FACTOR, RELU}, mul_outputs[1] = {OUTPUT}, inputs[1] = {INPUT};
    CHECK(ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_ADD, 3, add_inputs, 1, add_outputs));
    CHECK(ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_MUL, 3, mul_inputs, 1, mul_outputs));
    CHECK(ANeuralNetworksModel_identifyInputsAndOutputs(model, 1, inputs, 1, mul_outputs));
    CHECK(ANeuralNetworksModel_finish(model));
    return model;
}

static ANeuralNetworksExecution *prepare(ANeuralNetworksCompilation *compilation, const float *input, float *output) {
    ANeuralNetworksExecution *execution = NULL;
    CHECK(ANeuralNetworksExecution_create(compilation, &execution));
    CHECK(ANeuralNetworksExecution_setInput(execution, 0, NULL, input, ELEMENTS * sizeof *input));
    CHECK(ANeuralNetworksExecution_setOutput(execution, 0, NULL, output, ELEMENTS * sizeof *output));
    return execution;
}

static void print(const char *how, const float *v) {
    printf("%s: %g %g %g %g\n", how, (double)v[0], (double)v[1], (double)v[2], (double)v[3]);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s WEIGHTS\n", argv[0]);
        return 2;
    }
    ANeuralNetworksMemory *weights = open_weights(argv[1]);
    ANeuralNetworksModel *model = build(weights);
    ANeuralNetworksCompilation *compilation = NULL;
    CHECK(ANeuralNetworksCompilation_create(model, &compilation));
    CHECK(ANeuralNetworksCompilation_setPreference(compilation, ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER));
    CHECK(ANeuralNetworksCompilation_finish(compilation));

    float input[ELEMENTS] = {1, 1, 1, 1}, output[ELEMENTS] = {0};
    ANeuralNetworksExecution *execution = prepare(compilation, input, output);
    ANeuralNetworksEvent *event = NULL;
    CHECK(ANeuralNetworksExecution_startCompute(execution, &event));
    CHECK(ANeuralNetworksEvent_wait(event));
    ANeuralNetworksEvent_free(event);
    ANeuralNetworksExecution_free(execution);
    print("asynchronous", output);

    ANeuralNetworksBurst *burst = NULL;
    CHECK(ANeuralNetworksBurst_create(compilation, &burst));
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < ELEMENTS; i++) input[i] = (float)(run - i);
        execution = prepare(compilation, input, output);
        CHECK(ANeuralNetworksExecution_burstCompute(execution, burst));
        ANeuralNetworksExecution_free(execution);
        print("burst", output);
    }
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksCompilation_free(compilation);
    ANeuralNetworksModel_free(model);
    ANeuralNetworksMemory_free(weights);
    return 0;
}
