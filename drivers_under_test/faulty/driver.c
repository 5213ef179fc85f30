/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.c The device: another driver's, with the bug in between. Option: BUG[@OPERATION][,over=DRIVER]. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "faulty.h"

struct faulty_device {
    struct nnvts_device base;
    struct nnvts_device *inner;
    const struct bug *bug;
    int32_t op;
    char name[96];
    atomic_ullong executions;
};

struct faulty_prepared {
    struct nnvts_prepared_model base;
    struct nnvts_prepared_model *inner;
    struct faulty_device *device;
    bool fires;     /**< the bug concerns this model */
    bool rewritten; /**< the inner driver got another model */
    uint32_t nin, nout;
    struct signature {
        int32_t type;
        float scale;
        int32_t zero_point;
        uint32_t rank, dims[4];
        bool fixed; /**< all extents are known, and here */
    } * inputs, *outputs;
};

/** The bug concerns a model with its operation. */
static bool fires(const struct faulty_device *d, const struct nnvts_model *model) {
    if (d->bug->alone && model->main.operation_count != 1) return false;
    if (d->op == ANY_OPERATION) return true;
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        if (model->main.operations[i].type == d->op) return true;
    return false;
}

static void strike(const struct faulty_device *d, enum strike_place place, bool fired) {
    if (fired && d->bug->strike && d->bug->place == place) d->bug->strike();
}

/* ------------------------------------------------------------------ execution */

/** Data of an argument; *mapped is what is to be unmapped, or NULL. */
static uint8_t *reach(const struct nnvts_request *r, const struct nnvts_argument *a, void **mapped) {
    *mapped = NULL;
    if (!r->pools || a->has_no_value || a->location.pool >= r->pool_count) return NULL;
    const struct nnvts_memory *m = &r->pools[a->location.pool];
    struct stat file;
    if (m->kind != NNVTS_MEMORY_SHARED || m->size == 0 || a->location.offset > m->size ||
        a->location.length > m->size - a->location.offset)
        return NULL;
    if (m->data) return (uint8_t *)m->data + a->location.offset;
    if (fstat(m->fd, &file) != 0 || (uint64_t)file.st_size < m->offset + m->size) return NULL;
    void *p = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, (off_t)m->offset);
    if (p == MAP_FAILED) return NULL;
    *mapped = p;
    return (uint8_t *)p + a->location.offset;
}

/** Calls the inner driver's execute, and the bug behind it. */
struct tampering {
    struct tamper t;
    void **mapped;
    uint8_t *copies;
};

static void end_tampering(struct tampering *x) {
    uint32_t n = x->mapped ? x->t.request->input_count + x->t.request->output_count : 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct nnvts_request *r = x->t.request;
        const struct nnvts_argument *a = i < r->input_count ? &r->inputs[i] : &r->outputs[i - r->input_count];
        if (x->mapped[i]) munmap(x->mapped[i], r->pools[a->location.pool].size);
    }
    free(x->copies);
    free(x->mapped);
    free(x->t.inputs);
}

static void take_values(struct faulty_prepared *p, struct tampering *x, const struct nnvts_request *r) {
    uint8_t *copy = x->copies;
    for (uint32_t i = 0; i < p->nin + p->nout; i++) {
        bool in = i < p->nin;
        const struct nnvts_argument *a = in ? &r->inputs[i] : &r->outputs[i - p->nin];
        const struct signature *s = in ? &p->inputs[i] : &p->outputs[i - p->nin];
        struct tamper_value *v = &x->t.inputs[i];
        *v = (struct tamper_value){.data = reach(r, a, &x->mapped[i]),
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
}

static bool begin_tampering(struct faulty_prepared *p, const struct nnvts_request *r,
                            struct nnvts_execution_result *result, struct tampering *x) {
    size_t n = (size_t)p->nin + p->nout, bytes = 1;
    *x = (struct tampering){.t = {.request = r, .result = result}};
    if (r->input_count != p->nin || r->output_count != p->nout || (p->nin && !r->inputs) || !r->outputs) return false;
    for (uint32_t i = 0; i < p->nout; i++) bytes += r->outputs[i].location.length;
    x->t.count = atomic_fetch_add(&p->device->executions, 1);
    x->t.inputs = calloc(n + 1, sizeof *x->t.inputs);
    x->mapped = calloc(n + 1, sizeof *x->mapped);
    x->copies = malloc(bytes);
    if (!x->t.inputs || !x->mapped || !x->copies) return false;
    x->t.outputs = x->t.inputs + p->nin;
    take_values(p, x, r);
    return true;
}

/** The caller is told of the shapes of the model it gave. */
static void restore_shapes(const struct faulty_prepared *p, struct nnvts_execution_result *result) {
    for (uint32_t i = 0; i < result->shape_count && i < p->nout; i++) {
        const struct signature *s = &p->outputs[i];
        if (!s->fixed || result->shapes[i].dimension_count != s->rank) continue;
        memcpy(result->shapes[i].dimensions, s->dims, s->rank * sizeof *s->dims);
    }
}

static enum nnvts_status execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    struct faulty_prepared *p = (struct faulty_prepared *)self;
    const struct bug *bug = p->device->bug;
    struct tampering x = {0};
    const bool spoils = bug_fault(bug, 0) && !faulty_edits(bug);
    bool tampers = p->fires && (bug->execute || spoils) && begin_tampering(p, request, result, &x);
    strike(p->device, STRIKE_EXECUTE, p->fires);
    enum nnvts_status status = p->inner->execute(p->inner, request, config, result);
    if (status == NNVTS_STATUS_NONE && p->rewritten) restore_shapes(p, result);
    if (tampers) status = spoils ? faulty_spoil(bug, &x.t, status) : bug->execute(&x.t, status);
    end_tampering(&x);
    return status;
}

static enum nnvts_status execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                       void *context) {
    struct nnvts_prepared_model *inner = ((struct faulty_prepared *)self)->inner;
    return inner->execute_async(inner, request, config, callback, context);
}

static enum nnvts_status execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const int *wait_for, uint32_t wait_for_count,
                                        const struct nnvts_execution_config *config, uint64_t duration_ns,
                                        struct nnvts_fenced_execution *out) {
    struct nnvts_prepared_model *inner = ((struct faulty_prepared *)self)->inner;
    return inner->execute_fenced(inner, request, wait_for, wait_for_count, config, duration_ns, out);
}

static enum nnvts_status create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    struct nnvts_prepared_model *inner = ((struct faulty_prepared *)self)->inner;
    return inner->create_burst(inner, out);
}

static enum nnvts_status create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                          const struct nnvts_execution_config *config, struct nnvts_execution **out) {
    struct nnvts_prepared_model *inner = ((struct faulty_prepared *)self)->inner;
    return inner->create_execution(inner, request, config, out);
}

static void release_prepared(struct nnvts_prepared_model *self) {
    struct faulty_prepared *p = (struct faulty_prepared *)self;
    strike(p->device, STRIKE_RELEASE, p->fires);
    p->inner->release(p->inner);
    free(p->inputs);
    free(p);
}

/* ---------------------------------------------------------------- preparation */

static struct signature sign(const struct nnvts_operand *o) {
    struct signature s = {.type = o->type, .scale = o->scale, .zero_point = o->zero_point, .rank = o->dimension_count};
    s.fixed = s.rank > 0 && s.rank <= 4;
    for (uint32_t i = 0; i < s.rank && s.fixed; i++) {
        s.dims[i] = o->dimensions[i];
        s.fixed = s.dims[i] > 0;
    }
    return s;
}

/** Wraps the inner driver's prepared model; NULL when out of memory. */
static struct faulty_prepared *wrap(struct faulty_device *d, const struct nnvts_model *model,
                                    struct nnvts_prepared_model *inner) {
    const struct nnvts_subgraph *main = &model->main;
    struct faulty_prepared *p = calloc(1, sizeof *p);
    struct signature *s = calloc((size_t)main->input_count + main->output_count + 1, sizeof *s);
    if (!p || !s) {
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
                 .release = release_prepared},
        .inner = inner,
        .device = d,
        .fires = fires(d, model),
        .nin = main->input_count,
        .nout = main->output_count,
        .inputs = s,
        .outputs = s + main->input_count,
    };
    for (uint32_t i = 0; i < p->nin; i++) p->inputs[i] = sign(&main->operands[main->inputs[i]]);
    for (uint32_t i = 0; i < p->nout; i++) p->outputs[i] = sign(&main->operands[main->outputs[i]]);
    return p;
}

enum nnvts_status faulty_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                 const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    struct faulty_device *d = (struct faulty_device *)self;
    struct nnvts_prepared_model *inner = NULL;
    /* Only what the inner driver takes for valid is looked into. */
    enum nnvts_status status = d->inner->prepare_model(d->inner, model, config, &inner);
    if (status != NNVTS_STATUS_NONE) return status;
    bool fired = fires(d, model);
    strike(d, STRIKE_PREPARE, fired);
    struct nnvts_prepared_model *other = NULL;
    bool rewritten =
        fired && faulty_edits(d->bug) && faulty_prepare_edited(d->inner, d->bug, d->op, model, config, &other);
    if (rewritten) {
        inner->release(inner);
        inner = other;
    }
    if (fired && d->bug->prepare) status = d->bug->prepare(model, status);
    struct faulty_prepared *p = status == NNVTS_STATUS_NONE ? wrap(d, model, inner) : NULL;
    if (!p || (fired && d->bug->no_prepared)) {
        inner->release(inner);
        if (p) free(p->inputs);
        free(p);
        return p || status != NNVTS_STATUS_NONE ? status : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    p->rewritten = rewritten;
    if (fired && d->bug->prepared) d->bug->prepared(&p->base);
    *out = &p->base;
    return NNVTS_STATUS_NONE;
}

enum nnvts_status faulty_prepare_from_cache(struct nnvts_device *self, const struct nnvts_cache *cache,
                                            uint64_t deadline_ns, struct nnvts_prepared_model **out) {
    static const struct nnvts_model unknown = {.main = {0}};
    struct faulty_device *d = (struct faulty_device *)self;
    struct nnvts_prepared_model *inner = NULL;
    enum nnvts_status status = d->inner->prepare_from_cache(d->inner, cache, deadline_ns, &inner);
    if (status != NNVTS_STATUS_NONE) return status;
    struct faulty_prepared *p = wrap(d, &unknown, inner);
    if (!p) {
        inner->release(inner);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    if (p->fires && d->bug->prepared) d->bug->prepared(&p->base);
    *out = &p->base;
    return NNVTS_STATUS_NONE;
}

enum nnvts_status faulty_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                  struct nnvts_buffer **out) {
    struct nnvts_device *inner = faulty_inner_device(self);
    if (!desc || (desc->prepared_count && !desc->prepared)) return inner->allocate(inner, desc, out);
    struct nnvts_prepared_model **prepared = calloc((size_t)desc->prepared_count + 1, sizeof(void *));
    if (!prepared) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    for (uint32_t i = 0; i < desc->prepared_count; i++)
        prepared[i] = desc->prepared[i] ? faulty_inner(desc->prepared[i]) : NULL;
    struct nnvts_buffer_desc theirs = *desc;
    theirs.prepared = prepared;
    enum nnvts_status status = inner->allocate(inner, &theirs, out);
    free(prepared);
    return status;
}

struct nnvts_device *faulty_inner_device(struct nnvts_device *device) {
    return ((struct faulty_device *)device)->inner;
}

struct nnvts_prepared_model *faulty_inner(struct nnvts_prepared_model *prepared) {
    return ((struct faulty_prepared *)prepared)->inner;
}

uint64_t faulty_count(struct nnvts_prepared_model *prepared) {
    return atomic_fetch_add(&((struct faulty_prepared *)prepared)->device->executions, 1);
}

static enum nnvts_status get_supported_operations(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported) {
    struct faulty_device *d = (struct faulty_device *)self;
    enum nnvts_status status = d->inner->get_supported_operations(d->inner, model, supported);
    if (status != NNVTS_STATUS_NONE || !fires(d, model)) return status;
    strike(d, STRIKE_SUPPORTED, true);
    return d->bug->supported ? d->bug->supported(model, supported, status) : status;
}

static enum nnvts_device_status get_status(struct nnvts_device *self) {
    struct nnvts_device *inner = ((struct faulty_device *)self)->inner;
    return inner->get_status(inner);
}

static void release_device(struct nnvts_device *self) {
    struct faulty_device *d = (struct faulty_device *)self;
    d->inner->release(d->inner);
    free(d);
}

/* -------------------------------------------------------------------- opening */

/** What follows the bug's name. */
struct option {
    const struct bug *bug;
    int32_t op;
    char over[64];
};

static const char *read_option(const char *text, struct option *out) {
    static const char *const usage = "expected BUG[@OPERATION][,over=DRIVER]";
    if (!text) text = "none";
    size_t n = strcspn(text, "@,");
    out->bug = bug_by_name(text, n);
    if (!out->bug) return usage;
    out->op = out->bug->op;
    text += n;
    if (*text == '@') {
        n = strcspn(++text, ",");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)n, text);
        const struct nnv_op *op = nnv_op_by_name(name);
        if (!op || n >= sizeof name) return "expected the name of an operation behind '@'";
        out->op = op->code;
        text += n;
    }
    snprintf(out->over, sizeof out->over, "%s", out->bug->over ? out->bug->over : "cpu");
    if (*text == 0) return NULL;
    if (strncmp(text, ",over=", 6) != 0 || !text[6] || strlen(text + 6) >= sizeof out->over) return usage;
    snprintf(out->over, sizeof out->over, "%s", text + 6);
    return NULL;
}

/** Loads the driver `name` from the folder that this one lies in. */
static const char *open_inner(const char *name, struct nnvts_device **out) {
    Dl_info here;
    char path[4096];
    const char *error = NULL;
    if (!dladdr((void *)(uintptr_t)nnvts_driver_get, &here) || !here.dli_fname) return "it can't find its own file";
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash ? (int)(slash + 1 - here.dli_fname) : 0;
    int n = snprintf(path, sizeof path, "%.*s%s.so", folder, here.dli_fname, name);
    void *handle = n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!handle) return "the driver to plant the bug in can't be loaded from this one's folder";
    nnvts_driver_get_fn get = NULL;
    void *symbol = dlsym(handle, NNVTS_DRIVER_SYMBOL);
    memcpy(&get, &symbol, sizeof get);
    const struct nnvts_driver *driver = get ? get() : NULL;
    if (!driver || driver->abi_version != NNVTS_DRIVER_ABI_VERSION) return "what over= names is no driver of this ABI";
    if (driver->open(NULL, out, &error) == NNVTS_STATUS_NONE) return NULL;
    return error ? error : "the driver to plant the bug in refused to open";
}

static enum nnvts_status open_device(const char *options, struct nnvts_device **out, const char **error) {
    struct option option;
    struct nnvts_device *inner = NULL;
    const char *reason = read_option(options, &option);
    if (!reason) reason = open_inner(option.over, &inner);
    if (reason) {
        *error = reason;
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    struct faulty_device *d = calloc(1, sizeof *d);
    if (!d) {
        inner->release(inner);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    d->base = *inner;
    d->inner = inner;
    d->bug = option.bug;
    d->op = option.op;
    snprintf(d->name, sizeof d->name, "nnvts-faulty-%s", option.bug->name);
    d->base.struct_size = sizeof d->base;
    d->base.name = d->name;
    d->base.get_status = get_status;
    d->base.get_supported_operations = get_supported_operations;
    d->base.prepare_model = faulty_prepare;
    d->base.prepare_from_cache = inner->prepare_from_cache ? faulty_prepare_from_cache : NULL;
    d->base.allocate = inner->allocate ? faulty_allocate : NULL;
    d->base.release = release_device;
    if (d->bug->device) d->bug->device(&d->base);
    *out = &d->base;
    return NNVTS_STATUS_NONE;
}

const struct nnvts_driver *nnvts_driver_get(void) {
    enum { NAMES = 512 };
    static const char *names[NAMES];
    static struct nnvts_driver driver = {.struct_size = sizeof driver,
                                         .abi_version = NNVTS_DRIVER_ABI_VERSION,
                                         .name = "faulty",
                                         .open = open_device,
                                         .options = names};
    const struct bug *bug;
    for (size_t i = 0; i + 1 < NAMES && (bug = bug_at(i)); i++) names[i] = bug->name;
    return &driver;
}
