/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing Relay text: expressions. Recursion is bounded by nnv_relay_deeper(); statements and operands are loops. */
#include <ctype.h>

#include "base/type.h"
#include "compiler/relay/text/parse.h"

static struct nnv_relay_expr *parse_expr(struct nnv_relay_parser *p);
static struct nnv_relay_expr *parse_block(struct nnv_relay_parser *p);

enum { LONGEST_NAME = 1024 };

static const struct {
    const char *mark, *op;
    int rank; /* binds tighter than lower ones */
} infix[] = {
    {"*", "multiply", 4}, {"/", "divide", 4},      {"+", "add", 3},     {"-", "subtract", 3},
    {"<", "less", 2},     {"<=", "less_equal", 2}, {">", "greater", 2}, {">=", "greater_equal", 2},
    {"==", "equal", 1},   {"!=", "not_equal", 1},
};
enum { INFIX = sizeof infix / sizeof *infix };

/* ---------------------------------------------------------------- variables */

static bool add_free(struct nnv_relay_parser *p, struct nnv_relay_expr *v) {
    if (!nnv_relay_parse_room(p, &p->free_vars, p->n_free, &p->cap_free, sizeof(struct nnv_relay_expr *))) return false;
    p->free_vars[p->n_free++] = v;
    return nnv_relay_bind(p, v->name, v);
}

/* A local of a text without definitions that nothing declares: a parameter. Numbers behind dots are projections. */
static struct nnv_relay_expr *parse_free(struct nnv_relay_parser *p, const struct nnv_relay_token *t) {
    size_t len = t->len, digits = len;
    while (digits && isdigit((unsigned char)t->text[digits - 1])) {
        while (digits && isdigit((unsigned char)t->text[digits - 1])) digits--;
        if (digits < 2 || t->text[digits - 1] != '.') break;
        len = --digits;
    }
    const char *name = nnv_relay_got(p, nnv_relay_intern(p->m, t->text, len));
    struct nnv_relay_expr *v = NULL;
    for (size_t i = 0; name && !v && i < p->n_free; i++) /* from a block that is left already */
        if (p->free_vars[i]->name == name) v = p->free_vars[i];
    bool ok = v ? nnv_relay_bind(p, name, v)
                : name && (v = nnv_relay_placed(p, nnv_relay_var(p->m, name, NULL), t->span)) && add_free(p, v);
    nnv_relay_lex_back(&p->lexer, t, len);
    nnv_relay_next(p);
    return ok ? v : NULL;
}

/* The local in hand: the longest part of the token from its beginning that is a name in scope. */
static struct nnv_relay_expr *parse_local(struct nnv_relay_parser *p) {
    const struct nnv_relay_token t = p->tok;
    for (size_t len = t.len < LONGEST_NAME ? t.len : LONGEST_NAME; len; len--) {
        const char *name = nnv_relay_got(p, nnv_relay_intern(p->m, t.text, len));
        if (name == NULL) return NULL;
        struct nnv_relay_expr *e = nnv_relay_bound(p, name);
        if (e == NULL) continue;
        nnv_relay_lex_back(&p->lexer, &t, len);
        nnv_relay_next(p);
        return e;
    }
    if (p->bare && t.len <= LONGEST_NAME) return parse_free(p, &t);
    return nnv_relay_parse_fail(p, &t.span, "%%%.*s is not declared", t.len < 60 ? (int)t.len : 60, t.text);
}

static struct nnv_relay_expr *parse_graph(struct nnv_relay_parser *p) {
    const char *name = nnv_relay_token_name(p);
    struct nnv_relay_expr *e = name ? nnv_relay_bound(p, name) : NULL;
    if (name && e == NULL) return nnv_relay_parse_fail(p, &p->tok.span, "%%%s is used before it is bound", name);
    nnv_relay_next(p);
    return e;
}

/* %name [{...}] [: type], the local being in hand. */
static struct nnv_relay_expr *parse_declared(struct nnv_relay_parser *p) {
    if (p->tok.kind != NNV_RELAY_LOCAL) return nnv_relay_expected(p, "a variable, such as '%x',");
    if (p->tok.len > LONGEST_NAME)
        return nnv_relay_parse_fail(p, &p->tok.span, "the name has more than %d characters", LONGEST_NAME);
    struct nnv_relay_span span = p->tok.span;
    const struct nnv_relay_type *type = NULL;
    const char *name = nnv_relay_token_name(p);
    nnv_relay_next(p);
    if (nnv_relay_take(p, "{")) { /* the device it is to live on */
        struct nnv_relay_attr *attrs;
        size_t n;
        if (!nnv_relay_parse_attrs(p, &attrs, &n) || !nnv_relay_must(p, "}")) return NULL;
    }
    if (nnv_relay_take(p, ":") && (type = nnv_relay_parse_type(p)) == NULL) return NULL;
    return name ? nnv_relay_placed(p, nnv_relay_var(p->m, name, type), span) : NULL;
}

/* ---------------------------------------------------------------- functions */

/* Parameters onto the pile, each bound, then attributes; up to and with the ")". */
static bool parse_params(struct nnv_relay_parser *p, size_t scope, struct nnv_relay_attr **attrs, size_t *n_attrs) {
    while (!nnv_relay_take(p, ")")) {
        if (nnv_relay_at_key(p)) return nnv_relay_parse_attrs(p, attrs, n_attrs) && nnv_relay_must(p, ")");
        struct nnv_relay_expr *v = parse_declared(p);
        if (v == NULL) return false;
        const struct nnv_relay_expr *before = nnv_relay_bound(p, v->name);
        for (size_t i = scope; before && i < p->n_undo; i++)
            if (p->undo[i].expr == before)
                return nnv_relay_parse_fail(p, &v->span, "parameter %%%s is there twice", v->name);
        if (!nnv_relay_pile(p, v) || !nnv_relay_bind(p, v->name, v)) return false;
        if (!nnv_relay_take(p, ",") && !nnv_relay_at(p, ")")) return nnv_relay_expected(p, "',' or ')'");
    }
    return true;
}

static struct nnv_relay_expr *parse_scoped_function(struct nnv_relay_parser *p) {
    struct nnv_relay_attr *attrs = NULL;
    const struct nnv_relay_type *result = NULL;
    size_t mark = p->n_pile, n_params, n_attrs = 0;
    if (nnv_relay_at(p, "["))
        return nnv_relay_parse_fail(p, &p->tok.span, "functions with type parameters are not supported");
    if (!nnv_relay_must(p, "(") || !parse_params(p, p->n_undo, &attrs, &n_attrs)) return NULL;
    if (nnv_relay_take(p, "->") && (result = nnv_relay_parse_type(p)) == NULL) return NULL;
    struct nnv_relay_expr *body = parse_block(p);
    if (body == NULL) return NULL;
    void *params = nnv_relay_unpile(p, mark, &n_params);
    return nnv_relay_got(p, nnv_relay_fn(p->m, n_params, params, result, body, n_attrs, attrs));
}

struct nnv_relay_expr *nnv_relay_parse_function(struct nnv_relay_parser *p) {
    size_t scope = p->n_undo;
    struct nnv_relay_expr *f = parse_scoped_function(p);
    nnv_relay_close_scope(p, scope);
    return f;
}

static struct nnv_relay_expr *parse_if(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    nnv_relay_next(p);
    if (!nnv_relay_must(p, "(")) return NULL;
    struct nnv_relay_expr *condition = parse_expr(p);
    if (condition == NULL || !nnv_relay_must(p, ")")) return NULL;
    struct nnv_relay_expr *then_branch = parse_block(p);
    if (then_branch == NULL || !nnv_relay_must(p, "else")) return NULL;
    struct nnv_relay_expr *else_branch = parse_block(p);
    return else_branch ? nnv_relay_placed(p, nnv_relay_if(p->m, condition, then_branch, else_branch), span) : NULL;
}

/* -------------------------------------------------------------------- atoms */

static bool at_statement(const struct nnv_relay_parser *p) {
    struct nnv_relay_lexer ahead = p->lexer;
    if (nnv_relay_at(p, "let") || nnv_relay_at(p, "free_var")) return true;
    if (p->tok.kind != NNV_RELAY_GRAPH) return false;
    struct nnv_relay_token t = nnv_relay_lex(&ahead);
    return nnv_relay_lex_is(&t, "=");
}

/* Fields onto the pile up to the ")"; *comma: there was one. */
static bool parse_tuple_fields(struct nnv_relay_parser *p, bool *comma) {
    *comma = false;
    while (!nnv_relay_take(p, ")")) {
        struct nnv_relay_expr *e = at_statement(p) ? nnv_relay_parse_body(p) : parse_expr(p);
        if (e == NULL || !nnv_relay_pile(p, e)) return false;
        if (nnv_relay_take(p, ","))
            *comma = true;
        else if (!nnv_relay_at(p, ")"))
            return nnv_relay_expected(p, "',' or ')'");
    }
    return true;
}

/* (), (x), (x,), (x, y): the second is x. */
static struct nnv_relay_expr *parse_parentheses(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    size_t mark = p->n_pile, n;
    bool comma;
    nnv_relay_next(p);
    if (!parse_tuple_fields(p, &comma)) return NULL;
    struct nnv_relay_expr *const *fields = nnv_relay_unpile(p, mark, &n);
    return n == 1 && !comma ? fields[0] : nnv_relay_placed(p, nnv_relay_tuple(p->m, n, fields), span);
}

static struct nnv_relay_expr *parse_word(struct nnv_relay_parser *p) {
    static const char *const refused[] = {"match", "ref", "ref_read", "ref_write"};
    struct nnv_relay_span span = p->tok.span;
    if (nnv_relay_at_real(p)) return nnv_relay_parse_number(p);
    if (nnv_relay_at(p, "meta")) return nnv_relay_parse_opaque(p);
    if (nnv_relay_at(p, "if")) return parse_if(p);
    if (nnv_relay_take(p, "fn")) return nnv_relay_placed(p, nnv_relay_parse_function(p), span);
    if (nnv_relay_at(p, "True") || nnv_relay_at(p, "False")) {
        uint8_t truth = nnv_relay_at(p, "True");
        nnv_relay_next(p);
        return nnv_relay_scalar(p, NNV_RELAY_BOOL, &truth, span);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (nnv_relay_at(p, refused[i])) return nnv_relay_parse_fail(p, &span, "'%s' is not supported", refused[i]);
    if (nnv_relay_at(p, "else") || nnv_relay_at(p, "def")) return nnv_relay_expected(p, "an expression");
    const char *name = nnv_relay_token_name(p);
    nnv_relay_next(p);
    if (name && !nnv_relay_at(p, "(")) return nnv_relay_expected(p, "'(' and the operator's operands");
    return name ? nnv_relay_got(p, nnv_relay_operator(p->m, name)) : NULL;
}

static struct nnv_relay_expr *parse_atom(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    switch (p->tok.kind) {
    case NNV_RELAY_LOCAL:
        return parse_local(p);
    case NNV_RELAY_GRAPH:
        return parse_graph(p);
    case NNV_RELAY_AT: {
        const char *name = nnv_relay_token_name(p);
        nnv_relay_next(p);
        return name ? nnv_relay_placed(p, nnv_relay_global(p->m, name), span) : NULL;
    }
    case NNV_RELAY_WORD:
        return parse_word(p);
    case NNV_RELAY_WHOLE:
    case NNV_RELAY_REAL:
        return nnv_relay_parse_number(p);
    case NNV_RELAY_MARK:
        if (nnv_relay_at(p, "(")) return parse_parentheses(p);
        if (nnv_relay_at(p, "{")) return parse_block(p);
        if (nnv_relay_at(p, "-")) return nnv_relay_parse_number(p);
        break;
    case NNV_RELAY_END:
    case NNV_RELAY_BROKEN:
    case NNV_RELAY_QUOTED:
    case NNV_RELAY_HEADER:
    case NNV_RELAY_METADATA_MARK:
        break;
    }
    return nnv_relay_expected(p, "an expression");
}

/* -------------------------------------------------------------------- calls */

/* An operand that only metadata describes, the attributes of a call: meta[relay.attrs.X][0]. */
static bool at_meta_attrs(const struct nnv_relay_parser *p) {
    struct nnv_relay_lexer ahead = p->lexer;
    if (!nnv_relay_at(p, "meta")) return false;
    nnv_relay_lex(&ahead);
    struct nnv_relay_token t = nnv_relay_lex(&ahead);
    return !nnv_relay_lex_is(&t, "relay.Constant");
}

/* Operands onto the pile, then attributes; up to and with the ")". */
static bool parse_operands(struct nnv_relay_parser *p, struct nnv_relay_attr **attrs, size_t *n_attrs) {
    while (!nnv_relay_take(p, ")")) {
        if (nnv_relay_at_key(p)) return nnv_relay_parse_attrs(p, attrs, n_attrs) && nnv_relay_must(p, ")");
        if (at_meta_attrs(p))
            return nnv_relay_parse_fail(p, &p->tok.span, "attributes of a call in the metadata are not supported");
        struct nnv_relay_expr *e = parse_expr(p);
        if (e == NULL || !nnv_relay_pile(p, e)) return false;
        if (!nnv_relay_take(p, ",") && !nnv_relay_at(p, ")")) return nnv_relay_expected(p, "',' or ')'");
    }
    return true;
}

static struct nnv_relay_expr *parse_call(struct nnv_relay_parser *p, struct nnv_relay_expr *callee,
                                         struct nnv_relay_span span) {
    struct nnv_relay_attr *attrs = NULL;
    size_t mark = p->n_pile, n_args, n_attrs = 0;
    nnv_relay_next(p);
    if (!parse_operands(p, &attrs, &n_attrs)) return NULL;
    void *args = nnv_relay_unpile(p, mark, &n_args);
    return nnv_relay_placed(p, nnv_relay_call(p->m, callee, n_args, args, n_attrs, attrs), span);
}

/* .N, the dot being in hand: digits are read from the text, since .0.1 is no number. */
static struct nnv_relay_expr *parse_projection(struct nnv_relay_parser *p, struct nnv_relay_expr *tuple) {
    struct nnv_relay_span span = p->tok.span;
    int64_t index = 0;
    const char *digits = p->lexer.at;
    while (p->lexer.at < p->lexer.end && *p->lexer.at >= '0' && *p->lexer.at <= '9' && index < INT32_MAX)
        index = index * 10 + (*p->lexer.at++ - '0');
    bool any = p->lexer.at > digits;
    nnv_relay_next(p);
    if (!any) return nnv_relay_expected(p, "the number of a field behind '.'");
    return nnv_relay_placed(p, nnv_relay_get(p->m, tuple, index), span);
}

/* A comment before the token in hand tells the type of e, which ends there. */
static void note(struct nnv_relay_parser *p, struct nnv_relay_expr *e) {
    bool annotated = e->kind == NNV_RELAY_VAR || e->kind == NNV_RELAY_FUNCTION || e->kind == NNV_RELAY_OP;
    if (p->tok.note && !annotated && e->declared == NULL) e->declared = nnv_relay_noted_type(p);
}

static struct nnv_relay_expr *parse_postfix(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    struct nnv_relay_expr *e = parse_atom(p);
    while (e) {
        note(p, e);
        if (nnv_relay_at(p, "("))
            e = parse_call(p, e, span);
        else if (nnv_relay_at(p, "."))
            e = parse_projection(p, e);
        else
            break;
    }
    return e;
}

/* The infix operator in hand, or INFIX. A word may begin with the "/" of a division. */
static size_t infix_at(struct nnv_relay_parser *p) {
    if (p->tok.kind == NNV_RELAY_WORD && *p->tok.text == '/') {
        p->tok.kind = NNV_RELAY_MARK;
        p->tok.len = 1;
        nnv_relay_lex_back(&p->lexer, &p->tok, 1);
    }
    size_t i = 0;
    while (i < INFIX && !nnv_relay_at(p, infix[i].mark)) i++;
    return i;
}

/* Operators that bind at least as tight as rank, left associative. */
static struct nnv_relay_expr *parse_infix(struct nnv_relay_parser *p, int rank) {
    struct nnv_relay_expr *left = parse_postfix(p);
    for (size_t i; left && (i = infix_at(p)) < INFIX && infix[i].rank >= rank;) {
        struct nnv_relay_span span = p->tok.span;
        nnv_relay_next(p);
        struct nnv_relay_expr *right = parse_infix(p, infix[i].rank + 1);
        if (right == NULL) return NULL;
        struct nnv_relay_expr *args[] = {left, right};
        left = nnv_relay_placed(p, nnv_relay_call(p->m, nnv_relay_operator(p->m, infix[i].op), 2, args, 0, NULL), span);
    }
    return left;
}

static struct nnv_relay_expr *parse_expr(struct nnv_relay_parser *p) {
    if (!nnv_relay_deeper(p)) return NULL;
    struct nnv_relay_expr *e = parse_infix(p, 0);
    nnv_relay_higher(p);
    return e;
}

/* --------------------------------------------------------------- statements */

/* %3 = expr; */
static bool parse_binding(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    const char *name = nnv_relay_token_name(p);
    if (name == NULL) return false;
    if (nnv_relay_bound(p, name)) return nnv_relay_parse_fail(p, &span, "%%%s is bound twice", name);
    nnv_relay_next(p);
    nnv_relay_next(p); /* = */
    struct nnv_relay_expr *e = parse_expr(p);
    if (e == NULL) return false;
    bool names = e->kind != NNV_RELAY_VAR && e->bound == NULL;
    if (names && (e->bound = nnv_relay_got(p, nnv_arena_printf(p->m->arena, "%%%s", name))) == NULL) return false;
    return nnv_relay_bind(p, name, e) && nnv_relay_must(p, ";");
}

/* let %x = expr; onto the pile. A function sees its own name. */
static bool parse_let(struct nnv_relay_parser *p) {
    nnv_relay_next(p);
    struct nnv_relay_expr *var = parse_declared(p);
    if (var == NULL || !nnv_relay_must(p, "=")) return false;
    bool recursive = nnv_relay_at(p, "fn");
    if (recursive && !nnv_relay_bind(p, var->name, var)) return false;
    struct nnv_relay_expr *value = parse_expr(p);
    if (value == NULL || !nnv_relay_pile(p, var) || !nnv_relay_pile(p, value)) return false;
    return (recursive || nnv_relay_bind(p, var->name, var)) && nnv_relay_must(p, ";");
}

static bool parse_free_var(struct nnv_relay_parser *p) {
    nnv_relay_next(p);
    struct nnv_relay_expr *v = parse_declared(p);
    if (!v || !add_free(p, v)) return false;
    (void)nnv_relay_take(p, ";"); /* TVM prints none */
    return true;
}

/* Statements; those that are lets go onto the pile as pairs. The result is the last expression. */
static struct nnv_relay_expr *parse_statements(struct nnv_relay_parser *p) {
    for (;;) {
        if (at_statement(p)) {
            bool ok = nnv_relay_at(p, "let")        ? parse_let(p)
                      : nnv_relay_at(p, "free_var") ? parse_free_var(p)
                                                    : parse_binding(p);
            if (!ok) return NULL;
            continue;
        }
        struct nnv_relay_expr *e = parse_expr(p);
        if (e == NULL || !nnv_relay_take(p, ";")) return e;
        struct nnv_relay_expr *unnamed = nnv_relay_got(p, nnv_relay_var(p->m, "_", NULL));
        if (unnamed == NULL || !nnv_relay_pile(p, unnamed) || !nnv_relay_pile(p, e)) return NULL;
    }
}

struct nnv_relay_expr *nnv_relay_parse_body(struct nnv_relay_parser *p) {
    size_t mark = p->n_pile;
    if (!nnv_relay_deeper(p)) return NULL;
    struct nnv_relay_expr *e = parse_statements(p);
    nnv_relay_higher(p);
    for (; e && p->n_pile > mark; p->n_pile -= 2) {
        struct nnv_relay_expr *var = p->pile[p->n_pile - 2], *value = p->pile[p->n_pile - 1];
        e = nnv_relay_placed(p, nnv_relay_let(p->m, var, value, e), var->span);
    }
    return e;
}

/* { statements expression } */
static struct nnv_relay_expr *parse_block(struct nnv_relay_parser *p) {
    size_t scope = p->n_undo;
    if (!nnv_relay_must(p, "{")) return NULL;
    struct nnv_relay_expr *e = nnv_relay_parse_body(p);
    nnv_relay_close_scope(p, scope);
    return e && nnv_relay_must(p, "}") ? e : NULL;
}
