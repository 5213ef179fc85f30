/* SPDX-License-Identifier: Apache-2.0 */
/** @file nearest.h The known word that is nearest to an unknown one: "did you mean". */
#ifndef NNV_BASE_NEAREST_H
#define NNV_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/** A search for the known word nearest to `word`; both are borrowed. */
struct nnv_nearest {
    const char *word;
    const char *best; /**< NULL: none is near enough to be named */
    size_t distance;  /**< of best */
};

/** Begins a search: about a third of the word may differ. */
struct nnv_nearest nnv_nearest_to(const char *word);
/**
 * Considers a known word; true if it is the nearest so far. What counts is the number of characters to insert, delete
 * or replace, of at most 48, whatever their letter case; a beginning of a word is as good as the word.
 */
bool nnv_nearest_see(struct nnv_nearest *n, const char *known);

#endif
