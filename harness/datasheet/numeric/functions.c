/* SPDX-License-Identifier: Apache-2.0 */
/** @file functions.c Functions of one number, numbers below the smallest normal one, and ties. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/datasheet/numeric/numeric.h"
#include "randgraph/single/single.h"
#include "reference/eval/eval.h"
#include "reference/model/builder.h"

enum { SWEEPS = 6, TIES = 64, ALLOWED = 5 /* ulps that the error budget allows a function, at most */ };

/** Executes an elementwise operation on vectors; the scalars follow its tensors. */
static bool run_vector(const struct nnv_numeric_engine *e, int32_t op, struct nnv_encoding in, struct nnv_encoding out,
                       uint32_t n, uint32_t inputs, const double *const *x, bool activation, double *y) {
    struct nnv_builder b = {.arena = e->arena};
    uint32_t arg[3] = {0};
    for (uint32_t i = 0; i < inputs; i++) arg[i] = nnv_builder_tensor(&b, in, 1, &n, NNV_SUBGRAPH_INPUT);
    if (activation) arg[inputs] = nnv_builder_int(&b, ANEURALNETWORKS_FUSED_NONE);
    const uint32_t to = nnv_builder_tensor(&b, out, 1, &n, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, op, inputs + activation, arg, to);
    return nnv_numeric_run(e, &b, inputs, arg, x, to, y);
}

/* ------------------------------------------------------------------------ functions */

/** The unit in the last place of a number of the type; NAN where it is not normal. */
static double ulp_of(int32_t type, double v) {
    const bool half = nnv_type(type)->size == 2;
    const double least = half ? 0x1p-14 : 0x1p-126, most = nnv_type(type)->max;
    int exponent;
    if (!(fabs(v) >= least && fabs(v) <= most)) return NAN;
    frexp(v, &exponent);
    return ldexp(1, exponent - (half ? 11 : 24));
}

/** Far enough from 0 that it is no rounding which makes it 0. */
static bool is_subnormal(int32_t type, double v) {
    const bool half = nnv_type(type)->size == 2;
    return fabs(v) < (half ? 0x1p-14 : 0x1p-126) && fabs(v) > (half ? 0x1p-22 : 0x1p-146);
}

/** The result y of exact keeps what a subnormal number has of it: half of it is lost neither to 0 nor to another end.
 */
static bool is_kept(int32_t type, double exact, double y) {
    const double unit = nnv_type(type)->size == 2 ? 0x1p-24 : 0x1p-149;
    return fabs(y - exact) <= fabs(exact) / 2 + 4 * unit && y != 0;
}

/** The largest error of one sweep; at *at in the input. */
static bool sweep(const struct nnv_numeric_engine *e, const struct nnv_single *what, double *worst, double *at,
                  size_t *n) {
    static const struct nnv_eval_options options = {.rows = 0};
    struct nnv_golden golden;
    struct nnv_spec *spec;
    struct nnv_value *outputs;
    if (nnv_single_build(what, e->arena, &spec, NULL) != NNV_OK ||
        nnv_eval(&spec->model, spec->inputs, &options, e->arena, &golden, NULL) != NNV_OK ||
        !e->execute(e->context, spec, e->arena, &outputs))
        return false;
    const int32_t type = spec->model.main.operands[spec->model.main.out[0]].type;
    if (type != spec->model.main.operands[spec->model.main.in[0]].type) return false;
    const size_t elems = outputs[0].bytes / nnv_type(type)->size;
    double *y = NNV_NEW(e->arena, double, elems + 1), *x = NNV_NEW(e->arena, double, elems + 1);
    if (!y || !x) return false;
    nnv_load(type, outputs[0].data, elems, y);
    nnv_load(type, spec->inputs[0].data, elems, x);
    for (size_t i = 0; i < elems; i++) {
        if (is_subnormal(type, golden.exact[i]) && !is_kept(type, golden.exact[i], y[i])) e->out->flushes = true;
        const double error = fabs(y[i] - golden.exact[i]) / ulp_of(type, golden.exact[i]);
        if (isnan(error) || isnan(ulp_of(type, x[i]))) continue;
        ++*n;
        if (error <= *worst) continue;
        *worst = error;
        *at = x[i];
    }
    return true;
}

/** A function that is computed in one step: where several are, their errors cancel or grow by what is between. */
static bool is_plain(int32_t code) {
    return code == ANEURALNETWORKS_EXP || code == ANEURALNETWORKS_LOG || code == ANEURALNETWORKS_SIN ||
           code == ANEURALNETWORKS_SQRT || code == ANEURALNETWORKS_RSQRT;
}

void nnv_measure_function(const struct nnv_numeric_engine *e, int32_t code, int32_t type) {
    const struct nnv_op *op = nnv_op(code);
    double worst = 0, at = 0;
    size_t n = 0;
    struct nnv_single w = {.op = op, .mode = NNV_FILL_SWEEP, .seed = 1, .name = op->name};
    while (w.sig < op->nsigs && op->sigs[w.sig].type[NNV_T] != type) w.sig++;
    if (w.sig == op->nsigs) return;
    const int sweeps = nnv_single_sweep_cases(op, w.sig);
    for (w.index = 0; w.index < sweeps && w.index < SWEEPS; w.index++)
        if (!sweep(e, &w, &worst, &at, &n)) return;
    if (n == 0) return;
    char about[64], is[96], evidence[200];
    snprintf(about, sizeof about, "%s %s", op->name, nnv_type(type)->tag);
    snprintf(is, sizeof is, "%.3g ulp", worst);
    snprintf(evidence, sizeof evidence, "the largest error of %zu results, at %.9g", n, at);
    nnv_numeric_say(e, about, "largest error", is, evidence);
    if (is_plain(code) && worst > ALLOWED)
        e->out->arithmetic.functions = fmax(e->out->arithmetic.functions, fmin(ceil(worst), 1 << 20));
}

/* ----------------------------------------------------------------------- subnormals */

enum { TAIL = 8 };

/** SOFTMAX along the last of `rank` axes. */
static bool run_softmax(const struct nnv_numeric_engine *e, int32_t type, uint32_t rank, const double *x, double *y) {
    const uint32_t dims[4] = {1, rank == 2 ? TAIL : 1, 1, TAIL};
    const struct nnv_encoding as = {.type = type};
    const bool half = nnv_type(type)->size == 2;
    struct nnv_builder b = {.arena = e->arena};
    const uint32_t in = nnv_builder_tensor(&b, as, rank, dims, NNV_SUBGRAPH_INPUT),
                   beta = half ? nnv_builder_scalar(&b, ANEURALNETWORKS_FLOAT16, 1) : nnv_builder_float(&b, 1),
                   to = nnv_builder_tensor(&b, as, rank, dims, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_SOFTMAX, 2, (const uint32_t[]){in, beta}, to);
    return nnv_numeric_run(e, &b, 1, &in, &x, to, y);
}

/** SOFTMAX of one large number and others that leave it subnormal ones: functions end before products do. Tensors of
 * two and of four axes often have kernels of their own. */
static void measure_tail(const struct nnv_numeric_engine *e, int32_t type) {
    static const double halves[TAIL] = {0, -9, -10, -11, -12, -13, -14, -15},
                        floats[TAIL] = {0, -86, -88, -91, -94, -97, -100, -101};
    const double *x = nnv_type(type)->size == 2 ? halves : floats;
    double y[TAIL], sum = 0;
    char about[64], evidence[200] = "";
    const char *is = "kept";
    for (uint32_t i = 0; i < TAIL; i++) sum += exp(x[i]);
    for (uint32_t rank = 2; rank <= 4; rank += 2) {
        if (!run_softmax(e, type, rank, x, y)) continue;
        uint32_t shown = 1;
        while (shown < TAIL - 1 &&
               (!is_subnormal(type, exp(x[shown]) / sum) || is_kept(type, exp(x[shown]) / sum, y[shown])))
            shown++;
        snprintf(evidence, sizeof evidence, "of rank %u, %g beside 0 is %g, exactly %g", rank, x[shown], y[shown],
                 exp(x[shown]) / sum);
        if (is_kept(type, exp(x[shown]) / sum, y[shown])) continue;
        is = y[shown] == 0 ? "results are flushed to 0" : "not kept";
        e->out->flushes = true;
        break;
    }
    if (!evidence[0]) return; /* not supported */
    snprintf(about, sizeof about, "SOFTMAX %s", nnv_type(type)->tag);
    nnv_numeric_say(e, about, "subnormals", is, evidence);
    if (!e->out->flushes) e->out->kept++;
}

void nnv_measure_subnormals(const struct nnv_numeric_engine *e, int32_t op, int32_t type) {
    if (op == ANEURALNETWORKS_SOFTMAX) {
        measure_tail(e, type);
        return;
    }
    const bool half = nnv_type(type)->size == 2, mul = op == ANEURALNETWORKS_MUL;
    const double least = half ? 0x1p-14 : 0x1p-126;
    const struct nnv_encoding as = {.type = type};
    /* Subnormal inputs with a normal result, and normal inputs with a subnormal one. */
    const double a[] = {least / 2, least * 1.5}, b[] = {mul ? 4 : least, mul ? 0.25 : -least * 1.25};
    const double want[] = {mul ? least * 2 : least * 1.5, mul ? least * 0.375 : least * 0.25};
    const double *x[] = {a, b};
    double y[2];
    if (!run_vector(e, op, as, as, 2, 2, x, true, y)) return;
    char about[64], evidence[200];
    const bool inputs = y[0] == want[0], results = y[1] == want[1];
    snprintf(about, sizeof about, "%s %s", nnv_op(op)->name, nnv_type(type)->tag);
    snprintf(evidence, sizeof evidence, "%g %s %g is %g, %g %s %g is %g", a[0], mul ? "*" : "+", b[0], y[0], a[1],
             mul ? "*" : "+", b[1], y[1]);
    nnv_numeric_say(e, about, "subnormals",
                    inputs && results ? "kept"
                    : inputs          ? "results are flushed to 0"
                    : results         ? "inputs are taken for 0"
                                      : "flushed to 0, inputs and results",
                    evidence);
    if (inputs && results)
        e->out->kept++;
    else
        e->out->flushes = true;
}

/* ----------------------------------------------------------------------------- ties */

static bool all(const double *y, const double *want, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (y[i] != want[i]) return false;
    return true;
}

void nnv_measure_ties(const struct nnv_numeric_engine *e) {
    static const struct {
        const char *is;
        double (*round)(double);
    } ways[] = {{"to even", rint}, {"away from 0", round}, {"up", NULL}, {"down", NULL}, {"towards 0", trunc}};
    const struct nnv_encoding from = {.type = ANEURALNETWORKS_TENSOR_FLOAT32},
                              to = {.type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, .scale = 1, .zero_point = 128};
    double x[TIES], y[TIES], want[TIES];
    const double *const in[] = {x};
    for (int i = 0, whole = -(TIES / 2); i < TIES; i++, whole++) x[i] = whole + 0.5;
    if (!run_vector(e, ANEURALNETWORKS_QUANTIZE, from, to, TIES, 1, in, false, y)) return;
    for (int i = 0; i < TIES; i++) y[i] -= to.zero_point;
    const char *is = "not recognised";
    for (size_t k = 0; k < 5; k++) {
        for (int i = 0; i < TIES; i++)
            want[i] = ways[k].round ? ways[k].round(x[i]) : k == 2 ? floor(x[i] + 0.5) : ceil(x[i] - 0.5);
        if (!all(y, want, TIES)) continue;
        is = ways[k].is;
        break;
    }
    char evidence[200];
    snprintf(evidence, sizeof evidence, "-1.5 is %g, -0.5 is %g, 0.5 is %g, 1.5 is %g, 2.5 is %g", y[TIES / 2 - 2],
             y[TIES / 2 - 1], y[TIES / 2], y[TIES / 2 + 1], y[TIES / 2 + 2]);
    nnv_numeric_say(e, "QUANTIZE float32", "ties", is, evidence);
}
