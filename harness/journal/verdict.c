/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/verdict.h"

#include <string.h>

static const struct word {
    const char *name, *word, *done;
    char letter;
    bool bad;
} words[NNVTS_VERDICT_COUNT] = {
    [NNVTS_ERROR] = {"ERROR", "error", "in error", 'E', true},
    [NNVTS_PASS] = {"PASS", "pass", "passed", 'P', false},
    [NNVTS_FAIL] = {"FAIL", "fail", "failed", 'F', true},
    [NNVTS_UNSUPPORTED] = {"UNSUPPORTED", "unsupported", "unsupported", 'U', false},
    [NNVTS_SKIP] = {"SKIP", "skip", "skipped", 'S', false},
    [NNVTS_UNTRUSTED] = {"UNTRUSTED", "untrusted", "untrusted", 'Q', true},
    [NNVTS_CRASH] = {"CRASH", "crash", "crashed", 'C', true},
    [NNVTS_TIMEOUT] = {"TIMEOUT", "timeout", "timed out", 'T', true},
    [NNVTS_NOTRUN] = {"NOTRUN", "not run", "not run", 'N', false},
};

const enum nnvts_verdict nnv_verdict_order[NNVTS_VERDICT_COUNT] = {
    NNVTS_PASS,  NNVTS_FAIL,        NNVTS_CRASH, NNVTS_TIMEOUT, NNVTS_UNTRUSTED,
    NNVTS_ERROR, NNVTS_UNSUPPORTED, NNVTS_SKIP,  NNVTS_NOTRUN,
};

const char *nnv_verdict_name(enum nnvts_verdict v) { return words[v].name; }
const char *nnv_verdict_word(enum nnvts_verdict v) { return words[v].word; }
const char *nnv_verdict_done(enum nnvts_verdict v) { return words[v].done; }
char nnv_verdict_letter(enum nnvts_verdict v) { return words[v].letter; }
bool nnv_verdict_bad(enum nnvts_verdict v) { return words[v].bad; }

bool nnv_verdict_parse(const char *name, enum nnvts_verdict *v) {
    for (int i = 0; i < NNVTS_VERDICT_COUNT; i++) {
        if (strcmp(name, words[i].name) != 0) continue;
        *v = (enum nnvts_verdict)i;
        return true;
    }
    return false;
}

void nnv_text_add_tried(struct nnv_text *t, enum nnvts_verdict v, const char *again) {
    enum nnvts_verdict tried;
    if (again == NULL || !nnv_verdict_parse(again, &tried) || tried == v) return;
    nnv_text_addf(t, "tried: %s, so it does not fail %severy time", words[tried].name,
                  words[tried].bad ? "in the same way " : "");
}

/* ------------------------------------------------------------------ reasons */

static const struct {
    const char *name, *words;
    enum nnvts_verdict verdict;
} reasons[NNVTS_REASON_COUNT] = {
#define X(name, verdict, sentence) [NNVTS_WHY_##name] = {#name, sentence, NNVTS_##verdict},
    NNVTS_REASONS(X)
#undef X
};

const char *nnv_why_name(enum nnvts_reason why) { return reasons[why].name; }
const char *nnv_why_words(enum nnvts_reason why) { return reasons[why].words; }

enum nnvts_reason nnv_why_of(enum nnvts_verdict v, enum nnvts_reason why) {
    if (reasons[why].verdict == v) return why;
    for (int i = 0; i < NNVTS_REASON_COUNT; i++)
        if (reasons[i].verdict == v) return (enum nnvts_reason)i;
    return NNVTS_WHY_NONE;
}

enum nnvts_reason nnv_why_parse(const char *name, enum nnvts_verdict v) {
    int i = 0;
    while (i < NNVTS_REASON_COUNT && strcmp(name, reasons[i].name) != 0) i++;
    return nnv_why_of(v, i < NNVTS_REASON_COUNT ? (enum nnvts_reason)i : NNVTS_WHY_NONE);
}

/* ----------------------------------------------------------------- outcomes */

static const char *const outcomes[NNVTS_OUTCOME_COUNT] = {
#define X(name) [NNVTS_OUTCOME_##name] = #name,
    NNVTS_OUTCOMES(X)
#undef X
};

const char *nnv_outcome_name(enum nnvts_outcome o) { return outcomes[o]; }

bool nnv_outcome_parse(const char *name, enum nnvts_outcome *o) {
    for (int i = 0; i < NNVTS_OUTCOME_COUNT; i++) {
        if (strcmp(name, outcomes[i]) != 0) continue;
        *o = (enum nnvts_outcome)i;
        return true;
    }
    return false;
}

void nnv_repeats_sum(const uint32_t *counts, uint32_t *runs, uint32_t *bad) {
    *runs = *bad = 0;
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++) {
        *runs += counts[v];
        if (nnv_verdict_bad((enum nnvts_verdict)v)) *bad += counts[v];
    }
}
