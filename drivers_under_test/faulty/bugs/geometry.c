/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_geometry.c Bugs of geometry: attributes ignored or swapped, axes, orders, paddings: a row each. */

#include "faulty.h"

#define CHANGE(label, operation, class, where, ...)                                                                    \
    {                                                                                                                  \
        .name = (label), .models = (class), .fires = (where), .op = ANEURALNETWORKS_##operation, .change = {           \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

/** Operations that the cpu driver does not know. */
#define REFERENCE(label, operation, class, where, ...)                                                                 \
    {                                                                                                                  \
        .name = (label), .models = (class), .fires = (where), .over = "reference", .op = ANEURALNETWORKS_##operation,  \
        .change = {                                                                                                    \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

#define ROWS(label, operation)                                                                                         \
    {                                                                                                                  \
        .name = (label), .models = "first and last row of the result change places",                                   \
        .fires = #operation " of two or more rows", .op = ANEURALNETWORKS_##operation,                                 \
        .execute = tamper_batches_reversed, .spoils = "*"                                                              \
    }

static const struct bug bugs[] = {
    CHANGE("log-softmax-axis-last", LOG_SOFTMAX, "axis taken for the last", "LOG_SOFTMAX: another axis",
           .kind = CHANGE_INT, .at = 2, .value = -1),
    CHANGE("argmax-as-argmin", ARGMAX, "comparison the wrong way", "ARGMAX", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_ARGMIN),
    CHANGE("argmin-as-argmax", ARGMIN, "comparison the wrong way", "ARGMIN", .kind = CHANGE_CODE,
           .value = ANEURALNETWORKS_ARGMAX),
    CHANGE("gather-axis-first", GATHER, "axis taken for the first", "GATHER: another axis, where the shapes fit",
           .kind = CHANGE_INT, .at = 1),
    CHANGE("split-order", SPLIT, "first two outputs change places", "SPLIT: two or more outputs",
           .kind = CHANGE_SWAP_OUT, .value = 1),
    CHANGE("pack-order", PACK, "first two inputs change places", "PACK: two or more inputs", .kind = CHANGE_SWAP,
           .at = 1, .value = 2),
    CHANGE("pack-axis-first", PACK, "axis taken for the first", "PACK: another axis, where the shapes fit",
           .kind = CHANGE_INT),
    CHANGE("pad-head-tail-swapped", PAD, "padding before and after change places",
           "PAD: unequal paddings, where the shapes fit", .kind = CHANGE_PAIRS, .at = 1),
    CHANGE("pad-v2-head-tail-swapped", PAD_V2, "padding before and after change places", "PAD_V2: unequal paddings",
           .kind = CHANGE_PAIRS, .at = 1),
    CHANGE("mirror-pad-reflect-as-symmetric", MIRROR_PAD, "mode ignored", "MIRROR_PAD: mode reflect",
           .kind = CHANGE_INT, .at = 2, .value = 1),
    CHANGE("mirror-pad-symmetric-as-reflect", MIRROR_PAD, "mode ignored", "MIRROR_PAD: mode symmetric",
           .kind = CHANGE_INT, .at = 2),
    CHANGE("space-to-batch-pads-swapped", SPACE_TO_BATCH_ND, "padding before and after change places",
           "SPACE_TO_BATCH_ND: unequal paddings", .kind = CHANGE_PAIRS, .at = 2),
    CHANGE("slice-begin-ignored", SLICE, "begin taken for 0", "SLICE: another begin", .kind = CHANGE_ELEMENTS, .at = 1),
    CHANGE("strided-slice-begin-ignored", STRIDED_SLICE, "begin taken for 0", "STRIDED_SLICE: where the shapes fit",
           .kind = CHANGE_ELEMENTS, .at = 1),
    CHANGE("strided-slice-begin-mask-ignored", STRIDED_SLICE, "mask ignored",
           "STRIDED_SLICE: begin mask, where the shapes fit", .kind = CHANGE_INT, .at = 4),
    CHANGE("reverse-axis-first", REVERSE, "axis taken for the first", "REVERSE: another axis", .kind = CHANGE_ELEMENTS,
           .at = 1),
    CHANGE("nearest-align-corners-ignored", RESIZE_NEAREST_NEIGHBOR, "attribute ignored",
           "RESIZE_NEAREST_NEIGHBOR: align corners", .kind = CHANGE_INT, .at = 4),
    CHANGE("nearest-half-pixel-ignored", RESIZE_NEAREST_NEIGHBOR, "attribute ignored",
           "RESIZE_NEAREST_NEIGHBOR: half pixel centres", .kind = CHANGE_INT, .at = 5),
    CHANGE("bilinear-as-nearest", RESIZE_BILINEAR, "interpolation left out", "RESIZE_BILINEAR: with a layout given",
           .kind = CHANGE_CODE, .value = ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR),
    CHANGE("nearest-as-bilinear", RESIZE_NEAREST_NEIGHBOR, "interpolation where none is wanted",
           "RESIZE_NEAREST_NEIGHBOR", .kind = CHANGE_CODE, .value = ANEURALNETWORKS_RESIZE_BILINEAR),
    CHANGE("shuffle-groups-swapped", CHANNEL_SHUFFLE, "groups and their channels swapped",
           "CHANNEL_SHUFFLE: unequal numbers", .kind = CHANGE_GROUPS),
    CHANGE("transpose-permutation-reversed", TRANSPOSE, "permutation read from its end",
           "TRANSPOSE: where the shapes fit", .kind = CHANGE_REVERSE, .at = 1),
    CHANGE("matmul-transpose-lhs-ignored", BATCH_MATMUL, "attribute ignored", "BATCH_MATMUL: square matrices",
           .kind = CHANGE_INT, .at = 2),
    CHANGE("matmul-transpose-rhs-ignored", BATCH_MATMUL, "attribute ignored", "BATCH_MATMUL: square matrices",
           .kind = CHANGE_INT, .at = 3),
    CHANGE("grouped-filter-shifted", GROUPED_CONV_2D, "a filter taken for its neighbour",
           "GROUPED_CONV_2D: constant filter", .kind = CHANGE_ROTATE, .at = 1),
    CHANGE("transpose-conv-filter-shifted", TRANSPOSE_CONV_2D, "a filter taken for its neighbour",
           "TRANSPOSE_CONV_2D: constant filter", .kind = CHANGE_ROTATE, .at = 1),
    CHANGE("transpose-conv-pads-swapped", TRANSPOSE_CONV_2D, "left padding taken for right",
           "TRANSPOSE_CONV_2D: explicit padding, unequal", .kind = CHANGE_SWAP, .at = 3, .value = 4),
    CHANGE("roi-align-ratios-swapped", ROI_ALIGN, "height and width ratio swapped", "ROI_ALIGN: unequal ratios",
           .kind = CHANGE_SWAP, .at = 5, .value = 6),
    CHANGE("roi-align-samples-ignored", ROI_ALIGN, "one sample a cell", "ROI_ALIGN: other numbers of samples",
           .kind = CHANGE_INT, .at = 7, .value = 1),
    CHANGE("roi-pooling-ratios-swapped", ROI_POOLING, "height and width ratio swapped", "ROI_POOLING: unequal ratios",
           .kind = CHANGE_SWAP, .at = 5, .value = 6),
    REFERENCE("proposals-strides-swapped", GENERATE_PROPOSALS, "height and width stride swapped",
              "GENERATE_PROPOSALS: unequal strides", .kind = CHANGE_SWAP, .at = 4, .value = 5),
    REFERENCE("detection-scales-swapped", DETECTION_POSTPROCESSING, "y and height scale swapped",
              "DETECTION_POSTPROCESSING: unequal scales", .kind = CHANGE_SWAP, .at = 3, .value = 5),
    REFERENCE("nms-threshold-ignored", BOX_WITH_NMS_LIMIT, "score threshold taken for 0", "BOX_WITH_NMS_LIMIT",
              .kind = CHANGE_FLOAT, .at = 3),
    REFERENCE("nms-limit-ignored", BOX_WITH_NMS_LIMIT, "limit of boxes ignored", "BOX_WITH_NMS_LIMIT: where it bites",
              .kind = CHANGE_INT, .at = 4, .value = -1),
    CHANGE("roi-align-width-samples-ignored", ROI_ALIGN, "one sample a cell", "ROI_ALIGN: other numbers of samples",
           .kind = CHANGE_INT, .at = 8, .value = 1),
    ROWS("embedding-rows-reversed", EMBEDDING_LOOKUP),
    ROWS("hashtable-rows-reversed", HASHTABLE_LOOKUP),
    ROWS("topk-rows-reversed", TOPK_V2),
};
const struct bug_group bugs_geometry = {bugs, sizeof bugs / sizeof *bugs};
