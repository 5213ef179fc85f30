/* SPDX-License-Identifier: Apache-2.0 */
/* TVMScript: nodes that the reader makes, with their types. */
#include "compiler/relay/text/params.h"
#include "compiler/relay/text/relax.h"

struct nnv_relay_expr *nnv_relax_typed(struct nnv_relay_parser *p, struct nnv_relay_expr *e) {
    if (e == NULL) return NULL;
    const enum nnv_status st = nnv_relay_infer_one(p->m, e, p->err);
    if (st != NNV_OK) {
        p->st = st;
        return NULL;
    }
    if (e->type == NULL) e->type = e->declared;
    return e;
}

struct nnv_relay_expr *nnv_relax_make(struct nnv_relay_parser *p, const struct nnv_relay_span *span, const char *op,
                                      size_t n, struct nnv_relay_expr *const *args, size_t n_attrs,
                                      const struct nnv_relay_attr *attrs) {
    struct nnv_relay_expr *e = nnv_relay_call(p->m, nnv_relay_operator(p->m, op), n, args, n_attrs, attrs);
    return nnv_relax_typed(p, p->st == NNV_OK ? nnv_relay_placed(p, e, *span) : NULL);
}

struct nnv_relay_expr *nnv_relax_number(struct nnv_relay_parser *p, const struct nnv_relay_span *span,
                                        enum nnv_relay_dtype dtype, const struct nnv_relay_value *value) {
    const bool whole = value->kind == NNV_RELAY_INT || value->kind == NNV_RELAY_TRUTH;
    uint64_t bytes = 0;
    if (!whole && value->kind != NNV_RELAY_FLOAT) return nnv_relay_parse_fail(p, span, "expected a number");
    if (!nnv_relay_element(dtype, whole && !nnv_relay_dtype_is_float(dtype), value->i,
                           whole ? (double)value->i : value->f, &bytes))
        return nnv_relay_parse_fail(p, span, "the number does not fit in %s", nnv_relay_dtype_name(dtype));
    struct nnv_relay_expr *e = nnv_relay_scalar(p, dtype, &bytes, *span);
    if (e) e->type = e->tensor->type;
    return e;
}
