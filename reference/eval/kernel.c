/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/eval/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/matmul.h"
#include "reference/eval/rows.h"

/* ------------------------------------------------------------ inputs of a row */

size_t nnv_row_space(const struct nnv_row_input *in) {
    if (nnv_is_quant(in->operand->type)) return 2 * in->elems;
    return in->stored ? 0 : in->elems;
}

/* The stored numbers of this row, loaded into the input's room if all rows are equal. */
static const double *stored_numbers(struct nnv_kernel *k, struct nnv_row_input *in) {
    if (in->stored) return in->stored + (size_t)k->row * in->elems;
    nnv_load(in->operand->type, in->data, in->elems, in->space);
    return in->space;
}

static const double *units_at(struct nnv_kernel *k, uint32_t pos) {
    struct nnv_row_input *in = &k->rows[pos];
    if (!k->call->in[pos].present) return NULL;
    if (in->units) return in->units;
    const double *q = stored_numbers(k, in);
    if (nnv_is_quant(in->operand->type)) {
        for (size_t e = 0; e < in->elems; e++) in->space[e] = q[e] - in->operand->zero_point;
        q = in->space;
    }
    return in->units = q;
}

/* Elements in a row of equal channel: the product of the extents behind the channel's dimension. */
static size_t channel_stride(const struct nnv_shape *s, uint32_t dim) {
    size_t n = 1;
    for (uint32_t i = dim + 1; i < s->rank; i++) n *= s->dims[i];
    return n;
}

const double *nnv_real_at(struct nnv_kernel *k, uint32_t pos) {
    struct nnv_row_input *in = &k->rows[pos];
    const double *units = units_at(k, pos);
    if (!units || in->real) return in->real;
    if (!nnv_is_quant(in->operand->type)) return in->real = units;
    double *real = in->space + in->elems;
    const struct nnv_channel_quant *ch = &in->operand->channel;
    if (ch->count) {
        size_t stride = channel_stride(&k->call->in[pos].shape, ch->dim);
        for (size_t e = 0; e < in->elems; e++) real[e] = units[e] * (double)ch->scales[e / stride % ch->count];
    } else {
        double scale = (double)in->operand->scale;
        for (size_t e = 0; e < in->elems; e++) real[e] = units[e] * scale;
    }
    return in->real = real;
}

const double *nnv_real(struct nnv_kernel *k, int id) {
    int pos = k->call->pos[id];
    return pos < 0 ? NULL : nnv_real_at(k, (uint32_t)pos);
}

const double *nnv_units(struct nnv_kernel *k, int id) {
    int pos = k->call->pos[id];
    return pos < 0 ? NULL : units_at(k, (uint32_t)pos);
}

double nnv_scale(const struct nnv_kernel *k, int id, uint32_t c) {
    const struct nnv_arg *a = nnv_in(k->call, id);
    if (!a || !nnv_is_quant(a->operand->type)) return 1;
    const struct nnv_channel_quant *ch = &a->operand->channel;
    return (double)(ch->count ? ch->scales[c] : a->operand->scale);
}

size_t nnv_elems(const struct nnv_kernel *k, int id) {
    const struct nnv_arg *a = nnv_in(k->call, id);
    return a ? k->rows[k->call->pos[id]].elems : 0;
}

const struct nnv_shape *nnv_in_shape(const struct nnv_kernel *k, int id) {
    return &k->call->in[k->call->pos[id]].shape;
}

const struct nnv_shape *nnv_out_shape(const struct nnv_kernel *k, uint32_t i) { return &k->call->out[i].shape; }

double nnv_spread_of(const struct nnv_kernel *k, int id, size_t e) {
    const struct nnv_row_input *in = &k->rows[k->call->pos[id]];
    if (!in->stored) return 0;
    double most = 0;
    for (int r = 1; r <= k->noise->rows; r++) {
        double d = fabs(in->stored[(size_t)r * in->elems + e] - in->stored[e]);
        if (!(d <= most)) most = d;
        if (isnan(most)) break;
    }
    uint32_t c = 0;
    const struct nnv_channel_quant *ch = &in->operand->channel;
    if (ch->count) c = (uint32_t)(e / channel_stride(nnv_in_shape(k, id), ch->dim) % ch->count);
    return most * nnv_scale(k, id, c);
}

double nnv_reach(struct nnv_kernel *k, int id, size_t e) {
    double x = fabs(nnv_real(k, id)[e]), d = nnv_spread(k, id, e);
    if (isnan(x) || isnan(d)) return (double)NAN;
    if (d > 0) return 2 * d + 2 * k->u_i * x + k->eta;
    return x < k->eta ? x : 0;
}

/* ------------------------------------------------------------------- hooks */

enum { HOOK_STREAM = 0, BRANCH_STREAM = 128 };
/* Keys of the decisions of alternatives, apart from those of eval.c and store.c. */
static const uint64_t ALTERNATIVE_STREAM = UINT64_C(3) << 40;

struct nnv_rng nnv_noise_stream(const struct nnv_noise *n, int row) {
    return nnv_rng_make(n->seed, n->op, HOOK_STREAM + (uint64_t)row);
}

void nnv_noise_begin(struct nnv_noise *n, int row) {
    n->signs = (struct nnv_signs){.rng = nnv_noise_stream(n, row)};
    n->others = (struct nnv_signs){.rng = nnv_noise_stream(n, row + 1)};
    n->at = 0;
}

uint64_t nnv_branch_pattern(struct nnv_rng *rng, int rows) {
    int others = rows - 2;
    if (others <= 0) return 1;
    uint64_t mask = others >= 62 ? UINT64_MAX >> 2 : (UINT64_C(1) << others) - 1, up;
    int ones;
    do {
        up = nnv_rng_u64(rng) & mask;
        ones = __builtin_popcountll(up);
    } while (ones != others / 2);
    return up << 2 | 1;
}

bool nnv_noise_active(const struct nnv_noise *n) {
    bool active = n->hazard;
    for (size_t i = 0; i < n->count && !active; i++) active = !(n->tape[i].magnitude <= 0);
    return active;
}

bool nnv_noise_grow(struct nnv_noise *n) {
    const size_t room = n->room ? n->room * 2 : 4096;
    struct nnv_hook *tape = realloc(n->tape, room * sizeof *tape);
    n->no_memory = n->no_memory || !tape;
    if (!tape) return false;
    n->tape = tape;
    n->room = room;
    return true;
}

static void weigh(struct nnv_terms *t, size_t slot) { t->weight += t->seen[slot].number * t->seen[slot].number; }

void nnv_terms_add(struct nnv_terms *t, double v) {
    uint64_t bits;
    if (v == 0 || isnan(v)) return;
    memcpy(&bits, &v, sizeof bits);
    const size_t slot = (size_t)(bits * UINT64_C(0x9e3779b97f4a7c15) >> 60);
    if (t->seen[slot].value != v) {
        weigh(t, slot);
        t->seen[slot].value = v;
        t->seen[slot].number = 0;
    }
    t->seen[slot].number++;
}

double nnv_terms_end(struct nnv_terms *t, double n) {
    for (size_t i = 0; i < sizeof t->seen / sizeof *t->seen; i++) weigh(t, i);
    return fmax(t->weight, n);
}

double nnv_sum_noise(const struct nnv_kernel *k, double n, double sum_abs) {
    if (k->u_a <= 0x1p-24) return k->u_a * sqrt(n) * sum_abs;
    if (sum_abs > 65504) return (double)INFINITY;
    return fmin(k->u_a * fmax(sqrt(n), n / 4), 0.5) * sum_abs;
}

bool nnv_noise_branch(struct nnv_kernel *k, double score, double half_width) {
    struct nnv_noise *n = k->noise;
    if (!n) return score > 0;
    if (k->row == 0) {
        bool near = !(half_width <= 0) && !(fabs(score) > half_width);
        nnv_noise_write(n, near, near);
        return score > 0;
    }
    size_t number = n->at;
    if (nnv_noise_read(n)->value == 0) return score > 0;
    struct nnv_rng rng = nnv_rng_make(n->seed, n->op, BRANCH_STREAM + (uint64_t)number);
    return nnv_branch_pattern(&rng, n->rows) >> (k->row - 1) & 1;
}

bool nnv_decide_same(struct nnv_kernel *k, double score, double half_width, uint64_t key) {
    struct nnv_noise *n = k->noise;
    bool open = n && !(half_width <= 0) && !(fabs(score) > half_width);
    if (!open) return score > 0;
    n->open = true;
    if (n->alternative == 0) return score > 0;
    struct nnv_rng rng = nnv_rng_make(n->alternative ^ key, n->op, ALTERNATIVE_STREAM);
    return nnv_rng_int(&rng, 0, 1) != 0;
}

bool nnv_decide(struct nnv_kernel *k, double score, double half_width) {
    uint64_t key = k->noise ? ++k->noise->decisions << 32 : 0;
    return nnv_decide_same(k, score, half_width, key);
}

double nnv_recall(struct nnv_kernel *k, double v) {
    if (!k->noise) return v;
    if (k->row > 0) return nnv_noise_read(k->noise)->value;
    nnv_noise_write(k->noise, v, 0);
    return v;
}

double nnv_noise_hazard(struct nnv_kernel *k, double v) {
    if (k->row > 0) return isnan(v) ? (double)INFINITY : (double)NAN; /* rows that agree would be compared */
    k->noise->hazard = true;
    return v;
}

/* ------------------------------------------------------------- shared parts */

struct nnv_image_layout nnv_image_of(const struct nnv_shape *s, bool nchw) {
    struct nnv_image_layout m = {.n = s->dims[0]};
    m.c = s->dims[nchw ? 1 : 3];
    m.h = s->dims[nchw ? 2 : 1];
    m.w = s->dims[nchw ? 3 : 2];
    m.sc = nchw ? (size_t)m.h * m.w : 1;
    m.sw = nchw ? 1 : m.c;
    m.sh = m.sw * m.w;
    m.sn = (size_t)m.h * m.w * m.c;
    return m;
}

void nnv_matmul(size_t m, size_t n, size_t k, const double *a, const double *b, double *c) {
    const size_t small = (size_t)1 << 21; /* products; almost all generated cases are below it */
    if (m == 0 || n == 0) return;
    if (k > 0 && m * n > small / k) {
        nnv_dgemm(true, m, n, k, a, b, c);
        return;
    }
    nnv_matmul_in_order(m, n, k, a, b, c);
}
