/* SPDX-License-Identifier: Apache-2.0 */
/** @file attributes_quant.c Scales, zero points and codes: how those of inputs and output lie to each other. */
#include "harness/debug/separate/attribute_list.h"

#include <math.h>

void nnv_add_centred(struct nnv_attribute_list *l, const char *whose, const struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    bool fits = true;
    if (!nnv_is_constant(o) || !nnv_is_quant(o->type) || t->size != 1 || t->per_channel) return;
    for (size_t i = 0; i < o->bytes; i++) {
        double v;
        nnv_load(o->type, (const char *)o->data + i, 1, &v);
        fits = fits && v - o->zero_point >= INT8_MIN && v - o->zero_point <= INT8_MAX;
    }
    nnv_add_flag(l, NNV_NAME("codes of %s minus zero point exceed signed bytes", whose), FROM_QUANT, !fits,
                 NNV_NAME("codes of %s minus zero point fit in signed bytes", whose));
}

void nnv_add_encoding(struct nnv_attribute_list *l, const char *whose, const struct nnv_operand *o,
                      const struct nnv_operand *y) {
    if (!nnv_is_quant(o->type)) return;
    const struct nnv_type *t = nnv_type(o->type);
    nnv_add_number(l, NNV_NAME("zero point of %s", whose), FROM_QUANT, o->zero_point);
    nnv_add_flag(l, NNV_NAME("zero point of %s is 0", whose), FROM_QUANT, o->zero_point == 0,
                 NNV_NAME("zero point of %s is not 0", whose));
    nnv_add_flag(l, NNV_NAME("zero point of %s is at the end of its range", whose), FROM_QUANT,
                 o->zero_point <= t->min || o->zero_point >= t->max, NULL);
    if (o == y || !nnv_is_quant(y->type) || !(o->scale > 0) || !(y->scale > 0)) return;
    nnv_add_number(l, NNV_NAME("scale of %s / scale of the output", whose), FROM_QUANT + 1,
                   (double)o->scale / (double)y->scale);
    nnv_add_flag(l, NNV_NAME("%s and the output have the same scale and zero point", whose), FROM_QUANT,
                 fabsf(o->scale - y->scale) <= 0 && o->zero_point == y->zero_point,
                 NNV_NAME("%s and the output have other scales or zero points", whose));
}

void nnv_add_shared_encoding(struct nnv_attribute_list *l, const struct nnv_call *c) {
    const struct nnv_operand *y = c->out[0].operand;
    bool any = false, same = true, moved = false, shifted = false;
    for (uint32_t i = 0; i < c->nin; i++) {
        const struct nnv_operand *o = c->in[i].present ? c->in[i].operand : NULL;
        if (!o || o->type != y->type) continue;
        any = true;
        same = same && fabsf(o->scale - y->scale) <= 0 && o->zero_point == y->zero_point;
        shifted = shifted || (fabsf(o->scale - y->scale) <= 0 && o->zero_point != y->zero_point);
        for (uint32_t k = 0; k < i; k++) { /* tables of codes may be kept by the scale alone */
            const struct nnv_operand *p = c->in[k].present ? c->in[k].operand : o;
            moved =
                moved || (p && p->type == o->type && fabsf(p->scale - o->scale) <= 0 && p->zero_point != o->zero_point);
        }
    }
    if (!any || !nnv_is_quant(y->type)) return;
    nnv_add_flag(l, "all inputs have the scale and zero point of the output", FROM_QUANT, same,
                 "an input and the output have other scales or zero points");
    nnv_add_flag(l, "an input has the scale of the output, but another zero point", FROM_QUANT, shifted, NULL);
    nnv_add_flag(l, "two inputs of one scale have different zero points", FROM_QUANT, moved, NULL);
}

void nnv_add_clamps(struct nnv_attribute_list *l, const struct nnv_call *c) {
    static const double upper[] = {[ANEURALNETWORKS_FUSED_RELU1] = 1, [ANEURALNETWORKS_FUSED_RELU6] = 6};
    const struct nnv_operand *y = c->out[0].operand;
    const struct nnv_type *t = nnv_type(y->type);
    const int32_t fused = c->op->code == ANEURALNETWORKS_RELU1   ? ANEURALNETWORKS_FUSED_RELU1
                          : c->op->code == ANEURALNETWORKS_RELU6 ? ANEURALNETWORKS_FUSED_RELU6
                                                                 : (int32_t)nnv_number_of(c, "activation");
    if (!nnv_is_quant(y->type) || t->size != 1 || !(y->scale > 0)) return;
    if (fused != ANEURALNETWORKS_FUSED_RELU1 && fused != ANEURALNETWORKS_FUSED_RELU6) return;
    nnv_add_flag(l, "the upper bound of the activation is beyond the codes of the output", FROM_QUANT,
                 upper[fused] / (double)y->scale + y->zero_point > t->max,
                 "the upper bound of the activation is a code of the output");
}
