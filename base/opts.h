/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file opts.h Command-line options as rows of a table: parsing, --help and completion come from it.
 */
#ifndef NNV_BASE_OPTS_H
#define NNV_BASE_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

enum nnv_opt_kind {
    NNV_OPT_FLAG,    /**< bool, set by its presence */
    NNV_OPT_STRING,  /**< const char *, borrowed from argv */
    NNV_OPT_U64,     /**< uint64_t */
    NNV_OPT_SECONDS, /**< uint64_t nanoseconds, given in seconds ("2.5") */
    NNV_OPT_CHOICE,  /**< int, index into choices; -1: none by default */
    NNV_OPT_LIST,    /**< struct nnv_opt_list: may be repeated */
    NNV_OPT_OUT,     /**< STRING: a file that will be written: tried now, see nnv_file_try(); "-": NNV_FILE_STDOUT */
    NNV_OPT_KEPT,    /**< STRING: likewise, one that is read, too, or written again: not stdout */
    NNV_OPT_OUT_DIR, /**< STRING: a folder that will be written to, likewise */
    NNV_OPT_COMMAND, /**< STRING: a command, or a file of settings with some: to be executed */
    NNV_OPT_CODE,    /**< STRING: drivers, libraries or programs: one with a '/' is a file that will be executed */
};

enum { NNV_OPT_LIST_MAX = 1024 };
struct nnv_opt_list {
    const char *item[NNV_OPT_LIST_MAX]; /**< borrowed from argv */
    int count;
};

struct nnv_opt {
    char short_name;  /**< 0: none */
    const char *name; /**< without the dashes; NULL ends the table */
    enum nnv_opt_kind kind;
    void *value;                /**< where the value goes; holds the default before */
    const char *arg;            /**< placeholder in the help: "NAME" */
    const char *help;           /**< one line */
    const char *const *choices; /**< CHOICE: NULL-terminated */
};

/** A verb: its options, its positional arguments and its help. */
struct nnv_verb_help {
    const char *usage;    /**< "nnvts run [options]" */
    const char *summary;  /**< one or two sentences */
    const char *examples; /**< lines, each a command and what it does */
};

/**
 * Parses argv[1..]. Options may stand anywhere; "--" ends them; -jN, -j N, --jobs=N and --jobs N are alike.
 * Positional arguments are gathered in *positional. --help sets *help.
 * An unknown option is NNV_INVALID and names the nearest known one.
 */
NNV_USE_RESULT enum nnv_status nnv_opts_parse(const struct nnv_opt *table, int argc, char **argv,
                                              struct nnv_opt_list *positional, bool *help, struct nnv_err *err);
/** Prints the help of a verb. */
void nnv_opts_help(FILE *to, const struct nnv_verb_help *verb, const struct nnv_opt *table);

#endif
