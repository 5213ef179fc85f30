/* SPDX-License-Identifier: Apache-2.0 */
/* Support by trial: a call is converted by itself, and calls of equal structure share the answer. */
#include <string.h>

#include "base/map.h"
#include "compiler/nnapi/convert/convert.h"
#include "compiler/nnapi/convert/convert_in.h"

enum { WHOLE = 1 << 14 }; /* bytes of a constant up to which its values may matter */

struct nnv_convert_support {
    struct nnv_relay_module *m;
    struct nnv_convert_options options;
    struct nnv_arena *arena;
    struct nnv_map structures; /**< the reasons against them; NULL: supported */
    struct nnv_id_map calls;   /**< the same, by address */
    bool no_memory;            /**< a call was refused because memory ran out */
};

static const char *const targets[] = {"nnapi"};

static uint64_t mix(uint64_t h, const void *data, size_t n) {
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211u;
    return h;
}

/* ------------------------------------------------------------------ structure */

static void describe_value(struct nnv_text *t, const struct nnv_rc_value *v) {
    const struct nnv_relay_tensor *k = v->tensor;
    nnv_relay_type_print(v->type, t);
    if (!k) return;
    bool integers = k->type->dtype == NNV_RELAY_INT32 || k->type->dtype == NNV_RELAY_INT64;
    bool matters = k->data && (k->bytes <= WHOLE || integers);
    uint64_t a = matters ? mix(14695981039346656037u, k->data, k->bytes) : 0,
             b = matters ? mix(88172645463325252u, k->data, k->bytes) : 0;
    nnv_text_addf(t, "=%s%llx%llx", k->data ? "" : "?", (unsigned long long)a, (unsigned long long)b);
}

static void describe(struct nnv_text *t, const struct nnv_rc *c) {
    nnv_text_clear(t);
    for (uint32_t i = 0; i < c->n_values; i++) {
        describe_value(t, &c->values[i]);
        nnv_text_add(t, ";");
    }
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        const struct nnv_rc_node *n = &c->nodes[i];
        nnv_text_addf(t, "%s(", n->row->name);
        if (nnv_rc_flow(n->e->callee)) nnv_text_addf(t, "%p,", (const void *)n->e->callee); /* equals itself alone */
        for (size_t k = 0; k < n->e->n_args; k++) {
            for (uint32_t j = 0; j < n->args[k].n; j++) nnv_text_addf(t, "%u ", n->args[k].v[j]);
            nnv_text_add(t, ",");
        }
        for (size_t k = 0; k < n->e->n_attrs; k++) {
            nnv_text_addf(t, "%s=", n->e->attrs[k].key);
            nnv_relay_value_print(&n->e->attrs[k].value, t);
            nnv_text_add(t, ",");
        }
        nnv_text_add(t, ")");
    }
}

/* ---------------------------------------------------------------------- trial */

/* Operands as parameters, constants as they are; an operand that stands twice is one parameter. */
static struct nnv_rc_list *operands(struct nnv_rc *c, const struct nnv_relay_expr *call, struct nnv_rc_list *in) {
    struct nnv_rc_list *args = NNV_NEW(c->arena, struct nnv_rc_list, call->n_args);
    size_t n = 0;
    if (!args) nnv_rc_no_memory(c);
    for (size_t i = 0; i < call->n_args && nnv_rc_ok(c); i++) {
        const struct nnv_relay_expr *e = call->args[i];
        args[i] = nnv_rc_values(c, e->kind == NNV_RELAY_CONSTANT ? e->tensor->type : e->type, e);
        n += args[i].n;
        for (size_t k = 0; k < i && e->kind != NNV_RELAY_CONSTANT; k++)
            if (call->args[k] == e) args[i] = args[k];
    }
    if (!nnv_rc_ok(c)) return args;
    if (!(in->v = NNV_NEW(c->arena, uint32_t, n))) nnv_rc_no_memory(c);
    for (size_t i = 0; in->v && i < call->n_args; i++) {
        const struct nnv_relay_expr *e = call->args[i];
        bool again = false;
        for (size_t k = 0; k < i; k++) again = again || call->args[k] == e;
        for (uint32_t k = 0; k < args[i].n; k++) {
            const struct nnv_relay_expr *field = e->kind == NNV_RELAY_TUPLE && args[i].n == e->n_args ? e->args[k] : e;
            if (field->kind == NNV_RELAY_CONSTANT)
                c->values[args[i].v[k]].tensor = field->tensor;
            else if (!again)
                in->v[in->n++] = args[i].v[k];
        }
    }
    return args;
}

static const char *no_memory(struct nnv_convert_support *s) {
    s->no_memory = true;
    return NNV_OUT_OF_MEMORY;
}

/* The answer for a graph, from one of equal structure or by conversion. */
static const char *answer(struct nnv_convert_support *s, struct nnv_rc *c, const char *structure, struct nnv_rc_list in,
                          struct nnv_rc_list results) {
    struct nnv_converted converted;
    const uint32_t known = nnv_map_find(&s->structures, structure);
    if (known != NNV_MAP_NONE) return s->structures.value[known];
    nnv_rc_model(c, in, results, false, &converted);
    char *key = nnv_arena_strdup(s->arena, structure);
    char *reason = nnv_rc_ok(c) ? NULL : nnv_arena_strdup(s->arena, c->err->text);
    if (c->st == NNV_NO_MEMORY || !key || (!reason && !nnv_rc_ok(c)) || !nnv_map_put(&s->structures, key, reason))
        return no_memory(s);
    return reason;
}

/* The call alone as a flat graph. */
static void flatten(struct nnv_rc *c, const struct nnv_relay_expr *call, struct nnv_rc_list *in,
                    struct nnv_rc_list *results) {
    c->bare = true;
    struct nnv_rc_list *args = operands(c, call, in);
    if (nnv_rc_ok(c)) *results = nnv_rc_call(c, call, args);
}

enum nnv_status nnv_convert_call(const struct nnv_relay_module *m, const struct nnv_relay_expr *call,
                                 const struct nnv_convert_options *options, struct nnv_arena *arena,
                                 struct nnv_converted *out, struct nnv_err *err) {
    struct nnv_err own = {0};
    struct nnv_rc_list in = {0}, results = {0};
    struct nnv_arena *scratch = nnv_arena_new();
    if (!scratch) return nnv_no_memory(err);
    struct nnv_rc c = nnv_rc_begin(m, options->level, arena, scratch, err ? err : &own);
    *out = (struct nnv_converted){0};
    flatten(&c, call, &in, &results);
    if (nnv_rc_ok(&c)) nnv_rc_model(&c, in, results, options->relaxed, out);
    nnv_arena_free(scratch);
    return c.st;
}

/* The reason against a call, or NULL. */
static const char *try(struct nnv_convert_support *s, const struct nnv_relay_expr *call, struct nnv_arena *arena,
                       struct nnv_arena *scratch) {
    struct nnv_err err = {0};
    struct nnv_rc c = nnv_rc_begin(s->m, s->options.level, arena, scratch, &err);
    struct nnv_rc_list in = {0}, results = {0};
    flatten(&c, call, &in, &results);
    if (nnv_rc_ok(&c)) {
        struct nnv_text structure = {0};
        describe(&structure, &c);
        const char *reason = structure.failed ? no_memory(s) : answer(s, &c, structure.data, in, results);
        nnv_text_free(&structure);
        return reason;
    }
    const char *reason = c.st == NNV_NO_MEMORY ? NULL : nnv_arena_strdup(s->arena, err.text);
    return reason ? reason : no_memory(s);
}

/* The same with arenas of its own. */
static const char *reason_against(struct nnv_convert_support *s, const struct nnv_relay_expr *call) {
    struct nnv_arena *arena = nnv_arena_new(), *scratch = nnv_arena_new();
    const char *reason = arena && scratch ? try(s, call, arena, scratch) : no_memory(s);
    nnv_arena_free(arena);
    nnv_arena_free(scratch);
    return reason;
}

static bool accepts(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    struct nnv_convert_support *s = ctx;
    (void)target;
    const uint32_t known = nnv_id_find(&s->calls, nnv_id(call));
    if (known != NNV_MAP_NONE) return !s->calls.item[known].value;
    const char *reason = reason_against(s, call);
    s->no_memory = !nnv_id_put(&s->calls, nnv_id(call), (void *)(uintptr_t)reason) || s->no_memory;
    return !reason;
}

/* ------------------------------------------------------------------- composites */

enum nnv_status nnv_convert_dissolve(struct nnv_convert_support *s, struct nnv_err *err) {
    struct nnv_arena *scratch = nnv_arena_new();
    bool ok = scratch != NULL;
    for (size_t f = 0; ok && f < s->m->n_functions; f++) {
        struct nnv_relay_expr *function = s->m->functions[f].expr;
        struct nnv_relay_list list = {0};
        if (function->kind != NNV_RELAY_FUNCTION || nnv_scope_closed(function)) continue;
        nnv_arena_reset(scratch);
        ok = nnv_relay_post_order(function, NULL, NULL, scratch, &list) == NNV_OK;
        for (size_t i = 0; ok && i < list.n; i++) {
            const char *name = nnv_composite_name(list.exprs[i]);
            if (name && strncmp(name, "nnapi.", 6) == 0 && reason_against(s, list.exprs[i]))
                ok = nnv_composite_dissolve(list.exprs[i], scratch);
        }
    }
    nnv_arena_free(scratch);
    return ok ? nnv_convert_asked(s, err) : nnv_no_memory(err);
}

enum nnv_status nnv_convert_asked(const struct nnv_convert_support *s, struct nnv_err *err) {
    return s->no_memory ? nnv_no_memory(err) : NNV_OK;
}

struct nnv_convert_support *nnv_convert_support_new(struct nnv_relay_module *m,
                                                    const struct nnv_convert_options *options,
                                                    struct nnv_arena *arena) {
    struct nnv_convert_support *s = NNV_NEW(arena, struct nnv_convert_support, 1);
    if (s)
        *s = (struct nnv_convert_support){
            .m = m, .options = *options, .arena = arena, .structures.arena = arena, .calls.arena = arena};
    return s;
}

struct nnv_annotator nnv_convert_annotator(struct nnv_convert_support *s) {
    return (struct nnv_annotator){
        .targets = targets, .n_targets = 1, .accepts = accepts, .accepts_composite = accepts, .ctx = s};
}

const char *nnv_convert_refusal(const struct nnv_convert_support *s, const struct nnv_relay_expr *call) {
    return nnv_id_get(&s->calls, nnv_id(call));
}
