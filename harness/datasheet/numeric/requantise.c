/* SPDX-License-Identifier: Apache-2.0 */
/** @file requantise.c How a sum of products becomes a code: which of the known schemes gives what the driver gives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/datasheet/numeric/numeric.h"
#include "reference/model/builder.h"
#include "reference/model/op.h"

enum { UNITS = 600, CODES = 100, MULTIPLIERS = 5, TERMS = 256, MOST_CODE = 127, LARGEST = MOST_CODE * MOST_CODE };

/* ------------------------------------------------------------------ accumulators */

/**
 * Accumulators that an operation is made to requantise: its bias, where it has one, else made of factors, codes without
 * their zero point: one product each, or TERMS of them.
 */
struct sums {
    struct nnv_products what;
    int32_t zero, out_zero; /**< zero points: of inputs and weights, and of the output */
    size_t depth;           /**< products in a sum; 0: one of the largest codes, and the bias */
    int32_t accumulator[UNITS];
    double noise[UNITS]; /**< how far a float32 sum of dequantised products may be off */
    double *x, *w, *bias;
};

static bool has_activation(int32_t op) { return op != ANEURALNETWORKS_BATCH_MATMUL && op != ANEURALNETWORKS_PRELU; }

/** Weights with scales for channels are constants. */
static bool has_use(struct nnv_products what) {
    switch (what.use) {
    case NNV_PRODUCTS_RELU:
        return has_activation(what.op);
    case NNV_PRODUCTS_INPUTS:
        return !what.per_channel;
    case NNV_PRODUCTS_PLAIN:
    case NNV_PRODUCTS_USES:
        break;
    }
    return true;
}

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

/** Of n terms, whose absolute values add up to sum: roundings to float32 of factors, products, and sums. */
static double noise_of(double n, double sum) { return (4 + 2 * sqrt(n)) * 0x1p-24 * sum; }

/** Makes accumulator i; one that cannot be made is 0. */
static void make(struct sums *s, size_t i, int32_t a) {
    double *x = &s->x[i * (s->depth > 1 ? s->depth : 1)];
    s->accumulator[i] = a;
    s->bias[i] = a - LARGEST;
    if (s->depth == 0) {
        s->noise[i] = noise_of(2, LARGEST + fabs(s->bias[i]));
        return;
    }
    if (!(s->depth == 1 ? split(s->what.op, a, x, &s->w[i]) : spread(a, x))) {
        make(s, i, 0);
        return;
    }
    double sum = s->depth == 1 ? fabs((double)a) : 0;
    for (size_t k = 0; s->depth > 1 && k < TERMS; k++) sum += fabs(x[k]) * MOST_CODE;
    s->noise[i] = noise_of((double)s->depth, sum);
}

/** Accumulators around the middles between codes, where schemes differ; positive ones before RELU. */
static bool design(const struct nnv_numeric_engine *e, struct nnv_products what, float multiplier, struct sums *s) {
    const size_t depth = depth_of(what.op);
    *s = (struct sums){.what = what, .depth = depth};
    const bool is_signed = what.type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    s->zero = is_signed ? 0 : 128;
    s->out_zero = is_signed ? MOST_CODE - CODES - 2 : 128; /* not 0, which no scheme could round with */
    s->x = NNV_NEW(e->arena, double, UNITS *(depth > 1 ? depth : 1));
    s->w = NNV_NEW(e->arena, double, UNITS);
    s->bias = NNV_NEW(e->arena, double, UNITS);
    if (!s->x || !s->w || !s->bias) return false;
    for (int i = 0; i < UNITS; i++) {
        const double middle = i / 3 % (2 * CODES) - CODES + 0.5,
                     here = what.use == NNV_PRODUCTS_RELU ? fabs(middle) : middle;
        make(s, (size_t)i, (int32_t)(floor(here / (double)multiplier) + i % 3));
    }
    return true;
}

/* ---------------------------------------------------------------------- operations */

/** A model in the making, of the largest weights where there is a bias. */
struct making {
    struct nnv_builder b;
    const struct sums *s;
    struct nnv_encoding x, w, y;
    uint32_t in[2], nin;
    const double *second; /**< stored numbers of the second input */
};

static uint32_t tensor(struct making *m, struct nnv_encoding e, uint32_t rank, const uint32_t *dims, bool output) {
    return nnv_builder_tensor(&m->b, e, rank, dims, output ? NNV_SUBGRAPH_OUTPUT : NNV_SUBGRAPH_INPUT);
}

static uint32_t input(struct making *m, struct nnv_encoding e, uint32_t rank, const uint32_t *dims) {
    return m->in[m->nin++] = tensor(m, e, rank, dims, false);
}

/** Weights or factors, codes without their zero point; v NULL: all the largest. They are a constant or the second
 * input. */
static uint32_t codes(struct making *m, uint32_t rank, const uint32_t *dims, const double *v) {
    size_t n = 1;
    for (uint32_t d = 0; d < rank; d++) n *= dims[d];
    double *stored = NNV_NEW(m->b.arena, double, n);
    for (size_t i = 0; stored && i < n; i++) stored[i] = (v ? v[i] : MOST_CODE) + m->w.zero_point;
    if (!stored) return m->b.failed = true, 0;
    m->second = stored;
    return m->s->what.use == NNV_PRODUCTS_INPUTS ? input(m, m->w, rank, dims)
                                                 : nnv_builder_numbers(&m->b, m->w, rank, dims, stored);
}

static uint32_t activation(struct making *m) {
    return nnv_builder_int(&m->b, m->s->what.use == NNV_PRODUCTS_RELU ? ANEURALNETWORKS_FUSED_RELU
                                                                      : ANEURALNETWORKS_FUSED_NONE);
}

/** The largest weights, of one scale or one a channel. */
static uint32_t weights(struct making *m, uint32_t rank, const uint32_t *dims, uint32_t channel) {
    const uint32_t i = codes(m, rank, dims, NULL);
    if (!m->s->what.per_channel || !nnv_builder_ok(&m->b)) return i;
    float *scales = NNV_NEW(m->b.arena, float, dims[channel]);
    for (uint32_t c = 0; scales && c < dims[channel]; c++) scales[c] = 1;
    m->b.failed = !scales;
    m->b.operand[i].channel = (struct nnv_channel_quant){channel, dims[channel], scales};
    return i;
}

/** The convolution that the operation is: its inputs behind the bias. */
static uint32_t convolve(struct making *m) {
    const uint32_t n = UNITS, depthwise = m->s->what.op == ANEURALNETWORKS_DEPTHWISE_CONV_2D,
                   groups = m->s->what.op == ANEURALNETWORKS_GROUPED_CONV_2D ? 2 : 1;
    const uint32_t image[] = {1, 1, 1, depthwise ? n : groups}, filter[] = {depthwise ? 1 : n, 1, 1, depthwise ? n : 1},
                   result[] = {1, 1, 1, n};
    uint32_t args[12], count = 0;
    const struct nnv_encoding bias = {ANEURALNETWORKS_TENSOR_INT32, m->s->what.per_channel ? 0 : m->x.scale, 0};
    args[count++] = input(m, m->x, 4, image);
    args[count++] = weights(m, 4, filter, depthwise ? 3 : 0);
    args[count++] = nnv_builder_numbers(&m->b, bias, 1, &n, m->s->bias);
    if (m->s->what.op == ANEURALNETWORKS_TRANSPOSE_CONV_2D)
        args[count++] = nnv_builder_ints(&m->b, 4, (const int32_t[]){1, 1, 1, UNITS});
    args[count++] = nnv_builder_int(&m->b, ANEURALNETWORKS_PADDING_VALID);
    args[count++] = nnv_builder_int(&m->b, 1);
    args[count++] = nnv_builder_int(&m->b, 1);
    if (depthwise || groups > 1) args[count++] = nnv_builder_int(&m->b, (int32_t)groups);
    args[count++] = activation(m);
    if (groups > 1 || m->s->what.op == ANEURALNETWORKS_TRANSPOSE_CONV_2D)
        args[count++] = nnv_builder_bool(&m->b, false);
    const uint32_t y = tensor(m, m->y, 4, result, true);
    nnv_builder_add(&m->b, m->s->what.op, count, args, y);
    return y;
}

static uint32_t connect(struct making *m) {
    const uint32_t n = UNITS, one[] = {1, 1}, row[] = {1, n}, column[] = {n, 1};
    const struct nnv_encoding bias = {ANEURALNETWORKS_TENSOR_INT32, m->x.scale, 0};
    uint32_t args[4];
    args[0] = input(m, m->x, 2, one);
    args[1] = weights(m, 2, column, 0);
    args[2] = nnv_builder_numbers(&m->b, bias, 1, &n, m->s->bias);
    args[3] = activation(m);
    const uint32_t y = tensor(m, m->y, 2, row, true);
    nnv_builder_add(&m->b, m->s->what.op, 4, args, y);
    return y;
}

static uint32_t multiply(struct making *m) {
    const uint32_t cube[] = {1, UNITS, TERMS}, column[] = {1, TERMS, 1}, sums[] = {1, UNITS, 1};
    double w[TERMS];
    uint32_t args[4];
    for (size_t i = 0; i < TERMS; i++) w[i] = i + 1 < TERMS ? MOST_CODE : 1;
    args[0] = input(m, m->x, 3, cube);
    args[1] = codes(m, 3, column, w);
    args[2] = nnv_builder_bool(&m->b, false);
    args[3] = nnv_builder_bool(&m->b, false);
    const uint32_t y = tensor(m, m->y, 3, sums, true);
    nnv_builder_add(&m->b, m->s->what.op, 4, args, y);
    return y;
}

/** MUL and PRELU: an element each. */
static uint32_t pair(struct making *m) {
    const uint32_t row[] = {1, UNITS};
    uint32_t args[3];
    args[0] = input(m, m->x, 2, row);
    args[1] = codes(m, 2, row, m->s->w);
    args[2] = activation(m);
    const uint32_t y = tensor(m, m->y, 2, row, true);
    nnv_builder_add(&m->b, m->s->what.op, m->s->what.op == ANEURALNETWORKS_MUL ? 3 : 2, args, y);
    return y;
}

static bool requantise(const struct nnv_numeric_engine *e, const struct sums *s, float multiplier, double *out) {
    const struct nnv_products what = s->what;
    struct making m = {.b = {.arena = e->arena},
                       .s = s,
                       .x = {what.type, multiplier, s->zero},
                       .w = {what.type, 1, s->zero},
                       .y = {what.type, 1, s->out_zero}};
    uint32_t y;
    if (what.per_channel) m.w = (struct nnv_encoding){.type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL};
    switch (what.op) {
    case ANEURALNETWORKS_FULLY_CONNECTED:
        y = connect(&m);
        break;
    case ANEURALNETWORKS_BATCH_MATMUL:
        y = multiply(&m);
        break;
    case ANEURALNETWORKS_MUL:
    case ANEURALNETWORKS_PRELU:
        y = pair(&m);
        break;
    default:
        y = convolve(&m);
        break;
    }
    size_t n, bytes;
    if (!nnv_builder_ok(&m.b) || !nnv_operand_size(&m.b.operand[m.in[0]], &n, &bytes)) return false;
    double *x = NNV_NEW(e->arena, double, n);
    for (size_t i = 0; x && i < n; i++) x[i] = (s->depth ? s->x[i] : MOST_CODE) + s->zero;
    if (!x || !nnv_numeric_run(e, &m.b, m.nin, m.in, (const double *const[]){x, m.second}, y, out)) return false;
    for (size_t i = 0; i < UNITS; i++) out[i] -= s->out_zero;
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

/** True if the scheme may make this code of accumulator i. */
static bool gives(enum nnv_scheme k, const struct sums *s, int i, double m, double got) {
    const double a = s->accumulator[i], noise = nnv_scheme_sums_floats(k) ? s->noise[i] : 0;
    double low = nnv_scheme_code(k, a - noise, m, s->out_zero), high = nnv_scheme_code(k, a + noise, m, s->out_zero);
    if (s->what.use == NNV_PRODUCTS_RELU) low = fmax(low, 0), high = fmax(high, 0);
    return low <= got && got <= high;
}

static void compare(struct recognition *r, float multiplier, const struct sums *s, const double *got) {
    for (int i = 0; i < UNITS; i++) {
        bool wrong[NNV_SCHEME_COUNT];
        const double a = s->accumulator[i], m = (double)multiplier;
        const bool clamped = s->what.use == NNV_PRODUCTS_RELU;
        r->seen++;
        r->worst = fmax(r->worst, fabs(got[i] - (clamped ? fmax(a * m, 0) : a * m)));
        for (int k = 1; k < NNV_SCHEME_COUNT; k++) {
            wrong[k] = !gives((enum nnv_scheme)k, s, i, m, got[i]);
            r->differ[k] += wrong[k];
            for (int j = 1; j < k; j++) r->neither[j][k] += wrong[j] && wrong[k];
        }
    }
}

/* They leave most open. */
static const uint32_t float_sums = UINT32_C(1) << NNV_SCHEME_DEQUANTISED | UINT32_C(1) << NNV_SCHEME_DEQUANTISED_ZERO;

/** Bit k is set: scheme k gives all that was seen; float sums only where there is no other. */
static uint32_t schemes_of(const struct recognition *r) {
    uint32_t all = 0;
    for (int k = 1; k < NNV_SCHEME_COUNT; k++)
        if (r->differ[k] == 0) all |= UINT32_C(1) << k;
    const uint32_t others = all & ~float_sums;
    return others ? others : all;
}

/** Adds what another use has shown, if the same is to be said of both. */
static bool join(struct recognition *r, const struct recognition *more) {
    const uint32_t here = schemes_of(r), there = schemes_of(more);
    if ((here & there) == 0 && (here | there) != 0) return false;
    r->seen += more->seen;
    r->worst = fmax(r->worst, more->worst);
    for (int k = 1; k < NNV_SCHEME_COUNT; k++) {
        r->differ[k] += more->differ[k];
        for (int j = 1; j < k; j++) r->neither[j][k] += more->neither[j][k];
    }
    return true;
}

/** A weak one beside another would explain too much. */
static bool may_mix(enum nnv_scheme s) { return !nnv_scheme_sums_floats(s) && !nnv_scheme_is_weak(s); }

/** Which two schemes explain what no single one does. */
static struct nnv_schemes mixture(const struct recognition *r) {
    for (int k = 1; k < NNV_SCHEME_COUNT; k++)
        for (int j = 1; j < k; j++)
            if (r->neither[j][k] == 0 && may_mix((enum nnv_scheme)j) && may_mix((enum nnv_scheme)k))
                return (struct nnv_schemes){(enum nnv_scheme)j, (enum nnv_scheme)k};
    return (struct nnv_schemes){NNV_SCHEME_ANY, NNV_SCHEME_ANY};
}

static void tell(const struct nnv_numeric_engine *e, struct nnv_products what, const struct recognition *r) {
    static const char *const uses[NNV_PRODUCTS_USES] = {"", " with RELU", " of two inputs"};
    struct nnv_numeric *out = e->out;
    struct nnv_numeric_products seen = {.what = what, .fact = out->count, .schemes = schemes_of(r)};
    int best = 1;
    char about[64], evidence[200], is[96];
    for (int k = 1; k < NNV_SCHEME_COUNT; k++)
        if (r->differ[k] < r->differ[best]) best = k;
    while (seen.schemes && !(seen.schemes >> best & 1)) best++;
    snprintf(about, sizeof about, "%s %s%s%s", nnv_op(what.op)->name, nnv_type(what.type)->tag,
             what.per_channel ? " per channel" : "", uses[what.use]);
    snprintf(evidence, sizeof evidence, "%zu of %zu codes differ, %.4g units off at most", r->differ[best], r->seen,
             r->worst);
    if (!(seen.schemes & ~float_sums)) seen.is = mixture(r);
    if (seen.is.one != NNV_SCHEME_ANY) seen.schemes = 0; /* the tighter promise */
    if (seen.schemes)
        snprintf(is, sizeof is, "%s", nnv_scheme_is((enum nnv_scheme)best));
    else if (seen.is.one != NNV_SCHEME_ANY)
        snprintf(is, sizeof is, "a mixture: %s; %s", nnv_scheme_is(seen.is.one), nnv_scheme_is(seen.is.other));
    else
        snprintf(is, sizeof is, "not recognised; nearest: %s", nnv_scheme_is((enum nnv_scheme)best));
    nnv_numeric_say(e, about, "requantisation", is, evidence);
    if (seen.fact < out->count && out->products < NNV_NUMERIC_PRODUCTS) out->product[out->products++] = seen;
    if (!seen.schemes && r->worst > 0.5 + 1e-4) {
        const double beyond = fmin(ceil((r->worst - 0.5) * 100) / 100, 3.5);
        out->arithmetic.requantise = fmax(out->arithmetic.requantise, beyond);
    }
}

static void recognise(const struct nnv_numeric_engine *e, struct nnv_products what, struct recognition *r) {
    struct sums s;
    double got[UNITS];
    *r = (struct recognition){0};
    for (int m = 0; m < MULTIPLIERS; m++)
        if (design(e, what, multipliers[m], &s) && requantise(e, &s, multipliers[m], got))
            compare(r, multipliers[m], &s, got);
}

void nnv_measure_requantise(const struct nnv_numeric_engine *e, struct nnv_products what) {
    struct recognition first, other[NNV_PRODUCTS_USES];
    bool apart[NNV_PRODUCTS_USES] = {false};
    recognise(e, what, &first);
    for (int use = NNV_PRODUCTS_PLAIN + 1; use < NNV_PRODUCTS_USES && first.seen > 0; use++) {
        struct nnv_products there = what;
        there.use = (enum nnv_products_use)use;
        if (!has_use(there)) continue;
        recognise(e, there, &other[use]);
        apart[use] = other[use].seen > 0 && !join(&first, &other[use]);
    }
    if (first.seen > 0) tell(e, what, &first);
    for (int use = 0; use < NNV_PRODUCTS_USES; use++) {
        what.use = (enum nnv_products_use)use;
        if (apart[use]) tell(e, what, &other[use]);
    }
}

/* ----------------------------------------------------------- all operations together */

/** The scheme that explains most of the operations that none explains yet. */
static int most_common(const struct nnv_numeric *n, uint64_t left) {
    int best = 0;
    uint32_t most = 0;
    for (int k = 1; k < NNV_SCHEME_COUNT; k++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < n->products; i++) count += (left >> i & 1) && n->product[i].schemes >> k & 1;
        if (count > most) most = count, best = k;
    }
    return best;
}

/** Operations of those that are left which scheme k explains: they are told so, and the first appended to names. */
static uint64_t settle(struct nnv_numeric *n, uint64_t left, int k, struct nnv_text *names) {
    enum { NAMED = 3 };
    uint64_t settled = 0;
    int count = 0;
    for (uint32_t i = 0; i < n->products; i++) {
        struct nnv_numeric_products *p = &n->product[i];
        struct nnv_numeric_fact *f = &n->fact[p->fact];
        if (!(left >> i & 1 && p->schemes >> k & 1)) continue;
        snprintf(f->is, sizeof f->is, "%s", nnv_scheme_is((enum nnv_scheme)k));
        if (count++ < NAMED) nnv_text_addf(names, "%s%s", settled ? ", " : "", f->about);
        p->is.one = (enum nnv_scheme)k;
        settled |= UINT64_C(1) << i;
    }
    if (count > NAMED) nnv_text_addf(names, " and %d more", count - NAMED);
    return settled;
}

/** Adds a scheme to those that an operation has. False: it is not known, or the third. */
static bool add_scheme(struct nnv_schemes *to, enum nnv_scheme s) {
    if (s == NNV_SCHEME_ANY || s == to->one || s == to->other) return s != NNV_SCHEME_ANY;
    if (to->one != NNV_SCHEME_ANY && to->other != NNV_SCHEME_ANY) return false;
    *(to->one == NNV_SCHEME_ANY ? &to->one : &to->other) = s;
    return true;
}

/** The schemes of all uses of the operation with results of the type; of weights of one scale and of one a channel. */
static bool schemes_together(const struct nnv_numeric *n, struct nnv_products what, struct nnv_schemes *all) {
    bool known = true;
    *all = (struct nnv_schemes){NNV_SCHEME_ANY, NNV_SCHEME_ANY};
    for (uint32_t i = 0; i < n->products && known; i++) {
        const struct nnv_numeric_products *p = &n->product[i];
        if (p->what.op != what.op || p->what.type != what.type) continue;
        known = add_scheme(all, p->is.one) && (p->is.other == NNV_SCHEME_ANY || add_scheme(all, p->is.other));
    }
    return known;
}

/** Promises the schemes of each operation and type of which they are known. */
static void promise(struct nnv_numeric *n) {
    struct nnv_schemes all, first;
    bool one = schemes_together(n, n->product[0].what, &first);
    for (uint32_t i = 0; i < n->products; i++) {
        const struct nnv_products what = n->product[i].what;
        const bool known = schemes_together(n, what, &all);
        one = one && known && all.one == first.one && all.other == first.other;
        if (known) (void)nnv_arithmetic_use(&n->arithmetic, what.op, what.type, all);
    }
    if (!one || n->partial) return;
    n->arithmetic.uses = 0;
    n->arithmetic.schemes = first;
}

void nnv_settle_requantise(struct nnv_numeric *n) {
    uint64_t left = n->products < 64 ? (UINT64_C(1) << n->products) - 1 : UINT64_MAX;
    uint32_t schemes = 0;
    char is[96];
    struct nnv_text who = {0};
    n->arithmetic.uses = 0;
    n->arithmetic.schemes = (struct nnv_schemes){NNV_SCHEME_ANY, NNV_SCHEME_ANY};
    if (n->products == 0) return;
    for (int k; (k = most_common(n, left)) != 0; schemes++) {
        nnv_text_addf(&who, "%s%s: ", schemes ? "; " : "", nnv_scheme_is((enum nnv_scheme)k));
        left &= ~settle(n, left, k, &who);
    }
    if (schemes == 1 && left == 0) {
        nnv_text_clear(&who);
        nnv_text_addf(&who, "all %u operations and types", n->products);
        snprintf(is, sizeof is, "%s", nnv_scheme_is(n->product[0].is.one));
    } else {
        snprintf(is, sizeof is, "%u scheme%s, and %d not recognised", schemes, schemes == 1 ? "" : "s",
                 __builtin_popcountll(left));
    }
    if (!n->partial)
        nnv_numeric_say(&(struct nnv_numeric_engine){.out = n}, "all operations", "requantisation", is,
                        who.data ? who.data : "");
    nnv_text_free(&who);
    promise(n);
}
