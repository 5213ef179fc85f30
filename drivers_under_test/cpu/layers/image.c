/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include "ops/move.h"

struct cpu_image cpu_image_of(const struct cpu_shape *s, bool nchw) {
    if (nchw) return (struct cpu_image){s->dims[0], s->dims[2], s->dims[3], s->dims[1]};
    return (struct cpu_image){s->dims[0], s->dims[1], s->dims[2], s->dims[3]};
}

struct cpu_shape cpu_image_shape(struct cpu_image image, bool nchw) {
    if (nchw) return (struct cpu_shape){4, {image.n, image.c, image.h, image.w}};
    return (struct cpu_shape){4, {image.n, image.h, image.w, image.c}};
}

/** n matrices [rows, cols] to [cols, rows], of values of t's type. */
static void transpose(struct cpu_run *run, const struct cpu_tensor *t, size_t n, size_t rows, size_t cols,
                      const void *from, void *to) {
    struct cpu_move m = cpu_move_of(t);
    cpu_move_axis(&m, n, (ptrdiff_t)(rows * cols), (ptrdiff_t)(rows * cols));
    cpu_move_axis(&m, cols, 1, (ptrdiff_t)rows);
    cpu_move_axis(&m, rows, (ptrdiff_t)cols, 1);
    cpu_move_run(run->threads, &m, from, to);
}

const void *cpu_image_in(struct cpu_run *run, const struct cpu_tensor *t, bool nchw) {
    if (!nchw) return t->data;
    const struct cpu_image m = cpu_image_of(&t->shape, true);
    void *copy = cpu_scratch(run, cpu_count(t) * cpu_element(t->type));
    if (copy) transpose(run, t, m.n, m.c, (size_t)m.h * m.w, t->data, copy);
    return copy;
}

void *cpu_image_out(struct cpu_run *run, const struct cpu_tensor *out, bool nchw) {
    return nchw ? cpu_scratch(run, cpu_count(out) * cpu_element(out->type)) : out->data;
}

void cpu_image_done(struct cpu_run *run, const struct cpu_tensor *out, bool nchw, const void *data) {
    const struct cpu_image m = cpu_image_of(&out->shape, true);
    if (nchw) transpose(run, out, m.n, (size_t)m.h * m.w, m.c, data, out->data);
}

/* -------------------------------------------------------------------- windows */

static bool window_values_ok(const struct cpu_window *w) {
    return w->left >= 0 && w->top >= 0 && w->stride_w >= 1 && w->stride_h >= 1 && w->dilation_w >= 1 &&
           w->dilation_h >= 1 && w->activation >= ANEURALNETWORKS_FUSED_NONE &&
           w->activation <= ANEURALNETWORKS_FUSED_RELU6 && w->scheme >= 0 && w->scheme <= ANEURALNETWORKS_PADDING_VALID;
}

bool cpu_window_read(const struct cpu_call *c, uint32_t first, uint32_t extra, int32_t *more, struct cpu_window *w) {
    const bool explicit_padding = c->node->form == 1;
    uint32_t i = first;
    *w = (struct cpu_window){0};
    if (explicit_padding) {
        w->left = cpu_int(c, i++, 0);
        w->right = cpu_int(c, i++, 0);
        w->top = cpu_int(c, i++, 0);
        w->bottom = cpu_int(c, i++, 0);
    } else {
        w->scheme = cpu_int(c, i++, ANEURALNETWORKS_PADDING_SAME);
        if (w->scheme == 0) return false;
    }
    w->stride_w = cpu_int(c, i++, 1);
    w->stride_h = cpu_int(c, i++, 1);
    for (uint32_t e = 0; e < extra; e++) more[e] = cpu_int(c, i++, 1);
    w->activation = cpu_int(c, i++, ANEURALNETWORKS_FUSED_NONE);
    w->nchw = cpu_int(c, i++, 0) != 0;
    w->dilation_w = cpu_int(c, i++, 1);
    w->dilation_h = cpu_int(c, i++, 1);
    if (c->node->code != ANEURALNETWORKS_TRANSPOSE_CONV_2D && (w->right < 0 || w->bottom < 0))
        return false; /* there a tail may add cells */
    return window_values_ok(w);
}

/** One dimension; head and tail are given, or settled here. */
static bool apply(int32_t scheme, uint32_t in, uint32_t filter, int32_t stride, int32_t dilation, int32_t *head,
                  int32_t *tail, uint32_t *out) {
    if (filter == 0) return false;
    *out = CPU_UNKNOWN;
    if (filter == CPU_UNKNOWN) return true;
    const int64_t effective = ((int64_t)filter - 1) * dilation + 1;
    if (*head >= effective || *tail >= effective) return false;
    if (in == CPU_UNKNOWN) return true;
    if (in == 0) return false;
    int64_t count;
    if (scheme == ANEURALNETWORKS_PADDING_SAME) {
        count = ((int64_t)in + stride - 1) / stride;
        int64_t total = (count - 1) * stride + effective - in;
        if (total < 0) total = 0;
        if (total > INT32_MAX) return false;
        *head = (int32_t)(total / 2);
        *tail = (int32_t)(total - total / 2);
    } else {
        const int64_t room = (int64_t)in - effective + *head + *tail;
        if (room < 0) return false;
        count = room / stride + 1;
    }
    *out = (uint32_t)count;
    return true;
}

bool cpu_window_apply(struct cpu_window *w, struct cpu_image in, uint32_t *out_h, uint32_t *out_w) {
    return apply(w->scheme, in.h, w->filter_h, w->stride_h, w->dilation_h, &w->top, &w->bottom, out_h) &&
           apply(w->scheme, in.w, w->filter_w, w->stride_w, w->dilation_w, &w->left, &w->right, out_w);
}

struct cpu_span cpu_window_span(int64_t at, uint32_t filter, int32_t dilation, uint32_t extent) {
    const int64_t first = at < 0 ? (-at + dilation - 1) / dilation : 0;
    const int64_t last = extent > at ? ((int64_t)extent - 1 - at) / dilation : -1; /* the last tap inside */
    const int64_t end = last + 1 < filter ? last + 1 : filter;
    if (first >= end) return (struct cpu_span){0, 0};
    return (struct cpu_span){(uint32_t)first, (uint32_t)(end - first)};
}

const struct cpu_span *cpu_window_columns(struct cpu_run *run, const struct cpu_window *w, uint32_t in_w,
                                          uint32_t out_w) {
    struct cpu_span *spans = cpu_scratch(run, out_w * sizeof *spans);
    for (uint32_t i = 0; spans && i < out_w; i++)
        spans[i] = cpu_window_span((int64_t)i * w->stride_w - w->left, w->filter_w, w->dilation_w, in_w);
    return spans;
}
