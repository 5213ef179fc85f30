/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/placement/placement.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/driver.h"
#include "base/words.h"
#include "harness/client/driver.h"
#include "reference/model/op.h"
#include "reference/runtime/plan/planning.h"
#include "reference/runtime/plan/slice.h"

/* ----------------------------------------------------------------------- devices */

enum nnv_status nnv_devices_add(struct nnv_devices *d, const char *argument, struct nnv_arena *arena,
                                struct nnv_err *err) {
    const char *path, *options;
    struct nnv_driver driver = {0};
    if (d->open_count == NNV_PLACEMENT_DRIVERS)
        return nnv_fail(err, NNV_INVALID, "--drivers: more than %d drivers", NNV_PLACEMENT_DRIVERS);
    enum nnv_status s = nnv_driver_resolve(argument, arena, &path, &options, err);
    if (s == NNV_OK) s = nnv_driver_open(&driver, path, options, err);
    if (s != NNV_OK) return s;
    for (size_t i = 0; i < d->open_count; i++)
        if (strcmp(d->open[i]->name, driver.device->name) == 0) {
            driver.device->release(driver.device);
            return nnv_fail(err, NNV_INVALID, "--drivers: '%s' is named twice (the device '%s')", argument,
                            d->open[i]->name);
        }
    d->path[d->open_count] = path;
    d->driver_options[d->open_count] = options;
    d->open[d->open_count++] = driver.device;
    return NNV_OK;
}

enum nnv_status nnv_devices_choose(struct nnv_devices *d, bool no_cpu, int32_t preference, struct nnv_err *err) {
    size_t taken = 0;
    d->no_cpu = no_cpu;
    if (d->open_count > 0) nnv_rt_device_override(d->open, d->open_count);
    const size_t count = nnv_rt_device_count();
    if (count > NNV_PLACEMENT_DRIVERS + 1)
        return nnv_fail(err, NNV_INVALID, "more than %d drivers", NNV_PLACEMENT_DRIVERS);
    for (size_t i = 0; i < count; i++)
        if (!no_cpu || !nnv_rt_device_at(i)->is_cpu) d->device[taken++] = nnv_rt_device_at(i);
    d->options = (struct nnv_rt_plan_options){.devices = d->device, .device_count = taken, .preference = preference};
    return NNV_OK;
}

void nnv_devices_close(struct nnv_devices *d) {
    for (size_t i = 0; i < d->open_count; i++) d->open[i]->release(d->open[i]);
    d->open_count = 0;
}

/* -------------------------------------------------------------------------- plan */

void nnv_placement_add_operation(int32_t type, struct nnv_text *out) {
    const struct nnv_op *op = nnv_op(type);
    if (op != NULL)
        nnv_text_add(out, op->name);
    else
        nnv_text_addf(out, "operation %d", type);
}

uint32_t nnv_placement_added(const struct nnv_placement *p, uint32_t graph, uint32_t i) {
    const uint32_t *numbers = p->models.model->info[graph].added;
    return numbers != NULL ? numbers[i] : i;
}

double nnv_placement_us(const struct nnv_placement *p, uint32_t i, int d) {
    return p->us != NULL && d >= 0 ? p->us[(size_t)i * p->options.device_count + (size_t)d] : (double)NAN;
}

/** Why there is no plan. */
static enum nnv_status no_plan(struct nnv_placement *p, int result, struct nnv_err *err) {
    struct nnv_rt_choice *choices = NULL;
    char buf[32];
    if (result == ANEURALNETWORKS_BAD_DATA &&
        nnv_rt_plan_choices(p->models.model, &p->options, 0, p->arena, &choices) == ANEURALNETWORKS_NO_ERROR) {
        for (uint32_t i = 0; i < p->models.model->model.main.operation_count; i++) {
            struct nnv_text name = {0};
            if (choices[i].device != NNV_RT_NO_DEVICE) continue;
            nnv_placement_add_operation(p->models.model->model.main.operations[i].type, &name);
            enum nnv_status s =
                nnv_fail(err, NNV_UNSUPPORTED, "no plan: operation %u (%s) is supported by none of the devices%s",
                         nnv_placement_added(p, 0, i), name.failed ? "?" : name.data,
                         p->devices->no_cpu ? "; without --no-cpu the CPU reference does it" : "");
            nnv_text_free(&name);
            return s;
        }
    }
    if (result == ANEURALNETWORKS_OP_FAILED)
        return nnv_fail(err, NNV_UNSUPPORTED,
                        "no plan: a step would have no inputs or no outputs, or a value of unknown size would come "
                        "from a driver below level 3; a compilation falls back to the CPU reference");
    return nnv_fail(err, result == ANEURALNETWORKS_OUT_OF_MEMORY ? NNV_NO_MEMORY : NNV_INTERNAL, "no plan: %s",
                    nnv_result_name(result, buf));
}

/** Reads "0-11,14,20-": ranges of operations, both ends included; an open end is the last. */
static enum nnv_status read_only(const char *text, uint32_t count, bool *only, struct nnv_err *err) {
    for (const char *at = text;;) {
        char *end;
        if (!isdigit((unsigned char)*at) && *at != '-') break;
        const unsigned long first = *at == '-' ? 0 : strtoul(at, &end, 10);
        unsigned long last = first;
        if (*at == '-') end = (char *)at;
        if (*end == '-') {
            at = end + 1;
            last = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : (end = (char *)at, count - 1);
        }
        if (first > last || last >= count)
            return nnv_fail(err, NNV_INVALID, "--only '%s': the model has operations 0 to %u", text, count - 1);
        for (unsigned long i = first; i <= last; i++) only[i] = true;
        if (*end == '\0') return NNV_OK;
        if (*end != ',') break;
        at = end + 1;
    }
    return nnv_fail(err, NNV_INVALID, "--only '%s': expected operations such as 0-11,14", text);
}

static enum nnv_status restrict_drivers(struct nnv_placement *p, const char *text, struct nnv_err *err) {
    const uint32_t count = p->models.model->model.main.operation_count;
    bool *only = NNV_NEW(p->arena, bool, count);
    if (only == NULL) return nnv_no_memory(err);
    p->options.only = only;
    return read_only(text, count, only, err);
}

enum nnv_status nnv_placement_make(const struct nnv_devices *devices, const struct nnv_model *model, const char *only,
                                   struct nnv_arena *arena, struct nnv_placement *p, struct nnv_err *err) {
    p->devices = devices;
    p->options = devices->options;
    p->only = only;
    p->arena = arena;
    enum nnv_status s = nnv_rt_model_from_spec(model, &p->models, NULL, err);
    if (s == NNV_OK && only != NULL) s = restrict_drivers(p, only, err);
    if (s != NNV_OK) return s;
    int result = nnv_rt_plan_make(p->models.model, &p->options, &p->plan);
    if (result != ANEURALNETWORKS_NO_ERROR) return no_plan(p, result, err);
    p->choices = NNV_NEW(arena, struct nnv_rt_choice *, p->plan->graph_count);
    if (p->choices == NULL) return nnv_no_memory(err);
    for (uint32_t g = 0; result == ANEURALNETWORKS_NO_ERROR && g < p->plan->graph_count; g++)
        if (p->plan->graphs[g].planned)
            result = nnv_rt_plan_choices(p->models.model, &p->options, g, arena, &p->choices[g]);
    return result == ANEURALNETWORKS_NO_ERROR ? NNV_OK : nnv_no_memory(err);
}

void nnv_placement_free(struct nnv_placement *p) {
    nnv_rt_plan_release(p->plan);
    nnv_rt_spec_model_free(&p->models);
    p->plan = NULL;
}

int nnv_placement_prepare(const struct nnv_placement *p) {
    const struct nnv_rt_prepare_options how = {.preference = p->options.preference,
                                               .priority = ANEURALNETWORKS_PRIORITY_DEFAULT,
                                               .deadline_ns = NNVTS_NO_TIME};
    return nnv_rt_plan_prepare(p->plan, &how);
}

/* --------------------------------------------------------------------- questions */

struct nnv_placed nnv_placement_count(const struct nnv_placement *p) {
    struct nnv_placed n = {0};
    for (uint32_t g = 0; g < p->plan->graph_count; g++) {
        if (!p->plan->graphs[g].planned) continue;
        for (uint32_t i = 0; i < nnv_rt_graph_at(p->plan->model, g)->operation_count; i++) {
            const int d = p->choices[g][i].device;
            if (d == NNV_RT_INTERPRETED) continue;
            n.operations++;
            n.on_drivers += d >= 0 && !p->options.devices[d]->is_cpu;
        }
    }
    return n;
}

/** True if the device takes the operation as a model of its own. What it says of it is appended. */
static bool takes_alone(const struct nnv_placement *p, uint32_t graph, uint32_t i, struct ANeuralNetworksDevice *d,
                        struct nnv_text *words) {
    bool answer = false;
    struct nnv_rt_slice slice;
    struct nnv_rt_slicer *slicer = nnv_rt_slicer_new(p->plan->model, graph, p->arena);
    if (slicer == NULL || nnv_rt_slice_make(slicer, &i, 1, p->arena, &slice) != ANEURALNETWORKS_NO_ERROR) return false;
    if (slice.model.main.input_count == 0 || slice.model.main.output_count == 0) return false;
    if (d->driver->get_supported_operations(d->driver, &slice.model, &answer) != NNVTS_STATUS_NONE) return false;
    const char *said = answer ? NULL : nnv_device_last_error(d->driver);
    if (said != NULL && *said != '\0') nnv_text_addf(words, ": %s", said);
    return answer;
}

void nnv_placement_why(const struct nnv_placement *p, uint32_t graph, uint32_t i, struct nnv_text *out) {
    const struct nnv_rt_choice *c = &p->choices[graph][i];
    const char *comma = "";
    for (int d = 0; d < (int)p->options.device_count; d++) {
        struct ANeuralNetworksDevice *device = p->options.devices[d];
        if (d == c->device || device->is_cpu) continue;
        const int32_t level = p->plan->model->info[graph].levels[i];
        nnv_text_addf(out, "%s%s: ", comma, device->name);
        comma = "; ";
        if (!isnan(c->costs[d])) {
            nnv_text_addf(out, "costs %.4g", (double)c->costs[d]);
            if (graph == 0 && !isnan(nnv_placement_us(p, i, d)))
                nnv_text_addf(out, ", %.3g us", nnv_placement_us(p, i, d));
        } else if (p->options.only != NULL && graph == 0 && !p->options.only[nnv_placement_added(p, 0, i)]) {
            nnv_text_add(out, "not among --only");
        } else if (level > device->driver_level) {
            nnv_text_addf(out, "needs feature level %d, has %d", level, device->driver_level);
        } else {
            struct nnv_text words = {0};
            const bool alone = takes_alone(p, graph, i, device, &words);
            nnv_text_addf(out, "%s%s", alone ? "supported alone, but not here" : "not supported",
                          words.data ? words.data : "");
            nnv_text_free(&words);
        }
    }
}
