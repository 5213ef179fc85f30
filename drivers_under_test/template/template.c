/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file template.c The smallest legal driver: a starting point for your own.
 *
 * `nnvts new-driver NAME` writes a folder with this file, a Makefile and a test. Replace ADD on float32 by what your
 * device can do. NNAPI's rules for models come from libnnvts-rules.a (include/nnvts/rules.h), which a driver may use or
 * replace by its own.
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
#include "nnvts/rules.h"

enum { LEVEL = 1, MAX_RANK = 4 }; /* of level 1: the rules of NNAPI feature level 1, nothing newer is sent to it */

/** The pool's memory: the caller's mapping, or our own, which unmap_pool ends. NULL if it can't be had. */
static char *map_pool(const struct nnvts_memory *m) {
    if (m->kind != NNVTS_MEMORY_SHARED || m->data) return m->kind == NNVTS_MEMORY_SHARED ? m->data : NULL;
    struct stat file; /* behind the end of a file that is too short lies SIGBUS */
    if (fstat(m->fd, &file) || m->offset > INT64_MAX || m->size > SIZE_MAX / 2) return NULL;
    if (m->offset + m->size > (uint64_t)file.st_size) return NULL;
    const int prot = m->prot & NNVTS_PROT_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    char *data = mmap(NULL, (size_t)m->size, prot, MAP_SHARED, m->fd, (off_t)m->offset);
    return data == MAP_FAILED ? NULL : data;
}

static void unmap_pool(const struct nnvts_memory *m, char *data) {
    if (data && !m->data) munmap(data, (size_t)m->size);
}

/* --------------------------------------------------------------------- what the device can do */

/** The value of a constant INT32; false if its memory can't be mapped. */
static bool read_int(const struct nnvts_model *m, const struct nnvts_operand *o, int32_t *value) {
    const struct nnvts_memory copied = {.data = (void *)(uintptr_t)m->operand_values};
    const struct nnvts_memory *pool = o->lifetime == NNVTS_CONSTANT_COPY ? &copied : &m->pools[o->location.pool];
    char *data = map_pool(pool);
    if (data) memcpy(value, data + o->location.offset, sizeof *value);
    unmap_pool(pool, data);
    return data != NULL;
}

static bool same_shape(const struct nnvts_operand *a, const struct nnvts_operand *b) {
    const size_t rank = a->dimension_count;
    return rank == b->dimension_count && memcmp(a->dimensions, b->dimensions, rank * sizeof *a->dimensions) == 0;
}

/** Bytes of a float32 tensor; 0 if an extent is unknown, or the tensor too large for this device. */
static uint32_t tensor_bytes(const struct nnvts_operand *o) {
    uint64_t bytes = o->dimension_count ? sizeof(float) : 0;
    for (uint32_t i = 0; i < o->dimension_count; i++) {
        bytes *= o->dimensions[i];
        if (bytes > UINT32_MAX) return 0;
    }
    return (uint32_t)bytes;
}

/** A model of one ADD of two float32 inputs of one known shape, with a constant activation. */
static bool can_do(const struct nnvts_model *m, const struct nnvts_operation *op) {
    const struct nnvts_subgraph *g = &m->main;
    if (op->type != ANEURALNETWORKS_ADD || g->operation_count != 1 || g->input_count != 2) return false;
    const struct nnvts_operand *o = g->operands, *a = &o[op->inputs[0]], *b = &o[op->inputs[1]];
    return op->inputs[0] == g->inputs[0] && op->inputs[1] == g->inputs[1] &&
           a->type == ANEURALNETWORKS_TENSOR_FLOAT32 && o[op->inputs[2]].location.length && tensor_bytes(a) &&
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
    *p = (struct prepared){.base = base, .rank = y->dimension_count, .bytes = tensor_bytes(y)};
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
    const enum nnvts_status st = nnvts_rules_check_model(model, LEVEL, NULL, NULL, 0);
    if (st != NNVTS_STATUS_NONE && st != NNVTS_STATUS_GENERAL_FAILURE) return st;
    for (uint32_t i = 0; i < model->main.operation_count; i++) supported[i] = can_do(model, &model->main.operations[i]);
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status prepare_model(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    (void)self;
    if (config->preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED) return NNVTS_STATUS_INVALID_ARGUMENT;
    const enum nnvts_status st = nnvts_rules_check_model(model, LEVEL, NULL, NULL, 0);
    if (st != NNVTS_STATUS_NONE) return st;
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
        .feature_level = LEVEL,
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
