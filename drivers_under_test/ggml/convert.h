/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file convert.h Operations of NNAPI as operations of ggml that mean the same.
 *
 * Extents are those of NNAPI, the one that varies fastest last; ggml has four, and names them the other way round. Each
 * value lies without gaps. float16 is computed in where ggml's operation has it, else in float32 between two
 * conversions.
 */
#ifndef GGML_CONVERT_H
#define GGML_CONVERT_H

#include "engine/operation.h"
#include "library.h"

/** Element types of ggml. */
enum gg_type { GG_NO_TYPE = -1, GG_FLOAT = 0, GG_HALF = 1, GG_INT = 26 };

enum {
    GG_MOST_TENSORS = 40,
    GG_MOST_PER_OPERAND = 8
}; /**< that an operation becomes: these, and more for each operand */

/** Indices that only an execution knows: ggml would end the process for one out of [0, limit). */
struct gg_check {
    uint32_t tensor;
    int32_t limit;
};

/** A graph while it is made. */
struct gg_graph {
    const struct gg_library *lib;
    void *context, *constants; /**< of what is computed, and of what is known before */
    const struct engine_graph *from;
    gg_tensor **of; /**< for each tensor of the model: ggml's; NULL as yet */
    struct gg_check *checks;
    uint32_t check_count;
};

struct gg_conversion {
    struct gg_graph *graph;
    struct engine_operation op;
    const char *name; /**< of ggml's operation, from the table */
    bool refused;
};

/** Adds what computes one operation; false: nothing means the same, or the backend does not take it: it told why. */
bool gg_convert(struct gg_graph *g, uint32_t node);

/* -------------------------------------------------------------- for conversions
 * They go on with what was refused: the first reason counts. A tensor that can't be made is NULL, and so is what would
 * be made of it. */

bool gg_refuse(struct gg_conversion *c, const char *reason);
enum gg_type gg_type_of(const struct engine_tensor *t);
/** Input i, with its own extents, of which leading ones are joined where there are more than ggml has. */
gg_tensor *gg_in(struct gg_conversion *c, uint32_t i);
/** The same in float32. */
gg_tensor *gg_real(struct gg_conversion *c, uint32_t i);
/** Output i is this value, which is converted where its type is another. */
void gg_out(struct gg_conversion *c, uint32_t i, gg_tensor *value, enum gg_type type);
/** An operation that was made, if the backend takes it. */
gg_tensor *gg_made(struct gg_conversion *c, gg_tensor *result);
/** ggml's operation of that name, of one or two tensors. */
gg_tensor *gg_one(struct gg_conversion *c, const char *name, gg_tensor *x);
gg_tensor *gg_two(struct gg_conversion *c, const char *name, gg_tensor *x, gg_tensor *y);
/** Other extents; rank up to 4. */
gg_tensor *gg_shape(struct gg_conversion *c, gg_tensor *x, uint32_t rank, const int64_t *dims);
/** Other order of extents: extent i becomes the one that was order[i]. dims: rank of them, up to ENGINE_MAX_RANK. */
gg_tensor *gg_transpose(struct gg_conversion *c, gg_tensor *x, uint32_t rank, const int64_t *dims,
                        const uint32_t *order);
gg_tensor *gg_cast(struct gg_conversion *c, gg_tensor *x, enum gg_type type);
/** A fused activation; x may be overwritten. */
gg_tensor *gg_activate(struct gg_conversion *c, gg_tensor *x, int32_t code);
void gg_dims(const struct engine_tensor *t, int64_t *dims);
/** The list of a constant TENSOR_INT32, or NULL. */
const int32_t *gg_list(struct gg_conversion *c, uint32_t i);

/* ------------------------------------------------------------------- conversions */

void gg_unary(struct gg_conversion *c);
void gg_limit(struct gg_conversion *c);
void gg_elu(struct gg_conversion *c);
void gg_binary(struct gg_conversion *c);
void gg_softmax(struct gg_conversion *c);
void gg_reduce(struct gg_conversion *c);
void gg_reduce_extreme(struct gg_conversion *c);
void gg_arg(struct gg_conversion *c);
void gg_cast_type(struct gg_conversion *c);
void gg_l2_normalization(struct gg_conversion *c);
void gg_instance_normalization(struct gg_conversion *c);

void gg_fully_connected(struct gg_conversion *c);
void gg_batch_matmul(struct gg_conversion *c);
void gg_conv(struct gg_conversion *c);
void gg_pool(struct gg_conversion *c);
void gg_resize(struct gg_conversion *c);

void gg_copy(struct gg_conversion *c);
void gg_permute(struct gg_conversion *c);
void gg_concatenation(struct gg_conversion *c);
void gg_pack(struct gg_conversion *c);
void gg_split(struct gg_conversion *c);
void gg_slice(struct gg_conversion *c);
void gg_strided_slice(struct gg_conversion *c);
void gg_tile(struct gg_conversion *c);
void gg_pad(struct gg_conversion *c);
void gg_gather(struct gg_conversion *c);
void gg_shuffle(struct gg_conversion *c);
void gg_block(struct gg_conversion *c);

#endif
