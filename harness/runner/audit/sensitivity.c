/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/audit/sensitivity.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "harness/judge/compare.h"
#include "reference/model/op.h"

enum { STEP_MAX = 1 << 20 };

static bool is_float(int32_t type) {
    return type == ANEURALNETWORKS_TENSOR_FLOAT32 || type == ANEURALNETWORKS_TENSOR_FLOAT16 ||
           type == ANEURALNETWORKS_FLOAT32 || type == ANEURALNETWORKS_FLOAT16;
}

/** Adds step to the magnitude of a floating point number of these bits; one past the largest finite one is refused. */
static bool plant_float(uint32_t *bits, uint32_t infinity, uint32_t step) {
    const uint32_t magnitude = *bits & (infinity | (infinity - 1) | (infinity >> 1));
    if (magnitude == 0 || magnitude >= infinity || step >= infinity - magnitude) return false;
    *bits += step;
    return true;
}

bool nnv_plant_error(int32_t code, void *number, uint32_t step) {
    const struct nnv_type *t = nnv_type(code);
    if (is_float(code)) {
        uint32_t bits = 0;
        memcpy(&bits, number, t->size);
        if (!plant_float(&bits, t->size == 4 ? 0x7f800000u : 0x7c00u, step)) return false;
        memcpy(number, &bits, t->size);
        return true;
    }
    int64_t v = 0;
    const bool is_signed = t->min < 0;
    memcpy(&v, number, t->size);
    if (is_signed) v = (int64_t)((uint64_t)v << (64 - 8 * t->size)) >> (64 - 8 * t->size);
    if ((double)(v + step) <= t->max)
        v += step;
    else if ((double)(v - (int64_t)step) >= t->min)
        v -= step;
    else
        return false;
    memcpy(number, &v, t->size);
    return true;
}

/* ------------------------------------------------------------------ one case */

/** One output with what its elements are compared with. */
struct output {
    uint32_t index;
    int32_t type;
    size_t elems, channels;
    const double *bound, *expected;
    const uint8_t *golden;
};

/** The step that an element of this bound tolerates: 0 if it is not compared. */
static double tolerated(const struct output *o, size_t i) {
    const double e = fabs(o->expected[i]);
    if (isnan(o->bound[i]) || !isfinite(e)) return 0;
    if (!is_float(o->type)) return o->bound[i] + 1;
    if (e == 0) return 0;
    const int digits = nnv_type(o->type)->size == 4 ? 24 : 11;
    return o->bound[i] / ldexp(1, ilogb(e) + 1 - digits) + 1;
}

/** The element, and the channel, that are judged most leniently; false: nothing is compared. */
static bool find_lenient(const struct output *o, size_t *element, size_t *channel) {
    double most = 0, most_of_channel = 0;
    for (size_t c = 0; c < o->channels; c++) {
        double least = INFINITY;
        for (size_t i = c; i < o->elems; i += o->channels) {
            const double step = tolerated(o, i);
            if (step == 0) continue;
            if (step < least) least = step;
            if (step > most) most = step, *element = i;
        }
        if (isfinite(least) && least > most_of_channel) most_of_channel = least, *channel = c;
    }
    return most > 0;
}

/** Plants the step, compares, and restores the answer. */
static enum nnv_status notices(struct nnv_comparer *c, const struct output *o, struct nnv_value *answers,
                               enum nnv_planted_in in, size_t place, uint32_t step, bool *noticed,
                               struct nnv_err *err) {
    const size_t size = nnv_type(o->type)->size;
    uint8_t *data = answers[o->index].data;
    const size_t first = in == NNV_PLANTED_ALL ? 0 : place;
    const size_t by = in == NNV_PLANTED_ELEMENT ? o->elems : in == NNV_PLANTED_CHANNEL ? o->channels : 1;
    for (size_t i = first; i < o->elems; i += by)
        if (tolerated(o, i) > 0) nnv_plant_error(o->type, data + i * size, step);
    size_t wrong = 0;
    enum nnv_status st = nnv_comparer_run(c, answers, &wrong, err);
    *noticed = wrong > 0;
    memcpy(data, o->golden, o->elems * size);
    return st;
}

/** The least step, by units or doubled; 0: none up to STEP_MAX. */
static enum nnv_status find_step(struct nnv_comparer *c, const struct output *o, struct nnv_value *answers,
                                 enum nnv_planted_in in, size_t place, uint32_t *step, struct nnv_err *err) {
    const bool doubled = is_float(o->type);
    bool noticed = false;
    *step = 0;
    for (uint32_t k = 1; k <= STEP_MAX && !noticed; k = doubled || k >= 256 ? 2 * k : k + 1) {
        enum nnv_status st = notices(c, o, answers, in, place, k, &noticed, err);
        if (st) return st;
        if (noticed) *step = k;
    }
    return NNV_OK;
}

/** The first output that is compared by its values; false: there is none. */
static enum nnv_status take_output(struct nnv_comparer *c, struct nnv_arena *arena, struct output *o, bool *found,
                                   struct nnv_err *err) {
    const struct nnv_spec *spec = c->spec;
    struct nnv_bounds *bounds = NNV_NEW(arena, struct nnv_bounds, spec->model.main.nout);
    if (!bounds) return nnv_no_memory(err);
    enum nnv_status st = nnv_judge_bounds(spec, c->precision, arena, bounds, err);
    *found = false;
    for (uint32_t i = 0; i < spec->model.main.nout && st == NNV_OK && !*found; i++) {
        const struct nnv_value *v = c->expected[i].value;
        if (nnv_comparer_rule(c, i) != NNV_JUDGED_VALUE || c->expected[i].ignored || bounds[i].elems == 0) continue;
        *o = (struct output){.index = i,
                             .type = c->expected[i].type,
                             .elems = bounds[i].elems,
                             .channels = v->rank ? v->dims[v->rank - 1] : 1,
                             .bound = bounds[i].bound,
                             .expected = bounds[i].expected,
                             .golden = v->data};
        *found = true;
    }
    return st;
}

enum nnv_status nnv_sensitivity_of_spec(const struct nnv_spec *spec, enum nnv_precision precision,
                                        struct nnv_arena *arena, uint32_t step[NNV_PLANTED_IN_COUNT],
                                        struct nnv_err *err) {
    struct nnv_comparer c = {.spec = spec, .precision = precision, .arithmetic = spec->arithmetic, .arena = arena};
    struct output o = {0};
    size_t element = 0, channel = 0;
    bool found = false;
    memset(step, 0, NNV_PLANTED_IN_COUNT * sizeof *step);
    enum nnv_status st = nnv_comparer_make(&c, err);
    if (st == NNV_OK) st = take_output(&c, arena, &o, &found, err);
    if (st != NNV_OK || !found || !find_lenient(&o, &element, &channel)) return st;
    struct nnv_value *answers = NNV_NEW(arena, struct nnv_value, spec->model.main.nout);
    if (!answers) return nnv_no_memory(err);
    for (uint32_t i = 0; i < spec->model.main.nout; i++) {
        answers[i] = *c.expected[i].value;
        answers[i].data = nnv_arena_copy(arena, c.expected[i].value->data, answers[i].bytes + 1);
        if (!answers[i].data) return nnv_no_memory(err);
    }
    const size_t place[NNV_PLANTED_IN_COUNT] = {element, channel, 0};
    for (int in = 0; in < NNV_PLANTED_IN_COUNT && st == NNV_OK; in++)
        st = find_step(&c, &o, answers, (enum nnv_planted_in)in, place[in], &step[in], err);
    return st;
}

/* ------------------------------------------------------------------ all cases */

/** Cases of one operation and type. */
struct group {
    size_t *index, count, room;
};

static bool is_less(uint32_t a, uint32_t b) { return a != 0 && (b == 0 || a < b); }

static enum nnv_status try_case(const struct nnv_run_config *config, const struct nnv_case *c,
                                struct nnv_arena *scratch, struct nnv_sensitivity *row, struct nnv_err *err) {
    const struct nnv_suite *suite = nnv_suite_by_name(c->suite);
    struct nnv_spec *spec = NULL;
    enum nnv_precision precision;
    uint32_t step[NNV_PLANTED_IN_COUNT];
    nnv_arena_reset(scratch);
    enum nnv_status st = suite->build(config, c, scratch, &spec, err);
    if (st == NNV_OK) st = nnv_case_precision(config, suite, spec, &precision, err);
    if (st == NNV_OK) st = nnv_sensitivity_of_spec(spec, precision, scratch, step, err);
    if (st != NNV_OK) return nnv_at(err, st, "%s", c->name);
    const struct nnv_subgraph *main = &spec->model.main;
    row->cases++;
    row->is_float = is_float(main->operands[main->out[0]].type);
    for (int in = 0; in < NNV_PLANTED_IN_COUNT; in++) {
        if (!is_less(step[in], row->step[in])) continue;
        row->step[in] = step[in];
        if (in == NNV_PLANTED_ELEMENT) row->best = c->name;
    }
    return NNV_OK;
}

/** Values as they usually are, wherever the attributes come from. */
static bool is_usual(const char *tags) {
    static const char *const others[] = {"edge",   "high",  "lines", "ramp",    "impulse",
                                         "limits", "sweep", "zero",  "refused", "relaxed"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(tags, others[i]) != NULL) return false;
    return true;
}

/** Sorts the cases into rows by operation and type, and into groups those that are judged by a budget. */
static enum nnv_status sort_cases(const struct nnv_case *cases, size_t count, struct nnv_arena *arena,
                                  struct nnv_sensitivity_table *table, struct group **groups, struct nnv_err *err) {
    struct nnv_map map = {.arena = arena};
    table->row = NNV_NEW(arena, struct nnv_sensitivity, count);
    *groups = NNV_NEW(arena, struct group, count);
    if (!table->row || !*groups) return nnv_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct nnv_case *c = &cases[i];
        const bool exact = strcmp(c->tags, "exact") == 0;
        if (strcmp(c->suite, "ops") != 0 || !(exact || is_usual(c->tags))) continue;
        const char *key = nnv_arena_printf(arena, "%s %s", c->op, c->type);
        const uint32_t n = key ? nnv_map_add(&map, key) : NNV_MAP_NONE;
        if (n == NNV_MAP_NONE) return nnv_no_memory(err);
        struct nnv_sensitivity *row = &table->row[n];
        struct group *g = &(*groups)[n];
        row->op = c->op;
        row->type = c->type;
        row->exact += exact;
        if (exact) continue;
        if (g->count == g->room) {
            size_t *index = NNV_NEW(arena, size_t, g->room * 2 + 16);
            if (!index) return nnv_no_memory(err);
            if (g->count) memcpy(index, g->index, g->count * sizeof *index);
            g->index = index;
            g->room = g->room * 2 + 16;
        }
        g->index[g->count++] = i;
    }
    table->count = map.count;
    return NNV_OK;
}

enum nnv_status nnv_sensitivity_of(const struct nnv_run_config *config, const struct nnv_case *cases, size_t count,
                                   size_t most, struct nnv_arena *arena, struct nnv_sensitivity_table *table,
                                   struct nnv_err *err) {
    const uint64_t start = nnv_now_ns();
    struct group *groups = NULL;
    struct nnv_arena *scratch = nnv_arena_new();
    *table = (struct nnv_sensitivity_table){0};
    enum nnv_status st = scratch ? sort_cases(cases, count, arena, table, &groups, err) : nnv_no_memory(err);
    for (size_t n = 0; n < table->count && st == NNV_OK; n++) {
        const struct group *g = &groups[n];
        const size_t tried = g->count < most ? g->count : most;
        for (size_t k = 0; k < tried && st == NNV_OK; k++)
            st = try_case(config, &cases[g->index[k * g->count / tried]], scratch, &table->row[n], err);
    }
    nnv_arena_free(scratch);
    table->seconds = (double)(nnv_now_ns() - start) / 1e9;
    return st;
}
