/* SPDX-License-Identifier: Apache-2.0 */
/** @file image.h Pictures from PNG files, resized: the same bytes on any machine. */
#ifndef NNV_MLTS_IMAGE_H
#define NNV_MLTS_IMAGE_H

#include <stdint.h>

#include "base/arena.h"

enum { NNV_IMAGE_MOST_PIXELS = 1 << 26 };

/** Rows of pixels, top first, channels interleaved. */
struct nnv_image {
    uint32_t width, height, channels; /**< 1: grey, 3: red, green, blue */
    uint8_t *data;                    /**< arena's */
};

/** Reads a PNG of any kind as `channels` channels (1 or 3), transparent parts black. NNV_INVALID names path and why. */
NNV_USE_RESULT enum nnv_status nnv_image_read(const char *path, uint32_t channels, struct nnv_arena *arena,
                                              struct nnv_image *image, struct nnv_err *err);
/** Writes a PNG. NNV_IO. */
NNV_USE_RESULT enum nnv_status nnv_image_write(const char *path, const struct nnv_image *image, struct nnv_err *err);
/**
 * Resizes by a triangle filter, which is bilinear interpolation upwards and takes every pixel into account downwards:
 * pixel centres at half numbers, edges repeated; first along rows, rounded to bytes, then along columns.
 * NNV_NO_MEMORY; NNV_INVALID for an extent of 0 or too many pixels.
 */
NNV_USE_RESULT enum nnv_status nnv_image_resize(const struct nnv_image *image, uint32_t width, uint32_t height,
                                                struct nnv_arena *arena, struct nnv_image *out, struct nnv_err *err);

#endif
