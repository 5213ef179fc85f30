/* SPDX-License-Identifier: Apache-2.0 */
/** @file dense.h Products of rows with a packed matrix of weights: convolution and fully connected layers. */
#ifndef CPU_DENSE_H
#define CPU_DENSE_H

#include "driver/op.h"

/** a / b, rounded up; and n as a multiple of `to` that is not less. */
static inline size_t cpu_quotient(size_t a, size_t b) { return (a + b - 1) / b; }
static inline size_t cpu_padded(size_t n, size_t to) { return cpu_quotient(n, to) * to; }

/** What products work on: floats; centred 16-bit integers; bytes as they are. */
enum cpu_dense_form { CPU_DENSE_F32, CPU_DENSE_S16, CPU_DENSE_U8 };

/** Weights [n, k] and bias [n], packed into panels. */
struct cpu_dense {
    enum cpu_dense_form form;
    size_t n, k;        /**< k: of a gathered row; rounded up to even (S16), to 4 if it is less (U8) */
    size_t run;         /**< values that lie side by side in the input; a divisor of k. S16: k */
    int32_t zero_point; /**< of the input */
    float *bias;        /**< F32 */
    float *weights;     /**< F32 */
    int16_t *weights16; /**< S16: centred */
    double *bias64;     /**< S16 */
    double *multiplier; /**< S16, U8 */
    int8_t *weights8;   /**< U8: centred, and less by correction */
    int32_t *bias32;    /**< U8 */
    float *scale;       /**< U8 */
    int32_t correction; /**< U8 */
};

/** The operands of a layer: output units of quantised ones are input scale * weight scale / output scale. */
struct cpu_layer {
    const struct cpu_tensor *input, *weights, *bias, *output;
    size_t n, k;
    size_t run;  /**< as in struct cpu_dense: what is wished; 0: k */
    bool turned; /**< the weights are stored as [k, n] */
};

/** Bytes that packing takes at most. */
size_t cpu_dense_bytes(const struct cpu_kernels *kernels, const struct cpu_layer *layer);
/** Packs into memory that is aligned to CPU_ALIGN. */
void cpu_dense_pack(const struct cpu_kernels *kernels, const struct cpu_layer *layer, void *memory,
                    struct cpu_dense *out);
/** One of several layers that make up an operation: a batch, some groups, a phase. */
struct cpu_part {
    struct cpu_tensor weights, bias; /**< what layer points to */
    struct cpu_layer layer;
};

/** The layers of an operation, whose weights are packed once where they are constant. */
struct cpu_parts {
    const struct cpu_call *c;
    uint32_t count;
    size_t room; /**< bytes in which `describe` brings weights into another order */
    /** Describes part i; room may be NULL: then only the sizes matter. */
    void (*describe)(const void *source, uint32_t i, void *room, struct cpu_part *out);
    const void *source;
};

/** Packs all parts, or finds them in the cache, as *state in the arena. False: no memory, or the cache is unfit. */
bool cpu_parts_prepare(const struct cpu_parts *parts, struct cpu_arena *arena, void **state);

/** The packed weights of an execution. */
struct cpu_packed {
    const struct cpu_parts *parts;
    const struct cpu_dense *prepared; /**< what cpu_parts_prepare made, or NULL: they are packed now, one by one */
    void *memory, *room;
    struct cpu_dense now;
};
/** prepared may be NULL. False: no memory. */
bool cpu_packed_begin(const struct cpu_parts *parts, const void *prepared, struct cpu_packed *out);
/** The weights of part i, until the next is asked for. */
const struct cpu_dense *cpu_packed_get(struct cpu_packed *p, uint32_t i);

/** Real multiplier of channel c. */
double cpu_layer_multiplier(const struct cpu_layer *layer, size_t c);
/** What the weights of a quantised layer allow. */
struct cpu_layer_ranges {
    int32_t least, most; /**< of all centred weights, and 0 */
    bool fits;           /**< no sum leaves 32 bits, no result is too large for fixed point */
};
struct cpu_layer_ranges cpu_layer_ranges(const struct cpu_layer *layer);
/** Centred weight i of channel c of a quantised layer. */
int32_t cpu_layer_weight(const struct cpu_layer *layer, size_t c, size_t i);
/** Types and scales of filter and bias fit the input; channel_dim: where a per-channel filter must have its scales. */
bool cpu_layer_check(const struct cpu_tensor *input, const struct cpu_tensor *weights, const struct cpu_tensor *bias,
                     uint32_t channel_dim);

/** m rows times the weights. */
struct cpu_product {
    const struct cpu_dense *weights;
    size_t m;
    const void *rows; /**< F32, U8: the rows themselves, k apart; NULL: gather them */
    /** Writes rows [first, first + count), k values each, in the form of the weights. */
    void (*gather)(const void *source, size_t first, size_t count, void *to);
    const void *source;
    void *out;       /**< [m, n] */
    size_t out_step; /**< values between its rows; 0: n */
    struct cpu_range range;
    int32_t zero_point; /**< of the output */
};
/** About what it takes on one thread. */
double cpu_product_ns(const struct cpu_product *product);
/** False: no memory. */
bool cpu_product_run(struct cpu_run *run, const struct cpu_product *product);

/** What is taken of rows: runs of so many values; of the weights, `skip` before the first and `gap` between runs not.
 */
struct cpu_taken {
    size_t runs, length, skip, gap;
};
/** Rows in runs, and where their results go. */
struct cpu_runs {
    const void **at; /**< where each run of row 0 begins: k / run of them */
    size_t m, step;  /**< values between rows */
    void *out;
    size_t out_step;
    const struct cpu_taken *taken; /**< of CPU_DENSE_F32 alone; NULL: all */
};
/** Multiplies m rows by columns [col, col + cols) of the weights; col is a multiple of the panel. */
void cpu_dense_multiply(const struct cpu_kernels *kernels, const struct cpu_product *product,
                        const struct cpu_runs *rows, size_t col, size_t cols);
/** Bytes of a gathered value. */
size_t cpu_dense_element(const struct cpu_dense *weights);
/** Writes count values of a row: copied, or centred. */
void cpu_dense_copy(const struct cpu_kernels *kernels, const struct cpu_dense *weights, size_t count, const void *from,
                    void *to);
/** Writes count zeros of a row. */
void cpu_dense_zero(const struct cpu_dense *weights, size_t count, void *to);

#endif
