/* SPDX-License-Identifier: Apache-2.0 */
/** @file arena.c See arena.h. */
#include "tests/kit/arena.h"

struct nnv_arena *arena;

int set_up(void **state) {
    (void)state;
    arena = nnv_arena_new();
    return arena ? 0 : -1;
}

int tear_down(void **state) {
    (void)state;
    nnv_arena_free(arena);
    arena = NULL;
    return 0;
}
