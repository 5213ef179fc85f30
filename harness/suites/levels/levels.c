/* SPDX-License-Identifier: Apache-2.0 */
/** @file levels.c The suite "levels": what a driver makes of operations, types and extensions that it does not know. */
#include "harness/suites/levels/levels.h"

#include <stdio.h>
#include <string.h>

#include "harness/suites/shapes/shapes.h"
#include "harness/suites/kit/cases.h"
#include "harness/suites/suites.h"
#include "nnvts/result.h"
#include "randgraph/single/single.h"
#include "reference/model/validate.h"

/* ----------------------------------------------------------------- receiving */

static bool ask(struct nnv_context *s, struct nnv_preparation *p, struct nnv_reception *r) {
    r->supported = NNV_NEW(s->env->arena, bool, p->abi->main.operation_count);
    r->count = p->abi->main.operation_count;
    if (!r->supported) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    const bool told = nnv_ask_supported(p, s->env->arena);
    r->supported_status = p->status;
    for (uint32_t i = 0; i < r->count && told; i++) r->supported[i] = p->supported[i];
    return nnv_expect_kept(s, p->call, &p->breach, 1 + (told ? r->count : 0)) &&
           nnv_expect_status_in(s, p->call, p->status, 1u << NNVTS_STATUS_NONE | 1u << NNVTS_STATUS_INVALID_ARGUMENT);
}

static enum nnvts_status due(const struct nnv_reception *r) {
    if (r->supported_status != NNVTS_STATUS_NONE) return r->supported_status;
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->supported[i]) return NNVTS_STATUS_GENERAL_FAILURE;
    return NNVTS_STATUS_NONE;
}

bool nnv_receive(struct nnv_context *s, const struct nnvts_model *model, struct nnv_reception *r) {
    struct nnv_preparation p = {.device = s->device, .abi = model, .phase = s->env->phase};
    *r = (struct nnv_reception){0};
    if (!ask(s, &p, r)) return false;
    nnv_prepare(&p);
    r->prepare_status = p.status;
    r->prepared = p.prepared;
    if (!nnv_expect_kept(s, p.call, &p.breach, p.status == NNVTS_STATUS_NONE ? 2 : 1)) return false;
    return nnv_expect_status(s, "prepare_model, by what get_supported_operations claims,", r->prepare_status, due(r));
}

/* -------------------------------------------------------------------- levels */

/*
 * A model above the driver's level is refused, or not supported; one within is valid. The level is the model's: the
 * values of this spec may need a higher one, when they are executed.
 */
static void expect_by_level(struct nnv_context *s, const struct nnv_spec *spec) {
    struct nnv_fixture fixture;
    struct nnv_reception r = {0};
    struct nnv_err err = {0};
    const int has = s->device->feature_level;
    int needs;
    if (nnv_validate(&spec->model, s->env->arena, &needs, &err) != NNV_OK) {
        nnv_context_error(s, "%s", err.text);
        return;
    }
    if (nnv_device_limits(s->device) & NNVTS_LIMIT_CANNOT_BE_ASKED) {
        nnv_context_decline(s, NNVTS_WHY_INTERFACE, "nobody can ask the driver whether it supports a model");
        return;
    }
    if (!nnv_context_render(s, spec, &fixture)) return;
    if (nnv_receive(s, &fixture.model, &r)) {
        bool all = r.supported_status == NNVTS_STATUS_NONE;
        for (uint32_t i = 0; i < r.count; i++) all = all && r.supported[i];
        if (needs > has)
            nnv_expect(s, !all, "a model of feature level %d is claimed to be supported by a driver of level %d", needs,
                       has);
        else
            nnv_expect_status(s, "get_supported_operations of a model within the driver's feature level",
                              r.supported_status, NNVTS_STATUS_NONE);
    }
    nnv_context_release(s, r.prepared);
}

/* --------------------------------------------------------------- same answers */

/** A change of a model that means nothing. */
struct disguise {
    const char *name;
    bool (*wear)(struct nnv_context *s, const struct nnv_fixture *fixture, struct nnvts_model *model);
};

/* A pool that nothing lies in. */
static bool add_pool(struct nnv_context *s, const struct nnv_fixture *fixture, struct nnvts_model *model) {
    const uint32_t n = model->pool_count;
    struct nnvts_memory *pools = NNV_NEW(s->env->arena, struct nnvts_memory, (size_t)n + 1);
    uint8_t *writable;
    (void)fixture;
    if (!pools) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    if (n) memcpy(pools, model->pools, n * sizeof *pools);
    model->pools = pools;
    model->pool_count = n + 1;
    return nnv_context_memory(s, 64, NNV_POOL_READ_ONLY, &pools[n], &writable);
}

/* Bytes behind the values that no operand names. */
static bool add_values(struct nnv_context *s, const struct nnv_fixture *fixture, struct nnvts_model *model) {
    enum { MORE = 64 };
    uint8_t *values = NNV_NEW(s->env->arena, uint8_t, (size_t)model->operand_values_bytes + MORE);
    (void)fixture;
    if (!values) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    if (model->operand_values_bytes) memcpy(values, model->operand_values, model->operand_values_bytes);
    model->operand_values = values;
    model->operand_values_bytes += MORE;
    return true;
}

static bool add_extension(struct nnv_context *s, const struct nnv_fixture *fixture, struct nnvts_model *model) {
    static const struct nnvts_extension_prefix unused[] = {{"com.example.nnvts.unused", 9}};
    (void)s, (void)fixture;
    model->extension_count = 1;
    model->extensions = unused;
    return true;
}

/* The constants of the pool as copies. */
static bool copy_constants(struct nnv_context *s, const struct nnv_fixture *fixture, struct nnvts_model *model) {
    const uint32_t n = model->main.operand_count;
    size_t bytes = model->operand_values_bytes;
    struct nnvts_operand *operands = nnv_arena_copy(s->env->arena, model->main.operands, n * sizeof *operands);
    for (uint32_t i = 0; i < n; i++)
        if (model->main.operands[i].lifetime == NNVTS_CONSTANT_REFERENCE)
            bytes += ((size_t)model->main.operands[i].location.length + 3) / 4 * 4;
    uint8_t *values = NNV_NEW(s->env->arena, uint8_t, bytes);
    if (!operands || !values) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    size_t at = model->operand_values_bytes;
    if (at) memcpy(values, model->operand_values, at);
    for (uint32_t i = 0; i < n; i++) {
        struct nnvts_location *l = &operands[i].location;
        if (operands[i].lifetime != NNVTS_CONSTANT_REFERENCE) continue;
        memcpy(values + at, fixture->constants + l->offset, l->length);
        operands[i].lifetime = NNVTS_CONSTANT_COPY;
        *l = (struct nnvts_location){.offset = (uint32_t)at, .length = l->length};
        at += ((size_t)l->length + 3) / 4 * 4;
    }
    model->main.operands = operands;
    model->operand_values = values;
    model->operand_values_bytes = (uint32_t)bytes;
    return true;
}

/* The pool of the constants without a pointer: it must be mapped. */
static bool hide_pointers(struct nnv_context *s, const struct nnv_fixture *fixture, struct nnvts_model *model) {
    struct nnvts_memory *pools = nnv_arena_copy(s->env->arena, model->pools, model->pool_count * sizeof *pools);
    (void)fixture;
    if (!pools) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    for (uint32_t i = 0; i < model->pool_count; i++) pools[i].data = NULL;
    model->pools = pools;
    return true;
}

static const struct disguise disguises[] = {
    {"unused_pool", add_pool},           {"unused_values", add_values},
    {"unused_extension", add_extension}, {"copied_constants", copy_constants},
    {"pools_by_file", hide_pointers},
};
enum { DISGUISES = sizeof disguises / sizeof *disguises };

/* What means the same is answered the same, and computes the same. */
static void expect_same(struct nnv_context *s, const struct nnv_spec *spec, const struct disguise *d) {
    struct nnv_fixture fixture;
    struct nnv_request values;
    struct nnv_reception plain = {0}, disguised = {0};
    if (!nnv_context_model(s, spec, &fixture)) return;
    struct nnvts_model model = fixture.model;
    if (!nnv_context_supports(s, &fixture) || !d->wear(s, &fixture, &model) || !nnv_receive(s, &fixture.model, &plain))
        goto out;
    if (!nnv_receive(s, &model, &disguised)) goto out;
    if (!nnv_expect(s, plain.supported_status == disguised.supported_status,
                    "a model is valid and, with %s, invalid, or the other way round", d->name))
        goto out;
    for (uint32_t i = 0; i < plain.count; i++)
        nnv_expect(s, plain.supported[i] == disguised.supported[i], "operation %u: with %s, the answer is another", i,
                   d->name);
    if (disguised.prepared && nnv_context_request(s, &fixture, NNV_POOL_READ_ONLY, &values))
        nnv_context_execute(s, disguised.prepared, &values);
    else if (!disguised.prepared)
        nnv_context_decline(s, NNVTS_WHY_OPERATION, "the driver does not support the model");
out:
    nnv_context_release(s, plain.prepared);
    nnv_context_release(s, disguised.prepared);
}

/* ------------------------------------------------------------------ registry */

enum group { EXTENSION, SAME, DECLARED, EMPTY, OPEN };

/* What the suite's models of one signature are: as they come, with no elements, with open shapes. */
static enum nnv_status add_signature(struct nnv_case_list *list, int tier, const struct nnv_op *op, int sig,
                                     struct nnv_err *err) {
    static const char *const names[] = {[DECLARED] = "declared", [EMPTY] = "empty", [OPEN] = "open"};
    const int most[] = {1, 3, 1000}, n = nnv_single_variants(op);
    const char *type = nnv_type(op->sigs[sig].type[NNV_T])->tag;
    enum nnv_status st = NNV_OK;
    char types[96];
    nnv_single_sig_name(op, sig, types, sizeof types);
    for (int group = DECLARED; group <= OPEN; group++) {
        if (group == EMPTY && !nnv_single_has(op, sig, NNV_FILL_ZERO)) continue;
        for (int v = 0; v < n && v < most[tier] && (v == 0 || group == DECLARED) && !st; v++) {
            const int variant = (v + sig) % n; /* signatures differ in those that they take */
            const struct nnv_case c = {.op = op->name,
                                       .type = type,
                                       .a = (uint64_t)group,
                                       .b = (uint64_t)sig,
                                       .c = (uint64_t)variant,
                                       .data = op};
            st =
                nnv_list_case(list, c, err, "levels/%s/%s/%s/%s", names[group], op->name, types, op->variants[variant]);
        }
    }
    return st;
}

static enum nnv_status list_all(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < nnv_extension_case_count && !st; i++)
        st = nnv_list_case(list, (struct nnv_case){.tags = "extension", .a = EXTENSION, .b = i}, err,
                           "levels/extension/%s", nnv_extension_cases[i].name);
    for (size_t d = 0; d < DISGUISES && !st; d++) {
        char row[64];
        snprintf(row, sizeof row, "levels/same/%s", disguises[d].name);
        st = nnv_list_fixtures(list, row, (struct nnv_case){.a = SAME, .b = d}, NULL, err);
    }
    for (size_t i = 0; i < n; i++)
        for (int sig = 0; sig < ops[i]->nsigs && !st; sig++)
            st = add_signature(list, nnv_tier(config), ops[i], sig, err);
    return st;
}

static void run_single(struct nnv_context *s, const struct nnv_case *c) {
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    uint32_t opened;
    const struct nnv_single w = {.op = c->data,
                                 .sig = (int)c->b,
                                 .variant = (int)c->c,
                                 .mode = c->a == EMPTY ? NNV_FILL_ZERO : NNV_FILL_NORMAL,
                                 .seed = s->env->config->seed,
                                 .name = c->name};
    enum nnv_status st = nnv_single_build(&w, s->env->arena, &spec, &err);
    if (!st && c->a == OPEN)
        st = nnv_shapes_open(spec, NNV_OPEN_OUTPUTS | NNV_OPEN_RANKS, s->env->arena, &spec, &opened, &err);
    if (st)
        nnv_context_error(s, "%s", err.text);
    else
        expect_by_level(s, spec);
}

static void run_same(struct nnv_context *s, const struct nnv_case *c) {
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    if (nnv_fixture_build(nnv_case_fixture(c), s->env->config->seed, s->env->arena, &spec, &err) != NNV_OK)
        nnv_context_error(s, "%s", err.text);
    else if (nnv_result_level(s->env, spec->min_version, s->result))
        expect_same(s, spec, &disguises[c->b]);
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    nnv_context_begin(&s, env, result);
    if (c->a == EXTENSION)
        nnv_extension_run(&s, &nnv_extension_cases[c->b]);
    else if (c->a == SAME)
        run_same(&s, c);
    else
        run_single(&s, c);
    nnv_context_end(&s);
}

const struct nnv_suite nnv_suite_levels = {
    .name = "levels",
    .summary = "operations and types above the driver's feature level, vendors' extensions, and equal models",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list_all,
    .run = run,
};
