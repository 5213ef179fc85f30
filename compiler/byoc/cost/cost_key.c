/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of calls by structure: nn.relu(float32[1,8])->float32[1,8]. */
#include <inttypes.h>

#include "compiler/byoc/cost/cost.h"
#include "compiler/relay/ops/ops.h"

enum { MOST_NESTING = 64 };

static void add_type(struct nnv_text *t, const struct nnv_relay_type *type, int nesting) {
    if (!type || nesting == MOST_NESTING) {
        nnv_text_add(t, "?");
    } else if (type->kind == NNV_RELAY_TUPLE_TYPE) {
        nnv_text_add(t, "(");
        for (size_t i = 0; i < type->n_fields; i++) {
            if (i) nnv_text_add(t, ",");
            add_type(t, type->fields[i], nesting + 1);
        }
        nnv_text_add(t, ")");
    } else if (type->kind == NNV_RELAY_TENSOR) {
        nnv_text_addf(t, "%s[", nnv_relay_dtype_name(type->dtype));
        for (size_t i = 0; i < type->n_dims; i++) nnv_text_addf(t, "%s%" PRId64, i ? "," : "", type->dims[i]);
        nnv_text_add(t, "]");
    } else {
        nnv_text_add(t, "?");
    }
}

/* The attributes that differ from the operator's defaults, in the order of its row. */
static void add_attributes(struct nnv_text *t, const struct nnv_relay_expr *call) {
    const struct nnv_relay_op_row *row = nnv_relay_op(nnv_relay_op_name(call));
    const char *before = "{";
    for (size_t i = 0; row && i < NNV_RELAY_MOST_ATTRS && row->attrs[i].key; i++) {
        const struct nnv_relay_value *v = nnv_relay_written(call, row->attrs[i].key), *usual = row->attrs[i].otherwise;
        if (!v || (usual && nnv_relay_value_equal(v, usual))) continue;
        nnv_text_addf(t, "%s%s=", before, row->attrs[i].key);
        nnv_relay_value_print(v, t);
        before = ",";
    }
    if (*before == ',') nnv_text_add(t, "}");
}

/* Whether an expression of a composite's body is written down: calls, tuples, projections. */
static bool is_step(const struct nnv_relay_expr *e) {
    return e->kind != NNV_RELAY_OP && e->kind != NNV_RELAY_VAR && e->kind != NNV_RELAY_CONSTANT;
}

/* #n: parameter n of the composite; %n: its nth step; or a constant's type. */
static void add_operand(struct nnv_text *t, const struct nnv_relay_expr *composite, const struct nnv_relay_list *list,
                        const struct nnv_relay_expr *e) {
    size_t param = 0, step = 0;
    while (param < composite->callee->n_params && composite->callee->params[param] != e) param++;
    for (size_t i = 0; i < list->n && list->exprs[i] != e; i++) step += is_step(list->exprs[i]);
    if (param < composite->callee->n_params)
        nnv_text_addf(t, "#%zu", param);
    else if (e->kind == NNV_RELAY_CONSTANT)
        add_type(t, nnv_cost_type(e), 0);
    else
        nnv_text_addf(t, "%%%zu", step);
}

/* What a composite does: its steps in evaluation order, from %0 on. */
static bool add_body(struct nnv_text *t, const struct nnv_relay_expr *composite) {
    struct nnv_arena *scratch = nnv_arena_new();
    struct nnv_relay_list list = {0};
    bool ok = scratch && nnv_relay_post_order(composite->callee->args[0], NULL, NULL, scratch, &list) == NNV_OK;
    nnv_text_add(t, "{");
    const char *before = "";
    for (size_t i = 0; ok && i < list.n; i++) {
        const struct nnv_relay_expr *e = list.exprs[i];
        if (!is_step(e)) continue;
        nnv_text_add(t, before);
        before = ";";
        if (nnv_relay_op_name(e)) {
            nnv_text_add(t, nnv_relay_op_name(e));
            add_attributes(t, e);
        } else {
            nnv_text_add(t, e->kind == NNV_RELAY_GET ? "get" : "tuple");
            if (e->kind == NNV_RELAY_GET) nnv_text_addf(t, "%" PRId64, e->index);
        }
        nnv_text_add(t, "(");
        for (size_t k = 0; k < e->n_args; k++) {
            if (k) nnv_text_add(t, ",");
            add_operand(t, composite, &list, e->args[k]);
        }
        nnv_text_add(t, ")");
    }
    nnv_text_add(t, "}");
    nnv_arena_free(scratch);
    return ok;
}

const char *nnv_cost_key(const struct nnv_relay_expr *call, struct nnv_arena *arena) {
    struct nnv_text t = {0};
    const char *composite = nnv_composite_name(call), *op = nnv_relay_op_name(call);
    bool ok = true;
    nnv_text_add(&t, composite ? composite : op ? op : "?");
    if (composite)
        ok = add_body(&t, call);
    else if (op)
        add_attributes(&t, call);
    nnv_text_add(&t, "(");
    for (size_t i = 0; i < call->n_args; i++) {
        if (i) nnv_text_add(&t, ",");
        add_type(&t, nnv_cost_type(call->args[i]), 0);
        if (call->args[i]->kind == NNV_RELAY_CONSTANT) nnv_text_add(&t, "!");
    }
    nnv_text_add(&t, ")->");
    add_type(&t, nnv_cost_type(call), 0);
    const char *key = ok && !t.failed ? nnv_arena_strdup(arena, t.data) : NULL;
    nnv_text_free(&t);
    return key;
}
