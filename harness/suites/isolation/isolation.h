/* SPDX-License-Identifier: Apache-2.0 */
/** @file isolation.h The parts of the suite "isolation". */
#ifndef NNV_SUITES_ISOLATION_H
#define NNV_SUITES_ISOLATION_H

#include "harness/runner/worker/resources.h"
#include "harness/suites/kit/context.h"
#include "harness/suites/kit/fixture_models.h"

/** A device that a case has opened beside the worker's, with a model on it. */
struct nnv_tenant {
    struct nnv_client client; /**< .device NULL: it borrows another's */
    struct nnv_case_env env;
    struct nnv_context context;
    struct nnv_fixture fixture;
    struct nnvts_prepared_model *prepared;
    struct nnv_request values;
};

/** Opens a device as the worker's was opened. False: the verdict is written. */
bool nnv_tenant_open(struct nnv_context *s, struct nnv_tenant *t);
/** Prepares the fixture, drawn by seed, on the tenant's device, or on another's. */
bool nnv_tenant_prepare(struct nnv_tenant *t, const struct nnv_fixture_kind *kind, uint64_t seed);
/** The same of a model that the caller has built. */
bool nnv_tenant_take(struct nnv_tenant *t, const struct nnv_spec *spec);
bool nnv_tenant_execute(struct nnv_tenant *t);
/** Releases what it has: the model, and the device if it opened one. */
void nnv_tenant_leave(struct nnv_tenant *t);

/** What a case of this suite is. */
struct nnv_isolation_case {
    const char *name;
    void (*run)(struct nnv_context *s, const struct nnv_fixture_kind *kind);
};

/* isolation_leaks.c */
void nnv_isolation_leak_devices(struct nnv_context *s, const struct nnv_fixture_kind *kind);
void nnv_isolation_leak_models(struct nnv_context *s, const struct nnv_fixture_kind *kind);
void nnv_isolation_leak_executions(struct nnv_context *s, const struct nnv_fixture_kind *kind);
void nnv_isolation_leak_bursts(struct nnv_context *s, const struct nnv_fixture_kind *kind);
void nnv_isolation_leak_fences(struct nnv_context *s, const struct nnv_fixture_kind *kind);
void nnv_isolation_leak_refusals(struct nnv_context *s, const struct nnv_fixture_kind *kind);
void nnv_isolation_leak_failures(struct nnv_context *s, const struct nnv_fixture_kind *kind);
void nnv_isolation_leak_late(struct nnv_context *s, const struct nnv_fixture_kind *kind);
void nnv_isolation_leak_caches(struct nnv_context *s, const struct nnv_fixture_kind *kind);
/**
 * Adds c for executions that end with an error of their own: operations that are given a number out of range,
 * and fixtures whose inputs do not fit each other.
 */
NNV_USE_RESULT enum nnv_status nnv_isolation_list_errors(struct nnv_case_list *list, struct nnv_case c, int tier,
                                                         struct nnv_err *err);
/** Such a case. */
void nnv_isolation_leak_errors(struct nnv_context *s, const struct nnv_case *c);
/* isolation_killed.c */
void nnv_isolation_client_killed(struct nnv_context *s, const struct nnv_fixture_kind *kind);

#endif
