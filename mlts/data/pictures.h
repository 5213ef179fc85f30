/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pictures.h Pictures that the project draws itself, so that classifiers can be judged without data from
 * elsewhere.
 *
 * A picture shows one of ten figures, at any place, size and angle, in any colours, over a shaded background with
 * strokes and noise. Drawn with the basic operations of IEEE 754 alone: the same bytes on any machine.
 */
#ifndef NNV_MLTS_PICTURES_H
#define NNV_MLTS_PICTURES_H

#include <stdint.h>

enum {
    NNV_PICTURE_CLASSES = 10,
    NNV_PICTURE_SIZE = 48, /**< pixels on a side */
    NNV_PICTURE_BYTES = NNV_PICTURE_SIZE * NNV_PICTURE_SIZE * 3,
};

/** The names of the classes: "disc", "ring" ... */
extern const char *const nnv_picture_class_names[NNV_PICTURE_CLASSES];

/** Seeds of the pictures that models were trained on, and of those held out to judge them. */
enum { NNV_PICTURES_TRAINING = 1, NNV_PICTURES_HELD_OUT = 2 };

/** Draws picture `index` of a seed into rgb, [SIZE, SIZE, 3]; returns its class. */
int nnv_picture_draw(uint64_t seed, uint64_t index, uint8_t *rgb);

#endif
