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
#pragma weak ANeuralNetworksModel_setOperandValueFromModel
#pragma weak ANeuralNetworksCompilation_createForDevices
#pragma weak ANeuralNetworksCompilation_setCaching
#pragma weak ANeuralNetworksCompilation_setPriority
#pragma weak ANeuralNetworksCompilation_setTimeout
#pragma weak ANeuralNetworksExecution_compute
#pragma weak ANeuralNetworksExecution_burstCompute
#pragma weak ANeuralNetworksExecution_getDuration
#pragma weak ANeuralNetworksExecution_setMeasureTiming
#pragma weak ANeuralNetworksExecution_setReusable
#pragma weak ANeuralNetworksExecution_setTimeout
#pragma weak ANeuralNetworksBurst_create
#pragma weak ANeuralNetworksBurst_free

#include "nnapi_region.h"

#include <new>

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

Region::Region(const nnapi_region_configuration &configuration, const nnapi_region_description &description,
               const Model &model)
    : configuration_(configuration), description_(description) {
    if (description_.weights) open_weights();
    if (!error_ && model.referenced_count) build_referenced(model);
    if (!error_) build(model);
    if (!error_) compile();
}

Region::~Region() {
    if (burst_) ANeuralNetworksBurst_free(burst_);
    ANeuralNetworksCompilation_free(compilation_);
    ANeuralNetworksModel_free(model_);
    while (referenced_count_ > 0) ANeuralNetworksModel_free(referenced_[--referenced_count_]);
    delete[] referenced_;
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

/** Maps the weights: from a page's begin on, wherever in the file they are. */
void Region::open_weights() {
    char path[4096];
    struct stat s;
    const char *folder = configuration_.folder ? configuration_.folder : ".";
    nnapi_region_file file = {-1, 0};
    if (configuration_.weights) {
        file = *configuration_.weights;
    } else if (snprintf(path, sizeof path, "%s/%s", folder, description_.weights) < static_cast<int>(sizeof path)) {
        file.descriptor = file_ = open(path, O_RDONLY | O_CLOEXEC);
    }
    const uint64_t bytes = description_.weights_bytes;
    const bool there = file.descriptor >= 0 && fstat(file.descriptor, &s) == 0;
    const uint64_t size = there ? static_cast<uint64_t>(s.st_size) : 0;
    if (configuration_.weights ? size < bytes || size - bytes < file.offset : size != bytes) {
        check(ANEURALNETWORKS_UNMAPPABLE, "the file of weights is missing or has another size");
        return;
    }
    weights_at_ = file.offset % static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    check(made(ANeuralNetworksMemory_createFromFd(static_cast<size_t>(weights_at_ + bytes), PROT_READ, file.descriptor,
                                                  static_cast<size_t>(file.offset - weights_at_), &memory_),
               memory_),
          "ANeuralNetworksMemory_createFromFd");
}

void Region::add_operand(const Model &model, uint32_t i) {
    const Operand &operand = model.operands[i];
    const Type &type = model.types[operand.type];
    const int32_t number = static_cast<int32_t>(i);
    if (!check(ANeuralNetworksModel_addOperand(model_, &type.operand), "ANeuralNetworksModel_addOperand")) return;
    if (type.channels &&
        !check(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams
                   ? ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(model_, number, type.channels)
                   : static_cast<int>(ANEURALNETWORKS_BAD_STATE),
               "ANeuralNetworksModel_setOperandSymmPerChannelQuantParams"))
        return;
    if (operand.kind == Operand::CONSTANT)
        check(ANeuralNetworksModel_setOperandValue(model_, number, operand.constant, operand.bytes),
              "ANeuralNetworksModel_setOperandValue");
    if (operand.kind == Operand::WEIGHTS)
        check(ANeuralNetworksModel_setOperandValueFromMemory(
                  model_, number, memory_, static_cast<size_t>(weights_at_ + operand.offset), operand.bytes),
              "ANeuralNetworksModel_setOperandValueFromMemory");
    if (operand.kind == Operand::REFERENCE)
        check(ANeuralNetworksModel_setOperandValueFromModel
                  ? ANeuralNetworksModel_setOperandValueFromModel(model_, number, referenced_[operand.offset])
                  : static_cast<int>(ANEURALNETWORKS_BAD_STATE),
              "ANeuralNetworksModel_setOperandValueFromModel");
}

/** Operation i of the table; the result is where the next one begins. */
const uint32_t *Region::add_operation(uint32_t i, const uint32_t *operation) {
    const uint32_t code = operation[0], in_count = operation[1], *in = operation + 2, out_count = in[in_count],
                   *out = in + in_count + 1;
    if (!check(ANeuralNetworksModel_addOperation(model_, static_cast<ANeuralNetworksOperationType>(code), in_count, in,
                                                 out_count, out),
               "ANeuralNetworksModel_addOperation"))
        snprintf(where_, sizeof where_, "ANeuralNetworksModel_addOperation: operation %u", i);
    return out + out_count;
}

void Region::build(const Model &m) {
    check(made(ANeuralNetworksModel_create(&model_), model_), "ANeuralNetworksModel_create");
    for (uint32_t i = 0; i < m.operand_count && !error_; i++) add_operand(m, i);
    const uint32_t *next = m.operations;
    for (uint32_t i = 0; i < m.operation_count && !error_; i++) next = add_operation(i, next);
    if (error_ || !check(ANeuralNetworksModel_identifyInputsAndOutputs(model_, m.input_count, m.inputs, m.output_count,
                                                                       m.outputs),
                         "ANeuralNetworksModel_identifyInputsAndOutputs"))
        return;
    if (m.relaxed && !check(ANeuralNetworksModel_relaxComputationFloat32toFloat16
                                ? ANeuralNetworksModel_relaxComputationFloat32toFloat16(model_, true)
                                : static_cast<int>(ANEURALNETWORKS_BAD_STATE),
                            "ANeuralNetworksModel_relaxComputationFloat32toFloat16"))
        return;
    check(ANeuralNetworksModel_finish(model_), "ANeuralNetworksModel_finish");
}

void Region::build_referenced(const Model &main) {
    referenced_ = new (std::nothrow) ANeuralNetworksModel *[main.referenced_count];
    if (!referenced_) check(ANEURALNETWORKS_OUT_OF_MEMORY, "memory for the models that it refers to");
    for (uint32_t i = 0; i < main.referenced_count && !error_; i++) {
        build(*main.referenced[i]);
        referenced_[referenced_count_++] = model_;
        model_ = nullptr;
    }
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

/** What NNAPI is told beside the model. */
void Region::configure() {
    static_assert(NNAPI_REGION_LOW_POWER - 1 == static_cast<int>(ANEURALNETWORKS_PREFER_LOW_POWER) &&
                      NNAPI_REGION_SUSTAINED_SPEED - 1 == static_cast<int>(ANEURALNETWORKS_PREFER_SUSTAINED_SPEED),
                  "NNAPI's preferences, and before them that there is none");
    const nnapi_region_configuration &c = configuration_;
    if (!error_ && c.preference != NNAPI_REGION_ANY)
        check(ANeuralNetworksCompilation_setPreference(compilation_, c.preference - 1),
              "ANeuralNetworksCompilation_setPreference");
    if (!error_ && c.priority)
        check(ANeuralNetworksCompilation_setPriority
                  ? ANeuralNetworksCompilation_setPriority(compilation_, static_cast<int>(c.priority))
                  : static_cast<int>(ANEURALNETWORKS_BAD_STATE),
              "ANeuralNetworksCompilation_setPriority");
    if (!error_ && c.compile_timeout)
        check(ANeuralNetworksCompilation_setTimeout
                  ? ANeuralNetworksCompilation_setTimeout(compilation_, c.compile_timeout)
                  : static_cast<int>(ANEURALNETWORKS_BAD_STATE),
              "ANeuralNetworksCompilation_setTimeout");
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
    if (!find_devices()) return;
    create_compilation();
    configure();
    set_caching();
    if (error_) return;
    check(ANeuralNetworksCompilation_finish(compilation_), "ANeuralNetworksCompilation_finish");
}

/* ------------------------------------------------------------------ execution */

Execution::Execution(const Region &region, unsigned options) : region_(region), error_(region.error()) {
    const uint64_t timeout = region.configuration_.run_timeout;
    const int missing = ANEURALNETWORKS_BAD_STATE; // a function of a higher feature level
    if (!error_) check(made(ANeuralNetworksExecution_create(region.compilation_, &execution_), execution_));
    if (!error_ && (options & REUSABLE))
        check(ANeuralNetworksExecution_setReusable ? ANeuralNetworksExecution_setReusable(execution_, true) : missing);
    if (!error_ && (options & TIMED))
        check(ANeuralNetworksExecution_setMeasureTiming ? ANeuralNetworksExecution_setMeasureTiming(execution_, true)
                                                        : missing);
    if (!error_ && timeout)
        check(ANeuralNetworksExecution_setTimeout ? ANeuralNetworksExecution_setTimeout(execution_, timeout) : missing);
}

Execution::~Execution() { ANeuralNetworksExecution_free(execution_); }

/** Keeps the first error. */
int Execution::check(int code) { return error_ = error_ ? error_ : code; }

/** Hands value i over, of which there are `count`, by one of the functions that do that for an execution. */
template <class Set, class... Value>
int Execution::set(Set function, uint32_t i, uint32_t count, const uint32_t *bytes, Value... value) {
    if (error_ || i >= count) return check(ANEURALNETWORKS_BAD_DATA);
    return check(function(execution_, static_cast<int32_t>(i), nullptr, value..., bytes[i]));
}

int Execution::input(uint32_t i, const void *value) {
    const nnapi_region_description &d = region_.description_;
    return set(ANeuralNetworksExecution_setInput, i, d.input_count, d.input_bytes, value);
}

int Execution::input(uint32_t i, const ANeuralNetworksMemory *memory, size_t offset) {
    const nnapi_region_description &d = region_.description_;
    return set(ANeuralNetworksExecution_setInputFromMemory, i, d.input_count, d.input_bytes, memory, offset);
}

int Execution::output(uint32_t i, void *value) {
    const nnapi_region_description &d = region_.description_;
    return set(ANeuralNetworksExecution_setOutput, i, d.output_count, d.output_bytes, value);
}

int Execution::output(uint32_t i, const ANeuralNetworksMemory *memory, size_t offset) {
    const nnapi_region_description &d = region_.description_;
    return set(ANeuralNetworksExecution_setOutputFromMemory, i, d.output_count, d.output_bytes, memory, offset);
}

int Execution::run(ANeuralNetworksBurst *burst) {
    if (error_) return error_;
    if (burst) return ANeuralNetworksExecution_burstCompute(execution_, burst);
    if (ANeuralNetworksExecution_compute) return ANeuralNetworksExecution_compute(execution_);
    ANeuralNetworksEvent *event = nullptr;
    int code = made(ANeuralNetworksExecution_startCompute(execution_, &event), event);
    if (code == ANEURALNETWORKS_NO_ERROR) code = ANeuralNetworksEvent_wait(event);
    ANeuralNetworksEvent_free(event);
    return code;
}

uint64_t Execution::duration(int32_t code) const {
    uint64_t ns = UINT64_MAX;
    if (error_ || !ANeuralNetworksExecution_getDuration ||
        ANeuralNetworksExecution_getDuration(execution_, code, &ns) != ANEURALNETWORKS_NO_ERROR)
        return UINT64_MAX;
    return ns;
}

int Region::start(const void *const *inputs, void *const *outputs, ANeuralNetworksBurst *burst) const {
    if (error_) return error_;
    Execution execution(*this);
    for (uint32_t i = 0; i < description_.input_count; i++) execution.input(i, inputs[i]);
    for (uint32_t i = 0; i < description_.output_count; i++) execution.output(i, outputs[i]);
    return execution.run(burst);
}

int Region::run(const void *const *inputs, void *const *outputs) { return start(inputs, outputs, nullptr); }

int Region::run_in_burst(const void *const *inputs, void *const *outputs) {
    if (!error_ && !burst_ && ANeuralNetworksBurst_create && ANeuralNetworksExecution_burstCompute &&
        ANeuralNetworksBurst_create(compilation_, &burst_) != ANEURALNETWORKS_NO_ERROR)
        burst_ = nullptr;
    return start(inputs, outputs, burst_);
}

} // namespace nnapi_region
