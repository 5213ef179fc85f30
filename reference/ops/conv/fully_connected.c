/* SPDX-License-Identifier: Apache-2.0 */
/** @file fully_connected.c FULLY_CONNECTED. */
#include "reference/model/sample.h"
#include "reference/ops/common.h"
#include "reference/ops/elementwise/fuse.h"
#include "reference/ops/conv/linear.h"

enum { X, WEIGHTS, BIAS, ACT };

static const struct nnv_slot inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 2, .rank_max = 4},
    {.id = WEIGHTS,
     .name = "weights",
     .var = NNV_T,
     .rank_min = 2,
     .rank_max = 2,
     .flags = NNV_PARAM,
     .lo = -1,
     .hi = 1},
    {.id = BIAS, .name = "bias", .var = NNV_B, .rank_min = 1, .rank_max = 1, .flags = NNV_PARAM, .quant = NNV_Q_BIAS},
    NNV_SLOT_INT(ACT, "activation", NNV_FUSE),
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .rank_min = 2, .rank_max = 2}};

static const struct nnv_sig sigs[] = {
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32, [NNV_B] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, [NNV_B] = ANEURALNETWORKS_TENSOR_INT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16, [NNV_B] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, [NNV_B] = ANEURALNETWORKS_TENSOR_INT32}},
};

/* The input, whatever its rank, is [batch, size] with size from the weights. */
static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape, *w = &nnv_in(c, WEIGHTS)->shape;
    uint32_t units = nnv_dim(w, 0), size = nnv_dim(w, 1), batch = NNV_DIM_UNKNOWN;
    enum nnv_status st = nnv_extent_agree(c, BIAS, 0, &units, err);
    if (st) return st;
    if (nnv_shape_known(x) && size != NNV_DIM_UNKNOWN) {
        size_t total = nnv_shape_elems(x);
        if (size == 0 || total % size != 0)
            return nnv_fail(err, NNV_INVALID, "%zu input elements can't be divided into rows of %u, the weights' size",
                            total, size);
        batch = (uint32_t)(total / size);
    }
    out[0] = nnv_shape_make(2, (uint32_t[]){batch, units});
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    size_t batch = nnv_out_shape(k, 0)->dims[0], units = nnv_out_shape(k, 0)->dims[1];
    size_t size = nnv_in_shape(k, WEIGHTS)->dims[1];
    struct nnv_linear l = {
        .x = X, .w = WEIGHTS, .bias = BIAS, .positions = batch, .channels = (uint32_t)units, .terms = (double)size};
    if (!nnv_linear_replays(k)) {
        const double *x = nnv_units(k, X), *w = nnv_units(k, WEIGHTS);
        l.sums = NNV_NEW(k->scratch, double, batch *units);
        if (!l.sums) return nnv_no_memory(err);
        nnv_matmul(batch, units, size, x, w, l.sums);
        if (nnv_linear_needs_abs(k)) {
            x = nnv_linear_abs(k, x, batch * size);
            w = nnv_linear_abs(k, w, units * size);
            l.abs = NNV_NEW(k->scratch, double, batch *units);
            if (!x || !w || !l.abs) return nnv_no_memory(err);
            nnv_matmul(batch, units, size, x, w, l.abs);
        }
    }
    return nnv_linear_finish(k, &l, err);
}

static const char *const variants[] = {"rank2", "rank3", "rank4", "flatten", "vector", "wide",
                                       "large", "relu",  "relu1", "relu6",   "inputs", NULL};

enum { ROW_RANK, ROW_BATCH, ROW_SIZE, ROW_UNITS, ROW_ACTIVATION, ROW_WEIGHTS };
static const struct nnv_factor factors[] = {
    {.name = "rank", NNV_VALUES(2, 3, 4)},
    {.name = "batch", NNV_VALUES(1, 2, 4, 5), NNV_SIZES(8, 9, 16, 17, 33, 64, 65, 129), .large = 130},
    {.name = "size",
     .sums = true,
     NNV_VALUES(16, 1, 3, 8, 24),
     NNV_SIZES(15, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4096,
               4097),
     .huge = 4097},
    {.name = "units",
     NNV_VALUES(8, 1, 3, 16, 24),
     NNV_SIZES(15, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 512, 513, 1000, 1001, 1024, 1025, 4097,
               8193),
     .large = 513,
     .huge = 1025},
    {.name = "activation", NNV_WORDS("none", "relu", "relu1", "relu6")},
    {.name = "weights", NNV_WORDS("constant", "input")}};

/*
 * Dims of an input with batch * size elements. flatten: the batch that the weights make of it is not its first
 * extent, because the size spans only part of the rest.
 */
static uint32_t draw_input(struct nnv_sample *s, uint32_t batch, uint32_t size, uint32_t *dims) {
    uint32_t split = size % 3 == 0 ? 3 : size % 2 == 0 ? 2 : 1;
    uint32_t rank = nnv_sample_is(s, "rank3") ? 3 : nnv_sample_is(s, "rank4") || nnv_sample_is(s, "flatten") ? 4 : 2;
    if (s->row) rank = (uint32_t)nnv_sample_value(s, ROW_RANK);
    dims[0] = batch;
    if (rank == 3) dims[1] = split, dims[2] = size / split;
    if (rank == 4) dims[1] = split, dims[2] = 1, dims[3] = size / split;
    if (nnv_sample_is(s, "flatten")) dims[1] = 2, dims[2] = split, dims[3] = size / split;
    if (rank == 2) dims[1] = size;
    return rank;
}

static void sample(struct nnv_sample *s) {
    bool wide = nnv_sample_is(s, "wide"), large = nnv_sample_is(s, "large"), deep = nnv_sample_is(s, "rank3");
    uint32_t batch = nnv_sample_is(s, "vector") ? 1 : 2 + (uint32_t)s->index % 4, dims[4];
    uint32_t units = large ? nnv_sample_dim(s, 100, 260) : nnv_sample_dim(s, 5, 65);
    uint32_t size = wide ? nnv_sample_dim(s, 200, 400) : large ? nnv_sample_dim(s, 30, 70) : nnv_sample_dim(s, 3, 33);
    if (deep || nnv_sample_is(s, "rank4") || nnv_sample_is(s, "flatten")) size = size / 6 * 6 + 6;
    if (s->row) {
        batch = (uint32_t)nnv_sample_value(s, ROW_BATCH);
        units = (uint32_t)nnv_sample_value(s, ROW_UNITS);
        size = (uint32_t)nnv_sample_value(s, ROW_SIZE);
    }
    if (s->empty) batch = 0;
    uint32_t rank = draw_input(s, batch, size, dims);
    int act = nnv_fuse_drawn(s);
    struct nnv_sample_arg *x = nnv_sample_tensor(s, X, rank, dims);
    x->hi = act == ANEURALNETWORKS_FUSED_RELU1 ? (s->exact ? 1 : 0.5) : 4;
    x->lo = -x->hi;
    struct nnv_sample_arg *w = nnv_sample_tensor(s, WEIGHTS, 2, (uint32_t[]){units, size});
    struct nnv_sample_arg *b = nnv_sample_tensor(s, BIAS, 1, &units);
    w->input = b->input = s->row ? nnv_sample_value(s, ROW_WEIGHTS) : nnv_sample_is(s, "inputs");
    b->hi = act == ANEURALNETWORKS_FUSED_RELU1 ? 1 : 3;
    b->lo = -b->hi;
    nnv_sample_scalar(s, ACT, act);
}

const struct nnv_op nnv_op_FULLY_CONNECTED = {
    NNV_OP_NAMED(FULLY_CONNECTED),
    .level = 1,
    .formula = "y[n,u] = act(bias[u] + sum over i of x[n,i] * weights[u,i]), x reshaped to [elements / size, size]",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_LINEAR,
    .zero = NNV_ZERO_BATCH,
    .linear = true,
    .early = NNV_EARLY_INPUTS,
    .level_of = nnv_linear_level,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
