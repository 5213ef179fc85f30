/* SPDX-License-Identifier: Apache-2.0 */
#include "codec.h"

#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------------- parts */

static void u32(struct host_codec c, uint32_t *value) {
    if (c.in)
        *value = host_get_u32(c.in);
    else
        host_put_u32(c.out, *value);
}

static void i32(struct host_codec c, int32_t *value) {
    uint32_t word = (uint32_t)*value;
    u32(c, &word);
    *value = (int32_t)word;
}

static void u64(struct host_codec c, uint64_t *value) {
    if (c.in)
        *value = host_get_u64(c.in);
    else
        host_put_u64(c.out, *value);
}

static void f32(struct host_codec c, float *value) {
    if (c.in)
        *value = host_get_f32(c.in);
    else
        host_put_f32(c.out, *value);
}

static void boolean(struct host_codec c, bool *value) {
    uint32_t word = c.in ? 0 : *value; /* what is read into may hold no bool yet */
    u32(c, &word);
    *value = word != 0;
}

static void text(struct host_codec c, const char **value) {
    if (c.in)
        *value = host_get_text(c.in);
    else
        host_put_text(c.out, *value);
}

static void descriptor(struct host_codec c, int *fd) {
    if (c.in)
        *fd = host_get_fd(c.in);
    else
        host_put_u32(c.out, host_put_fd(c.out, *fd));
}

/** count elements of `size` bytes as they stand; what is read is new. */
static const void *array(struct host_codec c, const void *elements, uint32_t *count, size_t size) {
    if (c.in) return host_get_array(c.in, size, count);
    host_put_array(c.out, elements, *count, size);
    return elements;
}
#define ARRAY(c, elements, count) ((elements) = array(c, elements, count, sizeof *(elements)))

/** The message can go on. */
static bool goes_on(struct host_codec c) { return c.in ? !c.in->failed : !c.out->failed && !c.out->invalid; }

/** Room for one of the structs that `each` hands on. */
union thing {
    struct nnvts_memory memory;
    struct nnvts_operand operand;
    struct nnvts_operation operation;
    struct nnvts_subgraph subgraph;
    struct nnvts_extension_prefix prefix;
    struct nnvts_argument argument;
    struct nnvts_extension extension;
    struct nnvts_extension_operand_type type;
    struct nnvts_operand_performance performance;
    int descriptor;
};

/**
 * Things that are told one by one, of at least least_bytes each in the message and `size` bytes in memory: those
 * given, which stay as they are, or new ones. A count without things makes the message invalid.
 */
static const void *each(struct host_codec c, const void *given, uint32_t *count, size_t least_bytes, size_t size,
                        void (*one)(struct host_codec c, void *thing)) {
    union thing copy;
    char *made = NULL;
    if (c.in) {
        *count = host_get_count(c.in, least_bytes);
        given = made = host_in_alloc(c.in, (size_t)*count + 1, size);
    } else {
        if (*count && !given) c.out->invalid = true;
        if (!c.out->invalid) host_put_u32(c.out, *count);
    }
    for (uint32_t i = 0; i < *count && goes_on(c); i++) {
        memcpy(&copy, (const char *)given + i * size, size);
        one(c, &copy);
        if (made) memcpy(made + i * size, &copy, size);
    }
    return given;
}
#define EACH(c, things, count, least_bytes, one) ((things) = each(c, things, count, least_bytes, sizeof *(things), one))

/* ---------------------------------------------------------------------- memory */

static void memory(struct host_codec c, void *thing) {
    struct nnvts_memory *m = thing;
    int fd = m->kind == NNVTS_MEMORY_SHARED ? m->fd : -1;
    u32(c, &m->kind);
    u32(c, &m->prot);
    descriptor(c, &fd);
    u32(c, &m->token);
    u64(c, &m->offset);
    u64(c, &m->size);
    if (!c.in) return;
    m->fd = fd;
    if (fd >= 0 && !host_memory_holds(fd, m->offset, m->size)) c.in->invalid = true;
}

struct nnvts_memory host_get_memory(struct host_in *in) {
    struct nnvts_memory m = {0};
    memory(host_reading(in), &m);
    return m;
}

void host_put_memory(struct host_out *o, const struct nnvts_memory *m) {
    struct nnvts_memory copy = *m;
    memory(host_writing(o), &copy);
}

static void pools(struct host_codec c, const struct nnvts_memory **list, uint32_t *count) {
    enum { MEMORY_BYTES = 32 };
    EACH(c, *list, count, MEMORY_BYTES, memory);
}

static void location(struct host_codec c, struct nnvts_location *l) {
    u32(c, &l->pool);
    u32(c, &l->offset);
    u32(c, &l->length);
    u32(c, &l->padding);
}

/* ----------------------------------------------------------------------- model */

/** Extents; a rank that no driver takes is refused here, since nobody knows whether there is such an array. */
static void dimensions(struct host_codec c, const uint32_t **list, uint32_t *count) {
    if (!c.in && *count > HOST_DIMS) c.out->invalid = true;
    ARRAY(c, *list, count);
}

/** More scales than any known extent: likewise. */
static bool too_many_scales(const struct nnvts_operand *o) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < o->dimension_count; i++) {
        if (o->dimensions[i] == 0) return false;
        if (o->dimensions[i] > most) most = o->dimensions[i];
    }
    return o->channel_quant.scale_count > most;
}

static void operand(struct host_codec c, void *thing) {
    struct nnvts_operand *o = thing;
    i32(c, &o->type);
    dimensions(c, &o->dimensions, &o->dimension_count);
    if (!c.in && !c.out->invalid && too_many_scales(o)) c.out->invalid = true;
    if (!goes_on(c)) return;
    f32(c, &o->scale);
    i32(c, &o->zero_point);
    u32(c, &o->lifetime);
    location(c, &o->location);
    u32(c, &o->channel_quant.channel_dim);
    ARRAY(c, o->channel_quant.scales, &o->channel_quant.scale_count);
    o->extension_data = array(c, o->extension_data, &o->extension_data_bytes, 1);
}

static void operation(struct host_codec c, void *thing) {
    struct nnvts_operation *o = thing;
    i32(c, &o->type);
    ARRAY(c, o->inputs, &o->input_count);
    ARRAY(c, o->outputs, &o->output_count);
}

static void subgraph(struct host_codec c, void *thing) {
    struct nnvts_subgraph *s = thing;
    enum { OPERAND_BYTES = 48, OPERATION_BYTES = 12 };
    EACH(c, s->operands, &s->operand_count, OPERAND_BYTES, operand);
    EACH(c, s->operations, &s->operation_count, OPERATION_BYTES, operation);
    ARRAY(c, s->inputs, &s->input_count);
    ARRAY(c, s->outputs, &s->output_count);
}

static void extension_prefix(struct host_codec c, void *thing) {
    struct nnvts_extension_prefix *e = thing;
    uint32_t prefix = e->prefix;
    text(c, &e->name);
    u32(c, &prefix);
    e->prefix = (uint16_t)prefix;
}

void host_model(struct host_codec c, struct nnvts_model *m) {
    enum { SUBGRAPH_BYTES = 16, PREFIX_BYTES = 8 };
    if (c.in) *m = (struct nnvts_model){0};
    subgraph(c, &m->main);
    EACH(c, m->referenced, &m->referenced_count, SUBGRAPH_BYTES, subgraph);
    m->operand_values = array(c, m->operand_values, &m->operand_values_bytes, 1);
    pools(c, &m->pools, &m->pool_count);
    EACH(c, m->extensions, &m->extension_count, PREFIX_BYTES, extension_prefix);
    boolean(c, &m->relax_float32_to_float16);
}

static void one_descriptor(struct host_codec c, void *thing) { descriptor(c, thing); }

void host_cache(struct host_codec c, const struct nnvts_cache **cache) {
    bool there = !c.in && *cache;
    struct nnvts_cache *all = NULL, copy;
    boolean(c, &there);
    if (there && c.in) all = host_in_alloc(c.in, 1, sizeof *all);
    if (there && !c.in) copy = **cache, all = &copy;
    if (c.in) *cache = all;
    if (!all) return;
    EACH(c, all->model_fds, &all->model_fd_count, sizeof(uint32_t), one_descriptor);
    EACH(c, all->data_fds, &all->data_fd_count, sizeof(uint32_t), one_descriptor);
    for (size_t i = 0; i < sizeof all->token; i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, all->token + i, sizeof word);
        u32(c, &word);
        memcpy(all->token + i, &word, sizeof word);
    }
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void host_deadline(struct host_codec c, uint64_t *deadline_ns) {
    const uint64_t now = now_ns();
    uint64_t left = *deadline_ns;
    if (!c.in && left != NNVTS_NO_TIME) left = left > now ? left - now : 0;
    u64(c, &left);
    if (c.in) *deadline_ns = left > NNVTS_NO_TIME - now ? NNVTS_NO_TIME : now + left;
}

void host_prepare_config(struct host_codec c, struct nnvts_prepare_config *config) {
    u32(c, &config->preference);
    u32(c, &config->priority);
    host_deadline(c, &config->deadline_ns);
    host_cache(c, &config->cache);
}

/* --------------------------------------------------------------------- request */

static void argument(struct host_codec c, void *thing) {
    struct nnvts_argument *a = thing;
    boolean(c, &a->has_no_value);
    location(c, &a->location);
    dimensions(c, &a->dimensions, &a->dimension_count);
}

void host_request(struct host_codec c, struct nnvts_request *r) {
    enum { ARGUMENT_BYTES = 24 };
    if (c.in) *r = (struct nnvts_request){0};
    EACH(c, r->inputs, &r->input_count, ARGUMENT_BYTES, argument);
    EACH(c, r->outputs, &r->output_count, ARGUMENT_BYTES, argument);
    pools(c, &r->pools, &r->pool_count);
}

void host_put_request(struct host_out *o, const struct nnvts_request *r, const struct nnvts_memory *sent) {
    struct nnvts_request copy = *r;
    copy.pools = sent;
    host_request(host_writing(o), &copy);
}

void host_config(struct host_codec c, struct nnvts_execution_config *config) {
    host_deadline(c, &config->deadline_ns);
    u64(c, &config->loop_timeout_ns);
    boolean(c, &config->measure_timing);
}

void host_put_config(struct host_out *o, const struct nnvts_execution_config *c) {
    struct nnvts_execution_config sent = {NNVTS_NO_TIME, NNVTS_NO_TIME, false};
    if (c) sent = *c;
    host_config(host_writing(o), &sent);
}

/* ---------------------------------------------------------------------- result */

void host_timing(struct host_codec c, struct nnvts_timing *t) {
    u64(c, &t->on_device_ns);
    u64(c, &t->in_driver_ns);
}

static void put_timing(struct host_out *o, struct nnvts_timing t) { host_timing(host_writing(o), &t); }

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/** Extents of a shape that can be sent. */
static uint32_t room_of(const struct nnvts_output_shape *s) {
    return s->dimensions ? smaller(s->dimension_count, HOST_DIMS) : 0;
}

void host_put_room(struct host_out *o, const struct nnvts_execution_result *r, uint32_t shapes) {
    if (!r->shapes) shapes = 0;
    host_put_u32(o, r->shape_count);
    put_timing(o, r->timing);
    host_put_u32(o, shapes);
    for (uint32_t i = 0; i < shapes && !o->failed; i++) host_put_u32(o, room_of(&r->shapes[i]));
}

void host_get_room(struct host_in *in, uint32_t shapes, struct nnvts_execution_result *r, uint32_t *given) {
    *r = (struct nnvts_execution_result){.shape_count = host_get_u32(in)};
    host_timing(host_reading(in), &r->timing);
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
    put_timing(o, r->timing);
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
    host_timing(host_reading(in), &r->timing);
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

/* ---------------------------------------------------------------------- device */

static void performance(struct host_codec c, struct nnvts_performance *p) {
    f32(c, &p->exec_time);
    f32(c, &p->power_usage);
}

static void extension_type(struct host_codec c, void *thing) {
    struct nnvts_extension_operand_type *t = thing;
    uint32_t type = t->type;
    u32(c, &type);
    t->type = (uint16_t)type;
    boolean(c, &t->is_tensor);
    u32(c, &t->byte_size);
}

static void extension(struct host_codec c, void *thing) {
    struct nnvts_extension *e = thing;
    enum { TYPE_BYTES = 12 };
    if (!e->operand_types) e->operand_type_count = 0;
    text(c, &e->name);
    EACH(c, e->operand_types, &e->operand_type_count, TYPE_BYTES, extension_type);
}

static void operand_performance(struct host_codec c, void *thing) {
    struct nnvts_operand_performance *p = thing;
    i32(c, &p->type);
    performance(c, &p->info);
}

void host_device(struct host_codec c, struct nnvts_device *d, uint32_t *has) {
    enum { PERFORMANCE_BYTES = 12, EXTENSION_BYTES = 8 };
    struct nnvts_capabilities *p = &d->capabilities;
    u32(c, has);
    i32(c, &d->feature_level);
    i32(c, &d->type);
    text(c, &d->name);
    text(c, &d->version);
    performance(c, &p->relaxed_scalar);
    performance(c, &p->relaxed_tensor);
    performance(c, &p->if_performance);
    performance(c, &p->while_performance);
    if (!p->operand_performance) p->operand_performance_count = 0;
    EACH(c, p->operand_performance, &p->operand_performance_count, PERFORMANCE_BYTES, operand_performance);
    if (!d->extensions) d->extension_count = 0;
    EACH(c, d->extensions, &d->extension_count, EXTENSION_BYTES, extension);
    u32(c, &d->model_cache_files);
    u32(c, &d->data_cache_files);
    u32(c, &d->limits);
}

/* ------------------------------------------------------------------- functions */

uint32_t host_functions(const void *object, size_t first, size_t size) {
    uint32_t has = 0;
    for (size_t i = 0; first + (i + 1) * sizeof(void *) <= size; i++) {
        void (*function)(void);
        memcpy(&function, (const char *)object + first + i * sizeof function, sizeof function);
        if (function) has |= 1u << i;
    }
    return has;
}

void host_keep_functions(void *object, size_t first, size_t size, uint32_t has) {
    for (size_t i = 0; first + (i + 1) * sizeof(void *) <= size; i++)
        if (!(has >> i & 1)) memset((char *)object + first + i * sizeof(void *), 0, sizeof(void *));
}
