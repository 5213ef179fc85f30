/* SPDX-License-Identifier: Apache-2.0 */
/** @file step.c A step on its driver: the request, the answer, which is not trusted, and what then. */
#include <stdlib.h>
#include <string.h>

#include "reference/model/model.h"
#include "reference/runtime/api/burst.h"
#include "reference/runtime/log.h"
#include "reference/runtime/run/run.h"

/* ------------------------------------------------------------------- the request */

static bool is_open(const struct nnvts_operand *o) {
    bool tensor = false;
    nnv_rt_type_bytes(o->type, &tensor);
    return nnv_shape_is_open(tensor, o->dimension_count, o->dimensions);
}

/** The pool of a value in the request, entered if it is not there yet. */
static uint32_t enter_pool(struct nnv_rt_frame *f, const struct nnv_rt_value *v) {
    uint32_t n = f->request.pool_count;
    for (uint32_t i = 0; v->memory && i < n; i++)
        if (f->memories[i] == v->memory) return i;
    f->pools[n] = v->pool;
    f->memories[n] = v->memory;
    f->request.pool_count = n + 1;
    return n;
}

/** What the model leaves open, the request tells. */
static void bind_argument(struct nnv_rt_frame *f, const struct nnvts_operand *o, const struct nnv_rt_value *v,
                          bool is_output, struct nnvts_argument *a) {
    *a = (struct nnvts_argument){.has_no_value = v->omitted};
    if (v->omitted) return;
    a->location.pool = enter_pool(f, v);
    if (!nnv_rt_value_in_device(v)) {
        a->location.offset = v->offset;
        a->location.length = is_output ? v->room : v->length;
        a->location.padding = v->padding;
    }
    if (!is_open(o)) return;
    a->dimension_count = is_output ? v->declared_rank : v->rank;
    a->dimensions = is_output ? v->declared : v->dims;
}

/** Device memory of another device, and a place in shared memory instead. */
static int stage(struct nnv_rt_activation *a, const struct nnv_rt_step *s, uint32_t i, bool is_output,
                 const struct ANeuralNetworksDevice *device) {
    struct nnv_rt_frame *f = &a->frame;
    struct nnv_rt_value **v = is_output ? &f->out_value[i] : &f->in_value[i];
    if ((*v)->omitted || !nnv_rt_value_in_device(*v) || (*v)->memory->device == device) return ANEURALNETWORKS_NO_ERROR;
    if (!f->staged) f->staged = calloc((size_t)s->input_count + s->output_count, sizeof *f->staged);
    if (!f->staged) return ANEURALNETWORKS_OUT_OF_MEMORY;
    struct nnv_rt_value *shared = &f->staged[is_output ? s->input_count + i : i];
    int result = nnv_rt_value_stage(*v, is_output, shared);
    if (!result) *v = shared;
    return result;
}

/** What a value needs as far as its operand says: 1 where an extent is open. */
static uint64_t declared_bytes(const struct nnv_rt_value *v) {
    uint64_t bytes;
    const bool known = v->declared_rank > 0 && nnv_rt_value_bytes(v->type, v->declared_rank, v->declared, &bytes);
    return known && bytes > 0 ? bytes : 1;
}

int nnv_rt_bind_step(struct nnv_rt_activation *a, const struct nnv_rt_step *s,
                     const struct ANeuralNetworksDevice *device) {
    struct nnv_rt_frame *f = &a->frame;
    const struct nnvts_subgraph *main = &s->model.main;
    int result = ANEURALNETWORKS_NO_ERROR;
    f->request.input_count = s->input_count;
    f->request.output_count = s->output_count;
    f->request.pool_count = 0;
    for (uint32_t i = 0; i < s->input_count && !result; i++) {
        f->in_value[i] = a->at[s->inputs[i]];
        result = stage(a, s, i, false, device);
        if (!result) bind_argument(f, &main->operands[main->inputs[i]], f->in_value[i], false, &f->inputs[i]);
    }
    for (uint32_t i = 0; i < s->output_count && !result; i++) {
        f->out_value[i] = a->at[s->outputs[i]];
        result = stage(a, s, i, true, device);
        struct nnv_rt_value *v = f->out_value[i];
        if (!result && v->grows && !v->memory) result = nnv_rt_value_grow(v, declared_bytes(v));
        if (!result) bind_argument(f, &main->operands[main->outputs[i]], v, true, &f->outputs[i]);
    }
    return result;
}

/** Undoes what binding staged; ok: staged outputs go to where they belong. */
static int unbind_step(struct nnv_rt_activation *a, const struct nnv_rt_step *s, bool ok) {
    struct nnv_rt_frame *f = &a->frame;
    int result = ANEURALNETWORKS_NO_ERROR;
    if (!f->staged) return result;
    for (uint32_t i = 0; i < s->output_count && ok && !result; i++)
        if (f->out_value[i] != a->at[s->outputs[i]])
            result = nnv_rt_value_unstage(f->out_value[i], a->at[s->outputs[i]]);
    for (uint32_t i = 0; i < s->input_count + s->output_count; i++) nnv_rt_value_release(&f->staged[i]);
    free(f->staged);
    f->staged = NULL;
    return result;
}

/* --------------------------------------------------------------------- the call */

/** A driver's execution that is kept for as long as the request is the same; NULL: it has none. */
static struct nnvts_execution *reusable_of(const struct nnv_rt_run *run, const struct nnv_rt_activation *a,
                                           const struct nnv_rt_step *s) {
    struct nnvts_execution *made = NULL;
    if (*run->reusable) return *run->reusable;
    if (!NNV_RT_HAS(s->prepared, create_execution)) return NULL;
    if (s->prepared->create_execution(s->prepared, &a->frame.request, &run->config, &made) != NNVTS_STATUS_NONE)
        return NULL;
    if (made && NNV_RT_HAS(made, execute) && NNV_RT_HAS(made, release)) *run->reusable = made;
    return *run->reusable;
}

static enum nnvts_status call(const struct nnv_rt_run *run, struct nnv_rt_activation *a, uint32_t step,
                              struct nnvts_prepared_model *prepared, struct nnvts_execution_result *result) {
    const struct nnv_rt_step *s = &a->graph->steps[step];
    struct nnv_rt_frame *f = &a->frame;
    const bool planned = prepared == s->prepared && !f->staged;
    struct nnvts_burst *burst = run->burst && planned ? nnv_rt_burst_at(run->burst, a->number, step) : NULL;
    if (burst) {
        for (uint32_t i = 0; i < f->request.pool_count; i++)
            f->tokens[i] = f->memories[i] ? nnv_rt_burst_token(f->memories[i]) : -1;
        return burst->execute(burst, &f->request, f->tokens, &run->config, result);
    }
    struct nnvts_execution *kept = run->reusable && planned ? reusable_of(run, a, s) : NULL;
    if (kept) return kept->execute(kept, run->config.deadline_ns, result);
    return prepared->execute(prepared, &f->request, &run->config, result);
}

/* ------------------------------------------------------------------- the answer */

/** Room for the value, as far as its extents are known. */
static bool has_room(const struct nnv_rt_value *v) { return nnv_rt_value_in_device(v) || v->length <= v->room; }

static bool is_known(const struct nnv_rt_value *v) {
    for (uint32_t i = 0; i < v->rank; i++)
        if (v->dims[i] == 0) return false;
    return true;
}

/** A value of what the driver says of its shape; false if that can't be. */
static bool take_shape(const struct nnvts_operand *o, const struct nnvts_output_shape *shape, bool ended,
                       struct nnv_rt_value *v) {
    uint64_t bytes;
    bool tensor = false;
    nnv_rt_type_bytes(o->type, &tensor);
    if (shape->dimension_count > NNV_MAX_RANK) return false;
    nnv_rt_value_reset(v);
    v->sufficient = shape->is_sufficient;
    if (v->rank == 0 && tensor) v->rank = o->dimension_count;
    if (v->rank && shape->dimension_count == 0 && !ended) return true; /* it does not know more either */
    if (v->rank && v->rank != shape->dimension_count) return false;
    v->rank = shape->dimension_count;
    if (o->dimension_count && o->dimension_count != v->rank) return false;
    for (uint32_t i = 0; i < v->rank; i++) {
        uint32_t known = i < v->declared_rank && v->declared[i] ? v->declared[i] : 0;
        if (!known && i < o->dimension_count) known = o->dimensions[i];
        const uint32_t told = shape->dimensions[i];
        if (known && told != known && (ended || told)) return false;
        v->dims[i] = told ? told : known;
    }
    if (!nnv_rt_value_bytes(v->type, v->rank, v->dims, &bytes)) return false;
    v->length = (uint32_t)bytes;
    if (ended) return has_room(v);
    return v->sufficient || nnv_rt_value_in_device(v) || !is_known(v) || bytes > v->room;
}

/** The driver says nothing of shapes: they must have been known. */
static bool take_known(const struct nnvts_operand *o, struct nnv_rt_value *v) {
    if (nnv_rt_value_as_declared(v)) return has_room(v);
    struct nnv_rt_value own = {.type = v->type, .sufficient = true};
    nnv_rt_value_declare(&own, o);
    if (!nnv_rt_value_as_declared(&own) || !nnv_rt_value_accepts(v, own.rank, own.dims)) return false;
    v->rank = own.rank;
    memcpy(v->dims, own.dims, sizeof v->dims);
    v->length = own.length;
    return has_room(v);
}

/** The result code of an answer, after its shapes went to the values. */
static int take_answer(const struct nnv_rt_activation *a, const struct nnv_rt_step *s, enum nnvts_status status,
                       const struct nnvts_execution_result *answer) {
    const struct nnvts_subgraph *main = &s->model.main;
    const bool ended = status == NNVTS_STATUS_NONE;
    bool all = true;
    if (!ended && status != NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE) return nnv_rt_result(status);
    if (answer->shape_count != s->output_count && (!ended || answer->shape_count)) return ANEURALNETWORKS_OP_FAILED;
    for (uint32_t i = 0; i < s->output_count; i++) {
        const struct nnvts_operand *o = &main->operands[main->outputs[i]];
        struct nnv_rt_value *v = a->frame.out_value[i];
        if (v->omitted) continue;
        if (!(answer->shape_count ? take_shape(o, &answer->shapes[i], ended, v) : take_known(o, v)))
            return ANEURALNETWORKS_OP_FAILED;
        all = all && v->sufficient;
    }
    if (all != ended) return ANEURALNETWORKS_OP_FAILED;
    return nnv_rt_result(status);
}

/** Makes room where the runtime can; false if an output that it can't enlarge, or nothing new, is in the way. */
static bool enlarge(const struct nnv_rt_activation *a, const struct nnv_rt_step *s) {
    bool any = false;
    for (uint32_t i = 0; i < s->output_count; i++) {
        struct nnv_rt_value *v = a->frame.out_value[i];
        if (v->sufficient) continue;
        if (!v->grows || v->length <= v->room || nnv_rt_value_grow(v, v->length)) return false;
        any = true;
    }
    return any;
}

/** All outputs that are too small are the runtime's own, which it would enlarge if the driver said by how much. */
static bool is_untold(const struct nnv_rt_activation *a, const struct nnv_rt_step *s) {
    for (uint32_t i = 0; i < s->output_count; i++)
        if (!a->frame.out_value[i]->sufficient && !a->frame.out_value[i]->grows) return false;
    return true;
}

static void ready_for_answer(struct nnv_rt_frame *f, const struct nnv_rt_step *s, struct nnvts_execution_result *r) {
    for (uint32_t i = 0; i < s->output_count; i++)
        f->shapes[i] = (struct nnvts_output_shape){.dimension_count = NNV_MAX_RANK,
                                                   .dimensions = f->dims + (size_t)i * NNV_MAX_RANK};
    *r = (struct nnvts_execution_result){.shapes = f->shapes, .timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
}

static void take_timing(struct nnv_rt_run *run, const struct ANeuralNetworksDevice *device,
                        const struct nnvts_timing *t) {
    if (!run->config.measure_timing || !run->plan->simple) return;
    const bool told = t->on_device_ns != NNVTS_NO_TIME;
    if (told && t->on_device_ns > t->in_driver_ns) return;
    run->timing = *t;
    if (told) nnv_rt_trace_slice(t->on_device_ns, NNV_RT_TRACE_DEVICE, "execution", device->name);
}

/** One call after another until there is room enough. */
static int execute(struct nnv_rt_run *run, struct nnv_rt_activation *a, uint32_t step,
                   struct nnvts_prepared_model *prepared, struct ANeuralNetworksDevice *device) {
    const struct nnv_rt_step *s = &a->graph->steps[step];
    for (;;) {
        struct nnvts_execution_result answer;
        int result = nnv_rt_bind_step(a, s, device);
        if (result) {
            unbind_step(a, s, false);
            return result;
        }
        ready_for_answer(&a->frame, s, &answer);
        const uint64_t since = nnv_rt_trace_begin();
        const enum nnvts_status status = nnv_rt_device_note(device, call(run, a, step, prepared, &answer));
        nnv_rt_trace_end(since, NNV_RT_TRACE_DRIVER, "execution", device->name);
        result = take_answer(a, s, status, &answer);
        nnv_rt_vlog(device->is_cpu ? NNV_RT_LOG_CPUEXE : NNV_RT_LOG_EXECUTION,
                    "graph %u step %u on %s: status %d, result %d", a->number, step, device->name, (int)status, result);
        if (result == ANEURALNETWORKS_NO_ERROR) {
            take_timing(run, device, &answer.timing);
            atomic_fetch_add(&device->computed, s->operation_count);
        }
        const bool again = result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE && enlarge(a, s);
        if (result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE && !again && is_untold(a, s))
            result = ANEURALNETWORKS_OP_FAILED;
        const bool told = result == ANEURALNETWORKS_NO_ERROR || result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
        const int put = unbind_step(a, s, told);
        if (put || !again) return put ? put : result;
    }
}

/** A value that turned out to be empty is passed to the step. */
static bool has_empty_input(const struct nnv_rt_activation *a, const struct nnv_rt_step *s) {
    for (uint32_t i = 0; i < s->input_count; i++) {
        const struct nnv_rt_value *v = a->at[s->inputs[i]];
        if (!v->omitted && v->length == 0) return true;
    }
    return false;
}

int nnv_rt_run_step(struct nnv_rt_run *run, struct nnv_rt_activation *a, uint32_t step) {
    const struct nnv_rt_step *s = &a->graph->steps[step];
    if (!s->prepared) return ANEURALNETWORKS_OP_FAILED;
    /* Few drivers expect an empty input that the model did not tell of: the whole model goes to the CPU. */
    if (run->fallback && !run->plan->simple && !s->device->is_cpu && has_empty_input(a, s))
        return ANEURALNETWORKS_OP_FAILED;
    const int result = execute(run, a, step, s->prepared, s->device);
    if (result == ANEURALNETWORKS_NO_ERROR || result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE || !run->fallback ||
        run->plan->simple || s->device->is_cpu)
        return result;
    struct nnvts_prepared_model *instead = NULL;
    nnv_rt_vlog(NNV_RT_LOG_EXECUTION, "graph %u step %u failed on %s: the CPU tries it", a->number, step,
                s->device->name);
    if (nnv_rt_compilation_cpu_step(run->compilation, s, &instead) != ANEURALNETWORKS_NO_ERROR) return result;
    return execute(run, a, step, instead, nnv_rt_device_cpu());
}
