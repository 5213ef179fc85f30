/* SPDX-License-Identifier: Apache-2.0 */
/** @file datasheet.h What a driver takes, how it computes and where it breaks, measured: nnvts datasheet. */
#ifndef NNV_DATASHEET_H
#define NNV_DATASHEET_H

#include "harness/datasheet/cliffs/cliffs.h"
#include "harness/datasheet/numeric/numeric.h"
#include "harness/datasheet/support/profiles.h"
#include "harness/datasheet/speed.h"
#include "harness/datasheet/support/support.h"
#include "harness/runner/run.h"

/** An operation with one combination of types. */
struct nnv_sheet_row {
    const struct nnv_op *op;
    int sig;
    const char *types; /**< "float32", see nnv_single_sig_name() */
    struct nnv_support support;
    const char *ended; /**< what stopped its process again and again; NULL: nothing */
    bool unfinished;   /**< the time was over before all of it was asked */
};

/** What is otherwise than in an earlier datasheet. */
struct nnv_sheet_change {
    const char *about, *text;
    bool breaks; /**< something was supported, or right, and is not any more; or computes otherwise */
};

struct nnv_datasheet {
    const char *argument; /**< of --driver */
    struct nnv_driver_info driver;
    uint64_t seed;
    double seconds;
    struct nnv_sheet_row *row; /**< in the order of the operations */
    size_t rows;
    struct nnv_sheet_profile *profile; /**< all that there are, in the order of profiles.def */
    size_t profiles;
    struct nnv_numeric numeric;
    char arithmetic[NNV_ARITHMETIC_TEXT]; /**< for --arithmetic: the promise that fits what was seen */
    struct nnv_cliffs *cliffs;            /**< NULL: not looked for */
    struct nnv_speeds *speeds;            /**< NULL: not timed */
    const char *against;                  /**< the earlier datasheet that it was compared with; NULL: none */
    struct nnv_sheet_change *change;
    size_t changes;
};

struct nnv_datasheet_options {
    const struct nnv_run_config *config; /**< driver, seed, jobs, timeout_ns, arithmetic */
    const char *operations;              /**< a glob over their names; NULL: all */
    const struct nnv_profile *profile;   /**< only operations that it demands; NULL: all */
    bool cliffs;                         /**< look for extents at which its behaviour changes */
    const struct nnv_roof *roof;         /**< time its operations, under this roof; not known: measured */
    uint64_t time_ns;                    /**< of all: what is not begun by then is left out; 0: no limit */
    struct nnv_arena *arena;             /**< of the datasheet */
    void (*done)(void *context, const struct nnv_op *op, size_t done, size_t all); /**< may be NULL */
    void *context;
};

/** Makes the datasheet. NNV_INVALID: the driver can't be opened, or no operation has such a name. */
NNV_USE_RESULT enum nnv_status nnv_datasheet_make(const struct nnv_datasheet_options *o, struct nnv_datasheet *sheet,
                                                  struct nnv_err *err);
/** Recognises how the driver computes, in processes of its own. */
NNV_USE_RESULT enum nnv_status nnv_datasheet_numeric(const struct nnv_datasheet_options *o, struct nnv_numeric *numeric,
                                                     struct nnv_err *err);
/** Finds the extents at which its behaviour changes, in processes of its own, until that time (0: no limit). */
NNV_USE_RESULT enum nnv_status nnv_datasheet_cliffs(const struct nnv_datasheet_options *o, uint64_t until_ns,
                                                    struct nnv_cliffs *cliffs, struct nnv_err *err);
/** Appends "CONV_2D float32: 812 us, 25.1 Gop/s, 3.12 GB/s, 41 % of the roof (layer/stem [1,112,112,32])". */
void nnv_sheet_tell_speed(const struct nnv_speed *s, struct nnv_text *t);
/** Appends datasheet.json. */
void nnv_datasheet_json(const struct nnv_datasheet *sheet, struct nnv_text *t);
/** Appends the page. */
void nnv_datasheet_html(const struct nnv_datasheet *sheet, struct nnv_text *t);

/**
 * Compares with the datasheet in the file, of the same seed: as a contract, what it says is supported and right must
 * be so. Only what both have measured. NNV_INVALID: it is no datasheet, or of another seed.
 */
NNV_USE_RESULT enum nnv_status nnv_datasheet_compare(struct nnv_datasheet *sheet, const char *file,
                                                     struct nnv_arena *arena, struct nnv_err *err);
/** The arithmetic that the datasheet in the file has recognised. NNV_INVALID: it is no datasheet, or says none. */
NNV_USE_RESULT enum nnv_status nnv_datasheet_arithmetic(const char *file, struct nnv_arithmetic *out,
                                                        struct nnv_err *err);
/** The answers to models that every driver is asked about, a letter each: y, n, or - for neither. */
void nnv_sheet_answers(const struct nnv_support *s, char text[NNV_SUPPORT_PROBES + 1]);

/** "all", "none", "some": how much of what was asked is supported; "unknown" where nothing was answered. */
const char *nnv_sheet_support(const struct nnv_support *s);
/** The part of the models that the conditions say are supported which are (precision), and of those that are
 * supported which they say (recall); 1 of nothing. */
double nnv_sheet_precision(const struct nnv_support *s);
double nnv_sheet_recall(const struct nnv_support *s);

#endif
