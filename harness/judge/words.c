/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/words.h"

#include <math.h>

#include "harness/judge/degenerate.h"
#include "reference/model/validate.h"

static void add_shape(struct nnv_text *t, const uint32_t *dims, uint32_t rank) {
    nnv_text_add(t, "[");
    for (uint32_t i = 0; i < rank; i++) {
        if (i) nnv_text_add(t, ",");
        nnv_text_add_uint(t, dims[i]);
    }
    nnv_text_add(t, "]");
}

/** The indices of flat element `at`. */
static void add_place(struct nnv_text *t, const struct nnv_value *v, size_t at) {
    uint32_t place[NNV_MAX_RANK];
    for (uint32_t i = v->rank; i-- > 0;) {
        uint32_t extent = v->dims[i] ? v->dims[i] : 1;
        place[i] = (uint32_t)(at % extent);
        at /= extent;
    }
    add_shape(t, place, v->rank);
}

static void add_number(struct nnv_text *t, double v) {
    const double most = 1e9; /* a digit fewer than are printed */
    if (fabs(v) <= most && v == floor(v)) {
        if (signbit(v)) nnv_text_add(t, "-");
        nnv_text_add_uint(t, (uint64_t)fabs(v));
    } else if (isfinite(v))
        nnv_text_addf(t, "%.10g", v);
    else
        nnv_text_add_double(t, v);
}

static void add_numbers(struct nnv_text *t, const char *name, const double *v, size_t n) {
    nnv_text_addf(t, ",\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        if (i) nnv_text_add(t, ",");
        add_number(t, v[i]);
    }
    nnv_text_add(t, "]");
}

/** True if output i is images in the order NCHW, as far as the operation that makes it can be bound. */
static bool is_nchw(const struct nnv_comparer *of, uint32_t i) {
    const struct nnv_subgraph *m = &of->spec->model.main;
    const uint32_t at = nnv_producer(m, m->out[i]);
    struct nnv_shape *shapes = NNV_NEW(of->arena, struct nnv_shape, m->noperands);
    const void **data = NNV_NEW(of->arena, const void *, m->noperands);
    struct nnv_call *call;
    if (at >= m->noperations || !shapes || !data) return false;
    for (uint32_t k = 0; k < m->noperands; k++) {
        shapes[k] = nnv_operand_shape(&m->operands[k]);
        data[k] = m->operands[k].data;
    }
    return nnv_bind(m, &m->operations[at], shapes, data, NULL, of->arena, &call, NULL, NULL) == NNV_OK &&
           nnv_call_is_nchw(call);
}

static void add_error_map(const struct nnv_comparer *of, const struct nnv_value *outputs, uint32_t i,
                          struct nnv_text *t) {
    const bool image = of->taken[i].value->rank == 4;
    struct nnv_check_error_map h;
    nnv_check_error_map(&of->followed[i], outputs[i].data, of->precision, image && is_nchw(of, i), &h);
    nnv_text_addf(t, ",\"heat\":{\"rows\":%u,\"cols\":%u,", h.rows, h.cols);
    if (image)
        nnv_text_addf(t, "\"planes\":{\"count\":%u,\"down\":%u,\"across\":%u,\"channels\":%u},", h.planes, h.down,
                      h.across, h.channels);
    nnv_text_add(t, "\"data\":\"");
    nnv_text_add_base64(t, h.cells, (size_t)h.rows * h.cols);
    nnv_text_add(t, "\"}");
}

static void add_pictures(const struct nnv_comparer *of, const struct nnv_value *outputs, uint32_t i,
                         struct nnv_text *t) {
    const struct nnv_comparison *c = &of->comparison[i];
    struct nnv_check_window w;
    nnv_check_window(&of->followed[i], outputs[i].data, of->precision, c->worst, &w);
    size_t n = (size_t)w.rows * w.cols;
    nnv_text_addf(t, ",\"window\":{\"at\":[%u,%u],\"rows\":%u,\"cols\":%u", w.row, w.col, w.rows, w.cols);
    add_numbers(t, "expected", w.expected, n);
    add_numbers(t, "actual", w.actual, n);
    add_numbers(t, "bound", w.bound, n);
    nnv_text_add(t, "}");
    add_error_map(of, outputs, i, t);
}

void nnv_judge_add_output(const struct nnv_comparer *of, const struct nnv_value *outputs, uint32_t i,
                          struct nnv_text *t) {
    const struct nnv_comparison *c = &of->comparison[i];
    const struct nnv_value *v = of->taken[i].value;
    nnv_text_add(t, t->len > 1 ? ",{\"index\":" : "{\"index\":");
    nnv_text_add_uint(t, i);
    nnv_text_add(t, ",\"dims\":");
    add_shape(t, v->dims, v->rank);
    const struct {
        const char *name;
        size_t count;
    } counts[] = {{",\"compared\":", c->compared}, {",\"wrong\":", c->wrong}, {",\"not_compared\":", c->not_compared}};
    const char *const type[] = {",\"type\":\"", nnv_type(of->taken[i].type)->name, "\""};
    const char *const rule[] = {",\"profile\":\"", nnv_precision_name(of->precision), "\",\"rule\":"};
    for (size_t k = 0; k < sizeof type / sizeof *type; k++) nnv_text_add(t, type[k]);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        nnv_text_add(t, counts[k].name);
        nnv_text_add_uint(t, counts[k].count);
    }
    for (size_t k = 0; k < sizeof rule / sizeof *rule; k++) nnv_text_add(t, rule[k]);
    nnv_text_add_json(t, c->rule);
    if (c->compared > 0) {
        const struct {
            const char *name;
            double value;
        } member[] = {{",\"max_ulp\":", c->max_ulp},
                      {",\"bias\":", c->bias},
                      {",\"mse\":", c->mse},
                      {",\"l1\":", c->l1},
                      {",\"l2\":", c->l2},
                      {",\"max\":", c->max},
                      {"\"expected\":", c->worst_expected},
                      {",\"actual\":", c->worst_actual},
                      {",\"error\":", c->worst_error},
                      {",\"bound\":", c->worst_bound},
                      {",\"ratio\":", c->worst_ratio}};
        for (size_t m = 0; m < sizeof member / sizeof *member; m++) {
            if (m == 6) {
                nnv_text_add(t, ",\"worst\":{\"at\":");
                add_place(t, v, c->worst);
                nnv_text_add(t, ",");
            }
            nnv_text_add(t, member[m].name);
            add_number(t, member[m].value);
        }
        nnv_text_add(t, "}");
    }
    if (c->wrong > 0 && nnv_comparer_rule(of, i) != NNV_JUDGED_SAMPLES) add_pictures(of, outputs, i, t);
    nnv_text_add(t, "}");
}

void nnv_judge_add_wrong(const struct nnv_comparer *of, const struct nnv_value *outputs, uint32_t i,
                         struct nnv_before *before, struct nnv_text *t) {
    const struct nnv_comparison *c = &of->comparison[i];
    const struct nnv_value *v = of->taken[i].value;
    nnv_text_addf(t, "%soutput %u ", t->len ? "\n" : "", i);
    add_shape(t, v->dims, v->rank);
    if (c->note[0]) {
        nnv_text_addf(t, ": %s", c->note);
        return;
    }
    nnv_text_addf(t, ": %zu of %zu values wrong; worst at ", c->wrong, c->compared);
    add_place(t, v, c->worst);
    /* C prints the sign of a NaN. */
    double expected = isnan(c->worst_expected) ? (double)NAN : c->worst_expected;
    double actual = isnan(c->worst_actual) ? (double)NAN : c->worst_actual;
    nnv_text_addf(t, ": expected %.9g, got %.9g, allowed %.4g", expected, actual, c->worst_bound);
    nnv_degenerate_words(
        &(struct nnv_suspect){&of->spec->model, of->spec->inputs, i, &outputs[i], v, c->elems, actual, before}, t);
}
