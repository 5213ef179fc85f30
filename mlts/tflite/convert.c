/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of tensors. */
#include "mlts/tflite/convert.h"

#include <string.h>

bool nnv_cv_has(const struct nnv_cv *c, uint32_t i) { return i < c->op->nin && c->op->in[i] >= 0; }

const struct nnv_tfl_tensor *nnv_cv_in_tensor(struct nnv_cv *c, uint32_t i) {
    if (nnv_cv_has(c, i)) return &c->graph->tensors[c->op->in[i]];
    nnv_cv_fail(c, "input %u is missing", i);
    return NULL;
}

const struct nnv_tfl_tensor *nnv_cv_out_tensor(struct nnv_cv *c, uint32_t i) {
    if (i < c->op->nout) return &c->graph->tensors[c->op->out[i]];
    nnv_cv_fail(c, "output %u is missing", i);
    return NULL;
}

/** What NNAPI calls the tensor's type; false with a refusal. */
static bool encode(struct nnv_cv *c, const struct nnv_tfl_tensor *t, struct nnv_encoding *e) {
    const bool scaled = t->scale_count == 1 && t->scales[0] > 0;
    *e = (struct nnv_encoding){0};
    switch (t->type) {
    case NNV_TFL_FLOAT32:
        e->type = ANEURALNETWORKS_TENSOR_FLOAT32;
        return true;
    case NNV_TFL_FLOAT16: /* weights are widened */
        e->type = t->data ? ANEURALNETWORKS_TENSOR_FLOAT32 : ANEURALNETWORKS_TENSOR_FLOAT16;
        return true;
    case NNV_TFL_INT32:
    case NNV_TFL_INT64: /* what is computed in 64 bits is so in 32 */
        e->type = ANEURALNETWORKS_TENSOR_INT32;
        return true;
    case NNV_TFL_BOOL:
        e->type = ANEURALNETWORKS_TENSOR_BOOL8;
        return true;
    case NNV_TFL_UINT8:
    case NNV_TFL_INT8:
    case NNV_TFL_INT4:
        if (t->odd_quantised || t->scale_count > 1 || (t->type == NNV_TFL_INT4 && !t->data)) break;
        e->type =
            t->type == NNV_TFL_UINT8 ? ANEURALNETWORKS_TENSOR_QUANT8_ASYMM : ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
        e->scale = scaled ? t->scales[0] : 1;
        e->zero_point = scaled ? (int32_t)t->zero_points[0] : 0;
        return true;
    case NNV_TFL_INT16:
        if (!scaled || t->zero_points[0] != 0) break;
        *e = (struct nnv_encoding){ANEURALNETWORKS_TENSOR_QUANT16_SYMM, t->scales[0], 0};
        return true;
    default:
        break;
    }
    nnv_cv_refuse(c, " of %s%s", nnv_tfl_type_name(t->type),
                  t->scale_count > 1 ? " with scales for channels"
                  : t->odd_quantised ? " quantised in blocks"
                                     : "");
    return false;
}

/** The data as the operand's type stores them; NULL with an error. */
static const void *stored(struct nnv_cv *c, const struct nnv_tfl_tensor *t, struct nnv_encoding e) {
    size_t n = nnv_tfl_elements(t), size = nnv_type(e.type)->size;
    uint8_t *to = nnv_cv_room(c, n * size) ? nnv_arena_alloc(c->b.arena, n, size) : NULL;
    if (!to) {
        c->b.failed = c->b.failed || nnv_cv_ok(c);
        return NULL;
    }
    for (size_t i = 0; t->type == NNV_TFL_INT64 && i < n; i++) {
        int64_t v;
        memcpy(&v, t->data + 8 * i, 8);
        if (v < INT32_MIN || v > INT32_MAX) {
            nnv_cv_refuse(c, " of an INT64 constant beyond 32 bits");
            return NULL;
        }
        memcpy(to + 4 * i, &(int32_t){(int32_t)v}, 4);
    }
    for (size_t i = 0; t->type == NNV_TFL_FLOAT16 && i < n; i++) {
        uint16_t h;
        memcpy(&h, t->data + 2 * i, 2);
        memcpy(to + 4 * i, &(float){(float)nnv_half_to_double(h)}, 4);
    }
    for (size_t i = 0; t->type == NNV_TFL_INT4 && i < n; i++) { /* two a byte, the lower half first */
        int v = t->data[i / 2] >> (i % 2 ? 4 : 0) & 15;
        to[i] = (uint8_t)(v < 8 ? v : v - 16);
    }
    if (t->type != NNV_TFL_INT64 && t->type != NNV_TFL_FLOAT16 && t->type != NNV_TFL_INT4)
        memcpy(to, t->data, n * size);
    return to;
}

uint32_t nnv_cv_tensor(struct nnv_cv *c, uint32_t tensor) {
    const struct nnv_tfl_tensor *t = &c->graph->tensors[tensor];
    struct nnv_encoding e;
    if (!nnv_cv_ok(c)) return 0;
    if (c->operand[tensor]) return c->operand[tensor];
    if (t->sparse) nnv_cv_refuse(c, " with a sparse tensor");
    if (!nnv_cv_ok(c) || !encode(c, t, &e)) return 0;
    uint32_t operand = nnv_cv_temp(c, e, t->rank, t->dims);
    const void *data = t->data && nnv_cv_ok(c) ? stored(c, t, e) : NULL;
    if (!nnv_cv_ok(c)) return 0;
    if (data) {
        struct nnv_operand *o = &c->b.operand[operand];
        o->data = data;
        o->bytes = nnv_tfl_elements(t) * nnv_type(e.type)->size;
        o->lifetime = NNV_CONSTANT_REFERENCE;
    }
    return c->operand[tensor] = operand;
}

uint32_t nnv_cv_in(struct nnv_cv *c, uint32_t i) {
    return nnv_cv_in_tensor(c, i) ? nnv_cv_tensor(c, (uint32_t)c->op->in[i]) : 0;
}

uint32_t nnv_cv_out(struct nnv_cv *c, uint32_t i) {
    return nnv_cv_out_tensor(c, i) ? nnv_cv_tensor(c, (uint32_t)c->op->out[i]) : 0;
}

void nnv_cv_alias(struct nnv_cv *c, uint32_t i, uint32_t operand) {
    if (!nnv_cv_ok(c)) return;
    const uint32_t tensor = (uint32_t)c->op->out[i];
    if (!c->is_output[tensor] && !c->operand[tensor])
        c->operand[tensor] = operand;
    else
        nnv_cv_reshape(c, operand, nnv_cv_out(c, i));
}
