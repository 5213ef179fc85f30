/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/compiled/run.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "harness/judge/judge.h"
#include "reference/eval/eval.h"

enum { MOST_TIMES = 4096, MOST_REASON = 400, SMALL = 1000 };

struct times {
    double us[MOST_TIMES];
    size_t n;
};

struct run {
    const struct nnv_built *bundle;
    const struct nnv_compiled_run *how;
    struct nnv_loaded *session;
    struct nnv_arena *arena;
    struct nnv_compiled_outcome *out;
    struct times *times; /**< by region */
};

size_t nnv_datum_tensors(const struct nnv_relay_datum *d) {
    size_t n = 0;
    if (d->type->kind != NNV_RELAY_TUPLE_TYPE) return 1;
    for (size_t i = 0; i < d->n_fields; i++) n += nnv_datum_tensors(d->fields[i]);
    return n;
}

static void datum_flatten(const struct nnv_relay_datum *d, const struct nnv_relay_datum **list, size_t *n) {
    if (d->type->kind != NNV_RELAY_TUPLE_TYPE) {
        list[(*n)++] = d;
        return;
    }
    for (size_t i = 0; i < d->n_fields; i++) datum_flatten(d->fields[i], list, n);
}

/* ------------------------------------------------------------------- judging a region */

/** A value of the model's operand from bytes. */
static struct nnv_value value_of(const struct nnv_operand *o, void *data, size_t bytes) {
    struct nnv_value v = {.rank = o->rank, .data = data, .bytes = bytes};
    memcpy(v.dims, o->dims, o->rank * sizeof *o->dims);
    return v;
}

static void keep_verdict(const struct run *r, struct nnv_region_outcome *o, const struct nnv_result *result) {
    const enum nnvts_verdict verdict = (enum nnvts_verdict)result->verdict;
    o->compared += result->compared;
    if (o->verdict != NNVTS_NOTRUN && o->verdict != NNVTS_PASS) return; /* the first that is bad */
    o->verdict = verdict;
    if (verdict == NNVTS_PASS) return;
    const char *text = result->reason.data ? result->reason.data : "";
    o->reason = nnv_arena_printf(r->arena, "%.*s", MOST_REASON, text);
}

/**
 * The budget of a deep quantised network can be as large as its values. An answer that fixed tolerances take is right
 * all the same; one that they don't is not known to be wrong.
 */
static void try_fixed_rule(struct nnv_case_env *env, const struct nnv_spec *spec, struct nnv_value *answer,
                           struct nnv_result *result) {
    struct nnv_result fixed = {.verdict = NNVTS_ERROR};
    nnv_judge_answer(env, spec, NNV_PRECISION_AOSP, answer, &fixed);
    if (fixed.verdict == NNVTS_PASS) {
        nnv_text_clear(&result->reason);
        result->verdict = NNVTS_PASS;
        result->compared = fixed.compared;
        result->values = fixed.values;
    }
    nnv_text_free(&fixed.reason);
    nnv_text_free(&fixed.outputs);
    nnv_text_free(&fixed.answer);
}

/** The driver's answer to these inputs, by the error budget of the model. */
static enum nnv_status judge(const struct run *r, size_t region, void **in, void **out, struct nnv_err *err) {
    const struct nnv_built_region *g = &r->bundle->regions[region];
    const struct nnv_subgraph *m = &g->model.main;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_spec spec = {.name = g->function, .model = g->model};
    struct nnv_case_env env = {.arena = arena};
    struct nnv_result result = {.verdict = NNVTS_ERROR};
    const struct nnv_eval_options options = {0};
    struct nnv_golden *golden = arena ? NNV_NEW(arena, struct nnv_golden, m->nout) : NULL;
    struct nnv_value *answer = arena ? NNV_NEW(arena, struct nnv_value, m->nout) : NULL;
    spec.inputs = arena ? NNV_NEW(arena, struct nnv_value, m->nin) : NULL;
    spec.outputs = arena ? NNV_NEW(arena, struct nnv_value, m->nout) : NULL;
    enum nnv_status st = golden && answer && spec.inputs && spec.outputs ? NNV_OK : nnv_no_memory(err);
    for (uint32_t i = 0; i < m->nin && st == NNV_OK; i++)
        spec.inputs[i] = value_of(&m->operands[m->in[i]], in[i], g->in_bytes[i]);
    if (st == NNV_OK) st = nnv_eval(&g->model, spec.inputs, &options, arena, golden, err);
    for (uint32_t i = 0; i < m->nout && st == NNV_OK; i++) {
        spec.outputs[i] = golden[i].value;
        answer[i] = value_of(&m->operands[m->out[i]], out[i], g->out_bytes[i]);
    }
    if (st == NNV_OK) {
        nnv_judge_answer(&env, &spec, NNV_PRECISION_BUDGET, answer, &result);
        if (result.verdict == NNVTS_UNTRUSTED) try_fixed_rule(&env, &spec, answer, &result);
        keep_verdict(r, &r->out->regions[region], &result);
    }
    nnv_text_free(&result.reason);
    nnv_text_free(&result.outputs);
    nnv_text_free(&result.answer);
    nnv_arena_free(arena);
    return st;
}

/* ----------------------------------------------------------------------- one region */

static void keep_times(struct times *t, const uint64_t *ns, uint64_t n) {
    for (uint64_t i = 0; i < n && t->n < MOST_TIMES; i++) t->us[t->n++] = (double)ns[i] / 1000;
}

/** The result of the function from the model's outputs, whose bytes are out, and the parameters. */
static enum nnv_status make_result(const struct nnv_built_region *g, const struct nnv_relay_type *type, void **in,
                                   void **out, uint32_t *at, struct nnv_arena *arena, struct nnv_relay_datum **result,
                                   struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    if (type->kind != NNV_RELAY_TUPLE_TYPE) {
        const uint32_t i = (*at)++;
        return nnv_relay_datum_read(type, g->from_input[i] ? in[g->number[i]] : out[g->number[i]], arena, result, err);
    }
    struct nnv_relay_datum *tuple = NNV_NEW(arena, struct nnv_relay_datum, 1);
    if (!tuple || !(tuple->fields = NNV_NEW(arena, struct nnv_relay_datum *, type->n_fields)))
        return nnv_no_memory(err);
    tuple->type = type;
    tuple->n_fields = type->n_fields;
    for (size_t i = 0; i < type->n_fields && st == NNV_OK; i++)
        st = make_result(g, type->fields[i], in, out, at, arena, &tuple->fields[i], err);
    *result = tuple;
    return st;
}

/** Room for the bytes of all inputs and outputs. */
static bool make_room(const struct nnv_built_region *g, struct nnv_arena *arena, void **in, void **out) {
    for (uint32_t i = 0; i < g->model.main.nin; i++)
        if (!(in[i] = nnv_arena_alloc(arena, g->in_bytes[i], 1))) return false;
    for (uint32_t i = 0; i < g->model.main.nout; i++)
        if (!(out[i] = nnv_arena_alloc(arena, g->out_bytes[i], 1))) return false;
    return true;
}

static enum nnv_status write_inputs(const struct nnv_built_region *g, struct nnv_relay_datum *const *args,
                                    size_t n_args, struct nnv_arena *arena, void **in, struct nnv_err *err) {
    size_t tensors = 0, n = 0;
    for (size_t i = 0; i < n_args; i++) tensors += nnv_datum_tensors(args[i]);
    const struct nnv_relay_datum **list = NNV_NEW(arena, const struct nnv_relay_datum *, tensors);
    if (!list) return nnv_no_memory(err);
    for (size_t i = 0; i < n_args; i++) datum_flatten(args[i], list, &n);
    for (size_t i = 0; i < n; i++) {
        size_t elems, bytes;
        if (n != g->model.main.nin || !nnv_relay_type_elems(list[i]->type, &elems, &bytes) || bytes != g->in_bytes[i])
            return nnv_fail(err, NNV_INVALID, "@%s: its operands do not fit its model", g->function);
        nnv_relay_datum_write(list[i], in[i]);
    }
    return NNV_OK;
}

static enum nnv_status execute(struct run *r, size_t region, void **in, void **out, struct nnv_err *err) {
    struct nnv_region_outcome *o = &r->out->regions[region];
    struct nnv_err why = {0};
    const uint64_t repeat = r->how->repeat < MOST_TIMES ? r->how->repeat : MOST_TIMES;
    uint64_t ns[MOST_TIMES];
    enum nnv_status st =
        nnv_loaded_run(r->session, region, (const void *const *)in, out, r->how->in_burst, repeat, ns, &why);
    o->calls++;
    if (st == NNV_OK) {
        o->runs += repeat;
        keep_times(&r->times[region], ns, repeat);
        return r->how->compare ? judge(r, region, in, out, err) : NNV_OK;
    }
    if (st != NNV_UNSUPPORTED) return nnv_fail(err, st, "%s", why.text);
    o->verdict = NNVTS_FAIL;
    if (!o->failure && !(o->failure = nnv_arena_strdup(r->arena, why.text))) return nnv_no_memory(err);
    return NNV_UNSUPPORTED;
}

/** nnv_relay_external: the regions of the bundle that NNAPI can run. */
static enum nnv_status run_region(void *ctx, const struct nnv_relay_module *m, const char *function,
                                  struct nnv_relay_datum *const *args, size_t n_args, struct nnv_arena *arena,
                                  struct nnv_relay_datum **result, struct nnv_err *err) {
    struct run *r = ctx;
    const struct nnv_built_region *g = nnv_built_find(r->bundle, function);
    uint32_t at = 0;
    if (!g || r->out->regions[g - r->bundle->regions].refusal) return NNV_UNSUPPORTED;
    const struct nnv_relay_expr *f = nnv_relay_find(m, function);
    struct nnv_arena *scratch = nnv_arena_new();
    void **in = scratch ? NNV_NEW(scratch, void *, g->model.main.nin) : NULL;
    void **out = scratch ? NNV_NEW(scratch, void *, g->model.main.nout) : NULL;
    enum nnv_status st = in && out && make_room(g, scratch, in, out) ? NNV_OK : nnv_no_memory(err);
    if (st == NNV_OK) st = write_inputs(g, args, n_args, scratch, in, err);
    if (st == NNV_OK) st = execute(r, (size_t)(g - r->bundle->regions), in, out, err);
    if (st == NNV_OK) st = make_result(g, f->type->result, in, out, &at, arena, result, err);
    nnv_arena_free(scratch);
    return st;
}

/* ---------------------------------------------------------------- the whole program */

/** The place of the largest of n numbers, NaN never being it; the first of equals. */
static size_t largest(const double *v, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (v[i] > v[best] || isnan(v[best])) best = i;
    return best;
}

static void compare_tensors(struct nnv_output_outcome *o, const struct nnv_relay_datum *golden) {
    const struct nnv_relay_type *t = o->type;
    const size_t last = t->n_dims ? (size_t)t->dims[t->n_dims - 1] : 0;
    const double *a = o->value->values, *g = golden->values;
    double most = (double)FLT_MIN;
    o->elems = golden->n;
    for (size_t i = 0; i < golden->n; i++) {
        if (!isfinite(g[i])) continue;
        most = fmax(most, fabs(g[i]));
        o->finite++;
    }
    for (size_t i = 0; i < golden->n; i++) {
        if (isnan(a[i]) && isnan(g[i])) continue;
        const double error = a[i] == g[i] ? 0 : fabs(a[i] - g[i]);
        if (isnan(error)) o->max_abs = o->max_rel = HUGE_VAL;
        o->max_abs = fmax(o->max_abs, error);
        o->max_rel = fmax(o->max_rel, error / fmax(fabs(g[i]), most / SMALL));
    }
    if (!nnv_relay_dtype_is_float(t->dtype) || last < 2) return;
    o->rows = golden->n / last;
    for (size_t row = 0; row < o->rows; row++)
        o->same_top += largest(a + row * last, last) == largest(g + row * last, last);
}

static enum nnv_status set_outputs(struct run *r, const struct nnv_relay_datum *result, struct nnv_err *err) {
    struct nnv_compiled_outcome *o = r->out;
    const size_t n = nnv_datum_tensors(result);
    const struct nnv_relay_datum **list = NNV_NEW(r->arena, const struct nnv_relay_datum *, n);
    o->outputs = NNV_NEW(r->arena, struct nnv_output_outcome, n);
    if (!list || !o->outputs) return nnv_no_memory(err);
    datum_flatten(result, list, &o->n_outputs);
    for (size_t i = 0; i < n; i++) o->outputs[i] = (struct nnv_output_outcome){.type = list[i]->type, .value = list[i]};
    return NNV_OK;
}

/** The program that was compiled, interpreted, is what the outputs are compared with. */
static enum nnv_status compare_outputs(struct run *r, struct nnv_err *err) {
    const struct nnv_relay_module *m = r->bundle->program ? r->bundle->program : r->bundle->module;
    const size_t n_args = nnv_relay_find(r->bundle->module, "main")->n_params;
    struct nnv_relay_datum *golden = NULL;
    size_t n = 0;
    enum nnv_status st = nnv_relay_run(m, "main", r->how->inputs, n_args, NULL, r->arena, &golden, err);
    if (st != NNV_OK) return nnv_at(err, st, "the program that was compiled");
    const size_t tensors = nnv_datum_tensors(golden);
    const struct nnv_relay_datum **list = NNV_NEW(r->arena, const struct nnv_relay_datum *, tensors);
    if (!list) return nnv_no_memory(err);
    datum_flatten(golden, list, &n);
    for (size_t i = 0; i < r->out->n_outputs; i++) {
        if (i >= n || list[i]->n != r->out->outputs[i].value->n)
            return nnv_fail(err, NNV_INVALID, "output %zu has another shape than that of the program before", i);
        compare_tensors(&r->out->outputs[i], list[i]);
    }
    r->out->compared = true;
    return NNV_OK;
}

/* The first output in which the class's bytes are other values than those of regions and interpreter; NULL: none. */
static const char *whole_differs(const struct run *r, void *const *out, struct nnv_err *err) {
    for (size_t i = 0; i < r->out->n_outputs; i++) {
        const struct nnv_relay_datum *d = r->out->outputs[i].value;
        struct nnv_relay_datum *own;
        if (nnv_relay_datum_read(d->type, out[i], r->arena, &own, err) != NNV_OK) return err->text;
        for (size_t k = 0; k < d->n; k++)
            if (own->values[k] != d->values[k] && !(isnan(own->values[k]) && isnan(d->values[k])))
                return nnv_arena_printf(r->arena, "element %zu of output %zu is %g, and of its regions one by one %g",
                                        k, i, own->values[k], d->values[k]);
    }
    return NULL;
}

/** The class of the whole program does what its regions do with the interpreter between them. */
static enum nnv_status run_whole(struct run *r, struct nnv_err *err) {
    const struct nnv_built_region *g = &r->bundle->regions[r->bundle->n_regions];
    const size_t n_args = nnv_relay_find(r->bundle->module, "main")->n_params;
    struct nnv_region_outcome *o = NNV_NEW(r->arena, struct nnv_region_outcome, 1);
    void **in = NNV_NEW(r->arena, void *, g->model.main.nin), **out = NNV_NEW(r->arena, void *, g->model.main.nout);
    uint64_t ns[1];
    struct nnv_err why = {0};
    for (size_t i = 0; i < r->bundle->n_regions; i++)
        if (r->out->regions[i].refusal || r->out->regions[i].failure) return NNV_OK;
    if (!o || !in || !out || !make_room(g, r->arena, in, out)) return nnv_no_memory(err);
    *o = (struct nnv_region_outcome){.function = g->function, .verdict = NNVTS_PASS, .calls = 1, .runs = 1};
    r->out->whole = o;
    enum nnv_status st = write_inputs(g, r->how->inputs, n_args, r->arena, in, err);
    if (st != NNV_OK) return st;
    const char *refusal = nnv_loaded_refusal(r->session, r->bundle->n_regions);
    st = refusal ? nnv_fail(&why, NNV_UNSUPPORTED, "%s", refusal)
                 : nnv_loaded_run(r->session, r->bundle->n_regions, (const void *const *)in, out, r->how->in_burst, 1,
                                  ns, &why);
    if (st == NNV_OK) o->least_us = o->median_us = (double)ns[0] / 1000;
    if (st != NNV_OK && st != NNV_UNSUPPORTED) return nnv_fail(err, st, "%s", why.text);
    o->failure = st == NNV_OK ? whole_differs(r, out, err) : nnv_arena_strdup(r->arena, why.text);
    return NNV_OK;
}

static void set_times(struct run *r) {
    for (size_t i = 0; i < r->bundle->n_regions; i++) {
        struct times *t = &r->times[i];
        if (t->n == 0) continue;
        nnv_sort(t->us, t->n);
        r->out->regions[i].least_us = t->us[0];
        r->out->regions[i].median_us = nnv_median(t->us, t->n);
    }
}

static enum nnv_status run_program(struct run *r, struct nnv_err *err) {
    const struct nnv_relay_external external = {run_region, r};
    const size_t n_args = nnv_relay_find(r->bundle->module, "main")->n_params;
    struct nnv_relay_datum *result = NULL;
    const uint64_t start = nnv_now_ns();
    enum nnv_status st =
        nnv_relay_run(r->bundle->module, "main", r->how->inputs, n_args, &external, r->arena, &result, err);
    r->out->host_us = (double)(nnv_now_ns() - start) / 1000;
    set_times(r);
    if (st == NNV_OK) st = set_outputs(r, result, err);
    if (st == NNV_OK && r->how->compare) st = compare_outputs(r, err);
    return st == NNV_OK && r->how->compare && r->bundle->has_class ? run_whole(r, err) : st;
}

enum nnv_status nnv_compiled_run(const struct nnv_built *b, const struct nnv_compiled_run *how, struct nnv_arena *arena,
                                 struct nnv_compiled_outcome *out, struct nnv_err *err) {
    struct nnv_compiled_outcome made = {.regions = NNV_NEW(arena, struct nnv_region_outcome, b->n_regions)};
    struct run r = {.bundle = b, .how = how, .arena = arena, .out = &made};
    r.times = NNV_NEW(arena, struct times, b->n_regions);
    if (!made.regions || !r.times) return nnv_no_memory(err);
    struct nnv_loaded_options session = how->session;
    session.whole = how->compare;
    enum nnv_status st = nnv_loaded_start(b, &session, arena, &r.session, err);
    if (st != NNV_OK) return st;
    made.devices = nnv_arena_strdup(arena, nnv_loaded_devices(r.session));
    if (!made.devices) st = nnv_no_memory(err);
    for (size_t i = 0; i < b->n_regions && st == NNV_OK; i++) {
        const char *refusal = nnv_loaded_refusal(r.session, i);
        made.regions[i] = (struct nnv_region_outcome){
            .function = b->regions[i].function, .verdict = NNVTS_NOTRUN, .helped = nnv_loaded_helped(r.session, i)};
        if (refusal && !(made.regions[i].refusal = nnv_arena_strdup(arena, refusal))) st = nnv_no_memory(err);
    }
    if (st == NNV_OK) st = run_program(&r, err);
    nnv_loaded_end(r.session);
    if (st == NNV_OK) *out = made;
    return st;
}

bool nnv_compiled_undefined(const struct nnv_compiled_outcome *o) {
    for (size_t i = 0; i < o->n_outputs && o->compared; i++)
        if (o->outputs[i].elems > 0 && o->outputs[i].finite == 0) return true;
    return false;
}

bool nnv_compiled_passes(const struct nnv_built *b, const struct nnv_compiled_outcome *o) {
    size_t compared = 0, called = 0;
    if (o->whole && o->whole->failure) return false;
    for (size_t i = 0; i < b->n_regions; i++) {
        const struct nnv_region_outcome *g = &o->regions[i];
        const bool judged = g->verdict == NNVTS_PASS || g->verdict == NNVTS_NOTRUN;
        if (g->failure || !judged) return false;
        compared += g->compared;
        called += g->calls > 0 || g->refusal;
    }
    return !nnv_compiled_undefined(o) && (!o->compared || called == 0 || compared > 0);
}
