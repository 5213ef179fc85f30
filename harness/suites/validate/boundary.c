/* SPDX-License-Identifier: Apache-2.0 */
/** @file boundary.c What is legal, though a driver might refuse it: models, renderings, requests. */
#include <string.h>

#include "harness/suites/validate/validate.h"
#include "reference/model/validate.h"

/* --------------------------------------------------------------------- models */

static bool unused_scalar(struct nnv_mutation *m) {
    nnv_edit_add_int(&m->edit, 1);
    return true;
}
static bool unused_tensor(struct nnv_mutation *m) {
    static const float values[64] = {1, 2, 3};
    static uint32_t dims[] = {4, 16};
    nnv_edit_add(&m->edit, (struct nnv_operand){.type = ANEURALNETWORKS_TENSOR_FLOAT32,
                                                .rank = 2,
                                                .dims = dims,
                                                .lifetime = NNV_CONSTANT_REFERENCE,
                                                .data = values,
                                                .bytes = sizeof values});
    return true;
}
static bool unused_no_value(struct nnv_mutation *m) {
    static uint32_t dims[] = {2};
    nnv_edit_add(&m->edit,
                 (struct nnv_operand){
                     .type = ANEURALNETWORKS_TENSOR_FLOAT32, .rank = 1, .dims = dims, .lifetime = NNV_NO_VALUE});
    return true;
}
/* The model leaves open what the request states. a: of the inputs, of the outputs. */
static bool extents_open(struct nnv_mutation *m) {
    const uint32_t *list = m->a ? m->main->out : m->main->in;
    bool any = false;
    for (uint32_t i = 0; i < (m->a ? m->main->nout : m->main->nin); i++) {
        struct nnv_operand *o = &m->main->operands[list[i]];
        if (o->rank) o->dims[m->pick % o->rank] = 0;
        any = any || o->rank;
    }
    return any;
}
static bool rank_open(struct nnv_mutation *m) {
    bool any = false;
    for (uint32_t i = 0; i < m->main->nout; i++) {
        any = any || m->main->operands[m->main->out[i]].rank;
        m->main->operands[m->main->out[i]].rank = 0;
    }
    return any;
}
static bool inputs_reversed(struct nnv_mutation *m) {
    const uint32_t n = m->main->nin;
    for (uint32_t i = 0; i < n / 2; i++) {
        struct nnv_value value = m->spec->inputs[i];
        uint32_t index = m->main->in[i];
        m->spec->inputs[i] = m->spec->inputs[n - 1 - i];
        m->main->in[i] = m->main->in[n - 1 - i];
        m->spec->inputs[n - 1 - i] = value;
        m->main->in[n - 1 - i] = index;
    }
    return n > 1;
}
static bool outputs_reversed(struct nnv_mutation *m) {
    const uint32_t n = m->main->nout;
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t index = m->main->out[i];
        m->main->out[i] = m->main->out[n - 1 - i];
        m->main->out[n - 1 - i] = index;
    }
    return n > 1;
}
static void renumber(uint32_t *list, uint32_t n, uint32_t count) {
    for (uint32_t i = 0; i < n; i++) list[i] = count - 1 - list[i];
}
/* The last operand becomes the first. */
static bool operands_reversed(struct nnv_mutation *m) {
    struct nnv_subgraph *s = m->main;
    const uint32_t n = s->noperands;
    for (uint32_t i = 0; i < n / 2; i++) {
        struct nnv_operand o = s->operands[i];
        s->operands[i] = s->operands[n - 1 - i];
        s->operands[n - 1 - i] = o;
    }
    renumber(s->in, s->nin, n);
    renumber(s->out, s->nout, n);
    for (uint32_t i = 0; i < s->noperations; i++) {
        renumber(s->operations[i].in, s->operations[i].nin, n);
        renumber(s->operations[i].out, s->operations[i].nout, n);
    }
    return true;
}
/* A second operation reads the same operands, and writes outputs of its own. */
static bool operands_read_twice(struct nnv_mutation *m) {
    struct nnv_subgraph *s = m->main;
    if (s->noperations != 1 || s->operations[0].nout > NNV_EDIT_ROOM) return false;
    struct nnv_operation *op = nnv_edit_add_operation(&m->edit, &s->operations[0]);
    for (uint32_t i = 0; op && i < op->nout && !m->edit.failed; i++) {
        op->out[i] = nnv_edit_add(&m->edit, s->operands[op->out[i]]);
        s->out[s->nout++] = op->out[i];
    }
    return true;
}
/* An output of the model is read on, by a second operation. */
static bool output_read_on(struct nnv_mutation *m) {
    struct nnv_subgraph *s = m->main;
    uint32_t at = 0;
    while (at + 1 < s->nout && s->operands[s->out[at]].ignored) at++;
    const uint32_t from = s->out[at];
    const struct nnv_operand *o = &s->operands[from];
    if (o->type != ANEURALNETWORKS_TENSOR_FLOAT32 || o->rank == 0 || o->rank > 4 || o->ignored) return false;
    struct nnv_operation *op = nnv_edit_add_operation(&m->edit, &s->operations[0]);
    const uint32_t to = nnv_edit_add(&m->edit, *o);
    if (m->edit.failed) return false;
    op->type = ANEURALNETWORKS_RELU;
    op->nin = op->nout = 1;
    op->in[0] = from;
    op->out[0] = s->out[s->nout++] = to;
    return true;
}
/* One operand stands for two inputs of the operation. */
static bool operand_read_twice(struct nnv_mutation *m) {
    struct nnv_subgraph *s = m->main;
    struct nnv_operation *op = &s->operations[0];
    if (s->nin != 2 || op->nin < 2 || op->in[0] != s->in[0] || op->in[1] != s->in[1]) return false;
    if (m->spec->inputs[0].omitted || m->spec->inputs[1].omitted) return false;
    s->operands[op->in[1]] = nnv_mutation_scalar(); /* nobody reads it now */
    op->in[1] = op->in[0];
    s->nin = 1;
    return true;
}
/** Operand `index` gets no value, and is not an input any more, where the operation allows it. */
static bool make_no_value(struct nnv_mutation *m, uint32_t index) {
    struct nnv_subgraph *s = m->main;
    struct nnv_operand *o = &s->operands[index];
    const struct nnv_operand before = *o;
    const uint32_t *in = nnv_edit_copy(&m->edit, s->in, s->nin, 0, sizeof *s->in);
    const uint32_t n = s->nin;
    if (!in) return false;
    o->lifetime = NNV_NO_VALUE;
    o->data = NULL;
    o->bytes = 0;
    s->nin = nnv_edit_drop(s->in, n, index);
    if (nnv_validate(m->model, m->edit.arena, NULL, NULL) == NNV_OK) {
        for (uint32_t i = 0, kept = 0; i < n; i++)
            if (in[i] != index) m->spec->inputs[kept++] = m->spec->inputs[i];
        return true;
    }
    *o = before;
    memcpy(s->in, in, n * sizeof *in);
    s->nin = n;
    return false;
}

/* An optional input has no value. a: in the model, or only in the request. */
static bool input_omitted(struct nnv_mutation *m) {
    struct nnv_subgraph *s = m->main;
    const struct nnv_operation *op = &s->operations[0];
    for (uint32_t i = 0; i < op->nin && !m->edit.failed; i++) {
        struct nnv_operand *o = &s->operands[op->in[i]];
        if (o->lifetime == NNV_NO_VALUE || !nnv_type(o->type)->tensor || !make_no_value(m, op->in[i])) continue;
        if (m->a) {
            o->lifetime = NNV_SUBGRAPH_INPUT;
            m->spec->inputs[s->nin] = (struct nnv_value){.omitted = true};
            s->in[s->nin++] = op->in[i];
        }
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ renderings */

enum { COPY_ALL, ONE_POOL, MANY_POOLS, MOST_CONSTANTS = 64 };

static const uint8_t *value_at(const struct nnv_mutation *m, const struct nnvts_operand *o) {
    if (o->lifetime == NNVTS_CONSTANT_COPY) return (const uint8_t *)m->abi.operand_values + o->location.offset;
    return (const uint8_t *)m->abi.pools[o->location.pool].data + o->location.offset;
}

static bool is_constant(const struct nnvts_operand *o) {
    return o->lifetime == NNVTS_CONSTANT_COPY || o->lifetime == NNVTS_CONSTANT_REFERENCE;
}

static uint32_t constants_of(const struct nnv_mutation *m) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->abi.main.operand_count; i++) n += is_constant(&m->operands[i]);
    return n;
}

/** Where a value of this size may begin, at or behind offset: odd for single bytes, an odd multiple of 4 for others. */
static uint32_t odd_place(uint32_t offset, const struct nnvts_operand *o) {
    if (nnv_type(o->type)->size == 1) return offset | 1;
    return (offset + 3) / 4 * 4 | 4;
}

/** All constants of the main subgraph, anew: copied, in one pool, or in a pool each; the last one first. */
static bool lay_out(struct nnv_mutation *m, int how, bool odd, uint32_t padding) {
    const uint32_t n = constants_of(m);
    uint32_t room = 8;
    if (n == 0 || n > MOST_CONSTANTS || m->abi.referenced_count) return false;
    for (uint32_t i = 0; i < m->abi.main.operand_count; i++)
        if (is_constant(&m->operands[i])) room += m->operands[i].location.length + padding + 16;
    uint8_t *bytes = nnv_arena_alloc(m->edit.arena, room, 1);
    struct nnvts_memory *pools = NNV_NEW(m->edit.arena, struct nnvts_memory, n);
    m->edit.failed = m->edit.failed || !bytes || !pools;
    if (m->edit.failed) return false;
    uint32_t at = 0, count = 0;
    for (uint32_t i = m->abi.main.operand_count; i-- > 0;) {
        struct nnvts_operand *o = &m->operands[i];
        if (!is_constant(o)) continue;
        const uint32_t length = o->location.length, offset = odd ? odd_place(at, o) : (at + 7) / 8 * 8;
        if (length) memcpy(bytes + offset, value_at(m, o), length);
        o->lifetime = how == COPY_ALL ? NNVTS_CONSTANT_COPY : NNVTS_CONSTANT_REFERENCE;
        o->location = (struct nnvts_location){.offset = offset, .length = length, .padding = padding};
        if (how == MANY_POOLS) {
            pools[count] = (struct nnvts_memory){
                .prot = NNVTS_PROT_READ, .fd = -1, .size = length + padding, .data = bytes + offset};
            o->location.pool = count++;
            o->location.offset = 0;
        }
        at = offset + length + padding;
    }
    if (how == ONE_POOL)
        pools[count++] = (struct nnvts_memory){.prot = NNVTS_PROT_READ, .fd = -1, .size = room, .data = bytes};
    m->abi.operand_values = how == COPY_ALL ? bytes : NULL;
    m->abi.operand_values_bytes = how == COPY_ALL ? room : 0;
    m->abi.pools = m->pools = pools;
    m->abi.pool_count = count;
    return true;
}
static bool constants_copied(struct nnv_mutation *m) { return lay_out(m, COPY_ALL, false, 0); }
static bool constants_copied_odd(struct nnv_mutation *m) { return lay_out(m, COPY_ALL, true, 0); }
static bool constants_in_pool(struct nnv_mutation *m) { return lay_out(m, ONE_POOL, false, 0); }
static bool constants_in_pool_odd(struct nnv_mutation *m) { return lay_out(m, ONE_POOL, true, 0); }
static bool constants_in_pools(struct nnv_mutation *m) { return lay_out(m, MANY_POOLS, false, 0); }
static bool constants_padded(struct nnv_mutation *m) { return lay_out(m, ONE_POOL, false, 12); }

static bool unused_pool(struct nnv_mutation *m) {
    static uint8_t bytes[64];
    m->pools[m->abi.pool_count++] =
        (struct nnvts_memory){.prot = NNVTS_PROT_READ, .fd = -1, .size = sizeof bytes, .data = bytes};
    return true;
}
/* Lists of no entries, at addresses that are not NULL. */
static bool empty_lists(struct nnv_mutation *m) {
    static const struct nnvts_extension_prefix extension;
    static const struct nnvts_subgraph subgraph;
    m->abi.extensions = &extension;
    if (m->abi.referenced_count == 0) m->abi.referenced = &subgraph;
    return true;
}

/* -------------------------------------------------------------------- requests */

static bool dims_stated(struct nnv_context *s, const struct nnv_boundary_case *row, struct nnv_request *v) {
    const struct nnv_spec *spec = v->fixture->spec;
    const bool inputs = row->a == 0;
    bool any = false;
    (void)s;
    for (uint32_t i = 0; i < (inputs ? v->abi.input_count : v->abi.output_count); i++) {
        const struct nnv_value *value = inputs ? &spec->inputs[i] : v->fixture->expected[i].value;
        const struct nnv_operand *o =
            &spec->model.main.operands[inputs ? spec->model.main.in[i] : spec->model.main.out[i]];
        struct nnvts_argument *a = inputs ? &v->inputs[i] : &v->outputs[i];
        if (a->has_no_value || value->rank == 0 || o->rank == 0) continue;
        a->dimensions = value->dims;
        a->dimension_count = value->rank;
        any = true;
    }
    return any;
}
/* Dimensions of 0 where the model knows them. */
static bool dims_left_open(struct nnv_context *s, const struct nnv_boundary_case *row, struct nnv_request *v) {
    static const uint32_t zeros[NNV_MAX_RANK];
    if (!dims_stated(s, row, v)) return false;
    for (uint32_t i = 0; i < v->abi.input_count; i++) {
        const struct nnv_operand *o = &v->fixture->spec->model.main.operands[v->fixture->spec->model.main.in[i]];
        bool known = true;
        for (uint32_t d = 0; d < o->rank; d++) known = known && o->dims[d];
        if (v->inputs[i].dimension_count && known) v->inputs[i].dimensions = zeros;
    }
    return true;
}
/* The guard zones behind the values are padding: inputs' may be read; outputs' must stay unwritten here. */
static bool padding_given(struct nnv_context *s, const struct nnv_boundary_case *row, struct nnv_request *v) {
    (void)s, (void)row;
    for (uint32_t i = 0; i < v->abi.input_count; i++)
        if (!v->inputs[i].has_no_value) v->inputs[i].location.padding = 16;
    return v->abi.input_count > 0;
}
static struct nnvts_memory *more_pools(struct nnv_context *s, struct nnv_request *v, uint32_t more) {
    struct nnvts_memory *pools = NNV_NEW(s->env->arena, struct nnvts_memory, v->abi.pool_count + more);
    if (!pools) {
        nnv_context_error(s, NNV_OUT_OF_MEMORY);
        return NULL;
    }
    memcpy(pools, v->pools, sizeof v->pools);
    v->abi.pools = pools;
    return pools;
}
static bool extra_pool(struct nnv_context *s, const struct nnv_boundary_case *row, struct nnv_request *v) {
    static uint8_t bytes[16];
    struct nnvts_memory *pools = more_pools(s, v, 1);
    (void)row;
    if (!pools) return false;
    pools[v->abi.pool_count++] = (struct nnvts_memory){
        .prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE, .fd = -1, .size = sizeof bytes, .data = bytes};
    return true;
}
/** A pool of its own, just as large, for an argument. */
static void own_pool(const struct nnvts_memory *from, struct nnvts_argument *a, struct nnvts_memory *pools,
                     uint32_t at) {
    pools[at] = (struct nnvts_memory){
        .prot = from->prot, .fd = -1, .size = a->location.length, .data = (uint8_t *)from->data + a->location.offset};
    a->location.pool = at;
    a->location.offset = 0;
}
static bool pool_each(struct nnv_context *s, const struct nnv_boundary_case *row, struct nnv_request *v) {
    struct nnvts_memory *pools = more_pools(s, v, v->abi.input_count + v->abi.output_count);
    (void)row;
    if (!pools) return false;
    for (uint32_t i = 0; i < v->abi.input_count; i++)
        if (!v->inputs[i].has_no_value) own_pool(&v->pools[0], &v->inputs[i], pools, v->abi.pool_count++);
    for (uint32_t i = 0; i < v->abi.output_count; i++)
        own_pool(&v->pools[1], &v->outputs[i], pools, v->abi.pool_count++);
    return true;
}
static bool pools_swapped(struct nnv_context *s, const struct nnv_boundary_case *row, struct nnv_request *v) {
    struct nnvts_memory *pools = more_pools(s, v, 0);
    (void)row;
    if (!pools) return false;
    pools[0] = v->pools[1];
    pools[1] = v->pools[0];
    for (uint32_t i = 0; i < v->abi.input_count; i++)
        if (!v->inputs[i].has_no_value) v->inputs[i].location.pool = 1;
    for (uint32_t i = 0; i < v->abi.output_count; i++) v->outputs[i].location.pool = 0;
    return true;
}
static bool pools_by_file(struct nnv_context *s, const struct nnv_boundary_case *row, struct nnv_request *v) {
    (void)s, (void)row;
    v->pools[0].data = v->pools[1].data = NULL;
    return true;
}
static bool output_pool_write_only(struct nnv_context *s, const struct nnv_boundary_case *row, struct nnv_request *v) {
    (void)s, (void)row;
    v->pools[1].prot = NNVTS_PROT_WRITE;
    return true;
}
static bool input_pool_writable(struct nnv_context *s, const struct nnv_boundary_case *row, struct nnv_request *v) {
    (void)s, (void)row;
    v->pools[0].prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE;
    return true;
}

/* ----------------------------------------------------------------------- rows */

const struct nnv_boundary_case nnv_boundary_cases[] = {
    {"unused_scalar", "a scalar that nobody reads", .change = unused_scalar},
    {"unused_tensor", "a constant tensor in a pool that nobody reads", .change = unused_tensor},
    {"unused_no_value", "an operand without a value that nobody reads", .change = unused_no_value},
    {"input_extents_open", "inputs whose extents the request states", .optional = true, .judged = true,
     .change = extents_open},
    {"output_extents_open", "outputs whose extents the driver finds out", .optional = true, .a = 1, .judged = true,
     .change = extents_open},
    {"output_rank_open", "outputs whose rank the driver finds out", .optional = true, .judged = true,
     .change = rank_open},
    {"inputs_reversed", "inputs in another order", .optional = true, .needs = NNV_NEEDS_TWO_INPUTS,
     .change = inputs_reversed},
    {"outputs_reversed", "outputs in another order", .optional = true, .needs = NNV_NEEDS_TWO_OUTPUTS,
     .change = outputs_reversed},
    {"operands_reversed", "operands in another order", .change = operands_reversed},
    {"operands_read_twice", "two operations that read the same operands", .optional = true,
     .change = operands_read_twice},
    {"output_read_on", "an output that another operation reads", .needs = NNV_NEEDS_FLOAT32, .optional = true,
     .change = output_read_on},
    {"operand_read_twice", "an operand that stands for two inputs", .optional = true, .needs = NNV_NEEDS_ALIKE,
     .judged = true, .change = operand_read_twice},
    {"input_without_value", "an optional input without a value in the model", .needs = NNV_NEEDS_OMITTABLE,
     .optional = true, .change = input_omitted},
    {"input_omitted", "an optional input that the request omits", .needs = NNV_NEEDS_OMITTABLE, .optional = true,
     .a = 1, .change = input_omitted},
    {"constants_copied", "all constants copied, large ones, too", .needs = NNV_NEEDS_CONSTANT,
     .abi_change = constants_copied},
    {"constants_copied_odd", "copied constants at odd offsets", .needs = NNV_NEEDS_CONSTANT,
     .abi_change = constants_copied_odd},
    {"constants_in_pool", "all constants in a pool, small ones, too", .needs = NNV_NEEDS_CONSTANT,
     .abi_change = constants_in_pool},
    {"constants_in_pool_odd", "constants at odd offsets of a pool", .needs = NNV_NEEDS_CONSTANT,
     .abi_change = constants_in_pool_odd},
    {"constants_in_pools", "a pool for each constant", .needs = NNV_NEEDS_CONSTANT, .abi_change = constants_in_pools},
    {"constants_padded", "padding behind constants", .needs = NNV_NEEDS_CONSTANT, .abi_change = constants_padded},
    {"unused_pool", "a pool without constants", .abi_change = unused_pool},
    {"empty_lists", "lists of no entries that are not NULL", .abi_change = empty_lists},
    {"prefer_low_power", "another preference", .a = ANEURALNETWORKS_PREFER_LOW_POWER,
     .abi_change = nnv_mutation_preference},
    {"prefer_sustained_speed", "another preference", .a = ANEURALNETWORKS_PREFER_SUSTAINED_SPEED,
     .abi_change = nnv_mutation_preference},
    {"priority_low", "another priority", .a = NNVTS_PRIORITY_LOW, .abi_change = nnv_mutation_priority},
    {"priority_high", "another priority", .a = NNVTS_PRIORITY_HIGH, .abi_change = nnv_mutation_priority},
    {"input_dimensions_stated", "dimensions of inputs that the model knows", .request_change = dims_stated},
    {"output_dimensions_stated", "dimensions of outputs that the model knows", .a = 1, .request_change = dims_stated},
    {"dimensions_of_zero", "dimensions of 0: as in the model", .request_change = dims_left_open},
    {"input_padding", "padding behind inputs", .request_change = padding_given},
    {"extra_pool", "a pool without arguments", .request_change = extra_pool},
    {"pool_each", "a pool for each argument", .request_change = pool_each},
    {"pools_swapped", "the outputs' pool before the inputs'", .request_change = pools_swapped},
    {"pools_by_file", "pools that the driver must map itself", .request_change = pools_by_file},
    {"output_pool_write_only", "outputs in a pool that must not be read", .request_change = output_pool_write_only},
    {"input_pool_writable", "inputs in a pool that might be written", .request_change = input_pool_writable},
};
const size_t nnv_boundary_case_count = sizeof nnv_boundary_cases / sizeof *nnv_boundary_cases;

enum nnv_applied nnv_boundary_case_make(struct nnv_mutation *m, const struct nnv_boundary_case *row,
                                        const struct nnv_spec *spec, uint64_t pick, struct nnv_arena *arena) {
    if (!nnv_mutation_copy(m, spec, pick, arena)) return NNV_APPLY_FAILED;
    m->a = row->a;
    bool changed = !row->change || row->change(m);
    if (m->edit.failed) return NNV_APPLY_FAILED;
    if (changed && row->judged) changed = nnv_validate(m->model, arena, NULL, NULL) == NNV_OK;
    return changed ? NNV_APPLIED : NNV_NOT_APPLIED;
}
