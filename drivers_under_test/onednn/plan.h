/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file plan.h An operation as primitives of oneDNN that run one after the other.
 *
 * Memory has slots: an operand as it lies, another view of an operand, or memory of the plan's own. Steps whose
 * sources are all constants run once, when the plan is made: weights are brought into the engine's form there.
 */
#ifndef ONEDNN_PLAN_H
#define ONEDNN_PLAN_H

#include <oneapi/dnnl/dnnl.h>

#include "engine/operation.h"

typedef dnnl_memory_desc_t dn_form; /**< type, extents and layout */

struct dn_engine {
    dnnl_engine_t cpu;
    dnnl_stream_t stream;
    int threads;
    bool loose; /**< also what is known to be computed wrong */
};

enum { DN_MOST_ARGS = 24, DN_NOWHERE = -1 };

struct dn_slot {
    dn_form form;
    dnnl_memory_t memory;
    uint32_t tensor; /**< whose memory it is; UINT32_MAX: the plan's */
    bool constant;   /**< its value does not change any more */
};

struct dn_arg {
    int arg; /**< DNNL_ARG_ */
    int slot;
};

struct dn_step {
    dnnl_primitive_t primitive;
    int count;
    dnnl_exec_arg_t args[DN_MOST_ARGS];
};

struct dn_plan {
    const struct dn_engine *engine;
    struct engine_operation op;
    struct dn_slot *slots;
    struct dn_step *steps;
    int slot_count, step_count;
};

/* ----------------------------------------------------------------------- forms */

/** Elements as they lie in the operand; false if the engine lacks the type. */
bool dn_form_of(const struct engine_tensor *t, dn_form *out);
/** Any extents and steps (in elements) over elements of that type. */
bool dn_form_make(dnnl_data_type_t type, int rank, const dnnl_dim_t *dims, const dnnl_dim_t *steps, dn_form *out);
/** The same, without gaps. */
bool dn_form_dense(dnnl_data_type_t type, int rank, const dnnl_dim_t *dims, dn_form *out);
/** An image as the engine sees it: N, C, H, W. */
bool dn_form_image(const struct engine_tensor *t, bool nchw, dn_form *out);
bool dn_type_of(const struct engine_tensor *t, dnnl_data_type_t *out);
/** The same extents and layout with another type of element. */
dn_form dn_form_typed(const dn_form *form, dnnl_data_type_t type);
/** The same extents and type; the engine chooses the layout. */
dn_form dn_form_any(const dn_form *form);

/* ----------------------------------------------------------------------- slots
 * A slot is DN_NOWHERE after a failure; what is given one fails in turn. */

/** An operand of the operation, seen in that form. */
int dn_see(struct dn_plan *p, uint32_t tensor, const dn_form *form);
int dn_own(struct dn_plan *p, const dn_form *form);
/** Own memory filled with values that never change. */
int dn_values(struct dn_plan *p, const dn_form *form, const void *values);
/** The slot itself if it has that form, else a copy in that form. */
int dn_into(struct dn_plan *p, int slot, const dn_form *form);
/** float32: scale * (value - zero point) of an operand; its own slot if it is float32 already and scale is 1. */
int dn_real(struct dn_plan *p, int slot, const struct engine_tensor *t, float scale);
/** Writes scale * value + zero point, rounded. */
bool dn_store(struct dn_plan *p, int from, int to, const struct engine_tensor *t, float scale);

/* ------------------------------------------------------------------ attributes */

/** Primitive attributes; all zero: none yet. */
struct dn_attr {
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t post;
    bool failed;
};
struct dn_attr dn_attr_new(void);
void dn_attr_free(struct dn_attr *a);
void dn_attr_scales(struct dn_attr *a, int count, int mask, const float *scales);
/** Nothing is set for 0. */
void dn_attr_zero_point(struct dn_attr *a, int arg, int32_t zero_point);
void dn_attr_then(struct dn_attr *a, dnnl_alg_kind_t what, float alpha, float beta);
/** A fused activation on real values (t float32), or on values that await t's zero point. */
void dn_attr_activation(struct dn_attr *a, int32_t code, const struct engine_tensor *t);

/* ----------------------------------------------------------------------- steps */

/** A primitive's description; NULL if the engine has no such primitive. */
dnnl_primitive_desc_t dn_describe(const struct dn_plan *p, const_dnnl_op_desc_t op, const struct dn_attr *attr);
/** The form that the description chose for an argument. */
dn_form dn_chosen(const_dnnl_primitive_desc_t desc, int arg);
/** Adds the primitive, or runs it if all is constant. Takes desc (NULL: fails). The last argument is the result. */
bool dn_step(struct dn_plan *p, dnnl_primitive_desc_t desc, const struct dn_arg *args, int count);
/** The same of a primitive without attributes. */
bool dn_plain(struct dn_plan *p, const_dnnl_op_desc_t op, const struct dn_arg *args, int count);
/** Copies from one slot to the other, with attributes. attr may be NULL. */
bool dn_copy(struct dn_plan *p, int from, int to, const struct dn_attr *attr);
/** An elementwise function from one slot to another, or in place. */
bool dn_apply(struct dn_plan *p, int from, int to, dnnl_alg_kind_t what, float alpha, float beta);
/** A fused activation from one slot to another, or in place; on codes where t is quantised. */
bool dn_activate(struct dn_plan *p, int from, int to, int32_t code, const struct engine_tensor *t);

/** Runs all steps; data: where each tensor lies. */
bool dn_run(const struct dn_engine *engine, struct dn_plan *p, void *const *data);
/** Forgets all slots and steps. */
void dn_clear(struct dn_plan *p);

/* ------------------------------------------------------------------ operations
 * True: the plan computes the operation. */

bool dn_layer(struct dn_plan *p); /**< convolutions, fully connected */
bool dn_pool(struct dn_plan *p);
bool dn_unary(struct dn_plan *p);
bool dn_binary(struct dn_plan *p);
bool dn_prelu(struct dn_plan *p);
bool dn_softmax(struct dn_plan *p);
bool dn_lrn(struct dn_plan *p);
bool dn_reduce(struct dn_plan *p);
bool dn_batch_matmul(struct dn_plan *p);
bool dn_concat(struct dn_plan *p);
bool dn_move(struct dn_plan *p); /**< other places, same values */
bool dn_resize(struct dn_plan *p);
bool dn_quantize(struct dn_plan *p);

/** engine_window_read; false also for numbers of which the engine would compile for ever. */
bool dn_window_read(struct dn_plan *p, uint32_t first, uint32_t more, struct engine_window *w);

#endif
