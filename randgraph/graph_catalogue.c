/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/graph_catalogue.h"

#include <string.h>

#include "randgraph/single.h"

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

static bool is_recurrent(const struct nnv_op *op) {
    return strstr(op->name, "RNN") || strstr(op->name, "LSTM") || op->code == ANEURALNETWORKS_SVDF;
}

static bool is_control(const struct nnv_op *op) { return op->check_subgraphs != NULL; }

const struct nnv_graph_profile nnv_graph_profiles[] = {
    {"single", "one operation", 1, 1, 0, NULL},
    {"small", "3 to 7 operations of any kind", 3, 7, 0, NULL},
    {"large", "30 to 50 operations of any kind", 30, 50, 0, NULL},
    {"conv", "convolutions and what stands around them", 4, 12, FLOAT32 | FLOAT16 | QUANT8 | QUANT8_SIGNED,
     is_convolution},
    {"quant", "quantised operations with unequal scales", 4, 12, QUANT8 | QUANT8_SIGNED, NULL},
    {"rnn", "recurrent operations", 2, 6, FLOAT32 | FLOAT16, is_recurrent},
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

static bool fits(const struct nnv_op *op, const char *variant) {
    if (op->code == ANEURALNETWORKS_RANDOM_MULTINOMIAL) return false;
    return !strstr(variant, "wide") && !strstr(variant, "large");
}

int32_t nnv_graph_use_type(const struct nnv_graph_use *use) { return use->op->sigs[use->sig].type[NNV_T]; }

/* All uses, by operation, variant, signature; the room is for all of them, those that do not fit included. */
static size_t collect(struct nnv_graph_use *uses) {
    size_t nops, count = 0;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++) {
        const int nvariants = nnv_single_variants(ops[i]);
        for (int v = 0; v < nvariants; v++)
            if (fits(ops[i], ops[i]->variants[v]))
                for (int sig = 0; sig < ops[i]->nsigs; sig++) uses[count++] = (struct nnv_graph_use){ops[i], sig, v};
    }
    return count;
}

const struct nnv_graph_catalogue *nnv_graph_catalogue(struct nnv_arena *arena) {
    size_t nops, room = 0, place[NNV_TYPE_COUNT + 1] = {0};
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++) room += (size_t)ops[i]->nsigs * (size_t)nnv_single_variants(ops[i]);
    struct nnv_graph_catalogue *c = NNV_NEW(arena, struct nnv_graph_catalogue, 1);
    struct nnv_graph_use *all = NNV_NEW(arena, struct nnv_graph_use, room);
    if (!c || !all || !(c->use = NNV_NEW(arena, struct nnv_graph_use, room))) return NULL;
    c->count = collect(all);
    for (size_t i = 0; i < c->count; i++) place[nnv_graph_use_type(&all[i]) + 1]++;
    for (int t = 0; t < NNV_TYPE_COUNT; t++) place[t + 1] += place[t];
    memcpy(c->of_type, place, sizeof place);
    for (size_t i = 0; i < c->count; i++) c->use[place[nnv_graph_use_type(&all[i])]++] = all[i];
    return c;
}
