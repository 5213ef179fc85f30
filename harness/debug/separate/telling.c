/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/telling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** What is observed is called so. */
static const struct {
    const char *only, *mostly, *failures, *fail;
} nouns[] = {
    [NNV_ALL_CASES] = {"only where ", "mostly where ", "failures", "such cases fail"},
    [NNV_SOME_CASES] = {"only where ", "mostly where ", "failures looked at", "such cases looked at fail"},
    [NNV_SHOWING_CASES] = {"only where ", "mostly where ", "failures looked at",
                           "such cases in which it would show fail"},
    [NNV_ELEMENTS] = {"in elements where ", "in elements where ", "wrong ones", "such elements are wrong"},
};

bool nnv_where_is(const struct nnv_where *w) { return w->kind != NNV_WHERE_UNKNOWN || w->elements.terms > 0; }

bool nnv_condition_keep(struct nnv_case_condition *c, struct nnv_arena *arena) {
    for (int i = 0; i < c->terms; i++) {
        struct nnv_term *t = &c->term[i];
        t->subject = nnv_arena_strdup(arena, t->subject);
        if (t->word) t->word = nnv_arena_strdup(arena, t->word);
        if (!t->subject || (t->kind == NNV_ATTRIBUTE_WORD && !t->word)) return false;
    }
    return true;
}

/* -------------------------------------------------------------------- comparing */

static bool is_bound(const struct nnv_term *t) {
    return t->kind == NNV_ATTRIBUTE_NUMBER && (t->relation == NNV_ABOVE || t->relation == NNV_BELOW);
}

static bool are_equal(const struct nnv_term *a, const struct nnv_term *b) {
    return a->kind == b->kind && strcmp(a->subject, b->subject) == 0 && a->relation == b->relation &&
           (a->kind == NNV_ATTRIBUTE_WORD ? strcmp(a->word, b->word) == 0 : a->value == b->value);
}

bool nnv_conditions_bound_the_same(const struct nnv_case_condition *a, const struct nnv_case_condition *b) {
    for (int i = 0; i < a->terms && i < b->terms; i++) {
        if (is_bound(&a->term[i])) return is_bound(&b->term[i]) && strcmp(a->term[i].subject, b->term[i].subject) == 0;
        if (!are_equal(&a->term[i], &b->term[i])) return false;
    }
    return false;
}

/** No whole number is between the last one inside and the first one outside. */
static bool is_exact(const struct nnv_term *t) {
    return is_bound(t) && t->value == floor(t->value) && fabs(t->value - t->beyond) == 1;
}

bool nnv_condition_is_peculiar(const struct nnv_case_condition *c) {
    enum { COMMON = 256 }; /* codes of 8 bits end there, whatever is done with them */
    for (int i = 0; i < c->terms; i++)
        if (is_exact(&c->term[i]) && fmin(fabs(c->term[i].value), fabs(c->term[i].beyond)) > COMMON) return true;
    return false;
}

/* --------------------------------------------------------------------- telling */

/** In as many digits as tell it from the other. */
static void add_number(struct nnv_text *t, double v, double other) {
    char a[32], b[32];
    int digits = 4;
    if (v == floor(v) && fabs(v) < 1e15) {
        nnv_text_addf(t, "%.0f", v);
        return;
    }
    do {
        snprintf(a, sizeof a, "%.*g", digits, v);
        snprintf(b, sizeof b, "%.*g", digits, other);
    } while (strcmp(a, b) == 0 && v != other && ++digits < 10);
    nnv_text_add(t, a);
}

/** The power of two from which on, or up to which, a bound between close numbers holds; NAN: there is none. */
static double power_between(double low, double high) {
    static const double CLOSE = 1.05;
    const double power = exp2(floor(log2(high)));
    return low > 0 && high / low < CLOSE && power > low ? power : (double)NAN;
}

/** Appends "> 127", ">= 228 (not at 127)"; briefly: ">= 228". */
static void tell_bound(const struct nnv_term *t, bool briefly, struct nnv_text *to) {
    const bool whole = t->value == floor(t->value), above = t->relation == NNV_ABOVE, next = is_exact(t);
    const double power = whole   ? (double)NAN
                         : above ? power_between(t->beyond, t->value)
                                 : power_between(t->value, t->beyond);
    if (!isnan(power)) {
        nnv_text_addf(to, power < 1 ? "%s2^%.0f" : "%s%.0f", above ? " >= " : " < ", power < 1 ? log2(power) : power);
        return;
    }
    nnv_text_addf(to, " %c%s ", above ? '>' : '<', next ? "" : "=");
    add_number(to, next ? t->beyond : t->value, next ? t->value : t->beyond);
    if (next || briefly) return;
    nnv_text_add(to, " (not at ");
    add_number(to, t->beyond, t->value);
    nnv_text_add(to, ")");
}

static void tell_term(const struct nnv_term *t, bool briefly, struct nnv_text *to) {
    if (t->kind == NNV_ATTRIBUTE_FLAG) {
        if (t->value == 0 && !t->word) nnv_text_add(to, "not: ");
        nnv_text_add(to, t->value == 0 && t->word ? t->word : t->subject);
        return;
    }
    nnv_text_add(to, t->subject);
    if (t->kind == NNV_ATTRIBUTE_WORD)
        nnv_text_addf(to, " %s %s", t->relation == NNV_EQUAL ? "is" : "is not", t->word);
    else if (is_bound(t))
        tell_bound(t, briefly, to);
    else {
        nnv_text_add(to, t->relation == NNV_EQUAL ? " = " : " != ");
        add_number(to, t->value, t->value);
    }
}

void nnv_term_tell(const struct nnv_term *t, struct nnv_text *to) { tell_term(t, false, to); }

static void tell_terms(const struct nnv_case_condition *c, bool briefly, struct nnv_text *to) {
    for (int i = 0; i < c->terms; i++) {
        if (i > 0) nnv_text_add(to, " and ");
        tell_term(&c->term[i], briefly, to);
    }
}

void nnv_condition_tell(const struct nnv_case_condition *c, struct nnv_text *to) {
    nnv_text_add(to, c->failed < c->failures ? nouns[c->what].mostly : nouns[c->what].only);
    tell_terms(c, false, to);
    if (c->failed < c->failures) nnv_text_addf(to, " (%zu of %zu %s)", c->failed, c->failures, nouns[c->what].failures);
    if (c->passed > 0) nnv_text_addf(to, " (%zu of %zu %s)", c->failed, c->failed + c->passed, nouns[c->what].fail);
}

static const char not_alone[] = "not when its cases run again, each alone";

static void tell_steps(const struct nnv_where *w, struct nnv_text *to) {
    nnv_text_add(to, "only in ");
    for (size_t i = 0; i < w->count; i++)
        nnv_text_addf(to, "%s%s", i == 0 ? "" : i + 1 == w->count ? " and " : ", ", w->steps[i]);
}

void nnv_where_tell(const struct nnv_where *w, struct nnv_text *to) {
    switch (w->kind) {
    case NNV_WHERE_UNKNOWN:
        break;
    case NNV_WHERE_CONDITION:
        nnv_condition_tell(&w->cases, to);
        break;
    case NNV_WHERE_ALL:
        nnv_text_addf(to, "in all %zu cases", w->whole);
        break;
    case NNV_WHERE_NEARLY:
        nnv_text_addf(to, "in %s cases (%zu of %zu)", 10 * w->part >= 9 * w->whole ? "nearly all" : "most", w->part,
                      w->whole);
        break;
    case NNV_WHERE_STEPS:
        tell_steps(w, to);
        break;
    case NNV_WHERE_ALONE:
        nnv_text_addf(to, "%s (%zu of %zu passed)", not_alone, w->part, w->whole);
        break;
    }
    if (w->elements.terms == 0) return;
    if (w->kind != NNV_WHERE_UNKNOWN) nnv_text_add(to, "; ");
    nnv_condition_tell(&w->elements, to);
}

void nnv_where_write(const struct nnv_where *w, struct nnv_json_out *j) {
    struct nnv_text text = {0};
    if (!nnv_where_is(w)) return;
    nnv_where_tell(w, &text);
    nnv_json_string(j, "where", text.data);
    if (w->kind == NNV_WHERE_CONDITION) {
        nnv_json_open(j, "terms", '[');
        for (int i = 0; i < w->cases.terms; i++) {
            nnv_text_clear(&text);
            tell_term(&w->cases.term[i], true, &text);
            nnv_json_string(j, NULL, text.data);
        }
        nnv_json_close(j, ']');
    } else if (w->kind == NNV_WHERE_STEPS || w->kind == NNV_WHERE_ALONE) {
        nnv_text_clear(&text);
        if (w->kind == NNV_WHERE_STEPS) tell_steps(w, &text);
        nnv_json_string(j, "situation", w->kind == NNV_WHERE_STEPS ? text.data : not_alone);
    }
    if (w->kind == NNV_WHERE_ALL || w->kind == NNV_WHERE_NEARLY) nnv_json_bool(j, "often", true);
    if (w->elements.terms > 0) {
        nnv_text_clear(&text);
        nnv_text_add(&text, nouns[NNV_ELEMENTS].only);
        tell_terms(&w->elements, true, &text);
        nnv_json_string(j, "elements", text.data);
        if (nnv_condition_is_peculiar(&w->elements)) nnv_json_bool(j, "peculiar", true);
    }
    if (text.failed) j->text->failed = true;
    nnv_text_free(&text);
}
