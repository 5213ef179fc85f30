/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file depthwise_lines.h Depthwise 3x3 filters over whole lines; part of level.h. A tile is some columns of
 * one or two rows of the output: each value of the input is loaded once for all taps that need it.
 *
 * Of many channels, neighbouring pixels may lie in few sets of the first cache, where the values of a tile push each
 * other out before they have come. A tile takes more vectors of each pixel then, which lie in sets of their own.
 */
#if CPU_LEVEL >= 2 /* 32 registers */
/* 14 sums, 9 weights and a value are in registers; or 28 sums and a value */
enum { LINE_ROWS = 2, LINE_COLS = 7, LINE_VECTORS = CPU_LEVEL == 2 ? 4 : 1 };
#else
enum { LINE_ROWS = 1, LINE_COLS = 4, LINE_VECTORS = 1 };
#endif
enum { LINE_WEIGHTS = 10 * LANES }; /* of a vector */
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

#if CPU_LEVEL == 2
/** The same of channels [c, c + vectors * LANES): sums alone fill the registers, weights are read where they are used.
 */
INLINE void line_wide_tile(int rows, int vectors, int cols, int stride, const struct cpu_lines_f32 *l,
                           const float *const *lines, size_t row, size_t col, ptrdiff_t first, size_t c,
                           const float *weights) {
    const int inputs = (cols - 1) * stride + 3;
    const size_t channels = l->channels;
    const bool before = first<0, behind = first + inputs>(ptrdiff_t) l->width;
    vf acc[LINE_ROWS][LINE_VECTORS][LINE_COLS];
    UNROLL_LINE for (int v = 0; v < vectors; v++) UNROLL_LINE for (int o = 0; o < rows; o++)
        UNROLL_LINE for (int i = 0; i < cols; i++) acc[o][v][i] = VF_LOAD(weights + v * LINE_WEIGHTS);
    UNROLL_LINE for (int r = 0; r < (rows - 1) * stride + 3; r++) {
        const float *x = lines[r] + first * (ptrdiff_t)channels + (ptrdiff_t)c;
        UNROLL_LINE for (int j = 0; j < inputs; j++) {
            if (!(j == 0 && before) && !(j == inputs - 1 && behind)) UNROLL_LINE for (int v = 0; v < vectors; v++) {
                    vf value = VF_LOAD(x + v * LANES);
                    __asm__("" : "+v"(value)); /* loaded once, not by each that multiplies it */
                    UNROLL_LINE for (int o = 0; o < rows; o++) UNROLL_LINE for (int q = 0; q < 3; q++) {
                        const int p = r - o * stride, i = (j - q) / stride;
                        if (p >= 0 && p < 3 && j >= q && (j - q) % stride == 0 && i < cols)
                            acc[o][v][i] = VF_FMA(value, VF_LOAD(weights + v * LINE_WEIGHTS + (p * 3 + q + 1) * LANES),
                                                  acc[o][v][i]);
                    }
                }
            x += channels;
            __asm__("" : "+r"(x));
        }
    }
    const vf lo = VF_SET1(l->lo), hi = VF_SET1(l->hi);
    UNROLL_LINE for (int o = 0; o < rows; o++) {
        float *y = l->y[row + (size_t)o] + col * channels + c;
        UNROLL_LINE for (int i = 0; i < cols; i++) {
            UNROLL_LINE for (int v = 0; v < vectors; v++) VF_STORE(y + v * LANES, VF_MIN(hi, VF_MAX(lo, acc[o][v][i])));
            y += channels;
            __asm__("" : "+r"(y));
        }
    }
}

/** All channels, which tiles fill. */
INLINE void line_wide_channels(int rows, int vectors, int cols, int stride, const struct cpu_lines_f32 *l, size_t row,
                               size_t col) {
    const ptrdiff_t first = (ptrdiff_t)col * stride - (ptrdiff_t)l->left;
    const float *const *lines = l->x + row * l->down;
    const float *w = l->w;
    for (size_t c = 0; c < l->channels; c += (size_t)vectors * LANES, w += vectors * LINE_WEIGHTS)
        line_wide_tile(rows, vectors, cols, stride, l, lines, row, col, first, c, w);
}
#endif

/** All channels; the last vector may overlap its predecessor. */
INLINE void line_channels(int rows, int cols, int stride, const struct cpu_lines_f32 *l, size_t row, size_t col) {
    const ptrdiff_t first = (ptrdiff_t)col * stride - (ptrdiff_t)l->left;
    const float *const *lines = l->x + row * l->down;
    const float *w = l->w;
    size_t c = 0;
    for (; c + LANES <= l->channels; c += LANES, w += LINE_WEIGHTS)
        line_tile(rows, cols, stride, l, lines, row, col, first, c, w);
    if (c < l->channels) line_tile(rows, cols, stride, l, lines, row, col, first, l->channels - LANES, w);
}

/* Functions for tiles of some columns, and the row of a table that holds them. */
#define LINE_FUNCTION(KIND, COLS, STRIDE, CHANNELS, ...)                                                               \
    static CPU_TARGET void line_##KIND##_##COLS##_##STRIDE(const struct cpu_lines_f32 *l, size_t row, size_t col) {    \
        CHANNELS(__VA_ARGS__, COLS, STRIDE, l, row, col);                                                              \
    }
#define LINE_NARROW(KIND, STRIDE, ...)                                                                                 \
    LINE_FUNCTION(KIND, 1, STRIDE, __VA_ARGS__)                                                                        \
    LINE_FUNCTION(KIND, 2, STRIDE, __VA_ARGS__)                                                                        \
    LINE_FUNCTION(KIND, 4, STRIDE, __VA_ARGS__)
#define LINE_NARROW_ROW(KIND, STRIDE) line_##KIND##_4_##STRIDE, line_##KIND##_2_##STRIDE, line_##KIND##_1_##STRIDE
enum { LINE_SIZES = LINE_COLS == 7 ? 4 : 3 };
#if CPU_LEVEL >= 2
#define LINE_ALL(KIND, STRIDE, ...)                                                                                    \
    LINE_NARROW(KIND, STRIDE, __VA_ARGS__)                                                                             \
    LINE_FUNCTION(KIND, 7, STRIDE, __VA_ARGS__)
#define LINE_ROW(KIND, STRIDE)                                                                                         \
    { line_##KIND##_7_##STRIDE, LINE_NARROW_ROW(KIND, STRIDE) }
static const size_t line_cols[LINE_SIZES] = {7, 4, 2, 1};
#else
#define LINE_ALL LINE_NARROW
#define LINE_ROW(KIND, STRIDE)                                                                                         \
    { LINE_NARROW_ROW(KIND, STRIDE) }
static const size_t line_cols[LINE_SIZES] = {4, 2, 1};
#endif
#define LINE_FUNCTIONS(KIND, ...)                                                                                      \
    LINE_ALL(KIND, 1, __VA_ARGS__)                                                                                     \
    LINE_ALL(KIND, 2, __VA_ARGS__)
#define LINE_ROWS_OF(KIND)                                                                                             \
    { LINE_ROW(KIND, 1), LINE_ROW(KIND, 2) }

LINE_FUNCTIONS(one, line_channels, 1)
#if CPU_LEVEL >= 2
LINE_FUNCTIONS(two, line_channels, 2)
#endif
#if CPU_LEVEL == 2
LINE_FUNCTIONS(pairs, line_wide_channels, 2, 2)
LINE_FUNCTIONS(fours, line_wide_channels, 1, 4)
#endif

/** One row or two; two of pairs of vectors; one of four vectors. */
enum line_kind { LINE_ONE, LINE_TWO, LINE_PAIRS, LINE_FOURS };
typedef void (*line_fn)(const struct cpu_lines_f32 *l, size_t row, size_t col);
static const line_fn line_functions[][2][LINE_SIZES] = {
    LINE_ROWS_OF(one),
#if CPU_LEVEL >= 2
    LINE_ROWS_OF(two),
#endif
#if CPU_LEVEL == 2
    LINE_ROWS_OF(pairs),
    LINE_ROWS_OF(fours),
#endif
};

/** The rows of a tile, in tiles as wide as may be. */
static CPU_TARGET void line_tiles(const struct cpu_lines_f32 *l, size_t row, enum line_kind kind) {
    size_t col = 0;
    for (size_t size = 0; size < LINE_SIZES; size++)
        for (; col + line_cols[size] <= l->out_width; col += line_cols[size])
            line_functions[kind][l->stride - 1][size](l, row, col);
}

/**
 * The tiles to take; two: for two rows, not one. A way of a first cache has 64 sets of a line; at so many of them lies
 * one channel of all pixels. A tile of two rows reads 36 or 75 pixels (stride 1, 2), and eight have room in a set.
 */
static enum line_kind line_kind(const struct cpu_lines_f32 *l, bool two) {
    enum { WAY = 4096, SETS = 64 };
    if (LINE_VECTORS > 1 && l->channels % (4 * LANES) == 0) {
        const size_t bytes = l->channels * sizeof(float), period = WAY / ((bytes | WAY) & -(bytes | WAY));
        const size_t sets = period < SETS ? period : SETS, least = 4 * l->stride;
        if (sets < least) return two && 2 * sets >= least ? LINE_PAIRS : LINE_FOURS;
    }
    return two ? LINE_TWO : LINE_ONE;
}

static CPU_TARGET void lines_f32(const struct cpu_lines_f32 *l) {
    const bool two = LINE_ROWS == 2 && l->rows == 2 && l->stride == l->down;
    const enum line_kind kind = line_kind(l, two);
    const size_t rows = kind == LINE_TWO || kind == LINE_PAIRS ? 2 : 1;
    for (size_t row = 0; row < l->rows; row += rows) line_tiles(l, row, kind);
}
