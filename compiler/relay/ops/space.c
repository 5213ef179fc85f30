/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of space, depth and batches: types of results, kernels, rows. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/relay/ops/kernel.h"

/* ------------------------------------------------------------------- types */

/** An axis of a layout: of which dimension, from 'A' on, and the extent of its block; 0: what the blocks leave of it.
 */
struct axis {
    int dimension;
    int64_t block;
};
enum { LETTERS = 26 };

/* The axes of a layout such as NCHW4c; 0: it is none. */
static size_t read_layout(const char *text, struct axis *axes) {
    size_t n = 0;
    for (; *text && n < NNV_RELAY_RANK; n++, text++) {
        int64_t block = 0;
        for (; *text >= '0' && *text <= '9' && block < NNV_RELAY_MOST_EXTENT; text++) block = block * 10 + *text - '0';
        const bool whole = *text >= 'A' && *text <= 'Z', part = *text >= 'a' && *text <= 'z';
        if (!(whole && block == 0) && !(part && block > 0)) return 0;
        axes[n] = (struct axis){*text - (whole ? 'A' : 'a'), block};
    }
    return *text ? 0 : n;
}

/* How often each dimension has an axis, and the extent of its blocks; 0: too large. */
static void count_axes(const struct axis *axes, size_t n, size_t *wholes, int64_t *blocks) {
    for (size_t i = 0; i < LETTERS; i++) {
        wholes[i] = 0;
        blocks[i] = 1;
    }
    for (size_t i = 0; i < n; i++) {
        const int d = axes[i].dimension;
        if (axes[i].block == 0) wholes[d]++;
        if (axes[i].block && __builtin_mul_overflow(blocks[d], axes[i].block, &blocks[d])) blocks[d] = 0;
    }
}

static const struct nnv_relay_type *infer_layout_transform(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    struct axis from[NNV_RELAY_RANK], to[NNV_RELAY_RANK];
    size_t before[LETTERS], now[LETTERS];
    int64_t dims[NNV_RELAY_RANK], whole[LETTERS] = {0}, split[LETTERS], joined[LETTERS];
    if (a == NULL) return NULL;
    const size_t n = read_layout(nnv_relay_text(t, "src_layout", ""), from),
                 n_to = read_layout(nnv_relay_text(t, "dst_layout", ""), to);
    if (n != a->n_dims || n_to == 0)
        return nnv_relay_wrong(t, "src_layout and dst_layout must have a letter for each of %zu dimensions", a->n_dims);
    count_axes(from, n, before, joined);
    count_axes(to, n_to, now, split);
    for (size_t i = 0; i < LETTERS; i++)
        if (before[i] > 1 || before[i] != now[i] || (!before[i] && (joined[i] != 1 || split[i] != 1)))
            return nnv_relay_wrong(t, "src_layout and dst_layout must have the same letters, each once");
    for (size_t i = 0; i < n; i++) {
        const int d = from[i].dimension;
        if (from[i].block ? from[i].block != a->dims[i]
                          : __builtin_mul_overflow(a->dims[i] < 0 ? 0 : a->dims[i], joined[d], &whole[d]))
            return nnv_relay_wrong(t, "the extent of dimension %zu is not that of its block", i);
        if (a->dims[i] < 0) whole[d] = -1;
    }
    for (size_t i = 0; i < n_to; i++) {
        const int d = to[i].dimension;
        if (split[d] == 0 || (whole[d] > 0 && whole[d] % split[d]))
            return nnv_relay_wrong(t, "the extents can't be divided by the block's");
        dims[i] = to[i].block ? to[i].block : whole[d] < 0 ? -1 : whole[d] / split[d];
    }
    return nnv_relay_made(t, a->dtype, n_to, dims);
}

/* nn.depth_to_space, nn.space_to_depth */
static const struct nnv_relay_type *infer_blocks(struct nnv_relay_typing *t) {
    struct nnv_relay_layout l;
    const struct nnv_relay_type *x = nnv_relay_image(t, &l);
    int64_t dims[4], b = nnv_relay_int(t, "block_size", 0);
    const char *mode = nnv_relay_text(t, "mode", "DCR");
    if (x == NULL) return NULL;
    if (b < 1 || b > 1 << 15) return nnv_relay_wrong(t, "needs the attribute block_size, from 1 to 2^15");
    if (strcmp(mode, "DCR") != 0 && strcmp(mode, "CDR") != 0) return nnv_relay_wrong(t, "mode must be DCR or CDR");
    memcpy(dims, x->dims, sizeof dims);
    int64_t *c = &dims[l.second], *h = &dims[l.h], *w = &dims[l.w];
    bool to_space = strcmp(t->call->callee->name, "nn.depth_to_space") == 0;
    if (to_space ? *c > 0 && *c % (b * b) : (*h > 0 && *h % b) || (*w > 0 && *w % b))
        return nnv_relay_wrong(t, "the extents can't be divided by the block's");
    if (*c > INT64_MAX / (b * b) || *h > INT64_MAX / b || *w > INT64_MAX / b)
        return nnv_relay_wrong(t, "the result is too large");
    if (*c >= 0) *c = to_space ? *c / (b * b) : *c * b * b;
    if (*h >= 0) *h = to_space ? *h * b : *h / b;
    if (*w >= 0) *w = to_space ? *w * b : *w / b;
    return nnv_relay_made(t, x->dtype, 4, dims);
}

/* nn.space_to_batch_nd, nn.batch_to_space_nd: batch, the blocks' dimensions, others. */
static const struct nnv_relay_type *infer_batches(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_in(t, 0);
    bool to_batch = strcmp(t->call->callee->name, "nn.space_to_batch_nd") == 0;
    const char *key = to_batch ? "paddings" : "crops";
    const struct nnv_relay_value *more = nnv_relay_row_attr(t->row, t->call, key);
    int64_t block[NNV_RELAY_RANK], dims[NNV_RELAY_RANK], all = 1;
    size_t n = 0;
    if (x == NULL) return NULL;
    if (!nnv_relay_ints(t, "block_shape", block, NNV_RELAY_RANK, &n) || n == 0 || n >= x->n_dims)
        return nnv_relay_wrong(t, "needs the attribute block_shape, with fewer values than the operand's dimensions");
    if (more == NULL || more->n != n) return nnv_relay_wrong(t, "%s must have a pair for each block extent", key);
    memcpy(dims, x->dims, x->n_dims * sizeof *dims);
    for (size_t i = 0; i < n; i++) {
        const struct nnv_relay_value *pair = &more->list[i];
        int64_t *d = &dims[i + 1], a = pair->n == 2 ? pair->list[0].i : -1, b = pair->n == 2 ? pair->list[1].i : -1;
        if (a < 0 || b < 0 || a > NNV_RELAY_MOST_EXTENT || b > NNV_RELAY_MOST_EXTENT || block[i] < 1 ||
            block[i] > 1 << 15 || *d > NNV_RELAY_MOST_EXTENT || __builtin_mul_overflow(all, block[i], &all) ||
            all > NNV_RELAY_MOST_EXTENT)
            return nnv_relay_wrong(t, "block_shape or %s of dimension %zu is out of range", key, i + 1);
        if (*d < 0) continue;
        *d = to_batch ? *d + a + b : *d * block[i] - a - b;
        if (*d < 0 || (to_batch && *d % block[i]))
            return nnv_relay_wrong(t, "dimension %zu would be %" PRId64, i + 1, *d);
        if (to_batch) *d /= block[i];
    }
    if (dims[0] >= 0) {
        if (dims[0] > NNV_RELAY_MOST_EXTENT || (!to_batch && dims[0] % all))
            return nnv_relay_wrong(t, "the batch can't be divided by the block");
        dims[0] = to_batch ? dims[0] * all : dims[0] / all;
    }
    return nnv_relay_made(t, x->dtype, x->n_dims, dims);
}

/* ----------------------------------------------------------------- kernels */

static void run_layout_transform(struct nnv_interp_op *op) {
    struct axis from[NNV_RELAY_RANK], to[NNV_RELAY_RANK];
    int64_t own[NNV_RELAY_RANK], strides[NNV_RELAY_RANK];
    const size_t n = read_layout(nnv_relay_text(&op->t, "src_layout", ""), from),
                 n_to = read_layout(nnv_relay_text(&op->t, "dst_layout", ""), to);
    nnv_interp_strides(op->in[0]->type, own);
    nnv_interp_strides(op->out->type, strides);
    for (size_t i = 0; i < op->out->n; i++) {
        int64_t place[LETTERS] = {0}, at = 0;
        for (size_t k = 0; k < n_to; k++) {
            const int64_t extent = op->out->type->dims[k];
            place[to[k].dimension] = place[to[k].dimension] * extent + (int64_t)i / strides[k] % extent;
        }
        for (size_t k = n; k-- > 0;) { /* blocks stand behind what they are of, the last is the innermost */
            int64_t *p = &place[from[k].dimension];
            at += *p % op->in[0]->type->dims[k] * own[k];
            *p /= op->in[0]->type->dims[k];
        }
        op->out->values[i] = op->in[0]->values[at];
    }
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
    return nnv_relay_image(&op->t, l) != NULL;
}

/* The channels of the operand are [place in the block][channel of the result], or the other way round (CDR). */
static void run_depth_to_space(struct nnv_interp_op *op) {
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

static void run_space_to_depth(struct nnv_interp_op *op) {
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
    const struct nnv_relay_value *more = nnv_relay_row_attr(op->t.row, op->t.call, key);
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

static void run_space_to_batch(struct nnv_interp_op *op) {
    struct batches b;
    double value = nnv_relay_number(&op->t, "pad_value", 0);
    if (!batches_of(op, "paddings", op->in[0]->type, op->out->type, &b)) return;
    for (size_t i = 0; i < op->out->n; i++) {
        int64_t from = in_images(&b, (int64_t)i);
        op->out->values[i] = from < 0 ? value : op->in[0]->values[from];
    }
    nnv_interp_wrap_all(op);
}

static void run_batch_to_space(struct nnv_interp_op *op) {
    struct batches b;
    if (!batches_of(op, "crops", op->out->type, op->in[0]->type, &b)) return;
    for (size_t i = 0; op->out->n && i < op->in[0]->n; i++) {
        int64_t to = in_images(&b, (int64_t)i);
        if (to >= 0) op->out->values[to] = op->in[0]->values[i];
    }
}

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

static const struct nnv_relay_op_row rows[] = {
    {"layout_transform", 1, 1, infer_layout_transform, run_layout_transform,
     .attrs = {{"src_layout", K_TEXT, NULL}, {"dst_layout", K_TEXT, NULL}}},
    {"nn.batch_to_space_nd", 1, 1, infer_batches, run_batch_to_space,
     .attrs = {{"block_shape", K_INTS, NULL}, {"crops", K_PAIRS, NULL}}},
    {"nn.depth_to_space", 1, 1, infer_blocks, run_depth_to_space,
     .attrs = {{"block_size", K_INT, NULL}, {"layout", K_TEXT, TEXT("NCHW")}, {"mode", K_TEXT, TEXT("DCR")}}},
    {"nn.space_to_batch_nd", 1, 1, infer_batches, run_space_to_batch,
     .attrs = {{"block_shape", K_INTS, NULL}, {"paddings", K_PAIRS, NULL}, {"pad_value", K_NUMBER, NUMBER(0)}}},
    {"nn.space_to_depth", 1, 1, infer_blocks, run_space_to_depth,
     .attrs = {{"block_size", K_INT, NULL}, {"layout", K_TEXT, TEXT("NCHW")}}},
};
const struct nnv_relay_op_rows nnv_relay_space = {rows, sizeof rows / sizeof *rows};
