/* SPDX-License-Identifier: Apache-2.0 */
/** @file bidirectional_sequence_lstm.c BIDIRECTIONAL_SEQUENCE_LSTM. */
#include "reference/ops/recurrent/lstm.h"

enum {
    X = 0,
    FORWARD = 1,
    BACKWARD = FORWARD + NNV_LSTM_PARTS,
    FORWARD_STATE = 35,
    FORWARD_CELL = 36,
    BACKWARD_STATE = 37,
    BACKWARD_CELL = 38,
    AUX = 39,
    AUX_FORWARD = 40,
    AUX_BACKWARD = 44,
    ACT = 48,
    CELL_CLIP = 49,
    PROJECTION_CLIP = 50,
    MERGE = 51,
    TIME_MAJOR = 52,
    NORM_FORWARD = 53,
    NORM_BACKWARD = 57,
};
#define CELL_IDS(OF)                                                                                                   \
    {                                                                                                                  \
        .first = OF, .state = OF##_STATE, .cell_state = OF##_CELL, .norm = NORM_##OF, .aux_weights = AUX_##OF,         \
        .act = ACT, .cell_clip = CELL_CLIP, .projection_clip = PROJECTION_CLIP                                         \
    }
static const struct nnv_lstm_ids ids[2] = {CELL_IDS(FORWARD), CELL_IDS(BACKWARD)};
static const struct nnv_linking_ids linking = {AUX, AUX_FORWARD + NNV_GATE_FORGET, AUX_BACKWARD + NNV_GATE_FORGET};

#define AUX_SLOTS(FIRST, OF)                                                                                           \
    NNV_CELL_TENSOR(FIRST, OF " auxiliary-to-input weights", 2, NNV_LSTM_OPTIONAL, 0.75),                              \
        NNV_CELL_TENSOR(FIRST + 1, OF " auxiliary-to-forget weights", 2, NNV_LSTM_OPTIONAL, 0.75),                     \
        NNV_CELL_TENSOR(FIRST + 2, OF " auxiliary-to-cell weights", 2, NNV_LSTM_OPTIONAL, 0.75),                       \
        NNV_CELL_TENSOR(FIRST + 3, OF " auxiliary-to-output weights", 2, NNV_LSTM_OPTIONAL, 0.75)

static const struct nnv_slot inputs[] = {
    NNV_CELL_TENSOR(X, "input", 3, 0, 2),
    NNV_LSTM_SLOTS(FORWARD, "forward "),
    NNV_LSTM_SLOTS(BACKWARD, "backward "),
    NNV_CELL_TENSOR(FORWARD_STATE, "forward output state", 2, 0, 1),
    NNV_CELL_TENSOR(FORWARD_CELL, "forward cell state", 2, 0, 2),
    NNV_CELL_TENSOR(BACKWARD_STATE, "backward output state", 2, 0, 1),
    NNV_CELL_TENSOR(BACKWARD_CELL, "backward cell state", 2, 0, 2),
    NNV_CELL_TENSOR(AUX, "auxiliary input", 3, NNV_OMITTABLE, 2),
    AUX_SLOTS(AUX_FORWARD, "forward"),
    AUX_SLOTS(AUX_BACKWARD, "backward"),
    NNV_SLOT_INT(ACT, "activation", NNV_ANY),
    NNV_SLOT_NUMBER(CELL_CLIP, "cell clip", NNV_NOT_NEGATIVE),
    NNV_SLOT_NUMBER(PROJECTION_CLIP, "projection clip", NNV_NOT_NEGATIVE),
    NNV_SLOT_BOOL(MERGE, "merge outputs"),
    NNV_SLOT_BOOL(TIME_MAJOR, "time major"),
    NNV_LSTM_NORM_SLOTS(NORM_FORWARD, "forward ", 0, 0),
    NNV_LSTM_NORM_SLOTS(NORM_BACKWARD, "backward ", 0, 0),
};

#define OUTPUT(ID, NAME)                                                                                               \
    { .id = ID, .name = NAME, .var = NNV_T, .rank_min = 3, .rank_max = 3 }
#define STATE(ID, NAME)                                                                                                \
    { .id = ID, .name = NAME " state", .var = NNV_T, .rank_min = 2, .rank_max = 2, .group = 1, .level = 4 }
#define STATES(FIRST)                                                                                                  \
    STATE(FIRST, "forward output"), STATE(FIRST + 1, "forward cell"), STATE(FIRST + 2, "backward output"),             \
        STATE(FIRST + 3, "backward cell")
static const struct nnv_slot separate[] = {OUTPUT(0, "forward output"), OUTPUT(1, "backward output"), STATES(2)};
static const struct nnv_slot merged[] = {OUTPUT(0, "output"), STATES(1)};

enum { NIN = sizeof inputs / sizeof *inputs, SEPARATE = 0, MERGED = 1 };
static const struct nnv_form forms[] = {{"separate", inputs, NIN, separate, 6}, {"merged", inputs, NIN, merged, 5}};

static const struct nnv_sig sigs[] = {
    NNV_SIG_SCALAR(3, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),
};

static bool is_merged(const struct nnv_call *c) { return c->form == &forms[MERGED]; }

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    static const char *const direction[] = {"forward cell", "backward cell"};
    enum nnv_status st = nnv_merge_check(c, MERGE, is_merged(c), err);
    for (int d = 0; !st && d < 2; d++)
        if ((st = nnv_lstm_check(c, &ids[d], err))) return nnv_at(err, st, "%s", direction[d]);
    if (!st) st = nnv_linking_check(c, &linking, err);
    return st ? st : nnv_activation_check(c, ACT, false, err);
}

/* Sequence and cells: x[0] forward, x[1] backward. */
static enum nnv_status extents(const struct nnv_call *c, struct nnv_sequence *s, struct nnv_lstm_extents x[2],
                               struct nnv_err *err) {
    uint32_t input = NNV_DIM_UNKNOWN, aux = NNV_DIM_UNKNOWN;
    *s = nnv_sequence_of(c, TIME_MAJOR);
    enum nnv_status st = nnv_sequence_agree(c, X, s, &input, err);
    if (!st) st = nnv_sequence_agree(c, AUX, s, &aux, err);
    for (int d = 0; !st && d < 2; d++) {
        x[d] = (struct nnv_lstm_extents){s->batch, nnv_linked_width(c, &linking, d, input, aux), aux, NNV_DIM_UNKNOWN,
                                         NNV_DIM_UNKNOWN};
        st = nnv_lstm_agree(c, &ids[d], &x[d], err);
        s->batch = x[d].batch;
    }
    return st;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_sequence s;
    struct nnv_lstm_extents x[2];
    enum nnv_status st = extents(c, &s, x, err);
    if (st) return st;
    struct nnv_directions dirs = {is_merged(c), {x[0].output, x[1].output}};
    uint32_t states = nnv_directions_outputs(&dirs);
    for (uint32_t d = 0; c->nout > states && d < 2; d++) {
        out[states + 2 * d] = nnv_shape_make(2, (uint32_t[]){s.batch, x[d].output});
        out[states + 2 * d + 1] = nnv_shape_make(2, (uint32_t[]){s.batch, x[d].units});
    }
    return nnv_directions_infer(&s, &dirs, out, err);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_sequence s;
    struct nnv_lstm_extents x[2];
    enum nnv_status st = extents(k->call, &s, x, err);
    if (st) return st;
    struct nnv_directions dirs = {is_merged(k->call), {x[0].output, x[1].output}};
    uint32_t states = nnv_directions_outputs(&dirs);
    for (uint32_t d = 0; !st && d < 2; d++) {
        struct nnv_lstm cell = nnv_lstm_of(k, &ids[d]);
        struct nnv_steps steps = nnv_directions_steps(k, &s, &dirs, (int)d);
        double *const *to = k->call->nout > states ? k->out + states + 2 * d : (double *const[]){NULL, NULL};
        st = nnv_linked_steps(k, X, &linking, (int)d, &steps, err);
        if (!st)
            st = nnv_lstm_sequence(k, &cell, &steps, nnv_real(k, ids[d].state), nnv_real(k, ids[d].cell_state), to[0],
                                   to[1], err);
    }
    return st;
}

/* Each linking with each part of a cell; outputs, order and states walk with the index. */
#define PARTS(X)                                                                                                       \
    X, X "_norm", X "_peephole", X "_cifg", X "_cifg_peephole_norm", X "_projection", X "_projection_bias_peephole",   \
        X "_cifg_projection_norm"
static const char *const variants[] = {PARTS("plain"), PARTS("parallel"), PARTS("cross"), NULL};

static const struct nnv_factor factors[] = {NNV_CELL_FACTORS, NNV_LSTM_FACTORS, NNV_SEQUENCE_FACTORS,
                                            NNV_DIRECTION_FACTORS};

static void sample(struct nnv_sample *s) {
    struct nnv_lstm_parts parts = nnv_lstm_parts_of(s);
    struct nnv_lstm_extents x = nnv_lstm_sample_extents(s, parts.projection);
    int walk = s->index + s->variant;
    bool merge = s->row ? nnv_sample_is(s, "merge") : walk % 2 == 1;
    bool states = s->row ? nnv_sample_is(s, "state") : walk % 3 != 0;
    struct nnv_sequence seq = {true, s->row ? nnv_sample_is(s, "time") : walk / 2 % 2 == 0,
                               nnv_row_extent(s, "time", nnv_sample_dim(s, 3, 5)), x.batch};
    parts.aux = nnv_sample_is(s, "cross");
    s->form = &forms[merge ? MERGED : SEPARATE];
    s->nout = (merge ? 1 : 2) + (states ? 4 : 0);
    nnv_sample_tensor(s, X, 3, nnv_sequence_shape(&seq, x.input).dims);
    if (parts.aux) x.aux = x.input; /* AOSP takes the input's width for that of the auxiliary input */
    if (parts.aux || nnv_sample_is(s, "parallel")) nnv_sample_tensor(s, AUX, 3, nnv_sequence_shape(&seq, x.input).dims);
    nnv_lstm_sample(s, &ids[0], &parts, &x);
    if (s->index % 4 == 2) parts.cifg = !parts.cifg; /* the directions differ */
    x.output++;
    x.units++;
    nnv_lstm_sample(s, &ids[1], &parts, &x);
    nnv_lstm_sample_scalars(s, &ids[0]);
    nnv_sample_scalar(s, MERGE, merge);
    nnv_sample_scalar(s, TIME_MAJOR, seq.time_major);
}

const struct nnv_op nnv_op_BIDIRECTIONAL_SEQUENCE_LSTM = {
    NNV_OP_NAMED(BIDIRECTIONAL_SEQUENCE_LSTM),
    .level = 3,
    .formula = "two LSTMs over the sequence, forward from t = 0 and backward from the last t; with an auxiliary input "
               "the backward one reads that instead (parallel linking, without auxiliary weights), or both read it "
               "beside the input (cross linking)",
    NNV_OP_FORMS(forms),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_LINEAR,
    .check = check,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
