/* SPDX-License-Identifier: Apache-2.0 */
/** @file nnapi_program.h What the class of a whole program does between its regions: moving data, and casts. */
#ifndef NNAPI_PROGRAM_H
#define NNAPI_PROGRAM_H

#include "nnapi_region.h"

#ifdef __cplusplus

#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include <math.h>
#include <string.h>

namespace nnapi_region {

/** float16, as its bits. */
struct Half {
    uint16_t bits;

    operator double() const {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        const double size = exponent == 0    ? ldexp(fraction, -24)
                            : exponent != 31 ? ldexp(fraction + 1024, exponent - 25)
                            : fraction       ? static_cast<double>(NAN)
                                             : HUGE_VAL;
        return bits >> 15 ? -size : size;
    }
    /** The nearest, of two the even one. */
    static Half of(double v) {
        const unsigned sign = signbit(v) ? 0x8000 : 0;
        int exponent = 0;
        if (isnan(v)) return {0x7e00};
        if (fabs(v) >= 65520) return {static_cast<uint16_t>(sign | 0x7c00)};
        frexp(v, &exponent);
        if (exponent < -13) exponent = -13;
        const double units = nearbyint(ldexp(fabs(v), 11 - exponent));
        return {static_cast<uint16_t>(sign |
                                      ((static_cast<unsigned>(exponent + 13) << 10) + static_cast<unsigned>(units)))};
    }
};

/** From floats to integers: towards zero, saturated, NaN is 0. Between integers: the low bits. */
template <class To, class From> To cast_one(From v) {
    if constexpr (std::is_same<From, Half>::value) {
        return cast_one<To>(static_cast<double>(v));
    } else if constexpr (std::is_same<To, bool>::value) {
        return v != 0;
    } else if constexpr (std::is_same<To, Half>::value) {
        return Half::of(static_cast<double>(v));
    } else if constexpr (std::is_integral<To>::value && std::is_floating_point<From>::value) {
        using Limits = std::numeric_limits<To>;
        const double beyond = ldexp(1, Limits::digits); // exact, as the largest integer may not be
        if (isnan(v)) return 0;
        if (static_cast<double>(v) >= beyond) return Limits::max();
        return static_cast<double>(v) <= static_cast<double>(Limits::min()) ? Limits::min() : static_cast<To>(v);
    } else {
        return static_cast<To>(v);
    }
}

template <class To, class From> void cast(To *to, const From *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = cast_one<To>(from[i]);
}

/** One loop of a copy, with its steps in elements. */
struct Loop {
    int64_t count, to, from;
};

template <class T> void move(T *to, const T *from, const Loop *loops, size_t n) {
    if (n == 1 && loops->to == 1 && loops->from == 1) {
        memcpy(to, from, static_cast<size_t>(loops->count) * sizeof *to);
        return;
    }
    for (int64_t i = 0; i < loops->count; i++, to += loops->to, from += loops->from) {
        if (n == 1)
            *to = *from;
        else
            move(to, from, loops + 1, n - 1);
    }
}
template <class T, size_t N> void move(T *to, const T *from, const Loop (&loops)[N]) { move(to, from, loops, N); }

template <class T> void clear(T *to, size_t n) { memset(static_cast<void *>(to), 0, n * sizeof *to); }

/** Runs a region: a result code. */
inline int call(Region &region, bool in_burst, std::initializer_list<const void *> inputs,
                std::initializer_list<void *> outputs) {
    return in_burst ? region.run_in_burst(inputs.begin(), outputs.begin())
                    : region.run(inputs.begin(), outputs.begin());
}

/** What does not depend on the program: its first error, and room for what is between its regions. */
class Program {
  public:
    /** A result code of NNAPI: of the first region that could not be made, or 0. */
    int error() const { return error_; }
    /** What failed. */
    const char *where() const { return where_; }

  protected:
    explicit Program(size_t bytes) : values_(new (std::nothrow) uint8_t[bytes + ALIGN]) {
        if (!values_) error_ = ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    void check(const Region &region) {
        if (error_ || !region.error()) return;
        error_ = region.error();
        where_ = region.where();
    }
    /** The value at a place in the room. */
    template <class T> T *at(size_t offset) const {
        const uintptr_t begin = (reinterpret_cast<uintptr_t>(values_.get()) + ALIGN - 1) / ALIGN * ALIGN;
        return reinterpret_cast<T *>(begin + offset);
    }

  private:
    enum : size_t { ALIGN = 64 };
    std::unique_ptr<uint8_t[]> values_;
    int error_ = 0;
    const char *where_ = "";
};

} // namespace nnapi_region
#endif

#endif
