/* SPDX-License-Identifier: Apache-2.0 */
/** @file bidirectional_sequence_rnn.c BIDIRECTIONAL_SEQUENCE_RNN. */
#include "reference/ops/recurrent/rnn.h"

enum { X = 0, FORWARD = 1, BACKWARD = 5, AUX = 9, AUX_FORWARD = 10, AUX_BACKWARD = 11, ACT, TIME_MAJOR, MERGE };

#define CELL_IDS(FIRST, AUX_WEIGHTS)                                                                                   \
    {                                                                                                                  \
        .weights = FIRST, .recurrent = FIRST + 1, .bias = FIRST + 2, .state = FIRST + 3, .aux_weights = AUX_WEIGHTS,   \
        .act = ACT                                                                                                     \
    }
static const struct nnv_rnn_ids ids[2] = {CELL_IDS(FORWARD, AUX_FORWARD), CELL_IDS(BACKWARD, AUX_BACKWARD)};
static const struct nnv_linking_ids linking = {AUX, AUX_FORWARD, AUX_BACKWARD};

#define CELL_SLOTS(FIRST, OF)                                                                                          \
    NNV_CELL_TENSOR(FIRST, OF " weights", 2, NNV_PARAM, 0.75),                                                         \
        NNV_CELL_TENSOR(FIRST + 1, OF " recurrent weights", 2, NNV_PARAM, 0.5),                                        \
        NNV_CELL_TENSOR(FIRST + 2, OF " bias", 1, NNV_PARAM, 1),                                                       \
        NNV_CELL_TENSOR(FIRST + 3, OF " hidden state", 2, 0, 2)

static const struct nnv_slot inputs[] = {
    NNV_CELL_TENSOR(X, "input", 3, 0, 2),
    CELL_SLOTS(FORWARD, "forward"),
    CELL_SLOTS(BACKWARD, "backward"),
    NNV_CELL_TENSOR(AUX, "auxiliary input", 3, NNV_OMITTABLE, 2),
    NNV_CELL_TENSOR(AUX_FORWARD, "forward auxiliary weights", 2, NNV_PARAM | NNV_OMITTABLE, 0.75),
    NNV_CELL_TENSOR(AUX_BACKWARD, "backward auxiliary weights", 2, NNV_PARAM | NNV_OMITTABLE, 0.75),
    NNV_SLOT_INT(ACT, "activation", NNV_ANY),
    NNV_SLOT_BOOL(TIME_MAJOR, "time major"),
    NNV_SLOT_BOOL(MERGE, "merge outputs"),
};

#define OUTPUT(ID, NAME)                                                                                               \
    { .id = ID, .name = NAME, .var = NNV_T, .rank_min = 3, .rank_max = 3 }
#define STATE(ID, NAME)                                                                                                \
    { .id = ID, .name = NAME " hidden state", .var = NNV_T, .rank_min = 2, .rank_max = 2, .group = 1, .level = 4 }
static const struct nnv_slot separate[] = {OUTPUT(0, "forward output"), OUTPUT(1, "backward output"),
                                           STATE(2, "forward"), STATE(3, "backward")};
static const struct nnv_slot merged[] = {OUTPUT(0, "output"), STATE(1, "forward"), STATE(2, "backward")};

enum { NIN = sizeof inputs / sizeof *inputs, SEPARATE = 0, MERGED = 1 };
static const struct nnv_form forms[] = {{"separate", inputs, NIN, separate, 4}, {"merged", inputs, NIN, merged, 3}};

static const struct nnv_sig sigs[] = {NNV_SIG(3, FLOAT32), NNV_SIG(3, FLOAT16)};

static bool is_merged(const struct nnv_call *c) { return c->form == &forms[MERGED]; }

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    enum nnv_status st = nnv_merge_check(c, MERGE, is_merged(c), err);
    if (!st) st = nnv_linking_check(c, &linking, err);
    return st ? st : nnv_activation_check(c, ACT, true, err);
}

/* Sequence and cells: x[0] forward, x[1] backward. */
static enum nnv_status extents(const struct nnv_call *c, struct nnv_sequence *s, struct nnv_rnn_extents x[2],
                               struct nnv_err *err) {
    uint32_t input = NNV_DIM_UNKNOWN, aux = NNV_DIM_UNKNOWN;
    *s = nnv_sequence_of(c, TIME_MAJOR);
    enum nnv_status st = nnv_sequence_agree(c, X, s, &input, err);
    if (!st) st = nnv_sequence_agree(c, AUX, s, &aux, err);
    for (int d = 0; !st && d < 2; d++) {
        x[d] = (struct nnv_rnn_extents){s->batch, nnv_linked_width(c, &linking, d, input, aux), aux, NNV_DIM_UNKNOWN};
        st = nnv_rnn_agree(c, &ids[d], &x[d], err);
        s->batch = x[d].batch;
    }
    return st;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_sequence s;
    struct nnv_rnn_extents x[2];
    enum nnv_status st = extents(c, &s, x, err);
    if (st) return st;
    struct nnv_directions dirs = {is_merged(c), {x[0].units, x[1].units}};
    uint32_t states = nnv_directions_outputs(&dirs);
    for (uint32_t d = 0; c->nout > states && d < 2; d++)
        out[states + d] = nnv_shape_make(2, (uint32_t[]){s.batch, x[d].units});
    return nnv_directions_infer(&s, &dirs, out, err);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_sequence s;
    struct nnv_rnn_extents x[2];
    enum nnv_status st = extents(k->call, &s, x, err);
    if (st) return st;
    struct nnv_directions dirs = {is_merged(k->call), {x[0].units, x[1].units}};
    uint32_t states = nnv_directions_outputs(&dirs);
    for (int d = 0; !st && d < 2; d++) {
        struct nnv_rnn cell = nnv_rnn_of(k, &ids[d]);
        struct nnv_steps steps = nnv_directions_steps(k, &s, &dirs, d);
        st = nnv_linked_steps(k, X, &linking, d, &steps, err);
        if (!st)
            st = nnv_rnn_sequence(k, &cell, &steps, nnv_real(k, ids[d].state),
                                  k->call->nout > states ? k->out[states + (uint32_t)d] : NULL, err);
    }
    return st;
}

#define STATES(X) X, X "_state"
#define MERGES(X) STATES(X), STATES(X "_merge")
static const struct nnv_factor factors[] = {
    NNV_CELL_FACTORS,
    NNV_SEQUENCE_FACTORS,
    NNV_DIRECTION_FACTORS,
    {.name = "activation", NNV_WORDS("tanh", "relu", "linear", "relu6", "logistic", "relu1")}};
static const char *const variants[] = {MERGES("plain"), MERGES("parallel"), MERGES("cross"), NULL};

static void sample(struct nnv_sample *s) {
    static const double codes[] = {4, 1, 0, 3, 4, 6}, row_codes[] = {4, 1, 0, 3, 6, 2};
    bool time_major = s->row ? nnv_sample_is(s, "time") : (s->index + s->variant) % 2 == 0,
         merge = nnv_sample_is(s, "merge");
    struct nnv_sequence seq = {true, time_major, nnv_row_extent(s, "time", nnv_sample_dim(s, 3, 6)),
                               nnv_row_extent(s, "batch", nnv_sample_dim(s, 2, 3))};
    struct nnv_rnn_extents x = {.batch = seq.batch, .input = nnv_row_extent(s, "input", nnv_sample_dim(s, 3, 7))};
    bool cross = nnv_sample_is(s, "cross");
    s->form = &forms[merge ? MERGED : SEPARATE];
    nnv_sample_tensor(s, X, 3, nnv_sequence_shape(&seq, x.input).dims);
    if (cross) x.aux = x.input; /* AOSP takes the input's width for that of the auxiliary input */
    if (cross || nnv_sample_is(s, "parallel")) nnv_sample_tensor(s, AUX, 3, nnv_sequence_shape(&seq, x.input).dims);
    for (int d = 0; d < 2; d++) {
        uint32_t units = nnv_row_extent(s, "units", nnv_sample_dim(s, 2, 5));
        x.units = units == x.units ? units + 1 : units; /* the directions differ */
        nnv_rnn_sample(s, &ids[d], &x);
    }
    nnv_sample_scalar(s, ACT,
                      s->row ? row_codes[nnv_row_named(s, "activation", 0)] : codes[(s->index + s->variant) % 6]);
    nnv_sample_scalar(s, TIME_MAJOR, time_major);
    nnv_sample_scalar(s, MERGE, merge);
    s->nout = (merge ? 1 : 2) + (nnv_sample_is(s, "state") ? 2 : 0);
}

const struct nnv_op nnv_op_BIDIRECTIONAL_SEQUENCE_RNN = {
    NNV_OP_NAMED(BIDIRECTIONAL_SEQUENCE_RNN),
    .level = 3,
    .formula = "two RNNs over the sequence, forward from t = 0 and backward from the last t; with an auxiliary input "
               "the backward one reads that instead (parallel linking, without auxiliary weights), or both read it "
               "beside the input (cross linking)",
    NNV_OP_FORMS(forms),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_LINEAR,
    .check = check,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
