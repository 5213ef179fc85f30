/* SPDX-License-Identifier: Apache-2.0 */
/** @file size.c Output buffers that are too small, or larger than the outputs. */
#include <string.h>

#include "harness/suites/shapes/shapes.h"
#include "nnvts/result.h"

/* ------------------------------------------------------------ outputs too small */

/* An extent may be told as 0, "not known": of outputs that were not computed any more, and where the model leaves it
 * open (as Android's own suite lets it pass). */
static bool may_be_unknown(const struct nnv_shape_fixture *b, uint32_t output, uint32_t k, bool fits) {
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    const struct nnv_operand *o = &main->operands[main->out[output]];
    return fits || o->rank <= k || o->dims[k] == 0;
}

/* What the driver says of one output that it was given `length` bytes for. */
static void expect_shape(struct nnv_shape_fixture *b, uint32_t i, uint32_t length) {
    struct nnv_context *s = b->s;
    const struct nnvts_output_shape *got = &b->values.result.shapes[i];
    const struct nnv_value *want = b->fixture.expected[i].value;
    const bool fits = want->bytes <= length;
    const bool unknown = got->is_sufficient && got->dimension_count == 0;
    if (unknown && nnv_device_limits(s->device) & NNVTS_LIMIT_PARTIAL_SHAPES) return;
    nnv_expect(s, got->is_sufficient == fits,
               "output %u has %u bytes and needs %zu: is_sufficient must be %s in the answer, it is not", i, length,
               want->bytes, fits ? "true" : "false");
    if (fits && got->dimension_count == 0) return; /* not computed any more */
    if (!nnv_expect(s, got->dimension_count == want->rank, "output %u: rank %u is reported, its result has rank %u", i,
                    got->dimension_count, want->rank))
        return;
    for (uint32_t k = 0; k < want->rank; k++)
        nnv_expect(s, got->dimensions[k] == want->dims[k] || (may_be_unknown(b, i, k, fits) && got->dimensions[k] == 0),
                   "output %u: extent %u is reported as %u, a buffer for the result needs %u", i, k, got->dimensions[k],
                   want->dims[k]);
}

/* Bytes of the output pool that the request's buffers do not have are as they were. */
static void expect_untouched(struct nnv_shape_fixture *b, const uint8_t *before) {
    const struct nnv_request *v = &b->values;
    size_t from = 0;
    for (uint32_t i = 0; i <= nnv_shapes_outputs(b); i++) {
        const struct nnvts_location *l = i < nnv_shapes_outputs(b) ? &v->outputs[i].location : NULL;
        const size_t to = l ? l->offset : (size_t)v->pools[1].size;
        if (!nnv_expect(b->s, memcmp(before + from, v->pool_data[1] + from, to - from) == 0,
                        "execute wrote behind the buffer of output %u, which was given as too small", i ? i - 1 : 0))
            b->s->result->worker_damaged = true;
        if (l) from = (size_t)l->offset + l->length;
    }
}

/*
 * Executes with buffers of these lengths, of which one at least is too small; allowed: bits of the statuses. Then with
 * buffers of the right size.
 */
static void execute_short(struct nnv_shape_fixture *b, const uint32_t *lengths, uint32_t allowed) {
    struct nnv_context *s = b->s;
    struct nnv_request *v = &b->values;
    struct nnv_execution run = nnv_execution_make(b->mode, b->prepared, v);
    nnv_request_reset(v);
    for (uint32_t i = 0; i < nnv_shapes_outputs(b); i++) v->outputs[i].location.length = lengths[i];
    const uint8_t *before = nnv_arena_copy(s->env->arena, v->pool_data[1], (size_t)v->pools[1].size);
    if (!before) {
        nnv_context_error(s, NNV_OUT_OF_MEMORY);
        return;
    }
    if (!nnv_context_try(s, &run)) return;
    const enum nnvts_status st = run.status;
    nnv_context_enter(s, NNV_PHASE_CHECK);
    expect_untouched(b, before);
    if (s->result->worker_damaged) return;
    if (st == NNVTS_STATUS_GENERAL_FAILURE && (allowed & 1u << st)) {
        nnv_context_decline(s, NNVTS_WHY_OPEN_SHAPES, "the driver can't execute a model whose shapes are left open");
        return;
    }
    if (!nnv_expect_status_in(s, "execute with an output buffer that is too small", st, allowed)) return;
    const uint32_t shapes = st == NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE ? nnv_shapes_outputs(b) : 0;
    if (!nnv_expect(s, v->result.shape_count == shapes,
                    "execute with an output buffer that is too small reports %u shapes, expected %u",
                    v->result.shape_count, shapes))
        return;
    for (uint32_t i = 0; i < shapes; i++) expect_shape(b, i, lengths[i]);
    if (s->result->verdict == NNVTS_PASS) nnv_shapes_execute(b);
}

static uint32_t insufficient(const struct nnv_shape_fixture *b) {
    uint32_t allowed = 1u << NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
    for (uint32_t i = 0; i < nnv_shapes_outputs(b); i++) {
        /* A declared shape shows the mistake at once; an open one may be more than the driver can do. */
        const bool open = nnv_request_leaves_open(&b->values, i);
        allowed |= 1u << (open ? NNVTS_STATUS_GENERAL_FAILURE : NNVTS_STATUS_INVALID_ARGUMENT);
    }
    return allowed;
}

/* Each of the first outputs in turn is one byte short. */
void nnv_shapes_one_too_small(struct nnv_shape_fixture *b) {
    enum { MOST = 4 };
    bool any = false;
    uint32_t *lengths = NNV_NEW(b->s->env->arena, uint32_t, nnv_shapes_outputs(b));
    for (uint32_t i = 0; i < nnv_shapes_outputs(b) && i < MOST && lengths; i++) {
        for (uint32_t k = 0; k < nnv_shapes_outputs(b); k++) lengths[k] = (uint32_t)b->fixture.expected[k].value->bytes;
        if (lengths[i] < 2 || b->fixture.expected[i].ignored) continue;
        lengths[i]--;
        any = true;
        execute_short(b, lengths, insufficient(b));
        if (b->s->result->verdict != NNVTS_PASS) return;
    }
    if (!any) nnv_context_execute(b->s, b->prepared, &b->values);
}

void nnv_shapes_all_too_small(struct nnv_shape_fixture *b) {
    bool any = false; /* an output of one byte has room enough */
    uint32_t *lengths = NNV_NEW(b->s->env->arena, uint32_t, nnv_shapes_outputs(b));
    for (uint32_t i = 0; i < nnv_shapes_outputs(b) && lengths; i++) {
        lengths[i] = 1;
        any |= b->fixture.expected[i].value->bytes > 1;
    }
    if (lengths && any)
        execute_short(b, lengths, insufficient(b));
    else if (lengths)
        nnv_context_execute(b->s, b->prepared, &b->values);
}

bool nnv_shapes_fall_short(struct nnv_shape_fixture *b) {
    struct nnv_execution run = nnv_execution_make(b->mode, b->prepared, &b->values);
    nnv_request_reset(&b->values);
    for (uint32_t i = 0; i < nnv_shapes_outputs(b); i++)
        if (b->values.outputs[i].location.length > 1) b->values.outputs[i].location.length--;
    return nnv_context_try(b->s, &run);
}

/* ------------------------------------------------------------ outputs too large */

/* Buffers with room for more: the values stand at their beginnings, and nothing behind their ends. */
void nnv_shapes_roomy(struct nnv_shape_fixture *b) {
    enum { MORE = 64, FILL = 0x5a };
    struct nnv_context *s = b->s;
    struct nnv_request wide = b->values;
    const uint32_t n = nnv_shapes_outputs(b);
    struct nnv_execution run = nnv_execution_make(b->mode, b->prepared, &wide);
    struct nnvts_location *exact = NNV_NEW(s->env->arena, struct nnvts_location, n);
    uint64_t size = MORE;
    nnv_request_reset(&b->values);
    for (uint32_t i = 0; i < n && exact; i++) {
        struct nnvts_location *l = &b->values.outputs[i].location;
        exact[i] = *l;
        *l = (struct nnvts_location){.pool = 1, .offset = (uint32_t)size, .length = l->length + MORE};
        size += ((uint64_t)l->length + MORE) / MORE * MORE + MORE;
    }
    if (!exact || !nnv_context_memory(s, (size_t)size, NNV_POOL_WRITABLE, &wide.pools[1], &wide.pool_data[1])) return;
    memset(wide.pool_data[1], FILL, (size_t)size);
    wide.abi.pools = wide.pools;
    if (!nnv_context_try(s, &run)) return;
    b->values.result = wide.result;
    size_t from = 0;
    for (uint32_t i = 0; i <= n; i++) {
        const struct nnvts_location *l = &b->values.outputs[i < n ? i : 0].location;
        for (const uint64_t to = i < n ? l->offset : size; from < to; from++)
            if (!nnv_expect(s, wide.pool_data[1][from] == FILL, "execute wrote outside its output buffers")) return;
        if (i < n) from = (size_t)l->offset + l->length;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct nnvts_location *l = &b->values.outputs[i].location;
        if (exact[i].length)
            memcpy(b->values.pool_data[1] + exact[i].offset, wide.pool_data[1] + l->offset, exact[i].length);
        *l = exact[i];
    }
    if (run.status != NNVTS_STATUS_GENERAL_FAILURE)
        nnv_context_check_values(s, "execute with buffers that are larger than the outputs", run.status, &b->values);
    else if (nnv_shapes_execute(b)) /* what it can do with the room that the results need, it can do here */
        nnv_expect_status(s, "execute with buffers that are larger than the outputs", run.status, NNVTS_STATUS_NONE);
}
