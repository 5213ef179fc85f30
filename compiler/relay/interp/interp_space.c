/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: layouts, and blocks of images moved into channels or batches and back. */
#include <string.h>

#include "compiler/relay/interp/interp_kernel.h"

void nnv_interp_layout_transform(struct nnv_interp_op *op) {
    const char *from = nnv_relay_text(&op->t, "src_layout", ""), *to = nnv_relay_text(&op->t, "dst_layout", "");
    int64_t own[NNV_RELAY_RANK], strides[NNV_RELAY_RANK];
    nnv_interp_strides(op->in[0]->type, own);
    for (size_t i = 0; to[i]; i++) strides[i] = own[strchr(from, to[i]) - from];
    nnv_interp_pick(op->in[0]->values, op->out->type->n_dims, op->out->type->dims, strides, op->out->values);
}

/* --------------------------------------------------------- blocks, channels */

/** The dimensions of the result in order, some of them split in two, with the distances in the operand. */
struct split {
    int64_t dims[8], strides[8];
    size_t n;
};

static void part(struct split *s, int64_t dim, int64_t stride) {
    s->dims[s->n] = dim;
    s->strides[s->n++] = stride;
}

static bool image(struct nnv_interp_op *op, struct nnv_relay_layout *l, int64_t *strides) {
    nnv_interp_strides(op->in[0]->type, strides);
    return nnv_relay_layout(&op->t, "layout", nnv_relay_text(&op->t, "layout", "NCHW"), "NCHW", l);
}

/* The channels of the operand are [place in the block][channel of the result], or the other way round (CDR). */
void nnv_interp_depth_to_space(struct nnv_interp_op *op) {
    int64_t b = nnv_relay_int(&op->t, "block_size", 1), s[NNV_RELAY_RANK];
    bool channels_last = strcmp(nnv_relay_text(&op->t, "mode", "DCR"), "DCR") == 0;
    const int64_t *x = op->in[0]->type->dims;
    struct nnv_relay_layout l;
    struct split split = {.n = 0};
    if (!image(op, &l, s)) return;
    int64_t c = x[l.second] / (b * b), by = channels_last ? c * s[l.second] : s[l.second];
    for (size_t i = 0; i < 4; i++) {
        if (i == l.first) part(&split, x[i], s[i]);
        if (i == l.second) part(&split, c, channels_last ? s[i] : b * b * s[i]);
        if (i == l.h || i == l.w) {
            part(&split, x[i], s[i]);
            part(&split, b, i == l.h ? b * by : by);
        }
    }
    nnv_interp_pick(op->in[0]->values, split.n, split.dims, split.strides, op->out->values);
}

void nnv_interp_space_to_depth(struct nnv_interp_op *op) {
    int64_t b = nnv_relay_int(&op->t, "block_size", 1), s[NNV_RELAY_RANK];
    const int64_t *x = op->in[0]->type->dims;
    struct nnv_relay_layout l;
    struct split split = {.n = 0};
    if (!image(op, &l, s)) return;
    for (size_t i = 0; i < 4; i++) {
        if (i == l.first) part(&split, x[i], s[i]);
        if (i == l.h || i == l.w) part(&split, x[i] / b, b * s[i]);
        if (i != l.second) continue;
        part(&split, b, s[l.h]);
        part(&split, b, s[l.w]);
        part(&split, x[i], s[i]);
    }
    nnv_interp_pick(op->in[0]->values, split.n, split.dims, split.strides, op->out->values);
}

/* ---------------------------------------------------------- blocks, batches */

/** Images are the larger side: [image][place in each blocked dimension][rest], batches the one with [block][image]. */
struct batches {
    const struct nnv_relay_type *image, *batch;
    int64_t block[NNV_RELAY_RANK], before[NNV_RELAY_RANK], strides[NNV_RELAY_RANK];
    size_t n;
};

static bool batches_of(struct nnv_interp_op *op, const char *key, const struct nnv_relay_type *image,
                       const struct nnv_relay_type *batch, struct batches *b) {
    const struct nnv_relay_value *more = nnv_relay_attr(op->t.call, key);
    *b = (struct batches){.image = image, .batch = batch};
    if (!nnv_relay_ints(&op->t, "block_shape", b->block, NNV_RELAY_RANK, &b->n)) return false;
    for (size_t i = 0; i < b->n; i++) b->before[i] = more->list[i].list[0].i;
    nnv_interp_strides(image, b->strides);
    return true;
}

/* Where element i of the batches is in the images; -1: in the margin. */
static int64_t in_images(const struct batches *b, int64_t i) {
    int64_t at = 0, places[NNV_RELAY_RANK] = {0};
    for (size_t d = b->batch->n_dims; d-- > 0; i /= b->batch->dims[d] ? b->batch->dims[d] : 1)
        places[d] = i % b->batch->dims[d];
    int64_t image = places[0] % b->image->dims[0], offset = places[0] / b->image->dims[0];
    for (size_t d = b->n; d-- > 0; offset /= b->block[d]) {
        int64_t place = places[d + 1] * b->block[d] + offset % b->block[d] - b->before[d];
        if (place < 0 || place >= b->image->dims[d + 1]) return -1;
        at += place * b->strides[d + 1];
    }
    for (size_t d = b->n + 1; d < b->batch->n_dims; d++) at += places[d] * b->strides[d];
    return at + image * b->strides[0];
}

void nnv_interp_space_to_batch(struct nnv_interp_op *op) {
    struct batches b;
    double value = nnv_relay_number(&op->t, "pad_value", 0);
    if (!batches_of(op, "paddings", op->in[0]->type, op->out->type, &b)) return;
    for (size_t i = 0; i < op->out->n; i++) {
        int64_t from = in_images(&b, (int64_t)i);
        op->out->values[i] = from < 0 ? value : op->in[0]->values[from];
    }
    nnv_interp_wrap_all(op);
}

void nnv_interp_batch_to_space(struct nnv_interp_op *op) {
    struct batches b;
    if (!batches_of(op, "crops", op->out->type, op->in[0]->type, &b)) return;
    for (size_t i = 0; op->out->n && i < op->in[0]->n; i++) {
        int64_t to = in_images(&b, (int64_t)i);
        if (to >= 0) op->out->values[to] = op->in[0]->values[i];
    }
}
