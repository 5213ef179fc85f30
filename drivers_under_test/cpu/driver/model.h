/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model.h The driver's own form of a model: checked, copied, each operation bound to its record.
 *
 * Kernels know fewer types than the API. A TENSOR_FLOAT16 lives as float32 whose values are float16's (each
 * operation's result is rounded once), a TENSOR_QUANT8_ASYMM_SIGNED lives as unsigned bytes with the zero point
 * raised by 128: the same real numbers. Both are converted where values enter and leave the model.
 */
#ifndef CPU_MODEL_H
#define CPU_MODEL_H

#include "arena.h"
#include "nnvts/driver.h"

struct cpu_kernels;
struct cpu_op;

enum { CPU_MAX_RANK = 8 };
#define CPU_UNKNOWN UINT32_MAX /**< an extent that is not known yet (only while a model is checked) */

struct cpu_shape {
    uint32_t rank;
    uint32_t dims[CPU_MAX_RANK];
};

/** An operand as operations see it. */
struct cpu_tensor {
    int32_t type; /**< OperandCode */
    uint32_t lifetime;
    float scale;
    int32_t zero_point; /**< of the form the kernels see */
    uint32_t channel_dim, channels;
    const float *scales; /**< per channel, or NULL */
    bool present;        /**< false: omitted */
    bool known_rank;     /**< false only while a model is checked */
    bool borrowed;       /**< data are the caller's, in the form that the API has */
    struct cpu_shape shape;
    uint32_t open; /**< a bit for each extent that the model itself does not declare, whatever is inferred */
    void *data;    /**< in the kernels' form; NULL: not known yet, or a constant that nothing reads any more */
};

/** An operation bound to its record. */
struct cpu_node {
    int32_t code;
    const struct cpu_op *op; /**< NULL: no kernel */
    uint32_t form;           /**< which of the record's input lists */
    uint32_t in_count, out_count;
    const uint32_t *in, *out; /**< operand indices */
    void *state;              /**< what prepare made */
};

struct cpu_model {
    struct cpu_arena arena;
    uint32_t tensor_count, node_count, in_count, out_count;
    struct cpu_tensor *tensors; /**< as declared: unknown extents are CPU_UNKNOWN */
    struct cpu_node *nodes;
    const uint32_t *in, *out;
    uint32_t *consumers; /**< per tensor: node inputs that read it */
    bool too_deep;       /**< an operand's rank is above CPU_MAX_RANK: nothing is supported */
};

/**
 * Checks the model (also its referenced subgraphs) and makes the main subgraph into *out, whose constants still
 * point into the caller's memory. pools: where each of model->pools is mapped. *out is to be freed whatever is
 * returned. INVALID_ARGUMENT: a rule is broken.
 */
enum nnvts_status cpu_model_import(const struct nnvts_model *model, const uint8_t *const *pools, struct cpu_model *out);
/** Bytes of all constants in the kernels' form. */
size_t cpu_model_constant_bytes(const struct cpu_model *model);
/** Brings constants into the kernels' form: those that have it stay borrowed; except: per tensor, or NULL. False: no
 * memory. */
bool cpu_model_convert_constants(struct cpu_model *model, const struct cpu_kernels *kernels, const bool *except);
/** Copies what is borrowed still into the model's memory. False: no memory. */
bool cpu_model_own_constants(struct cpu_model *model, const struct cpu_kernels *kernels);
/** True if node i has kernels for its types. */
bool cpu_model_supports(const struct cpu_model *model, uint32_t i);
/** Frees all; all zero is allowed. */
void cpu_model_free(struct cpu_model *model);

/** Checks the structure of one subgraph and its operands: all that needs no knowledge of operations. */
bool cpu_check_subgraph(const struct nnvts_model *model, const struct nnvts_subgraph *graph);
/** Subgraphs, each of them checked, do not refer to themselves in the end, nor too deep. */
bool cpu_check_references(const struct nnvts_model *model);

/** Bytes of one element of a type: as the API has it, and as the kernels see it. 0 for types without elements. */
uint32_t cpu_api_element(int32_t type);
uint32_t cpu_element(int32_t type);
/** True for TENSOR_ types. */
bool cpu_is_tensor(int32_t type);
/** Elements; false if they would take UINT32_MAX bytes or more as the API has them. No extent may be unknown. */
bool cpu_elements(int32_t type, const struct cpu_shape *shape, size_t *count);
/** True if all extents are known; and of a tensor its rank, too. */
bool cpu_extents_known(const struct cpu_shape *shape);
bool cpu_shape_known(const struct cpu_tensor *t);
/** *to takes what else `from` knows; false if they contradict each other: what agreed before that is taken. */
bool cpu_shape_merge(struct cpu_shape *to, const struct cpu_shape *from);
/** The same where the rank of *to may be unknown. */
bool cpu_shape_refine(bool *known_rank, struct cpu_shape *to, const struct cpu_shape *from);

/** API form to kernel form and back, count elements; from and to don't overlap. Types without conversion are copied. */
void cpu_convert_in(const struct cpu_kernels *kernels, int32_t type, size_t count, const void *from, void *to);
void cpu_convert_out(const struct cpu_kernels *kernels, int32_t type, size_t count, const void *from, void *to);
/** True if both forms are the same. */
bool cpu_same_form(int32_t type);

#endif
