/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/client/request.h"

#include <string.h>

#include "base/guard.h"
#include "harness/client/verify.h"

static size_t guarded_bytes(const struct nnv_value *values, uint32_t n) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!values[i].omitted) bytes += nnv_guard_room(values[i].bytes);
    return bytes;
}

enum nnv_status nnv_request_init(struct nnv_request *r, const struct nnv_model *model, const struct nnv_value *in,
                                 const struct nnv_value *out, struct nnv_arena *arena, struct nnv_err *err) {
    const uint32_t nin = model->main.nin, nout = model->main.nout;
    *r = (struct nnv_request){
        .model = model,
        .in = in,
        .out = out,
        .inputs = NNV_NEW(arena, struct nnvts_argument, nin),
        .outputs = NNV_NEW(arena, struct nnvts_argument, nout),
        .bytes = {guarded_bytes(in, nin), guarded_bytes(out, nout)},
        .input_at = NNV_NEW(arena, uint8_t *, nin),
        .output_at = NNV_NEW(arena, uint8_t *, nout),
        .output_places = NNV_NEW(arena, struct nnvts_location, nout),
        .result = {.shapes = NNV_NEW(arena, struct nnvts_output_shape, nout)},
        .dims = NNV_NEW(arena, uint32_t, (size_t)nout * NNV_MAX_RANK),
    };
    if (!r->inputs || !r->outputs || !r->input_at || !r->output_at || !r->output_places || !r->result.shapes ||
        !r->dims)
        return nnv_no_memory(err);
    if (r->bytes[0] > UINT32_MAX || r->bytes[1] > UINT32_MAX)
        return nnv_fail(err, NNV_INVALID, "the values take more than 4 GiB, which a request can't hold");
    r->abi = (struct nnvts_request){nin, nout, 2, r->inputs, r->outputs, r->pools};
    return NNV_OK;
}

/** The next place in a pool, *used bytes of which are taken. */
static struct nnvts_location place(uint32_t pool, size_t bytes, size_t *used) {
    const size_t at = *used + NNV_GUARD_BYTES;
    *used += nnv_guard_room(bytes);
    return (struct nnvts_location){.pool = pool, .offset = (uint32_t)at, .length = (uint32_t)bytes};
}

void nnv_request_place(struct nnv_request *r, const struct nnv_abi_pool *in, const struct nnv_abi_pool *out) {
    const struct nnv_subgraph *main = &r->model->main;
    size_t used = 0;
    r->pools[0] = in->memory;
    r->pools[1] = out->memory;
    r->pools[1].prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE;
    r->pool_data[0] = in->data;
    r->pool_data[1] = out->data;
    for (uint32_t i = 0; i < main->nin; i++) {
        const struct nnv_value *v = &r->in[i];
        r->inputs[i] = (struct nnvts_argument){.has_no_value = v->omitted};
        if (v->omitted) continue;
        r->inputs[i].location = place(0, v->bytes, &used);
        r->input_at[i] = in->data + r->inputs[i].location.offset;
        if (!nnv_operand_is_open(&main->operands[main->in[i]])) continue;
        r->inputs[i].dimension_count = v->rank;
        r->inputs[i].dimensions = v->dims;
    }
    used = 0;
    for (uint32_t i = 0; i < main->nout; i++) {
        r->output_places[i] = place(1, r->out[i].bytes, &used);
        r->output_at[i] = out->data + r->output_places[i].offset;
    }
    nnv_request_fill(r, r->in);
    nnv_request_reset(r);
}

void nnv_request_fill(struct nnv_request *r, const struct nnv_value *in) {
    r->in = in;
    for (uint32_t i = 0; i < r->model->main.nin; i++) {
        if (in[i].omitted) continue;
        nnv_guard_init(r->input_at[i] - NNV_GUARD_BYTES, in[i].bytes, NNV_SALT_INPUT + i);
        if (in[i].bytes) memcpy(r->input_at[i], in[i].data, in[i].bytes);
    }
}

void nnv_request_empty(struct nnv_request *r) {
    for (uint32_t i = 0; i < r->model->main.nout; i++)
        r->result.shapes[i] = (struct nnvts_output_shape){.dimension_count = NNV_MAX_RANK,
                                                          .dimensions = r->dims + (size_t)i * NNV_MAX_RANK};
    r->result.shape_count = 0;
    r->result.timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
}

void nnv_request_reset(struct nnv_request *r) {
    for (uint32_t i = 0; i < r->model->main.nout; i++) {
        nnv_guard_init(r->output_at[i] - NNV_GUARD_BYTES, r->out[i].bytes, NNV_SALT_OUTPUT + i);
        r->outputs[i].location = r->output_places[i];
    }
    nnv_request_empty(r);
}

void nnv_request_state_outputs(struct nnv_request *r, bool state) {
    for (uint32_t i = 0; i < r->model->main.nout; i++) {
        r->outputs[i].dimension_count = state ? r->out[i].rank : 0;
        r->outputs[i].dimensions = state ? r->out[i].dims : NULL;
    }
}

void nnv_request_suit(struct nnv_request *r, const struct nnvts_device *device) {
    enum { FINDS_OUT = 3 };
    for (uint32_t i = 0; device->feature_level < FINDS_OUT && i < r->model->main.nout; i++) {
        if (!nnv_request_leaves_open(r, i)) continue;
        r->outputs[i].dimension_count = r->out[i].rank;
        r->outputs[i].dimensions = r->out[i].dims;
    }
}

bool nnv_inputs_beyond_limits(const struct nnvts_device *device, const struct nnv_model *model,
                              const struct nnv_value *in, uint32_t *which) {
    if (!(nnv_device_limits(device) & NNVTS_LIMIT_NO_EMPTY_INPUTS)) return false;
    for (*which = 0; *which < model->main.nin; ++*which)
        if (!in[*which].omitted && in[*which].bytes == 0) return true;
    return false;
}

bool nnv_request_leaves_open(const struct nnv_request *r, uint32_t i) {
    const struct nnv_operand *o = &r->model->main.operands[r->model->main.out[i]];
    const struct nnvts_argument *a = &r->outputs[i];
    if (!nnv_operand_is_open(o)) return false;
    for (uint32_t k = 0; k < a->dimension_count; k++)
        if (a->dimensions[k] == 0 && (o->rank <= k || o->dims[k] == 0)) return true;
    return a->dimension_count == 0;
}

void nnv_request_poison(uint32_t output, size_t bytes, void *to) {
    nnv_guard_poison(to, bytes, NNV_SALT_OUTPUT + output);
}
