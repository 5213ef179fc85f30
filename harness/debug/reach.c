/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/reach.h"

#include <string.h>

#include "base/clock.h"
#include "harness/judge/compare.h"
#include "reference/eval/eval.h"
#include "reference/faults/faults.h"

/** A case whose faults are tried. */
struct trying {
    const struct nnv_spec *spec;
    struct nnv_comparer compare;
    struct nnv_call **calls;
    struct nnv_arena *arena;
};

static bool has_elements(const struct nnv_spec *s) {
    for (uint32_t i = 0; i < s->model.main.nout; i++)
        if (s->outputs[i].bytes > 0) return true;
    return false;
}

/** The judge says that the outputs are wrong, or they are of other shapes. */
static enum nnv_status is_noticed(struct trying *t, struct nnv_value *outputs, bool *noticed, struct nnv_err *err) {
    size_t wrong = 0;
    bool same = true;
    *noticed = false;
    for (uint32_t i = 0; i < t->spec->model.main.nout; i++) {
        const struct nnv_value *v = t->compare.expected[i].value;
        if (outputs[i].bytes != v->bytes) *noticed = true; /* a driver would report them */
        same = same && !*noticed && memcmp(outputs[i].data, v->data, v->bytes) == 0;
    }
    if (*noticed || same) return NNV_OK;
    enum nnv_status st = nnv_comparer_run(&t->compare, outputs, &wrong, err);
    *noticed = wrong > 0;
    return st;
}

/** Makes the fault in the model, if it is one of the model, and evaluates. False: it cannot happen here. */
static bool make_wrong(struct trying *t, const struct nnv_fault *f, struct nnv_golden *golden) {
    struct nnv_edit e;
    struct nnv_err unused = {0};
    bool any = !nnv_fault_is_edit(f);
    nnv_edit_begin(&e, t->spec, t->arena);
    if (!e.failed && !any) nnv_edit_open_shapes(&e);
    for (uint32_t i = t->spec->model.main.noperations; i-- > 0 && !e.failed && nnv_fault_is_edit(f);) {
        if (!nnv_fault_fits(f, t->spec->model.main.operations[i].type)) continue;
        e.at = i;
        e.call = t->calls[i];
        any |= nnv_fault_apply(f, &e);
    }
    const struct nnv_eval_options options = {.k = 2};
    return any && !e.failed &&
           nnv_eval(&e.spec.model, e.spec.inputs ? e.spec.inputs : t->spec->inputs, &options, t->arena, golden,
                    &unused) == NNV_OK;
}

/** Spoils the results, where the fault does; false if that changes none. */
static bool spoil(struct trying *t, const struct nnv_fault *f, const struct nnv_golden *golden,
                  struct nnv_value *outputs) {
    bool any = false;
    const struct nnv_subgraph *main = &t->spec->model.main;
    for (uint32_t i = 0; i < main->nout; i++) {
        const struct nnv_operand *o = &main->operands[main->out[i]];
        const size_t n = outputs[i].bytes / nnv_type(o->type)->size;
        double *v = NNV_NEW(t->arena, double, 3 * n + 3);
        if (!v || n == 0 || o->ignored) continue;
        nnv_load(o->type, outputs[i].data, n, v);
        const struct nnv_fault_output y = {.type = o->type,
                                           .scale = o->scale,
                                           .zero_point = o->zero_point,
                                           .rank = outputs[i].rank,
                                           .dims = outputs[i].dims,
                                           .n = n,
                                           .v = v,
                                           .exact = golden[i].exact,
                                           .poison = v + 2 * n};
        if (!nnv_fault_spoil(f, &y, v + n)) continue;
        any = true;
        nnv_store(o->type, v + n, n, outputs[i].data);
    }
    return any;
}

/** Tries one fault. */
static enum nnv_status try_fault(struct trying *t, const struct nnv_fault *f, bool *noticed, struct nnv_err *err) {
    const uint32_t nout = t->spec->model.main.nout;
    struct nnv_golden *golden = NNV_NEW(t->arena, struct nnv_golden, nout);
    struct nnv_value *outputs = NNV_NEW(t->arena, struct nnv_value, nout);
    *noticed = false;
    if (!golden || !outputs) return nnv_no_memory(err);
    if (!make_wrong(t, f, golden)) return NNV_OK;
    for (uint32_t i = 0; i < nout; i++) outputs[i] = golden[i].value;
    if (nnv_fault_is_spoil(f) && !spoil(t, f, golden, outputs) && !nnv_fault_is_edit(f)) return NNV_OK;
    return is_noticed(t, outputs, noticed, err);
}

enum nnv_status nnv_reach_spec(const struct nnv_spec *spec, enum nnv_precision precision, struct nnv_arena *arena,
                               const char **fault, struct nnv_err *err) {
    struct trying t = {
        .spec = spec,
        .arena = arena,
        .compare = {.spec = spec, .precision = precision, .arithmetic = spec->arithmetic, .arena = arena}};
    size_t count;
    const struct nnv_fault *faults = nnv_faults(&count);
    *fault = NULL;
    enum nnv_status st = nnv_comparer_make(&t.compare, err);
    if (st == NNV_OK) st = nnv_edit_calls(spec, arena, &t.calls, err);
    for (size_t i = 0; i < count && st == NNV_OK && !*fault; i++) {
        bool noticed = false;
        /* Every case notices what never is written. */
        if (faults[i].poison || !nnv_fault_fits(&faults[i], spec->model.main.operations[0].type)) continue;
        st = try_fault(&t, &faults[i], &noticed, err);
        if (noticed) *fault = faults[i].name;
    }
    return st;
}

enum nnv_status nnv_reach_case(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                               const char **fault, bool *values, struct nnv_err *err) {
    const struct nnv_suite *suite = nnv_suite_by_name(c->suite);
    struct nnv_spec *spec = NULL;
    enum nnv_precision precision;
    *fault = NULL;
    enum nnv_status st = suite->build(config, c, arena, &spec, err);
    if (st == NNV_OK) st = nnv_case_precision(config, suite, spec, &precision, err);
    if (st != NNV_OK) return st;
    *values = !spec->expect_failure && has_elements(spec);
    return *values ? nnv_reach_spec(spec, precision, arena, fault, err) : NNV_OK;
}

enum nnv_status nnv_reach_of(const struct nnv_run_config *config, const struct nnv_case *cases, size_t count,
                             struct nnv_arena *arena, struct nnv_reach *reach, struct nnv_err *err) {
    const uint64_t start = nnv_now_ns();
    struct nnv_arena *scratch = nnv_arena_new();
    *reach = (struct nnv_reach){.item = NNV_NEW(arena, const char *, count + 1),
                                .by = NNV_NEW(arena, struct nnv_reached, count + 1)};
    enum nnv_status st = scratch && reach->item && reach->by ? NNV_OK : nnv_no_memory(err);
    for (size_t i = 0; i < count && st == NNV_OK; i++) {
        const char *fault;
        bool values = false;
        const bool spec = strcmp(cases[i].suite, "spec") == 0;
        if (!spec && strcmp(cases[i].suite, "ops") != 0) continue;
        nnv_arena_reset(scratch);
        st = nnv_reach_case(config, &cases[i], scratch, &fault, &values, err);
        if (st != NNV_OK) return nnv_at(err, st, "%s", cases[i].name);
        *(values ? &reach->cases : &reach->other) += 1;
        if (values && !fault) reach->item[reach->count++] = cases[i].name;
        if (fault && spec) reach->by[reach->shown++] = (struct nnv_reached){cases[i].name, fault};
    }
    nnv_arena_free(scratch);
    reach->seconds = (double)(nnv_now_ns() - start) / 1e9;
    return st;
}
