/* SPDX-License-Identifier: Apache-2.0 */
/** @file op.h The record of an operation: what it accepts, what shape it gives, how it is computed. */
#ifndef CPU_OP_H
#define CPU_OP_H

#include <math.h>

#include "kernels/kernels.h"
#include "model.h"
#include "packs.h"
#include "threads.h"

/** What an operation computes with: memory of this execution, kernels and threads of the device. */
struct cpu_run {
    const struct cpu_kernels *kernels;
    struct cpu_threads *threads;
    struct cpu_blocks scratch; /**< emptied after each operation */
    bool no_memory;            /**< an allocation failed */
};

/** Bytes that live until the operation ends, with slack behind; NULL (and run->no_memory) without memory. */
void *cpu_scratch(struct cpu_run *run, size_t bytes);

enum { CPU_MAX_OUT = 4 };

/** One use of an operation. */
struct cpu_call {
    const struct cpu_node *node;
    struct cpu_tensor *tensors;               /**< of the model, or of this execution */
    struct cpu_shape out_shapes[CPU_MAX_OUT]; /**< infer's answer */
    const struct cpu_kernels *kernels;        /**< prepare and run */
    struct cpu_run *run;                      /**< run only */
    struct cpu_packs *packs;                  /**< prepare only */
};

/** What the operations of one family do. */
struct cpu_op_fns {
    /** Optional. Rules of types, quantisation, ranks and values, on what is known; asked again before infer. */
    bool (*check)(const struct cpu_call *c);
    /**
     * Required. Fills out_shapes, and checks extents. Scalars and p inputs are known; extents may be
     * CPU_UNKNOWN while the model is checked, ranks are known. A rank of CPU_UNKNOWN: unknown extents decide it.
     */
    bool (*infer)(struct cpu_call *c);
    /**
     * Optional. The inputs, a bit for each, whose values are constants that prepare packs and nothing else of the
     * operation reads; does not read them either.
     */
    uint32_t (*packed)(const struct cpu_call *c);
    /** Optional. Makes what node->state is to be from constants, in arena memory. False: not enough memory. */
    bool (*prepare)(const struct cpu_call *c, struct cpu_arena *arena, void **state);
    /** Required. Computes the outputs, whose data are allocated. False: the values are not allowed. */
    bool (*run)(struct cpu_call *c);
};

enum { CPU_FORMS = 2 };

/**
 * The record of an operation, a row of ops/ops.def. A list of inputs is a string, one letter an input:
 *   x  tensor of the main type T        o  the same, may be omitted      h  tensor of a float type, whatever T is
 *   i  INT32   b  BOOL   s  float scalar of T's kind                     t  TENSOR_INT32
 *   p  TENSOR_INT32 whose value decides the output's shape               q  any quantised 8-bit tensor
 *   w  filter of T, or per-channel      c  bias of a filter              a  any tensor
 *   l  TENSOR_BOOL8                     n  INT32, FLOAT32 or FLOAT16 scalar
 *   P  as p, may be omitted             e  coordinates: of T, or where T is quantised in eighths
 *   *  behind a letter: once or more    |  what follows may be absent, together with all that follows it
 */
struct cpu_op {
    int32_t code;
    uint16_t types;   /**< of T, as bits */
    uint8_t max_rank; /**< of T tensors; 0: any */
    /** Of output 0: FREE; SAME as T; UNIT_256: 1/256, zero point at the least value; UNIT_128: 1/128, in the middle. */
    uint8_t quant;
    uint8_t flags; /**< ZERO: zero-sized inputs are computed, not refused; IMAGE: the first input has rank 4 */
    const struct cpu_op_fns *fns;
    /**
     * Letters of the outputs: x, t, l, i, e, f (FLOAT32 or FLOAT16 tensor), q (TENSOR_QUANT8_ASYMM), or a (any tensor:
     * check decides). "x*": one or more, all of the shape out_shapes[0]. '|' as in forms.
     */
    const char *outs;
    const char *forms[CPU_FORMS]; /**< input lists; they differ in types or number */
};

/** The record of code, or NULL. */
const struct cpu_op *cpu_op_find(int32_t code);
/** Finds the form that fits the node's inputs; sets node->form. False if none fits. */
bool cpu_op_bind(struct cpu_node *node, const struct cpu_tensor *tensors);
/** True if the node reads tensor only where it may be omitted, or not at all. */
bool cpu_op_may_omit(const struct cpu_node *node, uint32_t tensor);
/** The record's check and quantisation rule. False: refused. */
bool cpu_op_check(const struct cpu_call *c);
/** True if all scalars and p inputs have values, and all ranks of the inputs are known. */
bool cpu_op_can_infer(const struct cpu_call *c);
/** infer's answer for output i. */
const struct cpu_shape *cpu_out_shape(const struct cpu_call *c, uint32_t i);
/** The record's infer, with the rules of zero-sized inputs where all is known. */
bool cpu_op_infer(struct cpu_call *c);

/* --------------------------------------------------------- for the operations */

/** Input i, which the operation can't do without. */
static inline const struct cpu_tensor *cpu_in(const struct cpu_call *c, uint32_t i) {
    return &c->tensors[c->node->in[i]];
}
/** Input i, or NULL if it is absent or omitted. */
static inline const struct cpu_tensor *cpu_optional(const struct cpu_call *c, uint32_t i) {
    return i < c->node->in_count && cpu_in(c, i)->present ? cpu_in(c, i) : NULL;
}
static inline struct cpu_tensor *cpu_out(const struct cpu_call *c, uint32_t i) { return &c->tensors[c->node->out[i]]; }
/** Value of an INT32 or BOOL input; fallback if it is absent or not known. */
int32_t cpu_int(const struct cpu_call *c, uint32_t i, int32_t fallback);
/** Value of a FLOAT32 or FLOAT16 input; fallback if it is absent or not known. */
float cpu_float(const struct cpu_call *c, uint32_t i, float fallback);
/** Value of INT32 input i is absent, not known yet, or inside [lo, hi]. */
bool cpu_int_within(const struct cpu_call *c, uint32_t i, int32_t lo, int32_t hi);
/** False if both are known and differ. */
bool cpu_agree(uint32_t a, uint32_t b);
/** The extent that is known. */
uint32_t cpu_merge(uint32_t a, uint32_t b);
/** axis in [-rank, rank) as [0, rank); -1 outside. */
int32_t cpu_axis(int32_t axis, uint32_t rank);
/** The rank, or CPU_UNKNOWN. */
uint32_t cpu_rank(const struct cpu_tensor *t);
/** True if inputs from number `first` on, as far as there are any, have values. */
bool cpu_values_known(const struct cpu_call *c, uint32_t first);
/** True if t is absent, or its rank and first extents (the second for ranks above 1) agree as far as is known. */
bool cpu_shape_fits(const struct cpu_tensor *t, uint32_t rank, uint32_t first, uint32_t second);
/** Output 0 has this rank, as far as both are known: a model that declares another one is wrong before any value is. */
bool cpu_out_has_rank(const struct cpu_call *c, uint32_t rank);
/** data, so many values of t's type later. */
const void *cpu_values_at(const struct cpu_tensor *t, const void *data, size_t values);
void *cpu_values_to(const struct cpu_tensor *t, void *data, size_t values);
/** Elements of a tensor whose shape is known. */
size_t cpu_count(const struct cpu_tensor *t);
/** Product of the extents [from, to). */
size_t cpu_extent(const struct cpu_shape *s, uint32_t from, uint32_t to);
bool cpu_is_quant8(const struct cpu_tensor *t);
bool cpu_is_float(const struct cpu_tensor *t);
/** Same scale and zero point. */
bool cpu_same_quant(const struct cpu_tensor *a, const struct cpu_tensor *b);
/** Output 0 has the shape of input 0. */
bool cpu_infer_same(struct cpu_call *c);

/** The range of a fused activation. */
struct cpu_range {
    float lo, hi;     /**< real */
    int32_t qlo, qhi; /**< quantised, in out's bytes */
};
/** activation: a FuseCode. */
struct cpu_range cpu_activation(int32_t activation, const struct cpu_tensor *out);
/** x rounded to an integer, halves away from zero; saturates. */
int32_t cpu_round(double x);
/** The byte that stands for a real number in t. */
uint8_t cpu_quantize(double real, const struct cpu_tensor *t);
/** The 256 bytes of `from` in the quantisation of `to`. */
void cpu_requantize_table(const struct cpu_tensor *from, const struct cpu_tensor *to, uint8_t *table);

#define OP(CODE, TYPES, RANK, QUANT, FLAGS, FNS, ...) extern const struct cpu_op_fns cpu_op_##FNS;
#include "ops/ops.def"
#undef OP

#endif
