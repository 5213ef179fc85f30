/* SPDX-License-Identifier: Apache-2.0 */
/** @file relations.c Bugs of a graph as a whole: what is compiled, kept and shared, and in which order. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "faulty.h"

/* ---------------------------------------------------------------- weights kept */

/** Weights as they were first seen of an operation, input and shape, or wherever else a cache looks them up. */
struct kept {
    struct kept *next;
    int32_t code, type;
    uint32_t pos, rank, dims[4], bytes, sum;
    uint8_t value[];
};
static struct kept *all_kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_weights(const struct nnv_operand *o) {
    const struct nnv_type *type = nnv_type(o->type);
    return nnv_is_constant(o) && o->rank > 0 && o->rank <= 4 && o->bytes > 0 &&
           (type->kind == NNV_KIND_FLOAT || (type->kind == NNV_KIND_QUANT && type->size == 1));
}

static const struct kept *keep(const struct kept *key, const uint8_t *value) {
    struct kept *k;
    pthread_mutex_lock(&kept_lock);
    for (k = all_kept; k; k = k->next)
        if (k->code == key->code && k->type == key->type && k->pos == key->pos && k->rank == key->rank &&
            k->sum == key->sum && k->bytes == key->bytes && memcmp(k->dims, key->dims, sizeof k->dims) == 0)
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

/** A checksum that does not see the order. */
static uint32_t sum_of(const struct nnv_operand *o) {
    uint32_t sum = 0;
    for (size_t i = 0; i < o->bytes; i++) sum += ((const uint8_t *)o->data)[i];
    return sum;
}

enum kept_by { BY_SHAPE, BY_SUM, BY_PLACE };

static bool reuse_weights_by(struct nnv_edit *e, enum kept_by by) {
    bool changed = false;
    for (uint32_t pos = 0; pos < nnv_edit_op(e)->nin; pos++) {
        const struct nnv_operand *o = nnv_edit_operand(e, (int)pos);
        if (!is_weights(o)) continue;
        struct kept key = {.code = nnv_edit_op(e)->type, .type = o->type, .pos = pos, .bytes = (uint32_t)o->bytes};
        if (by == BY_PLACE) {
            key.code = ANY_OPERATION;
            key.pos = nnv_edit_op(e)->in[pos];
        } else {
            key.rank = o->rank;
            memcpy(key.dims, o->dims, key.rank * sizeof *key.dims);
        }
        if (by == BY_SUM) key.sum = sum_of(o);
        const struct kept *k = keep(&key, o->data);
        if (!k || memcmp(k->value, o->data, key.bytes) == 0) continue;
        nnv_edit_set_bytes(e, (int)pos, k->value);
        changed = true;
    }
    return changed;
}

static bool reuse_weights(struct nnv_edit *e) { return reuse_weights_by(e, BY_SHAPE); }
static bool reuse_weights_by_sum(struct nnv_edit *e) { return reuse_weights_by(e, BY_SUM); }
static bool reuse_weights_by_place(struct nnv_edit *e) { return reuse_weights_by(e, BY_PLACE); }

/* ------------------------------------------------------------------ what is read */

/** The first constant of the model before this one of its type, shape and checksum, with equal content or another;
 * UINT32_MAX: there is none. */
static uint32_t twin_of(struct nnv_edit *e, uint32_t operand, bool equal) {
    const struct nnv_operand *all = e->spec.model.main.operands, *o = &all[operand];
    for (uint32_t i = 0; is_weights(o) && !o->channel.count && i < operand; i++)
        if (is_weights(&all[i]) && alike(&all[i], o) && sum_of(&all[i]) == sum_of(o) &&
            (memcmp(all[i].data, o->data, o->bytes) == 0) == equal)
            return i;
    return UINT32_MAX;
}

static bool merge_constants(struct nnv_edit *e, bool equal) {
    struct nnv_operation *op = nnv_edit_op(e);
    bool changed = false;
    for (uint32_t pos = 0; pos < op->nin; pos++) {
        const uint32_t twin = twin_of(e, op->in[pos], equal);
        if (twin == UINT32_MAX) continue;
        op->in[pos] = twin;
        changed = true;
    }
    return changed;
}
static bool merge_by_sum(struct nnv_edit *e) { return merge_constants(e, false); }
static bool merge_equal(struct nnv_edit *e) { return merge_constants(e, true); }

/** Of equal constants all but the first are dropped, and so is what was to be read in their place. */
static bool lose_equal(struct nnv_edit *e) {
    bool changed = false;
    for (uint32_t pos = 0; pos < nnv_edit_op(e)->nin; pos++) {
        const uint32_t operand = nnv_edit_op(e)->in[pos];
        void *zeros = twin_of(e, operand, true) == UINT32_MAX ? NULL : calloc(1, nnv_edit_operand(e, (int)pos)->bytes);
        if (!zeros) continue;
        nnv_edit_set_bytes(e, (int)pos, zeros);
        free(zeros);
        changed = true;
    }
    return changed;
}

/** Operations behind the one in hand read `to` where they read `from`; true if one did. */
static bool reread(struct nnv_edit *e, uint32_t from, uint32_t to) {
    const struct nnv_subgraph *s = &e->spec.model.main;
    bool changed = false;
    for (uint32_t k = e->at + 1; k < s->noperations; k++)
        for (uint32_t i = 0; i < s->operations[k].nin; i++) {
            if (s->operations[k].in[i] != from) continue;
            s->operations[k].in[i] = to;
            changed = true;
        }
    return changed;
}

/** The last value like `operand` that was there before the operation in hand; UINT32_MAX: there is none. */
static uint32_t value_before(struct nnv_edit *e, uint32_t operand) {
    const struct nnv_subgraph *s = &e->spec.model.main;
    uint32_t found = UINT32_MAX;
    if (s->operands[operand].rank == 0) return found;
    for (uint32_t i = 0; i < s->nin; i++)
        if (alike(&s->operands[s->in[i]], &s->operands[operand])) found = s->in[i];
    for (uint32_t k = 0; k < e->at; k++)
        for (uint32_t i = 0; i < s->operations[k].nout; i++)
            if (alike(&s->operands[s->operations[k].out[i]], &s->operands[operand])) found = s->operations[k].out[i];
    return found;
}

/** The caller's buffers are written, not read: who reads an output of the model finds what the scratch memory of its
 * size held before. */
static bool reread_scratch(struct nnv_edit *e) {
    const struct nnv_operation *op = nnv_edit_op(e);
    bool changed = false;
    for (uint32_t i = 0; i < op->nout; i++) {
        const bool output = e->spec.model.main.operands[op->out[i]].lifetime == NNV_SUBGRAPH_OUTPUT;
        const uint32_t before = output ? value_before(e, op->out[i]) : UINT32_MAX;
        changed = (before != UINT32_MAX && reread(e, op->out[i], before)) || changed;
    }
    return changed;
}

/** Computed in place: who reads the operand afterwards gets the result. */
static bool in_place(struct nnv_edit *e) {
    const struct nnv_operation *op = nnv_edit_op(e);
    const struct nnv_operand *operands = e->spec.model.main.operands;
    return operands[op->in[0]].rank > 0 && alike(&operands[op->in[0]], &operands[op->out[0]]) &&
           reread(e, op->in[0], op->out[0]);
}

static int by_number(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool sort_outputs(struct nnv_edit *e) {
    struct nnv_subgraph *s = &e->spec.model.main;
    bool sorted = true;
    for (uint32_t i = 1; i < s->nout; i++) sorted = sorted && s->out[i - 1] < s->out[i];
    qsort(s->out, s->nout, sizeof *s->out, by_number);
    return !sorted;
}

/* --------------------------------------------------------- the caller's constants */

/** The pool of the caller's constants, mapped for as long as the process lives, and what it held when it was compiled.
 */
struct pool_kept {
    const uint8_t *mapped;
    size_t size;
    uint8_t then[];
};

/** Constants that are others now give other results. */
static void read_pool(struct call *c) {
    if (c->kind == CALL_EXECUTE) {
        const struct pool_kept *k = *state_of(c->prepared);
        if (k && memcmp(k->mapped, k->then, k->size) != 0) flip_outputs(c);
        return;
    }
    const struct nnvts_memory *m = c->model && c->model->pool_count ? c->model->pools : NULL;
    if (!succeeded(c) || !m || m->kind != NNVTS_MEMORY_SHARED || m->fd < 0 || m->size == 0) return;
    const size_t size = m->size < SIZE_MAX / 2 ? (size_t)m->size : SIZE_MAX / 2;
    void *mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, m->fd, (off_t)m->offset);
    struct pool_kept *k = mapped != MAP_FAILED ? malloc(sizeof *k + size) : NULL;
    if (!k) return;
    *k = (struct pool_kept){.mapped = mapped, .size = size};
    memcpy(k->then, mapped, size);
    *state_of(*c->out) = k;
}

/** The caller's constants of few bytes: where they were when they were compiled, and what they were. */
struct values_kept {
    const void *place;
    size_t size;
    uint8_t then[];
};

/** What is there now may be anybody's, or nobody's. */
static bool are_there(const struct values_kept *k) {
    uint8_t *now = malloc(k->size);
    const struct iovec from = {(void *)k->place, k->size}, to = {now, k->size};
    const bool same = now && process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)k->size &&
                      memcmp(now, k->then, k->size) == 0;
    free(now);
    return same;
}

static void read_values(struct call *c) {
    if (c->kind == CALL_EXECUTE) {
        const struct values_kept *k = *state_of(c->prepared);
        if (k && !are_there(k)) flip_outputs(c);
        return;
    }
    const size_t size = c->model && c->model->operand_values ? (size_t)c->model->operand_values_bytes : 0;
    struct values_kept *k = succeeded(c) && size ? malloc(sizeof *k + size) : NULL;
    if (!k) return;
    *k = (struct values_kept){.place = c->model->operand_values, .size = size};
    memcpy(k->then, k->place, size);
    *state_of(*c->out) = k;
}

/* ------------------------------------------------------------------ shared memory */

static atomic_int running;

/** Who comes while another is at work finds the scratch memory spoiled. */
static void enter(struct call *c) { c->note = atomic_fetch_add(&running, 1) > 0 ? &running : NULL; }
static void leave(struct call *c) {
    sleep_us(3000);
    if (c->note) flip_outputs(c);
    atomic_fetch_sub(&running, 1);
}

static const struct bug bugs[] = {
    BUG("weights-kept-by-shape", "a cache of packed weights that is looked up by operation and shape alone",
        "weights of a shape that were seen before with other values", .rewrite = reuse_weights),
    BUG("weights-kept-by-sum", "a cache of packed weights that is looked up by a checksum blind to order",
        "weights of a shape and sum of bytes that were seen before in another order", .rewrite = reuse_weights_by_sum),
    BUG("weights-kept-by-place", "a cache of packed weights that is looked up by where they stood",
        "weights where others of their type and size stood in a model before", .rewrite = reuse_weights_by_place),
    BUG("constants-merged-by-sum", "constants of a model that are taken for one where a checksum is the same",
        "constants of one shape and sum of bytes, in another order", .rewrite = merge_by_sum),
    BUG("equal-constants-lost", "equal constants that are merged, and one of them freed for both",
        "constants that a model has twice", .rewrite = lose_equal),
    BUG("legal-constants-merged", "constants of a model that are stored once where they are equal",
        "constants that a model has twice", .rewrite = merge_equal, .legal = true),
    BUG("output-not-read-on", "scratch memory of a value that is written to the caller's buffer instead, and read on",
        "outputs of the model that another operation reads", .rewrite = reread_scratch),
    BUG_OF(RELU, "relu-in-place", "an operation done in place though its input is read again",
           "RELU of a value that a later operation reads", .rewrite = in_place),
    BUG("outputs-by-number", "outputs that are told apart by the numbers of their operands",
        "models whose outputs do not stand in the order of their numbers", .rewrite = sort_outputs),
    BUG("constants-not-copied", "a prepared model that reads its constants where the caller had them",
        "executions after the caller's pool of constants has changed", .on = ON(PREPARE) | ON(EXECUTE),
        .after = read_pool),
    BUG("parameters-not-copied", "a prepared model that reads its parameters where the caller had them",
        "executions after the caller's operand_values have changed", .on = ON(PREPARE) | ON(EXECUTE),
        .after = read_values),
    BUG("workspace-shared", "scratch memory that all prepared models share", "executions beside others",
        .on = ON(EXECUTE), .before = enter, .after = leave),
};
const struct bug_group bugs_relations = {bugs, sizeof bugs / sizeof *bugs};
