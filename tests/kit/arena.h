/* SPDX-License-Identifier: Apache-2.0 */
/** @file arena.h An arena for the test that runs. */
#ifndef KIT_ARENA_H
#define KIT_ARENA_H

#include "base/arena.h"
#include "tests/kit/test.h"

/** Between set_up() and tear_down(). */
extern struct nnv_arena *arena;

int set_up(void **state);
int tear_down(void **state);

#endif
