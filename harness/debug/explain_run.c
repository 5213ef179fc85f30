/* SPDX-License-Identifier: Apache-2.0 */
/** @file explain_run.c Explaining the failures of a run by what their dumps hold of the driver's answers. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/debug/explain_run.h"
#include "harness/debug/spec_c.h"
#include "harness/debug/explain/explain.h"
#include "reference/spec/spec.h"
#include "reference/model/validate.h"
#include "harness/journal/bucket.h"
#include "harness/journal/load.h"

enum { SMALLEST_MAX = 400, FURTHER_MAX = 24, TEXT_BYTES = 400 };

/* Of one dump, and of all: about one second, and five. It is counted, so that each machine explains the same. */
static const uint64_t CASE_WORK = UINT64_C(1) << 30, TOTAL_WORK = UINT64_C(5) << 30;

enum nnv_status nnv_dump_also(const char *path, const char *driver, const struct nnv_spec *spec,
                              enum nnv_precision precision, struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_text text = {0}, file = {0};
    struct nnv_err why = {0};
    enum nnv_status st = NNV_OK;
    /* models that a driver must refuse have no such program */
    if (nnv_spec_write_c(spec, precision, nnv_c_dialect_of(driver), arena, &text, &why) == NNV_OK) {
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

/** What a dump tells. */
struct told {
    char words[TEXT_BYTES]; /**< "": nothing explains it */
    const char *op;         /**< that is wrong; static */
    uint32_t count;         /**< operations of the model, their codes */
    int32_t *code;
};

/** Explains the answer in the dump; kept: for the codes. Takes its work from *left. */
static void explain_dump(const char *path, uint64_t *left, struct nnv_arena *arena, struct nnv_arena *kept,
                         struct told *told) {
    struct nnv_spec_file *file = NULL;
    struct nnv_spec *spec = NULL;
    struct nnv_err why = {0};
    struct nnv_explanation *x = NNV_NEW(arena, struct nnv_explanation, 1);
    enum nnv_precision precision;
    const struct nnv_run_config config = {.precision = -1};
    if (x && nnv_spec_open(path, &file, &why) == NNV_OK && nnv_spec_count(file) == 1 &&
        nnv_spec_read(file, 0, arena, &spec, &why) == NNV_OK && spec->actual &&
        nnv_validate(&spec->model, arena, NULL, &why) == NNV_OK &&
        nnv_case_precision(&config, nnv_suite_by_name("spec"), spec, &precision, &why) == NNV_OK) {
        const struct nnv_explain_answers answers = {.count = 1, .outputs = {spec->actual}};
        const struct nnv_subgraph *main = &spec->model.main;
        told->code = NNV_NEW(kept, int32_t, main->noperations);
        for (uint32_t i = 0; told->code && i < main->noperations; i++)
            told->code[told->count++] = main->operations[i].type;
        const uint64_t most = *left < CASE_WORK ? *left : CASE_WORK;
        const bool explained = nnv_explain(spec, precision, &answers, most, arena, x, &why) == NNV_OK;
        *left -= x->work < *left ? x->work : *left;
        if (explained && x->kind == NNV_EXPLAINED_FAULT) {
            told->op = op_of(spec, &x->finding[0]);
            snprintf(told->words, sizeof told->words, "%s", x->finding[0].fault->words);
        } else if (explained && *x->weaker) {
            snprintf(told->words, sizeof told->words, "within the budget if %s", x->weaker);
        }
    }
    nnv_spec_close(file);
}

/** Explaining a run. */
struct explaining_run {
    const struct nnv_report *r;
    struct nnv_buckets buckets;
    uint32_t *of; /* the bucket of each case */
    struct nnv_arena *arena, *work;
    const char **words, **op; /* of each case that is explained, the arena's; op: the operation, or "" */
    struct nnv_cause *causes;
    uint32_t ncauses;
    uint32_t *cause_of;  /* of each bucket */
    struct told **tried; /* of cases that nothing explains; NULL: others */
    uint64_t left;       /* work */
};

/** Explains case i of the report, if its dump holds an answer. */
static enum nnv_status explain_case(struct explaining_run *x, size_t i, bool *tried, struct nnv_err *err) {
    json_t *record = NULL;
    struct nnv_text path = {0};
    struct told *told = NNV_NEW(x->arena, struct told, 1);
    if (!told) return nnv_no_memory(err);
    *told = (struct told){.op = ""};
    enum nnv_status st = nnv_report_record(x->r, i, &record, err);
    const char *dump = nnv_json_text(record, "dump", "");
    /* the journal is a file like any other: only what a run writes is read */
    if (st == NNV_OK && strncmp(dump, "dumps/", 6) == 0 && !strstr(dump, "..")) {
        nnv_text_add_path(&path, x->r->folder, dump);
        nnv_arena_reset(x->work);
        *tried = true;
        if (!path.failed) explain_dump(path.data, &x->left, x->work, x->arena, told);
        x->tried[i] = told;
        if (*told->words) {
            x->op[i] = told->op;
            x->words[i] = told->words;
        }
    }
    json_decref(record);
    nnv_text_free(&path);
    return st;
}

/** The smallest case of each bucket first, then the others. */
static enum nnv_status explain_cases(struct explaining_run *x, struct nnv_err *err) {
    const struct nnv_report *r = x->r;
    enum nnv_status st = NNV_OK;
    x->left = TOTAL_WORK;
    for (int pass = 0; pass < 2; pass++) {
        const int most = pass == 0 ? SMALLEST_MAX : FURTHER_MAX;
        int tried = 0;
        for (size_t i = 0; st == NNV_OK && i < r->count && tried < most && x->left > 0; i++) {
            if (x->of[i] == NNV_MAP_NONE || r->item[i].verdict != NNVTS_FAIL) continue;
            if ((x->buckets.item[x->of[i]].smallest == i) != (pass == 0)) continue;
            bool did = false;
            st = explain_case(x, i, &did, err);
            tried += did;
            if (pass > 0 || x->words[i]) x->tried[i] = NULL;
        }
    }
    return st;
}

/** Buckets with the same explanation in the same operation are one cause; so is each without one. */
static enum nnv_status find_causes(struct explaining_run *x, struct nnv_err *err) {
    const uint32_t n = x->buckets.map.count;
    const size_t count = x->r->count;
    struct nnv_map known = {.arena = x->arena};
    x->causes = NNV_NEW(x->arena, struct nnv_cause, n);
    x->cause_of = NNV_NEW(x->arena, uint32_t, n);
    const char **key = NNV_NEW(x->arena, const char *, n), **op = NNV_NEW(x->arena, const char *, n);
    if (!x->causes || !x->cause_of || !key || !op) return nnv_no_memory(err);
    for (size_t i = count; i-- > 0;) {
        if (x->of[i] == NNV_MAP_NONE || !x->words[i]) continue;
        op[x->of[i]] = *x->op[i] ? x->op[i] : x->buckets.item[x->of[i]].op;
        key[x->of[i]] = nnv_arena_printf(x->arena, "%s\t%s", op[x->of[i]], x->words[i]);
        if (!key[x->of[i]]) return nnv_no_memory(err);
    }
    for (uint32_t b = 0; b < n; b++) {
        if (!key[b]) key[b] = nnv_arena_printf(x->arena, "%u", b);
        if (!key[b]) return nnv_no_memory(err);
        const uint32_t old = nnv_map_find(&known, key[b]);
        x->cause_of[b] = old != NNV_MAP_NONE ? old : nnv_map_add(&known, key[b]);
        if (x->cause_of[b] == NNV_MAP_NONE) return nnv_no_memory(err);
        if (old != NNV_MAP_NONE) continue;
        x->causes[x->ncauses++].op = op[b] ? op[b] : x->buckets.item[b].op;
    }
    return NNV_OK;
}

/** Says where each cause shows. */
static enum nnv_status separate(struct explaining_run *x, const struct nnv_run_cases *cases, struct nnv_err *err) {
    uint32_t *of = NNV_NEW(x->arena, uint32_t, x->r->count);
    if (!of) return nnv_no_memory(err);
    for (size_t i = 0; i < x->r->count; i++) of[i] = x->of[i] == NNV_MAP_NONE ? NNV_MAP_NONE : x->cause_of[x->of[i]];
    return nnv_separate_run(x->r, cases, of, x->causes, x->ncauses, x->arena, err);
}

/** The operation that an explained case is about. */
static const char *op_of_case(const struct explaining_run *x, size_t i) {
    return *x->op[i] ? x->op[i] : x->r->ops.key[x->r->item[i].op];
}

/** The operation of a model of several that is explained in most other cases; NULL: none of them is. */
static const char *suspect_of(const struct explaining_run *x, const struct told *told) {
    const char *best = NULL;
    size_t most = 0;
    for (uint32_t k = 0; told->count > 1 && k < told->count; k++) {
        const struct nnv_op *op = nnv_op(told->code[k]);
        size_t n = 0;
        for (size_t i = 0; op && i < x->r->count; i++) n += x->words[i] && strcmp(op_of_case(x, i), op->name) == 0;
        if (n > most) {
            most = n;
            best = op->name;
        }
    }
    return best;
}

static void add_member(struct nnv_text *t, const char *name, const char *value, bool *any) {
    if (!value) return;
    nnv_text_addf(t, "%s\"%s\": ", *any ? ", " : "", name);
    nnv_text_add_json(t, value);
    *any = true;
}

/** A line for each case of which something is known; of what a bucket's cases share its smallest case tells. */
static void add_cases(const struct explaining_run *x, struct nnv_text *t) {
    const char *comma = "";
    nnv_text_add(t, "{");
    for (size_t i = 0; i < x->r->count; i++) {
        if (x->of[i] == NNV_MAP_NONE) continue;
        const bool smallest = x->buckets.item[x->of[i]].smallest == i;
        const char *where = x->causes[x->cause_of[x->of[i]]].where;
        bool any = false;
        if (!x->words[i] && !x->tried[i] && !(smallest && where)) continue;
        nnv_text_addf(t, "%s\n  ", comma);
        comma = ",";
        nnv_text_add_json(t, x->r->item[i].name);
        nnv_text_add(t, ": {");
        add_member(t, "op", x->tried[i] ? suspect_of(x, x->tried[i]) : x->op[i], &any);
        add_member(t, "words", x->words[i], &any);
        add_member(t, "where", where, &any);
        if (x->tried[i]) nnv_text_addf(t, "%s\"tried\": true", any ? ", " : "");
        nnv_text_add(t, "}");
    }
    nnv_text_add(t, "\n}\n");
}

static enum nnv_status explain_report(struct explaining_run *x, const struct nnv_run_cases *cases, struct nnv_text *t,
                                      struct nnv_err *err) {
    const size_t count = x->r->count;
    x->arena = nnv_arena_new();
    x->work = nnv_arena_new();
    if (!x->arena || !x->work) return nnv_no_memory(err);
    x->of = NNV_NEW(x->arena, uint32_t, count);
    x->words = NNV_NEW(x->arena, const char *, count);
    x->op = NNV_NEW(x->arena, const char *, count);
    x->tried = NNV_NEW(x->arena, struct told *, count);
    if (!x->of || !x->words || !x->op || !x->tried) return nnv_no_memory(err);
    enum nnv_status st = nnv_buckets_of(x->r, &x->buckets, x->of, err);
    if (st != NNV_OK || x->buckets.map.count == 0) return st;
    st = explain_cases(x, err);
    if (st == NNV_OK) st = find_causes(x, err);
    if (st == NNV_OK && cases) st = separate(x, cases, err);
    if (st == NNV_OK) add_cases(x, t);
    return st == NNV_OK && t->failed ? nnv_no_memory(err) : st;
}

enum nnv_status nnv_explain_run(const char *folder, const struct nnv_run_cases *cases, struct nnv_err *err) {
    struct nnv_report *report = NULL;
    struct explaining_run x = {0};
    struct nnv_text t = {0}, path = {0};
    nnv_text_add_path(&path, folder, NNV_EXPLAINED_FILE);
    if (path.failed) return nnv_no_memory(err);
    unlink(path.data); /* an earlier run's */
    enum nnv_status st = nnv_report_load(folder, &report, err);
    x.r = report;
    if (st == NNV_OK && report->bad > 0) st = explain_report(&x, cases, &t, err);
    if (st == NNV_OK && t.len > 0) st = nnv_file_write(path.data, t.data, t.len, err);
    nnv_buckets_free(&x.buckets);
    nnv_arena_free(x.arena);
    nnv_arena_free(x.work);
    nnv_report_free(report);
    nnv_text_free(&t);
    nnv_text_free(&path);
    return st;
}
