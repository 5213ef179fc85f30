/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of types: convolutions, pools, dense layers, normalisation. */
#include <inttypes.h>
#include <string.h>

#include "compiler/relay/ops/ops.h"

enum { MOST_EXTENT = 1 << 30 }; /* of attributes in sums, which so can't overflow */

bool nnv_relay_layout(struct nnv_relay_typing *t, const char *key, const char *layout, const char *letters,
                      struct nnv_relay_layout *to) {
    size_t at[4];
    for (size_t i = 0; i < 4; i++) {
        const char *found = strchr(layout, letters[i]);
        if (found == NULL || strlen(layout) != 4)
            return nnv_relay_wrong(t, "attribute %s must have the four letters %s in some order", key, letters);
        at[i] = (size_t)(found - layout);
    }
    *to = (struct nnv_relay_layout){at[0], at[1], at[2], at[3]};
    return true;
}

bool nnv_relay_pair(struct nnv_relay_typing *t, const char *key, int64_t least, int64_t *to) {
    size_t n = 0;
    if (!nnv_relay_ints(t, key, to, 2, &n)) return nnv_relay_wrong(t, "needs the attribute %s", key);
    if (n == 1) to[1] = to[0];
    for (size_t i = 0; i < 2; i++)
        if (n == 0 || to[i] < least || to[i] > MOST_EXTENT)
            return nnv_relay_wrong(t, "attribute %s must have one or two values from %" PRId64 " to 2^30", key, least);
    return true;
}

bool nnv_relay_padding(struct nnv_relay_typing *t, int64_t *p) {
    size_t n = 0;
    if (!nnv_relay_ints(t, "padding", p, 4, &n)) return nnv_relay_wrong(t, "needs the attribute padding");
    if (n == 1) p[1] = p[2] = p[3] = p[0];
    if (n == 2) {
        p[2] = p[0];
        p[3] = p[1];
    }
    if (n == 0 || n == 3) return nnv_relay_wrong(t, "attribute padding has %zu values, not 1, 2 or 4", n);
    for (size_t i = 0; i < 4; i++)
        if (p[i] < 0 || p[i] > MOST_EXTENT) return nnv_relay_wrong(t, "padding %" PRId64 " is out of range", p[i]);
    return true;
}

/** A window that moves over one dimension. */
struct window {
    int64_t extent, stride, dilation, before, after;
    bool ceil;
};

/* The number of its places over `in` elements. */
static bool places(struct nnv_relay_typing *t, const struct window *w, int64_t in, int64_t *out) {
    if (in < 0 || w->extent < 0) {
        *out = NNV_RELAY_ANY;
        return true;
    }
    int64_t covered, room;
    if (in > INT64_MAX / 4 || w->extent > MOST_EXTENT) return nnv_relay_wrong(t, "an extent is out of range");
    covered = (w->extent - 1) * w->dilation + 1;
    room = in + w->before + w->after - covered;
    if (w->extent < 1 || room < 0)
        return nnv_relay_wrong(t, "a window of %" PRId64 " does not fit in %" PRId64 " with its padding", covered,
                               in + w->before + w->after);
    *out = (room + (w->ceil ? w->stride - 1 : 0)) / w->stride + 1;
    return true;
}

/* Height and width of what a window gives. */
static bool places_2d(struct nnv_relay_typing *t, const int64_t *kernel, bool ceil, const int64_t *in, int64_t *out) {
    int64_t stride[2], dilation[2], pad[4];
    if (!nnv_relay_pair(t, "strides", 1, stride) || !nnv_relay_pair(t, "dilation", 1, dilation) ||
        !nnv_relay_padding(t, pad))
        return false;
    for (size_t i = 0; i < 2; i++) {
        struct window w = {kernel[i], stride[i], dilation[i], pad[i], pad[i + 2], ceil};
        if (!places(t, &w, in[i], &out[i])) return false;
    }
    return true;
}

const struct nnv_relay_type *nnv_relay_of_rank(struct nnv_relay_typing *t, size_t i, size_t rank) {
    const struct nnv_relay_type *a = nnv_relay_in(t, i);
    if (a && a->n_dims != rank)
        return nnv_relay_wrong(t, "operand %zu has %zu dimensions, not %zu", i, a->n_dims, rank);
    return a;
}

static bool agree(int64_t a, int64_t b) { return a == b || a < 0 || b < 0; }

/* ------------------------------------------------------------- convolutions */

/* Checks channels in against the weights, and finds how many come out. */
static bool channels_of(struct nnv_relay_typing *t, int64_t in, int64_t o, int64_t i, int64_t *out) {
    int64_t groups = nnv_relay_int(t, "groups", 1), said = nnv_relay_int(t, "channels", NNV_RELAY_ANY), all = 0;
    if (groups < 1) return nnv_relay_wrong(t, "groups must be 1 or more");
    bool has_all = in >= 0 && i >= 0 && !__builtin_mul_overflow(i, groups, &all);
    *out = o;
    if (in < 0 || i < 0 || (has_all && all == in)) {
        /* weights as the layout has them */
    } else if (groups == in && o == in && !__builtin_mul_overflow(o, i, out)) {
        /* depthwise weights: for each channel in, a number of channels out */
    } else {
        return nnv_relay_wrong(t, "%" PRId64 " channels in %" PRId64 " groups, but weights for %" PRId64, in, groups,
                               i);
    }
    if (!agree(said, *out)) return nnv_relay_wrong(t, "channels is %" PRId64 ", the weights have %" PRId64, said, *out);
    if (*out >= 0 && *out % groups)
        return nnv_relay_wrong(t, "the channels can't be split in %" PRId64 " groups", groups);
    return true;
}

const struct nnv_relay_type *nnv_relay_rule_conv(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 4), *w = x ? nnv_relay_of_rank(t, 1, 4) : NULL;
    const char *data_layout = nnv_relay_text(t, "data_layout", "NCHW"),
               *out_layout = nnv_relay_text(t, "out_layout", "");
    bool qnn = t->call->n_args == 6;
    struct nnv_relay_layout l, k, o;
    int64_t dims[4], out[2], size[2];
    enum nnv_relay_dtype dtype;
    if (*out_layout == '\0') out_layout = data_layout;
    if (w == NULL || !nnv_relay_layout(t, "data_layout", data_layout, "NCHW", &l) ||
        !nnv_relay_layout(t, "kernel_layout", nnv_relay_text(t, "kernel_layout", "OIHW"), "OIHW", &k) ||
        !nnv_relay_layout(t, "out_layout", out_layout, "NCHW", &o))
        return NULL;
    if (!qnn && x->dtype != w->dtype) return nnv_relay_wrong(t, "the data and the weights are of different types");
    int64_t kernel[] = {w->dims[k.h], w->dims[k.w]}, in[] = {x->dims[l.h], x->dims[l.w]};
    if (nnv_relay_written(t->call, "kernel_size")) {
        if (!nnv_relay_pair(t, "kernel_size", 1, size)) return NULL;
        if (!agree(size[0], kernel[0]) || !agree(size[1], kernel[1]))
            return nnv_relay_wrong(
                t, "kernel_size is [%" PRId64 ", %" PRId64 "], the weights have [%" PRId64 ", %" PRId64 "]", size[0],
                size[1], kernel[0], kernel[1]);
    }
    if (!places_2d(t, kernel, false, in, out)) return NULL;
    dims[o.first] = x->dims[l.first];
    dims[o.h] = out[0];
    dims[o.w] = out[1];
    if (!channels_of(t, x->dims[l.second], w->dims[k.first], w->dims[k.second], &dims[o.second])) return NULL;
    if (!nnv_relay_dtype_attr(t, "out_dtype", qnn ? NNV_RELAY_INT32 : x->dtype, &dtype)) return NULL;
    return nnv_relay_made(t, dtype, 4, dims);
}

/* -------------------------------------------------------------------- pools */

const struct nnv_relay_type *nnv_relay_rule_pool(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 4);
    struct nnv_relay_layout l;
    int64_t dims[4], kernel[2], out[2];
    if (x == NULL || !nnv_relay_layout(t, "layout", nnv_relay_text(t, "layout", "NCHW"), "NCHW", &l)) return NULL;
    if (!nnv_relay_pair(t, "pool_size", 1, kernel)) return NULL;
    int64_t in[] = {x->dims[l.h], x->dims[l.w]};
    if (!places_2d(t, kernel, nnv_relay_int(t, "ceil_mode", 0), in, out)) return NULL;
    memcpy(dims, x->dims, sizeof dims);
    dims[l.h] = out[0];
    dims[l.w] = out[1];
    return nnv_relay_made(t, x->dtype, 4, dims);
}

const struct nnv_relay_type *nnv_relay_rule_global_pool(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 4);
    struct nnv_relay_layout l;
    int64_t dims[4];
    if (x == NULL || !nnv_relay_layout(t, "layout", nnv_relay_text(t, "layout", "NCHW"), "NCHW", &l)) return NULL;
    memcpy(dims, x->dims, sizeof dims);
    dims[l.h] = dims[l.w] = 1;
    return nnv_relay_made(t, x->dtype, 4, dims);
}

/* The attribute is the height and width of the result. */
const struct nnv_relay_type *nnv_relay_rule_resize(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 4);
    struct nnv_relay_layout l;
    int64_t dims[4], size[2];
    enum nnv_relay_dtype dtype;
    const char *key = strcmp(t->call->callee->name, "image.resize2d") == 0 ? "size" : "output_size";
    if (x == NULL || !nnv_relay_layout(t, "layout", nnv_relay_text(t, "layout", "NCHW"), "NCHW", &l)) return NULL;
    if (!nnv_relay_pair(t, key, 1, size) || !nnv_relay_dtype_attr(t, "out_dtype", x->dtype, &dtype)) return NULL;
    memcpy(dims, x->dims, sizeof dims);
    dims[l.h] = size[0];
    dims[l.w] = size[1];
    return nnv_relay_made(t, dtype, 4, dims);
}

/* -------------------------------------------------------------------- dense */

const struct nnv_relay_type *nnv_relay_rule_dense(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_in(t, 0), *w = x ? nnv_relay_of_rank(t, 1, 2) : NULL;
    int64_t dims[NNV_RELAY_RANK];
    enum nnv_relay_dtype dtype;
    if (w == NULL) return NULL;
    if (x->n_dims == 0) return nnv_relay_wrong(t, "operand 0 must have a dimension");
    if (t->call->n_args == 2 && x->dtype != w->dtype)
        return nnv_relay_wrong(t, "the data and the weights are of different types");
    size_t last = x->n_dims - 1;
    if (!agree(x->dims[last], w->dims[1]))
        return nnv_relay_wrong(t, "the data have %" PRId64 " features, the weights are for %" PRId64, x->dims[last],
                               w->dims[1]);
    if (!agree(nnv_relay_int(t, "units", NNV_RELAY_ANY), w->dims[0]))
        return nnv_relay_wrong(t, "units is %" PRId64 ", the weights have %" PRId64, nnv_relay_int(t, "units", 0),
                               w->dims[0]);
    if (!nnv_relay_dtype_attr(t, "out_dtype", x->dtype, &dtype)) return NULL;
    memcpy(dims, x->dims, x->n_dims * sizeof *dims);
    dims[last] = w->dims[0];
    return nnv_relay_made(t, dtype, x->n_dims, dims);
}

const struct nnv_relay_type *nnv_relay_rule_batch_matmul(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_of_rank(t, 0, 3), *b = a ? nnv_relay_of_rank(t, 1, 3) : NULL;
    size_t ta = nnv_relay_int(t, "transpose_a", 0) != 0, tb = nnv_relay_int(t, "transpose_b", 1) != 0;
    enum nnv_relay_dtype dtype;
    if (b == NULL || !nnv_relay_dtype_attr(t, "out_dtype", a->dtype, &dtype)) return NULL;
    if (a->dtype != b->dtype && t->call->n_args == 2) return nnv_relay_wrong(t, "the operands are of different types");
    int64_t inner_a = a->dims[2 - ta], inner_b = b->dims[1 + tb];
    if (!agree(inner_a, inner_b))
        return nnv_relay_wrong(t, "the summed extents are %" PRId64 " and %" PRId64, inner_a, inner_b);
    if (!agree(a->dims[0], b->dims[0]) && a->dims[0] != 1 && b->dims[0] != 1)
        return nnv_relay_wrong(t, "batches of %" PRId64 " and %" PRId64, a->dims[0], b->dims[0]);
    int64_t batch = a->dims[0] == 1 ? b->dims[0] : a->dims[0];
    int64_t dims[] = {batch, a->dims[1 + ta], b->dims[2 - tb]};
    return nnv_relay_made(t, dtype, 3, dims);
}

/* ------------------------------------------------------------ normalisation */

/* Operand i has one value for each place along the attribute axis of operand 0. */
static bool along_axis(struct nnv_relay_typing *t, const struct nnv_relay_type *x, size_t i) {
    const struct nnv_relay_type *v = nnv_relay_of_rank(t, i, 1);
    size_t at;
    if (v == NULL || !nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 1), x->n_dims, &at)) return false;
    if (v->dtype != x->dtype) return nnv_relay_wrong(t, "operand %zu is not of the data's type", i);
    if (agree(v->dims[0], x->dims[at])) return true;
    return nnv_relay_wrong(t, "operand %zu has %" PRId64 " values for %" PRId64 " places along axis %zu", i, v->dims[0],
                           x->dims[at], at);
}

const struct nnv_relay_type *nnv_relay_rule_bias(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_in(t, 0);
    return x && along_axis(t, x, 1) ? x : NULL;
}

const struct nnv_relay_type *nnv_relay_rule_prelu(struct nnv_relay_typing *t) {
    return nnv_relay_rule_float(t) ? nnv_relay_rule_bias(t) : NULL;
}

const struct nnv_relay_type *nnv_relay_rule_batch_norm(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_rule_float(t);
    for (size_t i = 1; x && i < 5; i++)
        if (!along_axis(t, x, i)) return NULL;
    if (x == NULL) return NULL;
    const struct nnv_relay_type *fields[] = {x, t->call->args[3]->type, t->call->args[4]->type};
    return nnv_relay_tuple_type(t->m->arena, 3, fields);
}
