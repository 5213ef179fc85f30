/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: operators that move elements. */
#include <string.h>

#include "compiler/relay/interp/interp_kernel.h"

void nnv_interp_transpose(struct nnv_interp_op *op) {
    const struct nnv_relay_type *x = op->in[0]->type;
    int64_t axes[NNV_RELAY_RANK], own[NNV_RELAY_RANK], strides[NNV_RELAY_RANK];
    size_t n = 0, at;
    bool given = nnv_relay_ints(&op->t, "axes", axes, NNV_RELAY_RANK, &n) && n > 0;
    nnv_interp_strides(x, own);
    for (size_t i = 0; i < x->n_dims; i++) {
        at = x->n_dims - 1 - i;
        if (given && !nnv_relay_axis(&op->t, "axes", axes[i], x->n_dims, &at)) return;
        strides[i] = own[at];
    }
    nnv_interp_pick(op->in[0]->values, x->n_dims, op->out->type->dims, strides, op->out->values);
}

/* -------------------------------------------------------- joining, splitting */

/* Copies a piece of `extent` places along an axis: from or to the whole, from its place `begin` on. */
static void copy_piece(double *whole, const struct nnv_interp_axis *a, size_t begin, double *piece, size_t extent,
                       bool out_of_whole) {
    size_t run = extent * a->inner;
    for (size_t o = 0; o < a->outer; o++) {
        double *in = whole + (o * a->extent + begin) * a->inner, *at = piece + o * run;
        if (run) memcpy(out_of_whole ? at : in, out_of_whole ? in : at, run * sizeof *at);
    }
}

void nnv_interp_concatenate(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    size_t begin = 0;
    if (!nnv_interp_axis_of(op, op->out->type, "axis", 0, &a)) return;
    for (size_t i = 0; i < op->in[0]->n_fields; i++) {
        struct nnv_relay_datum *f = op->in[0]->fields[i];
        size_t extent = (size_t)f->type->dims[a.at];
        copy_piece(op->out->values, &a, begin, f->values, extent, false);
        begin += extent;
    }
}

void nnv_interp_stack(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    if (!nnv_interp_axis_of(op, op->out->type, "axis", 0, &a)) return;
    for (size_t i = 0; i < op->in[0]->n_fields; i++)
        copy_piece(op->out->values, &a, i, op->in[0]->fields[i]->values, 1, false);
}

void nnv_interp_split(struct nnv_interp_op *op) {
    struct nnv_interp_axis a;
    size_t begin = 0;
    if (!nnv_interp_axis_of(op, op->in[0]->type, "axis", 0, &a)) return;
    for (size_t i = 0; i < op->out->n_fields; i++) {
        struct nnv_relay_datum *f = op->out->fields[i];
        size_t extent = (size_t)f->type->dims[a.at];
        copy_piece(op->in[0]->values, &a, begin, f->values, extent, true);
        begin += extent;
    }
}

/* ------------------------------------------------------------ slices, padding */

static int64_t within(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

void nnv_interp_slice(struct nnv_interp_op *op) {
    const struct nnv_relay_type *x = op->in[0]->type;
    int64_t begin[NNV_RELAY_RANK], step[NNV_RELAY_RANK] = {1}, axes[NNV_RELAY_RANK], strides[NNV_RELAY_RANK];
    size_t n = 0, n_step = 0, n_axes = 0, at;
    nnv_relay_ints(&op->t, "begin", begin, NNV_RELAY_RANK, &n);
    if (!nnv_relay_ints(&op->t, "strides", step, NNV_RELAY_RANK, &n_step)) n_step = 0;
    bool given = nnv_relay_ints(&op->t, "axes", axes, NNV_RELAY_RANK, &n_axes);
    bool sizes = strcmp(nnv_relay_text(&op->t, "slice_mode", "end"), "size") == 0;
    const double *from = op->in[0]->values;
    if (op->out->n == 0) return;
    nnv_interp_strides(x, strides);
    for (size_t i = 0; i < n; i++) {
        int64_t by = sizes ? 1 : i < n_step ? step[i] : n_step == 1 ? step[0] : 1;
        at = i;
        if (given && !nnv_relay_axis(&op->t, "axes", axes[i], x->n_dims, &at)) return;
        int64_t extent = x->dims[at], low = by < 0 ? -1 : 0, high = by < 0 ? extent - 1 : extent;
        from += strides[at] * within(begin[i] < 0 ? begin[i] + extent : begin[i], low, high);
        strides[at] = by > extent ? 0 : strides[at] * by; /* a step beyond the end is never taken */
    }
    nnv_interp_pick(from, x->n_dims, op->out->type->dims, strides, op->out->values);
}

/* The place in the operand of place i of the result, along a dimension; -1: outside. */
static int64_t source(const char *mode, int64_t i, int64_t before, int64_t extent) {
    i -= before;
    if (i >= 0 && i < extent) return i;
    if (strcmp(mode, "edge") == 0) return i < 0 ? 0 : extent - 1;
    if (strcmp(mode, "constant") == 0) return -1;
    int64_t twice = strcmp(mode, "symmetric") == 0;
    for (;;) { /* mirrored at both ends, with the last element twice if it is symmetric */
        if (i < 0)
            i = -i - twice;
        else if (i >= extent)
            i = 2 * (extent - 1) - i + twice;
        else
            return i;
    }
}

static void pad(struct nnv_interp_op *op, const char *mode, double value) {
    const struct nnv_relay_type *x = op->in[0]->type, *y = op->out->type;
    const struct nnv_relay_value *width = nnv_relay_attr(op->t.call, "pad_width");
    int64_t strides[NNV_RELAY_RANK], index[NNV_RELAY_RANK] = {0};
    nnv_interp_strides(x, strides);
    for (size_t d = 0; d < x->n_dims; d++)
        if (strcmp(mode, "constant") != 0 && y->dims[d] != x->dims[d] &&
            x->dims[d] < (strcmp(mode, "reflect") == 0 ? 2 : 1)) {
            nnv_relay_wrong(&op->t, "dimension %zu is too small to be padded by its own elements", d);
            return;
        }
    for (size_t i = 0; i < op->out->n; i++) {
        int64_t offset = 0;
        for (size_t d = 0; d < x->n_dims && offset >= 0; d++) {
            int64_t at = source(mode, index[d], width->list[d].list[0].i, x->dims[d]);
            offset = at < 0 ? -1 : offset + at * strides[d];
        }
        op->out->values[i] = offset < 0 ? value : op->in[0]->values[offset];
        for (size_t d = x->n_dims; d-- > 0 && ++index[d] == y->dims[d];) index[d] = 0;
    }
    nnv_interp_wrap_all(op);
}

void nnv_interp_pad(struct nnv_interp_op *op) {
    const char *mode = nnv_relay_text(&op->t, "pad_mode", "constant");
    double value = op->n_in == 2 && op->in[1]->n == 1 ? op->in[1]->values[0] : 0;
    if (strcmp(mode, "constant") == 0 || strcmp(mode, "edge") == 0 || strcmp(mode, "reflect") == 0)
        pad(op, mode, value);
    else
        nnv_relay_wrong(&op->t, "pad_mode must be constant, edge or reflect");
}

void nnv_interp_mirror_pad(struct nnv_interp_op *op) {
    const char *mode = nnv_relay_text(&op->t, "mode", "SYMMETRIC");
    if (strcmp(mode, "SYMMETRIC") == 0 || strcmp(mode, "REFLECT") == 0)
        pad(op, *mode == 'S' ? "symmetric" : "reflect", 0);
    else
        nnv_relay_wrong(&op->t, "mode must be SYMMETRIC or REFLECT");
}
