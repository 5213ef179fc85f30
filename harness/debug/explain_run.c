/* SPDX-License-Identifier: Apache-2.0 */
/** @file explain_run.c Explaining the failures of a run by what their dumps hold of the driver's answers. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/words.h"
#include "harness/debug/explain_run.h"
#include "harness/debug/spec_c.h"
#include "harness/debug/explain/explain.h"
#include "reference/spec/spec.h"
#include "reference/model/validate.h"
#include "harness/journal/bucket.h"
#include "harness/journal/load.h"

enum { CASES_MAX = 24, TEXT_BYTES = 400 };

static const uint64_t CASE_NS = 1000000000, TOTAL_NS = 5000000000;

enum nnv_status nnv_dump_also(const char *path, const struct nnv_spec *spec, enum nnv_precision precision,
                              struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_text text = {0}, file = {0};
    struct nnv_err why = {0};
    enum nnv_status st = NNV_OK;
    /* models that a driver must refuse have no such program */
    if (nnv_spec_write_c(spec, precision, arena, &text, &why) == NNV_OK) {
        nnv_text_addf(&file, "%s.c", path);
        st = text.failed || file.failed ? nnv_no_memory(err) : nnv_file_create(file.data, text.data, text.len, err);
    }
    nnv_text_free(&text);
    nnv_text_free(&file);
    return st;
}

/** The operation that a finding is about; "" if it is none in particular. */
static const char *op_of(const struct nnv_spec *spec, const struct nnv_finding *f) {
    const struct nnv_subgraph *m = &spec->model.main;
    const struct nnv_op *op = NULL;
    if (f->at >= 0 && (uint32_t)f->at < m->noperations) op = nnv_op(m->operations[f->at].type);
    if (f->at < 0 && f->kind >= 0) op = nnv_op(f->kind);
    return op ? op->name : "";
}

/** Explains the answer in the dump; buf (room TEXT_BYTES) stays empty if it can't be. *op: the operation, static. */
static void explain_dump(const char *path, struct nnv_arena *arena, const char **op, char *buf) {
    struct nnv_spec_file *file = NULL;
    struct nnv_spec *spec = NULL;
    struct nnv_err why = {0};
    struct nnv_explanation *x = NNV_NEW(arena, struct nnv_explanation, 1);
    enum nnv_precision precision;
    const struct nnv_run_config config = {.precision = -1};
    *buf = '\0';
    if (x && nnv_spec_open(path, &file, &why) == NNV_OK && nnv_spec_count(file) == 1 &&
        nnv_spec_read(file, 0, arena, &spec, &why) == NNV_OK && spec->actual &&
        nnv_validate(&spec->model, arena, NULL, &why) == NNV_OK &&
        nnv_case_precision(&config, nnv_suite_by_name("spec"), spec, &precision, &why) == NNV_OK) {
        const struct nnv_explain_answers answers = {.count = 1, .outputs = {spec->actual}};
        if (nnv_explain(spec, precision, &answers, CASE_NS, arena, x, &why) == NNV_OK &&
            x->kind == NNV_EXPLAINED_FAULT) {
            *op = op_of(spec, &x->finding[0]);
            snprintf(buf, TEXT_BYTES, "%s", x->finding[0].fault->words);
        }
    }
    nnv_spec_close(file);
}

static void add_explained(struct nnv_text *t, const char *name, const char *op, const char *words) {
    nnv_text_add(t, t->len > 1 ? ",\n  " : "\n  ");
    nnv_text_add_json(t, name);
    nnv_text_add(t, ": {\"op\": ");
    nnv_text_add_json(t, op);
    nnv_text_add(t, ", \"words\": ");
    nnv_text_add_json(t, words);
    nnv_text_add(t, "}");
}

/** Explains case i of the report, if its dump holds an answer. */
static enum nnv_status explain_case(const struct nnv_report *r, size_t i, struct nnv_arena *arena, struct nnv_text *t,
                                    struct nnv_err *err) {
    json_t *record = NULL;
    char words[TEXT_BYTES];
    struct nnv_text path = {0};
    const char *op = "";
    enum nnv_status st = nnv_report_record(r, i, &record, err);
    const char *dump = nnv_json_text(record, "dump", "");
    /* the journal is a file like any other: only what a run writes is read */
    if (st == NNV_OK && strncmp(dump, "dumps/", 6) == 0 && !strstr(dump, "..")) {
        nnv_text_add_path(&path, r->folder, dump);
        nnv_arena_reset(arena);
        if (!path.failed) explain_dump(path.data, arena, &op, words);
        if (!path.failed && *words) add_explained(t, r->item[i].name, op, words);
    }
    json_decref(record);
    nnv_text_free(&path);
    return st;
}

/** The smallest case of each bucket first, then the others. */
static enum nnv_status explain_cases(const struct nnv_report *r, const struct nnv_buckets *b, const uint32_t *of,
                                     struct nnv_text *t, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    enum nnv_status st = arena ? NNV_OK : nnv_no_memory(err);
    const uint64_t end = nnv_now_ns() + TOTAL_NS;
    int tried = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; st == NNV_OK && i < r->count && tried < CASES_MAX && nnv_now_ns() < end; i++) {
            if (of[i] == NNV_MAP_NONE || r->item[i].verdict != NNVTS_FAIL) continue;
            if ((b->item[of[i]].smallest == i) != (pass == 0)) continue;
            tried++;
            st = explain_case(r, i, arena, t, err);
        }
    nnv_arena_free(arena);
    return st;
}

enum nnv_status nnv_explain_run(const char *folder, struct nnv_err *err) {
    struct nnv_report *report = NULL;
    struct nnv_buckets buckets = {0};
    struct nnv_text t = {0}, path = {0};
    uint32_t *of = NULL;
    nnv_text_add_path(&path, folder, NNV_EXPLAINED_FILE);
    if (path.failed) return nnv_no_memory(err);
    unlink(path.data); /* an earlier run's */
    enum nnv_status st = nnv_report_load(folder, &report, err);
    if (st == NNV_OK && nnv_report_count(report, NNVTS_FAIL) > 0) {
        of = malloc((report->count + 1) * sizeof *of);
        st = of ? nnv_buckets_of(report, &buckets, of, err) : nnv_no_memory(err);
        nnv_text_add(&t, "{");
        if (st == NNV_OK) st = explain_cases(report, &buckets, of, &t, err);
        nnv_text_add(&t, "\n}\n");
        if (st == NNV_OK && t.failed) st = nnv_no_memory(err);
        if (st == NNV_OK) st = nnv_file_write(path.data, t.data, t.len, err);
    }
    free(of);
    nnv_buckets_free(&buckets);
    nnv_report_free(report);
    nnv_text_free(&t);
    nnv_text_free(&path);
    return st;
}
