/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file byoc.h The partitioning passes: operators that match a pattern become composites, supported operations are
 * gathered in regions, regions become functions of their own. All change the module in place.
 */
#ifndef NNV_COMPILER_BYOC_H
#define NNV_COMPILER_BYOC_H

#include <jansson.h>

#include "compiler/byoc/pattern.h"
#include "compiler/relay/relay.h"
#include "compiler/relay/scope.h"

/**
 * What a program can do without: operators without effect (marks of TVM's passes, nn.dropout of a network that is used,
 * changes of type or shape that change nothing) give way to their operand, and calls of constants alone become
 * constants, but for those of qnn operators, by which quantised layers are recognised. m must be inferred, and is
 * again.
 */
NNV_USE_RESULT enum nnv_status nnv_simplify(struct nnv_relay_module *m, struct nnv_err *err);

/**
 * MergeComposite: after nnv_graph_form(), entry after entry, each from the results of a function towards its inputs,
 * replaces what matches by a call of a function literal with the attributes Composite and PartitionedFromPattern. A
 * match is refused if a value in it, other than its root, is used outside, belongs to another match of the entry or
 * lies in another scope. NNV_INVALID: an entry is too ambiguous to be matched.
 */
NNV_USE_RESULT enum nnv_status nnv_merge_composite(struct nnv_relay_module *m, const struct nnv_pattern_table *table,
                                                   struct nnv_err *err);
/** The text of the attribute Composite if e is a call of a composite, else NULL. */
const char *nnv_composite_name(const struct nnv_relay_expr *e);
/** Makes the call of a composite what root was: its users need not be told. */
void nnv_composite_replace(struct nnv_relay_expr *root, const struct nnv_relay_expr *call);
/** Puts the body of a composite in place of its call. The body is the composite's own and is changed. False: no memory.
 */
bool nnv_composite_dissolve(struct nnv_relay_expr *call, struct nnv_arena *scratch);

/** Which target takes an operation. */
struct nnv_annotator {
    const char *const *targets; /**< the first that accepts an operation takes it */
    size_t n_targets;
    /** Whether the target takes a call of an operator; composites are decided by their name. */
    bool (*accepts)(void *ctx, size_t target, const struct nnv_relay_expr *call);
    /** Whether the target takes a call of a composite that is named after it; NULL: it takes all. */
    bool (*accepts_composite)(void *ctx, size_t target, const struct nnv_relay_expr *call);
    void *ctx;
};

/** The number of the target that takes the expression, or NNV_HOST. Operators without operands stay on the host. */
enum { NNV_HOST = -1 };
int nnv_annotate(const struct nnv_annotator *a, const struct nnv_relay_expr *e);

/**
 * After nnv_graph_form() and nnv_relay_check(): ifs, and functions that call themselves as a loop does, the innermost
 * first, become calls of composites, TARGET.if and TARGET.while, where the target takes the composite and every
 * operation within; others stay. The first parameter of an if is the condition, which the branches do not use; those of
 * a loop are what its variables begin with. The others are what is taken from outside.
 */
NNV_USE_RESULT enum nnv_status nnv_outline_flow(struct nnv_relay_module *m, const struct nnv_annotator *a,
                                                const char *target, struct nnv_err *err);

/** Support as a list: for each target names of operators and conditions on their attributes. */
struct nnv_support;
/**
 * Reads {"target": [entries], ...} or a list of entries, which then holds for each target. An entry is the name of an
 * operator or {"op": name, "attr": ..., "default": ..., "in": [...]}. Without targets (n_targets 0) they are the
 * members of the object, or else "nnapi". The result is of arena; nnv_support_annotator() asks it.
 */
NNV_USE_RESULT enum nnv_status nnv_support_read(const char *text, size_t len, const char *where,
                                                const char *const *targets, size_t n_targets, struct nnv_arena *arena,
                                                struct nnv_support **out, struct nnv_err *err);
struct nnv_annotator nnv_support_annotator(struct nnv_support *s);

struct nnv_region {
    int target;
    struct nnv_relay_expr **ops; /**< in evaluation order */
    size_t n_ops;
};

/** The regions of a function, in evaluation order of their first operations. */
struct nnv_regions {
    struct nnv_region *regions;
    size_t n;
    uint32_t *of; /**< by id of the expression: its region + 1; 0: on the host. Room n_ids. */
    uint32_t n_ids;
};

/**
 * Lets whose value is not a closure that calls itself become graph bindings, projections of tuples their fields, equal
 * projections one: what the passes below expect.
 */
NNV_USE_RESULT enum nnv_status nnv_graph_form(struct nnv_relay_module *m, struct nnv_relay_expr *function,
                                              struct nnv_err *err);
/**
 * Gathers the operations of a function that targets take: connected by data, one target, one scope, and the graph of
 * regions and single host operations acyclic. siblings: regions that share no more than an operand are joined, too.
 */
NNV_USE_RESULT enum nnv_status nnv_regions_find(const struct nnv_annotator *a, const struct nnv_scoped *f,
                                                bool siblings, struct nnv_arena *arena, struct nnv_regions *out,
                                                struct nnv_err *err);

/** One region as a function of its own. */
struct nnv_extracted {
    const char *target, *function; /**< the name of the function that it became */
    const char **ops, **nodes;     /**< operators or composites, names of their graph bindings ("%ret": none) */
    size_t n_ops, params, outputs;
};

struct nnv_composite_use {
    const char *name;
    const char **ops;
    size_t n_ops, params;
};

/** What was done, in evaluation order, functions in the order of the text. */
struct nnv_partition {
    struct nnv_composite_use *composites;
    struct nnv_extracted *extracted;
    const char **host; /**< operators and composites that stayed */
    size_t n_composites, n_extracted, n_host;
};

/** Replaces the regions of a function, those that nnv_regions_find() finds, by others that are as valid. */
typedef enum nnv_status nnv_select_fn(void *ctx, const char *function, const struct nnv_annotator *a,
                                      const struct nnv_scoped *f, struct nnv_arena *arena, struct nnv_regions *regions,
                                      struct nnv_err *err);

/** How regions are made, and rules that give some back to the host. */
struct nnv_prune {
    const char *const *keep_if_any; /**< a region without one of these operators goes; none: all stay */
    size_t n_keep;
    size_t min_ops;        /**< so does one of fewer operations; a composite counts as one */
    bool join_siblings;    /**< regions that share no more than an operand are one */
    nnv_select_fn *select; /**< asked before the rules; NULL: none */
    void *select_ctx;
    bool apart; /**< each operation is a region of its own, before all else */
};

/** Reads {"keep_if_any": [names], "min_ops": n}, both optional. */
NNV_USE_RESULT enum nnv_status nnv_prune_read(const char *text, size_t len, const char *where, struct nnv_arena *arena,
                                              struct nnv_prune *out, struct nnv_err *err);

/**
 * Annotates, merges and cuts every function of the module that is not of a target already. Each region becomes the
 * function "tvmgen_default_<target>_<function>_<number>" with Primitive, Inline, Compiler and global_symbol; constants
 * are bound in it, equal operands passed once, tuples flattened; several outputs are a tuple. prune may be NULL.
 * result is of the module's arena.
 */
NNV_USE_RESULT enum nnv_status nnv_partition(struct nnv_relay_module *m, const struct nnv_annotator *a,
                                             const struct nnv_prune *prune, struct nnv_partition *result,
                                             struct nnv_err *err);
/** The result as the JSON object that `nnvts partition --json` prints, with a newline. */
void nnv_partition_print(const struct nnv_partition *p, struct nnv_text *out);
/** The result as a table to be read. */
void nnv_partition_table(const struct nnv_partition *p, struct nnv_text *out);

#endif
