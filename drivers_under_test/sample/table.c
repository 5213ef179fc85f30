/* SPDX-License-Identifier: Apache-2.0 */
/** @file table.c The sample drivers: a row each. */
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#define OP(name, inputs)                                                                                               \
    { ANEURALNETWORKS_##name, inputs }

/* NNAPI's first level, by the most inputs that an operation had then. */
#define LEVEL_1                                                                                                        \
    OP(ADD, 3), OP(AVERAGE_POOL_2D, 10), OP(CONCATENATION, 0), OP(CONV_2D, 10), OP(DEPTHWISE_CONV_2D, 11),             \
        OP(DEPTH_TO_SPACE, 2), OP(DEQUANTIZE, 1), OP(EMBEDDING_LOOKUP, 2), OP(FLOOR, 1), OP(FULLY_CONNECTED, 4),       \
        OP(HASHTABLE_LOOKUP, 3), OP(L2_NORMALIZATION, 1), OP(L2_POOL_2D, 10), OP(LOCAL_RESPONSE_NORMALIZATION, 5),     \
        OP(LOGISTIC, 1), OP(LSH_PROJECTION, 4), OP(LSTM, 23), OP(MAX_POOL_2D, 10), OP(MUL, 3), OP(RELU, 1),            \
        OP(RELU1, 1), OP(RELU6, 1), OP(RESHAPE, 2), OP(RESIZE_BILINEAR, 3), OP(RNN, 6), OP(SOFTMAX, 2),                \
        OP(SPACE_TO_DEPTH, 2), OP(SVDF, 7), OP(TANH, 1)
/* What the second level added. */
#define LEVEL_2                                                                                                        \
    OP(BATCH_TO_SPACE_ND, 2), OP(DIV, 3), OP(MEAN, 3), OP(PAD, 2), OP(SPACE_TO_BATCH_ND, 2), OP(SQUEEZE, 2),           \
        OP(STRIDED_SLICE, 7), OP(SUB, 3), OP(TRANSPOSE, 2)

static const struct sample_operation level_1[] = {LEVEL_1};
static const struct sample_operation level_2[] = {LEVEL_1, LEVEL_2};
static const struct sample_operation dense[] = {OP(FULLY_CONNECTED, 0)};
static const struct sample_operation minimal[] = {OP(ADD, 0), OP(CONV_2D, 0), OP(RELU, 0)};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A driver of FULLY_CONNECTED with sums of its own. */
#define SUMS(label, how)                                                                                               \
    {                                                                                                                  \
        .name = (label), .level = 7, .type = ANEURALNETWORKS_DEVICE_ACCELERATOR, .fast = {0.5f, 0.5f},                 \
        .slow = {1.5f, 1.5f}, .main_types = SAMPLE_ALL,                                                                \
        .types = SAMPLE_FLOAT32 | SAMPLE_QUANT8 | SAMPLE_QUANT8_SIGNED | SAMPLE_INT32, .operations = dense,            \
        .operation_count = COUNT(dense), .sums = (how), .wrong = true                                                  \
    }

const struct sample samples[] = {
    {.name = "float-fast",
     .level = 7,
     .type = ANEURALNETWORKS_DEVICE_GPU,
     .fast = {0.3f, 0.8f},
     .slow = {2.0f, 2.0f},
     .main_types = SAMPLE_FLOAT32 | SAMPLE_FLOAT16,
     .types = SAMPLE_FLOAT32 | SAMPLE_FLOAT16 | SAMPLE_INT32 | SAMPLE_BOOL8},
    {.name = "float-slow",
     .level = 7,
     .type = ANEURALNETWORKS_DEVICE_ACCELERATOR,
     .fast = {1.3f, 0.4f},
     .slow = {2.0f, 2.0f},
     .main_types = SAMPLE_FLOAT32 | SAMPLE_FLOAT16,
     .types = SAMPLE_FLOAT32 | SAMPLE_FLOAT16 | SAMPLE_INT32 | SAMPLE_BOOL8},
    {.name = "quant",
     .level = 7,
     .type = ANEURALNETWORKS_DEVICE_ACCELERATOR,
     .fast = {0.2f, 0.1f},
     .slow = {3.0f, 3.0f},
     .main_types = SAMPLE_QUANT8 | SAMPLE_QUANT8_SIGNED,
     .types = SAMPLE_QUANT8 | SAMPLE_QUANT8_SIGNED | SAMPLE_INT32 | SAMPLE_BOOL8 | SAMPLE_OTHERS},
    {.name = "minimal",
     .level = 7,
     .type = ANEURALNETWORKS_DEVICE_OTHER,
     .fast = {0.6f, 0.6f},
     .slow = {1.5f, 1.5f},
     .main_types = SAMPLE_FLOAT32,
     .types = SAMPLE_FLOAT32,
     .operations = minimal,
     .operation_count = COUNT(minimal)},
    {.name = "conditions",
     .level = 7,
     .type = ANEURALNETWORKS_DEVICE_ACCELERATOR,
     .fast = {0.5f, 0.5f},
     .slow = {1.5f, 1.5f},
     .main_types = SAMPLE_ALL,
     .types = SAMPLE_ALL,
     .conditional = true},
    {.name = "cliffs",
     .level = 7,
     .type = ANEURALNETWORKS_DEVICE_ACCELERATOR,
     .fast = {0.5f, 0.5f},
     .slow = {1.5f, 1.5f},
     .main_types = SAMPLE_ALL,
     .types = SAMPLE_ALL,
     .cliffs = true,
     .wrong = true},
    SUMS("sums-truncated", SAMPLE_SUMS_TRUNCATED),
    SUMS("sums-upwards", SAMPLE_SUMS_UPWARDS),
    SUMS("sums-saturating", SAMPLE_SUMS_SATURATING),
    SUMS("sums-pairs", SAMPLE_SUMS_PAIRS),
    SUMS("sums-wrapping", SAMPLE_SUMS_WRAPPING),
    {.name = "level-1.0",
     .level = 1,
     .type = ANEURALNETWORKS_DEVICE_OTHER,
     .fast = {0.8f, 0.8f},
     .slow = {1.2f, 1.2f},
     .main_types = SAMPLE_FLOAT32 | SAMPLE_QUANT8,
     .types = SAMPLE_FLOAT32 | SAMPLE_QUANT8 | SAMPLE_INT32,
     .operations = level_1,
     .operation_count = COUNT(level_1),
     .plain = true},
    {.name = "level-1.1",
     .level = 2,
     .type = ANEURALNETWORKS_DEVICE_OTHER,
     .fast = {0.7f, 0.8f},
     .slow = {1.2f, 1.2f},
     .main_types = SAMPLE_FLOAT32 | SAMPLE_QUANT8,
     .types = SAMPLE_FLOAT32 | SAMPLE_QUANT8 | SAMPLE_INT32,
     .operations = level_2,
     .operation_count = COUNT(level_2),
     .plain = true},
};
const size_t sample_count = COUNT(samples);

uint8_t sample_type_bit(int32_t type) {
    switch (type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_UINT32:
    case ANEURALNETWORKS_BOOL:
    case ANEURALNETWORKS_FLOAT16:
        return 0;
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        return SAMPLE_FLOAT32;
    case ANEURALNETWORKS_TENSOR_FLOAT16:
        return SAMPLE_FLOAT16;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        return SAMPLE_QUANT8;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
        return SAMPLE_QUANT8_SIGNED;
    case ANEURALNETWORKS_TENSOR_INT32:
        return SAMPLE_INT32;
    case ANEURALNETWORKS_TENSOR_BOOL8:
        return SAMPLE_BOOL8;
    default:
        return SAMPLE_OTHERS;
    }
}

static bool has_operation(const struct sample *s, const struct nnvts_operation *op) {
    if (!s->operations) return true;
    for (size_t i = 0; i < s->operation_count; i++)
        if (s->operations[i].code == op->type)
            return s->operations[i].inputs == 0 || op->input_count <= s->operations[i].inputs;
    return false;
}

static bool has_types(const struct sample *s, const struct nnvts_subgraph *g, const uint32_t *list, uint32_t count,
                      uint8_t *seen) {
    for (uint32_t i = 0; i < count; i++) {
        uint8_t bit = sample_type_bit(g->operands[list[i]].type);
        *seen |= bit;
        if (bit & ~s->types) return false;
    }
    return true;
}

/* FNV-1a, with its bits mixed well at the end. */
static uint64_t hash(uint64_t h, uint64_t value) {
    for (int i = 0; i < 8; i++) h = (h ^ (value >> 8 * i & 0xff)) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t mix(uint64_t h) {
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

/* What a use looks like: code, types and shapes. */
static uint64_t hash_use(uint64_t h, const struct nnvts_subgraph *g, const struct nnvts_operation *op) {
    h = hash(h, (uint32_t)op->type);
    for (uint32_t i = 0; i < op->input_count; i++) {
        const struct nnvts_operand *o = &g->operands[op->inputs[i]];
        h = hash(hash(h, (uint32_t)o->type), o->dimension_count);
        for (uint32_t k = 0; k < o->dimension_count; k++) h = hash(h, o->dimensions[k]);
    }
    return mix(h);
}

bool sample_random(const char *option, struct sample *out) {
    static const char prefix[] = "random-";
    char *end = NULL;
    if (strncmp(option, prefix, sizeof prefix - 1) != 0 || option[sizeof prefix - 1] < '0' ||
        option[sizeof prefix - 1] > '9')
        return false;
    const uint64_t seed = strtoull(option + sizeof prefix - 1, &end, 10), h = mix(hash(0, seed));
    if (*end) return false;
    *out = (struct sample){
        .name = option,
        .level = 7,
        .type = ANEURALNETWORKS_DEVICE_ACCELERATOR,
        .fast = {0.2f + (float)(h % 8) / 10, 0.2f + (float)(h / 8 % 8) / 10},
        .main_types = SAMPLE_ALL,
        .types = SAMPLE_ALL,
        .hashed = true,
        .seed = seed,
    };
    out->slow = out->fast;
    return true;
}

bool sample_supports(const struct sample *s, const struct nnvts_subgraph *g, const struct nnvts_operation *op) {
    uint8_t seen = 0;
    if (s->hashed && hash_use(hash(0, s->seed), g, op) % 2 == 0) return false;
    return has_operation(s, op) && has_types(s, g, op->inputs, op->input_count, &seen) &&
           has_types(s, g, op->outputs, op->output_count, &seen) && (seen & s->main_types) != 0;
}
