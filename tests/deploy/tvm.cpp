// SPDX-License-Identifier: Apache-2.0
// What TVM's runtime does with the library of tests/relay/deploy.relay: it finds a packed function by its name and
// calls it with tensors. Argument: the library.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

namespace {

// TVM's and DLPack's layouts.
struct Device {
    int32_t type, id;
};
struct DataType {
    uint8_t code, bits;
    uint16_t lanes;
};
struct Tensor {
    void *data;
    Device device;
    int32_t ndim;
    DataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};
union Value {
    int64_t v_int64;
    double v_float64;
    void *v_handle;
};
using PackedFunction = int (*)(Value *, int *, int, Value *, int *, void *);

char last_error[256];

int call(PackedFunction f, Tensor *x, Tensor *y, Tensor *z, int kind = 13) {
    Value values[3], result;
    int kinds[3] = {kind, 7, 7}, result_kind = 4;
    values[0].v_handle = x;
    values[1].v_handle = y;
    values[2].v_handle = z;
    return f(values, kinds, z ? 3 : 2, &result, &result_kind, nullptr);
}

} // namespace

extern "C" __attribute__((visibility("default"))) void TVMAPISetLastError(const char *message) {
    std::snprintf(last_error, sizeof last_error, "%s", message);
}

int main(int, char **argv) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) return std::puts(dlerror()), 1;
    const auto region = reinterpret_cast<PackedFunction>(dlsym(library, "tvmgen_default_nnapi_main_0"));
    const auto whole = reinterpret_cast<PackedFunction>(dlsym(library, "program"));
    if (!region || !whole) return std::puts("a function is not there"), 1;
    float x[41], y[40];
    int32_t z[80];
    int64_t line[] = {40}, rows[] = {2, 20}, far[] = {2}, two[] = {80};
    for (int k = 0; k < 41; k++) x[k] = static_cast<float>(k);
    Tensor in = {x, {1, 0}, 1, {2, 32, 1}, line, nullptr, 4}, out = {y, {1, 0}, 1, {2, 32, 1}, line, nullptr, 0};
    if (call(region, &in, &out, nullptr) != 0) return std::puts(last_error), 1;
    for (int k = 0; k < 40; k++)
        if (y[k] != x[k + 1] + static_cast<float>(k % 7) - 3.25f) return std::puts("a value is wrong"), 1;
    Tensor image = {x, {1, 0}, 2, {2, 32, 1}, rows, nullptr, 0}, both = {z, {1, 0}, 1, {0, 32, 1}, two, nullptr, 0};
    if (call(whole, &image, &both, &out) != 0) return std::puts(last_error), 1;
    if (z[41] != 20) return std::puts("an integer is wrong"), 1;
    in.strides = far;
    if (call(region, &in, &out, nullptr) == 0 || !std::strstr(last_error, "not dense")) return 1;
    in.strides = nullptr;
    in.device.type = 2;
    if (call(region, &in, &out, nullptr) == 0 || !std::strstr(last_error, "memory of the CPU")) return 1;
    if (call(region, &in, &out, nullptr, 0) == 0 || !std::strstr(last_error, "no tensor")) return 1;
    if (call(whole, &image, &out, nullptr) == 0 || !std::strstr(last_error, "number of arguments")) return 1;
    std::puts("right");
    return 0;
}
