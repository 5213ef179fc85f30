/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of calls by structure: nn.relu(float32[1,8])->float32[1,8]. */
#include <inttypes.h>

#include "base/map.h"
#include "base/sha256.h"

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

/* What an expression of a composite's body is called, but for calls of operators; NULL: it is not written down. */
static const char *step_name(const struct nnv_relay_expr *e) {
    static const char *const names[] = {
        [NNV_RELAY_GLOBAL] = "global", [NNV_RELAY_CALL] = "call", [NNV_RELAY_LET] = "let",    [NNV_RELAY_IF] = "if",
        [NNV_RELAY_TUPLE] = "tuple",   [NNV_RELAY_GET] = "get",   [NNV_RELAY_FUNCTION] = "fn"};
    return (size_t)e->kind < sizeof names / sizeof *names ? names[e->kind] : NULL;
}

/* #n: parameter n of the composite; %n: its nth step; a loop's variable by its name; or a constant's type. */
static void add_operand(struct nnv_text *t, const struct nnv_relay_expr *composite, const struct nnv_relay_list *list,
                        const struct nnv_relay_expr *e) {
    size_t param = 0, step = 0;
    while (param < composite->callee->n_params && composite->callee->params[param] != e) param++;
    for (size_t i = 0; i < list->n && list->exprs[i] != e; i++) step += step_name(list->exprs[i]) != NULL;
    if (param < composite->callee->n_params)
        nnv_text_addf(t, "#%zu", param);
    else if (e->kind == NNV_RELAY_CONSTANT)
        add_type(t, nnv_cost_type(e), 0);
    else if (e->kind == NNV_RELAY_VAR)
        nnv_text_add(t, e->name);
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
        if (!step_name(e)) continue;
        nnv_text_add(t, before);
        before = ";";
        if (nnv_relay_op_name(e)) {
            nnv_text_add(t, nnv_relay_op_name(e));
            add_attributes(t, e);
        } else {
            nnv_text_add(t, step_name(e));
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

/* Where an operand comes from: an operation of the region by its number, or from outside. */
static void add_source(struct nnv_text *t, const struct nnv_id_map *places, const struct nnv_relay_expr *e,
                       int nesting) {
    const uint32_t at = nnv_id_find(places, nnv_id(e));
    if (at != NNV_MAP_NONE) {
        nnv_text_addf(t, "%%%u", at);
    } else if (e->kind == NNV_RELAY_GET && nesting < MOST_NESTING) {
        add_source(t, places, e->args[0], nesting + 1);
        nnv_text_addf(t, ".%" PRId64, e->index);
    } else if (e->kind == NNV_RELAY_TUPLE && nesting < MOST_NESTING) {
        nnv_text_add(t, "(");
        for (size_t i = 0; i < e->n_args; i++) add_source(t, places, e->args[i], nesting + 1);
        nnv_text_add(t, ")");
    } else {
        nnv_text_add(t, e->kind == NNV_RELAY_CONSTANT ? "!" : "#");
    }
}

const char *nnv_cost_region_key(struct nnv_relay_expr *const *ops, size_t n, struct nnv_arena *arena) {
    struct nnv_arena *scratch = nnv_arena_new();
    struct nnv_id_map places = {.arena = scratch};
    struct nnv_text t = {0};
    struct nnv_sha256 h;
    uint8_t hash[NNV_SHA256_BYTES];
    bool ok = scratch != NULL;
    for (size_t i = 0; ok && i < n; i++) ok = nnv_id_add(&places, nnv_id(ops[i])) == (uint32_t)i;
    nnv_sha256_begin(&h);
    for (size_t i = 0; ok && i < n; i++) {
        nnv_text_clear(&t);
        const char *key = nnv_cost_key(ops[i], scratch);
        if (!(ok = key != NULL)) break;
        nnv_text_add(&t, key);
        for (size_t k = 0; k < ops[i]->n_args; k++) add_source(&t, &places, ops[i]->args[k], 0);
        ok = !t.failed;
        if (ok) nnv_sha256_add(&h, t.data, t.len);
    }
    nnv_sha256_end(&h, hash);
    nnv_text_clear(&t);
    nnv_text_addf(&t, "%zu operations, ", n);
    for (size_t i = 0; i < 16; i++) nnv_text_addf(&t, "%02x", hash[i]);
    const char *key = ok && !t.failed ? nnv_arena_strdup(arena, t.data) : NULL;
    nnv_text_free(&t);
    nnv_arena_free(scratch);
    return key;
}
