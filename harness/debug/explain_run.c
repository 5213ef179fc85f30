/* SPDX-License-Identifier: Apache-2.0 */
/** @file explain_run.c Explaining the failures of a run by what their dumps hold of the driver's answers. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/words.h"
#include "harness/debug/explain_run.h"
#include "harness/debug/explain/where.h"
#include "harness/journal/verdict.h"
#include "reference/spec/spec.h"
#include "reference/model/validate.h"

enum {
    VERIFIED = 6,         /* cases of a bucket that a mistake is tried on */
    LARGER_VALUES = 1024, /* of a case that is explained where a bucket's smallest is not */
    FOLLOWED = 16,        /* mistakes that other dumps are tried with */
    MISTAKEN = 6,         /* a mistake is told if it explains one dump in so many, */
    PROMISED = 2,         /* a promise, of which more are met by chance, if one in so many */
};

/* Of these at most: for explaining dumps; for trying mistakes that explain other dumps. Promises take what is left. */
static const uint64_t CASES_WORK = UINT64_C(4) << 30;
static const uint64_t FOLLOWING_WORK = UINT64_C(1) << 29, VERIFYING_WORK = UINT64_C(1) << 29;
static const uint64_t SHOWING_WORK = UINT64_C(1) << 29;

/** Explains case i of the report, if it has a dump. */
static enum nnv_status explain_case(struct nnv_explaining_run *x, size_t i, bool *tried, struct nnv_err *err) {
    struct nnv_spec *spec;
    enum nnv_precision precision;
    struct nnv_told *told = NNV_NEW(x->arena, struct nnv_told, 1);
    if (!told) return nnv_no_memory(err);
    const enum nnv_status st = nnv_explaining_read(x, i, tried, &spec, &precision, err);
    if (spec && !nnv_told_explain(spec, precision, &x->left, x->work, x->arena, told)) return nnv_no_memory(err);
    if (*tried) {
        x->at[x->list.count] = i;
        x->told[x->list.count++] = told;
    }
    return st;
}

/** What is too small to be evidence may have a larger one beside it: of each bucket that its case does not explain. */
static enum nnv_status explain_larger(struct nnv_explaining_run *x, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    int tried = 0;
    for (size_t i = 0; st == NNV_OK && i < x->first && tried < NNV_EXPLAINING_LARGER && x->left > 0; i++) {
        if (x->told[i]->mistakes > 0) continue;
        const size_t larger = nnv_suspects_larger(&x->suspects, x->of, x->at[i], LARGER_VALUES);
        bool did = false;
        if (larger != SIZE_MAX) st = explain_case(x, larger, &did, err);
        tried += did;
    }
    return st;
}

/** True if the case is one of those that were chosen besides the smallest. */
static bool is_larger(const struct nnv_explaining_run *x, size_t at) {
    for (size_t i = x->first; i < x->larger; i++)
        if (x->at[i] == at) return true;
    return false;
}

/** The case of each bucket that tells most first, larger ones where it explains nothing, then the others. */
static enum nnv_status explain_cases(struct nnv_explaining_run *x, struct nnv_err *err) {
    const struct nnv_report *r = x->r;
    enum nnv_status st = NNV_OK;
    x->total = NNV_EXPLAINING_WORK;
    nnv_explaining_allot(x, CASES_WORK);
    x->list.item = x->told;
    for (int pass = 0; pass < 2; pass++) {
        const int most = pass == 0 ? NNV_EXPLAINING_SMALLEST : NNV_EXPLAINING_FURTHER;
        int tried = 0;
        for (size_t i = 0; st == NNV_OK && i < r->count && tried < most && x->left > 0; i++) {
            if (x->of[i] == NNV_MAP_NONE || r->item[i].verdict != NNVTS_FAIL) continue;
            if ((x->suspects.chosen[x->of[i]] == i) != (pass == 0) || (pass > 0 && is_larger(x, i))) continue;
            bool did = false;
            st = explain_case(x, i, &did, err);
            tried += did;
        }
        if (pass > 0) continue;
        x->first = x->list.count;
        if (st == NNV_OK) st = explain_larger(x, err);
        x->larger = x->list.count;
    }
    return st;
}

/**
 * Of the promises that would do, the one that explains most is told; before a mistake, if it explains more of what no
 * mistake does than the mistake explains in all: what differs a little is sometimes what a mistake would make of it.
 */
static void choose(struct nnv_explaining_run *x) {
    for (size_t i = 0; i < x->list.count; i++) {
        const struct nnv_told *told = x->told[i];
        const size_t at = x->at[i];
        const int best = nnv_told_likeliest(&x->list, told);
        size_t most = 0;
        if (best >= 0 && nnv_told_is_corroborated(&x->list, told, told->mistake[best], nnv_told_may_be, MISTAKEN)) {
            most = nnv_told_by_mistake(&x->list, told->mistake[best]);
            x->words[at] = told->mistake[best];
            x->op[at] = told->op[best];
        }
        for (size_t k = 0; k < told->weaker; k++) {
            const size_t n = nnv_told_by_promise(&x->list, told->right_if[k]);
            if (n <= most || !nnv_told_is_corroborated(&x->list, told, told->right_if[k], nnv_told_would_do, PROMISED))
                continue;
            most = n;
            nnv_explaining_by_promise(x, at, told->right_if[k]);
        }
        if (!x->words[at] && i < x->first) x->tried[at] = told;
    }
}

/** True if the mistake explains a dump of another bucket. */
static bool is_known_elsewhere(const struct nnv_explaining_run *x, size_t i, const char *mistake) {
    for (size_t k = 0; k < x->list.count; k++)
        if (x->of[x->at[k]] != x->of[x->at[i]] && nnv_told_may_be(x->told[k], mistake)) return true;
    return false;
}

/**
 * True if the mistake explains two thirds of some other cases of the bucket of dump i: they, too, are said to fail by
 * it. Where none can be tried, it must explain another bucket, or passing cases must be there that may refute it.
 */
static enum nnv_status verify(struct nnv_explaining_run *x, size_t i, const char *mistake, bool *holds,
                              struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    const uint32_t bucket = x->of[x->at[i]];
    const size_t count = x->buckets.item[bucket].count, step = count / VERIFIED + 1;
    size_t seen = 0, tried = 0, fits = 0;
    for (size_t k = 0; st == NNV_OK && k < x->r->count && tried < VERIFIED && x->left > 0; k++) {
        struct nnv_spec *spec;
        enum nnv_precision precision;
        bool has_dump;
        if (x->of[k] != bucket || k == x->at[i] || seen++ % step != 0) continue;
        st = nnv_explaining_read(x, k, &has_dump, &spec, &precision, err);
        if (!spec) continue;
        const bool fitting = nnv_explain_does(spec, precision, mistake, x->work, &x->left);
        tried += fitting || x->left > 0; /* not where there was no time */
        fits += fitting;
    }
    *holds = tried > 0 ? 3 * fits >= 2 * tried : x->cases || is_known_elsewhere(x, i, mistake);
    return st;
}

/** What is told of a bucket by one case alone must hold for others of it. */
static enum nnv_status verify_mistakes(struct nnv_explaining_run *x, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    nnv_explaining_allot(x, VERIFYING_WORK);
    for (size_t i = 0; st == NNV_OK && i < x->larger; i++) {
        const size_t at = x->at[i];
        const char *first = x->promise[at] ? NULL : x->words[at];
        bool holds = true;
        if (!first) continue;
        st = verify(x, i, first, &holds, err);
        for (size_t k = 0; st == NNV_OK && !holds && k < x->told[i]->mistakes; k++) {
            if (x->told[i]->mistake[k] == first) continue;
            x->words[at] = x->told[i]->mistake[k];
            x->op[at] = x->told[i]->op[k];
            st = verify(x, i, x->words[at], &holds, err);
        }
        const size_t chosen = x->suspects.chosen[x->of[at]];
        if (holds && !x->words[chosen]) { /* it is explained by what others of its bucket fit */
            x->words[chosen] = x->words[at];
            x->op[chosen] = x->op[at];
            x->tried[chosen] = NULL;
        }
        if (holds) continue;
        x->words[at] = NULL;
        x->tried[at] = x->told[i];
    }
    return st;
}

/** Tries the mistakes that are told of others on dump i, which nothing explains. */
static enum nnv_status follow_mistake(struct nnv_explaining_run *x, size_t i, const size_t *others, size_t count,
                                      struct nnv_err *err) {
    struct nnv_spec *spec = NULL;
    enum nnv_precision precision;
    bool has_dump;
    enum nnv_status st = NNV_OK;
    for (size_t k = 0; st == NNV_OK && k < count && !x->words[x->at[i]] && x->left > 0; k++) {
        const size_t other = x->at[others[k]];
        if (!nnv_told_share_operation(x->told[i], x->told[others[k]])) continue;
        st = nnv_explaining_read(x, x->at[i], &has_dump, &spec, &precision, err);
        if (!spec || !nnv_explain_does(spec, precision, x->words[other], x->work, &x->left)) continue;
        x->words[x->at[i]] = x->words[other];
        x->op[x->at[i]] = x->op[other];
        x->tried[x->at[i]] = NULL;
    }
    return st;
}

/** What explains one dump may explain another that had no work left, or that it alone is no evidence for. */
static enum nnv_status follow_mistakes(struct nnv_explaining_run *x, struct nnv_err *err) {
    size_t others[FOLLOWED], count = 0;
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < x->list.count && count < FOLLOWED; i++) {
        const char *words = x->promise[x->at[i]] ? NULL : x->words[x->at[i]];
        for (size_t k = 0; words && k < count; k++)
            if (strcmp(words, x->words[x->at[others[k]]]) == 0) words = NULL;
        if (words) others[count++] = i;
    }
    nnv_explaining_allot(x, FOLLOWING_WORK);
    for (size_t i = 0; st == NNV_OK && i < x->first && x->left > 0; i++)
        if (!x->words[x->at[i]]) st = follow_mistake(x, i, others, count, err);
    return st;
}

/**
 * The bucket's wrong values are about the steps of executions, not about an operation: those of all operations are one
 * cause.
 */
static bool is_of_steps(const struct nnv_bucket *b) { return b->stepwise && b->why == NNVTS_WHY_VALUES; }

/** The operation that an explained case is about. */
static const char *op_of_case(const struct nnv_explaining_run *x, size_t i) {
    return x->op[i] && *x->op[i] ? x->op[i] : x->r->ops.key[x->r->item[i].op];
}

/**
 * The operation of a model of several that is explained in most other cases; where nothing is, that is wrong alone in
 * most. NULL: none of them is.
 */
static const char *suspect_of(const struct nnv_explaining_run *x, const struct nnv_told *told) {
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
    return best ? best : nnv_suspects_name(&x->suspects, told);
}

/** The operation that graphs of the bucket, which nothing explains, have from elsewhere; NULL: none. */
static const char *suspect_of_bucket(const struct nnv_explaining_run *x, uint32_t b) {
    const size_t chosen = x->suspects.chosen[b];
    return x->tried[chosen] ? suspect_of(x, x->tried[chosen]) : NULL;
}

/**
 * Buckets with the same explanation in the same operation are one cause; so are wrong values of an operation alone and
 * of graphs that have it, where nothing explains them, and each other one.
 */
static enum nnv_status find_causes(struct nnv_explaining_run *x, struct nnv_err *err) {
    const uint32_t n = x->buckets.map.count;
    const size_t count = x->r->count;
    struct nnv_map known = {.arena = x->arena};
    x->causes = NNV_NEW(x->arena, struct nnv_separation, n);
    x->cause_of = NNV_NEW(x->arena, uint32_t, n);
    const char **key = NNV_NEW(x->arena, const char *, n), **op = NNV_NEW(x->arena, const char *, n);
    const char **mistake = NNV_NEW(x->arena, const char *, n);
    if (!x->causes || !x->cause_of || !key || !op || !mistake) return nnv_no_memory(err);
    x->ncauses = 0;
    for (size_t i = count; i-- > 0;) {
        if (x->of[i] == NNV_MAP_NONE || !x->words[i]) continue;
        op[x->of[i]] = *x->op[i] ? x->op[i] : x->buckets.item[x->of[i]].op;
        key[x->of[i]] = nnv_arena_printf(x->arena, "%s\t%s", op[x->of[i]], x->words[i]);
        if (!key[x->of[i]]) return nnv_no_memory(err);
        mistake[x->of[i]] = x->promise[i] ? NULL : x->words[i];
    }
    for (uint32_t b = 0; b < n; b++) {
        const struct nnv_bucket *bucket = &x->buckets.item[b];
        if (!key[b] && is_of_steps(bucket)) {
            key[b] = nnv_arena_printf(x->arena, "steps\t%u", x->r->item[bucket->first].suite);
            op[b] = "";
        }
        if (!key[b] && bucket->why == NNVTS_WHY_VALUES && bucket->verdict == NNVTS_FAIL) {
            const char *suspect = suspect_of_bucket(x, b);
            op[b] = suspect ? suspect : bucket->op;
            key[b] = *op[b] ? nnv_arena_printf(x->arena, "values\t%s", op[b]) : nnv_arena_printf(x->arena, "%u", b);
        }
        if (!key[b]) key[b] = nnv_arena_printf(x->arena, "%u", b);
        if (!key[b]) return nnv_no_memory(err);
        const uint32_t old = nnv_map_find(&known, key[b]);
        x->cause_of[b] = old != NNV_MAP_NONE ? old : nnv_map_add(&known, key[b]);
        if (x->cause_of[b] == NNV_MAP_NONE) return nnv_no_memory(err);
        if (old != NNV_MAP_NONE) continue;
        x->causes[x->ncauses++] = (struct nnv_separation){
            .op = op[b] ? op[b] : bucket->op, .steps = is_of_steps(bucket), .mistake = mistake[b]};
    }
    return NNV_OK;
}

/** Whether a mistake would show in a passing case. */
static bool shows(void *context, const struct nnv_case *c, struct nnv_spec *spec, const char *mistake) {
    struct nnv_explaining_run *x = context;
    struct nnv_err ignored = {0};
    enum nnv_precision precision;
    nnv_arena_reset(x->work);
    if (strcmp(mistake, nnv_fault_untouched()->words) == 0) return false; /* it says of no element that it is wrong */
    return nnv_case_precision(x->cases->config, nnv_suite_by_name(c->suite), spec, &precision, &ignored) == NNV_OK &&
           nnv_explain_shows(spec, precision, mistake, x->work, &x->left);
}

/** Takes back mistakes that passing cases refute; true if there were some. */
static bool take_back(struct nnv_explaining_run *x) {
    bool any = false;
    for (size_t i = 0; i < x->r->count; i++) {
        if (!x->words[i] || x->promise[i] || x->of[i] == NNV_MAP_NONE || !x->causes[x->cause_of[x->of[i]]].refuted)
            continue;
        x->words[i] = NULL;
        x->op[i] = "";
        any = true;
    }
    for (size_t i = 0; any && i < x->first; i++)
        if (!x->words[x->at[i]]) x->tried[x->at[i]] = x->told[i];
    return any;
}

/** Says of causes what was said of them before mistakes were taken back. */
static void keep_known(struct nnv_explaining_run *x, const struct nnv_separation *old, uint32_t count) {
    for (uint32_t i = 0; i < x->ncauses; i++)
        for (uint32_t k = 0; x->causes[i].mistake && k < count; k++)
            if (old[k].mistake && strcmp(old[k].mistake, x->causes[i].mistake) == 0 &&
                strcmp(old[k].op, x->causes[i].op) == 0)
                x->causes[i] = old[k], x->causes[i].known = true;
}

/** Finds the causes, and the conditions of those that can be made again. */
static enum nnv_status separate_cases(struct nnv_explaining_run *x, struct nnv_err *err) {
    const struct nnv_showing showing = {shows, x};
    uint32_t *of = NNV_NEW(x->arena, uint32_t, x->r->count);
    enum nnv_status st = of ? NNV_OK : nnv_no_memory(err);
    nnv_explaining_allot(x, SHOWING_WORK);
    for (bool again = true; st == NNV_OK && again; again = take_back(x)) {
        const struct nnv_separation *old = x->causes;
        const uint32_t count = x->ncauses;
        st = find_causes(x, err);
        if (st != NNV_OK) break;
        keep_known(x, old, count);
        for (size_t i = 0; i < x->r->count; i++)
            of[i] = x->of[i] == NNV_MAP_NONE ? NNV_MAP_NONE : x->cause_of[x->of[i]];
        for (uint32_t i = 0; st == NNV_OK && i < x->ncauses; i++)
            if (!x->causes[i].known) st = nnv_explaining_replays(x, i, err);
        if (st == NNV_OK && x->cases)
            st = nnv_separate_run(x->r, x->cases, of, x->causes, x->ncauses, &showing, x->arena, err);
    }
    return st;
}

/** Says where each cause shows. */
static enum nnv_status separate(struct nnv_explaining_run *x, struct nnv_err *err) {
    enum nnv_status st = separate_cases(x, err);
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_observation *seen = NNV_NEW(x->arena, struct nnv_observation, NNV_OBSERVATIONS);
    if (!arena || !seen) st = nnv_no_memory(err);
    for (uint32_t i = 0; st == NNV_OK && i < x->ncauses; i++)
        if (!x->causes[i].alone) st = nnv_explaining_elements(x, i, seen, arena, err);
    nnv_arena_free(arena);
    return st;
}

/** A line for each case of which something is known; the condition is its cause's. */
static void add_cases(const struct nnv_explaining_run *x, struct nnv_text *t) {
    struct nnv_json_out j = {.text = t, .spaced = true};
    nnv_json_open(&j, NULL, '{');
    for (size_t i = 0; i < x->r->count; i++) {
        if (x->of[i] == NNV_MAP_NONE) continue;
        const struct nnv_separation *cause = &x->causes[x->cause_of[x->of[i]]];
        const char *op = x->tried[i] ? suspect_of(x, x->tried[i]) : x->op[i];
        if (!x->words[i] && !x->tried[i] && !x->untried[i] && !nnv_where_is(&cause->where)) continue;
        j.line = "\n  ";
        nnv_json_open(&j, x->r->item[i].name, '{');
        if (op) nnv_json_string(&j, "op", op);
        if (x->words[i]) nnv_json_string(&j, x->promise[i] ? "right_if" : "words", x->words[i]);
        nnv_where_write(&cause->where, &j);
        if (x->tried[i] || x->untried[i]) nnv_json_bool(&j, "tried", x->tried[i] != NULL);
        nnv_json_close(&j, '}');
    }
    j.line = "\n";
    nnv_json_close(&j, '}');
    nnv_text_add(t, "\n");
}

static enum nnv_status explain_report(struct nnv_explaining_run *x, struct nnv_text *t, struct nnv_err *err) {
    const size_t count = x->r->count;
    x->arena = nnv_arena_new();
    x->work = nnv_arena_new();
    if (!x->arena || !x->work) return nnv_no_memory(err);
    x->of = NNV_NEW(x->arena, uint32_t, count);
    x->words = NNV_NEW(x->arena, const char *, count);
    x->op = NNV_NEW(x->arena, const char *, count);
    x->promise = NNV_NEW(x->arena, bool, count);
    x->empty = NNV_NEW(x->arena, const char *, count);
    x->tried = NNV_NEW(x->arena, const struct nnv_told *, count);
    x->untried = NNV_NEW(x->arena, bool, count);
    if (!x->of || !x->words || !x->op || !x->promise || !x->empty || !x->tried || !x->untried)
        return nnv_no_memory(err);
    enum nnv_status st = nnv_buckets_of(x->r, &x->buckets, x->of, err);
    if (st != NNV_OK || x->buckets.map.count == 0) return st;
    if (!nnv_suspects_find(&x->suspects, x->r, &x->buckets, x->of, x->arena)) return nnv_no_memory(err);
    st = explain_cases(x, err);
    if (st == NNV_OK) choose(x);
    if (st == NNV_OK) st = verify_mistakes(x, err);
    if (st == NNV_OK) st = follow_mistakes(x, err);
    if (st == NNV_OK) st = nnv_explaining_follow_promises(x, err);
    if (st == NNV_OK) st = separate(x, err);
    if (st == NNV_OK) add_cases(x, t);
    return st == NNV_OK && t->failed ? nnv_no_memory(err) : st;
}

enum nnv_status nnv_explain_nothing(const char *folder, struct nnv_err *err) {
    struct nnv_text path = {0};
    nnv_text_add_path(&path, folder, NNV_EXPLAINED_FILE);
    const enum nnv_status st = path.failed ? nnv_no_memory(err) : nnv_folder_remove(path.data, err);
    nnv_text_free(&path);
    return st;
}

enum nnv_status nnv_explain_run(const char *folder, const struct nnv_run_cases *cases, struct nnv_err *err) {
    struct nnv_report *report = NULL;
    struct nnv_explaining_run x = {.cases = cases};
    struct nnv_text t = {0};
    enum nnv_status st = nnv_explain_nothing(folder, err);
    if (st == NNV_OK) st = nnv_report_load(folder, &report, err);
    x.r = report;
    if (st == NNV_OK && report->bad > 0) st = explain_report(&x, &t, err);
    if (st == NNV_OK && t.len > 0) st = nnv_file_write_text(folder, NNV_EXPLAINED_FILE, &t, err);
    nnv_buckets_free(&x.buckets);
    nnv_arena_free(x.arena);
    nnv_arena_free(x.work);
    nnv_report_free(report);
    nnv_text_free(&t);
    return st;
}
