/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/graph/catalogue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/single/single.h"

enum { FLOAT32 = 1 << ANEURALNETWORKS_TENSOR_FLOAT32, FLOAT16 = 1 << ANEURALNETWORKS_TENSOR_FLOAT16 };
enum {
    QUANT8 = 1 << ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
    QUANT8_SIGNED = 1 << ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED
};

static bool is_convolution(const struct nnv_op *op) {
    switch (op->code) {
    case ANEURALNETWORKS_CONV_2D:
    case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
    case ANEURALNETWORKS_GROUPED_CONV_2D:
    case ANEURALNETWORKS_TRANSPOSE_CONV_2D:
    case ANEURALNETWORKS_AVERAGE_POOL_2D:
    case ANEURALNETWORKS_MAX_POOL_2D:
    case ANEURALNETWORKS_RESIZE_BILINEAR:
    case ANEURALNETWORKS_ADD:
    case ANEURALNETWORKS_CONCATENATION:
    case ANEURALNETWORKS_RELU:
    case ANEURALNETWORKS_RELU6:
        return true;
    default:
        return false;
    }
}

/* Results with a scale of their own: what is computed is rounded into it. */
static bool is_rescaled(const struct nnv_op *op) {
    switch (op->code) {
    case ANEURALNETWORKS_CONV_2D:
    case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
    case ANEURALNETWORKS_GROUPED_CONV_2D:
    case ANEURALNETWORKS_TRANSPOSE_CONV_2D:
    case ANEURALNETWORKS_FULLY_CONNECTED:
    case ANEURALNETWORKS_BATCH_MATMUL:
    case ANEURALNETWORKS_ADD:
    case ANEURALNETWORKS_SUB:
    case ANEURALNETWORKS_MUL:
    case ANEURALNETWORKS_PRELU:
    case ANEURALNETWORKS_CONCATENATION:
    case ANEURALNETWORKS_MAXIMUM:
    case ANEURALNETWORKS_MINIMUM:
        return true;
    default:
        return false;
    }
}

static bool is_control(const struct nnv_op *op) { return op->check_subgraphs != NULL; }

const struct nnv_graph_profile nnv_graph_profiles[] = {
    {"single", "one operation", 1, 1, 0, NULL},
    {"small", "3 to 7 operations of any kind", 3, 7, 0, NULL},
    {"large", "30 to 50 operations of any kind", 30, 50, 0, NULL},
    {"conv", "convolutions and what stands around them", 4, 12, FLOAT32 | FLOAT16 | QUANT8 | QUANT8_SIGNED,
     is_convolution},
    {"quant", "quantised operations with unequal scales", 4, 12, QUANT8 | QUANT8_SIGNED, is_rescaled},
    {"rnn", "recurrent operations", 2, 6, FLOAT32 | FLOAT16 | QUANT8 | QUANT8_SIGNED, nnv_op_is_recurrent},
    {"control", "IF and WHILE between other operations", 2, 6, 0, is_control},
    {"mixed", "8 to 20 operations of any kind and many types", 8, 20, 0, NULL},
};
const size_t nnv_graph_profile_count = sizeof nnv_graph_profiles / sizeof *nnv_graph_profiles;

const struct nnv_graph_profile *nnv_graph_profile_by_name(const char *name) {
    for (size_t i = 0; i < nnv_graph_profile_count; i++)
        if (strcmp(nnv_graph_profiles[i].name, name) == 0) return &nnv_graph_profiles[i];
    return NULL;
}

bool nnv_graph_feeds(const struct nnv_op *op) {
    switch (op->code) {
    case ANEURALNETWORKS_BOX_WITH_NMS_LIMIT:
    case ANEURALNETWORKS_GENERATE_PROPOSALS:
    case ANEURALNETWORKS_DETECTION_POSTPROCESSING:
        return false;
    default:
        return true;
    }
}

bool nnv_graph_tells(const struct nnv_op *op, uint32_t output) {
    switch (op->code) {
    case ANEURALNETWORKS_RANDOM_MULTINOMIAL:
    case ANEURALNETWORKS_FILL:
    case ANEURALNETWORKS_RANK:
        return false;
    case ANEURALNETWORKS_HASHTABLE_LOOKUP:
        return output == 0; /* hits do not depend on the values of the table */
    default:
        return true;
    }
}

bool nnv_graph_takes_empty(const struct nnv_op *op, uint32_t input) {
    const bool regions = op->code == ANEURALNETWORKS_ROI_ALIGN || op->code == ANEURALNETWORKS_ROI_POOLING;
    return op->zero != NNV_ZERO_REFUSED && !(regions && input == 0);
}

static bool fits(const char *variant) { return !strstr(variant, "wide") && !strstr(variant, "large"); }

int32_t nnv_graph_use_type(const struct nnv_graph_use *use) { return use->op->sigs[use->sig].type[NNV_T]; }

/* All uses, by operation, variant, signature; the room is for all of them, those that do not fit included. */
static size_t collect(struct nnv_graph_use *uses) {
    size_t nops, count = 0;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++) {
        const int nvariants = nnv_single_variants(ops[i]);
        for (int v = 0; v < nvariants; v++)
            if (fits(ops[i]->variants[v]))
                for (int sig = 0; sig < ops[i]->nsigs; sig++) uses[count++] = (struct nnv_graph_use){ops[i], sig, v};
    }
    return count;
}

bool nnv_graph_writes(const struct nnv_op *op, int32_t type) {
    for (int f = 0; f < op->nforms; f++)
        for (int i = 0; i < op->forms[f].nout; i++) {
            const struct nnv_slot *slot = &op->forms[f].out[i];
            if (slot->var == NNV_FIXED && slot->type == type) return true;
            for (int sig = 0; slot->var != NNV_FIXED && sig < op->nsigs; sig++)
                if (op->sigs[sig].type[slot->var] == type) return true;
        }
    return false;
}

static bool is_used(const struct nnv_graph_catalogue *c, const struct nnv_op *op) {
    for (size_t i = 0; i < c->count; i++)
        if (c->use[i].op == op) return true;
    return false;
}

static void join_ring(struct nnv_graph_catalogue *c, int32_t type) {
    struct nnv_graph_ring *r = &c->ring[type];
    size_t nops, at = c->of_type[type];
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops && r->used < NNV_GRAPH_OPS; i++) {
        const size_t first = at;
        while (at < c->of_type[type + 1] && c->use[at].op == ops[i]) at++;
        if (at == first && !(nnv_graph_writes(ops[i], type) && is_used(c, ops[i]))) continue;
        r->first[r->used] = (uint32_t)first;
        r->end[r->used] = (uint32_t)at;
        r->op[r->used++] = ops[i];
    }
    r->count = (r->used + 1) / 2 * 2;
}

static void drop(struct nnv_graph_catalogue *c) {
    free(c->use);
    free(c->ranks);
    *c = (struct nnv_graph_catalogue){0};
}

/* The catalogue of uses in any order; false: no memory. */
static bool make(struct nnv_graph_catalogue *c, const struct nnv_graph_use *uses, size_t count) {
    size_t place[NNV_TYPE_COUNT + 1] = {0};
    c->use = calloc(count + 1, sizeof *c->use);
    c->ranks = calloc(count + 1, sizeof *c->ranks);
    if (!c->use || !c->ranks) {
        drop(c);
        return false;
    }
    c->count = count;
    for (size_t i = 0; i < count; i++) place[nnv_graph_use_type(&uses[i]) + 1]++;
    for (int t = 0; t < NNV_TYPE_COUNT; t++) place[t + 1] += place[t];
    memcpy(c->of_type, place, sizeof place);
    for (size_t i = 0; i < count; i++) c->use[place[nnv_graph_use_type(&uses[i])]++] = uses[i];
    for (int32_t t = 0; t < NNV_TYPE_COUNT; t++) join_ring(c, t);
    return true;
}

/* Kept until the process ends. */
static struct nnv_graph_catalogue whole, part;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_whole(void) {
    size_t nops, room = 0;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++) room += (size_t)ops[i]->nsigs * (size_t)nnv_single_variants(ops[i]);
    struct nnv_graph_use *all = calloc(room + 1, sizeof *all);
    if (all) make(&whole, all, collect(all));
    free(all);
}

const struct nnv_graph_catalogue *nnv_graph_whole_catalogue(void) {
    return pthread_once(&once, make_whole) == 0 && whole.count > 0 ? &whole : NULL;
}

bool nnv_graph_restrict(const bool *uses) {
    const struct nnv_graph_catalogue *all = nnv_graph_whole_catalogue();
    size_t count = 0;
    drop(&part);
    if (!uses) return true;
    struct nnv_graph_use *left = all ? calloc(all->count, sizeof *left) : NULL;
    for (size_t i = 0; left && i < all->count; i++)
        if (uses[i]) left[count++] = all->use[i];
    if (count > 0) make(&part, left, count);
    free(left);
    return part.count > 0;
}

const struct nnv_graph_catalogue *nnv_graph_catalogue(void) {
    return part.count > 0 ? &part : nnv_graph_whole_catalogue();
}

uint32_t nnv_graph_use_ranks(const struct nnv_graph_catalogue *c, size_t use) {
    enum { DRAWS = 12 };
    uint32_t ranks = atomic_load(&c->ranks[use]);
    struct nnv_arena *arena = ranks ? NULL : nnv_arena_new();
    if (!arena) return ranks ? ranks : UINT32_MAX;
    for (int i = 0; i < DRAWS; i++) {
        const struct nnv_single w = {
            .op = c->use[use].op, .sig = c->use[use].sig, .variant = c->use[use].variant, .index = i, .name = ""};
        ranks |= nnv_single_ranks(&w, nnv_graph_use_type(&c->use[use]), arena);
        nnv_arena_reset(arena);
    }
    nnv_arena_free(arena);
    ranks |= 1; /* known */
    atomic_store(&c->ranks[use], ranks);
    return ranks;
}
