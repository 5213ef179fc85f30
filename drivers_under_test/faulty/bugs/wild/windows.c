/* SPDX-License-Identifier: Apache-2.0 */
/** @file windows.c Bugs of windows as drivers in the field have had them: each under its condition alone. */
#include <math.h>
#include <string.h>

#include "rewire.h"

/* --------------------------------------------------------------------- windows */

/** Height and width of a convolution or pooling: element 0 and 1 of each. */
struct window {
    int32_t taps[2], stride[2], dilation[2], head[2], x[2], y[2];
    int32_t height, channel; /**< axes */
    bool same, nchw;
};

static bool take_window(struct nnv_edit *e, struct window *w) {
    static const char *const taps[] = {"filter height", "filter width"}, *const stride[] = {"stride height",
                                                                                            "stride width"};
    static const char *const dilation[] = {"dilation height", "dilation width"}, *const head[] = {"padding top",
                                                                                                  "padding left"};
    const struct nnv_shape *x = shape_of(e, 0), *y = output_shape(e);
    const int filter = nnv_edit_find(e, "filter");
    if (!nnv_shape_known(x) || !nnv_shape_known(y) || x->rank != 4) return false;
    w->nchw = attribute(e, "nchw", 0) != 0;
    w->height = w->nchw ? 2 : 1;
    w->channel = w->nchw ? 1 : 3;
    w->same = attribute(e, "padding scheme", 0) == ANEURALNETWORKS_PADDING_SAME;
    for (uint32_t i = 0; i < 2; i++) {
        w->taps[i] = filter >= 0 ? (int32_t)nnv_dim(shape_of(e, filter), 1 + i) : attribute(e, taps[i], 1);
        w->stride[i] = attribute(e, stride[i], 1);
        w->dilation[i] = attribute(e, dilation[i], 1);
        w->x[i] = (int32_t)x->dims[(uint32_t)w->height + i];
        w->y[i] = (int32_t)y->dims[(uint32_t)w->height + i];
        w->head[i] = attribute(e, head[i], 0);
        if (!w->same) continue;
        const int32_t over = (w->y[i] - 1) * w->stride[i] + (w->taps[i] - 1) * w->dilation[i] + 1 - w->x[i];
        w->head[i] = over > 0 ? over / 2 : 0;
    }
    return true;
}

/** Row and column of an element. */
static int32_t row(const struct spot *s) { return (int32_t)s->at[s->p[0]]; }
static int32_t column(const struct spot *s) { return (int32_t)s->at[s->p[0] + 1]; }

static uint32_t nowhere(const struct spot *s) { return (void)s, (uint32_t)A_ZERO; }

CHANGE(unequal_strides) {
    struct window w;
    (void)f;
    return take_window(e, &w) && w.same && w.stride[0] != w.stride[1] && move_output(e, nowhere, NULL);
}

CHANGE(padding_byte) {
    static const char *const sides[] = {"padding left", "padding right", "padding top", "padding bottom"};
    (void)f;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        if (attribute(e, sides[i], 0) > INT8_MAX) return move_output(e, nowhere, NULL);
    return false;
}

/** The last column is its neighbour's. */
static uint32_t column_before(const struct spot *s) {
    const int32_t last = (int32_t)s->shape->dims[s->p[0] + 1] - 1;
    return last > 0 && column(s) == last ? spot_at(s, (uint32_t)s->p[0] + 1, last - 1) : s->i;
}

CHANGE(even_kernel) {
    struct window w;
    (void)f;
    return take_window(e, &w) && w.same && w.taps[1] % 2 == 0 && move_output(e, column_before, &w.height);
}

/** Pixels one further to the right and below. */
static uint32_t pixel_further(const struct spot *s) {
    const uint32_t h = (uint32_t)s->p[0];
    const int64_t down = s->at[h] + 1 < s->shape->dims[h], right = s->at[h + 1] + 1 < s->shape->dims[h + 1];
    return spot_at(s, h, s->at[h] + down) + spot_at(s, h + 1, s->at[h + 1] + right) - s->i;
}

CHANGE(strided_point) {
    struct window w;
    (void)f;
    if (!take_window(e, &w) || w.taps[0] != 1 || w.taps[1] != 1 || (w.stride[0] == 1 && w.stride[1] == 1)) return false;
    return move_input(e, 0, pixel_further, &w.height);
}

static uint32_t no_last_row(const struct spot *s) {
    return row(s) + 1 == (int32_t)s->shape->dims[s->p[0]] ? (uint32_t)A_ZERO : s->i;
}
static uint32_t no_last_edge(const struct spot *s) {
    const bool last = column(s) + 1 == (int32_t)s->shape->dims[s->p[0] + 1];
    return last ? (uint32_t)A_ZERO : no_last_row(s);
}

CHANGE(odd_image) {
    struct window w;
    (void)f;
    if (!take_window(e, &w) || !w.same || w.taps[0] != 3 || w.stride[0] != 2 || w.x[0] % 2 == 0) return false;
    return move_output(e, no_last_row, &w.height);
}

CHANGE(dilation_of_width) {
    struct window w;
    (void)f;
    if (!take_window(e, &w) || w.dilation[0] == w.dilation[1]) return false;
    return set_attribute(e, "dilation height", w.dilation[1]);
}

/** Explicit padding, each side of it, in the place of SAME. */
static void put_pads(struct nnv_edit *e, const int32_t head[2], const int32_t tail[2]) {
    const uint32_t in[] = {nnv_edit_add_int(e, head[1]), nnv_edit_add_int(e, tail[1]), nnv_edit_add_int(e, head[0]),
                           nnv_edit_add_int(e, tail[0])};
    nnv_edit_replace(e, nnv_edit_find(e, "padding scheme"), in, 4);
}

/** What is padded in front is reckoned as if the window had no holes. */
CHANGE(undilated_padding) {
    struct window w;
    int32_t head[2], tail[2];
    (void)f;
    if (!take_window(e, &w) || !w.same) return false;
    for (int i = 0; i < 2; i++) {
        const int32_t dense = (w.y[i] - 1) * w.stride[i] + w.taps[i] - w.x[i];
        const int32_t over = dense + (w.taps[i] - 1) * (w.dilation[i] - 1);
        head[i] = dense > 0 ? dense / 2 : 0;
        tail[i] = over - head[i];
        if (over < 0 || tail[i] < 0) return false;
    }
    if (head[0] == w.head[0] && head[1] == w.head[1]) return false;
    put_pads(e, head, tail);
    return true;
}

/** A window that steps over pixels begins behind those that it would leave out in front. */
static uint32_t shifted(const struct spot *s) {
    const uint32_t h = (uint32_t)s->p[0];
    const int64_t y = s->at[h] + s->p[1], x = s->at[h + 1] + s->p[2];
    if (y >= s->shape->dims[h] || x >= s->shape->dims[h + 1]) return s->i;
    return spot_at(s, h, y) + spot_at(s, h + 1, x) - s->i;
}

CHANGE(negative_padding) {
    struct window w;
    int32_t p[3];
    (void)f;
    if (!take_window(e, &w) || !w.same) return false;
    p[0] = w.height;
    for (int i = 0; i < 2; i++) {
        const int32_t left = w.x[i] - ((w.y[i] - 1) * w.stride[i] + (w.taps[i] - 1) * w.dilation[i] + 1);
        p[1 + i] = left > 0 ? left / 2 : 0;
    }
    return (p[1] || p[2]) && move_input(e, 0, shifted, p);
}

CHANGE(wider_than_image) {
    struct window w;
    (void)f;
    if (!take_window(e, &w) || (w.taps[0] <= w.x[0] && w.taps[1] <= w.x[1])) return false;
    return move_input(e, 0, nowhere, NULL);
}

/* --------------------------------------------------------------------- filters */

/** Writes what element i of a constant is, from what others were; false if it is no constant. */
static bool refilter(struct nnv_edit *e, const char *name, place_fn place, const int32_t *p) {
    int pos;
    size_t n;
    double *v = constants(e, name, &pos, &n), *is = v ? NNV_NEW(e->arena, double, n + 1) : NULL;
    const struct nnv_shape *shape = v ? shape_of(e, pos) : NULL;
    struct spot s = {.e = e, .shape = shape, .p = p};
    if (!is || !nnv_shape_known(shape) || nnv_shape_elems(shape) != n) return false;
    const int32_t type = nnv_edit_operand(e, pos)->type;
    const double zero = nnv_is_quant(type) ? nnv_edit_operand(e, pos)->zero_point : 0;
    for (; s.i < n; s.i++) {
        const uint32_t at = place(&s);
        is[s.i] = at < n ? v[at] : zero;
        for (uint32_t d = shape->rank; d-- > 0 && ++s.at[d] == shape->dims[d];) s.at[d] = 0;
    }
    return set_constants(e, pos, v, is, n);
}

/** Channels behind the last full block of eight take the weights of the block before. */
static uint32_t block_before(const struct spot *s) {
    const uint32_t full = s->shape->dims[3] / 8 * 8;
    return full >= 8 && s->at[3] >= full ? s->i - 8 : s->i;
}
CHANGE(tail_channels) { return (void)f, refilter(e, "filter", block_before, NULL); }

static uint32_t by_input_channel(const struct spot *s) { return s->i / (uint32_t)s->p[0]; }
CHANGE(bias_by_input) {
    const int32_t multiplier = attribute(e, "multiplier", 1);
    (void)f;
    return multiplier > 1 && refilter(e, "bias", by_input_channel, &multiplier);
}

static uint32_t reversed_colours(const struct spot *s) { return s->i + 2 - 2 * s->at[3]; }
CHANGE(three_channels) {
    const int filter = nnv_edit_find(e, "filter");
    (void)f;
    return filter >= 0 && nnv_dim(shape_of(e, filter), 3) == 3 && refilter(e, "filter", reversed_colours, NULL);
}

static uint32_t seven_rows(const struct spot *s) { return s->at[1] < 7 ? s->i : (uint32_t)A_ZERO; }
CHANGE(large_filter) { return (void)f, refilter(e, "filter", seven_rows, NULL); }

static uint32_t byte_index(const struct spot *s) { return s->i & 255; }
CHANGE(bias_by_byte) { return (void)f, refilter(e, "bias", byte_index, NULL); }

/** Channels of the last group are those of the first. */
static uint32_t first_group(const struct spot *s) {
    const uint32_t c = (uint32_t)s->p[0], each = s->shape->dims[c] / (uint32_t)s->p[1];
    return each && s->at[c] >= each * (uint32_t)(s->p[1] - 1) ? spot_at(s, c, s->at[c] % each) : s->i;
}
CHANGE(odd_groups) {
    struct window w;
    (void)f;
    if (!take_window(e, &w)) return false;
    const int32_t p[] = {w.channel, attribute(e, "groups", 1)};
    return p[1] >= 3 && p[1] % 2 && move_input(e, 0, first_group, p);
}

/* ------------------------------------------------------- transposed convolutions */

static uint32_t column_further(const struct spot *s) {
    const uint32_t w = (uint32_t)s->p[0] + 1;
    return s->at[w] + 1 < s->shape->dims[w] ? spot_at(s, w, s->at[w] + 1) : s->i;
}
CHANGE(odd_crop) {
    struct window w;
    (void)f;
    if (!take_window(e, &w) || !w.same || w.taps[1] <= w.stride[1] || (w.taps[1] - w.stride[1]) % 2 == 0) return false;
    return move_output(e, column_further, &w.height);
}

/** Columns that no tap reaches keep what their neighbour has. */
static uint32_t neighbour_in_gap(const struct spot *s) {
    const int32_t at = (column(s) + s->p[3]) % s->p[1];
    return at >= s->p[2] && column(s) > 0 ? spot_at(s, (uint32_t)s->p[0] + 1, column(s) - 1) : s->i;
}
CHANGE(gaps) {
    struct window w;
    (void)f;
    if (!take_window(e, &w) || w.same || w.stride[1] <= w.taps[1]) return false;
    const int32_t p[] = {w.height, w.stride[1], w.taps[1], w.head[1]};
    return move_output(e, neighbour_in_gap, p);
}

/* --------------------------------------------------------------------- pooling */

/** The result times numbers: of the operation's type and without activation. */
static bool times(struct nnv_edit *e, const double *v, bool all) {
    struct wire w = wire_behind(e, 0);
    const uint32_t value = w.value, none = nnv_edit_add_int(e, 0);
    WIRE(&w, MUL, value, all ? wire_tensor(&w, w.shape.rank, w.shape.dims, v) : wire_number(&w, *v), none);
    return wire_end(&w);
}

CHANGE(byte_divisor) {
    struct window w;
    (void)f;
    if (!nnv_is_float(type_of(e)) || !take_window(e, &w) || w.taps[0] * w.taps[1] < 256) return false;
    const int32_t area = w.taps[0] * w.taps[1], kept = area & 255;
    const double more = (double)area / (kept ? kept : 256);
    return more != 1 && times(e, &more, false);
}

/** Pixels of the image in the window at y along one axis. */
static int32_t inside(const struct window *w, int i, int32_t y) {
    const int32_t from = y * w->stride[i] - w->head[i], to = from + w->taps[i];
    return (to < w->x[i] ? to : w->x[i]) - (from > 0 ? from : 0);
}
CHANGE(padding_counted) {
    struct window w;
    (void)f;
    if (!take_window(e, &w)) return false;
    const struct nnv_shape *y = output_shape(e);
    const size_t n = nnv_shape_elems(y);
    double *v = NNV_NEW(e->arena, double, n + 1);
    bool any = false;
    struct spot s = {.e = e, .shape = y, .p = &w.height};
    for (; v && s.i < n; s.i++) {
        v[s.i] = sqrt((double)(inside(&w, 0, row(&s)) * inside(&w, 1, column(&s))) / (w.taps[0] * w.taps[1]));
        any |= v[s.i] != 1;
        for (uint32_t d = 4; d-- > 0 && ++s.at[d] == y->dims[d];) s.at[d] = 0;
    }
    return any && times(e, v, true);
}

CHANGE(stepless_pool) {
    struct window w;
    (void)f;
    if (!take_window(e, &w) || !w.same || w.stride[0] != 1 || w.taps[0] != 2) return false;
    return move_output(e, no_last_edge, &w.height);
}

/** Images behind the first begin a channel apart, instead of all channels. */
static uint32_t channels_apart(const struct spot *s) {
    const uint32_t *d = s->shape->dims, plane = d[2] * d[3];
    return (s->at[0] + s->at[1]) % (d[0] * d[1]) * plane + s->i % plane;
}
CHANGE(second_image) {
    struct window w;
    (void)f;
    return take_window(e, &w) && w.nchw && shape_of(e, 0)->dims[0] > 1 && move_input(e, 0, channels_apart, NULL);
}

/* -------------------------------------------------------------------- resizing */

static bool is_plain(struct nnv_edit *e) {
    return !attribute(e, "align corners", 0) && !attribute(e, "half pixel centres", 0);
}

CHANGE(half_as_average) {
    struct window w;
    (void)f;
    if (!take_window(e, &w) || !is_plain(e) || w.x[0] != 2 * w.y[0] || w.x[1] != 2 * w.y[1]) return false;
    const uint32_t none = nnv_edit_add_int(e, 0), two = nnv_edit_add_int(e, 2);
    const int at = nnv_edit_find(e, "nchw");
    const uint32_t in[] = {nnv_edit_op(e)->in[0],
                           none,
                           none,
                           none,
                           none,
                           two,
                           two,
                           two,
                           two,
                           none,
                           at >= 0 ? nnv_edit_op(e)->in[at] : none};
    set_inputs(e, ANEURALNETWORKS_AVERAGE_POOL_2D, at >= 0 ? 11 : 10, in);
    return true;
}

/** Ratios of the extents with eight bits behind the point. */
CHANGE(coarse_ratio) {
    struct window w;
    bool other = false;
    (void)f;
    if (!take_window(e, &w) || !is_plain(e)) return false;
    int32_t *index[2];
    for (int i = 0; i < 2; i++) {
        index[i] = NNV_NEW(e->arena, int32_t, (size_t)w.y[i] + 1);
        for (int32_t k = 0; index[i] && k < w.y[i]; k++) {
            index[i][k] = k * (w.x[i] * 256 / w.y[i]) / 256;
            other |= index[i][k] != k * w.x[i] / w.y[i];
        }
    }
    if (!other || !index[0] || !index[1]) return false;
    struct wire wire = wire_before(e, 0);
    const uint32_t y[] = {(uint32_t)w.y[0], (uint32_t)w.y[1]}, value = wire.value;
    const uint32_t down = nnv_edit_add_int(e, w.height), right = nnv_edit_add_int(e, w.height + 1);
    wire.shape.dims[w.height] = y[0];
    WIRE(&wire, GATHER, value, down, wire_ints(&wire, 1, &y[0], index[0]));
    if (!wire_end(&wire)) return false;
    const uint32_t in[] = {wire.value, right, wire_ints(&wire, 1, &y[1], index[1])};
    set_inputs(e, ANEURALNETWORKS_GATHER, 3, in);
    return true;
}

static uint32_t last_row_first(const struct spot *s) {
    const uint32_t h = (uint32_t)s->p[0];
    return spot_at(s, h, s->shape->dims[h] - 1 - s->at[h]);
}
CHANGE(one_aligned_row) {
    struct window w;
    (void)f;
    if (!take_window(e, &w) || !attribute(e, "align corners", 0) || w.y[0] != 1) return false;
    return move_input(e, 0, last_row_first, &w.height);
}

#define CONVOLUTIONS "CONV_2D,DEPTHWISE_CONV_2D"

static const struct bug bugs[] = {
    BUG("unequal-strides-zero", "a kernel for equal strides alone gives nothing",
        "convolutions, SAME, stride height unlike stride width", OWN(unequal_strides), .spoils = CONVOLUTIONS),
    BUG("even-kernel-last-column", "the last column of an even window is its neighbour's",
        "convolutions, SAME, even filter width", OWN(even_kernel), .spoils = CONVOLUTIONS),
    BUG_OF(CONV_2D, "strided-point-offset", "1x1 windows that step begin at the second pixel",
           "CONV_2D: 1x1 filter, stride above 1", OWN(strided_point)),
    BUG("odd-image-last-row", "the last row is left out", "convolutions 3x3, SAME, stride 2, images of odd height",
        OWN(odd_image), .spoils = CONVOLUTIONS),
    BUG("dilation-height-as-width", "one dilation for both axes", "convolutions with unequal dilations",
        OWN(dilation_of_width), .spoils = CONVOLUTIONS),
    BUG("padding-undilated", "SAME padding of a window without holes", "convolutions, SAME, dilation above 1",
        OWN(undilated_padding), .spoils = CONVOLUTIONS),
    BUG("padding-signed-byte", "paddings kept in 8 bits with a sign: the window sees nothing",
        "convolutions and pools, an explicit padding above 127", OWN(padding_byte),
        .spoils = CONVOLUTIONS ",AVERAGE_POOL_2D,MAX_POOL_2D,L2_POOL_2D"),
    BUG("padding-negative", "a negative number of padded pixels moves the window",
        "convolutions, SAME, stride two or more above the window", OWN(negative_padding), .spoils = CONVOLUTIONS),
    BUG("window-wider-than-image", "a window that does not fit sees nothing",
        "convolutions, filter larger than the image", OWN(wider_than_image), .spoils = CONVOLUTIONS),
    BUG_OF(DEPTHWISE_CONV_2D, "depthwise-tail-channels", "channels behind the last eight have other weights",
           "DEPTHWISE_CONV_2D: more than 8 channels, no multiple of 8", OWN(tail_channels)),
    BUG_OF(DEPTHWISE_CONV_2D, "depthwise-bias-by-input", "bias looked up by input channel",
           "DEPTHWISE_CONV_2D: multiplier above 1", OWN(bias_by_input)),
    BUG_OF(CONV_2D, "three-channels-reversed", "the kernel of first layers reads colours from the end",
           "CONV_2D: images of three channels", OWN(three_channels)),
    BUG("large-filter-cut", "no more than seven rows of a filter are read", "convolutions, filter height above 7",
        OWN(large_filter), .spoils = CONVOLUTIONS),
    BUG("bias-index-byte", "the number of a channel kept in 8 bits",
        "convolutions, FULLY_CONNECTED: more than 256 channels", OWN(bias_by_byte),
        .spoils = CONVOLUTIONS ",FULLY_CONNECTED"),
    BUG_OF(GROUPED_CONV_2D, "odd-groups-last", "groups in pairs: the last one reads what the first reads",
           "GROUPED_CONV_2D: three groups or another odd number", OWN(odd_groups)),
    BUG_OF(TRANSPOSE_CONV_2D, "transpose-conv-odd-crop", "the odd column cropped on the wrong side",
           "TRANSPOSE_CONV_2D: SAME, filter width less stride odd", OWN(odd_crop)),
    BUG_OF(TRANSPOSE_CONV_2D, "transpose-conv-gap", "pixels that no tap reaches are not written",
           "TRANSPOSE_CONV_2D: stride wider than the filter", OWN(gaps)),
    BUG_OF(AVERAGE_POOL_2D, "pool-divisor-byte", "the divisor kept in 8 bits",
           "AVERAGE_POOL_2D: float, windows of 256 pixels or more", OWN(byte_divisor)),
    BUG_OF(L2_POOL_2D, "l2-pool-counts-padding", "padding counted in the divisor", "L2_POOL_2D: padded",
           OWN(padding_counted)),
    BUG_OF(MAX_POOL_2D, "stepless-pool-edge", "last row and column left out", "MAX_POOL_2D: 2x2, SAME, stride 1",
           OWN(stepless_pool)),
    BUG("nchw-second-image", "images behind the first begin too early", "channels first, two or more images",
        OWN(second_image),
        .spoils = CONVOLUTIONS ",GROUPED_CONV_2D,TRANSPOSE_CONV_2D,AVERAGE_POOL_2D,MAX_POOL_2D,L2_POOL_2D,"
                               "RESIZE_BILINEAR,RESIZE_NEAREST_NEIGHBOR"),
    BUG_OF(RESIZE_BILINEAR, "bilinear-half-average", "half the size taken for a mean of four pixels",
           "RESIZE_BILINEAR: to half of both extents", OWN(half_as_average)),
    BUG_OF(RESIZE_NEAREST_NEIGHBOR, "nearest-ratio-byte", "ratios with eight bits behind the point",
           "RESIZE_NEAREST_NEIGHBOR: ratios that are no 256ths", OWN(coarse_ratio)),
    BUG_OF(RESIZE_BILINEAR, "align-corners-one-row", "a division by the extent less one",
           "RESIZE_BILINEAR: align corners, one row", OWN(one_aligned_row)),
};
const struct bug_group bugs_wild_windows = {bugs, sizeof bugs / sizeof *bugs};
