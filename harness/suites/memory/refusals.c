/* SPDX-License-Identifier: Apache-2.0 */
/** @file refusals.c What a driver must refuse: descriptions of buffers, copies, requests. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/suites/memory/memory.h"
#include "harness/suites/kit/cases.h"

enum {
    INVALID = 1u << NNVTS_STATUS_INVALID_ARGUMENT,
    REFUSED = INVALID | 1u << NNVTS_STATUS_GENERAL_FAILURE,
    UNSET = 1u << NNVTS_STATUS_GENERAL_FAILURE,
};

/* ------------------------------------------------------------------ allocation */

static bool must_refuse(struct nnv_memory_fixture *b, const struct nnv_memory_desc *desc, uint32_t statuses,
                        const char *what) {
    struct nnv_context *s = b->s;
    struct nnvts_buffer *buffer = NULL;
    nnv_context_enter(s, NNV_PHASE_PREPARE);
    enum nnvts_status st = s->device->allocate(s->device, &desc->d, &buffer);
    if (st == NNVTS_STATUS_NONE && buffer && buffer->release) buffer->release(buffer);
    nnv_expect(s, st == NNVTS_STATUS_NONE || !buffer, "allocate %s failed, but gave a buffer", what);
    char call[128];
    snprintf(call, sizeof call, "allocate %s", what);
    return nnv_expect_status_in(s, call, st, statuses);
}

/** Of the fixture's model, with one role. */
static struct nnv_memory_desc *one_role(const struct nnv_memory_fixture *b, struct nnv_memory_desc *desc, bool input) {
    nnv_memory_desc_init(b, desc);
    nnv_memory_add_role(desc, 0, 0, input);
    return desc;
}

static void no_roles(struct nnv_memory_fixture *b) {
    struct nnv_memory_desc desc;
    nnv_memory_desc_init(b, &desc);
    must_refuse(b, &desc, REFUSED, "without roles");
}

static void no_model(struct nnv_memory_fixture *b) {
    struct nnv_memory_desc desc;
    one_role(b, &desc, true)->prepared[0] = NULL;
    must_refuse(b, &desc, REFUSED, "for a prepared model that is NULL");
}

static void model_index(struct nnv_memory_fixture *b) {
    struct nnv_memory_desc desc;
    one_role(b, &desc, true)->in[0].model = 1;
    must_refuse(b, &desc, REFUSED, "for an input of model 1 of 1");
    one_role(b, &desc, false)->out[0].model = 1;
    must_refuse(b, &desc, REFUSED, "for an output of model 1 of 1");
    one_role(b, &desc, true)->in[0].model = UINT32_MAX;
    must_refuse(b, &desc, REFUSED, "for an input of model 4294967295 of 1");
}

static void io_index(struct nnv_memory_fixture *b) {
    struct nnv_memory_desc desc;
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    one_role(b, &desc, true)->in[0].io = main->nin;
    must_refuse(b, &desc, REFUSED, "for one input more than the model has");
    one_role(b, &desc, false)->out[0].io = main->nout;
    must_refuse(b, &desc, REFUSED, "for one output more than the model has");
    one_role(b, &desc, true)->in[0].io = UINT32_MAX;
    must_refuse(b, &desc, REFUSED, "for input 4294967295");
}

static void probability(struct nnv_memory_fixture *b) {
    static const float wrong[] = {0, -0.5f, 1.0009766f, 10, INFINITY, NAN};
    struct nnv_memory_desc desc;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char what[64];
        snprintf(what, sizeof what, "for a role of probability %g", (double)wrong[i]);
        one_role(b, &desc, true)->in[0].probability = wrong[i];
        must_refuse(b, &desc, REFUSED, what);
        one_role(b, &desc, false)->out[0].probability = wrong[i];
        must_refuse(b, &desc, REFUSED, what);
    }
    one_role(b, &desc, true)->in[0].probability = 1;
    nnv_memory_allocate(b, &desc);
}

static void doubled_role(struct nnv_memory_fixture *b) {
    struct nnv_memory_desc desc;
    nnv_memory_add_role(one_role(b, &desc, true), 0, 0, true);
    desc.in[1].probability = 1;
    must_refuse(b, &desc, INVALID, "for the same input twice");
    nnv_memory_add_role(one_role(b, &desc, false), 0, 0, false);
    must_refuse(b, &desc, INVALID, "for the same output twice");
}

/** Output 1 has other extents than input 0. */
static void conflicting_extents(struct nnv_memory_fixture *b) {
    struct nnv_memory_desc desc;
    nnv_memory_add_role(one_role(b, &desc, true), 0, 1, false);
    must_refuse(b, &desc, INVALID, "for an input and an output of other extents");
    nnv_memory_add_role(one_role(b, &desc, true), 0, 2, true);
    must_refuse(b, &desc, INVALID, "for two inputs of other extents");
}

static void conflicting_hint(struct nnv_memory_fixture *b) {
    struct nnv_memory_desc desc;
    const struct nnv_value *v = nnv_memory_value(b, 0, true);
    nnv_memory_hint(one_role(b, &desc, true), v->rank, v->dims);
    desc.dims[v->rank - 1]++;
    must_refuse(b, &desc, INVALID, "with extents that are not the input's");
    nnv_memory_hint(one_role(b, &desc, true), v->rank, v->dims);
    desc.dims[desc.d.dimension_count++] = 1;
    must_refuse(b, &desc, INVALID, "with more extents than the input's");
}

/** Roles of two models: like the fixture's, and of this one. False: the case is over. */
static bool refuse_beside(struct nnv_memory_fixture *b, const struct nnv_fixture_kind *kind, const char *what) {
    struct nnv_fixture other;
    struct nnv_memory_desc desc;
    struct nnvts_prepared_model *prepared =
        nnv_context_drawn(b->s, kind, 1, &other) ? nnv_context_prepare(b->s, &other) : NULL;
    if (!prepared) return false;
    nnv_memory_add_role(one_role(b, &desc, true), 1, 0, true);
    desc.prepared[1] = prepared;
    desc.d.prepared_count = 2;
    const bool refused = must_refuse(b, &desc, INVALID, what);
    nnv_context_release(b->s, prepared);
    return refused;
}

static void conflicting_type(struct nnv_memory_fixture *b) {
    const size_t own = (size_t)(b->kind - nnv_memory_links);
    refuse_beside(b, &nnv_memory_links[own ^ 1], "for inputs of other types");
}

/** Beside the one of these models that has the fixture's name. */
static void refuse_like(struct nnv_memory_fixture *b, const struct nnv_fixture_kind *likes, const char *what) {
    for (size_t i = 0; i < NNV_MEMORY_QUANTISED_LINKS; i++)
        if (strcmp(likes[i].name, b->kind->name) == 0) {
            refuse_beside(b, &likes[i], what);
            return;
        }
    nnv_context_decline(b->s, NNVTS_WHY_NOT_APPLICABLE, "numbers of this type have no quantisation");
}
static void conflicting_zero_point(struct nnv_memory_fixture *b) {
    refuse_like(b, nnv_memory_other_zero_points, "for inputs of other zero points");
}
static void conflicting_scale(struct nnv_memory_fixture *b) {
    refuse_like(b, nnv_memory_other_scales, "for inputs of other scales");
}

static void input_and_output(struct nnv_memory_fixture *b) {
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    const struct nnv_operand *x = &main->operands[main->in[0]], *y = &main->operands[main->out[0]];
    struct nnv_memory_desc desc;
    const bool alike = x->scale == y->scale && x->zero_point == y->zero_point && x->rank == y->rank &&
                       memcmp(x->dims, y->dims, x->rank * sizeof *x->dims) == 0;
    nnv_memory_add_role(one_role(b, &desc, true), 0, 0, false);
    if (alike) /* what fits must not be refused */
        nnv_memory_allocate(b, &desc);
    else
        must_refuse(b, &desc, INVALID, "for an input and an output of other quantisations or extents");
}

/* ---------------------------------------------------------------------- copies */

static void copy_unset(struct nnv_memory_fixture *b) {
    uint8_t *data;
    for (int input = 0; input < 2; input++) {
        struct nnvts_buffer *buffer = nnv_memory_for(b, 0, input);
        if (!buffer) return;
        enum nnvts_status st = nnv_memory_copy_to(b, buffer, nnv_memory_value(b, 0, input)->bytes, &data);
        nnv_expect_status_in(b->s, "copy_to of a buffer that has no value yet", st, UNSET);
    }
}

static void copy_size(struct nnv_memory_fixture *b) {
    const struct nnv_value *v = nnv_memory_value(b, 0, true);
    struct nnvts_buffer *buffer = nnv_memory_for(b, 0, true);
    uint8_t *data, *more = NNV_NEW(b->s->env->arena, uint8_t, v->bytes + 64);
    const size_t wrong[] = {v->bytes - 1, v->bytes + 1, v->bytes / 2, v->bytes + 64, 1};
    if (!more || !buffer || !nnv_memory_fill(b, buffer, 0)) return;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char call[96];
        if (wrong[i] == 0) continue;
        snprintf(call, sizeof call, "copy_to of %zu bytes into memory of %zu", v->bytes, wrong[i]);
        nnv_expect_status_in(b->s, call, nnv_memory_copy_to(b, buffer, wrong[i], &data), INVALID);
    }
    if (!nnv_memory_holds(b, buffer, v->data, v->bytes)) return;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char call[96];
        if (wrong[i] == 0) continue;
        snprintf(call, sizeof call, "copy_from of %zu bytes into a buffer of %zu", wrong[i], v->bytes);
        nnv_expect_status_in(b->s, call, nnv_memory_copy_from(b, buffer, more, wrong[i], NULL, 0), INVALID);
    }
}

static void copy_extents(struct nnv_memory_fixture *b) {
    const struct nnv_value *v = nnv_memory_value(b, 0, true);
    uint32_t dims[NNV_MAX_RANK + 1];
    struct nnvts_buffer *buffer = nnv_memory_for(b, 0, true);
    if (!buffer) return;
    memcpy(dims, v->dims, v->rank * sizeof *dims);
    dims[v->rank] = 1;
    nnv_expect_status_in(b->s, "copy_from with one extent too many",
                         nnv_memory_copy_from(b, buffer, v->data, v->bytes, dims, v->rank + 1), INVALID);
    dims[0]++;
    nnv_expect_status_in(b->s, "copy_from with a wrong extent",
                         nnv_memory_copy_from(b, buffer, v->data, v->bytes, dims, v->rank), INVALID);
    dims[0]--;
    nnv_expect_status(b->s, "copy_from with the right extents",
                      nnv_memory_copy_from(b, buffer, v->data, v->bytes, dims, v->rank), NNVTS_STATUS_NONE);
}

/* -------------------------------------------------------------------- requests */

static bool must_fail(struct nnv_memory_fixture *b, struct nnvts_prepared_model *prepared, uint32_t statuses,
                      const char *what) {
    char call[128];
    snprintf(call, sizeof call, "execute with %s", what);
    enum nnvts_status st = nnv_memory_execute(b, prepared);
    return nnv_context_check_memory(b->s, call, &b->values) && nnv_expect_status_in(b->s, call, st, statuses);
}

static void unset_input(struct nnv_memory_fixture *b) {
    struct nnvts_buffer *buffer = nnv_memory_for(b, 0, true);
    if (!buffer) return;
    nnv_memory_use(b, buffer, 0, true);
    nnv_memory_request(b);
    if (!must_fail(b, b->prepared, UNSET, "an input buffer that has no value yet")) return;
    if (nnv_memory_fill(b, buffer, 0)) nnv_memory_run(b);
}

static void location(struct nnv_memory_fixture *b) {
    if (!nnv_memory_use_all(b, true, true)) return;
    struct nnvts_argument *const argument[] = {&b->values.inputs[0], &b->values.outputs[0]};
    for (int i = 0; i < 2; i++) {
        nnv_memory_request(b);
        argument[i]->location.offset = 4;
        must_fail(b, b->prepared, INVALID, "an offset into a buffer");
        nnv_memory_request(b);
        argument[i]->location.length = (uint32_t)nnv_memory_value(b, 0, i == 0)->bytes;
        must_fail(b, b->prepared, INVALID, "a length of a buffer");
    }
    nnv_memory_run(b);
}

static void unknown_token(struct nnv_memory_fixture *b) {
    if (!nnv_memory_use_all(b, true, true)) return;
    for (uint32_t i = 0; i < b->use_count; i++) {
        nnv_memory_request(b);
        b->pools[2 + i].token = UINT32_MAX - 77;
        must_fail(b, b->prepared, INVALID, "a token that no buffer has");
        b->pools[2 + i].token = 0;
        must_fail(b, b->prepared, INVALID, "token 0");
    }
}

static void released_token(struct nnv_memory_fixture *b) {
    struct nnvts_buffer *buffer = nnv_memory_for(b, 0, true);
    if (!buffer || !nnv_memory_fill(b, buffer, 0)) return;
    nnv_memory_use(b, buffer, 0, true);
    if (!nnv_memory_run(b)) return;
    nnv_memory_request(b);
    nnv_memory_release(b, buffer);
    must_fail(b, b->prepared, INVALID, "the token of a buffer that was released");
}

/** The argument's extents contradict the buffer's. */
static void request_extents(struct nnv_memory_fixture *b) {
    uint32_t dims[NNV_MAX_RANK];
    if (!nnv_memory_use_all(b, true, true)) return;
    for (int i = 0; i < 2; i++) {
        const struct nnv_value *v = nnv_memory_value(b, 0, i == 0);
        struct nnvts_argument *a = i == 0 ? &b->values.inputs[0] : &b->values.outputs[0];
        const struct nnvts_argument before = *a;
        memcpy(dims, v->dims, v->rank * sizeof *dims);
        dims[0]++;
        a->dimensions = dims;
        a->dimension_count = v->rank;
        nnv_memory_request(b);
        must_fail(b, b->prepared, INVALID,
                  i ? "an output of other extents than its buffer's" : "an input of other extents than its buffer's");
        *a = before;
    }
    nnv_memory_run(b);
}

static void refuse_use(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, uint32_t io, bool input,
                       const char *what) {
    b->use_count = 0;
    nnv_memory_use(b, buffer, io, input);
    nnv_memory_request(b);
    must_fail(b, b->prepared, INVALID, what);
}

/** Inputs 0 and 1 are alike: nothing but the role is wrong. */
static void wrong_role(struct nnv_memory_fixture *b) {
    struct nnvts_buffer *input = nnv_memory_for(b, 0, true);
    if (input && nnv_memory_fill(b, input, 0)) refuse_use(b, input, 1, true, "input 0's buffer as input 1");
}

static void wrong_second_role(struct nnv_memory_fixture *b) {
    struct nnvts_buffer *input = nnv_memory_for(b, 1, true);
    if (input && nnv_memory_fill(b, input, 1)) refuse_use(b, input, 0, true, "input 1's buffer as input 0");
}

static void wrong_direction(struct nnv_memory_fixture *b) {
    struct nnvts_buffer *input = nnv_memory_for(b, 0, true), *output = nnv_memory_for(b, 0, false);
    if (!input || !output || !nnv_memory_fill(b, input, 0)) return;
    refuse_use(b, input, 0, false, "input 0's buffer as output 0");
    b->use_count = 0;
    nnv_memory_use(b, output, 0, false);
    if (nnv_memory_run(b)) refuse_use(b, output, 0, true, "output 0's buffer as input 0");
}

static void wrong_model(struct nnv_memory_fixture *b) {
    if (!nnv_memory_use_all(b, true, true)) return;
    struct nnvts_prepared_model *other = nnv_context_prepare(b->s, &b->fixture);
    if (!other) return;
    nnv_memory_request(b);
    if (must_fail(b, other, INVALID, "buffers of another prepared model")) nnv_memory_run(b);
    nnv_context_release(b->s, other);
}

/** The model that the buffer was made for is gone; a later one may lie where it was, but has no role. */
static void stale_role(struct nnv_memory_fixture *b) {
    struct nnvts_buffer *buffer = nnv_memory_for(b, 0, true);
    if (!buffer || !nnv_memory_fill(b, buffer, 0)) return;
    nnv_memory_use(b, buffer, 0, true);
    if (!nnv_memory_run(b)) return;
    for (int i = 0; i < 3; i++) {
        nnv_context_release(b->s, b->prepared);
        b->prepared = nnv_context_prepare(b->s, &b->fixture);
        if (!b->prepared) return;
        nnv_memory_request(b);
        if (!must_fail(b, b->prepared, INVALID, "a buffer of a prepared model that was released")) return;
    }
}

static void read_and_written(struct nnv_memory_fixture *b) {
    struct nnv_memory_desc desc;
    nnv_memory_add_role(one_role(b, &desc, true), 0, 0, false);
    struct nnvts_buffer *buffer = nnv_memory_allocate(b, &desc);
    if (!buffer || !nnv_memory_fill(b, buffer, 0)) return;
    nnv_memory_use(b, buffer, 0, true);
    nnv_memory_use(b, buffer, 0, false);
    nnv_memory_request(b);
    must_fail(b, b->prepared, INVALID, "one buffer as input and output");
}

/* ------------------------------------------------------------- failed executions */

static bool is_unset(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, uint32_t io, const char *when) {
    uint8_t *data;
    char call[128];
    snprintf(call, sizeof call, "copy_to of an output buffer behind %s", when);
    enum nnvts_status st = nnv_memory_copy_to(b, buffer, nnv_memory_value(b, io, false)->bytes, &data);
    return nnv_expect_status_in(b->s, call, st, UNSET);
}

/** Output 1's shared buffer is too small: output 0's has no value then, whatever it held before. */
static void failed_leaves_unset(struct nnv_memory_fixture *b) {
    struct nnvts_buffer *buffer = nnv_memory_for(b, 0, false);
    if (!buffer) return;
    nnv_memory_use(b, buffer, 0, false);
    for (int i = 0; i < 2; i++) {
        nnv_memory_request(b);
        b->values.outputs[1].location.length--;
        const enum nnvts_status st = nnv_memory_execute(b, b->prepared);
        if (st == NNVTS_STATUS_INVALID_ARGUMENT) {
            nnv_context_decline(b->s, NNVTS_WHY_INTERFACE, "the driver refuses the request before it executes");
            return;
        }
        if (!nnv_context_check_memory(b->s, "execute with an output that is too small", &b->values) ||
            !nnv_expect_status(b->s, "execute with an output that is too small", st,
                               NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE) ||
            !is_unset(b, buffer, 0, "an execution that failed") || !nnv_memory_run(b))
            return;
    }
}

static void late_leaves_unset(struct nnv_memory_fixture *b) {
    struct nnvts_buffer *buffer = nnv_memory_for(b, 0, false);
    struct nnv_execution late = nnv_execution_make(NNV_MODE_SYNC, b->prepared, &b->values);
    if (!buffer) return;
    nnv_memory_use(b, buffer, 0, false);
    late.config.deadline_ns = 1;
    for (int i = 0; i < 2; i++) { /* behind nothing, and behind an execution that went well */
        nnv_memory_request(b);
        if (!nnv_context_run(b->s, &late)) return;
        if (late.status != NNVTS_STATUS_NONE && !is_unset(b, buffer, 0, "an execution that missed its deadline"))
            return;
        if (!nnv_memory_run(b)) return;
    }
}

/* ------------------------------------------------------------------- registry */

const struct nnv_memory_case nnv_memory_refusals[] = {
    {"no_roles", no_roles, NNV_MEMORY_LINK},
    {"no_model", no_model, NNV_MEMORY_LINK},
    {"model_index", model_index, NNV_MEMORY_LINK},
    {"io_index", io_index, NNV_MEMORY_FIXED},
    {"probability", probability, NNV_MEMORY_LINK},
    {"doubled_role", doubled_role, NNV_MEMORY_FIXED},
    {"conflicting_extents", conflicting_extents, NNV_MEMORY_LINK},
    {"conflicting_hint", conflicting_hint, NNV_MEMORY_FIXED},
    {"conflicting_type", conflicting_type, NNV_MEMORY_LINK},
    {"conflicting_zero_point", conflicting_zero_point, NNV_MEMORY_LINK},
    {"conflicting_scale", conflicting_scale, NNV_MEMORY_LINK},
    {"input_and_output", input_and_output, NNV_MEMORY_FIXED},
    {"copy_unset", copy_unset, NNV_MEMORY_FIXED},
    {"copy_size", copy_size, NNV_MEMORY_FIXED},
    {"copy_extents", copy_extents, NNV_MEMORY_FIXED},
    {"unset_input", unset_input, NNV_MEMORY_FIXED},
    {"location", location, NNV_MEMORY_FIXED},
    {"unknown_token", unknown_token, NNV_MEMORY_FIXED},
    {"released_token", released_token, NNV_MEMORY_FIXED},
    {"request_extents", request_extents, NNV_MEMORY_FIXED},
    {"wrong_role", wrong_role, NNV_MEMORY_LINK},
    {"wrong_second_role", wrong_second_role, NNV_MEMORY_LINK},
    {"wrong_direction", wrong_direction, NNV_MEMORY_FIXED},
    {"wrong_model", wrong_model, NNV_MEMORY_FIXED},
    {"stale_role", stale_role, NNV_MEMORY_FIXED},
    {"read_and_written", read_and_written, NNV_MEMORY_LINK},
    {"failed_leaves_unset", failed_leaves_unset, NNV_MEMORY_LINK},
    {"late_leaves_unset", late_leaves_unset, NNV_MEMORY_FIXED},
};
const size_t nnv_memory_refusal_count = sizeof nnv_memory_refusals / sizeof *nnv_memory_refusals;
