/* SPDX-License-Identifier: Apache-2.0 */
/** @file reshape.c RESHAPE. */
#include "reference/ops/common.h"

#include <string.h>

enum { X, SHAPE };

static const struct nnv_slot inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4, .domain = NNV_DOMAIN_ALL},
    NNV_SLOT_INTS(SHAPE, "shape"),
};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 1, .rank_max = 4, .quant = NNV_Q_SAME}};

static const struct nnv_sig sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(1, QUANT8_ASYMM), NNV_SIG(3, FLOAT16),
                                      NNV_SIG(4, QUANT8_ASYMM_SIGNED), NNV_SIG(6, INT32)};

/* The wanted extents; *wild is the position of -1, or the rank. */
static enum nnv_status read_shape(const struct nnv_arg *a, uint32_t rank, struct nnv_shape *s, uint32_t *wild,
                                  uint64_t *product, struct nnv_err *err) {
    *s = nnv_shape_of_rank(rank);
    *wild = rank;
    *product = 1;
    for (uint32_t i = 0; i < rank; i++) {
        int32_t d;
        memcpy(&d, (const char *)a->data + i * sizeof d, sizeof d);
        if (d == -1 && *wild < rank)
            return nnv_fail(err, NNV_INVALID, "the shape has -1 at %u and at %u; one is allowed", *wild, i);
        if (d == -1) {
            *wild = i;
            continue;
        }
        if (d < 1) return nnv_fail(err, NNV_INVALID, "extent %d of the shape is neither positive nor -1", d);
        s->dims[i] = (uint32_t)d;
        *product *= (uint32_t)d;
        if (*product > UINT32_MAX) return nnv_fail(err, NNV_INVALID, "the shape has too many elements");
    }
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_arg *a = nnv_in(c, SHAPE);
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    uint32_t rank = nnv_dim(&a->shape, 0), wild;
    if (rank == NNV_DIM_UNKNOWN) {
        out[0] = (struct nnv_shape){0};
        return NNV_OK;
    }
    if (rank > 4) return nnv_fail(err, NNV_INVALID, "the shape has %u extents; at most 4 are allowed", rank);
    struct nnv_shape s = nnv_shape_of_rank(rank);
    if (a->data) {
        uint64_t product, elems = 1;
        enum nnv_status st = read_shape(a, rank, &s, &wild, &product, err);
        if (st) return st;
        if (nnv_shape_known(x)) {
            elems = nnv_shape_elems(x);
            if (wild < rank && elems % product == 0) {
                s.dims[wild] = (uint32_t)(elems / product);
                product = elems;
            }
            if (product != elems)
                return nnv_fail(err, NNV_INVALID, "%llu elements cannot take a shape of %s%llu elements",
                                (unsigned long long)elems, wild < rank ? "a multiple of " : "",
                                (unsigned long long)product);
        }
    }
    out[0] = s;
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    memcpy(k->out[0], nnv_real(k, X), nnv_elems(k, X) * sizeof **k->out);
    return NNV_OK;
}

/* "wild": one extent is -1, in each place. */
enum { ROW_TO = NNV_SHAPE_OWN, ROW_WILD };
static const struct nnv_factor factors[] = {
    NNV_SHAPE_FACTORS, {.name = "to", NNV_VALUES(2, 1, 3, 4)}, {.name = "wild", NNV_WORDS("none", "first", "last")}};

/* The extents in the other order, dealt out to the new ones. */
static void row_sample(struct nnv_sample *s) {
    enum { NONE, FIRST, LAST };
    uint32_t dims[4], rank = nnv_sample_shape(s, dims), last = (uint32_t)nnv_sample_value(s, ROW_TO) - 1;
    const int32_t wild = nnv_sample_value(s, ROW_WILD);
    int32_t y[4] = {1, 1, 1, 1};
    for (uint32_t d = 0; d < rank; d++) y[d < last ? d : last] *= (int32_t)dims[rank - 1 - d];
    if (wild != NONE) y[wild == FIRST ? 0 : last] = -1;
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_ints(s, SHAPE, last + 1, y);
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "wild", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    bool wild = nnv_sample_is(s, "wild");
    uint32_t from = 4 - (uint32_t)s->index % 4, to = wild ? 1 + (uint32_t)s->index % 4 : (uint32_t)s->variant + 1;
    /* Four factors, dealt out to the extents of either shape in order. */
    uint32_t parts[4], x[4] = {1, 1, 1, 1};
    int32_t y[4] = {1, 1, 1, 1};
    nnv_sample_dims(s, 4, 700, parts);
    for (uint32_t i = 0; i < 4; i++) {
        x[i * from / 4] *= parts[i];
        y[i * to / 4] *= (int32_t)parts[(i + 1) % 4];
    }
    if (wild) y[(uint32_t)s->index / 4 % to] = -1;
    nnv_sample_tensor(s, X, from, x);
    nnv_sample_ints(s, SHAPE, to, y);
}

const struct nnv_op nnv_op_RESHAPE = {
    NNV_OP_NAMED(RESHAPE),
    .level = 1,
    .formula = "y = the elements of x in their order, in another shape; an extent of -1 follows from the others",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    .linear = true,
    .moves = true,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
