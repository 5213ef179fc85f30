/* SPDX-License-Identifier: Apache-2.0 */
/** @file host_walker.h A driver that reads every byte it is given, computes nothing, and counts its objects. */
#ifndef KIT_HOST_WALKER_H
#define KIT_HOST_WALKER_H

#include <stdatomic.h>

#include "nnvts/driver.h"

extern atomic_int walker_objects; /* that live */
extern atomic_uint walker_sum;    /* of what was read, so that it is read */
extern atomic_int walker_bad;     /* things that a host must not hand on */

/** Reads them all. */
void walk(const void *data, size_t bytes);

extern const struct nnvts_driver walker;

#endif
