/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/move/move.h"

#include <string.h>

int32_t nnv_int_at(const struct nnv_call *c, int id, uint32_t i) {
    int32_t v;
    memcpy(&v, (const char *)nnv_in(c, id)->data + i * sizeof v, sizeof v);
    return v;
}

enum nnv_status nnv_extent_make(uint64_t v, uint32_t *extent, struct nnv_err *err) {
    if (v > NNV_DIM_MAX) return nnv_fail(err, NNV_INVALID, "an extent of %llu is too large", (unsigned long long)v);
    *extent = (uint32_t)v;
    return NNV_OK;
}

enum nnv_status nnv_move_infer(const struct nnv_call *c, const int *ids, int nids, nnv_move_extent *extent,
                               struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, 0)->shape;
    uint32_t rank = x->known_rank ? x->rank : NNV_DIM_UNKNOWN;
    bool known = true;
    enum nnv_status st = NNV_OK;
    for (int i = 0; !st && i < nids; i++) {
        st = nnv_extent_agree(c, ids[i], 0, &rank, err);
        known = known && nnv_known(c, ids[i]);
    }
    if (st) return st;
    struct nnv_shape s = {0};
    if (rank != NNV_DIM_UNKNOWN) {
        if (rank > NNV_MAX_RANK) return nnv_fail(err, NNV_INVALID, "rank %u is above %d", rank, NNV_MAX_RANK);
        s = nnv_shape_of_rank(rank);
        for (uint32_t d = 0; known && d < rank; d++)
            if ((st = extent(c, d, nnv_dim(x, d), &s.dims[d], err))) return nnv_at(err, st, "axis %u", d);
    }
    out[0] = s;
    return NNV_OK;
}

enum nnv_status nnv_move_open(struct nnv_kernel *k, uint32_t rank, const uint32_t *dims, struct nnv_move *m,
                              struct nnv_err *err) {
    *m = (struct nnv_move){.rank = rank};
    for (uint32_t d = 0; d < rank; d++) {
        m->dims[d] = dims[d];
        m->at[d] = NNV_NEW(k->scratch, int64_t, dims[d]);
        if (!m->at[d]) return nnv_no_memory(err);
    }
    return NNV_OK;
}

/* The elements of axes d and behind; from is the sum of the axes before, or NNV_MOVE_FILL. */
static double *run(const struct nnv_move *m, uint32_t d, int64_t from, const double *x, double fill, double *y) {
    for (uint32_t i = 0; i < m->dims[d]; i++) {
        int64_t at = m->at[d][i], to = from < 0 || at < 0 ? NNV_MOVE_FILL : from + at;
        if (d + 1 < m->rank)
            y = run(m, d + 1, to, x, fill, y);
        else
            *y++ = to < 0 ? fill : x[to];
    }
    return y;
}

void nnv_move_run(const struct nnv_move *m, const double *x, double fill, double *y) { run(m, 0, 0, x, fill, y); }

void nnv_strides(const struct nnv_shape *s, int64_t step[NNV_MAX_RANK]) {
    int64_t n = 1;
    for (uint32_t d = s->rank; d-- > 0; n *= s->dims[d]) step[d] = n;
}

enum nnv_status nnv_move_axes(struct nnv_kernel *k, nnv_move_index *index, double fill, struct nnv_err *err) {
    const struct nnv_shape *x = nnv_in_shape(k, 0), *y = nnv_out_shape(k, 0);
    struct nnv_move m;
    int64_t step[NNV_MAX_RANK] = {0};
    enum nnv_status st = nnv_move_open(k, y->rank, y->dims, &m, err);
    if (st) return st;
    nnv_strides(x, step);
    for (uint32_t d = 0; d < y->rank; d++)
        for (uint32_t i = 0; i < y->dims[d]; i++) {
            int64_t from = index(k->call, d, i, x->dims[d]);
            m.at[d][i] = from < 0 ? NNV_MOVE_FILL : from * step[d];
        }
    nnv_move_run(&m, nnv_real(k, 0), fill, k->out[0]);
    return NNV_OK;
}

void nnv_move_lines(struct nnv_lines l, const int64_t *at, uint32_t n, const double *x, double *y) {
    for (size_t o = 0; o < l.outer; o++)
        for (uint32_t j = 0; j < n; j++, y += l.inner) {
            const double *from = x + (o * l.n + (size_t)(at[j] < 0 ? 0 : at[j])) * l.inner;
            for (size_t p = 0; p < l.inner; p++) y[p] = at[j] < 0 ? (double)NAN : from[p];
        }
}

bool nnv_shifted_zero(const struct nnv_call *c) {
    const struct nnv_operand *x = nnv_in(c, 0)->operand;
    return x->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM && x->zero_point != 0;
}
