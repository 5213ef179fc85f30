/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/factors.h"

#include <string.h>

int32_t nnv_row_named(const struct nnv_sample *s, const char *name, int32_t otherwise) {
    for (uint8_t f = 0; s->row && f < s->op->nfactors; f++)
        if (strcmp(s->op->factors[f].name, name) == 0) return s->row[f];
    return otherwise;
}

enum { AXIS_LAST, AXIS_FIRST, AXIS_SECOND, AXIS_MINUS_1, AXIS_MINUS_2, AXIS_MINUS_RANK, AXIS_ABSENT };

int nnv_row_axis(const struct nnv_sample *s, int f, uint32_t rank) {
    const int n = (int)rank;
    switch (nnv_sample_value(s, f)) {
    case AXIS_LAST:
        return n - 1;
    case AXIS_FIRST:
        return 0;
    case AXIS_SECOND:
        return n > 1 ? 1 : 0;
    case AXIS_MINUS_2:
        return n > 1 ? -2 : -1;
    case AXIS_MINUS_RANK:
        return -n;
    }
    return -1;
}

uint32_t nnv_row_place(const struct nnv_sample *s, int f, uint32_t rank) {
    const int axis = nnv_row_axis(s, f, rank);
    return (uint32_t)(axis < 0 ? axis + (int)rank : axis);
}

bool nnv_row_axis_absent(const struct nnv_sample *s, int f) { return nnv_sample_value(s, f) == AXIS_ABSENT; }

bool nnv_row_along(const struct nnv_sample *s, int f, uint32_t rank, uint32_t d) {
    enum { LAST, ALL, FIRST, MIDDLE };
    switch (nnv_sample_value(s, f)) {
    case LAST:
        return d == rank - 1;
    case FIRST:
        return d == 0;
    case MIDDLE:
        return rank > 2 ? d > 0 && d < rank - 1 : d == rank - 1;
    }
    return true;
}

struct nnv_row_image nnv_row_image(const struct nnv_sample *s, int first) {
    const int32_t extents = nnv_sample_value(s, first + NNV_IMAGE_EXTENTS);
    return (struct nnv_row_image){.n = (uint32_t)nnv_sample_value(s, first + NNV_IMAGE_BATCH),
                                  .h = (uint32_t)nnv_pair_height(extents),
                                  .w = (uint32_t)nnv_pair_width(extents),
                                  .c = (uint32_t)nnv_sample_value(s, first + NNV_IMAGE_CHANNELS),
                                  .nchw = nnv_sample_value(s, first + NNV_IMAGE_LAYOUT)};
}
