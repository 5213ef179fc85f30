/* SPDX-License-Identifier: Apache-2.0 */
/** @file many.c Bugs of tables that are too short for a model: what is beyond their end takes the place of another. */
#include "faulty.h"

enum { RING = 128, JOINED = 32, INPUTS = 64, OFFSETS = 1 << 16, COPIED = 128 };

/** Number of the operation that computes the operand; UINT32_MAX: none before `end`. */
static uint32_t maker_of(const struct nnv_subgraph *s, uint32_t operand, uint32_t end) {
    for (uint32_t k = 0; k < end; k++)
        for (uint32_t i = 0; i < s->operations[k].nout; i++)
            if (s->operations[k].out[i] == operand) return k;
    return UINT32_MAX;
}

/** Values lie in a ring: what was made too long ago is what was made last in its place. */
static bool keep_in_ring(struct nnv_edit *e) {
    const struct nnv_subgraph *s = &e->spec.model.main;
    struct nnv_operation *op = nnv_edit_op(e);
    bool changed = false;
    for (uint32_t i = 0; i < op->nin && e->at > RING; i++) {
        const uint32_t made = maker_of(s, op->in[i], e->at);
        if (made == UINT32_MAX || e->at - made <= RING) continue;
        const uint32_t other = s->operations[made + (e->at - 1 - made) / RING * RING].out[0];
        if (!alike(&s->operands[other], &s->operands[op->in[i]])) continue;
        op->in[i] = other;
        changed = true;
    }
    return changed;
}

/** The last input that the table holds stands for all behind it. */
static bool join_some(struct nnv_edit *e) {
    struct nnv_operation *op = nnv_edit_op(e);
    const struct nnv_operand *operands = e->spec.model.main.operands;
    bool changed = false;
    for (uint32_t i = JOINED; i + 1 < op->nin; i++)
        if (alike(&operands[op->in[i]], &operands[op->in[JOINED - 1]])) {
            op->in[i] = op->in[JOINED - 1];
            changed = true;
        }
    return changed;
}

/** The number of a model's input has six bits. */
static bool number_inputs(struct nnv_edit *e) {
    const struct nnv_subgraph *s = &e->spec.model.main;
    struct nnv_operation *op = nnv_edit_op(e);
    bool changed = false;
    for (uint32_t i = 0; i < op->nin; i++)
        for (uint32_t k = INPUTS; k < s->nin; k++) {
            if (op->in[i] != s->in[k] || !alike(&s->operands[s->in[k]], &s->operands[s->in[k % INPUTS]])) continue;
            op->in[i] = s->in[k % INPUTS];
            changed = true;
            break;
        }
    return changed;
}

/** Constants lie one behind the other, and where each begins is held in 16 bits. */
static bool place_constants(struct nnv_edit *e) {
    const struct nnv_subgraph *s = &e->spec.model.main;
    struct nnv_operation *op = nnv_edit_op(e);
    bool changed = false;
    for (uint32_t i = 0; i < op->nin; i++) {
        const struct nnv_operand *of = &s->operands[op->in[i]];
        size_t place = 0, at = 0;
        if (of->bytes <= COPIED) continue;
        for (uint32_t k = 0; k < op->in[i]; k++)
            if (s->operands[k].bytes > COPIED) place += s->operands[k].bytes;
        for (uint32_t k = 0; k < op->in[i] && place >= OFFSETS; k++) {
            const struct nnv_operand *o = &s->operands[k];
            if (o->bytes <= COPIED) continue;
            if (at == place % OFFSETS && alike(o, of)) {
                op->in[i] = k;
                changed = true;
                break;
            }
            at += o->bytes;
        }
    }
    return changed;
}

static const struct bug bugs[] = {
    BUG("values-in-a-ring", "values of a graph that lie in a ring of 128",
        "values that are read more than 128 operations later", .rewrite = keep_in_ring),
    BUG_OF(CONCATENATION, "joined-beyond-32", "a table of 32 inputs", "CONCATENATION of more than 32 inputs",
           .rewrite = join_some),
    BUG("inputs-in-six-bits", "the number of a model's input held in six bits", "models of more than 64 inputs",
        .rewrite = number_inputs),
    BUG("constants-in-16-bits", "the place of a constant held in 16 bits", "constants in pools, beyond 64 KiB of them",
        .rewrite = place_constants),
};
const struct bug_group bugs_many = {bugs, sizeof bugs / sizeof *bugs};
