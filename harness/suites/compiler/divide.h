/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file compiler_divide.h The suite "compiler": a program through the passes, with a planted bug between them if one is
 * asked for; and what must hold of the result.
 */
#ifndef NNV_SUITES_COMPILER_DIVIDE_H
#define NNV_SUITES_COMPILER_DIVIDE_H

#include "compiler/byoc/byoc.h"
#include "compiler/nnapi/convert/convert.h"
#include "harness/suites/compiler/draw.h"

/**
 * A bug of the compiler, planted in what one stage hands to the next; the compiler itself stays as it is. The audit
 * addresses it as a bug of the driver "faulty", which only carries the name. Members but name may be NULL.
 */
struct nnv_compiler_bug {
    const char *name;
    /** Changes a program that was just read. */
    void (*parsed)(struct nnv_relay_module *m);
    /** Changes a table before it is applied. */
    void (*table)(struct nnv_pattern_table *t, struct nnv_arena *arena);
    /** Whether a target takes a call, instead of what the real annotator says. */
    bool (*accepts)(const struct nnv_annotator *real, size_t target, const struct nnv_relay_expr *call);
    bool never_prune;
    /** Changes the module that was cut, and what was said of it. */
    void (*cut)(struct nnv_relay_module *m, struct nnv_partition *p);
    /** Changes one operation of a converted model. */
    void (*operation)(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena);
    /** Changes a converted model as a whole. */
    void (*model)(struct nnv_model *m, struct nnv_arena *arena);
};

/** The bug that the driver's options name ("compiler-cyclic-merge", "compiler-...,over=cpu"), or NULL. */
const struct nnv_compiler_bug *nnv_compiler_bug(const char *driver_options);
/** All of them. */
const struct nnv_compiler_bug *nnv_compiler_bugs(size_t *n);
/** Plants the bug, which may be NULL, in a converted model. */
void nnv_compiler_spoil(const struct nnv_compiler_bug *bug, struct nnv_model *m, struct nnv_arena *arena);

/** A program, and how it is to be divided. Members but text may be NULL. */
struct nnv_divide {
    const char *text, *patterns, *support, *prune;
    const char *const *targets;
    size_t n_targets;
    const struct nnv_compiler_bug *bug;
};

struct nnv_divided {
    struct nnv_relay_module *before, *m; /**< before: checked, as it was written */
    struct nnv_annotator annotator;
    const struct nnv_prune *prune; /**< or NULL */
    struct nnv_partition partition;
};

/** Parses, infers, merges composites, cuts. All is of arena. */
NNV_USE_RESULT enum nnv_status nnv_divide(const struct nnv_divide *d, struct nnv_arena *arena, struct nnv_divided *out,
                                          struct nnv_err *err);
/** The partition in a line: "nnapi.pair(add,nn.relu;2) | %0,%1>nnapi;1/1 %ret>nnapi;2/1 | exp,tanh". */
void nnv_divided_line(const struct nnv_partition *p, struct nnv_text *out);

/* -------------------------------------------------------------- what must hold */

/**
 * Of any program: printed and parsed it is the same; regions and composites put back where they were taken from give
 * the program as it was; their functions have no two equal parameters; a second run finds nothing to do; the
 * interpreter (run: where it can run) gives the same values before and after. False: why says what does not hold.
 */
bool nnv_divided_holds(const struct nnv_divided *d, bool run, uint64_t seed, struct nnv_arena *arena,
                       struct nnv_text *why);

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
bool nnv_draw_judge(const struct nnv_draw_row *row, uint64_t seed, uint64_t index, const struct nnv_compiler_bug *bug,
                    struct nnv_arena *arena, struct nnv_draw_figures *figures, struct nnv_text *why);

#endif
