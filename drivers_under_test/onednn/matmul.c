/* SPDX-License-Identifier: Apache-2.0 */
/** @file matmul.c BATCH_MATMUL. Turned factors are views; quantised ones are centred and multiplied in float32. */
#include "plan.h"

enum { A, B, TURN_A, TURN_B };

/** Rows and columns exchanged. */
static bool turned(const dn_form *form, bool turn, dn_form *out) {
    dnnl_dims_t dims, steps;
    for (int i = 0; i < form->ndims; i++) {
        const int from = turn && i >= form->ndims - 2 ? 2 * form->ndims - 3 - i : i;
        dims[i] = form->dims[from];
        steps[i] = form->format_desc.blocking.strides[from];
    }
    return dn_form_make(form->data_type, form->ndims, dims, steps, out);
}

static bool multiply(struct dn_plan *p, int a, int b, int y) {
    dnnl_matmul_desc_t op;
    if (a == DN_NOWHERE || b == DN_NOWHERE || y == DN_NOWHERE) return false;
    if (dnnl_matmul_desc_init(&op, &p->slots[a].form, &p->slots[b].form, NULL, &p->slots[y].form) != dnnl_success)
        return false;
    const struct dn_arg args[] = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, y}};
    return dn_plain(p, &op, args, 3);
}

bool dn_batch_matmul(struct dn_plan *p) {
    const struct engine_tensor *a = engine_in(&p->op, A), *b = engine_in(&p->op, B), *y = engine_out(&p->op, 0);
    const bool turn_a = engine_int(&p->op, TURN_A, 0) != 0, turn_b = engine_int(&p->op, TURN_B, 0) != 0;
    dn_form fa, fb, fy;
    if (p->op.not_constant || (a->type != ANEURALNETWORKS_TENSOR_FLOAT32 && !engine_is_quant(a))) return false;
    if (!dn_form_of(a, &fa) || !dn_form_of(b, &fb) || !dn_form_of(y, &fy) || !turned(&fa, turn_a, &fa) ||
        !turned(&fb, turn_b, &fb))
        return false;
    const int from_a = dn_see(p, p->op.node->in[A], &fa), from_b = dn_see(p, p->op.node->in[B], &fb);
    const int to = dn_see(p, p->op.node->out[0], &fy);
    if (!engine_is_quant(a)) return multiply(p, from_a, from_b, to);
    const dn_form form = dn_form_typed(&fy, dnnl_f32);
    const int sums = dn_own(p, &form);
    return multiply(p, dn_real(p, from_a, a, 1.0f), dn_real(p, from_b, b, 1.0f), sums) &&
           dn_store(p, sums, to, y, (float)((double)a->scale * (double)b->scale / (double)y->scale));
}
