/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arm_lines.h Depthwise 3x3 filters on bytes, 16 values side by side; part of dotprod.c and i8mm.c. Four lines of
 * the input are interleaved so that each four bytes are one column of a filter's window, as vnni_lines.c has it.
 */

enum { PIECE = 16, TAPS = 3, PARTS = 4 };

/** One column of the windows of 16 values. */
struct columns {
    values part[PARTS];
};

/** Bytes from `at` on of a line of `size` bytes; outside there are zero points. */
INLINE uint8x16_t bytes_at(const uint8_t *line, ptrdiff_t at, ptrdiff_t size, uint8x16_t zero) {
    if (__builtin_expect(at >= 0 && at + PIECE <= size, 1)) return vld1q_u8(line + at);
    uint8_t bytes[PIECE];
    vst1q_u8(bytes, zero);
    for (ptrdiff_t i = at < 0 ? -at : 0; i < PIECE && at + i < size; i++) bytes[i] = line[at + i];
    return vld1q_u8(bytes);
}

INLINE struct columns columns_at(const struct cpu_lines_u8 *l, int lines, ptrdiff_t at, uint8x16_t zero) {
    const ptrdiff_t size = (ptrdiff_t)(l->width * l->channels);
    uint8x16_t x[4];
    UNROLL for (int r = 0; r < lines; r++) x[r] = bytes_at(l->x[r], at, size, zero);
    if (lines == 3) x[3] = x[2]; /* its weight is 0 */
    const uint8x16x2_t a = vzipq_u8(x[0], x[1]), c = vzipq_u8(x[2], x[3]);
    struct columns all;
    UNROLL for (int h = 0; h < 2; h++) {
        const uint16x8x2_t fours = vzipq_u16(vreinterpretq_u16_u8(a.val[h]), vreinterpretq_u16_u8(c.val[h]));
        UNROLL for (int i = 0; i < 2; i++) all.part[2 * h + i] = values_of(vreinterpretq_u8_u16(fours.val[i]));
    }
    return all;
}

/** What lies within the band, in 16 values that are stored already. */
static __attribute__((noinline)) void mend_piece(const struct cpu_lines_u8 *l, const struct cpu_lines_block_u8 *b,
                                                 size_t first, const int32_t *sums, uint8_t *y, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const size_t place = i / 4 * 16 + first / 4 + i % 4; /* first: of the piece's bytes */
        y[i] = cpu_fixed_exact(sums[i], b->multiplier[place], l->zero_point, l->lo, l->hi);
    }
}

/** Rounds and stores 16 sums of one row: bytes [first, first + count) of a block. */
INLINE void finish(const struct cpu_lines_u8 *l, const struct cpu_lines_block_u8 *b, size_t first,
                   const int32x4_t sums[PARTS], uint8_t *y, size_t count) {
    const float32x4_t offset = vdupq_n_f32(cpu_fixed_offset(l->zero_point));
    const uint8x8_t lo = vdup_n_u8((uint8_t)l->lo), hi = vdup_n_u8((uint8_t)l->hi);
    int16x8_t f[PARTS];
    UNROLL for (int v = 0; v < PARTS; v++) f[v] =
        vreinterpretq_s16_s32(scaled(sums[v], b->scale + 16 * v + first / 4, offset));
    const uint8x16_t bytes =
        vcombine_u8(bytes_of(vuzp2q_s16(f[0], f[1]), lo, hi), bytes_of(vuzp2q_s16(f[2], f[3]), lo, hi));
    const uint16x8_t least =
        vminq_u16(vreinterpretq_u16_s16(vuzp1q_s16(f[0], f[1])), vreinterpretq_u16_s16(vuzp1q_s16(f[2], f[3])));
    if (count == PIECE)
        vst1q_u8(y, bytes);
    else
        store_some(y, bytes, count);
    if (__builtin_expect(vminvq_u16(least) >= CPU_FIXED_BAND, 1)) return;
    int32_t all[PIECE];
    UNROLL for (int v = 0; v < PARTS; v++) vst1q_s32(all + 4 * v, sums[v]);
    mend_piece(l, b, first, all, y, count);
}

/**
 * Bytes [first, first + 16) of a block, all columns. rows of the output; fresh: columns of the window that the next
 * position does not share with this one. Both are constants of the caller.
 */
INLINE void piece(int rows, int fresh, const struct cpu_lines_u8 *l, const struct cpu_lines_block_u8 *b, size_t first) {
    const size_t pixels = l->pixels, channels = l->channels;
    const size_t block = pixels * channels < CPU_LINES_BYTES ? pixels * channels : CPU_LINES_BYTES;
    const uint8x16_t zero = vdupq_n_u8((uint8_t)l->x_zero);
    ptrdiff_t at = (ptrdiff_t)(b->channel + first) - (ptrdiff_t)(l->left * channels);
    struct columns x[TAPS];
    UNROLL for (int q = 0; q < TAPS - fresh; q++) x[q + fresh] =
        columns_at(l, rows + 2, at + q * (ptrdiff_t)channels, zero);
    for (size_t col = 0; col < l->out_width; col += pixels, at += (ptrdiff_t)(pixels * l->stride * channels)) {
        const size_t left = (l->out_width - col) * channels, end = pixels > 1 && left < block ? left : block;
        UNROLL for (int q = 0; q < TAPS; q++) x[q] =
            q + fresh < TAPS ? x[q + fresh] : columns_at(l, rows + 2, at + q * (ptrdiff_t)channels, zero);
        if (end <= first) break;
        int32x4_t sums[2][PARTS];
        UNROLL for (int o = 0; o < rows; o++) UNROLL for (int v = 0; v < PARTS; v++) sums[o][v] =
            vld1q_s32(b->bias + 16 * v + first / 4);
        for (uint32_t s = 0; s < l->sets; s++)
            UNROLL for (int q = 0; q < TAPS; q++) UNROLL for (int v = 0; v < PARTS; v++)
                UNROLL for (int o = 0; o < rows; o++) sums[o][v] =
                    dot(sums[o][v], x[q].part[v], vld1q_s8(b->w[s][q][v][o] + first));
        UNROLL for (int o = 0; o < rows; o++)
            finish(l, b, first, sums[o], l->y[o] + col * channels + b->channel + first,
                   end - first < PIECE ? end - first : PIECE);
    }
}

#define PIECES(ROWS, FRESH)                                                                                            \
    static TARGET void piece_##ROWS##_##FRESH(const struct cpu_lines_u8 *l, const struct cpu_lines_block_u8 *b,        \
                                              size_t first) {                                                          \
        piece(ROWS, FRESH, l, b, first);                                                                               \
    }
PIECES(1, 1)
PIECES(1, 2)
PIECES(1, 3)
PIECES(2, 1)
PIECES(2, 2)
PIECES(2, 3)

/** struct cpu_kernels.lines_u8. */
static void lines_u8(const struct cpu_lines_u8 *l) {
    static void (*const functions[2][TAPS])(const struct cpu_lines_u8 *, const struct cpu_lines_block_u8 *, size_t) = {
        {piece_1_1, piece_1_2, piece_1_3}, {piece_2_1, piece_2_2, piece_2_3}};
    const size_t step = l->pixels * l->stride, fresh = step < TAPS ? step : TAPS, bytes = l->pixels * l->channels;
    for (size_t i = 0; i < l->count; i++)
        for (size_t first = 0; first < CPU_LINES_BYTES && first < bytes; first += PIECE)
            functions[l->rows - 1][fresh - 1](l, &l->blocks[i], first);
}
