/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file planted.h
 * What `nnvts audit` asks of a driver with planted bugs: the list of them. Such a driver takes the name of a bug as its
 * option and exports the symbol NNVTS_PLANTED_SYMBOL beside that of a driver.
 */
#ifndef NNVTS_PLANTED_H
#define NNVTS_PLANTED_H

#include <stdint.h>

enum nnvts_planted_kind {
    NNVTS_PLANTED_BUG,
    NNVTS_PLANTED_LEGAL, /**< differs within what the rules allow: a suite that complains is wrong */
};

/** A row of the list. */
struct nnvts_planted {
    uint32_t struct_size; /**< size of a row; the same for all */
    int32_t kind;         /**< enum nnvts_planted_kind */
    const char *name;     /**< the driver's option */
    const char *suite;    /**< the suite that is for it */
    const char *models;   /**< the class of bugs that it stands for */
    const char *fires;    /**< where it shows */
    const char *survives; /**< why no suite can see it; NULL: one must */
    const char *spoils;   /**< operations whose results it makes wrong, separated by commas; "*": those of all that a
                             model shows; NULL: it is no bug of values */
};

/** The i-th row, valid until the next call, or NULL behind the last. */
#define NNVTS_PLANTED_SYMBOL "nnvts_planted_at"
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct nnvts_planted *
nnvts_planted_at(uint32_t i);
typedef const struct nnvts_planted *(*nnvts_planted_at_fn)(uint32_t i);

#endif
