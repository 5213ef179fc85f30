/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/attribute_list.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reference/faults/edit.h"
#include "reference/model/op.h"

enum {
    ELEMENTS = 1 << 15, /* of a tensor that are looked at */
    FEW = 8,            /* numbers of a list that are told one by one */
};

static void add(struct nnv_attribute_list *l, const char *name, struct nnv_attribute a) {
    a.name = name;
    l->failed = l->failed || !name;
    if (name && l->count < NNV_ATTRIBUTES) l->item[l->count++] = a;
}

void nnv_add_number(struct nnv_attribute_list *l, const char *name, int cost, double v) {
    add(l, name, (struct nnv_attribute){.kind = NNV_ATTRIBUTE_NUMBER, .cost = cost, .number = v});
}
void nnv_add_word(struct nnv_attribute_list *l, const char *name, int cost, const char *w) {
    l->failed = l->failed || !w;
    if (w) add(l, name, (struct nnv_attribute){.kind = NNV_ATTRIBUTE_WORD, .cost = cost, .word = w});
}
void nnv_add_flag(struct nnv_attribute_list *l, const char *name, int cost, bool is, const char *otherwise) {
    add(l, name, (struct nnv_attribute){.kind = NNV_ATTRIBUTE_FLAG, .cost = cost, .number = is, .word = otherwise});
}

void nnv_add_residues(struct nnv_attribute_list *l, const char *what, int cost, int most, double n) {
    for (int m = 4; what && m <= most; m *= 2) nnv_add_number(l, NNV_NAME("%s modulo %d", what, m), cost, fmod(n, m));
}

/* -------------------------------------------------------------------- the name */

/** "exec/burst/outlives_model/net_float32": its parts by their places, and the words of those behind the type. */
static void add_name(struct nnv_attribute_list *l, const struct nnv_case *c, bool has_spec) {
    const char *at = c->name;
    /* the models of suites that go by steps have names */
    if (!has_spec && strrchr(at, '/')) nnv_add_word(l, "the model", FROM_MODEL, strrchr(at, '/') + 1);
    nnv_add_word(l, "the suite", FROM_NAME, c->suite);
    if (c->type && *c->type) nnv_add_word(l, "type", 0, c->type);
    if (c->type && *c->type)
        nnv_add_flag(l, "the type is quantised", 0, strncmp(c->type, "quant", 5) == 0, "the type is not quantised");
    for (int part = 0; *at; part++) {
        const size_t n = strcspn(at, "/");
        const char *from = at + n;
        if (part == 1 && strcmp(c->suite, "ops") != 0)
            nnv_add_word(l, NNV_KIND_OF_CASE, FROM_MODEL, NNV_NAME("%.*s", (int)(from - c->name), c->name));
        if (part == 2 && strcmp(c->suite, "ops") != 0)
            nnv_add_word(l, "the case", FROM_QUANT, NNV_NAME("%.*s", (int)(from - c->name), c->name));
        for (size_t i = 0, k; part > 2 && i < n; i += k + 1) {
            k = strcspn(at + i, "_/");
            if (k > 2 && (at[i] < '0' || at[i] > '9'))
                nnv_add_flag(l, NNV_NAME("the case's name has \"%.*s\"", (int)k, at + i), FROM_NAME + 1, true, NULL);
        }
        at += n + (at[n] == '/');
    }
}

/* -------------------------------------------------------------------- tensors */

const char *const *nnv_extent_names(const struct nnv_call *c, bool *nchw) {
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

static void add_multiples(struct nnv_attribute_list *l, const char *what, int cost, uint32_t extent) {
    for (uint32_t m = 4; what && m <= 32; m *= 2)
        nnv_add_flag(l, NNV_NAME("%s is a multiple of %u", what, m), cost, extent % m == 0,
                     NNV_NAME("%s is no multiple of %u", what, m));
}

static void add_extents(struct nnv_attribute_list *l, const char *whose, const struct nnv_shape *s,
                        const char *const *names, int cost) {
    double elems = 1;
    nnv_add_flag(l, NNV_NAME("the shape of %s is known", whose), cost, nnv_shape_known(s),
                 NNV_NAME("the shape of %s is open", whose));
    if (!nnv_shape_known(s)) return;
    nnv_add_number(l, NNV_NAME("rank of %s", whose), cost, s->rank);
    for (uint32_t i = 0; i < s->rank; i++) {
        elems *= s->dims[i];
        nnv_add_flag(l,
                     names && s->rank == 4 ? NNV_NAME("%s of %s is odd", names[i], whose)
                                           : NNV_NAME("extent %u of %s is odd", i, whose),
                     cost + 1, s->dims[i] % 2 == 1,
                     names && s->rank == 4 ? NNV_NAME("%s of %s is even", names[i], whose)
                                           : NNV_NAME("extent %u of %s is even", i, whose));
        if (names && s->rank == 4)
            nnv_add_number(l, NNV_NAME("%s of %s", names[i], whose), cost, s->dims[i]);
        else
            nnv_add_number(l, NNV_NAME("extent %u of %s", i, whose), cost + 1, s->dims[i]);
    }
    if (s->rank > 0) {
        const uint32_t last = s->dims[s->rank - 1];
        uint32_t largest = 0;
        for (uint32_t i = 0; i < s->rank; i++) largest = s->dims[i] > largest ? s->dims[i] : largest;
        if (s->rank > 1) nnv_add_number(l, NNV_NAME("largest extent of %s", whose), cost + 1, largest);
        nnv_add_number(l, NNV_NAME("last extent of %s", whose), cost, last);
        add_multiples(l, NNV_NAME("last extent of %s", whose), cost + 1, last);
        nnv_add_residues(l, NNV_NAME("last extent of %s", whose), cost + 1, 16, last);
        add_multiples(l, NNV_NAME("number of elements of %s", whose), cost + 2, (uint32_t)fmod(elems, 32));
        if (s->rank > 1)
            nnv_add_flag(l, NNV_NAME("the last two extents of %s are equal", whose), cost + 1,
                         last == s->dims[s->rank - 2], NNV_NAME("the last two extents of %s differ", whose));
        nnv_add_flag(l, NNV_NAME("%s has one element for each of the last extent", whose), cost + 1, elems <= last,
                     NNV_NAME("%s has more elements than its last extent", whose));
    }
    if (s->rank == 4 && names) {
        const bool planes = strcmp(names[1], "channels") == 0;
        if (planes) add_multiples(l, NNV_NAME("channels of %s", whose), cost + 1, s->dims[1]);
        const uint32_t h = s->dims[planes ? 2 : 1], w = s->dims[planes ? 3 : 2];
        nnv_add_flag(l, NNV_NAME("height = width of %s", whose), cost + 1, h == w,
                     NNV_NAME("height != width of %s", whose));
        nnv_add_word(l, NNV_NAME("height and width of %s", whose), cost + 2, NNV_NAME("%ux%u", h, w));
    }
    nnv_add_number(l, NNV_NAME("elements of %s", whose), cost + 1, elems);
    nnv_add_flag(l, NNV_NAME("%s has no elements", whose), cost, elems == 0, NULL);
}

/** Of what the tensor holds, as real numbers. */
static void add_values(struct nnv_attribute_list *l, const char *whose, const struct nnv_operand *o, const void *data,
                       size_t bytes) {
    const struct nnv_type *t = nnv_type(o->type);
    size_t n = t->size ? bytes / t->size : 0;
    if (n > ELEMENTS) n = ELEMENTS;
    double *v = data ? NNV_NEW(l->arena, double, n + 1) : NULL;
    if (!v || n == 0) return;
    nnv_load(o->type, data, n, v);
    double lo = INFINITY, hi = -INFINITY, least = INFINITY, sum = 0, squares = 0;
    bool nan = false, infinite = false, zero = false;
    for (size_t i = 0; i < n; i++) {
        nan = nan || isnan(v[i]);
        infinite = infinite || isinf(v[i]);
        const double r = nnv_is_quant(o->type) && !o->channel.count ? (v[i] - o->zero_point) * (double)o->scale : v[i];
        zero = zero || r == 0;
        if (!isfinite(r)) continue;
        sum += r;
        squares += r * r;
        lo = fmin(lo, r);
        hi = fmax(hi, r);
        if (r != 0) least = fmin(least, fabs(r));
    }
    if (t->kind == NNV_KIND_FLOAT) {
        nnv_add_flag(l, NNV_NAME("%s holds NaN", whose), FROM_VALUES, nan, NULL);
        nnv_add_flag(l, NNV_NAME("%s holds an infinity", whose), FROM_VALUES, infinite, NULL);
    }
    nnv_add_flag(l, NNV_NAME("%s holds 0", whose), FROM_VALUES + 1, zero, NULL);
    if (lo <= hi) {
        nnv_add_number(l, NNV_NAME("largest value of %s", whose), FROM_VALUES, hi);
        nnv_add_number(l, NNV_NAME("least value of %s", whose), FROM_VALUES, lo);
        nnv_add_number(l, NNV_NAME("largest magnitude in %s", whose), FROM_VALUES, fmax(fabs(lo), fabs(hi)));
        const double mean = sum / (double)n, variance = fmax(squares / (double)n - mean * mean, 0);
        if (variance > 0)
            nnv_add_number(l, NNV_NAME("magnitude of the mean / deviation of %s", whose), FROM_VALUES,
                           fabs(mean) / sqrt(variance));
        if (t->kind == NNV_KIND_FLOAT)
            nnv_add_number(l, NNV_NAME("least magnitude in %s", whose), FROM_VALUES + 1, least);
        nnv_add_flag(l, NNV_NAME("all values of %s are equal", whose), FROM_VALUES + 1, lo == hi && n > 1, NULL);
    }
    if (nnv_is_quant(o->type)) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < n; i++) low = fmin(low, v[i]), high = fmax(high, v[i]);
        double codes = 0;
        for (size_t i = 0; i < n; i++) codes += v[i];
        nnv_add_number(l, NNV_NAME("magnitude of the sum of codes of %s", whose), FROM_VALUES, fabs(codes));
        nnv_add_number(l, NNV_NAME("largest difference of codes in %s", whose), FROM_VALUES, high - low);
        nnv_add_flag(l, NNV_NAME("%s holds the least code", whose), FROM_VALUES, low == t->min, NULL);
        nnv_add_flag(l, NNV_NAME("%s holds the largest code", whose), FROM_VALUES, high == t->max, NULL);
    }
}

/** A short list of integers: axes, paddings, a permutation. */
static void add_integers(struct nnv_attribute_list *l, const char *whose, const void *data, size_t bytes) {
    double v[FEW];
    const size_t n = bytes / sizeof(int32_t);
    char text[FEW * 12] = "", *end = text;
    bool negative = false;
    if (!data || n == 0 || n > FEW) return;
    nnv_load(ANEURALNETWORKS_TENSOR_INT32, data, n, v);
    for (size_t i = 0; i < n; i++) {
        end += snprintf(end, sizeof text - (size_t)(end - text), "%s%.0f", i ? "," : "", v[i]);
        nnv_add_number(l, n == 1 ? NNV_NAME("%s", whose) : NNV_NAME("%s[%zu]", whose, i), FROM_MODEL, v[i]);
        negative = negative || v[i] < 0;
    }
    nnv_add_flag(l, NNV_NAME("a number of %s is negative", whose), FROM_MODEL, negative,
                 NNV_NAME("no number of %s is negative", whose));
    nnv_add_word(l, NNV_NAME("the list %s", whose), FROM_MODEL, NNV_NAME("%s", text));
}

/* ------------------------------------------------------------- the operation */

static const char *lifetime_of(const struct nnv_operand *o) {
    return nnv_is_constant(o) ? "a constant" : o->lifetime == NNV_SUBGRAPH_INPUT ? "an input" : "a result";
}

static void add_scalar(struct nnv_attribute_list *l, const struct nnv_call *c, const struct nnv_slot *s) {
    static const char *const fused[] = {"none", "RELU", "RELU1", "RELU6"};
    static const char *const schemes[] = {"?", "SAME", "VALID"};
    nnv_add_flag(l, NNV_NAME("%s is a constant", s->name), FROM_MODEL, nnv_known(c, s->id),
                 NNV_NAME("%s is an input", s->name));
    if (!nnv_known(c, s->id)) return;
    const double v = nnv_num(c, s->id);
    const int rank = c->nin && c->in[0].present ? (int)c->in[0].shape.rank : 0;
    if (s->rule == NNV_FUSE && v >= 0 && v < 4) {
        nnv_add_word(l, s->name, 0, fused[(int)v]);
    } else if (s->rule == NNV_PADDING_CODE && v >= 0 && v < 3) {
        nnv_add_word(l, s->name, 0, schemes[(int)v]);
    } else if (s->var == NNV_FIXED && s->type == ANEURALNETWORKS_BOOL) {
        nnv_add_word(l, s->name, 0, v != 0 ? "true" : "false");
    } else if (s->rule == NNV_AXIS) {
        nnv_add_number(l, NNV_NAME("%s, counted from 0", s->name), 0, v < 0 ? v + rank : v);
        nnv_add_flag(l, NNV_NAME("%s is the last", s->name), 0, (v < 0 ? v + rank : v) + 1 == rank,
                     NNV_NAME("%s is not the last", s->name));
        nnv_add_flag(l, NNV_NAME("%s is negative", s->name), 1, v < 0, NNV_NAME("%s is not negative", s->name));
    } else {
        const struct nnv_arg *a = nnv_in(c, s->id);
        int exponent;
        nnv_add_number(l, s->name, 0, v);
        if (a && nnv_is_float(a->operand->type))
            nnv_add_flag(l, NNV_NAME("%s is a power of two", s->name), 1, frexp(v, &exponent) == 0.5,
                         NNV_NAME("%s is no power of two", s->name));
    }
}

/** What is known of input i while nothing runs. */
static const struct nnv_value *value_of(const struct nnv_spec *spec, const struct nnv_operand *o) {
    const struct nnv_subgraph *main = &spec->model.main;
    for (uint32_t i = 0; spec->inputs && i < main->nin; i++)
        if (&main->operands[main->in[i]] == o && !spec->inputs[i].omitted) return &spec->inputs[i];
    return NULL;
}

static void add_tensor(struct nnv_attribute_list *l, const struct nnv_spec *spec, const struct nnv_call *c, uint32_t i,
                       const struct nnv_slot *slot, const char *const *extents) {
    static const char *const filters[] = {"outer extent", "height", "width", "inner extent"};
    const struct nnv_arg *a = &c->in[i];
    const struct nnv_operand *o = a->operand;
    const struct nnv_value *v = value_of(spec, o);
    const void *data = v ? v->data : a->data;
    const size_t bytes = v ? v->bytes : o->bytes;
    const char *name = slot->name;
    const bool filter = strcmp(name, "filter") == 0;
    nnv_add_word(l, name, FROM_MODEL, lifetime_of(o));
    if (i > 0) nnv_add_word(l, NNV_NAME("type of %s", name), FROM_MODEL, nnv_type(o->type)->tag);
    add_extents(l, name, &a->shape, filter ? filters : extents, i == 0 ? FROM_SHAPE : FROM_SHAPE + 1);
    if (nnv_shape_known(&a->shape) && a->shape.rank > 0)
        nnv_add_number(l, NNV_NAME("bytes along the last extent of %s", name), FROM_SHAPE + 2,
                       (double)nnv_type(o->type)->size * a->shape.dims[a->shape.rank - 1]);
    nnv_add_encoding(l, name, o, c->out[0].operand);
    nnv_add_centred(l, name, o);
    if (nnv_slot_is_number(slot)) add_integers(l, name, data, bytes);
    const size_t before = l->count;
    if (nnv_type(o->type)->kind != NNV_KIND_MODEL) add_values(l, name, o, data, bytes);
    for (size_t k = before; k < l->count; k++) l->item[k].of_values = true;
}

static bool same_shape(const struct nnv_shape *a, const struct nnv_shape *b) {
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

/** The operation sums up products of its first two inputs. */
static bool multiplies(const struct nnv_op *op) {
    if (op->code == ANEURALNETWORKS_MUL || op->code == ANEURALNETWORKS_PRELU) return true;
    return op->rounding == NNV_ROUND_LINEAR && op->code != ANEURALNETWORKS_ADD && op->code != ANEURALNETWORKS_SUB;
}

/** Which of two inputs is repeated along the axes of the output, from the outermost; like neighbours are one. */
static void add_broadcast(struct nnv_attribute_list *l, const struct nnv_shape *a, const struct nnv_shape *b) {
    const uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    char text[NNV_MAX_RANK * 6 + 1] = "", last = 0;
    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t x = d + a->rank < rank ? 1 : a->dims[d + a->rank - rank],
                       y = d + b->rank < rank ? 1 : b->dims[d + b->rank - rank];
        const char now = x == y ? '-' : x == 1 ? '0' : '1';
        if ((x == 1 && y == 1) || now == last) continue;
        const size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "", now == '-' ? "none" : now == '0' ? "0" : "1");
        last = now;
    }
    if (last && strcmp(text, "none") != 0)
        nnv_add_word(l, "the input repeated along the axes, outer to inner,", FROM_SHAPE, NNV_NAME("%s", text));
}

/** Two tensors of one operation, such as those of ADD. */
static void add_two(struct nnv_attribute_list *l, const struct nnv_op *op, const struct nnv_arg *a,
                    const struct nnv_arg *b, const struct nnv_arg *out) {
    const struct nnv_operand *y = out->operand;
    if (!a->present || !b->present || !nnv_type(a->operand->type)->tensor || !nnv_type(b->operand->type)->tensor)
        return;
    if (nnv_shape_known(&a->shape) && nnv_shape_known(&b->shape)) {
        nnv_add_flag(l, "the first two inputs have the same shape", FROM_SHAPE, same_shape(&a->shape, &b->shape),
                     "the first two inputs have different shapes");
        nnv_add_number(l, "rank of input 1 - rank of input 0", FROM_SHAPE, (double)b->shape.rank - a->shape.rank);
        if (op->pairs) add_broadcast(l, &a->shape, &b->shape);
    }
    if (nnv_shape_known(&a->shape) && nnv_shape_known(&out->shape))
        nnv_add_flag(l, "the output has as many elements as input 0", FROM_SHAPE,
                     nnv_shape_elems(&a->shape) == nnv_shape_elems(&out->shape),
                     "the output has more elements than input 0");
    nnv_add_flag(l, "the first two inputs are one operand", FROM_SHAPE, a->operand == b->operand, NULL);
    if (!nnv_is_quant(a->operand->type) || !nnv_is_quant(b->operand->type) || !(b->operand->scale > 0)) return;
    nnv_add_number(l, "scale of input 0 / scale of input 1", FROM_QUANT,
                   (double)a->operand->scale / (double)b->operand->scale);
    const struct nnv_operand *ao = a->operand, *bo = b->operand;
    if (nnv_is_quant(y->type) && y->scale > 0 && multiplies(op)) {
        nnv_add_number(l, "scale of input 0 * scale of input 1 / scale of the output", FROM_QUANT,
                       (double)ao->scale * (double)bo->scale / (double)y->scale);
    } else if (nnv_is_quant(y->type) && y->scale > 0) {
        nnv_add_number(l, "the larger input scale / scale of the output", FROM_QUANT,
                       (double)fmaxf(ao->scale, bo->scale) / (double)y->scale);
        nnv_add_number(l, "the smaller input scale / scale of the output", FROM_QUANT,
                       (double)fminf(ao->scale, bo->scale) / (double)y->scale);
    }
    nnv_add_flag(l, "the first two inputs have the same zero point", FROM_QUANT, ao->zero_point == bo->zero_point,
                 "the first two inputs have different zero points");
    nnv_add_flag(l, "the first two inputs have the same scale", FROM_QUANT, fabsf(ao->scale - bo->scale) <= 0,
                 "the first two inputs have different scales");
    nnv_add_flag(l, "the first two inputs have the same scale and zero point", FROM_QUANT,
                 fabsf(ao->scale - bo->scale) <= 0 && ao->zero_point == bo->zero_point,
                 "the first two inputs have other scales or zero points");
}

/** Whether all that says what is done, and no data, is known when the model is compiled. */
static void add_parameters(struct nnv_attribute_list *l, const struct nnv_call *c) {
    bool constant = true;
    int n = 0;
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        const int pos = c->pos[s->id];
        if (pos < 0 || !c->in[pos].present || !((s->flags & NNV_SCALAR) || nnv_slot_is_number(s))) continue;
        constant = constant && nnv_is_constant(c->in[pos].operand);
        n++;
    }
    nnv_add_flag(l, "a parameter is an input", n > 1 ? 0 : FROM_MODEL, !constant, "all parameters are constants");
}

static void add_call(struct nnv_attribute_list *l, const struct nnv_spec *spec, const struct nnv_call *c) {
    bool nchw;
    const char *const *extents = nnv_extent_names(c, &nchw);
    if (c->op->nforms > 1) nnv_add_word(l, "the list of inputs", 1, c->form->name);
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        const int pos = c->pos[s->id];
        const bool given = pos >= 0 && c->in[pos].present;
        if (s->group > 0 || (s->flags & NNV_OMITTABLE))
            nnv_add_flag(l, NNV_NAME("%s is given", s->name), s->flags & NNV_SCALAR ? FROM_MODEL + 2 : FROM_MODEL,
                         given, NNV_NAME("%s is not given", s->name));
        if (s->flags & NNV_REPEAT) nnv_add_number(l, NNV_NAME("number of %s", s->name), 0, c->repeat);
        if (s->flags & NNV_SCALAR)
            add_scalar(l, c, s);
        else if (given && nnv_type(c->in[pos].operand->type)->tensor)
            add_tensor(l, spec, c, (uint32_t)pos, s, extents);
    }
    add_parameters(l, c);
    nnv_add_geometry(l, c, nchw);
    if (c->nout == 0) return;
    if (c->nin > 1) add_two(l, c->op, &c->in[0], &c->in[1], &c->out[0]);
    nnv_add_shared_encoding(l, c);
    nnv_add_clamps(l, c);
    if (c->in[0].present && nnv_shape_known(&c->in[0].shape) && nnv_shape_known(&c->out[0].shape) &&
        nnv_shape_elems(&c->out[0].shape) > 0)
        nnv_add_number(l, "elements of input 0 for each of the output", FROM_SHAPE + 1,
                       (double)nnv_shape_elems(&c->in[0].shape) / (double)nnv_shape_elems(&c->out[0].shape));
    if (c->in[0].present && nnv_shape_known(&c->in[0].shape) && nnv_shape_known(&c->out[0].shape))
        nnv_add_flag(l, "input 0 and the output have the same shape", FROM_SHAPE,
                     same_shape(&c->in[0].shape, &c->out[0].shape), "input 0 and the output have different shapes");
    nnv_add_number(l, "number of outputs", FROM_MODEL, c->nout);
    if (c->in[0].present)
        nnv_add_flag(l, "input 0 and the output have one type", FROM_MODEL,
                     c->in[0].operand->type == c->out[0].operand->type, "input 0 and the output have different types");
    add_extents(l, "the output", &c->out[0].shape, extents, FROM_SHAPE + 1);
    nnv_add_encoding(l, "the output", c->out[0].operand, c->out[0].operand);
}

/* -------------------------------------------------------------------- the model */

/** How large constants are: they lie one behind the other in a pool, or are copied, at offsets of so many bits. */
static void add_constants(struct nnv_attribute_list *l, const struct nnv_subgraph *m) {
    double all = 0;
    for (uint32_t i = 0; i < m->noperands; i++)
        if (nnv_is_constant(&m->operands[i])) all += (double)m->operands[i].bytes;
    nnv_add_number(l, "bytes of all constants", FROM_SHAPE + 1, all);
}

static void add_spec(struct nnv_attribute_list *l, const struct nnv_spec *spec, int32_t op) {
    const struct nnv_subgraph *m = &spec->model.main;
    struct nnv_call **calls = NULL;
    struct nnv_err ignored = {0};
    nnv_add_flag(l, "the model is relaxed", FROM_MODEL, spec->model.relaxed, "the model is not relaxed");
    nnv_add_number(l, "number of inputs of the model", FROM_MODEL + 1, m->nin);
    nnv_add_number(l, "number of outputs of the model", FROM_MODEL + 1, m->nout);
    nnv_add_number(l, "feature level", FROM_MODEL + 2, spec->min_version);
    if (spec->expect_failure && spec->source) nnv_add_word(l, "the model's mistake", 0, spec->source);
    add_constants(l, m);
    if (spec->expect_failure || nnv_edit_calls(spec, l->arena, &calls, &ignored) != NNV_OK) calls = NULL;
    nnv_add_graph(l, m, calls);
    if (!calls) return;
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
    struct nnv_attribute_list l = {.arena = arena, .item = NNV_NEW(arena, struct nnv_attribute, NNV_ATTRIBUTES)};
    if (!l.item) return NULL;
    add_name(&l, c, spec != NULL);
    if (spec) add_spec(&l, spec, op);
    *count = l.count;
    return l.failed ? NULL : l.item;
}

const struct nnv_attribute *nnv_attributes_keep(const struct nnv_attribute *item, size_t count,
                                                struct nnv_arena *arena) {
    struct nnv_attribute *kept = nnv_arena_copy(arena, item, count * sizeof *item);
    for (size_t i = 0; kept && i < count; i++) {
        kept[i].name = nnv_arena_strdup(arena, item[i].name);
        if (item[i].word) kept[i].word = nnv_arena_strdup(arena, item[i].word);
        if (!kept[i].name || (item[i].word && !kept[i].word)) return NULL;
    }
    return kept;
}
