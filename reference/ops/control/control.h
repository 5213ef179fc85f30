/* SPDX-License-Identifier: Apache-2.0 */
/** @file control.h What IF and WHILE share: slots, types, and the agreement of what is passed with what is taken. */
#ifndef NNV_OPS_CONTROL_H
#define NNV_OPS_CONTROL_H

#include "reference/eval/flow.h"
#include "reference/model/sample.h"

/** Slots of a MODEL, of the arguments (the last), and of the outputs. */
#define NNV_CONTROL_MODEL(ID, NAME)                                                                                    \
    { .id = (ID), .name = (NAME), .var = NNV_FIXED, .type = ANEURALNETWORKS_MODEL, .flags = NNV_SCALAR }
#define NNV_CONTROL_ARGUMENTS(ID, GROUP)                                                                               \
    { .id = (ID), .name = "argument", .var = NNV_T, .flags = NNV_REPEAT | NNV_ANY_TYPE, .group = (GROUP) }
#define NNV_CONTROL_OUTPUTS                                                                                            \
    { .name = "output", .var = NNV_T, .flags = NNV_REPEAT | NNV_ANY_TYPE }

/** The types of the generated cases: those that an operation in a subgraph can give. */
#define NNV_CONTROL_SIG(TYPE)                                                                                          \
    {                                                                                                                  \
        4, { [NNV_T] = ANEURALNETWORKS_TENSOR_##TYPE }                                                                 \
    }
#define NNV_CONTROL_SIGS                                                                                               \
    {                                                                                                                  \
        NNV_CONTROL_SIG(FLOAT32), NNV_CONTROL_SIG(FLOAT16), NNV_CONTROL_SIG(INT32), NNV_CONTROL_SIG(BOOL8),            \
            NNV_CONTROL_SIG(QUANT8_ASYMM), NNV_CONTROL_SIG(QUANT8_ASYMM_SIGNED), NNV_CONTROL_SIG(QUANT16_ASYMM),       \
            NNV_CONTROL_SIG(QUANT16_SYMM), NNV_CONTROL_SIG(QUANT8_SYMM),                                               \
    }

/** The subgraph of MODEL input pos; NULL if there is none, with the reason. */
const struct nnv_subgraph *nnv_control_subgraph(const struct nnv_call *c, uint32_t pos, const struct nnv_model *model,
                                                struct nnv_err *err);
/**
 * NNV_INVALID unless a value of operand a and shape may go where operand b takes it in or gives it out: type,
 * quantisation, rank and extents, as far as they are known.
 */
NNV_USE_RESULT enum nnv_status nnv_control_agree(const struct nnv_operand *a, const struct nnv_shape *shape,
                                                 const struct nnv_operand *b, struct nnv_err *err);
/** Inputs `first` and on of the operation are what subgraph s, called name, takes. */
NNV_USE_RESULT enum nnv_status nnv_control_inputs(const struct nnv_call *c, uint32_t first,
                                                  const struct nnv_subgraph *s, const char *name, struct nnv_err *err);
/** The first outputs of subgraph s, called name, are what the operation gives. */
NNV_USE_RESULT enum nnv_status nnv_control_outputs(const struct nnv_call *c, const struct nnv_subgraph *s,
                                                   const char *name, struct nnv_err *err);
/** A condition: TENSOR_BOOL8 of shape [1]. */
NNV_USE_RESULT enum nnv_status nnv_control_condition(const struct nnv_operand *o, const struct nnv_shape *shape,
                                                     struct nnv_err *err);
/** The infer hook: the subgraphs decide, so nothing is known but what the outputs declare. */
enum nnv_status nnv_control_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);

#endif
