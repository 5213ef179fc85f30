/* SPDX-License-Identifier: Apache-2.0 */
/* What does not depend on the model: weights, devices, compilation, cache token, execution. */
#pragma weak ANeuralNetworks_getDeviceCount
#pragma weak ANeuralNetworks_getDevice
#pragma weak ANeuralNetworks_getRuntimeFeatureLevel
#pragma weak ANeuralNetworksDevice_getName
#pragma weak ANeuralNetworksDevice_getVersion
#pragma weak ANeuralNetworksDevice_getFeatureLevel
#pragma weak ANeuralNetworksModel_setOperandSymmPerChannelQuantParams
#pragma weak ANeuralNetworksModel_relaxComputationFloat32toFloat16
#pragma weak ANeuralNetworksCompilation_createForDevices
#pragma weak ANeuralNetworksCompilation_setCaching
#pragma weak ANeuralNetworksExecution_compute
#pragma weak ANeuralNetworksExecution_burstCompute
#pragma weak ANeuralNetworksBurst_create
#pragma weak ANeuralNetworksBurst_free

#include "nnapi_region.h"

#include <stdio.h>
#include <string.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nnapi_region {

namespace {

/** SHA-256, FIPS 180-4. */
class Sha256 {
  public:
    void add(const void *data, size_t n) {
        const uint8_t *p = static_cast<const uint8_t *>(data);
        for (size_t i = 0; i < n; i++) {
            block_[count_++ % sizeof block_] = p[i];
            if (count_ % sizeof block_ == 0) mix();
        }
    }
    void end(uint8_t *out) {
        const uint64_t bits = count_ * 8;
        const uint8_t one = 0x80, zero = 0;
        add(&one, 1);
        while (count_ % sizeof block_ != sizeof block_ - 8) add(&zero, 1);
        for (int i = 7; i >= 0; i--) {
            const uint8_t byte = static_cast<uint8_t>(bits >> (8 * i));
            add(&byte, 1);
        }
        for (int i = 0; i < 32; i++) out[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    }

  private:
    static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }
    void mix();

    uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint64_t count_ = 0;
    uint8_t block_[64] = {};
};

const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void Sha256::mix() {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = static_cast<uint32_t>(block_[4 * i]) << 24 | static_cast<uint32_t>(block_[4 * i + 1]) << 16 |
               static_cast<uint32_t>(block_[4 * i + 2]) << 8 | block_[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state_, sizeof s);
    for (int i = 0; i < 64; i++) {
        const uint32_t a = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
                           round_constants[i] + w[i];
        const uint32_t b =
            (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += a;
        s[0] = a + b;
    }
    for (int i = 0; i < 8; i++) state_[i] += s[i];
}

/** The result of a call that makes an object: a driver that says it did, but did not, is no reason to crash. */
template <class T> int made(int code, T *const &object) {
    return code == ANEURALNETWORKS_NO_ERROR && !object ? static_cast<int>(ANEURALNETWORKS_UNEXPECTED_NULL) : code;
}

} // namespace

/* ---------------------------------------------------------------------- model */

Region::Region(const nnapi_region_configuration &configuration, const nnapi_region_description &description)
    : configuration_(configuration), description_(description) {
    check(made(ANeuralNetworksModel_create(&model_), model_), "ANeuralNetworksModel_create");
    if (description_.weights) open_weights();
}

Region::~Region() {
    if (burst_) ANeuralNetworksBurst_free(burst_);
    ANeuralNetworksCompilation_free(compilation_);
    ANeuralNetworksModel_free(model_);
    ANeuralNetworksMemory_free(memory_);
    if (file_ >= 0) close(file_);
}

/** Keeps the first error. */
bool Region::check(int code, const char *where) {
    if (code != ANEURALNETWORKS_NO_ERROR && error_ == 0) {
        error_ = code;
        snprintf(where_, sizeof where_, "%s", where);
    }
    return error_ == 0;
}

void Region::open_weights() {
    char path[4096];
    struct stat s;
    const char *folder = configuration_.folder ? configuration_.folder : ".";
    const int n = snprintf(path, sizeof path, "%s/%s", folder, description_.weights);
    if (error_) return;
    file_ = n > 0 && static_cast<size_t>(n) < sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file_ < 0 || fstat(file_, &s) != 0 || static_cast<uint64_t>(s.st_size) != description_.weights_bytes) {
        check(ANEURALNETWORKS_UNMAPPABLE, "the file of weights is missing or has another size");
        return;
    }
    check(made(ANeuralNetworksMemory_createFromFd(static_cast<size_t>(s.st_size), PROT_READ, file_, 0, &memory_),
               memory_),
          "ANeuralNetworksMemory_createFromFd");
}

void Region::operand(const ANeuralNetworksOperandType &type) {
    if (error_) return;
    check(ANeuralNetworksModel_addOperand(model_, &type), "ANeuralNetworksModel_addOperand");
    operands_++;
}

void Region::channels(const ANeuralNetworksSymmPerChannelQuantParams &scales) {
    if (error_) return;
    check(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams
              ? ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(model_, operands_ - 1, &scales)
              : static_cast<int>(ANEURALNETWORKS_BAD_STATE),
          "ANeuralNetworksModel_setOperandSymmPerChannelQuantParams");
}

void Region::constant(const void *value, size_t bytes) {
    if (error_) return;
    check(ANeuralNetworksModel_setOperandValue(model_, operands_ - 1, value, bytes),
          "ANeuralNetworksModel_setOperandValue");
}

void Region::weights(uint64_t offset, size_t bytes) {
    if (error_) return;
    check(ANeuralNetworksModel_setOperandValueFromMemory(model_, operands_ - 1, memory_, static_cast<size_t>(offset),
                                                         bytes),
          "ANeuralNetworksModel_setOperandValueFromMemory");
}

void Region::omitted() { constant(nullptr, 0); }

void Region::add_operation(ANeuralNetworksOperationType code, uint32_t in_count, const uint32_t *in, uint32_t out_count,
                           const uint32_t *out) {
    if (error_) return;
    if (!check(ANeuralNetworksModel_addOperation(model_, code, in_count, in, out_count, out),
               "ANeuralNetworksModel_addOperation"))
        snprintf(where_, sizeof where_, "ANeuralNetworksModel_addOperation: operation %d", operations_);
    operations_++;
}

void Region::arguments(uint32_t input_count, const uint32_t *inputs, uint32_t output_count, const uint32_t *outputs) {
    if (error_) return;
    check(ANeuralNetworksModel_identifyInputsAndOutputs(model_, input_count, inputs, output_count, outputs),
          "ANeuralNetworksModel_identifyInputsAndOutputs");
}

void Region::relaxed() {
    if (error_) return;
    check(ANeuralNetworksModel_relaxComputationFloat32toFloat16
              ? ANeuralNetworksModel_relaxComputationFloat32toFloat16(model_, true)
              : static_cast<int>(ANEURALNETWORKS_BAD_STATE),
          "ANeuralNetworksModel_relaxComputationFloat32toFloat16");
}

/* ---------------------------------------------------------------- compilation */

/** The devices that are named, or all: their names and versions are a part of the cache's token. */
bool Region::find_devices() {
    uint32_t count = 0;
    int64_t level = 0;
    if (!ANeuralNetworks_getDeviceCount || !ANeuralNetworks_getDevice || !ANeuralNetworksDevice_getName ||
        !ANeuralNetworksDevice_getFeatureLevel || !ANeuralNetworksDevice_getVersion)
        return configuration_.device_count == 0 ||
               check(ANEURALNETWORKS_UNAVAILABLE_DEVICE, "devices have names from feature level 3 on");
    if (configuration_.device_count > MOST_DEVICES)
        return check(ANEURALNETWORKS_BAD_DATA, "more devices are configured than there can be");
    if (!check(ANeuralNetworks_getDeviceCount(&count), "ANeuralNetworks_getDeviceCount")) return false;
    const uint32_t wanted = configuration_.device_count ? configuration_.device_count : count;
    for (uint32_t w = 0; w < wanted && device_count_ < MOST_DEVICES; w++) {
        bool found = false;
        for (uint32_t i = 0; i < count && !found; i++) {
            ANeuralNetworksDevice *device = nullptr;
            const char *name = nullptr;
            int64_t own = 0;
            if (!check(ANeuralNetworks_getDevice(i, &device), "ANeuralNetworks_getDevice") ||
                !check(ANeuralNetworksDevice_getName(device, &name), "ANeuralNetworksDevice_getName") ||
                !check(ANeuralNetworksDevice_getFeatureLevel(device, &own), "ANeuralNetworksDevice_getFeatureLevel"))
                return false;
            found = configuration_.device_count ? strcmp(name, configuration_.devices[w]) == 0 : i == w;
            if (!found) continue;
            devices_[device_count_++] = device;
            if (own > level) level = own;
        }
        if (!found) return check(ANEURALNETWORKS_UNAVAILABLE_DEVICE, "there is no device of a name that is configured");
    }
    return level >= description_.feature_level ||
           check(ANEURALNETWORKS_BAD_DATA, "no device has the feature level that the model needs");
}

void Region::create_compilation() {
    if (configuration_.device_count == 0)
        check(made(ANeuralNetworksCompilation_create(model_, &compilation_), compilation_),
              "ANeuralNetworksCompilation_create");
    else if (ANeuralNetworksCompilation_createForDevices)
        check(made(ANeuralNetworksCompilation_createForDevices(model_, devices_, device_count_, &compilation_),
                   compilation_),
              "ANeuralNetworksCompilation_createForDevices");
    else
        check(ANEURALNETWORKS_UNAVAILABLE_DEVICE, "devices have names from feature level 3 on");
}

/** The token changes with the model, its weights, the devices and their versions. */
void Region::set_caching() {
    uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN];
    Sha256 hash;
    if (error_ || !configuration_.cache_folder || !ANeuralNetworksCompilation_setCaching) return;
    hash.add(description_.digest, 32);
    for (uint32_t i = 0; i < device_count_; i++) {
        const char *name = "", *version = "";
        if (!check(ANeuralNetworksDevice_getName(devices_[i], &name), "ANeuralNetworksDevice_getName") ||
            !check(ANeuralNetworksDevice_getVersion(devices_[i], &version), "ANeuralNetworksDevice_getVersion"))
            return;
        hash.add(name, strlen(name) + 1);
        hash.add(version, strlen(version) + 1);
    }
    hash.end(token);
    check(ANeuralNetworksCompilation_setCaching(compilation_, configuration_.cache_folder, token),
          "ANeuralNetworksCompilation_setCaching");
}

void Region::compile() {
    if (error_ || !check(ANeuralNetworksModel_finish(model_), "ANeuralNetworksModel_finish") || !find_devices()) return;
    create_compilation();
    set_caching();
    if (error_) return;
    check(ANeuralNetworksCompilation_finish(compilation_), "ANeuralNetworksCompilation_finish");
}

/* ------------------------------------------------------------------ execution */

int Region::compute(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst) const {
    if (burst) return ANeuralNetworksExecution_burstCompute(execution, burst);
    if (ANeuralNetworksExecution_compute) return ANeuralNetworksExecution_compute(execution);
    ANeuralNetworksEvent *event = nullptr;
    int code = made(ANeuralNetworksExecution_startCompute(execution, &event), event);
    if (code == ANEURALNETWORKS_NO_ERROR) code = ANeuralNetworksEvent_wait(event);
    ANeuralNetworksEvent_free(event);
    return code;
}

int Region::start(const void *const *inputs, void *const *outputs, ANeuralNetworksBurst *burst) const {
    if (error_) return error_;
    const nnapi_region_description &d = description_;
    ANeuralNetworksExecution *execution = nullptr;
    int code = made(ANeuralNetworksExecution_create(compilation_, &execution), execution);
    for (uint32_t i = 0; i < d.input_count && code == ANEURALNETWORKS_NO_ERROR; i++)
        code =
            ANeuralNetworksExecution_setInput(execution, static_cast<int32_t>(i), nullptr, inputs[i], d.input_bytes[i]);
    for (uint32_t i = 0; i < d.output_count && code == ANEURALNETWORKS_NO_ERROR; i++)
        code = ANeuralNetworksExecution_setOutput(execution, static_cast<int32_t>(i), nullptr, outputs[i],
                                                  d.output_bytes[i]);
    if (code == ANEURALNETWORKS_NO_ERROR) code = compute(execution, burst);
    ANeuralNetworksExecution_free(execution);
    return code;
}

int Region::run(const void *const *inputs, void *const *outputs) { return start(inputs, outputs, nullptr); }

int Region::run_in_burst(const void *const *inputs, void *const *outputs) {
    if (!error_ && !burst_ && ANeuralNetworksBurst_create && ANeuralNetworksExecution_burstCompute &&
        ANeuralNetworksBurst_create(compilation_, &burst_) != ANEURALNETWORKS_NO_ERROR)
        burst_ = nullptr;
    return start(inputs, outputs, burst_);
}

} // namespace nnapi_region
