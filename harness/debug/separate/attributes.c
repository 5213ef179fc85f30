/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/attributes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reference/faults/edit.h"
#include "reference/model/op.h"

enum {
    ATTRIBUTES = 600,   /* of a case; further ones are left out */
    ELEMENTS = 1 << 15, /* of a tensor that are looked at */
    FEW = 8,            /* numbers of a list that are told one by one */
    FROM_MODEL = 1,     /* costs */
    FROM_SHAPE = 1,
    FROM_QUANT = 2,
    FROM_VALUES = 3,
    FROM_NAME = 4,
};

struct list {
    struct nnv_arena *arena;
    struct nnv_attribute *item;
    size_t count;
    bool failed;
};

static void add(struct list *l, const char *name, struct nnv_attribute a) {
    a.name = name;
    l->failed = l->failed || !name;
    if (name && l->count < ATTRIBUTES) l->item[l->count++] = a;
}

#define NAME(...) nnv_arena_printf(l->arena, __VA_ARGS__)

static void number(struct list *l, const char *name, int cost, double v) {
    add(l, name, (struct nnv_attribute){.kind = NNV_ATTRIBUTE_NUMBER, .cost = cost, .number = v});
}
static void word(struct list *l, const char *name, int cost, const char *w) {
    l->failed = l->failed || !w;
    if (w) add(l, name, (struct nnv_attribute){.kind = NNV_ATTRIBUTE_WORD, .cost = cost, .word = w});
}
static void flag(struct list *l, const char *name, int cost, bool is, const char *otherwise) {
    add(l, name, (struct nnv_attribute){.kind = NNV_ATTRIBUTE_FLAG, .cost = cost, .number = is, .word = otherwise});
}

/* -------------------------------------------------------------------- the name */

/** "exec/burst/outlives_model/net_float32": its parts by their places, and the words of those behind the type. */
static void add_name(struct list *l, const struct nnv_case *c) {
    const char *at = c->name;
    word(l, "the suite", FROM_NAME, c->suite);
    if (c->type && *c->type) word(l, "type", 0, c->type);
    for (int part = 0; *at; part++) {
        const size_t n = strcspn(at, "/");
        const char *from = at + n;
        if (part == 1 && strcmp(c->suite, "ops") != 0)
            word(l, "the kind of case", FROM_MODEL, NAME("%.*s", (int)(from - c->name), c->name));
        if (part == 2 && strcmp(c->suite, "ops") != 0)
            word(l, "the case", FROM_QUANT, NAME("%.*s", (int)(from - c->name), c->name));
        for (size_t i = 0, k; part > 2 && i < n; i += k + 1) {
            k = strcspn(at + i, "_/");
            if (k > 2 && (at[i] < '0' || at[i] > '9'))
                flag(l, NAME("the case's name has \"%.*s\"", (int)k, at + i), FROM_NAME + 1, true, NULL);
        }
        at += n + (at[n] == '/');
    }
}

/* -------------------------------------------------------------------- tensors */

/** What the extents of images are called; NULL: by their numbers. */
static const char *const *extents_of(const struct nnv_call *c, bool *nchw) {
    static const char *const nhwc[] = {"batches", "height", "width", "channels"};
    static const char *const planes[] = {"batches", "channels", "height", "width"};
    bool image = false;
    *nchw = nnv_call_is_nchw(c);
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        image = image || strstr(s->name, "height") || strstr(s->name, "block");
    }
    return image ? *nchw ? planes : nhwc : NULL;
}

static void add_extents(struct list *l, const char *whose, const struct nnv_shape *s, const char *const *names,
                        int cost) {
    double elems = 1;
    if (!nnv_shape_known(s)) return;
    number(l, NAME("rank of %s", whose), cost, s->rank);
    for (uint32_t i = 0; i < s->rank; i++) {
        elems *= s->dims[i];
        flag(l,
             names && s->rank == 4 ? NAME("%s of %s is odd", names[i], whose)
                                   : NAME("extent %u of %s is odd", i, whose),
             cost + 1, s->dims[i] % 2 == 1,
             names && s->rank == 4 ? NAME("%s of %s is even", names[i], whose)
                                   : NAME("extent %u of %s is even", i, whose));
        if (names && s->rank == 4)
            number(l, NAME("%s of %s", names[i], whose), cost, s->dims[i]);
        else
            number(l, NAME("extent %u of %s", i, whose), cost + 1, s->dims[i]);
    }
    if (s->rank > 0) {
        const uint32_t last = s->dims[s->rank - 1];
        uint32_t largest = 0;
        for (uint32_t i = 0; i < s->rank; i++) largest = s->dims[i] > largest ? s->dims[i] : largest;
        if (s->rank > 1) number(l, NAME("largest extent of %s", whose), cost + 1, largest);
        number(l, NAME("last extent of %s", whose), cost, last);
        for (uint32_t m = 4; m <= 32; m *= 2)
            flag(l, NAME("last extent of %s is a multiple of %u", whose, m), cost + 1, last % m == 0,
                 NAME("last extent of %s is no multiple of %u", whose, m));
    }
    if (s->rank == 4 && names) {
        const bool planes = strcmp(names[1], "channels") == 0;
        const uint32_t h = s->dims[planes ? 2 : 1], w = s->dims[planes ? 3 : 2];
        flag(l, NAME("height = width of %s", whose), cost + 1, h == w, NAME("height != width of %s", whose));
        word(l, NAME("height and width of %s", whose), cost + 2, NAME("%ux%u", h, w));
    }
    number(l, NAME("elements of %s", whose), cost + 1, elems);
    flag(l, NAME("%s has no elements", whose), cost, elems == 0, NULL);
}

/** Of what the tensor holds, as real numbers. */
static void add_values(struct list *l, const char *whose, const struct nnv_operand *o, const void *data, size_t bytes) {
    const struct nnv_type *t = nnv_type(o->type);
    size_t n = t->size ? bytes / t->size : 0;
    if (n > ELEMENTS) n = ELEMENTS;
    double *v = data ? NNV_NEW(l->arena, double, n + 1) : NULL;
    if (!v || n == 0) return;
    nnv_load(o->type, data, n, v);
    double lo = INFINITY, hi = -INFINITY, least = INFINITY;
    bool nan = false, infinite = false, zero = false;
    for (size_t i = 0; i < n; i++) {
        nan = nan || isnan(v[i]);
        infinite = infinite || isinf(v[i]);
        const double r = nnv_is_quant(o->type) && !o->channel.count ? (v[i] - o->zero_point) * (double)o->scale : v[i];
        zero = zero || r == 0;
        if (!isfinite(r)) continue;
        lo = fmin(lo, r);
        hi = fmax(hi, r);
        if (r != 0) least = fmin(least, fabs(r));
    }
    if (t->kind == NNV_KIND_FLOAT) {
        flag(l, NAME("%s holds NaN", whose), FROM_VALUES, nan, NULL);
        flag(l, NAME("%s holds an infinity", whose), FROM_VALUES, infinite, NULL);
    }
    flag(l, NAME("%s holds 0", whose), FROM_VALUES + 1, zero, NULL);
    if (lo <= hi) {
        number(l, NAME("largest value of %s", whose), FROM_VALUES, hi);
        number(l, NAME("least value of %s", whose), FROM_VALUES, lo);
        number(l, NAME("largest magnitude in %s", whose), FROM_VALUES, fmax(fabs(lo), fabs(hi)));
        if (t->kind == NNV_KIND_FLOAT) number(l, NAME("least magnitude in %s", whose), FROM_VALUES + 1, least);
        flag(l, NAME("all values of %s are equal", whose), FROM_VALUES + 1, lo == hi && n > 1, NULL);
    }
    if (nnv_is_quant(o->type)) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < n; i++) low = fmin(low, v[i]), high = fmax(high, v[i]);
        flag(l, NAME("%s holds the least code", whose), FROM_VALUES, low == t->min, NULL);
        flag(l, NAME("%s holds the largest code", whose), FROM_VALUES, high == t->max, NULL);
    }
}

/** A short list of integers: axes, paddings, a permutation. */
static void add_integers(struct list *l, const char *whose, const void *data, size_t bytes) {
    double v[FEW];
    const size_t n = bytes / sizeof(int32_t);
    char text[FEW * 12] = "", *end = text;
    if (!data || n == 0 || n > FEW) return;
    nnv_load(ANEURALNETWORKS_TENSOR_INT32, data, n, v);
    for (size_t i = 0; i < n; i++) {
        end += snprintf(end, sizeof text - (size_t)(end - text), "%s%.0f", i ? "," : "", v[i]);
        number(l, n == 1 ? NAME("%s", whose) : NAME("%s[%zu]", whose, i), FROM_MODEL, v[i]);
    }
    word(l, NAME("the list %s", whose), FROM_MODEL, NAME("%s", text));
}

static void add_encoding(struct list *l, const char *whose, const struct nnv_operand *o, const struct nnv_operand *y) {
    if (!nnv_is_quant(o->type)) return;
    const struct nnv_type *t = nnv_type(o->type);
    number(l, NAME("zero point of %s", whose), FROM_QUANT, o->zero_point);
    flag(l, NAME("zero point of %s is at the end of its range", whose), FROM_QUANT,
         o->zero_point <= t->min || o->zero_point >= t->max, NULL);
    if (o == y || !nnv_is_quant(y->type) || !(o->scale > 0) || !(y->scale > 0)) return;
    number(l, NAME("scale of %s / scale of the output", whose), FROM_QUANT, (double)o->scale / (double)y->scale);
    flag(l, NAME("%s and the output have the same scale and zero point", whose), FROM_QUANT,
         fabsf(o->scale - y->scale) <= 0 && o->zero_point == y->zero_point,
         NAME("%s and the output have other scales or zero points", whose));
}

/* ------------------------------------------------------------- the operation */

static const char *lifetime_of(const struct nnv_operand *o) {
    return nnv_is_constant(o) ? "a constant" : o->lifetime == NNV_SUBGRAPH_INPUT ? "an input" : "a result";
}

static void add_scalar(struct list *l, const struct nnv_call *c, const struct nnv_slot *s) {
    static const char *const fused[] = {"none", "RELU", "RELU1", "RELU6"};
    static const char *const schemes[] = {"?", "SAME", "VALID"};
    if (!nnv_known(c, s->id)) return;
    const double v = nnv_num(c, s->id);
    const int rank = c->nin && c->in[0].present ? (int)c->in[0].shape.rank : 0;
    if (s->rule == NNV_FUSE && v >= 0 && v < 4) {
        word(l, s->name, 0, fused[(int)v]);
    } else if (s->rule == NNV_PADDING_CODE && v >= 0 && v < 3) {
        word(l, s->name, 0, schemes[(int)v]);
    } else if (s->var == NNV_FIXED && s->type == ANEURALNETWORKS_BOOL) {
        word(l, s->name, 0, v != 0 ? "true" : "false");
    } else if (s->rule == NNV_AXIS) {
        number(l, NAME("%s, counted from 0", s->name), 0, v < 0 ? v + rank : v);
        flag(l, NAME("%s is the last", s->name), 0, (v < 0 ? v + rank : v) + 1 == rank,
             NAME("%s is not the last", s->name));
        flag(l, NAME("%s is negative", s->name), 1, v < 0, NAME("%s is not negative", s->name));
    } else {
        number(l, s->name, 0, v);
    }
}

/** "stride height" and "stride width" as "stride is 2x2". */
static void add_pair(struct list *l, const char *base, double h, double w) {
    word(l, base, 0, NAME("%.0fx%.0f", h, w));
    flag(l, NAME("%s is square", base), 1, h == w, NAME("%s is not square", base));
    flag(l, NAME("%s is square and above 1x1", base), 1, h == w && h > 1, NULL);
    number(l, NAME("the larger %s", base), 1, fmax(h, w));
    number(l, NAME("the smaller %s", base), 1, fmin(h, w));
}

static void add_pairs(struct list *l, const struct nnv_call *c) {
    for (uint8_t i = 0; i < c->form->nin; i++)
        for (uint8_t k = 0; k < c->form->nin; k++) {
            const struct nnv_slot *h = &c->form->in[i], *w = &c->form->in[k];
            const char *tall = strstr(h->name, "height"), *wide = strstr(w->name, "width");
            if (!tall || !wide || tall - h->name != wide - w->name ||
                strncmp(h->name, w->name, (size_t)(tall - h->name)) != 0 || strcmp(tall + 6, wide + 5) != 0 ||
                !(h->flags & NNV_SCALAR) || !nnv_known(c, h->id) || !nnv_known(c, w->id))
                continue;
            const char *base = tall > h->name ? NAME("%.*s", (int)(tall - h->name - 1), h->name)
                               : tall[6]      ? NAME("%s", tall + 7)
                                              : "extent";
            if (base) add_pair(l, strcmp(base, "filter") == 0 ? "window" : base, nnv_num(c, h->id), nnv_num(c, w->id));
        }
}

/** A number of the call by the name of its slot; 0: it has none that is known. */
static int32_t named(const struct nnv_call *c, const char *name) {
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        if (strcmp(s->name, name) == 0 && (s->flags & NNV_SCALAR) && nnv_known(c, s->id)) return nnv_int(c, s->id);
    }
    return 0;
}

/** Position of the input of this name; -1: there is none. */
static int position_of(const struct nnv_call *c, const char *name) {
    for (uint8_t i = 0; i < c->form->nin; i++)
        if (strcmp(c->form->in[i].name, name) == 0)
            return c->pos[c->form->in[i].id] >= 0 && c->in[c->pos[c->form->in[i].id]].present
                       ? c->pos[c->form->in[i].id]
                       : -1;
    return -1;
}

/** The extents of input 0 along the axis, or the largest and smallest of those along the axes. */
static void add_along(struct list *l, const struct nnv_call *c) {
    const struct nnv_shape *x = &c->in[0].shape;
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        const struct nnv_arg *a = nnv_in(c, s->id);
        const bool scalar = s->flags & NNV_SCALAR;
        double axes[NNV_MAX_RANK], largest = 0, least = INFINITY;
        size_t n = 1;
        if (!nnv_known(c, s->id) || !nnv_shape_known(x)) continue;
        if (scalar ? s->rule != NNV_AXIS : strcmp(s->name, "axes") != 0 && strcmp(s->name, "axis") != 0) continue;
        if (scalar) {
            axes[0] = nnv_num(c, s->id);
        } else {
            n = a && a->data && nnv_shape_known(&a->shape) ? nnv_shape_elems(&a->shape) : 0;
            if (n == 0 || n > NNV_MAX_RANK || a->operand->type != ANEURALNETWORKS_TENSOR_INT32) continue;
            nnv_load(ANEURALNETWORKS_TENSOR_INT32, a->data, n, axes);
        }
        for (size_t k = 0; k < n; k++) {
            const int axis = nnv_axis((int32_t)axes[k], x->rank);
            if (axis < 0) continue;
            largest = fmax(largest, x->dims[axis]);
            least = fmin(least, x->dims[axis]);
        }
        if (least > largest) continue;
        number(l, n == 1 ? NAME("extent along the %s", s->name) : NAME("largest extent along the %s", s->name), 1,
               largest);
        if (n > 1) number(l, NAME("least extent along the %s", s->name), 2, least);
    }
}

/** How window, stride, dilation and image lie to each other along both axes. */
static void add_windows(struct list *l, const struct nnv_call *c, bool nchw) {
    static const char *const axis[] = {"height", "width"};
    const struct nnv_shape *x = &c->in[0].shape;
    const int filter = position_of(c, "filter");
    const struct nnv_shape *f = filter >= 0 ? &c->in[filter].shape : NULL;
    if (!nnv_shape_known(x) || x->rank != 4 || (f && (!nnv_shape_known(f) || f->rank != 4))) return;
    if (f) add_pair(l, "window", f->dims[1], f->dims[2]);
    if (f) number(l, "taps of the filter", FROM_SHAPE, (double)f->dims[1] * f->dims[2]);
    for (int i = 0; i < 2; i++) {
        const char *a = axis[i];
        const int32_t taps = f ? (int32_t)f->dims[1 + i] : named(c, i ? "filter width" : "filter height"),
                      stride = named(c, i ? "stride width" : "stride height"),
                      given = named(c, i ? "dilation width" : "dilation height"), dilation = given ? given : 1;
        const int32_t extent = (int32_t)x->dims[(nchw ? 2 : 1) + i], reach = (taps - 1) * dilation + 1;
        const bool same = named(c, "padding scheme") == ANEURALNETWORKS_PADDING_SAME;
        if (taps < 1 || stride < 1) continue;
        flag(l, NAME("the stride is above the window in %s", a), FROM_SHAPE, stride > taps, NULL);
        flag(l, NAME("the window is above the stride in %s", a), FROM_SHAPE, stride < taps, NULL);
        number(l, NAME("window %s - stride %s", a, a), FROM_SHAPE + 1, taps - stride);
        flag(l, NAME("the window is larger than the image in %s", a), FROM_SHAPE, reach > extent, NULL);
        number(l, NAME("%s of input - %s of the dilated window", a, a), FROM_SHAPE + 2, extent - reach);
        flag(l, NAME("the %s is no multiple of the stride", a), FROM_SHAPE, extent % stride != 0,
             NAME("the %s is a multiple of the stride", a));
        if (!same) continue;
        const int32_t steps = (extent + stride - 1) / stride, pad = (steps - 1) * stride + reach - extent;
        flag(l, NAME("SAME pads the %s unevenly", a), FROM_SHAPE, pad > 0 && pad % 2 == 1,
             NAME("SAME pads the %s evenly", a));
        flag(l, NAME("SAME pads no %s", a), FROM_SHAPE + 1, pad <= 0, NAME("SAME pads the %s", a));
    }
}

/** What is known of input i while nothing runs. */
static const struct nnv_value *value_of(const struct nnv_spec *spec, const struct nnv_operand *o) {
    const struct nnv_subgraph *main = &spec->model.main;
    for (uint32_t i = 0; spec->inputs && i < main->nin; i++)
        if (&main->operands[main->in[i]] == o && !spec->inputs[i].omitted) return &spec->inputs[i];
    return NULL;
}

static void add_tensor(struct list *l, const struct nnv_spec *spec, const struct nnv_call *c, uint32_t i,
                       const char *name, const char *const *extents) {
    static const char *const filters[] = {"outer extent", "height", "width", "inner extent"};
    const struct nnv_arg *a = &c->in[i];
    const struct nnv_operand *o = a->operand;
    const struct nnv_value *v = value_of(spec, o);
    const void *data = v ? v->data : a->data;
    const size_t bytes = v ? v->bytes : o->bytes;
    const bool filter = strcmp(name, "filter") == 0;
    word(l, name, FROM_MODEL, lifetime_of(o));
    if (i > 0) word(l, NAME("type of %s", name), FROM_MODEL, nnv_type(o->type)->tag);
    add_extents(l, name, &a->shape, filter ? filters : extents, i == 0 ? FROM_SHAPE : FROM_SHAPE + 1);
    add_encoding(l, name, o, c->out[0].operand);
    if (o->type == ANEURALNETWORKS_TENSOR_INT32) add_integers(l, name, data, bytes);
    if (nnv_type(o->type)->kind != NNV_KIND_MODEL) add_values(l, name, o, data, bytes);
}

/** Two tensors of one operation, such as those of ADD. */
static void add_two(struct list *l, const struct nnv_arg *a, const struct nnv_arg *b) {
    if (!a->present || !b->present || !nnv_type(a->operand->type)->tensor || !nnv_type(b->operand->type)->tensor)
        return;
    if (nnv_shape_known(&a->shape) && nnv_shape_known(&b->shape)) {
        const bool same = a->shape.rank == b->shape.rank &&
                          memcmp(a->shape.dims, b->shape.dims, a->shape.rank * sizeof *a->shape.dims) == 0;
        flag(l, "the first two inputs have the same shape", FROM_SHAPE, same,
             "the first two inputs have different shapes");
        number(l, "rank of input 1 - rank of input 0", FROM_SHAPE, (double)b->shape.rank - a->shape.rank);
    }
    flag(l, "the first two inputs are one operand", FROM_SHAPE, a->operand == b->operand, NULL);
    if (!nnv_is_quant(a->operand->type) || !nnv_is_quant(b->operand->type) || !(b->operand->scale > 0)) return;
    number(l, "scale of input 0 / scale of input 1", FROM_QUANT, (double)a->operand->scale / (double)b->operand->scale);
    const struct nnv_operand *ao = a->operand, *bo = b->operand;
    flag(l, "the first two inputs have the same scale and zero point", FROM_QUANT,
         fabsf(ao->scale - bo->scale) <= 0 && ao->zero_point == bo->zero_point,
         "the first two inputs have other scales or zero points");
}

static void add_call(struct list *l, const struct nnv_spec *spec, const struct nnv_call *c) {
    bool nchw;
    const char *const *extents = extents_of(c, &nchw);
    if (c->op->nforms > 1) word(l, "the list of inputs", 1, c->form->name);
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        const int pos = c->pos[s->id];
        const bool given = pos >= 0 && c->in[pos].present;
        if (s->group > 0 || (s->flags & NNV_OMITTABLE))
            flag(l, NAME("%s is given", s->name), FROM_MODEL, given, NAME("%s is not given", s->name));
        if (s->flags & NNV_REPEAT) number(l, NAME("number of %s", s->name), 0, c->repeat);
        if (s->flags & NNV_SCALAR)
            add_scalar(l, c, s);
        else if (given && nnv_type(c->in[pos].operand->type)->tensor)
            add_tensor(l, spec, c, (uint32_t)pos, s->name, extents);
    }
    add_pairs(l, c);
    if (c->nin > 0 && c->in[0].present) {
        add_along(l, c);
        add_windows(l, c, nchw);
    }
    if (c->nin > 1) add_two(l, &c->in[0], &c->in[1]);
    if (c->nout == 0) return;
    number(l, "number of outputs", FROM_MODEL, c->nout);
    add_extents(l, "the output", &c->out[0].shape, extents, FROM_SHAPE + 1);
    add_encoding(l, "the output", c->out[0].operand, c->out[0].operand);
}

/* -------------------------------------------------------------------- the model */

static void add_graph(struct list *l, const struct nnv_subgraph *m) {
    number(l, "number of operations", FROM_MODEL, m->noperations);
    for (uint32_t i = 0; i < m->noperations; i++) {
        const struct nnv_op *op = nnv_op(m->operations[i].type);
        size_t same = 0;
        if (op) flag(l, NAME("there is a %s", op->name), FROM_MODEL, true, NULL);
        for (uint32_t k = 0; k < i; k++) same += m->operations[k].type == m->operations[i].type;
        if (op && same == 1) flag(l, NAME("there are several %s", op->name), FROM_MODEL + 1, true, NULL);
        for (uint32_t o = 0; op && o < m->operations[i].nout; o++) {
            const uint32_t result = m->operations[i].out[o];
            size_t uses = 0;
            for (uint32_t k = i + 1; k < m->noperations; k++)
                for (uint32_t n = 0; n < m->operations[k].nin; n++) {
                    const struct nnv_op *user = nnv_op(m->operations[k].type);
                    if (m->operations[k].in[n] != result || !user) continue;
                    uses++;
                    flag(l, NAME("%s feeds %s", op->name, user->name), FROM_MODEL, true, NULL);
                }
            if (uses > 1) flag(l, NAME("%s has several users", op->name), FROM_MODEL + 1, true, NULL);
            if (uses > 0 && m->operands[result].lifetime == NNV_SUBGRAPH_OUTPUT)
                flag(l, NAME("%s gives an output that is used, too", op->name), FROM_MODEL + 1, true, NULL);
        }
    }
}

static void add_spec(struct list *l, const struct nnv_spec *spec, int32_t op) {
    const struct nnv_subgraph *m = &spec->model.main;
    struct nnv_call **calls = NULL;
    struct nnv_err ignored = {0};
    flag(l, "the model is relaxed", FROM_MODEL, spec->model.relaxed, "the model is not relaxed");
    number(l, "number of inputs of the model", FROM_MODEL + 1, m->nin);
    number(l, "feature level", FROM_MODEL + 1, spec->min_version);
    if (m->noperations != 1) add_graph(l, m);
    if (spec->expect_failure || nnv_edit_calls(spec, l->arena, &calls, &ignored) != NNV_OK) return;
    for (uint32_t i = 0; i < m->noperations; i++) {
        if (op && m->operations[i].type != op) continue;
        add_call(l, spec, calls[i]);
        break;
    }
    for (uint32_t i = 0; m->noperations == 1 && spec->outputs && i < m->nout && i < 2; i++)
        if (nnv_type(m->operands[m->out[i]].type)->kind != NNV_KIND_INT) /* indices follow from what is wrong */
            add_values(l, i ? "output 1" : "the output", &m->operands[m->out[i]], spec->outputs[i].data,
                       spec->outputs[i].bytes);
}

const struct nnv_attribute *nnv_attributes(const struct nnv_case *c, const struct nnv_spec *spec, int32_t op,
                                           struct nnv_arena *arena, size_t *count) {
    struct list l = {.arena = arena, .item = NNV_NEW(arena, struct nnv_attribute, ATTRIBUTES)};
    if (!l.item) return NULL;
    add_name(&l, c);
    if (spec) add_spec(&l, spec, op);
    *count = l.count;
    return l.failed ? NULL : l.item;
}
