/* SPDX-License-Identifier: Apache-2.0 */
/* Composites that are not wanted after all become calls of their operators. */
#include "compiler/compile.h"

struct dissolving {
    nnv_keep_fn *keeps;
    void *ctx;
    struct nnv_err *err;
    size_t n;
};

/** The call whose composite's body is copied. */
struct substitution {
    const struct nnv_relay_expr *call;
};

static struct nnv_relay_expr *substitute(void *ctx, struct nnv_relay_module *m, struct nnv_relay_expr *old,
                                         struct nnv_relay_expr *now) {
    const struct nnv_relay_expr *call = ((const struct substitution *)ctx)->call, *function = call->callee;
    (void)m;
    for (size_t i = 0; old->kind == NNV_RELAY_VAR && i < function->n_params; i++)
        if (function->params[i] == old) return call->args[i];
    return now;
}

static struct nnv_relay_expr *replace(void *ctx, struct nnv_relay_module *m, struct nnv_relay_expr *old,
                                      struct nnv_relay_expr *now) {
    struct dissolving *d = ctx;
    struct nnv_relay_expr *body = NULL;
    if (!nnv_composite_name(old) || d->keeps(d->ctx, old)) return now;
    struct substitution s = {.call = now};
    d->n++;
    if (nnv_relay_rewrite(m, now->callee->args[0], substitute, &s, &body, d->err) != NNV_OK) return NULL;
    return body;
}

enum nnv_status nnv_composites_dissolve(struct nnv_relay_module *m, nnv_keep_fn *keeps, void *ctx, size_t *dissolved,
                                        struct nnv_err *err) {
    struct dissolving d = {.keeps = keeps, .ctx = ctx, .err = err};
    for (size_t f = 0; f < m->n_functions; f++) {
        struct nnv_relay_expr *made = NULL;
        enum nnv_status st = nnv_relay_rewrite(m, m->functions[f].expr, replace, &d, &made, err);
        if (st != NNV_OK) return st;
        m->functions[f].expr = made;
    }
    *dissolved = d.n;
    return NNV_OK;
}
