/* SPDX-License-Identifier: Apache-2.0 */
#include "codec.h"

#include <string.h>

/* -------------------------------------------------------------------- memory */

void host_put_memory(struct host_out *o, const struct nnvts_memory *m) {
    host_put_u32(o, m->kind);
    host_put_u32(o, m->prot);
    host_put_u32(o, host_put_fd(o, m->kind == NNVTS_MEMORY_SHARED ? m->fd : -1));
    host_put_u32(o, m->token);
    host_put_u64(o, m->offset);
    host_put_u64(o, m->size);
}

struct nnvts_memory host_get_memory(struct host_in *in) {
    struct nnvts_memory m = {.kind = host_get_u32(in)};
    m.prot = host_get_u32(in);
    m.fd = host_get_fd(in);
    m.token = host_get_u32(in);
    m.offset = host_get_u64(in);
    m.size = host_get_u64(in);
    if (m.fd >= 0 && !host_memory_holds(m.fd, m.offset, m.size)) in->invalid = true;
    return m;
}

enum { MEMORY_BYTES = 32 };

static void put_pools(struct host_out *o, const struct nnvts_memory *pools, uint32_t count) {
    if (count && !pools) o->invalid = true;
    if (o->invalid) return;
    host_put_u32(o, count);
    for (uint32_t i = 0; i < count && !o->failed; i++) host_put_memory(o, &pools[i]);
}

static const struct nnvts_memory *get_pools(struct host_in *in, uint32_t *count) {
    *count = host_get_count(in, MEMORY_BYTES);
    struct nnvts_memory *pools = host_in_alloc(in, *count + 1, sizeof *pools);
    for (uint32_t i = 0; i < *count && !in->failed; i++) pools[i] = host_get_memory(in);
    return pools;
}

static void put_location(struct host_out *o, const struct nnvts_location *l) { host_put_bytes(o, l, sizeof *l); }

static struct nnvts_location get_location(struct host_in *in) {
    struct nnvts_location l = {.pool = host_get_u32(in)};
    l.offset = host_get_u32(in);
    l.length = host_get_u32(in);
    l.padding = host_get_u32(in);
    return l;
}

/* --------------------------------------------------------------------- model */

/** Extents; a rank that no driver takes is refused here, since nobody knows whether there is such an array. */
static void put_dimensions(struct host_out *o, const uint32_t *dimensions, uint32_t count) {
    if (count > HOST_DIMS) o->invalid = true;
    host_put_array(o, dimensions, count, sizeof *dimensions);
}

/** More scales than any known extent: likewise. */
static bool too_many_scales(const struct nnvts_operand *p) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->dimension_count; i++) {
        if (p->dimensions[i] == 0) return false;
        if (p->dimensions[i] > most) most = p->dimensions[i];
    }
    return p->channel_quant.scale_count > most;
}

static void put_operand(struct host_out *o, const struct nnvts_operand *p) {
    host_put_u32(o, (uint32_t)p->type);
    put_dimensions(o, p->dimensions, p->dimension_count);
    if (o->invalid || too_many_scales(p)) {
        o->invalid = true;
        return;
    }
    host_put_f32(o, p->scale);
    host_put_u32(o, (uint32_t)p->zero_point);
    host_put_u32(o, p->lifetime);
    put_location(o, &p->location);
    host_put_u32(o, p->channel_quant.channel_dim);
    host_put_array(o, p->channel_quant.scales, p->channel_quant.scale_count, sizeof *p->channel_quant.scales);
    host_put_array(o, p->extension_data, p->extension_data_bytes, 1);
}

static void get_operand(struct host_in *in, struct nnvts_operand *p) {
    p->type = (int32_t)host_get_u32(in);
    p->dimensions = host_get_array(in, sizeof *p->dimensions, &p->dimension_count);
    p->scale = host_get_f32(in);
    p->zero_point = (int32_t)host_get_u32(in);
    p->lifetime = host_get_u32(in);
    p->location = get_location(in);
    p->channel_quant.channel_dim = host_get_u32(in);
    p->channel_quant.scales = host_get_array(in, sizeof *p->channel_quant.scales, &p->channel_quant.scale_count);
    p->extension_data = host_get_array(in, 1, &p->extension_data_bytes);
}

enum { OPERAND_BYTES = 48, OPERATION_BYTES = 12, SUBGRAPH_BYTES = 16, PREFIX_BYTES = 8, ARGUMENT_BYTES = 24 };

static void put_subgraph(struct host_out *o, const struct nnvts_subgraph *s) {
    if ((s->operand_count && !s->operands) || (s->operation_count && !s->operations)) o->invalid = true;
    if (o->invalid) return;
    host_put_u32(o, s->operand_count);
    for (uint32_t i = 0; i < s->operand_count && !o->failed && !o->invalid; i++) put_operand(o, &s->operands[i]);
    host_put_u32(o, s->operation_count);
    for (uint32_t i = 0; i < s->operation_count && !o->failed && !o->invalid; i++) {
        const struct nnvts_operation *op = &s->operations[i];
        host_put_u32(o, (uint32_t)op->type);
        host_put_array(o, op->inputs, op->input_count, sizeof *op->inputs);
        host_put_array(o, op->outputs, op->output_count, sizeof *op->outputs);
    }
    host_put_array(o, s->inputs, s->input_count, sizeof *s->inputs);
    host_put_array(o, s->outputs, s->output_count, sizeof *s->outputs);
}

static void get_subgraph(struct host_in *in, struct nnvts_subgraph *s) {
    s->operand_count = host_get_count(in, OPERAND_BYTES);
    struct nnvts_operand *operands = host_in_alloc(in, s->operand_count + 1, sizeof *operands);
    for (uint32_t i = 0; i < s->operand_count && !in->failed; i++) get_operand(in, &operands[i]);
    s->operation_count = host_get_count(in, OPERATION_BYTES);
    struct nnvts_operation *operations = host_in_alloc(in, s->operation_count + 1, sizeof *operations);
    for (uint32_t i = 0; i < s->operation_count && !in->failed; i++) {
        operations[i].type = (int32_t)host_get_u32(in);
        operations[i].inputs = host_get_array(in, sizeof(uint32_t), &operations[i].input_count);
        operations[i].outputs = host_get_array(in, sizeof(uint32_t), &operations[i].output_count);
    }
    s->operands = operands;
    s->operations = operations;
    s->inputs = host_get_array(in, sizeof *s->inputs, &s->input_count);
    s->outputs = host_get_array(in, sizeof *s->outputs, &s->output_count);
}

void host_put_model(struct host_out *o, const struct nnvts_model *m) {
    if ((m->referenced_count && !m->referenced) || (m->extension_count && !m->extensions)) o->invalid = true;
    put_subgraph(o, &m->main);
    if (o->invalid) return;
    host_put_u32(o, m->referenced_count);
    for (uint32_t i = 0; i < m->referenced_count && !o->failed && !o->invalid; i++) put_subgraph(o, &m->referenced[i]);
    host_put_array(o, m->operand_values, m->operand_values_bytes, 1);
    put_pools(o, m->pools, m->pool_count);
    const uint32_t extensions = m->extensions ? m->extension_count : 0;
    host_put_u32(o, extensions);
    for (uint32_t i = 0; i < extensions && !o->failed && !o->invalid; i++) {
        host_put_text(o, m->extensions[i].name);
        host_put_u32(o, m->extensions[i].prefix);
    }
    host_put_u32(o, m->relax_float32_to_float16);
}

void host_get_model(struct host_in *in, struct nnvts_model *m) {
    *m = (struct nnvts_model){0};
    get_subgraph(in, &m->main);
    m->referenced_count = host_get_count(in, SUBGRAPH_BYTES);
    struct nnvts_subgraph *referenced = host_in_alloc(in, m->referenced_count + 1, sizeof *referenced);
    for (uint32_t i = 0; i < m->referenced_count && !in->failed; i++) get_subgraph(in, &referenced[i]);
    m->referenced = referenced;
    m->operand_values = host_get_array(in, 1, &m->operand_values_bytes);
    m->pools = get_pools(in, &m->pool_count);
    m->extension_count = host_get_count(in, PREFIX_BYTES);
    struct nnvts_extension_prefix *extensions = host_in_alloc(in, m->extension_count + 1, sizeof *extensions);
    for (uint32_t i = 0; extensions && i < m->extension_count && !in->failed; i++) {
        extensions[i].name = host_get_text(in);
        extensions[i].prefix = (uint16_t)host_get_u32(in);
    }
    m->extensions = extensions;
    m->relax_float32_to_float16 = host_get_u32(in) != 0;
}

void host_put_cache(struct host_out *o, const struct nnvts_cache *c) {
    host_put_u32(o, c != NULL);
    if (!c) return;
    const struct {
        const int *fds;
        uint32_t count;
    } lists[] = {{c->model_fds, c->model_fd_count}, {c->data_fds, c->data_fd_count}};
    for (int k = 0; k < 2; k++) {
        if (lists[k].count && !lists[k].fds) o->invalid = true;
        if (o->invalid) return;
        host_put_u32(o, lists[k].count);
        for (uint32_t i = 0; i < lists[k].count && !o->failed; i++) host_put_u32(o, host_put_fd(o, lists[k].fds[i]));
    }
    host_put_bytes(o, c->token, sizeof c->token);
}

const struct nnvts_cache *host_get_cache(struct host_in *in) {
    if (!host_get_u32(in)) return NULL;
    struct nnvts_cache *c = host_in_alloc(in, 1, sizeof *c);
    if (!c) return NULL;
    for (int k = 0; k < 2; k++) {
        uint32_t count = host_get_count(in, sizeof(uint32_t));
        int *fds = host_in_alloc(in, count + 1, sizeof *fds);
        for (uint32_t i = 0; i < count && !in->failed; i++) fds[i] = host_get_fd(in);
        *(k ? &c->data_fds : &c->model_fds) = fds;
        *(k ? &c->data_fd_count : &c->model_fd_count) = count;
    }
    for (size_t i = 0; i < sizeof c->token; i += sizeof(uint32_t)) {
        uint32_t word = host_get_u32(in);
        memcpy(c->token + i, &word, sizeof word);
    }
    return c;
}

void host_put_prepare_config(struct host_out *o, const struct nnvts_prepare_config *c) {
    host_put_u32(o, c != NULL);
    if (!c) return;
    host_put_u32(o, c->preference);
    host_put_u32(o, c->priority);
    host_put_u64(o, c->deadline_ns);
    host_put_cache(o, c->cache);
}

void host_get_prepare_config(struct host_in *in, struct nnvts_prepare_config *c) {
    *c = (struct nnvts_prepare_config){.preference = host_get_u32(in)};
    c->priority = host_get_u32(in);
    c->deadline_ns = host_get_u64(in);
    c->cache = host_get_cache(in);
}

/* ------------------------------------------------------------------- request */

static void put_arguments(struct host_out *o, const struct nnvts_argument *a, uint32_t count) {
    if (count && !a) o->invalid = true;
    if (o->invalid) return;
    host_put_u32(o, count);
    for (uint32_t i = 0; i < count && !o->failed && !o->invalid; i++) {
        host_put_u32(o, a[i].has_no_value);
        put_location(o, &a[i].location);
        put_dimensions(o, a[i].dimensions, a[i].dimension_count);
    }
}

static const struct nnvts_argument *get_arguments(struct host_in *in, uint32_t *count) {
    *count = host_get_count(in, ARGUMENT_BYTES);
    struct nnvts_argument *a = host_in_alloc(in, *count + 1, sizeof *a);
    for (uint32_t i = 0; i < *count && !in->failed; i++) {
        a[i].has_no_value = host_get_u32(in) != 0;
        a[i].location = get_location(in);
        a[i].dimensions = host_get_array(in, sizeof *a[i].dimensions, &a[i].dimension_count);
    }
    return a;
}

void host_put_request(struct host_out *o, const struct nnvts_request *r, const struct nnvts_memory *pools) {
    put_arguments(o, r->inputs, r->input_count);
    put_arguments(o, r->outputs, r->output_count);
    put_pools(o, pools, r->pool_count);
}

void host_get_request(struct host_in *in, struct nnvts_request *r) {
    *r = (struct nnvts_request){0};
    r->inputs = get_arguments(in, &r->input_count);
    r->outputs = get_arguments(in, &r->output_count);
    r->pools = get_pools(in, &r->pool_count);
}

void host_put_config(struct host_out *o, const struct nnvts_execution_config *c) {
    static const struct nnvts_execution_config usual = {NNVTS_NO_TIME, NNVTS_NO_TIME, false};
    if (!c) c = &usual;
    host_put_u64(o, c->deadline_ns);
    host_put_u64(o, c->loop_timeout_ns);
    host_put_u32(o, c->measure_timing);
}

struct nnvts_execution_config host_get_config(struct host_in *in) {
    struct nnvts_execution_config c = {.deadline_ns = host_get_u64(in)};
    c.loop_timeout_ns = host_get_u64(in);
    c.measure_timing = host_get_u32(in) != 0;
    return c;
}

/* -------------------------------------------------------------------- result */

void host_put_timing(struct host_out *o, const struct nnvts_timing *t) {
    host_put_u64(o, t->on_device_ns);
    host_put_u64(o, t->in_driver_ns);
}

struct nnvts_timing host_get_timing(struct host_in *in) {
    struct nnvts_timing t = {.on_device_ns = host_get_u64(in)};
    t.in_driver_ns = host_get_u64(in);
    return t;
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/** Extents of a shape that can be sent. */
static uint32_t room_of(const struct nnvts_output_shape *s) {
    return s->dimensions ? smaller(s->dimension_count, HOST_DIMS) : 0;
}

void host_put_room(struct host_out *o, const struct nnvts_execution_result *r, uint32_t shapes) {
    if (!r->shapes) shapes = 0;
    host_put_u32(o, r->shape_count);
    host_put_timing(o, &r->timing);
    host_put_u32(o, shapes);
    for (uint32_t i = 0; i < shapes && !o->failed; i++) host_put_u32(o, room_of(&r->shapes[i]));
}

void host_get_room(struct host_in *in, uint32_t shapes, struct nnvts_execution_result *r, uint32_t *given) {
    *r = (struct nnvts_execution_result){.shape_count = host_get_u32(in)};
    r->timing = host_get_timing(in);
    *given = host_get_count(in, sizeof(uint32_t));
    uint32_t count = *given > shapes ? *given : shapes;
    struct nnvts_output_shape *s = host_in_alloc(in, (size_t)count + 1, sizeof *s);
    uint32_t *dims = host_in_alloc(in, ((size_t)count + 1) * HOST_DIMS, sizeof *dims);
    for (uint32_t i = 0; i < count && !in->failed; i++) {
        uint32_t rank = i < *given ? smaller(host_get_u32(in), HOST_DIMS) : HOST_DIMS;
        s[i] = (struct nnvts_output_shape){.dimension_count = rank, .dimensions = dims + (size_t)i * HOST_DIMS};
    }
    r->shapes = s;
}

void host_put_result(struct host_out *o, const struct nnvts_execution_result *r, uint32_t given) {
    uint32_t count = smaller(r->shape_count, given);
    host_put_u32(o, r->shape_count);
    host_put_timing(o, &r->timing);
    host_put_u32(o, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct nnvts_output_shape *s = &r->shapes[i];
        host_put_u32(o, s->is_sufficient);
        host_put_u32(o, s->dimension_count);
        host_put_array(o, s->dimensions, room_of(s), sizeof *s->dimensions);
    }
}

void host_get_result(struct host_in *in, struct nnvts_execution_result *r, uint32_t shapes) {
    enum { SHAPE_BYTES = 12 };
    r->shape_count = host_get_u32(in);
    r->timing = host_get_timing(in);
    uint32_t count = host_get_count(in, SHAPE_BYTES);
    for (uint32_t i = 0; i < count && !in->failed; i++) {
        bool sufficient = host_get_u32(in) != 0;
        uint32_t rank = host_get_u32(in), n, *dims = host_get_array(in, sizeof *dims, &n);
        if (in->failed || i >= shapes) continue;
        struct nnvts_output_shape *s = &r->shapes[i];
        if (n) memcpy(s->dimensions, dims, smaller(n, room_of(s)) * sizeof *dims);
        s->is_sufficient = sufficient;
        s->dimension_count = rank;
    }
}

/* -------------------------------------------------------------------- device */

static void put_performance(struct host_out *o, const struct nnvts_performance *p) {
    host_put_f32(o, p->exec_time);
    host_put_f32(o, p->power_usage);
}

static struct nnvts_performance get_performance(struct host_in *in) {
    struct nnvts_performance p = {.exec_time = host_get_f32(in)};
    p.power_usage = host_get_f32(in);
    return p;
}

enum { OPERAND_PERFORMANCE_BYTES = 12, EXTENSION_BYTES = 8, EXTENSION_TYPE_BYTES = 12 };

static void put_extensions(struct host_out *o, const struct nnvts_device *d) {
    uint32_t count = d->extensions ? d->extension_count : 0;
    host_put_u32(o, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct nnvts_extension *e = &d->extensions[i];
        uint32_t types = e->operand_types ? e->operand_type_count : 0;
        host_put_text(o, e->name);
        host_put_u32(o, types);
        for (uint32_t k = 0; k < types; k++) {
            host_put_u32(o, e->operand_types[k].type);
            host_put_u32(o, e->operand_types[k].is_tensor);
            host_put_u32(o, e->operand_types[k].byte_size);
        }
    }
}

static void get_extensions(struct host_in *in, struct nnvts_device *d) {
    d->extension_count = host_get_count(in, EXTENSION_BYTES);
    struct nnvts_extension *e = host_in_alloc(in, d->extension_count + 1, sizeof *e);
    for (uint32_t i = 0; i < d->extension_count && !in->failed; i++) {
        e[i].name = host_get_text(in);
        e[i].operand_type_count = host_get_count(in, EXTENSION_TYPE_BYTES);
        struct nnvts_extension_operand_type *types = host_in_alloc(in, e[i].operand_type_count + 1, sizeof *types);
        for (uint32_t k = 0; k < e[i].operand_type_count && !in->failed; k++) {
            types[k].type = (uint16_t)host_get_u32(in);
            types[k].is_tensor = host_get_u32(in) != 0;
            types[k].byte_size = host_get_u32(in);
        }
        e[i].operand_types = types;
    }
    d->extensions = e;
}

void host_put_device(struct host_out *o, const struct nnvts_device *d) {
    const struct nnvts_capabilities *c = &d->capabilities;
    uint32_t count = c->operand_performance ? c->operand_performance_count : 0;
    host_put_u32(o, (d->prepare_from_cache ? HOST_HAS_CACHE : 0u) | (d->allocate ? HOST_HAS_ALLOCATE : 0u));
    host_put_u32(o, (uint32_t)d->feature_level);
    host_put_u32(o, (uint32_t)d->type);
    host_put_text(o, d->name);
    host_put_text(o, d->version);
    put_performance(o, &c->relaxed_scalar);
    put_performance(o, &c->relaxed_tensor);
    put_performance(o, &c->if_performance);
    put_performance(o, &c->while_performance);
    host_put_u32(o, count);
    for (uint32_t i = 0; i < count; i++) {
        host_put_u32(o, (uint32_t)c->operand_performance[i].type);
        put_performance(o, &c->operand_performance[i].info);
    }
    put_extensions(o, d);
    host_put_u32(o, d->model_cache_files);
    host_put_u32(o, d->data_cache_files);
    host_put_u32(o, d->struct_size >= sizeof *d ? d->limits : 0);
}

void host_get_device(struct host_in *in, struct nnvts_device *d, uint32_t *has) {
    struct nnvts_capabilities *c = &d->capabilities;
    *has = host_get_u32(in);
    d->feature_level = (int32_t)host_get_u32(in);
    d->type = (int32_t)host_get_u32(in);
    d->name = host_get_text(in);
    d->version = host_get_text(in);
    c->relaxed_scalar = get_performance(in);
    c->relaxed_tensor = get_performance(in);
    c->if_performance = get_performance(in);
    c->while_performance = get_performance(in);
    c->operand_performance_count = host_get_count(in, OPERAND_PERFORMANCE_BYTES);
    struct nnvts_operand_performance *p = host_in_alloc(in, c->operand_performance_count + 1, sizeof *p);
    for (uint32_t i = 0; i < c->operand_performance_count && !in->failed; i++) {
        p[i].type = (int32_t)host_get_u32(in);
        p[i].info = get_performance(in);
    }
    c->operand_performance = p;
    get_extensions(in, d);
    d->model_cache_files = host_get_u32(in);
    d->data_cache_files = host_get_u32(in);
    d->limits = host_get_u32(in);
}
