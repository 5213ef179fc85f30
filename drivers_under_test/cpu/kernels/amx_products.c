/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file amx_products.c Products of unsigned bytes by signed weights in AMX's tiles. A panel of weights is what tiles
 * are loaded from as it stands: 16 groups of four make a tile, and what is left at the end of a run makes a lower one.
 * While the tiles of a block are multiplied, the vector units round and store the sums of the block before.
 */
#include "vnni_kernels.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vnni_store.h"

enum {
    TILE_ROWS = 16,
    TILE_BYTES = 64, /**< of a row of a tile: 64 values of a row of A, 16 sums, four values of 16 columns */
    BLOCK_ROWS = 2 * TILE_ROWS,
    LEAST_ROWS = 4,
    STRETCH = 256 /**< rows that go through all panels before the next ones do */
};

#define TILE_TARGET                                                                                                    \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,amx-tile,amx-int8"), aligned(64)))
#define LOAD(TILE, FROM, STEP)                                                                                         \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #TILE : : "r"(FROM), "r"((size_t)(STEP)) : "memory")
#define STORE(TILE, TO, STEP)                                                                                          \
    __asm__ volatile("tilestored %%tmm" #TILE ", (%0,%1,1)" : : "r"(TO), "r"((size_t)(STEP)) : "memory")
#define MULTIPLY(SUMS, A, B) __asm__ volatile("tdpbusd %%tmm" #B ", %%tmm" #A ", %%tmm" #SUMS : : : "memory")

/* ------------------------------------------------------------------ permission */

enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };

/** The system keeps tile registers (bits 17 and 18 of XCR0) for who asks. */
static bool system_has_tiles(void) {
    uint32_t a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return false;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a >> 17 & 3) == 3;
}

bool cpu_amx_allowed(void) {
    enum { AMX_TILE = 1 << 24, AMX_INT8 = 1 << 25 };
    uint32_t a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & AMX_TILE) || !(d & AMX_INT8) || !system_has_tiles())
        return false;
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

/* ---------------------------------------------------------------------- blocks */

/** A run is `full` tiles of so many values each, and `rest` values. */
struct cut {
    size_t depth, full, rest;
};

/** A product, the shape of its tiles, and sums that wait for being rounded. */
struct work {
    const struct cpu_gemm_u8 *g;
    const int32_t *corrections; /**< of each row, or NULL */
    size_t first, end;          /**< rows of the product */
    struct cut cut;
    size_t height; /**< rows of a tile */
    size_t row, rows, done, col;
    int vectors; /**< of the sums */
    _Alignas(TILE_BYTES) int32_t sums[BLOCK_ROWS * PANEL];
};

/** Rounds and stores two or one of the rows that wait; the least low halves that were met. */
INLINE __m512i store_rows(int rows, int vectors, struct work *w, size_t at) {
    __m512i acc[2][2];
    int32_t *sums = w->sums + at * (size_t)vectors * LANES;
    UNROLL for (int i = 0; i < rows; i++) for (int v = 0; v < vectors; v++) {
        acc[i][v] = _mm512_loadu_si512(sums + (i * vectors + v) * LANES);
        if (!w->corrections) continue;
        acc[i][v] = _mm512_add_epi32(acc[i][v], _mm512_set1_epi32(w->corrections[w->row - w->first + at + (size_t)i]));
        _mm512_storeu_si512(sums + (i * vectors + v) * LANES, acc[i][v]);
    }
    return vectors == 2 ? store_wide(rows, w->g, acc, w->row + at, w->col)
                        : store_narrow(rows, w->g, acc, w->row + at, w->col);
}

INLINE void store_some(int vectors, struct work *w, size_t count) {
    const size_t first = w->done, end = w->rows - first < count ? w->rows : first + count;
    __m512i least = _mm512_set1_epi32(-1);
    size_t at = first;
    for (; at + 2 <= end; at += 2) least = _mm512_min_epu16(least, store_rows(2, vectors, w, at));
    if (at < end) least = _mm512_min_epu16(least, store_rows(1, vectors, w, at));
    if (__builtin_expect(hits_of(least) != 0, 0))
        mend(w->g, w->sums + first * (size_t)vectors * LANES, (int)(end - first), vectors, w->row + first, w->col);
    w->done = end;
}

/** Rounds and stores at most `count` rows of those that wait. */
static __attribute__((noinline)) TARGET void settle(struct work *w, size_t count) {
    if (w->done == w->rows) return;
    if (w->vectors == 2)
        store_some(2, w, count);
    else
        store_some(1, w, count);
}

/** One step of a block, with four tiles to load: the sums are of 1 or 2 vectors. */
#define STEP_APART(A1, B1, A2, B2)                                                                                     \
    do {                                                                                                               \
        LOAD(A1, a, g->lda);                                                                                           \
        LOAD(B1, b, step);                                                                                             \
        MULTIPLY(0, A1, B1);                                                                                           \
        LOAD(A2, a + lower, g->lda);                                                                                   \
        MULTIPLY(2, A2, B1);                                                                                           \
        if (vectors == 1) break;                                                                                       \
        LOAD(B2, b + TILE_BYTES, step);                                                                                \
        MULTIPLY(1, A1, B2);                                                                                           \
        MULTIPLY(3, A2, B2);                                                                                           \
    } while (0)
/** The same with two tiles for A and B. */
#define STEP(A, B)                                                                                                     \
    do {                                                                                                               \
        LOAD(A, a, g->lda);                                                                                            \
        LOAD(B, b, step);                                                                                              \
        MULTIPLY(0, A, B);                                                                                             \
        if (vectors == 2) {                                                                                            \
            LOAD(B, b + TILE_BYTES, step);                                                                             \
            MULTIPLY(1, A, B);                                                                                         \
        }                                                                                                              \
        LOAD(A, a + lower, g->lda);                                                                                    \
        if (vectors == 2) {                                                                                            \
            MULTIPLY(3, A, B);                                                                                         \
            LOAD(B, b, step);                                                                                          \
        }                                                                                                              \
        MULTIPLY(2, A, B);                                                                                             \
    } while (0)

/**
 * The sums of two tiles of rows from `row` on (which may overlap) by a panel. vectors, and whether the tiles of a run
 * are all alike, are constants of the caller.
 */
static inline __attribute__((always_inline)) TILE_TARGET void block(int vectors, bool alike, struct work *w, size_t row,
                                                                    size_t col, const int8_t *b) {
    const struct cpu_gemm_u8 *g = w->g;
    const size_t depth = w->cut.depth, full = w->cut.full, rest = alike ? 0 : w->cut.rest,
                 step = (size_t)vectors * TILE_BYTES;
    const size_t down = row + 2 * w->height <= w->end ? w->height : w->end - row - w->height, lower = down * g->lda;
    const size_t steps = g->runs * (full + (rest > 0)), share = (w->rows + steps - 1) / steps;
    const int32_t *bias = g->bias + col;
    LOAD(0, bias, 0);
    LOAD(2, bias, 0);
    if (vectors == 2) {
        LOAD(1, bias + LANES, 0);
        LOAD(3, bias + LANES, 0);
    }
    for (size_t r = 0; r < g->runs; r++) {
        const uint8_t *a = g->a[r] + row * g->lda;
        for (size_t s = 0; s < full; s++, a += depth, b += depth / 4 * step) {
            if (alike)
                STEP_APART(4, 5, 6, 7);
            else
                STEP(4, 5);
            settle(w, share);
        }
        if (!rest) continue;
        STEP(6, 7);
        b += rest / 4 * step;
        settle(w, share);
    }
    int32_t *second = w->sums + down * (size_t)vectors * LANES;
    STORE(0, w->sums, step);
    if (vectors == 2) STORE(1, w->sums + LANES, step);
    STORE(2, second, step);
    if (vectors == 2) STORE(3, second + LANES, step);
    w->row = row;
    w->rows = down + w->height;
    w->done = 0;
    w->col = col;
    w->vectors = vectors;
}

#define BLOCK(NAME, VECTORS, ALIKE)                                                                                    \
    static TILE_TARGET void NAME(struct work *w, size_t row, size_t col, const int8_t *b) {                            \
        block(VECTORS, ALIKE, w, row, col, b);                                                                         \
    }
BLOCK(mixed_1, 1, false)
BLOCK(mixed_2, 2, false)
BLOCK(alike_1, 1, true)
BLOCK(alike_2, 2, true)
static void (*const functions[2][2])(struct work *w, size_t row, size_t col, const int8_t *b) = {{mixed_1, mixed_2},
                                                                                                 {alike_1, alike_2}};

/* --------------------------------------------------------------------- product */

/** As few tiles as can be, all alike if that needs no more. */
static struct cut cut_of(size_t length) {
    const size_t count = (length + TILE_BYTES - 1) / TILE_BYTES;
    if (length / 4 % count == 0) return (struct cut){length / count, count, 0};
    return (struct cut){TILE_BYTES, length / TILE_BYTES, length % TILE_BYTES};
}

/** Tiles 0 to 3: sums; 4, 5: A and B; 6, 7: A and B at the end of a run. */
static TILE_TARGET void configure(size_t height, const struct cut *cut) {
    struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } c = {.palette = 1};
    for (int t = 0; t < 4; t++) {
        const size_t values = t >= 2 && cut->rest ? cut->rest : cut->depth;
        c.bytes[t] = TILE_BYTES;
        c.rows[t] = (uint8_t)height;
        c.bytes[4 + t] = t % 2 == 0 ? (uint16_t)values : TILE_BYTES;
        c.rows[4 + t] = (uint8_t)(t % 2 == 0 ? height : values / 4);
    }
    __asm__ volatile("ldtilecfg %0" : : "m"(c) : "memory");
}

/** Rows [first, first + m) of a product, all of its panels. */
static TILE_TARGET void stretch(const struct cpu_gemm_u8 *g, size_t first, size_t m) {
    const size_t panel_steps = g->length / 4 * g->runs, blocks = (m + BLOCK_ROWS - 1) / BLOCK_ROWS;
    const int8_t *b = g->b;
    int32_t corrections[STRETCH];
    struct work w;
    w.g = g;
    w.corrections = g->correction ? corrections : NULL;
    w.first = first;
    w.end = first + m;
    w.height = (m + 2 * blocks - 1) / (2 * blocks);
    w.rows = w.done = 0;
    w.cut = cut_of(g->length);
    if (g->correction) correct(g, first, m, corrections);
    configure(w.height, &w.cut);
    for (size_t col = 0; col < g->n; col += PANEL) {
        const size_t vectors = g->n - col > LANES ? 2 : 1;
        for (size_t t = 0; t < blocks; t++) {
            const size_t wished = t * 2 * w.height, last = m > 2 * w.height ? m - 2 * w.height : 0;
            functions[w.cut.rest == 0][vectors - 1](&w, first + (wished < last ? wished : last), col, b);
        }
        b += panel_steps * vectors * TILE_BYTES;
    }
    settle(&w, w.rows);
    __asm__ volatile("tilerelease" : : : "memory");
}

TARGET void cpu_amx_gemm_u8(const struct cpu_gemm_u8 *g) {
    if (g->m < LEAST_ROWS || g->length % 4 != 0 || g->length * g->runs < TILE_BYTES / 2) {
        cpu_vnni_gemm_u8(g);
        return;
    }
    for (size_t first = 0; first < g->m; first += STRETCH)
        stretch(g, first, g->m - first < STRETCH ? g->m - first : STRETCH);
}

#else

bool cpu_amx_allowed(void) { return false; }
void cpu_amx_gemm_u8(const struct cpu_gemm_u8 *g) { (void)g; }

#endif
