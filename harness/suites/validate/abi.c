/* SPDX-License-Identifier: Apache-2.0 */
/** @file abi.c Mistakes that only the rendering of a model can have: locations, pools, arrays, the call. */
#include <string.h>

#include "harness/suites/validate/validate.h"

/* --------------------------------------------------------- which operands */

static bool is_copied(const struct nnvts_operand *o) { return o->lifetime == NNVTS_CONSTANT_COPY; }
static bool is_pooled(const struct nnvts_operand *o) { return o->lifetime == NNVTS_CONSTANT_REFERENCE; }
static bool has_no_constant(const struct nnvts_operand *o) {
    return o->lifetime == NNVTS_TEMPORARY_VARIABLE || o->lifetime == NNVTS_SUBGRAPH_INPUT ||
           o->lifetime == NNVTS_SUBGRAPH_OUTPUT;
}
static bool has_dimensions(const struct nnvts_operand *o) { return o->dimension_count > 0; }
static bool has_channels(const struct nnvts_operand *o) { return o->channel_quant.scale_count > 0; }
static bool is_any(const struct nnvts_operand *o) { return o->lifetime != NNVTS_SUBGRAPH; }

/* -------------------------------------------------------------- locations */

/** Bytes of what the constant lies in. */
static uint32_t room_of(const struct nnv_mutation *m, const struct nnvts_operand *o) {
    return is_copied(o) ? m->abi.operand_values_bytes : (uint32_t)m->pools[o->location.pool].size;
}
static void offset_at_end(struct nnv_mutation *m, struct nnvts_operand *o) { o->location.offset = room_of(m, o); }
static void length_changed(struct nnv_mutation *m, struct nnvts_operand *o) {
    o->location.length += (uint32_t)m->a;
    if (o->location.offset + o->location.length > room_of(m, o)) o->location.offset = 0;
}
static void padding_behind(struct nnv_mutation *m, struct nnvts_operand *o) {
    o->location.padding = m->a ? UINT32_MAX : room_of(m, o);
}
static void pool_given(struct nnv_mutation *m, struct nnvts_operand *o) {
    o->location.pool = m->a < 0 ? UINT32_MAX : is_copied(o) ? 1 : m->abi.pool_count;
}
static void location_given(struct nnv_mutation *m, struct nnvts_operand *o) {
    o->location = (struct nnvts_location){.pool = m->a == 0, .offset = m->a == 1 ? 4 : 0, .length = m->a == 2 ? 4 : 0};
}

/* ------------------------------------------------------------ values and pools */

static bool values_short(struct nnv_mutation *m) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < m->abi.main.operand_count; i++) {
        const struct nnvts_operand *o = &m->operands[i];
        if (is_copied(o) && (uint64_t)o->location.offset + o->location.length > end)
            end = (uint64_t)o->location.offset + o->location.length;
    }
    if (end) m->abi.operand_values_bytes = (uint32_t)end - 1;
    return end > 0;
}
static bool values_empty(struct nnv_mutation *m) {
    bool any = m->abi.operand_values_bytes > 0;
    m->abi.operand_values_bytes = 0;
    return any;
}
static bool pools_null_unused(struct nnv_mutation *m) {
    if (m->abi.pool_count) return false;
    m->abi.pools = NULL;
    m->abi.pool_count = 2;
    return true;
}
static bool pools_none(struct nnv_mutation *m) {
    bool any = m->abi.pool_count > 0;
    m->abi.pool_count = 0;
    return any;
}
static bool pool_token(struct nnv_mutation *m) {
    if (!m->abi.pool_count) return false;
    m->pools[0] = (struct nnvts_memory){.kind = NNVTS_MEMORY_DEVICE, .fd = -1, .token = (uint32_t)m->a};
    return true;
}

/* ----------------------------------------------------------------------- arrays */

static void dimensions_null(struct nnv_mutation *m, struct nnvts_operand *o) { (void)m, o->dimensions = NULL; }
static void scales_null(struct nnv_mutation *m, struct nnvts_operand *o) { (void)m, o->channel_quant.scales = NULL; }
static void extension_data(struct nnv_mutation *m, struct nnvts_operand *o) {
    (void)m;
    o->extension_data = "data";
    o->extension_data_bytes = 4;
}
static bool operation_inputs_null(struct nnv_mutation *m) {
    m->operations[m->pick % m->abi.main.operation_count].inputs = NULL;
    return true;
}
static bool operation_outputs_null(struct nnv_mutation *m) {
    m->operations[m->pick % m->abi.main.operation_count].outputs = NULL;
    return true;
}
static bool subgraphs_null(struct nnv_mutation *m) {
    if (m->abi.referenced_count) return false;
    m->abi.referenced = NULL;
    m->abi.referenced_count = 1;
    return true;
}
static bool extensions_null(struct nnv_mutation *m) {
    m->abi.extensions = NULL;
    m->abi.extension_count = 1;
    return true;
}

/* ----------------------------------------------------------------------- rows */

#define INSIDE "a constant lies in operand_values or in its pool"
#define EXACT "the value of a constant has the size that type and dimensions give it"
#define A_POOL "a constant lies in a pool that exists"
#define NOWHERE "only constants have a location"
#define READABLE "a pool of the model can be read"
#define ARRAY "an array whose count is not 0 is not NULL"
#define COPIED .needs = NNV_NEEDS_CONSTANT, .abi_test = is_copied
#define POOLED .needs = NNV_NEEDS_CONSTANT, .pooled = true, .abi_test = is_pooled
#define POOL .needs = NNV_NEEDS_CONSTANT, .pooled = true
#define UNREADABLE .supported = NNV_ST_INVALID | NNV_ST_FAILURE, .prepare = NNV_ST_INVALID | NNV_ST_FAILURE
#define ONLY_PREPARE .supported = NNV_ST_NONE, .prepare = NNV_ST_INVALID

const struct nnv_model_mutator nnv_abi_mutators[] = {
    {"copied_offset_behind", INSIDE, COPIED, .abi.place = nnv_offset_behind},
    {"copied_offset_at_end", INSIDE, COPIED, .abi_edit = offset_at_end},
    {"copied_offset_wraps", INSIDE, COPIED, .abi.place = nnv_offset_wraps},
    {"copied_offset_largest", INSIDE, COPIED, .abi.place = nnv_offset_largest},
    {"copied_length_above", EXACT, COPIED, .a = 1, .abi_edit = length_changed},
    {"copied_length_below", EXACT, COPIED, .a = -1, .abi_edit = length_changed},
    {"copied_length_zero", EXACT, COPIED, .abi.place = nnv_length_zero},
    {"copied_length_largest", INSIDE, COPIED, .abi.place = nnv_length_largest},
    {"copied_length_wraps", INSIDE, COPIED, .abi.place = nnv_length_wraps},
    {"copied_in_pool", "a copied constant has pool 0", COPIED, .abi_edit = pool_given},
    {"pooled_offset_behind", INSIDE, POOLED, .abi.place = nnv_offset_behind},
    {"pooled_offset_at_end", INSIDE, POOLED, .abi_edit = offset_at_end},
    {"pooled_offset_wraps", INSIDE, POOLED, .abi.place = nnv_offset_wraps},
    {"pooled_offset_largest", INSIDE, POOLED, .abi.place = nnv_offset_largest},
    {"pooled_length_above", EXACT, POOLED, .a = 1, .abi_edit = length_changed},
    {"pooled_length_below", EXACT, POOLED, .a = -1, .abi_edit = length_changed},
    {"pooled_length_zero", EXACT, POOLED, .abi.place = nnv_length_zero},
    {"pooled_length_largest", INSIDE, POOLED, .abi.place = nnv_length_largest},
    {"pooled_length_wraps", INSIDE, POOLED, .abi.place = nnv_length_wraps},
    {"pooled_padding_behind", "the padding of a constant lies in its pool", POOLED, .level = 5,
     .abi_edit = padding_behind},
    {"pooled_padding_largest", "the padding of a constant lies in its pool", POOLED, .level = 5, .a = 1,
     .abi_edit = padding_behind},
    {"pool_index_past_last", A_POOL, POOLED, .abi_edit = pool_given},
    {"pool_index_largest", A_POOL, POOLED, .a = -1, .abi_edit = pool_given},
    {"values_short", INSIDE, .needs = NNV_NEEDS_CONSTANT, .abi_change = values_short},
    {"values_empty", INSIDE, .needs = NNV_NEEDS_CONSTANT, .abi_change = values_empty},
    {"values_null", ARRAY, .needs = NNV_NEEDS_CONSTANT,
     NNV_NULL_ARRAY(nnvts_model, operand_values, operand_values_bytes)},
    {"pools_null", ARRAY, POOL, NNV_NULL_ARRAY(nnvts_model, pools, pool_count)},
    {"pools_null_though_unused", ARRAY, .abi_change = pools_null_unused},
    {"pools_none", A_POOL, POOL, .abi_change = pools_none},
    {"pool_empty", INSIDE, POOL, .abi.pool = nnv_pool_size},
    {"pool_of_one_byte", INSIDE, POOL, .a = 1, .abi.pool = nnv_pool_size},
    {"pool_kind_past_last", "a pool is SHARED or DEVICE", POOL, .a = 2, .abi.pool = nnv_pool_kind},
    {"pool_kind_largest", "a pool is SHARED or DEVICE", POOL, .a = -1, .abi.pool = nnv_pool_kind},
    {"pool_token_zero", "the pools of a model are SHARED", POOL, .abi_change = pool_token},
    {"pool_token_unknown", "the pools of a model are SHARED", POOL, .a = 0x7654321, .abi_change = pool_token},
    {"pool_unmappable", READABLE, POOL, UNREADABLE, .abi.pool = nnv_pool_unmappable},
    {"pool_file_short", READABLE, POOL, UNREADABLE, .a = 1 << 20, .abi.pool = nnv_pool_offset},
    {"pool_offset_odd", "the offset of a pool in its file is a multiple of the page size", POOL, UNREADABLE, .a = 1,
     .abi.pool = nnv_pool_offset},
    {"location_pool", NOWHERE, .a = 0, .abi_test = has_no_constant, .abi_edit = location_given},
    {"location_offset", NOWHERE, .a = 1, .abi_test = has_no_constant, .abi_edit = location_given},
    {"location_length", NOWHERE, .a = 2, .abi_test = has_no_constant, .abi_edit = location_given},
    {"dimensions_null", ARRAY, .abi_test = has_dimensions, .abi_edit = dimensions_null},
    {"channel_scales_null", ARRAY, .needs = NNV_NEEDS_CHANNELS, .abi_test = has_channels, .abi_edit = scales_null},
    {"extension_data", "only operands of extensions have extension data", .level = 3, .abi_test = is_any,
     .abi_edit = extension_data},
    {"operation_inputs_null", ARRAY, .abi_change = operation_inputs_null},
    {"operation_outputs_null", ARRAY, .abi_change = operation_outputs_null},
    {"operands_null", ARRAY, NNV_NULL_ARRAY(nnvts_model, main.operands, main.operand_count)},
    {"operations_null", ARRAY, NNV_NULL_ARRAY(nnvts_model, main.operations, main.operation_count)},
    {"model_inputs_null", ARRAY, .needs = NNV_NEEDS_INPUT, NNV_NULL_ARRAY(nnvts_model, main.inputs, main.input_count)},
    {"model_outputs_null", ARRAY, NNV_NULL_ARRAY(nnvts_model, main.outputs, main.output_count)},
    {"subgraphs_null", ARRAY, .level = 4, .abi_change = subgraphs_null},
    {"extensions_null", ARRAY, .level = 3, .abi_change = extensions_null},
    {"preference_past_last", "a preference is one of the three", ONLY_PREPARE, .level = 2,
     .a = ANEURALNETWORKS_PREFER_SUSTAINED_SPEED + 1, .abi_change = nnv_mutation_preference},
    {"preference_largest", "a preference is one of the three", ONLY_PREPARE, .level = 2, .a = -1,
     .abi_change = nnv_mutation_preference},
    {"priority_past_last", "a priority is one of the three", ONLY_PREPARE, .level = 4, .a = NNVTS_PRIORITY_HIGH + 1,
     .abi_change = nnv_mutation_priority},
    {"priority_largest", "a priority is one of the three", ONLY_PREPARE, .level = 4, .a = -1,
     .abi_change = nnv_mutation_priority},
};
const size_t nnv_abi_mutator_count = sizeof nnv_abi_mutators / sizeof *nnv_abi_mutators;
