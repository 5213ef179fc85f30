/* SPDX-License-Identifier: Apache-2.0 */
/* Pattern tables from JSON. Every error names the place in the document: "nnapi.json: [3].pattern.args[0].op: ...". */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compiler/byoc/pattern.h"

enum { MOST_DEPTH = 64, MOST_PATTERNS = 4096, MOST_PATH = 512, MOST_FILE = 16 << 20 };

struct scope {
    const char *name;
    const struct nnv_pattern *pattern;
};

/** What is known while one entry is read. */
struct reader {
    struct nnv_arena *arena;
    struct nnv_err *err;
    const json_t *define; /**< patterns of the document by name, or NULL */
    struct scope *scopes; /**< by number of the value: its first pattern */
    uint32_t n_patterns, n_ids;
    const struct nnv_pattern *base; /**< what "@" stands for */
    int depth;
};

static enum nnv_status bad(struct nnv_err *err, const char *at, const char *message) {
    return nnv_fail(err, NNV_INVALID, "%s: %s", at, message);
}
/* A place in the document, cut to fit. */
static void NNV_PRINTF(2, 3) locate(char place[MOST_PATH], const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(place, MOST_PATH, fmt, ap);
    va_end(ap);
}
/* --------------------------------------------------------------------- patterns */

static enum nnv_status read_pattern(struct reader *r, const json_t *json, const char *at,
                                    const struct nnv_pattern **out);

static struct nnv_pattern *new_pattern(struct reader *r, enum nnv_pattern_kind kind) {
    struct nnv_pattern *p = NNV_NEW(r->arena, struct nnv_pattern, 1);
    if (p) *p = (struct nnv_pattern){.kind = kind, .number = r->n_patterns++, .index = -1};
    return p;
}

/* The number of the value of this name plus 1, a new one if need be. 0: out of memory. */
static uint32_t id_of(struct reader *r, const char *name) {
    for (uint32_t i = 0; i < r->n_ids; i++)
        if (!strcmp(r->scopes[i].name, name)) return i + 1;
    char *copy = nnv_arena_strdup(r->arena, name);
    if (!copy) return 0;
    r->scopes[r->n_ids].name = copy;
    return ++r->n_ids;
}

static enum nnv_status read_parts(struct reader *r, const json_t *list, const char *at, struct nnv_pattern *p) {
    const struct nnv_pattern **parts = NNV_NEW(r->arena, const struct nnv_pattern *, json_array_size(list));
    if (!parts) return nnv_no_memory(r->err);
    p->n_parts = json_array_size(list);
    p->parts = parts;
    for (size_t i = 0; i < p->n_parts; i++) {
        char place[MOST_PATH];
        locate(place, "%s[%zu]", at, i);
        enum nnv_status s = read_pattern(r, json_array_get(list, i), place, &parts[i]);
        if (s != NNV_OK) return s;
    }
    return NNV_OK;
}

static enum nnv_status read_attrs(struct reader *r, const json_t *object, const char *at, struct nnv_pattern *p) {
    if (!json_is_object(object)) return bad(r->err, at, "attributes are an object of names and values");
    struct nnv_pattern_attr *attrs = NNV_NEW(r->arena, struct nnv_pattern_attr, json_object_size(object));
    if (!attrs) return nnv_no_memory(r->err);
    p->attrs = attrs;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        struct nnv_pattern_attr *a = &attrs[p->n_attrs++];
        a->key = nnv_arena_strdup(r->arena, key);
        if (!a->key) return nnv_no_memory(r->err);
        if (!nnv_pattern_value(value, r->arena, &a->value))
            return bad(r->err, at, "an attribute is a number, a string, a truth value, null or a list of these");
    }
    return NNV_OK;
}

static enum nnv_status read_op(struct reader *r, const json_t *json, const char *at, struct nnv_pattern **out) {
    const json_t *op = json_object_get(json, "op"), *args = json_object_get(json, "args");
    const json_t *attrs = json_object_get(json, "attrs");
    char place[MOST_PATH];
    if (!json_is_string(op) || !json_string_length(op)) return bad(r->err, at, "\"op\" is the name of an operator");
    if (args && !json_is_array(args)) return bad(r->err, at, "\"args\" is a list of patterns");
    struct nnv_pattern *p = *out = new_pattern(r, NNV_PATTERN_OP);
    if (!p || !(p->name = nnv_arena_strdup(r->arena, json_string_value(op)))) return nnv_no_memory(r->err);
    p->any_parts = !args;
    enum nnv_status s = NNV_OK;
    if (attrs) {
        locate(place, "%s.attrs", at);
        s = read_attrs(r, attrs, place, p);
    }
    locate(place, "%s.args", at);
    return s == NNV_OK && args ? read_parts(r, args, place, p) : s;
}

static enum nnv_status read_tuple(struct reader *r, const json_t *json, const char *at, struct nnv_pattern **out) {
    const json_t *fields = json_object_get(json, "tuple");
    if (!json_is_null(fields) && !json_is_array(fields))
        return bad(r->err, at, "\"tuple\" is a list of patterns, or null for any fields");
    struct nnv_pattern *p = *out = new_pattern(r, NNV_PATTERN_TUPLE);
    if (!p) return nnv_no_memory(r->err);
    p->any_parts = json_is_null(fields);
    char place[MOST_PATH];
    locate(place, "%s.tuple", at);
    return p->any_parts ? NNV_OK : read_parts(r, fields, place, p);
}

static enum nnv_status read_one_part(struct reader *r, const json_t *json, const char *at, const char *key,
                                     const struct nnv_pattern **part) {
    char place[MOST_PATH];
    locate(place, "%s.%s", at, key);
    const json_t *member = json_object_get(json, key);
    if (!member) return nnv_fail(r->err, NNV_INVALID, "%s: \"%s\" is missing, a pattern", at, key);
    return read_pattern(r, member, place, part);
}

static enum nnv_status read_get(struct reader *r, const json_t *json, const char *at, struct nnv_pattern **out) {
    const json_t *index = json_object_get(json, "index");
    if (index && (!json_is_integer(index) || json_integer_value(index) < 0))
        return bad(r->err, at, "\"index\" is the number of a field, from 0");
    struct nnv_pattern *p = *out = new_pattern(r, NNV_PATTERN_GET);
    const struct nnv_pattern **parts = NNV_NEW(r->arena, const struct nnv_pattern *, 1);
    if (!p || !parts) return nnv_no_memory(r->err);
    if (index) p->index = json_integer_value(index);
    p->parts = parts;
    p->n_parts = 1;
    return read_one_part(r, json, at, "get", &parts[0]);
}

static enum nnv_status read_alt(struct reader *r, const json_t *json, const char *at, struct nnv_pattern **out) {
    const json_t *list = json_object_get(json, "alt");
    if (!json_array_size(list)) return bad(r->err, at, "\"alt\" is a list of at least one pattern");
    struct nnv_pattern *p = *out = new_pattern(r, NNV_PATTERN_ALT);
    if (!p) return nnv_no_memory(r->err);
    char place[MOST_PATH];
    locate(place, "%s.alt", at);
    return read_parts(r, list, place, p);
}

/* {"base": P, "then": Q}: P, or Q, in which "@" stands for P. */
static enum nnv_status read_optional(struct reader *r, const json_t *json, const char *at, struct nnv_pattern **out) {
    char place[MOST_PATH];
    locate(place, "%s.optional", at);
    const json_t *o = json_object_get(json, "optional");
    struct nnv_pattern *p = *out = new_pattern(r, NNV_PATTERN_ALT);
    const struct nnv_pattern **parts = NNV_NEW(r->arena, const struct nnv_pattern *, 2), *outer = r->base;
    if (!p || !parts) return nnv_no_memory(r->err);
    p->parts = parts;
    p->n_parts = 2;
    enum nnv_status s = read_one_part(r, o, place, "base", &parts[0]);
    r->base = parts[0];
    if (s == NNV_OK) s = read_one_part(r, o, place, "then", &parts[1]);
    r->base = outer;
    return s == NNV_OK ? nnv_pattern_members(o, place, "base then", r->err) : s;
}

static enum nnv_status read_dominator(struct reader *r, const json_t *json, const char *at, struct nnv_pattern **out) {
    static const char *const keys[] = {"parent", "path", "child"};
    char place[MOST_PATH];
    locate(place, "%s.dominates", at);
    const json_t *o = json_object_get(json, "dominates");
    struct nnv_pattern *p = *out = new_pattern(r, NNV_PATTERN_DOMINATES);
    const struct nnv_pattern **parts = NNV_NEW(r->arena, const struct nnv_pattern *, 3);
    if (!p || !parts) return nnv_no_memory(r->err);
    p->parts = parts;
    p->n_parts = 3;
    for (int i = 0; i < 3; i++) {
        enum nnv_status s = read_one_part(r, o, place, keys[i], &parts[i]);
        if (s != NNV_OK) return s;
    }
    return nnv_pattern_members(o, place, "parent path child", r->err);
}

static enum nnv_status read_leaf(struct reader *r, const json_t *json, const char *at, struct nnv_pattern **out) {
    static const struct {
        const char *key;
        enum nnv_pattern_kind kind;
    } leaves[] = {{"any", NNV_PATTERN_ANY}, {"const", NNV_PATTERN_CONST}, {"var", NNV_PATTERN_VAR}};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        if (!json_object_get(json, leaves[i].key)) continue;
        if (!json_is_true(json_object_get(json, leaves[i].key)))
            return nnv_fail(r->err, NNV_INVALID, "%s: \"%s\" can only be true", at, leaves[i].key);
        *out = new_pattern(r, leaves[i].kind);
        return *out ? NNV_OK : nnv_no_memory(r->err);
    }
    return bad(r->err, at,
               "not a pattern: expected \"*\" or an object with any, op, const, var, tuple, get, alt, optional, "
               "dominates or ref");
}

/* The pattern of this name: a value of the entry read before, which is then the same value, or one of "define". */
static enum nnv_status read_ref(struct reader *r, const json_t *json, const char *at, const struct nnv_pattern **out) {
    const char *name = json_string_value(json_object_get(json, "ref"));
    if (!name) return bad(r->err, at, "\"ref\" is the name of a pattern");
    for (uint32_t i = 0; i < r->n_ids; i++) {
        if (strcmp(r->scopes[i].name, name) != 0) continue;
        *out = r->scopes[i].pattern;
        return *out ? NNV_OK
                    : nnv_fail(r->err, NNV_INVALID, "%s: '%s' refers to the pattern that it is a part of", at, name);
    }
    const json_t *defined = json_object_get(r->define, name);
    if (!defined) return nnv_fail(r->err, NNV_INVALID, "%s: no pattern named '%.60s' stands before this", at, name);
    char place[MOST_PATH];
    locate(place, "%.200s: define.%.60s", at, name);
    return read_pattern(r, defined, place, out);
}

static enum nnv_status read_object(struct reader *r, const json_t *json, const char *at,
                                   const struct nnv_pattern **out) {
    static const struct {
        const char *key;
        enum nnv_status (*read)(struct reader *, const json_t *, const char *, struct nnv_pattern **);
        const char *members;
    } forms[] = {{"op", read_op, "op args attrs id"},        {"tuple", read_tuple, "tuple id"},
                 {"get", read_get, "get index id"},          {"alt", read_alt, "alt id"},
                 {"optional", read_optional, "optional id"}, {"dominates", read_dominator, "dominates id"}};
    const char *members = "any const var id";
    if (json_object_get(json, "ref")) {
        enum nnv_status wrong = nnv_pattern_members(json, at, "ref", r->err);
        return wrong == NNV_OK ? read_ref(r, json, at, out) : wrong;
    }
    const json_t *id = json_object_get(json, "id");
    uint32_t number = 0;
    if (id) {
        if (!json_string_length(id)) return bad(r->err, at, "\"id\" is the name of a value");
        if (!(number = id_of(r, json_string_value(id)))) return nnv_no_memory(r->err);
    }
    enum nnv_status (*read)(struct reader *, const json_t *, const char *, struct nnv_pattern **) = read_leaf;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!json_object_get(json, forms[i].key)) continue;
        read = forms[i].read;
        members = forms[i].members;
        break;
    }
    struct nnv_pattern *p = NULL;
    enum nnv_status s = read(r, json, at, &p);
    if (s == NNV_OK) s = nnv_pattern_members(json, at, members, r->err);
    if (s != NNV_OK) return s;
    p->id = number;
    if (number && !r->scopes[number - 1].pattern) r->scopes[number - 1].pattern = p;
    *out = p;
    return NNV_OK;
}

static enum nnv_status read_pattern(struct reader *r, const json_t *json, const char *at,
                                    const struct nnv_pattern **out) {
    if (r->n_patterns >= MOST_PATTERNS) return bad(r->err, at, "an entry of more than 4096 patterns; split it");
    if (r->depth == MOST_DEPTH)
        return bad(r->err, at, "patterns nest deeper than 64; a definition that contains itself?");
    enum nnv_status s = NNV_OK;
    r->depth++;
    if (json_is_object(json)) {
        s = read_object(r, json, at, out);
    } else if (json_is_string(json) && !strcmp(json_string_value(json), "*")) {
        if (!(*out = new_pattern(r, NNV_PATTERN_ANY))) s = nnv_no_memory(r->err);
    } else if (json_is_string(json) && !strcmp(json_string_value(json), "@")) {
        *out = r->base;
        if (!*out) s = bad(r->err, at, "\"@\" stands only in the \"then\" of an optional part");
    } else {
        s = bad(r->err, at, "a pattern is \"*\", \"@\" or an object");
    }
    r->depth--;
    return s;
}

/* ---------------------------------------------------------------------- entries */

static enum nnv_status read_checks(struct reader *r, const json_t *list, const char *at, struct nnv_pattern_entry *e) {
    if (!json_is_array(list)) return bad(r->err, at, "\"check\" is a list of conditions");
    const size_t most = json_array_size(list);
    struct nnv_pattern_check *checks = NULL;
    size_t cap = 0;
    for (size_t i = 0; i < most; i++) {
        char place[MOST_PATH];
        struct nnv_call_conditions conditions;
        uint32_t id = 0;
        locate(place, "%s[%zu]", at, i);
        const json_t *c = json_array_get(list, i), *node = json_object_get(c, "node");
        if (!json_is_string(node)) return bad(r->err, place, "a condition needs \"node\", the id of a value");
        for (uint32_t k = 0; k < r->n_ids; k++)
            if (!strcmp(r->scopes[k].name, json_string_value(node))) id = k + 1;
        if (!id)
            return nnv_fail(r->err, NNV_INVALID, "%s: the pattern has no value with the id '%.60s'", place,
                            json_string_value(node));
        enum nnv_status s = nnv_conditions_read(c, place, r->arena, &conditions, r->err);
        if (s == NNV_OK && !conditions.n)
            return bad(r->err, place, "a condition needs \"attr\", the name of an attribute, or dtype, rank or shape");
        if (s == NNV_OK) s = nnv_pattern_members(c, place, "node all " NNV_CONDITION_MEMBERS, r->err);
        if (s != NNV_OK) return s;
        for (size_t k = 0; k < conditions.n; k++) {
            if (!nnv_grow(r->arena, &checks, e->n_checks, &cap, sizeof *checks)) return nnv_no_memory(r->err);
            checks[e->n_checks++] = (struct nnv_pattern_check){id, conditions.list[k]};
        }
    }
    e->checks = checks;
    return NNV_OK;
}

static enum nnv_status read_entry(struct reader *r, const json_t *json, const char *at, struct nnv_pattern_entry *e) {
    const json_t *name = json_object_get(json, "name"), *check = json_object_get(json, "check");
    char place[MOST_PATH];
    if (!json_is_object(json)) return bad(r->err, at, "an entry is an object with name and pattern");
    if (!json_string_length(name)) return bad(r->err, at, "\"name\" is missing, such as \"nnapi.conv2d\"");
    if (!json_object_get(json, "pattern")) return bad(r->err, at, "\"pattern\" is missing");
    if (!(e->name = nnv_arena_strdup(r->arena, json_string_value(name)))) return nnv_no_memory(r->err);
    r->n_patterns = r->n_ids = 0;
    memset(r->scopes, 0, MOST_PATTERNS * sizeof *r->scopes);
    enum nnv_status s = read_one_part(r, json, at, "pattern", &e->root);
    if (s == NNV_OK) s = nnv_pattern_members(json, at, "name pattern check", r->err);
    locate(place, "%s.check", at);
    if (s == NNV_OK && check) s = read_checks(r, check, place, e);
    if (s != NNV_OK) return s;
    const char **ids = NNV_NEW(r->arena, const char *, r->n_ids);
    if (!ids) return nnv_no_memory(r->err);
    for (uint32_t i = 0; i < r->n_ids; i++) ids[i] = r->scopes[i].name;
    e->ids = ids;
    e->n_patterns = r->n_patterns;
    e->n_ids = r->n_ids;
    return NNV_OK;
}

static enum nnv_status read_table(struct reader *r, const json_t *document, const char *where,
                                  struct nnv_pattern_table *table) {
    const json_t *list = json_is_object(document) ? json_object_get(document, "patterns") : document;
    r->define = json_is_object(document) ? json_object_get(document, "define") : NULL;
    if (!json_is_array(list))
        return bad(r->err, where, "a pattern table is a list of entries, or an object with the list \"patterns\"");
    if (r->define && !json_is_object(r->define))
        return bad(r->err, where, "\"define\" is an object of patterns by name");
    enum nnv_status known =
        json_is_object(document) ? nnv_pattern_members(document, where, "patterns define", r->err) : NNV_OK;
    if (known != NNV_OK) return known;
    table->n = json_array_size(list);
    table->entries = NNV_NEW(r->arena, struct nnv_pattern_entry, table->n);
    if (!table->entries) return nnv_no_memory(r->err);
    for (size_t i = 0; i < table->n; i++) {
        char place[MOST_PATH];
        locate(place, "%s: [%zu]", where, i);
        enum nnv_status s = read_entry(r, json_array_get(list, i), place, &table->entries[i]);
        if (s != NNV_OK) return s;
    }
    return NNV_OK;
}

enum nnv_status nnv_pattern_read(const char *text, size_t len, const char *where, struct nnv_arena *arena,
                                 struct nnv_pattern_table *table, struct nnv_err *err) {
    json_error_t e;
    json_t *document = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    if (!document) return nnv_fail(err, NNV_INVALID, "%s:%d:%d: %s", where, e.line, e.column, e.text);
    struct reader r = {.arena = arena, .err = err, .scopes = calloc(MOST_PATTERNS, sizeof *r.scopes)};
    struct nnv_pattern_table read = {0};
    enum nnv_status s = r.scopes ? read_table(&r, document, where, &read) : nnv_no_memory(err);
    if (s == NNV_OK) *table = read;
    free(r.scopes);
    json_decref(document);
    return s;
}

enum nnv_status nnv_pattern_load(const char *path, struct nnv_arena *arena, struct nnv_pattern_table *table,
                                 struct nnv_err *err) {
    char *text = NULL;
    size_t size = 0;
    enum nnv_status s = nnv_file_read(path, MOST_FILE, &text, &size, err);
    if (s == NNV_OK) s = nnv_pattern_read(text, size, path, arena, table, err);
    free(text);
    return s;
}
