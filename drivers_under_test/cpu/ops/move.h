/* SPDX-License-Identifier: Apache-2.0 */
/** @file move.h Copies between arrays of any layout: what operations that only move values are made of. */
#ifndef CPU_MOVE_H
#define CPU_MOVE_H

#include "driver/op.h"

enum { CPU_MOVE_AXES = 2 * CPU_MAX_RANK };

/** One axis of a copy: count values, so many values apart where they are read (0 repeats one) and written. */
struct cpu_stride {
    size_t count;
    ptrdiff_t from, to;
};

struct cpu_move {
    uint32_t element; /**< bytes of a value: 1 or 4 */
    uint32_t axes;
    struct cpu_stride axis[CPU_MOVE_AXES]; /**< the last should be the one that is dense in the output */
};

/** A copy of values of t's type, no axes yet. */
struct cpu_move cpu_move_of(const struct cpu_tensor *t);
/** Adds an axis behind the others; at most CPU_MOVE_AXES. */
void cpu_move_axis(struct cpu_move *m, size_t count, ptrdiff_t from, ptrdiff_t to);
/** Copies; the places that are read and those that are written don't overlap. threads may be NULL: the caller's alone.
 */
void cpu_move_run(struct cpu_threads *threads, const struct cpu_move *m, const void *from, void *to);

/**
 * Fills `out` with values of input 0: output axis d, of the extents `as`, walks the input in steps of step[d] values,
 * from value `first` on.
 */
void cpu_move_view(const struct cpu_call *c, const struct cpu_tensor *out, const struct cpu_shape *as, size_t first,
                   const ptrdiff_t step[]);
/** Distances between neighbours along each axis of a row-major array. */
void cpu_steps(const struct cpu_shape *s, ptrdiff_t step[CPU_MAX_RANK]);

/** Number i of a TENSOR_INT32 input whose value is known. */
int32_t cpu_list_at(const struct cpu_call *c, uint32_t input, uint32_t i);
/** The sum or product as an extent; CPU_UNKNOWN if extent is. False: it is too large. */
bool cpu_extent_add(uint32_t extent, uint64_t more, uint32_t *out);
bool cpu_extent_mul(uint32_t extent, uint64_t by, uint32_t *out);

#endif
