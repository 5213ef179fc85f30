/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/conv/window.h"

#include <string.h>

static bool known(const struct nnv_call *c, int id) { return id < 0 || nnv_known(c, id); }

enum nnv_status nnv_window_of(const struct nnv_call *c, const struct nnv_window_ids *ids, uint32_t in, uint32_t filter,
                              const char *what, struct nnv_window *w, struct nnv_err *err) {
    struct nnv_window r = {.out = NNV_DIM_UNKNOWN};
    if (known(c, ids->scheme) && known(c, ids->head) && known(c, ids->tail) && known(c, ids->stride) &&
        known(c, ids->dilation)) {
        r.head = nnv_int(c, ids->head);
        r.tail = nnv_int(c, ids->tail);
        int32_t dilation = ids->dilation >= 0 && nnv_in(c, ids->dilation) ? nnv_int(c, ids->dilation) : 1;
        enum nnv_status st =
            nnv_window(in, filter, nnv_int(c, ids->stride), dilation, nnv_int(c, ids->scheme), &r, err);
        if (st) return nnv_at(err, st, "%s", what);
    }
    *w = r;
    return NNV_OK;
}

/* ------------------------------------------------------------------ samples */

static void draw_filter(struct nnv_sample *s, struct nnv_window_sample *g) {
    static const uint32_t shapes[][2] = {{3, 2}, {2, 3}, {3, 5}, {1, 4}, {5, 3}, {4, 1}, {3, 1}, {2, 5}};
    g->fh = shapes[s->index % 8][0];
    g->fw = shapes[s->index % 8][1];
    if (nnv_sample_is(s, "pointwise")) g->fh = g->fw = 1;
    if (nnv_sample_is(s, "winograd")) g->fh = g->fw = 3;
    if (nnv_sample_is(s, "even")) g->fh = 2 + 2 * (uint32_t)(s->index % 2), g->fw = 6 - g->fh;
}

static void draw_steps(struct nnv_sample *s, struct nnv_window_sample *g) {
    static const int pairs[][2] = {{2, 3}, {3, 2}, {2, 1}, {1, 2}, {3, 1}, {1, 3}};
    const int *pair = pairs[s->index % 6];
    g->stride_h = g->stride_w = g->dilation_h = g->dilation_w = 1;
    if (nnv_sample_is(s, "stride") || (nnv_sample_is(s, "even") && s->index % 2)) {
        g->stride_h = pair[0];
        g->stride_w = pair[1];
    }
    if (nnv_sample_is(s, "dilation")) {
        if (g->fh == 1) g->fh = 3; /* so that the dilation matters */
        if (g->fw == 1) g->fw = 2;
        g->dilated = true;
        g->dilation_h = pair[0];
        g->dilation_w = pair[1];
    }
}

/* Paddings from 0 to below the effective filter, of which each is unlike the others where there is room. */
static void draw_padding(struct nnv_sample *s, struct nnv_window_sample *g) {
    static const int schemes[] = {ANEURALNETWORKS_PADDING_SAME, ANEURALNETWORKS_PADDING_VALID, 0};
    g->scheme = schemes[s->index % 3];
    if (nnv_sample_is(s, "same") || nnv_sample_is(s, "winograd")) g->scheme = ANEURALNETWORKS_PADDING_SAME;
    if (nnv_sample_is(s, "valid")) g->scheme = ANEURALNETWORKS_PADDING_VALID;
    if (nnv_sample_is(s, "explicit")) g->scheme = 0;
    int most_h = (int)(g->fh - 1) * g->dilation_h, most_w = (int)(g->fw - 1) * g->dilation_w;
    g->top = nnv_sample_int(s, 0, most_h);
    g->bottom = g->top > 0 && s->index % 2 ? g->top - 1 : g->top < most_h ? g->top + 1 : g->top;
    g->left = nnv_sample_int(s, 0, most_w);
    g->right = g->left > 0 && s->index % 2 == 0 ? g->left - 1 : g->left < most_w ? g->left + 1 : g->left;
}

enum {
    LONG_PAD = 128, /* what does not fit a signed byte */
    ROW_WINDOW = 7, /* the longest of the cover, which come with smaller images, too */
};

/* Paddings of the row's word, below the effective filter. */
static void row_padding(struct nnv_sample *s, struct nnv_window_sample *g, int most_h, int most_w) {
    const int32_t word = nnv_sample_value(s, NNV_WINDOW_PADDING);
    g->scheme = word == NNV_PADS_SAME    ? ANEURALNETWORKS_PADDING_SAME
                : word == NNV_PADS_VALID ? ANEURALNETWORKS_PADDING_VALID
                                         : 0;
    if (word == NNV_PADS_TALL || word == NNV_PADS_BROAD) {
        *(word == NNV_PADS_TALL ? &g->top : &g->left) = LONG_PAD;
        *(word == NNV_PADS_TALL ? &g->bottom : &g->right) = LONG_PAD + 1;
    } else if (word == NNV_PADS_EQUAL) {
        g->top = g->bottom = most_h > 1 ? most_h / 2 : most_h;
        g->left = g->right = most_w > 1 ? most_w / 2 : most_w;
    } else if (word == NNV_PADS_UNEQUAL) {
        int *const sides[] = {&g->top, &g->bottom, &g->left, &g->right};
        for (int i = 0; i < 4; i++) *sides[i] = nnv_sample_int(s, 0, i < 2 ? most_h : most_w);
        if (g->top == g->bottom) g->bottom = most_h - g->top;
        if (g->left == g->right) g->right = most_w - g->left;
    }
}

static uint32_t at_least(uint32_t v, int least) { return least > 0 && v < (uint32_t)least ? (uint32_t)least : v; }

/* The row's geometry. The image grows until the window has a place in it that is not all padding. */
static struct nnv_window_sample row_geometry(struct nnv_sample *s) {
    const int32_t window = nnv_sample_value(s, NNV_WINDOW_WINDOW), stride = nnv_sample_value(s, NNV_WINDOW_STRIDE);
    const int32_t image = nnv_sample_value(s, NNV_WINDOW_IMAGE);
    const bool dilated =
        s->op->nfactors > NNV_WINDOW_DILATION && strcmp(s->op->factors[NNV_WINDOW_DILATION].name, "dilation") == 0;
    const int32_t dilation = dilated ? nnv_sample_value(s, NNV_WINDOW_DILATION) : NNV_PAIR(1, 1);
    struct nnv_window_sample g = {.n = (uint32_t)nnv_sample_value(s, NNV_WINDOW_BATCH),
                                  .c = (uint32_t)nnv_sample_value(s, NNV_WINDOW_CHANNELS),
                                  .h = (uint32_t)nnv_pair_height(image),
                                  .w = (uint32_t)nnv_pair_width(image),
                                  .fh = (uint32_t)nnv_pair_height(window),
                                  .fw = (uint32_t)nnv_pair_width(window),
                                  .stride_h = nnv_pair_height(stride),
                                  .stride_w = nnv_pair_width(stride),
                                  .dilation_h = nnv_pair_height(dilation),
                                  .dilation_w = nnv_pair_width(dilation),
                                  .nchw = nnv_sample_value(s, NNV_WINDOW_LAYOUT)};
    const int32_t padding = nnv_sample_value(s, NNV_WINDOW_PADDING);
    if (padding == NNV_PADS_TALL) g.fh = LONG_PAD + 2, g.fw = 1;
    if (padding == NNV_PADS_BROAD) g.fw = LONG_PAD + 2, g.fh = 1;
    g.dilated = dilated && dilation != NNV_PAIR(1, 1);
    const int eff_h = (int)(g.fh - 1) * g.dilation_h + 1, eff_w = (int)(g.fw - 1) * g.dilation_w + 1;
    if (g.fh > ROW_WINDOW || g.fw > ROW_WINDOW) { /* long windows have a place that is not clipped */
        g.h = at_least(g.h, (int)g.fh);
        g.w = at_least(g.w, (int)g.fw);
    }
    row_padding(s, &g, eff_h - 1, eff_w - 1);
    if (g.scheme == ANEURALNETWORKS_PADDING_SAME) return g;
    g.h = at_least(g.h, eff_h - g.top - g.bottom);
    g.w = at_least(g.w, eff_w - g.left - g.right);
    return g;
}

struct nnv_window_sample nnv_window_draw(struct nnv_sample *s, uint32_t c) {
    if (s->row) return row_geometry(s);
    struct nnv_window_sample g = {.nchw = nnv_sample_is(s, "nchw")};
    draw_filter(s, &g);
    draw_steps(s, &g);
    draw_padding(s, &g);
    uint32_t eff_h = (g.fh - 1) * (uint32_t)g.dilation_h + 1, eff_w = (g.fw - 1) * (uint32_t)g.dilation_w + 1;
    bool large = nnv_sample_is(s, "large");
    g.n = large ? 1 : 1 + (uint32_t)(s->index + 1) % 3;
    g.h = eff_h + (uint32_t)nnv_sample_int(s, 1, large ? 20 : 5) * (uint32_t)g.stride_h;
    g.w = eff_w + (uint32_t)nnv_sample_int(s, 2, large ? 24 : 6) * (uint32_t)g.stride_w + (s->index % 2 ? 1 : 0);
    if (g.h == g.w) g.w++;
    g.c = nnv_sample_is(s, "wide") ? nnv_sample_dim(s, 15, 65) : nnv_sample_dim(s, 1, c);
    if (s->empty) g.n = 0;
    return g;
}

void nnv_window_set(struct nnv_sample *s, const struct nnv_window_ids *ids, const struct nnv_window_sample *g,
                    bool height) {
    if (g->scheme) {
        nnv_sample_scalar(s, ids->scheme, g->scheme);
    } else {
        nnv_sample_scalar(s, ids->head, height ? g->top : g->left);
        nnv_sample_scalar(s, ids->tail, height ? g->bottom : g->right);
    }
    nnv_sample_scalar(s, ids->stride, height ? g->stride_h : g->stride_w);
    if (ids->dilation >= 0 && g->dilated) nnv_sample_scalar(s, ids->dilation, height ? g->dilation_h : g->dilation_w);
}
