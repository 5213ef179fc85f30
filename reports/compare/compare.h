/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file compare.h Two runs, or two benches, side by side. The comparison is a JSON object (docs/use/comparing.md);
 * console and page are made of it alone, so that report.html can show the one that lies in its folder.
 */
#ifndef NNV_REPORTS_COMPARE_H
#define NNV_REPORTS_COMPARE_H

#include <jansson.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/text.h"
#include "nnvts/result.h"
#include "base/map.h"

/** In the folder of a run: how it differs from its baseline. */
#define NNV_BASELINE_FILE "baseline.json"

/**
 * Compares the runs in two folders, both read line by line; what is kept of a case is a line or two. *comparison is a
 * new reference. NNV_INVALID: a folder is none of a run; one is of a run and the other of a bench.
 */
NNV_USE_RESULT enum nnv_status nnv_compare(const char *a, const char *b, json_t **comparison, struct nnv_err *err);
/** True if B is worse: cases fail, or were not run, that did not in A. */
bool nnv_compare_worse(const json_t *comparison);
/** Appends the comparison in words; long lists are cut. */
void nnv_compare_print(const json_t *comparison, struct nnv_text *to);
/** Writes the page. */
NNV_USE_RESULT enum nnv_status nnv_compare_html(const json_t *comparison, const char *path, struct nnv_err *err);
/** Adds the part of a page that says what changed: headings, tables. */
void nnv_compare_add(struct nnv_text *t, const json_t *comparison);
/** The comparison in one sentence: "3 new failures, 1 fixed". */
void nnv_compare_sentence(struct nnv_text *t, const json_t *comparison);

/* ------------------------------------------------------------- baselines */

/** Refuses a baseline that is no run, or is the folder of the run that begins. */
NNV_USE_RESULT enum nnv_status nnv_baseline_check(const char *baseline, const char *folder, struct nnv_err *err);
/** Compares the run in the folder with its baseline, and keeps that there. sentence: gets what changed, or NULL. */
NNV_USE_RESULT enum nnv_status nnv_baseline_write(const char *baseline, const char *folder, struct nnv_text *sentence,
                                                  struct nnv_err *err);

/** The lists of a comparison of runs, in the order in which people want them. */
struct nnv_compare_list {
    const char *member;     /**< "new_failures" */
    const char *heading;    /**< "New failures" */
    const char *one, *many; /**< "new failure", "new failures" */
};
enum nnv_change {
    NNV_CHANGE_NEW_FAILURE,
    NNV_CHANGE_LOST,    /**< an answer in A; unsupported, skipped or not run in B */
    NNV_CHANGE_CHANGED, /**< another verdict, or fails for another reason */
    NNV_CHANGE_FIXED,
    NNV_CHANGE_GAINED, /**< an answer in B only */
    NNV_CHANGE_REMOVED,
    NNV_CHANGE_ADDED,
    NNV_CHANGE_COUNT,
    NNV_CHANGE_NONE = NNV_CHANGE_COUNT
};
extern const struct nnv_compare_list nnv_compare_lists[NNV_CHANGE_COUNT];
enum { NNV_COMPARE_MOST = 10000 }; /**< entries of a list that are kept */

/* ------------------------------------------------- the parts that make it */

/** A case in one run. */
struct nnv_compare_side {
    bool listed, expected; /**< expected: to fail */
    enum nnvts_verdict verdict;
    double us;          /**< in the driver */
    double ratio, mse;  /**< NaN: not told */
    const char *reason; /**< first line, "" if there is none */
};

/** A case in both. */
struct nnv_compare_case {
    const char *name;
    uint32_t group; /**< number of its operation, or suite where it has none */
    struct nnv_compare_side side[2];
};

struct nnv_compare_table {
    struct nnv_arena *arena;
    struct nnv_map names, groups;
    struct nnv_compare_case *item;
    size_t count, cap;
    bool same_values; /**< of one seed, precision and tier: errors may be compared case by case */
};

/** What changed about a case; *not_run: it is LOST because the run ended before it. */
enum nnv_change nnv_compare_change(const struct nnv_compare_case *c, bool *not_run);
/** The member "time": where the driver took longer than chance explains. A new reference, NULL: out of memory. */
json_t *nnv_compare_time(const struct nnv_compare_table *t);
/** The member "error": where errors came nearer to their bounds, or went from them. Likewise. */
json_t *nnv_compare_error(const struct nnv_compare_table *t);
/** Compares two benches. */
NNV_USE_RESULT enum nnv_status nnv_compare_benches(const char *a, const char *b, json_t **comparison,
                                                   struct nnv_err *err);
/** The members of nnv_compare_print() and nnv_compare_add() for benches. */
void nnv_compare_print_benches(const json_t *comparison, struct nnv_text *to);
void nnv_compare_add_benches(struct nnv_text *t, const json_t *comparison);

#endif
