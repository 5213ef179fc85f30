/* SPDX-License-Identifier: Apache-2.0 */
/** @file windows.c Changes of filters, windows and their padding. */
#include <string.h>

#include "reference/faults/faults.h"

enum { MOST_WEIGHTS = 1 << 22 }; /* of a filter that takes in all groups */

/** A filter [outer, height, width, inner] as stored numbers. */
struct filter {
    int pos;
    uint32_t dims[4];
    double *v;
    size_t n;
    double zero;
};

static bool take_filter(struct nnv_edit *e, struct filter *f) {
    f->pos = nnv_edit_find(e, "filter");
    if (f->pos < 0 || !nnv_is_constant(nnv_edit_operand(e, f->pos))) return false;
    const struct nnv_operand *o = nnv_edit_operand(e, f->pos);
    f->v = nnv_edit_numbers(e, f->pos, &f->n);
    if (!f->v || o->rank != 4) return false;
    memcpy(f->dims, o->dims, sizeof f->dims);
    f->zero = o->zero_point;
    return f->n == (size_t)f->dims[0] * f->dims[1] * f->dims[2] * f->dims[3] && f->n > 0;
}

static size_t tap(const uint32_t dims[4], uint32_t o, uint32_t h, uint32_t w) {
    return (((size_t)o * dims[1] + h) * dims[2] + w) * dims[3];
}

static int32_t number(struct nnv_edit *e, const char *name, int32_t dflt) {
    int pos = nnv_edit_find(e, name);
    size_t n;
    const double *v = pos < 0 ? NULL : nnv_edit_numbers(e, pos, &n);
    return v && n == 1 ? (int32_t)*v : dflt;
}

/** Puts the taps into a filter of the extents dims: so far apart, or (flip) the last one first. */
static void spread(struct nnv_edit *e, const struct filter *f, const uint32_t dims[4], uint32_t high, uint32_t wide,
                   bool flip) {
    size_t n = (size_t)dims[0] * dims[1] * dims[2] * dims[3];
    double *v = NNV_NEW(e->arena, double, n);
    e->failed = e->failed || !v;
    for (size_t i = 0; v && i < n; i++) v[i] = f->zero;
    for (uint32_t o = 0; v && o < dims[0]; o++)
        for (uint32_t h = 0; h < f->dims[1]; h++)
            for (uint32_t w = 0; w < f->dims[2]; w++)
                memcpy(v + tap(dims, o, flip ? dims[1] - 1 - h : h * high, flip ? dims[2] - 1 - w : w * wide),
                       f->v + tap(f->dims, o, h, w), dims[3] * sizeof *v);
    if (v) nnv_edit_reshape(e, f->pos, 4, dims, v);
}

/** The taps lie so far apart where the window of the dilated filter begins, as a filter without dilation. */
static bool place_taps(struct nnv_edit *e, const struct nnv_fault *fault, struct filter *f, int32_t high,
                       int32_t wide) {
    const int32_t dh = number(e, "dilation height", 1), dw = number(e, "dilation width", 1);
    if ((dh <= 1 && dw <= 1) || high < 1 || wide < 1 || high > dh || wide > dw || dh > 4096 || dw > 4096) return false;
    const uint32_t dims[4] = {f->dims[0], (f->dims[1] - 1) * (uint32_t)dh + 1, (f->dims[2] - 1) * (uint32_t)dw + 1,
                              f->dims[3]};
    const bool lower = dims[1] > (f->dims[1] - 1) * (uint32_t)high + 1,
               narrower = dims[2] > (f->dims[2] - 1) * (uint32_t)wide + 1;
    if ((!lower && !narrower) || dims[1] > 4096 || dims[2] > 4096) return false;
    spread(e, f, dims, (uint32_t)high, (uint32_t)wide, false);
    return nnv_change_numbers(e, fault);
}

bool nnv_change_dense_taps(struct nnv_edit *e, const struct nnv_fault *fault) {
    struct filter f;
    return take_filter(e, &f) && place_taps(e, fault, &f, 1, 1);
}

bool nnv_change_crossed_taps(struct nnv_edit *e, const struct nnv_fault *fault) {
    struct filter f;
    const int32_t dh = number(e, "dilation height", 1), dw = number(e, "dilation width", 1);
    const int32_t apart = fault->other == 0 ? dw : dh;
    return take_filter(e, &f) && place_taps(e, fault, &f, apart, apart);
}

bool nnv_change_flip(struct nnv_edit *e, const struct nnv_fault *fault) {
    struct filter f;
    (void)fault;
    if (!take_filter(e, &f) || (f.dims[1] == 1 && f.dims[2] == 1)) return false;
    spread(e, &f, f.dims, 1, 1, true);
    return true;
}

bool nnv_change_transpose_filter(struct nnv_edit *e, const struct nnv_fault *fault) {
    struct filter f;
    (void)fault;
    if (!take_filter(e, &f) || f.dims[1] != f.dims[2] || f.dims[1] == 1) return false;
    double *v = NNV_NEW(e->arena, double, f.n);
    if (!v) return false;
    for (uint32_t o = 0; o < f.dims[0]; o++)
        for (uint32_t h = 0; h < f.dims[1]; h++)
            for (uint32_t w = 0; w < f.dims[2]; w++)
                memcpy(v + tap(f.dims, o, w, h), f.v + tap(f.dims, o, h, w), f.dims[3] * sizeof *v);
    nnv_edit_set_numbers(e, f.pos, v, f.n);
    return true;
}

/** Weights that lie multiplier by multiplier are read channel by channel. */
bool nnv_change_channel_order(struct nnv_edit *e, const struct nnv_fault *fault) {
    struct filter f;
    (void)fault;
    uint32_t mult = (uint32_t)number(e, "multiplier", 1);
    if (mult < 2 || !take_filter(e, &f) || f.dims[3] % mult != 0 || f.dims[3] / mult < 2) return false;
    uint32_t channels = f.dims[3] / mult;
    double *v = NNV_NEW(e->arena, double, f.n);
    if (!v) return false;
    for (size_t t = 0; t < f.n; t += f.dims[3])
        for (uint32_t c = 0; c < channels; c++)
            for (uint32_t r = 0; r < mult; r++) v[t + c * mult + r] = f.v[t + r * channels + c];
    nnv_edit_set_numbers(e, f.pos, v, f.n);
    return true;
}

/** One product for all groups: weights outside a group's own block are the stored number value, not the zero point. */
bool nnv_change_groups_leak(struct nnv_edit *e, const struct nnv_fault *fault) {
    struct filter f;
    const int at = nnv_edit_find(e, "groups");
    const int32_t groups = number(e, "groups", 1);
    if (groups < 2 || !take_filter(e, &f) || f.dims[0] % (uint32_t)groups != 0) return false;
    const struct nnv_operand *o = nnv_edit_operand(e, f.pos);
    const struct nnv_type *t = nnv_type(o->type);
    size_t n;
    if (!nnv_is_quant(o->type) || o->channel.count || fault->value < t->min || fault->value > t->max ||
        (double)o->zero_point == fault->value || __builtin_mul_overflow(f.n, (size_t)groups, &n) || n > MOST_WEIGHTS)
        return false;
    const uint32_t own = f.dims[3], dims[4] = {f.dims[0], f.dims[1], f.dims[2], own * (uint32_t)groups};
    double *v = NNV_NEW(e->arena, double, n);
    if (!v) return false;
    for (size_t i = 0; i < n; i++) v[i] = fault->value;
    for (uint32_t k = 0; k < dims[0]; k++)
        for (uint32_t h = 0; h < dims[1]; h++)
            for (uint32_t w = 0; w < dims[2]; w++)
                memcpy(v + tap(dims, k, h, w) + k / (dims[0] / (uint32_t)groups) * own, f.v + tap(f.dims, k, h, w),
                       own * sizeof *v);
    nnv_edit_reshape(e, f.pos, 4, dims, v);
    nnv_edit_replace(e, at, dims, 0);
    nnv_edit_op(e)->type = ANEURALNETWORKS_CONV_2D;
    return true;
}

/* -------------------------------------------------------------------- padding */

/** Height and width of the window: its padding at [top, bottom] and [left, right]. */
struct pads {
    int32_t side[2][2];
    bool nchw;
};

/** What an implied padding cuts off the results of a transposed convolution along axis i. */
static bool take_cut(struct nnv_edit *e, int i, uint32_t taps, int32_t stride, struct pads *p) {
    const uint32_t axis = (p->nchw ? 2 : 1) + (uint32_t)i;
    const struct nnv_shape *y = &e->call->out[0].shape;
    if (!nnv_shape_known(y) || y->rank != 4) return false;
    const int64_t cut = ((int64_t)nnv_dim(&e->call->in[0].shape, axis) - 1) * stride + taps - y->dims[axis];
    p->side[i][0] = cut > 0 ? (int32_t)(cut / 2) : 0;
    p->side[i][1] = (int32_t)(cut - p->side[i][0]);
    return true;
}

/** How far the taps are apart for which padding is worked out. */
enum apart { SIDE_BY_SIDE, DILATED, DILATED_LIKE_OTHER };

/** Finds the padding, explicit or implied by the scheme. */
static bool take_pads(struct nnv_edit *e, enum apart by, struct pads *p) {
    static const char *const given[2][2] = {{"padding top", "padding bottom"}, {"padding left", "padding right"}};
    static const char *const extent[] = {"filter height", "filter width"}, *const stride[] = {"stride height",
                                                                                              "stride width"};
    static const char *const dilation[] = {"dilation height", "dilation width"};
    const struct nnv_shape *x = &e->call->in[0].shape;
    int filter = nnv_edit_find(e, "filter"), scheme = nnv_edit_find(e, "padding scheme");
    p->nchw = number(e, "nchw", 0) != 0;
    if (x->rank != 4) return false;
    for (int i = 0; i < 2; i++) {
        p->side[i][0] = number(e, given[i][0], 0);
        p->side[i][1] = number(e, given[i][1], 0);
        if (scheme < 0) continue;
        uint32_t taps =
            filter >= 0 ? nnv_dim(&e->call->in[filter].shape, 1 + (uint32_t)i) : (uint32_t)number(e, extent[i], 1);
        const int32_t step = number(e, stride[i], 1),
                      apart = by == SIDE_BY_SIDE ? 1 : number(e, dilation[by == DILATED ? i : 1 - i], 1);
        struct nnv_window w;
        struct nnv_err err = {0};
        if (nnv_edit_find(e, "output shape") >= 0) {
            if (!take_cut(e, i, taps, step, p)) return false;
            continue;
        }
        if (nnv_window(x->dims[(p->nchw ? 2 : 1) + i], taps, step, apart, number(e, "padding scheme", 0), &w, &err) !=
            NNV_OK)
            return false;
        p->side[i][0] = w.head;
        p->side[i][1] = w.tail;
    }
    return true;
}

/** Puts explicit padding in the place of the scheme, or of explicit padding. */
static void put_pads(struct nnv_edit *e, int32_t left, int32_t right, int32_t top, int32_t bottom) {
    const int32_t pad[] = {left, right, top, bottom};
    int scheme = nnv_edit_find(e, "padding scheme"), at = nnv_edit_find(e, "padding left"),
        shape = nnv_edit_find(e, "output shape");
    uint32_t in[4];
    for (int i = 0; i < 4; i++) in[i] = nnv_edit_add_int(e, pad[i]);
    if (scheme >= 0) nnv_edit_replace(e, scheme, in, 4);
    if (shape >= 0) nnv_edit_replace(e, shape, in, 0); /* before the scheme, and only beside it */
    if (scheme < 0)
        for (int i = 0; i < 4; i++) nnv_edit_op(e)->in[at + i] = in[i];
}

bool nnv_change_odd_first(struct nnv_edit *e, const struct nnv_fault *fault) {
    struct pads p;
    (void)fault;
    if (nnv_edit_find(e, "padding scheme") < 0 || !take_pads(e, DILATED, &p)) return false;
    if (p.side[0][0] == p.side[0][1] && p.side[1][0] == p.side[1][1]) return false;
    put_pads(e, p.side[1][1], p.side[1][0], p.side[0][1], p.side[0][0]);
    return true;
}

/** SAME is worked out from the filter without its dilation: it pads less before, and as many results need more behind.
 */
bool nnv_change_undilated_padding(struct nnv_edit *e, const struct nnv_fault *fault) {
    struct pads right, p;
    (void)fault;
    if (number(e, "padding scheme", 0) != ANEURALNETWORKS_PADDING_SAME || !take_pads(e, DILATED, &right) ||
        !take_pads(e, SIDE_BY_SIDE, &p))
        return false;
    for (int i = 0; i < 2; i++) p.side[i][1] = right.side[i][0] + right.side[i][1] - p.side[i][0];
    if (memcmp(p.side, right.side, sizeof p.side) == 0) return false;
    put_pads(e, p.side[1][0], p.side[1][1], p.side[0][0], p.side[0][1]);
    return true;
}

bool nnv_change_crossed_padding(struct nnv_edit *e, const struct nnv_fault *fault) {
    struct pads right, p;
    if (number(e, "padding scheme", 0) != ANEURALNETWORKS_PADDING_SAME || !take_pads(e, DILATED, &right) ||
        !take_pads(e, DILATED_LIKE_OTHER, &p))
        return false;
    for (int i = 0; i < 2; i++) {
        const int32_t all = right.side[i][0] + right.side[i][1];
        if ((double)(1 - i) == fault->value) p.side[i][0] = right.side[i][0];
        p.side[i][1] = all > p.side[i][0] ? all - p.side[i][0] : 0; /* there are as many results */
    }
    if (memcmp(p.side, right.side, sizeof p.side) == 0) return false;
    put_pads(e, p.side[1][0], p.side[1][1], p.side[0][0], p.side[0][1]);
    return true;
}

/**
 * Padding begins elsewhere, and there are as many results: what it lacks before stands behind. f->value: a
 * nnv_fault_heads.
 */
bool nnv_change_heads(struct nnv_edit *e, const struct nnv_fault *fault) {
    struct pads right, p;
    const enum nnv_fault_heads as = (enum nnv_fault_heads)fault->value;
    if (!take_pads(e, DILATED, &right)) return false;
    p = right;
    for (int i = 0; i < 2; i++) {
        const int32_t before = right.side[i][0], behind = right.side[i][1];
        int32_t head = 0;
        switch (as) {
        case NNV_HEADS_SWAPPED:
            head = right.side[1 - i][0];
            break;
        case NNV_HEADS_LEFT:
        case NNV_HEADS_TOP:
            head = i == (as == NNV_HEADS_LEFT) ? right.side[1 - i][0] : before;
            break;
        case NNV_HEADS_FROM_TAILS:
            head = behind;
            break;
        case NNV_HEADS_NONE:
            break;
        case NNV_HEADS_ALL:
            head = before + behind;
            break;
        case NNV_HEADS_LESS:
            head = before > 0 ? before - 1 : 0;
            break;
        case NNV_HEADS_MORE:
            head = behind > 0 ? before + 1 : before;
            break;
        }
        p.side[i][0] = head;
        p.side[i][1] = before + behind - head;
        if (p.side[i][1] < 0) p.side[i][1] = 0; /* if there are as many results nevertheless */
    }
    if (memcmp(p.side, right.side, sizeof p.side) == 0) return false;
    put_pads(e, p.side[1][0], p.side[1][1], p.side[0][0], p.side[0][1]);
    return true;
}

bool nnv_change_pad_first(struct nnv_edit *e, const struct nnv_fault *fault) {
    struct pads p;
    if (!take_pads(e, DILATED, &p) || (!p.side[0][0] && !p.side[0][1] && !p.side[1][0] && !p.side[1][1])) return false;
    const struct nnv_operand *x = nnv_edit_operand(e, 0);
    bool stored = fault->value != 0;
    if (stored && (!nnv_is_quant(x->type) || x->zero_point == 0)) return false;
    int32_t *pad = NNV_NEW(e->arena, int32_t, 8);
    uint32_t h = p.nchw ? 2 : 1, eight[] = {4, 2}, more[2];
    uint32_t *dims = nnv_arena_copy(e->arena, eight, sizeof eight);
    struct nnv_shape padded = e->call->in[0].shape;
    if (!pad || !dims) return false;
    for (uint32_t i = 0; i < 4; i++) {
        pad[2 * h + i] = p.side[i / 2][i % 2];
        padded.dims[h + i / 2] += (uint32_t)p.side[i / 2][i % 2];
    }
    more[0] = nnv_edit_add(e, (struct nnv_operand){.type = ANEURALNETWORKS_TENSOR_INT32,
                                                   .rank = 2,
                                                   .dims = dims,
                                                   .lifetime = NNV_CONSTANT_COPY,
                                                   .data = pad,
                                                   .bytes = 8 * sizeof *pad});
    put_pads(e, 0, 0, 0, 0);
    if (stored) more[1] = nnv_edit_add_int(e, 0);
    nnv_edit_insert(e, stored ? ANEURALNETWORKS_PAD_V2 : ANEURALNETWORKS_PAD, more, stored ? 2 : 1, &padded);
    return true;
}
