/* SPDX-License-Identifier: Apache-2.0 */
/** @file rules.c What libnnvts-rules.a gives: the records' checks, for models of the driver ABI. */
#include "nnvts/rules.h"

#include <stdio.h>

#include "reference/abi/import.h"
#include "reference/model/op.h"
#include "reference/model/validate.h"

static enum nnvts_status said(enum nnvts_status status, const char *reason, char *why, size_t why_bytes) {
    if (why && why_bytes) snprintf(why, why_bytes, "%s", reason);
    return status;
}

/** The level of an operation of the main subgraph in its use there; 0: it has none, being an extension's or unknown. */
static int level_of(const struct nnv_model *m, const struct nnv_operation *op, struct nnv_arena *arena) {
    const struct nnv_subgraph *s = &m->main;
    if (ref_uses_extension(s, op) || !nnv_op(op->type)) return 0;
    struct nnv_shape *shapes = NNV_NEW(arena, struct nnv_shape, s->noperands);
    const void **data = NNV_NEW(arena, const void *, s->noperands);
    struct nnv_call *call;
    int level = 0;
    if (!shapes || !data) return 0;
    for (uint32_t i = 0; i < s->noperands; i++) {
        shapes[i] = nnv_operand_shape(&s->operands[i]);
        data[i] = s->operands[i].data;
    }
    return nnv_bind(s, op, shapes, data, NULL, arena, &call, &level, NULL) == NNV_OK ? level : 0;
}

static enum nnvts_status check(const struct nnvts_model *model, int32_t level, bool *known, char *why, size_t why_bytes,
                               struct nnv_arena *arena) {
    struct nnv_err err = {0};
    struct nnv_model *copy;
    bool extension;
    int needed = 0;
    enum nnvts_status st = ref_copy(model, arena, &copy, &extension);
    if (st == NNVTS_STATUS_INVALID_ARGUMENT)
        return said(st, "an index, a count, a code or a location is wrong", why, why_bytes);
    if (st != NNVTS_STATUS_NONE) return said(st, NNV_OUT_OF_MEMORY, why, why_bytes);
    st = ref_import(model, arena, &copy);
    const enum nnv_status legal = extension ? NNV_UNSUPPORTED : nnv_validate(copy, arena, &needed, &err);
    if (st == NNVTS_STATUS_INVALID_ARGUMENT)
        return said(st, legal == NNV_INVALID ? err.text : "an operation breaks a rule", why, why_bytes);
    if (st == NNVTS_STATUS_NONE && needed > level) st = NNVTS_STATUS_GENERAL_FAILURE;
    if (st != NNVTS_STATUS_NONE && st != NNVTS_STATUS_GENERAL_FAILURE)
        return said(st, NNV_OUT_OF_MEMORY, why, why_bytes);
    for (uint32_t i = 0; known && i < copy->main.noperations; i++) {
        const int of_use = st == NNVTS_STATUS_NONE ? 1 : level_of(copy, &copy->main.operations[i], arena);
        known[i] = of_use > 0 && of_use <= level;
    }
    if (st == NNVTS_STATUS_NONE) return said(st, "", why, why_bytes);
    char reason[96] = "it holds operations that are not NNAPI's";
    if (needed > level) snprintf(reason, sizeof reason, "it needs feature level %d", needed);
    return said(st, reason, why, why_bytes);
}

enum nnvts_status nnvts_rules_check_model(const struct nnvts_model *model, int32_t level, bool *known, char *why,
                                          size_t why_bytes) {
    struct nnv_arena *arena = nnv_arena_new();
    if (!arena) return said(NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, NNV_OUT_OF_MEMORY, why, why_bytes);
    const enum nnvts_status st = check(model, level, known, why, why_bytes, arena);
    nnv_arena_free(arena);
    return st;
}
