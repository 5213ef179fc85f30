/* SPDX-License-Identifier: Apache-2.0 */
/** @file expect_read.c Reading and writing expectations. */
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/rng.h"
#include "harness/journal/expect/expect.h"
#include "harness/journal/verdict.h"
#include "harness/journal/select.h"

enum { LARGEST = 64 << 20, MOST = 1 << 20 };
static const char format[] = "nnvts-expectations/1";

/* ------------------------------------------------------------------ reading */

/** A file that is being read. */
struct reading {
    const char *name, *text;
    size_t n, at; /**< where the last entry that was found begins */
    int line;     /**< its line */
    int depth;
    struct nnv_expectations *x;
    struct nnv_err *err;
};

/** Finds the beginning of the next entry: an object within the array. The text is JSON. */
static void next_entry(struct reading *r) {
    bool in_string = false;
    for (; r->at < r->n; r->at++) {
        const char c = r->text[r->at];
        if (c == '\n') r->line++;
        if (in_string) {
            if (c == '\\') r->at++;
            in_string = c != '"';
            continue;
        }
        in_string = c == '"';
        if (c == '}' || c == ']') r->depth--;
        if (c != '{' && c != '[') continue;
        if (r->depth++ != 2 || c != '{') continue;
        r->at++;
        return;
    }
}

static enum nnv_status NNV_PRINTF(2, 3) refuse(const struct reading *r, const char *fmt, ...) {
    char why[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    return nnv_fail(r->err, NNV_INVALID, "%s:%d: %s", r->name, r->line, why);
}

/** Refuses members that are not in the NULL-terminated list. */
static enum nnv_status known_members(const struct reading *r, const json_t *object, const char *const *known) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        struct nnv_nearest near = nnv_nearest_to(key);
        size_t i = 0;
        for (; known[i] != NULL && strcmp(known[i], key) != 0; i++) nnv_nearest_see(&near, known[i]);
        if (known[i] != NULL) continue;
        struct nnv_text all = {0};
        for (i = 0; known[i] != NULL; i++) nnv_text_addf(&all, "%s%s", i ? ", " : "", known[i]);
        enum nnv_status st =
            near.best != NULL
                ? refuse(r, "unknown member \"%.60s\" (did you mean \"%s\"?)", key, near.best)
                : refuse(r, "unknown member \"%.60s\" (known: %s)", key, all.data != NULL ? all.data : "");
        nnv_text_free(&all);
        return st;
    }
    return NNV_OK;
}

/** Takes the string that is the member; "" where it is absent. */
static enum nnv_status take_text(const struct reading *r, const json_t *object, const char *member, const char **out) {
    const json_t *value = json_object_get(object, member);
    *out = "";
    if (value == NULL) return NNV_OK;
    if (!json_is_string(value)) return refuse(r, "\"%s\" is to be a text", member);
    *out = nnv_arena_strdup(r->x->arena, json_string_value(value));
    return *out != NULL ? NNV_OK : nnv_no_memory(r->err);
}

/** True if the selection can be understood; else the error says why. */
static enum nnv_status check_selection(const struct reading *r, const char *s) {
    const struct nnv_case_list none = {0};
    struct nnv_err why = {0};
    enum nnv_status st = nnv_select_each(&none, s, NULL, NULL, NULL, &why);
    return st == NNV_OK ? st : refuse(r, "\"cases\": %s", why.text);
}

static enum nnv_status take_cases(const struct reading *r, const json_t *object, struct nnv_expected *e) {
    const json_t *value = json_object_get(object, "cases");
    const size_t n = json_is_array(value) ? json_array_size(value) : json_is_string(value);
    if (n == 0)
        return refuse(r, "\"cases\" is to be a name, glob or selection of cases, or an array of them "
                         "(\"ops/ADD/float32/*\")");
    const char **list = NNV_NEW(r->x->arena, const char *, n);
    enum nnv_status st = list != NULL ? NNV_OK : nnv_no_memory(r->err);
    for (size_t i = 0; i < n && st == NNV_OK; i++) {
        const json_t *item = json_is_array(value) ? json_array_get(value, i) : value;
        const char *s = json_string_value(item);
        if (s == NULL) return refuse(r, "\"cases\" holds something that is not a text");
        list[i] = nnv_arena_strdup(r->x->arena, s);
        st = list[i] != NULL ? check_selection(r, s) : nnv_no_memory(r->err);
    }
    e->cases = list;
    e->case_count = n;
    return st;
}

static const enum nnvts_verdict may_be[] = {NNVTS_FAIL, NNVTS_CRASH, NNVTS_TIMEOUT, NNVTS_UNTRUSTED, NNVTS_PASS};

static enum nnv_status take_verdict(const struct reading *r, const char *s, struct nnv_expected *e) {
    struct nnv_nearest near = nnv_nearest_to(s);
    for (size_t i = 0; i < sizeof may_be / sizeof *may_be; i++) {
        const char *name = nnv_verdict_name(may_be[i]);
        nnv_nearest_see(&near, name);
        if (strcmp(name, s) != 0) continue;
        e->verdicts |= 1u << may_be[i];
        return NNV_OK;
    }
    if (strcmp(s, "ERROR") == 0)
        return refuse(r, "\"verdict\": ERROR is a failure of nnvts itself, which nobody should expect of a driver");
    return refuse(r, "\"verdict\": \"%.40s\" is to be FAIL, CRASH, TIMEOUT, UNTRUSTED or PASS%s%s%s", s,
                  near.best ? " (did you mean " : "", near.best ? near.best : "", near.best ? "?)" : "");
}

static enum nnv_status take_verdicts(const struct reading *r, const json_t *object, struct nnv_expected *e) {
    const json_t *value = json_object_get(object, "verdict");
    const size_t n = json_is_array(value) ? json_array_size(value) : json_is_string(value);
    enum nnv_status st = NNV_OK;
    if (value == NULL) e->verdicts = 1u << NNVTS_FAIL;
    if (value != NULL && n == 0) return refuse(r, "\"verdict\" is to be a text such as \"FAIL\", or an array of them");
    for (size_t i = 0; i < n && st == NNV_OK; i++) {
        const char *s = json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
        st = s != NULL ? take_verdict(r, s, e) : refuse(r, "\"verdict\" holds something that is not a text");
    }
    if (st == NNV_OK && e->verdicts == 1u << NNVTS_PASS)
        st = refuse(r, "\"verdict\": PASS alone says nothing; what may it be besides (\"FAIL\")?");
    return st;
}

static enum nnv_status take_rate(const struct reading *r, const json_t *object, struct nnv_expected *e) {
    const json_t *value = json_object_get(object, "max_rate");
    const double rate = json_number_value(value);
    e->max_rate = (double)NAN;
    if (value == NULL) return NNV_OK;
    if (!json_is_number(value) || !(rate > 0 && rate <= 1))
        return refuse(r, "\"max_rate\" is to be a number above 0 and up to 1 (0.05: fails at most once in 20 runs)");
    e->max_rate = rate;
    return NNV_OK;
}

static enum nnv_status take_when(const struct reading *r, const json_t *object, struct nnv_expected *e) {
    static const char *const known[] = {"driver", "version", "level", "op", "type", NULL};
    const char **const to[] = {&e->driver, &e->version, &e->level, &e->op, &e->type};
    const json_t *when = json_object_get(object, "when");
    if (when != NULL && !json_is_object(when))
        return refuse(r, "\"when\" is to be an object ({\"driver\": \"npu*\", \"version\": \"<2.1\"})");
    enum nnv_status st = known_members(r, when, known);
    for (size_t i = 0; known[i] != NULL && st == NNV_OK; i++) st = take_text(r, when, known[i], to[i]);
    for (size_t i = 1; i < 3 && st == NNV_OK; i++) {
        const char *bad = nnv_version_bad(*to[i]);
        if (bad != NULL)
            st = refuse(r, "\"%s\": '%.40s' is to be < <= > >= or = with a number (\">=2.0 <3\")", known[i], bad);
    }
    return st;
}

static enum nnv_status add_entry(struct nnv_expectations *x, const struct nnv_expected *e, struct nnv_err *err) {
    if (x->count == x->cap) {
        const size_t cap = x->cap ? 2 * x->cap : 16;
        struct nnv_expected *more = realloc(x->item, cap * sizeof *more);
        if (more == NULL) return nnv_no_memory(err);
        x->item = more;
        x->cap = cap;
    }
    x->item[x->count++] = *e;
    return NNV_OK;
}

static enum nnv_status take_entry(const struct reading *r, const json_t *object) {
    static const char *const known[] = {"cases", "verdict", "message", "reason",   "owner",
                                        "link",  "expires", "when",    "max_rate", NULL};
    struct nnv_expected e = {.at = nnv_arena_printf(r->x->arena, "%s:%d", r->name, r->line)};
    enum nnv_status st = e.at != NULL ? known_members(r, object, known) : nnv_fail(r->err, NNV_NO_MEMORY, "no memory");
    if (st == NNV_OK) st = take_cases(r, object, &e);
    if (st == NNV_OK) st = take_verdicts(r, object, &e);
    if (st == NNV_OK) st = take_text(r, object, "message", &e.message);
    if (st == NNV_OK) st = take_text(r, object, "reason", &e.reason);
    if (st == NNV_OK) st = take_text(r, object, "owner", &e.owner);
    if (st == NNV_OK) st = take_text(r, object, "link", &e.link);
    if (st == NNV_OK) st = take_text(r, object, "expires", &e.expires);
    if (st == NNV_OK && *e.expires != '\0' && !nnv_is_day(e.expires))
        st = refuse(r, "\"expires\": '%.40s' is to be a day, the last on which it holds (\"2027-03-31\")", e.expires);
    if (st == NNV_OK) st = take_when(r, object, &e);
    if (st == NNV_OK) st = take_rate(r, object, &e);
    return st == NNV_OK ? add_entry(r->x, &e, r->err) : st;
}

enum nnv_status nnv_expect_parse(const char *name, const char *text, size_t n, struct nnv_expectations *x,
                                 struct nnv_err *err) {
    static const char *const known[] = {"format", "expectations", NULL};
    struct reading r = {.name = name, .text = text, .n = n, .line = 1, .x = x, .err = err};
    json_error_t why;
    if (x->arena == NULL) x->arena = nnv_arena_new();
    if (x->arena == NULL) return nnv_no_memory(err);
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    if (root == NULL) return nnv_fail(err, NNV_INVALID, "%s:%d: not JSON: %s", name, why.line, why.text);
    const json_t *list = json_object_get(root, "expectations"), *form = json_object_get(root, "format");
    enum nnv_status st = NNV_OK;
    if (!json_is_object(root) || !json_is_array(list))
        st = refuse(&r, "expected {\"format\": \"%s\", \"expectations\": [...]}", format);
    else if (!json_is_string(form) || strcmp(json_string_value(form), format) != 0)
        st = refuse(&r, "\"format\" is to be \"%s\"", format);
    if (st == NNV_OK) st = known_members(&r, root, known);
    if (st == NNV_OK && json_array_size(list) > MOST - x->count) st = refuse(&r, "more than %d expectations", MOST);
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) {
        if (st != NNV_OK) break;
        if (json_is_object(item)) next_entry(&r);
        st = json_is_object(item) ? take_entry(&r, item)
                                  : refuse(&r, "expectation %zu of the file is to be an object", i + 1);
    }
    json_decref(root);
    return st;
}

enum nnv_status nnv_expect_read(const char *path, struct nnv_expectations *x, struct nnv_err *err) {
    char *text = NULL;
    size_t n = 0;
    enum nnv_status st = nnv_file_read(path, LARGEST, &text, &n, err);
    if (st == NNV_OK) st = nnv_expect_parse(path, text, n, x, err);
    free(text);
    return st;
}

/* ------------------------------------------------------------------ writing */

/** A member on a line of its own where `line` is one; empty texts are left out. */
static void add_text(struct nnv_json_out *j, const char *line, const char *name, const char *value) {
    if (*value == '\0') return;
    j->line = line;
    nnv_json_string(j, name, value);
}

/** One text, or an array of several, on lines of their own where `line` is one. */
static void add_texts(struct nnv_json_out *j, const char *name, const char *const *text, size_t n, const char *line) {
    if (n != 1) nnv_json_open(j, name, '[');
    for (size_t i = 0; i < n; i++) {
        if (n != 1) j->line = line;
        nnv_json_string(j, n != 1 ? NULL : name, text[i]);
    }
    if (n != 1) nnv_json_close(j, ']');
}

static void add_when(struct nnv_json_out *j, const char *line, const struct nnv_expected *e) {
    const struct {
        const char *name, *value;
    } member[] = {
        {"driver", e->driver}, {"version", e->version}, {"level", e->level}, {"op", e->op}, {"type", e->type}};
    bool open = false;
    for (size_t i = 0; i < sizeof member / sizeof *member; i++) {
        if (*member[i].value == '\0') continue;
        if (!open) {
            j->line = line;
            nnv_json_open(j, "when", '{');
        }
        open = true;
        nnv_json_string(j, member[i].name, member[i].value);
    }
    if (open) nnv_json_close(j, '}');
}

/** Begins the object of an entry; `line` stands before its members, `deeper` before the cases where they are several.
 */
static void open_expected(struct nnv_json_out *j, const struct nnv_expected *e, const char *line, const char *deeper) {
    const char *verdicts[sizeof may_be / sizeof *may_be];
    size_t n = 0;
    for (size_t i = 0; i < sizeof may_be / sizeof *may_be; i++)
        if (e->verdicts >> may_be[i] & 1) verdicts[n++] = nnv_verdict_name(may_be[i]);
    nnv_json_open(j, NULL, '{');
    add_texts(j, "cases", e->cases, e->case_count, deeper);
    j->line = line;
    add_texts(j, "verdict", verdicts, n, NULL);
    add_text(j, line, "message", e->message);
    add_text(j, line, "reason", e->reason);
    add_text(j, line, "owner", e->owner);
    add_text(j, line, "link", e->link);
    add_text(j, line, "expires", e->expires);
    add_when(j, line, e);
    if (isnan(e->max_rate)) return;
    j->line = line;
    nnv_json_double(j, "max_rate", e->max_rate);
}

void nnv_expect_hash(const struct nnv_expectations *x, char *buf) {
    struct nnv_text t = {0};
    struct nnv_json_out j = {.text = &t};
    nnv_text_add(&t, x->strict ? "strict" : "");
    for (size_t i = 0; i < x->count; i++) open_expected(&j, &x->item[i], NULL, NULL);
    snprintf(buf, 17, "%016" PRIx64, nnv_hash_bytes(t.data != NULL ? t.data : "", t.len));
    nnv_text_free(&t);
}

const char *nnv_expect_state_name(enum nnv_expected_state s) {
    static const char *const names[] = {[NNV_EXPECTED_ACTIVE] = "active",
                                        [NNV_EXPECTED_EXPIRED] = "expired",
                                        [NNV_EXPECTED_UNMATCHED] = "unmatched",
                                        [NNV_EXPECTED_INAPPLICABLE] = "inapplicable"};
    return names[s];
}

void nnv_expect_write(const struct nnv_expectations *x, const char *name, struct nnv_json_out *j) {
    char hash[17];
    nnv_expect_hash(x, hash);
    nnv_json_open(j, name, '{');
    nnv_json_bool(j, "strict", x->strict);
    nnv_json_string(j, "hash", hash);
    nnv_json_open(j, "entries", '[');
    for (size_t i = 0; i < x->count; i++) {
        open_expected(j, &x->item[i], NULL, NULL);
        add_text(j, NULL, "at", x->item[i].at);
        nnv_json_string(j, "state", nnv_expect_state_name(x->item[i].state));
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, ']');
    nnv_json_close(j, '}');
}

void nnv_expect_write_file(const struct nnv_expected *const *entry, size_t count, struct nnv_text *out) {
    struct nnv_json_out j = {.text = out, .spaced = true};
    nnv_text_addf(out, "{\n  \"format\": \"%s\",\n  \"expectations\": [", format);
    for (size_t i = 0; i < count; i++) {
        j.line = "\n    ";
        open_expected(&j, entry[i], "\n     ", "\n       ");
        nnv_json_close(&j, '}');
    }
    nnv_text_add(out, count ? "\n  ]\n}\n" : "]\n}\n");
}
