/* SPDX-License-Identifier: Apache-2.0 */
/** @file limits.c Limits of activations that are no right codes, and codes that are handed on as they are. */
#include <math.h>

#include "reference/faults/generate.h"

/** The real limits of an activation. */
struct limits {
    int32_t fuse, op; /* a fused one, an operation of its own */
    double low, high; /* real numbers */
};
static const struct limits limits[] = {
    {ANEURALNETWORKS_FUSED_RELU, ANEURALNETWORKS_RELU, 0, INFINITY},
    {ANEURALNETWORKS_FUSED_RELU6, ANEURALNETWORKS_RELU6, 0, 6},
    {ANEURALNETWORKS_FUSED_RELU1, ANEURALNETWORKS_RELU1, -1, 1},
};

/** Takes the limits away: of an operation that has no other use is made the maximum of its input and itself. */
static bool unlimited(struct nnv_edit *e, const struct nnv_fault *f) {
    struct nnv_operation *op = nnv_edit_op(e);
    const struct nnv_fault none = {.slots = {"activation"}, .numbers = nnv_numbers_set};
    (void)f;
    if (nnv_edit_find(e, "activation") >= 0) return nnv_change_numbers(e, &none);
    uint32_t *in = NNV_NEW(e->arena, uint32_t, 2);
    if (!in) return false;
    in[0] = in[1] = op->in[0];
    op->in = in;
    op->nin = 2;
    op->type = ANEURALNETWORKS_MAXIMUM;
    return true;
}

/** Codes between value and other. */
static double limited(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i) {
    return fmin(fmax(y->v[i], f->value), f->other);
}

/** Real results between value and other, which are numbers in units. */
static double limited_before(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i) {
    const struct nnv_type *t = nnv_type(y->type);
    if (!y->exact || !isfinite(y->exact[i])) return y->v[i];
    const double real = fmin(fmax(y->exact[i], f->value * f->unit), f->other * f->unit);
    return fmin(fmax(nnv_round_half_away(real / (double)y->scale) + y->zero_point, t->min), t->max);
}

/** The activation of this use that has limits; NULL: none, or it is not known. */
static const struct limits *limits_of(const struct nnv_call *c) {
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        if (c->op->code == limits[k].op) return &limits[k];
        for (uint8_t i = 0; i < c->form->nin; i++) {
            const struct nnv_slot *s = &c->form->in[i];
            if (s->rule == NNV_FUSE && nnv_known(c, s->id) && nnv_int(c, s->id) == limits[k].fuse) return &limits[k];
        }
    }
    return NULL;
}

/** A code of the real limit, which may be infinite. */
static double code(double limit, double scale, double zero_point) {
    return isinf(limit) ? limit : nnv_round_half_away(limit / scale) + zero_point;
}

static bool is_plain(const struct nnv_arg *a) {
    return a->present && nnv_is_quant(a->operand->type) && a->operand->channel.count == 0 && a->operand->scale > 0;
}

void nnv_generate_activations(struct nnv_fault_list *l, const struct nnv_call *c) {
    const struct limits *of = limits_of(c);
    if (!of || c->nin == 0 || c->nout != 1 || !is_plain(&c->in[0]) || !is_plain(&c->out[0])) return;
    const struct nnv_operand *x = c->in[0].operand, *y = c->out[0].operand;
    const double sx = (double)x->scale, sy = (double)y->scale, zx = x->zero_point, zy = y->zero_point;
    struct nnv_fault f = {.ops = {c->op->code}, .nops = 1, .change = unlimited, .element = limited};
    const double low = code(of->low, sy, zy), high = code(of->high, sy, zy);
    const struct {
        double low, high;
        const char *words;
    } wrong[] = {
        {code(of->low, sy, 0), code(of->high, sy, 0), "limits of the activation without the output's zero point"},
        {low, code(of->high, sy, 0), "upper limit of the activation without the output's zero point"},
        {code(of->low, sy, 0), high, "lower limit of the activation without the output's zero point"},
        {code(0, sy, zy), high, "lower limit of the activation taken for 0"},
        {code(of->low, sx, zx), code(of->high, sx, zx), "limits of the activation as codes of the input"},
        {code(of->low, sx, zy), code(of->high, sx, zy), "limits of the activation in the scale of the input"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        f.value = wrong[k].low;
        f.other = wrong[k].high;
        if (f.value != low || f.other != high) nnv_generate(l, f, "%s", wrong[k].words);
    }
    if (c->nin < 2 || !is_plain(&c->in[1])) return;
    f.element = limited_before;
    f.unit = sx * (double)c->in[1].operand->scale;
    f.value = code(of->low, sy, 0);
    f.other = code(of->high, sy, 0);
    nnv_generate(l, f, "limits of the activation applied before rescaling, as codes of the output");
}

/* ------------------------------------------------------------- codes handed on */

/** Parts of an output's unit by which results may be off when they are moved to either side. */
static const double NEAR = 0.0101;

/** Where the result is the number that an input holds there, its code; value 1: but for negative ones. */
static double handed_on(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i) {
    if (!y->exact || y->n != f->nheld) return y->v[i];
    const double real = (f->held[i] - f->offset) * f->unit;
    if (f->value > 0 && real < 0) return y->v[i];
    return fabs(real - y->exact[i]) <= NEAR * (double)y->scale + 1e-6 * fabs(real) ? f->held[i] : y->v[i];
}

/** The code that input holds for each element of the output; NULL: it has none for some. */
static double *held_by(struct nnv_fault_list *l, const struct nnv_arg *x, const struct nnv_shape *y) {
    size_t step[NNV_MAX_RANK], at[NNV_MAX_RANK] = {0}, from = 0;
    if (!x->data || !nnv_shape_known(&x->shape) || !nnv_shape_known(y)) return NULL;
    if (!nnv_shape_steps(&x->shape, y->rank, y->dims, step)) return NULL;
    const size_t n = nnv_shape_elems(y), held = nnv_shape_elems(&x->shape);
    double *all = NNV_NEW(l->arena, double, held + 1), *to = NNV_NEW(l->arena, double, n + 1);
    if (!all || !to) return NULL;
    if (held) nnv_load(x->operand->type, x->data, held, all);
    for (size_t i = 0; i < n; i++) {
        to[i] = all[from];
        for (uint32_t d = y->rank; d-- > 0;) {
            from += step[d];
            if (++at[d] < y->dims[d]) break;
            from -= step[d] * y->dims[d];
            at[d] = 0;
        }
    }
    return to;
}

void nnv_generate_handed_on(struct nnv_fault_list *l, const struct nnv_call *c) {
    if (c->nout != 1 || !is_plain(&c->out[0])) return;
    const struct nnv_operand *y = c->out[0].operand;
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_arg *x = nnv_in(c, c->form->in[i].id);
        if (!x || !is_plain(x) || x->operand->type != y->type) continue;
        if (x->operand->scale == y->scale && x->operand->zero_point == y->zero_point) continue;
        struct nnv_fault f = {
            .element = handed_on, .unit = (double)x->operand->scale, .offset = x->operand->zero_point};
        f.held = held_by(l, x, &c->out[0].shape);
        f.nheld = f.held ? nnv_shape_elems(&c->out[0].shape) : 0;
        if (!f.held) continue;
        nnv_generate(l, f, "codes of %s copied, not rescaled, where the result is its number", c->form->in[i].name);
        f.value = 1;
        nnv_generate(l, f, "codes of %s copied, not rescaled, where the result is its number and not negative",
                     c->form->in[i].name);
    }
}
