/* SPDX-License-Identifier: Apache-2.0 */
/** @file shrink.c Smaller extents: what is equal to an extent follows it, and all results are inferred afresh. */
#include <string.h>

#include "harness/debug/reduce/reducer.h"

/** Which other operands follow a change of one extent. */
enum follow {
    FOLLOW_EQUAL,     /**< every equal extent */
    FOLLOW_DATA,      /**< but those of integer tensors, which may be attributes */
    FOLLOW_VALUES,    /**< every equal extent, and integer constants of this value */
    FOLLOW_MULTIPLES, /**< every equal extent and every multiple */
    FOLLOW_NONE,      /**< this dimension of this operand alone */
    FOLLOW_COUNT
};

struct change {
    uint32_t operand, dim; /**< where it begins */
    uint32_t from, to;
    enum follow follow;
    bool tail; /**< the last slices stay, not the first */
};

/** The value of an input or constant as one thing. */
struct source {
    struct nnv_operand *o;
    uint32_t *dims, rank;
    const void **data;
    size_t *bytes;
    struct nnv_value *input; /**< or NULL */
};

static bool get_source(struct nnv_spec *spec, uint32_t i, struct source *s) {
    struct nnv_subgraph *m = &spec->model.main;
    *s = (struct source){.o = &m->operands[i]};
    if (nnv_is_constant(s->o)) {
        s->dims = s->o->dims;
        s->rank = s->o->rank;
        s->data = &s->o->data;
        s->bytes = &s->o->bytes;
        return true;
    }
    for (uint32_t k = 0; k < m->nin; k++) {
        if (m->in[k] != i || spec->inputs[k].omitted) continue;
        s->input = &spec->inputs[k];
        s->dims = s->input->dims;
        s->rank = s->input->rank;
        s->data = (const void **)&s->input->data;
        s->bytes = &s->input->bytes;
        return true;
    }
    return false;
}

/** Keeps the first or last `to` of the slices along a dimension. */
static bool crop(struct source *s, uint32_t dim, uint32_t to, bool tail, struct nnv_arena *arena) {
    const size_t size = nnv_type(s->o->type)->size;
    size_t outer = 1, inner = size;
    const uint32_t from = s->dims[dim];
    for (uint32_t k = 0; k < s->rank; k++) *(k < dim ? &outer : &inner) *= k == dim ? 1 : s->dims[k];
    if (outer * from * inner != *s->bytes) return false;
    char *data = nnv_arena_alloc(arena, outer * to * inner, 1);
    if (!data) return false;
    const size_t skipped = tail ? (from - to) * inner : 0;
    for (size_t i = 0; i < outer; i++)
        memcpy(data + i * to * inner, (const char *)*s->data + i * from * inner + skipped, to * inner);
    *s->data = data;
    *s->bytes = outer * to * inner;
    s->dims[dim] = to;
    if (s->input && dim < s->o->rank && s->o->dims[dim] != 0) s->o->dims[dim] = to;
    if (s->o->channel.count > to && s->o->channel.dim == dim) {
        if (tail) s->o->channel.scales += s->o->channel.count - to;
        s->o->channel.count = to;
    }
    return true;
}

static uint32_t new_extent(const struct change *c, uint32_t operand, uint32_t dim, uint32_t extent, bool integers) {
    if (operand == c->operand && dim == c->dim) return c->to;
    if (c->follow == FOLLOW_NONE || (c->follow == FOLLOW_DATA && integers)) return extent;
    if (extent == c->from) return c->to;
    if (c->follow == FOLLOW_MULTIPLES && extent % c->from == 0) return extent / c->from * c->to;
    return extent;
}

/** Integers of the value that changed become the new one. */
static bool follow_values(const struct source *s, const struct change *c, struct nnv_arena *arena) {
    const int32_t type = s->o->type;
    if ((type != ANEURALNETWORKS_TENSOR_INT32 && type != ANEURALNETWORKS_INT32) || s->o->scale != 0) return true;
    int32_t *v = nnv_arena_copy(arena, *s->data, *s->bytes);
    if (!v) return false;
    for (size_t i = 0; i < *s->bytes / sizeof *v; i++)
        if (v[i] == (int32_t)c->from) v[i] = (int32_t)c->to;
    *s->data = v;
    return true;
}

/** Referenced subgraphs have extents of their own: those that are equal follow, of results too. */
static bool change_referenced(struct nnv_subgraph *s, const struct change *c, struct nnv_arena *arena) {
    bool ok = true;
    for (uint32_t i = 0; i < s->noperands && ok; i++) {
        struct nnv_operand *o = &s->operands[i];
        struct source of = {.o = o, .dims = o->dims, .rank = o->rank, .data = &o->data, .bytes = &o->bytes};
        const bool integers = o->type == ANEURALNETWORKS_TENSOR_INT32 && o->scale == 0;
        if (nnv_is_constant(o) && c->follow == FOLLOW_VALUES) ok = follow_values(&of, c, arena);
        for (uint32_t k = 0; ok && k < o->rank; k++) {
            const uint32_t to = new_extent(c, UINT32_MAX, k, o->dims[k], integers);
            if (to >= o->dims[k]) continue;
            if (nnv_is_constant(o) && o->bytes > 0)
                ok = crop(&of, k, to, c->tail, arena);
            else
                o->dims[k] = to;
        }
    }
    return ok;
}

static bool try_change(struct nnv_reducer *r, const struct change *c) {
    struct nnv_spec *spec = nnv_reducer_copy(r, &(struct nnv_extraction){0});
    bool ok = spec != NULL;
    for (uint32_t i = 0; ok && i < spec->model.main.noperands; i++) {
        struct source s;
        if (!get_source(spec, i, &s)) continue;
        const bool integers = s.o->type == ANEURALNETWORKS_TENSOR_INT32 && s.o->scale == 0;
        if (c->follow == FOLLOW_VALUES && i != c->operand) ok = follow_values(&s, c, r->trial);
        for (uint32_t k = 0; ok && k<s.rank && * s.bytes> 0; k++) {
            uint32_t to = new_extent(c, i, k, s.dims[k], integers);
            if (to < s.dims[k]) ok = crop(&s, k, to, c->tail, r->trial);
        }
    }
    for (uint32_t g = 0; ok && g < spec->model.nreferenced; g++)
        ok = change_referenced(&spec->model.referenced[g], c, r->trial);
    return ok && nnv_reducer_try(r, spec, true);
}

/** Extents to try instead of e, smallest first; returns their number. */
static int smaller_extents(uint32_t e, uint32_t *to) {
    const uint32_t all[] = {1, 2, 3, e / 4, e / 2, e - 1};
    int n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] >= 1 && all[i] < e && (n == 0 || all[i] > to[n - 1])) to[n++] = all[i];
    return n;
}

/** Tries to make one dimension smaller. */
static bool shrink_dimension(struct nnv_reducer *r, uint32_t operand, uint32_t dim, uint32_t extent) {
    uint32_t to[6];
    int n = smaller_extents(extent, to);
    for (int i = 0; i < n; i++)
        for (int f = 0; f < 2 * FOLLOW_COUNT && !nnv_reducer_over(r); f++)
            if (try_change(r, &(struct change){operand, dim, extent, to[i], (enum follow)(f / 2), f % 2 == 1}))
                return true;
    return false;
}

/** The extent of an input or constant tensor; 0: there is none. */
static uint32_t extent_of(const struct nnv_reducer *r, uint32_t operand, uint32_t dim) {
    struct source s;
    bool known = operand < r->best.spec->model.main.noperands && get_source(r->best.spec, operand, &s);
    return known && dim < s.rank ? s.dims[dim] : 0;
}

bool nnv_reduce_extents(struct nnv_reducer *r) {
    bool any = false;
    for (uint32_t i = 0; i < r->best.spec->model.main.noperands; i++)
        for (uint32_t k = 0; k < NNV_MAX_RANK && !nnv_reducer_over(r); k++)
            for (uint32_t e = extent_of(r, i, k); e > 1 && !nnv_reducer_over(r); e = extent_of(r, i, k)) {
                if (!shrink_dimension(r, i, k, e)) break;
                any = true;
            }
    return any;
}
