/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_partition.c Bugs that show where a model is one step of several: many arguments, shared pools,
 * neighbours. */
#include <stdatomic.h>
#include <string.h>

#include "faulty.h"

/* ------------------------------------------------------------------ many arguments */

enum { FEW_INPUTS = 2, FEW_OUTPUTS = 2 };

static enum nnvts_status refuse_many(const struct nnvts_model *model, enum nnvts_status status) {
    return model->main.input_count > FEW_INPUTS ? NNVTS_STATUS_GENERAL_FAILURE : status;
}

static enum nnvts_status swap_outputs(struct tamper *t, enum nnvts_status status) {
    if (status != NNVTS_STATUS_NONE || t->request->output_count < 2) return status;
    struct tamper_value *a = &t->outputs[0], *b = &t->outputs[1];
    if (!a->data || !b->data || a->bytes != b->bytes || a->type != b->type) return status;
    for (uint32_t i = 0; i < a->bytes; i++) {
        const uint8_t byte = a->data[i];
        a->data[i] = b->data[i];
        b->data[i] = byte;
    }
    return status;
}

static enum nnvts_status leave_later_outputs(struct tamper *t, enum nnvts_status status) {
    for (uint32_t i = FEW_OUTPUTS; i < t->request->output_count; i++)
        if (t->outputs[i].data && t->outputs[i].before)
            memcpy(t->outputs[i].data, t->outputs[i].before, t->outputs[i].bytes);
    return status;
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
static enum nnvts_status execute_cleared(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                         const struct nnvts_execution_config *config,
                                         struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    for (uint32_t i = 0; i < request->output_count; i++) {
        const uint32_t pool = request->outputs[i].location.pool;
        if (pool >= request->pool_count || !request->pools[pool].data) continue;
        uint8_t *data = request->pools[pool].data;
        for (uint64_t at = 0; at < request->pools[pool].size; at++)
            if (!holds_input(request, pool, at)) data[at] = 0;
    }
    return inner->execute(inner, request, config, result);
}
static void clears_pools(struct nnvts_prepared_model *prepared) { prepared->execute = execute_cleared; }

/* ------------------------------------------------------------------------ neighbours */

/* Constants of one model at a time: prepared models that others outlive count. */
static atomic_int alive;
static void (*release_one)(struct nnvts_prepared_model *self);

static void release_counted(struct nnvts_prepared_model *self) {
    atomic_fetch_sub(&alive, 1);
    release_one(self);
}
static void count_alive(struct nnvts_prepared_model *prepared) {
    atomic_fetch_add(&alive, 1);
    release_one = prepared->release;
    prepared->release = release_counted;
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
        "prepare_model: more than two inputs, of operations that are supported", .prepare = refuse_many),
    BUG("outputs-swapped", "outputs bound by their sizes", "execute: the first two outputs are of one type and size",
        .execute = swap_outputs),
    BUG("later-outputs-lost", "a fixed number of outputs is copied back", "execute: more than two outputs",
        .execute = leave_later_outputs),
    BUG("output-pool-cleared", "a pool that is written to is cleared as a whole first",
        "execute: outputs in a pool that holds other values", .prepared = clears_pools),
    BUG("constants-of-one-model", "room for the constants of one prepared model at a time",
        "a model with constants prepared while another one is alive", .rewrite = forget_constants,
        .prepared = count_alive),
};
const struct bug_group bugs_partition = {bugs, sizeof bugs / sizeof *bugs};
