/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file builder.h Models built in code: by hand with seeded weights, or from a foreign graph.
 *
 * Operands are added one by one and named by their index. An error (out of memory) is kept until nnv_builder_end(),
 * so that the code that describes a network needs no checks. Who converts a foreign graph sets `stopped` when it
 * refuses a part: until it clears the flag, all functions add nothing and give operand 0.
 */
#ifndef NNV_MODEL_BUILDER_H
#define NNV_MODEL_BUILDER_H

#include "reference/model/model.h"

struct nnv_builder {
    struct nnv_arena *arena; /**< the caller's: owns all that is built */
    uint64_t seed;           /**< of the weights */
    struct nnv_operand *operand;
    struct nnv_operation *operation;
    uint32_t noperands, noperations;
    size_t operand_room, operation_room;
    bool failed;  /**< out of memory */
    bool stopped; /**< by the caller: nothing is added */
};

/** Type and quantisation of a tensor. */
struct nnv_encoding {
    int32_t type;
    float scale;
    int32_t zero_point;
};

/** Neither failed nor stopped. */
static inline bool nnv_builder_ok(const struct nnv_builder *b) { return !b->failed && !b->stopped; }
/** Type and quantisation of an operand; of one that is not there, TENSOR_FLOAT32. */
struct nnv_encoding nnv_builder_encoding(const struct nnv_builder *b, uint32_t operand);
/** A tensor of rank extents that is computed or given: lifetime is NNV_TEMPORARY_VARIABLE, _INPUT or _OUTPUT. */
uint32_t nnv_builder_tensor(struct nnv_builder *b, struct nnv_encoding encoding, uint32_t rank, const uint32_t *dims,
                            enum nnv_lifetime lifetime);
/**
 * A constant tensor of normal random values: standard deviation `deviation`, in real numbers, rounded to the
 * encoding. FLOAT32, FLOAT16, quantised 8-bit types, and TENSOR_INT32 with a scale (a bias).
 */
uint32_t nnv_builder_weights(struct nnv_builder *b, struct nnv_encoding encoding, uint32_t rank, const uint32_t *dims,
                             double deviation);
/** A constant whose data, as many bytes as type and extents tell, are kept and not copied. Rank 0 is a scalar. */
uint32_t nnv_builder_constant(struct nnv_builder *b, struct nnv_encoding encoding, uint32_t rank, const uint32_t *dims,
                              const void *data);
/** A constant of stored numbers (of quantised types: codes); and of one and the same number. */
uint32_t nnv_builder_numbers(struct nnv_builder *b, struct nnv_encoding encoding, uint32_t rank, const uint32_t *dims,
                             const double *v);
uint32_t nnv_builder_filled(struct nnv_builder *b, struct nnv_encoding encoding, uint32_t rank, const uint32_t *dims,
                            double v);
/** A constant TENSOR_INT32 of rank 1 with these values. */
uint32_t nnv_builder_ints(struct nnv_builder *b, uint32_t count, const int32_t *values);
/** Constant scalars: of any scalar type, INT32, FLOAT32, BOOL. */
uint32_t nnv_builder_scalar(struct nnv_builder *b, int32_t type, double value);
uint32_t nnv_builder_int(struct nnv_builder *b, int32_t value);
uint32_t nnv_builder_float(struct nnv_builder *b, float value);
uint32_t nnv_builder_bool(struct nnv_builder *b, bool value);
/** Any operand; what it points at is kept. */
uint32_t nnv_builder_operand(struct nnv_builder *b, struct nnv_operand operand);
/** Appends an operation with any number of outputs. */
void nnv_builder_operation(struct nnv_builder *b, int32_t code, uint32_t nin, const uint32_t *in, uint32_t nout,
                           const uint32_t *out);
/** Appends an operation with one output. */
void nnv_builder_add(struct nnv_builder *b, int32_t code, uint32_t nin, const uint32_t *in, uint32_t out);
/** The finished model; in and out: operand indices, whose order is the model's. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_builder_end(struct nnv_builder *b, uint32_t nin, const uint32_t *in, uint32_t nout,
                                               const uint32_t *out, struct nnv_model *model, struct nnv_err *err);

#endif
