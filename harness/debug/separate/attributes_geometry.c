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

/** A number of the call by the name of its slot; 0: it has none that is known. */
static int32_t named(const struct nnv_call *c, const char *name) {
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        if (strcmp(s->name, name) == 0 && (s->flags & NNV_SCALAR) && nnv_known(c, s->id)) return nnv_int(c, s->id);
    }
    return 0;
}

/** Position of the input of this name; -1: there is none. */
static int position_of(const struct nnv_call *c, const char *name) {
    for (uint8_t i = 0; i < c->form->nin; i++)
        if (strcmp(c->form->in[i].name, name) == 0)
            return c->pos[c->form->in[i].id] >= 0 && c->in[c->pos[c->form->in[i].id]].present
                       ? c->pos[c->form->in[i].id]
                       : -1;
    return -1;
}

/** Axes in any order, negative or not, each several times: which they are. */
static void add_axes(struct nnv_attribute_list *l, const char *whose, const double *axes, size_t n, uint32_t rank) {
    char text[NNV_MAX_RANK * 12] = "", *end = text;
    for (int d = 0; d < (int)rank; d++)
        for (size_t k = 0; k < n; k++) {
            if (nnv_axis((int32_t)axes[k], rank) != d) continue;
            end += snprintf(end, sizeof text - (size_t)(end - text), "%s%d", end > text ? "," : "", d);
            break;
        }
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
    }
}

/** How window, stride, dilation and image lie to each other along both axes. */
static void add_windows(struct nnv_attribute_list *l, const struct nnv_call *c, bool nchw) {
    static const char *const axis[] = {"height", "width"};
    const struct nnv_shape *x = &c->in[0].shape;
    const int filter = position_of(c, "filter");
    const struct nnv_shape *f = filter >= 0 ? &c->in[filter].shape : NULL;
    if (!nnv_shape_known(x) || x->rank != 4 || (f && (!nnv_shape_known(f) || f->rank != 4))) return;
    if (f) add_pair(l, "window", f->dims[1], f->dims[2]);
    if (f) nnv_add_number(l, "taps of the filter", FROM_SHAPE, (double)f->dims[1] * f->dims[2]);
    for (int i = 0; i < 2; i++) {
        const char *a = axis[i];
        const int32_t taps = f ? (int32_t)f->dims[1 + i] : named(c, i ? "filter width" : "filter height"),
                      stride = named(c, i ? "stride width" : "stride height"),
                      given = named(c, i ? "dilation width" : "dilation height"), dilation = given ? given : 1;
        const int32_t extent = (int32_t)x->dims[(nchw ? 2 : 1) + i], reach = (taps - 1) * dilation + 1;
        const bool same = named(c, "padding scheme") == ANEURALNETWORKS_PADDING_SAME;
        if (taps < 1 || stride < 1) continue;
        nnv_add_flag(l, NNV_NAME("the stride is above the window in %s", a), FROM_SHAPE, stride > taps, NULL);
        nnv_add_flag(l, NNV_NAME("the window is above the stride in %s", a), FROM_SHAPE, stride < taps, NULL);
        nnv_add_number(l, NNV_NAME("window %s - stride %s", a, a), FROM_SHAPE + 1, taps - stride);
        nnv_add_flag(l, NNV_NAME("the window is larger than the image in %s", a), FROM_SHAPE, reach > extent, NULL);
        nnv_add_number(l, NNV_NAME("%s of input - %s of the dilated window", a, a), FROM_SHAPE + 2, extent - reach);
        nnv_add_flag(l, NNV_NAME("the %s is no multiple of the stride", a), FROM_SHAPE, extent % stride != 0,
                     NNV_NAME("the %s is a multiple of the stride", a));
        if (!same) continue;
        const int32_t steps = (extent + stride - 1) / stride, pad = (steps - 1) * stride + reach - extent;
        nnv_add_flag(l, NNV_NAME("SAME pads the %s unevenly", a), FROM_SHAPE, pad > 0 && pad % 2 == 1,
                     NNV_NAME("SAME pads the %s evenly", a));
        nnv_add_flag(l, NNV_NAME("SAME pads no %s", a), FROM_SHAPE + 1, pad <= 0, NNV_NAME("SAME pads the %s", a));
    }
}
void nnv_add_geometry(struct nnv_attribute_list *l, const struct nnv_call *c, bool nchw) {
    add_pairs(l, c);
    if (c->nin == 0 || !c->in[0].present) return;
    add_along(l, c);
    add_windows(l, c, nchw);
}
