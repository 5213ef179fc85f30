/* SPDX-License-Identifier: Apache-2.0 */
/* TVMScript: expressions, and calls of operators by what their records say of Relax. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/relay/text/relax.h"

enum { LONGEST_NAME = 200 };

static struct nnv_relay_expr *parse_call(struct nnv_relay_parser *p);

/* ------------------------------------------------------------------ operands */

/* R.const(1.5, "float32") */
static struct nnv_relay_expr *parse_const(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    struct nnv_relay_value v, type = {.kind = NNV_RELAY_STRING, .text = "float32"};
    enum nnv_relay_dtype dtype;
    nnv_relay_next(p);
    if (!nnv_relay_must(p, "(") || !nnv_relay_parse_value(p, &v)) return NULL;
    if (v.kind == NNV_RELAY_INT) type.text = "int32";
    if (v.kind == NNV_RELAY_TRUTH) type.text = "bool";
    if (nnv_relay_take(p, ",")) {
        if (nnv_relay_at(p, "dtype")) {
            nnv_relay_next(p);
            if (!nnv_relay_must(p, "=")) return NULL;
        }
        if (!nnv_relay_parse_value(p, &type)) return NULL;
    }
    if (!nnv_relay_must(p, ")")) return NULL;
    if (type.kind != NNV_RELAY_STRING || !nnv_relay_dtype_by_name(type.text, strlen(type.text), &dtype))
        return nnv_relay_parse_fail(p, &span, "the constant's type of elements is not known");
    if (v.kind == NNV_RELAY_LIST)
        return nnv_relay_parse_fail(p, &span,
                                    "a constant of many values: they belong in the metadata, as "
                                    "mod.script(show_meta=True) prints them");
    return nnv_relax_number(p, &span, dtype, &v);
}

/* metadata["relax.expr.Constant"][0] */
static struct nnv_relay_expr *parse_meta(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    static const char kind[] = "relax.expr.Constant";
    int64_t index;
    nnv_relay_next(p);
    if (!nnv_relay_must(p, "[")) return NULL;
    if (p->tok.kind != NNV_RELAY_QUOTED || p->tok.len != strlen(kind) || memcmp(p->tok.text, kind, p->tok.len) != 0)
        return nnv_relay_expected(p, "\"relax.expr.Constant\"");
    nnv_relay_next(p);
    if (!nnv_relay_must(p, "]") || !nnv_relay_must(p, "[")) return NULL;
    if (p->tok.kind != NNV_RELAY_WHOLE) return nnv_relay_expected(p, "a number in the metadata");
    if (!nnv_relay_whole(p, &index)) return NULL;
    nnv_relay_next(p);
    if (!nnv_relay_must(p, "]")) return NULL;
    return nnv_relax_typed(p, nnv_relay_opaque(p, index, NULL, span));
}

/* Operands up to `close` onto the pile; *comma: there was one. */
static bool parse_fields(struct nnv_relay_parser *p, const char *close, bool *comma) {
    *comma = false;
    while (!nnv_relay_take(p, close)) {
        struct nnv_relay_expr *e = nnv_relax_parse_expr(p);
        if (e == NULL || !nnv_relay_pile(p, e)) return false;
        if (nnv_relay_take(p, ","))
            *comma = true;
        else if (!nnv_relay_at(p, close))
            return nnv_relay_expected(p, "',' or a closing bracket");
    }
    return true;
}

/* (a, b), [a, b], (a): the last is a. */
static struct nnv_relay_expr *parse_tuple(struct nnv_relay_parser *p, const char *close) {
    struct nnv_relay_span span = p->tok.span;
    size_t mark = p->n_pile, n;
    bool comma;
    nnv_relay_next(p);
    if (!parse_fields(p, close, &comma)) return NULL;
    struct nnv_relay_expr *const *fields = nnv_relay_unpile(p, mark, &n);
    if (n == 1 && !comma && *close == ')') return fields[0];
    return nnv_relax_typed(p, nnv_relay_placed(p, nnv_relay_tuple(p->m, n, fields), span));
}

/* f(operands): of a function of the module, or of one that is bound to a name. */
static struct nnv_relay_expr *parse_function_call(struct nnv_relay_parser *p, struct nnv_relay_expr *callee,
                                                  struct nnv_relay_span span) {
    size_t mark = p->n_pile, n;
    bool comma;
    nnv_relay_next(p);
    if (!parse_fields(p, ")", &comma)) return NULL;
    struct nnv_relay_expr *const *args = nnv_relay_unpile(p, mark, &n);
    struct nnv_relay_expr *e = nnv_relay_placed(p, nnv_relay_call(p->m, callee, n, args, 0, NULL), span);
    const struct nnv_relay_expr *f = callee->kind == NNV_RELAY_GLOBAL ? nnv_relay_find(p->m, callee->name) : callee;
    if (f == NULL) f = nnv_relax_composite(p, callee->name);
    if (e && f && f->kind == NNV_RELAY_FUNCTION) e->type = f->declared ? f->declared : f->args[0]->type;
    return e;
}

/* cls.f, Module.f: what is behind the dot, else NULL. */
static const char *global_name(const struct nnv_relay_parser *p, const char *name) {
    const size_t len = p->module_name ? strlen(p->module_name) : 0;
    if (strncmp(name, "cls.", 4) == 0) return name + 4;
    return len && strncmp(name, p->module_name, len) == 0 && name[len] == '.' ? name + len + 1 : NULL;
}

static struct nnv_relay_expr *parse_name(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    const char *name = nnv_relay_token_name(p), *global = name ? global_name(p, name) : NULL;
    if (name == NULL) return NULL;
    struct nnv_relay_expr *e = nnv_relay_bound(p, name);
    if (e == NULL && global) e = nnv_relay_placed(p, nnv_relay_global(p->m, global), span);
    if (e == NULL) return nnv_relay_parse_fail(p, &span, "%.60s is not defined", name);
    nnv_relay_next(p);
    return e;
}

static struct nnv_relay_expr *parse_atom(struct nnv_relay_parser *p) {
    struct nnv_relay_value v;
    struct nnv_relay_span span = p->tok.span;
    if (nnv_relay_at(p, "(")) return parse_tuple(p, ")");
    if (nnv_relay_at(p, "[")) return parse_tuple(p, "]");
    if (p->tok.kind == NNV_RELAY_WORD) {
        if (nnv_relay_at(p, "metadata")) return parse_meta(p);
        if (nnv_relay_at(p, "R.const")) return parse_const(p);
        if (nnv_relay_at(p, "R.tuple")) {
            nnv_relay_next(p);
            return nnv_relay_at(p, "(") ? parse_tuple(p, ")") : nnv_relay_expected(p, "'('");
        }
        if (nnv_relay_at(p, "R.match_cast")) { /* the value as it is: what is not known of its type stays so */
            nnv_relay_next(p);
            if (!nnv_relay_must(p, "(")) return NULL;
            struct nnv_relay_expr *e = nnv_relax_parse_expr(p);
            return e && nnv_relay_must(p, ",") && nnv_relax_parse_type(p) && nnv_relay_must(p, ")") ? e : NULL;
        }
        if (p->tok.len > 2 && memcmp(p->tok.text, "R.", 2) == 0) return parse_call(p);
        if (!nnv_relay_at(p, "True") && !nnv_relay_at(p, "False")) return parse_name(p);
    } else if (p->tok.kind != NNV_RELAY_WHOLE && p->tok.kind != NNV_RELAY_REAL && !nnv_relay_at(p, "-")) {
        return nnv_relay_expected(p, "an expression");
    }
    if (!nnv_relay_parse_value(p, &v)) return NULL;
    return nnv_relax_number(p, &span, v.kind == NNV_RELAY_FLOAT ? NNV_RELAY_FLOAT32 : NNV_RELAY_INT32, &v);
}

/* [N]: a field of a tuple. */
static struct nnv_relay_expr *parse_field(struct nnv_relay_parser *p, struct nnv_relay_expr *tuple) {
    struct nnv_relay_span span = p->tok.span;
    int64_t index;
    nnv_relay_next(p);
    if (p->tok.kind != NNV_RELAY_WHOLE) return nnv_relay_expected(p, "the number of a field");
    if (!nnv_relay_whole(p, &index)) return NULL;
    nnv_relay_next(p);
    if (!nnv_relay_must(p, "]")) return NULL;
    return nnv_relax_typed(p, nnv_relay_placed(p, nnv_relay_get(p->m, tuple, index), span));
}

struct nnv_relay_expr *nnv_relax_parse_expr(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    if (!nnv_relay_deeper(p)) return NULL;
    struct nnv_relay_expr *e = parse_atom(p);
    while (e && !nnv_relax_at_line(p) && (nnv_relay_at(p, "(") || nnv_relay_at(p, "[")))
        e = nnv_relay_at(p, "(") ? parse_function_call(p, e, span) : parse_field(p, e);
    nnv_relay_higher(p);
    return e;
}

/* --------------------------------------------------------------------- calls */

/* The token is module.name. */
static bool begins(const struct nnv_relay_token *t, const char *module) {
    const size_t len = strlen(module);
    return t->len > len + 1 && memcmp(t->text, module, len) == 0 && t->text[len] == '.';
}

/* A value that stands for itself comes next, not an operand. */
static bool at_value(const struct nnv_relay_parser *p) {
    static const char *const words[] = {"None", "True", "False", "R.shape", "R.prim_value", "R.dtype", "R.str", "-"};
    struct nnv_relay_lexer ahead = p->lexer;
    struct nnv_relay_token t = p->tok;
    while (nnv_relay_lex_is(&t, "(") || nnv_relay_lex_is(&t, "[")) t = nnv_relay_lex(&ahead);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (nnv_relay_lex_is(&t, words[i])) return true;
    if (t.kind == NNV_RELAY_WORD)
        return begins(&t, "T") || begins(&t, "cls") || (p->module_name && begins(&t, p->module_name));
    return t.kind == NNV_RELAY_WHOLE || t.kind == NNV_RELAY_REAL || t.kind == NNV_RELAY_QUOTED;
}

static bool is_type_key(const char *key) {
    static const char *const keys[] = {"out_sinfo", "sinfo_args", "out_ty", "ty_args"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

/** What a call is being read into: operands by their place among the operands, and all that are attributes. */
struct reading {
    struct nnv_relax_call *c;
    const struct nnv_relax_form *form; /**< NULL: the operator has none */
    size_t cap_attrs, operands;        /**< operands: of the form */
    bool foreign;                      /**< something that the record has no word for */
};

/* The parameter of this keyword, or in this place; NULL: there is none. */
static const struct nnv_relax_param *param_of(const struct nnv_relax_form *form, const char *key, size_t place) {
    for (size_t i = 0; form && i < form->n; i++)
        if (key ? strcmp(form->params[i].name, key) == 0 : i == place) return &form->params[i];
    return NULL;
}

static size_t operand_place(const struct nnv_relax_form *form, const struct nnv_relax_param *param) {
    size_t n = 0;
    for (const struct nnv_relax_param *q = form->params; q < param; q++) n += !q->attr && !q->ignored;
    return n;
}

/* The value as the record wants it: one axis for a list of one, pairs for a flat list. False: it has no such form. */
static bool fit(struct nnv_relay_parser *p, enum nnv_relay_attr_kind kind, struct nnv_relay_value *v) {
    if (v->kind == NNV_RELAY_LIST && v->n == 1 && (kind == NNV_RELAY_ATTR_INT || kind == NNV_RELAY_ATTR_NUMBER))
        *v = v->list[0];
    if (kind == NNV_RELAY_ATTR_PAIRS && v->kind == NNV_RELAY_LIST && v->n % 2 == 0 && v->n &&
        v->list[0].kind == NNV_RELAY_INT) {
        struct nnv_relay_value *pairs = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_value, v->n / 2));
        for (size_t i = 0; pairs && i < v->n / 2; i++)
            pairs[i] = (struct nnv_relay_value){.kind = NNV_RELAY_LIST, .n = 2, .list = v->list + 2 * i};
        *v = (struct nnv_relay_value){.kind = NNV_RELAY_LIST, .n = v->n / 2, .list = pairs};
        if (pairs == NULL) return false;
    }
    return nnv_relay_attr_is(v, kind);
}

static bool add_attr(struct nnv_relay_parser *p, struct reading *r, const char *key, const struct nnv_relay_value *v) {
    struct nnv_relax_call *c = r->c;
    for (size_t i = 0; i < c->n_attrs; i++)
        if (strcmp(c->attrs[i].key, key) == 0)
            return nnv_relay_parse_fail(p, &p->tok.span, "parameter %s is there twice", key);
    if (c->n_attrs == r->cap_attrs) {
        size_t cap = r->cap_attrs ? 2 * r->cap_attrs : 8;
        struct nnv_relay_attr *grown = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_attr, cap));
        if (grown == NULL) return false;
        if (c->n_attrs) memcpy(grown, c->attrs, c->n_attrs * sizeof *grown);
        c->attrs = grown;
        r->cap_attrs = cap;
    }
    c->attrs[c->n_attrs++] = (struct nnv_relay_attr){key, *v};
    return true;
}

/* A value for a parameter that is no operand. "void" and None say what being silent says. */
static bool take_value(struct nnv_relay_parser *p, struct reading *r, const struct nnv_relax_param *param,
                       const char *key) {
    struct nnv_relay_value v;
    if (!nnv_relay_parse_value(p, &v)) return false;
    if (param && param->ignored) {
        const bool truth = param->value && (v.kind == NNV_RELAY_TRUTH || v.kind == NNV_RELAY_INT);
        r->foreign = r->foreign || (truth && (v.i != 0) != (strncmp(param->value, "True", 4) == 0));
        return true;
    }
    if (v.kind == NNV_RELAY_NONE || (v.kind == NNV_RELAY_STRING && strcmp(v.text, "void") == 0)) return true;
    const char *member = v.kind == NNV_RELAY_STRING ? global_name(p, v.text) : NULL;
    if (member && (v.text = nnv_relay_got(p, nnv_arena_printf(p->m->arena, "cls.%s", member))) == NULL) return false;
    if (param && !fit(p, param->attr->kind, &v)) r->foreign = true;
    return p->st == NNV_OK && add_attr(p, r, param ? param->attr->key : key, &v);
}

/* Zero points are int32 in Relay, in Relax also of the type of the codes. */
static struct nnv_relay_expr *zero_point(struct nnv_relay_parser *p, struct nnv_relay_expr *e) {
    static const struct nnv_relay_attr int32 = {"dtype", {.kind = NNV_RELAY_STRING, .text = "int32"}};
    const struct nnv_relay_type *t = e->type;
    if (t == NULL || t->kind != NNV_RELAY_TENSOR || t->dtype == NNV_RELAY_INT32) return e;
    if (e->kind != NNV_RELAY_CONSTANT || !e->tensor->data || t->n_dims || e->tensor->bytes != 1)
        return nnv_relax_make(p, &e->span, "cast", 1, &e, 1, &int32);
    const uint8_t byte = *(const uint8_t *)e->tensor->data;
    const struct nnv_relay_value v = {.kind = NNV_RELAY_INT, .i = t->dtype == NNV_RELAY_INT8 ? (int8_t)byte : byte};
    return nnv_relax_number(p, &e->span, NNV_RELAY_INT32, &v);
}

/* One argument; operands come onto the pile, those of a form into their places. */
static bool parse_argument(struct nnv_relay_parser *p, struct reading *r, size_t mark, size_t place) {
    char by_place[24];
    const char *key = NULL;
    struct nnv_relay_span span = p->tok.span;
    if (nnv_relay_at_key(p)) {
        if ((key = nnv_relay_token_name(p)) == NULL) return false;
        nnv_relay_next(p);
        nnv_relay_next(p);
        if (is_type_key(key)) {
            const struct nnv_relay_type *t = nnv_relax_parse_type(p);
            const bool one = t && t->kind == NNV_RELAY_TUPLE_TYPE && t->n_fields == 1 && strstr(key, "_args");
            r->c->type = one ? t->fields[0] : t;
            return t != NULL;
        }
    }
    const struct nnv_relax_param *param = param_of(r->form, key, place);
    if (r->form && param == NULL) r->foreign = true;
    if (param ? param->attr || param->ignored : at_value(p)) {
        snprintf(by_place, sizeof by_place, "arg%zu", place);
        if (key == NULL && (key = nnv_relay_got(p, nnv_relay_intern(p->m, by_place, strlen(by_place)))) == NULL)
            return false;
        return take_value(p, r, param, key);
    }
    if (nnv_relay_take(p, "None")) return true;
    struct nnv_relay_expr *e = NULL;
    if (param && at_value(p) && p->n_pile > mark && !nnv_relay_at(p, "(") && !nnv_relay_at(p, "[")) {
        const struct nnv_relay_type *like = ((struct nnv_relay_expr *)p->pile[mark])->type; /* 0.0 beside a tensor */
        struct nnv_relay_value v;
        if (!nnv_relay_parse_value(p, &v)) return false;
        e = nnv_relax_number(p, &span, like && like->kind == NNV_RELAY_TENSOR ? like->dtype : NNV_RELAY_FLOAT32, &v);
    } else {
        e = nnv_relax_parse_expr(p);
    }
    if (e && param && strcmp(param->name, "zero_point") == 0) e = zero_point(p, e);
    if (e && param && operand_place(r->form, param) != p->n_pile - mark)
        return nnv_relay_parse_fail(p, &span, "operand %s is out of order", param->name);
    return e && nnv_relay_pile(p, e);
}

/* The values that Relax takes where nothing is written, if the record takes others. */
static bool add_defaults(struct nnv_relay_parser *p, struct reading *r) {
    for (size_t i = 0; r->form && i < r->form->n; i++) {
        const struct nnv_relax_param *param = &r->form->params[i];
        bool written = param->attr == NULL || param->value == NULL;
        for (size_t k = 0; !written && k < r->c->n_attrs; k++)
            written = strcmp(r->c->attrs[k].key, param->attr->key) == 0;
        const struct nnv_relay_value v = {.kind = NNV_RELAY_FLOAT, .f = param->value ? strtod(param->value, NULL) : 0};
        if (!written && !add_attr(p, r, param->attr->key, &v)) return false;
    }
    return true;
}

/* What no record describes: an operator that is not known, of the type that the call or its binding says. */
static struct nnv_relay_expr *make_unknown(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    const char *name = nnv_relay_got(p, nnv_arena_printf(p->m->arena, "relax.%s", c->name));
    struct nnv_relay_expr *e =
        name ? nnv_relax_make(p, &c->span, name, c->n_args, c->args, c->n_attrs, c->attrs) : NULL;
    if (e) e->type = e->declared = c->type;
    return e;
}

/* An operator's call, its name "R.name" being in hand. Its type is found as far as it can be. */
static struct nnv_relay_expr *parse_call(struct nnv_relay_parser *p) {
    struct nnv_relax_form form;
    const char *name = nnv_relay_token_name(p);
    if (name == NULL) return NULL;
    struct nnv_relax_call c = {.name = name + 2, .span = p->tok.span};
    struct reading r = {.c = &c};
    const bool lowers = nnv_relax_lowers(c.name);
    if (!lowers && nnv_relax_form_find(c.name, &form)) r.form = &form;
    size_t mark = p->n_pile;
    if (p->tok.len > LONGEST_NAME) return nnv_relay_parse_fail(p, &c.span, "the operator's name is too long");
    nnv_relay_next(p);
    if (!nnv_relay_at(p, "(")) return nnv_relay_expected(p, "'(' and the operator's operands");
    nnv_relay_next(p);
    for (size_t place = 0; !nnv_relay_take(p, ")"); place++) {
        if (!parse_argument(p, &r, mark, place)) return NULL;
        if (!nnv_relay_take(p, ",") && !nnv_relay_at(p, ")")) return nnv_relay_expected(p, "',' or ')'");
    }
    struct nnv_relay_expr *const *args = nnv_relay_unpile(p, mark, &c.n_args);
    c.args = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_expr *, c.n_args + 1));
    for (size_t i = 0; c.args && i < c.n_args; i++) c.args[i] = args[i];
    if (c.args == NULL || !add_defaults(p, &r)) return NULL;
    struct nnv_relay_expr *e = lowers ? nnv_relax_lower(p, &c) : NULL;
    if (e || p->st != NNV_OK) return e;
    if (r.form == NULL || r.foreign) return make_unknown(p, &c);
    return nnv_relax_make(p, &c.span, r.form->row->name, c.n_args, c.args, c.n_attrs, c.attrs);
}
