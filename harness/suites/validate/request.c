/* SPDX-License-Identifier: Apache-2.0 */
/** @file request.c Mistakes in requests: locations, shapes, missing and surplus arguments, pools, tokens. */
#include <string.h>

#include "harness/suites/validate/validate.h"

static const struct nnvts_memory *pool_of(const struct nnv_request_mutation *m, const struct nnvts_argument *a) {
    return &m->pools[a->location.pool];
}

/* ------------------------------------------------------------------ locations */

#define EDIT(name)                                                                                                     \
    static bool name(struct nnv_request_mutation *m, struct nnvts_argument *a, const struct nnv_operand *o)

EDIT(pool_index) {
    (void)o;
    a->location.pool = m->row->a ? UINT32_MAX : m->request.pool_count;
    return true;
}
EDIT(length_behind) {
    (void)o;
    a->location.length = (uint32_t)pool_of(m, a)->size - a->location.offset + 1;
    return true;
}
EDIT(length_moved) {
    (void)o;
    if (a->location.length == 0) return false;
    a->location.length += (uint32_t)m->row->a;
    return true;
}
EDIT(padding_behind) {
    (void)o;
    a->location.padding = (uint32_t)pool_of(m, a)->size - a->location.offset - a->location.length + 1;
    return true;
}
EDIT(padding_largest) {
    (void)m, (void)o;
    a->location.padding = UINT32_MAX;
    return true;
}

/* --------------------------------------------------------------------- shapes */

/** The argument states dimensions of its own: those of the value. */
static uint32_t *state_dims(struct nnv_request_mutation *m, struct nnvts_argument *a, const struct nnv_operand *o) {
    const struct nnv_spec *spec = m->values->fixture->spec;
    const bool input = a >= m->inputs && a < m->inputs + m->request.input_count;
    const size_t at = (size_t)(a - (input ? m->inputs : m->outputs));
    const struct nnv_value *v = input ? &spec->inputs[at] : m->values->fixture->expected[at].value;
    uint32_t *dims = NNV_NEW(m->arena, uint32_t, NNV_MAX_RANK);
    if (!dims) m->failed = true;
    if (!dims || !nnv_type(o->type)->tensor || v->rank == 0 || v->rank + 1 > NNV_MAX_RANK) return NULL;
    memcpy(dims, v->dims, v->rank * sizeof *dims);
    a->dimensions = dims;
    a->dimension_count = v->rank;
    return dims;
}
EDIT(extent_other) {
    uint32_t *dims = o->rank ? state_dims(m, a, o) : NULL;
    for (uint32_t i = 0; dims && i < o->rank; i++) {
        if (o->dims[i] == 0) continue;
        dims[i] += (uint32_t)m->row->a;
        return dims[i] > 0;
    }
    return false;
}
/* The product is what it was. */
EDIT(extents_swapped) {
    uint32_t *dims = o->rank > 1 && !nnv_operand_is_open(o) ? state_dims(m, a, o) : NULL;
    if (!dims || dims[0] == dims[1]) return false;
    uint32_t first = dims[0];
    dims[0] = dims[1];
    dims[1] = first;
    return true;
}
EDIT(rank_above) {
    uint32_t *dims = o->rank ? state_dims(m, a, o) : NULL;
    if (dims) dims[a->dimension_count++] = 1;
    return dims != NULL;
}
EDIT(rank_below) {
    if (o->rank < 2 || !state_dims(m, a, o)) return false;
    a->dimension_count--;
    return true;
}
EDIT(extents_overflow) {
    uint32_t *dims = o->rank > 1 ? state_dims(m, a, o) : NULL;
    if (dims) dims[0] = dims[1] = 1u << 31;
    return dims != NULL;
}
EDIT(dimensions_null) {
    if (!state_dims(m, a, o)) return false;
    a->dimensions = NULL;
    return true;
}
EDIT(open_without_dimensions) {
    (void)m;
    a->dimension_count = 0;
    a->dimensions = NULL;
    return nnv_operand_is_open(o) && a->location.length > 0;
}
EDIT(open_stays_open) {
    uint32_t *dims = nnv_operand_is_open(o) && a->location.length > 0 ? state_dims(m, a, o) : NULL;
    for (uint32_t i = 0; dims && i < o->rank; i++)
        if (o->dims[i] == 0) dims[i] = 0;
    return dims != NULL;
}
/* What the model leaves open gets an extent that the length contradicts. */
EDIT(open_extent_other) {
    uint32_t *dims = nnv_operand_is_open(o) ? state_dims(m, a, o) : NULL;
    for (uint32_t i = 0; dims && i < o->rank; i++)
        if (o->dims[i] == 0) dims[i]++;
    return dims != NULL;
}
/* The output states another extent than the one that comes out. */
EDIT(open_output_other) {
    uint32_t *dims = nnv_operand_is_open(o) ? state_dims(m, a, o) : NULL;
    for (uint32_t i = 0; dims && i < o->rank; i++)
        if (o->dims[i] == 0) dims[i]--;
    return dims != NULL;
}
EDIT(open_too_small) {
    (void)m;
    if (a->location.length == 0) return false; /* an empty value fits */
    a->location.length--;
    return nnv_operand_is_open(o);
}
EDIT(open_empty) {
    (void)m;
    return nnv_operand_is_open(o) && nnv_length_zero(&a->location, 0, 0);
}
EDIT(fixed_too_small) {
    if (nnv_operand_is_open(o)) return false;
    return length_moved(m, a, o);
}
EDIT(fixed_empty) {
    (void)m;
    return !nnv_operand_is_open(o) && nnv_length_zero(&a->location, 0, 0);
}
/* Fenced executions want outputs that are known before. */
EDIT(open_output) {
    (void)m, (void)a;
    return nnv_operand_is_open(o);
}

/* ------------------------------------------------------------ omitted arguments */

static bool may_omit(const struct nnv_operation *use, uint32_t index) {
    const struct nnv_op *op = nnv_op(use->type);
    for (uint32_t i = 0; i < use->nin; i++)
        for (uint8_t f = 0; f < op->nforms && use->in[i] == index; f++)
            if (i < op->forms[f].nin && op->forms[f].in[i].flags & NNV_OMITTABLE) return true;
    return false;
}
/** A record says that the operand may be omitted, whatever that asks of the others. */
static bool is_optional(const struct nnv_request_mutation *m, const struct nnv_operand *o) {
    const struct nnv_subgraph *main = &m->values->fixture->spec->model.main;
    for (uint32_t i = 0; i < main->noperations; i++)
        if (may_omit(&main->operations[i], (uint32_t)(o - main->operands))) return true;
    return false;
}
EDIT(no_value) {
    *a = (struct nnvts_argument){.has_no_value = true};
    return !is_optional(m, o);
}
EDIT(no_value_with_location) {
    (void)m, (void)o;
    a->has_no_value = true;
    return a->location.length > 0;
}

static struct nnvts_argument *an_omitted(struct nnv_request_mutation *m) {
    for (uint32_t i = 0; i < m->request.input_count; i++)
        if (m->inputs[i].has_no_value) return &m->inputs[i];
    return NULL;
}
/* An argument that may be omitted, and says where its value would be. a: which member. */
static bool omitted_with(struct nnv_request_mutation *m) {
    static const uint32_t one = 1;
    struct nnvts_argument *a = an_omitted(m);
    if (!a) return false;
    switch (m->row->a) {
    case 0:
        a->location.pool = 1;
        break;
    case 1:
        a->location.offset = 4;
        break;
    case 2:
        a->location.length = 4;
        break;
    default:
        a->dimension_count = 1;
        a->dimensions = &one;
    }
    return true;
}

/* ---------------------------------------------------------------------- values */

/** The slot of input i of n, where a repeated slot stands as often as there is room; or NULL. */
static const struct nnv_slot *slot_of(const struct nnv_form *form, uint32_t i, uint32_t n) {
    uint32_t more = 0, at = 0; /* repetitions behind the first */
    for (; at < form->nin && !(form->in[at].flags & NNV_REPEAT); at++) {}
    if (at < form->nin && n > form->nin) more = n - form->nin;
    const uint32_t slot = i <= at ? i : i <= at + more ? at : i - more;
    return slot < form->nin ? &form->in[slot] : NULL;
}

/** Input i of the operation says what is done, and is no data: an index, an axis, a size. */
static bool is_number(const struct nnv_operation *use, uint32_t i) {
    const struct nnv_op *op = nnv_op(use->type);
    for (uint8_t f = 0; f < op->nforms; f++) {
        const struct nnv_slot *slot = slot_of(&op->forms[f], i, use->nin);
        if (slot && nnv_slot_is_number(slot)) return true;
    }
    return false;
}
/** All of them that the request gives become the row's number. */
static bool numbers(struct nnv_request_mutation *m) {
    const struct nnv_spec *spec = m->values->fixture->spec;
    const struct nnv_subgraph *main = &spec->model.main;
    struct nnv_value *in = nnv_arena_copy(m->arena, spec->inputs, main->nin * sizeof *in);
    const int32_t number = (int32_t)m->row->a;
    bool changed = false;
    for (uint32_t i = 0; in && i < main->nin; i++) {
        bool is = false;
        for (uint32_t k = 0; k < main->noperations; k++)
            for (uint32_t n = 0; n < main->operations[k].nin; n++) {
                if (main->operations[k].in[n] != main->in[i] || !is_number(&main->operations[k], n)) continue;
                is = true;
                m->fails |= nnv_op(main->operations[k].type)->bounds;
            }
        const int32_t type = main->operands[main->in[i]].type;
        if (!is || in[i].bytes == 0 || nnv_type(type)->kind != NNV_KIND_INT) continue;
        int32_t *to = nnv_arena_alloc(m->arena, in[i].bytes, sizeof *to);
        if (!to) in = NULL;
        for (size_t e = 0; to && e < in[i].bytes / sizeof *to; e++) to[e] = number;
        if (in) in[i].data = to;
        changed = true;
    }
    m->in = in;
    m->failed = !in;
    m->fails &= changed;
    return changed;
}

/* ---------------------------------------------------------------------- counts */

static bool inputs_counted(struct nnv_request_mutation *m) {
    if (m->request.input_count == 0 && m->row->a <= 0) return false;
    m->request.input_count = m->row->a == 0 ? 0 : m->request.input_count + (uint32_t)m->row->a;
    return true;
}
static bool outputs_counted(struct nnv_request_mutation *m) {
    m->request.output_count = m->row->a == 0 ? 0 : m->request.output_count + (uint32_t)m->row->a;
    return true;
}
static bool first_input_missing(struct nnv_request_mutation *m) {
    if (m->request.input_count == 0) return false;
    m->request.inputs = ++m->inputs;
    m->request.input_count--;
    return true;
}
static bool pools_counted(struct nnv_request_mutation *m) {
    m->request.pool_count = (uint32_t)m->row->a;
    return true;
}

/* ----------------------------------------------------------------------- pools */

/** The pool of the row's side, if an argument lies there. */
static struct nnvts_memory *the_pool(struct nnv_request_mutation *m) {
    if (m->row->side == NNV_SIDE_OUTPUT) return &m->pools[1];
    for (uint32_t i = 0; i < m->request.input_count; i++)
        if (m->inputs[i].location.length > 0) return &m->pools[0];
    return NULL;
}
/* A buffer of the device that there is not. */
static bool pool_token(struct nnv_request_mutation *m) {
    struct nnvts_memory *p = the_pool(m);
    if (!p) return false;
    *p = (struct nnvts_memory){.kind = NNVTS_MEMORY_DEVICE, .prot = p->prot, .fd = -1, .token = (uint32_t)m->row->a};
    bool input = m->row->side == NNV_SIDE_INPUT;
    struct nnvts_argument *list = input ? m->inputs : m->outputs;
    for (uint32_t i = 0; i < (input ? m->request.input_count : m->request.output_count); i++)
        list[i].location = (struct nnvts_location){.pool = list[i].location.pool};
    return true;
}

/* ------------------------------------------------------------ tokens and fences */

static bool token_negative(struct nnv_request_mutation *m) {
    m->tokens[m->pick % 2] = m->row->a;
    return true;
}
static bool tokens_null(struct nnv_request_mutation *m) {
    m->no_tokens = true;
    return true;
}
static bool fence_negative(struct nnv_request_mutation *m) {
    static const int none[] = {-1};
    m->wait_for = none;
    m->wait_for_count = 1;
    return true;
}
static bool fences_null(struct nnv_request_mutation *m) {
    m->wait_for = NULL;
    m->wait_for_count = 1;
    return true;
}

/* ----------------------------------------------------------------------- rows */

#define INSIDE "offset, length and padding lie in the pool"
#define A_POOL "arguments lie in pools that exist"
#define SIZE "the length is the size of the value"
#define SHAPE "the dimensions of an argument are the model's where those are known"
#define REQUIRED "only optional inputs are omitted"
#define NOTHING_ELSE "an argument without a value is 0 otherwise"
#define COUNTS "a request has all arguments of the model and no others"
#define ARRAY "an array whose count is not 0 is not NULL"
#define MEMORY "a pool is SHARED, or names a buffer of the device"
#define IN_RANGE "indices, axes and sizes are in range; else there is an error, or any value, and nothing worse"
/* What the values of a request break, a driver need not see. */
#define ANY_ANSWER                                                                                                     \
    .needs = NNV_NEEDS_NUMBER, .statuses = NNV_ST_NONE | NNV_ST_INVALID | NNV_ST_FAILURE | NNV_ST_TOO_SMALL,           \
    .late = true, .all_operations = true
#define MAPPABLE "a pool can be mapped"
#define BOTH(what, rule, ...)                                                                                          \
    {"input_" what, rule, .side = NNV_SIDE_INPUT, __VA_ARGS__}, {                                                      \
        "output_" what, rule, .side = NNV_SIDE_OUTPUT, __VA_ARGS__                                                     \
    }
#define UNMAPPABLE .statuses = NNV_ST_INVALID | NNV_ST_FAILURE
enum { FENCED = 1u << NNV_MODE_FENCED, BURST = 1u << NNV_MODE_BURST };
#define OPEN NNV_NEEDS_OPEN
#define TOO_SMALL .statuses = NNV_ST_TOO_SMALL, .fenced = NNV_ST_INVALID, .late = true

const struct nnv_request_mutator nnv_request_mutators[] = {
    BOTH("pool_past_last", A_POOL, .edit = pool_index),
    BOTH("pool_largest", A_POOL, .a = 1, .edit = pool_index),
    BOTH("offset_behind", INSIDE, .abi.place = nnv_offset_behind),
    BOTH("offset_wraps", INSIDE, .abi.place = nnv_offset_wraps),
    BOTH("offset_largest", INSIDE, .abi.place = nnv_offset_largest),
    BOTH("length_behind", INSIDE, .edit = length_behind),
    BOTH("length_largest", INSIDE, .abi.place = nnv_length_largest),
    BOTH("length_wraps", INSIDE, .abi.place = nnv_length_wraps),
    BOTH("padding_behind", INSIDE, .level = 5, .edit = padding_behind),
    BOTH("padding_largest", INSIDE, .level = 5, .edit = padding_largest),
    {"input_length_above", SIZE, .side = NNV_SIDE_INPUT, .a = 1, .edit = length_moved},
    {"input_length_below", SIZE, .side = NNV_SIDE_INPUT, .a = -1, .edit = length_moved},
    {"input_length_zero", SIZE, .side = NNV_SIDE_INPUT, .abi.place = nnv_length_zero},
    /* HAL lets a driver say either of an output whose size the model tells. */
    {"output_too_small", SIZE, .side = NNV_SIDE_OUTPUT, .statuses = NNV_ST_INVALID | NNV_ST_TOO_SMALL, .late = true,
     .a = -1, .edit = fixed_too_small},
    {"output_empty", SIZE, .side = NNV_SIDE_OUTPUT, .statuses = NNV_ST_INVALID | NNV_ST_TOO_SMALL, .late = true,
     .edit = fixed_empty},
    {"open_output_too_small", "a driver says which output is too small", .needs = OPEN, .side = NNV_SIDE_OUTPUT,
     TOO_SMALL, .edit = open_too_small},
    {"open_output_empty", "a driver says which output is too small", .needs = OPEN, .side = NNV_SIDE_OUTPUT, TOO_SMALL,
     .edit = open_empty},
    {"open_output_fenced", "a fenced execution has outputs that are fully specified", .needs = OPEN,
     .side = NNV_SIDE_OUTPUT, .modes = FENCED, .edit = open_output},
    BOTH("extent_above", SHAPE, .a = 1, .edit = extent_other),
    BOTH("extent_below", SHAPE, .a = -1, .edit = extent_other),
    BOTH("extents_swapped", SHAPE, .edit = extents_swapped),
    BOTH("extents_overflow", SHAPE, .edit = extents_overflow),
    BOTH("rank_above", SHAPE, .edit = rank_above),
    BOTH("rank_below", SHAPE, .edit = rank_below),
    BOTH("dimensions_null", ARRAY, .edit = dimensions_null),
    {"open_input_without_dimensions", "an input tells the extents that the model leaves open", .needs = OPEN,
     .side = NNV_SIDE_INPUT, .edit = open_without_dimensions},
    {"open_input_stays_open", "an input tells the extents that the model leaves open", .needs = OPEN,
     .side = NNV_SIDE_INPUT, .edit = open_stays_open},
    {"open_input_extent", SIZE, .needs = OPEN, .side = NNV_SIDE_INPUT, .edit = open_extent_other},
    {"open_output_extent", "an output that tells its extents gets these", .needs = OPEN, .side = NNV_SIDE_OUTPUT,
     .statuses = NNV_ST_INVALID | NNV_ST_FAILURE, .late = true, .edit = open_output_other},
    BOTH("without_value", REQUIRED, .omits = true, .edit = no_value),
    BOTH("without_value_located", NOTHING_ELSE, .edit = no_value_with_location),
    {"omitted_with_pool", NOTHING_ELSE, .needs = NNV_NEEDS_OMITTABLE, .a = 0, .change = omitted_with},
    {"omitted_with_offset", NOTHING_ELSE, .needs = NNV_NEEDS_OMITTABLE, .a = 1, .change = omitted_with},
    {"omitted_with_length", NOTHING_ELSE, .needs = NNV_NEEDS_OMITTABLE, .a = 2, .change = omitted_with},
    {"omitted_with_dimensions", NOTHING_ELSE, .needs = NNV_NEEDS_OMITTABLE, .a = 3, .change = omitted_with},
    {"number_negative", IN_RANGE, ANY_ANSWER, .a = -7, .change = numbers},
    {"number_large", IN_RANGE, ANY_ANSWER, .a = 70001, .change = numbers},
    {"number_largest", IN_RANGE, ANY_ANSWER, .a = INT32_MAX, .change = numbers},
    {"number_least", IN_RANGE, ANY_ANSWER, .a = INT32_MIN, .change = numbers},
    {"no_inputs", COUNTS, .needs = NNV_NEEDS_INPUT, .change = inputs_counted},
    {"last_input_missing", COUNTS, .needs = NNV_NEEDS_INPUT, .a = -1, .change = inputs_counted},
    {"first_input_missing", COUNTS, .needs = NNV_NEEDS_INPUT, .change = first_input_missing},
    {"surplus_input", COUNTS, .a = 1, .change = inputs_counted},
    {"no_outputs", COUNTS, .change = outputs_counted},
    {"last_output_missing", COUNTS, .a = -1, .change = outputs_counted},
    {"surplus_output", COUNTS, .a = 1, .change = outputs_counted},
    {"inputs_null", ARRAY, .needs = NNV_NEEDS_INPUT, NNV_NULL_ARRAY(nnvts_request, inputs, input_count)},
    {"outputs_null", ARRAY, NNV_NULL_ARRAY(nnvts_request, outputs, output_count)},
    {"pools_null", ARRAY, NNV_NULL_ARRAY(nnvts_request, pools, pool_count)},
    {"no_pools", A_POOL, .change = pools_counted},
    {"last_pool_missing", A_POOL, .a = 1, .change = pools_counted},
    BOTH("pool_kind_past_last", MEMORY, .a = 2, .abi.pool = nnv_pool_kind),
    BOTH("pool_kind_largest", MEMORY, .a = -1, .abi.pool = nnv_pool_kind),
    BOTH("token_zero", MEMORY, .level = 4, .change = pool_token),
    BOTH("token_unknown", MEMORY, .level = 4, .a = 0x7654321, .change = pool_token),
    BOTH("pool_empty", INSIDE, .abi.pool = nnv_pool_size),
    BOTH("pool_of_one_byte", INSIDE, .a = 1, .abi.pool = nnv_pool_size),
    BOTH("pool_unmappable", MAPPABLE, UNMAPPABLE, .abi.pool = nnv_pool_unmappable),
    BOTH("pool_offset_odd", MAPPABLE, UNMAPPABLE, .a = 1, .abi.pool = nnv_pool_offset),
    BOTH("pool_behind_file", MAPPABLE, UNMAPPABLE, .a = 1 << 20, .abi.pool = nnv_pool_offset),
    BOTH("pool_without_access", "inputs lie in pools that may be read, outputs in pools that may be written",
         .abi.pool = nnv_pool_prot),
    {"input_pool_write_only", "inputs lie in pools that may be read", .side = NNV_SIDE_INPUT, .a = NNVTS_PROT_WRITE,
     .abi.pool = nnv_pool_prot},
    {"output_pool_read_only", "outputs lie in pools that may be written", .side = NNV_SIDE_OUTPUT, .a = NNVTS_PROT_READ,
     .abi.pool = nnv_pool_prot},
    {"burst_token_below", "memory tokens are -1 or above", .modes = BURST, .a = -2, .change = token_negative},
    {"burst_token_least", "memory tokens are -1 or above", .modes = BURST, .a = INT64_MIN, .change = token_negative},
    {"burst_tokens_null", ARRAY, .modes = BURST, .change = tokens_null},
    {"fence_negative", "fences are file descriptors", .modes = FENCED, .change = fence_negative},
    {"fences_null", ARRAY, .modes = FENCED, .change = fences_null},
};
const size_t nnv_request_mutator_count = sizeof nnv_request_mutators / sizeof *nnv_request_mutators;

/* --------------------------------------------------------------------- making */

/** The argument to edit: the case's choice among those with a value and of which the edit can be made. */
static bool edit_argument(struct nnv_request_mutation *m) {
    const struct nnv_subgraph *main = &m->values->fixture->spec->model.main;
    const bool input = m->row->side == NNV_SIDE_INPUT;
    const uint32_t n = input ? m->request.input_count : m->request.output_count;
    struct nnvts_argument *list = input ? m->inputs : m->outputs;
    for (uint32_t i = 0; i < n && !m->failed; i++) {
        const uint32_t at = (uint32_t)((m->pick + i) % n);
        const struct nnvts_argument before = list[at];
        if (before.has_no_value) continue;
        const struct nnv_operand *o = &main->operands[input ? main->in[at] : main->out[at]];
        if (m->row->edit ? m->row->edit(m, &list[at], o)
                         : m->row->abi.place(&list[at].location, pool_of(m, &list[at])->size, m->row->a))
            return true;
        list[at] = before;
    }
    return false;
}

static bool edit_pool(struct nnv_request_mutation *m) {
    struct nnvts_memory *p = the_pool(m);
    if (p) m->row->abi.pool(p, m->row->a);
    return p != NULL;
}

enum nnv_applied nnv_request_make(struct nnv_request_mutation *m, const struct nnv_request_mutator *row,
                                  const struct nnv_request *v, uint64_t pick, struct nnv_arena *arena) {
    *m = (struct nnv_request_mutation){.arena = arena, .row = row, .pick = pick, .values = v, .request = v->abi};
    m->inputs = NNV_NEW(arena, struct nnvts_argument, v->abi.input_count + 1);
    m->outputs = NNV_NEW(arena, struct nnvts_argument, v->abi.output_count + 1);
    if (!m->inputs || !m->outputs) return NNV_APPLY_FAILED;
    if (v->abi.input_count) memcpy(m->inputs, v->inputs, v->abi.input_count * sizeof *m->inputs);
    if (v->abi.output_count) memcpy(m->outputs, v->outputs, v->abi.output_count * sizeof *m->outputs);
    m->inputs[v->abi.input_count] = m->inputs[0]; /* surplus ones are like the first */
    m->outputs[v->abi.output_count] = m->outputs[0];
    memcpy(m->pools, v->pools, sizeof v->pools);
    m->tokens[0] = m->tokens[1] = m->tokens[2] = -1;
    m->request.inputs = m->inputs;
    m->request.outputs = m->outputs;
    m->request.pools = m->pools;
    bool changed = row->edit || row->abi.place ? edit_argument(m)
                   : row->abi.pool             ? edit_pool(m)
                   : row->abi.array            ? nnv_null_array(&m->request, &row->abi)
                                               : row->change(m);
    if (m->failed) return NNV_APPLY_FAILED;
    return changed ? NNV_APPLIED : NNV_NOT_APPLIED;
}
