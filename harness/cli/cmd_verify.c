/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cmd_verify.c nnvts verify: does a run, or what was packed of it, say what its raw data say?
 *
 * Checked are the hashes of the files, the list of cases against the journal's hash of it, each record's verdict
 * against its own comparisons, the verdict of each dump that holds what the driver answered by judging it again, and
 * the counts of summary.json.
 */
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "harness/journal/bundle.h"
#include "harness/cli/cli.h"
#include "harness/journal/record.h"
#include "harness/journal/verdict.h"
#include "reference/spec/spec.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts verify RUN|BUNDLE [options]",
    .summary = "Verifies the folder of a run, or an archive that nnvts pack made: nothing was changed since it was "
               "packed, the cases are the selected ones, each once, and every verdict follows from the raw data: from "
               "its comparisons, and for each dump from the tensors. Exit code 0: all is so; 1: something is not.",
    .examples = "nnvts verify submission.tar   what was handed in\n"
                "nnvts verify nnvts-out        a run of your own\n",
};

enum { SHOWN_MOST = 20 };

/** What has been found so far. */
struct verifier {
    const char *folder;
    struct nnv_case *cases; /**< only names, from cases.tsv */
    char *list;
    bool *seen;
    size_t count;
    size_t verdicts[NNVTS_VERDICT_COUNT];
    size_t recomputed, rejudged, wrong;
    bool json;
};

static void wrong(void *context, const char *text) {
    struct verifier *v = context;
    if (v->wrong++ < SHOWN_MOST && !v->json) printf("WRONG %s\n", text);
}

static NNV_PRINTF(3, 4) void wrong_case(struct verifier *v, const char *name, const char *format, ...) {
    char text[1024];
    const int n = snprintf(text, sizeof text, "%.300s: ", name);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    wrong(v, text);
}

/* ---------------------------------------------------------------------- cases */

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct nnv_case *)a)->name, ((const struct nnv_case *)b)->name);
}

/** The names of cases.tsv, then sorted; their hash must be that of the journal. */
static enum nnv_status read_cases(struct verifier *v, const json_t *header, struct nnv_err *err) {
    char path[4096], selection[17];
    size_t size, room = 0;
    snprintf(path, sizeof path, "%s/cases.tsv", v->folder);
    enum nnv_status s = nnv_file_read(path, (size_t)1 << 30, &v->list, &size, err);
    if (s != NNV_OK) return s;
    for (const char *p = v->list; (p = strchr(p, '\n')); p++) room++;
    v->cases = calloc(room + 1, sizeof *v->cases);
    v->seen = calloc(room + 1, sizeof *v->seen);
    if (!v->cases || !v->seen) return nnv_no_memory(err);
    for (char *p = v->list; *p;) {
        char *end = p + strcspn(p, "\n"), *tab = p + strcspn(p, "\t\n");
        const bool more = *end != '\0';
        *end = '\0';
        *tab = '\0';
        if (more) v->cases[v->count++].name = p;
        p = end + more;
    }
    nnv_record_selection(v->cases, v->count, selection);
    const char *recorded = json_string_value(json_object_get(header, "selection"));
    if (!recorded || strcmp(recorded, selection) != 0)
        wrong(v, "cases.tsv: not the list of cases that the run was begun with");
    if (json_integer_value(json_object_get(header, "cases")) != (json_int_t)v->count)
        wrong(v, "cases.tsv: not as many cases as the journal says");
    qsort(v->cases, v->count, sizeof *v->cases, by_name);
    return NNV_OK;
}

/* -------------------------------------------------------------------- records */

static enum nnvts_verdict verdict_of(const json_t *record) {
    const char *name = json_string_value(json_object_get(record, "verdict"));
    for (int i = 0; name && i < NNVTS_VERDICT_COUNT; i++)
        if (strcmp(name, nnv_verdict_name((enum nnvts_verdict)i)) == 0) return (enum nnvts_verdict)i;
    return NNVTS_VERDICT_COUNT;
}

/** The verdict against the comparisons of its record. */
static void check_record(struct verifier *v, const char *name, enum nnvts_verdict verdict, const json_t *record) {
    json_t *outputs = json_object_get(record, "outputs"), *output;
    json_int_t compared = 0, bad = 0;
    size_t i;
    json_array_foreach(outputs, i, output) {
        compared += json_integer_value(json_object_get(output, "compared"));
        bad += json_integer_value(json_object_get(output, "wrong"));
        json_t *ratio = json_object_get(json_object_get(output, "worst"), "ratio");
        if (json_integer_value(json_object_get(output, "wrong")) == 0 && json_is_number(ratio) &&
            json_number_value(ratio) > 1 && verdict == NNVTS_PASS)
            wrong_case(v, name, "its worst value is beyond its bound, yet no value is counted as wrong");
    }
    if (verdict == NNVTS_PASS && bad > 0) wrong_case(v, name, "PASS, but %lld values are wrong", (long long)bad);
    if (verdict == NNVTS_PASS && json_is_string(json_object_get(record, "reason")))
        wrong_case(v, name, "PASS, but with a reason to fail");
    if (verdict == NNVTS_FAIL && bad == 0 && !json_is_string(json_object_get(record, "reason")))
        wrong_case(v, name, "FAIL, but nothing is wrong and no reason is given");
    /* A suite may compare more than the outputs. */
    if (compared > json_integer_value(json_object_get(record, "compared")))
        wrong_case(v, name, "its outputs have more values than were compared");
    v->recomputed++;
}

/* ---------------------------------------------------------------------- dumps */

/** The same spec and answer, judged now. */
static enum nnv_status rejudge(struct verifier *v, const char *name, const char *dump, enum nnvts_verdict verdict,
                               const json_t *record, struct nnv_err *err) {
    char path[4096];
    if (strstr(dump, "..") || *dump == '/' ||
        snprintf(path, sizeof path, "%s/%s", v->folder, dump) >= (int)sizeof path || access(path, R_OK) != 0) {
        wrong_case(v, name, "its dump is missing: %s", dump);
        return NNV_OK;
    }
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_spec_file *file = NULL;
    struct nnv_spec *spec = NULL;
    struct nnv_run_config config = {.precision = -1};
    enum nnv_precision precision;
    enum nnv_status s = arena ? nnv_spec_open(path, &file, err) : nnv_no_memory(err);
    if (s == NNV_OK) s = nnv_spec_read(file, 0, arena, &spec, err);
    if (s == NNV_OK) s = nnv_case_precision(&config, nnv_suite_by_name("spec"), spec, &precision, err);
    if (s == NNV_OK && spec->actual) {
        struct nnv_case_env env = {.config = &config, .arena = arena};
        struct nnv_result result = {.verdict = NNVTS_ERROR};
        nnv_judge_answer(&env, spec, precision, spec->actual, &result);
        if (result.verdict != (int)verdict)
            wrong_case(v, name, "%s, but its tensors say %s", nnv_verdict_name(verdict),
                       nnv_verdict_name((enum nnvts_verdict)result.verdict));
        else if (result.compared != (size_t)json_integer_value(json_object_get(record, "compared")))
            wrong_case(v, name, "its tensors have another number of values than its record");
        v->rejudged++;
        nnv_text_free(&result.reason);
        nnv_text_free(&result.outputs);
        nnv_text_free(&result.answer);
    }
    nnv_spec_close(file);
    nnv_arena_free(arena);
    return s;
}

static enum nnv_status check_line(struct verifier *v, const char *line, size_t n, struct nnv_err *err) {
    json_t *record = json_loadb(line, n, JSON_ALLOW_NUL, NULL);
    const char *name = json_string_value(json_object_get(record, "case"));
    const enum nnvts_verdict verdict = verdict_of(record);
    enum nnv_status s = NNV_OK;
    if (!name || verdict == NNVTS_VERDICT_COUNT) {
        wrong(v, "journal.jsonl: a line that is no record");
        json_decref(record);
        return NNV_OK;
    }
    const struct nnv_case key = {.name = name};
    const struct nnv_case *c = bsearch(&key, v->cases, v->count, sizeof key, by_name);
    if (!c)
        wrong_case(v, name, "has a record, but was not selected");
    else if (v->seen[c - v->cases])
        wrong_case(v, name, "has two records");
    else
        v->seen[c - v->cases] = true;
    v->verdicts[verdict]++;
    check_record(v, name, verdict, record);
    const char *dump = json_string_value(json_object_get(record, "dump"));
    if (dump && verdict == NNVTS_FAIL) s = rejudge(v, name, dump, verdict, record, err);
    json_decref(record);
    return s;
}

/* -------------------------------------------------------------------- the run */

static void check_summary(struct verifier *v) {
    char path[4096];
    snprintf(path, sizeof path, "%s/summary.json", v->folder);
    json_t *summary = json_load_file(path, 0, NULL), *verdicts = json_object_get(summary, "verdicts");
    for (size_t i = 0; i < v->count; i++) v->verdicts[NNVTS_NOTRUN] += !v->seen[i];
    for (int i = 0; json_is_object(verdicts) && i < NNVTS_VERDICT_COUNT; i++) {
        const char *name = nnv_verdict_name((enum nnvts_verdict)i);
        if (json_integer_value(json_object_get(verdicts, name)) != (json_int_t)v->verdicts[i])
            wrong_case(v, "summary.json", "%s: %lld, but the journal has %zu", name,
                       (long long)json_integer_value(json_object_get(verdicts, name)), v->verdicts[i]);
    }
    json_decref(summary);
}

static enum nnv_status verify_journal(struct verifier *v, struct nnv_err *err) {
    char path[4096], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%s/journal.jsonl", v->folder);
    FILE *f = fopen(path, "rb");
    if (!f) return nnv_fail(err, NNV_INVALID, "%s: not the folder of a run: it has no journal.jsonl", v->folder);
    ssize_t n = getline(&line, &room, f);
    json_t *header = n > 0 ? json_loadb(line, (size_t)n, 0, NULL) : NULL;
    enum nnv_status s = json_is_string(json_object_get(header, "format"))
                            ? read_cases(v, header, err)
                            : nnv_fail(err, NNV_INVALID, "%s:1: no journal of nnvts", path);
    while (s == NNV_OK && (n = getline(&line, &room, f)) > 0)
        if (line[n - 1] == '\n') s = check_line(v, line, (size_t)n, err);
    json_decref(header);
    free(line);
    fclose(f);
    if (s == NNV_OK) check_summary(v);
    return s;
}

static enum nnv_status verify_folder(struct verifier *v, struct nnv_err *err) {
    json_t *manifest;
    enum nnv_status s = nnv_bundle_compare(v->folder, wrong, v, &manifest, err);
    if (s == NNV_OK) s = verify_journal(v, err);
    if (s == NNV_OK && v->json) {
        printf("{\"verified\":%s,\"wrong\":%zu,\"verdicts\":%zu,\"from_tensors\":%zu,\"hashes\":%s}\n",
               v->wrong ? "false" : "true", v->wrong, v->recomputed, v->rejudged, manifest ? "true" : "false");
    } else if (s == NNV_OK) {
        if (v->wrong > SHOWN_MOST) printf("and %zu more\n", v->wrong - SHOWN_MOST);
        printf("%s: %zu verdicts follow from their records, %zu of them from tensors; %s; %zu not run\n",
               v->wrong ? "NOT VERIFIED" : "verified", v->recomputed, v->rejudged,
               manifest ? "files are as they were packed" : "no manifest: not packed", v->verdicts[NNVTS_NOTRUN]);
    }
    json_decref(manifest);
    free(v->cases);
    free(v->seen);
    free(v->list);
    return s;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where) {
    (void)st, (void)type, (void)where;
    return remove(path);
}

static int run(int argc, char **argv) {
    struct nnv_cli c;
    nnv_cli_defaults(&c);
    const struct nnv_opt table[] = {NNV_OPTION_JSON(c), NNV_OPTION_END};
    int code = nnv_cli_parse(&c, table, &help, 1, argc, argv);
    if (code >= 0) return code;
    struct nnv_err err = {0};
    struct stat st;
    const char *what = c.positional.count == 1 ? c.positional.item[0] : c.out, *temp = getenv("TMPDIR");
    char folder[4096] = "";
    struct verifier v = {.folder = what, .json = c.json};
    enum nnv_status s = NNV_OK;
    if (stat(what, &st) != 0) s = nnv_fail(&err, NNV_INVALID, "%s: there is no such folder or archive", what);
    const bool archive = s == NNV_OK && S_ISREG(st.st_mode);
    if (archive) {
        snprintf(folder, sizeof folder, "%s/nnvts-verify-XXXXXX", temp && *temp ? temp : "/tmp");
        if (!mkdtemp(folder)) s = nnv_fail(&err, NNV_IO, "%s: no folder can be made there", folder);
        if (s == NNV_OK) s = nnv_bundle_unpack(what, folder, &err);
        v.folder = folder;
    }
    if (s == NNV_OK) s = verify_folder(&v, &err);
    if (archive && *folder) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (s != NNV_OK) return nnv_cli_error(&err);
    return v.wrong ? NNVTS_EXIT_FAIL : NNVTS_EXIT_PASS;
}

const struct nnv_verb nnv_verb_verify = {"verify", "many runs", "does a run say what its raw data say?", run};
