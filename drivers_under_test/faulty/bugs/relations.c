/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_relations.c Bugs of a graph as a whole: what is compiled, kept and shared, and in which order. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "faulty.h"

/* ---------------------------------------------------------------- weights kept */

/** Weights as they were first seen of an operation, input and shape. */
struct kept {
    struct kept *next;
    int32_t code, type;
    uint32_t pos, rank, dims[4], bytes;
    uint8_t value[];
};
static struct kept *all_kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_weights(const struct nnvts_operand *o) {
    const bool constant = o->lifetime == NNVTS_CONSTANT_COPY || o->lifetime == NNVTS_CONSTANT_REFERENCE;
    return constant && o->dimension_count > 0 && o->dimension_count <= 4 && o->location.length > 0 &&
           (o->type == ANEURALNETWORKS_TENSOR_FLOAT32 || o->type == ANEURALNETWORKS_TENSOR_FLOAT16 ||
            type_is_quant8(o->type));
}

static const struct kept *keep(const struct kept *key, const uint8_t *value) {
    struct kept *k;
    pthread_mutex_lock(&kept_lock);
    for (k = all_kept; k; k = k->next)
        if (k->code == key->code && k->type == key->type && k->pos == key->pos && k->rank == key->rank &&
            k->bytes == key->bytes && memcmp(k->dims, key->dims, sizeof k->dims) == 0)
            break;
    if (!k && (k = malloc(sizeof *k + key->bytes))) {
        *k = *key;
        memcpy(k->value, value, key->bytes);
        k->next = all_kept;
        all_kept = k;
    }
    pthread_mutex_unlock(&kept_lock);
    return k;
}

static bool reuse_weights(struct edit *e, struct nnvts_operation *op) {
    bool changed = false;
    for (uint32_t pos = 0; pos < op->input_count; pos++) {
        const struct nnvts_operand *o = edit_input(e, op, pos);
        if (!o || !is_weights(o)) continue;
        struct kept key = {.code = op->type, .type = o->type, .pos = pos, .bytes = o->location.length};
        key.rank = o->dimension_count;
        memcpy(key.dims, o->dimensions, key.rank * sizeof *key.dims);
        const uint8_t *value = edit_value(e, o);
        const struct kept *k = value ? keep(&key, value) : NULL;
        if (!k || memcmp(k->value, value, key.bytes) == 0) continue;
        edit_replace(e, op, pos, k->value, key.bytes);
        changed = true;
    }
    return changed;
}

/* ------------------------------------------------------------------ what is read */

static bool is_output(const struct edit *e, uint32_t operand) {
    for (uint32_t i = 0; i < e->model.main.output_count; i++)
        if (e->model.main.outputs[i] == operand) return true;
    return false;
}

static bool alike(const struct nnvts_operand *a, const struct nnvts_operand *b) {
    return a->type == b->type && a->scale == b->scale && a->zero_point == b->zero_point && a->dimension_count > 0 &&
           a->dimension_count == b->dimension_count &&
           memcmp(a->dimensions, b->dimensions, a->dimension_count * sizeof *a->dimensions) == 0;
}

/** Operations behind op read `to` where they read `from`; true if one did. */
static bool reread(struct edit *e, const struct nnvts_operation *op, uint32_t from, uint32_t to) {
    bool changed = false;
    const struct nnvts_operation *end = e->operations + e->model.main.operation_count;
    for (struct nnvts_operation *later = e->operations + (op - e->operations) + 1; later < end; later++) {
        uint32_t *in = edit_alloc(e, later->input_count * sizeof *in);
        bool reads = false;
        for (uint32_t i = 0; in && i < later->input_count; i++) {
            in[i] = later->inputs[i] == from ? to : later->inputs[i];
            reads = reads || in[i] != later->inputs[i];
        }
        if (!reads) continue;
        later->inputs = in;
        changed = true;
    }
    return changed;
}

/** The last value like `operand` that was there before op; UINT32_MAX: there is none. */
static uint32_t value_before(struct edit *e, const struct nnvts_operation *op, uint32_t operand) {
    const struct nnvts_operand *like = &e->operands[operand];
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < e->model.main.input_count; i++)
        if (alike(&e->operands[e->model.main.inputs[i]], like)) found = e->model.main.inputs[i];
    for (const struct nnvts_operation *earlier = e->operations; earlier < op; earlier++)
        for (uint32_t i = 0; i < earlier->output_count; i++)
            if (alike(&e->operands[earlier->outputs[i]], like)) found = earlier->outputs[i];
    return found;
}

/** The caller's buffers are written, not read: who reads an output of the model finds what the scratch memory of its
 * size held before. */
static bool reread_scratch(struct edit *e, struct nnvts_operation *op) {
    bool changed = false;
    for (uint32_t i = 0; i < op->output_count; i++) {
        if (op->outputs[i] >= e->model.main.operand_count || !is_output(e, op->outputs[i])) continue;
        const uint32_t before = value_before(e, op, op->outputs[i]);
        changed = (before != UINT32_MAX && reread(e, op, op->outputs[i], before)) || changed;
    }
    return changed;
}

/** Computed in place: who reads the operand afterwards gets the result. */
static bool in_place(struct edit *e, struct nnvts_operation *op) {
    const struct nnvts_operand *in = edit_input(e, op, 0), *out = edit_output(e, op, 0);
    return in && out && alike(in, out) && reread(e, op, op->inputs[0], op->outputs[0]);
}

static int by_number(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool sort_outputs(struct edit *e, struct nnvts_operation *op) {
    const uint32_t n = e->model.main.output_count;
    uint32_t *sorted = op == e->operations ? edit_alloc(e, n * sizeof *sorted) : NULL;
    if (!sorted) return false;
    memcpy(sorted, e->model.main.outputs, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_number);
    const bool changed = memcmp(sorted, e->model.main.outputs, n * sizeof *sorted) != 0;
    e->model.main.outputs = sorted;
    return changed;
}

/* --------------------------------------------------------- the caller's constants */

/** The pool of the caller's constants, mapped for as long as the process lives, and what it held when it was compiled.
 */
struct pool_kept {
    struct pool_kept *next;
    struct nnvts_prepared_model *prepared;
    const uint8_t *mapped;
    size_t size;
    uint8_t then[];
};
static struct pool_kept *all_pools;
static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;

static void spoil_outputs(const struct nnvts_request *request) {
    for (uint32_t i = 0; i < request->output_count; i++) {
        const struct nnvts_location *at = &request->outputs[i].location;
        uint8_t *data = at->pool < request->pool_count ? request->pools[at->pool].data : NULL;
        if (data && at->length) data[at->offset + at->length - 1] ^= 0x40;
    }
}

/** Constants that are others now give other results. */
static enum nnvts_status execute_from_pool(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                           const struct nnvts_execution_config *config,
                                           struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    pthread_mutex_lock(&pools_lock);
    const struct pool_kept *k = all_pools;
    while (k && k->prepared != self) k = k->next;
    pthread_mutex_unlock(&pools_lock);
    enum nnvts_status st = inner->execute(inner, request, config, result);
    if (st == NNVTS_STATUS_NONE && k && memcmp(k->mapped, k->then, k->size) != 0) spoil_outputs(request);
    return st;
}

static enum nnvts_status prepare_from_pool(struct nnvts_device *self, const struct nnvts_model *model,
                                           const struct nnvts_prepare_config *config,
                                           struct nnvts_prepared_model **out) {
    enum nnvts_status st = faulty_prepare(self, model, config, out);
    const struct nnvts_memory *m = model && model->pool_count ? model->pools : NULL;
    if (st != NNVTS_STATUS_NONE || !m || m->kind != NNVTS_MEMORY_SHARED || m->fd < 0 || m->size == 0) return st;
    void *mapped = mmap(NULL, m->size, PROT_READ, MAP_SHARED, m->fd, (off_t)m->offset);
    struct pool_kept *k = mapped != MAP_FAILED ? malloc(sizeof *k + m->size) : NULL;
    if (!k) return st;
    *k = (struct pool_kept){.prepared = *out, .mapped = mapped, .size = m->size};
    memcpy(k->then, mapped, m->size);
    pthread_mutex_lock(&pools_lock);
    k->next = all_pools;
    all_pools = k;
    pthread_mutex_unlock(&pools_lock);
    (*out)->execute = execute_from_pool;
    return st;
}

static void keep_pools(struct nnvts_device *device) { device->prepare_model = prepare_from_pool; }

/* ------------------------------------------------------------------ shared memory */

static atomic_int running;

/** Who comes while another is at work finds the scratch memory spoiled. */
static enum nnvts_status shared_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const struct nnvts_execution_config *config,
                                        struct nnvts_execution_result *result) {
    const struct timespec work = {.tv_nsec = 3000000};
    struct nnvts_prepared_model *inner = faulty_inner(self);
    const bool shared = atomic_fetch_add(&running, 1) > 0;
    enum nnvts_status st = inner->execute(inner, request, config, result);
    nanosleep(&work, NULL);
    if (shared && st == NNVTS_STATUS_NONE) spoil_outputs(request);
    atomic_fetch_sub(&running, 1);
    return st;
}

static void share_scratch(struct nnvts_prepared_model *prepared) { prepared->execute = shared_execute; }

static const struct bug bugs[] = {
    {.name = "weights-kept-by-shape",
     .models = "a cache of packed weights that is looked up by operation and shape alone",
     .fires = "weights of a shape that were seen before with other values",
     .op = ANY_OPERATION,
     .rewrite = reuse_weights},
    {.name = "output-not-read-on",
     .models = "scratch memory of a value that is written to the caller's buffer instead, and read on",
     .fires = "outputs of the model that another operation reads",
     .op = ANY_OPERATION,
     .rewrite = reread_scratch},
    {.name = "relu-in-place",
     .models = "an operation done in place though its input is read again",
     .fires = "RELU of a value that a later operation reads",
     .op = ANEURALNETWORKS_RELU,
     .rewrite = in_place},
    {.name = "outputs-by-number",
     .models = "outputs that are told apart by the numbers of their operands",
     .fires = "models whose outputs do not stand in the order of their numbers",
     .op = ANY_OPERATION,
     .rewrite = sort_outputs},
    {.name = "constants-not-copied",
     .models = "a prepared model that reads its constants where the caller had them",
     .fires = "executions after the caller's pool of constants has changed",
     .op = ANY_OPERATION,
     .device = keep_pools},
    {.name = "workspace-shared",
     .models = "scratch memory that all prepared models share",
     .fires = "executions beside others",
     .op = ANY_OPERATION,
     .prepared = share_scratch},
};
const struct bug_group bugs_relations = {bugs, sizeof bugs / sizeof *bugs};
