/* SPDX-License-Identifier: Apache-2.0 */
/** @file clauses.h Which cases check which clauses of NNAPI, and what a run says of them. */
#ifndef NNV_HARNESS_CLAUSES_H
#define NNV_HARNESS_CLAUSES_H

#include "harness/journal/load.h"
#include "reference/model/clause.h"

enum { NNV_CASE_CLAUSES_MAX = 64 };

/** A row of clauses.def for one clause: globs over names of cases. */
struct nnv_clause_row {
    uint32_t clause;
    const char *globs; /**< with spaces between; '!' takes cases out again */
    const char *op;    /**< only of cases of this operation; NULL: of all */
    const char *type;  /**< and of this type; NULL: of all */
    uint32_t letters;  /**< bit i: globs that take in begin with letter i, 0: a */
};

/** All clauses, and the rows that say which cases check them. */
struct nnv_clause_book {
    struct nnv_clause_list all;
    const char **reason; /**< of each clause: why it has no case, or NULL */
    const char **globs;  /**< of each clause: the cases that check it, or NULL */
    struct nnv_clause_row *row, *of_op;
    uint32_t rows, of_ops;
    struct nnv_map ops; /**< operations; number n has the rows of_op[first[n]] to of_op[first[n + 1]] */
    uint32_t *first;
    struct nnv_arena *arena;
    struct nnv_map names; /**< of single operations, without their last number: the found clauses of each */
    struct nnv_case_clauses {
        uint32_t count, number[NNV_CASE_CLAUSES_MAX];
    } found; /**< of the last case */
};

/** Reads the table; everything is arena's. NNV_INTERNAL: it names a clause that there is not. */
NNV_USE_RESULT enum nnv_status nnv_clause_book(struct nnv_arena *arena, struct nnv_clause_book *book,
                                               struct nnv_err *err);
/**
 * The clauses that a case checks, by its name, operation and type: *numbers holds as many as are returned, until the
 * next call.
 */
uint32_t nnv_clauses_of_case(struct nnv_clause_book *book, const char *name, const char *op, const char *type,
                             const uint32_t **numbers);

/** How the cases of a clause ended. */
struct nnv_clause_tally {
    uint32_t cases, passed, failed;
    const char *first; /**< the first case that failed, or NULL */
};
/** Counts the cases of a report; tally: room for one a clause, zero. */
void nnv_clauses_count(struct nnv_clause_book *book, const struct nnv_report *report, struct nnv_clause_tally *tally);

/** Writes NNV_CLAUSES_FILE from the report of the run. */
NNV_USE_RESULT enum nnv_status nnv_clauses_write(const struct nnv_report *report, struct nnv_err *err);

#endif
