/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/attribute_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** "stride height" and "stride width" as "stride is 2x2". */
static void add_pair(struct nnv_attribute_list *l, const char *base, double h, double w) {
    nnv_add_word(l, base, 0, NNV_NAME("%.0fx%.0f", h, w));
    nnv_add_flag(l, NNV_NAME("%s is square", base), 1, h == w, NNV_NAME("%s is not square", base));
    nnv_add_flag(l, NNV_NAME("%s is square and above 1x1", base), 1, h == w && h > 1, NULL);
    nnv_add_number(l, NNV_NAME("the larger %s", base), 1, fmax(h, w));
    nnv_add_number(l, NNV_NAME("the smaller %s", base), 1, fmin(h, w));
}

static void add_pairs(struct nnv_attribute_list *l, const struct nnv_call *c) {
    for (uint8_t i = 0; i < c->form->nin; i++)
        for (uint8_t k = 0; k < c->form->nin; k++) {
            const struct nnv_slot *h = &c->form->in[i], *w = &c->form->in[k];
            const char *tall = strstr(h->name, "height"), *wide = strstr(w->name, "width");
            if (!tall || !wide || tall - h->name != wide - w->name ||
                strncmp(h->name, w->name, (size_t)(tall - h->name)) != 0 || strcmp(tall + 6, wide + 5) != 0 ||
                !(h->flags & NNV_SCALAR) || !nnv_known(c, h->id) || !nnv_known(c, w->id))
                continue;
            const char *base = tall > h->name ? NNV_NAME("%.*s", (int)(tall - h->name - 1), h->name)
                               : tall[6]      ? NNV_NAME("%s", tall + 7)
                                              : "extent";
            if (base) add_pair(l, strcmp(base, "filter") == 0 ? "window" : base, nnv_num(c, h->id), nnv_num(c, w->id));
        }
}

/** The scalar of the call by the name of its slot; NULL: it has none that is known. */
static const struct nnv_slot *scalar_of(const struct nnv_call *c, const char *name) {
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        if (strcmp(s->name, name) == 0 && (s->flags & NNV_SCALAR) && nnv_known(c, s->id)) return s;
    }
    return NULL;
}
static bool has(const struct nnv_call *c, const char *name) { return scalar_of(c, name) != NULL; }
double nnv_number_of(const struct nnv_call *c, const char *name) {
    return has(c, name) ? nnv_num(c, scalar_of(c, name)->id) : 0;
}
static int32_t named(const struct nnv_call *c, const char *name) { return (int32_t)nnv_number_of(c, name); }

int nnv_position_of(const struct nnv_call *c, const char *name) {
    for (uint8_t i = 0; i < c->form->nin; i++)
        if (strcmp(c->form->in[i].name, name) == 0)
            return c->pos[c->form->in[i].id] >= 0 && c->in[c->pos[c->form->in[i].id]].present
                       ? c->pos[c->form->in[i].id]
                       : -1;
    return -1;
}

/** The integers of a list by the name of its slot; the number of them, 0: it is not known, or longer than a rank. */
static size_t integers(const struct nnv_call *c, const char *name, double *v) {
    const int pos = nnv_position_of(c, name);
    const struct nnv_arg *a = pos < 0 ? NULL : &c->in[pos];
    if (!a || !a->data || !nnv_shape_known(&a->shape) || a->operand->type != ANEURALNETWORKS_TENSOR_INT32) return 0;
    const size_t n = nnv_shape_elems(&a->shape);
    if (n > NNV_MAX_RANK) return 0;
    nnv_load(ANEURALNETWORKS_TENSOR_INT32, a->data, n, v);
    return n;
}

/** Axes in any order, negative or not, each several times: which they are. */
static void add_axes(struct nnv_attribute_list *l, const char *whose, const double *axes, size_t n, uint32_t rank) {
    char text[NNV_MAX_RANK * 12] = "", *end = text;
    size_t different = 0;
    for (int d = 0; d < (int)rank; d++)
        for (size_t k = 0; k < n; k++) {
            if (nnv_axis((int32_t)axes[k], rank) != d) continue;
            end += snprintf(end, sizeof text - (size_t)(end - text), "%s%d", end > text ? "," : "", d);
            different++;
            break;
        }
    nnv_add_flag(l, NNV_NAME("one of the %s is named twice", whose), 0, different < n, NULL);
    nnv_add_word(l, NNV_NAME("the set of %s, counted from 0,", whose), 0, NNV_NAME("%s", text));
}

/** The extents of input 0 along the axis, or the largest and smallest of those along the axes. */
static void add_along(struct nnv_attribute_list *l, const struct nnv_call *c) {
    const struct nnv_shape *x = &c->in[0].shape;
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        const struct nnv_arg *a = nnv_in(c, s->id);
        const bool scalar = s->flags & NNV_SCALAR;
        double axes[NNV_MAX_RANK], largest = 0, least = INFINITY;
        size_t n = 1;
        if (!nnv_known(c, s->id) || !nnv_shape_known(x)) continue;
        if (scalar ? s->rule != NNV_AXIS : strcmp(s->name, "axes") != 0 && strcmp(s->name, "axis") != 0) continue;
        if (scalar) {
            axes[0] = nnv_num(c, s->id);
        } else {
            n = a && a->data && nnv_shape_known(&a->shape) ? nnv_shape_elems(&a->shape) : 0;
            if (n == 0 || n > NNV_MAX_RANK || a->operand->type != ANEURALNETWORKS_TENSOR_INT32) continue;
            nnv_load(ANEURALNETWORKS_TENSOR_INT32, a->data, n, axes);
        }
        for (size_t k = 0; k < n; k++) {
            const int axis = nnv_axis((int32_t)axes[k], x->rank);
            if (axis < 0) continue;
            largest = fmax(largest, x->dims[axis]);
            least = fmin(least, x->dims[axis]);
        }
        if (least > largest) continue;
        if (!scalar) add_axes(l, s->name, axes, n, x->rank);
        nnv_add_number(
            l, n == 1 ? NNV_NAME("extent along the %s", s->name) : NNV_NAME("largest extent along the %s", s->name), 1,
            largest);
        if (n > 1) nnv_add_number(l, NNV_NAME("least extent along the %s", s->name), 2, least);
        if (n == 1 && largest > 0)
            nnv_add_number(l, NNV_NAME("lines along the %s", s->name), 2, (double)nnv_shape_elems(x) / largest);
    }
}

/** Explicit padding: what lies before and behind. */
static void add_padding(struct nnv_attribute_list *l, const struct nnv_call *c) {
    static const char *const side[][2] = {{"padding top", "padding bottom"}, {"padding left", "padding right"}};
    bool even = true, same = true;
    if (!has(c, "padding top")) return;
    for (int i = 0; i < 2; i++) {
        even = even && named(c, side[i][0]) == named(c, side[i][1]);
        same = same && named(c, side[i][0]) == named(c, side[0][0]);
    }
    nnv_add_flag(l, "padding before and behind is equal", FROM_SHAPE, even, "padding before and behind differs");
    nnv_add_flag(l, "padding is equal on all sides", FROM_SHAPE + 1, even && same, "padding differs between sides");
}

/** Factors that extents are multiplied by: what is left of the products behind the point. */
static void add_factors(struct nnv_attribute_list *l, const struct nnv_call *c, bool nchw) {
    static const char *const factor[] = {"height scale", "width scale"};
    const struct nnv_shape *x = &c->in[0].shape;
    double largest = 0;
    if (!nnv_shape_known(x) || x->rank != 4 || !has(c, factor[0]) || !has(c, factor[1])) return;
    for (int i = 0; i < 2; i++) {
        const double product = (double)x->dims[(nchw ? 2 : 1) + i] * nnv_number_of(c, factor[i]);
        largest = fmax(largest, product - floor(product));
    }
    nnv_add_number(l, "the larger fraction of an extent times its scale", FROM_SHAPE, largest);
}

/** Of images that are resized: along which axes there is anything to interpolate, and from whole pixels. */
static void add_scaling(struct nnv_attribute_list *l, const struct nnv_call *c, bool nchw) {
    static const char *const axis[] = {"height", "width"};
    const struct nnv_shape *x = &c->in[0].shape, *y = &c->out[0].shape;
    if (!has(c, "half pixel centres") || !nnv_shape_known(x) || x->rank != 4 || !nnv_shape_known(y) || y->rank != 4)
        return;
    const uint32_t h = nchw ? 2 : 1;
    nnv_add_flag(l, "the image grows", 0, y->dims[h] > x->dims[h] || y->dims[h + 1] > x->dims[h + 1],
                 "the image does not grow");
    nnv_add_flag(l, "the image shrinks", 0, y->dims[h] < x->dims[h] || y->dims[h + 1] < x->dims[h + 1],
                 "the image does not shrink");
    for (int i = 0; i < 2; i++) {
        const uint32_t from = x->dims[(nchw ? 2 : 1) + i], to = y->dims[(nchw ? 2 : 1) + i];
        nnv_add_flag(l, NNV_NAME("the %s is interpolated", axis[i]), 0, from > 1 && from != to,
                     NNV_NAME("the %s is not interpolated", axis[i]));
        nnv_add_flag(l, NNV_NAME("the %s grows by no whole number", axis[i]), FROM_SHAPE, from == 0 || to % from != 0,
                     NNV_NAME("the %s grows by a whole number", axis[i]));
    }
}

/** Axes that are walked backwards, ends that count from behind, with the bits of masks that are about them. */
static void add_steps(struct nnv_attribute_list *l, const struct nnv_call *c) {
    static const char *const list[] = {"begin", "end"}, *const mask[] = {"begin mask", "end mask"};
    const struct nnv_shape *x = &c->in[0].shape;
    double step[NNV_MAX_RANK], v[NNV_MAX_RANK];
    const size_t n = integers(c, "strides", step);
    bool back = false;
    for (size_t d = 0; d < n; d++) back = back || step[d] < 0;
    if (n == 0 || !nnv_shape_known(x)) return;
    nnv_add_flag(l, "an axis is read backwards", FROM_SHAPE, back, "no axis is read backwards");
    for (int i = 0; i < 2; i++) {
        if (integers(c, list[i], v) != n || !has(c, mask[i])) continue;
        const uint32_t bits = (uint32_t)named(c, mask[i]);
        bool negative = false, upwards = false, masked = false, outside = false;
        for (size_t d = 0; d < n; d++) {
            const bool counts = !(bits >> d & 1);
            negative = negative || (v[d] < 0 && counts);
            upwards = upwards || (v[d] < 0 && counts && step[d] > 0);
            masked = masked || (step[d] < 0 && !counts);
            outside = outside || (d < x->rank && counts && step[d] < 0 && v[d] >= x->dims[d]);
        }
        nnv_add_flag(l, NNV_NAME("a number of %s that counts is negative", list[i]), FROM_SHAPE, negative,
                     NNV_NAME("no number of %s that counts is negative", list[i]));
        nnv_add_flag(l, NNV_NAME("an axis that is read forwards has a negative %s that counts", list[i]), FROM_SHAPE,
                     upwards, NULL);
        nnv_add_flag(l, NNV_NAME("an axis that is read backwards has its %s masked", list[i]), FROM_SHAPE, masked,
                     NULL);
        nnv_add_flag(l, NNV_NAME("an axis that is read backwards has its %s behind the last place", list[i]),
                     FROM_SHAPE, outside, NULL);
    }
}

/** Products that are added up for a number of the output. */
static void add_sum(struct nnv_attribute_list *l, const struct nnv_call *c) {
    const int filter = nnv_position_of(c, "filter"), weights = filter < 0 ? nnv_position_of(c, "weights") : filter;
    double terms = 0;
    if (weights >= 0 && nnv_shape_known(&c->in[weights].shape) && c->in[weights].shape.rank > 1) {
        const struct nnv_shape *f = &c->in[weights].shape;
        const bool depthwise = c->op->code == ANEURALNETWORKS_DEPTHWISE_CONV_2D && f->rank == 4;
        const double own = depthwise ? f->dims[3] : f->dims[0];
        terms = own > 0 ? (double)nnv_shape_elems(f) / own : 0;
    } else if (c->op->code == ANEURALNETWORKS_BATCH_MATMUL && nnv_shape_known(&c->in[0].shape)) {
        const struct nnv_shape *x = &c->in[0].shape;
        terms = x->rank > 1 ? x->dims[x->rank - (named(c, "transpose lhs") ? 2 : 1)] : 0;
    } else if (has(c, "filter height") && has(c, "filter width")) {
        terms = (double)named(c, "filter height") * named(c, "filter width");
    }
    if (terms > 0) nnv_add_number(l, "number of terms of a sum", FROM_SHAPE, terms);
    if (terms > 0 && c->op->code == ANEURALNETWORKS_FULLY_CONNECTED && nnv_shape_known(&c->in[0].shape) &&
        c->in[0].shape.rank > 0)
        nnv_add_flag(l, "the outer extent of input is below the batch", FROM_SHAPE,
                     c->in[0].shape.dims[0] < (double)nnv_shape_elems(&c->in[0].shape) / terms,
                     "the outer extent of input is the batch");
    if (terms > 0) nnv_add_residues(l, "the number of terms of a sum", FROM_SHAPE + 1, 64, terms);
    if (filter >= 0 && nnv_shape_known(&c->in[filter].shape) && c->in[filter].shape.rank == 4) {
        const struct nnv_shape *f = &c->in[filter].shape;
        const double run = (double)f->dims[2] * f->dims[3];
        nnv_add_number(l, "width times inner extent of filter", FROM_SHAPE + 4, run);
        nnv_add_residues(l, "width times inner extent of filter", FROM_SHAPE + 2, 16, run);
    }
}

bool nnv_moving(const struct nnv_call *c, bool nchw, int axis, struct nnv_moving *to) {
    const struct nnv_shape *x = &c->in[0].shape, *y = &c->out[0].shape;
    const int filter = nnv_position_of(c, "filter"), at = (nchw ? 2 : 1) + axis;
    const struct nnv_shape *f = filter >= 0 ? &c->in[filter].shape : NULL;
    const bool transposed = c->op->code == ANEURALNETWORKS_TRANSPOSE_CONV_2D;
    if (!nnv_shape_known(x) || x->rank != 4 || (f && (!nnv_shape_known(f) || f->rank != 4))) return false;
    const int32_t dilation = named(c, axis ? "dilation width" : "dilation height");
    *to = (struct nnv_moving){
        .taps = f ? (int32_t)f->dims[1 + axis] : named(c, axis ? "filter width" : "filter height"),
        .stride = named(c, axis ? "stride width" : "stride height"),
        .dilation = dilation ? dilation : 1,
        .extent = (int32_t)x->dims[at],
        .same = named(c, "padding scheme") == ANEURALNETWORKS_PADDING_SAME,
    };
    if (to->taps < 1 || to->stride < 1) return false;
    to->reach = (to->taps - 1) * to->dilation + 1;
    const bool sized = transposed && c->nout > 0 && nnv_shape_known(y) && y->rank == 4;
    to->pad = sized ? (to->extent - 1) * to->stride + to->reach - (int32_t)y->dims[at]
                    : ((to->extent + to->stride - 1) / to->stride - 1) * to->stride + to->reach - to->extent;
    if (!transposed)
        to->head = !to->same ? named(c, axis ? "padding left" : "padding top") : to->pad > 0 ? to->pad / 2 : 0;
    return true;
}

/** How window, stride, dilation and image lie to each other along both axes. */
static void add_windows(struct nnv_attribute_list *l, const struct nnv_call *c, bool nchw) {
    static const char *const axis[] = {"height", "width"};
    const struct nnv_shape *x = &c->in[0].shape;
    const int filter = nnv_position_of(c, "filter");
    const struct nnv_shape *f = filter >= 0 ? &c->in[filter].shape : NULL;
    const struct nnv_shape *y = &c->out[0].shape;
    int whole = 0, above = 0, below = 0, larger = 0, uneven = 0, short_of = 0; /* axes of which this is so */
    bool implied = false;
    if (!nnv_shape_known(x) || x->rank != 4 || (f && (!nnv_shape_known(f) || f->rank != 4))) return;
    if (f) add_pair(l, "window", f->dims[1], f->dims[2]);
    if (f) nnv_add_number(l, "taps of the filter", FROM_SHAPE, (double)f->dims[1] * f->dims[2]);
    add_padding(l, c);
    for (int i = 0; i < 2; i++) {
        const char *a = axis[i];
        struct nnv_moving window;
        if (!nnv_moving(c, nchw, i, &window)) continue;
        const int32_t taps = window.taps, stride = window.stride, extent = window.extent, reach = window.reach,
                      pad = window.pad;
        whole += reach == extent;
        above += stride > taps;
        below += stride < taps;
        larger += reach > extent;
        if (c->nout > 0 && nnv_shape_known(y) && y->rank == 4 && c->op->code != ANEURALNETWORKS_TRANSPOSE_CONV_2D) {
            const int64_t steps = (int64_t)y->dims[(nchw ? 2 : 1) + i] - 1, end = steps * stride - window.head + reach;
            short_of += end < extent;
            nnv_add_flag(l, NNV_NAME("the last window ends before the image in %s", a), FROM_SHAPE, end < extent, NULL);
        }
        nnv_add_flag(l, NNV_NAME("the stride is above the window in %s", a), FROM_SHAPE, stride > taps, NULL);
        nnv_add_flag(l, NNV_NAME("the window is above the stride in %s", a), FROM_SHAPE, stride < taps, NULL);
        nnv_add_number(l, NNV_NAME("window %s - stride %s", a, a), FROM_SHAPE + 1, taps - stride);
        nnv_add_flag(l, NNV_NAME("the window is larger than the image in %s", a), FROM_SHAPE, reach > extent, NULL);
        nnv_add_number(l, NNV_NAME("%s of input - %s of the dilated window", a, a), FROM_SHAPE + 2, extent - reach);
        nnv_add_flag(l, NNV_NAME("the %s is no multiple of the stride", a), FROM_SHAPE, extent % stride != 0,
                     NNV_NAME("the %s is a multiple of the stride", a));
        if (!window.same) continue;
        implied = true;
        uneven += pad > 0 && pad % 2 == 1;
        nnv_add_flag(l, NNV_NAME("SAME pads the %s unevenly", a), FROM_SHAPE, pad > 0 && pad % 2 == 1,
                     NNV_NAME("SAME pads the %s evenly", a));
        nnv_add_flag(l, NNV_NAME("SAME pads no %s", a), FROM_SHAPE + 1, pad <= 0, NNV_NAME("SAME pads the %s", a));
    }
    nnv_add_flag(l, "the stride is above the window along an axis", FROM_SHAPE, above > 0,
                 "no stride is above the window");
    nnv_add_flag(l, "the window is above the stride along an axis", FROM_SHAPE, below > 0,
                 "no window is above the stride");
    nnv_add_flag(l, "the window is larger than the image along an axis", FROM_SHAPE, larger > 0,
                 "no window is larger than the image");
    if (implied) nnv_add_flag(l, "SAME pads an axis unevenly", FROM_SHAPE, uneven > 0, "SAME pads no axis unevenly");
    nnv_add_flag(l, "the last window ends before the image along an axis", FROM_SHAPE, short_of > 0, NULL);
    nnv_add_flag(l, "the window is the whole image", FROM_SHAPE, whole == 2, "the window is not the whole image");
}
void nnv_add_geometry(struct nnv_attribute_list *l, const struct nnv_call *c, bool nchw) {
    add_pairs(l, c);
    if (c->nin == 0 || !c->in[0].present) return;
    add_along(l, c);
    add_windows(l, c, nchw);
    add_factors(l, c, nchw);
    add_scaling(l, c, nchw);
    add_steps(l, c);
    add_sum(l, c);
}
