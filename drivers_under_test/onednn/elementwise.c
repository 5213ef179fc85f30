/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file elementwise.c One value from one, or from two. Where the engine has a function for floats only, quantised
 * values are made real before it and rounded behind it.
 */
#include <math.h>
#include <string.h>

#include "plan.h"

enum { A, B, ACTIVATION };

/* ------------------------------------------------------------------------- one */

struct function {
    dnnl_alg_kind_t what;
    float alpha, beta;
};

static bool function_of(struct dn_plan *p, struct function *f) {
    switch (p->op.node->code) {
    case ANEURALNETWORKS_LOGISTIC:
        *f = (struct function){dnnl_eltwise_logistic, 0, 0};
        return true;
    case ANEURALNETWORKS_TANH:
        *f = (struct function){dnnl_eltwise_tanh, 0, 0};
        return true;
    case ANEURALNETWORKS_ABS:
        *f = (struct function){dnnl_eltwise_abs, 0, 0};
        return true;
    case ANEURALNETWORKS_NEG:
        *f = (struct function){dnnl_eltwise_linear, -1, 0};
        return true;
    case ANEURALNETWORKS_EXP:
        *f = (struct function){dnnl_eltwise_exp, 0, 0};
        return true;
    case ANEURALNETWORKS_LOG: /* off by 3.4e-6 around 1, where the right result is small (docs/use/findings.md) */
        *f = (struct function){dnnl_eltwise_log, 0, 0};
        return p->engine->loose;
    case ANEURALNETWORKS_SQRT:
        *f = (struct function){dnnl_eltwise_sqrt, 0, 0};
        return true;
    case ANEURALNETWORKS_RSQRT:
        *f = (struct function){dnnl_eltwise_pow, 1, -0.5f};
        return true;
    case ANEURALNETWORKS_HARD_SWISH:
        *f = (struct function){dnnl_eltwise_hardswish, 0, 0};
        return true;
    case ANEURALNETWORKS_ELU:
        *f = (struct function){dnnl_eltwise_elu, engine_float(&p->op, 1, 1), 0};
        return !p->op.not_constant;
    default:
        return false;
    }
}

/** RELU and its kin keep the quantisation: they limit codes. */
static bool limit(struct dn_plan *p, int32_t code) {
    const struct engine_tensor *x = engine_in(&p->op, A), *y = engine_out(&p->op, 0);
    dn_form form;
    if (!dn_form_of(x, &form) || !engine_same_quant(x, y)) return false;
    return dn_activate(p, dn_see(p, p->op.node->in[A], &form), dn_see(p, p->op.node->out[0], &form), code, y);
}

bool dn_unary(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, A), *y = engine_out(&p->op, 0);
    struct function f;
    dn_form in, out;
    if (p->op.node->code == ANEURALNETWORKS_RELU) return limit(p, ANEURALNETWORKS_FUSED_RELU);
    if (p->op.node->code == ANEURALNETWORKS_RELU1) return limit(p, ANEURALNETWORKS_FUSED_RELU1);
    if (p->op.node->code == ANEURALNETWORKS_RELU6) return limit(p, ANEURALNETWORKS_FUSED_RELU6);
    if (x->type != ANEURALNETWORKS_TENSOR_FLOAT32 && !engine_is_quant(x)) return false;
    if (!function_of(p, &f) || !dn_form_of(x, &in) || !dn_form_of(y, &out)) return false;
    const int from = dn_see(p, p->op.node->in[A], &in), to = dn_see(p, p->op.node->out[0], &out);
    if (!engine_is_quant(x)) return dn_apply(p, from, to, f.what, f.alpha, f.beta);
    const int real = dn_real(p, from, x, x->scale);
    return dn_apply(p, real, real, f.what, f.alpha, f.beta) && dn_store(p, real, to, y, 1.0f / y->scale);
}

/* ------------------------------------------------------------------------- two */

static bool algorithm_of(int32_t code, dnnl_alg_kind_t *out) {
    static const struct {
        int32_t code;
        dnnl_alg_kind_t what;
    } table[] = {
        {ANEURALNETWORKS_ADD, dnnl_binary_add},     {ANEURALNETWORKS_SUB, dnnl_binary_sub},
        {ANEURALNETWORKS_MUL, dnnl_binary_mul},     {ANEURALNETWORKS_DIV, dnnl_binary_div},
        {ANEURALNETWORKS_MAXIMUM, dnnl_binary_max}, {ANEURALNETWORKS_MINIMUM, dnnl_binary_min},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].code != code) continue;
        *out = table[i].what;
        return true;
    }
    return false;
}

/** An operand with ones in front, of the rank of the result. */
static bool widened(const struct engine_tensor *t, uint32_t rank, dn_form *out) {
    dnnl_dims_t dims;
    dnnl_data_type_t type;
    if (t->rank > rank || !dn_type_of(t, &type)) return false;
    for (uint32_t i = 0; i < rank; i++) dims[i] = i + t->rank < rank ? 1 : t->dims[i + t->rank - rank];
    return dn_form_dense(type, (int)rank, dims, out);
}

/** a and b become y. Only the second may be broadcast: a first one that is smaller is exchanged where that is legal. */
static bool combine(struct dn_plan *p, dnnl_alg_kind_t what, int a, int b, int y, const struct dn_attr *attr) {
    dnnl_binary_desc_t op;
    if (a == DN_NOWHERE || b == DN_NOWHERE || y == DN_NOWHERE) return false;
    const struct dn_slot *s = p->slots;
    dnnl_primitive_desc_t desc = NULL;
    if (dnnl_binary_desc_init(&op, what, &s[a].form, &s[b].form, &s[y].form) == dnnl_success)
        desc = dn_describe(p, &op, attr);
    const bool commutes = what != dnnl_binary_sub && what != dnnl_binary_div;
    if (!desc && commutes) {
        const int first = a;
        a = b;
        b = first;
        if (dnnl_binary_desc_init(&op, what, &s[a].form, &s[b].form, &s[y].form) == dnnl_success)
            desc = dn_describe(p, &op, attr);
    }
    const struct dn_arg args[] = {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, y}};
    return dn_step(p, desc, args, 3);
}

/** Real values between rounding; any operation. */
static bool combine_reals(struct dn_plan *p, dnnl_alg_kind_t what, const dn_form *forms, int32_t activation) {
    const struct engine_tensor *a = engine_in(&p->op, A), *b = engine_in(&p->op, B), *y = engine_out(&p->op, 0);
    const dn_form form = dn_form_typed(&forms[2], dnnl_f32);
    const int real = dn_own(p, &form);
    struct dn_attr attr = dn_attr_new();
    dn_attr_then(&attr, dnnl_eltwise_linear, 1.0f / y->scale, 0);
    dn_attr_activation(&attr, activation, y);
    const bool ok = combine(p, what, dn_real(p, dn_see(p, p->op.node->in[A], &forms[0]), a, a->scale),
                            dn_real(p, dn_see(p, p->op.node->in[B], &forms[1]), b, b->scale), real, &attr) &&
                    dn_store(p, real, dn_see(p, p->op.node->out[0], &forms[2]), y, 1.0f);
    dn_attr_free(&attr);
    return ok;
}

bool dn_binary(struct dn_plan *p) {
    const struct engine_tensor *a = engine_in(&p->op, A), *b = engine_in(&p->op, B), *y = engine_out(&p->op, 0);
    dnnl_alg_kind_t what;
    dn_form forms[3];
    const int32_t activation = engine_int(&p->op, ACTIVATION, ANEURALNETWORKS_FUSED_NONE);
    if (a->type != ANEURALNETWORKS_TENSOR_FLOAT32 && !engine_is_quant(a)) return false;
    if (p->op.not_constant || !algorithm_of(p->op.node->code, &what) || !widened(a, y->rank, &forms[0]) ||
        !widened(b, y->rank, &forms[1]) || !widened(y, y->rank, &forms[2]))
        return false;
    if (engine_is_quant(a)) return combine_reals(p, what, forms, activation);
    struct dn_attr attr = dn_attr_new();
    dn_attr_activation(&attr, activation, y);
    const bool ok = combine(p, what, dn_see(p, p->op.node->in[A], &forms[0]), dn_see(p, p->op.node->in[B], &forms[1]),
                            dn_see(p, p->op.node->out[0], &forms[2]), &attr);
    dn_attr_free(&attr);
    return ok;
}

bool dn_prelu(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, A), *slope = engine_in(&p->op, B), *y = engine_out(&p->op, 0);
    dn_form in, weights, out;
    dnnl_prelu_desc_t op;
    if (x->count != y->count || !widened(x, y->rank, &in) || !widened(slope, y->rank, &weights) ||
        !widened(y, y->rank, &out))
        return false;
    const bool quant = engine_is_quant(x);
    const dn_form real_x = dn_form_typed(&in, dnnl_f32), real_w = dn_form_typed(&weights, dnnl_f32);
    if (dnnl_prelu_forward_desc_init(&op, dnnl_forward_inference, &real_x, &real_w) != dnnl_success) return false;
    const int to = dn_see(p, p->op.node->out[0], &out), result = quant ? dn_own(p, &real_x) : to;
    const struct dn_arg args[] = {
        {DNNL_ARG_SRC, dn_real(p, dn_see(p, p->op.node->in[A], &in), x, quant ? x->scale : 1.0f)},
        {DNNL_ARG_WEIGHTS, dn_real(p, dn_see(p, p->op.node->in[B], &weights), slope, quant ? slope->scale : 1.0f)},
        {DNNL_ARG_DST, result}};
    return dn_plain(p, &op, args, 3) && (!quant || dn_store(p, result, to, y, 1.0f / y->scale));
}

/* -------------------------------------------------------------------- rounding */

/** QUANTIZE and DEQUANTIZE. */
bool dn_quantize(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, A), *y = engine_out(&p->op, 0);
    dn_form in, out;
    if (!dn_form_of(x, &in) || !dn_form_of(y, &out)) return false;
    const int from = dn_see(p, p->op.node->in[A], &in), to = dn_see(p, p->op.node->out[0], &out);
    if (p->op.node->code == ANEURALNETWORKS_QUANTIZE) {
        if (x->type != ANEURALNETWORKS_TENSOR_FLOAT32) return false;
        return dn_store(p, from, to, y, 1.0f / y->scale);
    }
    if (y->type != ANEURALNETWORKS_TENSOR_FLOAT32) return false;
    struct dn_attr attr = dn_attr_new();
    if (x->channels)
        dn_attr_scales(&attr, (int)x->channels, 1 << x->channel_dim, x->scales);
    else
        dn_attr_scales(&attr, 1, 0, &x->scale);
    if (engine_is_quant(x)) dn_attr_zero_point(&attr, DNNL_ARG_SRC, x->zero_point);
    const bool ok = dn_copy(p, from, to, &attr);
    dn_attr_free(&attr);
    return ok;
}
