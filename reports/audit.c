/* SPDX-License-Identifier: Apache-2.0 */
/** @file audit.c The audit's counts, its table on the console, and audit.json. */
#include "reports/audit.h"
#include "base/words.h"
#include "harness/journal/verdict.h"

#include <string.h>

enum { SHARE = 95, NAME_WIDTH = 32, CELL_WIDTH = 14 };

bool nnv_audit_cell_bad(const struct nnv_audit_cell *cell) { return cell->bad > 0 || cell->nothing; }

bool nnv_audit_caught(const struct nnv_audit *a, const struct nnv_audit_subject *s) {
    for (size_t i = 0; i < a->suite_count; i++)
        if (nnv_audit_cell_bad(&s->cells[i])) return true;
    return false;
}

/** nnvts itself failed on the subject. */
static bool has_errors(const struct nnv_audit *a, const struct nnv_audit_subject *s) {
    for (size_t i = 0; i < a->suite_count; i++)
        if (s->cells[i].errors > 0) return true;
    return false;
}

struct nnv_audit_totals nnv_audit_count(const struct nnv_audit *a) {
    struct nnv_audit_totals n = {0};
    for (size_t i = 0; i < a->count; i++) {
        const struct nnv_audit_subject *s = &a->subjects[i];
        bool caught = nnv_audit_caught(a, s);
        if (s->kind == NNV_AUDIT_BUG) {
            n.bugs++;
            n.caught += caught;
            n.explained += !caught && s->survives != NULL;
        } else {
            n.controls++;
            n.alarms += caught || has_errors(a, s);
        }
    }
    return n;
}

enum nnvts_exit nnv_audit_exit(const struct nnv_audit *a) {
    struct nnv_audit_totals n = nnv_audit_count(a);
    return n.alarms == 0 && n.caught * 100 >= n.bugs * SHARE ? NNVTS_EXIT_PASS : NNVTS_EXIT_FAIL;
}

/* ------------------------------------------------------------------- console */

void nnv_audit_heading(const struct nnv_audit *a, struct nnv_text *t) {
    nnv_text_addf(t, "%-*s", NAME_WIDTH, "");
    for (size_t i = 0; i < a->suite_count; i++) nnv_text_addf(t, " %-*s", CELL_WIDTH, a->suites[i]);
}

static void add_cell(const struct nnv_audit_cell *c, struct nnv_text *t) {
    char text[64] = "";
    if (c->bad > 0)
        snprintf(text, sizeof text, "%s %zu", nnv_verdict_name(c->verdict), c->until);
    else if (c->nothing)
        snprintf(text, sizeof text, "nothing");
    else if (c->errors > 0)
        snprintf(text, sizeof text, "ERROR");
    else if (c->run)
        snprintf(text, sizeof text, "-");
    nnv_text_addf(t, " %-*s", CELL_WIDTH, text);
}

void nnv_audit_line(const struct nnv_audit *a, const struct nnv_audit_subject *s, struct nnv_text *t) {
    bool caught = nnv_audit_caught(a, s);
    nnv_text_addf(t, "%-*s", NAME_WIDTH, s->kind == NNV_AUDIT_CONTROL ? s->argument : s->name);
    for (size_t i = 0; i < a->suite_count; i++) add_cell(&s->cells[i], t);
    if (s->kind == NNV_AUDIT_BUG)
        nnv_text_add(t, caught ? " caught" : s->survives != NULL ? " survives, as explained" : " SURVIVES");
    else
        nnv_text_add(t, caught || has_errors(a, s) ? " FALSE ALARM" : " no alarm");
}

void nnv_audit_closing(const struct nnv_audit *a, struct nnv_text *t) {
    struct nnv_audit_totals n = nnv_audit_count(a);
    for (size_t i = 0; i < a->count; i++) {
        const struct nnv_audit_subject *s = &a->subjects[i];
        bool caught = nnv_audit_caught(a, s), bug = s->kind == NNV_AUDIT_BUG;
        if (bug && !caught)
            nnv_text_addf(t, "survives: %s (%s; fires: %s)%s%s\n", s->name, s->models, s->fires,
                          s->survives != NULL ? ": " : "", s->survives != NULL ? s->survives : "");
        if (!bug && (caught || has_errors(a, s))) nnv_text_addf(t, "false alarm: %s\n", s->argument);
        for (size_t k = 0; k < a->suite_count && !bug; k++)
            if (s->cells[k].first != NULL) nnv_text_addf(t, "    %s\n", s->cells[k].first);
    }
    nnv_text_addf(t, "%s of %s planted bugs caught (%.1f %%), ", nnv_count(n.caught).s, nnv_count(n.bugs).s,
                  n.bugs > 0 ? 100.0 * (double)n.caught / (double)n.bugs : 100.0);
    nnv_text_addf(t, "%s of %s controls raised an alarm, in ", nnv_count(n.alarms).s, nnv_count(n.controls).s);
    nnv_text_add_seconds(t, a->seconds);
    nnv_text_add(t, "\n");
}

/* ---------------------------------------------------------------------- JSON */

static void add_member(struct nnv_text *t, const char *key, const char *value) {
    nnv_text_addf(t, ", \"%s\": ", key);
    nnv_text_add_json(t, value);
}

static void add_subject(const struct nnv_audit *a, const struct nnv_audit_subject *s, struct nnv_text *t) {
    static const char *const kinds[] = {"bug", "legal", "control"};
    nnv_text_addf(t, "  {\"kind\": \"%s\"", kinds[s->kind]);
    add_member(t, "name", s->name);
    add_member(t, "driver", s->argument);
    add_member(t, "for", s->suite);
    add_member(t, "models", s->models);
    add_member(t, "fires", s->fires);
    if (s->survives != NULL) add_member(t, "survives", s->survives);
    nnv_text_addf(t, ", \"caught\": %s, \"suites\": {", nnv_audit_caught(a, s) ? "true" : "false");
    const char *comma = "";
    for (size_t i = 0; i < a->suite_count; i++) {
        const struct nnv_audit_cell *c = &s->cells[i];
        if (!c->run) continue;
        nnv_text_addf(t, "%s\"%s\": {\"verdict\": \"%s\", \"cases\": %zu", comma, a->suites[i],
                      c->bad == 0 && c->nothing ? "NOTHING" : nnv_verdict_name(c->verdict), c->until);
        if (c->first != NULL) add_member(t, "first", c->first);
        if (a->full) nnv_text_addf(t, ", \"bad\": %zu", c->bad);
        if (c->errors > 0) nnv_text_addf(t, ", \"errors\": %zu", c->errors);
        nnv_text_add(t, "}");
        comma = ", ";
    }
    nnv_text_add(t, "}}");
}

void nnv_audit_json(const struct nnv_audit *a, struct nnv_text *t) {
    struct nnv_audit_totals n = nnv_audit_count(a);
    nnv_text_addf(t, "{\"nnvts\": \"%s\"", NNVTS_VERSION);
    add_member(t, "driver", a->driver);
    add_member(t, "tier", a->tier);
    nnv_text_addf(t, ", \"seconds\": %.1f, \"bugs\": %zu, \"caught\": %zu, \"explained\": %zu", a->seconds, n.bugs,
                  n.caught, n.explained);
    nnv_text_addf(t, ", \"controls\": %zu, \"alarms\": %zu,\n \"subjects\": [\n", n.controls, n.alarms);
    for (size_t i = 0; i < a->count; i++) {
        add_subject(a, &a->subjects[i], t);
        nnv_text_add(t, i + 1 < a->count ? ",\n" : "\n");
    }
    nnv_text_add(t, "]}\n");
}
