/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, and the windows that they share with pools. */
#include <string.h>

#include "mlts/onnx/ox.h"

/* -------------------------------------------------------------------- windows */

/** A list of one entry for each axis of the image; of one axis it is the second. */
static void read_axes(struct nnv_cv *c, const char *name, uint32_t axes, uint32_t *to) {
    uint32_t n;
    const int64_t *v = nnv_ox_list(c, name, &n);
    to[0] = to[1] = 1;
    if (v && n != axes) nnv_cv_fail(c, "%s has %u entries", name, n);
    for (uint32_t i = 0; v && i < n && nnv_cv_ok(c); i++) {
        if (v[i] < 1 || v[i] > INT16_MAX) nnv_cv_fail(c, "%s holds %lld", name, (long long)v[i]);
        to[2 - axes + i] = (uint32_t)v[i];
    }
}

/** Output extent of axis i; what auto_pad says becomes pads. */
static void fit(struct nnv_cv *c, struct nnv_ox_window *w, uint32_t i, const char *automatic) {
    const int64_t n = w->in[i], s = w->stride[i], k = (int64_t)(w->kernel[i] - 1) * w->dilation[i] + 1;
    if (strncmp(automatic, "SAME", 4) == 0) {
        const int64_t out = (n + s - 1) / s, all = (out - 1) * s + k - n, pads = all > 0 ? all : 0;
        w->before[i] = strcmp(automatic, "SAME_LOWER") == 0 ? pads - pads / 2 : pads / 2;
        w->after[i] = pads - w->before[i];
    }
    const int64_t room = n + w->before[i] + w->after[i] - k;
    if (room < 0) {
        nnv_cv_fail(c, "a window of %lld does not fit", (long long)k);
        return;
    }
    int64_t out = room / s + 1;
    if (w->ceiling && room % s != 0 && out * s < n + w->before[i]) out++; /* unless it would begin behind the image */
    w->out[i] = (uint32_t)out;
}

bool nnv_ox_window_of(struct nnv_cv *c, const struct nnv_ox_value *x, const uint32_t *kernel, bool ceiling,
                      struct nnv_ox_window *w) {
    const uint32_t axes = x->rank < 2 ? 0 : x->rank - 2;
    const char *automatic = nnv_ox_string(c, "auto_pad", "NOTSET");
    uint32_t n;
    const int64_t *pads = nnv_ox_list(c, "pads", &n);
    *w = (struct nnv_ox_window){.kernel = {1, 1}, .in = {1, 1}, .ceiling = ceiling};
    if (axes != 1 && axes != 2) {
        nnv_cv_refuse(c, " over %u axes", axes);
        return false;
    }
    read_axes(c, "strides", axes, w->stride);
    read_axes(c, "dilations", axes, w->dilation);
    if (pads && n != 2 * axes) nnv_cv_fail(c, "pads has %u entries", n);
    if (!strstr("NOTSET VALID SAME_UPPER SAME_LOWER", automatic) || !*automatic)
        nnv_cv_fail(c, "auto_pad is '%.20s'", automatic);
    for (uint32_t i = 0; i < axes && nnv_cv_ok(c); i++) {
        const uint32_t to = 2 - axes + i;
        w->kernel[to] = kernel[i];
        w->in[to] = x->dims[2 + i];
        if (pads && strcmp(automatic, "NOTSET") == 0) {
            w->before[to] = pads[i];
            w->after[to] = pads[axes + i];
        }
        if (w->before[to] < 0 || w->before[to] > INT16_MAX || w->after[to] < 0 || w->after[to] > INT16_MAX)
            nnv_cv_refuse(c, " with pads of %lld and %lld", (long long)w->before[to], (long long)w->after[to]);
    }
    for (uint32_t i = 0; i < 2 && nnv_cv_ok(c); i++) fit(c, w, i, automatic);
    return nnv_cv_ok(c);
}

uint32_t nnv_ox_image(struct nnv_cv *c, uint32_t i) {
    const struct nnv_ox_value v = *nnv_ox_value(c, i);
    const uint32_t dims[] = {v.dims[0], v.dims[1], v.rank == 4 ? v.dims[2] : 1, v.dims[v.rank == 4 ? 3 : 2]};
    return nnv_ox_in_shape(c, i, 4, dims);
}

void nnv_ox_window_inputs(struct nnv_cv *c, const struct nnv_ox_window *w, uint32_t *in, uint32_t *n) {
    /* NNAPI counts width first, and the last window must fit exactly or be cut off. */
    for (uint32_t i = 2; i-- > 0;) {
        const int64_t k = (int64_t)(w->kernel[i] - 1) * w->dilation[i] + 1;
        const int64_t need = (int64_t)(w->out[i] - 1) * w->stride[i] + k - w->in[i] - w->before[i];
        in[(*n)++] = nnv_builder_int(&c->b, (int32_t)w->before[i]);
        in[(*n)++] = nnv_builder_int(&c->b, (int32_t)(need > w->after[i] ? need : w->after[i]));
    }
    for (uint32_t i = 2; i-- > 0;) in[(*n)++] = nnv_builder_int(&c->b, (int32_t)w->stride[i]);
}

/* ----------------------------------------------------------------------- filters */

/** Zeros between the entries of an axis (1 or 2) of [A, H, W, B]. */
static uint32_t spread(struct nnv_cv *c, uint32_t f, uint32_t axis, uint32_t by) {
    if (by == 1 || !nnv_cv_ok(c)) return f;
    uint32_t dims[4];
    memcpy(dims, nnv_cv_at(c, f)->dims, sizeof dims);
    const struct nnv_ox_value v = {.rank = 4, .dims = {dims[0], dims[1], dims[2], dims[3]}};
    uint32_t three[3];
    nnv_ox_around(&v, axis, three);
    const uint32_t n = three[1], apart[] = {three[0], n, 1, three[2]}, cells[8] = {[6] = by - 1};
    const uint32_t wide[] = {three[0], n * by, three[2]};
    f = nnv_ox_padded(c, nnv_cv_reshaped(c, f, 4, apart), cells,
                      nnv_cv_ok(c) && nnv_cv_is_quant(c, f) ? nnv_cv_at(c, f)->zero_point : 0);
    f = nnv_ox_part(c, nnv_cv_reshaped(c, f, 3, wide), 1, 0, (n - 1) * by + 1);
    dims[axis] = (n - 1) * by + 1;
    return nnv_cv_reshaped(c, f, 4, dims);
}

static uint32_t no_bias(struct nnv_cv *c, uint32_t x, uint32_t w, uint32_t n) {
    if (!nnv_cv_ok(c)) return 0;
    const struct nnv_operand *p = nnv_cv_at(c, x), *q = nnv_cv_at(c, w);
    const struct nnv_encoding of_quant = {ANEURALNETWORKS_TENSOR_INT32, p->scale * q->scale, 0},
                              plain = {p->type, 0, 0};
    return nnv_cv_filled(c, nnv_is_quant(p->type) ? of_quant : plain, 1, &n, 0);
}

/** A convolution of an image with filters [out, in / group, H, W]; bias 0: none. The result is encoded as e says. */
static uint32_t ox_convolved(struct nnv_cv *c, uint32_t x, uint32_t filters, uint32_t bias, uint32_t group,
                             const struct nnv_ox_window *window, struct nnv_encoding e) {
    static const uint32_t outputs_first[] = {0, 2, 3, 1}, outputs_last[] = {1, 2, 3, 0};
    struct nnv_ox_window w = *window;
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t channels = nnv_cv_at(c, x)->dims[1], outputs = nnv_cv_at(c, filters)->dims[0];
    const uint32_t inner = nnv_cv_at(c, filters)->dims[1];
    if (group < 1 || channels != inner * group || outputs % group) {
        nnv_cv_fail(c, "%u filters of depth %u in %u groups do not fit %u channels", outputs, inner, group, channels);
        return 0;
    }
    const bool depthwise = group > 1 && inner == 1, grouped = group > 1 && !depthwise;
    const struct nnv_channel_quant channel = nnv_cv_at(c, filters)->channel;
    uint32_t f = nnv_ox_transposed(c, filters, 4, depthwise ? outputs_last : outputs_first);
    if (channel.count && nnv_cv_ok(c)) {
        c->b.operand[f].channel = channel;
        c->b.operand[f].channel.dim = depthwise ? 3 : 0;
    }
    for (uint32_t i = 0; i < 2 && grouped; i++) { /* GROUPED_CONV_2D has no dilation */
        if (w.dilation[i] > 1 && channel.count) nnv_cv_refuse(c, " in groups with dilation and scales for channels");
        f = spread(c, f, 1 + i, w.dilation[i]);
        w.kernel[i] = (w.kernel[i] - 1) * w.dilation[i] + 1;
        w.dilation[i] = 1;
    }
    const uint32_t dims[] = {nnv_cv_at(c, x)->dims[0], outputs, w.out[0], w.out[1]}, y = nnv_cv_temp(c, e, 4, dims);
    uint32_t in[14] = {x, f, bias ? bias : no_bias(c, x, f, outputs)}, n = 3;
    nnv_ox_window_inputs(c, &w, in, &n);
    if (depthwise) in[n++] = nnv_builder_int(&c->b, (int32_t)(outputs / group));
    if (grouped) in[n++] = nnv_builder_int(&c->b, (int32_t)group);
    in[n++] = nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE);
    in[n++] = nnv_builder_bool(&c->b, true);
    if (w.dilation[0] > 1 || w.dilation[1] > 1)
        for (uint32_t i = 2; i-- > 0;) in[n++] = nnv_builder_int(&c->b, (int32_t)w.dilation[i]);
    nnv_cv_emit(c,
                depthwise ? ANEURALNETWORKS_DEPTHWISE_CONV_2D
                : grouped ? ANEURALNETWORKS_GROUPED_CONV_2D
                          : ANEURALNETWORKS_CONV_2D,
                n, in, y);
    return y;
}

/** kernel_shape, if it is there, says what the filters do. */
static bool kernel_of(struct nnv_cv *c, const struct nnv_ox_value *x, const struct nnv_ox_value *f, uint32_t *kernel) {
    uint32_t n;
    const int64_t *shape = nnv_ox_list(c, "kernel_shape", &n);
    if (x->rank < 3 || f->rank != x->rank) nnv_cv_fail(c, "filters of rank %u for rank %u", f->rank, x->rank);
    if (nnv_cv_ok(c) && x->rank > 4) nnv_cv_refuse(c, " over %u axes", x->rank - 2);
    for (uint32_t i = 2; i < f->rank && nnv_cv_ok(c); i++) {
        kernel[i - 2] = f->dims[i];
        if (shape && (n != f->rank - 2 || shape[i - 2] != f->dims[i]))
            nnv_cv_fail(c, "kernel_shape is not that of the filters");
        if (f->dims[i] == 0) nnv_cv_refuse(c, " with a tensor of no elements");
    }
    return nnv_cv_ok(c);
}

/** The shape of a result: [N, C, (H,) W]. */
static void give_image(struct nnv_cv *c, uint32_t y, int type, uint32_t rank) {
    if (!nnv_cv_ok(c)) return;
    const uint32_t *d = nnv_cv_at(c, y)->dims, line[] = {d[0], d[1], d[3]};
    nnv_ox_give(c, 0, y, type, rank, rank == 4 ? d : line);
}

static void convolution(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0), f = *nnv_ox_value(c, 1);
    const int64_t group = nnv_ox_int(c, "group", 1);
    uint32_t kernel[NNV_OX_RANK];
    struct nnv_ox_window w;
    if (!kernel_of(c, &v, &f, kernel) || !nnv_ox_window_of(c, &v, kernel, false, &w)) return;
    const uint32_t x = nnv_ox_image(c, 0), filters = nnv_ox_image(c, 1), bias = nnv_ox_has(c, 2) ? nnv_ox_in(c, 2) : 0;
    if (group < 1 || group > INT32_MAX) nnv_cv_fail(c, "%lld groups", (long long)group);
    if (!nnv_cv_ok(c)) return;
    give_image(c, ox_convolved(c, x, filters, bias, (uint32_t)group, &w, nnv_builder_encoding(&c->b, x)), v.type,
               v.rank);
}

/* --------------------------------------------------------------- 8-bit products */

/** Bytes moved by 128: what was signed is unsigned, and the other way round. */
static void flip(struct nnv_cv *c, uint32_t f, int32_t type) {
    struct nnv_operand *o = &c->b.operand[f];
    uint8_t *data = nnv_arena_copy(c->b.arena, o->data, o->bytes);
    if (!data) {
        c->b.failed = true;
        return;
    }
    for (size_t i = 0; i < o->bytes; i++) data[i] ^= 128;
    o->zero_point += type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? 128 : -128;
    o->type = type;
    o->data = data;
}

/** Filters in a form that NNAPI takes beside inputs of a type. */
static uint32_t quantised_filters(struct nnv_cv *c, uint32_t i, int32_t beside) {
    uint32_t nscales, nzeros = 1;
    const double *scales = nnv_ox_numbers(c, i + 1, &nscales);
    const int64_t *zeros = nnv_ox_has(c, i + 2) ? nnv_ox_ints(c, i + 2, &nzeros) : NULL;
    const struct nnv_ox_value v = *nnv_ox_value(c, i);
    struct nnv_encoding e;
    if (!nnv_cv_ok(c) || !nnv_ox_encode(c, v.type, &e)) return 0;
    if ((nscales != 1 && nscales != v.dims[0]) || (nzeros != 1 && nzeros != nscales))
        nnv_cv_fail(c, "%u scales for %u filters", nscales, v.dims[0]);
    bool symmetric = v.type == NNV_ONNX_INT8;
    for (uint32_t k = 0; zeros && nnv_cv_ok(c) && k < nzeros; k++) symmetric = symmetric && zeros[k] == 0;
    for (uint32_t k = 0; nnv_cv_ok(c) && k < nscales; k++)
        if (!(scales[k] > 0)) nnv_cv_fail(c, "a scale is %g", scales[k]);
    if (nnv_cv_ok(c) && nscales > 1 && !symmetric) nnv_cv_refuse(c, " with zero points for channels");
    if (!nnv_cv_ok(c)) return 0;
    e.scale = (float)scales[0];
    e.zero_point = zeros ? (int32_t)zeros[0] : 0;
    const uint32_t four[] = {v.dims[0], v.dims[1], v.rank == 4 ? v.dims[2] : 1, v.dims[v.rank == 4 ? 3 : 2]};
    const uint32_t own = nnv_ox_fixed(c, i, e);
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t f = nnv_builder_constant(&c->b, e, 4, four, nnv_cv_at(c, own)->data);
    if (nscales == 1 && !(symmetric && beside == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM)) {
        if (e.type != beside) flip(c, f, beside);
        return f;
    }
    float *list = NNV_NEW(c->b.arena, float, v.dims[0]);
    if (!list) c->b.failed = true;
    for (uint32_t k = 0; list && k < v.dims[0]; k++) list[k] = (float)scales[nscales > 1 ? k : 0];
    struct nnv_operand *o = &c->b.operand[f];
    o->type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
    o->scale = 0;
    o->zero_point = 0;
    o->channel = (struct nnv_channel_quant){.dim = 0, .count = v.dims[0], .scales = list};
    return f;
}

/** The encoding that known inputs i (scale) and i + 1 (zero point) tell for bytes of an ONNX type. */
static bool told(struct nnv_cv *c, uint32_t i, int type, struct nnv_encoding *e) {
    uint32_t n, m = 1;
    const double *scale = nnv_ox_numbers(c, i, &n);
    const int64_t *zero = nnv_ox_has(c, i + 1) ? nnv_ox_ints(c, i + 1, &m) : NULL;
    if (!nnv_cv_ok(c) || !nnv_ox_encode(c, type, e)) return false;
    if (n != 1 || m != 1) nnv_cv_refuse(c, " with scales along an axis");
    if (n == 1 && !(*scale > 0)) nnv_cv_fail(c, "a scale is %g", *scale);
    if (!nnv_cv_ok(c)) return false;
    e->scale = (float)*scale;
    e->zero_point = zero ? (int32_t)*zero : 0;
    return true;
}

static void quantised_convolution(struct nnv_cv *c) {
    enum { FILTERS = 3, OUT = 6, BIAS = 8 };
    const struct nnv_ox_value v = *nnv_ox_value(c, 0), f = *nnv_ox_value(c, FILTERS);
    const int64_t group = nnv_ox_int(c, "group", 1);
    uint32_t kernel[NNV_OX_RANK], bias = 0;
    struct nnv_encoding e, in;
    struct nnv_ox_window w;
    const int type = nnv_ox_value(c, OUT + 1)->type;
    if (!(NNV_OX_BYTE >> f.type & 1) || type != v.type)
        nnv_cv_refuse(c, " of %s with %s to %s", nnv_onnx_type_name(v.type), nnv_onnx_type_name(f.type),
                      nnv_onnx_type_name(type));
    if (group < 1 || group > INT32_MAX) nnv_cv_fail(c, "%lld groups", (long long)group);
    if (!kernel_of(c, &v, &f, kernel) || !nnv_ox_window_of(c, &v, kernel, false, &w) || !told(c, OUT, type, &e) ||
        !told(c, 1, v.type, &in))
        return;
    const uint32_t x = nnv_ox_image(c, 0),
                   filters = nnv_cv_ok(c) ? quantised_filters(c, FILTERS, nnv_cv_at(c, x)->type) : 0;
    if (!nnv_cv_ok(c)) return;
    if (nnv_cv_at(c, x)->scale != in.scale || nnv_cv_at(c, x)->zero_point != in.zero_point)
        nnv_cv_refuse(c, " of bytes that have another quantisation");
    const struct nnv_encoding of_bias = {ANEURALNETWORKS_TENSOR_INT32,
                                         nnv_cv_at(c, x)->scale * nnv_cv_at(c, filters)->scale, 0};
    if (nnv_ox_has(c, BIAS)) bias = nnv_ox_fixed(c, BIAS, of_bias);
    if (nnv_cv_ok(c)) give_image(c, ox_convolved(c, x, filters, bias, (uint32_t)group, &w, e), v.type, v.rank);
}

/** Bytes less their zero point (input i, if it is there) as float32, whatever it is along the first axis. */
static uint32_t centred(struct nnv_cv *c, uint32_t x, uint32_t i) {
    x = nnv_cv_to_float(c, x);
    if (!nnv_ox_has(c, i)) return x;
    const uint32_t n = (uint32_t)nnv_ox_elements(nnv_ox_value(c, i)), along[] = {n, 1, 1, 1};
    const uint32_t zero = nnv_cv_to_float(c, nnv_ox_in(c, i));
    return nnv_ox_difference(c, x, nnv_cv_reshaped(c, zero, 4, along));
}

/** int32 sums of bytes: in float32, which holds them exactly. */
static void integer_convolution(struct nnv_cv *c) {
    enum { EXACT = 1 << 24, LARGEST = 255 * 255 };
    const struct nnv_ox_value v = *nnv_ox_value(c, 0), f = *nnv_ox_value(c, 1);
    const int64_t group = nnv_ox_int(c, "group", 1);
    uint32_t kernel[NNV_OX_RANK];
    struct nnv_ox_window w;
    if (group < 1 || group > INT32_MAX) nnv_cv_fail(c, "%lld groups", (long long)group);
    if (!kernel_of(c, &v, &f, kernel) || !nnv_ox_window_of(c, &v, kernel, false, &w)) return;
    const uint64_t terms = (uint64_t)f.dims[1] * w.kernel[0] * w.kernel[1];
    if (terms > EXACT / LARGEST)
        nnv_cv_refuse(c, " of %llu terms, whose sum float32 does not hold", (unsigned long long)terms);
    const uint32_t x = centred(c, nnv_ox_image(c, 0), 2), filters = centred(c, nnv_ox_image(c, 1), 3);
    const uint32_t y = ox_convolved(c, x, filters, 0, (uint32_t)group, &w, NNV_CV_F32);
    if (!nnv_cv_ok(c)) return;
    const uint32_t sums = nnv_cv_temp_as(c, NNV_CV_I32, y);
    NNV_CV_EMIT(c, ANEURALNETWORKS_CAST, sums, y);
    give_image(c, sums, NNV_ONNX_INT32, v.rank);
}

/* --------------------------------------------------------- transposed convolution */

/** Pads of axis i: given, or such that the result has the extent asked for. */
static void fit_back(struct nnv_cv *c, struct nnv_ox_window *w, uint32_t i, int64_t more, int64_t shape,
                     const char *automatic) {
    const int64_t k = (int64_t)(w->kernel[i] - 1) * w->dilation[i] + 1,
                  whole = (int64_t)(w->in[i] - 1) * w->stride[i] + k + more;
    const bool same = strncmp(automatic, "SAME", 4) == 0;
    if (shape == 0 && same) shape = (int64_t)w->in[i] * w->stride[i];
    if (shape > 0) {
        const int64_t pads = whole - shape, half = pads >= 0 ? pads / 2 : -((1 - pads) / 2);
        w->before[i] = strcmp(automatic, "SAME_UPPER") == 0 ? half : pads - half;
        w->after[i] = pads - w->before[i];
    }
    w->after[i] -= more;
    const int64_t out = whole - more - w->before[i] - w->after[i];
    if (out < 1 || out > INT32_MAX || w->before[i] < 0)
        nnv_cv_refuse(c, " with pads of %lld and %lld", (long long)w->before[i], (long long)w->after[i]);
    w->out[i] = nnv_cv_ok(c) ? (uint32_t)out : 1;
}

static uint32_t back_convolved(struct nnv_cv *c, uint32_t x, uint32_t filters, uint32_t bias,
                               const struct nnv_ox_window *w) {
    static const uint32_t outputs_first[] = {1, 2, 3, 0};
    uint32_t f = nnv_ox_transposed(c, filters, 4, outputs_first), in[12], n = 3;
    for (uint32_t i = 0; i < 2; i++) f = spread(c, f, 1 + i, w->dilation[i]);
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t outputs = nnv_cv_at(c, f)->dims[0],
                   dims[] = {nnv_cv_at(c, x)->dims[0], outputs, w->out[0], w->out[1]};
    const uint32_t y = nnv_cv_temp_shaped(c, x, 4, dims);
    in[0] = x;
    in[1] = f;
    in[2] = bias ? bias : no_bias(c, x, f, outputs);
    for (uint32_t i = 2; i-- > 0;) {
        in[n++] = nnv_builder_int(&c->b, (int32_t)w->before[i]);
        in[n++] = nnv_builder_int(&c->b, (int32_t)w->after[i]);
    }
    for (uint32_t i = 2; i-- > 0;) in[n++] = nnv_builder_int(&c->b, (int32_t)w->stride[i]);
    in[n++] = nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE);
    in[n++] = nnv_builder_bool(&c->b, true);
    nnv_cv_emit(c, ANEURALNETWORKS_TRANSPOSE_CONV_2D, n, in, y);
    return y;
}

static void transposed_convolution(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0), f = *nnv_ox_value(c, 1);
    const char *automatic = nnv_ox_string(c, "auto_pad", "NOTSET");
    const int64_t group = nnv_ox_int(c, "group", 1);
    uint32_t kernel[NNV_OX_RANK] = {0}, nmore, nshape, parts[64], npads;
    struct nnv_ox_window w = {.kernel = {1, 1}, .in = {1, 1}};
    const int64_t *more = nnv_ox_list(c, "output_padding", &nmore), *shape = nnv_ox_list(c, "output_shape", &nshape),
                  *pads = nnv_ox_list(c, "pads", &npads);
    if (!kernel_of(c, &v, &f, kernel)) return;
    const uint32_t axes = v.rank - 2;
    read_axes(c, "strides", axes, w.stride);
    read_axes(c, "dilations", axes, w.dilation);
    if ((more && nmore != axes) || (pads && npads != 2 * axes) || (shape && nshape != axes && nshape != v.rank))
        nnv_cv_fail(c, "its lists do not fit");
    for (uint32_t i = 0; i < axes && nnv_cv_ok(c); i++) {
        const uint32_t to = 2 - axes + i;
        w.kernel[to] = kernel[i];
        w.in[to] = v.dims[2 + i];
        w.before[to] = pads && strcmp(automatic, "NOTSET") == 0 ? pads[i] : 0;
        w.after[to] = pads && strcmp(automatic, "NOTSET") == 0 ? pads[axes + i] : 0;
        fit_back(c, &w, to, more ? more[i] : 0, shape ? shape[nshape - axes + i] : 0, automatic);
    }
    if (axes == 1) w.out[0] = 1;
    const uint32_t x = nnv_ox_image(c, 0), filters = nnv_ox_image(c, 1), bias = nnv_ox_has(c, 2) ? nnv_ox_in(c, 2) : 0;
    if (group < 1 || group > 64 || v.dims[1] % group || f.dims[0] != v.dims[1])
        nnv_cv_fail(c, "%lld groups of %u channels", (long long)group, v.dims[1]);
    const uint32_t step = nnv_cv_ok(c) ? v.dims[1] / (uint32_t)group : 1;
    for (uint32_t g = 0; g < group && nnv_cv_ok(c); g++)
        parts[g] = back_convolved(c, nnv_ox_part(c, x, 1, g * step, step), nnv_ox_part(c, filters, 0, g * step, step),
                                  bias ? nnv_ox_part(c, bias, 0, g * f.dims[1], f.dims[1]) : 0, &w);
    if (nnv_cv_ok(c)) give_image(c, nnv_ox_joined(c, (uint32_t)group, parts, 1), v.type, v.rank);
}

static const struct nnv_ox_row rows[] = {
    {"Conv", 2, 3, NNV_OX_FLOAT, convolution, 0},
    {"ConvTranspose", 2, 3, NNV_OX_FLOAT, transposed_convolution, 0},
    {"ConvInteger", 2, 4, NNV_OX_BYTE, integer_convolution, 0},
    {"QLinearConv", 8, 9, NNV_OX_BYTE, quantised_convolution, 0},
};
const struct nnv_ox_rows nnv_ox_window = {rows, sizeof rows / sizeof *rows};
