/* SPDX-License-Identifier: Apache-2.0 */
/** @file partial_prepared.c What partial devices prepare: requests are checked, executions counted, failures made. */
#include <stdlib.h>
#include <string.h>

#include "harness/client/driver.h"
#include "harness/suites/partition/partial_own.h"

struct prepared {
    struct nnvts_prepared_model base, *inner;
    struct nnv_partial *device;
    uint32_t nin, nout;
    struct shape {
        uint32_t rank, dims[4];
    } * outputs; /* as the model declares them, cut to rank 4 */
};
struct burst {
    struct nnvts_burst base, *inner;
    struct prepared *prepared;
};
struct reusable {
    struct nnvts_execution base, *inner;
    struct prepared *prepared;
};

/* ------------------------------------------------------------------- requests */

static bool meets(const struct nnvts_argument *a, const struct nnvts_argument *b) {
    const struct nnvts_location *x = &a->location, *y = &b->location;
    return !a->has_no_value && !b->has_no_value && x->pool == y->pool && x->offset < y->offset + y->length &&
           y->offset < x->offset + x->length;
}

static void check_place(const struct prepared *p, const struct nnvts_request *r, const struct nnvts_argument *a,
                        const char *what, uint32_t i) {
    const struct nnvts_location *at = &a->location;
    if (a->has_no_value) return;
    if (at->pool >= r->pool_count) {
        nnv_partial_complain(p->device, false, "%s: %s %u lies in pool %u of %u", p->device->base.name, what, i,
                             at->pool, r->pool_count);
        return;
    }
    const struct nnvts_memory *pool = &r->pools[at->pool];
    if (pool->kind == NNVTS_MEMORY_SHARED && (uint64_t)at->offset + at->length + at->padding > pool->size)
        nnv_partial_complain(p->device, false, "%s: %s %u ends %llu bytes behind its pool", p->device->base.name, what,
                             i, (unsigned long long)(at->offset + (uint64_t)at->length + at->padding - pool->size));
    if (pool->kind == NNVTS_MEMORY_SHARED && at->offset % 4 != 0)
        nnv_partial_complain(p->device, false, "%s: %s %u lies at offset %u, which no driver needs to take",
                             p->device->base.name, what, i, at->offset);
}

/* What callers owe every driver. */
static void check_request(const struct prepared *p, const struct nnvts_request *r) {
    if (r->input_count != p->nin || r->output_count != p->nout) {
        nnv_partial_complain(p->device, false, "%s: a request has %u inputs and %u outputs, the model %u and %u",
                             p->device->base.name, r->input_count, r->output_count, p->nin, p->nout);
        return;
    }
    for (uint32_t i = 0; i < p->nin; i++) check_place(p, r, &r->inputs[i], "input", i);
    for (uint32_t i = 0; i < p->nout; i++) {
        check_place(p, r, &r->outputs[i], "output", i);
        for (uint32_t k = 0; k < p->nin; k++)
            if (meets(&r->outputs[i], &r->inputs[k]))
                nnv_partial_complain(p->device, false, "%s: output %u has memory in common with input %u",
                                     p->device->base.name, i, k);
        for (uint32_t k = 0; k < i; k++)
            if (meets(&r->outputs[i], &r->outputs[k]))
                nnv_partial_complain(p->device, false, "%s: output %u has memory in common with output %u",
                                     p->device->base.name, i, k);
    }
}

/* Drivers of levels 1 and 2 have no words for the extents of results. */
static bool leaves_open(const struct prepared *p) {
    enum { TELLS_SHAPES = 3 };
    if (p->device->options.inner->feature_level >= TELLS_SHAPES) return false;
    for (uint32_t i = 0; i < p->nout; i++) {
        const struct shape *s = &p->outputs[i];
        for (uint32_t d = 0; d < s->rank; d++)
            if (s->dims[d] == 0) return true;
        if (s->rank == 0) return true;
    }
    return false;
}

/* The answer says that an output is too small, and not how large it would have to be; or nothing of one that the model
 * leaves open. It need not know. */
static bool is_untold(const struct prepared *p, enum nnvts_status st, const struct nnvts_execution_result *result) {
    if (st == NNVTS_STATUS_NONE) return result && result->shape_count == 0 && leaves_open(p);
    if (st != NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE) return false;
    bool untold = !result || result->shape_count == 0;
    for (uint32_t i = 0; result && i < result->shape_count && result->shapes; i++) {
        const struct nnvts_output_shape *s = &result->shapes[i];
        for (uint32_t d = 0; d < s->dimension_count && s->dimensions && !s->is_sufficient; d++)
            untold = untold || s->dimensions[d] == 0;
    }
    return untold;
}

/* The driver under test does what it promised, or says that an output is too small. */
static enum nnvts_status check_answer(const struct prepared *p, const char *way, enum nnvts_status st) {
    if (st != NNVTS_STATUS_NONE && st != NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE)
        nnv_partial_complain_of_answer(p->device, way, st);
    return st;
}

/* What the driver under test should have made. */
static enum nnvts_status not_made(const struct prepared *p, const char *call, enum nnvts_status st) {
    char name[32];
    nnv_partial_complain(p->device, true, "%s: the driver answered %s to %s, and gave nothing", p->device->base.name,
                         nnv_abi_status_name((int)st, name), call);
    return st == NNVTS_STATUS_NONE ? NNVTS_STATUS_GENERAL_FAILURE : st;
}

/* ------------------------------------------------------------------- failures */

/* Shapes that can't be the answer to any request: none, one too many, all sufficient, of a rank that nothing has,
 * unknown.
 */
static enum nnvts_status answer_nonsense(const struct prepared *p, struct nnvts_execution_result *result) {
    const uint32_t variant = p->device->options.variant % NNV_PARTIAL_NONSENSE_VARIANTS;
    if (!result) return NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
    result->shape_count = variant == 0 ? 0 : variant == 1 ? p->nout + 1 : p->nout;
    for (uint32_t i = 0; i < p->nout && result->shapes; i++) {
        struct nnvts_output_shape *s = &result->shapes[i];
        const uint32_t room = s->dimension_count, rank = p->outputs[i].rank;
        s->is_sufficient = variant == 2;
        s->dimension_count = variant == 3 ? room + 7 : rank < room ? rank : room;
        for (uint32_t d = 0; d < rank && d < room && s->dimensions; d++)
            s->dimensions[d] = variant == 4 ? 0 : p->outputs[i].dims[d];
    }
    return NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
}

/* True if the execution fails before the driver under test is asked; *st is the answer. */
static bool fails(const struct prepared *p, struct nnvts_execution_result *result, enum nnvts_status *st) {
    const struct nnv_partial_options *o = &p->device->options;
    atomic_fetch_add(&p->device->executed, 1);
    if (result) result->shape_count = 0;
    if (o->fault == NNV_PARTIAL_DIES) atomic_store(&p->device->dead, true);
    if (atomic_load(&p->device->dead))
        *st = NNVTS_STATUS_DEAD_OBJECT;
    else if (o->fault == NNV_PARTIAL_EXECUTE)
        *st = o->status;
    else if (o->fault == NNV_PARTIAL_NONSENSE)
        *st = answer_nonsense(p, result);
    else
        return false;
    return true;
}

/* The answer of an execution that the driver under test has done. */
static enum nnvts_status answer(const struct prepared *p, const char *way, struct nnvts_execution_result *result,
                                enum nnvts_status st) {
    check_answer(p, way, st);
    if (is_untold(p, st, result)) atomic_store(&p->device->untold, true);
    if (p->device->options.fault != NNV_PARTIAL_LATE) return st;
    if (result) result->shape_count = 0;
    return p->device->options.status;
}

/* ----------------------------------------------------------------- executions */

static enum nnvts_status execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    struct prepared *p = (struct prepared *)self;
    enum nnvts_status st;
    check_request(p, request);
    if (fails(p, result, &st)) return st;
    return answer(p, "a synchronous execution", result, p->inner->execute(p->inner, request, config, result));
}

/* Between the driver under test and who waits. */
struct landing {
    nnvts_execute_callback callback;
    void *context;
    struct prepared *prepared;
};

static void land(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    const struct landing l = *(struct landing *)context;
    free(context);
    check_answer(l.prepared, "an asynchronous execution", status);
    if (is_untold(l.prepared, status, result)) atomic_store(&l.prepared->device->untold, true);
    if (l.prepared->device->options.fault == NNV_PARTIAL_LATE) {
        const struct nnvts_execution_result none = {.timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
        l.callback(l.context, l.prepared->device->options.status, &none);
        return;
    }
    l.callback(l.context, status, result);
}

static enum nnvts_status execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                       void *context) {
    struct prepared *p = (struct prepared *)self;
    enum nnvts_status st;
    check_request(p, request);
    if (fails(p, NULL, &st)) return st;
    struct landing *l = malloc(sizeof *l);
    if (!l) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    *l = (struct landing){callback, context, p};
    st = check_answer(p, "an asynchronous execution", p->inner->execute_async(p->inner, request, config, land, l));
    if (st != NNVTS_STATUS_NONE) free(l);
    return st;
}

struct fenced {
    struct nnvts_fenced_execution inner;
    struct prepared *prepared;
};

static enum nnvts_status fenced_result(void *context, struct nnvts_fenced_result *result) {
    struct fenced *f = context;
    enum nnvts_status st = f->inner.get_result(f->inner.context, result);
    if (st == NNVTS_STATUS_NONE) result->status = answer(f->prepared, "a fenced execution", NULL, result->status);
    return st;
}

static void release_fenced(void *context) {
    struct fenced *f = context;
    f->inner.release(f->inner.context);
    free(f);
}

static enum nnvts_status execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const int *wait_for, uint32_t wait_for_count,
                                        const struct nnvts_execution_config *config, uint64_t duration_ns,
                                        struct nnvts_fenced_execution *out) {
    struct prepared *p = (struct prepared *)self;
    enum nnvts_status st;
    check_request(p, request);
    if (fails(p, NULL, &st)) return st == NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE ? NNVTS_STATUS_INVALID_ARGUMENT : st;
    struct fenced *f = calloc(1, sizeof *f);
    if (!f) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    f->prepared = p;
    st = p->inner->execute_fenced(p->inner, request, wait_for, wait_for_count, config, duration_ns, &f->inner);
    if (check_answer(p, "a fenced execution", st) != NNVTS_STATUS_NONE) {
        free(f);
        return st;
    }
    *out = (struct nnvts_fenced_execution){f->inner.sync_fence, f, fenced_result, release_fenced};
    return NNVTS_STATUS_NONE;
}

/* --------------------------------------------------------------------- bursts */

static enum nnvts_status execute_burst(struct nnvts_burst *self, const struct nnvts_request *request,
                                       const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    struct burst *b = (struct burst *)self;
    enum nnvts_status st;
    check_request(b->prepared, request);
    if (fails(b->prepared, result, &st)) return st;
    return answer(b->prepared, "a burst execution", result,
                  b->inner->execute(b->inner, request, memory_tokens, config, result));
}

static enum nnvts_status release_memory(struct nnvts_burst *self, int64_t memory_token) {
    struct burst *b = (struct burst *)self;
    return b->inner->release_memory(b->inner, memory_token);
}

static void release_burst(struct nnvts_burst *self) {
    struct burst *b = (struct burst *)self;
    b->inner->release(b->inner);
    free(b);
}

static enum nnvts_status create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    struct prepared *p = (struct prepared *)self;
    struct burst *b = calloc(1, sizeof *b);
    if (!b) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = p->inner->create_burst(p->inner, &b->inner);
    if (st != NNVTS_STATUS_NONE || !b->inner) {
        free(b);
        return not_made(p, "create_burst", st);
    }
    b->base = (struct nnvts_burst){.struct_size = sizeof b->base,
                                   .execute = execute_burst,
                                   .release_memory = release_memory,
                                   .release = release_burst};
    b->prepared = p;
    *out = &b->base;
    return NNVTS_STATUS_NONE;
}

/* ------------------------------------------------------------------- reusable */

static enum nnvts_status execute_again(struct nnvts_execution *self, uint64_t deadline_ns,
                                       struct nnvts_execution_result *result) {
    struct reusable *x = (struct reusable *)self;
    enum nnvts_status st;
    if (fails(x->prepared, result, &st)) return st;
    return answer(x->prepared, "a reusable execution", result, x->inner->execute(x->inner, deadline_ns, result));
}

static void release_reusable(struct nnvts_execution *self) {
    struct reusable *x = (struct reusable *)self;
    x->inner->release(x->inner);
    free(x);
}

static enum nnvts_status create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                          const struct nnvts_execution_config *config, struct nnvts_execution **out) {
    struct prepared *p = (struct prepared *)self;
    struct reusable *x = calloc(1, sizeof *x);
    check_request(p, request);
    if (!x) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = p->inner->create_execution(p->inner, request, config, &x->inner);
    if (st != NNVTS_STATUS_NONE || !x->inner) {
        free(x);
        return not_made(p, "create_execution", st);
    }
    x->base =
        (struct nnvts_execution){.struct_size = sizeof x->base, .execute = execute_again, .release = release_reusable};
    x->prepared = p;
    *out = &x->base;
    return NNVTS_STATUS_NONE;
}

/* -------------------------------------------------------------------- wrapping */

static void release(struct nnvts_prepared_model *self) {
    struct prepared *p = (struct prepared *)self;
    p->inner->release(p->inner);
    free(p->outputs);
    free(p);
}

static struct shape shape_of(const struct nnvts_operand *o) {
    struct shape s = {.rank = o->dimension_count < 4 ? o->dimension_count : 4};
    for (uint32_t i = 0; i < s.rank; i++) s.dims[i] = o->dimensions[i];
    return s;
}

enum nnvts_status nnv_partial_wrap(struct nnv_partial *device, const struct nnvts_model *model,
                                   struct nnvts_prepared_model *inner, struct nnvts_prepared_model **out) {
    const bool whole = !device->options.plain;
    const struct nnvts_subgraph *main = &model->main;
    struct prepared *p = calloc(1, sizeof *p);
    struct shape *outputs = calloc((size_t)main->output_count + 1, sizeof *outputs);
    if (!p || !outputs) {
        free(p);
        free(outputs);
        inner->release(inner);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    *p = (struct prepared){
        .base = {.struct_size = sizeof p->base,
                 .execute = execute,
                 .execute_async = inner->execute_async ? execute_async : NULL,
                 .execute_fenced = whole && inner->execute_fenced ? execute_fenced : NULL,
                 .create_burst = whole && inner->create_burst ? create_burst : NULL,
                 .create_execution = whole && inner->create_execution ? create_execution : NULL,
                 .release = release},
        .inner = inner,
        .device = device,
        .nin = main->input_count,
        .nout = main->output_count,
        .outputs = outputs,
    };
    for (uint32_t i = 0; i < main->output_count; i++) outputs[i] = shape_of(&main->operands[main->outputs[i]]);
    *out = &p->base;
    return NNVTS_STATUS_NONE;
}
