/* SPDX-License-Identifier: Apache-2.0 */
/** @file depthwise.h The parts of DEPTHWISE_CONV_2D: any filter, pixel by pixel; and 3x3 filters by whole lines. */
#ifndef CPU_DEPTHWISE_H
#define CPU_DEPTHWISE_H

#include "dense.h"
#include "image.h"

/** Weights made ready for lines; all zero: they can't be had. */
struct cpu_lines_weights {
    bool ready;
    float *packed;                     /**< float: see struct cpu_lines_f32 */
    struct cpu_lines_block_u8 *blocks; /**< quantised */
    size_t count, pixels;
    uint32_t sets;
};

struct cpu_depthwise {
    struct cpu_window window;
    struct cpu_image in, out;
    uint32_t multiplier;
    struct cpu_run *run;
    bool quantised;
    const void *x; /**< channels repeated: as many as the output has */
    void *y;
    const float *weights, *bias; /**< float */
    const struct cpu_span *cols;
    struct cpu_range range;
    int32_t x_zero, y_zero;
};

/** Makes ready what is constant: layer's weights [3, 3, n] and bias. False: no memory. */
bool cpu_lines_prepare(const struct cpu_kernels *kernels, const struct cpu_layer *layer, const struct cpu_window *w,
                       struct cpu_arena *arena, struct cpu_lines_weights *out);
/** The kernels of lines can do it. */
bool cpu_lines_fit(const struct cpu_depthwise *v, const struct cpu_lines_weights *weights);
/** Computes all of y. False: no memory. */
bool cpu_lines_run(const struct cpu_depthwise *v, const struct cpu_lines_weights *weights);

#endif
