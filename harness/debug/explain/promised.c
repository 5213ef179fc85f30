/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/explain/promised.h"

#include <string.h>

#include "base/words.h"
#include "reference/model/arithmetic.h"
#include "reference/spec/spec.h"

void nnv_explaining_allot(struct nnv_explaining_run *x, uint64_t most) {
    x->total += x->left;
    x->left = most < x->total ? most : x->total;
    x->total -= x->left;
}

enum nnv_status nnv_explaining_read(struct nnv_explaining_run *x, size_t i, bool *has_dump, struct nnv_spec **spec,
                                    enum nnv_precision *precision, struct nnv_err *err) {
    json_t *record = NULL;
    struct nnv_text path = {0};
    const enum nnv_status st = nnv_report_record(x->r, i, &record, err);
    const char *dump = nnv_json_text(record, "dump", "");
    nnv_arena_reset(x->work);
    *spec = NULL;
    /* the journal is a file like any other: only what a run writes is read */
    *has_dump = st == NNV_OK && strncmp(dump, "dumps/", 6) == 0 && !strstr(dump, "..");
    if (*has_dump) nnv_text_add_path(&path, x->r->folder, dump);
    if (*has_dump && !path.failed) *spec = nnv_told_read(path.data, x->work, precision);
    json_decref(record);
    nnv_text_free(&path);
    return st;
}

void nnv_explaining_by_promise(struct nnv_explaining_run *x, size_t i, const char *promise) {
    x->words[i] = promise;
    x->op[i] = "";
    x->promise[i] = true;
    x->tried[i] = NULL;
}

/** Puts down which of the promises explains case i. */
static enum nnv_status check_promises(struct nnv_explaining_run *x, size_t i, const char *const *promise,
                                      size_t promises, struct nnv_err *err) {
    struct nnv_spec *spec;
    enum nnv_precision precision;
    bool has_dump;
    const enum nnv_status st = nnv_explaining_read(x, i, &has_dump, &spec, &precision, err);
    enum nnv_promised said = NNV_PROMISE_BROKEN;
    for (size_t k = 0; spec && k < promises && said != NNV_PROMISE_KEPT; k++) {
        said = nnv_explain_promise(spec, precision, promise[k], x->work, &x->left);
        if (said == NNV_PROMISE_KEPT) nnv_explaining_by_promise(x, i, promise[k]);
        if (said == NNV_PROMISE_EMPTY && !x->empty[i]) x->empty[i] = promise[k];
    }
    if (said == NNV_PROMISE_KEPT) x->empty[i] = NULL;
    x->untried[i] = !spec && !x->tried[i];
    if (!spec || x->words[i] || x->tried[i]) return st;
    struct nnv_told *told = NNV_NEW(x->arena, struct nnv_told, 1);
    if (!told) return nnv_no_memory(err);
    nnv_told_operations(spec, x->arena, told);
    x->tried[i] = told;
    return st;
}

/**
 * A promise under which an answer is right as any would be explains it where it explains more answers of the same
 * operation than break all promises.
 */
static void take_empty(struct nnv_explaining_run *x) {
    const struct nnv_report *r = x->r;
    for (size_t i = 0; i < r->count; i++) {
        size_t kept = 0, broken = 0;
        for (size_t k = 0; x->empty[i] && !x->words[i] && k < r->count; k++) {
            if (r->item[k].op != r->item[i].op) continue;
            kept += x->promise[k] && x->words[k] && !x->empty[k] && strcmp(x->words[k], x->empty[i]) == 0;
            broken += x->tried[k] && !x->empty[k];
        }
        if (kept > broken) nnv_explaining_by_promise(x, i, x->empty[i]);
    }
}

/** Of the promises the one that explains most other cases of the operation of case i, and more than n; NULL: none. */
static const char *promise_beside(const struct nnv_explaining_run *x, size_t i, size_t n, const char *const *promise,
                                  size_t promises) {
    const struct nnv_report *r = x->r;
    const char *best = NULL;
    for (size_t p = 0; p < promises; p++) {
        size_t kept = 0;
        for (size_t k = 0; k < r->count; k++)
            kept += x->promise[k] && r->item[k].op == r->item[i].op && strcmp(x->words[k], promise[p]) == 0;
        if (kept <= n) continue;
        n = kept;
        best = promise[p];
    }
    return best;
}

/**
 * Before a mistake, too, a promise is told that explains more cases of the operation than the mistake explains dumps,
 * and the mistake's.
 */
static enum nnv_status take_from_mistakes(struct nnv_explaining_run *x, const char *const *promise, size_t promises,
                                          struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; st == NNV_OK && i < x->list.count; i++) {
        const size_t at = x->at[i];
        struct nnv_spec *spec;
        enum nnv_precision precision;
        bool has_dump;
        if (!x->words[at] || x->promise[at] || x->told[i]->weaker == 0) continue;
        const char *best = promise_beside(x, at, nnv_told_by_mistake(&x->list, x->words[at]), promise, promises);
        if (!best) continue;
        st = nnv_explaining_read(x, at, &has_dump, &spec, &precision, err);
        if (spec && nnv_explain_promise(spec, precision, best, x->work, &x->left) == NNV_PROMISE_KEPT)
            nnv_explaining_by_promise(x, at, best);
    }
    return st;
}

enum nnv_status nnv_explaining_follow_promises(struct nnv_explaining_run *x, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    const char *promise[2 * NNV_ARITHMETIC_KEYS + 1];
    size_t promises = 0, mistaken = 0;
    for (size_t i = 0; i < x->list.count; i++) {
        const int best = nnv_told_likeliest(&x->list, x->told[i]);
        const size_t n = best < 0 ? 0 : nnv_told_by_mistake(&x->list, x->told[i]->mistake[best]);
        mistaken = n > mistaken ? n : mistaken;
    }
    for (size_t i = 0; i < x->list.count; i++) {
        const char *words = x->promise[x->at[i]] ? x->words[x->at[i]] : NULL;
        for (size_t k = 0; words && k < promises; k++)
            if (strcmp(promise[k], words) == 0) words = NULL;
        if (!words || nnv_told_by_promise(&x->list, words) <= mistaken || promises == 2 * NNV_ARITHMETIC_KEYS) continue;
        size_t k = promises++;
        for (; k > 0 && nnv_told_by_promise(&x->list, promise[k - 1]) < nnv_told_by_promise(&x->list, words); k--)
            promise[k] = promise[k - 1];
        promise[k] = words; /* what explains most is tried first */
    }
    if (promises > 0) promise[promises++] = NNV_ARITHMETIC_ANDROID_WORDS; /* several at once last */
    nnv_explaining_allot(x, NNV_EXPLAINING_WORK);
    for (size_t i = 0; st == NNV_OK && promises > 0 && i < x->r->count && x->left > 0; i++) {
        const uint32_t b = x->of[i];
        if (b == NNV_MAP_NONE || x->r->item[i].why != NNVTS_WHY_VALUES || x->words[i]) continue;
        const size_t smallest = x->buckets.item[b].smallest;
        if (x->words[smallest] && !x->promise[smallest]) continue; /* of a bucket that a mistake explains */
        st = check_promises(x, i, promise, promises, err);
    }
    take_empty(x);
    return st == NNV_OK ? take_from_mistakes(x, promise, promises, err) : st;
}
