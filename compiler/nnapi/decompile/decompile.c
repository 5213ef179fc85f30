/* SPDX-License-Identifier: Apache-2.0 */
/* Models as Relay programs: the walk over the operations. */
#include "compiler/nnapi/decompile/decompile.h"

#include <string.h>

#include "compiler/nnapi/decompile/in.h"
#include "reference/model/validate.h"

static const struct nnv_decompile_row *row_of(int32_t code) {
    static const struct nnv_decompile_rows *const tables[] = {&nnv_decompile_layers, &nnv_decompile_others,
                                                              &nnv_decompile_recurrent};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; i < tables[t]->n; i++)
            if (tables[t]->rows[i].code == code) return &tables[t]->rows[i];
    return NULL;
}

/** Operations without a Relay form, by code. */
struct refusals {
    uint32_t count[1024];
    uint32_t n;
};

static void count_refusal(struct refusals *r, int32_t code) {
    r->n++;
    if (code >= 0 && (size_t)code < sizeof r->count / sizeof *r->count) r->count[code]++;
}

static enum nnv_status refuse(const struct refusals *r, struct nnv_err *err) {
    struct nnv_text t = {0};
    for (size_t i = 0; i < sizeof r->count / sizeof *r->count; i++)
        if (r->count[i])
            nnv_text_addf(&t, "%s%s (%u)", t.len ? ", " : "", nnv_op((int32_t)i) ? nnv_op((int32_t)i)->name : "unknown",
                          r->count[i]);
    enum nnv_status st =
        nnv_fail(err, NNV_UNSUPPORTED, "%u operation%s no Relay form as %s used here: %s", r->n,
                 r->n == 1 ? " has" : "s have", r->n == 1 ? "it is" : "they are", t.data && !t.failed ? t.data : "");
    nnv_text_free(&t);
    return st;
}

/* A refused operation's outputs are variables, so that all that is refused can be named at once. */
static enum nnv_status decompile_operations(struct nnv_decompiler *l, struct nnv_err *err) {
    struct refusals refusals = {{0}, 0};
    for (uint32_t i = 0; i < l->s->noperations && !l->failed; i++) {
        l->op = &l->s->operations[i];
        const struct nnv_decompile_row *row = row_of(l->op->type);
        l->refused = row == NULL;
        l->name = row ? row->name : NULL;
        if (row) row->write(l);
        if (!l->refused) continue;
        count_refusal(&refusals, l->op->type);
        l->refused = false;
        for (uint32_t k = 0; k < l->op->nout; k++)
            nnv_decompile_put(l, k, nnv_relay_var(l->m, "refused", nnv_decompile_type(l, l->op->out[k])));
    }
    if (l->failed) return nnv_no_memory(err);
    return refusals.n ? refuse(&refusals, err) : NNV_OK;
}

static enum nnv_status define_main(struct nnv_decompiler *l, struct nnv_relay_expr **params, struct nnv_err *err) {
    struct nnv_relay_expr **results = NNV_NEW(l->arena, struct nnv_relay_expr *, l->s->nout);
    if (!results) return nnv_no_memory(err);
    for (uint32_t i = 0; i < l->s->nout; i++) results[i] = l->values[l->s->out[i]];
    struct nnv_relay_expr *body = l->s->nout == 1 ? results[0] : nnv_relay_tuple(l->m, l->s->nout, results);
    struct nnv_relay_expr *main = body ? nnv_relay_fn(l->m, l->s->nin, params, NULL, body, 0, NULL) : NULL;
    if (!main || !nnv_relay_define(l->m, "main", main)) return nnv_no_memory(err);
    enum nnv_status st = nnv_relay_check(l->m, err);
    if (st != NNV_OK) return nnv_at(err, NNV_INTERNAL, "internal error: the program made of the model is wrong");
    return NNV_OK;
}

/* A name that Relay text can hold, each its own. */
static const char *param_name(struct nnv_decompiler *l, const char *name, uint32_t i) {
    char *kept = name && *name ? nnv_arena_strdup(l->arena, name) : nnv_arena_printf(l->arena, "x%u", i);
    for (char *p = kept; p && *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *p)) *p = '_';
    return kept && strchr("0123456789", *kept) ? nnv_arena_printf(l->arena, "x%u_%s", i, kept) : kept;
}

enum nnv_status nnv_decompile(const struct nnv_model *model, const char *const *names, struct nnv_arena *arena,
                              struct nnv_relay_module **m, struct nnv_err *err) {
    const struct nnv_subgraph *s = &model->main;
    struct nnv_decompiler l = {.arena = arena, .m = nnv_relay_module_new(arena), .s = s};
    struct nnv_shape *shapes = NNV_NEW(arena, struct nnv_shape, s->noperands);
    struct nnv_relay_expr **params = NNV_NEW(arena, struct nnv_relay_expr *, s->nin);
    l.values = NNV_NEW(arena, struct nnv_relay_expr *, s->noperands);
    if (!l.m || !shapes || !params || !l.values) return nnv_no_memory(err);
    enum nnv_status st = nnv_infer_shapes(model, arena, shapes, err);
    l.shapes = shapes;
    for (uint32_t i = 0; i < s->nin && st == NNV_OK; i++) {
        const struct nnv_relay_type *type = nnv_decompile_type(&l, s->in[i]);
        const char *name = param_name(&l, names ? names[i] : NULL, i);
        for (uint32_t k = 0; name && k < i; k++)
            if (strcmp(params[k]->name, name) == 0) name = nnv_arena_printf(arena, "%s_%u", name, i);
        if (l.refused)
            return nnv_fail(err, NNV_UNSUPPORTED, "input %u has a type or shape that Relay programs do not have", i);
        params[i] = type && name ? nnv_relay_var(l.m, name, type) : NULL;
        if (!params[i]) return nnv_no_memory(err);
        l.values[s->in[i]] = params[i];
    }
    if (st == NNV_OK) st = decompile_operations(&l, err);
    if (st == NNV_OK) st = define_main(&l, params, err);
    if (st == NNV_OK) *m = l.m;
    return st;
}
