/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/single/infinite.h"

#include <math.h>

#include "reference/eval/eval.h"

enum { LEAST = 3 }; /* elements: one that is finite must be left */

/** True if outputs have infinities, and no NaN. */
static bool shows_infinity(const struct nnv_spec *spec, const struct nnv_golden *golden) {
    const struct nnv_subgraph *s = &spec->model.main;
    bool any = false;
    for (uint32_t i = 0; i < s->nout; i++) {
        const int32_t type = s->operands[s->out[i]].type;
        const size_t size = nnv_type(type)->size;
        for (size_t at = 0; nnv_is_float(type) && at < golden[i].value.bytes; at += size) {
            double v;
            nnv_load(type, (const char *)golden[i].value.data + at, 1, &v);
            if (isnan(v)) return false;
            any |= isinf(v);
        }
    }
    return any;
}

void nnv_infinite_values(struct nnv_spec *spec, struct nnv_arena *arena) {
    static const struct nnv_eval_options options = {.rows = 0};
    const struct nnv_subgraph *s = &spec->model.main;
    const int32_t type = s->nin ? s->operands[s->in[0]].type : -1;
    const size_t size = nnv_is_float(type) ? nnv_type(type)->size : 0;
    if (size == 0 || spec->inputs[0].bytes < LEAST * size) return;
    struct nnv_value *inputs = nnv_arena_copy(arena, spec->inputs, s->nin * sizeof *inputs);
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, s->nout);
    char *data = nnv_arena_copy(arena, spec->inputs[0].data, spec->inputs[0].bytes);
    if (!inputs || !golden || !data) return;
    const double above = INFINITY, below = -INFINITY;
    nnv_store(type, &above, 1, data);
    nnv_store(type, &below, 1, data + inputs[0].bytes - size);
    inputs[0].data = data;
    if (nnv_eval(&spec->model, inputs, &options, arena, golden, NULL) != NNV_OK) return;
    if (!shows_infinity(spec, golden)) return;
    spec->inputs = inputs;
    for (uint32_t i = 0; i < s->nout; i++) spec->outputs[i] = golden[i].value;
}
