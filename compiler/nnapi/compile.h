/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file compile.h The whole compiler: a Relay program becomes a divided program, and NNAPI models for its regions; and
 * the folder that they are written to. See docs/compile/compiling.md.
 */
#ifndef NNV_COMPILER_COMPILE_H
#define NNV_COMPILER_COMPILE_H

#include "compiler/byoc/cost/cost.h"
#include "compiler/nnapi/emit/emit.h"
#include "compiler/nnapi/program/program.h"
#include "compiler/relay/text/params.h"

struct nnv_compile_options {
    const char *patterns;  /**< pattern table: the name of one that is shipped, or a file; NULL: "nnapi" */
    const char *supported; /**< file: operators that may leave the host; NULL: all that can be converted */
    const char *prune;     /**< file: rules for regions that are not worth it; NULL: none */
    const char *cost;      /**< file of a cost model or profile, or "default": regions by what they take; NULL: all */
    bool join_siblings;    /**< regions that share no more than an operand are one; not with cost */
    enum nnv_cost_method select;
    size_t most_states; /**< of the search; 0: its own limit */
    int level;          /**< feature level that the models may need, 1 to 7; 0: 7 */
    bool relaxed;       /**< float32 may be computed as float16 */
};

/** A region that stays on the host after all, since it could not be converted as a whole. */
struct nnv_compile_refused {
    const char *function, *reason;
};

struct nnv_compiled {
    struct nnv_relay_module *m; /**< divided and checked; what is refused has no attribute Compiler */
    struct nnv_partition partition;
    struct nnv_emit *regions;
    size_t n_regions;
    struct nnv_compile_refused *refused;
    size_t n_refused;
    struct nnv_program *program;    /**< the whole as a class, or NULL */
    const char *no_program;         /**< what the host must compute, so that there is no such class; NULL: nothing */
    struct nnv_cost_selection cost; /**< with options.cost */
    struct nnv_emit_weights weights;
    struct nnv_compile_options options;
    const char *source; /**< text of the program as it was given; the caller's to set, as params; NULL: none */
    size_t source_len;
    struct nnv_relay_params *params; /**< that were bound, or NULL */
};

/**
 * Divides a module and converts its regions; m is changed. All is of arena, but for the weights: nnv_compiled_free().
 * NNV_INVALID, with the place: the program has no @main or is wrong.
 */
NNV_USE_RESULT enum nnv_status nnv_compile_module(struct nnv_relay_module *m, const struct nnv_compile_options *options,
                                                  struct nnv_arena *arena, struct nnv_compiled *out,
                                                  struct nnv_err *err);
void nnv_compiled_free(struct nnv_compiled *c);

/** What is written of a program, and how it is built. */
struct nnv_compile_output {
    const char *folder;
    bool no_build;      /**< no shared library */
    bool tvm;           /**< packed functions for TVM's runtime, too */
    const char *target; /**< as struct nnv_build has it */
    const char *nnapi;  /**< likewise */
};

/**
 * Writes everything into a folder, which is made if it is not there: the divided program, the program and parameters as
 * they were given, JSON and C++ of each region, C++ of the whole, weights, the shared library, and plan.json, the last.
 */
NNV_USE_RESULT enum nnv_status nnv_compile_write(const struct nnv_compiled *c, const struct nnv_compile_output *to,
                                                 struct nnv_arena *arena, struct nnv_err *err);
/** The program as it was given: parsed, with its parameters bound, and checked. */
NNV_USE_RESULT enum nnv_status nnv_compile_load(const char *text, size_t len, const char *name,
                                                const struct nnv_relay_params *params, struct nnv_arena *arena,
                                                struct nnv_relay_module **m, struct nnv_err *err);

#endif
