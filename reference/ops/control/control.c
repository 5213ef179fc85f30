/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/control/control.h"

#include <string.h>

#include "reference/model/validate.h"

const struct nnv_subgraph *nnv_control_subgraph(const struct nnv_call *c, uint32_t pos, const struct nnv_model *model,
                                                struct nnv_err *err) {
    uint32_t index = c->in[pos].operand->subgraph;
    if (index < model->nreferenced) return &model->referenced[index];
    (void)nnv_fail(err, NNV_INVALID, "input %u: there is no referenced subgraph %u", pos, index);
    return NULL;
}

static enum nnv_status agree_channels(const struct nnv_channel_quant *a, const struct nnv_channel_quant *b,
                                      struct nnv_err *err) {
    if (a->count != b->count || (a->count && a->dim != b->dim))
        return nnv_fail(err, NNV_INVALID, "%u scales along %u, but %u along %u in the subgraph", a->count, a->dim,
                        b->count, b->dim);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->scales[i] != b->scales[i])
            return nnv_fail(err, NNV_INVALID, "scale %.9g of channel %u, but %.9g in the subgraph",
                            (double)a->scales[i], i, (double)b->scales[i]);
    return NNV_OK;
}

static enum nnv_status agree_shapes(const struct nnv_shape *a, const struct nnv_shape *b, struct nnv_err *err) {
    char is[256], should[256];
    bool agree = !a->known_rank || !b->known_rank || a->rank == b->rank;
    for (uint32_t d = 0; agree && a->known_rank && b->known_rank && d < a->rank; d++)
        agree = nnv_dim_agree(a->dims[d], b->dims[d]);
    if (agree) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "shape %s, but %s in the subgraph", nnv_shape_text(a, is, sizeof is),
                    nnv_shape_text(b, should, sizeof should));
}

enum nnv_status nnv_control_agree(const struct nnv_operand *a, const struct nnv_shape *shape,
                                  const struct nnv_operand *b, struct nnv_err *err) {
    const struct nnv_type *is = nnv_type(a->type), *should = nnv_type(b->type);
    if (a->type != b->type)
        return nnv_fail(err, NNV_INVALID, "%s, but %s in the subgraph", is ? is->name : "an unknown type",
                        should ? should->name : "an unknown type");
    if (a->scale != b->scale)
        return nnv_fail(err, NNV_INVALID, "scale %.9g, but %.9g in the subgraph", (double)a->scale, (double)b->scale);
    if (a->zero_point != b->zero_point)
        return nnv_fail(err, NNV_INVALID, "zero point %d, but %d in the subgraph", a->zero_point, b->zero_point);
    enum nnv_status st = agree_channels(&a->channel, &b->channel, err);
    if (st) return st;
    struct nnv_shape declared = nnv_operand_shape(b);
    return agree_shapes(shape, &declared, err);
}

/* Operand i of the list of a subgraph's inputs or outputs; NULL if its index is beyond the operands. */
static const struct nnv_operand *listed(const struct nnv_subgraph *s, const uint32_t *list, uint32_t i,
                                        struct nnv_err *err) {
    if (list[i] < s->noperands) return &s->operands[list[i]];
    (void)nnv_fail(err, NNV_INVALID, "there is no operand %u in the subgraph", list[i]);
    return NULL;
}

enum nnv_status nnv_control_inputs(const struct nnv_call *c, uint32_t first, const struct nnv_subgraph *s,
                                   const char *name, struct nnv_err *err) {
    if (s->nin != c->nin - first)
        return nnv_fail(err, NNV_INVALID, "%u argument%s, but the %s takes %u", c->nin - first,
                        c->nin - first == 1 ? "" : "s", name, s->nin);
    for (uint32_t i = 0; i < s->nin; i++) {
        const struct nnv_arg *a = &c->in[first + i];
        const struct nnv_operand *o = listed(s, s->in, i, err);
        enum nnv_status st = o ? nnv_control_agree(a->operand, &a->shape, o, err) : NNV_INVALID;
        if (st) return nnv_at(err, st, "input %u as input %u of the %s", first + i, i, name);
    }
    return NNV_OK;
}

enum nnv_status nnv_control_outputs(const struct nnv_call *c, const struct nnv_subgraph *s, const char *name,
                                    struct nnv_err *err) {
    for (uint32_t i = 0; i < c->nout; i++) {
        const struct nnv_operand *o = listed(s, s->out, i, err);
        enum nnv_status st = o ? nnv_control_agree(c->out[i].operand, &c->out[i].shape, o, err) : NNV_INVALID;
        if (st) return nnv_at(err, st, "output %u as output %u of the %s", i, i, name);
    }
    return NNV_OK;
}

enum nnv_status nnv_control_condition(const struct nnv_operand *o, const struct nnv_shape *shape, struct nnv_err *err) {
    char text[256];
    const struct nnv_type *t = nnv_type(o->type);
    if (o->type != ANEURALNETWORKS_TENSOR_BOOL8)
        return nnv_fail(err, NNV_INVALID, "a condition of type %s, expected TENSOR_BOOL8", t ? t->name : "unknown");
    if (!shape->known_rank || shape->rank != 1 || shape->dims[0] != 1)
        return nnv_fail(err, NNV_INVALID, "a condition of shape %s, expected [1]",
                        nnv_shape_text(shape, text, sizeof text));
    return NNV_OK;
}

enum nnv_status nnv_control_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    (void)err;
    memset(out, 0, c->nout * sizeof *out);
    return NNV_OK;
}
