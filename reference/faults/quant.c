/* SPDX-License-Identifier: Apache-2.0 */
/** @file quant.c Changes of scales and zero points. */
#include <math.h>
#include <string.h>

#include "reference/faults/faults.h"

/** The operand of an input whose encoding may be changed, of this use alone, or NULL. */
static struct nnv_operand *asymmetric(struct nnv_edit *e, const char *slot, int *pos) {
    *pos = nnv_edit_find(e, slot);
    if (*pos < 0 || !nnv_edit_known(e, *pos)) return NULL;
    int32_t type = nnv_edit_operand(e, *pos)->type;
    bool fits = type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ||
                type == ANEURALNETWORKS_TENSOR_QUANT16_ASYMM;
    return fits ? nnv_edit_own(e, *pos) : NULL;
}

bool nnv_change_zero_point(struct nnv_edit *e, const struct nnv_fault *f) {
    bool any = false;
    for (int i = 0, pos; i < NNV_FAULT_SLOTS && f->slots[i]; i++) {
        struct nnv_operand *o = asymmetric(e, f->slots[i], &pos);
        if (!o) continue;
        const struct nnv_type *t = nnv_type(o->type);
        int32_t z = o->zero_point + (int32_t)f->value;
        if (z < t->min || z > t->max) z = o->zero_point - (int32_t)f->value;
        o->zero_point = z;
        any = true;
    }
    return any;
}

bool nnv_change_no_zero_point(struct nnv_edit *e, const struct nnv_fault *f) {
    bool any = false;
    for (int i = 0, pos; i < NNV_FAULT_SLOTS && f->slots[i]; i++) {
        struct nnv_operand *o = asymmetric(e, f->slots[i], &pos);
        if (!o || o->zero_point == (int32_t)f->value) continue;
        o->zero_point = (int32_t)f->value;
        any = true;
    }
    return any;
}

bool nnv_change_output_zero_point(struct nnv_edit *e, const struct nnv_fault *f) {
    struct nnv_operand *o = &e->spec.model.main.operands[nnv_edit_op(e)->out[0]];
    const struct nnv_type *t = nnv_type(o->type);
    const int32_t z = o->zero_point + (int32_t)f->value;
    if (o->lifetime != NNV_SUBGRAPH_OUTPUT || t->kind != NNV_KIND_QUANT || t->size != 1) return false;
    o->zero_point = z < t->min || z > t->max ? o->zero_point - (int32_t)f->value : z;
    return true;
}

/** Gives all channels the scale of the first. */
bool nnv_change_first_scale(struct nnv_edit *e, const struct nnv_fault *f) {
    int pos = nnv_edit_find(e, f->slots[0]);
    if (pos < 0 || !nnv_edit_known(e, pos)) return false;
    struct nnv_operand *o = nnv_edit_own(e, pos);
    uint32_t n = o->channel.count;
    float *scales = n < 2 ? NULL : NNV_NEW(e->arena, float, n);
    bool any = false;
    for (uint32_t i = 0; scales && i < n; i++) {
        scales[i] = o->channel.scales[0];
        any |= scales[i] < o->channel.scales[i] || scales[i] > o->channel.scales[i];
    }
    if (scales) o->channel.scales = scales;
    return any;
}

static bool encode(struct nnv_operand *o, const struct nnv_operand *like) {
    if (o->type != like->type) return false;
    bool differs = o->scale < like->scale || o->scale > like->scale || o->zero_point != like->zero_point;
    o->scale = like->scale;
    o->zero_point = like->zero_point;
    return differs;
}

bool nnv_change_like_output(struct nnv_edit *e, const struct nnv_fault *f) {
    const struct nnv_operand y = *e->call->out[0].operand;
    bool any = false;
    for (uint32_t i = 0; i < e->call->nin; i++) {
        const struct nnv_operand *x = nnv_edit_operand(e, (int)i);
        if (!nnv_is_quant(x->type) || !nnv_edit_known(e, (int)i)) continue;
        if (f->value != 0 && x->zero_point != y.zero_point) continue;
        any |= encode(nnv_edit_own(e, (int)i), &y);
    }
    return any;
}

bool nnv_change_like(struct nnv_edit *e, const struct nnv_fault *f) {
    int pos, from = nnv_edit_find(e, f->slots[1]);
    struct nnv_operand *o = from < 0 ? NULL : asymmetric(e, f->slots[0], &pos);
    if (!o || nnv_edit_op(e)->in[pos] == nnv_edit_op(e)->in[from]) return false;
    return encode(o, nnv_edit_operand(e, from));
}

bool nnv_change_narrow_centred(struct nnv_edit *e, const struct nnv_fault *f) {
    bool any = false;
    for (int i = 0, pos; i < NNV_FAULT_SLOTS && f->slots[i]; i++) {
        const struct nnv_operand *o = asymmetric(e, f->slots[i], &pos);
        size_t n;
        double *v = o ? nnv_edit_numbers(e, pos, &n) : NULL;
        bool changed = false;
        for (size_t k = 0; v && k < n; k++) {
            const double to = fmin(fmax(v[k], o->zero_point + INT8_MIN), o->zero_point + INT8_MAX);
            changed = changed || to < v[k] || to > v[k];
            v[k] = to;
        }
        if (changed) nnv_edit_set_numbers(e, pos, v, n);
        any = any || changed;
    }
    return any;
}

bool nnv_change_bare_relu(struct nnv_edit *e, const struct nnv_fault *f) {
    const struct nnv_operand *y = e->call->out[0].operand;
    bool fits = y->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || y->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    return fits && y->zero_point != 0 && nnv_change_numbers(e, f);
}

bool nnv_change_pad_stored(struct nnv_edit *e, const struct nnv_fault *f) {
    const struct nnv_operand *y = e->call->out[0].operand;
    struct nnv_operation *op = nnv_edit_op(e);
    (void)f;
    if (!nnv_is_quant(y->type) || y->zero_point == 0 || op->nin != 2) return false;
    uint32_t *in = NNV_NEW(e->arena, uint32_t, 3);
    if (!in) return false;
    const uint32_t value = nnv_edit_add_int(e, 0);
    op = nnv_edit_op(e);
    memcpy(in, op->in, 2 * sizeof *in);
    in[2] = value;
    op->in = in;
    op->nin = 3;
    op->type = ANEURALNETWORKS_PAD_V2;
    return true;
}

bool nnv_change_half_unit(struct nnv_edit *e, const struct nnv_fault *f) {
    int x = nnv_edit_find(e, "input"), w = nnv_edit_find(e, f->slots[1]), b = nnv_edit_find(e, f->slots[0]);
    if (x < 0 || w < 0 || b < 0 || nnv_edit_operand(e, b)->type != ANEURALNETWORKS_TENSOR_INT32) return false;
    const struct nnv_operand *xo = nnv_edit_operand(e, x), *wo = nnv_edit_operand(e, w);
    size_t n;
    double *bias = nnv_edit_numbers(e, b, &n);
    bool any = false;
    if (!bias || (wo->channel.count && wo->channel.count != n)) return false;
    for (size_t i = 0; i < n; i++) {
        double scale = (double)xo->scale * (double)(wo->channel.count ? wo->channel.scales[i] : wo->scale);
        double half = nearbyint(f->value * (double)e->call->out[0].operand->scale / scale);
        if (!(fabs(half) >= 1 && fabs(half) < 0x1p30 && fabs(bias[i] - half) < 0x1p31)) continue;
        bias[i] -= half;
        any = true;
    }
    if (any) nnv_edit_set_numbers(e, b, bias, n);
    return any;
}

/** The operand of slot 0, if its encoding may be changed. */
static struct nnv_operand *encoded(struct nnv_edit *e, const struct nnv_fault *f) {
    const int pos = nnv_edit_find(e, f->slots[0]);
    if (pos < 0 || !nnv_edit_known(e, pos) || !nnv_is_quant(nnv_edit_operand(e, pos)->type)) return NULL;
    return nnv_edit_own(e, pos);
}

bool nnv_change_scale_times(struct nnv_edit *e, const struct nnv_fault *f) {
    struct nnv_operand *o = encoded(e, f);
    if (!o || o->channel.count) return false;
    o->scale *= (float)f->value;
    return true;
}

/** To the nearest power of two. */
bool nnv_change_scale_power(struct nnv_edit *e, const struct nnv_fault *f) {
    struct nnv_operand *o = encoded(e, f);
    if (!o || o->channel.count || !(o->scale > 0)) return false;
    const float to = exp2f(roundf(log2f(o->scale)));
    const bool any = to < o->scale || to > o->scale;
    o->scale = to;
    return any;
}

bool nnv_change_scales_placed(struct nnv_edit *e, const struct nnv_fault *f) {
    struct nnv_operand *o = encoded(e, f);
    const uint32_t n = o ? o->channel.count : 0;
    float *scales = n < 2 ? NULL : NNV_NEW(e->arena, float, n);
    bool any = false;
    for (uint32_t i = 0; scales && i < n; i++) {
        const int64_t at = f->place(f, i, n);
        if (at < 0 || at >= n) return false;
        scales[i] = o->channel.scales[at];
        any = any || scales[i] < o->channel.scales[i] || scales[i] > o->channel.scales[i];
    }
    if (any) o->channel.scales = scales;
    return any;
}
