/* SPDX-License-Identifier: Apache-2.0 */
/** @file operations.c Operations by name, for @OP in the driver's option. */
#include <string.h>

#include "faulty.h"

#define OPERATIONS(X)                                                                                                  \
    X(ADD)                                                                                                             \
    X(AVERAGE_POOL_2D)                                                                                                 \
    X(CONCATENATION) X(CONV_2D) X(DEPTHWISE_CONV_2D) X(DEPTH_TO_SPACE) X(DEQUANTIZE) X(EMBEDDING_LOOKUP) X(FLOOR)      \
        X(FULLY_CONNECTED) X(HASHTABLE_LOOKUP) X(L2_NORMALIZATION) X(L2_POOL_2D) X(LOCAL_RESPONSE_NORMALIZATION) X(    \
            LOGISTIC) X(LSH_PROJECTION) X(LSTM) X(MAX_POOL_2D) X(MUL) X(RELU) X(RELU1) X(RELU6) X(RESHAPE)             \
            X(RESIZE_BILINEAR) X(RNN) X(SOFTMAX) X(SPACE_TO_DEPTH) X(SVDF) X(TANH) X(BATCH_TO_SPACE_ND) X(DIV) X(MEAN) \
                X(PAD) X(SPACE_TO_BATCH_ND) X(SQUEEZE) X(STRIDED_SLICE) X(SUB) X(TRANSPOSE) X(ABS) X(ARGMAX) X(ARGMIN) \
                    X(AXIS_ALIGNED_BBOX_TRANSFORM) X(BIDIRECTIONAL_SEQUENCE_LSTM) X(BIDIRECTIONAL_SEQUENCE_RNN)        \
                        X(BOX_WITH_NMS_LIMIT) X(CAST) X(CHANNEL_SHUFFLE) X(DETECTION_POSTPROCESSING) X(EQUAL) X(EXP)   \
                            X(EXPAND_DIMS) X(GATHER) X(GENERATE_PROPOSALS) X(GREATER) X(GREATER_EQUAL)                 \
                                X(GROUPED_CONV_2D) X(HEATMAP_MAX_KEYPOINT) X(INSTANCE_NORMALIZATION) X(LESS)           \
                                    X(LESS_EQUAL) X(LOG) X(LOGICAL_AND) X(LOGICAL_NOT) X(LOGICAL_OR) X(LOG_SOFTMAX)    \
                                        X(MAXIMUM) X(MINIMUM) X(NEG) X(NOT_EQUAL) X(PAD_V2) X(POW) X(PRELU)            \
                                            X(QUANTIZE) X(QUANTIZED_16BIT_LSTM) X(RANDOM_MULTINOMIAL) X(REDUCE_ALL)    \
                                                X(REDUCE_ANY) X(REDUCE_MAX) X(REDUCE_MIN) X(REDUCE_PROD) X(REDUCE_SUM) \
                                                    X(ROI_ALIGN) X(ROI_POOLING) X(RSQRT) X(SELECT) X(SIN) X(SLICE)     \
                                                        X(SPLIT) X(SQRT) X(TILE) X(TOPK_V2) X(TRANSPOSE_CONV_2D)       \
                                                            X(UNIDIRECTIONAL_SEQUENCE_LSTM)                            \
                                                                X(UNIDIRECTIONAL_SEQUENCE_RNN)                         \
                                                                    X(RESIZE_NEAREST_NEIGHBOR) X(QUANTIZED_LSTM) X(IF) \
                                                                        X(WHILE) X(ELU) X(HARD_SWISH) X(FILL) X(RANK)  \
                                                                            X(BATCH_MATMUL) X(PACK) X(MIRROR_PAD)      \
                                                                                X(REVERSE)

int32_t operation_by_name(const char *name, size_t len) {
    static const struct {
        const char *name;
        int32_t code;
    } table[] = {
#define X(op) {#op, ANEURALNETWORKS_##op},
        OPERATIONS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0) return table[i].code;
    return -1;
}
