/* SPDX-License-Identifier: Apache-2.0 */
/** @file build.h Builds one shared library from the generated classes, with the system's C++ compiler. */
#ifndef NNV_COMPILER_BUILD_H
#define NNV_COMPILER_BUILD_H

#include <stddef.h>

#include "base/arena.h"

/** What is built. */
struct nnv_build {
    const char *folder; /**< of all files that have no path below */
    const char *const *sources;
    size_t n_sources;
    const char *library; /**< the result */
    const char *target;  /**< what the names of the compilers for another machine begin with; NULL: this machine */
    const char *nnapi;   /**< path of the library that it is linked with; NULL: any libneuralnetworks.so */
};

/**
 * Compiles the C++ sources and links them with NNAPI's library by its name, so that it is found where the result is
 * loaded; it need not be here. The compiler is $CXX, else the first of c++, g++ and clang++ that there is; for a target
 * TARGET-g++ or TARGET-clang++. The same sources give the same bytes, wherever the folder is. NNV_UNSUPPORTED: there is
 * no compiler; NNV_INVALID: it refused, with what it said, or there is no library nnapi.
 */
NNV_USE_RESULT enum nnv_status nnv_build_library(const struct nnv_build *b, struct nnv_arena *arena,
                                                 struct nnv_err *err);

/** The folder of libneuralnetworks.so of this installation or build tree; NULL: it is not there, or no memory. */
const char *nnv_build_library_folder(struct nnv_arena *arena);

#endif
