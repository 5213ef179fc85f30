/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/move/batch.h"

int32_t nnv_batch_block(const struct nnv_call *c, uint32_t i) { return nnv_int_at(c, NNV_BATCH_BLOCK, i); }

int32_t nnv_batch_padding(const struct nnv_call *c, uint32_t i, uint32_t end) {
    return nnv_in(c, NNV_BATCH_PADDINGS) ? nnv_int_at(c, NNV_BATCH_PADDINGS, 2 * i + end) : 0;
}

uint32_t nnv_batch_axis(const struct nnv_call *c, uint32_t i) { return (nnv_int(c, NNV_BATCH_NCHW) ? 2 : 1) + i; }

enum nnv_status nnv_batch_begin(const struct nnv_call *c, struct nnv_shape *s, bool *known, struct nnv_err *err) {
    uint32_t blocks = 2, axes = 2, ends = 2;
    enum nnv_status st;
    if ((st = nnv_extent_agree(c, NNV_BATCH_BLOCK, 0, &blocks, err)) ||
        (st = nnv_extent_agree(c, NNV_BATCH_PADDINGS, 0, &axes, err)) ||
        (st = nnv_extent_agree(c, NNV_BATCH_PADDINGS, 1, &ends, err)))
        return st;
    for (uint32_t i = 0; nnv_known(c, NNV_BATCH_BLOCK) && i < 2; i++)
        if (nnv_batch_block(c, i) < 1)
            return nnv_fail(err, NNV_INVALID, "block size %d is not above 0", nnv_batch_block(c, i));
    for (uint32_t i = 0; nnv_known(c, NNV_BATCH_PADDINGS) && i < 4; i++)
        if (nnv_batch_padding(c, i / 2, i % 2) < 0)
            return nnv_fail(err, NNV_INVALID, "padding %d is negative", nnv_batch_padding(c, i / 2, i % 2));
    *s = nnv_shape_of_rank(4);
    *known = nnv_known(c, NNV_BATCH_NCHW) && nnv_known(c, NNV_BATCH_BLOCK) && nnv_known(c, NNV_BATCH_PADDINGS);
    if (nnv_known(c, NNV_BATCH_NCHW)) {
        uint32_t depth = nnv_int(c, NNV_BATCH_NCHW) ? 1 : 3;
        s->dims[depth] = nnv_dim(&nnv_in(c, NNV_BATCH_X)->shape, depth);
    }
    return NNV_OK;
}

/* One batch: pixel (i, j) of it is pixel (i*p + y, j*q + x) of image n, if that exists. */
static void image(struct nnv_kernel *k, bool to_batch, const struct nnv_image *space, const struct nnv_image *batches,
                  uint32_t b, uint32_t n, const int64_t first[2]) {
    const double *from = nnv_real(k, NNV_BATCH_X);
    int64_t p = nnv_batch_block(k->call, 0), q = nnv_batch_block(k->call, 1);
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

void nnv_batch_eval(struct nnv_kernel *k, bool to_batch) {
    bool nchw = nnv_int(k->call, NNV_BATCH_NCHW) != 0;
    struct nnv_image x = nnv_image_of(nnv_in_shape(k, NNV_BATCH_X), nchw);
    struct nnv_image y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    const struct nnv_image *space = to_batch ? &x : &y, *batches = to_batch ? &y : &x;
    uint32_t q = (uint32_t)nnv_batch_block(k->call, 1);
    for (uint32_t b = 0; b < batches->n; b++) {
        uint32_t block = b / space->n, u = block / q, v = block % q;
        const int64_t first[] = {(int64_t)u - nnv_batch_padding(k->call, 0, 0),
                                 (int64_t)v - nnv_batch_padding(k->call, 1, 0)};
        image(k, to_batch, space, batches, b, b % space->n, first);
    }
}

void nnv_batch_sample(struct nnv_sample *s, bool to_batch) {
    static const int32_t blocks[][2] = {{2, 3}, {3, 2}, {2, 2}, {1, 3}, {4, 1}, {1, 1}};
    static const int32_t pads[][4] = {{1, 0, 0, 2}, {0, 1, 3, 0}, {2, 1, 1, 1}, {0, 0, 0, 0}};
    const int32_t *block = blocks[s->index % 6];
    bool nchw = nnv_sample_is(s, "nchw");
    uint32_t n = nnv_sample_dim(s, 2, 3), c = nnv_sample_dim(s, 1, 5), h = nnv_sample_dim(s, 2, 4);
    uint32_t w = h + nnv_sample_dim(s, 1, 3), dims[4], two[] = {2, 2};
    int32_t cells[4];
    for (int i = 0; i < 4; i++) cells[i] = pads[s->index % 4][i];
    if (to_batch) { /* the padded extents are multiples of the block */
        h *= (uint32_t)block[0];
        w *= (uint32_t)block[1];
        while ((int32_t)h <= cells[0] + cells[1]) h += (uint32_t)block[0];
        while ((int32_t)w <= cells[2] + cells[3]) w += (uint32_t)block[1];
        nnv_sample_image(dims, n, h - (uint32_t)(cells[0] + cells[1]), w - (uint32_t)(cells[2] + cells[3]), c, nchw);
        nnv_sample_tensor(s, NNV_BATCH_PADDINGS, 2, two)->ints = nnv_arena_copy(s->arena, cells, sizeof cells);
    } else
        nnv_sample_image(dims, n * (uint32_t)(block[0] * block[1]), h, w, c, nchw);
    nnv_sample_tensor(s, NNV_BATCH_X, 4, dims);
    nnv_sample_ints(s, NNV_BATCH_BLOCK, 2, block);
    if (!nnv_sample_is(s, "plain")) nnv_sample_scalar(s, NNV_BATCH_NCHW, nchw);
}
