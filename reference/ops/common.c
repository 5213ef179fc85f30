/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/common.h"

const struct nnv_slot nnv_output[1] = {{.name = "output", .var = NNV_T}};

struct nnv_lines nnv_lines_of(const struct nnv_shape *s, uint32_t axis) {
    struct nnv_lines l = {1, s->dims[axis], 1};
    for (uint32_t i = 0; i < axis; i++) l.outer *= s->dims[i];
    for (uint32_t i = axis + 1; i < s->rank; i++) l.inner *= s->dims[i];
    return l;
}

struct nnv_lines nnv_lines_along(const struct nnv_kernel *k, int x, int axis) {
    const struct nnv_shape *s = nnv_in_shape(k, x);
    return nnv_lines_of(s, (uint32_t)nnv_axis(nnv_int(k->call, axis), s->rank));
}

enum nnv_status nnv_same_shape_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    (void)err;
    out[0] = c->in[0].shape;
    return NNV_OK;
}

static const char *slot_name(const struct nnv_call *c, int id) {
    for (uint8_t i = 0; i < c->form->nin; i++)
        if (c->form->in[i].id == id) return c->form->in[i].name;
    return "?";
}

enum nnv_status nnv_extent_agree(const struct nnv_call *c, int id, uint32_t axis, uint32_t *extent,
                                 struct nnv_err *err) {
    const struct nnv_arg *a = nnv_in(c, id);
    if (!a) return NNV_OK;
    uint32_t d = nnv_dim(&a->shape, axis);
    if (!nnv_dim_agree(d, *extent))
        return nnv_fail(err, NNV_INVALID, "%s: extent %u is %u, but the other inputs make it %u", slot_name(c, id),
                        axis, d, *extent);
    *extent = nnv_dim_merge(d, *extent);
    return NNV_OK;
}

bool nnv_one_quant(const struct nnv_call *c, int id) {
    const struct nnv_operand *x = nnv_in(c, id)->operand, *y = c->out[0].operand;
    return x->scale == y->scale && x->zero_point == y->zero_point;
}

enum nnv_presence nnv_presence(const struct nnv_call *c, int id) {
    const struct nnv_arg *a = nnv_in(c, id);
    if (!a) return NNV_ABSENT;
    return a->operand->lifetime == NNV_SUBGRAPH_INPUT && !a->data ? NNV_MAYBE : NNV_PRESENT;
}

enum nnv_status nnv_all_or_none(const struct nnv_call *c, const char *what, const int *ids, int n,
                                struct nnv_err *err) {
    int present = -1, absent = -1;
    for (int i = 0; i < n; i++) {
        enum nnv_presence p = nnv_presence(c, ids[i]);
        if (p == NNV_PRESENT) present = ids[i];
        if (p == NNV_ABSENT) absent = ids[i];
    }
    if (present >= 0 && absent >= 0)
        return nnv_fail(err, NNV_INVALID, "%s: %s is given but %s is omitted; give all of them or none", what,
                        slot_name(c, present), slot_name(c, absent));
    return NNV_OK;
}

double nnv_logistic(double v) { return 1 / (1 + exp(-v)); }

enum { ACT_NONE = 0, ACT_RELU = 1, ACT_RELU1 = 2, ACT_RELU6 = 3, ACT_TANH = 4, ACT_LOGISTIC = 6 };

double nnv_activation(struct nnv_kernel *k, int code, double v) {
    switch (code) {
    case ACT_RELU:
        return v < 0 ? 0 : v;
    case ACT_RELU1:
        return v < -1 ? -1 : v > 1 ? 1 : v;
    case ACT_RELU6:
        return v < 0 ? 0 : v > 6 ? 6 : v;
    case ACT_TANH:
        return nnv_sigmoid(k, tanh(v), NNV_ULPS_TANH);
    case ACT_LOGISTIC:
        return nnv_sigmoid(k, nnv_logistic(v), NNV_ULPS_LOGISTIC);
    }
    return v;
}

enum nnv_status nnv_activation_check(const struct nnv_call *c, int id, bool relu1, struct nnv_err *err) {
    if (!nnv_known(c, id)) return NNV_OK;
    switch (nnv_int(c, id)) {
    case ACT_NONE:
    case ACT_RELU:
    case ACT_RELU6:
    case ACT_TANH:
    case ACT_LOGISTIC:
        return NNV_OK;
    case ACT_RELU1:
        if (relu1) return NNV_OK;
    }
    return nnv_fail(err, NNV_INVALID,
                    "activation %d is none of 0 (none), 1 (RELU), %s3 (RELU6), 4 (tanh), 6 (logistic)", nnv_int(c, id),
                    relu1 ? "2 (RELU1), " : "");
}

void nnv_sample_axis(int index, uint32_t *rank, int *axis) {
    int i = index * 7 % 20; /* ranks 4, 3, 2, 1 have 8, 6, 4, 2 axes */
    *rank = 4;
    for (; i >= 2 * (int)*rank; (*rank)--) i -= 2 * (int)*rank;
    *axis = i - (int)*rank;
}

void nnv_sample_last_wins(struct nnv_sample *s, struct nnv_sample_arg *x, double sign) {
    enum { OTHERS = 90, FARTHEST = 100 };
    if (x->dims[x->rank - 1] != NNV_LONG_LINE) return;
    size_t n = 1;
    for (uint32_t d = 0; d < x->rank; d++) n *= x->dims[d];
    double *v = NNV_NEW(s->arena, double, n);
    const bool whole =
        s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_INT32; /* sums of whole numbers round to one side */
    for (size_t i = 0; v && i < n; i++) {
        v[i] = whole ? nnv_sample_int(s, -OTHERS, OTHERS) : nnv_rng_uniform(&s->rng, -OTHERS, OTHERS);
        if (i % NNV_LONG_LINE == NNV_LONG_LINE - 1) v[i] = sign * FARTHEST;
    }
    x->reals = v;
    x->lo = -FARTHEST;
    x->hi = FARTHEST;
}

void nnv_sample_one_quant(struct nnv_sample *s, int a, int b) {
    if (s->index % 3 != 2) return;
    s->out_scale = s->arg[a].scale = s->arg[b].scale = 0.0703125f;
    s->out_zero_point = s->arg[a].zero_point = s->arg[b].zero_point =
        s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? 121 : -9;
}
