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
    struct dn_attr attr = dn_attr_new();
    const struct dn_arg args[] = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, y}};
    const bool ok = dn_step(p, dn_describe(p, &op, &attr), args, 3);
    dn_attr_free(&attr);
    return ok;
}

bool dn_batch_matmul(struct dn_plan *p) {
    const struct engine_tensor *a = dn_in(p, A), *b = dn_in(p, B), *y = dn_out(p);
    const bool turn_a = dn_int(p, TURN_A, 0) != 0, turn_b = dn_int(p, TURN_B, 0) != 0;
    dn_form fa, fb, fy;
    if (p->not_constant || (a->type != ANEURALNETWORKS_TENSOR_FLOAT32 && !dn_is_quant(a))) return false;
    if (!dn_form_of(a, &fa) || !dn_form_of(b, &fb) || !dn_form_of(y, &fy) || !turned(&fa, turn_a, &fa) ||
        !turned(&fb, turn_b, &fb))
        return false;
    const int from_a = dn_see(p, p->node->in[A], &fa), from_b = dn_see(p, p->node->in[B], &fb);
    const int to = dn_see(p, p->node->out[0], &fy);
    if (!dn_is_quant(a)) return multiply(p, from_a, from_b, to);
    const dn_form form = dn_form_typed(&fy, dnnl_f32);
    const int sums = dn_own(p, &form);
    return multiply(p, dn_real(p, from_a, a, 1.0f), dn_real(p, from_b, b, 1.0f), sums) &&
           dn_store(p, sums, to, y, (float)((double)a->scale * (double)b->scale / (double)y->scale));
}
