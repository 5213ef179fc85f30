/* SPDX-License-Identifier: Apache-2.0 */
/** @file regions.h Boxes: real numbers, or where the operation is quantised eighths of a pixel. */
#ifndef CPU_REGIONS_H
#define CPU_REGIONS_H

#include "driver/op.h"

/** Value i of a float or quantised tensor, as a real number. */
static inline double cpu_real(const struct cpu_tensor *t, size_t i) {
    if (cpu_is_quant8(t)) return (((const uint8_t *)t->data)[i] - t->zero_point) * (double)t->scale;
    return (double)((const float *)t->data)[i];
}

/** Coordinate i, in pixels. */
static inline double cpu_coordinate(const struct cpu_tensor *t, size_t i) {
    if (t->type == ANEURALNETWORKS_TENSOR_QUANT16_ASYMM) return ((const uint16_t *)t->data)[i] * 0.125;
    return (double)((const float *)t->data)[i];
}

/** Writes coordinate i, rounded and in range. */
static inline void cpu_put_coordinate(const struct cpu_tensor *t, size_t i, double v) {
    if (t->type != ANEURALNETWORKS_TENSOR_QUANT16_ASYMM) {
        ((float *)t->data)[i] = (float)v;
        return;
    }
    const int32_t eighths = cpu_round(v * 8);
    ((uint16_t *)t->data)[i] = (uint16_t)(eighths < 0 ? 0 : eighths > UINT16_MAX ? UINT16_MAX : eighths);
}

#endif
