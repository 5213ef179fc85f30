/* SPDX-License-Identifier: Apache-2.0 */
/** @file build.h Making one shared library of the classes, with the C++ compiler of the system. */
#ifndef NNV_COMPILER_BUILD_H
#define NNV_COMPILER_BUILD_H

#include <stddef.h>

#include "base/arena.h"

/**
 * Compiles the C++ sources (names in the folder) and links them with libneuralnetworks.so, by name, to folder/library.
 * The compiler is $CXX, else the first of c++, g++ and clang++ that there is; NNAPI's headers and library are those of
 * this installation or build tree. The same sources give the same bytes, wherever the folder is. NNV_UNSUPPORTED: there
 * is no compiler; NNV_INVALID: it refused, with what it said.
 */
NNV_USE_RESULT enum nnv_status nnv_build_library(const char *folder, const char *const *sources, size_t n,
                                                 const char *library, struct nnv_arena *arena, struct nnv_err *err);

/** The folder of libneuralnetworks.so of this installation or build tree; NULL: it is not there, or no memory. */
const char *nnv_build_library_folder(struct nnv_arena *arena);

#endif
