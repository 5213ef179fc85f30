/* SPDX-License-Identifier: Apache-2.0 */
/* Emission: checking an operation, evaluating it where all is known, and changes of type and shape. */
#include <string.h>

#include "mlts/convert/convert.h"
#include "reference/eval/eval.h"
#include "reference/model/emit.h"

/* Bounds on what is computed when a file is read: numbers of one operation and of all together. */
enum { MOST_FOLDED = 1 << 22, MOST_FOLDED_IN_ALL = 1 << 25 };

static bool is_flow(int32_t code) { return code == ANEURALNETWORKS_IF || code == ANEURALNETWORKS_WHILE; }

/* Products, not elements, are what these cost. */
static bool costs_products(int32_t code) {
    switch (code) {
    case ANEURALNETWORKS_CONV_2D:
    case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
    case ANEURALNETWORKS_GROUPED_CONV_2D:
    case ANEURALNETWORKS_TRANSPOSE_CONV_2D:
    case ANEURALNETWORKS_FULLY_CONNECTED:
    case ANEURALNETWORKS_BATCH_MATMUL:
    case ANEURALNETWORKS_AVERAGE_POOL_2D:
    case ANEURALNETWORKS_MAX_POOL_2D:
    case ANEURALNETWORKS_L2_POOL_2D:
    case ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION:
    case ANEURALNETWORKS_LSTM:
    case ANEURALNETWORKS_RNN:
    case ANEURALNETWORKS_SVDF:
    case ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_LSTM:
    case ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_RNN:
    case ANEURALNETWORKS_BIDIRECTIONAL_SEQUENCE_LSTM:
    case ANEURALNETWORKS_BIDIRECTIONAL_SEQUENCE_RNN:
    case ANEURALNETWORKS_QUANTIZED_LSTM:
    case ANEURALNETWORKS_QUANTIZED_16BIT_LSTM:
    case ANEURALNETWORKS_DETECTION_POSTPROCESSING:
        return true;
    default:
        return false;
    }
}

/** All is known, the results are not the subgraph's, and there is not too much of it. */
static bool can_fold(struct nnv_cv *c, const struct nnv_lone *a, uint32_t nout, const uint32_t *out) {
    if (!c->folds || a->model.main.nin > 0 || costs_products(a->operation.type)) return false;
    size_t work = 0;
    for (uint32_t i = 0; i < a->model.main.noperands; i++) {
        size_t elems = 0, bytes;
        if (a->model.main.operands[i].lifetime == NNV_NO_VALUE) continue;
        if (!nnv_operand_size(&a->model.main.operands[i], &elems, &bytes) || elems > MOST_FOLDED) return false;
        work += elems;
    }
    for (uint32_t i = 0; i < nout && c->all->front->must_be_computed; i++)
        if (c->all->front->must_be_computed(c, out[i])) return false;
    if (work > MOST_FOLDED || c->all->folded + work > MOST_FOLDED_IN_ALL) return false;
    c->all->folded += work;
    return true;
}

/** Computes the outputs, which become constants. */
static void fold(struct nnv_cv *c, const struct nnv_lone *a, uint32_t nout, const uint32_t *out) {
    const struct nnv_eval_options options = {.most_numbers = 4 * MOST_FOLDED};
    struct nnv_golden *result = NNV_NEW(c->all->scratch, struct nnv_golden, nout);
    struct nnv_value none;
    struct nnv_err err = {0};
    if (!result || nnv_eval(&a->model, &none, &options, c->all->scratch, result, &err) != NNV_OK) {
        nnv_cv_fail(c, "%s", result ? err.text : NNV_OUT_OF_MEMORY);
        return;
    }
    for (uint32_t i = 0; i < nout; i++) {
        struct nnv_operand *o = &c->b.operand[out[i]];
        o->data = nnv_arena_copy(c->b.arena, result[i].value.data, result[i].value.bytes);
        o->bytes = result[i].value.bytes;
        o->lifetime = o->bytes <= 128 ? NNV_CONSTANT_COPY : NNV_CONSTANT_REFERENCE;
        if (!o->data) c->b.failed = true;
    }
}

void nnv_cv_emit_n(struct nnv_cv *c, int32_t code, uint32_t nin, const uint32_t *in, uint32_t nout,
                   const uint32_t *out) {
    struct nnv_lone a;
    struct nnv_err err = {0};
    int level;
    if (!nnv_cv_ok(c)) return;
    nnv_arena_reset(c->all->scratch);
    if (nnv_emit_isolate(&c->b, code, nin, in, nout, out, c->all->scratch, &a, &err) != NNV_OK) {
        c->b.failed = true;
        return;
    }
    if (!is_flow(code) && nnv_emit_check(&a, c->all->scratch, &level, NULL, &err) != NNV_OK) {
        for (uint32_t i = 0; i < a.model.main.noperands; i++)
            if (a.model.main.operands[i].rank > 4) nnv_cv_refuse(c, " of rank %u", a.model.main.operands[i].rank);
        nnv_cv_fail(c, "does not fit NNAPI's %s: %s", nnv_op(code)->name, err.text);
        return;
    }
    if (!is_flow(code) && can_fold(c, &a, nout, out))
        fold(c, &a, nout, out);
    else
        nnv_builder_operation(&c->b, code, nin, in, nout, out);
}

void nnv_cv_emit(struct nnv_cv *c, int32_t code, uint32_t nin, const uint32_t *in, uint32_t out) {
    nnv_cv_emit_n(c, code, nin, in, 1, &out);
}

/* ---------------------------------------------------------- changes of type */

static bool has_type(const struct nnv_cv *c, uint32_t operand, int32_t type) {
    return nnv_cv_at(c, operand)->type == type;
}

uint32_t nnv_cv_to_float(struct nnv_cv *c, uint32_t x) {
    if (!nnv_cv_ok(c) || has_type(c, x, ANEURALNETWORKS_TENSOR_FLOAT32)) return x;
    const uint32_t y = nnv_cv_temp_as(c, NNV_CV_F32, x);
    nnv_cv_convert(c, x, y);
    return y;
}

uint32_t nnv_cv_float_for(struct nnv_cv *c, uint32_t to) {
    return has_type(c, to, ANEURALNETWORKS_TENSOR_FLOAT32) ? to : nnv_cv_temp_as(c, NNV_CV_F32, to);
}

void nnv_cv_from_float(struct nnv_cv *c, uint32_t from, uint32_t to) {
    if (from != to) nnv_cv_convert(c, from, to);
}

/** To float32 from any type. */
static void widen(struct nnv_cv *c, uint32_t x, uint32_t y) {
    const struct nnv_operand *o = nnv_cv_at(c, x);
    if (nnv_is_quant(o->type)) {
        NNV_CV_EMIT(c, ANEURALNETWORKS_DEQUANTIZE, y, x);
    } else if (o->type == ANEURALNETWORKS_TENSOR_BOOL8) {
        const uint32_t ones = nnv_cv_filled(c, NNV_CV_F32, o->rank, o->dims, 1);
        const uint32_t zeros = nnv_cv_filled(c, NNV_CV_F32, nnv_cv_at(c, x)->rank, nnv_cv_at(c, x)->dims, 0);
        NNV_CV_EMIT(c, ANEURALNETWORKS_SELECT, y, x, ones, zeros);
    } else {
        NNV_CV_EMIT(c, ANEURALNETWORKS_CAST, y, x);
    }
}

/** From float32 to any type. */
static void narrow(struct nnv_cv *c, uint32_t x, uint32_t y) {
    static const uint32_t one = 1;
    if (nnv_cv_is_quant(c, y))
        NNV_CV_EMIT(c, ANEURALNETWORKS_QUANTIZE, y, x);
    else if (has_type(c, y, ANEURALNETWORKS_TENSOR_BOOL8))
        NNV_CV_EMIT(c, ANEURALNETWORKS_NOT_EQUAL, y, x, nnv_cv_filled(c, NNV_CV_F32, 1, &one, 0));
    else
        NNV_CV_EMIT(c, ANEURALNETWORKS_CAST, y, x);
}

void nnv_cv_convert(struct nnv_cv *c, uint32_t x, uint32_t y) {
    if (!nnv_cv_ok(c)) return;
    const bool from_float = has_type(c, x, ANEURALNETWORKS_TENSOR_FLOAT32);
    const bool to_float = has_type(c, y, ANEURALNETWORKS_TENSOR_FLOAT32);
    if (nnv_cv_same_encoding(c, x, y)) {
        nnv_cv_reshape(c, x, y);
    } else if (to_float) {
        widen(c, x, y);
    } else if (from_float) {
        narrow(c, x, y);
    } else {
        const uint32_t t = nnv_cv_temp_as(c, NNV_CV_F32, x);
        widen(c, x, t);
        narrow(c, t, y);
    }
}

uint32_t nnv_cv_movable(struct nnv_cv *c, uint32_t x) { return nnv_cv_is_quant(c, x) ? x : nnv_cv_to_float(c, x); }

/* --------------------------------------------------------- changes of shape */

void nnv_cv_reshape(struct nnv_cv *c, uint32_t x, uint32_t y) {
    if (!nnv_cv_ok(c) || x == y) return;
    if (has_type(c, x, ANEURALNETWORKS_TENSOR_BOOL8)) {
        if (nnv_cv_same_shape(c, x, y)) {
            NNV_CV_EMIT(c, ANEURALNETWORKS_LOGICAL_OR, y, x, x);
            return;
        }
        const uint32_t f = nnv_cv_to_float(c, x), g = nnv_cv_temp_as(c, NNV_CV_F32, y);
        nnv_cv_reshape(c, f, g);
        narrow(c, g, y);
        return;
    }
    NNV_CV_EMIT(c, ANEURALNETWORKS_RESHAPE, y, x, nnv_cv_shape_of(c, y));
}

uint32_t nnv_cv_reshaped(struct nnv_cv *c, uint32_t x, uint32_t rank, const uint32_t *dims) {
    if (!nnv_cv_ok(c)) return 0;
    const struct nnv_operand *o = nnv_cv_at(c, x);
    if (o->rank == rank && memcmp(o->dims, dims, rank * sizeof *dims) == 0) return x;
    const uint32_t y = nnv_cv_temp_shaped(c, x, rank, dims);
    nnv_cv_reshape(c, x, y);
    return y;
}

bool nnv_cv_moves(struct nnv_cv *c, uint32_t x, uint32_t y) {
    if (!nnv_cv_ok(c)) return false;
    if (!nnv_cv_same_encoding(c, x, y)) {
        if (has_type(c, x, nnv_cv_at(c, y)->type))
            nnv_cv_refuse(c, " with a change of quantisation");
        else
            nnv_cv_fail(c, "moves %s into %s", nnv_type(nnv_cv_at(c, x)->type)->name,
                        nnv_type(nnv_cv_at(c, y)->type)->name);
        return false;
    }
    /* Rounded differently in the file: one is as good as the other. */
    c->b.operand[y].scale = nnv_cv_at(c, x)->scale;
    return true;
}
