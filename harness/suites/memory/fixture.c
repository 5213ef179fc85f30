/* SPDX-License-Identifier: Apache-2.0 */
/** @file fixture.c Buffers of a driver, and requests that use them. */
#include <stdio.h>
#include <string.h>

#include "harness/suites/memory/memory.h"

/* --------------------------------------------------------------------- fixtures */

/* y0 = x0 + x1 of one shape and encoding; y1 = x2 + a row of constants, larger. */
static void link(struct nnv_builder *b, struct nnv_encoding e, uint32_t *in, uint32_t *nin, uint32_t *out,
                 uint32_t *nout) {
    const uint32_t small[] = {2, 3}, large[] = {4, 3}, row[] = {3};
    for (int i = 0; i < 3; i++) in[i] = nnv_builder_tensor(b, e, 2, i < 2 ? small : large, NNV_SUBGRAPH_INPUT);
    out[0] = nnv_builder_tensor(b, e, 2, small, NNV_SUBGRAPH_OUTPUT);
    out[1] = nnv_builder_tensor(b, e, 2, large, NNV_SUBGRAPH_OUTPUT);
    uint32_t w = nnv_builder_weights(b, e, 1, row, 0.5), none = nnv_builder_int(b, ANEURALNETWORKS_FUSED_NONE);
    nnv_builder_add(b, ANEURALNETWORKS_ADD, 3, (uint32_t[]){in[0], in[1], none}, out[0]);
    nnv_builder_add(b, ANEURALNETWORKS_ADD, 3, (uint32_t[]){in[2], w, none}, out[1]);
    *nin = 3, *nout = 2;
}
/* y = x0 + x1, whose extents are known when the model is executed. */
static void turn(struct nnv_builder *b, struct nnv_encoding e, uint32_t *in, uint32_t *nin, uint32_t *out,
                 uint32_t *nout) {
    const uint32_t open[] = {0, 0};
    for (int i = 0; i < 2; i++) in[i] = nnv_builder_tensor(b, e, 2, open, NNV_SUBGRAPH_INPUT);
    out[0] = nnv_builder_tensor(b, e, 2, open, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(b, ANEURALNETWORKS_ADD, 3,
                    (uint32_t[]){in[0], in[1], nnv_builder_int(b, ANEURALNETWORKS_FUSED_NONE)}, out[0]);
    *nin = 2, *nout = 1;
}
#define MODEL(name, make, TYPE, scale, zero_point)                                                                     \
    static void name(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {              \
        make(b, (struct nnv_encoding){ANEURALNETWORKS_TENSOR_##TYPE, scale, zero_point}, in, nin, out, nout);          \
    }
MODEL(link_float32, link, FLOAT32, 0, 0)
MODEL(link_float16, link, FLOAT16, 0, 0)
MODEL(link_quant8, link, QUANT8_ASYMM, 0.0625f, 120)
MODEL(quant8_zero, link, QUANT8_ASYMM, 0.0625f, 121)
MODEL(quant8_scale, link, QUANT8_ASYMM, 0.125f, 120)
MODEL(link_signed8, link, QUANT8_ASYMM_SIGNED, 0.0625f, -8)
MODEL(signed8_zero, link, QUANT8_ASYMM_SIGNED, 0.0625f, -7)
MODEL(signed8_scale, link, QUANT8_ASYMM_SIGNED, 0.125f, -8)
MODEL(turn_float32, turn, FLOAT32, 0, 0)
MODEL(turn_float16, turn, FLOAT16, 0, 0)
MODEL(turn_quant8, turn, QUANT8_ASYMM, 0.0625f, 120)
MODEL(turn_signed8, turn, QUANT8_ASYMM_SIGNED, 0.0625f, -8)
#undef MODEL
const struct nnv_fixture_kind nnv_memory_turns[NNV_MEMORY_TURNS] = {
    {"turn_float32", "ADD", "float32", turn_float32},
    {"turn_quant8", "ADD", "quant8_asymm", turn_quant8},
    {"turn_float16", "ADD", "float16", turn_float16},
    {"turn_signed8", "ADD", "quant8_asymm_signed", turn_signed8},
};
const struct nnv_fixture_kind nnv_memory_links[NNV_MEMORY_LINKS] = {
    {"link_float32", "ADD", "float32", link_float32},
    {"link_quant8", "ADD", "quant8_asymm", link_quant8},
    {"link_float16", "ADD", "float16", link_float16},
    {"link_signed8", "ADD", "quant8_asymm_signed", link_signed8},
};
const struct nnv_fixture_kind nnv_memory_other_zero_points[NNV_MEMORY_QUANTISED_LINKS] = {
    {"link_quant8", "ADD", "quant8_asymm", quant8_zero},
    {"link_signed8", "ADD", "quant8_asymm_signed", signed8_zero},
};
const struct nnv_fixture_kind nnv_memory_other_scales[NNV_MEMORY_QUANTISED_LINKS] = {
    {"link_quant8", "ADD", "quant8_asymm", quant8_scale},
    {"link_signed8", "ADD", "quant8_asymm_signed", signed8_scale},
};

/* -------------------------------------------------------------------- buffers */

void nnv_memory_desc_init(const struct nnv_memory_fixture *b, struct nnv_memory_desc *desc) {
    *desc = (struct nnv_memory_desc){.prepared = {b->prepared}};
    desc->d = (struct nnvts_buffer_desc){.dimensions = desc->dims,
                                         .prepared_count = 1,
                                         .prepared = desc->prepared,
                                         .input_roles = desc->in,
                                         .output_roles = desc->out};
}

void nnv_memory_add_role(struct nnv_memory_desc *desc, uint32_t model, uint32_t io, bool input) {
    const struct nnvts_buffer_role role = {model, io, 0.5f};
    if (input)
        desc->in[desc->d.input_role_count++] = role;
    else
        desc->out[desc->d.output_role_count++] = role;
}

void nnv_memory_hint(struct nnv_memory_desc *desc, uint32_t rank, const uint32_t *dims) {
    memcpy(desc->dims, dims, rank * sizeof *dims);
    desc->d.dimension_count = rank;
}

static bool token_is_new(const struct nnv_memory_fixture *b, uint32_t token) {
    for (uint32_t i = 0; i < b->owned_count; i++)
        if (b->owned[i]->token == token) return false;
    return true;
}

struct nnvts_buffer *nnv_memory_allocate(struct nnv_memory_fixture *b, const struct nnv_memory_desc *desc) {
    struct nnv_context *s = b->s;
    struct nnvts_buffer *buffer = NULL;
    nnv_context_enter(s, NNV_PHASE_PREPARE);
    enum nnvts_status st = s->device->allocate(s->device, &desc->d, &buffer);
    if (!nnv_expect_status(s, "allocate", st, NNVTS_STATUS_NONE) ||
        !nnv_expect(s, buffer != NULL, "allocate answered NONE without a buffer") || !buffer ||
        !nnv_expect(s, buffer->struct_size >= sizeof *buffer && buffer->copy_to && buffer->copy_from && buffer->release,
                    "allocate gave a buffer without all required members"))
        return NULL;
    nnv_expect(s, buffer->token > 0, "allocate gave a buffer with token 0");
    nnv_expect(s, token_is_new(b, buffer->token), "two living buffers have token %u", buffer->token);
    if (b->owned_count == NNV_MEMORY_MAX) {
        nnv_context_error(s, "too many buffers in one case");
        buffer->release(buffer);
        return NULL;
    }
    return b->owned[b->owned_count++] = buffer;
}

struct nnvts_buffer *nnv_memory_for(struct nnv_memory_fixture *b, uint32_t io, bool input) {
    struct nnv_memory_desc desc;
    const struct nnv_value *v = nnv_memory_value(b, io, input);
    nnv_memory_desc_init(b, &desc);
    nnv_memory_add_role(&desc, 0, io, input);
    nnv_memory_hint(&desc, v->rank, v->dims);
    return nnv_memory_allocate(b, &desc);
}

void nnv_memory_release(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer) {
    uint32_t i = 0;
    while (i < b->owned_count && b->owned[i] != buffer) i++;
    if (i == b->owned_count || b->s->result->worker_damaged) return;
    b->owned[i] = b->owned[--b->owned_count];
    nnv_context_enter(b->s, NNV_PHASE_RELEASE);
    buffer->release(buffer);
}

void nnv_memory_use(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, uint32_t io, bool input) {
    if (b->use_count == NNV_MEMORY_MAX) {
        nnv_context_error(b->s, "too many buffers in one request");
        return;
    }
    b->use[b->use_count++] = (struct nnv_memory_use){buffer, io, input};
}

bool nnv_memory_use_all(struct nnv_memory_fixture *b, bool inputs, bool outputs) {
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    for (uint32_t i = 0; i < main->nin && inputs; i++) {
        struct nnvts_buffer *buffer = nnv_memory_for(b, i, true);
        if (!buffer || !nnv_memory_fill(b, buffer, i)) return false;
        nnv_memory_use(b, buffer, i, true);
    }
    for (uint32_t i = 0; i < main->nout && outputs; i++) {
        struct nnvts_buffer *buffer = nnv_memory_for(b, i, false);
        if (!buffer) return false;
        nnv_memory_use(b, buffer, i, false);
    }
    return true;
}

const struct nnv_value *nnv_memory_value(const struct nnv_memory_fixture *b, uint32_t io, bool input) {
    return input ? &b->fixture.spec->inputs[io] : b->fixture.expected[io].value;
}

enum nnvts_status nnv_memory_copy_from(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, const void *data,
                                       size_t bytes, const uint32_t *dims, uint32_t rank) {
    struct nnvts_memory pool;
    uint8_t *room;
    if (!nnv_context_memory(b->s, bytes, NNV_POOL_READ_ONLY, &pool, &room)) return NNVTS_STATUS_GENERAL_FAILURE;
    if (bytes) memcpy(room, data, bytes);
    nnv_context_enter(b->s, NNV_PHASE_EXECUTE);
    return buffer->copy_from(buffer, &pool, dims, rank);
}

bool nnv_memory_fill(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, uint32_t io) {
    const struct nnv_value *v = nnv_memory_value(b, io, true);
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    const bool open = nnv_operand_is_open(&main->operands[main->in[io]]);
    enum nnvts_status st = nnv_memory_copy_from(b, buffer, v->data, v->bytes, v->dims, open ? v->rank : 0);
    return nnv_expect_status(b->s, "copy_from", st, NNVTS_STATUS_NONE);
}

enum nnvts_status nnv_memory_copy_to(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, size_t bytes,
                                     uint8_t **data) {
    struct nnvts_memory pool;
    if (!nnv_context_memory(b->s, bytes, NNV_POOL_WRITABLE, &pool, data)) return NNVTS_STATUS_GENERAL_FAILURE;
    nnv_context_enter(b->s, NNV_PHASE_EXECUTE);
    return buffer->copy_to(buffer, &pool);
}

bool nnv_memory_holds(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, const void *data, size_t bytes) {
    uint8_t *copy;
    enum nnvts_status st = nnv_memory_copy_to(b, buffer, bytes, &copy);
    return nnv_expect_status(b->s, "copy_to", st, NNVTS_STATUS_NONE) &&
           nnv_expect(b->s, memcmp(copy, data, bytes) == 0, "copy_to gave other bytes than copy_from took");
}

/* ------------------------------------------------------------------ executions */

void nnv_memory_request(struct nnv_memory_fixture *b) {
    struct nnv_request *v = &b->values;
    nnv_request_reset(v);
    memcpy(b->pools, v->pools, sizeof v->pools);
    v->abi.pools = b->pools;
    v->abi.pool_count = 2;
    for (uint32_t i = 0; i < v->abi.input_count; i++) /* those that were in device memory before, too */
        if (!v->inputs[i].has_no_value)
            v->inputs[i].location = (struct nnvts_location){.offset = (uint32_t)(v->input_at[i] - v->pool_data[0]),
                                                            .length = (uint32_t)v->in[i].bytes};
    for (uint32_t i = 0; i < b->use_count; i++) {
        const struct nnv_memory_use *u = &b->use[i];
        struct nnvts_argument *a = u->input ? &v->inputs[u->io] : &v->outputs[u->io];
        a->location = (struct nnvts_location){.pool = v->abi.pool_count};
        b->pools[v->abi.pool_count++] = (struct nnvts_memory){.kind = NNVTS_MEMORY_DEVICE,
                                                              .prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE,
                                                              .fd = -1,
                                                              .token = u->buffer->token};
    }
}

enum nnvts_status nnv_memory_execute(struct nnv_memory_fixture *b, struct nnvts_prepared_model *prepared) {
    return nnv_context_sync(b->s, prepared, &b->values);
}

/** Brings the outputs that lie in buffers to where shared ones lie. */
static bool fetch(struct nnv_memory_fixture *b, const char *call) {
    for (uint32_t i = 0; i < b->use_count; i++) {
        const struct nnv_memory_use *u = &b->use[i];
        uint8_t *data;
        if (u->input) continue;
        const size_t bytes = nnv_memory_value(b, u->io, false)->bytes;
        enum nnvts_status st = nnv_memory_copy_to(b, u->buffer, bytes, &data);
        if (st != NNVTS_STATUS_NONE) {
            char what[96];
            snprintf(what, sizeof what, "copy_to of output %u behind %s", u->io, call);
            return nnv_expect_status(b->s, what, st, NNVTS_STATUS_NONE);
        }
        memcpy(b->values.output_at[u->io], data, bytes);
    }
    return true;
}

bool nnv_memory_check(struct nnv_memory_fixture *b, const char *call, enum nnvts_status status) {
    if (status == NNVTS_STATUS_NONE && !fetch(b, call)) return false;
    return nnv_context_check_values(b->s, call, status, &b->values);
}

/** Pools keep their tokens as long as they are the same memory. */
static void number_pools(struct nnv_memory_fixture *b) {
    enum { DEVICE = 1000 };
    for (uint32_t i = 0; i < b->values.abi.pool_count; i++)
        b->tokens[i] = i < 2 ? 2 * b->generation + i : DEVICE + (int64_t)b->pools[i].token;
}

/** What was opened serves all executions. */
static bool run_in_mode(struct nnv_memory_fixture *b) {
    struct nnv_execution *x = &b->run;
    char call[96];
    if (!x->open) *x = nnv_execution_make(b->mode, b->prepared, &b->values);
    x->tokens = b->tokens;
    number_pools(b);
    if (!nnv_context_run(b->s, x)) return false;
    snprintf(call, sizeof call, "%s with device memory", x->call);
    return nnv_memory_check(b, call, x->status);
}

bool nnv_memory_run(struct nnv_memory_fixture *b) {
    nnv_memory_request(b);
    if (b->mode != NNV_MODE_SYNC) return run_in_mode(b);
    return nnv_memory_check(b, "execute with device memory", nnv_memory_execute(b, b->prepared));
}
