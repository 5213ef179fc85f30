/* SPDX-License-Identifier: Apache-2.0 */
/** @file divide.h A program through the passes, with a fault between them if one is asked for; and what must hold then.
 */
#ifndef KIT_COMPILER_DIVIDE_H
#define KIT_COMPILER_DIVIDE_H

#include "compiler/byoc/byoc.h"
#include "tests/kit/compiler/draw.h"
#include "tests/kit/compiler/faults.h"

/** A program, and how it is to be divided. Members but text may be NULL. */
struct nnv_divide {
    const char *text, *patterns, *support, *prune;
    const char *costs; /**< a cost model, by which regions are chosen */
    const char *const *targets;
    size_t n_targets;
    const struct compiler_fault *fault;
};

struct nnv_divided {
    struct nnv_relay_module *before, *m; /**< before: checked, as it was written */
    struct nnv_annotator annotator;
    const struct nnv_prune *prune; /**< or NULL */
    struct nnv_partition partition;
    const struct compiler_fault *fault; /**< or NULL */
};

/** Parses, infers, merges composites, cuts. All is of arena. */
NNV_USE_RESULT enum nnv_status nnv_divide(const struct nnv_divide *d, struct nnv_arena *arena, struct nnv_divided *out,
                                          struct nnv_err *err);
/** The partition in a line: "nnapi.pair(add,nn.relu;2) | %0,%1>nnapi;1/1 %ret>nnapi;2/1 | exp,tanh". */
void nnv_divided_line(const struct nnv_partition *p, struct nnv_text *out);
/** Its three parts. */
void nnv_divided_composites(const struct nnv_partition *p, struct nnv_text *out);
void nnv_divided_regions(const struct nnv_partition *p, struct nnv_text *out);
void nnv_divided_host(const struct nnv_partition *p, struct nnv_text *out);

/* -------------------------------------------------------------- what must hold */

/**
 * Of any program: printed and parsed it is the same; regions and composites put back where they were taken from give
 * the program as it was; their functions have no two equal parameters; a second run finds nothing to do; the
 * interpreter (run: where it can run) gives the same values before and after, none of them NaN. False: why says what
 * does not hold.
 */
bool nnv_divided_holds(const struct nnv_divided *d, bool run, uint64_t seed, struct nnv_arena *arena,
                       struct nnv_text *why);

/** A small program, and what must come of it. In the JSON and the program ' stands for ". */
struct structure_case {
    const char *name; /**< "merge/escaping_value": the pass, and what is in question */
    const char *body; /**< of @main(%x, %y, %c, %t) */
    /** May be NULL; targets: "b,a"; prune: rules, or a cost model behind STRUCTURE_COSTS. */
    const char *patterns, *support, *targets, *prune;
    /** As nnv_divided_line() writes it, but for blanks at the end; or "! " and a part of the message of the error. */
    const char *expected;
};
#define STRUCTURE_COSTS "costs: "
extern const struct structure_case structure_cases[];
extern const size_t structure_case_count;

/** Divides the program, with a fault unless it is NULL. False: why says what does not hold. */
bool structure_case_holds(const struct structure_case *c, const struct compiler_fault *fault, struct nnv_arena *arena,
                          struct nnv_text *why);

/* ---------------------------------------------------------------- random programs */

/** What a row of random programs is like. */
struct nnv_draw_row {
    const char *name;
    unsigned features;
    int least, most; /**< operations */
    bool composites;
    bool brute; /**< few enough for all divisions to be tried */
};
extern const struct nnv_draw_row nnv_draw_rows[];
extern const size_t nnv_draw_row_count;

/** Counts over many programs. */
struct nnv_draw_figures {
    size_t programs, operations, regions, composites, tried, not_fewest;
};

/**
 * Draws a program, divides it, and looks whether all that the rules say holds. False: why says what does not, and shows
 * the program.
 */
bool nnv_draw_judge(const struct nnv_draw_row *row, uint64_t seed, uint64_t index, const struct compiler_fault *fault,
                    struct nnv_arena *arena, struct nnv_draw_figures *figures, struct nnv_text *why);

#endif
