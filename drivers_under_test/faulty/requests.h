/* SPDX-License-Identifier: Apache-2.0 */
/** @file requests.h Requests as a bug changes them. */
#ifndef NNVTS_FAULTY_REQUESTS_H
#define NNVTS_FAULTY_REQUESTS_H

#include "faulty.h"

/** The inputs, to be changed in this call alone; NULL: there is no memory. */
struct nnvts_argument *own_inputs(struct call *c);
struct nnvts_argument *own_outputs(struct call *c);
/** Gives input i another value, which lies elsewhere until the call is over. */
void replace_input(struct call *c, uint32_t i, uint8_t *value, uint32_t bytes);

#endif
