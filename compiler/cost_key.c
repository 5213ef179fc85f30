/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of calls by structure: nn.relu(float32[1,8])->float32[1,8]. */
#include <inttypes.h>

#include "compiler/cost.h"
#include "compiler/relay_ops.h"

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

/* What a composite does: its operators with their operands, %n: the nth operator of the list, #n: parameter n. */
static bool add_body(struct nnv_text *t, const struct nnv_relay_expr *composite) {
    struct nnv_arena *scratch = nnv_arena_new();
    struct nnv_relay_list list;
    bool ok = scratch && nnv_relay_post_order(composite->callee->args[0], NULL, NULL, scratch, &list) == NNV_OK;
    nnv_text_add(t, "{");
    for (size_t i = 0; ok && i < list.n; i++) {
        const struct nnv_relay_expr *e = list.exprs[i];
        if (e->kind == NNV_RELAY_OP || e->kind == NNV_RELAY_VAR || e->kind == NNV_RELAY_CONSTANT) continue;
        if (nnv_relay_op_name(e)) {
            nnv_text_addf(t, "%%%zu:%s", i, nnv_relay_op_name(e));
            add_attributes(t, e);
        } else {
            nnv_text_addf(t, "%%%zu:%s%" PRId64, i, e->kind == NNV_RELAY_GET ? "." : "tuple", e->index);
        }
        nnv_text_add(t, "(");
        for (size_t k = 0; k < e->n_args; k++) {
            size_t at = 0, param = 0;
            while (at < i && list.exprs[at] != e->args[k]) at++;
            while (param < composite->callee->n_params && composite->callee->params[param] != e->args[k]) param++;
            if (k) nnv_text_add(t, ",");
            if (param < composite->callee->n_params)
                nnv_text_addf(t, "#%zu", param);
            else if (e->args[k]->kind == NNV_RELAY_CONSTANT)
                add_type(t, nnv_cost_type(e->args[k]), 0);
            else
                nnv_text_addf(t, "%%%zu", at);
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
