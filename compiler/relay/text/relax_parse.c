/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TVMScript: the module, functions, statements. A block is what stands in one column; bindings become graph bindings,
 * so that a dataflow block says nothing of its own.
 */
#include <string.h>

#include "compiler/relay/text/relax.h"

static bool parse_function(struct nnv_relay_parser *p, bool nested);

/* ---------------------------------------------------------------- the lines */

bool nnv_relax_is_script(const char *text, size_t len) {
    static const char *const first[] = {"# ",  "#\n", "from ", "import ", "@I.",
                                        "@R.", "@T.", "@tvm.", "class ",  "metadata "};
    size_t at = 0;
    while (at < len && strchr(" \t\r\n", text[at])) at++;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (len - at >= strlen(first[i]) && memcmp(text + at, first[i], strlen(first[i])) == 0) return true;
    return false;
}

static void skip_line(struct nnv_relay_parser *p) {
    do nnv_relay_next(p);
    while (!nnv_relax_at_line(p) && p->tok.kind != NNV_RELAY_BROKEN);
}

/* Skips an indented block and the line before it, which begins in column: its text is kept. */
static bool skip_function(struct nnv_relay_parser *p, uint32_t column) {
    struct nnv_relay_foreign *kept = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_foreign, 1));
    if (kept == NULL) return false;
    size_t from = p->tok.span.offset;
    while (p->tok.kind == NNV_RELAY_AT) skip_line(p); /* decorators */
    do skip_line(p);
    while (p->tok.kind != NNV_RELAY_END && p->tok.kind != NNV_RELAY_BROKEN && p->tok.span.column > column);
    size_t to = p->tok.span.offset;
    while (to > from && strchr(" \t\r\n", p->m->text[to - 1])) to--;
    *kept = (struct nnv_relay_foreign){p->m->text + from, to - from, column, NULL};
    struct nnv_relay_foreign **last = &p->m->foreign;
    while (*last) last = &(*last)->next;
    *last = kept;
    return true;
}

static bool must_end_line(struct nnv_relay_parser *p) {
    return nnv_relax_at_line(p) || nnv_relay_take(p, ";") || nnv_relay_expected(p, "the end of the line");
}

/* --------------------------------------------------------------- statements */

/** What a block has come to. */
struct block {
    uint32_t column;              /**< of its statements */
    struct nnv_relay_expr *last;  /**< what was bound last */
    struct nnv_relay_expr *value; /**< what is returned; NULL: nothing yet */
    const char *last_name;
    struct nnv_relay_attr *attrs; /**< of R.func_attr */
    size_t n_attrs;
};

static bool parse_statements(struct nnv_relay_parser *p, uint32_t outer, struct block *b);

/* name [: type] = value. What is bound by more than one name keeps the first. */
static bool parse_binding(struct nnv_relay_parser *p, struct block *b) {
    struct nnv_relay_span span = p->tok.span;
    const struct nnv_relay_type *type = NULL;
    const char *name = nnv_relay_token_name(p);
    if (name == NULL) return false;
    if (strchr(name, '.')) return nnv_relay_expected(p, "a name, or R.output, R.func_attr, with, if, return");
    nnv_relay_next(p);
    if (nnv_relay_take(p, ":") && (type = nnv_relax_parse_type(p)) == NULL) return false;
    if (!nnv_relay_must(p, "=")) return false;
    if (p->tok.kind == NNV_RELAY_WORD && (strcmp(name, "cls") == 0 || nnv_relay_at(p, "T.int64") ||
                                          nnv_relay_at(p, "T.dynamic") || nnv_relay_at(p, "I.dynamic"))) {
        skip_line(p); /* another name of the module; a symbolic extent */
        return true;
    }
    struct nnv_relay_expr *e = nnv_relax_parse_expr(p);
    if (e && nnv_relay_at(p, ",")) { /* a, b */
        size_t mark = p->n_pile, n;
        bool ok = nnv_relay_pile(p, e);
        while (ok && nnv_relay_take(p, ",") && !nnv_relax_at_line(p))
            ok = (e = nnv_relax_parse_expr(p)) && nnv_relay_pile(p, e);
        if (!ok) return false;
        struct nnv_relay_expr *const *fields = nnv_relay_unpile(p, mark, &n);
        e = nnv_relax_typed(p, nnv_relay_placed(p, nnv_relay_tuple(p->m, n, fields), span));
    }
    if (e == NULL || !must_end_line(p)) return false;
    const bool open = e->kind != NNV_RELAY_VAR && e->kind != NNV_RELAY_CONSTANT && e->kind != NNV_RELAY_FUNCTION;
    if (type && open && e->type == NULL) e->type = e->declared = type;
    if (type && !nnv_relay_type_fits(type, e->type)) {
        struct nnv_text is = {0};
        nnv_relay_type_print(e->type, &is);
        nnv_relay_parse_error(p, &span, "%s is not what its annotation says but %s", name, is.data ? is.data : "?");
        nnv_text_free(&is);
        return false;
    }
    if (open && e->bound == NULL && (e->bound = nnv_relay_got(p, nnv_arena_printf(p->m->arena, "%%%s", name))) == NULL)
        return false;
    b->last = e;
    b->last_name = name;
    return nnv_relay_bind(p, name, e);
}

static bool parse_branch(struct nnv_relay_parser *p, uint32_t column, struct block *b) {
    size_t scope = p->n_undo;
    bool ok = nnv_relay_must(p, ":") && parse_statements(p, column, b);
    nnv_relay_close_scope(p, scope);
    if (ok && b->last == NULL && b->value == NULL) return nnv_relay_expected(p, "a binding in each branch of the if");
    return ok;
}

/* if c: ... else: ...; its value is what both branches bind last, or return. */
static bool parse_if(struct nnv_relay_parser *p, struct block *b) {
    struct nnv_relay_span span = p->tok.span;
    struct block yes = {0}, no = {0};
    nnv_relay_next(p);
    struct nnv_relay_expr *condition = nnv_relax_parse_expr(p);
    if (condition == NULL || !parse_branch(p, span.column, &yes)) return false;
    if (!nnv_relay_must(p, "else") || !parse_branch(p, span.column, &no)) return false;
    if ((yes.value == NULL) != (no.value == NULL))
        return nnv_relay_parse_fail(p, &span, "one branch of the if returns, the other does not");
    struct nnv_relay_expr *then_value = yes.value ? yes.value : yes.last, *else_value = no.value ? no.value : no.last;
    struct nnv_relay_expr *e = nnv_relay_placed(p, nnv_relay_if(p->m, condition, then_value, else_value), span);
    if (e == NULL) return false;
    e->type = then_value->type;
    if (yes.value) {
        b->value = e;
        return true;
    }
    b->last = e;
    b->last_name = yes.last_name;
    return nnv_relay_bind(p, yes.last_name, e);
}

/* R.func_attr({"key": value, ...}): values that are dictionaries themselves are left out. */
static bool parse_func_attr(struct nnv_relay_parser *p, struct block *b) {
    size_t mark = p->n_pile;
    nnv_relay_next(p);
    if (!nnv_relay_must(p, "(") || !nnv_relay_must(p, "{")) return false;
    while (!nnv_relay_take(p, "}")) {
        struct nnv_relay_attr *a = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_attr, 1));
        if (p->tok.kind != NNV_RELAY_QUOTED) return nnv_relay_expected(p, "the name of an attribute in quotes");
        if (a == NULL || (a->key = nnv_relay_token_name(p)) == NULL) return false;
        nnv_relay_next(p);
        if (!nnv_relay_must(p, ":")) return false;
        if (nnv_relay_at(p, "{")) {
            if (!nnv_relay_skip_brackets(p)) return false;
        } else if (!nnv_relay_parse_value(p, &a->value) || !nnv_relay_pile(p, a)) {
            return false;
        }
        if (!nnv_relay_take(p, ",") && !nnv_relay_at(p, "}")) return nnv_relay_expected(p, "',' or '}'");
    }
    struct nnv_relay_attr *const *read = nnv_relay_unpile(p, mark, &b->n_attrs);
    b->attrs = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_attr, b->n_attrs + 1));
    for (size_t i = 0; b->attrs && i < b->n_attrs; i++) b->attrs[i] = *read[i];
    return b->attrs && nnv_relay_must(p, ")");
}

static bool parse_return(struct nnv_relay_parser *p, struct block *b) {
    struct nnv_relay_span span = p->tok.span;
    size_t mark = p->n_pile, n;
    bool tuple = false;
    nnv_relay_next(p);
    do {
        struct nnv_relay_expr *e = nnv_relax_parse_expr(p);
        if (e == NULL || !nnv_relay_pile(p, e)) return false;
        tuple = nnv_relay_at(p, ",") || tuple;
    } while (nnv_relay_take(p, ",") && !nnv_relax_at_line(p));
    struct nnv_relay_expr *const *fields = nnv_relay_unpile(p, mark, &n);
    b->value = tuple ? nnv_relax_typed(p, nnv_relay_placed(p, nnv_relay_tuple(p->m, n, fields), span)) : fields[0];
    return b->value != NULL;
}

static bool parse_statement(struct nnv_relay_parser *p, struct block *b) {
    if (p->tok.kind == NNV_RELAY_AT) return parse_function(p, true);
    if (nnv_relay_at(p, "return")) return parse_return(p, b);
    if (nnv_relay_at(p, "if")) return parse_if(p, b);
    if (nnv_relay_at(p, "R.func_attr")) return parse_func_attr(p, b);
    if (nnv_relay_at(p, "R.output") || nnv_relay_at(p, "pass")) {
        skip_line(p);
        return true;
    }
    if (nnv_relay_at(p, "with")) {
        uint32_t column = p->tok.span.column;
        nnv_relay_next(p);
        if (!nnv_relay_at(p, "R.dataflow")) return nnv_relay_expected(p, "R.dataflow()");
        nnv_relay_next(p);
        return nnv_relay_must(p, "(") && nnv_relay_must(p, ")") && nnv_relay_must(p, ":") &&
               parse_statements(p, column, b);
    }
    if (p->tok.kind != NNV_RELAY_WORD) return nnv_relay_expected(p, "a statement");
    return parse_binding(p, b);
}

/* Statements in one column, which is right of outer. */
static bool parse_statements(struct nnv_relay_parser *p, uint32_t outer, struct block *b) {
    uint32_t column = p->tok.span.column;
    if (!nnv_relax_at_line(p) || p->tok.kind == NNV_RELAY_END || column <= outer)
        return nnv_relay_expected(p, "an indented block");
    if (!nnv_relay_deeper(p)) return false;
    bool ok = true;
    while (ok && p->tok.kind != NNV_RELAY_END && p->tok.span.column >= column) {
        if (b->value) return nnv_relay_expected(p, "the end of the function behind its return");
        if (p->tok.span.column > column) return nnv_relay_expected(p, "a statement in the column of the others");
        ok = parse_statement(p, b) && must_end_line(p);
    }
    nnv_relay_higher(p);
    return ok;
}

/* ---------------------------------------------------------------- functions */

/* Parameters onto the pile, each bound; up to and with the ")". */
static bool parse_params(struct nnv_relay_parser *p) {
    size_t mark = p->n_pile;
    while (!nnv_relay_take(p, ")")) {
        struct nnv_relay_span span = p->tok.span;
        const struct nnv_relay_type *type = NULL;
        if (p->tok.kind != NNV_RELAY_WORD) return nnv_relay_expected(p, "a parameter");
        const char *name = nnv_relay_token_name(p);
        nnv_relay_next(p);
        if (name && nnv_relay_take(p, ":") && (type = nnv_relax_parse_type(p)) == NULL) return false;
        struct nnv_relay_expr *v = name ? nnv_relay_placed(p, nnv_relay_var(p->m, name, type), span) : NULL;
        if (v == NULL) return false;
        v->type = type;
        for (size_t i = mark; i < p->n_pile; i++)
            if (((struct nnv_relay_expr *)p->pile[i])->name == name)
                return nnv_relay_parse_fail(p, &span, "parameter %s is there twice", name);
        if (!nnv_relay_pile(p, v) || !nnv_relay_bind(p, name, v)) return false;
        if (!nnv_relay_take(p, ",") && !nnv_relay_at(p, ")")) return nnv_relay_expected(p, "',' or ')'");
    }
    return true;
}

/*
 * A region's function has Codegen in Relax; in the graph it is Compiler, beside the attributes that such functions have
 * in Relay.
 */
static bool name_attrs(struct nnv_relay_parser *p, struct block *b, const char *name) {
    for (size_t i = 0; i < b->n_attrs; i++) {
        if (strcmp(b->attrs[i].key, "Codegen") != 0) continue;
        const struct nnv_relay_attr region[] = {
            {"Primitive", {.kind = NNV_RELAY_INT, .i = 1}},
            {"Inline", {.kind = NNV_RELAY_INT, .i = 1}},
            {"Compiler", b->attrs[i].value},
            {"global_symbol", {.kind = NNV_RELAY_STRING, .text = name}},
        };
        b->attrs = nnv_relay_got(p, nnv_arena_copy(p->m->arena, region, sizeof region));
        b->n_attrs = sizeof region / sizeof *region;
        return b->attrs != NULL;
    }
    return true;
}

/* (params) -> type: block, behind the name. The result's type is that of what it returns: it is known by then. */
static struct nnv_relay_expr *parse_rest(struct nnv_relay_parser *p, const char *name, uint32_t column) {
    const struct nnv_relay_type *result = NULL;
    size_t mark = p->n_pile, n;
    struct block b = {0};
    if (!nnv_relay_must(p, "(") || !parse_params(p)) return NULL;
    if (nnv_relay_take(p, "->") && (result = nnv_relax_parse_type(p)) == NULL) return NULL;
    if (!nnv_relay_must(p, ":") || !parse_statements(p, column, &b)) return NULL;
    if (b.value == NULL) return nnv_relay_expected(p, "a return");
    if (!name_attrs(p, &b, name)) return NULL;
    void *params = nnv_relay_unpile(p, mark, &n);
    return nnv_relay_got(p, nnv_relay_fn(p->m, n, params, result, b.value, b.n_attrs, b.attrs));
}

/* @R.function, def; nested: bound to its name in the function that it is in. */
static bool parse_function(struct nnv_relay_parser *p, bool nested) {
    uint32_t column = p->tok.span.column;
    const bool relax = p->tok.len == strlen("R.function") && memcmp(p->tok.text, "R.function", p->tok.len) == 0;
    const char *dot = memchr(p->tok.text, '.', p->tok.len);
    const bool foreign = dot && !(dot == p->tok.text + 1 && *p->tok.text == 'R');
    if (!relax && (nested || !foreign)) return nnv_relay_expected(p, "@R.function");
    if (!relax) return skip_function(p, column);
    skip_line(p);
    if (!nnv_relay_must(p, "def")) return false;
    if (p->tok.kind != NNV_RELAY_WORD) return nnv_relay_expected(p, "the name of the function");
    struct nnv_relay_span span = p->tok.span;
    const char *name = nnv_relay_token_name(p);
    nnv_relay_next(p);
    if (name == NULL) return false;
    if (!nested && (nnv_relay_find(p->m, name) || nnv_relax_composite(p, name)))
        return nnv_relay_parse_fail(p, &span, "%s is defined twice", name);
    size_t scope = p->n_undo;
    struct nnv_relay_expr *f = parse_rest(p, name, column);
    nnv_relay_close_scope(p, scope);
    if (f == NULL) return false;
    f->span = span;
    if (nested) return nnv_relay_bind(p, name, f);
    if (nnv_relay_written(f, "Composite") && !nnv_relay_written(f, "Compiler"))
        return nnv_relax_add_composite(p, name, f);
    return nnv_relay_got(p, nnv_relay_define(p->m, name, f) ? f : NULL);
}

/* ------------------------------------------------------------------- module */

/* metadata = tvm.ir.load_json("""..."""): JSON within a string of Python. */
static bool parse_metadata(struct nnv_relay_parser *p) {
    nnv_relay_next(p);
    if (!nnv_relay_must(p, "=") || p->tok.kind != NNV_RELAY_WORD)
        return nnv_relay_expected(p, "tvm.ir.load_json(\"\"\"...\"\"\")");
    nnv_relay_next(p);
    if (!nnv_relay_must(p, "(")) return false;
    if (p->tok.kind != NNV_RELAY_QUOTED) return nnv_relay_expected(p, "the metadata in quotes");
    struct nnv_relay_span span = p->tok.span;
    char *json = nnv_relay_got(p, nnv_arena_alloc(p->m->arena, p->tok.len + 1, 1));
    size_t n = 0;
    for (size_t i = 0; json && i < p->tok.len; i++) {
        const char c = p->tok.text[i], next = i + 1 < p->tok.len ? p->tok.text[i + 1] : '\0';
        const bool escaped = c == '\\' && (next == '"' || next == '\'' || next == '\\');
        json[n++] = escaped ? next : c;
        i += escaped;
    }
    if (json == NULL || !nnv_relay_resolve_meta(p, json, n, true, &span)) return false;
    nnv_relay_next(p);
    return nnv_relay_must(p, ")");
}

static bool parse_member(struct nnv_relay_parser *p) {
    if (p->tok.kind == NNV_RELAY_AT) return parse_function(p, false);
    if (p->tok.kind != NNV_RELAY_WORD) return nnv_relay_expected(p, "a function (@R.function)");
    do nnv_relay_next(p); /* I.module_attrs(...), name = R.ExternFunc("name") */
    while (!nnv_relax_at_line(p) && !nnv_relay_at(p, "(") && !nnv_relay_at(p, "["));
    return nnv_relax_at_line(p) || nnv_relay_skip_brackets(p);
}

/* class Name: members */
static bool parse_class(struct nnv_relay_parser *p) {
    uint32_t outer = p->tok.span.column;
    nnv_relay_next(p);
    if (p->tok.kind != NNV_RELAY_WORD) return nnv_relay_expected(p, "the name of the class");
    if (p->module_name) return nnv_relay_parse_fail(p, &p->tok.span, "a second module: give each a file of its own");
    p->module_name = nnv_relay_token_name(p);
    nnv_relay_next(p);
    if (nnv_relay_at(p, "(") && !nnv_relay_skip_brackets(p)) return false;
    if (!nnv_relay_must(p, ":")) return false;
    while (p->tok.kind != NNV_RELAY_END && p->tok.span.column > outer)
        if (!parse_member(p)) return false;
    return true;
}

bool nnv_relax_parse_module(struct nnv_relay_parser *p) {
    nnv_relay_next(p);
    while (p->tok.kind != NNV_RELAY_END) {
        const bool decorates =
            p->tok.kind == NNV_RELAY_AT && p->tok.len > 9 && memcmp(p->tok.text + p->tok.len - 9, "ir_module", 9) == 0;
        bool ok = true;
        if (nnv_relay_at(p, "from") || nnv_relay_at(p, "import") || decorates)
            skip_line(p);
        else if (nnv_relay_at(p, "metadata"))
            ok = parse_metadata(p);
        else if (nnv_relay_at(p, "class"))
            ok = parse_class(p);
        else if (p->tok.kind == NNV_RELAY_AT)
            ok = parse_function(p, false);
        else
            return nnv_relay_expected(p, "a module (@I.ir_module, class) or a function (@R.function) of Relax");
        if (!ok || p->st != NNV_OK) return false;
    }
    for (size_t i = 0; i < p->m->n_functions; i++)
        if (!nnv_relax_place_composites(p, p->m->functions[i].expr)) return false;
    return p->m->n_functions || nnv_relay_expected(p, "a function (@R.function)");
}
