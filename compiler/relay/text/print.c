/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing modules. Every node that is no leaf gets a number of its own, bound in the innermost block that holds all
 * its uses, so that shared nodes stay shared and no binding stands in a block that is left before its last use.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/type.h"
#include "compiler/relay/text/params.h"
#include "compiler/relay/text/literal.h"
#include "compiler/relay/text/print.h"

bool nnv_print_is_leaf(const struct nnv_relay_expr *e) {
    return e->kind == NNV_RELAY_VAR || e->kind == NNV_RELAY_GLOBAL || e->kind == NNV_RELAY_OP ||
           e->kind == NNV_RELAY_CONSTANT;
}

/* ------------------------------------------------------------------- places */

static struct nnv_print_block *common(struct nnv_print_block *a, struct nnv_print_block *b) {
    while (a != b) {
        if (a->depth >= b->depth)
            a = a->parent;
        else
            b = b->parent;
    }
    return a;
}

static struct nnv_print_block *open_block(struct nnv_printer *p, struct nnv_print_block *parent,
                                          struct nnv_relay_expr *result) {
    struct nnv_print_block *b = NNV_NEW(p->arena, struct nnv_print_block, 1);
    if (b == NULL) return NULL;
    b->parent = parent;
    b->depth = parent ? parent->depth + 1 : 0;
    b->result = result;
    return b;
}

static void use(struct nnv_printer *p, const struct nnv_relay_expr *e, struct nnv_print_block *in) {
    struct nnv_print_place *at = &p->places[e->id];
    at->home = at->uses++ ? common(at->home, in) : in;
}

/* Tells the operands of e, whose own home is known, where they are used. */
static bool use_operands(struct nnv_printer *p, const struct nnv_relay_expr *e) {
    struct nnv_print_place *at = &p->places[e->id];
    size_t outer = e->kind == NNV_RELAY_FUNCTION                         ? 0
                   : e->kind == NNV_RELAY_LET || e->kind == NNV_RELAY_IF ? 1
                                                                         : e->n_args;
    if (e->callee) use(p, e->callee, at->home);
    for (size_t i = 0; i < e->n_args; i++) {
        struct nnv_print_block *in = at->home;
        if (i >= outer) {
            in = at->inner[i - outer] = open_block(p, at->home, e->args[i]);
            if (in == NULL) return false;
        }
        use(p, e->args[i], in);
    }
    return true;
}

/* A let's value is written in place: a function must see its own name. */
static void mark_let_values(struct nnv_printer *p, const struct nnv_relay_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        const struct nnv_relay_expr *e = list->exprs[i];
        if (e->kind == NNV_RELAY_LET && p->places[e->args[0]->id].uses == 1) p->places[e->args[0]->id].uses = 0;
    }
}

/* True if the node is written where its only use is, without a binding. */
static bool in_place(const struct nnv_printer *p, const struct nnv_relay_expr *e) {
    const struct nnv_print_place *at = &p->places[e->id];
    return nnv_print_is_leaf(e) || at->uses == 0 || at->home->result == e;
}

/* The nodes that each block binds, in evaluation order. */
static bool fill_blocks(struct nnv_printer *p, const struct nnv_relay_list *list) {
    for (size_t i = 0; i < list->n; i++)
        if (!in_place(p, list->exprs[i])) p->places[list->exprs[i]->id].home->cap++;
    for (size_t i = 0; i < list->n; i++) {
        struct nnv_relay_expr *e = list->exprs[i];
        if (in_place(p, e)) continue;
        struct nnv_print_block *b = p->places[e->id].home;
        if (b->nodes == NULL) b->nodes = NNV_NEW(p->arena, struct nnv_relay_expr *, b->cap);
        if (b->nodes == NULL) return false;
        b->nodes[b->n++] = e;
    }
    return true;
}

/* -------------------------------------------------------------------- names */

static bool is_word(const char *const *words, const char *name) {
    while (words && *words && strcmp(*words, name) != 0) words++;
    return words && *words;
}

/* A name that reads back as one token: where there are words that no name may be, as one of Python. */
static char *legal_name(struct nnv_printer *p, const char *name) {
    if (p->words) {
        const bool digit = *name >= '0' && *name <= '9';
        char *s =
            nnv_arena_printf(p->arena, "%s%s%s", digit || !*name ? "v" : "", name, is_word(p->words, name) ? "_" : "");
        for (char *c = s; c && *c; c++)
            if (!isalnum((unsigned char)*c)) *c = '_';
        return s;
    }
    char *s = nnv_arena_printf(p->arena, "%s%s", *name >= '0' && *name <= '9' ? "v" : "", *name ? name : "v");
    for (char *c = s; c && *c; c++) {
        bool ends = *c == ':' && (c[1] == '\0' || strchr("(,)=T", c[1]));
        if ((unsigned char)*c <= ' ' || strchr(",()=;{}[]\"%@*", *c) || ends) *c = '_';
    }
    return s;
}

const char *nnv_print_name(struct nnv_printer *p, const char *hint) {
    char *base = legal_name(p, hint), *name = base;
    struct nnv_relay_expr *first = base ? nnv_relay_operator(p->taken, base) : NULL, *mine = first;
    while (mine && mine->index) {
        name = nnv_arena_printf(p->arena, "%s_%" PRId64, base, first->index++);
        mine = name ? nnv_relay_operator(p->taken, name) : NULL;
    }
    if (mine == NULL) return NULL;
    mine->index = 1;
    return name;
}

static bool name_var(struct nnv_printer *p, const struct nnv_relay_expr *v) {
    struct nnv_print_place *at = &p->places[v->id];
    if (at->name) return true;
    at->name = nnv_print_name(p, v->name);
    p->dotted = p->dotted || (at->name && strchr(at->name, '.') != NULL);
    return at->name != NULL;
}

static bool name_vars(struct nnv_printer *p, const struct nnv_relay_expr *f, const struct nnv_relay_list *list) {
    for (size_t i = 0; i < f->n_params; i++)
        if (!name_var(p, f->params[i])) return false;
    for (size_t i = 0; i < list->n; i++) {
        const struct nnv_relay_expr *e = list->exprs[i];
        if (e->kind == NNV_RELAY_VAR && !name_var(p, e)) return false;
        if (e->kind == NNV_RELAY_LET && !name_var(p, e->var)) return false;
        for (size_t k = 0; k < e->n_params; k++)
            if (!name_var(p, e->params[k])) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- constants */

static void print_constant(struct nnv_printer *p, const struct nnv_relay_expr *e) {
    if (nnv_relay_is_literal(e->tensor)) {
        nnv_relay_print_literal(e->tensor, p->out);
        return;
    }
    nnv_text_addf(p->out, "meta[relay.Constant][%" PRId64 "]", p->constant_number[e->id] - 1);
    if (e->tensor->type == NULL) return;
    nnv_text_add(p->out, " /* ty=");
    nnv_relay_type_print(e->tensor->type, p->out);
    nnv_text_add(p->out, " */");
}

/* -------------------------------------------------------------- expressions */

static void indent(struct nnv_printer *p, int depth) {
    for (int i = 0; i < depth; i++) nnv_text_add(p->out, "  ");
}

/* An operand: a leaf, or the number of its binding. */
static void print_operand(struct nnv_printer *p, const struct nnv_relay_expr *e) {
    switch (e->kind) {
    case NNV_RELAY_VAR:
        nnv_text_addf(p->out, "%%%s", p->places[e->id].name);
        break;
    case NNV_RELAY_GLOBAL:
        nnv_text_addf(p->out, "@%s", e->name);
        break;
    case NNV_RELAY_OP:
        nnv_text_add(p->out, e->name);
        break;
    case NNV_RELAY_CONSTANT:
        print_constant(p, e);
        break;
    case NNV_RELAY_CALL:
    case NNV_RELAY_LET:
    case NNV_RELAY_IF:
    case NNV_RELAY_TUPLE:
    case NNV_RELAY_GET:
    case NNV_RELAY_FUNCTION:
        nnv_text_addf(p->out, "%%%" PRIu64, p->places[e->id].number - 1);
        break;
    }
}

static void print_attrs(struct nnv_printer *p, const struct nnv_relay_expr *e, bool comma) {
    for (size_t i = 0; i < e->n_attrs; i++) {
        nnv_text_addf(p->out, "%s%s=", comma ? ", " : "", e->attrs[i].key);
        nnv_relay_value_print(&e->attrs[i].value, p->out);
        comma = true;
    }
}

static void print_block(struct nnv_printer *p, const struct nnv_print_block *b, int depth);

static void print_braces(struct nnv_printer *p, const struct nnv_print_block *b, int depth) {
    nnv_text_add(p->out, "{\n");
    print_block(p, b, depth + 1);
    indent(p, depth);
    nnv_text_add(p->out, "}");
}

static void print_declared(struct nnv_printer *p, const struct nnv_relay_expr *v) {
    nnv_text_addf(p->out, "%%%s", p->places[v->id].name);
    if (v->declared == NULL) return;
    nnv_text_add(p->out, ": ");
    nnv_relay_type_print(v->declared, p->out);
}

/* (params, attrs) -> type {body} */
static void print_function(struct nnv_printer *p, const struct nnv_relay_expr *f, const struct nnv_print_block *body,
                           int depth) {
    nnv_text_add(p->out, "(");
    for (size_t i = 0; i < f->n_params; i++) {
        if (i) nnv_text_add(p->out, ", ");
        print_declared(p, f->params[i]);
    }
    print_attrs(p, f, f->n_params > 0);
    nnv_text_add(p->out, ") ");
    if (f->declared) {
        nnv_text_add(p->out, "-> ");
        nnv_relay_type_print(f->declared, p->out);
        nnv_text_add(p->out, " ");
    }
    print_braces(p, body, depth);
}

static void print_operands(struct nnv_printer *p, const struct nnv_relay_expr *e) {
    nnv_text_add(p->out, "(");
    for (size_t i = 0; i < e->n_args; i++) {
        if (i) nnv_text_add(p->out, ", ");
        print_operand(p, e->args[i]);
    }
    if (e->kind == NNV_RELAY_TUPLE && e->n_args == 1) nnv_text_add(p->out, ",");
    print_attrs(p, e, e->n_args > 0);
    nnv_text_add(p->out, ")");
}

/* The node itself, its operands being leaves or numbers. */
static void print_node(struct nnv_printer *p, const struct nnv_relay_expr *e, int depth) {
    struct nnv_print_place *at = &p->places[e->id];
    bool numeral = e->n_args && e->args[0]->kind == NNV_RELAY_CONSTANT; /* 5.0 would be one */
    bool group = e->kind == NNV_RELAY_GET && (numeral || (e->args[0]->kind == NNV_RELAY_VAR && p->dotted));
    switch (e->kind) {
    case NNV_RELAY_VAR:
    case NNV_RELAY_GLOBAL:
    case NNV_RELAY_OP:
    case NNV_RELAY_CONSTANT:
        print_operand(p, e);
        return;
    case NNV_RELAY_CALL:
        print_operand(p, e->callee);
        print_operands(p, e);
        break;
    case NNV_RELAY_TUPLE:
        print_operands(p, e);
        break;
    case NNV_RELAY_GET:
        if (group) nnv_text_add(p->out, "(");
        print_operand(p, e->args[0]);
        nnv_text_addf(p->out, "%s.%" PRId64, group ? ")" : "", e->index);
        break;
    case NNV_RELAY_IF:
        nnv_text_add(p->out, "if (");
        print_operand(p, e->args[0]);
        nnv_text_add(p->out, ") ");
        print_braces(p, at->inner[0], depth);
        nnv_text_add(p->out, " else ");
        print_braces(p, at->inner[1], depth);
        break;
    case NNV_RELAY_FUNCTION:
        nnv_text_add(p->out, "fn ");
        print_function(p, e, at->inner[0], depth);
        break;
    case NNV_RELAY_LET: { /* as an operand: a block of its own */
        struct nnv_print_block alone = {.result = (struct nnv_relay_expr *)(uintptr_t)e};
        uint64_t number = at->number;
        at->number = 0; /* within it, the let is no operand */
        print_braces(p, &alone, depth);
        at->number = number;
        break;
    }
    }
    const struct nnv_relay_type *type = (p->flags & NNV_RELAY_PRINT_TYPES) && e->type ? e->type : e->declared;
    if (type == NULL || e->kind == NNV_RELAY_FUNCTION || e->kind == NNV_RELAY_LET) return;
    nnv_text_add(p->out, " /* ty=");
    nnv_relay_type_print(type, p->out);
    nnv_text_add(p->out, " */");
}

/* Bindings, lets, the result. What follows a let is a block too, printed by the same loop: lets may be many. */
static void print_block(struct nnv_printer *p, const struct nnv_print_block *b, int depth) {
    for (;;) {
        for (size_t i = 0; i < b->n; i++) {
            struct nnv_print_place *at = &p->places[b->nodes[i]->id];
            at->number = ++p->next;
            indent(p, depth);
            nnv_text_addf(p->out, "%%%" PRIu64 " = ", at->number - 1);
            print_node(p, b->nodes[i], depth);
            nnv_text_add(p->out, ";\n");
        }
        const struct nnv_relay_expr *e = b->result;
        bool here = e->kind == NNV_RELAY_LET && p->places[e->id].number == 0;
        indent(p, depth);
        if (!here) {
            if (p->places[e->id].number)
                print_operand(p, e);
            else
                print_node(p, e, depth);
            nnv_text_add(p->out, "\n");
            return;
        }
        nnv_text_add(p->out, "let ");
        print_declared(p, e->var);
        nnv_text_add(p->out, " = ");
        if (p->places[e->args[0]->id].number)
            print_operand(p, e->args[0]);
        else
            print_node(p, e->args[0], depth);
        nnv_text_add(p->out, ";\n");
        b = p->places[e->id].inner[0];
    }
}

/* ------------------------------------------------------------------ modules */

bool nnv_print_blocks(struct nnv_printer *p, struct nnv_relay_expr *f) {
    struct nnv_relay_list list;
    if ((p->taken = nnv_relay_module_new(p->arena)) == NULL) return false;
    if (nnv_relay_post_order(f, NULL, NULL, p->arena, &list) != NNV_OK) return false;
    for (size_t i = 0; i < list.n; i++)
        p->places[list.exprs[i]->id] = (struct nnv_print_place){0}; /* operators are shared */
    struct nnv_print_block *outside = open_block(p, NULL, f);
    if (outside == NULL) return false;
    use(p, f, outside);
    for (size_t i = list.n; i-- > 0;)
        if (!use_operands(p, list.exprs[i])) return false;
    mark_let_values(p, &list);
    return fill_blocks(p, &list) && name_vars(p, f, &list);
}

static bool number_constants_of(struct nnv_printer *p, struct nnv_relay_expr *f, bool known) {
    struct nnv_relay_list list;
    if (nnv_relay_post_order(f, NULL, NULL, p->arena, &list) != NNV_OK) return false;
    for (size_t i = 0; i < list.n; i++) {
        struct nnv_relay_expr *e = list.exprs[i];
        if (e->kind != NNV_RELAY_CONSTANT || p->is_literal(e->tensor) || (e->tensor->data != NULL) != known) continue;
        if (p->constant_number[e->id]) continue;
        if (!known) {
            p->constant_number[e->id] = e->index + 1;
            if (e->index >= 0 && (size_t)e->index >= p->n_constants && e->index < p->m->n_exprs)
                p->n_constants = (size_t)e->index + 1;
            continue;
        }
        p->constants[p->n_constants++] = e;
        p->constant_number[e->id] = (int64_t)p->n_constants;
    }
    return true;
}

bool nnv_print_start(struct nnv_printer *p) {
    p->places = NNV_NEW(p->arena, struct nnv_print_place, p->m->n_exprs);
    p->constant_number = NNV_NEW(p->arena, int64_t, p->m->n_exprs);
    p->constants = NNV_NEW(p->arena, struct nnv_relay_expr *, (size_t)p->m->n_exprs * 2);
    if (p->places == NULL || p->constant_number == NULL || p->constants == NULL) return false;
    for (int known = 0; known < 2; known++)
        for (size_t i = 0; i < p->m->n_functions; i++)
            if (!number_constants_of(p, p->m->functions[i].expr, known)) return false;
    return true;
}

/* Node 0 is nothing, 1 the map, 2 the list of constants, 3 and on the constants. */
static void print_meta(struct nnv_printer *p) {
    struct nnv_text *out = p->out, array = {0};
    nnv_text_add(out, "\n#[metadata]\n{\n  \"root\": 1,\n  \"nodes\": [\n    {\"type_key\": \"\"},\n"
                      "    {\"type_key\": \"Map\", \"keys\": [\"relay.Constant\"], \"data\": [2]},\n"
                      "    {\"type_key\": \"Array\", \"data\": [");
    size_t node = 3;
    for (size_t i = 0; i < p->n_constants; i++)
        nnv_text_addf(out, "%s%zu", i ? ", " : "", p->constants[i] ? node++ : 0);
    nnv_text_add(out, "]}");
    size_t n = 0;
    for (size_t i = 0; i < p->n_constants; i++)
        if (p->constants[i]) /* TVM reads each field that it knows of; those of 0 are nothing. */
            nnv_text_addf(
                out,
                ",\n    {\"type_key\": \"relay.Constant\", \"attrs\": {\"_checked_type_\": \"0\", \"data\": \"%zu\", "
                "\"span\": \"0\", \"virtual_device_\": \"0\"}}",
                n++);
    nnv_text_add(out, "\n  ],\n  \"b64ndarrays\": [");
    const char *comma = "\n    \"";
    for (size_t i = 0; i < p->n_constants; i++) {
        if (p->constants[i] == NULL) continue;
        nnv_text_clear(&array);
        nnv_relay_array_write(p->constants[i]->tensor, &array);
        nnv_text_add(out, comma);
        nnv_text_add_base64(out, array.data, array.len);
        nnv_text_add(out, "\"");
        comma = ",\n    \"";
    }
    nnv_text_add(out, "\n  ]\n}\n");
    out->failed = out->failed || array.failed;
    nnv_text_free(&array);
}

static bool print_module(struct nnv_printer *p) {
    if (!nnv_print_start(p)) return false;
    nnv_text_add(p->out, "#[version = \"0.0.5\"]\n");
    for (size_t i = 0; i < p->m->n_functions; i++) {
        struct nnv_relay_expr *f = p->m->functions[i].expr;
        if (!nnv_print_blocks(p, f)) return false;
        p->next = 0;
        nnv_text_addf(p->out, "%sdef @%s", i ? "\n" : "", p->m->functions[i].name);
        print_function(p, f, p->places[f->id].inner[0], 0);
        nnv_text_add(p->out, "\n");
    }
    if (p->flags & NNV_RELAY_PRINT_META && p->n_constants) print_meta(p);
    return true;
}

void nnv_relay_print(const struct nnv_relay_module *m, int flags, struct nnv_text *out) {
    struct nnv_printer p = {
        .m = m, .flags = flags, .out = out, .arena = nnv_arena_new(), .is_literal = nnv_relay_is_literal};
    if (p.arena == NULL || !print_module(&p)) out->failed = true;
    nnv_arena_free(p.arena);
}
