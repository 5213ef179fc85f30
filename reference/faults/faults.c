/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/faults/faults.h"

#include <stdlib.h>
#include <string.h>

bool nnv_fault_fits(const struct nnv_fault *f, int32_t op) {
    for (uint8_t i = 0; i < f->nops; i++)
        if (f->ops[i] == op) return true;
    return f->nops == 0;
}

bool nnv_fault_is_edit(const struct nnv_fault *f) {
    if (f->part[0]) return nnv_fault_is_edit(f->part[0]) || nnv_fault_is_edit(f->part[1]);
    return f->change || f->numbers || f->code != f->other_code;
}

bool nnv_fault_is_spoil(const struct nnv_fault *f) {
    return f->part[0] ? nnv_fault_is_spoil(f->part[0]) || nnv_fault_is_spoil(f->part[1]) : f->element != NULL;
}

/** The inputs of the operation in hand stand where its call found them; a fault may have made another of it. */
static bool is_as_bound(struct nnv_edit *e) {
    return nnv_edit_op(e)->type == e->call->op->code && nnv_edit_op(e)->nin == e->call->nin;
}

/** Both parts, as far as they change models. */
static bool apply_parts(const struct nnv_fault *f, struct nnv_edit *e) {
    for (int i = 0; i < 2; i++)
        if (nnv_fault_is_edit(f->part[i]) && (!is_as_bound(e) || !nnv_fault_apply(f->part[i], e))) return false;
    return true;
}

bool nnv_fault_apply(const struct nnv_fault *f, struct nnv_edit *e) {
    if (f->part[0]) return apply_parts(f, e);
    if (f->change) return f->change(e, f);
    return nnv_change_op(e, f) || (f->numbers && nnv_change_numbers(e, f));
}

static bool concerns(const struct nnv_fault *f, int32_t type) {
    const bool unsigned8 = type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    switch (f->types) {
    case NNV_FAULT_ANY:
        return true;
    case NNV_FAULT_8BIT:
        return unsigned8 || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    case NNV_FAULT_UINT8:
        return unsigned8;
    case NNV_FAULT_FLOAT:
        return nnv_type(type)->kind == NNV_KIND_FLOAT;
    case NNV_FAULT_FLOAT32:
        return type == ANEURALNETWORKS_TENSOR_FLOAT32;
    }
    return false;
}

/** What the second part makes of what the first makes of right values. */
static bool spoil_parts(const struct nnv_fault *f, const struct nnv_fault_output *y, double *out) {
    double *between = calloc(y->n + 1, sizeof *between);
    if (!between) return false;
    const bool any = nnv_fault_spoil(f->part[0], y, between);
    struct nnv_fault_output then = *y;
    then.v = between;
    if (any) then.exact = NULL; /* of other values */
    const bool more = nnv_fault_spoil(f->part[1], &then, out);
    free(between);
    return any || more;
}

double nnv_fault_element(const struct nnv_fault *f, const struct nnv_fault_output *y, size_t i) {
    return f->element && concerns(f, y->type) ? f->element(y, f, i) : y->v[i];
}

bool nnv_fault_spoil(const struct nnv_fault *f, const struct nnv_fault_output *y, double *out) {
    if (f->part[0]) return spoil_parts(f, y, out);
    const bool fits = f->element && concerns(f, y->type);
    for (size_t i = 0; i < y->n; i++) out[i] = fits ? f->element(y, f, i) : y->v[i];
    return fits && memcmp(out, y->v, y->n * sizeof *out) != 0;
}
