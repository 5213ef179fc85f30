/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/bisect/mixed.h"

#include <math.h>
#include <string.h>

#include "reference/eval/eval.h"
#include "reference/model/op.h"

enum { ROWS = 8 };

/** A search. */
struct search {
    const struct nnv_spec *spec;
    double tolerance;
    struct nnv_arena *work; /* of one evaluation */
    struct nnv_mixed *out;
    uint32_t *order; /* operations: those that lose most alone first */
    bool *half;
    struct nnv_err *err;
};

/** Sums of an output. */
struct sums {
    double signal, noise, tolerance;
};

static void add(struct sums *s, double golden, double error) {
    s->signal += golden * golden;
    s->noise += error * error;
    s->tolerance = isnan(error) ? (double)INFINITY : fmax(s->tolerance, error / (1 + fabs(golden)));
}

static void take(struct nnv_loss *loss, const struct sums *s) {
    loss->sqnr = fmin(loss->sqnr, s->noise > 0 ? 10 * log10(s->signal / s->noise) : (double)INFINITY);
    loss->tolerance = fmax(loss->tolerance, s->tolerance);
}

static const struct nnv_loss none = {.sqnr = (double)INFINITY};

/** Numbers of output i of the spec; 0 if it is not of float32. */
static size_t floats(const struct nnv_spec *spec, uint32_t i) {
    const struct nnv_subgraph *m = &spec->model.main;
    return m->operands[m->out[i]].type == ANEURALNETWORKS_TENSOR_FLOAT32 ? spec->outputs[i].bytes / sizeof(float) : 0;
}

struct nnv_loss nnv_loss_of(const struct nnv_spec *spec, const struct nnv_value *outputs) {
    struct nnv_loss loss = none;
    for (uint32_t i = 0; i < spec->model.main.nout; i++) {
        const size_t n = floats(spec, i);
        struct sums s = {0};
        for (size_t e = 0; e < n; e++) {
            double golden, other;
            nnv_load(ANEURALNETWORKS_TENSOR_FLOAT32, (const float *)spec->outputs[i].data + e, 1, &golden);
            nnv_load(ANEURALNETWORKS_TENSOR_FLOAT32, (const float *)outputs[i].data + e, 1, &other);
            if (golden != other) add(&s, golden, fabs(golden - other));
            if (golden == other) s.signal += golden * golden;
        }
        if (n > 0) take(&loss, &s);
    }
    return loss;
}

static enum nnv_status evaluate(struct search *x, const struct nnv_eval_options *options, struct nnv_golden **out) {
    const struct nnv_subgraph *m = &x->spec->model.main;
    nnv_arena_reset(x->work);
    x->out->evaluations++;
    *out = NNV_NEW(x->work, struct nnv_golden, m->nout + 1);
    return *out ? nnv_eval(&x->spec->model, x->spec->inputs, options, x->work, *out, x->err) : nnv_no_memory(x->err);
}

/** What float32 itself may lose. */
static enum nnv_status find_own(struct search *x) {
    const struct nnv_eval_options options = {.rows = ROWS, .k = 2, .seed = 1};
    struct nnv_golden *golden;
    enum nnv_status st = evaluate(x, &options, &golden);
    x->out->own = none;
    for (uint32_t i = 0; st == NNV_OK && i < x->spec->model.main.nout; i++) {
        const size_t n = floats(x->spec, i);
        struct sums s = {0};
        for (size_t e = 0; e < n; e++) add(&s, golden[i].exact[e], golden[i].spread[e]);
        if (n > 0) take(&x->out->own, &s);
    }
    return st;
}

/** The loss with the operations of x->half in float16. */
static enum nnv_status lose(struct search *x, struct nnv_loss *loss) {
    const struct nnv_eval_options options = {.half = x->half};
    struct nnv_golden *golden;
    enum nnv_status st = evaluate(x, &options, &golden);
    struct nnv_value *outputs = NNV_NEW(x->work, struct nnv_value, x->spec->model.main.nout + 1);
    if (st == NNV_OK && !outputs) st = nnv_no_memory(x->err);
    for (uint32_t i = 0; st == NNV_OK && i < x->spec->model.main.nout; i++) outputs[i] = golden[i].value;
    if (st == NNV_OK) *loss = nnv_loss_of(x->spec, outputs);
    return st;
}

/** What each operation loses alone, and their order. */
static enum nnv_status rank(struct search *x) {
    struct nnv_mixed *m = x->out;
    enum nnv_status st = NNV_OK;
    for (uint32_t i = 0; i < m->operations && st == NNV_OK; i++) {
        memset(x->half, 0, m->operations * sizeof *x->half);
        x->half[i] = true;
        st = lose(x, &m->alone[i]);
        uint32_t k = i;
        for (; k > 0 && m->alone[i].tolerance > m->alone[x->order[k - 1]].tolerance; k--) x->order[k] = x->order[k - 1];
        x->order[k] = i;
    }
    return st;
}

/** The loss with the first n of the order in float32. */
static enum nnv_status keep_first(struct search *x, uint32_t n, struct nnv_loss *loss) {
    for (uint32_t i = 0; i < x->out->operations; i++) x->half[x->order[i]] = i >= n;
    return lose(x, loss);
}

/** Finds the fewest first ones by bisection, and tries to do without each, from the last. */
static enum nnv_status find(struct search *x) {
    struct nnv_mixed *m = x->out;
    uint32_t few = 0, enough = m->operations;
    struct nnv_loss loss = none;
    enum nnv_status st = NNV_OK;
    m->found = none; /* with all in float32 */
    while (enough - few > 1 && st == NNV_OK) {
        const uint32_t middle = few + (enough - few) / 2;
        st = keep_first(x, middle, &loss);
        if (st == NNV_OK && loss.tolerance <= x->tolerance)
            enough = middle, m->found = loss;
        else
            few = middle;
    }
    for (uint32_t i = 0; i < m->operations; i++) x->half[x->order[i]] = i >= enough;
    for (uint32_t i = enough; i-- > 0 && st == NNV_OK;) {
        x->half[x->order[i]] = true;
        st = lose(x, &loss);
        x->half[x->order[i]] = loss.tolerance <= x->tolerance;
        if (x->half[x->order[i]]) m->found = loss;
    }
    for (uint32_t i = 0; i < m->operations; i++) {
        m->needs[i] = !x->half[i];
        m->count += m->needs[i];
    }
    return st;
}

enum nnv_status nnv_mixed_find(const struct nnv_known *known, double tolerance, struct nnv_arena *arena,
                               struct nnv_mixed *out, struct nnv_err *err) {
    const struct nnv_spec *spec = known->spec;
    const uint32_t n = spec->model.main.noperations;
    struct search x = {.spec = spec, .tolerance = tolerance, .out = out, .err = err};
    size_t compared = 0;
    for (uint32_t i = 0; i < spec->model.main.nout; i++) compared += floats(spec, i);
    if (compared == 0) return nnv_fail(err, NNV_INVALID, "no output is of float32");
    *out = (struct nnv_mixed){
        .operations = n, .alone = NNV_NEW(arena, struct nnv_loss, n + 1), .needs = NNV_NEW(arena, bool, n + 1)};
    x.order = NNV_NEW(arena, uint32_t, n + 1);
    x.half = NNV_NEW(arena, bool, n + 1);
    x.work = nnv_arena_new();
    enum nnv_status st = out->alone && out->needs && x.order && x.half && x.work ? find_own(&x) : nnv_no_memory(err);
    if (st == NNV_OK) {
        memset(x.half, 1, n * sizeof *x.half);
        st = lose(&x, &out->all);
    }
    if (st == NNV_OK) out->found = out->all;
    if (st == NNV_OK) st = rank(&x);
    if (st == NNV_OK && !(out->all.tolerance <= tolerance)) st = find(&x);
    nnv_arena_free(x.work);
    return st;
}
