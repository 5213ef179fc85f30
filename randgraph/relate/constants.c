/* SPDX-License-Identifier: Apache-2.0 */
/** @file constants.c Relations of constants: what they are told apart by, and inputs in their place. */
#include <string.h>

#include "randgraph/relate/relate.h"

/* A constant with the elements in the opposite order; NULL if that is the same one, or there is no memory. */
static void *reversed(const struct nnv_operand *o, struct nnv_arena *arena) {
    const size_t size = nnv_type(o->type)->size, n = o->bytes / size;
    uint8_t *copy = nnv_arena_alloc(arena, n, size);
    for (size_t i = 0; copy && i < n; i++) memcpy(copy + i * size, (const uint8_t *)o->data + (n - 1 - i) * size, size);
    return copy;
}

/* Constants that are numbers to compute with: no axes, shapes or biases. */
static bool is_weights(const struct nnv_operand *o) {
    return nnv_is_constant(o) && o->rank > 0 && o->bytes > 0 && (nnv_is_float(o->type) || nnv_is_quant(o->type));
}

bool nnv_relate_constant_fed(struct nnv_related *r) {
    struct nnv_subgraph *m = &r->to->model.main;
    uint32_t pick = 0;
    int64_t found = 0;
    void *others = NULL;
    for (uint32_t i = 0; i < m->noperands; i++) {
        const struct nnv_operand *o = &m->operands[i];
        void *turned = is_weights(o) && !o->channel.count ? reversed(o, r->arena) : NULL;
        if (!turned || nnv_rng_int(&r->rng, 0, found++) != 0) continue;
        pick = i;
        others = turned;
    }
    r->decoy = nnv_relate_copy(r->from, r->arena);
    if (!found || !r->decoy) return false;
    struct nnv_operand *o = &m->operands[pick];
    struct nnv_value *v = &r->to->inputs[m->nin];
    *v = (struct nnv_value){.rank = o->rank, .bytes = o->bytes};
    if (o->rank > NNV_MAX_RANK) return false;
    memcpy(v->dims, o->dims, o->rank * sizeof *v->dims);
    v->data = nnv_arena_copy(r->arena, o->data, o->bytes);
    r->decoy->model.main.operands[pick].data = others;
    o->lifetime = NNV_SUBGRAPH_INPUT;
    o->data = NULL;
    o->bytes = 0;
    m->in[m->nin++] = pick;
    return v->data != NULL;
}

bool nnv_relate_fix_input(struct nnv_spec *to, uint32_t at, bool copied) {
    struct nnv_subgraph *m = &to->model.main;
    struct nnv_operand *o = &m->operands[m->in[at]];
    const struct nnv_value *v = &to->inputs[at];
    if (v->omitted || v->bytes == 0 || o->rank != v->rank) return false;
    memcpy(o->dims, v->dims, v->rank * sizeof *o->dims);
    o->lifetime = copied ? NNV_CONSTANT_COPY : NNV_CONSTANT_REFERENCE;
    o->data = v->data;
    o->bytes = v->bytes;
    m->nin--;
    memmove(&m->in[at], &m->in[at + 1], (m->nin - at) * sizeof *m->in);
    memmove(&to->inputs[at], &to->inputs[at + 1], (m->nin - at) * sizeof *to->inputs);
    return true;
}

bool nnv_relate_input_fixed(struct nnv_related *r) {
    const uint32_t n = r->to->model.main.nin, at = (uint32_t)nnv_rng_int(&r->rng, 0, (int64_t)n - 1);
    struct nnv_rng drawn = r->rng; /* where no input is fixed, nothing more is drawn */
    if (n < 2 || !nnv_relate_fix_input(r->to, at, nnv_rng_int(&drawn, 0, 1) == 0)) return false;
    r->rng = drawn;
    return true;
}

/* ----------------------------------------------------------- which constant is it? */

/** Biases, too: no axes or shapes. */
static bool is_numbers(const struct nnv_operand *o) { return is_weights(o) || (nnv_is_constant(o) && o->scale > 0); }

/**
 * Constants of the operation with the same numbers the other way round, for another one; false: there are none. The
 * operation's own come before or behind them: who takes two for one may keep either.
 */
static bool turn_constants(struct nnv_related *r, struct nnv_operation *op, uint32_t *in) {
    const bool own_first = nnv_rng_int(&r->rng, 0, 1) != 0;
    struct nnv_subgraph *m = &r->to->model.main;
    bool changed = false;
    for (uint32_t p = 0; p < op->nin; p++) {
        struct nnv_operand o = m->operands[op->in[p]];
        in[p] = op->in[p];
        void *turned = is_numbers(&o) && o.rank > 0 && o.bytes > 0 ? reversed(&o, r->arena) : NULL;
        if (!turned || memcmp(turned, o.data, o.bytes) == 0) continue;
        const struct nnv_operand own = o;
        o.data = turned;
        in[p] = nnv_relate_operand(r, o);
        if (!own_first) op->in[p] = nnv_relate_operand(r, own);
        if (in[p] == NNV_RELATED_NONE || op->in[p] == NNV_RELATED_NONE) return false;
        changed = true;
    }
    return changed;
}

/** Another value of a scalar: the other truth, twice a real number, a neighbour of a whole one. NULL: no memory. */
static void *another_scalar(struct nnv_related *r, const struct nnv_operand *o) {
    double v;
    void *data = nnv_arena_copy(r->arena, o->data, o->bytes);
    nnv_load(o->type, o->data, 1, &v);
    const double up = nnv_rng_int(&r->rng, 0, 1) != 0 || v == 0 ? v + 1 : v - 1;
    v = o->type == ANEURALNETWORKS_BOOL ? !(v != 0) : nnv_is_float(o->type) ? 2 * v : up;
    if (data) nnv_store(o->type, &v, 1, data);
    return data;
}

/** The operation's inputs with one scalar constant changed; false: there is none. */
static bool change_scalar(struct nnv_related *r, struct nnv_operation *op, uint32_t *in) {
    const struct nnv_subgraph *m = &r->to->model.main;
    uint32_t pick = 0;
    int64_t found = 0;
    for (uint32_t p = 0; p < op->nin; p++) {
        const struct nnv_operand *o = &m->operands[op->in[p]];
        in[p] = op->in[p];
        const bool scalar = nnv_is_constant(o) && !nnv_type(o->type)->tensor && o->bytes > 0;
        if (scalar && nnv_rng_int(&r->rng, 0, found++) == 0) pick = p;
    }
    if (!found) return false;
    struct nnv_operand o = m->operands[in[pick]];
    o.data = another_scalar(r, &o);
    in[pick] = o.data ? nnv_relate_operand(r, o) : NNV_RELATED_NONE;
    return in[pick] != NNV_RELATED_NONE;
}

/** An operation beside one of the model's, whose results are outputs, too: change says what it reads in place of op's.
 */
static bool put_beside(struct nnv_related *r,
                       bool (*change)(struct nnv_related *r, struct nnv_operation *op, uint32_t *in)) {
    struct nnv_subgraph *m = &r->to->model.main;
    const uint32_t first = (uint32_t)nnv_rng_int(&r->rng, 0, (int64_t)m->noperations - 1);
    const bool behind = nnv_rng_int(&r->rng, 0, 1) != 0;
    for (uint32_t k = 0; k < m->noperations; k++) {
        const uint32_t at = (first + k) % m->noperations;
        struct nnv_operation op = m->operations[at]; /* with the list of its inputs, which is the model's */
        uint32_t *in = NNV_NEW(r->arena, uint32_t, op.nin);
        if (!in || !change(r, &op, in)) continue;
        const uint32_t *out = nnv_relate_outputs(r, at);
        if (!out) return false;
        nnv_relate_insert(r, behind ? at + 1 : at, op.type, op.nin, in, op.nout, out);
        for (uint32_t i = 0; i < op.nout; i++) {
            m->operands[out[i]].lifetime = NNV_SUBGRAPH_OUTPUT;
            r->output[m->nout] = NNV_RELATED_NONE;
            m->out[m->nout++] = out[i];
        }
        return true;
    }
    return false;
}

bool nnv_relate_constants_alike(struct nnv_related *r) { return put_beside(r, turn_constants); }
bool nnv_relate_scalar_apart(struct nnv_related *r) { return put_beside(r, change_scalar); }

bool nnv_relate_constants_repeated(struct nnv_related *r) {
    struct nnv_subgraph *m = &r->to->model.main;
    uint32_t at;
    bool changed = false;
    if (!nnv_relate_again(r, &at)) return false;
    for (uint32_t p = 0; p < m->operations[at].nin; p++) {
        struct nnv_operand o = m->operands[m->operations[at].in[p]];
        if (!nnv_is_constant(&o) || o.rank == 0 || o.bytes == 0) continue;
        o.data = nnv_arena_copy(r->arena, o.data, o.bytes);
        if (!o.data) return false;
        m->operations[at].in[p] = nnv_relate_operand(r, o);
        changed = true;
    }
    return changed;
}
