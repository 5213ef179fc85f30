/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/op.h"

#include <stdio.h>
#include <string.h>

struct nnv_shape nnv_shape_of_rank(uint32_t rank) {
    struct nnv_shape s = {.known_rank = true, .rank = rank};
    for (uint32_t i = 0; i < rank; i++) s.dims[i] = NNV_DIM_UNKNOWN;
    return s;
}

struct nnv_shape nnv_shape_make(uint32_t rank, const uint32_t *dims) {
    struct nnv_shape s = {.known_rank = true, .rank = rank};
    for (uint32_t i = 0; i < rank; i++) s.dims[i] = dims[i];
    return s;
}

bool nnv_shape_known(const struct nnv_shape *s) {
    if (!s->known_rank) return false;
    for (uint32_t i = 0; i < s->rank; i++)
        if (s->dims[i] == NNV_DIM_UNKNOWN) return false;
    return true;
}

size_t nnv_shape_elems(const struct nnv_shape *s) {
    size_t n = 1;
    for (uint32_t i = 0; i < s->rank; i++) n *= s->dims[i];
    return n;
}

uint32_t nnv_dim(const struct nnv_shape *s, uint32_t i) {
    return s->known_rank && i < s->rank ? s->dims[i] : NNV_DIM_UNKNOWN;
}

bool nnv_dim_agree(uint32_t a, uint32_t b) { return a == b || a == NNV_DIM_UNKNOWN || b == NNV_DIM_UNKNOWN; }

uint32_t nnv_dim_merge(uint32_t a, uint32_t b) { return a == NNV_DIM_UNKNOWN ? b : a; }

/* The extent of two aligned ones; an unknown one may turn out to be 1, so it only decides beside a known 1. */
static bool broadcast_dim(uint32_t a, uint32_t b, uint32_t *out) {
    if (a == 1 || a == b)
        *out = b;
    else if (b == 1)
        *out = a;
    else if (a == NNV_DIM_UNKNOWN)
        *out = b;
    else if (b == NNV_DIM_UNKNOWN)
        *out = a;
    else
        return false;
    return true;
}

enum nnv_status nnv_shape_broadcast(const struct nnv_shape *a, const struct nnv_shape *b, struct nnv_shape *out,
                                    struct nnv_err *err) {
    if (!a->known_rank || !b->known_rank) {
        *out = (struct nnv_shape){0};
        return NNV_OK;
    }
    uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    struct nnv_shape s = nnv_shape_of_rank(rank);
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t da = i + a->rank >= rank ? a->dims[i + a->rank - rank] : 1;
        uint32_t db = i + b->rank >= rank ? b->dims[i + b->rank - rank] : 1;
        if (!broadcast_dim(da, db, &s.dims[i])) {
            char ta[256], tb[256];
            return nnv_fail(err, NNV_INVALID, "%s and %s cannot be broadcast: extents %u and %u differ and none is 1",
                            nnv_shape_text(a, ta, sizeof ta), nnv_shape_text(b, tb, sizeof tb), da, db);
        }
    }
    *out = s;
    return NNV_OK;
}

char *nnv_shape_text(const struct nnv_shape *s, char *buf, size_t room) {
    if (room == 0) return buf;
    if (!s->known_rank) {
        snprintf(buf, room, "[?...]");
        return buf;
    }
    size_t at = 0;
    snprintf(buf, room, "[");
    for (uint32_t i = 0; i < s->rank; i++) {
        at = strlen(buf);
        if (s->dims[i] == NNV_DIM_UNKNOWN)
            snprintf(buf + at, room - at, "%s?", i ? "," : "");
        else
            snprintf(buf + at, room - at, "%s%u", i ? "," : "", s->dims[i]);
    }
    at = strlen(buf);
    snprintf(buf + at, room - at, "]");
    return buf;
}

int nnv_axis(int32_t axis, uint32_t rank) {
    int64_t a = axis < 0 ? (int64_t)axis + rank : axis;
    return a >= 0 && a < rank ? (int)a : -1;
}

static enum nnv_status check_window(int32_t stride, int32_t dilation, int32_t scheme, const struct nnv_window *w,
                                    struct nnv_err *err) {
    if (stride < 1) return nnv_fail(err, NNV_INVALID, "stride %d is below 1", stride);
    if (dilation < 1) return nnv_fail(err, NNV_INVALID, "dilation %d is below 1", dilation);
    if (scheme != 0 && scheme != ANEURALNETWORKS_PADDING_SAME && scheme != ANEURALNETWORKS_PADDING_VALID)
        return nnv_fail(err, NNV_INVALID, "%d is not a padding code", scheme);
    if (scheme == 0 && (w->head < 0 || w->tail < 0))
        return nnv_fail(err, NNV_INVALID, "padding %d is negative", w->head < 0 ? w->head : w->tail);
    return NNV_OK;
}

/* In 64 bits throughout: extents, strides and dilations come from untrusted models. */
enum nnv_status nnv_window(uint32_t in, uint32_t filter, int32_t stride, int32_t dilation, int32_t scheme,
                           struct nnv_window *w, struct nnv_err *err) {
    enum nnv_status st = check_window(stride, dilation, scheme, w, err);
    if (st) return st;
    struct nnv_window r = {.out = NNV_DIM_UNKNOWN, .head = scheme ? 0 : w->head, .tail = scheme ? 0 : w->tail};
    bool known_in = in != NNV_DIM_UNKNOWN, known_filter = filter != NNV_DIM_UNKNOWN;
    if (filter == 0) return nnv_fail(err, NNV_INVALID, "the filter is empty");
    int64_t eff = known_filter ? (int64_t)(filter - 1) * dilation + 1 : 0;
    if (known_filter && (r.head >= eff || r.tail >= eff))
        return nnv_fail(err, NNV_INVALID, "padding %d reaches the effective filter of %lld",
                        r.head >= eff ? r.head : r.tail, (long long)eff);
    if (known_in && scheme == ANEURALNETWORKS_PADDING_SAME) {
        r.out = (uint32_t)(((int64_t)in + stride - 1) / stride);
        if (known_filter) {
            int64_t total = ((int64_t)r.out - 1) * stride + eff - in;
            if (total < 0 || r.out == 0) total = 0;
            if (total > INT32_MAX)
                return nnv_fail(err, NNV_INVALID, "effective filter %lld is too large", (long long)eff);
            r.head = (int32_t)(total / 2);
            r.tail = (int32_t)(total - total / 2);
        }
    } else if (known_in && known_filter) {
        int64_t room = (int64_t)in - eff + r.head + r.tail;
        if (room < 0 && in > 0)
            return nnv_fail(err, NNV_INVALID, "the output would be empty: effective filter %lld is above input %u",
                            (long long)eff, in);
        r.out = room < 0 ? 0 : (uint32_t)(room / stride + 1);
    }
    *w = r;
    return NNV_OK;
}
