/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An application in C++: looks at the devices, asks which of them has which operation, and computes a softmax over the
 * sum of its inputs on each device that can, and on the best; the shape of the inputs is known only when it runs.
 */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <NeuralNetworks.h>

namespace {

void check(int result, const char *what) {
    if (result == ANEURALNETWORKS_NO_ERROR) return;
    std::fprintf(stderr, "%s: result %d\n", what, result);
    std::exit(1);
}
#define CHECK(call) check(call, #call)

template <typename T, void (*release)(T *)> struct Free {
    void operator()(T *p) const { release(p); }
};
using Model = std::unique_ptr<ANeuralNetworksModel, Free<ANeuralNetworksModel, ANeuralNetworksModel_free>>;
using Compilation =
    std::unique_ptr<ANeuralNetworksCompilation, Free<ANeuralNetworksCompilation, ANeuralNetworksCompilation_free>>;
using Execution =
    std::unique_ptr<ANeuralNetworksExecution, Free<ANeuralNetworksExecution, ANeuralNetworksExecution_free>>;

Model build() {
    ANeuralNetworksModel *raw = nullptr;
    CHECK(ANeuralNetworksModel_create(&raw));
    Model model(raw);
    const uint32_t open[2] = {0, 3};
    const ANeuralNetworksOperandType tensor{ANEURALNETWORKS_TENSOR_FLOAT32, 2, open, 0.0f, 0};
    const ANeuralNetworksOperandType integer{ANEURALNETWORKS_INT32, 0, nullptr, 0.0f, 0};
    const ANeuralNetworksOperandType number{ANEURALNETWORKS_FLOAT32, 0, nullptr, 0.0f, 0};
    for (const auto *type : {&tensor, &tensor, &integer, &tensor, &number, &tensor})
        CHECK(ANeuralNetworksModel_addOperand(raw, type));
    const int32_t fuse = ANEURALNETWORKS_FUSED_NONE;
    const float beta = 1.0f;
    CHECK(ANeuralNetworksModel_setOperandValue(raw, 2, &fuse, sizeof fuse));
    CHECK(ANeuralNetworksModel_setOperandValue(raw, 4, &beta, sizeof beta));
    const std::vector<uint32_t> add{0, 1, 2}, sum{3}, softmax{3, 4}, output{5}, inputs{0, 1};
    CHECK(ANeuralNetworksModel_addOperation(raw, ANEURALNETWORKS_ADD, 3, add.data(), 1, sum.data()));
    CHECK(ANeuralNetworksModel_addOperation(raw, ANEURALNETWORKS_SOFTMAX, 2, softmax.data(), 1, output.data()));
    CHECK(ANeuralNetworksModel_identifyInputsAndOutputs(raw, 2, inputs.data(), 1, output.data()));
    CHECK(ANeuralNetworksModel_finish(raw));
    return model;
}

void compute(ANeuralNetworksCompilation *compilation, const char *name) {
    ANeuralNetworksExecution *raw = nullptr;
    CHECK(ANeuralNetworksExecution_create(compilation, &raw));
    Execution execution(raw);
    const uint32_t shape[2] = {2, 3};
    const ANeuralNetworksOperandType type{ANEURALNETWORKS_TENSOR_FLOAT32, 2, shape, 0.0f, 0};
    const std::vector<float> a{1, 1, 1, 0, 100, 200}, b{0, 0, 0, 0, 0, 0};
    std::vector<float> result(6);
    CHECK(ANeuralNetworksExecution_setInput(raw, 0, &type, a.data(), a.size() * sizeof(float)));
    CHECK(ANeuralNetworksExecution_setInput(raw, 1, &type, b.data(), b.size() * sizeof(float)));
    CHECK(ANeuralNetworksExecution_setOutput(raw, 0, nullptr, result.data(), result.size() * sizeof(float)));
    CHECK(ANeuralNetworksExecution_compute(raw));
    uint32_t rank = 0, extents[2] = {0, 0};
    CHECK(ANeuralNetworksExecution_getOutputOperandRank(raw, 0, &rank));
    CHECK(ANeuralNetworksExecution_getOutputOperandDimensions(raw, 0, extents));
    std::printf("%s: %ux%u", name, extents[0], extents[1]);
    for (float v : result) std::printf(" %.3f", static_cast<double>(v));
    std::printf("\n");
}

} // namespace

int main() {
    const Model model = build();
    uint32_t count = 0;
    CHECK(ANeuralNetworks_getDeviceCount(&count));
    for (uint32_t i = 0; i < count; i++) {
        ANeuralNetworksDevice *device = nullptr;
        const char *name = nullptr;
        CHECK(ANeuralNetworks_getDevice(i, &device));
        CHECK(ANeuralNetworksDevice_getName(device, &name));
        bool supported[2] = {false, false};
        CHECK(ANeuralNetworksModel_getSupportedOperationsForDevices(model.get(), &device, 1, supported));
        if (!supported[0] || !supported[1]) continue;
        ANeuralNetworksCompilation *raw = nullptr;
        CHECK(ANeuralNetworksCompilation_createForDevices(model.get(), &device, 1, &raw));
        const Compilation compilation(raw);
        CHECK(ANeuralNetworksCompilation_finish(raw));
        compute(raw, name);
    }
    ANeuralNetworksCompilation *raw = nullptr;
    CHECK(ANeuralNetworksCompilation_create(model.get(), &raw));
    const Compilation compilation(raw);
    CHECK(ANeuralNetworksCompilation_finish(raw));
    compute(raw, "best");
    return 0;
}
