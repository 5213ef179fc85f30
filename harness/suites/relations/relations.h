/* SPDX-License-Identifier: Apache-2.0 */
/** @file relations.h Parts of the suite "relations". */
#ifndef NNV_SUITES_RELATIONS_H
#define NNV_SUITES_RELATIONS_H

#include "harness/suites/kit/context.h"
#include "randgraph/relate/relate.h"

/** A model at the driver, with a request of its own. */
struct nnv_side {
    struct nnv_fixture fixture;
    struct nnvts_prepared_model *prepared;
    struct nnv_request values;
};

/**
 * The graph of a case, and its other words. relation NULL: only the graph, in r->from and r->to. NNV_UNSUPPORTED: no
 * graph of a reasonable number has what the relation changes.
 */
NNV_USE_RESULT enum nnv_status nnv_relations_draw(const struct nnv_run_config *config, const struct nnv_case *c,
                                                  const struct nnv_relation *relation, struct nnv_arena *arena,
                                                  struct nnv_related *r, struct nnv_err *err);
/** Renders, prepares, and makes a request. False: the case is over. */
bool nnv_side_prepare(struct nnv_context *s, const struct nnv_spec *spec, struct nnv_side *side);
/** Executes, and checks memory, status and shapes. */
bool nnv_side_execute(struct nnv_context *s, struct nnv_side *side);
/**
 * True if the driver gives the same bytes when it executes the side again and again. One that adds up in no fixed order
 * does not, and may: its answers are then held to budgets where others must be equal.
 */
bool nnv_side_is_steady(struct nnv_context *s, struct nnv_side *side);
/** The first element in which output k of b is not output i of a (zeros of either sign are equal), or SIZE_MAX. */
size_t nnv_first_difference(const struct nnv_request *a, uint32_t i, const struct nnv_request *b, uint32_t k);
/** Expects output k of b to be output i of a, byte by byte; `what` says why. Outputs that are not compared pass. */
bool nnv_same_bytes(struct nnv_context *s, const char *what, const struct nnv_request *a, uint32_t i,
                    const struct nnv_request *b, uint32_t k);

/**
 * One and the same model executed in another manner: the bytes must be those of the first execution, but where the
 * driver is not steady, or may round otherwise: in another mode, or beside others, which leave it other processors.
 */
struct nnv_variation {
    const char *name;
    const char *says;
    /** first has been executed once. */
    void (*run)(struct nnv_context *s, struct nnv_side *first, const struct nnv_variation *variation);
    enum nnv_mode mode;    /**< what it is executed in */
    bool rounds_otherwise; /**< legally, where sums are not exact */
};
extern const struct nnv_variation nnv_variations[];
extern const size_t nnv_variation_count;

#endif
