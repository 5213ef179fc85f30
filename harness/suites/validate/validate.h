/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file validate.h The tables of the suite "validate": mistakes in models and requests, and what only looks like one.
 *
 * A mutator changes one thing of a valid model or request, and says which answers a driver may give. Mutators of models
 * work on the model itself (then reference/model/validate.h must refuse what they make, too) or on its rendering for
 * the driver ABI: locations, pools, arrays that are NULL.
 */
#ifndef NNV_SUITES_VALIDATE_H
#define NNV_SUITES_VALIDATE_H

#include "harness/suites/kit/context.h"
#include "reference/faults/edit.h"

/** A model that breaks a rule may be refused as late as when it is executed, and by any error. */
static inline bool nnv_is_late(const struct nnv_context *s) {
    return nnv_device_limits(s->device) & NNVTS_LIMIT_LATE_REFUSALS;
}

/** A set of statuses: bits 1u << status. */
enum {
    NNV_ST_NONE = 1u << NNVTS_STATUS_NONE,
    NNV_ST_INVALID = 1u << NNVTS_STATUS_INVALID_ARGUMENT,
    NNV_ST_FAILURE = 1u << NNVTS_STATUS_GENERAL_FAILURE,
    NNV_ST_TOO_SMALL = 1u << NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE,
};

/** What the models that a mutator is for have: a case is listed only where the operation's record says so. */
enum nnv_needs {
    NNV_NEEDS_INPUT = 1 << 0,    /**< a tensor that the request gives */
    NNV_NEEDS_QUANT = 1 << 1,    /**< a quantised operand with one scale */
    NNV_NEEDS_ASYMM = 1 << 2,    /**< one with a zero point */
    NNV_NEEDS_SYMM = 1 << 3,     /**< one whose zero point is 0 */
    NNV_NEEDS_CHANNELS = 1 << 4, /**< per-channel scales */
    NNV_NEEDS_FLOAT = 1 << 5,    /**< a float tensor */
    NNV_NEEDS_INT32 = 1 << 6,    /**< a TENSOR_INT32 */
    NNV_NEEDS_WIDE = 1 << 7,     /**< elements of several bytes */
    NNV_NEEDS_SCALAR = 1 << 8,   /**< a constant scalar */
    NNV_NEEDS_CONSTANT = 1 << 9, /**< a constant, scalar or tensor */
    NNV_NEEDS_TENSOR_CONSTANT = 1 << 10,
    NNV_NEEDS_OMITTABLE = 1 << 11,   /**< an input that may be omitted */
    NNV_NEEDS_ALIKE = 1 << 12,       /**< two inputs of one type */
    NNV_NEEDS_TWO_INPUTS = 1 << 13,  /**< of the model */
    NNV_NEEDS_TWO_OUTPUTS = 1 << 14, /**< of an operation */
    NNV_NEEDS_RANKED = 1 << 15,      /**< the operation limits the rank of an input */
    NNV_NEEDS_MATCHED = 1 << 16,     /**< input and output have one type */
    NNV_NEEDS_TIED = 1 << 17,        /**< the quantisation of the output follows from the inputs */
    NNV_NEEDS_BIAS = 1 << 18,        /**< a bias whose scale follows from the inputs */
    NNV_NEEDS_FLOAT32 = 1 << 19,     /**< a TENSOR_FLOAT32 comes out */
    NNV_NEEDS_NET = 1 << 20,         /**< several operations */
    NNV_NEEDS_OPEN = 1 << 21,        /**< an extent that is known when it is executed */
    NNV_NEEDS_NUMBER = 1 << 22,      /**< an INT32 that says what is done: an index, an axis, a size */
};

struct nnv_mutation;
struct nnv_request_mutation;

/** What rows do to models as rendered and to requests alike. One of its members does it; a: the row's parameter. */
struct nnv_abi_edit {
    /** Where a value lies, in so many bytes. False: that is no mistake here. */
    bool (*place)(struct nnvts_location *at, uint64_t room, int64_t a);
    void (*pool)(struct nnvts_memory *p, int64_t a);
    size_t array, count; /**< offsets in the model or request: of an array, which becomes NULL, and of its count */
};
/** The row that makes an array NULL. */
#define NNV_NULL_ARRAY(of, list, n) .abi.array = offsetof(struct of, list), .abi.count = offsetof(struct of, n)
/** Makes it NULL. False: it has no elements. */
bool nnv_null_array(void *of, const struct nnv_abi_edit *e);
bool nnv_offset_behind(struct nnvts_location *at, uint64_t room, int64_t a);
/** offset + length is 0 in 32 bits. */
bool nnv_offset_wraps(struct nnvts_location *at, uint64_t room, int64_t a);
bool nnv_offset_largest(struct nnvts_location *at, uint64_t room, int64_t a);
/** offset + length is what it was, in 32 bits. */
bool nnv_length_wraps(struct nnvts_location *at, uint64_t room, int64_t a);
bool nnv_length_largest(struct nnvts_location *at, uint64_t room, int64_t a);
bool nnv_length_zero(struct nnvts_location *at, uint64_t room, int64_t a);
void nnv_pool_kind(struct nnvts_memory *p, int64_t a);
void nnv_pool_size(struct nnvts_memory *p, int64_t a);
void nnv_pool_prot(struct nnvts_memory *p, int64_t a);
void nnv_pool_unmappable(struct nnvts_memory *p, int64_t a);
/** The offset of the pool in its file, from where it must be mapped: odd, or behind the file's end. */
void nnv_pool_offset(struct nnvts_memory *p, int64_t a);

/** A mistake in a model. One of change, edit, abi_change, abi_edit and abi makes it. */
struct nnv_model_mutator {
    const char *name;
    const char *rule; /**< what a driver must insist on: "a scale is finite" */
    uint32_t needs;   /**< enum nnv_needs */
    int level;        /**< the feature level that knows the rule; 0: all */
    bool judged;      /**< the rule is one of the operation's: applies where nnv_validate() refuses the result */
    bool pooled;      /**< all constants lie in a pool */
    int32_t type;     /**< the type that it gives an operand: not for models of that type; 0: none */
    int32_t a;        /**< a parameter of change and edit */
    uint32_t supported, prepare; /**< statuses of get_supported_operations and prepare_model; 0: INVALID_ARGUMENT */
    bool (*change)(struct nnv_mutation *m);
    /** Operand by operand: test chooses among those that the operations use (NULL: all). */
    bool (*test)(const struct nnv_operand *o);
    void (*edit)(struct nnv_mutation *m, struct nnv_operand *o);
    bool (*abi_change)(struct nnv_mutation *m);
    bool (*abi_test)(const struct nnvts_operand *o);
    void (*abi_edit)(struct nnv_mutation *m, struct nnvts_operand *o);
    struct nnv_abi_edit abi;
};

/** A model that is being changed. */
struct nnv_mutation {
    struct nnv_edit edit;
    const struct nnv_model_mutator *row; /**< NULL for valid boundary cases */
    int32_t a;                           /**< the row's parameter */
    uint64_t pick;                       /**< which of several places */
    struct nnv_spec *spec;               /**< the edit's */
    struct nnv_model *model;
    struct nnv_subgraph *main;
    /* As rendered, from nnv_mutation_rendered() on. */
    struct nnvts_model abi;
    struct nnvts_operand *operands; /**< abi's, to be changed */
    struct nnvts_operation *operations;
    struct nnvts_memory *pools; /**< at least one entry */
    struct nnvts_prepare_config config;
};

extern const struct nnv_model_mutator nnv_operand_mutators[], nnv_graph_mutators[], nnv_abi_mutators[];
extern const size_t nnv_operand_mutator_count, nnv_graph_mutator_count, nnv_abi_mutator_count;
/** All of them: operands, graph, rendering. NULL behind the last. */
const struct nnv_model_mutator *nnv_model_mutator(size_t i);

enum nnv_applied { NNV_APPLIED, NNV_NOT_APPLIED, NNV_APPLY_FAILED };
/**
 * Copies the spec and makes the row's mistake in its model. NNV_NOT_APPLIED: there is no place for it in this model.
 * Rows that work on the rendering are only prepared for it.
 */
enum nnv_applied nnv_mutation_make(struct nnv_mutation *m, const struct nnv_model_mutator *row,
                                   const struct nnv_spec *spec, uint64_t pick, struct nnv_arena *arena);
/** Takes the rendering of m->model, and makes the mistakes of rows that work on it. */
enum nnv_applied nnv_mutation_rendered(struct nnv_mutation *m, const struct nnvts_model *abi);

/* ------------------------------------------------------- helpers of mutators */

/** A deep copy of the spec's model and a copy of its list of inputs. */
bool nnv_mutation_copy(struct nnv_mutation *m, const struct nnv_spec *spec, uint64_t pick, struct nnv_arena *arena);
/** Writable copies of the arrays of a rendering. */
bool nnv_mutation_take(struct nnv_mutation *m, const struct nnvts_model *abi);
/** The row's a is the preference, or the priority, of the call. */
bool nnv_mutation_preference(struct nnv_mutation *m);
bool nnv_mutation_priority(struct nnv_mutation *m);
/** An INT32 scalar constant. */
struct nnv_operand nnv_mutation_scalar(void);

/* ----------------------------------------------------------------- requests */

/** Which argument a row edits: of the inputs or the outputs, the first, the last, or the case's choice. */
enum nnv_side { NNV_SIDE_NONE, NNV_SIDE_INPUT, NNV_SIDE_OUTPUT };

/** A mistake in a request. change, edit or abi makes it. */
struct nnv_request_mutator {
    const char *name, *rule;
    uint32_t needs;
    int level;           /**< the feature level that knows the rule; 0: all */
    uint32_t modes;      /**< bits 1u << enum nnv_mode; 0: all */
    uint32_t statuses;   /**< of the execution; 0: INVALID_ARGUMENT */
    uint32_t fenced;     /**< of execute_fenced, where they are others; 0: the same */
    bool late;           /**< only the execution can find it: launching or creating it may answer NONE */
    bool omits;          /**< an argument is omitted that must not be */
    bool all_operations; /**< tier default, too, takes each operation once */
    enum nnv_side side;
    int64_t a; /**< a parameter */
    bool (*change)(struct nnv_request_mutation *m);
    /** Changes an argument that has a value; o is its operand. False: not here. */
    bool (*edit)(struct nnv_request_mutation *m, struct nnvts_argument *argument, const struct nnv_operand *o);
    struct nnv_abi_edit abi;
};

struct nnv_request_mutation {
    struct nnv_arena *arena;
    const struct nnv_request_mutator *row;
    uint64_t pick;
    const struct nnv_request *values;
    const struct nnv_value *in; /**< other values of the inputs, or NULL */
    struct nnvts_request request;
    struct nnvts_argument *inputs, *outputs; /**< request's, with room for one more */
    struct nnvts_memory pools[3];
    int64_t tokens[3];
    bool no_tokens;
    bool fails; /**< whatever the row lets be, the execution fails */
    const int *wait_for;
    uint32_t wait_for_count;
    bool failed;
};

extern const struct nnv_request_mutator nnv_request_mutators[];
extern const size_t nnv_request_mutator_count;
/** Copies the request of v and makes the row's mistake in it. */
enum nnv_applied nnv_request_make(struct nnv_request_mutation *m, const struct nnv_request_mutator *row,
                                  const struct nnv_request *v, uint64_t pick, struct nnv_arena *arena);
/**
 * Executes it in each mode that the driver offers and the row is for, and expects it to be refused. False if something
 * that was expected did not hold.
 */
bool nnv_request_refused(struct nnv_context *s, struct nnvts_prepared_model *prepared,
                         const struct nnv_request_mutation *m, struct nnv_request *v);

/* -------------------------------------------------------------- valid boundary cases */

/** What is legal, though a driver might think that it is not. The results are right, too. */
struct nnv_boundary_case {
    const char *name, *what; /**< "a constant that nobody reads" */
    uint32_t needs;
    bool optional; /**< a driver may support the model without supporting this */
    bool judged;   /**< it depends on the operation: applies where nnv_validate() accepts the result */
    int32_t a;     /**< a parameter */
    bool (*change)(struct nnv_mutation *m);
    bool (*abi_change)(struct nnv_mutation *m);
    bool (*request_change)(struct nnv_context *s, const struct nnv_boundary_case *row, struct nnv_request *v);
};
extern const struct nnv_boundary_case nnv_boundary_cases[];
extern const size_t nnv_boundary_case_count;
/** Copies the spec and makes the row's change of its model; its rendering and request come later. */
enum nnv_applied nnv_boundary_case_make(struct nnv_mutation *m, const struct nnv_boundary_case *row,
                                        const struct nnv_spec *spec, uint64_t pick, struct nnv_arena *arena);

#endif
