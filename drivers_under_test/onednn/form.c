/* SPDX-License-Identifier: Apache-2.0 */
/** @file form.c Operands, forms of memory, attributes. */
#include <math.h>
#include <string.h>

#include "plan.h"

/* ----------------------------------------------------------------------- forms */

bool dn_type_of(const struct engine_tensor *t, dnnl_data_type_t *out) {
    switch (t->type) {
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        *out = dnnl_f32;
        return true;
    case ANEURALNETWORKS_TENSOR_INT32:
        *out = dnnl_s32;
        return true;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        *out = dnnl_u8;
        return true;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL:
        *out = dnnl_s8;
        return true;
    default:
        return false;
    }
}

bool dn_form_make(dnnl_data_type_t type, int rank, const dnnl_dim_t *dims, const dnnl_dim_t *steps, dn_form *out) {
    dnnl_dims_t d, s;
    if (rank < 1 || rank > DNNL_MAX_NDIMS) return false;
    for (int i = 0; i < rank; i++) d[i] = dims[i], s[i] = steps[i];
    return dnnl_memory_desc_init_by_strides(out, rank, d, type, s) == dnnl_success;
}

bool dn_form_dense(dnnl_data_type_t type, int rank, const dnnl_dim_t *dims, dn_form *out) {
    dnnl_dims_t steps;
    dnnl_dim_t step = 1;
    if (rank < 1 || rank > DNNL_MAX_NDIMS) return false;
    for (int i = rank - 1; i >= 0; i--) {
        steps[i] = step;
        step *= dims[i];
    }
    return dn_form_make(type, rank, dims, steps, out);
}

bool dn_form_of(const struct engine_tensor *t, dn_form *out) {
    dnnl_dims_t dims;
    dnnl_data_type_t type;
    for (uint32_t i = 0; i < t->rank; i++) dims[i] = t->dims[i];
    return dn_type_of(t, &type) && dn_form_dense(type, (int)t->rank, dims, out);
}

bool dn_form_image(const struct engine_tensor *t, bool nchw, dn_form *out) {
    dnnl_data_type_t type;
    if (t->rank != 4 || !dn_type_of(t, &type)) return false;
    const dnnl_dim_t n = t->dims[0], c = t->dims[nchw ? 1 : 3], h = t->dims[nchw ? 2 : 1], w = t->dims[nchw ? 3 : 2];
    const dnnl_dim_t dims[] = {n, c, h, w}, steps[] = {c * h * w, 1, w * c, c};
    return nchw ? dn_form_dense(type, 4, dims, out) : dn_form_make(type, 4, dims, steps, out);
}

dn_form dn_form_typed(const dn_form *form, dnnl_data_type_t type) {
    dn_form typed = *form;
    typed.data_type = type;
    return typed;
}

dn_form dn_form_any(const dn_form *form) {
    dn_form any = {.ndims = form->ndims, .data_type = form->data_type, .format_kind = dnnl_format_kind_any};
    memcpy(any.dims, form->dims, sizeof any.dims);
    memcpy(any.padded_dims, form->dims, sizeof any.padded_dims);
    return any;
}

/* ------------------------------------------------------------------ attributes */

struct dn_attr dn_attr_new(void) {
    struct dn_attr a = {0};
    a.failed = dnnl_primitive_attr_create(&a.attr) != dnnl_success ||
               dnnl_primitive_attr_set_scratchpad_mode(a.attr, dnnl_scratchpad_mode_user) != dnnl_success ||
               dnnl_post_ops_create(&a.post) != dnnl_success;
    return a;
}

void dn_attr_free(struct dn_attr *a) {
    if (a->post) dnnl_post_ops_destroy(a->post);
    if (a->attr) dnnl_primitive_attr_destroy(a->attr);
    *a = (struct dn_attr){0};
}

void dn_attr_scales(struct dn_attr *a, int count, int mask, const float *scales) {
    a->failed = a->failed || dnnl_primitive_attr_set_output_scales(a->attr, count, mask, scales) != dnnl_success;
}

void dn_attr_zero_point(struct dn_attr *a, int arg, int32_t zero_point) {
    if (zero_point == 0) return;
    a->failed = a->failed || dnnl_primitive_attr_set_zero_points(a->attr, arg, 1, 0, &zero_point) != dnnl_success;
}

void dn_attr_then(struct dn_attr *a, dnnl_alg_kind_t what, float alpha, float beta) {
    a->failed = a->failed || dnnl_post_ops_append_eltwise(a->post, 1.0f, what, alpha, beta) != dnnl_success ||
                dnnl_primitive_attr_set_post_ops(a->attr, a->post) != dnnl_success;
}

/** The range of a fused activation: real, or in steps from the zero point. False: there is none. */
static bool range_of(int32_t code, const struct engine_tensor *t, float *lo, float *hi) {
    const float unit = engine_is_quant(t) ? t->scale : 1.0f;
    const float most = code == ANEURALNETWORKS_FUSED_RELU1 ? 1.0f : 6.0f;
    if (code == ANEURALNETWORKS_FUSED_NONE) return false;
    *hi = code == ANEURALNETWORKS_FUSED_RELU ? INFINITY : engine_is_quant(t) ? roundf(most / unit) : most;
    *lo = code == ANEURALNETWORKS_FUSED_RELU1 ? -*hi : 0.0f;
    return true;
}

void dn_attr_activation(struct dn_attr *a, int32_t code, const struct engine_tensor *t) {
    float lo, hi;
    if (!range_of(code, t, &lo, &hi)) return;
    if (code == ANEURALNETWORKS_FUSED_RELU)
        dn_attr_then(a, dnnl_eltwise_relu, 0, 0);
    else
        dn_attr_then(a, dnnl_eltwise_clip, lo, hi);
}

bool dn_activate(struct dn_plan *p, int from, int to, int32_t code, const struct engine_tensor *t) {
    float lo, hi;
    if (from == DN_NOWHERE || to == DN_NOWHERE) return false;
    if (!range_of(code, t, &lo, &hi)) return from == to || dn_copy(p, from, to, NULL);
    if (!engine_is_quant(t))
        return dn_apply(p, from, to, code == ANEURALNETWORKS_FUSED_RELU ? dnnl_eltwise_relu : dnnl_eltwise_clip,
                        code == ANEURALNETWORKS_FUSED_RELU ? 0 : lo, code == ANEURALNETWORKS_FUSED_RELU ? 0 : hi);
    const float zero = (float)t->zero_point; /* the engine limits floats only */
    const dn_form form = dn_form_typed(&p->slots[from].form, dnnl_f32);
    const int codes = dn_own(p, &form);
    return dn_copy(p, from, codes, NULL) &&
           dn_apply(p, codes, codes, dnnl_eltwise_clip, lo + zero, hi == INFINITY ? UINT8_MAX : hi + zero) &&
           dn_copy(p, codes, to, NULL);
}
