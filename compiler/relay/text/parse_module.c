/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing Relay text: the module. */
#include <stdlib.h>
#include <string.h>

#include "compiler/relay/text/relax.h"

enum { MOST_SHOWN = 40 };

static bool parse_definition(struct nnv_relay_parser *p) {
    nnv_relay_next(p); /* def */
    if (p->tok.kind != NNV_RELAY_AT) return nnv_relay_expected(p, "the function's name, such as '@main',");
    struct nnv_relay_span span = p->tok.span;
    const char *name = nnv_relay_token_name(p);
    if (name == NULL) return false;
    if (nnv_relay_find(p->m, name)) return nnv_relay_parse_fail(p, &span, "@%s is defined twice", name);
    nnv_relay_next(p);
    if (nnv_relay_at(p, "=")) return nnv_relay_parse_fail(p, &span, "external functions are not supported");
    size_t scope = p->n_undo;
    struct nnv_relay_expr *f = nnv_relay_parse_function(p);
    nnv_relay_close_scope(p, scope);
    if (f) f->span = span;
    return f && nnv_relay_got(p, nnv_relay_define(p->m, name, f) ? f : NULL);
}

/* A text without definitions: the body of @main, whose parameters are the free variables. */
static bool parse_bare(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    p->bare = true;
    struct nnv_relay_expr *body = nnv_relay_parse_body(p);
    if (body == NULL) return false;
    struct nnv_relay_expr *f = nnv_relay_fn(p->m, p->n_free, p->free_vars, NULL, body, 0, NULL);
    nnv_relay_close_scope(p, 0);
    if (f) f->span = span;
    return nnv_relay_got(p, nnv_relay_define(p->m, "main", f) ? f : NULL);
}

static bool parse_metadata(struct nnv_relay_parser *p) {
    const char *json = p->lexer.at;
    return nnv_relay_resolve_meta(p, json, (size_t)(p->lexer.end - json), false, &p->tok.span);
}

static bool parse_module(struct nnv_relay_parser *p) {
    nnv_relay_next(p);
    if (p->tok.kind == NNV_RELAY_HEADER) {
        if (p->tok.len != 5 || memcmp(p->tok.text, "0.0.5", 5) != 0)
            return nnv_relay_parse_fail(p, &p->tok.span, "version \"%.*s\" is not known, only \"0.0.5\" is",
                                        p->tok.len < MOST_SHOWN ? (int)p->tok.len : MOST_SHOWN, p->tok.text);
        nnv_relay_next(p);
    }
    while (nnv_relay_at(p, "def"))
        if (!parse_definition(p)) return false;
    if (nnv_relay_at(p, "type") || nnv_relay_at(p, "extern"))
        return nnv_relay_parse_fail(p, &p->tok.span, "types of the program's own are not supported");
    if (nnv_relay_at(p, "primfn") ||
        (p->tok.kind == NNV_RELAY_AT && p->tok.len > 2 && memcmp(p->tok.text, "T.", 2) == 0))
        return nnv_relay_parse_fail(p, &p->tok.span, "a lowered module (TIR) is not Relay; save it before lowering");
    if (p->m->n_functions == 0 && !parse_bare(p)) return false;
    if (p->tok.kind == NNV_RELAY_METADATA_MARK) return parse_metadata(p);
    return p->tok.kind == NNV_RELAY_END || nnv_relay_expected(p, "'def' or the end of the text");
}

enum nnv_status nnv_relay_parse(const char *text, size_t len, const char *name, struct nnv_arena *arena,
                                struct nnv_relay_module **module, struct nnv_err *err) {
    struct nnv_relay_parser p = {.m = nnv_relay_module_new(arena), .err = err};
    if (p.m == NULL || (p.m->file = nnv_arena_strdup(arena, name)) == NULL)
        return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", name);
    if (len > UINT32_MAX) return nnv_fail(err, NNV_INVALID, "%s: the text is above 4 GB", name);
    p.m->text = text;
    p.m->text_len = len;
    p.m->script = nnv_relax_is_script(text, len);
    nnv_relay_lex_start(&p.lexer, text, len, p.m->script);
    bool ok = p.m->script ? nnv_relax_parse_module(&p) : parse_module(&p);
    if (!ok && p.st == NNV_OK) p.st = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", name);
    nnv_id_free(&p.bound);
    free(p.undo);
    free(p.pile);
    free(p.opaque);
    free(p.free_vars);
    if (p.st == NNV_OK) *module = p.m;
    return p.st;
}
