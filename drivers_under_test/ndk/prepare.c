/* SPDX-License-Identifier: Apache-2.0 */
/** @file prepare.c Compilations. */
#include <stdlib.h>
#include <string.h>

#include "common/type.h"
#include "ndk.h"

/* ------------------------------------------------------------------ the interface */

/** Copies the operands of main that the list names; extents go to *dims, which moves on. */
static enum nnvts_status take_ends(struct ndk_prepared *p, const struct nnvts_model *from, const uint32_t *list,
                                   uint32_t count, struct ndk_end *ends, uint32_t **dims) {
    enum nnvts_status st = NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < count && st == NNVTS_STATUS_NONE; i++) {
        const struct nnvts_operand *o = &from->main.operands[list[i]];
        ends[i] = (struct ndk_end){{o->type, o->dimension_count, *dims, o->scale, o->zero_point},
                                   common_element_bytes(o->type)};
        if (o->dimension_count) memcpy(*dims, o->dimensions, o->dimension_count * sizeof **dims);
        *dims += o->dimension_count;
        st = ndk_model_code(&p->device->lib, from, p->model.models[0], o->type, false, &ends[i].type.type);
    }
    return st;
}

static enum nnvts_status take_interface(struct ndk_prepared *p, const struct nnvts_model *from) {
    const struct nnvts_subgraph *g = &from->main;
    size_t extents = 1;
    for (uint32_t i = 0; i < g->input_count; i++) extents += g->operands[g->inputs[i]].dimension_count;
    for (uint32_t i = 0; i < g->output_count; i++) extents += g->operands[g->outputs[i]].dimension_count;
    p->input_count = g->input_count;
    p->output_count = g->output_count;
    p->inputs = calloc((size_t)g->input_count + 1, sizeof *p->inputs);
    p->outputs = calloc((size_t)g->output_count + 1, sizeof *p->outputs);
    uint32_t *dims = p->dimensions = calloc(extents, sizeof *dims);
    if (!p->inputs || !p->outputs || !dims) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    const enum nnvts_status st = take_ends(p, from, g->inputs, g->input_count, p->inputs, &dims);
    return st == NNVTS_STATUS_NONE ? take_ends(p, from, g->outputs, g->output_count, p->outputs, &dims) : st;
}

/* -------------------------------------------------------------------- compilation */

static enum nnvts_status create(const struct ndk_device *d, ANeuralNetworksModel *model,
                                ANeuralNetworksCompilation **out) {
    const struct ndk_library *lib = &d->lib;
    const ANeuralNetworksDevice *device = d->device;
    return device ? NDK_MAKE(lib, Compilation_createForDevices, out, model, &device, 1, out)
                  : NDK_MAKE(lib, Compilation_create, out, model, out);
}

static enum nnvts_status finish(const struct ndk_device *d, ANeuralNetworksCompilation *compilation) {
    const enum nnvts_status st = NDK_CALL(&d->lib, Compilation_finish, compilation);
    /* The model is right: what is bad is to ask this device for it. */
    return st == NNVTS_STATUS_INVALID_ARGUMENT ? NNVTS_STATUS_GENERAL_FAILURE : st;
}

enum nnvts_status ndk_try_compile(struct ndk_device *d, ANeuralNetworksModel *model) {
    ANeuralNetworksCompilation *compilation = NULL;
    enum nnvts_status st = create(d, model, &compilation);
    if (st == NNVTS_STATUS_NONE) st = finish(d, compilation);
    if (compilation) d->lib.fn.Compilation_free(compilation);
    return st;
}

static enum nnvts_status configure(struct ndk_prepared *p, const struct nnvts_prepare_config *config) {
    const struct ndk_library *lib = &p->device->lib;
    static const int priorities[] = {ANEURALNETWORKS_PRIORITY_LOW, ANEURALNETWORKS_PRIORITY_MEDIUM,
                                     ANEURALNETWORKS_PRIORITY_HIGH};
    if (config->preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED || config->priority > NNVTS_PRIORITY_HIGH)
        return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = NDK_CALL(lib, Compilation_setPreference, p->compilation, (int32_t)config->preference);
    if (st == NNVTS_STATUS_NONE && lib->fn.Compilation_setPriority)
        st = NDK_CALL(lib, Compilation_setPriority, p->compilation, priorities[config->priority]);
    /* Deadlines are for one device that the application has named. */
    if (st == NNVTS_STATUS_NONE && config->deadline_ns != NNVTS_NO_TIME && p->device->device &&
        lib->fn.Compilation_setTimeout)
        st = NDK_CALL(lib, Compilation_setTimeout, p->compilation, ndk_time_left(config->deadline_ns));
    return st;
}

static enum nnvts_status compile(struct ndk_prepared *p, const struct nnvts_prepare_config *config) {
    enum nnvts_status st = create(p->device, p->model.models[0], &p->compilation);
    if (st == NNVTS_STATUS_NONE) st = configure(p, config);
    return st == NNVTS_STATUS_NONE ? finish(p->device, p->compilation) : st;
}

/* ------------------------------------------------------------------------- object */

static void destroy(struct ndk_prepared *p) {
    if (p->compilation) p->device->lib.fn.Compilation_free(p->compilation);
    ndk_model_free(&p->model);
    free(p->inputs);
    free(p->outputs);
    free(p->dimensions);
    free(p);
}

void ndk_prepared_ref(struct ndk_prepared *p) {
    pthread_mutex_lock(&p->device->lock);
    p->references++;
    pthread_mutex_unlock(&p->device->lock);
}

void ndk_prepared_unref(struct ndk_prepared *p) {
    pthread_mutex_lock(&p->device->lock);
    const bool last = --p->references == 0;
    pthread_mutex_unlock(&p->device->lock);
    if (last) destroy(p);
}

static void release(struct nnvts_prepared_model *self) { ndk_prepared_unref((struct ndk_prepared *)self); }

/** What the library has no functions for, the prepared model lacks. */
static void offer(struct ndk_prepared *p) {
    const struct nnvts_ndk *fn = &p->device->lib.fn;
    p->base = (struct nnvts_prepared_model){.struct_size = sizeof p->base, .execute = ndk_execute, .release = release};
    if (fn->Execution_startCompute && fn->Event_wait && fn->Event_free) p->base.execute_async = ndk_execute_async;
    if (fn->Execution_startComputeWithDependencies && fn->Event_createFromSyncFenceFd && fn->Event_getSyncFenceFd &&
        fn->Event_wait && fn->Event_free)
        p->base.execute_fenced = ndk_execute_fenced;
    if (fn->Burst_create && fn->Execution_burstCompute && fn->Burst_free) p->base.create_burst = ndk_create_burst;
    if (fn->Execution_setReusable && fn->Execution_compute) p->base.create_execution = ndk_create_execution;
}

enum nnvts_status ndk_prepare(struct ndk_device *d, const struct nnvts_model *model,
                              const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    struct ndk_prepared *p = calloc(1, sizeof *p);
    if (!p) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    p->device = d;
    p->references = 1;
    enum nnvts_status st = ndk_model_build(&d->lib, model, &p->model);
    if (st == NNVTS_STATUS_NONE) st = take_interface(p, model);
    if (st == NNVTS_STATUS_NONE) st = compile(p, config);
    if (st != NNVTS_STATUS_NONE) {
        destroy(p);
        return st;
    }
    offer(p);
    *out = &p->base;
    return NNVTS_STATUS_NONE;
}
