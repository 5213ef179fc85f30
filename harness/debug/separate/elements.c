/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/elements.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "harness/debug/separate/attribute_list.h"
#include "reference/faults/edit.h"

enum {
    LIKE_INPUTS = 4,
    BLOCKS = 4,
    FAR_OUT = 4096, /* counted over all axes, only a place from here on is the cause of anything */
};

/** An input that holds a value for each element of the output: of its shape, or broadcast to it. */
struct like {
    const char *name;
    const struct nnv_operand *operand;
    const double *v;           /* stored numbers */
    size_t step[NNV_MAX_RANK]; /* along each axis of the output; 0: broadcast */
};

/** What all elements of an output share. */
struct elements {
    struct nnv_arena *arena;
    const struct nnv_operand *operand;
    const char *axis[NNV_MAX_RANK]; /* their names: "the width", "axis 2" */
    uint32_t rank;
    const uint32_t *dims;
    size_t n;
    const double *right; /* stored numbers */
    struct like like[LIKE_INPUTS];
    size_t likes;
    bool windows; /* each element is made of a window of input 0, which moves along these axes */
    uint32_t height;
    struct nnv_moving window[2]; /* height, width */
    double factor;               /* a number such as beta, that inputs may be multiplied by */
    const char *factor_name;     /* NULL: there is none */
    int along;                   /* an element depends on a line of like[0] along this axis; -1: it does not */
    const char *suffix;          /* of the names, where there are several outputs */
};

/** What the input stores: of booleans the bytes, since all but 0 are true. NULL: it is not known, or no memory. */
static const double *stored(struct nnv_edit *e, int pos, size_t *n) {
    double *v = nnv_edit_numbers(e, pos, n);
    const struct nnv_subgraph *m = &e->spec.model.main;
    const uint32_t operand = nnv_edit_op(e)->in[pos];
    const uint8_t *bytes = m->operands[operand].data;
    if (!v || m->operands[operand].type != ANEURALNETWORKS_TENSOR_BOOL8) return v;
    for (uint32_t i = 0; i < m->nin; i++)
        if (m->in[i] == operand) bytes = e->spec.inputs[i].data;
    for (size_t i = 0; bytes && i < *n; i++) v[i] = bytes[i];
    return v;
}

/** Adds the input if it is of the output's shape, or broadcast to it; or a list of indices, one for each row. */
static void add_like(struct elements *y, struct nnv_edit *e, int pos, const char *name) {
    const struct nnv_shape *s = &e->call->in[pos].shape;
    struct like *to = &y->like[y->likes];
    size_t n;
    if (y->likes == LIKE_INPUTS || !nnv_shape_known(s) || s->rank > y->rank || s->rank == 0) return;
    if (!e->call->op->pairs && s->rank == 1 && y->rank > 1 && s->dims[0] == y->dims[0] && s->dims[0] > 1 &&
        nnv_edit_operand(e, pos)->type == ANEURALNETWORKS_TENSOR_INT32 &&
        y->operand->type != ANEURALNETWORKS_TENSOR_INT32) {
        memset(to->step, 0, sizeof to->step);
        to->step[0] = 1;
        to->v = stored(e, pos, &n);
        to->operand = nnv_edit_operand(e, pos);
        to->name = name;
        y->likes += to->v && n == s->dims[0];
        return;
    }
    if (!nnv_shape_steps(s, y->rank, y->dims, to->step)) return;
    to->v = stored(e, pos, &n);
    to->operand = nnv_edit_operand(e, pos);
    to->name = name;
    const bool tells = n > 1 || y->n == 1 || e->call->op->pairs; /* one number for all, to those of the other */
    y->likes += to->v && n == nnv_shape_elems(s) && tells;
}

static double real_of(const struct nnv_operand *o, double v) {
    return nnv_is_quant(o->type) && !o->channel.count ? (v - o->zero_point) * (double)o->scale : v;
}

/** A flag where a number is one of few that functions treat alone. */
static void add_class(struct nnv_attribute_list *l, const char *whose, const struct nnv_operand *o, double v) {
    if (nnv_type(o->type)->kind != NNV_KIND_FLOAT) return;
    nnv_add_flag(l, NNV_NAME("%s is NaN", whose), FROM_MODEL, isnan(v), NULL);
    nnv_add_flag(l, NNV_NAME("%s is infinite", whose), FROM_MODEL, isinf(v), NULL);
    nnv_add_flag(l, NNV_NAME("%s is whole", whose), FROM_QUANT, v == floor(v), NNV_NAME("%s is not whole", whose));
}

static void add_number(struct nnv_attribute_list *l, const char *whose, int cost, const struct nnv_operand *o,
                       double v) {
    const double real = real_of(o, v);
    if (!isnan(real)) {
        nnv_add_number(l, whose, cost, real);
        nnv_add_number(l, NNV_NAME("the magnitude of %s", whose), cost + 1, fabs(real));
    }
    if (nnv_is_quant(o->type)) nnv_add_number(l, NNV_NAME("the code of %s", whose), cost + 1, v);
    add_class(l, whose, o, v);
}

/** The code without its zero point. */
static double centred(const struct like *x, double v) {
    return nnv_is_quant(x->operand->type) && !x->operand->channel.count ? v - x->operand->zero_point : v;
}

/** What two numbers make, as real numbers and as codes: kernels hold it in so many bits. */
static void add_result(struct nnv_attribute_list *l, const char *what, const struct like *a, const struct like *b,
                       double real, double codes) {
    const char *of = NNV_NAME("%s of %s and %s", what, a->name, b->name);
    if (!of || isnan(real)) return;
    nnv_add_number(l, NNV_NAME("the magnitude of the %s", of), FROM_MODEL + 1, fabs(real));
    if (nnv_type(a->operand->type)->kind == NNV_KIND_INT)
        nnv_add_flag(l, NNV_NAME("the %s is beyond 32 bits", of), FROM_MODEL, real < INT32_MIN || real > INT32_MAX,
                     NULL);
    if (!nnv_is_quant(a->operand->type)) return;
    nnv_add_number(l, NNV_NAME("the magnitude of the %s, as codes without zero points,", of), FROM_MODEL, fabs(codes));
}

/** What a and b hold at one place, to each other. */
static void add_two(struct nnv_attribute_list *l, const struct like *a, const struct like *b, double va, double vb) {
    const double ra = real_of(a->operand, va), rb = real_of(b->operand, vb);
    nnv_add_flag(l, NNV_NAME("%s = %s", a->name, b->name), FROM_MODEL, ra == rb,
                 NNV_NAME("%s != %s", a->name, b->name));
    nnv_add_flag(l, NNV_NAME("%s and %s have different signs", a->name, b->name), FROM_MODEL, ra * rb < 0,
                 NNV_NAME("%s and %s have one sign", a->name, b->name));
    nnv_add_flag(l, NNV_NAME("%s > %s", a->name, b->name), FROM_MODEL, ra > rb, NULL);
    add_result(l, "product", a, b, ra * rb, centred(a, va) * centred(b, vb));
    add_result(l, "sum", a, b, ra + rb, centred(a, va) + centred(b, vb));
    add_result(l, "difference", a, b, ra - rb, centred(a, va) - centred(b, vb));
}

/** Where it lies: along each axis from both ends, and behind whole vectors. */
static void add_place(struct nnv_attribute_list *l, const struct elements *y, size_t i, const size_t *at) {
    const char *all = NNV_NAME("the place in all%s", y->suffix);
    for (uint32_t d = 0; d < y->rank; d++) {
        if (y->dims[d] < 2) continue;
        nnv_add_number(l, NNV_NAME("the index along %s", y->axis[d]), FROM_SHAPE + 1, (double)at[d]);
        nnv_add_number(l, NNV_NAME("the number of places behind it along %s", y->axis[d]), FROM_SHAPE + 1,
                       (double)(y->dims[d] - 1 - at[d]));
    }
    if (y->rank > 1) nnv_add_number(l, all, FROM_SHAPE + 1, (double)(i < FAR_OUT ? FAR_OUT - 1 : i));
    for (uint32_t m = 4; m <= 4U << (BLOCKS - 1); m *= 2) {
        nnv_add_flag(l, NNV_NAME("it lies behind the last whole %u in all%s", m, y->suffix), FROM_SHAPE + 1,
                     i >= y->n - y->n % m, NULL);
        if (y->rank < 2) continue;
        const uint32_t last = y->rank - 1, extent = y->dims[last];
        nnv_add_flag(l, NNV_NAME("it lies behind the last whole %u along %s", m, y->axis[last]), FROM_SHAPE + 1,
                     at[last] >= extent - extent % m, NULL);
    }
}

/** How much of the window that it is made of lies in the image. */
static void add_window(struct nnv_attribute_list *l, const struct elements *y, const size_t *at) {
    static const char *const axis[] = {"height", "width"};
    bool cut[2] = {false, false};
    double taps = 1;
    for (int i = 0; i < 2; i++) {
        const struct nnv_moving *w = &y->window[i];
        const int64_t first = (int64_t)at[y->height + (uint32_t)i] * w->stride - w->head;
        bool ends[2] = {false, false};
        int inside = 0;
        for (int32_t k = 0; k < w->taps; k++) {
            const int64_t tap = first + (int64_t)k * w->dilation;
            inside += tap >= 0 && tap < w->extent;
            ends[0] = ends[0] || tap == 0;
            ends[1] = ends[1] || tap == w->extent - 1;
        }
        cut[i] = inside < w->taps;
        taps *= inside;
        nnv_add_flag(l, NNV_NAME("the window begins before the image in %s", axis[i]), FROM_SHAPE, first < 0, NULL);
        nnv_add_flag(l, NNV_NAME("the window ends behind the image in %s", axis[i]), FROM_SHAPE,
                     first + w->reach > w->extent, NULL);
        nnv_add_flag(l, NNV_NAME("a tap is the image's first in %s", axis[i]), FROM_SHAPE, ends[0], NULL);
        nnv_add_flag(l, NNV_NAME("a tap is the image's last in %s", axis[i]), FROM_SHAPE, ends[1], NULL);
        nnv_add_flag(l, NNV_NAME("the window is cut in %s", axis[i]), FROM_SHAPE, cut[i],
                     NNV_NAME("the window is not cut in %s", axis[i]));
    }
    nnv_add_flag(l, "the window is cut in height and in width", FROM_SHAPE, cut[0] && cut[1], NULL);
    nnv_add_flag(l, "the window is cut", FROM_SHAPE, cut[0] || cut[1], "the window is not cut");
    nnv_add_number(l, "the number of taps inside the image", FROM_SHAPE + 1, taps);
}

/** The line of the input that it is made of. */
static void add_line(struct nnv_attribute_list *l, const struct elements *y, size_t from, const size_t *at) {
    const struct like *x = &y->like[0];
    const size_t step = x->step[y->along], first = from - at[y->along] * step;
    double largest = -INFINITY, least = INFINITY, magnitude = 0;
    bool nan = false;
    for (uint32_t k = 0; k < y->dims[y->along]; k++) {
        const double v = real_of(x->operand, x->v[first + k * step]);
        nan = nan || isnan(v);
        largest = fmax(largest, v);
        least = fmin(least, v);
        magnitude = fmax(magnitude, fabs(v));
    }
    nnv_add_flag(l, NNV_NAME("the line of %s is all 0", x->name), FROM_MODEL, magnitude == 0 && !nan, NULL);
    nnv_add_flag(l, NNV_NAME("the line of %s holds NaN", x->name), FROM_MODEL, nan, NULL);
    if (largest < least) return;
    nnv_add_number(l, NNV_NAME("the largest %s of its line", x->name), FROM_MODEL, largest);
    nnv_add_number(l, NNV_NAME("the least %s of its line", x->name), FROM_MODEL, least);
    nnv_add_number(l, NNV_NAME("the largest magnitude of %s in its line", x->name), FROM_MODEL, magnitude);
    nnv_add_number(l, NNV_NAME("the largest less the least %s of its line", x->name), FROM_MODEL, largest - least);
    nnv_add_number(l, NNV_NAME("the magnitude of the largest %s of its line", x->name), FROM_MODEL, fabs(largest));
    if (y->factor_name)
        nnv_add_number(l, NNV_NAME("the magnitude of %s times the largest %s of its line", y->factor_name, x->name),
                       FROM_MODEL + 1, fabs(y->factor * largest));
    if (y->factor_name)
        nnv_add_number(l, NNV_NAME("%s times the largest magnitude of %s in its line", y->factor_name, x->name),
                       FROM_MODEL + 1, y->factor * magnitude);
}

static bool observe(const struct elements *y, size_t i, bool wrong, struct nnv_observation *to) {
    struct nnv_attribute item[NNV_ATTRIBUTES];
    struct nnv_attribute_list list = {.arena = y->arena, .item = item}, *l = &list;
    size_t at[NNV_MAX_RANK] = {0}, rest = i;
    double v[LIKE_INPUTS];
    for (uint32_t d = y->rank; d-- > 0; rest /= y->dims[d]) at[d] = rest % y->dims[d];
    add_place(l, y, i, at);
    add_number(l, NNV_NAME("the right value%s", y->suffix), FROM_MODEL, y->operand, y->right[i]);
    for (size_t k = 0; k < y->likes; k++) {
        size_t from = 0;
        for (uint32_t d = 0; d < y->rank; d++) from += at[d] * y->like[k].step[d];
        v[k] = y->like[k].v[from];
        add_number(l, y->like[k].name, 0, y->like[k].operand, v[k]);
        if (k == 0 && y->factor_name)
            nnv_add_number(l, NNV_NAME("%s times %s", y->factor_name, y->like[0].name), 1,
                           y->factor * real_of(y->like[0].operand, v[0]));
        if (k == 0 && y->along >= 0) add_line(l, y, from, at);
    }
    if (y->windows) add_window(l, y, at);
    if (y->likes > 1) add_two(l, &y->like[0], &y->like[1], v[0], v[1]);
    const void *kept = nnv_arena_copy(y->arena, item, list.count * sizeof *item);
    *to = (struct nnv_observation){.failed = wrong, .item = kept, .count = list.count};
    return kept && !list.failed;
}

/** Draws `most` of n elements of the state, or all if they are fewer; the number of them. */
static size_t draw(const enum nnv_element *state, size_t n, enum nnv_element which, size_t most, struct nnv_rng *rng,
                   size_t *out) {
    size_t seen = 0;
    for (size_t i = 0; i < n; i++) {
        if (state[i] != which) continue;
        const size_t at = seen < most ? seen : (size_t)nnv_rng_int(rng, 0, (int64_t)seen);
        if (at < most) out[at] = i;
        seen++;
    }
    return seen < most ? seen : most;
}

/** The axis along which the operation normalises; -1: it does not, or does not say so. */
static int axis_of(const struct nnv_call *c, uint32_t rank) {
    bool any = false;
    for (size_t f = 0; f < c->op->nforms; f++)
        for (uint8_t i = 0; i < c->op->forms[f].nin; i++)
            any = any || (c->op->forms[f].in[i].rule == NNV_AXIS && (c->op->forms[f].in[i].flags & NNV_SCALAR));
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        if (s->rule == NNV_AXIS && (s->flags & NNV_SCALAR) && nnv_known(c, s->id))
            return nnv_axis((int32_t)nnv_num(c, s->id), rank);
    }
    return any ? (int)rank - 1 : -1;
}

/** What of input 0 an element is made of: a window, or a line. */
static void describe_source(const struct nnv_call *c, bool nchw, struct elements *y) {
    const struct nnv_shape *x = &c->in[0].shape;
    y->height = nchw ? 2 : 1;
    for (uint8_t i = 0; i < c->form->nin && !y->factor_name; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        const struct nnv_arg *given = s->flags & NNV_SCALAR ? nnv_in(c, s->id) : NULL;
        if (!given || !nnv_is_float(given->operand->type) || !nnv_known(c, s->id)) continue;
        y->factor = nnv_num(c, s->id);
        y->factor_name = s->name;
    }
    y->windows = y->rank == 4 && c->in[0].present && c->op->code != ANEURALNETWORKS_TRANSPOSE_CONV_2D &&
                 nnv_moving(c, nchw, 0, &y->window[0]) && nnv_moving(c, nchw, 1, &y->window[1]);
    if (y->likes > 0 && nnv_shape_known(x) && x->rank == y->rank &&
        memcmp(x->dims, y->dims, y->rank * sizeof *y->dims) == 0)
        y->along = axis_of(c, y->rank);
}

/** What is known of output o, of a model of one operation also of the inputs. */
static bool describe(const struct nnv_spec *spec, uint32_t o, struct nnv_arena *arena, struct elements *y) {
    static const struct nnv_attribute_list none = {0};
    const struct nnv_subgraph *m = &spec->model.main;
    struct nnv_attribute_list list = none, *l = &list;
    struct nnv_call **calls = NULL;
    struct nnv_err ignored = {0};
    list.arena = arena;
    *y = (struct elements){.arena = arena, .operand = &m->operands[m->out[o]], .suffix = "", .along = -1};
    y->rank = spec->outputs[o].rank;
    y->dims = spec->outputs[o].dims;
    y->n = spec->outputs[o].bytes / nnv_type(y->operand->type)->size;
    double *right = NNV_NEW(arena, double, y->n + 1);
    if (!right || (m->nout > 1 && !(y->suffix = NNV_NAME(" of output %u", o)))) return false;
    nnv_load(y->operand->type, spec->outputs[o].data, y->n, right);
    y->right = right;
    const bool single = m->noperations == 1 && nnv_edit_calls(spec, arena, &calls, &ignored) == NNV_OK;
    bool nchw = false;
    const char *const *names = single && y->rank == 4 ? nnv_extent_names(calls[0], &nchw) : NULL;
    for (uint32_t d = 0; d < y->rank; d++) {
        y->axis[d] = names ? NNV_NAME("the %s%s", names[d], y->suffix) : NNV_NAME("axis %u%s", d, y->suffix);
        if (!y->axis[d]) return false;
    }
    if (!single) return true;
    struct nnv_edit e;
    nnv_edit_begin(&e, spec, arena);
    e.call = calls[0];
    for (uint8_t i = 0; !e.failed && i < e.call->form->nin; i++) {
        const struct nnv_slot *s = &e.call->form->in[i];
        const int pos = e.call->pos[s->id];
        if (pos < 0 || !e.call->in[pos].present || (s->flags & NNV_SCALAR)) continue;
        if (nnv_type(e.call->in[pos].operand->type)->tensor) add_like(y, &e, pos, s->name);
    }
    describe_source(calls[0], nchw, y);
    return !e.failed;
}

size_t nnv_observe_elements(const struct nnv_spec *spec, const enum nnv_element *state, size_t most,
                            struct nnv_arena *arena, struct nnv_observation *to) {
    struct nnv_rng rng = nnv_rng_make(1, nnv_hash_str(spec->name), 0);
    const uint32_t nout = spec->model.main.nout;
    size_t *drawn = NNV_NEW(arena, size_t, most + 1), count = 0, n = 0, first = 0;
    for (uint32_t o = 0; o < nout; o++)
        n += spec->outputs[o].bytes / nnv_type(spec->model.main.operands[spec->model.main.out[o]].type)->size;
    /* of a graph it is its operations that are wrong, here and there */
    if (!drawn || spec->model.main.noperations != 1) return 0;
    count = draw(state, n, NNV_ELEMENT_WRONG, most / 2, &rng, drawn);
    count += draw(state, n, NNV_ELEMENT_RIGHT, most - count, &rng, drawn + count);
    size_t put = 0;
    for (uint32_t o = 0; o < nout; o++) {
        struct elements y;
        if (!describe(spec, o, arena, &y)) return 0;
        for (size_t i = 0; i < count; i++)
            if (drawn[i] >= first && drawn[i] < first + y.n &&
                !observe(&y, drawn[i] - first, state[drawn[i]] == NNV_ELEMENT_WRONG, &to[put++]))
                return 0;
        first += y.n;
    }
    return put;
}
