/* SPDX-License-Identifier: Apache-2.0 */
/** @file in.h What the files of the decompiler share. */
#ifndef NNV_COMPILER_DECOMPILE_IN_H
#define NNV_COMPILER_DECOMPILE_IN_H

#include "compiler/relay/relay.h"
#include "reference/model/op.h"

/** One model on its way; an operation that has no Relay form sets `refused`. */
struct nnv_decompiler {
    struct nnv_arena *arena;
    struct nnv_relay_module *m;
    const struct nnv_subgraph *s;
    const struct nnv_shape *shapes; /**< of all operands */
    struct nnv_relay_expr **values; /**< of the operands; NULL: none yet */
    const struct nnv_operation *op; /**< the current one, and its row's operator */
    const char *name;
    bool failed, refused; /**< out of memory; the operation has no Relay form */
};

/** How an operation becomes Relay operators. */
struct nnv_decompile_row {
    int32_t code;
    void (*write)(struct nnv_decompiler *l);
    const char *name; /**< the operator, for rows that share a function */
};
struct nnv_decompile_rows {
    const struct nnv_decompile_row *rows;
    size_t n;
};
extern const struct nnv_decompile_rows nnv_decompile_layers, nnv_decompile_others, nnv_decompile_recurrent;

/** The type of an operand of the model; NULL, and `refused`: Relay has none for it. */
const struct nnv_relay_type *nnv_decompile_type(struct nnv_decompiler *l, uint32_t operand);
/* Inputs and outputs of the operation by position. */
const struct nnv_operand *nnv_decompile_operand(const struct nnv_decompiler *l, uint32_t i);
const struct nnv_shape *nnv_decompile_shape(const struct nnv_decompiler *l, uint32_t i);
const struct nnv_operand *nnv_decompile_out(const struct nnv_decompiler *l, uint32_t i);
const struct nnv_shape *nnv_decompile_out_shape(const struct nnv_decompiler *l, uint32_t i);
/** True if input i is there and has a value. */
bool nnv_decompile_has(const struct nnv_decompiler *l, uint32_t i);
/** Input i as it is stored, and as real numbers. */
struct nnv_relay_expr *nnv_decompile_in(struct nnv_decompiler *l, uint32_t i);
struct nnv_relay_expr *nnv_decompile_real(struct nnv_decompiler *l, uint32_t i);
/** A constant scalar of the operation, which must be known; `otherwise` if it is not there. */
double nnv_decompile_number(struct nnv_decompiler *l, uint32_t i, double otherwise);
/** The same where it is a whole number. */
int64_t nnv_decompile_whole(struct nnv_decompiler *l, uint32_t i, int64_t otherwise);
/** Integers of a constant input, at most NNV_MAX_RANK * 2; their number, 0 after a refusal. */
size_t nnv_decompile_ints(struct nnv_decompiler *l, uint32_t i, int64_t *to);
/** Output i is e as it is stored, or a real number that is to be quantised as the output. */
void nnv_decompile_put(struct nnv_decompiler *l, uint32_t i, struct nnv_relay_expr *e);
void nnv_decompile_put_real(struct nnv_decompiler *l, uint32_t i, struct nnv_relay_expr *e);
/** Output 0 as a real number behind the fused activation that input i names. */
void nnv_decompile_put_fused(struct nnv_decompiler *l, uint32_t i, struct nnv_relay_expr *e);

/* Attributes; a list is copied. */
struct nnv_relay_attr nnv_decompile_int(const char *key, int64_t v);
struct nnv_relay_attr nnv_decompile_truth(const char *key, bool v);
struct nnv_relay_attr nnv_decompile_float(const char *key, double v);
struct nnv_relay_attr nnv_decompile_text(const char *key, const char *v);
struct nnv_relay_attr nnv_decompile_list(struct nnv_decompiler *l, const char *key, size_t n, const int64_t *v);
/** Pairs of 2n integers. */
struct nnv_relay_attr nnv_decompile_pairs(struct nnv_decompiler *l, const char *key, size_t n, const int64_t *v);

/** A call of an operator. */
struct nnv_relay_expr *nnv_decompile_call(struct nnv_decompiler *l, const char *name, size_t n,
                                          struct nnv_relay_expr *const *args, size_t n_attrs,
                                          const struct nnv_relay_attr *attrs);
#define NNV_DECOMPILE_ARGS(...)                                                                                        \
    sizeof((struct nnv_relay_expr *[]){__VA_ARGS__}) / sizeof(void *), (struct nnv_relay_expr *[]) { __VA_ARGS__ }
#define NNV_DECOMPILE_ATTRS(...)                                                                                       \
    sizeof((struct nnv_relay_attr[]){__VA_ARGS__}) / sizeof(struct nnv_relay_attr), (const struct nnv_relay_attr[]) {  \
        __VA_ARGS__                                                                                                    \
    }
/** Constants: one number, and a vector of float32. */
struct nnv_relay_expr *nnv_decompile_constant(struct nnv_decompiler *l, enum nnv_relay_dtype dtype, double v);
struct nnv_relay_expr *nnv_decompile_floats(struct nnv_decompiler *l, size_t n, const float *v);
/** e within low and high. */
struct nnv_relay_expr *nnv_decompile_clip(struct nnv_decompiler *l, struct nnv_relay_expr *e, double low, double high);

#endif
