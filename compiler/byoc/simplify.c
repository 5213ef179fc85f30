/* SPDX-License-Identifier: Apache-2.0 */
/* What can be left out of a program before it is divided: operators without effect, and what constants alone decide. */
#include <string.h>

#include "compiler/byoc/byoc.h"
#include "compiler/relay/interp/interp.h"
#include "compiler/relay/ops/ops.h"

static const size_t LARGEST = (size_t)1 << 26; /* bytes of a constant that is worked out */

/** Operators whose result is operand 0: always, or if it is of operand 0's type (reductions: of one element). */
static const struct {
    const char *op;
    bool same_type;
} idle[] = {
    {"all", true},
    {"annotation.cast_hint", false},
    {"annotation.compiler_begin", false},
    {"annotation.compiler_end", false},
    {"annotation.stop_fusion", false},
    {"any", true},
    {"broadcast_to", true},
    {"cast", true},
    {"copy", false},
    {"device_copy", false},
    {"max", true},
    {"mean", true},
    {"min", true},
    {"nn.batch_flatten", true},
    {"on_device", false},
    {"prod", true},
    {"reshape", true},
    {"squeeze", true},
    {"sum", true},
};

static bool is_idle(const struct nnv_relay_expr *e) {
    const char *name = nnv_relay_op_name(e);
    for (size_t i = 0; name && e->n_args && i < sizeof idle / sizeof *idle; i++)
        if (strcmp(idle[i].op, name) == 0)
            return !idle[i].same_type || (e->type && nnv_relay_type_known(e->type) && e->args[0]->type &&
                                          nnv_relay_type_equal(e->type, e->args[0]->type));
    return false;
}

/* ------------------------------------------------------------------- constants */

static bool is_known(const struct nnv_relay_expr *e) {
    if (e->kind == NNV_RELAY_CONSTANT) return e->tensor->data && e->tensor->type;
    bool known = e->kind == NNV_RELAY_TUPLE;
    for (size_t i = 0; known && i < e->n_args; i++)
        known = e->args[i]->kind == NNV_RELAY_CONSTANT && is_known(e->args[i]);
    return known;
}

/* Quantised layers are recognised by the qnn operators on their constants, so those stay. */
static bool is_foldable(const struct nnv_relay_expr *e) {
    const char *name = nnv_relay_op_name(e);
    const struct nnv_relay_op_row *row = name && strncmp(name, "qnn.", 4) != 0 ? nnv_relay_op(name) : NULL;
    size_t elems, bytes;
    bool can = row && row->run && e->type && e->type->kind == NNV_RELAY_TENSOR &&
               nnv_relay_type_elems(e->type, &elems, &bytes) && bytes <= LARGEST;
    for (size_t i = 0; can && i < e->n_args; i++) can = is_known(e->args[i]);
    return can;
}

static struct nnv_relay_expr *copied(struct nnv_relay_module *to, const struct nnv_relay_expr *e) {
    if (e->kind == NNV_RELAY_CONSTANT) return nnv_relay_constant(to, e->tensor);
    struct nnv_relay_expr **args = NNV_NEW(to->arena, struct nnv_relay_expr *, e->n_args);
    for (size_t i = 0; args && i < e->n_args; i++) args[i] = copied(to, e->args[i]);
    if (!args) return NULL;
    return e->kind == NNV_RELAY_TUPLE
               ? nnv_relay_tuple(to, e->n_args, args)
               : nnv_relay_call(to, nnv_relay_operator(to, e->callee->name), e->n_args, args, e->n_attrs, e->attrs);
}

/* The value of a call of constants, from a program of its own; NULL if it has none (an index out of range). */
static const struct nnv_relay_datum *value_of(const struct nnv_relay_expr *e, struct nnv_arena *scratch) {
    struct nnv_relay_module *m = nnv_relay_module_new(scratch);
    struct nnv_relay_datum *result = NULL;
    struct nnv_err ignored = {0};
    struct nnv_relay_expr *main = m ? nnv_relay_fn(m, 0, NULL, NULL, copied(m, e), 0, NULL) : NULL;
    if (!main || !nnv_relay_define(m, "main", main) || nnv_relay_check(m, &ignored) != NNV_OK) return NULL;
    return nnv_relay_run(m, "main", NULL, 0, NULL, scratch, &result, &ignored) == NNV_OK ? result : NULL;
}

/* The constant that stands for e: e itself if its value can't be told, NULL when out of memory. */
static struct nnv_relay_expr *folded(struct nnv_relay_module *m, struct nnv_relay_expr *e, struct nnv_arena *scratch) {
    size_t elems, bytes;
    nnv_arena_reset(scratch);
    const struct nnv_relay_datum *v = value_of(e, scratch);
    if (!v || !nnv_relay_type_equal(v->type, e->type) || !nnv_relay_type_elems(e->type, &elems, &bytes)) return e;
    struct nnv_relay_tensor *t = NNV_NEW(m->arena, struct nnv_relay_tensor, 1);
    void *data = nnv_arena_alloc(m->arena, bytes ? bytes : 1, 1);
    if (!t || !data) return NULL;
    nnv_relay_datum_write(v, data);
    *t = (struct nnv_relay_tensor){.type = e->type, .data = data, .bytes = bytes};
    struct nnv_relay_expr *k = nnv_relay_constant(m, t);
    if (k) k->type = e->type;
    return k;
}

/* --------------------------------------------------------------------- rewriting */

static struct nnv_relay_expr *simpler(void *ctx, struct nnv_relay_module *m, struct nnv_relay_expr *old,
                                      struct nnv_relay_expr *now) {
    (void)old;
    if (is_idle(now)) return now->args[0];
    if (now->kind == NNV_RELAY_GET && now->index == 0 && nnv_relay_is_op(now->args[0], "nn.dropout"))
        return now->args[0]->args[0];
    return is_foldable(now) ? folded(m, now, ctx) : now;
}

enum nnv_status nnv_simplify(struct nnv_relay_module *m, struct nnv_err *err) {
    struct nnv_arena *scratch = nnv_arena_new();
    enum nnv_status s = scratch ? NNV_OK : nnv_no_memory(err);
    for (size_t f = 0; s == NNV_OK && f < m->n_functions; f++) {
        struct nnv_relay_expr *function = m->functions[f].expr, *now = function;
        if (function->kind != NNV_RELAY_FUNCTION || nnv_scope_closed(function)) continue;
        s = nnv_graph_form(m, function, err);
        if (s == NNV_OK) s = nnv_relay_rewrite(m, function, simpler, scratch, &now, err);
        m->functions[f].expr = now;
    }
    nnv_arena_free(scratch);
    return s == NNV_OK ? nnv_relay_infer(m, err) : s;
}
