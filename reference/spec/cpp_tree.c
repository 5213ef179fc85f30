/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisers as a tree: lists, designated members, numbers, names, calls. It knows nothing of models. */
#include <string.h>

#include "base/text.h"
#include "reference/spec/cpp.h"

enum { DEEPEST = 32, BLOCK = 128 };

struct parser {
    const struct nnv_cpp_reader *r;
    struct nnv_cpp_token next; /* the token that is looked at */
    struct nnv_cpp_node *free; /* nodes of the current block */
    size_t nfree;
    int depth;
};

static void advance(struct parser *p) { p->next = nnv_cpp_token(p->next.text + p->next.len, p->r->end); }

static bool accept(struct parser *p, const char *mark) {
    if (p->next.kind != NNV_CPP_MARK || !nnv_cpp_is(&p->next, mark)) return false;
    advance(p);
    return true;
}

static struct nnv_cpp_node *new_node(struct parser *p) {
    if (!p->nfree) {
        p->free = NNV_NEW(p->r->arena, struct nnv_cpp_node, BLOCK);
        if (!p->free) return NULL;
        p->nfree = BLOCK;
    }
    p->nfree--;
    return p->free++;
}

static enum nnv_status parse_value(struct parser *p, struct nnv_cpp_node **node);

/* ".name =" in front of a member, if the list has designators. */
static enum nnv_status parse_designator(struct parser *p, bool first, bool *designated, struct nnv_cpp_token *field) {
    bool here = p->next.kind == NNV_CPP_MARK && nnv_cpp_is(&p->next, ".");
    if (first) *designated = here;
    if (here != *designated)
        return nnv_cpp_bad(p->r, &p->next,
                           here ? "a value without a field name, like those before it"
                                : "'.field =', like the members before it");
    if (!here) return NNV_OK;
    advance(p);
    if (p->next.kind != NNV_CPP_WORD) return nnv_cpp_bad(p->r, &p->next, "the name of a field");
    *field = p->next;
    advance(p);
    return accept(p, "=") ? NNV_OK : nnv_cpp_bad(p->r, &p->next, "'='");
}

/* Values up to close, separated by commas; the opening mark is passed. */
static enum nnv_status parse_items(struct parser *p, struct nnv_cpp_node *list, const char *close) {
    struct nnv_cpp_node **end = &list->first;
    bool designated = false;
    while (!accept(p, close)) {
        struct nnv_cpp_token field = {0};
        if (list->count && !accept(p, ",")) return nnv_cpp_bad(p->r, &p->next, "',' or '%s'", close);
        if (list->count && accept(p, close)) break;
        TRY(parse_designator(p, list->count == 0, &designated, &field));
        TRY(parse_value(p, end));
        (*end)->field = field;
        end = &(*end)->next;
        list->count++;
    }
    return NNV_OK;
}

/* A::B<C::D>::E from the word that is looked at; *token spans it, with all in between. */
static enum nnv_status parse_name(struct parser *p, struct nnv_cpp_token *token) {
    const char *start = token->text, *end;
    accept(p, "::");
    do {
        if (p->next.kind != NNV_CPP_WORD) return nnv_cpp_bad(p->r, &p->next, "a name");
        end = p->next.text + p->next.len;
        advance(p);
        if (accept(p, "<")) {
            struct nnv_cpp_token inner = p->next;
            if (++p->depth > DEEPEST) return nnv_cpp_bad(p->r, &p->next, "values nested at most %d deep", DEEPEST);
            TRY(parse_name(p, &inner));
            p->depth--;
            end = p->next.text + p->next.len;
            if (!accept(p, ">")) return nnv_cpp_bad(p->r, &p->next, "'>'");
        }
    } while (accept(p, "::"));
    token->len = (size_t)(end - start);
    return NNV_OK;
}

/* A number, name or call, with its sign. */
static enum nnv_status parse_scalar(struct parser *p, struct nnv_cpp_node *node) {
    if (!accept(p, "-")) accept(p, "+");
    if (p->next.kind == NNV_CPP_DIGITS) {
        node->kind = NNV_CPP_NUMBER;
        node->token.len = (size_t)(p->next.text + p->next.len - node->token.text);
        advance(p);
        return NNV_OK;
    }
    if (p->next.kind != NNV_CPP_WORD && !nnv_cpp_is(&p->next, "::")) return nnv_cpp_bad(p->r, &p->next, "a value");
    TRY(parse_name(p, &node->token));
    node->kind = NNV_CPP_NAME;
    if (!accept(p, "(")) return NNV_OK;
    node->kind = NNV_CPP_CALL;
    return parse_items(p, node, ")");
}

static enum nnv_status parse_value(struct parser *p, struct nnv_cpp_node **result) {
    struct nnv_cpp_node *node = new_node(p);
    if (!node) return nnv_cpp_no_memory(p->r);
    if (++p->depth > DEEPEST) return nnv_cpp_bad(p->r, &p->next, "values nested at most %d deep", DEEPEST);
    *node = (struct nnv_cpp_node){.kind = NNV_CPP_LIST, .token = p->next};
    enum nnv_status status = accept(p, "{") ? parse_items(p, node, "}") : parse_scalar(p, node);
    p->depth--;
    *result = node;
    return status;
}

enum nnv_status nnv_cpp_value(const struct nnv_cpp_reader *r, const char **at, struct nnv_cpp_node **node) {
    struct parser p = {.r = r, .next = nnv_cpp_token(*at, r->end)};
    TRY(parse_value(&p, node));
    *at = p.next.text;
    return NNV_OK;
}

/* ------------------------------------------------------------------ reading */

enum nnv_status nnv_cpp_wrong(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *got, const char *expected,
                              ...) {
    struct nnv_text message = {0};
    va_list ap;
    va_start(ap, expected);
    nnv_text_vaddf(&message, expected, ap);
    va_end(ap);
    nnv_cpp_bad(r, &got->token, "%s", message.failed ? "something else" : message.data);
    nnv_text_free(&message);
    return NNV_INVALID;
}

bool nnv_cpp_is_array(const struct nnv_cpp_node *node) {
    return node->kind == NNV_CPP_LIST && (node->count == 0 || node->first->field.len == 0);
}

static enum nnv_status unknown_field(const struct nnv_cpp_reader *r, const struct nnv_cpp_token *field,
                                     const char *what, const char *const *names, size_t n) {
    struct nnv_text known = {0};
    for (size_t i = 0; i < n; i++) nnv_text_addf(&known, "%s%s", i ? ", " : "", names[i]);
    nnv_cpp_bad(r, field, "a field of %s (%s)", what, known.failed ? "" : known.data);
    nnv_text_free(&known);
    return NNV_INVALID;
}

enum nnv_status nnv_cpp_fields(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *list, const char *what,
                               const char *const *names, size_t n, const struct nnv_cpp_node **found) {
    if (list->kind != NNV_CPP_LIST) return nnv_cpp_wrong(r, list, "%s, {.field = value, ...}", what);
    memset(found, 0, n * sizeof(const struct nnv_cpp_node *));
    for (const struct nnv_cpp_node *member = list->first; member; member = member->next) {
        size_t i = 0;
        if (!member->field.len) return nnv_cpp_wrong(r, member, "'.field =' of %s", what);
        while (i < n && !nnv_cpp_is(&member->field, names[i])) i++;
        if (i == n) return unknown_field(r, &member->field, what, names, n);
        if (found[i]) return nnv_cpp_bad(r, &member->field, "each field of %s once", what);
        found[i] = member;
    }
    return NNV_OK;
}
