/* SPDX-License-Identifier: Apache-2.0 */
/* The models in a file of AOSP's generated tests: finding their functions, and reading one. */
#include <string.h>

#include "reference/spec/spec.h"
#include "reference/spec/cpp.h"

static const char PREFIX[] = "get_test_model";

/* ------------------------------------------------------------------- finding */

/* Walks over the source outside of initialisers. */
struct walk {
    const char *end;
    struct nnv_cpp_token token;
    size_t depth; /* of braces that are open */
};

static void step(struct walk *w) {
    w->token = nnv_cpp_token(w->token.text + w->token.len, w->end);
    if (w->token.kind != NNV_CPP_MARK) return;
    if (*w->token.text == '{') w->depth++;
    if (*w->token.text == '}' && w->depth) w->depth--;
}

static bool is_over(const struct walk *w) { return w->token.kind == NNV_CPP_END || w->token.kind == NNV_CPP_OPEN; }

static struct walk walk_from(const char *text, const char *end) {
    return (struct walk){.end = end, .token = {NNV_CPP_MARK, text, 0}};
}

/* Goes to the brace that opens the body of the next function "TestModel& name() {"; *name, *start: its first word. */
static bool find_function(struct walk *w, struct nnv_cpp_token *name, const char **start) {
    for (step(w); !is_over(w); step(w)) {
        if (!nnv_cpp_is(&w->token, "TestModel")) continue;
        struct nnv_cpp_token begin = w->token;
        struct walk ahead = *w;
        step(&ahead);
        if (nnv_cpp_is(&ahead.token, "&")) step(&ahead);
        *name = ahead.token;
        if (ahead.token.kind != NNV_CPP_WORD) continue;
        step(&ahead);
        if (!nnv_cpp_is(&ahead.token, "(")) continue;
        step(&ahead);
        if (!nnv_cpp_is(&ahead.token, ")")) continue;
        step(&ahead);
        if (!nnv_cpp_is(&ahead.token, "{")) continue;
        *w = ahead;
        *start = begin.text;
        return true;
    }
    return false;
}

/* The beginning of the line of p. */
static const char *line_of(const char *text, const char *p) {
    const char *newline = memrchr(text, '\n', (size_t)(p - text));
    return newline ? newline + 1 : text;
}

/* Sets the piece from start to end; the next one begins behind it. */
static void set_piece(struct nnv_spec_pieces *p, const char *start, const char *end) {
    for (const char *at = p->at; (at = memchr(at, '\n', (size_t)(start - at))); at++) p->next_line++;
    p->text = start;
    p->len = (size_t)(end - start);
    p->line = p->next_line;
    for (const char *at = start; (at = memchr(at, '\n', (size_t)(end - at))); at++) p->next_line++;
    p->at = end;
    p->count++;
}

struct nnv_spec_pieces nnv_spec_cpp_pieces(const char *text, size_t size) {
    return (struct nnv_spec_pieces){.at = text, .end = text + size, .next_line = 1};
}

bool nnv_spec_cpp_next(struct nnv_spec_pieces *p) {
    struct walk w = walk_from(p->at, p->end);
    struct nnv_cpp_token name;
    const char *start;
    if (p->over) return false;
    w.depth = p->depth;
    if (find_function(&w, &name, &start)) {
        size_t outside = w.depth - 1;
        while (w.depth > outside && !is_over(&w)) step(&w);
        p->over = is_over(&w);
        p->depth = outside;
        set_piece(p, line_of(p->at, start), p->over ? p->end : w.token.text + w.token.len);
        return true;
    }
    p->over = true;
    /* What is left holds no model: it is a piece, which has its error, if the file ends too early or holds none. */
    if (p->count && !w.depth && w.token.kind == NNV_CPP_END) return false;
    set_piece(p, p->at, p->end);
    return true;
}

/* ------------------------------------------------------------------- reading */

static enum nnv_status expect(const struct nnv_cpp_reader *r, struct walk *w, const char *text) {
    step(w);
    return nnv_cpp_is(&w->token, text) ? NNV_OK : nnv_cpp_bad(r, &w->token, "'%s'", text);
}

/* "static TestModel model = {...}; return model; }" behind the brace; *node: the initialiser. */
static enum nnv_status parse_body(const struct nnv_cpp_reader *r, struct walk *w, struct nnv_cpp_node **node) {
    TRY(expect(r, w, "static"));
    step(w);
    if (nnv_cpp_is(&w->token, "const")) step(w);
    if (nnv_cpp_is(&w->token, "test_helper")) {
        TRY(expect(r, w, "::"));
        step(w);
    }
    if (!nnv_cpp_is(&w->token, "TestModel")) return nnv_cpp_bad(r, &w->token, "'TestModel'");
    step(w);
    struct nnv_cpp_token name = w->token;
    if (name.kind != NNV_CPP_WORD) return nnv_cpp_bad(r, &name, "the name of the model");
    TRY(expect(r, w, "="));
    const char *at = w->token.text + w->token.len;
    TRY(nnv_cpp_value(r, &at, node));
    w->token = (struct nnv_cpp_token){NNV_CPP_MARK, at, 0};
    TRY(expect(r, w, ";"));
    TRY(expect(r, w, "return"));
    step(w);
    if (w->token.len != name.len || memcmp(w->token.text, name.text, name.len) != 0)
        return nnv_cpp_bad(r, &w->token, "the name of the model, '%.*s'", (int)name.len, name.text);
    TRY(expect(r, w, ";"));
    return expect(r, w, "}");
}

/* The file's name without folder and suffix, and what the function's name adds to it: "add" and "_relaxed". */
static enum nnv_status make_name(const struct nnv_cpp_reader *r, const struct nnv_cpp_token *function,
                                 const char **name, const char **source) {
    const char *slash = strrchr(r->path, '/'), *base = slash ? slash + 1 : r->path, *dot = strrchr(base, '.');
    size_t n = dot ? (size_t)(dot - base) : strlen(base), prefix = sizeof PREFIX - 1;
    static const char example[] = ".example";
    if (n > sizeof example - 1 && memcmp(base + n - (sizeof example - 1), example, sizeof example - 1) == 0)
        n -= sizeof example - 1;
    if (function->len < prefix || memcmp(function->text, PREFIX, prefix) != 0)
        return nnv_cpp_bad(r, function, "a function called %s or %s_NAME", PREFIX, PREFIX);
    *name =
        nnv_arena_printf(r->arena, "%.*s%.*s", (int)n, base, (int)(function->len - prefix), function->text + prefix);
    *source = nnv_arena_strdup(r->arena, base);
    return *name && *source ? NNV_OK : nnv_cpp_no_memory(r);
}

const char *nnv_spec_cpp_name(const char *text, size_t len, const char *path, struct nnv_arena *arena) {
    struct nnv_cpp_reader r = {.path = path, .text = text, .end = text + len, .line = 1, .arena = arena};
    struct walk w = walk_from(text, r.end);
    struct nnv_cpp_token function;
    const char *start, *name = NULL, *source;
    if (!find_function(&w, &function, &start) || make_name(&r, &function, &name, &source) != NNV_OK) return NULL;
    return name;
}

enum nnv_status nnv_spec_parse_cpp(const char *text, size_t len, const char *path, size_t line, struct nnv_arena *arena,
                                   struct nnv_spec **spec, struct nnv_err *err) {
    struct nnv_cpp_reader r = {.path = path, .text = text, .end = text + len, .line = line, .arena = arena, .err = err};
    struct walk w = walk_from(text, r.end);
    struct nnv_cpp_token function;
    struct nnv_cpp_node *node = NULL;
    const char *start;
    struct nnv_spec *s = NNV_NEW(arena, struct nnv_spec, 1);
    if (!s) return nnv_cpp_no_memory(&r);
    if (!find_function(&w, &function, &start))
        return nnv_cpp_bad(&r, &w.token, "a model, 'const TestModel& %s() {', or the '}' of a namespace", PREFIX);
    TRY(make_name(&r, &function, &s->name, &s->source));
    TRY(parse_body(&r, &w, &node));
    TRY(nnv_cpp_model(&r, node, s));
    *spec = s;
    return NNV_OK;
}
