/* SPDX-License-Identifier: Apache-2.0 */
/** @file partial.c Partial devices: what they say of themselves and of models. */
#include "harness/suites/partition/partial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "harness/client/driver.h"
#include "harness/suites/partition/partial_own.h"
#include "reference/abi/import.h"
#include "reference/model/validate.h"

static struct nnv_partial *own(struct nnvts_device *device) { return (struct nnv_partial *)device; }

void nnv_partial_complain(struct nnv_partial *p, bool by_driver, const char *fmt, ...) {
    va_list ap;
    pthread_mutex_lock(&p->lock);
    if (!p->complaint[0]) {
        va_start(ap, fmt);
        vsnprintf(p->complaint, sizeof p->complaint, fmt, ap);
        va_end(ap);
        p->by_driver = by_driver;
    }
    pthread_mutex_unlock(&p->lock);
}

/* -------------------------------------------------------------------- shares */

static uint64_t mix(uint64_t hash, const void *data, size_t bytes) {
    const uint64_t pair[] = {hash, nnv_hash_bytes(data, bytes)};
    return nnv_hash_bytes(pair, sizeof pair);
}

static uint64_t mix_operand(uint64_t hash, const struct nnvts_model *model, const struct nnvts_operand *o) {
    const bool scalar = nnv_type(o->type) && !nnv_type(o->type)->tensor;
    hash = mix(hash, &o->type, sizeof o->type);
    if (o->dimension_count) hash = mix(hash, o->dimensions, o->dimension_count * sizeof *o->dimensions);
    if (o->scale != 0) hash = mix(mix(hash, &o->scale, sizeof o->scale), &o->zero_point, sizeof o->zero_point);
    if (o->lifetime == NNVTS_CONSTANT_COPY || o->lifetime == NNVTS_CONSTANT_REFERENCE) hash = mix(hash, "constant", 8);
    const void *value = scalar ? ref_constant(model, o) : NULL;
    return value ? mix(hash, value, o->location.length) : hash;
}

uint64_t nnv_partial_signature(const struct nnvts_model *model, const struct nnvts_subgraph *graph,
                               const struct nnvts_operation *op) {
    uint64_t hash = mix(op->input_count, &op->type, sizeof op->type);
    for (uint32_t i = 0; i < op->input_count; i++) hash = mix_operand(hash, model, &graph->operands[op->inputs[i]]);
    for (uint32_t i = 0; i < op->output_count; i++) hash = mix_operand(hash, model, &graph->operands[op->outputs[i]]);
    return hash;
}

/* The operation belongs to this device, too. */
static bool is_mine(const struct nnv_partial_options *o, int32_t code, uint64_t signature) {
    struct nnv_rng rng = nnv_rng_make(o->seed, 0x5a4e, signature);
    if (o->no_control && (code == ANEURALNETWORKS_IF || code == ANEURALNETWORKS_WHILE)) return false;
    if (o->takes_first && signature == o->first) return true;
    switch (o->share) {
    case NNV_PARTIAL_ONE:
        return nnv_rng_int(&rng, 0, (int64_t)o->count - 1) == (int64_t)o->index && nnv_rng_int(&rng, 0, 9) != 0;
    case NNV_PARTIAL_SOME:
        return nnv_rng_u64(&rng) >> (o->index % 32) & 1;
    case NNV_PARTIAL_ALL:
        return true;
    }
    return false;
}

/* Where the answer to a signature stands, or would. NULL: there are too many. */
static struct nnv_partial_answer *find_answer(struct nnv_partial *p, uint64_t signature) {
    for (uint32_t n = 0; n < NNV_PARTIAL_ANSWERS; n++) {
        struct nnv_partial_answer *a = &p->answers[(signature + n) % NNV_PARTIAL_ANSWERS];
        if (!a->asked || a->signature == signature) return a;
    }
    return NULL;
}

static void remember(struct nnv_partial *p, uint64_t signature, bool yes) {
    pthread_mutex_lock(&p->lock);
    struct nnv_partial_answer *a = find_answer(p, signature);
    if (a) *a = (struct nnv_partial_answer){.signature = signature, .asked = true, .yes = yes};
    pthread_mutex_unlock(&p->lock);
}

int nnv_partial_said(const struct nnvts_device *device, uint64_t signature) {
    struct nnv_partial *p = (struct nnv_partial *)(uintptr_t)device;
    pthread_mutex_lock(&p->lock);
    const struct nnv_partial_answer *a = find_answer(p, signature);
    const int said = a && a->asked ? a->yes : -1;
    pthread_mutex_unlock(&p->lock);
    return said;
}

/* -------------------------------------------------------------------- models */

/* A model that a driver is given is valid, and within its level. */
static void check_model(struct nnv_partial *p, const char *call, const struct nnvts_model *model) {
    struct nnv_model *copy;
    struct nnv_err err = {0};
    int level = 0;
    bool extension;
    pthread_mutex_lock(&p->lock);
    nnv_arena_reset(p->arena);
    enum nnv_status st = NNV_OK;
    if (ref_copy(model, p->arena, &copy, &extension) != NNVTS_STATUS_NONE)
        st = nnv_fail(&err, NNV_INVALID, "an index, count or location of it leads nowhere");
    else if (!extension)
        st = nnv_validate(copy, p->arena, &level, &err);
    pthread_mutex_unlock(&p->lock);
    if (st == NNV_INVALID)
        nnv_partial_complain(p, false, "%s: %s was given an invalid model: %s", p->base.name, call, err.text);
    else if (!st && level > p->options.level)
        nnv_partial_complain(p, false, "%s: %s was given a model of level %d, the device has %d", p->base.name, call,
                             level, p->options.level);
}

static enum nnvts_device_status get_status(struct nnvts_device *self) {
    struct nnvts_device *inner = own(self)->options.inner;
    return atomic_load(&own(self)->dead) ? NNVTS_DEVICE_OFFLINE : inner->get_status(inner);
}

void nnv_partial_complain_of_answer(struct nnv_partial *p, const char *call, enum nnvts_status st) {
    char name[32];
    const char *words = st == NNVTS_STATUS_NONE ? NULL : nnv_device_last_error(p->options.inner);
    nnv_partial_complain(p, true, "%s: the driver answered %s to %s, expected NONE%s%s", p->base.name,
                         nnv_abi_status_name((int)st, name), call, words ? ": " : "", words ? words : "");
}

static enum nnvts_status get_supported_operations(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported) {
    struct nnv_partial *p = own(self);
    atomic_fetch_add(&p->supported, 1);
    if (atomic_load(&p->dead)) return NNVTS_STATUS_DEAD_OBJECT;
    check_model(p, "get_supported_operations", model);
    if (p->options.fault == NNV_PARTIAL_SUPPORTED) return p->options.status;
    if (p->options.fault == NNV_PARTIAL_UNFILLED) return NNVTS_STATUS_NONE;
    enum nnvts_status st = p->options.inner->get_supported_operations(p->options.inner, model, supported);
    if (st != NNVTS_STATUS_NONE) {
        nnv_partial_complain_of_answer(p, "get_supported_operations of a valid model", st);
        return st;
    }
    for (uint32_t i = 0; i < model->main.operation_count; i++) {
        const uint64_t signature = nnv_partial_signature(model, &model->main, &model->main.operations[i]);
        supported[i] = supported[i] && is_mine(&p->options, model->main.operations[i].type, signature);
        remember(p, signature, supported[i]);
    }
    return st;
}

static enum nnvts_status prepare_model(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    struct nnv_partial *p = own(self);
    struct nnvts_prepared_model *inner = NULL;
    atomic_fetch_add(&p->prepared, 1);
    if (atomic_load(&p->dead)) return NNVTS_STATUS_DEAD_OBJECT;
    check_model(p, "prepare_model", model);
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        if (nnv_partial_said(self, nnv_partial_signature(model, &model->main, &model->main.operations[i])) != 1)
            nnv_partial_complain(p, false,
                                 "%s: prepare_model was given operation %u of type %d, which the device never said "
                                 "that it supports",
                                 p->base.name, i, (int)model->main.operations[i].type);
    if (p->options.fault == NNV_PARTIAL_PREPARE) return p->options.status;
    if (p->options.fault == NNV_PARTIAL_NOTHING) return NNVTS_STATUS_NONE;
    enum nnvts_status st = p->options.inner->prepare_model(p->options.inner, model, config, &inner);
    if (st != NNVTS_STATUS_NONE) {
        nnv_partial_complain_of_answer(p, "prepare_model of operations that it supports", st);
        return st;
    }
    if (!inner || !inner->execute || !inner->release) {
        nnv_partial_complain(p, true, "%s: the driver answered NONE to prepare_model without a whole prepared model",
                             p->base.name);
        return NNVTS_STATUS_GENERAL_FAILURE;
    }
    return nnv_partial_wrap(p, model, inner, out);
}

static void release(struct nnvts_device *self) {
    struct nnv_partial *p = own(self);
    nnv_arena_free(p->arena);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ------------------------------------------------------------------ the device */

/* Around the unit: from half of it to twice it, in steps so large that devices may cost the same. */
static float price(const struct nnv_partial_options *o, uint64_t what) {
    struct nnv_rng rng = nnv_rng_make(o->seed, 0x971ce + o->index, what);
    return o->unit > 0 ? (float)(o->unit * (double)nnv_rng_int(&rng, 2, 8) / 4) : 1;
}

static struct nnvts_performance performance(const struct nnv_partial_options *o, uint64_t what) {
    return (struct nnvts_performance){price(o, 2 * what), price(o, 2 * what + 1)};
}

static void fill_capabilities(struct nnv_partial *p) {
    const struct nnvts_capabilities *theirs = &p->options.inner->capabilities;
    uint32_t n = 0;
    for (uint32_t i = 0; i < theirs->operand_performance_count && n < NNV_PARTIAL_TYPES; i++) {
        const int32_t type = theirs->operand_performance[i].type;
        p->performance[n++] = (struct nnvts_operand_performance){type, performance(&p->options, 100 + (uint64_t)type)};
    }
    p->base.capabilities = (struct nnvts_capabilities){.relaxed_scalar = performance(&p->options, 1),
                                                       .relaxed_tensor = performance(&p->options, 2),
                                                       .if_performance = performance(&p->options, 3),
                                                       .while_performance = performance(&p->options, 4),
                                                       .operand_performance_count = n,
                                                       .operand_performance = p->performance};
}

struct nnvts_device *nnv_partial_make(const struct nnv_partial_options *options) {
    struct nnv_partial *p = calloc(1, sizeof *p);
    if (!p || !(p->arena = nnv_arena_new())) {
        free(p);
        return NULL;
    }
    p->options = *options;
    pthread_mutex_init(&p->lock, NULL);
    p->base = (struct nnvts_device){
        .struct_size = sizeof p->base,
        .feature_level = options->level,
        .type = options->inner->type,
        .name = options->name,
        .version = options->inner->version,
        .get_status = get_status,
        .get_supported_operations = get_supported_operations,
        .prepare_model = prepare_model,
        .release = release,
    };
    fill_capabilities(p);
    return &p->base;
}

bool nnv_partial_is(const struct nnvts_device *device) { return device && device->prepare_model == prepare_model; }

struct nnv_partial_counts nnv_partial_counts(const struct nnvts_device *device) {
    struct nnv_partial *p = (struct nnv_partial *)(uintptr_t)device;
    return (struct nnv_partial_counts){atomic_load(&p->supported), atomic_load(&p->prepared),
                                       atomic_load(&p->executed)};
}

bool nnv_partial_untold(const struct nnvts_device *device) {
    return atomic_load(&((struct nnv_partial *)(uintptr_t)device)->untold);
}

const char *nnv_partial_complaint(const struct nnvts_device *device, bool *by_driver) {
    const struct nnv_partial *p = (const struct nnv_partial *)device;
    if (by_driver) *by_driver = p->by_driver;
    return p->complaint;
}
