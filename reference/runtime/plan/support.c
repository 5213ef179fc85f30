/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/plan/support.h"

#include <stdlib.h>
#include <string.h>

#include "reference/runtime/api/model/building.h"
#include "reference/runtime/log.h"
#include "reference/runtime/plan/slice.h"

enum {
    OK = ANEURALNETWORKS_NO_ERROR,
    BAD = ANEURALNETWORKS_BAD_DATA,
    NO_MEMORY = ANEURALNETWORKS_OUT_OF_MEMORY,
    HIGHEST = 8,
};

/* ---------------------------------------------------------------------- asking */

/* The part of a graph that is legal at a level. */
struct part {
    bool made;
    struct nnvts_model model;
    uint32_t count, *operations; /* of the graph */
};

struct asking {
    const struct ANeuralNetworksModel *model;
    uint32_t graph, count; /* operations */
    struct nnv_arena *arena;
    struct nnv_rt_slicer *slicer;
    struct part parts[HIGHEST + 1]; /* by level */
    bool *answer;
};

static int make_part(struct asking *a, int32_t level, struct part *p) {
    const int32_t *levels = a->model->info[a->graph].levels;
    p->made = true;
    p->operations = NNV_NEW(a->arena, uint32_t, a->count);
    if (!p->operations) return NO_MEMORY;
    for (uint32_t i = 0; i < a->count; i++)
        if (levels[i] <= level) p->operations[p->count++] = i;
    bool relaxable = level >= 2 || !a->model->model.relax_float32_to_float16;
    if (a->graph == 0 && p->count == a->count && relaxable) {
        p->model = a->model->model;
        return OK;
    }
    if (p->count == 0) return OK;
    if (!a->slicer) a->slicer = nnv_rt_slicer_new(a->model, a->graph, a->arena);
    struct nnv_rt_slice slice;
    int result = a->slicer ? nnv_rt_slice_make(a->slicer, p->operations, p->count, a->arena, &slice) : NO_MEMORY;
    if (result) return result;
    p->model = slice.model;
    p->model.relax_float32_to_float16 = relaxable && slice.model.relax_float32_to_float16;
    if (slice.model.main.input_count == 0 || slice.model.main.output_count == 0) p->count = 0;
    return OK;
}

static int ask(struct asking *a, struct ANeuralNetworksDevice *device, bool *supported) {
    memset(supported, 0, a->count * sizeof *supported);
    if (!nnv_rt_device_is_alive(device)) return OK;
    int32_t level = device->driver_level < HIGHEST ? device->driver_level : HIGHEST;
    struct part *p = &a->parts[level];
    int result = p->made ? OK : make_part(a, level, p);
    if (result || p->count == 0) return result;
    memset(a->answer, 0, p->count * sizeof *a->answer);
    uint64_t since = nnv_rt_trace_begin();
    enum nnvts_status st = device->driver->get_supported_operations(device->driver, &p->model, a->answer);
    nnv_rt_trace_end(since, NNV_RT_TRACE_DRIVER, "compilation", "get_supported_operations");
    if (nnv_rt_device_note(device, st) != NNVTS_STATUS_NONE) {
        nnv_rt_vlog(NNV_RT_LOG_DRIVER, "%s: get_supported_operations answered %d", device->name, (int)st);
        return OK;
    }
    for (uint32_t i = 0; i < p->count; i++) supported[p->operations[i]] = a->answer[i];
    return OK;
}

int nnv_rt_supported(const struct ANeuralNetworksModel *model, uint32_t graph,
                     struct ANeuralNetworksDevice *const *devices, size_t device_count, struct nnv_arena *arena,
                     bool *supported) {
    struct asking a = {
        .model = model, .graph = graph, .count = nnv_rt_graph_at(model, graph)->operation_count, .arena = arena};
    a.answer = NNV_NEW(arena, bool, a.count);
    int result = a.answer ? OK : NO_MEMORY;
    for (size_t d = 0; d < device_count && !result; d++, supported += a.count) {
        if (devices[d]->is_cpu && !model->has_extension && !model->has_oem)
            memset(supported, true, a.count * sizeof *supported);
        else
            result = ask(&a, devices[d], supported);
    }
    return result;
}

/* ------------------------------------------------------- as the application asks */

static int check_devices(const ANeuralNetworksDevice *const *devices, uint32_t count, const char *function) {
    for (uint32_t i = 0; i < count; i++) {
        if (!devices[i]) return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, function, "device %u is NULL", i);
        for (uint32_t k = 0; k < i; k++)
            if (devices[k] == devices[i])
                return nnv_rt_error(BAD, function, "device %u (%s) stands twice", i, devices[i]->name);
    }
    return OK;
}

static int ask_any(const ANeuralNetworksModel *m, const ANeuralNetworksDevice *const *devices, uint32_t count,
                   struct nnv_arena *arena, bool *out) {
    uint32_t n = m->model.main.operation_count;
    bool *supported = NNV_NEW(arena, bool, (size_t)n *count);
    if (!supported) return NO_MEMORY;
    int result = nnv_rt_supported(m, 0, (struct ANeuralNetworksDevice *const *)devices, count, arena, supported);
    if (result) return result;
    memset(out, 0, n * sizeof *out);
    for (uint32_t d = 0; d < count; d++)
        for (uint32_t k = 0; k < n; k++)
            if (supported[(size_t)d * n + k]) out[m->info[0].added[k]] = true;
    return OK;
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel *model,
                                                          const ANeuralNetworksDevice *const *devices,
                                                          uint32_t numDevices, bool *supportedOps) {
    static const char function[] = "Model_getSupportedOperationsForDevices";
    if (!model || !devices || !supportedOps)
        return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, function, "%s is NULL",
                            !model     ? "model"
                            : !devices ? "devices"
                                       : "supportedOps");
    if (numDevices == 0) return nnv_rt_error(BAD, function, "no devices are given");
    if (model->state != NNV_RT_MODEL_FINISHED)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, function, "the model is not finished, or not valid");
    int result = check_devices(devices, numDevices, function);
    if (result) return result;
    struct nnv_arena *arena = nnv_arena_new();
    result = arena ? ask_any(model, devices, numDevices, arena, supportedOps) : NO_MEMORY;
    nnv_arena_free(arena);
    return result;
}
