/* SPDX-License-Identifier: Apache-2.0 */
/** @file devices.c Partial devices for a case, and what became of them. */
#include <string.h>

#include "harness/suites/partition/partition.h"
#include "harness/suites/partition/plan_check.h"
#include "nnvts/result.h"
#include "reference/model/op.h"

static const char *const names[NNV_PARTITION_DEVICES] = {"part-a", "part-b", "part-c", "part-d", "part-e", "part-f"};

static int64_t draw(struct nnv_partition_case *p, int64_t lo, int64_t hi) { return nnv_rng_int(&p->rng, lo, hi); }
static bool chance(struct nnv_partition_case *p, double probability) { return nnv_rng_unit(&p->rng) < probability; }

void nnv_partition_draw_devices(struct nnv_partition_case *p) {
    const double kind = nnv_rng_unit(&p->rng), cost = nnv_rng_unit(&p->rng);
    const uint64_t seed = nnv_rng_u64(&p->rng);
    const bool walked = chance(p, 0.5); /* the runtime does control flow itself, or the CPU */
    const int32_t most = p->s->device->feature_level;
    p->count = (uint32_t)draw(p, 1, NNV_PARTITION_DEVICES);
    for (uint32_t i = 0; i < p->count; i++) {
        const int32_t level = chance(p, 0.6) ? NNV_LEVEL_MAX : (int32_t)draw(p, NNV_LEVEL_MIN, NNV_LEVEL_MAX);
        p->options[i] = (struct nnv_partial_options){
            .inner = p->s->device,
            .name = names[i],
            .level = level < most ? level : most,
            .seed = seed,
            .share = kind < 0.5    ? NNV_PARTIAL_ONE
                     : kind < 0.85 ? NNV_PARTIAL_SOME
                                   : NNV_PARTIAL_ALL,
            .index = i,
            .count = p->count,
            .unit = cost < 0.75  ? 0.5
                    : cost < 0.9 ? 1
                                 : 0,
            .plain = level < 3 || chance(p, 0.2),
            .no_control = walked,
        };
    }
}

bool nnv_partition_supported(struct nnv_partition_case *p, uint32_t *op) {
    struct nnv_fixture fixture;
    if (!nnv_context_render(p->s, p->spec, &fixture)) return false;
    struct nnv_preparation asked = {.device = p->s->device, .abi = &fixture.model, .phase = p->s->env->phase};
    const bool above = p->s->device->feature_level < p->spec->min_version;
    /* to ask a library that can't be asked is to try what its interface does not have */
    const bool untold = above && nnv_device_limits(p->s->device) & NNVTS_LIMIT_CANNOT_BE_ASKED;
    const bool answered = !untold && nnv_ask_supported(&asked, p->s->env->arena);
    nnv_context_enter(p->s, NNV_PHASE_BUILD);
    /* a driver below the level of the model refuses it: the runtime will ask for parts of it */
    if (untold || (above && asked.status == NNVTS_STATUS_INVALID_ARGUMENT))
        return nnv_context_decline(p->s, NNVTS_WHY_FEATURE_LEVEL,
                                   "the driver does not have the feature level of the graph");
    struct nnv_text missing = {0};
    const bool lacks = nnv_not_implemented(&asked, &missing);
    if (lacks) nnv_context_decline(p->s, NNVTS_WHY_OPERATION, "%s", missing.data ? missing.data : "not implemented");
    nnv_text_free(&missing);
    if (lacks || !nnv_expect_kept(p->s, asked.call, &asked.breach, 0) ||
        !nnv_expect_status(p->s, asked.call, asked.status, NNVTS_STATUS_NONE))
        return false;
    for (*op = 0; answered && *op < fixture.model.main.operation_count; ++*op)
        if (asked.supported[*op]) return true;
    return nnv_context_decline(p->s, NNVTS_WHY_OPERATION, "the driver does not support any operation of the graph");
}

bool nnv_partition_begin(struct nnv_partition_case *p) {
    struct nnv_err err = {0};
    nnv_context_enter(p->s, NNV_PHASE_BUILD);
    for (uint32_t i = 0; i < p->count; i++)
        if (!(p->partial[i] = nnv_partial_make(&p->options[i]))) return nnv_context_error(p->s, NNV_OUT_OF_MEMORY);
    const char *unfit = nnv_rt_device_unfit(p->partial[0], &err);
    if (unfit) return nnv_context_decline(p->s, NNVTS_WHY_FEATURE, "the runtime leaves the driver out: %s", unfit);
    nnv_rt_device_override(p->partial, p->count);
    if (nnv_rt_device_count() != p->count + 1)
        return nnv_context_error(p->s, "the runtime has %zu devices instead of %u", nnv_rt_device_count(),
                                 p->count + 1);
    if (nnv_rt_model_from_spec(&p->spec->model, &p->built, NULL, &err) != NNV_OK)
        return nnv_context_error(p->s, "the runtime does not take the model: %s", err.text);
    return true;
}

/* ------------------------------------------------------------------ afterwards */

bool nnv_partition_check_devices(struct nnv_partition_case *p) {
    bool whole = true;
    for (uint32_t i = 0; i < p->count; i++) {
        const char *complaint = nnv_partial_complaint(p->partial[i], NULL);
        whole = nnv_expect(p->s, complaint[0] == 0, "%s", complaint) && whole;
    }
    return whole;
}

static void describe_device(const struct nnv_partition_case *p, uint32_t i, struct nnv_text *out) {
    static const char *const shares[] = {"its own", "some", "all"};
    const struct nnv_partial_options *o = &p->options[i];
    const struct nnv_partial_counts counts = nnv_partial_counts(p->partial[i]);
    const struct ANeuralNetworksModel *m = p->built.model;
    nnv_text_addf(out, "\n  %s: level %d%s%s, takes %s, prices around %g, prepared %u, executed %u; takes", o->name,
                  (int)o->level, o->plain ? ", HAL 1.0 executions" : "", o->no_control ? ", no control flow" : "",
                  shares[o->share], o->unit, counts.prepared, counts.executed);
    const struct nnvts_subgraph *s = m && m->state == NNV_RT_MODEL_FINISHED ? &m->model.main : NULL;
    for (uint32_t k = 0; s && k < s->operation_count; k++)
        if (nnv_partial_said(p->partial[i], nnv_partial_signature(&m->model, s, &s->operations[k])) == 1)
            nnv_text_addf(out, " %u", k);
}

/* Seed, devices with their support sets, and plan. */
static void describe(const struct nnv_partition_case *p) {
    struct nnv_text *out = &p->s->result->reason;
    const struct nnv_rt_plan *plan = p->compilation ? nnv_rt_compilation_plan(p->compilation) : NULL;
    nnv_text_addf(out,
                  "\nseed %llu, %s execution, %s, preference %d; devices:", (unsigned long long)p->s->env->config->seed,
                  nnv_mode_name(p->mode),
                  p->explicit_devices ? "devices named"
                  : p->strict         ? "no fallback"
                                      : "with fallback",
                  (int)p->preference);
    for (uint32_t i = 0; i < p->count; i++)
        if (p->partial[i]) describe_device(p, i, out);
    if (!plan) return;
    nnv_text_add(out, "\nplan:");
    nnv_plan_describe(plan, out);
}

void nnv_partition_end(struct nnv_partition_case *p) {
    if (p->s->result->verdict == NNVTS_FAIL) describe(p);
    nnv_context_enter(p->s, NNV_PHASE_RELEASE);
    ANeuralNetworksCompilation_free(p->compilation);
    nnv_rt_spec_model_free(&p->built);
    nnv_rt_device_override(NULL, 0);
    nnv_rt_device_forget();
    for (uint32_t i = 0; i < p->count; i++)
        if (p->partial[i]) p->partial[i]->release(p->partial[i]);
}
