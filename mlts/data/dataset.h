/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dataset.h Inputs to run a network on, and what is right for them.
 *
 * A dataset is one that the project makes itself ("pictures", "speech", "random"), or a folder:
 *  - of PNG files, with labels.txt: a class name a line; and index.tsv: a line "FILE<tab>CLASS" for each picture, CLASS
 * a name or a number counted from 0. Without index.tsv, folders named as the classes hold the pictures. Without
 *    labels.txt, pictures without labels.
 *  - of raw tensors: input_<i>_<k>.bin and, where known, output_<i>_<k>.bin for input or output i of item k, elements
 *    little-endian and row-major.
 */
#ifndef NNV_MLTS_DATASET_H
#define NNV_MLTS_DATASET_H

#include "mlts/networks/network.h"

enum nnv_dataset_kind {
    NNV_DATASET_PICTURES,
    NNV_DATASET_SPEECH,
    NNV_DATASET_RANDOM,
    NNV_DATASET_IMAGES, /**< a folder of PNG files */
    NNV_DATASET_TENSORS /**< a folder of raw tensors */
};

/** How a byte of a picture becomes the number that a network expects: (byte - mean) / deviation. */
struct nnv_scaling {
    double mean, deviation;
};

struct nnv_dataset {
    enum nnv_dataset_kind kind;
    const char *name; /**< "pictures", or the folder */
    uint32_t count;   /**< items */
    uint32_t class_count;
    const char *const *class_names; /**< class_count entries, or NULL */
    struct nnv_scaling scaling;     /**< of pictures; set by nnv_dataset_open(), may be changed */
    uint64_t seed;
    const char *const *files; /**< IMAGES: paths */
    const int32_t *labels;    /**< IMAGES: -1 where there is none */
};

/** What is right for an item. */
struct nnv_truth {
    const char *item; /**< its name: a file, or a number */
    int32_t label;    /**< of its class; -1: unknown */
    uint32_t phones;
    const int32_t *phone;            /**< SPEECH: what was said; NULL elsewhere */
    const struct nnv_value *outputs; /**< TENSORS: another engine's, entries omitted where unknown; NULL elsewhere */
};

/**
 * Opens a dataset for a network: source as above, count: at most so many items (0: all there are; what the project
 * makes has 1,500 pictures and 500 utterances, random has 16). NNV_INVALID: source is neither, or does not fit the
 * network's inputs; the error says what would.
 */
NNV_USE_RESULT enum nnv_status nnv_dataset_open(const char *source, const struct nnv_network *net, uint32_t count,
                                                struct nnv_arena *arena, struct nnv_dataset *out, struct nnv_err *err);
/**
 * Item i as the network's inputs (one value each, states zero) and what is right for it, all arena's. NNV_INVALID: a
 * file is damaged or of the wrong size.
 */
NNV_USE_RESULT enum nnv_status nnv_dataset_item(const struct nnv_dataset *d, uint32_t i, const struct nnv_network *net,
                                                struct nnv_arena *arena, struct nnv_value *inputs,
                                                struct nnv_truth *truth, struct nnv_err *err);

#endif
