/* SPDX-License-Identifier: Apache-2.0 */
/** @file summary.c summary.json: the run in a few numbers. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/journal/causes/bug.h"
#include "harness/journal/expect/outcome.h"
#include "harness/journal/load.h"
#include "harness/journal/verdict.h"
#include "reports/implemented.h"
#include "reports/networks.h"
#include "reports/report.h"

struct nnv_suite_counts *nnv_suite_counts(const struct nnv_report *r) {
    struct nnv_suite_counts *suites = calloc(r->suites.count + (size_t)1, sizeof *suites);
    if (suites == NULL) return NULL;
    for (size_t i = 0; i < r->count; i++) {
        const struct nnv_report_case *c = &r->item[i];
        struct nnv_suite_counts *s = &suites[c->suite];
        if (s->cases++ == 0) s->first = i;
        s->verdicts[c->verdict]++;
        s->compared += nnv_case_compared(c);
        s->ms += nnv_case_ms(c);
    }
    return suites;
}

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

/** Adds how many cases there are of each reason: {"FEATURE_LEVEL": n, ...}. */
static void add_reasons(struct nnv_text *t, const struct nnv_report *r) {
    const char *comma = "";
    nnv_text_add(t, ",\n  \"reasons\": {");
    for (int i = NNVTS_WHY_NONE + 1; i < NNVTS_REASON_COUNT; i++) {
        if (r->whys[i] == 0) continue;
        nnv_text_addf(t, "%s\"%s\": %zu", comma, nnv_why_name((enum nnvts_reason)i), r->whys[i]);
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

/** Adds the first 100 bugs. */
static void add_bugs(struct nnv_text *t, const struct nnv_report *r, const struct nnv_bugs *b,
                     const struct nnv_networks *networks) {
    enum { MOST = 100 };
    nnv_text_addf(t, ",\n  \"bugs\": %u,\n  \"failures_by_bug\": [", b->count);
    for (uint32_t n = 0; n < b->count && n < MOST; n++) {
        const struct nnv_bug *k = &b->item[n];
        nnv_text_addf(t, "%s\n    {\"count\": %zu, \"verdict\": \"%s\", \"ops\": ", n ? "," : "", k->count,
                      nnv_verdict_name(k->verdict));
        nnv_text_add_json(t, k->ops);
        nnv_text_add(t, ", \"types\": ");
        nnv_text_add_json(t, k->types);
        nnv_text_add(t, k->explained ? ", \"explained\": " : ", \"like\": ");
        nnv_text_add_json(t, k->words);
        if (k->where) {
            nnv_text_add(t, ", \"where\": ");
            nnv_text_add_json(t, k->where);
        }
        nnv_text_add(t, ", \"smallest\": ");
        nnv_text_add_json(t, r->item[k->smallest].name);
        if (networks->count > 0) {
            const struct nnv_touched touched = nnv_networks_touched(networks, b, n);
            nnv_text_addf(t, ", \"networks\": %u, \"operations\": %u", touched.networks, touched.operations);
        }
        nnv_text_add(t, "}");
    }
    nnv_text_add(t, b->count ? "\n  ]" : "]");
}

/** Adds how many clauses of NNAPI there are, passed, failed (their ids), and were not judged. */
static void add_clauses(struct nnv_text *t, const struct nnv_report *r) {
    json_t *root = nnv_report_file(r, NNV_CLAUSES_FILE), *clause;
    const json_t *failed = json_object_get(root, "failed");
    size_t i;
    if (json_is_object(root)) {
        nnv_text_add(t, ",\n  \"clauses\": {\"all\": ");
        nnv_text_addf(t, "%lld", (long long)json_integer_value(json_object_get(root, "clauses")));
        nnv_text_addf(t, ", \"passed\": %lld", (long long)json_integer_value(json_object_get(root, "passed")));
        nnv_text_addf(t, ", \"not_judged\": %zu", json_array_size(json_object_get(root, "not_judged")));
        nnv_text_addf(t, ", \"without_case\": %zu", json_array_size(json_object_get(root, "without_case")));
        nnv_text_add(t, ", \"failed\": [");
        json_array_foreach(failed, i, clause) {
            nnv_text_add(t, i ? ", " : "");
            nnv_text_add_json(t, nnv_json_text(clause, "id", "?"));
        }
        nnv_text_add(t, "]}");
    }
    json_decref(root);
}

/** Adds what was reached of the driver's code, in all and by file; the lines that were missed are in its own file. */
static void add_reached(struct nnv_text *t, const struct nnv_report *r) {
    json_t *root = nnv_report_file(r, NNV_COVERAGE_FILE), *file;
    size_t i;
    json_array_foreach(json_object_get(root, "files"), i, file) json_object_del(file, "lines_missed");
    char *s = json_is_object(root) ? json_dumps(root, 0) : NULL;
    if (s != NULL) nnv_text_addf(t, ",\n  \"coverage\": %s", s);
    free(s);
    json_decref(root);
}

/** Adds the types of each operation that the driver has, or has not: {"ADD": ["float32", ...], ...}. */
static void add_has(struct nnv_text *t, const struct nnv_report *r, const struct nnv_implemented *x, enum nnv_has has) {
    const char *between = "\n    ";
    nnv_text_add(t, has == NNV_HAS ? ",\n  \"implemented\": {" : ",\n  \"not_implemented\": {");
    for (uint32_t op = 0; op < r->ops.count; op++) {
        const char *open = between, *comma = "";
        for (uint32_t type = 0; type < x->types; type++) {
            if (x->has[(size_t)op * x->types + type] != has) continue;
            if (*comma == '\0') {
                nnv_text_add(t, open);
                nnv_text_add_json(t, r->ops.key[op]);
                nnv_text_add(t, ": [");
            }
            nnv_text_add(t, comma);
            nnv_text_add_json(t, r->types.key[type]);
            comma = ", ";
            between = ",\n    ";
        }
        if (*comma != '\0') nnv_text_add(t, "]");
    }
    nnv_text_add(t, *between == ',' ? "\n  }" : "}");
}

/** Adds how many operations each device behind the driver has computed. */
static void add_devices(struct nnv_text *t, const struct nnv_report *r) {
    const struct nnv_uses *u = &r->uses;
    for (uint32_t i = 0; i < u->devices.count; i++) {
        nnv_text_add(t, i == 0 ? ",\n  \"devices\": {" : ", ");
        nnv_text_add_json(t, u->devices.key[i]);
        nnv_text_addf(t, ": %" PRIu64, nnv_uses_computed(u, i));
    }
    if (u->devices.count > 0) nnv_text_add(t, "}");
}

static void add_weighed(struct nnv_text *t, const char *name, const struct nnv_weighed *w) {
    nnv_text_add_json(t, name);
    nnv_text_addf(t, ": {\"operations\": %u, \"right\": %u, \"wrong\": %u, \"not_supported\": %u}", w->operations,
                  w->right, w->wrong, w->unsupported);
}

/** Adds what the run says of each network that its cases are of. */
static void add_networks(struct nnv_text *t, const struct nnv_networks *n) {
    for (uint32_t i = 0; i < n->count; i++) {
        nnv_text_add(t, i == 0 ? ",\n  \"networks\": {\n    " : ",\n    ");
        add_weighed(t, n->item[i].name, &n->item[i].all);
    }
    if (n->count > 0) nnv_text_add(t, "\n  }");
}

static void add_summary(struct nnv_text *t, const struct nnv_report *r, const struct nnv_suite_counts *suites,
                        const struct nnv_bugs *bugs, const struct nnv_implemented *implemented,
                        const struct nnv_networks *networks, bool interrupted) {
    nnv_text_add(t, "{\n  \"nnvts\": ");
    add_header_member(t, r->header, "nnvts");
    nnv_text_add(t, ",\n  \"driver\": ");
    add_header_member(t, r->header, "driver");
    nnv_text_add(t, ",\n  \"seed\": ");
    add_header_member(t, r->header, "seed");
    nnv_text_addf(t, ",\n  \"exit_code\": %d,\n  \"compared\": %" PRIu64, (int)nnv_report_exit(r), r->compared);
    nnv_text_addf(t, ",\n  \"seconds\": %.3f,\n  \"cases\": %zu,\n  \"verdicts\": ", r->seconds, r->count);
    add_verdicts(t, r->verdicts, true);
    nnv_text_addf(t, ",\n  \"judged_percent\": %.1f", nnv_report_judged(r));
    add_reasons(t, r);
    nnv_text_add(t, ",\n  \"suites\": {");
    for (uint32_t s = 0; s < r->suites.count; s++) {
        nnv_text_add(t, s == 0 ? "\n    " : ",\n    ");
        nnv_text_add_json(t, r->suites.key[s]);
        nnv_text_add(t, ": ");
        add_verdicts(t, suites[s].verdicts, false);
    }
    nnv_text_addf(t, "%s}", r->suites.count == 0 ? "" : "\n  ");
    add_bugs(t, r, bugs, networks);
    add_networks(t, networks);
    nnv_text_add(t, ",\n  \"outcomes\": {");
    for (int o = NNVTS_OUTCOME_NONE + 1; o < NNVTS_OUTCOME_COUNT; o++)
        nnv_text_addf(t, "\"%s\": %zu, ", nnv_outcome_name((enum nnvts_outcome)o), r->outcomes[o]);
    nnv_text_addf(t, "\"stale\": %zu, \"strict\": %s}", r->stale, r->strict ? "true" : "false");
    add_clauses(t, r);
    if (json_object_get(r->header, "saturation") != NULL) {
        nnv_text_add(t, ",\n  \"saturation\": ");
        add_header_member(t, r->header, "saturation");
    }
    add_reached(t, r);
    add_devices(t, r);
    add_has(t, r, implemented, NNV_HAS);
    add_has(t, r, implemented, NNV_HAS_NOT);
    nnv_text_addf(t, ",\n  \"interrupted\": %s\n}\n", interrupted ? "true" : "false");
}

enum nnv_status nnv_report_summary(const struct nnv_report *r, bool interrupted, struct nnv_err *err) {
    struct nnv_suite_counts *suites = nnv_suite_counts(r);
    struct nnv_text path = {0}, t = {0};
    nnv_text_add_path(&path, r->folder, "summary.json");
    struct nnv_bugs bugs = {0};
    struct nnv_implemented implemented = {0};
    struct nnv_networks networks = {0};
    enum nnv_status s = nnv_bugs_of(r, &bugs, err);
    if (s == NNV_OK) s = nnv_implemented(r, &implemented, err);
    if (s == NNV_OK) s = nnv_networks_of(r, &networks, err);
    if (suites != NULL && s == NNV_OK) add_summary(&t, r, suites, &bugs, &implemented, &networks, interrupted);
    if (s == NNV_OK && (suites == NULL || path.failed || t.failed))
        s = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory for the summary", r->folder);
    if (s == NNV_OK) s = nnv_file_write(path.data, t.data, t.len, err);
    nnv_bugs_free(&bugs);
    nnv_implemented_free(&implemented);
    nnv_networks_free(&networks);
    nnv_text_free(&path);
    nnv_text_free(&t);
    free(suites);
    return s;
}
