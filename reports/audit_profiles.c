/* SPDX-License-Identifier: Apache-2.0 */
/** @file audit_profiles.c What the profiles find of the same bugs on the same cases. */
#include "reports/audit.h"

static const struct nnv_audit_cell *cell_of(const struct nnv_audit_profile *p, size_t subject) {
    return &p->audit.subjects[subject].cells[0];
}

/** A row with the number that `value` gives of each profile. */
static void add_row(const struct nnv_audit_profile *p, size_t count, const char *name,
                    size_t (*value)(const struct nnv_audit *), struct nnv_text *t) {
    nnv_text_addf(t, "| %s ", name);
    for (size_t i = 0; i < count; i++) nnv_text_addf(t, "| %zu ", value(&p[i].audit));
    nnv_text_add(t, "|\n");
}

static size_t caught(const struct nnv_audit *a) { return nnv_audit_count(a).caught; }
/** The most cases that a driver without a bug failed. */
static size_t alarms(const struct nnv_audit *a) {
    size_t most = 0;
    for (size_t i = 0; i < a->count; i++)
        if (a->subjects[i].kind == NNV_AUDIT_CONTROL && a->subjects[i].cells[0].bad > most)
            most = a->subjects[i].cells[0].bad;
    return most;
}

/** Cases run until the bugs were caught, or to the end. */
static size_t cases_run(const struct nnv_audit *a) {
    size_t n = 0;
    for (size_t i = 0; i < a->count; i++)
        if (a->subjects[i].kind == NNV_AUDIT_BUG) n += a->subjects[i].cells[0].until;
    return n;
}

void nnv_audit_profiles_markdown(const struct nnv_audit_profile *p, size_t count, size_t cases, struct nnv_text *t) {
    const struct nnv_audit *a = &p->audit;
    struct nnv_audit_totals n = nnv_audit_count(a);
    nnv_text_addf(t, "## Planted bugs by profile\n\n");
    nnv_text_addf(t,
                  "The %zu bugs of `%s` that make values wrong ([planted-bugs.md](planted-bugs.md)), each on the same ",
                  n.bugs, a->driver);
    nnv_text_addf(t,
                  "%zu cases of the suite `%s` under each profile:\nhow many cases until one fails. A case that fails "
                  "on a driver without a bug is a false alarm and catches none.\n"
                  "\xe2\x80\x93: none failed.\n\n",
                  cases, a->suites[0]);
    nnv_text_add(t, "| bug ");
    for (size_t i = 0; i < count; i++) nnv_text_addf(t, "| `%s` ", p[i].name);
    nnv_text_add(t, "|\n| --- ");
    for (size_t i = 0; i < count; i++) nnv_text_add(t, "| ---: ");
    nnv_text_add(t, "|\n");
    add_row(p, count, "**bugs caught**", caught, t);
    add_row(p, count, "cases run for that", cases_run, t);
    add_row(p, count, "cases that fail on a driver without a bug", alarms, t);
    for (size_t s = 0; s < a->count; s++) {
        if (a->subjects[s].kind != NNV_AUDIT_BUG) continue;
        nnv_text_addf(t, "| `%s` ", a->subjects[s].name);
        for (size_t i = 0; i < count; i++) {
            if (nnv_audit_cell_bad(cell_of(&p[i], s)))
                nnv_text_addf(t, "| %zu ", cell_of(&p[i], s)->until);
            else
                nnv_text_add(t, "| \xe2\x80\x93 ");
        }
        nnv_text_add(t, "|\n");
    }
}
