/* SPDX-License-Identifier: Apache-2.0 */
/** @file rows.c Along axes: SOFTMAX, LOG_SOFTMAX, LOCAL_RESPONSE_NORMALIZATION, MEAN and the REDUCE_ operations. */
#include "plan.h"

/* --------------------------------------------------------------------- SOFTMAX */

/** beta * (value - the greatest of its line): multiplied before, large values would lose their last digits. */
static int scaled(struct dn_plan *p, int from, float beta, int axis) {
    const dn_form form = p->slots[from].form;
    dn_form line = form;
    dnnl_reduction_desc_t most;
    dnnl_binary_desc_t less;
    line.dims[axis] = 1;
    if (!dn_form_dense(dnnl_f32, line.ndims, line.dims, &line)) return DN_NOWHERE;
    const int greatest = dn_own(p, &line), to = dn_own(p, &form);
    const struct dn_arg fold[] = {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, greatest}};
    const struct dn_arg subtract[] = {{DNNL_ARG_SRC_0, from}, {DNNL_ARG_SRC_1, greatest}, {DNNL_ARG_DST, to}};
    struct dn_attr plain = dn_attr_new(), multiply = dn_attr_new();
    dn_attr_then(&multiply, dnnl_eltwise_linear, beta, 0);
    bool ok = form.dims[axis] == 1
                  ? dn_copy(p, from, greatest, NULL)
                  : dnnl_reduction_desc_init(&most, dnnl_reduction_max, &form, &line, 0, 0) == dnnl_success &&
                        dn_step(p, dn_describe(p, &most, &plain), fold, 2);
    ok = ok && dnnl_binary_desc_init(&less, dnnl_binary_sub, &form, &line, &form) == dnnl_success &&
         dn_step(p, dn_describe(p, &less, &multiply), subtract, 3);
    dn_attr_free(&plain);
    dn_attr_free(&multiply);
    return ok ? to : DN_NOWHERE;
}

bool dn_softmax(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, 0), *y = engine_out(&p->op, 0);
    const float beta = engine_float(&p->op, 1, 1);
    const int axis = (int)engine_axis(engine_int(&p->op, 2, -1), x->rank);
    const bool logarithm = p->op.node->code == ANEURALNETWORKS_LOG_SOFTMAX, quant = engine_is_quant(x);
    dn_form in, out;
    if (p->op.not_constant || !dn_form_of(x, &in) || !dn_form_of(y, &out)) return false;
    if (logarithm && !p->engine->loose) return false; /* off by 3.4e-6 and more (docs/use/findings.md) */
    const dn_form form = dn_form_typed(&in, dnnl_f32);
    dnnl_softmax_v2_desc_t op;
    if (dnnl_softmax_v2_forward_desc_init(&op, dnnl_forward_inference,
                                          logarithm ? dnnl_softmax_log : dnnl_softmax_accurate, &form, &form,
                                          axis) != dnnl_success)
        return false;
    const int to = dn_see(p, p->op.node->out[0], &out), result = quant ? dn_own(p, &form) : to;
    int from = dn_see(p, p->op.node->in[0], &in);
    if (quant)
        from = dn_real(p, from, x, x->scale * beta);
    else if (beta != 1.0f && from != DN_NOWHERE)
        from = scaled(p, from, beta, axis);
    const struct dn_arg args[] = {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, result}};
    return dn_plain(p, &op, args, 2) && (!quant || dn_store(p, result, to, y, 1.0f / y->scale));
}

/* ------------------------------------------------- LOCAL_RESPONSE_NORMALIZATION */

/** The engine divides alpha by the length of the window. */
bool dn_lrn(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, 0);
    const int64_t window = 2 * (int64_t)engine_int(&p->op, 1, 0) + 1;
    const float bias = engine_float(&p->op, 2, 1), alpha = engine_float(&p->op, 3, 0),
                beta = engine_float(&p->op, 4, 0);
    const int axis = (int)engine_axis(engine_int(&p->op, 5, -1), x->rank);
    if (p->op.not_constant || x->type != ANEURALNETWORKS_TENSOR_FLOAT32 || window > INT32_MAX) return false;
    const dnnl_dim_t outer = (dnnl_dim_t)engine_extent(x, 0, (uint32_t)axis),
                     inner = (dnnl_dim_t)engine_extent(x, (uint32_t)axis + 1, x->rank);
    const dnnl_dim_t n = x->dims[axis], dims[] = {outer, n, inner, 1}, steps[] = {n * inner, inner, 1, 1},
                     last[] = {n, 1, n, n}; /* the axis is the last: positions are rows of an image */
    const dnnl_dim_t flat[] = {1, n, outer, 1};
    dn_form form;
    if (!(inner == 1 ? dn_form_make(dnnl_f32, 4, flat, last, &form) : dn_form_make(dnnl_f32, 4, dims, steps, &form)))
        return false;
    dnnl_lrn_desc_t op;
    if (dnnl_lrn_forward_desc_init(&op, dnnl_forward_inference, dnnl_lrn_across_channels, &form, window,
                                   alpha * (float)window, beta, bias) != dnnl_success)
        return false;
    const struct dn_arg args[] = {{DNNL_ARG_SRC, dn_see(p, p->op.node->in[0], &form)},
                                  {DNNL_ARG_DST, dn_see(p, p->op.node->out[0], &form)}};
    return dn_plain(p, &op, args, 2);
}

/* ------------------------------------------------------------------ reductions */

static bool algorithm_of(int32_t code, dnnl_alg_kind_t *out) {
    switch (code) {
    case ANEURALNETWORKS_MEAN:
        *out = dnnl_reduction_mean;
        return true;
    case ANEURALNETWORKS_REDUCE_MAX:
        *out = dnnl_reduction_max;
        return true;
    case ANEURALNETWORKS_REDUCE_MIN:
        *out = dnnl_reduction_min;
        return true;
    case ANEURALNETWORKS_REDUCE_PROD:
        *out = dnnl_reduction_mul;
        return true;
    case ANEURALNETWORKS_REDUCE_SUM:
        *out = dnnl_reduction_sum;
        return true;
    default:
        return false;
    }
}

/** Codes keep their order and have the mean of what they stand for: quantised values are folded as codes. */
bool dn_reduce(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, 0), *axes = engine_in(&p->op, 1), *y = engine_out(&p->op, 0);
    const int32_t *list = engine_list(&p->op, 1);
    dnnl_alg_kind_t what;
    dn_form in, out;
    if (p->op.not_constant || !algorithm_of(p->op.node->code, &what) || !dn_form_of(x, &in)) return false;
    if (x->type != ANEURALNETWORKS_TENSOR_FLOAT32 && (!engine_is_quant(x) || !engine_same_quant(x, y))) return false;
    dnnl_dims_t dims;
    for (uint32_t d = 0; d < x->rank; d++) dims[d] = x->dims[d];
    for (size_t i = 0; i < axes->count; i++) dims[engine_axis(list[i], x->rank)] = 1;
    if (!dn_form_dense(in.data_type, (int)x->rank, dims, &out)) return false;
    const int from = dn_see(p, p->op.node->in[0], &in), to = dn_see(p, p->op.node->out[0], &out);
    if (x->count == y->count) return dn_copy(p, from, to, NULL); /* nothing to fold: the engine refuses */
    dnnl_reduction_desc_t op;
    if (dnnl_reduction_desc_init(&op, what, &in, &out, 0, 0) != dnnl_success) return false;
    const struct dn_arg args[] = {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}};
    return dn_plain(p, &op, args, 2);
}
