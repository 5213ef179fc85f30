/* SPDX-License-Identifier: Apache-2.0 */
/** @file summary.c summary.json: the run in a few numbers. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "reports/load.h"
#include "reports/suite_counts.h"
#include "reports/words.h"

/** Adds {"PASS": n, ...}; with zeros if all is set. */
static void add_verdicts(struct nnv_text *t, const size_t *count, bool all) {
    const char *comma = "";
    nnv_text_add(t, "{");
    for (int k = 0; k < NNVTS_VERDICT_COUNT; k++) {
        enum nnvts_verdict v = nnv_verdict_order[k];
        if (count[v] == 0 && !all) continue;
        nnv_text_addf(t, "%s\"%s\": %zu", comma, nnv_verdict_name(v), count[v]);
        comma = ", ";
    }
    nnv_text_add(t, "}");
}

/** Adds the member of the header as it is; null if it is absent. */
static void add_header_member(struct nnv_text *t, const json_t *header, const char *member) {
    const json_t *value = json_object_get(header, member);
    char *s = value == NULL ? NULL : json_dumps(value, JSON_ENCODE_ANY);
    if (value != NULL && s == NULL) t->failed = true;
    nnv_text_add(t, s == NULL ? "null" : s);
    free(s);
}

static void add_summary(struct nnv_text *t, const struct nnv_report *r, const struct nnv_suite_counts *suites,
                        bool interrupted) {
    nnv_text_add(t, "{\n  \"nnvts\": ");
    add_header_member(t, r->header, "nnvts");
    nnv_text_add(t, ",\n  \"driver\": ");
    add_header_member(t, r->header, "driver");
    nnv_text_add(t, ",\n  \"seed\": ");
    add_header_member(t, r->header, "seed");
    nnv_text_addf(t, ",\n  \"exit_code\": %d,\n  \"compared\": %" PRIu64, (int)nnv_report_exit(r), r->compared);
    nnv_text_addf(t, ",\n  \"seconds\": %.3f,\n  \"cases\": %zu,\n  \"verdicts\": ", r->seconds, r->count);
    add_verdicts(t, r->verdicts, true);
    nnv_text_add(t, ",\n  \"suites\": {");
    for (uint32_t s = 0; s < r->suites.count; s++) {
        nnv_text_add(t, s == 0 ? "\n    " : ",\n    ");
        nnv_text_add_json(t, r->suites.key[s]);
        nnv_text_add(t, ": ");
        add_verdicts(t, suites[s].verdicts, false);
    }
    nnv_text_addf(t, "%s},\n  \"interrupted\": %s\n}\n", r->suites.count == 0 ? "" : "\n  ",
                  interrupted ? "true" : "false");
}

enum nnv_status nnv_report_summary(const struct nnv_report *r, bool interrupted, struct nnv_err *err) {
    struct nnv_suite_counts *suites = nnv_suite_counts(r);
    struct nnv_text path = {0}, t = {0};
    nnv_text_add_path(&path, r->folder, "summary.json");
    if (suites != NULL) add_summary(&t, r, suites, interrupted);
    enum nnv_status s = suites == NULL || path.failed || t.failed
                            ? nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory for the summary", r->folder)
                            : nnv_file_write(path.data, t.data, t.len, err);
    nnv_text_free(&path);
    nnv_text_free(&t);
    free(suites);
    return s;
}
