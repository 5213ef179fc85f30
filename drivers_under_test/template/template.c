/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file template.c The smallest legal driver: a starting point for your own.
 *
 * Copy the folder, rename it, and replace ADD on float32 by what your device can do. Build and judge it with
 *     cc -std=c17 -fPIC -shared -fvisibility=hidden -Iinclude -o mine.so mine.c && nnvts run --driver ./mine.so
 * It shows what every driver owes its caller (include/nnvts/driver.h is the contract):
 *  1. nnvts_driver_get returns a table, whose open() makes a device.
 *  2. get_supported_operations and prepare_model check the model. A broken rule is INVALID_ARGUMENT; a legal
 *     operation that the device lacks is "false", and GENERAL_FAILURE when it is to be compiled all the same.
 *  3. prepare_model copies what it needs: the model's memory is gone afterwards.
 *  4. execute checks the request, never writes outside the output buffers, and reports shapes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "nnvts/driver.h"

enum { MAX_RANK = 4, SCALAR_TYPES = 3, TYPES = 6, LAST_OPERATION = ANEURALNETWORKS_TANH };

/** The pool's memory: the caller's mapping, or our own, which unmap_pool ends. NULL if it can't be had. */
static char *map_pool(const struct nnvts_memory *m) {
    if (m->kind != NNVTS_MEMORY_SHARED || m->data) return m->kind == NNVTS_MEMORY_SHARED ? m->data : NULL;
    struct stat file; /* behind the end of a file that is too short lies SIGBUS */
    if (fstat(m->fd, &file) || m->offset > INT64_MAX || m->size > INT64_MAX) return NULL;
    if (m->offset + m->size > (uint64_t)file.st_size) return NULL;
    const int prot = m->prot & NNVTS_PROT_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    char *data = mmap(NULL, m->size, prot, MAP_SHARED, m->fd, (off_t)m->offset);
    return data == MAP_FAILED ? NULL : data;
}

static void unmap_pool(const struct nnvts_memory *m, char *data) {
    if (data && !m->data) munmap(data, m->size);
}

/* ------------------------------------------------------------------ the model's rules, feature level 1 */

/** Bytes of an operand's value; 0 if an extent is unknown or the value is too large. Level 1 has six types. */
static uint32_t value_bytes(const struct nnvts_operand *o) {
    uint64_t bytes = o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? 1 : 4;
    for (uint32_t i = 0; i < o->dimension_count; i++) {
        bytes *= o->dimensions[i];
        if (bytes > UINT32_MAX) return 0;
    }
    return o->type >= SCALAR_TYPES && o->dimension_count == 0 ? 0 : (uint32_t)bytes;
}

/** A constant lies where there is memory, and has the operand's size. */
static bool constant_ok(const struct nnvts_model *m, const struct nnvts_operand *o) {
    const struct nnvts_location *l = &o->location;
    const uint64_t end = (uint64_t)l->offset + l->length; /* in 64 bits: it can't overflow */
    if (l->length == 0 || l->length != value_bytes(o)) return false;
    if (o->lifetime == NNVTS_CONSTANT_COPY) return l->pool == 0 && end <= m->operand_values_bytes;
    return l->pool < m->pool_count && end <= m->pools[l->pool].size;
}

/** The value of a constant INT32; false if its memory can't be mapped. */
static bool read_int(const struct nnvts_model *m, const struct nnvts_operand *o, int32_t *value) {
    const struct nnvts_memory copied = {.data = (void *)(uintptr_t)m->operand_values};
    const struct nnvts_memory *pool = o->lifetime == NNVTS_CONSTANT_COPY ? &copied : &m->pools[o->location.pool];
    char *data = map_pool(pool);
    if (data) memcpy(value, data + o->location.offset, sizeof *value);
    unmap_pool(pool, data);
    return data != NULL;
}

/** The extensions of the model: a name and a prefix of its own each. This device knows none, but they are valid. */
static bool extensions_ok(const struct nnvts_model *m) {
    if (m->extension_count && !m->extensions) return false;
    for (uint32_t i = 0; i < m->extension_count; i++) {
        if (!m->extensions[i].name || !m->extensions[i].prefix) return false;
        for (uint32_t k = 0; k < i; k++)
            if (m->extensions[k].prefix == m->extensions[i].prefix) return false;
    }
    return true;
}

/** A type or operation of an extension that the model declares. */
static bool is_extension(const struct nnvts_model *m, int32_t code) {
    for (uint32_t i = 0; i < m->extension_count && code > 0; i++)
        if (m->extensions[i].prefix == code >> 16) return true;
    return false;
}

static bool operand_ok(const struct nnvts_model *m, const struct nnvts_operand *o) {
    if (is_extension(m, o->type)) return o->dimension_count == 0 || o->dimensions;
    if (o->type < 0 || o->type >= TYPES || o->extension_data || o->extension_data_bytes) return false;
    if (o->dimension_count && (!o->dimensions || o->type < SCALAR_TYPES)) return false;
    const bool quant = o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, bias = o->type == ANEURALNETWORKS_TENSOR_INT32;
    if (!isfinite(o->scale) || (quant ? o->scale <= 0 : bias ? o->scale < 0 : o->scale != 0)) return false;
    if (o->zero_point < 0 || o->zero_point > (quant ? 255 : 0) || o->channel_quant.scale_count) return false;
    if (o->lifetime == NNVTS_CONSTANT_COPY || o->lifetime == NNVTS_CONSTANT_REFERENCE) return constant_ok(m, o);
    return o->lifetime <= NNVTS_NO_VALUE && !o->location.pool && !o->location.offset && !o->location.length;
}

/** The list names every operand of that lifetime, once. */
static bool ends_ok(const struct nnvts_subgraph *g, const uint32_t *list, uint32_t count, uint32_t lifetime) {
    uint32_t expected = 0;
    for (uint32_t i = 0; i < g->operand_count; i++) expected += g->operands[i].lifetime == lifetime;
    if (count != expected || (count && !list)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] >= g->operand_count || g->operands[list[i]].lifetime != lifetime) return false;
        for (uint32_t j = 0; j < i; j++)
            if (list[j] == list[i]) return false;
    }
    return true;
}

/** Operations stand in execution order: each value is written once, by one operation, before it is read. */
static bool order_ok(const struct nnvts_model *m, const struct nnvts_subgraph *g) {
    bool *ready = calloc((size_t)g->operand_count + 1, sizeof *ready), ok = ready != NULL;
    for (uint32_t i = 0; ok && i < g->operand_count; i++) {
        ready[i] =
            g->operands[i].lifetime != NNVTS_TEMPORARY_VARIABLE && g->operands[i].lifetime != NNVTS_SUBGRAPH_OUTPUT;
    }
    for (uint32_t i = 0; ok && i < g->operation_count; i++) {
        const struct nnvts_operation *op = &g->operations[i];
        ok = ((op->type >= 0 && op->type <= LAST_OPERATION) || is_extension(m, op->type)) && op->output_count &&
             op->inputs && op->outputs;
        for (uint32_t k = 0; ok && k < op->input_count; k++)
            ok = op->inputs[k] < g->operand_count && ready[op->inputs[k]];
        for (uint32_t k = 0; ok && k < op->output_count; k++) {
            ok = op->outputs[k] < g->operand_count && !ready[op->outputs[k]];
            if (ok) ready[op->outputs[k]] = true;
        }
    }
    for (uint32_t i = 0; ok && i < g->operand_count; i++) ok = ready[i];
    free(ready);
    return ok;
}

/** ADD: two tensors of one type, a scalar, a tensor of that type; extents, where known, are broadcast. */
static bool add_ok(const struct nnvts_model *m, const struct nnvts_operation *op) {
    if (op->input_count != 3 || op->output_count != 1) return false;
    const struct nnvts_operand *o = m->main.operands, *a = &o[op->inputs[0]], *b = &o[op->inputs[1]],
                               *act = &o[op->inputs[2]], *y = &o[op->outputs[0]];
    if (a->type != b->type || a->type != y->type || act->type != ANEURALNETWORKS_INT32) return false;
    if (a->type != ANEURALNETWORKS_TENSOR_FLOAT32 && a->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM) return false;
    if (a->lifetime == NNVTS_NO_VALUE || b->lifetime == NNVTS_NO_VALUE || act->lifetime == NNVTS_NO_VALUE) return false;
    int32_t code = ANEURALNETWORKS_FUSED_NONE;
    if (act->location.length && !read_int(m, act, &code)) return false;
    if (code < ANEURALNETWORKS_FUSED_NONE || code > ANEURALNETWORKS_FUSED_RELU6) return false;
    const uint32_t ra = a->dimension_count, rb = b->dimension_count, rank = ra > rb ? ra : rb;
    if (rank > MAX_RANK) return false;
    if (!ra || !rb || !y->dimension_count) return true; /* unknown rank */
    if (y->dimension_count != rank) return false;
    for (uint32_t i = 1; i <= rank; i++) { /* from the last extent; what is missing in front is 1 */
        const uint32_t x = i <= ra ? a->dimensions[ra - i] : 1, z = i <= rb ? b->dimensions[rb - i] : 1;
        const uint32_t out = y->dimensions[rank - i], known = x && z && out; /* 0: unknown */
        if (known && ((x != z && x != 1 && z != 1) || out != (x == 1 ? z : x))) return false;
    }
    return true;
}

static bool model_ok(const struct nnvts_model *m) {
    const struct nnvts_subgraph *g = &m->main;
    if (!g->operand_count || !g->operands || !g->operation_count || !g->operations || !extensions_ok(m)) return false;
    if ((m->operand_values_bytes && !m->operand_values) || (m->pool_count && !m->pools)) return false;
    for (uint32_t i = 0; i < g->operand_count; i++)
        if (!operand_ok(m, &g->operands[i])) return false;
    if (!ends_ok(g, g->inputs, g->input_count, NNVTS_SUBGRAPH_INPUT)) return false;
    if (!ends_ok(g, g->outputs, g->output_count, NNVTS_SUBGRAPH_OUTPUT) || !order_ok(m, g)) return false;
    for (uint32_t i = 0; i < g->operation_count; i++)
        if (g->operations[i].type == ANEURALNETWORKS_ADD && !add_ok(m, &g->operations[i])) return false;
    return true;
}

static bool same_shape(const struct nnvts_operand *a, const struct nnvts_operand *b) {
    const size_t rank = a->dimension_count;
    return rank == b->dimension_count && memcmp(a->dimensions, b->dimensions, rank * sizeof *a->dimensions) == 0;
}

/** What this device can do: a model of one ADD of two float32 inputs of one known shape, with a constant activation. */
static bool can_do(const struct nnvts_model *m, const struct nnvts_operation *op) {
    const struct nnvts_subgraph *g = &m->main;
    if (op->type != ANEURALNETWORKS_ADD || g->operation_count != 1 || g->input_count != 2) return false;
    const struct nnvts_operand *o = g->operands, *a = &o[op->inputs[0]], *b = &o[op->inputs[1]];
    return op->inputs[0] == g->inputs[0] && op->inputs[1] == g->inputs[1] &&
           a->type == ANEURALNETWORKS_TENSOR_FLOAT32 && o[op->inputs[2]].location.length && value_bytes(a) &&
           same_shape(a, b) && same_shape(a, &o[op->outputs[0]]) && g->output_count == 1;
}

/* ----------------------------------------------------------------------------------- compiled models */

struct prepared {
    struct nnvts_prepared_model base;     /**< first: a pointer to it is a pointer to the whole */
    uint32_t rank, dims[MAX_RANK], bytes; /**< of both inputs and the output */
    int32_t activation;
};

static void add(const struct prepared *p, const void *pa, const void *pb, void *py) {
    static const float least[] = {-INFINITY, 0, -1, 0}, most[] = {INFINITY, INFINITY, 1, 6};
    const float lo = least[p->activation], hi = most[p->activation], *a = pa, *b = pb;
    float *y = py;
    for (size_t i = 0; i < p->bytes / sizeof *y; i++) {
        const float sum = a[i] + b[i];
        y[i] = sum < lo ? lo : sum > hi ? hi : sum;
    }
}

/** An argument agrees with the model and lies inside its pool. Its size is for the caller to check. */
static bool argument_ok(const struct prepared *p, const struct nnvts_request *r, const struct nnvts_argument *a,
                        uint32_t prot) {
    const struct nnvts_location *l = &a->location;
    if (a->has_no_value || l->pool >= r->pool_count || l->offset % 4 || (a->dimension_count && !a->dimensions))
        return false;
    const struct nnvts_memory *m = &r->pools[l->pool];
    if (m->kind != NNVTS_MEMORY_SHARED || (m->prot & prot) != prot) return false;
    if ((uint64_t)l->offset + l->length > m->size) return false;
    if (a->dimension_count && a->dimension_count != p->rank) return false;
    for (uint32_t i = 0; i < a->dimension_count; i++)
        if (a->dimensions[i] && a->dimensions[i] != p->dims[i]) return false;
    return true;
}

/** The whole request is checked before anything is written. */
static enum nnvts_status check_request(const struct prepared *p, const struct nnvts_request *r,
                                       struct nnvts_execution_result *result) {
    if (r->input_count != 2 || r->output_count != 1 || !r->inputs || !r->outputs || !r->pools)
        return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < 2; i++)
        if (!argument_ok(p, r, &r->inputs[i], NNVTS_PROT_READ) || r->inputs[i].location.length != p->bytes)
            return NNVTS_STATUS_INVALID_ARGUMENT;
    if (!argument_ok(p, r, &r->outputs[0], NNVTS_PROT_WRITE)) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct nnvts_output_shape *s = &result->shapes[0]; /* the caller gave room for dimension_count extents */
    for (uint32_t d = 0; d < p->rank && d < s->dimension_count; d++) s->dimensions[d] = p->dims[d];
    s->dimension_count = p->rank;
    s->is_sufficient = r->outputs[0].location.length >= p->bytes;
    result->shape_count = 1;
    return s->is_sufficient ? NNVTS_STATUS_NONE : NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
}

/** Several threads may call this at once on one prepared model: nothing in it changes. */
static enum nnvts_status execute(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    const struct prepared *p = (const struct prepared *)self;
    (void)config; /* deadlines came with level 4: a driver may heed them, or finish all the same */
    result->shape_count = 0;
    result->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME}; /* this driver can't measure */
    const enum nnvts_status st = check_request(p, r, result);
    if (st != NNVTS_STATUS_NONE) return st;
    const struct nnvts_location *at[3] = {&r->inputs[0].location, &r->inputs[1].location, &r->outputs[0].location};
    char *data[3];
    for (int i = 0; i < 3; i++) data[i] = map_pool(&r->pools[at[i]->pool]);
    const bool mapped = data[0] && data[1] && data[2];
    if (mapped) add(p, data[0] + at[0]->offset, data[1] + at[1]->offset, data[2] + at[2]->offset);
    for (int i = 0; i < 3; i++) unmap_pool(&r->pools[at[i]->pool], data[i]);
    if (!mapped) result->shape_count = 0; /* shapes go with NONE and OUTPUT_INSUFFICIENT_SIZE only */
    return mapped ? NNVTS_STATUS_NONE : NNVTS_STATUS_GENERAL_FAILURE;
}

static void release_prepared(struct nnvts_prepared_model *self) { free(self); }
/** Copies all that executions need; NULL on failure. */
static struct nnvts_prepared_model *compile(const struct nnvts_model *m) {
    const struct nnvts_operation *op = &m->main.operations[0];
    const struct nnvts_operand *o = m->main.operands, *y = &o[op->outputs[0]];
    const struct nnvts_prepared_model base = {
        .struct_size = sizeof base, .execute = execute, .release = release_prepared};
    struct prepared *p = malloc(sizeof *p);
    if (!p) return NULL;
    *p = (struct prepared){.base = base, .rank = y->dimension_count, .bytes = value_bytes(y)};
    memcpy(p->dims, y->dimensions, p->rank * sizeof *p->dims);
    if (read_int(m, &o[op->inputs[2]], &p->activation)) return &p->base;
    free(p);
    return NULL;
}

/* -------------------------------------------------------------------------------------------- the device */

static enum nnvts_device_status get_status(struct nnvts_device *self) { return (void)self, NNVTS_DEVICE_AVAILABLE; }

static enum nnvts_status get_supported_operations(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported) {
    (void)self;
    if (!model_ok(model)) return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < model->main.operation_count; i++) supported[i] = can_do(model, &model->main.operations[i]);
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status prepare_model(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    (void)self;
    if (config->preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED || !model_ok(model))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    struct nnvts_prepared_model *p = can_do(model, &model->main.operations[0]) ? compile(model) : NULL;
    if (!p) return NNVTS_STATUS_GENERAL_FAILURE;
    *out = p;
    return NNVTS_STATUS_NONE;
}

static void release_device(struct nnvts_device *self) { (void)self; } /* it is static */

static enum nnvts_status open_device(const char *options, struct nnvts_device **out, const char **error) {
    static const struct nnvts_operand_performance performance[] = {{ANEURALNETWORKS_TENSOR_FLOAT32, {1, 1}}};
    static struct nnvts_device device = {
        .struct_size = sizeof device,
        .feature_level = 1, /* the rules of NNAPI feature level 1: nothing newer is sent to it */
        .type = ANEURALNETWORKS_DEVICE_CPU,
        .name = "nnvts-template",
        .version = "1.0.0",
        .capabilities = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, performance},
        .get_status = get_status,
        .get_supported_operations = get_supported_operations,
        .prepare_model = prepare_model,
        .release = release_device,
    };
    if (options && *options) {
        *error = "the template takes no options";
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    *out = &device;
    return NNVTS_STATUS_NONE;
}

const struct nnvts_driver *nnvts_driver_get(void) {
    static const struct nnvts_driver driver = {
        .struct_size = sizeof driver, .abi_version = NNVTS_DRIVER_ABI_VERSION, .name = "template", .open = open_device};
    return &driver;
}
