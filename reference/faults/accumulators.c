/* SPDX-License-Identifier: Apache-2.0 */
/** @file accumulators.c Sums, products and operands that are held in too few bits; channels in another order. */
#include <math.h>

#include "reference/faults/generate.h"

/** Which numbers so many bits hold: those from low to high. */
struct limits {
    double low, high;
    const char *words;
};
static const struct limits limits[] = {{INT16_MIN, INT16_MAX, "16 bits"},
                                       {0, UINT16_MAX, "16 bits without sign"},
                                       {-0x1p23, 0x1p23 - 1, "24 bits"},
                                       {INT8_MIN, INT8_MAX, "8 bits"},
                                       {0, UINT8_MAX, "8 bits without sign"}};

static double rounded(const struct nnv_fault_output *y, double real) {
    const struct nnv_type *t = nnv_type(y->type);
    return fmin(fmax(nnv_round_half_away(real / (double)y->scale) + y->zero_point, t->min), t->max);
}

/** The result of an accumulator, which change() holds between value and other; as it was where they hold it. */
static double held(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i,
                   double (*change)(const struct nnv_fault *f, double v)) {
    if (!y->exact || !isfinite(y->exact[i])) return y->v[i];
    const double sum = nearbyint(y->exact[i] / f->unit + f->offset);
    if (sum >= f->value && sum <= f->other) return y->v[i];
    return rounded(y, (change(f, sum) - f->offset) * f->unit);
}

static double clamp(const struct nnv_fault *f, double v) { return fmin(fmax(v, f->value), f->other); }
static double wrap(const struct nnv_fault *f, double v) {
    const double range = f->other - f->value + 1;
    return v - range * floor((v - f->value) / range);
}
static double saturated(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i) {
    return held(y, f, i, clamp);
}
static double wrapped(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i) {
    return held(y, f, i, wrap);
}

/** The multiplier from the sum to the output, which is above 1, taken for 1. */
static double not_multiplied(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i) {
    return y->exact && isfinite(y->exact[i]) ? rounded(y, nearbyint(y->exact[i] / f->unit) * (double)y->scale)
                                             : y->v[i];
}

static void generate(struct nnv_fault_list *l, double unit, double offset, const char *what) {
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        struct nnv_fault f = {.value = limits[k].low, .other = limits[k].high, .unit = unit, .offset = offset};
        f.element = saturated;
        nnv_generate(l, f, "%s saturate in %s", what, limits[k].words);
        f.element = wrapped;
        nnv_generate(l, f, "%s wrap in %s", what, limits[k].words);
    }
}

static bool in_bits(const struct nnv_fault *f, double *v, size_t n) {
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const double to = nnv_number_in_bits(f, v[i]);
        any = any || to < v[i] || to > v[i];
        v[i] = to;
    }
    return any;
}
static double result_in_bits(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i) {
    const struct nnv_type *t = nnv_type(y->type);
    const double v = nnv_number_in_bits(f, y->v[i]);
    if (t->kind == NNV_KIND_FLOAT) return v;
    if (f->offset != 0 && (v < t->min || v > t->max)) return t->min; /* what x86 converts to */
    return fmin(fmax(v, t->min), t->max);
}

/** Computed in a type of fewer digits: all operands of the type of input 0, and the result. */
static void fewer_digits(struct nnv_fault_list *l, const struct nnv_call *c) {
    static const int bits[] = {24, 11, 8};
    struct nnv_fault f = {.ops = {c->op->code}, .nops = 1, .numbers = in_bits, .element = result_in_bits};
    int n = 0;
    if (!c->in[0].present) return;
    const int32_t type = c->in[0].operand->type;
    if (nnv_type(type)->kind != NNV_KIND_INT && nnv_type(type)->kind != NNV_KIND_FLOAT) return;
    for (uint8_t i = 0; i < c->form->nin && n < NNV_FAULT_SLOTS; i++) {
        const struct nnv_arg *a = nnv_in(c, c->form->in[i].id);
        if (a && a->present && a->operand->type == type) f.slots[n++] = c->form->in[i].name;
    }
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
        f.value = bits[k];
        f.offset = 0;
        if (n > 1) nnv_generate(l, f, "operands and result in %d bits", bits[k]);
        f.offset = 1;
        if (n > 1 && nnv_type(type)->kind == NNV_KIND_INT)
            nnv_generate(l, f, "operands and result in %d bits, what is out of range the least number", bits[k]);
    }
}

/** A mean whose sum was divided by fewer numbers: f->value times as large. */
static double divided_by_fewer(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i) {
    const bool quantised = nnv_is_quant(y->type);
    if (!quantised) return y->v[i] * f->value;
    const double real = y->exact && isfinite(y->exact[i]) ? y->exact[i] : (y->v[i] - y->zero_point) * (double)y->scale;
    return rounded(y, real * f->value);
}

/** Means over several axes: divided by the extents of some of them. */
static void divisors(struct nnv_fault_list *l, const struct nnv_shape *from, double n) {
    enum { MOST_AXES = 5 };
    double seen[1 << MOST_AXES];
    size_t count = 0;
    for (unsigned some = 0; from->rank <= MOST_AXES && some < 1u << from->rank; some++) {
        double product = 1;
        bool again = false;
        for (uint32_t d = 0; d < from->rank; d++) product *= some >> d & 1 ? from->dims[d] : 1;
        for (size_t k = 0; k < count; k++) again = again || !(fabs(seen[k] - product) > 0);
        if (again || product >= n || fmod(n, product) > 0) continue;
        seen[count++] = product;
        nnv_generate(l, (struct nnv_fault){.value = n / product, .element = divided_by_fewer},
                     "sums divided by fewer numbers than were added");
    }
}

static bool is_plain(const struct nnv_arg *a) {
    return a->present && nnv_is_quant(a->operand->type) && a->operand->channel.count == 0 && a->operand->scale > 0;
}

void nnv_generate_accumulators(struct nnv_fault_list *l, const struct nnv_call *c) {
    if (c->nin == 0 || c->nout != 1) return;
    const struct nnv_shape *from = &c->in[0].shape, *to = &c->out[0].shape;
    const bool shaped = nnv_shape_known(from) && nnv_shape_known(to) && nnv_shape_elems(to) > 0;
    const double n = shaped ? (double)nnv_shape_elems(from) / (double)nnv_shape_elems(to) : 0;
    fewer_digits(l, c);
    if (c->op->code == ANEURALNETWORKS_MEAN && n >= 2) divisors(l, from, n);
    if (!is_plain(&c->in[0]) || !is_plain(&c->out[0])) return;
    const struct nnv_operand *x = c->in[0].operand;
    if (c->nin > 1 && is_plain(&c->in[1])) {
        const double unit = (double)x->scale * (double)c->in[1].operand->scale;
        const char *const what = c->op->code == ANEURALNETWORKS_MUL ? "products of codes" : "sums of products of codes";
        generate(l, unit, 0, what);
        if (unit > (double)c->out[0].operand->scale)
            nnv_generate(l, (struct nnv_fault){.unit = unit, .element = not_multiplied},
                         "%s rescaled by at most 1, where their multiplier is above 1", what);
        return;
    }
    /* means: of as many as there are for a number of the output; windows are of the same size but at edges */
    const bool mean = c->op->code == ANEURALNETWORKS_MEAN || c->op->code == ANEURALNETWORKS_AVERAGE_POOL_2D;
    if (!mean || n != floor(n) || n < 2) return;
    generate(l, (double)x->scale / n, x->zero_point * n, "sums of codes");
    if (x->zero_point != 0) generate(l, (double)x->scale / n, 0, "sums of codes without zero point");
    if (x->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED)
        generate(l, (double)x->scale / n, (x->zero_point + 128) * n, "sums of codes plus 128");
}

/* ----------------------------------------------------------- channels in another order */

/** Element p of rows of f->value is element at(p) of columns of them. */
static int64_t at_column(const struct nnv_fault *f, int64_t i, int64_t n) {
    const int64_t rows = (int64_t)f->value;
    if (n % rows != 0) return i;
    return i % rows * (n / rows) + i / rows;
}

/** The filters, biases and scales of all outputs change places, as their results then do. */
static bool reorder(struct nnv_edit *e, const struct nnv_fault *f) {
    static const char *const slots[] = {"filter", "bias"};
    bool any = false;
    for (int k = 0; k < 2; k++) {
        struct nnv_fault one = {.place = at_column, .value = f->value, .slots = {slots[k]}};
        one.axis = k == 0 && e->call->op->code == ANEURALNETWORKS_DEPTHWISE_CONV_2D ? 3 : 0;
        any = nnv_change_placed(e, &one) || any;
        if (k == 0) (void)nnv_change_scales_placed(e, &one);
    }
    return any;
}

/** Where the result of a filter that stands at place p by at_column() is to lie. */
static int64_t at_row(const struct nnv_fault *f, int64_t i, int64_t n) {
    const int64_t columns = n / (int64_t)f->value;
    if (n % (int64_t)f->value != 0) return i; /* an output of another shape */
    return i % columns * (int64_t)f->value + i / columns;
}

void nnv_generate_channel_order(struct nnv_fault_list *l, const struct nnv_call *c) {
    const bool depthwise = c->op->code == ANEURALNETWORKS_DEPTHWISE_CONV_2D;
    if ((!depthwise && c->op->code != ANEURALNETWORKS_GROUPED_CONV_2D) || !c->in[0].present) return;
    const struct nnv_shape *x = &c->in[0].shape, *y = &c->out[0].shape;
    if (!nnv_shape_known(x) || !nnv_shape_known(y) || x->rank != 4 || y->rank != 4) return;
    const uint32_t axis = nnv_call_is_nchw(c) ? 1 : 3;
    double groups = x->dims[axis];
    for (uint8_t i = 0; i < c->form->nin && !depthwise; i++)
        if (c->form->in[i].flags & NNV_SCALAR && nnv_known(c, c->form->in[i].id) && c->form->in[i].name[0] == 'g' &&
            c->form->in[i].name[1] == 'r')
            groups = nnv_num(c, c->form->in[i].id);
    if (!(groups > 1) || y->dims[axis] <= groups || fmod(y->dims[axis], groups) != 0) return;
    const struct nnv_fault f = {.ops = {c->op->code},
                                .nops = 1,
                                .axis = (int)axis,
                                .value = y->dims[axis] / groups,
                                .change = reorder,
                                .place = at_row,
                                .element = nnv_element_placed};
    nnv_generate(l, f,
                 depthwise ? "output channel k made of input channel k modulo their number, not k / multiplier"
                           : "output channel k made of group k modulo their number");
}
