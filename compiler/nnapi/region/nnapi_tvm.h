/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file nnapi_tvm.h Packed functions of TVM's runtime around regions: for TVM's C interface as it was up to 0.20.
 *
 * A packed function has the name of its region, which is the symbol that a program of TVM calls it by. Its arguments
 * are the region's inputs, then its outputs: dense tensors in the memory of the CPU. The region is made when it is
 * first called; its weights lie beside the library.
 */
#ifndef NNAPI_TVM_H
#define NNAPI_TVM_H

#include <memory>
#include <new>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "nnapi_region.h"

/** TVM's own, where its runtime is loaded: keeps the message of an error. */
extern "C" __attribute__((weak)) void TVMAPISetLastError(const char *message);

namespace nnapi_tvm {

/** A tensor as DLPack lays it out. */
struct Tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t rank;
    uint8_t type_code, type_bits;
    uint16_t type_lanes;
    int64_t *shape, *strides; ///< strides, in elements; nullptr: it is dense
    uint64_t byte_offset;
};

/** An argument, whose kind stands in a list of its own. */
union Value {
    int64_t integer;
    double number;
    Tensor *tensor;
};
enum { KIND_TENSOR = 7, KIND_ARRAY = 13 /**< also points to a tensor */, DEVICE_CPU = 1 };

inline int fail(const char *function, const char *what) {
    char message[256];
    snprintf(message, sizeof message, "%s: %s", function, what);
    if (TVMAPISetLastError) TVMAPISetLastError(message);
    return -1;
}

inline bool is_dense(const Tensor &t, uint64_t *bytes) {
    int64_t step = 1;
    for (int32_t i = t.rank; i-- > 0; step *= t.shape[i])
        if (t.strides && t.shape[i] != 1 && t.strides[i] != step) return false;
    *bytes = static_cast<uint64_t>(step) * ((t.type_bits * t.type_lanes + 7u) / 8);
    return true;
}

/** A region behind its C functions. */
class Function {
  public:
    Function(void *(*create)(const nnapi_region_configuration *), int (*error)(const void *, const char **),
             int (*execute)(void *, const void *const *, void *const *, int),
             const nnapi_region_description *(*describe)())
        : error_(error), execute_(execute), description_(*describe()) {
        Dl_info library;
        const char *slash = nullptr;
        char folder[4096] = ".";
        if (dladdr(reinterpret_cast<void *>(describe), &library)) slash = strrchr(library.dli_fname, '/');
        if (slash)
            snprintf(folder, sizeof folder, "%.*s", static_cast<int>(slash - library.dli_fname), library.dli_fname);
        nnapi_region_configuration configuration = {};
        configuration.folder = folder;
        object_ = create(&configuration);
    }

    int call(const Value *values, const int *kinds, int count) const {
        const nnapi_region_description &d = description_;
        const char *where = "no memory";
        const uint32_t n = d.input_count + d.output_count;
        if (!object_ || error_(object_, &where) != ANEURALNETWORKS_NO_ERROR) return fail(d.name, where);
        if (count < 0 || static_cast<uint32_t>(count) != n)
            return fail(d.name, "it takes its inputs and its outputs, and no other number of arguments");
        const std::unique_ptr<void *[]> data(new (std::nothrow) void *[n]);
        if (!data) return fail(d.name, "no memory");
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t wanted = i < d.input_count ? d.input_bytes[i] : d.output_bytes[i - d.input_count];
            uint64_t bytes = 0;
            if (kinds[i] != KIND_TENSOR && kinds[i] != KIND_ARRAY) return fail(d.name, "an argument is no tensor");
            const Tensor &t = *values[i].tensor;
            if (t.device_type != DEVICE_CPU) return fail(d.name, "a tensor is not in the memory of the CPU");
            if (!is_dense(t, &bytes) || bytes != wanted)
                return fail(d.name, "a tensor has another size or is not dense");
            data[i] = static_cast<char *>(t.data) + t.byte_offset;
        }
        const int code = execute_(object_, data.get(), data.get() + d.input_count, 0);
        char what[48];
        snprintf(what, sizeof what, "NNAPI answered %d", code);
        return code == ANEURALNETWORKS_NO_ERROR ? 0 : fail(d.name, what);
    }

  private:
    int (*error_)(const void *, const char **);
    int (*execute_)(void *, const void *const *, void *const *, int);
    const nnapi_region_description &description_;
    void *object_ = nullptr;
};

} // namespace nnapi_tvm

#endif
