/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan.h An NNAPI operation as one or more XNNPACK operators. */
#ifndef XNNPACK_PLAN_H
#define XNNPACK_PLAN_H

#include <xnnpack.h>

#include "engine/operation.h"

#define XP_NONE UINT32_MAX
#define XP_SCRATCH (UINT32_MAX - 1) /**< in place of a tensor: the scratch memory of the state */

/** The real type of a tensor's elements, as XNNPACK tells them apart. */
enum xp_kind { XP_F32, XP_QU8, XP_QS8, XP_OTHER };

struct xp_step;
/** Tells the operator its sizes and addresses. */
typedef enum xnn_status (*xp_setup)(const struct xp_step *s, const void *a, const void *b, void *y,
                                    pthreadpool_t threads);

/** One operator. */
struct xp_step {
    xnn_operator_t op;
    xp_setup setup;
    uint32_t a, b, y;  /**< tensors; b may be XP_NONE */
    size_t a_at, y_at; /**< bytes into them */
    size_t batch, in_h, in_w, out_h, out_w;
    size_t a_rank, a_dims[XNN_MAX_TENSOR_DIMS], b_rank, b_dims[XNN_MAX_TENSOR_DIMS];
    size_t before[XNN_MAX_TENSOR_DIMS], after[XNN_MAX_TENSOR_DIMS]; /**< padding */
    const void *last_a, *last_b;                                    /**< what the operator was told */
    void *last_y;
};

struct xp_state {
    void *scratch; /**< values between two operators */
    uint32_t count;
    struct xp_step steps[];
};

/** One operation that is being compiled. */
struct xp_build {
    struct engine_operation op;
    struct xp_state *state;
    bool loose; /**< also what XNNPACK computes otherwise than NNAPI */
};

/**
 * Adds the operators of one kind of operation; false: XNNPACK can't do it, or not exactly. No need to clean up.
 * state has room for as many steps as the operation has inputs and outputs, and four more.
 */
typedef bool (*xp_compile)(struct xp_build *b);

/** The next step, from input 0 to output 0. */
struct xp_step *xp_add(struct xp_build *b, xp_setup setup);

/** Scratch memory for the state; false without memory. Once a state. */
bool xp_scratch(struct xp_build *b, size_t bytes);

/** Of a TENSOR_ type; XP_OTHER for what isn't listed. */
enum xp_kind xp_kind_of(const struct engine_tensor *t);
/** The range of a fused activation: real numbers, and codes of t. */
struct xp_range {
    float lo, hi;
    int32_t qlo, qhi;
};
struct xp_range xp_activation(int32_t fuse_code, const struct engine_tensor *t);

bool xp_convolution(struct xp_build *b);
bool xp_transpose_convolution(struct xp_build *b);
bool xp_fully_connected(struct xp_build *b);
bool xp_max_pool(struct xp_build *b);
bool xp_average_pool(struct xp_build *b);
bool xp_mean(struct xp_build *b);
/** The mean of all pixels of input 0, as xp_mean, with an activation. */
bool xp_global_average(struct xp_build *b, int32_t fuse_code);
bool xp_resize_bilinear(struct xp_build *b);
bool xp_depth_to_space(struct xp_build *b);
bool xp_unary(struct xp_build *b);
bool xp_relu(struct xp_build *b);
bool xp_elu(struct xp_build *b);
bool xp_prelu(struct xp_build *b);
bool xp_softmax(struct xp_build *b);
bool xp_binary(struct xp_build *b);
bool xp_quantize(struct xp_build *b);
bool xp_dequantize(struct xp_build *b);
bool xp_copy(struct xp_build *b);
bool xp_concatenation(struct xp_build *b);
bool xp_split(struct xp_build *b);
bool xp_pad(struct xp_build *b);
bool xp_channel_shuffle(struct xp_build *b);

/** Creates operator NAME of a step, with the setup that goes with it; false if XNNPACK refuses. */
#define XP_MAKE(step, NAME, ...)                                                                                       \
    ((step)->setup = setup_##NAME, xnn_create_##NAME(__VA_ARGS__, &(step)->op) == xnn_status_success)

/** setup functions of operators that take sizes alike: batch, input, output. */
#define XP_SETUP_NC(NAME, IN, OUT)                                                                                     \
    static enum xnn_status setup_##NAME(const struct xp_step *s, const void *a, const void *b, void *y,                \
                                        pthreadpool_t threads) {                                                       \
        (void)b;                                                                                                       \
        return xnn_setup_##NAME(s->op, s->batch, (const IN *)a, (OUT *)y, threads);                                    \
    }
/** and batch, height, width, input, output. */
#define XP_SETUP_2D(NAME, TYPE)                                                                                        \
    static enum xnn_status setup_##NAME(const struct xp_step *s, const void *a, const void *b, void *y,                \
                                        pthreadpool_t threads) {                                                       \
        (void)b;                                                                                                       \
        return xnn_setup_##NAME(s->op, s->batch, s->in_h, s->in_w, (const TYPE *)a, (TYPE *)y, threads);               \
    }

#endif
