/* SPDX-License-Identifier: Apache-2.0 */
/** @file cases.h How suites list their cases, and what most of them begin with. */
#ifndef NNV_SUITES_KIT_CASES_H
#define NNV_SUITES_KIT_CASES_H

#include "harness/runner/tier.h"
#include "harness/suites/kit/context.h"
#include "harness/suites/kit/fixture_models.h"

/* ------------------------------------------------------------------- listing */

/** How many cases the run's tier has: NNV_AMOUNT_SMOKE, DEFAULT or FULL, which is soak's, too. */
int nnv_tier(const struct nnv_run_config *config);
/** How many cases each of so many random sources gets: its share of --count, else what the tier says; of soak fifty
 * times the last. */
uint64_t nnv_share(const struct nnv_run_config *config, uint64_t sources, const uint64_t tiers[3]);
/** Adds a case of that name, which begins with that of the suite; strings that are NULL in c become "". */
NNV_USE_RESULT enum nnv_status nnv_list_named(struct nnv_case_list *list, struct nnv_case c, const char *name,
                                              struct nnv_err *err);
/** The same; fmt makes the name. */
NNV_USE_RESULT enum nnv_status nnv_list_case(struct nnv_case_list *list, struct nnv_case c, struct nnv_err *err,
                                             const char *fmt, ...) NNV_PRINTF(4, 5);
/**
 * Adds c for each fixture model whose name begins with prefix (NULL: all), as "ROW/MODEL": its number is the case's d,
 * its main operation and type are the case's.
 */
NNV_USE_RESULT enum nnv_status nnv_list_fixtures(struct nnv_case_list *list, const char *row, struct nnv_case c,
                                                 const char *prefix, struct nnv_err *err);
/** The fixture model of such a case. */
static inline const struct nnv_fixture_kind *nnv_case_fixture(const struct nnv_case *c) { return &nnv_fixtures[c->d]; }

/** Numbers that are turned by one break what the operation demands of them: keys ascend, corners of boxes are in order.
 */
bool nnv_has_order(const struct nnv_op *op);

/* ------------------------------------------------------------------- running */

/** The fixture model with inputs drawn by seed, evaluated for what to expect. */
bool nnv_context_drawn(struct nnv_context *s, const struct nnv_fixture_kind *kind, uint64_t seed,
                       struct nnv_fixture *fixture);
/** Prepares the model, and makes a request whose inputs may only be read. */
bool nnv_context_ready(struct nnv_context *s, const struct nnv_fixture *fixture, struct nnvts_prepared_model **prepared,
                       struct nnv_request *values);

#endif
