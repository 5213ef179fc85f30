/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cost_problem.h Choosing a device for each operation, as numbers: the problem that the searches solve. Private
 * to cost*.c and their tests.
 *
 * Times are whole ticks, so that sums are exact and any order of adding gives the same. A choice says of each node
 * whether it is on the target; its regions are the clusters that nnv_cluster_grow() makes of those nodes.
 */
#ifndef NNV_COMPILER_COST_PROBLEM_H
#define NNV_COMPILER_COST_PROBLEM_H

#include "compiler/byoc/cluster.h"
#include "compiler/byoc/cost/cost.h"

#define NNV_COST_NEVER INT64_MAX    /**< a time on the target: it can not do it */
#define NNV_COST_OUTSIDE UINT32_MAX /**< a producer: the value comes from outside, which is the host */
#define NNV_COST_TICKS_PER_US 1000000.0

struct nnv_cost_value {
    uint32_t producer;
    int64_t in, out;          /**< to the target, and back */
    uint32_t *users, n_users; /**< nodes, each once */
    bool kept;                /**< used by what is on the host anyway: the function's result */
};

struct nnv_cost_problem {
    uint32_t n, n_edges, n_values;
    struct nnv_cluster_node *nodes; /**< of the kind that each has on the target */
    uint32_t *edges;
    int64_t *host, *target; /**< by node */
    struct nnv_cost_value *values;
    int64_t launch;          /**< of a region; the largest, if targets differ */
    const int64_t *launches; /**< by node: of a region of its kind; NULL: launch */
    double ticks_per_us;
    uint32_t **uses, *n_uses;   /**< by node: numbers of the values that it uses, set by nnv_cost_index() */
    uint32_t **makes, *n_makes; /**< and that it makes */
};

/** Fills uses and makes. False: out of memory. */
bool nnv_cost_index(struct nnv_cost_problem *p, struct nnv_arena *arena);
/** Whether the target can do node i. */
static inline bool nnv_cost_can(const struct nnv_cost_problem *p, uint32_t i) {
    return p->target[i] != NNV_COST_NEVER && p->nodes[i].kind != NNV_CLUSTER_ALONE;
}

/** What a region of node i's kind takes to be launched. */
static inline int64_t nnv_cost_launch(const struct nnv_cost_problem *p, uint32_t i) {
    return p->launches ? p->launches[i] : p->launch;
}

struct nnv_cost_parts {
    int64_t operations, launches, transfers;
    uint32_t regions;
};
static inline int64_t nnv_cost_sum(const struct nnv_cost_parts *c) {
    return c->operations + c->launches + c->transfers;
}

/** The clusters of a choice: first[i] (room n) is the first node of i's cluster. */
NNV_USE_RESULT enum nnv_status nnv_cost_clusters(const struct nnv_cost_problem *p, const bool *on, uint32_t *first,
                                                 struct nnv_err *err);
/** The cost of a choice whose clusters are known. */
struct nnv_cost_parts nnv_cost_of(const struct nnv_cost_problem *p, const bool *on, const uint32_t *first);
/** The clusters and the cost of a choice. */
NNV_USE_RESULT enum nnv_status nnv_cost_try(const struct nnv_cost_problem *p, const bool *on, int64_t *cost,
                                            struct nnv_err *err);
/**
 * What giving the nodes of a cluster back to the host changes, all other clusters as they are: change[c] (room n), c
 * the cluster's first node; below 0: it does not pay.
 */
NNV_USE_RESULT enum nnv_status nnv_cost_drops(const struct nnv_cost_problem *p, const bool *on, const uint32_t *first,
                                              int64_t *change, struct nnv_err *err);

/** Greedy: all that can go to the target, then out with the cluster that costs most, as long as one does not pay. */
NNV_USE_RESULT enum nnv_status nnv_cost_greedy(const struct nnv_cost_problem *p, bool *on, int64_t *cost,
                                               struct nnv_err *err);

/**
 * Minimum cut of the nodes from `from` on, those before them free: no choice makes these nodes, and what they move,
 * cheaper. launches: with each region's launch, as far as cuts can tell: a launch for each node on the target, less one
 * for each edge between two such, which are the regions of a forest. on (room n, or NULL): the cut's choice.
 */
NNV_USE_RESULT enum nnv_status nnv_cost_cut(const struct nnv_cost_problem *p, uint32_t from, bool launches, bool *on,
                                            int64_t *bound, struct nnv_err *err);

struct nnv_cost_solution {
    bool *on; /**< room n */
    int64_t cost, lower;
    size_t states;
};
/** Solves by a method. most_states 0: two million. */
NNV_USE_RESULT enum nnv_status nnv_cost_solve(const struct nnv_cost_problem *p, enum nnv_cost_method method,
                                              size_t most_states, struct nnv_cost_solution *out, struct nnv_err *err);

/** The problem of one function. */
struct nnv_cost_function {
    struct nnv_region_graph *graph;
    struct nnv_cost_problem problem;
    struct nnv_cost_work *work;        /**< by node */
    double *target_us;                 /**< by node: what the target would take by the static model, if it could */
    double *host_noise, *target_noise; /**< by node, us */
    size_t missing, mixed;
};
struct nnv_region_graph;
/** Builds it; all is of arena. */
NNV_USE_RESULT enum nnv_status nnv_cost_build(const struct nnv_cost_model *m, const struct nnv_annotator *a,
                                              const struct nnv_scoped *f, struct nnv_arena *arena,
                                              struct nnv_cost_function *out, struct nnv_err *err);

/** The choice that is taken; the arrays are by the first node of a region. */
struct nnv_cost_decision {
    uint32_t *first;
    int64_t cost, least; /**< least: of the cheapest choice there was */
    int64_t *parts;      /**< launch, operations and transfers */
    int64_t *whole;      /**< the same as it was measured, if it was */
    double *noise_of;    /**< of what was measured as a whole; -1: it was not */
    double noise_us;     /**< by how much the cost may be wrong */
};
/** Takes one of the choices that are no worse than the least beyond the noise; on: the search's, and then the one. */
NNV_USE_RESULT enum nnv_status nnv_cost_decide(const struct nnv_cost_model *m, const struct nnv_cost_function *f,
                                               bool *on, struct nnv_cost_decision *out, struct nnv_arena *arena,
                                               struct nnv_err *err);
/** A time as ticks. */
int64_t nnv_cost_ticks(const struct nnv_cost_problem *p, double us);

#endif
