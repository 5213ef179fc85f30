/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file depthwise_lines.h Depthwise 3x3 filters over whole lines; part of level.h. A tile is some columns of
 * one or two rows of the output: each value of the input is loaded once for all taps that need it.
 */
#if CPU_LEVEL >= 2                     /* 32 registers */
enum { LINE_ROWS = 2, LINE_COLS = 7 }; /* 14 sums, 9 weights and a value are in registers */
#else
enum { LINE_ROWS = 1, LINE_COLS = 4 };
#endif
#define UNROLL_LINE _Pragma("GCC unroll 16")

/**
 * Channels [c, c + LANES) of one tile; first: input column of the first tap; rows, cols, stride: constants. Of two rows
 * the stride downwards is the same.
 */
INLINE void line_tile(int rows, int cols, int stride, const struct cpu_lines_f32 *l, const float *const *lines,
                      size_t row, size_t col, ptrdiff_t first, size_t c, const float *weights) {
    const int inputs = (cols - 1) * stride + 3;
    const size_t channels = l->channels;
    /* the next tile's; of many channels the lines of a tile share too few sets of the cache to come early */
    const bool early = stride == 2 && channels <= 128;
    const ptrdiff_t ahead = (ptrdiff_t)(channels * (size_t)(cols * stride)); /* floats */
    const bool before = first<0, behind = first + inputs>(ptrdiff_t) l->width;
    vf acc[LINE_ROWS][LINE_COLS], w[9];
    UNROLL_LINE for (size_t t = 0; t < 9; t++) w[t] = VF_LOAD(weights + (t + 1) * LANES);
    UNROLL_LINE for (int o = 0; o < rows; o++) UNROLL_LINE for (int i = 0; i < cols; i++) acc[o][i] = VF_LOAD(weights);
    UNROLL_LINE for (int r = 0; r < (rows - 1) * stride + 3; r++) {
        const float *x = lines[r] + first * (ptrdiff_t)channels + (ptrdiff_t)c;
        UNROLL_LINE for (int j = 0; j < inputs; j++) {
            if (early && r > 0) __builtin_prefetch(x + ahead);
            vf v = VF_SET1(0.0f);
            if (!(j == 0 && before) && !(j == inputs - 1 && behind)) v = VF_LOAD(x);
            x += channels;
            __asm__(""
                    : "+r"(x)); /* one addition a column: else all offsets are kept, in more registers than there are */
            UNROLL_LINE for (int o = 0; o < rows; o++) UNROLL_LINE for (int q = 0; q < 3; q++) {
                const int p = r - o * stride, i = (j - q) / stride;
                if (p >= 0 && p < 3 && j >= q && (j - q) % stride == 0 && i < cols)
                    acc[o][i] = VF_FMA(v, w[p * 3 + q], acc[o][i]);
            }
        }
    }
    const vf lo = VF_SET1(l->lo), hi = VF_SET1(l->hi);
    UNROLL_LINE for (int o = 0; o < rows; o++) UNROLL_LINE for (int i = 0; i < cols; i++)
        VF_STORE(l->y[row + (size_t)o] + (col + (size_t)i) * channels + c, VF_MIN(hi, VF_MAX(lo, acc[o][i])));
}

/** All channels; the last vector may overlap its predecessor. */
INLINE void line_channels(int rows, int cols, int stride, const struct cpu_lines_f32 *l, size_t row, size_t col) {
    const ptrdiff_t first = (ptrdiff_t)col * stride - (ptrdiff_t)l->left;
    const float *const *lines = l->x + row * l->down;
    const float *w = l->w;
    size_t c = 0;
    for (; c + LANES <= l->channels; c += LANES, w += 10 * LANES)
        line_tile(rows, cols, stride, l, lines, row, col, first, c, w);
    if (c < l->channels) line_tile(rows, cols, stride, l, lines, row, col, first, l->channels - LANES, w);
}

#define LINE_FUNCTION(ROWS, COLS, STRIDE)                                                                              \
    static CPU_TARGET void line_##ROWS##_##COLS##_##STRIDE(const struct cpu_lines_f32 *l, size_t row, size_t col) {    \
        line_channels(ROWS, COLS, STRIDE, l, row, col);                                                                \
    }
#define LINE_FUNCTIONS(ROWS, STRIDE)                                                                                   \
    LINE_FUNCTION(ROWS, 1, STRIDE)                                                                                     \
    LINE_FUNCTION(ROWS, 2, STRIDE)                                                                                     \
    LINE_FUNCTION(ROWS, 4, STRIDE)
LINE_FUNCTIONS(1, 1)
LINE_FUNCTIONS(1, 2)
typedef void (*line_fn)(const struct cpu_lines_f32 *l, size_t row, size_t col);
#if CPU_LEVEL >= 2
LINE_FUNCTIONS(2, 1)
LINE_FUNCTION(1, 7, 1)
LINE_FUNCTION(1, 7, 2)
LINE_FUNCTION(2, 7, 1)
LINE_FUNCTIONS(2, 2)
LINE_FUNCTION(2, 7, 2)
#else
#define line_1_7_1 NULL /* no such tiles */
#define line_1_7_2 NULL
#define line_2_7_1 NULL
#define line_2_4_1 NULL
#define line_2_2_1 NULL
#define line_2_1_1 NULL
#define line_2_7_2 NULL
#define line_2_4_2 NULL
#define line_2_2_2 NULL
#define line_2_1_2 NULL
#endif

/** `rows` rows of the output from row on, in tiles as wide as may be. */
static CPU_TARGET void line_tiles(const struct cpu_lines_f32 *l, size_t row, size_t rows) {
    enum { SIZES = 4 };
    static const size_t cols[SIZES] = {7, 4, 2, 1};
    static const line_fn functions[4][SIZES] = {{line_1_7_1, line_1_4_1, line_1_2_1, line_1_1_1},
                                                {line_1_7_2, line_1_4_2, line_1_2_2, line_1_1_2},
                                                {line_2_7_1, line_2_4_1, line_2_2_1, line_2_1_1},
                                                {line_2_7_2, line_2_4_2, line_2_2_2, line_2_1_2}};
    const line_fn *fn = functions[2 * (rows - 1) + l->stride - 1];
    size_t col = 0;
    for (size_t size = LINE_COLS == 7 ? 0 : 1; size < SIZES; size++)
        for (; col + cols[size] <= l->out_width; col += cols[size]) fn[size](l, row, col);
}

static CPU_TARGET void lines_f32(const struct cpu_lines_f32 *l) {
    if (l->rows == 1 || (LINE_ROWS == 2 && l->stride == l->down)) {
        line_tiles(l, 0, l->rows);
        return;
    }
    for (size_t row = 0; row < l->rows; row++) line_tiles(l, row, 1);
}
