/* SPDX-License-Identifier: Apache-2.0 */
/** @file own.h What the forms share among themselves. */
#ifndef NNV_REPORTS_FORMS_OWN_H
#define NNV_REPORTS_FORMS_OWN_H

#include "base/text.h"
#include "harness/journal/causes/bucket.h"
#include "reports/forms/forms.h"

/** What stands for a bug: its smallest case. */
struct nnv_form_bug {
    char *name, *reason, *replay;
    uint64_t compared;
};

struct nnv_form_writer {
    enum nnv_report_form form;
    FILE *to;
    const json_t *header;  /**< owned */
    struct nnv_text t;     /**< what is written next */
    struct nnv_text shown; /**< scratch */
    uint64_t number;       /**< cases so far */
    size_t verdicts[NNVTS_VERDICT_COUNT];
    size_t expected; /**< of the bad ones: those that were to fail */
    bool failed;     /**< memory ran out */
    /* GITHUB */
    struct nnv_buckets buckets;
    struct nnv_form_bug *bug; /**< one a bucket */
    size_t bugs, bug_cap, others;
    /* TRACE */
    struct nnv_id_map workers;
    int64_t start_us;
    size_t events, timeless;
};

/** How a form writes its parts into w->t; missing may be NULL. */
struct nnv_form_kind {
    const char *name;
    void (*begin)(struct nnv_form_writer *w);
    void (*record)(struct nnv_form_writer *w, const json_t *record, enum nnvts_verdict v);
    void (*missing)(struct nnv_form_writer *w, const struct nnv_listed *c);
    void (*end)(struct nnv_form_writer *w);
};
extern const struct nnv_form_kind nnv_form_tap, nnv_form_csv, nnv_form_github, nnv_form_trace;

/** s as one line without anything that does something to a terminal; lasts until the next call. */
const char *nnv_form_shown(struct nnv_form_writer *w, const char *s, size_t most);

#endif
