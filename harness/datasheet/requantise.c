/* SPDX-License-Identifier: Apache-2.0 */
/** @file requantise.c How a sum of products becomes a code: which of the known schemes gives what the driver gives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/datasheet/numeric.h"
#include "reference/model/builder.h"
#include "reference/model/op.h"

enum { UNITS = 600, CODES = 100, MULTIPLIERS = 5, TERMS = 256, MOST_CODE = 127 };

/* ------------------------------------------------------------------ accumulators */

/**
 * Accumulators that an operation is made to requantise: its bias, where it has one, else made of factors, codes without
 * their zero point: one product each, or TERMS of them.
 */
struct sums {
    struct nnv_products what;
    int32_t zero; /**< zero point */
    size_t depth; /**< products in a sum; 0: the bias is the sum */
    int32_t accumulator[UNITS];
    double *x, *w, *bias;
};

static size_t depth_of(int32_t op) {
    return op == ANEURALNETWORKS_BATCH_MATMUL ? TERMS : op == ANEURALNETWORKS_MUL || op == ANEURALNETWORKS_PRELU;
}

/** Two factors of a. PRELU multiplies by the second where the first is negative. False: it has none that are codes. */
static bool split(int32_t op, int32_t a, double *x, double *w) {
    const bool prelu = op == ANEURALNETWORKS_PRELU;
    if (prelu && a >= 0 && a <= MOST_CODE) return *x = a, *w = 1, true;
    for (int32_t d = 1; d <= MOST_CODE; d++) {
        if (a % d != 0 || abs(a / d) > MOST_CODE) continue;
        *x = prelu ? -d : d;
        *w = a / *x;
        return true;
    }
    return false;
}

/** Codes whose products with MOST_CODE, the last with 1, sum up to a. */
static bool spread(int32_t a, double *x) {
    for (size_t i = 0; i < TERMS; i++) {
        const int32_t weight = i + 1 < TERMS ? MOST_CODE : 1, v = a / weight;
        x[i] = v > MOST_CODE ? MOST_CODE : v < -MOST_CODE ? -MOST_CODE : v;
        a -= (int32_t)x[i] * weight;
    }
    return a == 0;
}

/** Makes accumulator i; one that cannot be made is 0. */
static void make(struct sums *s, size_t i, int32_t a) {
    double *x = &s->x[i * (s->depth > 1 ? s->depth : 1)];
    s->accumulator[i] = a;
    s->bias[i] = a;
    if (s->depth == 0 || (s->depth == 1 && split(s->what.op, a, x, &s->w[i])) || (s->depth > 1 && spread(a, x))) return;
    make(s, i, 0);
}

/** Accumulators around the middles between codes, where schemes differ. */
static bool design(const struct nnv_numeric_engine *e, struct nnv_products what, float multiplier, struct sums *s) {
    const size_t depth = depth_of(what.op);
    *s = (struct sums){.what = what, .depth = depth};
    s->zero = what.type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ? 0 : 128;
    s->x = NNV_NEW(e->arena, double, UNITS *(depth > 1 ? depth : 1));
    s->w = NNV_NEW(e->arena, double, UNITS);
    s->bias = NNV_NEW(e->arena, double, UNITS);
    if (!s->x || !s->w || !s->bias) return false;
    for (int i = 0; i < UNITS; i++) {
        const double middle = i / 3 % (2 * CODES) - CODES + 0.5;
        make(s, (size_t)i, (int32_t)(floor(middle / (double)multiplier) + i % 3));
    }
    return true;
}

/* ---------------------------------------------------------------------- operations */

/** A model in the making, of weights 0 but where there is no bias. */
struct making {
    struct nnv_builder b;
    const struct sums *s;
    struct nnv_encoding x, w, y;
};

static uint32_t tensor(struct making *m, struct nnv_encoding e, uint32_t rank, const uint32_t *dims, bool output) {
    return nnv_builder_tensor(&m->b, e, rank, dims, output ? NNV_SUBGRAPH_OUTPUT : NNV_SUBGRAPH_INPUT);
}

static uint32_t codes(struct making *m, struct nnv_encoding e, uint32_t rank, const uint32_t *dims, const double *v,
                      size_t n) {
    double *stored = NNV_NEW(m->b.arena, double, n);
    for (size_t i = 0; stored && i < n; i++) stored[i] = v[i] + e.zero_point;
    return stored ? nnv_builder_numbers(&m->b, e, rank, dims, stored) : (m->b.failed = true, 0);
}

/** Weights of 0, of one scale or one a channel. */
static uint32_t weights(struct making *m, uint32_t rank, const uint32_t *dims, uint32_t channel) {
    const uint32_t i = nnv_builder_filled(&m->b, m->w, rank, dims, m->w.zero_point);
    if (!m->s->what.per_channel || !nnv_builder_ok(&m->b)) return i;
    float *scales = NNV_NEW(m->b.arena, float, dims[channel]);
    for (uint32_t c = 0; scales && c < dims[channel]; c++) scales[c] = 1;
    m->b.failed = !scales;
    m->b.operand[i].channel = (struct nnv_channel_quant){channel, dims[channel], scales};
    return i;
}

/** The convolution that the operation is: its inputs behind the bias. */
static uint32_t convolve(struct making *m, uint32_t *in) {
    const uint32_t n = UNITS, depthwise = m->s->what.op == ANEURALNETWORKS_DEPTHWISE_CONV_2D,
                   groups = m->s->what.op == ANEURALNETWORKS_GROUPED_CONV_2D ? 2 : 1;
    const uint32_t image[] = {1, 1, 1, depthwise ? n : groups}, filter[] = {depthwise ? 1 : n, 1, 1, depthwise ? n : 1},
                   result[] = {1, 1, 1, n};
    uint32_t args[12], count = 0;
    const struct nnv_encoding bias = {ANEURALNETWORKS_TENSOR_INT32, m->s->what.per_channel ? 0 : m->x.scale, 0};
    args[count++] = *in = tensor(m, m->x, 4, image, false);
    args[count++] = weights(m, 4, filter, depthwise ? 3 : 0);
    args[count++] = nnv_builder_numbers(&m->b, bias, 1, &n, m->s->bias);
    if (m->s->what.op == ANEURALNETWORKS_TRANSPOSE_CONV_2D)
        args[count++] = nnv_builder_ints(&m->b, 4, (const int32_t[]){1, 1, 1, UNITS});
    args[count++] = nnv_builder_int(&m->b, ANEURALNETWORKS_PADDING_VALID);
    args[count++] = nnv_builder_int(&m->b, 1);
    args[count++] = nnv_builder_int(&m->b, 1);
    if (depthwise || groups > 1) args[count++] = nnv_builder_int(&m->b, (int32_t)groups);
    args[count++] = nnv_builder_int(&m->b, ANEURALNETWORKS_FUSED_NONE);
    if (groups > 1 || m->s->what.op == ANEURALNETWORKS_TRANSPOSE_CONV_2D)
        args[count++] = nnv_builder_bool(&m->b, false);
    const uint32_t y = tensor(m, m->y, 4, result, true);
    nnv_builder_add(&m->b, m->s->what.op, count, args, y);
    return y;
}

static uint32_t connect(struct making *m, uint32_t *in) {
    const uint32_t n = UNITS, one[] = {1, 1}, row[] = {1, n}, column[] = {n, 1};
    *in = tensor(m, m->x, 2, one, false);
    const uint32_t args[] = {*in, weights(m, 2, column, 0),
                             nnv_builder_numbers(&m->b,
                                                 (struct nnv_encoding){ANEURALNETWORKS_TENSOR_INT32, m->x.scale, 0}, 1,
                                                 &n, m->s->bias),
                             nnv_builder_int(&m->b, ANEURALNETWORKS_FUSED_NONE)};
    const uint32_t y = tensor(m, m->y, 2, row, true);
    nnv_builder_add(&m->b, m->s->what.op, 4, args, y);
    return y;
}

static uint32_t multiply(struct making *m, uint32_t *in) {
    const uint32_t cube[] = {1, UNITS, TERMS}, column[] = {1, TERMS, 1}, sums[] = {1, UNITS, 1};
    double w[TERMS];
    for (size_t i = 0; i < TERMS; i++) w[i] = i + 1 < TERMS ? MOST_CODE : 1;
    *in = tensor(m, m->x, 3, cube, false);
    const uint32_t args[] = {*in, codes(m, m->w, 3, column, w, TERMS), nnv_builder_bool(&m->b, false),
                             nnv_builder_bool(&m->b, false)};
    const uint32_t y = tensor(m, m->y, 3, sums, true);
    nnv_builder_add(&m->b, m->s->what.op, 4, args, y);
    return y;
}

/** MUL and PRELU: an element each. */
static uint32_t pair(struct making *m, uint32_t *in) {
    const uint32_t row[] = {1, UNITS};
    *in = tensor(m, m->x, 2, row, false);
    const uint32_t w = codes(m, m->w, 2, row, m->s->w, UNITS), y = tensor(m, m->y, 2, row, true);
    const uint32_t args[] = {*in, w, nnv_builder_int(&m->b, ANEURALNETWORKS_FUSED_NONE)};
    nnv_builder_add(&m->b, m->s->what.op, m->s->what.op == ANEURALNETWORKS_MUL ? 3 : 2, args, y);
    return y;
}

static bool requantise(const struct nnv_numeric_engine *e, const struct sums *s, float multiplier, double *out) {
    const struct nnv_products what = s->what;
    struct making m = {.b = {.arena = e->arena},
                       .s = s,
                       .x = {what.type, multiplier, s->zero},
                       .w = {what.type, 1, s->zero},
                       .y = {what.type, 1, s->zero}};
    uint32_t in, y;
    if (what.per_channel) m.w = (struct nnv_encoding){.type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL};
    switch (what.op) {
    case ANEURALNETWORKS_FULLY_CONNECTED:
        y = connect(&m, &in);
        break;
    case ANEURALNETWORKS_BATCH_MATMUL:
        y = multiply(&m, &in);
        break;
    case ANEURALNETWORKS_MUL:
    case ANEURALNETWORKS_PRELU:
        y = pair(&m, &in);
        break;
    default:
        y = convolve(&m, &in);
        break;
    }
    size_t n, bytes;
    if (!nnv_builder_ok(&m.b) || !nnv_operand_size(&m.b.operand[in], &n, &bytes)) return false;
    double *x = NNV_NEW(e->arena, double, n);
    for (size_t i = 0; x && i < n; i++) x[i] = (s->depth ? s->x[i] : 0) + s->zero;
    if (!x || !nnv_numeric_run(e, &m.b, 1, &in, (const double *const[]){x}, y, out)) return false;
    for (size_t i = 0; i < UNITS; i++) out[i] -= s->zero;
    return true;
}

/* -------------------------------------------------------------------- recognition */

/* The least of them makes sums of more than 24 bits, beside which float32 is not exact. */
static const float multipliers[MULTIPLIERS] = {0.5f, 0.45f, 0.0123f, 0.00037f, 0x1.7p-20f};

/** What the schemes make of what the driver answered. */
struct recognition {
    size_t seen, differ[NNV_SCHEME_COUNT];
    size_t neither[NNV_SCHEME_COUNT][NNV_SCHEME_COUNT]; /* codes that are not those of either */
    double worst;                                       /* units off the real number */
};

static void compare(struct recognition *r, float multiplier, const struct sums *s, const double *got) {
    for (int i = 0; i < UNITS; i++) {
        bool wrong[NNV_SCHEME_COUNT];
        const double a = s->accumulator[i], m = (double)multiplier;
        r->seen++;
        r->worst = fmax(r->worst, fabs(got[i] - a * m));
        for (int k = 1; k < NNV_SCHEME_COUNT; k++) {
            wrong[k] = nnv_scheme_code((enum nnv_scheme)k, a, m, s->zero) != got[i];
            r->differ[k] += wrong[k];
            for (int j = 1; j < k; j++) r->neither[j][k] += wrong[j] && wrong[k];
        }
    }
}

/** Says which two schemes explain what no single one does. A weak one beside another would explain too much. */
static bool tell_mixture(const struct recognition *r, char *is, size_t room) {
    for (int k = 1; k < NNV_SCHEME_COUNT; k++)
        for (int j = 1; j < k; j++)
            if (r->neither[j][k] == 0 && !nnv_scheme_is_weak((enum nnv_scheme)j) &&
                !nnv_scheme_is_weak((enum nnv_scheme)k)) {
                snprintf(is, room, "a mixture: %s; %s", nnv_scheme_is((enum nnv_scheme)j),
                         nnv_scheme_is((enum nnv_scheme)k));
                return true;
            }
    return false;
}

static void tell(const struct nnv_numeric_engine *e, struct nnv_products what, const struct recognition *r) {
    struct nnv_numeric *out = e->out;
    struct nnv_numeric_products seen = {.what = what, .fact = out->count};
    int best = 1;
    char about[64], evidence[200], is[96];
    for (int k = 1; k < NNV_SCHEME_COUNT; k++) {
        if (r->differ[k] < r->differ[best]) best = k;
        if (r->differ[k] == 0) seen.schemes |= UINT32_C(1) << k;
    }
    snprintf(about, sizeof about, "%s %s%s", nnv_op(what.op)->name, nnv_type(what.type)->tag,
             what.per_channel ? " per channel" : "");
    snprintf(evidence, sizeof evidence, "%zu of %zu codes differ, %.4g units off at most", r->differ[best], r->seen,
             r->worst);
    if (seen.schemes)
        snprintf(is, sizeof is, "%s", nnv_scheme_is((enum nnv_scheme)best));
    else if (!tell_mixture(r, is, sizeof is))
        snprintf(is, sizeof is, "not recognised; nearest: %s", nnv_scheme_is((enum nnv_scheme)best));
    nnv_numeric_say(e, about, "requantisation", is, evidence);
    if (seen.fact < out->count && out->products < NNV_NUMERIC_PRODUCTS) out->product[out->products++] = seen;
    if (!seen.schemes && r->worst > 0.5 + 1e-4) {
        const double beyond = fmin(ceil((r->worst - 0.5) * 100) / 100, 3.5);
        out->arithmetic.requantise = fmax(out->arithmetic.requantise, beyond);
    }
}

void nnv_measure_requantise(const struct nnv_numeric_engine *e, struct nnv_products what) {
    struct recognition r = {0};
    struct sums s;
    double got[UNITS];
    for (int m = 0; m < MULTIPLIERS; m++)
        if (design(e, what, multipliers[m], &s) && requantise(e, &s, multipliers[m], got))
            compare(&r, multipliers[m], &s, got);
    if (r.seen > 0) tell(e, what, &r);
}

/* ----------------------------------------------------------- all operations together */

/** The scheme that explains most of the operations that none explains yet. */
static int most_common(const struct nnv_numeric *n, uint32_t left) {
    int best = 0;
    uint32_t most = 0;
    for (int k = 1; k < NNV_SCHEME_COUNT; k++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < n->products; i++) count += left >> i & 1 && n->product[i].schemes >> k & 1;
        if (count > most) most = count, best = k;
    }
    return best;
}

/** Operations of those that are left which scheme k explains: they are told so, and appended to names. */
static uint32_t settle(struct nnv_numeric *n, uint32_t left, int k, struct nnv_text *names) {
    uint32_t settled = 0;
    for (uint32_t i = 0; i < n->products; i++) {
        struct nnv_numeric_products *p = &n->product[i];
        struct nnv_numeric_fact *f = &n->fact[p->fact];
        if (!(left >> i & 1 && p->schemes >> k & 1)) continue;
        snprintf(f->is, sizeof f->is, "%s", nnv_scheme_is((enum nnv_scheme)k));
        nnv_text_addf(names, "%s%s", settled ? ", " : "", f->about);
        p->scheme = (enum nnv_scheme)k;
        settled |= UINT32_C(1) << i;
    }
    return settled;
}

/** Promises the scheme of each operation and type, of which weights of one scale and of one a channel agree. */
static void promise(struct nnv_numeric *n) {
    bool one = true;
    for (uint32_t i = 0; i < n->products; i++) {
        const struct nnv_numeric_products *p = &n->product[i];
        bool agree = p->scheme != NNV_SCHEME_ANY;
        for (uint32_t j = 0; j < n->products; j++) {
            const struct nnv_numeric_products *q = &n->product[j];
            agree = agree && (q->what.op != p->what.op || q->what.type != p->what.type || q->scheme == p->scheme);
        }
        one = one && p->scheme != NNV_SCHEME_ANY && p->scheme == n->product[0].scheme;
        if (agree) nnv_arithmetic_use(&n->arithmetic, p->what.op, p->what.type, p->scheme);
    }
    if (!one || n->partial) return;
    n->arithmetic.uses = 0;
    n->arithmetic.scheme = n->product[0].scheme;
}

void nnv_settle_requantise(struct nnv_numeric *n) {
    uint32_t left = (uint32_t)((UINT64_C(1) << n->products) - 1), schemes = 0;
    char is[96];
    struct nnv_text who = {0};
    n->arithmetic.uses = 0;
    n->arithmetic.scheme = NNV_SCHEME_ANY;
    if (n->products == 0) return;
    for (int k; (k = most_common(n, left)) != 0; schemes++) {
        nnv_text_addf(&who, "%s%s: ", schemes ? "; " : "", nnv_scheme_is((enum nnv_scheme)k));
        left &= ~settle(n, left, k, &who);
    }
    if (schemes == 1 && left == 0) {
        nnv_text_clear(&who);
        nnv_text_addf(&who, "all %u operations and types", n->products);
        snprintf(is, sizeof is, "%s", nnv_scheme_is(n->product[0].scheme));
    } else {
        snprintf(is, sizeof is, "%u schemes, and %d not recognised", schemes, __builtin_popcount(left));
    }
    if (!n->partial)
        nnv_numeric_say(&(struct nnv_numeric_engine){.out = n}, "all operations", "requantisation", is,
                        who.data ? who.data : "");
    nnv_text_free(&who);
    promise(n);
}
