/* SPDX-License-Identifier: Apache-2.0 */
/** @file partition.c Bugs that show where a model is one step of several: many arguments, shared pools,
 * neighbours. */
#include <stdatomic.h>
#include <string.h>

#include "faulty.h"

/* ------------------------------------------------------------------ many arguments */

enum { FEW_INPUTS = 2, FEW_OUTPUTS = 2 };

static bool has_many_inputs(const struct call *c) { return c->model->main.input_count > FEW_INPUTS; }

static void swap_outputs(struct call *c) {
    if (!succeeded(c) || c->request->output_count < 2) return;
    const struct value *a = &c->outputs[0], *b = &c->outputs[1];
    if (!a->data || !b->data || a->bytes != b->bytes || a->type != b->type) return;
    for (uint32_t i = 0; i < a->bytes; i++) {
        const uint8_t byte = a->data[i];
        a->data[i] = b->data[i];
        b->data[i] = byte;
    }
}

static void leave_later_outputs(struct call *c) {
    for (uint32_t i = FEW_OUTPUTS; i < c->request->output_count; i++)
        if (c->outputs[i].data && c->outputs[i].before)
            memcpy(c->outputs[i].data, c->outputs[i].before, c->outputs[i].bytes);
}

/* ---------------------------------------------------------------------- shared pools */

static bool holds_input(const struct nnvts_request *r, uint32_t pool, uint64_t at) {
    for (uint32_t i = 0; i < r->input_count; i++) {
        const struct nnvts_location *l = &r->inputs[i].location;
        if (!r->inputs[i].has_no_value && l->pool == pool && at >= l->offset && at < (uint64_t)l->offset + l->length)
            return true;
    }
    return false;
}

/* A pool that is written to holds nothing else of worth: but for the inputs of this request. */
static void clear_pools(struct call *c) {
    const struct nnvts_request *r = c->request;
    for (uint32_t i = 0; i < r->output_count; i++) {
        const uint32_t pool = r->outputs[i].location.pool;
        if (pool >= r->pool_count || !r->pools[pool].data) continue;
        uint8_t *data = r->pools[pool].data;
        for (uint64_t at = 0; at < r->pools[pool].size; at++)
            if (!holds_input(r, pool, at)) data[at] = 0;
    }
}

/* ------------------------------------------------------------------------ neighbours */

/* Constants of one model at a time: prepared models that others outlive count. */
static atomic_int alive;

static void count_alive(struct call *c) {
    if (c->kind == CALL_RELEASE)
        atomic_fetch_sub(&alive, 1);
    else if (succeeded(c))
        atomic_fetch_add(&alive, 1);
}

static bool forget_constants(struct nnv_edit *e) {
    bool changed = false;
    for (uint32_t pos = 0; pos < nnv_edit_op(e)->nin && atomic_load(&alive) > 0; pos++) {
        const struct nnv_operand *o = nnv_edit_operand(e, (int)pos);
        if (!nnv_is_constant(o) || o->type != ANEURALNETWORKS_TENSOR_FLOAT32 || o->rank < 2) continue;
        void *zeros = nnv_arena_alloc(e->arena, o->bytes + 1, 1);
        if (!zeros || memcmp(zeros, o->data, o->bytes) == 0) continue;
        nnv_edit_set_bytes(e, (int)pos, zeros);
        changed = true;
    }
    return changed;
}

static const struct bug bugs[] = {
    BUG("many-inputs-refused", "a limit of arguments that is not told of beforehand",
        "prepare_model: more than two inputs, of operations that are supported", .on = ON(PREPARE),
        .when = has_many_inputs, .to = NNVTS_STATUS_GENERAL_FAILURE),
    BUG("outputs-swapped", "outputs bound by their sizes", "execute: the first two outputs are of one type and size",
        .tamper = swap_outputs),
    BUG("later-outputs-lost", "a fixed number of outputs is copied back", "execute: more than two outputs",
        .tamper = leave_later_outputs),
    BUG("output-pool-cleared", "a pool that is written to is cleared as a whole first",
        "execute: outputs in a pool that holds other values", .on = ON(EXECUTE), .before = clear_pools),
    BUG("constants-of-one-model", "room for the constants of one prepared model at a time",
        "a model with constants prepared while another one is alive", .rewrite = forget_constants,
        .on = ON(PREPARE) | ON(LOAD) | ON(RELEASE), .after = count_alive),
};
const struct bug_group bugs_partition = {bugs, sizeof bugs / sizeof *bugs};
