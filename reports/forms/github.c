/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file github.c Annotations of GitHub's workflow commands: one a bug, not one a case, and so few that the server
 * shows them all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/forms/own.h"
#include "harness/journal/load.h"

enum {
    SHOWN = 9,   /* errors; the server drops those behind the tenth of a step */
    KEPT = 1000, /* bugs that are told apart */
    LINE = 300,  /* bytes of a line */
};

static void replace(char **to, const char *from, bool *failed) {
    char *copy = strdup(from);
    *failed = *failed || copy == NULL;
    free(*to);
    *to = copy;
}

/** The next bug's place. */
static struct nnv_form_bug *new_bug(struct nnv_form_writer *w) {
    if (w->bugs == w->bug_cap) {
        size_t cap = w->bug_cap ? 2 * w->bug_cap : 16;
        struct nnv_form_bug *more = realloc(w->bug, cap * sizeof *more);
        if (more == NULL) return NULL;
        w->bug = more;
        w->bug_cap = cap;
    }
    w->bug[w->bugs] = (struct nnv_form_bug){.compared = UINT64_MAX};
    return &w->bug[w->bugs++];
}

static void add_github(struct nnv_form_writer *w, const json_t *record, enum nnvts_verdict v) {
    if (!nnv_record_bad(record)) return;
    if (w->buckets.map.count >= KEPT) {
        w->others++;
        return;
    }
    const struct nnv_bucket_case c = {.verdict = v,
                                      .op = nnv_json_text(record, "op", ""),
                                      .type = nnv_json_text(record, "type", ""),
                                      .reason = nnv_json_text(record, "reason", ""),
                                      .compared = nnv_json_count(record, "compared")};
    uint32_t b = nnv_buckets_add(&w->buckets, &c);
    struct nnv_form_bug *bug = b == NNV_MAP_NONE ? NULL : b < w->bugs ? &w->bug[b] : new_bug(w);
    w->failed = w->failed || bug == NULL;
    if (bug == NULL || c.compared >= bug->compared) return;
    bug->compared = c.compared;
    replace(&bug->name, nnv_json_text(record, "case", ""), &w->failed);
    replace(&bug->reason, c.reason, &w->failed);
    replace(&bug->replay, nnv_json_text(record, "replay", ""), &w->failed);
}

/** Text of a command: what ends or divides it is escaped; in a property more than in the message. */
static void add_escaped(struct nnv_form_writer *w, const char *s, bool property) {
    for (const char *p = nnv_form_shown(w, s, LINE); *p != '\0'; p++) {
        if (*p == '%' || (property && (*p == ':' || *p == ',')))
            nnv_text_addf(&w->t, "%%%02X", (unsigned)(unsigned char)*p);
        else
            nnv_text_add_n(&w->t, p, 1);
    }
}

static void add_bug(struct nnv_form_writer *w, size_t i) {
    const struct nnv_bucket *b = &w->buckets.item[i];
    const struct nnv_form_bug *bug = &w->bug[i];
    struct nnv_text title = {0};
    char first[LINE + 1];
    nnv_text_addf(&title, "%s %s%s%s (%s case%s)", nnv_verdict_name(b->verdict), b->op, *b->op ? " " : "", b->family,
                  nnv_count(b->count).s, b->count == 1 ? "" : "s");
    nnv_text_add(&w->t, "::error title=");
    add_escaped(w, title.data != NULL ? title.data : "", true);
    nnv_text_add(&w->t, "::");
    add_escaped(w, bug->name, false);
    snprintf(first, sizeof first, "%.*s", (int)nnv_first_line(bug->reason), bug->reason);
    nnv_text_add(&w->t, "%0A");
    add_escaped(w, first, false);
    if (*bug->replay != '\0') {
        nnv_text_add(&w->t, "%0Aagain: ");
        add_escaped(w, bug->replay, false);
    }
    nnv_text_add(&w->t, "\n");
    w->failed = w->failed || title.failed;
    nnv_text_free(&title);
}

static void end_github(struct nnv_form_writer *w) {
    size_t left = w->bugs, *shown = w->verdicts;
    bool *told = calloc(w->bugs + 1, sizeof *told);
    if (told == NULL || w->failed) {
        free(told);
        w->failed = true;
        return;
    }
    for (int n = 0; n < SHOWN && left > 0; n++, left--) { /* the fullest first */
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < w->bugs; i++)
            if (!told[i] && (best == SIZE_MAX || w->buckets.item[i].count > w->buckets.item[best].count)) best = i;
        told[best] = true;
        add_bug(w, best);
    }
    free(told);
    if (left > 0 || w->others > 0)
        nnv_text_addf(&w->t, "::warning title=nnvts::%zu%s more bugs are in the report\n", left,
                      w->others > 0 ? " and" : "");
    if (shown[NNVTS_NOTRUN] > 0)
        nnv_text_addf(&w->t, "::error title=nnvts::%zu cases were not run\n", shown[NNVTS_NOTRUN]);
    nnv_text_add(&w->t, "::notice title=nnvts::");
    const char *comma = "";
    for (int k = 0; k < NNVTS_VERDICT_COUNT; k++) {
        enum nnvts_verdict v = nnv_verdict_order[k];
        if (shown[v] == 0) continue;
        nnv_text_addf(&w->t, "%s%zu %s", comma, shown[v], nnv_verdict_done(v));
        comma = ", ";
    }
    if (w->expected > 0) nnv_text_addf(&w->t, "; %zu of the failures were expected", w->expected);
    nnv_text_add(&w->t, *comma ? "\n" : "no case\n");
}

const struct nnv_form_kind nnv_form_github = {.name = "github", .record = add_github, .end = end_github};
