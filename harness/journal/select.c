/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/select.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/regex.h"
#include "base/type.h"

enum { LONGEST = 4096, DEEPEST = 64, WORD_MAX = 48 };

/* -------------------------------------------------------------------- globs */

static bool same(char a, char b, bool fold) {
    return a == b || (fold && toupper((unsigned char)a) == toupper((unsigned char)b));
}

/** Matches c with the element of the glob at *at, and moves *at behind it. fold: letter case counts for nothing. */
static bool match_one(const char *glob, size_t n, size_t *at, char c, bool fold) {
    char g = glob[(*at)++];
    if (g == '?') return true;
    if (g == '\\' && *at < n) return same(glob[(*at)++], c, fold);
    if (g != '[') return same(g, c, fold);
    size_t i = *at;
    bool inverse = i < n && glob[i] == '!', found = false;
    if (inverse) i++;
    for (size_t first = i; i < n && (glob[i] != ']' || i == first); i++) {
        if (i + 2 < n && glob[i + 1] == '-' && glob[i + 2] != ']') {
            found = found || (glob[i] <= c && c <= glob[i + 2]);
            i += 2;
        } else {
            found = found || glob[i] == c;
        }
    }
    if (i >= n) return c == '['; /* no end: an ordinary bracket */
    *at = i + 1;
    return found != inverse;
}

static bool match(const char *glob, size_t n, const char *s, bool fold) {
    size_t at = 0, star = SIZE_MAX;
    const char *resume = NULL;
    while (*s != '\0' || at < n) {
        if (at < n && glob[at] == '*') {
            star = ++at;
            resume = s;
            continue;
        }
        if (*s != '\0' && at < n && match_one(glob, n, &at, *s, fold)) {
            s++;
            continue;
        }
        /* The last star takes one character more. */
        if (star == SIZE_MAX || *resume == '\0') return false;
        at = star;
        s = ++resume;
    }
    return true;
}

bool nnv_glob(const char *glob, size_t n, const char *s) { return match(glob, n, s, false); }

void nnv_select_exactly(const char *name, struct nnv_text *out) {
    /* With a slash it is a glob over names, whatever else it holds. */
    if (strchr(name, '/') == NULL) nnv_text_add(out, "name:");
    for (; *name != '\0'; name++) {
        if (strchr("*?[]\\&|!()~", *name) != NULL || isspace((unsigned char)*name)) nnv_text_add(out, "\\");
        nnv_text_add_n(out, name, 1);
    }
}

/* -------------------------------------------------------------- expressions */

enum node_kind { AND, OR, NOT, NAME, WORD, OP, TYPE, SUITE, TAG, LEVEL };

struct node {
    enum node_kind kind;
    uint16_t left, right;
    const char *word; /**< n characters of the expression */
    size_t n;
    struct nnv_regex *regex; /**< that they are; NULL: they are a glob */
    int least, most;         /**< LEVEL */
};

/** Parses by recursive descent; nodes are numbered in the order of their ends. */
struct parser {
    const char *text;
    size_t at;
    int depth;
    struct node node[LONGEST];
    uint16_t count;
    const struct nnv_case_list *list;
    nnv_select_names *names; /**< NULL: names that nothing has are no error */
    struct nnv_err *err;
};

static enum nnv_status NNV_PRINTF(3, 4) refuse(const struct parser *p, size_t at, const char *fmt, ...) {
    char why[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    return nnv_fail(p->err, NNV_INVALID, "selection '%.200s': column %zu: %s", p->text, at + 1, why);
}

static char peek(struct parser *p) {
    while (isspace((unsigned char)p->text[p->at])) p->at++;
    return p->text[p->at];
}

static uint16_t add(struct parser *p, struct node n) {
    p->node[p->count] = n;
    return p->count++;
}

static const char *const common_tags[] = {"edge", "exact", NNV_TAG_TIMING};

static bool see_tags(const char *tags, nnv_select_see *see, void *context) {
    while (*tags != '\0') {
        char tag[WORD_MAX];
        size_t n = strcspn(tags, " ");
        if (n > 0 && n < sizeof tag) {
            snprintf(tag, sizeof tag, "%.*s", (int)n, tags);
            if (see(context, tag)) return true;
        }
        tags += n + (tags[n] == ' ');
    }
    return false;
}

/** Names that a term may mean: calls see() for each until it returns true. */
static bool see_known(const struct parser *p, enum node_kind kind, nnv_select_see *see, void *context) {
    if (p->names(kind == OP || kind == WORD, kind == SUITE || kind == WORD, see, context)) return true;
    for (int32_t i = 0; (kind == TYPE || kind == WORD) && i < NNV_TYPE_COUNT; i++)
        if (nnv_type(i) != NULL && see(context, nnv_type(i)->tag)) return true;
    for (size_t i = 0; kind == WORD && i < sizeof common_tags / sizeof *common_tags; i++)
        if (see(context, common_tags[i])) return true;
    for (size_t i = 0; i < p->list->count; i++) {
        const struct nnv_case *c = &p->list->item[i];
        if ((kind == OP || kind == WORD) && see(context, c->op)) return true;
        if ((kind == TYPE || kind == WORD) && see(context, c->type)) return true;
        if ((kind == SUITE || kind == WORD) && see(context, c->suite)) return true;
        if (kind == WORD && see_tags(c->tags, see, context)) return true;
    }
    return false;
}

/* ----------------------------------------------------------------- matching */

static bool says(const struct node *n, const char *s) {
    return n->regex != NULL ? nnv_regex_found(n->regex, s) : nnv_glob(n->word, n->n, s);
}

/** An operation's name, in letters of either case. */
static bool same_letters(const struct node *n, const char *s) {
    return *s != '\0' && (n->regex != NULL ? nnv_regex_found(n->regex, s) : match(n->word, n->n, s, true));
}

/** A type by its tag, or a family: quant8 is all tags that begin with quant8_. */
static bool is_type(const struct node *n, const char *tag) {
    if (*tag == '\0') return false;
    if (says(n, tag)) return true;
    return n->regex == NULL && strlen(tag) > n->n && tag[n->n] == '_' && memcmp(tag, n->word, n->n) == 0;
}

/** As is_type, but what is a tag itself is no family. */
static bool type_matches(const struct node *n, const char *tag) {
    for (int32_t i = 0; i < NNV_TYPE_COUNT; i++) {
        const struct nnv_type *t = nnv_type(i);
        if (t != NULL && strlen(t->tag) == n->n && memcmp(t->tag, n->word, n->n) == 0) return says(n, tag);
    }
    return is_type(n, tag);
}

static bool equals_tag(void *context, const char *tag) { return says(context, tag); }

static bool matches(const struct node *nodes, uint16_t at, const struct nnv_case *c) {
    struct node n = nodes[at];
    switch (n.kind) {
    case AND:
        return matches(nodes, n.left, c) && matches(nodes, n.right, c);
    case OR:
        return matches(nodes, n.left, c) || matches(nodes, n.right, c);
    case NOT:
        return !matches(nodes, n.left, c);
    case NAME:
        return says(&n, c->name);
    case OP:
        return same_letters(&n, c->op);
    case TYPE:
        return type_matches(&n, c->type);
    case SUITE:
        return says(&n, c->suite);
    case TAG:
        return see_tags(c->tags, equals_tag, &n);
    case LEVEL:
        return c->level >= n.least && c->level <= n.most;
    case WORD:
        return see_tags(c->tags, equals_tag, &n) || same_letters(&n, c->op) || says(&n, c->suite) ||
               type_matches(&n, c->type);
    }
    return false;
}

/* -------------------------------------------------------------------- terms */

static bool means(void *context, const char *name) {
    const struct node *n = context;
    switch (n->kind) {
    case OP:
        return same_letters(n, name);
    case TYPE:
        return is_type(n, name);
    case WORD:
        return same_letters(n, name) || is_type(n, name);
    case SUITE:
    case TAG:
    case NAME:
    case LEVEL:
    case AND:
    case OR:
    case NOT:
        return says(n, name);
    }
    return false;
}

struct search {
    struct nnv_nearest near;
    char word[WORD_MAX], best[WORD_MAX];
};

static bool is_nearer(void *context, const char *name) {
    struct search *s = context;
    if (nnv_nearest_see(&s->near, name)) snprintf(s->best, sizeof s->best, "%s", name); /* it may not live long */
    return false;
}

/** Refuses a name that nothing has. */
static enum nnv_status check_known(const struct parser *p, const struct node *n, size_t at) {
    static const char *const what[] = {
        [WORD] = "operation, type, suite or tag", [OP] = "operation", [TYPE] = "type", [SUITE] = "suite"};
    struct node copy = *n;
    if (p->names == NULL || see_known(p, n->kind, means, &copy)) return NNV_OK;
    struct search s = {0};
    snprintf(s.word, sizeof s.word, "%.*s", (int)n->n, n->word);
    s.near = nnv_nearest_to(s.word);
    see_known(p, n->kind, is_nearer, &s);
    if (*s.best != '\0') return refuse(p, at, "unknown %s '%s' (did you mean '%s'?)", what[n->kind], s.word, s.best);
    return refuse(p, at, "unknown %s '%s'", what[n->kind], s.word);
}

/** N, <N, <=N, >N, >=N, =N or :N into the range of the node. */
static bool read_level(struct node *n) {
    const char *s = n->word;
    size_t left = n->n;
    bool less = *s == '<', more = *s == '>';
    s++, left--;
    bool equal = left > 0 && *s == '=';
    if (equal) s++, left--;
    if (left == 0 || left > 2) return false;
    int level = 0;
    for (; left > 0; s++, left--) {
        if (!isdigit((unsigned char)*s)) return false;
        level = level * 10 + (*s - '0');
    }
    n->least = less ? INT32_MIN : more && !equal ? level + 1 : level;
    n->most = more ? INT32_MAX : less && !equal ? level - 1 : level;
    return true;
}

static bool begins(const struct node *n, const char *prefix) {
    size_t k = strlen(prefix);
    return n->n > k && memcmp(n->word, prefix, k) == 0;
}

/** What kind of term the word is; cuts the prefix off. */
static void classify(struct node *n) {
    static const struct {
        const char *prefix;
        enum node_kind kind;
    } prefixes[] = {{"op:", OP}, {"type:", TYPE}, {"suite:", SUITE}, {"tag:", TAG}, {"name:", NAME}};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t k = strlen(prefixes[i].prefix);
        if (!begins(n, prefixes[i].prefix)) continue;
        n->kind = prefixes[i].kind;
        n->word += k;
        n->n -= k;
        return;
    }
    if (*n->word == '~') {
        n->kind = NAME;
        return;
    }
    if (begins(n, "level") && strchr(":<>=", n->word[5]) != NULL) {
        n->kind = LEVEL;
        n->word += 5;
        n->n -= 5;
        return;
    }
    n->kind = WORD;
    for (size_t i = 0; i < n->n; i++)
        if (strchr("/:*", n->word[i]) != NULL) n->kind = NAME;
}

/** True for "kind:..." where no glob over names is meant. */
static bool names_kind(const struct node *n) {
    size_t letters = 0;
    while (letters < n->n && isalpha((unsigned char)n->word[letters])) letters++;
    return letters < n->n && n->word[letters] == ':' && memchr(n->word, '/', n->n) == NULL;
}

/** Where the term at s ends: at a blank, an operator or a parenthesis that is not its own. */
static size_t term_length(const char *s) {
    const char *value = s;
    while (isalpha((unsigned char)*value)) value++;
    value = *value == ':' ? value + 1 : s;
    if (*value == '~') return (size_t)(value + 1 - s) + nnv_regex_length(value + 1);
    size_t n = 0;
    while (s[n] != '\0' && strchr("&|()", s[n]) == NULL && !isspace((unsigned char)s[n]))
        n += s[n] == '\\' && s[n + 1] != '\0' ? 2 : 1;
    return n;
}

/** A word that begins with ~ is a regular expression. */
static enum nnv_status read_regex(const struct parser *p, struct node *n, size_t at) {
    struct nnv_err why = {0};
    if (n->n == 0 || *n->word != '~') return NNV_OK;
    const enum nnv_status st = nnv_regex_new(++n->word, --n->n, n->kind == OP, &n->regex, &why);
    return st == NNV_INVALID ? refuse(p, at, "%s", why.text) : st == NNV_OK ? st : nnv_no_memory(p->err);
}

static enum nnv_status read_term(struct parser *p, uint16_t *out) {
    size_t start = p->at;
    const char *s = p->text;
    if (s[start] == '\0') return refuse(p, start, "expected a term, found the end");
    p->at += term_length(s + start);
    if (p->at == start) return refuse(p, start, "expected a term, found '%c'", s[start]);
    struct node n = {.word = s + start, .n = p->at - start};
    classify(&n);
    enum nnv_status st = read_regex(p, &n, start);
    if (st != NNV_OK) return st;
    if (n.kind == LEVEL && !read_level(&n)) st = refuse(p, start, "expected level:N, level<=N or level>=N");
    if (n.kind == NAME && n.word == s + start && names_kind(&n))
        st = refuse(p, start, "unknown kind of term (known: op: type: suite: tag: level: name:)");
    if (n.kind == WORD || n.kind == OP || n.kind == TYPE || n.kind == SUITE) st = check_known(p, &n, start);
    if (st == NNV_OK)
        *out = add(p, n);
    else
        nnv_regex_free(n.regex);
    return st;
}

static enum nnv_status read_any(struct parser *p, uint16_t *out);

static enum nnv_status read_factor(struct parser *p, uint16_t *out) {
    char c = peek(p);
    if (c != '!' && c != '(') return read_term(p, out);
    if (++p->depth > DEEPEST) return refuse(p, p->at, "nested more than %d deep", DEEPEST);
    size_t open = p->at++;
    enum nnv_status st;
    if (c == '!') {
        uint16_t inner = 0;
        st = read_factor(p, &inner);
        if (st == NNV_OK) *out = add(p, (struct node){.kind = NOT, .left = inner});
    } else {
        st = read_any(p, out);
        if (st == NNV_OK && peek(p) != ')') st = refuse(p, p->at, "expected ')' for the '(' in column %zu", open + 1);
        if (st == NNV_OK) p->at++;
    }
    p->depth--;
    return st;
}

/** One or more of what `read` reads, with the operator between them. */
static enum nnv_status read_chain(struct parser *p, char operator, enum node_kind kind,
                                  enum nnv_status (*read)(struct parser *, uint16_t *), uint16_t *out) {
    uint16_t left = 0, right = 0;
    enum nnv_status st = read(p, &left);
    while (st == NNV_OK && peek(p) == operator) {
        p->at++;
        st = read(p, &right);
        if (st == NNV_OK) left = add(p, (struct node){.kind = kind, .left = left, .right = right});
    }
    if (st == NNV_OK) *out = left;
    return st;
}

static enum nnv_status read_all(struct parser *p, uint16_t *out) { return read_chain(p, '&', AND, read_factor, out); }

static enum nnv_status read_any(struct parser *p, uint16_t *out) { return read_chain(p, '|', OR, read_all, out); }

/** NULL does nothing. */
static void parser_free(struct parser *p) {
    for (uint16_t i = 0; p != NULL && i < p->count; i++) nnv_regex_free(p->node[i].regex);
    free(p);
}

/** Parses the expression; *parser ends with parser_free(), also where that fails. */
static enum nnv_status parse(const struct nnv_case_list *list, const char *expression, nnv_select_names *names,
                             struct parser **parser, uint16_t *root, struct nnv_err *err) {
    *parser = NULL;
    if (strlen(expression) >= LONGEST)
        return nnv_fail(err, NNV_INVALID, "selection of more than %d characters", LONGEST - 1);
    struct parser *p = *parser = calloc(1, sizeof *p);
    if (p == NULL) return nnv_no_memory(err);
    p->text = expression;
    p->list = list;
    p->names = names;
    p->err = err;
    enum nnv_status st = read_any(p, root);
    if (st == NNV_OK && peek(p) != '\0') st = refuse(p, p->at, "expected & or |, found '%c'", expression[p->at]);
    return st;
}

enum nnv_status nnv_select_keep(struct nnv_case_list *list, const char *expression, nnv_select_names *names,
                                struct nnv_err *err) {
    if (expression == NULL) return NNV_OK;
    struct parser *p;
    uint16_t root = 0;
    enum nnv_status st = parse(list, expression, names, &p, &root, err);
    size_t kept = 0;
    for (size_t i = 0; st == NNV_OK && i < list->count; i++)
        if (matches(p->node, root, &list->item[i])) list->item[kept++] = list->item[i];
    if (st == NNV_OK) list->count = kept;
    parser_free(p);
    return st;
}

enum nnv_status nnv_select_each(const struct nnv_case_list *list, const char *expression, nnv_select_names *names,
                                void (*see)(void *context, size_t i), void *context, struct nnv_err *err) {
    struct parser *p;
    uint16_t root = 0;
    enum nnv_status st = parse(list, expression, names, &p, &root, err);
    for (size_t i = 0; st == NNV_OK && i < list->count; i++)
        if (see != NULL && matches(p->node, root, &list->item[i])) see(context, i);
    parser_free(p);
    return st;
}
