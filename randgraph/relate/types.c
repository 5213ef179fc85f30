/* SPDX-License-Identifier: Apache-2.0 */
/** @file types.c Relations through another type: round trips of a value, and an operation on real numbers. */
#include "randgraph/relate/relate.h"

/* A temporary of other type with the extents of operand like, which are known. */
static uint32_t as_type(struct nnv_related *r, uint32_t like, int32_t type) {
    const struct nnv_shape *s = &r->shapes[like];
    const uint32_t i = nnv_relate_tensor(r, like, s->rank, s->dims);
    struct nnv_operand *o = &r->to->model.main.operands[i];
    o->type = type;
    o->scale = 0;
    o->zero_point = 0;
    return i;
}

/* Puts an operation there, and one back, between a value and one of its readers. */
static void go_and_return(struct nnv_related *r, uint32_t reader, uint32_t position, int32_t there, int32_t type,
                          int32_t back) {
    const uint32_t value = r->from->model.main.operations[reader].in[position];
    const struct nnv_shape *s = &r->shapes[value];
    const uint32_t between = as_type(r, value, type), again = nnv_relate_tensor(r, value, s->rank, s->dims);
    nnv_relate_insert(r, reader, there, 1, &value, 1, &between);
    nnv_relate_insert(r, reader + 1, back, 1, &between, 1, &again);
    r->to->model.main.operations[reader + 2].in[position] = again;
}

static bool is_codes(int32_t type) {
    return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
}

static int32_t edge_type(struct nnv_related *r, uint32_t *reader, uint32_t *position) {
    if (!nnv_relate_edge(r, 1, reader, position)) return -1;
    const uint32_t value = r->from->model.main.operations[*reader].in[*position];
    return r->shapes[value].rank <= 4 ? r->from->model.main.operands[value].type : -1;
}

bool nnv_relate_quantised_again(struct nnv_related *r) {
    uint32_t reader, position;
    if (!is_codes(edge_type(r, &reader, &position))) return false;
    go_and_return(r, reader, position, ANEURALNETWORKS_DEQUANTIZE, ANEURALNETWORKS_TENSOR_FLOAT32,
                  ANEURALNETWORKS_QUANTIZE);
    return true;
}

bool nnv_relate_cast_twice(struct nnv_related *r) {
    uint32_t reader, position;
    const int32_t type = edge_type(r, &reader, &position);
    const bool half = type == ANEURALNETWORKS_TENSOR_FLOAT16;
    if (!half && type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM) return false;
    go_and_return(r, reader, position, ANEURALNETWORKS_CAST,
                  half ? ANEURALNETWORKS_TENSOR_FLOAT32 : ANEURALNETWORKS_TENSOR_INT32, ANEURALNETWORKS_CAST);
    return true;
}

/* Operations of which all quantised tensors may be floats, with the same scalars. */
static bool has_float_form(int32_t code) {
    switch (code) {
    case ANEURALNETWORKS_ADD:
    case ANEURALNETWORKS_AVERAGE_POOL_2D:
    case ANEURALNETWORKS_CONCATENATION:
    case ANEURALNETWORKS_HARD_SWISH:
    case ANEURALNETWORKS_LOGISTIC:
    case ANEURALNETWORKS_MAXIMUM:
    case ANEURALNETWORKS_MAX_POOL_2D:
    case ANEURALNETWORKS_MEAN:
    case ANEURALNETWORKS_MINIMUM:
    case ANEURALNETWORKS_MUL:
    case ANEURALNETWORKS_PRELU:
    case ANEURALNETWORKS_RELU:
    case ANEURALNETWORKS_RELU1:
    case ANEURALNETWORKS_RELU6:
    case ANEURALNETWORKS_RESIZE_BILINEAR:
    case ANEURALNETWORKS_SOFTMAX:
    case ANEURALNETWORKS_SUB:
    case ANEURALNETWORKS_TANH:
        return true;
    }
    return false;
}

/* All its codes are of known shape, of rank 4 or less. */
static bool lends_itself(const struct nnv_related *r, const struct nnv_operation *o) {
    const struct nnv_subgraph *m = &r->from->model.main;
    if (!has_float_form(o->type) || o->nout != 1 || !is_codes(m->operands[o->out[0]].type)) return false;
    for (uint32_t i = 0; i <= o->nin; i++) {
        const uint32_t operand = i < o->nin ? o->in[i] : o->out[0];
        const bool codes = is_codes(m->operands[operand].type);
        if (codes && (!nnv_shape_known(&r->shapes[operand]) || r->shapes[operand].rank > 4)) return false;
    }
    return true;
}

bool nnv_relate_through_floats(struct nnv_related *r) {
    const struct nnv_subgraph *m = &r->from->model.main;
    uint32_t pick = 0, inserted = 0;
    int64_t found = 0;
    for (uint32_t i = 0; i < m->noperations; i++)
        if (lends_itself(r, &m->operations[i]) && nnv_rng_int(&r->rng, 0, found++) == 0) pick = i;
    if (found == 0) return false;
    const struct nnv_operation *o = &m->operations[pick];
    for (uint32_t i = 0; i < o->nin; i++) {
        if (!is_codes(m->operands[o->in[i]].type)) continue;
        const uint32_t real = as_type(r, o->in[i], ANEURALNETWORKS_TENSOR_FLOAT32);
        nnv_relate_insert(r, pick + inserted++, ANEURALNETWORKS_DEQUANTIZE, 1, &o->in[i], 1, &real);
        r->to->model.main.operations[pick + inserted].in[i] = real;
    }
    const uint32_t result = as_type(r, o->out[0], ANEURALNETWORKS_TENSOR_FLOAT32);
    r->to->model.main.operations[pick + inserted].out[0] = result;
    nnv_relate_insert(r, pick + inserted + 1, ANEURALNETWORKS_QUANTIZE, 1, &result, 1, &o->out[0]);
    return true;
}
