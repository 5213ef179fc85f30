/* SPDX-License-Identifier: Apache-2.0 */
/** @file html.c report.html: pieces that its sections share. */
#include "reports/html/html.h"

#include "base/words.h"
#include "harness/journal/verdict.h"

void nnv_html_sign(struct nnv_text *t, enum nnvts_verdict v) {
    nnv_text_addf(t, "<b class=\"v %c\">%c</b>", nnv_verdict_letter(v), nnv_verdict_letter(v));
}

void nnv_html_counts(struct nnv_text *t, const size_t *verdicts) {
    const char *comma = "";
    for (int k = 0; k < NNVTS_VERDICT_COUNT; k++) {
        enum nnvts_verdict v = nnv_verdict_order[k];
        if (verdicts[v] == 0) continue;
        nnv_text_addf(t, "%s%s %s", comma, nnv_count(verdicts[v]).s, nnv_verdict_word(v));
        comma = ", ";
    }
}

enum nnvts_verdict nnv_html_worst(const size_t *verdicts) {
    static const enum nnvts_verdict order[] = {NNVTS_CRASH,     NNVTS_TIMEOUT, NNVTS_FAIL, NNVTS_ERROR,
                                               NNVTS_UNTRUSTED, NNVTS_NOTRUN,  NNVTS_PASS, NNVTS_UNSUPPORTED};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (verdicts[order[i]] > 0) return order[i];
    return NNVTS_SKIP;
}

const char *nnv_html_name(const char *s) { return *s == '\0' ? "\xe2\x80\x93" : s; }
