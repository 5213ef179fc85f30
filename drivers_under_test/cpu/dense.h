/* SPDX-License-Identifier: Apache-2.0 */
/** @file dense.h Products of rows with a packed matrix of weights: convolution and fully connected layers. */
#ifndef CPU_DENSE_H
#define CPU_DENSE_H

#include "op.h"

/** Weights [n, k] and bias [n], packed into panels. */
struct cpu_dense {
    bool quantised;
    size_t n, k; /**< k: rounded up to even where quantised */
    float *bias;
    float *weights;
    int16_t *weights16; /**< centred */
    double *bias64, *multiplier;
};

/** The operands of a layer: output units of quantised ones are input scale * weight scale / output scale. */
struct cpu_layer {
    const struct cpu_tensor *input, *weights, *bias, *output;
    size_t n, k;
    bool turned; /**< the weights are stored as [k, n] */
};

/** Bytes that packing takes. */
size_t cpu_dense_bytes(const struct cpu_kernels *kernels, const struct cpu_layer *layer);
/** Packs into memory that is aligned to CPU_ALIGN. */
void cpu_dense_pack(const struct cpu_kernels *kernels, const struct cpu_layer *layer, void *memory,
                    struct cpu_dense *out);
/** From the node's constants into the arena, if weights and bias are constant; else *out is NULL. False: no memory. */
bool cpu_dense_prepare(const struct cpu_kernels *kernels, const struct cpu_layer *layer, struct cpu_arena *arena,
                       struct cpu_dense **out);
/** The packed weights of this execution: prepared, or packed into scratch memory now (room provides the struct). NULL
 * without memory. */
const struct cpu_dense *cpu_dense_get(struct cpu_run *run, const struct cpu_layer *layer, const void *prepared,
                                      struct cpu_dense *room);

/** Real multiplier of channel c. */
double cpu_layer_multiplier(const struct cpu_layer *layer, size_t c);
/** Types and scales of filter and bias fit the input; channel_dim: where a per-channel filter must have its scales. */
bool cpu_layer_check(const struct cpu_tensor *input, const struct cpu_tensor *weights, const struct cpu_tensor *bias,
                     uint32_t channel_dim);

/** m rows times the weights. */
struct cpu_product {
    const struct cpu_dense *weights;
    size_t m;
    const float *rows; /**< float: the rows themselves, k apart; NULL: gather them */
    /** Writes rows [first, first + count), k values each: float, or centred int16. */
    void (*gather)(const void *source, size_t first, size_t count, void *to);
    const void *source;
    void *out;       /**< [m, n] */
    size_t out_step; /**< values between its rows; 0: n */
    struct cpu_range range;
    int32_t zero_point; /**< of the output */
};
/** False: no memory. */
bool cpu_product_run(struct cpu_run *run, const struct cpu_product *product);

#endif
