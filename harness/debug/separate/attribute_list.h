/* SPDX-License-Identifier: Apache-2.0 */
/** @file attribute_list.h The attributes of a case while they are gathered; private to harness/debug/separate. */
#ifndef NNV_DEBUG_ATTRIBUTE_LIST_H
#define NNV_DEBUG_ATTRIBUTE_LIST_H

#include "harness/debug/separate/attributes.h"
#include "reference/model/op.h"

enum {
    NNV_ATTRIBUTES = 1400, /**< of a case; further ones are left out */
    FROM_MODEL = 1,        /**< costs */
    FROM_SHAPE = 1,
    FROM_QUANT = 2,
    FROM_VALUES = 3,
    FROM_NAME = 4,
};

struct nnv_attribute_list {
    struct nnv_arena *arena;
    struct nnv_attribute *item;
    size_t count;
    bool failed;
};

/** A name for list l. */
#define NNV_NAME(...) nnv_arena_printf(l->arena, __VA_ARGS__)

/* Adds one attribute; a name of NULL is one for which there was no memory. */
void nnv_add_number(struct nnv_attribute_list *l, const char *name, int cost, double v);
void nnv_add_word(struct nnv_attribute_list *l, const char *name, int cost, const char *w);
void nnv_add_flag(struct nnv_attribute_list *l, const char *name, int cost, bool is, const char *otherwise);

/** What is left of a number of elements behind whole blocks of 4, 8, ... `most`: what vector kernels do otherwise. */
void nnv_add_residues(struct nnv_attribute_list *l, const char *what, int cost, int most, double n);

/** What the extents of images are called: "batches", "height" ...; NULL: the operation has no images. */
const char *const *nnv_extent_names(const struct nnv_call *c, bool *nchw);

/** Whether codes of a constant, less their zero point, are signed bytes, in which engines multiply. */
void nnv_add_centred(struct nnv_attribute_list *l, const char *whose, const struct nnv_operand *o);
/** Zero point and scale of an operand, also beside those of the output y, which it may be itself. */
void nnv_add_encoding(struct nnv_attribute_list *l, const char *whose, const struct nnv_operand *o,
                      const struct nnv_operand *y);
/** Whether the inputs of the output's type share its scale and zero point, or each other's. */
void nnv_add_shared_encoding(struct nnv_attribute_list *l, const struct nnv_call *c);
/** Where the bound of an activation, fused or alone, lies among the codes of the output. */
void nnv_add_clamps(struct nnv_attribute_list *l, const struct nnv_call *c);

/** A window that moves over an image, along one axis. */
struct nnv_moving {
    int32_t taps, stride, dilation; /**< at least 1 */
    int32_t extent;                 /**< of the image */
    int32_t reach;                  /**< from the first tap to the last */
    int32_t pad;                    /**< SAME: cells outside the image, on both sides; may be negative */
    int32_t head;                   /**< cells before the image; of a transposed convolution not known: 0 */
    bool same;
};
/** That of a convolution or pooling, axis 0: height, 1: width. False: the call has none, or it is not known. */
bool nnv_moving(const struct nnv_call *c, bool nchw, int axis, struct nnv_moving *to);

/** Of pairs of numbers, axes, and how window, stride, dilation and image lie to each other. */
void nnv_add_geometry(struct nnv_attribute_list *l, const struct nnv_call *c, bool nchw);

/** Position of the input of this name; -1: the call has none. */
int nnv_position_of(const struct nnv_call *c, const char *name);
/** The number of the scalar of this name; 0: the call has none that is known. */
double nnv_number_of(const struct nnv_call *c, const char *name);

/** Of several operations: which there are, and what uses their results. calls: as they are bound, or NULL. */
void nnv_add_graph(struct nnv_attribute_list *l, const struct nnv_subgraph *m, struct nnv_call *const *calls);

#endif
