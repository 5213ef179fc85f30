/* SPDX-License-Identifier: Apache-2.0 */
/** @file checks.h What must hold of the compiler's readers and writers: Relax, constants' metadata, the C++ class. */
#ifndef KIT_COMPILER_CHECKS_H
#define KIT_COMPILER_CHECKS_H

#include "base/text.h"
#include "tests/kit/compiler/faults.h"

/* An image, as both texts declare it. */
#define X4 "x: R.Tensor((1, 4, 8, 8), dtype=\"float32\")"
#define R4 "%x: Tensor[(1, 4, 8, 8), float32]"

/** A function in Relax, and the same in Relay. */
struct relax_pair {
    const char *relax_params, *relax_body, *relay_params, *relay_body;
};
/** Operators and the names of their attributes. */
extern const struct relax_pair relax_pairs[];
extern const size_t relax_pair_count;

/** A module of Relax with one function, whose body's lines begin in column 0; of arena. */
const char *relax_module(const char *params, const char *body, struct nnv_arena *arena);

/* Each: false if it does not hold, and why says what. The fault, which may be NULL, is planted before. */

/** Both texts are read as the same graph. */
bool relax_pair_holds(const struct relax_pair *pair, const struct compiler_fault *fault, struct nnv_arena *arena,
                      struct nnv_text *why);
/** Constants that are written with a program, Relay's or Relax's, have all that TVM reads, and read back the same. */
bool metadata_holds(const struct compiler_fault *fault, struct nnv_arena *arena, struct nnv_text *why);
/** The C++ class of a program of copies and casts, compiled, gives what the interpreter gives. */
bool class_holds(const struct compiler_fault *fault, struct nnv_arena *arena, struct nnv_text *why);

#endif
