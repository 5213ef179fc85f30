/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/faults/generate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LIST_MOST = 16, RANK_MOST = 5 };

/* ---------------------------------------------------------- numbers and elements */

#define NUMBERS(name) static bool v_##name(const struct nnv_fault *f, double *v, size_t n)

static bool all_by(const struct nnv_fault *f, double *v, size_t n, double (*by)(const struct nnv_fault *f, double v)) {
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const double to = by(f, v[i]);
        any = any || to < v[i] || to > v[i];
        v[i] = to;
    }
    return any;
}

static double to_set(const struct nnv_fault *f, double v) { return (void)v, f->value; }
static double to_sum(const struct nnv_fault *f, double v) { return v + f->value; }
static double to_product(const struct nnv_fault *f, double v) { return v * f->value; }
static double to_absolute(const struct nnv_fault *f, double v) { return (void)f, fabs(v); }
static double to_not_negative(const struct nnv_fault *f, double v) { return (void)f, v < 0 ? 0 : v; }
static double to_integer(const struct nnv_fault *f, double v) { return (void)f, nearbyint(v); }
static double to_low(const struct nnv_fault *f, double v) { return v > f->value ? f->value : v; }
static double to_high(const struct nnv_fault *f, double v) { return v < f->value ? f->value : v; }
static double to_wrapped(const struct nnv_fault *f, double v) {
    return v - f->value * floor((v + f->value / 2) / f->value);
}
/** To a significand of so many bits; other: cut. */
double nnv_number_in_bits(const struct nnv_fault *f, double v) {
    int exponent;
    if (!isfinite(v) || v == 0) return v;
    const double m = ldexp(frexp(v, &exponent), (int)f->value);
    return ldexp(f->other != 0 ? trunc(m) : nearbyint(m), exponent - (int)f->value);
}

NUMBERS(set) { return all_by(f, v, n, to_set); }
NUMBERS(sum) { return all_by(f, v, n, to_sum); }
NUMBERS(product) { return all_by(f, v, n, to_product); }
NUMBERS(absolute) { return all_by(f, v, n, to_absolute); }
NUMBERS(not_negative) { return all_by(f, v, n, to_not_negative); }
NUMBERS(integer) { return all_by(f, v, n, to_integer); }
NUMBERS(low) { return all_by(f, v, n, to_low); }
NUMBERS(high) { return all_by(f, v, n, to_high); }
NUMBERS(saturated) {
    const bool low = all_by(f, v, n, to_low);
    const struct nnv_fault other = {.value = -f->value - 1};
    return all_by(&other, v, n, to_high) || low;
}
NUMBERS(wrapped) { return all_by(f, v, n, to_wrapped); }
NUMBERS(bits) { return all_by(f, v, n, nnv_number_in_bits); }

#define ELEMENT(name) static double y_##name(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i)
static double stored(const struct nnv_fault_output *y, double v) {
    const struct nnv_type *t = nnv_type(y->type);
    return t->kind == NNV_KIND_FLOAT ? v : fmin(fmax(v, t->min), t->max);
}
ELEMENT(low) { return to_low(f, y->v[i]); }
ELEMENT(high) { return to_high(f, y->v[i]); }
ELEMENT(bits) { return nnv_number_in_bits(f, y->v[i]); }
/** The unrounded result, rounded down, up, to the nearest, towards zero by value 0 to 3. */
ELEMENT(rounded) {
    static double (*const by[])(double) = {floor, ceil, round, trunc};
    return y->exact ? stored(y, by[(int)f->value](y->exact[i])) : y->v[i];
}
/** Codes that should saturate wrap. */
ELEMENT(code_wrapped) {
    (void)f;
    const struct nnv_type *t = nnv_type(y->type);
    if (!y->exact || !isfinite(y->exact[i])) return y->v[i];
    const double code = nnv_round_half_away(y->exact[i] / (double)y->scale) + y->zero_point,
                 range = t->max - t->min + 1;
    return code < t->min || code > t->max ? code - range * floor((code - t->min) / range) : y->v[i];
}
ELEMENT(tiny_lost) { return fabs(y->v[i]) <= f->value ? 0 : y->v[i]; }
ELEMENT(wrapped) { return stored(y, to_wrapped(f, y->v[i])); }
ELEMENT(product) {
    const double zero = nnv_is_quant(y->type) ? y->zero_point : 0;
    const double v = (y->v[i] - zero) * f->value + zero;
    return stored(y, nnv_type(y->type)->kind == NNV_KIND_FLOAT ? v : nnv_round_half_away(v));
}
ELEMENT(multiples) { return stored(y, f->value * floor(y->v[i] / f->value)); }

/** The memory is written with the axes in another order: f->other holds it, a digit an axis. */
ELEMENT(axes) {
    uint32_t order[NNV_MAX_RANK], at[NNV_MAX_RANK] = {0}, digits = (uint32_t)f->other;
    size_t rest = i, to = 0;
    if (y->rank != (uint32_t)f->value) return y->v[i];
    for (uint32_t d = y->rank; d-- > 0; digits /= 10) order[d] = digits % 10;
    for (uint32_t d = y->rank; d-- > 0;) {
        at[order[d]] = (uint32_t)(rest % y->dims[order[d]]);
        rest /= y->dims[order[d]];
    }
    for (uint32_t d = 0; d < y->rank; d++) to = to * y->dims[d] + at[d];
    return y->v[to];
}

/* --------------------------------------------------------- changes of a whole use */

/** Input slot 0 is handed on. */
static bool handed_on(struct nnv_edit *e, const struct nnv_fault *f) {
    const int pos = nnv_edit_find(e, f->slots[0]);
    return pos >= 0 && nnv_edit_hand_on(e, nnv_edit_op(e)->in[pos], &e->call->in[pos].shape);
}

/** Slot 0 is broadcast by counting its numbers round and round. */
static bool counted_round(struct nnv_edit *e, const struct nnv_fault *f) {
    const int pos = nnv_edit_find(e, f->slots[0]);
    const struct nnv_shape *y = &e->call->out[0].shape;
    size_t n;
    const double *v = pos < 0 || !nnv_shape_known(y) ? NULL : nnv_edit_numbers(e, pos, &n);
    if (!v || n < 2 || y->rank == 0) return false;
    struct nnv_operand o = *nnv_edit_operand(e, pos);
    const size_t elems = nnv_shape_elems(y), size = nnv_type(o.type)->size;
    if (elems <= n || o.channel.count) return false;
    double *to = NNV_NEW(e->arena, double, elems);
    o.data = nnv_arena_alloc(e->arena, elems, size);
    o.dims = nnv_arena_copy(e->arena, y->dims, y->rank * sizeof *y->dims);
    if (!to || !o.data || !o.dims) return false;
    for (size_t i = 0; i < elems; i++) to[i] = v[i % n];
    nnv_store(o.type, to, elems, (void *)(uintptr_t)o.data);
    o.rank = y->rank;
    o.bytes = elems * size;
    o.lifetime = NNV_CONSTANT_COPY;
    const uint32_t index = nnv_edit_add(e, o);
    nnv_edit_op(e)->in[pos] = index;
    return !e->failed;
}

/** The operation is applied to its own result. */
static bool twice(struct nnv_edit *e, const struct nnv_fault *f) {
    const struct nnv_operation op = *nnv_edit_op(e);
    const struct nnv_arg *x = &e->call->in[0], *y = &e->call->out[0];
    (void)f;
    if (op.nin == 0 || op.nout != 1 || x->operand->type != y->operand->type || !nnv_shape_known(&x->shape) ||
        !nnv_shape_known(&y->shape) || x->shape.rank != y->shape.rank ||
        memcmp(x->shape.dims, y->shape.dims, x->shape.rank * sizeof *x->shape.dims) != 0)
        return false;
    nnv_edit_insert(e, op.type, op.in + 1, op.nin - 1, &x->shape);
    return !e->failed;
}

/* ------------------------------------------------------------------- generating */

/** A fault of this operation in one or two of its slots. */
static struct nnv_fault of(const struct nnv_call *c, const char *slot, const char *other) {
    return (struct nnv_fault){.ops = {c->op->code}, .nops = 1, .slots = {slot, other}};
}

static const struct nnv_arg *given(const struct nnv_call *c, const struct nnv_slot *s) {
    const struct nnv_arg *a = nnv_in(c, s->id);
    return a && a->present ? a : NULL;
}

static void numbers(struct nnv_fault_list *l, struct nnv_fault f,
                    bool (*by)(const struct nnv_fault *f, double *v, size_t n), double value, const char *words,
                    const char *slot) {
    f.numbers = by;
    f.value = value;
    nnv_generate(l, f, words, slot, value);
}

static void set_number(struct nnv_fault_list *l, const struct nnv_call *c, const struct nnv_slot *s, double value) {
    static const char *const activations[] = {"none", "RELU", "RELU1", "RELU6"};
    if (!nnv_known(c, s->id) || !(fabs(nnv_num(c, s->id) - value) > 0)) return;
    if (s->rule == NNV_FUSE && value >= 0 && value <= ANEURALNETWORKS_FUSED_RELU6) {
        struct nnv_fault f = of(c, s->name, NULL);
        f.numbers = nnv_numbers_set;
        f.value = value;
        nnv_generate(l, f, "%s taken for %s", s->name, activations[(int)value]);
    } else
        numbers(l, of(c, s->name, NULL), nnv_numbers_set, value, "%s taken for %g", s->name);
}

static void scalar(struct nnv_fault_list *l, const struct nnv_call *c, const struct nnv_slot *s) {
    const struct nnv_arg *a = given(c, s);
    const struct nnv_fault f = of(c, s->name, NULL);
    const bool real = a && nnv_is_float(a->operand->type);
    if (!a) return;
    if (a->operand->type == ANEURALNETWORKS_BOOL) {
        set_number(l, c, s, 0);
        set_number(l, c, s, 1);
        return;
    }
    for (int v = -1; v <= 3; v++) set_number(l, c, s, v);
    if (s->rule == NNV_FUSE || s->rule == NNV_PADDING_CODE) return;
    numbers(l, f, v_sum, 1, "%s plus %g", s->name);
    numbers(l, f, v_sum, -1, "%s plus %g", s->name);
    if (s->rule == NNV_AXIS) return;
    numbers(l, f, v_product, 2, "%s times %g", s->name);
    numbers(l, f, v_product, 0.5, "%s times %g", s->name);
    if (!real) return;
    numbers(l, f, v_product, -1, "%s times %g", s->name);
    numbers(l, f, v_integer, 0, "%s rounded to an integer", s->name);
    numbers(l, f, v_bits, 8, "%1$s in %2$g bits", s->name);
    numbers(l, f, v_bits, 11, "%1$s in %2$g bits", s->name);
}

/** Each scalar is taken for another of its type: neighbours, partners of the other axis. */
static void scalars_mixed(struct nnv_fault_list *l, const struct nnv_call *c) {
    const struct nnv_form *form = c->form;
    for (uint8_t i = 0; i < form->nin; i++)
        for (uint8_t k = 0; k < form->nin; k++) {
            const struct nnv_slot *s = &form->in[i], *t = &form->in[k];
            const struct nnv_arg *a = given(c, s), *b = given(c, t);
            if (i == k || !a || !b || !(s->flags & NNV_SCALAR) || !(t->flags & NNV_SCALAR)) continue;
            if (a->operand->type != b->operand->type || s->rule != t->rule) continue;
            if (!nnv_known(c, s->id) || !nnv_known(c, t->id) || !(fabs(nnv_num(c, s->id) - nnv_num(c, t->id)) > 0))
                continue;
            struct nnv_fault f = of(c, s->name, t->name);
            f.numbers = nnv_numbers_set;
            f.value = nnv_num(c, t->id);
            f.slots[1] = NULL;
            nnv_generate(l, f, "%s taken for %s", s->name, t->name);
            f.numbers = NULL;
            f.change = nnv_change_swap;
            f.slots[1] = t->name;
            if (i < k) nnv_generate(l, f, "%s and %s swapped", s->name, t->name);
        }
}

/** Real scalars times, and divided by, whole ones, and the windows of radii. */
static void scalars_multiplied(struct nnv_fault_list *l, const struct nnv_call *c) {
    for (uint8_t i = 0; i < c->form->nin; i++)
        for (uint8_t k = 0; k < c->form->nin; k++) {
            const struct nnv_slot *s = &c->form->in[i], *t = &c->form->in[k];
            const struct nnv_arg *a = given(c, s), *b = given(c, t);
            if (!a || !b || !(s->flags & NNV_SCALAR) || !(t->flags & NNV_SCALAR) || t->rule == NNV_FUSE) continue;
            if (!nnv_is_float(a->operand->type) || b->operand->type != ANEURALNETWORKS_INT32) continue;
            const double n = nnv_known(c, t->id) ? nnv_num(c, t->id) : 0;
            struct nnv_fault f = of(c, s->name, NULL);
            if (!(n >= 1)) continue;
            f.numbers = v_product;
            f.value = n;
            nnv_generate(l, f, "%s times %s", s->name, t->name);
            f.value = 1 / n;
            nnv_generate(l, f, "%s divided by %s", s->name, t->name);
            if (strcmp(t->name, "radius") != 0) continue;
            f.value = 2 * n + 1;
            nnv_generate(l, f, "%s times the window", s->name);
            f.value = 1 / (2 * n + 1);
            nnv_generate(l, f, "%s divided by the window", s->name);
        }
}

static void list(struct nnv_fault_list *l, const struct nnv_call *c, const struct nnv_slot *s) {
    static const double values[] = {0, 1, -1};
    struct nnv_fault f = of(c, s->name, NULL);
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        numbers(l, f, v_set, values[k], "all of %s taken for %g", s->name);
    numbers(l, f, v_sum, 1, "%s plus %g", s->name);
    numbers(l, f, v_sum, -1, "%s plus %g", s->name);
    numbers(l, f, v_absolute, 0, "%s without signs", s->name);
    numbers(l, f, v_not_negative, 0, "negative ones of %s taken for 0", s->name);
    numbers(l, f, nnv_numbers_identity, 0, "%s taken for 0, 1, 2", s->name);
    numbers(l, f, nnv_numbers_inverse, 0, "%s inverted", s->name);
}

static void tensor(struct nnv_fault_list *l, const struct nnv_call *c, const struct nnv_slot *s,
                   const struct nnv_arg *a) {
    const struct nnv_type *t = nnv_type(a->operand->type);
    struct nnv_fault f = of(c, s->name, NULL);
    char whose[96];
    f.change = nnv_change_placed;
    for (uint32_t d = 0; d < a->shape.rank && a->shape.rank <= RANK_MOST; d++) {
        f.axis = (int)d;
        (void)snprintf(whose, sizeof whose, "%s, axis %u", s->name, d);
        if (a->shape.dims[d] > 1) nnv_generate_places(l, f, a->shape.dims[d], whose);
    }
    f = of(c, s->name, NULL);
    if (t->kind == NNV_KIND_FLOAT) {
        numbers(l, f, v_bits, 8, "%1$s in %2$g bits", s->name);
        numbers(l, f, v_bits, 11, "%1$s in %2$g bits", s->name);
        numbers(l, f, v_product, 2, "%s times %g", s->name);
        numbers(l, f, v_product, 0.5, "%s times %g", s->name);
    }
    if (t->kind != NNV_KIND_INT && t->kind != NNV_KIND_BOOL) {
        f.change = nnv_change_signs;
        f.value = -1;
        nnv_generate(l, f, "%s times -1", s->name);
        f.value = 1;
        nnv_generate(l, f, "%s without signs", s->name);
        f.value = 0;
        nnv_generate(l, f, "negative ones of %s taken for 0", s->name);
        f.change = NULL;
    }
    if (t->kind == NNV_KIND_INT) {
        numbers(l, f, v_saturated, INT16_MAX, "%s saturates at %g", s->name);
        numbers(l, f, v_wrapped, 65536, "%s wraps modulo %g", s->name);
        numbers(l, f, v_product, -1, "%s times %g", s->name);
        numbers(l, f, v_bits, 24, "%1$s in %2$g bits", s->name);
        numbers(l, f, v_bits, 11, "%1$s in %2$g bits", s->name);
    }
    f.change = nnv_change_zero;
    nnv_generate(l, f, "%s left out", s->name);
    f.change = counted_round;
    nnv_generate(l, f, "%s broadcast by counting its numbers round and round", s->name);
    f.change = NULL;
    if (t->kind != NNV_KIND_QUANT) return;
    numbers(l, f, v_high, t->min + 1, "codes of %s not below %g", s->name);
    numbers(l, f, v_low, 127, "codes of %s not above %g", s->name);
    f.change = nnv_change_scale_times;
    for (f.value = 0.5; f.value <= 2; f.value *= 4) nnv_generate(l, f, "scale of %s times %g", s->name, f.value);
    f.change = nnv_change_scale_power;
    nnv_generate(l, f, "scale of %s rounded to a power of two", s->name);
    f.change = nnv_change_scales_placed;
    if (a->operand->channel.count > 1) {
        (void)snprintf(whose, sizeof whose, "scales of %s", s->name);
        nnv_generate_places(l, f, a->operand->channel.count, whose);
        return;
    }
    f.change = nnv_change_no_zero_point;
    f.value = 0;
    nnv_generate(l, f, "zero point of %s taken for 0", s->name);
    f.value = 128;
    nnv_generate(l, f, "zero point of %s taken for 128", s->name);
    f.change = nnv_change_zero_point;
    for (f.value = -1; f.value <= 1; f.value += 2) nnv_generate(l, f, "zero point of %s plus %g", s->name, f.value);
    for (uint8_t k = 0; k < c->form->nin; k++) {
        const struct nnv_arg *b = given(c, &c->form->in[k]);
        if (&c->form->in[k] == s || !b || !nnv_is_quant(b->operand->type)) continue;
        f.slots[1] = c->form->in[k].name;
        f.change = nnv_change_like;
        nnv_generate(l, f, "%s encoded like %s", s->name, f.slots[1]);
    }
}

/** Two tensors of one type and shape change places. */
static void tensors_mixed(struct nnv_fault_list *l, const struct nnv_call *c) {
    for (uint8_t i = 0; i < c->form->nin; i++)
        for (uint8_t k = (uint8_t)(i + 1); k < c->form->nin; k++) {
            const struct nnv_slot *s = &c->form->in[i], *t = &c->form->in[k];
            const struct nnv_arg *a = given(c, s), *b = given(c, t);
            if (!a || !b || (s->flags & NNV_SCALAR) || (t->flags & NNV_SCALAR)) continue;
            if (a->operand->type != b->operand->type) continue;
            struct nnv_fault f = of(c, s->name, t->name);
            f.change = nnv_change_swap;
            nnv_generate(l, f, "%s and %s swapped", s->name, t->name);
        }
}

/** Of windows: padding begins elsewhere, and there are as many results. */
static void heads(struct nnv_fault_list *l, const struct nnv_call *c) {
    static const char *const words[] = {
        [NNV_HEADS_SWAPPED] = "padding before taken for that of the other axis: top for left, left for top",
        [NNV_HEADS_LEFT] = "padding left taken for that at the top, as many results",
        [NNV_HEADS_TOP] = "padding at the top taken for that at the left, as many results",
        [NNV_HEADS_FROM_TAILS] = "padding before taken for that behind",
        [NNV_HEADS_NONE] = "no padding before: all of it behind",
        [NNV_HEADS_ALL] = "all padding before: none behind",
        [NNV_HEADS_LESS] = "padding before one cell too small",
        [NNV_HEADS_MORE] = "padding before one cell too large"};
    struct nnv_fault f = of(c, NULL, NULL);
    f.change = nnv_change_heads;
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const char *name = c->form->in[i].name;
        if (strcmp(name, "padding top") != 0 && strcmp(name, "padding scheme") != 0) continue;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            f.value = (double)k;
            nnv_generate(l, f, "%s", words[k]);
        }
    }
}

void nnv_generate_attributes(struct nnv_fault_list *l, const struct nnv_call *c) {
    heads(l, c);
    scalars_mixed(l, c);
    scalars_multiplied(l, c);
    for (uint8_t i = 0; i < c->form->nin; i++)
        if (c->form->in[i].flags & NNV_SCALAR) scalar(l, c, &c->form->in[i]);
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        const struct nnv_arg *a = given(c, s);
        if (a && a->operand->type == ANEURALNETWORKS_TENSOR_INT32 && nnv_shape_known(&a->shape) &&
            nnv_shape_elems(&a->shape) <= LIST_MOST)
            list(l, c, s);
    }
}

void nnv_generate_tensors(struct nnv_fault_list *l, const struct nnv_call *c) {
    tensors_mixed(l, c);
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        const struct nnv_arg *a = given(c, s);
        if (a && nnv_type(a->operand->type)->tensor && nnv_shape_known(&a->shape)) tensor(l, c, s, a);
    }
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_arg *a = given(c, &c->form->in[i]);
        struct nnv_fault f = of(c, c->form->in[i].name, NULL);
        char whose[96];
        if (!a || !nnv_shape_known(&a->shape) || a->shape.rank < 2 || nnv_shape_elems(&a->shape) > UINT32_MAX) continue;
        f.change = nnv_change_placed;
        f.axis = NNV_FAULT_FLAT;
        (void)snprintf(whose, sizeof whose, "all of %s", f.slots[0]);
        nnv_generate_places(l, f, (uint32_t)nnv_shape_elems(&a->shape), whose);
        const uint32_t last = a->shape.rank - 1, *dims = a->shape.dims;
        if (last < 2 || dims[last] < 2 || dims[last - 1] < 2) continue;
        f.axis = NNV_FAULT_LAST_TWO;
        (void)snprintf(whose, sizeof whose, "%s, axes %u and %u as one", f.slots[0], last - 1, last);
        nnv_generate_places(l, f, dims[last - 1] * dims[last], whose);
    }
    struct nnv_fault f = of(c, NULL, NULL);
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        if ((s->flags & NNV_SCALAR) || !given(c, s)) continue;
        f.slots[0] = s->name;
        f.change = handed_on;
        nnv_generate(l, f, "the operation left out: %s handed on", s->name);
    }
    f.slots[0] = NULL;
    f.change = twice;
    nnv_generate(l, f, "the operation done twice");
}

/* --------------------------------------------------------------------- outputs */

static void values(struct nnv_fault_list *l,
                   double (*by)(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i), double value,
                   const char *words) {
    const struct nnv_fault f = {.element = by, .value = value};
    nnv_generate(l, f, words, value);
}

/** Adds the orders of axes but for the right one: digits from the left, bit d of used: axis d stands already. */
static void orders(struct nnv_fault_list *l, uint32_t rank, uint32_t order, uint32_t used, uint32_t n, bool right) {
    if (n == rank && !right) {
        const struct nnv_fault f = {.element = y_axes, .value = rank, .other = order};
        nnv_generate(l, f, "output written with its axes in the order %0*u", (int)rank, order);
    }
    for (uint32_t d = 0; d < rank && n < rank; d++)
        if (!(used >> d & 1)) orders(l, rank, order * 10 + d, used | 1U << d, n + 1, right && d == n);
}

void nnv_generate_limits(struct nnv_fault_list *l, double low, double high, double tiny) {
    if (isfinite(high)) values(l, y_low, high, "output not above %g");
    if (isfinite(low)) values(l, y_high, low, "output not below %g");
    if (tiny > 0) values(l, y_tiny_lost, tiny, "magnitudes up to %g become 0");
}

void nnv_generate_spoils(struct nnv_fault_list *l, int32_t type, uint32_t rank, const uint32_t *dims) {
    const enum nnv_kind kind = nnv_type(type)->kind;
    struct nnv_fault f = {.element = nnv_element_placed};
    size_t n = 1;
    char whose[40];
    for (uint32_t d = 0; d < rank; d++) n *= dims[d];
    if (rank >= 2 && rank <= 4) orders(l, rank, 0, 0, 0, true);
    for (uint32_t d = 0; d < rank && rank <= RANK_MOST; d++) {
        f.axis = (int)d;
        (void)snprintf(whose, sizeof whose, "output, axis %u", d);
        if (dims[d] > 1) nnv_generate_places(l, f, dims[d], whose);
    }
    f.axis = NNV_FAULT_FLAT;
    if (rank > 1 && n <= UINT32_MAX) nnv_generate_places(l, f, (uint32_t)n, "all of the output");
    if (kind == NNV_KIND_BOOL) return;
    values(l, y_product, 2, "output times %g");
    values(l, y_product, 0.5, "output times %g");
    values(l, y_product, 0.25, "output times %g");
    values(l, y_product, 4, "output times %g");
    if (kind == NNV_KIND_FLOAT)
        for (int bits = 2; bits <= 20; bits++) values(l, y_bits, bits, "output in %g bits");
    for (int bits = 3; bits <= 31; bits++) {
        if (kind != NNV_KIND_QUANT || bits <= 8) {
            values(l, y_low, ldexp(1, bits) - 1, "output not above %g");
            values(l, y_high, -ldexp(1, bits), "output not below %g");
        }
        if (kind != NNV_KIND_FLOAT && bits > 3) values(l, y_wrapped, ldexp(1, bits), "output wraps modulo %g");
    }
    if (kind == NNV_KIND_INT) {
        values(l, y_rounded, 0, "rounded down");
        values(l, y_rounded, 1, "rounded up");
        values(l, y_rounded, 2, "rounded to the nearest");
        values(l, y_rounded, 3, "rounded towards zero");
    }
    if (kind == NNV_KIND_QUANT) {
        const struct nnv_fault f_wrapped = {.element = y_code_wrapped};
        nnv_generate(l, f_wrapped, "codes of the output wrap where they should saturate");
    }
    if (kind == NNV_KIND_QUANT)
        for (int m = 2; m <= 16; m *= 2) values(l, y_multiples, m, "codes of the output are multiples of %g");
}
