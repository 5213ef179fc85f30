/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file move.c Values that change their places: CONCATENATION, RESHAPE, SQUEEZE, EXPAND_DIMS, TRANSPOSE, SLICE, SPLIT,
 * DEPTH_TO_SPACE, SPACE_TO_DEPTH, CHANNEL_SHUFFLE: copies from one view of memory to another.
 */
#include "plan.h"

/** A part of a form. */
static bool part_of(const dn_form *whole, const dnnl_dim_t *at, const dnnl_dim_t *size, dn_form *out) {
    dnnl_dims_t dims, offsets;
    for (int i = 0; i < whole->ndims; i++) dims[i] = size[i], offsets[i] = at[i];
    return dnnl_memory_desc_init_submemory(out, whole, dims, offsets) == dnnl_success;
}

/** Copies seen parts: from input 0 to output o. */
static bool copy(struct dn_plan *p, const dn_form *from, const dn_form *to, uint32_t o) {
    return dn_copy(p, dn_see(p, p->op.node->in[0], from), dn_see(p, p->op.node->out[o], to), NULL);
}

/* --------------------------------------------------------------- CONCATENATION */

/** From one quantisation to the other, in one step. */
static bool copy_directly(struct dn_plan *p, int from, int to, const struct engine_tensor *x,
                          const struct engine_tensor *y) {
    struct dn_attr attr = dn_attr_new();
    const float scale = x->scale / y->scale;
    dn_attr_scales(&attr, 1, 0, &scale);
    dn_attr_zero_point(&attr, DNNL_ARG_SRC, x->zero_point);
    dn_attr_zero_point(&attr, DNNL_ARG_DST, y->zero_point);
    const bool ok = dn_copy(p, from, to, &attr);
    dn_attr_free(&attr);
    return ok;
}

/**
 * The engine forgets zero points where it rounds into a part of a larger tensor (docs/use/findings.md): there lie real
 * values and whole codes between.
 */
static bool copy_requantised(struct dn_plan *p, int from, int to, const struct engine_tensor *x,
                             const struct engine_tensor *y) {
    if (p->engine->loose) return copy_directly(p, from, to, x, y);
    if (from == DN_NOWHERE) return false;
    const dn_form form = p->slots[from].form;
    const int real = dn_real(p, from, x, x->scale), codes = dn_own(p, &form);
    return dn_store(p, real, codes, y, 1.0f / y->scale) && dn_copy(p, codes, to, NULL);
}

/** All parts in one quantisation. */
static bool join(struct dn_plan *p, uint32_t parts, int axis, const dn_form *whole) {
    dn_form forms[DN_MOST_ARGS];
    struct dn_arg args[DN_MOST_ARGS];
    dnnl_primitive_desc_t desc = NULL;
    if (parts + 2 > DN_MOST_ARGS) return false;
    for (uint32_t i = 0; i < parts; i++) {
        const struct engine_tensor *x = engine_in(&p->op, i);
        if ((engine_is_quant(x) && !engine_same_quant(x, engine_out(&p->op, 0))) || !dn_form_of(x, &forms[i]))
            return false;
        args[i] = (struct dn_arg){DNNL_ARG_MULTIPLE_SRC + (int)i, dn_see(p, p->op.node->in[i], &forms[i])};
    }
    args[parts] = (struct dn_arg){DNNL_ARG_DST, dn_see(p, p->op.node->out[0], whole)};
    struct dn_attr attr = dn_attr_new();
    if (attr.failed || dnnl_concat_primitive_desc_create(&desc, whole, (int)parts, axis, forms, attr.attr,
                                                         p->engine->cpu) != dnnl_success)
        desc = NULL;
    dn_attr_free(&attr);
    return dn_step(p, desc, args, (int)parts + 1);
}

bool dn_concat(struct dn_plan *p) {
    const struct engine_tensor *y = engine_out(&p->op, 0);
    const uint32_t parts = p->op.node->in_count - 1;
    const int32_t axis = engine_int(&p->op, parts, 0);
    dnnl_dims_t at = {0};
    dn_form whole;
    if (p->op.not_constant || axis < 0 || axis >= (int32_t)y->rank || !dn_form_of(y, &whole)) return false;
    if (join(p, parts, axis, &whole)) return true;
    dn_clear(p);
    for (uint32_t i = 0; i < parts; i++) {
        const struct engine_tensor *x = engine_in(&p->op, i);
        dn_form from, to;
        if (!dn_form_of(x, &from) || !part_of(&whole, at, from.dims, &to)) return false;
        const int a = dn_see(p, p->op.node->in[i], &from), b = dn_see(p, p->op.node->out[0], &to);
        const bool same = !engine_is_quant(x) || engine_same_quant(x, y);
        if (!(same ? dn_copy(p, a, b, NULL) : copy_requantised(p, a, b, x, y))) return false;
        at[axis] += x->dims[axis];
    }
    return true;
}

/* ----------------------------------------------------------------------- views */

/** All values in their order. */
static bool in_order(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, 0);
    const dnnl_dim_t count[] = {(dnnl_dim_t)x->count};
    dnnl_data_type_t type;
    dn_form form;
    return dn_type_of(x, &type) && dn_form_dense(type, 1, count, &form) && copy(p, &form, &form, 0);
}

/** Output axis i is input axis order[i], of a view of the input that has those dims. */
static bool permuted(struct dn_plan *p, int rank, const dnnl_dim_t *dims, const int *order) {
    dnnl_data_type_t type;
    dn_form in, from, to;
    dnnl_dims_t d, s;
    if (!dn_type_of(engine_in(&p->op, 0), &type) || !dn_form_dense(type, rank, dims, &in)) return false;
    for (int i = 0; i < rank; i++) {
        d[i] = in.dims[order[i]];
        s[i] = in.format_desc.blocking.strides[order[i]];
    }
    return dn_form_make(type, rank, d, s, &from) && dn_form_dense(type, rank, d, &to) && copy(p, &from, &to, 0);
}

static bool transpose(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, 0);
    const bool given = p->op.node->in_count > 1 && engine_in(&p->op, 1)->known;
    const int32_t *list = given ? engine_list(&p->op, 1) : NULL;
    const int rank = (int)x->rank;
    dnnl_dims_t dims;
    int order[ENGINE_MAX_RANK];
    if (p->op.not_constant) return false;
    for (int i = 0; i < rank; i++) {
        dims[i] = x->dims[i];
        order[i] = list ? list[i] : rank - 1 - i;
    }
    return permuted(p, rank, dims, order);
}

static bool slice(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, 0), *y = engine_out(&p->op, 0);
    const int32_t *begin = engine_list(&p->op, 1);
    dnnl_dims_t at = {0};
    dn_form in, out, from;
    if (p->op.not_constant || !dn_form_of(x, &in) || !dn_form_of(y, &out)) return false;
    for (uint32_t i = 0; i < x->rank; i++) at[i] = begin[i];
    return part_of(&in, at, out.dims, &from) && copy(p, &from, &out, 0);
}

static bool split(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, 0);
    const uint32_t axis = engine_axis(engine_int(&p->op, 1, 0), x->rank);
    dnnl_dims_t at = {0};
    dn_form in;
    if (p->op.not_constant || !dn_form_of(x, &in)) return false;
    for (uint32_t o = 0; o < p->op.node->out_count; o++) {
        const struct engine_tensor *y = &p->op.tensors[p->op.node->out[o]];
        dn_form from, to;
        if (!dn_form_of(y, &to) || !part_of(&in, at, to.dims, &from) || !copy(p, &from, &to, o)) return false;
        at[axis] += y->dims[axis];
    }
    return true;
}

/** Blocks of channels become blocks of pixels, or back. */
static bool blocks(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, 0);
    const dnnl_dim_t b = engine_int(&p->op, 1, 1);
    const bool nchw = engine_int(&p->op, 2, 0) != 0, to_space = p->op.node->code == ANEURALNETWORKS_DEPTH_TO_SPACE;
    if (p->op.not_constant || x->rank != 4) return false;
    const dnnl_dim_t n = x->dims[0], c = x->dims[nchw ? 1 : 3], h = x->dims[nchw ? 2 : 1], w = x->dims[nchw ? 3 : 2];
    if (to_space && nchw) {
        const dnnl_dim_t dims[] = {n, b, b, c / (b * b), h, w};
        return permuted(p, 6, dims, (const int[]){0, 3, 4, 1, 5, 2});
    }
    if (to_space) {
        const dnnl_dim_t dims[] = {n, h, w, b, b, c / (b * b)};
        return permuted(p, 6, dims, (const int[]){0, 1, 3, 2, 4, 5});
    }
    if (nchw) {
        const dnnl_dim_t dims[] = {n, c, h / b, b, w / b, b};
        return permuted(p, 6, dims, (const int[]){0, 3, 5, 1, 2, 4});
    }
    const dnnl_dim_t dims[] = {n, h / b, b, w / b, b, c};
    return permuted(p, 6, dims, (const int[]){0, 1, 3, 2, 4, 5});
}

static bool shuffle(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, 0);
    const dnnl_dim_t groups = engine_int(&p->op, 1, 1);
    const uint32_t axis = engine_axis(engine_int(&p->op, 2, 0), x->rank);
    if (p->op.not_constant) return false;
    const dnnl_dim_t outer = (dnnl_dim_t)engine_extent(x, 0, axis),
                     inner = (dnnl_dim_t)engine_extent(x, axis + 1, x->rank);
    const dnnl_dim_t dims[] = {outer, groups, x->dims[axis] / groups, inner};
    return permuted(p, 4, dims, (const int[]){0, 2, 1, 3});
}

bool dn_move(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, 0), *y = engine_out(&p->op, 0);
    if (engine_is_quant(x) && !engine_same_quant(x, y)) return false;
    switch (p->op.node->code) {
    case ANEURALNETWORKS_TRANSPOSE:
        return transpose(p);
    case ANEURALNETWORKS_SLICE:
        return slice(p);
    case ANEURALNETWORKS_SPLIT:
        return split(p);
    case ANEURALNETWORKS_DEPTH_TO_SPACE:
    case ANEURALNETWORKS_SPACE_TO_DEPTH:
        return blocks(p);
    case ANEURALNETWORKS_CHANNEL_SHUFFLE:
        return shuffle(p);
    default:
        return in_order(p);
    }
}
