/* SPDX-License-Identifier: Apache-2.0 */
/* What the results of a draft are, or will be: whether they say anything, and their range before they are known. */
#include <math.h>
#include <string.h>

#include "base/type.h"
#include "randgraph/single/draft.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"
#include "reference/model/work.h"

void nnv_results_requantise(const struct nnv_single_draft *b, const struct nnv_golden *golden) {
    enum { BLOCK = 128 };
    double code[BLOCK];
    for (uint32_t i = 0; i < b->s->nout; i++) {
        const struct nnv_operand *o = &b->s->operands[b->s->out[i]];
        const size_t size = nnv_type(o->type)->size, n = golden[i].value.bytes / size;
        if (!nnv_is_quant(o->type)) continue;
        for (size_t at = 0; at < n; at += BLOCK) {
            const size_t count = n - at < BLOCK ? n - at : BLOCK;
            for (size_t e = 0; e < count; e++)
                code[e] = nnv_round_half_away(golden[i].exact[at + e] / (double)o->scale) + o->zero_point;
            nnv_store(o->type, code, count, (char *)golden[i].value.data + at * size);
        }
    }
}

/* True if n numbers, of a type of integers or not, say anything. */
static bool are_finite(const double *v, size_t n, bool integers) {
    for (size_t e = 0; e < n; e++)
        if (!isfinite(v[e]) || (integers && (v[e] <= INT32_MIN || v[e] >= INT32_MAX))) return false;
    return true;
}

bool nnv_results_finite(const struct nnv_single_draft *b) {
    enum { BLOCK = 256 };
    double v[BLOCK];
    for (uint32_t i = 0; i < b->s->nout; i++) {
        const struct nnv_type *t = nnv_type(b->s->operands[b->s->out[i]].type);
        const char *data = b->spec->outputs[i].data;
        for (size_t e = 0, n = b->spec->outputs[i].bytes / t->size; e < n; e += BLOCK) {
            const size_t m = n - e < BLOCK ? n - e : BLOCK;
            nnv_load(t->code, data + e * t->size, m, v);
            if (!are_finite(v, m, t->kind == NNV_KIND_INT)) return false;
        }
    }
    return true;
}

bool nnv_results_open(const struct nnv_single_draft *b) {
    static const struct nnv_eval_options options = {.rows = 2, .k = 2};
    struct nnv_golden *golden = NNV_NEW(b->arena, struct nnv_golden, b->s->nout);
    if (!b->what->op->sizes || !golden) return false;
    enum nnv_status st = nnv_eval(&b->spec->model, b->spec->inputs, &options, b->arena, golden, NULL);
    return st == NNV_OK && golden[0].open;
}

bool nnv_results_constant(const struct nnv_single_draft *b) {
    bool any = false;
    for (uint32_t i = 0; i < b->s->nout; i++) {
        const struct nnv_operand *o = &b->s->operands[b->s->out[i]];
        const char *data = b->spec->outputs[i].data;
        size_t size = nnv_type(o->type)->size, bytes = b->spec->outputs[i].bytes;
        if (o->ignored || bytes < 2 * size) continue;
        any = true;
        for (size_t at = size; at < bytes; at += size)
            if (memcmp(data, data + at, size) != 0) return false;
    }
    return any;
}

bool nnv_results_few(const struct nnv_single_draft *b) {
    enum { FEW = 4 };
    for (uint32_t i = 0; i < b->s->nout; i++)
        if (b->spec->outputs[i].bytes > FEW * nnv_type(b->s->operands[b->s->out[i]].type)->size) return false;
    return true;
}

/* The element is compared. Of a zero that says nothing unless all are: its spread may be none by chance. */
static bool tells(const struct nnv_golden *g, const struct nnv_type *t, size_t e) {
    const double spread = g->spread[e], exact = fabs(g->exact[e]);
    if (t->kind != NNV_KIND_FLOAT) return spread < t->max - t->min;
    return exact > 0 && spread * 8 <= exact && exact < 0.5 * t->max;
}

bool nnv_results_comparable(const struct nnv_single_draft *b) {
    static const struct nnv_eval_options options = {.rows = 8, .k = 2, .seed = 1};
    struct nnv_golden *golden = NNV_NEW(b->arena, struct nnv_golden, b->s->nout);
    const int32_t type = b->s->operands[b->s->out[0]].type;
    const bool quant = b->what->mode == NNV_FILL_LINES || b->what->mode == NNV_FILL_NORMAL;
    if (!nnv_is_float(type) && !(nnv_is_quant(type) && quant)) return true;
    if (!golden || nnv_eval(&b->spec->model, b->spec->inputs, &options, b->arena, golden, NULL) != NNV_OK) return false;
    for (uint32_t i = 0; i < b->s->nout; i++) {
        const struct nnv_operand *o = &b->s->operands[b->s->out[i]];
        const struct nnv_type *t = nnv_type(o->type);
        const size_t n = golden[i].value.bytes / t->size;
        bool any = o->ignored || (t->kind != NNV_KIND_FLOAT && nnv_is_float(type)) || n == 0, zeros = n > 0;
        for (size_t e = 0; e < n && !any; e++) any = tells(&golden[i], t, e);
        for (size_t e = 0; e < n && !any && zeros; e++) zeros = golden[i].spread[e] == 0 && golden[i].exact[e] == 0;
        if (!any && !zeros) return false;
    }
    return true;
}

enum nnv_status nnv_results_infer(const struct nnv_single_draft *b, bool *known, struct nnv_err *err) {
    struct nnv_shape *shapes = NNV_NEW(b->arena, struct nnv_shape, b->s->noperands);
    if (!shapes) return nnv_no_memory(err);
    enum nnv_status st = nnv_infer_shapes(&b->spec->model, b->arena, shapes, err);
    *known = true;
    for (uint32_t i = 0; !st && i < b->s->nout && *known; i++) {
        struct nnv_operand *o = &b->s->operands[b->s->out[i]];
        const struct nnv_shape *shape = &shapes[b->s->out[i]];
        *known = nnv_shape_known(shape);
        o->rank = shape->rank;
        o->dims = nnv_arena_copy(b->arena, shape->dims, shape->rank * sizeof *o->dims);
        if (!o->dims) return nnv_no_memory(err);
    }
    return st;
}

/* The range of the values of input i, which is a tensor with values. */
static void range_of_input(const struct nnv_single_draft *b, uint32_t i, double *lo, double *hi) {
    enum { BLOCK = 256 };
    const struct nnv_operand *o = &b->s->operands[i];
    const void *data = o->lifetime == NNV_SUBGRAPH_INPUT ? b->values[i].data : o->data;
    const size_t bytes = o->lifetime == NNV_SUBGRAPH_INPUT ? b->values[i].bytes : o->bytes;
    double scale = o->scale > 0 ? (double)o->scale : 1;
    *lo = *hi = 0;
    for (uint32_t c = 0; c < o->channel.count; c++) scale = fmax(c > 0 ? scale : 0, (double)o->channel.scales[c]);
    const size_t size = nnv_type(o->type)->size, n = data ? bytes / size : 0;
    for (size_t at = 0; at < n; at += BLOCK) {
        double v[BLOCK];
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        nnv_load(o->type, (const char *)data + at * size, count, v);
        for (size_t k = 0; k < count; k++) {
            const double real = (v[k] - o->zero_point) * scale;
            if (real < *lo) *lo = real;
            if (real > *hi) *hi = real;
        }
    }
}

void nnv_results_guess(const struct nnv_single_draft *b, double *lo, double *hi) {
    const struct nnv_operation *op = b->s->operations;
    struct nnv_op_work each, work;
    double low, high, results = 1;
    range_of_input(b, 0, lo, hi);
    if (b->what->op->rounding != NNV_ROUND_LINEAR || op->nin < 2) return;
    range_of_input(b, 1, &low, &high);
    const struct nnv_operand *o = &b->s->operands[op->out[0]];
    for (uint32_t d = 0; d < o->rank; d++) results *= o->dims[d];
    const bool known = nnv_model_work(&b->spec->model, b->arena, &each, &work, NULL) == NNV_OK;
    const double terms = known && work.operations > 2 * results ? work.operations / 2 / results : 1;
    *hi = fmax(-*lo, *hi) * fmax(-low, high) * sqrt(terms) / 2;
    *lo = -*hi;
}

enum nnv_status nnv_single_expect(struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_err *err) {
    static const struct nnv_eval_options options = {.rows = 0};
    const uint32_t n = spec->model.main.nout;
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, n);
    struct nnv_value *outputs = NNV_NEW(arena, struct nnv_value, n);
    if (spec->outputs) return NNV_OK;
    if (!golden || !outputs) return nnv_no_memory(err);
    enum nnv_status st = nnv_eval(&spec->model, spec->inputs, &options, arena, golden, err);
    for (uint32_t i = 0; !st && i < n; i++) outputs[i] = golden[i].value;
    if (!st) spec->outputs = outputs;
    return st;
}
