/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/matmul.h"

enum { BLOCK = 256 };

/** How the bound of an element follows from its expected value, for one output. */
struct rule {
    const struct nnv_type *type;
    bool budget;                          /**< the bound comes from the spread; otherwise from atol and rtol alone */
    double atol, rtol;                    /**< budget: what is added to k * spread */
    double k;                             /**< budget */
    bool saturates;                       /**< budget, floats: what is beyond the limit is infinity's equal */
    double rms;                           /**< budget, floats: of the expected values */
    double limit;                         /**< budget: values that may come to lie beyond it are not compared */
    const struct nnv_graph_limits *graph; /**< aosp-graph: also for an output as a whole; limit: larger floats are not
                                             compared */
};

/** A block of elements. */
struct block {
    size_t n;
    double expected[BLOCK], actual[BLOCK];
    double bound[BLOCK]; /**< NaN: not compared */
    double error[BLOCK];
    double reference[BLOCK]; /**< for the bias */
};

const char *nnv_precision_name(enum nnv_precision p) {
    static const char *const names[NNV_PRECISION_COUNT] = {[NNV_PRECISION_NNAPI] = "nnapi",
                                                           [NNV_PRECISION_AOSP] = "aosp",
                                                           [NNV_PRECISION_BUDGET] = "budget",
                                                           [NNV_PRECISION_AOSP_GRAPH] = "aosp-graph"};
    return (unsigned)p < NNV_PRECISION_COUNT ? names[p] : "unknown";
}

size_t nnv_expected_elems(const struct nnv_expectation *e) { return e->value->bytes / nnv_type(e->type)->size; }

/* --------------------------------------------------------------------- rules */

static const double half_tolerance = 5 * 0x1p-10;

static bool is_half(const struct nnv_expectation *e) {
    return e->low_precision || e->type == ANEURALNETWORKS_TENSOR_FLOAT16 || e->type == ANEURALNETWORKS_FLOAT16;
}

static double unit_tolerance(const struct nnv_expectation *e, bool aosp) {
    const struct nnv_type *t = nnv_type(e->type);
    if (t->kind == NNV_KIND_INT) return aosp ? 1 : 0;
    if (t->kind != NNV_KIND_QUANT) return 0;
    if (e->mobilenet && t->size == 1) return aosp ? 3 : 2;
    return 1;
}

static void fixed_rule(const struct nnv_expectation *e, bool aosp, struct rule *r) {
    if (r->type->kind != NNV_KIND_FLOAT) {
        r->atol = unit_tolerance(e, aosp);
    } else if (is_half(e)) {
        r->atol = r->rtol = half_tolerance;
    } else {
        r->atol = 1e-5;
        r->rtol = aosp ? 5 * 0x1p-23 : 1e-5;
    }
}

static void graph_rule(const struct nnv_expectation *e, struct rule *r) {
    const bool half = is_half(e);
    switch (r->type->kind) {
    case NNV_KIND_FLOAT:
        r->graph = half ? &e->graph->half : &e->graph->full;
        r->limit = half ? 1e2 : 1e3;
        r->atol = r->rtol = r->graph->tolerance;
        break;
    case NNV_KIND_QUANT:
        r->graph = &e->graph->units;
        r->atol = r->graph->tolerance;
        break;
    default:
        r->atol = unit_tolerance(e, true);
        break;
    }
}

static double rms(const struct nnv_expectation *e, const struct nnv_type *t, size_t n) {
    double sum = 0, v[BLOCK];
    size_t finite = 0;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t m = n - i < BLOCK ? n - i : BLOCK;
        nnv_load(e->type, (const uint8_t *)e->value->data + i * t->size, m, v);
        for (size_t j = 0; j < m; j++) {
            bool ok = isfinite(v[j]);
            sum += ok ? v[j] * v[j] : 0;
            finite += ok;
        }
    }
    return finite ? sqrt(sum / (double)finite) : 0;
}

static void budget_rule(const struct nnv_expectation *e, size_t n, struct rule *r) {
    r->budget = true;
    r->atol = e->half_step;
    r->k = 1;
    r->limit = r->type->max - r->type->min;
    if (r->type->kind != NNV_KIND_FLOAT) return;
    bool half = is_half(e);
    r->k = e->k;
    r->rtol = half ? 0x1p-10 : 0x1p-23;
    if (e->arithmetic.keep_subnormals)
        r->atol += half ? 0x1p-25 : 0x1p-150;
    else
        r->atol += half ? 0x1p-14 : 0x1p-126;
    r->saturates = e->arithmetic.saturate;
    r->limit = half ? 65504.0 : (double)FLT_MAX;
    r->rms = rms(e, r->type, n);
}

static struct rule make_rule(const struct nnv_expectation *e, enum nnv_precision precision, size_t n) {
    struct rule r = {.type = nnv_type(e->type)};
    if (e->must_equal) return r;
    switch (precision) {
    case NNV_PRECISION_NNAPI:
        fixed_rule(e, false, &r);
        break;
    case NNV_PRECISION_AOSP:
        fixed_rule(e, true, &r);
        break;
    case NNV_PRECISION_BUDGET:
        budget_rule(e, n, &r);
        break;
    case NNV_PRECISION_AOSP_GRAPH:
        graph_rule(e, &r);
        break;
    case NNV_PRECISION_COUNT:
        break;
    }
    return r;
}

static void rule_text(const struct nnv_expectation *e, const struct rule *r, char *text, size_t room) {
    if (e->ignored)
        snprintf(text, room, "ignored");
    else if (r->budget && r->type->kind == NNV_KIND_FLOAT)
        snprintf(text, room, "|error| <= %g spread + %.3g |expected| + %.3g", r->k, r->rtol, r->atol);
    else if (r->budget && r->type->kind == NNV_KIND_BOOL)
        snprintf(text, room, "equal, unless the decision is open");
    else if (r->budget)
        snprintf(text, room, "|error| <= spread, in units");
    else if (r->atol == 0 && r->rtol == 0)
        snprintf(text, room, "equal");
    else if (r->rtol == 0)
        snprintf(text, room, "|error| <= %g unit%s", r->atol, r->atol == 1 ? "" : "s");
    else
        snprintf(text, room, "|error| <= %.3g + %.3g |expected|", r->atol, r->rtol);
}

/* -------------------------------------------------------------------- bounds */

static void fixed_bounds(const struct rule *r, struct block *b) {
    for (size_t i = 0; i < b->n; i++)
        b->bound[i] = isfinite(b->expected[i]) ? r->atol + r->rtol * fabs(b->expected[i]) : 0;
}

/** Large floats are not compared. */
static void graph_bounds(const struct rule *r, struct block *b) {
    fixed_bounds(r, b);
    for (size_t i = 0; i < b->n && r->limit > 0; i++)
        if (fabs(b->expected[i]) > r->limit) b->bound[i] = (double)NAN;
}

static void float_budgets(const struct rule *r, const double *spread, struct block *b) {
    for (size_t i = 0; i < b->n; i++) {
        bool finite = isfinite(b->expected[i]);
        double y = finite ? fabs(b->expected[i]) : 0, noise = r->k * spread[i];
        double bound = noise + r->rtol * y + r->atol;
        bool clear = noise <= 0.5 * (y > r->rms ? y : r->rms) && y + bound <= r->limit;
        b->bound[i] = clear || (!finite && noise == 0) ? bound : (double)NAN;
    }
}

static void unit_budgets(const struct rule *r, const double *spread, struct block *b) {
    /* A decision that may go either way spreads over a boolean's whole range, too. */
    for (size_t i = 0; i < b->n; i++) b->bound[i] = spread[i] < r->limit ? spread[i] + r->atol : (double)NAN;
}

/** Loads n elements, from index `at` on, and their bounds. */
NNV_WIDE static void load_block(const struct nnv_expectation *e, const struct rule *r, const void *actual, size_t at,
                                size_t n, struct block *b) {
    static const double none[BLOCK];
    b->n = n;
    nnv_load(e->type, (const uint8_t *)e->value->data + at * r->type->size, n, b->expected);
    nnv_load(e->type, (const uint8_t *)actual + at * r->type->size, n, b->actual);
    const double *spread = e->spread ? e->spread + at : none;
    if (!r->budget)
        graph_bounds(r, b);
    else if (r->type->kind == NNV_KIND_FLOAT)
        float_budgets(r, spread, b);
    else
        unit_budgets(r, spread, b);
    /* Where infinity or NaN is expected no tolerance applies: rtol times infinity would accept anything. */
    for (size_t i = 0; i < n; i++)
        if (!isfinite(b->expected[i]) && !isnan(b->bound[i])) b->bound[i] = 0;
    for (size_t i = 0; i < n && r->saturates; i++)
        if (isinf(b->expected[i]) && fabs(b->actual[i]) >= r->limit && (b->actual[i] > 0) == (b->expected[i] > 0))
            b->actual[i] = b->expected[i];
    for (size_t i = 0; i < n; i++) b->error[i] = fabs(b->actual[i] - b->expected[i]);
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

bool nnv_check_within(double expected, double actual, double bound) {
    return same(actual, expected) || (isfinite(expected) && fabs(actual - expected) <= bound);
}

/** Error over bound of element i: 0 where nothing is wrong at all, infinity where no tolerance helps. */
static double ratio(const struct block *b, size_t i) {
    if (isnan(b->bound[i]) || same(b->actual[i], b->expected[i])) return 0;
    double q = b->error[i] / b->bound[i];
    return isnan(q) ? (double)INFINITY : q;
}

/* ---------------------------------------------------------------- statistics */

/** The running sums of a comparison. */
struct sums {
    double sum, square;
    double absolute, most;        /**< L1 and maximum norms */
    double scaled, scaled_square; /**< of errors divided by an expected float above 1 */
    size_t count;
    bool any;      /**< an element was compared: worst is meaningful */
    bool relative; /**< an output of floats */
};

static void load_reference(const struct nnv_expectation *e, const struct rule *r, size_t at, struct block *b) {
    enum nnv_kind kind = r->type->kind;
    bool exact = e->exact && (kind == NNV_KIND_FLOAT || (kind == NNV_KIND_QUANT && e->scale > 0));
    for (size_t i = 0; i < b->n; i++) {
        double v = b->expected[i];
        if (exact) {
            v = e->exact[at + i];
            if (kind == NNV_KIND_QUANT) v = v / (double)e->scale + e->zero_point;
            if (v < r->type->min || v > r->type->max) v = b->expected[i];
        }
        b->reference[i] = v;
    }
}

static void add_sums(const struct block *b, struct sums *sums) {
    struct sums s = *sums;
    for (size_t i = 0; i < b->n; i++) {
        const double error = b->actual[i] - b->reference[i], size = fabs(b->expected[i]);
        const bool ok = isfinite(error) && !isnan(b->bound[i]);
        const double d = ok ? error : 0, scale = s.relative && size > 1 ? size : 1;
        const double e = ok ? (b->actual[i] - b->expected[i]) / scale : 0;
        s.scaled += e;
        s.scaled_square += e * e;
        s.sum += d;
        s.square += d * d;
        s.absolute += fabs(d);
        s.most = fabs(d) > s.most ? fabs(d) : s.most;
        s.count += ok;
    }
    *sums = s;
}

static void add_counts(const struct block *b, struct nnv_comparison *out) {
    size_t skipped = 0, wrong = 0, undefined = 0, infinite = 0;
    for (size_t i = 0; i < b->n; i++) {
        bool skip = isnan(b->bound[i]);
        skipped += skip;
        undefined += !skip && !isfinite(b->expected[i]);
        infinite += !skip && isinf(b->expected[i]);
        wrong += !skip & !(b->error[i] <= b->bound[i]) & !same(b->actual[i], b->expected[i]);
    }
    out->not_compared += skipped;
    out->compared += b->n - skipped;
    out->wrong += wrong;
    out->undefined += undefined;
    out->infinite += infinite;
}

static void take_worst(const struct block *b, size_t i, size_t at, struct nnv_comparison *out) {
    out->worst = at + i;
    out->worst_expected = b->expected[i];
    out->worst_actual = b->actual[i];
    out->worst_error = same(b->actual[i], b->expected[i]) ? 0 : b->error[i];
    out->worst_bound = b->bound[i];
    out->worst_ratio = ratio(b, i);
}

static void find_worst(const struct block *b, size_t at, bool *any, struct nnv_comparison *out) {
    for (size_t i = 0; i < b->n; i++) {
        if (isnan(b->bound[i]) || (*any && b->error[i] <= out->worst_ratio * b->bound[i])) continue;
        double q = ratio(b, i);
        if (!*any || q > out->worst_ratio || (q == out->worst_ratio && b->error[i] > out->worst_error))
            take_worst(b, i, at, out);
        *any = true;
    }
}

static void find_ulp(const struct nnv_expectation *e, const struct rule *r, const struct block *b, double *most) {
    double unit = r->type->kind != NNV_KIND_FLOAT ? 0 : r->type->size == 2 ? 0x1p-11 : 0x1p-24;
    double floor = r->type->kind != NNV_KIND_FLOAT ? 1 : 0;
    for (size_t i = 0; i < b->n; i++) {
        /* An ulp is at least `unit` of the value: what can't exceed the largest is not looked at closer. */
        double y = fabs(b->expected[i]);
        if (isnan(b->bound[i]) || !isfinite(b->error[i]) || b->error[i] <= *most * (unit * y + floor)) continue;
        double q = b->error[i] / nnv_ulp(e->type, b->expected[i]);
        if (q > *most) *most = q;
    }
}

/* -------------------------------------------------------------------- pictures */

/** The output as a matrix. */
static void matrix_of(const struct nnv_value *v, size_t elems, size_t *rows, size_t *cols) {
    *cols = v->rank ? v->dims[v->rank - 1] : 1;
    if (*cols == 0) *cols = 1;
    *rows = elems / *cols;
}

static uint8_t shade_of(double q) {
    if (q <= 0) return 0;
    if (q <= 1) return (uint8_t)ceil(128 * q);
    return q >= 128 ? 255 : (uint8_t)(129 + (int)(126 * log2(q) / 7));
}

/** An output seen as planes of height x width, count of them. None of the numbers is 0. */
struct planes {
    size_t count, height, width, channels;
    bool last; /**< the channel is the last dimension, else before height and width */
};

static size_t positive(size_t n) { return n > 0 ? n : 1; }

static struct planes planes_of(const struct nnv_value *v, size_t elems, bool nchw) {
    struct planes p = {.count = 1, .channels = 1};
    if (v->rank != 4) {
        matrix_of(v, elems, &p.height, &p.width);
        p.height = positive(p.height);
        return p;
    }
    p.last = !nchw;
    p.channels = positive(v->dims[nchw ? 1 : 3]);
    p.height = positive(v->dims[nchw ? 2 : 1]);
    p.width = positive(v->dims[nchw ? 3 : 2]);
    p.count = positive(v->dims[0] * p.channels);
    return p;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/** Where element i lies: its plane, row and column. */
static size_t place_of(const struct planes *p, size_t i, size_t *row, size_t *col) {
    const size_t area = p->height * p->width;
    if (!p->last) {
        *row = i % area / p->width;
        *col = i % p->width;
        return i / area;
    }
    const size_t cell = i / p->channels % area;
    *row = cell / p->width;
    *col = cell % p->width;
    return i / p->channels / area * p->channels + i % p->channels;
}

/** n, or most where it is more; neither is 0. */
static size_t up_to(size_t n, size_t most) { return positive(least(n, most)); }

void nnv_check_error_map(const struct nnv_expectation *e, const void *actual, enum nnv_precision precision, bool nchw,
                         struct nnv_check_error_map *out) {
    const size_t elems = nnv_expected_elems(e);
    const struct planes p = planes_of(e->value, elems, nchw);
    memset(out, 0, sizeof *out);
    if (elems == 0) return;
    const size_t height = up_to(p.height, NNV_ERROR_MAP_MAX), width = up_to(p.width, NNV_ERROR_MAP_MAX);
    const size_t shown = up_to(p.count, NNV_ERROR_MAP_MAX / height * (NNV_ERROR_MAP_MAX / width));
    out->across = (uint32_t)up_to(shown, NNV_ERROR_MAP_MAX / width);
    out->down = (uint32_t)((shown + out->across - 1) / out->across);
    out->planes = (uint32_t)shown;
    out->channels = (uint32_t)((p.count + shown - 1) / shown);
    out->rows = out->down * (uint32_t)height;
    out->cols = out->across * (uint32_t)width;
    struct rule r = make_rule(e, precision, elems);
    struct block b;
    for (size_t at = 0; at < elems; at += BLOCK) {
        load_block(e, &r, actual, at, least(elems - at, BLOCK), &b);
        for (size_t i = 0; i < b.n; i++) {
            size_t row, col, plane = place_of(&p, at + i, &row, &col) * shown / p.count;
            row = plane / out->across * height + row * height / p.height;
            col = plane % out->across * width + col * width / p.width;
            uint8_t *cell = &out->cells[row * out->cols + col], shade = shade_of(ratio(&b, i));
            if (shade > *cell) *cell = shade;
        }
    }
}

/** The part of n of size NNV_WINDOW_MAX or less around centre. */
static uint32_t window_start(size_t n, size_t centre, uint32_t *extent) {
    *extent = n < NNV_WINDOW_MAX ? (uint32_t)n : NNV_WINDOW_MAX;
    size_t start = centre < *extent / 2u ? 0 : centre - *extent / 2u;
    return (uint32_t)(start + *extent > n ? n - *extent : start);
}

void nnv_check_window(const struct nnv_expectation *e, const void *actual, enum nnv_precision precision, size_t centre,
                      struct nnv_check_window *out) {
    size_t rows, cols, elems = nnv_expected_elems(e);
    struct rule r = make_rule(e, precision, elems);
    struct block b;
    matrix_of(e->value, elems, &rows, &cols);
    out->row = window_start(rows, centre / cols, &out->rows);
    out->col = window_start(cols, centre % cols, &out->cols);
    for (uint32_t i = 0; i < out->rows; i++) {
        load_block(e, &r, actual, (out->row + i) * cols + out->col, out->cols, &b);
        memcpy(out->expected + i * out->cols, b.expected, out->cols * sizeof(double));
        memcpy(out->actual + i * out->cols, b.actual, out->cols * sizeof(double));
        memcpy(out->bound + i * out->cols, b.bound, out->cols * sizeof(double));
    }
}

void nnv_check_numbers(const struct nnv_expectation *e, const void *actual, enum nnv_precision precision,
                       double *expected, double *got, double *bound) {
    size_t elems = nnv_expected_elems(e);
    struct rule r = make_rule(e, precision, elems);
    struct block b;
    for (size_t at = 0; at < elems; at += b.n) {
        load_block(e, &r, actual, at, elems - at < BLOCK ? elems - at : BLOCK, &b);
        memcpy(expected + at, b.expected, b.n * sizeof(double));
        memcpy(got + at, b.actual, b.n * sizeof(double));
        memcpy(bound + at, b.bound, b.n * sizeof(double));
    }
}

/* ----------------------------------------------------------------- the check */

/** AOSP's random graph test: a tenth of booleans may be wrong; of numbers, mean and mean square count, too. */
static void check_whole(const struct rule *r, const struct sums *s, struct nnv_comparison *out) {
    const double n = s->count ? (double)s->count : 1, bias = fabs(s->scaled) / n, mse = s->scaled_square / n;
    if (r->type->kind == NNV_KIND_BOOL && (double)out->wrong <= ceil(0.1 * (double)out->elems)) out->wrong = 0;
    if (!r->graph || s->count < 10 || out->wrong || (bias <= r->graph->bias && mse <= r->graph->mse)) return;
    out->wrong = s->count;
    snprintf(out->note, sizeof out->note, "mean error %.3g (allowed: %.3g), mean square %.3g (allowed: %.3g)", bias,
             r->graph->bias, mse, r->graph->mse);
}

NNV_WIDE void nnv_check(const struct nnv_expectation *e, const void *actual, enum nnv_precision precision,
                        struct nnv_comparison *out) {
    size_t n = nnv_expected_elems(e);
    memset(out, 0, sizeof *out);
    out->elems = n;
    struct rule r = e->ignored ? (struct rule){.type = nnv_type(e->type)} : make_rule(e, precision, n);
    rule_text(e, &r, out->rule, sizeof out->rule);
    if (e->ignored) {
        out->not_compared = n;
        return;
    }
    struct sums sums = {.relative = r.type->kind == NNV_KIND_FLOAT};
    struct block b;
    for (size_t at = 0; at < n; at += BLOCK) {
        load_block(e, &r, actual, at, n - at < BLOCK ? n - at : BLOCK, &b);
        load_reference(e, &r, at, &b);
        add_counts(&b, out);
        add_sums(&b, &sums);
        find_worst(&b, at, &sums.any, out);
        find_ulp(e, &r, &b, &out->max_ulp);
    }
    if (sums.count) {
        out->bias = sums.sum / (double)sums.count;
        out->mse = sums.square / (double)sums.count;
        out->l1 = sums.absolute;
        out->l2 = sqrt(sums.square);
        out->max = sums.most;
    }
    if (precision == NNV_PRECISION_AOSP_GRAPH && !e->must_equal) check_whole(&r, &sums, out);
}
