/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file vnni_lines.c Depthwise 3x3 filters on bytes: four lines of the input are interleaved so that each four
 * bytes are one column of a filter's window, which one instruction multiplies with three weights and a zero. The same
 * four serve the output row below with the zero in front. Few channels: neighbouring pixels fill the vector.
 */
#include "vnni_kernels.h"

#if defined(__x86_64__)

#include "vnni.h"

enum { BYTES = CPU_LINES_BYTES, TAPS = 3, PARTS = 4 };

/** One column of the windows of 64 values. */
struct columns {
    __m512i part[PARTS];
};

/** What stays the same for all positions: held in registers, which stores to bytes can't be taken to change. */
struct fixed {
    const uint8_t *x[4];
    size_t width, channels, pixels;
    __mmask64 all; /**< the bytes of a block */
    __m512i zero, lo, hi;
    __m512 offset;
};

/** The bytes from column `pixel` of the input on that lie inside the line. */
INLINE __mmask64 inside(const struct fixed *k, ptrdiff_t pixel) {
    if (k->pixels == 1) return (size_t)pixel < k->width ? k->all : 0;
    const ptrdiff_t missing = pixel < 0 ? -pixel * (ptrdiff_t)k->channels : 0;
    const ptrdiff_t there = ((ptrdiff_t)k->width - pixel) * (ptrdiff_t)k->channels;
    if (missing >= BYTES || there <= 0) return 0;
    const __mmask64 mask = k->all & UINT64_MAX << missing;
    return there < BYTES ? mask & ((1ull << there) - 1) : mask;
}

INLINE struct columns load(const struct fixed *k, int lines, ptrdiff_t pixel) {
    const __mmask64 mask = inside(k, pixel);
    const ptrdiff_t at = pixel * (ptrdiff_t)k->channels;
    __m512i x[4];
    UNROLL for (int r = 0; r < lines; r++) x[r] = _mm512_mask_loadu_epi8(k->zero, mask, k->x[r] + at);
    if (lines == 3) x[3] = x[2]; /* its weight is 0 */
    const __m512i a = _mm512_unpacklo_epi8(x[0], x[1]), b = _mm512_unpackhi_epi8(x[0], x[1]),
                  c = _mm512_unpacklo_epi8(x[2], x[3]), d = _mm512_unpackhi_epi8(x[2], x[3]);
    return (struct columns){{_mm512_unpacklo_epi16(a, c), _mm512_unpackhi_epi16(a, c), _mm512_unpacklo_epi16(b, d),
                             _mm512_unpackhi_epi16(b, d)}};
}

/** Mends what lies within the band, in 64 values of a row that are stored already. */
static __attribute__((noinline)) TARGET void mend(const struct cpu_lines_u8 *l, const struct cpu_lines_block_u8 *b,
                                                  const int32_t *sums, uint8_t *y, __mmask64 mask) {
    const __m512 offset = offset_of(l->zero_point);
    for (int v = 0; v < PARTS; v++, sums += 16) {
        const __m512i f = scaled(_mm512_loadu_si512(sums), b->scale + 16 * v, offset);
        uint32_t hits = hits_of(f);
        for (; hits; hits &= hits - 1) {
            const int lane = __builtin_ctz(hits) / 2, byte = cpu_lines_byte(16 * v + lane);
            if (mask >> byte & 1)
                y[byte] = cpu_fixed_exact(sums[lane], b->multiplier[16 * v + lane], l->zero_point, l->lo, l->hi);
        }
    }
}

/** Stores one row of 64 sums; true if some lie within the band. */
INLINE bool finish(const struct fixed *k, const struct cpu_lines_block_u8 *b, const __m512i acc[PARTS], uint8_t *y,
                   __mmask64 mask) {
    __m512i f[PARTS];
    UNROLL for (int v = 0; v < PARTS; v++) f[v] = scaled(acc[v], b->scale + 16 * v, k->offset);
    const __m512i least = _mm512_min_epu16(_mm512_min_epu16(f[0], f[1]), _mm512_min_epu16(f[2], f[3]));
    UNROLL for (int v = 0; v < PARTS; v++) f[v] = _mm512_srai_epi32(f[v], 16);
    const __m512i bytes = _mm512_packus_epi16(_mm512_packs_epi32(f[0], f[1]), _mm512_packs_epi32(f[2], f[3]));
    _mm512_mask_storeu_epi8(y, mask, _mm512_max_epu8(_mm512_min_epu8(bytes, k->hi), k->lo));
    return hits_of(least) != 0;
}

/**
 * One block of channels, all columns. rows of the output; sets of weights; fresh: columns of the window that the next
 * position does not share with this one. All three are constants of the caller.
 */
INLINE void block(int rows, int sets, int fresh, const struct cpu_lines_u8 *l, const struct cpu_lines_block_u8 *b) {
    struct fixed k = {.width = l->width, .channels = l->channels, .pixels = l->pixels, .all = UINT64_MAX};
    const size_t pixels = l->pixels, bytes = pixels * l->channels, out_width = l->out_width;
    const ptrdiff_t step = (ptrdiff_t)(pixels * l->stride);
    ptrdiff_t pixel = -(ptrdiff_t)l->left;
    struct columns x[TAPS];
    if (bytes < BYTES) k.all = (1ull << bytes) - 1;
    UNROLL for (int r = 0; r < rows + 2; r++) k.x[r] = l->x[r] + b->channel;
    k.zero = _mm512_set1_epi8((char)l->x_zero);
    k.lo = _mm512_set1_epi8((char)l->lo);
    k.hi = _mm512_set1_epi8((char)l->hi);
    k.offset = offset_of(l->zero_point);
    UNROLL for (int q = 0; q < TAPS - fresh; q++) x[q + fresh] = load(&k, rows + 2, pixel + q);
    for (size_t col = 0; col < out_width; col += pixels, pixel += step) {
        UNROLL for (int q = 0; q < TAPS; q++) x[q] = q + fresh < TAPS ? x[q + fresh] : load(&k, rows + 2, pixel + q);
        const size_t left = (out_width - col) * k.channels;
        const __mmask64 mask = pixels > 1 && left < BYTES ? k.all & ((1ull << left) - 1) : k.all;
        __m512i acc[2][PARTS];
        UNROLL for (int o = 0; o < rows; o++) UNROLL for (int v = 0; v < PARTS; v++) acc[o][v] =
            _mm512_loadu_si512(b->bias + 16 * v);
        UNROLL for (int s = 0; s < sets; s++) UNROLL for (int q = 0; q < TAPS; q++)
            UNROLL for (int v = 0; v < PARTS; v++) UNROLL for (int o = 0; o < rows; o++) acc[o][v] =
                dot(acc[o][v], x[q].part[v], _mm512_loadu_si512(b->w[s][q][v][o]));
        UNROLL for (int o = 0; o < rows; o++) {
            uint8_t *y = l->y[o] + col * k.channels + b->channel;
            if (__builtin_expect(!finish(&k, b, acc[o], y, mask), 1)) continue;
            int32_t sums[PARTS * 16];
            UNROLL for (int v = 0; v < PARTS; v++) _mm512_storeu_si512(sums + 16 * v, acc[o][v]);
            mend(l, b, sums, y, mask);
        }
    }
}

#define BLOCK(ROWS, SETS, FRESH)                                                                                       \
    static TARGET void block_##ROWS##_##SETS##_##FRESH(const struct cpu_lines_u8 *l,                                   \
                                                       const struct cpu_lines_block_u8 *b) {                           \
        block(ROWS, SETS, FRESH, l, b);                                                                                \
    }
#define BLOCKS(ROWS, SETS) BLOCK(ROWS, SETS, 1) BLOCK(ROWS, SETS, 2) BLOCK(ROWS, SETS, 3)
BLOCKS(1, 1)
BLOCKS(1, 2)
BLOCKS(2, 1)
BLOCKS(2, 2)
#define NAMES(ROWS, SETS)                                                                                              \
    { block_##ROWS##_##SETS##_1, block_##ROWS##_##SETS##_2, block_##ROWS##_##SETS##_3 }

TARGET void cpu_vnni_lines_u8(const struct cpu_lines_u8 *l) {
    static void (*const functions[2][2][TAPS])(const struct cpu_lines_u8 *, const struct cpu_lines_block_u8 *) = {
        {NAMES(1, 1), NAMES(1, 2)}, {NAMES(2, 1), NAMES(2, 2)}};
    const size_t step = l->pixels * l->stride, fresh = step < TAPS ? step : TAPS;
    for (size_t i = 0; i < l->count; i++) functions[l->rows - 1][l->sets - 1][fresh - 1](l, &l->blocks[i]);
}

#else

void cpu_vnni_lines_u8(const struct cpu_lines_u8 *l) { (void)l; }

#endif
