/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file joint_driver.c
 * The driver named by its option, with a bug of fusing: where the result of an ADD is no output of the model, the first
 * byte of the first output is wrong. With the option "PATH,shown" instead: where the result is an output, it refuses.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nnvts/driver.h"

struct device {
    struct nnvts_device base;
    struct nnvts_device *real;
};
struct prepared {
    struct nnvts_prepared_model base;
    struct nnvts_prepared_model *real;
    bool hidden;
};
static bool refuses_shown;

static bool has_hidden_add(const struct nnvts_model *m) {
    for (uint32_t i = 0; i < m->main.operation_count; i++)
        if (m->main.operations[i].type == ANEURALNETWORKS_ADD &&
            m->main.operands[m->main.operations[i].outputs[0]].lifetime == NNVTS_TEMPORARY_VARIABLE)
            return true;
    return false;
}

static enum nnvts_status execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    struct prepared *p = (struct prepared *)self;
    if (refuses_shown && !p->hidden) return NNVTS_STATUS_GENERAL_FAILURE;
    enum nnvts_status status = p->real->execute(p->real, request, config, result);
    const struct nnvts_location *at = &request->outputs[0].location;
    if (status == NNVTS_STATUS_NONE && p->hidden)
        ((unsigned char *)request->pools[at->pool].data)[at->offset + at->length - 1] ^= 0x10;
    return status;
}

static void release_prepared(struct nnvts_prepared_model *self) {
    struct prepared *p = (struct prepared *)self;
    p->real->release(p->real);
    free(p);
}

static enum nnvts_device_status get_status(struct nnvts_device *self) {
    struct device *d = (struct device *)self;
    return d->real->get_status(d->real);
}

static enum nnvts_status get_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    struct device *d = (struct device *)self;
    return d->real->get_supported_operations(d->real, model, supported);
}

static enum nnvts_status prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                 const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    struct device *d = (struct device *)self;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status status = d->real->prepare_model(d->real, model, config, &p->real);
    if (status != NNVTS_STATUS_NONE) {
        free(p);
        return status;
    }
    p->base =
        (struct nnvts_prepared_model){.struct_size = sizeof p->base, .execute = execute, .release = release_prepared};
    p->hidden = has_hidden_add(model);
    *out = &p->base;
    return status;
}

static void release(struct nnvts_device *self) {
    struct device *d = (struct device *)self;
    d->real->release(d->real);
    free(d);
}

static enum nnvts_status open_device(const char *options, struct nnvts_device **out, const char **error) {
    char path[4096];
    snprintf(path, sizeof path, "%s", options ? options : "");
    char *comma = strchr(path, ',');
    refuses_shown = comma != NULL;
    if (comma) *comma = '\0';
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol = library ? dlsym(library, NNVTS_DRIVER_SYMBOL) : NULL;
    struct device *d = calloc(1, sizeof *d);
    nnvts_driver_get_fn get;
    if (!symbol || !d) {
        *error = "expected the path of a driver";
        free(d);
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    memcpy(&get, &symbol, sizeof get);
    enum nnvts_status status = get()->open(NULL, &d->real, error);
    if (status != NNVTS_STATUS_NONE) {
        free(d);
        return status;
    }
    d->base = *d->real;
    d->base.struct_size = sizeof d->base;
    d->base.name = "joint";
    d->base.model_cache_files = d->base.data_cache_files = 0;
    d->base.prepare_from_cache = NULL;
    d->base.allocate = NULL;
    d->base.get_status = get_status;
    d->base.get_supported_operations = get_supported;
    d->base.prepare_model = prepare;
    d->base.release = release;
    *out = &d->base;
    return NNVTS_STATUS_NONE;
}

static const struct nnvts_driver driver = {
    .struct_size = sizeof driver, .abi_version = NNVTS_DRIVER_ABI_VERSION, .name = "joint", .open = open_device};
const struct nnvts_driver *nnvts_driver_get(void) { return &driver; }
