/* SPDX-License-Identifier: Apache-2.0 */
/** @file building.h A model as the application gives it; what model*.c share. */
#ifndef NNV_RUNTIME_BUILDING_H
#define NNV_RUNTIME_BUILDING_H

#include "reference/model/op.h"
#include "reference/runtime/api/memory.h"
#include "reference/runtime/api/model/model.h"

/** What an operand has beside what nnv_operand says. */
struct nnv_rt_extra {
    const void *pending;                        /**< a large constant that is the application's until finish */
    const struct ANeuralNetworksMemory *memory; /**< CONSTANT_REFERENCE: where it lies, or NULL while it is pending */
    size_t offset;
    const void *extension_data; /**< arena's */
    size_t extension_bytes;
    const struct ANeuralNetworksModel *value; /**< SUBGRAPH */
};

/** The arrays are malloc'ed, what they point to is the model's arena's. */
struct nnv_rt_building {
    struct nnv_subgraph graph; /**< operands and operations as they were added; in run order once finished */
    uint32_t operand_room, operation_room;
    struct nnv_rt_extra *extra; /**< one an operand, as the next two */
    struct nnv_shape *shapes;   /**< as declared */
    const void **data;          /**< constants that were copied at once; else NULL */
    bool relaxed;
    int depth;                               /**< levels of models below this one */
    struct ANeuralNetworksMemory *constants; /**< of the large constants, or NULL */
    uint32_t ref_count;
    const struct ANeuralNetworksModel **refs; /**< once finished: referenced[i] of the model; arena's */
    struct nnv_arena *scratch;                /**< reset after each use */
};

/** Looks at one more operation: its operands exist, and its use is legal as far as is known. */
int nnv_rt_check_operation(const struct ANeuralNetworksModel *m, const struct nnv_operation *op, const char *function);
/** What addOperand checks. */
int nnv_rt_check_type(const ANeuralNetworksOperandType *type, const char *function);
/** BAD_DATA or OUT_OF_MEMORY with the message of err. */
int nnv_rt_refuse(const char *function, const struct nnv_err *err);

/** The last steps of finish, in this order. Each returns a result code and has told what is wrong. */
int nnv_rt_validate(struct ANeuralNetworksModel *m, int32_t **levels);
int nnv_rt_export(struct ANeuralNetworksModel *m, uint32_t *added, int32_t *levels);

/** .dot of the main graph, as it is finished. */
struct nnv_text;
void nnv_rt_model_dot(const struct ANeuralNetworksModel *m, const char *name, struct nnv_text *out);

/** True for the type codes and the operation of feature level 1's makers. */
bool nnv_rt_is_oem(int32_t type);
/** True where nothing is known of an operation beside its name. */
bool nnv_rt_is_foreign(int32_t operation);

#endif
