/* SPDX-License-Identifier: Apache-2.0 */
/* From a flat graph to a model: its conversion, the lists of inputs and outputs. */
#include "compiler/nnapi/convert/convert_in.h"
#include "reference/model/emit.h"

struct nnv_rc nnv_rc_begin(const struct nnv_relay_module *m, int limit, struct nnv_arena *arena,
                           struct nnv_arena *scratch, struct nnv_err *err) {
    return (struct nnv_rc){.m = m,
                           .arena = arena,
                           .scratch = scratch,
                           .err = err,
                           .b = {.arena = arena},
                           .limit = limit ? limit : NNV_LEVEL_MAX,
                           .level = NNV_LEVEL_MIN};
}

/* Parameters are operands 0, 1, ... of the model. */
static void add_inputs(struct nnv_rc *c, struct nnv_rc_list in) {
    for (uint32_t i = 0; i < in.n && nnv_rc_ok(c); i++) {
        struct nnv_rc_value *v = &c->values[in.v[i]];
        struct nnv_rc_shape shape = nnv_rc_shape(c, in.v[i]);
        struct nnv_encoding e = nnv_rc_encoding(c, in.v[i]);
        if (!nnv_rc_ok(c)) return;
        v->operand = nnv_builder_tensor(&c->b, e, shape.rank, shape.dims, NNV_SUBGRAPH_INPUT);
    }
}

/* ------------------------------------------------------------------- results */

/*
 * A result that no operation gives, a constant, is copied by one: the value, which is of the copy now. A branch has
 * another value for the copy.
 */
static uint32_t copy_result(struct nnv_rc *c, uint32_t value) {
    uint32_t operand = c->values[value].operand;
    const struct nnv_rc_node copied = {.e = c->values[value].e, .row = &(struct nnv_rc_row){.name = "a constant"}};
    c->node = c->root = &copied;
    if (operand == NNV_RC_NONE) operand = nnv_rc_use(c, value);
    struct nnv_rc_shape shape = nnv_rc_operand_shape(c, operand);
    uint32_t to = nnv_rc_temp(c, nnv_builder_encoding(&c->b, operand), &shape);
    nnv_rc_reshaped(c, operand, &shape, to);
    c->node = c->root = NULL;
    if (c->nesting) value = nnv_rc_value(c, c->values[value].type, c->values[value].e);
    if (nnv_rc_ok(c)) c->values[value].operand = to;
    return value;
}

static void name_operands(struct nnv_rc *c, struct nnv_converted *out) {
    out->operand_name = NNV_NEW(c->arena, const char *, c->b.noperands);
    if (!out->operand_name) {
        nnv_rc_no_memory(c);
        return;
    }
    for (uint32_t i = 0; i < c->b.noperands; i++) out->operand_name[i] = "";
    for (uint32_t i = c->n_values; i-- > 0;) {
        const struct nnv_rc_value *v = &c->values[i];
        if (v->operand == NNV_RC_NONE || v->operand >= c->b.noperands) continue;
        if (v->e->kind == NNV_RELAY_VAR)
            out->operand_name[v->operand] = nnv_arena_printf(c->arena, "%%%s", v->e->name);
        else if (v->e->bound)
            out->operand_name[v->operand] = v->e->bound;
        if (!out->operand_name[v->operand]) nnv_rc_no_memory(c);
    }
}

/*
 * Numbers the outputs: a value that stands twice, or two values that are one operand, are one. A model must have an
 * operation: where there is none, the last result is copied. A branch gives each field by itself, so all that something
 * else stands for already is copied.
 */
static void list_outputs(struct nnv_rc *c, struct nnv_rc_list in, struct nnv_rc_list results, struct nnv_converted *out,
                         uint32_t *outputs, uint32_t *n) {
    uint32_t *number = NULL;
    out->n_results = results.n;
    out->output_of = NNV_NEW(c->arena, uint32_t, results.n);
    out->from_input = NNV_NEW(c->arena, bool, results.n);
    const uint32_t before = c->b.noperands;
    bool *taken = NNV_NEW(c->arena, bool, before);
    if (!taken) nnv_rc_no_memory(c);
    for (uint32_t i = 0; i < results.n && nnv_rc_ok(c); i++) {
        uint32_t operand = c->values[results.v[i]].operand;
        bool given = operand != NNV_RC_NONE && operand < in.n, idle = !c->b.noperations && i + 1 == results.n;
        bool constant = operand == NNV_RC_NONE || nnv_is_constant(&c->b.operand[operand]);
        bool again = c->nesting && operand < before && (given || taken[operand]);
        if (operand < before) taken[operand] = true;
        if (again || (given ? idle : constant)) results.v[i] = copy_result(c, results.v[i]);
    }
    number = NNV_NEW(c->arena, uint32_t, c->b.noperands);
    if (!out->output_of || !out->from_input || !number) nnv_rc_no_memory(c);
    for (uint32_t i = 0; i < results.n && nnv_rc_ok(c); i++) {
        uint32_t operand = c->values[results.v[i]].operand;
        out->from_input[i] = operand < in.n;
        out->output_of[i] = operand;
        if (operand < in.n) continue;
        if (!number[operand]) {
            outputs[(*n)++] = operand;
            number[operand] = *n;
            c->b.operand[operand].lifetime = NNV_SUBGRAPH_OUTPUT;
        }
        out->output_of[i] = number[operand] - 1;
    }
}

/* Operations whose results nobody reads leave, and constants that only they read. */
static void sweep(struct nnv_rc *c, uint32_t n_in, uint32_t *inputs, uint32_t n_out, uint32_t *outputs) {
    struct nnv_swept swept;
    if (nnv_emit_sweep(&c->b, true, n_in, inputs, n_out, outputs, c->scratch, &swept, NULL) != NNV_OK) {
        nnv_rc_no_memory(c);
        return;
    }
    for (uint32_t i = 0; i < c->b.noperations; i++) c->from[i] = c->from[swept.was[i]];
    for (uint32_t i = 0; i < c->n_values; i++)
        if (c->values[i].operand != NNV_RC_NONE) c->values[i].operand = swept.number[c->values[i].operand];
}

static void finish(struct nnv_rc *c, struct nnv_rc_list in, struct nnv_rc_list results, bool relaxed,
                   struct nnv_converted *out) {
    uint32_t *inputs = NNV_NEW(c->arena, uint32_t, in.n), *outputs = NNV_NEW(c->arena, uint32_t, results.n), n = 0;
    if (!inputs || !outputs) nnv_rc_no_memory(c);
    if (nnv_rc_ok(c)) list_outputs(c, in, results, out, outputs, &n);
    nnv_arena_reset(c->scratch);
    for (uint32_t i = 0; i < in.n && nnv_rc_ok(c); i++) inputs[i] = i;
    if (nnv_rc_ok(c)) sweep(c, in.n, inputs, n, outputs);
    if (nnv_rc_ok(c)) name_operands(c, out);
    if (!nnv_rc_ok(c)) return;
    c->st = nnv_builder_end(&c->b, in.n, inputs, n, outputs, &out->model, c->err);
    out->model.relaxed = relaxed;
    out->model.referenced = c->referenced;
    out->model.nreferenced = c->n_referenced;
    out->from = c->from;
    out->level = c->level;
}

void nnv_rc_model(struct nnv_rc *c, struct nnv_rc_list in, struct nnv_rc_list results, bool relaxed,
                  struct nnv_converted *out) {
    for (uint32_t i = 0; i < results.n && nnv_rc_ok(c); i++) c->values[results.v[i]].uses++;
    if (nnv_rc_ok(c)) nnv_rc_find_quant(c);
    if (nnv_rc_ok(c)) nnv_rc_find_chains(c);
    add_inputs(c, in);
    if (nnv_rc_ok(c)) nnv_rc_convert_nodes(c);
    if (nnv_rc_ok(c)) finish(c, in, results, relaxed, out);
    if (c->b.failed) nnv_rc_no_memory(c);
}
