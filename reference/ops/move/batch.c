/* SPDX-License-Identifier: Apache-2.0 */
/** @file batch.c SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: blocks of height and width as batches. */
#include "reference/ops/move/move.h"

enum { X, BLOCK, PADDINGS, NCHW };

#define INPUT                                                                                                          \
    { .id = X, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4, .domain = NNV_DOMAIN_ALL }
static const struct nnv_slot to_space_inputs[] = {INPUT, NNV_SLOT_LIMITED_INTS(BLOCK, "block sizes"),
                                                  NNV_SLOT_FLAG(NCHW, "nchw", 1, 3)};
static const struct nnv_slot to_batch_inputs[] = {INPUT, NNV_SLOT_LIMITED_INTS(BLOCK, "block sizes"),
                                                  NNV_SLOT_INT_TENSOR(PADDINGS, "paddings", 2, NNV_PARAM),
                                                  NNV_SLOT_FLAG(NCHW, "nchw", 1, 3)};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME}};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_2;

/* Block sizes of height (0) and width (1); only where they are known. */
static int32_t block_of(const struct nnv_call *c, uint32_t i) { return nnv_int_at(c, BLOCK, i); }

/* Cells before (0) and behind (1) height (i 0) or width (i 1); 0 where there are no paddings. */
static int32_t padding_of(const struct nnv_call *c, uint32_t i, uint32_t end) {
    return nnv_in(c, PADDINGS) ? nnv_int_at(c, PADDINGS, 2 * i + end) : 0;
}

/* The axis of height (0) or width (1). */
static uint32_t axis_of(const struct nnv_call *c, uint32_t i) { return (nnv_int(c, NCHW) ? 2 : 1) + i; }

/*
 * Checks block sizes, and paddings if there are, and begins the output's shape: rank 4, the depth of the input.
 * *known: layout, blocks and paddings are known, the rest of the extents can be computed.
 */
static enum nnv_status begin(const struct nnv_call *c, struct nnv_shape *s, bool *known, struct nnv_err *err) {
    uint32_t blocks = 2, axes = 2, ends = 2;
    enum nnv_status st;
    if ((st = nnv_extent_agree(c, BLOCK, 0, &blocks, err)) || (st = nnv_extent_agree(c, PADDINGS, 0, &axes, err)) ||
        (st = nnv_extent_agree(c, PADDINGS, 1, &ends, err)))
        return st;
    for (uint32_t i = 0; nnv_known(c, BLOCK) && i < 2; i++)
        if (block_of(c, i) < 1) return nnv_fail(err, NNV_INVALID, "block size %d is not above 0", block_of(c, i));
    for (uint32_t i = 0; nnv_known(c, PADDINGS) && i < 4; i++)
        if (padding_of(c, i / 2, i % 2) < 0)
            return nnv_fail(err, NNV_INVALID, "padding %d is negative", padding_of(c, i / 2, i % 2));
    *s = nnv_shape_of_rank(4);
    *known = nnv_known(c, NCHW) && nnv_known(c, BLOCK) && nnv_known(c, PADDINGS);
    if (nnv_known(c, NCHW)) {
        uint32_t depth = nnv_int(c, NCHW) ? 1 : 3;
        s->dims[depth] = nnv_dim(&nnv_in(c, X)->shape, depth);
    }
    return NNV_OK;
}

static enum nnv_status infer_to_space(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    struct nnv_shape s;
    bool known;
    enum nnv_status st = begin(c, &s, &known, err);
    uint64_t blocks = 1;
    for (uint32_t i = 0; !st && known && i < 2; i++) {
        uint32_t axis = axis_of(c, i), n = nnv_dim(x, axis), block = (uint32_t)block_of(c, i);
        blocks *= block;
        if (n != NNV_DIM_UNKNOWN) st = nnv_extent_make((uint64_t)n * block, &s.dims[axis], err);
    }
    uint32_t n = nnv_dim(x, 0);
    if (!st && known && n != NNV_DIM_UNKNOWN) {
        if (n % blocks != 0)
            return nnv_fail(err, NNV_INVALID, "%u batches are not a multiple of %llu", n, (unsigned long long)blocks);
        s.dims[0] = (uint32_t)(n / blocks);
    }
    if (!st) out[0] = s;
    return st;
}

static enum nnv_status infer_to_batch(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    struct nnv_shape s;
    bool known;
    enum nnv_status st = begin(c, &s, &known, err);
    uint64_t blocks = 1;
    for (uint32_t i = 0; !st && known && i < 2; i++) {
        uint32_t axis = axis_of(c, i), n = nnv_dim(x, axis), block = (uint32_t)block_of(c, i);
        blocks *= block;
        if (n == NNV_DIM_UNKNOWN) continue;
        uint64_t padded = (uint64_t)n + (uint32_t)padding_of(c, i, 0) + (uint32_t)padding_of(c, i, 1);
        if (padded % block != 0)
            return nnv_fail(err, NNV_INVALID, "padded %s %llu is not a multiple of %u", i ? "width" : "height",
                            (unsigned long long)padded, block);
        st = nnv_extent_make(padded / block, &s.dims[axis], err);
    }
    uint32_t n = nnv_dim(x, 0);
    if (!st && known && n != NNV_DIM_UNKNOWN)
        st = nnv_extent_make(blocks <= NNV_DIM_MAX ? blocks * n : blocks, &s.dims[0], err);
    if (!st) out[0] = s;
    return st;
}

/* One batch: pixel (i, j) of it is pixel (i*p + y, j*q + x) of image n, if that exists. */
static void image(struct nnv_kernel *k, bool to_batch, const struct nnv_image_layout *space,
                  const struct nnv_image_layout *batches, uint32_t b, uint32_t n, const int64_t first[2]) {
    const double *from = nnv_real(k, X);
    int64_t p = block_of(k->call, 0), q = block_of(k->call, 1);
    for (uint32_t i = 0; i < batches->h; i++)
        for (uint32_t j = 0; j < batches->w; j++) {
            int64_t y = i * p + first[0], x = j * q + first[1];
            if (y < 0 || y >= space->h || x < 0 || x >= space->w) continue; /* the results are zeroed */
            for (uint32_t c = 0; c < space->c; c++) {
                size_t wide = nnv_image_at(space, n, (uint32_t)y, (uint32_t)x, c);
                size_t deep = nnv_image_at(batches, b, i, j, c);
                k->out[0][to_batch ? deep : wide] = from[to_batch ? wide : deep];
            }
        }
}

/*
 * Copies between the spatial image [N,H,W,C] and the batches [p*q*N,H',W',C] of blocks p by q:
 * space[n, i*p+u-top, j*q+v-left, c] and batches[(u*q+v)*N + n, i, j, c] are the same element; 0 outside.
 */
static void eval(struct nnv_kernel *k, bool to_batch) {
    bool nchw = nnv_int(k->call, NCHW) != 0;
    struct nnv_image_layout x = nnv_image_of(nnv_in_shape(k, X), nchw);
    struct nnv_image_layout y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    const struct nnv_image_layout *space = to_batch ? &x : &y, *batches = to_batch ? &y : &x;
    uint32_t q = (uint32_t)block_of(k->call, 1);
    for (uint32_t b = 0; b < batches->n; b++) {
        uint32_t block = b / space->n, u = block / q, v = block % q;
        const int64_t first[] = {(int64_t)u - padding_of(k->call, 0, 0), (int64_t)v - padding_of(k->call, 1, 0)};
        image(k, to_batch, space, batches, b, b % space->n, first);
    }
}

enum { ROW_BLOCK = NNV_IMAGE_OWN, ROW_PADDING };
#define FACTORS                                                                                                        \
    NNV_IMAGE_FACTORS, {                                                                                               \
        .name = "block", .pair = true,                                                                                 \
        NNV_VALUES(NNV_PAIR(2, 2), NNV_PAIR(1, 1), NNV_PAIR(3, 3), NNV_PAIR(4, 4), NNV_PAIR(2, 3), NNV_PAIR(1, 2),     \
                   NNV_PAIR(4, 1))                                                                                     \
    }
static const struct nnv_factor to_space_factors[] = {FACTORS};
static const struct nnv_factor to_batch_factors[] = {
    FACTORS, {.name = "padding", NNV_WORDS("none", "equal", "head", "tail", "unequal")}};

static void sample(struct nnv_sample *s, bool to_batch) {
    static const int32_t blocks[][2] = {{2, 3}, {3, 2}, {2, 2}, {1, 3}, {4, 1}, {1, 1}};
    static const int32_t pads[][4] = {{1, 0, 0, 2}, {0, 1, 3, 0}, {2, 1, 1, 1}, {0, 0, 0, 0}};
    const int32_t *block = blocks[s->index % 6];
    bool nchw = nnv_sample_is(s, "nchw");
    uint32_t n = nnv_sample_dim(s, 2, 3), c = nnv_sample_dim(s, 1, 5), h = nnv_sample_dim(s, 2, 4);
    uint32_t w = h + nnv_sample_dim(s, 1, 3), dims[4], two[] = {2, 2};
    int32_t cells[4], row_block[2];
    for (int i = 0; i < 4; i++) cells[i] = pads[s->index % 4][i];
    if (s->row) { /* the spatial image is the row's, as far as it divides */
        static const int32_t row_pads[][4] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 0, 2, 0}, {0, 1, 0, 1}, {1, 2, 0, 3}};
        const struct nnv_row_image g = nnv_row_image(s, 0);
        const int32_t pair = nnv_sample_value(s, ROW_BLOCK);
        row_block[0] = nnv_pair_height(pair);
        row_block[1] = nnv_pair_width(pair);
        block = row_block;
        n = g.n;
        c = g.c;
        h = (g.h + (uint32_t)block[0] - 1) / (uint32_t)block[0];
        w = (g.w + (uint32_t)block[1] - 1) / (uint32_t)block[1];
        nchw = g.nchw;
        for (int i = 0; to_batch && i < 4; i++) cells[i] = row_pads[nnv_sample_value(s, ROW_PADDING)][i];
    }
    if (to_batch) { /* the padded extents are multiples of the block */
        h *= (uint32_t)block[0];
        w *= (uint32_t)block[1];
        while ((int32_t)h <= cells[0] + cells[1]) h += (uint32_t)block[0];
        while ((int32_t)w <= cells[2] + cells[3]) w += (uint32_t)block[1];
        nnv_sample_image(dims, n, h - (uint32_t)(cells[0] + cells[1]), w - (uint32_t)(cells[2] + cells[3]), c, nchw);
        nnv_sample_tensor(s, PADDINGS, 2, two)->ints = nnv_arena_copy(s->arena, cells, sizeof cells);
    } else
        nnv_sample_image(dims, n * (uint32_t)(block[0] * block[1]), h, w, c, nchw);
    nnv_sample_tensor(s, X, 4, dims);
    nnv_sample_ints(s, BLOCK, 2, block);
    if (s->row ? nchw || s->index % 2 : !nnv_sample_is(s, "plain")) nnv_sample_scalar(s, NCHW, nchw);
}

static const char *const variants[] = {"plain", "nhwc", "nchw", NULL};

static int to_batch_level(const struct nnv_call *c) { return nnv_shifted_zero(c) ? 3 : 2; }

/** The record of an operation; then what else it has. */
#define RECORD(NAME, FORMULA, WHERE, TO_BATCH, ...)                                                                    \
    static enum nnv_status eval_##WHERE(struct nnv_kernel *k, struct nnv_err *err) {                                   \
        (void)err;                                                                                                     \
        eval(k, TO_BATCH);                                                                                             \
        return NNV_OK;                                                                                                 \
    }                                                                                                                  \
    static void sample_##WHERE(struct nnv_sample *s) { sample(s, TO_BATCH); }                                          \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),                                                                                            \
        .level = 2,                                                                                                    \
        .formula = FORMULA,                                                                                            \
        NNV_OP_FORM(WHERE##_inputs, outputs),                                                                          \
        NNV_OP_SIGS(sigs),                                                                                             \
        .rounding = NNV_ROUND_NONE,                                                                                    \
        .linear = true,                                                                                                \
        .moves = true,                                                                                                 \
        .infer = infer_##WHERE,                                                                                        \
        NNV_EVAL(eval_##WHERE),                                                                                        \
        .variants = variants,                                                                                          \
        NNV_SAMPLE(sample_##WHERE),                                                                                    \
        NNV_OP_FACTORS(WHERE##_factors),                                                                               \
        __VA_ARGS__,                                                                                                   \
    }

RECORD(BATCH_TO_SPACE_ND, "y[n, i*p+u, j*q+v, c] = x[(u*q+v)*N + n, i, j, c], N batches of y, blocks p by q", to_space,
       false, .level_of = NULL);
RECORD(SPACE_TO_BATCH_ND, "y[(u*q+v)*N + n, i, j, c] = x padded with 0 [n, i*p+u, j*q+v, c], blocks p by q", to_batch,
       true, .level_of = to_batch_level);
