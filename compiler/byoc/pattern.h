/* SPDX-License-Identifier: Apache-2.0 */
/** @file pattern.h Pattern tables: read from JSON, matched against Relay expressions, checked for useless entries. */
#ifndef NNV_COMPILER_PATTERN_H
#define NNV_COMPILER_PATTERN_H

#include <jansson.h>

#include "compiler/relay/relay.h"

enum nnv_pattern_kind {
    NNV_PATTERN_ANY,
    NNV_PATTERN_OP,        /**< a call of the operator name */
    NNV_PATTERN_CONST,     /**< a constant, which becomes a part of the composite */
    NNV_PATTERN_VAR,       /**< a variable */
    NNV_PATTERN_TUPLE,     /**< a tuple of parts */
    NNV_PATTERN_GET,       /**< a projection of parts[0] */
    NNV_PATTERN_ALT,       /**< the first of parts that fits */
    NNV_PATTERN_DOMINATES, /**< parts[0] the parent, parts[1] what stands on every path, parts[2] the child */
};

/** One value of a list of attributes or conditions. */
struct nnv_pattern_attr {
    const char *key;
    struct nnv_relay_value value;
};

enum nnv_condition_kind {
    NNV_CONDITION_ATTR,  /**< the value of an attribute */
    NNV_CONDITION_DTYPE, /**< the element type of the result or an operand */
    NNV_CONDITION_RANK,  /**< its number of dimensions */
    NNV_CONDITION_SHAPE, /**< in is its extents; NONE: any */
    NNV_CONDITIONS,
};

/** A condition on a call: what kind says is one of in. */
struct nnv_condition {
    enum nnv_condition_kind kind;
    int64_t operand;                        /**< of predicates on types; below 0: the result */
    const char *attr;                       /**< ATTR */
    const struct nnv_relay_value *fallback; /**< ATTR: where it is not written; NULL: the operator's default */
    const struct nnv_relay_value *in;
    size_t n_in;
};

/** Conditions that must hold together. */
struct nnv_call_conditions {
    struct nnv_condition *list;
    size_t n;
};

/** A pattern object: in one match it stands for one expression, however often it is met. */
struct nnv_pattern {
    enum nnv_pattern_kind kind;
    uint32_t number;  /**< among the objects of its entry */
    uint32_t id;      /**< among the named values of its entry + 1; 0: it has no name */
    const char *name; /**< OP */
    bool any_parts;   /**< OP, TUPLE: any operands, which all become parameters */
    int64_t index;    /**< GET; negative: any */
    const struct nnv_pattern **parts;
    size_t n_parts;
    const struct nnv_pattern_attr *attrs;
    size_t n_attrs;
};

struct nnv_pattern_check {
    uint32_t id; /**< of the value that is checked */
    struct nnv_condition condition;
};

struct nnv_pattern_entry {
    const char *name;
    const struct nnv_pattern *root;
    uint32_t n_patterns, n_ids;
    const char *const *ids; /**< the names of the values */
    const struct nnv_pattern_check *checks;
    size_t n_checks;
};

/** The first entry has the highest priority. */
struct nnv_pattern_table {
    struct nnv_pattern_entry *entries;
    size_t n;
};

/**
 * Reads a table from JSON text: a list of entries, or {"patterns": [entries], "define": {name: pattern}}. where stands
 * in messages, before the place in the document. All is of arena. NNV_INVALID: not JSON, or not a table.
 */
NNV_USE_RESULT enum nnv_status nnv_pattern_read(const char *text, size_t len, const char *where,
                                                struct nnv_arena *arena, struct nnv_pattern_table *table,
                                                struct nnv_err *err);
/** Reads the file path. */
NNV_USE_RESULT enum nnv_status nnv_pattern_load(const char *path, struct nnv_arena *arena,
                                                struct nnv_pattern_table *table, struct nnv_err *err);

/** A JSON value as that of an attribute; false if it is an object or memory runs out. */
bool nnv_pattern_value(const json_t *json, struct nnv_arena *arena, struct nnv_relay_value *v);
/** Members that nnv_conditions_read() knows, but for "all". */
#define NNV_CONDITION_MEMBERS "attr default in dtype rank shape operand"
/**
 * Reads the conditions of an object, whose place in the document is at: {"attr", "default", "in"}, "dtype", "rank" and
 * "shape" of the result or of "operand", and a list of such objects in "all". Other members are the caller's.
 */
NNV_USE_RESULT enum nnv_status nnv_conditions_read(const json_t *object, const char *at, struct nnv_arena *arena,
                                                   struct nnv_call_conditions *out, struct nnv_err *err);
/** NNV_INVALID, with the place, if an object has a member that is not among the known ones ("op args attrs"). */
NNV_USE_RESULT enum nnv_status nnv_pattern_members(const json_t *object, const char *at, const char *known,
                                                   struct nnv_err *err);
/** Whether the call fulfils the condition. An attribute that has no value, and a type that is not known, fulfil none.
 */
bool nnv_condition_holds(const struct nnv_condition *c, const struct nnv_relay_expr *call);
/** Whether it fulfils all of them. */
bool nnv_conditions_hold(const struct nnv_call_conditions *c, const struct nnv_relay_expr *call);

/** What a match needs to know of the graph, for dominators alone; NULL: they match nothing. */
struct nnv_match {
    struct nnv_relay_expr **bound; /**< by number of the pattern; NULL: it was not met */
    struct nnv_relay_expr **ids;   /**< by number of the value */
    struct nnv_relay_expr **path;  /**< what stands on the paths of dominators, each once */
    size_t n_path;
    bool exhausted; /**< the search was given up: the entry is too ambiguous */
};

/** Room for matches of an entry; NULL when out of memory. */
struct nnv_match *nnv_match_new(const struct nnv_pattern_entry *e, struct nnv_arena *arena);
/**
 * Whether the entry's pattern fits root, without its checks. Alternatives are decided where they stand, the first that
 * fits wins; operands of add and multiply fit in either order.
 */
bool nnv_match_at(const struct nnv_pattern_entry *e, struct nnv_relay_expr *root, struct nnv_match *m);
/** Whether the checks of the entry hold for a match; a value that was not met fulfils all. */
bool nnv_match_checks(const struct nnv_pattern_entry *e, const struct nnv_match *m);

enum nnv_lint_kind {
    NNV_LINT_SHADOWED, /**< all that it matches is taken by an entry before it */
    NNV_LINT_NEVER,    /**< it can match nothing */
    NNV_LINT_OVERLAP,  /**< an entry before it may take some of what it matches */
};

struct nnv_lint {
    enum nnv_lint_kind kind;
    size_t entry, by; /**< numbers of entries; by is unused for NNV_LINT_NEVER */
    const char *text; /**< one sentence */
};

/** What is useless or doubtful in a table, by entry. */
NNV_USE_RESULT enum nnv_status nnv_pattern_lint(const struct nnv_pattern_table *table, struct nnv_arena *arena,
                                                struct nnv_lint **found, size_t *n, struct nnv_err *err);

#endif
