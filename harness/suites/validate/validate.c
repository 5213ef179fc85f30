/* SPDX-License-Identifier: Apache-2.0 */
/** @file validate.c The suite "validate": what a driver must refuse, and what it must not. */
#include "harness/suites/validate/list.h"

#include <stdio.h>

#include "harness/suites/kit/cases.h"
#include "harness/suites/kit/fixture_models.h"
#include "harness/suites/suites.h"
#include "nnvts/result.h"
#include "randgraph/single/single.h"
#include "reference/model/validate.h"

/* ------------------------------------------------------------------- the model */

/** What a case has at hand. */
struct fixture {
    struct nnv_context *s;
    const struct nnv_case *c;
    const struct nnv_spec *spec;
    struct nnv_fixture fixture;
    uint64_t pick;
};

static bool applied(struct nnv_context *s, enum nnv_applied a) {
    if (a == NNV_APPLY_FAILED) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    return a == NNV_APPLIED;
}

/** How the case's operation gets its numbers from the request: as it always does, as tensors, or as scalars. */
static void give_numbers(struct nnv_single *w) {
    const struct nnv_form *form = &w->op->forms[0];
    bool indices = false, tensors = false;
    for (uint8_t i = 0; i < form->nin; i++) {
        if (!nnv_slot_is_number(&form->in[i]) || form->in[i].flags & NNV_SCALAR) continue;
        tensors = true;
        indices |= !(form->in[i].flags & NNV_PARAM);
    }
    if (indices) return;
    w->plan = NNV_PLAN_INPUTS;
    w->index = 2 * w->index + !tensors;
}

/** A model of the case: each attempt takes another variant or other values. */
static bool build(struct fixture *b, int attempt) {
    enum { INDICES = 3 }; /* the third index of a variant leaves more to the request than the others */
    struct nnv_arena *arena = b->s->env->arena;
    struct nnv_err err = {0};
    struct nnv_spec *spec;
    const struct nnv_op *op = b->c->data;
    const int variants = op ? nnv_single_variants(op) : 1;
    struct nnv_single w = {.op = op,
                           .sig = (int)b->c->c,
                           .variant = attempt / INDICES % variants,
                           .index = attempt / INDICES / variants * INDICES + attempt % INDICES,
                           .seed = b->s->env->config->seed,
                           .name = b->c->name};
    if (op && b->c->b == NNV_VALIDATE_REQUEST && nnv_request_mutators[b->c->a].needs & NNV_NEEDS_NUMBER)
        give_numbers(&w);
    enum nnv_status st = op ? nnv_single_build(&w, arena, &spec, &err)
                            : nnv_fixture_build(&nnv_fixtures[b->c->c], w.seed, arena, &spec, &err);
    if (st) return nnv_context_error(b->s, "%s", err.text);
    b->spec = spec;
    return true;
}

/** Random results are not judged. */
static void ignore_random(struct nnv_fixture *fixture) {
    const struct nnv_subgraph *main = &fixture->spec->model.main;
    for (uint32_t i = 0; i < main->noperations; i++)
        for (uint32_t k = 0; k < main->nout && main->operations[i].type == ANEURALNETWORKS_RANDOM_MULTINOMIAL; k++)
            fixture->expected[k].ignored = true;
}

static bool take_fixture(struct nnv_context *s, const struct nnv_spec *spec, struct nnv_fixture *fixture) {
    if (!nnv_result_level(s->env, spec->min_version, s->result) || !nnv_context_model(s, spec, fixture)) return false;
    ignore_random(fixture);
    return true;
}

/* ------------------------------------------------------------------ the verdicts */

/** The valid model is prepared, executed and right. */
static bool still_serves(struct fixture *b) {
    struct nnv_request v;
    struct nnvts_prepared_model *prepared = nnv_context_prepare(b->s, &b->fixture);
    bool ok = prepared && nnv_context_request(b->s, &b->fixture, NNV_POOL_READ_ONLY, &v) &&
              nnv_context_execute(b->s, prepared, &v);
    nnv_context_release(b->s, prepared);
    return ok;
}

/** The valid model serves. If not, that is another suite's to tell: nothing is known of what is made of it. A driver
 * that has died fails. */
static bool serves(struct fixture *b) {
    struct nnv_result *r = b->s->result;
    if (still_serves(b)) return true;
    if (r->verdict != NNVTS_FAIL || r->worker_damaged || r->died) return false;
    struct nnv_text why = r->reason;
    r->reason = (struct nnv_text){0};
    r->verdict = NNVTS_PASS;
    nnv_context_decline(b->s, NNVTS_WHY_VALID_MODEL, "the valid model does not run: %s", why.data ? why.data : "");
    nnv_text_free(&why);
    return false;
}

static bool offer_supported(struct nnv_context *s, const struct nnv_mutation *m, const char *call, uint32_t wanted) {
    enum { MORE = 64 };
    bool *supported = NNV_NEW(s->env->arena, bool, m->abi.main.operation_count + MORE);
    char text[320];
    if (!supported) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    snprintf(text, sizeof text, "get_supported_operations of a model %s", call);
    nnv_context_enter(s, NNV_PHASE_SUPPORTED);
    return nnv_expect_status_in(s, text, s->device->get_supported_operations(s->device, &m->abi, supported), wanted);
}

/** What was prepared is executed, which must fail. */
static bool refused_late(struct fixture *b, struct nnvts_prepared_model *prepared, const char *call) {
    struct nnv_request v;
    if (!nnv_context_request(b->s, &b->fixture, NNV_POOL_READ_ONLY, &v)) return false;
    const enum nnvts_status st = nnv_context_sync(b->s, prepared, &v);
    return nnv_context_check_memory(b->s, "execute", &v) &&
           nnv_expect_why(b->s, st != NNVTS_STATUS_NONE, NNVTS_WHY_ACCEPTED, "executed a model %s", call);
}

static bool offer_prepare(struct fixture *b, const struct nnv_mutation *m, const char *call, uint32_t wanted) {
    struct nnv_context *s = b->s;
    struct nnvts_prepared_model *prepared = NULL;
    char text[320];
    snprintf(text, sizeof text, "prepare_model of a model %s", call);
    nnv_context_enter(s, NNV_PHASE_PREPARE);
    enum nnvts_status st = s->device->prepare_model(s->device, &m->abi, &m->config, &prepared);
    bool ok = nnv_expect_status_in(s, text, st, wanted);
    if (st != NNVTS_STATUS_NONE) return nnv_expect(s, !prepared, "%s failed, but gave a prepared model", text) && ok;
    if (prepared && nnv_is_late(s)) ok = refused_late(b, prepared, call) && ok;
    nnv_context_release(s, prepared);
    return ok;
}

/** Renders a model into memory of the context. */
static bool render(struct nnv_context *s, const struct nnv_spec *spec, const struct nnv_model *model,
                   struct nnvts_model *abi) {
    struct nnv_spec changed = *spec;
    struct nnv_fixture fixture;
    changed.model = *model;
    if (!nnv_context_render(s, &changed, &fixture)) return false;
    *abi = fixture.model;
    return true;
}

/** The mutant is refused. *did: there was a place for it. */
static bool refuse_model(struct fixture *b, const struct nnv_model_mutator *row, bool *did) {
    struct nnv_context *s = b->s;
    struct nnv_mutation m;
    struct nnvts_model abi;
    char call[256];
    *did = applied(s, nnv_mutation_make(&m, row, b->spec, b->pick, s->env->arena)) &&
           render(s, b->spec, m.model, &abi) && applied(s, nnv_mutation_rendered(&m, &abi));
    if (!*did) return s->result->verdict == NNVTS_PASS;
    const uint32_t refused = NNV_ST_INVALID, late = nnv_is_late(s) ? NNV_ST_NONE | NNV_ST_FAILURE : 0;
    snprintf(call, sizeof call, "that breaks a rule (%s)", row->rule);
    bool ok = offer_supported(s, &m, call, (row->supported ? row->supported : refused) | late);
    return offer_prepare(b, &m, call, (row->prepare ? row->prepare : refused) | late) && ok;
}

static bool run_model(struct fixture *b) {
    bool did;
    if (refuse_model(b, nnv_model_mutator((size_t)b->c->a), &did) && did) still_serves(b);
    return did;
}

static bool refuse_request(struct fixture *b, const struct nnv_request_mutator *row,
                           struct nnvts_prepared_model *prepared, struct nnv_request *v, bool *did) {
    struct nnv_request_mutation m;
    *did = applied(b->s, nnv_request_make(&m, row, v, b->pick, b->s->env->arena));
    if (!*did) return b->s->result->verdict == NNVTS_PASS;
    if (!nnv_request_refused(b->s, prepared, &m, v)) return false;
    return nnv_context_execute(b->s, prepared, v);
}

static bool run_request(struct fixture *b) {
    struct nnv_request v;
    struct nnvts_prepared_model *prepared = nnv_context_prepare(b->s, &b->fixture);
    bool did = true;
    if (prepared && nnv_context_request(b->s, &b->fixture, NNV_POOL_READ_ONLY, &v))
        refuse_request(b, &nnv_request_mutators[b->c->a], prepared, &v, &did);
    nnv_context_release(b->s, prepared);
    return did;
}

/** All operations are supported, unless the row is one that may be declined. */
static bool boundary_supported(struct nnv_context *s, const struct nnv_mutation *m,
                               const struct nnv_boundary_case *row) {
    struct nnv_preparation p = {.device = s->device, .abi = &m->abi, .phase = s->env->phase};
    char call[256];
    snprintf(call, sizeof call, "get_supported_operations of a valid model (%s)", row->what);
    const bool answered = nnv_ask_supported(&p, s->env->arena);
    if (!nnv_expect_kept(s, call, &p.breach, 0) || !nnv_expect_status(s, call, p.status, NNVTS_STATUS_NONE))
        return false;
    for (uint32_t i = 0; answered && i < m->abi.main.operation_count; i++) {
        if (p.supported[i]) continue;
        if (row->optional)
            return nnv_context_decline(s, NNVTS_WHY_INTERFACE, "the driver does not support %s", row->what);
        return nnv_expect(s, false, "the driver supports the model, but operation %u no longer: %s", i, row->what);
    }
    return answered;
}

/** The valid boundary case is accepted, and right. */
static bool accept_boundary_case(struct fixture *b, const struct nnv_boundary_case *row, bool *did) {
    struct nnv_context *s = b->s;
    struct nnv_mutation m;
    struct nnv_fixture fixture;
    struct nnv_request v;
    int level = 0;
    char call[256];
    *did = applied(s, nnv_boundary_case_make(&m, row, b->spec, b->pick, s->env->arena)) &&
           nnv_validate(m.model, s->env->arena, &level, NULL) == NNV_OK && level <= s->device->feature_level;
    if (!*did) return s->result->verdict == NNVTS_PASS;
    if (!take_fixture(s, m.spec, &fixture)) return false;
    if (!nnv_mutation_take(&m, &fixture.model)) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    *did = (!row->abi_change || row->abi_change(&m)) && nnv_context_request(s, &fixture, NNV_POOL_WRITABLE, &v) &&
           (!row->request_change || row->request_change(s, row, &v));
    if (!*did) return s->result->verdict == NNVTS_PASS;
    if (!boundary_supported(s, &m, row)) return false;
    struct nnv_preparation p = {.device = s->device, .abi = &m.abi, .config = &m.config, .phase = s->env->phase};
    nnv_prepare(&p);
    snprintf(call, sizeof call, "prepare_model of a valid model (%s)", row->what);
    if (!nnv_expect_kept(s, call, &p.breach, 2) || !nnv_expect_status(s, call, p.status, NNVTS_STATUS_NONE))
        return false;
    snprintf(call, sizeof call, "execute (%s)", row->what);
    bool ok = nnv_context_check_values(s, call, nnv_context_sync(s, p.prepared, &v), &v);
    nnv_context_release(s, p.prepared);
    return ok;
}

static bool run_boundary_case(struct fixture *b) {
    bool did;
    accept_boundary_case(b, &nnv_boundary_cases[b->c->a], &did);
    return did;
}

/* ----------------------------------------------------------------------- specs */

/** Whether a row's turn is in this spec: all in tier full, else one in a few. */
static bool has_turn(const struct fixture *b, enum nnv_validate_table table, size_t i,
                     const struct nnv_validate_row *row) {
    enum { ONE_IN = 16 };
    const int tier = nnv_tier(b->s->env->config);
    if (row->level > b->s->device->feature_level) return false;
    return tier >= NNV_VALIDATE_LAST_TIER || (b->pick + i * 7 + (uint64_t)table) % ONE_IN == 0;
}

static bool run_row(struct fixture *b, enum nnv_validate_table table, size_t i, struct nnvts_prepared_model *prepared,
                    struct nnv_request *v) {
    bool did;
    switch (table) {
    case NNV_VALIDATE_MODEL:
        return refuse_model(b, nnv_model_mutator(i), &did);
    case NNV_VALIDATE_REQUEST:
        return refuse_request(b, &nnv_request_mutators[i], prepared, v, &did);
    case NNV_VALIDATE_BOUNDARY:
        return nnv_boundary_cases[i].optional || accept_boundary_case(b, &nnv_boundary_cases[i], &did);
    case NNV_VALIDATE_TABLES:
        break;
    }
    return false;
}

/** Many rows on the model of a spec file, those that have a place in it; and the valid model at the end. */
static void run_spec(struct fixture *b) {
    struct nnv_context *s = b->s;
    struct nnv_request v;
    struct nnv_validate_row row;
    struct nnvts_prepared_model *prepared = nnv_context_prepare(s, &b->fixture);
    bool ok =
        prepared && nnv_context_request(s, &b->fixture, NNV_POOL_READ_ONLY, &v) && nnv_context_execute(s, prepared, &v);
    for (int table = 0; table < NNV_VALIDATE_TABLES && ok; table++)
        for (size_t i = 0; ok && nnv_validate_row_at((enum nnv_validate_table)table, i, &row); i++)
            if (has_turn(b, (enum nnv_validate_table)table, i, &row) &&
                !run_row(b, (enum nnv_validate_table)table, i, prepared, &v))
                ok = nnv_expect(s, false, "in %s/%s", nnv_validate_tables[table], row.name);
    nnv_context_release(s, prepared);
    if (ok) still_serves(b);
}

static bool build_spec(struct fixture *b) {
    enum { LARGE_BYTES = 1 << 20, LARGE_OPERATIONS = 20 };
    struct nnv_context *s = b->s;
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    int level;
    enum nnv_status st = nnv_suite_spec.build(s->env->config, b->c, s->env->arena, &spec, &err);
    if (!st) st = nnv_validate(&spec->model, s->env->arena, &level, &err);
    if (st == NNV_UNSUPPORTED) return nnv_context_decline(s, NNVTS_WHY_NO_REFERENCE, "%s", err.text);
    if (st == NNV_INVALID) return nnv_context_decline(s, NNVTS_WHY_MALFORMED, "%s", err.text);
    if (st) return nnv_context_error(s, "%s", err.text);
    b->spec = spec;
    if (nnv_abi_pool_bytes(&spec->model) > LARGE_BYTES || spec->model.main.noperations > LARGE_OPERATIONS)
        return nnv_context_decline(s, NNVTS_WHY_REDUNDANT, "the model is large, and smaller ones tell as much");
    if (spec->min_version < level) spec->min_version = level;
    return true;
}

/* -------------------------------------------------------------------- the suite */

/** The case's row on the first model that has a place for it. */
static void run_row_case(struct fixture *b) {
    static bool (*const runs[NNV_VALIDATE_TABLES])(struct fixture * b) = {run_model, run_request, run_boundary_case};
    const int attempts = b->c->data ? 24 : 1;
    for (int i = 0; i < attempts; i++)
        if (!build(b, i) || !take_fixture(b->s, b->spec, &b->fixture) || !serves(b) || runs[b->c->b](b) ||
            b->s->result->verdict != NNVTS_PASS)
            return;
    nnv_context_decline(b->s, NNVTS_WHY_NOT_APPLICABLE, "no model of this operation can be changed so");
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    struct fixture b = {.s = &s, .c = c, .pick = nnv_hash_str(c->name)};
    nnv_context_begin(&s, env, result);
    if (!c->d)
        run_row_case(&b);
    else if (build_spec(&b) && take_fixture(&s, b.spec, &b.fixture))
        run_spec(&b);
    nnv_context_end(&s);
}

const struct nnv_suite nnv_suite_validate = {
    .name = "validate",
    .summary = "models and requests with one mistake each, which a driver must refuse, and what only looks like one",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = nnv_validate_list,
    .run = run,
};
