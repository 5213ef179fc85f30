/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file values.c The suite "compiler": a program is divided and converted; where the program calls a region
 * its model is evaluated, so that the result can be compared with that of the program as it was written; then the
 * driver is judged on the models.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compiler/byoc/tables.h"
#include "compiler/nnapi/convert/convert.h"
#include "compiler/relay/interp/interp.h"
#include "compiler/relay/text/params.h"
#include "harness/suites/compiler/values.h"
#include "nnvts/result.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"

enum { MOST_MODELS = 16, MOST_FIELDS = 32, INPUTS = 1, CONSTANTS = 100 /**< seeds */ };
static const double USUAL = 5e-6; /* float32 rounds between the operations of a model, the interpreter does not */

/** One case. */
struct work {
    struct nnv_context *s;
    const struct nnv_values_case *c;
    const struct nnv_values_edit *edit;
    struct nnv_arena *arena;
    struct nnv_relay_module *before, *m;
    struct nnv_spec **specs; /**< MOST_MODELS at most */
    size_t n_specs;
};

/* --------------------------------------------------------------------- the program */

/* Makes constants of the parameters whose names begin with k. */
static enum nnv_status bind(const struct work *w, struct nnv_relay_module *m, struct nnv_err *err) {
    struct nnv_relay_param bound[MOST_FIELDS];
    struct nnv_relay_params params = {bound, 0};
    struct nnv_relay_datum *drawn[MOST_FIELDS];
    struct nnv_relay_expr *main = nnv_relay_find(m, "main");
    enum nnv_status s = nnv_relay_arguments(main, CONSTANTS, w->arena, drawn, err);
    for (size_t i = 0; s == NNV_OK && i < main->n_params; i++) {
        const struct nnv_relay_expr *p = main->params[i];
        size_t n, bytes;
        if (p->name[0] != 'k' || !nnv_relay_type_elems(p->declared, &n, &bytes)) continue;
        struct nnv_relay_tensor *t = NNV_NEW(w->arena, struct nnv_relay_tensor, 1);
        void *data = nnv_arena_alloc(w->arena, bytes, 1);
        if (!t || !data) return nnv_no_memory(err);
        nnv_relay_datum_write(drawn[i], data);
        *t = (struct nnv_relay_tensor){p->declared, data, bytes};
        bound[params.n++] = (struct nnv_relay_param){p->name, t};
    }
    return s == NNV_OK ? nnv_relay_params_bind(m, &params, err) : s;
}

static enum nnv_status load(const struct work *w, struct nnv_relay_module **out, struct nnv_err *err) {
    const char *text = nnv_arena_printf(w->arena, "def @main(%s) {\n%s\n}\n", w->c->params, w->c->body);
    if (!text) return nnv_no_memory(err);
    enum nnv_status s = nnv_relay_parse(text, strlen(text), w->c->name, w->arena, out, err);
    if (s == NNV_OK) s = nnv_relay_infer(*out, err);
    if (s == NNV_OK) s = bind(w, *out, err);
    return s == NNV_OK ? nnv_relay_check(*out, err) : s;
}

/* Why nothing is converted: what the converter says of the first operator. */
static enum nnv_status all_refused(struct work *w, const struct nnv_convert_support *support, struct nnv_err *err) {
    struct nnv_relay_list list;
    const char *why = NULL;
    if (nnv_relay_post_order(nnv_relay_find(w->m, "main"), NULL, NULL, w->arena, &list) != NNV_OK) list.n = 0;
    for (size_t i = 0; i < list.n && !why; i++)
        if (list.exprs[i]->kind == NNV_RELAY_CALL) why = nnv_convert_refusal(support, list.exprs[i]);
    return nnv_fail(err, NNV_INVALID, "nothing is converted: %s", why ? why : "no operation was asked for");
}

static enum nnv_status divide(struct work *w, struct nnv_err *err) {
    struct nnv_pattern_table table;
    struct nnv_partition partition;
    const struct nnv_convert_options options = {0};
    enum nnv_status s = load(w, &w->before, err);
    if (s == NNV_OK) s = load(w, &w->m, err);
    if (s == NNV_OK) s = nnv_table_open("nnapi", w->arena, &table, err);
    if (s == NNV_OK) s = nnv_merge_composite(w->m, &table, err);
    if (s != NNV_OK) return s;
    struct nnv_convert_support *support = nnv_convert_support_new(w->m, &options, w->arena);
    if (!support) return nnv_no_memory(err);
    struct nnv_annotator annotator = nnv_convert_annotator(support);
    s = nnv_partition(w->m, &annotator, NULL, &partition, err);
    if (s == NNV_OK && w->edit && w->edit->cut) w->edit->cut(w->m, &partition);
    if (s == NNV_OK && !partition.n_extracted) return all_refused(w, support, err);
    return s == NNV_OK ? nnv_relay_check(w->m, err) : s;
}

/* -------------------------------------------------------------------------- regions */

static bool flatten(struct nnv_relay_datum *d, struct nnv_relay_datum **to, size_t *n) {
    if (d->type->kind == NNV_RELAY_TENSOR) {
        if (*n == MOST_FIELDS) return false;
        to[(*n)++] = d;
        return true;
    }
    for (size_t i = 0; i < d->n_fields; i++)
        if (!flatten(d->fields[i], to, n)) return false;
    return true;
}

static enum nnv_status fill_inputs(struct nnv_spec *spec, struct nnv_relay_datum *const *args, size_t n,
                                   struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_relay_datum *flat[MOST_FIELDS];
    const struct nnv_subgraph *g = &spec->model.main;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (!flatten(args[i], flat, &count)) return nnv_fail(err, NNV_UNSUPPORTED, "too many operands");
    if (count != g->nin)
        return nnv_fail(err, NNV_INVALID, "the model has %u inputs, the region %zu parameters", g->nin, count);
    for (size_t i = 0; i < count; i++) {
        const struct nnv_operand *o = &g->operands[g->in[i]];
        struct nnv_value *v = &spec->inputs[i];
        *v = (struct nnv_value){.rank = o->rank, .bytes = flat[i]->n * nnv_type(o->type)->size};
        for (uint32_t k = 0; k < o->rank; k++) v->dims[k] = o->dims[k];
        size_t elems, bytes;
        if (!nnv_operand_size(o, &elems, &bytes) || bytes != v->bytes)
            return nnv_fail(err, NNV_INVALID, "input %zu of the model is of another size than the parameter", i);
        if (!(v->data = nnv_arena_alloc(arena, v->bytes, 1))) return nnv_no_memory(err);
        nnv_relay_datum_write(flat[i], v->data);
    }
    return NNV_OK;
}

/* The numbers of a model's output as the program wants them. */
static enum nnv_status read_output(const struct nnv_relay_type *type, const struct nnv_operand *o,
                                   const struct nnv_golden *g, struct nnv_arena *arena, struct nnv_relay_datum **out,
                                   struct nnv_err *err) {
    size_t elems, bytes, n = g->value.bytes / nnv_type(o->type)->size;
    if (!nnv_relay_type_elems(type, &elems, &bytes) || bytes != g->value.bytes)
        return nnv_fail(err, NNV_INVALID, "an output of the model is of another size than the region's result");
    enum nnv_status s = nnv_relay_datum_read(type, g->value.data, arena, out, err);
    for (size_t i = 0; s == NNV_OK && nnv_is_float(o->type) && i < n; i++) (*out)->values[i] = g->exact[i];
    return s;
}

static enum nnv_status read_results(const struct nnv_relay_type *type, const struct nnv_converted *c,
                                    const struct nnv_spec *spec, const struct nnv_golden *golden,
                                    struct nnv_relay_datum *const *args, struct nnv_arena *arena,
                                    struct nnv_relay_datum **result, struct nnv_err *err) {
    const struct nnv_subgraph *g = &spec->model.main;
    bool tuple = type->kind == NNV_RELAY_TUPLE_TYPE;
    struct nnv_relay_datum *d = NNV_NEW(arena, struct nnv_relay_datum, 1);
    struct nnv_relay_datum **fields = NNV_NEW(arena, struct nnv_relay_datum *, c->n_results);
    if (!d || !fields) return nnv_no_memory(err);
    enum nnv_status s = NNV_OK;
    for (uint32_t i = 0; s == NNV_OK && i < c->n_results; i++) {
        uint32_t k = c->output_of[i];
        if (c->from_input[i])
            fields[i] = args[k];
        else if (k >= g->nout)
            s = nnv_fail(err, NNV_INVALID, "the model has %u outputs, the region's result %u", g->nout, c->n_results);
        else
            s = read_output(tuple ? type->fields[i] : type, &g->operands[g->out[k]], &golden[k], arena, &fields[i],
                            err);
    }
    *d = (struct nnv_relay_datum){.type = type, .fields = fields, .n_fields = c->n_results};
    *result = tuple ? d : fields[0];
    return s;
}

static enum nnv_status evaluate(struct nnv_spec *spec, struct nnv_golden **golden, struct nnv_arena *arena,
                                struct nnv_err *err) {
    const struct nnv_subgraph *g = &spec->model.main;
    enum nnv_status s = nnv_validate(&spec->model, arena, &spec->min_version, err);
    if (s != NNV_OK) return nnv_at(err, s, "the converted model is not valid");
    *golden = NNV_NEW(arena, struct nnv_golden, g->nout);
    spec->outputs = NNV_NEW(arena, struct nnv_value, g->nout);
    if (!*golden || !spec->outputs) return nnv_no_memory(err);
    s = nnv_eval(&spec->model, spec->inputs, &(struct nnv_eval_options){0}, arena, *golden, err);
    for (uint32_t i = 0; s == NNV_OK && i < g->nout; i++) spec->outputs[i] = (*golden)[i].value;
    return s;
}

/* Where the program calls a region. */
static enum nnv_status run_region(void *ctx, const struct nnv_relay_module *m, const char *function,
                                  struct nnv_relay_datum *const *args, size_t n_args, struct nnv_arena *arena,
                                  struct nnv_relay_datum **result, struct nnv_err *err) {
    struct work *w = ctx;
    struct nnv_relay_expr *f = nnv_relay_find(m, function);
    struct nnv_converted converted;
    struct nnv_golden *golden = NULL;
    struct nnv_spec *spec = NNV_NEW(w->arena, struct nnv_spec, 1);
    const struct nnv_convert_options options = {0};
    (void)arena;
    if (!spec || w->n_specs == MOST_MODELS) return nnv_fail(err, NNV_NO_MEMORY, "too many regions");
    enum nnv_status s = nnv_convert(m, f, &options, w->arena, &converted, err);
    if (s != NNV_OK) return nnv_fail(err, NNV_INVALID, "%s: %s", function, err->text);
    if (w->edit && w->edit->model) w->edit->model(w->edit, &converted.model, w->arena);
    *spec = (struct nnv_spec){.name = w->c->name, .source = "a region of a Relay program", .model = converted.model};
    spec->inputs = NNV_NEW(w->arena, struct nnv_value, spec->model.main.nin);
    if (!spec->inputs) return nnv_no_memory(err);
    s = fill_inputs(spec, args, n_args, w->arena, err);
    if (s == NNV_OK) s = evaluate(spec, &golden, w->arena, err);
    if (s == NNV_OK) s = read_results(f->args[0]->type, &converted, spec, golden, args, w->arena, result, err);
    if (s == NNV_OK) w->specs[w->n_specs++] = spec;
    return s == NNV_UNSUPPORTED ? NNV_INVALID : s;
}

/* ------------------------------------------------------------------------ comparing */

static void compare(struct work *w, const struct nnv_relay_datum *want, const struct nnv_relay_datum *got,
                    size_t field) {
    size_t wrong = 0, first = 0, finite = 0;
    bool floats = nnv_relay_dtype_is_float(want->type->dtype);
    double most = w->c->most > 0 ? w->c->most : floats ? USUAL : 0;
    if (!nnv_relay_type_equal(want->type, got->type) || want->n != got->n) {
        nnv_expect(w->s, false, "result %zu is of another type", field);
        return;
    }
    for (size_t i = 0; i < want->n; i++) {
        const double x = want->values[i], y = got->values[i];
        finite += isfinite(x) != 0;
        if (!nnv_check_within(x, y, most * (floats ? 1e-2 + fabs(x) : 1)) && !wrong++) first = i;
    }
    w->s->result->compared += finite;
    nnv_expect(w->s, finite || !want->n, "result %zu of the program has no finite value", field);
    nnv_expect(w->s, !wrong,
               "result %zu: %zu of %zu values of the converted program are wrong; element %zu is %.9g, not %.9g", field,
               wrong, want->n, first, got->values[first], want->values[first]);
}

static void compare_results(struct work *w, struct nnv_relay_datum *want, struct nnv_relay_datum *got) {
    struct nnv_relay_datum *a[MOST_FIELDS], *b[MOST_FIELDS];
    size_t n = 0, m = 0;
    if (!flatten(want, a, &n) || !flatten(got, b, &m)) {
        nnv_context_error(w->s, "more than %d results", MOST_FIELDS);
        return;
    }
    nnv_expect(w->s, n == m, "%zu results instead of %zu", m, n);
    for (size_t i = 0; i < n && n == m; i++) compare(w, a[i], b[i], i);
}

static void check(struct work *w) {
    struct nnv_err err = {0};
    struct nnv_relay_datum *want, *got, *args[MOST_FIELDS];
    const struct nnv_relay_external external = {run_region, w};
    if (divide(w, &err) != NNV_OK) {
        nnv_expect(w->s, false, "%s", err.text);
        return;
    }
    struct nnv_relay_expr *main = nnv_relay_find(w->before, "main");
    if (nnv_relay_arguments(main, INPUTS, w->arena, args, &err) != NNV_OK ||
        nnv_relay_run(w->before, "main", args, main->n_params, NULL, w->arena, &want, &err) != NNV_OK)
        nnv_context_error(w->s, "%s", err.text);
    else if (nnv_relay_run(w->m, "main", args, main->n_params, &external, w->arena, &got, &err) != NNV_OK)
        nnv_expect(w->s, false, "%s", err.text);
    else
        compare_results(w, want, got);
}

void nnv_values_check(struct nnv_context *s, const struct nnv_values_case *c, const struct nnv_values_edit *edit,
                      struct nnv_values_models *out) {
    struct nnv_arena *arena = s->env->arena;
    struct work w = {
        .s = s, .c = c, .edit = edit, .arena = arena, .specs = NNV_NEW(arena, struct nnv_spec *, MOST_MODELS)};
    if (w.specs)
        check(&w);
    else
        nnv_context_error(s, NNV_OUT_OF_MEMORY);
    *out = (struct nnv_values_models){w.specs, w.n_specs};
}

void nnv_values_run(struct nnv_context *s, const struct nnv_values_case *c) {
    struct nnv_values_models models;
    struct nnv_result *result = s->result;
    nnv_values_check(s, c, NULL, &models);
    for (size_t i = 0; i < models.n && result->verdict == NNVTS_PASS; i++) {
        size_t compared = result->compared;
        nnv_text_clear(&result->outputs);
        nnv_judge(s->env, models.specs[i], models.specs[i]->min_version, NNV_PRECISION_BUDGET, result);
        result->compared += compared;
    }
}
