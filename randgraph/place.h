/* SPDX-License-Identifier: Apache-2.0 */
/** @file place.h Values that depend on their place: ramps, impulses, lines of one kind each, large ones of one sign.
 */
#ifndef NNV_RANDGRAPH_PLACE_H
#define NNV_RANDGRAPH_PLACE_H

#include "randgraph/fill.h"

/** True if the values of this mode depend on their place. */
bool nnv_is_placed(enum nnv_fill_mode mode);
/** Element i of n of the pattern; lo and hi, and `large` of f, are in the unit that is wanted. */
double nnv_place_value(const struct nnv_fill *f, double lo, double hi, double large, size_t i, size_t n,
                       struct nnv_rng *rng);

#endif
