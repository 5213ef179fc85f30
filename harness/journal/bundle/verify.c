/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/bundle/verify.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/driver.h"
#include "base/words.h"
#include "harness/journal/bundle/bundle.h"
#include "harness/journal/reader.h"
#include "harness/journal/record.h"
#include "harness/journal/verdict.h"

/** What has been found so far. */
struct verifier {
    const struct nnv_verify *v;
    struct nnv_verified *found;
    struct nnv_journal_reader r;
    struct nnv_arena *arena;
    struct nnv_map names;
    bool *seen; /**< of each name */
};

static void wrong(const struct verifier *v, const char *text) { v->v->wrong(v->v->context, text); }

static NNV_PRINTF(3, 4) void wrong_case(const struct verifier *v, const char *name, const char *format, ...) {
    struct nnv_text t = {0};
    va_list args;
    nnv_text_addf(&t, "%s: ", name);
    va_start(args, format);
    nnv_text_vaddf(&t, format, args);
    va_end(args);
    wrong(v, t.failed ? name : t.data);
    nnv_text_free(&t);
}

/** The names of cases.tsv; their hash must be that of the journal. */
static enum nnv_status read_cases(struct verifier *v, struct nnv_err *err) {
    struct nnv_list_reader l;
    struct nnv_listed c;
    bool more = true;
    enum nnv_status s = nnv_list_open(v->v->folder, "cases.tsv", &l, err);
    while (s == NNV_OK && (s = nnv_list_next(&l, &c, &more, err)) == NNV_OK && more) {
        const char *copy = nnv_arena_strdup(v->arena, c.name);
        if (copy == NULL || nnv_map_add(&v->names, copy) == NNV_MAP_NONE) s = nnv_no_memory(err);
    }
    v->seen = calloc(v->names.count + (size_t)1, sizeof *v->seen);
    if (s == NNV_OK && v->seen == NULL) s = nnv_no_memory(err);
    const uint64_t cases = nnv_json_count(v->r.header, "cases");
    if (s == NNV_OK && !nnv_selection_is(l.hash, cases, nnv_json_text(v->r.header, "selection", ""), cases))
        wrong(v, "cases.tsv: not the list of cases that the run was begun with");
    if (s == NNV_OK && cases != l.lines.number) wrong(v, "cases.tsv: not as many cases as the journal says");
    nnv_list_close(&l);
    return s;
}

/* -------------------------------------------------------------------- records */

/** The verdict against the comparisons of its record. */
static void check_record(struct verifier *v, const json_t *record) {
    const struct nnv_line *l = &v->r.at;
    const json_t *outputs = json_object_get(record, "outputs"), *output;
    uint64_t compared = 0, bad = 0;
    size_t i;
    json_array_foreach(outputs, i, output) {
        const uint64_t its = nnv_json_count(output, "wrong");
        const json_t *ratio = json_object_get(json_object_get(output, "worst"), "ratio");
        compared += nnv_json_count(output, "compared");
        bad += its;
        if (its == 0 && json_is_number(ratio) && json_number_value(ratio) > 1 && l->verdict == NNVTS_PASS)
            wrong_case(v, l->name, "its worst value is beyond its bound, yet no value is counted as wrong");
    }
    if (l->verdict == NNVTS_PASS && bad > 0)
        wrong_case(v, l->name, "PASS, but %llu values are wrong", (unsigned long long)bad);
    if (l->verdict == NNVTS_PASS && l->reason != NULL) wrong_case(v, l->name, "PASS, but with a reason to fail");
    if (l->verdict == NNVTS_FAIL && bad == 0 && l->reason == NULL)
        wrong_case(v, l->name, "FAIL, but nothing is wrong and no reason is given");
    /* A suite may compare more than the outputs. */
    if (compared > l->compared) wrong_case(v, l->name, "its outputs have more values than were compared");
    v->found->records++;
}

/** The same spec and answer, judged now. */
static enum nnv_status rejudge(struct verifier *v, struct nnv_err *err) {
    const struct nnv_line *l = &v->r.at;
    struct nnv_rejudged now = {0};
    struct nnv_text path = {0};
    nnv_text_add_path(&path, v->v->folder, l->dump);
    if (path.failed) return nnv_no_memory(err);
    const bool there = strstr(l->dump, "..") == NULL && *l->dump != '/' && access(path.data, R_OK) == 0;
    if (!there) wrong_case(v, l->name, "its dump is missing: %s", l->dump);
    enum nnv_status s = there ? v->v->rejudge(path.data, &now, err) : NNV_OK;
    if (s == NNV_OK && now.answered) {
        if (now.verdict != l->verdict)
            wrong_case(v, l->name, "%s, but its tensors say %s", nnv_verdict_name(l->verdict),
                       nnv_verdict_name(now.verdict));
        else if (now.compared != l->compared)
            wrong_case(v, l->name, "its tensors have another number of values than its record");
        v->found->from_tensors++;
        v->found->passes_from_tensors += l->verdict == NNVTS_PASS;
    }
    nnv_text_free(&path);
    return s;
}

static enum nnv_status take_record(struct verifier *v, struct nnv_err *err) {
    const struct nnv_line *l = &v->r.at;
    const json_t *record = nnv_reader_tree(&v->r);
    const uint32_t i = nnv_map_find(&v->names, l->name);
    if (record == NULL) return nnv_no_memory(err);
    if (i == NNV_MAP_NONE)
        wrong_case(v, l->name, "has a record, but was not selected");
    else if (v->seen[i])
        wrong_case(v, l->name, "has two records");
    else
        v->seen[i] = true;
    v->found->verdicts[l->verdict]++;
    check_record(v, record);
    const bool by_values = l->verdict == NNVTS_FAIL || l->verdict == NNVTS_PASS;
    return l->dump != NULL && by_values ? rejudge(v, err) : NNV_OK;
}

static enum nnv_status read_records(struct verifier *v, struct nnv_err *err) {
    for (bool more = true;;) {
        enum nnv_status s = nnv_reader_next(&v->r, &more, err);
        if (s == NNV_OK && !more) return s;
        if (s == NNV_INVALID)
            wrong(v, err->text);
        else if (s == NNV_OK)
            s = take_record(v, err);
        if (s != NNV_OK && s != NNV_INVALID) return s;
    }
}

/* -------------------------------------------------------------------- the run */

static enum nnv_status check_summary(struct verifier *v, struct nnv_err *err) {
    struct nnv_text path = {0};
    size_t *counts = v->found->verdicts;
    nnv_text_add_path(&path, v->v->folder, "summary.json");
    if (path.failed) return nnv_no_memory(err);
    json_t *summary = json_load_file(path.data, 0, NULL);
    const json_t *verdicts = json_object_get(summary, "verdicts");
    for (size_t i = 0; i < v->names.count; i++) counts[NNVTS_NOTRUN] += !v->seen[i];
    for (int i = 0; json_is_object(verdicts) && i < NNVTS_VERDICT_COUNT; i++) {
        const char *name = nnv_verdict_name((enum nnvts_verdict)i);
        const json_int_t its = json_integer_value(json_object_get(verdicts, name));
        if (its != (json_int_t)counts[i])
            wrong_case(v, "summary.json", "%s: %lld, but the journal has %zu", name, (long long)its, counts[i]);
    }
    json_decref(summary);
    nnv_text_free(&path);
    return NNV_OK;
}

bool nnv_verify_apart(const json_t *header) {
    return nnv_driver_is_apart(nnv_json_text(json_object_get(header, "driver"), "argument", ""));
}

enum nnv_status nnv_verify_run(const struct nnv_verify *options, struct nnv_verified *found, struct nnv_err *err) {
    struct verifier v = {.v = options, .found = found, .arena = nnv_arena_new()};
    struct nnv_text path = {0};
    json_t *manifest = NULL;
    *found = (struct nnv_verified){0};
    enum nnv_status s = v.arena == NULL ? nnv_no_memory(err) : NNV_OK;
    if (s == NNV_OK) s = nnv_bundle_compare(options->folder, options->wrong, options->context, &manifest, err);
    nnv_text_add_path(&path, options->folder, "journal.jsonl");
    if (s == NNV_OK && path.failed) s = nnv_no_memory(err);
    if (s == NNV_OK && access(path.data, F_OK) != 0)
        s = nnv_fail(err, NNV_INVALID, "%s: not the folder of a run: it has no journal.jsonl", options->folder);
    if (s == NNV_OK) s = nnv_reader_open(options->folder, &v.r, err);
    if (s == NNV_OK) s = read_cases(&v, err);
    if (s == NNV_OK) s = read_records(&v, err);
    if (s == NNV_OK) s = check_summary(&v, err);
    found->packed = manifest != NULL;
    found->apart = nnv_verify_apart(v.r.header);
    json_decref(manifest);
    nnv_reader_close(&v.r);
    nnv_map_free(&v.names);
    nnv_arena_free(v.arena);
    nnv_text_free(&path);
    free(v.seen);
    return s;
}
