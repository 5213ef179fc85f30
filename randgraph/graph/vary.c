/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/graph/growth.h"

#include <math.h>
#include <string.h>

#include "reference/eval/eval.h"

/* Mirrored at the middle, and drawn nearer to it, so that the largest and the smallest are others, too. */
static double mirrored(double x, double lo, double hi, bool whole) {
    const double y = lo + hi - x, drawn = 0.75 * y + 0.25 * (0.5 * (lo + hi));
    return whole ? floor(drawn + 0.5) : drawn;
}

bool nnv_growth_perturb(const struct nnv_operand *o, const struct nnv_value *v, struct nnv_arena *arena,
                        struct nnv_value *out) {
    const size_t size = nnv_type(o->type)->size, n = v->bytes / size;
    double *x = NNV_NEW(arena, double, n), lo = INFINITY, hi = -INFINITY;
    *out = *v;
    out->data = nnv_arena_alloc(arena, n + 1, size);
    if (!x || !out->data) return false;
    nnv_load(o->type, v->data, n, x);
    for (size_t i = 0; i < n; i++) {
        lo = fmin(lo, x[i]);
        hi = fmax(hi, x[i]);
    }
    for (size_t i = 0; i < n / 2; i++) {
        double t = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = t;
    }
    const bool flat = lo == hi, whole = nnv_type(o->type)->kind != NNV_KIND_FLOAT;
    for (size_t i = 0; i < n; i++)
        x[i] = flat ? (!whole ? 0.75 * x[i] + 0.125 : x[i] == 0 ? 1 : x[i] - 1) : mirrored(x[i], lo, hi, whole);
    nnv_store(o->type, x, n, out->data);
    return true;
}

/* The operation that writes the operand, and as which of its outputs; NULL: none does. */
static const struct nnv_op *writer(const struct nnv_subgraph *m, uint32_t operand, uint32_t *output) {
    for (uint32_t k = m->noperations; k-- > 0;)
        for (uint32_t i = 0; i < m->operations[k].nout; i++)
            if (m->operations[k].out[i] == operand) {
                *output = i;
                return nnv_op(m->operations[k].type);
            }
    return NULL;
}

bool nnv_growth_changed(const struct nnv_subgraph *m, const struct nnv_golden *was, const struct nnv_golden *is) {
    for (uint32_t i = 0; i < m->nout; i++) {
        uint32_t output;
        const struct nnv_op *op = writer(m, m->out[i], &output);
        if (m->operands[m->out[i]].ignored || (op && !nnv_graph_tells(op, output))) continue;
        if (was[i].value.bytes == is[i].value.bytes &&
            memcmp(was[i].value.data, is[i].value.data, is[i].value.bytes) == 0)
            return false;
    }
    return true;
}

bool nnv_growth_without_rows(const struct nnv_value *v, struct nnv_arena *arena, struct nnv_value *out) {
    if (v->omitted || v->rank == 0) return false;
    *out = *v;
    out->dims[0] = 0;
    out->bytes = 0;
    out->data = nnv_arena_alloc(arena, 1, 1);
    return out->data != NULL;
}

/* ---------------------------------------------------------------- comparability */

/* Elements of an output whose budget leaves something to compare; see nnv_check. */
static size_t comparable(const struct nnv_operand *o, const struct nnv_golden *g) {
    const struct nnv_type *t = nnv_type(o->type);
    const size_t n = g->value.bytes / t->size;
    double squares = 0, x;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        nnv_load(o->type, (const char *)g->value.data + i * t->size, 1, &x);
        squares += x * x;
    }
    const double rms = sqrt(squares / (double)(n ? n : 1));
    for (size_t i = 0; i < n; i++) {
        nnv_load(o->type, (const char *)g->value.data + i * t->size, 1, &x);
        if (t->kind == NNV_KIND_FLOAT)
            count += 2 * g->spread[i] <= 0.5 * fmax(fabs(x), rms);
        else
            count += t->kind == NNV_KIND_QUANT ? g->spread[i] < 32 : g->spread[i] == 0;
    }
    return count;
}

bool nnv_graph_comparable(const struct nnv_spec *spec, struct nnv_arena *arena) {
    enum { ROWS = 3 };
    const struct nnv_subgraph *m = &spec->model.main;
    const struct nnv_eval_options budgets = {.rows = ROWS, .k = 2, .seed = 1};
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, m->nout);
    struct nnv_err why = {0};
    size_t elems = 0, count = 0;
    if (!golden || nnv_eval(&spec->model, spec->inputs, &budgets, arena, golden, &why) != NNV_OK) return false;
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_operand *o = &m->operands[m->out[i]];
        uint32_t output;
        const struct nnv_op *op = writer(m, m->out[i], &output);
        if (o->ignored || (op && !nnv_graph_tells(op, output))) continue;
        elems += golden[i].value.bytes / nnv_type(o->type)->size;
        count += comparable(o, &golden[i]);
    }
    return count * 2 >= elems;
}
