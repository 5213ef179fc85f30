/* SPDX-License-Identifier: Apache-2.0 */
/** @file to_spec.c From the ABI's form back to a spec, where a spec can say the same. */
#include <string.h>

#include "harness/fuzz/image.h"
#include "reference/abi/import.h"

/** What a spec has no words for: types of no name, padding behind constants, pools of other kinds. */
static bool goes_beyond(const struct nnvts_model *m) {
    for (uint32_t i = 0; i < m->pool_count; i++)
        if (m->pools[i].kind != NNVTS_MEMORY_SHARED || m->pools[i].token != 0) return true;
    for (uint32_t g = 0; g <= m->referenced_count; g++) {
        const struct nnvts_subgraph *s = g ? &m->referenced[g - 1] : &m->main;
        for (uint32_t i = 0; i < s->operand_count; i++)
            if (nnv_type(s->operands[i].type) == NULL || s->operands[i].location.padding != 0) return true;
    }
    return m->extension_count > 0;
}

/** Values of the arguments: what the request passes, and room for what would come back. */
static bool take_values(const struct nnv_fuzz_image *m, struct nnv_arena *arena, struct nnv_spec *spec) {
    const struct nnvts_request *r = &m->request;
    const struct nnv_subgraph *s = &spec->model.main;
    spec->inputs = NNV_NEW(arena, struct nnv_value, s->nin);
    spec->outputs = NNV_NEW(arena, struct nnv_value, s->nout);
    if (spec->inputs == NULL || spec->outputs == NULL) return false;
    for (uint32_t i = 0; i < s->nout; i++) spec->outputs[i].omitted = true;
    for (uint32_t i = 0; i < s->nin; i++) {
        struct nnv_value *v = &spec->inputs[i];
        const struct nnvts_argument *a = i < r->input_count ? &r->inputs[i] : NULL;
        v->omitted = a == NULL || a->has_no_value || a->location.pool != 0 ||
                     (uint64_t)a->location.offset + a->location.length > m->used[NNV_REGION_INPUTS];
        if (v->omitted) continue;
        const uint8_t *data = m->memory + (size_t)NNV_REGION_INPUTS * NNV_REGION_BYTES + a->location.offset;
        v->bytes = a->location.length;
        v->data = nnv_arena_copy(arena, data, v->bytes);
        const struct nnv_operand *o = &s->operands[s->in[i]];
        bool open = a->dimension_count > 0 && a->dimension_count <= NNV_MAX_RANK;
        v->rank = open ? a->dimension_count : o->rank;
        memcpy(v->dims, open ? a->dimensions : o->dims, v->rank * sizeof *v->dims);
        if (v->data == NULL) return false;
    }
    return true;
}

bool nnv_fuzz_to_spec(const struct nnv_fuzz_image *m, struct nnv_arena *arena, struct nnv_spec *spec) {
    struct nnv_model *copy;
    bool extension;
    if (goes_beyond(&m->model) || ref_copy(&m->model, arena, &copy, &extension) != NNVTS_STATUS_NONE || extension)
        return false;
    *spec = (struct nnv_spec){.name = "fuzz", .expect_failure = true, .model = *copy};
    return take_values(m, arena, spec);
}
