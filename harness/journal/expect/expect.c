/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/expect/expect.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/journal/verdict.h"
#include "base/map.h"
#include "base/rng.h"
#include "harness/journal/expect/outcome.h"

/** Case and entry; the links of a case are a list, in the order of the entries. */
struct nnv_expected_link {
    uint32_t entry, next; /**< next: number + 1, 0: the last */
};

void nnv_expect_free(struct nnv_expectations *x) {
    nnv_arena_free(x->arena);
    free(x->item);
    free(x->first);
    free(x->link);
    *x = (struct nnv_expectations){0};
}

/* ----------------------------------------------------------- which are meant */

/** Cases by hashes of their names, for selections that are a name. */
static enum nnv_status names_make(struct nnv_id_map *names, const struct nnv_case_list *list, struct nnv_err *err) {
    for (size_t i = 0; i < list->count; i++)
        if (!nnv_id_put(names, nnv_hash_str(list->item[i].name), &list->item[i])) return nnv_no_memory(err);
    return NNV_OK;
}

/** A selection that is the plain name of a case: with a slash, and nothing that a selection gives a meaning. */
static bool is_name(const char *s) { return strchr(s, '/') != NULL && s[strcspn(s, "*?[]\\&|!() \t\n:")] == '\0'; }

/** What a selection selects is handed on if op and type of the entry are the case's. */
struct filter {
    const struct nnv_expected *e;
    const struct nnv_case *cases;
    void (*see)(void *context, size_t i);
    void *context;
};

static void see_filtered(void *context, size_t i) {
    const struct filter *f = context;
    const struct nnv_expected *e = f->e;
    if (*e->op != '\0' && !nnv_glob(e->op, strlen(e->op), f->cases[i].op)) return;
    if (*e->type != '\0' && !nnv_glob(e->type, strlen(e->type), f->cases[i].type)) return;
    f->see(f->context, i);
}

/** Calls see for each case that the entry is about; for one that two of its selections select, twice. */
static enum nnv_status each_case(const struct nnv_expected *e, const struct nnv_case_list *list,
                                 const struct nnv_id_map *names, void (*see)(void *context, size_t i), void *context,
                                 struct nnv_err *err) {
    struct filter f = {e, list->item, see, context};
    for (size_t k = 0; k < e->case_count; k++) {
        if (is_name(e->cases[k])) {
            const struct nnv_case *found = nnv_id_get(names, nnv_hash_str(e->cases[k]));
            if (found != NULL) see_filtered(&f, (size_t)(found - list->item));
            continue;
        }
        enum nnv_status st = nnv_select_each(list, e->cases[k], NULL, see_filtered, &f, err);
        if (st != NNV_OK) return nnv_at(err, st, "%s", e->at);
    }
    return NNV_OK;
}

static void count_one(void *context, size_t i) {
    (void)i;
    ++*(size_t *)context;
}

static bool list_has_suite(const struct nnv_case_list *list, const char *name, size_t n) {
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->item[i].suite, name, n) == 0 && list->item[i].suite[n] == '\0') return true;
    return false;
}

static bool is_same(void *context, const char *name) { return strcmp(context, name) == 0; }

/** True if each selection of the entry begins with the name of a suite that has no case in the list. */
static bool is_elsewhere(const struct nnv_expected *e, const struct nnv_case_list *all, nnv_select_names *names) {
    for (size_t k = 0; k < e->case_count; k++) {
        char suite[64];
        const size_t n = strcspn(e->cases[k], "/*?[\\&|!(): ");
        if (e->cases[k][n] != '/' || n >= sizeof suite) return false;
        memcpy(suite, e->cases[k], n);
        suite[n] = '\0';
        if (!names(false, true, is_same, suite) || list_has_suite(all, suite, n)) return false;
    }
    return true;
}

enum nnv_status nnv_expect_count(struct nnv_expectations *x, const struct nnv_case_list *all, nnv_select_names *known,
                                 struct nnv_err *err) {
    struct nnv_id_map names = {0};
    enum nnv_status st = names_make(&names, all, err);
    for (size_t i = 0; i < x->count && st == NNV_OK; i++) {
        struct nnv_expected *e = &x->item[i];
        e->matches = 0;
        st = each_case(e, all, &names, count_one, &e->matches, err);
        e->state = e->matches > 0                ? NNV_EXPECTED_ACTIVE
                   : is_elsewhere(e, all, known) ? NNV_EXPECTED_INAPPLICABLE
                                                 : NNV_EXPECTED_UNMATCHED;
    }
    nnv_id_free(&names);
    return st;
}

struct binding {
    struct nnv_expectations *x;
    uint32_t entry, *last; /**< last link + 1 of each case */
    bool failed;
};

static void bind_one(void *context, size_t i) {
    struct binding *b = context;
    struct nnv_expectations *x = b->x;
    if (b->last[i] != 0 && x->link[b->last[i] - 1].entry == b->entry) return;
    if (x->links == x->link_cap) {
        const size_t cap = x->link_cap ? 2 * x->link_cap : 64;
        struct nnv_expected_link *more = cap < UINT32_MAX ? realloc(x->link, cap * sizeof *more) : NULL;
        b->failed = b->failed || more == NULL;
        if (more == NULL) return;
        x->link = more;
        x->link_cap = cap;
    }
    x->link[x->links++] = (struct nnv_expected_link){.entry = b->entry};
    const uint32_t number = (uint32_t)x->links;
    if (b->last[i] != 0)
        x->link[b->last[i] - 1].next = number;
    else
        x->first[i] = number;
    b->last[i] = number;
}

enum nnv_status nnv_expect_bind(struct nnv_expectations *x, const struct nnv_case *cases, size_t count,
                                struct nnv_err *err) {
    const struct nnv_case_list list = {.item = (struct nnv_case *)cases, .count = count};
    struct nnv_id_map names = {0};
    struct binding b = {.x = x, .last = calloc(count + 1, sizeof *b.last)};
    free(x->first);
    x->first = calloc(count + 1, sizeof *x->first);
    x->links = 0;
    x->cases = count;
    enum nnv_status st = x->first != NULL && b.last != NULL ? names_make(&names, &list, err) : nnv_no_memory(err);
    for (size_t i = 0; i < x->count && st == NNV_OK; i++) {
        b.entry = (uint32_t)i;
        st = each_case(&x->item[i], &list, &names, bind_one, &b, err);
        if (st == NNV_OK && b.failed) st = nnv_no_memory(err);
    }
    nnv_id_free(&names);
    free(b.last);
    return st;
}

/* --------------------------------------------------------------- conditions */

/** Compares two versions, part by part: numbers as numbers, what is missing is 0. */
static int compare_versions(const char *a, const char *b) {
    while (*a != '\0' || *b != '\0') {
        if (isdigit((unsigned char)*a) || isdigit((unsigned char)*b)) {
            char *end;
            const unsigned long long x = isdigit((unsigned char)*a) ? strtoull(a, &end, 10) : (end = (char *)a, 0);
            a = end;
            const unsigned long long y = isdigit((unsigned char)*b) ? strtoull(b, &end, 10) : (end = (char *)b, 0);
            b = end;
            if (x != y) return x < y ? -1 : 1;
        } else if (*a == '.' || *b == '.') {
            a += *a == '.';
            b += *b == '.';
        } else {
            if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++, b++;
        }
    }
    return 0;
}

/** One comparison of a range. */
struct comparison {
    bool less, more, equal;
    char version[64];
};

/** Reads the comparison at *s and moves behind it; false if there is none. */
static bool read_comparison(const char **s, struct comparison *c) {
    const char *p = *s;
    *c = (struct comparison){.less = *p == '<', .more = *p == '>'};
    if (c->less || c->more) p++;
    c->equal = *p == '=' || (!c->less && !c->more);
    if (*p == '=') p++;
    while (*p == ' ') p++;
    const size_t n = strcspn(p, " ,");
    if (n == 0 || n >= sizeof c->version || !isalnum((unsigned char)*p)) return false;
    memcpy(c->version, p, n);
    *s = p + n;
    return true;
}

static const char *skip_between(const char *s) { return s + strspn(s, " ,"); }

const char *nnv_version_bad(const char *range) {
    struct comparison c;
    for (const char *s = skip_between(range); *s != '\0'; s = skip_between(s)) {
        const char *at = s;
        if (!read_comparison(&s, &c)) return at;
    }
    return NULL;
}

bool nnv_version_within(const char *version, const char *range) {
    struct comparison c;
    for (const char *s = skip_between(range); *s != '\0'; s = skip_between(s)) {
        if (!read_comparison(&s, &c)) return false;
        const int order = compare_versions(version, c.version);
        if (!((c.less && order < 0) || (c.more && order > 0) || (c.equal && order == 0))) return false;
    }
    return true;
}

bool nnv_is_day(const char *s) {
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    static const char form[] = "dddd-dd-dd";
    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)s[i]) : s[i] != form[i]) return false;
    const int year = atoi(s), month = atoi(s + 5), day = atoi(s + 8);
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] && (month != 2 || day != 29 || leap);
}

static bool applies(const struct nnv_expected *e, const char *argument, const char *name, const char *version,
                    int level) {
    char number[16];
    snprintf(number, sizeof number, "%d", level);
    const size_t n = strlen(e->driver);
    return (n == 0 || nnv_glob(e->driver, n, name) || nnv_glob(e->driver, n, argument)) &&
           nnv_version_within(version, e->version) && nnv_version_within(number, e->level);
}

void nnv_expect_apply(struct nnv_expectations *x, const char *argument, const char *name, const char *version,
                      int level, const char *day) {
    for (size_t i = 0; i < x->count; i++) {
        struct nnv_expected *e = &x->item[i];
        if (!applies(e, argument, name, version, level))
            e->state = NNV_EXPECTED_INAPPLICABLE;
        else if (e->state == NNV_EXPECTED_ACTIVE && *e->expires != '\0' && strcmp(e->expires, day) < 0)
            e->state = NNV_EXPECTED_EXPIRED;
    }
}

/* ------------------------------------------------------------------ judging */

/** True if the reason holds the message, in which * stands for anything. */
static bool holds(const char *reason, size_t n, const char *message) {
    if (*message == '\0') return true;
    struct nnv_text text = {0}, glob = {0};
    for (size_t i = 0; i < n; i++) nnv_text_add_n(&text, reason[i] == '\0' ? " " : &reason[i], 1);
    nnv_text_add(&glob, "*");
    for (const char *s = message; *s != '\0'; s++) {
        if (strchr("?[\\", *s) != NULL) nnv_text_add(&glob, "\\");
        nnv_text_add_n(&glob, s, 1);
    }
    nnv_text_add(&glob, "*");
    const bool found = !text.failed && !glob.failed && nnv_glob(glob.data, glob.len, text.data ? text.data : "");
    nnv_text_free(&text);
    nnv_text_free(&glob);
    return found;
}

/** True if the entry covers a case that ended so badly. */
static bool covers(const struct nnv_expected *e, enum nnvts_verdict verdict, const char *reason, size_t reason_bytes,
                   uint32_t bad, uint32_t runs) {
    if (!(e->verdicts >> verdict & 1) || !holds(reason, reason_bytes, e->message)) return false;
    return isnan(e->max_rate) || runs < 2 || !nnv_rate_exceeds(bad, runs, e->max_rate);
}

enum nnvts_outcome nnv_expect_judge(const struct nnv_expectations *x, size_t i, enum nnvts_verdict verdict,
                                    const char *reason, size_t reason_bytes, const uint32_t *counts, uint32_t *entry) {
    const bool bad = verdict == NNVTS_FAIL || verdict == NNVTS_CRASH || verdict == NNVTS_TIMEOUT ||
                     verdict == NNVTS_UNTRUSTED,
               good = verdict == NNVTS_PASS || verdict == NNVTS_UNSUPPORTED;
    enum nnvts_outcome found = NNVTS_OUTCOME_NONE;
    uint32_t runs, bad_runs;
    nnv_repeats_sum(counts, &runs, &bad_runs);
    for (uint32_t at = x->first[i]; at != 0; at = x->link[at - 1].next) {
        const struct nnv_expected *e = &x->item[x->link[at - 1].entry];
        if (e->state != NNV_EXPECTED_ACTIVE) continue;
        if (bad && covers(e, verdict, reason, reason_bytes, bad_runs, runs)) {
            *entry = x->link[at - 1].entry;
            return NNVTS_OUTCOME_XFAIL;
        }
        if (!good) continue;
        if (e->verdicts >> NNVTS_PASS & 1 || !isnan(e->max_rate)) return NNVTS_OUTCOME_NONE;
        if (found == NNVTS_OUTCOME_NONE) *entry = x->link[at - 1].entry;
        found = NNVTS_OUTCOME_XPASS;
    }
    return found;
}

bool nnv_expect_covers(const struct nnv_expectations *x, size_t i, size_t e) {
    for (uint32_t at = x->first[i]; at != 0; at = x->link[at - 1].next)
        if (x->link[at - 1].entry == e) return true;
    return false;
}
