/* SPDX-License-Identifier: Apache-2.0 */
/** @file error_map.h The picture of error over bound. */
#ifndef NNV_REPORTS_ERROR_MAP_H
#define NNV_REPORTS_ERROR_MAP_H

#include <stdint.h>

#include "base/text.h"

enum { NNV_ERROR_MAP_SIDE_MAX = 256 };

/**
 * Adds a PNG of rows x cols cells (a byte each: 0 no error, 128 at the bound, 255 far beyond) to png, one pixel a cell.
 * Within the bound grey on transparent, so that it stands on any ground; beyond it from orange to dark red.
 * False if rows or cols is 0 or more than NNV_ERROR_MAP_SIDE_MAX, or when out of memory.
 */
bool nnv_error_map_png(struct nnv_text *png, const uint8_t *cells, uint32_t rows, uint32_t cols);

#endif
