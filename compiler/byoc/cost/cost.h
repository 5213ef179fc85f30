/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cost.h What a partition costs, and the cheapest one.
 *
 * Cost of a partition = time of each operation on its device + a launch for each region + transfers: each tensor that
 * crosses, once in each direction. All times in microseconds.
 */
#ifndef NNV_COMPILER_COST_H
#define NNV_COMPILER_COST_H

#include "compiler/byoc/byoc.h"

/* -------------------------------------------------------------------- the model */

/** Throughputs of one device, the static model: max(flops / rate, bytes / bandwidth) + overhead. */
struct nnv_cost_device {
    double gflops[NNV_RELAY_DTYPES]; /**< by element type */
    double gbytes;                   /**< memory, GB/s */
    double op_us;                    /**< each operator */
    double launch_us;                /**< each region; 0 for the host */
};

struct nnv_cost_table;

/** A target that is not as fast as `target`. */
struct nnv_cost_target {
    const char *name;
    struct nnv_cost_device device;
};

struct nnv_cost_model {
    struct nnv_cost_device host, target;
    struct nnv_cost_target *targets;
    size_t n_targets;
    double launch_noise_us;              /**< as of records */
    double crossing_us, crossing_gbytes; /**< each tensor that crosses, and GB/s */
    struct nnv_cost_table *table;        /**< operators' work by element, and recorded times */
};

/**
 * Reads a cost model or profile (docs/compile/partitioning.md): an object whose members, all optional, replace the
 * defaults. text NULL: the defaults. The model is of arena.
 */
NNV_USE_RESULT enum nnv_status nnv_cost_read(const char *text, size_t len, const char *where, struct nnv_arena *arena,
                                             struct nnv_cost_model *out, struct nnv_err *err);
/** The same of a file, or of the defaults: "default". */
NNV_USE_RESULT enum nnv_status nnv_cost_load(const char *name, struct nnv_arena *arena, struct nnv_cost_model *out,
                                             struct nnv_err *err);

/**
 * Recorded times of one call; NaN: not recorded; target < 0: the target can not do it. Noise: by how much a time may be
 * wrong.
 */
struct nnv_cost_record {
    double host_us, target_us, host_noise_us, target_noise_us;
    const char *target; /**< whose time it is; NULL: any target's */
};
/** The record of a key for a target, or else for any; or NULL. */
const struct nnv_cost_record *nnv_cost_recorded(const struct nnv_cost_model *m, const char *key, const char *target);
/** The record of a region that was measured as a whole, launch and transfers included; or NULL. */
const struct nnv_cost_record *nnv_cost_recorded_region(const struct nnv_cost_model *m, const char *key);
/** The device of a target. */
const struct nnv_cost_device *nnv_cost_device(const struct nnv_cost_model *m, const char *target);

/** Operations on numbers, bytes of operands and results, and operators of a checked call (a composite has several). */
struct nnv_cost_work {
    double flops, bytes;
    size_t ops;
    enum nnv_relay_dtype dtype; /**< whose rate counts */
};
/** scratch: for a walk over a composite. False: out of memory. */
bool nnv_cost_work(const struct nnv_cost_model *m, const struct nnv_relay_expr *call, struct nnv_arena *scratch,
                   struct nnv_cost_work *out);
/** The static model's time of a call. */
double nnv_cost_static_us(const struct nnv_cost_device *d, const struct nnv_cost_work *w);
/**
 * A text that is equal for calls of equal structure: operator or composite, attributes, shapes, types, which operands
 * are constants; of arena. NULL when out of memory.
 */
const char *nnv_cost_key(const struct nnv_relay_expr *call, struct nnv_arena *arena);
/** The same for the operations of a region, in evaluation order, and for who uses whose results. */
const char *nnv_cost_region_key(struct nnv_relay_expr *const *ops, size_t n, struct nnv_arena *arena);
/** Checked type, or else what is declared; of a projection, the field of its tuple. NULL: not known. */
const struct nnv_relay_type *nnv_cost_type(const struct nnv_relay_expr *e);

/* ------------------------------------------------------------------- the choice */

enum nnv_cost_method {
    NNV_COST_GREEDY, /**< select, merge, and give back the regions that do not pay */
    NNV_COST_DP,     /**< dynamic programming over the frontier of evaluation order */
    NNV_COST_EXACT,  /**< the same with branch and bound: minimum cuts of what is to come bound the cost from below */
    NNV_COST_METHODS
};
/** "greedy", "dp", "exact", NULL: choices of an option. */
extern const char *const nnv_cost_methods[NNV_COST_METHODS + 1];

struct nnv_cost_region {
    double us;            /**< operations, launch and transfers of the region */
    double host_us;       /**< operations, if they stayed on the host */
    double saved_us;      /**< how much more the partition costs without it, the rest as it is */
    double break_even_us; /**< the launch cost at which it would be even */
    bool measured;        /**< us was measured as a whole */
};

/** An operator that is refused, and what it would bring if the target had it, as fast as the static model says. */
struct nnv_cost_gain {
    const char *op;
    size_t calls;
    double us;
    bool proven; /**< both costs are the least ones */
};

/** What was chosen for one function. */
struct nnv_cost_result {
    const char *function;
    double us, host_us, lower_us; /**< cost; that of the host alone; what no partition can fall below */
    double operations_us, launch_us, transfer_us;
    double noise_us;        /**< by how much what was chosen may be wrong beside the cheapest choice */
    double least_us;        /**< the cheapest choice that was found; below us: it is no better beyond the noise */
    size_t states, missing; /**< what the search looked at; operations that the profile does not know */
    size_t mixed; /**< operations with a time that was measured on one side and the static model's on the other */
    struct nnv_cost_region *regions;
    size_t n_regions;
    struct nnv_cost_gain *gains; /**< the largest first */
    size_t n_gains;
};

/** A selection on its way through nnv_partition(): a member `select` of struct nnv_prune. Zero-initialise. */
struct nnv_cost_selection {
    const struct nnv_cost_model *model;
    enum nnv_cost_method method;
    size_t most_states;              /**< the search's budget; 0: two million */
    bool gains;                      /**< look for them, too */
    struct nnv_arena *arena;         /**< of what follows */
    struct nnv_cost_result *results; /**< by function in the order of the text */
    size_t n_results;
};

/** Chooses regions by cost; ctx is a struct nnv_cost_selection. See struct nnv_prune. */
nnv_select_fn nnv_cost_select;
/** Appends lines for people: what each function and region costs, and what refused operators would bring. */
void nnv_cost_table(const struct nnv_cost_selection *s, struct nnv_text *out);
/** Appends a JSON object: totals, and each function's costs, regions and gains. */
void nnv_cost_print(const struct nnv_cost_selection *s, struct nnv_text *out);

#endif
