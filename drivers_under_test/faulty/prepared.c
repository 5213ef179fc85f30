/* SPDX-License-Identifier: Apache-2.0 */
/** @file prepared.c Prepared models: the other driver's, with the bug round each call. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "device.h"

#define CALL(of, ...)                                                                                                  \
    struct call c = {.kind = (of),                                                                                     \
                     .device = &((struct faulty_prepared *)self)->device->base,                                        \
                     .inner_device = ((struct faulty_prepared *)self)->device->inner,                                  \
                     .prepared = self,                                                                                 \
                     .inner = ((struct faulty_prepared *)self)->inner,                                                 \
                     .status = NNVTS_STATUS_GENERAL_FAILURE,                                                           \
                     __VA_ARGS__}

/* --------------------------------------------------------------------- values */

static uint8_t *reach(const struct nnvts_request *r, const struct nnvts_argument *a, void **mapped) {
    *mapped = NULL;
    if (!r->pools || a->has_no_value || a->location.pool >= r->pool_count) return NULL;
    const struct nnvts_memory *m = &r->pools[a->location.pool];
    struct stat file;
    if (m->kind != NNVTS_MEMORY_SHARED || m->size == 0 || a->location.offset > m->size ||
        a->location.length > m->size - a->location.offset)
        return NULL;
    if (m->data) return (uint8_t *)m->data + a->location.offset;
    if (fstat(m->fd, &file) != 0 || (uint64_t)file.st_size < m->offset + m->size || m->size >= SIZE_MAX) return NULL;
    void *p = mmap(NULL, (size_t)m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, (off_t)m->offset);
    if (p == MAP_FAILED) return NULL;
    *mapped = p;
    return (uint8_t *)p + a->location.offset;
}

/** Of all arguments, inputs first; false where the request has other arguments than the model. */
static bool take_values(struct call *c, void **mapped) {
    const struct faulty_prepared *p = (const struct faulty_prepared *)c->prepared;
    const struct nnvts_request *r = c->request;
    size_t bytes = 1;
    if (r->input_count != p->nin || r->output_count != p->nout || (p->nin && !r->inputs) || !r->outputs) return false;
    for (uint32_t i = 0; i < p->nout; i++) bytes += r->outputs[i].location.length;
    c->count = count_execution(c);
    uint8_t *copy = call_alloc(c, bytes);
    c->inputs = call_alloc(c, ((size_t)p->nin + p->nout) * sizeof *c->inputs);
    if (!copy || !c->inputs) return false;
    c->outputs = c->inputs + p->nin;
    for (uint32_t i = 0; i < p->nin + p->nout; i++) {
        const bool in = i < p->nin;
        const struct nnvts_argument *a = in ? &r->inputs[i] : &r->outputs[i - p->nin];
        const struct signature *s = in ? &p->inputs[i] : &p->outputs[i - p->nin];
        struct value *v = &c->inputs[i];
        *v = (struct value){.data = reach(r, a, &mapped[i]),
                            .bytes = a->location.length,
                            .elem = nnv_type(s->type) ? nnv_type(s->type)->size : 0,
                            .type = s->type,
                            .scale = s->scale,
                            .zero_point = s->zero_point,
                            .batches = s->fixed && s->rank > 1 ? s->dims[0] : 0,
                            .rank = s->rank,
                            .dims = s->dims};
        if (in || !v->data) continue;
        memcpy(copy, v->data, v->bytes);
        v->before = copy;
        copy += v->bytes;
    }
    return true;
}

static void unmap(const struct call *c, void **mapped) {
    const struct nnvts_request *r = c->request;
    for (uint32_t i = 0; i < r->input_count + r->output_count; i++) {
        const struct nnvts_argument *a = i < r->input_count ? &r->inputs[i] : &r->outputs[i - r->input_count];
        if (mapped[i]) munmap(mapped[i], (size_t)r->pools[a->location.pool].size);
    }
}

/** The caller is told of the shapes of the model it gave. */
static void restore_shapes(const struct faulty_prepared *p, struct nnvts_execution_result *result) {
    for (uint32_t i = 0; i < result->shape_count && i < p->nout; i++) {
        const struct signature *s = &p->outputs[i];
        if (!s->fixed || result->shapes[i].dimension_count != s->rank) continue;
        memcpy(result->shapes[i].dimensions, s->dims, s->rank * sizeof *s->dims);
    }
}

static void spoil(struct call *c, const struct bug *bug) {
    for (uint32_t i = 0; i < c->request->output_count && succeeded(c); i++)
        if (!bug->type || bug->type(c->outputs[i].type)) faulty_spoil(bug, &c->outputs[i]);
}

/* ----------------------------------------------------------------- executions */

static void ask_execute(struct call *c) {
    const struct faulty_prepared *p = (const struct faulty_prepared *)c->prepared;
    const struct bug *bug = p->device->bug;
    const bool spoils = bug_fault(bug, 0) && !faulty_edits(bug);
    void **mapped = NULL;
    if (p->fires && (bug->tamper || spoils))
        mapped = call_alloc(c, ((size_t)c->request->input_count + c->request->output_count) * sizeof *mapped);
    const bool tampers = mapped && take_values(c, mapped);
    c->status = c->inner->execute(c->inner, c->request, c->execution_config, c->result);
    if (succeeded(c) && p->rewritten) restore_shapes(p, c->result);
    if (tampers && spoils) spoil(c, bug);
    if (tampers && bug->tamper) bug->tamper(c);
    if (mapped) unmap(c, mapped);
}

static enum nnvts_status execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    CALL(CALL_EXECUTE, .request = request, .execution_config = config, .result = result);
    return faulty_call(&c, ask_execute);
}

static void ask_async(struct call *c) {
    c->status = c->inner->execute_async(c->inner, c->request, c->execution_config, c->callback, c->context);
}

static enum nnvts_status execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                       void *context) {
    CALL(CALL_ASYNC, .request = request, .execution_config = config, .callback = callback, .context = context);
    return faulty_call(&c, ask_async);
}

static void ask_fenced(struct call *c) {
    c->status = c->inner->execute_fenced(c->inner, c->request, c->wait_for, c->wait_for_count, c->execution_config,
                                         c->duration_ns, c->fenced);
}

static enum nnvts_status execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const int *wait_for, uint32_t wait_for_count,
                                        const struct nnvts_execution_config *config, uint64_t duration_ns,
                                        struct nnvts_fenced_execution *out) {
    CALL(CALL_FENCED, .request = request, .wait_for = wait_for, .wait_for_count = wait_for_count,
         .execution_config = config, .duration_ns = duration_ns, .fenced = out);
    return faulty_call(&c, ask_fenced);
}

static void ask_burst(struct call *c) {
    const struct faulty_prepared *p = (const struct faulty_prepared *)c->prepared;
    c->status = c->inner->create_burst(c->inner, c->burst);
    if (succeeded(c) && p->fires && (p->device->bug->burst_execute || p->device->bug->burst_release))
        faulty_wrap_burst(p->device->bug, c);
}

static enum nnvts_status create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    CALL(CALL_BURST, .burst = out);
    return faulty_call(&c, ask_burst);
}

static void ask_reusable(struct call *c) {
    c->status = c->inner->create_execution(c->inner, c->request, c->execution_config, c->reusable);
}

static enum nnvts_status create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                          const struct nnvts_execution_config *config, struct nnvts_execution **out) {
    CALL(CALL_REUSABLE, .request = request, .execution_config = config, .reusable = out);
    return faulty_call(&c, ask_reusable);
}

static void ask_release(struct call *c) { c->inner->release(c->inner); }

static void release(struct nnvts_prepared_model *self) {
    CALL(CALL_RELEASE, .request = NULL);
    faulty_call(&c, ask_release);
    free(((struct faulty_prepared *)self)->inputs);
    free(self);
}

/* ---------------------------------------------------------------- preparation */

static struct signature sign(const struct nnvts_operand *o) {
    struct signature s = {.type = o->type, .scale = o->scale, .zero_point = o->zero_point, .rank = o->dimension_count};
    s.fixed = s.rank > 0 && s.rank <= 4;
    for (uint32_t i = 0; i < s.rank && i < 4; i++) {
        s.dims[i] = o->dimensions[i];
        s.fixed = s.fixed && s.dims[i] > 0;
    }
    return s;
}

struct faulty_prepared *faulty_wrap(struct faulty_device *d, const struct nnvts_model *model,
                                    struct nnvts_prepared_model *inner) {
    const struct nnvts_subgraph *main = &model->main;
    struct faulty_prepared *p = calloc(1, sizeof *p);
    struct signature *s = calloc((size_t)main->input_count + main->output_count + 1, sizeof *s);
    if (!p || !s) {
        inner->release(inner);
        free(s);
        free(p);
        return NULL;
    }
    *p = (struct faulty_prepared){
        .base = {.struct_size = sizeof p->base,
                 .execute = execute,
                 .execute_async = inner->execute_async ? execute_async : NULL,
                 .execute_fenced = inner->execute_fenced ? execute_fenced : NULL,
                 .create_burst = inner->create_burst ? create_burst : NULL,
                 .create_execution = inner->create_execution ? create_execution : NULL,
                 .release = release},
        .inner = inner,
        .device = d,
        .fires = faulty_fires(d, model),
        .nin = main->input_count,
        .nout = main->output_count,
        .inputs = s,
        .outputs = s + main->input_count,
    };
    for (uint32_t i = 0; i < p->nin; i++) p->inputs[i] = sign(&main->operands[main->inputs[i]]);
    for (uint32_t i = 0; i < p->nout; i++) p->outputs[i] = sign(&main->operands[main->outputs[i]]);
    return p;
}
