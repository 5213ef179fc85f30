/* SPDX-License-Identifier: Apache-2.0 */
/** @file divide.c A program through the passes, and what must hold of any result. */
#include <math.h>
#include <string.h>

#include "compiler/byoc/cost/cost.h"
#include "compiler/relay/interp/interp.h"
#include "tests/kit/compiler/divide.h"
#include "tests/kit/relay_equal.h"

enum { MOST_TUPLES = 512 };

/** An annotator with a fault. */
struct spoiled {
    struct nnv_annotator real;
    const struct compiler_fault *fault;
};

static bool accepts(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    const struct spoiled *s = ctx;
    return s->fault->accepts(&s->real, target, call);
}

/* A text as the fault leaves it. */
static const char *given(const struct nnv_divide *d, enum compiler_text which, const char *text,
                         struct nnv_arena *arena) {
    json_t *doc = d->fault && d->fault->text ? json_loads(text, 0, NULL) : NULL;
    if (!doc) return text;
    d->fault->text(which, doc);
    char *written = json_dumps(doc, 0);
    const char *kept = written ? nnv_arena_strdup(arena, written) : NULL;
    free(written);
    json_decref(doc);
    return kept ? kept : text;
}

static enum nnv_status annotate(const struct nnv_divide *d, struct nnv_arena *arena, struct nnv_annotator *out,
                                struct nnv_err *err) {
    const char *text = given(d, COMPILER_SUPPORT, d->support ? d->support : "[]", arena);
    struct nnv_support *support;
    enum nnv_status s = nnv_support_read(text, strlen(text), "support", d->targets, d->n_targets, arena, &support, err);
    if (s != NNV_OK) return s;
    *out = nnv_support_annotator(support);
    if (!d->fault || !d->fault->accepts) return NNV_OK;
    struct spoiled *spoiled = NNV_NEW(arena, struct spoiled, 1);
    if (!spoiled) return nnv_no_memory(err);
    *spoiled = (struct spoiled){*out, d->fault};
    out->accepts = accepts;
    out->ctx = spoiled;
    return NNV_OK;
}

static enum nnv_status merge(const struct nnv_divide *d, struct nnv_relay_module *m, struct nnv_arena *arena,
                             struct nnv_err *err) {
    const char *text = given(d, COMPILER_PATTERNS, d->patterns, arena);
    struct nnv_pattern_table table;
    enum nnv_status s = nnv_pattern_read(text, strlen(text), "patterns", arena, &table, err);
    if (s != NNV_OK) return s;
    if (d->fault && d->fault->table) d->fault->table(&table, arena);
    return nnv_merge_composite(m, &table, err);
}

/* Rules for regions, and by what they are chosen. */
static enum nnv_status read_rules(const struct nnv_divide *d, struct nnv_arena *arena, struct nnv_prune *prune,
                                  struct nnv_err *err) {
    const char *text = given(d, COMPILER_RULES, d->prune ? d->prune : "{}", arena);
    enum nnv_status s = nnv_prune_read(text, strlen(text), "rules", arena, prune, err);
    if (s != NNV_OK || !d->costs) return s;
    struct nnv_cost_model *model = NNV_NEW(arena, struct nnv_cost_model, 1);
    struct nnv_cost_selection *selection = NNV_NEW(arena, struct nnv_cost_selection, 1);
    if (!model || !selection) return nnv_no_memory(err);
    *selection = (struct nnv_cost_selection){.model = model, .method = NNV_COST_EXACT, .arena = arena};
    prune->select = nnv_cost_select;
    prune->select_ctx = selection;
    text = given(d, COMPILER_COSTS, d->costs, arena);
    return nnv_cost_read(text, strlen(text), "costs", arena, model, err);
}

static enum nnv_status parse(const char *text, struct nnv_arena *arena, struct nnv_relay_module **m,
                             struct nnv_err *err) {
    enum nnv_status s = nnv_relay_parse(text, strlen(text), "program", arena, m, err);
    return s == NNV_OK ? nnv_relay_infer(*m, err) : s;
}

enum nnv_status nnv_divide(const struct nnv_divide *d, struct nnv_arena *arena, struct nnv_divided *out,
                           struct nnv_err *err) {
    struct nnv_prune *prune = NNV_NEW(arena, struct nnv_prune, 1);
    if (!prune) return nnv_no_memory(err);
    enum nnv_status s = parse(d->text, arena, &out->before, err);
    if (s == NNV_OK) s = parse(d->text, arena, &out->m, err);
    if (s == NNV_OK && d->fault && d->fault->parsed) d->fault->parsed(out->m);
    if (s == NNV_OK) s = annotate(d, arena, &out->annotator, err);
    if (s == NNV_OK && d->patterns) s = merge(d, out->m, arena, err);
    if (s == NNV_OK) s = read_rules(d, arena, prune, err);
    out->prune = d->fault && d->fault->never_prune ? NULL : prune;
    out->fault = d->fault;
    if (s == NNV_OK) s = nnv_partition(out->m, &out->annotator, out->prune, &out->partition, err);
    if (s == NNV_OK && d->fault && d->fault->cut) d->fault->cut(out->m, &out->partition);
    return s;
}

static void add_list(const char *const *names, size_t n, struct nnv_text *out) {
    for (size_t i = 0; i < n; i++) nnv_text_addf(out, "%s%s", i ? "," : "", names[i]);
}

void nnv_divided_composites(const struct nnv_partition *p, struct nnv_text *out) {
    for (size_t i = 0; i < p->n_composites; i++) {
        nnv_text_addf(out, "%s(", p->composites[i].name);
        add_list(p->composites[i].ops, p->composites[i].n_ops, out);
        nnv_text_addf(out, ";%zu) ", p->composites[i].params);
    }
}

void nnv_divided_regions(const struct nnv_partition *p, struct nnv_text *out) {
    for (size_t i = 0; i < p->n_extracted; i++) {
        add_list(p->extracted[i].nodes, p->extracted[i].n_ops, out);
        nnv_text_addf(out, ">%s;%zu/%zu ", p->extracted[i].target, p->extracted[i].params, p->extracted[i].outputs);
    }
}

void nnv_divided_host(const struct nnv_partition *p, struct nnv_text *out) { add_list(p->host, p->n_host, out); }

void nnv_divided_line(const struct nnv_partition *p, struct nnv_text *out) {
    nnv_divided_composites(p, out);
    nnv_text_add(out, "| ");
    nnv_divided_regions(p, out);
    nnv_text_add(out, "| ");
    nnv_divided_host(p, out);
}

/* --------------------------------------------------------------------- putting back */

/** What stands for the parameters of a function that is put back. */
struct substitution {
    const struct nnv_relay_expr *function, *call;
};

static struct nnv_relay_expr *substitute(void *ctx, struct nnv_relay_module *m, struct nnv_relay_expr *old,
                                         struct nnv_relay_expr *now) {
    const struct substitution *s = ctx;
    (void)m;
    for (size_t i = 0; i < s->function->n_params; i++)
        if (s->function->params[i] == old) return s->call->args[i];
    return now;
}

/* A tuple of all fields of one value, in order, is the value. */
static struct nnv_relay_expr *whole_of(struct nnv_relay_expr *tuple) {
    for (size_t i = 0; i < tuple->n_args; i++) {
        const struct nnv_relay_expr *get = tuple->args[i];
        if (get->kind != NNV_RELAY_GET || get->index != (int64_t)i || get->args[0] != tuple->args[0]->args[0])
            return tuple;
    }
    const struct nnv_relay_type *t = tuple->n_args ? tuple->args[0]->args[0]->type : NULL;
    return t && t->kind == NNV_RELAY_TUPLE_TYPE && t->n_fields == tuple->n_args ? tuple->args[0]->args[0] : tuple;
}

/** One walk over a function. */
struct return_walk {
    bool composites; /**< these are put back, not regions */
    struct nnv_relay_expr *tuples[MOST_TUPLES];
    size_t n_tuples;
};

/* Regions share no tuples, so equal ones become one. */
static struct nnv_relay_expr *one_tuple(struct return_walk *w, struct nnv_relay_expr *tuple) {
    for (size_t i = 0; i < w->n_tuples; i++)
        if (w->tuples[i]->n_args == tuple->n_args &&
            !memcmp(w->tuples[i]->args, tuple->args, tuple->n_args * sizeof *tuple->args))
            return w->tuples[i];
    if (w->n_tuples < MOST_TUPLES) w->tuples[w->n_tuples++] = tuple;
    return tuple;
}

static struct nnv_relay_expr *put_back(void *ctx, struct nnv_relay_module *m, struct nnv_relay_expr *old,
                                       struct nnv_relay_expr *now) {
    struct return_walk *w = ctx;
    (void)old;
    if (now->kind == NNV_RELAY_GET && now->args[0]->kind == NNV_RELAY_TUPLE) return now->args[0]->args[now->index];
    if (now->kind == NNV_RELAY_TUPLE) return whole_of(now) == now ? one_tuple(w, now) : whole_of(now);
    if (now->kind != NNV_RELAY_CALL) return now;
    struct substitution s = {.call = now};
    if (w->composites && nnv_composite_name(now)) s.function = now->callee;
    if (!w->composites && now->callee->kind == NNV_RELAY_GLOBAL) s.function = nnv_relay_find(m, now->callee->name);
    if (!s.function || (!w->composites && !nnv_relay_fn_attr(s.function, "Compiler"))) return now;
    struct nnv_relay_expr *body = NULL;
    return nnv_relay_rewrite(m, s.function->args[0], substitute, &s, &body, NULL) == NNV_OK ? body : NULL;
}

/* @main with all regions and composites put back, in a form of which there is one. */
static struct nnv_relay_expr *normal(struct nnv_relay_module *m) {
    struct nnv_relay_expr *main = nnv_relay_find(m, "main");
    for (int round = 0; main && round < 3; round++) {
        struct return_walk walk = {.composites = round > 0};
        if (nnv_relay_rewrite(m, main, put_back, &walk, &main, NULL) != NNV_OK ||
            nnv_graph_form(m, main, NULL) != NNV_OK)
            return NULL;
    }
    return main;
}

/* ------------------------------------------------------------------------ the laws */

static bool says(struct nnv_text *why, const char *what) {
    nnv_text_addf(why, "%s\n", what);
    return false;
}

static bool round_trips(const struct nnv_relay_module *m, struct nnv_arena *arena, struct nnv_text *why) {
    struct nnv_text text = {0};
    struct nnv_relay_module *again = NULL;
    struct nnv_err err = {0};
    nnv_relay_print(m, NNV_RELAY_PRINT_META, &text);
    const char *kept = text.failed ? NULL : nnv_arena_strdup(arena, text.data);
    nnv_text_free(&text);
    if (!kept || nnv_relay_parse(kept, strlen(kept), "printed", arena, &again, &err) != NNV_OK)
        return says(why, kept ? err.text : "out of memory");
    return nnv_relay_module_equal(m, again) || says(why, "what is printed parses as another program");
}

static bool parameters_differ(const struct nnv_divided *d, struct nnv_text *why) {
    struct nnv_relay_list list;
    struct nnv_arena *arena = nnv_arena_new();
    bool ok = arena != NULL;
    for (size_t f = 0; ok && f < d->m->n_functions; f++) {
        ok = nnv_relay_post_order(d->m->functions[f].expr, NULL, NULL, arena, &list) == NNV_OK;
        for (size_t i = 0; ok && i < list.n; i++) {
            const struct nnv_relay_expr *e = list.exprs[i];
            const struct nnv_relay_expr *callee = e->kind == NNV_RELAY_CALL && e->callee->kind == NNV_RELAY_GLOBAL
                                                      ? nnv_relay_find(d->m, e->callee->name)
                                                      : NULL;
            if (!callee || !nnv_relay_fn_attr(callee, "Compiler")) continue;
            for (size_t a = 0; ok && a < e->n_args; a++) {
                if (e->args[a]->kind == NNV_RELAY_CONSTANT) ok = says(why, "a constant is passed to a region");
                for (size_t b = 0; ok && b < a; b++)
                    if (e->args[a] == e->args[b]) ok = says(why, "a value is passed to a region twice");
            }
        }
    }
    nnv_arena_free(arena);
    return ok;
}

static bool is_complete(const struct nnv_divided *d, struct nnv_text *why) {
    struct nnv_partition again;
    struct nnv_err err = {0};
    struct nnv_text one = {0}, two = {0};
    nnv_relay_print(d->m, 0, &one);
    if (nnv_partition(d->m, &d->annotator, d->prune, &again, &err) != NNV_OK) return says(why, err.text);
    nnv_relay_print(d->m, 0, &two);
    bool same = one.data && two.data && !strcmp(one.data, two.data);
    nnv_text_free(&one);
    nnv_text_free(&two);
    return (again.n_extracted == 0 && same) || says(why, "a second run changes the program");
}

static bool equal_data(const struct nnv_relay_datum *a, const struct nnv_relay_datum *b) {
    if (a->n != b->n || a->n_fields != b->n_fields) return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->values[i] != b->values[i] && !(isnan(a->values[i]) && isnan(b->values[i]))) return false;
    for (size_t i = 0; i < a->n_fields; i++)
        if (!equal_data(a->fields[i], b->fields[i])) return false;
    return true;
}

/* Two undefined values are equal, and show nothing. */
static bool is_defined(const struct nnv_relay_datum *d) {
    for (size_t i = 0; i < d->n; i++)
        if (isnan(d->values[i])) return false;
    for (size_t i = 0; i < d->n_fields; i++)
        if (!is_defined(d->fields[i])) return false;
    return true;
}

/* The values of @main's parameters; a fault forgets what one operator asks of an operand. */
static enum nnv_status draw(const struct nnv_divided *d, uint64_t seed, struct nnv_arena *arena,
                            struct nnv_relay_datum **args, struct nnv_err *err) {
    struct nnv_relay_expr *main = nnv_relay_find(d->before, "main");
    const char *op = d->fault ? d->fault->drawn.op : NULL;
    struct nnv_relay_list list;
    enum nnv_status s = nnv_relay_arguments(main, seed, arena, args, err);
    if (s != NNV_OK || !op) return s;
    if (nnv_relay_post_order(main, NULL, NULL, arena, &list) != NNV_OK) return nnv_no_memory(err);
    for (size_t i = 0; i < list.n; i++)
        for (size_t k = 0; k < main->n_params; k++)
            if (nnv_relay_is_op(list.exprs[i], op) && list.exprs[i]->args[d->fault->drawn.operand] == main->params[k] &&
                !(args[k] = nnv_relay_datum_random(main->params[k]->type, seed + k, arena)))
                return nnv_no_memory(err);
    return NNV_OK;
}

static bool same_values(const struct nnv_divided *d, uint64_t seed, struct nnv_arena *arena, struct nnv_text *why) {
    struct nnv_relay_datum *before, *after, **args;
    const struct nnv_relay_expr *main = nnv_relay_find(d->before, "main");
    struct nnv_err err = {0};
    if (nnv_relay_check(d->before, &err) != NNV_OK || nnv_relay_check(d->m, &err) != NNV_OK) return says(why, err.text);
    if (!(args = NNV_NEW(arena, struct nnv_relay_datum *, main->n_params))) return says(why, "out of memory");
    if (draw(d, seed, arena, args, &err) != NNV_OK) return says(why, err.text);
    if (nnv_relay_run(d->before, "main", args, main->n_params, NULL, arena, &before, &err) != NNV_OK ||
        nnv_relay_run(d->m, "main", args, main->n_params, NULL, arena, &after, &err) != NNV_OK)
        return says(why, err.text);
    if (!is_defined(before)) return says(why, "the program's own result is NaN");
    return equal_data(before, after) || says(why, "the divided program has other values");
}

bool nnv_divided_holds(const struct nnv_divided *d, bool run, uint64_t seed, struct nnv_arena *arena,
                       struct nnv_text *why) {
    if (!round_trips(d->before, arena, why) || !round_trips(d->m, arena, why)) return false;
    if (run && !same_values(d, seed, arena, why)) return false;
    if (!parameters_differ(d, why) || !is_complete(d, why)) return false;
    struct nnv_relay_expr *before = normal(d->before), *after = normal(d->m);
    if (!before || !after) return says(why, "out of memory");
    return nnv_relay_equal(before, after) || says(why, "regions put back give another program");
}
