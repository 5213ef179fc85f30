/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/expectations.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/journal/load.h"
#include "harness/journal/outcome.h"
#include "harness/journal/verdict.h"

static enum nnv_status read_all(const struct nnv_opt_list *files, struct nnv_expectations *x, struct nnv_err *err) {
    enum nnv_status s = NNV_OK;
    for (int i = 0; i < files->count && s == NNV_OK; i++) s = nnv_expect_read(files->item[i], x, err);
    return s;
}

enum nnv_status nnv_cli_expect(const struct nnv_opt_list *files, const struct nnv_cli *c,
                               const struct nnv_run_config *config, const struct nnv_case *cases, size_t count,
                               struct nnv_expectations *x, struct nnv_err *err) {
    if (files->count == 0 && x->strict)
        return nnv_fail(err, NNV_INVALID, "--strict is about expectations: give them with --expect FILE");
    if (files->count == 0) return NNV_OK;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_case_list all = {.arena = arena};
    enum nnv_status s = arena != NULL ? read_all(files, x, err) : nnv_no_memory(err);
    /* An entry is out of date if no case at all is meant, not if this run's filter leaves its cases out. */
    if (s == NNV_OK) s = nnv_list_suites(config, c->suite, &all, err);
    if (s == NNV_OK) s = nnv_expect_count(x, &all, nnv_known_names, err);
    if (s == NNV_OK) s = nnv_expect_bind(x, cases, count, err);
    free(all.item);
    nnv_arena_free(arena);
    return s;
}

/* ----------------------------------------------------------- a finished run */

struct nnv_case *nnv_cli_report_cases(const struct nnv_report *r) {
    struct nnv_case *cases = calloc(r->count + 1, sizeof *cases);
    for (size_t i = 0; i < r->count && cases != NULL; i++) {
        const struct nnv_report_case *c = &r->item[i];
        cases[i] = (struct nnv_case){.name = c->name,
                                     .suite = r->suites.key[c->suite],
                                     .op = r->ops.key[c->op],
                                     .type = r->types.key[c->type],
                                     .tags = c->tags};
    }
    return cases;
}

void nnv_cli_expect_apply(struct nnv_expectations *x, const struct nnv_report *r) {
    const json_t *driver = json_object_get(r->header, "driver");
    char day[11] = "";
    snprintf(day, sizeof day, "%.10s", nnv_json_text(r->header, "start", ""));
    nnv_expect_apply(x, nnv_json_text(driver, "argument", ""), nnv_json_text(driver, "name", ""),
                     nnv_json_text(driver, "version", ""), (int)nnv_json_count(driver, "level"), day);
}

/** Adds the outcome of a case, if it has one. */
static enum nnv_status add_outcome(const struct nnv_report *r, const struct nnv_expectations *x, size_t i,
                                   struct nnv_text *t, struct nnv_err *err) {
    const struct nnv_report_case *c = &r->item[i];
    json_t *record = NULL;
    uint32_t counts[NNVTS_VERDICT_COUNT] = {0}, entry = 0;
    enum nnv_status s = nnv_report_record(r, i, &record, err);
    if (s != NNV_OK) return s;
    counts[NNVTS_FAIL] = c->bad_runs;
    counts[NNVTS_PASS] = c->runs - c->bad_runs;
    const char *reason = nnv_json_text(record, "reason", "");
    const enum nnvts_outcome o = record == NULL
                                     ? NNVTS_OUTCOME_NONE
                                     : nnv_expect_judge(x, i, c->verdict, reason, strlen(reason), counts, &entry);
    json_decref(record);
    if (o == NNVTS_OUTCOME_NONE) return NNV_OK;
    nnv_text_add(t, t->data[t->len - 1] == '{' ? "\n" : ",\n");
    nnv_text_add_json(t, c->name);
    nnv_text_addf(t, ": {\"outcome\": \"%s\", \"expectation\": %u}", nnv_outcome_name(o), entry);
    return NNV_OK;
}

static enum nnv_status write_outcomes(const struct nnv_report *r, const struct nnv_expectations *x,
                                      struct nnv_err *err) {
    struct nnv_text t = {0}, path = {0};
    enum nnv_status s = NNV_OK;
    nnv_text_add(&t, "{\"expected\": ");
    nnv_expect_write(x, &t);
    nnv_text_add(&t, ",\n\"cases\": {");
    for (size_t i = 0; i < r->count && s == NNV_OK && !t.failed; i++)
        if (x->first[i] != 0) s = add_outcome(r, x, i, &t, err);
    nnv_text_add(&t, "}}\n");
    nnv_text_add_path(&path, r->folder, NNV_OUTCOMES_FILE);
    if (s == NNV_OK && (t.failed || path.failed)) s = nnv_no_memory(err);
    if (s == NNV_OK) s = nnv_file_write(path.data, t.data, t.len, err);
    nnv_text_free(&path);
    nnv_text_free(&t);
    return s;
}

enum nnv_status nnv_cli_judge_anew(const char *folder, const struct nnv_opt_list *files, struct nnv_expectations *x,
                                   struct nnv_err *err) {
    struct nnv_report *r = NULL;
    struct nnv_case *cases = NULL;
    enum nnv_status s = read_all(files, x, err);
    if (s == NNV_OK) s = nnv_report_load(folder, &r, err);
    if (s == NNV_OK && (cases = nnv_cli_report_cases(r)) == NULL) s = nnv_no_memory(err);
    const struct nnv_case_list list = {.item = cases, .count = s == NNV_OK ? r->count : 0};
    if (s == NNV_OK) s = nnv_expect_count(x, &list, nnv_known_names, err);
    if (s == NNV_OK) s = nnv_expect_bind(x, cases, r->count, err);
    if (s == NNV_OK) {
        nnv_cli_expect_apply(x, r);
        s = write_outcomes(r, x, err);
    }
    free(cases);
    nnv_report_free(r);
    return s;
}
