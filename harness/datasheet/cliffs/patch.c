/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/datasheet/cliffs/patch.h"

#include <stdlib.h>
#include <string.h>

#include "randgraph/single/single.h"
#include "reference/model/validate.h"

enum {
    ELEMENTS = 1024,    /* of an output that a patch has, about, */
    LEAST_UNITS = 2,    /* but no fewer units */
    MOST_UNITS = 32,    /* nor more */
    LEAST_POWER = 8,    /* of two, that indices pass */
    DRAWN = 4,          /* patches at random */
    LEAST_PATCHES = 4,  /* that the units must be enough for */
    MOST_NUMBERS = 1024 /* of a list that may say extents */
};

/* ---------------------------------------------------------------------- shapes and values */

/** Shape and bytes of an operand of the main subgraph: of an input or output its value's. */
static struct nnv_value value_of(const struct nnv_spec *spec, uint32_t operand) {
    const struct nnv_subgraph *m = &spec->model.main;
    const struct nnv_operand *o = &m->operands[operand];
    struct nnv_value v = {.rank = o->rank, .bytes = o->bytes};
    for (uint32_t i = 0; i < m->nin; i++)
        if (m->in[i] == operand) return spec->inputs[i];
    for (uint32_t i = 0; i < o->rank; i++) v.dims[i] = o->dims[i];
    memcpy(&v.data, &o->data, sizeof v.data); /* never written to */
    return v;
}

static size_t product(const uint32_t *dims, uint32_t from, uint32_t to) {
    size_t n = 1;
    for (uint32_t i = from; i < to; i++) n *= dims[i];
    return n;
}

/** A tensor as lines along an axis: `outer` of them, of `n` places, each of `inner` bytes. */
struct lines {
    size_t outer, n, inner;
};

static struct lines lines_of(const struct nnv_value *v, uint32_t axis, size_t size) {
    return (struct lines){product(v->dims, 0, axis), v->dims[axis], product(v->dims, axis + 1, v->rank) * size};
}

/** Copies `count` places of each line, from place `at` of `from` to place `to_at` of `to`. */
static void copy_places(struct lines f, const char *from, size_t at, struct lines t, char *to, size_t to_at,
                        size_t count) {
    for (size_t i = 0; i < f.outer; i++)
        memcpy(to + (i * t.n + to_at) * t.inner, from + (i * f.n + at) * f.inner, count * f.inner);
}

/* ------------------------------------------------------------------------------ learning */

/** Extents of a and b differ along one axis at most, and grow there. */
static bool learn_operand(const struct nnv_spec *a, const struct nnv_spec *b, uint32_t i,
                          struct nnv_patch_operand *to) {
    const struct nnv_value x = value_of(a, i), y = value_of(b, i);
    *to = (struct nnv_patch_operand){0};
    if (x.rank != y.rank || x.omitted != y.omitted || a->model.main.operands[i].type != b->model.main.operands[i].type)
        return false;
    for (uint32_t d = 0; d < x.rank; d++) {
        if (x.dims[d] == y.dims[d]) continue;
        if (to->grows || x.dims[d] > y.dims[d]) return false;
        *to = (struct nnv_patch_operand){.grows = true, .axis = (uint8_t)d, .step = y.dims[d] - x.dims[d]};
    }
    return true;
}

bool nnv_patch_learn(const struct nnv_spec *a, const struct nnv_spec *b, struct nnv_patch_rule *rule) {
    const struct nnv_subgraph *m = &a->model.main;
    uint32_t least = UINT32_MAX;
    *rule = (struct nnv_patch_rule){0};
    if (m->noperations != 1 || a->model.nreferenced || m->noperands > NNV_PATCH_OPERANDS ||
        m->noperands != b->model.main.noperands || m->nin != b->model.main.nin)
        return false;
    for (uint32_t i = 0; i < m->noperands; i++) {
        if (!learn_operand(a, b, i, &rule->operand[i])) return false;
        if (!rule->operand[i].grows || rule->operand[i].step >= least) continue;
        least = rule->operand[i].step;
        rule->unit = i;
    }
    for (uint32_t i = 0; i < m->noperands; i++) {
        if (rule->operand[i].step % least != 0) return false;
        rule->operand[i].step /= least;
    }
    for (uint32_t i = 0; i < m->nout; i++)
        if (!rule->operand[m->out[i]].grows) return false;
    return m->nout > 0;
}

uint32_t nnv_patch_units(const struct nnv_patch_rule *rule, const struct nnv_spec *spec) {
    return value_of(spec, rule->unit).dims[rule->operand[rule->unit].axis];
}

/* ------------------------------------------------------------------------------ choosing */

static int by_place(const void *a, const void *b) {
    const struct nnv_patch *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

struct choice {
    const struct nnv_patch_rule *rule;
    struct nnv_patch *patches;
    uint32_t units, width, count;
};

/** A patch around a unit, unless there is one already. */
static void add_around(struct choice *c, uint64_t unit) {
    const uint32_t all = c->width + 2 * c->rule->halo;
    if (unit >= c->units || c->count == NNV_PATCHES) return;
    const uint32_t from = unit < all / 2                    ? 0
                          : unit - all / 2 > c->units - all ? c->units - all
                                                            : (uint32_t)unit - all / 2;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->patches[i].from == from) return;
    const uint32_t to = from + all;
    c->patches[c->count++] = (struct nnv_patch){.from = from,
                                                .to = to,
                                                .first = from > 0 ? from + c->rule->halo : from,
                                                .last = to < c->units ? to - c->rule->halo : to};
}

uint32_t nnv_patch_choose(const struct nnv_patch_rule *rule, const struct nnv_spec *spec, uint64_t seed,
                          struct nnv_patch patches[NNV_PATCHES]) {
    const uint32_t first = spec->model.main.out[0];
    const struct nnv_value out = value_of(spec, first);
    const struct nnv_patch_operand *o = &rule->operand[first];
    const uint64_t inner = product(out.dims, o->axis + 1u, out.rank), line = inner * out.dims[o->axis];
    const uint64_t all = product(out.dims, 0, out.rank);
    struct choice c = {.rule = rule, .patches = patches, .units = nnv_patch_units(rule, spec)};
    struct nnv_rng rng = nnv_rng_make(seed, nnv_hash_str("patches"), c.units);
    const uint64_t of_unit = c.units > 0 ? all / c.units : 0;
    if (of_unit == 0) return 0;
    const uint64_t wanted = ELEMENTS / of_unit;
    c.width = wanted < LEAST_UNITS ? LEAST_UNITS : wanted > MOST_UNITS ? MOST_UNITS : (uint32_t)wanted;
    if ((uint64_t)LEAST_PATCHES * (c.width + 2 * (uint64_t)rule->halo) > c.units) return 0;
    add_around(&c, 0);
    add_around(&c, c.units - 1);
    for (int k = 31; k >= LEAST_POWER; k--) {
        const uint64_t power = (uint64_t)1 << k;
        if (power < all) add_around(&c, power % line / inner / o->step);
        add_around(&c, power);
    }
    for (int i = 0; i < DRAWN; i++) add_around(&c, (uint64_t)nnv_rng_int(&rng, 0, c.units - 1));
    qsort(patches, c.count, sizeof *patches, by_place);
    return c.count;
}

/* -------------------------------------------------------------------------------- making */

/** What one patch is cut from, and what it becomes. */
struct cutting {
    const struct nnv_patch_rule *rule;
    const struct nnv_spec *base, *spec;
    const struct nnv_patch *patch;
    uint32_t units, base_units;
    struct nnv_arena *arena;
    struct nnv_spec *out;
};

/** The patch's places along the operand's axis: *at of them before, returns how many. 0: none, or too many. */
static uint32_t places(const struct cutting *c, uint32_t operand, const struct nnv_value *v, uint32_t *at) {
    const struct nnv_patch_operand *o = &c->rule->operand[operand];
    const int64_t over = (int64_t)v->dims[o->axis] - (int64_t)o->step * c->units;
    const int64_t count = (int64_t)o->step * (c->patch->to - c->patch->from) + over;
    *at = o->step * c->patch->from;
    return count > 0 && *at + count <= v->dims[o->axis] ? (uint32_t)count : 0;
}

static enum nnv_status cut_tensor(const struct cutting *c, uint32_t operand, struct nnv_value *to,
                                  struct nnv_err *err) {
    const struct nnv_value v = value_of(c->spec, operand);
    const struct nnv_patch_operand *o = &c->rule->operand[operand];
    const size_t size = nnv_type(c->spec->model.main.operands[operand].type)->size;
    uint32_t at;
    *to = v;
    to->dims[o->axis] = places(c, operand, &v, &at);
    if (to->dims[o->axis] == 0) return nnv_fail(err, NNV_INVALID, "the patch is too small");
    to->bytes = product(to->dims, 0, to->rank) * size;
    if (!v.data) return NNV_OK;
    to->data = nnv_arena_alloc(c->arena, to->bytes, 1);
    if (!to->data) return nnv_no_memory(err);
    copy_places(lines_of(&v, o->axis, size), v.data, at, lines_of(to, o->axis, size), to->data, 0, to->dims[o->axis]);
    return NNV_OK;
}

/** INT32s that differ between base and spec by as much a unit are extents: they become those of the patch. */
static enum nnv_status cut_numbers(const struct cutting *c, uint32_t operand, struct nnv_value *to,
                                   struct nnv_err *err) {
    const struct nnv_value a = value_of(c->base, operand), b = value_of(c->spec, operand);
    const int32_t type = c->spec->model.main.operands[operand].type;
    const size_t n = b.bytes / sizeof(int32_t);
    *to = b;
    if ((type != ANEURALNETWORKS_INT32 && type != ANEURALNETWORKS_TENSOR_INT32) || n > MOST_NUMBERS || !b.data ||
        !a.data || a.bytes != b.bytes || memcmp(a.data, b.data, b.bytes) == 0)
        return NNV_OK;
    to->data = nnv_arena_copy(c->arena, b.data, b.bytes);
    if (!to->data) return nnv_no_memory(err);
    const int64_t units = (int64_t)c->units - c->base_units, patch = (int64_t)c->patch->to - c->patch->from;
    for (size_t i = 0; i < n; i++) {
        const int64_t x = ((const int32_t *)a.data)[i], y = ((const int32_t *)b.data)[i];
        if (units == 0 || (y - x) % units != 0) continue;
        ((int32_t *)to->data)[i] = (int32_t)(y - (y - x) / units * ((int64_t)c->units - patch));
    }
    return NNV_OK;
}

/** Scales of channels along the axis are cut, too. */
static enum nnv_status cut_scales(const struct cutting *c, uint32_t operand, uint32_t at, struct nnv_operand *o,
                                  struct nnv_err *err) {
    const struct nnv_patch_operand *p = &c->rule->operand[operand];
    if (!p->grows || o->channel.count == 0 || o->channel.dim != p->axis) return NNV_OK;
    o->channel.count = o->dims[p->axis];
    o->channel.scales = nnv_arena_copy(c->arena, o->channel.scales + at, o->channel.count * sizeof *o->channel.scales);
    return o->channel.scales ? NNV_OK : nnv_no_memory(err);
}

static enum nnv_status cut_operand(const struct cutting *c, uint32_t operand, struct nnv_err *err) {
    struct nnv_subgraph *m = &c->out->model.main;
    struct nnv_operand *o = &m->operands[operand];
    const struct nnv_value whole = value_of(c->spec, operand);
    const bool grows = c->rule->operand[operand].grows;
    struct nnv_value v;
    uint32_t at = 0;
    enum nnv_status st = grows ? cut_tensor(c, operand, &v, err) : cut_numbers(c, operand, &v, err);
    if (st != NNV_OK) return st;
    if (nnv_is_constant(o)) {
        o->data = v.data;
        o->bytes = v.bytes;
        o->lifetime = v.bytes <= ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES ? NNV_CONSTANT_COPY
                                                                                       : NNV_CONSTANT_REFERENCE;
    }
    for (uint32_t i = 0; i < m->nin; i++)
        if (m->in[i] == operand) c->out->inputs[i] = v;
    if (!grows) return NNV_OK;
    o->dims = nnv_arena_copy(c->arena, v.dims, v.rank * sizeof *v.dims);
    if (!o->dims) return nnv_no_memory(err);
    (void)places(c, operand, &whole, &at);
    return cut_scales(c, operand, at, o, err);
}

enum nnv_status nnv_patch_make(const struct nnv_patch_rule *rule, const struct nnv_spec *base,
                               const struct nnv_spec *spec, const struct nnv_patch *patch, struct nnv_arena *arena,
                               struct nnv_spec **out, struct nnv_err *err) {
    const struct nnv_subgraph *m = &spec->model.main;
    struct cutting c = {.rule = rule,
                        .base = base,
                        .spec = spec,
                        .patch = patch,
                        .units = nnv_patch_units(rule, spec),
                        .base_units = nnv_patch_units(rule, base),
                        .arena = arena,
                        .out = nnv_arena_copy(arena, spec, sizeof *spec)};
    if (!c.out) return nnv_no_memory(err);
    c.out->outputs = NULL;
    c.out->inputs = nnv_arena_copy(arena, spec->inputs, m->nin * sizeof *spec->inputs);
    c.out->model.main.operands = nnv_arena_copy(arena, m->operands, m->noperands * sizeof *m->operands);
    if (!c.out->inputs || !c.out->model.main.operands) return nnv_no_memory(err);
    enum nnv_status st = NNV_OK;
    for (uint32_t i = 0; i < m->noperands && st == NNV_OK; i++) st = cut_operand(&c, i, err);
    if (st == NNV_OK) st = nnv_validate(&c.out->model, arena, &c.out->min_version, err);
    if (st == NNV_OK) st = nnv_single_expect(c.out, arena, err);
    if (st == NNV_OK) *out = c.out;
    return st;
}

/* ------------------------------------------------------------------------------- judging */

/** The answer to the patch: what is compared of it is from the outputs, around it is what is expected. */
static enum nnv_status gather(const struct nnv_patch_rule *rule, const struct nnv_spec *small,
                              const struct nnv_value *outputs, const struct nnv_patch *p, struct nnv_arena *arena,
                              struct nnv_value *answer, size_t *compared, struct nnv_err *err) {
    const struct nnv_subgraph *m = &small->model.main;
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_patch_operand *o = &rule->operand[m->out[i]];
        const size_t size = nnv_type(m->operands[m->out[i]].type)->size;
        const struct nnv_value *expected = &small->outputs[i];
        answer[i] = *expected;
        answer[i].data = nnv_arena_copy(arena, expected->data, expected->bytes);
        if (!answer[i].data) return nnv_no_memory(err);
        const struct lines f = lines_of(&outputs[i], o->axis, size), t = lines_of(expected, o->axis, size);
        const size_t skip = (size_t)o->step * (p->first - p->from);
        const size_t end = p->last == p->to ? t.n : (size_t)o->step * (p->last - p->from);
        const size_t at = (size_t)o->step * p->first;
        if (outputs[i].rank != expected->rank || f.outer != t.outer || f.inner != t.inner || end > t.n || skip >= end ||
            at + (end - skip) > f.n)
            return nnv_fail(err, NNV_INVALID, "the patch has another shape");
        copy_places(f, outputs[i].data, at, t, answer[i].data, skip, end - skip);
        *compared += t.outer * (end - skip) * (t.inner / size);
    }
    return NNV_OK;
}

size_t nnv_patch_judge(struct nnv_case_env *env, const struct nnv_patch_rule *rule, const struct nnv_spec *base,
                       const struct nnv_spec *spec, const struct nnv_value *outputs, uint64_t seed,
                       struct nnv_patch *wrong, struct nnv_result *result) {
    struct nnv_patch patches[NNV_PATCHES];
    const uint32_t n = nnv_patch_choose(rule, spec, seed, patches);
    size_t compared = 0;
    bool passed = false;
    nnv_result_start(result);
    for (uint32_t i = 0; i < n; i++) {
        struct nnv_spec *small;
        struct nnv_err err = {0};
        struct nnv_value *answer = NNV_NEW(env->arena, struct nnv_value, spec->model.main.nout);
        enum nnv_status st =
            answer ? nnv_patch_make(rule, base, spec, &patches[i], env->arena, &small, &err) : nnv_no_memory(&err);
        if (st == NNV_OK) st = gather(rule, small, outputs, &patches[i], env->arena, answer, &compared, &err);
        nnv_text_free(&result->reason);
        nnv_text_free(&result->outputs);
        nnv_text_free(&result->answer);
        if (st == NNV_OK)
            nnv_judge_answer(env, small, NNV_PRECISION_BUDGET, answer, result);
        else
            nnv_result_end(result, NNVTS_WHY_HARNESS, "%s", err.text);
        if (wrong) *wrong = patches[i];
        if (result->verdict == NNVTS_FAIL || result->why == NNVTS_WHY_HARNESS) return compared;
        passed = passed || result->verdict == NNVTS_PASS;
    }
    if (passed) result->verdict = NNVTS_PASS; /* others have nothing that is compared */
    return compared;
}

bool nnv_patch_verify(struct nnv_case_env *env, struct nnv_patch_rule *rule, const struct nnv_spec *base,
                      const struct nnv_spec *spec, uint64_t seed) {
    static const uint32_t halos[] = {0, 4, 16};
    const struct nnv_op *op = nnv_op(spec->model.main.operations[0].type);
    /* a state that fades away would pass with a wide one */
    const size_t n = nnv_op_is_recurrent(op) ? 1 : NNV_COUNT_OF(halos);
    for (size_t i = 0; i < n; i++) {
        struct nnv_result r = {0};
        rule->halo = halos[i];
        const bool same =
            nnv_patch_judge(env, rule, base, spec, spec->outputs, seed, NULL, &r) > 0 && r.verdict == NNVTS_PASS;
        nnv_text_free(&r.reason);
        nnv_text_free(&r.outputs);
        nnv_text_free(&r.answer);
        if (same) return true;
    }
    return false;
}
