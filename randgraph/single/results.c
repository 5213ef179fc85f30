/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the results of a draft say anything. */
#include <math.h>
#include <string.h>

#include "base/type.h"
#include "randgraph/single/draft.h"
#include "reference/eval/eval.h"

bool nnv_results_finite(const struct nnv_single_draft *b) {
    for (uint32_t i = 0; i < b->s->nout; i++) {
        const struct nnv_operand *o = &b->s->operands[b->s->out[i]];
        const char *data = b->spec->outputs[i].data;
        size_t size = nnv_type(o->type)->size, n = b->spec->outputs[i].bytes / size;
        for (size_t e = 0; e < n; e++) {
            double v;
            nnv_load(o->type, data + e * size, 1, &v);
            if (!isfinite(v)) return false;
            if (nnv_type(o->type)->kind == NNV_KIND_INT && (v <= INT32_MIN || v >= INT32_MAX)) return false;
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
