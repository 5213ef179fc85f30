/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/client/abi.h"

#include <string.h>

#include "base/guard.h"

enum nnv_status nnv_abi_model(const struct nnv_model *model, struct nnv_arena *arena, enum nnv_pool_kind kind,
                              struct nnvts_model *out, struct nnv_abi_pool *constants, struct nnv_err *err) {
    const size_t bytes = nnv_abi_pool_bytes(model);
    struct nnv_abi_pool pool = {0};
    enum nnv_status st = bytes ? nnv_abi_pool_make(bytes, kind, &pool, err) : NNV_OK;
    if (st == NNV_OK) st = nnv_abi_model_at(model, arena, &pool.memory, pool.data, out, err);
    if (st == NNV_OK)
        *constants = pool;
    else
        nnv_abi_pool_free(&pool);
    return st;
}

/** One constant; g and i name it. */
static bool constant_whole(const struct nnv_operand *o, const struct nnvts_operand *abi, const uint8_t *base,
                           uint32_t g, uint32_t i, struct nnv_breach *b) {
    const uint8_t *value = base + abi->location.offset;
    int64_t at;
    const char *what = NULL;
    if (abi->lifetime == NNVTS_CONSTANT_REFERENCE && !nnv_guard_check(value, o->bytes, 0, &at))
        what = at < 0 ? "wrote before" : "wrote behind";
    else if (o->bytes && memcmp(value, o->data, o->bytes) != 0)
        what = "changed";
    return !what || nnv_breach(b, NNV_BREACH_MEMORY, i, "%s the value of constant operand %u%s", what, i,
                               g ? " of a referenced subgraph" : "");
}

/** Where the place of a constant begins to count. */
static const uint8_t *base_of(const struct nnvts_model *abi, const struct nnvts_operand *o, const void *mapped) {
    if (o->lifetime != NNVTS_CONSTANT_REFERENCE) return abi->operand_values;
    return o->location.pool == 0 ? mapped : abi->pools[o->location.pool].data;
}

bool nnv_verify_constants(const struct nnv_model *model, const struct nnvts_model *abi, const void *mapped,
                          struct nnv_breach *b) {
    for (uint32_t g = 0; g <= model->nreferenced; g++) {
        const struct nnv_subgraph *s = g == 0 ? &model->main : &model->referenced[g - 1];
        const struct nnvts_subgraph *a = g == 0 ? &abi->main : &abi->referenced[g - 1];
        for (uint32_t i = 0; i < s->noperands; i++) {
            const struct nnv_operand *o = &s->operands[i];
            if (!nnv_is_constant(o)) continue;
            const uint8_t *base = base_of(abi, &a->operands[i], mapped);
            if (!constant_whole(o, &a->operands[i], base, g, i, b)) return false;
        }
    }
    return true;
}
