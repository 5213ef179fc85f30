/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.c The suite "memory": device memory, from allocation through copies and executions to release. */
#include "harness/suites/memory/memory.h"

#include <string.h>

#include "harness/suites/suites.h"
#include "harness/suites/kit/cases.h"

/* ----------------------------------------------------------- allocation, copies */

static void allocate_each(struct nnv_memory_fixture *b) {
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    struct nnv_memory_desc desc;
    for (uint32_t i = 0; i < main->nin + main->nout; i++) {
        bool input = i < main->nin;
        nnv_memory_desc_init(b, &desc);
        nnv_memory_add_role(&desc, 0, input ? i : i - main->nin, input);
        if (!nnv_memory_allocate(b, &desc)) return;
        if (!nnv_memory_for(b, input ? i : i - main->nin, input)) return; /* with its extents said again */
    }
}

/* Tokens of living buffers differ, also when others were released in between. */
static void many(struct nnv_memory_fixture *b) {
    enum { ROUNDS = 8 };
    for (int round = 0; round < ROUNDS; round++) {
        while (b->owned_count < NNV_MEMORY_MAX)
            if (!nnv_memory_for(b, 0, true)) return;
        for (uint32_t i = 0; i < b->owned_count; i += 2) nnv_memory_release(b, b->owned[i]);
    }
}

static void copy(struct nnv_memory_fixture *b) {
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    for (uint32_t i = 0; i < main->nin; i++) {
        const struct nnv_value *v = nnv_memory_value(b, i, true);
        struct nnvts_buffer *buffer = nnv_memory_for(b, i, true);
        uint8_t *other = NNV_NEW(b->s->env->arena, uint8_t, v->bytes + 1);
        if (!buffer || !other || !nnv_memory_fill(b, buffer, i) || !nnv_memory_holds(b, buffer, v->data, v->bytes))
            return;
        for (size_t k = 0; k < v->bytes; k++) other[k] = (uint8_t)(((const uint8_t *)v->data)[k] ^ 0xff);
        enum nnvts_status st = nnv_memory_copy_from(b, buffer, other, v->bytes, NULL, 0);
        if (!nnv_expect_status(b->s, "copy_from over another value", st, NNVTS_STATUS_NONE) ||
            !nnv_memory_holds(b, buffer, other, v->bytes) || !nnv_memory_holds(b, buffer, other, v->bytes))
            return;
    }
}

/* ------------------------------------------------------------------ executions */

static void run_twice(struct nnv_memory_fixture *b, bool inputs, bool outputs) {
    if (nnv_memory_use_all(b, inputs, outputs) && nnv_memory_run(b)) nnv_memory_run(b);
}
static void inputs(struct nnv_memory_fixture *b) { run_twice(b, true, false); }
static void outputs(struct nnv_memory_fixture *b) { run_twice(b, false, true); }
static void all(struct nnv_memory_fixture *b) { run_twice(b, true, true); }

/** All arguments in device memory, in a mode of execution; what is opened for it serves several executions. */
static void in_mode(struct nnv_memory_fixture *b, enum nnv_mode mode) {
    const int times = mode == NNV_MODE_BURST || mode == NNV_MODE_REUSABLE ? 3 : 1;
    b->mode = mode;
    if (!nnv_context_needs(b->s, b->prepared, mode) || !nnv_memory_use_all(b, true, true)) return;
    for (int i = 0; i < times && nnv_memory_run(b); i++) {}
}
static void burst(struct nnv_memory_fixture *b) { in_mode(b, NNV_MODE_BURST); }
static void reusable(struct nnv_memory_fixture *b) { in_mode(b, NNV_MODE_REUSABLE); }
static void fenced(struct nnv_memory_fixture *b) { in_mode(b, NNV_MODE_FENCED); }
static void async(struct nnv_memory_fixture *b) { in_mode(b, NNV_MODE_ASYNC); }

/* A new value of an input is seen by the next execution; releasing one buffer does not touch the others. */
static void release_early(struct nnv_memory_fixture *b) {
    struct nnvts_buffer *spare = nnv_memory_for(b, 0, true);
    if (!spare || !nnv_memory_fill(b, spare, 0) || !nnv_memory_use_all(b, true, true) || !nnv_memory_run(b)) return;
    nnv_memory_release(b, spare);
    nnv_memory_run(b);
}

/* The prepared model goes first: its buffers are still there to be released. */
static void released_last(struct nnv_memory_fixture *b) {
    if (!nnv_memory_use_all(b, true, true) || !nnv_memory_run(b)) return;
    nnv_context_release(b->s, b->prepared);
    b->prepared = NULL;
    while (b->owned_count && !b->s->result->worker_damaged) nnv_memory_release(b, b->owned[0]);
    b->prepared = nnv_context_prepare(b->s, &b->fixture);
    if (!b->prepared) return;
    b->use_count = 0;
    if (nnv_memory_use_all(b, true, true)) nnv_memory_run(b);
}

/* ------------------------------------------------------------ more than one role */

/** The fixture goes on with the same model and other inputs: golden values and a request of their own. */
static bool go_on_with(struct nnv_memory_fixture *b, const struct nnv_value *inputs) {
    struct nnv_spec *spec = NNV_NEW(b->s->env->arena, struct nnv_spec, 1);
    if (!spec) return nnv_context_error(b->s, NNV_OUT_OF_MEMORY);
    *spec = *b->fixture.spec;
    spec->inputs = (struct nnv_value *)inputs;
    b->generation++;
    return nnv_context_model(b->s, spec, &b->fixture) &&
           nnv_context_request(b->s, &b->fixture, NNV_POOL_READ_ONLY, &b->values);
}

static struct nnv_value *copy_inputs(struct nnv_memory_fixture *b) {
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    struct nnv_value *inputs =
        nnv_arena_copy(b->s->env->arena, b->fixture.spec->inputs, main->nin * sizeof(struct nnv_value));
    if (!inputs) nnv_context_error(b->s, NNV_OUT_OF_MEMORY);
    return inputs;
}

/** The input's extents are not said: the buffer knows them. */
static void say_nothing_of(struct nnv_memory_fixture *b, uint32_t input) {
    b->values.inputs[input].dimension_count = 0;
}

/** As many numbers as before, in so many rows. */
static void turn(struct nnv_value *values, uint32_t n, uint32_t rows) {
    for (uint32_t i = 0; i < n; i++) {
        values[i].dims[1] = values[i].dims[0] * values[i].dims[1] / rows;
        values[i].dims[0] = rows;
    }
}

/** A buffer that the driver may decline where it does not know the size. */
static struct nnvts_buffer *allocate_as(struct nnv_memory_fixture *b, const struct nnv_memory_desc *desc) {
    struct nnvts_buffer *buffer = NULL;
    nnv_context_enter(b->s, NNV_PHASE_PREPARE);
    enum nnvts_status st = b->s->device->allocate(b->s->device, &desc->d, &buffer);
    if (st == NNVTS_STATUS_GENERAL_FAILURE) {
        nnv_context_decline(b->s, NNVTS_WHY_FEATURE, "the driver has no device memory of open extents");
        return NULL;
    }
    if (st == NNVTS_STATUS_NONE && buffer && buffer->release) buffer->release(buffer);
    return nnv_memory_allocate(b, desc);
}

/** Output 0 of one prepared model is input 0 of another; turned: once more with as many numbers in one row. */
static void chain_of(struct nnv_memory_fixture *b, bool turned) {
    struct nnv_memory_desc desc;
    struct nnvts_prepared_model *first = b->prepared, *second = nnv_context_prepare(b->s, &b->fixture);
    if (!second) return;
    nnv_memory_desc_init(b, &desc);
    desc.prepared[1] = second;
    desc.d.prepared_count = 2;
    nnv_memory_add_role(&desc, 0, 0, false);
    nnv_memory_add_role(&desc, 1, 0, true);
    struct nnvts_buffer *buffer = turned ? allocate_as(b, &desc) : nnv_memory_allocate(b, &desc);
    struct nnv_value *inputs = buffer ? copy_inputs(b) : NULL;
    const size_t bytes = nnv_memory_value(b, 0, false)->bytes;
    uint8_t *between;
    if (inputs) {
        nnv_memory_use(b, buffer, 0, false);
        bool right = nnv_memory_run(b);
        if (right && turned) {
            turn(inputs, b->fixture.spec->model.main.nin, 1);
            right = go_on_with(b, inputs) && nnv_memory_run(b);
        }
        right = right &&
                nnv_expect_status(b->s, "copy_to", nnv_memory_copy_to(b, buffer, bytes, &between), NNVTS_STATUS_NONE);
        if (right) {
            inputs[0].data = between; /* what the second model gets */
            b->use_count = 0;
            nnv_memory_use(b, buffer, 0, true);
            b->prepared = second;
            right = go_on_with(b, inputs);
            if (right && turned) say_nothing_of(b, 0);
            if (right && nnv_memory_run(b)) nnv_memory_run(b);
            b->prepared = first;
        }
    }
    nnv_context_release(b->s, second);
}

static void chain(struct nnv_memory_fixture *b) { chain_of(b, false); }
static void turned_output(struct nnv_memory_fixture *b) { chain_of(b, true); }

/* One buffer as two inputs of one request. */
static void two_inputs(struct nnv_memory_fixture *b) {
    struct nnv_memory_desc desc;
    nnv_memory_desc_init(b, &desc);
    nnv_memory_add_role(&desc, 0, 0, true);
    nnv_memory_add_role(&desc, 0, 1, true);
    struct nnvts_buffer *buffer = nnv_memory_allocate(b, &desc);
    struct nnv_value *values = buffer ? copy_inputs(b) : NULL;
    if (!values || !nnv_memory_fill(b, buffer, 0)) return;
    values[1] = values[0];
    nnv_memory_use(b, buffer, 0, true);
    nnv_memory_use(b, buffer, 1, true);
    if (go_on_with(b, values)) nnv_memory_run(b);
}

/* ---------------------------------------------------------------- open extents */

/** Without a hint; a driver may decline what it does not know the size of. */
static struct nnvts_buffer *allocate_open(struct nnv_memory_fixture *b, uint32_t io, bool input) {
    struct nnv_memory_desc desc;
    nnv_memory_desc_init(b, &desc);
    nnv_memory_add_role(&desc, 0, io, input);
    return allocate_as(b, &desc);
}

/** Buffers for all inputs and outputs, inputs filled. */
static bool use_open(struct nnv_memory_fixture *b) {
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    for (uint32_t i = 0; i < main->nin + main->nout; i++) {
        bool input = i < main->nin;
        uint32_t io = input ? i : i - main->nin;
        struct nnvts_buffer *buffer = allocate_open(b, io, input);
        if (!buffer || (input && !nnv_memory_fill(b, buffer, io))) return false;
        nnv_memory_use(b, buffer, io, input);
    }
    return true;
}

/** Goes on with these values, in the buffers of the inputs, too. */
static bool refill(struct nnv_memory_fixture *b, struct nnv_value *values) {
    if (!values || !go_on_with(b, values)) return false;
    for (uint32_t i = 0; i < b->use_count; i++)
        if (b->use[i].input && !nnv_memory_fill(b, b->use[i].buffer, b->use[i].io)) return false;
    return true;
}

/** The first of the rows alone: another extent where the model leaves it open. */
static bool shrink(struct nnv_memory_fixture *b) {
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    struct nnv_value *values = copy_inputs(b);
    for (uint32_t i = 0; values && i < main->nin; i++) {
        values[i].bytes /= values[i].dims[0];
        values[i].dims[0] = 1;
    }
    return refill(b, values);
}

/** Neither request nor model say the extents of inputs: the buffers know. */
static void say_nothing(struct nnv_memory_fixture *b) {
    for (uint32_t i = 0; i < b->fixture.spec->model.main.nin; i++) say_nothing_of(b, i);
}

static void open_extents(struct nnv_memory_fixture *b) {
    if (!use_open(b) || !nnv_memory_run(b)) return;
    say_nothing(b);
    struct nnv_value *all = copy_inputs(b);
    if (!nnv_memory_run(b) || !shrink(b) || !nnv_memory_run(b)) return;
    say_nothing(b);
    if (!nnv_memory_run(b) || !refill(b, all)) return; /* grown again */
    say_nothing(b);
    nnv_memory_run(b);
}

static void open_mode(struct nnv_memory_fixture *b, enum nnv_mode mode) {
    b->mode = mode;
    if (nnv_context_needs(b->s, b->prepared, mode)) open_extents(b);
}
static void open_burst(struct nnv_memory_fixture *b) { open_mode(b, NNV_MODE_BURST); }
static void open_async(struct nnv_memory_fixture *b) { open_mode(b, NNV_MODE_ASYNC); }

/* As many numbers in other extents: the buffers have them from the last copy. */
static void turned_inputs(struct nnv_memory_fixture *b) {
    static const uint32_t rows[] = {1, 9, 3};
    struct nnv_value *values = use_open(b) && nnv_memory_run(b) ? copy_inputs(b) : NULL;
    for (size_t i = 0; values && i < sizeof rows / sizeof *rows; i++) {
        turn(values, b->fixture.spec->model.main.nin, rows[i]);
        if (!refill(b, values)) return;
        say_nothing(b);
        if (!nnv_memory_run(b)) return;
    }
}

/* Copies of a value, of its first row, and of all again: the buffer is as large as the last one. */
static void open_copy(struct nnv_memory_fixture *b) {
    const struct nnv_subgraph *main = &b->fixture.spec->model.main;
    for (uint32_t i = 0; i < main->nin; i++) {
        const struct nnv_value *v = nnv_memory_value(b, i, true);
        struct nnvts_buffer *buffer = allocate_open(b, i, true);
        uint32_t dims[NNV_MAX_RANK];
        if (!buffer) return;
        memcpy(dims, v->dims, v->rank * sizeof *dims);
        for (int step = 0; step < 3; step++) {
            dims[0] = step == 1 ? 1 : v->dims[0];
            const size_t bytes = v->bytes / v->dims[0] * dims[0];
            const enum nnvts_status st = nnv_memory_copy_from(b, buffer, v->data, bytes, dims, v->rank);
            if (!nnv_expect_status(b->s, "copy_from of another extent", st, NNVTS_STATUS_NONE) ||
                !nnv_memory_holds(b, buffer, v->data, bytes))
                return;
        }
    }
}

static void open_hint(struct nnv_memory_fixture *b) {
    if (!nnv_memory_use_all(b, true, true)) return;
    say_nothing(b);
    if (nnv_memory_run(b)) nnv_memory_run(b);
}

enum { INVALID = 1u << NNVTS_STATUS_INVALID_ARGUMENT, REFUSED = INVALID | 1u << NNVTS_STATUS_GENERAL_FAILURE };

static void open_copy_refused(struct nnv_memory_fixture *b) {
    const struct nnv_value *v = nnv_memory_value(b, 0, true);
    struct nnvts_buffer *hinted = nnv_memory_for(b, 0, true), *open = hinted ? allocate_open(b, 0, true) : NULL;
    uint32_t dims[NNV_MAX_RANK];
    if (!hinted) return;
    memcpy(dims, v->dims, v->rank * sizeof *dims);
    dims[0]--;
    const size_t bytes = v->bytes / v->dims[0] * dims[0];
    nnv_expect_status_in(b->s, "copy_from with other extents than allocated",
                         nnv_memory_copy_from(b, hinted, v->data, bytes, dims, v->rank), INVALID);
    if (!open) return;
    nnv_expect_status_in(b->s, "copy_from that leaves an extent open",
                         nnv_memory_copy_from(b, open, v->data, v->bytes, NULL, 0), INVALID);
    nnv_expect_status_in(b->s, "copy_from of fewer bytes than the extents say",
                         nnv_memory_copy_from(b, open, v->data, bytes, v->dims, v->rank), INVALID);
    dims[0] = 0;
    nnv_expect_status_in(b->s, "copy_from with an extent of 0",
                         nnv_memory_copy_from(b, open, v->data, v->bytes, dims, v->rank), INVALID);
}

/* What the request says of an input is not what its buffer holds. */
static void open_request_refused(struct nnv_memory_fixture *b) {
    uint32_t dims[NNV_MAX_RANK];
    if (!use_open(b)) return;
    const struct nnv_value *v = nnv_memory_value(b, 0, true);
    memcpy(dims, v->dims, v->rank * sizeof *dims);
    dims[0]--;
    b->values.inputs[0].dimensions = dims;
    b->values.inputs[0].dimension_count = v->rank;
    nnv_memory_request(b);
    enum nnvts_status st = nnv_memory_execute(b, b->prepared);
    nnv_expect_status_in(b->s, "execute with other extents than the input's buffer holds", st, REFUSED);
}

/* ------------------------------------------------------------------- registry */

static const struct nnv_memory_case cases[] = {
    {"allocate_each", allocate_each, NNV_MEMORY_FIXED},
    {"many", many, NNV_MEMORY_FIXED},
    {"copy", copy, NNV_MEMORY_FIXED},
    {"inputs", inputs, NNV_MEMORY_FIXED},
    {"outputs", outputs, NNV_MEMORY_FIXED},
    {"all", all, NNV_MEMORY_FIXED},
    {"burst", burst, NNV_MEMORY_FIXED},
    {"reusable", reusable, NNV_MEMORY_FIXED},
    {"fenced", fenced, NNV_MEMORY_FIXED},
    {"async", async, NNV_MEMORY_FIXED},
    {"release_early", release_early, NNV_MEMORY_FIXED},
    {"released_last", released_last, NNV_MEMORY_FIXED},
    {"chain", chain, NNV_MEMORY_LINK},
    {"two_inputs", two_inputs, NNV_MEMORY_LINK},
    {"open_extents", open_extents, NNV_MEMORY_OPEN},
    {"open_burst", open_burst, NNV_MEMORY_OPEN},
    {"open_async", open_async, NNV_MEMORY_OPEN},
    {"open_copy", open_copy, NNV_MEMORY_OPEN},
    {"open_hint", open_hint, NNV_MEMORY_OPEN},
    {"turned_inputs", turned_inputs, NNV_MEMORY_TURN},
    {"turned_output", turned_output, NNV_MEMORY_TURN},
    {"open_copy_refused", open_copy_refused, NNV_MEMORY_OPEN},
    {"open_request_refused", open_request_refused, NNV_MEMORY_OPEN},
};
enum { OWN = sizeof cases / sizeof *cases, LINKS = NNV_MEMORY_LINKS, OWN_MODELS = LINKS + NNV_MEMORY_TURNS };

static const struct nnv_memory_case *case_at(uint64_t i) {
    if (i < OWN) return &cases[i];
    return i - OWN < nnv_memory_refusal_count ? &nnv_memory_refusals[i - OWN] : NULL;
}

/** The k-th fixture: this suite's own, then the common ones. NULL behind the last. */
static const struct nnv_fixture_kind *fixture_at(uint64_t k) {
    if (k < LINKS) return &nnv_memory_links[k];
    if (k < OWN_MODELS) return &nnv_memory_turns[k - LINKS];
    return k - OWN_MODELS < nnv_fixture_count ? &nnv_fixtures[k - OWN_MODELS] : NULL;
}

static bool fits(const struct nnv_memory_case *c, uint64_t k) {
    const bool open = strncmp(fixture_at(k)->name, "open_", 5) == 0, turns = k >= LINKS && k < OWN_MODELS;
    switch (c->fixtures) {
    case NNV_MEMORY_FIXED:
        return !open && !turns;
    case NNV_MEMORY_LINK:
        return k < LINKS;
    case NNV_MEMORY_OPEN:
        return open;
    case NNV_MEMORY_TURN:
        return turns;
    }
    return false;
}

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    (void)config;
    enum nnv_status st = NNV_OK;
    const struct nnv_memory_case *memory_case;
    const struct nnv_fixture_kind *kind;
    for (uint64_t i = 0; (memory_case = case_at(i)); i++)
        for (uint64_t k = 0; (kind = fixture_at(k)) && st == NNV_OK; k++) {
            const struct nnv_case c = {.op = kind->op, .type = kind->type, .a = i, .b = k};
            if (fits(memory_case, k)) st = nnv_list_case(list, c, err, "memory/%s/%s", memory_case->name, kind->name);
        }
    return st;
}

static void end(struct nnv_memory_fixture *b) {
    if (b->run.open) nnv_context_close(b->s, &b->run);
    for (uint32_t i = 0; i < b->owned_count && !b->s->result->worker_damaged; i++) b->owned[i]->release(b->owned[i]);
    nnv_context_release(b->s, b->prepared);
    nnv_context_end(b->s);
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    struct nnv_memory_fixture b = {.s = &s, .kind = fixture_at(c->b)};
    nnv_context_begin(&s, env, result);
    if (!s.device->allocate)
        nnv_context_decline(&s, NNVTS_WHY_FEATURE, "the driver has no device memory");
    else if (nnv_context_drawn(&s, b.kind, env->config->seed, &b.fixture) &&
             nnv_context_ready(&s, &b.fixture, &b.prepared, &b.values))
        case_at(c->a)->run(&b);
    end(&b);
}

const struct nnv_suite nnv_suite_memory = {
    .name = "memory",
    .summary = "device memory: allocation by roles, copies, use in every kind of execution, and misuse refused",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list,
    .run = run,
};
