/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file image.h A model and a request as the driver ABI has them, in memory of their own, to be changed field by field.
 *
 * Every list is an allocation of exactly its size, so that a sanitizer sees who reads behind it. The values lie in the
 * shared memory of the client, in regions: constants, constants of a second model, inputs, outputs.
 */
#ifndef NNV_FUZZ_IMAGE_H
#define NNV_FUZZ_IMAGE_H

#include "harness/client/driver.h"
#include "harness/fuzz/input.h"

struct nnv_fuzz_block;

enum nnv_fuzz_region { NNV_REGION_CONSTANTS, NNV_REGION_SECOND, NNV_REGION_INPUTS, NNV_REGION_OUTPUTS, NNV_REGIONS };
enum { NNV_REGION_BYTES = 1 << 20 };

/** What a driver is given. Lists that the ABI declares const are the image's own: nnv_fuzz_own() */
struct nnv_fuzz_image {
    const struct nnv_spec *spec; /**< the base */
    struct nnv_arena *arena;     /**< for what lives as long as the image */
    uint8_t *memory;             /**< the regions */
    int fd;
    size_t used[NNV_REGIONS];
    struct nnvts_model model;
    struct nnvts_prepare_config prepare;
    struct nnvts_request request;
    struct nnvts_execution_config execution;
    uint32_t shape_room; /**< extents that an output's shape has room for */
    uint8_t *copy;       /**< of the memory in use and of operand_values, to see changes: nnv_fuzz_image_remember() */
    size_t values_bytes; /**< allocated for operand_values */
    struct nnv_fuzz_block *blocks;
    bool failed; /**< memory ran out: the image is of no use */
};

/** Puts the const list that an image owns into a variable. */
#define nnv_fuzz_own(type, list) ((type *)(uintptr_t)(list))

/** The valid model of spec, in memory of client. NNV_UNSUPPORTED if its constants are too large for a region. */
NNV_USE_RESULT enum nnv_status nnv_fuzz_image_begin(struct nnv_fuzz_image *m, struct nnv_client *client,
                                                    const struct nnv_spec *spec, struct nnv_arena *arena,
                                                    struct nnv_err *err);
/** Frees all lists. */
void nnv_fuzz_image_end(struct nnv_fuzz_image *m);
/** bytes of zeros until the end of the image, of exactly that size. NULL, and failed set, if there are none. */
void *nnv_fuzz_alloc(struct nnv_fuzz_image *m, size_t bytes);
/** A list of `to` elements that begins as the old one does; what is new repeats its last element, or is zero. */
void *nnv_fuzz_resize(struct nnv_fuzz_image *m, const void *list, uint32_t count, uint32_t to, size_t size);
/** Subgraph i: 0 is the main one, modulo their number. */
struct nnvts_subgraph *nnv_fuzz_subgraph(struct nnv_fuzz_image *m, uint32_t i);
/** Appends a second model to the main subgraph, whose first input it takes from the first one's first output. */
void nnv_fuzz_splice(struct nnv_fuzz_image *m, const struct nnv_spec *second);
/** Makes the request that fits the model as it is now: inputs with the base's values, outputs as large as they are. */
void nnv_fuzz_image_request(struct nnv_fuzz_image *m);

/** Applies the mutations of an input, and makes the request between those of the model and those of the request. */
void nnv_fuzz_apply(struct nnv_fuzz_image *m, const struct nnv_fuzz_input *input);

/** Remembers the memory as it is. */
void nnv_fuzz_image_remember(struct nnv_fuzz_image *m);
/** What the driver may have written by this request is as it should be from now on. */
void nnv_fuzz_image_forgive_outputs(struct nnv_fuzz_image *m);
/** NULL if the memory is as it is remembered, else what was changed: "constants", "inputs". */
const char *nnv_fuzz_image_changed(const struct nnv_fuzz_image *m);

/**
 * The model as a spec, to be validated and written, all of it arena's; false where a spec can't express it (codes of
 * extensions, pools that can't be read, indices beyond their lists). Inputs are those of the request.
 */
bool nnv_fuzz_to_spec(const struct nnv_fuzz_image *m, struct nnv_arena *arena, struct nnv_spec *spec);

#endif
