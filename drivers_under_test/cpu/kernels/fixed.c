/* SPDX-License-Identifier: Apache-2.0 */
#include "fixed.h"

/** Tiles in a block of rows, which all panels go over: its rows stay in the cache. */
enum { TILES = 20, MOST_ROWS = 12 };

void cpu_tiles_gemm_u8(const struct cpu_gemm_u8 *g, const struct cpu_tiles_u8 *t) {
    const size_t steps = (g->length + 3) / 4 * g->runs, block = TILES * t->rows;
    for (size_t first = 0; first < g->m; first += block) {
        const size_t m = g->m - first < block ? g->m - first : block, count = (m + t->rows - 1) / t->rows;
        const int8_t *b = g->b;
        int32_t corrections[TILES * MOST_ROWS];
        if (g->correction) t->correct(g, first, m, corrections);
        for (size_t col = 0; col < g->n; col += 2 * t->lanes) {
            const int vectors = g->n - col > t->lanes ? 2 : 1;
            for (size_t i = 0; i < count; i++) { /* tiles of nearly equal heights */
                const size_t row = m * i / count, rows = m * (i + 1) / count - row;
                t->tiles[vectors - 1][rows - 1](g, g->correction ? corrections + row : NULL, first + row, col, b);
            }
            b += steps * (size_t)vectors * t->lanes * 4;
        }
    }
}
