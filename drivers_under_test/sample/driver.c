/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.c The device: a part of what cpu can do. Option: random-SEED, the name of a row of the table, or none:
 * the first row. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"
#include "sample.h"

enum { OPERAND_TYPES = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED + 1 };

struct sample_device {
    struct nnvts_device base;
    struct nnvts_device *inner;
    const struct sample *row;
    struct sample own; /**< the row, where it is of no table */
    char name[64];
    struct nnvts_operand_performance performance[OPERAND_TYPES];
};

/** A prepared model of which only the calls of HAL 1.0 can be seen. */
struct plain_prepared {
    struct nnvts_prepared_model base;
    struct nnvts_prepared_model *inner;
};

/* -------------------------------------------------------------- plain models */

static enum nnvts_status execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = ((struct plain_prepared *)self)->inner;
    return inner->execute(inner, request, config, result);
}

static enum nnvts_status execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                       void *context) {
    struct nnvts_prepared_model *inner = ((struct plain_prepared *)self)->inner;
    return inner->execute_async(inner, request, config, callback, context);
}

static void release_plain(struct nnvts_prepared_model *self) {
    struct plain_prepared *p = (struct plain_prepared *)self;
    p->inner->release(p->inner);
    free(p);
}

static enum nnvts_status make_plain(struct nnvts_prepared_model *inner, struct nnvts_prepared_model **out) {
    struct plain_prepared *p = calloc(1, sizeof *p);
    if (!p) {
        inner->release(inner);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    p->base = (struct nnvts_prepared_model){.struct_size = sizeof p->base,
                                            .execute = execute,
                                            .execute_async = inner->execute_async ? execute_async : NULL,
                                            .release = release_plain};
    p->inner = inner;
    *out = &p->base;
    return NNVTS_STATUS_NONE;
}

/* -------------------------------------------------------------------- device */

static enum nnvts_device_status get_status(struct nnvts_device *self) {
    struct nnvts_device *inner = ((struct sample_device *)self)->inner;
    return inner->get_status(inner);
}

static enum nnvts_status get_supported_operations(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported) {
    const struct sample_device *d = (struct sample_device *)self;
    enum nnvts_status st = d->inner->get_supported_operations(d->inner, model, supported);
    if (st != NNVTS_STATUS_NONE || !model || !supported) return st;
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        supported[i] = supported[i] && sample_supports(d->row, &model->main, &model->main.operations[i]) &&
                       (!d->row->conditional || sample_meets(model, &model->main.operations[i])) &&
                       (!d->row->cliffs || sample_below_cliff(model, &model->main.operations[i])) &&
                       (!d->row->plain || sample_is_old(model, &model->main.operations[i]));
    return NNVTS_STATUS_NONE;
}

/** NONE if the driver has all operations; GENERAL_FAILURE if not. */
static enum nnvts_status check_supported(struct nnvts_device *self, const struct nnvts_model *model) {
    const uint32_t count = model ? model->main.operation_count : 0;
    bool *supported = calloc((size_t)count + 1, sizeof *supported);
    if (!supported) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = get_supported_operations(self, model, supported);
    for (uint32_t i = 0; i < count && st == NNVTS_STATUS_NONE; i++)
        if (!supported[i]) st = NNVTS_STATUS_GENERAL_FAILURE;
    free(supported);
    return st;
}

static enum nnvts_status prepare_model(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    const struct sample_device *d = (struct sample_device *)self;
    struct nnvts_prepared_model *inner = NULL;
    if (!out) return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = check_supported(self, model);
    if (st == NNVTS_STATUS_NONE) st = d->inner->prepare_model(d->inner, model, config, &inner);
    if (st != NNVTS_STATUS_NONE) return st;
    if (d->row->plain) return make_plain(inner, out);
    if (d->row->cliffs) return sample_plant_cliff(model, inner, out);
    if (d->row->sums != SAMPLE_SUMS_RIGHT) return sample_plant_sums(d->row->sums, model, inner, out);
    *out = inner;
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status prepare_from_cache(struct nnvts_device *self, const struct nnvts_cache *cache,
                                            uint64_t deadline_ns, struct nnvts_prepared_model **out) {
    struct nnvts_device *inner = ((struct sample_device *)self)->inner;
    return inner->prepare_from_cache(inner, cache, deadline_ns, out);
}

static enum nnvts_status allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                  struct nnvts_buffer **out) {
    struct nnvts_device *inner = ((struct sample_device *)self)->inner;
    return inner->allocate(inner, desc, out);
}

static void release(struct nnvts_device *self) {
    struct sample_device *d = (struct sample_device *)self;
    d->inner->release(d->inner);
    free(d);
}

/* ------------------------------------------------------------------- opening */

static const struct sample *find_row(const char *name) {
    for (size_t i = 0; i < sample_count; i++)
        if (strcmp(samples[i].name, name) == 0) return &samples[i];
    return NULL;
}

static void fill_capabilities(struct sample_device *d) {
    const struct sample *row = d->row;
    const struct nnvts_capabilities *theirs = &d->inner->capabilities;
    uint32_t count = 0;
    for (uint32_t i = 0; i < theirs->operand_performance_count && count < OPERAND_TYPES; i++) {
        int32_t type = theirs->operand_performance[i].type;
        bool fast = sample_type_bit(type) == 0 || (sample_type_bit(type) & row->main_types);
        d->performance[count++] = (struct nnvts_operand_performance){type, fast ? row->fast : row->slow};
    }
    const struct nnvts_performance relaxed = row->main_types & SAMPLE_FLOAT32 ? row->fast : row->slow;
    const struct nnvts_performance control = row->hashed ? row->fast : (struct nnvts_performance){FLT_MAX, FLT_MAX};
    d->base.capabilities = (struct nnvts_capabilities){.relaxed_scalar = relaxed,
                                                       .relaxed_tensor = relaxed,
                                                       .if_performance = control,
                                                       .while_performance = control,
                                                       .operand_performance_count = count,
                                                       .operand_performance = d->performance};
}

static void fill_device(struct sample_device *d) {
    const bool plain = d->row->plain;
    snprintf(d->name, sizeof d->name, "nnvts-sample-%s", d->row->name);
    d->base = (struct nnvts_device){
        .struct_size = sizeof d->base,
        .feature_level = d->row->level,
        .type = d->row->type,
        .name = d->name,
        .version = d->inner->version,
        .model_cache_files = plain ? 0 : d->inner->model_cache_files,
        .data_cache_files = plain ? 0 : d->inner->data_cache_files,
        .get_status = get_status,
        .get_supported_operations = get_supported_operations,
        .prepare_model = prepare_model,
        .prepare_from_cache = !plain && d->inner->prepare_from_cache ? prepare_from_cache : NULL,
        .allocate = !plain && d->inner->allocate ? allocate : NULL,
        .release = release,
    };
    fill_capabilities(d);
}

static enum nnvts_status open_device(const char *options, struct nnvts_device **out, const char **error) {
    struct nnvts_device *inner = NULL;
    struct sample drawn;
    const struct sample *row = !options ? &samples[0] : sample_random(options, &drawn) ? &drawn : find_row(options);
    const char *reason =
        row ? common_open_cpu(NULL, &inner)
            : "expected random-SEED, float-fast, float-slow, quant, minimal, conditions, cliffs, sums-truncated, "
              "sums-upwards, sums-saturating, sums-pairs, sums-wrapping, level-1.0 or "
              "level-1.1 behind the colon";
    if (reason) {
        if (error) *error = reason;
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    struct sample_device *d = calloc(1, sizeof *d);
    if (!d) {
        inner->release(inner);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    d->inner = inner;
    d->own = *row;
    d->row = &d->own;
    fill_device(d);
    d->own.name = d->name;
    *out = &d->base;
    return NNVTS_STATUS_NONE;
}

const struct nnvts_driver *nnvts_driver_get(void) {
    enum { NAMES = 32 };
    static const char *names[NAMES], *wrong[NAMES];
    static struct nnvts_driver driver = {.struct_size = sizeof driver,
                                         .abi_version = NNVTS_DRIVER_ABI_VERSION,
                                         .name = "sample",
                                         .open = open_device,
                                         .options = names,
                                         .faults = wrong};
    names[0] = "random-1"; /* one of many */
    for (size_t i = 0, n = 0; i < sample_count && i + 2 < NAMES; i++) {
        names[i + 1] = samples[i].name;
        if (samples[i].wrong) wrong[n++] = samples[i].name;
    }
    return &driver;
}
