/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of types: layouts, blocks of images, transposed and one-dimensional convolutions. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/relay/ops/ops.h"

enum { MOST_EXTENT = 1 << 30 };

/* ------------------------------------------------------------------ layouts */

/* Both layouts have each of the operand's dimensions as one letter. */
const struct nnv_relay_type *nnv_relay_rule_layout_transform(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_in(t, 0);
    const char *from = nnv_relay_text(t, "src_layout", ""), *to = nnv_relay_text(t, "dst_layout", "");
    int64_t dims[NNV_RELAY_RANK];
    if (a == NULL) return NULL;
    if (strlen(from) != a->n_dims || strlen(to) != a->n_dims)
        return nnv_relay_wrong(t, "src_layout and dst_layout must have a letter for each of %zu dimensions", a->n_dims);
    for (size_t i = 0; i < a->n_dims; i++) {
        const char *found = strchr(from, to[i]);
        if (found == NULL || strchr(to + i + 1, to[i]) || strchr(found + 1, to[i]))
            return nnv_relay_wrong(t, "src_layout and dst_layout must have the same letters, each once");
        dims[i] = a->dims[found - from];
    }
    return nnv_relay_made(t, a->dtype, a->n_dims, dims);
}

static const struct nnv_relay_type *image(struct nnv_relay_typing *t, struct nnv_relay_layout *l) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 4);
    return x && nnv_relay_layout(t, "layout", nnv_relay_text(t, "layout", "NCHW"), "NCHW", l) ? x : NULL;
}

/* nn.depth_to_space, nn.space_to_depth */
const struct nnv_relay_type *nnv_relay_rule_blocks(struct nnv_relay_typing *t) {
    struct nnv_relay_layout l;
    const struct nnv_relay_type *x = image(t, &l);
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
const struct nnv_relay_type *nnv_relay_rule_batches(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_in(t, 0);
    bool to_batch = strcmp(t->call->callee->name, "nn.space_to_batch_nd") == 0;
    const char *key = to_batch ? "paddings" : "crops";
    const struct nnv_relay_value *more = nnv_relay_attr(t->call, key);
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
        if (a < 0 || b < 0 || a > MOST_EXTENT || b > MOST_EXTENT || block[i] < 1 || block[i] > 1 << 15 ||
            *d > MOST_EXTENT || __builtin_mul_overflow(all, block[i], &all) || all > MOST_EXTENT)
            return nnv_relay_wrong(t, "block_shape or %s of dimension %zu is out of range", key, i + 1);
        if (*d < 0) continue;
        *d = to_batch ? *d + a + b : *d * block[i] - a - b;
        if (*d < 0 || (to_batch && *d % block[i]))
            return nnv_relay_wrong(t, "dimension %zu would be %" PRId64, i + 1, *d);
        if (to_batch) *d /= block[i];
    }
    if (dims[0] >= 0) {
        if (dims[0] > MOST_EXTENT || (!to_batch && dims[0] % all))
            return nnv_relay_wrong(t, "the batch can't be divided by the block");
        dims[0] = to_batch ? dims[0] * all : dims[0] / all;
    }
    return nnv_relay_made(t, x->dtype, x->n_dims, dims);
}

const struct nnv_relay_type *nnv_relay_rule_upsampling(struct nnv_relay_typing *t) {
    struct nnv_relay_layout l;
    const struct nnv_relay_type *x = image(t, &l);
    int64_t dims[4];
    if (x == NULL) return NULL;
    memcpy(dims, x->dims, sizeof dims);
    for (int i = 0; i < 2; i++) {
        int64_t *d = &dims[i ? l.w : l.h];
        double size = round((double)*d * nnv_relay_number(t, i ? "scale_w" : "scale_h", 1));
        if (*d < 0) continue;
        if (!(size >= 1 && size <= MOST_EXTENT)) return nnv_relay_wrong(t, "a scale gives an extent of %g", size);
        *d = (int64_t)size;
    }
    return nnv_relay_made(t, x->dtype, 4, dims);
}

/* ------------------------------------------------------------- convolutions */

bool nnv_relay_grown(struct nnv_relay_typing *t, const int64_t *in, const int64_t *kernel, int64_t *size) {
    int64_t stride[2], dilation[2], more[2], pad[4];
    if (!nnv_relay_pair(t, "strides", 1, stride) || !nnv_relay_pair(t, "dilation", 1, dilation) ||
        !nnv_relay_pair(t, "output_padding", 0, more) || !nnv_relay_padding(t, pad))
        return false;
    for (size_t i = 0; i < 2; i++) {
        size[i] = NNV_RELAY_ANY;
        if (in[i] < 0 || kernel[i] < 0) continue;
        if (in[i] < 1 || in[i] > MOST_EXTENT || kernel[i] < 1 || kernel[i] > MOST_EXTENT)
            return nnv_relay_wrong(t, "an extent is out of range");
        if (more[i] >= stride[i] && more[i] >= dilation[i])
            return nnv_relay_wrong(t, "output_padding must be less than the strides");
        size[i] = (in[i] - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1 - pad[i] - pad[i + 2] + more[i];
        if (size[i] < 1) return nnv_relay_wrong(t, "the padding leaves nothing of the result");
    }
    return true;
}

const struct nnv_relay_type *nnv_relay_rule_conv_transpose(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 4), *w = x ? nnv_relay_of_rank(t, 1, 4) : NULL;
    const char *layout = nnv_relay_text(t, "data_layout", "NCHW"), *out_layout = nnv_relay_text(t, "out_layout", "");
    bool qnn = t->call->n_args == 6;
    int64_t dims[4], size[2], groups = nnv_relay_int(t, "groups", 1);
    struct nnv_relay_layout l, k;
    enum nnv_relay_dtype dtype;
    if (w == NULL || !nnv_relay_layout(t, "data_layout", layout, "NCHW", &l) ||
        !nnv_relay_layout(t, "kernel_layout", nnv_relay_text(t, "kernel_layout", "IOHW"), "IOHW", &k))
        return NULL;
    if (*out_layout && strcmp(out_layout, layout) != 0)
        return nnv_relay_wrong(t, "out_layout must be that of the data");
    if (!qnn && x->dtype != w->dtype) return nnv_relay_wrong(t, "the data and the weights are of different types");
    int64_t in = x->dims[l.second], i = w->dims[k.first], o = w->dims[k.second];
    if (groups < 1 || (in >= 0 && in % groups)) return nnv_relay_wrong(t, "%" PRId64 " groups", groups);
    if (in >= 0 && i >= 0 && in != i)
        return nnv_relay_wrong(t, "%" PRId64 " channels in, but weights for %" PRId64, in, i);
    if (!nnv_relay_grown(t, (int64_t[]){x->dims[l.h], x->dims[l.w]}, (int64_t[]){w->dims[k.h], w->dims[k.w]}, size))
        return NULL;
    if (o > 0 && __builtin_mul_overflow(o, groups, &o)) return nnv_relay_wrong(t, "the result is too large");
    int64_t said = nnv_relay_int(t, "channels", o);
    if (o >= 0 && said != o) return nnv_relay_wrong(t, "channels is %" PRId64 ", the weights have %" PRId64, said, o);
    dims[l.first] = x->dims[l.first];
    dims[l.second] = o;
    dims[l.h] = size[0];
    dims[l.w] = size[1];
    if (!nnv_relay_dtype_attr(t, "out_dtype", qnn ? NNV_RELAY_INT32 : x->dtype, &dtype)) return NULL;
    return nnv_relay_made(t, dtype, 4, dims);
}

const struct nnv_relay_type *nnv_relay_rule_conv1d(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 3), *w = x ? nnv_relay_of_rank(t, 1, 3) : NULL;
    int64_t groups = nnv_relay_int(t, "groups", 1), pad[2], stride[2], dilation[2];
    enum nnv_relay_dtype dtype;
    if (w == NULL) return NULL;
    if (strcmp(nnv_relay_text(t, "data_layout", "NCW"), "NCW") != 0 ||
        strcmp(nnv_relay_text(t, "kernel_layout", "OIW"), "OIW") != 0)
        return nnv_relay_wrong(t, "the layouts must be NCW and OIW");
    if (x->dtype != w->dtype) return nnv_relay_wrong(t, "the data and the weights are of different types");
    if (!nnv_relay_pair(t, "padding", 0, pad) || !nnv_relay_pair(t, "strides", 1, stride) ||
        !nnv_relay_pair(t, "dilation", 1, dilation))
        return NULL;
    int64_t in = x->dims[1], o = w->dims[0], i = w->dims[1], width = x->dims[2], kernel = w->dims[2];
    if (groups < 1 || (in >= 0 && i >= 0 && (in % groups || in / groups != i)) || (o >= 0 && o % groups))
        return nnv_relay_wrong(t, "%" PRId64 " channels in %" PRId64 " groups, but weights for %" PRId64, in, groups,
                               i);
    if (width >= 0 && kernel >= 0) {
        if (width > MOST_EXTENT || kernel < 1 || kernel > MOST_EXTENT)
            return nnv_relay_wrong(t, "an extent is out of range");
        int64_t room = width + pad[0] + pad[1] - (kernel - 1) * dilation[0] - 1;
        if (room < 0) return nnv_relay_wrong(t, "the window does not fit in the data with its padding");
        width = room / stride[0] + 1;
    } else {
        width = NNV_RELAY_ANY;
    }
    if (!nnv_relay_dtype_attr(t, "out_dtype", x->dtype, &dtype)) return NULL;
    return nnv_relay_made(t, dtype, 3, (int64_t[]){x->dims[0], o, width});
}

/* One matrix with a matrix, or with each of a batch of rows. */
const struct nnv_relay_type *nnv_relay_rule_matmul(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_of_rank(t, 0, 2), *b = a ? nnv_relay_of_rank(t, 1, 2) : NULL;
    size_t ta = nnv_relay_int(t, "transpose_a", 0) != 0, tb = nnv_relay_int(t, "transpose_b", 0) != 0;
    enum nnv_relay_dtype dtype;
    if (b == NULL || !nnv_relay_dtype_attr(t, "out_dtype", a->dtype, &dtype)) return NULL;
    if (a->dtype != b->dtype) return nnv_relay_wrong(t, "the operands are of different types");
    int64_t inner_a = a->dims[1 - ta], inner_b = b->dims[tb];
    if (inner_a >= 0 && inner_b >= 0 && inner_a != inner_b)
        return nnv_relay_wrong(t, "the summed extents are %" PRId64 " and %" PRId64, inner_a, inner_b);
    return nnv_relay_made(t, dtype, 2, (int64_t[]){a->dims[ta], b->dims[1 - tb]});
}

/* ------------------------------------------------------------ normalisation */

/* nn.l2_normalize: a list of axes. */
const struct nnv_relay_type *nnv_relay_rule_axes(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_rule_float(t);
    int64_t axes[NNV_RELAY_RANK];
    size_t n = 0, at;
    if (a == NULL || (!nnv_relay_ints(t, "axis", axes, NNV_RELAY_RANK, &n) && t->st != NNV_OK)) return NULL;
    for (size_t i = 0; i < n; i++)
        if (!nnv_relay_axis(t, "axis", axes[i], a->n_dims, &at)) return NULL;
    return a;
}

/* Operands: data, and a factor and a summand for each place along the axis. */
const struct nnv_relay_type *nnv_relay_rule_norm(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_rule_float(t);
    int64_t groups = nnv_relay_int(t, "num_groups", 1);
    size_t at;
    if (a == NULL || !nnv_relay_axis(t, "axis", nnv_relay_int(t, "axis", 1), a->n_dims, &at)) return NULL;
    for (size_t i = 1; i < 3; i++) {
        const struct nnv_relay_type *v = nnv_relay_of_rank(t, i, 1);
        if (v == NULL) return NULL;
        if (v->dtype != a->dtype || (v->dims[0] >= 0 && a->dims[at] >= 0 && v->dims[0] != a->dims[at]))
            return nnv_relay_wrong(t, "operand %zu must have a value for each place along axis %zu", i, at);
    }
    if (groups < 1 || (a->dims[at] >= 0 && a->dims[at] % groups))
        return nnv_relay_wrong(t, "the axis can't be split in %" PRId64 " groups", groups);
    if (strcmp(t->call->callee->name, "nn.instance_norm") == 0 && at == 0)
        return nnv_relay_wrong(t, "axis 0 is the batch");
    return a;
}

/* The data, and a mask. */
const struct nnv_relay_type *nnv_relay_rule_dropout(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *a = nnv_relay_rule_float(t);
    return a ? nnv_relay_tuple_type(t->m->arena, 2, (const struct nnv_relay_type *[]){a, a}) : NULL;
}

/* ---------------------------------------------------------------- detection */

/* Boxes are rows of numbers: an attribute says where one of them is. */
static bool column(struct nnv_relay_typing *t, const char *key, int64_t otherwise, int64_t least, int64_t columns) {
    int64_t at = nnv_relay_int(t, key, otherwise);
    if (at >= least && (columns < 0 || at < columns)) return true;
    return nnv_relay_wrong(t, "%s is %" PRId64 ", and a box has %" PRId64 " numbers", key, at, columns);
}

const struct nnv_relay_type *nnv_relay_rule_valid_counts(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 3);
    if (x == NULL || !column(t, "score_index", 1, 0, x->dims[2]) || !column(t, "id_index", 0, -1, x->dims[2]))
        return NULL;
    if (t->call->n_args == 2 && !nnv_relay_of_rank(t, 1, 0)) return NULL;
    if (!nnv_relay_dtype_is_float(x->dtype)) return nnv_relay_wrong(t, "operand 0 must be of a floating-point type");
    const struct nnv_relay_type *counts = nnv_relay_made(t, NNV_RELAY_INT32, 1, x->dims),
                                *places = nnv_relay_made(t, NNV_RELAY_INT32, 2, x->dims);
    if (counts == NULL || places == NULL) return NULL;
    return nnv_relay_tuple_type(t->m->arena, 3, (const struct nnv_relay_type *[]){counts, x, places});
}

/* Operands: boxes, how many of them are valid, their numbers; the most to keep, and the overlap that is too much. */
const struct nnv_relay_type *nnv_relay_rule_nms(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 3), *n = x ? nnv_relay_of_rank(t, 1, 1) : NULL,
                                *places = n ? nnv_relay_of_rank(t, 2, 2) : NULL;
    if (places == NULL || !column(t, "score_index", 1, 0, x->dims[2]) || !column(t, "id_index", 0, -1, x->dims[2]) ||
        !column(t, "coord_start", 2, 0, x->dims[2] < 0 ? -1 : x->dims[2] - 3))
        return NULL;
    for (size_t i = 3; i < t->call->n_args; i++)
        if (!nnv_relay_of_rank(t, i, 0)) return NULL;
    if (!nnv_relay_dtype_is_float(x->dtype)) return nnv_relay_wrong(t, "operand 0 must be of a floating-point type");
    if (n->dtype != NNV_RELAY_INT32 || places->dtype != NNV_RELAY_INT32 || n->dims[0] != x->dims[0] ||
        places->dims[0] != x->dims[0] || places->dims[1] != x->dims[1])
        return nnv_relay_wrong(t, "operands 1 and 2 must be int32, for each image and each box");
    if (!nnv_relay_int(t, "return_indices", 1)) return x;
    const struct nnv_relay_type *fields[] = {nnv_relay_made(t, NNV_RELAY_INT32, 2, x->dims),
                                             nnv_relay_made(t, NNV_RELAY_INT32, 2, (int64_t[]){x->dims[0], 1})};
    return fields[0] && fields[1] ? nnv_relay_tuple_type(t->m->arena, 2, fields) : NULL;
}
