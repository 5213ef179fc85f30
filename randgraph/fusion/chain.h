/* SPDX-License-Identifier: Apache-2.0 */
/** @file chain.h A chain of operations while it is built; private to randgraph/fusion. */
#ifndef NNV_RANDGRAPH_FUSION_CHAIN_H
#define NNV_RANDGRAPH_FUSION_CHAIN_H

#include "base/rng.h"
#include "randgraph/fusion/fusion.h"
#include "reference/model/builder.h"

enum { NNV_CHAIN_OPERANDS = 512, NNV_CHAIN_IO = 32 };

/**
 * What failed is kept until the end: a step that cannot be makes all that follow do nothing. A second pass draws the
 * same again, and takes the constants and the quantisation of the first.
 */
struct nnv_chain {
    struct nnv_arena *arena;
    struct nnv_builder b;
    struct nnv_rng rng, noise;                  /**< of attributes: the second pass draws them again; of values */
    uint32_t at;                                /**< the value that the next step reads */
    int fused;                                  /**< what the step has fused, a FuseCode; negative: drawn */
    struct nnv_value value[NNV_CHAIN_OPERANDS]; /**< of operands that are no constants */
    uint32_t in[NNV_CHAIN_IO], nin, nin_first, out[NNV_CHAIN_IO], nout; /**< nin_first: of the first pass */
    uint32_t written[NNV_CHAIN_IO], nwritten; /**< results of operations of this pass, in order */
    int pass;
    uint32_t constant[NNV_CHAIN_OPERANDS], nconstants, reused; /**< of the first pass; how many the second took */
    struct nnv_encoding result[NNV_CHAIN_OPERANDS];            /**< of the first pass */
    uint32_t nresults, repeated;
    bool failed;
    struct nnv_err why;
};

/** A step. */
struct nnv_chain_step {
    const char *word;
    void (*add)(struct nnv_chain *c, int arg);
    int arg;
    uint32_t rank;    /**< that the value must have; 0: any */
    int32_t codes[8]; /**< of its operations, the main one first, then -1 */
};
extern const struct nnv_chain_step nnv_chain_steps[];
extern const int nnv_chain_step_count;

/** Notes that the step cannot be. */
void nnv_chain_fail(struct nnv_chain *c);
/** The operand; valid until the next one is added. */
const struct nnv_operand *nnv_chain_operand(const struct nnv_chain *c, uint32_t operand);
/** Its extent k from the front; from behind where k is negative. 1 if there is none. */
uint32_t nnv_chain_extent(const struct nnv_chain *c, uint32_t operand, int k);
/** An integer in [lo, hi]; one of them; true so often. */
int nnv_chain_int(struct nnv_chain *c, int lo, int hi);
bool nnv_chain_chance(struct nnv_chain *c, double p);

/** A model input of the type of the chain's value, of values in [lo, hi]. */
uint32_t nnv_chain_input(struct nnv_chain *c, int32_t type, uint32_t rank, const uint32_t *dims, double lo, double hi);
/** A constant of the type of the chain's value, of values in [lo, hi]. */
uint32_t nnv_chain_constant(struct nnv_chain *c, uint32_t rank, const uint32_t *dims, double lo, double hi);
/** The filter of a product: scales are per channel along dim now and then where dim >= 0; and its bias of n. */
uint32_t nnv_chain_filter(struct nnv_chain *c, uint32_t rank, const uint32_t *dims, int dim, double most);
uint32_t nnv_chain_bias(struct nnv_chain *c, uint32_t filter, uint32_t n);
/** Numbers of the chain's type, a float one, in [-most, most], which the model stores in 8 bits and dequantises. */
uint32_t nnv_chain_stored(struct nnv_chain *c, uint32_t rank, const uint32_t *dims, double most);
uint32_t nnv_chain_ints(struct nnv_chain *c, uint32_t n, const int32_t *v);
uint32_t nnv_chain_scalar(struct nnv_chain *c, int32_t type, double v);
static inline uint32_t nnv_chain_i32(struct nnv_chain *c, int v) {
    return nnv_chain_scalar(c, ANEURALNETWORKS_INT32, v);
}
/** The activation that the row wants; else none, or now and then one. */
uint32_t nnv_chain_activation(struct nnv_chain *c);

/** Appends an operation with nout results of this type, evaluates it, and returns the first result. */
uint32_t nnv_chain_operation(struct nnv_chain *c, int32_t code, uint32_t nin, const uint32_t *in, int32_t type,
                             uint32_t nout);
/** With one result of the type of input 0. */
uint32_t nnv_chain_add(struct nnv_chain *c, int32_t code, uint32_t nin, const uint32_t *in);
#define NNV_CHAIN_ADD(c, code, ...)                                                                                    \
    nnv_chain_add(c, ANEURALNETWORKS_##code, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                     \
                  (uint32_t[]){__VA_ARGS__})

/* products.c; arg of conv, depthwise and fc: whether their weights are stored in 8 bits; of dilated: 1 for one axis */
void nnv_chain_conv(struct nnv_chain *c, int stored);
void nnv_chain_depthwise(struct nnv_chain *c, int stored);
void nnv_chain_grouped(struct nnv_chain *c, int arg);
void nnv_chain_transpose_conv(struct nnv_chain *c, int arg);
void nnv_chain_fc(struct nnv_chain *c, int stored);
void nnv_chain_matmul(struct nnv_chain *c, int arg);
void nnv_chain_pool(struct nnv_chain *c, int code);
/* the same of images NCHW */
void nnv_chain_conv_planes(struct nnv_chain *c, int arg);
void nnv_chain_depthwise_planes(struct nnv_chain *c, int arg);
void nnv_chain_pool_planes(struct nnv_chain *c, int code);
/** A convolution of x with a k x k filter, stride 1, which keeps the image (SAME) or not. */
uint32_t nnv_chain_conv_of(struct nnv_chain *c, uint32_t x, uint32_t k, uint32_t channels, bool same);
uint32_t nnv_chain_fc_of(struct nnv_chain *c, uint32_t x, uint32_t size, uint32_t units);
/* blocks.c */
void nnv_chain_dilated(struct nnv_chain *c, int arg);
void nnv_chain_squeeze_excite(struct nnv_chain *c, int arg);
void nnv_chain_squeeze_excite_fc(struct nnv_chain *c, int arg);
void nnv_chain_residual(struct nnv_chain *c, int arg);
void nnv_chain_two_convs(struct nnv_chain *c, int arg);
void nnv_chain_swish(struct nnv_chain *c, int arg);
void nnv_chain_hard_swish_parts(struct nnv_chain *c, int arg);
void nnv_chain_layer_norm(struct nnv_chain *c, int arg);
void nnv_chain_attention(struct nnv_chain *c, int arg);
void nnv_chain_gelu(struct nnv_chain *c, int arg);

#endif
