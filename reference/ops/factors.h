/* SPDX-License-Identifier: Apache-2.0 */
/** @file factors.h Factors that families of operations share (struct nnv_factor), and what their values mean. */
#ifndef NNV_OPS_FACTORS_H
#define NNV_OPS_FACTORS_H

#include "reference/model/sample.h"

/** The row's value of the factor of that name; without a row the other one. */
int32_t nnv_row_named(const struct nnv_sample *s, const char *name, int32_t otherwise);
static inline uint32_t nnv_row_extent(const struct nnv_sample *s, const char *name, uint32_t otherwise) {
    return (uint32_t)nnv_row_named(s, name, (int32_t)otherwise);
}

/* ------------------------------------------------------------------------ axes */

#define NNV_AXIS_WORDS "last", "first", "second"
#define NNV_SIGNED_AXIS_WORDS NNV_AXIS_WORDS, "-1", "-2", "-rank"
/** An axis of [0, rank); of [-rank, rank); of these, or left to its default -1. */
#define NNV_AXIS_FACTOR                                                                                                \
    { .name = "axis", NNV_WORDS(NNV_AXIS_WORDS) }
#define NNV_SIGNED_AXIS_FACTOR                                                                                         \
    { .name = "axis", NNV_WORDS(NNV_SIGNED_AXIS_WORDS) }
#define NNV_LATE_AXIS_FACTOR                                                                                           \
    { .name = "axis", NNV_WORDS(NNV_SIGNED_AXIS_WORDS, "absent") }
/** The axis that the row's factor f says of a tensor of that rank. */
int nnv_row_axis(const struct nnv_sample *s, int f, uint32_t rank);
/** The same in [0, rank). */
uint32_t nnv_row_place(const struct nnv_sample *s, int f, uint32_t rank);
/** True if the axis is left to its default. */
bool nnv_row_axis_absent(const struct nnv_sample *s, int f);

/** Which axes an operation of several works along. */
#define NNV_ALONG_FACTOR                                                                                               \
    { .name = "along", NNV_WORDS("last", "all", "first", "middle") }
/** True if the row's factor f says that axis d is one of them. */
bool nnv_row_along(const struct nnv_sample *s, int f, uint32_t rank, uint32_t d);

/* ---------------------------------------------------------------------- images */

/** Factors of images, in this order, from any place on. */
enum { NNV_IMAGE_EXTENTS, NNV_IMAGE_CHANNELS, NNV_IMAGE_BATCH, NNV_IMAGE_LAYOUT, NNV_IMAGE_OWN };
#define NNV_IMAGE_FACTORS                                                                                              \
    {.name = "image",                                                                                                  \
     .pair = true,                                                                                                     \
     NNV_VALUES(NNV_PAIR(8, 8), NNV_PAIR(7, 7), NNV_PAIR(5, 9), NNV_PAIR(10, 6), NNV_PAIR(13, 13), NNV_PAIR(1, 1),     \
                NNV_PAIR(4, 15)),                                                                                      \
     NNV_SIZES(NNV_PAIR(16, 16), NNV_PAIR(17, 17), NNV_PAIR(33, 33), NNV_PAIR(64, 64), NNV_PAIR(65, 65),               \
               NNV_PAIR(1, 127), NNV_PAIR(129, 1), NNV_PAIR(2, 257), NNV_PAIR(1025, 1)),                               \
     .large = NNV_PAIR(170, 129),                                                                                      \
     .plane = NNV_PAIR(259, 254),                                                                                      \
     .huge = NNV_PAIR(1182, 1183)},                                                                                    \
        {.name = "channels",                                                                                           \
         NNV_VALUES(3, 1, 4, 8, 5, 16),                                                                                \
         NNV_SIZES(15, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1024, 1025),           \
         .plane = 2,                                                                                                   \
         .point = 4},                                                                                                  \
        {.name = "batch", NNV_VALUES(1, 2, 3), NNV_SIZES(4, 8, 9, 17, 33, 65)}, {                                      \
        .name = "layout", NNV_WORDS("nhwc", "nchw"), .plane = 1                                                        \
    }
/** An image as the row says: its factors begin at `first`. */
struct nnv_row_image {
    uint32_t n, h, w, c;
    bool nchw;
};
struct nnv_row_image nnv_row_image(const struct nnv_sample *s, int first);

#endif
