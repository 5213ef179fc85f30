/* SPDX-License-Identifier: Apache-2.0 */
/** @file svdf.c SVDF. */
#include "reference/ops/recurrent/sequence.h"

enum { X, FEATURE, TIME, BIAS, STATE, RANK, ACT };

#define TENSOR(ID, NAME, NDIMS, FLAGS, LIMIT)                                                                          \
    {                                                                                                                  \
        .id = ID, .name = NAME, .var = NNV_T, .flags = FLAGS, .rank_min = NDIMS, .rank_max = NDIMS, .lo = -(LIMIT),    \
        .hi = LIMIT                                                                                                    \
    }

static const struct nnv_slot inputs[] = {
    TENSOR(X, "input", 2, 0, 4),
    TENSOR(FEATURE, "feature weights", 2, NNV_PARAM, 1),
    TENSOR(TIME, "time weights", 2, NNV_PARAM, 1),
    TENSOR(BIAS, "bias", 1, NNV_PARAM | NNV_OMITTABLE, 2),
    TENSOR(STATE, "state", 2, 0, 2),
    NNV_SLOT_INT(RANK, "rank", NNV_POSITIVE),
    NNV_SLOT_INT(ACT, "activation", NNV_ANY),
};
static const struct nnv_slot outputs[] = {
    {.id = 0, .name = "state", .var = NNV_T, .rank_min = 2, .rank_max = 2},
    {.id = 1, .name = "output", .var = NNV_T, .rank_min = 2, .rank_max = 2},
};

static const struct nnv_sig sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(3, FLOAT16)};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    return nnv_activation_check(c, ACT, true, err);
}

/* Filters are units times rank; the state holds what each filter gave in the last `memory` steps. */
static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    uint32_t batch = NNV_DIM_UNKNOWN, in = NNV_DIM_UNKNOWN, filters = NNV_DIM_UNKNOWN, memory = NNV_DIM_UNKNOWN;
    uint32_t units = NNV_DIM_UNKNOWN, state = NNV_DIM_UNKNOWN;
    enum nnv_status st;
    if ((st = nnv_extent_agree(c, X, 0, &batch, err)) || (st = nnv_extent_agree(c, X, 1, &in, err)) ||
        (st = nnv_extent_agree(c, FEATURE, 0, &filters, err)) || (st = nnv_extent_agree(c, FEATURE, 1, &in, err)) ||
        (st = nnv_extent_agree(c, TIME, 0, &filters, err)) || (st = nnv_extent_agree(c, TIME, 1, &memory, err)))
        return st;
    if (filters != NNV_DIM_UNKNOWN && nnv_known(c, RANK)) {
        uint32_t rank = (uint32_t)nnv_int(c, RANK);
        if (filters % rank != 0)
            return nnv_fail(err, NNV_INVALID, "%u filters are not a multiple of rank %u", filters, rank);
        units = filters / rank;
    }
    if (filters != NNV_DIM_UNKNOWN && memory != NNV_DIM_UNKNOWN) {
        if ((uint64_t)filters * memory > NNV_DIM_MAX)
            return nnv_fail(err, NNV_INVALID, "%u filters of memory %u are too large", filters, memory);
        state = filters * memory;
    }
    if ((st = nnv_extent_agree(c, BIAS, 0, &units, err)) || (st = nnv_extent_agree(c, STATE, 0, &batch, err)) ||
        (st = nnv_extent_agree(c, STATE, 1, &state, err)))
        return st;
    out[0] = nnv_shape_make(2, (uint32_t[]){batch, state});
    out[1] = nnv_shape_make(2, (uint32_t[]){batch, units});
    return NNV_OK;
}

struct sizes {
    size_t input, filters, memory, rank;
};

/* One batch. memory: the filters' histories with this step's result in the last column; next: zeros before. */
static void step(struct nnv_kernel *k, const struct sizes *z, const double *x, const double *state, double *memory,
                 double *next, double *y) {
    const double *feature = nnv_real(k, FEATURE), *time = nnv_real(k, TIME), *bias = nnv_real(k, BIAS);
    size_t m = z->memory;
    for (size_t f = 0; f < z->filters; f++) {
        struct nnv_dot d = {0};
        nnv_dot_add(&d, z->input, x, feature + f * z->input);
        for (size_t t = 0; t + 1 < m; t++) memory[f * m + t] = state[f * m + t];
        memory[f * m + m - 1] = nnv_dot_end(k, &d);
        for (size_t t = 0; t + 1 < m; t++) next[f * m + t] = memory[f * m + t + 1];
    }
    for (size_t u = 0; u < z->filters / z->rank; u++) {
        struct nnv_dot d = {0};
        size_t first = u * z->rank * m; /* the unit's filters lie one behind the other */
        if (bias) d = (struct nnv_dot){bias[u], fabs(bias[u]), 1};
        nnv_dot_add(&d, z->rank * m, memory + first, time + first);
        y[u] = nnv_activation(k, nnv_int(k->call, ACT), nnv_dot_end(k, &d));
    }
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_shape *x = nnv_in_shape(k, X), *time = nnv_in_shape(k, TIME);
    struct sizes z = {x->dims[1], time->dims[0], time->dims[1], (size_t)nnv_int(k->call, RANK)};
    size_t state = z.filters * z.memory;
    double *memory = NNV_NEW(k->scratch, double, state);
    if (!memory) return nnv_no_memory(err);
    for (size_t b = 0; b < x->dims[0]; b++)
        step(k, &z, nnv_real(k, X) + b * z.input, nnv_real(k, STATE) + b * state, memory, k->out[0] + b * state,
             k->out[1] + b * (z.filters / z.rank));
    return NNV_OK;
}

static const struct nnv_factor factors[] = {
    NNV_CELL_FACTORS,
    {.name = "rank", NNV_VALUES(1, 2, 3), NNV_SIZES(4, 8)},
    {.name = "memory", NNV_VALUES(8, 1, 3, 10), NNV_SIZES(16, 17, 33, 64, 65, 129)},
    {.name = "activation", NNV_WORDS("none", "relu", "relu6", "relu1", "tanh", "logistic")},
    {.name = "with", NNV_WORDS("bias", "weights")}};
static const char *const variants[] = {"rank1", "rank2", "rank3", "rank1_bias", "rank2_bias", "rank3_bias", NULL};

static void sample(struct nnv_sample *s) {
    static const double codes[] = {0, 1, 3, 2, 4, 6};
    uint32_t rank = nnv_row_extent(s, "rank", 1 + (uint32_t)s->variant % 3);
    uint32_t batch = nnv_row_extent(s, "batch", nnv_sample_dim(s, 2, 3));
    uint32_t in = nnv_row_extent(s, "input", nnv_sample_dim(s, 3, 11));
    uint32_t units = nnv_row_extent(s, "units", nnv_sample_dim(s, 2, 5));
    uint32_t memory = nnv_row_extent(s, "memory", nnv_sample_dim(s, 2, 10)), filters = units * rank;
    nnv_sample_tensor(s, X, 2, (uint32_t[]){batch, in});
    nnv_sample_tensor(s, FEATURE, 2, (uint32_t[]){filters, in});
    nnv_sample_tensor(s, TIME, 2, (uint32_t[]){filters, memory});
    if (nnv_sample_is(s, "bias")) nnv_sample_tensor(s, BIAS, 1, &units);
    nnv_sample_tensor(s, STATE, 2, (uint32_t[]){batch, filters * memory});
    nnv_sample_scalar(s, RANK, rank);
    nnv_sample_scalar(s, ACT, codes[nnv_row_named(s, "activation", s->index % 3)]);
}

const struct nnv_op nnv_op_SVDF = {
    NNV_OP_NAMED(SVDF),
    .level = 1,
    .formula = "m = state with its last column replaced by x * feature^T; y[u] = act(bias[u] + sum over the rank "
               "filters of u and over t of m[f,t] * time[f,t]); state' = m moved left by one column",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_LINEAR,
    .check = check,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
