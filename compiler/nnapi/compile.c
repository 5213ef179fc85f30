/* SPDX-License-Identifier: Apache-2.0 */
/* A program becomes regions: composites, support by trial, the partition, conversion, constants in one file. */
#include "compiler/nnapi/compile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compiler/relay/text/params.h"
#include "compiler/byoc/tables.h"
#include "compiler/nnapi/convert/convert.h"

static const size_t LONGEST_TABLE = (size_t)1 << 26;

/** What the steps share. */
struct compiling {
    struct nnv_relay_module *m;
    const struct nnv_compile_options *options;
    struct nnv_convert_options convert;
    struct nnv_arena *arena;
    struct nnv_err *err;
    struct nnv_annotator trial, list; /**< what can be converted; what --supported allows */
};

/* ------------------------------------------------------------------------- files */

/** Reads a file; what is read belongs to the arena. */
enum nnv_status nnv_compile_load(const char *text, size_t len, const char *name, const struct nnv_relay_params *params,
                                 struct nnv_arena *arena, struct nnv_relay_module **m, struct nnv_err *err) {
    enum nnv_status st = nnv_relay_parse(text, len, name, arena, m, err);
    if (st == NNV_OK && params) st = nnv_relay_params_bind(*m, params, err);
    return st == NNV_OK ? nnv_relay_check(*m, err) : st;
}

/* -------------------------------------------------------------------- composites */

static enum nnv_status merge_composites(const struct compiling *c) {
    struct nnv_pattern_table table;
    const char *name = c->options->patterns ? c->options->patterns : "nnapi";
    if (strcmp(name, NNV_NO_TABLE) == 0) return NNV_OK;
    enum nnv_status st = nnv_table_open(name, c->arena, &table, c->err);
    return st == NNV_OK ? nnv_merge_composite(c->m, &table, c->err) : st;
}

/* ----------------------------------------------------------------------- regions */

static bool accepts(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    const struct compiling *c = ctx;
    return (!c->list.accepts || c->list.accepts(c->list.ctx, target, call)) &&
           c->trial.accepts(c->trial.ctx, target, call);
}

static bool accepts_composite(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    const struct compiling *c = ctx;
    return c->trial.accepts_composite(c->trial.ctx, target, call);
}

/** What may leave the host, if that is asked for. */
static enum nnv_status read_support(struct compiling *c) {
    static const char *const targets[] = {"nnapi"};
    struct nnv_support *list = NULL;
    char *text;
    size_t len;
    if (!c->options->supported) return NNV_OK;
    enum nnv_status st = nnv_file_load(c->options->supported, LONGEST_TABLE, c->arena, &text, &len, c->err);
    if (st == NNV_OK) st = nnv_support_read(text, len, c->options->supported, targets, 1, c->arena, &list, c->err);
    if (st == NNV_OK) c->list = nnv_support_annotator(list);
    return st;
}

static enum nnv_status read_prune(const struct compiling *c, struct nnv_prune *prune) {
    char *text;
    size_t len;
    if (!c->options->prune) return NNV_OK;
    enum nnv_status st = nnv_file_load(c->options->prune, LONGEST_TABLE, c->arena, &text, &len, c->err);
    return st == NNV_OK ? nnv_prune_read(text, len, c->options->prune, c->arena, prune, c->err) : st;
}

static enum nnv_status read_cost(const struct compiling *c, struct nnv_cost_selection *to, struct nnv_prune *prune) {
    struct nnv_cost_model *model = NNV_NEW(c->arena, struct nnv_cost_model, 1);
    enum nnv_status st = model ? nnv_cost_load(c->options->cost, c->arena, model, c->err) : nnv_no_memory(c->err);
    *to = (struct nnv_cost_selection){
        .model = model, .method = c->options->select, .most_states = c->options->most_states, .arena = c->arena};
    prune->select = nnv_cost_select;
    prune->select_ctx = to;
    return st;
}

/** Composites, and of these only what can be converted at the level that is asked for; then regions. */
static enum nnv_status partition(struct compiling *c, struct nnv_cost_selection *cost, struct nnv_partition *result) {
    struct nnv_convert_support *support = nnv_convert_support_new(c->m, &c->convert, c->arena);
    struct nnv_prune prune = {0};
    if (!support) return nnv_no_memory(c->err);
    c->trial = nnv_convert_annotator(support);
    enum nnv_status st = read_support(c);
    if (st == NNV_OK) st = read_prune(c, &prune);
    prune.join_siblings = c->options->join_siblings;
    if (st == NNV_OK && c->options->cost) st = read_cost(c, cost, &prune);
    if (st == NNV_OK) st = nnv_simplify(c->m, c->err);
    if (st == NNV_OK) st = merge_composites(c);
    if (st == NNV_OK) st = nnv_relay_check(c->m, c->err);
    if (st == NNV_OK) st = nnv_convert_dissolve(support, c->err);
    if (st == NNV_OK) st = nnv_relay_check(c->m, c->err);
    const struct nnv_annotator a = {.targets = c->trial.targets,
                                    .n_targets = c->trial.n_targets,
                                    .accepts = accepts,
                                    .accepts_composite = accepts_composite,
                                    .ctx = c};
    if (st == NNV_OK) st = nnv_outline_flow(c->m, &a, "nnapi", c->err);
    if (st == NNV_OK) st = nnv_relay_check(c->m, c->err);
    if (st != NNV_OK) return st;
    st = nnv_partition(c->m, &a, &prune, result, c->err);
    if (st == NNV_OK) st = nnv_convert_asked(support, c->err);
    return st == NNV_OK ? nnv_relay_check(c->m, c->err) : st;
}

/** The function without the attributes that make it a region: the host interprets it like any other. */
static void give_back(struct nnv_relay_expr *function) {
    size_t n = 0;
    for (size_t i = 0; i < function->n_attrs; i++)
        if (strcmp(function->attrs[i].key, "Compiler") != 0 && strcmp(function->attrs[i].key, "Primitive") != 0)
            function->attrs[n++] = function->attrs[i];
    function->n_attrs = n;
}

/** Names become those of classes and files. */
static bool is_identifier(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    while (isalnum((unsigned char)*name) || *name == '_') name++;
    return *name == '\0';
}

/** Names of files that are written anyway. */
static bool is_taken(const char *name) {
    static const char *const taken[] = {"program", "tvm", "nnapi_region", "nnapi_program", "nnapi_tvm"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0) return true;
    return false;
}

static enum nnv_status convert_region(struct compiling *c, const char *name, struct nnv_relay_expr *function,
                                      struct nnv_compiled *out) {
    struct nnv_converted *converted = NNV_NEW(c->arena, struct nnv_converted, 1);
    struct nnv_err why = {0};
    if (!converted) return nnv_no_memory(c->err);
    enum nnv_status st = is_identifier(name) ? nnv_convert(c->m, function, &c->convert, c->arena, converted, &why)
                                             : nnv_fail(&why, NNV_UNSUPPORTED, "its name is no C identifier");
    if (st == NNV_OK && is_taken(name))
        st = nnv_fail(&why, NNV_UNSUPPORTED, "its name is that of a file that is written anyway");
    if (st == NNV_OK && converted->model.main.nin == 0)
        st = nnv_fail(&why, NNV_UNSUPPORTED, "it has no inputs, which each model of NNAPI has");
    if (st == NNV_OK && converted->model.main.noperations == 0)
        st = nnv_fail(&why, NNV_UNSUPPORTED, "nothing is left of it to compute");
    if (st == NNV_OK) {
        out->regions[out->n_regions++] = (struct nnv_emit){name, converted};
        return NNV_OK;
    }
    if (st != NNV_UNSUPPORTED) return nnv_fail(c->err, st, "%s", why.text);
    struct nnv_compile_refused *r = &out->refused[out->n_refused++];
    *r = (struct nnv_compile_refused){name, nnv_arena_strdup(c->arena, why.text)};
    give_back(function);
    return r->reason ? NNV_OK : nnv_no_memory(c->err);
}

/** The whole program as a class, if regions and moves are all of it. */
static enum nnv_status plan_program(struct compiling *c, struct nnv_compiled *out) {
    struct nnv_err why = {0};
    if (out->n_regions == 0) return NNV_OK;
    if (!(out->program = NNV_NEW(c->arena, struct nnv_program, 1))) return nnv_no_memory(c->err);
    enum nnv_status st = nnv_program_plan(c->m, out->regions, out->n_regions, c->arena, out->program, &why);
    if (st == NNV_OK) return NNV_OK;
    out->program = NULL;
    if (st != NNV_UNSUPPORTED) return nnv_fail(c->err, st, "%s", why.text);
    return (out->no_program = nnv_arena_strdup(c->arena, why.text)) ? NNV_OK : nnv_no_memory(c->err);
}

enum nnv_status nnv_compile_module(struct nnv_relay_module *m, const struct nnv_compile_options *options,
                                   struct nnv_arena *arena, struct nnv_compiled *out, struct nnv_err *err) {
    struct nnv_compiled made = {.m = m, .options = *options};
    struct compiling c = {.m = m,
                          .options = options,
                          .convert = {options->level ? options->level : NNV_LEVEL_MAX, options->relaxed},
                          .arena = arena,
                          .err = err};
    if (!nnv_relay_find(m, "main"))
        return nnv_fail(err, NNV_INVALID, "%s: there is no function @main", m->file ? m->file : "the program");
    enum nnv_status st = partition(&c, &made.cost, &made.partition);
    if (st != NNV_OK) return st;
    made.regions = NNV_NEW(arena, struct nnv_emit, m->n_functions);
    made.refused = NNV_NEW(arena, struct nnv_compile_refused, m->n_functions);
    if (!made.regions || !made.refused) return nnv_no_memory(err);
    /* Those that the program had before, too. */
    for (size_t i = 0; i < m->n_functions && st == NNV_OK; i++) {
        const char *target = nnv_relay_fn_attr(m->functions[i].expr, "Compiler");
        if (target && strcmp(target, "nnapi") == 0)
            st = convert_region(&c, m->functions[i].name, m->functions[i].expr, &made);
    }
    if (st == NNV_OK) st = nnv_emit_gather(made.regions, made.n_regions, "weights.bin", arena, &made.weights, err);
    if (st == NNV_OK) st = plan_program(&c, &made);
    if (st == NNV_OK) *out = made;
    return st;
}

void nnv_compiled_free(struct nnv_compiled *c) { nnv_text_free(&c->weights.bytes); }
