/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/elementwise/binary.h"

#include <string.h>

#include "reference/ops/elementwise/fuse.h"

enum { A, B, ACT };

enum nnv_status nnv_binary_check(const struct nnv_call *c, struct nnv_err *err) {
    bool integer = c->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_INT32;
    if (integer && nnv_known(c, ACT) && nnv_int(c, ACT) != ANEURALNETWORKS_FUSED_NONE)
        return nnv_fail(err, NNV_INVALID, "activation %d: int32 tensors take none", nnv_int(c, ACT));
    return NNV_OK;
}

enum nnv_status nnv_binary_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    return nnv_shape_broadcast(&nnv_in(c, A)->shape, &nnv_in(c, B)->shape, &out[0], err);
}

/* Element steps of tensor s along the dimensions of the output; 0 where it is broadcast. */
static void steps_of(const struct nnv_shape *s, uint32_t rank, size_t step[NNV_MAX_RANK]) {
    size_t n = 1;
    for (uint32_t i = rank; i-- > 0;) {
        uint32_t extent = i + s->rank >= rank ? s->dims[i + s->rank - rank] : 1;
        step[i] = extent == 1 ? 0 : n;
        n *= extent;
    }
}

/* A walk over the elements of the output and the elements of the inputs that they stem from. */
struct walk {
    const struct nnv_shape *out;
    size_t step_a[NNV_MAX_RANK], step_b[NNV_MAX_RANK], i, j;
    uint32_t index[NNV_MAX_RANK];
};

static struct walk walk_of(const struct nnv_kernel *k, int a, int b) {
    struct walk w = {.out = nnv_out_shape(k, 0)};
    steps_of(nnv_in_shape(k, a), w.out->rank, w.step_a);
    steps_of(nnv_in_shape(k, b), w.out->rank, w.step_b);
    return w;
}

static void go_on(struct walk *w) {
    for (uint32_t d = w->out->rank; d-- > 0;) {
        w->i += w->step_a[d];
        w->j += w->step_b[d];
        if (++w->index[d] < w->out->dims[d]) return;
        w->i -= w->step_a[d] * w->out->dims[d];
        w->j -= w->step_b[d] * w->out->dims[d];
        w->index[d] = 0;
    }
}

void nnv_pair_each(struct nnv_kernel *k, int a, int b, double (*f)(struct nnv_kernel *k, const struct nnv_pair *p),
                   double *to) {
    const double *x = nnv_real(k, a), *y = nnv_real(k, b);
    struct walk w = walk_of(k, a, b);
    for (size_t e = 0, n = nnv_shape_elems(w.out); e < n; e++, go_on(&w)) {
        struct nnv_pair p = {x[w.i], y[w.j], w.i, w.j};
        to[e] = f(k, &p);
    }
}

void nnv_binary_eval(struct nnv_kernel *k, int a, int b, double (*f)(double, double)) {
    const double *x = nnv_real(k, a), *y = nnv_real(k, b);
    struct walk w = walk_of(k, a, b);
    const double unit = (double)k->call->out[0].operand->scale;
    const bool linear = k->rounding == NNV_ROUND_LINEAR;
    double scale = k->multiplier && linear ? nnv_scale(k, a, 0) * nnv_scale(k, b, 0) / unit : 0;
    for (size_t e = 0, n = nnv_shape_elems(w.out); e < n; e++, go_on(&w)) {
        k->out[0][e] = f(x[w.i], y[w.j]);
        if (k->multiplier) k->multiplier[e] = linear ? scale : (fabs(x[w.i]) + fabs(y[w.j])) / unit;
    }
}

/* ------------------------------------------------------------------ samples */

const char *const nnv_binary_variants[] = {"rank1",  "rank2", "rank3", "rank4", "wide", "one",   "row",   "column",
                                           "middle", "both",  "ranks", "batch", "relu", "relu1", "relu6", NULL};

const char *const nnv_pair_variants[] = {"rank1",  "rank2",  "rank3", "rank4", "wide",  "one",   "row",
                                         "column", "middle", "both",  "ranks", "batch", "rank5", NULL};

#define BROADCASTS                                                                                                     \
    {.name = "broadcast",                                                                                              \
     NNV_WORDS("no", "one", "row", "column", "middle", "both", "batch", "ranks", "channel", "every_other")},           \
    {                                                                                                                  \
        .name = "smaller", NNV_WORDS("b", "a")                                                                         \
    }
const struct nnv_factor nnv_binary_factors[NNV_BINARY_FACTORS] = {
    NNV_SHAPE_FACTORS, BROADCASTS, {.name = "activation", NNV_WORDS("none", "relu", "relu1", "relu6")}};
const struct nnv_factor nnv_pair_factors[NNV_PAIR_FACTORS] = {NNV_SHAPE_ANY_FACTORS, BROADCASTS};

/* True if the inputs are broadcast in the way that the row or the variant names. */
static bool is_broadcast(const struct nnv_sample *s, const char *word) {
    if (!s->row) return nnv_sample_is(s, word);
    if (nnv_sample_value(s, NNV_SHAPE_OUTER) == NNV_OUTER_MANY) return strcmp(word, "row") == 0; /* rows stay apart */
    return strcmp(nnv_pair_factors[NNV_BINARY_BROADCAST].words[nnv_sample_value(s, NNV_BINARY_BROADCAST)], word) == 0;
}

/* Extents a and b of equal rank; the dimensions to be broadcast become 1: of b, or of either. */
static void broadcast(struct nnv_sample *s, uint32_t rank, uint32_t *a, uint32_t *b) {
    if (is_broadcast(s, "one"))
        for (uint32_t d = 0; d < rank; d++) b[d] = 1;
    if (is_broadcast(s, "row"))
        for (uint32_t d = 0; d + 1 < rank; d++) b[d] = 1;
    if (is_broadcast(s, "column")) b[rank - 1] = 1;
    if (is_broadcast(s, "middle"))
        for (uint32_t d = 1; d + 1 < rank; d++) b[d] = 1;
    if (is_broadcast(s, "batch")) b[0] = 1;
    if (is_broadcast(s, "channel")) /* one for each channel that comes behind the batch */
        for (uint32_t d = 0; d < rank; d++) b[d] = d == 1 ? b[d] : 1;
    if (is_broadcast(s, "every_other"))
        for (uint32_t d = (uint32_t)s->index % 2; d < rank; d += 2) b[d] = 1;
    if (is_broadcast(s, "both"))
        for (uint32_t d = 0; d < rank; d++) (d % 2 == (uint32_t)s->index % 2 ? a : b)[d] = 1;
}

/* The range of the inputs: that of the activation, so that some results lie inside it. */
static void set_range(struct nnv_sample_arg *x, int act) {
    if (act == ANEURALNETWORKS_FUSED_RELU1) x->lo = -1.25, x->hi = 1.25;
    if (act == ANEURALNETWORKS_FUSED_RELU6) x->lo = -3, x->hi = 5;
}

/* The rank that the variant asks for. */
static uint32_t rank_of(struct nnv_sample *s) {
    if (s->variant < 4) return (uint32_t)s->variant + 1;
    if (nnv_sample_is(s, "rank5")) return 5;
    if (nnv_sample_is(s, "wide") || nnv_fuse_drawn(s)) return (uint32_t)nnv_sample_int(s, 1, 4);
    return nnv_sample_is(s, "middle") || nnv_sample_is(s, "ranks") ? 4 : 2 + (uint32_t)s->index % 3;
}

void nnv_binary_sample(struct nnv_sample *s) {
    uint32_t a[NNV_MAX_RANK], b[NNV_MAX_RANK], rank;
    int act = s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_INT32 ? ANEURALNETWORKS_FUSED_NONE : nnv_fuse_drawn(s);
    bool swap = s->row ? nnv_sample_value(s, NNV_BINARY_SMALLER) : s->index % 2;
    if (s->row) {
        rank = nnv_sample_shape(s, a);
    } else {
        rank = rank_of(s);
        nnv_sample_dims(s, rank, nnv_sample_is(s, "wide") ? 3000 : 500, a);
    }
    if (s->empty) a[nnv_sample_int(s, 0, (int)rank - 1)] = 0;
    for (uint32_t d = 0; d < rank; d++) b[d] = a[d];
    broadcast(s, rank, a, b);
    uint32_t drop =
        is_broadcast(s, "ranks") ? 1 + (uint32_t)s->index / 2 % 3 : 0; /* leading dimensions that one lacks */
    if (drop >= rank) drop = rank - 1;
    set_range(nnv_sample_tensor(s, swap ? B : A, rank, a), act);
    set_range(nnv_sample_tensor(s, swap ? A : B, rank - drop, b + drop), act);
    nnv_sample_scalar(s, ACT, act);
}
