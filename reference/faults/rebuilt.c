/* SPDX-License-Identifier: Apache-2.0 */
/** @file rebuilt.c Operations that several others replace, because no attribute says what is wrong. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reference/faults/faults.h"

enum { MOST_BOXES = 12, MOST_SAMPLES = 4096 };

/** The number in the scalar of this name; NAN: it is not known. */
static double scalar(struct nnv_edit *e, const char *name) {
    const int pos = nnv_edit_find(e, name);
    size_t n;
    const double *v = pos < 0 ? NULL : nnv_edit_numbers(e, pos, &n);
    return v && n == 1 ? *v : (double)NAN;
}

/** Adds a scalar of the type of the one at pos. */
static uint32_t add_scalar(struct nnv_edit *e, int pos, double v) {
    struct nnv_operand o = *nnv_edit_operand(e, pos);
    void *data = nnv_arena_alloc(e->arena, 1, nnv_type(o.type)->size);
    e->failed = e->failed || !data;
    if (!data) return 0;
    nnv_store(o.type, &v, 1, data);
    o.lifetime = NNV_CONSTANT_COPY;
    o.data = data;
    o.bytes = nnv_type(o.type)->size;
    return nnv_edit_add(e, o);
}

/* ------------------------------------------------------------ deviations of planes */

/** What the wrong deviation of n numbers makes of the normalised ones: the factor. */
static double factor(const struct nnv_fault *f, double variance, double n, double epsilon) {
    const double right = sqrt(variance + epsilon);
    switch ((enum nnv_fault_deviations)f->value) {
    case NNV_DEVIATION_OUTSIDE:
        return right / (sqrt(variance) + epsilon);
    case NNV_DEVIATION_LEAST:
        return right / sqrt(fmax(variance, epsilon));
    case NNV_DEVIATION_SAMPLE:
        return right / sqrt(variance * n / (n - 1) + epsilon);
    }
    return 1;
}

/** Plane p of an image: its elements stand `step` apart, n of them from `first` on. */
static double plane_factor(const struct nnv_fault *f, const double *x, size_t first, size_t step, size_t n,
                           double epsilon) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) sum += x[first + i * step];
    for (size_t i = 0; i < n; i++)
        squares += (x[first + i * step] - sum / (double)n) * (x[first + i * step] - sum / (double)n);
    return factor(f, squares / (double)n, (double)n, epsilon);
}

bool nnv_change_deviation(struct nnv_edit *e, const struct nnv_fault *f) {
    const struct nnv_shape *s = &e->call->in[0].shape;
    const double epsilon = scalar(e, "epsilon"), beta = scalar(e, "beta");
    const bool nchw = nnv_call_is_nchw(e->call);
    struct nnv_operation *op = nnv_edit_op(e);
    size_t n;
    const double *x = nnv_edit_numbers(e, 0, &n);
    if (!x || !nnv_shape_known(s) || s->rank != 4 || n == 0 || isnan(epsilon) || isnan(beta) || op->nin != 5)
        return false;
    const uint32_t channels = s->dims[nchw ? 1 : 3];
    const size_t plane = n / s->dims[0] / channels;
    const uint32_t dims[] = {s->dims[0], nchw ? channels : 1, 1, nchw ? 1 : channels};
    double *factors = NNV_NEW(e->arena, double, (size_t)s->dims[0] * channels);
    bool any = false;
    if (plane < 2 || !factors) return false;
    for (size_t b = 0, k = 0; b < s->dims[0]; b++)
        for (size_t c = 0; c < channels; c++, k++) {
            factors[k] =
                plane_factor(f, x, nchw ? k * plane : b * plane * channels + c, nchw ? 1 : channels, plane, epsilon);
            if (!isfinite(factors[k])) return false;
            any = any || fabs(factors[k] - 1) > 1e-9;
        }
    if (!any) return false;
    const struct nnv_operand like = {.type = nnv_edit_operand(e, 0)->type};
    const uint32_t none = nnv_edit_add_int(e, ANEURALNETWORKS_FUSED_NONE), one[] = {1};
    const uint32_t as[] = {op->in[1], add_scalar(e, 2, 0), op->in[3], op->in[4]};
    const uint32_t times[] = {nnv_edit_add_constant(e, like, 4, dims, factors), none};
    const uint32_t plus[] = {nnv_edit_add_constant(e, like, 1, one, &beta), none};
    nnv_edit_insert(e, ANEURALNETWORKS_INSTANCE_NORMALIZATION, as, 4, s);
    if (e->failed) return false;
    nnv_edit_insert(e, ANEURALNETWORKS_MUL, times, 2, s);
    uint32_t *in = NNV_NEW(e->arena, uint32_t, 3);
    if (e->failed || !in) return false;
    op = nnv_edit_op(e);
    in[0] = op->in[0];
    memcpy(in + 1, plus, sizeof plus);
    op->in = in;
    op->nin = 3;
    op->type = ANEURALNETWORKS_ADD;
    return true;
}

/* --------------------------------------------------- exponentials that overflow */

/** Puts an operation before the one in hand, whose output is of this type and shape; the output. */
static uint32_t put(struct nnv_edit *e, int32_t code, const uint32_t *in, uint32_t nin, int32_t type,
                    const struct nnv_shape *s) {
    struct nnv_operand o = {.type = type, .lifetime = NNV_TEMPORARY_VARIABLE, .rank = e->open ? 0 : s->rank};
    o.dims = nnv_edit_copy(e, s->dims, s->rank, 0, sizeof *s->dims);
    uint32_t *out = NNV_NEW(e->arena, uint32_t, 1), *own = nnv_arena_copy(e->arena, in, nin * sizeof *in);
    e->failed = e->failed || !out || !own;
    if (e->failed) return 0;
    out[0] = nnv_edit_add(e, o);
    nnv_edit_put_before(e, (struct nnv_operation){.type = code, .nin = nin, .nout = 1, .in = own, .out = out});
    return out[0];
}

bool nnv_change_no_maximum(struct nnv_edit *e, const struct nnv_fault *f) {
    const int32_t wide = ANEURALNETWORKS_TENSOR_FLOAT32, type = nnv_edit_operand(e, 0)->type;
    const struct nnv_shape s = e->call->in[0].shape;
    const bool log = e->call->op->code == ANEURALNETWORKS_LOG_SOFTMAX;
    const double beta = scalar(e, "beta"), axis = nnv_edit_find(e, "axis") < 0 ? -1 : scalar(e, "axis");
    (void)f;
    if (!nnv_is_float(type) || !nnv_shape_known(&s) || s.rank == 0 || isnan(beta) || isnan(axis)) return false;
    const uint32_t one[] = {1}, at = (uint32_t)nnv_axis((int32_t)axis, s.rank);
    const struct nnv_operand floats = {.type = wide}, ints = {.type = ANEURALNETWORKS_TENSOR_INT32};
    struct nnv_shape sums = s;
    if (at >= s.rank) return false;
    sums.dims[at] = 1;
    const uint32_t none = nnv_edit_add_int(e, ANEURALNETWORKS_FUSED_NONE);
    const uint32_t axes = nnv_edit_add_constant(e, ints, 1, one, &axis);
    const uint32_t times = nnv_edit_add_constant(e, floats, 1, one, &beta);
    const bool yes = true;
    const uint32_t keep = nnv_edit_add(e, (struct nnv_operand){.type = ANEURALNETWORKS_BOOL,
                                                               .lifetime = NNV_CONSTANT_COPY,
                                                               .data = nnv_arena_copy(e->arena, &yes, sizeof yes),
                                                               .bytes = sizeof yes});
    uint32_t x = nnv_edit_op(e)->in[0];
    if (type != wide) x = put(e, ANEURALNETWORKS_CAST, &x, 1, wide, &s);
    const uint32_t z = put(e, ANEURALNETWORKS_MUL, (uint32_t[]){x, times, none}, 3, wide, &s);
    const uint32_t power = put(e, ANEURALNETWORKS_EXP, &z, 1, wide, &s);
    uint32_t sum = put(e, ANEURALNETWORKS_REDUCE_SUM, (uint32_t[]){power, axes, keep}, 3, wide, &sums);
    if (log) sum = put(e, ANEURALNETWORKS_LOG, &sum, 1, wide, &sums);
    uint32_t last[] = {log ? z : power, sum, none};
    const int32_t code = log ? ANEURALNETWORKS_SUB : ANEURALNETWORKS_DIV;
    if (type != wide) last[0] = put(e, code, last, 3, wide, &s);
    if (e->failed) return false;
    struct nnv_operation *op = nnv_edit_op(e);
    op->in = nnv_arena_copy(e->arena, last, sizeof last);
    op->nin = type != wide ? 1 : 3;
    op->type = type != wide ? ANEURALNETWORKS_CAST : code;
    return op->in != NULL;
}

/* ------------------------------------------------------- biases that are normalised */

bool nnv_change_normalised_bias(struct nnv_edit *e, const struct nnv_fault *f) {
    static const char *const gate[] = {"input", "forget", "cell", "output"};
    size_t n, nw, nb;
    const double *x = nnv_edit_numbers(e, 0, &n);
    const struct nnv_shape *s = &e->call->in[0].shape;
    bool any = false;
    (void)f;
    if (!x || !nnv_shape_known(s) || s->rank < 2 || nnv_edit_find(e, "forget layer normalisation weights") < 0)
        return false;
    const uint32_t width = s->dims[s->rank - 1];
    const size_t rows = width ? n / width : 0;
    double *wide = NNV_NEW(e->arena, double, n + rows + 1);
    if (!wide || !rows) return false;
    for (int g = 0; g < 4; g++) {
        char weights[48], bias[48];
        (void)snprintf(weights, sizeof weights, "input-to-%s weights", gate[g]);
        (void)snprintf(bias, sizeof bias, "%s gate bias", gate[g]);
        const int at = nnv_edit_find(e, weights), of = nnv_edit_find(e, bias);
        if (at < 0) continue; /* there is no input gate */
        const double *w = nnv_edit_numbers(e, at, &nw), *b = of < 0 ? NULL : nnv_edit_numbers(e, of, &nb);
        if (!w || !b || nw != nb * width) return false;
        double *more = NNV_NEW(e->arena, double, nw + nb), *zeros = NNV_NEW(e->arena, double, nb);
        if (!more || !zeros) return false;
        for (size_t u = 0; u < nb; u++) {
            memcpy(more + u * (width + 1), w + u * width, width * sizeof *w);
            more[u * (width + 1) + width] = b[u];
            any = any || b[u] < 0 || b[u] > 0;
        }
        const uint32_t units[] = {(uint32_t)nb, width + 1};
        const struct nnv_operand wo = *nnv_edit_operand(e, at), bo = *nnv_edit_operand(e, of);
        const uint32_t to = nnv_edit_add_constant(e, wo, 2, units, more),
                       no = nnv_edit_add_constant(e, bo, 1, units, zeros);
        nnv_edit_op(e)->in[at] = to;
        nnv_edit_op(e)->in[of] = no;
    }
    for (size_t r = 0; r < rows; r++) {
        memcpy(wide + r * (width + 1), x + r * width, width * sizeof *x);
        wide[r * (width + 1) + width] = 1;
    }
    struct nnv_shape widened = *s;
    widened.dims[s->rank - 1] = width + 1;
    const uint32_t input = nnv_edit_add_constant(e, *nnv_edit_operand(e, 0), s->rank, widened.dims, wide);
    nnv_edit_op(e)->in[0] = input;
    return any && !e->failed;
}

/* ---------------------------------------------------------------- samples of boxes */

/** The real numbers in an input; NULL: they are not known. */
static double *real_numbers(struct nnv_edit *e, const char *name, size_t *n) {
    const int pos = nnv_edit_find(e, name);
    double *v = pos < 0 ? NULL : nnv_edit_numbers(e, pos, n);
    const struct nnv_operand *o = pos < 0 ? NULL : nnv_edit_operand(e, pos);
    for (size_t i = 0; v && i < *n && nnv_is_quant(o->type); i++) v[i] = (v[i] - o->zero_point) * (double)o->scale;
    return v;
}

/** How many samples a cell of the box gets in the height (0) or width (1), where none are said. */
static double worked_out(struct nnv_edit *e, const double *box, int direction) {
    const double from = box[1 - direction], to = box[3 - direction];
    const double ratio = scalar(e, direction ? "width ratio" : "height ratio");
    const double cells = scalar(e, direction ? "output width" : "output height");
    return fmax(ceil(fmax((to - from) / ratio, 1) / cells), 1);
}

bool nnv_change_samples_at_begin(struct nnv_edit *e, const struct nnv_fault *f) {
    size_t n;
    const int pos = nnv_edit_find(e, "boxes");
    double *box = pos < 0 || nnv_is_quant(nnv_edit_operand(e, pos)->type) ? NULL : nnv_edit_numbers(e, pos, &n);
    (void)f;
    if (!box || n == 0 || n % 4 != 0) return false;
    for (size_t i = 0; i < n; i += 4)
        for (int direction = 0; direction < 2; direction++) {
            const double given = scalar(e, direction ? "width samples" : "height samples");
            const double ratio = scalar(e, direction ? "width ratio" : "height ratio");
            const double cells = scalar(e, direction ? "output width" : "output height");
            const double samples = given > 0 ? given : worked_out(e, box + i, direction);
            const double extent = fmax((box[i + 3 - (size_t)direction] - box[i + 1 - (size_t)direction]) / ratio, 1);
            const double half = extent / cells / samples / 2 * ratio;
            double *begin = &box[i + 1 - (size_t)direction], *end = &box[i + 3 - (size_t)direction];
            if (!isfinite(half) || *begin < half) return false;
            *begin -= half;
            *end -= half;
        }
    nnv_edit_set_numbers(e, pos, box, n);
    return true;
}

bool nnv_change_boxes_down(struct nnv_edit *e, const struct nnv_fault *f) {
    size_t n;
    double *box = real_numbers(e, "boxes", &n);
    const int pos = nnv_edit_find(e, "boxes");
    const double ratio[] = {scalar(e, "width ratio"), scalar(e, "height ratio")};
    bool any = false;
    (void)f;
    if (!box || n % 4 != 0 || !(ratio[0] > 0) || !(ratio[1] > 0)) return false;
    const struct nnv_operand *o = nnv_edit_operand(e, pos);
    for (size_t i = 0; i < n; i++) {
        const double down = floor(box[i] / ratio[i % 2]) * ratio[i % 2];
        any = any || down < box[i];
        box[i] = nnv_is_quant(o->type) ? nearbyint(down / (double)o->scale) + o->zero_point : down;
    }
    if (any) nnv_edit_set_numbers(e, pos, box, n);
    return any;
}

bool nnv_change_last_pixel(struct nnv_edit *e, const struct nnv_fault *f) {
    size_t n;
    const int pos = nnv_edit_find(e, "image sizes");
    double *size = pos < 0 ? NULL : nnv_edit_numbers(e, pos, &n);
    const struct nnv_operand *o = pos < 0 ? NULL : nnv_edit_operand(e, pos);
    (void)f;
    if (!size || n == 0) return false;
    for (size_t i = 0; i < n; i++) size[i] -= nnv_is_quant(o->type) ? 1 / (double)o->scale : 1;
    nnv_edit_set_numbers(e, pos, size, n);
    return true;
}

/** Puts an operation for boxes `first` to `end` before the one in hand; its output. */
static uint32_t put_boxes(struct nnv_edit *e, const struct nnv_operation *like, uint32_t first, uint32_t end, int at,
                          double samples) {
    const int boxes = nnv_edit_find(e, "boxes"), batch = nnv_edit_find(e, "batch indices");
    const uint32_t few[] = {end - first, 4};
    size_t n;
    const double *b = nnv_edit_numbers(e, boxes, &n), *image = nnv_edit_numbers(e, batch, &n);
    uint32_t *in = nnv_arena_copy(e->arena, like->in, like->nin * sizeof *in), *out = NNV_NEW(e->arena, uint32_t, 1);
    if (!b || !image || !in || !out) {
        e->failed = true;
        return 0;
    }
    in[boxes] = nnv_edit_add_constant(e, *nnv_edit_operand(e, boxes), 2, few, b + (size_t)4 * first);
    in[batch] = nnv_edit_add_constant(e, *nnv_edit_operand(e, batch), 1, few, image + first);
    in[at] = nnv_edit_add_int(e, (int32_t)samples);
    struct nnv_operand made = e->spec.model.main.operands[like->out[0]];
    made.lifetime = NNV_TEMPORARY_VARIABLE;
    out[0] = nnv_edit_add(e, made);
    if (!e->failed && made.rank == 4) e->spec.model.main.operands[out[0]].dims[0] = end - first;
    nnv_edit_put_before(e,
                        (struct nnv_operation){.type = like->type, .nin = like->nin, .nout = 1, .in = in, .out = out});
    return out[0];
}

bool nnv_change_samples(struct nnv_edit *e, const struct nnv_fault *f) {
    const int of = f->value > 0, at = nnv_edit_find(e, of ? "width samples" : "height samples");
    const double given = scalar(e, of ? "height samples" : "width samples");
    size_t n;
    double *box = real_numbers(e, "boxes", &n), count[MOST_BOXES];
    uint32_t parts[MOST_BOXES + 1], nparts = 0;
    bool any = false;
    if (!box || at < 0 || n < 4 || n % 4 != 0 || n / 4 > MOST_BOXES || isnan(given)) return false;
    if (!(scalar(e, of ? "width samples" : "height samples") == 0)) return false;
    for (size_t i = 0; i < n / 4; i++) {
        count[i] = worked_out(e, box + 4 * i, 1 - of);
        if (!(count[i] < MOST_SAMPLES)) return false;
        any = any || fabs(count[i] - worked_out(e, box + 4 * i, of)) > 0;
    }
    if (!any) return false;
    for (uint32_t i = 0, end; i < n / 4 && !e->failed; i = end) { /* boxes of as many samples are one operation */
        const struct nnv_operation like = *nnv_edit_op(e);
        for (end = i + 1; end < n / 4 && fabs(count[end] - count[i]) < 0.5;) end++;
        parts[nparts++] = put_boxes(e, &like, i, end, at, count[i]);
    }
    parts[nparts] = nnv_edit_add_int(e, 0);
    struct nnv_operation *op = nnv_edit_op(e);
    op->in = nnv_arena_copy(e->arena, parts, (nparts + 1) * sizeof *parts);
    op->nin = nparts + 1;
    op->type = ANEURALNETWORKS_CONCATENATION;
    return op->in && !e->failed;
}

/* ------------------------------------------------------------------ memory used again */

bool nnv_change_in_place(struct nnv_edit *e, const struct nnv_fault *f) {
    const struct nnv_subgraph *s = &e->spec.model.main;
    const uint32_t from = nnv_edit_op(e)->in[0], to = nnv_edit_op(e)->out[0];
    const struct nnv_operand *x = &s->operands[from], *y = e->call->out[0].operand;
    bool any = false;
    (void)f;
    if (x->lifetime != NNV_TEMPORARY_VARIABLE || x->type != y->type || x->zero_point != y->zero_point ||
        fabsf(x->scale - y->scale) > 0 || !nnv_shape_known(&e->call->in[0].shape) ||
        nnv_shape_elems(&e->call->in[0].shape) != nnv_shape_elems(&e->call->out[0].shape))
        return false;
    for (uint32_t i = e->at + 1; i < s->noperations; i++)
        for (uint32_t k = 0; k < s->operations[i].nin; k++)
            if (s->operations[i].in[k] == from) {
                s->operations[i].in[k] = to;
                any = true;
            }
    return any;
}

/* ----------------------------------------------------------------------- casts */

bool nnv_change_cast_to_nearest(struct nnv_edit *e, const struct nnv_fault *f) {
    const struct nnv_operand like = {.type = nnv_edit_operand(e, 0)->type};
    const double half = 0.5;
    const uint32_t one[] = {1};
    (void)f;
    if (nnv_type(like.type)->kind != NNV_KIND_FLOAT || nnv_type(e->call->out[0].operand->type)->kind == NNV_KIND_FLOAT)
        return false;
    const uint32_t plus[] = {nnv_edit_add_constant(e, like, 1, one, &half),
                             nnv_edit_add_int(e, ANEURALNETWORKS_FUSED_NONE)};
    const struct nnv_shape s = e->call->in[0].shape;
    if (!e->failed) nnv_edit_insert(e, ANEURALNETWORKS_ADD, plus, 2, &s);
    if (!e->failed) nnv_edit_insert(e, ANEURALNETWORKS_FLOOR, NULL, 0, &s);
    return !e->failed;
}

/* ------------------------------------------------------------------ pairs left out */

/** The operation that makes operand index alone; NULL: none does. */
static const struct nnv_operation *maker(const struct nnv_edit *e, uint32_t index) {
    const struct nnv_subgraph *s = &e->spec.model.main;
    for (uint32_t i = 0; i < s->noperations; i++)
        if (s->operations[i].nout == 1 && s->operations[i].out[0] == index) return &s->operations[i];
    return NULL;
}

bool nnv_change_pair_dropped(struct nnv_edit *e, const struct nnv_fault *f) {
    const struct nnv_operation *first = maker(e, nnv_edit_op(e)->in[0]);
    const struct nnv_operand y = *e->call->out[0].operand;
    if (!first || first->type != f->code || first->nin != 1) return false;
    const struct nnv_operand x = e->spec.model.main.operands[first->in[0]];
    if (x.type != y.type) return false;
    if (nnv_is_quant(y.type)) { /* the codes, which are other numbers */
        const struct nnv_operand like = {.type = nnv_edit_operand(e, 0)->type};
        const double scale = (double)y.scale / (double)x.scale, shift = (x.zero_point - y.zero_point) * (double)y.scale;
        const uint32_t one[] = {1}, none = nnv_edit_add_int(e, ANEURALNETWORKS_FUSED_NONE);
        if (!(x.scale > 0) || (x.zero_point == y.zero_point && fabs(scale - 1) < 1e-7)) return false;
        const uint32_t times[] = {nnv_edit_add_constant(e, like, 1, one, &scale), none};
        const uint32_t plus[] = {nnv_edit_add_constant(e, like, 1, one, &shift), none};
        const struct nnv_shape s = e->call->in[0].shape;
        nnv_edit_insert(e, ANEURALNETWORKS_MUL, times, 2, &s);
        if (!e->failed) nnv_edit_insert(e, ANEURALNETWORKS_ADD, plus, 2, &s);
        return !e->failed;
    }
    const uint32_t from = first->in[0];
    if (!nnv_edit_hand_on(e, from, &e->call->in[0].shape)) return false;
    return !e->failed;
}
